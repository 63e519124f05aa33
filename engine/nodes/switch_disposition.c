/* Switch-disposition (appendix C): periods become events at their start.
 *
 *      in ──▶ [ ] ──▶ out          state: none      order: kept
 *
 * The row that opens a period is the event; its close says nothing new.                             */
#include <string.h>

#include "engine/node_impl.h"

struct switch_disposition {
  struct net_node node;
  const struct net_layout *in;
};

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  (void)port;
  const struct net_layout *in = ((struct switch_disposition *)base)->in, *out = base->layout;
  enum base_status status = BASE_OK;
  for (uint32_t i = 0; i < batch->count && status == BASE_OK; i++) {
    uint8_t marks = net_batch_marks(batch, i);
    if (marks & NET_CLOSES) continue;
    const union net_slot *row = net_batch_row(batch, i);
    union net_slot *event = net_out_row(base, marks, 0, batch->bound, &status);
    event[0] = row[0];
    event[1] = row[1];
    memcpy(event + out->first_domain_slot, row + in->first_domain_slot,
           (in->slot_count - in->first_domain_slot) * sizeof *row);
  }
  if (status != BASE_OK) return status;
  return net_out_flush(base, batch->checkpoint, batch->bound, NULL);
}

static const struct net_node_class class = {.kind = NET_NODE_SWITCH_DISPOSITION,
                                            .consume = consume};

struct net_node *net_create_switch_disposition(struct net_network *network, const char *name,
                                               const struct net_layout *in,
                                               const struct net_layout *out) {
  BASE_CHECK(out->tuple_class == NET_EVENT && in->field_count == out->field_count,
             "switch-layouts");
  struct switch_disposition *node = net_node_new(network, sizeof *node, &class, name, out);
  node->node.input_layouts[0] = in;
  node->in = in;
  return &node->node;
}
