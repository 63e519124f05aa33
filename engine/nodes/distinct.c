/* Distinct: a tuple that is there both for sure and perhaps is there for sure.
 *
 *      in ──▶ [ all slots ] ──▶ out      state: omega rows that are not decided, and the definite
 *                                               ones that are like them      order: any
 *
 * Needed below nodes that treat definite and omega rows apart, as coalesce does; sinks make a set of
 * what comes anyway. Definite rows pass as they come. An omega row goes on once no definite row can be
 * equal to it: every row of its start has come (the checkpoint has passed it), and none of those with
 * its start and domains has its stop, or may still have. Otherwise it is left out, with its close.   */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/cells.h"
#include "engine/node_impl.h"
#include "engine/rowmap.h"

/* A definite row, or an omega row that waits. */
struct tuple {
  union net_slot *row; /* the stop as it is known */
  uint64_t id;         /* as it came; 0: whole */
  bool definite;
};

struct tuples {
  struct tuple *items;
  size_t count, capacity;
};

struct distinct {
  struct net_node node;
  struct net_rowmap alike;  /* by identity; state: struct tuples */
  struct net_rowmap passed; /* by id: open omega rows that have gone on */
  struct net_rowmap gone;   /* by id: open omega rows that were left out */
  net_chronon checkpoint;
  size_t rows;
  struct net_cells cells; /* rows of tuples */
  struct tuples *spare;   /* arrays of those that are forgotten */
  size_t spare_count, spare_capacity;
  size_t array_tuples; /* room in all arrays, spare ones too */
};

static void put(struct distinct *node, const union net_slot *row, uint8_t marks, uint64_t id,
                net_chronon bound, enum base_status *status) {
  memcpy(net_out_row(&node->node, marks, id, bound, status), row,
         node->node.layout->slot_count * sizeof *row);
}

static bool is_open(const union net_slot *row) {
  return row[2].i == NET_OPEN;
}

static void remember(struct distinct *node, const union net_slot *row, uint64_t id, bool definite) {
  struct tuples *tuples = net_rowmap_state(&node->alike, net_rowmap_put(&node->alike, row, NULL));
  if (tuples->capacity == 0 && node->spare_count > 0) *tuples = node->spare[--node->spare_count];
  node->array_tuples -= tuples->capacity;
  base_grow(&tuples->items, &tuples->capacity, tuples->count + 1, sizeof *tuples->items);
  node->array_tuples += tuples->capacity;
  struct tuple *tuple = &tuples->items[tuples->count++];
  *tuple = (struct tuple){.id = is_open(row) ? id : 0, .definite = definite};
  tuple->row = net_cells_take(&node->cells);
  memcpy(tuple->row, row, node->node.layout->slot_count * sizeof *row);
  node->rows++;
}

/* The remembered tuple that ROW closes, or NULL. */
static struct tuple *find(struct distinct *node, const union net_slot *row, uint64_t id) {
  uint32_t place = net_rowmap_find(&node->alike, row);
  if (place == NET_NO_ENTRY) return NULL;
  struct tuples *tuples = net_rowmap_state(&node->alike, place);
  for (size_t i = 0; i < tuples->count; i++)
    if (tuples->items[i].id == id) return &tuples->items[i];
  return NULL;
}

static void close_row(struct distinct *node, const union net_slot *row, uint8_t marks, uint64_t id,
                      net_chronon bound, enum base_status *status) {
  if (is_open(row)) return; /* one of several stops is known */
  struct tuple *tuple = find(node, row, id);
  if (tuple != NULL) {
    memcpy(tuple->row, row, node->node.layout->slot_count * sizeof *row);
    tuple->id = 0;
  }
  uint32_t place = net_rowmap_find_id(&node->gone, id);
  if (place != NET_NO_ENTRY) {
    net_rowmap_remove(&node->gone, place);
    return;
  }
  place = net_rowmap_find_id(&node->passed, id);
  if (place != NET_NO_ENTRY) net_rowmap_remove(&node->passed, place);
  /* An omega row that waits has not gone on yet. */
  if ((marks & NET_DEFINITE) || place != NET_NO_ENTRY) put(node, row, marks, id, bound, status);
}

static enum base_status take(struct distinct *node, const struct net_batch *batch) {
  enum base_status status = BASE_OK;
  for (uint32_t i = 0; i < batch->count && status == BASE_OK; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    uint8_t marks = net_batch_marks(batch, i);
    uint64_t id = net_batch_id(batch, i);
    bool definite = (marks & NET_DEFINITE) != 0;
    if (marks & NET_CLOSES) {
      close_row(node, row, marks, id, batch->bound, &status);
      continue;
    }
    remember(node, row, id, definite);
    if (definite) put(node, row, marks, id, batch->bound, &status);
  }
  return status;
}

static struct net_instant stop_at_end(const union net_slot *row) {
  return net_slot_stop(row, 2, NET_FOREVER);
}

/* Is DEFINITE equal to OMEGA, all but the stops being equal? Unknown: that depends on a stop. */
static enum net_truth equal(const union net_slot *omega, const union net_slot *definite,
                            net_chronon bound) {
  bool open = is_open(omega), other = is_open(definite);
  if ((!open && !other) || bound == NET_FOREVER) {
    struct net_instant a = stop_at_end(omega), b = stop_at_end(definite);
    return a.lo == b.lo && a.hi == b.hi ? NET_TRUE : NET_FALSE;
  }
  if (open && other) return NET_UNKNOWN;
  /* The known stop must be one that the open row can still have. */
  return (open ? definite : omega)[2].i < bound ? NET_FALSE : NET_UNKNOWN;
}

static enum net_truth has_equal(const struct tuples *tuples, const struct tuple *omega,
                                net_chronon bound) {
  enum net_truth found = NET_FALSE;
  for (size_t i = 0; i < tuples->count; i++) {
    if (!tuples->items[i].definite) continue;
    enum net_truth here = equal(omega->row, tuples->items[i].row, bound);
    if (here == NET_TRUE) return here;
    found = net_or(found, here);
  }
  return found;
}

static void forget(struct distinct *node, struct tuples *tuples, size_t index) {
  net_cells_give(&node->cells, tuples->items[index].row);
  tuples->items[index] = tuples->items[--tuples->count];
  node->rows--;
}

/* Decides the omega rows among TUPLES; returns whether some still wait. */
static bool decide(struct distinct *node, struct tuples *tuples, enum base_status *status) {
  bool waiting = false;
  for (size_t i = 0; i < tuples->count;) {
    struct tuple *tuple = &tuples->items[i];
    if (tuple->definite) {
      i++;
      continue;
    }
    enum net_truth equal_one = has_equal(tuples, tuple, node->checkpoint);
    if (equal_one == NET_UNKNOWN) {
      waiting = true;
      i++;
      continue;
    }
    bool out = equal_one == NET_FALSE;
    if (out) put(node, tuple->row, 0, tuple->id, node->checkpoint, status);
    if (tuple->id != 0) net_rowmap_put_id(out ? &node->passed : &node->gone, tuple->id, NULL);
    forget(node, tuples, i);
  }
  return waiting;
}

static net_chronon decide_all(struct distinct *node, enum base_status *status) {
  net_chronon earliest = NET_FOREVER;
  for (uint32_t i = 0; (i = net_rowmap_next(&node->alike, i)) < node->alike.used; i++) {
    net_chronon start = net_rowmap_row(&node->alike, i)[0].i;
    if (start >= node->checkpoint && node->checkpoint != NET_FOREVER) continue;
    struct tuples *tuples = net_rowmap_state(&node->alike, i);
    if (decide(node, tuples, status)) {
      if (start < earliest) earliest = start;
      continue;
    }
    while (tuples->count > 0) forget(node, tuples, tuples->count - 1);
    base_grow(&node->spare, &node->spare_capacity, node->spare_count + 1, sizeof *node->spare);
    node->spare[node->spare_count++] = *tuples;
    net_rowmap_remove(&node->alike, i);
  }
  return earliest;
}

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  (void)port;
  struct distinct *node = (struct distinct *)base;
  enum base_status status = take(node, batch);
  if (status == BASE_OK) status = net_out_flush(base, base->checkpoint, batch->bound, NULL);
  if (status != BASE_OK) return status;
  if (batch->checkpoint > node->checkpoint) node->checkpoint = batch->checkpoint;
  net_chronon earliest = decide_all(node, &status);
  if (status != BASE_OK) return status;
  if (node->checkpoint < earliest) earliest = node->checkpoint;
  return net_out_flush(base, earliest, node->checkpoint, NULL);
}

static void mark_strings(const struct net_node *base, struct base_strings *strings) {
  net_rowmap_mark_strings(&((const struct distinct *)base)->alike, strings);
}

static size_t state_rows(const struct net_node *base) {
  return ((const struct distinct *)base)->rows;
}

static size_t state_bytes(const struct net_node *base) {
  const struct distinct *node = (const struct distinct *)base;
  return net_rowmap_bytes(&node->alike) + net_rowmap_bytes(&node->passed) +
         net_rowmap_bytes(&node->gone) + net_cells_bytes(&node->cells) +
         node->array_tuples * sizeof(struct tuple) + node->spare_capacity * sizeof *node->spare;
}

static void done(struct net_node *base) {
  struct distinct *node = (struct distinct *)base;
  for (uint32_t i = 0; (i = net_rowmap_next(&node->alike, i)) < node->alike.used; i++) {
    struct tuples *tuples = net_rowmap_state(&node->alike, i);
    free(tuples->items);
  }
  for (size_t i = 0; i < node->spare_count; i++) free(node->spare[i].items);
  free(node->spare);
  net_cells_done(&node->cells);
  net_rowmap_done(&node->alike);
  net_rowmap_done(&node->passed);
  net_rowmap_done(&node->gone);
}

static const struct net_node_class class = {.kind = NET_NODE_DISTINCT,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

struct net_node *net_create_distinct(struct net_network *network, const char *name,
                                     const struct net_layout *layout) {
  BASE_CHECK(layout->tuple_class == NET_PERIOD, "distinct-periods");
  struct distinct *node = net_node_new(network, sizeof *node, &class, name, layout);
  node->node.input_layouts[0] = layout;
  net_cells_init(&node->cells, layout->slot_count * sizeof(union net_slot));
  node->checkpoint = NET_BEGINNING;
  net_rowmap_init(&node->alike, layout, NET_KEY_IDENTITY, 0, NULL, 0, sizeof(struct tuples));
  net_rowmap_init(&node->passed, NULL, NET_KEY_ID, 0, NULL, 0, 0);
  net_rowmap_init(&node->gone, NULL, NET_KEY_ID, 0, NULL, 0, 0);
  return &node->node;
}
