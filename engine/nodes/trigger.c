/* Trigger: each row asks for a sample (thesis 6.3).
 *
 *      in ──▶ [ objects of the row ] ──▶ net_trigger ──▶ sensor          state: none
 *
 * The rows are those of a trigger arc: an event, or a period, which counts when it comes. A row that closes one is
 * the same period once more. Rows that are perhaps there (omega) count like others. */
#include "engine/control.h"
#include "engine/node_impl.h"
#include "engine/triggers.h"
#include "engine/watch.h"

struct trigger {
  struct net_node node;
  struct net_triggers *triggers;
  struct net_watch watch;
  struct net_watch_object *from_row; /* its last objects */
  const uint32_t *slots;             /* where their values are */
  size_t slot_count;
};

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  struct trigger *node = (struct trigger *)base;
  (void)port;
  if (batch->checkpoint > base->checkpoint) base->checkpoint = batch->checkpoint;
  for (uint32_t i = 0; i < batch->count; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    if (net_batch_marks(batch, i) & NET_CLOSES) continue;
    for (size_t k = 0; k < node->slot_count; k++) node->from_row[k].value = row[node->slots[k]];
    net_trigger(node->triggers, &node->watch, row[1].i);
  }
  return BASE_OK;
}

static const struct net_node_class class = {.kind = NET_NODE_TRIGGER, .consume = consume};

struct net_node *net_create_trigger(struct net_network *network, const char *name,
                                    const struct net_layout *in, struct net_control *control,
                                    const struct net_watch *watch, const uint32_t *slots,
                                    size_t slot_count) {
  BASE_CHECK(slot_count <= watch->object_count, "trigger-objects");
  struct trigger *node = net_node_new(network, sizeof *node, &class, name, NULL);
  struct base_arena *arena = net_network_arena(network);
  uint32_t *copy = BASE_NEW_ARRAY(arena, slot_count + 1, uint32_t);
  for (size_t i = 0; i < slot_count; i++) copy[i] = slots[i];
  node->node.input_layouts[0] = in;
  node->node.sink = true;
  node->triggers = net_control_triggers(control);
  net_watch_copy(arena, watch, &node->watch);
  /* The copy is ours: its objects get their values of each row. */
  node->from_row =
      (struct net_watch_object *)node->watch.objects + (watch->object_count - slot_count);
  node->slots = copy;
  node->slot_count = slot_count;
  return &node->node;
}
