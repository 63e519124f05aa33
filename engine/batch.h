/* Batches: up to NET_BATCH_ROWS rows of one layout, and a checkpoint behind them.
 *
 * The checkpoint says: no later row has an implicit start (or at) before it, and every period that
 * is still open lasts at least to it. An empty batch is the thesis's checkpoint tuple.
 *
 * Marks of a row, beside the slab:
 *   DEFINITE  it is in the relation for sure (not omega);
 *   CLOSES    it replaces the earlier open row that has its id: the stop is known now, or better
 *             known: then it is still open, with an earlier upper bound, and a further close of the
 *             same id follows. So it is in a combination of several periods, of which a row may close
 *             one and leave another open.
 *   ROUND     among the records of a sampled relation: no record, but the end of a round at its time.
 * A row with an open instant and without CLOSES opens; a row without either is whole. What a row once
 * said of existence, definiteness, start and domains never changes: there are no retractions.
 *
 * IDS: which row a row closes. A row that opens carries an id that is not 0 and that no other row of
 * the arc has had; each row that closes it carries the same. Whole rows have 0. Access nodes give ids to
 * what comes from outside: sources and pushed batches have none (and end records need none).
 *
 * BOUND: the open stops of this batch's rows are at or after it (at least the arc's checkpoint before
 * the batch; nodes that emit open rows at the end of their work up to a checkpoint say that one).
 * ALL_OPEN: so are those of all open rows of the arc that were sent before. A node says so at the end of
 * its work up to a checkpoint that it does not pass on, because a row that it keeps may start earlier.
 *
 * FLOOR, where a node could compute it, is a row-shaped array whose instants' lo slots bound from
 * below those of all later rows (by more than the checkpoint does for the participants of a
 * combination); NULL where nothing more is known.
 *
 * PLAIN: every row that counts is definite and whole, all its instants (of the fields, too) are
 * determinate, a period's start is before its stop, and, unless UNORDERED, the rows are in the order of
 * their starts. Most batches are; nodes have short paths for them. Not PLAIN says nothing.
 *
 * MORE: another batch of this arc comes at once, without anything from outside being waited for. Who would
 * have to say much at its checkpoint may wait for that. A product's says it of each part of what one round gives
 * (nodes/product/pace.c).
 *
 * A batch is immutable once emitted and lives until the emitting call returns; readers copy what
 * they keep. SELECTION, if not NULL, lists the rows that count.                                     */
#ifndef NET_BATCH_H
#define NET_BATCH_H

#include "engine/layout.h"

#define NET_BATCH_ROWS 1024

enum { NET_DEFINITE = 1, NET_CLOSES = 2, NET_ROUND = 4 };

struct net_batch {
  const struct net_layout *layout;
  const union net_slot *rows; /* row i at rows + i * layout->slot_count */
  const uint8_t *marks;
  const uint64_t *ids;       /* indexed like the marks; NULL: all 0 */
  const uint32_t *selection; /* NULL: rows 0..count-1 */
  uint32_t count;            /* rows that count (length of the selection, if there is one) */
  net_chronon checkpoint;
  net_chronon bound;
  bool all_open;
  const union net_slot *floor;
  bool plain, unordered;
  bool more;
};

static inline uint32_t net_batch_index(const struct net_batch *batch, uint32_t i) {
  return batch->selection ? batch->selection[i] : i;
}
static inline const union net_slot *net_batch_row(const struct net_batch *batch, uint32_t i) {
  return batch->rows + (size_t)net_batch_index(batch, i) * batch->layout->slot_count;
}
static inline uint8_t net_batch_marks(const struct net_batch *batch, uint32_t i) {
  return batch->marks[net_batch_index(batch, i)];
}
static inline uint64_t net_batch_id(const struct net_batch *batch, uint32_t i) {
  return batch->ids ? batch->ids[net_batch_index(batch, i)] : 0;
}

/* So long last all periods of the arc that are open behind BATCH. */
static inline net_chronon net_batch_lasting(const struct net_batch *batch) {
  return batch->all_open && batch->bound > batch->checkpoint ? batch->bound : batch->checkpoint;
}

/* The checkpoint of a batch that others follow, whose rows start at START or later: at forever nothing follows. */
static inline net_chronon net_batch_followed(net_chronon start) {
  return start == NET_FOREVER ? NET_FOREVER - 1 : start;
}

/* Builds batches row by row in a slab of its own, reused from batch to batch. */
struct net_batch_builder {
  const struct net_layout *layout;
  union net_slot *rows;
  uint8_t *marks;
  uint64_t *ids;
  uint32_t count;
  uint32_t capacity;
  bool plain;     /* all rows so far came by net_batch_builder_add_plain */
  bool unordered; /* somebody said so */
};

void net_batch_builder_init(struct net_batch_builder *builder, const struct net_layout *layout,
                            uint32_t capacity);
void net_batch_builder_done(struct net_batch_builder *builder);
static inline bool net_batch_builder_full(const struct net_batch_builder *builder) {
  return builder->count == builder->capacity;
}
/* A new zeroed row with MARKS, and with ID; the builder must not be full. */
union net_slot *net_batch_builder_add(struct net_batch_builder *builder, uint8_t marks);
union net_slot *net_batch_builder_add_id(struct net_batch_builder *builder, uint8_t marks,
                                         uint64_t id);
/* A new row whose slots the caller fills, all of them: definite and whole, its instants determinate, not
 * before the last one, or else he says so in UNORDERED. */
static inline union net_slot *net_batch_builder_add_plain(struct net_batch_builder *builder) {
  builder->marks[builder->count] = NET_DEFINITE;
  builder->ids[builder->count] = 0;
  return builder->rows + (size_t)builder->count++ * builder->layout->slot_count;
}
/* COUNT of them, for which there must be room. */
static inline union net_slot *net_batch_builder_add_plains(struct net_batch_builder *builder,
                                                           uint32_t count) {
  memset(builder->marks + builder->count, NET_DEFINITE, count);
  memset(builder->ids + builder->count, 0, count * sizeof *builder->ids);
  builder->count += count;
  return builder->rows + (size_t)(builder->count - count) * builder->layout->slot_count;
}
/* The rows so far as a batch; it points into the builder. Bound: NET_BEGINNING, no floor. */
struct net_batch net_batch_builder_batch(const struct net_batch_builder *builder,
                                         net_chronon checkpoint);
static inline void net_batch_builder_clear(struct net_batch_builder *builder) {
  builder->count = 0;
  builder->plain = true;
  builder->unordered = false;
}

/* A growable set of rows with their marks, for those who keep them (sinks, pending records). */
struct net_rows {
  const struct net_layout *layout;
  union net_slot *rows;
  uint8_t *marks;
  size_t count, capacity;
  bool may_spill;          /* what is larger than its statement's memory goes to the disk */
  struct net_spill *spill; /* it is there; NULL: on the heap */
};
void net_rows_init(struct net_rows *rows, const struct net_layout *layout);
void net_rows_done(struct net_rows *rows);
/* Room for CAPACITY rows on the disk from now on, with those that are there. False: there is none; the budget is told
 * (base_budget_spill_failed), and ROWS are as they were. Where one that may spill, or has, cannot grow, its rows are
 * dropped: what runs is to unwind. */
bool net_rows_spill(struct net_rows *rows, size_t capacity);
/* A new zeroed row. The pointer holds until the next addition. */
union net_slot *net_rows_add(struct net_rows *rows, uint8_t marks);
void net_rows_add_copy(struct net_rows *rows, const union net_slot *row, uint8_t marks);
/* Where COUNT rows more are to be written, with all their slots and marks; then they are counted in. */
union net_slot *net_rows_make_room(struct net_rows *rows, size_t count);
/* The rows that count, with their marks. */
void net_rows_add_batch(struct net_rows *rows, const struct net_batch *batch);
/* Copies COUNT rows, which are none of ROWS. */
void net_rows_add_all(struct net_rows *rows, const union net_slot *more, const uint8_t *marks,
                      size_t count);
static inline union net_slot *net_rows_row(const struct net_rows *rows, size_t index) {
  return rows->rows + index * rows->layout->slot_count;
}

#endif
