/* Aggregates at events: where a join sees the segments of an aggregate at the instants of events alone, each
 * event at that of its group, it asks the aggregate for its value there.
 *
 *              join                               join
 *            /      \                            /    . .
 *      events    projections               events    . projections
 *                    |             ==>               . .   |
 *                aggregate                        . aggregate
 *                    |                                     |
 *                  rows                                  rows
 *
 * The nodes stay as they are; but while all rows are plain nothing goes from the aggregate to the join but
 * answers (engine/nodes/aggregate/asked.c). That is so where the keys of the join are the groups, all of
 * them, and nothing else is asked of the aggregate's rows in it; what is between only chooses fields; and the
 * aggregate is cumulative, of values that cannot fail. Of the time of its segments nothing may be seen, but their
 * starts where the value is a function of time that counts from there (avgc of periods).
 *
 * Only in what runs once, over the store: nodes of standing queries are shared among them.          */
#include "netgen/rules/rules.h"

#include "netgen/expr.h"

/* What COLUMN of NODE is below, in its input; NULL: nothing. */
static const struct ng_column *below(const struct ng_node *node, const struct ng_column *column) {
  const struct ng_node *input = node->inputs[0];
  if (column == node->start) return node->alias ? input->start : node->start_from;
  if (column == node->stop) return node->alias ? input->stop : node->stop_from;
  for (size_t i = 0; i < node->own.count; i++)
    if (node->own.items[i] == column)
      return node->alias ? input->fields.items[i] : node->sources.items[i];
  return NULL;
}

const struct ng_column *ng_asked_column(const struct ng_node *join,
                                        const struct ng_column *column) {
  const struct ng_node *node = join->inputs[join->asked_side];
  for (; node != join->asked && column != NULL; node = node->inputs[0])
    column = below(node, column);
  return column;
}

/* Does NODE only choose fields of the rows below it, for one reader? */
static bool only_chooses(const struct ng_plan *plan, const struct ng_node *node) {
  if (ng_node_readers(plan, node) != 1) return false;
  if (node->alias) return node->fields.count == node->own.count;
  return node->kind == NET_NODE_PROJECTION && node->start_from == node->inputs[0]->start &&
         node->stop_from && node->stop_from == node->inputs[0]->stop;
}

static bool is_number(const struct ng_column *argument) {
  return !argument || argument->type.base == NET_INTEGER;
}

/* The functions that always have a value, of tuples that never go; and avgc. */
static bool may_answer(const struct ng_node *node) {
  const struct ng_aggregate *aggregate = node->aggregate;
  const struct ng_node *rows = node->inputs[0];
  enum net_base_type type = node->argument ? node->argument->type.base : NET_INTEGER;
  if (node->more_count || node->when || !node->by_columns.count) return false;
  if (!aggregate->cumulative || aggregate->window) return false;
  if (type == NET_TEMPORAL || type == NET_INSTANT) return false;
  for (size_t i = 0; i < node->domain_fields; i++)
    if (rows->fields.items[i]->type.base == NET_TEMPORAL) return false;
  switch (aggregate->function) {
    case NET_AGG_AVGC:
      return is_number(node->argument) && (!rows->stop || (!node->where && !aggregate->unique));
    case NET_AGG_AVG:
      return is_number(node->argument);
    case NET_AGG_COUNT:
    case NET_AGG_ANY:
    case NET_AGG_MIN:
    case NET_AGG_MAX:
    case NET_AGG_FIRST:
    case NET_AGG_LAST:
      return true;
    default:
      return false;
  }
}

/* The aggregate whose rows come to JOIN at PORT; NULL: there is none that may answer. */
static struct ng_node *find_aggregate(const struct ng_plan *plan, const struct ng_node *join,
                                      unsigned port) {
  struct ng_node *node = join->inputs[port];
  while (node->alias || node->kind == NET_NODE_PROJECTION) {
    if (!only_chooses(plan, node)) return NULL;
    node = node->inputs[0];
  }
  if (node->kind != NET_NODE_AGGREGATE || ng_node_readers(plan, node) != 1) return NULL;
  return may_answer(node) ? node : NULL;
}

/* Is a row of SIDE of JOIN an instant to the aggregate: an event, or a period that takes part at its start, or a
 * combination of an event with what is there then? */
static bool is_instant(struct ng_plan *plan, const struct ng_node *join,
                       const struct ng_node *side) {
  struct ng_participants those = {0};
  const struct ng_node *product = side;
  ng_node_participants(plan, side, &those);
  if (!ng_node_is_combination(side)) return ng_product_takes_event(join, those.items[0]);
  while (!ng_node_is_product(product)) product = product->inputs[0];
  if (side->stop || product->kind == NET_NODE_CLOSEST || product->rule != NET_PRODUCT_OVERLAP ||
      product->untested.count)
    return false;
  for (size_t i = 0; i < those.count; i++)
    if (ng_product_takes_event(join, those.items[i]) !=
        ng_product_takes_event(product, those.items[i]))
      return false;
  return true;
}

/* Is JOIN that of instants with the periods of PORT that they are in? */
static bool is_of_instants(struct ng_plan *plan, const struct ng_node *join, unsigned port) {
  const struct ng_node *asked = join->inputs[port];
  if (join->kind != NET_NODE_JOIN || join->rule != NET_PRODUCT_OVERLAP || join->self_join ||
      join->untested.count)
    return false;
  if (ng_node_is_combination(asked) || !asked->stop) return false;
  return !ng_columns_have(&join->as_events, asked->start) &&
         is_instant(plan, join, join->inputs[!port]);
}

const struct ng_column *ng_asked_key(const struct ng_node *join, size_t group) {
  for (size_t i = 0; i < join->key_count; i++) {
    const struct ng_key *key = &join->keys[i];
    const struct ng_column *mine = join->asked_side ? key->right : key->left;
    if (ng_asked_column(join, mine) == join->asked->own.items[group])
      return join->asked_side ? key->left : key->right;
  }
  return NULL;
}

/* Are the keys of JOIN the groups, and all that it tests? */
static bool keys_are_groups(struct ng_plan *plan, const struct ng_node *join) {
  size_t groups = join->asked->by_columns.count;
  if (join->key_count != groups || ng_join_rest(plan->arena, join)) return false;
  for (size_t i = 0; i < groups; i++)
    if (!ng_asked_key(join, i)) return false;
  return true;
}

/* Does JOIN show nothing of the aggregate that an answer does not have? */
static bool shows_answers(const struct ng_node *join) {
  const struct ng_node *side = join->inputs[join->asked_side], *asked = join->asked;
  bool of_time = asked->aggregate->function == NET_AGG_AVGC && asked->inputs[0]->stop;
  for (size_t i = 0; i < join->fields.count; i++) {
    const struct ng_column *column = join->fields.items[i];
    if (!ng_node_has(side, column)) continue;
    column = ng_asked_column(join, column);
    if (!column || column == asked->stop || (column == asked->start && !of_time)) return false;
  }
  return true;
}

static bool asks(struct ng_plan *plan, struct ng_node *join, unsigned port) {
  if (join->input_count != 2 || !is_of_instants(plan, join, port)) return false;
  join->asked = find_aggregate(plan, join, port);
  join->asked_side = port;
  if (join->asked && keys_are_groups(plan, join) && shows_answers(join)) return true;
  join->asked = NULL;
  return false;
}

void ng_rule_aggregates_at_events(struct ng_plan *plan) {
  size_t joins = 0;
  if (!plan->over_store) return;
  for (size_t i = 0; i < plan->node_count; i++)
    joins += asks(plan, plan->nodes[i], 0) || asks(plan, plan->nodes[i], 1);
  if (!joins) return;
  ng_rule_changed(plan, NG_RULE_AGGREGATES_AT_EVENTS, joins, "%zu aggregate%s asked at events",
                  joins, joins == 1 ? "" : "s");
}
