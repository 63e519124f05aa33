/* sort by, limit, offset: rows of a result in an order of its own.
 *
 *     finished rows ──▶ places, each with the first key as a number ──▶ sorted ──▶ groups, offset, limit ──▶ copied
 *
 * Most comparisons are decided by that number: an integer, a double or a time as it is, of a text its first bytes. Where
 * only few rows are wanted, a heap has the best so far, and the others are looked at once. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "engine/rowmap.h"
#include "tquel/format/format.h"

#define POLL_ROWS ((size_t)1 << 16)

struct place {
  uint64_t prefix;
  size_t index;
};

struct sorting {
  const struct net_rows *rows;
  const struct tql_sort *sort;
  const struct base_strings *strings;
  struct place *places;
  size_t count, capacity;
};

/* --- the order */

static uint64_t prefix_of_integer(int64_t value) {
  return (uint64_t)value ^ (UINT64_C(1) << 63);
}

/* -0 does not occur, nor what is no number. */
static uint64_t prefix_of_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static uint64_t prefix_of_text(const struct base_strings *strings, base_string_id id) {
  size_t length;
  const char *text = base_strings_text(strings, id, &length);
  uint64_t prefix = 0;
  for (size_t i = 0; i < 8; i++) prefix = prefix << 8 | (i < length ? (unsigned char)text[i] : 0);
  return prefix;
}

/* Less where the row is before another; equal says nothing. */
static uint64_t prefix_of(const struct sorting *sorting, const union net_slot *row) {
  if (sorting->sort->key_count == 0) return 0;
  const struct tql_sort_column *key = &sorting->sort->keys[0];
  uint64_t prefix = 0;
  if (key->field < 0) {
    prefix = prefix_of_integer(row[key->field == TQL_SORT_BY_STOP ? 2 : 0].i);
  } else {
    const struct net_field *field = &sorting->rows->layout->fields[key->field];
    enum net_base_type base = field->type.base;
    if (base == NET_INTEGER || base == NET_BOOL) prefix = prefix_of_integer(row[field->slot].i);
    if (base == NET_FLOAT) prefix = prefix_of_double(row[field->slot].f);
    if (base == NET_STRING || base == NET_NAME)
      prefix = prefix_of_text(sorting->strings, row[field->slot].s);
  }
  return key->descending ? ~prefix : prefix;
}

static int compare_instants(const union net_slot *a, const union net_slot *b) {
  for (int i = 0; i < 2; i++)
    if (a[i].i != b[i].i) return a[i].i < b[i].i ? -1 : 1;
  return 0;
}

static int compare_keys(const struct sorting *sorting, const union net_slot *a,
                        const union net_slot *b) {
  const struct net_layout *layout = sorting->rows->layout;
  int order = 0;
  for (size_t i = 0; i < sorting->sort->key_count && order == 0; i++) {
    const struct tql_sort_column *key = &sorting->sort->keys[i];
    size_t time = key->field == TQL_SORT_BY_STOP ? 2 : 0;
    order = key->field < 0 ? compare_instants(a + time, b + time)
                           : net_field_compare(&layout->fields[key->field], sorting->strings,
                                               NET_FOREVER, a, b);
    if (key->descending) order = -order;
  }
  return order;
}

static int compare_rows(const struct sorting *sorting, const union net_slot *a,
                        const union net_slot *b) {
  const struct net_layout *layout = sorting->rows->layout;
  int order = compare_keys(sorting, a, b);
  for (uint32_t i = 0; i < layout->field_count && order == 0; i++)
    order = net_field_compare(&layout->fields[i], sorting->strings, NET_FOREVER, a, b);
  return order != 0 ? order : net_row_compare(layout, sorting->strings, NET_FOREVER, a, b);
}

static const union net_slot *row_at(const struct sorting *sorting, const struct place *place) {
  return net_rows_row(sorting->rows, place->index);
}

static int compare_places(const void *a, const void *b, void *context) {
  const struct place *x = a, *y = b;
  const struct sorting *sorting = context;
  if (x->prefix != y->prefix) return x->prefix < y->prefix ? -1 : 1;
  int order = sorting->sort->key_count > 0
                  ? compare_rows(sorting, row_at(sorting, x), row_at(sorting, y))
                  : 0;
  return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

/* --- the first rows */

/* The heap's first place is the last of its rows. */
static void sink(struct sorting *sorting, size_t at) {
  struct place *places = sorting->places;
  for (size_t child; (child = 2 * at + 1) < sorting->count; at = child) {
    if (child + 1 < sorting->count &&
        compare_places(&places[child + 1], &places[child], sorting) > 0)
      child++;
    if (compare_places(&places[at], &places[child], sorting) >= 0) return;
    struct place place = places[at];
    places[at] = places[child];
    places[child] = place;
  }
}

/* The first MOST of all rows. */
static enum base_status gather_first(struct sorting *sorting, size_t most) {
  base_grow(&sorting->places, &sorting->capacity, most + 1, sizeof *sorting->places);
  for (size_t i = 0; i < sorting->rows->count; i++) {
    struct place place = {prefix_of(sorting, net_rows_row(sorting->rows, i)), i};
    if (i % POLL_ROWS == 0 && base_env_interrupted()) return BASE_CANCEL;
    if (sorting->count < most) {
      sorting->places[sorting->count++] = place;
      if (sorting->count == most)
        for (size_t k = most; k-- > 0;) sink(sorting, k);
    } else if (most > 0 && compare_places(&place, &sorting->places[0], sorting) < 0) {
      sorting->places[0] = place;
      sink(sorting, 0);
    }
  }
  return BASE_OK;
}

static enum base_status gather_all(struct sorting *sorting) {
  size_t count = sorting->rows->count;
  base_grow_large(&sorting->places, &sorting->capacity, count + 1, sizeof *sorting->places);
  for (size_t i = 0; i < count; i++) {
    if (i % POLL_ROWS == 0 && base_env_interrupted()) return BASE_CANCEL;
    sorting->places[i] = (struct place){prefix_of(sorting, net_rows_row(sorting->rows, i)), i};
  }
  sorting->count = count;
  return BASE_OK;
}

/* --- groups */

struct group {
  int64_t count;
  size_t last; /* row that stayed */
};

static size_t group_slots(const struct sorting *sorting, uint32_t **ret) {
  const struct tql_sort *sort = sorting->sort;
  uint32_t *slots = base_xcalloc(2 * sort->group_count + 1, sizeof *slots);
  size_t count = 0;
  for (size_t i = 0; i < sort->group_count; i++) {
    int field = sort->groups[i].field;
    if (field >= 0) {
      slots[count++] = sorting->rows->layout->fields[field].slot;
      continue;
    }
    slots[count++] = field == TQL_SORT_BY_STOP ? 2 : 0;
    slots[count++] = field == TQL_SORT_BY_STOP ? 3 : 1;
  }
  *ret = slots;
  return count;
}

/* Of each group the first stay. */
static size_t limit_groups(struct sorting *sorting) {
  uint32_t *slots;
  size_t slot_count = group_slots(sorting, &slots), kept = 0, ties = 0;
  struct net_rowmap map;
  net_rowmap_init(&map, sorting->rows->layout, NET_KEY_SLOTS, 0, slots, slot_count,
                  sizeof(struct group));
  for (size_t i = 0; i < sorting->count; i++) {
    const union net_slot *row = row_at(sorting, &sorting->places[i]);
    struct group *group = net_rowmap_state(&map, net_rowmap_put(&map, row, NULL));
    if (group->count < sorting->sort->group_limit) {
      group->count++;
      group->last = sorting->places[i].index;
      sorting->places[kept++] = sorting->places[i];
    } else if (group->count > 0 && sorting->sort->key_count > 0) {
      ties += compare_keys(sorting, net_rows_row(sorting->rows, group->last), row) == 0;
    }
  }
  sorting->count = kept;
  net_rowmap_done(&map);
  free(slots);
  return ties;
}

/* --- all together */

static size_t least(size_t count, int64_t limit) {
  return limit >= 0 && (uint64_t)limit < count ? (size_t)limit : count;
}

/* Rows of all that are not among the first END places, and whose keys are those of the last of these. */
static size_t count_ties(const struct sorting *sorting, size_t end) {
  size_t ties = 0;
  if (end == 0 || sorting->sort->key_count == 0) return 0;
  const struct place *last = &sorting->places[end - 1];
  for (size_t i = 0; i < sorting->rows->count; i++) {
    const union net_slot *row = net_rows_row(sorting->rows, i);
    ties += prefix_of(sorting, row) == last->prefix &&
            compare_keys(sorting, row, row_at(sorting, last)) == 0;
  }
  for (size_t i = end; i-- > 0 && ties > 0;) {
    if (compare_keys(sorting, row_at(sorting, &sorting->places[i]), row_at(sorting, last)) != 0)
      break;
    ties--;
  }
  return ties;
}

/* The rows of the places FIRST .. END take the place of all. */
static enum base_status keep(struct sorting *sorting, struct net_rows *rows, size_t first,
                             size_t end) {
  struct net_rows kept;
  net_rows_init(&kept, rows->layout);
  kept.may_spill = rows->may_spill;
  enum base_status status = BASE_OK;
  for (size_t i = first; i < end && status == BASE_OK; i++) {
    size_t index = sorting->places[i].index;
    net_rows_add_copy(&kept, net_rows_row(rows, index), rows->marks[index]);
    if (i % POLL_ROWS == 0 && base_env_interrupted()) status = BASE_CANCEL;
  }
  if (status == BASE_OK) {
    net_rows_done(rows);
    *rows = kept;
  } else {
    net_rows_done(&kept);
  }
  return status;
}

/* How many of all rows, in their order, are asked for. */
static size_t wanted(const struct tql_sort *sort, size_t count) {
  size_t offset = least(count, sort->offset < 0 ? 0 : sort->offset);
  return offset + least(count - offset, sort->limit);
}

enum base_status tql_rows_sort(struct tql_rows *rows, const struct tql_sort *sort,
                               const struct base_strings *strings, size_t *ret_ties) {
  struct sorting sorting = {&rows->rows, sort, strings, NULL, 0, 0};
  bool groups = sort->group_limit >= 0;
  size_t count = rows->rows.count, most = wanted(sort, count);
  bool few = !groups && most < count / 16;
  *ret_ties = 0;
  enum base_status status = few ? gather_first(&sorting, most) : gather_all(&sorting);
  if (status == BASE_OK && sorting.count > 1 && (few || sort->key_count > 0))
    qsort_r(sorting.places, sorting.count, sizeof *sorting.places, compare_places, &sorting);
  if (status == BASE_OK && groups) *ret_ties = limit_groups(&sorting);
  if (status == BASE_OK) {
    size_t end = few ? sorting.count : wanted(sort, sorting.count);
    size_t first = least(end, sort->offset < 0 ? 0 : sort->offset);
    if (!groups && end < count && end > first) *ret_ties = count_ties(&sorting, end);
    status = keep(&sorting, &rows->rows, first, end);
  }
  free(sorting.places);
  return status;
}
