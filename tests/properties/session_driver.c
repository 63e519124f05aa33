/* session-driver: sessions for the property tests, which are written in Python.
 *
 * Reads requests from standard input and answers each on standard output. A request is one line of
 * words; `run` is followed by that many bytes of statements:
 *
 *     open PATH|- abstract|real RULES-OFF BATCH-ROWS    a session; - is in memory; 0 0 is usual
 *     run BYTES                                         statements
 *     follow MILLISECONDS                               lets the feeds run
 *     close
 *
 * The answer is a line `STATUS NUMBER RESULTS MESSAGE-BYTES`, the message, and each result as a line
 * with its length and the CSV that `--format csv` prints. STATUS is one of enum base_status (2: the
 * session failed), NUMBER that of the first error. `set` and `range of` are the caller's to repeat.
 *
 * The clock stands still. Nothing is buffered between answers, so the process may be killed.      */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "tquel/session/session.h"

#define CLOCK (INT64_C(1795172523) * 1000000000) /* 2026-11-20T11:02:03Z */

struct driver {
  struct tql_session *session;
  struct base_diag_sink diags;
  struct tql_output output;
  struct base_buffer results;
  size_t result_count;
};

static void on_rows(void *context, const struct tql_rows *rows) {
  struct driver *driver = context;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  struct tql_format_context format = {.format = TQL_FORMAT_CSV,
                                      .timeline = tql_session_timeline(driver->session),
                                      .strings = tql_session_strings(driver->session)};
  tql_format_rows(&text, &format, rows);
  base_buffer_printf(&driver->results, "%zu\n", text.length);
  base_buffer_append(&driver->results, text.data, text.length);
  driver->result_count++;
  base_buffer_done(&text);
}

static void on_text(void *context, const char *text) {
  (void)context, (void)text;
}

static void answer(struct driver *driver, enum base_status status) {
  const struct base_diag *error = NULL;
  for (size_t i = 0; i < driver->diags.count && !error; i++)
    if (driver->diags.items[i].severity == BASE_ERROR) error = &driver->diags.items[i];
  const char *message = error ? error->message : "";
  printf("%d %d %zu %zu\n%s", (int)status, error ? (int)error->number : 0, driver->result_count,
         strlen(message), message);
  fwrite(base_buffer_text(&driver->results), 1, driver->results.length, stdout);
  fflush(stdout);
  base_diag_sink_clear(&driver->diags);
  base_buffer_clear(&driver->results);
  driver->result_count = 0;
}

static enum base_status open_session(struct driver *driver, const char *path, const char *timeline,
                                     bool rules_off, unsigned batch_rows) {
  tql_session_close(driver->session);
  driver->session = NULL;
  struct tql_session_options options = {
      .path = strcmp(path, "-") == 0 ? NULL : path,
      .timeline = strcmp(timeline, "real") == 0 ? NET_TIMELINE_REAL : NET_TIMELINE_ABSTRACT,
      .timeline_given = true,
      .rules_off = rules_off,
      .batch_rows = batch_rows};
  return tql_session_open(&options, &driver->diags, &driver->session);
}

static enum base_status run(struct driver *driver, size_t length) {
  char *text = malloc(length + 1);
  if (!text || fread(text, 1, length, stdin) != length) exit(3);
  text[length] = '\0';
  enum base_status status = BASE_SYSTEM;
  if (driver->session)
    status = tql_session_run(driver->session, "driver", 1, text, length, &driver->output, false);
  free(text);
  return status;
}

int main(void) {
  struct driver driver = {.results = BASE_BUFFER_EMPTY};
  driver.output = (struct tql_output){.context = &driver, .rows = on_rows, .text = on_text};
  base_diag_sink_init(&driver.diags);
  base_env_set_clock(CLOCK);
  char *line = NULL;
  size_t capacity = 0;
  while (getline(&line, &capacity, stdin) > 0) {
    char path[4096], timeline[16];
    unsigned rules_off, batch_rows;
    size_t length;
    int milliseconds;
    enum base_status status = BASE_OK;
    if (sscanf(line, "open %4095s %15s %u %u", path, timeline, &rules_off, &batch_rows) == 4) {
      status = open_session(&driver, path, timeline, rules_off != 0, batch_rows);
    } else if (sscanf(line, "run %zu", &length) == 1) {
      status = run(&driver, length);
    } else if (sscanf(line, "follow %d", &milliseconds) == 1) {
      if (tql_session_has_feeds(driver.session))
        status = tql_session_follow(driver.session, &driver.output, milliseconds);
    } else if (strcmp(line, "close\n") == 0) {
      tql_session_close(driver.session);
      driver.session = NULL;
    } else {
      fprintf(stderr, "session-driver: what is: %s", line);
      return 1;
    }
    answer(&driver, status);
  }
  tql_session_close(driver.session);
  base_diag_sink_done(&driver.diags);
  base_buffer_done(&driver.results);
  free(line);
  return 0;
}
