/* Lowering of bound expressions.
 *
 * Temporal expressions follow thesis 4.5.1: every one denotes a condition, a
 * start and a stop; `|` keeps alternatives apart until the condition is asked for. `.start` and
 * `.stop` drop the condition of what they are applied to (productions 3 and 7 of the thesis).
 *
 * Scalars become expressions over columns. A temporal domain counts from the start of its own
 * tuple; where it goes into the result it is re-based, at the leaf, to the start of the result. */
#include "netgen/lower.h"

static const struct net_type type_temporal = {NET_TEMPORAL, 0};

static struct base_arena *arena_of(const struct ng_lowering *lowering) {
  return lowering->plan->arena;
}

static void add(const struct ng_lowering *lowering, struct ng_alternatives *list,
                struct ng_alternative alternative) {
  list->items =
      ng_grown(arena_of(lowering), list->items, list->count, &list->capacity, sizeof *list->items);
  list->items[list->count++] = alternative;
}

static const struct ng_expr *make2(struct base_arena *arena, enum ng_op op, const struct ng_expr *a,
                                   const struct ng_expr *b) {
  return ng_expr_make(arena, op, 2, (const struct ng_expr *const[]){a, b});
}

static const struct ng_expr *make4(struct base_arena *arena, enum ng_op op, struct ng_alternative a,
                                   struct ng_alternative b) {
  const struct ng_expr *args[4] = {a.start, a.stop, b.start, b.stop};
  return ng_expr_make(arena, op, 4, args);
}

const struct ng_expr *ng_lower_overlap(struct base_arena *arena, struct ng_alternative a,
                                       struct ng_alternative b) {
  if (a.event && b.event) return make2(arena, NG_EQUAL_INSTANTS, a.start, b.start);
  if (!a.event && !b.event) return make4(arena, NG_OVERLAP_PERIODS, a, b);
  if (!a.event) return ng_lower_overlap(arena, b, a);
  const struct ng_expr *args[3] = {a.start, b.start, b.stop};
  return ng_expr_make(arena, NG_OVERLAP_EVENT, 3, args);
}

/* --- pairs: what each binary operator makes of one alternative of each side */

static struct ng_alternative sequence(const struct ng_lowering *lowering,
                                      const struct ng_expr *expr, struct ng_alternative a,
                                      struct ng_alternative b) {
  struct base_arena *arena = arena_of(lowering);
  const struct ng_expr *condition = make2(arena, NG_BEFORE, a.stop, b.start);
  if (expr->integer >= 0) {
    struct ng_expr *within = ng_expr_new(arena, NG_WITHIN, (struct net_type){NET_BOOL, 1});
    within->arg_count = 2;
    within->args[0] = a.stop;
    within->args[1] = b.start;
    within->integer = expr->integer;
    condition = ng_expr_and(arena, condition, within);
  }
  return (struct ng_alternative){condition, a.start, b.stop, false};
}

static struct ng_alternative overlap(const struct ng_lowering *lowering, struct ng_alternative a,
                                     struct ng_alternative b) {
  struct base_arena *arena = arena_of(lowering);
  const struct ng_expr *condition = ng_lower_overlap(arena, a, b);
  if (a.event && b.event) {
    const struct ng_expr *both = make2(arena, NG_INTERSECT, a.start, b.start);
    return (struct ng_alternative){condition, both, both, true};
  }
  if (a.event || b.event) {
    const struct ng_expr *event = a.event ? a.start : b.start;
    return (struct ng_alternative){condition, event, event, true};
  }
  return (struct ng_alternative){condition, make2(arena, NG_LATER, a.start, b.start),
                                 make2(arena, NG_EARLIER, a.stop, b.stop), false};
}

/* From the earliest start to the latest stop; no condition of its own. */
static struct ng_alternative coverage(const struct ng_lowering *lowering, struct ng_alternative a,
                                      struct ng_alternative b) {
  struct base_arena *arena = arena_of(lowering);
  return (struct ng_alternative){NULL, make2(arena, NG_EARLIER, a.start, b.start),
                                 make2(arena, NG_LATER, a.stop, b.stop), false};
}

static struct ng_alternative condition_only(const struct ng_lowering *lowering,
                                            const struct ng_expr *expr, struct ng_alternative a,
                                            struct ng_alternative b) {
  struct base_arena *arena = arena_of(lowering);
  struct ng_alternative result = coverage(lowering, a, b);
  if (expr->op == NG_T_PRECEDE) {
    result.condition = make2(arena, NG_NOT_AFTER, a.stop, b.start);
  } else if (expr->op == NG_T_EQUAL && a.event && b.event) {
    result.condition = make2(arena, NG_EQUAL_INSTANTS, a.start, b.start);
  } else {
    enum ng_op op = expr->op == NG_T_EQUAL ? NG_EQUAL_PERIODS : NG_CONTAIN;
    result.condition = make4(arena, op, a, b);
  }
  return result;
}

static struct ng_alternative pair(const struct ng_lowering *lowering, const struct ng_expr *expr,
                                  struct ng_alternative a, struct ng_alternative b) {
  struct base_arena *arena = arena_of(lowering);
  struct ng_alternative result;
  switch (expr->op) {
    case NG_T_SEQUENCE:
      result = sequence(lowering, expr, a, b);
      break;
    case NG_T_OVERLAP:
      result = overlap(lowering, a, b);
      break;
    case NG_T_COVERAGE:
    case NG_T_EXTEND:
      result = coverage(lowering, a, b);
      break;
    default:
      result = condition_only(lowering, expr, a, b);
  }
  const struct ng_expr *condition = ng_expr_and(arena, a.condition, b.condition);
  result.condition = ng_expr_and(arena, condition, result.condition);
  return result;
}

static void lower_pair(const struct ng_lowering *lowering, const struct ng_expr *expr,
                       struct ng_alternatives *ret) {
  struct ng_alternatives left = {0}, right = {0};
  ng_lower_temporal(lowering, expr->args[0], &left);
  ng_lower_temporal(lowering, expr->args[1], &right);
  for (size_t i = 0; i < left.count; i++) {
    for (size_t j = 0; j < right.count; j++) {
      add(lowering, ret, pair(lowering, expr, left.items[i], right.items[j]));
    }
  }
}

static void lower_end(const struct ng_lowering *lowering, const struct ng_expr *expr,
                      struct ng_alternatives *ret) {
  struct ng_alternatives inner = {0};
  ng_lower_temporal(lowering, expr->args[0], &inner);
  for (size_t i = 0; i < inner.count; i++) {
    const struct ng_expr *instant =
        expr->op == NG_T_START ? inner.items[i].start : inner.items[i].stop;
    add(lowering, ret, (struct ng_alternative){NULL, instant, instant, true});
  }
}

/* An event moved in time; it happens under the same condition. */
static void lower_shift(const struct ng_lowering *lowering, const struct ng_expr *expr,
                        struct ng_alternatives *ret) {
  struct ng_alternatives inner = {0};
  ng_lower_temporal(lowering, expr->args[0], &inner);
  for (size_t i = 0; i < inner.count; i++) {
    struct ng_expr *moved =
        ng_expr_new(arena_of(lowering), NG_SHIFT, (struct net_type){NET_INSTANT, 0});
    moved->arg_count = 1;
    moved->args[0] = inner.items[i].start;
    moved->integer = expr->integer;
    add(lowering, ret, (struct ng_alternative){inner.items[i].condition, moved, moved, true});
  }
}

void ng_lower_temporal(const struct ng_lowering *lowering, const struct ng_expr *expr,
                       struct ng_alternatives *ret) {
  struct base_arena *arena = arena_of(lowering);
  switch (expr->op) {
    case NG_T_AGGREGATE:
    case NG_T_VARIABLE: {
      const struct ng_lowered_input *input = expr->op == NG_T_AGGREGATE
                                                 ? &lowering->chosen[expr->index]
                                                 : &lowering->variables[expr->variable];
      BASE_CHECK(input->start, "variable-takes-part");
      const struct ng_expr *start = ng_expr_column(arena, input->start);
      const struct ng_expr *stop = input->stop ? ng_expr_column(arena, input->stop) : start;
      add(lowering, ret, (struct ng_alternative){NULL, start, stop, !input->stop});
      break;
    }
    case NG_T_CONSTANT: {
      const struct ng_expr *instant = ng_expr_instant(arena, expr->instant);
      add(lowering, ret, (struct ng_alternative){NULL, instant, instant, true});
      break;
    }
    case NG_T_START:
    case NG_T_STOP:
      lower_end(lowering, expr, ret);
      break;
    case NG_T_SHIFT:
      lower_shift(lowering, expr, ret);
      break;
    case NG_T_CHOICE:
      ng_lower_temporal(lowering, expr->args[0], ret);
      ng_lower_temporal(lowering, expr->args[1], ret);
      break;
    case NG_T_SEQUENCE:
    case NG_T_OVERLAP:
    case NG_T_COVERAGE:
    case NG_T_EXTEND:
    case NG_T_PRECEDE:
    case NG_T_EQUAL:
    case NG_T_CONTAIN:
      lower_pair(lowering, expr, ret);
      break;
    default:
      BASE_CHECK(false, "temporal-expression");
  }
}

/* --- scalars and truths */

static const struct ng_expr *holds(const struct ng_lowering *lowering, const struct ng_expr *expr) {
  struct base_arena *arena = arena_of(lowering);
  struct ng_alternatives alternatives = {0};
  ng_lower_temporal(lowering, expr->args[0], &alternatives);
  const struct ng_expr *result = NULL;
  for (size_t i = 0; i < alternatives.count; i++) {
    const struct ng_expr *condition = alternatives.items[i].condition;
    if (!condition) return ng_expr_truth(arena, true);
    result = result ? make2(arena, NG_OR, result, condition) : condition;
  }
  return result;
}

static const struct ng_expr *of_time(const struct ng_lowering *lowering,
                                     const struct ng_expr *expr) {
  struct ng_alternatives alternatives = {0};
  ng_lower_temporal(lowering, expr->args[0], &alternatives);
  BASE_CHECK(alternatives.count == 1, "one-value-of-time");
  bool span = expr->op == NG_SPAN;
  struct ng_expr *result =
      ng_expr_new(arena_of(lowering), span ? NG_SPAN_OF : NG_CHRONON_OF, expr->type);
  result->arg_count = span ? 2 : 1;
  result->args[0] = alternatives.items[0].start;
  if (span) result->args[1] = alternatives.items[0].stop;
  result->integer = expr->integer;
  return result;
}

/* A temporal VALUE of a tuple of INPUT, moved to where the result counts from. */
static const struct ng_expr *rebased(const struct ng_lowering *lowering,
                                     const struct ng_lowered_input *input,
                                     const struct ng_expr *value) {
  struct base_arena *arena = arena_of(lowering);
  const struct ng_column *to = lowering->rebase_to;
  if (!to || to == input->start) return value;
  struct ng_expr *result = ng_expr_new(arena, NG_REBASE, type_temporal);
  result->arg_count = 3;
  result->args[0] = value;
  result->args[1] = ng_expr_column(arena, input->start);
  result->args[2] = ng_expr_column(arena, to);
  return result;
}

/* COLUMN of a tuple of INPUT. */
static const struct ng_expr *leaf(const struct ng_lowering *lowering,
                                  const struct ng_lowered_input *input,
                                  const struct ng_column *column) {
  const struct ng_expr *value = ng_expr_column(arena_of(lowering), column);
  return column->type.base == NET_TEMPORAL ? rebased(lowering, input, value) : value;
}

const struct ng_expr *ng_lower(const struct ng_lowering *lowering, const struct ng_expr *expr) {
  struct base_arena *arena = arena_of(lowering);
  switch (expr->op) {
    case NG_DOMAIN: {
      const struct ng_lowered_input *input = &lowering->variables[expr->variable];
      BASE_CHECK(input->fields, "variable-takes-part");
      return leaf(lowering, input, input->fields[expr->index]);
    }
    case NG_DURATION: {
      const struct ng_lowered_input *input = &lowering->variables[expr->variable];
      struct ng_expr *duration = ng_expr_new(arena, NG_DURATION, type_temporal);
      return rebased(lowering, input, duration);
    }
    case NG_AGGREGATE:
      return leaf(lowering, &lowering->aggregate_inputs[expr->index],
                  lowering->aggregates[expr->index]);
    case NG_GROUP:
      return ng_expr_column(arena, lowering->groups[expr->index]);
    case NG_HOLDS:
      return holds(lowering, expr);
    case NG_SPAN:
    case NG_CHRONON:
      return of_time(lowering, expr);
    default:
      break;
  }
  struct ng_expr *copy = BASE_NEW(arena, struct ng_expr);
  *copy = *expr;
  for (unsigned i = 0; i < expr->arg_count; i++) copy->args[i] = ng_lower(lowering, expr->args[i]);
  return copy;
}
