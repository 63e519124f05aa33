/* A hash map from rows to a little state: open rows by identity, groups by their key.
 *
 * Entries keep their index while they live; indices are reused. Iteration is by index, so its order
 * depends on the history of operations alone (the network stays deterministic).                    */
#ifndef NET_ROWMAP_H
#define NET_ROWMAP_H

#include "engine/batch.h"

enum net_rowmap_key {
  NET_KEY_IDENTITY, /* all slots but openable ones */
  NET_KEY_VERSION,  /* all slots, and whether the row is definite: see net_rowmap_put_version */
  NET_KEY_DOMAINS,  /* the first KEY_FIELDS fields */
  NET_KEY_SLOTS,    /* the slots KEY_SLOTS[0 .. KEY_COUNT) */
};

struct net_rowmap {
  const struct net_layout *layout;
  enum net_rowmap_key key;
  uint32_t key_fields;
  const uint32_t *key_slots;
  size_t key_count;
  size_t state_size, state_offset; /* aligned for any type */
  unsigned char *entries; /* header, row, state */
  size_t stride, used, capacity, live;
  uint32_t free_list; /* index + 1 */
  uint32_t *table;    /* index + 1; 0 empty */
  size_t table_size;
  size_t tombstones;
};

#define NET_NO_ENTRY UINT32_MAX

void net_rowmap_init(struct net_rowmap *map, const struct net_layout *layout,
                     enum net_rowmap_key key, uint32_t key_fields, const uint32_t *key_slots,
                     size_t key_count, size_t state_size);
void net_rowmap_done(struct net_rowmap *map);
/* Index of the entry with the key of ROW, or NET_NO_ENTRY. */
uint32_t net_rowmap_find(const struct net_rowmap *map, const union net_slot *row);
/* The entry with the key of ROW, made (with a copy of ROW and zeroed state) if need be.
 * *RET_NEW may be NULL.                                                                             */
uint32_t net_rowmap_put(struct net_rowmap *map, const union net_slot *row, bool *ret_new);
/* Open rows in maps of NET_KEY_VERSION. Rows of one identity can differ in which of their stops are
 * known and in being definite (marks: NET_DEFINITE); each version is an entry. find_version gives the
 * entry that ROW, which closes a stop or several, is the next version of: what the entry knows already
 * agrees with ROW; of several the one that is as definite and says most. It need not be removed at
 * once, but ROW is another entry.                                                                   */
uint32_t net_rowmap_put_version(struct net_rowmap *map, const union net_slot *row, uint8_t marks,
                                bool *ret_new);
uint32_t net_rowmap_find_version(const struct net_rowmap *map, const union net_slot *row,
                                 uint8_t marks);
bool net_rowmap_definite(const struct net_rowmap *map, uint32_t index); /* as it was put */
void net_rowmap_remove(struct net_rowmap *map, uint32_t index);
/* Good until the next put. */
union net_slot *net_rowmap_row(const struct net_rowmap *map, uint32_t index);
void *net_rowmap_state(const struct net_rowmap *map, uint32_t index);
/* For iterating: is INDEX (< map->used) a live entry? */
bool net_rowmap_live(const struct net_rowmap *map, uint32_t index);
void net_rowmap_mark_strings(const struct net_rowmap *map, struct base_strings *strings);

#endif
