/* Apply (ApplyOp of appendix C): appends a field computed from the row.
 *
 *      in ──▶ [ program ] ──▶ out          state: rows whose value is not yet known      order: kept
 *
 * An instant computed from stops that are open may be open itself; the row comes again, as a close,
 * when one of them is known. Any other value that depends on an open stop (a span) is not known before
 * the stop is: the row waits here for its close.                                                    */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/node_impl.h"
#include "engine/rowmap.h"

struct apply {
  struct net_node node;
  const struct net_layout *in;
  const struct net_program *program;
  uint32_t slot;
  enum net_base_type type;
  union net_slot *floor;
  struct net_rowmap waiting; /* by identity; state: how many */
};

static enum net_eval_error compute(const struct apply *apply, const union net_slot *row,
                                   net_chronon bound, union net_slot *ret) {
  struct net_value value;
  if (apply->type == NET_INSTANT) {
    struct net_instant instant;
    net_program_run_instant(apply->program, row, bound, &instant);
    ret[0].i = instant.lo;
    ret[1].i = instant.hi;
    return NET_EVAL_OK;
  }
  enum net_eval_error error = net_program_run(apply->program, row, bound, &value);
  if (error != NET_EVAL_OK) return error;
  switch (apply->type) {
    case NET_FLOAT:
      ret[0].f = value.f;
      break;
    case NET_STRING:
    case NET_NAME:
      ret[0].s = value.s;
      break;
    case NET_BOOL:
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

/* One row; PLACE is where it waits, if it does. A row that waits comes out as if it were new. */
static enum base_status settle(struct apply *apply, const union net_slot *row, uint8_t marks,
                               net_chronon bound) {
  uint32_t place = NET_NO_ENTRY;
  if ((marks & NET_CLOSES) && apply->waiting.live > 0) {
    place = net_rowmap_find(&apply->waiting, row);
    if (place != NET_NO_ENTRY) marks &= (uint8_t)~NET_CLOSES;
  }
  union net_slot value[4];
  enum net_eval_error error =
      compute(apply, row, net_row_bound(apply->in, row, marks, bound), value);
  if (error == NET_EVAL_OPEN && bound != NET_FOREVER) {
    if (place != NET_NO_ENTRY) return BASE_OK;
    uint32_t *count =
        net_rowmap_state(&apply->waiting, net_rowmap_put(&apply->waiting, row, NULL));
    ++*count;
    return BASE_OK;
  }
  if (place != NET_NO_ENTRY) {
    uint32_t *count = net_rowmap_state(&apply->waiting, place);
    if (--*count == 0) net_rowmap_remove(&apply->waiting, place);
  }
  if (error != NET_EVAL_OK) return net_node_error(&apply->node, error, apply->in, row);
  enum base_status status = BASE_OK;
  union net_slot *out = net_out_row(&apply->node, marks, bound, &status);
  memcpy(out, row, apply->in->slot_count * sizeof *row);
  memcpy(out + apply->slot, value, net_type_slots(apply->type) * sizeof *value);
  return status;
}

static net_chronon earliest_waiting(const struct apply *apply, net_chronon earliest) {
  for (uint32_t i = 0; i < apply->waiting.used; i++)
    if (net_rowmap_live(&apply->waiting, i) && net_rowmap_row(&apply->waiting, i)[0].i < earliest)
      earliest = net_rowmap_row(&apply->waiting, i)[0].i;
  return earliest;
}

static enum base_status consume(struct net_node *node, unsigned port,
                                const struct net_batch *batch) {
  (void)port;
  struct apply *apply = (struct apply *)node;
  for (uint32_t i = 0; i < batch->count; i++) {
    enum base_status status =
        settle(apply, net_batch_row(batch, i), net_batch_marks(batch, i), batch->bound);
    if (status != BASE_OK) return status;
  }
  const union net_slot *floor = NULL;
  if (batch->floor != NULL && node->wants_floor && apply->waiting.live == 0) {
    memcpy(apply->floor, batch->floor, apply->in->slot_count * sizeof *apply->floor);
    if (apply->type == NET_INSTANT)
      (void)compute(apply, batch->floor, batch->checkpoint, apply->floor + apply->slot);
    floor = apply->floor;
  }
  net_chronon checkpoint = batch->checkpoint;
  if (apply->waiting.live > 0) checkpoint = earliest_waiting(apply, checkpoint);
  return net_out_flush(node, checkpoint, batch->bound, floor);
}

static void mark_strings(const struct net_node *node, struct base_strings *strings) {
  net_rowmap_mark_strings(&((const struct apply *)node)->waiting, strings);
}
static size_t state_rows(const struct net_node *node) {
  return ((const struct apply *)node)->waiting.live;
}
static void done(struct net_node *node) { net_rowmap_done(&((struct apply *)node)->waiting); }

static const struct net_node_class class = {.kind = NET_NODE_APPLY,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .done = done};

struct net_node *net_create_apply(struct net_network *network, const char *name,
                                  const struct net_layout *in, const struct net_layout *out,
                                  const struct net_program *program) {
  BASE_CHECK(out->field_count == in->field_count + 1, "apply-appends-one");
  struct apply *apply = net_node_new(network, sizeof *apply, &class, name, out);
  apply->node.input_layouts[0] = in;
  apply->in = in;
  apply->program = program;
  net_rowmap_init(&apply->waiting, in, NET_KEY_IDENTITY, 0, NULL, 0, sizeof(uint32_t));
  apply->slot = out->fields[out->field_count - 1].slot;
  apply->type = out->fields[out->field_count - 1].type.base;
  apply->floor = base_arena_array(net_network_arena(network), out->slot_count, sizeof *apply->floor);
  return &apply->node;
}
