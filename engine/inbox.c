/* Inbox: see inbox.h. Rows are copied into a slab per port; items refer to them by index and are
 * sorted only when they came out of order.                                                          */
#include "engine/inbox.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"

void net_inbox_init(struct net_inbox *inbox, const struct net_layout *left,
                    const struct net_layout *right, enum net_inbox_closes closes) {
  memset(inbox, 0, sizeof *inbox);
  inbox->ports[0].layout = left;
  inbox->ports[1].layout = right;
  inbox->port_count = right ? 2 : 1;
  inbox->closes = closes;
  for (unsigned i = 0; i < inbox->port_count; i++) inbox->ports[i].checkpoint = NET_BEGINNING;
}

void net_inbox_done(struct net_inbox *inbox) {
  for (unsigned i = 0; i < 2; i++) {
    free(inbox->ports[i].slab);
    free(inbox->ports[i].items);
  }
  memset(inbox, 0, sizeof *inbox);
}

static int compare_items(const struct net_inbox_item *a, const struct net_inbox_item *b) {
  if (a->time != b->time) return a->time < b->time ? -1 : 1;
  if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
  return (a->sequence > b->sequence) - (a->sequence < b->sequence);
}

static int compare_for_sort(const void *a, const void *b) {
  return compare_items(a, b);
}

static void key_row(const struct net_inbox *inbox, const struct net_layout *layout,
                    const union net_slot *row, struct net_inbox_item *item) {
  item->time = row[0].i;
  item->rank = item->marks & NET_ROUND ? 2 : 1;
  if (!(item->marks & NET_CLOSES)) return;
  item->rank = inbox->closes == NET_CLOSES_BEFORE_RECORDS ? 0 : 2;
  if (inbox->closes != NET_CLOSES_AT_STOPS) return;
  if (layout->tuple_class == NET_PERIOD && row[2].i != NET_OPEN && row[2].i > row[0].i) {
    item->time = row[2].i;
    item->rank = 0;
  }
}

void net_inbox_add(struct net_inbox *inbox, unsigned port_index, const struct net_batch *batch) {
  struct net_inbox_port *port = &inbox->ports[port_index];
  uint32_t width = port->layout->slot_count;
  base_grow(&port->items, &port->capacity, port->count + batch->count, sizeof *port->items);
  base_grow(&port->slab, &port->slab_capacity, (port->slab_rows + batch->count) * (size_t)width,
            sizeof *port->slab);
  for (uint32_t i = 0; i < batch->count; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    struct net_inbox_item item = {.sequence = inbox->sequence++,
                                  .id = net_batch_id(batch, i),
                                  .row = (uint32_t)port->slab_rows,
                                  .marks = net_batch_marks(batch, i)};
    key_row(inbox, port->layout, row, &item);
    memcpy(port->slab + port->slab_rows * width, row, width * sizeof *row);
    port->slab_rows++;
    if (port->count > port->head && compare_items(&port->items[port->count - 1], &item) > 0)
      port->unsorted = true;
    port->items[port->count++] = item;
  }
  if (batch->checkpoint > port->checkpoint) port->checkpoint = batch->checkpoint;
}

net_chronon net_inbox_checkpoint(const struct net_inbox *inbox) {
  net_chronon checkpoint = inbox->ports[0].checkpoint;
  if (inbox->port_count == 2 && inbox->ports[1].checkpoint < checkpoint)
    checkpoint = inbox->ports[1].checkpoint;
  return checkpoint;
}

const union net_slot *net_inbox_next(struct net_inbox *inbox, struct net_inbox_item *ret_item,
                                     unsigned *ret_port) {
  net_chronon checkpoint = net_inbox_checkpoint(inbox);
  unsigned best = 2;
  for (unsigned i = 0; i < inbox->port_count; i++) {
    struct net_inbox_port *port = &inbox->ports[i];
    if (port->head == port->count) continue;
    if (port->unsorted) {
      qsort(port->items + port->head, port->count - port->head, sizeof *port->items,
            compare_for_sort);
      port->unsorted = false;
    }
    const struct net_inbox_item *item = &port->items[port->head];
    if (item->time >= checkpoint && checkpoint != NET_FOREVER) continue;
    if (best == 2) {
      best = i;
    } else {
      const struct net_inbox_item *other = &inbox->ports[best].items[inbox->ports[best].head];
      if (item->time < other->time || (item->time == other->time && item->rank < other->rank))
        best = i;
    }
  }
  if (best == 2) return NULL;
  struct net_inbox_port *port = &inbox->ports[best];
  *ret_item = port->items[port->head++];
  if (ret_port != NULL) *ret_port = best;
  return port->slab + (size_t)ret_item->row * port->layout->slot_count;
}

void net_inbox_tidy(struct net_inbox *inbox) {
  for (unsigned i = 0; i < inbox->port_count; i++) {
    struct net_inbox_port *port = &inbox->ports[i];
    size_t width = port->layout->slot_count;
    if (port->head == port->count) {
      port->head = port->count = port->slab_rows = 0;
      port->unsorted = false;
    } else if (port->head > port->count - port->head && port->head > 64) {
      /* Most of the slab is waste: copy what waits to a new one. */
      size_t waiting = port->count - port->head;
      union net_slot *slab = base_xcalloc(waiting * 2 * width, sizeof *slab);
      for (size_t j = 0; j < waiting; j++) {
        struct net_inbox_item *item = &port->items[j];
        *item = port->items[port->head + j];
        memcpy(slab + j * width, port->slab + item->row * width, width * sizeof *slab);
        item->row = (uint32_t)j;
      }
      free(port->slab);
      port->slab = slab;
      port->slab_capacity = waiting * 2 * width;
      port->slab_rows = waiting;
      port->head = 0;
      port->count = waiting;
    }
  }
}

size_t net_inbox_rows(const struct net_inbox *inbox) {
  size_t rows = 0;
  for (unsigned i = 0; i < inbox->port_count; i++)
    rows += inbox->ports[i].count - inbox->ports[i].head;
  return rows;
}

size_t net_inbox_bytes(const struct net_inbox *inbox) {
  size_t bytes = 0;
  for (unsigned i = 0; i < inbox->port_count; i++) {
    const struct net_inbox_port *port = &inbox->ports[i];
    bytes += port->capacity * sizeof *port->items + port->slab_capacity * sizeof *port->slab;
  }
  return bytes;
}

void net_inbox_mark_strings(const struct net_inbox *inbox, struct base_strings *strings) {
  for (unsigned i = 0; i < inbox->port_count; i++) {
    const struct net_inbox_port *port = &inbox->ports[i];
    for (size_t j = port->head; j < port->count; j++)
      net_row_mark_strings(port->layout, strings,
                           port->slab + (size_t)port->items[j].row * port->layout->slot_count);
  }
}
