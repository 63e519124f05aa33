/* Aggregate: what a row says of itself, whatever becomes of it. How surely it counts, its argument, its place in the
 * order of tuples, and how it is named where its group has no value. */
#include "engine/base/strings.h"
#include "engine/nodes/aggregate/aggregate.h"

enum net_truth net_agg_counts(const struct net_aggregate_params *params,
                              const union net_slot *row) {
  const struct net_field *fields = params->in->fields;
  if (params->where_field >= 0 && row[fields[params->where_field].slot].i == 0) return NET_FALSE;
  if (params->when_field < 0 || row[fields[params->when_field].slot].i != 0) return NET_TRUE;
  return row[fields[params->unless_field].slot].i != 0 ? NET_FALSE : NET_UNKNOWN;
}

union net_slot net_agg_argument(const struct net_aggregate *node, const union net_slot *row) {
  if (node->function == NET_AGG_VARTS) return (union net_slot){.i = 0};
  return node->params.argument_field < 0 ? (union net_slot){.i = 1} : row[node->argument_slot];
}

struct net_ordered_key net_agg_key(const struct net_aggregate *node, const union net_slot *row) {
  struct net_ordered_key key = {.value = net_agg_argument(node, row)};
  if (!node->timeless) key.start = net_row_start(row);
  if (node->chooses_time && node->params.in->tuple_class == NET_PERIOD)
    key.stop = net_slot_instant(row, 2);
  if (node->argument == NET_TEMPORAL && node->function != NET_AGG_VARTS)
    key.slope = row[node->argument_slot + 1].f;
  return key;
}

enum base_status net_agg_error(struct net_aggregate *node, enum net_eval_error error,
                               uint32_t index, net_chronon now) {
  if (index == node->last_group)
    return net_node_error(&node->node, error, node->params.in, node->last_row);
  const struct net_layout *layout = node->group_layout;
  const union net_slot *key = net_rowmap_row(&node->groups, index);
  node->group_row[0].i = node->group_row[1].i = now;
  for (uint32_t i = 0; i < layout->field_count; i++)
    node->group_row[layout->fields[i].slot] = key[node->by_slots[i]];
  return net_node_error(&node->node, error, layout, node->group_row);
}

bool net_agg_has_argument(const struct net_aggregate *node, const union net_slot *row) {
  return node->argument != NET_TEMPORAL || row[node->argument_slot + 3].f == 0 ||
         net_agg_counts(&node->params, row) == NET_FALSE;
}

/* --- order */

static int compare_integers(int64_t a, int64_t b) {
  return (a > b) - (a < b);
}

int net_agg_compare_values(const void *context, union net_slot a, union net_slot b) {
  const struct net_aggregate *node = context;
  switch (node->argument) {
    case NET_FLOAT:
      return (a.f > b.f) - (a.f < b.f);
    case NET_STRING:
    case NET_BYTES:
    case NET_NAME:
      return base_strings_compare(net_network_strings(node->node.network), a.s, b.s);
    default:
      return compare_integers(a.i, b.i);
  }
}

int net_agg_compare(const struct net_aggregate *node, const struct net_ordered_key *a,
                    const struct net_ordered_key *b) {
  if (a->start.lo != b->start.lo) return compare_integers(a->start.lo, b->start.lo);
  if (a->start.hi != b->start.hi) return compare_integers(a->start.hi, b->start.hi);
  if (!node->chooses_time) return net_agg_compare_values(node, a->value, b->value);
  if (a->stop.lo != b->stop.lo) return compare_integers(a->stop.lo, b->stop.lo);
  return compare_integers(a->stop.hi, b->stop.hi);
}
