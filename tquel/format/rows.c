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
  *rows = (struct tql_rows){.name = name, .checkpoint = NET_BEGINNING};
  net_rows_init(&rows->rows, layout);
  net_rowmap_init(&rows->open, NULL, NET_KEY_ID, 0, NULL, 0, sizeof(size_t));
}

void tql_rows_done(struct tql_rows *rows) {
  net_rows_done(&rows->rows);
  net_rowmap_done(&rows->open);
}

static void add_row(struct tql_rows *result, const union net_slot *row, uint8_t marks,
                    uint64_t id) {
  struct net_rows *rows = &result->rows;
  size_t at = rows->count;
  uint32_t place = NET_NO_ENTRY;
  if ((marks & NET_CLOSES) && id != 0) place = net_rowmap_find_id(&result->open, id);
  if (place != NET_NO_ENTRY) {
    at = *(size_t *)net_rowmap_state(&result->open, place);
    memcpy(net_rows_row(rows, at), row, rows->layout->slot_count * sizeof *row);
    rows->marks[at] = marks;
  } else {
    net_rows_add_copy(rows, row, marks);
  }
  if (id == 0) return;
  if (net_row_is_open(rows->layout, row))
    *(size_t *)net_rowmap_state(&result->open, net_rowmap_put_id(&result->open, id, NULL)) = at;
  else if (place != NET_NO_ENTRY)
    net_rowmap_remove(&result->open, place);
}

void tql_rows_add_batch(struct tql_rows *rows, const struct net_batch *batch) {
  if (batch->plain) { /* nothing opens or closes */
    net_rows_add_batch(&rows->rows, batch);
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
  net_rowmap_done(&result->open);
  for (size_t i = 0; i < rows->count; i++) {
    rows->marks[i] &= NET_DEFINITE;
    tql_fill_open(rows->layout, net_rows_row(rows, i), result->checkpoint);
  }
  if (!is_ordered(&ordering)) order(result, &ordering);
}
