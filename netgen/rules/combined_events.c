/* Combined events: what two events have in common with a third is asked of one of them.
 *
 *      selection B.at before C.at, ...                   selection B.at before C.at, ...
 *            |                                                 |
 *       full product                                      full product, bounded
 *         /      \                                         /        \
 *   selection A.at before B.at, ...      ==>     projection at B.at    C
 *        |        C                                  |
 *   full product                               selection A.at before B.at, ...
 *      /    \                                        |
 *     A      B                                  full product
 *
 * A combination of events comes when the last of them does, and where their instants are uncertain nothing
 * follows from `a before b` and `b before c` for a and c (partial_overlap.c): so nothing says when C has met all
 * combinations, which may hold an a of much later. But if all that the conditions ask C for is asked of B, the
 * combination may as well come as an event at B.at. It may come later than others that are at a later B.at; the
 * projection knows how late (its floors), and holds its checkpoint back for the events B that still
 * wait. All other instants are domains of the combination.
 *
 * Done only where it says until when both sides of the upper product are kept, what did not say so before. */
#include "netgen/plan.h"

/* Are all of SIDE's participants events? */
static bool is_of_events(struct ng_plan *plan, const struct ng_node *side,
                         struct ng_participants *ret) {
  ng_node_participants(plan, side, ret);
  for (size_t i = 0; i < ret->count; i++) {
    if (ret->items[i].stop || ret->items[i].start->openable) return false;
  }
  return ret->count > 1;
}

/* SIDE's rows as events at INSTANT. Columns are the same above and below. */
static struct ng_node *event_at(struct ng_plan *plan, struct ng_node *side,
                                const struct ng_column *instant) {
  struct ng_node *projection = ng_node_new(plan, NET_NODE_PROJECTION, side, NULL);
  for (size_t i = 0; i < side->fields.count; i++) {
    const struct ng_column *column = side->fields.items[i];
    if (column == instant) continue;
    ng_columns_add(plan->arena, &projection->own, column);
    ng_columns_add(plan->arena, &projection->sources, column);
  }
  projection->own_start = projection->start_from = instant;
  projection->carries = true;
  return projection;
}

static bool combine(struct ng_plan *plan, struct ng_node *product, unsigned port) {
  struct ng_node *side = product->inputs[port];
  struct ng_participants events = {0};
  if (ng_node_readers(plan, side) != 1 || !is_of_events(plan, side, &events)) return false;
  for (size_t i = 0; i < events.count; i++) {
    product->inputs[port] = event_at(plan, side, events.items[i].start);
    ng_plan_refresh(plan);
    if (ng_product_is_bounded(plan, product)) return true;
    product->inputs[port] = side;
    ng_plan_refresh(plan);
  }
  return false;
}

void ng_rule_combined_events(struct ng_plan *plan) {
  size_t count = plan->node_count, combined = 0;
  struct ng_node **nodes = BASE_NEW_ARRAY(plan->arena, count, struct ng_node *);
  for (size_t i = 0; i < count; i++) nodes[i] = plan->nodes[i];
  for (size_t i = 0; i < count; i++) {
    struct ng_node *node = nodes[i];
    if (node->kind != NET_NODE_PRODUCT || node->rule != NET_PRODUCT_FULL ||
        ng_product_is_bounded(plan, node))
      continue;
    if (combine(plan, node, 0) || combine(plan, node, 1)) combined++;
  }
  if (!combined) return;
  ng_rule_changed(plan, NG_RULE_COMBINED_EVENTS, combined, "%zu combination%s now one event",
                  combined, combined == 1 ? "" : "s");
}
