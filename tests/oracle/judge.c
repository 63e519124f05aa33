/* judge --random N --seed S [--incremental N] [--timeline abstract] [--verbose]
 *
 * Draws scenarios until N statements have been judged under four configurations (rules on and off,
 * batches of one row and of 1024), then N scenarios whose data come bit by bit. The seed is that of
 * the first scenario; scenario i has seed S + i, so that `--random 1 --seed X` repeats one. On a
 * difference: the seed, the smallest script found that still differs (a .tqt case), and the rows
 * (- expected and missing, + there and not expected). Exit code 1 if anything differed.
 *
 * --selftest: the reference's answer is falsified; the judge must notice.                          */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/oracle/judge.h"

#define LARGE 14 /* rows of a derived relation that is not used further */

struct judge {
  bool verbose, selftest;
  uint64_t judged, refused, skipped, errors, differences, rows, omega;
};

struct verdict {
  bool differs;
  size_t statement;
  struct engine_options options;
  struct base_buffer why;
};

static const struct engine_options configurations[] = {
    {false, 0}, {true, 0}, {false, 1}, {true, 1}};

#define CONFIGURATIONS (sizeof configurations / sizeof *configurations)

/* --- one statement */

/* What the session's answer ought to be, given the reference's. */
static bool agree(struct base_buffer *why, enum base_status status, const char *reason,
                  const struct oracle_relation *expected, const struct engine *engine,
                  enum answer answer) {
  if (answer == ANSWER_NOT_EXECUTED) return true;
  if (answer == ANSWER_BROKEN) {
    base_buffer_printf(why, "  the session failed: %s\n", engine_message(engine));
    return false;
  }
  if (status == BASE_END) return true; /* an error at run time: whose order of evaluation? */
  if (status == BASE_USER && answer == ANSWER_REFUSED) return true;
  if (status == BASE_OK && answer == ANSWER_ROWS)
    return same_relation(why, engine->strings, expected, &engine->result);
  base_buffer_printf(why, "  reference: %s; session: %s\n", reason ? reason : "rows",
                     answer == ANSWER_REFUSED ? engine_message(engine) : "rows");
  return false;
}

/* Judges the scenario under one configuration up to statement LAST. */
static void judge_configuration(struct judge *judge, const struct scenario *scenario, size_t last,
                                struct engine_options options, struct verdict *verdict) {
  struct base_arena *arena = base_arena_new();
  struct world *world = world_new(arena, scenario);
  struct engine engine;
  bool opened = engine_open(&engine, arena, world_strings(world), NULL, options);
  if (!opened || !engine_load(&engine, scenario)) {
    base_buffer_printf(&verdict->why, "  loading failed: %s\n", engine_message(&engine));
    verdict->differs = true;
  }
  for (size_t i = 0; i < last && !verdict->differs; i++) {
    const struct statement *statement = &scenario->statements[i];
    if (statement->dropped) continue;
    struct oracle_relation expected;
    const char *reason = NULL;
    enum base_status status = world_retrieve(world, statement, &expected, &reason);
    if (judge->selftest && status == BASE_OK && expected.count > 0) expected.count--;
    enum answer answer = engine_retrieve(&engine, statement);
    base_buffer_clear(&verdict->why);
    verdict->statement = i;
    verdict->differs = !agree(&verdict->why, status, reason, &expected, &engine, answer);
    if (statement->name && answer == ANSWER_NOT_EXECUTED) break; /* later ones read it */
  }
  engine_close(&engine);
  world_free(world);
  base_arena_free(arena);
}

/* Under all configurations; the first that differs. */
static bool differs(struct judge *judge, const struct scenario *scenario, size_t last,
                    struct verdict *verdict) {
  for (size_t i = 0; i < CONFIGURATIONS && !verdict->differs; i++) {
    verdict->options = configurations[i];
    base_buffer_clear(&verdict->why);
    judge_configuration(judge, scenario, last, configurations[i], verdict);
  }
  return verdict->differs;
}

/* --- shrinking: whatever can be left out with the difference still there, is */

static bool still(struct judge *judge, const struct scenario *scenario, size_t last,
                  struct engine_options options) {
  struct verdict verdict = {.why = BASE_BUFFER_EMPTY};
  judge_configuration(judge, scenario, last, options, &verdict);
  bool result = verdict.differs && verdict.statement + 1 == last;
  base_buffer_done(&verdict.why);
  return result;
}

static bool try_flag(struct judge *judge, const struct scenario *scenario, size_t last,
                     struct engine_options options, bool *flag) {
  if (*flag) return false;
  *flag = true;
  if (still(judge, scenario, last, options)) return true;
  *flag = false;
  return false;
}

static bool try_parts(struct judge *judge, const struct scenario *scenario, size_t last,
                      struct engine_options options, const char **parts, size_t *count) {
  bool any = false;
  for (size_t i = *count; i-- > 0;) {
    const char *kept = parts[i];
    memmove(parts + i, parts + i + 1, (*count - i - 1) * sizeof *parts);
    --*count;
    if (still(judge, scenario, last, options)) {
      any = true;
      continue;
    }
    memmove(parts + i + 1, parts + i, (*count - i) * sizeof *parts);
    parts[i] = kept;
    ++*count;
  }
  return any;
}

static bool try_clause(struct judge *judge, const struct scenario *scenario, size_t last,
                       struct engine_options options, const char **clause) {
  const char *kept = *clause;
  if (!kept) return false;
  *clause = NULL;
  if (still(judge, scenario, last, options)) return true;
  *clause = kept;
  return false;
}

static void shrink(struct judge *judge, struct scenario *scenario, size_t last,
                   struct engine_options options) {
  bool any = true;
  for (int round = 0; any && round < 4; round++) {
    any = false;
    for (size_t i = 0; i + 1 < last; i++)
      any = try_flag(judge, scenario, last, options, &scenario->statements[i].dropped) || any;
    for (size_t i = 0; i < scenario->input_count; i++)
      for (size_t j = 0; j < scenario->inputs[i].count; j++)
        any = try_flag(judge, scenario, last, options, &scenario->inputs[i].rows[j].dropped) || any;
    any = try_parts(judge, scenario, last, options, scenario->settings, &scenario->setting_count) ||
          any;
    for (size_t i = 0; i < last; i++) {
      struct statement *s = &scenario->statements[i];
      if (s->dropped) continue;
      any = try_parts(judge, scenario, last, options, s->targets, &s->target_count) || any;
      any = try_parts(judge, scenario, last, options, s->where, &s->where_count) || any;
      any = try_parts(judge, scenario, last, options, s->when, &s->when_count) || any;
      any = try_clause(judge, scenario, last, options, &s->start) || any;
      any = try_clause(judge, scenario, last, options, &s->stop) || any;
      any = try_clause(judge, scenario, last, options, &s->at) || any;
    }
  }
}

static void report(struct judge *judge, struct scenario *scenario, struct verdict *verdict) {
  size_t last = verdict->statement + 1;
  judge->differences++;
  if (still(judge, scenario, last, verdict->options))
    shrink(judge, scenario, last, verdict->options);
  struct verdict smallest = {.why = BASE_BUFFER_EMPTY};
  judge_configuration(judge, scenario, last, verdict->options, &smallest);
  struct base_buffer script = BASE_BUFFER_EMPTY;
  scenario_print(&script, scenario, last);
  printf("# difference at seed %llu (rules %s, batch %u)\n%s%s\n",
         (unsigned long long)scenario->seed, verdict->options.rules_off ? "off" : "on",
         verdict->options.batch_rows ? verdict->options.batch_rows : 1024,
         base_buffer_text(&script), base_buffer_text(&smallest.why));
  fflush(stdout);
  base_buffer_done(&script);
  base_buffer_done(&smallest.why);
}

/* --- scenarios */

struct sizes {
  bool large[STATEMENTS_MAX];
};

static bool is_large(void *context, const char *name) {
  return ((struct sizes *)context)->large[atol(name + 1)];
}

/* Statements are drawn one after the other, as later ones read what earlier ones define. */
static void draw(struct judge *judge, struct scenario *scenario) {
  struct base_arena *arena = base_arena_new();
  struct world *world = world_new(arena, scenario);
  struct sizes sizes = {0};
  for (int i = 0; i < STATEMENTS_MAX; i++) {
    bool named = base_random_below(&scenario->random, 100) < 35;
    scenario_add_statement(scenario, named, is_large, &sizes);
    const struct statement *statement = &scenario->statements[i];
    struct oracle_relation rows;
    const char *reason = NULL;
    enum base_status status = world_retrieve(world, statement, &rows, &reason);
    sizes.large[i] = !statement->name || status != BASE_OK || rows.count > LARGE;
    judge->judged++;
    judge->refused += status == BASE_USER;
    judge->errors += status == BASE_END;
    for (size_t j = 0; status == BASE_OK && j < rows.count; j++) {
      judge->omega += !rows.tuples[j].definite;
      /* What happens at `forever` never happens: nothing is said about combinations with it. */
      if (rows.tuples[j].row[0].i == NET_FOREVER) sizes.large[i] = true;
    }
    if (status == BASE_OK) judge->rows += rows.count;
    if (!judge->verbose) continue;
    printf("%s\n", statement_text(arena, statement));
    if (status != BASE_OK) printf("  %s\n", reason);
    struct base_buffer out = BASE_BUFFER_EMPTY;
    if (status == BASE_OK) same_relation(&out, world_strings(world), &rows, &rows);
    printf("%s", base_buffer_text(&out));
    base_buffer_done(&out);
  }
  world_free(world);
  base_arena_free(arena);
}

static void judge_scenario(struct judge *judge, uint64_t seed) {
  struct base_arena *arena = base_arena_new();
  struct scenario *scenario = BASE_NEW(arena, struct scenario);
  scenario_init(scenario, arena, seed);
  draw(judge, scenario);
  struct verdict verdict = {.why = BASE_BUFFER_EMPTY};
  if (differs(judge, scenario, scenario->statement_count, &verdict))
    report(judge, scenario, &verdict);
  base_buffer_done(&verdict.why);
  base_arena_free(arena);
}

static void judge_bit_by_bit(struct judge *judge, uint64_t seed, const char *directory) {
  struct base_arena *arena = base_arena_new();
  struct scenario *scenario = BASE_NEW(arena, struct scenario);
  struct sizes sizes = {0};
  scenario_init(scenario, arena, seed);
  struct world *world = world_new(arena, scenario);
  for (int i = 0; i < 4; i++) {
    struct oracle_relation rows;
    const char *reason;
    scenario_add_statement(scenario, true, is_large, &sizes);
    enum base_status status = world_retrieve(world, &scenario->statements[i], &rows, &reason);
    sizes.large[i] = status != BASE_OK || rows.count > LARGE;
    for (size_t j = 0; status == BASE_OK && j < rows.count; j++)
      if (rows.tuples[j].row[0].i == NET_FOREVER) sizes.large[i] = true;
    scenario->statements[i].dropped = status != BASE_OK;
  }
  world_free(world);
  struct base_buffer why = BASE_BUFFER_EMPTY;
  if (!judge_incremental(&why, scenario, directory)) {
    judge->differences++;
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

/* --- the program */

static int usage(void) {
  fputs(
      "usage: judge [--random N] [--incremental N] [--seed S] [--most DIFFERENCES] [--verbose] "
      "[--selftest]\n",
      stderr);
  return 1;
}

static void empty(const char *path) {
  DIR *directory = opendir(path);
  for (const struct dirent *entry; directory && (entry = readdir(directory));) {
    char *name;
    if (asprintf(&name, "%s/%s", path, entry->d_name) < 0) continue;
    unlink(name);
    free(name);
  }
  if (directory) closedir(directory);
  rmdir(path);
}

int main(int argc, char **argv) {
  struct judge judge = {0};
  uint64_t random = 0, incremental = 0, seed = 1, most = 10;
  for (int i = 1; i < argc; i++) {
    bool value = i + 1 < argc;
    if (strcmp(argv[i], "--random") == 0 && value)
      random = strtoull(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--incremental") == 0 && value)
      incremental = strtoull(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--seed") == 0 && value)
      seed = strtoull(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--most") == 0 && value)
      most = strtoull(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--timeline") == 0 && value)
      i++; /* abstract is all there is */
    else if (strcmp(argv[i], "--verbose") == 0)
      judge.verbose = true;
    else if (strcmp(argv[i], "--selftest") == 0)
      judge.selftest = true;
    else
      return usage();
  }
  char directory[] = "/tmp/judge-XXXXXX";
  if (!mkdtemp(directory)) return 3;
  for (uint64_t i = 0; judge.judged < random && judge.differences < most; i++)
    judge_scenario(&judge, seed + i);
  for (uint64_t i = 0; i < incremental && judge.differences < most; i++)
    judge_bit_by_bit(&judge, seed + i, directory);
  empty(directory);
  printf(
      "# %llu statements (%llu do not bind, %llu fail when run), %llu rows (%llu omega), "
      "%llu scenarios bit by bit: %llu differences\n",
      (unsigned long long)judge.judged, (unsigned long long)judge.refused,
      (unsigned long long)judge.errors, (unsigned long long)judge.rows,
      (unsigned long long)judge.omega, (unsigned long long)incremental,
      (unsigned long long)judge.differences);
  if (judge.selftest) return judge.differences > 0 ? 0 : 1;
  return judge.differences > 0;
}
