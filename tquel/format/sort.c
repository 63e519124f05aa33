/* sort by, limit, offset: rows of a result in an order of its own.
 *
 *     finished rows ──▶ places, each with the first key as a number ──▶ sorted ──▶ groups, offset, limit ──▶ copied
 *
 * Most comparisons are decided by that number: an integer, a double or a time as it is, of a text its first bytes. Where
 * only few rows are wanted, a heap has the best so far, and the others are looked at once. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "engine/base/binary_heap.h"
#include "engine/rowmap.h"
#include "tquel/format/cells.h"

#define POLL_ROWS ((size_t)1 << 16)

struct sorting {
  const struct net_rows *rows;
  const struct tql_sort *sort;
  const struct base_strings *strings;
  struct tql_place *places; /* where few are wanted: a heap, the last of them first */
  size_t count, capacity;
  /* Where rows are taken in their order: those that stay until all are there, of all or of each group. */
  size_t most, ties;
  struct net_rowmap groups;
  uint32_t *group_slots;
};

/* --- the order */

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

static uint64_t prefix_of(const void *context, const union net_slot *row) {
  const struct sorting *sorting = context;
  if (sorting->sort->key_count == 0) return 0;
  const struct tql_sort_column *key = &sorting->sort->keys[0];
  uint64_t prefix = 0;
  if (key->field < 0) {
    prefix = tql_prefix_of_integer(row[key->field == TQL_SORT_BY_STOP ? 2 : 0].i);
  } else {
    const struct net_field *field = &sorting->rows->layout->fields[key->field];
    enum net_base_type base = field->type.base;
    if (base == NET_INTEGER || base == NET_BOOL) prefix = tql_prefix_of_integer(row[field->slot].i);
    if (base == NET_FLOAT) prefix = prefix_of_double(row[field->slot].f);
    if (net_type_is_interned(base)) prefix = prefix_of_text(sorting->strings, row[field->slot].s);
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

static int compare_rows(const void *context, const union net_slot *a, const union net_slot *b) {
  const struct sorting *sorting = context;
  const struct net_layout *layout = sorting->rows->layout;
  int order = compare_keys(sorting, a, b);
  for (uint32_t i = 0; i < layout->field_count && order == 0; i++)
    order = net_field_compare(&layout->fields[i], sorting->strings, NET_FOREVER, a, b);
  return order != 0 ? order : net_row_compare(layout, sorting->strings, NET_FOREVER, a, b);
}

static const union net_slot *row_at(const struct sorting *sorting, const struct tql_place *place) {
  return net_rows_row(sorting->rows, place->index);
}

static int compare_places(const void *a, const void *b, void *context) {
  const struct tql_place *x = a, *y = b;
  const struct sorting *sorting = context;
  if (x->prefix != y->prefix) return x->prefix < y->prefix ? -1 : 1;
  int order = sorting->sort->key_count > 0
                  ? compare_rows(sorting, row_at(sorting, x), row_at(sorting, y))
                  : 0;
  return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

/* --- the first rows */

/* The heap's first place is the last of its rows. */
static bool is_behind(const struct tql_place *a, const struct tql_place *b, const void *sorting) {
  return compare_places(a, b, (void *)sorting) > 0;
}
BASE_BINARY_HEAP(last_rows, struct tql_place, is_behind);

/* The first MOST of all rows. */
static enum base_status gather_first(struct sorting *sorting, size_t most) {
  base_grow(&sorting->places, &sorting->capacity, most + 1, sizeof *sorting->places);
  for (size_t i = 0; i < sorting->rows->count; i++) {
    struct tql_place place = {prefix_of(sorting, net_rows_row(sorting->rows, i)), i};
    if (i % POLL_ROWS == 0 && base_env_interrupted()) return BASE_CANCEL;
    if (sorting->count < most) {
      sorting->places[sorting->count++] = place;
      if (sorting->count == most) last_rows_make(sorting->places, most, sorting);
    } else if (most > 0 && compare_places(&place, &sorting->places[0], sorting) < 0) {
      last_rows_down(sorting->places, sorting->count, 0, place, sorting);
    }
  }
  return BASE_OK;
}

/* --- groups */

struct group {
  int64_t count;
  size_t last; /* row that stayed, among those that were taken */
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

static void begin_groups(struct sorting *sorting) {
  size_t slot_count = group_slots(sorting, &sorting->group_slots);
  net_rowmap_init(&sorting->groups, sorting->rows->layout, NET_KEY_SLOTS, 0, sorting->group_slots,
                  slot_count, sizeof(struct group));
}

/* Of each group the first stay. */
static bool take_of_group(void *context, struct net_rows *merged, const union net_slot *row,
                          uint8_t marks) {
  struct sorting *sorting = context;
  struct group *group =
      net_rowmap_state(&sorting->groups, net_rowmap_put(&sorting->groups, row, NULL));
  if (group->count < sorting->sort->group_limit) {
    group->count++;
    group->last = merged->count;
    net_rows_add_copy(merged, row, marks);
  } else if (group->count > 0 && sorting->sort->key_count > 0 && group->last < merged->count) {
    sorting->ties += compare_keys(sorting, net_rows_row(merged, group->last), row) == 0;
  }
  return true;
}

/* --- all together */

static size_t least(size_t count, int64_t limit) {
  return limit >= 0 && (uint64_t)limit < count ? (size_t)limit : count;
}

/* Rows of all that are not among the first END places, and whose keys are those of the last of these. */
static size_t count_ties(const struct sorting *sorting, size_t end) {
  size_t ties = 0;
  if (end == 0 || sorting->sort->key_count == 0) return 0;
  const struct tql_place *last = &sorting->places[end - 1];
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

/* How many of all rows, in their order, are asked for. */
static size_t wanted(const struct tql_sort *sort, size_t count) {
  size_t offset = least(count, sort->offset < 0 ? 0 : sort->offset);
  return offset + least(count - offset, sort->limit);
}

/* The first rows of all, and how many behind them are tied with the last. */
static bool take_first(void *context, struct net_rows *merged, const union net_slot *row,
                       uint8_t marks) {
  struct sorting *sorting = context;
  if (merged->count < sorting->most) {
    net_rows_add_copy(merged, row, marks);
    return true;
  }
  bool tied = sorting->sort->key_count > 0 && merged->count > 0 &&
              compare_keys(sorting, net_rows_row(merged, merged->count - 1), row) == 0;
  sorting->ties += tied;
  return tied;
}

static enum base_status take_few(struct sorting *sorting, struct net_rows *rows) {
  struct net_rows kept;
  enum base_status status = gather_first(sorting, sorting->most);
  if (status != BASE_OK) return status;
  qsort_r(sorting->places, sorting->count, sizeof *sorting->places, compare_places, sorting);
  sorting->ties = count_ties(sorting, sorting->count);
  net_rows_init(&kept, rows->layout);
  kept.may_spill = rows->may_spill;
  for (size_t i = 0; i < sorting->count; i++)
    net_rows_add_copy(&kept, row_at(sorting, &sorting->places[i]),
                      rows->marks[sorting->places[i].index]);
  net_rows_done(rows);
  *rows = kept;
  return BASE_OK;
}

/* As they lie. */
static enum base_status take_as_they_are(const struct tql_order *order, struct net_rows *rows) {
  struct net_rows kept;
  net_rows_init(&kept, rows->layout);
  kept.may_spill = rows->may_spill;
  for (size_t i = 0; i < rows->count; i++) {
    if (i % POLL_ROWS == 0 && base_env_interrupted()) {
      net_rows_done(&kept);
      return BASE_CANCEL;
    }
    if (!order->take(order->context, &kept, net_rows_row(rows, i), rows->marks[i])) break;
  }
  net_rows_done(rows);
  *rows = kept;
  return BASE_OK;
}

static void leave_out_first(struct net_rows *rows, size_t count) {
  if (count == 0) return;
  rows->count -= count;
  memmove(rows->rows, net_rows_row(rows, count),
          rows->count * rows->layout->slot_count * sizeof *rows->rows);
  memmove(rows->marks, rows->marks + count, rows->count);
}

enum base_status tql_rows_sort(struct tql_rows *result, const struct tql_sort *sort,
                               const struct base_strings *strings, size_t *ret_ties) {
  struct net_rows *rows = &result->rows;
  bool groups = sort->group_limit >= 0;
  struct sorting sorting = {.rows = rows, .sort = sort, .strings = strings};
  struct tql_order order = {&sorting, prefix_of, compare_rows, groups ? take_of_group : take_first};
  enum base_status status;
  sorting.most = wanted(sort, rows->count);
  if (groups) begin_groups(&sorting);
  if (!groups && sorting.most < rows->count / 16)
    status = take_few(&sorting, rows);
  else
    status = sort->key_count > 0 ? tql_order_many(&order, rows) : take_as_they_are(&order, rows);
  if (groups) net_rowmap_done(&sorting.groups);
  free(sorting.group_slots);
  free(sorting.places);
  if (status != BASE_OK) return status;
  rows->count = least(rows->count, (int64_t)wanted(sort, rows->count));
  leave_out_first(rows, least(rows->count, sort->offset < 0 ? 0 : sort->offset));
  *ret_ties = rows->count > 0 ? sorting.ties : 0;
  return BASE_OK;
}
