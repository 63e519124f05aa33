/* The network: creation, links, freezing, running, statistics. What a node does is in engine/nodes/.
 * See network.h and node_impl.h.                                                                    */
#include "engine/network.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/node_impl.h"
#include "engine/nodes/access.h"
#include "engine/nodes/clock.h"

struct net_network {
  struct base_arena *arena;
  struct base_strings *strings;
  enum net_timeline timeline;
  struct base_diag_sink *diags;
  net_reject_fn reject;
  void *reject_context;
  uint32_t batch_rows;
  uint32_t made_rows; /* of nodes that are made now */
  bool general;       /* see net_network_set_general */
  size_t young_most;  /* see net_network_set_young */
  struct net_node *first, *last;
  size_t node_count;
  int64_t runs; /* net_run was called so often */
  bool checked; /* see net_network_set_checked */
  bool measured;
  struct net_node *running; /* measured: whose time it is */
  int64_t since;            /* monotonic ns */
};

static const struct net_node_info infos[] = {
#define NODE(KIND, NAME, PORTS, ORDER_IN, ORDER_OUT, STATE, CHECKPOINT) \
  {NAME, PORTS, NET_ORDER_##ORDER_IN, NET_ORDER_##ORDER_OUT, STATE, CHECKPOINT},
#include "engine/nodes.def"
#undef NODE
};

const struct net_node_info *net_node_info(enum net_node_kind kind) {
  BASE_CHECK((unsigned)kind < NET_NODE_KINDS, "node-kind");
  return &infos[kind];
}

struct net_network *net_network_new(struct base_strings *strings, enum net_timeline timeline,
                                    struct base_diag_sink *diags) {
  struct net_network *network = base_xcalloc(1, sizeof *network);
  network->arena = base_arena_new();
  network->strings = strings;
  network->timeline = timeline;
  network->diags = diags;
  network->batch_rows = network->made_rows = NET_BATCH_ROWS;
  network->young_most = NET_YOUNG_ROWS;
  return network;
}

static void node_free(struct net_node *node) {
  if (node->class->done != NULL) node->class->done(node);
  net_batch_builder_done(&node->out);
  free(node->readers);
  free(node);
}

void net_network_free(struct net_network *network) {
  if (network == NULL) return;
  for (struct net_node *node = network->first; node != NULL;) {
    struct net_node *next = node->next;
    node_free(node);
    node = next;
  }
  base_arena_free(network->arena);
  free(network);
}

void net_network_on_reject(struct net_network *network, net_reject_fn reject, void *context) {
  network->reject = reject;
  network->reject_context = context;
}

struct base_arena *net_network_arena(struct net_network *network) {
  return network->arena;
}

void net_network_set_batch_rows(struct net_network *network, uint32_t rows) {
  BASE_CHECK(rows >= 1 && rows <= NET_BATCH_ROWS && network->first == NULL, "batch-rows");
  network->batch_rows = network->made_rows = rows;
}

/* A batch of so many rows has a slot or two for each field. */
#define SLOTS_OF_BATCHES ((size_t)8 << 20)
enum { FEWEST_ROWS = 16 };

void net_network_expect_fields(struct net_network *network, size_t fields) {
  size_t rows = SLOTS_OF_BATCHES / (fields + 1);
  if (rows < FEWEST_ROWS) rows = FEWEST_ROWS;
  network->made_rows = rows < network->batch_rows ? (uint32_t)rows : network->batch_rows;
}

void net_network_set_general(struct net_network *network) {
  BASE_CHECK(network->first == NULL, "general");
  network->general = true;
}

void net_network_set_young(struct net_network *network, size_t rows) {
  BASE_CHECK(network->first == NULL, "young");
  network->young_most = rows;
}

void net_network_set_checked(struct net_network *network) {
  BASE_CHECK(network->first == NULL, "checked");
  network->checked = true;
}

struct base_strings *net_network_strings(const struct net_network *network) {
  return network->strings;
}

enum net_timeline net_network_timeline(const struct net_network *network) {
  return network->timeline;
}

void *net_node_new(struct net_network *network, size_t size, const struct net_node_class *class,
                   const char *name, const struct net_layout *layout) {
  BASE_CHECK(size >= sizeof(struct net_node), "node-size");
  struct net_node *node = base_xcalloc(1, size);
  node->class = class;
  node->kind = class->kind;
  node->network = network;
  node->name = base_arena_strdup(network->arena, name);
  node->layout = layout;
  node->checkpoint = node->last_start = node->last_stop = NET_BEGINNING;
  node->general = network->general;
  node->young_most = network->young_most;
  if (layout != NULL) net_batch_builder_init(&node->out, layout, network->made_rows);
  if (network->last == NULL) {
    network->first = node;
  } else {
    network->last->next = node;
  }
  network->last = node;
  network->node_count++;
  return node;
}

/* --- build */

static bool reaches(const struct net_node *from, const struct net_node *to) {
  if (from == to) return true;
  for (size_t i = 0; i < from->reader_count; i++)
    if (reaches(from->readers[i].reader, to)) return true;
  return false;
}

enum base_status net_link(struct net_node *from, struct net_node *to, unsigned port) {
  BASE_CHECK(from->network == to->network, "link-networks");
  BASE_CHECK(port < infos[to->kind].ports, "link-port");
  BASE_CHECK(!to->frozen, "link-frozen");
  BASE_CHECK(to->inputs[port] == NULL, "link-port-taken");
  if (reaches(to, from)) return BASE_USER;
  base_grow(&from->readers, &from->reader_capacity, from->reader_count + 1, sizeof *from->readers);
  from->readers[from->reader_count++] = (struct net_arc){to, port};
  to->inputs[port] = from;
  if (to->input_layouts[port] == NULL) to->input_layouts[port] = from->layout;
  return BASE_OK;
}

static void unregister(struct net_node *node) {
  struct net_network *network = node->network;
  struct net_node **place = &network->first, *before = NULL;
  while (*place != node) {
    before = *place;
    place = &(*place)->next;
  }
  *place = node->next;
  if (network->last == node) network->last = before;
  network->node_count--;
  node_free(node);
}

static void unlink_arc(struct net_node *from, struct net_node *to, unsigned port);

/* Takes the arcs below NODE away and frees it. */
static void collect(struct net_node *node) {
  struct net_node *inputs[2] = {node->inputs[0], node->inputs[1]};
  for (unsigned port = 0; port < 2; port++)
    if (inputs[port] != NULL) unlink_arc(inputs[port], node, port);
  unregister(node);
}

/* Removes the arc. A node that has no reader left and is no sink is collected, and so on downwards. */
static void unlink_arc(struct net_node *from, struct net_node *to, unsigned port) {
  BASE_CHECK(to->inputs[port] == from, "unlink-no-arc");
  for (size_t i = 0; i < from->reader_count; i++) {
    if (from->readers[i].reader == to && from->readers[i].port == port) {
      memmove(from->readers + i, from->readers + i + 1,
              (from->reader_count - i - 1) * sizeof *from->readers);
      from->reader_count--;
      break;
    }
  }
  to->inputs[port] = NULL;
  if (from->reader_count == 0 && !from->sink) collect(from);
}

void net_remove(struct net_node *sink) {
  BASE_CHECK(sink->reader_count == 0, "remove-read");
  collect(sink);
}

static bool layouts_agree(const struct net_layout *a, const struct net_layout *b) {
  if (a == b) return true;
  if (a->tuple_class != b->tuple_class || a->field_count != b->field_count) return false;
  for (uint32_t i = 0; i < a->field_count; i++)
    if (net_type_slots(a->fields[i].type.base) != net_type_slots(b->fields[i].type.base))
      return false;
  return true;
}

/* Floors are wanted by projections that take their start from elsewhere than slot 0; the wish goes
 * down to the products. */
static void want_floors_below(struct net_node *node) {
  if (node->kind == NET_NODE_ACCESS) return; /* what controls it is not below it */
  for (unsigned port = 0; port < 2; port++) {
    struct net_node *input = node->inputs[port];
    if (input == NULL || input->wants_floor) continue;
    input->wants_floor = true;
    want_floors_below(input);
  }
}

void net_node_place(struct net_node *node, const char *owner, unsigned number, const char *what) {
  node->what = base_arena_strdup(node->network->arena, what);
  node->owner = base_arena_strdup(node->network->arena, owner);
  node->number = number;
}

static void place_by_name(struct net_node *node) {
  unsigned last = 0;
  for (const struct net_node *other = node->network->first; other != NULL; other = other->next)
    if (other->owner != NULL && strcasecmp(other->owner, node->name) == 0 && other->number > last)
      last = other->number;
  node->what = "";
  node->owner = node->name;
  node->number = last + 1;
}

/* Who waits for more (batch.h) is told through selections. */
static void want_more_below(struct net_node *node) {
  struct net_node *input = node->inputs[0];
  while (input != NULL && !input->wants_more) {
    input->wants_more = true;
    input = input->kind == NET_NODE_SELECTION ? input->inputs[0] : NULL;
  }
}

void net_freeze(struct net_network *network) {
  for (struct net_node *node = network->first; node != NULL; node = node->next) {
    if (node->frozen) continue;
    if (node->owner == NULL) place_by_name(node);
    for (unsigned port = 0; port < infos[node->kind].ports; port++) {
      bool optional =
          node->kind == NET_NODE_ACCESS ||
          (port == 1 && (node->kind == NET_NODE_CLOCK || node->kind == NET_NODE_COSTS ||
                         (node->kind == NET_NODE_JOIN && node->input_layouts[1] == NULL)));
      if (optional && node->inputs[port] == NULL) continue;
      BASE_CHECK(node->inputs[port] != NULL, "freeze-unlinked-port");
      BASE_CHECK(layouts_agree(node->inputs[port]->layout, node->input_layouts[port]),
                 "freeze-layouts");
    }
    node->frozen = true;
    if (node->wants_floor) want_floors_below(node);
    if (node->kind == NET_NODE_EVENT_TO_PERIOD) want_more_below(node);
  }
}

/* --- run */

void net_network_measure(struct net_network *network) {
  network->measured = true;
}

bool net_is_measured(const struct net_node *node) {
  return node->network->measured;
}

struct net_node *net_node_enter(struct net_node *node) {
  struct net_network *network = node->network;
  if (!network->measured) return NULL;
  int64_t now = base_env_monotonic();
  struct net_node *outer = network->running;
  if (outer != NULL) outer->time_ns += (uint64_t)(now - network->since);
  network->running = node;
  network->since = now;
  return outer;
}

void net_node_leave(struct net_node *node, struct net_node *outer) {
  struct net_network *network = node->network;
  if (node->class->state_rows != NULL) {
    size_t rows = node->class->state_rows(node);
    if (rows > node->state_rows_max) node->state_rows_max = rows;
  }
  if (!network->measured) return;
  if (node->class->state_bytes != NULL) {
    size_t bytes = node->class->state_bytes(node);
    if (bytes > node->state_bytes_max) node->state_bytes_max = bytes;
  }
  int64_t now = base_env_monotonic();
  node->time_ns += (uint64_t)(now - network->since);
  network->running = outer;
  network->since = now;
}

void net_node_promise(struct net_node *node, enum net_order order) {
  node->promised = order;
}

/* Are the rows of BATCH, which are plain, in the order that NODE promised? */
static void check_order(struct net_node *node, const struct net_batch *batch) {
  bool period = node->layout->tuple_class == NET_PERIOD;
  for (uint32_t i = 0; i < batch->count; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    net_chronon start = row[0].i, stop = row[period ? 2 : 0].i;
    bool by_start = start >= node->last_start, by_stop = stop >= node->last_stop;
    if (node->promised == NET_ORDER_BOTH) BASE_CHECK(start >= node->last_stop, "order-both");
    if (node->promised == NET_ORDER_STARTS) BASE_CHECK(by_start, "order-starts");
    if (node->promised == NET_ORDER_STOPS) BASE_CHECK(by_stop, "order-stops");
    BASE_CHECK(by_start || i == 0 || batch->unordered, "order-of-batch");
    node->last_start = start;
    node->last_stop = stop;
  }
}

enum base_status net_emit(struct net_node *node, const struct net_batch *batch) {
  node->rows_out += batch->count;
  if (node->network->checked && batch->plain) check_order(node, batch);
  if (batch->checkpoint > node->checkpoint) node->checkpoint = batch->checkpoint;
  node->more = batch->more;
  struct net_batch general;
  if (node->general && batch->plain) {
    general = *batch;
    general.plain = false;
    batch = &general;
  }
  for (size_t i = 0; i < node->reader_count; i++) {
    enum base_status status = net_inject(node->readers[i].reader, node->readers[i].port, batch);
    if (status != BASE_OK) return status;
  }
  return BASE_OK;
}

enum base_status net_inject(struct net_node *node, unsigned port, const struct net_batch *batch) {
  if (base_env_interrupted()) return BASE_CANCEL;
  node->fires++;
  node->rows_in += batch->count;
  struct net_node *outer = net_node_enter(node);
  enum base_status status = node->class->consume(node, port, batch);
  net_node_leave(node, outer);
  return status;
}

void net_out_send_full(struct net_node *node, net_chronon bound, enum base_status *status) {
  struct net_batch batch = net_batch_builder_batch(&node->out, node->checkpoint);
  batch.bound = bound > node->checkpoint ? bound : node->checkpoint;
  enum base_status emitted = net_emit(node, &batch);
  if (*status == BASE_OK) *status = emitted;
  net_batch_builder_clear(&node->out);
}

void net_out_send_part(struct net_node *node, net_chronon checkpoint, enum base_status *status) {
  struct net_batch batch = net_batch_builder_batch(&node->out, checkpoint);
  batch.bound = node->checkpoint;
  batch.more = true;
  enum base_status emitted = net_emit(node, &batch);
  if (*status == BASE_OK) *status = emitted;
  net_batch_builder_clear(&node->out);
}

union net_slot *net_out_row(struct net_node *node, uint8_t marks, uint64_t id, net_chronon bound,
                            enum base_status *status) {
  if (net_batch_builder_full(&node->out)) net_out_send_full(node, bound, status);
  return net_batch_builder_add_id(&node->out, marks, id);
}

enum base_status net_out_flush(struct net_node *node, net_chronon checkpoint, net_chronon bound,
                               const union net_slot *floor) {
  if (checkpoint < node->checkpoint) checkpoint = node->checkpoint;
  if (node->out.count == 0 && checkpoint == node->checkpoint && floor == NULL) return BASE_OK;
  struct net_batch batch = net_batch_builder_batch(&node->out, checkpoint);
  batch.bound = bound > node->checkpoint ? bound : node->checkpoint;
  batch.floor = floor;
  enum base_status status = net_emit(node, &batch);
  net_batch_builder_clear(&node->out);
  return status;
}

enum base_status net_out_settle(struct net_node *node, net_chronon checkpoint, net_chronon bound,
                                const union net_slot *floor) {
  if (bound <= checkpoint || bound <= node->checkpoint)
    return net_out_flush(node, checkpoint, bound, floor);
  if (checkpoint < node->checkpoint) checkpoint = node->checkpoint;
  struct net_batch batch = net_batch_builder_batch(&node->out, checkpoint);
  batch.bound = bound;
  batch.all_open = true;
  batch.floor = floor;
  enum base_status status = net_emit(node, &batch);
  net_batch_builder_clear(&node->out);
  return status;
}

enum base_status net_node_error(struct net_node *node, enum net_eval_error error,
                                const struct net_layout *layout, const union net_slot *row) {
  struct net_network *network = node->network;
  if (network->reject != NULL && network->reject(network->reject_context, node, error, layout, row))
    return BASE_OK;
  return BASE_USER;
}

static bool is_pulling(const struct net_node *node) {
  if (node->kind == NET_NODE_CLOCK) return net_clock_pulling(node);
  return node->kind == NET_NODE_ACCESS && net_access_pulling(node);
}

/* Inputs stand before who reads them. */
static enum base_status finish(struct net_network *network) {
  enum base_status status = BASE_OK;
  for (struct net_node *node = network->first; node != NULL && status == BASE_OK;
       node = node->next) {
    if (node->class->finish == NULL) continue;
    struct net_node *outer = net_node_enter(node);
    status = node->class->finish(node);
    net_node_leave(node, outer);
  }
  return status;
}

int64_t net_network_runs(const struct net_network *network) {
  return network->runs;
}

enum base_status net_run(struct net_network *network) {
  network->runs++;
  for (;;) {
    if (base_env_interrupted()) return BASE_CANCEL;
    struct net_node *behind = NULL;
    for (struct net_node *node = network->first; node != NULL; node = node->next)
      if (is_pulling(node) && (behind == NULL || node->checkpoint < behind->checkpoint))
        behind = node;
    if (behind == NULL) return finish(network);
    struct net_node *outer = net_node_enter(behind);
    enum base_status status =
        behind->kind == NET_NODE_CLOCK ? net_clock_pull(behind) : net_access_pull(behind);
    net_node_leave(behind, outer);
    if (status != BASE_OK) return status;
  }
}

void net_mark_strings(struct net_network *network, struct base_strings *strings) {
  for (struct net_node *node = network->first; node != NULL; node = node->next)
    if (node->class->mark_strings != NULL) node->class->mark_strings(node, strings);
}

/* --- look */

size_t net_node_count(const struct net_network *network) {
  return network->node_count;
}

const struct net_node *net_network_first(const struct net_network *network) {
  return network->first;
}
const struct net_node *net_node_next(const struct net_node *node) {
  return node->next;
}

uint64_t net_node_fires(const struct net_node *node) {
  return node->fires;
}

struct net_node_stats net_node_stats(const struct net_node *node) {
  return (struct net_node_stats){
      .name = node->name,
      .owner = node->owner,
      .what = node->what,
      .number = node->number,
      .kind = node->kind,
      .inputs = {node->inputs[0], node->inputs[1]},
      .fires = node->fires,
      .rows_in = node->rows_in,
      .rows_out = node->rows_out,
      .time_ns = node->time_ns,
      .state_rows = node->class->state_rows ? node->class->state_rows(node) : 0,
      .state_rows_max = node->state_rows_max,
      .state_bytes = node->class->state_bytes ? node->class->state_bytes(node) : 0,
      .state_bytes_max = node->state_bytes_max,
  };
}

struct net_node_stats net_node_stats_at(const struct net_network *network, size_t index) {
  const struct net_node *node = network->first;
  while (index-- > 0) node = node->next;
  return net_node_stats(node);
}

struct net_node *net_access_below(struct net_node *node) {
  while (node != NULL && node->kind != NET_NODE_ACCESS) node = node->inputs[0];
  return node;
}

const struct net_layout *net_node_layout(const struct net_node *node) {
  return node->layout;
}
const char *net_node_name(const struct net_node *node) {
  return node->name;
}
const char *net_node_result_name(const struct net_node *node) {
  while (node->kind != NET_NODE_RELATION_STORE && node->kind != NET_NODE_SNAPSHOT_STORE) {
    if (node->reader_count == 0) return NULL;
    node = node->readers[0].reader;
  }
  return node->name;
}
net_chronon net_node_checkpoint(const struct net_node *node) {
  return node->checkpoint;
}
