/* Aggregate: from rows to changes at instants, and from changes to what counts.
 *
 * Every tuple makes changes at instants: it comes perhaps (start.lo), surely (start.hi), goes perhaps
 * (stop.lo), surely (stop.hi). They wait until the checkpoint passes them (wait.c). The start of an open
 * row is taken as if the tuple stayed; its close takes back what it promised too much.
 *
 * The stop of a whole row waits first: where tuples are in an order (node->apart), what comes for sure is there at the place
 * of its stop. What is open has a place that does not wait, a loose one, until a close takes it away.
 *
 * Of a set (S(t) is one over the explicit domains) a member counts as surely as the surest of its tuples.
 * Where each tuple counts there are no members, and nothing is kept of a tuple but its changes to come.
 *
 * avgc counts tuples as cumulative functions do, but their weights come and go.                      */
#include <string.h>

#include "engine/base/arena.h"
#include "engine/nodes/aggregate/aggregate.h"

static void mix(struct net_aggregate *node, struct net_agg_member *member);

/* --- rows */

/* ROW with its temporal domains as functions of absolute time. */
static const union net_slot *absolute(struct net_aggregate *node, const union net_slot *row) {
  const struct net_layout *in = node->params.in;
  if (!node->temporal) return row;
  memcpy(node->scratch_row, row, in->slot_count * sizeof *row);
  net_row_make_absolute(in, node->params.domain_fields, NULL,
                        net_network_timeline(node->node.network), node->first_start,
                        node->scratch_row);
  return node->scratch_row;
}

static struct net_agg_change change_for(struct net_aggregate *node, const union net_slot *row) {
  struct net_agg_change change = {.member = NET_NO_ENTRY, .distinct = NET_NO_ENTRY};
  bool fresh;
  change.counts = net_agg_counts(&node->params, row);
  change.group = net_rowmap_put(&node->groups, row, &fresh);
  net_agg_note_row(node, change.group, row);
  if (fresh && node->function == NET_AGG_AVGC)
    net_agg_group(node, change.group)->tally.integrated_to = NET_BEGINNING;
  change.key = net_agg_key(node, row);
  if (node->set) {
    change.member = net_rowmap_put(&node->members, absolute(node, row), NULL);
    struct net_agg_member *member = net_agg_wake(node, change.member);
    member->group = change.group;
    if (net_agg_is(member, NET_MEMBER_PLAIN)) mix(node, member);
  }
  if (node->params.unique) change.distinct = net_rowmap_put(&node->distinct, row, NULL);
  return change;
}

/* The start of the tuple of CHANGE: present perhaps from start.lo, surely from start.hi. */
static void push_start(struct net_aggregate *node, struct net_agg_change change,
                       const union net_slot *row, uint8_t marks, net_chronon sure_until) {
  bool definite = marks & NET_DEFINITE;
  bool ever_sure = definite && row[1].i < sure_until;
  change.time = row[0].i;
  change.from = NET_FALSE;
  if (ever_sure && row[0].i == row[1].i) {
    change.to = NET_TRUE;
    (void)net_agg_push(node, &change);
    return;
  }
  change.to = NET_UNKNOWN;
  (void)net_agg_push(node, &change);
  if (!ever_sure && (!definite || node->function != NET_AGG_AVGC)) return;
  change.time = row[1].i;
  change.from = NET_UNKNOWN;
  change.to = NET_TRUE;
  change.weightless = !ever_sure;
  (void)net_agg_push(node, &change);
}

/* Its stop: perhaps gone from stop.lo, surely from stop.hi. OPENED: the start was seen without the stop;
 * that it comes for sure is then taken back where it may be gone before. Returns where it waits. */
static uint32_t push_stop(struct net_aggregate *node, struct net_agg_change change,
                          const union net_slot *row, uint8_t marks, struct net_instant stop,
                          bool opened) {
  bool definite = marks & NET_DEFINITE;
  bool was_sure = definite && row[1].i < stop.lo;
  if (opened && definite && !was_sure) {
    change.time = row[1].i;
    change.from = NET_TRUE;
    change.to = NET_UNKNOWN;
    (void)net_agg_push(node, &change);
  }
  change.from = was_sure ? NET_TRUE : NET_UNKNOWN;
  change.goes_then = was_sure && stop.lo != stop.hi;
  change.time = change.goes_then ? stop.lo : stop.hi;
  change.to = change.goes_then ? NET_UNKNOWN : NET_FALSE;
  change.then = stop.hi;
  return net_agg_push(node, &change);
}

void net_agg_begin(struct net_aggregate *node, net_chronon origin) {
  node->origin_known = true;
  node->origin = origin;
  const struct net_agg_change change = {
      .time = origin, .group = NET_NO_ENTRY, .member = NET_NO_ENTRY, .distinct = NET_NO_ENTRY};
  (void)net_agg_push(node, &change);
}

void net_agg_know_origin(struct net_aggregate *node, const union net_slot *row) {
  if (!node->first_known) {
    node->first_known = true;
    node->first_start = row[0].i;
  }
  if (!node->origin_known && row[0].i != NET_BEGINNING) net_agg_begin(node, row[0].i);
  if (!node->origin_known && row[1].i < node->latest_origin) node->latest_origin = row[1].i;
  if (!node->averaging_known && net_agg_counts(&node->params, row) != NET_FALSE) {
    node->averaging_known = true;
    node->averaging_origin = row[0].i;
  }
}

static struct net_instant longer(const struct net_aggregate *node, const union net_slot *row,
                                 uint32_t slot) {
  return (struct net_instant){net_chronon_add(row[slot].i, node->longer),
                              net_chronon_add(row[slot + 1].i, node->longer)};
}

enum base_status net_agg_arrive(struct net_aggregate *node, const union net_slot *row,
                                uint8_t marks) {
  bool period = node->params.in->tuple_class == NET_PERIOD;
  bool open = period && row[2].i == NET_OPEN;
  if (marks & NET_CLOSES) {
    if (node->goes && !open)
      (void)push_stop(node, change_for(node, row), row, marks, longer(node, row, 2), true);
    return BASE_OK;
  }
  net_agg_know_origin(node, row);
  struct net_instant stop = {NET_FOREVER, NET_FOREVER};
  if (node->goes && !open) stop = longer(node, row, period ? 2 : 0);
  struct net_agg_change change = change_for(node, row);
  if (stop.lo != NET_FOREVER || stop.hi != NET_FOREVER)
    change.place = push_stop(node, change, row, marks, stop, false);
  push_start(node, change, row, marks, stop.lo);
  return BASE_OK;
}

/* --- applying changes */

static void move(struct net_agg_group *group, enum net_truth from, enum net_truth to) {
  net_agg_count_out(group, from);
  net_agg_count_in(group, to);
}

static void move_present(const struct net_aggregate *node, struct net_agg_group *group,
                         const struct net_agg_change *change) {
  net_agg_count_present(node, group, change->from, -1);
  net_agg_count_present(node, group, change->to, 1);
}

static void move_tuple(struct net_agg_member *member, enum net_truth from, enum net_truth to) {
  if (from == NET_TRUE) member->sure--;
  if (from == NET_UNKNOWN) member->perhaps--;
  if (to == NET_TRUE) member->sure = net_agg_one_more(member->sure);
  if (to == NET_UNKNOWN) member->perhaps = net_agg_one_more(member->perhaps);
}

/* Something counts for sure that did not, or the reverse: of distinct arguments the first, or the last. */
static void count_sure(struct net_aggregate *node, struct net_agg_group *group,
                       const struct net_agg_change *change, const struct net_ordered_key *key,
                       bool comes) {
  if (change->distinct != NET_NO_ENTRY) {
    struct net_agg_distinct *distinct = net_rowmap_state(&node->distinct, change->distinct);
    uint32_t others = comes ? distinct->sure : distinct->sure - 1;
    distinct->sure = comes ? net_agg_one_more(others) : others;
    if (others > 0) return;
  }
  if (comes) {
    net_agg_count_values(node, group, 1);
    net_agg_add(node, group, key);
  } else {
    net_agg_count_values(node, group, -1);
    net_agg_remove(node, group, key);
  }
}

static void count(struct net_aggregate *node, struct net_agg_group *group,
                  const struct net_agg_change *change, enum net_truth from, enum net_truth to) {
  move(group, from, to);
  if ((from == NET_TRUE) != (to == NET_TRUE))
    count_sure(node, group, change, &change->key, to == NET_TRUE);
}

/* --- places of tuples in an order */

uint32_t net_agg_make_loose(struct net_aggregate *node, uint32_t member,
                            const struct net_ordered_key *key) {
  return net_ordered_make(&node->apart, key, net_agg_owner(member, NET_FALSE, false));
}

/* Of what counts for sure now. */
static uint32_t place_to_come(struct net_aggregate *node, const struct net_agg_change *change) {
  return change->place != 0 ? change->place
                            : net_agg_make_loose(node, change->member, &change->key);
}

/* Of what does so no longer, and is in the set at ROOT: where it waited, or a loose one. */
static uint32_t place_to_go(const struct net_aggregate *node, const struct net_agg_change *change,
                            uint32_t root) {
  if (net_ordered_is_linked(&node->apart, change->place)) return change->place;
  return net_ordered_find_of(&node->apart, root, &change->key,
                             net_agg_owner(change->member, NET_FALSE, false));
}

/* PLACE is in no set any more. What waited passes. */
static void let_go(struct net_aggregate *node, const struct net_agg_change *change,
                   uint32_t place) {
  if (place != change->place) net_ordered_free(&node->apart, place);
}

/* --- tuples that stand for others */

/* Of a member's tuples that count for sure the first stands for all. Mostly it is the only one. Where the group's
 * ordered set has tuples as they are, it is there, and the member has but its place, and the set of the others; else the
 * member has a set of all of them. */

static void let_stand(struct net_aggregate *node, struct net_agg_group *group,
                      struct net_agg_member *member, uint32_t place) {
  net_agg_link(node, group, place);
  member->standing = place;
}

uint32_t net_agg_take_first(struct net_aggregate *node, struct net_agg_member *member) {
  uint32_t first = net_ordered_first(&node->apart, member->others);
  (void)net_ordered_unlink(&node->apart, &member->others, first);
  return first;
}

void net_agg_let_next_stand(struct net_aggregate *node, struct net_agg_group *group,
                            struct net_agg_member *member) {
  let_stand(node, group, member, net_agg_take_first(node, member));
}

uint32_t net_agg_forget_copy(struct net_aggregate *node, const struct net_agg_group *group,
                             struct net_agg_member *member) {
  uint32_t copy = net_agg_take_first(node, member);
  uint32_t owner = *net_ordered_extra(&node->apart, copy);
  struct net_ordered_key key;
  net_ordered_get(&node->apart, copy, &key);
  net_ordered_free(&node->apart, copy);
  return net_ordered_find_of(&node->apart, group->tally.ordered, &key, owner);
}

/* Something comes to MEMBER the long way: it is PLAIN no more. */
static void mix(struct net_aggregate *node, struct net_agg_member *member) {
  const struct net_agg_group *group = net_agg_group(node, member->group);
  net_agg_set(member, NET_MEMBER_PLAIN, false);
  member->perhaps = member->standing = 0;
  if (member->sure == 0 || net_agg_is(member, NET_MEMBER_IN_STAIRS)) return;
  member->standing = net_agg_forget_copy(node, group, member);
}

/* One comes to MEMBER, where another one has stood if it HAD one. */
static void add_in_group(struct net_aggregate *node, struct net_agg_group *group,
                         const struct net_agg_change *change, bool had) {
  struct net_agg_member *member = net_rowmap_state(&node->members, change->member);
  uint32_t place = place_to_come(node, change), old = member->standing;
  struct net_ordered_key key;
  if (had) net_ordered_get(&node->apart, old, &key);
  if (had && net_agg_compare(node, &change->key, &key) >= 0) {
    (void)net_ordered_link(&node->apart, &member->others, place);
    return;
  }
  if (had) {
    net_agg_unlink(node, group, old);
    (void)net_ordered_link(&node->apart, &member->others, old);
  }
  let_stand(node, group, member, place);
}

/* One goes, and leaves others if there are any LEFT. */
static void remove_in_group(struct net_aggregate *node, struct net_agg_group *group,
                            const struct net_agg_change *change, bool left) {
  struct net_agg_member *member = net_rowmap_state(&node->members, change->member);
  uint32_t place = place_to_go(node, change, member->others);
  if (place != 0 && place != member->standing) {
    (void)net_ordered_unlink(&node->apart, &member->others, place);
    let_go(node, change, place);
    return;
  }
  place = member->standing;
  net_agg_unlink(node, group, place);
  let_go(node, change, place);
  if (left) net_agg_let_next_stand(node, group, member);
}

/* The same where the member has a set of all of them, of which the first stands. */
static void add_in_member(struct net_aggregate *node, struct net_agg_group *group,
                          const struct net_agg_change *change) {
  struct net_agg_member *member = net_rowmap_state(&node->members, change->member);
  uint32_t place = place_to_come(node, change);
  uint32_t old = net_ordered_first(&node->apart, member->others);
  (void)net_ordered_link(&node->apart, &member->others, place);
  if (net_ordered_first(&node->apart, member->others) != place) return;
  struct net_ordered_key key;
  if (old != 0) net_ordered_get(&node->apart, old, &key);
  if (old != 0) net_agg_remove(node, group, &key);
  net_agg_add(node, group, &change->key);
}

static void remove_in_member(struct net_aggregate *node, struct net_agg_group *group,
                             const struct net_agg_change *change) {
  struct net_agg_member *member = net_rowmap_state(&node->members, change->member);
  uint32_t place = place_to_go(node, change, member->others);
  bool stood = place == net_ordered_first(&node->apart, member->others);
  (void)net_ordered_unlink(&node->apart, &member->others, place);
  let_go(node, change, place);
  if (!stood) return;
  net_agg_remove(node, group, &change->key);
  uint32_t first = net_ordered_first(&node->apart, member->others);
  if (first == 0) return;
  struct net_ordered_key next;
  net_ordered_get(&node->apart, first, &next);
  net_agg_add(node, group, &next);
}

/* Which one stands may change. The member has been counted with the tuple as it is now. Where one
 * that came the short way stands it started first: after something that came this way nothing goes that way. */
static void count_standing(struct net_aggregate *node, struct net_agg_group *group,
                           const struct net_agg_change *change, enum net_truth from,
                           enum net_truth to) {
  struct net_agg_member *member = net_rowmap_state(&node->members, change->member);
  bool comes = to == NET_TRUE && from != NET_TRUE, goes = from == NET_TRUE && to != NET_TRUE;
  if (!comes && !goes) return;
  if (node->chooses_time) net_agg_floor_count(node, change->key.start.lo, comes);
  if (net_agg_is(member, NET_MEMBER_IN_STAIRS)) {
    uint32_t place =
        comes ? place_to_come(node, change) : place_to_go(node, change, member->others);
    if (comes) {
      (void)net_ordered_link(&node->apart, &member->others, place);
    } else {
      (void)net_ordered_unlink(&node->apart, &member->others, place);
      let_go(node, change, place);
    }
  } else if (node->stands_in_group) {
    if (comes)
      add_in_group(node, group, change, member->sure > 1);
    else
      remove_in_group(node, group, change, member->sure > 0);
  } else if (comes) {
    add_in_member(node, group, change);
  } else {
    remove_in_member(node, group, change);
  }
}

/* The same for functions that look for the best: plain tuples of a member are not in the ordered set
 * (staircase.c), so it is put there when one comes the long way, and stays as long as it counts. */
static void count_ranked(struct net_aggregate *node, struct net_agg_group *group,
                         struct net_agg_member *member, const struct net_agg_change *change,
                         enum net_truth from, enum net_truth to) {
  bool counts = to == NET_TRUE;
  move(group, from, to);
  if (counts == net_agg_is(member, NET_MEMBER_RANKED)) return;
  net_agg_set(member, NET_MEMBER_RANKED, counts);
  if (counts) {
    net_agg_add(node, group, &change->key);
  } else {
    net_agg_remove(node, group, &change->key);
  }
}

/* The same for first: the first of a member is as good as any other one of its tuples, which each count. */
static void count_tuple(struct net_aggregate *node, struct net_agg_group *group,
                        const struct net_agg_member *member, const struct net_agg_change *change,
                        enum net_truth old, enum net_truth from, enum net_truth to) {
  enum net_truth now = net_agg_surest(member);
  move(group, old, now);
  if ((from == NET_TRUE) == (to == NET_TRUE)) return;
  if (to == NET_TRUE) {
    net_agg_link(node, group, place_to_come(node, change));
  } else {
    uint32_t place = place_to_go(node, change, group->tally.ordered);
    net_agg_unlink(node, group, place);
    let_go(node, change, place);
  }
}

static void apply_member(struct net_aggregate *node, struct net_agg_group *group,
                         const struct net_agg_change *change) {
  struct net_agg_member *member = net_rowmap_state(&node->members, change->member);
  enum net_truth from = net_and(change->from, change->counts);
  enum net_truth to = net_and(change->to, change->counts), old = net_agg_surest(member);
  move_tuple(member, from, to);
  if (node->stands) {
    count_standing(node, group, change, from, to);
    move(group, old, net_agg_surest(member));
  } else if (node->counts_tuples) {
    count_tuple(node, group, member, change, old, from, to);
  } else if (node->has_stairs) {
    count_ranked(node, group, member, change, old, net_agg_surest(member));
  } else {
    count(node, group, change, old, net_agg_surest(member));
  }
  bool counts = net_agg_surest(member) == NET_TRUE;
  if (node->more_count > 0 && (old == NET_TRUE) != counts)
    net_agg_count_more(node, group, net_rowmap_row(&node->members, change->member), counts);
  if (change->goes_then) return; /* it waits on */
  if (net_agg_release(member) && net_agg_surest(member) == NET_FALSE)
    net_rowmap_remove(&node->members, change->member);
}

static void apply_average(struct net_aggregate *node, struct net_agg_group *group,
                          const struct net_agg_change *change) {
  enum net_truth from = net_and(change->from, change->counts);
  enum net_truth to = net_and(change->to, change->counts);
  net_agg_integrate(node, group, change->time);
  if (to == NET_UNKNOWN) group->tainted = true;
  if (!change->weightless && (from == NET_TRUE) != (to == NET_TRUE))
    net_agg_weigh(node, group, change->key.value, to == NET_TRUE ? 1 : -1);
  if (change->to < change->from) return;
  move_present(node, group, change);
  move(group, from, to);
}

static void release_distinct(struct net_aggregate *node, uint32_t index) {
  struct net_agg_distinct *distinct = net_rowmap_state(&node->distinct, index);
  if (--distinct->references == 0 && distinct->sure == 0) net_rowmap_remove(&node->distinct, index);
}

void net_agg_apply(struct net_aggregate *node, const struct net_agg_change *change) {
  if (change->group == NET_NO_ENTRY) {
    for (uint32_t i = 0; i < node->groups.used; i++)
      if (net_rowmap_live(&node->groups, i)) net_agg_touch(node, i);
    return;
  }
  struct net_agg_group *group = net_agg_group(node, change->group);
  if (node->function == NET_AGG_AVGC) {
    apply_average(node, group, change);
  } else {
    move_present(node, group, change);
    if (node->set) {
      apply_member(node, group, change);
    } else {
      count(node, group, change, net_and(change->from, change->counts),
            net_and(change->to, change->counts));
    }
  }
  if (!change->goes_then) {
    if (change->distinct != NET_NO_ENTRY) release_distinct(node, change->distinct);
    group->references--;
  }
  net_agg_touch(node, change->group);
}
