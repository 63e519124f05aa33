/* An inbox keeps rows of one or two ports until the checkpoints allow them to be processed, and gives
 * them out in temporal order.
 *
 * Key of a row: its start, then starts before closes, then port, then arrival. So a close comes as soon
 * as the row that it closes has come, however far ahead its stop lies: what is known of a period then
 * does not depend on whether it came whole or in parts. Inboxes of records differ, see below.       */
#ifndef NET_INBOX_H
#define NET_INBOX_H

#include "engine/batch.h"

/* When a closing row comes. */
enum net_inbox_closes {
  NET_CLOSES_AFTER_STARTS,   /* of an arc: with the start that it repeats */
  NET_CLOSES_BEFORE_RECORDS, /* end records of an entity: before the records of their time */
  NET_CLOSES_AT_STOPS,       /* end records of periods: at their stop, before what starts then */
};

/* In the queue, beside a row's own marks: it came in a plain batch (batch.h). */
enum { NET_INBOX_PLAIN = 128 };

/* A row as it is given out. */
struct net_inbox_item {
  net_chronon time;
  uint64_t id;
  uint8_t rank; /* 0 end records, 1 starts, 2 closes, ends of rounds */
  uint8_t marks;
};

/* Rows of one port that wait, with what belongs to them, in the order of time, rank and arrival unless
 * UNSORTED. They mostly come in that order. */
struct net_inbox_queue {
  union net_slot *rows;
  uint8_t *marks;
  uint64_t *ids;      /* good while HAS_IDS; else all are 0 */
  net_chronon *times; /* of closes; that of a start is its first slot */
  size_t row_capacity, mark_capacity, id_capacity, time_capacity;
  size_t head, count;   /* head .. count - 1 wait */
  size_t most;          /* the greatest count since a look at how much is used */
  net_chronon earliest; /* while UNSORTED: no row that waits is before it */
  bool has_ids, unsorted;
  bool mixed; /* some came in a batch that was not plain (batch.h) */
};

struct net_inbox_port {
  const struct net_layout *layout;
  struct net_inbox_queue starts;
  struct net_inbox_queue others; /* closes, ends of rounds */
  /* for sorting: */
  struct net_inbox_queue spare;
  struct net_inbox_place *places;
  size_t place_capacity;
  net_chronon checkpoint;
};

struct net_inbox {
  struct net_inbox_port ports[2];
  unsigned port_count;
  unsigned rounds; /* since a look at how much room is used */
  enum net_inbox_closes closes;
  net_chronon limit; /* nobody wants what starts then or later; FOREVER: it is not so */
};

void net_inbox_init(struct net_inbox *inbox, const struct net_layout *left,
                    const struct net_layout *right /* NULL: one port */,
                    enum net_inbox_closes closes);
void net_inbox_done(struct net_inbox *inbox);
/* Copies the rows in. The port's checkpoint never goes back. */
void net_inbox_add(struct net_inbox *inbox, unsigned port, const struct net_batch *batch);
/* The smallest checkpoint of the ports, and no later than LIMIT. */
net_chronon net_inbox_checkpoint(const struct net_inbox *inbox);
/* The next row before the smallest checkpoint (at forever: all rows), or NULL. The row is good until
 * net_inbox_tidy.                                                                                   */
const union net_slot *net_inbox_next(struct net_inbox *inbox, struct net_inbox_item *ret_item,
                                     unsigned *ret_port);
/* Has it one port, at which nothing waits but starts? (Whose marks are as they came if no batch was plain.) */
bool net_inbox_has_starts_only(const struct net_inbox *inbox);
/* Then all rows that net_inbox_next would give, at once. *RET_ROWS and *RET_MARKS are good until the next net_inbox_add or net_inbox_tidy. */
size_t net_inbox_take_starts(struct net_inbox *inbox, const union net_slot **ret_rows,
                             const uint8_t **ret_marks);
/* The row of PORT at INDEX of QUEUE, one of its own. */
static inline const union net_slot *net_inbox_row(const struct net_inbox_port *port,
                                                  const struct net_inbox_queue *queue,
                                                  size_t index) {
  return queue->rows + index * port->layout->slot_count;
}
/* The row at INDEX of those that wait at PORT, starts first, and its marks; NULL behind the last. */
static inline const union net_slot *net_inbox_waiting(const struct net_inbox_port *port,
                                                      size_t index, uint8_t *ret_marks) {
  const struct net_inbox_queue *queue = &port->starts;
  if (index >= queue->count - queue->head) {
    index -= queue->count - queue->head;
    queue = &port->others;
  }
  if (index >= queue->count - queue->head) return NULL;
  *ret_marks = queue->marks[queue->head + index] & (uint8_t)~NET_INBOX_PLAIN;
  return net_inbox_row(port, queue, queue->head + index);
}
/* Sorts what is unsorted, as net_inbox_next does: for those who take rows from the queues themselves. A queue in which
 * nothing is before the smallest checkpoint may stay as it is. */
void net_inbox_sort(struct net_inbox *inbox);
/* Forgets rows given out; call after a round of net_inbox_next. Room that many rounds have not needed is given back. */
void net_inbox_tidy(struct net_inbox *inbox);
size_t net_inbox_rows(const struct net_inbox *inbox);
size_t net_inbox_bytes(const struct net_inbox *inbox); /* memory held */
void net_inbox_mark_strings(const struct net_inbox *inbox, struct base_strings *strings);

#endif
