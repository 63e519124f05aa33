/* Benchmark: the queries of thesis 3.7 through the update network, against a hand-written program.
 *
 *     pde_bench [RECORDS] [RUNS]
 *
 * Makes RECORDS iteration records of two processes that take turns in falling behind, loads them into a
 * database in memory, and retrieves AOverB and Catch. What is timed is the network alone (network_us of
 * --timing: the rows come from SQLite, whose time is not counted), and, in the same run, two loops in C
 * over the same records in an array. Prints medians, the ratio, and checks that both give the same
 * number of rows and the same sums.                                                                 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "tquel/session/session.h"

struct record {
  int64_t at, iteration;
  int process;
};

struct result {
  uint64_t rows;
  int64_t length, ticks; /* of AOverB the lengths; of Catch the instants, modulo */
};

static struct record *make_records(size_t count) {
  struct record *records = base_xcalloc(count + 1, sizeof *records);
  struct base_random random = {1};
  int64_t at = 0, iteration[2] = {0, 0};
  for (size_t i = 0; i < count; i++) {
    at += 1 + (int64_t)base_random_below(&random, 20);
    /* A slow wave decides who is ahead; never by more than 5. */
    int process = (int)(base_random_below(&random, 100) < ((i >> 8 & 1) ? 60u : 40u));
    if (iteration[process] > iteration[1 - process] + 4) process = 1 - process;
    records[i] = (struct record){at, ++iteration[process], process};
  }
  return records;
}

/* --- by hand */

static void by_hand(const struct record *records, size_t count, struct result *over,
                    struct result *catches) {
  int64_t start[2] = {0, 0}, iteration[2] = {0, 0};
  bool begun[2] = {false, false};
  *over = *catches = (struct result){0};
  for (size_t i = 0; i < count; i++) {
    const struct record *record = &records[i];
    int p = record->process, other = 1 - p;
    if (begun[0] && begun[1] && iteration[0] > iteration[1] + 1) {
      int64_t from = start[0] > start[1] ? start[0] : start[1];
      if (from < record->at) {
        over->rows++;
        over->length += record->at - from;
      }
    }
    start[p] = record->at;
    iteration[p] = record->iteration;
    begun[p] = true;
    if (p == 1 && begun[other] && iteration[0] == iteration[1]) {
      catches->rows++;
      catches->ticks += record->at % 1000003;
    }
  }
}

/* --- through the network */

struct capture {
  struct result over, catches;
  bool catching;
  int64_t network_us;
};

static void on_rows(void *context, const struct tql_rows *rows) {
  struct capture *capture = context;
  struct result *result = capture->catching ? &capture->catches : &capture->over;
  *result = (struct result){.rows = rows->rows.count};
  for (size_t i = 0; i < rows->rows.count; i++) {
    const union net_slot *row = net_rows_row(&rows->rows, i);
    if (capture->catching) {
      result->ticks += row[0].i % 1000003;
    } else if (row[2].i == NET_FOREVER) {
      result->rows--; /* still open: the loops stop at the last record */
    } else {
      result->length += row[2].i - row[0].i;
    }
  }
}

static void on_timing(void *context, const char *line) {
  struct capture *capture = context;
  const char *found = strstr(line, "network_us=");
  if (found != NULL) capture->network_us = strtoll(found + strlen("network_us="), NULL, 10);
}

static void on_diag(void *context, const struct base_diag *diag) {
  (void)context;
  fprintf(stderr, "TQ-%04d: %s\n", (int)diag->number, diag->message);
}

static void run(struct tql_session *session, struct capture *capture, const char *text) {
  struct tql_output output = {.context = capture, .rows = on_rows, .timing = on_timing};
  if (tql_session_run(session, "bench", 1, text, strlen(text), &output, false) != BASE_OK) exit(1);
}

static int compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int64_t median(int64_t *values, size_t count) {
  qsort(values, count, sizeof *values, compare);
  return values[count / 2];
}

static void load(struct tql_session *session, struct capture *capture, const struct record *records,
                 size_t count) {
  char path[] = "/tmp/pde_bench_XXXXXX.csv", text[256];
  int descriptor = mkstemps(path, 4);
  FILE *file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
  if (file == NULL) exit(1);
  fprintf(file, "at,Process,IterNum\n");
  for (size_t i = 0; i < count; i++)
    fprintf(file, "%" PRId64 ",P%d,%" PRId64 "\n", records[i].at, records[i].process + 1,
            records[i].iteration);
  fclose(file);
  run(session, capture, "create traced Iteration (Process = c10, IterNum = i8) by Process");
  snprintf(text, sizeof text, "copy Iteration from \"%s\"", path);
  run(session, capture, text);
  unlink(path);
  run(session, capture, "range of A is Iteration range of B is Iteration");
}

int main(int argc, char **argv) {
  base_env_use_processor_clock();
  size_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 200000;
  size_t runs = argc > 2 ? strtoull(argv[2], NULL, 10) : 5;
  struct record *records = make_records(count);
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  diags.on_report = on_diag;
  struct tql_session_options options = {.timeline = NET_TIMELINE_ABSTRACT};
  struct tql_session *session = NULL;
  if (tql_session_open(&options, &diags, &session) != BASE_OK) return 1;
  struct capture capture = {0};
  load(session, &capture, records, count);
  int64_t *network = base_xcalloc(runs, sizeof *network), *hand = base_xcalloc(runs, sizeof *hand);
  struct result over = {0}, catches = {0};
  for (size_t i = 0; i < runs; i++) {
    capture.catching = false;
    run(session, &capture,
        "retrieve (Diff = B.IterNum - A.IterNum) where A.Process = \"P1\" and B.Process = \"P2\" "
        "and A.IterNum > B.IterNum + 1");
    network[i] = capture.network_us;
    capture.catching = true;
    run(session, &capture,
        "retrieve where A.Process = \"P1\" and B.Process = \"P2\" and A.IterNum = B.IterNum "
        "when A , B.start at B.start");
    network[i] += capture.network_us;
    int64_t began = base_env_monotonic();
    by_hand(records, count, &over, &catches);
    hand[i] = base_env_monotonic() - began;
  }
  int64_t network_us = median(network, runs), hand_ns = median(hand, runs);
  bool agree = capture.over.rows == over.rows && capture.over.length == over.length &&
               capture.catches.rows == catches.rows && capture.catches.ticks == catches.ticks;
  printf("records %zu  AOverB %" PRIu64 " rows  Catch %" PRIu64 " rows  results %s\n", count,
         over.rows, catches.rows, agree ? "agree" : "DIFFER");
  printf("network %.1f ms  by hand %.3f ms  ratio %.0f  (medians of %zu)\n",
         (double)network_us / 1e3, (double)hand_ns / 1e6,
         hand_ns > 0 ? (double)network_us * 1e3 / (double)hand_ns : 0.0, runs);
  tql_session_close(session);
  base_diag_sink_done(&diags);
  free(records);
  free(network);
  free(hand);
  return agree ? 0 : 1;
}
