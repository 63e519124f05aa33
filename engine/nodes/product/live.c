/* Live rows of a product: those that a later row of the other side may meet; here the young ones, and old.c
 * has those that stay. They lie in blocks and do
 * not move; those of both sides whose keys have one hash are a *group*, each side a chain in it. The
 * groups are a table with open addressing in which nothing is ever left behind: a group that loses its
 * last row leaves its place, and those behind it move up.
 *
 * A row leaves its chain when somebody walks along it after it has expired, and goes when no pair has it
 * any more. Those in chains that nobody walks are looked for when there are an eighth more rows than
 * the last look left. See product.c.                                                                */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/status.h"
#include "engine/nodes/product/product.h"

enum { FIRST_GROUPS_SHIFT = 4, SHORT_CHAINS = 64, LONG_CHAIN = 8, FIRST_YOUNG = 64 };

/* --- when they expire */

static net_chronon participant_expiry(const struct net_participant *participant,
                                      const union net_slot *row) {
  if (participant->event) { /* one at `beginning` as well: there, net_chronon_add would stay */
    net_chronon at = row[participant->start_slot + 1].i;
    return at == NET_FOREVER ? at : at + 1;
  }
  return row[participant->stop_slot + 1].i;
}

net_chronon net_product_ends(const struct net_product_side *side, const union net_slot *row) {
  net_chronon earliest = NET_FOREVER;
  for (size_t i = 0; i < side->participant_count; i++) {
    net_chronon expires = participant_expiry(&side->participants[i], row);
    if (expires < earliest) earliest = expires;
  }
  return earliest;
}

/* Instants at the ends of the time line say nothing. */
static net_chronon bound_expiry(const struct net_expiry *expiry, const union net_slot *row) {
  net_chronon instant = row[expiry->slot + 1].i;
  net_chronon expires = net_chronon_add(instant, expiry->after);
  return instant == NET_BEGINNING || expires == NET_BEGINNING ? NET_FOREVER : expires;
}

/* What the conditions above the product say of it. */
static net_chronon last_expiry(const struct net_product *product, unsigned which,
                               const union net_slot *row) {
  const struct net_expiry *expiries = product->params.expiries[which];
  net_chronon last = NET_BEGINNING, first = NET_FOREVER;
  for (size_t i = 0; i < product->params.expiry_counts[which]; i++) {
    net_chronon expires = bound_expiry(&expiries[i], row);
    if (expires < first) first = expires;
    if (expiries[i].or_next) continue;
    if (first > last) last = first;
    first = NET_FOREVER;
  }
  return last == NET_BEGINNING ? NET_FOREVER : last;
}

net_chronon net_product_expires(const struct net_product *product, unsigned which,
                                const union net_slot *row) {
  const struct net_product_side *side = &product->sides[which];
  if (product->params.rule == NET_PRODUCT_FULL) return last_expiry(product, which, row);
  net_chronon ends = net_product_ends(side, row);
  if (!side->bounded) return ends;
  net_chronon expires = last_expiry(product, which, row);
  return expires < ends ? expires : ends;
}

/* --- groups */

static void set_groups(struct net_product *product, unsigned bits) {
  product->group_capacity = (size_t)1 << bits;
  product->group_shift = 64 - bits + NET_PRODUCT_BESIDE_BITS;
  product->groups = base_xcalloc(product->group_capacity, sizeof *product->groups);
}

static bool is_empty(const struct net_product_group *group) {
  return group->heads[0] == NULL && group->heads[1] == NULL;
}

static void resize_groups(struct net_product *product, unsigned bits) {
  struct net_product_group *before = product->groups;
  size_t count = product->group_capacity;
  set_groups(product, bits);
  for (size_t i = 0; i < count; i++)
    if (!is_empty(&before[i])) *net_product_group(product, before[i].hash) = before[i];
  free(before);
}

void net_product_leave(struct net_product *product, struct net_product_group *group) {
  size_t mask = product->group_capacity - 1, place = (size_t)(group - product->groups);
  for (size_t next = (place + 1) & mask; !is_empty(&product->groups[next]);
       next = (next + 1) & mask) {
    size_t home = net_product_home(product->group_shift, product->groups[next].hash);
    if (((next - home) & mask) < ((next - place) & mask)) continue;
    product->groups[place] = product->groups[next];
    place = next;
  }
  product->groups[place] = (struct net_product_group){.hash = 0};
  product->group_count--;
}

/* --- coming and going */

static struct net_live *live_at(const struct net_product_side *side, size_t index) {
  return (struct net_live *)(void *)(side->blocks[index / NET_LIVE_BLOCK] +
                                     index % NET_LIVE_BLOCK * side->stride);
}

struct net_live *net_product_take(struct net_product_side *side) {
  struct net_live *live = side->free_list;
  if (live != NULL) {
    side->free_list = live->next;
    return live;
  }
  if (side->taken == side->block_count * NET_LIVE_BLOCK) {
    base_grow(&side->blocks, &side->block_capacity, side->block_count + 1, sizeof *side->blocks);
    side->blocks[side->block_count++] = base_xrealloc(NULL, NET_LIVE_BLOCK, side->stride);
  }
  return live_at(side, side->taken++);
}

struct net_live *net_product_next(const struct net_product_side *side, size_t *at) {
  while (*at < side->taken) {
    struct net_live *live = live_at(side, (*at)++);
    if (live->state & NET_LIVE_USED) return live;
  }
  return NULL;
}

/* LIVE has become one that lasts, if it does. */
static void note_lasting(struct net_product_side *side, struct net_live *live) {
  net_chronon start = net_live_row(live)[0].i;
  if ((live->state & NET_LIVE_LASTS) && start > side->last_lasting) side->last_lasting = start;
}

static void note_open(struct net_product_side *side, struct net_live *live, uint64_t id) {
  struct net_live **state = net_rowmap_state(&side->open, net_rowmap_put_id(&side->open, id, NULL));
  *state = live;
}

uint8_t net_product_kind(const struct net_product_side *side, const union net_slot *row) {
  bool own_stop = false;
  size_t uncertain = 0;
  for (size_t i = 0; i < side->instant_count; i++) {
    const union net_slot *instant = row + side->instants[i];
    if (instant[0].i == instant[1].i) continue;
    uncertain++;
    own_stop |= side->instants[i] == 2 && instant[0].i == NET_OPEN;
  }
  if (uncertain == 0) return side->general ? 0 : NET_LIVE_PLAIN;
  if (!side->layout->may_be_open || !net_row_is_open(side->layout, row)) return 0;
  bool lasts =
      own_stop && uncertain == 1 && side->only != NULL && !side->shows_open && !side->general;
  return lasts ? NET_LIVE_OPEN | NET_LIVE_LASTS : NET_LIVE_OPEN;
}

struct net_live *net_product_add(struct net_product *product, unsigned which,
                                 const union net_slot *row, uint8_t marks, uint64_t id) {
  struct net_product_side *side = &product->sides[which];
  struct net_live *live = net_product_take(side);
  *live = (struct net_live){.expires = net_product_expires(product, which, row),
                            .row = net_live_own(live),
                            .pairs = NET_NO_PAIR,
                            .marks = marks,
                            .state = (uint8_t)(net_product_kind(side, row) | NET_LIVE_USED |
                                               (which ? NET_LIVE_RIGHT : 0))};
  net_row_copy(net_live_row(live), row, side->layout->slot_count);
  net_product_count(side, live->state, 1);
  if (live->state & NET_LIVE_OPEN) note_open(side, live, id);
  note_lasting(side, live);
  return live;
}

/* The rows of a chain that begins at *AT that are over at NOW leave it. */
static void trim(struct net_product_side *side, struct net_live **at, net_chronon now) {
  while (*at != NULL) {
    struct net_live *live = *at;
    if (!net_product_is_over(live->expires, now)) {
      at = &live->next;
      continue;
    }
    net_product_drop(side, at);
  }
}

void net_product_chain(struct net_product *product, unsigned which, struct net_live *live,
                       uint64_t hash) {
  struct net_product_group *group = net_product_group(product, hash);
  if (is_empty(group)) {
    if ((product->group_count + 1) * 4 > product->group_capacity * 3) {
      resize_groups(product, (unsigned)__builtin_ctzll(product->group_capacity) + 1);
      group = net_product_group(product, hash);
    }
    product->group_count++;
    group->hash = hash;
  }
  live->next = group->heads[which];
  live->state |= NET_LIVE_IN_CHAIN;
  group->heads[which] = live;
}

void net_product_hash_all(struct net_product *product) {
  struct net_live *live;
  product->hashed_keys = product->params.key_count;
  product->patience = UINT64_MAX / 2;
  memset(product->groups, 0, product->group_capacity * sizeof *product->groups);
  product->group_count = 0;
  for (unsigned which = 0; which < 2; which++)
    for (size_t at = 0; (live = net_product_next(&product->sides[which], &at)) != NULL;)
      if (live->state & NET_LIVE_IN_CHAIN)
        net_product_chain(product, which, live,
                          net_product_hash(product, which, net_live_row(live)));
  if (net_old_count(product) > 0) net_old_together(product);
}

/* The rows of a chain that begins at *AT become old, those that can. */
static void grow_old(struct net_product *product, unsigned which, struct net_live **at) {
  while (*at != NULL) {
    if (net_old_add(product, which, *at))
      net_product_drop(&product->sides[which], at);
    else
      at = &(*at)->next;
  }
}

/* What is over at NOW leaves its chain; all others do where they are to become OLD. */
static void clear_chains(struct net_product *product, net_chronon now, bool old) {
  for (size_t i = 0; i < product->group_capacity; i++) {
    struct net_product_group *group = &product->groups[i];
    while (!is_empty(group)) { /* another group may come to the place of one that leaves it */
      for (unsigned which = 0; which < 2; which++) {
        trim(&product->sides[which], &group->heads[which], now);
        if (old) grow_old(product, which, &group->heads[which]);
      }
      if (!is_empty(group)) break;
      net_product_leave(product, group);
    }
  }
}

static size_t young_count(const struct net_product *product) {
  return product->sides[0].live_count + product->sides[1].live_count;
}

/* Room goes that is for more than twice as many young rows as there were: GROUPS, and TAKEN of each side. */
static void free_room(struct net_product *product, size_t groups, const size_t taken[2]) {
  for (unsigned which = 0; which < 2; which++) {
    struct net_product_side *side = &product->sides[which];
    size_t most = 2 * (taken[which] / NET_LIVE_BLOCK + 1);
    while (side->taken == 0 && side->block_count > most) free(side->blocks[--side->block_count]);
  }
  if (product->group_count > 0 || product->group_capacity <= 4 * (groups + SHORT_CHAINS)) return;
  free(product->groups);
  set_groups(product, FIRST_GROUPS_SHIFT);
}

/* More rows stay than are to be young: may there be more of these? Where others of their keys have come for as many of
 * the old ones as are young, or half as many, rows do not stay, they are replaced; then all are young, up to a certain
 * number. Where there are more than that, few are. */
static bool stay_young(struct net_product *product) {
  size_t most = product->node.young_most, count = young_count(product);
  if (count + net_old_count(product) > most) {
    product->young_most = most < FIRST_YOUNG ? most : FIRST_YOUNG;
    return false;
  }
  if (product->old.replaced * 2 < count) return false;
  product->young_most = most;
  net_old_all_young(product);
  return true;
}

/* By the overlap rule rows that end soon need no other bounds: without these the shortest way is open to them. Do
 * the bounds pay from now on? They do where chains have become long, or rows many. */
static bool bounds_pay(const struct net_product *product) {
  size_t bounded = 0, groups = product->group_count + product->old.group_count;
  size_t live = young_count(product) + net_old_count(product);
  for (unsigned which = 0; which < 2; which++) {
    if (product->sides[which].bounded) return false;
    bounded += product->params.expiry_counts[which];
  }
  return bounded > 0 && product->params.rule == NET_PRODUCT_OVERLAP &&
         (live > product->node.young_most || (live > SHORT_CHAINS && live > LONG_CHAIN * groups));
}

static void begin_bounds(struct net_product *product) {
  struct net_live *live;
  for (unsigned which = 0; which < 2; which++) {
    struct net_product_side *side = &product->sides[which];
    side->bounded = product->params.expiry_counts[which] > 0;
    for (size_t at = 0; side->bounded && (live = net_product_next(side, &at)) != NULL;)
      live->expires = net_product_expires(product, which, net_live_row(live));
  }
}

/* --- giving back */

/* Where rows do not become more nobody looks for those that are over, nor at the room of those that were. So when twice
 * as many have come as there is room for, all are looked at, and where that finds few, after twice as many the next time,
 * up to eight times that. And when hardly any of the room has been used while half as many rows came, what is empty
 * goes but for an eighth: so rows and pairs that come and go with each round find what they need. */
enum { EMPTY_SHARE = 16, KEPT_SHARE = 8, WORTH_GIVING = 1024, WORTH_LOOKING = 4096 };
enum { LONGEST_WAIT = 8, SCATTERED_WAIT = 4 };

static size_t room_of(const struct net_product *product) {
  size_t blocks = product->sides[0].block_count + product->sides[1].block_count;
  return blocks * NET_LIVE_BLOCK + net_old_room(product) + product->pair_capacity;
}

/* What is over is used, as long as nobody has looked. */
static size_t used_of(const struct net_product *product) {
  size_t pairs = product->pairs_live;
  if (product->most_pairs > pairs) pairs = product->most_pairs;
  return young_count(product) + net_old_count(product) + pairs;
}

/* All was looked at, and so much was USED before. */
static void note_look(struct net_product *product, size_t used) {
  struct net_product_watch *watch = &product->watch;
  bool many = used_of(product) * 2 <= used;
  if (many || watch->wait == 0)
    watch->wait = 1;
  else if (watch->wait < LONGEST_WAIT)
    watch->wait *= 2;
  watch->look_at = watch->came + 2 * watch->wait * room_of(product);
}

/* At the end of a round. */
static bool is_mostly_empty(struct net_product *product, size_t room, size_t used) {
  struct net_product_watch *watch = &product->watch;
  if (room < WORTH_GIVING || used * EMPTY_SHARE >= room) watch->empty_from = watch->came;
  return watch->came > watch->empty_from && (watch->came - watch->empty_from) * 2 >= room;
}

/* Of a block all of whose places have been given out. */
static bool is_used(const struct net_product_side *side, size_t block) {
  size_t first = block * NET_LIVE_BLOCK;
  for (size_t i = first; i < first + NET_LIVE_BLOCK; i++)
    if (live_at(side, i)->state & NET_LIVE_USED) return true;
  return false;
}

/* Places that are not used are given out in their order, so that more blocks become empty behind them. */
static void list_free(struct net_product_side *side) {
  side->free_list = NULL;
  for (size_t i = side->taken; i-- > 0;) {
    struct net_live *live = live_at(side, i);
    if (live->state & NET_LIVE_USED) continue;
    live->next = side->free_list;
    side->free_list = live;
  }
}

/* Blocks in which nothing lives go, but for an eighth. */
static void free_blocks(struct net_product_side *side) {
  size_t kept = 0, left = side->block_count, most = left / KEPT_SHARE + 1;
  for (; side->taken < left * NET_LIVE_BLOCK; side->taken++) live_at(side, side->taken)->state = 0;
  for (size_t i = 0; i < side->block_count; i++) {
    if (left > most && !is_used(side, i)) {
      free(side->blocks[i]);
      left--;
    } else {
      side->blocks[kept++] = side->blocks[i];
    }
  }
  side->block_count = kept;
  side->taken = kept * NET_LIVE_BLOCK;
  list_free(side);
}

static void shrink_groups(struct net_product *product) {
  unsigned bits = FIRST_GROUPS_SHIFT;
  if (!base_is_roomy(product->group_capacity, product->group_count, sizeof *product->groups))
    return;
  while ((size_t)1 << bits < product->group_count * 4) bits++;
  resize_groups(product, bits);
}

static void give_back(struct net_product *product, size_t room) {
  struct net_product_watch *watch = &product->watch;
  for (unsigned which = 0; which < 2; which++) free_blocks(&product->sides[which]);
  net_product_shrink_pairs(product, product->pair_capacity / KEPT_SHARE);
  shrink_groups(product);
  /* what is left may be scattered, a row a block */
  bool little = room_of(product) * 2 > room;
  watch->empty_from = watch->came + (little ? SCATTERED_WAIT * room : 0);
}

/* Nothing waits at PORT, and nothing more comes. Rows that are taken from elsewhere have no port of their own. */
static bool has_ended(const struct net_product *product, unsigned which) {
  const struct net_inbox_port *port = &product->inbox.ports[which];
  uint8_t marks;
  return product->self == NULL && product->asked == NULL && port->checkpoint == NET_FOREVER &&
         net_inbox_waiting(port, 0, &marks) == NULL;
}

bool net_product_has_ends(const struct net_product *product) {
  for (unsigned which = 0; which < 2; which++)
    if (!product->sides[which].has_ended && has_ended(product, which)) return true;
  return false;
}

/* The young rows of side WHICH leave their chains, as those of the other side have all come. */
static void forget_young(struct net_product *product, unsigned which) {
  struct net_product_side *side = &product->sides[which];
  struct net_live *live;
  for (size_t at = 0; (live = net_product_next(side, &at)) != NULL;) {
    if (!(live->state & NET_LIVE_IN_CHAIN)) continue;
    struct net_product_group *group =
        net_product_group(product, net_product_hash(product, which, net_live_row(live)));
    while (group->heads[which] != NULL) net_product_drop(side, &group->heads[which]);
    if (is_empty(group)) net_product_leave(product, group);
  }
}

/* Rows wait for those of the other side that are still to come. When all have, as those of a relation that is only
 * stored have from the beginning on, none waits for anything but its own end: neither would it be of any use, nor could
 * later results begin as early as it does. Where both have ended, so has the product. */
static void forget(struct net_product *product) {
  for (unsigned which = 0; which < 2; which++)
    product->sides[which].has_ended = has_ended(product, which);
  for (unsigned which = 0; which < 2; which++) {
    if (!product->sides[1 - which].has_ended || product->sides[which].has_ended) continue;
    net_old_forget(product, which);
    forget_young(product, which);
  }
}

/* Rows that are over leave, when it is time to look for them, or in any case (LOOK). */
static void purge_young(struct net_product *product, net_chronon now, bool look) {
  if (young_count(product) < product->purge_at && !look) return;
  const size_t groups = product->group_count;
  const size_t taken[2] = {product->sides[0].taken, product->sides[1].taken};
  clear_chains(product, now, false);
  if (bounds_pay(product)) {
    begin_bounds(product);
    clear_chains(product, now, false);
  }
  if (young_count(product) >= product->young_most && !stay_young(product)) {
    clear_chains(product, now, true);
    product->old.replaced = 0;
    free_room(product, groups, taken);
  }
  size_t left = young_count(product);
  product->purge_at = left + left / 8 + (product->young_most < 64 ? product->young_most + 1 : 64);
}

void net_product_purge(struct net_product *product, net_chronon now) {
  size_t room = room_of(product), used = used_of(product);
  bool empty = is_mostly_empty(product, room, used);
  bool look = empty || (room >= WORTH_LOOKING && product->watch.came >= product->watch.look_at);
  product->most_pairs = 0;
  forget(product);
  net_old_purge(product, now, look);
  purge_young(product, now, look);
  if (look) note_look(product, used);
  if (empty) give_back(product, room);
}

struct net_live *net_product_close(struct net_product *product, unsigned which,
                                   const union net_slot *row, uint64_t id) {
  struct net_product_side *side = &product->sides[which];
  uint32_t place = net_rowmap_find_id(&side->open, id);
  BASE_CHECK(place != NET_NO_ENTRY, "product-close-unknown");
  struct net_live *live = *(struct net_live **)net_rowmap_state(&side->open, place);
  memcpy(net_live_row(live), row, side->layout->slot_count * sizeof *row);
  net_product_count(side, live->state, (size_t)-1);
  live->state = (live->state & (NET_LIVE_USED | NET_LIVE_IN_CHAIN | NET_LIVE_RIGHT)) |
                net_product_kind(side, row);
  net_product_count(side, live->state, 1);
  if (!(live->state & NET_LIVE_OPEN)) net_rowmap_remove(&side->open, place);
  live->expires = net_product_expires(product, which, row);
  note_lasting(side, live);
  net_product_release(side, live);
  return live;
}

/* --- making */

void net_product_live_init(struct net_product *product) {
  set_groups(product, FIRST_GROUPS_SHIFT);
  bool several = product->params.key_count > 1;
  product->hashed_keys = several ? 1 : product->params.key_count;
  product->patience = several ? SHORT_CHAINS : UINT64_MAX / 2;
  product->young_most =
      product->node.young_most < FIRST_YOUNG ? product->node.young_most : FIRST_YOUNG;
  product->purge_at = product->young_most < 64 ? product->young_most + 1 : 64;
}

void net_product_side_init(struct net_product_side *side, struct base_arena *arena,
                           const struct net_product_params *params, unsigned which) {
  const struct net_layout *layout = which == 0 ? params->left : params->right;
  side->layout = layout;
  side->last_lasting = NET_BEGINNING;
  side->participants = which == 0 ? params->left_participants : params->right_participants;
  side->participant_count = which == 0 ? params->left_count : params->right_count;
  for (size_t i = 0; i < side->participant_count; i++)
    side->has_event |= side->participants[i].event;
  if (params->rule == NET_PRODUCT_OVERLAP && side->participant_count == 1)
    side->only = side->participants;
  for (uint32_t i = 0; i < params->out->field_count; i++) {
    if (!params->out->fields[i].openable || params->fields[i].side != which) continue;
    side->shows_open = true;
    side->shows_later |=
        side->only == NULL || side->only->event || params->fields[i].slot != side->only->stop_slot;
  }
  side->instants = base_arena_array(arena, layout->field_count + 2, sizeof *side->instants);
  side->instants[side->instant_count++] = 0;
  if (layout->tuple_class == NET_PERIOD) side->instants[side->instant_count++] = 2;
  for (uint32_t i = 0; i < layout->field_count; i++)
    if (layout->fields[i].type.base == NET_INSTANT)
      side->instants[side->instant_count++] = layout->fields[i].slot;
  side->stride = sizeof(struct net_live) + layout->slot_count * sizeof(union net_slot);
  net_rowmap_init(&side->open, NULL, NET_KEY_ID, 0, NULL, 0, sizeof(struct net_live *));
}

void net_product_side_done(struct net_product_side *side) {
  for (size_t i = 0; i < side->block_count; i++) free(side->blocks[i]);
  free(side->blocks);
  free(side->input_floor);
  net_rowmap_done(&side->open);
}

size_t net_product_side_bytes(const struct net_product_side *side) {
  return side->block_count * NET_LIVE_BLOCK * side->stride +
         side->block_capacity * sizeof *side->blocks + net_rowmap_bytes(&side->open);
}
