/* Stored periods: a query that runs once over a closed traced relation reads the periods that the store
 * has of it, instead of making them again from records.
 *
 *      event-to-period                   [selections]
 *            |                                |
 *      [selections]            ==>       access (periods)
 *            |
 *      access (records)
 *
 * The store's tuples are what event-to-period made of the records when they came, and the selections
 * below it speak of the entity alone (predicates-down), which all of its records and periods share. Only
 * where nobody will bring records any more are the stored periods all there is to know: the session says
 * so (ng_plan_over_store). */
#include "netgen/rules/rules.h"

void ng_rule_stored_periods(struct ng_plan *plan) {
  size_t count = plan->node_count, replaced = 0;
  if (!plan->over_store) return;
  struct ng_node **nodes = BASE_NEW_ARRAY(plan->arena, count, struct ng_node *);
  for (size_t i = 0; i < count; i++) nodes[i] = plan->nodes[i];
  for (size_t i = 0; i < count; i++) {
    struct ng_node *periods = nodes[i], *access = periods->inputs[0];
    if (periods->kind != NET_NODE_EVENT_TO_PERIOD) continue;
    while (access->kind == NET_NODE_SELECTION && ng_node_readers(plan, access) == 1)
      access = access->inputs[0];
    if (access->kind != NET_NODE_ACCESS || access->form != NET_SCAN_RECORDS ||
        ng_node_readers(plan, access) != 1)
      continue;
    access->form = NET_SCAN_TUPLES;
    access->own_stop = periods->own_stop;
    ng_plan_replace(plan, periods, periods->inputs[0]);
    ng_plan_refresh(plan);
    replaced++;
  }
  if (!replaced) return;
  ng_rule_changed(plan, NG_RULE_STORED_PERIODS, replaced, "%zu event-to-period node%s not needed",
                  replaced, replaced == 1 ? "" : "s");
}
