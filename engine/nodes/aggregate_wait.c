/* Aggregate: changes that wait for their instant, in a heap.
 *
 * A tuple that comes the long way may wait long for its stop, so what waits is packed: its times, whose it is, and
 * of its key what the function asks for, unless that can be had of its member. A tuple whose stop is uncertain
 * waits for both ends of it with one entry: when the first has come, it waits for the second.
 *
 * The heap itself has but the time of a change, where the rest is, and which of the changes of a tuple it is:
 *
 *     truths | member, or group | distinct, of distinct arguments | then | key
 *
 * Changes of one instant come in the order that a tuple has them in: it comes, is there for sure, is so no longer,
 * and goes. To those of different tuples their order does not matter.                               */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/nodes/aggregate.h"

enum { TRUTHS, WHOSE, DISTINCT }; /* words of the rest */

struct truths {
  uint32_t from : 2, to : 2, counts : 2;
  uint32_t weightless : 1, goes_then : 1;
};
_Static_assert(sizeof(struct truths) == sizeof(uint32_t), "packed");

/* Equal tuples have their argument in common, unless it is computed. */
static bool member_has_value(const struct net_aggregate *node) {
  return node->set && !node->temporal && node->shares_argument;
}

void net_agg_wait_init(struct net_aggregate *node) {
  node->wait_kept = node->timeless ? 0 : net_agg_kept(node);
  if (member_has_value(node)) node->wait_kept &= ~(unsigned)NET_KEEP_VALUE;
  node->wait_then = node->params.unique ? DISTINCT + 1 : DISTINCT;
  node->wait_key = node->wait_then + 2;
  node->wait_stride = node->wait_key + 2 * net_key_slots(node->wait_kept);
}

void net_agg_wait_done(struct net_aggregate *node) {
  free(node->heap);
  free(node->waiting);
}

size_t net_agg_wait_bytes(const struct net_aggregate *node) {
  return node->heap_capacity * sizeof *node->heap +
         node->waiting_capacity * node->wait_stride * sizeof *node->waiting;
}

static uint32_t *rest_at(const struct net_aggregate *node, uint32_t index) {
  return node->waiting + (size_t)index * node->wait_stride;
}

/* Of one tuple's changes at one instant the later ones have the larger. */
static uint32_t turn_of(const struct net_agg_change *change) {
  if (change->from == NET_FALSE) return 0;
  if (change->to == NET_FALSE) return 3;
  return change->from == NET_UNKNOWN ? 1 : 2;
}

static inline bool before(const struct net_agg_waiting *a, const struct net_agg_waiting *b) {
  return a->time != b->time ? a->time < b->time : a->turn < b->turn;
}

/* --- the rest of a change */

static uint32_t pack(struct net_aggregate *node, const struct net_agg_change *change) {
  uint32_t index = node->waiting_free;
  if (index != 0) {
    node->waiting_free = *rest_at(node, --index);
  } else {
    BASE_CHECK(node->waiting_count < UINT32_C(1) << 30, "aggregate-waiting");
    base_grow_little(&node->waiting, &node->waiting_capacity, node->waiting_count + 1,
                     node->wait_stride * sizeof *node->waiting);
    index = (uint32_t)node->waiting_count++;
  }
  uint32_t *to = rest_at(node, index);
  struct truths truths = {change->from & 3u, change->to & 3u, change->counts & 3u,
                          change->weightless, change->goes_then};
  memcpy(to + TRUTHS, &truths, sizeof truths);
  to[WHOSE] = node->set ? change->member : change->group;
  if (node->params.unique) to[DISTINCT] = change->distinct;
  memcpy(to + node->wait_then, &change->then, sizeof change->then);
  net_key_pack(node->wait_kept, &change->key, (void *)(to + node->wait_key));
  return index;
}

static struct net_ordered_key key_of(const struct net_aggregate *node,
                                     const struct net_agg_change *change, const uint32_t *from) {
  const union net_slot *member = node->set ? net_rowmap_row(&node->members, change->member) : NULL;
  if (node->timeless) return net_agg_key(node, member);
  struct net_ordered_key key;
  net_key_unpack(node->wait_kept, (const void *)(from + node->wait_key), &key);
  if (member_has_value(node)) key.value = net_agg_argument(node, member);
  return key;
}

static void unpack(const struct net_aggregate *node, const struct net_agg_waiting *waiting,
                   struct net_agg_change *ret) {
  const uint32_t *from = rest_at(node, waiting->rest);
  struct truths truths;
  memcpy(&truths, from + TRUTHS, sizeof truths);
  *ret = (struct net_agg_change){.time = waiting->time,
                                 .group = from[WHOSE],
                                 .member = NET_NO_ENTRY,
                                 .distinct = NET_NO_ENTRY,
                                 .from = (enum net_truth)truths.from,
                                 .to = (enum net_truth)truths.to,
                                 .counts = (enum net_truth)truths.counts,
                                 .weightless = truths.weightless,
                                 .goes_then = truths.goes_then};
  if (ret->group == NET_NO_ENTRY) return;
  memcpy(&ret->then, from + node->wait_then, sizeof ret->then);
  if (node->set) {
    ret->member = from[WHOSE];
    ret->group =
        ((const struct net_agg_member *)net_rowmap_state(&node->members, ret->member))->group;
  }
  if (node->params.unique) ret->distinct = from[DISTINCT];
  ret->key = key_of(node, ret, from);
}

/* --- the heap */

static void hold(uint32_t *references) {
  *references = net_agg_one_more(*references);
}

void net_agg_push(struct net_aggregate *node, const struct net_agg_change *change) {
  struct net_agg_waiting new = {change->time, pack(node, change) & ((UINT32_C(1) << 30) - 1),
                                turn_of(change) & 3u};
  base_grow_little(&node->heap, &node->heap_capacity, node->heap_count + 1, sizeof *node->heap);
  struct net_agg_waiting *heap = node->heap;
  size_t i = node->heap_count++;
  for (; i > 0 && before(&new, &heap[(i - 1) / 2]); i = (i - 1) / 2) heap[i] = heap[(i - 1) / 2];
  heap[i] = new;
  if (change->group == NET_NO_ENTRY) return;
  net_agg_floor_add(node, change->key.start.lo);
  hold(&net_agg_group(node, change->group)->references);
  if (change->distinct != NET_NO_ENTRY)
    hold(&((struct net_agg_distinct *)net_rowmap_state(&node->distinct, change->distinct))
              ->references);
  if (change->member != NET_NO_ENTRY)
    net_agg_hold(net_rowmap_state(&node->members, change->member));
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
  *rest_at(node, first.rest) = node->waiting_free;
  node->waiting_free = first.rest + 1u;
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
