/* Old rows of a product: those that stay. Young ones (live.c) lie so that they are found, met and replaced
 * quickly, which takes as much again as a row of a few domains itself. Of most queries few rows are live at a time, and
 * that is nothing. Where more stay than the young may be, those that can go become old: beside its row each
 * has four bytes, and its group twelve.
 *
 *      groups   tag, left, right      rows (one side)   words: next, flags
 *               ┌───┬────┬────┐         ┌─────────┐  ┌───┐
 *               │   │    │  ──┼───────▶ │ slots   │  │ ──┼──▶ ... the next of its chain
 *               └───┴────┴────┘         └─────────┘  └───┘
 *
 * When a row expires is read of it. A group is that of all keys of one tag, 32 bits of their hash, so keys
 * are compared when rows meet. Whoever arrives walks both chains of the other side, the young and the old; what is over
 * leaves as it is walked over, and what nobody walks over is looked for when there are so many more than the last look
 * left (slack): the rows one after the other as they lie, then the chains, by their words alone.
 *
 * No old row is open or in a pair. One that an open row meets becomes young again.
 *
 * Where many rows have gone and their room stays empty, the others are put together anew.              */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/status.h"
#include "engine/nodes/product/product.h"

/* Of a word: the row behind it in its chain, or that is free, plus one; 0: none. */
#define INDEX    (UINT32_MAX >> 2)
#define DEFINITE (UINT32_C(1) << 31)
#define OVER     (UINT32_C(1) << 30) /* while it is looked for; else: the place is free */

enum { BLOCK = 128, FIRST_GROUPS = 64, FREE_BLOCKS = 4, IDLE = 64 /* rounds */ };

/* --- rows */

static size_t row_bytes(const struct net_product_side *side) {
  return side->layout->slot_count * sizeof(union net_slot);
}

static size_t block_bytes(const struct net_product_side *side) {
  return BLOCK * (row_bytes(side) + sizeof(uint32_t));
}

static union net_slot *row_at(const struct net_product *product, unsigned which, uint32_t index) {
  return (union net_slot *)(void *)(product->old.sides[which].blocks[index / BLOCK] +
                                    index % BLOCK * row_bytes(&product->sides[which]));
}

static uint32_t *word_at(const struct net_product *product, unsigned which, uint32_t index) {
  unsigned char *words =
      product->old.sides[which].blocks[index / BLOCK] + BLOCK * row_bytes(&product->sides[which]);
  return (uint32_t *)(void *)words + index % BLOCK;
}

static bool is_free(const struct net_product *product, unsigned which, uint32_t index) {
  return (*word_at(product, which, index) & OVER) != 0;
}

/* Room for a row of side WHICH. */
static uint32_t take(struct net_product *product, unsigned which) {
  struct net_old_side *old = &product->old.sides[which];
  old->count++;
  if (old->free != 0) {
    uint32_t index = old->free - 1;
    old->free = *word_at(product, which, index) & INDEX;
    return index;
  }
  if (old->taken == old->block_count * BLOCK) {
    base_grow_little(&old->blocks, &old->block_capacity, old->block_count + 1, sizeof *old->blocks);
    old->blocks[old->block_count++] = base_xrealloc(NULL, 1, block_bytes(&product->sides[which]));
  }
  return (uint32_t)old->taken++;
}

/* ROW does not count any more among those that are not plain. */
static void forget(struct net_product *product, unsigned which, const union net_slot *row) {
  struct net_product_side *side = &product->sides[which];
  if (side->odd_count > 0 && !(net_product_kind(side, row) & NET_LIVE_PLAIN)) side->odd_count--;
}

/* The row, which is in no chain any more, goes. */
static void give(struct net_product *product, unsigned which, uint32_t index) {
  struct net_old_side *old = &product->old.sides[which];
  forget(product, which, row_at(product, which, index));
  *word_at(product, which, index) = OVER | old->free;
  old->free = index + 1;
  if (--old->count > 0) return;
  old->taken = 0; /* what nobody uses need not be gone through */
  old->free = 0;
}

/* --- groups */

static uint32_t tag_of(uint64_t hash) {
  return (uint32_t)(hash * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static size_t home_of(const struct net_product_old *old, uint32_t tag) {
  return (size_t)((tag * (uint64_t)old->group_capacity) >> 32);
}

static bool is_empty(const struct net_old_group *group) {
  return (group->heads[0] | group->heads[1]) == 0;
}

static size_t after(const struct net_product_old *old, size_t place) {
  return place + 1 < old->group_capacity ? place + 1 : 0;
}

/* The group of TAG, or the empty place where it belongs. */
static struct net_old_group *find(const struct net_product_old *old, uint32_t tag) {
  size_t place = home_of(old, tag);
  while (old->groups[place].tag != tag && !is_empty(&old->groups[place])) place = after(old, place);
  return &old->groups[place];
}

static void set_groups(struct net_product_old *old, size_t capacity) {
  struct net_old_group *before = old->groups;
  size_t count = old->group_capacity;
  old->group_capacity = capacity;
  old->groups = base_xcalloc(old->group_capacity, sizeof *old->groups);
  for (size_t i = 0; i < count; i++)
    if (!is_empty(&before[i])) *find(old, before[i].tag) = before[i];
  free(before);
}

/* How far PLACE is behind FROM, going round. */
static size_t distance(const struct net_product_old *old, size_t from, size_t place) {
  return place >= from ? place - from : place + old->group_capacity - from;
}

/* The group at PLACE, which has lost its last row, leaves it; those behind it move up. */
static void leave(struct net_product_old *old, size_t place) {
  for (size_t next = after(old, place); !is_empty(&old->groups[next]); next = after(old, next)) {
    size_t home = home_of(old, old->groups[next].tag);
    if (distance(old, home, next) < distance(old, place, next)) continue;
    old->groups[place] = old->groups[next];
    place = next;
  }
  old->groups[place] = (struct net_old_group){.tag = 0};
  old->group_count--;
}

/* --- coming */

static void add(struct net_product *product, unsigned which, const union net_slot *row,
                bool definite) {
  struct net_product_old *old = &product->old;
  uint32_t tag = tag_of(net_product_hash(product, which, row));
  if ((old->group_count + 1) * 5 > old->group_capacity * 4)
    set_groups(old, old->group_capacity == 0 ? FIRST_GROUPS
                                             : old->group_capacity + old->group_capacity / 8);
  struct net_old_group *group = find(old, tag);
  if (is_empty(group)) {
    old->group_count++;
    group->tag = tag;
  }
  uint32_t index = take(product, which);
  memcpy(row_at(product, which, index), row, row_bytes(&product->sides[which]));
  *word_at(product, which, index) = group->heads[which] | (definite ? DEFINITE : 0);
  group->heads[which] = index + 1;
}

bool net_old_add(struct net_product *product, unsigned which, const struct net_live *live) {
  uint8_t kinds = NET_LIVE_OPEN | NET_LIVE_LASTS;
  if ((live->state & kinds) || live->pairs != NET_NO_PAIR ||
      product->old.sides[which].taken >= INDEX)
    return false;
  add(product, which, net_live_row((struct net_live *)live), (live->marks & NET_DEFINITE) != 0);
  if (!(live->state & NET_LIVE_PLAIN)) product->sides[which].odd_count++;
  return true;
}

/* --- walking */

static void look_at(struct net_old_walk *walk) {
  const struct net_product *product = walk->product;
  const struct net_product_side *side = &product->sides[walk->which];
  uint32_t index = (*walk->link & INDEX) - 1;
  union net_slot *row = row_at(product, walk->which, index);
  uint8_t kind = side->odd_count == 0 ? (uint8_t)NET_LIVE_PLAIN : net_product_kind(side, row);
  walk->live = (struct net_live){
      .expires = net_product_expires_quickly(product, walk->which, row),
      .row = row,
      .pairs = NET_NO_PAIR,
      .marks = *word_at(product, walk->which, index) & DEFINITE ? NET_DEFINITE : 0,
      .state =
          (uint8_t)(kind | NET_LIVE_USED | NET_LIVE_IN_CHAIN | (walk->which ? NET_LIVE_RIGHT : 0))};
}

/* The row at the link leaves its chain. */
static void unlink_row(struct net_old_walk *walk) {
  uint32_t index = (*walk->link & INDEX) - 1;
  *walk->link = (*walk->link & ~INDEX) | (*word_at(walk->product, walk->which, index) & INDEX);
  give(walk->product, walk->which, index);
}

/* Those that are over at the beginning of the walk's chain leave. */
static void drop_first(struct net_old_walk *walk, net_chronon now) {
  while (*walk->link != 0) {
    uint32_t index = *walk->link - 1;
    const union net_slot *row = row_at(walk->product, walk->which, index);
    net_chronon expires = net_product_expires_quickly(walk->product, walk->which, row);
    if (!net_product_is_over(expires, now)) return;
    walk->product->old.replaced++;
    unlink_row(walk);
  }
}

bool net_old_begin(struct net_product *product, unsigned which, uint64_t hash, net_chronon now,
                   struct net_old_walk *ret) {
  struct net_product_old *old = &product->old;
  if (net_old_count(product) == 0) return false;
  *ret = (struct net_old_walk){.product = product, .which = 1 - which};
  ret->group = find(old, tag_of(hash));
  if (is_empty(ret->group)) return false;
  ret->link = &ret->group->heads[1 - which];
  drop_first(ret, now);
  ret->which = which;
  ret->link = &ret->group->heads[which];
  return true;
}

bool net_old_next(struct net_old_walk *walk, net_chronon now) {
  if (walk->stands) walk->link = word_at(walk->product, walk->which, (*walk->link & INDEX) - 1);
  while ((*walk->link & INDEX) != 0) {
    look_at(walk);
    walk->stands = true;
    if (!net_product_is_over(walk->live.expires, now)) return true;
    walk->product->old.replaced++;
    unlink_row(walk);
  }
  net_old_end(walk);
  return false;
}

void net_old_end(struct net_old_walk *walk) {
  struct net_product_old *old = &walk->product->old;
  walk->stands = false;
  if (is_empty(walk->group)) leave(old, (size_t)(walk->group - old->groups));
}

void net_old_drop(struct net_old_walk *walk) {
  unlink_row(walk);
  walk->stands = false;
}

struct net_live *net_old_make_young(struct net_old_walk *walk) {
  struct net_product *product = walk->product;
  const union net_slot *row = net_live_row(&walk->live);
  struct net_live *live = net_product_add(product, walk->which, row, walk->live.marks, 0);
  net_product_chain(product, walk->which, live, net_product_hash(product, walk->which, row));
  unlink_row(walk);
  walk->stands = false;
  return live;
}

void net_old_fetch(const struct net_product *product, uint64_t hash) {
  const struct net_product_old *old = &product->old;
  __builtin_prefetch(&old->groups[home_of(old, tag_of(hash))]);
}

void net_old_fetch_rows(const struct net_product *product, uint64_t hash) {
  const struct net_old_group *group = find(&product->old, tag_of(hash));
  for (unsigned which = 0; which < 2; which++) {
    if (group->heads[which] == 0) continue;
    const union net_slot *row = row_at(product, which, group->heads[which] - 1);
    __builtin_prefetch(row);
    __builtin_prefetch(row + product->sides[which].layout->slot_count - 1);
    __builtin_prefetch(word_at(product, which, group->heads[which] - 1));
  }
}

const union net_slot *net_old_row(const struct net_product *product, unsigned which, size_t *at) {
  while (*at < product->old.sides[which].taken) {
    uint32_t index = (uint32_t)(*at)++;
    if (!is_free(product, which, index)) return row_at(product, which, index);
  }
  return NULL;
}

/* --- going */

/* Those that are over are marked; returns how many. */
static size_t mark_over(struct net_product *product, unsigned which, net_chronon now) {
  size_t count = 0;
  for (uint32_t i = 0; i < product->old.sides[which].taken; i++) {
    if (is_free(product, which, i)) continue;
    net_chronon expires = net_product_expires_quickly(product, which, row_at(product, which, i));
    if (!net_product_is_over(expires, now)) continue;
    *word_at(product, which, i) |= OVER;
    count++;
  }
  return count;
}

static void unlink_over(struct net_product *product, unsigned which, uint32_t *link) {
  struct net_old_walk walk = {.product = product, .which = which, .link = link};
  while ((*walk.link & INDEX) != 0) {
    uint32_t *word = word_at(product, which, (*walk.link & INDEX) - 1);
    if (*word & OVER)
      unlink_row(&walk);
    else
      walk.link = word;
  }
}

static void free_rows(struct net_old_side *side) {
  for (size_t i = 0; i < side->block_count; i++) free(side->blocks[i]);
  free(side->blocks);
}

void net_old_together(struct net_product *product) {
  struct net_product_old before = product->old;
  product->old = (struct net_product_old){.purge_at = before.purge_at, .replaced = before.replaced};
  for (unsigned which = 0; which < 2; which++) {
    size_t row = row_bytes(&product->sides[which]);
    for (size_t i = 0; i < before.sides[which].taken; i++) {
      const unsigned char *block = before.sides[which].blocks[i / BLOCK];
      uint32_t word = ((const uint32_t *)(const void *)(block + BLOCK * row))[i % BLOCK];
      if (!(word & OVER))
        add(product, which, (const union net_slot *)(const void *)(block + i % BLOCK * row),
            (word & DEFINITE) != 0);
    }
    free_rows(&before.sides[which]);
  }
  free(before.groups);
}

/* So many more rows than are LEFT may be there until they are looked through: an eighth, or, where much less than
 * twice the rows is held, as many as keep it so, up to a half. */
static size_t slack(const struct net_product *product, size_t left) {
  size_t bytes = net_old_bytes(product), most = 0;
  for (unsigned which = 0; which < 2; which++) {
    bytes += net_product_side_bytes(&product->sides[which]);
    most += product->old.sides[which].count * row_bytes(&product->sides[which]) * 7 / 4;
  }
  size_t more = most > bytes ? (most - bytes) / (bytes / (left + 1) + 1) : 0;
  more = more < left / 2 ? more : left / 2;
  return (more > left / 8 ? more : left / 8) + BLOCK / 2;
}

void net_old_all_young(struct net_product *product) {
  for (unsigned which = 0; which < 2; which++)
    for (uint32_t i = 0; i < product->old.sides[which].taken; i++) {
      if (is_free(product, which, i)) continue;
      const union net_slot *row = row_at(product, which, i);
      uint8_t marks = *word_at(product, which, i) & DEFINITE ? NET_DEFINITE : 0;
      struct net_live *live = net_product_add(product, which, row, marks, 0);
      net_product_chain(product, which, live, net_product_hash(product, which, row));
      forget(product, which, row);
    }
  net_old_done(product);
  product->old = (struct net_product_old){.purge_at = 0};
}

size_t net_old_room(const struct net_product *product) {
  return (product->old.sides[0].block_count + product->old.sides[1].block_count) * BLOCK;
}

void net_old_purge(struct net_product *product, net_chronon now, bool look) {
  struct net_product_old *old = &product->old;
  size_t count = net_old_count(product);
  if (count == 0 && old->group_capacity > 0 && ++old->idle == IDLE) net_old_together(product);
  if (count > 0) old->idle = 0;
  if (count < old->purge_at && !look) return;
  size_t over = mark_over(product, 0, now) + mark_over(product, 1, now);
  for (size_t i = 0; i < old->group_capacity && over > 0; i++) {
    struct net_old_group *group = &old->groups[i];
    while (!is_empty(group)) { /* another may come to its place */
      for (unsigned which = 0; which < 2; which++)
        unlink_over(product, which, &group->heads[which]);
      if (!is_empty(group)) break;
      leave(old, i);
    }
  }
  size_t left = net_old_count(product);
  size_t room = net_old_room(product);
  if (room > 2 * (look ? left : count) + FREE_BLOCKS * BLOCK) net_old_together(product);
  old->purge_at = left + slack(product, left);
}

void net_old_forget(struct net_product *product, unsigned which) {
  struct net_product_old *old = &product->old;
  if (old->sides[which].count == 0) return;
  for (size_t i = 0; i < old->group_capacity; i++) {
    struct net_old_group *group = &old->groups[i];
    while (!is_empty(group)) { /* another may come to its place */
      struct net_old_walk walk = {.product = product, .which = which, .link = &group->heads[which]};
      while (*walk.link != 0) unlink_row(&walk);
      if (!is_empty(group)) break;
      leave(old, i);
    }
  }
}

size_t net_old_count(const struct net_product *product) {
  return product->old.sides[0].count + product->old.sides[1].count;
}

size_t net_old_bytes(const struct net_product *product) {
  const struct net_product_old *old = &product->old;
  size_t bytes = old->group_capacity * sizeof *old->groups;
  for (unsigned which = 0; which < 2; which++)
    bytes += old->sides[which].block_count * block_bytes(&product->sides[which]) +
             old->sides[which].block_capacity * sizeof *old->sides[which].blocks;
  return bytes;
}

void net_old_done(struct net_product *product) {
  for (unsigned which = 0; which < 2; which++) free_rows(&product->old.sides[which]);
  free(product->old.groups);
}
