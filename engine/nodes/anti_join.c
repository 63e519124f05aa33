/* Anti-join: rows of the left that have no partner on the right.
 *
 *      left  ──▶ ┌─────────────────┐
 *                │ keys, condition │ ──▶ out: rows of the left      order: any
 *      right ──▶ │                 │
 *                └─────────────────┘
 *
 * A row of the left is dropped when a definite row of the right is its partner for sure. It goes out, as it is, when
 * all that can be partners have come and none is one: when no instant at or after the checkpoint of the right could
 * satisfy the condition with it, and no pair of it waits for a stop that is open. If one was a partner perhaps, it is
 * not definite. Until then it waits, and holds the checkpoint back; so an absence is told when it is certain.
 *
 * Until when a row waits, and when a row of the right can be no partner of what comes, is found by asking the
 * condition about a row all of whose instants lie at a time or later (partners.c): it can only become false as that
 * time grows. Nothing needs to be known of its form, and what bounds a product in closed form bounds this node.
 *
 * State: rows of the left that wait, by id those open ones that went out; rows of the right that may still be partners.*/
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/binary_heap.h"
#include "engine/cells.h"
#include "engine/nodes/partners.h"

/* A row of either side that is kept. It is in the list of its group until it is GONE, and its cell is given back when
 * nothing refers to it any more. */
struct entry {
  struct entry *next, *previous; /* of its side, in the group */
  uint64_t id;
  net_chronon bound; /* open: its stops are at it or later, as is known of it alone */
  net_chronon first; /* no instant of it is before this, */
  net_chronon
      over; /* ... and none of a partner's is at or after this; NET_FOREVER: it is not known yet */
  uint32_t group;
  uint32_t references; /* in heaps, and by pairs that are not decided */
  uint32_t waiting;    /* left: such pairs */
  unsigned side : 1;
  unsigned gone : 1;
  unsigned open : 1;
  unsigned omega : 1; /* left: has a partner perhaps */
  uint8_t marks;
  union net_slot row[];
};

struct timed {
  net_chronon time;
  struct entry *entry;
};

static bool is_sooner(const struct timed *a, const struct timed *b, const void *context) {
  (void)context;
  return a->time < b->time;
}
BASE_BINARY_HEAP(soonest, struct timed, is_sooner);

struct queue {
  struct timed *items;
  size_t count, capacity;
};

struct group {
  struct entry *first[2], *last[2];
};

struct pair {
  struct entry *left, *right;
};

struct anti_join {
  struct net_node node;
  struct net_partners partners;
  struct net_rowmap groups;
  struct net_rowmap open[2]; /* by id: entries whose stop is not known */
  struct net_rowmap passed;  /* by id: open rows of the left that went out; their marks */
  struct net_cells cells[2];
  struct queue due[2]; /* left: when they can be decided; right: when they can be forgotten */
  struct queue starts; /* rows of the left that wait, by their starts */
  struct queue oldest; /* ... of combinations, by the earliest of their instants */
  struct pair *pairs;  /* undecided */
  size_t pair_count, pair_capacity;
  net_chronon checkpoints[2], lasting[2];
  struct net_partners_guess guesses[2], lost_guess;
  bool of_combinations;        /* rows of the left have instants beside their own time */
  union net_slot *input_floor; /* of the left; NULL: nothing is known */
  union net_slot *floor;       /* a row */
  size_t rows[2];
  net_chronon put_bound; /* of the rows in the output */
  enum base_status status;
};

static net_chronon smaller(net_chronon a, net_chronon b) {
  return a < b ? a : b;
}

/* --- entries */

static void release(struct anti_join *node, struct entry *entry) {
  if (!entry->gone || entry->references > 0 || entry->open) return;
  net_cells_give(&node->cells[entry->side], entry);
}

static void drop(struct anti_join *node, struct entry *entry) {
  if (entry->gone) return;
  struct group *group = net_rowmap_state(&node->groups, entry->group);
  if (entry->previous == NULL)
    group->first[entry->side] = entry->next;
  else
    entry->previous->next = entry->next;
  if (entry->next == NULL)
    group->last[entry->side] = entry->previous;
  else
    entry->next->previous = entry->previous;
  if (group->first[0] == NULL && group->first[1] == NULL)
    net_rowmap_remove(&node->groups, entry->group);
  entry->gone = true;
  node->rows[entry->side]--;
}

static void enqueue(struct queue *queue, net_chronon time, struct entry *entry) {
  base_grow_little(&queue->items, &queue->capacity, queue->count + 1, sizeof *queue->items);
  soonest_up(queue->items, queue->count++, (struct timed){time, entry}, NULL);
  entry->references++;
}

/* The first of QUEUE, which has one, leaves it. */
static struct entry *dequeue(struct queue *queue) {
  struct entry *entry = queue->items[0].entry;
  queue->count--;
  soonest_down(queue->items, queue->count, 0, queue->items[queue->count], NULL);
  entry->references--;
  return entry;
}

/* Those that are gone leave QUEUE when they are more than those that are not, of which there are so many at most. */
static void tidy(struct anti_join *node, struct queue *queue, size_t live) {
  size_t kept = 0;
  if (queue->count < 2 * live + 64) return;
  for (size_t i = 0; i < queue->count; i++) {
    struct timed item = queue->items[i];
    if (!item.entry->gone) {
      queue->items[kept++] = item;
      continue;
    }
    item.entry->references--;
    release(node, item.entry);
  }
  queue->count = kept;
  base_shrink(&queue->items, &queue->capacity, kept, sizeof *queue->items);
  soonest_make(queue->items, kept, NULL);
}

/* The instants of ENTRY are known now, and with them when everything that may be a partner has come. */
static void find_over(struct anti_join *node, struct entry *entry) {
  entry->over =
      net_partners_over(&node->partners, !entry->side, entry->row, &node->guesses[entry->side]);
}

static net_chronon oldest_of(const struct net_layout *layout, const union net_slot *row) {
  net_chronon oldest = row[0].i;
  for (uint32_t f = 0; f < layout->field_count; f++) {
    net_chronon at = row[layout->fields[f].slot].i;
    if (layout->fields[f].type.base == NET_INSTANT && at != NET_OPEN) oldest = smaller(oldest, at);
  }
  return oldest;
}

static struct entry *new_entry(struct anti_join *node, unsigned side, const union net_slot *row,
                               uint8_t marks, uint64_t id, net_chronon bound) {
  const struct net_layout *layout = node->partners.layouts[side];
  struct entry *entry = net_cells_take(&node->cells[side]);
  bool fresh;
  memcpy(entry->row, row, layout->slot_count * sizeof *row);
  entry->side = side & 1;
  entry->id = id;
  entry->bound = bound;
  entry->marks = marks & NET_DEFINITE;
  entry->open = layout->may_be_open && net_row_is_open(layout, row);
  entry->first = oldest_of(layout, row);
  entry->over = NET_FOREVER;
  entry->group = net_partners_group(&node->partners, &node->groups, side, row, &fresh);
  struct group *group = net_rowmap_state(&node->groups, entry->group);
  if (fresh) *group = (struct group){{NULL, NULL}, {NULL, NULL}};
  entry->previous = group->last[side];
  if (entry->previous == NULL)
    group->first[side] = entry;
  else
    entry->previous->next = entry;
  group->last[side] = entry;
  node->rows[side]++;
  if (entry->open)
    *(struct entry **)net_rowmap_state(&node->open[side],
                                       net_rowmap_put_id(&node->open[side], id, NULL)) = entry;
  return entry;
}

/* --- pairs */

static void fail(struct anti_join *node, enum net_eval_error error, struct entry *left) {
  enum base_status failed =
      net_node_error(&node->node, error, node->partners.layouts[0], left->row);
  if (node->status == BASE_OK) node->status = failed;
  drop(node, left);
}

/* Notes what is known of LEFT and RIGHT, with open stops at BOUND or later. Returns whether that is not all. */
static bool try_pair(struct anti_join *node, struct entry *left, const struct entry *right,
                     net_chronon bound) {
  enum net_truth truth;
  bool open;
  enum net_eval_error error =
      net_partners_test(&node->partners, left->row, right->row, bound, &truth, &open);
  if (error != NET_EVAL_OK) {
    fail(node, error, left);
    return false;
  }
  if (open) return true;
  if (truth == NET_FALSE) return false;
  if (truth == NET_TRUE && (right->marks & NET_DEFINITE))
    drop(node, left);
  else
    left->omega = true;
  return false;
}

/* So long lasts what is open of ENTRY. */
static net_chronon bound_of(const struct anti_join *node, const struct entry *entry) {
  net_chronon lasting = node->lasting[entry->side];
  if (!entry->open) return NET_FOREVER;
  return entry->bound > lasting ? entry->bound : lasting;
}

static net_chronon bound_of_pair(const struct anti_join *node, const struct entry *left,
                                 const struct entry *right) {
  return smaller(bound_of(node, left), bound_of(node, right));
}

static void meet(struct anti_join *node, struct entry *left, struct entry *right) {
  if (left->first >= right->over || right->first >= left->over) return;
  if (!try_pair(node, left, right, bound_of_pair(node, left, right))) return;
  base_grow_little(&node->pairs, &node->pair_capacity, node->pair_count + 1, sizeof *node->pairs);
  node->pairs[node->pair_count++] = (struct pair){left, right};
  left->references++;
  left->waiting++;
  right->references++;
}

static void try_pairs(struct anti_join *node) {
  size_t kept = 0;
  for (size_t i = 0; i < node->pair_count; i++) {
    struct pair pair = node->pairs[i];
    if (!pair.left->gone &&
        try_pair(node, pair.left, pair.right, bound_of_pair(node, pair.left, pair.right))) {
      node->pairs[kept++] = pair;
      continue;
    }
    pair.left->waiting--;
    pair.left->references--;
    pair.right->references--;
    release(node, pair.left);
    release(node, pair.right);
  }
  node->pair_count = kept;
}

/* --- rows in */

static void arrive(struct anti_join *node, unsigned side, const union net_slot *row, uint8_t marks,
                   uint64_t id, net_chronon bound) {
  struct entry *entry = new_entry(node, side, row, marks, id, bound);
  if (!entry->open) find_over(node, entry);
  const struct group *group = net_rowmap_state(&node->groups, entry->group);
  struct entry *next;
  for (struct entry *other = group->first[!side]; other != NULL && !entry->gone; other = next) {
    next = other->next;
    if (side == 0)
      meet(node, entry, other);
    else
      meet(node, other, entry);
  }
  if (entry->gone) {
    release(node, entry);
    return;
  }
  if (side == 0) enqueue(&node->starts, row[0].i, entry);
  if (side == 0 && node->of_combinations) enqueue(&node->oldest, entry->first, entry);
  if (!entry->open) enqueue(&node->due[side], entry->over, entry);
}

/* Rows of one batch have one bound; to those that are not open it is all one. */
static void put(struct anti_join *node, const union net_slot *row, uint8_t marks, uint64_t id,
                net_chronon bound) {
  if (bound == NET_FOREVER && !net_row_is_open(node->node.layout, row)) bound = node->put_bound;
  if (bound != node->put_bound && node->node.out.count > 0 && node->status == BASE_OK)
    node->status = net_out_flush(&node->node, node->node.checkpoint, node->put_bound, NULL);
  node->put_bound = bound;
  memcpy(net_out_row(&node->node, marks, id, bound, &node->status), row,
         node->node.layout->slot_count * sizeof *row);
}

/* One that went out, or was dropped. */
static void close_passed(struct anti_join *node, const union net_slot *row, uint64_t id,
                         net_chronon bound) {
  uint32_t place = net_rowmap_find_id(&node->passed, id);
  if (place == NET_NO_ENTRY) return;
  uint8_t marks = *(const uint8_t *)net_rowmap_small(&node->passed, place);
  put(node, row, marks | NET_CLOSES, id, bound);
  if (!net_row_is_open(node->node.layout, row)) net_rowmap_remove(&node->passed, place);
}

static void close_row(struct anti_join *node, unsigned side, const union net_slot *row, uint64_t id,
                      net_chronon bound) {
  const struct net_layout *layout = node->partners.layouts[side];
  uint32_t place = net_rowmap_find_id(&node->open[side], id);
  if (place == NET_NO_ENTRY) {
    if (side == 0) close_passed(node, row, id, bound);
    return;
  }
  struct entry *entry = *(struct entry **)net_rowmap_state(&node->open[side], place);
  memcpy(entry->row, row, layout->slot_count * sizeof *row);
  if (bound > entry->bound) entry->bound = bound;
  if (net_row_is_open(layout, row)) return;
  entry->open = false;
  net_rowmap_remove(&node->open[side], place);
  if (!entry->gone) {
    find_over(node, entry);
    enqueue(&node->due[side], entry->over, entry);
  }
  release(node, entry);
}

/* --- the checkpoint advances */

/* May one that was lost, and began before OVER, have been a partner of LEFT? */
static bool misses_partner(struct anti_join *node, const struct entry *left, net_chronon over) {
  return net_partners_lost(&node->partners, left->row, over, bound_of(node, left),
                           &node->lost_guess);
}

/* Nobody is a partner of LEFT any more: it goes out. */
static void pass(struct anti_join *node, struct entry *left, bool omega) {
  uint8_t marks = left->omega || omega ? 0 : left->marks;
  put(node, left->row, marks, left->open ? left->id : 0, bound_of(node, left));
  drop(node, left);
  if (!left->open) return;
  uint32_t place = net_rowmap_put_id(&node->passed, left->id, NULL);
  *(uint8_t *)net_rowmap_small(&node->passed, place) = marks;
}

/* Is it known of ENTRY, which is open, whether it has a partner? Its stop may say nothing about those that come, or that were
 * lost. *RET_OMEGA: one of these is one perhaps. */
static bool is_decided(struct anti_join *node, const struct entry *entry, bool *ret_omega) {
  net_chronon bound = bound_of(node, entry), checkpoint = node->checkpoints[1];
  struct net_instant later = {checkpoint, NET_FOREVER};
  if (entry->waiting > 0) return false;
  if (checkpoint != NET_FOREVER &&
      net_partners_may_be(&node->partners, 1, entry->row, later, later, bound))
    return false;
  *ret_omega = misses_partner(node, entry, checkpoint);
  return !*ret_omega || bound == NET_FOREVER;
}

static void decide_open(struct anti_join *node) {
  struct net_rowmap *open = &node->open[0];
  for (uint32_t i = 0; (i = net_rowmap_next(open, i)) < open->used; i++) {
    struct entry *entry = *(struct entry **)net_rowmap_state(open, i);
    bool omega;
    if (!entry->gone) {
      if (!is_decided(node, entry, &omega)) continue;
      pass(node, entry, omega);
    }
    net_rowmap_remove(open, i);
    entry->open = false;
    release(node, entry);
  }
}

static void decide(struct anti_join *node) {
  struct queue *due = &node->due[0];
  size_t kept = 0;
  struct entry **waiting = NULL;
  size_t waiting_capacity = 0;
  while (due->count > 0 && due->items[0].time <= node->checkpoints[1]) {
    net_chronon over = due->items[0].time;
    struct entry *entry = dequeue(due);
    if (!entry->gone && entry->waiting > 0) {
      base_grow(&waiting, &waiting_capacity, kept + 1, sizeof *waiting);
      waiting[kept++] = entry;
      continue;
    }
    if (!entry->gone) pass(node, entry, misses_partner(node, entry, over));
    release(node, entry);
  }
  for (size_t i = 0; i < kept; i++) enqueue(due, node->checkpoints[1], waiting[i]);
  free(waiting);
  decide_open(node);
}

/* No instant of a row of the left that comes is before this. */
static net_chronon later_left(const struct anti_join *node) {
  const struct net_layout *layout = node->partners.layouts[0];
  net_chronon later = node->checkpoints[0];
  if (later == NET_FOREVER) return later;
  for (uint32_t f = 0; f < layout->field_count; f++) {
    if (layout->fields[f].type.base != NET_INSTANT) continue;
    if (node->input_floor == NULL) return NET_BEGINNING;
    net_chronon floor = node->input_floor[layout->fields[f].slot].i;
    if (floor != NET_OPEN) later = smaller(later, floor);
  }
  return later;
}

static void forget(struct anti_join *node) {
  struct queue *due = &node->due[1];
  net_chronon later = due->count > 0 ? later_left(node) : NET_BEGINNING;
  while (due->count > 0 && due->items[0].time <= later) {
    struct entry *entry = dequeue(due);
    drop(node, entry);
    release(node, entry);
  }
}

static net_chronon first_of(struct anti_join *node, struct queue *queue) {
  while (queue->count > 0 && queue->items[0].entry->gone) release(node, dequeue(queue));
  return queue->count > 0 ? queue->items[0].time : NET_FOREVER;
}

/* Lower bounds of the instants of all later rows: what waits may still come. */
static const union net_slot *floor_of(struct anti_join *node) {
  const struct net_layout *layout = node->node.layout;
  net_chronon oldest = first_of(node, &node->oldest);
  if (!node->of_combinations || node->input_floor == NULL || node->checkpoints[0] == NET_FOREVER)
    return NULL;
  memcpy(node->floor, node->input_floor, layout->slot_count * sizeof *node->floor);
  node->floor[0].i = smaller(node->floor[0].i, oldest);
  for (uint32_t f = 0; f < layout->field_count; f++) {
    uint32_t slot = layout->fields[f].slot;
    if (layout->fields[f].type.base != NET_INSTANT || node->floor[slot].i == NET_OPEN) continue;
    node->floor[slot].i = smaller(node->floor[slot].i, oldest);
  }
  return node->floor;
}

static void keep_floor(struct anti_join *node, const union net_slot *floor) {
  size_t size = node->node.layout->slot_count * sizeof *floor;
  if (node->input_floor == NULL) node->input_floor = base_xmalloc(size);
  memcpy(node->input_floor, floor, size);
}

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  struct anti_join *node = (struct anti_join *)base;
  node->status = BASE_OK;
  for (uint32_t i = 0; i < batch->count && node->status == BASE_OK; i++) {
    uint8_t marks = net_batch_marks(batch, i);
    if (marks & NET_CLOSES)
      close_row(node, port, net_batch_row(batch, i), net_batch_id(batch, i), batch->bound);
    else
      arrive(node, port, net_batch_row(batch, i), marks, net_batch_id(batch, i), batch->bound);
  }
  if (node->status != BASE_OK) return node->status;
  if (port == 0 && batch->floor != NULL) keep_floor(node, batch->floor);
  net_chronon lasting = net_batch_lasting(batch);
  if (batch->checkpoint > node->checkpoints[port]) node->checkpoints[port] = batch->checkpoint;
  if (lasting > node->lasting[port]) node->lasting[port] = lasting;
  try_pairs(node);
  decide(node);
  forget(node);
  if (node->status != BASE_OK) return node->status;
  tidy(node, &node->starts, node->rows[0]);
  tidy(node, &node->oldest, node->rows[0]);
  tidy(node, &node->due[0], node->rows[0]);
  net_chronon checkpoint = smaller(node->checkpoints[0], first_of(node, &node->starts));
  if (base->out.count > 0) {
    enum base_status status = net_out_flush(base, base->checkpoint, node->put_bound, NULL);
    if (status != BASE_OK) return status;
  }
  return net_out_settle(base, checkpoint, node->lasting[0], floor_of(node));
}

static void mark_entries(const struct anti_join *node, const struct queue *queue, unsigned side,
                         struct base_strings *strings) {
  for (size_t i = 0; i < queue->count; i++)
    net_row_mark_strings(node->partners.layouts[side], strings, queue->items[i].entry->row);
}

static void mark_strings(const struct net_node *base, struct base_strings *strings) {
  const struct anti_join *node = (const struct anti_join *)base;
  net_rowmap_mark_strings(&node->groups, strings);
  for (size_t i = 0; i < node->pair_count; i++)
    net_row_mark_strings(node->partners.layouts[1], strings, node->pairs[i].right->row);
  for (unsigned side = 0; side < 2; side++) {
    mark_entries(node, &node->due[side], side, strings);
    for (uint32_t i = 0; (i = net_rowmap_next(&node->open[side], i)) < node->open[side].used; i++)
      net_row_mark_strings(node->partners.layouts[side], strings,
                           (*(struct entry *const *)net_rowmap_state(&node->open[side], i))->row);
  }
}

static size_t state_rows(const struct net_node *base) {
  const struct anti_join *node = (const struct anti_join *)base;
  return node->rows[0] + node->rows[1];
}

static size_t state_bytes(const struct net_node *base) {
  const struct anti_join *node = (const struct anti_join *)base;
  size_t bytes = net_rowmap_bytes(&node->groups) + net_rowmap_bytes(&node->passed) +
                 (node->starts.capacity + node->oldest.capacity) * sizeof(struct timed) +
                 node->pair_capacity * sizeof *node->pairs;
  for (unsigned side = 0; side < 2; side++)
    bytes += net_rowmap_bytes(&node->open[side]) + net_cells_bytes(&node->cells[side]) +
             node->due[side].capacity * sizeof *node->due[side].items;
  return bytes;
}

static void done(struct net_node *base) {
  struct anti_join *node = (struct anti_join *)base;
  for (unsigned side = 0; side < 2; side++) {
    net_rowmap_done(&node->open[side]);
    net_cells_done(&node->cells[side]);
    free(node->due[side].items);
  }
  free(node->starts.items);
  free(node->oldest.items);
  free(node->pairs);
  free(node->input_floor);
  net_rowmap_done(&node->passed);
  net_rowmap_done(&node->groups);
}

static const struct net_node_class class = {.kind = NET_NODE_ANTI_JOIN,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

struct net_node *net_create_anti_join(struct net_network *network, const char *name,
                                      const struct net_partner_params *params) {
  struct base_arena *arena = net_network_arena(network);
  struct anti_join *node = net_node_new(network, sizeof *node, &class, name, params->left);
  net_partners_init(&node->partners, arena, params);
  net_partners_init_groups(&node->partners, &node->groups, sizeof(struct group));
  node->floor = base_arena_array(arena, params->left->slot_count, sizeof *node->floor);
  net_rowmap_init(&node->passed, NULL, NET_KEY_ID, 0, NULL, 0, 0);
  for (unsigned side = 0; side < 2; side++) {
    const struct net_layout *layout = node->partners.layouts[side];
    node->node.input_layouts[side] = layout;
    net_rowmap_init(&node->open[side], NULL, NET_KEY_ID, 0, NULL, 0, sizeof(struct entry *));
    net_cells_init(&node->cells[side],
                   sizeof(struct entry) + layout->slot_count * sizeof(union net_slot));
    node->checkpoints[side] = node->lasting[side] = NET_BEGINNING;
    for (uint32_t f = 0; f < layout->field_count; f++)
      node->of_combinations |= side == 0 && layout->fields[f].type.base == NET_INSTANT;
  }
  node->node.wants_floor = node->of_combinations;
  return &node->node;
}
