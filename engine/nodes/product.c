/* Product and join (Cartesian and Join of appendix C; consecutivity rules of thesis 7.2.3).
 *
 *      left  ──▶ ┌────────────────────┐
 *                │ rule, [predicate]  │ ──▶ out      order: start
 *      right ──▶ └────────────────────┘
 *
 * A sweep: rows of both sides wait in the inbox until both checkpoints have passed them and are then
 * taken in temporal order; each is combined with the live rows of the other side that have the same
 * key. Overlap rule: a row dies when no later row can overlap it; full rule: no row ever dies, unless the
 * parameters say when no later row can meet it any more (partial overlap, within).
 *
 * A combination of rows whose stops are known is decided at once and goes out whole. One in which a
 * stop is open becomes a *pair*: at the end of each round, with every row before checkpoint c seen, its
 * pairs are judged with bound c: still undecided, false (forgotten), or it goes out, open (with an id of
 * its own) or whole; a pair that went out open goes out again, as a close, when one of its stops has
 * become known, or an upper bound on it. What a predicate that reads no stop does not know stays unknown. Where one
 * participant is open, the known stop of another counts as open, too, until the checkpoint has passed
 * it, so that what stays open in a row is never before what is known in it.
 *
 * Most rows are *plain*: determinate and closed. When a plain row meets a live plain one that has not
 * expired, both began at or before now and neither has ended: they overlap, and what they have in common
 * begins now and ends when the first of them expires. That needs no judging (meet_plain).
 *
 * State: live rows, open pairs.                                                                     */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/inbox.h"
#include "engine/node_impl.h"
#include "engine/rowmap.h"

#define NONE UINT32_MAX

/* A live row of one side. Entries are linked in a chain per key, and to their pairs. */
struct live {
  net_chronon expires;     /* no row that starts then or later meets it */
  uint32_t next, previous; /* in the chain */
  uint32_t pairs;          /* first pair, linked through pair.next[side] */
  uint32_t bucket;
  uint8_t marks;
  bool open;  /* has an open instant */
  bool plain; /* all its instants are determinate and none is open */
  bool in_chain;
  bool used;
};

struct side {
  const struct net_layout *layout;
  const struct net_participant *participants;
  size_t participant_count;
  struct live *lives;
  union net_slot *rows;
  size_t count, capacity, row_capacity, live_count, purge_at;
  union net_slot *input_floor; /* the last that came; NULL: none yet */
  uint32_t free_list;
  uint32_t *buckets; /* heads of chains; one without keys */
  size_t bucket_count;
  bool has_event;     /* an event takes part */
  uint32_t *instants; /* slots of all instants of a row */
  size_t instant_count;
  struct net_rowmap open; /* open rows by id; state: index */
};

struct pair {
  uint32_t entry[2];
  uint32_t next[2], previous[2];
  uint64_t id; /* of the row that went out; 0: none has */
  bool used;
  uint64_t shown; /* hash of what went out of the instants that may be open */
  uint8_t marks;
};

/* Slots that are copied together: COUNT of them, of a row of SIDE from slot FROM to slot TO. */
struct copy {
  unsigned side;
  uint32_t from, to, count;
};

struct product {
  struct net_node node;
  struct net_product_params params;
  struct net_inbox inbox;
  struct side sides[2];
  struct pair *pairs;
  size_t pair_count, pair_capacity, pairs_live;
  uint32_t pair_free;
  uint64_t last_id;
  union net_slot *scratch; /* an out row */
  union net_slot *floor;
  struct copy *copies; /* of the fields */
  size_t copy_count;
  bool event_result; /* overlap rule with an event participant */
  uint32_t steps;    /* counted for the sake of interrupts */
};

static union net_slot *live_row(const struct side *side, uint32_t index) {
  return side->rows + (size_t)index * side->layout->slot_count;
}

/* --- the sides */

static uint64_t key_hash(const struct product *product, unsigned side, const union net_slot *row) {
  const struct net_join_key *keys = product->params.keys;
  uint64_t hash = 0;
  if (product->params.key_count == 1) /* mostly; half of the hash is a constant then */
    return base_hash_u64((uint64_t)row[side == 0 ? keys->left_slot : keys->right_slot].i, 0);
  for (size_t i = 0; i < product->params.key_count; i++) {
    const struct net_join_key *key = &keys[i];
    hash = base_hash_u64((uint64_t)row[side == 0 ? key->left_slot : key->right_slot].i, hash);
  }
  return hash;
}

static bool keys_equal(const struct product *product, const union net_slot *left,
                       const union net_slot *right) {
  for (size_t i = 0; i < product->params.key_count; i++) {
    const struct net_join_key *key = &product->params.keys[i];
    if (left[key->left_slot].i != right[key->right_slot].i) return false;
  }
  return true;
}

static net_chronon participant_expiry(const struct net_participant *participant,
                                      const union net_slot *row) {
  if (participant->event) { /* one at `beginning` as well: there, net_chronon_add would stay */
    net_chronon at = row[participant->start_slot + 1].i;
    return at == NET_FOREVER ? at : at + 1;
  }
  return row[participant->stop_slot + 1].i;
}

static net_chronon expiry(const struct side *side, const union net_slot *row) {
  net_chronon earliest = NET_FOREVER;
  for (size_t i = 0; i < side->participant_count; i++) {
    net_chronon expires = participant_expiry(&side->participants[i], row);
    if (expires < earliest) earliest = expires;
  }
  return earliest;
}

/* When a row of side WHICH meets nothing that starts then or later. By the full rule only what the
 * conditions above the product say of it counts; instants at the ends of the time line say nothing. */
static net_chronon expires_at(const struct product *product, unsigned which,
                              const union net_slot *row) {
  if (product->params.rule != NET_PRODUCT_FULL) return expiry(&product->sides[which], row);
  const struct net_expiry *expiries = product->params.expiries[which];
  net_chronon last = NET_BEGINNING;
  for (size_t i = 0; i < product->params.expiry_counts[which]; i++) {
    net_chronon instant = row[expiries[i].slot + 1].i;
    net_chronon expires = net_chronon_add(instant, expiries[i].after);
    if (instant == NET_BEGINNING || expires == NET_BEGINNING) return NET_FOREVER;
    if (expires > last) last = expires;
  }
  return last == NET_BEGINNING ? NET_FOREVER : last;
}

/* A row meets nothing that starts at NOW or later. What lasts until `forever` may meet what happens
 * there: by the full rule, or as an event at the same instant.                                     */
static bool is_over(const struct live *live, net_chronon now) {
  return live->expires <= now && live->expires != NET_FOREVER;
}

static void chain(struct side *side, uint32_t index, uint32_t bucket) {
  struct live *live = &side->lives[index];
  live->bucket = bucket;
  live->previous = NONE;
  live->next = side->buckets[bucket];
  if (live->next != NONE) side->lives[live->next].previous = index;
  side->buckets[bucket] = index;
  live->in_chain = true;
}

static void unchain(struct side *side, uint32_t index) {
  struct live *live = &side->lives[index];
  if (live->previous == NONE) {
    side->buckets[live->bucket] = live->next;
  } else {
    side->lives[live->previous].next = live->next;
  }
  if (live->next != NONE) side->lives[live->next].previous = live->previous;
  live->in_chain = false;
}

static void release_if_done(struct side *side, uint32_t index) {
  struct live *live = &side->lives[index];
  if (live->in_chain || live->open || live->pairs != NONE) return;
  live->used = false;
  live->next = side->free_list;
  side->free_list = index;
  side->live_count--;
}

static void rehash(struct product *product, unsigned which) {
  struct side *side = &product->sides[which];
  size_t size = side->bucket_count * 4;
  side->buckets = base_xrealloc(side->buckets, size, sizeof *side->buckets);
  side->bucket_count = size;
  memset(side->buckets, 0xff, size * sizeof *side->buckets);
  for (size_t i = side->count; i-- > 0;) {
    if (!side->lives[i].used || !side->lives[i].in_chain) continue;
    uint64_t hash = key_hash(product, which, live_row(side, (uint32_t)i));
    chain(side, (uint32_t)i, (uint32_t)(hash & (size - 1)));
  }
}

static void note_open(struct side *side, uint32_t index, uint64_t id) {
  uint32_t *state = net_rowmap_state(&side->open, net_rowmap_put_id(&side->open, id, NULL));
  *state = index;
}

static bool is_plain(const struct side *side, const union net_slot *row) {
  for (size_t i = 0; i < side->instant_count; i++) {
    const union net_slot *instant = row + side->instants[i];
    if (instant[0].i != instant[1].i) return false;
  }
  return true;
}

static uint32_t add_live(struct product *product, unsigned which, const union net_slot *row,
                         uint8_t marks, uint64_t id, uint64_t hash) {
  struct side *side = &product->sides[which];
  uint32_t index = side->free_list;
  if (index != NONE) {
    side->free_list = side->lives[index].next;
  } else {
    base_grow(&side->lives, &side->capacity, side->count + 1, sizeof *side->lives);
    base_grow(&side->rows, &side->row_capacity, (side->count + 1) * side->layout->slot_count,
              sizeof *side->rows);
    index = (uint32_t)side->count++;
  }
  net_row_copy(live_row(side, index), row, side->layout->slot_count);
  struct live *live = &side->lives[index];
  *live = (struct live){.pairs = NONE, .marks = marks, .used = true};
  live->expires = expires_at(product, which, row);
  live->plain = !product->node.general && is_plain(side, row);
  live->open = !live->plain && side->layout->may_be_open && net_row_is_open(side->layout, row);
  side->live_count++;
  if (product->params.key_count > 0 && side->live_count > side->bucket_count)
    rehash(product, which);
  chain(side, index, (uint32_t)(hash & (side->bucket_count - 1)));
  if (live->open) note_open(side, index, id);
  return index;
}

static void expire(struct side *side, uint32_t index) {
  unchain(side, index);
  release_if_done(side, index);
}

/* Dead rows are met while chains are walked; those in chains nobody walks are found here. */
static void purge(struct side *side, net_chronon now) {
  if (side->live_count < side->purge_at) return;
  for (uint32_t i = 0; i < side->count; i++)
    if (side->lives[i].used && side->lives[i].in_chain && is_over(&side->lives[i], now))
      expire(side, i);
  side->purge_at = side->live_count * 2 + 64;
}

/* --- combinations */

struct combination {
  enum net_truth truth;
  struct net_instant start, stop;
};

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

static enum net_truth all_overlap(const struct product *product, const union net_slot *left,
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
static void fold_time(const struct product *product, unsigned which, const union net_slot *row,
                      bool hide, net_chronon bound, bool *first, bool *any_open,
                      struct net_instant *start, struct net_instant *stop) {
  const struct side *side = &product->sides[which];
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

/* Writes the out row of LEFT and RIGHT to product->scratch. HIDE: something in it is open. */
static void combine(struct product *product, const union net_slot *left,
                    const union net_slot *right, bool hide, net_chronon bound) {
  const struct net_layout *out = product->node.layout;
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

/* What is known of the combination in product->scratch. FINAL: no later stop decides it. */
struct verdict {
  enum net_truth truth;
  bool final;
};

/* *STATUS when the predicate fails. */
static struct verdict judge(struct product *product, const union net_slot *left,
                            const union net_slot *right, net_chronon bound,
                            enum base_status *status) {
  const struct net_program *predicate = product->params.predicate;
  struct verdict verdict = {NET_TRUE, true};
  if (product->params.rule == NET_PRODUCT_OVERLAP) {
    verdict.truth = all_overlap(product, left, right, bound);
    verdict.final = verdict.truth != NET_UNKNOWN;
    if (verdict.truth == NET_FALSE) return verdict;
  }
  if (predicate == NULL) return verdict;
  struct net_value value;
  enum net_eval_error error = net_program_run(predicate, product->scratch, bound, &value);
  if (error != NET_EVAL_OK) {
    *status = net_node_error(&product->node, error, product->node.layout, product->scratch);
    return (struct verdict){NET_FALSE, true};
  }
  if (value.truth == NET_FALSE) return (struct verdict){NET_FALSE, true};
  if (value.truth == NET_UNKNOWN && predicate->reads_open) verdict.final = false;
  verdict.truth = net_and(verdict.truth, value.truth);
  return verdict;
}

static void put_scratch(struct product *product, uint8_t marks, uint64_t id, net_chronon bound,
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

/* --- pairs */

static void add_pair(struct product *product, uint32_t left, uint32_t right) {
  uint32_t index = product->pair_free;
  if (index != NONE) {
    product->pair_free = product->pairs[index].next[0];
  } else {
    base_grow(&product->pairs, &product->pair_capacity, product->pair_count + 1,
              sizeof *product->pairs);
    index = (uint32_t)product->pair_count++;
  }
  struct pair *pair = &product->pairs[index];
  *pair = (struct pair){.entry = {left, right}, .used = true};
  for (unsigned i = 0; i < 2; i++) {
    struct live *live = &product->sides[i].lives[pair->entry[i]];
    pair->previous[i] = NONE;
    pair->next[i] = live->pairs;
    if (live->pairs != NONE) product->pairs[live->pairs].previous[i] = index;
    live->pairs = index;
  }
  product->pairs_live++;
}

static void remove_pair(struct product *product, uint32_t index) {
  struct pair *pair = &product->pairs[index];
  for (unsigned i = 0; i < 2; i++) {
    struct live *live = &product->sides[i].lives[pair->entry[i]];
    if (pair->previous[i] == NONE) {
      live->pairs = pair->next[i];
    } else {
      product->pairs[pair->previous[i]].next[i] = pair->next[i];
    }
    if (pair->next[i] != NONE) product->pairs[pair->next[i]].previous[i] = pair->previous[i];
    release_if_done(&product->sides[i], pair->entry[i]);
  }
  pair->used = false;
  pair->next[0] = product->pair_free;
  product->pair_free = index;
  product->pairs_live--;
}

/* A stop that is known, but not to the chronon, cannot count as open (it may lie before the bound), and
 * cannot stand known beside one that is open. Such a pair waits. */
static bool is_vague(struct net_instant stop, net_chronon bound) {
  return stop.lo != NET_OPEN && stop.lo != stop.hi && stop.hi > bound;
}

static bool has_vague_stop(const struct side *side, const union net_slot *row, net_chronon bound) {
  const struct net_layout *layout = side->layout;
  if (layout->tuple_class == NET_PERIOD && is_vague(net_slot_instant(row, 2), bound)) return true;
  for (uint32_t i = 0; i < layout->field_count; i++)
    if (layout->fields[i].openable &&
        is_vague(net_slot_instant(row, layout->fields[i].slot), bound))
      return true;
  return false;
}

/* Judges one pair with everything before BOUND seen. */
static void settle_pair(struct product *product, uint32_t index, net_chronon bound,
                        enum base_status *status) {
  struct pair *pair = &product->pairs[index];
  const struct live *left = &product->sides[0].lives[pair->entry[0]];
  const struct live *right = &product->sides[1].lives[pair->entry[1]];
  const union net_slot *left_row = live_row(&product->sides[0], pair->entry[0]);
  const union net_slot *right_row = live_row(&product->sides[1], pair->entry[1]);
  bool open = left->open || right->open;
  combine(product, left_row, right_row, open, bound);
  bool opens = net_row_is_open(product->node.layout, product->scratch);
  uint64_t shown = hash_openable(product->node.layout, product->scratch);
  if (pair->id != 0) {
    if (shown == pair->shown) return;
    put_scratch(product, (uint8_t)(pair->marks | NET_CLOSES), pair->id, bound, status);
    pair->shown = shown;
    if (!opens) remove_pair(product, index);
    return;
  }
  if (open && (has_vague_stop(&product->sides[0], left_row, bound) ||
               has_vague_stop(&product->sides[1], right_row, bound)))
    return;
  struct verdict verdict = judge(product, left_row, right_row, bound, status);
  if (!verdict.final && open && bound != NET_FOREVER) return;
  if (verdict.truth == NET_FALSE) {
    remove_pair(product, index);
    return;
  }
  /* The start of an open combination must be past clipping. */
  if (opens && product->scratch[1].i >= bound && bound != NET_FOREVER &&
      product->node.layout->tuple_class == NET_PERIOD)
    return;
  pair->marks = left->marks & right->marks & NET_DEFINITE;
  if (verdict.truth == NET_UNKNOWN) pair->marks = 0;
  if (opens) pair->id = ++product->last_id;
  put_scratch(product, pair->marks, pair->id, bound, status);
  pair->shown = shown;
  if (!opens) remove_pair(product, index);
}

/* --- the sweep */

/* LEFT and RIGHT, both plain, have in common what begins at NOW and ends at STOP. */
static void fill_plain(const struct product *product, const union net_slot *left,
                       const union net_slot *right, net_chronon now, net_chronon stop,
                       union net_slot *ret) {
  ret[0].i = ret[1].i = now;
  if (product->node.layout->tuple_class == NET_PERIOD) ret[2].i = ret[3].i = stop;
  for (size_t i = 0; i < product->copy_count; i++) {
    const struct copy *copy = &product->copies[i];
    const union net_slot *from = (copy->side == 0 ? left : right) + copy->from;
    for (uint32_t k = 0; k < copy->count; k++) ret[copy->to + k] = from[k];
  }
}

static void meet_plain(struct product *product, const union net_slot *left,
                       const union net_slot *right, uint8_t marks, net_chronon now,
                       net_chronon stop, enum base_status *status) {
  const struct net_program *predicate = product->params.predicate;
  if (predicate == NULL) {
    net_chronon bound = product->node.checkpoint;
    fill_plain(product, left, right, now, stop,
               marks == NET_DEFINITE ? net_out_plain(&product->node, bound, status)
                                     : net_out_row(&product->node, marks, 0, bound, status));
    return;
  }
  struct net_value value;
  fill_plain(product, left, right, now, stop, product->scratch);
  enum net_eval_error error = net_program_run(predicate, product->scratch, now, &value);
  if (error != NET_EVAL_OK)
    *status = net_node_error(&product->node, error, product->node.layout, product->scratch);
  else if (value.truth == NET_TRUE && marks == NET_DEFINITE)
    net_row_copy(net_out_plain(&product->node, product->node.checkpoint, status), product->scratch,
                 product->node.layout->slot_count);
  else if (value.truth != NET_FALSE)
    put_scratch(product, value.truth == NET_TRUE ? marks : 0, 0, product->node.checkpoint, status);
}

/* A row that starts NOW, with its marks and its id. */
static void arrive(struct product *product, unsigned which, const union net_slot *row,
                   net_chronon now, uint8_t row_marks, uint64_t id, enum base_status *status) {
  struct side *other = &product->sides[1 - which];
  uint64_t hash = key_hash(product, which, row);
  uint32_t index = add_live(product, which, row, row_marks, id, hash);
  const struct live *live = &product->sides[which].lives[index];
  bool open = live->open;
  /* Members of a combination made by the full rule may lie apart: then it expires before it begins. */
  bool full = product->params.rule == NET_PRODUCT_FULL;
  bool plain = live->plain && (full || live->expires > now);
  net_chronon expires = live->expires;
  uint32_t bucket = (uint32_t)(hash & (other->bucket_count - 1));
  for (uint32_t i = other->buckets[bucket]; i != NONE && *status == BASE_OK;) {
    if ((++product->steps & 4095) == 0 && base_env_interrupted()) *status = BASE_CANCEL;
    uint32_t next = other->lives[i].next;
    if (is_over(&other->lives[i], now)) {
      expire(other, i);
      i = next;
      continue;
    }
    const union net_slot *its = live_row(other, i);
    const union net_slot *left = which == 0 ? row : its, *right = which == 0 ? its : row;
    if (keys_equal(product, left, right)) {
      if (plain && other->lives[i].plain) {
        net_chronon stop = other->lives[i].expires < expires ? other->lives[i].expires : expires;
        meet_plain(product, left, right, row_marks & other->lives[i].marks & NET_DEFINITE, now,
                   stop, status);
      } else if (open || other->lives[i].open) {
        add_pair(product, which == 0 ? index : i, which == 0 ? i : index);
      } else {
        combine(product, left, right, false, now);
        enum net_truth truth = judge(product, left, right, now, status).truth;
        uint8_t both = row_marks & other->lives[i].marks & NET_DEFINITE;
        if (truth != NET_FALSE)
          put_scratch(product, truth == NET_TRUE ? both : 0, 0, product->node.checkpoint, status);
      }
    }
    i = next;
  }
}

static void close_row(struct product *product, unsigned which, const union net_slot *row,
                      uint64_t id) {
  struct side *side = &product->sides[which];
  uint32_t place = net_rowmap_find_id(&side->open, id);
  BASE_CHECK(place != NET_NO_ENTRY, "product-close-unknown");
  uint32_t index = *(uint32_t *)net_rowmap_state(&side->open, place);
  struct live *live = &side->lives[index];
  memcpy(live_row(side, index), row, side->layout->slot_count * sizeof *row);
  live->open = net_row_is_open(side->layout, row);
  if (!live->open) net_rowmap_remove(&side->open, place);
  live->plain = !product->node.general && is_plain(side, row);
  live->expires = expires_at(product, which, row);
  release_if_done(side, index);
}

/* Narrows START to where all of the side's events can be at once. */
static void meet_events(const struct side *side, const union net_slot *row,
                        struct net_instant *start) {
  for (size_t i = 0; i < side->participant_count; i++) {
    if (!side->participants[i].event) continue;
    struct net_instant its = net_slot_instant(row, side->participants[i].start_slot);
    if (its.lo > start->lo) start->lo = its.lo;
    if (its.hi < start->hi) start->hi = its.hi;
  }
}

/* The earliest start of the row that PAIR may give. */
static net_chronon pair_start(const struct product *product, const struct pair *pair) {
  const union net_slot *left = live_row(&product->sides[0], pair->entry[0]);
  const union net_slot *right = live_row(&product->sides[1], pair->entry[1]);
  struct net_instant start = {NET_BEGINNING, NET_FOREVER};
  if (!product->event_result) return left[0].i > right[0].i ? left[0].i : right[0].i;
  meet_events(&product->sides[0], left, &start);
  meet_events(&product->sides[1], right, &start);
  return start.lo;
}

/* The earliest start of later rows in which a live row of SIDE, events among its participants, meets a
 * row that is still to come. */
static net_chronon events_start(const struct side *side, net_chronon checkpoint) {
  net_chronon earliest = checkpoint;
  for (uint32_t i = 0; i < side->count; i++) {
    const struct live *live = &side->lives[i];
    struct net_instant start = {NET_BEGINNING, NET_FOREVER};
    if (!live->used || !live->in_chain || is_over(live, checkpoint)) continue;
    meet_events(side, live_row(side, i), &start);
    if (start.hi >= checkpoint && start.lo < earliest) earliest = start.lo;
  }
  return earliest;
}

/* The checkpoint that can be promised: pairs that wait, and an event whose bounds reach beyond the
 * checkpoint, may still give results that start earlier. */
static net_chronon out_checkpoint(const struct product *product, net_chronon checkpoint) {
  net_chronon promised = checkpoint;
  if (checkpoint == NET_FOREVER) return promised;
  for (uint32_t i = 0; i < product->pair_count; i++) {
    const struct pair *pair = &product->pairs[i];
    if (!pair->used || pair->id != 0) continue;
    net_chronon start = pair_start(product, pair);
    if (start < promised) promised = start;
  }
  for (unsigned which = 0; which < 2 && product->event_result; which++) {
    if (!product->sides[which].has_event) continue;
    net_chronon start = events_start(&product->sides[which], checkpoint);
    if (start < promised) promised = start;
  }
  return promised;
}

static net_chronon lower(const struct net_field *field, const union net_slot *row, uint32_t slot,
                         net_chronon smallest) {
  net_chronon lo = row[slot].i;
  if (field->openable && lo == NET_OPEN) return smallest;
  return lo < smallest ? lo : smallest;
}

/* What bounds the instant at SLOT of rows of one side that are still to be taken: rows that wait in the
 * inbox, and what its arc promises of those to come. */
static net_chronon lower_of_input(const struct product *product, unsigned which,
                                  const struct net_field *field, uint32_t slot,
                                  net_chronon smallest) {
  const struct side *side = &product->sides[which];
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

/* Lower bounds of the instants of all later rows: those of the rows that may still be combined and of
 * the pairs that wait, else the checkpoint. */
static const union net_slot *floors(struct product *product, net_chronon checkpoint) {
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
    const struct side *side = &product->sides[which];
    net_chronon smallest = lower_of_input(product, which, field, slot, checkpoint);
    for (uint32_t i = 0; i < side->count; i++) {
      const struct live *live = &side->lives[i];
      if (live->used && live->in_chain && live->expires > checkpoint)
        smallest = lower(field, live_row(side, i), slot, smallest);
    }
    for (uint32_t i = 0; i < product->pair_count; i++) {
      const struct pair *pair = &product->pairs[i];
      if (pair->used && pair->id == 0)
        smallest = lower(field, live_row(side, pair->entry[which]), slot, smallest);
    }
    floor[field->slot].i = smallest;
    floor[field->slot + 1].i = NET_FOREVER;
  }
  return floor;
}

static void keep_floor(struct side *side, const union net_slot *floor) {
  size_t size = side->layout->slot_count * sizeof *floor;
  if (side->input_floor == NULL) side->input_floor = base_xmalloc(size);
  memcpy(side->input_floor, floor, size);
}

/* Arrays in which nothing is used any more need not be gone through. */
static void forget_unused(struct product *product) {
  if (product->pairs_live == 0) {
    product->pair_count = 0;
    product->pair_free = NONE;
  }
  for (unsigned which = 0; which < 2; which++) {
    struct side *side = &product->sides[which];
    if (side->live_count > 0) continue;
    side->count = 0;
    side->free_list = NONE;
  }
}

static bool has_closes(const struct net_batch *batch) {
  if (batch->ids == NULL) return false;
  for (uint32_t i = 0; i < batch->count; i++)
    if (net_batch_marks(batch, i) & NET_CLOSES) return true;
  return false;
}

static void sweep(struct product *product, enum base_status *status) {
  struct net_inbox_item item;
  const union net_slot *row;
  unsigned which;
  while (*status == BASE_OK && (row = net_inbox_next(&product->inbox, &item, &which)) != NULL) {
    if (item.marks & NET_CLOSES) {
      close_row(product, which, row, item.id);
    } else {
      arrive(product, which, row, item.time, item.marks, item.id, status);
    }
  }
}

static bool has_others(const struct net_inbox *inbox) {
  return inbox->ports[0].others.count > 0 || inbox->ports[1].others.count > 0;
}

/* The same where only starts wait: a merge of two queues. */
static void sweep_starts(struct product *product, net_chronon checkpoint,
                         enum base_status *status) {
  struct net_inbox_port *ports = product->inbox.ports;
  while (*status == BASE_OK) {
    unsigned which = 2;
    net_chronon now = NET_FOREVER;
    for (unsigned i = 0; i < 2; i++) {
      const struct net_inbox_queue *queue = &ports[i].starts;
      if (queue->head == queue->count) continue;
      net_chronon time = net_inbox_row(&ports[i], queue, queue->head)[0].i;
      if (which < 2 && time >= now) continue;
      which = i;
      now = time;
    }
    if (which == 2 || (now >= checkpoint && checkpoint != NET_FOREVER)) return;
    struct net_inbox_queue *queue = &ports[which].starts;
    size_t index = queue->head++;
    arrive(product, which, net_inbox_row(&ports[which], queue, index), now, queue->marks[index],
           queue->has_ids ? queue->ids[index] : 0, status);
  }
}

static enum base_status consume(struct net_node *node, unsigned port,
                                const struct net_batch *batch) {
  struct product *product = (struct product *)node;
  net_chronon before = net_inbox_checkpoint(&product->inbox);
  net_inbox_add(&product->inbox, port, batch);
  if (batch->floor != NULL) keep_floor(&product->sides[port], batch->floor);
  net_chronon checkpoint = net_inbox_checkpoint(&product->inbox);
  /* Closes of rows that were taken are news also where the other input holds the checkpoint back. */
  if (checkpoint == before && checkpoint != NET_FOREVER && !has_closes(batch)) return BASE_OK;
  enum base_status status = BASE_OK;
  net_inbox_sort(&product->inbox);
  if (has_others(&product->inbox)) {
    sweep(product, &status);
  } else {
    sweep_starts(product, checkpoint, &status);
  }
  net_inbox_tidy(&product->inbox);
  for (uint32_t i = 0; i < product->pair_count && status == BASE_OK; i++)
    if (product->pairs[i].used) settle_pair(product, i, checkpoint, &status);
  if (status != BASE_OK) return status;
  for (unsigned i = 0; i < 2; i++) purge(&product->sides[i], checkpoint);
  forget_unused(product);
  bool wants_floor = node->wants_floor && checkpoint != NET_FOREVER;
  return net_out_settle(node, out_checkpoint(product, checkpoint), checkpoint,
                        wants_floor ? floors(product, checkpoint) : NULL);
}

static void mark_strings(const struct net_node *node, struct base_strings *strings) {
  const struct product *product = (const struct product *)node;
  net_inbox_mark_strings(&product->inbox, strings);
  for (unsigned which = 0; which < 2; which++) {
    const struct side *side = &product->sides[which];
    for (uint32_t i = 0; i < side->count; i++)
      if (side->lives[i].used) net_row_mark_strings(side->layout, strings, live_row(side, i));
  }
}

static size_t state_rows(const struct net_node *node) {
  const struct product *product = (const struct product *)node;
  return product->sides[0].live_count + product->sides[1].live_count +
         net_inbox_rows(&product->inbox);
}

static size_t state_bytes(const struct net_node *node) {
  const struct product *product = (const struct product *)node;
  size_t bytes = net_inbox_bytes(&product->inbox) + product->pair_capacity * sizeof(struct pair);
  for (unsigned i = 0; i < 2; i++) {
    const struct side *side = &product->sides[i];
    bytes += side->capacity * sizeof *side->lives + side->row_capacity * sizeof *side->rows +
             side->bucket_count * sizeof *side->buckets + net_rowmap_bytes(&side->open);
  }
  return bytes;
}

static void done(struct net_node *node) {
  struct product *product = (struct product *)node;
  net_inbox_done(&product->inbox);
  for (unsigned which = 0; which < 2; which++) {
    struct side *side = &product->sides[which];
    free(side->lives);
    free(side->rows);
    free(side->buckets);
    free(side->input_floor);
    net_rowmap_done(&side->open);
  }
  free(product->pairs);
}

static const struct net_node_class class = {.kind = NET_NODE_PRODUCT,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

static void init_side(struct side *side, struct base_arena *arena, const struct net_layout *layout,
                      const struct net_participant *participants, size_t count) {
  side->layout = layout;
  side->participants = participants;
  side->participant_count = count;
  for (size_t i = 0; i < count; i++) side->has_event |= participants[i].event;
  side->instants = base_arena_array(arena, layout->field_count + 2, sizeof *side->instants);
  side->instants[side->instant_count++] = 0;
  if (layout->tuple_class == NET_PERIOD) side->instants[side->instant_count++] = 2;
  for (uint32_t i = 0; i < layout->field_count; i++)
    if (layout->fields[i].type.base == NET_INSTANT)
      side->instants[side->instant_count++] = layout->fields[i].slot;
  side->free_list = NONE;
  side->bucket_count = 1;
  side->buckets = base_xmalloc(sizeof *side->buckets);
  side->buckets[0] = NONE;
  side->purge_at = 64;
  net_rowmap_init(&side->open, NULL, NET_KEY_ID, 0, NULL, 0, sizeof(uint32_t));
}

static void *copy(struct base_arena *arena, const void *items, size_t count, size_t size) {
  void *to = base_arena_array(arena, count, size);
  if (count > 0) memcpy(to, items, count * size);
  return to;
}

/* Slots that lie side by side in both rows are copied together. */
static void plan_copies(struct product *product, struct base_arena *arena) {
  const struct net_layout *out = product->node.layout;
  product->copies = base_arena_array(arena, out->field_count, sizeof *product->copies);
  for (uint32_t i = 0; i < out->field_count; i++) {
    const struct net_product_field *field = &product->params.fields[i];
    uint32_t to = out->fields[i].slot, slots = net_type_slots(out->fields[i].type.base);
    struct copy *last = product->copy_count ? &product->copies[product->copy_count - 1] : NULL;
    if (last != NULL && last->side == field->side && last->from + last->count == field->slot &&
        last->to + last->count == to) {
      last->count += slots;
    } else {
      product->copies[product->copy_count++] = (struct copy){field->side, field->slot, to, slots};
    }
  }
}

struct net_node *net_create_product(struct net_network *network, const char *name,
                                    const struct net_product_params *params) {
  struct base_arena *arena = net_network_arena(network);
  struct product *product = net_node_new(network, sizeof *product, &class, name, params->out);
  if (params->predicate != NULL || params->key_count > 0) product->node.kind = NET_NODE_JOIN;
  product->node.input_layouts[0] = params->left;
  product->node.input_layouts[1] = params->right;
  product->params = *params;
  product->params.left_participants =
      copy(arena, params->left_participants, params->left_count, sizeof *params->left_participants);
  product->params.right_participants = copy(arena, params->right_participants, params->right_count,
                                            sizeof *params->right_participants);
  product->params.fields =
      copy(arena, params->fields, params->out->field_count, sizeof *params->fields);
  for (unsigned i = 0; i < 2; i++)
    product->params.expiries[i] = copy(arena, params->expiries[i], params->expiry_counts[i],
                                       sizeof *params->expiries[i]);
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
  init_side(&product->sides[0], arena, params->left, product->params.left_participants,
            params->left_count);
  init_side(&product->sides[1], arena, params->right, product->params.right_participants,
            params->right_count);
  product->pair_free = NONE;
  plan_copies(product, arena);
  product->scratch = base_arena_array(arena, params->out->slot_count, sizeof *product->scratch);
  product->floor = base_arena_array(arena, params->out->slot_count, sizeof *product->floor);
  return &product->node;
}
