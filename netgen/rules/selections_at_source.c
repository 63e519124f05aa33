/* Selections at the source (thesis 7.2.5: the critical portion of the network moves to the resident monitor): what
 * conditions above an access node say of one record's values is told to whoever brings the records of its sensor, who
 * leaves out those that none of the conditions can be true for. They are counted there, and are no loss.
 *
 *      selection E.x > 5                       selection E.x > 5
 *            |                        ==>              |
 *         access ── watches ──▶ sensor              access ── watches, filter x > 5 ──▶ sensor
 *
 * A filter is put together of the comparisons of domains with constants (engine/filter.h) in selections and joins, and
 * in the inner `where` of an aggregate that makes no groups of what it leaves out. Several readers of one
 * node need what any of them needs. The selections stay: others may ask for more.
 *
 * Results are the same to the bit, so there is none where a record counts beyond its conditions:
 *
 *   - of a traced relation a record ends the period of the one before: only what is said of the domains that tell
 *     entities apart counts, so that whole entities go. The period of a period sensor has one record with values,
 *     which is all there is of its entity;
 *   - samples are rounds, and say what is not there;
 *   - aggregates and clocks may begin with the earliest record, whatever it holds, as long as that is not known: then
 *     there is no filter, and the network, which is built anew when it is, gets one;
 *   - where a rule of integrity or a permit stands at the relation, others look at its records (ng_sensor.whole). */
#include "netgen/rules/rules.h"

#include <string.h>
#include <strings.h>

#include "engine/filter.h"
#include "netgen/expr.h"

struct passing {
  struct ng_plan *plan;
  const struct ng_node *access;
};

/* What is read of NODE, in columns that FIELDS has in the order of the access node's. */
static bool passed_by(const struct passing *passing, const struct ng_node *node,
                      const struct ng_columns *fields, struct net_filter *ret);

/* --- conditions */

/* By DOMAIN the sensor is switched: what is said of it is in the watch. */
static bool is_switched_by(const struct ng_sensor *sensor, size_t domain) {
  for (size_t i = 0; i < sensor->object_count; i++)
    if (sensor->objects[i] == domain) return true;
  return false;
}

static const struct net_field *domain_of(const struct passing *passing,
                                         const struct ng_columns *fields,
                                         const struct ng_expr *expr) {
  const struct ng_node *access = passing->access;
  if (expr->op != NG_COLUMN) return NULL;
  for (size_t i = 0; i < fields->count; i++) {
    if (fields->items[i] != expr->column) continue;
    for (size_t k = 0; k < access->own.count; k++)
      if (access->own.items[k] == access->fields.items[i])
        return is_switched_by(access->relation->sensor, k) ? NULL
                                                           : &access->relation->layout->fields[k];
  }
  return NULL;
}

static void put_text(const struct passing *passing, base_string_id id,
                     struct net_filter_value *value) {
  size_t length;
  const char *text = base_strings_text(passing->plan->strings, id, &length);
  char *copy = BASE_NEW_ARRAY(passing->plan->arena, length + 1, char);
  memcpy(copy, text, length);
  copy[length] = '\0';
  value->base = NET_STRING;
  value->text = copy;
  value->length = (uint32_t)length;
}

/* CONSTANT, if it is one of the type of DOMAIN. */
static bool value_of(const struct passing *passing, const struct net_field *domain,
                     const struct ng_expr *constant, struct net_filter_value *ret) {
  enum net_base_type base = domain->type.base;
  *ret = (struct net_filter_value){.base = base};
  if (base == NET_INTEGER && constant->op == NG_INTEGER) {
    ret->integer = constant->integer;
    return true;
  }
  if (base == NET_FLOAT && constant->op == NG_FLOAT) {
    ret->real = constant->real;
    return true;
  }
  if (base != NET_STRING || constant->op != NG_STRING) return false;
  put_text(passing, constant->string, ret);
  return true;
}

static struct net_filter of_test(const struct passing *passing, const struct net_field *domain,
                                 enum net_filter_test test, bool negated,
                                 struct net_filter_value value) {
  struct net_filter_atom atom = {
      .domain = domain->name, .test = negated ? net_filter_not(test) : test, .value = value};
  return net_filter_one(passing->plan->arena, atom);
}

static enum net_filter_test test_of(enum ng_op op) {
  switch (op) {
    case NG_NE:
      return NET_FILTER_NE;
    case NG_LT:
      return NET_FILTER_LT;
    case NG_LE:
      return NET_FILTER_LE;
    case NG_GT:
      return NET_FILTER_GT;
    case NG_GE:
      return NET_FILTER_GE;
    default:
      return NET_FILTER_EQ;
  }
}

static struct net_filter of_comparison(const struct passing *passing,
                                       const struct ng_columns *fields, const struct ng_expr *expr,
                                       bool negated) {
  const struct ng_expr *a = expr->args[0], *b = expr->args[1];
  enum ng_op op = expr->op;
  if (a->op != NG_COLUMN) {
    const struct ng_expr *left = a;
    a = b;
    b = left;
    op = ng_op_mirrored(op);
  }
  struct net_filter_value value;
  const struct net_field *domain = domain_of(passing, fields, a);
  if (!domain || !value_of(passing, domain, b, &value)) return NET_FILTER_ALL;
  return of_test(passing, domain, test_of(op), negated, value);
}

static struct net_filter of_pattern(const struct passing *passing, const struct ng_columns *fields,
                                    const struct ng_expr *expr, bool negated) {
  struct net_filter_value value;
  const struct net_field *domain = domain_of(passing, fields, expr->args[0]);
  if (!domain || domain->type.base != NET_STRING) return NET_FILTER_ALL;
  put_text(passing, expr->string, &value);
  return of_test(passing, domain, NET_FILTER_MATCHES, negated, value);
}

/* Records for which EXPR may be true; NEGATED: may be false. */
static struct net_filter of_condition(const struct passing *passing,
                                      const struct ng_columns *fields, const struct ng_expr *expr,
                                      bool negated) {
  struct base_arena *arena = passing->plan->arena;
  switch (expr->op) {
    case NG_NOT:
      return of_condition(passing, fields, expr->args[0], !negated);
    case NG_AND:
    case NG_OR: {
      struct net_filter a = of_condition(passing, fields, expr->args[0], negated);
      struct net_filter b = of_condition(passing, fields, expr->args[1], negated);
      return (expr->op == NG_AND) != negated ? net_filter_both(arena, a, b)
                                             : net_filter_either(arena, a, b);
    }
    case NG_EQ:
    case NG_NE:
    case NG_LT:
    case NG_LE:
    case NG_GT:
    case NG_GE:
      return of_comparison(passing, fields, expr, negated);
    case NG_MATCHES:
      return of_pattern(passing, fields, expr, negated);
    default:
      return NET_FILTER_ALL;
  }
}

/* --- readers */

/* The inner where of AGGREGATE, which the applies below it have computed; NULL: it has none, or what it leaves out
 * counts all the same. */
static const struct ng_expr *counting(const struct ng_node *aggregate) {
  const struct ng_node *below = aggregate->inputs[0];
  if (!aggregate->where || aggregate->groups_of_all || aggregate->groups_sure) return NULL;
  for (; below->kind == NET_NODE_APPLY || below->kind == NET_NODE_SELECTION;
       below = below->inputs[0])
    if (below->kind == NET_NODE_APPLY && below->own.count == 1 &&
        below->own.items[0] == aggregate->where)
      return ng_expr_can_fail(below->expr) ? NULL : below->expr;
  return NULL;
}

/* False: READER is nobody who counts. */
static bool passed_of(const struct passing *passing, const struct ng_node *reader,
                      const struct ng_columns *fields, struct net_filter *ret) {
  *ret = NET_FILTER_ALL;
  if (reader->alias)
    return reader->fields.count != fields->count ||
           passed_by(passing, reader, &reader->fields, ret);
  if (reader->kind == NET_NODE_AGGREGATE && reader->counted) {
    *ret = net_filter_none(passing->plan->arena);
    return true;
  }
  if (reader->kind == NET_NODE_AGGREGATE) {
    const struct ng_expr *where = counting(reader);
    if (where) *ret = of_condition(passing, fields, where, false);
    return true;
  }
  bool passes = reader->kind == NET_NODE_SELECTION || reader->kind == NET_NODE_PRODUCT ||
                reader->kind == NET_NODE_JOIN || reader->kind == NET_NODE_APPLY ||
                reader->kind == NET_NODE_EVENT_TO_PERIOD;
  if (!passes || (reader->expr && ng_expr_can_fail(reader->expr))) return true;
  if (!passed_by(passing, reader, fields, ret)) return false;
  if (reader->expr && reader->kind != NET_NODE_APPLY)
    *ret = net_filter_both(passing->plan->arena, of_condition(passing, fields, reader->expr, false),
                           *ret);
  return true;
}

static bool passed_by(const struct passing *passing, const struct ng_node *node,
                      const struct ng_columns *fields, struct net_filter *ret) {
  const struct ng_plan *plan = passing->plan;
  bool any = false;
  *ret = NET_FILTER_ALL;
  for (size_t i = 0; i < plan->query_count; i++)
    if (plan->queries[i].result == node && !plan->queries[i].inner) return true;
  for (size_t i = 0; i < plan->node_count; i++) {
    for (unsigned port = 0; port < plan->nodes[i]->input_count; port++) {
      struct net_filter more;
      if (plan->nodes[i]->inputs[port] != node) continue;
      if (!passed_of(passing, plan->nodes[i], fields, &more)) continue;
      *ret = any ? net_filter_either(plan->arena, *ret, more) : more;
      any = true;
    }
  }
  return any;
}

/* --- traced relations */

static bool is_of_entity(const struct ng_relation *relation, const char *domain) {
  int index = net_layout_find(relation->layout, domain);
  return index >= 0 && ng_entity_has_one(relation, (uint32_t)index);
}

/* What FILTER says of nothing but whole entities. */
static struct net_filter of_entities(const struct passing *passing, struct net_filter filter) {
  struct net_filter_clause *clauses =
      BASE_NEW_ARRAY(passing->plan->arena, filter.count + 1, struct net_filter_clause);
  uint32_t kept = 0;
  for (uint32_t i = 0; i < filter.count; i++) {
    bool good = true;
    for (uint32_t k = 0; k < filter.clauses[i].count && good; k++)
      good = is_of_entity(passing->access->relation, filter.clauses[i].atoms[k].domain);
    if (good) clauses[kept++] = filter.clauses[i];
  }
  return (struct net_filter){clauses, kept};
}

/* --- the rule */

/* May what PLAN gives depend on when its earliest record came, whatever it holds? */
static bool looks_for_origin(const struct ng_plan *plan) {
  for (size_t i = 0; i < plan->query_count; i++) {
    const struct ng_query *query = plan->queries[i].query;
    if (query->aggregate_count > 0 && !query->origin_given) return true;
    for (size_t k = 0; k < query->variable_count; k++)
      if (query->variables[k].relation->kind == NG_REL_CLOCK) return true;
  }
  return false;
}

static bool may_have_filter(const struct ng_node *node) {
  const struct ng_relation *relation = node->relation;
  return node->kind == NET_NODE_ACCESS && !node->alias && !node->single_row && !node->times_only &&
         !node->unasked && relation->sensor && !relation->sensor->whole &&
         (relation->kind == NG_REL_EVENT || relation->kind == NG_REL_TRACED);
}

void ng_rule_selections_at_source(struct ng_plan *plan) {
  size_t filtered = 0;
  bool none = looks_for_origin(plan);
  for (size_t i = 0; i < plan->node_count && !none; i++) {
    struct ng_node *access = plan->nodes[i];
    struct passing passing = {plan, access};
    struct net_filter filter;
    if (!may_have_filter(access) || !passed_by(&passing, access, &access->fields, &filter))
      continue;
    if (access->relation->kind == NG_REL_TRACED && !access->relation->sensor->one_record)
      filter = of_entities(&passing, filter);
    if (filter.count == 0) continue;
    struct net_filter *copy = BASE_NEW(plan->arena, struct net_filter);
    *copy = filter;
    access->filter = copy;
    filtered++;
  }
  if (!filtered) return;
  ng_rule_changed(plan, NG_RULE_SELECTIONS_AT_SOURCE, filtered,
                  "the records of %zu access node%s filtered where they arise", filtered,
                  filtered == 1 ? " are" : "s are");
}
