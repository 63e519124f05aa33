/* Live rows of a product: those that a later row of the other side may meet. A chain for each hash of a
 * key; a row leaves it when it has expired, and goes when no pair has it any more. See product.c.      */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/status.h"
#include "engine/nodes/product.h"

static net_chronon participant_expiry(const struct net_participant *participant,
                                      const union net_slot *row) {
  if (participant->event) { /* one at `beginning` as well: there, net_chronon_add would stay */
    net_chronon at = row[participant->start_slot + 1].i;
    return at == NET_FOREVER ? at : at + 1;
  }
  return row[participant->stop_slot + 1].i;
}

static net_chronon expiry(const struct net_product_side *side, const union net_slot *row) {
  net_chronon earliest = NET_FOREVER;
  for (size_t i = 0; i < side->participant_count; i++) {
    net_chronon expires = participant_expiry(&side->participants[i], row);
    if (expires < earliest) earliest = expires;
  }
  return earliest;
}

/* When a row of side WHICH meets nothing that starts then or later. By the full rule only what the
 * conditions above the product say of it counts; instants at the ends of the time line say nothing. */
static net_chronon expires_at(const struct net_product *product, unsigned which,
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

static void chain(struct net_product_side *side, uint32_t index, uint32_t bucket) {
  struct net_live *live = &side->lives[index];
  live->bucket = bucket;
  live->previous = NET_NO_LIVE;
  live->next = side->buckets[bucket];
  if (live->next != NET_NO_LIVE) side->lives[live->next].previous = index;
  side->buckets[bucket] = index;
  live->in_chain = true;
}

static void unchain(struct net_product_side *side, uint32_t index) {
  struct net_live *live = &side->lives[index];
  if (live->previous == NET_NO_LIVE) {
    side->buckets[live->bucket] = live->next;
  } else {
    side->lives[live->previous].next = live->next;
  }
  if (live->next != NET_NO_LIVE) side->lives[live->next].previous = live->previous;
  live->in_chain = false;
}

void net_product_release(struct net_product_side *side, uint32_t index) {
  struct net_live *live = &side->lives[index];
  if (live->in_chain || live->open || live->pairs != NET_NO_LIVE) return;
  live->used = false;
  live->next = side->free_list;
  side->free_list = index;
  side->live_count--;
}

static void rehash(struct net_product *product, unsigned which) {
  struct net_product_side *side = &product->sides[which];
  size_t size = side->bucket_count * 4;
  side->buckets = base_xrealloc(side->buckets, size, sizeof *side->buckets);
  side->bucket_count = size;
  memset(side->buckets, 0xff, size * sizeof *side->buckets);
  for (size_t i = side->count; i-- > 0;) {
    if (!side->lives[i].used || !side->lives[i].in_chain) continue;
    uint64_t hash = net_product_hash(product, which, net_product_row(side, (uint32_t)i));
    chain(side, (uint32_t)i, (uint32_t)(hash & (size - 1)));
  }
}

static void note_open(struct net_product_side *side, uint32_t index, uint64_t id) {
  uint32_t *state = net_rowmap_state(&side->open, net_rowmap_put_id(&side->open, id, NULL));
  *state = index;
}

static bool is_plain(const struct net_product_side *side, const union net_slot *row) {
  for (size_t i = 0; i < side->instant_count; i++) {
    const union net_slot *instant = row + side->instants[i];
    if (instant[0].i != instant[1].i) return false;
  }
  return true;
}

uint32_t net_product_add(struct net_product *product, unsigned which, const union net_slot *row,
                         uint8_t marks, uint64_t id, uint64_t hash) {
  struct net_product_side *side = &product->sides[which];
  uint32_t index = side->free_list;
  if (index != NET_NO_LIVE) {
    side->free_list = side->lives[index].next;
  } else {
    base_grow(&side->lives, &side->capacity, side->count + 1, sizeof *side->lives);
    base_grow(&side->rows, &side->row_capacity, (side->count + 1) * side->layout->slot_count,
              sizeof *side->rows);
    index = (uint32_t)side->count++;
  }
  net_row_copy(net_product_row(side, index), row, side->layout->slot_count);
  struct net_live *live = &side->lives[index];
  *live = (struct net_live){.pairs = NET_NO_LIVE, .marks = marks, .used = true};
  live->expires = expires_at(product, which, row);
  live->plain = is_plain(side, row);
  live->open = !live->plain && side->layout->may_be_open && net_row_is_open(side->layout, row);
  side->live_count++;
  if (product->params.key_count > 0 && side->live_count > side->bucket_count)
    rehash(product, which);
  chain(side, index, (uint32_t)(hash & (side->bucket_count - 1)));
  if (live->open) note_open(side, index, id);
  return index;
}

void net_product_expire(struct net_product_side *side, uint32_t index) {
  unchain(side, index);
  net_product_release(side, index);
}

/* Dead rows are met while chains are walked; those in chains nobody walks are found here. */
void net_product_purge(struct net_product_side *side, net_chronon now) {
  if (side->live_count < side->purge_at) return;
  for (uint32_t i = 0; i < side->count; i++)
    if (side->lives[i].used && side->lives[i].in_chain && net_product_is_over(&side->lives[i], now))
      net_product_expire(side, i);
  side->purge_at = side->live_count * 2 + 64;
}

void net_product_close(struct net_product *product, unsigned which, const union net_slot *row,
                       uint64_t id) {
  struct net_product_side *side = &product->sides[which];
  uint32_t place = net_rowmap_find_id(&side->open, id);
  BASE_CHECK(place != NET_NO_ENTRY, "product-close-unknown");
  uint32_t index = *(uint32_t *)net_rowmap_state(&side->open, place);
  struct net_live *live = &side->lives[index];
  memcpy(net_product_row(side, index), row, side->layout->slot_count * sizeof *row);
  live->open = net_row_is_open(side->layout, row);
  if (!live->open) net_rowmap_remove(&side->open, place);
  live->plain = is_plain(side, row);
  live->expires = expires_at(product, which, row);
  net_product_release(side, index);
}

/* Arrays in which nothing is used any more need not be gone through. */
void net_product_forget(struct net_product *product) {
  if (product->pairs_live == 0) {
    product->pair_count = 0;
    product->pair_free = NET_NO_LIVE;
  }
  for (unsigned which = 0; which < 2; which++) {
    struct net_product_side *side = &product->sides[which];
    if (side->live_count > 0) continue;
    side->count = 0;
    side->free_list = NET_NO_LIVE;
  }
}

void net_product_side_init(struct net_product_side *side, struct base_arena *arena,
                           const struct net_layout *layout,
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
  side->free_list = NET_NO_LIVE;
  side->bucket_count = 1;
  side->buckets = base_xmalloc(sizeof *side->buckets);
  side->buckets[0] = NET_NO_LIVE;
  side->purge_at = 64;
  net_rowmap_init(&side->open, NULL, NET_KEY_ID, 0, NULL, 0, sizeof(uint32_t));
}
