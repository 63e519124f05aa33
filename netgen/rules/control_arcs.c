/* Control arcs (thesis 7.2.1, figure 7-2 a): where a relation with a sensor is joined with another one on the
 * domain that its sensor can be switched by, the other one says which objects are to be watched.
 *
 *            join A.object = B.k                    join A.object = B.k
 *            /        \                             /        |
 *       [..] A         B             ==>      [..] A ◀───────B
 *                                               control: B.k
 *
 * Without the arc A's sensor would have to watch all objects (the universal relation on its control input).
 * The figure drops the join, because A's tuples come only from objects in B. Here it stays: what a sensor is
 * told takes a while, and other queries may have it watch more, so which tuples count is still the join's
 * to say. On the other hand what happened to an object before it was watched is not to be had: with control
 * arcs the tuples of A are those that the sensor could still report.
 *
 * Of a traced relation that is a domain which all records of an entity have the same value in: if some of them
 * were not made, a period would seem to last until the next one that was.
 *
 * What says which sensors are on (SensorOn) tells none: one that is to be on where it is off, and so on, would go on and
 * off without end.
 *
 * The join has the overlap rule and B periods, while which A is watched: a full product may want tuples of
 * A that lie long before those of B, and of an event in B is known only when it is over. B must not depend
 * on A. If both sides could be controlled, the one that brings more rows is (estimate.c), without
 * estimates the one with fewer selections. */
#include "netgen/rules/rules.h"

#include "netgen/estimate.h"

/* The access node at the bottom of SIDE whose records nobody else reads, or NULL. *ret_periods: they are
 * made periods on the way. */
static struct ng_node *bottom_of(const struct ng_plan *plan, struct ng_node *side,
                                 bool *ret_periods) {
  *ret_periods = false;
  while ((side->kind == NET_NODE_SELECTION || side->kind == NET_NODE_EVENT_TO_PERIOD ||
          side->kind == NET_NODE_COMPENSATE) &&
         ng_node_readers(plan, side) == 1) {
    *ret_periods = *ret_periods || side->kind == NET_NODE_EVENT_TO_PERIOD;
    side = side->inputs[0];
  }
  bool controllable = side->kind == NET_NODE_ACCESS && !side->alias && !side->single_row &&
                      side->relation->sensor && side->relation->kind != NG_REL_SAMPLED &&
                      !side->control && ng_node_readers(plan, side) == 1;
  return controllable ? side : NULL;
}

/* Do NODE's rows depend on ACCESS, or on what ACCESS is told? */
static bool depends(const struct ng_node *node, const struct ng_node *access) {
  if (node == access) return true;
  for (unsigned port = 0; port < node->input_count; port++)
    if (depends(node->inputs[port], access)) return true;
  return false;
}

/* Do NODE's rows say which sensors are on? */
static bool says_switches(const struct ng_node *node) {
  if (node->kind == NET_NODE_ACCESS && node->relation && node->relation->of_switches) return true;
  for (unsigned port = 0; port < node->input_count; port++)
    if (says_switches(node->inputs[port])) return true;
  return false;
}

bool ng_rule_is_object(const struct ng_node *access, const struct ng_column *column,
                       uint32_t *ret_domain) {
  const struct ng_sensor *sensor = access->relation->sensor;
  for (size_t i = 0; i < sensor->object_count; i++) {
    *ret_domain = sensor->objects[i];
    if (*ret_domain < access->own.count && access->own.items[*ret_domain] == column) return true;
  }
  return false;
}

/* The side at PORT of JOIN is told by the other one, if that is possible. */
static bool control(struct ng_plan *plan, const struct ng_node *join, unsigned port) {
  bool periods;
  struct ng_node *access = bottom_of(plan, join->inputs[port], &periods);
  struct ng_node *other = join->inputs[1 - port];
  if (!access || !other->stop || depends(other, access) || says_switches(other)) return false;
  for (size_t i = 0; i < join->key_count; i++) {
    const struct ng_key *key = &join->keys[i];
    uint32_t domain;
    if (!ng_rule_is_object(access, port == 0 ? key->left : key->right, &domain)) continue;
    if (periods && !ng_entity_has_one(access->relation, domain)) continue;
    access->inputs[0] = other;
    access->input_count = 1;
    access->control = port == 0 ? key->right : key->left;
    access->control_domain = domain;
    return true;
  }
  return false;
}

static size_t selections_on(const struct ng_node *node) {
  size_t count = node->kind == NET_NODE_SELECTION;
  for (unsigned port = 0; port < node->input_count; port++)
    count += selections_on(node->inputs[port]);
  return count;
}

/* The port that brings more rows. */
static unsigned larger_side(struct ng_plan *plan, const struct ng_node *join) {
  struct ng_estimate estimate;
  if (ng_estimate_inputs(plan, join->inputs, 2, join, &estimate))
    return estimate.rows[0] >= estimate.rows[1] ? 0 : 1;
  return selections_on(join->inputs[0]) <= selections_on(join->inputs[1]) ? 0 : 1;
}

void ng_rule_control_arcs(struct ng_plan *plan) {
  size_t controlled = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct ng_node *join = plan->nodes[i];
    if (join->kind != NET_NODE_JOIN || join->rule != NET_PRODUCT_OVERLAP || join->untested.count)
      continue;
    unsigned first = larger_side(plan, join);
    controlled += control(plan, join, first) || control(plan, join, 1 - first);
  }
  if (!controlled) return;
  ng_rule_changed(plan, NG_RULE_CONTROL_ARCS, controlled, "%zu access node%s told what to watch",
                  controlled, controlled == 1 ? "" : "s");
}
