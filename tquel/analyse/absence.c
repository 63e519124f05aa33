/* unless V where ... when ...: what has no partner among the tuples of V.
 *
 * V is bound there, and takes part in nothing else: the time of a result is that of the other variables. The conditions
 * are bound as those of the statement itself; they may speak of V and of what takes part outside. */
#include "tquel/analyse/analyse_internal.h"

static void refuse(struct tql_binder *binder, struct base_range range, const char *hint,
                   const char *message) {
  base_report_hint(binder->analysis->diags, MSG_ABSENCE, binder->analysis->source, &range, hint,
                   "%s", message);
  binder->failed = true;
}

static bool is_taken(const struct tql_binder *binder, int index) {
  if (binder->variables[index].outside) return true;
  for (size_t i = 0; i < binder->aggregate_count; i++)
    if (binder->aggregates[i].variable == (unsigned)index) return true;
  for (size_t i = 0; i < binder->absence_count; i++)
    if (binder->absences[i].variable == (unsigned)index) return true;
  return false;
}

bool tql_absence_admits(struct tql_binder *binder, int index, const struct tql_name *name) {
  if (index == binder->absent || binder->variables[index].outside) return true;
  base_report_hint(binder->analysis->diags, MSG_ABSENCE, binder->analysis->source, &name->range,
                   "one variable is absent in each unless clause: retrieve what both have in "
                   "common into a relation "
                   "first, and range over that",
                   "%s takes no part in the statement outside of unless", name->text);
  binder->failed = true;
  return false;
}

/* Whether it holds must be known of the two tuples alone. */
static bool changes_with_time(const struct ng_expr *expr) {
  if (expr->op == NG_DURATION || expr->op == NG_AGGREGATE) return true;
  for (unsigned i = 0; i < expr->arg_count; i++)
    if (expr->args[i]->type.base == NET_TEMPORAL || changes_with_time(expr->args[i])) return true;
  return false;
}

static bool names_variable(const struct ng_expr *expr, unsigned variable) {
  if ((expr->op == NG_DOMAIN || expr->op == NG_T_VARIABLE || expr->op == NG_DURATION) &&
      expr->variable == variable)
    return true;
  for (unsigned i = 0; i < expr->arg_count; i++)
    if (names_variable(expr->args[i], variable)) return true;
  return false;
}

static void bind_conditions(struct tql_binder *binder, const struct tql_absence *clause,
                            struct ng_absence *absence) {
  const struct tql_expr *where = clause->clauses.where, *when = clause->clauses.when;
  if (where != NULL) {
    absence->where = tql_bind_condition(binder, where);
    binder->failed |= absence->where == NULL;
    if (absence->where != NULL && changes_with_time(absence->where)) {
      refuse(binder, where->range,
             "retrieve when that holds into a relation first, and range over it",
             "the where of an unless clause cannot compare functions of time");
    }
  }
  if (when != NULL) {
    absence->when = tql_bind_when(binder, when);
    binder->failed |= absence->when == NULL;
    if (absence->when != NULL && !names_variable(absence->when, absence->variable))
      refuse(binder, when->range,
             "write it before unless, where it is a condition of the statement",
             "the when of an unless clause does not speak of its variable");
  }
}

static void bind_absence(struct tql_binder *binder, const struct tql_absence *clause) {
  bool was_outside = false;
  const struct tql_variable *known = tql_scope_variable(binder->scope, clause->variable.text);
  for (size_t i = 0; known != NULL && i < binder->variable_count; i++)
    was_outside |= binder->variables[i].name == known->name && binder->variables[i].outside;
  int index = tql_bind_variable(binder, &clause->variable);
  if (index < 0) {
    binder->failed = true;
    return;
  }
  binder->variables[index].outside = was_outside;
  if (is_taken(binder, index)) {
    base_report_hint(
        binder->analysis->diags, MSG_ABSENCE, binder->analysis->source, &clause->variable.range,
        "range another variable over the relation, and write unless with that one",
        "%s takes part in the statement outside of this unless clause", clause->variable.text);
    binder->failed = true;
    return;
  }
  struct ng_absence absence = {.variable = (unsigned)index};
  binder->absent = index;
  bind_conditions(binder, clause, &absence);
  binder->absent = -1;
  base_grow(&binder->absences, &binder->absence_capacity, binder->absence_count + 1,
            sizeof *binder->absences);
  binder->absences[binder->absence_count++] = absence;
}

void tql_bind_absences(struct tql_binder *binder, const struct tql_statement *statement) {
  for (size_t i = 0; i < statement->absence_count; i++)
    bind_absence(binder, &statement->absences[i]);
}
