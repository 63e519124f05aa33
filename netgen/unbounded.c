/* What of a plan nothing bounds, and which clause is to blame: a full product keeps the rows of a side
 * for ever where no condition says when their partners have come (rules/partial_overlap.c); a quantile all values that
 * ever counted, if none goes.
 *
 * The clause is the first conjunct of `when` that speaks of variables of both sides; where none does,
 * the whole clause, and without one the statement. */
#include "netgen/plan.h"

/* The variables of QUERY whose tuples take part in NODE's rows. */
static void mark_variables(const struct ng_query *query, const struct ng_node *node, bool *used) {
  if (node->kind == NET_NODE_AGGREGATE) return;
  const struct ng_variable *variable = node->variable;
  if (variable >= query->variables && variable < query->variables + query->variable_count)
    used[variable - query->variables] = true;
  if (node->alias) return;
  for (unsigned port = 0; port < node->input_count; port++)
    mark_variables(query, node->inputs[port], used);
}

static bool speaks_of(const struct ng_expr *expr, const bool *variables) {
  if (expr->op == NG_T_VARIABLE && variables[expr->variable]) return true;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    if (speaks_of(expr->args[i], variables)) return true;
  }
  return false;
}

static const struct ng_expr *conjunct_of_both(const struct ng_expr *expr, bool *const *sides) {
  if (expr->op == NG_AND) {
    const struct ng_expr *found = conjunct_of_both(expr->args[0], sides);
    return found ? found : conjunct_of_both(expr->args[1], sides);
  }
  return speaks_of(expr, sides[0]) && speaks_of(expr, sides[1]) ? expr : NULL;
}

/* Does EXPR say that a tuple of one side comes behind one of the other, but not within which time? */
static bool says_behind(const struct ng_expr *expr, bool *const *sides) {
  for (unsigned port = 0; port < 2 && expr->op == NG_T_SEQUENCE && expr->integer < 0; port++) {
    if (speaks_of(expr->args[0], sides[port]) && speaks_of(expr->args[1], sides[!port]))
      return true;
  }
  for (unsigned i = 0; i < expr->arg_count; i++) {
    if (says_behind(expr->args[i], sides)) return true;
  }
  return false;
}

static void add_names(struct ng_plan *plan, const struct ng_query *query, const bool *used,
                      const char **names) {
  for (size_t i = 0; i < query->variable_count; i++) {
    if (!used[i]) continue;
    const char *name = query->variables[i].name;
    *names = *names ? base_arena_printf(plan->arena, "%s, %s", *names, name) : name;
  }
}

/* The variables that are USED, "A, B and C"; NULL: fewer than two. */
static const char *together(struct ng_plan *plan, const struct ng_query *query, const bool *used) {
  const char *names = NULL, *last = NULL;
  for (size_t i = 0; i < query->variable_count; i++) {
    if (!used[i]) continue;
    if (last) names = names ? base_arena_printf(plan->arena, "%s, %s", names, last) : last;
    last = query->variables[i].name;
  }
  return names ? base_arena_printf(plan->arena, "%s and %s", names, last) : NULL;
}

/* Rows of a side are kept while one of the other side may come that is late enough. */
static void describe_anti_join(struct ng_plan *plan, const struct ng_query *query,
                               const struct ng_node *node, struct ng_unbounded *ret) {
  const struct ng_expr *when = node->absence->when;
  bool *kept = BASE_NEW_ARRAY(plan->arena, query->variable_count + 1, bool);
  const char *names = NULL;
  for (unsigned port = 0; port < 2; port++)
    if (node->reach[port] < 0) mark_variables(query, node->inputs[!port], kept);
  add_names(plan, query, kept, &names);
  *ret = (struct ng_unbounded){query, when ? when->range : query->range, false,
                               NULL,  names ? names : "an aggregate",    false};
}

static void describe(struct ng_plan *plan, const struct ng_query *query, const struct ng_node *node,
                     struct ng_unbounded *ret) {
  bool *sides[2];
  const char *kept = NULL;
  if (node->kind == NET_NODE_AGGREGATE) {
    const char *name = query->variables[node->aggregate->variable].name;
    *ret = (struct ng_unbounded){query, node->aggregate->range, false, NULL, name, true};
    return;
  }
  if (node->kind == NET_NODE_ANTI_JOIN) {
    describe_anti_join(plan, query, node, ret);
    return;
  }
  for (unsigned port = 0; port < 2; port++) {
    sides[port] = BASE_NEW_ARRAY(plan->arena, query->variable_count + 1, bool);
    mark_variables(query, node->inputs[port], sides[port]);
    if (!node->expiry_counts[port]) add_names(plan, query, sides[port], &kept);
  }
  const struct ng_expr *clause = query->when ? conjunct_of_both(query->when, sides) : NULL;
  bool behind = clause && says_behind(clause, sides);
  if (!clause) clause = query->when;
  const char *several = together(plan, query, sides[0]);
  *ret = (struct ng_unbounded){query,
                               clause ? clause->range : query->range,
                               behind,
                               several ? several : together(plan, query, sides[1]),
                               kept ? kept : "an aggregate",
                               false};
}

static const struct ng_node *find(const struct ng_node *node) {
  if (ng_node_is_unbounded(node)) return node;
  for (unsigned port = 0; port < node->input_count && !node->alias; port++) {
    const struct ng_node *found = find(node->inputs[port]);
    if (found) return found;
  }
  return NULL;
}

bool ng_plan_find_unbounded(struct ng_plan *plan, struct ng_unbounded *ret) {
  for (size_t i = 0; i < plan->query_count; i++) {
    const struct ng_node *node = find(plan->queries[i].result);
    if (!node) continue;
    describe(plan, plan->queries[i].query, node, ret);
    return true;
  }
  return false;
}
