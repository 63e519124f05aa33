/* Sinks: display, relation-store, file-store.
 *
 *      in ──▶ [ callback ]                          display, file-store: state none
 *      in ──▶ [ relation of a store ] ──▶ out       relation-store: open rows; order kept
 *
 * The relation store counts the open rows of one identity: where a projection has made several alike,
 * the table has one open row until the last of them closes (a relation is a set).                   */
#include "engine/node_impl.h"
#include "engine/rowmap.h"

struct callback_sink {
  struct net_node node;
  net_batch_fn callback;
  void *context;
};

static enum base_status consume_callback(struct net_node *base, unsigned port,
                                         const struct net_batch *batch) {
  (void)port;
  struct callback_sink *sink = (struct callback_sink *)base;
  if (batch->checkpoint > base->checkpoint) base->checkpoint = batch->checkpoint;
  return sink->callback(sink->context, batch);
}

static const struct net_node_class display_class = {.kind = NET_NODE_DISPLAY,
                                                    .consume = consume_callback};
static const struct net_node_class file_class = {.kind = NET_NODE_FILE_STORE,
                                                 .consume = consume_callback};

static struct net_node *callback_sink(struct net_network *network, const char *name,
                                      const struct net_node_class *class,
                                      const struct net_layout *layout, net_batch_fn callback,
                                      void *context) {
  struct callback_sink *sink = net_node_new(network, sizeof *sink, class, name, NULL);
  sink->node.input_layouts[0] = layout;
  sink->node.sink = true;
  sink->callback = callback;
  sink->context = context;
  return &sink->node;
}

struct net_node *net_create_display(struct net_network *network, const char *name,
                                    const struct net_layout *layout, net_batch_fn callback,
                                    void *context) {
  return callback_sink(network, name, &display_class, layout, callback, context);
}

struct net_node *net_create_file_store(struct net_network *network, const char *name,
                                       const struct net_layout *layout, net_batch_fn writer,
                                       void *context) {
  return callback_sink(network, name, &file_class, layout, writer, context);
}

struct relation_store {
  struct net_node node;
  struct net_store *store;
  struct net_rowmap open;       /* versions of open rows; state: how many */
  struct net_rowmap identities; /* of open rows; state: how many */
  bool replaying;
};

static void note_open(struct relation_store *node, const union net_slot *row, uint8_t marks) {
  uint32_t *count =
      net_rowmap_state(&node->open, net_rowmap_put_version(&node->open, row, marks, NULL));
  ++*count;
  count = net_rowmap_state(&node->identities, net_rowmap_put(&node->identities, row, NULL));
  ++*count;
}

/* *RET_ALIKE: another row of the same version is open; the result: how many of the identity are. */
static uint32_t note_close(struct relation_store *node, const union net_slot *row, uint8_t marks,
                           bool *ret_alike) {
  uint32_t place = net_rowmap_find_version(&node->open, row, marks);
  BASE_CHECK(place != NET_NO_ENTRY, "store-close-unknown");
  uint32_t *count = net_rowmap_state(&node->open, place);
  *ret_alike = --*count > 0;
  if (!*ret_alike) net_rowmap_remove(&node->open, place);
  place = net_rowmap_find(&node->identities, row);
  count = net_rowmap_state(&node->identities, place);
  uint32_t left = --*count;
  if (left == 0) net_rowmap_remove(&node->identities, place);
  return left;
}

/* A store closes any open row of the identity, or all: here of several that differ in how late they can
 * stop. After the second close none is left open for sure; those that still are come back. */
static enum base_status close_one_of_several(struct relation_store *node,
                                             const union net_slot *row, uint8_t kept) {
  const struct net_store_class *store = node->store->class;
  const struct net_layout *layout = node->node.layout;
  const char *name = node->node.name;
  enum base_status status = store->close(node->store, name, layout, row, kept);
  if (status == BASE_OK) status = store->close(node->store, name, layout, row, kept);
  for (uint32_t i = 0; i < node->open.used && status == BASE_OK; i++) {
    if (!net_rowmap_live(&node->open, i)) continue;
    const union net_slot *other = net_rowmap_row(&node->open, i);
    if (!net_row_same_identity(layout, other, row)) continue;
    uint8_t marks = net_rowmap_definite(&node->open, i) ? NET_DEFINITE : 0;
    status = store->put(node->store, name, layout, other, marks);
  }
  return status;
}

static enum base_status store_row(struct relation_store *node, const union net_slot *row,
                                  uint8_t marks) {
  const struct net_store_class *store = node->store->class;
  const struct net_layout *layout = node->node.layout;
  const char *name = node->node.name;
  bool definite = (marks & NET_DEFINITE) != 0;
  uint8_t kept = definite ? NET_DEFINITE : 0;
  if (marks & NET_CLOSES) {
    bool alike;
    uint32_t left = note_close(node, row, marks, &alike);
    if (node->replaying) return BASE_OK;
    if (left == 0) return store->close(node->store, name, layout, row, kept);
    if (alike) return store->put(node->store, name, layout, row, kept);
    return close_one_of_several(node, row, kept);
  }
  if (layout->tuple_class == NET_PERIOD && row[2].i == NET_OPEN) note_open(node, row, marks);
  return node->replaying ? BASE_OK : store->put(node->store, name, layout, row, kept);
}

static enum base_status consume_store(struct net_node *base, unsigned port,
                                      const struct net_batch *batch) {
  (void)port;
  struct relation_store *node = (struct relation_store *)base;
  for (uint32_t i = 0; i < batch->count; i++) {
    enum base_status status = store_row(node, net_batch_row(batch, i), net_batch_marks(batch, i));
    if (status != BASE_OK) return status;
  }
  if (batch->checkpoint > base->checkpoint && !node->replaying) {
    enum base_status status =
        node->store->class->checkpoint(node->store, base->name, batch->checkpoint);
    if (status != BASE_OK) return status;
  }
  return net_emit(base, batch);
}

static void mark_strings(const struct net_node *base, struct base_strings *strings) {
  net_rowmap_mark_strings(&((const struct relation_store *)base)->open, strings);
  net_rowmap_mark_strings(&((const struct relation_store *)base)->identities, strings);
}
static size_t state_rows(const struct net_node *base) {
  return ((const struct relation_store *)base)->open.live;
}
static void done(struct net_node *base) {
  net_rowmap_done(&((struct relation_store *)base)->open);
  net_rowmap_done(&((struct relation_store *)base)->identities);
}

static const struct net_node_class store_class = {.kind = NET_NODE_RELATION_STORE,
                                                  .consume = consume_store,
                                                  .mark_strings = mark_strings,
                                                  .state_rows = state_rows,
                                                  .done = done};

struct net_node *net_create_relation_store(struct net_network *network, const char *name,
                                           const struct net_layout *layout,
                                           struct net_store *store) {
  struct relation_store *node =
      net_node_new(network, sizeof *node, &store_class, name, layout);
  node->node.input_layouts[0] = layout;
  node->node.sink = true;
  node->store = store;
  net_rowmap_init(&node->open, layout, NET_KEY_VERSION, 0, NULL, 0, sizeof(uint32_t));
  net_rowmap_init(&node->identities, layout, NET_KEY_IDENTITY, 0, NULL, 0, sizeof(uint32_t));
  return &node->node;
}

void net_store_node_set_replaying(struct net_node *node, bool replaying) {
  BASE_CHECK(node->kind == NET_NODE_RELATION_STORE, "replaying-kind");
  ((struct relation_store *)node)->replaying = replaying;
}
