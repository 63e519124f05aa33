/* Apply (ApplyOp of appendix C): appends a field computed from the row.
 *
 *      in ──▶ [ program ] ──▶ out          state: none      order: kept
 *
 * An instant computed from stops that are open may be open itself; the row comes again, as a close,
 * when one of them is known.                                                                        */
#include <string.h>

#include "engine/base/arena.h"
#include "engine/node_impl.h"

struct apply {
  struct net_node node;
  const struct net_layout *in;
  const struct net_program *program;
  uint32_t slot;
  enum net_base_type type;
  union net_slot *floor;
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

static enum base_status consume(struct net_node *node, unsigned port,
                                const struct net_batch *batch) {
  (void)port;
  struct apply *apply = (struct apply *)node;
  enum base_status status = BASE_OK;
  size_t width = apply->in->slot_count;
  for (uint32_t i = 0; i < batch->count && status == BASE_OK; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    uint8_t marks = net_batch_marks(batch, i);
    union net_slot value[4];
    enum net_eval_error error =
        compute(apply, row, net_row_bound(apply->in, row, marks, batch->bound), value);
    if (error != NET_EVAL_OK) {
      status = net_node_error(node, error, apply->in, row);
      continue;
    }
    union net_slot *out = net_out_row(node, marks, batch->bound, &status);
    memcpy(out, row, width * sizeof *row);
    memcpy(out + apply->slot, value, net_type_slots(apply->type) * sizeof *value);
  }
  if (status != BASE_OK) return status;
  const union net_slot *floor = NULL;
  if (batch->floor != NULL && node->wants_floor) {
    memcpy(apply->floor, batch->floor, width * sizeof *apply->floor);
    if (apply->type == NET_INSTANT)
      (void)compute(apply, batch->floor, batch->checkpoint, apply->floor + apply->slot);
    floor = apply->floor;
  }
  return net_out_flush(node, batch->checkpoint, batch->bound, floor);
}

static const struct net_node_class class = {.kind = NET_NODE_APPLY, .consume = consume};

struct net_node *net_create_apply(struct net_network *network, const char *name,
                                  const struct net_layout *in, const struct net_layout *out,
                                  const struct net_program *program) {
  BASE_CHECK(out->field_count == in->field_count + 1, "apply-appends-one");
  struct apply *apply = net_node_new(network, sizeof *apply, &class, name, out);
  apply->node.input_layouts[0] = in;
  apply->in = in;
  apply->program = program;
  apply->slot = out->fields[out->field_count - 1].slot;
  apply->type = out->fields[out->field_count - 1].type.base;
  apply->floor = base_arena_array(net_network_arena(network), out->slot_count, sizeof *apply->floor);
  return &apply->node;
}
