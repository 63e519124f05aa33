/* Common period: under the default clauses a result starts at the latest start and stops at the
 * earliest stop of all that takes part (thesis 4.5.2). That is the overlap product's own time.
 *
 *      projection [start, stop)
 *            |
 *      apply start = later(A.start, B.start)          projection [product's start, its stop)
 *            |                                 ==>              |
 *      apply stop = earlier(A.stop, B.stop)                overlap product
 *            |
 *      overlap product
 *
 * The product's test is that this period is not empty, for two periods or more, in three-valued
 * logic too: max start < min stop if and only if every start is before every stop. So the
 * projection need not ask again. Only for products of periods; an event in it is the product's time
 * itself. And only for both ends together: where bounds are uncertain the product's time is clipped to
 * be a period, so that one end of it does not go with another clause's other end. */
#include "netgen/expr.h"
#include "netgen/rules/rules.h"

/* Is EXPR a tree of OP over columns of COLUMNS? */
static bool is_fold_of(const struct ng_expr *expr, enum ng_op op,
                       const struct ng_columns *columns) {
  if (expr->op == NG_COLUMN) return ng_columns_have(columns, expr->column);
  return expr->op == op && is_fold_of(expr->args[0], op, columns) &&
         is_fold_of(expr->args[1], op, columns);
}

static bool is_fold_of_all(const struct ng_expr *expr, enum ng_op op,
                           const struct ng_columns *columns) {
  for (size_t i = 0; i < columns->count; i++) {
    if (!ng_expr_reads(expr, columns->items[i])) return false;
  }
  return is_fold_of(expr, op, columns);
}

static const struct ng_column *own_time(struct ng_plan *plan, const struct ng_node *product,
                                        const struct ng_expr *expr) {
  struct ng_participants participants = {0};
  struct ng_columns starts = {0}, stops = {0};
  ng_node_participants(plan, product, &participants);
  for (size_t i = 0; i < participants.count; i++) {
    ng_columns_add(plan->arena, &starts, participants.items[i].start);
    ng_columns_add(plan->arena, &stops, participants.items[i].stop);
  }
  if (is_fold_of_all(expr, NG_LATER, &starts)) return product->own_start;
  if (is_fold_of_all(expr, NG_EARLIER, &stops)) return product->own_stop;
  return NULL;
}

static void substitute(struct ng_plan *plan, const struct ng_column *from,
                       const struct ng_column *to) {
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (node->expr) node->expr = ng_expr_substitute(plan->arena, node->expr, from, to);
    if (node->start_from == from) node->start_from = to;
    if (node->stop_from == from) node->stop_from = to;
  }
}

static const struct ng_node *product_below(const struct ng_node *node) {
  while (node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY) node = node->inputs[0];
  return ng_node_is_product(node) && node->rule == NET_PRODUCT_OVERLAP && node->stop ? node : NULL;
}

/* Selections below PROJECTION that ask whether PRODUCT's own period is empty ask what it has tested. */
static void drop_tests(struct ng_plan *plan, const struct ng_node *projection,
                       const struct ng_node *product) {
  struct ng_node *node = projection->inputs[0];
  while (node != product) {
    const struct ng_expr *test = node->expr;
    bool same = node->kind == NET_NODE_SELECTION && test->op == NG_BEFORE &&
                test->args[0]->op == NG_COLUMN && test->args[0]->column == product->own_start &&
                test->args[1]->op == NG_COLUMN && test->args[1]->column == product->own_stop;
    struct ng_node *below = node->inputs[0];
    if (same) ng_plan_replace(plan, node, below);
    node = below;
  }
}

static bool take_own_time(struct ng_plan *plan, struct ng_node *projection) {
  struct ng_node *start = ng_node_maker(projection, projection->start_from);
  struct ng_node *stop = ng_node_maker(projection, projection->stop_from);
  const struct ng_node *product = product_below(projection->inputs[0]);
  if (!start || !stop || !product) return false;
  if (own_time(plan, product, start->expr) != product->own_start ||
      own_time(plan, product, stop->expr) != product->own_stop) {
    return false;
  }
  substitute(plan, start->own.items[0], product->own_start);
  substitute(plan, stop->own.items[0], product->own_stop);
  ng_plan_replace(plan, start, start->inputs[0]);
  ng_plan_replace(plan, stop, stop->inputs[0]);
  drop_tests(plan, projection, product);
  return true;
}

void ng_rule_common_period(struct ng_plan *plan) {
  size_t replaced = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (node->kind == NET_NODE_PROJECTION && node->stop_from && take_own_time(plan, node))
      replaced += 2;
  }
  if (!replaced) return;
  ng_rule_changed(plan, NG_RULE_COMMON_PERIOD, replaced,
                  "%zu applies replaced by the product's own time", replaced);
}
