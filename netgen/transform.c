/* Runs the rules, in the order of rules.def, and keeps what they did for explain.
 *
 * A rule is a function over the plan that leaves it valid (plan.h says what that means) and gives
 * the same results: on or off is a matter of speed only. */
#include <stdarg.h>
#include <strings.h>

#include "netgen/budget.h"

static const struct ng_rule_info infos[NG_RULES] = {
#define RULE(RULE, NAME, WHAT) {NAME, WHAT},
#include "netgen/rules.def"
#undef RULE
};

static void (*const rules[NG_RULES])(struct ng_plan *) = {
    [NG_RULE_GROUP_KEYS] = ng_rule_group_keys,
    [NG_RULE_CONSTANT_FOLDING] = ng_rule_constant_folding,
    [NG_RULE_NORMAL_FORMS] = ng_rule_normal_forms,
    [NG_RULE_DISTINCT_TUPLES] = ng_rule_distinct_tuples,
    [NG_RULE_SPECULATION] = ng_rule_speculation,
    [NG_RULE_PRODUCT_ORDER] = ng_rule_product_order,
    [NG_RULE_PREDICATES_DOWN] = ng_rule_predicates_down,
    [NG_RULE_EQUAL_VALUES] = ng_rule_equal_values,
    [NG_RULE_PRODUCT_RULE] = ng_rule_product_rule,
    [NG_RULE_COMBINED_EVENTS] = ng_rule_combined_events,
    [NG_RULE_COMBINED_PERIODS] = ng_rule_combined_periods,
    [NG_RULE_PARTIAL_OVERLAP] = ng_rule_partial_overlap,
    [NG_RULE_JOINS] = ng_rule_joins,
    [NG_RULE_COMMON_PERIOD] = ng_rule_common_period,
    [NG_RULE_MERGED_PROJECTIONS] = ng_rule_merged_projections,
    [NG_RULE_COMMON_EXPRESSIONS] = ng_rule_common_expressions,
    [NG_RULE_UNUSED_DOMAINS] = ng_rule_unused_domains,
    [NG_RULE_STORED_PERIODS] = ng_rule_stored_periods,
    [NG_RULE_TRACED_START_ONLY] = ng_rule_traced_start_only,
    [NG_RULE_COMMON_SUBNETWORKS] = ng_rule_common_subnetworks,
    [NG_RULE_MERGED_AGGREGATES] = ng_rule_merged_aggregates,
    [NG_RULE_CONTROL_ARCS] = ng_rule_control_arcs,
    [NG_RULE_CLOCK_SAMPLES] = ng_rule_clock_samples,
    [NG_RULE_ACCESS_CONTROL] = ng_rule_access_control,
    [NG_RULE_SEMI_JOINS] = ng_rule_semi_joins,
    [NG_RULE_SELF_JOINS] = ng_rule_self_joins,
    [NG_RULE_AGGREGATES_AT_EVENTS] = ng_rule_aggregates_at_events,
    [NG_RULE_TEMPORAL_ORDER] = ng_rule_temporal_order,
};

const struct ng_rule_info *ng_rule_info(enum ng_rule rule) {
  BASE_CHECK(rule < NG_RULES, "rule-range");
  return &infos[rule];
}

int ng_rule_find(const char *name) {
  for (int i = 0; i < NG_RULES; i++) {
    if (strcasecmp(infos[i].name, name) == 0) return i;
  }
  return -1;
}

void ng_plan_over_store(struct ng_plan *plan) {
  plan->over_store = true;
}

void ng_plan_known_until(struct ng_plan *plan, net_chronon time) {
  plan->known_until = time;
}

void ng_plan_may_speculate(struct ng_plan *plan) {
  plan->may_speculate = true;
}

bool ng_plan_speculates(const struct ng_plan *plan) {
  return plan->change_count[NG_RULE_SPECULATION] > 0;
}

static void transform(struct ng_plan *plan, const void *context) {
  const struct ng_switches *switches = plan->switches = context;
  for (int i = 0; i < NG_RULES; i++) {
    if (switches && switches->off[i]) continue;
    ng_plan_refresh(plan);
    rules[i](plan);
    ng_plan_refresh(plan);
  }
  plan->switches = NULL;
}

enum base_status ng_plan_transform(struct ng_plan *plan, const struct ng_switches *switches,
                                   struct base_diag_sink *diags) {
  if (plan->query_count == 0) return BASE_OK;
  return ng_budgeted(plan, plan->queries[plan->query_count - 1].query, diags, transform, switches);
}

uint64_t ng_plan_steps(const struct ng_plan *plan) {
  return plan->budget->steps;
}

void ng_rule_changed(struct ng_plan *plan, enum ng_rule rule, size_t count, const char *format,
                     ...) {
  va_list args;
  va_start(args, format);
  const char *text = base_arena_vprintf(plan->arena, format, args);
  va_end(args);
  plan->changes[rule] = plan->changes[rule]
                            ? base_arena_printf(plan->arena, "%s, %s", plan->changes[rule], text)
                            : text;
  plan->change_count[rule] += count;
}

void ng_plan_explain_rules(const struct ng_plan *plan, struct base_buffer *out) {
  for (int i = 0; i < NG_RULES; i++) {
    if (plan->changes[i]) base_buffer_printf(out, "%s: %s\n", infos[i].name, plan->changes[i]);
  }
}
