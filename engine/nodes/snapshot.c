/* Snapshot-store: the sink of a summary that stands. Its table has what holds at the checkpoint, without times.
 *
 *      in ──▶ [ rows that are open ] ──▶ table, when it is written ──▶ out      state: a row for each of the table
 *
 * A row that opens is in the table from then on, a row that closes no longer; what is over when it comes never is.
 * The table is written when somebody asks (net_snapshot_write), not at each checkpoint, so a value that has changed a
 * thousand times meanwhile is written once. The rows that have come into the table then go on, each whole, to displays. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/node_impl.h"
#include "engine/rowmap.h"

struct snapshot {
  struct net_node node;
  struct net_store *store;
  struct net_rowmap rows; /* by domains; state: struct held */
  struct net_rowmap open; /* by id; state: bool, definite */
  uint32_t *dirty;        /* places in ROWS */
  size_t dirty_count, dirty_capacity;
  bool quiet;       /* nobody is told what comes into the table */
  net_chronon told; /* the checkpoint when the table was written last */
};

/* What is known of rows that are equal: how many hold, and what the table has. */
struct held {
  uint32_t rows, definite;
  bool stored, stored_definite, dirty;
};

static struct held *touch(struct snapshot *node, const union net_slot *row) {
  uint32_t place = net_rowmap_put(&node->rows, row, NULL);
  struct held *held = net_rowmap_state(&node->rows, place);
  if (!held->dirty) {
    base_grow(&node->dirty, &node->dirty_capacity, node->dirty_count + 1, sizeof *node->dirty);
    node->dirty[node->dirty_count++] = place;
  }
  held->dirty = true;
  return held;
}

static void come(struct snapshot *node, const union net_slot *row, bool definite) {
  struct held *held = touch(node, row);
  held->rows++;
  held->definite += definite;
}

static void go(struct snapshot *node, const union net_slot *row, bool definite) {
  struct held *held = touch(node, row);
  BASE_CHECK(held->rows > 0 && held->definite >= definite, "snapshot-not-there");
  held->rows--;
  held->definite -= definite;
}

static void take(struct snapshot *node, const union net_slot *row, uint8_t marks, uint64_t id) {
  bool definite = marks & NET_DEFINITE;
  if (marks & NET_CLOSES) {
    uint32_t place = net_rowmap_find_id(&node->open, id);
    BASE_CHECK(place != NET_NO_ENTRY, "snapshot-close-unknown");
    go(node, row, *(bool *)net_rowmap_state(&node->open, place));
    net_rowmap_remove(&node->open, place);
  }
  bool open = row[2].i == NET_OPEN;
  if (open || row[2].i == NET_FOREVER) come(node, row, definite);
  if (open)
    *(bool *)net_rowmap_state(&node->open, net_rowmap_put_id(&node->open, id, NULL)) = definite;
}

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  (void)port;
  struct snapshot *node = (struct snapshot *)base;
  for (uint32_t i = 0; i < batch->count; i++)
    take(node, net_batch_row(batch, i), net_batch_marks(batch, i), net_batch_id(batch, i));
  if (batch->checkpoint > base->checkpoint) base->checkpoint = batch->checkpoint;
  return BASE_OK;
}

/* --- writing */

/* ROW as it stands in the table: always. */
static void place_in_time(union net_slot *row) {
  row[0].i = row[1].i = NET_BEGINNING;
  row[2].i = row[3].i = NET_FOREVER;
}

static enum base_status write_row(struct snapshot *node, union net_slot *row, struct held *held) {
  const struct net_store_class *class = node->store->class;
  const struct net_layout *layout = node->node.layout;
  bool there = held->rows > 0, definite = held->definite > 0;
  held->dirty = false;
  if (there == held->stored && (!there || definite == held->stored_definite)) return BASE_OK;
  enum base_status status = BASE_OK;
  place_in_time(row);
  if (held->stored) status = class->remove(node->store, node->node.name, layout, row);
  if (status == BASE_OK && there)
    status = class->put(node->store, node->node.name, layout, row, definite ? NET_DEFINITE : 0);
  if (status == BASE_OK && there && !node->quiet) {
    union net_slot *to =
        net_out_row(&node->node, definite ? NET_DEFINITE : 0, 0, node->told, &status);
    memcpy(to, row, layout->slot_count * sizeof *row);
    to[0].i = to[1].i = node->told;
  }
  held->stored = there;
  held->stored_definite = definite;
  return status;
}

enum base_status net_snapshot_write(struct net_node *base) {
  BASE_CHECK(base->kind == NET_NODE_SNAPSHOT_STORE, "snapshot-kind");
  struct snapshot *node = (struct snapshot *)base;
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < node->dirty_count && status == BASE_OK; i++) {
    uint32_t place = node->dirty[i];
    struct held *held = net_rowmap_state(&node->rows, place);
    status = write_row(node, net_rowmap_row(&node->rows, place), held);
    if (held->rows == 0) net_rowmap_remove(&node->rows, place);
  }
  node->dirty_count = 0;
  if (status == BASE_OK) status = net_out_flush(base, base->checkpoint, base->checkpoint, NULL);
  node->told = base->checkpoint;
  return status;
}

void net_snapshot_set_stored(struct net_node *base, const struct net_batch *batch) {
  BASE_CHECK(base->kind == NET_NODE_SNAPSHOT_STORE, "snapshot-kind");
  for (uint32_t i = 0; i < batch->count; i++) {
    struct held *held = touch((struct snapshot *)base, net_batch_row(batch, i));
    held->stored = true;
    held->stored_definite = net_batch_marks(batch, i) & NET_DEFINITE;
  }
}

void net_snapshot_set_quiet(struct net_node *base, bool quiet) {
  BASE_CHECK(base->kind == NET_NODE_SNAPSHOT_STORE, "snapshot-kind");
  ((struct snapshot *)base)->quiet = quiet;
}

/* --- the node */

static void mark_strings(const struct net_node *base, struct base_strings *strings) {
  net_rowmap_mark_strings(&((const struct snapshot *)base)->rows, strings);
}
static size_t state_rows(const struct net_node *base) {
  return ((const struct snapshot *)base)->rows.live;
}
static size_t state_bytes(const struct net_node *base) {
  const struct snapshot *node = (const struct snapshot *)base;
  return net_rowmap_bytes(&node->rows) + net_rowmap_bytes(&node->open) +
         node->dirty_capacity * sizeof *node->dirty;
}
static void done(struct net_node *base) {
  struct snapshot *node = (struct snapshot *)base;
  net_rowmap_done(&node->rows);
  net_rowmap_done(&node->open);
  free(node->dirty);
}

static const struct net_node_class class = {.kind = NET_NODE_SNAPSHOT_STORE,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

struct net_node *net_create_snapshot_store(struct net_network *network, const char *name,
                                           const struct net_layout *layout,
                                           struct net_store *store) {
  struct snapshot *node = net_node_new(network, sizeof *node, &class, name, layout);
  node->node.input_layouts[0] = layout;
  node->node.sink = true;
  node->store = store;
  node->told = NET_BEGINNING;
  uint32_t *slots = BASE_NEW_ARRAY(net_network_arena(network), layout->slot_count, uint32_t);
  size_t count = 0;
  for (uint32_t i = layout->first_domain_slot; i < layout->slot_count; i++) slots[count++] = i;
  net_rowmap_init(&node->rows, layout, NET_KEY_SLOTS, 0, slots, count, sizeof(struct held));
  net_rowmap_init(&node->open, NULL, NET_KEY_ID, 0, NULL, 0, sizeof(bool));
  return &node->node;
}
