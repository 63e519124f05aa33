/* What a join has to know of the nodes behind it to do their work for plain rows (tail.c).        */
#ifndef NET_NODES_PRODUCT_BEHIND_H
#define NET_NODES_PRODUCT_BEHIND_H

#include "engine/node_impl.h"

const struct net_program *net_selection_predicate(const struct net_node *selection);

struct net_applied {
  const struct net_program *program;
  uint32_t in_slots; /* of the rows that the program reads; behind them is its value */
  uint32_t slots;    /* of the value, all alike */
};
/* Of an apply node whose value is one number in plain rows; false: it is not. */
bool net_apply_is_number(const struct net_node *apply, struct net_applied *ret);

struct net_projected {
  uint32_t start_slot, stop_slot;
  bool same;     /* rows of the result are those of the input */
  bool in_order; /* plain ones start when those of the input do */
};
void net_projection_of(const struct net_node *projection, struct net_projected *ret);
/* The slot of the input that is at slot TO of the result, a field's. */
uint32_t net_projection_source(const struct net_node *projection, uint32_t to);

#endif
