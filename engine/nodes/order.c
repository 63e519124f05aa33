/* Order (appendix C): keeps rows until the checkpoint and gives them out in temporal order.
 *
 *      in ──▶ [ ] ──▶ out          state: rows beyond the checkpoint      order: start               */
#include <string.h>

#include "engine/inbox.h"
#include "engine/node_impl.h"

struct order {
  struct net_node node;
  struct net_inbox inbox;
};

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  struct order *node = (struct order *)base;
  net_inbox_add(&node->inbox, port, batch);
  struct net_inbox_item item;
  const union net_slot *row;
  enum base_status status = BASE_OK;
  while (status == BASE_OK && (row = net_inbox_next(&node->inbox, &item, NULL)) != NULL)
    memcpy(net_out_row(base, item.marks, item.id, base->checkpoint, &status), row,
           base->layout->slot_count * sizeof *row);
  net_inbox_tidy(&node->inbox);
  if (status != BASE_OK) return status;
  return net_out_flush(base, net_inbox_checkpoint(&node->inbox), base->checkpoint, NULL);
}

static void mark_strings(const struct net_node *base, struct base_strings *strings) {
  net_inbox_mark_strings(&((const struct order *)base)->inbox, strings);
}
static size_t state_rows(const struct net_node *base) {
  return net_inbox_rows(&((const struct order *)base)->inbox);
}
static size_t state_bytes(const struct net_node *base) {
  return net_inbox_bytes(&((const struct order *)base)->inbox);
}
static void done(struct net_node *base) {
  net_inbox_done(&((struct order *)base)->inbox);
}

static const struct net_node_class class = {.kind = NET_NODE_ORDER,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

struct net_node *net_create_order(struct net_network *network, const char *name,
                                  const struct net_layout *layout) {
  struct order *node = net_node_new(network, sizeof *node, &class, name, layout);
  node->node.input_layouts[0] = layout;
  net_inbox_init(&node->inbox, layout, NULL, NET_CLOSES_AFTER_STARTS);
  return &node->node;
}
