/* Normal forms (thesis 7.1, step 4): what means the same is written in one way.
 *
 *      3 < E.x                     E.x > 3
 *      2 + E.x, F.x = E.x          E.x + 2, E.x = F.x
 *      F , E                       E , F                            (overlap, equal)
 *      selection x and y           selection y over selection x
 *      selection x, twice          selection x
 *
 * The initial network has conjunctive normal form as the statement is written; what constant folding leaves
 * of a condition may be a conjunction anew. Constants go to the right of comparisons, sums and products, and
 * columns stand in the order in which they were made, so that other rules find conditions and expressions
 * equal that are, and need to know one form of each.
 *
 * Sums and products of floats may be turned around, but not put together otherwise. What can fail stays one
 * condition. Cuts are left alone, like everything that compares functions of time. */
#include "netgen/budget.h"

#include <limits.h>

#include "netgen/expr.h"
#include "netgen/rules/rules.h"

/* The first column that EXPR reads, by when it was made; the largest number: it reads none. */
static unsigned first_column(const struct ng_expr *expr) {
  if (expr->op == NG_COLUMN) return expr->column->id;
  unsigned first = UINT_MAX;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    unsigned column = first_column(expr->args[i]);
    if (column < first) first = column;
  }
  return first;
}

static const struct ng_expr *normal(struct ng_plan *plan, const struct ng_expr *expr) {
  struct ng_expr copy = *expr;
  bool changed = false;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    copy.args[i] = normal(plan, expr->args[i]);
    changed = changed || copy.args[i] != expr->args[i];
  }
  unsigned width = ng_expr_turning_operands(expr);
  if (width && first_column(copy.args[width]) < first_column(copy.args[0])) {
    for (unsigned i = 0; i < width; i++) {
      const struct ng_expr *operand = copy.args[i];
      copy.args[i] = copy.args[width + i];
      copy.args[width + i] = operand;
    }
    copy.op = ng_op_mirrored(copy.op);
    changed = true;
  }
  if (!changed) return expr;
  struct ng_expr *result = BASE_NEW(plan->arena, struct ng_expr);
  *result = copy;
  return result;
}

/* One selection for each conjunct of NODE, which is the last of them. */
static size_t split(struct ng_plan *plan, struct ng_node *node) {
  struct ng_exprs conjuncts = {0};
  if (ng_expr_can_fail(node->expr)) return 0;
  ng_expr_conjuncts(plan->arena, node->expr, &conjuncts);
  if (conjuncts.count < 2) return 0;
  for (size_t i = 0; i + 1 < conjuncts.count; i++) {
    struct ng_node *selection = ng_node_new(plan, NET_NODE_SELECTION, node->inputs[0], NULL);
    selection->expr = conjuncts.items[i];
    node->inputs[0] = selection;
  }
  node->expr = conjuncts.items[conjuncts.count - 1];
  return conjuncts.count - 1;
}

/* Does a selection below NODE, selections and applies alone between, say the same? Who reads those is asked only where
 * one does: it takes longer than to compare. */
static bool is_said_below(const struct ng_plan *plan, const struct ng_node *node) {
  const struct ng_node *same = node->inputs[0];
  for (; !same->alias && (same->kind == NET_NODE_SELECTION || same->kind == NET_NODE_APPLY);
       same = same->inputs[0]) {
    ng_plan_work(plan, 2);
    if (same->kind == NET_NODE_SELECTION && ng_expr_equal(same->expr, node->expr)) break;
  }
  if (same->alias || same->kind != NET_NODE_SELECTION) return false;
  for (const struct ng_node *below = node->inputs[0];; below = below->inputs[0]) {
    if (ng_node_readers(plan, below) != 1) return false;
    if (below == same) return true;
  }
}

void ng_rule_normal_forms(struct ng_plan *plan) {
  size_t turned = 0, parts = 0, dropped = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (!node->expr || node->kind == NET_NODE_CUT) continue;
    const struct ng_expr *expr = normal(plan, node->expr);
    turned += expr != node->expr;
    node->expr = expr;
    if (node->kind == NET_NODE_SELECTION) parts += split(plan, node);
  }
  if (parts) ng_plan_refresh(plan);
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (node->kind != NET_NODE_SELECTION || node->alias || !is_said_below(plan, node)) continue;
    ng_plan_replace(plan, node, node->inputs[0]);
    dropped++;
  }
  if (turned) {
    ng_rule_changed(plan, NG_RULE_NORMAL_FORMS, turned, "%zu expression%s turned around", turned,
                    turned == 1 ? "" : "s");
  }
  if (parts) {
    ng_rule_changed(plan, NG_RULE_NORMAL_FORMS, parts, "%zu conjunct%s taken out", parts,
                    parts == 1 ? "" : "s");
  }
  if (dropped) {
    ng_rule_changed(plan, NG_RULE_NORMAL_FORMS, dropped, "%zu selection%s said twice dropped",
                    dropped, dropped == 1 ? "" : "s");
  }
}
