/* The small world that the tests of the analysis speak to: a few relations, a session that runs
 * range and set, and a printer of bound queries.
 *
 * Bound queries are shown in an infix form that shows what the types hide: conversions as f8(...),
 * temporal(...), constants of time as @n, events among the temporal operators with a `!`, variables
 * that take part outside aggregates with a +. The printer also checks what every bound tree
 * promises: operands of one base type, layout and targets alike. */
#ifndef ANALYSE_WORLD_H
#define ANALYSE_WORLD_H

#include "tquel/analyse/analyse.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tquel/lang/parse.h"

#define SECOND INT64_C(1000000000)
#define NOW    (INT64_C(1795172523) * SECOND) /* 2026-11-20T11:02:03Z */

#define RELATIONS_MAX 16
#define VARIABLES_MAX 64

struct world {
  struct base_arena *arena;
  struct base_strings *strings;
  struct base_diag_sink diags;
  struct ng_relation relations[RELATIONS_MAX];
  size_t relation_count;
  struct tql_variable variables[VARIABLES_MAX];
  struct tql_settings settings;
  struct tql_scope scope;
  struct tql_analysis analysis;
  struct base_source source;
};

static const char standard_ranges[] =
    "range of e is E range of e2 is E range of f is F range of p is P range of q is Q "
    "range of t is T range of d is D range of s is S ";

static const struct ng_relation *find_relation(void *context, const char *name) {
  struct world *world = context;
  for (size_t i = 0; i < world->relation_count; i++)
    if (!strcasecmp(world->relations[i].name, name)) return &world->relations[i];
  return NULL;
}

static void each_relation(void *context, void (*on_name)(void *, const char *), void *on_context) {
  struct world *world = context;
  for (size_t i = 0; i < world->relation_count; i++) on_name(on_context, world->relations[i].name);
}

static void add_relation(struct world *world, const char *name, enum ng_relation_kind kind,
                         enum net_tuple_class tuple_class, const char *const *fields,
                         uint32_t count) {
  struct net_field list[8];
  ck_assert(count <= 8 && world->relation_count < RELATIONS_MAX);
  memset(list, 0, sizeof list);
  for (uint32_t i = 0; i < count; i++) {
    list[i].name = fields[2 * i];
    ck_assert(net_type_parse(fields[2 * i + 1], &list[i].type));
  }
  struct ng_relation *relation = &world->relations[world->relation_count++];
  *relation = (struct ng_relation){.name = name, .kind = kind};
  relation->layout = net_layout_new(world->arena, tuple_class, list, count);
  if (kind != NG_REL_TRACED && kind != NG_REL_SAMPLED) return;
  relation->records = net_layout_new(world->arena, NET_EVENT, list, count);
  relation->by = (struct net_key){(const uint32_t[]){0}, 1};
  relation->by = net_key_copy(world->arena, &relation->by);
  relation->entity = relation->by;
}

#define FIELDS(...) ((const char *const[]){__VA_ARGS__})

static void world_init(struct world *world, enum net_timeline timeline, net_chronon now) {
  memset(world, 0, sizeof *world);
  world->arena = base_arena_new();
  world->strings = base_strings_new();
  base_diag_sink_init(&world->diags);
  world->settings.unit = timeline == NET_TIMELINE_REAL ? 1000000 : 1;
  world->scope = (struct tql_scope){.context = world,
                                    .find_relation = find_relation,
                                    .each_relation = each_relation,
                                    .variables = world->variables,
                                    .settings = &world->settings,
                                    .time = {timeline, now, now, NULL},
                                    .strings = world->strings};
  world->analysis = (struct tql_analysis){.arena = world->arena,
                                          .scope = &world->scope,
                                          .source = &world->source,
                                          .diags = &world->diags};
  add_relation(world, "E", NG_REL_EVENT, NET_EVENT,
               FIELDS("x", "i4", "y", "f8", "s", "c20", "flag", "bool", "who", "name"), 5);
  add_relation(world, "F", NG_REL_EVENT, NET_EVENT, FIELDS("x", "i8", "s", "text"), 2);
  add_relation(world, "P", NG_REL_PERIOD, NET_PERIOD, FIELDS("x", "i4", "Name", "c10"), 2);
  add_relation(world, "Q", NG_REL_PERIOD, NET_PERIOD, FIELDS("x", "i2", "z", "f4"), 2);
  add_relation(world, "T", NG_REL_TRACED, NET_PERIOD, FIELDS("Process", "c20", "IterNum", "i4"), 2);
  add_relation(world, "D", NG_REL_DERIVED, NET_PERIOD, FIELDS("v", "temporal"), 1);
  add_relation(world, "S", NG_REL_SNAPSHOT, NET_PERIOD, FIELDS("k", "text", "v", "i1"), 2);
}

static void world_done(struct world *world) {
  base_diag_sink_done(&world->diags);
  base_strings_free(world->strings);
  base_arena_free(world->arena);
}

/* ---- the little session ---- */

static void run_range(struct world *world, const struct tql_statement *statement) {
  size_t at = 0;
  while (at < world->scope.variable_count &&
         strcasecmp(world->variables[at].name, statement->variable.text) != 0)
    at++;
  ck_assert(at < VARIABLES_MAX);
  if (at == world->scope.variable_count) world->scope.variable_count++;
  const struct ng_relation *relation = find_relation(world, statement->name.text);
  ck_assert_msg(relation != NULL, "no relation %s", statement->name.text);
  world->variables[at] =
      (struct tql_variable){statement->variable.text, relation, statement->credibility};
}

static void run_set(struct world *world, const struct tql_statement *statement) {
  const char *words = statement->words;
  const struct tql_expr *value = statement->value;
  struct tql_settings *settings = &world->settings;
  if (!strcmp(words, "parallel")) {
    settings->coverage = !strcmp(value->name.text, "coverage");
  } else if (!strcmp(words, "sequence")) {
    ck_assert(tql_sequence_find(value->name.text, &settings->sequence));
  } else if (!strcmp(words, "unit")) {
    settings->unit = 1;
    ck_assert(tql_analyse_duration(&world->analysis, value, &settings->unit) == BASE_OK);
  } else if (!strcmp(words, "origin")) {
    settings->origin_given = true;
    ck_assert(tql_analyse_time(&world->analysis, value, false, &settings->origin) == BASE_OK);
  } else if (!strcmp(words, "averaging origin")) {
    settings->averaging_origin_given = true;
    ck_assert(tql_analyse_time(&world->analysis, value, false, &settings->averaging_origin) ==
              BASE_OK);
  } else if (!strcmp(words, "unbounded")) {
    settings->unbounded_allowed = !strcmp(value->name.text, "allowed");
  } else if (!strcmp(words, "losses")) {
    settings->losses_ignored = !strcmp(value->name.text, "ignored");
  } else {
    ck_assert_str_eq(words, "durable every");
  }
}

/* The last statement of TEXT, the others run. */
static struct tql_statement *prepare(struct world *world, const char *text) {
  size_t count;
  bool ok;
  world->source = (struct base_source){.name = "<test>", .text = text, .length = strlen(text)};
  struct tql_statement **list =
      tql_parse(world->arena, &world->source, 1, &world->diags, &count, &ok);
  if (!ok || count == 0) {
    struct base_buffer out = BASE_BUFFER_EMPTY;
    if (world->diags.count) base_diag_format(&out, &world->diags.items[0]);
    ck_abort_msg("'%s' does not parse: %s", text, base_buffer_text(&out));
  }
  for (size_t i = 0; i < count; i++)
    if (list[i]->kind == TQL_S_RANGE)
      run_range(world, list[i]);
    else if (list[i]->kind == TQL_S_SET)
      run_set(world, list[i]);
  return list[count - 1];
}

static void declare(struct world *world) {
  prepare(world, standard_ranges);
}

static enum base_status analyse(struct world *world, const struct tql_statement *statement,
                                const struct ng_query **ret) {
  return statement->kind == TQL_S_APPEND ? tql_analyse_append(&world->analysis, statement, ret)
                                         : tql_analyse_retrieve(&world->analysis, statement, ret);
}

/* ---- printing bound queries ---- */

static void show(struct base_buffer *out, const struct world *world, const struct ng_query *query,
                 const struct ng_expr *expr);

static void show_call(struct base_buffer *out, const struct world *world,
                      const struct ng_query *query, const struct ng_expr *expr, const char *name) {
  base_buffer_printf(out, "%s(", name);
  for (unsigned i = 0; i < expr->arg_count; i++) {
    if (i) base_buffer_puts(out, ", ");
    show(out, world, query, expr->args[i]);
  }
  base_buffer_putc(out, ')');
}

static void show_type(struct base_buffer *out, struct net_type type) {
  net_type_print(out, type);
}

static const char *infix(enum ng_op op) {
  switch (op) {
    case NG_ADD:
      return "+";
    case NG_SUB:
      return "-";
    case NG_MUL:
      return "*";
    case NG_DIV:
      return "/";
    case NG_POWER:
      return "**";
    case NG_EQ:
      return "=";
    case NG_NE:
      return "!=";
    case NG_LT:
      return "<";
    case NG_LE:
      return "<=";
    case NG_GT:
      return ">";
    case NG_GE:
      return ">=";
    case NG_AND:
      return "and";
    case NG_OR:
      return "or";
    case NG_T_SEQUENCE:
      return ";";
    case NG_T_OVERLAP:
      return ",";
    case NG_T_COVERAGE:
      return ",,";
    case NG_T_CHOICE:
      return "|";
    case NG_T_EXTEND:
      return "extend";
    case NG_T_PRECEDE:
      return "precede";
    case NG_T_EQUAL:
      return "equal";
    case NG_T_CONTAIN:
      return "contain";
    default:
      return NULL;
  }
}

static void show_infix(struct base_buffer *out, const struct world *world,
                       const struct ng_query *query, const struct ng_expr *expr) {
  ck_assert_uint_eq(expr->arg_count, 2);
  if (expr->op >= NG_EQ && expr->op <= NG_GE) {
    enum net_base_type a = expr->args[0]->type.base, b = expr->args[1]->type.base;
    bool numbers = (a == NET_INTEGER || a == NET_FLOAT) && (b == NET_INTEGER || b == NET_FLOAT);
    ck_assert(a == b || numbers);
  }
  if (expr->op >= NG_ADD && expr->op <= NG_POWER) {
    ck_assert_int_eq(expr->args[0]->type.base, expr->type.base);
    ck_assert_int_eq(expr->args[1]->type.base, expr->type.base);
  }
  base_buffer_putc(out, '(');
  show(out, world, query, expr->args[0]);
  base_buffer_printf(out, " %s", infix(expr->op));
  if (expr->op == NG_T_SEQUENCE && expr->integer >= 0)
    base_buffer_printf(out, "<%lld>", (long long)expr->integer);
  base_buffer_putc(out, ' ');
  show(out, world, query, expr->args[1]);
  base_buffer_putc(out, ')');
  if (expr->op >= NG_T_SEQUENCE && expr->event) base_buffer_putc(out, '!');
}

static void show_time(struct base_buffer *out, const struct ng_expr *expr) {
  ck_assert_int_eq(expr->instant.lo, expr->instant.hi);
  base_buffer_putc(out, '@');
  net_time_print_raw(out, expr->instant.lo);
}

static void show(struct base_buffer *out, const struct world *world, const struct ng_query *query,
                 const struct ng_expr *expr) {
  static const char *const which[] = {"", "_lo", "_hi"};
  char name[32];
  if (infix(expr->op)) {
    show_infix(out, world, query, expr);
    return;
  }
  switch (expr->op) {
    case NG_INTEGER:
      base_buffer_int(out, expr->integer);
      break;
    case NG_FLOAT:
      ck_assert(expr->real != 0 || !signbit(expr->real));
      base_buffer_double(out, expr->real);
      base_buffer_putc(out, 'f');
      break;
    case NG_STRING:
      base_buffer_printf(out, expr->type.base == NET_NAME ? "name\"%s\"" : "\"%s\"",
                         base_strings_text(world->strings, expr->string, NULL));
      break;
    case NG_TRUTH:
      base_buffer_puts(out, expr->integer == NET_TRUE ? "true" : "false");
      break;
    case NG_DOMAIN: {
      const struct ng_variable *variable = &query->variables[expr->variable];
      base_buffer_printf(out, "%s.%s", variable->name,
                         variable->relation->layout->fields[expr->index].name);
      break;
    }
    case NG_AGGREGATE:
      base_buffer_printf(out, "#%u", expr->index);
      break;
    case NG_DURATION:
      base_buffer_printf(out, "duration(%s)", query->variables[expr->variable].name);
      break;
    case NG_NEG:
      show_call(out, world, query, expr, "-");
      break;
    case NG_MOD:
      show_call(out, world, query, expr, "mod");
      break;
    case NG_ABS:
      show_call(out, world, query, expr, "abs");
      break;
    case NG_SQRT:
      show_call(out, world, query, expr, "sqrt");
      break;
    case NG_LOG:
      show_call(out, world, query, expr, "log");
      break;
    case NG_NOT:
      show_call(out, world, query, expr, "not");
      break;
    case NG_CONVERT:
      show_type(out, expr->type);
      show_call(out, world, query, expr, "");
      break;
    case NG_SPAN:
    case NG_CHRONON:
      snprintf(name, sizeof name, "%s%s", expr->op == NG_SPAN ? "span" : "chronon",
               which[expr->integer]);
      show_call(out, world, query, expr, name);
      break;
    case NG_T_VARIABLE:
      base_buffer_puts(out, query->variables[expr->variable].name);
      break;
    case NG_T_AGGREGATE:
      base_buffer_printf(out, "#%u", expr->index);
      break;
    case NG_T_CONSTANT:
      show_time(out, expr);
      break;
    case NG_T_START:
    case NG_T_STOP:
      show(out, world, query, expr->args[0]);
      base_buffer_puts(out, expr->op == NG_T_START ? ".start" : ".stop");
      break;
    case NG_HOLDS:
      base_buffer_putc(out, '{');
      show(out, world, query, expr->args[0]);
      base_buffer_putc(out, '}');
      break;
    default:
      ck_abort_msg("op %d", (int)expr->op);
  }
}

static void show_clause(struct base_buffer *out, const struct world *world,
                        const struct ng_query *query, const char *word,
                        const struct ng_expr *expr) {
  if (!expr) return;
  base_buffer_printf(out, " %s ", word);
  show(out, world, query, expr);
}

static void show_aggregate(struct base_buffer *out, const struct world *world,
                           const struct ng_query *query, size_t index) {
  static const char *const names[] = {
      "count", "any",   "sum",   "avg",   "min",      "max",    "avgc",     "extendc",    "first",
      "last",  "stdev", "varts", "avgti", "earliest", "latest", "quantile", "quantile_of"};
  const struct ng_aggregate *aggregate = &query->aggregates[index];
  base_buffer_printf(out, " #%zu:", index);
  show_type(out, aggregate->type);
  base_buffer_printf(out, "=%s%s%s", names[aggregate->function], aggregate->cumulative ? "/c" : "",
                     aggregate->unique ? "/u" : "");
  if (aggregate->window) base_buffer_printf(out, "/%lld", (long long)aggregate->window);
  base_buffer_printf(out, "[%s", query->variables[aggregate->variable].name);
  if (aggregate->argument) base_buffer_putc(out, ' ');
  if (aggregate->argument) show(out, world, query, aggregate->argument);
  for (size_t i = 0; i < aggregate->by_count; i++) {
    base_buffer_puts(out, i ? ", " : " by ");
    show(out, world, query, aggregate->by[i]);
  }
  show_clause(out, world, query, "where", aggregate->where);
  show_clause(out, world, query, "when", aggregate->when);
  base_buffer_putc(out, ']');
}

/* "event (x:i4=e.x) of e+ p" and the clauses; + for variables that take part outside. */
static void show_query(struct base_buffer *out, const struct world *world,
                       const struct ng_query *query) {
  ck_assert_int_eq(query->layout->tuple_class, query->result_class);
  ck_assert_uint_eq(query->layout->field_count, query->target_count);
  base_buffer_puts(out, query->result_class == NET_EVENT ? "event (" : "period (");
  for (size_t i = 0; i < query->target_count; i++) {
    ck_assert_str_eq(query->targets[i].name, query->layout->fields[i].name);
    base_buffer_printf(out, "%s%s:", i ? ", " : "", query->targets[i].name);
    show_type(out, query->layout->fields[i].type);
    base_buffer_putc(out, '=');
    show(out, world, query, query->targets[i].expr);
  }
  base_buffer_putc(out, ')');
  for (size_t i = 0; i < query->variable_count; i++)
    base_buffer_printf(out, "%s%s%s%s", i ? " " : " of ", query->variables[i].name,
                       query->variables[i].outside ? "+" : "",
                       query->variables[i].credibility ? "~" : "");
  for (size_t i = 0; i < query->aggregate_count; i++) show_aggregate(out, world, query, i);
  show_clause(out, world, query, "where", query->where);
  show_clause(out, world, query, "when", query->when);
  show_clause(out, world, query, "start", query->start);
  show_clause(out, world, query, "stop", query->stop);
  show_clause(out, world, query, "at", query->at);
}

/* ---- expectations ---- */

static char *bound_text(struct world *world, const char *text) {
  const struct tql_statement *statement = prepare(world, text);
  const struct ng_query *query = NULL;
  struct base_buffer out = BASE_BUFFER_EMPTY;
  if (analyse(world, statement, &query) != BASE_OK) {
    ck_assert(world->diags.count > 0);
    base_diag_format(&out, &world->diags.items[world->diags.count - 1]);
    ck_abort_msg("'%s': %s", text, base_buffer_text(&out));
  }
  show_query(&out, world, query);
  char *result = base_arena_strdup(world->arena, base_buffer_text(&out));
  base_buffer_done(&out);
  return result;
}

static void expect_on(enum net_timeline timeline, const char *text, const char *expected) {
  struct world world;
  world_init(&world, timeline, NOW);
  declare(&world);
  char *found = bound_text(&world, text);
  ck_assert_msg(!strcmp(found, expected), "'%s'\n gives    '%s'\n not      '%s'", text, found,
                expected);
  world_done(&world);
}

static void expect(const char *text, const char *expected) {
  expect_on(NET_TIMELINE_ABSTRACT, text, expected);
}

static void expect_real(const char *text, const char *expected) {
  expect_on(NET_TIMELINE_REAL, text, expected);
}

/* The first error has NUMBER and begins at COLUMN of line 1, its hint contains HINT (NULL: none
 * looked at). COUNT errors in all. */
static void refuse_many(enum net_timeline timeline, const char *text, enum base_message number,
                        int column, const char *hint, size_t count) {
  struct world world;
  world_init(&world, timeline, NOW);
  declare(&world);
  const struct tql_statement *statement = prepare(&world, text);
  const struct ng_query *query = NULL;
  ck_assert_msg(analyse(&world, statement, &query) == BASE_USER, "'%s' is accepted", text);
  ck_assert_msg(query == NULL, "'%s' gives a query as well", text);
  ck_assert_uint_ge(world.diags.count, 1);
  const struct base_diag *diag = &world.diags.items[0];
  for (size_t i = 0; i < world.diags.count && diag->severity != BASE_ERROR; i++)
    diag = &world.diags.items[i];
  struct base_buffer out = BASE_BUFFER_EMPTY;
  base_diag_format(&out, diag);
  ck_assert_msg(diag->number == number, "'%s': %s", text, out.data);
  ck_assert_msg(diag->range.first_line == 1 && diag->range.first_column == column,
                "'%s': column %d, not %d\n%s", text, diag->range.first_column, column, out.data);
  ck_assert_msg(diag->source == &world.source, "no source");
  if (hint) ck_assert_msg(diag->hint && strstr(diag->hint, hint), "'%s': hint\n%s", text, out.data);
  ck_assert_msg(world.diags.errors == count, "'%s': %zu errors, first %s", text, world.diags.errors,
                out.data);
  base_buffer_done(&out);
  world_done(&world);
}

static void refuse(const char *text, enum base_message number, int column, const char *hint) {
  refuse_many(NET_TIMELINE_ABSTRACT, text, number, column, hint, 1);
}

static void refuse_real(const char *text, enum base_message number, int column, const char *hint) {
  refuse_many(NET_TIMELINE_REAL, text, number, column, hint, 1);
}

#endif
