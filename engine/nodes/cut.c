/* Cut: the sub-periods in which a condition over temporal values holds.
 *
 *      in ──▶ [ condition ] ──▶ out      state: open rows of which something may still come
 *                                        order: any
 *
 * With a BRIDGE, pieces that are no further apart than that are one: windows of aggregates then count
 * their tuple once. Of an open row a piece lasts on through such a gap; where the row ends in it, the
 * piece closes at the begin of the gap, which windows have not passed yet.
 *
 * The condition is evaluated between the chronons at which one of its comparisons turns (exact.h), and
 * each maximal stretch in which it is not false is a row of its own, a piece, with its temporal values
 * counted from there. Where the condition MARKS, pieces in which it is false come as well, and a field
 * behind the others tells which is which.
 *
 * A period that is not known to the chronon is not cut: the condition is the same from its earliest
 * start to its latest stop, or that is an error. An event is tested at its instant; if it is uncertain
 * whether the condition holds there, the event is omega.
 *
 * An open row is cut as far as it is known: with a bound B, pieces that end at or before B are whole,
 * the one that B is in is open (with an id of this node's), those that begin later wait. Whatever the
 * stop will be, these pieces do not change. Where the row may still turn out to be an error, by a pole
 * further on or by an uncertain start, all of it waits, and holds the checkpoint back.              */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/node_impl.h"
#include "engine/rowmap.h"

/* [START, STOP) of the period; STOP forever: up to its end. */
struct piece {
  net_chronon start, stop;
  bool holds;
};

struct cut {
  struct net_node node;
  const struct net_layout *in;
  const struct net_program *condition;
  const uint32_t *sources;
  uint32_t source_count;
  bool marks, first_only;
  int64_t bridge;
  uint64_t last_id;
  struct net_rowmap held; /* by id: open rows */
  size_t waiting;         /* how many of them have given out nothing and may be an error */
  struct piece *pieces;   /* of the row that was evaluated last */
  size_t piece_count, piece_capacity;
  bool changes;        /* the condition is not the same all the time: */
  net_chronon changed; /* when it turns first */
  uint64_t *turns;     /* chronons from the start, where some comparison may turn */
  size_t turn_count, turn_capacity;
  uint64_t extent; /* chronons of the period that is evaluated */
};

/* Of an open row: what has been given out of it. The row says the rest, for its pieces stay what they are. */
struct held_state {
  uint64_t id;     /* of the piece that is open */
  net_chronon due; /* nothing changes before the bound is past this */
};

/* ... in what the map leaves beside it. */
struct held_count {
  uint32_t definite : 1;
  uint32_t waiting : 1; /* nothing has been given out, and it may be an error */
  uint32_t open : 1;    /* the last piece that has been given out is open */
  uint32_t given : 29;  /* pieces before this one, by their number, have been given out */
};
_Static_assert(sizeof(struct held_count) == 4, "what a map leaves");

static net_chronon smaller(net_chronon a, net_chronon b) {
  return a < b ? a : b;
}

/* --- the pieces of a row */

static void add_turn(struct cut *cut, uint64_t turn) {
  if (turn == 0 || turn >= cut->extent) return;
  base_grow(&cut->turns, &cut->turn_capacity, cut->turn_count + 1, sizeof *cut->turns);
  cut->turns[cut->turn_count++] = turn;
}

static void found_root(void *context, uint64_t root, bool whole) {
  struct cut *cut = context;
  if (whole) add_turn(cut, root);
  if (root < UINT64_MAX) add_turn(cut, root + 1);
}

static int order_of_turns(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* A gap that a window bridges is none. */
static void bridge(struct cut *cut) {
  size_t count = 0;
  for (size_t i = 0; i < cut->piece_count; i++) {
    struct piece *last = count > 0 ? &cut->pieces[count - 1] : NULL, piece = cut->pieces[i];
    bool gap = !piece.holds && last && i + 1 < cut->piece_count;
    if (gap && (uint64_t)piece.stop - (uint64_t)piece.start <= (uint64_t)cut->bridge)
      piece.holds = true;
    if (last && last->holds == piece.holds) {
      last->stop = piece.stop;
    } else {
      cut->pieces[count++] = piece;
    }
  }
  cut->piece_count = count;
}

static void add_piece(struct cut *cut, net_chronon start, net_chronon stop, bool holds) {
  if (cut->piece_count > 0 && cut->pieces[cut->piece_count - 1].holds == holds) {
    cut->pieces[cut->piece_count - 1].stop = stop;
    return;
  }
  base_grow(&cut->pieces, &cut->piece_capacity, cut->piece_count + 1, sizeof *cut->pieces);
  cut->pieces[cut->piece_count++] = (struct piece){start, stop, holds};
}

static enum net_eval_error holds_at(struct cut *cut, const union net_slot *row, uint64_t offset,
                                    bool *ret) {
  struct net_moment moment = {offset, cut->extent - 1, offset == 0 ? found_root : NULL, cut};
  struct net_value value;
  enum net_eval_error error =
      net_program_run_moment(cut->condition, row, NET_FOREVER, &moment, &value);
  if (error == NET_EVAL_OK) *ret = value.truth != NET_FALSE;
  return error;
}

/* The pieces of ROW from its earliest start to STOP; they adjoin, true and false in turn. */
static enum net_eval_error evaluate(struct cut *cut, const union net_slot *row, net_chronon stop) {
  net_chronon start = row[0].i;
  bool holds = false;
  cut->extent = (uint64_t)stop - (uint64_t)start;
  cut->turn_count = cut->piece_count = 0;
  enum net_eval_error error = holds_at(cut, row, 0, &holds);
  if (error != NET_EVAL_OK) return error;
  if (cut->turn_count > 1) qsort(cut->turns, cut->turn_count, sizeof *cut->turns, order_of_turns);
  net_chronon from = start;
  for (size_t i = 0; i < cut->turn_count; i++) {
    uint64_t offset = cut->turns[i];
    if ((net_chronon)((uint64_t)start + offset) == NET_OPEN) offset++; /* which is no time */
    net_chronon turn = (net_chronon)((uint64_t)start + offset);
    if (turn == from || offset >= cut->extent) continue;
    add_piece(cut, from, turn, holds);
    from = turn;
    error = holds_at(cut, row, offset, &holds);
    if (error != NET_EVAL_OK) return error;
  }
  add_piece(cut, from, stop, holds);
  cut->changes = cut->piece_count > 1;
  if (cut->changes) cut->changed = cut->pieces[1].start;
  if (cut->changes && cut->bridge > 0) bridge(cut);
  return NET_EVAL_OK;
}

/* Is PIECE one that goes out? With FIRST_ONLY the first that holds, and what is before it. */
static bool goes_out(const struct cut *cut, size_t index) {
  if (cut->first_only) {
    for (size_t i = 0; i < index; i++)
      if (cut->pieces[i].holds) return false;
  }
  return cut->marks || cut->pieces[index].holds;
}

/* --- rows out */

static void put(struct cut *cut, const union net_slot *row, uint8_t marks, uint64_t id,
                struct net_period period, bool open, bool holds, net_chronon bound,
                enum base_status *status) {
  const struct net_layout *in = cut->in, *layout = cut->node.layout;
  union net_slot *out = net_out_row(&cut->node, marks, id, bound, status);
  out[0].i = period.start.lo;
  out[1].i = period.start.hi;
  if (layout->tuple_class == NET_PERIOD) {
    out[2].i = open ? NET_OPEN : period.stop.lo;
    out[3].i = period.stop.hi;
  }
  enum net_timeline timeline = net_network_timeline(cut->node.network);
  for (uint32_t i = 0; i < cut->source_count; i++) {
    const struct net_field *from = &in->fields[cut->sources[i]];
    union net_slot *to = out + layout->fields[i].slot;
    memcpy(to, row + from->slot, net_type_slots(from->type.base) * sizeof *to);
    if (from->type.base != NET_TEMPORAL || period.start.lo == row[0].i) continue;
    struct net_temporal value = {to[0].f, to[1].f, to[2].f, to[3].f};
    value = net_temporal_rebase(value, net_units_between(timeline, row[0].i, period.start.lo));
    memcpy(to, &value, sizeof value);
  }
  if (cut->marks) out[layout->fields[cut->source_count].slot].i = holds;
}

static struct net_instant at(net_chronon time) {
  return (struct net_instant){time, time};
}

/* The row as it is, but for the field that marks. */
static void put_uncut(struct cut *cut, const union net_slot *row, uint8_t marks, bool holds,
                      net_chronon bound, enum base_status *status) {
  struct net_period period = {net_row_start(row), {0, 0}};
  if (cut->in->tuple_class == NET_PERIOD) period.stop = net_slot_instant(row, 2);
  put(cut, row, marks, 0, period, false, holds, bound, status);
}

static void fail(struct cut *cut, enum net_eval_error error, const union net_slot *row,
                 enum base_status *status) {
  enum base_status failed = net_node_error(&cut->node, error, cut->in, row);
  if (*status == BASE_OK) *status = failed;
}

static bool is_determinate(const union net_slot *row) {
  return row[0].i == row[1].i && row[2].i == row[3].i;
}

static void settle_event(struct cut *cut, const union net_slot *row, uint8_t marks,
                         net_chronon bound, enum base_status *status) {
  enum net_eval_error error =
      evaluate(cut, row, row[1].i == NET_FOREVER ? NET_FOREVER : row[1].i + 1);
  if (error != NET_EVAL_OK) {
    fail(cut, error, row, status);
    return;
  }
  if (cut->piece_count > 1) marks &= (uint8_t)~NET_DEFINITE;
  bool holds = cut->piece_count > 1 || cut->pieces[0].holds;
  if (holds || cut->marks) put_uncut(cut, row, marks, holds, bound, status);
}

/* A period whose end is known. */
static void settle_whole(struct cut *cut, const union net_slot *row, uint8_t marks,
                         net_chronon bound, enum base_status *status) {
  enum net_eval_error error = evaluate(cut, row, row[3].i);
  if (error == NET_EVAL_OK && cut->changes && !is_determinate(row)) error = NET_EVAL_CUT;
  if (error != NET_EVAL_OK) {
    fail(cut, error, row, status);
    return;
  }
  if (cut->piece_count == 1) {
    if (goes_out(cut, 0)) put_uncut(cut, row, marks, cut->pieces[0].holds, bound, status);
    return;
  }
  for (size_t i = 0; i < cut->piece_count; i++) {
    struct net_period period = {at(cut->pieces[i].start), at(cut->pieces[i].stop)};
    if (goes_out(cut, i))
      put(cut, row, marks, 0, period, false, cut->pieces[i].holds, bound, status);
  }
}

/* --- open rows */

/* The row at PLACE. */
struct held {
  const union net_slot *row;
  struct held_state *state;
  struct held_count *count;
};

static struct held held_at(const struct cut *cut, uint32_t place) {
  return (struct held){net_rowmap_row(&cut->held, place), net_rowmap_state(&cut->held, place),
                       net_rowmap_small(&cut->held, place)};
}

static uint8_t marks_of(const struct held *held) {
  return (uint8_t)(held->count->definite ? NET_DEFINITE : 0);
}

static bool is_open(const struct held *held, size_t index) {
  return held->count->open && index + 1 == held->count->given;
}

static void note_given(struct held *held, size_t index, bool open) {
  BASE_CHECK(index + 1 < (size_t)1 << 29, "cut-pieces");
  held->count->given = (uint32_t)(index + 1) & ((UINT32_C(1) << 29) - 1);
  held->count->open = open;
}

/* PIECE, which is open, ends, or its end is better known. */
static void put_stop(struct cut *cut, const struct held *held, const struct piece *piece,
                     struct net_instant stop, bool open, net_chronon bound,
                     enum base_status *status) {
  struct net_period period = {at(piece->start), stop};
  if (piece->start == held->row[0].i) period.start = net_row_start(held->row);
  put(cut, held->row, marks_of(held) | NET_CLOSES, held->state->id, period, open, piece->holds,
      bound, status);
}

static void put_open(struct cut *cut, struct held *held, const struct piece *piece,
                     net_chronon bound, enum base_status *status) {
  struct net_period period = {at(piece->start), at(piece->stop)};
  if (piece->start == held->row[0].i) period.start = net_row_start(held->row);
  held->state->id = ++cut->last_id;
  put(cut, held->row, marks_of(held), held->state->id, period, true, piece->holds, bound, status);
}

static void put_whole(struct cut *cut, const struct held *held, const struct piece *piece,
                      struct net_instant stop, net_chronon bound, enum base_status *status) {
  struct net_period period = {at(piece->start), stop};
  if (piece->start == held->row[0].i) period.start = net_row_start(held->row);
  put(cut, held->row, marks_of(held), 0, period, false, piece->holds, bound, status);
}

/* Gives out what of the pieces is known at OWN_BOUND, which the stop is not before. TOLD: where the open piece was
 * said to stop, at the latest; pieces stop no later than the row. */
static void progress(struct cut *cut, struct held *held, net_chronon own_bound, net_chronon told,
                     net_chronon bound, enum base_status *status) {
  net_chronon stop_hi = held->row[3].i;
  held->state->due = NET_FOREVER;
  for (size_t i = 0; i < cut->piece_count; i++) {
    const struct piece *piece = &cut->pieces[i];
    bool was_open = is_open(held, i), ends = piece->stop < stop_hi && piece->stop <= own_bound;
    if (!goes_out(cut, i) || (i < held->count->given && !was_open)) continue;
    if (piece->start >= own_bound) {
      held->state->due = piece->start;
      return;
    }
    note_given(held, i, !ends);
    if (was_open) {
      if (ends || piece->stop != told)
        put_stop(cut, held, piece, at(piece->stop), !ends, bound, status);
    } else if (ends) {
      put_whole(cut, held, piece, at(piece->stop), bound, status);
    } else {
      put_open(cut, held, piece, bound, status);
    }
    if (ends) continue;
    if (piece->stop < stop_hi) held->state->due = piece->stop - 1;
    return;
  }
}

/* What is known of the open ROW at OWN_BOUND: NET_EVAL_OK, it has pieces (in cut->pieces), and they may
 * go out; NET_EVAL_OPEN, it may still be an error; else the error that it is. */
static enum net_eval_error judge(struct cut *cut, const union net_slot *row,
                                 net_chronon own_bound) {
  enum net_eval_error error = evaluate(cut, row, row[3].i);
  if (error != NET_EVAL_OK) {
    if (own_bound <= row[0].i) return NET_EVAL_OPEN;
    error = evaluate(cut, row, smaller(own_bound, row[3].i));
    return error == NET_EVAL_OK ? NET_EVAL_OPEN : error;
  }
  if (!cut->changes || row[0].i == row[1].i) return NET_EVAL_OK;
  return cut->changed < own_bound ? NET_EVAL_CUT : NET_EVAL_OPEN;
}

static bool anything_goes_out(const struct cut *cut) {
  for (size_t i = 0; i < cut->piece_count; i++)
    if (goes_out(cut, i)) return true;
  return false;
}

static void set_waiting(struct cut *cut, const struct held *held, bool waiting) {
  cut->waiting += waiting;
  cut->waiting -= held->count->waiting;
  held->count->waiting = waiting;
}

/* Where the open piece of HELD, if there is one, was said to stop, at the latest; it is the last one now. */
static net_chronon told_stop(struct cut *cut, const struct held *held) {
  if (!held->count->open) return NET_FOREVER;
  enum net_eval_error error = evaluate(cut, held->row, held->row[3].i);
  BASE_CHECK(error == NET_EVAL_OK && held->count->given <= cut->piece_count, "cut-open-piece");
  return cut->pieces[held->count->given - 1].stop;
}

/* The open row at PLACE, which is new or was held; PLACE may be gone afterwards. TOLD: see progress; NULL: as the
 * row says. */
static void settle_open(struct cut *cut, uint32_t place, net_chronon own_bound,
                        const net_chronon *told, net_chronon bound, enum base_status *status) {
  struct held held = held_at(cut, place);
  enum net_eval_error error = judge(cut, held.row, own_bound);
  if (error == NET_EVAL_OPEN) {
    set_waiting(cut, &held, true);
    held.state->due = held.row[0].i;
    return;
  }
  set_waiting(cut, &held, false);
  if (error == NET_EVAL_OK) {
    if (anything_goes_out(cut)) {
      bool open = held.count->open;
      BASE_CHECK(!open || held.count->given <= cut->piece_count, "cut-open-piece");
      net_chronon last = open ? cut->pieces[held.count->given - 1].stop : NET_FOREVER;
      progress(cut, &held, own_bound, told != NULL ? *told : last, bound, status);
      return;
    }
  } else {
    fail(cut, error, held.row, status);
  }
  net_rowmap_remove(&cut->held, place);
}

/* Of a row that has ended, as HELD says: the pieces. */
static void put_rest(struct cut *cut, const struct held *held, net_chronon bound,
                     enum base_status *status) {
  const union net_slot *row = held->row;
  struct net_instant stop = net_slot_instant(row, 2);
  for (size_t i = 0; i < cut->piece_count; i++) {
    const struct piece *piece = &cut->pieces[i];
    struct net_instant end = piece->stop < row[3].i ? at(piece->stop) : stop;
    if (!goes_out(cut, i)) continue;
    if (is_open(held, i))
      put_stop(cut, held, piece, end, false, bound, status);
    else if (i >= held->count->given)
      put_whole(cut, held, piece, end, bound, status);
  }
}

/* The row that was held at PLACE ends: as ROW says. */
static void settle_end(struct cut *cut, uint32_t place, const union net_slot *row,
                       net_chronon bound, enum base_status *status) {
  struct held held = held_at(cut, place);
  net_chronon told = told_stop(cut, &held);
  struct piece last = {0};
  if (held.count->open) last = cut->pieces[held.count->given - 1];
  held.row = row;
  set_waiting(cut, &held, false);
  enum net_eval_error error = evaluate(cut, row, row[3].i);
  if (error == NET_EVAL_OK && cut->changes && !is_determinate(row)) error = NET_EVAL_CUT;
  if (error == NET_EVAL_OK) {
    put_rest(cut, &held, bound, status);
  } else {
    struct net_instant end = {smaller(row[2].i, told), smaller(row[3].i, told)};
    if (held.count->open) put_stop(cut, &held, &last, end, false, bound, status);
    fail(cut, error, row, status);
  }
  net_rowmap_remove(&cut->held, place);
}

/* --- batches */

static void settle(struct cut *cut, const union net_slot *row, uint8_t marks, uint64_t id,
                   net_chronon bound, enum base_status *status) {
  bool open = id != 0 && row[2].i == NET_OPEN;
  net_chronon own_bound = net_row_bound(cut->in, row, marks, bound);
  if (id == 0) {
    settle_whole(cut, row, marks, bound, status);
    return;
  }
  uint32_t place = net_rowmap_find_id(&cut->held, id);
  if (marks & NET_CLOSES) {
    if (place == NET_NO_ENTRY) return;
    if (!open) {
      settle_end(cut, place, row, bound, status);
      return;
    }
    struct held held = held_at(cut, place);
    net_chronon told = told_stop(cut, &held);
    memcpy(net_rowmap_row(&cut->held, place), row, cut->in->slot_count * sizeof *row);
    settle_open(cut, place, own_bound, &told, bound, status);
    return;
  }
  place = net_rowmap_put_id(&cut->held, id, row);
  struct held held = held_at(cut, place);
  *held.state = (struct held_state){0};
  *held.count = (struct held_count){.definite = (marks & NET_DEFINITE) != 0};
  settle_open(cut, place, own_bound, NULL, bound, status);
}

/* Open rows, which are LASTING so long. Returns the earliest start that may still come before CHECKPOINT. */
static net_chronon settle_held(struct cut *cut, net_chronon checkpoint, net_chronon lasting,
                               enum base_status *status) {
  net_chronon earliest = checkpoint;
  for (uint32_t i = 0; i < cut->held.used && *status == BASE_OK; i++) {
    if (!net_rowmap_live(&cut->held, i)) continue;
    const union net_slot *row = net_rowmap_row(&cut->held, i);
    net_chronon own_bound = net_row_bound(cut->in, row, 0, lasting);
    if (own_bound <= ((struct held_state *)net_rowmap_state(&cut->held, i))->due) continue;
    settle_open(cut, i, own_bound, NULL, lasting, status);
  }
  for (uint32_t i = 0; i < cut->held.used && cut->waiting > 0; i++) {
    if (!net_rowmap_live(&cut->held, i)) continue;
    struct held held = held_at(cut, i);
    if (held.count->waiting) earliest = smaller(earliest, held.row[0].i);
  }
  return earliest;
}

static enum base_status consume(struct net_node *node, unsigned port,
                                const struct net_batch *batch) {
  (void)port;
  struct cut *cut = (struct cut *)node;
  bool events = cut->in->tuple_class == NET_EVENT;
  enum base_status status = BASE_OK;
  for (uint32_t i = 0; i < batch->count && status == BASE_OK; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    uint8_t marks = net_batch_marks(batch, i);
    if (events) {
      settle_event(cut, row, marks, batch->bound, &status);
    } else {
      settle(cut, row, marks, net_batch_id(batch, i), batch->bound, &status);
    }
  }
  if (status == BASE_OK && cut->held.live == 0)
    return net_out_flush(node, batch->checkpoint, batch->bound, NULL);
  if (status == BASE_OK) status = net_out_flush(node, node->checkpoint, batch->bound, NULL);
  net_chronon checkpoint = batch->checkpoint, lasting = net_batch_lasting(batch);
  if (status == BASE_OK) checkpoint = settle_held(cut, checkpoint, lasting, &status);
  if (status != BASE_OK) return status;
  return net_out_settle(node, checkpoint, lasting, NULL);
}

static void mark_strings(const struct net_node *node, struct base_strings *strings) {
  net_rowmap_mark_strings(&((const struct cut *)node)->held, strings);
}

static size_t state_rows(const struct net_node *node) {
  return ((const struct cut *)node)->held.live;
}

static size_t state_bytes(const struct net_node *node) {
  return net_rowmap_bytes(&((const struct cut *)node)->held);
}

static void done(struct net_node *node) {
  struct cut *cut = (struct cut *)node;
  net_rowmap_done(&cut->held);
  free(cut->pieces);
  free(cut->turns);
}

static const struct net_node_class class = {.kind = NET_NODE_CUT,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

struct net_node *net_create_cut(struct net_network *network, const char *name,
                                const struct net_cut_params *params) {
  struct cut *cut = net_node_new(network, sizeof *cut, &class, name, params->out);
  BASE_CHECK(params->out->field_count == params->source_count + params->marks, "cut-layouts");
  cut->node.input_layouts[0] = params->in;
  cut->in = params->in;
  cut->condition = params->condition;
  cut->sources = params->sources;
  cut->source_count = params->source_count;
  cut->marks = params->marks;
  cut->first_only = params->first_only;
  cut->bridge = params->bridge;
  net_rowmap_init(&cut->held, params->in, NET_KEY_ID, 0, NULL, 0, sizeof(struct held_state));
  return &cut->node;
}
