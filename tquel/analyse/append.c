/* append: a query whose rows are to be added to a relation.
 *
 * The query's layout is that of the relation's records (traced, sampled) or tuples. Elements of the
 * target list go to the domains by name, converted where the types allow it; a constant that does
 * not fit its domain is an error here, anything computed is tested when it is stored. Domains that
 * are not named get 0, "" or false.
 *
 *      records and events     at T                    (with variables: the default of retrieve)
 *      periods                start T [stop T]        stop is `forever` when missing
 *      snapshot               no clause: [beginning, forever) */
#include <stdlib.h>
#include <string.h>

#include "tquel/analyse/analyse_internal.h"

static const struct ng_expr *refuse(struct tql_binder *binder, enum base_message number,
                                    const struct base_range *range, const char *hint,
                                    const char *message) {
  base_report_hint(binder->analysis->diags, number, binder->analysis->source, range, hint, "%s",
                   message);
  binder->failed = true;
  return NULL;
}

/* ---- values ---- */

static bool is_text(struct net_type type) {
  return type.base == NET_STRING || type.base == NET_NAME;
}

static bool is_assignable(struct net_type to, struct net_type from) {
  if (to.quantity == NET_POINT || from.quantity == NET_POINT)
    if (to.quantity != from.quantity && from.quantity != NET_NUMBER) return false;
  if (to.base == from.base) return true;
  if (to.base == NET_FLOAT) return from.base == NET_INTEGER;
  return is_text(to) && is_text(from);
}

/* What is wrong with the constant EXPR as a value of TYPE, or NULL. */
static const char *constant_fault(const struct tql_binder *binder, const struct ng_expr *expr,
                                  struct net_type type) {
  union net_slot slot;
  if (expr->op == NG_INTEGER)
    slot.i = expr->integer;
  else if (expr->op == NG_FLOAT)
    slot.f = expr->real;
  else if (expr->op == NG_STRING)
    slot.s = expr->string;
  else
    return NULL;
  return net_value_check(binder->scope->strings, type, slot);
}

/* Has the number to be brought to TYPE when it is computed? (Constants have been looked at; a single
 * float is rounded. The length of a string is tested where it is stored.) */
static bool is_narrower(struct net_type type, const struct ng_expr *expr) {
  if (expr->op == NG_INTEGER) return false;
  return (type.base == NET_INTEGER || type.base == NET_FLOAT) && type.width < expr->type.width;
}

const struct ng_expr *tql_assigned(struct tql_binder *binder, const struct tql_bound_target *target,
                                   const struct net_field *field) {
  const struct ng_expr *expr = target->expr;
  if (field->type.quantity == NET_POINT && expr->op == NG_STRING &&
      (expr = tql_as_point(binder, expr)) == NULL) {
    binder->failed = true;
    return NULL;
  }
  if (!is_assignable(field->type, expr->type)) {
    struct base_diag *diag =
        base_report(binder->analysis->diags, MSG_TYPE_MISMATCH, binder->analysis->source,
                    &expr->range, "the domain %s takes %s, not %s", field->name,
                    tql_type_words(field->type), tql_type_words(expr->type));
    if (field->type.base == NET_INTEGER && expr->type.base == NET_FLOAT)
      tql_set_hint(diag, "i8(...) makes an integer of a float");
    else if (field->type.base == NET_BYTES && is_text(expr->type))
      tql_set_hint(diag, "bytes(...) are the bytes of a string; x'00ff' is a constant of bytes");
    else if (is_text(field->type) && expr->type.base == NET_BYTES)
      tql_set_hint(diag, "text(...) makes a string of bytes, hex(...) their digits");
    binder->failed = true;
    return NULL;
  }
  expr = tql_convert(binder, expr, field->type.base);
  const char *fault = constant_fault(binder, expr, field->type);
  if (fault) {
    base_report(binder->analysis->diags, MSG_VALUE_RANGE, binder->analysis->source, &expr->range,
                "the value for %s is %s", field->name, fault);
    binder->failed = true;
    return NULL;
  }
  bool narrower = is_narrower(field->type, expr);
  return narrower ? tql_new_unary(binder, NG_CONVERT, field->type, expr->range, expr) : expr;
}

static const struct ng_expr *zero(const struct tql_binder *binder, const struct net_field *field,
                                  struct base_range range) {
  enum ng_op op = field->type.base == NET_INTEGER ? NG_INTEGER
                  : field->type.base == NET_FLOAT ? NG_FLOAT
                  : field->type.base == NET_BOOL  ? NG_TRUTH
                                                  : NG_STRING;
  return tql_new_expr(binder, op, field->type, range); /* 0, 0.0, false, "" are all zero bits */
}

static void match_target(struct tql_binder *binder, const struct ng_relation *relation,
                         const struct net_layout *layout, const struct tql_bound_target *target) {
  struct tql_name name = {target->name, target->range};
  int field = tql_find_domain(binder->analysis, relation, layout, &name);
  if (field < 0)
    binder->failed = true;
  else
    binder->query->targets[field].expr = tql_assigned(binder, target, &layout->fields[field]);
}

static void match_targets(struct tql_binder *binder, const struct ng_relation *relation,
                          const struct net_layout *layout, const struct tql_statement *statement) {
  struct ng_query *query = binder->query;
  query->layout = layout;
  query->target_count = layout->field_count;
  query->targets = BASE_NEW_ARRAY(binder->arena, layout->field_count, struct ng_target);
  for (size_t i = 0; i < binder->target_count; i++)
    match_target(binder, relation, layout, &binder->targets[i]);
  for (uint32_t i = 0; i < layout->field_count; i++) {
    query->targets[i].name = layout->fields[i].name;
    if (!query->targets[i].expr)
      query->targets[i].expr = zero(binder, &layout->fields[i], statement->range);
  }
}

/* ---- times ---- */

static const struct ng_expr *constant_time(const struct tql_binder *binder, net_chronon time,
                                           struct base_range range) {
  struct ng_expr *expr =
      tql_new_expr(binder, NG_T_CONSTANT, (struct net_type){NET_INSTANT, 0}, range);
  expr->event = true;
  expr->instant = (struct net_instant){time, time};
  return expr;
}

static void time_event(struct tql_binder *binder, const struct tql_statement *statement) {
  const struct tql_clauses *clauses = &statement->clauses;
  if (clauses->start || clauses->stop)
    refuse(binder, MSG_CLAUSES, clauses->start ? &clauses->start_range : &clauses->stop_range,
           "events are appended at a time: at T", "the relation holds events, not periods");
  else if (!clauses->at && binder->variable_count == 0)
    refuse(binder, MSG_CLAUSES, &statement->name.range, "add: at T",
           "the relation holds events: at which time?");
  else if (tql_result_class(binder, statement) != NET_EVENT && !binder->failed)
    refuse(binder, MSG_CLAUSES, &statement->name.range, "add at, such as: at V.start",
           "the relation holds events, but the statement gives periods");
}

static void time_period(struct tql_binder *binder, const struct tql_statement *statement) {
  const struct tql_clauses *clauses = &statement->clauses;
  if (clauses->at) {
    refuse(binder, MSG_CLAUSES, &clauses->at_range, "periods are appended with start T stop T",
           "the relation holds periods, not events");
    return;
  }
  if (binder->variable_count > 0) {
    if (tql_result_class(binder, statement) != NET_PERIOD && !binder->failed)
      refuse(binder, MSG_CLAUSES, &statement->name.range, "add start and stop",
             "the relation holds periods, but the statement gives events");
    return;
  }
  if (!clauses->start)
    refuse(binder, MSG_CLAUSES, clauses->stop ? &clauses->stop_range : &statement->name.range,
           "add: start T", "the relation holds periods: when does this one start?");
  else if (!clauses->stop)
    binder->query->stop = constant_time(binder, NET_FOREVER, statement->range);
}

static void time_snapshot(struct tql_binder *binder, const struct tql_statement *statement) {
  const struct tql_clauses *clauses = &statement->clauses;
  const struct base_range *range = clauses->at      ? &clauses->at_range
                                   : clauses->start ? &clauses->start_range
                                   : clauses->stop  ? &clauses->stop_range
                                                    : NULL;
  if (range)
    refuse(binder, MSG_CLAUSES, range, "leave the clause out, or use a period relation",
           "tuples of a snapshot relation hold always and take no time");
  binder->query->start = constant_time(binder, NET_BEGINNING, statement->range);
  binder->query->stop = constant_time(binder, NET_FOREVER, statement->range);
}

/* Constant start and stop in the wrong order make no period. */
void tql_check_order(struct tql_binder *binder, const struct tql_statement *statement) {
  const struct ng_expr *start = binder->query->start, *stop = binder->query->stop;
  if (!start || !stop || start->op != NG_T_CONSTANT || stop->op != NG_T_CONSTANT) return;
  if (net_before(start->instant, stop->instant) == NET_TRUE) return;
  const struct base_range *range =
      statement->clauses.stop ? &statement->clauses.stop->range : &start->range;
  refuse(binder, MSG_CLAUSES, range, NULL, "the period is empty: it stops before it has started");
}

static void set_times(struct tql_binder *binder, const struct ng_relation *relation,
                      const struct tql_statement *statement) {
  binder->query->result_class = binder->query->layout->tuple_class;
  if (relation->kind == NG_REL_SNAPSHOT)
    time_snapshot(binder, statement);
  else if (binder->query->result_class == NET_EVENT)
    time_event(binder, statement);
  else
    time_period(binder, statement);
  tql_check_order(binder, statement);
}

/* ---- the statement ---- */

static const struct ng_relation *find_target(const struct tql_analysis *analysis,
                                             const struct tql_statement *statement) {
  const struct ng_relation *relation = tql_analyse_relation(analysis, &statement->name);
  if (!relation || relation->kind != NG_REL_DERIVED) return relation;
  base_report_hint(analysis->diags, MSG_DERIVED_WRITE, analysis->source, &statement->name.range,
                   "change the relations that it is derived from", "%s is a derived relation",
                   relation->name);
  return NULL;
}

static enum base_status append_held(const struct tql_analysis *analysis,
                                    const struct tql_statement *statement,
                                    const struct ng_query **ret) {
  BASE_CHECK(statement->kind == TQL_S_APPEND, "analyse-append-kind");
  const struct ng_relation *relation = find_target(analysis, statement);
  if (!relation) return BASE_USER;
  struct tql_binder binder;
  tql_binder_init(&binder, analysis, statement);
  binder.append_times = true;
  tql_bind_targets(&binder, &statement->targets);
  tql_bind_clauses(&binder, &statement->clauses);
  match_targets(&binder, relation, relation->records ? relation->records : relation->layout,
                statement);
  set_times(&binder, relation, statement);
  const struct ng_query *query = tql_binder_finish(&binder, statement);
  tql_binder_done(&binder);
  if (!query) return BASE_USER;
  *ret = query;
  return BASE_OK;
}

enum base_status tql_analyse_append(const struct tql_analysis *analysis,
                                    const struct tql_statement *statement,
                                    const struct ng_query **ret) {
  base_diag_hold(analysis->diags);
  enum base_status status = append_held(analysis, statement, ret);
  base_diag_release(analysis->diags);
  return status;
}
