/* The program that is watched, and its user, instant by instant:
 *
 *      t:       the user's tuples of t
 *      t even:  the user's checkpoint t + 1 ──▶ what is watched changes
 *      t:       ends of what is not watched any more ──▶ records of t that are watched ──▶ checkpoint t + 1
 *
 * What a tuple that begins at an even instant has watched is watched from behind its earliest start on until its
 * latest stop.
 * The program makes the records that some watch asks for, and no others: of the objects that the watch names, at
 * its ticks, a sample of what a tuple of another relation asks for, when it comes to it, and ends only where somebody asks when a period ends. What is open when its object is switched off
 * ends (sensors/collect/periods.c).
 *
 * What was made is kept as the reference understands it: events and samples as they are, of a traced relation the
 * periods from a record to the entity's next one or its end.                                         */
#include <stdlib.h>
#include <string.h>

#include "engine/filter.h"
#include "engine/pattern.h"
#include "engine/watch.h"
#include "sensors/sdf/format.h"
#include "sensors/sdf/remote.h"
#include "tests/oracle/sensed.h"
#include "tquel/session/source.h"

struct program {
  struct net_sensor sensor;
  struct engine *engine;
  const struct scenario *scenario;
  struct scenario *made;
  struct sensed_counts *counts;
  const struct net_watch **watches;
  size_t watch_count, watch_capacity;
  bool running;
  bool left_out; /* what was asked about last is made, and nobody asks for its values */
  bool ends_asked[RELATIONS_MAX]; /* of traced relations: somebody asks when periods end */
  /* ... less is asked for than when something began that is still open: it may be of an entity that nobody asks for */
  bool narrowed[RELATIONS_MAX];
  /* samples that have been asked for since the program came to its sensors: of which relations and objects */
  struct net_watch *asked;
  size_t asked_count, asked_capacity;
  struct tql_source *user, *announcer;
  struct tql_stream *streams[RELATIONS_MAX];
};

/* --- being told */

static size_t input_called(const struct scenario *scenario, const char *name) {
  size_t i = 0;
  while (strcmp(scenario->inputs[i].name, name) != 0) i++;
  return i;
}

static void enable(struct net_sensor *sensor, const struct net_watch *watch) {
  struct program *program = (struct program *)sensor;
  base_grow(&program->watches, &program->watch_capacity, program->watch_count + 1,
            sizeof *program->watches);
  program->watches[program->watch_count++] = watch;
  program->counts->arcs += program->running;
  program->counts->clocks += watch->every > 0;
  program->counts->filters += watch->filter_length > 0;
  if (!watch->starts_only)
    program->ends_asked[input_called(program->scenario, watch->relation)] = true;
}

static void disable(struct net_sensor *sensor, const struct net_watch *watch) {
  struct program *program = (struct program *)sensor;
  size_t at = 0;
  while (at < program->watch_count && program->watches[at] != watch) at++;
  BASE_CHECK(at < program->watch_count, "watched-before");
  program->watches[at] = program->watches[--program->watch_count];
  program->narrowed[input_called(program->scenario, watch->relation)] = true;
}

static void sample(struct net_sensor *sensor, const struct net_watch *watch) {
  struct program *program = (struct program *)sensor;
  BASE_CHECK(watch->every == 0, "sampled-when-triggered");
  base_grow(&program->asked, &program->asked_capacity, program->asked_count + 1,
            sizeof *program->asked);
  net_watch_copy(program->engine->arena, watch, &program->asked[program->asked_count++]);
  program->counts->triggers++;
}

static const struct net_sensor_class class = {enable, disable, sample};

/* --- what is watched */

static const char *value_of(const struct input *input, const struct input_row *row,
                            const char *domain) {
  size_t i = 0;
  while (strcmp(input->domains[i].name, domain) != 0) i++;
  return row->values[i].s;
}

/* Does a record with the values of ROW pass the filter of WATCH? */
static bool passes(const struct net_watch *watch, const struct input *input,
                   const struct input_row *row) {
  struct base_arena *arena = base_arena_new();
  struct net_filter filter;
  bool good = watch->filter_length > 0;
  BASE_CHECK(!good || net_filter_get(arena, watch->filter, watch->filter_length, &filter),
             "filter-read");
  for (uint32_t c = 0; good && c < filter.count; c++) {
    bool any = false;
    for (uint32_t a = 0; a < filter.clauses[c].count; a++) {
      const struct net_filter_atom *atom = &filter.clauses[c].atoms[a];
      size_t i = 0;
      while (strcmp(input->domains[i].name, atom->domain) != 0) i++;
      bool text = input->domains[i].kind == 's';
      const char *words = text ? row->values[i].s : NULL;
      struct net_filter_value value = {.base = text ? NET_STRING : NET_INTEGER,
                                       .integer = text ? 0 : row->values[i].i,
                                       .text = words,
                                       .length = text ? (uint32_t)strlen(words) : 0};
      any = any || net_filter_holds(atom, &value);
    }
    good = any;
  }
  base_arena_free(arena);
  return good || watch->filter_length == 0;
}

static bool asks_for(struct program *program, const struct net_watch *watch,
                     const struct input *input, const struct input_row *row) {
  const struct base_strings *strings = tql_session_strings(program->engine->session);
  if (strcmp(watch->relation, input->name) != 0) return false;
  if (watch->every > 0 && (row->time[0] - watch->origin) % watch->every != 0) return false;
  for (uint32_t i = 0; i < watch->object_count; i++) {
    const struct net_watch_object *object = &watch->objects[i];
    const char *value = value_of(input, row, object->domain);
    size_t length;
    const char *text = base_strings_text(strings, object->value.s, &length);
    bool same = object->pattern ? net_pattern_match(text, length, value, strlen(value))
                                : strcmp(text, value) == 0;
    if (!same) return false;
  }
  if (program->narrowed[input - program->scenario->inputs] || passes(watch, input, row))
    return true;
  program->counts->filtered++;
  program->left_out = true;
  return false;
}

static bool is_watched(struct program *program, const struct input *input,
                       const struct input_row *row) {
  program->left_out = false;
  for (size_t i = 0; i < program->watch_count; i++)
    if (asks_for(program, program->watches[i], input, row)) return true;
  for (size_t i = 0; i < program->asked_count; i++)
    if (asks_for(program, &program->asked[i], input, row)) return true;
  return false;
}

/* --- reporting */

static bool report(struct program *program, size_t input, const struct input_row *row,
                   uint8_t marks) {
  struct tql_stream *stream = program->streams[input];
  const struct net_layout *layout = tql_stream_layout(stream);
  struct base_strings *strings = tql_session_string_table(program->engine->session);
  union net_slot *slots = base_xcalloc(layout->slot_count, sizeof *slots);
  for (uint32_t i = 0; i < layout->first_domain_slot; i++) slots[i].i = row->time[i];
  for (uint32_t i = 0; i < layout->field_count; i++) {
    union net_slot *slot = &slots[layout->fields[i].slot];
    if (program->scenario->inputs[input].domains[i].kind == 's')
      slot->s = base_strings_intern_text(strings, row->values[i].s);
    else
      slot->i = row->values[i].i;
  }
  enum base_status status = tql_source_rows(stream, slots, &marks, 1);
  free(slots);
  return status == BASE_OK;
}

static bool is_traced(const struct input *input) {
  return is_kind(input, "traced");
}

/* The row in which the period of ROW's entity is open, of what its process calls so; NULL: none is. */
static struct input_row *open_period(const struct input *input, struct input *made,
                                     const struct input_row *row) {
  for (size_t i = 0; i < made->count; i++)
    if (made->rows[i].time[2] == NET_FOREVER && input_same_key(input, &made->rows[i], row) &&
        (!input->in_process || strcmp(made->rows[i].values[0].s, row->values[0].s) == 0))
      return &made->rows[i];
  return NULL;
}

static void end_at(struct input_row *open, net_chronon time) {
  open->time[2] = open->time[3] = time;
}

static void note(const struct input *input, struct input *made, const struct input_row *row) {
  struct input_row *open = is_traced(input) ? open_period(input, made, row) : NULL;
  if (open) end_at(open, row->time[0]);
  made->rows[made->count++] = *row;
  if (is_traced(input)) end_at(&made->rows[made->count - 1], NET_FOREVER);
}

/* The end of what ROW's object has open, or ROW's entity if the object is all of its key. */
static uint8_t make_end(const struct input *input, struct input_row *row, net_chronon time) {
  row->time[0] = row->time[1] = time;
  if (input->by_count < 2) return NET_DEFINITE | NET_CLOSES;
  for (size_t i = 2; i < input->domain_count; i++) row->values[i] = (struct input_value){.s = ""};
  return NET_DEFINITE | NET_CLOSES | TQL_CLOSES_ALL;
}

/* What the program has open and nobody watches any more. */
static bool end_periods(struct program *program, size_t number, net_chronon time) {
  const struct input *input = &program->scenario->inputs[number];
  struct input *made = &program->made->inputs[number];
  for (size_t i = 0; i < made->count; i++) {
    struct input_row *row = &made->rows[i], end = *row;
    if (row->time[2] != NET_FOREVER || is_watched(program, input, row)) continue;
    end_at(row, time);
    uint8_t marks = make_end(input, &end, time);
    if (program->ends_asked[number] && !report(program, number, &end, marks)) return false;
  }
  return true;
}

/* Is anything open of the relation? Of others than traced ones nothing is. */
static bool has_open(const struct input *input, const struct input *made) {
  for (size_t i = 0; i < made->count; i++)
    if (is_traced(input) && made->rows[i].time[2] == NET_FOREVER) return true;
  return false;
}

/* Has the program done the same at the same time? Relations are sets, passes are counted: it is done once. */
static bool is_repeated(const struct input *input, size_t number) {
  const struct input_row *row = &input->rows[number];
  for (size_t i = 0; i < number; i++) {
    const struct input_row *other = &input->rows[i];
    bool same = !other->dropped && other->time[0] == row->time[0];
    for (size_t k = 0; same && k < input->domain_count; k++)
      same = input->domains[k].kind == 's' ? strcmp(other->values[k].s, row->values[k].s) == 0
                                           : other->values[k].i == row->values[k].i;
    if (same) return true;
  }
  return false;
}

/* A record of an event that was left out: it is said that there was one, and of which process. */
static bool leave_out(struct program *program, size_t number, size_t row_number) {
  const struct input *input = &program->scenario->inputs[number];
  const struct input_row *row = &input->rows[row_number];
  struct input *made = &program->made->inputs[number];
  if (!is_kind(input, "event") || is_repeated(input, row_number)) return true;
  made->rows[made->count] = *row;
  made->rows[made->count++].left_out = true;
  program->counts->counted++;
  return tql_source_filtered(program->announcer, program->streams[number], row->values[0].s, 1,
                             row->time[0], row->time[1]) == BASE_OK;
}

static bool run_program(struct program *program, net_chronon time, bool *lies) {
  for (size_t i = 0; i < program->scenario->input_count; i++) {
    const struct input *input = &program->scenario->inputs[i];
    if (!sensed_is_announced(input)) continue;
    if (is_traced(input) && !end_periods(program, i, time)) return false;
    program->narrowed[i] = program->narrowed[i] && has_open(input, &program->made->inputs[i]);
    for (size_t j = 0; j < input->count; j++) {
      const struct input_row *row = &input->rows[j];
      if (row->dropped || row->time[0] != time) continue;
      bool watched = is_watched(program, input, row);
      program->counts->withheld += !watched;
      if (!watched && program->left_out && !leave_out(program, i, j)) return false;
      if (!watched) continue;
      note(input, &program->made->inputs[i], row);
      if (*lies)
        *lies = false;
      else if (!report(program, i, row, NET_DEFINITE))
        return false;
    }
  }
  return true;
}

/* Half of the periods are reported when they begin, the others as a whole. */
static bool is_opened(const struct input *input, size_t row) {
  return is_kind(input, "period") && row % 2 == 0;
}

static bool run_user(struct program *program, net_chronon time) {
  for (size_t i = 0; i < program->scenario->input_count; i++) {
    const struct input *input = &program->scenario->inputs[i];
    if (sensed_is_announced(input)) continue;
    for (size_t j = 0; j < input->count; j++) {
      const struct input_row *row = &input->rows[j];
      uint8_t marks = row->definite ? NET_DEFINITE : 0;
      struct input_row first = *row;
      if (row->dropped) continue;
      if (is_opened(input, j)) first.time[2] = NET_OPEN, first.time[3] = NET_FOREVER;
      if (row->time[0] == time && !report(program, i, &first, marks)) return false;
      bool closes = is_opened(input, j) && row->time[2] == time;
      if (closes && !report(program, i, row, marks | NET_CLOSES)) return false;
    }
  }
  return true;
}

/* --- the session */

static bool turn(struct program *program, struct tql_source *source, net_chronon checkpoint) {
  return tql_source_check(source, NULL, checkpoint) == BASE_OK &&
         tql_session_turn(program->engine->session) == BASE_OK;
}

static bool announce(struct program *program) {
  struct engine *engine = program->engine;
  struct base_arena *arena = engine->arena;
  struct base_buffer text = BASE_BUFFER_EMPTY, remote = BASE_BUFFER_EMPTY;
  sensed_description(&text);
  struct base_source *source = BASE_NEW(arena, struct base_source);
  *source = (struct base_source){.name = "program.sdf",
                                 .text = base_arena_strdup(arena, base_buffer_text(&text)),
                                 .length = text.length};
  struct sn_format *format = sn_format_default(arena);
  struct sn_description *read = sn_description_read(arena, source, format, &engine->diags);
  bool good = read && sn_remote_write(&remote, read, format, &engine->diags);
  uint64_t digest = good ? sn_remote_digest(remote.data, remote.length) : 0;
  good = good &&
         tql_source_open(engine->session, "program", "here", &program->announcer) == BASE_OK &&
         tql_source_description(program->announcer, digest, remote.data, remote.length) == BASE_OK;
  for (size_t i = 0; i < program->scenario->input_count && good; i++) {
    const char *name = program->scenario->inputs[i].name;
    if (sensed_is_announced(&program->scenario->inputs[i]))
      good = tql_source_relation(program->announcer, name, digest, &program->streams[i]) == BASE_OK;
  }
  base_buffer_done(&text);
  base_buffer_done(&remote);
  return good;
}

static bool create(struct program *program) {
  struct engine *engine = program->engine;
  if (tql_source_open(engine->session, "user", "here", &program->user) != BASE_OK) return false;
  for (size_t i = 0; i < program->scenario->input_count; i++) {
    const struct input *input = &program->scenario->inputs[i];
    bool own = !sensed_is_announced(input);
    if (own && engine_run(engine, create_text(engine->arena, input)) != ANSWER_ROWS) return false;
    if (own && tql_source_relation(program->user, input->name, 0, &program->streams[i]) != BASE_OK)
      return false;
    if (engine_run(engine, ranges_text(engine->arena, input->name)) != ANSWER_ROWS) return false;
  }
  for (int i = 0; i < 2; i++)
    if (engine_run(engine, clock_range_text(engine->arena, program->scenario, i)) != ANSWER_ROWS)
      return false;
  return engine_run(engine, "set unbounded allowed") == ANSWER_ROWS;
}

/* A statement that does not bind is for whoever compares. */
static bool define(struct program *program) {
  for (size_t i = 0; i < program->scenario->statement_count; i++) {
    const struct statement *statement = &program->scenario->statements[i];
    if (statement->dropped) continue;
    enum answer answer = engine_define(program->engine, statement);
    if (answer == ANSWER_BROKEN) return false;
  }
  return tql_session_turn(program->engine->session) == BASE_OK;
}

static bool live(struct program *program, bool lies) {
  program->running = true;
  for (net_chronon time = 0; time <= SENSED_LAST; time++) {
    if (!run_user(program, time)) return false;
    if (time % 2 == 0 && !turn(program, program->user, time + 1)) return false;
    if (!run_program(program, time, &lies)) return false;
    program->asked_count = 0;
    if (!turn(program, program->announcer, time + 1)) return false;
  }
  return turn(program, program->user, NET_FOREVER) &&
         turn(program, program->announcer, NET_FOREVER);
}

/* It becomes known in the end. */
static bool lose(struct program *program) {
  const struct scenario *scenario = program->scenario;
  bool good = true;
  for (size_t i = 0; i < scenario->loss_count && good; i++)
    good = engine_run(program->engine, loss_text(scenario, &scenario->losses[i])) == ANSWER_ROWS;
  return good;
}

/* The same relations; traced ones are as the periods that are seen of them. */
static void begin_made(const struct scenario *scenario, struct scenario *made) {
  *made = *scenario;
  for (size_t i = 0; i < made->input_count; i++) {
    struct input *input = &made->inputs[i];
    if (!sensed_is_announced(input)) continue;
    input->count = 0;
    if (!is_traced(input)) continue;
    input->kind = "period";
    input->by_count = 0;
  }
}

bool sensed_run(struct engine *engine, struct base_strings *strings,
                const struct scenario *scenario, struct engine_options options, bool liar,
                struct scenario *made, struct sensed_counts *counts, struct base_buffer *out) {
  struct program program = {
      .sensor = {&class}, .engine = engine, .scenario = scenario, .made = made, .counts = counts};
  begin_made(scenario, made);
  bool good = engine_open(engine, engine->arena, strings, NULL, scenario, options);
  if (good) tql_session_on_watch(engine->session, &program.sensor);
  good = good && announce(&program) && create(&program) && define(&program) && live(&program, liar);
  good = good && lose(&program);
  if (!good) base_buffer_printf(out, "  the run failed: %s\n", engine_message(engine));
  program.running = false;
  if (program.user) good = tql_source_close(program.user, true) == BASE_OK && good;
  if (program.announcer) good = tql_source_close(program.announcer, true) == BASE_OK && good;
  if (engine->session) tql_session_on_watch(engine->session, NULL);
  BASE_CHECK(program.watch_count == 0, "all-switched-off");
  free(program.watches);
  free(program.asked);
  return good;
}
