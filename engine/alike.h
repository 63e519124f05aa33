/* Open rows that are alike in everything but stops that nobody knows yet.
 *
 * A relation is a set: two such rows are one tuple if they turn out to stop together, and two if not.
 * Whoever counts tuples cannot go on before that is known. This holds open rows back until no other of
 * their identity is open, or had its stop where this one may still have its own; rows that close while
 * they are held come out whole. Everything else goes straight to an inbox. Who reads stops that must be
 * known (ALL) gets no open row at all.
 *
 * To whom copies are as good as one (MIXED) it does not matter, unless one of the rows is there for sure
 * and another perhaps: if they stop together, the tuple is there for sure and nothing is in doubt.     */
#ifndef NET_ALIKE_H
#define NET_ALIKE_H

#include "engine/inbox.h"
#include "engine/rowmap.h"

struct net_alike {
  const struct net_layout *layout;
  bool all;                 /* holds every open row back until it closes */
  bool mixed;               /* only rows of different certainty are held back for each other */
  struct net_rowmap held;   /* by id; state: marks */
  struct net_rowmap groups; /* by identity; how many are held, and until when others of it closed */
  net_chronon checkpoint;
};

void net_alike_init(struct net_alike *alike, const struct net_layout *layout);
void net_alike_done(struct net_alike *alike);
/* Takes the rows of BATCH; what need not be held, and what the batch's checkpoint settles, goes to
 * INBOX, whose checkpoint becomes the batch's, or the start of the earliest rows that wait.         */
void net_alike_add(struct net_alike *alike, const struct net_batch *batch, struct net_inbox *inbox);
/* May the rows of BATCH go on as they are, without the inbox? Then what has to be known of them is. */
bool net_alike_pass(struct net_alike *alike, const struct net_batch *batch);
size_t net_alike_bytes(const struct net_alike *alike); /* memory held */
void net_alike_mark_strings(const struct net_alike *alike, struct base_strings *strings);

#endif
