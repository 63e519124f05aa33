/* retrieve: the target list, the clauses, the class and layout of the result.
 *
 * What a clause leaves out stays NULL for netgen to supply (thesis 4.5.2). What is decided here is
 * whether the clauses that are given fit each other and the variables, and so whether the result is
 * an event or a period relation:
 *
 *      at given                                  event, at that
 *      start or stop given                       period
 *      an event variable outside aggregates      event, at that event
 *      else (periods, aggregates, constants)     period
 *
 * Every part is bound even when an earlier one failed, so that one run reports several mistakes. */
#include <stdlib.h>
#include <string.h>

#include "tquel/analyse/analyse_internal.h"

/* ---- the binder ---- */

void tql_binder_init(struct tql_binder *binder, const struct tql_analysis *analysis,
                     const struct tql_statement *statement) {
  *binder = (struct tql_binder){.analysis = analysis,
                                .scope = analysis->scope,
                                .arena = analysis->arena,
                                .query = BASE_NEW(analysis->arena, struct ng_query),
                                .aggregate_variable = -1,
                                .absent = -1};
  const struct tql_settings *settings = analysis->scope->settings;
  struct ng_query *query = binder->query;
  query->source = analysis->source;
  query->range = statement->range;
  query->timeline = analysis->scope->time.timeline;
  query->origin_given = settings->origin_given || query->timeline == NET_TIMELINE_ABSTRACT;
  query->origin = settings->origin;
  query->averaging_origin_given = settings->averaging_origin_given;
  query->averaging_origin = settings->averaging_origin;
  query->unbounded_allowed = settings->unbounded_allowed;
  query->losses_ignored = settings->losses_ignored;
}

void tql_binder_done(struct tql_binder *binder) {
  free(binder->variables);
  free(binder->aggregates);
  free(binder->aggregate_texts);
  free(binder->absences);
  free(binder->times);
  free(binder->targets);
  free(binder->bare_names);
}

static void warn_of_domain_names(const struct tql_binder *binder) {
  if (binder->analysis->kept) return;
  for (size_t i = 0; i < binder->bare_name_count; i++) {
    const struct tql_expr *expr = binder->bare_names[i];
    for (size_t v = 0; v < binder->variable_count; v++) {
      const struct ng_variable *variable = &binder->variables[v];
      if (net_layout_find(variable->relation->layout, expr->name.text) < 0) continue;
      struct base_diag *diag = base_report(
          binder->analysis->diags, MSG_NAME_IS_DOMAIN, binder->analysis->source, &expr->range,
          "%s is taken as the string \"%s\", though %s has a domain of that name", expr->name.text,
          expr->name.text, variable->relation->name);
      tql_set_hint(diag, "write %s.%s for the domain, or the string in quotes", variable->name,
                   expr->name.text);
      break;
    }
  }
}

static void *copied(struct base_arena *arena, const void *items, size_t count, size_t size) {
  void *copy = base_arena_array(arena, count, size);
  if (count) memcpy(copy, items, count * size);
  return copy;
}

const struct ng_query *tql_binder_finish(struct tql_binder *binder,
                                         const struct tql_statement *statement) {
  warn_of_domain_names(binder);
  binder->query->sequence = binder->scope->settings->sequence;
  if (binder->failed || !tql_check_clocks(binder, &statement->range)) return NULL;
  if (!tql_check_closest(binder)) return NULL;
  struct ng_query *query = binder->query;
  query->variables =
      copied(binder->arena, binder->variables, binder->variable_count, sizeof *binder->variables);
  query->variable_count = binder->variable_count;
  for (size_t i = 0; i < query->variable_count; i++)
    query->variables[i].name = base_arena_strdup(binder->arena, query->variables[i].name);
  query->aggregates = copied(binder->arena, binder->aggregates, binder->aggregate_count,
                             sizeof *binder->aggregates);
  query->aggregate_count = binder->aggregate_count;
  query->absences =
      copied(binder->arena, binder->absences, binder->absence_count, sizeof *binder->absences);
  query->absence_count = binder->absence_count;
  query->times = copied(binder->arena, binder->times, binder->time_count, sizeof *binder->times);
  query->time_count = binder->time_count;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  tql_print_statement(&text, statement);
  query->text = base_arena_strdup(binder->arena, base_buffer_text(&text));
  base_buffer_done(&text);
  return query;
}

/* ---- target list ---- */

static bool is_duplicate(struct tql_binder *binder, const char *name, struct base_range range) {
  for (size_t i = 0; i < binder->target_count; i++)
    if (tql_same_name(binder->targets[i].name, name)) {
      base_report_hint(binder->analysis->diags, MSG_DUPLICATE_DOMAIN, binder->analysis->source,
                       &range, "give one of them another name: NAME = expression",
                       "there are two domains called %s", name);
      return true;
    }
  return false;
}

/* Said of the first one that is too much. */
static bool is_one_too_many(struct tql_binder *binder, struct base_range range) {
  if (binder->target_count < NG_LIMIT_TARGETS) return false;
  if (!binder->too_many)
    base_report_hint(binder->analysis->diags, MSG_TOO_MANY_TARGETS, binder->analysis->source,
                     &range, "make several statements of it",
                     "the statement has more than %d targets", NG_LIMIT_TARGETS);
  binder->too_many = true;
  return true;
}

static void add_target(struct tql_binder *binder, const char *name, const struct ng_expr *expr,
                       struct base_range range) {
  if (is_one_too_many(binder, range)) {
    binder->failed = true;
    return;
  }
  if (!tql_check_domain_name(binder->analysis, name, range) || is_duplicate(binder, name, range)) {
    binder->failed = true;
    return;
  }
  base_grow(&binder->targets, &binder->target_capacity, binder->target_count + 1,
            sizeof *binder->targets);
  binder->targets[binder->target_count++] = (struct tql_bound_target){name, expr, range};
}

static void add_all(struct tql_binder *binder, const struct tql_target *target) {
  const struct tql_expr *expr = target->expr;
  int variable = tql_bind_variable(binder, &expr->name);
  if (variable < 0) {
    binder->failed = true;
    return;
  }
  if (target->name.text) {
    base_report_hint(binder->analysis->diags, MSG_ARGUMENTS, binder->analysis->source,
                     &target->name.range, "write V.all without a name",
                     "%s.all stands for several domains with names of their own", expr->name.text);
    binder->failed = true;
    return;
  }
  const struct net_layout *layout = binder->variables[variable].relation->layout;
  for (uint32_t i = 0; i < layout->field_count; i++)
    add_target(binder, layout->fields[i].name,
               tql_new_domain(binder, (unsigned)variable, i, expr->range), expr->range);
}

static const char *lower_case(struct base_arena *arena, const char *text) {
  char *copy = base_arena_strdup(arena, text);
  for (char *at = copy; *at; at++)
    if (*at >= 'A' && *at <= 'Z') *at = (char)(*at - 'A' + 'a');
  return copy;
}

/* The element's own name; the grammar lets no other element stand without one. */
static const char *target_name(const struct tql_binder *binder, const struct tql_target *target,
                               const struct ng_expr *bound) {
  const struct tql_expr *expr = target->expr;
  if (target->name.text) return target->name.text;
  if (expr->kind == TQL_E_DOMAIN)
    return binder->variables[bound->variable].relation->layout->fields[bound->index].name;
  BASE_CHECK(expr->kind == TQL_E_CALL, "analyse-element-name");
  return lower_case(binder->arena, expr->name.text);
}

static void add_element(struct tql_binder *binder, const struct tql_target *target) {
  if (target->expr->kind == TQL_E_ALL) {
    add_all(binder, target);
    return;
  }
  const struct ng_expr *bound = tql_bind_scalar(binder, target->expr);
  const char *name = bound ? target_name(binder, target, bound) : NULL;
  if (!name || !tql_check_constant_truth(binder, bound)) {
    binder->failed = true;
    return;
  }
  add_target(binder, name, bound, target->name.text ? target->name.range : target->expr->range);
}

void tql_bind_targets(struct tql_binder *binder, const struct tql_target_list *list) {
  for (size_t i = 0; i < list->count; i++) add_element(binder, &list->items[i]);
}

/* ---- clauses ---- */

static const struct ng_expr *checked(struct tql_binder *binder, const struct ng_expr *bound) {
  if (!bound) binder->failed = true;
  return bound;
}

void tql_bind_clauses(struct tql_binder *binder, const struct tql_clauses *clauses) {
  struct ng_query *query = binder->query;
  if (clauses->where) query->where = checked(binder, tql_bind_condition(binder, clauses->where));
  if (clauses->when) query->when = checked(binder, tql_bind_when(binder, clauses->when));
  if (clauses->start)
    query->start = checked(binder, tql_bind_event(binder, clauses->start, "start"));
  if (clauses->stop) query->stop = checked(binder, tql_bind_event(binder, clauses->stop, "stop"));
  if (clauses->at) query->at = checked(binder, tql_bind_event(binder, clauses->at, "at"));
}

static void refuse_clauses(struct tql_binder *binder, const struct base_range *range,
                           const char *hint, const char *message) {
  base_report_hint(binder->analysis->diags, MSG_CLAUSES, binder->analysis->source, range, hint,
                   "%s", message);
  binder->failed = true;
}

static bool stands_before(const struct base_range *a, const struct base_range *b) {
  if (a->first_line != b->first_line) return a->first_line < b->first_line;
  return a->first_column < b->first_column;
}

static size_t count_outside_events(const struct tql_binder *binder) {
  size_t count = 0;
  for (size_t i = 0; i < binder->variable_count; i++) {
    const struct ng_variable *variable = &binder->variables[i];
    count += variable->outside && variable->relation->layout->tuple_class == NET_EVENT;
  }
  return count;
}

/* start or stop together with at: the later of the two is the offender. */
static void refuse_mixture(struct tql_binder *binder, const struct tql_clauses *clauses) {
  const struct base_range *period = clauses->start ? &clauses->start_range : &clauses->stop_range;
  const struct base_range *range =
      stands_before(period, &clauses->at_range) ? &clauses->at_range : period;
  refuse_clauses(binder, range, "at makes an event, start and stop make a period: keep one kind",
                 "at cannot stand together with start or stop");
}

enum net_tuple_class tql_result_class(struct tql_binder *binder,
                                      const struct tql_statement *statement) {
  const struct tql_clauses *clauses = &statement->clauses;
  size_t events = count_outside_events(binder);
  if (clauses->at) {
    if (clauses->start || clauses->stop) refuse_mixture(binder, clauses);
    return NET_EVENT;
  }
  if (clauses->start || clauses->stop) {
    if (events > 0 && !(clauses->start && clauses->stop))
      refuse_clauses(binder, clauses->start ? &clauses->start_range : &clauses->stop_range,
                     "give both start and stop, or at",
                     clauses->start ? "an event takes part, so start needs a stop as well"
                                    : "an event takes part, so stop needs a start as well");
    return NET_PERIOD;
  }
  if (events > 1 && clauses->when)
    refuse_clauses(binder, &clauses->when_range, "add at, or start and stop",
                   "several events take part: at which of them is the result?");
  return events > 0 ? NET_EVENT : NET_PERIOD;
}

/* ---- the statement ---- */

static void make_result(struct tql_binder *binder) {
  struct ng_query *query = binder->query;
  struct net_field *fields = BASE_NEW_ARRAY(binder->arena, binder->target_count, struct net_field);
  query->target_count = binder->target_count;
  query->targets = BASE_NEW_ARRAY(binder->arena, binder->target_count, struct ng_target);
  for (size_t i = 0; i < binder->target_count; i++) {
    const struct tql_bound_target *target = &binder->targets[i];
    fields[i] = (struct net_field){.name = target->name, .type = target->expr->type};
    query->targets[i].name = base_arena_strdup(binder->arena, target->name);
    query->targets[i].expr = target->expr;
  }
  query->layout =
      net_layout_new(binder->arena, query->result_class, fields, (uint32_t)binder->target_count);
  if (!query->summary) return;
  struct net_layout *layout = (struct net_layout *)query->layout;
  layout->timeless = true;
}

/* Whether two functions of time are equal depends on when each tuple starts. */
static void refuse_temporal_targets(struct tql_binder *binder) {
  for (size_t i = 0; i < binder->target_count; i++) {
    const struct tql_bound_target *target = &binder->targets[i];
    if (target->expr->type.base != NET_TEMPORAL) continue;
    base_report_hint(binder->analysis->diags, MSG_COALESCED_TEMPORAL, binder->analysis->source,
                     &target->range, "leave coalesced out, or retrieve a number in its place",
                     "%s is a function of time, by which tuples cannot be coalesced", target->name);
    binder->failed = true;
  }
}

/* Its value lasts until forever, which is no part of that time. */
static void warn_of_forever(const struct tql_binder *binder, const struct tql_clauses *clauses) {
  const struct ng_expr *at = binder->query->at;
  bool forever = at != NULL && at->op == NG_T_CONSTANT && at->instant.lo == NET_FOREVER;
  if (!forever || binder->aggregate_count == 0) return;
  base_report_hint(binder->analysis->diags, MSG_AT_FOREVER, binder->analysis->source,
                   &clauses->at->range, "write: at now, or leave it out",
                   "aggregates have no value at forever: theirs last until it, and no longer");
}

static bool is_variable(const struct ng_expr *expr) {
  return expr->op == NG_T_VARIABLE && !expr->event;
}

static bool is_end_of_variable(const struct ng_expr *expr, enum ng_op end) {
  return expr->op == end && is_variable(expr->args[0]);
}

/* A condition, or temporal expression, that holds only if two of the period variables in it have no time in common; NULL:
 * none is found. Looked for where all conditions must hold. */
static const struct ng_expr *find_apart(const struct ng_expr *expr) {
  const struct ng_expr *left = expr->args[0], *right = expr->args[1];
  const struct ng_expr *found = NULL;
  switch (expr->op) {
    case NG_AND:
    case NG_T_SEQUENCE:
    case NG_T_PRECEDE:
      if (expr->op != NG_AND && is_variable(left) && is_variable(right)) return expr;
      found = find_apart(left);
      return found != NULL ? found : find_apart(right);
    case NG_T_OVERLAP:
    case NG_T_COVERAGE:
      found = find_apart(left);
      return found != NULL ? found : find_apart(right);
    case NG_T_EQUAL:
      if (is_end_of_variable(left, NG_T_STOP) && is_end_of_variable(right, NG_T_START)) return expr;
      if (is_end_of_variable(left, NG_T_START) && is_end_of_variable(right, NG_T_STOP)) return expr;
      return NULL;
    case NG_HOLDS:
      return find_apart(left);
    default:
      return NULL;
  }
}

/* Without a clause the result has the time that all periods have in common. */
static void warn_of_nothing_in_common(const struct tql_binder *binder) {
  const struct ng_query *query = binder->query;
  if (query->when == NULL || query->at != NULL || query->start != NULL || query->stop != NULL)
    return;
  if (query->result_class != NET_PERIOD) return;
  const struct ng_expr *apart = find_apart(query->when);
  if (apart == NULL) return;
  base_report_hint(binder->analysis->diags, MSG_NOTHING_IN_COMMON, binder->analysis->source,
                   &apart->range,
                   "say when the result holds: start a.start stop b.stop, or at b.start",
                   "the result holds when all of these periods do, which this condition rules out");
}

static enum base_status retrieve_held(const struct tql_analysis *analysis,
                                      const struct tql_statement *statement,
                                      const struct ng_query **ret) {
  BASE_CHECK(statement->kind == TQL_S_RETRIEVE || statement->kind == TQL_S_VIEW,
             "analyse-retrieve-kind");
  struct tql_binder binder;
  tql_binder_init(&binder, analysis, statement);
  if (statement->name.text) {
    binder.failed = !tql_check_new_relation(analysis, &statement->name);
    binder.query->name = base_arena_strdup(analysis->arena, statement->name.text);
  }
  binder.summary = statement->summary;
  binder.during = statement->during;
  tql_bind_targets(&binder, &statement->targets);
  if (statement->summary)
    tql_bind_summary(&binder, statement);
  else
    tql_bind_clauses(&binder, &statement->clauses);
  tql_bind_absences(&binder, statement);
  binder.query->result_class = tql_result_class(&binder, statement);
  tql_check_absences(&binder);
  binder.query->coalesced = statement->coalesced;
  if (statement->coalesced) refuse_temporal_targets(&binder);
  if (!binder.failed) make_result(&binder);
  if (!binder.failed && !analysis->kept) {
    warn_of_forever(&binder, &statement->clauses);
    if (!statement->summary) warn_of_nothing_in_common(&binder);
    if (!statement->summary) tql_warn_of_absence(&binder);
  }
  const struct ng_query *query = tql_binder_finish(&binder, statement);
  if (query) tql_add_costs(&binder, binder.query);
  tql_binder_done(&binder);
  if (!query) return BASE_USER;
  *ret = query;
  return BASE_OK;
}

enum base_status tql_analyse_retrieve(const struct tql_analysis *analysis,
                                      const struct tql_statement *statement,
                                      const struct ng_query **ret) {
  base_diag_hold(analysis->diags);
  enum base_status status = retrieve_held(analysis, statement, ret);
  base_diag_release(analysis->diags);
  return status;
}
