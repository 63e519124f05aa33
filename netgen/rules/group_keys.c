/* Group keys: an aggregate that chooses one of the values by which it groups (`min(R.other by R.other)`,
 * said to name the groups of another aggregate) has that value while something of its group is there.
 * Where another aggregate of the query is of the same tuples in the same groups, it has it, too.
 *
 *          R.other of both equal                        R.other of count
 *                  |                                           |
 *               product                  ==>     count(R) by R.other, of what is there for sure
 *              /       \
 *     min of R.other   count(R)
 *       by R.other      by R.other
 *
 * Both have segments while something is in the group, omega as long as something is there perhaps; both
 * begin and end where that changes, the other one also elsewhere: so a segment of the other one lies in
 * one of the first. Only where nothing is there for sure does count have a value (0) that min does not:
 * such segments are left out.
 *
 * Where the value is computed of the aggregate's start (a function of time), that is a field of the product,
 * and must be made one when the product goes.
 *
 * Both must count the same: instantaneous functions, or events. Of periods a cumulative one has the value of
 * its group from when something was there for sure, and so has avgc if it leaves out what was there before;
 * avgc is omega wherever the other one is, and stays so. What it gives needs no rebasing any more, because its
 * segments are the result's periods. The value must be a domain as it is, no float (two of which may be equal
 * and not the same). */
#include "netgen/rules/rules.h"

#include "netgen/expr.h"

static bool chooses(enum net_aggregate_function function) {
  return function == NET_AGG_MIN || function == NET_AGG_MAX || function == NET_AGG_FIRST ||
         function == NET_AGG_LAST;
}

/* Has FUNCTION a value only of what is there for sure? */
static bool needs_some(enum net_aggregate_function function) {
  return function != NET_AGG_COUNT && function != NET_AGG_ANY && function != NET_AGG_SUM &&
         function != NET_AGG_AVGC;
}

static bool same_expr(const struct ng_expr *a, const struct ng_expr *b) {
  if (!a || !b) return a == b;
  if (a->variable != b->variable || a->index != b->index || a->arg_count != b->arg_count)
    return false;
  for (unsigned i = 0; i < a->arg_count; i++) {
    if (!same_expr(a->args[i], b->args[i])) return false;
  }
  return ng_expr_equal(a, b);
}

static bool same_groups(const struct ng_node *a, const struct ng_node *b) {
  const struct ng_aggregate *x = a->aggregate, *y = b->aggregate;
  if (a->query != b->query || x->variable != y->variable || x->by_count != y->by_count ||
      x->cumulative != y->cumulative || x->window != y->window ||
      a->groups_of_all != b->groups_of_all || a->groups_sure != b->groups_sure) {
    return false;
  }
  for (size_t i = 0; i < x->by_count; i++) {
    if (!same_expr(x->by[i], y->by[i])) return false;
  }
  return same_expr(x->where, y->where) && same_expr(x->when, y->when);
}

/* The place of the by domain that NODE chooses; -1: it is none. */
static int chosen(const struct ng_node *node) {
  const struct ng_aggregate *aggregate = node->aggregate;
  if (node->kind != NET_NODE_AGGREGATE || !chooses(aggregate->function) || aggregate->unique)
    return -1;
  for (size_t i = 0; i < node->by_columns.count; i++) {
    if (node->by_columns.items[i]->type.base == NET_FLOAT) return -1;
  }
  for (size_t i = 0; i < node->by_columns.count; i++) {
    if (node->argument == node->by_columns.items[i] && !node->argument->computed) return (int)i;
  }
  return -1;
}

static bool may_stand_for(const struct ng_node *node, const struct ng_node *other) {
  if (other == node || other->kind != NET_NODE_AGGREGATE || !same_groups(node, other)) return false;
  const struct ng_aggregate *aggregate = node->aggregate;
  bool events =
      node->query->variables[aggregate->variable].relation->layout->tuple_class == NET_EVENT;
  if (other->aggregate->function == NET_AGG_AVGC) return !events && aggregate->cumulative;
  if (!events && (aggregate->cumulative || aggregate->window > 0)) return false;
  switch (other->aggregate->function) {
    case NET_AGG_EXTEND:
    case NET_AGG_EARLIEST:
    case NET_AGG_LATEST:
      return false;
    default:
      return true;
  }
}

/* --- the product */

static bool is_plain_product(const struct ng_node *node) {
  return node->kind == NET_NODE_PRODUCT && !node->expr && !node->as_events.count;
}

/* An aggregate below PRODUCT, products alone between, that may stand for NODE. */
static struct ng_node *substitute_below(struct ng_node *product, const struct ng_node *node) {
  if (!is_plain_product(product)) return may_stand_for(node, product) ? product : NULL;
  struct ng_node *left = substitute_below(product->inputs[0], node);
  return left ? left : substitute_below(product->inputs[1], node);
}

/* Does a projection copy COLUMN? */
static bool is_copied(const struct ng_plan *plan, const struct ng_column *column) {
  for (size_t i = 0; i < plan->node_count; i++) {
    if (ng_columns_have(&plan->nodes[i]->sources, column)) return true;
  }
  return false;
}

/* Nothing above refers to PRODUCT's own times, and no cut goes by the number of its fields. */
static bool may_go(const struct ng_plan *plan, const struct ng_node *product) {
  for (size_t i = 0; i < plan->node_count; i++) {
    if (ng_node_refers(plan->nodes[i], product->own_start) ||
        ng_node_refers(plan->nodes[i], product->own_stop))
      return false;
  }
  for (const struct ng_node *node = product; node; node = ng_node_reader(plan, node)) {
    if (node->kind == NET_NODE_CUT) return false;
    if (node->kind == NET_NODE_PROJECTION) return true;
  }
  return false;
}

static void exchange(struct ng_plan *plan, const struct ng_column *from,
                     const struct ng_column *to) {
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (node->expr) node->expr = ng_expr_substitute(plan->arena, node->expr, from, to);
    if (node->start_from == from) node->start_from = to;
    if (node->stop_from == from) node->stop_from = to;
    for (size_t j = 0; j < node->sources.count; j++) {
      if (node->sources.items[j] == from) node->sources.items[j] = to;
    }
  }
}

/* --- what is left of conditions and times */

static const struct ng_expr *simpler(struct ng_plan *plan, const struct ng_expr *expr) {
  if (expr->op == NG_REBASE && expr->args[0]->op == NG_COLUMN &&
      ng_expr_equal(expr->args[1], expr->args[2]))
    return expr->args[0]; /* from one instant to the same one */
  if (expr->op != NG_LATER && expr->op != NG_EARLIER) return expr;
  const struct ng_expr *args[2] = {simpler(plan, expr->args[0]), simpler(plan, expr->args[1])};
  if (ng_expr_equal(args[0], args[1])) return args[0];
  /* later(later(a, b), b) */
  for (int i = 0; i < 2; i++) {
    if (args[0]->op == expr->op && ng_expr_equal(args[0]->args[i], args[1])) return args[0];
  }
  return ng_expr_make(plan->arena, expr->op, 2, args);
}

static bool is_trivial(const struct ng_expr *expr) {
  return expr->op == NG_EQ && expr->args[0]->op == NG_COLUMN &&
         expr->args[0]->type.base != NET_FLOAT && ng_expr_equal(expr->args[0], expr->args[1]);
}

/* Does a selection below SELECTION, selections and applies alone between, say the same? */
static bool is_said_below(const struct ng_node *selection) {
  const struct ng_expr *expr = selection->expr;
  for (const struct ng_node *node = selection->inputs[0];
       node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY; node = node->inputs[0]) {
    if (node->kind == NET_NODE_SELECTION && ng_expr_equal(node->expr, expr)) return true;
  }
  return false;
}

/* Selections of what always holds, or has been said, and applies of what there is already, above NODE. */
static void tidy_up(struct ng_plan *plan, struct ng_node *node) {
  struct ng_node *above = ng_node_reader(plan, node);
  while (above && above->kind != NET_NODE_PROJECTION) {
    struct ng_node *next = ng_node_reader(plan, above);
    if (above->kind == NET_NODE_SELECTION && (is_trivial(above->expr) || is_said_below(above))) {
      ng_plan_replace(plan, above, above->inputs[0]);
    } else if (above->kind == NET_NODE_APPLY) {
      above->expr = simpler(plan, above->expr);
      if (above->expr->op == NG_COLUMN) {
        exchange(plan, above->own.items[0], above->expr->column);
        ng_plan_replace(plan, above, above->inputs[0]);
      }
    }
    above = next;
  }
}

/* Projections copy fields: a start that has become that of the rows themselves is made one. */
static void make_fields(struct ng_plan *plan, struct ng_node *node) {
  while (node->kind != NET_NODE_PROJECTION) node = ng_node_reader(plan, node);
  for (size_t i = 0; i < node->sources.count; i++) {
    const struct ng_column *column = node->sources.items[i];
    if (ng_columns_have(&node->inputs[0]->fields, column)) continue;
    struct ng_node *apply = ng_node_new(plan, NET_NODE_APPLY, node->inputs[0], NULL);
    apply->expr = ng_expr_column(plan->arena, column);
    ng_columns_add(plan->arena, &apply->own,
                   ng_column_computed(plan, column->name, column->type, false));
    ng_node_refresh(plan, apply);
    node->inputs[0] = apply;
    node->sources.items[i] = apply->own.items[0];
  }
}

/* Do aggregates contribute the value they have at the result's instant? Then conditions say which of their segments
 * meet there, and of which of them is asked when. */
static bool are_taken_at_instant(const struct ng_node *product) {
  for (unsigned port = 0; port < 2; port++) {
    const struct ng_node *input = product->inputs[port];
    if (input->kind == NET_NODE_AGGREGATE && product->rule == NET_PRODUCT_FULL &&
        input->query->result_class == NET_EVENT)
      return true;
  }
  return false;
}

static bool take_out(struct ng_plan *plan, struct ng_node *product, unsigned port) {
  struct ng_node *node = product->inputs[port], *rest = product->inputs[1 - port];
  if (are_taken_at_instant(product)) return false;
  int place = chosen(node);
  if (place < 0 || ng_node_readers(plan, node) != 1 || !may_go(plan, product)) return false;
  struct ng_node *root = product;
  for (struct ng_node *above = product; above && is_plain_product(above);
       above = ng_node_reader(plan, above)) {
    root = above;
  }
  struct ng_node *other = substitute_below(root, node);
  if (!other || ng_node_readers(plan, other) != 1) return false;
  if (is_copied(plan, node->own_stop) || is_copied(plan, other->own_stop)) return false;
  other->some_only = other->some_only || !needs_some(other->aggregate->function);
  exchange(plan, node->own.items[node->own.count - 1], other->own.items[place]);
  for (size_t i = 0; i + 1 < node->own.count; i++) {
    exchange(plan, node->own.items[i], other->own.items[i]);
  }
  exchange(plan, node->own_start, other->own_start);
  exchange(plan, node->own_stop, other->own_stop);
  ng_plan_replace(plan, product, rest);
  ng_plan_refresh(plan);
  tidy_up(plan, rest);
  ng_plan_refresh(plan);
  make_fields(plan, rest);
  ng_plan_refresh(plan);
  return true;
}

void ng_rule_group_keys(struct ng_plan *plan) {
  size_t taken = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *node = plan->nodes[i];
    if (!is_plain_product(node) || (!take_out(plan, node, 0) && !take_out(plan, node, 1))) continue;
    taken++;
    i = (size_t)-1; /* the plan is another one */
  }
  if (!taken) return;
  ng_rule_changed(plan, NG_RULE_GROUP_KEYS, taken, "%zu aggregate%s of a group's own value dropped",
                  taken, taken == 1 ? "" : "s");
}
