/* Columns get slots: the layouts of what is built, and where in them a plan's columns are. */
#include "netgen/building.h"
#include "netgen/expr.h"

struct ng_built *ng_built_of(struct ng_builder *builder, const struct ng_node *node) {
  return &builder->built[ng_plan_index(builder->plan, node)];
}

const char *ng_built_name(struct ng_builder *builder, const struct ng_node *node) {
  return base_arena_printf(builder->arena, "%s-%u", net_node_info(node->kind)->name, node->number);
}

uint32_t ng_built_field(struct ng_builder *builder, const struct ng_node *node,
                        const struct ng_column *column) {
  for (size_t i = 0; i < node->fields.count; i++) {
    if (node->fields.items[i] == column) return ng_built_of(builder, node)->index[i];
  }
  BASE_CHECK(false, "column-in-node");
  return 0;
}

uint32_t ng_slot_in(struct ng_builder *builder, const struct ng_node *node,
                    const struct ng_column *column) {
  if (column == node->start) return 0;
  if (column == node->stop) return 2;
  return ng_built_of(builder, node)->layout->fields[ng_built_field(builder, node, column)].slot;
}

struct slot_context {
  struct ng_builder *builder;
  const struct ng_node *node;
};

static uint32_t slot_for_program(void *context, const struct ng_column *column) {
  struct slot_context *slots = context;
  return ng_slot_in(slots->builder, slots->node, column);
}

const struct net_program *ng_built_program(struct ng_builder *builder, const struct ng_node *node,
                                           const struct ng_expr *expr) {
  struct slot_context slots = {builder, node};
  return ng_expr_compile(builder->arena, expr, builder->plan->timeline, builder->plan->strings,
                         slot_for_program, &slots);
}

enum net_tuple_class ng_class_of(const struct ng_node *node) {
  return node->stop ? NET_PERIOD : NET_EVENT;
}

uint32_t *ng_identity(struct ng_builder *builder, size_t count) {
  uint32_t *index = BASE_NEW_ARRAY(builder->arena, count, uint32_t);
  for (size_t i = 0; i < count; i++) index[i] = (uint32_t)i;
  return index;
}

struct net_field ng_field_for(const struct ng_column *column, const char *name) {
  return (struct net_field){.name = name,
                            .type = column->type,
                            .openable = column->openable,
                            .computed = column->computed,
                            .number = column->number};
}

void ng_lay_out(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node);
  size_t count = node->fields.count;
  struct net_field *fields = BASE_NEW_ARRAY(builder->arena, count, struct net_field);
  for (size_t i = 0; i < count; i++) {
    const struct ng_column *column = node->fields.items[i];
    fields[i] = ng_field_for(column, column->name);
  }
  built->layout = net_layout_new(builder->arena, ng_class_of(node), fields, (uint32_t)count);
  built->index = ng_identity(builder, count);
}

void ng_lay_out_appended(struct ng_builder *builder, const struct ng_node *node) {
  struct ng_built *built = ng_built_of(builder, node),
                  *input = ng_built_of(builder, node->inputs[0]);
  uint32_t count = input->layout->field_count;
  struct net_field *fields = BASE_NEW_ARRAY(builder->arena, count + 1, struct net_field);
  for (uint32_t i = 0; i < count; i++) fields[i] = input->layout->fields[i];
  const struct ng_column *column = node->own.items[0];
  fields[count] = ng_field_for(column, column->name);
  built->layout = net_layout_new(builder->arena, input->layout->tuple_class, fields, count + 1);
  built->index = BASE_NEW_ARRAY(builder->arena, node->fields.count, uint32_t);
  for (size_t i = 0; i + 1 < node->fields.count; i++) built->index[i] = input->index[i];
  built->index[node->fields.count - 1] = count;
}
