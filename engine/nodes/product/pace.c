/* How far a product goes that feeds another one.
 *
 *      left  ──▶ feeder ──▶ [selections] ──▶ reader ──▶
 *      right ──▶               other input ──▶
 *
 * Where many tuples are live at once each row meets all of them, and what one batch gives is a hundred times the batch.
 * It must not wait for the end of the feeder's work, nor for the reader's other input: what waits is written once
 * more, and held. So
 *
 *  - each full batch of the feeder carries a checkpoint of its own: no later result starts before the row that is
 *    being taken. It says that more comes at once; the reader takes the rows before that checkpoint, and says what it
 *    knows of pairs, and its own checkpoint, at the end of the feeder's work, as if all had come together;
 *  - a feeder that gives more rows than it takes goes only as far as the reader's other input has got, and goes on
 *    when that moves: rows wait where they are fewest. To a feeder that is held back so, its inputs have come no
 *    further. Of two feeders of one reader the right one sets the pace.
 *
 * Both hang on the feeder having this reader alone. A join that is asked (aggregate/asked.c) or has one port
 * (self.c) is no such reader, and as a feeder is not held back. General networks have neither.   */
#include "engine/nodes/product/product.h"

/* So many rows the reader gets at once: it keeps room for them, whatever it has to keep. */
enum { PART = 256 };

/* Does it take rows from its ports, in the common way? */
static bool is_common(const struct net_product *product) {
  return product->asked == NULL && product->self == NULL && !product->node.general;
}

/* The product that alone gets what PRODUCT gives, at *RET_PORT; the rows that come to it leave *RET_LAST. NULL:
 * there is none. */
static struct net_product *reader_of(const struct net_product *product, unsigned *ret_port,
                                     const struct net_node **ret_last) {
  const struct net_node *node = &product->node;
  struct net_node *reader;
  for (;;) {
    if (node->reader_count != 1) return NULL;
    reader = node->readers[0].reader;
    if (reader->kind != NET_NODE_SELECTION) break;
    node = reader;
  }
  if (reader->class != product->node.class) return NULL;
  *ret_port = node->readers[0].port;
  *ret_last = node;
  struct net_product *ret = (struct net_product *)reader;
  return is_common(ret) ? ret : NULL;
}

/* The product whose only reader is PRODUCT, at PORT; NULL: there is none. */
static struct net_product *feeder_of(const struct net_product *product, unsigned port) {
  struct net_node *node = product->node.inputs[port];
  while (node != NULL && node->kind == NET_NODE_SELECTION && node->reader_count == 1)
    node = node->inputs[0];
  if (node == NULL || node->class != product->node.class || node->reader_count != 1) return NULL;
  return is_common(product) ? (struct net_product *)node : NULL;
}

bool net_product_is_fed(const struct net_product *product, unsigned port) {
  return feeder_of(product, port) != NULL;
}

/* What starts then or later is of no use to READER yet, which gets at PORT what leaves LAST. */
static net_chronon wanted(const struct net_product *product, const struct net_product *reader,
                          unsigned port, const struct net_node *last) {
  if (reader == NULL || !is_common(product) || last->rows_out <= product->node.rows_in)
    return NET_FOREVER;
  if (port == 1 && feeder_of(reader, 0) != NULL) return NET_FOREVER;
  net_chronon limit = reader->inbox.limit, other = reader->inbox.ports[1 - port].checkpoint;
  return other < limit ? other : limit;
}

void net_product_pace(struct net_product *product) {
  unsigned port;
  const struct net_node *last;
  const struct net_product *reader = reader_of(product, &port, &last);
  net_chronon limit = wanted(product, reader, port, last);
  net_chronon taken = net_inbox_checkpoint(&product->inbox);
  product->part_rows = product->node.out.capacity;
  if (reader != NULL && product->part_rows > PART) product->part_rows = PART;
  product->inbox.limit = limit > taken ? limit : taken;
}

enum base_status net_product_feed(struct net_product *product, unsigned port) {
  struct net_product *feeder = feeder_of(product, port);
  if (feeder == NULL || feeder->inbox.limit == NET_FOREVER) return BASE_OK;
  struct net_node *outer = net_node_enter(&feeder->node);
  enum base_status status = feeder->node.class->go_on(&feeder->node);
  net_node_leave(&feeder->node, outer);
  return status;
}

net_chronon net_product_out_checkpoint(const struct net_product *product, net_chronon checkpoint) {
  net_chronon promised = checkpoint;
  if (checkpoint == NET_FOREVER) return promised;
  for (size_t i = 0; i < product->pending_count; i++) {
    const struct net_pair *pair = net_product_waiting(product, i);
    if (pair == NULL) continue;
    net_chronon start = net_product_pair_start(product, pair);
    if (start < promised) promised = start;
  }
  for (unsigned which = 0; which < 2 && product->event_result; which++) {
    /* Those whose instants are determinate are over before the checkpoint, or begin there. */
    if (!product->sides[which].has_event || product->sides[which].odd_count == 0) continue;
    net_chronon start = net_product_events_start(product, which, checkpoint);
    if (start < promised) promised = start;
  }
  return promised;
}

/* No later result starts before it, when all rows before NOW have been taken; at most NOW. */
static net_chronon promise(const struct net_product *product, net_chronon now) {
  net_chronon promised = net_product_out_checkpoint(product, now);
  return promised > product->node.checkpoint ? promised : product->node.checkpoint;
}

void net_product_send_full(struct net_product *product, net_chronon now, enum base_status *status) {
  struct net_node *node = &product->node;
  unsigned port;
  const struct net_node *last;
  if (node->general || reader_of(product, &port, &last) == NULL) {
    net_out_send_full(node, node->checkpoint, status);
    return;
  }
  /* What is known of pairs, closes above all, goes out at the end alone. */
  bool known = product->pairs_live == 0 && now < NET_PRODUCT_LAST;
  net_chronon promised = known ? promise(product, now) : node->checkpoint;
  net_out_send_part(node, promised, status);
}
