/* Ordered multisets: many small ones in one slab, each known by its root (0: empty).
 *
 * A treap whose priorities are scattered from the places of its nodes, so that the same history of operations
 * makes the same tree: insertion, removal, the ends and the neighbours of a key take the logarithm of the size.
 * Keys are compared by the caller's function; equal keys are counted.                               */
#ifndef NET_ORDERED_H
#define NET_ORDERED_H

#include "engine/value.h"

struct net_ordered_key {
  struct net_instant start;
  struct net_instant stop; /* where the order is one of periods */
  union net_slot value;
  double slope; /* carried along */
};

struct net_ordered_node {
  struct net_ordered_key key;
  uint64_t count; /* 0: free */
  uint32_t left, right;
};

typedef int (*net_ordered_compare_fn)(const void *context, const struct net_ordered_key *a,
                                      const struct net_ordered_key *b);

struct net_ordered {
  net_ordered_compare_fn compare;
  const void *context;
  struct net_ordered_node *nodes; /* index 0 is never used */
  size_t used, capacity, live;
  uint32_t free_list; /* through .left */
};

void net_ordered_init(struct net_ordered *sets, net_ordered_compare_fn compare,
                      const void *context);
void net_ordered_done(struct net_ordered *sets);
size_t net_ordered_bytes(const struct net_ordered *sets); /* memory held */
/* Adds KEY to the set at *ROOT; true if it had none like it. */
bool net_ordered_insert(struct net_ordered *sets, uint32_t *root,
                        const struct net_ordered_key *key);
/* Takes one KEY away, which must be there; true if it was the last like it. */
bool net_ordered_remove(struct net_ordered *sets, uint32_t *root,
                        const struct net_ordered_key *key);
/* NULL: none. Good until the next insertion. */
const struct net_ordered_key *net_ordered_find(const struct net_ordered *sets, uint32_t root,
                                               const struct net_ordered_key *key);
const struct net_ordered_key *net_ordered_first(const struct net_ordered *sets, uint32_t root);
const struct net_ordered_key *net_ordered_last(const struct net_ordered *sets, uint32_t root);
const struct net_ordered_key *net_ordered_before(const struct net_ordered *sets, uint32_t root,
                                                 const struct net_ordered_key *key);
const struct net_ordered_key *net_ordered_after(const struct net_ordered *sets, uint32_t root,
                                                const struct net_ordered_key *key);
/* Empties the set. */
void net_ordered_clear(struct net_ordered *sets, uint32_t *root);

#endif
