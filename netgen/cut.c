/* Comparisons of temporal values in where: the node that cuts the result's period.
 *
 *      cut [while condition]
 *           |
 *      projection: targets, and the columns that the condition reads
 *           |
 *      applies, selections ...
 *
 * The condition is the conjunction of what compares temporal values, and of all that can fail: an error
 * counts only if no other conjunct is false, and only the conjunction as a whole knows that at each
 * chronon. It is evaluated over the projection's rows, so the projection carries every column that it
 * reads, behind the targets; the cut leaves them out again. Temporal values in it count from the result's
 * start, which is the projection's own. What is computed from a stop that may be open (a span) is known
 * when the stop is: an apply below the projection computes it, and waits.
 *
 * Targets that can fail stand above the cut. Durations and values in them that count from a tuple's start
 * are computed below, as fields: the cut moves those to the start of each piece.
 *
 * No rule looks through a cut, and none moves it. */
#include "netgen/cut.h"

static const struct net_type type_instant = {NET_INSTANT, 0};

bool ng_changes_with_time(const struct ng_expr *bound) {
  if (ng_expr_is_temporal_comparison(bound)) return true;
  for (unsigned i = 0; i < bound->arg_count; i++) {
    if (ng_changes_with_time(bound->args[i])) return true;
  }
  return false;
}

static const struct ng_column *apply(struct ng_plan *plan, struct ng_node **top,
                                     const struct ng_expr *expr, const char *name) {
  struct ng_node *node = ng_node_new(plan, NET_NODE_APPLY, *top, NULL);
  node->expr = expr;
  ng_columns_add(plan->arena, &node->own, ng_column_computed(plan, name, expr->type, false));
  ng_node_refresh(plan, node);
  *top = node;
  return node->own.items[0];
}

static const char *name_of(const struct ng_expr *expr) {
  if (expr->type.base == NET_TEMPORAL) return "value";
  return expr->op == NG_SPAN_OF ? "span" : "chronon";
}

/* Projections copy fields: a row's own start is made one first. */
static const struct ng_column *as_field(struct ng_plan *plan, struct ng_node **top,
                                        const struct ng_column *column) {
  if (ng_columns_have(&(*top)->fields, column)) return column;
  return apply(plan, top, ng_expr_column(plan->arena, column), column->name);
}

/* The column of the projection's rows that holds COLUMN, added if need be. */
static const struct ng_column *carried(struct ng_plan *plan, struct ng_node *projection,
                                       size_t first, struct ng_node **top,
                                       const struct ng_column *column) {
  if (column == projection->start_from) return projection->own_start;
  for (size_t i = first; i < projection->sources.count; i++) {
    if (projection->sources.items[i] == column) return projection->own.items[i];
  }
  ng_columns_add(plan->arena, &projection->sources, as_field(plan, top, column));
  ng_columns_add(plan->arena, &projection->own,
                 ng_column_copy(plan, column->name, column->type, column));
  return projection->own.items[projection->own.count - 1];
}

/* PROJECTION NULL: as far as the columns go, EXPR stays as it is. */
static const struct ng_expr *over_projection(struct ng_plan *plan, struct ng_node *projection,
                                             size_t first, struct ng_node **top,
                                             const struct ng_expr *expr) {
  bool of_time = expr->op == NG_SPAN_OF || expr->op == NG_CHRONON_OF;
  if (of_time && ng_expr_reads_open(expr)) {
    const struct ng_column *column = apply(plan, top, expr, name_of(expr));
    if (projection) column = carried(plan, projection, first, top, column);
    return ng_expr_column(plan->arena, column);
  }
  if (expr->op == NG_COLUMN && !projection) return expr;
  if (expr->op == NG_COLUMN)
    return ng_expr_column(plan->arena, carried(plan, projection, first, top, expr->column));
  struct ng_expr *copy = BASE_NEW(plan->arena, struct ng_expr);
  *copy = *expr;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    copy->args[i] = over_projection(plan, projection, first, top, expr->args[i]);
  }
  return copy;
}

/* Is EXPR the time of a tuple, or a value that counts from it? */
static bool is_of_own_time(const struct ng_expr *expr) {
  return expr->op == NG_REBASE || expr->op == NG_DURATION || expr->op == NG_SPAN_OF ||
         expr->op == NG_CHRONON_OF;
}

/* Not counting what is computed below a cut. */
static bool reads_instants(const struct ng_expr *expr) {
  if (is_of_own_time(expr)) return false;
  if (expr->op == NG_COLUMN && expr->type.base == NET_INSTANT) return true;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    if (reads_instants(expr->args[i])) return true;
  }
  return false;
}

bool ng_waits_for_cut(const struct ng_expr *value) {
  return ng_expr_can_fail(value) && !is_of_own_time(value) && !reads_instants(value);
}

const struct ng_expr *ng_cut_target(struct ng_plan *plan, struct ng_node *projection,
                                    struct ng_node **top, const struct ng_expr *value) {
  if (value->op == NG_COLUMN || is_of_own_time(value)) {
    const struct ng_column *column = value->op == NG_COLUMN
                                         ? as_field(plan, top, value->column)
                                         : apply(plan, top, value, name_of(value));
    if (!projection) return ng_expr_column(plan->arena, column);
    for (size_t i = 0; i < projection->sources.count; i++) {
      if (projection->sources.items[i] == column)
        return ng_expr_column(plan->arena, projection->own.items[i]);
    }
    ng_columns_add(plan->arena, &projection->sources, column);
    ng_columns_add(plan->arena, &projection->own,
                   ng_column_new(plan, column->name, column->type, false));
    return ng_expr_column(plan->arena, projection->own.items[projection->own.count - 1]);
  }
  struct ng_expr *copy = BASE_NEW(plan->arena, struct ng_expr);
  *copy = *value;
  for (unsigned i = 0; i < value->arg_count; i++)
    copy->args[i] = ng_cut_target(plan, projection, top, value->args[i]);
  return copy;
}

/* A cut directly above *TOP, over its own rows. */
struct ng_node *ng_cut_rows(struct ng_plan *plan, struct ng_node *top,
                            const struct ng_expr *condition) {
  condition = over_projection(plan, NULL, 0, &top, condition);
  return ng_cut_node(plan, top, top->fields.count, condition);
}

const struct ng_expr *ng_cut_condition(struct ng_plan *plan, struct ng_node *projection,
                                       struct ng_node **top, const struct ng_expr *condition) {
  return over_projection(plan, projection, projection->own.count, top, condition);
}

struct ng_node *ng_cut_node(struct ng_plan *plan, struct ng_node *input, size_t kept_fields,
                            const struct ng_expr *condition) {
  struct ng_node *node = ng_node_new(plan, NET_NODE_CUT, input, NULL);
  node->expr = condition;
  node->kept_fields = kept_fields;
  node->own_start = ng_column_new(plan, input->start->name, type_instant, false);
  if (input->stop) node->own_stop = ng_column_new(plan, input->stop->name, type_instant, true);
  ng_node_refresh(plan, node);
  return node;
}
