/* Results that lie in a file, since they are larger than their statement's budget of memory: put in order piece by
 * piece, each in memory for itself, and then merged into a second file, from one end to the other.
 *
 *     rows, as they came ──▶ runs, each in order ──▶ heap of the runs' first rows ──▶ rows, in order, each once
 */
#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "tquel/format/cells.h"

/* Bytes of a run; to put it in order takes as many besides. */
#define RUN       ((size_t)4 << 20)
#define POLL_ROWS ((size_t)1 << 16)

struct run {
  size_t at, end;
};

struct merging {
  const struct tql_ordering *ordering;
  struct run *runs; /* a heap: none before the one above it */
  size_t count, capacity;
};

static const union net_slot *first_of(const struct merging *merging, size_t run) {
  return net_rows_row(merging->ordering->rows, merging->runs[run].at);
}

static void sink(struct merging *merging, size_t at) {
  for (size_t child; (child = 2 * at + 1) < merging->count; at = child) {
    if (child + 1 < merging->count &&
        tql_rows_compare(merging->ordering, first_of(merging, child + 1),
                         first_of(merging, child)) < 0)
      child++;
    if (tql_rows_compare(merging->ordering, first_of(merging, at), first_of(merging, child)) <= 0)
      return;
    struct run run = merging->runs[at];
    merging->runs[at] = merging->runs[child];
    merging->runs[child] = run;
  }
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
    if (base_env_interrupted()) return BASE_CANCEL;
    tql_rows_order_part(&part, merging->ordering);
    base_grow(&merging->runs, &merging->capacity, merging->count + 1, sizeof *merging->runs);
    merging->runs[merging->count++] = (struct run){first, first + part.count};
  }
  for (size_t i = merging->count; i-- > 0;) sink(merging, i);
  return BASE_OK;
}

static enum base_status merge(struct net_rows *rows, struct merging *merging,
                              struct net_rows *merged) {
  for (size_t steps = 0; merging->count > 0; steps++) {
    if (steps % POLL_ROWS == 0 && base_env_interrupted()) return BASE_CANCEL;
    const union net_slot *row = first_of(merging, 0);
    uint8_t marks = rows->marks[merging->runs[0].at];
    size_t last = merged->count;
    if (last > 0 && tql_rows_compare(merging->ordering, net_rows_row(merged, last - 1), row) == 0)
      merged->marks[last - 1] |= marks;
    else
      net_rows_add_copy(merged, row, marks);
    if (++merging->runs[0].at == merging->runs[0].end)
      merging->runs[0] = merging->runs[--merging->count];
    sink(merging, 0);
  }
  return BASE_OK;
}

enum base_status tql_rows_order_spilled(struct net_rows *rows,
                                        const struct tql_ordering *ordering) {
  struct merging merging = {.ordering = ordering};
  struct net_rows merged;
  net_rows_init(&merged, rows->layout);
  enum base_status status = BASE_OK;
  if (!net_rows_spill(&merged, rows->count)) status = BASE_CANCEL; /* the budget says why */
  if (status == BASE_OK) status = make_runs(rows, &merging);
  if (status == BASE_OK) status = merge(rows, &merging, &merged);
  free(merging.runs);
  if (status == BASE_OK) {
    net_rows_done(rows);
    *rows = merged;
  } else {
    net_rows_done(&merged);
  }
  return status;
}
