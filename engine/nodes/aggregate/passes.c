/* What counts though it does not come: of records that are left out where they arise it is said how many there are
 * (thesis 7.2.5).
 *
 *      rows ──▶ groups ◀── so many more of this one
 */
#include "engine/nodes/aggregate/aggregate.h"

/* Is the group whose fields ROW has asked for? */
static bool is_asked_for(const struct net_aggregate_params *params, const union net_slot *row) {
  for (size_t i = 0; i < params->asked_for_count; i++) {
    struct net_value value;
    enum net_eval_error error = net_program_run(params->asked_for[i], row, NET_BEGINNING, &value);
    if (error != NET_EVAL_OK || value.truth != NET_TRUE) return false;
  }
  return true;
}

static void add(int64_t *number, int64_t count) {
  if (__builtin_add_overflow(*number, count, number)) *number = INT64_MAX;
}

void net_aggregate_pass(struct net_node *base, union net_slot group_value, int64_t count) {
  BASE_CHECK(base->kind == NET_NODE_AGGREGATE, "aggregate-pass-kind");
  struct net_aggregate *node = (struct net_aggregate *)base;
  const struct net_aggregate_params *params = &node->params;
  BASE_CHECK(params->summary && node->function == NET_AGG_COUNT && !params->unique &&
                 params->by_count <= 1 && node->more_count == 0,
             "aggregate-pass-params");
  union net_slot *row = node->passed_row;
  if (params->by_count > 0) row[node->by_slots[0]] = group_value;
  if (count <= 0 || !is_asked_for(params, row)) return;
  bool fresh;
  uint32_t index = net_agg_find_group(node, row, &fresh);
  struct net_agg_group *group = net_agg_group(node, index);
  net_agg_count_present(node, group, NET_TRUE, 1);
  if (node->values_at != 0) net_agg_count_values(node, group, count);
  add(&group->sure, count);
  net_agg_touch(node, index);
}
