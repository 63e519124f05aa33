/* A join of rows with themselves: both sides are chosen of the rows of one port.
 *
 *                    ┌ conditions, values ┐
 *      rows ──▶ ─────┤                    ├───▶ product (product.c)
 *                    └ conditions, values ┘
 *
 * What stood below the join, selections and applies over the same rows, is done here for both sides at once. Of
 * a plain batch each row is written once, with its values behind it, into a slab of rows of both sides in the
 * order of time: the sweep takes it from there (net_product_sweep_run) and need not ask whose turn it is. Where
 * each row is of one side, and its only value is the key that chooses groups, nothing is written: rows are swept
 * where they stand, and their keys stand apart.
 * A batch like that is swept with all its rows, also those that start at its checkpoint: whoever comes later
 * finds them live. All other rows go the ordinary way: those of each side into the inbox.
 *
 * Programs read domains only, and cannot fail: what they say of a row that opens they say of its close. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/nodes/product/product.h"

struct net_product_self {
  const struct net_layout *rows;
  struct net_product_choice choices[2];
  bool keys_stand_apart; /* they may: see net_product_run */
  bool values_agree;     /* those of both sides are computed in the same way */
  uint32_t width;        /* of a row in the slab */
  union net_slot *slab;
  uint8_t *sides, *marks; /* of the rows in the slab */
  uint64_t *ids;
  size_t slab_capacity, side_capacity, mark_capacity, id_capacity;
  bool shared; /* of the last batch some row was not of one side alone */
  /* Of the rows of a batch that count: which sides have them, a bit each; values, one after the other. */
  uint8_t *takers;
  const union net_slot *end; /* of the last batch */
  size_t taker_capacity;
  int64_t *values[2];
  size_t value_capacities[2];
};

enum { LEFT = 1, RIGHT = 2, BOTH = LEFT | RIGHT };

/* --- plain rows */

static struct net_value value_of(const struct net_program *program, const union net_slot *row,
                                 net_chronon bound) {
  struct net_value value;
  enum net_eval_error error = net_program_run(program, row, bound, &value);
  BASE_CHECK(error == NET_EVAL_OK, "self-join-program");
  return value;
}

/* Which rows of BATCH side SIDE has not. */
static void choose(struct net_product_self *self, unsigned side, const struct net_batch *batch) {
  const struct net_product_choice *choice = &self->choices[side];
  uint8_t bit = (uint8_t)(LEFT << side);
  for (size_t k = 0; k < choice->condition_count; k++) {
    const struct net_program *program = choice->conditions[k];
    if (program->plain_count > 0 && program->quick_truth) {
      bool marked = net_program_mark(program, batch->rows, self->rows->slot_count, batch->selection,
                                     batch->count, bit, self->takers);
      BASE_CHECK(marked, "self-join-condition");
      continue;
    }
    for (uint32_t i = 0; i < batch->count; i++)
      if (value_of(program, net_batch_row(batch, i), batch->bound).truth != NET_TRUE)
        self->takers[i] &= (uint8_t)~bit;
  }
}

/* Each row is of one side, by its value of the same expression: which is in TAKERS then. */
static bool divide_by_value(struct net_product_self *self, const struct net_batch *batch) {
  const struct net_product_choice *choices = self->choices;
  return !self->shared && choices[0].condition_count == 1 && choices[1].condition_count == 1 &&
         net_programs_find_values(choices[0].conditions[0], choices[1].conditions[0], batch->rows,
                                  self->rows->slot_count, batch->count, self->takers);
}

/* Each side has the rows of one value of the same expression. */
static bool choose_by_value(struct net_product_self *self, const struct net_batch *batch) {
  const struct net_product_choice *choices = self->choices;
  return choices[0].condition_count == 1 && choices[1].condition_count == 1 &&
         net_programs_mark_values(choices[0].conditions[0], choices[1].conditions[0], batch->rows,
                                  self->rows->slot_count, batch->selection, batch->count,
                                  self->takers);
}

/* The slab has room for as many values of either side. */
static void compute(struct net_product_self *self, unsigned side, const struct net_batch *batch) {
  const struct net_product_choice *choice = &self->choices[side];
  base_grow(&self->values[side], &self->value_capacities[side],
            (size_t)(self->width - self->rows->slot_count) * batch->count + 1,
            sizeof *self->values[side]);
  for (size_t k = 0; k < choice->value_count; k++) {
    int64_t *values = self->values[side] + k * batch->count;
    if (net_program_column(choice->values[k], batch->rows, self->rows->slot_count, batch->selection,
                           batch->count, values))
      continue;
    for (uint32_t i = 0; i < batch->count; i++)
      values[i] = value_of(choice->values[k], net_batch_row(batch, i), batch->bound).i;
  }
}

/* The rows of BATCH that a side has, in their order, behind COUNT others; one that both have comes twice, first
 * as one of the left. Returns how many there are with those. Each is written before it is known whether a
 * side has it. SLOTS: of a row; MORE: values behind it. */
static inline __attribute__((always_inline)) size_t write_rows(struct net_product_self *self,
                                                               const struct net_batch *batch,
                                                               size_t count, uint32_t slots,
                                                               uint32_t more) {
  size_t width = slots + more;
  const int64_t *values[2] = {self->values[0], self->values[self->values_agree ? 0 : 1]};
  union net_slot *to = self->slab + count * width;
  for (uint32_t i = 0; i < batch->count; i++) {
    const union net_slot *row = batch->rows + (size_t)net_batch_index(batch, i) * slots;
    unsigned takers = self->takers[i];
    size_t side = takers == RIGHT;
    memcpy(to, row, slots * sizeof *to);
    for (uint32_t k = 0; k < more; k++) to[slots + k].i = values[side][k * batch->count + i];
    self->sides[count] = (uint8_t)side;
    count += takers != 0;
    to += takers != 0 ? width : 0;
    if (takers != BOTH) continue;
    memcpy(to, row, slots * sizeof *to);
    for (uint32_t k = 0; k < more; k++) to[slots + k].i = values[1][k * batch->count + i];
    self->sides[count++] = 1;
    to += width;
  }
  return count;
}

/* The same; lengths that are known are a few moves. */
static size_t line_up(struct net_product_self *self, const struct net_batch *batch, size_t count) {
  uint32_t slots = self->rows->slot_count, more = self->width - slots;
#define CASE(SLOTS)                                             \
  if (slots == (SLOTS))                                         \
  return more == 0   ? write_rows(self, batch, count, SLOTS, 0) \
         : more == 1 ? write_rows(self, batch, count, SLOTS, 1) \
                     : write_rows(self, batch, count, SLOTS, more)
  CASE(4);
  CASE(5);
  CASE(6);
  CASE(7);
#undef CASE
  return write_rows(self, batch, count, slots, more);
}

/* Room for COUNT rows. */
static void grow_slab(struct net_product_self *self, size_t count) {
  base_grow(&self->slab, &self->slab_capacity, (count + 1) * self->width, sizeof *self->slab);
  base_grow(&self->sides, &self->side_capacity, count + 1, sizeof *self->sides);
}

/* Is all that waits at PORT plain, in order, and not behind FIRST? */
static bool waits_plainly(const struct net_inbox_port *port, net_chronon first) {
  const struct net_inbox_queue *starts = &port->starts;
  if (port->others.head < port->others.count || starts->unsorted) return false;
  for (size_t i = starts->head; i < starts->count; i++)
    if (!(starts->marks[i] & NET_INBOX_PLAIN)) return false;
  return starts->head == starts->count ||
         net_inbox_row(port, starts, starts->count - 1)[0].i <= first;
}

/* What waits, which is plain, comes to the beginning of the slab, both sides in one order; returns how many. */
static size_t take_waiting(struct net_product *product) {
  struct net_product_self *self = product->self;
  struct net_inbox_port *ports = product->inbox.ports;
  size_t count = 0;
  for (;; count++) {
    const union net_slot *rows[2] = {NULL, NULL};
    for (unsigned i = 0; i < 2; i++)
      if (ports[i].starts.head < ports[i].starts.count)
        rows[i] = net_inbox_row(&ports[i], &ports[i].starts, ports[i].starts.head);
    if (rows[0] == NULL && rows[1] == NULL) break;
    unsigned which = rows[0] == NULL || (rows[1] != NULL && rows[1][0].i < rows[0][0].i);
    net_row_copy(self->slab + count * self->width, rows[which], ports[which].layout->slot_count);
    self->sides[count] = (uint8_t)which;
    ports[which].starts.head++;
  }
  net_inbox_tidy(&product->inbox);
  return count;
}

/* May the rows of BATCH be swept at once, behind all that wait, when none comes before CHECKPOINT? */
static bool may_run(const struct net_product *product, const struct net_batch *batch,
                    net_chronon checkpoint) {
  if (!batch->plain || batch->unordered || batch->count == 0 || product->node.general) return false;
  net_chronon first = net_batch_row(batch, 0)[0].i;
  net_chronon last = net_batch_row(batch, batch->count - 1)[0].i;
  return last <= checkpoint && last < NET_PRODUCT_LAST && net_product_takes_runs(product) &&
         waits_plainly(&product->inbox.ports[0], first) &&
         waits_plainly(&product->inbox.ports[1], first);
}

/* Each row is of one side: which is in TAKERS then. */
static bool are_taken_once(struct net_product_self *self, uint32_t count) {
  uint8_t odd = 0;
  for (uint32_t i = 0; i < count; i++)
    odd |= (uint8_t)((self->takers[i] == BOTH) | (self->takers[i] == 0));
  for (uint32_t i = 0; i < count && !odd; i++) self->takers[i] = self->takers[i] == RIGHT;
  return !odd;
}

/* Rows need not be written once more where each is of one side, and nothing is behind them that is not a key alone:
 * is there, if each is of one? */
static bool may_stand_as_they_are(struct net_product *product, const struct net_batch *batch) {
  const struct net_product_self *self = product->self;
  bool key = self->width > self->rows->slot_count;
  if (key && product->steps > product->patience) net_product_hash_all(product);
  return self->keys_stand_apart && batch->selection == NULL &&
         (!key || product->hashed_keys == 1) && net_inbox_rows(&product->inbox) == 0;
}

/* Which sides have the rows of BATCH is in TAKERS; true: that is one side for each (may they STAND), and it is. */
static bool choose_sides(struct net_product_self *self, const struct net_batch *batch, bool stand) {
  if (stand && divide_by_value(self, batch)) return true;
  if (!choose_by_value(self, batch)) {
    memset(self->takers, BOTH, batch->count);
    for (unsigned side = 0; side < 2; side++) choose(self, side, batch);
  }
  bool once = stand && are_taken_once(self, batch->count);
  self->shared = stand && !once;
  return once;
}

static void run(struct net_product *product, const struct net_batch *batch, net_chronon checkpoint,
                enum base_status *status) {
  struct net_product_self *self = product->self;
  base_grow(&self->takers, &self->taker_capacity, batch->count, 1);
  bool stand = choose_sides(self, batch, may_stand_as_they_are(product, batch));
  compute(self, 0, batch);
  if (!self->values_agree) compute(self, 1, batch);
  const union net_slot *end = batch->rows + (size_t)batch->count * self->rows->slot_count;
  bool follows = batch->rows == self->end; /* rows in memory do, one batch the other */
  self->end = end;
  struct net_product_run rows = {.rows = batch->rows,
                                 .sides = self->takers,
                                 .count = batch->count,
                                 .width = self->rows->slot_count};
  if (stand) {
    if (self->width > rows.width) rows.keys = self->values[0];
  } else {
    grow_slab(self, net_inbox_rows(&product->inbox) + 2 * (size_t)batch->count);
    size_t waiting = take_waiting(product);
    rows.count = line_up(self, batch, waiting);
    rows.rows = self->slab;
    rows.sides = self->sides;
    rows.width = self->width;
  }
  if (follows) rows.ahead = (uintptr_t)end - (uintptr_t)rows.rows;
  net_product_sweep_run(product, &rows, checkpoint, status);
}

/* --- any rows */

static bool is_chosen(const struct net_product_choice *choice, const union net_slot *row,
                      net_chronon bound) {
  for (size_t i = 0; i < choice->condition_count; i++)
    if (value_of(choice->conditions[i], row, bound).truth != NET_TRUE) return false;
  return true;
}

/* The rows of side SIDE; good until the next call. */
static struct net_batch rows_of(struct net_product *product, unsigned side,
                                const struct net_batch *batch) {
  struct net_product_self *self = product->self;
  const struct net_product_choice *choice = &self->choices[side];
  const struct net_layout *layout = product->sides[side].layout;
  struct net_batch ret = *batch;
  uint32_t width = layout->slot_count, slots = self->rows->slot_count;
  base_grow(&self->slab, &self->slab_capacity, (size_t)batch->count * width + 1,
            sizeof *self->slab);
  base_grow(&self->marks, &self->mark_capacity, batch->count, sizeof *self->marks);
  base_grow(&self->ids, &self->id_capacity, batch->count, sizeof *self->ids);
  ret.count = 0;
  for (uint32_t i = 0; i < batch->count; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    if (!is_chosen(choice, row, batch->bound)) continue;
    union net_slot *to = self->slab + (size_t)ret.count * width;
    net_row_copy(to, row, slots);
    for (size_t k = 0; k < choice->value_count; k++)
      to[slots + k].i = value_of(choice->values[k], row, batch->bound).i;
    self->marks[ret.count] = net_batch_marks(batch, i);
    self->ids[ret.count++] = net_batch_id(batch, i);
  }
  ret.layout = layout;
  ret.rows = self->slab;
  ret.marks = self->marks;
  ret.ids = batch->ids != NULL ? self->ids : NULL;
  ret.selection = NULL;
  ret.floor = NULL;
  return ret;
}

enum base_status net_product_self_take(struct net_product *product, const struct net_batch *batch,
                                       bool *ret_closes) {
  enum base_status status = BASE_OK;
  net_chronon checkpoint = net_inbox_checkpoint(&product->inbox);
  if (batch->checkpoint > checkpoint) checkpoint = batch->checkpoint;
  *ret_closes = false;
  bool taken = may_run(product, batch, checkpoint);
  if (taken) run(product, batch, checkpoint, &status);
  for (unsigned side = 0; side < 2; side++) {
    struct net_batch rows = *batch;
    rows.count = 0;
    if (!taken) rows = rows_of(product, side, batch);
    for (uint32_t i = 0; i < rows.count; i++) *ret_closes |= (rows.marks[i] & NET_CLOSES) != 0;
    net_inbox_add(&product->inbox, side, &rows);
  }
  return status;
}

/* --- the node's part */

static bool agree(const struct net_program *a, const struct net_program *b) {
  if (a->count != b->count) return false;
  for (size_t i = 0; i < a->count; i++)
    if (a->steps[i].op != b->steps[i].op || a->steps[i].slot != b->steps[i].slot ||
        a->steps[i].i != b->steps[i].i)
      return false;
  return true;
}

/* Is there nothing behind the shared rows, or a value that is the first key, and read as a result at most? */
static bool can_stand_apart(const struct net_product *product) {
  const struct net_product_self *self = product->self;
  const struct net_product_params *params = &product->params;
  const struct net_pair_program *quick = product->quick;
  uint32_t slots = self->rows->slot_count;
  if (self->width == slots) return true;
  if (self->width > slots + 1 || !self->values_agree || params->key_count == 0) return false;
  for (unsigned side = 0; side < 2; side++)
    if (self->choices[side].value_count != 1) return false;
  if (params->keys[0].left_slot != slots || params->keys[0].right_slot != slots) return false;
  for (size_t k = 1; k < params->key_count; k++)
    if (params->keys[k].left_slot >= slots || params->keys[k].right_slot >= slots) return false;
  for (uint32_t k = 0; k < product->moves.double_count; k++)
    if (product->moves.doubles[k].from + 1 >= slots) return false;
  if (quick == NULL) return params->predicate == NULL;
  return quick->compares && quick->sides[0] < 2 && quick->sides[1] < 2 && quick->slots[0] < slots &&
         quick->slots[1] < slots;
}

void net_product_self_init(struct net_product *product, struct base_arena *arena) {
  const struct net_product_params *params = &product->params;
  struct net_product_self *self = product->self = BASE_NEW(arena, struct net_product_self);
  self->rows = params->rows;
  self->width = params->left->slot_count > params->right->slot_count ? params->left->slot_count
                                                                     : params->right->slot_count;
  bool equal = params->choices[0].value_count == params->choices[1].value_count;
  for (unsigned side = 0; side < 2; side++) {
    const struct net_product_choice *choice = &params->choices[side];
    struct net_product_choice *own = &self->choices[side];
    const struct net_program **programs =
        base_arena_array(arena, choice->condition_count + choice->value_count, sizeof *programs);
    for (size_t i = 0; i < choice->condition_count; i++) programs[i] = choice->conditions[i];
    for (size_t i = 0; i < choice->value_count; i++)
      programs[choice->condition_count + i] = choice->values[i];
    *own = (struct net_product_choice){programs, choice->condition_count,
                                       programs + choice->condition_count, choice->value_count};
    BASE_CHECK(
        product->sides[side].layout->slot_count == params->rows->slot_count + choice->value_count,
        "self-join-layout");
  }
  for (size_t i = 0; i < params->choices[0].value_count && equal; i++)
    equal = agree(self->choices[0].values[i], self->choices[1].values[i]);
  self->values_agree = equal;
  self->keys_stand_apart = can_stand_apart(product);
  for (unsigned side = 0; side < 2; side++)
    product->complete[side] = base_arena_array(arena, self->width, sizeof(union net_slot));
  union net_slot *none = product->recents.none = base_arena_array(arena, self->width, sizeof *none);
  for (uint32_t i = 0; i < self->width; i++) none[i].i = NET_BEGINNING;
}

void net_product_self_done(struct net_product_self *self) {
  free(self->slab);
  free(self->sides);
  free(self->marks);
  free(self->ids);
  free(self->takers);
  for (unsigned side = 0; side < 2; side++) free(self->values[side]);
}

size_t net_product_self_bytes(const struct net_product_self *self) {
  return self->slab_capacity * sizeof *self->slab + self->side_capacity + self->mark_capacity +
         self->id_capacity * sizeof *self->ids + self->taker_capacity +
         (self->value_capacities[0] + self->value_capacities[1]) * sizeof *self->values[0];
}
