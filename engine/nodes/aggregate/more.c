/* Aggregate: several functions of the same tuples in one node.
 *
 *      count(p by p.k), sum(p.x by p.k)        group: [ count's | sum's ]      out: k, count, sum
 *
 * Groups, members and stops are looked up and waited for once; each function has its own part of a group
 * behind that of the first one, with its tally, and the value of the segment. A segment ends when any of the values does, and there is one only while all are there: the
 * periods are those that a join of the functions' own segments has. What decides whether a segment is
 * omega (who is there, and whether the inner where and when hold) is the same for all of them.
 *
 * A tuple that counts for sure, or does no longer, is told to the functions by its member's row; so they are
 * of sets of tuples, and of their domains (network.h).                                               */
#include <string.h>

#include "engine/base/arena.h"
#include "engine/nodes/aggregate/aggregate.h"

/* A part of a group is one without what the node has for all of them. */
#define PART offsetof(struct net_agg_group, value)

static struct net_agg_group *part_of(const struct net_agg_more *more,
                                     const struct net_agg_group *group) {
  return (struct net_agg_group *)(void *)((unsigned char *)group + more->offset - PART);
}

static size_t rounded(size_t size) {
  size_t alignment = _Alignof(struct net_agg_group);
  return (size + alignment - 1) / alignment * alignment;
}

/* --- the node */

void net_agg_more_init(struct net_aggregate *node, struct base_arena *arena,
                       void (*configure)(struct net_aggregate *function)) {
  const struct net_aggregate_params *params = &node->params;
  size_t offset = rounded(net_agg_group_size(node));
  node->more_count = params->more_count;
  net_rowmap_init(&node->failures, NULL, NET_KEY_ID, 0, NULL, 0, 0);
  node->more = BASE_NEW_ARRAY(arena, params->more_count, struct net_agg_more);
  for (size_t i = 0; i < params->more_count; i++) {
    struct net_aggregate *function = BASE_NEW(arena, struct net_aggregate);
    function->node = node->node;
    function->params = *params;
    function->params.function = params->more[i].function;
    function->params.argument_field = params->more[i].argument_field;
    function->params.some_only = params->more[i].some_only;
    function->params.more_count = 0;
    configure(function);
    bool of_sets = node->set && !node->stands && !function->stands;
    BASE_CHECK(of_sets || params->summary, "aggregate-more-of-sets");
    BASE_CHECK(!params->unique, "aggregate-more-counts-all");
    function->has_stairs = function->is_apart = false; /* stops are the node's own */
    function->part_at = offset - PART;
    net_agg_tally_init(function);
    node->more[i] =
        (struct net_agg_more){.function = function,
                              .offset = offset,
                              .value_slot = params->out->fields[params->by_count + 1 + i].slot};
    offset += rounded(net_agg_group_size(function) - PART);
    node->names_rows = node->names_rows || net_agg_can_fail(function);
  }
}

size_t net_agg_place_rest(struct net_aggregate *node) {
  const struct net_agg_more *last = node->more + node->more_count - (node->more_count > 0);
  size_t size = rounded(net_agg_group_size(node));
  if (node->more_count > 0)
    size = last->offset + rounded(net_agg_group_size(last->function) - PART);
  if (node->params.unique) {
    node->values_at = size;
    size += sizeof(int64_t);
  }
  if (node->params.where_field >= 0 || node->params.when_field >= 0) {
    node->present_at = size;
    size += 2 * sizeof(int64_t);
  }
  return size;
}

void net_agg_more_done(struct net_aggregate *node) {
  net_rowmap_done(&node->failures);
  for (size_t i = 0; i < node->more_count; i++) {
    net_ordered_done(&node->more[i].function->ordered);
    net_sum_done(&node->more[i].function->scratch);
  }
}

size_t net_agg_more_bytes(const struct net_aggregate *node) {
  size_t bytes = net_rowmap_bytes(&node->failures);
  for (size_t i = 0; i < node->more_count; i++)
    bytes += net_ordered_bytes(&node->more[i].function->ordered);
  return bytes;
}

/* --- tuples */

static bool keeps_tally(const struct net_aggregate *function) {
  return function->function != NET_AGG_COUNT && function->function != NET_AGG_ANY;
}

void net_agg_count_more(struct net_aggregate *node, struct net_agg_group *group,
                        const union net_slot *row, bool comes) {
  for (size_t i = 0; i < node->more_count; i++) {
    struct net_aggregate *function = node->more[i].function;
    struct net_agg_group *part = part_of(&node->more[i], group);
    if (!keeps_tally(function)) continue;
    struct net_ordered_key key = {.value = row[function->argument_slot]};
    if (function->adds_integers)
      part->tally.sum += comes ? (net_wide)key.value.i : -(net_wide)key.value.i;
    else if (comes)
      net_agg_add(function, part, &key);
    else
      net_agg_remove(function, part, &key);
  }
}

/* --- values */

/* Does the function at WHICH of the group at INDEX fail, which did not before? Those that do are few: a group itself has
 * but a mark that some may be among them. */
static bool note_failure(struct net_aggregate *node, uint32_t index, size_t which, bool fails) {
  struct net_agg_group *group = net_agg_group(node, index);
  if (!fails && !group->more_failed) return false;
  uint64_t id = (uint64_t)index * node->more_count + which + 1;
  uint32_t place = net_rowmap_find_id(&node->failures, id);
  if (fails == (place != NET_NO_ENTRY)) return false;
  group->more_failed = true;
  if (fails)
    (void)net_rowmap_put_id(&node->failures, id, NULL);
  else
    net_rowmap_remove(&node->failures, place);
  return fails;
}

bool net_agg_tell_more(struct net_aggregate *node, uint32_t index, net_chronon now,
                       enum base_status *status) {
  struct net_agg_group *group = net_agg_group(node, index);
  bool all = true;
  for (size_t i = 0; i < node->more_count; i++) {
    struct net_agg_more *more = &node->more[i];
    bool has = false;
    enum net_eval_error error =
        net_agg_tell(more->function, part_of(more, group), now, &more->value, &has);
    if (note_failure(node, index, i, error != NET_EVAL_OK) && *status == BASE_OK)
      *status = net_agg_error(node, error, index, now);
    all = all && has;
  }
  return all;
}

void net_agg_forget_failures(struct net_aggregate *node, uint32_t index) {
  struct net_agg_group *group = net_agg_group(node, index);
  group->failed = false;
  for (size_t i = 0; group->more_failed && i < node->more_count; i++)
    (void)note_failure(node, index, i, false);
  group->more_failed = false;
}

bool net_agg_same_more(const struct net_aggregate *node, struct net_agg_group *group) {
  for (size_t i = 0; i < node->more_count; i++) {
    struct net_agg_more *more = &node->more[i];
    if (!net_agg_same(more->function, part_of(more, group), &more->value)) return false;
  }
  return true;
}

void net_agg_keep_more(struct net_aggregate *node, struct net_agg_group *group) {
  for (size_t i = 0; i < node->more_count; i++)
    part_of(&node->more[i], group)->value = node->more[i].value.slots[0];
}

void net_agg_put_more(const struct net_aggregate *node, const struct net_agg_group *group,
                      union net_slot *row) {
  for (size_t i = 0; i < node->more_count; i++)
    row[node->more[i].value_slot] = part_of(&node->more[i], group)->value;
}

void net_agg_group_done_more(struct net_aggregate *node, struct net_agg_group *group) {
  for (size_t i = 0; i < node->more_count; i++)
    net_agg_group_done(node->more[i].function, part_of(&node->more[i], group));
}
