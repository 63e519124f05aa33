/* Combinations of a product that are judged one by one: those with a stop that is open or a time that is
 * uncertain. One in which something is open is a pair until it is false or nothing is. See product.c.  */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/nodes/product/product.h"

/* A participant's stop as it is to be seen in a row in which something is open (HIDE): a known stop
 * that the bound has not passed counts as open. */
static struct net_instant seen_stop(const struct net_participant *participant,
                                    const union net_slot *row, bool hide, net_chronon bound) {
  struct net_instant stop = net_slot_instant(row, participant->stop_slot);
  if (stop.lo != NET_OPEN && hide && stop.hi > bound)
    return (struct net_instant){NET_OPEN, stop.hi};
  return stop;
}

static struct net_instant with_bound(struct net_instant stop, net_chronon bound) {
  if (stop.lo == NET_OPEN) stop.lo = bound < stop.hi ? bound : stop.hi;
  return stop;
}

static enum net_truth overlap(const struct net_participant *a, const union net_slot *row_a,
                              const struct net_participant *b, const union net_slot *row_b,
                              net_chronon bound) {
  struct net_instant start_a = net_slot_instant(row_a, a->start_slot);
  struct net_instant start_b = net_slot_instant(row_b, b->start_slot);
  if (a->event && b->event) return net_equal_instants(start_a, start_b);
  struct net_period period_a = {start_a, start_a}, period_b = {start_b, start_b};
  if (!a->event) period_a.stop = net_slot_stop(row_a, a->stop_slot, bound);
  if (!b->event) period_b.stop = net_slot_stop(row_b, b->stop_slot, bound);
  if (a->event) return net_overlap_event(start_a, period_b);
  if (b->event) return net_overlap_event(start_b, period_a);
  return net_overlap_periods(period_a, period_b);
}

static enum net_truth all_overlap(const struct net_product *product, const union net_slot *left,
                                  const union net_slot *right, net_chronon bound) {
  enum net_truth truth = NET_TRUE;
  for (size_t i = 0; i < product->params.left_count; i++)
    for (size_t j = 0; j < product->params.right_count; j++) {
      truth = net_and(truth, overlap(&product->params.left_participants[i], left,
                                     &product->params.right_participants[j], right, bound));
      if (truth == NET_FALSE) return truth;
    }
  return truth;
}

/* Folds one side's participants into the implicit time of the combination. */
static void fold_time(const struct net_product *product, unsigned which, const union net_slot *row,
                      bool hide, net_chronon bound, bool *first, bool *any_open,
                      struct net_instant *start, struct net_instant *stop) {
  const struct net_product_side *side = &product->sides[which];
  for (size_t i = 0; i < side->participant_count; i++) {
    const struct net_participant *participant = &side->participants[i];
    struct net_instant its = net_slot_instant(row, participant->start_slot);
    if (product->event_result && !participant->event) continue;
    if (*first) {
      *start = its;
    } else if (product->event_result) {
      start->lo = its.lo > start->lo ? its.lo : start->lo;
      start->hi = its.hi < start->hi ? its.hi : start->hi;
    } else {
      *start = net_later(*start, its);
    }
    if (product->params.rule == NET_PRODUCT_OVERLAP && !product->event_result) {
      struct net_instant end = seen_stop(participant, row, hide, bound);
      if (end.lo == NET_OPEN) *any_open = true;
      end = with_bound(end, bound);
      *stop = *first ? end : net_earlier(*stop, end);
    }
    *first = false;
  }
}

/* Writes what is to be known of LEFT and RIGHT to product->scratch. HIDE: something in it is open. */
void net_product_combine(struct net_product *product, const union net_slot *left,
                         const union net_slot *right, bool hide, net_chronon bound) {
  const struct net_layout *out = product->params.test;
  union net_slot *row = product->scratch;
  struct net_instant start = {0, 0}, stop = {0, 0};
  bool first = true, any_open = false;
  fold_time(product, 0, left, hide, bound, &first, &any_open, &start, &stop);
  fold_time(product, 1, right, hide, bound, &first, &any_open, &start, &stop);
  if (out->tuple_class == NET_PERIOD) {
    /* What is known and not hidden lies at or before the bound, hence before all that is open. */
    bool open = any_open && (stop.hi > bound || stop.lo == NET_FOREVER);
    struct net_period period = {start, stop};
    if (!open) period = net_period_clip(period);
    row[2].i = open ? NET_OPEN : period.stop.lo;
    row[3].i = period.stop.hi;
    start = period.start;
  }
  row[0].i = start.lo;
  row[1].i = start.hi;
  for (uint32_t i = 0; i < out->field_count; i++) {
    const struct net_product_field *field = &product->params.fields[i];
    const union net_slot *from = (field->side == 0 ? left : right) + field->slot;
    union net_slot *to = row + out->fields[i].slot;
    memcpy(to, from, net_type_slots(out->fields[i].type.base) * sizeof *to);
    if (out->fields[i].openable && hide && to[0].i != NET_OPEN && to[1].i > bound)
      to[0].i = NET_OPEN;
  }
}

static bool starts_before(const struct net_product_side *side, const union net_slot *row,
                          net_chronon bound) {
  for (size_t i = 0; i < side->participant_count; i++) {
    if (net_slot_instant(row, side->participants[i].start_slot).hi >= bound) return false;
  }
  return true;
}

/* Whether LEFT and RIGHT overlap is unknown, and does not depend on when an open one of them stops: all have
 * begun before the BOUND, which no open stop is before. Then an event's result waits for nothing.   */
static bool stays_unknown(const struct net_product *product, const union net_slot *left,
                          const union net_slot *right, net_chronon bound) {
  return product->event_result && starts_before(&product->sides[0], left, bound) &&
         starts_before(&product->sides[1], right, bound);
}

/* *STATUS when the predicate fails. */
struct net_verdict net_product_judge(struct net_product *product, const union net_slot *left,
                                     const union net_slot *right, net_chronon bound,
                                     enum base_status *status) {
  const struct net_program *predicate = product->params.predicate;
  struct net_verdict verdict = {NET_TRUE, true};
  if (product->params.rule == NET_PRODUCT_OVERLAP) {
    verdict.truth = all_overlap(product, left, right, bound);
    verdict.final = verdict.truth != NET_UNKNOWN || stays_unknown(product, left, right, bound);
    if (verdict.truth == NET_FALSE) return verdict;
  }
  if (predicate == NULL) return verdict;
  struct net_value value;
  enum net_eval_error error = net_program_run(predicate, product->scratch, bound, &value);
  if (error != NET_EVAL_OK) {
    *status = net_node_error(&product->node, error, product->params.test, product->scratch);
    return (struct net_verdict){NET_FALSE, true};
  }
  if (value.truth == NET_FALSE) return (struct net_verdict){NET_FALSE, true};
  if (value.truth == NET_UNKNOWN && predicate->reads_open) verdict.final = false;
  verdict.truth = net_and(verdict.truth, value.truth);
  return verdict;
}

void net_product_put(struct net_product *product, uint8_t marks, uint64_t id, net_chronon bound,
                     enum base_status *status) {
  union net_slot *row = net_out_row(&product->node, marks, id, bound, status);
  memcpy(row, product->scratch, product->node.layout->slot_count * sizeof *row);
}

/* A hash of the instants of ROW that may be open: while it stays, a row that went out says all. */
static uint64_t hash_openable(const struct net_layout *layout, const union net_slot *row) {
  uint64_t hash = 0;
  if (layout->tuple_class == NET_PERIOD)
    hash = base_hash_u64((uint64_t)row[3].i, base_hash_u64((uint64_t)row[2].i, hash));
  for (uint32_t i = 0; i < layout->field_count; i++) {
    if (!layout->fields[i].openable) continue;
    const union net_slot *instant = row + layout->fields[i].slot;
    hash = base_hash_u64((uint64_t)instant[1].i, base_hash_u64((uint64_t)instant[0].i, hash));
  }
  return hash;
}

static void list(struct net_product *product, uint32_t index) {
  if (product->pairs[index].listed) return;
  product->pairs[index].listed = true;
  base_grow_little(&product->pending, &product->pending_capacity, product->pending_count + 1,
                   sizeof *product->pending);
  if (product->pending_count > 0 && product->pending[product->pending_count - 1] > index)
    product->pending_unsorted = true;
  product->pending[product->pending_count++] = index;
}

void net_product_touch(struct net_product *product, unsigned which, const struct net_live *live) {
  for (uint32_t i = live->pairs; i != NET_NO_PAIR; i = product->pairs[i].next[which])
    list(product, i);
}

void net_product_add_pair(struct net_product *product, struct net_live *left,
                          struct net_live *right) {
  uint32_t index = product->pair_free;
  if (index != NET_NO_PAIR) {
    product->pair_free = product->pairs[index].next[0];
  } else {
    BASE_CHECK(product->pair_count < NET_NO_PAIR, "product-pairs");
    base_grow_little(&product->pairs, &product->pair_capacity, product->pair_count + 1,
                     sizeof *product->pairs);
    index = (uint32_t)product->pair_count++;
  }
  struct net_pair *pair = &product->pairs[index];
  *pair = (struct net_pair){.entry = {left, right}, .used = true};
  for (unsigned i = 0; i < 2; i++) {
    struct net_live *live = pair->entry[i];
    pair->previous[i] = NET_NO_PAIR;
    pair->next[i] = live->pairs;
    if (live->pairs != NET_NO_PAIR) product->pairs[live->pairs].previous[i] = index;
    live->pairs = index;
  }
  product->pairs_live++;
  list(product, index);
}

static void remove_pair(struct net_product *product, uint32_t index) {
  struct net_pair *pair = &product->pairs[index];
  for (unsigned i = 0; i < 2; i++) {
    struct net_live *live = pair->entry[i];
    if (pair->previous[i] == NET_NO_PAIR) {
      live->pairs = pair->next[i];
    } else {
      product->pairs[pair->previous[i]].next[i] = pair->next[i];
    }
    if (pair->next[i] != NET_NO_PAIR) product->pairs[pair->next[i]].previous[i] = pair->previous[i];
    net_product_release(&product->sides[i], pair->entry[i]);
  }
  pair->used = pair->listed = false;
  pair->next[0] = product->pair_free;
  product->pair_free = index;
  if (--product->pairs_live > 0) return;
  /* What nobody uses need not be gone through. */
  product->pair_count = 0;
  product->pair_free = NET_NO_PAIR;
}

/* Where what was at each place of BEFORE is now, in one piece. */
static uint32_t *gather(struct net_product *product, const struct net_pair *before) {
  uint32_t *places = base_xmalloc((product->pair_count + 1) * sizeof *places), kept = 0;
  for (uint32_t i = 0; i < product->pair_count; i++) {
    places[i] = before[i].used ? kept : NET_NO_PAIR;
    if (before[i].used) product->pairs[kept++] = before[i];
  }
  return places;
}

static void relink(struct net_product *product, uint32_t index, const uint32_t *places) {
  struct net_pair *pair = &product->pairs[index];
  for (unsigned i = 0; i < 2; i++) {
    if (pair->next[i] != NET_NO_PAIR) pair->next[i] = places[pair->next[i]];
    if (pair->previous[i] != NET_NO_PAIR)
      pair->previous[i] = places[pair->previous[i]];
    else
      pair->entry[i]->pairs = index;
  }
}

void net_product_shrink_pairs(struct net_product *product, size_t capacity) {
  struct net_pair *before = product->pairs;
  size_t kept = 0;
  if (!base_is_roomy(product->pair_capacity, product->pairs_live, sizeof *before)) return;
  product->pair_capacity = capacity;
  product->pairs = base_xmalloc(capacity * sizeof *before);
  uint32_t *places = gather(product, before);
  for (uint32_t i = 0; i < product->pairs_live; i++) relink(product, i, places);
  for (size_t i = 0; i < product->pending_count; i++) {
    uint32_t place = places[product->pending[i]];
    if (place != NET_NO_PAIR) product->pending[kept++] = place;
  }
  product->pair_count = product->pairs_live;
  product->pair_free = NET_NO_PAIR;
  product->pending_count = kept;
  base_shrink(&product->pending, &product->pending_capacity, capacity, sizeof *product->pending);
  net_due_spend(&product->due);
  free(places);
  free(before);
}

/* A stop that is known, but not to the chronon, cannot count as open (it may lie before the bound), and
 * cannot stand known beside one that is open. Such a pair waits, and where it has gone out nothing of the
 * arc is said to last beyond that stop. */
static bool is_vague(struct net_instant stop, net_chronon bound) {
  return stop.lo != NET_OPEN && stop.lo != stop.hi && stop.hi > bound;
}

/* The earliest time at which such a stop of ROW may be; NET_FOREVER: it has none. */
static net_chronon vague_stop(const struct net_product_side *side, const union net_slot *row,
                              net_chronon bound) {
  const struct net_layout *layout = side->layout;
  net_chronon earliest = NET_FOREVER;
  if (layout->tuple_class == NET_PERIOD && is_vague(net_slot_instant(row, 2), bound))
    earliest = row[2].i;
  for (uint32_t i = 0; i < layout->field_count; i++) {
    uint32_t slot = layout->fields[i].slot;
    if (layout->fields[i].openable && is_vague(net_slot_instant(row, slot), bound) &&
        row[slot].i < earliest)
      earliest = row[slot].i;
  }
  return earliest;
}

static uint8_t marks_of(const struct net_pair *pair) {
  return pair->definite ? NET_DEFINITE : 0;
}

/* Judges one pair with everything before BOUND seen. */
static void settle(struct net_product *product, uint32_t index, net_chronon bound,
                   enum base_status *status) {
  struct net_pair *pair = &product->pairs[index];
  struct net_live *left = pair->entry[0], *right = pair->entry[1];
  const union net_slot *left_row = net_live_row(left), *right_row = net_live_row(right);
  bool open = ((left->state | right->state) & NET_LIVE_OPEN) != 0;
  if (open) {
    net_chronon vague = vague_stop(&product->sides[0], left_row, bound);
    net_chronon other = vague_stop(&product->sides[1], right_row, bound);
    if (other < vague) vague = other;
    if (pair->id != 0 && vague < product->lasting) product->lasting = vague;
    /* What went out said that it lasts: that is true up to there, and more is not known yet. */
    if (pair->id == 0 ? vague != NET_FOREVER : vague < bound) return;
  }
  net_product_combine(product, left_row, right_row, open, bound);
  bool opens = net_row_is_open(product->node.layout, product->scratch);
  uint64_t shown = hash_openable(product->node.layout, product->scratch);
  if (pair->id != 0) {
    if (shown == pair->shown) return;
    net_product_put(product, (uint8_t)(marks_of(pair) | NET_CLOSES), pair->id, bound, status);
    pair->shown = shown;
    if (!opens) remove_pair(product, index);
    return;
  }
  struct net_verdict verdict = net_product_judge(product, left_row, right_row, bound, status);
  if (!verdict.final && open && bound != NET_FOREVER) return;
  if (verdict.truth == NET_FALSE) {
    remove_pair(product, index);
    return;
  }
  /* The start of an open combination must be past clipping. */
  if (opens && product->scratch[1].i >= bound && bound != NET_FOREVER &&
      product->node.layout->tuple_class == NET_PERIOD)
    return;
  bool definite = (left->marks & right->marks & NET_DEFINITE) != 0;
  pair->definite = definite && verdict.truth != NET_UNKNOWN;
  if (opens) pair->id = ++product->last_id & UINT64_MAX >> 3;
  net_product_put(product, marks_of(pair), pair->id, bound, status);
  pair->shown = shown;
  if (!opens) remove_pair(product, index);
}

/* --- rounds */

/* When a round may say more of ROW, though it does not close: a checkpoint passes an instant that is known. AFTER: each
 * round may, until the checkpoint has passed one that is known, but not to the chronon. */
static net_chronon due_of_row(const struct net_product_side *side, const union net_slot *row,
                              net_chronon after) {
  net_chronon earliest = NET_FOREVER;
  for (size_t i = 0; i < side->instant_count; i++) {
    struct net_instant instant = net_slot_instant(row, side->instants[i]);
    if (instant.hi <= after) continue;
    if (is_vague(instant, after)) return after;
    if (instant.hi < earliest) earliest = instant.hi;
  }
  return earliest;
}

/* The same of PAIR, of which each round may say more as long as it has not gone out. */
static net_chronon due_of(const struct net_product *product, const struct net_pair *pair,
                          net_chronon after) {
  if (pair->id == 0) return after;
  net_chronon left = due_of_row(&product->sides[0], net_live_row(pair->entry[0]), after);
  net_chronon right = due_of_row(&product->sides[1], net_live_row(pair->entry[1]), after);
  return left < right ? left : right;
}

/* The pairs that are due at BOUND become pending; SPENT: they have to be looked for. */
static void list_due(struct net_product *product, net_chronon before, net_chronon bound,
                     bool spent) {
  uint32_t index;
  while (!spent && net_due_take(&product->due, bound, &index))
    if (index < product->pair_count && product->pairs[index].used) list(product, index);
  for (uint32_t i = 0; spent && i < product->pair_count; i++) {
    const struct net_pair *pair = &product->pairs[i];
    if (pair->used && (bound == NET_FOREVER || due_of(product, pair, before) <= bound))
      list(product, i);
  }
}

static void say_due(struct net_product *product, net_chronon bound) {
  net_due_begin(&product->due, product->pairs_live);
  for (uint32_t i = 0; i < product->pair_count; i++) {
    const struct net_pair *pair = &product->pairs[i];
    if (pair->used && !pair->listed) net_due_say(&product->due, due_of(product, pair, bound), i);
  }
  net_due_end(&product->due);
}

static int compare_places(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Settles the INDEX-th pair, and says when it is to be looked at again. True: in each round. */
static bool settle_once(struct net_product *product, uint32_t index, net_chronon bound,
                        enum base_status *status) {
  settle(product, index, bound, status);
  struct net_pair *pair = &product->pairs[index];
  if (!pair->used) return false;
  net_chronon due = due_of(product, pair, bound);
  if (due > bound) net_due_add(&product->due, due, index);
  return due <= bound;
}

void net_product_settle(struct net_product *product, net_chronon before, net_chronon bound,
                        bool early, enum base_status *status) {
  if (product->pairs_live == 0 && product->pending_count == 0) return;
  size_t kept = 0;
  if (product->pairs_live > product->most_pairs) product->most_pairs = product->pairs_live;
  bool spent = bound == NET_FOREVER || net_due_is_spent(&product->due, bound);
  list_due(product, before, bound, spent);
  if (spent) net_due_spend(&product->due);
  if (product->pending_unsorted)
    qsort(product->pending, product->pending_count, sizeof *product->pending, compare_places);
  product->pending_unsorted = false;
  for (size_t i = 0; i < product->pending_count && *status == BASE_OK; i++) {
    uint32_t index = product->pending[i];
    bool again =
        (early && product->pairs[index].id == 0) || settle_once(product, index, bound, status);
    product->pairs[index].listed = again;
    if (again) product->pending[kept++] = index;
  }
  product->pending_count = kept;
  if (spent) say_due(product, bound);
}

/* --- when results start */

/* Narrows START to where all of the side's events can be at once. */
static void meet_events(const struct net_product_side *side, const union net_slot *row,
                        struct net_instant *start) {
  for (size_t i = 0; i < side->participant_count; i++) {
    if (!side->participants[i].event) continue;
    struct net_instant its = net_slot_instant(row, side->participants[i].start_slot);
    if (its.lo > start->lo) start->lo = its.lo;
    if (its.hi < start->hi) start->hi = its.hi;
  }
}

/* The earliest start of the row that PAIR may give. */
net_chronon net_product_pair_start(const struct net_product *product, const struct net_pair *pair) {
  const union net_slot *left = net_live_row(pair->entry[0]), *right = net_live_row(pair->entry[1]);
  struct net_instant start = {NET_BEGINNING, NET_FOREVER};
  if (!product->event_result) return left[0].i > right[0].i ? left[0].i : right[0].i;
  meet_events(&product->sides[0], left, &start);
  meet_events(&product->sides[1], right, &start);
  return start.lo;
}

/* The earliest start of later rows in which ROW, an event of SIDE among its participants that EXPIRES then, meets
 * one that is still to come; EARLIEST: that is not before it. */
static net_chronon event_start(const struct net_product_side *side, const union net_slot *row,
                               net_chronon expires, net_chronon checkpoint, net_chronon earliest) {
  struct net_instant start = {NET_BEGINNING, NET_FOREVER};
  if (net_product_is_over(expires, checkpoint)) return earliest;
  meet_events(side, row, &start);
  return start.hi >= checkpoint && start.lo < earliest ? start.lo : earliest;
}

/* The same of all live rows of side WHICH. */
net_chronon net_product_events_start(const struct net_product *product, unsigned which,
                                     net_chronon checkpoint) {
  const struct net_product_side *side = &product->sides[which];
  net_chronon earliest = checkpoint;
  const union net_slot *row;
  struct net_live *live;
  for (size_t at = 0; (live = net_product_next(side, &at)) != NULL;)
    if (live->state & NET_LIVE_IN_CHAIN)
      earliest = event_start(side, net_live_row(live), live->expires, checkpoint, earliest);
  for (size_t at = 0; (row = net_old_row(product, which, &at)) != NULL;)
    earliest =
        event_start(side, row, net_product_expires(product, which, row), checkpoint, earliest);
  return earliest;
}
