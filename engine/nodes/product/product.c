/* Product and join (Cartesian and Join of appendix C; consecutivity rules of thesis 7.2.3).
 *
 *      left  ──▶ ┌────────────────────┐
 *                │ rule, [predicate]  │ ──▶ out      order: start
 *      right ──▶ └────────────────────┘
 *
 * A sweep: rows of both sides wait in the inbox until both checkpoints have passed them and are then
 * taken in temporal order; each is combined with the live rows of the other side that have the same
 * key. Overlap rule: a row dies when no later row can overlap it; full rule: no row ever dies, unless the
 * parameters say when no later row can meet it any more (partial overlap, within). What they say by the overlap
 * rule counts from when there are many rows, or long chains (bounds_pay in live.c).
 *
 * A combination of rows whose stops are known is decided at once and goes out whole. One in which a
 * stop is open becomes a *pair*: at the end of each round, with every row before checkpoint c seen, its
 * pairs are judged with bound c: still undecided, false (forgotten), or it goes out, open (with an id of
 * its own) or whole; a pair that went out open goes out again, as a close, when one of its stops has
 * become known, or an upper bound on it. A round looks at the pairs that wait, at those of rows that have closed,
 * and, of those that went out, at the ones in which an instant is known that the checkpoint passes. What a predicate
 * that reads no stop does not know stays unknown, and so does whether an event met what may have begun before it or
 * after. Where one
 * participant is open, the known stop of another counts as open, too, until the checkpoint has passed
 * it, so that what stays open in a row is never before what is known in it.
 *
 * Most rows are *plain*: determinate and closed. When a plain row meets a live plain one that has not
 * expired, both began at or before now and neither has ended: they overlap, and what they have in common
 * begins now and ends when the first of them expires. That needs no judging (sweep.c), and the
 * predicate reads both where they lie: nothing is written that does not go out. The same holds of a plain
 * row that ends before the checkpoint and one that *lasts*, of which only the stop is not known, unless the
 * result shows another stop of the plain row, which may lie behind the checkpoint.
 *
 * Where combinations of a row are equal for all who read them (`once`) a plain row that has met another for sure
 * leaves, and no more are made of it; one that has perhaps met others, or is not plain, makes them all. The shortest way
 * leaves out only what comes side by side, and is not taken any more when it has found more than there are rows.
 *
 * Both sides may be chosen of the rows of one port (self.c). One side may be an aggregate that is asked
 * for its value at each row of the other (aggregate/asked.c). What stands behind a join may be done in it, for
 * plain rows (tail.c). One that feeds another goes as far as that can use its results, and gives them in parts
 * (pace.c).
 *
 * When all rows of one side have come, as those of a relation that is only stored, rows of the other are not kept any
 * more once they have been combined with them.
 *
 * State: live rows, open pairs.                                                                     */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/nodes/aggregate/asked.h"
#include "engine/nodes/product/product.h"

static net_chronon lower(const struct net_field *field, const union net_slot *row, uint32_t slot,
                         net_chronon smallest) {
  net_chronon lo = row[slot].i;
  if (field->openable && lo == NET_OPEN) return smallest;
  return lo < smallest ? lo : smallest;
}

/* What bounds the instant at SLOT of rows of one side that are still to be taken: rows that wait in the
 * inbox, and what its arc promises of those to come. */
static net_chronon lower_of_input(const struct net_product *product, unsigned which,
                                  const struct net_field *field, uint32_t slot,
                                  net_chronon smallest) {
  const struct net_product_side *side = &product->sides[which];
  const struct net_inbox_port *port = &product->inbox.ports[which];
  if (slot < side->layout->first_domain_slot) return smallest; /* at or after the checkpoint */
  if (port->checkpoint != NET_FOREVER) {
    if (side->input_floor == NULL) return NET_BEGINNING;
    smallest = lower(field, side->input_floor, slot, smallest);
  }
  const union net_slot *row;
  uint8_t marks;
  for (size_t i = 0; (row = net_inbox_waiting(port, i, &marks)); i++)
    smallest = lower(field, row, slot, smallest);
  return smallest;
}

/* Is SLOT that of an instant that lies behind the checkpoint in all live rows of SIDE that have not expired,
 * as an event's does, and a period's stop? */
static bool is_later(const struct net_product_side *side, uint32_t slot) {
  if (side->only == NULL || side->odd_count > 0) return false;
  return slot == (side->only->event ? side->only->start_slot : side->only->stop_slot);
}

/* Is LIVE, of side WHICH, combined with others still, or, where these have all come, in a combination that may go out
 * again? */
static bool may_give(const struct net_product *product, unsigned which, const struct net_live *live,
                     net_chronon checkpoint) {
  if (live->expires <= checkpoint) return false;
  bool waits = product->sides[1 - which].has_ended && live->pairs != NET_NO_PAIR;
  return (live->state & NET_LIVE_IN_CHAIN) || waits;
}

/* Lower bounds of the instants of all later rows: those of the rows that may still be combined and of
 * the pairs that wait, else the checkpoint. */
static const union net_slot *floors(struct net_product *product, net_chronon checkpoint) {
  const struct net_layout *out = product->node.layout;
  union net_slot *floor = product->floor;
  memset(floor, 0, out->slot_count * sizeof *floor);
  floor[0].i = checkpoint;
  floor[1].i = NET_FOREVER;
  if (out->tuple_class == NET_PERIOD) {
    floor[2].i = checkpoint;
    floor[3].i = NET_FOREVER;
  }
  for (uint32_t f = 0; f < out->field_count; f++) {
    const struct net_field *field = &out->fields[f];
    if (field->type.base != NET_INSTANT) continue;
    unsigned which = product->params.fields[f].side;
    uint32_t slot = product->params.fields[f].slot;
    net_chronon smallest = lower_of_input(product, which, field, slot, checkpoint);
    struct net_live *live;
    const union net_slot *row;
    const struct net_product_side *side = &product->sides[which];
    for (size_t at = 0; !is_later(side, slot) && (live = net_product_next(side, &at)) != NULL;)
      if (may_give(product, which, live, checkpoint))
        smallest = lower(field, net_live_row(live), slot, smallest);
    for (size_t at = 0; !is_later(side, slot) && (row = net_old_row(product, which, &at)) != NULL;)
      if (net_product_expires(product, which, row) > checkpoint)
        smallest = lower(field, row, slot, smallest);
    for (size_t i = 0; i < product->pending_count; i++) {
      const struct net_pair *pair = net_product_waiting(product, i);
      if (pair != NULL) smallest = lower(field, net_live_row(pair->entry[which]), slot, smallest);
    }
    floor[field->slot].i = smallest;
    floor[field->slot + 1].i = NET_FOREVER;
  }
  return floor;
}

/* FLOOR is of rows of SLOTS slots: those of SIDE, or behind them are numbers that bound nothing. */
static void keep_floor(struct net_product_side *side, const union net_slot *floor, uint32_t slots) {
  if (side->input_floor == NULL)
    side->input_floor = base_xcalloc(side->layout->slot_count, sizeof *floor);
  memcpy(side->input_floor, floor, slots * sizeof *floor);
}

static bool has_closes(const struct net_batch *batch) {
  if (batch->ids == NULL) return false;
  for (uint32_t i = 0; i < batch->count; i++)
    if (net_batch_marks(batch, i) & NET_CLOSES) return true;
  return false;
}

/* Where many open rows close in a round, as an aggregate's segments do, others mostly come for them: what went out of
 * the pairs of these is closed first, so that the pairs of two rounds are not all there at once. */
static enum base_status close_first(struct net_product *product, net_chronon checkpoint) {
  struct net_node *node = &product->node;
  enum base_status status = BASE_OK;
  if (!net_product_sweep_closes(product)) return BASE_OK;
  if (node->out.count > 0) status = net_out_flush(node, node->checkpoint, node->checkpoint, NULL);
  if (status == BASE_OK) net_product_settle(product, product->settled, checkpoint, true, &status);
  if (status != BASE_OK || node->out.count == 0) return status;
  return net_out_flush(node, node->checkpoint, checkpoint, NULL);
}

/* What waits before CHECKPOINT, and what is known of pairs then. */
static enum base_status advance(struct net_product *product, net_chronon checkpoint) {
  struct net_node *node = &product->node;
  enum base_status status = close_first(product, checkpoint);
  if (status != BASE_OK) return status;
  net_product_sweep(product, checkpoint, &status);
  if (status == BASE_OK && product->pairs_live > 0 && node->out.plain && node->out.count > 0)
    status = net_out_flush(node, node->checkpoint, node->checkpoint, NULL);
  net_chronon before = product->settled;
  product->lasting = product->settled = checkpoint;
  if (status == BASE_OK) net_product_settle(product, before, checkpoint, false, &status);
  if (status != BASE_OK) return status;
  net_product_purge(product, checkpoint);
  bool wants_floor = node->wants_floor && checkpoint != NET_FOREVER;
  net_chronon promised = net_product_out_checkpoint(product, checkpoint);
  if (product->lasting < promised) promised = product->lasting;
  status = net_out_settle(node, promised, product->lasting,
                          wants_floor ? floors(product, checkpoint) : NULL);
  if (status == BASE_OK && net_product_tail_waits(product))
    status = net_product_tail_flush(product);
  /* Who has been told that more comes hears that it has come. */
  if (status == BASE_OK && node->more) {
    struct net_batch end = net_batch_builder_batch(&node->out, node->checkpoint);
    end.bound = node->checkpoint;
    status = net_emit(node, &end);
  }
  return status;
}

/* Nothing is to be said at CHECKPOINT that was not said before. */
static bool is_settled(const struct net_product *product, net_chronon checkpoint) {
  return checkpoint == product->settled && checkpoint != NET_FOREVER &&
         product->node.out.count == 0 && !product->node.more && !net_product_tail_waits(product) &&
         !net_product_has_ends(product);
}

static enum base_status go_on(struct net_node *node) {
  struct net_product *product = (struct net_product *)node;
  enum base_status status = BASE_OK;
  net_product_pace(product);
  for (unsigned port = 0; port < 2 && status == BASE_OK; port++)
    status = net_product_feed(product, port);
  net_chronon checkpoint = net_inbox_checkpoint(&product->inbox);
  if (status != BASE_OK || checkpoint == product->settled) return status;
  return advance(product, checkpoint);
}

static enum base_status consume(struct net_node *node, unsigned port,
                                const struct net_batch *batch) {
  struct net_product *product = (struct net_product *)node;
  bool closes;
  enum base_status status = BASE_OK;
  product->watch.came += batch->count;
  if (product->asked != NULL && net_asked_take(product->asked, NET_ASKED_EVENTS, batch, &status))
    return status;
  if (status != BASE_OK) return status;
  net_product_pace(product);
  if (product->self != NULL) {
    status = net_product_self_take(product, batch, &closes);
  } else {
    net_inbox_add(&product->inbox, port, batch);
    closes = has_closes(batch);
  }
  if (status != BASE_OK) return status;
  for (unsigned side = 0; side < 2 && batch->floor != NULL; side++)
    if (side == port || product->self != NULL)
      keep_floor(&product->sides[side], batch->floor, batch->layout->slot_count);
  status = net_product_feed(product, 1 - port);
  if (status != BASE_OK) return status;
  net_chronon checkpoint = net_inbox_checkpoint(&product->inbox);
  if (batch->more && net_product_is_fed(product, port)) {
    net_product_sweep(product, checkpoint, &status);
    net_product_purge(product, checkpoint);
    return status;
  }
  /* Closes of rows that were taken are news also where the other input holds the checkpoint back. */
  if (!closes && is_settled(product, checkpoint)) return BASE_OK;
  return advance(product, checkpoint);
}

static void mark_strings(const struct net_node *node, struct base_strings *strings) {
  const struct net_product *product = (const struct net_product *)node;
  net_inbox_mark_strings(&product->inbox, strings);
  for (unsigned which = 0; which < 2; which++) {
    const struct net_product_side *side = &product->sides[which];
    struct net_live *live;
    for (size_t at = 0; (live = net_product_next(side, &at)) != NULL;)
      net_row_mark_strings(side->layout, strings, net_live_row(live));
    const union net_slot *row;
    for (size_t at = 0; (row = net_old_row(product, which, &at)) != NULL;)
      net_row_mark_strings(side->layout, strings, row);
  }
}

static size_t state_rows(const struct net_node *node) {
  const struct net_product *product = (const struct net_product *)node;
  return product->sides[0].live_count + product->sides[1].live_count + product->pairs_live +
         net_old_count(product) + net_inbox_rows(&product->inbox);
}

static size_t state_bytes(const struct net_node *node) {
  const struct net_product *product = (const struct net_product *)node;
  size_t bytes =
      net_inbox_bytes(&product->inbox) + product->pair_capacity * sizeof(struct net_pair);
  bytes += product->pending_capacity * sizeof *product->pending + net_due_bytes(&product->due);
  bytes += product->group_capacity * sizeof *product->groups;
  bytes += net_old_bytes(product);
  bytes += product->borrowed_capacity * sizeof *product->borrowed;
  bytes += product->recents.capacity * sizeof *product->recents.items +
           product->recents.used_capacity * sizeof *product->recents.used;
  if (product->self != NULL) bytes += net_product_self_bytes(product->self);
  for (unsigned i = 0; i < 2; i++) bytes += net_product_side_bytes(&product->sides[i]);
  return bytes;
}

static void done(struct net_node *node) {
  struct net_product *product = (struct net_product *)node;
  net_inbox_done(&product->inbox);
  for (unsigned which = 0; which < 2; which++) net_product_side_done(&product->sides[which]);
  net_old_done(product);
  free(product->groups);
  free(product->pairs);
  free(product->pending);
  net_due_done(&product->due);
  free(product->borrowed);
  free(product->recents.items);
  free(product->recents.used);
  if (product->self != NULL) net_product_self_done(product->self);
}

static const struct net_node_class class = {.kind = NET_NODE_PRODUCT,
                                            .consume = consume,
                                            .go_on = go_on,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

static void *copy(struct base_arena *arena, const void *items, size_t count, size_t size) {
  void *to = base_arena_array(arena, count, size);
  if (count > 0) memcpy(to, items, count * size);
  return to;
}

static void plan_slots(struct net_product *product, struct base_arena *arena) {
  const struct net_layout *test = product->params.test;
  uint32_t count = 0;
  product->slots = base_arena_array(arena, test->slot_count, sizeof *product->slots);
  for (uint32_t i = 0; i < test->field_count; i++) {
    const struct net_product_field *field = &product->params.fields[i];
    for (uint32_t k = 0; k < net_type_slots(test->fields[i].type.base); k++)
      product->slots[count++] = (struct net_product_slot){field->side, field->slot + k};
  }
}

static void plan_moves(struct net_product *product, struct base_arena *arena) {
  const struct net_layout *out = product->node.layout;
  struct net_product_moves *moves = &product->moves;
  uint32_t first = out->first_domain_slot, count = out->slot_count - first;
  moves->doubles = base_arena_array(arena, count, sizeof *moves->doubles);
  moves->singles = base_arena_array(arena, count, sizeof *moves->singles);
  for (uint32_t i = 0; i < count; i++) {
    struct net_product_slot slot = product->slots[i];
    struct net_product_move move = {slot.side, slot.from, first + i};
    bool two = i + 1 < count && product->slots[i + 1].side == slot.side &&
               product->slots[i + 1].from == slot.from + 1;
    if (two)
      moves->doubles[moves->double_count++] = move;
    else
      moves->singles[moves->single_count++] = move;
    i += two;
  }
}

/* The predicate over plain rows as they lie. */
static void plan_predicate(struct net_product *product, struct base_arena *arena) {
  const struct net_layout *test = product->params.test;
  uint8_t *sides = base_arena_array(arena, test->slot_count, sizeof *sides);
  uint32_t *slots = base_arena_array(arena, test->slot_count, sizeof *slots);
  if (product->params.predicate == NULL) return;
  for (uint32_t i = 0; i < test->slot_count; i++) {
    bool time = i < test->first_domain_slot;
    const struct net_product_slot *slot = &product->slots[time ? 0 : i - test->first_domain_slot];
    sides[i] = time ? 2 : (uint8_t)slot->side;
    slots[i] = time ? i : slot->from;
  }
  product->quick = net_pair_program_new(arena, product->params.predicate, sides, slots);
}

struct net_node *net_create_product(struct net_network *network, const char *name,
                                    const struct net_product_params *params) {
  struct base_arena *arena = net_network_arena(network);
  struct net_product *product = net_node_new(network, sizeof *product, &class, name, params->out);
  if (params->predicate != NULL || params->key_count > 0) product->node.kind = NET_NODE_JOIN;
  product->node.input_layouts[0] = params->rows != NULL ? params->rows : params->left;
  product->node.input_layouts[1] = params->rows != NULL ? NULL : params->right;
  product->params = *params;
  product->params.left_participants =
      copy(arena, params->left_participants, params->left_count, sizeof *params->left_participants);
  product->params.right_participants = copy(arena, params->right_participants, params->right_count,
                                            sizeof *params->right_participants);
  if (params->test == NULL) product->params.test = params->out;
  product->params.fields =
      copy(arena, params->fields, product->params.test->field_count, sizeof *params->fields);
  for (unsigned i = 0; i < 2; i++)
    product->params.expiries[i] =
        copy(arena, params->expiries[i], params->expiry_counts[i], sizeof *params->expiries[i]);
  product->params.keys = copy(arena, params->keys, params->key_count, sizeof *params->keys);
  for (size_t i = 0; i < params->left_count; i++)
    product->event_result |= params->left_participants[i].event;
  for (size_t i = 0; i < params->right_count; i++)
    product->event_result |= params->right_participants[i].event;
  if (params->rule == NET_PRODUCT_FULL) product->event_result = false;
  BASE_CHECK((params->out->tuple_class == NET_EVENT) ==
                 (product->event_result || params->rule == NET_PRODUCT_FULL),
             "product-out-class");
  net_inbox_init(&product->inbox, params->left, params->right, NET_CLOSES_AFTER_STARTS);
  net_product_live_init(product);
  for (unsigned which = 0; which < 2; which++)
    net_product_side_init(&product->sides[which], arena, &product->params, which);
  for (unsigned which = 0; which < 2; which++)
    product->sides[which].general = product->node.general;
  product->pair_free = NET_NO_PAIR;
  net_due_spend(&product->due);
  product->settled = NET_BEGINNING;
  product->part_rows = product->node.out.capacity;
  plan_slots(product, arena);
  plan_moves(product, arena);
  plan_predicate(product, arena);
  product->scratch =
      base_arena_array(arena, product->params.test->slot_count, sizeof *product->scratch);
  product->floor = base_arena_array(arena, params->out->slot_count, sizeof *product->floor);
  if (params->rows != NULL) net_product_self_init(product, arena);
  return &product->node;
}
