/* Losses, of each process in the order of time and apart from each other, so that a question is a binary
 * search among those of the process and one among those of anybody. */
#include <stdlib.h>

#include "engine/base/heap.h"
#include "engine/losses.h"

void net_losses_done(struct net_losses *losses) {
  free(losses->items);
  *losses = (struct net_losses){.items = NULL};
}

void net_losses_add(struct net_losses *losses, struct net_loss loss) {
  if (loss.from >= loss.to) return;
  if (loss.anybody) loss.process = 0;
  base_grow(&losses->items, &losses->capacity, losses->count + 1, sizeof *losses->items);
  losses->items[losses->count++] = loss;
}

static int compare_whose(const struct net_loss *a, const struct net_loss *b) {
  if (a->anybody != b->anybody) return a->anybody ? -1 : 1;
  return (a->process > b->process) - (a->process < b->process);
}

static int by_whose_and_time(const void *a, const void *b) {
  const struct net_loss *x = a, *y = b;
  int order = compare_whose(x, y);
  return order != 0 ? order : (x->from > y->from) - (x->from < y->from);
}

void net_losses_settle(struct net_losses *losses) {
  size_t kept = 0;
  if (losses->count == 0) return;
  qsort(losses->items, losses->count, sizeof *losses->items, by_whose_and_time);
  for (size_t i = 1; i < losses->count; i++) {
    struct net_loss *last = &losses->items[kept], *next = &losses->items[i];
    if (compare_whose(last, next) == 0 && next->from <= last->to) {
      if (next->to > last->to) last->to = next->to;
    } else {
      losses->items[++kept] = *next;
    }
  }
  losses->count = kept + 1;
}

/* The first loss of WHOSE that lasts to TIME or longer, or NULL. */
static const struct net_loss *find(const struct net_losses *losses, const struct net_loss *whose,
                                   net_chronon time) {
  size_t low = 0, high = losses->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const struct net_loss *loss = &losses->items[middle];
    int order = compare_whose(loss, whose);
    bool early = order < 0 || (order == 0 && time >= loss->to);
    if (early)
      low = middle + 1;
    else
      high = middle;
  }
  bool found = low < losses->count && compare_whose(&losses->items[low], whose) == 0;
  return found ? &losses->items[low] : NULL;
}

/* The first instant of WHOSE losses behind AFTER, if that is before BEFORE and *EARLIEST. */
static bool find_between(const struct net_losses *losses, const struct net_loss *whose,
                         net_chronon after, net_chronon before, net_chronon *earliest) {
  net_chronon next = net_chronon_add(after, 1);
  const struct net_loss *loss = find(losses, whose, next);
  if (loss == NULL) return false;
  net_chronon from = loss->from < next ? next : loss->from;
  if (from >= before || from >= *earliest) return false;
  *earliest = from;
  return true;
}

bool net_losses_between(const struct net_losses *losses, base_string_id process, net_chronon after,
                        net_chronon before, net_chronon *ret) {
  net_chronon earliest = NET_FOREVER;
  bool found = find_between(losses, &(struct net_loss){.anybody = true}, after, before, &earliest);
  found |= find_between(losses, &(struct net_loss){.process = process}, after, before, &earliest);
  if (found) *ret = earliest;
  return found;
}

bool net_losses_next(const struct net_losses *losses, base_string_id process, net_chronon time,
                     struct net_loss *ret) {
  const struct net_loss *all = find(losses, &(struct net_loss){.anybody = true}, time);
  const struct net_loss *its = find(losses, &(struct net_loss){.process = process}, time);
  if (all == NULL || (its != NULL && its->from < all->from)) all = its;
  if (all != NULL) *ret = *all;
  return all != NULL;
}

bool net_losses_cut(const struct net_losses *losses, base_string_id process,
                    struct net_period period, net_chronon *ret) {
  net_chronon at;
  if (!net_losses_between(losses, process, period.start.lo, period.stop.hi, &at)) return false;
  if (at >= period.stop.lo) return false;
  *ret = at;
  return true;
}
