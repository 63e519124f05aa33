/* Results: rows collected from batches, put in order, made a set.
 *
 * Closing rows are matched with the open rows they replace only when the result is finished: in
 * order of arrival, through a hash table of the open rows by identity. Of several open rows of one
 * identity the closing one takes one that is as definite as itself, if there is one, and among those
 * one whose stop could be as late, the one that came first among equals. A closing row without an
 * open one is a row like any other (the open one was shown elsewhere).
 *
 * After tql_rows_finish the rows have no open stops and no NET_CLOSES any more. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "tquel/format/cells.h"

void tql_rows_init(struct tql_rows *rows, const char *name, const struct net_layout *layout) {
  *rows = (struct tql_rows){.name = name, .checkpoint = NET_BEGINNING};
  net_rows_init(&rows->rows, layout);
}

void tql_rows_done(struct tql_rows *rows) {
  net_rows_done(&rows->rows);
}

void tql_rows_add_batch(struct tql_rows *rows, const struct net_batch *batch) {
  for (uint32_t i = 0; i < batch->count; i++)
    net_rows_add_copy(&rows->rows, net_batch_row(batch, i), net_batch_marks(batch, i));
}

/* ---- closing ---- */

#define SLOT_EMPTY SIZE_MAX
#define SLOT_TAKEN (SIZE_MAX - 1)

/* Open rows by identity, linear probing; slots hold indexes of rows. */
struct open_rows {
  const struct net_rows *rows;
  size_t *slots;
  size_t mask;
};

static size_t first_slot(const struct open_rows *open, size_t index) {
  uint64_t hash = net_row_identity_hash(open->rows->layout, net_rows_row(open->rows, index));
  return (size_t)hash & open->mask;
}

static void note_open(struct open_rows *open, size_t index) {
  size_t slot = first_slot(open, index);
  while (open->slots[slot] != SLOT_EMPTY) slot = (slot + 1) & open->mask;
  open->slots[slot] = index;
}

/* How well the open row OTHER goes with row INDEX that closes one of its identity; 0: not at all. A stop
 * that was known and only hidden kept its upper bound. */
static int likeness(const struct net_rows *rows, size_t other, size_t index) {
  const union net_slot *open = net_rows_row(rows, other), *row = net_rows_row(rows, index);
  int alike = (rows->marks[index] ^ rows->marks[other]) & NET_DEFINITE ? 0 : 4;
  if (rows->layout->tuple_class != NET_PERIOD) return alike + 1;
  if (open[3].i < row[3].i) return 0;
  return alike + (open[3].i == row[3].i ? 3 : open[3].i == NET_FOREVER ? 2 : 1);
}

/* The open row that row INDEX closes, taken out of the table; SLOT_EMPTY: none. */
static size_t take_open(struct open_rows *open, size_t index) {
  const struct net_rows *rows = open->rows;
  size_t found = SLOT_EMPTY, slot = first_slot(open, index);
  int best = 0;
  for (; open->slots[slot] != SLOT_EMPTY; slot = (slot + 1) & open->mask) {
    size_t other = open->slots[slot];
    if (other == SLOT_TAKEN ||
        !net_row_same_identity(rows->layout, net_rows_row(rows, index), net_rows_row(rows, other)))
      continue;
    int alike = likeness(rows, other, index);
    if (alike > best) found = slot;
    if (alike > best) best = alike;
  }
  if (found == SLOT_EMPTY) return SLOT_EMPTY;
  size_t taken = open->slots[found];
  open->slots[found] = SLOT_TAKEN;
  return taken;
}

/* Marks the rows that closing ones replace in DROPPED. */
static void match_closing(const struct net_rows *rows, bool *dropped) {
  struct open_rows open = {.rows = rows};
  size_t size = 16;
  while (size / 2 < rows->count) size *= 2;
  open.mask = size - 1;
  open.slots = base_xmalloc(size * sizeof *open.slots);
  for (size_t i = 0; i < size; i++) open.slots[i] = SLOT_EMPTY;
  for (size_t i = 0; i < rows->count; i++) {
    if (rows->marks[i] & NET_CLOSES) {
      size_t closed = take_open(&open, i);
      if (closed != SLOT_EMPTY) dropped[closed] = true;
    }
    if (net_row_is_open(rows->layout, net_rows_row(rows, i))) note_open(&open, i);
  }
  free(open.slots);
}

/* Moves row FROM to the place TO <= FROM. */
static void move_row(struct net_rows *rows, size_t to, size_t from) {
  if (to == from) return;
  memcpy(net_rows_row(rows, to), net_rows_row(rows, from),
         rows->layout->slot_count * sizeof *rows->rows);
  rows->marks[to] = rows->marks[from];
}

static void drop_closed(struct net_rows *rows) {
  size_t kept = 0;
  bool any = false;
  for (size_t i = 0; i < rows->count && !any; i++) any = rows->marks[i] & NET_CLOSES;
  if (!any) return;
  bool *dropped = base_xcalloc(rows->count, sizeof *dropped);
  match_closing(rows, dropped);
  for (size_t i = 0; i < rows->count; i++)
    if (!dropped[i]) move_row(rows, kept++, i);
  rows->count = kept;
  free(dropped);
}

/* ---- order ---- */

struct ordering {
  const struct net_rows *rows;
  const struct base_strings *strings;
  net_chronon checkpoint;
};

static int compare_rows(const struct ordering *ordering, size_t a, size_t b) {
  const struct net_rows *rows = ordering->rows;
  return net_row_compare(rows->layout, ordering->strings, ordering->checkpoint,
                         net_rows_row(rows, a), net_rows_row(rows, b));
}

static int compare_indexes(const void *a, const void *b, void *ordering) {
  return compare_rows(ordering, *(const size_t *)a, *(const size_t *)b);
}

static bool is_ordered(const struct ordering *ordering) {
  for (size_t i = 1; i < ordering->rows->count; i++)
    if (compare_rows(ordering, i - 1, i) >= 0) return false;
  return true;
}

static void order(struct tql_rows *result, const struct ordering *ordering) {
  struct net_rows *rows = &result->rows, sorted;
  size_t *indexes = base_xmalloc(rows->count * sizeof *indexes);
  for (size_t i = 0; i < rows->count; i++) indexes[i] = i;
  qsort_r(indexes, rows->count, sizeof *indexes, compare_indexes, (void *)ordering);
  net_rows_init(&sorted, rows->layout);
  for (size_t i = 0; i < rows->count; i++) {
    uint8_t marks = rows->marks[indexes[i]];
    if (i > 0 && compare_rows(ordering, indexes[i - 1], indexes[i]) == 0)
      sorted.marks[sorted.count - 1] |= marks;
    else
      net_rows_add_copy(&sorted, net_rows_row(rows, indexes[i]), marks);
  }
  free(indexes);
  net_rows_done(rows);
  *rows = sorted;
}

void tql_rows_finish(struct tql_rows *result, const struct base_strings *strings) {
  struct net_rows *rows = &result->rows;
  struct ordering ordering = {rows, strings, result->checkpoint};
  drop_closed(rows);
  for (size_t i = 0; i < rows->count; i++) {
    rows->marks[i] &= NET_DEFINITE;
    tql_fill_open(rows->layout, net_rows_row(rows, i), result->checkpoint);
  }
  if (!is_ordered(&ordering)) order(result, &ordering);
}
