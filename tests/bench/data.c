/* The data: processes work in pairs whose iteration numbers drift apart and catch up again; each process
 * runs now on this processor, now on that, and waits for locks; messages are answered by copies of
 * themselves, of which some are lost and some come twice.                                            */
#include "tests/bench/data.h"

#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"

enum { PROCESSES = 32, PROCESSORS = 8, LOCKS = 16, IDS = 4096 };

static int64_t between(struct base_random *random, int64_t low, int64_t high) {
  return low + (int64_t)base_random_below(random, (uint64_t)(high - low + 1));
}

static int by_instant(const void *a, const void *b) {
  const struct bench_iteration *x = a, *y = b;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  return x->process - y->process;
}

static int by_start(const void *a, const void *b) {
  const struct bench_period *x = a, *y = b;
  if (x->start != y->start) return x->start < y->start ? -1 : 1;
  return x->process - y->process;
}

static int by_arrival(const void *a, const void *b) {
  const struct bench_message *x = a, *y = b;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  if (x->id != y->id) return x->id - y->id;
  if (x->from != y->from) return x->from - y->from;
  return x->to - y->to;
}

/* The I-th of PARTS equal parts of SIZE. */
static size_t part(size_t size, size_t parts, size_t i) {
  return size / parts + (i < size % parts);
}

/* Who leads by 4 slows down, who falls behind by 2 speeds up. */
static size_t iterations_of_pair(struct base_random *random, int32_t pair, size_t count,
                                 struct bench_iteration *ret) {
  int64_t at[2] = {between(random, 0, 999), between(random, 0, 999)};
  int32_t number[2] = {0, 0};
  bool first_is_fast = true;
  for (size_t i = 0; i < count; i++) {
    int who = at[1] < at[0];
    ret[i] = (struct bench_iteration){2 * pair + who, ++number[who], at[who]};
    int32_t lead = number[0] - number[1];
    if (lead >= 4) first_is_fast = false;
    if (lead <= -2) first_is_fast = true;
    bool fast = first_is_fast == (who == 0);
    at[who] += between(random, 500, 1500) * (fast ? 7 : 13) / 10;
  }
  return count;
}

static void make_iterations(struct base_random *random, struct bench_data *data, size_t size) {
  data->iterations = base_xcalloc(size + 1, sizeof *data->iterations);
  for (int32_t pair = 0; pair < PROCESSES / 2; pair++)
    data->iteration_count +=
        iterations_of_pair(random, pair, part(size, PROCESSES / 2, (size_t)pair),
                           data->iterations + data->iteration_count);
  qsort(data->iterations, data->iteration_count, sizeof *data->iterations, by_instant);
  data->horizon = size ? data->iterations[size - 1].at + 1 : 0;
}

static struct bench_period *make_periods(struct base_random *random, size_t size, int others,
                                         const int64_t length[2], const int64_t gap[2]) {
  struct bench_period *periods = base_xcalloc(size + 1, sizeof *periods);
  size_t count = 0;
  for (int32_t process = 0; process < PROCESSES; process++) {
    int64_t at = between(random, 0, 1500);
    for (size_t i = part(size, PROCESSES, (size_t)process); i > 0; i--) {
      int64_t stop = at + between(random, length[0], length[1]);
      int32_t other = (int32_t)between(random, 0, others - 1);
      periods[count++] = (struct bench_period){process, other, at, stop};
      at = stop + between(random, gap[0], gap[1]);
    }
  }
  qsort(periods, count, sizeof *periods, by_start);
  return periods;
}

static void make_messages(struct base_random *random, struct bench_data *data, size_t size) {
  data->sent = base_xcalloc(size / 2 + 1, sizeof *data->sent);
  data->received = base_xcalloc(size + 1 + IDS, sizeof *data->received);
  /* What was received before: nothing was sent then, and every message has a period to begin with. */
  for (int32_t id = 0; id < IDS; id++)
    data->received[data->received_count++] = (struct bench_message){.id = id, .at = -1};
  int64_t at = 0;
  for (size_t i = 0; i < size / 2; i++) {
    at += between(random, 1, 100);
    struct bench_message message = {(int32_t)between(random, 0, PROCESSES - 1),
                                    (int32_t)between(random, 0, PROCESSES - 1), (int32_t)(i % IDS),
                                    at};
    data->sent[data->sent_count++] = message;
    int64_t fate = between(random, 0, 99);
    if (fate == 0) continue;
    message.at += between(random, 100, 5000);
    data->received[data->received_count++] = message;
    if (fate > 1) continue;
    message.at += between(random, 100, 5000);
    data->received[data->received_count++] = message;
  }
  qsort(data->received, data->received_count, sizeof *data->received, by_arrival);
}

void bench_data_make(struct bench_data *data, size_t size) {
  struct base_random random = {size};
  *data = (struct bench_data){.running_count = size, .waiting_count = size};
  make_iterations(&random, data, size);
  data->running =
      make_periods(&random, size, PROCESSORS, (int64_t[]){200, 1800}, (int64_t[]){0, 1000});
  data->waiting = make_periods(&random, size, LOCKS, (int64_t[]){50, 950}, (int64_t[]){0, 2000});
  make_messages(&random, data, size);
}

void bench_data_done(struct bench_data *data) {
  free(data->iterations);
  free(data->running);
  free(data->waiting);
  free(data->sent);
  free(data->received);
  *data = (struct bench_data){0};
}

static int by_size(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

int64_t bench_median(int64_t *times, size_t count) {
  qsort(times, count, sizeof *times, by_size);
  return times[count / 2];
}
