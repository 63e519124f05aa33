/* The inside of product and join, shared by their files: product.c, product_live.c, product_pairs.c,
 * product_sweep.c. What they do together is told in product.c.                                       */
#ifndef NET_NODES_PRODUCT_H
#define NET_NODES_PRODUCT_H

#include "engine/base/env.h"
#include "engine/inbox.h"
#include "engine/node_impl.h"
#include "engine/rowmap.h"

#define NET_NO_LIVE UINT32_MAX

/* A live row of one side. Entries are linked in a chain per key, and to their pairs. */
struct net_live {
  net_chronon expires;     /* no row that starts then or later meets it */
  uint32_t next, previous; /* in the chain */
  uint32_t pairs;          /* first pair, linked through pair.next[side] */
  uint32_t bucket;
  uint8_t marks;
  bool open;  /* has an open instant */
  bool plain; /* all its instants are determinate and none is open */
  bool in_chain;
  bool used;
};

struct net_product_side {
  const struct net_layout *layout;
  const struct net_participant *participants;
  size_t participant_count;
  struct net_live *lives;
  union net_slot *rows;
  size_t count, capacity, row_capacity, live_count, purge_at;
  union net_slot *input_floor; /* the last that came; NULL: none yet */
  uint32_t free_list;
  uint32_t *buckets; /* heads of chains; one without keys */
  size_t bucket_count;
  bool has_event;     /* an event takes part */
  uint32_t *instants; /* slots of all instants of a row */
  size_t instant_count;
  struct net_rowmap open; /* open rows by id; state: index */
};

struct net_pair {
  uint32_t entry[2];
  uint32_t next[2], previous[2];
  uint64_t id; /* of the row that went out; 0: none has */
  bool used;
  uint64_t shown; /* hash of what went out of the instants that may be open */
  uint8_t marks;
};

/* Slots that are copied together: COUNT of them, of a row of SIDE from slot FROM to slot TO. */
struct net_product_copy {
  unsigned side;
  uint32_t from, to, count;
};

struct net_product {
  struct net_node node;
  struct net_product_params params;
  struct net_inbox inbox;
  struct net_product_side sides[2];
  struct net_pair *pairs;
  size_t pair_count, pair_capacity, pairs_live;
  uint32_t pair_free;
  uint64_t last_id;
  union net_slot *scratch; /* an out row */
  union net_slot *floor;
  struct net_product_copy *copies; /* of the fields */
  size_t copy_count;
  bool event_result; /* overlap rule with an event participant */
  uint32_t steps;    /* counted for the sake of interrupts */
};

static inline union net_slot *net_product_row(const struct net_product_side *side, uint32_t index) {
  return side->rows + (size_t)index * side->layout->slot_count;
}

static inline uint64_t net_product_hash(const struct net_product *product, unsigned side,
                                        const union net_slot *row) {
  const struct net_join_key *keys = product->params.keys;
  uint64_t hash = 0;
  if (product->params.key_count == 1) /* mostly; half of the hash is a constant then */
    return base_hash_u64((uint64_t)row[side == 0 ? keys->left_slot : keys->right_slot].i, 0);
  for (size_t i = 0; i < product->params.key_count; i++) {
    const struct net_join_key *key = &keys[i];
    hash = base_hash_u64((uint64_t)row[side == 0 ? key->left_slot : key->right_slot].i, hash);
  }
  return hash;
}

/* A row meets nothing that starts at NOW or later. What lasts until `forever` may meet what happens
 * there: by the full rule, or as an event at the same instant.                                     */
static inline bool net_product_is_over(const struct net_live *live, net_chronon now) {
  return live->expires <= now && live->expires != NET_FOREVER;
}

/* --- live rows (product_live.c) */

void net_product_side_init(struct net_product_side *side, struct base_arena *arena,
                           const struct net_layout *layout,
                           const struct net_participant *participants, size_t count);
/* Index of a new live row of side WHICH, whose key's hash is HASH. */
uint32_t net_product_add(struct net_product *product, unsigned which, const union net_slot *row,
                         uint8_t marks, uint64_t id, uint64_t hash);
/* A live row meets nothing any more; it stays while a pair has it. */
void net_product_expire(struct net_product_side *side, uint32_t index);
void net_product_release(struct net_product_side *side, uint32_t index);
void net_product_close(struct net_product *product, unsigned which, const union net_slot *row,
                       uint64_t id);
void net_product_purge(struct net_product_side *side, net_chronon now);
void net_product_forget(struct net_product *product);

/* --- combinations and pairs (product_pairs.c) */

/* What is known of the combination in product->scratch. FINAL: no later stop decides it. */
struct net_verdict {
  enum net_truth truth;
  bool final;
};
void net_product_combine(struct net_product *product, const union net_slot *left,
                         const union net_slot *right, bool hide, net_chronon bound);
/* *STATUS when the predicate fails. */
struct net_verdict net_product_judge(struct net_product *product, const union net_slot *left,
                                     const union net_slot *right, net_chronon bound,
                                     enum base_status *status);
void net_product_put(struct net_product *product, uint8_t marks, uint64_t id, net_chronon bound,
                     enum base_status *status);
void net_product_add_pair(struct net_product *product, uint32_t left, uint32_t right);
void net_product_settle(struct net_product *product, uint32_t index, net_chronon bound,
                        enum base_status *status);
net_chronon net_product_pair_start(const struct net_product *product, const struct net_pair *pair);
net_chronon net_product_events_start(const struct net_product_side *side, net_chronon checkpoint);

/* --- the sweep (product_sweep.c) */

/* Takes all rows of the inbox that start before CHECKPOINT. */
void net_product_sweep(struct net_product *product, net_chronon checkpoint,
                       enum base_status *status);

#endif
