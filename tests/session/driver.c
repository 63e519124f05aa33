/* session-script: several seats and sources on one session, driven by a script of lines; what happens is
 * printed, a line each, for programs that compare it (tests/session, tests/messages).
 *
 *     open PATH|- abstract|real [sensor]      a session; sensor: somebody can be told what to watch
 *     seat N USER [owner] [readonly] [files] [directory=DIR]
 *     leave N | stop N                        the seat goes; its displays end
 *     run N STATEMENTS                        as typed on seat N (0 is the session's own)
 *     interrupt N                             the next run is interrupted at its N-th look whether it is
 *     may USER OPERATION RELATION
 *     turn | commit | due | clock NS | sleep MS
 *     source NAME IDENTITY [HOST] | close NAME [good]
 *     describe NAME FILE                      a description (.sdf); what follows calls its digest by FILE
 *     stream NAME SOURCE RELATION [FILE]
 *     row NAME MARKS AT VALUE...              marks: d definite, c closes, p closes all of a process, r round,
 *                                             - none; AT is T or LO..HI
 *     period NAME MARKS START STOP VALUE...   likewise; STOP may be open
 *     rows NAME COUNT AT STEP VALUE...        at AT, AT + STEP, ...; a value + is the record's number
 *     check SOURCE NAME|all TIME
 *     reject SOURCE NAME AT REASON RECORD
 *     process SOURCE PROCESS [ended]
 *     loss SOURCE PROCESS|- RELATION|- CAUSE TOTAL FROM TO
 *     filtered SOURCE NAME PROCESS COUNT FROM TO
 *     pipe SOURCE PIPE PROCESS POSITION | sequence SOURCE PIPE FIRST COUNT
 *     number SOURCE N | durable SOURCE
 *     sensors [PROCESS,RELATION,OBJECT,STATE,GENERATED,LOST,RATE,COST]...
 *     overload                                prints whose sensors may be sampled
 *     mark                                    prints "="
 *     die                                     as kill -9 would
 *
 * Values are integers, floats, true, false, or words. Watches are printed as they are told: "+" and "-".
 * Nothing is buffered. With the argument --messages, diagnostics are printed on standard error as the shell does
 * it, and the exit code is that of the first error. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "engine/filter.h"
#include "sensors/sdf/format.h"
#include "sensors/sdf/output.h"
#include "sensors/sdf/remote.h"
#include "tquel/session/source.h"

enum { PLACES = 64, WORDS = 64 };

struct seat_place {
  struct tql_seat *seat;
  int number;
};

struct named {
  char *name;
  void *thing;
  uint64_t digest;
  struct base_buffer text;
};

static struct tql_session *session;
static struct base_diag_sink diags;
static struct seat_place seats[PLACES];
static struct named sources[PLACES], streams[PLACES], descriptions[PLACES];
static char *words[WORDS];
static size_t word_count;

/* --- what is printed */

static bool as_messages;
static int exit_code;

static void put_diags(void) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < diags.count && as_messages; i++) base_diag_format(&text, &diags.items[i]);
  if (text.length > 0) fputs(text.data, stderr);
  base_buffer_done(&text);
  if (exit_code == 0) exit_code = diags.exit_code;
  for (size_t i = 0; i < diags.count && !as_messages; i++)
    printf("TQ-%04d %s\n", (int)diags.items[i].number, diags.items[i].message);
  base_diag_sink_clear(&diags);
}

static void put_rows(void *context, const struct tql_rows *rows) {
  const struct seat_place *place = context;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  struct tql_format_context format = {.format = TQL_FORMAT_CSV,
                                      .timeline = tql_session_timeline(session),
                                      .strings = tql_session_strings(session)};
  tql_format_rows(&text, &format, rows);
  for (char *line = text.data; line && *line;) {
    size_t length = strcspn(line, "\n");
    if (length > 0) printf("%d: %.*s\n", place->number, (int)length, line);
    line += length + (line[length] == '\n');
  }
  base_buffer_done(&text);
}

static void put_text(void *context, const char *text) {
  const struct seat_place *place = context;
  printf("%d: %s", place->number, text);
}

static void put_live(void *context, const char *name, const struct net_layout *layout,
                     const union net_slot *row, uint8_t marks, net_chronon checkpoint) {
  const struct seat_place *place = context;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  struct tql_format_context format = {.format = TQL_FORMAT_NDJSON,
                                      .timeline = tql_session_timeline(session),
                                      .strings = tql_session_strings(session)};
  tql_format_live_row(&text, &format, name, layout, row, marks, checkpoint);
  printf("%d> %s", place->number, base_buffer_text(&text));
  base_buffer_done(&text);
}

static struct tql_output output_of(struct seat_place *place) {
  return (struct tql_output){
      .context = place, .rows = put_rows, .text = put_text, .live = put_live};
}

/* --- the sensor */

static void put_filter(const struct net_watch *watch) {
  struct base_arena *arena = base_arena_new();
  struct base_buffer text = BASE_BUFFER_EMPTY;
  struct net_filter filter;
  BASE_CHECK(net_filter_get(arena, watch->filter, watch->filter_length, &filter), "filter");
  net_filter_print(&text, filter);
  printf(" filtered: %s", base_buffer_text(&text));
  base_buffer_done(&text);
  base_arena_free(arena);
}

static void put_watch(const char *sign, const struct net_watch *watch) {
  printf("%s %s", sign, watch->relation);
  for (uint32_t i = 0; i < watch->object_count; i++) {
    const struct net_watch_object *object = &watch->objects[i];
    printf(" %s%s%s", object->domain, object->pattern ? "~" : "=",
           object->type.base == NET_INTEGER
               ? "number"
               : base_strings_text(tql_session_strings(session), object->value.s, NULL));
  }
  if (watch->every > 0)
    printf(" every %lld from %lld", (long long)watch->every, (long long)watch->origin);
  if (watch->filter_length > 0) put_filter(watch);
  printf("%s\n", watch->starts_only ? " starts" : "");
}

static void enable(struct net_sensor *sensor, const struct net_watch *watch) {
  (void)sensor;
  put_watch("+", watch);
}

static void disable(struct net_sensor *sensor, const struct net_watch *watch) {
  (void)sensor;
  put_watch("-", watch);
}

static void sample(struct net_sensor *sensor, const struct net_watch *watch) {
  (void)sensor;
  put_watch("?", watch);
}

static const struct net_sensor_class sensor_class = {enable, disable, sample};
static struct net_sensor sensor = {&sensor_class};

/* --- names */

static void answer(const char *what, enum base_status status) {
  static const char *const texts[] = {"ok", "user", "system"};
  put_diags();
  if (status != BASE_OK)
    printf("%s: %s\n", what,
           status == BASE_AGAIN    ? "over"
           : status == BASE_CANCEL ? "cancel"
           : (size_t)status < 3    ? texts[status]
                                   : "?");
}

static void fail(const char *what) {
  fprintf(stderr, "session-script: %s\n", what);
  exit(2);
}

static const char *word(size_t index) {
  if (index >= word_count) fail("a word is missing");
  return words[index];
}

static struct named *named(struct named *all, const char *name, bool make) {
  for (size_t i = 0; i < PLACES; i++)
    if (all[i].name && strcmp(all[i].name, name) == 0) return &all[i];
  for (size_t i = 0; i < PLACES && make; i++)
    if (!all[i].name) {
      all[i].name = strdup(name);
      return &all[i];
    }
  fail("no such name, or too many");
  return NULL;
}

static size_t number_at(size_t index) {
  char *end;
  unsigned long long number = strtoull(word(index), &end, 10);
  if (end == word(index) || *end != '\0') fail("not a number");
  return (size_t)number;
}

static struct seat_place *seat_at(size_t index) {
  size_t number = number_at(index);
  if (number >= PLACES) fail("no such seat");
  seats[number].number = (int)number;
  return &seats[number];
}

static net_chronon time_of(const char *text) {
  if (strcmp(text, "forever") == 0) return NET_FOREVER;
  if (strcmp(text, "now") == 0) return base_env_now();
  return strtoll(text, NULL, 10);
}

/* --- commands */

static void open_session(void) {
  struct tql_session_options options = {
      .path = strcmp(word(1), "-") == 0 ? NULL : word(1),
      .timeline = strcmp(word(2), "real") == 0 ? NET_TIMELINE_REAL : NET_TIMELINE_ABSTRACT,
      .timeline_given = true};
  answer("open", tql_session_open(&options, &diags, &session));
  if (!session) exit(1);
  if (word_count > 3) tql_session_on_watch(session, &sensor);
}

static void add_seat(void) {
  struct seat_place *place = seat_at(1);
  struct tql_output output = output_of(place);
  struct tql_seat_options options = {.user = word(2), .displays = &output};
  for (size_t i = 3; i < word_count; i++) {
    if (strcmp(words[i], "owner") == 0) options.owner = true;
    if (strcmp(words[i], "readonly") == 0) options.readonly = true;
    if (strcmp(words[i], "files") == 0) options.files = true;
    if (strncmp(words[i], "directory=", 10) == 0) options.directory = words[i] + 10;
  }
  place->seat = tql_seat_new(session, &options);
}

static long looks_left; /* 0: nobody interrupts */

static bool is_interrupted(void *context) {
  (void)context;
  if (looks_left > 1) looks_left--;
  return looks_left == 1;
}

static void run(const char *statements) {
  struct seat_place *place = seat_at(1);
  struct tql_output output = output_of(place);
  size_t length = strlen(statements);
  answer("run", place->number == 0
                    ? tql_session_run(session, "script", 1, statements, length, &output, false)
                    : tql_seat_run(place->seat, "script", 1, statements, length, &output, false));
  base_env_interrupt_source(NULL, NULL);
  if (looks_left > 1) printf("not interrupted\n");
  looks_left = 0;
}

/* The remote description of the file, as a program would carry it. */
static void read_description(struct named *description, const char *path) {
  struct base_arena *arena = base_arena_new();
  FILE *file = fopen(path, "rb");
  if (!file) fail("no such description");
  struct base_buffer text = BASE_BUFFER_EMPTY;
  for (int c; (c = fgetc(file)) != EOF;) base_buffer_putc(&text, (char)c);
  fclose(file);
  struct base_source source = {
      .name = path, .text = base_buffer_text(&text), .length = text.length};
  struct sn_format *format = sn_format_default(arena);
  struct sn_description *read = sn_description_read(arena, &source, format, &diags);
  put_diags();
  if (!read || !sn_remote_write(&description->text, read, format, &diags)) fail("bad description");
  description->digest = sn_remote_digest(description->text.data, description->text.length);
  base_buffer_done(&text);
  base_arena_free(arena);
}

static void describe(void) {
  struct named *description = named(descriptions, word(2), true);
  if (!description->digest) read_description(description, word(2));
  answer("describe",
         tql_source_description(named(sources, word(1), false)->thing, description->digest,
                                description->text.data, description->text.length));
}

static void open_stream(void) {
  struct tql_stream *stream = NULL;
  uint64_t digest = word_count > 4 ? named(descriptions, word(4), false)->digest : 0;
  answer("stream",
         tql_source_relation(named(sources, word(2), false)->thing, word(3), digest, &stream));
  named(streams, word(1), true)->thing = stream;
}

static uint8_t marks_of(const char *text) {
  uint8_t marks = 0;
  if (strchr(text, 'd')) marks |= NET_DEFINITE;
  if (strchr(text, 'c')) marks |= NET_CLOSES;
  if (strchr(text, 'p')) marks |= NET_CLOSES | TQL_CLOSES_ALL;
  if (strchr(text, 'r')) marks |= NET_ROUND;
  return marks;
}

static void set_value(const struct net_field *field, union net_slot *slot, const char *text) {
  switch (field->type.base) {
    case NET_FLOAT:
      slot->f = strtod(text, NULL);
      break;
    case NET_STRING:
    case NET_NAME:
      slot->s = base_strings_intern_text(tql_session_string_table(session),
                                         strcmp(text, "none") == 0 ? "" : text);
      break;
    case NET_BOOL:
      slot->i = strcmp(text, "true") == 0;
      break;
    default:
      slot->i = strtoll(text, NULL, 10);
  }
}

static void set_values(const struct net_layout *layout, union net_slot *row, size_t first,
                       const char *number) {
  for (uint32_t f = 0; f < layout->field_count && first + f < word_count; f++) {
    const char *text = words[first + f];
    set_value(&layout->fields[f], row + layout->fields[f].slot,
              strcmp(text, "+") == 0 ? number : text);
  }
}

static void set_instant(union net_slot *slots, const char *text) {
  const char *dots = strstr(text, "..");
  slots[0].i = slots[1].i = time_of(text);
  if (dots) slots[1].i = time_of(dots + 2);
  if (strcmp(text, "open") == 0) {
    slots[0].i = NET_OPEN;
    slots[1].i = NET_FOREVER;
  }
}

static struct tql_stream *stream_at(size_t index) {
  struct tql_stream *stream = named(streams, word(index), false)->thing;
  if (!stream) fail("no stream");
  return stream;
}

static void one_row(bool period) {
  struct tql_stream *stream = stream_at(1);
  const struct net_layout *layout = tql_stream_layout(stream);
  union net_slot *row = calloc(layout->slot_count, sizeof *row);
  uint8_t marks = marks_of(word(2));
  set_instant(row, word(3));
  if (period) set_instant(row + 2, word(4));
  set_values(layout, row, period ? 5 : 4, "0");
  answer("row", tql_source_rows(stream, row, &marks, 1));
  free(row);
}

static void many_rows(void) {
  struct tql_stream *stream = stream_at(1);
  const struct net_layout *layout = tql_stream_layout(stream);
  size_t count = number_at(2);
  union net_slot *rows = calloc(count * layout->slot_count + 1, sizeof *rows);
  uint8_t *marks = malloc(count + 1);
  for (size_t i = 0; i < count; i++) {
    union net_slot *row = rows + i * layout->slot_count;
    char number[24];
    snprintf(number, sizeof number, "%zu", i);
    row[0].i = row[1].i = time_of(word(3)) + (int64_t)i * strtoll(word(4), NULL, 10);
    marks[i] = NET_DEFINITE;
    set_values(layout, row, 5, number);
  }
  answer("rows", tql_source_rows(stream, rows, marks, count));
  free(rows);
  free(marks);
}

static const char *unless_dash(const char *text) {
  return strcmp(text, "-") == 0 ? "" : text;
}

static void describe_sensors(void) {
  struct tql_sensor_report reports[WORDS];
  struct base_buffer out = BASE_BUFFER_EMPTY;
  for (size_t i = 1; i < word_count; i++) {
    char *at = words[i];
    for (size_t c = 0; c < TQL_SENSOR_CELLS; c++) {
      char *comma = at ? strchr(at, ',') : NULL;
      reports[i - 1].cells[c] = at ? at : "";
      if (comma) *comma = 0;
      at = comma ? comma + 1 : NULL;
    }
  }
  tql_session_describe_sensors(session, reports, word_count - 1, &out);
  printf("%s", base_buffer_text(&out));
  base_buffer_done(&out);
}

static void pass_over_overload(void *context, const char *relation, bool sampled) {
  (void)context, (void)relation, (void)sampled;
}

static void print_overload(void *context, const char *relation, bool sampled) {
  (void)context;
  printf("%s %s\n", relation, sampled ? "may be sampled" : "loses");
}

static bool is(const char *name) {
  return strcmp(words[0], name) == 0;
}

static struct tql_source *source_at(size_t index) {
  return named(sources, word(index), false)->thing;
}

static void source_command(void) {
  if (is("source")) {
    struct named *place = named(sources, word(1), true);
    answer("source", tql_source_open(session, word(2), word_count > 3 ? word(3) : "here",
                                     (struct tql_source **)&place->thing));
  } else if (is("close")) {
    struct named *place = named(sources, word(1), false);
    answer("close", tql_source_close(place->thing, word_count > 2));
    place->thing = NULL;
  } else if (is("describe")) {
    describe();
  } else if (is("check")) {
    struct tql_stream *stream = strcmp(word(2), "all") == 0 ? NULL : stream_at(2);
    answer("check", tql_source_check(source_at(1), stream, time_of(word(3))));
  } else if (is("reject")) {
    answer("reject", tql_source_reject(source_at(1), stream_at(2), time_of(word(3)), word(4),
                                       word(5), strlen(word(5))));
  } else if (is("filtered")) {
    answer("filtered",
           tql_source_filtered(source_at(1), stream_at(2), word(3), strtoull(word(4), NULL, 10),
                               time_of(word(5)), time_of(word(6))));
  } else if (is("loss")) {
    answer("loss",
           tql_source_loss(source_at(1), unless_dash(word(2)), unless_dash(word(3)), word(4),
                           strtoull(word(5), NULL, 10), time_of(word(6)), time_of(word(7))));
  } else if (is("process")) {
    tql_source_process(source_at(1), word(2), word_count <= 3);
  } else if (is("pipe")) {
    answer("pipe", tql_source_pipe(source_at(1), strtoull(word(2), NULL, 10), word(3),
                                   strtoull(word(4), NULL, 10)));
  } else if (is("sequence")) {
    uint64_t known = 0;
    answer("sequence",
           tql_source_sequence(source_at(1), strtoull(word(2), NULL, 10),
                               strtoull(word(3), NULL, 10), strtoull(word(4), NULL, 10), &known));
    printf("known %" PRIu64 "\n", known);
  } else if (is("number")) {
    tql_source_number(source_at(1), strtoull(word(2), NULL, 10));
  } else if (is("durable")) {
    printf("durable %" PRIu64 "%s\n", tql_source_durable(source_at(1)),
           tql_source_is_over(source_at(1)) ? " over" : "");
  } else {
    fail(words[0]);
  }
}

static void command(char *rest_of_run) {
  if (is("open")) {
    open_session();
  } else if (is("seat")) {
    add_seat();
  } else if (is("leave")) {
    tql_seat_free(seat_at(1)->seat);
  } else if (is("stop")) {
    tql_seat_stop_displays(seat_at(1)->seat);
  } else if (is("run")) {
    run(rest_of_run);
  } else if (is("interrupt")) {
    looks_left = strtol(word(1), NULL, 10);
    base_env_interrupt_source(is_interrupted, NULL);
  } else if (is("may")) {
    printf("%s\n", tql_session_may(session, word(1), word(2), word(3)) ? "yes" : "no");
  } else if (is("turn")) {
    answer("turn", tql_session_turn(session));
  } else if (is("commit")) {
    answer("commit", tql_session_commit(session));
  } else if (is("due")) {
    printf("due %" PRId64 "\n", tql_session_due(session));
  } else if (is("clock")) {
    base_env_set_clock(strtoll(word(1), NULL, 10));
  } else if (is("sleep")) {
    int64_t ms = strtoll(word(1), NULL, 10);
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
  } else if (is("stream")) {
    open_stream();
  } else if (is("row") || is("period")) {
    one_row(is("period"));
  } else if (is("rows")) {
    many_rows();
  } else if (is("sensors")) {
    describe_sensors();
  } else if (is("overload")) {
    tql_session_each_overload(session, false, pass_over_overload,
                              NULL); /* as the server: changes, then who comes new */
    tql_session_each_overload(session, true, print_overload, NULL);
  } else if (is("mark")) {
    printf("=\n");
  } else if (is("die")) {
    _exit(0);
  } else {
    source_command();
  }
}

int main(int argc, char **argv) {
  char *line = NULL;
  size_t capacity = 0;
  setvbuf(stdout, NULL, _IONBF, 0);
  base_diag_sink_init(&diags);
  as_messages = argc > 1 && strcmp(argv[1], "--messages") == 0;
  for (ssize_t length; (length = getline(&line, &capacity, stdin)) > 0;) {
    if (line[length - 1] == '\n') line[length - 1] = 0;
    char *copy = strdup(line), *state = NULL, *rest = line;
    word_count = 0;
    for (char *at = strtok_r(copy, " ", &state); at && word_count < WORDS;
         at = strtok_r(NULL, " ", &state))
      words[word_count++] = at;
    for (int i = 0; i < 2 && rest; i++) {
      rest = strchr(rest, ' ');
      if (rest) rest++;
    }
    if (word_count > 0 && words[0][0] != '#') command(rest ? rest : line);
    free(copy);
  }
  free(line);
  for (size_t i = 0; i < PLACES; i++)
    if (sources[i].thing) answer("close", tql_source_close(sources[i].thing, false));
  tql_session_close(session);
  put_diags();
  for (size_t i = 0; i < PLACES; i++) {
    free(sources[i].name);
    free(streams[i].name);
    free(descriptions[i].name);
    base_buffer_done(&descriptions[i].text);
  }
  base_diag_sink_done(&diags);
  return as_messages ? exit_code : 0;
}
