/* Equal values: what is known of a domain on one side of a product is known of the domains of the other side
 * that a condition makes equal to it.
 *
 *      selection E.x = F.x               selection E.x = F.x
 *            |                                 |
 *         product                           product
 *         /     \               ==>         /     \
 *  selection     F                   selection   selection
 *   E.x = 3                           E.x = 3     F.x = 3
 *      |                                 |           |
 *      E                                 E           F
 *
 * The new selection goes as far down as predicates-down takes others: to an access node, below
 * event-to-period where F.x tells entities apart, into a view, through an aggregate whose groups it is. What
 * is known of E.x is found in the same places.
 *
 * Equal integers, strings and bytes are the same value, so that any condition of the one holds of the other.
 * Floats are excepted, and what can fail for a value that the other domain has not. */
#include "netgen/rules/rules.h"

#include "netgen/expr.h"

static bool is_exact(struct net_type type) {
  return type.base == NET_INTEGER || type.base == NET_STRING || type.base == NET_BYTES;
}

/* Are the operands of EXPR two domains that are the same where they are equal? */
static bool makes_equal(const struct ng_expr *expr) {
  return expr->op == NG_EQ && expr->args[0]->op == NG_COLUMN && expr->args[1]->op == NG_COLUMN &&
         is_exact(expr->args[0]->type) && expr->args[0]->type.base == expr->args[1]->type.base;
}

static bool reads_only(const struct ng_expr *expr, const struct ng_column *column) {
  if (expr->op == NG_COLUMN) return expr->column == column;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    if (!reads_only(expr->args[i], column)) return false;
  }
  return true;
}

static void add_known(struct ng_plan *plan, struct ng_exprs *known, const struct ng_expr *expr) {
  for (size_t i = 0; i < known->count; i++) {
    if (ng_expr_equal(known->items[i], expr)) return;
  }
  ng_exprs_add(plan->arena, known, expr);
}

/* What COLUMN of NODE's rows is called below NODE; NULL: it is not there. */
static const struct ng_column *name_below(const struct ng_node *node,
                                          const struct ng_column *column) {
  const struct ng_columns *own = node->alias ? &node->fields : &node->own;
  for (size_t i = 0; i < own->count; i++) {
    if (own->items[i] != column) continue;
    if (node->alias) return node->inputs[0]->fields.items[i];
    if (node->kind == NET_NODE_PROJECTION) return node->sources.items[i];
    if (node->kind == NET_NODE_AGGREGATE && i < node->by_columns.count)
      return node->by_columns.items[i];
    return NULL;
  }
  return column;
}

/* What selections below NODE, itself included, say of COLUMN alone. */
static void find_known(struct ng_plan *plan, const struct ng_node *node,
                       const struct ng_column *column, struct ng_exprs *known) {
  if (!node->alias && node->kind == NET_NODE_SELECTION && !ng_expr_can_fail(node->expr) &&
      ng_expr_reads(node->expr, column) && reads_only(node->expr, column))
    add_known(plan, known, node->expr);
  if (!node->alias && node->kind == NET_NODE_CUT) return;
  const struct ng_column *name = name_below(node, column);
  for (unsigned port = 0; name && port < node->input_count; port++) {
    struct ng_exprs below = {0};
    if (!ng_columns_have(&node->inputs[port]->fields, name)) continue;
    find_known(plan, node->inputs[port], name, &below);
    for (size_t i = 0; i < below.count; i++)
      add_known(plan, known, ng_expr_substitute(plan->arena, below.items[i], name, column));
  }
}

/* Says of TO, at PORT of PRODUCT, what is known of FROM on the other side. */
static size_t conclude(struct ng_plan *plan, struct ng_node *product, const struct ng_column *from,
                       unsigned port, const struct ng_column *to) {
  struct ng_exprs known = {0}, said = {0};
  size_t added = 0;
  if (!ng_columns_have(&product->inputs[1 - port]->fields, from) ||
      !ng_columns_have(&product->inputs[port]->fields, to))
    return 0;
  find_known(plan, product->inputs[1 - port], from, &known);
  find_known(plan, product->inputs[port], to, &said);
  for (size_t i = 0; i < known.count; i++) {
    const struct ng_expr *other = ng_expr_substitute(plan->arena, known.items[i], from, to);
    size_t count = said.count;
    if (ng_expr_can_fail(other)) continue;
    add_known(plan, &said, other);
    if (said.count == count) continue;
    struct ng_node *selection = ng_node_new(plan, NET_NODE_SELECTION, product->inputs[port], NULL);
    selection->expr = other;
    product->inputs[port] = selection;
    ng_plan_refresh(plan);
    ng_selection_down(plan, selection);
    ng_plan_refresh(plan);
    added++;
  }
  return added;
}

static size_t conclude_all(struct ng_plan *plan, struct ng_node *product) {
  size_t added = 0;
  struct ng_node *node = ng_node_reader(plan, product);
  while (node && (node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY)) {
    if (node->kind == NET_NODE_SELECTION && makes_equal(node->expr)) {
      const struct ng_column *a = node->expr->args[0]->column, *b = node->expr->args[1]->column;
      for (unsigned port = 0; port < 2; port++)
        added += conclude(plan, product, a, port, b) + conclude(plan, product, b, port, a);
    }
    node = ng_node_reader(plan, node);
  }
  return added;
}

/* What has been found may let more be found elsewhere. */
void ng_rule_equal_values(struct ng_plan *plan) {
  size_t added = 0, more;
  do {
    size_t count = plan->node_count;
    struct ng_node **nodes = BASE_NEW_ARRAY(plan->arena, count, struct ng_node *);
    for (size_t i = 0; i < count; i++) nodes[i] = plan->nodes[i];
    more = 0;
    for (size_t i = 0; i < count; i++) {
      if (nodes[i]->kind == NET_NODE_PRODUCT) more += conclude_all(plan, nodes[i]);
    }
    added += more;
  } while (more);
  if (!added) return;
  ng_rule_changed(plan, NG_RULE_EQUAL_VALUES, added, "%zu selection%s of an equal value", added,
                  added == 1 ? "" : "s");
}
