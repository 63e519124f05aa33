/* Credibility 0: a variable that is not to be uncertain.
 *
 *      in ──▶ [ middle of all bounds ] ──▶ out      state: open rows that are perhaps empty
 *                                                   order: any
 *
 * Each instant becomes the middle of its bounds, rounded down; one that has a bound of `beginning` or
 * `forever` becomes that bound, and [beginning, forever] stays. Omega rows are left out, with their
 * closes, and so are periods that have become empty. Temporal values are moved along with the start.
 *
 * An open row goes out when the checkpoint has passed the middle of its start: its stop, whatever its
 * bounds will be, then has its middle after that. Until then it waits here; it holds nothing up, for its
 * start is not before the checkpoint. Its close has the middle of the stop's bounds.                */
#include <string.h>

#include "engine/base/arena.h"
#include "engine/expr.h"
#include "engine/node_impl.h"
#include "engine/rowmap.h"

struct credibility {
  struct net_node node;
  struct net_rowmap waiting; /* by id: open rows, collapsed, that have not gone out */
  union net_slot *row;       /* scratch: a collapsed row */
};

static net_chronon middle(net_chronon lo, net_chronon hi) {
  if (lo == NET_BEGINNING) return NET_BEGINNING;
  if (hi == NET_FOREVER) return NET_FOREVER;
  return lo + (net_chronon)(((uint64_t)hi - (uint64_t)lo) / 2);
}

static void collapse_instant(union net_slot *slot) {
  if (slot[0].i == NET_BEGINNING && slot[1].i == NET_FOREVER) return;
  slot[0].i = slot[1].i = middle(slot[0].i, slot[1].i);
}

static void collapse(struct credibility *node, const union net_slot *row) {
  const struct net_layout *layout = node->node.layout;
  union net_slot *to = node->row;
  memcpy(to, row, layout->slot_count * sizeof *to);
  collapse_instant(to);
  if (layout->tuple_class == NET_PERIOD && to[2].i != NET_OPEN) collapse_instant(to + 2);
  if (to[0].i == row[0].i || row[0].i == NET_BEGINNING || to[0].i == NET_FOREVER) return;
  double moved = net_units_between(net_network_timeline(node->node.network), row[0].i, to[0].i);
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const struct net_field *field = &layout->fields[i];
    if (field->type.base != NET_TEMPORAL) continue;
    struct net_temporal value;
    memcpy(&value, to + field->slot, sizeof value);
    value = net_temporal_rebase(value, moved);
    memcpy(to + field->slot, &value, sizeof value);
  }
}

static void put(struct credibility *node, const union net_slot *row, uint8_t marks, uint64_t id,
                net_chronon bound, enum base_status *status) {
  memcpy(net_out_row(&node->node, marks, id, bound, status), row,
         node->node.layout->slot_count * sizeof *row);
}

static bool is_empty(const union net_slot *row) {
  return row[1].i >= row[2].i && row[0].i == row[1].i && row[2].i == row[3].i;
}

static void take(struct credibility *node, const union net_slot *row, uint8_t marks, uint64_t id,
                 net_chronon bound, enum base_status *status) {
  if (!(marks & NET_DEFINITE)) return;
  const struct net_layout *layout = node->node.layout;
  collapse(node, row);
  if (layout->tuple_class == NET_EVENT) {
    put(node, node->row, marks, 0, bound, status);
  } else if ((marks & NET_CLOSES) && row[2].i == NET_OPEN) {
    return; /* one of several stops is known */
  } else if (marks & NET_CLOSES) {
    uint32_t place = net_rowmap_find_id(&node->waiting, id);
    if (place == NET_NO_ENTRY) {
      put(node, node->row, marks, id, bound, status);
      return;
    }
    if (node->row[2].i == NET_OPEN) { /* a better bound on the stop */
      net_rowmap_put_id(&node->waiting, id, node->row);
      return;
    }
    net_rowmap_remove(&node->waiting, place);
    if (!is_empty(node->row)) put(node, node->row, NET_DEFINITE, 0, bound, status);
  } else if (row[2].i != NET_OPEN) {
    if (!is_empty(node->row)) put(node, node->row, marks, 0, bound, status);
  } else if (node->row[1].i < bound) {
    put(node, node->row, marks, id, bound, status);
  } else {
    net_rowmap_put_id(&node->waiting, id, node->row);
  }
}

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  (void)port;
  struct credibility *node = (struct credibility *)base;
  enum base_status status = BASE_OK;
  for (uint32_t i = 0; i < batch->count && status == BASE_OK; i++)
    take(node, net_batch_row(batch, i), net_batch_marks(batch, i), net_batch_id(batch, i),
         batch->bound, &status);
  if (status == BASE_OK) status = net_out_flush(base, base->checkpoint, batch->bound, NULL);
  for (uint32_t i = 0; i < node->waiting.used && status == BASE_OK; i++) {
    if (!net_rowmap_live(&node->waiting, i)) continue;
    const union net_slot *row = net_rowmap_row(&node->waiting, i);
    if (row[1].i >= batch->checkpoint) continue;
    put(node, row, NET_DEFINITE, net_rowmap_id(&node->waiting, i), batch->checkpoint, &status);
    net_rowmap_remove(&node->waiting, i);
  }
  if (status != BASE_OK) return status;
  return net_out_flush(base, batch->checkpoint, batch->checkpoint, NULL);
}

static void mark_strings(const struct net_node *base, struct base_strings *strings) {
  net_rowmap_mark_strings(&((const struct credibility *)base)->waiting, strings);
}

static size_t state_rows(const struct net_node *base) {
  return ((const struct credibility *)base)->waiting.live;
}

static size_t state_bytes(const struct net_node *base) {
  return net_rowmap_bytes(&((const struct credibility *)base)->waiting);
}

static void done(struct net_node *base) {
  net_rowmap_done(&((struct credibility *)base)->waiting);
}

static const struct net_node_class class = {.kind = NET_NODE_CREDIBILITY,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

struct net_node *net_create_credibility(struct net_network *network, const char *name,
                                        const struct net_layout *layout) {
  struct credibility *node = net_node_new(network, sizeof *node, &class, name, layout);
  node->node.input_layouts[0] = layout;
  net_rowmap_init(&node->waiting, layout, NET_KEY_ID, 0, NULL, 0, 0);
  node->row = base_arena_array(net_network_arena(network), layout->slot_count, sizeof *node->row);
  return &node->node;
}
