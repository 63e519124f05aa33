/* Event-to-period (appendix C): the records of a traced relation become periods.
 *
 *      in ──▶ [ by ] ──▶ out          state: one open period per entity      order: start
 *
 * A record opens a period for its value of BY and closes the previous one of the same value. Of several
 * records of one entity at one time the last in sequence counts: a period of no length is no period. An
 * end record (NET_CLOSES) closes without opening. A period both of whose ends fall before the same
 * checkpoint goes out whole; one that lasts goes out open as soon as its start is final.            */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/inbox.h"
#include "engine/node_impl.h"
#include "engine/rowmap.h"

struct event_to_period {
  struct net_node node;
  struct net_inbox inbox;
  struct net_rowmap current; /* by entity; rows of the output layout */
  uint32_t key_slot;
  uint64_t last_id;
  union net_slot *period; /* scratch row */
};

struct current_state {
  uint8_t marks;
  uint64_t id; /* went out as an open row; 0: it has not */
};

static void put(struct event_to_period *node, uint32_t place, uint8_t closes,
                struct net_instant stop, net_chronon bound, enum base_status *status) {
  const struct current_state *state = net_rowmap_state(&node->current, place);
  union net_slot *out =
      net_out_row(&node->node, (uint8_t)(state->marks | closes), state->id, bound, status);
  memcpy(out, net_rowmap_row(&node->current, place), node->node.layout->slot_count * sizeof *out);
  out[2].i = stop.lo;
  out[3].i = stop.hi;
}

/* The entity's period ends at STOP. Returns false when there was nothing to end. */
static bool finish(struct event_to_period *node, uint32_t place, struct net_instant stop,
                   net_chronon bound, enum base_status *status) {
  struct current_state *state = net_rowmap_state(&node->current, place);
  struct net_instant start = net_row_start(net_rowmap_row(&node->current, place));
  if (state->id != 0) {
    put(node, place, NET_CLOSES, stop, bound, status);
    return true;
  }
  if (start.lo == start.hi && stop.lo == stop.hi && start.lo == stop.lo) return false;
  struct net_period period = net_period_clip((struct net_period){start, stop});
  union net_slot *row = net_rowmap_row(&node->current, place);
  row[1].i = period.start.hi;
  put(node, place, 0, period.stop, bound, status);
  return true;
}

static void record(struct event_to_period *node, const union net_slot *row, uint8_t marks,
                   net_chronon bound, enum base_status *status) {
  const struct net_layout *in = node->inbox.ports[0].layout, *out = node->node.layout;
  union net_slot *period = node->period;
  period[0] = row[0];
  period[1] = row[1];
  period[2].i = NET_OPEN;
  period[3].i = NET_FOREVER;
  memcpy(period + out->first_domain_slot, row + in->first_domain_slot,
         (in->slot_count - in->first_domain_slot) * sizeof *row);
  struct net_instant at = net_row_start(row);
  if (marks & NET_CLOSES) {
    uint32_t place = net_rowmap_find(&node->current, period);
    if (place == NET_NO_ENTRY) return;
    finish(node, place, at, bound, status);
    net_rowmap_remove(&node->current, place);
    return;
  }
  bool fresh;
  uint32_t place = net_rowmap_put(&node->current, period, &fresh);
  if (!fresh) {
    finish(node, place, at, bound, status);
    memcpy(net_rowmap_row(&node->current, place), period, out->slot_count * sizeof *period);
  }
  struct current_state *state = net_rowmap_state(&node->current, place);
  *state = (struct current_state){.marks = (uint8_t)(marks & NET_DEFINITE)};
}

/* Sends out, open, the periods whose start no later record can clip any more; returns the earliest
 * start of those that must wait. */
static net_chronon open_settled(struct event_to_period *node, net_chronon checkpoint,
                                enum base_status *status) {
  net_chronon earliest = NET_FOREVER;
  for (uint32_t i = 0; i < node->current.used; i++) {
    if (!net_rowmap_live(&node->current, i)) continue;
    struct current_state *state = net_rowmap_state(&node->current, i);
    if (state->id != 0) continue;
    struct net_instant start = net_row_start(net_rowmap_row(&node->current, i));
    if (start.hi < checkpoint || checkpoint == NET_FOREVER) {
      state->id = ++node->last_id;
      put(node, i, 0, (struct net_instant){NET_OPEN, NET_FOREVER}, checkpoint, status);
    } else if (start.lo < earliest) {
      earliest = start.lo;
    }
  }
  return earliest;
}

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  struct event_to_period *node = (struct event_to_period *)base;
  net_inbox_add(&node->inbox, port, batch);
  net_chronon checkpoint = net_inbox_checkpoint(&node->inbox);
  if (checkpoint == base->checkpoint && checkpoint != NET_FOREVER) return BASE_OK;
  struct net_inbox_item item;
  const union net_slot *row;
  enum base_status status = BASE_OK;
  while (status == BASE_OK && (row = net_inbox_next(&node->inbox, &item, NULL)) != NULL)
    record(node, row, item.marks, base->checkpoint, &status);
  net_inbox_tidy(&node->inbox);
  if (status == BASE_OK) status = net_out_flush(base, base->checkpoint, base->checkpoint, NULL);
  net_chronon earliest = open_settled(node, checkpoint, &status);
  if (status != BASE_OK) return status;
  return net_out_flush(base, earliest < checkpoint ? earliest : checkpoint, checkpoint, NULL);
}

static void mark_strings(const struct net_node *base, struct base_strings *strings) {
  const struct event_to_period *node = (const struct event_to_period *)base;
  net_inbox_mark_strings(&node->inbox, strings);
  net_rowmap_mark_strings(&node->current, strings);
}

static size_t state_rows(const struct net_node *base) {
  const struct event_to_period *node = (const struct event_to_period *)base;
  return node->current.live + net_inbox_rows(&node->inbox);
}

static size_t state_bytes(const struct net_node *base) {
  const struct event_to_period *node = (const struct event_to_period *)base;
  return net_rowmap_bytes(&node->current) + net_inbox_bytes(&node->inbox);
}

static void done(struct net_node *base) {
  struct event_to_period *node = (struct event_to_period *)base;
  net_inbox_done(&node->inbox);
  net_rowmap_done(&node->current);
}

static const struct net_node_class class = {.kind = NET_NODE_EVENT_TO_PERIOD,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

struct net_node *net_create_event_to_period(struct net_network *network, const char *name,
                                            const struct net_layout *in,
                                            const struct net_layout *out, int by) {
  BASE_CHECK(in->tuple_class == NET_EVENT && out->tuple_class == NET_PERIOD, "etop-classes");
  struct event_to_period *node = net_node_new(network, sizeof *node, &class, name, out);
  node->node.input_layouts[0] = in;
  net_inbox_init(&node->inbox, in, NULL, NET_CLOSES_BEFORE_RECORDS);
  node->key_slot = by >= 0 ? out->fields[by].slot : 0;
  net_rowmap_init(&node->current, out, NET_KEY_SLOTS, 0, &node->key_slot, by >= 0 ? 1 : 0,
                  sizeof(struct current_state));
  node->period =
      base_arena_array(net_network_arena(network), out->slot_count, sizeof *node->period);
  return &node->node;
}
