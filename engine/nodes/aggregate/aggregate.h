/* The inside of aggregate nodes: what their files share.
 *
 *     aggregate.c          rows in, segments out: consuming, advancing, maximal periods of one value
 *     change.c   rows become changes at instants; changes move tuples in and out of groups
 *     wait.c     changes to come
 *     plain.c    the short way of plain rows, which makes no changes that wait but stops
 *     staircase.c     the best of tuples whose ends are known
 *     tally.c    what a group keeps of the tuples that count, by its function
 *     value.c    the functions: its value
 *     quantile.c values by their place in the order of values
 *     more.c     further functions of the same tuples in the same node
 *     asked.c    values at the instants of a join's rows alone
 *     extend.c   extendc, a node of its own
 *
 * A tuple's presence at an instant is a truth: F not there, unknown perhaps there, T there for sure. What
 * counts is presence and the inner where and when (Kleene's and).                                   */
#ifndef NET_NODES_AGGREGATE_AGGREGATE_H
#define NET_NODES_AGGREGATE_AGGREGATE_H

#include "engine/alike.h"
#include "engine/base/arena.h"
#include "engine/base/status.h"
#include "engine/exact_sum.h"
#include "engine/inbox.h"
#include "engine/node_impl.h"
#include "engine/ordered.h"
#include "engine/rowmap.h"

/* What a group keeps of the tuples that count for sure; each function uses what is its own, and has no more. */
struct net_tally {
  union {
    struct {
      uint32_t ordered; /* root: min, max, first, last that may go; varts, avgti */
      uint32_t stairs;  /* root: those of which the ends are known (staircase.c) */
      union {
        struct {
          struct net_ordered_key best; /* min, max, first, last that never go */
          union net_slot
              chosen[3]; /* earliest, latest: the value of the segment but for its first slot */
        };
        struct {
          uint64_t spans; /* varts: the sum of the spans between successive starts */
          net_wide_unsigned span_squares;
        };
        struct {
          struct net_sum rates;    /* avgti */
          int64_t pairs, infinite; /* successive tuples of different starts; too steep ones */
        };
        struct {
          uint32_t at;   /* quantiles: the place of a value that is there, */
          int64_t below; /* and how many are less */
        };
        struct {
          union net_slot *values; /* quantiles of summaries: all */
          size_t value_count, value_capacity;
        };
      };
    };
    net_wide sum; /* sum, avg of integers */
    struct {
      struct net_sum exact; /* sum, avg of floats; stdev: of all arguments */
      union {
        struct net_sum squares; /* stdev */
        struct {
          struct net_sum slopes,
              moments; /* temporal arguments: sums of slope, and of slope times start */
        };
      };
    };
    struct {
      struct net_sum weight,
          integral; /* avgc: the sum of the arguments, its integral in chronons */
      net_wide whole_weight, whole_integral; /* of integers, until 128 bits have no room: BEYOND */
      net_chronon integrated_to;
      bool beyond;
    };
  };
};

/* The value of a segment. */
struct net_agg_value {
  union net_slot slots[4];
};

/* What else tells whether a segment's function is the same still. */
struct net_agg_function {
  union net_slot rest[3]; /* of the value, behind its first slot */
  union {
    struct {
      struct net_sum exact, slopes, moments; /* temporal sums */
      int64_t count;
    };
    struct {
      struct net_sum weight; /* avgc */
      net_wide whole_weight;
    };
  };
};

/* Many nodes have a group for each tuple: a group has what its node asks for, and no more. Behind what is here there are
 * the parts of further functions, then what few nodes have (net_agg_place_rest). */
struct net_agg_group {
  int64_t sure; /* tuples (of a set: members) that count for sure */
  uint64_t id;  /* of the segment; 0: it has not gone out open */
  /* Flags are bytes, as they are written all the time: a word that has just been written in parts is slow to read. */
  bool begun;       /* a segment runs */
  bool omega;       /* of the segment */
  bool in_doubt;    /* of the segment, avgc of what is there for sure */
  bool tainted;     /* avgc: something uncertain came and never goes */
  bool failed;      /* the value cannot be told; it was reported */
  bool more_failed; /* the same of further functions perhaps (more.c) */
  bool touched;
  bool fresh;        /* among those whose segment has to go out open */
  net_chronon since; /* start of the segment */
  uint32_t perhaps; /* those that count perhaps; UINT32_MAX: so many that there are some for ever */
  uint32_t references; /* changes to come */
  /* Further functions have what follows alone (more.c). */
  union net_slot value; /* of the segment, its first slot */
  /* count and any have none of the following: their groups end here */
  struct net_tally tally;
  /* functions whose values do not change with time: here */
  struct net_agg_function function;
};

enum {
  NET_MEMBER_RANKED = 1, /* its key is in the group's ordered set */
  NET_MEMBER_IDLE = 2,   /* no tuple of it is there, nor will be by what is known */
  NET_MEMBER_LISTED = 4, /* among the idle ones of the node, if it is idle */
  NET_MEMBER_PLAIN =
      8, /* what is there came the short way, counts for sure, and goes in the order of starts */
  NET_MEMBER_IN_STAIRS = 16, /* what stands came the short way, and is among the group's stairs */
  NET_MEMBER_HOLDS = 32,     /* one change to come */
};

/* A set of equal tuples of a group. */
struct net_agg_member {
  uint32_t state; /* NET_MEMBER_...; above them, in HOLDS, changes to come */
  uint32_t group;
  uint32_t sure; /* tuples that count for sure */
  union {
    struct {
      uint32_t perhaps; /* tuples that count perhaps */
      /* If it matters which of those that count for sure stands for all: */
      uint32_t standing; /* its place, in the group's ordered set */
    };
    struct {
      net_chronon time; /* NET_MEMBER_PLAIN: when the last of the tuples stops */
    } __attribute__((packed, aligned(4))) until;
  };
  uint32_t
      others; /* root: the places of the others; of functions without such a set, and PLAIN, of all */
};

/* A distinct argument of a group. */
struct net_agg_distinct {
  uint32_t sure;       /* how often it counts for sure */
  uint32_t references; /* changes to come */
};

/* One more of what 32 bits count. */
static inline uint32_t net_agg_one_more(uint32_t count) {
  BASE_CHECK(count < UINT32_MAX, "aggregate-count");
  return count + 1;
}

static inline bool net_agg_is(const struct net_agg_member *member, uint32_t flag) {
  return (member->state & flag) != 0;
}
static inline void net_agg_set(struct net_agg_member *member, uint32_t flag, bool on) {
  member->state = on ? member->state | flag : member->state & ~flag;
}
/* One more change to come for MEMBER. */
static inline void net_agg_hold(struct net_agg_member *member) {
  BASE_CHECK(member->state < UINT32_MAX - NET_MEMBER_HOLDS, "aggregate-count");
  member->state += NET_MEMBER_HOLDS;
}
/* One less; was it the last? */
static inline bool net_agg_release(struct net_agg_member *member) {
  member->state -= NET_MEMBER_HOLDS;
  return member->state < NET_MEMBER_HOLDS;
}

/* How surely MEMBER counts but for tuples that do for sure. */
static inline enum net_truth net_agg_else(const struct net_agg_member *member) {
  return member->perhaps > 0 && !net_agg_is(member, NET_MEMBER_PLAIN) ? NET_UNKNOWN : NET_FALSE;
}
/* How surely MEMBER counts: as its surest tuple. */
static inline enum net_truth net_agg_surest(const struct net_agg_member *member) {
  return member->sure > 0 ? NET_TRUE : net_agg_else(member);
}

struct net_agg_change {
  net_chronon time;
  uint32_t group;    /* NET_NO_ENTRY: an origin; every group is looked at */
  uint32_t member;   /* of a set; else NET_NO_ENTRY */
  uint32_t distinct; /* of distinct arguments; else NET_NO_ENTRY */
  enum net_truth from, to, counts;
  bool weightless; /* avgc: begun for sure, but there for sure at no time */
  bool goes_then;  /* another change follows at THEN: nothing of it is there any more */
  uint32_t rest;   /* where it waited */
  uint32_t
      place; /* in the order that nodes with APART have: the tuple's, if its stop is known; else 0, or one that is
                      not linked */
  net_chronon then;
  struct net_ordered_key key; /* the tuple's start, and the argument */
};

/* What is kept behind a key of APART: the owner, and what follows, or where (wait.c). */
enum { NET_AGG_APART_WORDS = 2 };

/* Whose a change is that waits, or a key in an order: a member, or a group; how surely it counts, and a detail. */
enum { NET_AGG_NOBODY = (1 << 29) - 1 };
static inline uint32_t net_agg_owner(uint32_t whose, enum net_truth counts, bool detail) {
  return whose << 3 | (uint32_t)counts << 1 | detail;
}
static inline uint32_t net_agg_owner_whose(uint32_t owner) {
  return owner >> 3;
}
static inline enum net_truth net_agg_owner_counts(uint32_t owner) {
  return (enum net_truth)(owner >> 1 & 3);
}
static inline bool net_agg_owner_detail(uint32_t owner) {
  return owner & 1;
}

/* Of a change to come: when, where the rest of it is, and which of those of its tuple it is. */
struct net_agg_waiting {
  net_chronon time;
  uint32_t rest : 30;
  uint32_t turn : 2;
} __attribute__((packed, aligned(4)));

/* The stop of a tuple that came the short way: it was there for sure, and is not from TIME on. */
struct net_agg_stop {
  net_chronon time;
  uint32_t member; /* or weight, or tuple */
  enum net_truth counts;
};

/* The same where there are many. */
struct net_agg_packed_stop {
  net_chronon time;
  uint32_t member : 30;
  uint32_t counts : 2;
} __attribute__((packed, aligned(4)));

/* So many stops are kept in order; when there are so few again, they are brought into order again. */
enum { NET_AGG_FEW_STOPS = 64, NET_AGG_VERY_FEW_STOPS = 16 };

/* What plain rows may do (plain.c). */
enum net_agg_way {
  NET_AGG_LONG,   /* nothing but what all rows do */
  NET_AGG_MEMBER, /* of a set of equal tuples, whose argument is a domain */
  NET_AGG_STAY,   /* tuples that never go */
  NET_AGG_TUPLE,  /* tuples that each count, until a window has passed them */
  NET_AGG_WEIGH,  /* avgc: their weights go */
};

/* What a tuple weighs that will go. */
struct net_agg_weight {
  union net_slot value;
  uint32_t group;
  uint32_t next_free; /* index + 1 */
};

/* A further function of the same tuples. What the files do for a node's own function they do for this one:
 * FUNCTION is a node that is in no network, and its groups lie behind those of the node that it belongs to. */
struct net_agg_more {
  struct net_aggregate *function;
  size_t offset; /* of its group, from that of the node */
  uint32_t value_slot;
  struct net_agg_value value; /* scratch: told now */
};

/* Where a group stands that never goes. */
struct net_agg_recent {
  int64_t key;
  uint32_t place; /* NET_NO_ENTRY: nothing */
};
enum { NET_AGG_RECENT = 64, NET_AGG_FORGOTTEN = 256 };

struct net_aggregate {
  struct net_node node;
  struct net_aggregate_params params;
  struct net_agg_more *more;
  size_t more_count;
  struct net_rowmap failures; /* further functions of groups, whose values cannot be told */
  enum net_aggregate_function function; /* avgc of events is avg */
  bool set;                             /* equal tuples are one */
  bool shares_argument;                 /* equal tuples do */
  bool stands_in_group;                 /* ... whose key is in the group's ordered set as it is */
  bool stands;                          /* ... and the one that starts first stands for all */
  bool stands_plain;                    /* ... and members may be NET_MEMBER_PLAIN */
  bool
      counts_tuples; /* ... and the function is of each of them: as for all, the best alone matters */
  bool is_apart;     /* ... or it stands: tuples are in an order, each for itself (APART) */
  bool timeless;     /* ... and nothing depends on when one of them starts: members have no time */
  bool chooses_time; /* earliest, latest: the value is the time of a tuple */
  bool temporal;     /* domains are temporal: equal ones are so as functions of absolute time */
  bool goes;         /* tuples leave again (avgc: as far as their weight is concerned) */
  int64_t longer;    /* by so much they stay beyond their stops (events: beyond their instants) */
  struct net_inbox inbox;
  struct net_rowmap groups; /* by the by fields, which are all that is kept of a row */
  /* by the low bits of their only by field, if they have one */
  struct net_agg_recent recent[NET_AGG_RECENT];
  bool remembers; /* them */
  struct net_rowmap members;
  struct net_rowmap distinct; /* by group and argument */
  struct net_alike alike;     /* unless members are counted: open rows that may yet be one */
  bool counts_open;           /* ... is used */
  struct net_rowmap
      same_start; /* where tuples are counted: rows of one start, to make a set of them */
  struct net_agg_waiting *heap; /* changes to come: wait.c */
  size_t heap_count, heap_capacity;
  uint32_t *waiting; /* the rest of them, packed */
  size_t waiting_count, waiting_capacity;
  uint32_t waiting_free; /* index + 1 */
  net_chronon *late;     /* what follows them long after */
  size_t late_count, late_capacity, late_live;
  uint32_t late_free;                        /* index + 1 */
  unsigned wait_kept;                        /* of their keys */
  uint32_t wait_then, wait_key, wait_stride; /* words: where they begin, and of one */
  enum net_agg_way way;
  bool names_rows;            /* may have no value for a group: errors name a row (net_agg_error) */
  union net_slot *passed_row; /* for net_aggregate_pass */
  union net_slot *last_row;   /* that came, of LAST_GROUP; of nodes that name rows */
  uint32_t last_group;        /* NET_NO_ENTRY: none has */
  const struct net_layout *group_layout; /* an instant, and what a group is called by */
  union net_slot *group_row;
  bool has_stairs; /* the best of plain rows is found by their ends */
  bool wants_smallest;
  bool adds_integers; /* sums of integers, or means */
  uint32_t *places;   /* of the rows of a batch: the members at them */
  size_t place_capacity;
  /* Few are in the order of time, the next at STOP_FIRST. Many are a heap. */
  struct net_agg_stop few_stops[2 * NET_AGG_FEW_STOPS];
  struct net_agg_packed_stop *stops;
  size_t stop_first, stop_count, stop_capacity;
  bool stops_heaped;
  /* Members that have become idle, in that order, in a ring: many come again. Some are not idle any more. */
  uint32_t *idle;
  size_t idle_first, idle_count, idle_capacity; /* capacity: a power of 2 */
  size_t idle_members;
  size_t idle_most; /* as many as seem worth it: those that have come too late for it raise it */
  uint32_t forgotten[NET_AGG_FORGOTTEN]; /* hashes of members that were, at their low bits */
  struct net_agg_weight *weights;
  size_t weight_count, weight_capacity;
  uint32_t free_weight; /* index + 1 */
  /* Those that will go: group | distinct, of distinct arguments | what their stop does not say of the key. */
  uint32_t *tuples;
  size_t tuple_count, tuple_capacity;
  uint32_t free_tuple;   /* index + 1 */
  uint32_t tuple_stride; /* words of one */
  unsigned tuple_kept;   /* of its key */
  uint64_t last_id;
  uint32_t *by_slots, *row_slots;
  bool origin_known, averaging_known, first_known;
  net_chronon first_start; /* of the first tuple that came */
  net_chronon origin, averaging_origin;
  net_chronon latest_origin; /* of what began at beginning at the earliest: its latest start */
  uint32_t *touched;         /* groups, at TOUCHED_AT; what comes later is later */
  size_t touched_count, touched_capacity;
  net_chronon touched_at;
  uint32_t *fresh; /* groups whose segments began in this round; some of them are gone since */
  size_t fresh_count, fresh_capacity;
  bool waits;                      /* for more, with its own checkpoint behind that of its input */
  struct net_batch_builder closes; /* apart, so that the other rows are plain */
  uint32_t value_slot, value_width, argument_slot;
  /* Of a group: where it is numbered what is there, counting or not, and what the function is of; 0: see
   * net_agg_present and net_agg_values. Of a further function: where its part of a group is, from that of the node. */
  size_t present_at, values_at, part_at;
  bool settles;                /* gives up what no later tuple can change */
  bool forgets;                /* groups of which nothing is left */
  enum net_base_type argument; /* NET_INTEGER where there is none */
  bool is_wide;                /* values have more than one slot */
  struct net_ordered ordered, stairs;
  struct net_ordered
      apart; /* of sets whose tuples are in an order, each for itself: their places */
  struct net_ordered *ranked; /* that the groups' ordered sets are of: one of these */
  struct net_ordered floors;  /* earliest, latest: starts of the tuples that may yet be chosen */
  uint32_t floor_root;
  struct net_sum scratch;
  union net_slot *scratch_row, *floor;
  struct net_asked *asked; /* by a join; NULL: it is not */
};

static inline struct net_agg_group *net_agg_group(const struct net_aggregate *node,
                                                  uint32_t index) {
  return net_rowmap_state(&node->groups, index);
}

/* A tuple of GROUP (of a set: a member) counted AS surely as that, and does so no longer; or does so now. It is not asked
 * how many count perhaps, but whether some do. There are never so many that wait to count for sure, or not to count, that
 * none would be left of those that 32 bits do not count. */
static inline void net_agg_count_out(struct net_agg_group *group, enum net_truth as) {
  if (as == NET_TRUE) group->sure--;
  if (as == NET_UNKNOWN && group->perhaps < UINT32_MAX) group->perhaps--;
}
static inline void net_agg_count_in(struct net_agg_group *group, enum net_truth as) {
  if (as == NET_TRUE) group->sure++;
  if (as == NET_UNKNOWN && group->perhaps < UINT32_MAX) group->perhaps++;
}

/* Tuples that are there by how surely they are: perhaps, for sure. NULL: all that are there count, so those that count
 * stand for them (of a set its members): it is not asked how many there are, but whether there are some. */
static inline int64_t *net_agg_present(const struct net_aggregate *node,
                                       const struct net_agg_group *group) {
  if (node->present_at == 0) return NULL;
  return (int64_t *)(void *)((unsigned char *)(uintptr_t)group + node->present_at);
}
/* One more (or less: COMES -1) is there, AS surely as that. */
static inline void net_agg_count_present(const struct net_aggregate *node,
                                         const struct net_agg_group *group, enum net_truth as,
                                         int64_t comes) {
  if (node->present_at != 0 && as != NET_FALSE) net_agg_present(node, group)[as - 1] += comes;
}
/* How surely something of the group is there, or counts. */
static inline enum net_truth net_agg_is_present(const struct net_aggregate *node,
                                                const struct net_agg_group *group) {
  const int64_t *present = net_agg_present(node, group);
  if (present != NULL ? present[NET_TRUE - 1] > 0 : group->sure > 0) return NET_TRUE;
  if (present != NULL ? present[NET_UNKNOWN - 1] > 0 : group->perhaps > 0) return NET_UNKNOWN;
  return NET_FALSE;
}
static inline enum net_truth net_agg_is_counted(const struct net_agg_group *group) {
  if (group->sure > 0) return NET_TRUE;
  return group->perhaps > 0 ? NET_UNKNOWN : NET_FALSE;
}

/* What the function is of: what counts for sure, or its distinct arguments. GROUP may be the part of a further one. */
static inline int64_t net_agg_values(const struct net_aggregate *node,
                                     const struct net_agg_group *group) {
  const unsigned char *memory = (const unsigned char *)group;
  if (node->values_at != 0) return *(const int64_t *)(const void *)(memory + node->values_at);
  return ((const struct net_agg_group *)(const void *)(memory - node->part_at))->sure;
}
/* A distinct argument comes (or goes: COMES -1); others are counted elsewhere. */
static inline void net_agg_count_values(const struct net_aggregate *node,
                                        struct net_agg_group *group, int64_t comes) {
  if (node->values_at != 0) *(int64_t *)(void *)((unsigned char *)group + node->values_at) += comes;
}

/* Of a node whose values are wide, that of the group's segment behind its first slot. */
static inline union net_slot *net_agg_value_rest(const struct net_aggregate *node,
                                                 struct net_agg_group *group) {
  return node->chooses_time ? group->tally.chosen : group->function.rest;
}

/* --- rows.c */

/* The argument in ROW, which may be a member's. */
union net_slot net_agg_argument(const struct net_aggregate *node, const union net_slot *row);
struct net_ordered_key net_agg_key(const struct net_aggregate *node, const union net_slot *row);
/* False: it is a temporal value that is no linear function of time, and counts, for sure or perhaps; it has no sum. */
bool net_agg_has_argument(const struct net_aggregate *node, const union net_slot *row);
/* The group at INDEX has no value at NOW: rejected, or failed (net_node_error). */
enum base_status net_agg_error(struct net_aggregate *node, enum net_eval_error error,
                               uint32_t index, net_chronon now);
/* How surely the row counts, by the inner where and when. */
enum net_truth net_agg_counts(const struct net_aggregate_params *params, const union net_slot *row);
/* The order of tuples: by start, then value (earliest, latest: stop). */
int net_agg_compare(const struct net_aggregate *node, const struct net_ordered_key *a,
                    const struct net_ordered_key *b);
/* ... of values alone. CONTEXT: the node. */
int net_agg_compare_values(const void *context, union net_slot a, union net_slot b);

/* --- change.c */

/* Makes changes of a row that has an argument; the groups it names are made. */
enum base_status net_agg_arrive(struct net_aggregate *node, const union net_slot *row,
                                uint8_t marks);
/* Everything begins at ORIGIN. */
void net_agg_begin(struct net_aggregate *node, net_chronon origin);
/* Moves the tuple; groups that change are touched. */
void net_agg_apply(struct net_aggregate *node, const struct net_agg_change *change);
/* A place for a tuple of MEMBER that is in an order, but waits nowhere: it came the short way, or is open. */
uint32_t net_agg_make_loose(struct net_aggregate *node, uint32_t member,
                            const struct net_ordered_key *key);
/* The first of MEMBER's others, which is in no set then; it is not to be freed unless it is loose. */
uint32_t net_agg_take_first(struct net_aggregate *node, struct net_agg_member *member);
/* What stands for MEMBER, which is PLAIN, in the group's ordered set is among its others, too: it is not there any more.
 * Returns its place in the group's. */
uint32_t net_agg_forget_copy(struct net_aggregate *node, const struct net_agg_group *group,
                             struct net_agg_member *member);
/* What stood for MEMBER is gone; of the others, which count for sure, the first stands now. */
void net_agg_let_next_stand(struct net_aggregate *node, struct net_agg_group *group,
                            struct net_agg_member *member);
/* What starts at beginning at the earliest counts with its latest start, unless something is earlier. */
void net_agg_know_origin(struct net_aggregate *node, const union net_slot *row);
/* Equal tuples have their argument in common, unless it is computed. */
static inline bool net_agg_member_has_value(const struct net_aggregate *node) {
  return node->set && !node->temporal && node->shares_argument;
}
/* The group at INDEX is looked at when all changes of the instant are made. */
static inline void net_agg_touch(struct net_aggregate *node, uint32_t index) {
  struct net_agg_group *group = net_agg_group(node, index);
  if (group->touched) return;
  group->touched = true;
  if (node->touched_count == node->touched_capacity)
    base_grow(&node->touched, &node->touched_capacity, node->touched_count + 1,
              sizeof *node->touched);
  node->touched[node->touched_count++] = index;
}
/* ROW, of the group at INDEX, has come. */
static inline void net_agg_note_row(struct net_aggregate *node, uint32_t index,
                                    const union net_slot *row) {
  if (!node->names_rows) return;
  node->last_group = index;
  net_row_copy(node->last_row, row, node->params.in->slot_count);
}
/* --- wait.c */

void net_agg_wait_init(struct net_aggregate *node);
/* Where it waits: of nodes with APART, its place there. */
uint32_t net_agg_push(struct net_aggregate *node, const struct net_agg_change *change);
/* The next change, which there is. It is to be applied, and to pass: then it waits no more, or for what follows it. */
void net_agg_pop(struct net_aggregate *node, struct net_agg_change *ret);
void net_agg_pass(struct net_aggregate *node, const struct net_agg_change *change);
static inline net_chronon net_agg_next(const struct net_aggregate *node) {
  return node->heap_count > 0 ? node->heap[0].time : NET_FOREVER;
}
void net_agg_wait_done(struct net_aggregate *node);
size_t net_agg_wait_bytes(const struct net_aggregate *node); /* memory held */
void net_agg_wait_mark_strings(const struct net_aggregate *node, struct base_strings *strings);

/* --- plain.c */

enum net_agg_way net_agg_way(const struct net_aggregate *node);
void net_agg_plain_init(struct net_aggregate *node);
/* Takes the rows of a plain batch that are before CHECKPOINT, behind all that came; returns how many. */
uint32_t net_agg_take_plain(struct net_aggregate *node, const struct net_batch *batch,
                            net_chronon checkpoint, enum base_status *status);
/* The next stop, which there is. */
void net_agg_stop(struct net_aggregate *node);
/* When that is; forever: there is none. */
static inline net_chronon net_agg_next_stop(const struct net_aggregate *node) {
  if (node->stop_count == 0) return NET_FOREVER;
  return node->stops_heaped ? node->stops[0].time : node->few_stops[node->stop_first].time;
}
/* The member at INDEX, which a tuple has come to. */
static inline struct net_agg_member *net_agg_wake(struct net_aggregate *node, uint32_t index) {
  struct net_agg_member *member = net_rowmap_state(&node->members, index);
  if (net_agg_is(member, NET_MEMBER_IDLE)) node->idle_members--;
  net_agg_set(member, NET_MEMBER_IDLE, false);
  return member;
}

/* Where the group of ROW stands; *RET_NEW: it was not there. */
static inline uint32_t net_agg_find_group(struct net_aggregate *node, const union net_slot *row,
                                          bool *ret_new) {
  if (!node->remembers) return net_rowmap_put(&node->groups, row, ret_new);
  int64_t key = node->params.by_count == 0 ? 0 : row[node->by_slots[0]].i;
  size_t at = (size_t)((uint64_t)key % NET_AGG_RECENT);
  *ret_new = false;
  if (node->recent[at].key == key && node->recent[at].place != NET_NO_ENTRY)
    return node->recent[at].place;
  node->recent[at].key = key;
  return node->recent[at].place = net_rowmap_put(&node->groups, row, ret_new);
}
/* Counts a plain row of a node whose tuples never go; returns its group. *RET_SAME: the value is as it was. */
uint32_t net_agg_stay(struct net_aggregate *node, const union net_slot *row, bool *ret_same);
/* Counts a row of a summary, whenever it is. */
void net_agg_sum_in(struct net_aggregate *node, const union net_slot *row, uint8_t marks);
/* avgc: VALUE, of GROUP, weighs until STOP. */
void net_agg_weigh_until(struct net_aggregate *node, uint32_t group, int64_t value,
                         net_chronon stop);

/* --- asked.c (asked.h) */

struct net_asked;

/* --- staircase.c */

/* A tuple of KEY counts for sure, and does until STOP. */
void net_agg_staircase_add(struct net_aggregate *node, struct net_agg_group *group,
                           struct net_ordered_key key, net_chronon stop);
/* The best of those that are there at NOW, 0: none; NOW is never earlier than the last time. */
uint32_t net_agg_staircase(struct net_aggregate *node, struct net_agg_group *group,
                           net_chronon now);

/* --- aggregate.c */

/* The group's segment has to go out open, or whole. */
void net_agg_note_fresh(struct net_aggregate *node, struct net_agg_group *group, uint32_t index);
/* All changes before NOW, where a row starts; none starts earlier from now on. */
void net_agg_come_to(struct net_aggregate *node, net_chronon now, enum base_status *status);
/* A row, in the long way. */
void net_agg_take(struct net_aggregate *node, const union net_slot *row, uint8_t marks,
                  enum base_status *status);

/* --- tally.c */

void net_agg_tally_init(struct net_aggregate *node);
/* NET_KEEP_...: what is asked of a tuple's key (ordered.h), without the end of those whose ends are known. */
unsigned net_agg_kept(const struct net_aggregate *node);
/* A tuple counts for sure now, or no longer; the group has counted it already. */
void net_agg_add(struct net_aggregate *node, struct net_agg_group *group,
                 const struct net_ordered_key *key);
void net_agg_remove(struct net_aggregate *node, struct net_agg_group *group,
                    const struct net_ordered_key *key);
/* The same of nodes whose groups have their tuples in an order each for itself: the one at PLACE. */
void net_agg_link(struct net_aggregate *node, struct net_agg_group *group, uint32_t place);
void net_agg_unlink(struct net_aggregate *node, struct net_agg_group *group, uint32_t place);
/* What the order of tuples is by: to min and max it does not matter when one starts. */
struct net_ordered_key net_agg_rank(const struct net_aggregate *node,
                                    const struct net_ordered_key *key);
bool net_agg_wants_smallest(enum net_aggregate_function function);
/* Weight and integral of integers are so while 128 bits have room for them; only then does it take sums
 * without end. Both give the same values, which are rounded once. */
static inline bool net_agg_is_whole(const struct net_aggregate *node,
                                    const struct net_tally *tally) {
  return node->argument != NET_FLOAT && !tally->beyond;
}
static inline bool net_agg_is_word(net_wide value) {
  return value == (int64_t)value;
}
/* avgc: VALUE comes (SIGN 1) or goes (-1). */
void net_agg_weigh(struct net_aggregate *node, struct net_agg_group *group, union net_slot value,
                   int64_t sign);
void net_agg_integrate_weight(struct net_aggregate *node, struct net_agg_group *group,
                              net_chronon to);
/* What has no weight, or has come so far already, needs no more than to say so. */
static inline void net_agg_integrate(struct net_aggregate *node, struct net_agg_group *group,
                                     net_chronon to) {
  struct net_tally *tally = &group->tally;
  if (tally->integrated_to == to) return;
  if (net_agg_is_whole(node, tally) && tally->whole_weight == 0) {
    tally->integrated_to = to;
  } else {
    net_agg_integrate_weight(node, group, to);
  }
}
/* Gives up what no later tuple can change; for functions that settle. */
void net_agg_settle(struct net_aggregate *node, struct net_agg_group *group);
/* A lower bound of the times that earliest and latest may yet choose; they come and go. */
net_chronon net_agg_floor(const struct net_aggregate *node, net_chronon checkpoint);
void net_agg_floor_count(struct net_aggregate *node, net_chronon start, bool comes);
static inline void net_agg_floor_add(struct net_aggregate *node, net_chronon start) {
  if (node->chooses_time) net_agg_floor_count(node, start, true);
}
static inline void net_agg_floor_remove(struct net_aggregate *node, net_chronon start) {
  if (node->chooses_time) net_agg_floor_count(node, start, false);
}
/* What of a group the node's function has. */
size_t net_agg_group_size(const struct net_aggregate *node);
void net_agg_group_done(struct net_aggregate *node, struct net_agg_group *group);
/* True: arguments are strings, so those that wait are to be marked, too. */
bool net_agg_mark_strings(const struct net_aggregate *node, struct base_strings *strings);

/* --- quantile.c */

static inline bool net_agg_is_quantile(const struct net_aggregate *node) {
  return node->function == NET_AGG_QUANTILE || node->function == NET_AGG_QUANTILE_OF;
}
/* A value counts for sure now, or no longer; the group has counted it already. */
void net_agg_quantile_change(struct net_aggregate *node, struct net_agg_group *group,
                             const struct net_ordered_key *key, bool comes);
/* Of a group in which something counts. */
union net_slot net_agg_quantile(struct net_aggregate *node, struct net_agg_group *group);

/* --- value.c */

/* Chronons of the unit of time: a second on the real timeline; on the abstract one they are the unit. */
static inline int64_t net_agg_unit(const struct net_aggregate *node) {
  return net_network_timeline(node->node.network) == NET_TIMELINE_REAL ? 1000000000 : 1;
}
/* Has the tally a value at NOW, and which? *RET_HAS is written on success only. */
enum net_eval_error net_agg_tell(struct net_aggregate *node, struct net_agg_group *group,
                                 net_chronon now, struct net_agg_value *ret, bool *ret_has);
/* May the function have no value for tuples that it is of? */
bool net_agg_can_fail(const struct net_aggregate *node);
/* Is VALUE, told at a later instant, the value of the group's segment still? */
bool net_agg_same(struct net_aggregate *node, struct net_agg_group *group,
                  const struct net_agg_value *value);
/* The segment that begins has VALUE. */
void net_agg_keep(struct net_aggregate *node, struct net_agg_group *group,
                  const struct net_agg_value *value);
/* Does the group's segment go on at NOW? False: it may nevertheless, see net_agg_same. */
bool net_agg_average_lasts(const struct net_aggregate *node, const struct net_agg_group *group,
                           net_chronon now);

/* --- more.c */

/* The further functions of a node that is configured; CONFIGURE does that for one by its parameters. */
void net_agg_more_init(struct net_aggregate *node, struct base_arena *arena,
                       void (*configure)(struct net_aggregate *function));
void net_agg_more_done(struct net_aggregate *node);
/* Bytes that a group of the node has, with the parts of all functions, and with what few nodes have behind them. */
size_t net_agg_place_rest(struct net_aggregate *node);
size_t net_agg_more_bytes(const struct net_aggregate *node);
/* The tuple of ROW, a member of the group, counts for sure now, or no longer. */
void net_agg_count_more(struct net_aggregate *node, struct net_agg_group *group,
                        const union net_slot *row, bool comes);
/* Have all further functions a value at NOW? It is in their scratch. */
bool net_agg_tell_more(struct net_aggregate *node, uint32_t index, net_chronon now,
                       enum base_status *status);
/* Nothing of the group is there: what fails later is reported again. */
void net_agg_forget_failures(struct net_aggregate *node, uint32_t index);
bool net_agg_same_more(const struct net_aggregate *node, struct net_agg_group *group);
void net_agg_keep_more(struct net_aggregate *node, struct net_agg_group *group);
/* Their values into a ROW of the result. */
void net_agg_put_more(const struct net_aggregate *node, const struct net_agg_group *group,
                      union net_slot *row);
void net_agg_group_done_more(struct net_aggregate *node, struct net_agg_group *group);

/* --- nodes of their own */
struct net_node *net_create_extend(struct net_network *network, const char *name,
                                   const struct net_aggregate_params *params);

#endif
