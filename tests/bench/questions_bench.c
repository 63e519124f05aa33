/* Benchmark: four questions through the update network, against programs by hand, in the same run.
 *
 *     questions_bench [--runs N] [SIZE]...
 *
 * For each SIZE (100000) makes the data (data.h), loads them into a database in memory, asks each
 * question in TQuel, and prints, as medians of N runs (5), the time of the networks alone (network_us of
 * --timing), that of the program by hand, which has its data in arrays, and the ratio of the two. That
 * both gave the same answer is checked by sums over all rows.                                        */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "tests/bench/data.h"
#include "tquel/session/session.h"

struct bench {
  struct tql_session *session;
  struct bench_data data;
  struct bench_sums sums; /* of the answer that is being given */
  void (*on_row)(struct bench *bench, const union net_slot *row);
  int64_t network_us;
};

struct question {
  const char *name;
  struct bench_sums (*by_hand)(const struct bench_data *data);
  void (*ask)(struct bench *bench);
};

/* --- the session */

static void on_rows(void *context, const struct tql_rows *rows) {
  struct bench *bench = context;
  for (size_t i = 0; i < rows->rows.count; i++) bench->on_row(bench, net_rows_row(&rows->rows, i));
}

static void on_timing(void *context, const char *line) {
  struct bench *bench = context;
  const char *found = strstr(line, "network_us=");
  if (found != NULL) bench->network_us += strtoll(found + strlen("network_us="), NULL, 10);
}

static void on_diag(void *context, const struct base_diag *diag) {
  (void)context;
  fprintf(stderr, "TQ-%04d: %s\n", (int)diag->number, diag->message);
}

static void run(struct bench *bench, const char *text) {
  struct tql_output output = {.context = bench, .rows = on_rows, .timing = on_timing};
  if (tql_session_run(bench->session, "bench", 1, text, strlen(text), &output, false) != BASE_OK)
    exit(1);
}

static void retrieve(struct bench *bench, void (*on_row)(struct bench *, const union net_slot *),
                     const char *text) {
  bench->on_row = on_row;
  run(bench, text);
}

/* --- loading */

static void write_periods(FILE *file, const struct bench_period *periods, size_t count) {
  fprintf(file, "start,stop,process,other\n");
  for (size_t i = 0; i < count; i++)
    fprintf(file, "%" PRId64 ",%" PRId64 ",%d,%d\n", periods[i].start, periods[i].stop,
            periods[i].process, periods[i].other);
}

static void write_messages(FILE *file, const struct bench_message *messages, size_t count) {
  fprintf(file, "at,sender,receiver,id\n");
  for (size_t i = 0; i < count; i++)
    fprintf(file, "%" PRId64 ",%d,%d,%d\n", messages[i].at, messages[i].from, messages[i].to,
            messages[i].id);
}

static void write_relation(const struct bench_data *data, FILE *file, const char *relation) {
  if (!strcmp(relation, "Running")) {
    write_periods(file, data->running, data->running_count);
  } else if (!strcmp(relation, "Waiting")) {
    write_periods(file, data->waiting, data->waiting_count);
  } else if (!strcmp(relation, "Sent")) {
    write_messages(file, data->sent, data->sent_count);
  } else if (!strcmp(relation, "Received")) {
    write_messages(file, data->received, data->received_count);
  } else {
    fprintf(file, "at,process,number\n");
    for (size_t i = 0; i < data->iteration_count; i++)
      fprintf(file, "%" PRId64 ",%d,%d\n", data->iterations[i].at, data->iterations[i].process,
              data->iterations[i].number);
  }
}

static void load_relation(struct bench *bench, const char *relation) {
  char path[] = "/tmp/questions_bench_XXXXXX.csv", text[256];
  int descriptor = mkstemps(path, 4);
  FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
  if (file == NULL) exit(1);
  write_relation(&bench->data, file, relation);
  if (fclose(file) != 0) exit(1);
  snprintf(text, sizeof text, "copy %s from \"%s\"", relation, path);
  run(bench, text);
  unlink(path);
}

static void load(struct bench *bench) {
  static const char *const relations[] = {"Running", "Waiting", "Sent", "Received", "Iteration"};
  run(bench,
      "create period Running (process = i4, other = i4) "
      "create period Waiting (process = i4, other = i4) "
      "create event Sent (sender = i4, receiver = i4, id = i4) "
      "create traced Received (sender = i4, receiver = i4, id = i4) by id "
      "create traced Iteration (process = i4, number = i4) by process");
  for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++)
    load_relation(bench, relations[i]);
  run(bench,
      "range of R is Running range of W is Waiting range of S is Sent range of V is Received "
      "range of A is Iteration range of B is Iteration");
}

/* --- the questions */

static void add_overlap(struct bench *bench, const union net_slot *row) {
  bench->sums.rows++;
  bench->sums.length += row[2].i - row[0].i;
  bench->sums.extra += row[0].i % 1000003;
}

static void ask_overlap(struct bench *bench) {
  retrieve(bench, add_overlap,
           "retrieve (R.process, processor = R.other, lock = W.other) where R.process = W.process");
}

/* The last periods are still open: they are counted to the horizon. */
static void add_behind(struct bench *bench, const union net_slot *row) {
  int64_t stop = row[2].i < bench->data.horizon ? row[2].i : bench->data.horizon;
  if (stop <= row[0].i) return;
  bench->sums.rows++;
  bench->sums.length += stop - row[0].i;
}
static void add_catch(struct bench *bench, const union net_slot *row) {
  (void)row;
  bench->sums.extra++;
}
/* The share at the instant itself: n0 / d0 of the temporal value behind the domain. */
static void add_share(struct bench *bench, const union net_slot *row) {
  if (row[5].f != 0) bench->sums.more += (int64_t)(row[3].f * 1e6 / row[5].f);
}

static void ask_pde(struct bench *bench) {
  run(bench,
      "set averaging origin 0 "
      "define view AOverB (pair = A.process / 2) where A.process / 2 = B.process / 2 and "
      "mod(A.process, 2) = 0 and mod(B.process, 2) = 1 and A.number > B.number + 1 "
      "range of AB is AOverB "
      "define view Over (pair = minc(AB.pair by AB.pair), share = avgc(AB by AB.pair)) "
      "range of O is Over "
      "define view Catch (pair = B.process / 2) where A.process / 2 = B.process / 2 and "
      "mod(A.process, 2) = 0 and mod(B.process, 2) = 1 and A.number = B.number "
      "when A , B.start at B.start "
      "range of C is Catch");
  retrieve(bench, add_behind, "retrieve (AB.pair)");
  retrieve(bench, add_catch, "retrieve (C.pair)");
  retrieve(bench, add_share, "retrieve (C.pair, O.share) where C.pair = O.pair");
  run(bench, "destroy Catch, Over, AOverB");
}

static void add_count(struct bench *bench, const union net_slot *row) {
  bench->sums.rows++;
  bench->sums.length += row[5].i * (row[2].i - row[0].i);
  bench->sums.extra += row[0].i % 1000003 * row[5].i;
}

static void ask_count(struct bench *bench) {
  retrieve(bench, add_count,
           "retrieve (processor = min(R.other by R.other), number = count(R by R.other))");
}

struct means {
  int64_t received[4096], latency[4096];
};
static struct means means;

static void add_latency(struct bench *bench, const union net_slot *row) {
  bench->sums.rows++;
  bench->sums.length += row[6].i;
  means.received[row[4].i]++;
  means.latency[row[4].i] += row[6].i;
}

/* Received is traced by the message: a period lasts from one receive of a message to the next, and the
 * first later receive of a send is where the period ends in which it lies. (set sequence closest asks for
 * something else: a receive that is nobody's nearest, and a send that is lost, have no partner there.) */
static void ask_sequence(struct bench *bench) {
  memset(&means, 0, sizeof means);
  retrieve(bench, add_latency,
           "retrieve (S.receiver, S.id, latency = span(S ; V.stop)) where S.id = V.id "
           "when S , V and V.stop precede 1000000000000000 start S stop V.stop");
  for (size_t i = 0; i < sizeof means.received / sizeof means.received[0]; i++)
    if (means.received[i]) bench->sums.extra += means.latency[i] / means.received[i];
}

static const struct question questions[] = {
    {"overlap", bench_overlap_by_hand, ask_overlap},
    {"pde", bench_pde_by_hand, ask_pde},
    {"count", bench_count_by_hand, ask_count},
    {"sequence", bench_sequence_by_hand, ask_sequence},
};

/* --- measuring */

static int compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int64_t median(int64_t *values, size_t count) {
  qsort(values, count, sizeof *values, compare);
  return values[count / 2];
}

static bool same(struct bench_sums a, struct bench_sums b) {
  return a.rows == b.rows && a.length == b.length && a.extra == b.extra && a.more == b.more;
}

static bool measure(struct bench *bench, const struct question *question, size_t size,
                    size_t runs) {
  int64_t *network = base_xcalloc(runs, sizeof *network), *hand = base_xcalloc(runs, sizeof *hand);
  struct bench_sums sums = {0};
  bool agree = true;
  for (size_t i = 0; i < runs; i++) {
    bench->network_us = 0;
    bench->sums = (struct bench_sums){0};
    question->ask(bench);
    network[i] = bench->network_us;
    int64_t began = base_env_monotonic();
    sums = question->by_hand(&bench->data);
    hand[i] = base_env_monotonic() - began;
    agree = agree && same(bench->sums, sums);
  }
  double network_ms = (double)median(network, runs) / 1e3, hand_ms = (double)median(hand, runs) / 1e6;
  printf("%-9s %9zu  %10" PRId64 " rows  network %10.2f ms  by hand %9.3f ms  ratio %7.1f  %s\n",
         question->name, size, sums.rows, network_ms, hand_ms, network_ms / hand_ms,
         agree ? "agree" : "DIFFER");
  if (!agree)
    printf("  network %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n  by hand %" PRId64
           " %" PRId64 " %" PRId64 " %" PRId64 "\n",
           bench->sums.rows, bench->sums.length, bench->sums.extra, bench->sums.more, sums.rows,
           sums.length, sums.extra, sums.more);
  fflush(stdout);
  free(network);
  free(hand);
  return agree;
}

static bool measure_size(size_t size, size_t runs, const char *only) {
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  diags.on_report = on_diag;
  struct tql_session_options options = {.timeline = NET_TIMELINE_ABSTRACT};
  struct bench bench = {0};
  bool agree = true;
  if (tql_session_open(&options, &diags, &bench.session) != BASE_OK) return false;
  bench_data_make(&bench.data, size);
  load(&bench);
  for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++)
    if (only == NULL || !strcmp(only, questions[i].name))
      agree = measure(&bench, &questions[i], size, runs) && agree;
  tql_session_close(bench.session);
  base_diag_sink_done(&diags);
  bench_data_done(&bench.data);
  return agree;
}

int main(int argc, char **argv) {
  size_t runs = 5, sizes = 0;
  const char *only = NULL;
  bool agree = true;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--runs") && i + 1 < argc) {
      runs = strtoull(argv[++i], NULL, 10);
    } else if (!strcmp(argv[i], "--only") && i + 1 < argc) {
      only = argv[++i];
    } else {
      agree = measure_size(strtoull(argv[i], NULL, 10), runs, only) && agree;
      sizes++;
    }
  }
  if (sizes == 0) agree = measure_size(100000, runs, only);
  return agree ? 0 : 1;
}
