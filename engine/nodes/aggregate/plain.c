/* Aggregate: the short way of plain rows (batch.h). Most rows are determinate, whole, and come in order.
 *
 * When such a row comes, all changes before its start have been made, so its tuple is moved into its group
 * at once, and the group is touched; what waits is its stop alone, twelve bytes, in order or, with many, in
 * a heap of its own. So for a tuple there are one look-up by its domains, and one insertion among as many
 * stops as tuples are valid. Look-ups among many are made together. Groups, members and tallies are those of the
 * long way (change.c): rows may come in any mixture.
 *
 * Four kinds of nodes have a short way: those that count a set of equal tuples, where what the function
 * takes from a tuple can be had of the member when the tuple goes, or is nothing but a place among the stairs; those whose
 * tuples never go; those of a window, where each tuple counts until it has passed; and avgc, where a tuple's
 * weight goes. But for the first, equal tuples of one start are one, so where several start together they
 * take the long way. Of distinct arguments the first and the last are what counts, as there. Of last, the
 * first of equal tuples stands for all: they go the short way while they go in the order in which they came. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/nodes/aggregate/aggregate.h"

enum net_agg_way net_agg_way(const struct net_aggregate *node) {
  if (node->temporal || node->argument == NET_TEMPORAL) return NET_AGG_LONG;
  bool may_stand = !node->stands || node->function == NET_AGG_LAST;
  if (node->set) return may_stand ? NET_AGG_MEMBER : NET_AGG_LONG;
  if (node->function == NET_AGG_AVGC) return NET_AGG_WEIGH;
  return node->goes ? NET_AGG_TUPLE : NET_AGG_STAY;
}

/* --- stops */

enum { FEW_STOPS = NET_AGG_FEW_STOPS };

static void push_heap(struct net_aggregate *node, struct net_agg_stop stop) {
  BASE_CHECK(stop.member < UINT32_C(1) << 30, "aggregate-stops");
  base_grow_little(&node->stops, &node->stop_capacity, node->stop_count + 1, sizeof *node->stops);
  struct net_agg_packed_stop *stops = node->stops;
  size_t i = node->stop_count++;
  for (; i > 0 && stop.time < stops[(i - 1) / 2].time; i = (i - 1) / 2)
    stops[i] = stops[(i - 1) / 2];
  stops[i] = (struct net_agg_packed_stop){stop.time, stop.member & ((UINT32_C(1) << 30) - 1),
                                          stop.counts & 3u};
}

/* STOPS, of which there are COUNT in order, gets one more: mostly one of the latest. */
static inline void insert_stop(struct net_agg_stop *stops, size_t count, struct net_agg_stop stop) {
  size_t i = count;
  for (; i > 0 && stop.time < stops[i - 1].time; i--) stops[i] = stops[i - 1];
  stops[i] = stop;
}

static void make_heap(struct net_aggregate *node) {
  size_t count = node->stop_count;
  node->stop_count = 0;
  for (size_t i = 0; i < count; i++) push_heap(node, node->few_stops[node->stop_first + i]);
  node->stops_heaped = true;
}

static inline void push_stop(struct net_aggregate *node, struct net_agg_stop stop) {
  if (!node->stops_heaped && node->stop_count < FEW_STOPS) {
    if (node->stop_first + node->stop_count == 2 * (size_t)FEW_STOPS) {
      memmove(node->few_stops, node->few_stops + node->stop_first,
              node->stop_count * sizeof *node->few_stops);
      node->stop_first = 0;
    }
    insert_stop(node->few_stops + node->stop_first, node->stop_count++, stop);
    return;
  }
  if (!node->stops_heaped) make_heap(node);
  push_heap(node, stop);
}

/* The hole that the first leaves goes down to the end, without a branch that nobody could predict; the last
 * stop takes its place there, and is mostly one of the latest. */
static struct net_agg_stop pop_heap(struct net_agg_packed_stop *stops, size_t count) {
  struct net_agg_packed_stop top = stops[0];
  size_t hole = 0, child = 1;
  net_chronon last = stops[count].time; /* the rest stays in memory, and is copied as a whole */
  for (; child + 1 < count; child = 2 * hole + 1) {
    child += stops[child + 1].time < stops[child].time;
    stops[hole] = stops[child];
    hole = child;
  }
  if (child < count) {
    stops[hole] = stops[child];
    hole = child;
  }
  for (; hole > 0 && last < stops[(hole - 1) / 2].time; hole = (hole - 1) / 2)
    stops[hole] = stops[(hole - 1) / 2];
  stops[hole] = stops[count];
  return (struct net_agg_stop){top.time, top.member, (enum net_truth)top.counts};
}

static void bring_into_order(struct net_aggregate *node) {
  for (size_t i = 0; i < node->stop_count; i++) {
    struct net_agg_packed_stop stop = node->stops[i];
    insert_stop(node->few_stops, i,
                (struct net_agg_stop){stop.time, stop.member, (enum net_truth)stop.counts});
  }
  node->stop_first = 0;
  node->stops_heaped = false;
}

static inline struct net_agg_stop pop_stop(struct net_aggregate *node) {
  node->stop_count--;
  if (!node->stops_heaped) return node->few_stops[node->stop_first++];
  struct net_agg_stop top = pop_heap(node->stops, node->stop_count);
  if (node->stop_count <= NET_AGG_VERY_FEW_STOPS) bring_into_order(node);
  if (base_is_roomy(node->stop_capacity, node->stop_count, sizeof *node->stops))
    base_shrink(&node->stops, &node->stop_capacity, node->stop_count, sizeof *node->stops);
  return top;
}

/* --- tuples in and out */

static bool keeps_tally(const struct net_aggregate *node) {
  return node->function != NET_AGG_COUNT && node->function != NET_AGG_ANY;
}

static void know_origin(struct net_aggregate *node, const union net_slot *row) {
  if (!node->first_known || !node->origin_known || !node->averaging_known)
    net_agg_know_origin(node, row);
}

/* So many members may be idle, or an eighth as many as tuples are there, if members come again that were forgotten;
 * else few. */
enum { IDLE_MEMBERS = 512, IDLE_SHARE = 8, IDLE_FEW = 32, IDLE_MORE = 64 };

static size_t idle_limit(const struct net_aggregate *node) {
  size_t share = node->stop_count / IDLE_SHARE;
  size_t most = share > IDLE_MEMBERS ? share : IDLE_MEMBERS;
  size_t worth = node->idle_most > IDLE_FEW ? node->idle_most : IDLE_FEW;
  return worth < most ? worth : most;
}

static uint32_t *forgotten_at(struct net_aggregate *node, uint32_t hash) {
  return &node->forgotten[hash % NET_AGG_FORGOTTEN];
}

/* The member of HASH was not there. */
static inline void note_fresh(struct net_aggregate *node, uint32_t hash) {
  if (*forgotten_at(node, hash) != hash) return;
  *forgotten_at(node, hash) = ~hash;
  node->idle_most = idle_limit(node) + IDLE_MORE;
}

static void move_idle(struct net_aggregate *node, size_t capacity) {
  uint32_t *idle = base_xmalloc(capacity * sizeof *idle);
  for (size_t i = 0; i < node->idle_count; i++)
    idle[i] = node->idle[(node->idle_first + i) & (node->idle_capacity - 1)];
  free(node->idle);
  node->idle = idle;
  node->idle_first = 0;
  node->idle_capacity = capacity;
}

static void forget_idle(struct net_aggregate *node) {
  uint32_t index = node->idle[node->idle_first];
  node->idle_first = (node->idle_first + 1) & (node->idle_capacity - 1);
  node->idle_count--;
  if (base_is_roomy(node->idle_capacity, node->idle_count, sizeof *node->idle))
    move_idle(node, node->idle_capacity / 4);
  if (!net_rowmap_live(&node->members, index)) return;
  struct net_agg_member *member = net_rowmap_state(&node->members, index);
  if (!net_agg_is(member, NET_MEMBER_LISTED)) return;
  net_agg_set(member, NET_MEMBER_LISTED, false);
  if (!net_agg_is(member, NET_MEMBER_IDLE)) return;
  node->idle_members--;
  uint32_t hash = net_rowmap_hash(&node->members, index);
  *forgotten_at(node, hash) = hash;
  net_rowmap_remove(&node->members, index);
}

/* No tuple of the member at INDEX is there, nor will be by what is known. */
static void leave_idle(struct net_aggregate *node, uint32_t index) {
  struct net_agg_member *member = net_rowmap_state(&node->members, index);
  net_agg_set(member, NET_MEMBER_IDLE, true);
  node->idle_members++;
  if (!net_agg_is(member, NET_MEMBER_LISTED)) {
    if (node->idle_count == node->idle_capacity)
      move_idle(node, node->idle_capacity ? node->idle_capacity * 2 : 64);
    node->idle[(node->idle_first + node->idle_count++) & (node->idle_capacity - 1)] = index;
    net_agg_set(member, NET_MEMBER_LISTED, true);
  }
  /* more than one, so that it shrinks when there are fewer tuples than there were */
  size_t limit = idle_limit(node);
  for (int i = 0; i < 2 && node->idle_count > limit; i++) forget_idle(node);
}

static inline enum net_truth counts_of(const struct net_aggregate *node,
                                       const union net_slot *row) {
  bool all = node->params.where_field < 0 && node->params.when_field < 0;
  return all ? NET_TRUE : net_agg_counts(&node->params, row);
}

/* Something of ARGUMENT counts for sure that did not, or the reverse; false: it has counted without it. */
static bool count_distinct(struct net_aggregate *node, uint32_t argument, bool comes) {
  struct net_agg_distinct *distinct = net_rowmap_state(&node->distinct, argument);
  uint32_t others = comes ? distinct->sure : distinct->sure - 1;
  distinct->sure = comes ? net_agg_one_more(others) : others;
  if (others == 0 && !comes && distinct->references == 0)
    net_rowmap_remove(&node->distinct, argument);
  return others == 0;
}

/* A tuple of KEY counts for sure until STOP: those are not taken away one by one. */
static inline void rank(struct net_aggregate *node, struct net_agg_group *group,
                        const struct net_ordered_key *key, net_chronon stop) {
  net_agg_staircase_add(node, group, net_agg_rank(node, key), stop);
}

/* KEY comes to what counts for sure in GROUP, or goes. */
static inline void count_sure(struct net_aggregate *node, struct net_agg_group *group,
                              const struct net_ordered_key *key, bool comes) {
  net_agg_count_values(node, group, comes ? 1 : -1);
  if (!keeps_tally(node) || node->has_stairs) return;
  if (node->adds_integers) {
    group->tally.sum += comes ? (net_wide)key->value.i : -(net_wide)key->value.i;
  } else if (comes) {
    net_agg_add(node, group, key);
  } else {
    net_agg_remove(node, group, key);
  }
}

/* A member of GROUP counts as surely as TO, and did as surely as FROM. */
static inline void move_member(struct net_aggregate *node, struct net_agg_group *group,
                               const union net_slot *row, enum net_truth from, enum net_truth to) {
  if (from == to) return;
  net_agg_count_out(group, from);
  net_agg_count_in(group, to);
  if ((from == NET_TRUE) == (to == NET_TRUE)) return;
  if (node->more_count > 0) net_agg_count_more(node, group, row, to == NET_TRUE);
  if (node->params.unique &&
      !count_distinct(node, net_rowmap_put(&node->distinct, row, NULL), to == NET_TRUE))
    return;
  struct net_ordered_key key;
  if (node->adds_integers) {
    key.value = row[node->argument_slot];
  } else if (keeps_tally(node) && !node->has_stairs) {
    key = net_agg_key(node, row);
  }
  count_sure(node, group, &key, to == NET_TRUE);
}

static void touch_at(struct net_aggregate *node, uint32_t group, net_chronon now) {
  node->touched_at = now;
  net_agg_touch(node, group);
}

/* The end of the time line is special: what comes at once with it goes the long way. */
static net_chronon stop_of(const struct net_aggregate *node, const union net_slot *row) {
  if (node->way == NET_AGG_STAY) return NET_FOREVER;
  uint32_t slot = node->params.in->tuple_class == NET_PERIOD ? 2 : 0;
  return node->longer == 0 ? row[slot].i : net_chronon_add(row[slot].i, node->longer);
}

/* Groups of idle members may be gone, and their places others'. */
static bool is_group_of(const struct net_aggregate *node, uint32_t index,
                        const union net_slot *row) {
  if (!net_rowmap_live(&node->groups, index)) return false;
  const union net_slot *key = net_rowmap_row(&node->groups, index);
  for (size_t i = 0; i < node->params.by_count; i++)
    if (key[node->by_slots[i]].i != row[node->by_slots[i]].i) return false;
  return true;
}

/* The member of ROW, which holds it from now on. */
static inline uint32_t hold_member(struct net_aggregate *node, const union net_slot *row) {
  bool fresh;
  uint32_t index = net_rowmap_put(&node->members, row, &fresh);
  struct net_agg_member *member = net_agg_wake(node, index);
  if (fresh) {
    member->group = NET_NO_ENTRY;
    note_fresh(node, net_rowmap_hash(&node->members, index));
  }
  net_agg_hold(member);
  return index;
}

/* Of more members than a cache holds those of a whole batch are looked up first, which takes less time
 * together. Rows that go the long way have none. */
#define MEMBERS_AT_HAND ((size_t)1 << 20)

static void hold_members(struct net_aggregate *node, const struct net_batch *batch,
                         uint32_t count) {
  base_grow(&node->places, &node->place_capacity, count, sizeof *node->places);
  for (uint32_t i = 0; i < count; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    bool passes = stop_of(node, row) > row[0].i;
    node->places[i] = passes ? hold_member(node, row) : NET_NO_ENTRY;
  }
}

static inline void count_in(struct net_aggregate *node, struct net_agg_group *group,
                            struct net_agg_member *member, const union net_slot *row,
                            enum net_truth counts) {
  if (counts == NET_TRUE) {
    if (member->sure++ == 0) move_member(node, group, row, net_agg_else(member), NET_TRUE);
  } else if (counts == NET_UNKNOWN) {
    enum net_truth old = net_agg_surest(member);
    member->perhaps++;
    move_member(node, group, row, old, net_agg_surest(member));
  }
}

static inline void count_out(struct net_aggregate *node, struct net_agg_group *group,
                             struct net_agg_member *member, const union net_slot *row,
                             enum net_truth counts) {
  if (counts == NET_TRUE) {
    if (--member->sure == 0) move_member(node, group, row, NET_TRUE, net_agg_else(member));
  } else if (counts == NET_UNKNOWN) {
    enum net_truth old = net_agg_surest(member);
    member->perhaps--;
    move_member(node, group, row, old, net_agg_surest(member));
  }
}

static inline void arrive_member(struct net_aggregate *node, const union net_slot *row,
                                 uint32_t index, net_chronon stop) {
  struct net_agg_member *member = net_rowmap_state(&node->members, index);
  if (member->group == NET_NO_ENTRY || !is_group_of(node, member->group, row))
    member->group = net_rowmap_put(&node->groups, row, NULL);
  struct net_agg_group *group = net_agg_group(node, member->group);
  net_agg_note_row(node, member->group, row);
  enum net_truth counts = counts_of(node, row);
  net_agg_count_present(node, group, NET_TRUE, 1);
  count_in(node, group, member, row, counts);
  if (node->has_stairs && counts == NET_TRUE) {
    struct net_ordered_key key = net_agg_key(node, row);
    if (node->stands && member->sure > 1) {
      (void)net_ordered_link(&node->apart, &member->others, net_agg_make_loose(node, index, &key));
    } else {
      rank(node, group, &key, stop);
      net_agg_set(member, NET_MEMBER_IN_STAIRS, node->stands);
    }
  }
  if (node->stands_plain) {
    net_agg_set(member, NET_MEMBER_PLAIN, true);
    member->until.time = stop;
  }
  touch_at(node, member->group, row[0].i);
  if (stop != NET_FOREVER) {
    push_stop(node, (struct net_agg_stop){stop, index, counts});
  } else if (net_agg_release(member) && net_agg_surest(member) == NET_FALSE) {
    leave_idle(node, index);
  }
}

/* The member of ROW, if that may go the short way until STOP, which it holds then; else NET_NO_ENTRY. Where the first of
 * equal tuples stands for all it may if nothing of its member is there, nor to come; or if what is there came so and
 * goes no later than it: what stands is always what goes next. */
static inline uint32_t hold_first(struct net_aggregate *node, const union net_slot *row,
                                  net_chronon stop) {
  uint32_t index = hold_member(node, row);
  if (!node->stands) return index;
  struct net_agg_member *member = net_rowmap_state(&node->members, index);
  bool alone = member->state < 2 * NET_MEMBER_HOLDS && net_agg_surest(member) == NET_FALSE;
  if (alone || (net_agg_is(member, NET_MEMBER_PLAIN) && stop >= member->until.time)) return index;
  (void)net_agg_release(member);
  return NET_NO_ENTRY;
}

/* What stands for MEMBER, the one at INDEX, and came the short way, goes. */
static void stop_standing(struct net_aggregate *node, struct net_agg_group *group,
                          struct net_agg_member *member, uint32_t index) {
  bool plain = net_agg_is(member, NET_MEMBER_PLAIN);
  struct net_ordered_key key;
  if (!net_agg_is(member, NET_MEMBER_IN_STAIRS)) {
    uint32_t place = plain ? net_agg_forget_copy(node, group, member) : member->standing;
    net_agg_unlink(node, group, place);
    net_ordered_free(&node->apart, place);
  }
  net_agg_set(member, NET_MEMBER_IN_STAIRS, plain && member->sure == 1);
  if (net_agg_is(member, NET_MEMBER_IN_STAIRS)) { /* it goes when the last goes */
    uint32_t place = net_agg_take_first(node, member);
    net_ordered_get(&node->apart, place, &key);
    net_ordered_free(&node->apart, place);
    rank(node, group, &key, member->until.time);
  } else if (plain && member->sure > 0) {
    net_ordered_get(&node->apart, net_ordered_first(&node->apart, member->others), &key);
    net_agg_link(node, group, net_agg_make_loose(node, index, &key));
  } else if (member->sure > 0) {
    net_agg_let_next_stand(node, group, member);
  }
}

static inline void stop_member(struct net_aggregate *node, struct net_agg_stop stop) {
  struct net_agg_member *member = net_rowmap_state(&node->members, stop.member);
  struct net_agg_group *group = net_agg_group(node, member->group);
  const union net_slot *row = net_rowmap_row(&node->members, stop.member);
  net_agg_count_present(node, group, NET_TRUE, -1);
  count_out(node, group, member, row, stop.counts);
  if (node->stands && stop.counts == NET_TRUE) stop_standing(node, group, member, stop.member);
  if (net_agg_is(member, NET_MEMBER_RANKED) && member->sure == 0) {
    struct net_ordered_key key = net_agg_key(node, row);
    net_agg_remove(node, group, &key);
    net_agg_set(member, NET_MEMBER_RANKED, false);
  }
  net_agg_touch(node, member->group);
  if (net_agg_release(member) && net_agg_surest(member) == NET_FALSE) leave_idle(node, stop.member);
}

/* The group of ROW, which has come. */
static inline uint32_t group_of(struct net_aggregate *node, const union net_slot *row) {
  bool fresh;
  uint32_t index = net_agg_find_group(node, row, &fresh);
  net_agg_note_row(node, index, row);
  if (fresh && node->function == NET_AGG_AVGC)
    net_agg_group(node, index)->tally.integrated_to = NET_BEGINNING;
  return index;
}

/* Is the value of GROUP the same with ROW, which counts for sure and never goes? Then it is counted. */
static inline bool changes_nothing(const struct net_aggregate *node, struct net_agg_group *group,
                                   const union net_slot *row) {
  const struct net_ordered_key *best = &group->tally.best;
  if (group->sure == 0 || node->argument != NET_INTEGER) return false;
  if (node->params.argument_field < 0 || node->params.unique) return false;
  if (node->function != NET_AGG_MIN && node->function != NET_AGG_MAX) return false;
  int64_t value = row[node->argument_slot].i;
  if (node->function == NET_AGG_MIN ? value < best->value.i : value > best->value.i) return false;
  group->sure++;
  return true;
}

uint32_t net_agg_stay(struct net_aggregate *node, const union net_slot *row, bool *ret_same) {
  uint32_t index = group_of(node, row);
  struct net_agg_group *group = net_agg_group(node, index);
  enum net_truth counts = counts_of(node, row);
  net_agg_count_present(node, group, NET_TRUE, 1);
  *ret_same = counts == NET_TRUE && node->more_count == 0 && changes_nothing(node, group, row);
  if (!*ret_same) move_member(node, group, row, NET_FALSE, counts);
  return index;
}

void net_agg_sum_in(struct net_aggregate *node, const union net_slot *row, uint8_t marks) {
  uint32_t index = group_of(node, row);
  struct net_agg_group *group = net_agg_group(node, index);
  enum net_truth there = marks & NET_DEFINITE ? NET_TRUE : NET_UNKNOWN;
  net_agg_count_present(node, group, there, 1);
  move_member(node, group, row, NET_FALSE, net_and(there, counts_of(node, row)));
  net_agg_touch(node, index);
}

static void arrive_to_stay(struct net_aggregate *node, const union net_slot *row) {
  bool same;
  uint32_t index = net_agg_stay(node, row, &same);
  if (!same) touch_at(node, index, row[0].i);
}

static bool starts_with(const struct net_batch *batch, uint32_t i, net_chronon now) {
  return i < batch->count && net_batch_row(batch, i)[0].i == now;
}

/* Rows that each count in the only group, for ever: does each change the value, and nothing else? */
static bool counts_each(const struct net_aggregate *node) {
  const struct net_aggregate_params *params = &node->params;
  return node->way == NET_AGG_STAY && node->function == NET_AGG_COUNT && params->by_count == 0 &&
         !params->unique && params->where_field < 0 && params->when_field < 0 &&
         node->more_count == 0;
}

/* ... and has the group's segment begun, so that the next one ends it, whole, and nothing else is to come? */
static bool may_count_each(const struct net_aggregate *node, const struct net_agg_group *group) {
  bool known = node->first_known && node->origin_known && node->averaging_known;
  return known && node->heap_count == 0 && node->same_start.live == 0 && group->begun &&
         group->fresh && group->id == 0 && !group->omega && group->perhaps == 0 &&
         group->sure > 0 && group->sure != group->value.i && node->touched_count == 1 &&
         node->touched_at > group->since && node->touched_at >= node->origin;
}

/* Rows of BATCH from I on, up to COUNT, that each come at a time of their own: what arrive_to_stay and the look at the
 * group before it do of each. Returns where it stopped. */
static uint32_t count_each(struct net_aggregate *node, const struct net_batch *batch, uint32_t i,
                           uint32_t count, enum base_status *status) {
  struct net_agg_group *group = net_agg_group(node, 0);
  net_chronon since = group->since, touched = node->touched_at;
  int64_t value = group->value.i, values = group->sure;
  for (; i < count && *status == BASE_OK; i++) {
    net_chronon now = net_batch_row(batch, i)[0].i;
    if (now <= touched || starts_with(batch, i + 1, now)) break;
    union net_slot *row = net_out_plain(&node->node, node->node.checkpoint, status);
    row[0].i = row[1].i = since;
    row[2].i = row[3].i = touched;
    row[node->value_slot].i = value;
    value = values++;
    since = touched;
    touched = now;
  }
  group->since = since;
  group->value.i = value;
  group->sure = values;
  node->touched_at = touched;
  return i;
}

/* --- windows */

enum { GROUP, DISTINCT }; /* words of a tuple */

/* Where tuples are taken away one by one the key is asked for. The stop says when an event was, or when a period
 * stops; a distinct argument is in the map of those. */
void net_agg_plain_init(struct net_aggregate *node) {
  unsigned kept = keeps_tally(node) && !node->has_stairs ? net_agg_kept(node) : 0;
  if (kept & NET_KEEP_START) kept ^= NET_KEEP_START | NET_KEEP_AT;
  if (node->params.in->tuple_class == NET_EVENT) kept &= ~(unsigned)NET_KEEP_AT;
  kept &= ~(unsigned)NET_KEEP_STOP;
  if (node->params.unique) kept &= ~(unsigned)NET_KEEP_VALUE;
  node->tuple_kept = kept;
  node->tuple_stride = (node->params.unique ? DISTINCT + 1 : GROUP + 1) + 2 * net_key_slots(kept);
}

static uint32_t *tuple_at(const struct net_aggregate *node, uint32_t index) {
  return node->tuples + (size_t)index * node->tuple_stride;
}

static struct net_packed_slot *key_at(const struct net_aggregate *node, uint32_t *tuple) {
  return (void *)(tuple + (node->params.unique ? DISTINCT + 1 : GROUP + 1));
}

static uint32_t new_tuple(struct net_aggregate *node, const struct net_ordered_key *key,
                          uint32_t group, uint32_t distinct) {
  uint32_t index = node->free_tuple;
  if (index != 0) {
    node->free_tuple = *tuple_at(node, --index);
  } else {
    base_grow_little(&node->tuples, &node->tuple_capacity, node->tuple_count + 1,
                     node->tuple_stride * sizeof *node->tuples);
    index = (uint32_t)node->tuple_count++;
  }
  uint32_t *tuple = tuple_at(node, index);
  tuple[GROUP] = group;
  if (node->params.unique) tuple[DISTINCT] = distinct;
  net_key_pack(node->tuple_kept, key, key_at(node, tuple));
  return index;
}

/* The key of a TUPLE that stops at STOP. */
static struct net_ordered_key key_of(const struct net_aggregate *node, uint32_t *tuple,
                                     net_chronon stop) {
  struct net_ordered_key key;
  struct net_instant last = {stop - node->longer, stop - node->longer};
  net_key_unpack(node->tuple_kept, key_at(node, tuple), &key);
  if (node->params.in->tuple_class == NET_EVENT)
    key.start = last;
  else if (node->chooses_time)
    key.stop = last;
  if (node->params.unique)
    key.value = net_agg_argument(node, net_rowmap_row(&node->distinct, tuple[DISTINCT]));
  return key;
}

static void arrive_to_go(struct net_aggregate *node, const union net_slot *row, net_chronon stop) {
  struct net_ordered_key key = net_agg_key(node, row);
  uint32_t index = group_of(node, row), distinct = NET_NO_ENTRY;
  struct net_agg_group *group = net_agg_group(node, index);
  enum net_truth counts = counts_of(node, row);
  net_agg_count_present(node, group, NET_TRUE, 1);
  net_agg_count_in(group, counts);
  if (node->params.unique && counts == NET_TRUE)
    distinct = net_rowmap_put(&node->distinct, row, NULL);
  if (counts == NET_TRUE && (distinct == NET_NO_ENTRY || count_distinct(node, distinct, true)))
    count_sure(node, group, &key, true);
  if (node->has_stairs && counts == NET_TRUE) rank(node, group, &key, stop);
  touch_at(node, index, row[0].i);
  if (stop != NET_FOREVER)
    push_stop(node, (struct net_agg_stop){stop, new_tuple(node, &key, index, distinct), counts});
}

static void stop_tuple(struct net_aggregate *node, struct net_agg_stop stop) {
  uint32_t *tuple = tuple_at(node, stop.member), index = tuple[GROUP];
  struct net_agg_group *group = net_agg_group(node, index);
  net_agg_count_present(node, group, NET_TRUE, -1);
  net_agg_count_out(group, stop.counts);
  if (stop.counts == NET_TRUE) {
    struct net_ordered_key key = key_of(node, tuple, stop.time);
    if (!node->params.unique || count_distinct(node, tuple[DISTINCT], false))
      count_sure(node, group, &key, false);
  }
  net_agg_touch(node, index);
  tuple[GROUP] = node->free_tuple;
  node->free_tuple = stop.member + 1u;
}

/* --- avgc */

static uint32_t new_weight(struct net_aggregate *node, struct net_agg_weight weight) {
  uint32_t index = node->free_weight;
  if (index != 0) {
    node->free_weight = node->weights[--index].next_free;
  } else {
    base_grow_little(&node->weights, &node->weight_capacity, node->weight_count + 1,
                     sizeof *node->weights);
    index = (uint32_t)node->weight_count++;
  }
  node->weights[index] = weight;
  return index;
}

static void arrive_to_weigh(struct net_aggregate *node, const union net_slot *row,
                            net_chronon stop) {
  uint32_t index = group_of(node, row);
  struct net_agg_group *group = net_agg_group(node, index);
  enum net_truth counts = counts_of(node, row);
  union net_slot value = {.i = 1};
  if (node->params.argument_field >= 0) value = row[node->argument_slot];
  net_agg_integrate(node, group, row[0].i);
  net_agg_count_present(node, group, NET_TRUE, 1);
  net_agg_count_in(group, counts);
  if (counts == NET_UNKNOWN) group->tainted = true;
  if (counts == NET_TRUE) net_agg_weigh(node, group, value, 1);
  touch_at(node, index, row[0].i);
  if (stop == NET_FOREVER) return;
  uint32_t weight = new_weight(node, (struct net_agg_weight){.value = value, .group = index});
  push_stop(node, (struct net_agg_stop){stop, weight, counts});
}

static void stop_weight(struct net_aggregate *node, struct net_agg_stop stop) {
  struct net_agg_weight *weight = &node->weights[stop.member];
  struct net_agg_group *group = net_agg_group(node, weight->group);
  net_agg_integrate(node, group, stop.time);
  if (stop.counts == NET_TRUE) net_agg_weigh(node, group, weight->value, -1);
  net_agg_touch(node, weight->group);
  weight->next_free = node->free_weight;
  node->free_weight = stop.member + 1;
}

void net_agg_weigh_until(struct net_aggregate *node, uint32_t group, int64_t value,
                         net_chronon stop) {
  struct net_agg_weight weight = {.value.i = value, .group = group};
  push_stop(node, (struct net_agg_stop){stop, new_weight(node, weight), NET_TRUE});
}

/* --- giving back */

/* The INDEX-th stop is of what was at the place that is returned, and is at INDEX from now on. */
static uint32_t move_stop(struct net_aggregate *node, uint32_t index) {
  if (!node->stops_heaped) {
    struct net_agg_stop *stop = &node->few_stops[node->stop_first + index];
    uint32_t before = stop->member;
    stop->member = index;
    return before;
  }
  uint32_t before = node->stops[index].member;
  node->stops[index].member = index & ((UINT32_C(1) << 30) - 1);
  return before;
}

/* What the stops are of, of SIZE bytes each, stands together in a new array, with room for as many again. */
static void *gather(struct net_aggregate *node, const void *from, size_t size,
                    size_t *ret_capacity) {
  *ret_capacity = 2 * node->stop_count + NET_AGG_FEW_STOPS;
  unsigned char *to = base_xmalloc(*ret_capacity * size);
  for (uint32_t i = 0; i < node->stop_count; i++)
    memcpy(to + i * size, (const unsigned char *)from + move_stop(node, i) * size, size);
  return to;
}

static void gather_tuples(struct net_aggregate *node) {
  uint32_t *before = node->tuples;
  node->tuples = gather(node, before, node->tuple_stride * sizeof *before, &node->tuple_capacity);
  node->tuple_count = node->stop_count;
  node->free_tuple = 0;
  free(before);
}

static void gather_weights(struct net_aggregate *node) {
  struct net_agg_weight *before = node->weights;
  node->weights = gather(node, before, sizeof *before, &node->weight_capacity);
  node->weight_count = node->stop_count;
  node->free_weight = 0;
  free(before);
}

void net_agg_stop(struct net_aggregate *node) {
  struct net_agg_stop stop = pop_stop(node);
  if (node->way == NET_AGG_MEMBER) {
    stop_member(node, stop);
  } else if (node->way == NET_AGG_TUPLE) {
    stop_tuple(node, stop);
    if (base_is_roomy(node->tuple_capacity, node->stop_count,
                      node->tuple_stride * sizeof *node->tuples))
      gather_tuples(node);
  } else {
    stop_weight(node, stop);
    if (base_is_roomy(node->weight_capacity, node->stop_count, sizeof *node->weights))
      gather_weights(node);
  }
}

/* --- batches */

static uint32_t count_before(const struct net_batch *batch, net_chronon checkpoint) {
  uint32_t count = batch->count;
  while (checkpoint != NET_FOREVER && count > 0 &&
         net_batch_row(batch, count - 1)[0].i >= checkpoint)
    count--;
  return count;
}

uint32_t net_agg_take_plain(struct net_aggregate *node, const struct net_batch *batch,
                            net_chronon checkpoint, enum base_status *status) {
  uint32_t count = count_before(batch, checkpoint);
  bool set = node->way == NET_AGG_MEMBER;
  bool held = set && !node->stands && net_rowmap_bytes(&node->members) > MEMBERS_AT_HAND;
  if (held) hold_members(node, batch, count);
  /* the row before is of the same instant */
  bool together = node->same_start.live > 0 && batch->count > 0 &&
                  net_rowmap_row(&node->same_start, 0)[0].i == net_batch_row(batch, 0)[0].i;
  bool each = counts_each(node);
  for (uint32_t i = 0; i < count && *status == BASE_OK; i++) {
    if (each && !together && may_count_each(node, net_agg_group(node, 0))) {
      i = count_each(node, batch, i, count, status);
      if (i == count || *status != BASE_OK) break;
    }
    const union net_slot *row = net_batch_row(batch, i);
    net_chronon now = row[0].i;
    bool more = !set && starts_with(batch, i + 1, now);
    net_chronon stop = stop_of(node, row);
    if ((!set && (together || more)) || stop <= now) {
      net_agg_take(node, row, NET_DEFINITE, status);
      together = more;
      continue;
    }
    net_agg_come_to(node, now, status);
    know_origin(node, row);
    if (set) {
      uint32_t index = held ? node->places[i] : hold_first(node, row, stop);
      if (index != NET_NO_ENTRY)
        arrive_member(node, row, index, stop);
      else
        net_agg_take(node, row, NET_DEFINITE, status);
    } else if (node->way == NET_AGG_WEIGH) {
      arrive_to_weigh(node, row, stop);
    } else if (node->way == NET_AGG_TUPLE) {
      arrive_to_go(node, row, stop);
    } else {
      arrive_to_stay(node, row);
    }
  }
  return count;
}
