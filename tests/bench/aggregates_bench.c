/* Benchmark: what a change costs in an aggregate, and on what it depends.
 *
 *     aggregates_bench [--runs N] [ROWS]
 *
 * ROWS tuples (200,000), one or two chronons from each other, in three shapes: few groups of which few
 * tuples are valid at a time; a group for every four tuples; and few groups of which an eighth of all tuples
 * is valid at a time. For each function it prints the time of the network a tuple (network_us of --timing),
 * medians of N runs (5), and for the last two shapes its ratio to the first. Work that is in proportion to
 * the changes leaves a logarithm and what larger memory costs.                                      */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "tquel/session/session.h"

enum { SHAPES = 3, FEW = 16, LIVE = 64, GROUP = 4, SHARE = 8 };

static const char *const names[SHAPES] = {"Few", "Groups", "Live"};

/* FUNCTION of the relation's tuples; of events, where it says so, for each of the window's chronons. */
struct question {
  const char *name, *function, *argument;
  bool events, window;
};
static const struct question questions[] = {
    {"count", "count", "", false, false},
    {"sum", "sum", ".value", false, false},
    {"max", "max", ".value", false, false},
    {"stdev", "stdev", ".value", false, false},
    {"countu", "countu", ".value", false, false},
    {"avgc", "avgc", ".value", false, false},
    {"minc", "minc", ".value", false, false},
    {"count for each", "count", "", true, true},
    {"max for each", "max", ".value", true, true},
    {"first for each", "first", ".value", true, true},
    {"varts for each", "varts", "", true, true},
    {"extendc", "extendc", ".value", true, false},
};

static int64_t network_us;

static void on_timing(void *context, const char *line) {
  (void)context;
  const char *found = strstr(line, "network_us=");
  if (found != NULL) network_us += strtoll(found + strlen("network_us="), NULL, 10);
}

static void on_rows(void *context, const struct tql_rows *rows) {
  (void)context, (void)rows;
}

static void on_diag(void *context, const struct base_diag *diag) {
  (void)context;
  fprintf(stderr, "TQ-%04d: %s\n", (int)diag->number, diag->message);
}

static void run(struct tql_session *session, const char *text) {
  struct tql_output output = {.rows = on_rows, .timing = on_timing};
  if (tql_session_run(session, "bench", 1, text, strlen(text), &output, false) != BASE_OK) exit(1);
}

static size_t live_of(size_t shape, size_t rows) {
  return shape == 2 ? rows / SHARE : LIVE;
}

/* Periods of some length about that of so many chronons, or their starts. */
static void load(struct tql_session *session, size_t shape, size_t rows, bool events) {
  char path[] = "/tmp/aggregates_bench_XXXXXX.csv", text[256];
  struct base_random random = {shape + 1};
  size_t groups = shape == 1 ? rows / GROUP : FEW, live = live_of(shape, rows);
  int descriptor = mkstemps(path, 4);
  FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
  if (file == NULL) exit(1);
  fprintf(file, events ? "at,entity,kind,value\n" : "start,stop,entity,kind,value\n");
  int64_t now = 0;
  for (size_t i = 0; i < rows; i++) {
    now += 1 + (int64_t)base_random_below(&random, 2);
    fprintf(file, "%" PRId64, now);
    if (!events)
      fprintf(file, ",%" PRId64, now + 1 + (int64_t)base_random_below(&random, 3 * live));
    fprintf(file, ",%zu,%" PRIu64 ",%" PRIu64 "\n", i, base_random_below(&random, groups),
            base_random_below(&random, 1000));
  }
  if (fclose(file) != 0) exit(1);
  snprintf(text, sizeof text,
           "create %s %s%s (entity = i4, kind = i4, value = i4) copy %s%s from \"%s\" "
           "range of %s%s is %s%s",
           events ? "event" : "period", names[shape], events ? "E" : "P", names[shape],
           events ? "E" : "P", path, names[shape], events ? "E" : "P", names[shape],
           events ? "E" : "P");
  run(session, text);
  unlink(path);
}

static int compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static double measure(struct tql_session *session, const struct question *question, size_t shape,
                      size_t rows, size_t runs) {
  char text[256], relation[32], window[32] = "";
  int64_t *times = base_xcalloc(runs, sizeof *times);
  snprintf(relation, sizeof relation, "%s%s", names[shape], question->events ? "E" : "P");
  if (question->window)
    snprintf(window, sizeof window, " for each %zu", live_of(shape, rows) * 3 / 2);
  snprintf(text, sizeof text, "retrieve (x = %s(%s%s by %s.kind%s))", question->function, relation,
           question->argument, relation, window);
  for (size_t i = 0; i < runs; i++) {
    network_us = 0;
    run(session, text);
    times[i] = network_us;
  }
  qsort(times, runs, sizeof *times, compare);
  double time = (double)times[runs / 2] * 1e3 / (double)rows;
  free(times);
  return time;
}

int main(int argc, char **argv) {
  size_t runs = 5, rows = 200000;
  struct base_diag_sink diags;
  struct tql_session_options options = {.timeline = NET_TIMELINE_ABSTRACT};
  struct tql_session *session;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--runs") && i + 1 < argc) {
      runs = strtoull(argv[++i], NULL, 10);
    } else {
      rows = strtoull(argv[i], NULL, 10);
    }
  }
  if (runs == 0 || rows < 1000) return 2;
  base_diag_sink_init(&diags);
  diags.on_report = on_diag;
  if (tql_session_open(&options, &diags, &session) != BASE_OK) return 1;
  for (size_t shape = 0; shape < SHAPES; shape++) {
    load(session, shape, rows, false);
    load(session, shape, rows, true);
  }
  printf("%-16s %12s %12s %16s %12s %16s\n", "", "few, ns", "groups, ns", "to few", "live, ns",
         "to few");
  for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
    double time[SHAPES];
    for (size_t shape = 0; shape < SHAPES; shape++)
      time[shape] = measure(session, &questions[i], shape, rows, runs);
    printf("%-16s %12.0f %12.0f %16.1f %12.0f %16.1f\n", questions[i].name, time[0], time[1],
           time[1] / time[0], time[2], time[2] / time[0]);
    fflush(stdout);
  }
  tql_session_close(session);
  base_diag_sink_done(&diags);
  return 0;
}
