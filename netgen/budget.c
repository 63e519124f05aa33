/* Leaving what plans: see budget.h. */
#include "netgen/budget.h"

#include <setjmp.h>

#include "engine/base/env.h"

enum { STEPS_BETWEEN = 1 << 16 }; /* looks: some tens of microseconds */

struct ng_guard {
  jmp_buf left;
  enum base_status status;
  const char *said; /* what was too much, in the plan's arena; NULL: it was interrupted */
  enum base_message message;
  size_t bytes_before;
};

struct ng_budget *ng_budget_new(struct base_arena *arena) {
  struct ng_budget *budget = BASE_NEW(arena, struct ng_budget);
  budget->steps_max = NG_LIMIT_STEPS;
  budget->look_at = STEPS_BETWEEN;
  return budget;
}

static _Noreturn void leave(struct ng_budget *budget, enum base_status status) {
  budget->guard->status = status;
  longjmp(budget->guard->left, 1);
}

static size_t bytes_of(const struct ng_plan *plan) {
  const struct base_arena *trial = plan->budget->trial;
  return base_arena_bytes(plan->arena) +
         (trial && trial != plan->arena ? base_arena_bytes(trial) : 0);
}

static bool is_too_large(const struct ng_plan *plan) {
  size_t before = plan->budget->guard->bytes_before, now = bytes_of(plan);
  return now > before && now - before > NG_LIMIT_BYTES;
}

bool ng_plan_is_spent(const struct ng_plan *plan) {
  struct ng_budget *budget = plan->budget;
  if (!budget || !budget->guard) return false;
  return budget->steps > budget->steps_max || is_too_large(plan) || base_env_interrupted();
}

void ng_plan_look(const struct ng_plan *plan) {
  struct ng_budget *budget = plan->budget;
  budget->look_at = budget->steps + STEPS_BETWEEN;
  if (!budget->guard) return;
  if (base_env_interrupted()) leave(budget, BASE_CANCEL);
  bool steps = budget->steps > budget->steps_max;
  if (!steps && !is_too_large(plan)) return;
  budget->guard->message = MSG_PLANNING_TOO_LONG;
  budget->guard->said = base_arena_printf(plan->arena, "more than %llu %s",
                                          steps ? (unsigned long long)budget->steps_max / 1000000
                                                : (unsigned long long)NG_LIMIT_BYTES >> 20,
                                          steps ? "million steps" : "megabytes");
  leave(budget, BASE_USER);
}

void ng_plan_check_size(struct ng_plan *plan, size_t nodes, size_t fields) {
  struct ng_budget *budget = plan->budget;
  bool many = nodes > NG_LIMIT_NODES;
  if (!budget || !budget->guard || (!many && fields <= NG_LIMIT_FIELDS)) return;
  budget->guard->message = MSG_NETWORK_TOO_LARGE;
  budget->guard->said =
      many ? base_arena_printf(plan->arena, "%zu nodes; the limit is %d", nodes, NG_LIMIT_NODES)
           : base_arena_printf(plan->arena, "%zu fields; the limit is %d", fields, NG_LIMIT_FIELDS);
  leave(budget, BASE_USER);
}

void ng_report_too_large(struct base_diag_sink *diags, const struct ng_query *query,
                         const char *said) {
  base_report_hint(diags, MSG_NETWORK_TOO_LARGE, query->source, &query->range,
                   "split it: what derived relations hold is not planned again",
                   "the network of this statement has %s", said);
}

static void report(struct base_diag_sink *diags, const struct ng_query *query,
                   const struct ng_guard *guard) {
  if (!guard->said) return;
  if (guard->message == MSG_NETWORK_TOO_LARGE) {
    ng_report_too_large(diags, query, guard->said);
    return;
  }
  base_report_hint(diags, guard->message, query->source, &query->range,
                   "ask for less at a time: fewer variables, conditions and aggregates",
                   "planning this statement takes %s", guard->said);
}

enum base_status ng_budgeted(struct ng_plan *plan, const struct ng_query *query,
                             struct base_diag_sink *diags,
                             void (*plan_something)(struct ng_plan *plan, const void *context),
                             const void *context) {
  struct ng_budget *budget = plan->budget;
  if (budget->guard || !diags) {
    plan_something(plan, context);
    return BASE_OK;
  }
  /* In the arena: what a function has changed in its own variables is lost when it is come back to. */
  struct ng_guard *guard = BASE_NEW(plan->arena, struct ng_guard);
  guard->bytes_before = base_arena_bytes(plan->arena);
  guard->status = BASE_OK;
  budget->guard = guard;
  if (setjmp(guard->left) == 0) plan_something(plan, context);
  budget->guard = NULL;
  if (guard->status == BASE_OK) return BASE_OK;
  base_arena_free(budget->trial);
  budget->trial = NULL;
  report(diags, query, guard);
  return guard->status;
}

uint64_t ng_plan_steps(const struct ng_plan *plan) {
  return plan->budget->steps;
}
