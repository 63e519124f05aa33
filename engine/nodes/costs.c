/* Costs: the records of a relation as what they cost the process that made them.
 *
 *      records ──▶ [ whose, how much ] ──▶ out       state: none      order: as they come
 *      costs   ──▶ (port 1, may be left free)
 *
 * A row goes out for each record: its time, the domain that names the process, and the cost, the same of
 * all records of the relation. Port 1 has rows of such kind already, of other relations: a chain of these
 * nodes has the costs of all. End records and ends of rounds are no sensor's work and cost nothing.    */
#include "engine/node_impl.h"

struct costs {
  struct net_node node;
  uint32_t process_slot; /* in records */
  int64_t cost;
  unsigned ports;
  net_chronon checkpoints[2];
};

static void put(struct costs *node, const union net_slot *row, union net_slot process, int64_t cost,
                uint8_t marks, enum base_status *status) {
  const struct net_layout *layout = node->node.layout;
  uint8_t definite = marks & NET_DEFINITE;
  union net_slot *out = net_out_row(&node->node, definite, 0, node->node.checkpoint, status);
  out[0] = row[0];
  out[1] = row[1];
  out[layout->fields[NET_COST_PROCESS].slot] = process;
  out[layout->fields[NET_COST_CHRONONS].slot].i = cost;
}

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  struct costs *node = (struct costs *)base;
  const struct net_layout *layout = base->layout;
  enum base_status status = BASE_OK;
  for (uint32_t i = 0; i < batch->count && status == BASE_OK; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    uint8_t marks = net_batch_marks(batch, i);
    if (marks & (NET_CLOSES | NET_ROUND)) continue;
    if (port == 0) {
      if (node->cost > 0) put(node, row, row[node->process_slot], node->cost, marks, &status);
    } else {
      put(node, row, row[layout->fields[NET_COST_PROCESS].slot],
          row[layout->fields[NET_COST_CHRONONS].slot].i, marks, &status);
    }
  }
  if (status != BASE_OK) return status;
  node->checkpoints[port] = batch->checkpoint;
  net_chronon checkpoint = node->checkpoints[0];
  if (node->ports > 1 && node->checkpoints[1] < checkpoint) checkpoint = node->checkpoints[1];
  return net_out_flush(base, checkpoint, checkpoint, NULL);
}

static const struct net_node_class class = {.kind = NET_NODE_COSTS, .consume = consume};

const struct net_layout *net_cost_layout(struct base_arena *arena, struct net_type process) {
  const struct net_field fields[] = {
      [NET_COST_PROCESS] = {.name = "Process", .type = process},
      [NET_COST_CHRONONS] = {.name = "Cost", .type = {NET_INTEGER, 8}},
  };
  return net_layout_new(arena, NET_EVENT, fields, 2);
}

struct net_node *net_create_costs(struct net_network *network, const char *name,
                                  const struct net_layout *records, uint32_t process_field,
                                  int64_t cost, const struct net_layout *costs, bool more) {
  BASE_CHECK(records->tuple_class == NET_EVENT, "costs-of-records");
  BASE_CHECK(cost >= 0 && cost <= NET_COST_MOST, "cost-range");
  struct costs *node = net_node_new(network, sizeof *node, &class, name, costs);
  node->node.input_layouts[0] = records;
  if (more) node->node.input_layouts[1] = costs;
  node->process_slot = records->fields[process_field].slot;
  node->cost = cost;
  node->ports = more ? 2 : 1;
  node->checkpoints[0] = node->checkpoints[1] = NET_BEGINNING;
  return &node->node;
}
