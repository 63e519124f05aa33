/* The nodes behind a join, done in the join for plain rows.
 *
 *      join ──▶ selections ──▶ applies ──▶ projection ──▶ out
 *        └─────────── rows ───────────────────▲
 *
 * Of two rows that meet four more would be written before one goes out: the join's, one with each applied value,
 * the projection's. Where each of these nodes has one reader, and their programs have plain forms (expr_quick.c),
 * meetings of plain rows (emit.c) become the projection's rows at once. What the programs read is put side
 * by side before, so that they run as they do over batches.
 *
 * Where a program fails the rows go the ordinary way, as do all others; checkpoints do, too, and take along what waits
 * in the projection's output. Of measured networks (net_network_measure) each node does its own work. */
#include <string.h>

#include "engine/base/arena.h"
#include "engine/nodes/product/product.h"
#include "engine/nodes/product/behind.h"

enum { OWN_TIMES = 2 }; /* a "side" */

/* Slots of a row of the result that have an applied value. */
struct value_move {
  uint32_t value, to;
};

struct net_product_tail {
  bool possible;
  struct net_node **nodes; /* from the join's reader to the projection */
  size_t node_count;
  struct net_node *projection;
  /* where programs and times find what they read: a few slots of each meeting, side by side */
  struct net_product_slot *columns;
  uint32_t column_count;
  const struct net_program **conditions, **values;
  size_t condition_count, value_count;
  uint32_t start, stop; /* columns; STOP where the result is a period */
  bool period, unordered;
  struct net_product_move *moves;
  struct value_move *value_moves;
  uint32_t move_count, value_move_count;
  union net_slot *scratch; /* columns of NET_MEETINGS */
  int64_t *numbers;        /* NET_MEETINGS of each value */
  uint32_t selected[NET_MEETINGS];
  uint16_t items[NET_MEETINGS]; /* meetings */
};

/* --- planning */

/* Where slot FROM of the join's rows is. */
static struct net_product_slot source_of(const struct net_product *product, uint32_t from) {
  uint32_t first = product->node.layout->first_domain_slot;
  if (from < first) return (struct net_product_slot){OWN_TIMES, from};
  return product->slots[from - first];
}

static uint32_t column_of(const struct net_product *product, struct net_product_tail *tail,
                          uint32_t from) {
  struct net_product_slot source = source_of(product, from);
  for (uint32_t i = 0; i < tail->column_count; i++)
    if (tail->columns[i].side == source.side && tail->columns[i].from == source.from) return i;
  tail->columns[tail->column_count] = source;
  return tail->column_count++;
}

/* PROGRAM over the columns; NULL: it has no plain form, or reads an applied value. */
static const struct net_program *plan_program(struct net_product *product,
                                              struct net_product_tail *tail,
                                              const struct net_program *program,
                                              const struct net_layout *in) {
  struct base_arena *arena = net_network_arena(product->node.network);
  uint32_t own = product->node.layout->slot_count;
  bool *reads = base_arena_array(arena, in->slot_count, sizeof *reads);
  uint32_t *slots = base_arena_array(arena, in->slot_count, sizeof *slots);
  if (program->plain_count == 0) return NULL;
  net_program_plain_reads(program, reads);
  for (uint32_t i = 0; i < in->slot_count; i++) {
    if (!reads[i]) continue;
    if (i >= own) return NULL;
    slots[i] = column_of(product, tail, i);
  }
  return net_program_moved(arena, program, slots);
}

static bool plan_node(struct net_product *product, struct net_product_tail *tail,
                      const struct net_node *node) {
  struct net_applied applied;
  const struct net_program *program;
  if (node->kind == NET_NODE_SELECTION) {
    program = net_selection_predicate(node);
    if (!program->quick_truth || tail->value_count > 0) return false;
    program = plan_program(product, tail, program, node->layout);
    tail->conditions[tail->condition_count++] = program;
    return program != NULL;
  }
  if (node->kind != NET_NODE_APPLY || !net_apply_is_number(node, &applied)) return false;
  program = plan_program(product, tail, applied.program, node->input_layouts[0]);
  tail->values[tail->value_count++] = program;
  return program != NULL;
}

/* The value that is at slot FROM of the rows that the projection gets. */
static uint32_t value_at(const struct net_product_tail *tail, uint32_t from) {
  uint32_t value = 0;
  for (size_t i = 0; i + 1 < tail->node_count; i++) {
    struct net_applied applied;
    if (tail->nodes[i]->kind != NET_NODE_APPLY) continue;
    (void)net_apply_is_number(tail->nodes[i], &applied);
    if (from < applied.in_slots + applied.slots) break;
    value++;
  }
  return value;
}

static bool plan_projection(struct net_product *product, struct net_product_tail *tail) {
  struct net_projected projected;
  struct base_arena *arena = net_network_arena(product->node.network);
  const struct net_layout *out = tail->projection->layout;
  uint32_t own = product->node.layout->slot_count, first = out->first_domain_slot;
  net_projection_of(tail->projection, &projected);
  tail->period = out->tuple_class == NET_PERIOD;
  if (projected.start_slot >= own || (tail->period && projected.stop_slot >= own)) return false;
  if (projected.same && tail->node_count == 1) return false; /* nothing is written there */
  tail->start = column_of(product, tail, projected.start_slot);
  if (tail->period) tail->stop = column_of(product, tail, projected.stop_slot);
  tail->unordered = !projected.in_order;
  tail->moves = base_arena_array(arena, out->slot_count, sizeof *tail->moves);
  tail->value_moves = base_arena_array(arena, out->slot_count, sizeof *tail->value_moves);
  for (uint32_t to = first; to < out->slot_count; to++) {
    uint32_t from = net_projection_source(tail->projection, to);
    if (from >= own) {
      tail->value_moves[tail->value_move_count++] = (struct value_move){value_at(tail, from), to};
      continue;
    }
    struct net_product_slot source = source_of(product, from);
    if (source.side == OWN_TIMES) return false;
    tail->moves[tail->move_count++] = (struct net_product_move){source.side, source.from, to};
  }
  return true;
}

/* The nodes behind the join as far as a projection, each the only reader of the one before it. */
static bool follow(struct net_product *product, struct net_product_tail *tail) {
  struct base_arena *arena = net_network_arena(product->node.network);
  const struct net_node *node = &product->node;
  size_t count = 0;
  do {
    if (node->reader_count != 1) return false;
    node = node->readers[0].reader;
    count++;
  } while (node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY);
  if (node->kind != NET_NODE_PROJECTION) return false;
  tail->nodes = base_arena_array(arena, count, sizeof *tail->nodes);
  tail->node_count = count;
  node = &product->node;
  for (size_t i = 0; i < count; i++)
    tail->nodes[i] = node->readers[0].reader, node = tail->nodes[i];
  tail->projection = tail->nodes[count - 1];
  return true;
}

static void plan(struct net_product *product) {
  struct base_arena *arena = net_network_arena(product->node.network);
  struct net_product_tail *tail = product->tail = BASE_NEW(arena, struct net_product_tail);
  if (product->node.general || !follow(product, tail)) return;
  tail->columns = base_arena_array(arena, product->node.layout->slot_count, sizeof *tail->columns);
  tail->conditions = base_arena_array(arena, tail->node_count, sizeof *tail->conditions);
  tail->values = base_arena_array(arena, tail->node_count, sizeof *tail->values);
  for (size_t i = 0; i + 1 < tail->node_count; i++)
    if (!plan_node(product, tail, tail->nodes[i])) return;
  if (!plan_projection(product, tail)) return;
  tail->scratch =
      base_arena_array(arena, (size_t)NET_MEETINGS * tail->column_count, sizeof *tail->scratch);
  tail->numbers =
      base_arena_array(arena, NET_MEETINGS * tail->value_count + 1, sizeof *tail->numbers);
  tail->possible = true;
}

/* Others may read from the nodes by now. */
static bool may_take(const struct net_product *product) {
  const struct net_product_tail *tail = product->tail;
  if (!tail->possible || net_is_measured(&product->node)) return false;
  bool alone = product->node.reader_count == 1;
  for (size_t i = 0; i + 1 < tail->node_count; i++) alone &= tail->nodes[i]->reader_count == 1;
  return alone;
}

/* --- rows */

static void fill_columns(const struct net_meetings *met, uint32_t count,
                         const struct net_product_tail *tail) {
  uint32_t width = tail->column_count;
  const uint16_t *held = met->held;
  for (uint32_t k = 0; k < width; k++) {
    const struct net_product_slot column = tail->columns[k];
    union net_slot *to = tail->scratch + k;
    if (column.side == OWN_TIMES) {
      bool stops = column.from >= 2;
      for (uint32_t i = 0; i < count; i++, to += width) {
        const struct net_meeting *meeting = &met->items[held[i]];
        to->i = stops ? net_met_stop(met, meeting) : net_met_now(met, meeting);
      }
    } else if (met->apart != NULL && column.from == met->apart->width) {
      for (uint32_t i = 0; i < count; i++, to += width) to->i = (int64_t)met->items[held[i]].hash;
    } else {
      for (uint32_t i = 0; i < count; i++, to += width)
        *to = met->items[held[i]].rows[column.side][column.from];
    }
  }
}

/* Those of the first *COUNT for which all conditions hold, and whose result is no empty period, are SELECTED. */
static bool choose(struct net_product_tail *tail, uint32_t *count) {
  uint32_t width = tail->column_count, kept = 0;
  for (uint32_t i = 0; i < *count; i++) tail->selected[i] = i;
  for (size_t k = 0; k < tail->condition_count; k++)
    if (!net_program_select(tail->conditions[k], true, tail->scratch, width, tail->selected, count))
      return false;
  for (uint32_t i = 0; i < *count && tail->period; i++) {
    uint32_t index = tail->selected[i];
    const union net_slot *row = tail->scratch + (size_t)index * width;
    tail->selected[kept] = index;
    kept += row[tail->start].i < row[tail->stop].i;
  }
  if (tail->period) *count = kept;
  return true;
}

static bool compute(struct net_product_tail *tail, uint32_t count) {
  for (size_t k = 0; k < tail->value_count; k++)
    if (!net_program_column(tail->values[k], tail->scratch, tail->column_count, tail->selected,
                            count, tail->numbers + k * NET_MEETINGS))
      return false;
  return true;
}

/* Of those selected COUNT from FROM on, at TO. */
static void fill(const struct net_meetings *met, const struct net_product_tail *tail, uint32_t from,
                 uint32_t count, union net_slot *to) {
  const struct net_product_run *apart = met->apart;
  const uint16_t *items = tail->items + from;
  const uint32_t *selected = tail->selected + from;
  uint32_t slots = tail->projection->layout->slot_count, width = tail->column_count;
  union net_slot *row = to;
  for (uint32_t i = 0; i < count; i++, row += slots) {
    const union net_slot *times = tail->scratch + (size_t)selected[i] * width;
    row[0] = row[1] = times[tail->start];
    if (tail->period) row[2] = row[3] = times[tail->stop];
  }
  for (uint32_t k = 0; k < tail->move_count; k++) {
    const struct net_product_move move = tail->moves[k];
    row = to + move.to;
    if (apart != NULL && move.from == apart->width) {
      for (uint32_t i = 0; i < count; i++, row += slots)
        row->i = (int64_t)met->items[items[i]].hash;
      continue;
    }
    for (uint32_t i = 0; i < count; i++, row += slots)
      *row = met->items[items[i]].rows[move.side][move.from];
  }
  for (uint32_t k = 0; k < tail->value_move_count; k++) {
    const int64_t *numbers = tail->numbers + tail->value_moves[k].value * NET_MEETINGS + from;
    row = to + tail->value_moves[k].to;
    for (uint32_t i = 0; i < count; i++, row += slots) row->i = numbers[i];
  }
}

/* So many rows have gone through the nodes. */
static void count_rows(struct net_product *product, uint32_t met, uint32_t chosen) {
  const struct net_product_tail *tail = product->tail;
  product->node.rows_out += met;
  for (size_t i = 0; i < tail->node_count; i++) {
    struct net_node *node = tail->nodes[i];
    node->rows_in += i == 0 ? met : chosen;
    if (node != tail->projection) node->rows_out += chosen;
  }
}

bool net_product_tail_takes(struct net_meetings *met, uint32_t count, enum base_status *status) {
  struct net_product *product = met->product;
  if (product->tail == NULL) plan(product);
  struct net_product_tail *tail = product->tail;
  uint32_t chosen = count;
  if (!may_take(product)) return false;
  fill_columns(met, count, tail);
  if (!choose(tail, &chosen) || !compute(tail, chosen)) return false;
  for (uint32_t i = 0; i < chosen; i++) tail->items[i] = met->held[tail->selected[i]];
  /* What went the ordinary way goes first. */
  if (product->node.out.count > 0)
    net_out_send_full(&product->node, product->node.checkpoint, status);
  struct net_node *last = tail->projection;
  for (uint32_t done = 0, more; done < chosen && *status == BASE_OK; done += more) {
    if (net_batch_builder_full(&last->out))
      net_out_send_full(last, product->node.checkpoint, status);
    uint32_t room = last->out.capacity - last->out.count;
    more = chosen - done < room ? chosen - done : room;
    fill(met, tail, done, more, net_batch_builder_add_plains(&last->out, more));
    last->out.unordered |= tail->unordered;
  }
  count_rows(product, count, chosen);
  return true;
}

bool net_product_tail_waits(const struct net_product *product) {
  const struct net_product_tail *tail = product->tail;
  return tail != NULL && tail->possible && tail->projection->out.count > 0;
}

enum base_status net_product_tail_flush(struct net_product *product) {
  struct net_node *last = product->tail->projection;
  return net_out_flush(last, last->checkpoint, product->node.checkpoint, NULL);
}
