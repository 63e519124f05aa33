/* The inside of product and join, shared by their files: product.c, live.c, old.c, pairs.c,
 * sweep.c, runs.c, emit.c, tail.c, self.c, pace.c. What they do
 * together is told in product.c.                                                                    */
#ifndef NET_NODES_PRODUCT_PRODUCT_H
#define NET_NODES_PRODUCT_PRODUCT_H

#include "engine/base/env.h"
#include "engine/due.h"
#include "engine/inbox.h"
#include "engine/node_impl.h"
#include "engine/rowmap.h"

#define NET_NO_PAIR UINT32_MAX

/* A live row of one side; room for its slots follows. It does not move. */
struct net_live {
  net_chronon expires;   /* no row that starts then or later meets it */
  struct net_live *next; /* in its chain; or of those that are free */
  union net_slot *row;   /* its slots; during a sweep it may be where it waits (runs.c) */
  uint32_t pairs;        /* first pair, linked through pair.next[side] */
  uint8_t marks;
  uint8_t state; /* NET_LIVE_... */
};

enum {
  NET_LIVE_USED = 1,
  NET_LIVE_IN_CHAIN = 2,
  NET_LIVE_OPEN = 4,  /* has an open instant */
  NET_LIVE_PLAIN = 8, /* all its instants are determinate and none is open */
  /* it is open, its own stop that is and nothing else of it that the result has is uncertain: what it has
   * in common with a plain row that ends before the checkpoint is known */
  NET_LIVE_LASTS = 16,
  NET_LIVE_RIGHT = 32, /* of the right side */
};

struct net_product_side {
  const struct net_layout *layout;
  const struct net_participant *participants;
  size_t participant_count;
  /* where the only participant's expiry is, by the overlap rule; of several, NULL */
  const struct net_participant *only;
  size_t stride; /* bytes of a live row */
  unsigned char **blocks;
  size_t block_count, block_capacity;
  size_t taken; /* how many live rows the blocks have given out, the first ones first */
  struct net_live *free_list;
  size_t live_count;
  size_t lasting_count, odd_count; /* that last, and that are neither plain nor that */
  net_chronon last_lasting;        /* the latest start of one that lasts */
  union net_slot *input_floor;     /* the last that came; NULL: none yet */
  bool has_event;                  /* an event takes part */
  bool
      has_ended; /* the last round has taken all its rows, and no others come: the other side meets nobody any more */
  bool general;  /* takes no short way: see net_network_set_general */
  bool
      bounded; /* by the overlap rule, and its rows expire before they end if the parameters say so */
  bool shows_open; /* the result has fields of it that may be open */
  /* ... and others than the stop of its only participant: they may be later than when a row expires, and
   * beside something open they count as open until the checkpoint has passed them */
  bool shows_later;
  uint32_t *instants; /* slots of all instants of a row */
  size_t instant_count;
  struct net_rowmap open; /* open rows by id; state: where the live row is */
};

enum { NET_LIVE_BLOCK = 64 }; /* live rows a block */

/* The live rows of both sides whose keys have one hash; no heads: the place is empty. */
struct net_product_group {
  uint64_t hash;
  struct net_live *heads[2];
};

/* Old rows: see old.c. */
struct net_old_group {
  uint32_t tag;
  uint32_t heads[2]; /* of the chain of each side: the row plus one; 0: none */
};

struct net_old_side {
  unsigned char **blocks; /* of rows, and a word for each behind them */
  size_t block_count, block_capacity;
  size_t taken,
      count; /* rows: places that were given out, the first ones first, and of them those in use */
  uint32_t free; /* a place that is not, plus one */
};

struct net_product_old {
  struct net_old_side sides[2];
  struct net_old_group *groups;
  size_t group_count, group_capacity;
  size_t purge_at; /* rows */
  unsigned idle;   /* rounds without a row */
  size_t replaced; /* so many were over as rows of their keys came, since rows became old last */
};

struct net_pair {
  struct net_live *entry[2];
  uint32_t next[2], previous[2];
  uint64_t shown;   /* hash of what went out of the instants that may be open */
  uint64_t id : 61; /* of the row that went out; 0: none has */
  uint64_t definite : 1;
  uint64_t used : 1;
  uint64_t listed : 1; /* among the pending */
};

/* When room is given back: see live.c. All are rows that have come. */
struct net_product_watch {
  uint64_t came;
  uint64_t look_at;    /* then rows that are over are looked for; */
  unsigned wait;       /* the more so, the more often there were few */
  uint64_t empty_from; /* since then hardly any of the room has been used */
};

/* A slot of the combination: that of SIDE at FROM. */
struct net_product_slot {
  uint32_t side, from;
};

/* The same for what goes out, as moves of two slots side by side, and of one. */
struct net_product_move {
  uint32_t side, from, to;
};
struct net_product_moves {
  struct net_product_move *doubles, *singles;
  uint32_t double_count, single_count;
};

/* A group as rows of a run see it that come into it: of each side the row that came last, if it may be live still.
 * See runs.c. */
struct net_product_recent {
  uint64_t hash;
  uint64_t round; /* it is one of this round's, or a free place */
  const union net_slot *rows[2];
};
struct net_product_recents {
  struct net_product_recent *items;
  size_t capacity; /* a power of two */
  unsigned shift;
  uint64_t round;
  uint32_t *used; /* places */
  size_t used_count, used_capacity;
  union net_slot *none; /* a row that is over, of either side */
};

struct net_product {
  struct net_node node;
  struct net_product_params params;
  struct net_inbox inbox;
  struct net_product_side sides[2];
  struct net_pair *pairs;
  size_t pair_count, pair_capacity, pairs_live;
  size_t most_pairs; /* that were live in the round */
  uint32_t pair_free;
  uint32_t *pending; /* pairs at which the next round looks whatever its checkpoint is */
  size_t pending_count, pending_capacity;
  bool pending_unsorted;
  struct net_due due; /* the others that went out, while the checkpoint decides something of them */
  uint64_t last_id;
  net_chronon lasting; /* so long last the rows that went out open; of the round */
  net_chronon settled; /* the checkpoint at which the last round ended */
  uint32_t part_rows;  /* so many rows of the output go together: see pace.c */
  struct net_product_group *groups;
  size_t group_count, group_capacity; /* a power of two */
  unsigned group_shift;               /* see net_product_home */
  size_t purge_at;                    /* young rows */
  size_t young_most;                  /* where more stay they become old */
  struct net_product_watch watch;
  struct net_product_old old;
  size_t hashed_keys;      /* so many of the keys choose a group; the first, or all */
  uint64_t patience;       /* so many steps along chains, and all keys do */
  union net_slot *scratch; /* what the predicate reads; it begins with the out row */
  union net_slot *floor;
  struct net_product_slot *slots; /* where those of scratch come from, behind the implicit times */
  struct net_product_moves moves;
  const struct net_pair_program
      *quick;        /* the predicate of plain rows; NULL: none, or no such form */
  bool event_result; /* overlap rule with an event participant */
  uint64_t steps;    /* along chains */
  uint64_t met;      /* combinations that were found the shortest way */
  struct net_asked
      *asked; /* whose rows are answers of an aggregate; NULL: they come by the ports */
  struct net_product_tail *tail; /* of the nodes behind it; NULL: not planned yet */
  struct net_product_self *self; /* both sides are rows of one port; NULL: they have one each */
  union net_slot *complete[2];   /* scratch: rows of a run with their keys */
  struct net_live **borrowed; /* whose rows are where they wait, and some that are so no longer */
  size_t borrowed_count, borrowed_capacity;
  struct net_product_recents recents;
};

static inline union net_slot *net_live_row(struct net_live *live) {
  return live->row;
}
static inline union net_slot *net_live_own(struct net_live *live) {
  return (union net_slot *)(live + 1);
}

/* Of the keys that choose a group. The hash of a single one is that of no other: the key. */
static inline uint64_t net_product_hash(const struct net_product *product, unsigned side,
                                        const union net_slot *row) {
  const struct net_join_key *keys = product->params.keys;
  uint64_t hash = 0;
  if (product->hashed_keys == 1)
    return (uint64_t)row[side == 0 ? keys->left_slot : keys->right_slot].i;
  for (size_t i = 0; i < product->hashed_keys; i++) {
    hash ^= (uint64_t)row[side == 0 ? keys[i].left_slot : keys[i].right_slot].i;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  hash *= UINT64_C(0xd6e8feb86659fd93);
  return hash;
}

/* Where the group of HASH is, if nothing is in its way. Numbers in a row, as processes and messages have that
 * come one after the other, are side by side, so many of them. */
enum { NET_PRODUCT_BESIDE_BITS = 3 };
static inline size_t net_product_home(unsigned shift, uint64_t hash) {
  uint64_t block = (hash >> NET_PRODUCT_BESIDE_BITS) * UINT64_C(0x9e3779b97f4a7c15);
  return (size_t)(block >> shift) << NET_PRODUCT_BESIDE_BITS |
         (size_t)(hash & ((1 << NET_PRODUCT_BESIDE_BITS) - 1));
}
/* The group of HASH, or the empty one where it belongs. */
static inline struct net_product_group *net_product_group(const struct net_product *product,
                                                          uint64_t hash) {
  size_t place = net_product_home(product->group_shift, hash);
  for (;; place = (place + 1) & (product->group_capacity - 1)) {
    struct net_product_group *group = &product->groups[place];
    if (group->hash == hash || (group->heads[0] == NULL && group->heads[1] == NULL)) return group;
  }
}

/* SIDE has BY more live rows of STATE. */
static inline void net_product_count(struct net_product_side *side, uint8_t state, size_t by) {
  side->live_count += by;
  if (state & NET_LIVE_PLAIN) return;
  if (state & NET_LIVE_LASTS) {
    side->lasting_count += by;
  } else {
    side->odd_count += by;
  }
}

/* One that is in no chain, not open and in no pair goes. */
static inline void net_product_release(struct net_product_side *side, struct net_live *live) {
  if ((live->state & (NET_LIVE_IN_CHAIN | NET_LIVE_OPEN)) || live->pairs != NET_NO_PAIR) return;
  net_product_count(side, live->state, (size_t)-1);
  live->state = 0;
  live->next = side->free_list;
  side->free_list = live;
  if (side->live_count > 0) return;
  /* What nobody uses need not be gone through. */
  side->taken = 0;
  side->free_list = NULL;
}

/* The row at *AT leaves its chain. */
static inline void net_product_drop(struct net_product_side *side, struct net_live **at) {
  struct net_live *live = *at;
  *at = live->next;
  live->state &= (uint8_t)~NET_LIVE_IN_CHAIN;
  net_product_release(side, live);
}

/* Is one combination of each row of side WHICH enough? */
static inline bool net_product_is_once(const struct net_product *product, unsigned which) {
  return product->params.once == NET_PRODUCT_ONCE && product->params.once_side == which;
}

static inline bool net_product_keys_equal(const struct net_product *product,
                                          const union net_slot *left, const union net_slot *right) {
  for (size_t i = 0; i < product->params.key_count; i++) {
    const struct net_join_key *key = &product->params.keys[i];
    if (left[key->left_slot].i != right[key->right_slot].i) return false;
  }
  return true;
}

/* A row meets nothing that starts at NOW or later. What lasts until `forever` may meet what happens
 * there: by the full rule, or as an event at the same instant.                                     */
static inline bool net_product_is_over(net_chronon expires, net_chronon now) {
  return expires <= now && expires != NET_FOREVER;
}

/* --- live rows (live.c) */

void net_product_live_init(struct net_product *product);
void net_product_side_init(struct net_product_side *side, struct base_arena *arena,
                           const struct net_product_params *params, unsigned which);
void net_product_side_done(struct net_product_side *side);
/* When a row of side WHICH meets nothing that starts then or later. */
net_chronon net_product_expires(const struct net_product *product, unsigned which,
                                const union net_slot *row);
/* By the overlap rule: when what ROW has in common with others ends at the latest. */
net_chronon net_product_ends(const struct net_product_side *side, const union net_slot *row);
/* The same of LIVE, of side WHICH; by the full rule it says nothing. */
static inline net_chronon net_live_ends(const struct net_product *product, unsigned which,
                                        const struct net_live *live) {
  const struct net_product_side *side = &product->sides[which];
  return side->bounded ? net_product_ends(side, live->row) : live->expires;
}
/* The same, quickly where one tuple is of the side. */
static inline net_chronon net_product_expires_quickly(const struct net_product *product,
                                                      unsigned which, const union net_slot *row) {
  const struct net_participant *only = product->sides[which].only;
  if (only == NULL || product->sides[which].bounded)
    return net_product_expires(product, which, row);
  if (!only->event) return row[only->stop_slot + 1].i;
  net_chronon at = row[only->start_slot + 1].i;
  return at == NET_FOREVER ? at : at + 1;
}
/* Room for a new one. */
struct net_live *net_product_take(struct net_product_side *side);
/* What ROW is: NET_LIVE_OPEN, _PLAIN, _LASTS. */
uint8_t net_product_kind(const struct net_product_side *side, const union net_slot *row);
struct net_live *net_product_add(struct net_product *product, unsigned which,
                                 const union net_slot *row, uint8_t marks, uint64_t id);
/* LIVE, of the group of HASH, may be met from now on. */
void net_product_chain(struct net_product *product, unsigned which, struct net_live *live,
                       uint64_t hash);
/* All keys choose the groups from now on. */
void net_product_hash_all(struct net_product *product);
/* Another row arrives. With several keys, the first chooses the groups as long as chains are short: rows of
 * an entity find each other, and the last one expired, where every key by itself would begin a group anew. */
static inline void net_product_arrives(struct net_product *product) {
  product->patience += 4;
  if (product->steps > product->patience) net_product_hash_all(product);
}
/* The group, which has lost its last row, leaves its place. */
void net_product_leave(struct net_product *product, struct net_product_group *group);
/* Returns the row that was of ID, which is gone if nothing has it any more. */
struct net_live *net_product_close(struct net_product *product, unsigned which,
                                   const union net_slot *row, uint64_t id);
/* Rows that are over leave their chains as these are walked; those in chains nobody walks do so here. */
void net_product_purge(struct net_product *product, net_chronon now);
/* Has nobody yet looked at which side's input has ended since the last round? */
bool net_product_has_ends(const struct net_product *product);
/* Where there is much more room for pairs than they need, there is some for CAPACITY of them, a sixteenth of it at
 * least; their numbers change. */
void net_product_shrink_pairs(struct net_product *product, size_t capacity);
/* The young rows of SIDE, one after the other: *AT begins with 0. NULL: there are no more. */
struct net_live *net_product_next(const struct net_product_side *side, size_t *at);
size_t net_product_side_bytes(const struct net_product_side *side);

/* --- old rows (old.c) */

/* LIVE, of side WHICH, becomes old, and is copied: the caller takes it out of its chain. False: it cannot. */
bool net_old_add(struct net_product *product, unsigned which, const struct net_live *live);

/* A walk along the chain of old rows of one side that have the keys of HASH, or others of the same tag. */
struct net_old_walk {
  struct net_product *product;
  unsigned which;
  bool stands; /* on LIVE, to which LINK leads */
  uint32_t *link;
  struct net_old_group *group;
  struct net_live live; /* as if the row was young; no more than until the next step */
};
/* Begins one for a row of the other side that starts NOW: what went before that, and is over, leaves. False: there
 * is no group. */
bool net_old_begin(struct net_product *product, unsigned which, uint64_t hash, net_chronon now,
                   struct net_old_walk *ret);
/* The next row that is not over at NOW is RET->live; those that are leave. False: there is none, and the walk has
 * ended; each one has to be walked to its end, or be ended. */
bool net_old_next(struct net_old_walk *walk, net_chronon now);
/* The row on which the walk stands is young from now on. */
struct net_live *net_old_make_young(struct net_old_walk *walk);
/* It is not wanted any more. */
void net_old_drop(struct net_old_walk *walk);
/* The walk ends here. */
void net_old_end(struct net_old_walk *walk);
/* Those of HASH will soon be looked for, and there are old rows: first the group is fetched, then its first rows. */
void net_old_fetch(const struct net_product *product, uint64_t hash);
void net_old_fetch_rows(const struct net_product *product, uint64_t hash);
/* The old rows of side WHICH, one after the other: *AT begins with 0. NULL: there are no more. Some are over. */
const union net_slot *net_old_row(const struct net_product *product, unsigned which, size_t *at);
/* Looks for rows that are over, when that pays, or in any case (LOOK); gives back the room of those that were. */
void net_old_purge(struct net_product *product, net_chronon now, bool look);
/* So many rows there is room for. */
size_t net_old_room(const struct net_product *product);
/* All become young again. */
void net_old_all_young(struct net_product *product);
/* Those of side WHICH meet nobody any more: they go. */
void net_old_forget(struct net_product *product, unsigned which);
/* Other keys choose the groups now; or much room is empty: all are put together anew. */
void net_old_together(struct net_product *product);
size_t net_old_count(const struct net_product *product);
size_t net_old_bytes(const struct net_product *product);
void net_old_done(struct net_product *product);

/* --- combinations and pairs (pairs.c) */

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
void net_product_add_pair(struct net_product *product, struct net_live *left,
                          struct net_live *right);
/* Pairs of LIVE, of side WHICH, have to be looked at: it has closed. */
void net_product_touch(struct net_product *product, unsigned which, const struct net_live *live);
/* The end of a round up to BOUND; the last one went up to BEFORE. EARLY: its beginning, when only those that went out
 * are looked at; all closes of their rows have been taken. */
void net_product_settle(struct net_product *product, net_chronon before, net_chronon bound,
                        bool early, enum base_status *status);
/* The INDEX-th pair that may give a row that has not gone out, or NULL; INDEX is below pending_count. */
static inline const struct net_pair *net_product_waiting(const struct net_product *product,
                                                         size_t index) {
  const struct net_pair *pair = &product->pairs[product->pending[index]];
  return pair->id == 0 ? pair : NULL;
}
net_chronon net_product_pair_start(const struct net_product *product, const struct net_pair *pair);
net_chronon net_product_events_start(const struct net_product *product, unsigned which,
                                     net_chronon checkpoint);

/* --- the sweep (sweep.c) */

/* Takes all rows of the inbox that start before CHECKPOINT. */
void net_product_sweep(struct net_product *product, net_chronon checkpoint,
                       enum base_status *status);

/* Takes the closes of rows that were there when the last round ended, where some are in pairs; they stand before all
 * else. False: it cannot. */
bool net_product_sweep_closes(struct net_product *product);

/* --- the shortest way (runs.c) */

/* Rows that start then or later do not go this way, so that what lasts for ever expires after all. */
#define NET_PRODUCT_LAST (NET_FOREVER - 1)

/* May plain rows go it, as to what is live? */
bool net_product_takes_runs(const struct net_product *product);
/* Of the plain rows that wait at each port before the index ENDS. False: the next one cannot go this way, or
 * *STATUS; true: all before CHECKPOINT, before which none comes any more, are taken.               */
bool net_product_sweep_runs(struct net_product *product, const size_t *ends, net_chronon checkpoint,
                            enum base_status *status);
/* The same of plain rows of both sides that stand in one order, WIDTH slots each: those of its side; none
 * starts at NET_PRODUCT_LAST or later. All are taken. None that comes behind them starts before CHECKPOINT. */
struct net_product_run {
  const union net_slot *rows;
  const int64_t *
      keys; /* what is behind the WIDTH slots of each in rows of a side, the one key that chooses groups;
                          NULL: nothing is */
  const uint8_t *sides;
  size_t count;
  uint32_t width;
  uintptr_t
      ahead; /* so many bytes behind each row is what will be read when this is done, or anything */
};
void net_product_sweep_run(struct net_product *product, const struct net_product_run *run,
                           net_chronon checkpoint, enum base_status *status);

/* --- meetings of plain rows (emit.c) */

enum { NET_MEETINGS = 320 };

/* A left and a right row, and what they have in common. */
struct net_meeting {
  const union net_slot *rows[2];
  uint64_t hash;         /* of their group, where keys stand apart */
  uint64_t marks;        /* of the live one */
  net_chronon now, stop; /* if they are TIMED; the rows say it, too, but may be far away */
};

struct net_meetings {
  struct net_product *product;
  const struct net_product_run *apart; /* whose keys do not stand in its rows; NULL: all do */
  bool timed;
  bool several; /* of one row that arrived, perhaps */
  /* Of each side: a row expires at the time there, and so much later, 0 or 1; FOREVER stays what it is. */
  uint32_t expiry_slots[2];
  net_chronon later[2];
  struct net_meeting *end; /* behind the last one */
  struct net_meeting items[NET_MEETINGS + 1];
  uint16_t held[NET_MEETINGS]; /* of them those for which the predicate holds */
};

static inline net_chronon net_met_expires(const struct net_meetings *met, unsigned side,
                                          const union net_slot *row) {
  net_chronon expires = row[met->expiry_slots[side]].i;
  return expires + (met->later[side] & -(net_chronon)(expires != NET_FOREVER));
}
/* When the later of both starts. */
static inline net_chronon net_met_now(const struct net_meetings *met,
                                      const struct net_meeting *meeting) {
  if (met->timed) return meeting->now;
  net_chronon left = meeting->rows[0][0].i, right = meeting->rows[1][0].i;
  return left > right ? left : right;
}
static inline net_chronon net_met_stop(const struct net_meetings *met,
                                       const struct net_meeting *meeting) {
  if (met->timed) return meeting->stop;
  net_chronon left = net_met_expires(met, 0, meeting->rows[0]);
  net_chronon right = net_met_expires(met, 1, meeting->rows[1]);
  return left < right ? left : right;
}

static inline uint32_t net_met_count(const struct net_meetings *met) {
  return (uint32_t)(met->end - met->items);
}
/* All so far become results; then there are none. */
void net_product_emit_all(struct net_meetings *met, enum base_status *status);

/* --- the nodes behind the join (tail.c) */

/* The first COUNT that are held: what the nodes behind the join make of them is there; false: nothing is. */
bool net_product_tail_takes(struct net_meetings *met, uint32_t count, enum base_status *status);
/* Rows are there that have not been sent on. */
bool net_product_tail_waits(const struct net_product *product);
/* They are sent on. */
enum base_status net_product_tail_flush(struct net_product *product);

/* --- what feeds another product (pace.c) */

/* The checkpoint that can be promised at CHECKPOINT: pairs that wait, and an event whose bounds reach beyond it, may
 * still give results that start earlier. */
net_chronon net_product_out_checkpoint(const struct net_product *product, net_chronon checkpoint);
/* Looks how far the reader wants rows, and how many at once: the inbox gives no others. Those that it would have
 * given before are taken. */
void net_product_pace(struct net_product *product);
/* What feeds PORT, if another product does, takes what its reader wants by now, if that is more than before. */
enum base_status net_product_feed(struct net_product *product, unsigned port);
/* Does another product feed PORT, whose batches come in parts? */
bool net_product_is_fed(const struct net_product *product, unsigned port);
/* The output is full (part_rows): it is sent on, as a part of what comes of a round. All rows that start before NOW
 * have been taken. *STATUS keeps the first failure. */
void net_product_send_full(struct net_product *product, net_chronon now, enum base_status *status);
/* Room for a row in the output. */
static inline void net_product_make_room(struct net_product *product, net_chronon now,
                                         enum base_status *status) {
  if (product->node.out.count >= product->part_rows) net_product_send_full(product, now, status);
}

/* --- both sides of one port (self.c) */

void net_product_self_init(struct net_product *product, struct base_arena *arena);
void net_product_self_done(struct net_product_self *self);
size_t net_product_self_bytes(const struct net_product_self *self);
/* Takes the rows of BATCH for both sides: they are swept already, as far as CHECKPOINTs allow, or they are in
 * the inbox, to be swept now; *RET_CLOSES: some of them close. */
enum base_status net_product_self_take(struct net_product *product, const struct net_batch *batch,
                                       bool *ret_closes);

#endif
