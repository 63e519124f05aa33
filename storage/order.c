/* Rows in memory in the order of the index that makes a relation a set, each once.
 *
 * The order is that of "tq_R_set": the times as numbers, an open stop as NET_OPEN, then the domains as
 * SQLite compares their columns (strings by bytes). Of rows that are equal in all of these one stays,
 * definite if either was, as the index would have it. So what is written in this order is always added
 * behind what is there, and what is kept in this order is what a scan would read.
 *
 * Rows that are in order already, as those of a log are, cost one comparison each. Others are sorted by
 * merging, which keeps no more than their first times and numbers beside them.                       */
#include <stdlib.h>
#include <string.h>

#include "storage/ground.h"

static int compare_values(const struct base_strings *strings, enum net_base_type base,
                          const union net_slot *a, const union net_slot *b) {
  switch (base) {
    case NET_FLOAT:
      return (a->f > b->f) - (a->f < b->f);
    case NET_TEMPORAL:
      for (int part = 0; part < 4; part++)
        if (a[part].f != b[part].f) return a[part].f < b[part].f ? -1 : 1;
      return 0;
    case NET_STRING:
    case NET_BYTES:
    case NET_NAME:
      return a->s == b->s ? 0 : base_strings_compare(strings, a->s, b->s);
    case NET_INTEGER:
    case NET_BOOL:
    case NET_INSTANT:
      break;
  }
  return (a->i > b->i) - (a->i < b->i);
}

int st_rows_compare(const struct net_layout *layout, const struct base_strings *strings,
                    const union net_slot *a, const union net_slot *b) {
  for (uint32_t i = 0; i < layout->first_domain_slot; i++)
    if (a[i].i != b[i].i) return a[i].i < b[i].i ? -1 : 1;
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const struct net_field *field = &layout->fields[i];
    int order = compare_values(strings, field->type.base, a + field->slot, b + field->slot);
    if (order != 0) return order;
  }
  return 0;
}

/* --- sorting */

/* A row by its number, with the first of its times, which decides nearly always. */
struct place {
  net_chronon first;
  size_t row;
};

/* Rows of equal keys keep their order. */
static bool is_behind(const struct net_rows *rows, const struct base_strings *strings,
                      const struct place *a, const struct place *b) {
  if (a->first != b->first) return a->first > b->first;
  return st_rows_compare(rows->layout, strings, net_rows_row(rows, a->row),
                         net_rows_row(rows, b->row)) > 0;
}

/* Merges the runs FROM[LOW..MIDDLE) and FROM[MIDDLE..HIGH) into TO. */
static void merge_runs(const struct net_rows *rows, const struct base_strings *strings,
                       const struct place *from, size_t low, size_t middle, size_t high,
                       struct place *to) {
  size_t left = low, right = middle;
  for (size_t at = low; at < high; at++) {
    bool take_right =
        left == middle || (right < high && is_behind(rows, strings, &from[left], &from[right]));
    to[at] = from[take_right ? right++ : left++];
  }
}

static struct place *sorted_places(const struct net_rows *rows,
                                   const struct base_strings *strings) {
  size_t count = rows->count;
  struct place *places = base_xcalloc(count, sizeof *places);
  struct place *others = base_xcalloc(count, sizeof *others);
  for (size_t i = 0; i < count; i++) places[i] = (struct place){net_rows_row(rows, i)[0].i, i};
  for (size_t run = 1; run < count; run *= 2) {
    for (size_t low = 0; low < count; low += 2 * run) {
      size_t middle = low + run < count ? low + run : count;
      size_t high = middle + run < count ? middle + run : count;
      merge_runs(rows, strings, places, low, middle, high, others);
    }
    struct place *swap = places;
    places = others;
    others = swap;
  }
  free(others);
  return places;
}

static void rearrange(struct net_rows *rows, const struct place *places) {
  uint32_t slots = rows->layout->slot_count;
  struct net_rows sorted = {.layout = rows->layout, .count = rows->count, .capacity = rows->count};
  sorted.rows = base_xmalloc(rows->count * slots * sizeof *sorted.rows);
  sorted.marks = base_xmalloc(rows->count);
  for (size_t i = 0; i < rows->count; i++) {
    memcpy(net_rows_row(&sorted, i), net_rows_row(rows, places[i].row),
           slots * sizeof *sorted.rows);
    sorted.marks[i] = rows->marks[places[i].row];
  }
  net_rows_done(rows);
  *rows = sorted;
}

/* Of rows in order, keeps one of those that are equal. */
static void remove_equal(struct net_rows *rows, const struct base_strings *strings) {
  size_t kept = 0;
  for (size_t i = 0; i < rows->count; i++) {
    const union net_slot *row = net_rows_row(rows, i);
    if (kept > 0 &&
        st_rows_compare(rows->layout, strings, net_rows_row(rows, kept - 1), row) == 0) {
      rows->marks[kept - 1] |= rows->marks[i];
      continue;
    }
    if (kept != i) {
      memmove(net_rows_row(rows, kept), row, rows->layout->slot_count * sizeof *row);
      rows->marks[kept] = rows->marks[i];
    }
    kept++;
  }
  rows->count = kept;
}

void st_rows_order(struct net_rows *rows, const struct base_strings *strings) {
  bool sorted = true, single = true;
  for (size_t i = 1; i < rows->count && sorted; i++) {
    const union net_slot *before = net_rows_row(rows, i - 1), *row = net_rows_row(rows, i);
    if (before[0].i < row[0].i) continue;
    int order = st_rows_compare(rows->layout, strings, before, row);
    sorted = order <= 0;
    single &= order != 0;
  }
  if (sorted && single) return;
  if (!sorted) {
    struct place *places = sorted_places(rows, strings);
    rearrange(rows, places);
    free(places);
  }
  remove_equal(rows, strings);
}

/* --- merging */

/* Both are in order, and so is the result. */
void st_rows_merge(const struct net_rows *a, const struct net_rows *b,
                   const struct base_strings *strings, struct net_rows *ret) {
  const struct net_layout *layout = a->layout;
  net_rows_init(ret, layout);
  size_t i = 0, j = 0;
  while (i < a->count && j < b->count) {
    int order = st_rows_compare(layout, strings, net_rows_row(a, i), net_rows_row(b, j));
    const struct net_rows *from = order <= 0 ? a : b;
    size_t at = order <= 0 ? i : j;
    uint8_t marks = order == 0 ? (uint8_t)(a->marks[i] | b->marks[j]) : from->marks[at];
    net_rows_add_all(ret, net_rows_row(from, at), &marks, 1);
    i += order <= 0;
    j += order >= 0;
  }
  if (i < a->count) net_rows_add_all(ret, net_rows_row(a, i), a->marks + i, a->count - i);
  if (j < b->count) net_rows_add_all(ret, net_rows_row(b, j), b->marks + j, b->count - j);
}
