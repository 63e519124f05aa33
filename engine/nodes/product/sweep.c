/* The sweep of a product: rows of both sides in temporal order, each combined with the live rows of the
 * other side that have the same key. See product.c.
 *
 * Plain rows have a short way (arrive_plain); where the live rows are plain, too, and nothing else waits before
 * them, a shortest one (runs.c).
 * A row that will have expired when the next row of the other side begins meets none, and is not kept. Nor is one of
 * which one combination is enough (NET_PRODUCT_ONCE), once it has gone out for sure.                   */
#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/nodes/product/emit.h"

/* --- plain rows */

/* --- any rows */

/* What is known of the row that arrives: it is plain; it ends before the checkpoint, besides, and so does
 * every stop of it that the result shows. */
struct arrival {
  bool plain, ended;
};

/* True: plain rows met, for sure. */
static bool meet(struct net_product *product, unsigned which, struct net_live *live,
                 struct net_live *its, net_chronon now, struct arrival arrival,
                 enum base_status *status) {
  const union net_slot *left = net_live_row(which == 0 ? live : its);
  const union net_slot *right = net_live_row(which == 0 ? its : live);
  if (product->params.key_count > 1 && !net_product_keys_equal(product, left, right)) return false;
  uint8_t marks = live->marks & its->marks & NET_DEFINITE;
  /* The close of one that starts now may still be waiting, with a stop before the checkpoint. */
  bool lasts = (its->state & NET_LIVE_LASTS) && net_live_row(its)[0].i < now;
  if ((arrival.plain && (its->state & NET_LIVE_PLAIN)) || (arrival.ended && lasts)) {
    net_chronon stop = net_live_ends(product, which, live);
    net_chronon other = net_live_ends(product, 1 - which, its);
    return net_product_emit_plain(product, left, right, marks, now, other < stop ? other : stop,
                                  status);
  } else if ((live->state | its->state) & NET_LIVE_OPEN) {
    net_product_add_pair(product, which == 0 ? live : its, which == 0 ? its : live);
  } else {
    net_product_combine(product, left, right, false, now);
    enum net_truth truth = net_product_judge(product, left, right, now, status).truth;
    if (truth != NET_FALSE) net_product_make_room(product, now, status);
    if (truth != NET_FALSE)
      net_product_put(product, truth == NET_TRUE ? marks : 0, 0, product->node.checkpoint, status);
  }
  return false;
}

/* LIVE, of side WHICH, has met another for sure: is that enough? */
static inline bool is_done(const struct net_product *product, unsigned which,
                           const struct net_live *live) {
  return net_product_is_once(product, which) && (live->state & NET_LIVE_PLAIN);
}

/* LIVE, of a group of HASH, meets old rows. True: one combination of it is enough, and has gone out. */
static bool arrive_old(struct net_product *product, unsigned which, struct net_live *live,
                       uint64_t hash, net_chronon now, struct arrival arrival,
                       enum base_status *status) {
  struct net_old_walk walk;
  const union net_slot *row = net_live_row(live);
  if (!net_old_begin(product, 1 - which, hash, now, &walk)) return false;
  while (net_old_next(&walk, now)) {
    const union net_slot *its = net_live_row(&walk.live);
    if ((++product->steps & 4095) == 0 && base_env_interrupted()) *status = BASE_CANCEL;
    if (*status != BASE_OK ||
        !net_product_keys_equal(product, which == 0 ? row : its, which == 0 ? its : row))
      continue;
    bool open = (live->state & NET_LIVE_OPEN) != 0;
    struct net_live *other = open ? net_old_make_young(&walk) : &walk.live;
    if (!meet(product, which, live, other, now, arrival, status)) continue;
    if (is_done(product, 1 - which, other)) net_old_drop(&walk);
    if (!is_done(product, which, live)) continue;
    net_old_end(&walk);
    return true;
  }
  return false;
}

/* LIVE, which is the last that came into the group of HASH on its side, is not wanted any more. */
static void drop_last(struct net_product *product, unsigned which, const struct net_live *live,
                      uint64_t hash) {
  struct net_product_group *group = net_product_group(product, hash);
  BASE_CHECK(group->heads[which] == live, "product-last");
  net_product_drop(&product->sides[which], &group->heads[which]);
  if (group->heads[0] == NULL && group->heads[1] == NULL) net_product_leave(product, group);
}

/* A row that starts NOW, with its marks and its id. */
static void arrive(struct net_product *product, unsigned which, const union net_slot *row,
                   net_chronon now, uint8_t row_marks, uint64_t id, enum base_status *status) {
  net_chronon checkpoint = net_inbox_checkpoint(&product->inbox);
  struct net_product_side *other = &product->sides[1 - which];
  net_product_arrives(product);
  uint64_t hash = net_product_hash(product, which, row);
  struct net_live *live = net_product_add(product, which, row, row_marks, id);
  net_product_chain(product, which, live, hash);
  /* Members of a combination made by the full rule may lie apart: then it expires before it begins. */
  bool full = product->params.rule == NET_PRODUCT_FULL;
  net_chronon ends = net_live_ends(product, which, live);
  bool plain = (live->state & NET_LIVE_PLAIN) && (full || ends > now);
  bool ended = plain && !full && !product->sides[which].shows_later && ends <= checkpoint &&
               ends != NET_FOREVER;
  struct net_live **at = &net_product_group(product, hash)->heads[1 - which];
  bool done = false;
  while (*at != NULL && *status == BASE_OK && !done) {
    if ((++product->steps & 4095) == 0 && base_env_interrupted()) *status = BASE_CANCEL;
    if (net_product_is_over((*at)->expires, now)) {
      net_product_drop(other, at);
      continue;
    }
    bool met = meet(product, which, live, *at, now, (struct arrival){plain, ended}, status);
    done = met && is_done(product, which, live);
    if (met && is_done(product, 1 - which, *at))
      net_product_drop(other, at);
    else
      at = &(*at)->next;
  }
  if (net_old_count(product) > 0 && !done)
    done = arrive_old(product, which, live, hash, now, (struct arrival){plain, ended}, status);
  if (done) drop_last(product, which, live, hash);
}

/* --- the short way */

static inline struct net_live *add_plain(struct net_product *product, unsigned which,
                                         const union net_slot *row, net_chronon expires) {
  struct net_product_side *side = &product->sides[which];
  struct net_live *live = side->free_list;
  if (live != NULL) {
    side->free_list = live->next;
  } else {
    live = net_product_take(side);
  }
  *live = (struct net_live){
      .expires = expires,
      .row = net_live_own(live),
      .pairs = NET_NO_PAIR,
      .marks = NET_DEFINITE,
      .state = (uint8_t)(NET_LIVE_USED | NET_LIVE_PLAIN | (which ? NET_LIVE_RIGHT : 0))};
  side->live_count++;
  net_row_copy(net_live_row(live), row, side->layout->slot_count);
  return live;
}

/* Is all known of what a plain row that starts NOW and ENDS then has in common with others, those that
 * are open included, which last at least to CHECKPOINT? (The close of one that starts now may still be
 * waiting.) */
static inline bool is_settled(const struct net_product *product, unsigned which, net_chronon now,
                              net_chronon ends, net_chronon checkpoint) {
  const struct net_product_side *other = &product->sides[1 - which];
  bool overlap = product->params.rule == NET_PRODUCT_OVERLAP;
  if (overlap && ends <= now) return false;
  if (other->odd_count > 0) return false;
  return other->lasting_count == 0 ||
         (overlap && !product->sides[which].shows_later && ends <= checkpoint &&
          ends != NET_FOREVER && other->last_lasting < now);
}

/* ROW, of side WHICH and a group of HASH, begins NOW and ENDS then. */
struct plain_arrival {
  struct net_product *product;
  unsigned which;
  const union net_slot *row;
  uint64_t hash;
  net_chronon now, ends;
  bool met;   /* ... one for sure, and one is enough */
  bool whole; /* ... for sure one that stays as long, and one such is enough */
};

/* ITS plain, or it stays as long as ROW; true: one combination of ITS is enough, and here it is. */
static inline bool meet_arrival(struct plain_arrival *arrival, const struct net_live *its,
                                enum base_status *status) {
  struct net_product *product = arrival->product;
  unsigned which = arrival->which;
  const union net_slot *its_row = net_live_row((struct net_live *)its), *row = arrival->row;
  net_chronon ends = arrival->ends, its_end = net_live_ends(product, 1 - which, its);
  bool whole = its_end >= ends && product->params.once == NET_PRODUCT_ONCE_WHOLE &&
               product->params.once_side == which;
  if (whole && arrival->whole) return false;
  if (!net_product_emit_plain(product, which == 0 ? row : its_row, which == 0 ? its_row : row,
                              its->marks & NET_DEFINITE, arrival->now,
                              its_end < ends ? its_end : ends, status))
    return false;
  arrival->met = net_product_is_once(product, which);
  arrival->whole |= whole;
  return is_done(product, 1 - which, its);
}

/* It meets old rows. */
static void arrive_plain_old(struct plain_arrival *arrival, enum base_status *status) {
  struct net_product *product = arrival->product;
  unsigned which = arrival->which;
  const union net_slot *row = arrival->row;
  struct net_old_walk walk;
  if (!net_old_begin(product, 1 - which, arrival->hash, arrival->now, &walk)) return;
  while (net_old_next(&walk, arrival->now)) {
    const union net_slot *its = net_live_row(&walk.live);
    const union net_slot *left = which == 0 ? row : its, *right = which == 0 ? its : row;
    if ((++product->steps & 4095) == 0 && base_env_interrupted()) *status = BASE_CANCEL;
    if (*status != BASE_OK || !net_product_keys_equal(product, left, right)) continue;
    if (meet_arrival(arrival, &walk.live, status)) net_old_drop(&walk);
    if (!arrival->met) continue;
    net_old_end(&walk);
    return;
  }
}

/* A row of a plain batch. No row of the other side that is still to come starts before NEXT. */
static inline __attribute__((always_inline)) void arrive_plain(
    struct net_product *product, unsigned which, const union net_slot *row, net_chronon now,
    net_chronon next, net_chronon checkpoint, enum base_status *status) {
  struct net_product_side *own = &product->sides[which], *other = &product->sides[1 - which];
  net_chronon expires = net_product_expires_quickly(product, which, row);
  net_chronon ends = own->bounded ? net_product_ends(own, row) : expires;
  if (!is_settled(product, which, now, ends, checkpoint)) {
    arrive(product, which, row, now, NET_DEFINITE, 0, status);
    return;
  }
  net_product_arrives(product);
  uint64_t hash = net_product_hash(product, which, row);
  struct net_product_group *group = net_product_group(product, hash);
  bool was = group->heads[0] != NULL || group->heads[1] != NULL;
  struct net_live **at = &group->heads[1 - which];
  struct plain_arrival arrival = {
      .product = product, .which = which, .row = row, .hash = hash, .now = now, .ends = ends};
  while (*at != NULL && *status == BASE_OK && !arrival.met) {
    struct net_live *its = *at;
    if ((++product->steps & 4095) == 0 && base_env_interrupted()) *status = BASE_CANCEL;
    if (net_product_is_over(its->expires, now)) {
      net_product_drop(other, at);
      continue;
    }
    const union net_slot *left = which == 0 ? row : net_live_row(its);
    const union net_slot *right = which == 0 ? net_live_row(its) : row;
    if ((product->params.key_count < 2 || net_product_keys_equal(product, left, right)) &&
        meet_arrival(&arrival, its, status))
      net_product_drop(other, at);
    else
      at = &its->next;
  }
  if (net_old_count(product) > 0 && !arrival.met) arrive_plain_old(&arrival, status);
  /* What went before it on its own side is mostly over now. */
  struct net_live **head = &group->heads[which];
  if (*head != NULL && net_product_is_over((*head)->expires, now)) net_product_drop(own, head);
  if (*head != NULL && net_product_is_over((*head)->expires, now)) net_product_drop(own, head);
  if (!net_product_is_over(expires, next) && !arrival.met) {
    struct net_live *live = add_plain(product, which, row, expires);
    if (!was) {
      net_product_chain(product, which, live, hash);
      return;
    }
    live->next = *head;
    live->state |= NET_LIVE_IN_CHAIN;
    *head = live;
  } else if (was && *head == NULL && group->heads[1 - which] == NULL) {
    net_product_leave(product, group);
  }
}

/* Of the rows that wait at PORT. One behind the checkpoint may be overtaken by rows that are still to come. */
static net_chronon first_start(const struct net_inbox_port *port, net_chronon checkpoint) {
  const struct net_inbox_queue *queue = &port->starts;
  if (queue->head == queue->count) return checkpoint;
  return net_inbox_row(port, queue, queue->head)[0].i;
}

/* Only starts wait, and all are plain: a merge of two queues. One row of it; false: there is none. */
static bool step_plain(struct net_product *product, net_chronon checkpoint,
                       enum base_status *status) {
  struct net_inbox_port *ports = product->inbox.ports;
  net_chronon starts[2];
  for (unsigned i = 0; i < 2; i++) starts[i] = first_start(&ports[i], checkpoint);
  unsigned which = starts[1] < starts[0];
  struct net_inbox_queue *queue = &ports[which].starts;
  if (queue->head == queue->count) which = 1 - which, queue = &ports[which].starts;
  net_chronon now = starts[which];
  if (queue->head == queue->count || (now >= checkpoint && checkpoint != NET_FOREVER)) return false;
  const union net_slot *row = net_inbox_row(&ports[which], queue, queue->head++);
  net_chronon next = starts[1 - which] < checkpoint ? starts[1 - which] : checkpoint;
  arrive_plain(product, which, row, now, next, checkpoint, status);
  return true;
}

static void sweep_plain(struct net_product *product, net_chronon checkpoint,
                        enum base_status *status) {
  const size_t ends[2] = {product->inbox.ports[0].starts.count,
                          product->inbox.ports[1].starts.count};
  do {
    if (net_product_takes_runs(product) &&
        net_product_sweep_runs(product, ends, checkpoint, status))
      return;
  } while (*status == BASE_OK && step_plain(product, checkpoint, status));
}

/* So many plain rows are worth the beginning. */
enum { LONG_RUN = 16 };

/* What waits before anything that is not plain, as far as ENDS, which go on from call to call. */
static void sweep_run(struct net_product *product, size_t *ends, net_chronon checkpoint,
                      enum base_status *status) {
  const struct net_inbox_queue *left = &product->inbox.ports[0].starts;
  const struct net_inbox_queue *right = &product->inbox.ports[1].starts;
  net_chronon limit = checkpoint, first = NET_FOREVER;
  size_t run = 0;
  if (left->count - left->head + right->count - right->head < LONG_RUN) return;
  for (unsigned i = 0; i < 2; i++) {
    const struct net_inbox_port *port = &product->inbox.ports[i];
    const struct net_inbox_queue *starts = &port->starts, *others = &port->others;
    if (ends[i] < starts->head) ends[i] = starts->head;
    while (ends[i] < starts->count && (starts->marks[ends[i]] & NET_INBOX_PLAIN)) ends[i]++;
    run += ends[i] - starts->head;
    if (ends[i] > starts->head && net_inbox_row(port, starts, starts->head)[0].i < first)
      first = net_inbox_row(port, starts, starts->head)[0].i;
    if (ends[i] < starts->count && net_inbox_row(port, starts, ends[i])[0].i < limit)
      limit = net_inbox_row(port, starts, ends[i])[0].i;
    if (others->head < others->count && others->times[others->head] < limit)
      limit = others->times[others->head];
  }
  if (run >= LONG_RUN && first < limit && net_product_takes_runs(product))
    (void)net_product_sweep_runs(product, ends, limit, status);
}

/* Anything waits. Runs of plain rows go the shortest way, where nothing in the live rows is against it; a row
 * that is plain by itself goes the short way all the same. */
static void sweep_mixed(struct net_product *product, net_chronon checkpoint,
                        enum base_status *status) {
  struct net_inbox_item item;
  const union net_slot *row;
  unsigned which;
  size_t ends[2] = {0, 0};
  for (;;) {
    if (*status == BASE_OK) sweep_run(product, ends, checkpoint, status);
    if (*status != BASE_OK || (row = net_inbox_next(&product->inbox, &item, &which)) == NULL)
      return;
    if (item.marks & NET_CLOSES) {
      net_product_touch(product, which, net_product_close(product, which, row, item.id));
    } else if (item.marks == NET_DEFINITE && item.id == 0 &&
               net_product_kind(&product->sides[which], row) == NET_LIVE_PLAIN) {
      net_chronon next = first_start(&product->inbox.ports[1 - which], checkpoint);
      if (next > checkpoint) next = checkpoint;
      arrive_plain(product, which, row, item.time, next, checkpoint, status);
    } else {
      arrive(product, which, row, item.time, item.marks, item.id, status);
    }
  }
}

/* The first row of QUEUE that is no start, if it is the close of one that starts before LIMIT. */
static bool is_early_close(const struct net_inbox_queue *queue, net_chronon limit) {
  return queue->head < queue->count && queue->times[queue->head] < limit &&
         (queue->marks[queue->head] & NET_CLOSES);
}

bool net_product_sweep_closes(struct net_product *product) {
  struct net_inbox_port *ports = product->inbox.ports;
  if (product->pairs_live == 0) return false;
  net_inbox_sort(&product->inbox);
  for (unsigned i = 0; i < 2; i++)
    if (first_start(&ports[i], product->settled) < product->settled) return false;
  for (unsigned which = 0; which < 2; which++) {
    struct net_inbox_queue *queue = &ports[which].others;
    for (; is_early_close(queue, product->settled); queue->head++) {
      const union net_slot *row = net_inbox_row(&ports[which], queue, queue->head);
      net_product_touch(product, which,
                        net_product_close(product, which, row, queue->ids[queue->head]));
    }
  }
  return true;
}

static bool all_plain(const struct net_inbox *inbox) {
  return inbox->ports[0].others.count == 0 && inbox->ports[1].others.count == 0 &&
         !inbox->ports[0].starts.mixed && !inbox->ports[1].starts.mixed;
}

void net_product_sweep(struct net_product *product, net_chronon checkpoint,
                       enum base_status *status) {
  net_inbox_sort(&product->inbox);
  if (all_plain(&product->inbox)) {
    sweep_plain(product, checkpoint, status);
  } else {
    sweep_mixed(product, checkpoint, status);
  }
  net_inbox_tidy(&product->inbox);
}
