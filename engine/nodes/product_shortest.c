/* The shortest way of a product: the overlap rule, one tuple a side, and nothing but plain rows, live ones
 * included. Nothing about a row has to be asked but its start, its key, and when it expires.
 *
 * By hand a row costs a few nanoseconds, and one branch that cannot be predicted as much. So many rows go each
 * step together, and no step has a branch on what a row says where that is as often so as not: whose turn it is;
 * where the groups are; which live rows each row meets, where a meeting is written down before it is known whether
 * there is one; of the meetings, those for which the predicate holds; their results, one column after the other.
 *
 * Rows are not copied as they become live: a live row is where it waits, and what is live still when the sweep
 * has ended is copied then (`borrowed`). Where both sides are chosen of the same rows (product_self.c) these stand in
 * one order, and nobody has to ask whose turn it is. What is over stays where it is until another takes its place, somebody
 * walks behind it along a chain, or the purge comes. See product.c and product_sweep.c.               */
#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/nodes/product.h"

#define LAST NET_PRODUCT_LAST

enum { TURNS = 96, LINKS = 255, MEETINGS = NET_MEETINGS, FAR_GROUPS = 2048, MISSES = 4 };

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
  uint32_t
      expiry_slot; /* a row expires at the time there, and so much later; FOREVER stays what it is */
  net_chronon later; /* 0, 1 */
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

bool net_product_may_go_shortest(const struct net_product *product) {
  if (product->params.rule != NET_PRODUCT_OVERLAP) return false;
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
  bool event = ret->side->only->event;
  ret->expiry_slot = event ? ret->side->only->start_slot : ret->side->only->stop_slot;
  ret->later = event;
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
  uint32_t width = stream->width, key_slot = stream->key_slot, expiry_slot = stream->expiry_slot;
  net_chronon later = stream->later, limit = sweep->limit;
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
  if (sweep->met.end == sweep->met.items + MEETINGS) net_product_meet_all(&sweep->met, status);
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
  if (sweep->met.end == sweep->met.items + MEETINGS) net_product_meet_all(&sweep->met, status);
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
    if (sweep->old) net_product_meet_all(&sweep->met, status); /* old rows move */
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
    net_product_meet_all(&sweep->met, status);
  return count > 0 && *status == BASE_OK;
}

static void open_sweep(struct net_product *product, net_chronon checkpoint, struct sweep *ret) {
  ret->product = product;
  ret->met.product = product;
  ret->met.apart = NULL;
  ret->limit = checkpoint < LAST ? checkpoint : LAST;
  ret->old = net_old_count(product) > 0;
  ret->met.end = ret->met.items;
  ret->none = ret->unused = (struct net_live){.expires = NET_BEGINNING, .marks = NET_DEFINITE};
  ret->none.pairs = NET_NO_PAIR;
}

bool net_product_sweep_shortest(struct net_product *product, const size_t *ends,
                                net_chronon checkpoint, enum base_status *status) {
  struct sweep sweep;
  open_sweep(product, checkpoint, &sweep);
  for (unsigned i = 0; i < 2; i++) open_stream(product, i, ends[i], &sweep.streams[i]);
  while (take_next(&sweep, status)) continue;
  if (*status == BASE_OK) net_product_meet_all(&sweep.met, status);
  for (unsigned i = 0; i < 2; i++) close_stream(product, i, ends[i], &sweep.streams[i]);
  give_rows(product, NULL);
  return !sweep.streams[0].stopped && !sweep.streams[1].stopped;
}

/* --- both sides in one order */

/* A row of a run, in its group: LIVE stands there in the place of BEFORE, which was the one of its side. */
struct link {
  struct net_live live; /* mostly the same for all (init_links) */
  struct net_live *before;
  struct net_product_group *group;
};

struct links {
  struct link items[LINKS];
  const uint8_t *sides;
  uint8_t firsts[LINKS]; /* those before which none of these was in the group on their side */
  size_t count, first_count;
};

static void init_links(struct links *links, size_t count) {
  if (count > LINKS) count = LINKS;
  for (size_t i = 0; i < count; i++)
    links->items[i].live = (struct net_live){.pairs = NET_NO_PAIR, .marks = NET_DEFINITE};
}

/* Rows of RUN from FROM to END - 1 come into their groups, and meet what is there. What is written in a group
 * depends on nothing that was read there, so that no row waits for the one before it. False: a group is new, or
 * one meets more than one row, or the one before it on its side is not over. KEYED: their keys are
 * at KEY, KEY_BY slots on for each. PERIODS: those of both sides expire at the same slot, no later. */
static inline __attribute__((always_inline)) bool link_these(
    struct sweep *sweep, const struct net_product_run *run, size_t from, size_t count,
    const int64_t *key, size_t key_by, bool keyed, bool periods, struct links *links) {
  const struct net_product *product = sweep->product;
  const struct stream *streams = sweep->streams;
  const uint32_t expiry_slots[2] = {streams[0].expiry_slot, streams[1].expiry_slot};
  const net_chronon later[2] = {streams[0].later, streams[1].later};
  bool simple = true;
  uint32_t width = run->width, expiry_slot = expiry_slots[0];
  const union net_slot *row = run->rows + from * width;
  struct net_meeting *met = sweep->met.end;
  const uint8_t *sides = links->sides = run->sides + from;
  uintptr_t ahead = run->ahead + from * run->ahead_by;
  size_t first_count = 0, at = 0;
  for (struct link *link = links->items; at < count; at++, row += width, link++, key += key_by) {
    size_t which = sides[at];
    struct turn turn = {.row = row, .now = row[0].i};
    __builtin_prefetch((const void *)ahead);
    ahead += run->ahead_by;
    turn.expires = row[periods ? expiry_slot : expiry_slots[which]].i;
    if (!periods) turn.expires += later[which] & -(net_chronon)(turn.expires != NET_FOREVER);
    turn.hash = keyed ? (uint64_t)*key : net_product_hash(product, (unsigned)which, row);
    struct net_product_group *group = net_product_group(product, turn.hash);
    struct net_live *before = group->heads[which], *its = group->heads[which ^ 1];
    if (((uintptr_t)before | (uintptr_t)its) == 0) break;
    links->firsts[first_count] = (uint8_t)at;
    first_count += (uintptr_t)before - (uintptr_t)links->items >= sizeof links->items;
    link->live.expires = turn.expires;
    link->live.row = (union net_slot *)row;
    link->before = before;
    link->group = group;
    group->heads[which] = &link->live;
    its = its == NULL ? &sweep->none : its;
    before = before == NULL ? &sweep->none : before;
    met->hash = turn.hash;
    met = note_meeting(met, which, &turn, its);
    simple &= ((uintptr_t)its->next | (uintptr_t)before->next) == 0 &&
              before->expires <= turn.now && before->pairs == NET_NO_PAIR;
  }
  links->count = at;
  links->first_count = first_count;
  if (!simple || at < count) return false;
  sweep->met.end = met;
  return true;
}

static bool link_rows(struct sweep *sweep, const struct net_product_run *run, size_t from,
                      size_t count, struct links *links) {
  const struct stream *streams = sweep->streams;
  const int64_t *key = &run->rows[from * run->width + streams[0].key_slot].i;
  size_t key_by = run->width;
  bool keyed = sweep->product->hashed_keys == 1 && streams[0].key_slot == streams[1].key_slot;
  bool periods = streams[0].expiry_slot == streams[1].expiry_slot &&
                 (streams[0].later | streams[1].later) == 0;
  if (run->keys != NULL) {
    keyed = true;
    key = run->keys + from;
    key_by = 1;
  }
  if (!keyed) return link_these(sweep, run, from, count, key, key_by, false, false, links);
  return periods ? link_these(sweep, run, from, count, key, key_by, true, true, links)
                 : link_these(sweep, run, from, count, key, key_by, true, false, links);
}

static void unlink_rows(struct links *links) {
  while (links->count-- > 0) {
    struct link *link = &links->items[links->count];
    link->group->heads[links->sides[links->count]] = link->before;
  }
}

/* The last row of each group and side is live from now on, unless it is over before NEXT. */
static void settle_links(struct sweep *sweep, const struct links *links, net_chronon next) {
  struct net_product *product = sweep->product;
  for (size_t i = 0; i < links->first_count; i++) {
    const struct link *link = &links->items[links->firsts[i]];
    unsigned which = links->sides[links->firsts[i]];
    struct net_live *live = link->before, **head = &link->group->heads[which];
    const struct net_live *last = *head;
    *head = live;
    if (last->expires <= next) continue;
    if (live == NULL) {
      live = *head = net_product_take(&product->sides[which]);
      live->next = NULL;
      live->pairs = NET_NO_PAIR;
      live->state = (uint8_t)(NET_LIVE_USED | NET_LIVE_PLAIN | NET_LIVE_IN_CHAIN |
                              (which ? NET_LIVE_RIGHT : 0));
      live->row = net_live_own(live);
      product->sides[which].live_count++;
    }
    if (live->row == net_live_own(live)) product->borrowed[product->borrowed_count++] = live;
    live->row = last->row;
    live->expires = last->expires;
    live->marks = NET_DEFINITE;
  }
}

/* When the row at END starts, or what follows. */
static inline net_chronon starts_after(const struct sweep *sweep, const struct net_product_run *run,
                                       size_t end) {
  return end < run->count ? run->rows[end * run->width].i : sweep->limit;
}

/* Rows of RUN from FROM to END - 1, all together; false: nothing is done, they are to be taken one by one. */
static bool take_together(struct sweep *sweep, const struct net_product_run *run, size_t from,
                          size_t end, struct links *links) {
  if (!link_rows(sweep, run, from, end - from, links)) {
    unlink_rows(links);
    return false;
  }
  settle_links(sweep, links, starts_after(sweep, run, end));
  return true;
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
    struct turn turn = {.row = row, .now = row[0].i, .expires = row[stream->expiry_slot].i};
    turn.expires += stream->later & -(net_chronon)(turn.expires != NET_FOREVER);
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
  struct links links;
  init_links(&links, run->count);
  unsigned misses = 0;
  for (size_t from = 0, end; from < run->count && *status == BASE_OK; from = end) {
    size_t looked = product->steps / 4096;
    end = run->count - from < LINKS ? run->count : from + LINKS;
    if (product->steps > product->patience && run->keys == NULL) {
      if (sweep.old) net_product_meet_all(&sweep.met, status); /* old rows move */
      net_product_hash_all(product);
    }
    base_grow(&product->borrowed, &product->borrowed_capacity, product->borrowed_count + LINKS + 1,
              sizeof *product->borrowed);
    if (misses == MISSES || sweep.old || !take_together(&sweep, run, from, end, &links)) {
      misses += misses < MISSES && !sweep.old;
      take_run(&sweep, run, from, end, status);
    }
    product->steps += end - from;
    product->patience += 4 * (end - from);
    if (product->steps / 4096 != looked && base_env_interrupted()) *status = BASE_CANCEL;
    if (*status == BASE_OK && net_met_count(&sweep.met) > MEETINGS - LINKS)
      net_product_meet_all(&sweep.met, status);
  }
  if (*status == BASE_OK) net_product_meet_all(&sweep.met, status);
  give_rows(product, sweep.met.apart);
}
