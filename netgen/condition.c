/* A condition on the domains of one tuple as a program, for those who test rows without a network. */
#include "netgen/lower.h"

struct row_columns {
  const struct ng_relation *relation;
  const struct net_layout *layout;
  const struct ng_column **columns; /* by field of the relation's layout */
};

static uint32_t slot_of(void *context, const struct ng_column *column) {
  const struct row_columns *row = context;
  uint32_t field = 0;
  while (row->columns[field] != column) field++;
  int found = net_layout_find(row->layout, row->relation->layout->fields[field].name);
  BASE_CHECK(found >= 0, "condition-field");
  return row->layout->fields[found].slot;
}

const struct net_program *ng_condition_program(struct base_arena *arena,
                                               struct base_strings *strings,
                                               const struct ng_query *query,
                                               const struct net_layout *layout) {
  BASE_CHECK(query->variable_count == 1 && query->aggregate_count == 0,
             "condition-of-one-variable");
  const struct ng_relation *relation = query->variables[0].relation;
  struct ng_plan *plan = ng_plan_new(arena, strings, query->timeline);
  struct row_columns row = {relation, layout, NULL};
  uint32_t count = relation->layout->field_count;
  row.columns = BASE_NEW_ARRAY(arena, count + 1, const struct ng_column *);
  for (uint32_t i = 0; i < count; i++) {
    const struct net_field *field = &relation->layout->fields[i];
    row.columns[i] = ng_column_new(plan, field->name, field->type, false);
  }
  struct ng_lowered_input input = {.fields = row.columns};
  struct ng_lowering lowering = {.plan = plan, .query = query, .variables = &input};
  return ng_expr_compile(arena, ng_lower(&lowering, query->where), query->timeline, strings,
                         slot_of, &row);
}
