/* Traced start only (thesis 7.2.1, figure 7-2 c): where only the start of a traced relation's
 * periods is asked for, the records themselves will do, and event-to-period goes.
 *
 *      projection at A.start             projection at A.start
 *            |                                 |
 *      event-to-period       ==>         access, starts only
 *            |
 *         access
 *
 * Asked for means: read by a predicate, an apply, a projection or a further node; or by the overlap
 * test of a product, unless the period takes part there as the event of its start (product_rule.c),
 * or the product is full. The access node leaves end records out; that of several records of one
 * entity at one time only the last arrives is its promise already. */
#include "netgen/rules/rules.h"

#include "netgen/expr.h"

static bool is_participant_period(struct ng_plan *plan, const struct ng_node *product,
                                  const struct ng_column *start) {
  if (product->rule != NET_PRODUCT_OVERLAP) return false;
  struct ng_participants participants = {0};
  ng_node_participants(plan, product, &participants);
  for (size_t i = 0; i < participants.count; i++) {
    if (participants.items[i].start == start && !ng_columns_have(&product->untested, start)) {
      return !ng_product_takes_event(product, participants.items[i]);
    }
  }
  return false;
}

static bool keeps_until(const struct ng_node *product, const struct ng_column *instant) {
  for (unsigned port = 0; port < 2; port++) {
    for (size_t i = 0; i < product->expiry_counts[port]; i++) {
      if (product->expiries[port][i].instant == instant) return true;
    }
  }
  return false;
}

/* Does NODE, or anything that gets rows from it, need the stop of the periods that PERIODS makes?
 */
static bool needs_stop(struct ng_plan *plan, const struct ng_node *node,
                       const struct ng_node *periods) {
  const struct ng_column *stop = periods->own_stop;
  if (node->expr && ng_expr_reads(node->expr, stop)) return true;
  switch (node->kind) {
    case NET_NODE_PROJECTION:
      return node->start_from == stop || node->stop_from == stop;
    case NET_NODE_PRODUCT:
    case NET_NODE_JOIN:
      if (is_participant_period(plan, node, periods->start)) return true;
      if (keeps_until(node, stop)) return true;
      break;
    case NET_NODE_SELECTION:
    case NET_NODE_APPLY:
      break;
    default:
      return true;
  }
  const struct ng_node *reader = ng_node_reader(plan, node);
  return !reader || needs_stop(plan, reader, periods);
}

void ng_rule_traced_start_only(struct ng_plan *plan) {
  size_t count = plan->node_count, removed = 0;
  struct ng_node **nodes = BASE_NEW_ARRAY(plan->arena, count, struct ng_node *);
  for (size_t i = 0; i < count; i++) nodes[i] = plan->nodes[i];
  for (size_t i = 0; i < count; i++) {
    struct ng_node *periods = nodes[i];
    if (periods->kind != NET_NODE_EVENT_TO_PERIOD) continue;
    const struct ng_node *reader = ng_node_reader(plan, periods);
    struct ng_node *access = periods->inputs[0];
    while (access->kind == NET_NODE_SELECTION) access = access->inputs[0];
    if (!reader || needs_stop(plan, reader, periods) || access->kind != NET_NODE_ACCESS ||
        ng_node_readers(plan, access) != 1) {
      continue;
    }
    access->starts_only = true;
    ng_plan_replace(plan, periods, periods->inputs[0]);
    ng_plan_refresh(plan);
    removed++;
  }
  if (!removed) return;
  ng_rule_changed(plan, NG_RULE_TRACED_START_ONLY, removed, "%zu event-to-period node%s removed",
                  removed, removed == 1 ? "" : "s");
}
