/* From a plan to a running network: the last query of the plan, its nodes from the inputs up.
 *
 * Here columns get slots. Each built node has the layout of its rows and, for every field of the
 * plan node, the index of that field in the layout. The two can differ: a running derived relation
 * that is read directly has all its domains, the plan only those that somebody reads.
 *
 * Everything that the network keeps is copied to, or made in, the network's arena; the plan may go.
 */
#include <stdlib.h>

#include "netgen/build_control.h"
#include "netgen/expr.h"
#include "netgen/share.h"
#include "netgen/single_row.h"

struct built {
  struct net_node *node; /* NULL: not built yet */
  const struct net_layout *layout;
  uint32_t *index;                   /* of plan field k in the layout */
  const struct ng_relation *derived; /* the node was there already: that of this relation */
  uint64_t class;                    /* of its rows, where plans share nodes */
};

struct builder {
  const struct ng_plan *plan;
  struct net_network *network;
  struct base_arena *arena; /* the network's */
  const struct ng_inputs *inputs;
  struct built *built; /* as plan->nodes */
};

static enum base_status build(struct builder *builder, const struct ng_node *node);

static struct built *built_of(struct builder *builder, const struct ng_node *node) {
  for (size_t i = 0; i < builder->plan->node_count; i++) {
    if (builder->plan->nodes[i] == node) return &builder->built[i];
  }
  BASE_CHECK(false, "node-in-plan");
  return NULL;
}

static const char *name_of(struct builder *builder, const struct ng_node *node) {
  return base_arena_printf(builder->arena, "%s-%u", net_node_info(node->kind)->name, node->number);
}

/* --- slots and layouts */

static uint32_t field_of(struct builder *builder, const struct ng_node *node,
                         const struct ng_column *column) {
  for (size_t i = 0; i < node->fields.count; i++) {
    if (node->fields.items[i] == column) return built_of(builder, node)->index[i];
  }
  BASE_CHECK(false, "column-in-node");
  return 0;
}

static uint32_t slot_in(struct builder *builder, const struct ng_node *node,
                        const struct ng_column *column) {
  if (column == node->start) return 0;
  if (column == node->stop) return 2;
  return built_of(builder, node)->layout->fields[field_of(builder, node, column)].slot;
}

struct slot_context {
  struct builder *builder;
  const struct ng_node *node;
};

static uint32_t slot_for_program(void *context, const struct ng_column *column) {
  struct slot_context *slots = context;
  return slot_in(slots->builder, slots->node, column);
}

/* EXPR over the rows of NODE. */
static const struct net_program *program(struct builder *builder, const struct ng_node *node,
                                         const struct ng_expr *expr) {
  struct slot_context slots = {builder, node};
  return ng_expr_compile(builder->arena, expr, builder->plan->timeline, builder->plan->strings,
                         slot_for_program, &slots);
}

static enum net_tuple_class class_of(const struct ng_node *node) {
  return node->stop ? NET_PERIOD : NET_EVENT;
}

static uint32_t *identity(struct builder *builder, size_t count) {
  uint32_t *index = BASE_NEW_ARRAY(builder->arena, count, uint32_t);
  for (size_t i = 0; i < count; i++) index[i] = (uint32_t)i;
  return index;
}

static struct net_field field_for(const struct ng_column *column, const char *name) {
  return (struct net_field){.name = name,
                            .type = column->type,
                            .openable = column->openable,
                            .computed = column->computed,
                            .number = column->number};
}

/* The layout of NODE's rows out of its columns. */
static void lay_out(struct builder *builder, const struct ng_node *node) {
  struct built *built = built_of(builder, node);
  size_t count = node->fields.count;
  struct net_field *fields = BASE_NEW_ARRAY(builder->arena, count, struct net_field);
  for (size_t i = 0; i < count; i++) {
    const struct ng_column *column = node->fields.items[i];
    fields[i] = field_for(column, column->name);
  }
  built->layout = net_layout_new(builder->arena, class_of(node), fields, (uint32_t)count);
  built->index = identity(builder, count);
}

/* The layout of the input with one more field behind: all fields of the input keep their slots. */
static void lay_out_appended(struct builder *builder, const struct ng_node *node) {
  struct built *built = built_of(builder, node), *input = built_of(builder, node->inputs[0]);
  uint32_t count = input->layout->field_count;
  struct net_field *fields = BASE_NEW_ARRAY(builder->arena, count + 1, struct net_field);
  for (uint32_t i = 0; i < count; i++) fields[i] = input->layout->fields[i];
  const struct ng_column *column = node->own.items[0];
  fields[count] = field_for(column, column->name);
  built->layout = net_layout_new(builder->arena, input->layout->tuple_class, fields, count + 1);
  built->index = BASE_NEW_ARRAY(builder->arena, node->fields.count, uint32_t);
  for (size_t i = 0; i + 1 < node->fields.count; i++) built->index[i] = input->index[i];
  built->index[node->fields.count - 1] = count;
}

/* What a join has taken in has no node of its own. */
static const struct ng_node *input_of(const struct ng_node *node, unsigned port) {
  const struct ng_node *input = node->inputs[port];
  while (node->self_join && (input->alias || input->taken_in)) input = input->inputs[0];
  return input;
}

static enum base_status link(struct builder *builder, const struct ng_node *node, unsigned port) {
  if (node->taken_in || (node->self_join && port > 0)) return BASE_OK;
  struct built *from = built_of(builder, input_of(node, port)), *to = built_of(builder, node);
  enum base_status status = net_link(from->node, to->node, port);
  if (status == BASE_OK && from->derived && builder->inputs->joined) {
    builder->inputs->joined(builder->inputs->context, from->derived, to->node, port);
  }
  return status;
}

/* --- access */

static size_t own_index(const struct ng_node *node, const struct ng_column *column) {
  size_t i = 0;
  while (node->own.items[i] != column) i++;
  return i;
}

/* Reads the running node of a derived relation, if there is one. */
static bool read_running(struct builder *builder, const struct ng_node *node) {
  const struct ng_inputs *inputs = builder->inputs;
  bool runs = node->relation->kind == NG_REL_DERIVED || node->relation->kind == NG_REL_SAMPLED;
  if (!runs || !inputs->derived) return false;
  struct net_node *running = inputs->derived(inputs->context, node->relation);
  if (!running) return false;
  struct built *built = built_of(builder, node);
  built->node = running;
  built->layout = net_node_layout(running);
  built->derived = node->relation;
  BASE_CHECK(built->layout->field_count == node->relation->layout->field_count,
             "derived-node-has-all-domains");
  built->index = BASE_NEW_ARRAY(builder->arena, node->fields.count, uint32_t);
  for (size_t i = 0; i < node->fields.count; i++) {
    built->index[i] = (uint32_t)own_index(node, node->fields.items[i]);
  }
  return true;
}

static enum base_status build_access(struct builder *builder, const struct ng_node *node) {
  const struct ng_inputs *inputs = builder->inputs;
  struct built *built = built_of(builder, node);
  if (node->single_row) {
    lay_out(builder, node);
    built->node = net_create_access(builder->network, "constants", built->layout,
                                    ng_single_row(node->query, built->layout), false);
    return BASE_OK;
  }
  if (read_running(builder, node)) return BASE_OK;
  size_t count = node->fields.count;
  struct net_field *fields = BASE_NEW_ARRAY(builder->arena, count, struct net_field);
  for (size_t i = 0; i < count; i++) {
    const struct ng_column *column = node->fields.items[i];
    const char *name = node->relation->layout->fields[own_index(node, column)].name;
    fields[i] = field_for(column, name);
  }
  built->layout = net_layout_new(builder->arena, class_of(node), fields, (uint32_t)count);
  built->index = identity(builder, count);
  struct net_source *source = NULL;
  struct net_wanted all = NET_WANTED_ALL;
  if (inputs->source) {
    enum base_status status =
        inputs->source(inputs->context, node->relation, built->layout, node->form,
                       node->wanted && !inputs->shared ? node->wanted : &all, &source);
    if (status != BASE_OK) return status;
  }
  const char *name =
      base_arena_printf(builder->arena, "%s %s", name_of(builder, node), node->relation->name);
  built->node = net_create_access(builder->network, name, built->layout, source, node->starts_only);
  if (inputs->passed)
    net_access_set_passed(built->node, inputs->passed(inputs->context, node->relation));
  if (inputs->made) inputs->made(inputs->context, node->relation, node->form, built->node);
  return BASE_OK;
}

/* The result of an earlier query of the plan, under a variable's names. */
static enum base_status build_alias(struct builder *builder, const struct ng_node *node) {
  struct built *built = built_of(builder, node), *result = built_of(builder, node->inputs[0]);
  *built = *result;
  return BASE_OK;
}

/* --- unary nodes */

static void build_event_to_period(struct builder *builder, const struct ng_node *node) {
  struct built *built = built_of(builder, node), *input = built_of(builder, node->inputs[0]);
  built->layout =
      net_layout_new(builder->arena, NET_PERIOD, input->layout->fields, input->layout->field_count);
  built->index = input->index;
  int by = node->by ? (int)field_of(builder, node->inputs[0], node->by) : -1;
  built->node = net_create_event_to_period(builder->network, name_of(builder, node), input->layout,
                                           built->layout, by);
}

static void build_selection(struct builder *builder, const struct ng_node *node) {
  struct built *built = built_of(builder, node), *input = built_of(builder, node->inputs[0]);
  built->layout = input->layout;
  built->index = input->index;
  built->node = net_create_selection(builder->network, name_of(builder, node), built->layout,
                                     program(builder, node->inputs[0], node->expr));
}

static void build_cut(struct builder *builder, const struct ng_node *node) {
  const struct ng_node *below = node->inputs[0];
  struct built *built = built_of(builder, node);
  lay_out(builder, node);
  uint32_t *sources = BASE_NEW_ARRAY(builder->arena, node->kept_fields, uint32_t);
  for (size_t i = 0; i < node->kept_fields; i++) {
    sources[i] = field_of(builder, below, node->fields.items[i]);
  }
  struct net_cut_params params = {
      .in = built_of(builder, below)->layout,
      .out = built->layout,
      .condition = program(builder, below, node->expr),
      .sources = sources,
      .source_count = (uint32_t)node->kept_fields,
      .marks = node->own.count > 0,
      .first_only = node->first_only,
      .bridge = node->bridge,
  };
  built->node = net_create_cut(builder->network, name_of(builder, node), &params);
}

static void build_apply(struct builder *builder, const struct ng_node *node) {
  struct built *built = built_of(builder, node), *input = built_of(builder, node->inputs[0]);
  lay_out_appended(builder, node);
  built->node = net_create_apply(builder->network, name_of(builder, node), input->layout,
                                 built->layout, program(builder, node->inputs[0], node->expr));
}

/* Is COLUMN an operand of the `later` at the top of EXPR? */
static bool is_later_than(const struct ng_expr *expr, const struct ng_column *column) {
  if (expr->op == NG_COLUMN) return expr->column == column;
  return expr->op == NG_LATER &&
         (is_later_than(expr->args[0], column) || is_later_than(expr->args[1], column));
}

/* Does PROJECTION start at the one event that takes part in an overlap product, when its rows are? */
static bool is_its_event(struct builder *builder, const struct ng_node *projection) {
  const struct ng_node *node = projection->inputs[0];
  struct ng_plan scratch = {.arena = builder->arena};
  const struct ng_column *event = NULL;
  size_t events = 0;
  while (node->kind == NET_NODE_SELECTION || node->kind == NET_NODE_APPLY) node = node->inputs[0];
  bool product = node->kind == NET_NODE_PRODUCT || node->kind == NET_NODE_JOIN;
  if (!product || node->rule != NET_PRODUCT_OVERLAP) return false;
  for (unsigned port = 0; port < 2; port++) {
    struct ng_participants found = {0};
    ng_node_participants(&scratch, node->inputs[port], &found);
    for (size_t i = 0; i < found.count; i++) {
      if (ng_columns_have(&node->untested, found.items[i].start)) continue;
      if (!ng_product_takes_event(node, found.items[i])) continue;
      event = found.items[i].start;
      events++;
    }
  }
  return events == 1 && event == projection->start_from;
}

/* A combination's own start is the latest of its participants' starts (or an instant within its
 * bounds): a projection to later(all starts, ...) never starts before it. */
static bool is_not_earlier(struct builder *builder, const struct ng_node *projection) {
  if (is_its_event(builder, projection)) return true;
  const struct ng_node *maker = ng_node_maker(projection, projection->start_from);
  struct ng_participants found = {0};
  struct ng_plan scratch = {.arena = builder->arena};
  if (!maker) return false;
  ng_node_participants(&scratch, maker, &found);
  for (size_t i = 0; i < found.count; i++) {
    if (!is_later_than(maker->expr, found.items[i].start)) return false;
  }
  return true;
}

static void build_projection(struct builder *builder, const struct ng_node *node) {
  const struct ng_node *below = node->inputs[0];
  struct built *built = built_of(builder, node), *input = built_of(builder, below);
  lay_out(builder, node);
  uint32_t *sources = BASE_NEW_ARRAY(builder->arena, node->sources.count, uint32_t);
  for (size_t i = 0; i < node->sources.count; i++) {
    sources[i] = field_of(builder, below, node->sources.items[i]);
  }
  uint32_t start_slot = slot_in(builder, below, node->start_from);
  uint32_t stop_slot = node->stop_from ? slot_in(builder, below, node->stop_from) : start_slot;
  built->node = net_create_projection(
      builder->network, name_of(builder, node), input->layout, built->layout, sources, start_slot,
      stop_slot, ng_node_is_own_period(below, node->start_from, node->stop_from),
      is_not_earlier(builder, node));
}

static void build_switch(struct builder *builder, const struct ng_node *node) {
  struct built *built = built_of(builder, node), *input = built_of(builder, node->inputs[0]);
  lay_out(builder, node);
  built->node = net_create_switch_disposition(builder->network, name_of(builder, node),
                                              input->layout, built->layout);
}

static void build_aggregate(struct builder *builder, const struct ng_node *node) {
  const struct ng_node *below = node->inputs[0];
  struct built *built = built_of(builder, node);
  const struct ng_query *query = node->query;
  lay_out(builder, node);
  uint32_t *by = BASE_NEW_ARRAY(builder->arena, node->by_columns.count, uint32_t);
  for (size_t i = 0; i < node->by_columns.count; i++) {
    by[i] = field_of(builder, below, node->by_columns.items[i]);
  }
  struct net_aggregate_more *more =
      BASE_NEW_ARRAY(builder->arena, node->more_count, struct net_aggregate_more);
  for (size_t i = 0; i < node->more_count; i++) {
    const struct ng_column *argument = node->more[i].argument;
    more[i] = (struct net_aggregate_more){
        .function = node->more[i].aggregate->function,
        .argument_field = argument ? (int)field_of(builder, below, argument) : -1,
        .some_only = node->more[i].some_only};
  }
  struct net_aggregate_params params = {
      .function = node->aggregate->function,
      .cumulative = node->aggregate->cumulative,
      .unique = node->aggregate->unique,
      .window = node->aggregate->window,
      .in = built_of(builder, below)->layout,
      .out = built->layout,
      .where_field = node->where ? (int)field_of(builder, below, node->where) : -1,
      .when_field = node->when ? (int)field_of(builder, below, node->when) : -1,
      .unless_field = node->unless ? (int)field_of(builder, below, node->unless) : -1,
      .argument_field = node->argument ? (int)field_of(builder, below, node->argument) : -1,
      .by_fields = by,
      .by_count = node->by_columns.count,
      .apart = node->apart,
      .groups_of_all = node->groups_of_all,
      .some_only = node->some_only,
      .origin_given = query->origin_given || query->timeline == NET_TIMELINE_ABSTRACT,
      .origin = query->origin_given ? query->origin : 0,
      .averaging_origin_given = query->averaging_origin_given,
      .averaging_origin = query->averaging_origin,
      .domain_fields = node->domain_fields,
      .more = more,
      .more_count = node->more_count,
  };
  built->node = net_create_aggregate(builder->network, name_of(builder, node), &params);
}

/* Rows of the input's layout. */
static void lay_out_same(struct builder *builder, const struct ng_node *node) {
  struct built *built = built_of(builder, node), *input = built_of(builder, node->inputs[0]);
  built->layout = input->layout;
  built->index = input->index;
}

static void build_credibility(struct builder *builder, const struct ng_node *node) {
  struct built *built = built_of(builder, node);
  lay_out_same(builder, node);
  built->node = net_create_credibility(builder->network, name_of(builder, node), built->layout);
}

static void build_distinct(struct builder *builder, const struct ng_node *node) {
  struct built *built = built_of(builder, node);
  lay_out_same(builder, node);
  built->node = net_create_distinct(builder->network, name_of(builder, node), built->layout);
}

static void build_set(struct builder *builder, const struct ng_node *node) {
  struct built *built = built_of(builder, node);
  lay_out_same(builder, node);
  built->node = net_create_set(builder->network, name_of(builder, node), built->layout);
}

static void build_coalesce(struct builder *builder, const struct ng_node *node) {
  struct built *built = built_of(builder, node);
  lay_out_same(builder, node);
  built->node = net_create_coalesce(builder->network, name_of(builder, node), built->layout);
}

static void build_costs(struct builder *builder, const struct ng_node *node) {
  const struct ng_node *records = node->inputs[0];
  struct built *built = built_of(builder, node);
  built->layout = net_cost_layout(builder->arena, node->own.items[NET_COST_PROCESS]->type);
  built->index = identity(builder, node->fields.count);
  built->node = net_create_costs(
      builder->network, name_of(builder, node), built_of(builder, records)->layout,
      field_of(builder, records, node->by), node->cost, built->layout, node->input_count > 1);
}

static void build_compensate(struct builder *builder, const struct ng_node *node) {
  struct built *built = built_of(builder, node);
  lay_out_same(builder, node);
  built->node = net_create_compensate(builder->network, name_of(builder, node), built->layout,
                                      field_of(builder, node->inputs[0], node->by),
                                      built_of(builder, node->inputs[1])->layout);
}

static void build_clock(struct builder *builder, const struct ng_node *node) {
  struct built *built = built_of(builder, node);
  const struct ng_query *query = node->query;
  lay_out(builder, node);
  struct net_clock_params params = {
      .left = built_of(builder, node->inputs[0])->layout,
      .right = node->inputs[1] ? built_of(builder, node->inputs[1])->layout : NULL,
      .every = node->relation->every,
      .origin_given = query->origin_given || query->timeline == NET_TIMELINE_ABSTRACT,
      .origin = query->origin_given ? query->origin : 0,
  };
  built->node = net_create_clock(builder->network, name_of(builder, node), built->layout, &params);
}

/* --- product and join */

static const struct net_participant *participants(struct builder *builder,
                                                  const struct ng_node *node, unsigned port,
                                                  size_t *ret_count) {
  const struct ng_node *side = node->inputs[port];
  struct ng_participants found = {0};
  struct ng_plan scratch = {.arena = builder->arena};
  ng_node_participants(&scratch, side, &found);
  struct net_participant *result =
      BASE_NEW_ARRAY(builder->arena, found.count, struct net_participant);
  size_t count = 0;
  for (size_t i = 0; i < found.count; i++) {
    struct ng_participant participant = found.items[i];
    if (ng_columns_have(&node->untested, participant.start)) continue;
    /* the full rule looks at starts only, so a stop need not be there */
    bool event = node->rule == NET_PRODUCT_FULL || ng_product_takes_event(node, participant);
    result[count].event = event;
    result[count].start_slot = slot_in(builder, side, participant.start);
    if (!event) result[count].stop_slot = slot_in(builder, side, participant.stop);
    count++;
  }
  *ret_count = count;
  return result;
}

static const struct net_product_field *product_fields(struct builder *builder,
                                                      const struct ng_node *node,
                                                      const struct ng_columns *columns) {
  struct net_product_field *fields =
      BASE_NEW_ARRAY(builder->arena, columns->count, struct net_product_field);
  for (size_t i = 0; i < columns->count; i++) {
    const struct ng_column *column = columns->items[i];
    unsigned side = ng_node_has(node->inputs[0], column) ? 0 : 1;
    fields[i] = (struct net_product_field){side, slot_in(builder, node->inputs[side], column)};
  }
  return fields;
}

static const struct net_join_key *join_keys(struct builder *builder, const struct ng_node *node) {
  struct net_join_key *keys = BASE_NEW_ARRAY(builder->arena, node->key_count, struct net_join_key);
  for (size_t i = 0; i < node->key_count; i++) {
    keys[i].left_slot = slot_in(builder, node->inputs[0], node->keys[i].left);
    keys[i].right_slot = slot_in(builder, node->inputs[1], node->keys[i].right);
  }
  return keys;
}

static const struct net_expiry *expiries(struct builder *builder, const struct ng_node *node,
                                         unsigned port) {
  size_t count = node->expiry_counts[port];
  struct net_expiry *result = BASE_NEW_ARRAY(builder->arena, count, struct net_expiry);
  for (size_t i = 0; i < count; i++) {
    const struct ng_expiry *expiry = &node->expiries[port][i];
    result[i] = (struct net_expiry){slot_in(builder, node->inputs[port], expiry->instant),
                                    expiry->bound + 1};
  }
  return result;
}

/* The rows that a join's predicate is over: its own, and behind their fields what else it reads. */
struct tested {
  const struct ng_node *node;
  struct ng_columns columns;
  const struct net_layout *layout;
};

static uint32_t slot_tested(void *context, const struct ng_column *column) {
  const struct tested *tested = context;
  if (column == tested->node->start) return 0;
  if (column == tested->node->stop) return 2;
  size_t i = 0;
  while (tested->columns.items[i] != column) i++;
  return tested->layout->fields[i].slot;
}

static void add_tested(struct builder *builder, struct tested *tested, const struct ng_node *side,
                       const bool *read) {
  for (size_t i = 0; i < side->fields.count + 2; i++) {
    const struct ng_column *column = i == 0   ? side->start
                                     : i == 1 ? side->stop
                                              : side->fields.items[i - 2];
    if (column && read[column->id] && !ng_node_has(tested->node, column) &&
        !ng_columns_have(&tested->columns, column))
      ng_columns_add(builder->arena, &tested->columns, column);
  }
}

static const struct net_program *join_predicate(struct builder *builder, const struct ng_node *node,
                                                const struct ng_expr *predicate,
                                                struct tested *tested) {
  bool *read = BASE_NEW_ARRAY(builder->arena, builder->plan->column_count + 1, bool);
  *tested = (struct tested){.node = node, .layout = built_of(builder, node)->layout};
  for (size_t i = 0; i < node->fields.count; i++)
    ng_columns_add(builder->arena, &tested->columns, node->fields.items[i]);
  if (!predicate) return NULL;
  ng_expr_mark(predicate, read);
  for (unsigned port = 0; port < 2; port++) add_tested(builder, tested, node->inputs[port], read);
  size_t count = tested->columns.count;
  struct net_field *fields = BASE_NEW_ARRAY(builder->arena, count, struct net_field);
  for (size_t i = 0; i < count; i++)
    fields[i] = field_for(tested->columns.items[i], tested->columns.items[i]->name);
  tested->layout = net_layout_new(builder->arena, class_of(node), fields, (uint32_t)count);
  return ng_expr_compile(builder->arena, predicate, builder->plan->timeline, builder->plan->strings,
                         slot_tested, tested);
}

/* What the join has taken in of one side, from the rows that both are chosen of up: what comes first is the
 * lowest. Returns the node of those rows. */
static const struct ng_node *choice(struct builder *builder, const struct ng_node *side,
                                    struct net_product_choice *ret) {
  size_t count = 0;
  const struct ng_node *node = side;
  for (; node->alias || node->taken_in; node = node->inputs[0]) count++;
  const struct net_program **conditions =
      BASE_NEW_ARRAY(builder->arena, 2 * count + 1, const struct net_program *);
  const struct net_program **values = conditions + count;
  *ret = (struct net_product_choice){.conditions = conditions, .values = values};
  for (size_t depth = count; depth-- > 0;) {
    const struct ng_node *at = side;
    for (size_t i = 0; i < depth; i++) at = at->inputs[0];
    if (at->alias) continue;
    const struct net_program *made = program(builder, at->inputs[0], at->expr);
    if (at->kind == NET_NODE_SELECTION)
      conditions[ret->condition_count++] = made;
    else
      values[ret->value_count++] = made;
  }
  return node;
}

/* The join NODE asks an aggregate, which is built. */
static void ask(struct builder *builder, const struct ng_node *node) {
  const struct ng_node *asked = node->asked, *events = node->inputs[!node->asked_side];
  struct net_product_field *fields =
      BASE_NEW_ARRAY(builder->arena, node->fields.count, struct net_product_field);
  for (size_t i = 0; i < node->fields.count; i++) {
    const struct ng_column *column = node->fields.items[i];
    bool event = ng_node_has(events, column);
    fields[i] =
        event ? (struct net_product_field){!node->asked_side, slot_in(builder, events, column)}
              : (struct net_product_field){node->asked_side,
                                           slot_in(builder, asked, ng_asked_column(node, column))};
  }
  uint32_t *keys = BASE_NEW_ARRAY(builder->arena, asked->by_columns.count, uint32_t);
  for (size_t i = 0; i < asked->by_columns.count; i++)
    keys[i] = slot_in(builder, events, ng_asked_key(node, i));
  net_ask_aggregate(&(struct net_ask_params){.join = built_of(builder, node)->node,
                                             .aggregate = built_of(builder, asked)->node,
                                             .side = node->asked_side,
                                             .fields = fields,
                                             .keys = keys});
}

static void build_product(struct builder *builder, const struct ng_node *node) {
  const struct ng_expr *predicate = ng_join_rest(builder->arena, node);
  struct built *built = built_of(builder, node);
  struct tested tested;
  lay_out(builder, node);
  const struct net_program *program = join_predicate(builder, node, predicate, &tested);
  struct net_product_params params = {
      .rule = node->rule,
      .left = built_of(builder, node->inputs[0])->layout,
      .right = built_of(builder, node->inputs[1])->layout,
      .out = built->layout,
      .test = tested.layout,
      .fields = product_fields(builder, node, &tested.columns),
      .keys = join_keys(builder, node),
      .key_count = node->key_count,
      .predicate = program,
      .expiries = {expiries(builder, node, 0), expiries(builder, node, 1)},
      .expiry_counts = {node->expiry_counts[0], node->expiry_counts[1]},
  };
  params.left_participants = participants(builder, node, 0, &params.left_count);
  params.right_participants = participants(builder, node, 1, &params.right_count);
  for (unsigned port = 0; port < 2 && node->self_join; port++)
    params.rows =
        built_of(builder, choice(builder, node->inputs[port], &params.choices[port]))->layout;
  built->node = net_create_product(builder->network, name_of(builder, node), &params);
  if (node->asked) ask(builder, node);
}

static void build_closest(struct builder *builder, const struct ng_node *node) {
  struct built *built = built_of(builder, node);
  lay_out(builder, node);
  struct net_closest_params params = {
      .left = built_of(builder, node->inputs[0])->layout,
      .right = built_of(builder, node->inputs[1])->layout,
      .out = built->layout,
      .before_slot = slot_in(builder, node->inputs[0], node->before),
      .after_slot = slot_in(builder, node->inputs[1], node->after),
      .fields = product_fields(builder, node, &node->fields),
      .keys = join_keys(builder, node),
      .key_count = node->key_count,
      .distinct = node->distinct,
  };
  built->node = net_create_closest(builder->network, name_of(builder, node), &params);
}

/* --- all */

/* What a join does for NODE has rows of its own all the same, as far as programs look. */
static enum base_status build_taken_in(struct builder *builder, const struct ng_node *node) {
  struct built *built = built_of(builder, node), *input = built_of(builder, node->inputs[0]);
  if (node->kind == NET_NODE_APPLY) {
    lay_out_appended(builder, node);
  } else {
    built->layout = input->layout;
    built->index = input->index;
  }
  return BASE_OK;
}

static enum base_status create(struct builder *builder, const struct ng_node *node) {
  if (node->alias) return build_alias(builder, node);
  if (node->taken_in) return build_taken_in(builder, node);
  switch (node->kind) {
    case NET_NODE_ACCESS:
      return build_access(builder, node);
    case NET_NODE_EVENT_TO_PERIOD:
      build_event_to_period(builder, node);
      break;
    case NET_NODE_SELECTION:
      build_selection(builder, node);
      break;
    case NET_NODE_APPLY:
      build_apply(builder, node);
      break;
    case NET_NODE_PROJECTION:
      build_projection(builder, node);
      break;
    case NET_NODE_SWITCH_DISPOSITION:
      build_switch(builder, node);
      break;
    case NET_NODE_AGGREGATE:
      build_aggregate(builder, node);
      break;
    case NET_NODE_CUT:
      build_cut(builder, node);
      break;
    case NET_NODE_CREDIBILITY:
      build_credibility(builder, node);
      break;
    case NET_NODE_DISTINCT:
      build_distinct(builder, node);
      break;
    case NET_NODE_SET:
      build_set(builder, node);
      break;
    case NET_NODE_COALESCE:
      build_coalesce(builder, node);
      break;
    case NET_NODE_CLOSEST:
      build_closest(builder, node);
      break;
    case NET_NODE_COSTS:
      build_costs(builder, node);
      break;
    case NET_NODE_COMPENSATE:
      build_compensate(builder, node);
      break;
    case NET_NODE_CLOCK:
      build_clock(builder, node);
      break;
    case NET_NODE_PRODUCT:
    case NET_NODE_JOIN:
      build_product(builder, node);
      break;
    default:
      BASE_CHECK(false, "built-kind");
  }
  return BASE_OK;
}

/* Nodes that ran already are what they were. */
static void note_place(struct builder *builder, const struct ng_node *node) {
  const struct built *built = built_of(builder, node);
  if (node->alias || node->taken_in || built->derived) return;
  const char *owner = builder->inputs->owner;
  struct base_buffer what = BASE_BUFFER_EMPTY;
  if (owner != NULL) ng_explain_what(&what, builder->plan, node);
  net_node_place(built->node, owner ? owner : "", node->number, base_buffer_text(&what));
  base_buffer_done(&what);
}

/* Takes the node of another plan that has the same rows; *RET_PLACE: where this one is to be entered
 * when it is built, NULL: nowhere. */
static bool take_shared(struct builder *builder, const struct ng_node *node, void ***ret_place) {
  struct ng_shared *shared = builder->inputs->shared;
  struct built *built = built_of(builder, node);
  struct base_buffer text = BASE_BUFFER_EMPTY;
  uint64_t inputs[2] = {0, 0};
  *ret_place = NULL;
  if (!shared || node->alias) return false;
  for (unsigned port = 0; port < node->input_count; port++)
    inputs[port] = built_of(builder, node->inputs[port])->class;
  bool has_signature = ng_node_signature(&text, node, inputs);
  built->class = has_signature ? ng_shared_class(shared, &text) : ng_shared_own_class(shared);
  base_buffer_done(&text);
  if (!has_signature) return false;
  *ret_place = ng_shared_place(shared, built->class);
  if (**ret_place) *built = *(const struct built *)**ret_place;
  return **ret_place != NULL;
}

/* An access node's sensor is told what to watch; FRESH: the node was built now. Sampled relations have
 * theirs below the node that makes periods of the records. */
static void watch(struct builder *builder, const struct ng_node *node, bool fresh) {
  const struct ng_inputs *inputs = builder->inputs;
  if (node->kind != NET_NODE_ACCESS || node->alias || node->single_row || node->times_only ||
      node->unasked || !node->relation->sensor || !inputs->control)
    return;
  struct net_control *control = inputs->control(inputs->context, node->relation);
  if (!control) return;
  struct net_node *access = net_access_below(built_of(builder, node)->node);
  BASE_CHECK(access, "access-above-sensor");
  const struct ng_node *objects = node->control ? node->inputs[0] : NULL;
  ng_watch(inputs, builder->arena, node, access, control,
           objects && fresh ? built_of(builder, objects)->layout : NULL,
           objects ? slot_in(builder, objects, node->control) : 0);
}

static enum base_status build(struct builder *builder, const struct ng_node *node) {
  void **place;
  if (built_of(builder, node)->layout) return BASE_OK;
  for (unsigned port = 0; port < node->input_count; port++) {
    enum base_status status = build(builder, node->inputs[port]);
    if (status != BASE_OK) return status;
  }
  if (take_shared(builder, node, &place)) {
    watch(builder, node, false);
    return BASE_OK;
  }
  enum base_status status = create(builder, node);
  if (status == BASE_OK) watch(builder, node, true);
  if (status == BASE_OK) note_place(builder, node);
  if (status == BASE_OK && place) {
    struct built *copy = BASE_NEW(builder->arena, struct built);
    *copy = *built_of(builder, node);
    *place = copy;
  }
  for (unsigned port = 0; port < node->input_count && status == BASE_OK && !node->alias; port++) {
    status = link(builder, node, port);
  }
  return status;
}

enum base_status ng_plan_build(const struct ng_plan *plan, struct net_network *network,
                               const struct ng_inputs *inputs, struct base_diag_sink *diags,
                               struct net_node **ret) {
  BASE_CHECK(plan->query_count > 0, "build-without-query");
  (void)diags; /* whoever gives the sources reports why there is none */
  struct builder builder = {
      .plan = plan,
      .network = network,
      .arena = net_network_arena(network),
      .inputs = inputs,
  };
  builder.built = BASE_NEW_ARRAY(builder.arena, plan->node_count, struct built);
  const struct ng_node *result = plan->queries[plan->query_count - 1].result;
  enum base_status status = build(&builder, result);
  if (status == BASE_OK) *ret = built_of(&builder, result)->node;
  for (size_t i = 0; i < plan->node_count; i++) plan->nodes[i]->running = builder.built[i].node;
  return status;
}
