/* The leaf of a variable over Clock(n): a clock, and below it what says how far it ticks.
 *
 *                    clock                 one more clock for each further input
 *                   /     \
 *               clock      access C, times only
 *              /     \
 *     access A        access B             the query's other variables
 *
 * Each input is read a second time, as it is stored and without its domains: what the rest of the query
 * does with it (selections, events for periods) must not change how far the clock ticks. A chain of
 * clocks ticks as one clock over all the inputs would (engine/nodes/clock.c). Other clocks of the query
 * say nothing. Where there are clocks alone, analysis adds an input that says how far time has come
 * (ng_variable.paces), and the times that the statement names count as those of an input.            */
#include "netgen/plan.h"

static const struct net_type type_instant = {NET_INSTANT, 0};

static struct ng_node *times_of(struct ng_plan *plan, const struct ng_variable *variable) {
  const struct ng_relation *relation = variable->relation;
  struct ng_node *result = ng_plan_result(plan, relation);
  struct ng_node *node = ng_node_new(plan, NET_NODE_ACCESS, result, NULL);
  node->alias = result != NULL;
  node->variable = variable;
  node->relation = relation;
  node->times_only = true;
  bool records = ng_made_of_records(relation);
  node->form = records ? NET_SCAN_RECORDS : NET_SCAN_TUPLES;
  bool events = relation->layout->tuple_class == NET_EVENT || records;
  node->own_start = ng_column_new(plan, "start", type_instant, false);
  if (!events) node->own_stop = ng_column_new(plan, "stop", type_instant, true);
  ng_node_refresh(plan, node);
  return node;
}

static struct ng_node *clock_over(struct ng_plan *plan, const struct ng_query *query,
                                  const struct ng_variable *variable, struct ng_node *left,
                                  struct ng_node *right) {
  struct ng_node *clock = ng_node_new(plan, NET_NODE_CLOCK, left, right);
  clock->variable = variable;
  clock->relation = variable->relation;
  clock->query = query;
  clock->own_start = ng_column_new(plan, base_arena_printf(plan->arena, "%s.at", variable->name),
                                   type_instant, false);
  ng_node_refresh(plan, clock);
  return clock;
}

static int64_t common_divisor(int64_t a, int64_t b) {
  return b == 0 ? a : common_divisor(b, a % b);
}

int64_t ng_clocks_period(const struct ng_query *query) {
  int64_t period = 0;
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct ng_relation *relation = query->variables[i].relation;
    if (relation->kind != NG_REL_CLOCK) continue;
    if (period == 0)
      period = relation->every;
    else if (__builtin_mul_overflow(period / common_divisor(period, relation->every),
                                    relation->every, &period))
      return 0;
  }
  return period;
}

struct ng_node *ng_clock_leaf(struct ng_plan *plan, const struct ng_query *query,
                              const struct ng_variable *variable) {
  struct ng_node *clock = NULL, *first = NULL;
  for (size_t i = 0; i < query->variable_count; i++) {
    if (query->variables[i].costs || query->variables[i].relation->kind == NG_REL_CLOCK) continue;
    struct ng_node *times = times_of(plan, &query->variables[i]);
    if (!first)
      first = times;
    else
      clock = clock_over(plan, query, variable, clock ? clock : first, times);
  }
  BASE_CHECK(first, "clock-has-an-input");
  return clock ? clock : clock_over(plan, query, variable, first, NULL);
}
