/* Compensation (thesis 7.1.2): durations of a process without what monitoring it has cost.
 *
 *                  compensate                one costs node for each relation whose records cost something
 *                 /          \
 *     event-to-period       costs
 *           |              /     \
 *      access A       access B   costs
 *                                   |
 *                               access A
 *
 * A query that is compensated has variables of costs behind its own: the relations that sensors fill, and
 * what one record of each costs the process that made it. Each variable over one of those that are traced
 * gets its periods corrected, by the records of all of them: those of its own as well. Whose a record is
 * says the domain `Process`, which analysis has seen to.
 *
 * This belongs to what the query means, so it is no rule. The records are read a second time, as they
 * come: what narrows A must not narrow what is counted, and no sensor is switched on to see what it costs.
 * Variables of costs have no other part in the query: no clock ticks, and no origin is found, because of
 * them. */
#include "netgen/compensate.h"

static const struct net_type type_instant = {NET_INSTANT, 0};

static struct ng_node *records_of(struct ng_plan *plan, const struct ng_variable *variable) {
  const struct ng_relation *relation = variable->relation;
  struct ng_node *node = ng_node_new(plan, NET_NODE_ACCESS, NULL, NULL);
  node->variable = variable;
  node->relation = relation;
  node->unasked = true;
  node->form = relation->kind == NG_REL_TRACED ? NET_SCAN_RECORDS : NET_SCAN_TUPLES;
  node->own_start = ng_column_new(plan, base_arena_printf(plan->arena, "%s.at", variable->name),
                                  type_instant, false);
  for (uint32_t i = 0; i < relation->layout->field_count; i++) {
    const struct net_field *field = &relation->layout->fields[i];
    const char *name = base_arena_printf(plan->arena, "%s.%s", variable->name, field->name);
    ng_columns_add(plan->arena, &node->own, ng_column_new(plan, name, field->type, false));
  }
  ng_node_refresh(plan, node);
  return node;
}

/* The costs of VARIABLE's records, and before them those of MORE. */
static struct ng_node *costs_of(struct ng_plan *plan, const struct ng_variable *variable,
                                struct net_type process, struct ng_node *more) {
  struct ng_node *records = records_of(plan, variable), *each = records;
  if (records->form == NET_SCAN_TUPLES) { /* each tuple counts, and only once */
    each = ng_node_new(plan, NET_NODE_SET, records, NULL);
    ng_node_refresh(plan, each);
  }
  struct ng_node *node = ng_node_new(plan, NET_NODE_COSTS, each, more);
  node->variable = variable;
  node->relation = variable->relation;
  node->cost = variable->cost;
  node->whose = records->own.items[ng_process_domain(variable->relation)];
  node->own_start = ng_column_computed(plan, "at", type_instant, false);
  ng_columns_add(plan->arena, &node->own, ng_column_computed(plan, "Process", process, false));
  ng_columns_add(plan->arena, &node->own,
                 ng_column_computed(plan, "cost", (struct net_type){NET_INTEGER, 8}, false));
  ng_node_refresh(plan, node);
  return node;
}

static bool is_measured(const struct ng_query *query, const struct ng_relation *relation) {
  for (size_t i = 0; i < query->variable_count; i++)
    if (query->variables[i].costs && query->variables[i].relation == relation) return true;
  return false;
}

struct ng_node *ng_compensated(struct ng_plan *plan, const struct ng_query *query,
                               const struct ng_variable *variable, struct ng_node *periods) {
  const struct ng_relation *relation = variable->relation;
  int process = ng_process_domain(relation);
  if (process < 0 || relation->kind != NG_REL_TRACED || !is_measured(query, relation))
    return periods;
  const struct ng_column *whose = periods->fields.items[process];
  struct ng_node *costs = NULL;
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct ng_variable *other = &query->variables[i];
    if (!other->costs || other->cost == 0) continue;
    int other_process = ng_process_domain(other->relation);
    if (other->relation->layout->fields[other_process].type.base != whose->type.base) continue;
    costs = costs_of(plan, other, whose->type, costs);
  }
  if (!costs) return periods;
  struct ng_node *node = ng_node_new(plan, NET_NODE_COMPENSATE, periods, costs);
  node->whose = whose;
  node->own_stop = ng_column_new(plan, periods->stop->name, type_instant, true);
  ng_node_refresh(plan, node);
  return node;
}
