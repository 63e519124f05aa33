/* One combination of two plain rows, for those in whose loops it is (sweep.c), and who give out many (emit.c). */
#ifndef NET_NODES_PRODUCT_EMIT_H
#define NET_NODES_PRODUCT_EMIT_H

#include "engine/nodes/product/product.h"

/* LEFT and RIGHT, both plain, have in common what begins at NOW and ends at STOP. Writes a row of LAYOUT,
 * that of the result or of the predicate. */
static inline void net_product_fill_plain(const struct net_product *product,
                                          const struct net_layout *layout,
                                          const union net_slot *left, const union net_slot *right,
                                          net_chronon now, net_chronon stop, union net_slot *ret) {
  const union net_slot *const rows[2] = {left, right};
  uint32_t first = layout->first_domain_slot, count = layout->slot_count - first;
  ret[0].i = ret[1].i = now;
  if (first == 4) ret[2].i = ret[3].i = stop;
  for (uint32_t i = 0; i < count; i++)
    ret[first + i] = rows[product->slots[i].side][product->slots[i].from];
}

/* They become what goes out, if the predicate holds. MARKS: is the result definite? True: it holds, for sure.
 * *STATUS keeps the first failure. */
static inline bool net_product_emit_plain(struct net_product *product, const union net_slot *left,
                                          const union net_slot *right, uint8_t marks,
                                          net_chronon now, net_chronon stop,
                                          enum base_status *status) {
  const struct net_program *predicate = product->params.predicate;
  const struct net_layout *out = product->node.layout;
  net_chronon bound = product->node.checkpoint;
  bool holds = predicate == NULL;
  if (product->quick != NULL) {
    const union net_slot times[4] = {{.i = now}, {.i = now}, {.i = stop}, {.i = stop}};
    if (net_pair_program_holds(product->quick, left, right, times, &holds) && !holds) return false;
  }
  if (holds) {
    net_product_make_room(product, now, status);
    net_product_fill_plain(product, out, left, right, now, stop,
                           marks == NET_DEFINITE
                               ? net_out_plain(&product->node, bound, status)
                               : net_out_row(&product->node, marks, 0, bound, status));
    return marks == NET_DEFINITE;
  }
  struct net_value value;
  net_product_fill_plain(product, product->params.test, left, right, now, stop, product->scratch);
  enum net_eval_error error = net_program_run(predicate, product->scratch, now, &value);
  if (error == NET_EVAL_OK && value.truth != NET_FALSE) net_product_make_room(product, now, status);
  if (error != NET_EVAL_OK)
    *status = net_node_error(&product->node, error, product->params.test, product->scratch);
  else if (value.truth == NET_TRUE && marks == NET_DEFINITE)
    net_row_copy(net_out_plain(&product->node, bound, status), product->scratch, out->slot_count);
  else if (value.truth != NET_FALSE)
    net_product_put(product, value.truth == NET_TRUE ? marks : 0, 0, bound, status);
  return error == NET_EVAL_OK && value.truth == NET_TRUE && marks == NET_DEFINITE;
}

#endif
