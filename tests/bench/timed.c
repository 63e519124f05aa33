/* See timed.h. */
#include "tests/bench/timed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "tquel/session/session.h"

struct bench_timed {
  struct tql_session *session;
  struct base_diag_sink diags;
  int64_t network_us;
  size_t rows;
};

static void on_timing(void *context, const char *line) {
  struct bench_timed *timed = context;
  const char *found = strstr(line, "network_us=");
  if (found != NULL) timed->network_us += strtoll(found + strlen("network_us="), NULL, 10);
}

static void on_rows(void *context, const struct tql_rows *rows) {
  struct bench_timed *timed = context;
  timed->rows += rows->rows.count;
}

static void on_diag(void *context, const struct base_diag *diag) {
  (void)context;
  fprintf(stderr, "TQ-%04d: %s\n", (int)diag->number, diag->message);
}

struct bench_timed *bench_timed_open(void) {
  struct bench_timed *timed = base_xcalloc(1, sizeof *timed);
  struct tql_session_options options = {.timeline = NET_TIMELINE_ABSTRACT};
  base_diag_sink_init(&timed->diags);
  timed->diags.on_report = on_diag;
  if (tql_session_open(&options, &timed->diags, &timed->session) != BASE_OK) exit(1);
  return timed;
}

void bench_timed_close(struct bench_timed *timed) {
  tql_session_close(timed->session);
  base_diag_sink_done(&timed->diags);
  free(timed);
}

int64_t bench_timed_run(struct bench_timed *timed, const char *text, size_t *ret_rows) {
  struct tql_output output = {.context = timed, .rows = on_rows, .timing = on_timing};
  timed->network_us = 0;
  timed->rows = 0;
  if (tql_session_run(timed->session, "bench", 1, text, strlen(text), &output, false) != BASE_OK)
    exit(1);
  if (ret_rows != NULL) *ret_rows = timed->rows;
  return timed->network_us;
}

bool bench_timed_options(int argc, char **argv, size_t *runs, size_t *rows) {
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--runs") && i + 1 < argc) {
      *runs = strtoull(argv[++i], NULL, 10);
    } else {
      *rows = strtoull(argv[i], NULL, 10);
    }
  }
  return *runs > 0 && *rows >= 1000;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double bench_median(double *values, size_t count) {
  qsort(values, count, sizeof *values, compare);
  return values[count / 2];
}
