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
 * Through the query of a view or an earlier query of the plan a conjunct goes on under the names that its
 * domains have there, below the projection that makes them:
 *
 *   selection V.b = 3              V
 *          |                       |
 *          V               projection b = E.x
 *          |                       |
 *   projection b = E.x   ==>  selection E.x = 3
 *          |                       |
 *          E                       E
 *
 * and through an aggregate if it reads nothing but what the groups are of: whole groups go. Not where
 * something in that query can fail: errors of tuples that the view has count, whether they are asked for or
 * not. Not where the aggregate's own origin is looked for in its tuples.
 *
 * A predicate that can fail stays where it is, unless that is speculated on (speculation.c): moved in front
 * of its guards it would report errors of rows that the guards leave out. One that reads a stop stays above products: below, the rows
 * that wait for it to be decided would hold back the whole product; but none waits where it compares with times
 * before which all is known already (ng_plan_known_until): how it was then, or is now. Nothing moves below a node that
 * others read, too. */
#include "netgen/rules/rules.h"

#include "netgen/expr.h"
#include "netgen/signature.h"

/* Nothing but what tells apart the entities of NODE, an event-to-period? */
static bool reads_only_entity(const struct ng_expr *expr, const struct ng_node *node) {
  if (expr->op == NG_COLUMN && !ng_columns_have(&node->by_columns, expr->column)) return false;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    if (!reads_only_entity(expr->args[i], node)) return false;
  }
  return true;
}

/* --- other names */

/* What COLUMN of NODE's rows is below NODE, the same value of the same type; NULL: nothing. */
static const struct ng_column *below(const struct ng_node *node, const struct ng_column *column) {
  const struct ng_columns *above = node->alias ? &node->fields : &node->own;
  for (size_t i = 0; i < above->count; i++) {
    if (above->items[i] != column) continue;
    const struct ng_column *source = NULL;
    if (node->alias)
      source = node->inputs[0]->fields.items[i];
    else if (node->kind == NET_NODE_PROJECTION)
      source = node->sources.items[i];
    else if (node->kind == NET_NODE_AGGREGATE && i < node->by_columns.count)
      source = node->by_columns.items[i];
    if (!source || source->type.base != column->type.base ||
        source->type.width != column->type.width)
      return NULL;
    return source;
  }
  return NULL;
}

static bool is_float(const struct ng_column *column) {
  return column->type.base == NET_FLOAT;
}

/* EXPR over the rows below NODE; NULL: it reads something that is not there, or is there once for several
 * values that are equal and not the same. */
static const struct ng_expr *renamed(struct ng_plan *plan, const struct ng_node *node,
                                     const struct ng_expr *expr) {
  if (expr->op == NG_COLUMN) {
    const struct ng_column *column = below(node, expr->column);
    if (!column || (node->kind == NET_NODE_AGGREGATE && is_float(column))) return NULL;
    return ng_expr_column(plan->arena, column);
  }
  struct ng_expr *copy = BASE_NEW(plan->arena, struct ng_expr);
  *copy = *expr;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    copy->args[i] = renamed(plan, node, expr->args[i]);
    if (!copy->args[i]) return NULL;
  }
  return copy;
}

static bool can_fail(const struct ng_node *node) {
  if (ng_node_can_fail(node)) return true;
  for (unsigned port = 0; port < node->input_count; port++) {
    if (can_fail(node->inputs[port])) return true;
  }
  return false;
}

/* Does EXPR read domains alone, and none that may be equal and not the same? */
static bool reads_exact_domains(const struct ng_expr *expr) {
  if (expr->op == NG_COLUMN) return expr->type.base != NET_INSTANT && !is_float(expr->column);
  for (unsigned i = 0; i < expr->arg_count; i++) {
    if (!reads_exact_domains(expr->args[i])) return false;
  }
  return true;
}

static bool has_origin(const struct ng_node *aggregate) {
  if (aggregate->aggregate->function == NET_AGG_AVGC && !aggregate->query->averaging_origin_given)
    return false;
  return aggregate->query->origin_given || aggregate->query->timeline == NET_TIMELINE_ABSTRACT;
}

/* EXPR as it is below NODE, a node that gives its columns other names; NULL: it stays above. */
static const struct ng_expr *through(struct ng_plan *plan, const struct ng_node *node,
                                     const struct ng_expr *expr) {
  bool grouped = node->kind == NET_NODE_AGGREGATE && node->by_columns.count > 0;
  if (!node->alias && node->kind != NET_NODE_PROJECTION && !grouped) return NULL;
  if (ng_expr_reads_nothing(expr) || ng_expr_reads_open(expr)) return NULL;
  if (node->alias && ng_node_readers(plan, node->inputs[0]) != 1) return NULL;
  if (grouped && !has_origin(node)) return NULL;
  if ((node->alias || grouped) && can_fail(node)) return NULL;
  return renamed(plan, node, expr);
}

/* Is EXPR a time before which PLAN knows everything? */
static bool is_known(const struct ng_plan *plan, const struct ng_expr *expr) {
  return expr->op == NG_INSTANT && expr->instant.hi != NET_FOREVER &&
         expr->instant.hi < plan->known_until;
}

static bool is_openable(const struct ng_expr *expr) {
  return expr->op == NG_COLUMN && expr->column->openable;
}

/* Of the operands of EXPR, are those numbered A and B to be compared at once: a stop with a known time, or neither open? */
static bool compares_known(const struct ng_plan *plan, const struct ng_expr *expr, unsigned a,
                           unsigned b) {
  const struct ng_expr *left = expr->args[a], *right = expr->args[b];
  if (!ng_expr_reads_open(left) && !ng_expr_reads_open(right)) return true;
  return (is_openable(left) && is_known(plan, right)) ||
         (is_openable(right) && is_known(plan, left));
}

/* Does no row have to wait for EXPR to be decided? A stop that is not known yet is not before what is. */
static bool is_decided(const struct ng_plan *plan, const struct ng_expr *expr) {
  if (!ng_expr_reads_open(expr)) return true;
  switch (expr->op) {
    case NG_AND:
    case NG_OR:
    case NG_NOT:
      for (unsigned i = 0; i < expr->arg_count; i++)
        if (!is_decided(plan, expr->args[i])) return false;
      return true;
    case NG_BEFORE:
    case NG_NOT_AFTER:
    case NG_EQUAL_INSTANTS:
      return compares_known(plan, expr, 0, 1);
    case NG_OVERLAP_EVENT:
      return compares_known(plan, expr, 0, 2);
    case NG_OVERLAP_PERIODS:
      return compares_known(plan, expr, 0, 3) && compares_known(plan, expr, 2, 1);
    default:
      return false;
  }
}

/* --- down */

/* May a selection by EXPR that stands above NODE stand below it, and at which port? */
static bool passes(const struct ng_plan *plan, const struct ng_node *node,
                   const struct ng_expr *expr, unsigned *ret_port) {
  *ret_port = 0;
  if (node->alias) return false;
  switch (node->kind) {
    case NET_NODE_APPLY:
      return ng_expr_fits(expr, node->inputs[0]);
    case NET_NODE_ANTI_JOIN:
      return is_decided(plan, expr) && ng_expr_fits(expr, node->inputs[0]);
    case NET_NODE_PRODUCT:
      if (!is_decided(plan, expr)) return false;
      for (unsigned port = 0; port < 2; port++) {
        *ret_port = port;
        if (ng_expr_fits(expr, node->inputs[port])) return true;
      }
      return false;
    case NET_NODE_SWITCH_DISPOSITION:
    case NET_NODE_CREDIBILITY: /* other times of the same name */
    case NET_NODE_COMPENSATE:
    case NET_NODE_SET:
    case NET_NODE_DISTINCT:
    case NET_NODE_COALESCE:
    case NET_NODE_DIFFERENCE:
      return !ng_expr_reads_nothing(expr) && reads_exact_domains(expr);
    case NET_NODE_EVENT_TO_PERIOD:
      return node->by_columns.count && !ng_expr_reads_nothing(expr) &&
             reads_only_entity(expr, node);
    default:
      return false;
  }
}

/* What a selection that has been moved has passed. */
struct passed {
  bool periods, names;
};

static bool move_down(struct ng_plan *plan, struct ng_node *selection, struct passed *ret) {
  struct ng_node *above = NULL, *node = selection->inputs[0];
  const struct ng_expr *expr = selection->expr;
  unsigned above_port = 0;
  while (ng_node_readers(plan, node) == 1) {
    if (node->kind == NET_NODE_SELECTION) { /* conjuncts keep their order among themselves */
      node = node->inputs[0];
      continue;
    }
    unsigned port = 0;
    const struct ng_expr *other = through(plan, node, expr);
    if (!other && !passes(plan, node, expr, &port)) break;
    ret->names = ret->names || other;
    if (other) expr = other;
    above = node;
    above_port = port;
    node = node->inputs[port];
  }
  if (!above) return false;
  ng_plan_replace(plan, selection, selection->inputs[0]);
  selection->inputs[0] = above->inputs[above_port];
  above->inputs[above_port] = selection;
  selection->expr = expr;
  ret->periods = above->kind == NET_NODE_EVENT_TO_PERIOD;
  return true;
}

bool ng_selection_moves(const struct ng_node *selection) {
  return selection->speculative || !ng_expr_can_fail(selection->expr);
}

bool ng_selection_down(struct ng_plan *plan, struct ng_node *selection) {
  struct passed passed = {false, false};
  return move_down(plan, selection, &passed);
}

void ng_rule_predicates_down(struct ng_plan *plan) {
  size_t count = plan->node_count, moved = 0, below_periods = 0, below_names = 0;
  struct ng_node **nodes = BASE_NEW_ARRAY(plan->arena, count, struct ng_node *);
  for (size_t i = 0; i < count; i++) nodes[i] = plan->nodes[i];
  for (size_t i = 0; i < count; i++) {
    struct ng_node *node = nodes[i];
    struct passed passed = {false, false};
    if (node->kind != NET_NODE_SELECTION || !ng_selection_moves(node)) continue;
    if (!move_down(plan, node, &passed)) continue;
    moved++;
    below_periods += passed.periods;
    below_names += passed.names;
    ng_plan_refresh(plan);
  }
  if (!moved) return;
  ng_rule_changed(plan, NG_RULE_PREDICATES_DOWN, moved, "%zu selection%s moved", moved,
                  moved == 1 ? "" : "s");
  if (below_periods) {
    ng_rule_changed(plan, NG_RULE_PREDICATES_DOWN, 0, "%zu of them below event-to-period",
                    below_periods);
  }
  if (below_names) {
    ng_rule_changed(plan, NG_RULE_PREDICATES_DOWN, 0,
                    "%zu of them into a view, an earlier query or the groups of an aggregate",
                    below_names);
  }
}
