/* Aggregate: the best of tuples whose ends are known (min, max, first, last).
 *
 * A tuple for which there is another one, as good or better, that stays as long or longer is never the
 * best while it is there, so it is not kept. Those that are left form stairs: the better one goes, the
 * sooner it goes. The best is the first that is not gone, and what comes takes all away that is no better
 * and goes no later. Of tuples in no particular order as many are left as their number has digits, and a
 * tuple that goes costs nothing unless it is the best.
 *
 * Each group's stairs are an ordered set (ordered.h) whose keys carry the ends. Tuples that come the long
 * way are not here: their ends may be unknown, or uncertain.                                        */
#include "engine/nodes/aggregate/aggregate.h"

/* The next of what is worse than KEY, and of what is better; 0: there is none. */
static uint32_t worse(const struct net_aggregate *node, uint32_t root,
                      const struct net_ordered_key *key) {
  return node->wants_smallest ? net_ordered_after(&node->stairs, root, key)
                              : net_ordered_before(&node->stairs, root, key);
}

static uint32_t better(const struct net_aggregate *node, uint32_t root,
                       const struct net_ordered_key *key) {
  return node->wants_smallest ? net_ordered_before(&node->stairs, root, key)
                              : net_ordered_after(&node->stairs, root, key);
}

static net_chronon stop_of(const struct net_aggregate *node, uint32_t index) {
  struct net_ordered_key key;
  net_ordered_get(&node->stairs, index, &key);
  return key.stop.lo;
}

static void take_out(struct net_aggregate *node, uint32_t *root, uint32_t index) {
  struct net_ordered_key key;
  net_ordered_get(&node->stairs, index, &key);
  (void)net_ordered_remove(&node->stairs, root, &key);
}

void net_agg_staircase_add(struct net_aggregate *node, struct net_agg_group *group,
                           struct net_ordered_key key, net_chronon stop) {
  uint32_t *root = &group->tally.stairs;
  uint32_t other = net_ordered_find(&node->stairs, *root, &key);
  key.stop = (struct net_instant){stop, stop};
  if (other != 0 && stop_of(node, other) >= stop) return;
  if (other != 0) take_out(node, root, other);
  other = better(node, *root, &key);
  if (other != 0 && stop_of(node, other) >= stop) return;
  while ((other = worse(node, *root, &key)) != 0 && stop_of(node, other) <= stop)
    take_out(node, root, other);
  (void)net_ordered_insert(&node->stairs, root, &key);
}

uint32_t net_agg_staircase(struct net_aggregate *node, struct net_agg_group *group,
                           net_chronon now) {
  uint32_t *root = &group->tally.stairs, best;
  while ((best = node->wants_smallest ? net_ordered_first(&node->stairs, *root)
                                      : net_ordered_last(&node->stairs, *root)) != 0 &&
         stop_of(node, best) <= now)
    take_out(node, root, best);
  return best;
}
