/* define integrity, define permit, and the lists of domains of index and modify.
 *
 * A rule of integrity is a condition on the domains of one tuple. Nothing else can be tested when a
 * tuple is written: other tuples may come later, and so may the end of an open period. Permits are
 * checked as far as names go; nobody is kept out here. */
#include <string.h>

#include "tquel/analyse/analyse_internal.h"

static void refuse(struct tql_binder *binder, const struct base_range *range, const char *hint,
                   const char *message) {
  base_report_hint(binder->analysis->diags, MSG_INTEGRITY_FORM, binder->analysis->source, range,
                   hint, "%s", message);
  binder->failed = true;
}

/* The first part of EXPR that speaks of time, or NULL. */
static const struct ng_expr *time_in(const struct ng_expr *expr) {
  if (expr->op == NG_SPAN || expr->op == NG_CHRONON || expr->op == NG_DURATION) return expr;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    const struct ng_expr *found = time_in(expr->args[i]);
    if (found) return found;
  }
  return NULL;
}

static const struct ng_query *integrity_held(const struct tql_analysis *analysis,
                                             const struct tql_statement *statement) {
  struct tql_binder binder;
  tql_binder_init(&binder, analysis, statement);
  int variable = tql_bind_variable(&binder, &statement->variable);
  if (variable < 0) binder.failed = true;
  const struct ng_expr *where = tql_bind_condition(&binder, statement->expr);
  binder.query->where = where;
  if (!where) binder.failed = true;
  const char *hint = "a rule is a condition on the domains of one tuple";
  if (!binder.failed && binder.aggregate_count > 0)
    refuse(&binder, &binder.aggregates[0].range, hint,
           "an aggregate cannot stand in a rule of integrity");
  if (!binder.failed && binder.variable_count > 1)
    refuse(&binder, &statement->expr->range, hint,
           "a rule of integrity speaks of one tuple variable");
  const struct ng_expr *time = !binder.failed ? time_in(where) : NULL;
  if (time) refuse(&binder, &time->range, hint, "the time of a tuple cannot stand in a rule");
  const struct ng_query *query = tql_binder_finish(&binder, statement);
  tql_binder_done(&binder);
  return query;
}

enum base_status tql_analyse_integrity(const struct tql_analysis *analysis,
                                       const struct tql_statement *statement,
                                       const struct ng_query **ret) {
  BASE_CHECK(statement->kind == TQL_S_INTEGRITY, "analyse-integrity-kind");
  base_diag_hold(analysis->diags);
  const struct ng_query *query = integrity_held(analysis, statement);
  base_diag_release(analysis->diags);
  if (!query) return BASE_USER;
  *ret = query;
  return BASE_OK;
}

/* ---- permits ---- */

static bool check_clock(const struct tql_analysis *analysis, const struct tql_expr *expr) {
  if (!expr) return true;
  struct net_time_context context = analysis->scope->time;
  context.timeline = NET_TIMELINE_REAL; /* clock times are those of the wall, on any day */
  context.zone = NULL;
  net_chronon time;
  bool fits = expr->kind == TQL_E_STRING && strchr(expr->name.text, ':') != NULL &&
              net_time_parse(expr->name.text, expr->length, &context, &time) == NET_TIME_OK;
  if (expr->kind == TQL_E_INTEGER) fits = expr->integer >= 0 && expr->integer <= 24;
  if (!fits)
    base_report(analysis->diags, MSG_PERMIT_FORM, analysis->source, &expr->range,
                "a permit is given from one clock time to another, such as 8:00 to 17:30");
  return fits;
}

static bool check_day(const struct tql_analysis *analysis, const struct tql_name *day) {
  static const char *const days[] = {"mon",      "tue",    "wed",      "thu",     "fri",
                                     "sat",      "sun",    "monday",   "tuesday", "wednesday",
                                     "thursday", "friday", "saturday", "sunday"};
  if (!day->text) return true;
  for (size_t i = 0; i < sizeof days / sizeof *days; i++)
    if (tql_same_name(day->text, days[i])) return true;
  base_report(analysis->diags, MSG_PERMIT_FORM, analysis->source, &day->range,
              "%s is no day of the week: mon tue wed thu fri sat sun", day->text);
  return false;
}

/* The relation, named itself or by a tuple variable. */
static const struct ng_relation *permitted(const struct tql_analysis *analysis,
                                           const struct tql_name *name) {
  const struct tql_variable *variable = tql_scope_variable(analysis->scope, name->text);
  return variable ? variable->relation : tql_analyse_relation(analysis, name);
}

enum base_status tql_analyse_permit(const struct tql_analysis *analysis,
                                    const struct tql_statement *statement,
                                    const struct ng_relation **ret,
                                    const struct ng_query **ret_variables) {
  BASE_CHECK(statement->kind == TQL_S_PERMIT, "analyse-permit-kind");
  base_diag_hold(analysis->diags);
  struct tql_binder binder;
  tql_binder_init(&binder, analysis, statement);
  const struct ng_relation *relation = permitted(analysis, &statement->name);
  bool fits = relation != NULL;
  if (relation && statement->name_count > 0)
    fits = tql_analyse_domains(analysis, relation, statement->names, statement->name_count) != NULL;
  fits = check_clock(analysis, statement->time_first) && fits;
  fits = check_clock(analysis, statement->time_last) && fits;
  fits = check_day(analysis, &statement->day_first) && fits;
  fits = check_day(analysis, &statement->day_last) && fits;
  if (statement->expr) fits = tql_bind_condition(&binder, statement->expr) != NULL && fits;
  binder.failed = !fits;
  const struct ng_query *query = tql_binder_finish(&binder, statement);
  tql_binder_done(&binder);
  base_diag_release(analysis->diags);
  if (!query) return BASE_USER;
  *ret = relation;
  *ret_variables = query;
  return BASE_OK;
}

/* ---- names ---- */

const char **tql_analyse_domains(const struct tql_analysis *analysis,
                                 const struct ng_relation *relation, const struct tql_name *names,
                                 size_t count) {
  const char **found = BASE_NEW_ARRAY(analysis->arena, count + 1, const char *);
  bool fits = true;
  for (size_t i = 0; i < count; i++) {
    int domain = tql_find_domain(analysis, relation, relation->layout, &names[i]);
    if (domain < 0) {
      fits = false;
      continue;
    }
    found[i] = relation->layout->fields[domain].name;
    for (size_t j = 0; j < i && fits; j++)
      if (found[j] == found[i]) {
        base_report(analysis->diags, MSG_DUPLICATE_DOMAIN, analysis->source, &names[i].range,
                    "%s is named twice", found[i]);
        fits = false;
      }
  }
  return fits ? found : NULL;
}

bool tql_analyse_new_name(const struct tql_analysis *analysis, const struct tql_name *name) {
  base_diag_hold(analysis->diags);
  bool fits = tql_check_new_relation(analysis, name);
  base_diag_release(analysis->diags);
  return fits;
}
