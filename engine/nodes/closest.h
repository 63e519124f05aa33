/* The inside of closest, shared by its files: closest.c, which tells what it does, and
 * closest_distinct.c, which holds each distinct tuple apart.                                         */
#ifndef NET_NODES_CLOSEST_H
#define NET_NODES_CLOSEST_H

#include "engine/base/env.h"
#include "engine/cells.h"
#include "engine/node_impl.h"
#include "engine/rowmap.h"

struct net_entry {
  union {
    struct net_entry *next; /* distinct: in its chain */
    net_chronon reach;      /* else: the latest instant of it and of those before it in the order */
  };
  uint32_t hash;       /* distinct: of its domains */
  uint32_t pairs : 26; /* that wait */
  uint32_t definite : 1;
  uint32_t left : 1;
  uint32_t open : 1;    /* has an open instant */
  uint32_t decided : 1; /* right: its pairs are known */
  uint32_t gone : 1;    /* out of its group; it lives as long as pairs wait for it */
  uint32_t looked : 1;  /* distinct: its kind has been looked at */
  union net_slot row[];
};
#define NET_ENTRY_PAIRS ((1u << 26) - 1)

struct net_entries {
  struct net_entry **items;
  size_t count, capacity;
};

/* Distinct: the entries of one side, in chains by the hash of their domains. */
struct net_kinds {
  const struct net_layout *layout;
  const uint32_t *slots; /* of the domains */
  size_t slot_count;
  bool temporal; /* some are: equal ones are so as functions of absolute time */
  const uint32_t *starts;
  enum net_timeline timeline;
  bool reference_known;
  net_chronon reference;      /* from which they are told; on the real timeline the first start */
  union net_slot *scratch[2]; /* rows */
  struct net_entry **chains;
  size_t chain_count, count;
};

/* What has the same keys. Distinct: right rows that are decided are in their kind alone. */
struct net_closest_group {
  struct net_entries sides[2];
  bool changed; /* there may be something to decide or to forget: it is in CHANGED of the node */
};

struct net_closest_pair {
  struct net_entry *entry[2];
  uint8_t marks;
};

struct net_closest {
  struct net_node node;
  struct net_closest_params params;
  const struct net_layout *layouts[2];
  const struct net_layout *key_layout;
  union net_slot *key; /* scratch row of it */
  struct net_rowmap groups;
  struct net_kinds kinds[2];
  struct net_rowmap open[2];      /* rows with an open instant, by id; state: struct net_entry * */
  struct net_closest_pair *pairs; /* in which something is open */
  size_t pair_count, pair_capacity, rows;
  size_t look_at;            /* within: so many rows, and those that are too far are looked for */
  struct net_cells cells[2]; /* entries of each side */
  struct net_entries *spare; /* of groups that are gone: their arrays */
  size_t spare_count, spare_capacity;
  size_t array_entries; /* room in all arrays of groups, spare ones too */
  uint32_t *changed;    /* places of groups */
  size_t changed_count, changed_capacity;
  net_chronon checkpoints[2], checkpoint;
  net_chronon horizon;             /* s and t of rows that have not come lie there or after */
  net_chronon undecided;           /* no right row that is not decided starts before this */
  union net_slot *input_floors[2]; /* NULL: none yet */
  union net_slot *floor;
  enum base_status status; /* of what has gone out in this round */
  uint64_t last_id;
};

/* s of a left, t of a right row. An open one lies at the checkpoint or after it. */
static inline struct net_instant net_closest_instant(const struct net_closest *node, unsigned side,
                                                     const struct net_entry *entry) {
  uint32_t slot = side == 0 ? node->params.before_slot : node->params.after_slot;
  return net_slot_stop(entry->row, slot, node->checkpoint);
}

static inline bool net_closest_known(const struct net_closest *node, unsigned side,
                                     const struct net_entry *entry) {
  uint32_t slot = side == 0 ? node->params.before_slot : node->params.after_slot;
  return entry->row[slot].i != NET_OPEN || node->checkpoint == NET_FOREVER;
}

/* What its side of the group is sorted by: the first instant that it can have; of distinct lefts, the last. Good while
 * the checkpoint stays. */
static inline net_chronon net_closest_order(const struct net_closest *node, unsigned side,
                                            const struct net_entry *entry) {
  struct net_instant at = net_closest_instant(node, side, entry);
  return node->params.distinct && side == 0 ? at.hi : at.lo;
}

static inline enum net_truth net_entry_definite(const struct net_entry *entry) {
  return entry->definite ? NET_TRUE : NET_UNKNOWN;
}

/* Puts ENTRIES, of SIDE, in their order. */
void net_closest_sort(const struct net_closest *node, unsigned side, struct net_entries *entries);
/* Nothing of GROUP is needed any more but by pairs that wait. */
void net_closest_group_done(struct net_closest *node, struct net_closest_group *group);
/* Frees ENTRY if nothing needs it any more. */
void net_closest_release(struct net_closest *node, struct net_entry *entry);
/* Are A and B, of one side, one tuple that has come twice? */
bool net_closest_same(const struct net_closest *node, unsigned side, const struct net_entry *a,
                      const struct net_entry *b);
/* The pair of LEFT and RIGHT, as true as TRUTH, which is not F. */
void net_closest_pair(struct net_closest *node, struct net_entry *left, struct net_entry *right,
                      enum net_truth truth);

/* Unknown: something that was lost lies between LEFT at S and RIGHT at T, perhaps; else F. */
enum net_truth net_closest_lost_between(const struct net_closest *node,
                                        const struct net_entry *left, const struct net_entry *right,
                                        struct net_instant s, struct net_instant t);

/* closest_distinct.c: an entry that came; what can be decided and forgotten in GROUP, returning the
 * earliest start of what cannot be decided.                                                          */
void net_kinds_init(struct net_kinds *kinds, struct base_arena *arena,
                    const struct net_layout *layout, const uint32_t *starts,
                    enum net_timeline timeline);
void net_kinds_done(struct net_kinds *kinds);
void net_kinds_mark_strings(const struct net_kinds *kinds, const struct net_layout *layout,
                            struct base_strings *strings);
void net_kinds_add(struct net_kinds *kinds, struct net_entry *entry);
net_chronon net_closest_advance_kinds(struct net_closest *node, struct net_closest_group *group);
/* Forgets what is too far from all that is to be decided, when that pays. */
void net_closest_forget_far(struct net_closest *node);

#endif
