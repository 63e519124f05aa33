/* The shortest way of a product: the overlap rule, one tuple a side, and nothing but plain rows, live ones
 * included. Nothing about a row has to be asked but its start, its key, and when it expires.
 *
 * By hand a row costs a few nanoseconds, and one branch that cannot be predicted as much. So many rows go each
 * step together, and no step has a branch on what a row says where that is as often so as not: whose turn it is;
 * where the groups are; which live rows each row meets, where a meeting is written down before it is known whether
 * there is one; of the meetings, those for which the predicate holds; their results, one column after the other.
 *
 * Rows are not copied as they become live: a live row is where it waits, and what is live still when the sweep
 * has ended is copied then (`borrowed`). Where both sides are chosen of the same rows (self.c) these stand in
 * one order, and nobody has to ask whose turn it is; rows meet what a small table says came last into their group
 * (`recents`), and the groups get what is live at the end. What is over stays where it is until another takes its place, somebody
 * walks behind it along a chain, or the purge comes. See product.c and sweep.c.               */
#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/nodes/product/product.h"

#define LAST NET_PRODUCT_LAST

enum { TURNS = 96, STEPS = 255, MEETINGS = NET_MEETINGS, FAR_GROUPS = 2048, MISSES = 4 };
enum { FIRST_RECENTS = 16 };

/* A row that waits for its turn, when it starts and expires, and where its group is, or belonged when that was
 * looked for. Behind the last of a side stands one without a row: the start of what follows, or, at the end,
 * before which time nothing comes. */
struct turn {
  const union net_slot *row;
  net_chronon now, expires;
  uint64_t hash;
  struct net_product_group *group;
};

/* Of one side: what waits, and where in its rows is what. */
struct stream {
  const union net_slot *row, *end; /* those that wait and have not got into TURNS */
  struct net_product_side *side;
  uint32_t width, key_slot;
  bool stopped;      /* the next one cannot go this way */
  struct turn *turn; /* the next of TURNS */
  struct turn turns[TURNS + 1];
};

struct sweep {
  struct net_product *product;
  net_chronon limit; /* the turns of rows that start before it come */
  bool old;          /* there are, or were, old rows */
  struct stream streams[2];
  struct net_meetings met;
  /* where there is no live row: it is over, and none can take its place */
  struct net_live none, unused;
};

/* Is one combination of each row of a side enough, and have there been more than rows? Then it pays to look for no
 * others, which is not done here. */
static bool finds_too_many(const struct net_product *product) {
  return product->params.once == NET_PRODUCT_ONCE && product->met > product->node.rows_in;
}

bool net_product_takes_runs(const struct net_product *product) {
  if (product->params.rule != NET_PRODUCT_OVERLAP || finds_too_many(product)) return false;
  for (unsigned which = 0; which < 2; which++) {
    const struct net_product_side *side = &product->sides[which];
    if (side->only == NULL || side->bounded || side->odd_count > 0 || side->lasting_count > 0)
      return false;
  }
  return true;
}

/* Where what is in rows of side WHICH. */
static void init_stream(struct net_product *product, unsigned which, struct stream *ret) {
  const struct net_join_key *key = product->params.keys;
  ret->side = &product->sides[which];
  ret->width = ret->side->layout->slot_count;
  ret->key_slot = 0;
  if (product->params.key_count > 0) ret->key_slot = which == 0 ? key->left_slot : key->right_slot;
  ret->stopped = false;
  ret->turn = ret->turns;
  ret->turn->row = NULL;
}

/* Of the rows that wait those before END, an index. */
static void open_stream(struct net_product *product, unsigned which, size_t end,
                        struct stream *ret) {
  const struct net_inbox_port *port = &product->inbox.ports[which];
  init_stream(product, which, ret);
  ret->row = net_inbox_row(port, &port->starts, port->starts.head);
  ret->end = net_inbox_row(port, &port->starts, end);
}

static void close_stream(struct net_product *product, unsigned which, size_t end,
                         const struct stream *stream) {
  const union net_slot *row = stream->turn->row != NULL ? stream->turn->row : stream->row;
  product->inbox.ports[which].starts.head = end - (size_t)(stream->end - row) / stream->width;
}

/* --- whose turn it is */

static void find_places(const struct net_product *product, struct turn *first) {
  struct turn *turn = first;
  bool far = product->group_capacity >= FAR_GROUPS, old = net_old_count(product) > 0;
  for (; turn->row != NULL; turn++) {
    struct net_product_group *group = turn->group = net_product_group(product, turn->hash);
    for (unsigned side = 0; side < 2 && far; side++) /* what is nowhere takes long to look for */
      __builtin_prefetch(group->heads[side] != NULL ? group->heads[side] : (const void *)group);
    if (old) net_old_fetch(product, turn->hash);
  }
  for (turn = first; old && turn->row != NULL; turn++) net_old_fetch_rows(product, turn->hash);
}

/* The next rows of SIDE, whose turns have all been, get theirs. */
static void line_up(const struct sweep *sweep, unsigned which, struct stream *stream) {
  const struct net_product *product = sweep->product;
  const union net_slot *row = stream->row, *end = stream->end;
  bool single = product->hashed_keys == 1;
  uint32_t width = stream->width, key_slot = stream->key_slot;
  uint32_t expiry_slot = sweep->met.expiry_slots[which];
  net_chronon later = sweep->met.later[which], limit = sweep->limit;
  struct turn *turn = stream->turns;
  for (; row < end && turn < stream->turns + TURNS; row += width, turn++) {
    net_chronon now = row[0].i, expires = row[expiry_slot].i;
    expires += later & -(net_chronon)(expires != NET_FOREVER);
    if (now >= limit || expires <= now) break;
    turn->row = row;
    turn->now = now;
    turn->expires = expires;
    turn->hash = single ? (uint64_t)row[key_slot].i : net_product_hash(product, which, row);
  }
  stream->row = row;
  stream->turn = stream->turns;
  bool follows = row < end && row[0].i < limit;
  stream->stopped = turn < stream->turns + TURNS && row < end && (follows || limit == LAST);
  turn->row = NULL;
  turn->now = follows ? row[0].i : limit;
  find_places(product, stream->turns);
}

/* --- turns */

/* A row of side WHICH, that of TURN, met ITS, if that is not over. Returns how many meetings there are now. */
static inline struct net_meeting *note_meeting(struct net_meeting *meeting, size_t which,
                                               const struct turn *turn,
                                               const struct net_live *its) {
  net_chronon now = turn->now, expires = its->expires, stop = turn->expires;
  meeting->rows[which] = turn->row;
  meeting->rows[which ^ 1] = its->row;
  meeting->now = now;
  meeting->stop = expires < stop ? expires : stop;
  meeting->marks = its->marks;
  return meeting + (expires > now);
}

static inline void meet_one_more(struct sweep *sweep, unsigned which, const struct turn *turn,
                                 const struct net_live *its, enum base_status *status) {
  if (sweep->met.end == sweep->met.items + MEETINGS) net_product_emit_all(&sweep->met, status);
  sweep->met.several = true;
  sweep->met.end->hash = turn->hash;
  sweep->met.end = note_meeting(sweep->met.end, which, turn, its);
}

/* Old rows of the other side. */
static void meet_old(struct sweep *sweep, unsigned which, const struct turn *turn,
                     enum base_status *status) {
  struct net_product *product = sweep->product;
  uint32_t key_slot = sweep->streams[1 - which].key_slot;
  struct net_old_walk walk;
  if (!net_old_begin(product, 1 - which, turn->hash, turn->now, &walk)) return;
  while (net_old_next(&walk, turn->now)) {
    if ((++product->steps & 4095) == 0 && base_env_interrupted()) *status = BASE_CANCEL;
    /* what more keys say is asked of all who meet */
    bool same = product->hashed_keys != 1 || walk.live.row[key_slot].i == (int64_t)turn->hash;
    if (same && *status == BASE_OK) meet_one_more(sweep, which, turn, &walk.live, status);
  }
}

/* Those behind the FIRST one of a chain of the other side, and old ones. */
static __attribute__((noinline)) void meet_others(struct sweep *sweep, unsigned which,
                                                  const struct turn *turn, struct net_live *first,
                                                  enum base_status *status) {
  struct net_product *product = sweep->product;
  struct net_product_side *other = sweep->streams[1 - which].side;
  for (struct net_live **at = &first->next, *its; (its = *at) != NULL && *status == BASE_OK;) {
    if ((++product->steps & 4095) == 0 && base_env_interrupted()) *status = BASE_CANCEL;
    if (its->expires <= turn->now) {
      net_product_drop(other, at);
      continue;
    }
    meet_one_more(sweep, which, turn, its, status);
    at = &its->next;
  }
  if (sweep->old && *status == BASE_OK) meet_old(sweep, which, turn, status);
  if (sweep->met.end == sweep->met.items + MEETINGS) net_product_emit_all(&sweep->met, status);
}

/* The row of TURN is live from now on, beside others or in a group of its own. */
static __attribute__((noinline)) void keep(struct sweep *sweep, unsigned which,
                                           const struct turn *turn) {
  struct net_product *product = sweep->product;
  struct net_product_side *side = sweep->streams[which].side;
  struct net_product_group *group = net_product_group(product, turn->hash),
                           *groups = product->groups;
  bool was = group->heads[0] != NULL || group->heads[1] != NULL;
  struct net_live *head = group->heads[which];
  if (head != NULL && head->next != NULL && head->next->expires <= turn->now)
    net_product_drop(side, &head->next);
  struct net_live *live = net_product_take(side);
  live->pairs = NET_NO_PAIR;
  live->state = (uint8_t)(NET_LIVE_USED | NET_LIVE_PLAIN | (which ? NET_LIVE_RIGHT : 0));
  side->live_count++;
  live->expires = turn->expires;
  live->marks = NET_DEFINITE;
  live->row = (union net_slot *)turn->row;
  product->borrowed[product->borrowed_count++] = live;
  if (was) {
    live->next = group->heads[which];
    live->state |= NET_LIVE_IN_CHAIN;
    group->heads[which] = live;
    return;
  }
  net_product_chain(product, which, live, turn->hash);
  for (unsigned i = 0; i < 2 && product->groups != groups; i++)
    find_places(product, sweep->streams[i].turn);
}

/* IF_TRUE or IF_FALSE; said so that no branch is made of it. */
static inline uint64_t either(bool truth, uint64_t if_true, uint64_t if_false) {
  return if_false ^ ((if_false ^ if_true) & -(uint64_t)truth);
}

/* Turns until a side has none. What there is mostly, a live row a side at most, and the one of its own side over,
 * has no branch on what the rows say. */
static void take_turns(struct sweep *sweep, enum base_status *status) {
  struct net_product *product = sweep->product;
  struct net_live **borrowed = product->borrowed + product->borrowed_count;
  struct turn *left = sweep->streams[0].turn, *right = sweep->streams[1].turn;
  struct net_meeting *met = sweep->met.end, *const last = sweep->met.items + MEETINGS;
  const bool old = sweep->old;
  for (;;) {
    size_t which = right->now < left->now;
    net_chronon next = which ? left->now : right->now;
    const struct turn *turn = (const struct turn *)either(which, (uintptr_t)right, (uintptr_t)left);
    if (turn->row == NULL) break;
    left += which ^ 1;
    right += which;
    struct net_product_group *group = turn->group;
    if (group->hash != turn->hash) group = net_product_group(product, turn->hash);
    struct net_live *its = group->heads[which ^ 1], *live = group->heads[which];
    its = its == NULL ? &sweep->none : its;
    live = live == NULL ? &sweep->unused : live;
    met = note_meeting(met, which, turn, its);
    if (its->next != NULL || met == last || old) {
      sweep->met.end = met;
      meet_others(sweep, (unsigned)which, turn, its, status);
      met = sweep->met.end;
      if (*status != BASE_OK) break;
    }
    /* What went before it on its own side is mostly over now. */
    bool stays = turn->expires > next;
    bool replaces = stays & (live->expires <= turn->now) & (live->pairs == NET_NO_PAIR);
    if (stays != replaces) {
      sweep->streams[0].turn = left;
      sweep->streams[1].turn = right;
      product->borrowed_count = (size_t)(borrowed - product->borrowed);
      keep(sweep, (unsigned)which, turn);
      borrowed = product->borrowed + product->borrowed_count;
      continue;
    }
    /* It is written in any case, perhaps what was there: so where is known early. */
    *borrowed = live;
    borrowed += replaces & (live->row == net_live_own(live));
    live->row = (union net_slot *)either(replaces, (uintptr_t)turn->row, (uintptr_t)live->row);
    live->expires =
        (net_chronon)either(replaces, (uintptr_t)turn->expires, (uintptr_t)live->expires);
    live->marks |= replaces; /* NET_DEFINITE */
  }
  product->borrowed_count = (size_t)(borrowed - product->borrowed);
  sweep->streams[0].turn = left;
  sweep->streams[1].turn = right;
  sweep->met.end = met;
}

/* What is live still of the rows of this sweep is copied; APART as of the sweep. */
static void give_rows(struct net_product *product, const struct net_product_run *apart) {
  for (size_t i = 0; i < product->borrowed_count; i++) {
    struct net_live *live = product->borrowed[i];
    if (!(live->state & NET_LIVE_USED) || live->row == net_live_own(live)) continue;
    const union net_slot *from = live->row;
    union net_slot *to = live->row = net_live_own(live);
    uint32_t width = product->sides[(live->state & NET_LIVE_RIGHT) != 0].layout->slot_count, k = 0;
    if (apart != NULL) {
      width = apart->width;
      to[width].i = apart->keys[(size_t)(from - apart->rows) / width];
    }
    for (; k + 2 <= width; k += 2) memcpy(to + k, from + k, 2 * sizeof *to);
    if (k < width) to[k] = from[k];
  }
  product->borrowed_count = 0;
}

/* Of the side that has no turns any more, or of both, the next ones, and all that can be taken of them. False:
 * that is none. */
static bool take_next(struct sweep *sweep, enum base_status *status) {
  struct net_product *product = sweep->product;
  if (product->steps > product->patience) {
    if (sweep->old) net_product_emit_all(&sweep->met, status); /* old rows move */
    net_product_hash_all(product);
    for (unsigned i = 0; i < 2; i++)
      for (struct turn *turn = sweep->streams[i].turn; turn->row != NULL; turn++)
        turn->hash = net_product_hash(product, i, turn->row);
    for (unsigned i = 0; i < 2; i++) find_places(product, sweep->streams[i].turn);
  }
  for (unsigned i = 0; i < 2; i++)
    if (sweep->streams[i].turn->row == NULL && !sweep->streams[i].stopped)
      line_up(sweep, i, &sweep->streams[i]);
  base_grow(&product->borrowed, &product->borrowed_capacity,
            product->borrowed_count + 2 * TURNS + 1, sizeof *product->borrowed);
  uint64_t looked = product->steps / 4096;
  const struct turn *left = sweep->streams[0].turn, *right = sweep->streams[1].turn;
  take_turns(sweep, status);
  size_t count = (size_t)(sweep->streams[0].turn - left + sweep->streams[1].turn - right);
  product->steps += count;
  product->patience += 4 * count;
  if (product->steps / 4096 != looked && base_env_interrupted()) *status = BASE_CANCEL;
  if (*status == BASE_OK && net_met_count(&sweep->met) > MEETINGS / 2)
    net_product_emit_all(&sweep->met, status);
  return count > 0 && *status == BASE_OK;
}

static void open_sweep(struct net_product *product, net_chronon checkpoint, struct sweep *ret) {
  ret->product = product;
  ret->met.product = product;
  ret->met.apart = NULL;
  ret->met.timed = true;
  ret->met.several = false;
  ret->limit = checkpoint < LAST ? checkpoint : LAST;
  ret->old = net_old_count(product) > 0;
  ret->met.end = ret->met.items;
  for (unsigned i = 0; i < 2; i++) {
    const struct net_participant *only = product->sides[i].only;
    ret->met.expiry_slots[i] = only->event ? only->start_slot : only->stop_slot;
    ret->met.later[i] = only->event;
  }
  ret->none = ret->unused = (struct net_live){.expires = NET_BEGINNING, .marks = NET_DEFINITE};
  ret->none.pairs = NET_NO_PAIR;
}

bool net_product_sweep_runs(struct net_product *product, const size_t *ends, net_chronon checkpoint,
                            enum base_status *status) {
  struct sweep sweep;
  bool stopped = false;
  open_sweep(product, checkpoint, &sweep);
  for (unsigned i = 0; i < 2; i++) open_stream(product, i, ends[i], &sweep.streams[i]);
  while (!stopped && take_next(&sweep, status)) stopped = finds_too_many(product);
  if (*status == BASE_OK) net_product_emit_all(&sweep.met, status);
  for (unsigned i = 0; i < 2; i++) close_stream(product, i, ends[i], &sweep.streams[i]);
  give_rows(product, NULL);
  return !stopped && !sweep.streams[0].stopped && !sweep.streams[1].stopped;
}

/* --- both sides in one order */

/* The place of HASH among RECENTS, with its group or free. */
static struct net_product_recent *recent_at(const struct net_product_recents *recents,
                                            uint64_t hash) {
  size_t place = net_product_home(recents->shift, hash);
  for (;; place = (place + 1) & (recents->capacity - 1)) {
    struct net_product_recent *recent = &recents->items[place];
    if (recent->round != recents->round || recent->hash == hash) return recent;
  }
}

static void grow_recents(struct net_product_recents *recents) {
  struct net_product_recents before = *recents;
  recents->capacity = before.capacity == 0 ? FIRST_RECENTS : 2 * before.capacity;
  recents->shift = 64 - (unsigned)__builtin_ctzll(recents->capacity) + NET_PRODUCT_BESIDE_BITS;
  recents->items = base_xcalloc(recents->capacity, sizeof *recents->items);
  recents->round += before.capacity == 0; /* 0 is that of free places */
  for (size_t i = 0; i < recents->used_count; i++) {
    const struct net_product_recent *from = &before.items[recents->used[i]];
    struct net_product_recent *to = recent_at(recents, from->hash);
    *to = *from;
    recents->used[i] = (uint32_t)(to - recents->items);
  }
  free(before.items);
}

/* That of the group of HASH, which had none where it was looked for; NULL: more is live there than a plain row a side. */
static __attribute__((noinline)) struct net_product_recent *find_recent(const struct sweep *sweep,
                                                                        uint64_t hash) {
  struct net_product_recents *recents = &sweep->product->recents;
  if (2 * (recents->used_count + 1) > recents->capacity) grow_recents(recents);
  struct net_product_recent *recent = recent_at(recents, hash);
  if (recent->round == recents->round) return recent;
  const struct net_product_group *group = net_product_group(sweep->product, hash);
  for (unsigned which = 0; which < 2; which++) {
    const struct net_live *live = group->heads[which];
    recent->rows[which] = recents->none;
    if (live == NULL) continue;
    if (live->next != NULL || live->pairs != NET_NO_PAIR || !(live->marks & NET_DEFINITE) ||
        live->expires != net_met_expires(&sweep->met, which, live->row))
      return NULL;
    recent->rows[which] = live->row;
  }
  recent->hash = hash;
  recent->round = recents->round;
  base_grow(&recents->used, &recents->used_capacity, recents->used_count + 1,
            sizeof *recents->used);
  recents->used[recents->used_count++] = (uint32_t)(recent - recents->items);
  return recent;
}

/* Rows of RUN from FROM on, COUNT at most, come into their groups, and meet what came last on the other side. That is
 * found by a look at the group, and by nothing that the row before has left, unless it is of the same group. Returns
 * how many: the next is in a group where more is live, or the one before it on its side is not over. KEYED: their keys
 * are at KEY, KEY_BY slots on for each. PERIODS: those of both sides expire at the same slot, no later. */
static inline __attribute__((always_inline)) size_t meet_these(struct sweep *sweep,
                                                               const struct net_product_run *run,
                                                               size_t from, size_t count,
                                                               const int64_t *key, size_t key_by,
                                                               bool keyed, bool periods) {
  const struct net_product *product = sweep->product;
  const struct net_product_recents *recents = &product->recents;
  struct net_product_recent *items = recents->items;
  uint64_t round = recents->round;
  unsigned shift = recents->shift;
  const uint32_t expiry_slots[2] = {sweep->met.expiry_slots[0], sweep->met.expiry_slots[1]};
  const net_chronon later[2] = {sweep->met.later[0], sweep->met.later[1]};
  uint32_t width = run->width, expiry_slot = expiry_slots[0];
  const union net_slot *row = run->rows + from * width;
  const uint8_t *sides = run->sides + from;
  uintptr_t ahead = run->ahead;
  struct net_meeting *met = sweep->met.end;
  size_t at = 0;
  for (; at < count; at++, row += width, key += key_by) {
    size_t which = sides[at];
    net_chronon now = row[0].i;
    __builtin_prefetch((const void *)((uintptr_t)row + ahead));
    uint64_t hash = keyed ? (uint64_t)*key : net_product_hash(product, (unsigned)which, row);
    struct net_product_recent *recent = &items[net_product_home(shift, hash)];
    if (recent->hash != hash || recent->round != round) {
      recent = find_recent(sweep, hash);
      if (recent == NULL) break;
      items = recents->items;
      shift = recents->shift;
    }
    const union net_slot *before = recent->rows[which], *its = recent->rows[which ^ 1];
    net_chronon over = before[periods ? expiry_slot : expiry_slots[which]].i;
    net_chronon expires = its[periods ? expiry_slot : expiry_slots[which ^ 1]].i;
    if (!periods) {
      over += later[which] & -(net_chronon)(over != NET_FOREVER);
      expires += later[which ^ 1] & -(net_chronon)(expires != NET_FOREVER);
    }
    if (over > now) break;
    recent->rows[which] = row;
    met->rows[which] = row;
    met->rows[which ^ 1] = its;
    met->hash = hash;
    met->marks = NET_DEFINITE;
    met += expires > now;
  }
  sweep->met.end = met;
  return at;
}

static size_t meet_rows(struct sweep *sweep, const struct net_product_run *run, size_t from,
                        size_t count) {
  const struct stream *streams = sweep->streams;
  const struct net_meetings *met = &sweep->met;
  const int64_t *key = &run->rows[from * run->width + streams[0].key_slot].i;
  size_t key_by = run->width;
  bool keyed = sweep->product->hashed_keys == 1 && streams[0].key_slot == streams[1].key_slot;
  bool periods =
      met->expiry_slots[0] == met->expiry_slots[1] && (met->later[0] | met->later[1]) == 0;
  if (run->keys != NULL) {
    keyed = true;
    key = run->keys + from;
    key_by = 1;
  }
  if (sweep->product->recents.capacity == 0) grow_recents(&sweep->product->recents);
  if (!keyed) return meet_these(sweep, run, from, count, key, key_by, false, false);
  return periods ? meet_these(sweep, run, from, count, key, key_by, true, true)
                 : meet_these(sweep, run, from, count, key, key_by, true, false);
}

/* LIVE, the only one of its side in its group, or none yet in that of HASH, is ROW from now on. */
static void replace_live(struct net_product *product, unsigned which, struct net_live *live,
                         uint64_t hash, const union net_slot *row, net_chronon expires) {
  if (live == NULL) {
    live = net_product_take(&product->sides[which]);
    live->pairs = NET_NO_PAIR;
    live->state = (uint8_t)(NET_LIVE_USED | NET_LIVE_PLAIN | (which ? NET_LIVE_RIGHT : 0));
    live->row = net_live_own(live);
    product->sides[which].live_count++;
    net_product_chain(product, which, live, hash);
  }
  if (live->row == net_live_own(live)) product->borrowed[product->borrowed_count++] = live;
  live->row = (union net_slot *)row;
  live->expires = expires;
  live->marks = NET_DEFINITE;
}

/* The last row of each group and side is live from now on, unless it is over before NEXT. */
static void settle(struct sweep *sweep, net_chronon next) {
  struct net_product *product = sweep->product;
  struct net_product_recents *recents = &product->recents;
  base_grow(&product->borrowed, &product->borrowed_capacity,
            product->borrowed_count + 2 * recents->used_count, sizeof *product->borrowed);
  for (size_t i = 0; i < recents->used_count; i++) {
    const struct net_product_recent *recent = &recents->items[recents->used[i]];
    for (unsigned which = 0; which < 2; which++) {
      struct net_live *live = net_product_group(product, recent->hash)->heads[which];
      const union net_slot *row = recent->rows[which];
      if (row == (live != NULL ? live->row : recents->none)) continue;
      net_chronon expires = net_met_expires(&sweep->met, which, row);
      if (expires > next) replace_live(product, which, live, recent->hash, row, expires);
    }
  }
  recents->used_count = 0;
  recents->round++;
}

/* When the row at END starts, or what follows. */
static inline net_chronon starts_after(const struct sweep *sweep, const struct net_product_run *run,
                                       size_t end) {
  return end < run->count ? run->rows[end * run->width].i : sweep->limit;
}

/* The same as take_turns does it, one by one, but a row is looked at where it stands. */
static void take_run(struct sweep *sweep, const struct net_product_run *run, size_t from,
                     size_t end, enum base_status *status) {
  struct net_product *product = sweep->product;
  struct net_live **borrowed = product->borrowed + product->borrowed_count;
  struct net_meeting *met = sweep->met.end, *const last = sweep->met.items + MEETINGS;
  const bool old = sweep->old;
  const struct stream *streams = sweep->streams;
  uint32_t width = run->width;
  bool single = product->hashed_keys == 1;
  const union net_slot *row = run->rows + from * width;
  for (size_t i = from; i < end; i++, row += width) {
    size_t which = run->sides[i];
    const struct stream *stream = &streams[which];
    struct turn turn = {
        .row = row, .now = row[0].i, .expires = net_met_expires(&sweep->met, (unsigned)which, row)};
    turn.hash = run->keys != NULL ? (uint64_t)run->keys[i]
                : single          ? (uint64_t)row[stream->key_slot].i
                                  : net_product_hash(product, (unsigned)which, row);
    struct net_product_group *group = net_product_group(product, turn.hash);
    struct net_live *its = group->heads[which ^ 1], *live = group->heads[which];
    its = its == NULL ? &sweep->none : its;
    live = live == NULL ? &sweep->unused : live;
    met->hash = turn.hash;
    met = note_meeting(met, which, &turn, its);
    if (its->next != NULL || met == last || old) {
      sweep->met.end = met;
      meet_others(sweep, (unsigned)which, &turn, its, status);
      met = sweep->met.end;
      if (*status != BASE_OK) break;
    }
    bool stays = turn.expires > starts_after(sweep, run, i + 1);
    bool replaces = stays & (live->expires <= turn.now) & (live->pairs == NET_NO_PAIR);
    if (stays != replaces) {
      product->borrowed_count = (size_t)(borrowed - product->borrowed);
      keep(sweep, (unsigned)which, &turn);
      borrowed = product->borrowed + product->borrowed_count;
      continue;
    }
    *borrowed = live;
    borrowed += replaces & (live->row == net_live_own(live));
    live->row = (union net_slot *)either(replaces, (uintptr_t)row, (uintptr_t)live->row);
    live->expires =
        (net_chronon)either(replaces, (uintptr_t)turn.expires, (uintptr_t)live->expires);
    live->marks |= replaces; /* NET_DEFINITE */
  }
  product->borrowed_count = (size_t)(borrowed - product->borrowed);
  sweep->met.end = met;
}

void net_product_sweep_run(struct net_product *product, const struct net_product_run *run,
                           net_chronon checkpoint, enum base_status *status) {
  struct sweep sweep;
  open_sweep(product, checkpoint, &sweep);
  for (unsigned i = 0; i < 2; i++) init_stream(product, i, &sweep.streams[i]);
  if (run->keys != NULL) sweep.met.apart = run;
  sweep.met.timed = false;
  unsigned misses = sweep.old ? MISSES : 0;
  for (size_t from = 0, taken; from < run->count && *status == BASE_OK; from += taken) {
    size_t looked = product->steps / 4096, left = run->count - from;
    if (left > STEPS) left = STEPS;
    if (product->steps > product->patience && run->keys == NULL) {
      settle(&sweep, starts_after(&sweep, run, from));
      if (sweep.old) net_product_emit_all(&sweep.met, status); /* old rows move */
      net_product_hash_all(product);
    }
    taken = misses < MISSES ? meet_rows(&sweep, run, from, left) : 0;
    if (taken == 0) {
      settle(&sweep, starts_after(&sweep, run, from));
      taken = left;
      misses += misses < MISSES;
      base_grow(&product->borrowed, &product->borrowed_capacity,
                product->borrowed_count + taken + 1, sizeof *product->borrowed);
      take_run(&sweep, run, from, from + taken, status);
    }
    product->steps += taken;
    product->patience += 4 * taken;
    if (product->steps / 4096 != looked && base_env_interrupted()) *status = BASE_CANCEL;
    if (*status == BASE_OK && net_met_count(&sweep.met) > MEETINGS - STEPS)
      net_product_emit_all(&sweep.met, status);
  }
  settle(&sweep, sweep.limit);
  if (*status == BASE_OK) net_product_emit_all(&sweep.met, status);
  give_rows(product, sweep.met.apart);
}
