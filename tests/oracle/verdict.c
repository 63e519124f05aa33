/* One scenario: its statements drawn, judged by the reference once and by sessions under several
 * configurations (rules on, off, one rule off, batches of one row).                               */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/judge.h"

#define LARGE 14 /* rows of a derived relation that is not used further */

/* --- one statement */

/* What the session's answer ought to be, given the reference's. */
static bool agree(struct base_buffer *why, const struct outcome *expected,
                  const struct engine *engine, enum answer answer) {
  if (answer == ANSWER_NOT_EXECUTED || expected->status == BASE_AGAIN) return true;
  if (answer == ANSWER_BROKEN) {
    base_buffer_printf(why, "  the session failed: %s\n", engine_message(engine));
    return false;
  }
  if (expected->unsaid) return true;
  if (expected->status == BASE_END && answer == ANSWER_REFUSED) return true;
  /* The session does not have all that the reference had to compute anew. */
  if (engine->lacking && expected->status == BASE_END) return true;
  if (expected->may_fail && is_run_time_error(engine, answer)) return true;
  if (expected->status == BASE_USER && answer == ANSWER_REFUSED) return true;
  if (expected->status == BASE_OK && answer == ANSWER_ROWS && expected->ordered)
    return same_sequence(why, engine->strings, &expected->rows, &engine->result);
  if (expected->status == BASE_OK && answer == ANSWER_ROWS)
    return !expected->has_rows ||
           same_relation(why, engine->strings, engine->timeline, &expected->rows, &engine->result);
  base_buffer_printf(why, "  reference: %s; session: %s\n",
                     expected->status != BASE_OK && expected->why ? expected->why : "rows",
                     answer == ANSWER_REFUSED ? engine_message(engine) : "rows");
  return false;
}

/* After an update: the relation and all that depends on it. */
static bool same_contents(struct base_buffer *why, const struct outcome *expected,
                          struct engine *engine) {
  for (size_t i = 0; i < expected->content_count; i++) {
    const struct contents *contents = &expected->contents[i];
    if (contents->unsaid) continue;
    struct base_buffer rows = BASE_BUFFER_EMPTY;
    enum answer answer = engine_print(engine, contents->name);
    bool same = answer == ANSWER_NOT_EXECUTED ||
                (contents->may_fail && is_run_time_error(engine, answer)) ||
                (answer == ANSWER_ROWS && same_relation(&rows, engine->strings, engine->timeline,
                                                        &contents->rows, &engine->result));
    if (!same)
      base_buffer_printf(why, "  %s:\n%s", contents->name,
                         answer == ANSWER_ROWS ? base_buffer_text(&rows) : engine_message(engine));
    base_buffer_done(&rows);
    if (!same) return false;
  }
  return true;
}

static void falsify(struct outcome *outcome) {
  if (outcome->status == BASE_OK && outcome->rows.count > 0) outcome->rows.count--;
}

struct reference {
  struct world *world;
  struct outcome outcomes[STATEMENTS_MAX];
};

static void against(const struct scenario *scenario, size_t last, struct base_arena *arena,
                    const struct reference *reference, struct engine_options options,
                    struct verdict *verdict, struct tally *tally) {
  struct engine engine;
  bool opened =
      engine_open(&engine, arena, world_strings(reference->world), NULL, scenario, options);
  if (!opened || !engine_load(&engine, scenario)) {
    base_buffer_printf(&verdict->why, "  loading failed: %s\n", engine_message(&engine));
    verdict->differs = true;
    verdict->statement = STATEMENTS_MAX; /* no statement's fault */
  }
  for (size_t i = 0; i < last && !verdict->differs; i++) {
    const struct statement *statement = &scenario->statements[i];
    if (statement->dropped) continue;
    enum answer answer = engine_statement(&engine, statement);
    if (answer == ANSWER_NOT_EXECUTED) tally->skipped++;
    if (answer == ANSWER_REFUSED && reference->outcomes[i].may_fail) engine.lacking = true;
    base_buffer_clear(&verdict->why);
    verdict->statement = i;
    verdict->differs = !agree(&verdict->why, &reference->outcomes[i], &engine, answer);
    const struct outcome *expected = &reference->outcomes[i];
    bool changes = statement->kind >= APPEND;
    if (changes && !verdict->differs && answer == ANSWER_ROWS && expected->status == BASE_OK)
      verdict->differs = !same_contents(&verdict->why, expected, &engine);
    /* What was changed on one side only makes all that follows different. */
    if (changes && (answer == ANSWER_ROWS) != (expected->status == BASE_OK)) break;
  }
  engine_close(&engine);
}

void judge_configuration(const struct scenario *scenario, size_t last,
                         struct engine_options options, bool selftest, struct verdict *verdict,
                         struct tally *tally) {
  struct base_arena *arena = base_arena_new();
  struct reference reference = {.world = world_new(arena, scenario)};
  for (size_t i = 0; i < last; i++) {
    if (scenario->statements[i].dropped) continue;
    reference.outcomes[i] = world_run(reference.world, &scenario->statements[i]);
    if (selftest) falsify(&reference.outcomes[i]);
  }
  against(scenario, last, arena, &reference, options, verdict, tally);
  world_free(reference.world);
  base_arena_free(arena);
}

/* --- a difference */

static const char *configuration_text(struct base_arena *arena, struct engine_options options) {
  const char *rules = options.rules_off ? "rules off" : "rules on";
  if (options.rule_off)
    rules = base_arena_printf(arena, "rule %s off",
                              ng_rule_info((enum ng_rule)(options.rule_off - 1))->name);
  return base_arena_printf(arena, "%s, batch %u", rules,
                           options.batch_rows ? options.batch_rows : 1024);
}

static void report(struct scenario *scenario, struct verdict *verdict, bool selftest,
                   struct tally *tally) {
  size_t last = verdict->statement + 1;
  if (last > scenario->statement_count) last = scenario->statement_count;
  tally->differences++;
  if (still_differs(scenario, last, verdict->options, selftest, false))
    shrink(scenario, last, verdict->options, selftest, false);
  struct verdict smallest = {.why = BASE_BUFFER_EMPTY};
  struct tally ignored = {0};
  judge_configuration(scenario, last, verdict->options, selftest, &smallest, &ignored);
  struct base_buffer script = BASE_BUFFER_EMPTY;
  scenario_print(&script, scenario, last);
  printf("# difference at seed %llu (%s)\n%s%s\n", (unsigned long long)scenario->seed,
         configuration_text(scenario->arena, verdict->options), base_buffer_text(&script),
         base_buffer_text(&smallest.why));
  fflush(stdout);
  base_buffer_done(&script);
  base_buffer_done(&smallest.why);
}

/* --- drawing */

struct sizes {
  bool large[STATEMENTS_MAX];
};

static bool is_large(void *context, const char *name) {
  return ((struct sizes *)context)->large[atol(name + 1)];
}

static void show(struct base_arena *arena, struct world *world, const struct statement *statement,
                 const struct outcome *outcome) {
  printf("%s\n", statement_text(arena, statement));
  if (outcome->status != BASE_OK) printf("  %s\n", outcome->why ? outcome->why : "not executed");
  struct base_buffer out = BASE_BUFFER_EMPTY;
  if (outcome->has_rows)
    same_relation(&out, world_strings(world), NET_TIMELINE_ABSTRACT, &outcome->rows,
                  &outcome->rows);
  printf("%s", base_buffer_text(&out));
  base_buffer_done(&out);
}

static void count(struct tally *tally, const struct outcome *outcome) {
  tally->judged++;
  tally->refused += outcome->status == BASE_USER;
  tally->errors += outcome->status == BASE_END;
  if (!outcome->has_rows) return;
  tally->rows += outcome->rows.count;
  tally->doubted += outcome->doubted;
  for (size_t i = 0; i < outcome->rows.count; i++)
    tally->omega += !outcome->rows.tuples[i].definite;
}

/* Statements are drawn one after the other, as later ones read what earlier ones define. */
static void draw(struct scenario *scenario, struct base_arena *arena, struct reference *reference,
                 bool verbose, struct tally *tally) {
  struct sizes sizes = {0};
  for (int i = 0; i < STATEMENTS_MAX; i++) {
    bool named = chance(scenario, 35);
    scenario_add_statement(scenario, named, is_large, &sizes);
    const struct statement *statement = &scenario->statements[i];
    struct outcome *outcome = &reference->outcomes[i];
    *outcome = world_run(reference->world, statement);
    sizes.large[i] = !outcome->has_rows || outcome->rows.count > LARGE;
    count(tally, outcome);
    if (verbose) show(arena, reference->world, statement, outcome);
  }
}

void draw_statements(struct scenario *scenario, struct base_arena *arena, uint64_t seed) {
  scenario_init(scenario, arena, seed);
  struct reference reference = {.world = world_new(arena, scenario)};
  struct tally ignored = {0};
  draw(scenario, arena, &reference, false, &ignored);
  world_free(reference.world);
}

void judge_scenario(uint64_t seed, bool verbose, bool selftest, struct tally *tally) {
  struct base_arena *arena = base_arena_new();
  struct scenario *scenario = BASE_NEW(arena, struct scenario);
  scenario_init(scenario, arena, seed);
  if (seed % 4 == 1) scenario_lose(scenario);
  struct reference reference = {.world = world_new(arena, scenario)};
  draw(scenario, arena, &reference, verbose, tally);
  for (size_t i = 0; selftest && i < scenario->statement_count; i++)
    falsify(&reference.outcomes[i]);
  struct engine_options configurations[] = {
      {false, 0, 0},
      {true, 0, 0},
      {false, 1, 0},
      {false, (uint32_t)(seed % 2), 1 + (int)(seed / 2 % NG_RULES)},
  };
  struct verdict verdict = {.why = BASE_BUFFER_EMPTY};
  for (size_t i = 0; i < sizeof configurations / sizeof *configurations && !verdict.differs; i++) {
    struct tally ignored = {0};
    struct base_arena *session = base_arena_new();
    verdict.options = configurations[i];
    base_buffer_clear(&verdict.why);
    against(scenario, scenario->statement_count, session, &reference, configurations[i], &verdict,
            i == 0 ? tally : &ignored);
    base_arena_free(session);
  }
  world_free(reference.world);
  if (verdict.differs) report(scenario, &verdict, selftest, tally);
  base_buffer_done(&verdict.why);
  base_arena_free(arena);
}

/* --- bit by bit */

void judge_bit_by_bit(uint64_t seed, const char *directory, struct tally *tally) {
  struct base_arena *arena = base_arena_new();
  struct scenario *scenario = BASE_NEW(arena, struct scenario);
  struct sizes sizes = {0};
  bool overlapping = seed % 3 == 1; /* without a throw: the others stay what they are */
  scenario_init(scenario, arena, seed);
  if (overlapping) scenario_make_overlapping(scenario);
  if (seed % 4 == 1) scenario_lose(scenario);
  struct world *world = world_new(arena, scenario);
  for (size_t i = 0; i < 5 || i < scenario->statement_count; i++) {
    if (i < 5) scenario_add_statement(scenario, i != 2 || chance(scenario, 60), is_large, &sizes);
    if (i == 4 && overlapping) scenario_add_overlapping(scenario);
    struct outcome outcome = world_run(world, &scenario->statements[i]);
    sizes.large[i] = !outcome.has_rows || outcome.rows.count > LARGE;
    /* On the real time line clocks alone tick until now: a second since the scenario's year are millions. */
    bool until_now = scenario->real && outcome.clocks_alone;
    scenario->statements[i].dropped =
        scenario->statements[i].kind >= APPEND || outcome.status != BASE_OK || outcome.may_fail ||
        until_now || (scenario->statements[i].kind == RETRIEVE && !scenario->statements[i].name);
  }
  world_free(world);
  struct base_buffer why = BASE_BUFFER_EMPTY;
  if (!judge_incremental(&why, scenario, directory)) {
    tally->differences++;
    struct base_buffer script = BASE_BUFFER_EMPTY;
    scenario_print(&script, scenario, scenario->statement_count);
    printf("# bit by bit and at once differ at seed %llu\n%s%s\n", (unsigned long long)seed,
           base_buffer_text(&script), base_buffer_text(&why));
    fflush(stdout);
    base_buffer_done(&script);
  }
  base_buffer_done(&why);
  base_arena_free(arena);
}
