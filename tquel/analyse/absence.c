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

/* --- what portions cannot ask */

static bool reads_times(const struct ng_expr *expr) {
  if (expr->op == NG_SPAN || expr->op == NG_CHRONON) return true;
  for (unsigned i = 0; i < expr->arg_count; i++)
    if (reads_times(expr->args[i])) return true;
  return false;
}

static bool names_other(const struct ng_expr *expr, unsigned variable) {
  if ((expr->op == NG_DOMAIN || expr->op == NG_T_VARIABLE) && expr->variable != variable)
    return true;
  for (unsigned i = 0; i < expr->arg_count; i++)
    if (names_other(expr->args[i], variable)) return true;
  return false;
}

static void check_portions(struct tql_binder *binder, const struct ng_absence *absence,
                           const struct ng_expr *where) {
  if (where->op == NG_AND) {
    check_portions(binder, absence, where->args[0]);
    check_portions(binder, absence, where->args[1]);
  } else if (reads_times(where) && names_other(where, absence->variable)) {
    refuse(binder, where->range, "write it as a when, or retrieve the number into a relation first",
           "the where of an unless clause without a when cannot compare the times of tuples with "
           "other tuples");
  }
}

void tql_check_absences(struct tql_binder *binder) {
  if (binder->query->result_class != NET_PERIOD) return;
  for (size_t i = 0; i < binder->absence_count; i++) {
    const struct ng_absence *absence = &binder->absences[i];
    if (absence->when == NULL && absence->where != NULL)
      check_portions(binder, absence, absence->where);
  }
}

/* --- statements that were perhaps meant to ask for what is absent */

static bool is_zero(const struct ng_expr *expr) {
  if (expr->op == NG_CONVERT) return is_zero(expr->args[0]);
  return (expr->op == NG_INTEGER && expr->integer == 0) ||
         (expr->op == NG_FLOAT && expr->real == 0);
}

/* The aggregate that counts in groups, if EXPR is one; of a variable outside there is a group wherever it is asked for. */
static const struct ng_aggregate *counts_in_groups(const struct tql_binder *binder,
                                                   const struct ng_expr *expr) {
  if (expr->op == NG_CONVERT) return counts_in_groups(binder, expr->args[0]);
  if (expr->op != NG_AGGREGATE) return NULL;
  const struct ng_aggregate *aggregate = &binder->aggregates[expr->index];
  bool counts = aggregate->function == NET_AGG_COUNT || aggregate->function == NET_AGG_ANY;
  bool outside = binder->variables[aggregate->variable].outside;
  return counts && !outside && !aggregate->summary && aggregate->by_count > 0 ? aggregate : NULL;
}

static void warn_of_empty_groups(const struct tql_binder *binder, const struct ng_expr *where) {
  if (where->op == NG_AND) {
    warn_of_empty_groups(binder, where->args[0]);
    warn_of_empty_groups(binder, where->args[1]);
    return;
  }
  if (where->op != NG_EQ) return;
  for (unsigned side = 0; side < 2; side++) {
    const struct ng_aggregate *aggregate = counts_in_groups(binder, where->args[side]);
    if (aggregate == NULL || !is_zero(where->args[!side])) continue;
    const char *name = binder->variables[aggregate->variable].name;
    struct base_diag *diag = base_report(
        binder->analysis->diags, MSG_EMPTY_GROUP, binder->analysis->source, &where->range,
        "a group is there while something counts in it: the number of %s is never 0 in one", name);
    tql_set_hint(diag, "for what has no %s, write: unless %s where %s.DOMAIN = V.DOMAIN", name,
                 name, name);
  }
}

static bool is_named_elsewhere(const struct tql_binder *binder, unsigned variable) {
  const struct ng_query *query = binder->query;
  const struct ng_expr *times[] = {query->start, query->stop, query->at};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++)
    if (times[i] != NULL && names_variable(times[i], variable)) return true;
  for (size_t i = 0; i < binder->target_count; i++)
    if (names_variable(binder->targets[i].expr, variable)) return true;
  return false;
}

/* not (g , l): pairs that lie apart, of which there are many. */
static void warn_of_pairs(const struct tql_binder *binder, const struct ng_expr *when) {
  if (when->op == NG_AND) {
    warn_of_pairs(binder, when->args[0]);
    warn_of_pairs(binder, when->args[1]);
    return;
  }
  if (when->op != NG_NOT || when->args[0]->op != NG_HOLDS) return;
  const struct ng_expr *held = when->args[0]->args[0];
  if ((held->op != NG_T_OVERLAP && held->op != NG_T_COVERAGE) ||
      held->args[0]->op != NG_T_VARIABLE || held->args[1]->op != NG_T_VARIABLE)
    return;
  for (unsigned side = 0; side < 2; side++) {
    unsigned variable = held->args[side]->variable;
    if (is_named_elsewhere(binder, variable)) continue;
    const char *name = binder->variables[variable].name;
    struct base_diag *diag =
        base_report(binder->analysis->diags, MSG_PAIRS_APART, binder->analysis->source,
                    &when->range, "this holds for each tuple of %s that lies elsewhere", name);
    tql_set_hint(diag, "for what has no %s at the same time, write: unless %s where ...", name,
                 name);
    return;
  }
}

void tql_warn_of_absence(const struct tql_binder *binder) {
  if (binder->query->where != NULL) warn_of_empty_groups(binder, binder->query->where);
  if (binder->query->when != NULL) warn_of_pairs(binder, binder->query->when);
}
