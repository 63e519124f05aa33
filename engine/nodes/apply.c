/* Apply (ApplyOp of appendix C): appends a field computed from the row.
 *
 *      in ──▶ [ program ] ──▶ out          state: rows whose value is not yet known      order: kept
 *
 * An instant computed from stops that are open may be open itself; the row comes again, as a close,
 * when one of them is known. One that has bounds besides waits here until the checkpoint has passed
 * them: the bound of what is open would take the place of the lower one. Any other value that depends
 * on an open stop (a span) is not known before the stop is: the row waits for its close. A row whose
 * value fails is dropped, with its closes.                                                         */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/node_impl.h"
#include "engine/nodes/product/behind.h"
#include "engine/rowmap.h"

struct apply {
  struct net_node node;
  const struct net_layout *in;
  const struct net_program *program;
  uint32_t slot;
  enum net_base_type type;
  bool openable;
  union net_slot *floor;
  struct net_rowmap held; /* by id: open rows that wait, or were dropped */
  size_t waiting;         /* how many wait */
  int64_t *values;        /* of the rows of a plain batch */
  size_t value_capacity;
};

struct held_state {
  uint8_t marks;
  bool waiting;
};

static enum net_eval_error compute(const struct apply *apply, const union net_slot *row,
                                   net_chronon bound, union net_slot *ret) {
  struct net_value value;
  if (apply->type == NET_INSTANT) {
    struct net_instant instant;
    bool open;
    enum net_eval_error error =
        net_program_run_instant(apply->program, row, bound, &instant, &open);
    if (error != NET_EVAL_OK) return error;
    /* What is open at a checkpoint at forever stays an open row, also in the store. */
    if (bound == NET_FOREVER && instant.lo == NET_FOREVER && apply->openable &&
        net_row_is_open(apply->in, row))
      instant.lo = NET_OPEN;
    ret[0].i = instant.lo;
    ret[1].i = instant.hi;
    return NET_EVAL_OK;
  }
  if (apply->program->only_rebases) return net_program_rebase(apply->program, row, ret);
  enum net_eval_error error = net_program_run(apply->program, row, bound, &value);
  if (error != NET_EVAL_OK) return error;
  /* Unknown of an open row is not decided yet. */
  if (apply->type == NET_BOOL && value.truth == NET_UNKNOWN && bound != NET_FOREVER &&
      apply->program->reads_open && net_row_is_open(apply->in, row))
    return NET_EVAL_OPEN;
  switch (apply->type) {
    case NET_FLOAT:
      ret[0].f = value.f;
      break;
    case NET_STRING:
    case NET_BYTES:
    case NET_NAME:
      ret[0].s = value.s;
      break;
    case NET_BOOL:
      if (value.truth == NET_UNKNOWN && bound != NET_FOREVER && net_row_is_open(apply->in, row))
        return NET_EVAL_OPEN;
      ret[0].i = value.truth == NET_TRUE;
      break;
    case NET_TEMPORAL:
      ret[0].f = value.temporal.n0;
      ret[1].f = value.temporal.n1;
      ret[2].f = value.temporal.d0;
      ret[3].f = value.temporal.d1;
      break;
    case NET_INTEGER:
    default:
      ret[0].i = value.i;
  }
  return NET_EVAL_OK;
}

static void hold(struct apply *apply, const union net_slot *row, uint8_t marks, uint64_t id,
                 bool waiting) {
  uint32_t place = net_rowmap_put_id(&apply->held, id, row);
  struct held_state *state = net_rowmap_state(&apply->held, place);
  apply->waiting += waiting;
  apply->waiting -= state->waiting;
  *state = (struct held_state){.marks = marks & NET_DEFINITE, .waiting = waiting};
}

static void release(struct apply *apply, uint32_t place) {
  apply->waiting -= ((struct held_state *)net_rowmap_state(&apply->held, place))->waiting;
  net_rowmap_remove(&apply->held, place);
}

static enum base_status put(struct apply *apply, const union net_slot *row, uint8_t marks,
                            uint64_t id, const union net_slot *value, net_chronon bound) {
  enum base_status status = BASE_OK;
  union net_slot *out = net_out_row(&apply->node, marks, id, bound, &status);
  memcpy(out, row, apply->in->slot_count * sizeof *row);
  memcpy(out + apply->slot, value, net_type_slots(apply->type) * sizeof *value);
  return status;
}

/* One row. A row that waited comes out as if it were new. */
static enum base_status settle(struct apply *apply, const union net_slot *row, uint8_t marks,
                               uint64_t id, net_chronon bound) {
  bool open = id != 0 && net_row_is_open(apply->in, row);
  uint8_t out_marks = marks;
  if ((marks & NET_CLOSES) && apply->held.live > 0) {
    uint32_t place = net_rowmap_find_id(&apply->held, id);
    if (place != NET_NO_ENTRY) {
      bool waited = ((struct held_state *)net_rowmap_state(&apply->held, place))->waiting;
      if (!waited && open) return BASE_OK;
      release(apply, place);
      if (!waited) return BASE_OK;
      out_marks &= (uint8_t)~NET_CLOSES;
      if (!open) id = 0;
    }
  }
  union net_slot value[4];
  enum net_eval_error error =
      compute(apply, row, net_row_bound(apply->in, row, out_marks, bound), value);
  if (error == NET_EVAL_OPEN && bound != NET_FOREVER) {
    hold(apply, row, marks, id, true);
    return BASE_OK;
  }
  if (error == NET_EVAL_OK) return put(apply, row, out_marks, id, value, bound);
  if (open) hold(apply, row, marks, id, false);
  return net_node_error(&apply->node, error, apply->in, row);
}

/* Has it in plain rows a value that is one number? */
static bool is_number(const struct apply *apply) {
  return apply->program->plain_count > 0 && !net_type_is_interned(apply->type);
}

/* All rows of a plain batch, if the program has a value for each that is one number: they stay plain. */
static bool settle_column(struct apply *apply, const struct net_batch *batch,
                          enum base_status *status) {
  struct net_batch_builder *out = &apply->node.out;
  uint32_t in_slots = apply->in->slot_count, slots = apply->node.layout->slot_count;
  if (!is_number(apply)) return false;
  base_grow(&apply->values, &apply->value_capacity, batch->count, sizeof *apply->values);
  if (!net_program_column(apply->program, batch->rows, in_slots, batch->selection, batch->count,
                          apply->values))
    return false;
  for (uint32_t done = 0, count; done < batch->count; done += count) {
    if (net_batch_builder_full(out)) net_out_send_full(&apply->node, batch->bound, status);
    count = batch->count - done;
    if (count > out->capacity - out->count) count = out->capacity - out->count;
    union net_slot *to = net_batch_builder_add_plains(out, count);
    out->unordered |= batch->unordered;
    net_rows_copy(to, slots, batch->selection ? batch->rows : net_batch_row(batch, done), in_slots,
                  batch->selection ? batch->selection + done : NULL, count);
    for (uint32_t i = 0; i < count; i++)
      for (uint32_t k = in_slots; k < slots; k++)
        to[(size_t)i * slots + k].i = apply->values[done + i];
  }
  return true;
}

/* The same of a row of a plain batch: so is the result's, if it has a value. */
static enum base_status settle_plain(struct apply *apply, const union net_slot *row,
                                     const struct net_batch *batch) {
  enum base_status status = BASE_OK;
  uint32_t slots = apply->in->slot_count;
  union net_slot *out = net_out_plain(&apply->node, batch->bound, &status);
  if (status != BASE_OK) return status;
  if (compute(apply, row, batch->bound, out + slots) != NET_EVAL_OK) {
    apply->node.out.count--;
    return settle(apply, row, NET_DEFINITE, 0, batch->bound);
  }
  apply->node.out.unordered |= batch->unordered;
  net_row_copy(out, row, slots);
  return BASE_OK;
}

/* Rows that wait at the new CHECKPOINT. Instants may be known now; when it is at forever everything is,
 * as what is still open lasts for ever. */
static enum base_status settle_waiting(struct apply *apply, net_chronon checkpoint) {
  enum base_status status = BASE_OK;
  for (uint32_t i = 0; i < apply->held.used && status == BASE_OK; i++) {
    if (!net_rowmap_live(&apply->held, i)) continue;
    const struct held_state *state = net_rowmap_state(&apply->held, i);
    if (!state->waiting) continue;
    const union net_slot *row = net_rowmap_row(&apply->held, i);
    union net_slot value[4];
    enum net_eval_error error =
        compute(apply, row, net_row_bound(apply->in, row, 0, checkpoint), value);
    if (error == NET_EVAL_OPEN && checkpoint != NET_FOREVER) continue;
    if (error == NET_EVAL_OK) {
      status = put(apply, row, state->marks, net_rowmap_id(&apply->held, i), value, checkpoint);
      release(apply, i);
    } else {
      status = net_node_error(&apply->node, error, apply->in, row);
      hold(apply, row, state->marks, net_rowmap_id(&apply->held, i), false);
    }
  }
  return status;
}

static net_chronon earliest_waiting(const struct apply *apply, net_chronon earliest) {
  for (uint32_t i = 0; i < apply->held.used; i++)
    if (net_rowmap_live(&apply->held, i) &&
        ((struct held_state *)net_rowmap_state(&apply->held, i))->waiting &&
        net_rowmap_row(&apply->held, i)[0].i < earliest)
      earliest = net_rowmap_row(&apply->held, i)[0].i;
  return earliest;
}

static void lower(union net_slot *floor, net_chronon time) {
  if (time != NET_OPEN && time < floor->i) floor->i = time;
}

/* Rows that wait may go out later, with instants that are older than those of rows to come. */
static void lower_to_waiting(struct apply *apply, union net_slot *floor, net_chronon checkpoint) {
  const struct net_layout *in = apply->in;
  for (uint32_t i = 0; (i = net_rowmap_next(&apply->held, i)) < apply->held.used; i++) {
    if (!((struct held_state *)net_rowmap_state(&apply->held, i))->waiting) continue;
    const union net_slot *row = net_rowmap_row(&apply->held, i);
    for (uint32_t slot = 0; slot < in->first_domain_slot; slot += 2)
      lower(floor + slot, row[slot].i);
    for (uint32_t k = 0; k < in->field_count; k++)
      if (in->fields[k].type.base == NET_INSTANT)
        lower(floor + in->fields[k].slot, row[in->fields[k].slot].i);
    if (apply->type == NET_INSTANT)
      lower(floor + apply->slot, net_program_floor(apply->program, row, checkpoint));
  }
}

/* The floor with the new field. Where there is none, later rows still begin, and so end, at the
 * checkpoint or after it. */
static const union net_slot *floor_of(struct apply *apply, const struct net_batch *batch) {
  const struct net_layout *in = apply->in;
  union net_slot *floor = apply->floor;
  bool moves = apply->type == NET_INSTANT && apply->program->can_fail;
  if (!apply->node.wants_floor) return NULL;
  if (batch->floor != NULL) {
    memcpy(floor, batch->floor, in->slot_count * sizeof *floor);
  } else if (moves) {
    for (uint32_t i = 0; i < in->first_domain_slot; i++) floor[i].i = batch->checkpoint;
    for (uint32_t i = 0; i < in->field_count; i++)
      if (in->fields[i].type.base == NET_INSTANT) floor[in->fields[i].slot].i = NET_BEGINNING;
  } else {
    return NULL;
  }
  if (apply->type == NET_INSTANT) {
    floor[apply->slot].i = net_program_floor(apply->program, floor, batch->checkpoint);
    floor[apply->slot + 1].i = floor[apply->slot].i;
  }
  if (apply->waiting > 0) lower_to_waiting(apply, floor, batch->checkpoint);
  return floor;
}

static enum base_status consume(struct net_node *node, unsigned port,
                                const struct net_batch *batch) {
  (void)port;
  struct apply *apply = (struct apply *)node;
  /* instants may be indeterminate whatever they are computed from */
  bool plain = batch->plain && apply->type != NET_INSTANT;
  enum base_status sent = BASE_OK;
  bool all = batch->plain && settle_column(apply, batch, &sent);
  if (sent != BASE_OK) return sent;
  for (uint32_t i = 0; i < batch->count && !all; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    enum base_status status =
        plain ? settle_plain(apply, row, batch)
              : settle(apply, row, net_batch_marks(batch, i), net_batch_id(batch, i), batch->bound);
    if (status != BASE_OK) return status;
  }
  net_chronon bound = batch->bound;
  /* A truth or an instant may be decided although the stop is still open. */
  bool decides =
      batch->checkpoint == NET_FOREVER || apply->type == NET_INSTANT || apply->type == NET_BOOL;
  if (decides && apply->waiting > 0) {
    enum base_status status = net_out_flush(node, node->checkpoint, batch->bound, NULL);
    if (status == BASE_OK) status = settle_waiting(apply, net_batch_lasting(batch));
    if (status != BASE_OK) return status;
    bound = net_batch_lasting(batch);
  }
  const union net_slot *floor = floor_of(apply, batch);
  net_chronon checkpoint = batch->checkpoint;
  if (apply->waiting > 0) checkpoint = earliest_waiting(apply, checkpoint);
  net_chronon lasting = net_batch_lasting(batch);
  if (!batch->all_open && checkpoint >= lasting)
    return net_out_flush(node, checkpoint, bound, floor);
  if (bound < lasting && node->out.count > 0) {
    enum base_status status = net_out_flush(node, node->checkpoint, bound, NULL);
    if (status != BASE_OK) return status;
  }
  return net_out_settle(node, checkpoint, lasting, floor);
}

static void mark_strings(const struct net_node *node, struct base_strings *strings) {
  net_rowmap_mark_strings(&((const struct apply *)node)->held, strings);
}
static size_t state_rows(const struct net_node *node) {
  return ((const struct apply *)node)->held.live;
}
static size_t state_bytes(const struct net_node *node) {
  return net_rowmap_bytes(&((const struct apply *)node)->held);
}
static void done(struct net_node *node) {
  free(((struct apply *)node)->values);
  net_rowmap_done(&((struct apply *)node)->held);
}

static const struct net_node_class class = {.kind = NET_NODE_APPLY,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

bool net_apply_is_number(const struct net_node *node, struct net_applied *ret) {
  const struct apply *apply = (const struct apply *)node;
  BASE_CHECK(node->kind == NET_NODE_APPLY, "apply-kind");
  if (!is_number(apply)) return false;
  uint32_t in_slots = apply->in->slot_count;
  *ret = (struct net_applied){apply->program, in_slots, node->layout->slot_count - in_slots};
  return true;
}

struct net_node *net_create_apply(struct net_network *network, const char *name,
                                  const struct net_layout *in, const struct net_layout *out,
                                  const struct net_program *program) {
  BASE_CHECK(out->field_count == in->field_count + 1, "apply-appends-one");
  struct apply *apply = net_node_new(network, sizeof *apply, &class, name, out);
  apply->node.input_layouts[0] = in;
  apply->in = in;
  apply->program = program;
  apply->openable = out->fields[out->field_count - 1].openable;
  net_rowmap_init(&apply->held, in, NET_KEY_ID, 0, NULL, 0, sizeof(struct held_state));
  apply->slot = out->fields[out->field_count - 1].slot;
  apply->type = out->fields[out->field_count - 1].type.base;
  apply->floor =
      base_arena_array(net_network_arena(network), out->slot_count, sizeof *apply->floor);
  return &apply->node;
}
