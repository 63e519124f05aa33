/* Samples at events (thesis 6.3, the trigger arc): where all that is read of a sampled relation is what held at the
 * events of another one, its sensor takes a sample whenever such a tuple comes, besides those that it takes anyway.
 *
 *         product                          product
 *         /     \                          /     |
 *    access S    E                 ==>  access S ◀┤
 *                                    sampled       E
 *                                    at each row
 *
 * As a clock's ticks (clock_samples.c), but what asks is only known when it comes: the sample is taken a while after
 * the event, at a time of its own. So what held at the event is certain where the samples before and behind it are
 * alike; else it was one of two things. Where the product joins S with domains of E that are objects of S's sensor,
 * those are asked for which E's tuple names.
 *
 * It comes before control-arcs: samples that said which objects E's sensor is to watch would be asked for all the time.
 *
 * E is events, or periods of which the start counts. It must not depend on S, by its definition or by the plan:
 * samples would have samples taken. Nor is it below a clock: its rows come late, when ticks are decided. */
#include "netgen/rules/rules.h"

void ng_plan_set_depends(struct ng_plan *plan, ng_depends *depends, void *context) {
  plan->depends = depends;
  plan->depends_context = context;
}

/* Do NODE's rows depend on ACCESS, or on other tuples of its relation, or on clocks? */
static bool depends(const struct ng_plan *plan, const struct ng_node *node,
                    const struct ng_node *access) {
  if (node == access || (node->kind == NET_NODE_CLOCK && !node->alias)) return true;
  if (node->kind == NET_NODE_ACCESS && !node->alias && !node->single_row) {
    if (node->relation == access->relation) return true;
    if (plan->depends && plan->depends(plan->depends_context, node->relation, access->relation))
      return true;
  }
  for (unsigned port = 0; port < node->input_count; port++)
    if (depends(plan, node->inputs[port], access)) return true;
  return false;
}

static void name_objects(struct ng_plan *plan, struct ng_node *access, const struct ng_node *join,
                         unsigned port) {
  access->trigger_domains = BASE_NEW_ARRAY(plan->arena, join->key_count + 1, uint32_t);
  for (size_t i = 0; i < join->key_count; i++) {
    const struct ng_key *key = &join->keys[i];
    uint32_t domain;
    if (!ng_rule_is_object(access, port == 1 ? key->left : key->right, &domain)) continue;
    access->trigger_domains[access->triggers.count] = domain;
    ng_columns_add(plan->arena, &access->triggers, port == 1 ? key->right : key->left);
  }
}

void ng_rule_triggered_samples(struct ng_plan *plan) {
  size_t triggered = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *access = plan->nodes[i];
    unsigned port;
    if (!ng_rule_is_sampled(access) || access->every || access->unasked) continue;
    const struct ng_node *reader = ng_rule_samples_met(plan, access, &port);
    if (!reader) continue;
    struct ng_node *events = reader->inputs[port];
    bool happen = !events->stop || ng_columns_have(&reader->as_events, events->start);
    if (!happen || depends(plan, events, access)) continue;
    name_objects(plan, access, reader, port);
    access->inputs[0] = events;
    access->input_count = 1;
    access->triggered = true;
    triggered++;
  }
  if (!triggered) return;
  ng_rule_changed(plan, NG_RULE_TRIGGERED_SAMPLES, triggered,
                  triggered == 1 ? "%zu relation sampled when events happen"
                                 : "%zu relations sampled when events happen",
                  triggered);
}
