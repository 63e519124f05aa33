/* Products, joins and pairs of closest neighbours: who takes part in the time, keys, what a predicate is over,
 * until when rows stay, and what a join does for nodes below or beside it. */
#include "netgen/building.h"
#include "netgen/expr.h"

static const struct net_participant *participants(struct ng_builder *builder,
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
    result[count].start_slot = ng_slot_in(builder, side, participant.start);
    if (!event) result[count].stop_slot = ng_slot_in(builder, side, participant.stop);
    count++;
  }
  *ret_count = count;
  return result;
}

static const struct net_product_field *product_fields(struct ng_builder *builder,
                                                      const struct ng_node *node,
                                                      const struct ng_columns *columns) {
  struct net_product_field *fields =
      BASE_NEW_ARRAY(builder->arena, columns->count, struct net_product_field);
  for (size_t i = 0; i < columns->count; i++) {
    const struct ng_column *column = columns->items[i];
    unsigned side = ng_node_has(node->inputs[0], column) ? 0 : 1;
    fields[i] = (struct net_product_field){side, ng_slot_in(builder, node->inputs[side], column)};
  }
  return fields;
}

static const struct net_join_key *join_keys(struct ng_builder *builder,
                                            const struct ng_node *node) {
  struct net_join_key *keys = BASE_NEW_ARRAY(builder->arena, node->key_count, struct net_join_key);
  for (size_t i = 0; i < node->key_count; i++) {
    keys[i].left_slot = ng_slot_in(builder, node->inputs[0], node->keys[i].left);
    keys[i].right_slot = ng_slot_in(builder, node->inputs[1], node->keys[i].right);
  }
  return keys;
}

static const struct net_expiry *expiries(struct ng_builder *builder, const struct ng_node *node,
                                         unsigned port) {
  size_t count = node->expiry_counts[port];
  struct net_expiry *result = BASE_NEW_ARRAY(builder->arena, count, struct net_expiry);
  for (size_t i = 0; i < count; i++) {
    const struct ng_expiry *expiry = &node->expiries[port][i];
    result[i] = (struct net_expiry){ng_slot_in(builder, node->inputs[port], expiry->instant),
                                    expiry->bound + 1, expiry->or_next};
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

static void add_tested(struct ng_builder *builder, struct tested *tested,
                       const struct ng_node *side, const bool *read) {
  for (size_t i = 0; i < side->fields.count + 2; i++) {
    const struct ng_column *column = i == 0   ? side->start
                                     : i == 1 ? side->stop
                                              : side->fields.items[i - 2];
    if (column && read[column->id] && !ng_node_has(tested->node, column) &&
        !ng_columns_have(&tested->columns, column))
      ng_columns_add(builder->arena, &tested->columns, column);
  }
}

static const struct net_program *join_predicate(struct ng_builder *builder,
                                                const struct ng_node *node,
                                                const struct ng_expr *predicate,
                                                struct tested *tested) {
  bool *read = BASE_NEW_ARRAY(builder->arena, builder->plan->column_count + 1, bool);
  *tested = (struct tested){.node = node, .layout = ng_built_of(builder, node)->layout};
  for (size_t i = 0; i < node->fields.count; i++)
    ng_columns_add(builder->arena, &tested->columns, node->fields.items[i]);
  if (!predicate) return NULL;
  ng_expr_mark(predicate, read);
  for (unsigned port = 0; port < 2; port++) add_tested(builder, tested, node->inputs[port], read);
  size_t count = tested->columns.count;
  struct net_field *fields = BASE_NEW_ARRAY(builder->arena, count, struct net_field);
  for (size_t i = 0; i < count; i++)
    fields[i] = ng_field_for(tested->columns.items[i], tested->columns.items[i]->name);
  tested->layout = net_layout_new(builder->arena, ng_class_of(node), fields, (uint32_t)count);
  return ng_expr_compile(builder->arena, predicate, builder->plan->timeline, builder->plan->strings,
                         slot_tested, tested);
}

/* What the join has taken in of one side, from the rows that both are chosen of up: what comes first is the
 * lowest. Returns the node of those rows. */
static const struct ng_node *choice(struct ng_builder *builder, const struct ng_node *side,
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
    const struct net_program *made = ng_built_program(builder, at->inputs[0], at->expr);
    if (at->kind == NET_NODE_SELECTION)
      conditions[ret->condition_count++] = made;
    else
      values[ret->value_count++] = made;
  }
  return node;
}

/* The join NODE asks an aggregate, which is built. */
static void ask(struct ng_builder *builder, const struct ng_node *node) {
  const struct ng_node *asked = node->asked, *events = node->inputs[!node->asked_side];
  struct net_product_field *fields =
      BASE_NEW_ARRAY(builder->arena, node->fields.count, struct net_product_field);
  for (size_t i = 0; i < node->fields.count; i++) {
    const struct ng_column *column = node->fields.items[i];
    bool event = ng_node_has(events, column);
    fields[i] =
        event ? (struct net_product_field){!node->asked_side, ng_slot_in(builder, events, column)}
              : (struct net_product_field){
                    node->asked_side, ng_slot_in(builder, asked, ng_asked_column(node, column))};
  }
  uint32_t *keys = BASE_NEW_ARRAY(builder->arena, asked->by_columns.count, uint32_t);
  for (size_t i = 0; i < asked->by_columns.count; i++)
    keys[i] = ng_slot_in(builder, events, ng_asked_key(node, i));
  net_ask_aggregate(&(struct net_ask_params){.join = ng_built_of(builder, node)->node,
                                             .aggregate = ng_built_of(builder, asked)->node,
                                             .side = node->asked_side,
                                             .fields = fields,
                                             .keys = keys});
}

void ng_build_product(struct ng_builder *builder, const struct ng_node *node) {
  const struct ng_expr *predicate = ng_join_rest(builder->arena, node);
  struct ng_built *built = ng_built_of(builder, node);
  struct tested tested;
  ng_lay_out(builder, node);
  const struct net_program *program = join_predicate(builder, node, predicate, &tested);
  struct net_product_params params = {
      .rule = node->rule,
      .once = node->once,
      .once_side = node->once_side,
      .left = ng_built_of(builder, node->inputs[0])->layout,
      .right = ng_built_of(builder, node->inputs[1])->layout,
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
        ng_built_of(builder, choice(builder, node->inputs[port], &params.choices[port]))->layout;
  built->node = net_create_product(builder->network, ng_built_name(builder, node), &params);
  if (node->asked) ask(builder, node);
}

/* From which instant the temporal COLUMN of NODE's rows counts: the start of the tuple that has it. */
static const struct ng_column *counts_from(const struct ng_node *node,
                                           const struct ng_column *column) {
  while (ng_node_passes_rows(node)) node = node->inputs[0];
  if (!ng_node_is_product(node)) return node->start;
  return counts_from(node->inputs[ng_node_has(node->inputs[0], column) ? 0 : 1], column);
}

static const uint32_t *temporal_starts(struct ng_builder *builder, const struct ng_node *side) {
  const struct net_layout *layout = ng_built_of(builder, side)->layout;
  uint32_t *starts = BASE_NEW_ARRAY(builder->arena, layout->field_count, uint32_t);
  for (size_t i = 0; i < side->fields.count; i++) {
    const struct ng_column *column = side->fields.items[i];
    if (column->type.base == NET_TEMPORAL)
      starts[ng_built_field(builder, side, column)] =
          ng_slot_in(builder, side, counts_from(side, column));
  }
  return starts;
}

static const struct net_closest_lost *lost_rows(struct ng_builder *builder,
                                                const struct ng_node *node) {
  struct net_closest_lost *lost =
      BASE_NEW_ARRAY(builder->plan->arena, node->lost_count, struct net_closest_lost);
  for (size_t i = 0; i < node->lost_count; i++) {
    const struct ng_node_lost *from = &node->lost[i];
    int slot = from->process == NULL
                   ? -1
                   : (int)ng_slot_in(builder, node->inputs[from->side], from->process);
    lost[i] = (struct net_closest_lost){from->side, slot, from->losses};
  }
  return lost;
}

void ng_build_closest(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node);
  ng_lay_out(builder, node);
  struct net_closest_params params = {
      .left = ng_built_of(builder, node->inputs[0])->layout,
      .right = ng_built_of(builder, node->inputs[1])->layout,
      .out = built->layout,
      .before_slot = ng_slot_in(builder, node->inputs[0], node->before),
      .after_slot = ng_slot_in(builder, node->inputs[1], node->after),
      .fields = product_fields(builder, node, &node->fields),
      .keys = join_keys(builder, node),
      .key_count = node->key_count,
      .distinct = node->sequence == NG_SEQUENCE_DISTINCT,
      .counts = {ng_sequence_counts(node->sequence, 0), ng_sequence_counts(node->sequence, 1)},
      .within = node->within,
      .starts = {temporal_starts(builder, node->inputs[0]),
                 temporal_starts(builder, node->inputs[1])},
      .lost = lost_rows(builder, node),
      .lost_count = node->lost_count,
  };
  built->node = net_create_closest(builder->network, ng_built_name(builder, node), &params);
}

/* --- anti-joins and differences */

struct paired {
  struct ng_columns columns;
  const struct net_layout *layout;
};

static uint32_t slot_paired(void *context, const struct ng_column *column) {
  const struct paired *paired = context;
  size_t i = 0;
  while (paired->columns.items[i] != column) i++;
  return paired->layout->fields[i].slot;
}

static void add_paired(struct ng_builder *builder, struct paired *paired,
                       const struct ng_node *side, const bool *read) {
  for (size_t i = 0; i < side->fields.count + 2; i++) {
    const struct ng_column *column = i == 0   ? side->start
                                     : i == 1 ? side->stop
                                              : side->fields.items[i - 2];
    if (column && read[column->id] && !ng_columns_have(&paired->columns, column))
      ng_columns_add(builder->arena, &paired->columns, column);
  }
}

static struct net_partner_params partner_params(struct ng_builder *builder,
                                                const struct ng_node *node) {
  bool *read = BASE_NEW_ARRAY(builder->arena, builder->plan->column_count + 1, bool);
  struct paired paired = {{0}, NULL};
  if (node->expr) ng_expr_mark(node->expr, read);
  if (node->times) ng_expr_mark(node->times, read);
  for (unsigned port = 0; port < 2; port++) add_paired(builder, &paired, node->inputs[port], read);
  size_t count = paired.columns.count;
  struct net_field *fields = BASE_NEW_ARRAY(builder->arena, count, struct net_field);
  for (size_t i = 0; i < count; i++)
    fields[i] = ng_field_for(paired.columns.items[i], paired.columns.items[i]->name);
  paired.layout = net_layout_new(builder->arena, NET_EVENT, fields, (uint32_t)count);
  const struct ng_plan *plan = builder->plan;
  return (struct net_partner_params){
      .left = ng_built_of(builder, node->inputs[0])->layout,
      .right = ng_built_of(builder, node->inputs[1])->layout,
      .tested = paired.layout,
      .fields = product_fields(builder, node, &paired.columns),
      .keys = join_keys(builder, node),
      .key_count = node->key_count,
      .condition = node->expr ? ng_expr_compile(builder->arena, node->expr, plan->timeline,
                                                plan->strings, slot_paired, &paired)
                              : NULL,
      .times = node->times ? ng_expr_compile(builder->arena, node->times, plan->timeline,
                                             plan->strings, slot_paired, &paired)
                           : NULL,
      .lost = node->lost_count > 0 ? node->lost->losses : NULL,
      .lost_slot = node->lost_count > 0 && node->lost->process != NULL
                       ? (int)ng_slot_in(builder, node->inputs[0], node->lost->process)
                       : -1,
      .lost_process = node->lost_process,
      .lost_within = node->lost_within,
      .lost_until_next = node->lost_until_next,
  };
}

void ng_build_anti_join(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node),
                  *input = ng_built_of(builder, node->inputs[0]);
  built->layout = input->layout;
  built->index = input->index;
  struct net_partner_params params = partner_params(builder, node);
  built->node = net_create_anti_join(builder->network, ng_built_name(builder, node), &params);
}

void ng_build_difference(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node);
  ng_lay_out(builder, node);
  for (size_t i = 0; i < node->fields.count; i++)
    BASE_CHECK(ng_built_field(builder, node->inputs[0], node->fields.items[i]) == i,
               "difference-fields");
  struct net_partner_params params = partner_params(builder, node);
  built->node =
      net_create_difference(builder->network, ng_built_name(builder, node), built->layout, &params);
}
