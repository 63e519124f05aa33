/* Extend (thesis 4.5.3): extendc makes each event a period with the value of its argument.
 *
 *      in ──▶ [ by, where, when, argument ] ──▶ out      state: the last events of each group      order: any
 *
 * The events are samples: the period is certain at the event alone, and may last until the next later
 * event of its group, at the latest; the last one for ever:
 *
 *      start = [at.lo, at.hi]      stop = [at.lo + 1, at.hi of the next]
 *
 * Next is an event that is there for sure and happened later for sure; one that is there perhaps ends
 * nothing. What lies before the origin is cut off; a period that is perhaps cut off whole is omega.
 *
 * A period goes out, whole, when its stop is final, that is when no later event can end it earlier; until
 * then its start holds the checkpoint back. So the last period of a group is shown when another event of
 * the group comes, or when the input is closed for ever.
 *
 * Events that wait are in two lists: by group, the latest first, for what ends them, and by arrival, which is
 * the order of their starts, for the checkpoint. Those that have an end are in a heap by it, again when they
 * get an earlier one. So work is proportional to the events, however many groups there are.             */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/binary_heap.h"
#include "engine/nodes/aggregate/aggregate.h"

/* An event that waits, by its place in a map; NET_NO_ENTRY: none. */
struct waiting {
  net_chronon stop; /* the earliest at.hi of the events that are later for sure */
  uint32_t group;
  uint32_t older, younger; /* of its group */
  uint32_t earlier, next;  /* of all */
  uint8_t marks;
};

struct group {
  uint32_t youngest; /* of its events; there is one */
};

/* That an event ends, if it still waits and has this stop. */
struct ending {
  net_chronon stop;
  uint64_t id;
};

struct extend {
  struct net_node node;
  struct net_aggregate_params params;
  struct net_inbox inbox;
  struct net_rowmap groups;  /* by the by fields */
  struct net_rowmap waiting; /* events by the order in which they came */
  uint32_t first, last;      /* of those that wait, by arrival */
  struct ending *endings;    /* a heap by stop, then id */
  size_t ending_count, ending_capacity;
  uint64_t last_id;
  uint32_t *by_slots;
  bool origin_known;
  net_chronon
      origin; /* not known yet: the latest start of what began at beginning at the earliest */
  uint32_t value_slot;
};

static struct waiting *waiting_at(const struct extend *extend, uint32_t place) {
  return net_rowmap_state(&extend->waiting, place);
}

/* --- endings */

static bool ends_before(const struct ending *a, const struct ending *b, const void *context) {
  (void)context;
  return a->stop != b->stop ? a->stop < b->stop : a->id < b->id;
}
BASE_BINARY_HEAP(endings, struct ending, ends_before);

static void push_ending(struct extend *extend, struct ending ending) {
  base_grow(&extend->endings, &extend->ending_capacity, extend->ending_count + 1,
            sizeof *extend->endings);
  endings_up(extend->endings, extend->ending_count++, ending, NULL);
}

static struct ending pop_ending(struct extend *extend) {
  struct ending *heap = extend->endings, top = heap[0];
  size_t count = --extend->ending_count;
  endings_down(heap, count, 0, heap[count], NULL);
  return top;
}

/* --- who waits */

static void add_waiting(struct extend *extend, const union net_slot *row, uint8_t marks) {
  bool fresh;
  uint32_t index = net_rowmap_put(&extend->groups, row, &fresh);
  struct group *group = net_rowmap_state(&extend->groups, index);
  uint32_t place = net_rowmap_put_id(&extend->waiting, ++extend->last_id, row);
  struct waiting *waiting = waiting_at(extend, place);
  *waiting = (struct waiting){.stop = NET_FOREVER,
                              .group = index,
                              .older = fresh ? NET_NO_ENTRY : group->youngest,
                              .younger = NET_NO_ENTRY,
                              .earlier = extend->last,
                              .next = NET_NO_ENTRY,
                              .marks = marks & NET_DEFINITE};
  if (!fresh) waiting_at(extend, group->youngest)->younger = place;
  group->youngest = place;
  if (extend->last != NET_NO_ENTRY) waiting_at(extend, extend->last)->next = place;
  if (extend->first == NET_NO_ENTRY) extend->first = place;
  extend->last = place;
}

static void remove_waiting(struct extend *extend, uint32_t place) {
  const struct waiting *gone = waiting_at(extend, place);
  struct group *group = net_rowmap_state(&extend->groups, gone->group);
  if (gone->older != NET_NO_ENTRY) waiting_at(extend, gone->older)->younger = gone->younger;
  if (gone->younger != NET_NO_ENTRY) {
    waiting_at(extend, gone->younger)->older = gone->older;
  } else if (gone->older != NET_NO_ENTRY) {
    group->youngest = gone->older;
  } else {
    net_rowmap_remove(&extend->groups, gone->group);
  }
  if (gone->earlier != NET_NO_ENTRY) waiting_at(extend, gone->earlier)->next = gone->next;
  if (gone->next != NET_NO_ENTRY) waiting_at(extend, gone->next)->earlier = gone->earlier;
  if (extend->first == place) extend->first = gone->next;
  if (extend->last == place) extend->last = gone->earlier;
  net_rowmap_remove(&extend->waiting, place);
}

/* --- periods out */

static net_chronon later_of(net_chronon a, net_chronon b) {
  return a > b ? a : b;
}

static void put(struct extend *extend, const union net_slot *event, const struct waiting *waiting,
                net_chronon bound, enum base_status *status) {
  const struct net_layout *out = extend->node.layout;
  const struct net_aggregate_params *params = &extend->params;
  net_chronon origin = extend->origin;
  /* Behind one at forever there is nothing that it could last. */
  if (waiting->stop <= origin || event[0].i >= waiting->stop) return;
  struct net_period period = {{later_of(event[0].i, origin), later_of(event[1].i, origin)},
                              {later_of(net_chronon_add(event[0].i, 1), origin), waiting->stop}};
  uint8_t marks = waiting->marks;
  if (event[0].i < origin && net_nonempty(period) != NET_TRUE) marks &= (uint8_t)~NET_DEFINITE;
  union net_slot *row = net_out_row(&extend->node, marks, 0, bound, status);
  row[0].i = period.start.lo;
  row[1].i = period.start.hi;
  row[2].i = period.stop.lo;
  row[3].i = period.stop.hi;
  for (size_t i = 0; i < params->by_count; i++)
    row[out->fields[i].slot] = event[extend->by_slots[i]];
  row[extend->value_slot] = event[params->in->fields[params->argument_field].slot];
}

static void send(struct extend *extend, uint32_t place, enum base_status *status) {
  put(extend, net_rowmap_row(&extend->waiting, place), waiting_at(extend, place),
      extend->node.checkpoint, status);
  remove_waiting(extend, place);
}

/* Sends out what is final at TIME: nothing that comes starts before. */
static void settle(struct extend *extend, net_chronon time, enum base_status *status) {
  while (extend->ending_count > 0 && extend->endings[0].stop <= time && *status == BASE_OK) {
    struct ending ending = pop_ending(extend);
    uint32_t place = net_rowmap_find_id(&extend->waiting, ending.id);
    if (place != NET_NO_ENTRY && waiting_at(extend, place)->stop == ending.stop)
      send(extend, place, status);
  }
}

/* --- events in */

static void know_origin(struct extend *extend, const union net_slot *row) {
  if (!extend->origin_known && row[0].i != NET_BEGINNING) {
    extend->origin_known = true;
    extend->origin = row[0].i < extend->origin ? row[0].i : extend->origin;
  }
  if (!extend->origin_known && row[1].i < extend->origin) extend->origin = row[1].i;
}

/* ROW, which is there for sure, ends the events of its group that were before it for sure. */
static void end_others(struct extend *extend, const union net_slot *row) {
  uint32_t index = net_rowmap_find(&extend->groups, row);
  if (index == NET_NO_ENTRY) return;
  uint32_t place = ((struct group *)net_rowmap_state(&extend->groups, index))->youngest;
  while (place != NET_NO_ENTRY) {
    struct waiting *waiting = waiting_at(extend, place);
    if (net_rowmap_row(&extend->waiting, place)[1].i < row[0].i && row[1].i < waiting->stop) {
      waiting->stop = row[1].i;
      push_ending(extend, (struct ending){row[1].i, net_rowmap_id(&extend->waiting, place)});
    }
    place = waiting->older;
  }
}

static void take(struct extend *extend, const union net_slot *row, uint8_t marks,
                 enum base_status *status) {
  enum net_truth counts = net_agg_counts(&extend->params, row);
  know_origin(extend, row);
  settle(extend, row[0].i, status);
  if (counts == NET_FALSE) return;
  if (counts == NET_UNKNOWN) marks &= (uint8_t)~NET_DEFINITE;
  if (marks & NET_DEFINITE) end_others(extend, row);
  add_waiting(extend, row, marks);
}

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  struct extend *extend = (struct extend *)base;
  net_chronon last = net_inbox_checkpoint(&extend->inbox);
  net_inbox_add(&extend->inbox, port, batch);
  net_chronon checkpoint = net_inbox_checkpoint(&extend->inbox);
  if (checkpoint == last && checkpoint != NET_FOREVER) return BASE_OK;
  struct net_inbox_item item;
  const union net_slot *row;
  enum base_status status = BASE_OK;
  while (status == BASE_OK && (row = net_inbox_next(&extend->inbox, &item, NULL)) != NULL)
    take(extend, row, item.marks, &status);
  net_inbox_tidy(&extend->inbox);
  settle(extend, checkpoint, &status);
  /* those that nothing ends */
  while (checkpoint == NET_FOREVER && extend->first != NET_NO_ENTRY && status == BASE_OK)
    send(extend, extend->first, &status);
  if (status != BASE_OK) return status;
  net_chronon earliest = checkpoint;
  if (extend->first != NET_NO_ENTRY) {
    net_chronon start =
        later_of(net_rowmap_row(&extend->waiting, extend->first)[0].i, extend->origin);
    if (start < earliest) earliest = start;
  }
  return net_out_flush(base, earliest, base->checkpoint, NULL);
}

static void mark_strings(const struct net_node *base, struct base_strings *strings) {
  const struct extend *extend = (const struct extend *)base;
  net_inbox_mark_strings(&extend->inbox, strings);
  net_rowmap_mark_strings(&extend->groups, strings);
  net_rowmap_mark_strings(&extend->waiting, strings);
}

static size_t state_rows(const struct net_node *base) {
  const struct extend *extend = (const struct extend *)base;
  return extend->waiting.live + net_inbox_rows(&extend->inbox);
}

static size_t state_bytes(const struct net_node *base) {
  const struct extend *extend = (const struct extend *)base;
  return net_inbox_bytes(&extend->inbox) + net_rowmap_bytes(&extend->groups) +
         net_rowmap_bytes(&extend->waiting) + extend->ending_capacity * sizeof *extend->endings;
}

static void done(struct net_node *base) {
  struct extend *extend = (struct extend *)base;
  net_inbox_done(&extend->inbox);
  net_rowmap_done(&extend->groups);
  net_rowmap_done(&extend->waiting);
  free(extend->endings);
}

static const struct net_node_class class = {.kind = NET_NODE_AGGREGATE,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

struct net_node *net_create_extend(struct net_network *network, const char *name,
                                   const struct net_aggregate_params *params) {
  BASE_CHECK(params->in->tuple_class == NET_EVENT && params->argument_field >= 0,
             "extend-of-events");
  struct base_arena *arena = net_network_arena(network);
  struct extend *extend = net_node_new(network, sizeof *extend, &class, name, params->out);
  extend->node.input_layouts[0] = params->in;
  extend->params = *params;
  extend->by_slots = BASE_NEW_ARRAY(arena, params->by_count + 1, uint32_t);
  for (size_t i = 0; i < params->by_count; i++)
    extend->by_slots[i] = params->in->fields[params->by_fields[i]].slot;
  net_inbox_init(&extend->inbox, params->in, NULL, NET_CLOSES_AFTER_STARTS);
  net_rowmap_init(&extend->groups, params->in, NET_KEY_SLOTS, 0, extend->by_slots, params->by_count,
                  sizeof(struct group));
  net_rowmap_init(&extend->waiting, params->in, NET_KEY_ID, 0, NULL, 0, sizeof(struct waiting));
  extend->first = extend->last = NET_NO_ENTRY;
  extend->origin_known = params->origin_given;
  extend->origin = params->origin_given ? params->origin : NET_FOREVER;
  extend->value_slot = params->out->fields[params->out->field_count - 1].slot;
  return &extend->node;
}
