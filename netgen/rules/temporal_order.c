/* Temporal order (thesis 7.2.2): an order node where rows that come in another order than that of their starts
 * are read by several nodes that need it.
 *
 *      join     aggregate              join     aggregate
 *         \      /                        \      /
 *        projection                        order
 *            |               ==>             |
 *        aggregate                       projection
 *                                            |
 *                                        aggregate
 *
 * Who needs rows by their starts keeps them up to the checkpoint and sorts what came otherwise. One that does
 * so alone does it no worse than an order node in front of it would. Of several each would keep and sort the same
 * rows: the order node does it once, and what it gives is no later. Applies, and projections that keep the starts,
 * let all rows through to such nodes. A selection does not: to sort a part of the rows for each is less than to
 * sort all of them once, so what is behind it does not count.
 *
 * Combinations stay as they are: what is known of their participants is not passed on. So does what has instants
 * among its domains, of which projections above ask how early they can be (floors).                     */
#include "netgen/order.h"
#include "netgen/rules/rules.h"

static bool sorts_all(struct ng_plan *plan, const struct ng_node *reader, unsigned port);

/* Of the arcs that leave NODE, how many lead to nodes that sort all its rows? */
static size_t count_sorting(struct ng_plan *plan, const struct ng_node *node) {
  size_t count = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct ng_node *reader = plan->nodes[i];
    for (unsigned port = 0; port < reader->input_count; port++)
      count += reader->inputs[port] == node && sorts_all(plan, reader, port);
  }
  return count;
}

static bool sorts_all(struct ng_plan *plan, const struct ng_node *reader, unsigned port) {
  bool passes = reader->alias || reader->kind == NET_NODE_APPLY ||
                (reader->kind == NET_NODE_PROJECTION && ng_projection_keeps_start(plan, reader));
  return passes ? count_sorting(plan, reader) > 0 : ng_node_sorts(reader, port);
}

static bool has_instants(const struct ng_node *node) {
  for (size_t i = 0; i < node->fields.count; i++)
    if (node->fields.items[i]->type.base == NET_INSTANT) return true;
  return false;
}

/* A node that gives the rows of NODE by their starts to all that sort them; false: they are fewer than two. */
static bool put_in_order(struct ng_plan *plan, struct ng_node *node) {
  if (node->alias || ng_node_is_combination(node) || has_instants(node)) return false;
  if (count_sorting(plan, node) < 2) return false;
  struct ng_node *order = ng_node_new(plan, NET_NODE_ORDER, node, NULL);
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *reader = plan->nodes[i];
    for (unsigned port = 0; port < reader->input_count; port++)
      if (reader->inputs[port] == node && sorts_all(plan, reader, port))
        reader->inputs[port] = order;
  }
  return true;
}

void ng_rule_temporal_order(struct ng_plan *plan) {
  size_t arcs = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    if (!put_in_order(plan, plan->nodes[i])) continue;
    arcs++;
    ng_plan_refresh(plan); /* the same node is at I: what is new is behind it */
  }
  if (!arcs) return;
  ng_rule_changed(plan, NG_RULE_TEMPORAL_ORDER, arcs,
                  "%zu order node%s in front of several that sort", arcs, arcs == 1 ? "" : "s");
}
