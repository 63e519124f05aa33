/* Combined periods: what a combination has in common with a third input is asked of one of its periods, or of
 * what lies between two of its instants.
 *
 *      selection C.at in [A.start, A.stop), ...          selection C.at in [A.start, A.stop), ...
 *            |                                                 |
 *       full product                                     overlap product
 *         /      \                                         /        \
 *   overlap        C                         ==>     projection [A)   C
 *   product                                                |
 *    /    \                                             overlap product
 *   A      B                                              /    \
 *                                                        A      B
 *
 * A combination comes when the last of its participants does, and may meet a C of long before, if A was there
 * then. So nothing says when combinations have met a C, and all are kept for ever: all pairs. But as the period of
 * A, which is all that C is asked for, a combination comes where it belongs in time, and lets go of each C that
 * is before. The other instants are domains of the combination.
 *
 * The period is the one that a condition compares with what the other side has: that of a participant, or what
 * lies from one instant to another, as in `(A ; within D B) , C`. That may be empty, and the projection then drops
 * the row, or puts it in doubt and cuts bounds that cannot be. So it must be one of which a condition says that
 * the first is before the second, directly, or but for the periods that they are the start and the stop of: if
 * the condition is true nothing is cut, if it is in doubt the result is, and of several conditions in a row nothing
 * follows (partial_overlap.c). The cut bounds are asked for nothing but whether it overlaps or contains what
 * the other side has, which is not false where it was not before; all else reads the instants as they are.
 *
 * Only in what runs once: a combination is later than its start by as long as its participants last, and what
 * comes over feeds would have to wait for it. */
#include "netgen/rules/rules.h"

#include "netgen/expr.h"
#include "netgen/rules/combined.h"

/* What is before what, on one side. */
struct step {
  const struct ng_expr *from, *to;
  bool
      said; /* by a condition; else the start and the stop of one tuple, or two names of one instant */
};

struct steps {
  struct step *items;
  size_t count, capacity;
};

static void add_step(struct ng_plan *plan, struct steps *steps, struct step step) {
  steps->items =
      ng_grown(plan->arena, steps->items, steps->count, &steps->capacity, sizeof *steps->items);
  steps->items[steps->count++] = step;
}

static void add_columns(struct ng_plan *plan, struct steps *steps, const struct ng_column *from,
                        const struct ng_column *to) {
  add_step(
      plan, steps,
      (struct step){ng_expr_column(plan->arena, from), ng_expr_column(plan->arena, to), false});
}

static void add_said(struct ng_plan *plan, struct steps *steps, const struct ng_expr *fact) {
  if (fact->op == NG_AND) {
    add_said(plan, steps, fact->args[0]);
    add_said(plan, steps, fact->args[1]);
  } else if (fact->op == NG_BEFORE) {
    add_step(plan, steps, (struct step){fact->args[0], fact->args[1], true});
  }
}

static void find_steps(struct ng_plan *plan, const struct ng_node *node, struct steps *steps) {
  for (; node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY; node = node->inputs[0])
    if (node->kind == NET_NODE_SELECTION) add_said(plan, steps, node->expr);
  if (ng_node_is_product(node)) {
    find_steps(plan, node->inputs[0], steps);
    find_steps(plan, node->inputs[1], steps);
    return;
  }
  if (node->stop) add_columns(plan, steps, node->start, node->stop);
  if (!node->carries) return;
  if (node->start_from != node->start) add_columns(plan, steps, node->start_from, node->start);
  find_steps(plan, node->inputs[0], steps);
}

/* Do steps lead FROM one instant TO the other, exactly one of them SAID? Each is taken once. */
static bool leads(struct steps *steps, const struct ng_expr *from, const struct ng_expr *to,
                  bool said) {
  if (said && ng_expr_equal(from, to)) return true;
  for (size_t i = 0; i < steps->count; i++) {
    struct step step = steps->items[i];
    if (!step.from || (said && step.said) || !ng_expr_equal(step.from, from)) continue;
    steps->items[i].from = NULL;
    bool found = leads(steps, step.to, to, said || step.said);
    steps->items[i].from = step.from;
    if (found) return true;
  }
  return false;
}

static bool is_own(const struct ng_node *side, const struct ng_expr *start,
                   const struct ng_expr *stop) {
  return start->op == NG_COLUMN && stop->op == NG_COLUMN &&
         ng_node_is_own_period(side, start->column, stop->column);
}

static bool adds_no_doubt(struct ng_plan *plan, const struct ng_node *side,
                          const struct ng_expr *start, const struct ng_expr *stop) {
  struct steps steps = {0};
  find_steps(plan, side, &steps);
  return leads(&steps, start, stop, false);
}

/* --- the periods that conditions ask for */

struct period {
  const struct ng_expr *start, *stop;
};

struct periods {
  struct period *items;
  size_t count, capacity;
};

/* OWN: nothing but a participant's own period will do. */
static void add_period(struct ng_plan *plan, struct periods *periods, const struct ng_node *side,
                       const struct ng_expr *start, const struct ng_expr *stop, bool own) {
  if (!ng_combined_is_instant(start, side) || !ng_combined_is_instant(stop, side)) return;
  if (ng_expr_can_fail(start) || ng_expr_can_fail(stop)) return;
  if (own && !is_own(side, start, stop)) return;
  for (size_t i = 0; i < periods->count; i++)
    if (ng_expr_equal(periods->items[i].start, start) &&
        ng_expr_equal(periods->items[i].stop, stop))
      return;
  periods->items = ng_grown(plan->arena, periods->items, periods->count, &periods->capacity,
                            sizeof *periods->items);
  periods->items[periods->count++] = (struct period){start, stop};
}

static void add_periods(struct ng_plan *plan, struct periods *periods, const struct ng_node *side,
                        const struct ng_expr *fact) {
  const struct ng_expr *const *args = fact->args;
  if (fact->op == NG_AND) {
    add_periods(plan, periods, side, args[0]);
    add_periods(plan, periods, side, args[1]);
  } else if (fact->op == NG_OVERLAP_EVENT) {
    add_period(plan, periods, side, args[1], args[2], false);
  } else if (fact->op == NG_OVERLAP_PERIODS || fact->op == NG_CONTAIN ||
             fact->op == NG_EQUAL_PERIODS) {
    add_period(plan, periods, side, args[0], args[1], fact->op == NG_EQUAL_PERIODS);
    add_period(plan, periods, side, args[2], args[3], fact->op != NG_OVERLAP_PERIODS);
  }
}

/* --- the change */

static bool is_bounded(struct ng_plan *plan, const struct ng_node *product) {
  struct ng_expiry *expiries[2];
  size_t counts[2] = {0, 0};
  return ng_product_bounds(plan, product, expiries, counts);
}

/* EXPR with the period from AT to TO in the place of PERIOD where it overlaps or contains another. */
static const struct ng_expr *with_period(struct ng_plan *plan, const struct ng_expr *expr,
                                         struct period period, const struct ng_column *at,
                                         const struct ng_column *to) {
  struct ng_expr *copy = BASE_NEW(plan->arena, struct ng_expr);
  *copy = *expr;
  if (expr->op == NG_AND) {
    for (unsigned i = 0; i < 2; i++)
      copy->args[i] = with_period(plan, expr->args[i], period, at, to);
    return copy;
  }
  unsigned last = expr->op == NG_OVERLAP_PERIODS ? 3 : expr->op == NG_CONTAIN ? 1 : 0;
  unsigned first = 0;
  if (expr->op == NG_OVERLAP_EVENT) first = 1, last = 2;
  for (unsigned i = first; i < last; i += 2) {
    if (!ng_expr_equal(expr->args[i], period.start) ||
        !ng_expr_equal(expr->args[i + 1], period.stop))
      continue;
    copy->args[i] = ng_expr_column(plan->arena, at);
    copy->args[i + 1] = ng_expr_column(plan->arena, to);
  }
  return copy;
}

/* SIDE's rows as PERIOD, which is from *RET_AT to *RET_TO then; COLUMNS that are not open stay. */
static struct ng_node *project(struct ng_plan *plan, struct ng_node *side,
                               const struct ng_columns *columns, struct period period,
                               const struct ng_column **ret_at, const struct ng_column **ret_to) {
  const struct ng_column *from, *until, *at, *to;
  bool own = is_own(side, period.start, period.stop);
  side = ng_combined_instant(plan, side, period.start, &from);
  side = ng_combined_instant(plan, side, period.stop, &until);
  at = own ? from : ng_column_computed(plan, from->name, from->type, false);
  to = own ? until : ng_column_computed(plan, until->name, until->type, until->openable);
  struct ng_node *projection = ng_combined_project(plan, side, columns, from, at);
  struct ng_columns kept = {0};
  for (size_t i = 0; i < projection->own.count; i++)
    if (projection->own.items[i] != to)
      ng_columns_add(plan->arena, &kept, projection->own.items[i]);
  projection->own = projection->sources = kept;
  projection->own_stop = to;
  projection->stop_from = until;
  *ret_at = at;
  *ret_to = to;
  return projection;
}

/* Leaves the plan half changed if it is false. */
static bool combine_as(struct ng_plan *plan, const struct ng_above *above, struct ng_node *product,
                       unsigned port, struct period period) {
  struct ng_above left;
  struct ng_columns columns = ng_combined_columns(plan, product->inputs[port]);
  struct ng_node *side = ng_combined_select(plan, above, product->inputs[port]);
  bool own = is_own(side, period.start, period.stop);
  if (!own && !adds_no_doubt(plan, side, period.start, period.stop)) return false;
  struct ng_node *reader = ng_node_reader(plan, above->nodes[above->count - 1]);
  if (reader) ng_switch_merge(plan, reader);
  const struct ng_column *at, *to;
  product->inputs[port] = project(plan, side, &columns, period, &at, &to);
  ng_plan_refresh(plan);
  if (!ng_combined_above(plan, product, &left)) return false;
  for (size_t i = 0; i < left.count && !own; i++)
    if (left.nodes[i]->kind == NET_NODE_SELECTION)
      left.nodes[i]->expr = with_period(plan, left.nodes[i]->expr, period, at, to);
  if (ng_combined_lacks(&left, &columns, own ? to : NULL)) return false;
  ng_plan_refresh(plan);
  return ng_product_overlaps(plan, product) || is_bounded(plan, product);
}

/* BEFORE: room. */
static bool combine(struct ng_plan *plan, struct ng_node *product, unsigned port,
                    struct ng_before *before) {
  struct ng_above above;
  struct periods periods = {0};
  const struct ng_node *side = product->inputs[port];
  if (!ng_node_is_combination(side) || ng_node_readers(plan, side) != 1 ||
      !ng_combined_above(plan, product, &above))
    return false;
  for (size_t i = 0; i < above.count; i++)
    if (above.nodes[i]->kind == NET_NODE_SELECTION)
      add_periods(plan, &periods, side, above.nodes[i]->expr);
  if (periods.count) ng_combined_remember(plan, before);
  for (size_t i = 0; i < periods.count; i++) {
    if (combine_as(plan, &above, product, port, periods.items[i])) return true;
    ng_combined_restore(plan, before);
  }
  return false;
}

void ng_rule_combined_periods(struct ng_plan *plan) {
  size_t count = plan->node_count, combined = 0;
  struct ng_before room = {0};
  if (!plan->may_speculate) return;
  struct ng_node **nodes = BASE_NEW_ARRAY(plan->arena, count, struct ng_node *);
  for (size_t i = 0; i < count; i++) nodes[i] = plan->nodes[i];
  for (size_t i = 0; i < count; i++) { /* inputs come before readers: from below upwards */
    struct ng_node *node = nodes[i];
    if (node->kind != NET_NODE_PRODUCT || node->rule != NET_PRODUCT_FULL ||
        (combined && ng_product_overlaps(plan, node)) || is_bounded(plan, node))
      continue;
    combined += combine(plan, node, 0, &room) || combine(plan, node, 1, &room);
  }
  if (!combined) return;
  ng_rule_changed(plan, NG_RULE_COMBINED_PERIODS, combined, "%zu combination%s now one period",
                  combined, combined == 1 ? "" : "s");
}
