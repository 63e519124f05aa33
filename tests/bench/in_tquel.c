/* The four questions in TQuel. See in_tquel.h; the data come from CSV files, as they would. */
#include "tests/bench/in_tquel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "tquel/session/session.h"

enum { RECEIVERS = 4096 };

struct bench_tquel {
  struct tql_session *session;
  struct base_diag_sink diags;
  struct bench_sums sums; /* of the answer that is being given */
  struct bench_times times;
  void (*on_row)(struct bench_tquel *bench, const union net_slot *row);
  int64_t horizon;
  int64_t received[RECEIVERS], latency[RECEIVERS];
};

/* --- the session */

static void on_rows(void *context, const struct tql_rows *rows) {
  struct bench_tquel *bench = context;
  for (size_t i = 0; i < rows->rows.count; i++) bench->on_row(bench, net_rows_row(&rows->rows, i));
}

static int64_t figure(const char *line, const char *name) {
  const char *found = strstr(line, name);
  return found != NULL ? strtoll(found + strlen(name), NULL, 10) : 0;
}

static void on_timing(void *context, const char *line) {
  struct bench_tquel *bench = context;
  bench->times.total_us += figure(line, "total_us=");
  bench->times.load_us += figure(line, "load_us=");
  bench->times.network_us += figure(line, "network_us=");
}

static void on_diag(void *context, const struct base_diag *diag) {
  (void)context;
  fprintf(stderr, "TQ-%04d: %s\n", (int)diag->number, diag->message);
}

static void run(struct bench_tquel *bench, const char *text) {
  struct tql_output output = {.context = bench, .rows = on_rows, .timing = on_timing};
  if (tql_session_run(bench->session, "bench", 1, text, strlen(text), &output, false) != BASE_OK)
    exit(1);
}

struct bench_tquel *bench_tquel_open(const char *path) {
  struct bench_tquel *bench = base_xcalloc(1, sizeof *bench);
  base_diag_sink_init(&bench->diags);
  bench->diags.on_report = on_diag;
  struct tql_session_options options = {.path = path, .timeline = NET_TIMELINE_ABSTRACT};
  if (tql_session_open(&options, &bench->diags, &bench->session) != BASE_OK) exit(1);
  return bench;
}

void bench_tquel_close(struct bench_tquel *bench) {
  tql_session_close(bench->session);
  base_diag_sink_done(&bench->diags);
  free(bench);
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

static void copy(struct bench_tquel *bench, const struct bench_data *data, const char *relation) {
  char path[] = "/tmp/questions_bench_XXXXXX.csv", text[256];
  int descriptor = mkstemps(path, 4);
  FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
  if (file == NULL) exit(1);
  write_relation(data, file, relation);
  if (fclose(file) != 0) exit(1);
  snprintf(text, sizeof text, "copy %s from \"%s\"", relation, path);
  run(bench, text);
  unlink(path);
}

void bench_tquel_load(struct bench_tquel *bench, enum bench_question question,
                      const struct bench_data *data) {
  static const struct {
    const char *create, *relations[2];
  } needs[BENCH_QUESTIONS] = {
      [BENCH_OVERLAP] = {"create period Running (process = i4, other = i4) "
                         "create period Waiting (process = i4, other = i4)",
                         {"Running", "Waiting"}},
      [BENCH_PDE] = {"create traced Iteration (process = i4, number = i4) by process",
                     {"Iteration"}},
      [BENCH_COUNT] = {"create period Running (process = i4, other = i4)", {"Running"}},
      [BENCH_SEQUENCE] = {"create event Sent (sender = i4, receiver = i4, id = i4) "
                          "create traced Received (sender = i4, receiver = i4, id = i4) by id",
                          {"Sent", "Received"}},
  };
  bench->horizon = data->horizon;
  run(bench, needs[question].create);
  for (size_t i = 0; i < 2 && needs[question].relations[i] != NULL; i++)
    copy(bench, data, needs[question].relations[i]);
}

/* --- the questions */

/* Received is traced by the message: a period lasts from one receive of a message to the next, and the
 * first later receive of a send is where the period ends in which it lies. (set sequence closest asks for
 * something else: a receive that is nobody's nearest, and a send that is lost, have no partner there.) */
const struct bench_statements bench_statements[BENCH_QUESTIONS] = {
    [BENCH_OVERLAP] =
        {"range of R is Running range of W is Waiting",
         {"retrieve (R.process, processor = R.other, lock = W.other) where R.process = W.process"},
         ""},
    [BENCH_PDE] =
        {"range of A is Iteration range of B is Iteration set averaging origin 0 "
         "define view AOverB (pair = A.process / 2) where A.process / 2 = B.process / 2 and "
         "mod(A.process, 2) = 0 and mod(B.process, 2) = 1 and A.number > B.number + 1 "
         "range of AB is AOverB "
         "define view Over (pair = minc(AB.pair by AB.pair), share = avgc(AB by AB.pair)) "
         "range of O is Over "
         "define view Catch (pair = B.process / 2) where A.process / 2 = B.process / 2 and "
         "mod(A.process, 2) = 0 and mod(B.process, 2) = 1 and A.number = B.number "
         "when A , B.start at B.start "
         "range of C is Catch",
         {"retrieve (AB.pair)", "retrieve (C.pair)",
          "retrieve (C.pair, O.share) where C.pair = O.pair"},
         "destroy Catch, Over, AOverB"},
    [BENCH_COUNT] =
        {"range of R is Running",
         {"retrieve (processor = min(R.other by R.other), number = count(R by R.other))"},
         ""},
    [BENCH_SEQUENCE] =
        {"range of S is Sent range of V is Received",
         {"retrieve (S.receiver, S.id, latency = span(S ; V.stop)) where S.id = V.id "
          "when S , V and V.stop precede 1000000000000000 start S stop V.stop"},
         ""},
};

static void add_overlap(struct bench_tquel *bench, const union net_slot *row) {
  bench->sums.rows++;
  bench->sums.length += row[2].i - row[0].i;
  bench->sums.extra += row[0].i % 1000003;
}

/* The last periods are still open: they are counted to the horizon. */
static void add_behind(struct bench_tquel *bench, const union net_slot *row) {
  int64_t stop = row[2].i < bench->horizon ? row[2].i : bench->horizon;
  if (stop <= row[0].i) return;
  bench->sums.rows++;
  bench->sums.length += stop - row[0].i;
}

static void add_catch(struct bench_tquel *bench, const union net_slot *row) {
  (void)row;
  bench->sums.extra++;
}

/* The share at the instant itself: n0 / d0 of the temporal value behind the domain. */
static void add_share(struct bench_tquel *bench, const union net_slot *row) {
  if (row[5].f != 0) bench->sums.more += (int64_t)(row[3].f * 1e6 / row[5].f);
}

static void add_count(struct bench_tquel *bench, const union net_slot *row) {
  bench->sums.rows++;
  bench->sums.length += row[5].i * (row[2].i - row[0].i);
  bench->sums.extra += row[0].i % 1000003 * row[5].i;
}

static void add_latency(struct bench_tquel *bench, const union net_slot *row) {
  bench->sums.rows++;
  bench->sums.length += row[6].i;
  bench->received[row[4].i]++;
  bench->latency[row[4].i] += row[6].i;
}

struct bench_sums bench_tquel_ask(struct bench_tquel *bench, enum bench_question question,
                                  struct bench_times *ret) {
  static void (*const adders[BENCH_QUESTIONS][3])(struct bench_tquel *, const union net_slot *) = {
      [BENCH_OVERLAP] = {add_overlap},
      [BENCH_PDE] = {add_behind, add_catch, add_share},
      [BENCH_COUNT] = {add_count},
      [BENCH_SEQUENCE] = {add_latency}};
  const struct bench_statements *statements = &bench_statements[question];
  bench->sums = (struct bench_sums){0};
  memset(bench->received, 0, sizeof bench->received);
  memset(bench->latency, 0, sizeof bench->latency);
  run(bench, statements->before);
  bench->times = (struct bench_times){0};
  for (size_t i = 0; i < 3 && statements->retrieves[i] != NULL; i++) {
    bench->on_row = adders[question][i];
    run(bench, statements->retrieves[i]);
  }
  *ret = bench->times;
  run(bench, statements->after);
  for (size_t i = 0; i < RECEIVERS; i++)
    if (bench->received[i]) bench->sums.extra += bench->latency[i] / bench->received[i];
  return bench->sums;
}
