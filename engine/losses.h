/* When records of a relation are known to have been lost, and whose.
 *
 * It is knowledge about what is not known: something may have happened at any instant of a loss. Losses of
 * one process say nothing of others; those of nobody in particular concern all. A lost record is taken to
 * have happened at another chronon than those of its entity that are there. */
#ifndef NET_LOSSES_H
#define NET_LOSSES_H

#include "engine/base/strings.h"
#include "engine/time.h"

/* Records that happened in [from, to): of PROCESS, or of ANYBODY. */
struct net_loss {
  bool anybody;
  base_string_id process;
  net_chronon from, to;
};

/* Zeroed: none. */
struct net_losses {
  struct net_loss *items;
  size_t count, capacity;
};

void net_losses_done(struct net_losses *losses);
void net_losses_add(struct net_losses *losses, struct net_loss loss);
/* After the last addition, before the first question. */
void net_losses_settle(struct net_losses *losses);
/* May a record of PROCESS have been lost that happened behind AFTER and before BEFORE? *RET: when at the earliest. */
bool net_losses_between(const struct net_losses *losses, base_string_id process, net_chronon after,
                        net_chronon before, net_chronon *ret);
/* The first loss of PROCESS, or of anybody, that is not over at TIME. */
bool net_losses_next(const struct net_losses *losses, base_string_id process, net_chronon time,
                     struct net_loss *ret);
/* How long something lasted for sure that begins in START and, by the records that are there, ends in STOP:
 * true, and *RET is that bound of its end, if a loss makes it earlier. */
bool net_losses_cut(const struct net_losses *losses, base_string_id process,
                    struct net_period period, net_chronon *ret);

#endif
