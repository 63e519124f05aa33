/* Rows put in order: a few megabytes at a time where they lie, and these runs then merged into other rows.
 *
 *     rows, as they came ──▶ runs, each in order ──▶ heap of the runs' first rows ──▶ rows, in order
 *
 * So nothing is needed beside the rows but places for one run, rows that lie on the disk are read from one end to the
 * other, and what takes long can be interrupted. Most comparisons are decided by a number that stands for the row. */
#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/base/binary_heap.h"
#include "engine/base/env.h"
#include "tquel/format/cells.h"

/* Bytes of a run; its places take as many at most. */
#define RUN       ((size_t)4 << 20)
#define POLL_ROWS ((size_t)1 << 16)
/* So many steps a row for rows that are nearly in order, as those of an aggregate, which come in the order of their
 * stops; after that they are sorted as if they were in none. */
#define STEPS_A_ROW 16

/* --- one run, in memory */

struct comparing {
  const struct tql_order *order;
  const struct net_rows *rows;
};

static int compare_places(const void *a, const void *b, void *context) {
  const struct comparing *comparing = context;
  const struct tql_place *x = a, *y = b;
  if (x->prefix != y->prefix) return x->prefix < y->prefix ? -1 : 1;
  return comparing->order->compare(comparing->order->context,
                                   net_rows_row(comparing->rows, x->index),
                                   net_rows_row(comparing->rows, y->index));
}

/* By insertion; false: it would take too long, and they are not in order yet. */
static bool insert(struct tql_place *places, size_t count, struct comparing *comparing) {
  size_t steps = count * STEPS_A_ROW;
  for (size_t i = 1; i < count; i++) {
    struct tql_place place = places[i];
    size_t to = i;
    for (; to > 0 && compare_places(&place, &places[to - 1], comparing) < 0; to--)
      places[to] = places[to - 1];
    places[to] = place;
    if (i - to > steps) return false;
    steps -= i - to;
  }
  return true;
}

struct tql_place *tql_sort_places(const struct tql_order *order, const struct net_rows *rows,
                                  size_t from) {
  size_t capacity = 0, count = rows->count - from;
  struct tql_place *places = NULL;
  struct comparing comparing = {order, rows};
  base_grow_large(&places, &capacity, count + 1, sizeof *places);
  for (size_t i = 0; i < count; i++)
    places[i] =
        (struct tql_place){order->prefix(order->context, net_rows_row(rows, from + i)), from + i};
  if (!insert(places, count, &comparing))
    qsort_r(places, count, sizeof *places, compare_places, &comparing);
  return places;
}

/* Row i is to be the one that PLACES[i] names; where they lie, ring by ring. */
static void move_rows(struct net_rows *rows, struct tql_place *places) {
  uint32_t slots = rows->layout->slot_count;
  union net_slot *kept = base_xcalloc(slots, sizeof *kept);
  for (size_t i = 0; i < rows->count; i++) {
    if (places[i].index == i) continue;
    uint8_t kept_marks = rows->marks[i];
    net_row_copy(kept, net_rows_row(rows, i), slots);
    size_t to = i, from;
    while ((from = places[to].index) != i) {
      net_row_copy(net_rows_row(rows, to), net_rows_row(rows, from), slots);
      rows->marks[to] = rows->marks[from];
      places[to].index = to;
      to = from;
    }
    net_row_copy(net_rows_row(rows, to), kept, slots);
    rows->marks[to] = kept_marks;
    places[to].index = to;
  }
  free(kept);
}

void tql_order_few(const struct tql_order *order, struct net_rows *rows) {
  struct tql_place *places = tql_sort_places(order, rows, 0);
  move_rows(rows, places);
  free(places);
}

/* --- many */

struct run {
  uint64_t prefix; /* of its first row */
  size_t at, end;
};

struct merging {
  const struct tql_order *order;
  const struct net_rows *rows;
  struct run *runs; /* a heap: none before the one above it */
  size_t count, capacity;
};

/* Rows that are alike stay in the order in which they came. */
static bool is_before(const struct run *a, const struct run *b, const void *context) {
  const struct merging *merging = context;
  if (a->prefix != b->prefix) return a->prefix < b->prefix;
  int order = merging->order->compare(merging->order->context, net_rows_row(merging->rows, a->at),
                                      net_rows_row(merging->rows, b->at));
  return order != 0 ? order < 0 : a->at < b->at;
}

BASE_BINARY_HEAP(runs, struct run, is_before);

static void look_at_first(const struct merging *merging, struct run *run) {
  run->prefix =
      merging->order->prefix(merging->order->context, net_rows_row(merging->rows, run->at));
}

static enum base_status make_runs(struct net_rows *rows, struct merging *merging) {
  size_t row_bytes = rows->layout->slot_count * sizeof(union net_slot);
  size_t rows_of_run = row_bytes < RUN ? RUN / row_bytes : 1;
  for (size_t first = 0; first < rows->count; first += rows_of_run) {
    size_t left = rows->count - first;
    struct net_rows part = {.layout = rows->layout,
                            .rows = net_rows_row(rows, first),
                            .marks = rows->marks + first,
                            .count = left < rows_of_run ? left : rows_of_run};
    struct run run = {0, first, first + part.count};
    if (base_env_interrupted()) return BASE_CANCEL;
    tql_order_few(merging->order, &part);
    look_at_first(merging, &run);
    base_grow(&merging->runs, &merging->capacity, merging->count + 1, sizeof *merging->runs);
    merging->runs[merging->count++] = run;
  }
  runs_make(merging->runs, merging->count, merging);
  return BASE_OK;
}

static enum base_status merge(struct merging *merging, struct net_rows *merged) {
  const struct tql_order *order = merging->order;
  for (size_t steps = 0; merging->count > 0; steps++) {
    struct run *first = &merging->runs[0];
    if (steps % POLL_ROWS == 0 && base_env_interrupted()) return BASE_CANCEL;
    if (!order->take(order->context, merged, net_rows_row(merging->rows, first->at),
                     merging->rows->marks[first->at]))
      return BASE_OK;
    if (++first->at == first->end)
      *first = merging->runs[--merging->count];
    else
      look_at_first(merging, first);
    runs_down(merging->runs, merging->count, 0, *first, merging);
  }
  return BASE_OK;
}

enum base_status tql_order_many(const struct tql_order *order, struct net_rows *rows) {
  struct merging merging = {.order = order, .rows = rows};
  struct net_rows merged;
  net_rows_init(&merged, rows->layout);
  merged.may_spill = rows->may_spill;
  enum base_status status = BASE_OK;
  if (rows->spill && !net_rows_spill(&merged, rows->count))
    status = BASE_CANCEL; /* the budget says why */
  if (status == BASE_OK) status = make_runs(rows, &merging);
  if (status == BASE_OK) status = merge(&merging, &merged);
  free(merging.runs);
  if (status == BASE_OK) {
    net_rows_done(rows);
    *rows = merged;
  } else {
    net_rows_done(&merged);
  }
  return status;
}
