/* See due.h. While all is said, the heap has the latest of those kept at its top, which has to go when an earlier one
 * comes; afterwards the earliest. */
#include "engine/due.h"

#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/base/binary_heap.h"

enum { FEW = 64, SHARE = 8 };

void net_due_done(struct net_due *due) {
  free(due->items);
  due->items = NULL;
}

size_t net_due_bytes(const struct net_due *due) {
  return due->capacity * sizeof *due->items;
}

static bool is_sooner(const struct net_due_item *a, const struct net_due_item *b,
                      const void *context) {
  (void)context;
  return a->time < b->time;
}
BASE_BINARY_HEAP(soonest, struct net_due_item, is_sooner);

static bool is_later(const struct net_due_item *a, const struct net_due_item *b,
                     const void *context) {
  (void)context;
  return a->time > b->time;
}
BASE_BINARY_HEAP(latest, struct net_due_item, is_later);

static void grow(struct net_due *due) {
  base_grow_little(&due->items, &due->capacity, due->count + 1, sizeof *due->items);
}

void net_due_add(struct net_due *due, net_chronon time, uint32_t what) {
  if (time >= due->horizon) return;
  if (due->count >= due->most) {
    net_due_spend(due);
    return;
  }
  grow(due);
  soonest_up(due->items, due->count++, (struct net_due_item){time, what}, NULL);
}

void net_due_spend(struct net_due *due) {
  due->count = 0;
  due->horizon = NET_BEGINNING;
}

bool net_due_is_spent(const struct net_due *due, net_chronon time) {
  return due->horizon <= time;
}

void net_due_begin(struct net_due *due, size_t live) {
  due->count = 0;
  due->most = live / SHARE + FEW;
  base_shrink(&due->items, &due->capacity, due->most, sizeof *due->items);
  due->horizon = NET_FOREVER;
}

void net_due_say(struct net_due *due, net_chronon time, uint32_t what) {
  if (time >= due->horizon) return;
  if (due->count < due->most) {
    grow(due);
    latest_up(due->items, due->count++, (struct net_due_item){time, what}, NULL);
    return;
  }
  /* The latest goes, or this one, and whatever else is as late. */
  due->horizon = due->items[0].time;
  if (time < due->horizon)
    latest_down(due->items, due->count, 0, (struct net_due_item){time, what}, NULL);
}

void net_due_end(struct net_due *due) {
  soonest_make(due->items, due->count, NULL);
  due->most *= 2;
}

bool net_due_take(struct net_due *due, net_chronon time, uint32_t *ret) {
  if (due->count == 0 || due->items[0].time > time) return false;
  *ret = due->items[0].what;
  due->count--;
  soonest_down(due->items, due->count, 0, due->items[due->count], NULL);
  base_shrink(&due->items, &due->capacity, due->count, sizeof *due->items);
  return true;
}
