/* Keys: which fields of a layout tell apart what its rows are of, in the order in which they were named. One without
 * fields tells nothing apart. */
#ifndef NET_KEY_H
#define NET_KEY_H

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/layout.h"

struct net_key {
  const uint32_t *fields;
  size_t count;
};

static inline bool net_key_has(const struct net_key *key, uint32_t field) {
  for (size_t i = 0; i < key->count; i++)
    if (key->fields[i] == field) return true;
  return false;
}

struct net_key net_key_copy(struct base_arena *arena, const struct net_key *key);
/* The fields called NAMES of LAYOUT in ARENA; those that it has not are left out. */
struct net_key net_key_named(struct base_arena *arena, const struct net_layout *layout,
                             const char *const *names, size_t count);
/* Do KEY of LAYOUT and OTHER_KEY of OTHER consist of the same names (case-insensitive), in whatever order? */
bool net_key_same(const struct net_layout *layout, const struct net_key *key,
                  const struct net_layout *other, const struct net_key *other_key);
/* "Conn, Stream". */
void net_key_print(struct base_buffer *out, const struct net_layout *layout,
                   const struct net_key *key);

#endif
