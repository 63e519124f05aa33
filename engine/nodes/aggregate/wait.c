/* Aggregate: changes that wait for their instant, in a heap.
 *
 * A tuple that comes the long way may wait long for its stop, so what waits is packed: its times, whose it is, and
 * of its key what the function asks for, unless that can be had of its member. A tuple whose stop is uncertain
 * waits for both ends of it with one entry: when the first has come, it waits for the second.
 *
 * The heap itself has but the time of a change, where the rest is, and which of the changes of a tuple it is:
 *
 *     owner | distinct, of distinct arguments | then | key
 *
 * The owner is a member, or a group, with how surely it counts, and one bit of what the turn does not say. Where tuples are
 * in an order of their own (node->apart) the rest is at the tuple's place there, which has its key: while it
 * counts for sure, it waits for its stop and is in the order with one record. Of what comes for sure, THEN is the place
 * of what waits for the stop, if that is known.
 *
 * Both ends of a stop are mostly close together: the second is kept as a span of four bytes, or, if it is further away,
 * among the late ones (node->late), and THEN says which.
 *
 * Changes of one instant come in the order that a tuple has them in: it comes, is there for sure, is so no longer,
 * and goes. To those of different tuples their order does not matter.                               */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/binary_heap.h"
#include "engine/nodes/aggregate/aggregate.h"

enum { OWNER, DISTINCT }; /* words of the rest */
enum { FEW = 64 };        /* that wait */

/* Which of the changes of a tuple; of those at one instant the later ones have the larger. */
enum turn { COMES, SURE, UNSURE, GOES };

void net_agg_wait_init(struct net_aggregate *node) {
  node->wait_kept = node->timeless ? 0 : net_agg_kept(node);
  if (net_agg_member_has_value(node)) node->wait_kept &= ~(unsigned)NET_KEEP_VALUE;
  node->wait_then = node->params.unique ? DISTINCT + 1 : DISTINCT;
  node->wait_key = node->wait_then + 1;
  node->wait_stride = node->wait_key + 2 * net_key_slots(node->wait_kept);
}

void net_agg_wait_done(struct net_aggregate *node) {
  free(node->heap);
  free(node->waiting);
  free(node->late);
}

size_t net_agg_wait_bytes(const struct net_aggregate *node) {
  return node->heap_capacity * sizeof *node->heap +
         node->waiting_capacity * node->wait_stride * sizeof *node->waiting +
         node->late_capacity * sizeof *node->late;
}

static uint32_t *rest_at(const struct net_aggregate *node, uint32_t index) {
  if (node->is_apart) return net_ordered_extra(&node->apart, index);
  return node->waiting + (size_t)index * node->wait_stride;
}

static enum turn turn_of(const struct net_agg_change *change) {
  if (change->from == NET_FALSE) return COMES;
  if (change->to == NET_FALSE) return GOES;
  return change->from == NET_UNKNOWN ? SURE : UNSURE;
}

static inline bool is_before(const struct net_agg_waiting *a, const struct net_agg_waiting *b,
                             const void *context) {
  (void)context;
  return a->time != b->time ? a->time < b->time : a->turn < b->turn;
}
BASE_BINARY_HEAP(waiting, struct net_agg_waiting, is_before);

/* --- the rest of a change */

/* What the turn leaves open. */
static bool detail_of(const struct net_agg_change *change) {
  switch (turn_of(change)) {
    case COMES:
      return change->to == NET_TRUE;
    case SURE:
      return change->weightless;
    case UNSURE:
      return change->goes_then;
    case GOES:
      break;
  }
  return change->from == NET_TRUE;
}

static uint32_t owner_of(const struct net_aggregate *node, const struct net_agg_change *change) {
  uint32_t whose = node->set ? change->member : change->group;
  if (whose == NET_NO_ENTRY) return net_agg_owner(NET_AGG_NOBODY, NET_FALSE, false);
  BASE_CHECK(whose < NET_AGG_NOBODY, "aggregate-waiting");
  return net_agg_owner(whose, change->counts, detail_of(change));
}

static void unpack_truths(struct net_agg_change *change, enum turn turn, uint32_t owner) {
  bool detail = net_agg_owner_detail(owner);
  change->counts = net_agg_owner_counts(owner);
  change->from = turn == COMES ? NET_FALSE : turn == UNSURE ? NET_TRUE : NET_UNKNOWN;
  change->to = turn == GOES ? NET_FALSE : turn == SURE ? NET_TRUE : NET_UNKNOWN;
  if (turn == COMES && detail) change->to = NET_TRUE;
  if (turn == GOES && detail) change->from = NET_TRUE;
  change->weightless = turn == SURE && detail;
  change->goes_then = turn == UNSURE && detail;
}

static uint32_t new_rest(struct net_aggregate *node) {
  uint32_t index = node->waiting_free;
  if (index != 0) {
    node->waiting_free = *rest_at(node, --index);
    return index;
  }
  base_grow_little(&node->waiting, &node->waiting_capacity, node->waiting_count + 1,
                   node->wait_stride * sizeof *node->waiting);
  return (uint32_t)node->waiting_count++;
}

static void free_rest(struct net_aggregate *node, uint32_t index) {
  if (node->is_apart) {
    net_ordered_free(&node->apart, index);
    return;
  }
  *rest_at(node, index) = node->waiting_free;
  node->waiting_free = index + 1u;
}

/* --- what follows it */

#define LATE (UINT32_C(1) << 31) /* of THEN: it says which of the late ones; else it is a span */

static uint32_t pack_late(struct net_aggregate *node, net_chronon then) {
  uint32_t index = node->late_free;
  if (index != 0) {
    node->late_free = (uint32_t)node->late[--index];
  } else {
    BASE_CHECK(node->late_count < LATE, "aggregate-late");
    base_grow_little(&node->late, &node->late_capacity, node->late_count + 1, sizeof *node->late);
    index = (uint32_t)node->late_count++;
  }
  node->late[index] = then;
  node->late_live++;
  return index | LATE;
}

static uint32_t pack_then(struct net_aggregate *node, const struct net_agg_change *change) {
  if (!change->goes_then) return change->place;
  uint64_t span = (uint64_t)change->then - (uint64_t)change->time;
  return span < LATE ? (uint32_t)span : pack_late(node, change->then);
}

static net_chronon unpack_then(const struct net_aggregate *node, net_chronon time, uint32_t then) {
  return then & LATE ? node->late[then & ~LATE] : time + (net_chronon)then;
}

static void free_then(struct net_aggregate *node, uint32_t then) {
  if (!(then & LATE)) return;
  node->late_live--;
  node->late[then & ~LATE] = node->late_free;
  node->late_free = (then & ~LATE) + 1;
}

/* --- all of it */

static uint32_t pack(struct net_aggregate *node, const struct net_agg_change *change) {
  uint32_t owner = owner_of(node, change);
  if (node->is_apart) {
    uint32_t place = net_ordered_make(&node->apart, &change->key, owner);
    rest_at(node, place)[node->wait_then] = pack_then(node, change);
    return place;
  }
  uint32_t index = new_rest(node), *to = rest_at(node, index);
  to[OWNER] = owner;
  if (node->params.unique) to[DISTINCT] = change->distinct;
  to[node->wait_then] = pack_then(node, change);
  net_key_pack(node->wait_kept, &change->key, (void *)(to + node->wait_key));
  return index;
}

static struct net_ordered_key key_of(const struct net_aggregate *node,
                                     const struct net_agg_change *change, const uint32_t *from) {
  const union net_slot *member = node->set ? net_rowmap_row(&node->members, change->member) : NULL;
  if (node->timeless) return net_agg_key(node, member);
  struct net_ordered_key key;
  net_key_unpack(node->wait_kept, (const void *)(from + node->wait_key), &key);
  if (net_agg_member_has_value(node)) key.value = net_agg_argument(node, member);
  return key;
}

static void unpack(const struct net_aggregate *node, const struct net_agg_waiting *waiting,
                   struct net_agg_change *ret) {
  const uint32_t *from = rest_at(node, waiting->rest);
  *ret = (struct net_agg_change){.time = waiting->time,
                                 .group = NET_NO_ENTRY,
                                 .member = NET_NO_ENTRY,
                                 .distinct = NET_NO_ENTRY,
                                 .rest = waiting->rest};
  unpack_truths(ret, (enum turn)waiting->turn, from[OWNER]);
  uint32_t whose = net_agg_owner_whose(from[OWNER]);
  if (whose == NET_AGG_NOBODY) return;
  uint32_t then = from[node->wait_then];
  if (ret->goes_then) ret->then = unpack_then(node, ret->time, then);
  ret->group = whose;
  if (node->set) {
    ret->member = whose;
    ret->group =
        ((const struct net_agg_member *)net_rowmap_state(&node->members, ret->member))->group;
  }
  if (node->params.unique) ret->distinct = from[DISTINCT];
  if (node->is_apart) {
    ret->place = ret->to == NET_TRUE ? then : waiting->rest;
    net_ordered_get(&node->apart, waiting->rest, &ret->key);
  } else {
    ret->key = key_of(node, ret, from);
  }
}

/* --- the heap */

static void put(struct net_aggregate *node, struct net_agg_waiting new) {
  base_grow_little(&node->heap, &node->heap_capacity, node->heap_count + 1, sizeof *node->heap);
  waiting_up(node->heap, node->heap_count++, new, NULL);
}

static void hold(uint32_t *references) {
  *references = net_agg_one_more(*references);
}

uint32_t net_agg_push(struct net_aggregate *node, const struct net_agg_change *change) {
  uint32_t rest = pack(node, change);
  BASE_CHECK(rest < UINT32_C(1) << 30, "aggregate-waiting");
  put(node, (struct net_agg_waiting){change->time, rest & ((UINT32_C(1) << 30) - 1),
                                     turn_of(change) & 3u});
  if (change->group == NET_NO_ENTRY) return rest;
  net_agg_floor_add(node, change->key.start.lo);
  hold(&net_agg_group(node, change->group)->references);
  if (change->distinct != NET_NO_ENTRY)
    hold(&((struct net_agg_distinct *)net_rowmap_state(&node->distinct, change->distinct))
              ->references);
  if (change->member != NET_NO_ENTRY)
    net_agg_hold(net_rowmap_state(&node->members, change->member));
  return rest;
}

static struct net_agg_waiting take_first(struct net_aggregate *node) {
  struct net_agg_waiting *heap = node->heap, top = heap[0];
  size_t count = --node->heap_count;
  waiting_down(heap, count, 0, heap[count], NULL);
  base_shrink(&node->heap, &node->heap_capacity, count, sizeof *heap);
  return top;
}

void net_agg_pop(struct net_aggregate *node, struct net_agg_change *ret) {
  struct net_agg_waiting first = take_first(node);
  unpack(node, &first, ret);
}

/* The rest of all that wait stands together in a new array, with room for as many again. */
static void gather_rest(struct net_aggregate *node) {
  uint32_t *before = node->waiting;
  size_t size = node->wait_stride * sizeof *before;
  node->waiting_capacity = 2 * node->heap_count + FEW;
  node->waiting = base_xmalloc(node->waiting_capacity * size);
  for (uint32_t i = 0; i < node->heap_count; i++) {
    struct net_agg_waiting *waiting = &node->heap[i];
    memcpy(node->waiting + (size_t)i * node->wait_stride,
           before + (size_t)waiting->rest * node->wait_stride, size);
    waiting->rest = i & ((UINT32_C(1) << 30) - 1);
  }
  node->waiting_count = node->heap_count;
  node->waiting_free = 0;
  free(before);
}

/* The same of the late ones. */
static void gather_late(struct net_aggregate *node) {
  net_chronon *before = node->late;
  node->late_capacity = 2 * node->late_live + FEW;
  node->late = base_xmalloc(node->late_capacity * sizeof *before);
  node->late_count = node->late_free = 0;
  for (size_t i = 0; i < node->heap_count; i++) {
    uint32_t *rest = rest_at(node, node->heap[i].rest), *then = &rest[node->wait_then];
    bool follows = node->heap[i].turn == UNSURE && net_agg_owner_detail(rest[OWNER]);
    if (!follows || !(*then & LATE)) continue;
    node->late[node->late_count] = before[*then & ~LATE];
    *then = (uint32_t)node->late_count++ | LATE;
  }
  free(before);
}

/* All that were taken from the heap have passed. */
static void give_back(struct net_aggregate *node) {
  if (base_is_roomy(node->waiting_capacity, node->heap_count,
                    node->wait_stride * sizeof *node->waiting))
    gather_rest(node);
  if (base_is_roomy(node->late_capacity, node->late_live, sizeof *node->late)) gather_late(node);
}

void net_agg_pass(struct net_aggregate *node, const struct net_agg_change *change) {
  if (!change->goes_then) {
    if (change->group != NET_NO_ENTRY) net_agg_floor_remove(node, change->key.start.lo);
    free_rest(node, change->rest);
    give_back(node);
    return;
  }
  struct net_agg_change next = *change;
  next.goes_then = false;
  next.from = change->to;
  next.to = NET_FALSE;
  uint32_t *rest = rest_at(node, change->rest);
  free_then(node, rest[node->wait_then]);
  rest[OWNER] = owner_of(node, &next);
  put(node, (struct net_agg_waiting){change->then, change->rest & ((UINT32_C(1) << 30) - 1), GOES});
}

void net_agg_wait_mark_strings(const struct net_aggregate *node, struct base_strings *strings) {
  if (node->is_apart || !(node->wait_kept & NET_KEEP_VALUE)) return;
  for (size_t i = 0; i < node->heap_count; i++) {
    struct net_agg_change change;
    unpack(node, &node->heap[i], &change);
    if (change.group != NET_NO_ENTRY) base_strings_mark(strings, change.key.value.s);
  }
}
