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
#include "tests/bench/timed.h"

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

static size_t live_of(size_t shape, size_t rows) {
  return shape == 2 ? rows / SHARE : LIVE;
}

/* Periods of some length about that of so many chronons, or their starts. */
static void load(struct bench_timed *timed, size_t shape, size_t rows, bool events) {
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
  (void)bench_timed_run(timed, text, NULL);
  unlink(path);
}

static double measure(struct bench_timed *timed, const struct question *question, size_t shape,
                      size_t rows, size_t runs) {
  char text[256], relation[32], window[32] = "";
  double *times = base_xcalloc(runs, sizeof *times);
  snprintf(relation, sizeof relation, "%s%s", names[shape], question->events ? "E" : "P");
  if (question->window)
    snprintf(window, sizeof window, " for each %zu", live_of(shape, rows) * 3 / 2);
  snprintf(text, sizeof text, "retrieve (x = %s(%s%s by %s.kind%s))", question->function, relation,
           question->argument, relation, window);
  for (size_t i = 0; i < runs; i++) times[i] = (double)bench_timed_run(timed, text, NULL);
  double time = bench_median(times, runs) * 1e3 / (double)rows;
  free(times);
  return time;
}

int main(int argc, char **argv) {
  size_t runs = 5, rows = 200000;
  if (!bench_timed_options(argc, argv, &runs, &rows)) return 2;
  struct bench_timed *timed = bench_timed_open();
  for (size_t shape = 0; shape < SHAPES; shape++) {
    load(timed, shape, rows, false);
    load(timed, shape, rows, true);
  }
  printf("%-16s %12s %12s %16s %12s %16s\n", "", "few, ns", "groups, ns", "to few", "live, ns",
         "to few");
  for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
    double time[SHAPES];
    for (size_t shape = 0; shape < SHAPES; shape++)
      time[shape] = measure(timed, &questions[i], shape, rows, runs);
    printf("%-16s %12.0f %12.0f %16.1f %12.0f %16.1f\n", questions[i].name, time[0], time[1],
           time[1] / time[0], time[2], time[2] / time[0]);
    fflush(stdout);
  }
  bench_timed_close(timed);
  return 0;
}
