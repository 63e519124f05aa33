/* Set: equal tuples are one, definite if any of them is.
 *
 *      in ──▶ [ all slots ] ──▶ out      state: rows beyond the checkpoint, and open rows that may
 *                                               yet be one      order: start
 *
 * Sinks make a set of what comes, and nodes that count do it by themselves. Between them and what cuts
 * rows into pieces, or counts events without knowing them again, this node stands below: equal pieces of
 * two tuples are two. Open rows that are alike
 * in everything but stops that nobody knows wait until it is clear whether they are one (alike.h). */
#include <string.h>

#include "engine/alike.h"
#include "engine/base/arena.h"
#include "engine/node_impl.h"

struct set {
  struct net_node node;
  struct net_alike alike;
  struct net_inbox inbox;
  struct net_rowmap same_start; /* whole rows of one start; state: marks */
};

static void put(struct set *set, const union net_slot *row, uint8_t marks, uint64_t id,
                net_chronon bound, enum base_status *status) {
  memcpy(net_out_row(&set->node, marks, id, bound, status), row,
         set->node.layout->slot_count * sizeof *row);
}

static void put_together(struct set *set, net_chronon bound, enum base_status *status) {
  for (uint32_t i = 0; i < set->same_start.used && *status == BASE_OK; i++)
    put(set, net_rowmap_row(&set->same_start, i), *(uint8_t *)net_rowmap_state(&set->same_start, i),
        0, bound, status);
  net_rowmap_clear(&set->same_start);
}

static void take(struct set *set, const union net_slot *row, const struct net_inbox_item *item,
                 net_chronon bound, enum base_status *status) {
  bool event = set->node.layout->tuple_class == NET_EVENT;
  if (!event && ((item->marks & NET_CLOSES) || row[2].i == NET_OPEN)) {
    put(set, row, item->marks, item->id, bound, status);
    return;
  }
  if (set->same_start.live > 0 && net_rowmap_row(&set->same_start, 0)[0].i != item->time)
    put_together(set, bound, status);
  uint32_t place = net_rowmap_put(&set->same_start, row, NULL);
  *(uint8_t *)net_rowmap_state(&set->same_start, place) |= item->marks;
}

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  (void)port;
  struct set *set = (struct set *)base;
  struct net_inbox_item item;
  const union net_slot *row;
  enum base_status status = BASE_OK;
  bool event = base->layout->tuple_class == NET_EVENT;
  if (event)
    net_inbox_add(&set->inbox, 0, batch);
  else
    net_alike_add(&set->alike, batch, &set->inbox);
  while (status == BASE_OK && (row = net_inbox_next(&set->inbox, &item, NULL)) != NULL)
    take(set, row, &item, batch->bound, &status);
  if (status == BASE_OK) put_together(set, batch->bound, &status);
  net_inbox_tidy(&set->inbox);
  if (status == BASE_OK) status = net_out_flush(base, base->checkpoint, batch->bound, NULL);
  if (status != BASE_OK) return status;
  net_chronon passed = net_inbox_checkpoint(&set->inbox);
  return net_out_flush(base, passed, event ? passed : set->alike.checkpoint, NULL);
}

static void mark_strings(const struct net_node *base, struct base_strings *strings) {
  const struct set *set = (const struct set *)base;
  net_alike_mark_strings(&set->alike, strings);
  net_inbox_mark_strings(&set->inbox, strings);
}

static size_t state_rows(const struct net_node *base) {
  const struct set *set = (const struct set *)base;
  return set->alike.held.live + net_inbox_rows(&set->inbox);
}

static size_t state_bytes(const struct net_node *base) {
  const struct set *set = (const struct set *)base;
  return net_alike_bytes(&set->alike) + net_inbox_bytes(&set->inbox) +
         net_rowmap_bytes(&set->same_start);
}

static void done(struct net_node *base) {
  struct set *set = (struct set *)base;
  net_alike_done(&set->alike);
  net_inbox_done(&set->inbox);
  net_rowmap_done(&set->same_start);
}

static const struct net_node_class class = {.kind = NET_NODE_SET,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

struct net_node *net_create_set(struct net_network *network, const char *name,
                                const struct net_layout *layout) {
  struct set *set = net_node_new(network, sizeof *set, &class, name, layout);
  set->node.input_layouts[0] = layout;
  net_alike_init(&set->alike, layout);
  net_inbox_init(&set->inbox, layout, NULL, NET_CLOSES_AFTER_STARTS);
  uint32_t *slots = BASE_NEW_ARRAY(net_network_arena(network), layout->slot_count, uint32_t);
  for (uint32_t i = 0; i < layout->slot_count; i++) slots[i] = i;
  net_rowmap_init(&set->same_start, layout, NET_KEY_SLOTS, 0, slots, layout->slot_count,
                  sizeof(uint8_t));
  return &set->node;
}
