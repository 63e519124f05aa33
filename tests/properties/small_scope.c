/* small-scope: all pairs of small relations, engine against reference evaluator.
 *
 *     small-scope PART [--instants N] [--forever] [--count N] [--seed S] [--rules-off] [--selftest]
 *
 *     sure      all pairs of determinate relations of at most two tuples, events and periods
 *     single    all pairs of relations of at most one tuple with any bounds, definite or not
 *     double    all pairs of relations of at most two tuples with any bounds: few instants, then
 *     random    COUNT random pairs of relations of two tuples with any bounds
 *     alone     all determinate relations of at most two tuples (equal and different x), and all pairs
 *               of tuples with any bounds over fewer instants: aggregates, coalesced, delimiters
 *
 * --forever: the last of the instants is `forever` (of stops; nothing begins then).
 *
 * There are many pairs, so each is a CASE of a large database: domain c of all tuples is the number of the
 * case, and statements say `where a.c = b.c`, aggregates `by a.c`. Tuples of different cases then meet in no
 * combination and no group, and the result of a case is the rows with its c: by the calculus the same as that
 * of the statement over the case alone, which is what the evaluator is asked, case by case. (The engine is
 * thereby asked to keep thousands of groups apart, which it has to do anyway.)
 *
 * Prints how many pairs and statements were judged. Exit code 1 if anything differed.              */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/oracle/oracle.h"
#include "tests/properties/scope.h"
#include "tests/temporary.h"
#include "tquel/analyse/analyse.h"
#include "tquel/lang/parse.h"
#include "tquel/session/session.h"

#define CASES      4096 /* to a database */
#define STATEMENTS 128
#define MOST       5 /* differences shown */

struct options {
  const char *part;
  int instants;
  uint64_t count, seed;
  bool forever, rules_off, selftest;
};

/* One side of a pair, for binding and for the evaluator. */
struct side {
  struct ng_relation ng;
  struct oracle_relation rows;
};

struct bound {
  const char *text;
  bool coverage, skipped;
  const struct ng_query *query; /* NULL: it does not bind */
};

struct scope {
  const struct options *options;
  struct base_arena *arena; /* of the whole part */
  struct base_strings *strings;
  struct side sides[2];
  size_t side_count;
  struct bound statements[STATEMENTS];
  size_t statement_count;

  const struct scope_relation *cases[CASES][2];
  size_t case_count;

  /* the session's answer */
  struct base_arena *batch_arena;
  struct oracle_relation results[CASES];
  bool has_result;

  uint64_t pairs, judged, refused, skipped, rows, differences;
};

/* --- binding */

static const struct ng_relation *find_relation(void *context, const char *name) {
  struct scope *scope = context;
  for (size_t i = 0; i < scope->side_count; i++)
    if (strcmp(scope->sides[i].ng.name, name) == 0) return &scope->sides[i].ng;
  return NULL;
}

static void each_relation(void *context, void (*on_name)(void *, const char *), void *on_context) {
  (void)context, (void)on_name, (void)on_context;
}

static const struct oracle_relation *find_rows(void *context, const char *name) {
  struct scope *scope = context;
  return &scope->sides[strcmp(name, "B") == 0].rows;
}

static const struct ng_query *bind(struct scope *scope, const char *text, bool coverage) {
  struct tql_settings *settings = BASE_NEW(scope->arena, struct tql_settings);
  *settings = (struct tql_settings){.coverage = coverage, .origin_given = true, .unit = 1};
  struct tql_variable *variables = BASE_NEW_ARRAY(scope->arena, 2, struct tql_variable);
  variables[0] = (struct tql_variable){"a", &scope->sides[0].ng, -1};
  variables[1] = (struct tql_variable){"b", &scope->sides[1].ng, -1};
  struct tql_scope names = {.context = scope,
                            .find_relation = find_relation,
                            .each_relation = each_relation,
                            .variables = variables,
                            .variable_count = scope->side_count,
                            .settings = settings,
                            .time = {NET_TIMELINE_ABSTRACT, 0, 0},
                            .strings = scope->strings};
  struct base_source *source = BASE_NEW(scope->arena, struct base_source);
  *source = (struct base_source){.name = "statement", .text = text, .length = strlen(text)};
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  size_t count;
  bool ok;
  struct tql_statement **list = tql_parse(scope->arena, source, 1, &diags, &count, &ok);
  const struct ng_query *query = NULL;
  if (!ok || count != 1) {
    fprintf(stderr, "small-scope: no statement: %s\n", text);
    exit(3);
  }
  struct tql_analysis analysis = {
      .arena = scope->arena, .scope = &names, .source = source, .diags = &diags};
  if (tql_analyse_retrieve(&analysis, list[0], &query) != BASE_OK) query = NULL;
  base_diag_sink_done(&diags);
  return query;
}

static void add_statement(struct scope *scope, const char *text, bool coverage) {
  struct bound *bound = &scope->statements[scope->statement_count++];
  *bound = (struct bound){text, coverage, false, bind(scope, text, coverage)};
  if (!bound->query) scope->refused++;
}

static void add_side(struct scope *scope, const char *name, bool event) {
  struct net_field fields[] = {{.name = "c", .type = {NET_INTEGER, 4}},
                               {.name = "x", .type = {NET_INTEGER, 4}}};
  struct side *side = &scope->sides[scope->side_count++];
  const struct net_layout *layout =
      net_layout_new(scope->arena, event ? NET_EVENT : NET_PERIOD, fields, 2);
  side->ng = (struct ng_relation){
      .name = name, .kind = event ? NG_REL_EVENT : NG_REL_PERIOD, .layout = layout};
}

static void bind_pairs(struct scope *scope) {
  for (const struct scope_statement *s = scope_pairs; s->targets; s++) {
    const char *text = base_arena_printf(scope->arena, "retrieve (c = a.c%s%s) where a.c = b.c %s",
                                         *s->targets ? ", " : "", s->targets, s->clauses);
    add_statement(scope, text, false);
    if (strchr(s->clauses, ',')) add_statement(scope, text, true);
  }
}

static void bind_alone(struct scope *scope) {
  for (const struct scope_statement *s = scope_alone; s->targets; s++) {
    for (int coalesced = 0; coalesced < 2; coalesced++) {
      if (coalesced && strchr(s->targets, '(')) continue;
      add_statement(scope,
                    base_arena_printf(scope->arena, "retrieve %s (c = a.c%s%s) %s",
                                      coalesced ? "coalesced" : "", *s->targets ? ", " : "",
                                      s->targets, s->clauses),
                    false);
    }
  }
}

/* --- the session's side */

static void on_rows(void *context, const struct tql_rows *rows) {
  struct scope *scope = context;
  const struct net_layout *layout = rows->rows.layout;
  uint32_t slot = layout->fields[0].slot;
  const struct net_layout *kept =
      net_layout_new(scope->batch_arena, layout->tuple_class, layout->fields, layout->field_count);
  for (size_t i = 0; i < scope->case_count; i++)
    scope->results[i] = (struct oracle_relation){.layout = kept};
  for (size_t i = 0; i < rows->rows.count; i++) {
    const union net_slot *row = net_rows_row(&rows->rows, i);
    oracle_add(scope->batch_arena, &scope->results[row[slot].i], row,
               (rows->rows.marks[i] & NET_DEFINITE) != 0);
  }
  scope->has_result = true;
}

static void on_text(void *context, const char *text) {
  (void)context, (void)text;
}

static void put_time(FILE *out, net_chronon time) {
  if (time == NET_FOREVER)
    fputs("forever,", out);
  else
    fprintf(out, "%d,", (int)time);
}

static void write_side(const struct scope *scope, size_t side, FILE *out) {
  bool event = scope->sides[side].ng.kind == NG_REL_EVENT;
  fputs(event ? "at_lo,at_hi,definite,c,x\n" : "start_lo,start_hi,stop_lo,stop_hi,definite,c,x\n",
        out);
  for (size_t i = 0; i < scope->case_count; i++) {
    const struct scope_relation *relation = scope->cases[i][side];
    for (unsigned j = 0; j < relation->count; j++) {
      const struct scope_tuple *tuple = &relation->tuples[j];
      for (int k = 0; k < (event ? 2 : 4); k++) put_time(out, tuple->time[k]);
      fprintf(out, "%d,%zu,%d\n", tuple->definite, i, tuple->x);
    }
  }
}

static bool run(struct tql_session *session, struct scope *scope, const char *text, int *number) {
  struct tql_output output = {.context = scope, .rows = on_rows, .text = on_text};
  struct base_diag_sink *diags = tql_session_diags(session);
  base_diag_sink_clear(diags);
  bool good = tql_session_run(session, "scope", 1, text, strlen(text), &output, false) == BASE_OK;
  *number = 0;
  for (size_t i = 0; i < diags->count; i++)
    if (diags->items[i].severity == BASE_ERROR) *number = (int)diags->items[i].number;
  return good;
}

static bool load(struct tql_session *session, struct scope *scope) {
  int number;
  for (size_t i = 0; i < scope->side_count; i++) {
    const struct ng_relation *ng = &scope->sides[i].ng;
    char *path = temporary_path("scope-XXXXXX.csv");
    int file = mkstemps(path, 4);
    if (file < 0) {
      free(path);
      return false;
    }
    FILE *out = fdopen(file, "w");
    write_side(scope, i, out);
    fclose(out);
    const char *kind = ng->kind == NG_REL_EVENT ? "event" : "period";
    bool good = run(session, scope,
                    base_arena_printf(scope->batch_arena,
                                      "create %s %s (c = i4, x = i4) copy %s from \"%s\" "
                                      "range of %s is %s",
                                      kind, ng->name, ng->name, path, i == 0 ? "a" : "b", ng->name),
                    &number);
    unlink(path);
    free(path);
    if (!good) return false;
  }
  return true;
}

/* --- the evaluator's side, and comparing */

static void set_side(struct scope *scope, struct base_arena *arena, size_t side, size_t number) {
  const struct scope_relation *relation = scope->cases[number][side];
  const struct net_layout *layout = scope->sides[side].ng.layout;
  struct oracle_relation *rows = &scope->sides[side].rows;
  *rows = (struct oracle_relation){.layout = layout};
  for (unsigned i = 0; i < relation->count; i++) {
    union net_slot slots[8];
    uint32_t slot = 0;
    for (; slot < layout->first_domain_slot; slot++) slots[slot].i = relation->tuples[i].time[slot];
    slots[slot++].i = (int64_t)number;
    slots[slot].i = relation->tuples[i].x;
    oracle_add(arena, rows, slots, relation->tuples[i].definite);
  }
  oracle_make_set(rows);
}

static bool same(const struct scope *scope, const struct oracle_relation *a,
                 const struct oracle_relation *b) {
  if (a->count != b->count) return false;
  bool found[64] = {false};
  for (size_t i = 0; i < a->count; i++) {
    size_t j = 0;
    while (j < b->count && (found[j] || a->tuples[i].definite != b->tuples[j].definite ||
                            !oracle_same_row(a->layout, scope->strings, a->tuples[i].row,
                                             scope->strings, b->tuples[j].row)))
      j++;
    if (j == b->count || b->count > 64) return false;
    found[j] = true;
  }
  return true;
}

static void print_rows(const struct scope *scope, const char *title,
                       const struct oracle_relation *relation) {
  printf("%s\n", title);
  for (size_t i = 0; i < relation->count; i++) {
    struct base_buffer out = BASE_BUFFER_EMPTY;
    oracle_print_row(&out, relation->layout, scope->strings, relation->tuples[i].row,
                     relation->tuples[i].definite);
    printf("# %s\n", base_buffer_text(&out));
    base_buffer_done(&out);
  }
}

/* The case by itself, as a .tqt case. */
static void show(struct scope *scope, const struct bound *bound, size_t number,
                 const struct oracle_relation *expected) {
  printf("=== case %zu\n", number);
  for (size_t i = 0; i < scope->side_count; i++) {
    bool event = scope->sides[i].ng.kind == NG_REL_EVENT;
    printf("--- relation %s %s (c = i4, x = i4)\n", event ? "event" : "period",
           scope->sides[i].ng.name);
    printf("%s,definite,c,x\n", event ? "at_lo,at_hi" : "start_lo,start_hi,stop_lo,stop_hi");
    print_rows(scope, "", &scope->sides[i].rows);
  }
  printf("--- query\nrange of a is A%s\n%s%s\n", scope->side_count > 1 ? " range of b is B" : "",
         bound->coverage ? "set parallel coverage\n" : "", bound->text);
  print_rows(scope, "# the evaluator:", expected);
  print_rows(scope, "# the engine:", &scope->results[number]);
  fflush(stdout);
}

static void judge_case(struct scope *scope, struct bound *bound, struct base_arena *arena,
                       size_t number) {
  struct oracle_world world = {.context = scope, .find = find_rows, .strings = scope->strings};
  struct oracle_relation expected;
  for (size_t i = 0; i < scope->side_count; i++) set_side(scope, arena, i, number);
  bool may_fail;
  if (oracle_evaluate(arena, &world, bound->query, &expected, &may_fail)) {
    bound->skipped = true; /* the evaluator does not know it */
    return;
  }
  if (scope->options->selftest && expected.count > 0) expected.count--;
  scope->judged++;
  scope->rows += expected.count;
  if (same(scope, &expected, &scope->results[number])) return;
  if (scope->differences++ < MOST && !scope->options->selftest)
    show(scope, bound, number, &expected);
}

static void judge_statement(struct scope *scope, struct tql_session *session, struct bound *bound) {
  int number;
  scope->has_result = false;
  run(session, scope, bound->coverage ? "set parallel coverage" : "set parallel overlap", &number);
  if (!run(session, scope, bound->text, &number) || !scope->has_result) {
    bound->skipped = number >= 900;
    if (bound->skipped) return;
    printf("# refused with TQ-%04d: %s\n", number, bound->text);
    scope->differences++;
    return;
  }
  struct base_arena *arena = base_arena_new();
  for (size_t i = 0; i < scope->case_count && !bound->skipped; i++) {
    judge_case(scope, bound, arena, i);
    if (i % 64 == 63) {
      base_arena_free(arena);
      arena = base_arena_new();
    }
  }
  base_arena_free(arena);
}

/* The cases gathered so far, in a database of their own. */
static void judge_cases(struct scope *scope) {
  if (scope->case_count == 0) return;
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  struct tql_session_options options = {.timeline = NET_TIMELINE_ABSTRACT,
                                        .timeline_given = true,
                                        .rules_off = scope->options->rules_off};
  struct tql_session *session;
  scope->batch_arena = base_arena_new();
  if (tql_session_open(&options, &diags, &session) != BASE_OK || !load(session, scope)) {
    fprintf(stderr, "small-scope: a database cannot be made\n");
    exit(3);
  }
  for (size_t i = 0; i < scope->statement_count; i++)
    if (scope->statements[i].query && !scope->statements[i].skipped)
      judge_statement(scope, session, &scope->statements[i]);
  tql_session_close(session);
  base_arena_free(scope->batch_arena);
  base_diag_sink_done(&diags);
  scope->pairs += scope->case_count;
  scope->case_count = 0;
}

static void add_case(struct scope *scope, const struct scope_relation *a,
                     const struct scope_relation *b) {
  size_t most =
      scope->options->rules_off ? 64 : CASES; /* without rules all combinations are made */
  scope->cases[scope->case_count][0] = a;
  scope->cases[scope->case_count++][1] = b;
  if (scope->case_count == most) judge_cases(scope);
}

/* --- parts */

static struct scope *scope_new(const struct options *options) {
  struct base_arena *arena = base_arena_new();
  struct scope *scope = BASE_NEW(arena, struct scope);
  scope->arena = arena;
  scope->options = options;
  scope->strings = base_strings_new();
  return scope;
}

static void finish(struct scope *scope, const char *title, uint64_t *differences) {
  for (size_t i = 0; i < scope->statement_count; i++)
    scope->skipped += scope->statements[i].skipped;
  printf(
      "# %s: %llu, %zu statements (%llu do not bind, %llu not executed or not known), "
      "%llu judged, %llu rows, %llu differences\n",
      title, (unsigned long long)scope->pairs, scope->statement_count,
      (unsigned long long)scope->refused, (unsigned long long)scope->skipped,
      (unsigned long long)scope->judged, (unsigned long long)scope->rows,
      (unsigned long long)scope->differences);
  fflush(stdout);
  *differences += scope->differences;
  base_strings_free(scope->strings);
  base_arena_free(scope->arena);
}

static const char *kind_name(bool event) {
  return event ? "events" : "periods";
}

static void add_random_pairs(struct scope *scope, struct scope_range range, bool event_a,
                             bool event_b) {
  const struct options *options = scope->options;
  struct base_random numbers = {options->seed};
  struct scope_list a, b;
  scope_tuples(&a, event_a, range);
  scope_tuples(&b, event_b, range);
  struct scope_relation *drawn =
      BASE_NEW_ARRAY(scope->arena, 2 * options->count, struct scope_relation);
  for (uint64_t i = 0; i < options->count; i++) {
    drawn[2 * i] = scope_random(&numbers, &a);
    drawn[2 * i + 1] = scope_random(&numbers, &b);
    add_case(scope, &drawn[2 * i], &drawn[2 * i + 1]);
  }
  judge_cases(scope);
  scope_list_done(&a);
  scope_list_done(&b);
}

static void add_all_pairs(struct scope *scope, struct scope_range range, bool event_a, bool event_b,
                          unsigned most) {
  struct scope_list a, b;
  scope_relations(&a, event_a, range, most, true);
  scope_relations(&b, event_b, range, most, true);
  for (size_t i = 0; i < a.count; i++)
    for (size_t j = 0; j < b.count; j++) add_case(scope, &a.items[i], &b.items[j]);
  judge_cases(scope);
  scope_list_done(&a);
  scope_list_done(&b);
}

static uint64_t judge_pairs(const struct options *options, bool event_a, bool event_b) {
  uint64_t differences = 0;
  struct scope *scope = scope_new(options);
  add_side(scope, "A", event_a);
  add_side(scope, "B", event_b);
  bind_pairs(scope);
  bool sure = strcmp(options->part, "sure") == 0;
  struct scope_range range = {options->instants, sure, options->forever};
  if (strcmp(options->part, "random") == 0)
    add_random_pairs(scope, range, event_a, event_b);
  else
    add_all_pairs(scope, range, event_a, event_b, strcmp(options->part, "single") == 0 ? 1 : 2);
  char title[128];
  snprintf(title, sizeof title, "%s, %d instants%s: pairs of %s and %s", options->part,
           options->instants, options->forever ? " with forever" : "", kind_name(event_a),
           kind_name(event_b));
  finish(scope, title, &differences);
  return differences;
}

static uint64_t judge_alone(const struct options *options, bool event, bool sure) {
  uint64_t differences = 0;
  struct scope_range range = {sure ? options->instants : options->instants - 2, sure,
                              options->forever};
  struct scope *scope = scope_new(options);
  add_side(scope, "A", event);
  bind_alone(scope);
  struct scope_list list;
  scope_relations(&list, event, range, 2, false);
  for (size_t i = 0; i < list.count; i++) add_case(scope, &list.items[i], NULL);
  judge_cases(scope);
  char title[128];
  snprintf(title, sizeof title, "alone, %s, %d instants%s: relations of %s",
           sure ? "determinate" : "any bounds", range.instants,
           options->forever ? " with forever" : "", kind_name(event));
  finish(scope, title, &differences);
  scope_list_done(&list);
  return differences;
}

static int usage(void) {
  fputs(
      "usage: small-scope sure|single|double|random|alone [--instants N] [--forever] [--count N] "
      "[--seed S] "
      "[--rules-off] [--selftest]\n",
      stderr);
  return 1;
}

static bool read_options(int argc, char **argv, struct options *ret) {
  *ret = (struct options){.instants = 6, .count = 10000, .seed = 1};
  if (argc < 2) return false;
  ret->part = argv[1];
  for (int i = 2; i < argc; i++) {
    bool value = i + 1 < argc;
    if (strcmp(argv[i], "--instants") == 0 && value)
      ret->instants = (int)strtol(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--count") == 0 && value)
      ret->count = strtoull(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--seed") == 0 && value)
      ret->seed = strtoull(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--forever") == 0)
      ret->forever = true;
    else if (strcmp(argv[i], "--rules-off") == 0)
      ret->rules_off = true;
    else if (strcmp(argv[i], "--selftest") == 0)
      ret->selftest = true;
    else
      return false;
  }
  return true;
}

int main(int argc, char **argv) {
  struct options options;
  if (!read_options(argc, argv, &options)) return usage();
  uint64_t differences = 0;
  if (strcmp(options.part, "alone") == 0) {
    for (int kind = 0; kind < 4; kind++)
      differences += judge_alone(&options, kind % 2 == 0, kind < 2);
  } else if (strstr(" sure single double random ", options.part)) {
    if (strcmp(options.part, "random") == 0)
      printf("# seed %llu\n", (unsigned long long)options.seed);
    for (int kind = 0; kind < 4; kind++)
      differences += judge_pairs(&options, kind % 2 == 0, kind < 2);
  } else {
    return usage();
  }
  if (options.selftest) return differences > 0 ? 0 : 1;
  return differences > 0;
}
