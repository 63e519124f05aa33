/* A fuzz target for analysis and execution: any text, run by a session with a few small relations.
 *
 * The text runs in two sessions in memory, one with all optimiser rules, one with none and batches
 * of a single row. Whatever it is: it ends, with a status that the diagnostics bear out; the session
 * can be asked afterwards; and both sessions gave the same rows and ended alike, unless the work
 * exceeded its budget of processor time and was interrupted (rules and batch size change nothing).
 * Statements that read or write files are left out. Sessions whose texts have only asked are used again: what one has
 * left behind is then part of what is tested, and what fails is the last text, or one of the few hundred before it.
 *
 * With -DSESSION_FUZZ_MAIN it is a program that runs the files named on its command line. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "engine/base/env.h"
#include "tquel/lang/parse.h"
#include "tquel/session/session.h"

#define BUDGET_US  100000 /* processor time of one text in one session */
#define SIZE_LIMIT 2000
#define MOST_TEXTS 300 /* of one session */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ties, touching, nested and equal periods, uncertain tuples by derivation, strings, floats. */
static const char world_text[] =
    "create event EE (x = i4, s = text) create event FF (y = i8, f = f8) "
    "create period PP (n = text, k = i4) create period QQ (n = text, b = bool) "
    "create traced TT (who = text, v = i4) by who create SS (n = text, z = i2) "
    "append to EE (x = 1, s = \"a\") at 5 append to EE (x = 2, s = \"b\") at 5 "
    "append to EE (x = 0, s = \"a\") at 9 append to EE (x = -7, s = \"\") at 20 "
    "append to FF (y = 9223372036854775807, f = 0.5) at 5 append to FF (y = 3, f = -1.25) at 8 "
    "append to PP (n = \"a\", k = 1) start 2 stop 6 append to PP (n = \"a\", k = 2) start 6 stop 9 "
    "append to PP (n = \"b\", k = 1) start 3 stop 20 append to PP (n = \"c\", k = 0) start 9 "
    "append to QQ (n = \"a\", b = true) start 5 stop 9 append to QQ (n = \"c\", b = false) start 1 "
    "stop 2 append to TT (who = \"a\", v = 1) at 1 append to TT (who = \"a\", v = 2) at 7 "
    "append to TT (who = \"b\", v = 1) at 7 append to SS (n = \"a\", z = 10) "
    "range of p is PP range of q is QQ retrieve into DD (p.n, c = count(q)) set unbounded "
    "allowed\n";
static const char ranges_text[] =
    "range of e is EE range of e2 is EE range of f is FF range of p is PP range of p2 is PP "
    "range of q is QQ range of t is TT range of s is SS range of d is DD\n";

struct outcome {
  struct base_diag_sink diags;
  struct tql_session *session;
  struct tql_output output;
  struct base_buffer rows;
  enum base_status status;
  bool interrupted;
  int texts;
};
static struct outcome full, plain;

static void on_alarm(int signal) {
  (void)signal;
  base_env_interrupt();
}

static void set_alarm(long microseconds) {
  struct itimerval timer = {.it_value = {.tv_usec = microseconds}};
  setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static void on_rows(void *context, const struct tql_rows *rows) {
  struct outcome *outcome = context;
  struct tql_format_context format = {.format = TQL_FORMAT_CSV,
                                      .timeline = NET_TIMELINE_ABSTRACT,
                                      .strings = tql_session_strings(outcome->session)};
  tql_format_rows(&outcome->rows, &format, rows);
}

static void on_text(void *context, const char *text) {
  (void)context, (void)text;
}

static void check_reports(const struct outcome *outcome) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < outcome->diags.count; i++) {
    const struct base_diag *diag = &outcome->diags.items[i];
    BASE_CHECK(diag->range.first_line > 0 && diag->source != NULL, "fuzz-report-has-place");
    base_diag_format(&text, diag);
  }
  base_buffer_done(&text);
  bool errors = outcome->diags.errors > 0;
  BASE_CHECK(outcome->status == BASE_CANCEL || errors == (outcome->status != BASE_OK),
             "fuzz-errors-are-reported");
}

static void run(struct outcome *outcome, const char *text, size_t length) {
  outcome->status =
      tql_session_run(outcome->session, "fuzz", 1, text, length, &outcome->output, false);
}

static void open_session(struct outcome *outcome, bool is_plain) {
  struct tql_session_options options = {.timeline = NET_TIMELINE_ABSTRACT,
                                        .timeline_given = true,
                                        .rules_off = is_plain,
                                        .batch_rows = is_plain ? 1 : 0};
  *outcome = (struct outcome){0};
  outcome->output = (struct tql_output){.context = outcome, .rows = on_rows, .text = on_text};
  base_diag_sink_init(&outcome->diags);
  enum base_status opened = tql_session_open(&options, &outcome->diags, &outcome->session);
  BASE_CHECK(opened == BASE_OK, "fuzz-session-opens");
  run(outcome, world_text, sizeof world_text - 1);
  BASE_CHECK(outcome->status == BASE_OK, "fuzz-world");
}

static void run_in(struct outcome *outcome, bool is_plain, const char *text, size_t length) {
  base_env_clear_interrupt();
  if (outcome->session == NULL) open_session(outcome, is_plain);
  outcome->texts++;
  run(outcome, ranges_text, sizeof ranges_text - 1);
  BASE_CHECK(outcome->status == BASE_OK, "fuzz-ranges");
  base_buffer_clear(&outcome->rows);
  base_diag_sink_clear(&outcome->diags);
  set_alarm(BUDGET_US);
  run(outcome, text, length);
  set_alarm(0);
  outcome->interrupted = base_env_interrupted() || outcome->status == BASE_CANCEL;
  base_env_clear_interrupt();
  check_reports(outcome);
}

static void close_session(struct outcome *outcome) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  tql_session_describe(outcome->session, NULL, &text);
  base_buffer_done(&text);
  tql_session_close(outcome->session);
  base_buffer_done(&outcome->rows);
  base_diag_sink_done(&outcome->diags);
  *outcome = (struct outcome){0};
}

enum effect { LEFT_OUT, ASKS, CHANGES };

/* COPY reads or writes files. */
static enum effect effect_of(const struct tql_statement *statement) {
  switch (statement->kind) {
    case TQL_S_COPY:
      return LEFT_OUT;
    case TQL_S_RETRIEVE:
      return statement->name.text == NULL ? ASKS : CHANGES;
    case TQL_S_RANGE:
    case TQL_S_PRINT:
    case TQL_S_HELP:
    case TQL_S_EXPLAIN:
      return ASKS;
    default:
      return CHANGES;
  }
}

static enum effect effect_of_text(const char *text, size_t length) {
  struct base_arena *arena = base_arena_new();
  struct base_source source = {.name = "fuzz", .text = text, .length = length};
  struct base_diag_sink diags;
  size_t count = 0;
  bool ok;
  base_diag_sink_init(&diags);
  struct tql_statement **statements = tql_parse(arena, &source, 1, &diags, &count, &ok);
  enum effect effect = count == 0 ? LEFT_OUT : ASKS;
  for (size_t i = 0; i < count && effect != LEFT_OUT; i++) {
    enum effect one = effect_of(statements[i]);
    if (one != ASKS) effect = one;
  }
  base_diag_sink_done(&diags);
  base_arena_free(arena);
  return effect;
}

static void check_same(const struct outcome *a, const struct outcome *b) {
  if (a->interrupted || b->interrupted) return;
  bool same = a->status == b->status && a->rows.length == b->rows.length &&
              (a->rows.length == 0 || memcmp(a->rows.data, b->rows.data, a->rows.length) == 0);
  if (same) return;
  fprintf(stderr, "with rules (%d):\n%s\nwithout (%d):\n%s\n", a->status,
          base_buffer_text(&a->rows), b->status, base_buffer_text(&b->rows));
  BASE_CHECK(same, "fuzz-rules-change-nothing");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool ready;
  if (!ready) {
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigaction(SIGVTALRM, &action, NULL);
    base_env_set_clock(INT64_C(1763600000) * 1000000000);
    ready = true;
  }
  if (size > SIZE_LIMIT) return 0;
  char *text = base_xmalloc(size + 1);
  memcpy(text, data, size);
  text[size] = '\0';
  enum effect effect = effect_of_text(text, size);
  if (effect != LEFT_OUT) {
    run_in(&full, false, text, size);
    run_in(&plain, true, text, size);
    check_same(&full, &plain);
    if (effect == CHANGES || full.interrupted || plain.interrupted || full.texts >= MOST_TEXTS) {
      close_session(&full);
      close_session(&plain);
    }
  }
  free(text);
  return 0;
}

#ifdef SESSION_FUZZ_MAIN
static void run_file(const char *path) {
  FILE *file = fopen(path, "rb");
  uint8_t *data = NULL;
  size_t size = 0, capacity = 0, got;
  if (!file) exit(EXIT_FAILURE);
  do {
    base_grow(&data, &capacity, size + 4096, 1);
    got = fread(data + size, 1, 4096, file);
    size += got;
  } while (got > 0);
  fclose(file);
  LLVMFuzzerTestOneInput(data, size);
  free(data);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) run_file(argv[i]);
  if (full.session != NULL) {
    close_session(&full);
    close_session(&plain);
  }
  return EXIT_SUCCESS;
}
#endif
