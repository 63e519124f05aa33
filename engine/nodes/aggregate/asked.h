/* What a join and the aggregate that it asks have to do with each other (asked.c). Of the join
 * only the side of the events comes here: at the other one nothing arrives while the aggregate is asked.  */
#ifndef NET_NODES_AGGREGATE_ASKED_H
#define NET_NODES_AGGREGATE_ASKED_H

#include "engine/base/status.h"
#include "engine/batch.h"

struct net_asked;

enum net_asked_port { NET_ASKED_ROWS, NET_ASKED_EVENTS };

/* BATCH came to the aggregate (rows) or to the join (events). True: it is taken, with *STATUS. False: the
 * node takes it itself, as it does all later ones, unless *STATUS has failed.                        */
bool net_asked_take(struct net_asked *asked, enum net_asked_port port,
                    const struct net_batch *batch, enum base_status *status);
void net_asked_mark_strings(const struct net_asked *asked, struct base_strings *strings);
size_t net_asked_rows(const struct net_asked *asked); /* that it keeps */
size_t net_asked_bytes(const struct net_asked *asked);
void net_asked_free(struct net_asked *asked);

#endif
