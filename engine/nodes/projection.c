/* Projection: chooses domains, and the instants that become the result's implicit time.
 *
 *      in ──▶ [ fields, start, stop ] ──▶ out      state: open rows, undecided rows     order: any
 *
 * A row goes out when its start is final and it is decided that the period is not certainly empty; its
 * stop may then still be open, and a close follows. The result's start need not be the input's: the
 * checkpoint that is passed on is bounded by the floor of the instant that becomes the start, and by
 * the rows that wait. Of instants among the fields, the floor is the input's.
 *
 * Open input rows are held until their result is decided: what closes a row that is not held says
 * nothing new. A result that is open has the id of its input row. Of the rows held, a checkpoint looks only
 * at those that it may decide: those that wait, and of those that have gone out the ones whose stop has an upper
 * bound that it passes; the others wait for their closes.                                             */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/due.h"
#include "engine/node_impl.h"
#include "engine/nodes/product/behind.h"
#include "engine/rowmap.h"

/* Slots that lie side by side in both rows are copied together. */
struct copy {
  uint32_t from, to, count;
};

struct projection {
  struct net_node node;
  const struct net_layout *in;
  struct copy *copies; /* of the fields */
  size_t copy_count;
  uint32_t start_slot, stop_slot;
  bool own_period;
  bool not_earlier; /* the start is never before the input's own */
  bool in_order;    /* plain rows start when those of the input do */
  bool same;        /* rows of the result are those of the input, slot by slot */
  bool start_openable;
  struct net_rowmap held; /* open input rows by id */
  uint32_t *pending; /* those that each checkpoint may decide, and some that are so no longer */
  size_t pending_count, pending_capacity;
  bool pending_unsorted;
  struct net_due due;      /* those that went out, by the upper bounds of their stops */
  union net_slot *scratch; /* an input row */
  union net_slot
      *floor; /* events without anything open, with instants among the fields; else NULL */
};

struct held_state {
  uint8_t marks; /* of the input row; of one that went out: as it went out */
  bool opened;   /* went out; else it waits */
  bool listed;   /* among the pending */
};

enum verdict { DROP, WHOLE, OPENED, WAIT };

/* Is the instant at SLOT of the input one that may be open? */
static bool openable(const struct net_layout *in, uint32_t slot) {
  if (slot < in->first_domain_slot) return in->tuple_class == NET_PERIOD && slot == 2;
  for (uint32_t i = 0; i < in->field_count; i++)
    if (in->fields[i].slot == slot) return in->fields[i].openable;
  return false;
}

/* The result's implicit time and what is to become of the row. A row that is WHOLE has nothing open: an
 * instant of it that may begin at `beginning` only looks so. */
static enum verdict judge(const struct projection *projection, const union net_slot *row,
                          bool whole, net_chronon bound, uint8_t *marks, struct net_period *ret,
                          bool *ret_open) {
  const struct net_layout *in = projection->in;
  bool undecided = !whole && bound != NET_FOREVER && net_row_is_open(in, row);
  bool start_openable = !whole && projection->start_openable;
  ret->start = start_openable ? net_slot_stop(row, projection->start_slot, bound)
                              : net_slot_instant(row, projection->start_slot);
  if (start_openable && row[projection->start_slot].i == NET_OPEN) {
    /* A start taken from an open stop: known only at its close (or for ever). */
    if (ret->start.lo != ret->start.hi || bound < ret->start.hi) return WAIT;
  }
  *ret_open = false;
  if (projection->node.layout->tuple_class == NET_EVENT) return WHOLE;
  bool stop_openable = !whole && openable(in, projection->stop_slot);
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

static void copy_fields(const struct projection *projection, union net_slot *to,
                        const union net_slot *from) {
  for (size_t i = 0; i < projection->copy_count; i++) {
    const struct copy *copy = &projection->copies[i];
    net_row_copy(to + copy->to, from + copy->from, copy->count);
  }
}

static void put_row(struct projection *projection, const union net_slot *row, uint8_t marks,
                    uint64_t id, struct net_period period, bool open, net_chronon bound,
                    enum base_status *status) {
  const struct net_layout *layout = projection->node.layout;
  union net_slot *out = net_out_row(&projection->node, marks, id, bound, status);
  out[0].i = period.start.lo;
  out[1].i = period.start.hi;
  if (layout->tuple_class == NET_PERIOD) {
    out[2].i = open ? NET_OPEN : period.stop.lo;
    out[3].i = period.stop.hi;
  }
  copy_fields(projection, out, row);
}

/* The upper bound of the open stop of the row at PLACE, which went out: neither the checkpoint nor
 * clipping changes it. */
static net_chronon stop_given(const struct projection *projection, uint32_t place) {
  return net_rowmap_row(&projection->held, place)[projection->stop_slot + 1].i;
}

static void list(struct projection *projection, uint32_t place) {
  struct held_state *state = net_rowmap_state(&projection->held, place);
  if (state->listed) return;
  state->listed = true;
  base_grow(&projection->pending, &projection->pending_capacity, projection->pending_count + 1,
            sizeof *projection->pending);
  projection->pending[projection->pending_count++] = place;
  projection->pending_unsorted = true;
}

static void hold(struct projection *projection, uint32_t place, uint8_t marks, bool opened) {
  struct held_state *state = net_rowmap_state(&projection->held, place);
  state->marks = marks;
  state->opened = opened;
  if (opened)
    net_due_add(&projection->due, stop_given(projection, place), place);
  else
    list(projection, place);
}

/* A row that came, or that is held and may be decided now. MARKS: NET_CLOSES if it came so. ROW is not
 * in the map. OWN_BOUND: of this row; BOUND: of the batch. */
static void settle(struct projection *projection, const union net_slot *row, uint8_t marks,
                   uint64_t id, net_chronon own_bound, net_chronon bound,
                   enum base_status *status) {
  bool held = (marks & NET_CLOSES) != 0;
  uint32_t place = held ? net_rowmap_find_id(&projection->held, id) : NET_NO_ENTRY;
  if (held && place == NET_NO_ENTRY) return;
  struct held_state before = {.marks = marks & NET_DEFINITE};
  if (held) before = *(struct held_state *)net_rowmap_state(&projection->held, place);
  net_chronon before_hi = before.opened ? stop_given(projection, place) : NET_FOREVER;
  uint8_t out_marks = before.marks;
  struct net_period period = {{0, 0}, {0, 0}};
  bool open = false;
  enum verdict verdict = judge(projection, row, id == 0, own_bound, &out_marks, &period, &open);
  if (before.opened) out_marks = before.marks;
  BASE_CHECK(!before.opened || verdict != DROP, "projection-retracts");
  if (verdict == WAIT || verdict == OPENED) {
    bool goes = verdict == OPENED && !(before.opened && period.stop.hi == before_hi);
    place = net_rowmap_put_id(&projection->held, id, row);
    hold(projection, place, goes ? out_marks : before.marks, before.opened || goes);
    if (!goes) return;
    if (before.opened) out_marks |= NET_CLOSES; /* the stop is better known */
    put_row(projection, row, out_marks, id, period, true, bound, status);
    return;
  }
  if (held) net_rowmap_remove(&projection->held, place);
  if (verdict == DROP) return;
  if (before.opened) out_marks |= NET_CLOSES;
  put_row(projection, row, out_marks, before.opened ? id : 0, period, false, bound, status);
}

static int compare_places(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Looks at the held row at PLACE again. */
static void settle_again(struct projection *projection, uint32_t place, net_chronon checkpoint,
                         enum base_status *status) {
  const struct held_state *state = net_rowmap_state(&projection->held, place);
  union net_slot *row = projection->scratch;
  if (state->opened && stop_given(projection, place) > checkpoint) return;
  memcpy(row, net_rowmap_row(&projection->held, place), projection->in->slot_count * sizeof *row);
  net_chronon bound = net_row_bound(projection->in, row, 0, checkpoint);
  settle(projection, row, state->marks | NET_CLOSES, net_rowmap_id(&projection->held, place), bound,
         checkpoint, status);
}

/* The start of the held row at PLACE, which waits. */
static net_chronon waiting_start(const struct projection *projection, uint32_t place,
                                 net_chronon checkpoint) {
  const union net_slot *row = net_rowmap_row(&projection->held, place);
  bool open = projection->start_openable && row[projection->start_slot].i == NET_OPEN;
  return open ? checkpoint : row[projection->start_slot].i;
}

/* Is the row at PLACE there, and went out? */
static bool is_out(const struct projection *projection, uint32_t place) {
  if (place >= projection->held.used || !net_rowmap_live(&projection->held, place)) return false;
  return ((const struct held_state *)net_rowmap_state(&projection->held, place))->opened;
}

/* Those that went out and are due at CHECKPOINT become pending; SPENT: they have to be looked for. */
static void list_due(struct projection *projection, net_chronon checkpoint, bool spent) {
  uint32_t place;
  while (!spent && net_due_take(&projection->due, checkpoint, &place))
    if (is_out(projection, place)) list(projection, place);
  for (place = 0; spent && place < projection->held.used; place++)
    if (is_out(projection, place) && stop_given(projection, place) <= checkpoint)
      list(projection, place);
}

static void say_due(struct projection *projection, net_chronon checkpoint) {
  net_due_begin(&projection->due, projection->held.live);
  for (uint32_t place = 0; place < projection->held.used; place++)
    if (is_out(projection, place) && stop_given(projection, place) > checkpoint)
      net_due_say(&projection->due, stop_given(projection, place), place);
  net_due_end(&projection->due);
}

/* Returns the earliest start that may still come. */
static net_chronon settle_held(struct projection *projection, net_chronon checkpoint,
                               enum base_status *status) {
  net_chronon earliest = NET_FOREVER;
  bool spent = net_due_is_spent(&projection->due, checkpoint);
  list_due(projection, checkpoint, spent);
  if (spent) net_due_spend(&projection->due);
  uint32_t *pending = projection->pending, last = NET_NO_ENTRY;
  size_t kept = 0;
  if (projection->pending_unsorted)
    qsort(pending, projection->pending_count, sizeof *pending, compare_places);
  projection->pending_unsorted = false;
  for (size_t i = 0; i < projection->pending_count; i++) {
    uint32_t place = pending[i];
    /* what took the place of one that went may be listed, too */
    if (place == last || !net_rowmap_live(&projection->held, place)) continue;
    last = place;
    ((struct held_state *)net_rowmap_state(&projection->held, place))->listed = true;
    if (*status == BASE_OK) settle_again(projection, place, checkpoint, status);
    if (!net_rowmap_live(&projection->held, place)) continue;
    struct held_state *state = net_rowmap_state(&projection->held, place);
    state->listed = !state->opened;
    if (state->opened) continue;
    pending[kept++] = place;
    net_chronon start = waiting_start(projection, place, checkpoint);
    if (start < earliest) earliest = start;
  }
  projection->pending_count = kept;
  base_shrink(&projection->pending, &projection->pending_capacity, kept, sizeof *pending);
  if (spent) say_due(projection, checkpoint);
  return earliest;
}

static net_chronon start_floor(const struct projection *projection, const struct net_batch *batch) {
  if (batch->checkpoint == NET_FOREVER || projection->start_slot == 0 || projection->not_earlier)
    return batch->checkpoint;
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

/* Rows that have gone out wait for nothing, so later ones have what the input's later ones have. */
static const union net_slot *floor_of(const struct projection *projection,
                                      const struct net_batch *batch, net_chronon checkpoint) {
  if (projection->floor == NULL || batch->floor == NULL || batch->checkpoint == NET_FOREVER)
    return NULL;
  projection->floor[0].i = checkpoint;
  projection->floor[1].i = NET_FOREVER;
  copy_fields(projection, projection->floor, batch->floor);
  return projection->floor;
}

/* Plain rows: the result's time is determinate, too, and whether it is empty is known. */
static void project_plain(struct projection *projection, const struct net_batch *batch,
                          enum base_status *status) {
  const struct net_layout *layout = projection->node.layout;
  bool period = layout->tuple_class == NET_PERIOD;
  uint32_t start = projection->start_slot, stop = projection->stop_slot;
  for (uint32_t i = 0; i < batch->count; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    if (period && !(row[start].i < row[stop].i)) continue;
    union net_slot *out = net_out_plain(&projection->node, batch->bound, status);
    projection->node.out.unordered |= batch->unordered || !projection->in_order;
    out[0] = out[1] = row[start];
    if (period) out[2] = out[3] = row[stop];
    copy_fields(projection, out, row);
  }
}

/* Rows that are the result's as they are need not be copied. */
static enum base_status pass_on(struct projection *projection, const struct net_batch *batch) {
  struct net_node *node = &projection->node;
  struct net_batch out = *batch;
  out.layout = node->layout;
  out.checkpoint = start_floor(projection, batch);
  if (out.checkpoint < node->checkpoint) out.checkpoint = node->checkpoint;
  if (out.bound < node->checkpoint) out.bound = node->checkpoint;
  out.floor = NULL;
  return net_emit(node, &out);
}

static enum base_status consume(struct net_node *node, unsigned port,
                                const struct net_batch *batch) {
  (void)port;
  struct projection *projection = (struct projection *)node;
  enum base_status status = BASE_OK;
  if (batch->plain && batch->count > 0 && projection->same && projection->held.live == 0)
    return pass_on(projection, batch);
  if (batch->plain) project_plain(projection, batch, &status);
  for (uint32_t i = 0; i < batch->count && status == BASE_OK && !batch->plain; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    uint8_t marks = net_batch_marks(batch, i);
    settle(projection, row, marks, net_batch_id(batch, i),
           net_row_bound(projection->in, row, marks, batch->bound), batch->bound, &status);
  }
  net_chronon checkpoint = start_floor(projection, batch), bound = batch->bound;
  if (projection->held.live > 0 && status == BASE_OK) {
    status = net_out_flush(node, node->checkpoint, batch->bound, NULL);
    bound = net_batch_lasting(batch);
    net_chronon earliest = settle_held(projection, bound, &status);
    if (earliest < checkpoint) checkpoint = earliest;
  }
  if (status != BASE_OK) return status;
  net_chronon lasting = net_batch_lasting(batch);
  if (!batch->all_open && checkpoint >= lasting)
    return net_out_flush(node, checkpoint, bound, floor_of(projection, batch, checkpoint));
  if (bound < lasting && node->out.count > 0)
    status = net_out_flush(node, node->checkpoint, bound, NULL);
  if (status != BASE_OK) return status;
  return net_out_settle(node, checkpoint, lasting, floor_of(projection, batch, checkpoint));
}

static void mark_strings(const struct net_node *node, struct base_strings *strings) {
  net_rowmap_mark_strings(&((const struct projection *)node)->held, strings);
}

static size_t state_rows(const struct net_node *node) {
  return ((const struct projection *)node)->held.live;
}

static size_t state_bytes(const struct net_node *node) {
  const struct projection *projection = (const struct projection *)node;
  return net_rowmap_bytes(&projection->held) +
         projection->pending_capacity * sizeof *projection->pending +
         net_due_bytes(&projection->due);
}

static void done(struct net_node *node) {
  struct projection *projection = (struct projection *)node;
  net_rowmap_done(&projection->held);
  free(projection->pending);
  net_due_done(&projection->due);
}

static const struct net_node_class class = {.kind = NET_NODE_PROJECTION,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

static void plan_copies(struct projection *projection, const uint32_t *sources) {
  const struct net_layout *out = projection->node.layout;
  projection->copies = base_arena_array(net_network_arena(projection->node.network),
                                        out->field_count, sizeof *projection->copies);
  for (uint32_t i = 0; i < out->field_count; i++) {
    uint32_t from = sources[i], to = out->fields[i].slot;
    uint32_t slots = net_type_slots(out->fields[i].type.base);
    struct copy *last =
        projection->copy_count ? &projection->copies[projection->copy_count - 1] : NULL;
    if (last != NULL && last->from + last->count == from && last->to + last->count == to) {
      last->count += slots;
    } else {
      projection->copies[projection->copy_count++] = (struct copy){from, to, slots};
    }
  }
}

void net_projection_of(const struct net_node *node, struct net_projected *ret) {
  const struct projection *projection = (const struct projection *)node;
  BASE_CHECK(node->kind == NET_NODE_PROJECTION, "projection-kind");
  *ret = (struct net_projected){projection->start_slot, projection->stop_slot, projection->same,
                                projection->in_order};
}

uint32_t net_projection_source(const struct net_node *node, uint32_t to) {
  const struct projection *projection = (const struct projection *)node;
  const struct copy *copy = projection->copies;
  while (to < copy->to || to >= copy->to + copy->count) copy++;
  return copy->from + to - copy->to;
}

struct net_node *net_create_projection(struct net_network *network, const char *name,
                                       const struct net_layout *in, const struct net_layout *out,
                                       const uint32_t *sources, uint32_t start_slot,
                                       uint32_t stop_slot, bool own_period, bool not_earlier,
                                       bool keeps_start) {
  struct projection *projection = net_node_new(network, sizeof *projection, &class, name, out);
  projection->node.input_layouts[0] = in;
  projection->node.wants_floor = start_slot >= in->first_domain_slot && !not_earlier;
  projection->in = in;
  projection->start_slot = start_slot;
  projection->stop_slot = stop_slot;
  projection->own_period = own_period;
  projection->not_earlier = not_earlier;
  projection->in_order = keeps_start || start_slot == 0;
  projection->start_openable = openable(in, start_slot);
  net_due_spend(&projection->due);
  plan_copies(projection, sources);
  projection->scratch =
      base_arena_array(net_network_arena(network), in->slot_count, sizeof *projection->scratch);
  projection->same = in->slot_count == out->slot_count && in->tuple_class == out->tuple_class &&
                     in->first_domain_slot == out->first_domain_slot && start_slot == 0 &&
                     (in->tuple_class == NET_EVENT || stop_slot == 2) &&
                     projection->copy_count == 1 &&
                     projection->copies[0].from == projection->copies[0].to &&
                     projection->copies[0].count == in->slot_count - in->first_domain_slot;
  bool instants = false;
  for (uint32_t i = 0; i < out->field_count; i++)
    instants |= out->fields[i].type.base == NET_INSTANT;
  if (instants && out->tuple_class == NET_EVENT && !projection->start_openable)
    projection->floor =
        base_arena_array(net_network_arena(network), out->slot_count, sizeof *projection->floor);
  net_rowmap_init(&projection->held, in, NET_KEY_ID, 0, NULL, 0, sizeof(struct held_state));
  return &projection->node;
}
