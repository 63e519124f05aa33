/* Distinct tuples (thesis 7.2.5: duplicates are eliminated where they matter): a set node makes equal tuples
 * one, and goes where there are none.
 *
 *      set                            selection k = 3
 *       |                                   |
 *      selection k = 3       ==>      event-to-period
 *       |
 *      event-to-period
 *
 * Duplicates do no harm on the way: every sink makes a set of what comes, and so do aggregates of what is
 * there at an instant. They matter where each tuple counts and its pieces are told apart, and there the
 * initial network has a set node. Of a traced relation there is one tuple for each entity at one time, so it
 * has nothing to do; a relation whose tuples come from elsewhere may have any. */
#include "netgen/rules/rules.h"

static bool has_equal_tuples(const struct ng_node *node) {
  while (!node->alias && (node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_COMPENSATE))
    node = node->inputs[0];
  return node->alias || node->kind != NET_NODE_EVENT_TO_PERIOD;
}

void ng_rule_distinct_tuples(struct ng_plan *plan) {
  size_t dropped = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (node->alias || node->kind != NET_NODE_SET || has_equal_tuples(node->inputs[0])) continue;
    ng_plan_replace(plan, node, node->inputs[0]);
    dropped++;
  }
  if (!dropped) return;
  ng_rule_changed(plan, NG_RULE_DISTINCT_TUPLES, dropped, "%zu set node%s of distinct tuples",
                  dropped, dropped == 1 ? "" : "s");
}
