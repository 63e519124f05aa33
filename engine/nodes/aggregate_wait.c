/* Aggregate: changes that wait for their instant, in a heap.
 *
 * A tuple that comes the long way may wait long for its stop, so what waits is packed: its times, where it
 * belongs, and of its key what the function asks for, unless that can be had of its member. A tuple whose stop
 * is uncertain waits for both ends of it with one entry: when the first has come, it waits for the second.
 *
 * The heap itself has but the time of a change, its place in the order of pushing, and where the rest is:
 *
 *     then | group, member | distinct, truths | key
 *
 * Changes of one instant come in the order in which they were pushed; after 2^31 others that holds no longer
 * for those of different tuples, to which it does not matter.                                       */
#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/nodes/aggregate.h"

enum { THEN, PLACE, KEY = 3 }; /* slots of the rest */

struct place {
  uint32_t group, member, distinct;
  uint8_t from, to, counts;
  bool weightless : 1, goes_then : 1;
};
_Static_assert(sizeof(struct place) == (KEY - PLACE) * sizeof(union net_slot), "packed");

void net_agg_wait_init(struct net_aggregate *node) {
  node->wait_kept = node->timeless ? 0 : net_agg_kept(node);
  node->wait_stride = KEY + net_key_slots(node->wait_kept);
}

void net_agg_wait_done(struct net_aggregate *node) {
  free(node->heap);
  free(node->waiting);
}

size_t net_agg_wait_bytes(const struct net_aggregate *node) {
  return node->heap_capacity * sizeof *node->heap +
         node->waiting_capacity * node->wait_stride * sizeof *node->waiting;
}

static union net_slot *rest_at(const struct net_aggregate *node, uint32_t index) {
  return node->waiting + (size_t)index * node->wait_stride;
}

static inline bool before(const struct net_agg_waiting *a, const struct net_agg_waiting *b) {
  return a->time != b->time ? a->time < b->time : (int32_t)(a->sequence - b->sequence) < 0;
}

/* --- the rest of a change */

static uint32_t pack(struct net_aggregate *node, const struct net_agg_change *change) {
  uint32_t index = node->waiting_free;
  if (index != 0) {
    node->waiting_free = (uint32_t)rest_at(node, --index)->i;
  } else {
    BASE_CHECK(node->waiting_count < UINT32_MAX, "aggregate-waiting");
    base_grow_little(&node->waiting, &node->waiting_capacity, node->waiting_count + 1,
                     node->wait_stride * sizeof *node->waiting);
    index = (uint32_t)node->waiting_count++;
  }
  union net_slot *to = rest_at(node, index);
  to[THEN].i = change->then;
  struct place *place = (void *)(to + PLACE);
  place->group = change->group;
  place->member = change->member;
  place->distinct = change->distinct;
  place->from = (uint8_t)change->from;
  place->to = (uint8_t)change->to;
  place->counts = (uint8_t)change->counts;
  place->weightless = change->weightless;
  place->goes_then = change->goes_then;
  net_key_pack(node->wait_kept, &change->key, to + KEY);
  return index;
}

static void unpack(const struct net_aggregate *node, const struct net_agg_waiting *waiting,
                   struct net_agg_change *ret) {
  const union net_slot *from = rest_at(node, waiting->rest);
  const struct place *place = (const void *)(from + PLACE);
  ret->time = waiting->time;
  ret->then = from[THEN].i;
  ret->group = place->group;
  ret->member = place->member;
  ret->distinct = place->distinct;
  ret->from = (enum net_truth)place->from;
  ret->to = (enum net_truth)place->to;
  ret->counts = (enum net_truth)place->counts;
  ret->weightless = place->weightless;
  ret->goes_then = place->goes_then;
  if (ret->group == NET_NO_ENTRY) return;
  if (node->timeless)
    ret->key = net_agg_key(node, net_rowmap_row(&node->members, ret->member));
  else
    net_key_unpack(node->wait_kept, from + KEY, &ret->key);
}

/* --- the heap */

static void hold(uint32_t *references) {
  *references = net_agg_one_more(*references);
}

void net_agg_push(struct net_aggregate *node, const struct net_agg_change *change) {
  struct net_agg_waiting new = {change->time, node->sequence++, pack(node, change)};
  base_grow_little(&node->heap, &node->heap_capacity, node->heap_count + 1, sizeof *node->heap);
  struct net_agg_waiting *heap = node->heap;
  size_t i = node->heap_count++;
  for (; i > 0 && before(&new, &heap[(i - 1) / 2]); i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
  heap[i] = new;
  if (change->group == NET_NO_ENTRY) return;
  net_agg_floor_add(node, change->key.start.lo);
  net_agg_group(node, change->group)->references++;
  if (change->distinct != NET_NO_ENTRY)
    hold(&((struct net_agg_distinct *)net_rowmap_state(&node->distinct, change->distinct))
              ->references);
  if (change->member != NET_NO_ENTRY)
    hold(&((struct net_agg_member *)net_rowmap_state(&node->members, change->member))->references);
}

static struct net_agg_waiting take_first(struct net_aggregate *node) {
  struct net_agg_waiting *heap = node->heap, top = heap[0], last = heap[--node->heap_count];
  size_t i = 0, count = node->heap_count;
  for (size_t child = 1; child < count; child = 2 * i + 1) {
    if (child + 1 < count && before(&heap[child + 1], &heap[child])) child++;
    if (!before(&heap[child], &last)) break;
    heap[i] = heap[child];
    i = child;
  }
  heap[i] = last;
  return top;
}

void net_agg_pop(struct net_aggregate *node, struct net_agg_change *ret) {
  struct net_agg_waiting first = take_first(node);
  unpack(node, &first, ret);
  rest_at(node, first.rest)->i = node->waiting_free;
  node->waiting_free = first.rest + 1;
  if (ret->group != NET_NO_ENTRY) net_agg_floor_remove(node, ret->key.start.lo);
  if (!ret->goes_then) return;
  struct net_agg_change next = *ret;
  next.goes_then = false;
  next.time = ret->then;
  next.from = ret->to;
  next.to = NET_FALSE;
  net_agg_push(node, &next);
}

void net_agg_wait_mark_strings(const struct net_aggregate *node, struct base_strings *strings) {
  if (!(node->wait_kept & NET_KEEP_VALUE)) return;
  for (size_t i = 0; i < node->heap_count; i++) {
    struct net_agg_change change;
    unpack(node, &node->heap[i], &change);
    if (change.group != NET_NO_ENTRY) base_strings_mark(strings, change.key.value.s);
  }
}
