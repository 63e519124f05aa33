/* The sweep of a product: rows of both sides in temporal order, each combined with the live rows of the
 * other side that have the same key. See product.c.
 *
 * Plain rows have a short way (arrive_plain); where the live rows are plain, too, and nothing else waits before
 * them, a shortest one (sweep_shortest): whose turn it is is found for many rows at a time, and so are groups.
 * A row that will have expired when the next row of the other side begins meets none, and is not kept.  */
#include "engine/base/env.h"
#include "engine/nodes/product.h"

static bool keys_equal(const struct net_product *product, const union net_slot *left,
                       const union net_slot *right) {
  for (size_t i = 0; i < product->params.key_count; i++) {
    const struct net_join_key *key = &product->params.keys[i];
    if (left[key->left_slot].i != right[key->right_slot].i) return false;
  }
  return true;
}

/* --- plain rows */

/* LEFT and RIGHT, both plain, have in common what begins at NOW and ends at STOP. Writes a row of LAYOUT,
 * that of the result or of the predicate. */
static inline void fill_plain(const struct net_product *product, const struct net_layout *layout,
                              const union net_slot *left, const union net_slot *right,
                              net_chronon now, net_chronon stop, union net_slot *ret) {
  const union net_slot *const rows[2] = {left, right};
  uint32_t first = layout->first_domain_slot, count = layout->slot_count - first;
  ret[0].i = ret[1].i = now;
  if (first == 4) ret[2].i = ret[3].i = stop;
  for (uint32_t i = 0; i < count; i++)
    ret[first + i] = rows[product->slots[i].side][product->slots[i].from];
}

static inline void meet_plain(struct net_product *product, const union net_slot *left,
                              const union net_slot *right, uint8_t marks, net_chronon now,
                              net_chronon stop, enum base_status *status) {
  const struct net_program *predicate = product->params.predicate;
  const struct net_layout *out = product->node.layout;
  net_chronon bound = product->node.checkpoint;
  bool holds = predicate == NULL;
  if (product->quick != NULL) {
    const union net_slot times[4] = {{.i = now}, {.i = now}, {.i = stop}, {.i = stop}};
    if (net_pair_program_holds(product->quick, left, right, times, &holds) && !holds) return;
  }
  if (holds) {
    fill_plain(product, out, left, right, now, stop,
               marks == NET_DEFINITE ? net_out_plain(&product->node, bound, status)
                                     : net_out_row(&product->node, marks, 0, bound, status));
    return;
  }
  struct net_value value;
  fill_plain(product, product->params.test, left, right, now, stop, product->scratch);
  enum net_eval_error error = net_program_run(predicate, product->scratch, now, &value);
  if (error != NET_EVAL_OK)
    *status = net_node_error(&product->node, error, product->params.test, product->scratch);
  else if (value.truth == NET_TRUE && marks == NET_DEFINITE)
    net_row_copy(net_out_plain(&product->node, bound, status), product->scratch, out->slot_count);
  else if (value.truth != NET_FALSE)
    net_product_put(product, value.truth == NET_TRUE ? marks : 0, 0, bound, status);
}

/* --- any rows */

/* What is known of the row that arrives: it is plain; it ends before the checkpoint, besides, and so does
 * every stop of it that the result shows. */
struct arrival {
  bool plain, ended;
};

static void meet(struct net_product *product, unsigned which, struct net_live *live,
                 struct net_live *its, net_chronon now, struct arrival arrival,
                 enum base_status *status) {
  const union net_slot *left = net_live_row(which == 0 ? live : its);
  const union net_slot *right = net_live_row(which == 0 ? its : live);
  if (product->params.key_count > 1 && !keys_equal(product, left, right)) return;
  uint8_t marks = live->marks & its->marks & NET_DEFINITE;
  /* The close of one that starts now may still be waiting, with a stop before the checkpoint. */
  bool lasts = (its->state & NET_LIVE_LASTS) && net_live_row(its)[0].i < now;
  if ((arrival.plain && (its->state & NET_LIVE_PLAIN)) || (arrival.ended && lasts)) {
    net_chronon stop = its->expires < live->expires ? its->expires : live->expires;
    meet_plain(product, left, right, marks, now, stop, status);
  } else if ((live->state | its->state) & NET_LIVE_OPEN) {
    net_product_add_pair(product, which == 0 ? live : its, which == 0 ? its : live);
  } else {
    net_product_combine(product, left, right, false, now);
    enum net_truth truth = net_product_judge(product, left, right, now, status).truth;
    if (truth != NET_FALSE)
      net_product_put(product, truth == NET_TRUE ? marks : 0, 0, product->node.checkpoint, status);
  }
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
  bool plain = (live->state & NET_LIVE_PLAIN) && (full || live->expires > now);
  bool ended = plain && !full && !product->sides[which].shows_later &&
               live->expires <= checkpoint && live->expires != NET_FOREVER;
  struct net_live **at = &net_product_group(product, hash)->heads[1 - which];
  while (*at != NULL && *status == BASE_OK) {
    if ((++product->steps & 4095) == 0 && base_env_interrupted()) *status = BASE_CANCEL;
    if (net_product_is_over((*at)->expires, now)) {
      net_product_drop(other, at);
      continue;
    }
    meet(product, which, live, *at, now, (struct arrival){plain, ended}, status);
    at = &(*at)->next;
  }
}

/* --- the short way */

/* When a plain row of side WHICH expires. */
static inline net_chronon expires_plain(const struct net_product *product, unsigned which,
                                        const union net_slot *row) {
  const struct net_participant *only = product->sides[which].only;
  if (only == NULL) return net_product_expires(product, which, row);
  if (!only->event) return row[only->stop_slot].i;
  net_chronon at = row[only->start_slot].i;
  return at == NET_FOREVER ? at : at + 1;
}

static inline struct net_live *add_plain(struct net_product_side *side, const union net_slot *row,
                                         net_chronon expires) {
  struct net_live *live = side->free_list;
  if (live != NULL) {
    side->free_list = live->next;
  } else {
    live = net_product_take(side);
  }
  *live = (struct net_live){.expires = expires,
                            .pairs = NET_NO_PAIR,
                            .marks = NET_DEFINITE,
                            .state = NET_LIVE_USED | NET_LIVE_PLAIN};
  side->live_count++;
  net_row_copy(net_live_row(live), row, side->layout->slot_count);
  return live;
}

/* Is all known of what a plain row that starts NOW and EXPIRES then has in common with others, those that
 * are open included, which last at least to CHECKPOINT? (The close of one that starts now may still be
 * waiting.) */
static inline bool is_settled(const struct net_product *product, unsigned which, net_chronon now,
                              net_chronon expires, net_chronon checkpoint) {
  const struct net_product_side *other = &product->sides[1 - which];
  bool overlap = product->params.rule == NET_PRODUCT_OVERLAP;
  if (overlap && expires <= now) return false;
  if (other->odd_count > 0) return false;
  return other->lasting_count == 0 ||
         (overlap && !product->sides[which].shows_later && expires <= checkpoint &&
          expires != NET_FOREVER && other->last_lasting < now);
}

/* A row of a plain batch. No row of the other side that is still to come starts before NEXT. */
static inline __attribute__((always_inline)) void arrive_plain(
    struct net_product *product, unsigned which, const union net_slot *row, net_chronon now,
    net_chronon next, net_chronon checkpoint, enum base_status *status) {
  struct net_product_side *own = &product->sides[which], *other = &product->sides[1 - which];
  net_chronon expires = expires_plain(product, which, row);
  if (!is_settled(product, which, now, expires, checkpoint)) {
    arrive(product, which, row, now, NET_DEFINITE, 0, status);
    return;
  }
  net_product_arrives(product);
  uint64_t hash = net_product_hash(product, which, row);
  struct net_product_group *group = net_product_group(product, hash);
  bool was = group->heads[0] != NULL || group->heads[1] != NULL;
  struct net_live **at = &group->heads[1 - which];
  while (*at != NULL && *status == BASE_OK) {
    struct net_live *its = *at;
    if ((++product->steps & 4095) == 0 && base_env_interrupted()) *status = BASE_CANCEL;
    if (net_product_is_over(its->expires, now)) {
      net_product_drop(other, at);
      continue;
    }
    const union net_slot *left = which == 0 ? row : net_live_row(its);
    const union net_slot *right = which == 0 ? net_live_row(its) : row;
    if (product->params.key_count < 2 || keys_equal(product, left, right))
      meet_plain(product, left, right, its->marks & NET_DEFINITE, now,
                 its->expires < expires ? its->expires : expires, status);
    at = &its->next;
  }
  /* What went before it on its own side is mostly over now. */
  struct net_live **head = &group->heads[which];
  if (*head != NULL && net_product_is_over((*head)->expires, now)) net_product_drop(own, head);
  if (*head != NULL && net_product_is_over((*head)->expires, now)) net_product_drop(own, head);
  if (!net_product_is_over(expires, next)) {
    struct net_live *live = add_plain(own, row, expires);
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

/* --- the shortest way
 *
 * Where every live row is plain, too, and each side is one tuple's, nothing about a row has to be asked but
 * its start, its key, and when it expires; and what takes the place of a row that is over takes its memory. */

/* Of one side: what waits, and where in its rows is what. */
struct stream {
  const union net_slot *row, *end; /* those that wait */
  struct net_product_side *side;
  uint32_t width, key_slot;
  uint32_t
      expiry_slot; /* a row expires at the time there, and so much later; FOREVER stays what it is */
  net_chronon later;
};

/* A row; before which time none of the other side comes any more; where its group was last seen. */
struct turn {
  const union net_slot *row;
  net_chronon next;
  uint64_t hash;
  uint32_t place, which;
};

/* Whose turn it is nobody can predict, so the order is made first, without a branch that depends on it; then
 * the groups are looked up together. */
enum { TURNS = 128 };

static bool may_go_shortest(const struct net_product *product) {
  if (product->params.rule != NET_PRODUCT_OVERLAP) return false;
  for (unsigned which = 0; which < 2; which++) {
    const struct net_product_side *side = &product->sides[which];
    if (side->only == NULL || side->odd_count > 0 || side->lasting_count > 0) return false;
  }
  return true;
}

/* Of the rows that wait those before END, an index. */
static void open_stream(struct net_product *product, unsigned which, size_t end,
                        struct stream *ret) {
  const struct net_inbox_port *port = &product->inbox.ports[which];
  struct net_product_side *side = &product->sides[which];
  const struct net_join_key *key = product->params.keys;
  bool event = side->only->event, keyed = product->params.key_count > 0;
  *ret = (struct stream){.row = net_inbox_row(port, &port->starts, port->starts.head),
                         .end = net_inbox_row(port, &port->starts, end),
                         .side = side,
                         .width = side->layout->slot_count,
                         .key_slot = !keyed       ? 0
                                     : which == 0 ? key->left_slot
                                                  : key->right_slot,
                         .expiry_slot = event ? side->only->start_slot : side->only->stop_slot,
                         .later = event};
}

static void close_stream(struct net_product *product, unsigned which, size_t end,
                         const struct stream *stream) {
  product->inbox.ports[which].starts.head =
      end - (size_t)(stream->end - stream->row) / stream->width;
}

/* The next rows of both before CHECKPOINT, in the order of time; returns how many. */
static size_t take_turns(struct stream *streams, net_chronon checkpoint, struct turn *turns) {
  const union net_slot *left = streams[0].row, *right = streams[1].row;
  const union net_slot *left_end = streams[0].end, *right_end = streams[1].end;
  size_t left_width = streams[0].width, right_width = streams[1].width, count = 0;
  net_chronon last = checkpoint == NET_FOREVER ? NET_FOREVER : checkpoint - 1;
  while (count < TURNS && left < left_end && right < right_end) {
    net_chronon left_start = left->i, right_start = right->i;
    size_t which = right_start < left_start;
    net_chronon now = which ? right_start : left_start, next = which ? left_start : right_start;
    if (now > last) break;
    turns[count++] = (struct turn){.row = which ? right : left,
                                   .next = next < checkpoint ? next : checkpoint,
                                   .which = (uint32_t)which};
    left += left_width & (which - 1);
    right += right_width & -which;
  }
  for (; count < TURNS && right == right_end && left < left_end && left->i <= last;
       left += left_width)
    turns[count++] = (struct turn){.row = left, .next = checkpoint, .which = 0};
  for (; count < TURNS && left == left_end && right < right_end && right->i <= last;
       right += right_width)
    turns[count++] = (struct turn){.row = right, .next = checkpoint, .which = 1};
  streams[0].row = left;
  streams[1].row = right;
  return count;
}

/* The turns from FROM on have not been. */
static void give_back(struct stream *streams, const struct turn *turns, size_t from, size_t count) {
  for (size_t i = from; i < count; i++)
    streams[turns[i].which].row -= streams[turns[i].which].width;
}

enum { FAR_GROUPS = 2048 };

/* Where the groups of the next COUNT rows are. Of many, their rows are brought nearer. */
static void find_groups(const struct net_product *product, const struct stream *streams,
                        struct turn *turns, size_t count) {
  bool far = product->group_capacity >= FAR_GROUPS, single = product->hashed_keys == 1;
  for (size_t i = 0; i < count; i++) {
    struct turn *turn = &turns[i];
    turn->hash =
        single ? (uint64_t)turn->row[streams[turn->which].key_slot].i * UINT64_C(0x9e3779b97f4a7c15)
               : net_product_hash(product, turn->which, turn->row);
    const struct net_product_group *group = net_product_group(product, turn->hash);
    turn->place = (uint32_t)(group - product->groups);
    for (unsigned side = 0; side < 2 && far; side++) __builtin_prefetch(group->heads[side]);
  }
}

/* The group of TURN, or where it belongs: mostly where it was. */
static inline struct net_product_group *group_of(const struct net_product *product,
                                                 const struct turn *turn, uint64_t hash) {
  struct net_product_group *group = &product->groups[turn->place];
  bool is_there = group->hash == hash && (group->heads[0] != NULL || group->heads[1] != NULL);
  return is_there ? group : net_product_group(product, hash);
}

/* The hash of a single key is that of no other. */
static inline bool others_equal(const struct net_product *product, const union net_slot *left,
                                const union net_slot *right) {
  for (size_t i = product->hashed_keys == 1; i < product->params.key_count; i++) {
    const struct net_join_key *key = &product->params.keys[i];
    if (left[key->left_slot].i != right[key->right_slot].i) return false;
  }
  return true;
}

/* LIVE is over, and a ROW of its side and its group takes its place. */
static inline void replace(struct net_live *live, const union net_slot *row, uint32_t width,
                           net_chronon expires) {
  union net_slot *to = net_live_row(live);
  uint32_t i = 0;
  live->expires = expires;
  live->marks = NET_DEFINITE;
  for (; i + 2 <= width; i += 2) memcpy(to + i, row + i, 2 * sizeof *to);
  if (i < width) to[i] = row[i];
}

/* ROW, of side WHICH, which is live from now on. */
static inline void keep_shortest(struct net_product *product, unsigned which,
                                 struct net_product_group *group, uint64_t hash,
                                 const union net_slot *row, net_chronon expires, bool was) {
  struct net_live *live = add_plain(&product->sides[which], row, expires);
  if (!was) {
    net_product_chain(product, which, live, hash);
    return;
  }
  live->next = group->heads[which];
  live->state |= NET_LIVE_IN_CHAIN;
  group->heads[which] = live;
}

/* The same as meet_plain; where it is one comparison that says whether there is a result, it is written in any
 * case, and counts or not: there, too, is no branch. */
static inline void meet_shortest(struct net_product *product, const union net_slot *left,
                                 const union net_slot *right, uint8_t marks, net_chronon now,
                                 net_chronon stop, enum base_status *status) {
  const struct net_pair_program *quick = product->quick;
  const union net_slot times[4] = {{.i = now}, {.i = now}, {.i = stop}, {.i = stop}};
  bool holds = product->params.predicate == NULL;
  bool known = holds || (quick != NULL && quick->compares &&
                         net_pair_program_holds(quick, left, right, times, &holds));
  if (!known || marks != NET_DEFINITE) {
    meet_plain(product, left, right, marks, now, stop, status);
    return;
  }
  const struct net_layout *out = product->node.layout;
  union net_slot *row = net_out_plain(&product->node, product->node.checkpoint, status);
  const struct net_product_moves *moves = &product->moves;
  const union net_slot *const rows[2] = {left, right};
  row[0] = row[1] = times[0];
  if (out->first_domain_slot == 4) row[2] = row[3] = times[2];
  for (uint32_t i = 0; i < moves->double_count; i++)
    memcpy(row + moves->doubles[i].to, rows[moves->doubles[i].side] + moves->doubles[i].from,
           2 * sizeof *row);
  for (uint32_t i = 0; i < moves->single_count; i++)
    row[moves->singles[i].to] = rows[moves->singles[i].side][moves->singles[i].from];
  product->node.out.count -= !holds;
}

/* A row that has its turn, and expires at EXPIRES. */
static inline void arrive_shortest(struct net_product *product, const struct stream *streams,
                                   const struct turn *turn, net_chronon expires,
                                   enum base_status *status) {
  const union net_slot *row = turn->row;
  unsigned which = turn->which;
  const struct stream *own = &streams[which], *other = &streams[1 - which];
  net_chronon now = row[0].i;
  bool several = product->params.key_count > 1;
  uint64_t hash = turn->hash;
  if (several) {
    net_product_arrives(product);
    hash = net_product_hash(product, which, row);
  }
  struct net_product_group *group = group_of(product, turn, hash);
  bool was = group->heads[0] != NULL || group->heads[1] != NULL;
  for (struct net_live **at = &group->heads[1 - which], *its; (its = *at) != NULL;) {
    if ((++product->steps & 4095) == 0 && base_env_interrupted()) *status = BASE_CANCEL;
    if (*status != BASE_OK) return;
    if (net_product_is_over(its->expires, now)) {
      net_product_drop(other->side, at);
      continue;
    }
    const union net_slot *left = which == 0 ? row : net_live_row(its);
    const union net_slot *right = which == 0 ? net_live_row(its) : row;
    if (!several || others_equal(product, left, right))
      meet_shortest(product, left, right, its->marks & NET_DEFINITE, now,
                    its->expires < expires ? its->expires : expires, status);
    at = &its->next;
  }
  /* What went before it on its own side is mostly over now. */
  struct net_live **head = &group->heads[which], *live = *head;
  bool stays = !net_product_is_over(expires, turn->next);
  if (live != NULL && net_product_is_over(live->expires, now)) {
    if (live->next != NULL && net_product_is_over(live->next->expires, now))
      net_product_drop(own->side, &live->next);
    if (stays && live->pairs == NET_NO_PAIR) {
      replace(live, row, own->width, expires);
      return;
    }
    net_product_drop(own->side, head);
  }
  if (stays) {
    keep_shortest(product, which, group, hash, row, expires, was);
  } else if (was && *head == NULL && group->heads[1 - which] == NULL) {
    net_product_leave(product, group);
  }
}

/* Of the rows before ENDS, by side. False: the next one cannot go this way, or *STATUS; true: all before
 * CHECKPOINT, before which none comes any more, are taken. */
static bool sweep_shortest(struct net_product *product, const size_t *ends, net_chronon checkpoint,
                           enum base_status *status) {
  struct stream streams[2];
  struct turn turns[TURNS];
  size_t count, taken = 0;
  for (unsigned i = 0; i < 2; i++) open_stream(product, i, ends[i], &streams[i]);
  do {
    count = take_turns(streams, checkpoint, turns);
    find_groups(product, streams, turns, count);
    for (taken = 0; taken < count && *status == BASE_OK; taken++) {
      const struct stream *own = &streams[turns[taken].which];
      net_chronon expires = turns[taken].row[own->expiry_slot].i;
      expires += own->later & (expires != NET_FOREVER);
      if (expires <= turns[taken].row[0].i) break;
      arrive_shortest(product, streams, &turns[taken], expires, status);
    }
  } while (count > 0 && taken == count && *status == BASE_OK);
  give_back(streams, turns, taken, count);
  for (unsigned i = 0; i < 2; i++) close_stream(product, i, ends[i], &streams[i]);
  return count == 0;
}

static void sweep_plain(struct net_product *product, net_chronon checkpoint,
                        enum base_status *status) {
  const size_t ends[2] = {product->inbox.ports[0].starts.count,
                          product->inbox.ports[1].starts.count};
  do {
    if (may_go_shortest(product) && sweep_shortest(product, ends, checkpoint, status)) return;
  } while (*status == BASE_OK && step_plain(product, checkpoint, status));
}

/* So many plain rows are worth the beginning. */
enum { LONG_RUN = 16 };

/* What waits before anything that is not plain, as far as ENDS, which go on from call to call. */
static void sweep_run(struct net_product *product, size_t *ends, net_chronon checkpoint,
                      enum base_status *status) {
  net_chronon limit = checkpoint, first = NET_FOREVER;
  size_t run = 0;
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
  if (run >= LONG_RUN && first < limit && may_go_shortest(product))
    (void)sweep_shortest(product, ends, limit, status);
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
      net_product_close(product, which, row, item.id);
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
