/* From a plan to a running network: the last query of the plan, its nodes from the inputs up.
 *
 * Columns get slots (build_columns.c). Each built node has the layout of its rows and, for every field of the
 * plan node, the index of that field in the layout. The two can differ: a running derived relation
 * that is read directly has all its domains, the plan only those that somebody reads.
 *
 * Everything that the network keeps is copied to, or made in, the network's arena; the plan may go.
 */
#include <stdlib.h>

#include "engine/base/env.h"
#include "netgen/build_control.h"
#include "netgen/building.h"
#include "netgen/expr.h"
#include "netgen/order.h"
#include "netgen/share.h"
#include "netgen/single_row.h"

/* What a join has taken in has no node of its own. */
static const struct ng_node *input_of(const struct ng_node *node, unsigned port) {
  const struct ng_node *input = node->inputs[port];
  while (node->self_join && (input->alias || input->taken_in)) input = input->inputs[0];
  return input;
}

static enum base_status link_to(struct ng_builder *builder, const struct ng_built *from,
                                struct net_node *to, unsigned port) {
  enum base_status status = net_link(from->node, to, port);
  if (status == BASE_OK && from->derived && builder->inputs->joined) {
    builder->inputs->joined(builder->inputs->context, from->derived, to, port);
  }
  return status;
}

static enum base_status link(struct ng_builder *builder, const struct ng_node *node,
                             unsigned port) {
  if (node->taken_in || node->triggered || (node->self_join && port > 0)) return BASE_OK;
  return link_to(builder, ng_built_of(builder, input_of(node, port)),
                 ng_built_of(builder, node)->node, port);
}

/* --- access */

static size_t own_index(const struct ng_node *node, const struct ng_column *column) {
  size_t i = 0;
  while (node->own.items[i] != column) i++;
  return i;
}

/* Reads the running node of a derived relation, if there is one. */
static bool read_running(struct ng_builder *builder, const struct ng_node *node) {
  const struct ng_inputs *inputs = builder->inputs;
  bool runs = node->relation->kind == NG_REL_DERIVED || node->relation->kind == NG_REL_SAMPLED;
  if (!runs || !inputs->derived) return false;
  struct net_node *running = inputs->derived(inputs->context, node->relation);
  if (!running) return false;
  struct ng_built *built = ng_built_of(builder, node);
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

static enum base_status build_access(struct ng_builder *builder, const struct ng_node *node) {
  const struct ng_inputs *inputs = builder->inputs;
  struct ng_built *built = ng_built_of(builder, node);
  if (node->single_row) {
    ng_lay_out(builder, node);
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
    fields[i] = ng_field_for(column, name);
  }
  built->layout = net_layout_new(builder->arena, ng_class_of(node), fields, (uint32_t)count);
  built->index = ng_identity(builder, count);
  struct net_source *source = NULL;
  struct net_wanted all = NET_WANTED_ALL;
  if (inputs->source) {
    enum base_status status =
        inputs->source(inputs->context, node->relation, built->layout, node->form,
                       node->wanted && !inputs->shared ? node->wanted : &all, &source);
    if (status != BASE_OK) return status;
  }
  const char *name = base_arena_printf(builder->arena, "%s %s", ng_built_name(builder, node),
                                       node->relation->name);
  built->node = net_create_access(builder->network, name, built->layout, source, node->starts_only);
  if (inputs->passed)
    net_access_set_passed(built->node, inputs->passed(inputs->context, node->relation));
  if (inputs->made) inputs->made(inputs->context, node->relation, node->form, built->node);
  return BASE_OK;
}

/* The result of an earlier query of the plan, under a variable's names. */
static enum base_status build_alias(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node),
                  *result = ng_built_of(builder, node->inputs[0]);
  *built = *result;
  return BASE_OK;
}

/* --- unary nodes */

/* Where NODE's by_columns are in the rows below. */
static const uint32_t *by_fields(struct ng_builder *builder, const struct ng_node *node) {
  uint32_t *fields = BASE_NEW_ARRAY(builder->arena, node->by_columns.count, uint32_t);
  for (size_t i = 0; i < node->by_columns.count; i++)
    fields[i] = ng_built_field(builder, node->inputs[0], node->by_columns.items[i]);
  return fields;
}

static void build_event_to_period(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node),
                  *input = ng_built_of(builder, node->inputs[0]);
  built->layout =
      net_layout_new(builder->arena, NET_PERIOD, input->layout->fields, input->layout->field_count);
  built->index = input->index;
  struct net_key by = {by_fields(builder, node), node->by_columns.count};
  built->node = net_create_event_to_period(builder->network, ng_built_name(builder, node),
                                           input->layout, built->layout, &by);
}

static void build_selection(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node),
                  *input = ng_built_of(builder, node->inputs[0]);
  built->layout = input->layout;
  built->index = input->index;
  built->node = net_create_selection(builder->network, ng_built_name(builder, node), built->layout,
                                     ng_built_program(builder, node->inputs[0], node->expr));
}

static void build_cut(struct ng_builder *builder, const struct ng_node *node) {
  const struct ng_node *below = node->inputs[0];
  struct ng_built *built = ng_built_of(builder, node);
  ng_lay_out(builder, node);
  uint32_t *sources = BASE_NEW_ARRAY(builder->arena, node->kept_fields, uint32_t);
  for (size_t i = 0; i < node->kept_fields; i++) {
    sources[i] = ng_built_field(builder, below, node->fields.items[i]);
  }
  struct net_cut_params params = {
      .in = ng_built_of(builder, below)->layout,
      .out = built->layout,
      .condition = ng_built_program(builder, below, node->expr),
      .sources = sources,
      .source_count = (uint32_t)node->kept_fields,
      .marks = node->own.count > 0,
      .first_only = node->first_only,
      .bridge = node->bridge,
  };
  built->node = net_create_cut(builder->network, ng_built_name(builder, node), &params);
}

static void build_apply(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node),
                  *input = ng_built_of(builder, node->inputs[0]);
  ng_lay_out_appended(builder, node);
  built->node =
      net_create_apply(builder->network, ng_built_name(builder, node), input->layout, built->layout,
                       ng_built_program(builder, node->inputs[0], node->expr));
}

static void build_projection(struct ng_builder *builder, const struct ng_node *node) {
  const struct ng_node *below = node->inputs[0];
  struct ng_built *built = ng_built_of(builder, node), *input = ng_built_of(builder, below);
  ng_lay_out(builder, node);
  uint32_t *sources = BASE_NEW_ARRAY(builder->arena, node->sources.count, uint32_t);
  for (size_t i = 0; i < node->sources.count; i++) {
    sources[i] = ng_slot_in(builder, below, node->sources.items[i]);
  }
  uint32_t start_slot = ng_slot_in(builder, below, node->start_from);
  uint32_t stop_slot = node->stop_from ? ng_slot_in(builder, below, node->stop_from) : start_slot;
  struct ng_plan scratch = {.arena = builder->arena};
  built->node = net_create_projection(
      builder->network, ng_built_name(builder, node), input->layout, built->layout, sources,
      start_slot, stop_slot, ng_node_is_own_period(below, node->start_from, node->stop_from),
      ng_projection_is_not_earlier(&scratch, node), ng_projection_keeps_start(&scratch, node));
}

static void build_switch(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node),
                  *input = ng_built_of(builder, node->inputs[0]);
  ng_lay_out(builder, node);
  built->node = net_create_switch_disposition(builder->network, ng_built_name(builder, node),
                                              input->layout, built->layout);
}

static bool reads_others(const struct ng_expr *expr, const struct ng_node *node, size_t count) {
  if (expr->op == NG_COLUMN) {
    for (size_t i = 0; i < count; i++)
      if (node->fields.items[i] == expr->column) return false;
    return true;
  }
  for (unsigned i = 0; i < expr->arg_count; i++)
    if (reads_others(expr->args[i], node, count)) return true;
  return false;
}

/* Is COLUMN, of the rows of NODE, computed of the first COUNT fields alone? */
static bool is_computed_of(const struct ng_node *node, const struct ng_column *column,
                           size_t count) {
  for (const struct ng_node *below = node; column && !below->alias; below = below->inputs[0]) {
    if (below->kind != NET_NODE_SELECTION && below->kind != NET_NODE_APPLY) return false;
    if (below->kind == NET_NODE_APPLY && below->own.items[0] == column)
      return !reads_others(below->expr, node, count);
  }
  return false;
}

/* The conditions below NODE, which counts what was left out: they are of its groups (rule predicates-down). */
static void add_asked_for(struct ng_builder *builder, const struct ng_node *node,
                          struct net_aggregate_params *params) {
  const struct net_program **programs = NULL;
  size_t count = 0;
  const struct ng_node *below = node->inputs[0];
  for (; below->kind == NET_NODE_SELECTION; below = below->inputs[0]) count++;
  programs = BASE_NEW_ARRAY(builder->arena, count + 1, const struct net_program *);
  below = node->inputs[0];
  for (size_t i = 0; i < count; i++, below = below->inputs[0])
    programs[i] = ng_built_program(builder, node->inputs[0], below->expr);
  params->asked_for = programs;
  params->asked_for_count = count;
}

static enum base_status build_aggregate(struct ng_builder *builder, const struct ng_node *node) {
  const struct ng_node *below = node->inputs[0];
  struct ng_built *built = ng_built_of(builder, node);
  const struct ng_query *query = node->query;
  ng_lay_out(builder, node);
  const uint32_t *by = by_fields(builder, node);
  struct net_aggregate_more *more =
      BASE_NEW_ARRAY(builder->arena, node->more_count, struct net_aggregate_more);
  for (size_t i = 0; i < node->more_count; i++) {
    const struct ng_column *argument = node->more[i].argument;
    more[i] = (struct net_aggregate_more){
        .function = node->more[i].aggregate->function,
        .argument_field = argument ? (int)ng_built_field(builder, below, argument) : -1,
        .some_only = node->more[i].some_only};
  }
  struct net_aggregate_params params = {
      .function = node->aggregate->function,
      .cumulative = node->aggregate->cumulative,
      .unique = node->aggregate->unique,
      .fraction = node->aggregate->fraction,
      .window = node->aggregate->window,
      .summary = node->aggregate->summary,
      .so_far = node->aggregate->summary && node->query->so_far,
      .in = ng_built_of(builder, below)->layout,
      .out = built->layout,
      .where_field = node->where ? (int)ng_built_field(builder, below, node->where) : -1,
      .when_field = node->when ? (int)ng_built_field(builder, below, node->when) : -1,
      .unless_field = node->unless ? (int)ng_built_field(builder, below, node->unless) : -1,
      .argument_field = node->argument ? (int)ng_built_field(builder, below, node->argument) : -1,
      .argument_of_domains = is_computed_of(below, node->argument, node->domain_fields),
      .by_fields = by,
      .by_count = node->by_columns.count,
      .apart = node->apart,
      .groups_of_all = node->groups_of_all,
      .groups_sure = node->groups_sure,
      .some_only = node->some_only,
      .origin_given = query->origin_given || query->timeline == NET_TIMELINE_ABSTRACT,
      .origin = query->origin_given ? query->origin : 0,
      .averaging_origin_given = query->averaging_origin_given,
      .averaging_origin = query->averaging_origin,
      .domain_fields = node->domain_fields,
      .more = more,
      .more_count = node->more_count,
  };
  if (node->aggregate->passes) add_asked_for(builder, node, &params);
  built->node = net_create_aggregate(builder->network, ng_built_name(builder, node), &params);
  if (!node->aggregate->passes || !builder->inputs->counts) return BASE_OK;
  const struct ng_relation *relation = query->variables[node->aggregate->variable].relation;
  return builder->inputs->counts(builder->inputs->context, relation, built->node);
}

/* Rows of the input's layout. */
static void lay_out_same(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node),
                  *input = ng_built_of(builder, node->inputs[0]);
  built->layout = input->layout;
  built->index = input->index;
}

static void build_credibility(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node);
  lay_out_same(builder, node);
  built->node =
      net_create_credibility(builder->network, ng_built_name(builder, node), built->layout);
}

static void build_distinct(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node);
  lay_out_same(builder, node);
  built->node = net_create_distinct(builder->network, ng_built_name(builder, node), built->layout);
}

static void build_set(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node);
  lay_out_same(builder, node);
  built->node = net_create_set(builder->network, ng_built_name(builder, node), built->layout);
}

static void build_order(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node);
  lay_out_same(builder, node);
  built->node = net_create_order(builder->network, ng_built_name(builder, node), built->layout);
}

static void build_coalesce(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node);
  lay_out_same(builder, node);
  built->node = net_create_coalesce(builder->network, ng_built_name(builder, node), built->layout);
}

static void build_costs(struct ng_builder *builder, const struct ng_node *node) {
  const struct ng_node *records = node->inputs[0];
  struct ng_built *built = ng_built_of(builder, node);
  built->layout = net_cost_layout(builder->arena, node->own.items[NET_COST_PROCESS]->type);
  built->index = ng_identity(builder, node->fields.count);
  built->node = net_create_costs(builder->network, ng_built_name(builder, node),
                                 ng_built_of(builder, records)->layout,
                                 ng_built_field(builder, records, node->whose), node->cost,
                                 built->layout, node->input_count > 1);
}

static void build_compensate(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node);
  lay_out_same(builder, node);
  built->node = net_create_compensate(builder->network, ng_built_name(builder, node), built->layout,
                                      ng_built_field(builder, node->inputs[0], node->whose),
                                      ng_built_of(builder, node->inputs[1])->layout);
}

static void build_clock(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node);
  const struct ng_query *query = node->query;
  ng_lay_out(builder, node);
  struct net_clock_params params = {
      .left = ng_built_of(builder, node->inputs[0])->layout,
      .right = node->inputs[1] ? ng_built_of(builder, node->inputs[1])->layout : NULL,
      .every = node->relation->every,
      .origin_given = query->origin_given || query->timeline == NET_TIMELINE_ABSTRACT,
      .origin = query->origin_given ? query->origin : 0,
      .latest = ng_is_paced(query) ? query->named_last : NET_BEGINNING,
  };
  built->node =
      net_create_clock(builder->network, ng_built_name(builder, node), built->layout, &params);
}

/* --- all */

/* What a join does for NODE has rows of its own all the same, as far as programs look. */
static enum base_status build_taken_in(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node),
                  *input = ng_built_of(builder, node->inputs[0]);
  if (node->kind == NET_NODE_APPLY) {
    ng_lay_out_appended(builder, node);
  } else {
    built->layout = input->layout;
    built->index = input->index;
  }
  return BASE_OK;
}

static enum base_status create(struct ng_builder *builder, const struct ng_node *node) {
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
      return build_aggregate(builder, node);
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
    case NET_NODE_ORDER:
      build_order(builder, node);
      break;
    case NET_NODE_COALESCE:
      build_coalesce(builder, node);
      break;
    case NET_NODE_CLOSEST:
      ng_build_closest(builder, node);
      break;
    case NET_NODE_ANTI_JOIN:
      ng_build_anti_join(builder, node);
      break;
    case NET_NODE_DIFFERENCE:
      ng_build_difference(builder, node);
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
      ng_build_product(builder, node);
      break;
    default:
      BASE_CHECK(false, "built-kind");
  }
  return BASE_OK;
}

/* Nodes that ran already are what they were. */
static void note_place(struct ng_builder *builder, const struct ng_node *node) {
  const struct ng_built *built = ng_built_of(builder, node);
  if (node->alias || node->taken_in || built->derived) return;
  const char *owner = builder->inputs->owner;
  struct base_buffer what = BASE_BUFFER_EMPTY;
  if (owner != NULL) ng_explain_what(&what, builder->plan, node);
  net_node_place(built->node, owner ? owner : "", node->number, base_buffer_text(&what));
  base_buffer_done(&what);
}

/* What ran already has promised for itself. */
static void promise(struct ng_builder *builder, const struct ng_node *node) {
  const struct ng_built *built = ng_built_of(builder, node);
  if (node->alias || node->taken_in || built->derived) return;
  net_node_promise(built->node, node->order);
}

/* NODE is what is built already, its fields perhaps in another order, or with others between them. */
static void take(struct ng_builder *builder, const struct ng_node *node,
                 const struct ng_offer *offer) {
  struct ng_built *built = ng_built_of(builder, node);
  *built = *(const struct ng_built *)offer->what;
  const uint32_t *index = built->index;
  built->index = BASE_NEW_ARRAY(builder->arena, node->fields.count, uint32_t);
  for (size_t i = 0; i < node->fields.count; i++) {
    size_t field = ng_offer_field(offer, node, i);
    BASE_CHECK(field < offer->field_count, "shared-field");
    built->index[i] = index[field];
  }
}

/* Enters NODE, which is built, where plans that come later look for it. */
static void offer(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *copy = BASE_NEW(builder->arena, struct ng_built);
  *copy = *ng_built_of(builder, node);
  struct ng_offer *made = ng_offer_new(builder->arena, node, copy->class, copy);
  ng_shared_offer(builder->inputs->shared, node,
                  builder->outlines[ng_plan_index(builder->plan, node)], made);
  *ng_shared_place(builder->inputs->shared, made->class) = made;
}

/* Does the query have a sensor watch anything for NODE, by its access nodes? */
static bool has_watched(const struct ng_builder *builder, const struct ng_node *node) {
  if (node->kind == NET_NODE_ACCESS && !node->alias && !node->single_row &&
      node->relation->sensor && builder->inputs->control)
    return true;
  for (unsigned port = 0; port < node->input_count; port++)
    if (has_watched(builder, node->inputs[port])) return true;
  return false;
}

/* Takes a product of another plan that has all that this one has; then nothing below is built. */
static bool take_wider(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_shared *shared = builder->inputs->shared;
  if (!shared || has_watched(builder, node)) return false;
  uint64_t outline = builder->outlines[ng_plan_index(builder->plan, node)];
  const struct ng_offer *wider = ng_shared_wider(shared, builder->plan, node, outline);
  if (wider) take(builder, node, wider);
  return wider != NULL;
}

/* Takes the node of another plan that has the same rows; *RET_COMMON: this one is to be entered when it
 * is built. */
static bool take_shared(struct ng_builder *builder, const struct ng_node *node, bool *ret_common) {
  struct ng_shared *shared = builder->inputs->shared;
  struct ng_built *built = ng_built_of(builder, node);
  struct base_buffer text = BASE_BUFFER_EMPTY;
  uint64_t inputs[2] = {0, 0};
  *ret_common = false;
  if (!shared || node->alias) return false;
  for (unsigned port = 0; port < node->input_count; port++)
    inputs[port] = ng_built_of(builder, node->inputs[port])->class;
  *ret_common = ng_node_signature(&text, node, inputs);
  built->class = *ret_common ? ng_shared_class(shared, &text) : ng_shared_own_class(shared);
  base_buffer_done(&text);
  const struct ng_offer *made = *ret_common ? *ng_shared_place(shared, built->class) : NULL;
  if (made) take(builder, node, made);
  return made != NULL;
}

/* Its trigger arc ends in a node of its own: there may be several, and the access node is below what makes periods. */
static enum base_status build_trigger(struct ng_builder *builder, const struct ng_node *node,
                                      struct net_control *control) {
  const struct ng_node *input = node->inputs[0];
  const struct ng_built *from = ng_built_of(builder, input);
  uint32_t *slots = BASE_NEW_ARRAY(builder->arena, node->triggers.count + 1, uint32_t);
  for (size_t i = 0; i < node->triggers.count; i++)
    slots[i] = ng_slot_in(builder, input, node->triggers.items[i]);
  const char *name = base_arena_printf(builder->arena, "%s %s", ng_built_name(builder, node),
                                       node->relation->name);
  struct net_node *trigger =
      ng_watch_trigger(builder->network, builder->arena, node, name, control, from->layout, slots);
  return link_to(builder, from, trigger, 0);
}

/* An access node's sensor is told what to watch; FRESH: the node was built now. Sampled relations have
 * theirs below the node that makes periods of the records. */
static enum base_status watch(struct ng_builder *builder, const struct ng_node *node, bool fresh) {
  const struct ng_inputs *inputs = builder->inputs;
  if (node->kind != NET_NODE_ACCESS || node->alias || node->single_row || node->times_only ||
      node->unasked || !node->relation->sensor || !inputs->control)
    return BASE_OK;
  struct net_control *control = inputs->control(inputs->context, node->relation);
  if (!control) return BASE_OK;
  struct net_node *access = net_access_below(ng_built_of(builder, node)->node);
  BASE_CHECK(access, "access-above-sensor");
  const struct ng_node *objects = node->control ? node->inputs[0] : NULL;
  ng_watch(inputs, builder->arena, node, access, control,
           objects && fresh ? ng_built_of(builder, objects)->layout : NULL,
           objects ? ng_slot_in(builder, objects, node->control) : 0);
  return node->triggered && fresh ? build_trigger(builder, node, control) : BASE_OK;
}

static enum base_status build(struct ng_builder *builder, const struct ng_node *node) {
  bool common;
  if (base_env_interrupted()) return BASE_CANCEL;
  if (ng_built_of(builder, node)->layout || take_wider(builder, node)) return BASE_OK;
  for (unsigned port = 0; port < node->input_count; port++) {
    enum base_status status = build(builder, node->inputs[port]);
    if (status != BASE_OK) return status;
  }
  if (take_shared(builder, node, &common)) {
    return watch(builder, node, false);
  }
  enum base_status status = create(builder, node);
  if (status == BASE_OK) status = watch(builder, node, true);
  if (status == BASE_OK) note_place(builder, node);
  if (status == BASE_OK) promise(builder, node);
  if (status == BASE_OK && common) offer(builder, node);
  for (unsigned port = 0; port < node->input_count && status == BASE_OK && !node->alias; port++) {
    status = link(builder, node, port);
  }
  return status;
}

enum base_status ng_plan_build(const struct ng_plan *plan, struct net_network *network,
                               const struct ng_inputs *inputs, struct base_diag_sink *diags,
                               struct net_node **ret) {
  BASE_CHECK(plan->query_count > 0, "build-without-query");
  size_t fields = 0;
  for (size_t i = 0; i < plan->node_count; i++) fields += plan->nodes[i]->fields.count;
  if (fields > NG_LIMIT_BUILT_FIELDS) {
    ng_report_too_large(diags, plan->queries[plan->query_count - 1].query,
                        base_arena_printf(plan->arena, "%zu fields; the limit is %d", fields,
                                          NG_LIMIT_BUILT_FIELDS));
    return BASE_USER;
  }
  net_network_expect_fields(network, fields);
  struct ng_builder builder = {
      .plan = plan,
      .network = network,
      .arena = net_network_arena(network),
      .inputs = inputs,
  };
  builder.built = BASE_NEW_ARRAY(builder.arena, plan->node_count, struct ng_built);
  if (inputs->shared) builder.outlines = ng_shared_outlines(inputs->shared, plan, builder.arena);
  const struct ng_node *result = plan->queries[plan->query_count - 1].result;
  enum base_status status = build(&builder, result);
  if (status == BASE_OK) *ret = ng_built_of(&builder, result)->node;
  for (size_t i = 0; i < plan->node_count; i++) plan->nodes[i]->running = builder.built[i].node;
  return status;
}
