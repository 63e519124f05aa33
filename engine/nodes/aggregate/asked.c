/* Values at the instants of a join's rows alone (netgen/rules/aggregates_at_events.c).
 *
 *     rows ──▶ aggregate ┄┄▶ projections ┄┄▶ ┌──────┐
 *                  └──────── answers ──────▶ │ join │ ──▶ out
 *     events ──────────────────────────────▶ └──────┘
 *
 * Where nobody but an equality join on its groups sees the segments of an aggregate, and that only at instants,
 * the join asks it for the value at each of its events instead: no segments are made, sent, sorted, kept,
 * or met. Rows and events of both are taken in the order of time, as far as both checkpoints go: at an event's
 * instant all that starts or stops then has done so. What comes out is, to the bit, what join and segments
 * give: where the value is a function of time it is told of the start of the segment.
 *
 * A group goes by itself: its stops wait with it, and are looked at when one of its rows or events comes. So a
 * row costs one look-up. That is enough for tuples that never go (NET_AGG_STAY) and for avgc of integers
 * (NET_AGG_WEIGH), of plain rows, whose value is there for sure. When something else comes, or may not go
 * this way, the groups of the aggregate become what they would be (hand_over), and both nodes go on as others
 * do, without answers.                                                                               */
#include "engine/nodes/aggregate/asked.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/binary_heap.h"
#include "engine/nodes/aggregate/aggregate.h"
#include "engine/nodes/product/product.h"

/* The sum of weights of a group has room in a word, and its integral in two. */
#define LARGEST_WEIGHT ((int64_t)1 << 31)

#define NO_WEIGHT INT64_MIN

/* A weight that goes. */
struct stop {
  net_chronon time;
  int64_t weight;
};

/* How it was with a group once: when all changes up to NOW, not later, were made. */
struct moment {
  net_chronon now;
  int64_t weight; /* from then on; NO_WEIGHT: there has been none */
  net_wide integral;
};

/* A group of the aggregate, at its index there. Of tuples that stay the time alone is used. */
struct group {
  struct moment moments[2]; /* now, and when the segment began */
  size_t which;             /* now */
  struct stop next;         /* the earliest stop; forever: none */
  struct stop *later;       /* the others, a heap */
  size_t later_count, later_capacity;
  uint64_t count;           /* tuples that came */
  bool told;                /* ANSWER is */
  union net_slot answer[6]; /* the segment's start, as an instant; the value */
};

/* Plain rows that wait. */
struct queue {
  union net_slot *rows;
  size_t head, count, capacity; /* in rows; HEAD .. COUNT - 1 wait */
  uint32_t width;
};

struct net_asked {
  struct net_aggregate *aggregate;
  struct net_product *join;
  bool active;
  bool begun; /* the first row has come */
  unsigned event_port;
  struct queue queues[2];
  net_chronon checkpoints[2];
  struct group *groups;
  size_t group_count, group_capacity;
  uint32_t *keys;          /* slots of events, for each by field */
  union net_slot *key_row; /* scratch, as a row of the aggregate's input */
  struct net_product_slot
      *slots; /* where those of a result behind the instant come from: 0 the event */
  uint32_t slot_count;
  uint8_t *marks; /* of rows that are handed over */
};

/* --- stops of a group */

static bool is_sooner(const struct stop *a, const struct stop *b, const void *context) {
  (void)context;
  return a->time < b->time;
}
BASE_BINARY_HEAP(stops, struct stop, is_sooner);

static void push_later(struct group *group, struct stop stop) {
  base_grow(&group->later, &group->later_capacity, group->later_count + 1, sizeof *group->later);
  stops_up(group->later, group->later_count++, stop, NULL);
}

static inline void push_stop(struct group *group, struct stop stop) {
  if (stop.time >= group->next.time) {
    push_later(group, stop);
    return;
  }
  if (group->next.time != NET_FOREVER) push_later(group, group->next);
  group->next = stop;
}

static struct stop pop_later(struct group *group) {
  struct stop top = group->later[0];
  size_t count = --group->later_count;
  stops_down(group->later, count, 0, group->later[count], NULL);
  return top;
}

static inline void pop_stop(struct group *group) {
  if (group->later_count > 0) {
    group->next = pop_later(group);
  } else {
    group->next.time = NET_FOREVER;
  }
}

/* --- averages: see value.c, of whole sums */

/* When NOW begins, all changes of the group's last instant are made; where they have changed the weight, that is
 * where a segment began. What was is not copied: what is goes into its place. */
static inline struct moment *come_to(struct group *group, net_chronon now) {
  const struct moment *last = &group->moments[group->which];
  bool begins = (now > last->now) & (last->weight != group->moments[group->which ^ 1].weight);
  uint64_t span = (uint64_t)now - (uint64_t)last->now;
  group->which ^= begins;
  group->told &= !begins;
  struct moment *moment = &group->moments[group->which];
  net_wide integral = last->integral + (net_wide)last->weight * (net_wide)span;
  moment->weight = last->weight;
  moment->integral = integral;
  moment->now = now;
  return moment;
}

/* All changes of the group's last instant are made. */
static inline void look(struct group *group) {
  const struct moment *moment = &group->moments[group->which];
  struct moment *then = &group->moments[group->which ^ 1];
  if (moment->weight == then->weight) return;
  *then = *moment;
  group->told = false;
}

/* The stops up to NOW, which is not forever. */
static inline void stop_until(struct group *group, net_chronon now) {
  while (group->next.time <= now) {
    come_to(group, group->next.time)->weight -= group->next.weight;
    pop_stop(group);
  }
}

/* Mostly one period of a group has ended when the next begins, perhaps just now: nothing hangs on which. */
static inline void weigh(struct group *group, const union net_slot *row, int64_t weight) {
  net_chronon now = row[0].i;
  stop_until(group, now);
  come_to(group, now)->weight += weight;
  group->count++;
  if (row[2].i != NET_FOREVER) push_stop(group, (struct stop){row[2].i, weight});
}

/* The group of the aggregate gets what GROUP says of its segment, and its value. */
static bool tell_segment(struct net_aggregate *node, struct group *group, uint32_t index) {
  struct net_agg_value value;
  struct net_agg_group *of = net_agg_group(node, index);
  bool has = false;
  of->sure = (int64_t)group->count;
  if (node->present_at != 0) net_agg_present(node, of)[NET_TRUE - 1] = of->sure;
  const struct moment *then = &group->moments[group->which ^ 1];
  of->tally.whole_integral = then->integral;
  of->tally.whole_weight = then->weight;
  enum net_eval_error error = net_agg_tell(node, of, then->now, &value, &has);
  BASE_CHECK(error == NET_EVAL_OK && has, "asked-average");
  group->answer[0].i = group->answer[1].i = then->now;
  memcpy(group->answer + 2, &value, sizeof value);
  group->told = true;
  return true;
}

/* --- rows */

static struct group *make_group(struct net_asked *asked, uint32_t index, net_chronon now) {
  base_grow(&asked->groups, &asked->group_capacity, (size_t)index + 1, sizeof *asked->groups);
  while (asked->group_count <= index)
    asked->groups[asked->group_count++] =
        (struct group){.next.time = NET_FOREVER, .moments = {{.now = now}, {.weight = NO_WEIGHT}}};
  return &asked->groups[index];
}

static inline void take_row(struct net_asked *asked, const union net_slot *row) {
  struct net_aggregate *node = asked->aggregate;
  bool fresh;
  if (node->way == NET_AGG_WEIGH) {
    uint32_t index = net_agg_find_group(node, row, &fresh);
    struct group *group =
        index < asked->group_count ? &asked->groups[index] : make_group(asked, index, row[0].i);
    weigh(group, row, node->params.argument_field >= 0 ? row[node->argument_slot].i : 1);
    return;
  }
  uint32_t index = net_agg_stay(node, row, &fresh);
  struct group *group =
      index < asked->group_count ? &asked->groups[index] : make_group(asked, index, row[0].i);
  group->moments[0].now = row[0].i;
}

/* Before the first row: what there is of origins, none later than it, changes nothing. */
static void begin(struct net_asked *asked, const union net_slot *row) {
  struct net_aggregate *node = asked->aggregate;
  net_agg_know_origin(node, row);
  struct net_agg_change change;
  while (node->heap_count > 0) net_agg_pop(node, &change);
  asked->begun = true;
}

/* Rows that wait, one after the other: those of the queue, then those of a batch. */
struct cursor {
  const struct queue *queue;
  const struct net_batch *batch; /* NULL: none */
  size_t at, batch_at;
  const union net_slot *row;      /* the next, NULL: none */
  const union net_slot *previous; /* of the same instant perhaps; NULL: not */
};

static inline void step(struct cursor *cursor) {
  const struct queue *queue = cursor->queue;
  if (cursor->at < queue->count) {
    cursor->row = queue->rows + cursor->at++ * queue->width;
  } else if (cursor->batch != NULL && cursor->batch_at < cursor->batch->count) {
    cursor->row = net_batch_row(cursor->batch, (uint32_t)cursor->batch_at++);
  } else {
    cursor->row = NULL;
  }
}

/* Of several equal rows of one start all but one are nothing, unless the aggregate counts each. */
static bool is_another(struct net_asked *asked, const struct cursor *cursor) {
  struct net_aggregate *node = asked->aggregate;
  if (node->params.apart) return false;
  if (cursor->previous == NULL || cursor->previous[0].i != cursor->row[0].i) {
    if (node->same_start.live > 0) net_rowmap_clear(&node->same_start);
    return false;
  }
  bool fresh;
  if (node->same_start.live == 0) (void)net_rowmap_put(&node->same_start, cursor->previous, NULL);
  (void)net_rowmap_put(&node->same_start, cursor->row, &fresh);
  return !fresh;
}

/* Of COUNT rows, WIDTH slots each, those that start after the one before and before LIMIT weigh in their groups; the
 * first of all is behind one that started at LAST. Ends at the first for which there is more to do; returns how many. */
static size_t weigh_rows(struct net_asked *asked, const union net_slot *row, size_t width,
                         size_t count, net_chronon last, net_chronon limit) {
  const struct net_aggregate *node = asked->aggregate;
  struct group *groups = asked->groups;
  size_t group_count = asked->group_count, taken = 0;
  uint32_t by_slot = node->by_slots[0], argument_slot = node->argument_slot;
  bool weighs = node->params.argument_field >= 0, apart = node->params.apart;
  for (; taken < count; taken++, row += width) {
    net_chronon now = row[0].i;
    int64_t key = row[by_slot].i;
    const struct net_agg_recent *recent = &node->recent[(uint64_t)key % NET_AGG_RECENT];
    bool ordinary = (now != last) | apart;
    if (now >= limit || !ordinary || recent->key != key || recent->place >= group_count) break;
    weigh(&groups[recent->place], row, weighs ? row[argument_slot].i : 1);
    last = now;
  }
  return taken;
}

/* The same of the next rows of CURSOR that lie side by side; false: there is none. */
static bool take_alike(struct net_asked *asked, struct cursor *cursor, net_chronon limit) {
  const struct net_aggregate *node = asked->aggregate;
  const struct net_batch *batch = cursor->batch;
  bool waits = cursor->batch_at == 0; /* the row is one of the queue */
  size_t width = cursor->queue->width, left = cursor->queue->count - cursor->at;
  if (node->way != NET_AGG_WEIGH || !node->remembers || node->params.by_count != 1 ||
      cursor->previous == NULL || node->same_start.live > 0)
    return false;
  if (!waits) left = batch->count - cursor->batch_at;
  if (!waits && batch->selection != NULL) return false;
  /* the cursor is one ahead of the next row */
  size_t taken = weigh_rows(asked, cursor->row, width, left + 1, cursor->previous[0].i, limit);
  if (taken == 0) return false;
  cursor->previous = cursor->row + (taken - 1) * width;
  if (waits)
    cursor->at += taken - 1;
  else
    cursor->batch_at += taken - 1;
  step(cursor);
  return true;
}

/* The rows that start before LIMIT. */
static inline void take_rows(struct net_asked *asked, struct cursor *cursor, net_chronon limit) {
  while (cursor->row != NULL && cursor->row[0].i < limit) {
    if (take_alike(asked, cursor, limit)) continue;
    if (!asked->begun) begin(asked, cursor->row);
    if (!is_another(asked, cursor)) take_row(asked, cursor->row);
    cursor->previous = cursor->row;
    step(cursor);
  }
}

/* --- events */

static uint32_t find_group(struct net_asked *asked, const union net_slot *event) {
  struct net_aggregate *node = asked->aggregate;
  if (node->remembers && node->params.by_count == 1) {
    int64_t key = event[asked->keys[0]].i;
    size_t at = (size_t)((uint64_t)key % NET_AGG_RECENT);
    if (node->recent[at].key == key && node->recent[at].place != NET_NO_ENTRY)
      return node->recent[at].place;
  }
  for (size_t i = 0; i < node->params.by_count; i++)
    asked->key_row[node->by_slots[i]] = event[asked->keys[i]];
  return net_rowmap_find(&node->groups, asked->key_row);
}

/* The value of the group at INDEX now, if it has one, is in its ANSWER. */
static bool tell(struct net_asked *asked, struct group *group, uint32_t index, net_chronon now) {
  struct net_aggregate *node = asked->aggregate;
  struct net_agg_value value;
  bool has = false;
  if (node->way == NET_AGG_WEIGH) {
    stop_until(group, now);
    look(group);
    return group->told || tell_segment(node, group, index);
  }
  struct net_agg_group *of = net_agg_group(node, index);
  enum net_truth there =
      node->params.groups_of_all ? net_agg_is_present(node, of) : net_agg_is_counted(of);
  if (there != NET_TRUE) return false;
  enum net_eval_error error = net_agg_tell(node, of, now, &value, &has);
  BASE_CHECK(error == NET_EVAL_OK, "asked-value");
  memcpy(group->answer + 2, &value, sizeof value);
  return has;
}

static void answer(struct net_asked *asked, const union net_slot *event, enum base_status *status) {
  struct net_node *join = &asked->join->node;
  uint32_t index = find_group(asked, event);
  if (index == NET_NO_ENTRY) return;
  struct group *group = &asked->groups[index];
  if (!tell(asked, group, index, event[0].i)) return;
  union net_slot *row = net_out_plain(join, join->checkpoint, status);
  row[0].i = row[1].i = event[0].i;
  for (uint32_t i = 0; i < asked->slot_count; i++) {
    const union net_slot *from = asked->slots[i].side == 0 ? event : group->answer;
    row[2 + i] = from[asked->slots[i].from];
  }
}

/* --- what waits */

static void put_row(struct queue *queue, const union net_slot *row) {
  if (queue->count == queue->capacity) {
    size_t slots = queue->capacity * queue->width;
    base_grow(&queue->rows, &slots, (queue->count + 1) * queue->width, sizeof *queue->rows);
    queue->capacity = slots / queue->width;
  }
  net_row_copy(queue->rows + queue->count++ * queue->width, row, queue->width);
}

/* Those before HEAD go. */
static void tidy(struct queue *queue) {
  if (queue->head == 0) return;
  queue->count -= queue->head;
  memmove(queue->rows, queue->rows + queue->head * queue->width,
          queue->count * queue->width * sizeof *queue->rows);
  queue->head = 0;
}

static void put_rest(struct queue *queue, const struct net_batch *batch, size_t from) {
  for (size_t i = from; i < batch->count; i++) put_row(queue, net_batch_row(batch, (uint32_t)i));
}

/* --- the ordinary way */

static void keep_answer(struct net_aggregate *node, struct net_agg_group *of,
                        const struct group *group) {
  struct net_agg_value value;
  memcpy(&value, group->answer + 2, sizeof value);
  net_agg_keep(node, of, &value);
}

static void hand_over_group(struct net_asked *asked, struct group *group, uint32_t index) {
  struct net_aggregate *node = asked->aggregate;
  struct net_agg_group *of = net_agg_group(node, index);
  if (node->way == NET_AGG_WEIGH) {
    look(group);
    of->begun = tell_segment(node, group, index);
    of->since = group->moments[group->which ^ 1].now;
    keep_answer(node, of, group);
    of->tally.whole_integral = group->moments[group->which].integral;
    of->tally.whole_weight = group->moments[group->which].weight;
    of->tally.integrated_to = group->moments[group->which].now;
    for (; group->next.time != NET_FOREVER; pop_stop(group))
      net_agg_weigh_until(node, index, group->next.weight, group->next.time);
  } else {
    of->since = group->moments[0].now; /* no earlier, and its start is not asked for */
    of->begun = tell(asked, group, index, of->since);
    if (of->begun) keep_answer(node, of, group);
  }
  if (of->begun) net_agg_note_fresh(node, of, index);
}

/* The rows that wait go to NODE, with the checkpoint behind them. */
static enum base_status release(struct net_asked *asked, enum net_asked_port port,
                                struct net_node *node, unsigned to) {
  struct queue *queue = &asked->queues[port];
  enum base_status status = BASE_OK;
  while (status == BASE_OK) {
    size_t left = queue->count - queue->head;
    uint32_t count = left < NET_BATCH_ROWS ? (uint32_t)left : NET_BATCH_ROWS;
    bool last = count == left;
    struct net_batch batch = {.layout = node->input_layouts[to],
                              .rows = queue->rows + queue->head * queue->width,
                              .marks = asked->marks,
                              .count = count,
                              .checkpoint = last ? asked->checkpoints[port] : NET_BEGINNING,
                              .bound = NET_BEGINNING,
                              .plain = !node->general};
    queue->head += count;
    status = node->class->consume(node, to, &batch);
    if (last) break;
  }
  free(queue->rows);
  *queue = (struct queue){.width = queue->width};
  return status;
}

static enum base_status hand_over(struct net_asked *asked) {
  for (uint32_t i = 0; i < asked->group_count; i++) {
    hand_over_group(asked, &asked->groups[i], i);
    free(asked->groups[i].later);
  }
  free(asked->groups);
  asked->groups = NULL;
  asked->group_count = asked->group_capacity = 0;
  net_rowmap_clear(&asked->aggregate->same_start);
  asked->active = false;
  enum base_status status = release(asked, NET_ASKED_ROWS, &asked->aggregate->node, 0);
  if (status == BASE_OK)
    status = release(asked, NET_ASKED_EVENTS, &asked->join->node, asked->event_port);
  return status;
}

/* --- batches */

/* May the first row, or one that weighs, go this way? */
static bool may_count(const struct net_asked *asked, const struct net_batch *batch) {
  const struct net_aggregate *node = asked->aggregate;
  bool weighs = node->way == NET_AGG_WEIGH;
  net_chronon first = net_batch_row(batch, 0)[0].i;
  if (first == NET_BEGINNING) return false;
  if (!asked->begun && asked->queues[NET_ASKED_ROWS].count == 0 &&
      ((node->origin_known && first < node->origin) ||
       (node->averaging_known && first < node->averaging_origin)))
    return false;
  if (!weighs || node->params.argument_field < 0) return true;
  bool large = false;
  for (uint32_t i = 0; i < batch->count; i++) {
    int64_t weight = net_batch_row(batch, i)[node->argument_slot].i;
    large |= weight > LARGEST_WEIGHT || weight < -LARGEST_WEIGHT;
  }
  return !large;
}

/* Batches that do not promise it may be in order all the same. */
static bool is_in_order(const struct net_batch *batch) {
  if (!batch->unordered) return true;
  for (uint32_t i = 1; i < batch->count; i++)
    if (net_batch_row(batch, i)[0].i < net_batch_row(batch, i - 1)[0].i) return false;
  return true;
}

static bool may_take(const struct net_asked *asked, enum net_asked_port port,
                     const struct net_batch *batch) {
  if (asked->join->node.wants_floor) return false;
  if (batch->count == 0) return true;
  const struct queue *queue = &asked->queues[port];
  if (!batch->plain || !is_in_order(batch)) return false;
  if (net_batch_row(batch, batch->count - 1)[0].i == NET_FOREVER) return false;
  if (queue->count > 0 &&
      queue->rows[(queue->count - 1) * queue->width].i > net_batch_row(batch, 0)[0].i)
    return false;
  return port == NET_ASKED_EVENTS || may_count(asked, batch);
}

/* All before CHECKPOINT; of BATCH, rows, what is not is put into the queue. */
static void take(struct net_asked *asked, const struct net_batch *batch, net_chronon checkpoint,
                 enum base_status *status) {
  struct queue *rows = &asked->queues[NET_ASKED_ROWS], *events = &asked->queues[NET_ASKED_EVENTS];
  struct cursor cursor = {.queue = rows, .batch = batch};
  step(&cursor);
  for (; events->head < events->count && *status == BASE_OK; events->head++) {
    const union net_slot *event = events->rows + events->head * events->width;
    if (event[0].i >= checkpoint) break;
    take_rows(asked, &cursor, event[0].i + 1);
    answer(asked, event, status);
  }
  take_rows(asked, &cursor, checkpoint);
  /* the next row was passed by */
  size_t batch_at = cursor.batch_at - (cursor.row != NULL && cursor.batch_at > 0);
  rows->head = cursor.at - (cursor.row != NULL && cursor.batch_at == 0);
  tidy(rows);
  tidy(events);
  if (batch != NULL) put_rest(rows, batch, batch_at);
}

bool net_asked_take(struct net_asked *asked, enum net_asked_port port,
                    const struct net_batch *batch, enum base_status *status) {
  if (!asked->active) return false;
  if (!may_take(asked, port, batch)) {
    *status = hand_over(asked);
    return false;
  }
  net_chronon *own = &asked->checkpoints[port], other = asked->checkpoints[!port];
  net_chronon last = *own < other ? *own : other;
  if (batch->checkpoint > *own) *own = batch->checkpoint;
  net_chronon checkpoint = *own < other ? *own : other;
  if (port == NET_ASKED_EVENTS || checkpoint == last) put_rest(&asked->queues[port], batch, 0);
  if (checkpoint == last) return true;
  take(asked, port == NET_ASKED_ROWS ? batch : NULL, checkpoint, status);
  if (*status == BASE_OK) *status = net_out_flush(&asked->join->node, checkpoint, checkpoint, NULL);
  return true;
}

/* --- what else there is */

void net_asked_mark_strings(const struct net_asked *asked, struct base_strings *strings) {
  const struct net_layout *layouts[2] = {asked->aggregate->node.input_layouts[0],
                                         asked->join->node.input_layouts[asked->event_port]};
  for (unsigned port = 0; port < 2; port++) {
    const struct queue *queue = &asked->queues[port];
    for (size_t i = queue->head; i < queue->count; i++)
      net_row_mark_strings(layouts[port], strings, queue->rows + i * queue->width);
  }
}

size_t net_asked_rows(const struct net_asked *asked) {
  return asked->queues[0].count - asked->queues[0].head + asked->queues[1].count -
         asked->queues[1].head;
}

size_t net_asked_bytes(const struct net_asked *asked) {
  size_t bytes = asked->group_capacity * sizeof *asked->groups;
  for (unsigned port = 0; port < 2; port++)
    bytes += asked->queues[port].capacity * asked->queues[port].width * sizeof(union net_slot);
  return bytes;
}

void net_asked_free(struct net_asked *asked) {
  for (size_t i = 0; i < asked->group_count; i++) free(asked->groups[i].later);
  free(asked->groups);
  for (unsigned port = 0; port < 2; port++) free(asked->queues[port].rows);
  free(asked);
}

/* Where slot FROM of the aggregate's segments is in a group: its start, 0 and 1, its value behind that; or
 * what the event has instead, KEYS. */
static struct net_product_slot place_of(const struct net_asked *asked, uint32_t from) {
  const struct net_aggregate *node = asked->aggregate;
  BASE_CHECK(from < 2 || from >= 4, "asked-stop");
  if (from < 2) return (struct net_product_slot){1, from};
  for (size_t i = 0; i < node->params.by_count; i++)
    if (node->params.out->fields[i].slot == from)
      return (struct net_product_slot){0, asked->keys[i]};
  return (struct net_product_slot){1, 2 + from - node->value_slot};
}

void net_ask_aggregate(const struct net_ask_params *params) {
  struct net_product *join = (struct net_product *)params->join;
  struct net_aggregate *node = (struct net_aggregate *)params->aggregate;
  struct base_arena *arena = net_network_arena(join->node.network);
  const struct net_layout *out = join->node.layout;
  BASE_CHECK(
      node->way == NET_AGG_STAY || (node->way == NET_AGG_WEIGH && node->argument == NET_INTEGER),
      "asked-way");
  BASE_CHECK(out->tuple_class == NET_EVENT && node->more_count == 0 && node->params.by_count > 0,
             "asked-join");
  if (join->node.general) return;
  struct net_asked *asked = base_xcalloc(1, sizeof *asked);
  asked->aggregate = node;
  asked->join = join;
  asked->active = true;
  asked->event_port = 1 - params->side;
  asked->queues[NET_ASKED_ROWS].width = node->params.in->slot_count;
  asked->queues[NET_ASKED_EVENTS].width = join->node.input_layouts[asked->event_port]->slot_count;
  asked->checkpoints[0] = asked->checkpoints[1] = NET_BEGINNING;
  asked->keys = base_arena_array(arena, node->params.by_count, sizeof *asked->keys);
  memcpy(asked->keys, params->keys, node->params.by_count * sizeof *asked->keys);
  asked->key_row = base_arena_array(arena, node->params.in->slot_count, sizeof *asked->key_row);
  asked->marks = base_arena_array(arena, NET_BATCH_ROWS, 1);
  memset(asked->marks, NET_DEFINITE, NET_BATCH_ROWS);
  asked->slots = base_arena_array(arena, out->slot_count, sizeof *asked->slots);
  for (uint32_t i = 0; i < out->field_count; i++) {
    struct net_product_field field = params->fields[i];
    for (uint32_t k = 0; k < net_type_slots(out->fields[i].type.base); k++)
      asked->slots[asked->slot_count++] = field.side == params->side
                                              ? place_of(asked, field.slot + k)
                                              : (struct net_product_slot){0, field.slot + k};
  }
  node->remembers = node->remembers || node->params.by_count == 1;
  node->asked = join->asked = asked;
}
