/* The names of the rules, and what they did to a plan, for explain. */
#include "netgen/rules/rules.h"

#include <stdarg.h>
#include <strings.h>

static const struct ng_rule_info infos[NG_RULES] = {
#define RULE(RULE, FUNCTION, NAME, WHAT) {NAME, WHAT},
#include "netgen/rules.def"
#undef RULE
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
