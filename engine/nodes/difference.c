/* Difference: of periods of the left the portions at which no partner on the right is valid.
 *
 *      left  ──▶ ┌─────────────────┐
 *                │ keys, condition │ ──▶ out: portions of the left      order: any
 *      right ──▶ │                 │
 *                └─────────────────┘
 *
 * The time line of a group is divided by what of the right covers it: FREE, nothing does; DOUBTED, something does
 * perhaps; COVERED, a definite row does for sure, from its latest start to its earliest stop. A row of the left has a
 * portion for each maximal stretch that is not covered, as far as the row has a part in it; in doubt it is there perhaps.
 * An event covers its chronon.
 *
 * All is done in the order of time: up to the checkpoint of both inputs, to which all that is open lasts, everything that
 * covers is known. At each time at which the number of those that cover changes, the portions that end there go out
 * and others begin; what goes on at the checkpoint goes out open, with an id of this node's. Where a condition tells
 * partners apart that have equal keys, each row of the left has a division of its own, else those of a group have
 * one.
 *
 * What is open lasts to the checkpoint for sure. So of a row whose stop has bounds, and has perhaps been, a portion that has
 * not gone out waits for its end, and one that has holds the checkpoint back at the earliest stop; likewise one waits that
 * may yet turn out to be empty, as its start has bounds.
 *
 * State, by keys: rows of both sides that are not over.                                              */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/binary_heap.h"
#include "engine/cells.h"
#include "engine/losses.h"
#include "engine/nodes/partners.h"

/* The order of certainty, as that of truths: nobody covers it is F, perhaps, T. */
enum division { COVERED = NET_FALSE, DOUBTED = NET_UNKNOWN, FREE = NET_TRUE };

/* How many cover now: for sure, and at all. */
struct cover {
  uint32_t sure, all;
  uint32_t touched : 1;
  unsigned division : 2; /* as the portions know it */
};

/* Rows of a group by what becomes of them: there are those of either side that have begun, perhaps, and those to come, which
 * nothing is asked of yet. */
enum list { LEFT, RIGHT, TO_COME, LISTS };

struct entry {
  struct entry *next, *previous; /* in its list of the group */
  uint32_t group;
  uint32_t references; /* in queues */
  unsigned side : 1;
  unsigned list : 2;
  unsigned gone : 1;
  unsigned open : 1;
  unsigned definite : 1;
  unsigned level : 2;       /* right: counts in nothing, among all, for sure */
  unsigned lost : 1;        /* right: it may be anybody's partner, */
  base_string_id process;   /* ... and was lost of this one */
  unsigned given : 1;       /* left: the portion of now went out open, */
  uint8_t marks;            /* ... with these */
  uint32_t portion;         /* left: its number */
  uint64_t id;              /* of the open portion */
  struct net_instant start; /* left: of the portion */
  struct cover cover;       /* left: where a condition tells partners apart */
  union net_slot row[];
};

struct timed {
  net_chronon time;
  struct entry *entry;
  uint32_t portion;
  bool given; /* ... that has gone out */
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
  struct entry *first[LISTS];
  struct cover cover;
  struct entry *
      lost; /* a row of the right that is none: what was lost last, or will be next; NULL: nothing more */
};

struct touched {
  uint32_t group;
  struct entry *left; /* NULL: all of the group */
};

struct difference {
  struct net_node node;
  struct net_partners partners;
  struct net_rowmap groups;
  struct net_rowmap open[2]; /* by id: entries whose stop is not known */
  struct net_cells cells[2];
  struct queue changes;  /* when a row of the right counts otherwise, or one of the left ends */
  struct queue openings; /* portions that have not gone out, by the latest time they begin */
  struct queue waiting;  /* ... that may have to wait, by the earliest time they begin */
  struct queue ending;   /* those that have, and of which the stop has bounds, by the earliest */
  struct touched *touched;
  size_t touched_count, touched_capacity;
  struct entry **looked_at; /* at the time that is done now */
  size_t looked_at_count, looked_at_capacity;
  net_chronon checkpoints[2], swept; /* all before SWEPT is done */
  uint64_t last_id;
  size_t rows;
  enum base_status status;
};

static net_chronon smaller(net_chronon a, net_chronon b) {
  return a < b ? a : b;
}

static bool is_event(const struct difference *node, const struct entry *entry) {
  return node->partners.layouts[entry->side]->tuple_class == NET_EVENT;
}

/* --- entries and queues */

static void release(struct difference *node, struct entry *entry) {
  if (!entry->gone || entry->references > 0 || entry->open) return;
  net_cells_give(&node->cells[entry->side], entry);
}

static void link_entry(struct group *group, struct entry *entry, enum list list) {
  entry->list = list & 3;
  entry->previous = NULL;
  entry->next = group->first[list];
  if (entry->next != NULL) entry->next->previous = entry;
  group->first[list] = entry;
}

static void unlink_entry(struct group *group, struct entry *entry) {
  if (entry->previous == NULL)
    group->first[entry->list] = entry->next;
  else
    entry->previous->next = entry->next;
  if (entry->next != NULL) entry->next->previous = entry->previous;
}

static void drop(struct difference *node, struct entry *entry) {
  if (entry->gone) return;
  struct group *group = net_rowmap_state(&node->groups, entry->group);
  unlink_entry(group, entry);
  entry->gone = true;
  node->rows--;
  for (unsigned list = 0; list < LISTS; list++)
    if (group->first[list] != NULL) return;
  if (group->lost != NULL) {
    group->lost->gone = true;
    release(node, group->lost);
  }
  net_rowmap_remove(&node->groups, entry->group);
}

static void enqueue(struct queue *queue, net_chronon time, struct entry *entry) {
  base_grow_little(&queue->items, &queue->capacity, queue->count + 1, sizeof *queue->items);
  soonest_up(queue->items, queue->count++,
             (struct timed){time, entry, entry->portion, entry->given}, NULL);
  entry->references++;
}

static struct timed dequeue(struct queue *queue) {
  struct timed first = queue->items[0];
  queue->count--;
  soonest_down(queue->items, queue->count, 0, queue->items[queue->count], NULL);
  first.entry->references--;
  return first;
}

/* Is ITEM about a portion that is not over, and has gone out, or not, as when it was made? */
static bool is_current(const struct timed *item) {
  const struct entry *entry = item->entry;
  return !entry->gone && entry->given == item->given && entry->portion == item->portion;
}

/* What is over leaves QUEUE when it is more than what is not, LIVE at most. */
static void tidy(struct difference *node, struct queue *queue, size_t live) {
  size_t kept = 0;
  if (queue->count < 2 * live + 64) return;
  for (size_t i = 0; i < queue->count; i++) {
    struct timed item = queue->items[i];
    if (is_current(&item)) {
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

/* LOST becomes what was lost next, of what was not over at TIME; false: nothing was. */
static bool next_lost(struct difference *node, struct entry *lost, net_chronon time) {
  const struct net_partner_params *params = node->partners.params;
  struct net_loss loss;
  if (!net_losses_next(params->lost, lost->process, time, &loss)) return false;
  lost->row[0].i = lost->row[1].i = loss.from;
  if (params->right->tuple_class == NET_EVENT)
    lost->row[1].i = loss.to - 1;
  else
    lost->row[2].i = lost->row[3].i = params->lost_within ? loss.to : NET_FOREVER;
  enqueue(&node->changes, loss.from, lost);
  return true;
}

/* What was lost that may be partners in GROUP, the one of ROW, which is new. */
static void begin_lost(struct difference *node, uint32_t place, unsigned side,
                       const union net_slot *row) {
  const struct net_partner_params *params = node->partners.params;
  struct group *group = net_rowmap_state(&node->groups, place);
  if (params->lost == NULL) return;
  struct entry *lost = net_cells_take(&node->cells[1]);
  lost->side = lost->lost = 1;
  lost->group = place;
  lost->process = params->lost_process;
  for (size_t i = 0; i < params->key_count; i++)
    if ((int)params->keys[i].left_slot == params->lost_slot)
      lost->process = row[side == 0 ? params->keys[i].left_slot : params->keys[i].right_slot].s;
  bool lasts = params->right->tuple_class == NET_PERIOD && !params->lost_within;
  if (next_lost(node, lost, lasts ? NET_BEGINNING : node->swept))
    group->lost = lost;
  else
    net_cells_give(&node->cells[1], lost);
}

static struct entry *new_entry(struct difference *node, unsigned side, const union net_slot *row,
                               uint8_t marks, uint64_t id) {
  const struct net_layout *layout = node->partners.layouts[side];
  struct entry *entry = net_cells_take(&node->cells[side]);
  bool fresh;
  memcpy(entry->row, row, layout->slot_count * sizeof *row);
  entry->side = side & 1;
  entry->definite = (marks & NET_DEFINITE) != 0;
  entry->open = layout->tuple_class == NET_PERIOD && row[2].i == NET_OPEN;
  entry->group = net_partners_group(&node->partners, &node->groups, side, row, &fresh);
  struct group *group = net_rowmap_state(&node->groups, entry->group);
  if (fresh) *group = (struct group){.cover = {.division = FREE}};
  if (fresh) begin_lost(node, entry->group, side, row);
  link_entry(group, entry, TO_COME);
  node->rows++;
  if (entry->open)
    *(struct entry **)net_rowmap_state(&node->open[side],
                                       net_rowmap_put_id(&node->open[side], id, NULL)) = entry;
  return entry;
}

/* The period of ENTRY as far as it is known: an open one ends at SWEPT or later. */
static struct net_period period_of(const struct difference *node, const struct entry *entry) {
  struct net_period period = {net_row_start(entry->row), {0, 0}};
  if (is_event(node, entry)) {
    net_chronon lo = entry->row[0].i, hi = entry->row[1].i;
    period.stop.lo = lo == NET_FOREVER ? lo : lo + 1;
    period.stop.hi = hi == NET_FOREVER ? hi : hi + 1;
    return period;
  }
  period.stop = net_slot_stop(entry->row, 2, node->swept);
  return period;
}

/* --- portions */

static void put(struct difference *node, const struct entry *left, uint8_t marks, uint64_t id,
                struct net_period period, bool open) {
  const struct net_layout *layout = node->node.layout;
  enum net_timeline timeline = net_network_timeline(node->node.network);
  union net_slot *out = net_out_row(&node->node, marks, id, node->swept, &node->status);
  memcpy(out, left->row, layout->slot_count * sizeof *out);
  out[0].i = period.start.lo;
  out[1].i = period.start.hi;
  out[2].i = open ? NET_OPEN : period.stop.lo;
  out[3].i = period.stop.hi;
  for (uint32_t f = 0; f < layout->field_count; f++) {
    union net_slot *to = out + layout->fields[f].slot;
    if (layout->fields[f].type.base != NET_TEMPORAL || period.start.lo == left->row[0].i) continue;
    struct net_temporal value = {to[0].f, to[1].f, to[2].f, to[3].f};
    value =
        net_temporal_rebase(value, net_units_between(timeline, left->row[0].i, period.start.lo));
    memcpy(to, &value, sizeof value);
  }
}

static struct cover *cover_of(struct difference *node, struct entry *left) {
  if (node->partners.params->condition != NULL) return &left->cover;
  return &((struct group *)net_rowmap_state(&node->groups, left->group))->cover;
}

static bool same(struct net_instant a, struct net_instant b) {
  return a.lo == b.lo && a.hi == b.hi;
}

/* The portion of LEFT, in DIVISION, ends: where the row does, or at END before that. */
static void end_portion(struct difference *node, struct entry *left, unsigned division,
                        net_chronon end) {
  struct net_period whole = period_of(node, left), portion = {left->start, whole.stop};
  uint8_t marks = left->definite && division == FREE ? NET_DEFINITE : 0;
  portion.stop = net_earlier(portion.stop, (struct net_instant){end, end});
  if (left->given) {
    if (portion.stop.lo < portion.start.lo) portion.stop.lo = portion.start.lo;
    put(node, left, left->marks | NET_CLOSES, left->id, portion, false);
  } else if (division != COVERED) {
    bool all = same(portion.start, whole.start) && same(portion.stop, whole.stop) && !left->open;
    enum net_truth nonempty = all ? NET_TRUE : net_nonempty(portion);
    if (nonempty != NET_TRUE) marks = 0;
    if (nonempty != NET_FALSE)
      put(node, left, marks, 0, all ? portion : net_period_clip(portion), false);
  }
  left->given = false;
  left->portion++;
}

/* A portion of LEFT begins, at TIME or when the row does. */
static void begin_portion(struct difference *node, struct entry *left, unsigned division,
                          net_chronon time) {
  left->start = net_later(net_row_start(left->row), (struct net_instant){time, time});
  if (division == COVERED || left->start.lo >= left->row[3].i) return;
  enqueue(&node->openings, left->start.hi, left);
  bool ends = !left->open && left->row[2].i < left->row[3].i;
  if (ends || left->start.lo < left->start.hi) enqueue(&node->waiting, left->start.lo, left);
}

/* The stop of LEFT is known now. */
static void note_stop(struct difference *node, struct entry *left) {
  if (left->row[2].i == left->row[3].i) return;
  if (left->given)
    enqueue(&node->ending, left->row[2].i, left);
  else if (cover_of(node, left)->division != COVERED)
    enqueue(&node->waiting, left->start.lo, left);
}

/* What goes on at the checkpoint goes out open; at the end also what may not begin before that. */
static void open_portions(struct difference *node) {
  struct queue *openings = &node->openings;
  bool ended = node->swept == NET_FOREVER;
  while (openings->count > 0 && (ended || openings->items[0].time < node->swept)) {
    struct timed item = dequeue(openings);
    struct entry *left = item.entry;
    bool lasts = left->open || left->row[2].i >= node->swept;
    if (is_current(&item) && lasts) {
      unsigned division = cover_of(node, left)->division;
      bool begins = left->start.hi < NET_FOREVER || same(left->start, net_row_start(left->row));
      uint8_t marks = left->definite && division == FREE && begins ? NET_DEFINITE : 0;
      struct net_period period = {left->start, {NET_OPEN, left->row[3].i}};
      left->given = true;
      left->marks = marks;
      left->id = ++node->last_id;
      put(node, left, marks, left->id, period, true);
      if (!left->open && left->row[2].i < left->row[3].i)
        enqueue(&node->ending, left->row[2].i, left);
    }
    release(node, left);
  }
}

/* --- what covers */

static void touch(struct difference *node, struct cover *cover, struct touched which) {
  if (cover->touched) return;
  cover->touched = true;
  base_grow_little(&node->touched, &node->touched_capacity, node->touched_count + 1,
                   sizeof *node->touched);
  node->touched[node->touched_count++] = which;
  if (which.left != NULL) which.left->references++;
}

static void count(struct cover *cover, unsigned before, unsigned level) {
  cover->all += (level > 0) - (before > 0);
  cover->sure += (level > 1) - (before > 1);
}

/* Is RIGHT, which has the key of LEFT, its partner? */
static bool is_partner(struct difference *node, struct entry *left, const struct entry *right) {
  enum net_truth truth;
  bool open;
  if (right->lost) return true;
  enum net_eval_error error =
      net_partners_test(&node->partners, left->row, right->row, NET_FOREVER, &truth, &open);
  if (error != NET_EVAL_OK && node->status == BASE_OK)
    node->status = net_node_error(&node->node, error, node->partners.layouts[0], left->row);
  return error == NET_EVAL_OK && truth != NET_FALSE;
}

/* RIGHT counts as LEVEL from now on. */
static void set_level(struct difference *node, struct entry *right, unsigned level) {
  unsigned before = right->level;
  if (level == before) return;
  right->level = level & 3;
  struct group *group = net_rowmap_state(&node->groups, right->group);
  if (node->partners.params->condition == NULL) {
    count(&group->cover, before, level);
    touch(node, &group->cover, (struct touched){right->group, NULL});
    return;
  }
  for (struct entry *left = group->first[LEFT]; left != NULL; left = left->next) {
    if (!is_partner(node, left, right)) continue;
    count(&left->cover, before, level);
    touch(node, &left->cover, (struct touched){right->group, left});
  }
}

static unsigned division_of(const struct cover *cover) {
  return cover->sure > 0 ? COVERED : cover->all > 0 ? DOUBTED : FREE;
}

static void turn(struct difference *node, struct entry *left, unsigned before, unsigned division,
                 net_chronon time) {
  end_portion(node, left, before, time);
  begin_portion(node, left, division, time);
}

/* The divisions that changed at TIME. */
static void turn_touched(struct difference *node, net_chronon time) {
  for (size_t i = 0; i < node->touched_count; i++) {
    struct touched which = node->touched[i];
    if (which.left != NULL) {
      struct cover *cover = &which.left->cover;
      unsigned before = cover->division, division = division_of(cover);
      cover->touched = false;
      cover->division = division & 3;
      which.left->references--;
      if (division != before && !which.left->gone) turn(node, which.left, before, division, time);
      release(node, which.left);
      continue;
    }
    struct group *group = net_rowmap_state(&node->groups, which.group);
    unsigned before = group->cover.division, division = division_of(&group->cover);
    group->cover.touched = false;
    group->cover.division = division & 3;
    for (struct entry *left = division == before ? NULL : group->first[LEFT]; left != NULL;
         left = left->next)
      turn(node, left, before, division, time);
  }
  node->touched_count = 0;
}

/* --- time goes on */

/* The first time from FROM on at which RIGHT counts otherwise, as far as is known; NET_FOREVER: none. */
static net_chronon next_change(const struct difference *node, const struct entry *right,
                               net_chronon from) {
  struct net_period period = period_of(node, right);
  const net_chronon changes[] = {period.start.lo, period.start.hi,
                                 right->open ? NET_FOREVER : period.stop.lo, period.stop.hi};
  net_chronon next = NET_FOREVER;
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
    if (changes[i] >= from) next = smaller(next, changes[i]);
  return next;
}

/* There is a record at TIME of the keys of RIGHT: what was lost of them before has ended. */
static void end_lost(struct difference *node, const struct entry *right, net_chronon time) {
  const struct net_partner_params *params = node->partners.params;
  struct entry *lost = ((struct group *)net_rowmap_state(&node->groups, right->group))->lost;
  struct net_loss loss;
  if (lost == NULL || !params->lost_until_next || lost->row[3].i < NET_FOREVER ||
      lost->row[0].i > time)
    return;
  if (!net_losses_next(params->lost, lost->process, lost->row[0].i, &loss) || loss.to - 1 > time)
    return;
  lost->row[2].i = lost->row[3].i = time;
  enqueue(&node->changes, time, lost);
}

/* What is open lasts to the next time that is looked at, if it has no bound before. */
static void change_right(struct difference *node, struct entry *right, net_chronon time) {
  struct net_period period = period_of(node, right);
  if (time == NET_FOREVER) return;
  if (!right->lost && (time == period.start.hi || (!right->open && time == period.stop.hi)))
    end_lost(node, right, time);
  bool all = period.start.lo <= time && time < period.stop.hi;
  bool sure = right->definite && period.start.hi <= time &&
              time < (right->open ? period.stop.hi : period.stop.lo);
  set_level(node, right, all ? 1 + (unsigned)sure : 0);
  net_chronon next = next_change(node, right, time + 1);
  if (next < NET_FOREVER)
    enqueue(&node->changes, next, right);
  else if (right->lost && period.stop.hi <= time)
    next_lost(node, right, time);
}

static void count_covering(struct difference *node, struct entry *left) {
  const struct group *group = net_rowmap_state(&node->groups, left->group);
  for (const struct entry *right = group->first[RIGHT]; right != NULL; right = right->next)
    if (right->level > 0 && is_partner(node, left, right)) count(&left->cover, 0, right->level);
  if (group->lost != NULL && group->lost->level > 0) count(&left->cover, 0, group->lost->level);
  left->cover.division = division_of(&left->cover) & 3;
}

static void begin(struct difference *node, struct entry *entry) {
  struct group *group = net_rowmap_state(&node->groups, entry->group);
  unlink_entry(group, entry);
  link_entry(group, entry, entry->side == 0 ? LEFT : RIGHT);
  if (entry->side == 1) return;
  if (node->partners.params->condition != NULL) count_covering(node, entry);
  begin_portion(node, entry, cover_of(node, entry)->division, NET_BEGINNING);
  if (!entry->open) enqueue(&node->changes, entry->row[3].i, entry);
}

static void change(struct difference *node, struct entry *entry, net_chronon time) {
  if (entry->gone) return;
  if (entry->list == TO_COME && !entry->lost) begin(node, entry);
  if (entry->side == 1) {
    change_right(node, entry, time);
  } else if (!entry->open && entry->row[3].i <= time) {
    end_portion(node, entry, cover_of(node, entry)->division, NET_FOREVER);
    drop(node, entry);
  }
}

static void look_at(struct difference *node, struct entry *entry, net_chronon time) {
  change(node, entry, time);
  entry->references++;
  base_grow_little(&node->looked_at, &node->looked_at_capacity, node->looked_at_count + 1,
                   sizeof *node->looked_at);
  node->looked_at[node->looked_at_count++] = entry;
}

/* Rows of the right that are over go when all that they covered has been told. */
static void let_go(struct difference *node, net_chronon time) {
  for (size_t i = 0; i < node->looked_at_count; i++) {
    struct entry *entry = node->looked_at[i];
    bool over = entry->side == 1 && !entry->lost && !entry->open && entry->level == 0 &&
                period_of(node, entry).stop.hi <= time;
    if (over) drop(node, entry);
    entry->references--;
    release(node, entry);
  }
  node->looked_at_count = 0;
}

/* All times before LIMIT; when nothing comes any more, the last one, too. */
static void sweep(struct difference *node, net_chronon limit) {
  struct queue *changes = &node->changes;
  while (changes->count > 0 && node->status == BASE_OK) {
    net_chronon time = changes->items[0].time;
    if (time >= limit && limit != NET_FOREVER) break;
    if (time > node->swept) node->swept = time;
    while (changes->count > 0 && changes->items[0].time == time)
      look_at(node, dequeue(changes).entry, time);
    turn_touched(node, time);
    let_go(node, time);
  }
  node->swept = limit;
}

/* --- rows in */

static void arrive(struct difference *node, unsigned side, const union net_slot *row, uint8_t marks,
                   uint64_t id) {
  enqueue(&node->changes, row[0].i, new_entry(node, side, row, marks, id));
}

static void close_row(struct difference *node, unsigned side, const union net_slot *row,
                      uint64_t id) {
  uint32_t place = net_rowmap_find_id(&node->open[side], id);
  BASE_CHECK(place != NET_NO_ENTRY, "difference-close-unknown");
  struct entry *entry = *(struct entry **)net_rowmap_state(&node->open[side], place);
  bool open = row[2].i == NET_OPEN, better = row[3].i != entry->row[3].i;
  memcpy(entry->row, row, node->partners.layouts[side]->slot_count * sizeof *row);
  if (!open) {
    entry->open = false;
    net_rowmap_remove(&node->open[side], place);
  }
  if (entry->list == TO_COME) return;
  if (side == 0) {
    struct net_period portion = {entry->start, net_slot_instant(row, 2)};
    if (open && better && entry->given)
      put(node, entry, entry->marks | NET_CLOSES, entry->id, portion, true);
    if (!open) enqueue(&node->changes, row[3].i, entry);
    if (!open) note_stop(node, entry);
    return;
  }
  net_chronon next = next_change(node, entry, node->swept);
  if (next == NET_FOREVER && !open && row[3].i < NET_FOREVER) next = node->swept;
  if (next < NET_FOREVER) enqueue(&node->changes, next, entry);
}

/* The time of the first of QUEUE that still counts. */
static net_chronon first_of(struct difference *node, struct queue *queue) {
  while (queue->count > 0 && !is_current(&queue->items[0])) release(node, dequeue(queue).entry);
  return queue->count > 0 ? queue->items[0].time : NET_FOREVER;
}

static enum base_status consume(struct net_node *base, unsigned port,
                                const struct net_batch *batch) {
  struct difference *node = (struct difference *)base;
  node->status = BASE_OK;
  for (uint32_t i = 0; i < batch->count; i++) {
    uint8_t marks = net_batch_marks(batch, i);
    if (marks & NET_CLOSES)
      close_row(node, port, net_batch_row(batch, i), net_batch_id(batch, i));
    else
      arrive(node, port, net_batch_row(batch, i), marks, net_batch_id(batch, i));
  }
  if (batch->checkpoint > node->checkpoints[port]) node->checkpoints[port] = batch->checkpoint;
  net_chronon limit = smaller(node->checkpoints[0], node->checkpoints[1]);
  if (limit > node->swept || limit == NET_FOREVER) sweep(node, limit);
  open_portions(node);
  if (node->status != BASE_OK) return node->status;
  tidy(node, &node->openings, node->rows);
  tidy(node, &node->waiting, node->rows);
  tidy(node, &node->ending, node->rows);
  net_chronon lasting = smaller(node->swept, first_of(node, &node->ending));
  net_chronon checkpoint = smaller(lasting, first_of(node, &node->waiting));
  return net_out_settle(base, checkpoint, lasting, NULL);
}

/* --- the rest */

static void mark_strings(const struct net_node *base, struct base_strings *strings) {
  const struct difference *node = (const struct difference *)base;
  net_rowmap_mark_strings(&node->groups, strings);
  for (uint32_t i = 0; (i = net_rowmap_next(&node->groups, i)) < node->groups.used; i++) {
    const struct group *group = net_rowmap_state(&node->groups, i);
    for (unsigned list = 0; list < LISTS; list++)
      for (const struct entry *entry = group->first[list]; entry != NULL; entry = entry->next)
        net_row_mark_strings(node->partners.layouts[entry->side], strings, entry->row);
  }
}

static size_t state_rows(const struct net_node *base) {
  return ((const struct difference *)base)->rows;
}

static size_t state_bytes(const struct net_node *base) {
  const struct difference *node = (const struct difference *)base;
  size_t bytes = net_rowmap_bytes(&node->groups);
  bytes += (node->changes.capacity + node->openings.capacity + node->waiting.capacity +
            node->ending.capacity) *
           sizeof(struct timed);
  for (unsigned side = 0; side < 2; side++)
    bytes += net_rowmap_bytes(&node->open[side]) + net_cells_bytes(&node->cells[side]);
  return bytes;
}

static void done(struct net_node *base) {
  struct difference *node = (struct difference *)base;
  for (unsigned side = 0; side < 2; side++) {
    net_rowmap_done(&node->open[side]);
    net_cells_done(&node->cells[side]);
  }
  free(node->changes.items);
  free(node->openings.items);
  free(node->waiting.items);
  free(node->ending.items);
  free(node->touched);
  free(node->looked_at);
  net_rowmap_done(&node->groups);
}

static const struct net_node_class class = {.kind = NET_NODE_DIFFERENCE,
                                            .consume = consume,
                                            .mark_strings = mark_strings,
                                            .state_rows = state_rows,
                                            .state_bytes = state_bytes,
                                            .done = done};

struct net_node *net_create_difference(struct net_network *network, const char *name,
                                       const struct net_layout *out,
                                       const struct net_partner_params *params) {
  BASE_CHECK(params->left->tuple_class == NET_PERIOD && out->tuple_class == NET_PERIOD &&
                 out->field_count <= params->left->field_count,
             "difference-layouts");
  struct difference *node = net_node_new(network, sizeof *node, &class, name, out);
  net_partners_init(&node->partners, net_network_arena(network), params);
  net_partners_init_groups(&node->partners, &node->groups, sizeof(struct group));
  node->swept = NET_BEGINNING;
  for (unsigned side = 0; side < 2; side++) {
    const struct net_layout *layout = node->partners.layouts[side];
    node->node.input_layouts[side] = layout;
    node->checkpoints[side] = NET_BEGINNING;
    net_rowmap_init(&node->open[side], NULL, NET_KEY_ID, 0, NULL, 0, sizeof(struct entry *));
    net_cells_init(&node->cells[side],
                   sizeof(struct entry) + layout->slot_count * sizeof(union net_slot));
  }
  return &node->node;
}
