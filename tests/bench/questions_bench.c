/* Benchmark: four questions through the update network, against programs by hand, in the same run, and
 * beside them in SQLite and DuckDB.
 *
 *     questions_bench [--runs N] [--only NAME] [SIZE]... [--alone [SIZE]...]
 *
 * For each SIZE (100000) makes the data (data.h), and for each question loads what it needs into a database in
 * memory, asks in TQuel, and prints, as medians of N runs (5), the time of the networks alone (network_us of
 * --timing), that of the program by hand, which has its data in arrays, and the ratio of the two; then what
 * the same question takes in SQLite and DuckDB (engines.h), in memory, loaded and indexed before, as a multiple
 * of the program by hand. All must agree on sums over all rows of the answer; the exit status says whether
 * they do. SIZEs behind --alone are asked without the others. Above a million they are asked once; what SQLite has not answered in
 * half an hour is stopped, and "over" so many times the program by hand is printed.
 *
 * All times are processor time. What is printed is a table in Markdown. Perfetto and Esper are figures from elsewhere: they were asked the same on
 * another day, on a machine of the same kind, at 10^6.                                                */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "tests/bench/in_tquel.h"

enum { SIZES_MAX = 16, OTHERS = 2 };

struct question {
  const char *name;
  struct bench_sums (*by_hand)(const struct bench_data *data);
  const char *aim, *perfetto, *esper;
};

static const struct question questions[BENCH_QUESTIONS] = {
    [BENCH_OVERLAP] = {"overlap", bench_overlap_by_hand, "3", "14", "59"},
    [BENCH_PDE] = {"pde", bench_pde_by_hand, "4", "-", "168"},
    [BENCH_COUNT] = {"count", bench_count_by_hand, "3", "205", "78"},
    [BENCH_SEQUENCE] = {"sequence", bench_sequence_by_hand, "5", "-", "159"},
};

static const struct bench_engine *const others[OTHERS] = {&bench_duckdb, &bench_sqlite};

struct options {
  size_t runs;
  const char *only;
  size_t with_others; /* so many of the sizes, the first ones */
};

/* Of one question at one size. */
struct measured {
  int64_t rows, hand_ns, network_ns,
      others_ns[OTHERS]; /* 0: it was not asked; -1: it was stopped */
  bool agree;
};

/* --- measuring */

static size_t tuples_of(enum bench_question question, const struct bench_data *data) {
  switch (question) {
    case BENCH_OVERLAP:
      return data->running_count + data->waiting_count;
    case BENCH_PDE:
      return data->iteration_count;
    case BENCH_COUNT:
      return data->running_count;
    case BENCH_SEQUENCE:
    default:
      return data->sent_count + data->received_count;
  }
}

static bool same(const char *who, struct bench_sums theirs, struct bench_sums hand) {
  if (theirs.rows == hand.rows && theirs.length == hand.length && theirs.extra == hand.extra &&
      theirs.more == hand.more)
    return true;
  printf("%s says %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 ", by hand it is %" PRId64
         " %" PRId64 " %" PRId64 " %" PRId64 "\n",
         who, theirs.rows, theirs.length, theirs.extra, theirs.more, hand.rows, hand.length,
         hand.extra, hand.more);
  return false;
}

static int64_t median_of_other(const struct bench_engine *engine, enum bench_question question,
                               const struct bench_data *data, struct bench_sums hand, size_t runs,
                               bool *agree) {
  int64_t *times = base_xcalloc(runs, sizeof *times);
  void *handle = engine->open(NULL);
  engine->load(handle, question, data);
  for (size_t i = 0; i < runs; i++) {
    int64_t began = base_env_monotonic();
    struct bench_sums sums = engine->ask(handle, question);
    times[i] = base_env_monotonic() - began;
    if (sums.rows < 0) {
      runs = 1;
      times[0] = -1;
    } else {
      *agree = same(engine->name, sums, hand) && *agree;
    }
  }
  engine->close(handle);
  int64_t median = bench_median(times, runs);
  free(times);
  return median;
}

static struct measured measure(enum bench_question question, const struct bench_data *data,
                               size_t size, bool alone, const struct options *options) {
  size_t runs = options->runs;
  int64_t *network = base_xcalloc(runs, sizeof *network), *hand = base_xcalloc(runs, sizeof *hand);
  struct measured measured = {.agree = true};
  struct bench_tquel *bench = bench_tquel_open(NULL);
  struct bench_sums by_hand = {0};
  bench_tquel_load(bench, question, data);
  for (size_t i = 0; i < runs; i++) {
    struct bench_times times;
    struct bench_sums sums = bench_tquel_ask(bench, question, &times);
    network[i] = times.network_us * 1000;
    int64_t began = base_env_monotonic();
    by_hand = questions[question].by_hand(data);
    hand[i] = base_env_monotonic() - began;
    measured.agree = same("the network", sums, by_hand) && measured.agree;
  }
  bench_tquel_close(bench);
  measured.rows = by_hand.rows + (question == BENCH_PDE ? by_hand.extra : 0);
  measured.network_ns = bench_median(network, runs);
  measured.hand_ns = bench_median(hand, runs);
  for (size_t i = 0; i < OTHERS && !alone; i++)
    if (others[i]->version() != NULL)
      measured.others_ns[i] = median_of_other(others[i], question, data, by_hand,
                                              size > 1000000 ? 1 : runs, &measured.agree);
  free(network);
  free(hand);
  return measured;
}

/* --- the table */

static void print_ratio(int64_t other, int64_t hand) {
  double ratio = (double)other / (double)hand;
  if (other == 0)
    printf(" - |");
  else if (other < 0)
    printf(" over %.0f |", BENCH_SECONDS * 1e9 / (double)hand);
  else
    printf(ratio < 9.95 ? " %.1f |" : " %.0f |", ratio);
}

static void print_title(const struct options *options) {
  printf(
      "| question | tuples | rows of the answer | by hand, ms | M tuples/s | network, ms | ratio | "
      "aim |");
  for (size_t i = 0; i < OTHERS; i++) printf(" %s |", others[i]->name);
  printf(" Perfetto* | Esper* | sums |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  for (size_t i = 0; i < OTHERS && options->with_others > 0; i++)
    if (others[i]->version() == NULL)
      fprintf(stderr, "%s is not installed%s\n", others[i]->name,
              others[i] == &bench_duckdb ? " (TQUEL_BENCH_DUCKDB: where libduckdb.so is)" : "");
}

static void print_line(enum bench_question question, size_t tuples, const struct measured *measured,
                       bool alone) {
  const struct question *it = &questions[question];
  double hand = (double)measured->hand_ns / 1e6, network = (double)measured->network_ns / 1e6;
  printf("| %s | %zu | %" PRId64 " | %.2f | %.0f | %.2f | **%.1f** | %s |", it->name, tuples,
         measured->rows, hand, (double)tuples / hand / 1e3, network, network / hand, it->aim);
  for (size_t i = 0; i < OTHERS; i++)
    if (!alone && others[i]->version() == NULL)
      printf(" not installed |");
    else
      print_ratio(measured->others_ns[i], measured->hand_ns);
  printf(" %s | %s | %s |\n", it->perfetto, it->esper, measured->agree ? "agree" : "DIFFER");
  fflush(stdout);
}

/* How the network's time grows from the first size to the last. */
static void print_growth(struct measured (*all)[BENCH_QUESTIONS], const size_t *sizes,
                         size_t count) {
  double more = (double)sizes[count - 1] / (double)sizes[0];
  if (count < 2 || more <= 1) return;
  printf(
      "\nFrom %zu to %zu tuples, that is %.0f-fold, the network's time grows (aim: at most "
      "%.0f-fold):",
      sizes[0], sizes[count - 1], more, 1.3 * more);
  for (size_t i = 0; i < BENCH_QUESTIONS; i++)
    if (all[0][i].network_ns > 0)
      printf(" %s %.0f-fold,", questions[i].name,
             (double)all[count - 1][i].network_ns / (double)all[0][i].network_ns);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf(" with at most %ld MiB resident for all of it.\n", usage.ru_maxrss / 1024);
}

static void print_legend(const struct options *options) {
  printf("\nProcessor time; each ratio is to the program by hand in the same run; medians of %zu.",
         options->runs);
  for (size_t i = 0; i < OTHERS && options->with_others > 0; i++)
    if (others[i]->version() != NULL)
      printf(" %s %s, one thread, in memory, the query alone.", others[i]->name,
             others[i]->version());
  printf(
      " * measured elsewhere, at a million: Perfetto by SPAN_JOIN, Esper kept up to date tuple by "
      "tuple.\n");
}

static bool measure_all(const size_t *sizes, size_t count, const struct options *options) {
  struct measured all[SIZES_MAX][BENCH_QUESTIONS] = {{{0}}};
  bool agree = true;
  print_title(options);
  for (size_t i = 0; i < count; i++) {
    struct bench_data data;
    bool alone = i >= options->with_others;
    bench_data_make(&data, sizes[i]);
    for (enum bench_question question = 0; question < BENCH_QUESTIONS; question++) {
      if (options->only != NULL && strcmp(options->only, questions[question].name)) continue;
      all[i][question] = measure(question, &data, sizes[i], alone, options);
      print_line(question, tuples_of(question, &data), &all[i][question], alone);
      agree = agree && all[i][question].agree;
    }
    bench_data_done(&data);
  }
  print_growth(all, sizes, count);
  print_legend(options);
  return agree;
}

int main(int argc, char **argv) {
  base_env_use_processor_clock();
  struct options options = {.runs = 5, .with_others = SIZE_MAX};
  size_t sizes[SIZES_MAX] = {100000}, count = 0;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--runs") && i + 1 < argc) {
      options.runs = strtoull(argv[++i], NULL, 10);
    } else if (!strcmp(argv[i], "--only") && i + 1 < argc) {
      options.only = argv[++i];
    } else if (!strcmp(argv[i], "--alone")) {
      options.with_others = count;
    } else if (argv[i][0] >= '1' && argv[i][0] <= '9' && count < SIZES_MAX) {
      sizes[count++] = strtoull(argv[i], NULL, 10);
    } else {
      fprintf(stderr,
              "usage: questions_bench [--runs N] [--only NAME] [SIZE]... [--alone [SIZE]...]\n");
      return 2;
    }
  }
  if (options.runs == 0) options.runs = 1;
  return measure_all(sizes, count ? count : 1, &options) ? 0 : 1;
}
