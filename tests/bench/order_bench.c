/* Benchmark: what temporal order costs where it is made once, and where each node makes it for itself.
 *
 *     order_bench [--runs N] [ROWS]
 *
 * ROWS periods (200,000), some hundred valid at a time; a view of them whose rows do not come by their starts, and
 * questions in which several nodes read them. Each is asked with the rule temporal-order off and on in turn; what is
 * printed is the time of the network (network_us of --timing), in ms, medians of N runs (5), and the median of the
 * ratios of each two. The results of both must be as many. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "tests/bench/timed.h"

enum { GROUPS = 100, STOP = 400, UNSURE = 20 };

static const char *const views =
    "range of r is %s range of q is %s "
    "define view Kinds (k = min(r.k by r.k), n = count(r by r.k)) "
    "define view Later (k = r.k, x = q.x) start r.start stop q.stop "
    "  where r.k = q.k when r ; within 200 q "
    "range of a is Kinds range of b is Kinds range of c is Kinds range of l is Later range of m is "
    "Later";

struct question {
  const char *name, *text;
  bool once; /* one node alone reads the view's rows, or all of them: no order node */
};
static const struct question questions[] = {
    {"segments, one join", "retrieve (a.k, r.x, n = a.n) where a.k = r.k and r.x < 10", true},
    {"segments, a join's two sides",
     "retrieve (a.k, kk = b.k, a.n) where a.k = b.k + 1 and a.n > b.n", false},
    {"segments, a tenth of one side",
     "retrieve (a.k, kk = b.k, a.n) where a.k = b.k + 1 and a.n > b.n and a.k < 10", true},
    {"segments, two joins",
     "retrieve (a.k, kk = b.k, c.n) where a.k = b.k + 1 and b.k = c.k + 2 and a.n > 4", false},
    {"segments, two aggregates",
     "retrieve (m = max(a.n where a.k < 50), s = sum(a.n by a.n), kk = min(a.n by a.n))", false},
    {"older starts, a join's two sides", "retrieve (l.k, m.x) where l.k = m.k and l.x + 1 = m.x",
     false},
};
enum { QUESTIONS = sizeof questions / sizeof *questions };

/* Some thousand periods a relation; of an UNSURE one a part has bounds. */
static void load(struct bench_timed *timed, const char *name, size_t rows, bool unsure) {
  char path[] = "/tmp/order_bench_XXXXXX.csv", text[1024];
  struct base_random random = {7};
  int descriptor = mkstemps(path, 4);
  FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
  if (file == NULL) exit(1);
  fprintf(file, "start_lo,start_hi,stop_lo,stop_hi,k,x\n");
  int64_t now = 0;
  for (size_t i = 0; i < rows; i++) {
    now += (int64_t)base_random_below(&random, 5);
    bool bounds = unsure && base_random_below(&random, 3) == 0;
    int64_t start = now + (bounds ? (int64_t)base_random_below(&random, UNSURE) : 0);
    int64_t stop = start + 1 + (int64_t)base_random_below(&random, STOP);
    fprintf(file, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64 "\n", now,
            start, stop, stop, base_random_below(&random, GROUPS),
            base_random_below(&random, 1000));
  }
  if (fclose(file) != 0) exit(1);
  snprintf(text, sizeof text, "create period %s (k = i4, x = i4) copy %s from \"%s\"", name, name,
           path);
  (void)bench_timed_run(timed, text, NULL);
  unlink(path);
  snprintf(text, sizeof text, views, name, name);
  (void)bench_timed_run(timed, text, NULL);
}

static double ask(struct bench_timed *timed, const char *text, bool on, size_t *ret_rows) {
  (void)bench_timed_run(timed, on ? "set rule temporal-order on" : "set rule temporal-order off",
                        NULL);
  return (double)bench_timed_run(timed, text, ret_rows) / 1e3;
}

static void measure(struct bench_timed *timed, const struct question *question, size_t runs) {
  double *times[2], *ratios = base_xcalloc(runs, sizeof *ratios);
  for (unsigned on = 0; on < 2; on++) times[on] = base_xcalloc(runs, sizeof **times);
  for (size_t i = 0; i < runs; i++) {
    size_t rows[2];
    for (unsigned on = 0; on < 2; on++) times[on][i] = ask(timed, question->text, on, &rows[on]);
    if (rows[0] != rows[1]) exit(1);
    ratios[i] = times[1][i] / times[0][i];
  }
  printf("%-36s %10.1f %10.1f %8.2f%s\n", question->name, bench_median(times[0], runs),
         bench_median(times[1], runs), bench_median(ratios, runs),
         question->once ? "  (no order node)" : "");
  fflush(stdout);
  for (unsigned on = 0; on < 2; on++) free(times[on]);
  free(ratios);
}

static void measure_all(const char *name, size_t rows, size_t runs, bool unsure) {
  struct bench_timed *timed = bench_timed_open();
  load(timed, name, rows, unsure);
  printf("%-36s %10s %10s %8s\n", unsure ? "a third with bounds" : "determinate", "off, ms",
         "on, ms", "ratio");
  for (size_t i = 0; i < QUESTIONS; i++) measure(timed, &questions[i], runs);
  bench_timed_close(timed);
}

int main(int argc, char **argv) {
  size_t runs = 5, rows = 200000;
  if (!bench_timed_options(argc, argv, &runs, &rows)) return 2;
  measure_all("Sure", rows, runs, false);
  measure_all("Unsure", rows / 4, runs, true);
  return 0;
}
