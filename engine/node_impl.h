/* The inside of nodes, for those who write them: engine/nodes/ and engine/network.c only.
 *
 * How to add a kind of node: a row in nodes.def; a create function in network.h; a file under
 * engine/nodes/ with a struct that begins with struct net_node, a class, and the create function.
 *
 * A node that keeps rows until a checkpoint uses an inbox (inbox.h): it takes rows in, and whenever the
 * smallest checkpoint of its inputs advances to c, processes all rows before c in temporal order, and
 * then says at once, with bound c, what is open and what has closed. Whole rows may go out at any
 * time. That is the only place where a network waits.                                              */
#ifndef NET_NODE_IMPL_H
#define NET_NODE_IMPL_H

#include "engine/network.h"

struct net_node_class {
  enum net_node_kind kind;
  enum base_status (*consume)(struct net_node *node, unsigned port, const struct net_batch *batch);
  /* The node that it was held back for wants more of it (nodes/product/pace.c); or NULL: it is never held back. */
  enum base_status (*go_on)(struct net_node *node);
  /* net_run: nothing comes any more, though checkpoints may not be at the end; or NULL. */
  enum base_status (*finish)(struct net_node *node);
  void (*mark_strings)(const struct net_node *node, struct base_strings *strings); /* or NULL */
  size_t (*state_rows)(const struct net_node *node);                               /* or NULL */
  size_t (*state_bytes)(
      const struct net_node *node);    /* memory held for it; in constant time; or NULL */
  void (*done)(struct net_node *node); /* or NULL */
};

struct net_arc {
  struct net_node *reader;
  unsigned port;
};

struct net_node {
  const struct net_node_class *class;
  enum net_node_kind kind; /* join shares product's class */
  struct net_network *network;
  const char *name;
  const char *owner, *what; /* see net_node_place */
  unsigned number;
  const struct net_layout *layout; /* of the output */
  struct net_node *inputs[2];
  const struct net_layout *input_layouts[2];
  struct net_arc *readers;
  size_t reader_count, reader_capacity;
  bool sink;
  bool frozen;
  bool general;           /* takes no short way: see net_network_set_general */
  size_t young_most;      /* see net_network_set_young */
  bool wants_floor;       /* some reader can use floors */
  bool wants_more;        /* some reader waits for more (batch.h) */
  net_chronon checkpoint; /* last passed on */
  bool more;              /* that of the last batch passed on (batch.h) */
  struct net_batch_builder out;
  enum net_order promised;           /* see net_node_promise */
  net_chronon last_start, last_stop; /* checked: of the plain rows so far, the last */
  uint64_t fires, rows_in, rows_out, time_ns, state_rows_max, state_bytes_max;
  struct net_node *next; /* all nodes of the network, in order of creation */
};

/* A zeroed node of SIZE bytes (its struct begins with struct net_node), registered. NAME is copied. */
void *net_node_new(struct net_network *network, size_t size, const struct net_node_class *class,
                   const char *name, const struct net_layout *layout);

/* Adds a row to the node's output, sending the batch on when it is full; BOUND as of the batch. ID: 0
 * for a whole row (batch.h). The returned row is zeroed and good until the next call. *STATUS keeps the
 * first failure.                                                                                    */
union net_slot *net_out_row(struct net_node *node, uint8_t marks, uint64_t id, net_chronon bound,
                            enum base_status *status);
/* Sends on what is in the output, which is full; see net_out_plain. */
void net_out_send_full(struct net_node *node, net_chronon bound, enum base_status *status);
/* The same in the midst of work: more of it comes at once (batch.h), and nothing before CHECKPOINT, which does not
 * go back. No row that went out is open. */
void net_out_send_part(struct net_node *node, net_chronon checkpoint, enum base_status *status);
/* The same for a plain row (batch.h): the caller fills all its slots. */
static inline union net_slot *net_out_plain(struct net_node *node, net_chronon bound,
                                            enum base_status *status) {
  if (net_batch_builder_full(&node->out)) net_out_send_full(node, bound, status);
  return net_batch_builder_add_plain(&node->out);
}
/* Sends on what is in the output, and CHECKPOINT (never back: an earlier one counts as the last). */
enum base_status net_out_flush(struct net_node *node, net_chronon checkpoint, net_chronon bound,
                               const union net_slot *floor);
/* The same, at the end of the node's work up to BOUND: all open periods of its arc last so long, also if
 * CHECKPOINT is earlier. */
enum base_status net_out_settle(struct net_node *node, net_chronon checkpoint, net_chronon bound,
                                const union net_slot *floor);
/* Sends BATCH (the node's layout) to all readers. */
enum base_status net_emit(struct net_node *node, const struct net_batch *batch);
/* Around work that NODE does: what it is called when it is measured, and how much it holds now. Enter
 * returns what leave wants. */
struct net_node *net_node_enter(struct net_node *node);
void net_node_leave(struct net_node *node, struct net_node *outer);
/* How often net_run was called; while it runs, this time counts. */
int64_t net_network_runs(const struct net_network *network);
/* Is its network measured? Then each node does its own work. */
bool net_is_measured(const struct net_node *node);
/* A run-time error in an expression over ROW: rejected (BASE_OK: go on without the row) or failed. */
enum base_status net_node_error(struct net_node *node, enum net_eval_error error,
                                const struct net_layout *layout, const union net_slot *row);

struct base_strings *net_network_strings(const struct net_network *network);
enum net_timeline net_network_timeline(const struct net_network *network);

#endif
