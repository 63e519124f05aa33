/* What is to be looked at again when the checkpoint has passed a time: of many things, each known by a number, those
 * whose time comes first.
 *
 * The first eighth of them is kept, in a heap: all whose time is before the HORIZON. When that has been used up, the
 * owner says again of everything when it is due, which it does once for as many as were kept: so nothing is kept of a
 * thing that is due much later, and what is over by then costs nothing. A number may come up more than once, and
 * without cause: its thing may be gone, or another one has its number.                                   */
#ifndef NET_DUE_H
#define NET_DUE_H

#include <stddef.h>

#include "engine/time.h"

struct net_due_item {
  net_chronon time;
  uint32_t what;
} __attribute__((packed, aligned(4)));

/* Zeroed it is empty, and after net_due_spend everything has to be said. */
struct net_due {
  struct net_due_item *items;
  size_t count, capacity;
  size_t most; /* so many are kept */
  net_chronon horizon;
};

/* Forgets all: everything has to be said again, and until then nothing is kept. */
void net_due_spend(struct net_due *due);
void net_due_done(struct net_due *due);
size_t net_due_bytes(const struct net_due *due); /* memory held */

/* WHAT is due at TIME, after all that came up. Nothing is kept of what is due at the horizon or later. */
void net_due_add(struct net_due *due, net_chronon time, uint32_t what);
/* Is it not known any more what comes up by TIME? Then all things are to be looked at, and said again, between
 * net_due_begin, which forgets them, and net_due_end. LIVE: how many there are. */
bool net_due_is_spent(const struct net_due *due, net_chronon time);
void net_due_begin(struct net_due *due, size_t live);
void net_due_say(struct net_due *due, net_chronon time, uint32_t what);
void net_due_end(struct net_due *due);
/* The next one whose time is not after TIME, which is then forgotten; false: there is none. */
bool net_due_take(struct net_due *due, net_chronon time, uint32_t *ret);

#endif
