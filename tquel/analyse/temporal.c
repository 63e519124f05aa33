/* Temporal expressions: the operands and conditions of when, the values of start, stop and at.
 *
 * Both readings share one grammar (thesis 3.4, 3.5); this typing pass sorts them. Every expression
 * is an event or a period (.event); `,` in the overlap reading is an event if either side is one,
 * in the coverage reading (a setting) a period. precede, equal, contain, and, or, not are
 * conditions and stand at the top of when only, each leaf below one NG_HOLDS; `|` may stand in when
 * only, and
 * `,` between two events has no value for a clause. */
#include <string.h>

#include "tquel/analyse/analyse_internal.h"

static const struct net_type no_type = {NET_INSTANT, 0};
static const struct net_type truth_type = {NET_BOOL, 0};

static struct ng_expr *new_temporal(const struct tql_binder *binder, enum ng_op op, bool event,
                                    struct base_range range) {
  struct ng_expr *expr = tql_new_expr(binder, op, no_type, range);
  expr->event = event;
  return expr;
}

/* ---- leaves ---- */

static const struct ng_expr *bind_time_variable(struct tql_binder *binder,
                                                const struct tql_expr *expr) {
  int index = tql_bind_variable(binder, &expr->name);
  if (index < 0) return NULL;
  bool event = binder->variables[index].relation->layout->tuple_class == NET_EVENT;
  struct ng_expr *bound = new_temporal(binder, NG_T_VARIABLE, event, expr->range);
  bound->variable = (unsigned)index;
  return bound;
}

static const struct ng_expr *bind_constant(struct tql_binder *binder, const struct tql_expr *expr) {
  struct tql_time_forms forms = {.integers = !binder->append_times,
                                 .durations = binder->append_times};
  net_chronon time;
  enum tql_constant why = tql_constant_time(binder->scope, expr, forms, &time);
  if (why != TQL_CONSTANT_OK) {
    tql_report_constant(binder->analysis, expr, why);
    return NULL;
  }
  struct ng_expr *bound = new_temporal(binder, NG_T_CONSTANT, true, expr->range);
  bound->instant = (struct net_instant){time, time};
  return bound;
}

static const struct ng_expr *bind_name(struct tql_binder *binder, const struct tql_expr *expr) {
  bool variable = tql_scope_variable(binder->scope, expr->name.text) != NULL;
  return !variable && tql_looks_constant(expr) ? bind_constant(binder, expr)
                                               : bind_time_variable(binder, expr);
}

/* V.time: V must be a variable over an event relation, and is then the same as V. */
static const struct ng_expr *bind_time_of(struct tql_binder *binder, const struct tql_expr *expr) {
  const struct tql_expr *of = expr->left;
  if (of->kind == TQL_E_NAME && tql_scope_variable(binder->scope, of->name.text)) {
    const struct ng_expr *bound = bind_time_variable(binder, of);
    if (!bound || bound->event) return bound;
    base_report_hint(binder->analysis->diags, MSG_NOT_AN_EVENT, binder->analysis->source,
                     &expr->range, "a period has .start and .stop",
                     "%s is a period and has no .time", of->name.text);
    return NULL;
  }
  if (of->kind == TQL_E_NAME && !tql_looks_constant(of))
    return bind_time_variable(binder, of); /* unknown: reports it */
  base_report_hint(binder->analysis->diags, MSG_NOT_AN_EVENT, binder->analysis->source,
                   &expr->range, "write .start or .stop after anything else",
                   ".time belongs to a tuple variable over an event relation, not to %s",
                   tql_expr_text(binder->analysis, of));
  return NULL;
}

/* ---- operators ---- */

static const struct ng_expr *bind_end(struct tql_binder *binder, const struct tql_expr *expr,
                                      enum tql_place place) {
  enum tql_place below = place == TQL_IN_WHEN ? TQL_BELOW_END : place;
  const struct ng_expr *of = tql_bind_temporal(binder, expr->left, below);
  if (!of) return NULL;
  struct ng_expr *bound =
      new_temporal(binder, expr->kind == TQL_E_START ? NG_T_START : NG_T_STOP, true, expr->range);
  bound->args[0] = of;
  bound->arg_count = 1;
  return bound;
}

/* A duration that is in truth a time: the difference of two times, most likely. */
static bool check_duration(struct tql_binder *binder, const struct tql_expr *expr) {
  bool time = expr->kind == TQL_E_START || expr->kind == TQL_E_STOP || expr->kind == TQL_E_TIME ||
              expr->kind == TQL_E_STRING ||
              (expr->kind == TQL_E_NAME && tql_scope_variable(binder->scope, expr->name.text));
  if (!time) return true;
  base_report_hint(binder->analysis->diags, MSG_BAD_DURATION, binder->analysis->source,
                   &expr->range, "span(a ; b) is the time from one event to another",
                   "%s is a time where a duration is needed",
                   tql_expr_text(binder->analysis, expr));
  return false;
}

/* Is what EXPR moves, perhaps several times, a tuple variable (called now, perhaps)? */
static bool moves_variable(const struct tql_binder *binder, const struct tql_expr *expr) {
  const struct tql_expr *duration;
  while (expr->kind == TQL_E_ADD || expr->kind == TQL_E_SUB)
    tql_shift_parts(expr, &expr, &duration);
  return expr->kind == TQL_E_NAME && tql_scope_variable(binder->scope, expr->name.text) != NULL;
}

/* An event moved by a duration: another event. */
static const struct ng_expr *bind_shift(struct tql_binder *binder, const struct tql_expr *expr,
                                        enum tql_place place) {
  const struct tql_expr *time, *duration;
  int64_t delta;
  tql_shift_parts(expr, &time, &duration);
  if (!check_duration(binder, duration)) return NULL;
  if (tql_analyse_duration(binder->analysis, duration, &delta) != BASE_OK) return NULL;
  if (tql_looks_constant(expr) && !moves_variable(binder, expr)) return bind_constant(binder, expr);
  const struct ng_expr *of = tql_bind_temporal(binder, time, place);
  if (!of) return NULL;
  if (!of->event) {
    base_report_hint(binder->analysis->diags, MSG_NOT_AN_EVENT, binder->analysis->source,
                     &time->range, "write .start or .stop after it",
                     "%s is a period; a point of time is moved by a duration",
                     tql_expr_text(binder->analysis, time));
    return NULL;
  }
  struct ng_expr *bound = new_temporal(binder, NG_T_SHIFT, true, expr->range);
  bound->args[0] = of;
  bound->arg_count = 1;
  bound->integer = expr->kind == TQL_E_SUB ? -delta : delta;
  return bound;
}

static bool check_parallel(struct tql_binder *binder, const struct tql_expr *expr,
                           enum tql_place place, const struct ng_expr *bound) {
  bool two_events = bound->args[0]->event && bound->args[1]->event;
  if (place == TQL_IN_WHEN || bound->op != NG_T_OVERLAP || !two_events) return true;
  base_report_hint(binder->analysis->diags, MSG_TWO_EVENTS, binder->analysis->source, &expr->range,
                   "name one of the events, or use extend or set parallel coverage",
                   "two events have no overlap that could serve as a time");
  return false;
}

static bool check_choice(struct tql_binder *binder, const struct tql_expr *expr,
                         enum tql_place place) {
  if (place != TQL_IN_CLAUSE) return true;
  base_report_hint(binder->analysis->diags, MSG_CHOICE_PLACE, binder->analysis->source,
                   &expr->range, "define one derived relation for each alternative",
                   "| may stand in the when clause only");
  return false;
}

static enum ng_op operator_of(const struct tql_binder *binder, enum tql_expr_kind kind) {
  switch (kind) {
    case TQL_E_SEQUENCE:
      return NG_T_SEQUENCE;
    case TQL_E_PARALLEL:
      return binder->scope->settings->coverage ? NG_T_COVERAGE : NG_T_OVERLAP;
    case TQL_E_OVERLAP:
      return NG_T_OVERLAP;
    case TQL_E_CHOICE:
      return NG_T_CHOICE;
    case TQL_E_EXTEND:
      return NG_T_EXTEND;
    case TQL_E_PRECEDE:
      return NG_T_PRECEDE;
    case TQL_E_EQUAL:
      return NG_T_EQUAL;
    default:
      return NG_T_CONTAIN;
  }
}

static bool kind_of(enum ng_op op, const struct ng_expr *left, const struct ng_expr *right) {
  if (op == NG_T_OVERLAP) return left->event || right->event;
  return op == NG_T_CHOICE && left->event && right->event;
}

static enum ng_sequence chosen_by_word(enum tql_sequence_choice choice) {
  switch (choice) {
    case TQL_FIRST:
      return NG_SEQUENCE_FIRST;
    case TQL_LATEST:
      return NG_SEQUENCE_LAST;
    case TQL_NEAREST:
      return NG_SEQUENCE_NEAREST;
    default:
      return NG_SEQUENCE_FULL;
  }
}

/* Which pairs the sequence EXPR is of. In an unless clause, which asks whether there is any, the setting does not count. */
static bool sequence_of(struct tql_binder *binder, const struct tql_expr *expr,
                        enum tql_place place, enum ng_sequence *ret) {
  bool absence = binder->absent >= 0;
  *ret = expr->choice != TQL_BY_SETTING ? chosen_by_word(expr->choice)
         : absence                      ? NG_SEQUENCE_FULL
                                        : binder->scope->settings->sequence;
  if (expr->choice == TQL_BY_SETTING || expr->choice == TQL_EACH) return true;
  if (place == TQL_IN_WHEN && !absence && !binder->in_aggregate) return true;
  base_report_hint(binder->analysis->diags, MSG_CLOSEST_PLACE, binder->analysis->source,
                   &expr->range,
                   absence ? "leave the word out: any of them is asked for"
                           : "write the sequence with its word in when, and without it here",
                   absence ? "in an unless clause a sequence does not choose"
                           : "a sequence chooses its pairs in a condition of when only");
  return false;
}

static const struct ng_expr *bind_operator(struct tql_binder *binder, const struct tql_expr *expr,
                                           enum tql_place place) {
  const struct ng_expr *left = tql_bind_temporal(binder, expr->left, place);
  const struct ng_expr *right = tql_bind_temporal(binder, expr->right, place);
  int64_t within = -1;
  if (expr->within && tql_analyse_duration(binder->analysis, expr->within, &within) != BASE_OK)
    return NULL;
  if (!left || !right) return NULL;
  enum ng_op op = operator_of(binder, expr->kind);
  struct ng_expr *bound = new_temporal(binder, op, kind_of(op, left, right), expr->range);
  bound->args[0] = left;
  bound->args[1] = right;
  bound->arg_count = 2;
  bound->integer = op == NG_T_SEQUENCE ? within : 0;
  enum ng_sequence sequence = NG_SEQUENCE_FULL;
  if (op == NG_T_SEQUENCE && !sequence_of(binder, expr, place, &sequence)) return NULL;
  bound->index = sequence;
  if (op == NG_T_CHOICE && !check_choice(binder, expr, place)) return NULL;
  return check_parallel(binder, expr, place, bound) ? bound : NULL;
}

/* ---- what is no time ---- */

static const struct ng_expr *refuse_condition(const struct tql_binder *binder,
                                              const struct tql_expr *expr) {
  base_report_hint(binder->analysis->diags, MSG_CONDITION_PLACE, binder->analysis->source,
                   &expr->range, "conditions are combined with and, or, not in the when clause",
                   "%s is a condition and has no time", tql_expr_text(binder->analysis, expr));
  return NULL;
}

static const struct ng_expr *refuse_value(const struct tql_binder *binder,
                                          const struct tql_expr *expr) {
  bool comparison = expr->kind >= TQL_E_EQ && expr->kind <= TQL_E_GE;
  base_report_hint(binder->analysis->diags, MSG_NOT_A_TIME, binder->analysis->source, &expr->range,
                   comparison ? "conditions on values stand in the where clause"
                              : "times are tuple variables, .start and .stop, dates, and what ; , "
                                "overlap and extend make of them",
                   "%s is a value, not a time", tql_expr_text(binder->analysis, expr));
  return NULL;
}

static const struct ng_expr *bind_kind(struct tql_binder *binder, const struct tql_expr *expr,
                                       enum tql_place place) {
  switch (expr->kind) {
    case TQL_E_STRING:
    case TQL_E_INTEGER:
    case TQL_E_DURATION:
      return bind_constant(binder, expr);
    case TQL_E_NEGATE:
      return tql_looks_constant(expr) ? bind_constant(binder, expr) : refuse_value(binder, expr);
    case TQL_E_ADD:
    case TQL_E_SUB:
      return bind_shift(binder, expr, place);
    case TQL_E_NAME:
      return bind_name(binder, expr);
    case TQL_E_TIME:
      return bind_time_of(binder, expr);
    case TQL_E_START:
    case TQL_E_STOP:
      return bind_end(binder, expr, place);
    case TQL_E_SEQUENCE:
    case TQL_E_PARALLEL:
    case TQL_E_CHOICE:
    case TQL_E_OVERLAP:
    case TQL_E_EXTEND:
      return bind_operator(binder, expr, place);
    case TQL_E_PRECEDE:
    case TQL_E_EQUAL:
    case TQL_E_CONTAIN:
    case TQL_E_AND:
    case TQL_E_OR:
    case TQL_E_NOT:
      return refuse_condition(binder, expr);
    case TQL_E_CALL:
      return tql_is_chosen(expr) ? tql_bind_chosen(binder, expr) : refuse_value(binder, expr);
    default:
      return refuse_value(binder, expr);
  }
}

const struct ng_expr *tql_bind_temporal(struct tql_binder *binder, const struct tql_expr *expr,
                                        enum tql_place place) {
  if (!tql_binder_enter(binder, expr)) return NULL;
  const struct ng_expr *bound = bind_kind(binder, expr, place);
  tql_binder_leave(binder);
  return bound;
}

const struct ng_expr *tql_bind_event(struct tql_binder *binder, const struct tql_expr *expr,
                                     const char *what) {
  const struct ng_expr *bound = tql_bind_temporal(binder, expr, TQL_IN_CLAUSE);
  if (!bound || bound->event) return bound;
  base_report_hint(binder->analysis->diags, MSG_NOT_AN_EVENT, binder->analysis->source,
                   &expr->range, "write .start or .stop after it",
                   "%s needs a point of time, and %s is a period", what,
                   tql_expr_text(binder->analysis, expr));
  return NULL;
}

/* ---- when ---- */

/* `|` under `;` and `,` multiplies alternatives (the normal form of thesis 4.2.2): beyond this many
 * the statement is refused rather than planned for ever. */
enum { ALTERNATIVES_MAX = 256 };

static uint64_t alternatives(const struct ng_expr *expr) {
  uint64_t count = expr->op == NG_T_CHOICE ? 0 : 1;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    uint64_t its = alternatives(expr->args[i]);
    count = expr->op == NG_T_CHOICE ? count + its : count * its;
    if (count > ALTERNATIVES_MAX) return ALTERNATIVES_MAX + 1;
  }
  return count;
}

static const struct ng_expr *bind_leaf(struct tql_binder *binder, const struct tql_expr *expr) {
  bool condition =
      expr->kind == TQL_E_PRECEDE || expr->kind == TQL_E_EQUAL || expr->kind == TQL_E_CONTAIN;
  const struct ng_expr *holds = condition ? bind_operator(binder, expr, TQL_IN_WHEN)
                                          : tql_bind_temporal(binder, expr, TQL_IN_WHEN);
  if (holds && alternatives(holds) > ALTERNATIVES_MAX) {
    binder->failed = true;
    base_report_hint(binder->analysis->diags, MSG_TOO_MANY_ALTERNATIVES, binder->analysis->source,
                     &expr->range, "write the alternatives as conditions joined by or",
                     "the temporal expression has more than %d alternatives", ALTERNATIVES_MAX);
    return NULL;
  }
  return holds ? tql_new_unary(binder, NG_HOLDS, truth_type, expr->range, holds) : NULL;
}

static const struct ng_expr *bind_when_kind(struct tql_binder *binder,
                                            const struct tql_expr *expr) {
  if (expr->kind != TQL_E_AND && expr->kind != TQL_E_OR && expr->kind != TQL_E_NOT)
    return bind_leaf(binder, expr);
  const struct ng_expr *left = tql_bind_when(binder, expr->left);
  if (expr->kind == TQL_E_NOT)
    return left ? tql_new_unary(binder, NG_NOT, truth_type, expr->range, left) : NULL;
  const struct ng_expr *right = tql_bind_when(binder, expr->right);
  if (!left || !right) return NULL;
  enum ng_op op = expr->kind == TQL_E_AND ? NG_AND : NG_OR;
  return tql_new_binary(binder, op, truth_type, expr->range, left, right);
}

const struct ng_expr *tql_bind_when(struct tql_binder *binder, const struct tql_expr *expr) {
  if (!tql_binder_enter(binder, expr)) return NULL;
  const struct ng_expr *bound = bind_when_kind(binder, expr);
  tql_binder_leave(binder);
  return bound;
}
