/* Access: where rows enter the network (thesis 6.3).
 *
 *      [ source or push ] ──▶ out          state: none      order: that of the source
 *
 * A source is pulled by net_run; without one, the owner pushes batches. With DROP_CLOSES, end records
 * are left out: the reader wants starts only.                                                       */
#include "engine/nodes/access.h"

#include <stdlib.h>

#include "engine/base/arena.h"

struct access {
  struct net_node node;
  struct net_source *source;
  bool drop_closes;
  uint32_t *selection;
  size_t selection_capacity;
};

static enum base_status send(struct net_node *node, const struct net_batch *batch) {
  struct access *access = (struct access *)node;
  struct net_batch out = *batch;
  if (out.checkpoint < node->checkpoint) out.checkpoint = node->checkpoint;
  if (out.bound < node->checkpoint) out.bound = node->checkpoint;
  if (access->drop_closes) {
    base_grow(&access->selection, &access->selection_capacity, batch->count,
              sizeof *access->selection);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < batch->count; i++)
      if (!(net_batch_marks(batch, i) & NET_CLOSES))
        access->selection[kept++] = net_batch_index(batch, i);
    out.selection = access->selection;
    out.count = kept;
  }
  return net_emit(node, &out);
}

bool net_access_pulling(const struct net_node *node) {
  return ((const struct access *)node)->source != NULL;
}

enum base_status net_access_pull(struct net_node *node) {
  struct access *access = (struct access *)node;
  struct net_batch batch;
  node->fires++;
  enum base_status status = access->source->next(access->source, &batch);
  if (status == BASE_END) {
    access->source->free(access->source);
    access->source = NULL;
    return BASE_OK;
  }
  if (status != BASE_OK) return status;
  return send(node, &batch);
}

enum base_status net_access_push(struct net_node *node, const struct net_batch *batch) {
  BASE_CHECK(node->kind == NET_NODE_ACCESS, "push-access");
  node->fires++;
  node->rows_in += batch->count;
  return send(node, batch);
}

static void done(struct net_node *node) {
  struct access *access = (struct access *)node;
  if (access->source != NULL) access->source->free(access->source);
  free(access->selection);
}

static enum base_status consume(struct net_node *node, unsigned port,
                                const struct net_batch *batch) {
  (void)port;
  return net_access_push(node, batch);
}

static const struct net_node_class class = {
    .kind = NET_NODE_ACCESS, .consume = consume, .done = done};

struct net_node *net_create_access(struct net_network *network, const char *name,
                                   const struct net_layout *layout, struct net_source *source,
                                   bool drop_closes) {
  struct access *access = net_node_new(network, sizeof *access, &class, name, layout);
  access->source = source;
  access->drop_closes = drop_closes;
  return &access->node;
}
