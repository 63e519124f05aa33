/* Results: rows collected from batches, put in order, made a set.
 *
 * A closing row takes the place of the open one with its id. One without an open one is a row like any
 * other (the open one was shown elsewhere). Batches without ids (of a store) have nothing that closes.
 *
 * After tql_rows_finish the rows have no open stops and no NET_CLOSES any more. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "tquel/format/cells.h"

void tql_rows_init(struct tql_rows *rows, const char *name, const struct net_layout *layout) {
  *rows = (struct tql_rows){.name = name, .checkpoint = NET_BEGINNING, .odd_from = NET_FOREVER};
  net_rows_init(&rows->rows, layout);
  net_rowmap_init(&rows->open, NULL, NET_KEY_ID, 0, NULL, 0, sizeof(size_t));
}

void tql_rows_clear(struct tql_rows *rows) {
  rows->rows.count = 0;
  rows->checkpoint = NET_BEGINNING;
  rows->odd_from = NET_FOREVER;
  net_rowmap_clear(&rows->open);
  rows->known = 0;
  rows->tie_count = 0;
}

void tql_rows_done(struct tql_rows *rows) {
  net_rows_done(&rows->rows);
  net_rowmap_done(&rows->open);
  free(rows->ties);
}

static void add_row(struct tql_rows *result, const union net_slot *row, uint8_t marks,
                    uint64_t id) {
  struct net_rows *rows = &result->rows;
  size_t at;
  uint32_t place = NET_NO_ENTRY;
  if (row[0].i < result->odd_from) result->odd_from = row[0].i;
  if ((marks & NET_CLOSES) && id != 0) place = net_rowmap_find_id(&result->open, id);
  if (place != NET_NO_ENTRY) {
    at = *(size_t *)net_rowmap_state(&result->open, place);
    memcpy(net_rows_row(rows, at), row, rows->layout->slot_count * sizeof *row);
    rows->marks[at] = marks;
  } else {
    net_rows_add_copy(rows, row, marks);
    at = rows->count - 1;
  }
  if (id == 0) return;
  if (net_row_is_open(rows->layout, row))
    *(size_t *)net_rowmap_state(&result->open, net_rowmap_put_id(&result->open, id, NULL)) = at;
  else if (place != NET_NO_ENTRY)
    net_rowmap_remove(&result->open, place);
}

/* The order of the rows from FIRST on, which have just come and are plain: they are at hand now, and will not be at the
 * end. Ties are not kept where there are so many that looking at each is no less than looking at all rows. */
static void note_order(struct tql_rows *result, size_t first) {
  const struct net_rows *rows = &result->rows;
  uint32_t slots = rows->layout->slot_count;
  size_t added = rows->count - first, count = result->tie_count;
  if (result->known < first || added == 0) return;
  base_grow(&result->ties, &result->tie_capacity, count + added, sizeof *result->ties);
  const union net_slot *row = net_rows_row(rows, first);
  net_chronon last = first > 0 ? (row - slots)[0].i : NET_BEGINNING;
  size_t *ties = result->ties;
  bool falls = false;
  for (size_t i = first; i < rows->count; i++, row += slots) {
    net_chronon start = row[0].i;
    falls |= start < last;
    ties[count] = i;
    count += start == last;
    last = start;
  }
  if (falls || count - result->tie_count > added / 2) return;
  result->tie_count = count;
  result->known = rows->count;
}

void tql_rows_add_batch(struct tql_rows *rows, const struct net_batch *batch) {
  if (batch->plain) { /* nothing opens or closes */
    size_t first = rows->rows.count;
    net_rows_add_batch(&rows->rows, batch);
    /* What lies on the disk is put in order in another way. */
    if (!rows->rows.spill && rows->rows.count >= first) note_order(rows, first);
    return;
  }
  for (uint32_t i = 0; i < batch->count; i++)
    add_row(rows, net_batch_row(batch, i), net_batch_marks(batch, i), net_batch_id(batch, i));
}

/* ---- order ---- */

struct ordering {
  const struct net_rows *rows;
  const struct base_strings *strings;
  net_chronon checkpoint;
};

/* From so many rows on it matters that their order can be interrupted. */
#define MANY_ROWS ((size_t)1 << 18)

static int compare(const struct ordering *ordering, const union net_slot *left,
                   const union net_slot *right) {
  if (left[0].i != right[0].i) return left[0].i < right[0].i ? -1 : 1;
  return net_row_compare(ordering->rows->layout, ordering->strings, ordering->checkpoint, left,
                         right);
}

static int compare_rows(const struct ordering *ordering, size_t a, size_t b) {
  return compare(ordering, net_rows_row(ordering->rows, a), net_rows_row(ordering->rows, b));
}

static void swap_rows(struct net_rows *rows, size_t a, size_t b) {
  union net_slot *left = net_rows_row(rows, a), *right = net_rows_row(rows, b);
  for (uint32_t i = 0; i < rows->layout->slot_count; i++) {
    union net_slot kept = left[i];
    left[i] = right[i];
    right[i] = kept;
  }
  uint8_t kept = rows->marks[a];
  rows->marks[a] = rows->marks[b];
  rows->marks[b] = kept;
}

/* Known rows that start together, by what else they say, where they lie. False: that took too long, or some are
 * alike. */
static bool order_ties(struct tql_rows *result, const struct ordering *ordering) {
  struct net_rows *rows = &result->rows;
  size_t steps = result->known;
  for (size_t i = 0; i < result->tie_count; i++) {
    int order = 1;
    for (size_t at = result->ties[i]; at > 0 && (order = compare_rows(ordering, at - 1, at)) > 0;
         at--) {
      if (steps-- == 0) return false;
      swap_rows(rows, at - 1, at);
    }
    if (order == 0) return false;
  }
  return true;
}

/* Those behind KNOWN, which are in order. Mostly each row starts later than the one before it. */
static bool go_on_ordered(const struct ordering *ordering, size_t known) {
  const struct net_rows *rows = ordering->rows;
  uint32_t slots = rows->layout->slot_count;
  size_t first = known > 0 ? known : 1;
  const union net_slot *row = net_rows_row(rows, first - 1);
  for (size_t i = first; i < rows->count; i++, row += slots)
    if (row[0].i >= row[slots].i && compare_rows(ordering, i - 1, i) >= 0) return false;
  return true;
}

/* Rows in order: of equal ones the first stays, as definite as the surest of them. */
static void make_set(struct net_rows *rows, const struct ordering *ordering) {
  size_t kept = 0;
  for (size_t i = 1; i < rows->count; i++) {
    if (compare_rows(ordering, kept, i) == 0) {
      rows->marks[kept] |= rows->marks[i];
    } else if (++kept < i) {
      net_row_copy(net_rows_row(rows, kept), net_rows_row(rows, i), rows->layout->slot_count);
      rows->marks[kept] = rows->marks[i];
    }
  }
  rows->count = kept + 1;
}

static uint64_t prefix_of(const void *ordering, const union net_slot *row) {
  (void)ordering;
  return tql_prefix_of_integer(row[0].i);
}

static int compare_any(const void *ordering, const union net_slot *left,
                       const union net_slot *right) {
  return compare(ordering, left, right);
}

/* Of equal rows the first stays, as definite as the surest of them. */
static bool take(void *ordering, struct net_rows *merged, const union net_slot *row,
                 uint8_t marks) {
  size_t last = merged->count;
  if (last > 0 && compare(ordering, net_rows_row(merged, last - 1), row) == 0)
    merged->marks[last - 1] |= marks;
  else
    net_rows_add_copy(merged, row, marks);
  return true;
}

static struct tql_order order_of(const struct ordering *ordering) {
  return (struct tql_order){(void *)ordering, prefix_of, compare_any, take};
}

/* Of the first END rows, which are in order, the first that is not before ROW. */
static size_t find_place(const struct ordering *ordering, const union net_slot *row, size_t end) {
  size_t from = 0;
  while (from < end) {
    size_t middle = from + (end - from) / 2;
    if (compare(ordering, net_rows_row(ordering->rows, middle), row) < 0)
      from = middle + 1;
    else
      end = middle;
  }
  return from;
}

static void move(struct net_rows *rows, size_t from, size_t to, size_t count) {
  uint32_t slots = rows->layout->slot_count;
  memmove(net_rows_row(rows, to), net_rows_row(rows, from), count * slots * sizeof *rows->rows);
  memmove(rows->marks + to, rows->marks + from, count);
}

/* The rows behind the first KNOWN, which are a set in order, that are equal to none of these, in order; equal ones
 * make them surer. */
static struct net_rows take_others(struct net_rows *rows, size_t known,
                                   const struct ordering *ordering) {
  struct net_rows others;
  struct tql_order by_time = order_of(ordering);
  struct tql_place *places = tql_sort_places(&by_time, rows, known);
  net_rows_init(&others, rows->layout);
  for (size_t i = known; i < rows->count; i++) {
    const union net_slot *row = net_rows_row(rows, places[i - known].index);
    uint8_t marks = rows->marks[places[i - known].index];
    size_t last = others.count, place = find_place(ordering, row, known);
    if (place < known && compare(ordering, net_rows_row(rows, place), row) == 0)
      rows->marks[place] |= marks;
    else if (last > 0 && compare(ordering, net_rows_row(&others, last - 1), row) == 0)
      others.marks[last - 1] |= marks;
    else
      net_rows_add_copy(&others, row, marks);
  }
  free(places);
  return others;
}

/* The rows behind the first KNOWN come between these: a few, as those that were open at the end. */
static void merge(struct net_rows *rows, size_t known, const struct ordering *ordering) {
  struct net_rows others = take_others(rows, known, ordering);
  rows->count = known + others.count;
  for (size_t left = others.count, end = known; left-- > 0;) {
    const union net_slot *row = net_rows_row(&others, left);
    size_t to = find_place(ordering, row, end);
    move(rows, to, to + left + 1, end - to);
    net_row_copy(net_rows_row(rows, to + left), row, rows->layout->slot_count);
    rows->marks[to + left] = others.marks[left];
    end = to;
  }
  net_rows_done(&others);
}

static enum base_status order(struct tql_rows *result, size_t known,
                              const struct ordering *ordering) {
  struct net_rows *rows = &result->rows;
  struct tql_order by_time = order_of(ordering);
  if (!rows->spill && rows->count - known < known) {
    merge(rows, known, ordering);
    return BASE_OK;
  }
  if (rows->spill || rows->count >= MANY_ROWS) return tql_order_many(&by_time, rows);
  tql_order_few(&by_time, rows);
  make_set(rows, ordering);
  return BASE_OK;
}

/* Of most rows from FIRST on nothing is open. */
static void fill_open(struct net_rows *rows, size_t first, net_chronon checkpoint) {
  const struct net_layout *layout = rows->layout;
  bool period = layout->tuple_class == NET_PERIOD, fields = false;
  for (uint32_t i = 0; i < layout->field_count; i++) fields |= layout->fields[i].openable;
  union net_slot *row = net_rows_row(rows, first);
  for (size_t i = first; i < rows->count && (period || fields); i++, row += layout->slot_count)
    if (fields || row[2].i == NET_OPEN) tql_fill_open(layout, row, checkpoint);
}

enum base_status tql_rows_finish(struct tql_rows *result, const struct base_strings *strings) {
  struct net_rows *rows = &result->rows;
  struct ordering ordering = {rows, strings, result->checkpoint};
  net_rowmap_done(&result->open);
  fill_open(rows, result->known, result->checkpoint);
  for (size_t i = result->known; i < rows->count; i++) rows->marks[i] &= NET_DEFINITE;
  size_t known = !rows->spill && order_ties(result, &ordering) ? result->known : 0;
  return go_on_ordered(&ordering, known) ? BASE_OK : order(result, known, &ordering);
}
