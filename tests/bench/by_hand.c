/* The four questions by hand: one sweep each over arrays in order, in one thread. What one would write
 * who knows the data and the question and has the time. Every row is stored, as a program that does
 * something with it would, in a buffer that is written over and over.                               */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "tests/bench/data.h"

enum { PROCESSES = 4096, IDS = 1 << 16, SINK_ROWS = 32768 };

struct sink_row {
  int32_t a, b, c, d;
  int64_t x, y;
};

static struct sink_row sink[SINK_ROWS];
static size_t sink_count;

static inline void put(int32_t a, int32_t b, int32_t c, int64_t x, int64_t y) {
  sink[sink_count++ & (SINK_ROWS - 1)] = (struct sink_row){a, b, c, 0, x, y};
}

/* --- overlap join */

struct active {
  struct bench_period *items;
  size_t count, capacity;
};

static void add_active(struct active *list, const struct bench_period *period) {
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++)
    if (list->items[i].stop > period->start) list->items[kept++] = list->items[i];
  list->count = kept;
  base_grow(&list->items, &list->capacity, kept + 1, sizeof *list->items);
  list->items[list->count++] = *period;
}

static void meet(struct active *list, const struct bench_period *period, bool runs,
                 struct bench_sums *sums) {
  size_t kept = 0;
  for (size_t i = 0; i < list->count; i++) {
    const struct bench_period other = list->items[i];
    if (other.stop <= period->start) continue;
    list->items[kept++] = other;
    int64_t stop = other.stop < period->stop ? other.stop : period->stop;
    put(period->process, runs ? period->other : other.other, runs ? other.other : period->other,
        period->start, stop);
    sums->rows++;
    sums->length += stop - period->start;
    sums->extra += period->start % 1000003;
  }
  list->count = kept;
}

struct bench_sums bench_overlap_by_hand(const struct bench_data *data) {
  static struct active running[PROCESSES], waiting[PROCESSES];
  struct bench_sums sums = {0};
  size_t i = 0, j = 0;
  while (i < data->running_count || j < data->waiting_count) {
    bool runs = j >= data->waiting_count ||
                (i < data->running_count && data->running[i].start <= data->waiting[j].start);
    const struct bench_period *period = runs ? &data->running[i++] : &data->waiting[j++];
    add_active(runs ? &running[period->process] : &waiting[period->process], period);
    meet(runs ? &waiting[period->process] : &running[period->process], period, runs, &sums);
  }
  for (size_t p = 0; p < PROCESSES; p++) running[p].count = waiting[p].count = 0;
  return sums;
}

/* --- thesis 3.7 */

struct pair {
  int64_t start[2], covered;
  int32_t number[2];
};

static void end_overlap(struct pair *pair, int32_t number, int64_t at, struct bench_sums *sums) {
  int64_t start = pair->start[0] > pair->start[1] ? pair->start[0] : pair->start[1];
  if (!pair->number[0] || !pair->number[1] || pair->number[0] <= pair->number[1] + 1 || at <= start)
    return;
  put(number, pair->number[0], pair->number[1], start, at);
  sums->rows++;
  sums->length += at - start;
  pair->covered += at - start;
}

struct bench_sums bench_pde_by_hand(const struct bench_data *data) {
  static struct pair pairs[PROCESSES / 2];
  struct bench_sums sums = {0};
  memset(pairs, 0, sizeof pairs);
  for (size_t i = 0; i < data->iteration_count; i++) {
    const struct bench_iteration *iteration = &data->iterations[i];
    struct pair *pair = &pairs[iteration->process >> 1];
    int who = iteration->process & 1;
    end_overlap(pair, iteration->process >> 1, iteration->at, &sums);
    pair->number[who] = iteration->number;
    pair->start[who] = iteration->at;
    if (!who || pair->number[0] != pair->number[1]) continue;
    int64_t share = iteration->at ? pair->covered * 1000000 / iteration->at : 0;
    put(iteration->process >> 1, pair->number[1], 1, iteration->at, share);
    sums.extra++;
    sums.more += share;
  }
  for (int32_t k = 0; k < PROCESSES / 2; k++) end_overlap(&pairs[k], k, data->horizon, &sums);
  return sums;
}

/* --- instantaneous count per group */

struct processor {
  int64_t since, now;
  int32_t before, count;
};
struct stop {
  int64_t at;
  int32_t processor;
};

static void change(struct processor *processor, int32_t number, int64_t at, int32_t by,
                   struct bench_sums *sums) {
  if (at != processor->now) {
    if (processor->count != processor->before) {
      if (processor->before > 0) {
        put(number, processor->before, 0, processor->since, processor->now);
        sums->rows++;
        sums->length += processor->before * (processor->now - processor->since);
        sums->extra += processor->since % 1000003 * processor->before;
      }
      processor->since = processor->now;
      processor->before = processor->count;
    }
    processor->now = at;
  }
  processor->count += by;
}

static void push_stop(struct stop *heap, size_t count, struct stop stop) {
  size_t at = count;
  for (size_t above; at > 0 && heap[above = (at - 1) / 2].at > stop.at; at = above)
    heap[at] = heap[above];
  heap[at] = stop;
}

static void pop_stop(struct stop *heap, size_t count) {
  struct stop last = heap[count - 1];
  size_t at = 0;
  for (size_t below; (below = 2 * at + 1) < count - 1; at = below) {
    if (below + 1 < count - 1 && heap[below + 1].at < heap[below].at) below++;
    if (heap[below].at >= last.at) break;
    heap[at] = heap[below];
  }
  heap[at] = last;
}

struct bench_sums bench_count_by_hand(const struct bench_data *data) {
  static struct processor processors[PROCESSES];
  struct bench_sums sums = {0};
  struct stop *heap = NULL;
  size_t count = 0, capacity = 0;
  memset(processors, 0, sizeof processors);
  for (size_t i = 0; i <= data->running_count; i++) {
    int64_t at = i < data->running_count ? data->running[i].start : INT64_MAX;
    for (; count > 0 && heap[0].at <= at; count--) {
      change(&processors[heap[0].processor], heap[0].processor, heap[0].at, -1, &sums);
      pop_stop(heap, count);
    }
    if (i == data->running_count) break;
    int32_t processor = data->running[i].other;
    base_grow(&heap, &capacity, count + 1, sizeof *heap);
    push_stop(heap, count++, (struct stop){data->running[i].stop, processor});
    change(&processors[processor], processor, at, 1, &sums);
  }
  for (int32_t p = 0; p < PROCESSES; p++) change(&processors[p], p, INT64_MAX, 0, &sums);
  free(heap);
  return sums;
}

/* --- sequence */

struct bench_sums bench_sequence_by_hand(const struct bench_data *data) {
  static int64_t first[IDS], received[PROCESSES], latency[PROCESSES];
  struct bench_sums sums = {0};
  int64_t *next = base_xcalloc(data->sent_count + 1, sizeof *next);
  memset(first, 0xff, sizeof first);
  memset(received, 0, sizeof received);
  memset(latency, 0, sizeof latency);
  for (size_t i = 0, j = 0; j < data->received_count;) {
    if (i < data->sent_count && data->sent[i].at < data->received[j].at) {
      int32_t id = data->sent[i].id & (IDS - 1);
      next[i] = first[id];
      first[id] = (int64_t)i++;
      continue;
    }
    const struct bench_message *message = &data->received[j++];
    int32_t id = message->id & (IDS - 1);
    for (int64_t k = first[id]; k >= 0; k = next[k]) {
      const struct bench_message *sent = &data->sent[k];
      put(sent->from, sent->to, id, sent->at, message->at);
      sums.rows++;
      sums.length += message->at - sent->at;
      received[sent->to]++;
      latency[sent->to] += message->at - sent->at;
    }
    first[id] = -1;
  }
  for (size_t p = 0; p < PROCESSES; p++)
    if (received[p]) sums.extra += latency[p] / received[p];
  free(next);
  return sums;
}
