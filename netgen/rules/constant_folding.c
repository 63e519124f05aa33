/* Constant folding: what reads no tuple is computed once, when the plan is made.
 *
 *      selection E.x > 1 + 2 and 5 < 3 or E.y = 0    ==>    selection E.x > 3 and E.y = 0 ...
 *      selection 1 = 1                               ==>    nothing
 *
 * A part that reads no column and gives an integer, a float, a truth or an instant is run by the engine
 * itself, so its value is the one that the network would compute; one that fails stays as it is. Truths that are known
 * then go: `T and x` and `F or x` are x; `F and x` is F, also where x fails, because an error counts only
 * if no other conjunct is false; `T or x` is T where x cannot fail. A selection that is always true goes. */
#include "netgen/rules/rules.h"

#include "netgen/expr.h"

static bool is_constant(const struct ng_expr *expr) {
  return expr->op == NG_INTEGER || expr->op == NG_FLOAT || expr->op == NG_STRING ||
         expr->op == NG_TRUTH || expr->op == NG_INSTANT;
}

static bool reads_tuple(const struct ng_expr *expr) {
  if (expr->op == NG_COLUMN || expr->op == NG_DURATION) return true;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    if (reads_tuple(expr->args[i])) return true;
  }
  return false;
}

/* Of an expression without columns. */
static uint32_t no_slot(void *context, const struct ng_column *column) {
  (void)context, (void)column;
  BASE_CHECK(false, "constant-column");
  return 0;
}

static const struct ng_expr *evaluated(struct ng_plan *plan, const struct ng_expr *expr) {
  struct net_value value;
  union net_slot row[4] = {{.i = 0}};
  const struct net_program *program =
      ng_expr_compile(plan->arena, expr, plan->timeline, plan->strings, no_slot, NULL);
  if (net_program_run(program, row, NET_FOREVER, &value) != NET_EVAL_OK) return expr;
  struct ng_expr *result = ng_expr_new(plan->arena, NG_INTEGER, expr->type);
  switch (expr->type.base) {
    case NET_INTEGER:
      result->integer = value.i;
      return result;
    case NET_FLOAT:
      result->op = NG_FLOAT;
      result->real = value.f;
      return result;
    case NET_BOOL:
      if (value.truth == NET_UNKNOWN) return expr;
      return ng_expr_truth(plan->arena, value.truth == NET_TRUE);
    case NET_INSTANT:
      if (value.instant.lo > value.instant.hi) return expr; /* of instants that do not meet */
      return ng_expr_instant(plan->arena, value.instant);
    default:
      return expr;
  }
}

static bool is_truth(const struct ng_expr *expr, bool value) {
  return expr->op == NG_TRUTH && (expr->integer != 0) == value;
}

/* EXPR, an `and` or an `or`, without operands that are known. */
static const struct ng_expr *simplified(const struct ng_expr *expr) {
  bool is_and = expr->op == NG_AND;
  for (unsigned i = 0; i < 2; i++) {
    const struct ng_expr *known = expr->args[i], *other = expr->args[1 - i];
    if (is_truth(known, is_and)) return other;
    if (is_truth(known, !is_and) && (is_and || !ng_expr_can_fail(other))) return known;
  }
  return expr;
}

static const struct ng_expr *folded(struct ng_plan *plan, const struct ng_expr *expr,
                                    size_t *count) {
  if (is_constant(expr) || expr->arg_count == 0) return expr;
  bool foldable = expr->type.base == NET_INTEGER || expr->type.base == NET_FLOAT ||
                  expr->type.base == NET_BOOL || expr->type.base == NET_INSTANT;
  if (foldable && !reads_tuple(expr)) {
    const struct ng_expr *value = evaluated(plan, expr);
    *count += value != expr;
    return value;
  }
  struct ng_expr *copy = NULL;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    const struct ng_expr *operand = folded(plan, expr->args[i], count);
    if (operand == expr->args[i]) continue;
    if (!copy) {
      copy = BASE_NEW(plan->arena, struct ng_expr);
      *copy = *expr;
    }
    copy->args[i] = operand;
  }
  if (copy) expr = copy;
  return expr->op == NG_AND || expr->op == NG_OR ? simplified(expr) : expr;
}

void ng_rule_constant_folding(struct ng_plan *plan) {
  size_t values = 0, selections = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (!node->expr) continue;
    node->expr = folded(plan, node->expr, &values);
    if (node->kind != NET_NODE_SELECTION || !is_truth(node->expr, true)) continue;
    ng_plan_replace(plan, node, node->inputs[0]);
    selections++;
  }
  if (values)
    ng_rule_changed(plan, NG_RULE_CONSTANT_FOLDING, values, "%zu value%s computed", values,
                    values == 1 ? "" : "s");
  if (selections)
    ng_rule_changed(plan, NG_RULE_CONSTANT_FOLDING, selections,
                    "%zu selection%s always true dropped", selections, selections == 1 ? "" : "s");
}
