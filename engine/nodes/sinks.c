/* Sinks: display, relation-store, file-store.
 *
 *      in ──▶ [ callback ]                          display, file-store: state none
 *      in ──▶ [ relation of a store ] ──▶ out       relation-store: open rows; order kept
 *
 * The relation store keeps the open rows as written, by id, and counts those that are alike in all
 * columns: the table, a set, has one open row for them until the last of them closes.                 */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
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
  struct net_rowmap open;  /* by id */
  struct net_rowmap alike; /* by all slots; state: struct alike */
  bool replaying;
  net_chronon
      stored; /* see net_store_node_set_stored; NET_BEGINNING: nothing is known to be there */
};

/* How many open rows are one in the table, and how many of them are definite. */
struct alike {
  uint32_t rows, definite;
};

static void note_open(struct relation_store *node, const union net_slot *row, uint64_t id,
                      bool definite) {
  net_rowmap_put_id(&node->open, id, row);
  struct alike *alike = net_rowmap_state(&node->alike, net_rowmap_put(&node->alike, row, NULL));
  alike->rows++;
  alike->definite += definite;
}

/* PLACE in node->open is closed by ROW. Its row in the table may be that of others, too: then it stays,
 * as definite as they are. */
static enum base_status close_open(struct relation_store *node, uint32_t place,
                                   const union net_slot *row, uint8_t definite) {
  const struct net_store_class *store = node->store->class;
  const struct net_layout *layout = node->node.layout;
  const char *name = node->node.name;
  const union net_slot *open = net_rowmap_row(&node->open, place);
  uint32_t group = net_rowmap_find(&node->alike, open);
  struct alike *alike = net_rowmap_state(&node->alike, group);
  bool shared = alike->rows > 1;
  bool less_definite = shared && definite && alike->definite == 1;
  enum base_status status = BASE_OK;
  if (!node->replaying && shared && !less_definite) {
    status = store->put(node->store, name, layout, row, definite);
  } else if (!node->replaying) {
    status = store->close(node->store, name, layout, open, row, definite);
    BASE_CHECK(status != BASE_END, "store-close-not-there");
    if (status == BASE_OK && shared) status = store->put(node->store, name, layout, open, 0);
  }
  alike->rows--;
  alike->definite -= definite != 0;
  if (!shared) net_rowmap_remove(&node->alike, group);
  net_rowmap_remove(&node->open, place);
  return status;
}

/* Rows that a replay gives again: what started and stopped before the relation's checkpoint was whole
 * when that was committed, so it is there. */
static bool is_stored(const struct relation_store *node, const union net_slot *row) {
  const struct net_layout *layout = node->node.layout;
  if (row[0].i >= node->stored) return false;
  return layout->tuple_class == NET_EVENT || (row[2].i != NET_OPEN && row[3].i < node->stored);
}

static enum base_status store_row(struct relation_store *node, const union net_slot *row,
                                  uint8_t marks, uint64_t id) {
  const struct net_layout *layout = node->node.layout;
  uint8_t definite = marks & NET_DEFINITE;
  if (marks & NET_CLOSES) {
    uint32_t place = net_rowmap_find_id(&node->open, id);
    BASE_CHECK(place != NET_NO_ENTRY, "store-close-unknown");
    enum base_status status = close_open(node, place, row, definite);
    if (status == BASE_OK && row[2].i == NET_OPEN) note_open(node, row, id, definite != 0);
    return status;
  }
  if (layout->tuple_class == NET_PERIOD && row[2].i == NET_OPEN)
    note_open(node, row, id, definite != 0);
  if (node->replaying || is_stored(node, row)) return BASE_OK;
  return node->store->class->put(node->store, node->node.name, layout, row, definite);
}

static enum base_status consume_store(struct net_node *base, unsigned port,
                                      const struct net_batch *batch) {
  (void)port;
  struct relation_store *node = (struct relation_store *)base;
  for (uint32_t i = 0; i < batch->count; i++) {
    enum base_status status =
        store_row(node, net_batch_row(batch, i), net_batch_marks(batch, i), net_batch_id(batch, i));
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
  net_rowmap_mark_strings(&((const struct relation_store *)base)->alike, strings);
}
static size_t state_rows(const struct net_node *base) {
  return ((const struct relation_store *)base)->open.live;
}
static size_t state_bytes(const struct net_node *base) {
  const struct relation_store *node = (const struct relation_store *)base;
  return net_rowmap_bytes(&node->open) + net_rowmap_bytes(&node->alike);
}
static void done(struct net_node *base) {
  net_rowmap_done(&((struct relation_store *)base)->open);
  net_rowmap_done(&((struct relation_store *)base)->alike);
}

static const struct net_node_class store_class = {.kind = NET_NODE_RELATION_STORE,
                                                  .consume = consume_store,
                                                  .mark_strings = mark_strings,
                                                  .state_rows = state_rows,
                                                  .state_bytes = state_bytes,
                                                  .done = done};

struct net_node *net_create_relation_store(struct net_network *network, const char *name,
                                           const struct net_layout *layout,
                                           struct net_store *store) {
  struct relation_store *node = net_node_new(network, sizeof *node, &store_class, name, layout);
  node->node.input_layouts[0] = layout;
  node->node.sink = true;
  node->store = store;
  node->stored = NET_BEGINNING;
  uint32_t *slots = BASE_NEW_ARRAY(net_network_arena(network), layout->slot_count, uint32_t);
  for (uint32_t i = 0; i < layout->slot_count; i++) slots[i] = i;
  net_rowmap_init(&node->open, layout, NET_KEY_ID, 0, NULL, 0, sizeof(bool));
  net_rowmap_init(&node->alike, layout, NET_KEY_SLOTS, 0, slots, layout->slot_count,
                  sizeof(struct alike));
  return &node->node;
}

void net_store_node_set_replaying(struct net_node *node, bool replaying) {
  BASE_CHECK(node->kind == NET_NODE_RELATION_STORE, "replaying-kind");
  ((struct relation_store *)node)->replaying = replaying;
}

void net_store_node_set_stored(struct net_node *node, net_chronon stored) {
  BASE_CHECK(node->kind == NET_NODE_RELATION_STORE, "stored-kind");
  ((struct relation_store *)node)->stored = stored;
}
