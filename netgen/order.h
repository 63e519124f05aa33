/* Temporal order (thesis 7.2.2): in which of the four orders the rows of each arc of a plan come, and who wants
 * them in which. */
#ifndef NG_ORDER_H
#define NG_ORDER_H

#include "netgen/plan.h"

/* The order of what NODE gives out, when those of its inputs are known; ng_node_refresh keeps it in node->order. */
enum net_order ng_order_of(struct ng_plan *plan, const struct ng_node *node);

/* Does PROJECTION start when the rows below it do: at their own start, or at an instant that is always the same? */
bool ng_projection_keeps_start(struct ng_plan *plan, const struct ng_node *projection);
/* Does it never start before them? */
bool ng_projection_is_not_earlier(struct ng_plan *plan, const struct ng_node *projection);

/* Does NODE sort the rows of its input PORT? */
bool ng_node_sorts(const struct ng_node *node, unsigned port);

/* "starts", ... as explain shows it. */
const char *ng_order_name(enum net_order order);

#endif
