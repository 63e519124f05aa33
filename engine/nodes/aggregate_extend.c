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
 * the group comes, or when the input is closed for ever.                                             */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/nodes/aggregate.h"

struct waiting {
  net_chronon stop; /* the earliest at.hi of the events that are later for sure */
  uint8_t marks;
};

struct group {
  uint32_t first; /* the latest of its waiting events, by index; NET_NO_ENTRY: none */
};

struct extend {
  struct net_node node;
  struct net_aggregate_params params;
  struct net_inbox inbox;
  struct net_rowmap groups;  /* by the by fields */
  struct net_rowmap waiting; /* events by the order in which they came */
  uint32_t *next;            /* of a waiting event, that before it in its group */
  size_t next_capacity;
  uint64_t last_id;
  uint32_t *by_slots;
  bool origin_known;
  net_chronon
      origin; /* not known yet: the latest start of what began at beginning at the earliest */
  uint32_t value_slot;
};

static struct waiting *waiting_at(const struct extend *extend, uint32_t index) {
  return net_rowmap_state(&extend->waiting, index);
}

/* --- events in */

/* ROW ends the events of its group that were before it for sure. */
static void end_others(struct extend *extend, const struct group *group,
                       const union net_slot *row) {
  for (uint32_t i = group->first; i != NET_NO_ENTRY; i = extend->next[i]) {
    struct waiting *waiting = waiting_at(extend, i);
    if (net_rowmap_row(&extend->waiting, i)[1].i < row[0].i && row[1].i < waiting->stop)
      waiting->stop = row[1].i;
  }
}

static void take(struct extend *extend, const union net_slot *row, uint8_t marks) {
  enum net_truth counts = net_agg_counts(&extend->params, row);
  if (!extend->origin_known && row[0].i != NET_BEGINNING) {
    extend->origin_known = true;
    extend->origin = row[0].i < extend->origin ? row[0].i : extend->origin;
  }
  if (!extend->origin_known && row[1].i < extend->origin) extend->origin = row[1].i;
  if (counts == NET_FALSE) return;
  if (counts == NET_UNKNOWN) marks &= (uint8_t)~NET_DEFINITE;
  bool fresh;
  uint32_t index = net_rowmap_put(&extend->groups, row, &fresh);
  struct group *group = net_rowmap_state(&extend->groups, index);
  if (fresh) group->first = NET_NO_ENTRY;
  if (marks & NET_DEFINITE) end_others(extend, group, row);
  uint32_t place = net_rowmap_put_id(&extend->waiting, ++extend->last_id, row);
  *waiting_at(extend, place) = (struct waiting){NET_FOREVER, marks & NET_DEFINITE};
  base_grow(&extend->next, &extend->next_capacity, place + 1, sizeof *extend->next);
  extend->next[place] = group->first;
  group->first = place;
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
  if (waiting->stop <= origin) return;
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

/* Sends out what is final at CHECKPOINT; returns the earliest start that waits. */
static net_chronon settle(struct extend *extend, net_chronon checkpoint, enum base_status *status) {
  net_chronon earliest = checkpoint;
  for (uint32_t g = 0; g < extend->groups.used && *status == BASE_OK; g++) {
    if (!net_rowmap_live(&extend->groups, g)) continue;
    struct group *group = net_rowmap_state(&extend->groups, g);
    uint32_t *place = &group->first;
    while (*place != NET_NO_ENTRY) {
      uint32_t index = *place;
      const union net_slot *row = net_rowmap_row(&extend->waiting, index);
      const struct waiting *waiting = waiting_at(extend, index);
      if (waiting->stop > checkpoint) { /* also: for ever, as far as is known */
        net_chronon start = later_of(row[0].i, extend->origin);
        if (start < earliest) earliest = start;
        place = &extend->next[index];
        continue;
      }
      put(extend, row, waiting, extend->node.checkpoint, status);
      *place = extend->next[index];
      net_rowmap_remove(&extend->waiting, index);
    }
    if (group->first == NET_NO_ENTRY) net_rowmap_remove(&extend->groups, g);
  }
  return earliest;
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
  while ((row = net_inbox_next(&extend->inbox, &item, NULL)) != NULL) take(extend, row, item.marks);
  net_inbox_tidy(&extend->inbox);
  net_chronon earliest = settle(extend, checkpoint, &status);
  if (status != BASE_OK) return status;
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
         net_rowmap_bytes(&extend->waiting) + extend->next_capacity * sizeof *extend->next;
}

static void done(struct net_node *base) {
  struct extend *extend = (struct extend *)base;
  net_inbox_done(&extend->inbox);
  net_rowmap_done(&extend->groups);
  net_rowmap_done(&extend->waiting);
  free(extend->next);
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
  extend->origin_known = params->origin_given;
  extend->origin = params->origin_given ? params->origin : NET_FOREVER;
  extend->value_slot = params->out->fields[params->out->field_count - 1].slot;
  return &extend->node;
}
