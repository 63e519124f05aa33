/* Data of the benchmarks, and the programs by hand that all others are measured against.
 *
 * Everything is deterministic: the same size gives the same data. Times are chronons from 0; periods are
 * half open; every array is in the order of its start (or instant).                                  */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include <stddef.h>
#include <stdint.h>

struct bench_iteration { /* process PROCESS begins iteration NUMBER */
  int32_t process, number;
  int64_t at;
};
struct bench_period { /* PROCESS runs on processor OTHER, or waits for lock OTHER */
  int32_t process, other;
  int64_t start, stop;
};
struct bench_message {
  int32_t from, to, id;
  int64_t at;
};

struct bench_data {
  struct bench_iteration *iterations;
  struct bench_period *running, *waiting;
  struct bench_message *sent, *received;
  size_t iteration_count, running_count, waiting_count, sent_count, received_count;
  int64_t horizon; /* of the iterations: behind the last one */
};

/* SIZE iterations and periods of each kind, about SIZE / 2 messages each way; 32 processes. */
void bench_data_make(struct bench_data *data, size_t size);
void bench_data_done(struct bench_data *data);

/* What an answer is known by. */
struct bench_sums {
  int64_t rows, length, extra, more;
};

/* Overlap join: running and waiting periods of one process at once. Rows, their lengths, their starts. */
struct bench_sums bench_overlap_by_hand(const struct bench_data *data);
/* Thesis 3.7 for processes 2k (A) and 2k + 1 (B): rows and length of AOverB; Catch rows; at each the share
 * of the time since 0 that AOverB has covered, in millionths.                                        */
struct bench_sums bench_pde_by_hand(const struct bench_data *data);
/* Running processes per processor, in maximal periods of constant number > 0: rows, number times length,
 * starts times number.                                                                              */
struct bench_sums bench_count_by_hand(const struct bench_data *data);
/* For each message sent the first one received later with its id: rows, latencies; the mean per
 * receiver, rounded down.                                                                            */
struct bench_sums bench_sequence_by_hand(const struct bench_data *data);

/* The median of COUNT times, which are sorted. */
int64_t bench_median(int64_t *times, size_t count);

#endif
