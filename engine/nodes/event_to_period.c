/* Event-to-period (appendix C): the records of a traced relation become periods.
 *
 *      in ──▶ [ by ] ──▶ out          state: one open period per entity      order: start
 *
 * A record opens a period for its values of BY and closes the previous one of the same values. Of several
 * records of one entity at one time the last in sequence counts: a period of no length is no period. An
 * end record (NET_CLOSES) closes without opening. A period both of whose ends fall before the same
 * checkpoint goes out whole; one that lasts goes out open as soon as its start is final.
 *
 * Plain records (batch.h), which most are, take a short path: their periods stand in a slab in the order
 * of their starts, each waits there for its stop, and those that have one go out together, plain. What is
 * left at the end of the round joins the open periods.                                               */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/inbox.h"
#include "engine/node_impl.h"
#include "engine/rowmap.h"

/* Periods in the slab before a round is ended although more batches are to come at once. */
#define SLAB_ROWS 8192
#define RECENT    256

struct event_to_period {
  struct net_node node;
  struct net_inbox inbox;
  struct net_rowmap current; /* by entity; rows of the output layout */
  uint32_t *key_slots;       /* of both layouts' domains, in rows of the output */
  size_t key_count;
  uint64_t last_id;
  union net_slot *period; /* scratch row */
  /* The round's periods of plain records. */
  union net_slot *slab;
  uint32_t *slab_places; /* of the entity, in the map; ENDED: the period has its stop */
  size_t slab_count, slab_capacity, place_capacity;
  uint32_t *ended; /* selection of those */
  size_t ended_capacity;
  uint8_t *definite; /* marks of all of them */
  size_t definite_capacity;
  /* Entities that have an entry whose period did not go out open, some of them perhaps no more. */
  uint32_t *unopened;
  size_t unopened_count, unopened_capacity;
  /* Where the entities of the latest records stand in the map, by the low bits of the first key. */
  struct {
    int64_t key;    /* the first */
    uint32_t place; /* NET_NO_ENTRY: nothing */
  } recent[RECENT];
};

#define ENDED UINT32_MAX

struct current_state {
  uint64_t id;   /* went out as an open row; 0: it has not */
  uint32_t slab; /* index + 1 of the period in the slab; 0: it is the map's row */
  uint8_t marks;
  bool listed; /* among the unopened */
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

static void list_unopened(struct event_to_period *node, uint32_t place) {
  struct current_state *state = net_rowmap_state(&node->current, place);
  if (state->listed) return;
  state->listed = true;
  base_grow(&node->unopened, &node->unopened_capacity, node->unopened_count + 1,
            sizeof *node->unopened);
  node->unopened[node->unopened_count++] = place;
}

/* --- plain records */

static void fill_period(const struct event_to_period *node, const union net_slot *row,
                        union net_slot *ret) {
  const struct net_layout *in = node->inbox.ports[0].layout, *out = node->node.layout;
  ret[0] = row[0];
  ret[1] = row[1];
  ret[2].i = NET_OPEN;
  ret[3].i = NET_FOREVER;
  net_row_copy(ret + out->first_domain_slot, row + in->first_domain_slot,
               in->slot_count - in->first_domain_slot);
}

static union net_slot *slab_row(const struct event_to_period *node, size_t index) {
  return node->slab + index * node->node.layout->slot_count;
}

static int64_t first_key(const struct event_to_period *node, const union net_slot *period) {
  return node->key_count > 0 ? period[node->key_slots[0]].i : 0;
}

/* Do the keys of PERIOD behind the first say that it is of the entity at PLACE? */
static bool is_of(const struct event_to_period *node, const union net_slot *period,
                  uint32_t place) {
  if (node->key_count < 2) return true;
  const union net_slot *row = net_rowmap_row(&node->current, place);
  for (size_t i = 1; i < node->key_count; i++)
    if (row[node->key_slots[i]].i != period[node->key_slots[i]].i) return false;
  return true;
}

/* The entity's place in the map; *RET_NEW: it was not there. */
static uint32_t find_entity(struct event_to_period *node, const union net_slot *period,
                            bool *ret_new) {
  int64_t key = first_key(node, period);
  size_t slot = (size_t)((uint64_t)key % RECENT);
  *ret_new = false;
  if (node->recent[slot].place != NET_NO_ENTRY && node->recent[slot].key == key &&
      is_of(node, period, node->recent[slot].place))
    return node->recent[slot].place;
  uint32_t place = net_rowmap_put(&node->current, period, ret_new);
  node->recent[slot].key = key;
  node->recent[slot].place = place;
  return place;
}

static void forget_entity(struct event_to_period *node, uint32_t place) {
  const union net_slot *period = net_rowmap_row(&node->current, place);
  node->recent[(uint64_t)first_key(node, period) % RECENT].place = NET_NO_ENTRY;
  net_rowmap_remove(&node->current, place);
}

static void record_plain(struct event_to_period *node, const union net_slot *row,
                         enum base_status *status) {
  size_t width = node->node.layout->slot_count, index = node->slab_count;
  base_grow(&node->slab, &node->slab_capacity, (index + 1) * width, sizeof *node->slab);
  base_grow(&node->slab_places, &node->place_capacity, index + 1, sizeof *node->slab_places);
  union net_slot *period = slab_row(node, index);
  fill_period(node, row, period);
  bool fresh;
  uint32_t place = find_entity(node, period, &fresh);
  struct current_state *state = net_rowmap_state(&node->current, place);
  if (!fresh && state->slab == 0) {
    finish(node, place, net_row_start(row), node->node.checkpoint, status);
  } else if (!fresh) {
    union net_slot *previous = slab_row(node, state->slab - 1);
    if (previous[0].i < row[0].i) {
      previous[2] = previous[3] = row[0];
      node->slab_places[state->slab - 1] = ENDED;
    }
  }
  node->slab_places[index] = place;
  state->id = 0;
  state->marks = NET_DEFINITE;
  state->slab = (uint32_t)++node->slab_count;
}

/* The slab's periods that have ended go out; the others become those of the map. Of several records of
 * one entity at one time the earlier ones are neither: they are no periods. */
static enum base_status settle_slab(struct event_to_period *node) {
  uint32_t width = node->node.layout->slot_count, ended = 0;
  if (node->slab_count == 0) return BASE_OK;
  base_grow(&node->ended, &node->ended_capacity, node->slab_count, sizeof *node->ended);
  while (node->definite_capacity < node->slab_count) {
    base_grow(&node->definite, &node->definite_capacity, node->slab_count, 1);
    memset(node->definite, NET_DEFINITE, node->definite_capacity);
  }
  for (uint32_t i = 0; i < node->slab_count; i++) {
    uint32_t place = node->slab_places[i];
    if (place == ENDED) {
      node->ended[ended++] = i;
      continue;
    }
    struct current_state *state = net_rowmap_state(&node->current, place);
    if (state->slab != i + 1) continue;
    net_row_copy(net_rowmap_row(&node->current, place), slab_row(node, i), width);
    state->slab = 0;
    list_unopened(node, place);
  }
  node->slab_count = 0;
  enum base_status status = BASE_OK;
  for (uint32_t sent = 0; sent < ended && status == BASE_OK; sent += NET_BATCH_ROWS) {
    struct net_batch batch = {
        .layout = node->node.layout,
        .rows = node->slab,
        .marks = node->definite,
        .selection = node->ended + sent,
        .count = ended - sent < NET_BATCH_ROWS ? ended - sent : NET_BATCH_ROWS,
        .checkpoint = node->node.checkpoint,
        .bound = node->node.checkpoint,
        .plain = true};
    status = net_emit(&node->node, &batch);
  }
  return status;
}

/* --- any records */

static void record(struct event_to_period *node, const union net_slot *row, uint8_t marks,
                   net_chronon bound, enum base_status *status) {
  union net_slot *period = node->period;
  fill_period(node, row, period);
  struct net_instant at = net_row_start(row);
  if (marks & NET_CLOSES) {
    uint32_t place = net_rowmap_find(&node->current, period);
    if (place == NET_NO_ENTRY) return;
    finish(node, place, at, bound, status);
    forget_entity(node, place);
    return;
  }
  bool fresh;
  uint32_t place = net_rowmap_put(&node->current, period, &fresh);
  if (!fresh) {
    finish(node, place, at, bound, status);
    net_row_copy(net_rowmap_row(&node->current, place), period, node->node.layout->slot_count);
  }
  struct current_state *state = net_rowmap_state(&node->current, place);
  state->id = 0;
  state->marks = (uint8_t)(marks & NET_DEFINITE);
  list_unopened(node, place);
}

/* Sends out, open, the periods whose start no later record can clip any more; returns the earliest
 * start of those that must wait. */
static net_chronon open_settled(struct event_to_period *node, net_chronon checkpoint,
                                enum base_status *status) {
  net_chronon earliest = NET_FOREVER;
  size_t kept = 0;
  for (size_t k = 0; k < node->unopened_count; k++) {
    uint32_t place = node->unopened[k];
    if (!net_rowmap_live(&node->current, place)) continue;
    struct current_state *state = net_rowmap_state(&node->current, place);
    if (!state->listed) continue;
    struct net_instant start = net_row_start(net_rowmap_row(&node->current, place));
    if (start.hi < checkpoint || checkpoint == NET_FOREVER) {
      state->listed = false;
      state->id = ++node->last_id;
      put(node, place, 0, (struct net_instant){NET_OPEN, NET_FOREVER}, checkpoint, status);
      continue;
    }
    node->unopened[kept++] = place;
    if (start.lo < earliest) earliest = start.lo;
  }
  node->unopened_count = kept;
  return earliest;
}

static bool is_plain(const union net_slot *row, const struct net_inbox_item *item) {
  return item->marks == NET_DEFINITE && item->rank == 1 && row[0].i == row[1].i &&
         row[0].i != NET_FOREVER;
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
  while (status == BASE_OK && (row = net_inbox_next(&node->inbox, &item, NULL)) != NULL) {
    if (!base->general && is_plain(row, &item)) {
      record_plain(node, row, &status);
      continue;
    }
    status = settle_slab(node);
    if (status == BASE_OK) record(node, row, item.marks, base->checkpoint, &status);
  }
  net_inbox_tidy(&node->inbox);
  if (status != BASE_OK) return status;
  if (batch->more && node->slab_count < SLAB_ROWS) return BASE_OK;
  status = settle_slab(node);
  if (status == BASE_OK) status = net_out_flush(base, base->checkpoint, base->checkpoint, NULL);
  net_chronon earliest = open_settled(node, checkpoint, &status);
  if (status != BASE_OK) return status;
  return net_out_flush(base, earliest < checkpoint ? earliest : checkpoint, checkpoint, NULL);
}

static void mark_strings(const struct net_node *base, struct base_strings *strings) {
  const struct event_to_period *node = (const struct event_to_period *)base;
  net_inbox_mark_strings(&node->inbox, strings);
  net_rowmap_mark_strings(&node->current, strings);
  for (size_t i = 0; i < node->slab_count; i++)
    net_row_mark_strings(base->layout, strings, slab_row(node, i));
}

static size_t state_rows(const struct net_node *base) {
  const struct event_to_period *node = (const struct event_to_period *)base;
  return node->current.live + node->slab_count + net_inbox_rows(&node->inbox);
}

static size_t state_bytes(const struct net_node *base) {
  const struct event_to_period *node = (const struct event_to_period *)base;
  return net_rowmap_bytes(&node->current) + net_inbox_bytes(&node->inbox) +
         node->slab_capacity * sizeof *node->slab +
         node->place_capacity * sizeof *node->slab_places +
         node->ended_capacity * sizeof *node->ended + node->definite_capacity +
         node->unopened_capacity * sizeof *node->unopened;
}

static void done(struct net_node *base) {
  struct event_to_period *node = (struct event_to_period *)base;
  net_inbox_done(&node->inbox);
  net_rowmap_done(&node->current);
  free(node->slab);
  free(node->slab_places);
  free(node->ended);
  free(node->definite);
  free(node->unopened);
}

static const struct net_node_class class = {.kind = NET_NODE_EVENT_TO_PERIOD,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

struct net_node *net_create_event_to_period(struct net_network *network, const char *name,
                                            const struct net_layout *in,
                                            const struct net_layout *out,
                                            const struct net_key *by) {
  BASE_CHECK(in->tuple_class == NET_EVENT && out->tuple_class == NET_PERIOD, "etop-classes");
  struct event_to_period *node = net_node_new(network, sizeof *node, &class, name, out);
  node->node.input_layouts[0] = in;
  net_inbox_init(&node->inbox, in, NULL, NET_CLOSES_BEFORE_RECORDS);
  node->key_slots = base_arena_array(net_network_arena(network), by->count + 1, sizeof(uint32_t));
  for (size_t i = 0; i < by->count; i++) node->key_slots[i] = out->fields[by->fields[i]].slot;
  node->key_count = by->count;
  for (size_t i = 0; i < RECENT; i++) node->recent[i].place = NET_NO_ENTRY;
  net_rowmap_init(&node->current, out, NET_KEY_SLOTS, 0, node->key_slots, by->count,
                  sizeof(struct current_state));
  node->period =
      base_arena_array(net_network_arena(network), out->slot_count, sizeof *node->period);
  return &node->node;
}

void net_periods_each_open(const struct net_node *periods,
                           void (*each)(void *context, const struct net_layout *layout,
                                        const union net_slot *row),
                           void *context) {
  const struct event_to_period *node = (const struct event_to_period *)periods;
  BASE_CHECK(periods->class == &class && node->slab_count == 0, "etop-open");
  for (uint32_t i = 0; i < node->current.used; i++)
    if (net_rowmap_live(&node->current, i))
      each(context, periods->layout, net_rowmap_row(&node->current, i));
}
