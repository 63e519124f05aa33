/* Random input that keeps to what holds on every arc (engine/README.md), and regular input for the clock. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "tests/checkops/checkops.h"

/* What happens: a row, or the close of an earlier one, at TIME at the earliest. */
struct happening {
  net_chronon time;
  union net_slot row[ROW_SLOTS];
  uint8_t marks;
};

struct script {
  struct happening *items;
  size_t count, capacity;
  int64_t fortune; /* the longest period */
};

/* So many rows; they last long. */
enum { CROWD = 100 };

static struct base_random dice;
/* What keys are multiples of. Those of the other one share the tags of a join's groups (engine/nodes/product/old.c). */
static const uint64_t key_steps[2] = {1, UINT64_C(0x462290cc47)};
static uint64_t key_step;

static int64_t below(int64_t bound) {
  return (int64_t)base_random_below(&dice, (uint64_t)bound);
}

static bool one_in(int64_t count) {
  return count > 0 && below(count) == 0;
}

static void happens(struct script *script, struct happening happening) {
  base_grow(&script->items, &script->capacity, script->count + 1, sizeof *script->items);
  script->items[script->count++] = happening;
}

static void put_domains(const struct net_layout *layout, union net_slot *row, int64_t k,
                        int64_t x) {
  row[layout->fields[DOMAIN_K].slot].i = k;
  row[layout->fields[DOMAIN_X].slot].i = x;
  row[layout->fields[DOMAIN_Y].slot].f = (double)x / 4;
}

/* A relation is a set. */
static bool is_there(const struct script *script, const struct net_layout *layout,
                     const union net_slot *row) {
  for (size_t i = script->count; i-- > 0;)
    if (net_row_same_identity(layout, script->items[i].row, row)) return true;
  return false;
}

static struct net_instant some_instant(net_chronon time, int64_t unsure) {
  return (struct net_instant){time, one_in(unsure) ? time + 1 + below(5) : time};
}

static int64_t pick(const int64_t by_manner[MANNERS], enum manner manner) {
  return by_manner[manner];
}

static void happens_period(struct script *script, const struct net_layout *layout,
                           struct happening happening, enum manner manner) {
  int64_t unsure = pick((int64_t[]){0, 12, 3}, manner), open = pick((int64_t[]){0, 10, 3}, manner);
  union net_slot *row = happening.row;
  struct net_instant stop = some_instant(row[1].i + 1 + below(script->fortune), unsure);
  row[2].i = stop.lo;
  row[3].i = stop.hi;
  if (!one_in(open)) {
    happens(script, happening);
    return;
  }
  struct happening close = happening;
  close.time = stop.lo;
  close.marks |= NET_CLOSES;
  row[2].i = NET_OPEN;
  row[3].i = NET_FOREVER;
  if (is_there(script, layout, row)) return;
  happens(script, happening);
  if (!one_in(6)) happens(script, close); /* else it lasts for ever */
}

/* What closes at an instant comes behind what starts there. */
static int by_time(const void *a, const void *b) {
  const struct happening *x = a, *y = b;
  if (x->time != y->time) return x->time < y->time ? -1 : 1;
  return (x->marks & NET_CLOSES) - (y->marks & NET_CLOSES);
}

static void write_script(struct script *script, const struct net_layout *layout, bool records,
                         enum manner manner, size_t count) {
  int64_t keys = 1 + below(one_in(4) ? 60 : 4), values = 1 + below(6), step = 1 + below(12);
  net_chronon now = below(3) == 0 ? 0 : below(50);
  bool crowded = one_in(3);   /* at first, with many at a time */
  enum manner later = manner; /* in half of the mixed streams the first rows are plain */
  size_t plain = manner == MIXED && one_in(2) ? (size_t)below((int64_t)count + 1) : 0;
  script->fortune = crowded ? 3 * CROWD : FORTUNE_MAX;
  for (size_t i = 0; i < count; i++) {
    manner = i < plain ? PLAIN : later;
    int64_t unsure = pick((int64_t[]){0, 12, 3}, manner);
    int64_t omega = pick((int64_t[]){0, 15, 4}, manner);
    now += below(crowded && i < CROWD ? 2 : step);
    struct happening happening = {.time = now, .marks = one_in(omega) ? 0 : NET_DEFINITE};
    struct net_instant start = some_instant(now, unsure);
    happening.row[0].i = start.lo;
    happening.row[1].i = start.hi;
    put_domains(layout, happening.row, (int64_t)((uint64_t)below(keys) * key_step),
                below(values) - 2);
    if (is_there(script, layout, happening.row)) continue;
    if (layout->tuple_class == NET_PERIOD) {
      happens_period(script, layout, happening, manner);
      continue;
    }
    if (records) happening.marks = NET_DEFINITE;
    if (records && manner != PLAIN && one_in(12)) happening.marks |= NET_CLOSES;
    happens(script, happening);
  }
  if (script->count == 0) return; /* nothing was allocated, and qsort wants an array */
  qsort(script->items, script->count, sizeof *script->items, by_time);
}

static void add_row(struct stream *stream, unsigned input, const union net_slot *row,
                    uint8_t marks) {
  size_t width = stream->layouts[input]->slot_count, index = stream->counts[input]++;
  base_grow(&stream->rows[input], &stream->row_capacities[input], (index + 1) * width,
            sizeof *stream->rows[input]);
  base_grow(&stream->marks[input], &stream->mark_capacities[input], index + 1, 1);
  memcpy(stream->rows[input] + index * width, row, width * sizeof *row);
  stream->marks[input][index] = marks;
}

static void add_portion(struct stream *stream, struct portion portion) {
  base_grow(&stream->portions, &stream->portion_capacity, stream->portion_count + 1,
            sizeof *stream->portions);
  stream->portions[stream->portion_count++] = portion;
}

/* Between checkpoints rows may come in any order, but for those of one traced relation at one time. */
static void shuffle(struct happening *items, size_t count) {
  for (size_t k = 0; k + 1 < count; k++) {
    if ((items[k].marks | items[k + 1].marks) & NET_CLOSES || items[k].time == items[k + 1].time)
      continue;
    if (below(2)) continue;
    struct happening moved = items[k];
    items[k] = items[k + 1];
    items[k + 1] = moved;
  }
}

static net_chronon earliest(const struct script *script, size_t from) {
  net_chronon time = NET_FOREVER;
  for (size_t i = from; i < script->count; i++)
    if (script->items[i].time < time) time = script->items[i].time;
  return time;
}

static size_t next_portion(struct stream *stream, unsigned input, const struct script *script,
                           size_t from, net_chronon *checkpoint) {
  size_t count = (size_t)(one_in(8) ? below(60) : below(6)), first = stream->counts[input];
  if (count > script->count - from) count = script->count - from;
  for (size_t i = from; i < from + count; i++)
    add_row(stream, input, script->items[i].row, script->items[i].marks);
  net_chronon until = earliest(script, from + count);
  /* many are late */
  if (until != NET_FOREVER && until > *checkpoint && !one_in(3))
    *checkpoint = below(2) ? until : until - below(until - *checkpoint);
  add_portion(stream, (struct portion){input, first, count, *checkpoint, below(2)});
  return from + count;
}

void stream_random(struct stream *stream, uint64_t seed, enum manner manner, size_t count) {
  struct script scripts[2] = {{0}, {0}};
  size_t from[2] = {0, 0};
  net_chronon checkpoints[2] = {0, 0};
  dice = (struct base_random){seed};
  key_step = key_steps[one_in(4)];
  for (unsigned i = 0; i < 2 && stream->layouts[i] != NULL; i++)
    write_script(&scripts[i], stream->layouts[i], stream->records, manner,
                 (size_t)below((int64_t)count));
  while (from[0] < scripts[0].count || from[1] < scripts[1].count) {
    unsigned input = stream->layouts[1] != NULL && below(2) ? 1 : 0;
    if (from[input] == scripts[input].count) input = 1 - input;
    size_t rest = scripts[input].count - from[input];
    if (manner == UNSURE) shuffle(scripts[input].items + from[input], rest < 8 ? rest : 8);
    from[input] = next_portion(stream, input, &scripts[input], from[input], &checkpoints[input]);
  }
  for (unsigned i = 0; i < 2 && stream->layouts[i] != NULL; i++)
    add_portion(stream, (struct portion){i, stream->counts[i], 0, NET_FOREVER, false});
  free(scripts[0].items);
  free(scripts[1].items);
}

void stream_regular(struct stream *stream, size_t count, size_t live) {
  for (size_t i = 0; i < count; i++) {
    for (unsigned input = 0; input < 2 && stream->layouts[input] != NULL; input++) {
      const struct net_layout *layout = stream->layouts[input];
      union net_slot row[ROW_SLOTS] = {{.i = (int64_t)i}, {.i = (int64_t)i}};
      if (layout->tuple_class == NET_PERIOD) row[2].i = row[3].i = (int64_t)(i + live);
      put_domains(layout, row, (int64_t)(i % 16), (int64_t)(i * 7919 % 1000));
      add_row(stream, input, row, NET_DEFINITE);
      bool full = (i + 1) % NET_BATCH_ROWS == 0 || i + 1 == count;
      size_t first = i / NET_BATCH_ROWS * NET_BATCH_ROWS;
      if (full)
        add_portion(stream,
                    (struct portion){input, first, i + 1 - first,
                                     i + 1 == count ? NET_FOREVER : (net_chronon)i + 1, false});
    }
  }
}

void stream_done(struct stream *stream) {
  for (unsigned i = 0; i < 2; i++) {
    free(stream->rows[i]);
    free(stream->marks[i]);
  }
  free(stream->portions);
}
