/* Order (appendix C, thesis 7.2.2): keeps rows until the checkpoint and gives them out in the order of their starts.
 *
 *      in ──▶ [ ] ──▶ out          state: rows beyond the checkpoint      order: start
 *
 * Where several nodes need that order, it is made once. Plain rows (batch.h) go on as such, from where they lie
 * in the inbox; open ones and closes in between, in batches of their own.                              */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/inbox.h"
#include "engine/node_impl.h"

struct order {
  struct net_node node;
  struct net_inbox inbox;
  uint8_t *definite; /* marks of plain rows */
};

/* So many plain rows are worth a batch of their own. */
enum { LONG_RUN = 16 };

/* How many plain rows come next, before everything else that waits and before CHECKPOINT, if they are so many that
 * they go by themselves, or ALONE and there is nothing else. */
static uint32_t plain_run(const struct net_inbox *inbox, net_chronon checkpoint, uint32_t most,
                          bool alone) {
  const struct net_inbox_port *port = &inbox->ports[0];
  const struct net_inbox_queue *starts = &port->starts, *others = &port->others;
  net_chronon limit = others->head < others->count ? others->times[others->head] : NET_FOREVER;
  size_t end = starts->head;
  bool passed = false;
  for (; end < starts->count && end - starts->head < most; end++) {
    net_chronon start = net_inbox_row(port, starts, end)[0].i;
    passed = start >= checkpoint && checkpoint != NET_FOREVER;
    if (passed || start > limit || !(starts->marks[end] & NET_INBOX_PLAIN)) break;
  }
  uint32_t count = (uint32_t)(end - starts->head);
  bool all = (passed || end == starts->count) && others->head == others->count;
  return count >= LONG_RUN || (alone && all) ? count : 0;
}

/* The next COUNT rows, which are plain, are the last to be given out; RUN is to be those. */
static void take_run(struct order *node, uint32_t count, struct net_batch *run) {
  struct net_node *base = &node->node;
  struct net_inbox_queue *starts = &node->inbox.ports[0].starts;
  *run = (struct net_batch){.layout = base->layout,
                            .rows = net_inbox_row(&node->inbox.ports[0], starts, starts->head),
                            .marks = node->definite,
                            .count = count,
                            .checkpoint = base->checkpoint,
                            .bound = base->checkpoint,
                            .plain = true};
  starts->head += count;
}

/* All rows before the checkpoint, but for the last: *RUN, if those are plain ones, or what is in the output. */
static enum base_status give(struct order *node, struct net_batch *run) {
  struct net_node *base = &node->node;
  net_chronon checkpoint = net_inbox_checkpoint(&node->inbox);
  enum base_status status = BASE_OK;
  net_inbox_sort(&node->inbox);
  for (;;) {
    struct net_inbox_item item;
    uint32_t count = plain_run(&node->inbox, checkpoint, base->out.capacity,
                               run->count == 0 && base->out.count == 0);
    const union net_slot *row = count > 0 ? NULL : net_inbox_next(&node->inbox, &item, NULL);
    if (count == 0 && row == NULL) return status;
    if (run->count > 0) status = net_emit(base, run);
    run->count = 0;
    if (count > 0 && base->out.count > 0) net_out_send_full(base, base->checkpoint, &status);
    if (status != BASE_OK) return status;
    if (count > 0)
      take_run(node, count, run);
    else
      memcpy(net_out_row(base, item.marks, item.id, base->checkpoint, &status), row,
             base->layout->slot_count * sizeof *row);
  }
}

/* Is there anything to give out? Until the checkpoint moves only closes of rows that have gone out. */
static bool has_due(const struct order *node, const struct net_batch *batch) {
  const struct net_inbox_queue *others = &node->inbox.ports[0].others;
  net_chronon checkpoint = net_inbox_checkpoint(&node->inbox);
  if (checkpoint > node->node.checkpoint || checkpoint == NET_FOREVER) return true;
  for (size_t i = others->head; i < others->count && !batch->plain; i++)
    if (others->times[i] < checkpoint) return true;
  return false;
}

/* What give() has left, and CHECKPOINT. */
static enum base_status give_last(struct order *node, struct net_batch *run,
                                  net_chronon checkpoint) {
  struct net_node *base = &node->node;
  if (run->count == 0) return net_out_flush(base, checkpoint, base->checkpoint, NULL);
  if (checkpoint > run->checkpoint) run->checkpoint = checkpoint;
  return net_emit(base, run);
}

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  struct order *node = (struct order *)base;
  struct net_batch run = {.count = 0};
  net_inbox_add(&node->inbox, port, batch);
  net_chronon checkpoint = net_inbox_checkpoint(&node->inbox), lasting = net_batch_lasting(batch);
  enum base_status status = has_due(node, batch) ? give(node, &run) : BASE_OK;
  /* What has closed now may have stopped before LASTING. */
  bool settles = lasting > checkpoint;
  if (status == BASE_OK) status = give_last(node, &run, settles ? base->checkpoint : checkpoint);
  net_inbox_tidy(&node->inbox);
  if (status != BASE_OK || !settles) return status;
  return net_out_settle(base, checkpoint, lasting, NULL);
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
  node->definite = base_arena_array(net_network_arena(network), node->node.out.capacity, 1);
  memset(node->definite, NET_DEFINITE, node->node.out.capacity);
  return &node->node;
}
