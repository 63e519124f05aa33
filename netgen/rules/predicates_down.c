/* Predicates down (thesis 7.2.1): sigma_F(R1 x R2) becomes sigma_F1(R1) x sigma_F2(R2).
 *
 *      selection                    product
 *          |                       /       \
 *       product        ==>    selection     B
 *       /     \                   |
 *      A       B                  A
 *
 * Each conjunct goes to the lowest place whose columns suffice: below applies that do not make one
 * of its columns, below products to the side that it concerns, onto event-to-period, and below that
 * only if it reads nothing but the domain that tells entities apart: a record also ends the period
 * before it, whatever its other domains are.
 *
 * A predicate that can fail stays where it is: moved in front of its guards it would report errors
 * of rows that the guards leave out. One that reads a stop stays above products: below, the rows
 * that wait for it to be decided would hold back the whole product. Nothing moves below a node that
 * others read, too. */
#include "netgen/plan.h"

#include "netgen/expr.h"

static bool reads_only(const struct ng_expr *expr, const struct ng_column *column) {
  if (expr->op == NG_COLUMN && expr->column != column) return false;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    if (!reads_only(expr->args[i], column)) return false;
  }
  return true;
}

/* May a selection by EXPR that stands above NODE stand below it, and at which port? */
static bool passes(const struct ng_node *node, const struct ng_expr *expr, unsigned *ret_port) {
  *ret_port = 0;
  switch (node->kind) {
    case NET_NODE_APPLY:
      return ng_expr_fits(expr, node->inputs[0]);
    case NET_NODE_PRODUCT:
      if (ng_expr_reads_open(expr)) return false;
      for (unsigned port = 0; port < 2; port++) {
        *ret_port = port;
        if (ng_expr_fits(expr, node->inputs[port])) return true;
      }
      return false;
    case NET_NODE_EVENT_TO_PERIOD:
      return node->by && !ng_expr_reads_nothing(expr) && reads_only(expr, node->by);
    default:
      return false;
  }
}

static bool move_down(struct ng_plan *plan, struct ng_node *selection, bool *ret_below_periods) {
  struct ng_node *above = NULL, *node = selection->inputs[0];
  unsigned above_port = 0;
  while (ng_node_readers(plan, node) == 1) {
    if (node->kind == NET_NODE_SELECTION) { /* conjuncts keep their order among themselves */
      node = node->inputs[0];
      continue;
    }
    unsigned port;
    if (!passes(node, selection->expr, &port)) break;
    above = node;
    above_port = port;
    node = node->inputs[port];
  }
  if (!above) return false;
  ng_plan_replace(plan, selection, selection->inputs[0]);
  selection->inputs[0] = above->inputs[above_port];
  above->inputs[above_port] = selection;
  *ret_below_periods = above->kind == NET_NODE_EVENT_TO_PERIOD;
  return true;
}

void ng_rule_predicates_down(struct ng_plan *plan) {
  size_t count = plan->node_count, moved = 0, below_periods = 0;
  struct ng_node **nodes = BASE_NEW_ARRAY(plan->arena, count, struct ng_node *);
  for (size_t i = 0; i < count; i++) nodes[i] = plan->nodes[i];
  for (size_t i = 0; i < count; i++) {
    struct ng_node *node = nodes[i];
    bool below = false;
    if (node->kind != NET_NODE_SELECTION || ng_expr_can_fail(node->expr)) continue;
    if (!move_down(plan, node, &below)) continue;
    moved++;
    below_periods += below;
    ng_plan_refresh(plan);
  }
  if (!moved) return;
  ng_rule_changed(plan, NG_RULE_PREDICATES_DOWN, moved, "%zu selection%s moved", moved,
                  moved == 1 ? "" : "s");
  if (below_periods) {
    ng_rule_changed(plan, NG_RULE_PREDICATES_DOWN, 0, "%zu of them below event-to-period",
                    below_periods);
  }
}
