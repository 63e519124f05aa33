/* See due.h. While all is said, the heap has the latest of those kept at its top, which has to go when an earlier one
 * comes; afterwards the earliest. */
#include "engine/due.h"

#include <stdlib.h>

#include "engine/base/arena.h"

enum { FEW = 64, SHARE = 8 };

void net_due_done(struct net_due *due) {
  free(due->items);
  due->items = NULL;
}

size_t net_due_bytes(const struct net_due *due) {
  return due->capacity * sizeof *due->items;
}

/* Does A belong above B? */
static bool is_above(const struct net_due_item *a, const struct net_due_item *b, bool latest) {
  return latest ? a->time > b->time : a->time < b->time;
}

static void move_up(struct net_due *due, struct net_due_item item, bool latest) {
  size_t at = due->count++;
  for (; at > 0 && is_above(&item, &due->items[(at - 1) / 2], latest); at = (at - 1) / 2)
    due->items[at] = due->items[(at - 1) / 2];
  due->items[at] = item;
}

/* ITEM comes to the place AT, or to one below it. */
static void move_down(struct net_due *due, size_t at, struct net_due_item item, bool latest) {
  for (size_t next; (next = 2 * at + 1) < due->count; at = next) {
    if (next + 1 < due->count && is_above(&due->items[next + 1], &due->items[next], latest)) next++;
    if (!is_above(&due->items[next], &item, latest)) break;
    due->items[at] = due->items[next];
  }
  due->items[at] = item;
}

static void put(struct net_due *due, net_chronon time, uint32_t what, bool latest) {
  base_grow_little(&due->items, &due->capacity, due->count + 1, sizeof *due->items);
  move_up(due, (struct net_due_item){time, what}, latest);
}

void net_due_add(struct net_due *due, net_chronon time, uint32_t what) {
  if (time >= due->horizon) return;
  if (due->count < due->most)
    put(due, time, what, false);
  else
    net_due_spend(due);
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
    put(due, time, what, true);
    return;
  }
  /* The latest goes, or this one, and whatever else is as late. */
  due->horizon = due->items[0].time;
  if (time < due->horizon) move_down(due, 0, (struct net_due_item){time, what}, true);
}

void net_due_end(struct net_due *due) {
  for (size_t at = due->count / 2; at-- > 0;) move_down(due, at, due->items[at], false);
  due->most *= 2;
}

bool net_due_take(struct net_due *due, net_chronon time, uint32_t *ret) {
  if (due->count == 0 || due->items[0].time > time) return false;
  *ret = due->items[0].what;
  struct net_due_item last = due->items[--due->count];
  if (due->count > 0) move_down(due, 0, last, false);
  base_shrink(&due->items, &due->capacity, due->count, sizeof *due->items);
  return true;
}
