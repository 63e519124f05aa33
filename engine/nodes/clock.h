/* What net_run needs of clocks: they are pulled like access nodes. */
#ifndef NET_NODES_CLOCK_H
#define NET_NODES_CLOCK_H

#include "engine/node_impl.h"

/* More ticks than this at once are refused: nobody would wait for them. */
#define NET_CLOCK_TICKS_MAX 1000000000

/* Are ticks due? */
bool net_clock_pulling(const struct net_node *node);
/* Sends a batch of those that are. */
enum base_status net_clock_pull(struct net_node *node);

#endif
