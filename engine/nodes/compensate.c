/* Compensate (thesis 7.1.2): periods without what monitoring them has cost.
 *
 *      periods ──▶ [ of the process ] ──▶ out        state: periods whose costs are not all known,
 *      costs   ──▶                                          costs at uncertain times
 *                                                    order: any
 *
 * A period's stop becomes earlier by what the records of its process within it cost, but never earlier
 * than one chronon after its start, or than it was. Within [start, stop) is a record of the very start, not
 * one of the very stop. Of uncertain times: the lower bound of the stop goes back by what is perhaps
 * within, the upper one by what is within for sure. A bound of `forever` stays.
 *
 * A period is finished when both inputs have come to the latest bound of its stop: who waited for it to
 * end (thesis: "store the primary tuples") has it whole then. While it is not, it goes out open, and the
 * checkpoint stays behind the chronon after its start: more is not known of its stop, since in what is
 * left of it the records may cost any time. What is open at `forever` has no end that could be earlier.
 *
 * Rows of both inputs are taken in the order of time. What matters of records at exact times are sums, one
 * for each process, looked at when the sweep comes to the bounds of a period; so a period costs the same
 * however many records fall into it, and nothing is kept of them. Records at uncertain times are kept until
 * the sweep has passed them, and are then counted for each period that is not finished.                */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/binary_heap.h"
#include "engine/inbox.h"
#include "engine/node_impl.h"
#include "engine/rowmap.h"

/* A cost at a time that is not certain. */
struct rough {
  net_chronon lo, hi;
  uint64_t cost;
  bool definite;
};

/* What a process has spent at exact times before the sweep: for sure, and with what is perhaps there. */
struct process {
  uint64_t sure, may;
  struct rough *rough;
  size_t rough_count, rough_capacity, rough_next; /* to be looked through at so many */
  uint32_t first;                                 /* of its periods; NET_NO_ENTRY */
};

struct period {
  uint64_t in_id;             /* of the input's open row; 0: it came whole */
  uint32_t process;           /* in the map */
  uint32_t previous, next;    /* of the same process */
  uint64_t may_before;        /* process->may at the lower bound of the start, */
  uint64_t sure_before, sure; /* ->sure at the upper one, and at the lower bound of the stop */
  uint64_t rough_may, rough_sure;
  uint8_t marks;
  bool ends; /* its stop is known */
  bool out;  /* it went out open */
};

/* The sweep comes to a bound of a period. In this order at one time. */
enum what { START_IS_SURE, STOP_IS_NEAR, STOP_IS_SURE };
struct event {
  net_chronon time;
  uint32_t period;
  enum what what;
};

struct compensate {
  struct net_node node;
  struct net_inbox inbox;
  uint32_t process_slot;       /* in periods */
  struct net_rowmap processes; /* by name: rows of costs */
  struct net_rowmap periods;   /* by the id of the output: as they came */
  struct net_rowmap by_in_id;  /* the input's ids: index in PERIODS */
  struct event *events;        /* heap, the earliest first */
  size_t event_count, event_capacity;
  size_t rough_count;
  uint64_t last_id;
  net_chronon swept;   /* so far */
  bool unopened;       /* something waits for more and has not gone out open */
  union net_slot *key; /* scratch row of costs */
};

static struct process *process_at(struct compensate *node, uint32_t place) {
  return net_rowmap_state(&node->processes, place);
}

static struct period *period_at(struct compensate *node, uint32_t place) {
  return net_rowmap_state(&node->periods, place);
}

/* --- bounds to come */

static bool is_earlier(const struct event *a, const struct event *b, const void *context) {
  (void)context;
  if (a->time != b->time) return a->time < b->time;
  if (a->what != b->what) return a->what < b->what;
  return a->period < b->period;
}
BASE_BINARY_HEAP(events, struct event, is_earlier);

static void expect(struct compensate *node, net_chronon time, uint32_t period, enum what what) {
  base_grow(&node->events, &node->event_capacity, node->event_count + 1, sizeof *node->events);
  events_up(node->events, node->event_count++, (struct event){time, period, what}, NULL);
}

static struct event take_event(struct compensate *node) {
  struct event first = node->events[0];
  size_t count = --node->event_count;
  events_down(node->events, count, 0, node->events[count], NULL);
  return first;
}

/* --- periods and processes */

static uint32_t process_of(struct compensate *node, union net_slot name) {
  const struct net_layout *costs = node->inbox.ports[1].layout;
  bool fresh;
  node->key[costs->fields[NET_COST_PROCESS].slot] = name;
  uint32_t place = net_rowmap_put(&node->processes, node->key, &fresh);
  if (fresh) process_at(node, place)->first = NET_NO_ENTRY;
  return place;
}

static void enlist(struct compensate *node, uint32_t place) {
  struct period *period = period_at(node, place);
  struct process *process = process_at(node, period->process);
  period->previous = NET_NO_ENTRY;
  period->next = process->first;
  if (process->first != NET_NO_ENTRY) period_at(node, process->first)->previous = place;
  process->first = place;
}

static void delist(struct compensate *node, uint32_t place) {
  const struct period *period = period_at(node, place);
  if (period->next != NET_NO_ENTRY) period_at(node, period->next)->previous = period->previous;
  if (period->previous != NET_NO_ENTRY)
    period_at(node, period->previous)->next = period->next;
  else
    process_at(node, period->process)->first = period->next;
}

/* --- costs at uncertain times */

static bool is_perhaps_within(const struct rough *rough, const struct period *period,
                              const union net_slot *row) {
  return rough->hi >= row[0].i && (!period->ends || rough->lo < row[3].i);
}

static bool is_surely_within(const struct rough *rough, const struct period *period,
                             const union net_slot *row) {
  return rough->definite && rough->lo >= row[1].i && (!period->ends || rough->hi < row[2].i);
}

/* What lies before the sweep is counted for all periods of PROCESS that it concerns, and is forgotten: those
 * that are open then stop behind it. */
static void pass_rough(struct compensate *node, struct process *process, net_chronon sweep) {
  size_t kept = 0;
  for (size_t i = 0; i < process->rough_count; i++) {
    const struct rough *rough = &process->rough[i];
    if (rough->hi >= sweep && sweep != NET_FOREVER) {
      process->rough[kept++] = *rough;
      continue;
    }
    for (uint32_t place = process->first; place != NET_NO_ENTRY;) {
      struct period *period = period_at(node, place);
      const union net_slot *row = net_rowmap_row(&node->periods, place);
      if (is_perhaps_within(rough, period, row)) period->rough_may += rough->cost;
      if (is_surely_within(rough, period, row)) period->rough_sure += rough->cost;
      place = period->next;
    }
  }
  node->rough_count -= process->rough_count - kept;
  process->rough_count = kept;
  process->rough_next = 2 * kept + 16;
}

static void keep_rough(struct compensate *node, uint32_t place, struct rough rough) {
  struct process *process = process_at(node, place);
  if (process->rough_count >= process->rough_next) pass_rough(node, process, rough.lo);
  base_grow(&process->rough, &process->rough_capacity, process->rough_count + 1,
            sizeof *process->rough);
  process->rough[process->rough_count++] = rough;
  node->rough_count++;
}

/* --- finishing periods */

/* BOUND of a stop without COST, not before the chronon after START. */
static net_chronon earlier(net_chronon bound, net_chronon start, uint64_t cost) {
  if (bound == NET_FOREVER || bound == NET_BEGINNING) return bound;
  net_chronon least = net_chronon_add(start, 1);
  if (least >= bound) return bound;
  uint64_t room = (uint64_t)bound - (uint64_t)least;
  return cost >= room ? least : (net_chronon)((uint64_t)bound - cost);
}

static void finish(struct compensate *node, uint32_t place, enum base_status *status) {
  struct period *period = period_at(node, place);
  const union net_slot *row = net_rowmap_row(&node->periods, place);
  const struct process *process = process_at(node, period->process);
  uint64_t may = row[3].i > row[0].i ? process->may - period->may_before : 0;
  uint64_t sure = row[2].i > row[1].i ? period->sure - period->sure_before : 0;
  may += period->rough_may;
  sure += period->rough_sure;
  for (size_t i = 0; i < process->rough_count; i++) {
    const struct rough *rough = &process->rough[i];
    if (is_perhaps_within(rough, period, row)) may += rough->cost;
    if (is_surely_within(rough, period, row)) sure += rough->cost;
  }
  uint8_t marks = period->out ? (uint8_t)(period->marks | NET_CLOSES) : period->marks;
  uint64_t id = period->out ? net_rowmap_id(&node->periods, place) : 0;
  union net_slot *out = net_out_row(&node->node, marks, id, node->node.checkpoint, status);
  memcpy(out, row, node->node.layout->slot_count * sizeof *out);
  out[2].i = earlier(row[2].i, row[0].i, may);
  out[3].i = earlier(row[3].i, row[1].i, sure);
  delist(node, place);
  net_rowmap_remove(&node->periods, place);
}

/* The sweep goes on to TIME: all costs at exact times before it are in the sums. */
static void sweep_to(struct compensate *node, net_chronon time, enum base_status *status) {
  while (node->event_count > 0 && node->events[0].time <= time) {
    struct event event = take_event(node);
    struct period *period = period_at(node, event.period);
    const struct process *process = process_at(node, period->process);
    if (event.what == START_IS_SURE) period->sure_before = process->sure;
    if (event.what == STOP_IS_NEAR) period->sure = process->sure;
    if (event.what == STOP_IS_SURE) finish(node, event.period, status);
  }
}

/* The stop of the period at PLACE is known. */
static void expect_stop(struct compensate *node, uint32_t place) {
  const union net_slot *row = net_rowmap_row(&node->periods, place);
  period_at(node, place)->ends = true;
  /* Of a stop at `forever` nothing changes. */
  if (row[2].i != NET_FOREVER) expect(node, row[2].i, place, STOP_IS_NEAR);
  expect(node, row[2].i != NET_FOREVER ? row[3].i : row[1].i, place, STOP_IS_SURE);
}

/* --- taking rows */

static void take_period(struct compensate *node, const union net_slot *row,
                        const struct net_inbox_item *item) {
  uint32_t process = process_of(node, row[node->process_slot]);
  uint32_t place = net_rowmap_put_id(&node->periods, ++node->last_id, row);
  struct period *period = period_at(node, place);
  const struct process *spent = process_at(node, process);
  *period = (struct period){.in_id = item->id,
                            .process = process,
                            .may_before = spent->may,
                            .sure_before = spent->sure,
                            .marks = (uint8_t)(item->marks & NET_DEFINITE)};
  enlist(node, place);
  if (row[1].i != row[0].i) expect(node, row[1].i, place, START_IS_SURE);
  if (row[2].i == NET_OPEN) {
    uint32_t entry = net_rowmap_put_id(&node->by_in_id, item->id, NULL);
    *(uint32_t *)net_rowmap_state(&node->by_in_id, entry) = place;
  } else {
    expect_stop(node, place);
  }
}

static void take_close(struct compensate *node, const union net_slot *row, uint64_t id) {
  uint32_t entry = net_rowmap_find_id(&node->by_in_id, id);
  BASE_CHECK(entry != NET_NO_ENTRY, "compensate-close");
  if (row[2].i == NET_OPEN) return; /* a better bound is not yet an end */
  uint32_t place = *(const uint32_t *)net_rowmap_state(&node->by_in_id, entry);
  net_rowmap_remove(&node->by_in_id, entry);
  union net_slot *kept = net_rowmap_row(&node->periods, place);
  kept[2] = row[2];
  kept[3] = row[3];
  expect_stop(node, place);
}

static void take_cost(struct compensate *node, const union net_slot *row, uint8_t marks) {
  const struct net_layout *layout = node->inbox.ports[1].layout;
  union net_slot name = row[layout->fields[NET_COST_PROCESS].slot];
  uint64_t cost = (uint64_t)row[layout->fields[NET_COST_CHRONONS].slot].i;
  bool definite = (marks & NET_DEFINITE) != 0;
  if (row[0].i != row[1].i) {
    keep_rough(node, process_of(node, name), (struct rough){row[0].i, row[1].i, cost, definite});
    return;
  }
  node->key[layout->fields[NET_COST_PROCESS].slot] = name;
  uint32_t place = net_rowmap_find(&node->processes, node->key);
  if (place == NET_NO_ENTRY) return; /* none of its periods began before */
  struct process *process = process_at(node, place);
  process->may += cost;
  if (definite) process->sure += cost;
}

/* --- the end of a round */

static void forget_processes(struct compensate *node, net_chronon sweep) {
  for (uint32_t i = 0; (i = net_rowmap_next(&node->processes, i)) < node->processes.used; i++) {
    struct process *process = process_at(node, i);
    if (process->rough_count > 0) pass_rough(node, process, sweep);
    if (process->first != NET_NO_ENTRY || process->rough_count > 0) continue;
    free(process->rough);
    net_rowmap_remove(&node->processes, i);
  }
}

/* Sends what is not finished out open, unless MORE comes at once. Returns the checkpoint that it leaves. */
static net_chronon open_rest(struct compensate *node, net_chronon checkpoint, bool more,
                             enum base_status *status) {
  bool for_ever = node->inbox.ports[0].checkpoint == NET_FOREVER;
  node->unopened = false;
  for (uint32_t i = 0; (i = net_rowmap_next(&node->periods, i)) < node->periods.used; i++) {
    const struct period *period = period_at(node, i);
    net_chronon start = net_rowmap_row(&node->periods, i)[0].i;
    bool waits = more && !period->out;
    node->unopened = node->unopened || waits;
    net_chronon least = waits ? start : net_chronon_add(start, 1);
    if (for_ever && !period->ends && !waits) continue;
    if (least < checkpoint) checkpoint = least;
  }
  for (uint32_t i = 0; i < node->periods.used && !more && *status == BASE_OK; i++) {
    if (!net_rowmap_live(&node->periods, i)) continue;
    struct period *period = period_at(node, i);
    if (period->out) continue;
    union net_slot *out = net_out_row(&node->node, period->marks, net_rowmap_id(&node->periods, i),
                                      checkpoint, status);
    memcpy(out, net_rowmap_row(&node->periods, i), node->node.layout->slot_count * sizeof *out);
    out[2].i = NET_OPEN;
    out[3].i = NET_FOREVER;
    period->out = true;
  }
  return checkpoint;
}

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  struct compensate *node = (struct compensate *)base;
  net_inbox_add(&node->inbox, port, batch);
  net_chronon checkpoint = net_inbox_checkpoint(&node->inbox);
  if (checkpoint == node->swept && checkpoint != NET_FOREVER && !node->unopened) return BASE_OK;
  node->swept = checkpoint;
  struct net_inbox_item item;
  const union net_slot *row;
  enum base_status status = BASE_OK;
  unsigned from;
  while (status == BASE_OK && (row = net_inbox_next(&node->inbox, &item, &from)) != NULL) {
    bool closes = (item.marks & NET_CLOSES) != 0;
    if (!closes) sweep_to(node, item.time, &status);
    if (from == 1)
      take_cost(node, row, item.marks);
    else if (closes)
      take_close(node, row, item.id);
    else
      take_period(node, row, &item);
  }
  net_inbox_tidy(&node->inbox);
  sweep_to(node, checkpoint, &status);
  if (status == BASE_OK) status = net_out_flush(base, base->checkpoint, base->checkpoint, NULL);
  if (status != BASE_OK) return status;
  forget_processes(node, checkpoint);
  checkpoint = open_rest(node, checkpoint, batch->more, &status);
  if (status != BASE_OK) return status;
  return net_out_flush(base, checkpoint, checkpoint, NULL);
}

static void mark_strings(const struct net_node *base, struct base_strings *strings) {
  const struct compensate *node = (const struct compensate *)base;
  net_inbox_mark_strings(&node->inbox, strings);
  net_rowmap_mark_strings(&node->periods, strings);
  net_rowmap_mark_strings(&node->processes, strings);
}

static size_t state_rows(const struct net_node *base) {
  const struct compensate *node = (const struct compensate *)base;
  return net_inbox_rows(&node->inbox) + node->periods.live + node->rough_count;
}

static size_t state_bytes(const struct net_node *base) {
  const struct compensate *node = (const struct compensate *)base;
  return net_inbox_bytes(&node->inbox) + net_rowmap_bytes(&node->periods) +
         net_rowmap_bytes(&node->processes) + net_rowmap_bytes(&node->by_in_id) +
         node->event_capacity * sizeof *node->events + node->rough_count * sizeof(struct rough);
}

static void done(struct net_node *base) {
  struct compensate *node = (struct compensate *)base;
  for (uint32_t i = 0; i < node->processes.used; i++)
    if (net_rowmap_live(&node->processes, i)) free(process_at(node, i)->rough);
  net_inbox_done(&node->inbox);
  net_rowmap_done(&node->processes);
  net_rowmap_done(&node->periods);
  net_rowmap_done(&node->by_in_id);
  free(node->events);
}

static const struct net_node_class class = {.kind = NET_NODE_COMPENSATE,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

struct net_node *net_create_compensate(struct net_network *network, const char *name,
                                       const struct net_layout *periods, uint32_t process_field,
                                       const struct net_layout *costs) {
  BASE_CHECK(periods->tuple_class == NET_PERIOD && costs->tuple_class == NET_EVENT,
             "compensate-classes");
  struct base_arena *arena = net_network_arena(network);
  struct compensate *node = net_node_new(network, sizeof *node, &class, name, periods);
  uint32_t *key_slot = base_arena_array(arena, 1, sizeof *key_slot);
  node->node.input_layouts[0] = periods;
  node->node.input_layouts[1] = costs;
  node->process_slot = periods->fields[process_field].slot;
  *key_slot = costs->fields[NET_COST_PROCESS].slot;
  net_inbox_init(&node->inbox, periods, costs, NET_CLOSES_AFTER_STARTS);
  net_rowmap_init(&node->processes, costs, NET_KEY_SLOTS, 0, key_slot, 1, sizeof(struct process));
  net_rowmap_init(&node->periods, periods, NET_KEY_ID, 0, NULL, 0, sizeof(struct period));
  net_rowmap_init(&node->by_in_id, NULL, NET_KEY_ID, 0, NULL, 0, sizeof(uint32_t));
  node->swept = NET_BEGINNING;
  node->key = base_arena_array(arena, costs->slot_count, sizeof *node->key);
  return &node->node;
}
