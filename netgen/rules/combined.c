/* How a plan is changed where one side of a product comes with other times: see combined.h. */
#include "netgen/rules/combined.h"

#include "netgen/expr.h"
#include "netgen/rules/rules.h"

void ng_combined_remember(const struct ng_plan *plan, struct ng_before *ret) {
  ret->count = plan->node_count;
  if (ret->count > ret->capacity) { /* a rule remembers many times, and one plan at a time */
    ret->capacity = 2 * ret->count;
    ret->nodes = BASE_NEW_ARRAY(plan->arena, ret->capacity, struct ng_node *);
    ret->copies = BASE_NEW_ARRAY(plan->arena, ret->capacity, struct ng_node);
  }
  for (size_t i = 0; i < ret->count; i++) {
    ret->nodes[i] = plan->nodes[i];
    ret->copies[i] = *plan->nodes[i];
  }
  if (!ret->results)
    ret->results = BASE_NEW_ARRAY(plan->arena, plan->query_count, struct ng_node *);
  for (size_t i = 0; i < plan->query_count; i++) ret->results[i] = plan->queries[i].result;
}

void ng_combined_restore(struct ng_plan *plan, const struct ng_before *before) {
  for (size_t i = 0; i < before->count; i++) {
    struct ng_node *node = before->nodes[i], now = *node;
    *node = before->copies[i];
    /* which are found anew, in the room that they have now */
    node->fields = now.fields;
    node->has = now.has;
    node->has_count = now.has_count;
  }
  for (size_t i = 0; i < plan->query_count; i++) plan->queries[i].result = before->results[i];
  ng_plan_refresh(plan);
}

bool ng_combined_above(struct ng_plan *plan, const struct ng_node *product, struct ng_above *ret) {
  struct ng_node *node = ng_node_reader(plan, product);
  *ret = (struct ng_above){0};
  while (node && !node->alias) {
    bool full = node->kind == NET_NODE_PRODUCT && node->rule == NET_PRODUCT_FULL;
    bool last = node->kind == NET_NODE_PROJECTION && !node->carries;
    if (!full && !last && node->kind != NET_NODE_SELECTION && node->kind != NET_NODE_APPLY)
      return false;
    ret->nodes =
        ng_grown(plan->arena, ret->nodes, ret->count, &ret->capacity, sizeof(struct ng_node *));
    ret->nodes[ret->count++] = node;
    if (last) return true;
    node = ng_node_reader(plan, node);
  }
  return false;
}

bool ng_combined_is_instant(const struct ng_expr *expr, const struct ng_node *side) {
  return expr->type.base == NET_INSTANT && !ng_expr_reads_nothing(expr) && ng_expr_fits(expr, side);
}

/* EXPR with COLUMN in the place of INSTANT. */
static const struct ng_expr *with_column(struct ng_plan *plan, const struct ng_expr *expr,
                                         const struct ng_expr *instant,
                                         const struct ng_column *column) {
  if (ng_expr_equal(expr, instant)) return ng_expr_column(plan->arena, column);
  struct ng_expr *copy = BASE_NEW(plan->arena, struct ng_expr);
  *copy = *expr;
  for (unsigned i = 0; i < expr->arg_count; i++)
    copy->args[i] = with_column(plan, expr->args[i], instant, column);
  return copy;
}

void ng_combined_read(struct ng_plan *plan, const struct ng_above *above,
                      const struct ng_expr *instant, const struct ng_column *column) {
  for (size_t i = 0; i < above->count; i++) {
    struct ng_node *node = above->nodes[i];
    if (node->expr) node->expr = with_column(plan, node->expr, instant, column);
    if (instant->op != NG_COLUMN) continue;
    if (node->start_from == instant->column) node->start_from = column;
    if (node->stop_from == instant->column) node->stop_from = column;
    struct ng_columns sources = {0};
    for (size_t k = 0; k < node->sources.count; k++)
      ng_columns_add(plan->arena, &sources,
                     node->sources.items[k] == instant->column ? column : node->sources.items[k]);
    node->sources = sources;
  }
}

struct ng_node *ng_combined_select(struct ng_plan *plan, const struct ng_above *above,
                                   struct ng_node *side) {
  struct ng_node *top = side;
  for (size_t i = 0; i < above->count; i++) {
    struct ng_node *node = above->nodes[i];
    if (node->kind != NET_NODE_SELECTION || !ng_selection_moves(node) ||
        !ng_expr_fits(node->expr, side))
      continue;
    ng_plan_replace(plan, node, node->inputs[0]);
    node->inputs[0] = top;
    top = node;
  }
  return top;
}

struct ng_node *ng_combined_instant(struct ng_plan *plan, struct ng_node *side,
                                    const struct ng_expr *instant, const struct ng_column **ret) {
  *ret = ng_node_compute(plan, &side, instant, NULL);
  return side;
}

struct ng_node *ng_combined_project(struct ng_plan *plan, struct ng_node *side,
                                    const struct ng_columns *columns, const struct ng_column *from,
                                    const struct ng_column *at) {
  struct ng_node *projection = ng_node_new(plan, NET_NODE_PROJECTION, side, NULL);
  for (size_t i = 0; i < columns->count; i++) {
    const struct ng_column *column = columns->items[i];
    if (column == at || column->openable) continue;
    ng_columns_add(plan->arena, &projection->own, column);
    ng_columns_add(plan->arena, &projection->sources, column);
  }
  projection->own_start = at;
  projection->start_from = from;
  projection->carries = true;
  return projection;
}

struct ng_columns ng_combined_columns(struct ng_plan *plan, const struct ng_node *side) {
  struct ng_columns columns = {0};
  for (size_t i = 0; i < side->fields.count; i++)
    ng_columns_add(plan->arena, &columns, side->fields.items[i]);
  if (ng_node_is_combination(side)) return columns;
  ng_columns_add(plan->arena, &columns, side->start);
  if (side->stop) ng_columns_add(plan->arena, &columns, side->stop);
  return columns;
}

static bool is_lost(const struct ng_column *column, const struct ng_columns *columns,
                    const struct ng_column *stop) {
  return column && column != stop && column->openable && ng_columns_have(columns, column);
}

static bool reads_lost(const struct ng_expr *expr, const struct ng_columns *columns,
                       const struct ng_column *stop) {
  if (expr->op == NG_COLUMN) return is_lost(expr->column, columns, stop);
  for (unsigned i = 0; i < expr->arg_count; i++)
    if (reads_lost(expr->args[i], columns, stop)) return true;
  return false;
}

bool ng_combined_lacks(const struct ng_above *above, const struct ng_columns *columns,
                       const struct ng_column *stop) {
  for (size_t i = 0; i < above->count; i++) {
    const struct ng_node *node = above->nodes[i];
    if (node->expr && reads_lost(node->expr, columns, stop)) return true;
    if (is_lost(node->start_from, columns, stop) || is_lost(node->stop_from, columns, stop))
      return true;
    for (size_t k = 0; k < node->sources.count; k++)
      if (is_lost(node->sources.items[k], columns, stop)) return true;
  }
  return false;
}
