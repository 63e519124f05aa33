/* Projection: chooses domains, and the instants that become the result's implicit time.
 *
 *      in ──▶ [ fields, start, stop ] ──▶ out      state: open rows, undecided rows     order: any
 *
 * A row goes out when its start is final and it is decided that the period is not certainly empty; its
 * stop may then still be open, and a close follows. The result's start need not be the input's: the
 * checkpoint that is passed on is bounded by the floor of the instant that becomes the start, and by
 * the rows that wait.
 *
 * All open input rows are held, also those whose result is decided: so that a close is never taken for
 * that of another row which is alike in all but what is known of its stops.                         */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/node_impl.h"
#include "engine/rowmap.h"

struct projection {
  struct net_node node;
  const struct net_layout *in;
  const uint32_t *sources;
  uint32_t start_slot, stop_slot;
  bool own_period;
  bool start_openable;
  struct net_rowmap held; /* versions of open input rows */
};

/* How many rows of this version wait, went out open, are decided (went out whole, or never will). */
struct held_state {
  uint32_t waiting, opened, decided;
  uint8_t marks;
  net_chronon stop_hi; /* of the open stop that went out */
};

enum verdict { DROP, WHOLE, OPENED, WAIT };

/* Is the instant at SLOT of the input one that may be open? */
static bool openable(const struct net_layout *in, uint32_t slot) {
  if (slot < in->first_domain_slot) return in->tuple_class == NET_PERIOD && slot == 2;
  for (uint32_t i = 0; i < in->field_count; i++)
    if (in->fields[i].slot == slot) return in->fields[i].openable;
  return false;
}

/* The result's implicit time and what is to become of the row. */
static enum verdict judge(const struct projection *projection, const union net_slot *row,
                          net_chronon bound, uint8_t *marks, struct net_period *ret,
                          bool *ret_open) {
  const struct net_layout *in = projection->in;
  bool undecided = bound != NET_FOREVER && net_row_is_open(in, row);
  ret->start = projection->start_openable
                   ? net_slot_stop(row, projection->start_slot, bound)
                   : net_slot_instant(row, projection->start_slot);
  if (projection->start_openable && row[projection->start_slot].i == NET_OPEN) {
    /* A start taken from an open stop: known only at its close (or for ever). */
    if (ret->start.lo != ret->start.hi || bound < ret->start.hi) return WAIT;
  }
  *ret_open = false;
  if (projection->node.layout->tuple_class == NET_EVENT) return WHOLE;
  bool stop_openable = openable(in, projection->stop_slot);
  ret->stop = stop_openable ? net_slot_stop(row, projection->stop_slot, bound)
                            : net_slot_instant(row, projection->stop_slot);
  bool open = stop_openable && row[projection->stop_slot].i == NET_OPEN &&
              !(row[projection->stop_slot + 1].i <= bound && bound != NET_FOREVER);
  if (!projection->own_period) {
    enum net_truth nonempty = net_nonempty(*ret);
    if (nonempty == NET_FALSE) return DROP;
    if (nonempty == NET_UNKNOWN) {
      if (undecided) return WAIT;
      *marks &= (uint8_t)~NET_DEFINITE;
    }
    struct net_period clipped = net_period_clip(*ret);
    /* The start of an open row is final only when the stop can no longer clip it. */
    if (open && bound != NET_FOREVER && ret->start.lo < ret->start.hi && ret->start.hi >= bound)
      return WAIT;
    *ret = clipped;
  } else if (open && bound != NET_FOREVER && ret->start.hi > ret->start.lo &&
             ret->start.hi >= bound) {
    return WAIT;
  }
  *ret_open = open;
  return open ? OPENED : WHOLE;
}

static void put_row(struct projection *projection, const union net_slot *row, uint8_t marks,
                    struct net_period period, bool open, net_chronon bound,
                    enum base_status *status) {
  const struct net_layout *layout = projection->node.layout;
  union net_slot *out = net_out_row(&projection->node, marks, bound, status);
  out[0].i = period.start.lo;
  out[1].i = period.start.hi;
  if (layout->tuple_class == NET_PERIOD) {
    out[2].i = open ? NET_OPEN : period.stop.lo;
    out[3].i = period.stop.hi;
  }
  for (uint32_t i = 0; i < layout->field_count; i++) {
    uint32_t source = projection->sources[i];
    memcpy(out + layout->fields[i].slot, row + projection->in->fields[source].slot,
           net_type_slots(layout->fields[i].type.base) * sizeof *out);
  }
}

static struct held_state *hold(struct projection *projection, const union net_slot *row,
                               uint8_t marks) {
  uint32_t place = net_rowmap_put_version(&projection->held, row, marks, NULL);
  struct held_state *state = net_rowmap_state(&projection->held, place);
  state->marks = marks & NET_DEFINITE;
  return state;
}

enum fate { NEW, WAITED, WENT_OUT_OPEN, DECIDED };

/* What has become so far of the row that ROW closes; it is no longer held. */
static enum fate release(struct projection *projection, const union net_slot *row, uint8_t marks) {
  uint32_t place = net_rowmap_find_version(&projection->held, row, marks);
  if (place == NET_NO_ENTRY) return DECIDED;
  struct held_state *state = net_rowmap_state(&projection->held, place);
  enum fate fate = state->waiting > 0 ? WAITED : state->opened > 0 ? WENT_OUT_OPEN : DECIDED;
  if (fate == WAITED) state->waiting--;
  if (fate == WENT_OUT_OPEN) state->opened--;
  if (fate == DECIDED) state->decided--;
  if (state->waiting == 0 && state->opened == 0 && state->decided == 0)
    net_rowmap_remove(&projection->held, place);
  return fate;
}

/* A row that came. */
static void settle(struct projection *projection, const union net_slot *row, uint8_t marks,
                   net_chronon bound, enum base_status *status) {
  bool open_row = net_row_is_open(projection->in, row);
  enum fate fate = marks & NET_CLOSES ? release(projection, row, marks) : NEW;
  if (fate == DECIDED) {
    if (open_row) hold(projection, row, marks)->decided++;
    return;
  }
  uint8_t out_marks = (uint8_t)(marks & NET_DEFINITE);
  struct net_period period = {{0, 0}, {0, 0}};
  bool open = false;
  enum verdict verdict =
      judge(projection, row, net_row_bound(projection->in, row, marks, bound), &out_marks, &period,
            &open);
  BASE_CHECK(fate != WENT_OUT_OPEN || verdict != DROP, "projection-retracts");
  if (verdict == WAIT && fate != WENT_OUT_OPEN) {
    hold(projection, row, marks)->waiting++;
  } else if (verdict == WAIT || verdict == OPENED) {
    struct held_state *state = hold(projection, row, marks);
    state->opened++;
    state->stop_hi = period.stop.hi;
    if (fate != WENT_OUT_OPEN) put_row(projection, row, out_marks, period, true, bound, status);
  } else {
    uint8_t closes = fate == WENT_OUT_OPEN ? NET_CLOSES : 0;
    if (open_row) hold(projection, row, marks)->decided++;
    if (verdict == WHOLE)
      put_row(projection, row, (uint8_t)(out_marks | closes), period, false, bound, status);
  }
}

/* What is held in the entry PLACE may be decided by the new checkpoint. ROW is a copy. */
static void settle_entry(struct projection *projection, uint32_t place, const union net_slot *row,
                         net_chronon checkpoint, enum base_status *status) {
  struct held_state *state = net_rowmap_state(&projection->held, place);
  uint8_t out_marks = state->marks;
  struct net_period period = {{0, 0}, {0, 0}};
  bool open = false;
  enum verdict verdict =
      judge(projection, row, net_row_bound(projection->in, row, state->marks, checkpoint),
            &out_marks, &period, &open);
  if (verdict == WAIT) return;
  for (uint32_t n = 0; n < state->waiting && verdict != DROP; n++)
    put_row(projection, row, out_marks, period, verdict == OPENED, checkpoint, status);
  if (verdict == OPENED) {
    state->opened += state->waiting;
    state->stop_hi = period.stop.hi;
  } else {
    BASE_CHECK(state->opened == 0 || verdict == WHOLE, "projection-retracts");
    for (uint32_t n = 0; n < state->opened; n++)
      put_row(projection, row, (uint8_t)(out_marks | NET_CLOSES), period, false, checkpoint, status);
    state->decided += state->waiting + state->opened;
    state->opened = 0;
  }
  state->waiting = 0;
}

/* Returns the earliest start that may still come. */
static net_chronon settle_held(struct projection *projection, net_chronon checkpoint,
                               enum base_status *status) {
  net_chronon earliest = NET_FOREVER;
  size_t width = projection->in->slot_count;
  union net_slot *row = base_xcalloc(width, sizeof *row);
  for (uint32_t i = 0; i < projection->held.used && *status == BASE_OK; i++) {
    if (!net_rowmap_live(&projection->held, i)) continue;
    const struct held_state *state = net_rowmap_state(&projection->held, i);
    if (state->waiting == 0 && (state->opened == 0 || state->stop_hi > checkpoint)) continue;
    memcpy(row, net_rowmap_row(&projection->held, i), width * sizeof *row);
    settle_entry(projection, i, row, checkpoint, status);
    if (state->waiting == 0) continue;
    net_chronon start = projection->start_openable && row[projection->start_slot].i == NET_OPEN
                            ? checkpoint
                            : row[projection->start_slot].i;
    if (start < earliest) earliest = start;
  }
  free(row);
  return earliest;
}

static net_chronon start_floor(const struct projection *projection, const struct net_batch *batch) {
  if (batch->checkpoint == NET_FOREVER || projection->start_slot == 0) return batch->checkpoint;
  if (batch->floor != NULL) {
    net_chronon floor = batch->floor[projection->start_slot].i;
    if (projection->start_openable && floor == NET_OPEN) floor = batch->floor[0].i;
    return floor < batch->checkpoint ? floor : batch->checkpoint;
  }
  /* An own stop is not before the checkpoint; of other instants nothing is known. */
  if (projection->start_slot == 2 && projection->in->tuple_class == NET_PERIOD)
    return batch->checkpoint;
  return NET_BEGINNING;
}

static enum base_status consume(struct net_node *node, unsigned port,
                                const struct net_batch *batch) {
  (void)port;
  struct projection *projection = (struct projection *)node;
  enum base_status status = BASE_OK;
  for (uint32_t i = 0; i < batch->count && status == BASE_OK; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    settle(projection, row, net_batch_marks(batch, i), batch->bound, &status);
  }
  net_chronon checkpoint = start_floor(projection, batch), bound = batch->bound;
  if (projection->held.live > 0 && status == BASE_OK) {
    status = net_out_flush(node, node->checkpoint, batch->bound, NULL);
    bound = batch->checkpoint;
    net_chronon earliest = settle_held(projection, bound, &status);
    if (earliest < checkpoint) checkpoint = earliest;
  }
  if (status != BASE_OK) return status;
  return net_out_flush(node, checkpoint, bound, NULL);
}

static void mark_strings(const struct net_node *node, struct base_strings *strings) {
  net_rowmap_mark_strings(&((const struct projection *)node)->held, strings);
}

static size_t state_rows(const struct net_node *node) {
  return ((const struct projection *)node)->held.live;
}

static void done(struct net_node *node) { net_rowmap_done(&((struct projection *)node)->held); }

static const struct net_node_class class = {.kind = NET_NODE_PROJECTION,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .done = done};

struct net_node *net_create_projection(struct net_network *network, const char *name,
                                       const struct net_layout *in, const struct net_layout *out,
                                       const uint32_t *sources, uint32_t start_slot,
                                       uint32_t stop_slot, bool own_period) {
  struct projection *projection = net_node_new(network, sizeof *projection, &class, name, out);
  projection->node.input_layouts[0] = in;
  projection->node.wants_floor = start_slot >= in->first_domain_slot;
  projection->in = in;
  projection->sources = sources;
  projection->start_slot = start_slot;
  projection->stop_slot = stop_slot;
  projection->own_period = own_period;
  projection->start_openable = openable(in, start_slot);
  net_rowmap_init(&projection->held, in, NET_KEY_VERSION, 0, NULL, 0, sizeof(struct held_state));
  return &projection->node;
}
