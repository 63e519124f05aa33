/* The text of a derived relation that the database keeps: what the statement meant when it was
 * defined, in words that mean the same in any later session.
 *
 *      range statements of the variables that take part
 *      set lines for the settings that change results and are not at their defaults
 *      the statement in canonical form, in which
 *          times are absolute: ISO 8601 in UTC on the real timeline, integers on the abstract one
 *          the distance after within is in ns, or in chronons
 *          bare names that are string constants stand in quotes; those of elements of a summary's target list do not
 *
 * The tree is copied and the copy printed; the statement itself is not changed. The statement must
 * have been analysed without error in the same scope. */
#include <string.h>

#include "engine/zone.h"
#include "tquel/analyse/analyse_internal.h"

struct rewriter {
  struct base_arena *arena;
  const struct tql_scope *scope;
  /* Of a summary, outside of its aggregates: bare names may be those of the first ELEMENTS. */
  const struct ng_target *targets;
  size_t elements;
  const struct ng_query *query; /* whose strings may say times; NULL: none does */
};

enum reading { AS_VALUE, AS_TIME };

/* ---- small trees ---- */

static struct tql_expr *new_string(const struct rewriter *rewriter, const char *text,
                                   size_t length) {
  struct tql_expr *expr = BASE_NEW(rewriter->arena, struct tql_expr);
  expr->kind = TQL_E_STRING;
  expr->name.text = base_arena_strndup(rewriter->arena, text, length);
  expr->length = length;
  return expr;
}

static struct tql_expr *new_word(const struct rewriter *rewriter, const char *word) {
  struct tql_expr *expr = BASE_NEW(rewriter->arena, struct tql_expr);
  expr->kind = TQL_E_NAME;
  expr->name.text = word;
  return expr;
}

static struct tql_expr *new_integer(const struct rewriter *rewriter, int64_t value) {
  struct tql_expr *expr = BASE_NEW(rewriter->arena, struct tql_expr);
  expr->kind = TQL_E_INTEGER;
  expr->integer = value;
  return expr;
}

/* The reserved times are strings, because their bare words may be tuple variables. */
static struct tql_expr *new_time(const struct rewriter *rewriter, net_chronon time) {
  bool reserved = time == NET_BEGINNING || time == NET_FOREVER;
  if (rewriter->scope->time.timeline == NET_TIMELINE_REAL || reserved) {
    struct base_buffer text = BASE_BUFFER_EMPTY;
    net_time_print(&text, rewriter->scope->time.timeline, time);
    struct tql_expr *expr = new_string(rewriter, base_buffer_text(&text), text.length);
    base_buffer_done(&text);
    return expr;
  }
  return new_integer(rewriter, time);
}

static struct tql_expr *new_distance(const struct rewriter *rewriter, int64_t chronons) {
  struct tql_expr *expr = new_integer(rewriter, chronons);
  if (rewriter->scope->time.timeline != NET_TIMELINE_REAL) return expr;
  expr->kind = TQL_E_DURATION;
  expr->name.text = base_arena_printf(rewriter->arena, "%lld ns", (long long)chronons);
  return expr;
}

/* ---- copying ---- */

static struct tql_expr *rewritten(const struct rewriter *rewriter, const struct tql_expr *expr,
                                  enum reading reading);

static struct tql_expr_list rewritten_list(const struct rewriter *rewriter,
                                           const struct tql_expr_list *list, enum reading reading) {
  struct tql_expr_list copy = {BASE_NEW_ARRAY(rewriter->arena, list->count, struct tql_expr *),
                               list->count};
  for (size_t i = 0; i < list->count; i++)
    copy.items[i] = rewritten(rewriter, list->items[i], reading);
  return copy;
}

static struct tql_expr *rewritten_distance(const struct rewriter *rewriter,
                                           const struct tql_expr *within) {
  int64_t chronons;
  if (tql_constant_duration(rewriter->scope, within, &chronons) != TQL_CONSTANT_OK)
    return rewritten(rewriter, within, AS_VALUE);
  return new_distance(rewriter, chronons);
}

static bool names_element(const struct rewriter *rewriter, const char *name) {
  for (size_t i = 0; i < rewriter->elements; i++)
    if (tql_same_name(rewriter->targets[i].name, name)) return true;
  return false;
}

/* The time that the string EXPR says as a value, or NULL. */
static const struct ng_time *said_time(const struct rewriter *rewriter,
                                       const struct tql_expr *expr) {
  const struct ng_query *query = rewriter->query;
  bool text = expr->kind == TQL_E_STRING || expr->kind == TQL_E_NAME;
  for (size_t i = 0; text && query != NULL && i < query->time_count; i++)
    if (memcmp(&query->times[i].range, &expr->range, sizeof expr->range) == 0)
      return &query->times[i];
  return NULL;
}

/* The constant that EXPR is in this reading, absolute; NULL: none. */
static struct tql_expr *constant(const struct rewriter *rewriter, const struct tql_expr *expr,
                                 enum reading reading) {
  bool variable =
      expr->kind == TQL_E_NAME && tql_scope_variable(rewriter->scope, expr->name.text) != NULL;
  if (variable) return NULL;
  if (expr->kind == TQL_E_NAME && names_element(rewriter, expr->name.text)) return NULL;
  const struct ng_time *said = reading == AS_VALUE ? said_time(rewriter, expr) : NULL;
  if (said != NULL) return new_time(rewriter, said->time);
  if (reading == AS_VALUE)
    return expr->kind == TQL_E_NAME ? new_string(rewriter, expr->name.text, strlen(expr->name.text))
                                    : NULL;
  struct tql_time_forms forms = {.integers = true, .durations = true};
  net_chronon time;
  if (expr->kind == TQL_E_ADD || expr->kind == TQL_E_SUB) return NULL; /* its parts are */
  if (!tql_looks_constant(expr)) return NULL;
  if (tql_constant_time(rewriter->scope, expr, forms, &time) != TQL_CONSTANT_OK) return NULL;
  return new_time(rewriter, time);
}

/* The zone that was meant, behind ARGS. */
static void add_zone(const struct rewriter *rewriter, struct tql_expr_list *args) {
  const char *name = net_zone_name(rewriter->scope->time.zone);
  struct tql_expr **items = BASE_NEW_ARRAY(rewriter->arena, args->count + 1, struct tql_expr *);
  if (name == NULL) return; /* analysis has refused it */
  for (size_t i = 0; i < args->count; i++) items[i] = args->items[i];
  items[args->count] = new_string(rewriter, name, strlen(name));
  *args = (struct tql_expr_list){items, args->count + 1};
}

static struct tql_expr *rewritten(const struct rewriter *rewriter, const struct tql_expr *expr,
                                  enum reading reading) {
  if (!expr) return NULL;
  struct rewriter within = *rewriter;
  if (expr->kind == TQL_E_CALL && tql_is_aggregate(expr->name.text)) within.elements = 0;
  rewriter = &within;
  struct tql_expr *copy = constant(rewriter, expr, reading);
  if (copy) return copy;
  copy = BASE_NEW(rewriter->arena, struct tql_expr);
  *copy = *expr;
  if (expr->kind == TQL_E_START || expr->kind == TQL_E_STOP) reading = AS_TIME;
  if (reading == AS_TIME && (expr->kind == TQL_E_ADD || expr->kind == TQL_E_SUB)) {
    const struct tql_expr *time, *duration;
    tql_shift_parts(expr, &time, &duration);
    copy->left = rewritten(rewriter, time, reading);
    copy->right = rewritten_distance(rewriter, duration);
  } else {
    copy->left = rewritten(rewriter, expr->left, reading);
    copy->right = rewritten(rewriter, expr->right, reading);
  }
  if (expr->within) copy->within = rewritten_distance(rewriter, expr->within);
  bool times = expr->kind == TQL_E_CALL && tql_function_takes_time(expr->name.text);
  copy->args = rewritten_list(rewriter, &expr->args, times ? AS_TIME : AS_VALUE);
  int zone = expr->kind == TQL_E_CALL ? tql_function_zone(expr->name.text) : -1;
  if (zone > 0 && (size_t)zone == expr->args.count) add_zone(rewriter, &copy->args);
  copy->by = rewritten_list(rewriter, &expr->by, AS_VALUE);
  copy->where = rewritten(rewriter, expr->where, AS_VALUE);
  copy->when = rewritten(rewriter, expr->when, AS_TIME);
  return copy;
}

static struct tql_statement rewritten_statement(const struct rewriter *rewriter,
                                                const struct tql_statement *statement,
                                                const struct ng_query *query) {
  struct tql_statement copy = *statement;
  struct rewriter here = *rewriter;
  bool summary = query && query->summary;
  here.query = query;
  if (summary) here.targets = query->targets;
  rewriter = &here;
  const struct tql_clauses *clauses = &statement->clauses;
  copy.targets.items = BASE_NEW_ARRAY(rewriter->arena, statement->targets.count, struct tql_target);
  for (size_t i = 0; i < statement->targets.count; i++) {
    copy.targets.items[i] = statement->targets.items[i];
    here.elements = summary ? i : 0;
    copy.targets.items[i].expr = rewritten(rewriter, statement->targets.items[i].expr, AS_VALUE);
  }
  here.elements = summary ? query->target_count : 0;
  copy.expr = rewritten(rewriter, statement->expr, AS_VALUE); /* of a rule */
  copy.during = rewritten(rewriter, statement->during, AS_TIME);
  copy.clauses.where = rewritten(rewriter, clauses->where, AS_VALUE);
  copy.clauses.when = rewritten(rewriter, clauses->when, AS_TIME);
  copy.clauses.start = rewritten(rewriter, clauses->start, AS_TIME);
  copy.clauses.stop = rewritten(rewriter, clauses->stop, AS_TIME);
  copy.clauses.at = rewritten(rewriter, clauses->at, AS_TIME);
  copy.absences = BASE_NEW_ARRAY(rewriter->arena, statement->absence_count, struct tql_absence);
  for (size_t i = 0; i < statement->absence_count; i++) {
    const struct tql_absence *absence = &statement->absences[i];
    copy.absences[i] = *absence;
    copy.absences[i].clauses.where = rewritten(rewriter, absence->clauses.where, AS_VALUE);
    copy.absences[i].clauses.when = rewritten(rewriter, absence->clauses.when, AS_TIME);
  }
  return copy;
}

/* ---- ranges and settings ---- */

static void print_line(struct base_buffer *out, const struct tql_statement *statement) {
  tql_print_statement(out, statement);
  base_buffer_putc(out, '\n');
}

/* Clock(n), n as it was understood. */
static struct tql_expr *clock_call(const struct rewriter *rewriter,
                                   const struct ng_relation *relation) {
  struct tql_expr *call = BASE_NEW(rewriter->arena, struct tql_expr);
  call->kind = TQL_E_CALL;
  call->name.text = "Clock";
  call->args.items = BASE_NEW(rewriter->arena, struct tql_expr *);
  call->args.items[0] = new_distance(rewriter, relation->every);
  call->args.count = 1;
  return call;
}

static void print_ranges(struct base_buffer *out, const struct rewriter *rewriter,
                         const struct ng_query *query) {
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct ng_variable *variable = &query->variables[i];
    if (variable->costs || variable->paces) continue;
    struct tql_statement range = {.kind = TQL_S_RANGE,
                                  .variable.text = variable->name,
                                  .name.text = variable->relation->name,
                                  .credibility = variable->credibility ? 0 : -1};
    if (variable->relation->kind == NG_REL_CLOCK)
      range.expr = clock_call(rewriter, variable->relation);
    print_line(out, &range);
  }
}

static void print_set(struct base_buffer *out, const char *words, struct tql_expr *value) {
  struct tql_statement set = {.kind = TQL_S_SET, .words = words, .value = value, .credibility = -1};
  print_line(out, &set);
}

/* With what records cost when the relation was defined. */
static void print_costs(struct base_buffer *out, const struct rewriter *rewriter,
                        const struct ng_query *query) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct ng_variable *variable = &query->variables[i];
    if (!variable->costs) continue;
    if (text.length > 0) base_buffer_puts(&text, ", ");
    tql_print_cost(&text, variable->relation->name, variable->cost);
  }
  if (text.length > 0) {
    struct tql_expr *value = BASE_NEW(rewriter->arena, struct tql_expr);
    value->kind = TQL_E_STRING;
    value->name.text = base_arena_strndup(rewriter->arena, base_buffer_text(&text), text.length);
    value->length = text.length;
    print_set(out, "compensate", value);
  }
  base_buffer_done(&text);
}

static void print_settings(struct base_buffer *out, const struct rewriter *rewriter,
                           const struct tql_settings *settings, const struct ng_query *query,
                           bool stands) {
  print_costs(out, rewriter, query);
  if (settings->coverage) print_set(out, "parallel", new_word(rewriter, "coverage"));
  if (settings->sequence != NG_SEQUENCE_FULL)
    print_set(out, "sequence", new_word(rewriter, tql_sequence_name(settings->sequence)));
  if (settings->origin_given) print_set(out, "origin", new_time(rewriter, settings->origin));
  if (settings->averaging_origin_given)
    print_set(out, "averaging origin", new_time(rewriter, settings->averaging_origin));
  if (stands && settings->unbounded_allowed)
    print_set(out, "unbounded", new_word(rewriter, "allowed"));
  if (stands && settings->losses_ignored) print_set(out, "losses", new_word(rewriter, "ignored"));
}

static void print_compensate(struct base_buffer *out, const struct rewriter *rewriter,
                             const struct tql_settings *settings) {
  if (settings->compensate == TQL_COMPENSATE_OFF) return;
  if (settings->compensate == TQL_COMPENSATE_MEASURED) {
    print_set(out, "compensate", new_word(rewriter, "on"));
    return;
  }
  struct base_buffer text = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < settings->costs->count; i++) {
    if (i > 0) base_buffer_puts(&text, ", ");
    tql_print_cost(&text, settings->costs->items[i].relation, settings->costs->items[i].cost);
  }
  print_set(out, "compensate", new_string(rewriter, base_buffer_text(&text), text.length));
  base_buffer_done(&text);
}

void tql_scope_text(struct base_arena *arena, const struct tql_scope *scope,
                    struct base_buffer *out) {
  struct rewriter rewriter = {.arena = arena, .scope = scope};
  const struct tql_settings *settings = scope->settings;
  for (size_t i = 0; i < scope->variable_count; i++) {
    const struct tql_variable *variable = &scope->variables[i];
    struct tql_statement range = {.kind = TQL_S_RANGE,
                                  .variable.text = variable->name,
                                  .name.text = variable->relation->name,
                                  .credibility = variable->credibility};
    if (variable->relation->kind == NG_REL_CLOCK)
      range.expr = clock_call(&rewriter, variable->relation);
    print_line(out, &range);
  }
  if (settings->coverage) print_set(out, "parallel", new_word(&rewriter, "coverage"));
  print_set(out, "sequence", new_word(&rewriter, tql_sequence_name(settings->sequence)));
  if (settings->origin_given) print_set(out, "origin", new_time(&rewriter, settings->origin));
  if (settings->averaging_origin_given)
    print_set(out, "averaging origin", new_time(&rewriter, settings->averaging_origin));
  print_set(out, "unit", new_distance(&rewriter, settings->unit));
  print_compensate(out, &rewriter, settings);
  if (settings->unbounded_allowed) print_set(out, "unbounded", new_word(&rewriter, "allowed"));
  if (settings->losses_ignored) print_set(out, "losses", new_word(&rewriter, "ignored"));
}

char *tql_definition_text(struct base_arena *arena, const struct tql_scope *scope,
                          const struct tql_statement *statement, const struct ng_query *query) {
  struct rewriter rewriter = {.arena = arena, .scope = scope};
  struct base_buffer text = BASE_BUFFER_EMPTY;
  print_ranges(&text, &rewriter, query);
  print_settings(&text, &rewriter, scope->settings, query, statement->kind == TQL_S_RETRIEVE);
  struct tql_statement copy = rewritten_statement(&rewriter, statement, query);
  print_line(&text, &copy);
  char *result = base_arena_strndup(arena, base_buffer_text(&text), text.length);
  base_buffer_done(&text);
  return result;
}
