/* Batch builders and sets of rows: the two places where rows are put together.
 *
 * A builder's slab is allocated once and reused; a set of rows grows by doubling. Both hand out
 * zeroed rows: a slot that nobody fills is 0, never what an earlier row left there. Neither looks at
 * what a row says.                                                                                 */
#include "engine/batch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/budget.h"
#include "engine/base/heap.h"
#include "engine/base/spill.h"
#include "engine/base/status.h"

void net_batch_builder_init(struct net_batch_builder *builder, const struct net_layout *layout,
                            uint32_t capacity) {
  BASE_CHECK(capacity > 0, "batch-capacity");
  *builder = (struct net_batch_builder){.layout = layout, .capacity = capacity, .plain = true};
  builder->rows = base_xcalloc((size_t)capacity * layout->slot_count, sizeof *builder->rows);
  builder->marks = base_xcalloc(capacity, sizeof *builder->marks);
  builder->ids = base_xcalloc(capacity, sizeof *builder->ids);
}

void net_batch_builder_done(struct net_batch_builder *builder) {
  free(builder->rows);
  free(builder->marks);
  free(builder->ids);
  *builder = (struct net_batch_builder){0};
}

union net_slot *net_batch_builder_add(struct net_batch_builder *builder, uint8_t marks) {
  return net_batch_builder_add_id(builder, marks, 0);
}

union net_slot *net_batch_builder_add_id(struct net_batch_builder *builder, uint8_t marks,
                                         uint64_t id) {
  size_t slots = builder->layout->slot_count;
  union net_slot *row;
  BASE_CHECK(!net_batch_builder_full(builder), "batch-full");
  row = builder->rows + builder->count * slots;
  memset(row, 0, slots * sizeof *row);
  builder->plain = false;
  builder->ids[builder->count] = id;
  builder->marks[builder->count++] = marks;
  return row;
}

struct net_batch net_batch_builder_batch(const struct net_batch_builder *builder,
                                         net_chronon checkpoint) {
  return (struct net_batch){.layout = builder->layout,
                            .rows = builder->rows,
                            .marks = builder->marks,
                            .ids = builder->ids,
                            .count = builder->count,
                            .checkpoint = checkpoint,
                            .bound = NET_BEGINNING,
                            .plain = builder->plain,
                            .unordered = builder->unordered};
}

void net_rows_init(struct net_rows *rows, const struct net_layout *layout) {
  *rows = (struct net_rows){.layout = layout};
}

/* --- on the disk */

struct net_spill {
  struct base_spill rows, marks;
};

/* From so many bytes of rows on it is asked whether there is memory for them. */
#define SPILL_LEAST ((size_t)1 << 20)
/* What putting a row in order takes, about. */
#define ORDER_BYTES 32

static size_t row_bytes(const struct net_rows *rows) {
  return rows->layout->slot_count * sizeof *rows->rows;
}

static bool grow_spilled(struct net_rows *rows, size_t capacity) {
  struct net_spill *spill = rows->spill;
  bool grown = base_spill_grow(&spill->rows, capacity * row_bytes(rows)) &&
               base_spill_grow(&spill->marks, capacity);
  if (!grown) base_budget_spill_failed(errno);
  rows->rows = spill->rows.memory;
  rows->marks = spill->marks.memory;
  if (grown) rows->capacity = capacity;
  return grown;
}

static bool begin_spill(struct net_spill *spill, size_t bytes, size_t capacity) {
  if (base_spill_open(&spill->rows, bytes)) {
    if (base_spill_open(&spill->marks, capacity)) return true;
    int reason = errno;
    base_spill_close(&spill->rows);
    errno = reason;
  }
  base_budget_spill_failed(errno);
  return false;
}

bool net_rows_spill(struct net_rows *rows, size_t capacity) {
  if (capacity < rows->capacity) capacity = rows->capacity;
  if (capacity == 0 || row_bytes(rows) == 0) return true;
  if (rows->spill) return capacity == rows->capacity || grow_spilled(rows, capacity);
  struct net_spill *spill = base_xcalloc(1, sizeof *spill);
  if (!begin_spill(spill, capacity * row_bytes(rows), capacity)) {
    free(spill);
    return false;
  }
  if (rows->count > 0) {
    memcpy(spill->rows.memory, rows->rows, rows->count * row_bytes(rows));
    memcpy(spill->marks.memory, rows->marks, rows->count);
  }
  free(rows->rows);
  free(rows->marks);
  rows->spill = spill;
  rows->rows = spill->rows.memory;
  rows->marks = spill->marks.memory;
  rows->capacity = capacity;
  return true;
}

/* Is there memory for twice as many rows, and for putting them in order? */
static bool is_too_large(const struct net_rows *rows) {
  size_t bytes = rows->capacity * row_bytes(rows);
  return bytes >= SPILL_LEAST && !base_budget_has_room(bytes + 2 * rows->capacity * ORDER_BYTES);
}

/* NEEDED rows are more than there is room for. */
static void grow(struct net_rows *rows, size_t needed) {
  if (rows->spill || (rows->may_spill && is_too_large(rows))) {
    if (net_rows_spill(rows, needed > 2 * rows->capacity ? needed : 2 * rows->capacity)) return;
    if (rows->spill) {
      if (needed - rows->count > rows->capacity) base_heap_exhausted(needed * row_bytes(rows));
      rows->count = 0;
      return;
    }
  }
  base_grow_large(&rows->rows, &rows->capacity, needed, row_bytes(rows));
  rows->marks = base_xrealloc(rows->marks, rows->capacity, sizeof *rows->marks);
}

void net_rows_done(struct net_rows *rows) {
  if (rows->spill) {
    base_spill_close(&rows->spill->rows);
    base_spill_close(&rows->spill->marks);
    free(rows->spill);
  } else {
    free(rows->rows);
    free(rows->marks);
  }
  *rows = (struct net_rows){.layout = rows->layout};
}

union net_slot *net_rows_add(struct net_rows *rows, uint8_t marks) {
  size_t slots = rows->layout->slot_count;
  union net_slot *row;
  if (rows->count == rows->capacity) grow(rows, rows->count + 1);
  row = rows->rows + rows->count * slots;
  memset(row, 0, slots * sizeof *row);
  rows->marks[rows->count++] = marks;
  return row;
}

union net_slot *net_rows_make_room(struct net_rows *rows, size_t count) {
  size_t slots = rows->layout->slot_count;
  if (rows->count + count > rows->capacity) grow(rows, rows->count + count);
  return rows->rows + rows->count * slots;
}

void net_rows_add_batch(struct net_rows *rows, const struct net_batch *batch) {
  uint32_t slots = rows->layout->slot_count;
  (void)net_rows_make_room(rows, batch->count);
  if (batch->selection == NULL && batch->count > 0) {
    memcpy(rows->rows + rows->count * slots, batch->rows,
           (size_t)batch->count * slots * sizeof *rows->rows);
    memcpy(rows->marks + rows->count, batch->marks, batch->count);
  }
  for (uint32_t i = 0; i < batch->count && batch->selection != NULL; i++) {
    net_row_copy(rows->rows + (rows->count + i) * slots, net_batch_row(batch, i), slots);
    rows->marks[rows->count + i] = net_batch_marks(batch, i);
  }
  rows->count += batch->count;
}

/* ROW may be one of ROWS itself, which growing moves. */
void net_rows_add_copy(struct net_rows *rows, const union net_slot *row, uint8_t marks) {
  size_t slots = rows->layout->slot_count;
  uintptr_t first = (uintptr_t)rows->rows, place = (uintptr_t)row;
  bool own =
      rows->count > 0 && place >= first && place < (uintptr_t)(rows->rows + rows->count * slots);
  union net_slot *copy = net_rows_add(rows, marks);
  const union net_slot *original =
      own ? (const union net_slot *)(const void *)((const char *)rows->rows + (place - first))
          : row;
  memcpy(copy, original, slots * sizeof *copy);
}

void net_rows_add_all(struct net_rows *rows, const union net_slot *more, const uint8_t *marks,
                      size_t count) {
  size_t slots = rows->layout->slot_count;
  if (count == 0) return;
  memcpy(net_rows_make_room(rows, count), more, count * slots * sizeof *more);
  memcpy(rows->marks + rows->count, marks, count);
  rows->count += count;
}
