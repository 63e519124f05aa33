/* Inbox: see inbox.h. The rows of a batch are copied together; a queue is sorted only when something
 * came out of order, and then its rows are put in order once, when one of them is due: behind a product that gives
 * rows of long ago to the end, all wait for it.
 *
 * Starts and closes of one port wait in two queues, because a close goes with a start that lies before
 * those of the rows that come with it: in one queue they would never be in order.                   */
#include "engine/inbox.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/status.h"

void net_inbox_init(struct net_inbox *inbox, const struct net_layout *left,
                    const struct net_layout *right, enum net_inbox_closes closes) {
  memset(inbox, 0, sizeof *inbox);
  inbox->ports[0].layout = left;
  inbox->ports[1].layout = right;
  inbox->port_count = right ? 2 : 1;
  inbox->closes = closes;
  inbox->limit = NET_FOREVER;
  for (unsigned i = 0; i < inbox->port_count; i++) inbox->ports[i].checkpoint = NET_BEGINNING;
}

static void queue_done(struct net_inbox_queue *queue) {
  free(queue->rows);
  free(queue->marks);
  free(queue->ids);
  free(queue->times);
}

void net_inbox_done(struct net_inbox *inbox) {
  for (unsigned i = 0; i < 2; i++) {
    queue_done(&inbox->ports[i].starts);
    queue_done(&inbox->ports[i].others);
    queue_done(&inbox->ports[i].spare);
    free(inbox->ports[i].places);
  }
  memset(inbox, 0, sizeof *inbox);
}

/* --- coming in */

static void grow(struct net_inbox_queue *queue, size_t more, uint32_t width, bool ids, bool times) {
  size_t needed = queue->count + more;
  base_grow(&queue->rows, &queue->row_capacity, needed * width, sizeof *queue->rows);
  base_grow(&queue->marks, &queue->mark_capacity, needed, sizeof *queue->marks);
  if (times) base_grow(&queue->times, &queue->time_capacity, needed, sizeof *queue->times);
  if (!ids) return;
  base_grow(&queue->ids, &queue->id_capacity, needed, sizeof *queue->ids);
  if (!queue->has_ids) memset(queue->ids, 0, queue->count * sizeof *queue->ids);
  queue->has_ids = true;
}

/* Rank of a row that is not a start. */
static uint8_t rank_of(const struct net_inbox *inbox, uint8_t marks) {
  if (!(marks & NET_CLOSES)) return 2;
  return inbox->closes == NET_CLOSES_AFTER_STARTS ? 2 : 0;
}

static net_chronon time_of_other(const struct net_inbox *inbox, const struct net_layout *layout,
                                 const union net_slot *row, uint8_t marks) {
  bool at_stop = (marks & NET_CLOSES) && inbox->closes == NET_CLOSES_AT_STOPS &&
                 layout->tuple_class == NET_PERIOD && row[2].i != NET_OPEN && row[2].i > row[0].i;
  return at_stop ? row[2].i : row[0].i;
}

/* QUEUE, with room for the rows in question, is not in order from now on. */
static void disorder(struct net_inbox_queue *queue, net_chronon head) {
  if (queue->unsorted) return;
  queue->unsorted = true;
  queue->earliest = queue->count > queue->head ? head : NET_FOREVER;
}

static void note_time(struct net_inbox_queue *queue, net_chronon time) {
  if (time < queue->earliest) queue->earliest = time;
}

/* COUNT starts at ROWS come to QUEUE, in order by themselves and behind what is there if IN_ORDER. */
static void note_starts(struct net_inbox_queue *queue, const union net_slot *rows, size_t count,
                        uint32_t width, bool in_order) {
  if (in_order && !queue->unsorted) return;
  disorder(queue, queue->rows[queue->head * width].i);
  for (size_t i = 0; i < count; i++) note_time(queue, rows[i * width].i);
}

static void add_other(const struct net_inbox *inbox, struct net_inbox_port *port,
                      const union net_slot *row, uint8_t marks, uint64_t id) {
  struct net_inbox_queue *queue = &port->others;
  uint32_t width = port->layout->slot_count;
  size_t at = queue->count;
  grow(queue, 1, width, true, true);
  net_row_copy(queue->rows + at * width, row, width);
  queue->marks[at] = marks;
  queue->ids[at] = id;
  queue->times[at] = time_of_other(inbox, port->layout, row, marks);
  if (at > queue->head && (queue->times[at - 1] > queue->times[at] ||
                           (queue->times[at - 1] == queue->times[at] &&
                            rank_of(inbox, queue->marks[at - 1]) > rank_of(inbox, marks))))
    disorder(queue, queue->times[queue->head]);
  if (queue->unsorted) note_time(queue, queue->times[at]);
  queue->count++;
}

static void add_start(struct net_inbox_port *port, const union net_slot *row, uint8_t marks,
                      uint64_t id) {
  struct net_inbox_queue *queue = &port->starts;
  uint32_t width = port->layout->slot_count;
  union net_slot *to = queue->rows + queue->count * width;
  net_row_copy(to, row, width);
  queue->marks[queue->count] = marks;
  if (queue->has_ids) queue->ids[queue->count] = id;
  bool falls = queue->count > queue->head && to[-(ptrdiff_t)width].i > to->i;
  note_starts(queue, to, 1, width, !falls);
  queue->count++;
}

/* A plain batch: nothing but starts, in order if it says so, without ids. */
static void add_plain(struct net_inbox_port *port, const struct net_batch *batch) {
  struct net_inbox_queue *queue = &port->starts;
  uint32_t width = port->layout->slot_count;
  union net_slot *to = queue->rows + queue->count * width;
  if (batch->selection == NULL)
    memcpy(to, batch->rows, (size_t)batch->count * width * sizeof *to);
  else
    net_rows_copy(to, width, batch->rows, width, batch->selection, batch->count);
  memset(queue->marks + queue->count, NET_DEFINITE | NET_INBOX_PLAIN, batch->count);
  if (queue->has_ids) memset(queue->ids + queue->count, 0, batch->count * sizeof *queue->ids);
  bool falls = queue->count > queue->head && to[-(ptrdiff_t)width].i > to->i;
  note_starts(queue, to, batch->count, width, !batch->unordered && !falls);
  queue->count += batch->count;
}

/* Rows that stand together and have no ids, if all of them are starts; false: they are not. */
static bool add_starts(struct net_inbox_port *port, const struct net_batch *batch) {
  struct net_inbox_queue *queue = &port->starts;
  uint32_t width = port->layout->slot_count;
  uint8_t marks = 0;
  for (uint32_t i = 0; i < batch->count; i++) marks |= batch->marks[i];
  if (marks & (NET_CLOSES | NET_ROUND)) return false;
  union net_slot *to = queue->rows + queue->count * width;
  memcpy(to, batch->rows, (size_t)batch->count * width * sizeof *to);
  memcpy(queue->marks + queue->count, batch->marks, batch->count);
  if (queue->has_ids) memset(queue->ids + queue->count, 0, batch->count * sizeof *queue->ids);
  const union net_slot *row = to + (queue->count == queue->head ? width : 0);
  const union net_slot *end = to + (size_t)batch->count * width;
  bool falls = false;
  for (; row < end; row += width) falls |= row[-(ptrdiff_t)width].i > row->i;
  note_starts(queue, to, batch->count, width, !falls);
  queue->count += batch->count;
  return true;
}

void net_inbox_add(struct net_inbox *inbox, unsigned port_index, const struct net_batch *batch) {
  struct net_inbox_port *port = &inbox->ports[port_index];
  if (batch->checkpoint > port->checkpoint) port->checkpoint = batch->checkpoint;
  if (batch->count == 0) return;
  bool ids = batch->ids != NULL && !batch->plain;
  grow(&port->starts, batch->count, port->layout->slot_count, ids || port->starts.has_ids, false);
  if (batch->plain) {
    add_plain(port, batch);
    return;
  }
  port->starts.mixed = true;
  if (batch->ids == NULL && batch->selection == NULL && add_starts(port, batch)) return;
  for (uint32_t i = 0; i < batch->count; i++) {
    uint8_t marks = net_batch_marks(batch, i);
    if (marks & (NET_CLOSES | NET_ROUND)) {
      add_other(inbox, port, net_batch_row(batch, i), marks, net_batch_id(batch, i));
    } else {
      add_start(port, net_batch_row(batch, i), marks, net_batch_id(batch, i));
    }
  }
}

net_chronon net_inbox_checkpoint(const struct net_inbox *inbox) {
  net_chronon checkpoint = inbox->ports[0].checkpoint;
  if (inbox->port_count == 2 && inbox->ports[1].checkpoint < checkpoint)
    checkpoint = inbox->ports[1].checkpoint;
  return checkpoint < inbox->limit ? checkpoint : inbox->limit;
}

/* --- putting in order */

struct net_inbox_place {
  net_chronon time;
  size_t index;
  uint8_t rank;
};

static int compare_places(const void *left, const void *right) {
  const struct net_inbox_place *a = left, *b = right;
  if (a->time != b->time) return a->time < b->time ? -1 : 1;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  return (a->index > b->index) - (a->index < b->index);
}

static bool is_behind(const struct net_inbox_place *a, const struct net_inbox_place *b) {
  return a->time > b->time || (a->time == b->time && a->rank > b->rank);
}

/* Places that stand in the order of arrival come in that of compare_places. Mostly they are nearly there, as
 * an aggregate's segments are, which come as they stop: then they are inserted. */
static void sort_places(struct net_inbox_place *places, size_t count) {
  size_t steps = 0, most = 24 * count;
  for (size_t i = 1; i < count; i++) {
    struct net_inbox_place place = places[i];
    size_t at = i;
    for (; at > 0 && is_behind(&places[at - 1], &place); at--) places[at] = places[at - 1];
    places[at] = place;
    steps += i - at;
    if (steps <= most) continue;
    qsort(places, count, sizeof *places, compare_places);
    return;
  }
}

/* Rows from HEAD on come to the beginning of the queue, in order. */
static void sort_queue(const struct net_inbox *inbox, struct net_inbox_port *port,
                       struct net_inbox_queue *queue) {
  size_t waiting = queue->count - queue->head, width = port->layout->slot_count;
  bool others = queue == &port->others;
  base_grow(&port->places, &port->place_capacity, waiting, sizeof *port->places);
  struct net_inbox_place *places = port->places;
  for (size_t i = 0; i < waiting; i++) {
    size_t from = queue->head + i;
    places[i] =
        (struct net_inbox_place){.time = others ? queue->times[from] : queue->rows[from * width].i,
                                 .rank = others ? rank_of(inbox, queue->marks[from]) : 1,
                                 .index = from};
  }
  sort_places(places, waiting);
  struct net_inbox_queue sorted = port->spare;
  sorted.has_ids = queue->has_ids;
  sorted.mixed = queue->mixed;
  sorted.unsorted = false;
  sorted.head = sorted.count = 0;
  sorted.most = queue->most;
  grow(&sorted, waiting, (uint32_t)width, queue->has_ids, others);
  for (size_t i = 0; i < waiting; i++) {
    size_t from = places[i].index;
    memcpy(sorted.rows + i * width, queue->rows + from * width, width * sizeof *sorted.rows);
    sorted.marks[i] = queue->marks[from];
    if (queue->has_ids) sorted.ids[i] = queue->ids[from];
    if (others) sorted.times[i] = queue->times[from];
  }
  sorted.count = waiting;
  port->spare = *queue;
  *queue = sorted;
}

/* Is QUEUE not in order, and is anything in it before CHECKPOINT? */
static bool needs_order(const struct net_inbox_queue *queue, net_chronon checkpoint) {
  return queue->unsorted && (queue->earliest < checkpoint || checkpoint == NET_FOREVER);
}

void net_inbox_sort(struct net_inbox *inbox) {
  net_chronon checkpoint = net_inbox_checkpoint(inbox);
  for (unsigned i = 0; i < inbox->port_count; i++) {
    struct net_inbox_port *port = &inbox->ports[i];
    if (needs_order(&port->starts, checkpoint)) sort_queue(inbox, port, &port->starts);
    if (needs_order(&port->others, checkpoint)) sort_queue(inbox, port, &port->others);
  }
}

/* --- going out */

static bool is_earlier(const struct net_inbox_item *a, const struct net_inbox_item *b) {
  return a->time < b->time || (a->time == b->time && a->rank < b->rank);
}

const union net_slot *net_inbox_next(struct net_inbox *inbox, struct net_inbox_item *ret_item,
                                     unsigned *ret_port) {
  net_chronon checkpoint = net_inbox_checkpoint(inbox);
  struct net_inbox_queue *best = NULL;
  unsigned best_port = 0;
  net_inbox_sort(inbox);
  for (unsigned i = 0; i < inbox->port_count; i++) {
    struct net_inbox_port *port = &inbox->ports[i];
    struct net_inbox_queue *queues[] = {&port->starts, &port->others};
    for (unsigned q = 0; q < 2; q++) {
      struct net_inbox_queue *queue = queues[q];
      if (queue->head == queue->count) continue;
      struct net_inbox_item item = {.marks = queue->marks[queue->head] & (uint8_t)~NET_INBOX_PLAIN};
      item.time = q == 0 ? net_inbox_row(port, queue, queue->head)[0].i : queue->times[queue->head];
      item.rank = q == 0 ? 1 : rank_of(inbox, item.marks);
      if (item.time >= checkpoint && checkpoint != NET_FOREVER) continue;
      if (best != NULL && !is_earlier(&item, ret_item)) continue;
      best = queue;
      best_port = i;
      *ret_item = item;
    }
  }
  if (best == NULL) return NULL;
  ret_item->id = best->has_ids ? best->ids[best->head] : 0;
  if (ret_port != NULL) *ret_port = best_port;
  return net_inbox_row(&inbox->ports[best_port], best, best->head++);
}

bool net_inbox_has_starts_only(const struct net_inbox *inbox) {
  const struct net_inbox_queue *others = &inbox->ports[0].others;
  return inbox->port_count == 1 && others->head == others->count;
}

size_t net_inbox_take_starts(struct net_inbox *inbox, const union net_slot **ret_rows,
                             const uint8_t **ret_marks) {
  struct net_inbox_port *port = &inbox->ports[0];
  struct net_inbox_queue *queue = &port->starts;
  net_chronon checkpoint = net_inbox_checkpoint(inbox);
  BASE_CHECK(net_inbox_has_starts_only(inbox), "inbox-starts-alone");
  net_inbox_sort(inbox);
  size_t low = queue->head, high = queue->count;
  if (checkpoint == NET_FOREVER) low = high;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (net_inbox_row(port, queue, middle)[0].i < checkpoint)
      low = middle + 1;
    else
      high = middle;
  }
  size_t count = low - queue->head;
  *ret_rows = count > 0 ? net_inbox_row(port, queue, queue->head) : NULL;
  *ret_marks = queue->marks + queue->head;
  queue->head = low;
  return count;
}

/* A look at what is used every so many rounds: what comes and goes with each of them must not be allocated anew. */
enum { ROUNDS = 256, FEW_ROWS = 256 };

static void keep_room(struct net_inbox_queue *queue, size_t count, size_t width) {
  queue->row_capacity = count * width;
  queue->rows = base_xrealloc(queue->rows, queue->row_capacity, sizeof *queue->rows);
  queue->mark_capacity = count;
  queue->marks = base_xrealloc(queue->marks, count, sizeof *queue->marks);
  free(queue->ids);
  free(queue->times);
  queue->ids = NULL;
  queue->times = NULL;
  queue->id_capacity = queue->time_capacity = 0;
}

/* Of an empty queue twice the room that was needed is kept. True: the rest was much, and is given back. */
static bool give_back(struct net_inbox_queue *queue, size_t width) {
  size_t most = queue->most > FEW_ROWS ? queue->most : FEW_ROWS;
  queue->most = 0;
  if (queue->mark_capacity / 4 <= most) return false;
  keep_room(queue, 2 * most, width);
  return true;
}

static void drop_scratch(struct net_inbox_port *port) {
  queue_done(&port->spare);
  free(port->places);
  port->spare = (struct net_inbox_queue){.rows = NULL};
  port->places = NULL;
  port->place_capacity = 0;
}

static void tidy_queue(struct net_inbox_queue *queue, size_t width, bool times) {
  size_t waiting = queue->count - queue->head;
  if (queue->count > queue->most) queue->most = queue->count;
  if (waiting == 0) {
    queue->head = queue->count = 0;
    queue->has_ids = queue->unsorted = queue->mixed = false;
    return;
  }
  if (queue->head <= waiting) return;
  memcpy(queue->rows, queue->rows + queue->head * width, waiting * width * sizeof *queue->rows);
  memcpy(queue->marks, queue->marks + queue->head, waiting);
  if (queue->has_ids) memcpy(queue->ids, queue->ids + queue->head, waiting * sizeof *queue->ids);
  if (times) memcpy(queue->times, queue->times + queue->head, waiting * sizeof *queue->times);
  queue->head = 0;
  queue->count = waiting;
}

/* A queue with much room in which something waits is looked at again in the next round. */
static void look_at_room(struct net_inbox *inbox) {
  bool again = false;
  for (unsigned i = 0; i < inbox->port_count; i++) {
    struct net_inbox_port *port = &inbox->ports[i];
    struct net_inbox_queue *queues[] = {&port->starts, &port->others};
    for (unsigned q = 0; q < 2; q++) {
      if (queues[q]->mark_capacity / 4 <= FEW_ROWS) continue;
      if (queues[q]->count > 0)
        again = true;
      else if (give_back(queues[q], port->layout->slot_count))
        drop_scratch(port);
    }
  }
  if (!again) inbox->rounds = 0;
}

void net_inbox_tidy(struct net_inbox *inbox) {
  for (unsigned i = 0; i < inbox->port_count; i++) {
    struct net_inbox_port *port = &inbox->ports[i];
    if (port->starts.count > 0) tidy_queue(&port->starts, port->layout->slot_count, false);
    if (port->others.count > 0) tidy_queue(&port->others, port->layout->slot_count, true);
  }
  if (inbox->rounds++ >= ROUNDS) look_at_room(inbox);
}

size_t net_inbox_rows(const struct net_inbox *inbox) {
  size_t rows = 0;
  for (unsigned i = 0; i < inbox->port_count; i++) {
    const struct net_inbox_port *port = &inbox->ports[i];
    rows += port->starts.count - port->starts.head + port->others.count - port->others.head;
  }
  return rows;
}

static size_t queue_bytes(const struct net_inbox_queue *queue) {
  return queue->row_capacity * sizeof *queue->rows + queue->mark_capacity * sizeof *queue->marks +
         queue->id_capacity * sizeof *queue->ids + queue->time_capacity * sizeof *queue->times;
}

size_t net_inbox_bytes(const struct net_inbox *inbox) {
  size_t bytes = 0;
  for (unsigned i = 0; i < inbox->port_count; i++) {
    const struct net_inbox_port *port = &inbox->ports[i];
    bytes += queue_bytes(&port->starts) + queue_bytes(&port->others) + queue_bytes(&port->spare) +
             port->place_capacity * sizeof *port->places;
  }
  return bytes;
}

void net_inbox_mark_strings(const struct net_inbox *inbox, struct base_strings *strings) {
  for (unsigned i = 0; i < inbox->port_count; i++) {
    const struct net_inbox_port *port = &inbox->ports[i];
    for (size_t j = port->starts.head; j < port->starts.count; j++)
      net_row_mark_strings(port->layout, strings, net_inbox_row(port, &port->starts, j));
    for (size_t j = port->others.head; j < port->others.count; j++)
      net_row_mark_strings(port->layout, strings, net_inbox_row(port, &port->others, j));
  }
}
