/* Incremental = batch: the scenario's rows, under `set checkpoint manual`, once all at once and once in
 * portions with checkpoints in between, in another order, the database file now and then closed and
 * opened, the derived relations defined at any time. Afterwards all derived relations are the same.
 * Where all is closed in the end, both have passed the same finite checkpoint before, and some relations are
 * written bit by bit as what is only stored (`set checkpoint auto`), beside those that are live.
 *
 * That records were lost becomes known at any time; then who looks at the derived relations is told what is uncertain,
 * and their tables stay the same.
 *
 * A row may come until a checkpoint has passed its start. Records of one entity at one time keep
 * their order, as their sequence counts.                                                           */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/oracle/judge.h"

struct arrival {
  const struct input *input;
  size_t row;
  unsigned portion;
  uint64_t order;
};

struct course {
  const struct scenario *scenario;
  struct base_arena *arena;
  struct base_random random;
  struct base_buffer *log;
  net_chronon checkpoints[6];
  unsigned portions; /* each followed by its checkpoint */
  struct arrival arrivals[RELATIONS_MAX * ROWS_MAX];
  size_t arrival_count;
  unsigned define_before;       /* portion */
  bool missing[STATEMENTS_MAX]; /* not executed yet */
  bool stored[RELATIONS_MAX];   /* inputs that are not live before the end */
  unsigned lost_in[LOSSES_MAX]; /* the portion with which it is known */
};

static uint64_t below_course(struct course *course, uint64_t bound) {
  return base_random_below(&course->random, bound);
}

/* --- planning */

/* Of records of one entity at one time only the last: their order would be lost. */
static bool is_tie(const struct input *input, size_t row) {
  for (size_t i = row + 1; input->by_count > 0 && i < input->count; i++)
    if (!input->rows[i].dropped && input->rows[i].time[0] == input->rows[row].time[0] &&
        input_same_key(input, &input->rows[i], &input->rows[row]))
      return true;
  return false;
}

static int by_order(const void *a, const void *b) {
  const struct arrival *x = a, *y = b;
  if (x->portion != y->portion) return x->portion < y->portion ? -1 : 1;
  return (x->order > y->order) - (x->order < y->order);
}

static void plan(struct course *course, net_chronon last) {
  net_chronon base = course->scenario->base, unit = course->scenario->unit;
  course->portions = (unsigned)below_course(course, 5) + 1;
  net_chronon now = 0;
  for (unsigned i = 0; i + 1 < course->portions; i++)
    course->checkpoints[i] = base + unit * (now += (net_chronon)below_course(course, 5));
  course->checkpoints[course->portions - 1] = last;
  while (course->portions > 1 && course->checkpoints[course->portions - 2] > last)
    course->checkpoints[--course->portions - 1] = last;
  for (size_t i = 0; i < course->scenario->input_count; i++) {
    const struct input *input = &course->scenario->inputs[i];
    for (size_t j = 0; j < input->count; j++) {
      if (input->rows[j].dropped || is_tie(input, j)) continue;
      unsigned latest = 0; /* portion i comes before checkpoint i, after checkpoint i - 1 */
      while (latest + 1 < course->portions && course->checkpoints[latest] <= input->rows[j].time[0])
        latest++;
      course->arrivals[course->arrival_count++] = (struct arrival){
          input, j, (unsigned)below_course(course, latest + 1), base_random_next(&course->random)};
    }
  }
  qsort(course->arrivals, course->arrival_count, sizeof *course->arrivals, by_order);
  course->define_before = (unsigned)below_course(course, course->portions);
  for (size_t i = 0; i < course->scenario->loss_count; i++)
    course->lost_in[i] = (unsigned)below_course(course, course->portions);
}

/* --- running */

static bool run(struct course *course, struct engine *engine, const char *text) {
  base_buffer_printf(course->log, "    %s\n", text);
  enum answer answer = engine_run(engine, text);
  if (answer == ANSWER_ROWS) return true;
  base_buffer_printf(course->log, "    failed: %s\n", engine_message(engine));
  return false;
}

static bool is_definition(const struct statement *statement) {
  return !statement->dropped && statement->kind == RETRIEVE;
}

/* What a session forgets; the settings go with the definitions. */
static bool greet(struct course *course, struct engine *engine, bool defined) {
  const struct scenario *scenario = course->scenario;
  bool good = run(course, engine, "set checkpoint manual");
  for (size_t i = 0; i < scenario->input_count && good; i++)
    good = engine_run(engine, ranges_text(course->arena, scenario->inputs[i].name)) == ANSWER_ROWS;
  for (size_t i = 0; i < scenario->statement_count && good && defined; i++)
    if (is_definition(&scenario->statements[i]) && !course->missing[i])
      good = engine_run(engine, ranges_text(course->arena, scenario->statements[i].name)) ==
             ANSWER_ROWS;
  for (int i = 0; i < 2 && good; i++)
    good = engine_run(engine, clock_range_text(course->arena, scenario, i)) != ANSWER_BROKEN;
  return good;
}

/* WITHIN the course: before the last checkpoint. BASE_USER: an error at the end of it. */
static enum base_status define(struct course *course, struct engine *engine, bool within) {
  const struct scenario *scenario = course->scenario;
  for (size_t i = 0; i < scenario->statement_count; i++) {
    const struct statement *statement = &scenario->statements[i];
    if (statement->dropped) continue;
    const char *text = statement_text(course->arena, statement);
    base_buffer_printf(course->log, "    %s\n", text);
    enum answer answer = engine_define(engine, statement);
    /* What stands over a definition that the scenario leaves out is left out as well. */
    bool baseless = answer == ANSWER_REFUSED && engine_number(engine) == MSG_UNKNOWN_VARIABLE;
    course->missing[i] = answer == ANSWER_NOT_EXECUTED || baseless;
    if (course->missing[i]) continue;
    if (answer == ANSWER_ROWS && is_definition(statement))
      answer = engine_run(engine, ranges_text(course->arena, statement->name));
    if (answer == ANSWER_ROWS) continue;
    base_buffer_printf(course->log, "    failed: %s\n", engine_message(engine));
    /* Of a tuple that has not ended nobody knows whether it is meant: the error counts. */
    if (!is_run_time_error(engine, answer)) return BASE_SYSTEM;
    return within ? BASE_END : BASE_USER;
  }
  return BASE_OK;
}

/* BASE_END: what stands over what is stored fails at run time. */
static enum base_status copy(struct course *course, struct engine *engine, size_t input,
                             const char *rows) {
  bool stored = course->stored[input];
  base_buffer_printf(course->log, "    -- into %s:\n%s", course->scenario->inputs[input].name,
                     rows);
  if (stored && !run(course, engine, "set checkpoint auto")) return BASE_SYSTEM;
  if (!engine_copy(engine, &course->scenario->inputs[input], rows)) {
    base_buffer_printf(course->log, "    failed: %s\n", engine_message(engine));
    return stored && is_run_time_error(engine, ANSWER_REFUSED) ? BASE_END : BASE_SYSTEM;
  }
  return stored && !run(course, engine, "set checkpoint manual") ? BASE_SYSTEM : BASE_OK;
}

static enum base_status bring(struct course *course, struct engine *engine, unsigned portion) {
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < course->scenario->input_count; i++) {
    const struct input *input = &course->scenario->inputs[i];
    struct base_buffer rows = BASE_BUFFER_EMPTY;
    for (size_t j = 0; j < course->arrival_count; j++) {
      const struct arrival *arrival = &course->arrivals[j];
      if (arrival->portion == portion && arrival->input == input)
        base_buffer_puts(&rows, row_text(course->arena, input, &input->rows[arrival->row]));
    }
    if (rows.length > 0) status = copy(course, engine, i, rows.data);
    base_buffer_done(&rows);
    if (status != BASE_OK) return status;
  }
  return BASE_OK;
}

static bool lose(struct course *course, struct engine *engine, unsigned portion) {
  bool good = true;
  for (size_t i = 0; i < course->scenario->loss_count && good; i++) {
    const struct loss *loss = &course->scenario->losses[i];
    if (!loss->dropped && course->lost_in[i] == portion)
      good = run(course, engine, "set checkpoint auto") &&
             run(course, engine, loss_text(course->scenario, loss)) &&
             run(course, engine, "set checkpoint manual");
  }
  return good;
}

/* What is stored has passed forever with each statement that writes it; to say so would have all computed anew. */
static bool pass(struct course *course, struct engine *engine, unsigned portion) {
  struct scenario times = *course->scenario;
  times.arena = course->arena;
  const char *time = time_text(&times, course->checkpoints[portion]);
  bool any = false, good = true;
  for (size_t i = 0; i < times.input_count; i++) any |= course->stored[i];
  if (!any) return run(course, engine, base_arena_printf(course->arena, "checkpoint %s", time));
  for (size_t i = 0; i < times.input_count && good; i++)
    if (!course->stored[i])
      good =
          run(course, engine,
              base_arena_printf(course->arena, "checkpoint %s for %s", time, times.inputs[i].name));
  return good;
}

static bool reopen(struct course *course, struct engine *engine, const char *path,
                   struct engine_options options, bool defined) {
  base_buffer_puts(course->log, "    -- closed and opened\n");
  struct base_strings *strings = engine->strings;
  engine_close(engine);
  if (!engine_open(engine, course->arena, strings, path, course->scenario, options)) {
    base_buffer_printf(course->log, "    failed: %s\n", engine_message(engine));
    return false;
  }
  return greet(course, engine, defined);
}

/* One course from the empty database to the last checkpoint. BASE_END: not executed yet. */
static enum base_status follow(struct course *course, struct engine *engine, const char *path,
                               struct engine_options options, bool reopening) {
  const struct scenario *scenario = course->scenario;
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < scenario->input_count; i++)
    if (!run(course, engine, create_text(course->arena, &scenario->inputs[i])))
      return engine_number(engine) >= 900 ? BASE_END : BASE_SYSTEM;
  if (!greet(course, engine, false)) return BASE_SYSTEM;
  bool defined = false;
  for (unsigned i = 0; i < course->portions; i++) {
    if (i == course->define_before) {
      status = define(course, engine, true);
      if (status != BASE_OK) return status;
      defined = true;
    }
    status = bring(course, engine, i);
    if (status != BASE_OK) return status;
    if (!lose(course, engine, i)) return BASE_SYSTEM;
    if (reopening && below_course(course, 3) == 0 &&
        !reopen(course, engine, path, options, defined))
      return BASE_SYSTEM;
    if (!pass(course, engine, i)) return BASE_SYSTEM;
    if (reopening && below_course(course, 3) == 0 &&
        !reopen(course, engine, path, options, defined))
      return BASE_SYSTEM;
  }
  return defined ? BASE_OK : define(course, engine, false);
}

static bool compare_shown(struct course *course, struct engine *all, struct engine *bits) {
  const struct scenario *scenario = course->scenario;
  for (size_t i = 0; i < scenario->statement_count; i++) {
    const struct statement *statement = &scenario->statements[i];
    if (!is_definition(statement) || course->missing[i]) continue;
    const char *text = base_arena_printf(course->arena, "print %s", statement->name);
    struct base_buffer why = BASE_BUFFER_EMPTY;
    bool shown = run(course, all, text);
    bool good = run(course, bits, text) == shown;
    /* What is looked at with losses in mind may fail where what is stored does not. */
    if (good && !shown) base_buffer_puts(course->log, "    on both sides\n");
    if (good && shown)
      good = same_relation(&why, all->strings, all->timeline, &all->result, &bits->result);
    if (!good)
      base_buffer_printf(course->log, "  %s (- only at once, + only bit by bit):\n%s",
                         statement->name, base_buffer_text(&why));
    base_buffer_done(&why);
    if (!good) return false;
  }
  return true;
}

static bool has_sampled(const struct scenario *scenario) {
  for (size_t i = 0; i < scenario->input_count; i++)
    if (is_kind(&scenario->inputs[i], "sampled")) return true;
  return false;
}

/* Are the tuples of BEFORE among those of AFTER? */
static bool is_kept(const struct course *course, struct base_buffer *why,
                    const struct engine *engine, const struct oracle_relation *before,
                    const struct oracle_relation *after) {
  struct oracle_relation both = {.layout = after->layout};
  for (size_t i = 0; i < after->count; i++)
    oracle_add(course->arena, &both, after->tuples[i].row, after->tuples[i].definite);
  for (size_t i = 0; i < before->count; i++)
    oracle_add(course->arena, &both, before->tuples[i].row, before->tuples[i].definite);
  oracle_make_set(&both);
  return same_relation(why, engine->strings, engine->timeline, &both, after);
}

/* At the last checkpoint, which is promised once more, the live network is built anew: no tuple that is known goes. Of
 * sampled relations what is computed once takes runs as if they had ended; it is computed anew then. */
static bool keeps_all(struct course *course, struct engine *engine) {
  const struct scenario *scenario = course->scenario;
  struct oracle_relation before[STATEMENTS_MAX];
  bool good = true, known[STATEMENTS_MAX] = {false};
  if (has_sampled(scenario)) return pass(course, engine, course->portions - 1);
  for (size_t round = 0; round < 2 && good; round++) {
    if (round == 1) good = pass(course, engine, course->portions - 1);
    for (size_t i = 0; i < scenario->statement_count && good; i++) {
      if (!is_definition(&scenario->statements[i]) || course->missing[i]) continue;
      const char *name = scenario->statements[i].name;
      struct base_buffer why = BASE_BUFFER_EMPTY;
      good = run(course, engine, base_arena_printf(course->arena, "print %s", name));
      if (good && round == 0) before[i] = engine->result;
      if (good && round == 0) known[i] = true;
      if (good && round == 1 && known[i])
        good = is_kept(course, &why, engine, &before[i], &engine->result);
      if (!good)
        base_buffer_printf(course->log, "  %s (- only before the network was built anew):\n%s",
                           name, base_buffer_text(&why));
      base_buffer_done(&why);
    }
  }
  return good;
}

/* What is shown with losses in mind, and where there are any what is stored. */
static bool compare(struct course *course, struct engine *all, struct engine *bits) {
  static const char *const ways[] = {"set losses ignored", "set losses uncertain"};
  bool good = true;
  for (int i = course->scenario->loss_count > 0 ? 0 : 1; i < 2 && good; i++)
    good =
        run(course, all, ways[i]) && run(course, bits, ways[i]) && compare_shown(course, all, bits);
  return good;
}

static bool agrees_with_reference(struct course *course, struct world *world, struct engine *all) {
  const struct scenario *scenario = course->scenario;
  for (size_t i = 0; i < scenario->statement_count; i++) {
    const struct statement *statement = &scenario->statements[i];
    if (statement->dropped) continue;
    struct outcome expected = world_run(world, statement);
    if (expected.status != BASE_OK) return true;
    if (!expected.has_rows || expected.unsaid || course->missing[i]) continue;
    engine_run(all, base_arena_printf(course->arena, "print %s", statement->name));
    struct base_buffer why = BASE_BUFFER_EMPTY;
    bool good = same_relation(&why, all->strings, all->timeline, &expected.rows, &all->result);
    if (!good)
      base_buffer_printf(course->log, "  %s (- only the reference, + only at once):\n%s",
                         statement->name, base_buffer_text(&why));
    base_buffer_done(&why);
    if (!good) return false;
  }
  return true;
}

/* Does a definition fail by the reference, too? Bit by bit it stands, and its combinations are in Rejected. */
static bool reference_fails(const struct course *course, struct world *world) {
  const struct scenario *scenario = course->scenario;
  for (size_t i = 0; i < scenario->statement_count; i++) {
    if (scenario->statements[i].dropped) continue;
    struct outcome expected = world_run(world, &scenario->statements[i]);
    if (expected.status != BASE_OK || expected.may_fail) return true;
  }
  return false;
}

bool judge_incremental(struct base_buffer *out, const struct scenario *scenario,
                       const char *directory) {
  struct base_arena *arena = base_arena_new();
  struct world *world = world_new(arena, scenario);
  struct course bits = {.scenario = scenario, .arena = arena, .log = out};
  bits.random.state = scenario->seed * 31 + 7;
  net_chronon last = below_course(&bits, 2) == 0
                         ? NET_FOREVER
                         : scenario->base + scenario->unit * (net_chronon)below_course(&bits, 16);
  plan(&bits, last);
  struct course all = bits;
  bool passes = last == NET_FOREVER && bits.portions > 1;
  all.portions = 0;
  /* A clock keeps the ticks before a finite checkpoint, of which `forever` alone says nothing. */
  if (passes) all.checkpoints[all.portions++] = bits.checkpoints[bits.portions - 2];
  all.checkpoints[all.portions++] = last;
  all.define_before = (unsigned)below_course(&bits, passes ? 3 : 2);
  if (all.define_before >= all.portions) all.define_before = all.portions;
  for (size_t i = 0; i < all.arrival_count; i++) all.arrivals[i].portion = 0;
  for (size_t i = 0; i < scenario->loss_count; i++) all.lost_in[i] = 0;
  if (passes) world_pass(world, all.checkpoints[0]);
  /* On the real time line the first tuples that are stored fix the origin. */
  for (size_t i = 0; i < scenario->input_count; i++)
    bits.stored[i] = last == NET_FOREVER && !scenario->real && below_course(&bits, 3) == 0;
  const char *path = base_arena_printf(arena, "%s/bits-%ld.db", directory, (long)getpid());
  struct engine_options options = {below_course(&bits, 2) == 0, below_course(&bits, 2) == 0 ? 1 : 0,
                                   0};
  struct engine at_once, in_bits;
  /* The same rules on both sides: how far a derived relation's checkpoint comes depends on them. */
  bool good = engine_open(&at_once, arena, world_strings(world), NULL, scenario,
                          (struct engine_options){options.rules_off, 0, 0});
  good = engine_open(&in_bits, arena, world_strings(world), path, scenario, options) && good;
  if (good) {
    base_buffer_puts(out, "  at once:\n");
    enum base_status status = follow(&all, &at_once, NULL, options, false);
    if (status == BASE_USER && reference_fails(&all, world)) status = BASE_END;
    base_buffer_puts(out, "  bit by bit:\n");
    if (status == BASE_OK) status = follow(&bits, &in_bits, path, options, true);
    good = status == BASE_END || status == BASE_OK;
    if (good && status == BASE_OK && last != NET_FOREVER)
      good = keeps_all(&all, &at_once) && reopen(&bits, &in_bits, path, options, true) &&
             keeps_all(&bits, &in_bits);
    if (good && status == BASE_OK) good = compare(&all, &at_once, &in_bits);
    if (good && status == BASE_OK && last == NET_FOREVER)
      good = agrees_with_reference(&all, world, &at_once);
  }
  engine_close(&at_once);
  engine_close(&in_bits);
  world_free(world);
  unlink(path);
  base_arena_free(arena);
  return good;
}
