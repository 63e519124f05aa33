/* Runs the rules, in the order of rules.def. */
#include "netgen/budget.h"
#include "netgen/rules/rules.h"

static void (*const rules[NG_RULES])(struct ng_plan *) = {
#define RULE(RULE, FUNCTION, NAME, WHAT) ng_rule_##FUNCTION,
#include "netgen/rules.def"
#undef RULE
};

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
