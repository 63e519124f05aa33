/* What of its inputs a standing query needs to be built anew: from how long before its checkpoint on.
 *
 * Tuples have to do with each other where they overlap, or are no further apart than some condition says; a product
 * whose rows nothing else ends needs all of them, and so does what counts from the beginning on. So a tuple that is over
 * has to do with a result that is to come through a chain of others, each WITHIN of the one before it:
 *
 *      over ──within──▶ over ──within──▶ not over
 *
 * PARTICIPANTS long at most. Where the result's times are those for which all of them hold (`instant`), there is no
 * chain: all that take part hold together, but for what is WITHIN. What BEGINS (aggregates, coalesced) has results whose
 * start depends on what was there when they began. */
#include <string.h>

#include "netgen/expr.h"
#include "netgen/plan.h"

enum { PARTICIPANTS_MOST = 64 }; /* longer chains are followed no further */

static void add(int64_t *sum, int64_t more) {
  if (more > 0 && __builtin_add_overflow(*sum, more, sum)) *sum = INT64_MAX;
}

static void needs_all(struct ng_history *history, const struct ng_query *query,
                      const struct base_range *clause, const char *why) {
  if (history->query) return;
  history->query = query;
  history->clause = *clause;
  history->why = why;
}

/* By how much EXPR moves instants. */
static int64_t shifted(const struct ng_expr *expr) {
  int64_t sum = 0;
  if (!expr) return 0;
  if (expr->op == NG_T_SHIFT || expr->op == NG_SHIFT)
    add(&sum, expr->integer < 0 ? -(expr->integer + 1) + 1 : expr->integer);
  for (unsigned i = 0; i < expr->arg_count; i++) add(&sum, shifted(expr->args[i]));
  return sum;
}

static void look_at_aggregate(struct ng_history *history, const struct ng_query *query,
                              const struct ng_aggregate *aggregate) {
  enum net_aggregate_function function = aggregate->function;
  bool successive = function == NET_AGG_VARTS || function == NET_AGG_AVGTI;
  history->begins = true;
  if (aggregate->cumulative || function == NET_AGG_AVGC || function == NET_AGG_EXTEND)
    needs_all(history, query, &aggregate->range, "counts all tuples that ever were");
  else if (successive)
    needs_all(history, query, &aggregate->range, "goes from each tuple to the one before it");
  add(&history->within, aggregate->window);
  add(&history->within, 1);
}

/* Is COLUMN the start of some tuple that takes part, or the latest of theirs? */
static bool is_start(const struct ng_plan *plan, const struct ng_column *column) {
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct ng_node *node = plan->nodes[i];
    bool tuple = node->kind == NET_NODE_ACCESS || node->kind == NET_NODE_EVENT_TO_PERIOD ||
                 node->kind == NET_NODE_AGGREGATE || node->kind == NET_NODE_PRODUCT ||
                 node->kind == NET_NODE_JOIN;
    if (tuple && node->start == column) return true;
  }
  return false;
}

/* Are the rows of the projection NODE over when its input's are? */
static bool keeps_times(const struct ng_plan *plan, const struct ng_node *node) {
  const struct ng_node *input = node->inputs[0];
  if (!node->start_from) return true;
  if (node->stop_from && node->stop_from != input->stop) return false;
  return node->start_from == input->start || is_start(plan, node->start_from);
}

static void look_at_product(struct ng_history *history, const struct ng_query *query,
                            const struct ng_node *node) {
  if (ng_node_is_unbounded(node))
    needs_all(history, query, query->when ? &query->when->range : &query->range,
              "combines tuples however far apart they are");
  history->instant &= node->rule == NET_PRODUCT_OVERLAP;
  for (unsigned port = 0; port < 2; port++)
    for (size_t i = 0; i < node->expiry_counts[port]; i++)
      add(&history->within, node->expiries[port][i].bound + 1);
}

static void look_at_anti_join(struct ng_history *history, const struct ng_query *query,
                              const struct ng_node *node) {
  const struct ng_expr *when = node->absence->when;
  if (ng_node_is_unbounded(node))
    needs_all(history, query, when ? &when->range : &query->range,
              "looks for what is absent, however far away");
  history->instant = false;
  for (unsigned port = 0; port < 2; port++) add(&history->within, node->reach[port]);
}

static void look_at_node(struct ng_history *history, const struct ng_plan *plan,
                         const struct ng_query *query, const struct ng_node *node) {
  switch (node->kind) {
    case NET_NODE_PRODUCT:
    case NET_NODE_JOIN:
      look_at_product(history, query, node);
      break;
    case NET_NODE_CLOSEST:
      needs_all(history, query, query->when ? &query->when->range : &query->range,
                "looks for the nearest tuple, however far it is");
      break;
    case NET_NODE_ANTI_JOIN:
      look_at_anti_join(history, query, node);
      break;
    case NET_NODE_DIFFERENCE: /* where a portion begins is known of what was absent before */
    case NET_NODE_COALESCE:
      history->begins = true;
      add(&history->within, 1);
      break;
    case NET_NODE_PROJECTION:
    case NET_NODE_SWITCH_DISPOSITION:
      history->instant &= keeps_times(plan, node);
      break;
    case NET_NODE_SELECTION:
    case NET_NODE_APPLY:
      history->instant &= !ng_expr_reads_open(node->expr);
      break;
    case NET_NODE_CUT:
      history->instant = false;
      add(&history->within, node->bridge);
      break;
    case NET_NODE_ACCESS:
    case NET_NODE_AGGREGATE: /* they are looked at in the query */
    case NET_NODE_EVENT_TO_PERIOD:
    case NET_NODE_DISTINCT:
    case NET_NODE_SET:
    case NET_NODE_ORDER:
    case NET_NODE_CREDIBILITY:
    case NET_NODE_CLOCK:
      break;
    default:
      history->instant = false;
      break;
  }
}

/* How many tuples of relations make one of the query NUMBER of PLAN; the views that it reads stand before it. */
static unsigned count_participants(const struct ng_plan *plan, size_t number, unsigned *counts) {
  const struct ng_query *query = plan->queries[number].query;
  unsigned sum = 0;
  for (size_t i = 0; i < query->variable_count && sum <= PARTICIPANTS_MOST; i++) {
    const char *name = query->variables[i].relation->name;
    unsigned count = 1;
    for (size_t k = 0; k < number; k++)
      if (plan->queries[k].query->name && name && !strcmp(plan->queries[k].query->name, name))
        count = counts[k];
    sum += count;
  }
  return counts[number] = sum;
}

void ng_plan_history(struct ng_plan *plan, struct ng_history *ret) {
  *ret = (struct ng_history){.instant = true};
  unsigned *counts = BASE_NEW_ARRAY(plan->arena, plan->query_count + 1, unsigned);
  for (size_t i = 0; i < plan->query_count; i++) {
    const struct ng_query *query = plan->queries[i].query;
    for (size_t k = 0; k < query->aggregate_count; k++)
      look_at_aggregate(ret, query, &query->aggregates[k]);
    int64_t moved = shifted(query->start);
    add(&moved, shifted(query->stop));
    add(&moved, shifted(query->at));
    add(&moved, shifted(query->when));
    add(&moved, shifted(query->where));
    ret->instant &= moved == 0;
    add(&ret->within, moved);
    ret->participants = count_participants(plan, i, counts);
    if (ret->participants > PARTICIPANTS_MOST)
      needs_all(ret, query, &query->range, "combines too many tuples");
  }
  if (plan->query_count == 0) return;
  const struct ng_query *last = plan->queries[plan->query_count - 1].query;
  for (size_t i = 0; i < plan->node_count; i++) look_at_node(ret, plan, last, plan->nodes[i]);
}

void ng_plan_each_read(const struct ng_plan *plan,
                       void (*note)(void *context, const struct ng_relation *relation,
                                    net_chronon from),
                       void *context) {
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct ng_node *node = plan->nodes[i];
    if (node->kind != NET_NODE_ACCESS || node->single_row || !node->relation) continue;
    net_chronon from = NET_BEGINNING;
    if (node->wanted && node->relation->layout->tuple_class == NET_EVENT)
      from = node->wanted->start_hi_min;
    else if (node->wanted)
      from = node->wanted->stop_hi_min;
    note(context, node->relation, from);
  }
}
