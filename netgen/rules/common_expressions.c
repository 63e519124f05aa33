/* Common expressions (thesis 7.2.1: common subexpression elimination): what an apply has computed is not
 * computed again above it.
 *
 *      apply pair = E.x / 2
 *            |
 *      selection E.x / 2 > 5                 selection key > 5
 *            |                                     |
 *      join on key, E.x / 2 = F.y     ==>    join on key
 *         /              \                       /       \
 *   apply key = E.x / 2   F            apply key = E.x / 2   F
 *
 * An apply that would compute the same is left out, and its readers read the other's column; a part of a
 * larger expression is read from that column, too. Keys of joins are computed below them: so a target that is
 * one comes with the pair. The apply below has computed it for every row that comes to the one above, so
 * that no error is missed or new.
 *
 * Not across nodes that make other rows (event-to-period, aggregates, projections), and nothing that reads
 * times: a stop may be open below, and known above. */
#include "netgen/rules/rules.h"

#include "netgen/expr.h"

static bool reads_instants(const struct ng_expr *expr) {
  if (expr->type.base == NET_INSTANT) return true;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    if (reads_instants(expr->args[i])) return true;
  }
  return false;
}

static bool is_worth_it(const struct ng_node *apply) {
  const struct ng_expr *expr = apply->expr;
  return expr->op != NG_COLUMN && !ng_expr_reads_nothing(expr) && !reads_instants(expr);
}

static bool same_type(struct net_type a, struct net_type b) {
  return a.base == b.base && a.width == b.width;
}

/* EXPR with COLUMN in the place of every PART. */
static const struct ng_expr *with_column(struct ng_plan *plan, const struct ng_expr *expr,
                                         const struct ng_expr *part,
                                         const struct ng_column *column) {
  if (same_type(expr->type, part->type) && ng_expr_equal(expr, part))
    return ng_expr_column(plan->arena, column);
  struct ng_expr *copy = NULL;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    const struct ng_expr *operand = with_column(plan, expr->args[i], part, column);
    if (operand == expr->args[i]) continue;
    if (!copy) {
      copy = BASE_NEW(plan->arena, struct ng_expr);
      *copy = *expr;
    }
    copy->args[i] = operand;
  }
  return copy ? copy : expr;
}

/* A cut goes by the number of its fields. */
static bool is_below_cut(const struct ng_plan *plan, const struct ng_node *node) {
  do {
    node = ng_node_reader(plan, node);
  } while (node && (node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY));
  return !node || node->kind == NET_NODE_CUT;
}

static bool passes_rows(const struct ng_node *node) {
  return !node->alias && (node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY ||
                          node->kind == NET_NODE_PRODUCT || node->kind == NET_NODE_JOIN);
}

struct counts {
  size_t parts, applies;
};

/* Uses what APPLY computes in the nodes above it; true: one of them has gone. */
static bool use(struct ng_plan *plan, struct ng_node *apply, struct counts *counts) {
  const struct ng_column *column = apply->own.items[0];
  struct ng_node *node = ng_node_reader(plan, apply);
  for (; node && passes_rows(node); node = ng_node_reader(plan, node)) {
    if (!node->expr) continue;
    const struct ng_expr *expr = with_column(plan, node->expr, apply->expr, column);
    bool whole = node->kind == NET_NODE_APPLY && expr->op == NG_COLUMN && expr != node->expr;
    if (whole && same_type(node->own.items[0]->type, column->type) && !is_below_cut(plan, node)) {
      ng_plan_exchange(plan, node->own.items[0], column);
      ng_plan_replace(plan, node, node->inputs[0]);
      counts->applies++;
      return true;
    }
    counts->parts += !whole && expr != node->expr;
    if (!whole) node->expr = expr;
  }
  return false;
}

void ng_rule_common_expressions(struct ng_plan *plan) {
  struct counts counts = {0, 0};
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (node->alias || node->kind != NET_NODE_APPLY || !is_worth_it(node)) continue;
    while (use(plan, node, &counts)) ng_plan_refresh(plan);
  }
  if (counts.applies) {
    ng_rule_changed(plan, NG_RULE_COMMON_EXPRESSIONS, counts.applies,
                    "%zu appl%s of what is computed already", counts.applies,
                    counts.applies == 1 ? "y" : "ies");
  }
  if (counts.parts) {
    ng_rule_changed(plan, NG_RULE_COMMON_EXPRESSIONS, counts.parts,
                    "%zu expression%s with such a part", counts.parts,
                    counts.parts == 1 ? "" : "s");
  }
}
