/* What planning a statement costs, and when it ends before its time: netgen's own.
 *
 *      ng_plan_add_query, ng_plan_transform ──▶ ng_budgeted ──▶ what plans, which says how much it does
 *                   ▲                                                      │ too much, or interrupted
 *                   └────────────── status, diagnostic ◀───────────────────┘
 *
 * Rules are functions over a plan that cannot fail. So one that is stopped does not return: it is left (longjmp), and
 * what it has half done stays behind in the plan's arena, which is good for nothing but being freed. That is why
 * ng_plan_work is called only where nothing is held that the arena does not have: no buffer, no table of strings. */
#ifndef NG_BUDGET_H
#define NG_BUDGET_H

#include "netgen/plan.h"

/* A plan's, and its trials'. */
struct ng_budget {
  uint64_t steps, look_at; /* taken so far; when to look whether to go on */
  uint64_t steps_max;
  struct ng_guard *guard;   /* NULL: nothing is under way that could be left */
  struct base_arena *trial; /* of a trial that is under way, NULL: none is */
};

struct ng_budget *ng_budget_new(struct base_arena *arena);

/* Calls PLAN_SOMETHING, which may be left. BASE_USER with a diagnostic at QUERY: it was too much; BASE_CANCEL:
 * base_env_interrupted(). Within another call the outer one is left. DIAGS NULL: nothing can be too much. */
enum base_status ng_budgeted(struct ng_plan *plan, const struct ng_query *query,
                             struct base_diag_sink *diags,
                             void (*plan_something)(struct ng_plan *plan, const void *context),
                             const void *context) BASE_MUST_USE;

/* Is it time to leave? For those who hold something: they let go of it, and call ng_plan_work. */
bool ng_plan_is_spent(const struct ng_plan *plan);
void ng_plan_look(const struct ng_plan *plan);
/* The network has so many nodes and fields. */
void ng_plan_check_size(struct ng_plan *plan, size_t nodes, size_t fields);

/* So many fields, nodes or parts of expressions are looked at. May not return. */
static inline void ng_plan_work(const struct ng_plan *plan, size_t steps) {
  struct ng_budget *budget = plan->budget;
  if (!budget) return; /* no plan, but room for one (build.c) */
  budget->steps += steps;
  if (budget->steps >= budget->look_at) ng_plan_look(plan);
}

#endif
