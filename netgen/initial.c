/* The initial network of a query, as in thesis 7.1:
 *
 *   1. the tuple variables that take part, with the networks of their relations (leaves);
 *   2. a tree of products over them, and over the aggregates;
 *   3. applies for all expressions outside where and when;
 *   4. one selection for each conjunct of where, 5. and of when, in normal form;
 *   6. a projection to the targets and the implicit times; for events out of periods a
 *      switch-disposition.
 *
 * In the network the selections of 4 and 5 stand below the applies of 3, as in figure F-1. A target
 * that is a domain as it is has no apply, nor has a delimiter that is some tuple's own start or
 * stop. Defaults of when, start, stop and at are those of thesis 4.5.2: under the default `when`
 * the products have the overlap rule and there is no selection for it; a given `when` makes them
 * full.
 *
 * Conjuncts that cannot fail come first; those that can are one selection behind them, because an
 * error counts only if no other conjunct is false, and the conjunction knows that. */
#include <string.h>

#include "netgen/absence.h"
#include "netgen/budget.h"
#include "netgen/closest.h"
#include "netgen/compensate.h"
#include "netgen/cut.h"
#include "netgen/lower.h"

static const struct net_type type_instant = {NET_INSTANT, 0};
static const struct net_type type_bool = {NET_BOOL, 1};

/* What is absent from portions of the result. */
struct absent {
  struct ng_node *right; /* NULL: an anti-join has been made of it */
  const struct ng_expr
      *where; /* over the columns below the result's projection, and RIGHT's; NULL: true */
};

struct initial {
  struct ng_plan *plan;
  struct base_arena *arena;
  const struct ng_query *query;
  struct ng_lowering lowering;
  struct ng_node *top;  /* the network so far */
  size_t outside_count; /* variables that take part outside aggregates */
  bool events_outside;  /* one of them is an event variable */
  bool aggregates_at;   /* aggregates contribute the value they have at the result's instant */
  struct ng_exprs conjuncts;
  struct ng_exprs changing;        /* bound conjuncts of where that compare temporal values */
  const struct ng_expr *cut_too;   /* what can fail is tested with them */
  struct ng_lowered_input *doubts; /* as the query's */
  struct absent *absent;           /* as the query's */
  struct ng_columns carried;       /* what they read of the columns below the projection */
  struct ng_alternative at;        /* the result's instant, when the result is an event */
};

/* --- leaves */

static const char *joined(struct initial *initial, const char *variable, const char *name) {
  return base_arena_printf(initial->arena, "%s.%s", variable, name);
}

/* The collapsed tuples of NODE, if VARIABLE is not to be uncertain. */
static struct ng_node *credible(struct ng_plan *plan, const struct ng_variable *variable,
                                struct ng_node *node) {
  if (!variable->credibility) return node;
  struct ng_node *collapsed = ng_node_new(plan, NET_NODE_CREDIBILITY, node, NULL);
  ng_node_refresh(plan, collapsed);
  return collapsed;
}

/* The node that has the tuples of RELATION, its columns under the name of VARIABLE. */
static struct ng_node *leaf(struct initial *initial, const struct ng_variable *variable,
                            const struct ng_relation *relation) {
  struct ng_plan *plan = initial->plan;
  if (relation->kind == NG_REL_CLOCK) return ng_clock_leaf(plan, initial->query, variable);
  struct ng_node *result = ng_plan_result(plan, relation);
  struct ng_node *node = ng_node_new(plan, NET_NODE_ACCESS, result, NULL);
  bool events = relation->layout->tuple_class == NET_EVENT;
  bool records = ng_made_of_records(relation);
  node->alias = result != NULL;
  node->variable = variable;
  node->relation = relation;
  node->form = records ? NET_SCAN_RECORDS : NET_SCAN_TUPLES;
  const char *start = joined(initial, variable->name, events ? "at" : "start");
  node->own_start = ng_column_new(plan, start, type_instant, false);
  const struct ng_column *stop =
      events ? NULL
             : ng_column_new(plan, joined(initial, variable->name, "stop"), type_instant, true);
  if (!records) node->own_stop = stop;
  for (uint32_t i = 0; i < relation->layout->field_count; i++) {
    const struct net_field *field = &relation->layout->fields[i];
    const char *name = joined(initial, variable->name, field->name);
    /* By the number of an update equal tuples differ, which are not distinct for that. */
    bool own = i < variable->relation->layout->field_count;
    ng_columns_add(initial->arena, &node->own,
                   own ? ng_column_new(plan, name, field->type, field->openable)
                       : ng_column_number(plan, name, field->type));
  }
  ng_node_refresh(plan, node);
  if (!records)
    return credible(plan, variable, ng_compensated(plan, initial->query, variable, node));
  struct ng_node *periods = ng_node_new(plan, NET_NODE_EVENT_TO_PERIOD, node, NULL);
  periods->own_stop = stop;
  for (size_t i = 0; i < relation->entity.count; i++)
    ng_columns_add(initial->arena, &periods->by_columns,
                   node->own.items[relation->entity.fields[i]]);
  ng_node_refresh(plan, periods);
  return credible(plan, variable, ng_compensated(plan, initial->query, variable, periods));
}

static struct ng_lowered_input input_of(const struct ng_node *node) {
  return (struct ng_lowered_input){node->start, node->stop, node->fields.items};
}

/* --- unary nodes on top */

/* --- aggregates */

static const char *aggregate_name(struct initial *initial, const struct ng_aggregate *aggregate) {
  static const char *const names[] = {
      [NET_AGG_COUNT] = "count",
      [NET_AGG_ANY] = "any",
      [NET_AGG_SUM] = "sum",
      [NET_AGG_AVG] = "avg",
      [NET_AGG_MIN] = "min",
      [NET_AGG_MAX] = "max",
      [NET_AGG_AVGC] = "avgc",
      [NET_AGG_EXTEND] = "extendc",
      [NET_AGG_FIRST] = "first",
      [NET_AGG_LAST] = "last",
      [NET_AGG_STDEV] = "stdev",
      [NET_AGG_VARTS] = "varts",
      [NET_AGG_AVGTI] = "avgti",
      [NET_AGG_EARLIEST] = "earliest",
      [NET_AGG_LATEST] = "latest",
      [NET_AGG_QUANTILE] = "quantile",
      [NET_AGG_QUANTILE_OF] = "quantile_of",
  };
  const struct ng_variable *variable = &initial->query->variables[aggregate->variable];
  bool events = variable->relation->layout->tuple_class == NET_EVENT;
  bool says_so =
      aggregate->function == NET_AGG_AVGC || aggregate->function == NET_AGG_EXTEND || events;
  says_so = says_so || aggregate->summary;
  const char *form = aggregate->unique ? "u" : aggregate->cumulative && !says_so ? "c" : "";
  const char *tail = aggregate->summary                 ? " of all"
                     : events && !aggregate->cumulative ? " for each instant"
                                                        : "";
  if (aggregate->window > 0)
    tail = base_arena_printf(initial->arena, " for each %lld", (long long)aggregate->window);
  if (aggregate->function == NET_AGG_QUANTILE || aggregate->function == NET_AGG_QUANTILE_OF)
    return base_arena_printf(initial->arena, "%s(%g, %s%s)", names[aggregate->function],
                             aggregate->fraction, variable->name, tail);
  return base_arena_printf(initial->arena, "%s%s(%s%s)", names[aggregate->function], form,
                           variable->name, tail);
}

/* The inner when is three-valued: two columns, where it is T and where it is F. */
static void add_inner_when(struct initial *initial, struct ng_lowering *inner,
                           const struct ng_aggregate *aggregate, struct ng_node *node,
                           struct ng_node **top) {
  if (!aggregate->when) return;
  const struct ng_expr *when = ng_lower(inner, aggregate->when);
  const struct ng_expr *unless =
      ng_expr_make(initial->arena, NG_NOT, 1, (const struct ng_expr *const[]){when});
  node->when = ng_node_compute(initial->plan, top, when, "when");
  node->unless = ng_node_compute(initial->plan, top, unless, "unless");
}

/* An inner where that changes with time: a tuple is a member while it holds; where all tuples make groups,
 * the rest of it says so. Cumulative aggregates count a tuple once, from when it holds first. */
static struct ng_node *cut_members(struct initial *initial, struct ng_node *node,
                                   struct ng_node *top, const struct ng_expr *condition) {
  const struct ng_aggregate *aggregate = node->aggregate;
  if (node->unless) { /* no error of a tuple that the inner when leaves out counts */
    const struct ng_expr *out = ng_expr_column(initial->arena, node->unless);
    condition =
        ng_expr_and(initial->arena, ng_expr_make(initial->arena, NG_NOT, 1, &out), condition);
  }
  struct ng_node *cut = ng_cut_rows(initial->plan, top, condition);
  cut->first_only = aggregate->cumulative && aggregate->function != NET_AGG_AVGC;
  if (aggregate->window > 0 && top->stop) cut->bridge = aggregate->window - 1;
  if (node->groups_of_all) {
    node->where = ng_column_computed(initial->plan, "counts", type_bool, false);
    ng_columns_add(initial->arena, &cut->own, node->where);
    ng_node_refresh(initial->plan, cut);
  }
  return cut;
}

/* The times of the tuple that earliest or latest chose: fields of the aggregate's rows. */
static void add_chosen(struct initial *initial, struct ng_node *node,
                       const struct ng_aggregate *aggregate, bool period) {
  struct ng_lowered_input *chosen =
      &initial->lowering.chosen[aggregate - initial->query->aggregates];
  const char *start =
      base_arena_printf(initial->arena, "%s of %s", period ? "start" : "at", node->name);
  chosen->start = ng_column_new(initial->plan, start, type_instant, false);
  ng_columns_add(initial->arena, &node->own, chosen->start);
  if (!period) return;
  const char *stop = base_arena_printf(initial->arena, "stop of %s", node->name);
  chosen->stop = ng_column_new(initial->plan, stop, type_instant, false);
  ng_columns_add(initial->arena, &node->own, chosen->stop);
}

static bool parts_can_fail(const struct ng_lowering *inner, const struct ng_aggregate *aggregate) {
  if (aggregate->argument && ng_expr_can_fail(ng_lower(inner, aggregate->argument))) return true;
  if (aggregate->where && ng_expr_can_fail(ng_lower(inner, aggregate->where))) return true;
  for (size_t i = 0; i < aggregate->by_count; i++) {
    if (ng_expr_can_fail(ng_lower(inner, aggregate->by[i]))) return true;
  }
  return false;
}

/* What the inner where and when leave out has no argument and no group, and no errors of them. */
static struct ng_node *select_members(struct initial *initial, const struct ng_lowering *inner,
                                      const struct ng_aggregate *aggregate, struct ng_node *top) {
  const struct ng_expr *when = aggregate->when ? ng_lower(inner, aggregate->when) : NULL;
  const struct ng_expr *where = aggregate->where ? ng_lower(inner, aggregate->where) : NULL;
  return ng_node_select(initial->plan, top, ng_expr_and(initial->arena, when, where));
}

/* VALUE for the members that NODE's columns tell from the other tuples of their groups. */
static const struct ng_expr *of_members(struct initial *initial, const struct ng_node *node,
                                        const struct ng_expr *value) {
  struct base_arena *arena = initial->arena;
  const struct ng_expr *member = node->where ? ng_expr_column(arena, node->where) : NULL;
  if (node->unless) {
    const struct ng_expr *out = ng_expr_column(arena, node->unless);
    member = ng_expr_and(arena, member, ng_expr_make(arena, NG_NOT, 1, &out));
  }
  if (!member || !ng_expr_can_fail(value) || value->type.base == NET_BOOL) return value;
  struct ng_expr *only = ng_expr_new(arena, NG_IF, value->type);
  only->arg_count = 2;
  only->args[0] = member;
  only->args[1] = value;
  return only;
}

static void add_by(struct initial *initial, struct ng_node *node, struct ng_node **top,
                   size_t place, const struct ng_expr *value) {
  struct ng_plan *plan = initial->plan;
  const struct ng_column *by = ng_node_compute(initial->plan, top, value, "by");
  node->by_columns.items[place] = by;
  node->own.items[place] =
      ng_column_new(plan, joined(initial, node->name, by->name), by->type, false);
}

/* The columns that say which tuples count: of an inner where that does not change with time, and of the
 * inner when. What the one leaves out has no errors of the other. */
static void add_qualification(struct initial *initial, struct ng_lowering *inner,
                              struct ng_node *node, struct ng_node **top, bool changes) {
  const struct ng_aggregate *aggregate = node->aggregate;
  add_inner_when(initial, inner, aggregate, node, top);
  if (!aggregate->where || changes) return;
  const struct ng_expr *where = ng_lower(inner, aggregate->where);
  if (node->unless && ng_expr_can_fail(where)) {
    const struct ng_expr *out = ng_expr_column(initial->arena, node->unless);
    where = ng_expr_and(initial->arena, ng_expr_make(initial->arena, NG_NOT, 1, &out), where);
  }
  node->where = ng_node_compute(initial->plan, top, where, "counts");
}

/* By lists and argument of an aggregate that an inner where cuts, as far as they are computed above the cut;
 * others are NULL. */
struct put_off {
  const struct ng_expr **by, *argument;
};

/* Fills in by lists and argument, as far as they are computed below the cut, or leaves them for above. */
static struct put_off add_parts_below(struct initial *initial, struct ng_lowering *inner,
                                      struct ng_node *node, struct ng_node **top) {
  const struct ng_aggregate *aggregate = node->aggregate;
  struct put_off put_off = {
      .by = BASE_NEW_ARRAY(initial->arena, aggregate->by_count, const struct ng_expr *)};
  for (size_t i = 0; i < aggregate->by_count; i++) {
    const struct ng_expr *by = ng_lower(inner, aggregate->by[i]);
    if (ng_waits_for_cut(by) && !node->groups_of_all)
      put_off.by[i] = ng_cut_target(initial->plan, NULL, top, by);
    else
      add_by(initial, node, top, i, by);
  }
  if (!aggregate->argument) return put_off;
  const struct ng_expr *argument = ng_lower(inner, aggregate->argument);
  if (ng_waits_for_cut(argument))
    put_off.argument = ng_cut_target(initial->plan, NULL, top, argument);
  else
    node->argument = ng_node_compute(initial->plan, top, argument, "argument");
  return put_off;
}

/* Those that were left, over the rows of the cut. */
static void add_parts_above(struct initial *initial, struct ng_node *node, struct ng_node **top,
                            const struct put_off *put_off) {
  for (size_t i = 0; i < node->aggregate->by_count; i++)
    if (put_off->by[i]) add_by(initial, node, top, i, put_off->by[i]);
  if (put_off->argument)
    node->argument = ng_node_compute(initial->plan, top,
                                     of_members(initial, node, put_off->argument), "argument");
}

/* By lists and argument where nothing cuts. */
static void add_parts(struct initial *initial, struct ng_lowering *inner, struct ng_node *node,
                      struct ng_node **top) {
  const struct ng_aggregate *aggregate = node->aggregate;
  for (size_t i = 0; i < aggregate->by_count; i++)
    add_by(initial, node, top, i, ng_lower(inner, aggregate->by[i]));
  if (aggregate->argument)
    node->argument = ng_node_compute(
        initial->plan, top, of_members(initial, node, ng_lower(inner, aggregate->argument)),
        "argument");
}

static bool counts_each(const struct ng_aggregate *aggregate) {
  return aggregate->cumulative || aggregate->window > 0 || aggregate->function == NET_AGG_AVGC;
}

/* Where each tuple counts, also of equal pieces each does; so the tuples are made a set before they are
 * cut. */
static struct ng_node *set_of(struct ng_plan *plan, struct ng_node *input) {
  struct ng_node *node = ng_node_new(plan, NET_NODE_SET, input, NULL);
  ng_node_refresh(plan, node);
  return node;
}

/* Is the value asked for only where the tuple of VARIABLE outside is: in its period, or at its own instant? A given
 * instant may be another one. */
static bool is_asked_of_own(const struct ng_query *query, unsigned variable) {
  const struct ng_expr *at = query->at;
  bool event = query->variables[variable].relation->layout->tuple_class == NET_EVENT;
  if (query->result_class != NET_EVENT || (!at && !query->when)) return true;
  if (!at) return event;
  bool start = at->op == NG_T_START || (event && at->op == NG_T_STOP);
  if (!start && !event) return false;
  if (start) at = at->args[0];
  return at->op == NG_T_VARIABLE && at->variable == variable;
}

/* Applies for the parts of the clause that are no bare domains (thesis 7.1.4), then the node. */
static struct ng_node *aggregate_node(struct initial *initial,
                                      const struct ng_aggregate *aggregate) {
  struct ng_plan *plan = initial->plan;
  const struct ng_variable *variable = &initial->query->variables[aggregate->variable];
  struct ng_node *top = leaf(initial, variable, variable->relation);
  bool changes = aggregate->where && ng_changes_with_time(aggregate->where);
  bool apart = changes && top->stop && counts_each(aggregate);
  if (apart) top = set_of(plan, top);
  struct ng_lowering inner = initial->lowering;
  inner.variables =
      BASE_NEW_ARRAY(initial->arena, initial->query->variable_count, struct ng_lowered_input);
  inner.variables[aggregate->variable] = input_of(top);
  inner.rebase_to = NULL;
  if (aggregate->during)
    top = ng_node_select(initial->plan, top, ng_lower(&inner, aggregate->during));
  struct ng_node *node = ng_node_new(plan, NET_NODE_AGGREGATE, NULL, NULL);
  node->domain_fields = (uint32_t)top->fields.count;
  node->aggregate = aggregate;
  node->query = initial->query;
  node->name = aggregate_name(initial, aggregate);
  node->own_start = ng_column_new(plan, joined(initial, node->name, "start"), type_instant, false);
  node->own_stop = ng_column_new(plan, joined(initial, node->name, "stop"), type_instant, true);
  node->apart = apart;
  bool qualified = aggregate->where || aggregate->when;
  node->groups_of_all =
      qualified && aggregate->by_count > 0 && (variable->outside || aggregate->summary);
  node->groups_sure = node->groups_of_all && !aggregate->summary &&
                      is_asked_of_own(initial->query, aggregate->variable);
  bool select = qualified && !changes && !node->groups_of_all && parts_can_fail(&inner, aggregate);
  if (select) top = select_members(initial, &inner, aggregate, top);
  for (size_t i = 0; i < aggregate->by_count; i++) { /* their places */
    ng_columns_add(initial->arena, &node->by_columns, NULL);
    ng_columns_add(initial->arena, &node->own, NULL);
  }
  if (!select) add_qualification(initial, &inner, node, &top, changes);
  if (changes) {
    struct put_off put_off = add_parts_below(initial, &inner, node, &top);
    top = cut_members(initial, node, top, ng_lower(&inner, aggregate->where));
    add_parts_above(initial, node, &top, &put_off);
  } else {
    add_parts(initial, &inner, node, &top);
  }
  if (aggregate->function == NET_AGG_EARLIEST || aggregate->function == NET_AGG_LATEST) {
    add_chosen(initial, node, aggregate, top->stop != NULL);
  } else {
    ng_columns_add(initial->arena, &node->own,
                   ng_column_new(plan, node->name, aggregate->type, false));
  }
  node->inputs[0] = top;
  node->input_count = 1;
  ng_node_refresh(plan, node);
  return node;
}

/* --- products */

static void add_product(struct initial *initial, enum net_product_rule rule,
                        struct ng_node *right) {
  if (!initial->top) {
    initial->top = right;
    return;
  }
  struct ng_plan *plan = initial->plan;
  struct ng_node *node = ng_node_new(plan, NET_NODE_PRODUCT, initial->top, right);
  node->rule = rule;
  node->own_start = ng_column_new(plan, "start", type_instant, false);
  node->own_stop = ng_column_new(plan, "stop", type_instant, true);
  ng_node_refresh(plan, node);
  initial->top = node;
}

/* The leaf of variable INDEX, which takes part outside aggregates. */
static struct ng_node *take_part(void *context, unsigned index) {
  struct initial *initial = context;
  const struct ng_variable *variable = &initial->query->variables[index];
  struct ng_node *node =
      leaf(initial, variable,
           variable->outside_relation ? variable->outside_relation : variable->relation);
  initial->lowering.variables[index] = input_of(node);
  initial->outside_count++;
  if (!node->stop) initial->events_outside = true;
  return node;
}

static void add_closest(void *context, struct ng_node *node) {
  add_product(context, NET_PRODUCT_FULL, node);
}

static void collect_variables(struct initial *initial) {
  const struct ng_query *query = initial->query;
  enum net_product_rule rule = query->when ? NET_PRODUCT_FULL : NET_PRODUCT_OVERLAP;
  struct ng_closest closest = {initial->plan, &initial->lowering, take_part, initial};
  if (query->sequence != NG_SEQUENCE_FULL && query->when) {
    ng_closest_each(&closest, query->when, add_closest, initial);
  }
  for (unsigned i = 0; i < query->variable_count; i++) {
    if (!query->variables[i].outside || initial->lowering.variables[i].start) continue;
    add_product(initial, rule, take_part(initial, i));
  }
}

static void collect_aggregates(struct initial *initial) {
  const struct ng_query *query = initial->query;
  /* Where a given `when` lets the variables lie apart, their combinations have no common point. */
  bool apart = initial->outside_count > 1 && query->when;
  bool at_event =
      initial->outside_count > 0 && query->result_class == NET_EVENT && (query->at || query->when);
  initial->aggregates_at =
      query->aggregate_count > 0 && query->result_class == NET_EVENT && (query->at || query->when);
  enum net_product_rule rule = at_event || apart ? NET_PRODUCT_FULL : NET_PRODUCT_OVERLAP;
  for (size_t i = 0; i < query->aggregate_count; i++) {
    struct ng_node *node = aggregate_node(initial, &query->aggregates[i]);
    initial->lowering.aggregate_inputs[i] = input_of(node);
    initial->lowering.aggregates[i] = node->own.items[node->own.count - 1];
    if (i == 0) initial->lowering.groups = node->own.items;
    add_product(initial, rule, node);
  }
  for (size_t i = 0; i < query->doubt_count; i++) {
    const struct ng_variable *variable = &query->doubts[i].variable;
    struct ng_node *node = leaf(initial, variable, variable->relation);
    initial->doubts[i] = input_of(node);
    add_product(initial, rule, node);
  }
}

/* A query of constants alone: one period tuple from the origin to forever. */
static void add_single_row(struct initial *initial) {
  struct ng_node *node = ng_node_new(initial->plan, NET_NODE_ACCESS, NULL, NULL);
  node->single_row = true;
  node->query = initial->query;
  node->own_start = ng_column_new(initial->plan, "start", type_instant, false);
  node->own_stop = ng_column_new(initial->plan, "stop", type_instant, false);
  ng_node_refresh(initial->plan, node);
  initial->top = node;
}

/* --- conditions */

static void add_conjuncts(struct initial *initial, const struct ng_expr *condition) {
  struct ng_exprs found = {0};
  ng_expr_conjuncts(initial->arena, condition, &found);
  for (size_t i = 0; i < found.count; i++) {
    bool known = false;
    ng_plan_work(initial->plan, 64 * initial->conjuncts.count); /* whole expressions */
    for (size_t j = 0; j < initial->conjuncts.count && !known; j++) {
      known = ng_expr_equal(found.items[i], initial->conjuncts.items[j]);
    }
    if (!known) ng_exprs_add(initial->arena, &initial->conjuncts, found.items[i]);
  }
}

static void add_equality(struct initial *initial, const struct ng_expr *left,
                         const struct ng_expr *right) {
  struct ng_expr *equal = ng_expr_new(initial->arena, NG_EQ, type_bool);
  equal->arg_count = 2;
  equal->args[0] = left;
  equal->args[1] = right;
  add_conjuncts(initial, equal);
}

static bool same_by_list(const struct ng_aggregate *a, const struct ng_aggregate *b) {
  if (a->variable != b->variable || a->by_count != b->by_count) return false;
  for (size_t i = 0; i < a->by_count; i++) {
    const struct ng_expr *x = a->by[i], *y = b->by[i];
    if (!ng_expr_equal(x, y) || x->variable != y->variable || x->index != y->index) return false;
  }
  return true;
}

static const struct ng_node *aggregate_at(const struct initial *initial, const struct ng_node *node,
                                          size_t index) {
  if (node->kind == NET_NODE_AGGREGATE) {
    return node->aggregate == &initial->query->aggregates[index] ? node : NULL;
  }
  for (unsigned i = 0; i < node->input_count; i++) {
    if (node->inputs[i]->alias) continue;
    const struct ng_node *found = aggregate_at(initial, node->inputs[i], index);
    if (found) return found;
  }
  return NULL;
}

/* What is missing of a group makes it uncertain, and no other one. */
static void add_doubt_conditions(struct initial *initial) {
  const struct ng_query *query = initial->query;
  for (size_t i = 0; i < query->doubt_count; i++) {
    const struct ng_doubt *doubt = &query->doubts[i];
    const struct ng_node *node = aggregate_at(initial, initial->top, doubt->aggregate);
    for (uint32_t f = 0; f < doubt->variable.relation->layout->field_count; f++) {
      add_equality(initial, ng_expr_column(initial->arena, node->own.items[doubt->by[f]]),
                   ng_expr_column(initial->arena, initial->doubts[i].fields[f]));
    }
  }
}

/* A group is that of the outer tuple or, if its variable takes no part outside, that of an earlier
 * aggregate with an equal `by` list. */
static void add_group_conditions(struct initial *initial) {
  const struct ng_query *query = initial->query;
  for (size_t i = 0; i < query->aggregate_count; i++) {
    const struct ng_aggregate *aggregate = &query->aggregates[i];
    const struct ng_node *node = aggregate_at(initial, initial->top, i);
    if (query->variables[aggregate->variable].outside) {
      for (size_t j = 0; j < aggregate->by_count; j++) {
        add_equality(initial, ng_lower(&initial->lowering, aggregate->by[j]),
                     ng_expr_column(initial->arena, node->own.items[j]));
      }
      continue;
    }
    for (size_t k = 0; k < i; k++) {
      if (!same_by_list(&query->aggregates[k], aggregate)) continue;
      const struct ng_node *other = aggregate_at(initial, initial->top, k);
      for (size_t j = 0; j < aggregate->by_count; j++) {
        add_equality(initial, ng_expr_column(initial->arena, other->own.items[j]),
                     ng_expr_column(initial->arena, node->own.items[j]));
      }
      break;
    }
  }
}

static struct ng_alternative tuple_of(struct initial *initial, struct ng_lowered_input input) {
  const struct ng_expr *start = ng_expr_column(initial->arena, input.start);
  const struct ng_expr *stop = input.stop ? ng_expr_column(initial->arena, input.stop) : start;
  return (struct ng_alternative){NULL, start, stop, !input.stop};
}

/* An aggregate, or, behind them, what may be missing of one. */
static struct ng_lowered_input counted(const struct initial *initial, size_t index) {
  size_t aggregates = initial->query->aggregate_count;
  return index < aggregates ? initial->lowering.aggregate_inputs[index]
                            : initial->doubts[index - aggregates];
}

/* What the overlap rule of the products does not say already of the aggregates. */
static void add_aggregate_times(struct initial *initial) {
  const struct ng_query *query = initial->query;
  const struct ng_lowering *lowering = &initial->lowering;
  bool apart = initial->outside_count > 1 && query->when && !initial->aggregates_at;
  bool at = initial->aggregates_at && initial->outside_count > 0;
  for (size_t i = 0; i < query->aggregate_count + query->doubt_count; i++) {
    struct ng_alternative aggregate = tuple_of(initial, counted(initial, i));
    if (initial->aggregates_at) {
      add_conjuncts(initial, ng_lower_overlap(initial->arena, initial->at, aggregate));
    }
    for (size_t v = 0; v < query->variable_count && apart; v++) {
      if (!query->variables[v].outside) continue;
      struct ng_alternative tuple = tuple_of(initial, lowering->variables[v]);
      add_conjuncts(initial, ng_lower_overlap(initial->arena, tuple, aggregate));
    }
    /* Of an instant that is not known all speak of the same chronon. */
    for (size_t j = 0; j < i && (apart || at); j++) {
      struct ng_alternative other = tuple_of(initial, counted(initial, j));
      add_conjuncts(initial, ng_lower_overlap(initial->arena, other, aggregate));
    }
  }
}

/* Conjuncts that compare temporal values are put off: they cut the result. */
static void add_where(struct initial *initial, const struct ng_expr *where) {
  if (where->op == NG_AND) {
    add_where(initial, where->args[0]);
    add_where(initial, where->args[1]);
  } else if (ng_changes_with_time(where)) {
    ng_exprs_add(initial->arena, &initial->changing, where);
  } else {
    add_conjuncts(initial, ng_lower(&initial->lowering, where));
  }
}

/* One for each conjunct; those that can fail are one conjunction, behind all others, or go into the
 * condition of the cut. */
static void add_selections(struct initial *initial) {
  const struct ng_expr *failing = NULL;
  for (size_t i = 0; i < initial->conjuncts.count; i++) {
    const struct ng_expr *conjunct = initial->conjuncts.items[i];
    if (!ng_expr_can_fail(conjunct)) {
      initial->top = ng_node_select(initial->plan, initial->top, conjunct);
    } else if (initial->changing.count > 0 && !ng_expr_reads_open(conjunct)) {
      initial->cut_too = ng_expr_and(initial->arena, initial->cut_too, conjunct);
    } else {
      failing = ng_expr_and(initial->arena, failing, conjunct);
    }
  }
  if (failing) initial->top = ng_node_select(initial->plan, initial->top, failing);
}

/* --- what must be absent */

/* Of the result of a period the portions stay, else all of it. */
static bool keeps_portions(const struct ng_query *query, const struct ng_absence *absence) {
  return !absence->when && query->result_class == NET_PERIOD;
}

static struct ng_node *absent_leaf(struct initial *initial, const struct ng_absence *absence) {
  const struct ng_variable *variable = &initial->query->variables[absence->variable];
  struct ng_node *node = leaf(initial, variable, variable->relation);
  initial->lowering.variables[absence->variable] = input_of(node);
  return node;
}

static void add_anti_joins(struct initial *initial) {
  const struct ng_query *query = initial->query;
  for (size_t i = 0; i < query->absence_count; i++) {
    const struct ng_absence *absence = &query->absences[i];
    if (keeps_portions(query, absence)) continue;
    struct ng_node *right = absent_leaf(initial, absence);
    struct ng_lowered_input *input = &initial->lowering.variables[absence->variable];
    const struct ng_expr *where =
        absence->where ? ng_lower(&initial->lowering, absence->where) : NULL;
    const struct ng_expr *when =
        absence->when ? ng_lower(&initial->lowering, absence->when)
                      : ng_lower_overlap(initial->arena, initial->at, tuple_of(initial, *input));
    initial->top = ng_anti_join(initial->plan, query, absence, initial->top, right, where, when);
    *input = (struct ng_lowered_input){0};
  }
}

/* PROJECTION has the columns of EXPR that RIGHT does not have. */
static void carry(struct initial *initial, struct ng_node *projection, const struct ng_node *right,
                  const struct ng_expr *expr) {
  for (unsigned i = 0; i < expr->arg_count; i++) carry(initial, projection, right, expr->args[i]);
  if (expr->op != NG_COLUMN || ng_node_has(right, expr->column) ||
      ng_columns_have(&initial->carried, expr->column))
    return;
  ng_columns_add(initial->arena, &initial->carried, expr->column);
  ng_columns_add(initial->arena, &projection->sources, expr->column);
  ng_columns_add(
      initial->arena, &projection->own,
      ng_column_copy(initial->plan, expr->column->name, expr->column->type, expr->column));
}

/* The columns of PROJECTION, which is to stand above initial->top, that absences of portions read: behind all that it
 * has. */
static void carry_for_differences(struct initial *initial, struct ng_node *projection) {
  const struct ng_query *query = initial->query;
  initial->absent = BASE_NEW_ARRAY(initial->arena, query->absence_count, struct absent);
  for (size_t i = 0; i < query->absence_count; i++) {
    const struct ng_absence *absence = &query->absences[i];
    struct absent *absent = &initial->absent[i];
    if (!keeps_portions(query, absence)) continue;
    absent->right = absent_leaf(initial, absence);
    if (absence->where) absent->where = ng_lower(&initial->lowering, absence->where);
    initial->lowering.variables[absence->variable] = (struct ng_lowered_input){0};
    if (absent->where) carry(initial, projection, absent->right, absent->where);
  }
}

/* Above NODE, whose fields behind the first KEPT are those that were carried. */
static struct ng_node *add_differences(struct initial *initial, struct ng_node *node, size_t kept) {
  const struct ng_query *query = initial->query;
  size_t left = 0;
  for (size_t i = 0; i < query->absence_count; i++) left += initial->absent[i].right != NULL;
  for (size_t i = 0; i < query->absence_count; i++) {
    const struct absent *absent = &initial->absent[i];
    const struct ng_expr *where = absent->where;
    if (!absent->right) continue;
    for (size_t k = 0; k < initial->carried.count && where; k++)
      where = ng_expr_substitute(initial->arena, where, initial->carried.items[k],
                                 node->fields.items[kept + k]);
    left--;
    node = ng_difference(initial->plan, query, &query->absences[i], node, absent->right, where,
                         left > 0 ? node->fields.count : kept);
  }
  return node;
}

/* --- delimiters */

static struct ng_alternative delimiter(struct initial *initial, const struct ng_expr *expr) {
  struct ng_alternatives alternatives = {0};
  ng_lower_temporal(&initial->lowering, expr, &alternatives);
  BASE_CHECK(alternatives.count == 1, "one-delimiter");
  return alternatives.items[0];
}

static const struct ng_expr *fold(struct initial *initial, enum ng_op op,
                                  const struct ng_expr *so_far, const struct ng_expr *next) {
  if (!so_far) return next;
  return ng_expr_make(initial->arena, op, 2, (const struct ng_expr *const[]){so_far, next});
}

/* The default (thesis 4.5.2): what all that takes part has in common. */
static void add_default(struct initial *initial, struct ng_lowered_input input, bool events_only,
                        struct ng_alternative *ret) {
  if (events_only && input.stop) return;
  struct ng_alternative tuple = tuple_of(initial, input);
  ret->start = fold(initial, events_only ? NG_INTERSECT : NG_LATER, ret->start, tuple.start);
  ret->stop = events_only ? ret->start : fold(initial, NG_EARLIER, ret->stop, tuple.stop);
}

static struct ng_alternative default_times(struct initial *initial) {
  const struct ng_query *query = initial->query;
  bool events_only = query->result_class == NET_EVENT && initial->events_outside;
  struct ng_alternative times = {NULL, NULL, NULL, events_only};
  for (size_t i = 0; i < query->variable_count; i++) {
    if (!query->variables[i].outside || (query->one_delimits && i != query->delimiter)) continue;
    add_default(initial, initial->lowering.variables[i], events_only, &times);
  }
  for (size_t i = 0; i < query->aggregate_count + query->doubt_count; i++) {
    add_default(initial, counted(initial, i), events_only, &times);
  }
  if (times.start) return times;
  struct ng_lowered_input row = {initial->top->start, initial->top->stop, NULL};
  return tuple_of(initial, row);
}

static void find_instant(struct initial *initial) {
  if (initial->query->result_class != NET_EVENT) return;
  const struct ng_expr *at = initial->query->at;
  initial->at = at ? delimiter(initial, at) : default_times(initial);
  initial->at.event = true;
}

/* --- result */

/* Of the period with that start, the stop: an event at START can then be had by way of the period.
 */
static const struct ng_column *stop_beside(struct initial *initial, const struct ng_column *start) {
  struct ng_participants participants = {0};
  ng_node_participants(initial->plan, initial->top, &participants);
  for (size_t i = 0; i < participants.count; i++) {
    if (participants.items[i].start == start) return participants.items[i].stop;
  }
  return NULL;
}

static void add_times(struct initial *initial, struct ng_node *projection) {
  const struct ng_query *query = initial->query;
  if (query->result_class == NET_EVENT) {
    projection->start_from =
        ng_node_compute(initial->plan, &initial->top, initial->at.start, "instant");
    projection->stop_from = stop_beside(initial, projection->start_from);
    return;
  }
  struct ng_alternative times = default_times(initial);
  if (query->start) times.start = delimiter(initial, query->start).start;
  if (query->stop) times.stop = delimiter(initial, query->stop).stop;
  projection->stop_from = ng_node_compute(initial->plan, &initial->top, times.stop, "stop");
  projection->start_from = ng_node_compute(initial->plan, &initial->top, times.start, "start");
}

/* A result too wide for the domain's declared width fails when it runs, not when it is stored. */
static const struct ng_expr *fitted(struct initial *initial, const struct ng_expr *value,
                                    struct net_type type) {
  if (value->op == NG_COLUMN || value->type.base != NET_INTEGER || type.base != NET_INTEGER ||
      value->type.width == type.width) {
    return value;
  }
  struct ng_expr *converted = ng_expr_new(initial->arena, NG_CONVERT, type);
  converted->arg_count = 1;
  converted->args[0] = value;
  return converted;
}

/* A combination whose period is empty gives no tuple, so no target of it may fail: the projection's test
 * is made before them. Not where the period is a tuple's own, nor the one that all have in common. */
static void leave_out_empty(struct initial *initial, const struct ng_node *projection) {
  const struct ng_query *query = initial->query;
  bool given = query->start || query->stop || (query->when && query->variable_count > 1);
  if (query->result_class != NET_PERIOD || !given) return;
  if (stop_beside(initial, projection->start_from) == projection->stop_from) return;
  const struct ng_expr *bounds[2] = {ng_expr_column(initial->arena, projection->start_from),
                                     ng_expr_column(initial->arena, projection->stop_from)};
  initial->top = ng_node_select(initial->plan, initial->top,
                                ng_expr_make(initial->arena, NG_BEFORE, 2, bounds));
}

/* Fills PUT_OFF with the targets, over PROJECTION's rows, that are computed above the cut; NULL: the
 * projection has them. */
static void add_targets(struct initial *initial, struct ng_node *projection,
                        const struct ng_expr **put_off) {
  const struct ng_query *query = initial->query;
  BASE_CHECK(query->layout->field_count == query->target_count, "targets-and-layout");
  initial->lowering.rebase_to = projection->start_from;
  bool left_out = false;
  for (size_t i = 0; i < query->target_count; i++) {
    const struct net_field *field = &query->layout->fields[i];
    const struct ng_expr *value = ng_lower(&initial->lowering, query->targets[i].expr);
    value = fitted(initial, value, field->type);
    put_off[i] = initial->changing.count > 0 && ng_waits_for_cut(value) ? value : NULL;
    if (put_off[i]) continue;
    if (!left_out && ng_expr_can_fail(value)) {
      leave_out_empty(initial, projection);
      left_out = true;
    }
    const struct ng_column *source =
        ng_node_compute(initial->plan, &initial->top, value, field->name);
    ng_columns_add(initial->arena, &projection->sources, source);
    ng_columns_add(initial->arena, &projection->own,
                   ng_column_copy(initial->plan, field->name, field->type, source));
  }
  for (size_t i = 0; i < query->target_count; i++) {
    if (put_off[i])
      put_off[i] = ng_cut_target(initial->plan, projection, &initial->top, put_off[i]);
  }
}

/* What PROJECTION has for column K of those that are carried. */
static const struct ng_column *column_carried(const struct initial *initial,
                                              const struct ng_node *projection, size_t k) {
  for (size_t i = 0; i < projection->sources.count; i++)
    if (projection->sources.items[i] == initial->carried.items[k] &&
        projection->own.items[i] != NULL)
      return projection->own.items[i];
  BASE_CHECK(false, "carried-column");
  return NULL;
}

/* The targets in their order, those of PUT_OFF computed of the rows of NODE, a cut over PROJECTION. */
static struct ng_node *add_put_off(struct initial *initial, struct ng_node *node,
                                   const struct ng_node *projection,
                                   const struct ng_expr *const *put_off) {
  const struct ng_query *query = initial->query;
  struct ng_node *top = node;
  struct ng_node *final = ng_node_new(initial->plan, NET_NODE_PROJECTION, NULL, NULL);
  size_t below = 0;
  for (size_t i = 0; i < query->target_count; i++) {
    const struct net_field *field = &query->layout->fields[i];
    const struct ng_column *source =
        put_off[i] ? ng_node_compute(initial->plan, &top, put_off[i], field->name)
                   : projection->own.items[below++];
    ng_columns_add(initial->arena, &final->sources, source);
    ng_columns_add(initial->arena, &final->own,
                   ng_column_new(initial->plan, field->name, field->type, false));
  }
  for (size_t k = 0; k < initial->carried.count; k++) {
    const struct ng_column *column = column_carried(initial, projection, k);
    ng_columns_add(initial->arena, &final->sources, column);
    ng_columns_add(initial->arena, &final->own,
                   ng_column_copy(initial->plan, column->name, column->type, column));
  }
  final->inputs[0] = top;
  final->input_count = 1;
  final->start_from = node->start;
  final->stop_from = node->stop;
  final->own_start = ng_column_new(initial->plan, node->start->name, type_instant, false);
  if (node->stop) {
    final->own_stop = ng_column_new(initial->plan, node->stop->name, type_instant, true);
  }
  ng_node_refresh(initial->plan, final);
  return final;
}

/* The condition that cuts the result, over the rows of PROJECTION; NULL: none does. */
static const struct ng_expr *cut_condition(struct initial *initial, struct ng_node *projection) {
  if (initial->changing.count == 0) return NULL;
  const struct ng_expr *condition = initial->cut_too;
  for (size_t i = 0; i < initial->changing.count; i++) {
    condition = ng_expr_and(initial->arena, condition,
                            ng_lower(&initial->lowering, initial->changing.items[i]));
  }
  return ng_cut_condition(initial->plan, projection, &initial->top, condition);
}

static struct ng_node *result(struct initial *initial) {
  struct ng_plan *plan = initial->plan;
  struct ng_node *projection = ng_node_new(plan, NET_NODE_PROJECTION, NULL, NULL);
  add_times(initial, projection);
  const struct ng_expr **put_off =
      BASE_NEW_ARRAY(initial->arena, initial->query->target_count, const struct ng_expr *);
  add_targets(initial, projection, put_off);
  bool period = projection->stop_from != NULL;
  projection->own_start = ng_column_new(plan, period ? "start" : "at", type_instant, false);
  if (period) projection->own_stop = ng_column_new(plan, "stop", type_instant, true);
  size_t targets = projection->own.count;
  carry_for_differences(initial, projection);
  size_t kept = projection->own.count;
  const struct ng_expr *condition = cut_condition(initial, projection);
  projection->inputs[0] = initial->top;
  projection->input_count = 1;
  ng_node_refresh(plan, projection);
  struct ng_node *node = projection;
  if (period && initial->query->result_class == NET_EVENT) {
    node = ng_node_new(plan, NET_NODE_SWITCH_DISPOSITION, node, NULL);
    ng_node_refresh(plan, node);
  }
  if (condition) node = ng_cut_node(plan, node, kept, condition);
  bool some_put_off = false;
  for (size_t i = 0; i < initial->query->target_count; i++) {
    some_put_off = some_put_off || put_off[i];
  }
  if (some_put_off) {
    node = add_put_off(initial, node, projection, put_off);
    targets = initial->query->target_count;
  }
  node = add_differences(initial, node, targets);
  if (initial->query->result_class == NET_PERIOD && initial->query->coalesced) {
    node = ng_node_new(plan, NET_NODE_DISTINCT, node, NULL);
    ng_node_refresh(plan, node);
    node = ng_node_new(plan, NET_NODE_COALESCE, node, NULL);
    ng_node_refresh(plan, node);
  }
  return node;
}

static void add_query(struct ng_plan *plan, const void *context) {
  const struct ng_query *query = context;
  struct initial initial = {.plan = plan, .arena = plan->arena, .query = query};
  struct ng_lowering *lowering = &initial.lowering;
  lowering->plan = plan;
  lowering->query = query;
  lowering->variables = BASE_NEW_ARRAY(plan->arena, query->variable_count, struct ng_lowered_input);
  lowering->aggregate_inputs =
      BASE_NEW_ARRAY(plan->arena, query->aggregate_count, struct ng_lowered_input);
  lowering->chosen = BASE_NEW_ARRAY(plan->arena, query->aggregate_count, struct ng_lowered_input);
  lowering->aggregates =
      BASE_NEW_ARRAY(plan->arena, query->aggregate_count, const struct ng_column *);
  initial.doubts = BASE_NEW_ARRAY(plan->arena, query->doubt_count, struct ng_lowered_input);
  collect_variables(&initial);
  collect_aggregates(&initial);
  if (!initial.top) add_single_row(&initial);
  find_instant(&initial);
  add_group_conditions(&initial);
  add_doubt_conditions(&initial);
  if (query->where) add_where(&initial, query->where);
  add_aggregate_times(&initial);
  if (query->when) add_conjuncts(&initial, ng_lower(lowering, query->when));
  add_selections(&initial);
  add_anti_joins(&initial);
  struct ng_node *node = result(&initial);
  plan->queries = ng_grown(plan->arena, plan->queries, plan->query_count, &plan->query_capacity,
                           sizeof *plan->queries);
  plan->queries[plan->query_count++] = (struct ng_plan_query){query, node, false};
  ng_plan_refresh(plan);
}

enum base_status ng_plan_add_query(struct ng_plan *plan, const struct ng_query *query,
                                   struct base_diag_sink *diags) {
  size_t inputs = query->variable_count + query->aggregate_count;
  if (diags && inputs > NG_LIMIT_INPUTS) {
    base_report_hint(diags, MSG_TOO_MANY_INPUTS, query->source, &query->range,
                     "make derived relations of parts of it, and ask for what these have in common",
                     "the statement has %zu tuple variables and aggregates; the limit is %d",
                     inputs, NG_LIMIT_INPUTS);
    return BASE_USER;
  }
  return ng_budgeted(plan, query, diags, add_query, query);
}
