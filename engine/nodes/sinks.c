/* Sinks: display, relation-store, file-store.
 *
 *      in ──▶ [ callback ]                          display, file-store: state none
 *      in ──▶ [ relation of a store ] ──▶ out       relation-store: open rows; order kept
 *
 * The relation store keeps the open rows as written, by id, and counts those that are alike in all
 * columns: the table, a set, has one open row for them until the last of them closes.
 *
 * In a network that is run once it may collect instead: what closes a row takes its place, and rows are
 * written many at a time when nothing will close them any more. The table is the same in the end.     */
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
  struct net_rowmap open;  /* by id; state: struct open */
  struct net_rowmap alike; /* by all slots; state: struct alike */
  bool alike_changed;      /* what net_store_node_alike gives, since somebody asked */
  bool replaying;
  bool collects;
  struct net_rows collected;
  struct net_rowmap places; /* where in COLLECTED the open rows are, by id; state: size_t */
  net_chronon
      stored; /* see net_store_node_set_stored; NET_BEGINNING: nothing is known to be there */
};

/* --- collecting */

/* Beyond the rows that are open. */
#define ROWS_COLLECTED 262144

/* Writes the rows that nothing will close any more; the others stay. */
static enum base_status write_whole(struct relation_store *node) {
  struct net_rows *rows = &node->collected, whole;
  /* Where the open rows come to stand; SIZE_MAX: no open row. */
  size_t *places = base_xcalloc(rows->count + 1, sizeof *places), kept = 0;
  net_rows_init(&whole, rows->layout);
  for (size_t i = 0; i < rows->count; i++) places[i] = SIZE_MAX;
  for (uint32_t i = 0; i < node->places.used; i++)
    if (net_rowmap_live(&node->places, i))
      places[*(size_t *)net_rowmap_state(&node->places, i)] = 0;
  for (size_t i = 0; i < rows->count; i++) {
    const union net_slot *row = net_rows_row(rows, i);
    if (places[i] == SIZE_MAX) {
      net_rows_add_copy(&whole, row, rows->marks[i]);
      continue;
    }
    places[i] = kept;
    memmove(net_rows_row(rows, kept), row, rows->layout->slot_count * sizeof *row);
    rows->marks[kept++] = rows->marks[i];
  }
  rows->count = kept;
  for (uint32_t i = 0; i < node->places.used; i++)
    if (net_rowmap_live(&node->places, i)) {
      size_t *place = net_rowmap_state(&node->places, i);
      *place = places[*place];
    }
  enum base_status status = node->store->class->put_rows(node->store, node->node.name, &whole);
  net_rows_done(&whole);
  free(places);
  return status;
}

static enum base_status collect_row(struct relation_store *node, const union net_slot *row,
                                    uint8_t marks, uint64_t id) {
  struct net_rows *rows = &node->collected;
  bool open = node->node.layout->tuple_class == NET_PERIOD && row[2].i == NET_OPEN;
  uint8_t definite = marks & NET_DEFINITE;
  if (marks & NET_CLOSES) {
    uint32_t place = net_rowmap_find_id(&node->places, id);
    BASE_CHECK(place != NET_NO_ENTRY, "store-close-unknown");
    size_t at = *(size_t *)net_rowmap_state(&node->places, place);
    memcpy(net_rows_row(rows, at), row, rows->layout->slot_count * sizeof *row);
    rows->marks[at] = definite;
    if (!open) net_rowmap_remove(&node->places, place);
  } else {
    if (open)
      *(size_t *)net_rowmap_state(&node->places, net_rowmap_put_id(&node->places, id, NULL)) =
          rows->count;
    net_rows_add_copy(rows, row, definite);
  }
  return rows->count < ROWS_COLLECTED + 2 * node->places.live ? BASE_OK : write_whole(node);
}

static enum base_status consume_collecting(struct relation_store *node,
                                           const struct net_batch *batch) {
  for (uint32_t i = 0; i < batch->count; i++) {
    enum base_status status = collect_row(node, net_batch_row(batch, i), net_batch_marks(batch, i),
                                          net_batch_id(batch, i));
    if (status != BASE_OK) return status;
  }
  return net_emit(&node->node, batch);
}

/* --- storing */

/* Of an open row. In a replay it is not written before it is clear that it was not over when the checkpoint was stored:
 * what a replay of less than everything makes of the time before is not always what it was. */
struct open {
  bool unwritten, definite;
};

/* How many open rows that are written are one in the table, and how many of them are definite. */
struct alike {
  uint32_t rows, definite;
};

/* How many rows the one of the table stands for beside itself, that are there for sure and perhaps: more than two that
 * are alike say no more than two, to whoever has to wait until they are one. */
static struct alike beside(const struct alike *alike) {
  uint32_t sure = alike->definite < 2 ? alike->definite : 2;
  uint32_t perhaps = alike->rows - alike->definite < 2 ? alike->rows - alike->definite : 2;
  if (alike->rows == 0) return (struct alike){0, 0};
  return (struct alike){.rows = sure + perhaps - 1, .definite = sure > 0 ? sure - 1 : 0};
}

static void change_alike(struct relation_store *node, struct alike *alike, int rows, int definite) {
  struct alike before = beside(alike);
  alike->rows += (uint32_t)rows;
  alike->definite += (uint32_t)definite;
  struct alike after = beside(alike);
  node->alike_changed |= before.rows != after.rows || before.definite != after.definite;
}

static void note_written(struct relation_store *node, const union net_slot *row, bool definite) {
  uint32_t place = net_rowmap_put(&node->alike, row, NULL);
  change_alike(node, net_rowmap_state(&node->alike, place), 1, definite);
}

static void note_open(struct relation_store *node, const union net_slot *row, uint64_t id,
                      struct open how) {
  *(struct open *)net_rowmap_state(&node->open, net_rowmap_put_id(&node->open, id, row)) = how;
  if (!how.unwritten) note_written(node, row, how.definite);
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
  change_alike(node, alike, -1, definite ? -1 : 0);
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

static bool is_open(const struct relation_store *node, const union net_slot *row) {
  return node->node.layout->tuple_class == NET_PERIOD && row[2].i == NET_OPEN;
}

static enum base_status put_row(struct relation_store *node, const union net_slot *row, uint64_t id,
                                uint8_t definite) {
  bool open = is_open(node, row), unwritten = open && row[0].i < node->stored;
  if (open) note_open(node, row, id, (struct open){unwritten, definite != 0});
  if (node->replaying || unwritten || is_stored(node, row)) return BASE_OK;
  return node->store->class->put(node->store, node->node.name, node->node.layout, row, definite);
}

static enum base_status store_row(struct relation_store *node, const union net_slot *row,
                                  uint8_t marks, uint64_t id) {
  uint8_t definite = marks & NET_DEFINITE;
  if (!(marks & NET_CLOSES)) return put_row(node, row, id, definite);
  uint32_t place = net_rowmap_find_id(&node->open, id);
  BASE_CHECK(place != NET_NO_ENTRY, "store-close-unknown");
  struct open how = *(const struct open *)net_rowmap_state(&node->open, place);
  if (how.unwritten) {
    net_rowmap_remove(&node->open, place);
    return put_row(node, row, id, definite);
  }
  enum base_status status = close_open(node, place, row, definite);
  if (status == BASE_OK && is_open(node, row))
    note_open(node, row, id, (struct open){.definite = definite != 0});
  return status;
}

/* What was not over when the checkpoint was stored. */
static enum base_status write_unwritten(struct relation_store *node) {
  enum base_status status = BASE_OK;
  for (uint32_t i = 0; i < node->open.used && status == BASE_OK; i++) {
    if (!net_rowmap_live(&node->open, i)) continue;
    struct open *how = net_rowmap_state(&node->open, i);
    const union net_slot *row = net_rowmap_row(&node->open, i);
    if (!how->unwritten) continue;
    how->unwritten = false;
    note_written(node, row, how->definite);
    status = node->store->class->put(node->store, node->node.name, node->node.layout, row,
                                     how->definite ? NET_DEFINITE : 0);
  }
  return status;
}

static enum base_status store_rows(struct relation_store *node, const struct net_batch *batch) {
  enum base_status status = BASE_OK;
  for (uint32_t i = 0; i < batch->count && status == BASE_OK; i++)
    status =
        store_row(node, net_batch_row(batch, i), net_batch_marks(batch, i), net_batch_id(batch, i));
  return status;
}

/* Events that come live: nothing is to be remembered of them, the store may take them together. */
static enum base_status append_rows(struct relation_store *node, const struct net_batch *batch) {
  const struct net_store_class *class = node->store->class;
  if (batch->count == 0 || node->replaying) return BASE_OK;
  if (batch->selection != NULL || node->stored != NET_BEGINNING || class->append == NULL)
    return store_rows(node, batch);
  const struct net_rows rows = {.layout = batch->layout,
                                .rows = (union net_slot *)batch->rows,
                                .marks = (uint8_t *)batch->marks,
                                .count = batch->count};
  return class->append(node->store, node->node.name, &rows);
}

static enum base_status consume_store(struct net_node *base, unsigned port,
                                      const struct net_batch *batch) {
  (void)port;
  struct relation_store *node = (struct relation_store *)base;
  if (node->collects) return consume_collecting(node, batch);
  enum base_status stored =
      base->layout->tuple_class == NET_EVENT ? append_rows(node, batch) : store_rows(node, batch);
  if (stored != BASE_OK) return stored;
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
  const struct net_rows *rows = &((const struct relation_store *)base)->collected;
  for (size_t i = 0; i < rows->count; i++)
    net_row_mark_strings(rows->layout, strings, net_rows_row(rows, i));
}
static size_t state_rows(const struct net_node *base) {
  const struct relation_store *node = (const struct relation_store *)base;
  return node->open.live + node->places.live;
}
static size_t state_bytes(const struct net_node *base) {
  const struct relation_store *node = (const struct relation_store *)base;
  /* Whole rows that were collected are on their way out, and no state. */
  size_t row_bytes = base->input_layouts[0]->slot_count * sizeof(union net_slot) + 1;
  return net_rowmap_bytes(&node->open) + net_rowmap_bytes(&node->alike) +
         net_rowmap_bytes(&node->places) + node->places.live * row_bytes;
}
static void done(struct net_node *base) {
  net_rowmap_done(&((struct relation_store *)base)->open);
  net_rowmap_done(&((struct relation_store *)base)->alike);
  net_rowmap_done(&((struct relation_store *)base)->places);
  net_rows_done(&((struct relation_store *)base)->collected);
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
  node->alike_changed = true;
  uint32_t *slots = BASE_NEW_ARRAY(net_network_arena(network), layout->slot_count, uint32_t);
  for (uint32_t i = 0; i < layout->slot_count; i++) slots[i] = i;
  net_rowmap_init(&node->open, layout, NET_KEY_ID, 0, NULL, 0, sizeof(struct open));
  net_rowmap_init(&node->alike, layout, NET_KEY_SLOTS, 0, slots, layout->slot_count,
                  sizeof(struct alike));
  net_rowmap_init(&node->places, NULL, NET_KEY_ID, 0, NULL, 0, sizeof(size_t));
  net_rows_init(&node->collected, layout);
  return &node->node;
}

void net_store_node_collect(struct net_node *node) {
  BASE_CHECK(node->kind == NET_NODE_RELATION_STORE, "collect-kind");
  struct relation_store *store = (struct relation_store *)node;
  store->collects = true;
}

/* At forever all that is open stops together, and what is alike is one. */
static void note_collected(struct relation_store *store) {
  if (store->node.checkpoint == NET_FOREVER) return;
  for (uint32_t i = 0; (i = net_rowmap_next(&store->places, i)) < store->places.used; i++) {
    size_t at = *(size_t *)net_rowmap_state(&store->places, i);
    note_written(store, net_rows_row(&store->collected, at), store->collected.marks[at] != 0);
  }
}

enum base_status net_store_node_finish(struct net_node *node) {
  BASE_CHECK(node->kind == NET_NODE_RELATION_STORE, "collect-kind");
  struct relation_store *store = (struct relation_store *)node;
  const struct net_store_class *class = store->store->class;
  note_collected(store);
  enum base_status status = class->put_rows(store->store, node->name, &store->collected);
  net_rows_done(&store->collected);
  return status;
}

void net_store_node_set_replaying(struct net_node *node, bool replaying) {
  BASE_CHECK(node->kind == NET_NODE_RELATION_STORE, "replaying-kind");
  ((struct relation_store *)node)->replaying = replaying;
}

enum base_status net_store_node_set_stored(struct net_node *node, net_chronon stored) {
  BASE_CHECK(node->kind == NET_NODE_RELATION_STORE, "stored-kind");
  struct relation_store *store = (struct relation_store *)node;
  store->stored = stored;
  return stored == NET_BEGINNING ? write_unwritten(store) : BASE_OK;
}

bool net_store_node_alike_changed(struct net_node *node) {
  BASE_CHECK(node->kind == NET_NODE_RELATION_STORE, "alike-kind");
  struct relation_store *store = (struct relation_store *)node;
  bool changed = store->alike_changed;
  store->alike_changed = false;
  return changed;
}

void net_store_node_alike(const struct net_node *node, struct net_rows *ret) {
  BASE_CHECK(node->kind == NET_NODE_RELATION_STORE, "alike-kind");
  const struct relation_store *store = (const struct relation_store *)node;
  for (uint32_t i = 0; (i = net_rowmap_next(&store->alike, i)) < store->alike.used; i++) {
    const union net_slot *row = net_rowmap_row(&store->alike, i);
    struct alike more = beside(net_rowmap_state(&store->alike, i));
    for (uint32_t k = 0; k < more.rows; k++)
      net_rows_add_copy(ret, row, k < more.definite ? NET_DEFINITE : 0);
  }
}
