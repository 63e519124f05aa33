/* Counts at the source (thesis 7.2.5): a summary that asks no more than how many records a sensor made, of each process or
 * in all, needs none of them, as whoever leaves records out where they arise says how many, and of which process.
 *
 *      count of all                       count of all ◀── how many, of which process
 *            |                    ==>           |
 *      access ── watches ──▶ sensor       access ── watches, filter: nothing ──▶ sensor
 *
 * The rule says which aggregates these are; what is left out is for the rule selections-at-source to say, as others may
 * read the same records. A record either comes, and counts as a tuple, or is left out, and counts by its number: so
 * that is exact whatever else is asked, and whether the rule acts or not (ng_inputs.counts).
 *
 * Selections between the two say something of the groups alone (rule predicates-down). */
#include "netgen/rules/rules.h"

static const struct ng_node *access_of(const struct ng_node *aggregate) {
  const struct ng_node *below = aggregate->inputs[0];
  while (below->kind == NET_NODE_SELECTION || below->alias) below = below->inputs[0];
  return below;
}

static bool may_be_counted(const struct ng_node *node) {
  if (node->kind != NET_NODE_AGGREGATE || node->alias || !node->aggregate->passes) return false;
  const struct ng_node *access = access_of(node);
  return access->kind == NET_NODE_ACCESS && access->relation && access->relation->sensor &&
         !access->relation->sensor->whole;
}

void ng_rule_counts_at_source(struct ng_plan *plan) {
  size_t counted = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (!may_be_counted(node)) continue;
    node->counted = true;
    counted++;
  }
  if (!counted) return;
  ng_rule_changed(plan, NG_RULE_COUNTS_AT_SOURCE, counted,
                  "the records of %zu count%s counted where they arise", counted,
                  counted == 1 ? " are" : "s are");
}
