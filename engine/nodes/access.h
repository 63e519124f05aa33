/* What net_run needs of access nodes. */
#ifndef NET_NODES_ACCESS_H
#define NET_NODES_ACCESS_H

#include "engine/node_impl.h"

/* Has the node a source that has not ended? */
bool net_access_pulling(const struct net_node *node);
/* Pulls one batch and sends it on. */
enum base_status net_access_pull(struct net_node *node);
/* The latest finite checkpoint that was promised; NET_BEGINNING: none. */
net_chronon net_access_passed(const struct net_node *node);

#endif
