/* Speculation: what runs once can be run again, so conditions that can fail are moved as if they could not.
 *
 *      selection A.n = B.n + 1 and P        selection P
 *                |                              |
 *             product             ==>    join, hash keys A.n and n
 *            /       \                      /       \
 *           A         B                    A      apply n = B.n + 1
 *                                                     |
 *                                                     B
 *
 * An error counts only where no other conjunct is false, so such a conjunct stands behind all others, and no
 * rule moves it (netgen/README.md, errors). But what it is asked of then is among what it is asked of further
 * down: if nothing fails there, nothing would have failed above, and the result is the same. If something does,
 * nobody has seen a result yet; the caller forgets it and runs the plan without this rule, which tells the errors
 * that count.
 *
 * Instants that are moved by a duration can fail, too, by leaving the timeline; combined_events.c computes them
 * below products.
 *
 * Here the conjuncts come apart, each a selection that is marked; predicates-down moves them, and joins
 * computes both sides of an equality below the join. One that reads a stop stays: its waiting would hide
 * errors of others. */
#include "netgen/rules/rules.h"

#include "netgen/expr.h"

static bool is_speculated_on(const struct ng_expr *conjunct) {
  return ng_expr_can_fail(conjunct) && !ng_expr_reads_open(conjunct) &&
         !ng_expr_reads_nothing(conjunct);
}

/* Puts the conjuncts of EXPR that are speculated on into selections below NODE; returns the rest, NULL:
 * nothing. */
static const struct ng_expr *take_out(struct ng_plan *plan, struct ng_node *node,
                                      const struct ng_expr *expr, size_t *count) {
  if (expr->op == NG_AND) {
    const struct ng_expr *left = take_out(plan, node, expr->args[0], count);
    const struct ng_expr *right = take_out(plan, node, expr->args[1], count);
    return left && right ? ng_expr_and(plan->arena, left, right) : left ? left : right;
  }
  if (!is_speculated_on(expr)) return expr;
  struct ng_node *selection = ng_node_new(plan, NET_NODE_SELECTION, node->inputs[0], NULL);
  selection->expr = expr;
  selection->speculative = true;
  node->inputs[0] = selection;
  (*count)++;
  return NULL;
}

void ng_rule_speculation(struct ng_plan *plan) {
  size_t node_count = plan->node_count, count = 0;
  if (!plan->may_speculate) return;
  struct ng_node **nodes = BASE_NEW_ARRAY(plan->arena, node_count, struct ng_node *);
  for (size_t i = 0; i < node_count; i++) nodes[i] = plan->nodes[i];
  for (size_t i = 0; i < node_count; i++) {
    struct ng_node *node = nodes[i];
    if (node->alias || node->kind != NET_NODE_SELECTION || !ng_expr_can_fail(node->expr)) continue;
    const struct ng_expr *rest = take_out(plan, node, node->expr, &count);
    if (rest)
      node->expr = rest;
    else
      ng_plan_replace(plan, node, node->inputs[0]);
  }
  if (!count) return;
  ng_rule_changed(plan, NG_RULE_SPECULATION, count, "%zu condition%s moved that can fail", count,
                  count == 1 ? "" : "s");
}
