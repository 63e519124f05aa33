/* A hash map from rows, or from the ids of rows (batch.h), to a little state.
 *
 * Entries keep their index while they live; indices are reused. What is gone is not there to be read: removing
 * may give memory back. Iteration is by index, so its order
 * depends on the history of operations alone (the network stays deterministic).                    */
#ifndef NET_ROWMAP_H
#define NET_ROWMAP_H

#include <stddef.h>

#include "engine/batch.h"

enum net_rowmap_key {
  NET_KEY_IDENTITY, /* all slots but openable ones */
  NET_KEY_DOMAINS,  /* the first KEY_FIELDS fields */
  NET_KEY_SLOTS,    /* the slots KEY_SLOTS[0 .. KEY_COUNT) */
  NET_KEY_ID,       /* the row's id; LAYOUT may be NULL: no row is kept */
};

struct net_rowmap {
  const struct net_layout *layout;
  enum net_rowmap_key key;
  uint32_t key_fields;
  const uint32_t *key_slots;
  size_t key_count;
  uint32_t first_slot, end_slot;   /* so much of a row is kept */
  ptrdiff_t row_offset;            /* of slot 0, kept or not */
  size_t state_size, state_offset; /* state: aligned as slots are */
  unsigned char *
      *blocks; /* of entries: header, row, state; in front of the first, FIRST_SLOT slots */
  size_t block_capacity;
  size_t stride, used, capacity, live;
  size_t holes;       /* blocks that are not there: NULL */
  size_t first_hole;  /* none of them is before it */
  size_t removed;     /* entries, since there was a look at what is not used */
  size_t look_below;  /* when fewer live, there is another look; half of those of the last one */
  uint32_t free_list; /* index + 1 */
  uint32_t *table;    /* places: index + 1, and above it how far that is from home; 0: empty */
  size_t table_size;
  unsigned index_bits; /* of a place */
  uint32_t index_mask;
  uint32_t furthest; /* that a place says; whoever says so may be further */
  bool many;         /* entries, once */
};

#define NET_NO_ENTRY UINT32_MAX

void net_rowmap_init(struct net_rowmap *map, const struct net_layout *layout,
                     enum net_rowmap_key key, uint32_t key_fields, const uint32_t *key_slots,
                     size_t key_count, size_t state_size);
/* Of rows only the slots FIRST .. END - 1 are kept, among which are all that the key has: net_rowmap_row has
 * no others. Right after init. */
void net_rowmap_keep(struct net_rowmap *map, uint32_t first, uint32_t end);
void net_rowmap_done(struct net_rowmap *map);
void net_rowmap_clear(struct net_rowmap *map); /* keeps the memory that is used now and then */
/* Index of the entry with the key of ROW, or NET_NO_ENTRY. */
uint32_t net_rowmap_find(const struct net_rowmap *map, const union net_slot *row);
/* The entry with the key of ROW, made (with a copy of ROW and zeroed state) if need be.
 * *RET_NEW may be NULL.                                                                             */
uint32_t net_rowmap_put(struct net_rowmap *map, const union net_slot *row, bool *ret_new);
/* The same in maps of NET_KEY_ID; put_id replaces the row of an entry that is there. ROW NULL: without
 * one. */
uint32_t net_rowmap_find_id(const struct net_rowmap *map, uint64_t id);
uint32_t net_rowmap_put_id(struct net_rowmap *map, uint64_t id, const union net_slot *row);
uint64_t net_rowmap_id(const struct net_rowmap *map, uint32_t index);
void net_rowmap_remove(struct net_rowmap *map, uint32_t index);
enum { NET_ROWMAP_BLOCK = 64 }; /* entries; the first block begins with fewer */
/* What an entry begins with; its row follows, then its state. */
struct net_rowmap_entry {
  uint32_t link; /* NET_ROWMAP_LIVE, or the next free one (index + 1) */
  uint32_t hash;
};
/* ... in maps of NET_KEY_ID; a state of four bytes or less is in here. */
struct net_rowmap_id_entry {
  uint32_t link;
  unsigned char small_state[4];
  uint64_t hash; /* of no other id */
};
#define NET_ROWMAP_LIVE UINT32_MAX
static inline unsigned char *net_rowmap_entry(const struct net_rowmap *map, uint32_t index) {
  return map->blocks[index / NET_ROWMAP_BLOCK] + index % NET_ROWMAP_BLOCK * map->stride;
}
/* Good until the next put. */
static inline union net_slot *net_rowmap_row(const struct net_rowmap *map, uint32_t index) {
  return (union net_slot *)(void *)(net_rowmap_entry(map, index) + map->row_offset);
}
static inline void *net_rowmap_state(const struct net_rowmap *map, uint32_t index) {
  return net_rowmap_entry(map, index) + map->state_offset;
}
/* The hash of the entry's key, in maps of other keys than NET_KEY_ID. */
static inline uint32_t net_rowmap_hash(const struct net_rowmap *map, uint32_t index) {
  return ((const struct net_rowmap_entry *)(const void *)net_rowmap_entry(map, index))->hash;
}
/* Four bytes more of an entry of a map of NET_KEY_ID, zero at first, unless its state is there. */
static inline void *net_rowmap_small(const struct net_rowmap *map, uint32_t index) {
  return ((struct net_rowmap_id_entry *)(void *)net_rowmap_entry(map, index))->small_state;
}
/* Memory that the map holds. */
size_t net_rowmap_bytes(const struct net_rowmap *map);
/* For those who remember where an entry was: is there a live one at INDEX? */
static inline bool net_rowmap_live(const struct net_rowmap *map, uint32_t index) {
  if (index >= map->used || map->blocks[index / NET_ROWMAP_BLOCK] == NULL) return false;
  return ((const struct net_rowmap_entry *)(const void *)net_rowmap_entry(map, index))->link ==
         NET_ROWMAP_LIVE;
}
/* For iterating over those that live: the first at INDEX or behind it; USED or more: there is none. Of blocks that are
 * not there, of which a map may have far more than of others, nothing is looked at. */
static inline uint32_t net_rowmap_next(const struct net_rowmap *map, uint32_t index) {
  while (index < map->used && !net_rowmap_live(map, index)) {
    bool there = map->blocks[index / NET_ROWMAP_BLOCK] != NULL;
    index += there ? 1 : NET_ROWMAP_BLOCK - index % NET_ROWMAP_BLOCK;
  }
  return index;
}
void net_rowmap_mark_strings(const struct net_rowmap *map, struct base_strings *strings);

#endif
