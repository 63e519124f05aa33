/* What plain rows that meet become (runs.c): many meetings at a time, each step a loop of its own.
 * Meetings for which the predicate holds, then the columns of the result; or, where the nodes behind the join allow it,
 * at once the rows that come out of these (tail.c).                                          */
#include "engine/nodes/product/emit.h"

/* The rows of MEETING with their keys, if these stand apart. */
static void complete(const struct net_meetings *met, const struct net_meeting *meeting,
                     const union net_slot *ret[2]) {
  uint32_t width = met->apart != NULL ? met->apart->width : 0;
  for (unsigned i = 0; i < 2; i++) {
    union net_slot *to = met->product->complete[i];
    ret[i] = meeting->rows[i];
    if (met->apart == NULL) continue;
    net_row_copy(to, meeting->rows[i], width);
    to[width].i = (int64_t)meeting->hash;
    ret[i] = to;
  }
}

/* One after the other, the ordinary way. */
static void meet_each(struct net_meetings *met, enum base_status *status) {
  for (uint32_t i = 0, count = net_met_count(met); i < count && *status == BASE_OK; i++) {
    const struct net_meeting *meeting = &met->items[i];
    const union net_slot *rows[2];
    complete(met, meeting, rows);
    (void)net_product_emit_plain(met->product, rows[0], rows[1], meeting->marks & NET_DEFINITE,
                                 net_met_now(met, meeting), net_met_stop(met, meeting), status);
  }
}

/* One that has the same keys, if there are more than those by which it was found. */
static uint32_t hold_keys(struct net_meetings *met) {
  const struct net_product *product = met->product;
  size_t first = product->hashed_keys == 1;
  uint32_t kept = 0;
  for (uint32_t i = 0, count = net_met_count(met); i < count; i++) {
    const struct net_meeting *meeting = &met->items[i];
    bool equal = true;
    for (size_t k = first; k < product->params.key_count; k++) {
      const struct net_join_key *key = &product->params.keys[k];
      equal &= meeting->rows[0][key->left_slot].i == meeting->rows[1][key->right_slot].i;
    }
    met->held[kept] = (uint16_t)i;
    kept += equal;
  }
  return kept;
}

/* Of COUNT, all or those held, the ones for which PAIR holds, a comparison of a value of each, are held; false: it says
 * nothing of one of them. */
static inline __attribute__((always_inline)) bool hold_compared(struct net_meetings *met,
                                                                const struct net_pair_program *pair,
                                                                enum net_comparison comparison,
                                                                bool all, uint32_t *count) {
  uint32_t kept = 0, left = pair->sides[0], right = pair->sides[1];
  uint32_t left_slot = pair->slots[0], right_slot = pair->slots[1];
  int64_t left_more = pair->more[0], right_more = pair->more[1], a, b;
  bool failed = false;
  for (uint32_t k = 0; k < *count; k++) {
    uint16_t index = all ? (uint16_t)k : met->held[k];
    const struct net_meeting *meeting = &met->items[index];
    failed |= __builtin_add_overflow(meeting->rows[left][left_slot].i, left_more, &a);
    failed |= __builtin_add_overflow(meeting->rows[right][right_slot].i, right_more, &b);
    met->held[kept] = index;
    kept += net_compare_integers(comparison, a, b);
  }
  *count = kept;
  return !failed;
}

static inline __attribute__((always_inline)) bool compare_all(struct net_meetings *met,
                                                              const struct net_pair_program *pair,
                                                              bool all, uint32_t *count) {
  switch (pair->comparison) {
    case NET_EQ:
      return hold_compared(met, pair, NET_EQ, all, count);
    case NET_NE:
      return hold_compared(met, pair, NET_NE, all, count);
    case NET_LT:
      return hold_compared(met, pair, NET_LT, all, count);
    case NET_LE:
      return hold_compared(met, pair, NET_LE, all, count);
    case NET_GT:
      return hold_compared(met, pair, NET_GT, all, count);
    case NET_GE:
    default:
      return hold_compared(met, pair, NET_GE, all, count);
  }
}

static void hold_all(struct net_meetings *met, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) met->held[i] = (uint16_t)i;
}

/* Of COUNT, ALL or those held, the ones for which the predicate holds are held; false: it says nothing of one of them. */
static bool hold_predicate(struct net_meetings *met, bool all, uint32_t *count) {
  const struct net_pair_program *pair = met->product->quick;
  uint32_t kept = 0;
  if (pair != NULL && pair->compares && pair->sides[0] < 2 && pair->sides[1] < 2)
    return all ? compare_all(met, pair, true, count) : compare_all(met, pair, false, count);
  if (all) hold_all(met, *count);
  if (met->product->params.predicate == NULL) return true;
  if (pair == NULL) return false;
  for (uint32_t k = 0; k < *count; k++) {
    const struct net_meeting *meeting = &met->items[met->held[k]];
    net_chronon now = net_met_now(met, meeting), stop = net_met_stop(met, meeting);
    const union net_slot times[4] = {{.i = now}, {.i = now}, {.i = stop}, {.i = stop}};
    bool holds;
    if (!net_pair_program_holds(pair, meeting->rows[0], meeting->rows[1], times, &holds))
      return false;
    met->held[kept] = met->held[k];
    kept += holds;
  }
  *count = kept;
  return true;
}

/* Is MEETING as long as its row of the side of which one such is enough? */
static bool is_whole(const struct net_meetings *met, const struct net_meeting *meeting) {
  unsigned side = met->product->params.once_side;
  const union net_slot *row = meeting->rows[side];
  return net_met_now(met, meeting) == row[0].i &&
         net_met_stop(met, meeting) == net_met_expires(met, side, row);
}

/* Of the COUNT that are held those that are equal to the one before, of the same row, are left out; those of a row that
 * arrives stand side by side. Returns how many are held then. */
static uint32_t hold_once(struct net_meetings *met, uint32_t count) {
  const struct net_product_params *params = &met->product->params;
  const union net_slot *last = NULL;
  uint32_t kept = 0;
  for (uint32_t k = 0; k < count; k++) {
    const struct net_meeting *meeting = &met->items[met->held[k]];
    const union net_slot *row = meeting->rows[params->once_side];
    met->held[kept] = met->held[k];
    if (params->once == NET_PRODUCT_ONCE_WHOLE && !is_whole(met, meeting)) {
      kept++;
      continue;
    }
    kept += row != last;
    last = row;
  }
  return kept;
}

/* The results of those from FROM on, COUNT of them, at TO. */
static void fill(const struct net_meetings *met, uint32_t from, uint32_t count,
                 union net_slot *to) {
  const struct net_product_moves *moves = &met->product->moves;
  const struct net_layout *out = met->product->node.layout;
  const uint16_t *held = met->held + from;
  uint32_t width = out->slot_count;
  union net_slot *row = to;
  if (out->first_domain_slot == 4) {
    for (uint32_t i = 0; i < count; i++, row += width) {
      const struct net_meeting *meeting = &met->items[held[i]];
      row[0].i = row[1].i = net_met_now(met, meeting);
      row[2].i = row[3].i = net_met_stop(met, meeting);
    }
  } else {
    for (uint32_t i = 0; i < count; i++, row += width)
      row[0].i = row[1].i = net_met_now(met, &met->items[held[i]]);
  }
  for (uint32_t k = 0; k < moves->double_count; k++) {
    const struct net_product_move move = moves->doubles[k];
    row = to + move.to;
    for (uint32_t i = 0; i < count; i++, row += width)
      memcpy(row, met->items[held[i]].rows[move.side] + move.from, 2 * sizeof *row);
  }
  for (uint32_t k = 0; k < moves->single_count; k++) {
    const struct net_product_move move = moves->singles[k];
    row = to + move.to;
    if (met->apart != NULL && move.from == met->apart->width) {
      for (uint32_t i = 0; i < count; i++, row += width) row->i = (int64_t)met->items[held[i]].hash;
      continue;
    }
    for (uint32_t i = 0; i < count; i++, row += width)
      *row = met->items[held[i]].rows[move.side][move.from];
  }
}

/* All meetings so far become results. */
void net_product_emit_all(struct net_meetings *met, enum base_status *status) {
  struct net_product *product = met->product;
  struct net_node *node = &product->node;
  uint32_t count = net_met_count(met);
  bool several = product->params.key_count > (product->hashed_keys == 1 ? 1 : 0);
  uint64_t sure = NET_DEFINITE;
  for (uint32_t i = 0; i < count; i++) sure &= met->items[i].marks;
  if (several) count = hold_keys(met);
  bool known = sure && hold_predicate(met, !several, &count);
  if (!known) {
    if (several) {
      count = hold_keys(met);
      for (uint32_t i = 0; i < count; i++) {
        met->items[i] = met->items[met->held[i]];
      }
      met->end = met->items + count;
    }
    meet_each(met, status);
    count = 0;
  }
  product->met += count;
  if (product->params.once != NET_PRODUCT_EACH && met->several) count = hold_once(met, count);
  if (count > 0 && net_product_tail_takes(met, count, status)) count = 0;
  for (uint32_t done = 0, more; done < count && *status == BASE_OK; done += more) {
    net_product_make_room(product, net_met_now(met, &met->items[met->held[done]]), status);
    uint32_t room = product->part_rows - node->out.count;
    more = count - done < room ? count - done : room;
    fill(met, done, more, net_batch_builder_add_plains(&node->out, more));
  }
  met->end = met->items;
  met->several = false;
}
