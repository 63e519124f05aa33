/* Scenarios with sensors: relations that a program announces and reports as it is told to (program.c), a period
 * and an event relation of its user, and standing queries that bind the two. Each session's answers must be those
 * of the reference evaluator
 *
 *   - on what was reported to it: what arrives late or never is nobody's fault, but what is said of it is;
 *   - on all there was, where the language promises that: of events and of samples at ticks whatever is asked, of
 *     a traced relation where the other tuple is there when the period begins, and no end but the common one
 *     counts (an object's earlier record, and what happens to it later, is not to be had: control_arcs.c).
 *
 * Rules decide what is watched: all of them, none, one of those that tell sensors something left out.      */
#include <stdio.h>
#include <string.h>

#include "tests/oracle/choice.h"
#include "tests/oracle/sensed.h"

/* --- relations */

static const char *const processes[] = {"Robot:1#1", "Robot:2#1"};
static const char *const disks[] = {"Disk:1#1.1", "Disk:2#1.1", "Disk:3#1.2"};
static const int owners[] = {0, 0, 1}; /* each disk's process */

void sensed_description(struct base_buffer *out) {
  base_buffer_puts(
      out,
      "(taskforce (name Plant)) (sensorprocess (name Robot)) (objecttype (name Disk))\n"
      "(event (name H) (location Robot) (timestamp true) (domains (domain (name x) (type i4))))\n"
      "(event (name U) (location Robot) (object Disk) (minortype objecttraced) (timestamp true)\n"
      "  (domains (domain (name x) (type i4))))\n"
      "(event (name V) (location Robot) (object Disk) (minortype objecttraced) (timestamp true)\n"
      "  (key j Disk) (domains (domain (name j) (type text)) (domain (name x) (type i4))))\n"
      "(event (name W) (location Robot) (timestamp true) (relation traced) (key j)\n"
      "  (domains (domain (name j) (type text)) (domain (name x) (type i4))))\n"
      "(event (name N) (location Robot) (timestamp true) (relation event)\n"
      "  (domains (domain (name x) (type i4))))\n"
      "(event (name M) (location Robot) (object Disk) (minortype objecttraced) (timestamp true)\n"
      "  (relation event) (domains (domain (name x) (type i4))))\n"
      "(event (name S) (location Robot) (object Disk) (minortype messagesampled)\n"
      "  (timestamp true) (domains (domain (name x) (type i4))))\n");
}

static const struct input kinds[] = {
    {.name = "H",
     .kind = "traced",
     .by_count = 1,
     .domains = {{"Process", "name", 's'}, {"x", "i4", 'i'}},
     .domain_count = 2},
    {.name = "U",
     .kind = "traced",
     .by = {1},
     .by_count = 1,
     .in_process = true,
     .domains = {{"Process", "name", 's'}, {"Disk", "name", 's'}, {"x", "i4", 'i'}},
     .domain_count = 3},
    {.name = "V",
     .kind = "traced",
     .by = {2, 1},
     .by_count = 2,
     .in_process = true,
     .domains =
         {{"Process", "name", 's'}, {"Disk", "name", 's'}, {"j", "text", 's'}, {"x", "i4", 'i'}},
     .domain_count = 4},
    {.name = "W",
     .kind = "traced",
     .by = {1},
     .by_count = 1,
     .in_process = true,
     .domains = {{"Process", "name", 's'}, {"j", "text", 's'}, {"x", "i4", 'i'}},
     .domain_count = 3},
    {.name = "N",
     .kind = "event",
     .domains = {{"Process", "name", 's'}, {"x", "i4", 'i'}},
     .domain_count = 2},
    {.name = "M",
     .kind = "event",
     .domains = {{"Process", "name", 's'}, {"Disk", "name", 's'}, {"x", "i4", 'i'}},
     .domain_count = 3},
    {.name = "S",
     .kind = "sampled",
     .by = {1},
     .by_count = 1,
     .in_process = true,
     .domains = {{"Process", "name", 's'}, {"Disk", "name", 's'}, {"x", "i4", 'i'}},
     .domain_count = 3},
    {.name = "P",
     .kind = "period",
     .domains = {{"k", "name", 's'}, {"d", "text", 's'}, {"x", "i4", 'i'}},
     .domain_count = 3},
    {.name = "E",
     .kind = "event",
     .domains = {{"k", "name", 's'}, {"d", "text", 's'}, {"x", "i4", 'i'}},
     .domain_count = 3},
};

bool sensed_is_announced(const struct input *input) {
  return strcmp(input->domains[0].name, "Process") == 0;
}

static bool has_disk(const struct input *input) {
  return strcmp(input->domains[1].name, "Disk") == 0 || strcmp(input->domains[1].name, "d") == 0;
}

/* Jobs, which go from one process to another. */
static bool has_job(const struct input *input) {
  return strcmp(input->domains[1].name, "j") == 0;
}

static void name_objects(const struct input *input, struct input_row *row, size_t disk) {
  row->values[0].s = processes[owners[disk]];
  if (has_disk(input)) row->values[1].s = disks[disk];
}

/* What the program does: a record of an object now and then, at an odd instant; a sample of each at all of them.
 * The user's periods begin and end at even ones, so that the program has heard of it when it does something. */
static void fill_announced(struct scenario *scenario, struct input *input) {
  bool sampled = is_kind(input, "sampled");
  for (net_chronon time = 0; time <= SENSED_LAST; time++) {
    for (size_t disk = 0; disk < 3; disk++) {
      bool there = sampled ? disk != 1
                           : time % 2 == 1 && (input->domain_count >= 3 || disk != 1) &&
                                 chance(scenario, 45);
      if (!there || input->count == ROWS_MAX) continue;
      struct input_row *row = &input->rows[input->count++];
      *row = (struct input_row){.time = {time, time}, .definite = true};
      name_objects(input, row, has_job(input) ? below(scenario, 3) : disk);
      if (has_job(input)) row->values[1].s = disk == 0 ? "a" : disk == 1 ? "b" : "c";
      if (input->by_count == 2) row->values[2].s = PICK(scenario, "a", "b");
      row->values[input->domain_count - 1].i = (int64_t)below(scenario, sampled ? 2 : 3);
    }
  }
}

static net_chronon perhaps_later(struct scenario *scenario, net_chronon time) {
  return scenario->determinate || chance(scenario, 75) ? time
                                                       : time + 2 * (net_chronon)below(scenario, 2);
}

static bool is_alike(const struct input *input, const struct input_row *row) {
  for (size_t i = 0; i < input->count; i++) {
    const struct input_row *other = &input->rows[i];
    if (other->time[0] == row->time[0] && other->values[0].s == row->values[0].s &&
        other->values[1].s == row->values[1].s && other->values[2].i == row->values[2].i)
      return true;
  }
  return false;
}

/* No two that begin as the same: which of them an end record ends would be open. None goes on behind the program's
 * end, where a clock would tick and nobody takes the sample. */
static void fill_own(struct scenario *scenario, struct input *input) {
  size_t count = 2 + below(scenario, 6);
  while (count-- > 0) {
    struct input_row row = {.definite = scenario->determinate || chance(scenario, 85)};
    row.time[0] = (is_kind(input, "period") ? 2 : 1) * (net_chronon)below(scenario, 6);
    row.time[1] = perhaps_later(scenario, row.time[0]);
    row.time[2] = row.time[0] + 2 + 2 * (net_chronon)below(scenario, 3);
    if (row.time[2] <= row.time[1]) row.time[2] = row.time[1] + 2;
    row.time[3] = perhaps_later(scenario, row.time[2]);
    if (row.time[3] > SENSED_LAST) row.time[3] = SENSED_LAST;
    name_objects(input, &row, below(scenario, 3));
    row.values[2].i = (int64_t)below(scenario, 3);
    if (!is_alike(input, &row)) input->rows[input->count++] = row;
  }
}

static void make_inputs(struct scenario *scenario) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    struct input *input = &scenario->inputs[scenario->input_count++];
    *input = kinds[i];
    if (sensed_is_announced(input))
      fill_announced(scenario, input);
    else
      fill_own(scenario, input);
  }
}

/* --- statements */

static const struct source *use(struct choice *choice, const char *relation, bool event) {
  struct scenario *scenario = choice->scenario;
  struct source *source = &choice->used[choice->used_count++];
  bool again = choice->used_count > 1 && strcmp(choice->used[0].name + 1, relation) == 0;
  *source = (struct source){.name = TEXT("%s%s", again ? "b" : "a", relation),
                            .event = event,
                            .domains = {"x"},
                            .kinds = {'i'},
                            .domain_count = 1};
  choice->sources[choice->source_count++] = *source;
  return source;
}

static const char *name_pattern(struct scenario *scenario, bool disk) {
  if (disk) return PICK(scenario, "Disk:1#1.1", "Disk:3#1.2", "Disk:*1.1");
  return PICK(scenario, "Robot:1#1", "Robot:2#1", "Robot:2#*", "Robot:*");
}

static void add_where(struct statement *statement, const char *text) {
  statement->where[statement->where_count++] = text;
}

static void add_when(struct statement *statement, const char *text) {
  statement->when[statement->when_count++] = text;
}

/* RELATION, and the periods that say which of its objects count. */
static void bind_objects(struct choice *choice, struct statement *statement, bool disk) {
  struct scenario *scenario = choice->scenario;
  const char *a = choice->used[0].name, *b = choice->used[1].name;
  if (chance(scenario, 15)) add_where(statement, TEXT("%s.x = %s.x", a, b));
  bool by_disk = disk && chance(scenario, 50);
  add_where(statement, by_disk ? TEXT("%s.Disk = %s.d", a, b) : TEXT("%s.Process = %s.k", a, b));
  if (disk && chance(scenario, 25)) add_where(statement, TEXT("%s.Disk = %s.d", a, b));
  if (chance(scenario, 25)) {
    bool by = disk && chance(scenario, 50);
    add_where(statement,
              TEXT("%s.%s = \"%s\"", a, by ? "Disk" : "Process", name_pattern(scenario, by)));
  }
}

static void add_targets(struct choice *choice, struct statement *statement) {
  struct scenario *scenario = choice->scenario;
  for (size_t i = 0; i < choice->used_count; i++)
    if (i == 0 || chance(scenario, 50)) {
      statement->kinds[statement->target_count] = 'i';
      statement->targets[statement->target_count++] = TEXT("x%zu = %s.x", i, choice->used[i].name);
    }
}

/* Of a traced relation WHOLE: only what is promised of it is asked for. */
static void ask_for_objects(struct scenario *scenario, struct statement *statement, bool whole) {
  struct choice choice = {.scenario = scenario};
  bool traced = chance(scenario, 50), disk = chance(scenario, 50);
  const char *relation = traced ? disk ? PICK(scenario, "U", "V") : PICK(scenario, "H", "W")
                         : disk ? "M"
                                : "N";
  bool by_event = !traced && chance(scenario, 15);
  const char *a = use(&choice, relation, !traced)->name;
  const char *b = use(&choice, by_event ? "E" : "P", by_event)->name;
  bind_objects(&choice, statement, disk);
  add_targets(&choice, statement);
  bool simple = traced && whole;
  if (!simple && chance(scenario, 25)) {
    const char *other = PICK(scenario, "E", "P", "N");
    const struct source *third = use(&choice, other, strcmp(other, "P") != 0);
    if (chance(scenario, 50)) add_where(statement, TEXT("%s.x = %s.x", b, third->name));
  }
  if (chance(scenario, 40)) add_where(statement, condition(&choice, 1));
  if (simple || chance(scenario, 50)) add_when(statement, TEXT("%s , %s", a, b));
  if (simple) add_when(statement, TEXT("%s.start precede %s.start", b, a));
  if (!simple && chance(scenario, 35)) add_when(statement, when_condition(&choice, 1));
  bool events = by_event || (choice.used_count == 3 && choice.used[2].event && !traced);
  if (by_event || (events && chance(scenario, 30)))
    statement->at = a;
  else if (events || (!simple && chance(scenario, 20)))
    statement->at = event_expression(&choice);
  if (simple && chance(scenario, 20)) statement->at = TEXT("%s.start", a);
}

/* What held of the samples when a clock ticked. */
static void ask_at_ticks(struct scenario *scenario, struct statement *statement) {
  struct choice choice = {.scenario = scenario};
  const char *a = use(&choice, "S", false)->name;
  const char *clock = clock_variables[below(scenario, 2)];
  bool third = chance(scenario, 30), again = chance(scenario, 25);
  const char *b = third ? use(&choice, again ? "S" : "P", false)->name : NULL;
  add_targets(&choice, statement);
  if (third && !again && chance(scenario, 50)) bind_objects(&choice, statement, true);
  if (chance(scenario, 30))
    add_where(statement, TEXT("%s.Process = \"%s\"", a, name_pattern(scenario, false)));
  if (chance(scenario, 40)) add_where(statement, condition(&choice, 1));
  if (chance(scenario, 75)) add_when(statement, TEXT("%s , %s", a, clock));
  if (chance(scenario, 15))
    add_when(statement, TEXT("%s.%s precede %s", a, PICK(scenario, "start", "stop"),
                             b ? TEXT("%s.start", b) : time_text(scenario, some_time(scenario))));
  if (b && chance(scenario, 20)) add_when(statement, TEXT("%s.start , %s", a, b));
  choice.used[choice.used_count++] = (struct source){.name = clock, .event = true};
  if (statement->when_count == 0) /* the clock takes part */
    statement->targets[statement->target_count++] = TEXT("c = chronon(%s)", clock);
  if (chance(scenario, 30)) add_when(statement, when_condition(&choice, 1));
  if (chance(scenario, 20)) statement->at = event_expression(&choice);
}

/* A condition on one record's values. */
static const char *value_condition(struct scenario *scenario, const char *variable, bool job) {
  if (job && chance(scenario, 70))
    return TEXT(
        "%s.j %s", variable,
        PICK(scenario, "= \"a\"", "!= \"b\"", "= \"[ab]*\"", "in (\"a\", \"c\")", "> \"a\""));
  const char *x = TEXT("%s.x", variable);
  if (chance(scenario, 15)) return TEXT("not (%s = 1 or 2 <= %s)", x, x);
  if (chance(scenario, 15)) return TEXT("(%s = 0 or %s > 1)", x, x);
  if (chance(scenario, 10)) return TEXT("%s / (%s - 1) = 0", x, x); /* can fail */
  return TEXT("%s %s", x,
              PICK(scenario, "= 1", "!= 1", "> 0", "<= 1", "in (0, 2)", "not in (1, 2)",
                   "between 1 and 2", ">= 3"));
}

/* What held of the samples when something happened: those that it had taken. */
static void ask_at_events(struct scenario *scenario, struct statement *statement) {
  struct choice choice = {.scenario = scenario};
  const char *a = use(&choice, "S", false)->name;
  const char *relation = PICK(scenario, "E", "N", "M", "H", "U", "P");
  bool event = strchr("ENM", relation[0]) != NULL, disk = strcmp(relation, "U") == 0;
  bool own = strchr("EP", relation[0]) != NULL;
  const char *b = use(&choice, relation, event)->name;
  add_targets(&choice, statement);
  if (chance(scenario, 50))
    add_where(statement, TEXT("%s.Process = %s.%s", a, b, own ? "k" : "Process"));
  disk = disk || own || strcmp(relation, "M") == 0;
  if (disk && chance(scenario, 50))
    add_where(statement, TEXT("%s.Disk = %s.%s", a, b, own ? "d" : "Disk"));
  if (chance(scenario, 30))
    add_where(statement, TEXT("%s.Process = \"%s\"", a, name_pattern(scenario, false)));
  if (chance(scenario, 30)) add_where(statement, condition(&choice, 1));
  if (strchr("NM", relation[0]) && chance(scenario, 40))
    add_where(statement, value_condition(scenario, b, false));
  if (!event || chance(scenario, 75))
    add_when(statement, event ? TEXT("%s , %s", a, b) : TEXT("%s , %s.start", a, b));
  if (!event || chance(scenario, 50)) statement->at = event ? b : TEXT("%s.start", b);
}

/* Records by their values, of one relation, perhaps of two; what may count them. */
static void ask_for_values(struct scenario *scenario, struct statement *statement) {
  struct choice choice = {.scenario = scenario};
  const char *relation = PICK(scenario, "N", "N", "M", "W", "V");
  bool traced = strchr("WV", relation[0]) != NULL;
  const char *a = use(&choice, relation, !traced)->name;
  size_t count = 1 + below(scenario, 2);
  add_targets(&choice, statement);
  if (chance(scenario, 35)) {
    statement->kinds[statement->target_count] = 'i';
    statement->targets[statement->target_count++] = TEXT(
        "n = count(%s.x %sfor %s where %s)", a, chance(scenario, 40) ? TEXT("by %s.x ", a) : "",
        traced ? "each instant" : PICK(scenario, "ever", "each 3"),
        value_condition(scenario, a, traced));
  }
  if (statement->target_count > 1 && chance(scenario, 60)) {
    /* Nothing but the aggregate. */
    statement->targets[0] = statement->targets[1];
    statement->target_count = 1;
    if (chance(scenario, 70)) return;
  }
  while (count-- > 0) add_where(statement, value_condition(scenario, a, traced));
  if (!traced && chance(scenario, 20)) {
    const char *b = use(&choice, "P", false)->name;
    add_where(statement, TEXT("%s.x = %s.x", a, b));
    add_when(statement, TEXT("%s , %s", a, b));
    statement->at = a;
  }
}

/* How many records there are, and sometimes more, which needs them. Drawn apart: other statements stay as they were. */
static bool ask_for_counts(struct scenario *scenario, struct statement *statement) {
  struct base_random kept = scenario->random;
  scenario->random = (struct base_random){scenario->seed * 999979 + scenario->statement_count};
  bool made = chance(scenario, 20);
  struct choice choice = {.scenario = scenario};
  const char *a = use(&choice, PICK(scenario, "N", "N", "M"), true)->name;
  const char *by = chance(scenario, 60) ? TEXT(" by %s.Process", a) : "";
  if (*by) {
    statement->kinds[statement->target_count] = 's';
    statement->targets[statement->target_count++] = TEXT("p = %s.Process", a);
  }
  statement->kinds[statement->target_count] = 'i';
  statement->targets[statement->target_count++] =
      TEXT("n = count(%s%s%s)", a, chance(scenario, 20) ? ".x" : "", by);
  if (chance(scenario, 20)) {
    statement->kinds[statement->target_count] = 'i';
    statement->targets[statement->target_count++] =
        TEXT("m = %s(%s.x%s)", PICK(scenario, "max", "count", "countu"), a, by);
  }
  if (*by && chance(scenario, 30))
    add_where(statement, TEXT("p = \"%s\"", processes[below(scenario, 2)]));
  if (chance(scenario, 20)) add_where(statement, TEXT("n > %d", (int)below(scenario, 3)));
  statement->modes = "summary ";
  scenario->random = kept;
  return made;
}

static void make_statements(struct scenario *scenario, bool *ret_whole) {
  size_t count = 1 + below(scenario, 2);
  if (chance(scenario, 30))
    scenario->statements[scenario->statement_count++] = (struct statement){
        .kind = SETTING, .text = TEXT("set origin %d", chance(scenario, 50) ? 4 : 0)};
  for (size_t i = 0; i < count; i++) {
    size_t number = scenario->statement_count++;
    struct statement *statement = &scenario->statements[number];
    *statement = (struct statement){.kind = RETRIEVE, .name = TEXT("D%zu", number)};
    ret_whole[number] = true;
    struct statement counts = *statement;
    if (ask_for_counts(scenario, &counts)) {
      *statement = counts;
    } else if (chance(scenario, 25)) {
      ret_whole[number] = false;
      ask_at_events(scenario, statement);
    } else if (chance(scenario, 35)) {
      ask_at_ticks(scenario, statement);
    } else if (chance(scenario, 40)) {
      ask_for_values(scenario, statement);
    } else {
      ret_whole[number] = chance(scenario, 70);
      ask_for_objects(scenario, statement, ret_whole[number]);
    }
  }
}

/* Of traced ones the records that are not made for want of somebody who asks count as little as those that are lost, and
 * what is compared are the periods that are seen. */
static void lose_events(struct scenario *scenario) {
  scenario->loss_count = 1 + below(scenario, LOSSES_MAX);
  for (size_t i = 0; i < scenario->loss_count; i++) {
    struct loss *loss = &scenario->losses[i];
    loss->in = PICK(scenario, "Lost", "Lost", "Late", "Rejected");
    bool lost = strcmp(loss->in, "Lost") == 0;
    loss->relation = PICK(scenario, "N", "M");
    loss->source = PICK(scenario, "", "host", processes[0], processes[1]);
    loss->from = (net_chronon)below(scenario, SENSED_LAST);
    loss->to = lost ? loss->from + 1 + (net_chronon)below(scenario, 4) : (net_chronon)i;
  }
}

void sensed_draw(struct scenario *scenario, struct base_arena *arena, uint64_t seed,
                 bool *ret_whole) {
  *scenario =
      (struct scenario){.arena = arena, .random = {seed * 104729 + 11}, .seed = seed, .unit = 1};
  scenario->determinate = chance(scenario, 35);
  make_inputs(scenario);
  make_statements(scenario, ret_whole);
  if (seed % 4 == 1) lose_events(scenario);
}

/* --- judging */

struct sensed {
  const struct scenario *scenario;
  const bool *whole;
  bool selftest;
  struct tally *tally;
};

static bool agrees(struct base_buffer *out, struct world *world, struct engine *engine,
                   const struct statement *statement) {
  struct outcome expected = world_run(world, statement);
  if (!expected.has_rows || expected.unsaid || expected.may_fail) return true;
  enum answer answer = engine_print(engine, statement->name);
  if (answer != ANSWER_ROWS) {
    base_buffer_printf(out, "  the session: %s\n", engine_message(engine));
    return false;
  }
  return same_relation(out, engine->strings, engine->timeline, &expected.rows, &engine->result);
}

/* Every statement is run, as later ones may go by settings; those that are not WHOLE are not looked at. */
static bool agree(struct base_buffer *out, const struct sensed *sensed, struct world *world,
                  struct engine *engine, bool all) {
  const struct scenario *scenario = sensed->scenario;
  world_pass(world, SENSED_LAST + 1);
  for (size_t i = 0; i < scenario->statement_count; i++) {
    const struct statement *statement = &scenario->statements[i];
    if (statement->dropped) continue;
    struct base_buffer why = BASE_BUFFER_EMPTY;
    bool retrieve = statement->kind == RETRIEVE;
    if (!retrieve) world_run(world, statement);
    bool good = !retrieve || (all && !sensed->whole[i]) || agrees(&why, world, engine, statement);
    if (!good)
      base_buffer_printf(out, "%s, %s:\n%s", statement->name,
                         all ? "as if all had been made" : "of what was made",
                         base_buffer_text(&why));
    base_buffer_done(&why);
    if (!good) return false;
  }
  return true;
}

static bool tells_apart(struct engine_options options, const struct sensed_counts *counts,
                        struct base_buffer *out) {
  int off = options.rule_off - 1;
  bool arcs = !options.rules_off && off != NG_RULE_CONTROL_ARCS;
  bool clocks = !options.rules_off && off != NG_RULE_CLOCK_SAMPLES;
  bool triggers = !options.rules_off && off != NG_RULE_TRIGGERED_SAMPLES;
  bool filters = !options.rules_off && off != NG_RULE_SELECTIONS_AT_SOURCE;
  if ((arcs || counts->arcs == 0) && (clocks || counts->clocks == 0) &&
      (triggers || counts->triggers == 0) && (filters || counts->filters == 0))
    return true;
  base_buffer_puts(out, "a rule that is off tells sensors what to do\n");
  return false;
}

static bool judge_with(const struct sensed *sensed, struct engine_options options,
                       struct base_buffer *out) {
  struct base_arena *arena = base_arena_new();
  struct world *world = world_new(arena, sensed->scenario);
  struct scenario *made = BASE_NEW(arena, struct scenario);
  struct engine engine = {.arena = arena};
  struct sensed_counts counts = {0};
  bool good = sensed_run(&engine, world_strings(world), sensed->scenario, options, sensed->selftest,
                         made, &counts, out);
  sensed->tally->arcs += counts.arcs;
  sensed->tally->clocks += counts.clocks;
  sensed->tally->triggers += counts.triggers;
  sensed->tally->withheld += counts.withheld;
  sensed->tally->filtered += counts.filtered;
  sensed->tally->counted += counts.counted;
  good = good && tells_apart(options, &counts, out);
  good = good && agree(out, sensed, world, &engine, true);
  if (good) {
    struct world *reported = world_new(arena, made);
    engine.strings = world_strings(reported);
    good = agree(out, sensed, reported, &engine, false);
    world_free(reported);
  }
  engine_close(&engine);
  world_free(world);
  base_arena_free(arena);
  return good;
}

/* --- a difference, made small */

static bool still_differs_with(const struct sensed *sensed, struct engine_options options) {
  struct base_buffer ignored = BASE_BUFFER_EMPTY;
  struct tally tally = {0};
  struct sensed copy = *sensed;
  copy.tally = &tally;
  bool good = judge_with(&copy, options, &ignored);
  base_buffer_done(&ignored);
  return !good;
}

static void drop_parts(const struct sensed *sensed, struct engine_options options,
                       const char **parts, size_t *count) {
  for (size_t i = *count; i-- > 0;) {
    const char *kept = parts[i];
    memmove(parts + i, parts + i + 1, (--*count - i) * sizeof *parts);
    if (still_differs_with(sensed, options)) continue;
    memmove(parts + i + 1, parts + i, ((*count)++ - i) * sizeof *parts);
    parts[i] = kept;
  }
}

static void drop(const struct sensed *sensed, struct engine_options options, bool *dropped) {
  *dropped = true;
  if (!still_differs_with(sensed, options)) *dropped = false;
}

/* Conditions go only where all is compared that is asked: others are what the answer hangs on. */
static void make_small(const struct sensed *sensed, struct scenario *scenario,
                       struct engine_options options) {
  for (size_t i = 0; i < scenario->statement_count; i++)
    drop(sensed, options, &scenario->statements[i].dropped);
  for (size_t i = 0; i < scenario->input_count; i++)
    for (size_t j = 0; j < scenario->inputs[i].count; j++)
      if (!is_kind(&scenario->inputs[i], "sampled"))
        drop(sensed, options, &scenario->inputs[i].rows[j].dropped);
  for (size_t i = 0; i < scenario->statement_count; i++) {
    struct statement *statement = &scenario->statements[i];
    if (statement->dropped || statement->kind != RETRIEVE) continue;
    drop_parts(sensed, options, statement->targets, &statement->target_count);
    drop_parts(sensed, options, statement->where, &statement->where_count);
    if (!sensed->whole[i]) drop_parts(sensed, options, statement->when, &statement->when_count);
  }
}

static void tell(const struct sensed *sensed, struct scenario *scenario,
                 struct engine_options options) {
  make_small(sensed, scenario, options);
  struct base_buffer script = BASE_BUFFER_EMPTY, why = BASE_BUFFER_EMPTY;
  (void)judge_with(sensed, options, &why);
  for (size_t i = 0; i < scenario->input_count; i++) {
    struct input *input = &scenario->inputs[i];
    bool a = scenario_mentions(scenario, scenario->statement_count, TEXT("a%s", input->name));
    bool b = scenario_mentions(scenario, scenario->statement_count, TEXT("b%s", input->name));
    input->dropped = !a && !b;
  }
  scenario_print(&script, scenario, scenario->statement_count);
  printf("# what sensors are told, seed %llu (%s%s)\n%s%s\n", (unsigned long long)scenario->seed,
         options.rule_off ? ng_rule_info((enum ng_rule)(options.rule_off - 1))->name : "rules",
         options.rules_off || options.rule_off ? " off" : " on", base_buffer_text(&script),
         base_buffer_text(&why));
  fflush(stdout);
  base_buffer_done(&script);
  base_buffer_done(&why);
}

void judge_sensed(uint64_t seed, bool verbose, bool selftest, struct tally *tally) {
  struct base_arena *arena = base_arena_new();
  struct scenario *scenario = BASE_NEW(arena, struct scenario);
  bool whole[STATEMENTS_MAX] = {false};
  sensed_draw(scenario, arena, seed, whole);
  struct sensed sensed = {scenario, whole, selftest, tally};
  const struct engine_options configurations[] = {
      {false, (uint32_t)(seed % 2), 0},
      {true, 0, 0},
      {false, 0, 1 + NG_RULE_CONTROL_ARCS},
      {false, 0, 1 + NG_RULE_CLOCK_SAMPLES},
      {false, 0, 1 + NG_RULE_TRIGGERED_SAMPLES},
      {false, 0, 1 + NG_RULE_SELECTIONS_AT_SOURCE},
      {false, 0, 1 + NG_RULE_COUNTS_AT_SOURCE},
      {false, (uint32_t)(seed % 2), 1 + (int)(seed / 2 % NG_RULES)},
  };
  struct base_buffer out = BASE_BUFFER_EMPTY;
  bool good = true;
  for (size_t i = 0; i < sizeof configurations / sizeof *configurations && good; i++) {
    base_buffer_clear(&out);
    good = judge_with(&sensed, configurations[i], &out);
    if (good) continue;
    tally->differences++;
    tell(&sensed, scenario, configurations[i]);
  }
  for (size_t i = 0; i < scenario->statement_count; i++) {
    if (verbose) printf("%s\n", statement_text(arena, &scenario->statements[i]));
    tally->sensed += scenario->statements[i].kind == RETRIEVE;
  }
  base_buffer_done(&out);
  base_arena_free(arena);
}
