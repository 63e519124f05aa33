/* Samples at clock ticks (thesis 7.2.1, figure 7-2 b): where all that is read of a sampled relation is what
 * held when a clock ticked, its sensor takes a sample at each tick, and no others.
 *
 *         product                          product
 *         /     \                          /     \
 *    access S    clock Clock(n)   ==>  access S   clock Clock(n)
 *                                    sampled every n
 *
 * The product stays: it says at which ticks there is a sample, and a sample may come late or not at all. A
 * clock ticks at its origin and every n chronons after it, so the sensor can be told once and for all; the
 * clock's own inputs, which say how far it may tick, are no reason to make records. An origin that is
 * not known when the query is planned (on the real timeline, where the earliest tuple says it) is when its clocks all tick, at
 * a multiple of their units.
 *
 * What held is the values. When it began to hold and when it ceased lies between two samples, so who asks for
 * that (`at S.start`, `S.stop precede ...`) wants as many as there are. The overlap test of a product in which
 * the clock takes part is no such question: whatever has the tick in common with a sample overlaps its period,
 * however long that is. */
#include "netgen/rules/rules.h"

#include "netgen/expr.h"

/* The clock at the bottom of NODE, or NULL. */
static const struct ng_node *clock_of(const struct ng_node *node) {
  while (node->alias || node->kind == NET_NODE_SELECTION) node = node->inputs[0];
  return node->kind == NET_NODE_CLOCK ? node : NULL;
}

/* Does NODE read its input for the times alone, for clocks? */
static bool is_for_clocks(const struct ng_plan *plan, const struct ng_node *node) {
  if (!node->alias) return node->kind == NET_NODE_CLOCK;
  for (size_t i = 0; i < plan->query_count; i++)
    if (plan->queries[i].result == node) return false;
  for (size_t i = 0; i < plan->node_count; i++)
    for (unsigned port = 0; port < plan->nodes[i]->input_count; port++)
      if (plan->nodes[i]->inputs[port] == node && !is_for_clocks(plan, plan->nodes[i]))
        return false;
  return true;
}

/* The one node that reads NODE for its records, or NULL. */
static const struct ng_node *record_reader(const struct ng_plan *plan, const struct ng_node *node) {
  const struct ng_node *found = NULL;
  for (size_t i = 0; i < plan->query_count; i++)
    if (plan->queries[i].result == node && !plan->queries[i].inner) return NULL;
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct ng_node *reader = plan->nodes[i];
    for (unsigned port = 0; port < reader->input_count; port++) {
      if (reader->inputs[port] != node || is_for_clocks(plan, reader)) continue;
      if (found) return NULL;
      found = reader;
    }
  }
  return found;
}

static bool reads_period(const struct ng_node *node, const struct ng_node *samples) {
  return node->expr &&
         (ng_expr_reads(node->expr, samples->start) || ng_expr_reads(node->expr, samples->stop));
}

/* Does NODE, a product of SAMPLES and a clock, or anything above it, ask when samples began or ceased to hold? */
static bool asks_when(const struct ng_plan *plan, const struct ng_node *node,
                      const struct ng_node *samples) {
  for (; node; node = ng_node_reader(plan, node)) {
    if (reads_period(node, samples)) return true;
    switch (node->kind) {
      case NET_NODE_PROJECTION:
        return node->start_from == samples->start || node->start_from == samples->stop ||
               node->stop_from == samples->stop || node->stop_from == samples->start ||
               ng_columns_have(&node->sources, samples->start) ||
               ng_columns_have(&node->sources, samples->stop);
      case NET_NODE_PRODUCT:
      case NET_NODE_JOIN:
        if (node->untested.count > 0 || ng_columns_have(&node->as_events, samples->start))
          return true;
        break;
      case NET_NODE_SELECTION:
      case NET_NODE_APPLY:
        break;
      default:
        return true;
    }
  }
  return true;
}

const struct ng_node *ng_rule_samples_met(const struct ng_plan *plan, const struct ng_node *access,
                                          unsigned *ret_port) {
  const struct ng_node *node = access, *reader = record_reader(plan, node);
  while (reader && (reader->alias || reader->kind == NET_NODE_SELECTION)) {
    if (reads_period(reader, node)) return NULL;
    node = reader;
    reader = record_reader(plan, node);
  }
  bool overlaps = reader && (reader->kind == NET_NODE_PRODUCT || reader->kind == NET_NODE_JOIN) &&
                  reader->rule == NET_PRODUCT_OVERLAP;
  if (!overlaps || asks_when(plan, reader, node)) return NULL;
  *ret_port = reader->inputs[0] == node ? 1 : 0;
  return reader;
}

bool ng_rule_is_sampled(const struct ng_node *node) {
  return node->kind == NET_NODE_ACCESS && !node->alias && !node->single_row && !node->times_only &&
         node->relation->kind == NG_REL_SAMPLED && node->relation->sensor;
}

/* The clock at whose ticks alone ACCESS is read, or NULL. */
static const struct ng_node *ticks_for(const struct ng_plan *plan, const struct ng_node *access) {
  unsigned port;
  const struct ng_node *reader = ng_rule_samples_met(plan, access, &port);
  return reader ? clock_of(reader->inputs[port]) : NULL;
}

void ng_rule_clock_samples(struct ng_plan *plan) {
  size_t sampled = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    struct ng_node *access = plan->nodes[i];
    if (!ng_rule_is_sampled(access)) continue;
    const struct ng_node *clock = ticks_for(plan, access);
    bool known =
        clock && (clock->query->origin_given || clock->query->timeline == NET_TIMELINE_ABSTRACT ||
                  ng_clocks_period(clock->query) > 0);
    if (!known) continue;
    access->every = clock->relation->every;
    access->origin = clock->query->origin_given ? clock->query->origin : 0;
    sampled++;
  }
  if (!sampled) return;
  ng_rule_changed(plan, NG_RULE_CLOCK_SAMPLES, sampled, "%zu relation%s sampled when a clock ticks",
                  sampled, sampled == 1 ? "" : "s");
}
