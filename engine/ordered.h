/* Ordered multisets: many small ones with their nodes in common, each known by its root (0: empty).
 *
 * A treap whose priorities are scattered from the places of its nodes, so that the same history of operations
 * makes the same tree: insertion, removal, the ends and the neighbours of a key take the logarithm of the size.
 * Equal keys are counted; as most keys are there once, only those that are not have a count, in a place of its own.
 *
 * Of sets of their own kind (net_ordered_apart) each key has a place of its own, equal or not: it is there before it is in
 * a set and when it is no longer in one, moves from one to another as it is, and has room for what else belongs to it.
 * So who has more to say of a tuple than where it is in an order has one record of it, and not two.
 *
 * Blocks of nodes of which none is used any more are given back, as a row map does it (rowmap.c).       */
#ifndef NET_ORDERED_H
#define NET_ORDERED_H

#include <stddef.h>

#include "engine/value.h"

struct net_ordered_key {
  struct net_instant start;
  struct net_instant stop; /* where the order is one of periods */
  union net_slot value;
  double slope; /* carried along */
};

/* What of the keys is kept; the rest of them is 0 when they are told. Sets are in order by start, stop and
 * value, as far as these are kept. */
enum {
  NET_KEEP_START = 1,
  NET_KEEP_STOP = 2,
  NET_KEEP_VALUE = 4,
  NET_KEEP_END = 8, /* of the stop, which is determinate: one chronon */
  NET_KEEP_SLOPE = 16,
  NET_KEEP_AT = 32,   /* of the start, which is determinate: one chronon */
  NET_KEEP_SLOTS = 7, /* all of it at most */
};
/* A slot of it, behind what has but four bytes. */
struct net_packed_slot {
  union net_slot slot;
} __attribute__((packed, aligned(4)));
/* Slots that KEPT of a key takes. */
uint32_t net_key_slots(unsigned kept);
static inline void net_key_pack(unsigned kept, const struct net_ordered_key *key,
                                struct net_packed_slot *to) {
  if (kept & NET_KEEP_AT) (to++)->slot.i = key->start.lo;
  if (kept & NET_KEEP_START) to[0].slot.i = key->start.lo, to[1].slot.i = key->start.hi, to += 2;
  if (kept & NET_KEEP_STOP) to[0].slot.i = key->stop.lo, to[1].slot.i = key->stop.hi, to += 2;
  if (kept & NET_KEEP_VALUE) (to++)->slot = key->value;
  if (kept & NET_KEEP_END) (to++)->slot.i = key->stop.lo;
  if (kept & NET_KEEP_SLOPE) to->slot.f = key->slope;
}
/* Slot by slot: what has just been written in pieces is slow to copy as a whole. */
static inline void net_key_unpack(unsigned kept, const struct net_packed_slot *from,
                                  struct net_ordered_key *ret) {
  bool start = kept & NET_KEEP_START, stop = kept & NET_KEEP_STOP;
  ret->start.lo = start ? from[0].slot.i : 0;
  ret->start.hi = start ? from[1].slot.i : 0;
  from += start ? 2 : 0;
  if (kept & NET_KEEP_AT) ret->start.lo = ret->start.hi = (from++)->slot.i;
  ret->stop.lo = stop ? from[0].slot.i : 0;
  ret->stop.hi = stop ? from[1].slot.i : 0;
  from += stop ? 2 : 0;
  ret->value.i = kept & NET_KEEP_VALUE ? (from++)->slot.i : 0;
  if (kept & NET_KEEP_END) ret->stop.lo = ret->stop.hi = (from++)->slot.i;
  ret->slope = kept & NET_KEEP_SLOPE ? from->slot.f : 0;
}

struct net_ordered_node {
  uint32_t
      left; /* with NET_ORDERED_MANY: the place that has the number of those like it, and has LEFT */
  uint32_t right; /* NET_ORDERED_NO_KEY: this place is free, or has but a number */
  struct net_packed_slot key[];
};
#define NET_ORDERED_MANY   (UINT32_C(1) << 31)
#define NET_ORDERED_NO_KEY UINT32_MAX
#define NET_ORDERED_ALONE  (UINT32_MAX - 1) /* RIGHT of a key that is in no set */

typedef int (*net_ordered_compare_fn)(const void *context, union net_slot a, union net_slot b);
/* The value of a key that belongs to OWNER. */
typedef union net_slot (*net_ordered_value_fn)(const void *context, uint32_t owner);

struct net_ordered {
  net_ordered_compare_fn compare;
  const void *context;
  unsigned kept;
  uint32_t slots; /* of a key that is kept */
  uint32_t whole; /* so many slots of a key are compared as integers, */
  bool has_value; /* and then the value, by COMPARE */
  uint32_t extra; /* words behind a key that has a place of its own */
  net_ordered_value_fn value;
  size_t stride;          /* bytes of a node */
  unsigned char **blocks; /* of nodes; index 0 is never used */
  size_t block_capacity;
  size_t used, capacity, live;
  size_t holes;       /* blocks that are not there: NULL */
  size_t first_hole;  /* none of them is before it */
  size_t places;      /* that are not free; of them keys are LIVE */
  size_t removed;     /* places, since there was a look at what is free */
  size_t look_below;  /* when there are fewer places, there is another look */
  uint32_t free_list; /* through .left */
};

/* KEPT: NET_KEEP_... COMPARE: of values; NULL: they are integers. */
void net_ordered_init(struct net_ordered *sets, unsigned kept, net_ordered_compare_fn compare,
                      const void *context);
void net_ordered_done(struct net_ordered *sets);
size_t net_ordered_bytes(const struct net_ordered *sets); /* memory held */
/* Adds KEY to the set at *ROOT; true if it had none like it. */
bool net_ordered_insert(struct net_ordered *sets, uint32_t *root,
                        const struct net_ordered_key *key);
/* Takes one KEY away, which must be there; true if it was the last like it. */
bool net_ordered_remove(struct net_ordered *sets, uint32_t *root,
                        const struct net_ordered_key *key);
enum { NET_ORDERED_BLOCK = 64 }; /* nodes; the first block begins with fewer */
/* 0: none; else good until it is removed. */
uint32_t net_ordered_find(const struct net_ordered *sets, uint32_t root,
                          const struct net_ordered_key *key);
uint32_t net_ordered_first(const struct net_ordered *sets, uint32_t root);
uint32_t net_ordered_last(const struct net_ordered *sets, uint32_t root);
uint32_t net_ordered_before(const struct net_ordered *sets, uint32_t root,
                            const struct net_ordered_key *key);
uint32_t net_ordered_after(const struct net_ordered *sets, uint32_t root,
                           const struct net_ordered_key *key);
static inline struct net_ordered_node *net_ordered_node(const struct net_ordered *sets,
                                                        uint32_t index) {
  unsigned char *block = sets->blocks[index / NET_ORDERED_BLOCK];
  return (struct net_ordered_node *)(void *)(block + index % NET_ORDERED_BLOCK * sets->stride);
}
/* Has the place at INDEX, of those from 1 to USED - 1, a key? */
static inline bool net_ordered_has_key(const struct net_ordered *sets, uint32_t index) {
  return sets->blocks[index / NET_ORDERED_BLOCK] != NULL &&
         net_ordered_node(sets, index)->right != NET_ORDERED_NO_KEY;
}
/* What is kept behind the key at INDEX, of those that have places of their own: whose it is, and what else they have. */
static inline uint32_t *net_ordered_extra(const struct net_ordered *sets, uint32_t index) {
  return (uint32_t *)(void *)(net_ordered_node(sets, index)->key + sets->slots);
}
/* The key at INDEX, which is not 0, as far as it is kept. */
static inline void net_ordered_get(const struct net_ordered *sets, uint32_t index,
                                   struct net_ordered_key *ret) {
  net_key_unpack(sets->kept, net_ordered_node(sets, index)->key, ret);
  if (sets->value != NULL) ret->value = sets->value(sets->context, *net_ordered_extra(sets, index));
}
/* How many are like the key at INDEX, with it. */
static inline int64_t net_ordered_count(const struct net_ordered *sets, uint32_t index) {
  uint32_t left = net_ordered_node(sets, index)->left;
  return left & NET_ORDERED_MANY ? net_ordered_node(sets, left & ~NET_ORDERED_MANY)->key[0].slot.i
                                 : 1;
}
/* Empties the set. */
void net_ordered_clear(struct net_ordered *sets, uint32_t *root);

/* --- keys that have places of their own */

/* Right after init: the keys of SETS have places of their own, each with EXTRA words, the first of which says whose the
 * key is. VALUE: tells the value of the key by that, as it is not kept; NULL: it is. Of equal keys the order is that of
 * their owners. Such sets have no key inserted or removed but by its place. */
void net_ordered_apart(struct net_ordered *sets, uint32_t extra, net_ordered_value_fn value);
/* A place for KEY, which is in no set, and belongs to OWNER; it is good until it is freed. Other words are 0. */
uint32_t net_ordered_make(struct net_ordered *sets, const struct net_ordered_key *key,
                          uint32_t owner);
void net_ordered_free(struct net_ordered *sets, uint32_t index);
/* The key at INDEX, which is in no set, comes to the one at *ROOT, or goes again; true if no other one is like it. Its
 * owner stays the same meanwhile. */
bool net_ordered_link(struct net_ordered *sets, uint32_t *root, uint32_t index);
bool net_ordered_unlink(struct net_ordered *sets, uint32_t *root, uint32_t index);
static inline bool net_ordered_is_linked(const struct net_ordered *sets, uint32_t index) {
  return net_ordered_node(sets, index)->right < NET_ORDERED_ALONE;
}
/* Where KEY of OWNER is in the set; 0: it is not. */
uint32_t net_ordered_find_of(const struct net_ordered *sets, uint32_t root,
                             const struct net_ordered_key *key, uint32_t owner);

#endif
