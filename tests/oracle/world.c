/* The reference's side of a scenario: relations as literal rows, statements parsed and bound by the
 * language's own front end, evaluated by the oracle. Derived relations become literal rows.        */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tests/oracle/judge.h"
#include "tquel/lang/parse.h"

struct world_relation {
  struct ng_relation ng;
  struct oracle_relation rows;
};

struct world {
  struct base_arena *arena;
  struct base_strings *strings;
  struct world_relation relations[RELATIONS_MAX + STATEMENTS_MAX];
  size_t relation_count;
  struct tql_variable variables[2 * (RELATIONS_MAX + STATEMENTS_MAX)];
  struct tql_settings settings;
  struct tql_scope scope;
};

struct base_strings *world_strings(struct world *world) {
  return world->strings;
}

static struct world_relation *find(struct world *world, const char *name) {
  for (size_t i = 0; i < world->relation_count; i++)
    if (strcasecmp(world->relations[i].ng.name, name) == 0) return &world->relations[i];
  return NULL;
}

static const struct ng_relation *find_relation(void *context, const char *name) {
  struct world_relation *relation = find(context, name);
  return relation ? &relation->ng : NULL;
}

static void each_relation(void *context, void (*on_name)(void *, const char *), void *on_context) {
  struct world *world = context;
  for (size_t i = 0; i < world->relation_count; i++)
    on_name(on_context, world->relations[i].ng.name);
}

static const struct oracle_relation *find_rows(void *context, const char *name) {
  return &find(context, name)->rows;
}

static void add_variables(struct world *world, struct world_relation *relation) {
  for (int copy = 0; copy < 2; copy++)
    world->variables[world->scope.variable_count++] = (struct tql_variable){
        base_arena_printf(world->arena, "%c%s", 'a' + copy, relation->ng.name), &relation->ng, -1};
}

/* --- inputs */

static const struct net_layout *layout_of(struct base_arena *arena, const struct input *input,
                                          enum net_tuple_class tuple_class) {
  struct net_field fields[3] = {{.name = "x", .type = {NET_INTEGER, 4}}};
  uint32_t count = 1;
  if (strstr(input->domains, "y ="))
    fields[count++] = (struct net_field){.name = "y", .type = {NET_FLOAT, 8}};
  fields[count++] = (struct net_field){.name = "s", .type = {NET_STRING, 4}};
  return net_layout_new(arena, tuple_class, fields, count);
}

static void add_input(struct world *world, const struct input *input) {
  struct world_relation *relation = &world->relations[world->relation_count++];
  bool period = strcmp(input->kind, "period") == 0, traced = strcmp(input->kind, "traced") == 0;
  const struct net_layout *layout = layout_of(world->arena, input, period ? NET_PERIOD : NET_EVENT);
  struct oracle_relation rows = {.layout = layout};
  union net_slot slots[8];
  for (size_t i = 0; i < input->count; i++) {
    const struct input_row *row = &input->rows[i];
    if (row->dropped) continue;
    uint32_t slot = 0;
    for (; slot < layout->first_domain_slot; slot++) slots[slot].i = row->time[slot];
    slots[slot++].i = row->x;
    if (layout->field_count == 3) slots[slot++].f = row->y;
    slots[slot].s = base_strings_intern_text(world->strings, row->s);
    oracle_add(world->arena, &rows, slots, row->definite);
  }
  relation->ng =
      (struct ng_relation){input->name, period ? NG_REL_PERIOD : NG_REL_EVENT, layout, NULL, -1};
  if (traced) {
    const struct net_layout *shown = layout_of(world->arena, input, NET_PERIOD);
    int by = (int)layout->field_count - 1;
    relation->ng = (struct ng_relation){input->name, NG_REL_TRACED, shown, layout, by};
    oracle_periods(world->arena, &rows, by, shown, &relation->rows);
  } else {
    relation->rows = rows;
  }
  oracle_make_set(&relation->rows);
  add_variables(world, relation);
}

static void apply_setting(struct world *world, const char *text) {
  int value = 0;
  if (sscanf(text, "set origin %d", &value) == 1) {
    world->settings.origin = value;
  } else if (sscanf(text, "set averaging origin %d", &value) == 1) {
    world->settings.averaging_origin_given = true;
    world->settings.averaging_origin = value;
  } else {
    world->settings.coverage = true;
  }
}

struct world *world_new(struct base_arena *arena, const struct scenario *scenario) {
  struct world *world = BASE_NEW(arena, struct world);
  world->arena = arena;
  world->strings = base_strings_new();
  world->settings = (struct tql_settings){.origin_given = true, .unit = 1};
  world->scope = (struct tql_scope){.context = world,
                                    .find_relation = find_relation,
                                    .each_relation = each_relation,
                                    .variables = world->variables,
                                    .settings = &world->settings,
                                    .time = {NET_TIMELINE_ABSTRACT, 0, 0},
                                    .strings = world->strings};
  for (size_t i = 0; i < scenario->input_count; i++) add_input(world, &scenario->inputs[i]);
  for (size_t i = 0; i < scenario->setting_count; i++) apply_setting(world, scenario->settings[i]);
  return world;
}

void world_free(struct world *world) {
  if (world) base_strings_free(world->strings);
}

/* --- statements */

static enum base_status bind(struct world *world, const char *text, struct base_diag_sink *diags,
                             const struct ng_query **ret) {
  struct base_source *source = BASE_NEW(world->arena, struct base_source);
  *source = (struct base_source){.name = "statement", .text = text, .length = strlen(text)};
  size_t count;
  bool ok;
  struct tql_statement **list = tql_parse(world->arena, source, 1, diags, &count, &ok);
  if (!ok || count != 1) return BASE_USER;
  struct tql_analysis analysis = {world->arena, &world->scope, source, diags};
  return tql_analyse_retrieve(&analysis, list[0], ret);
}

enum base_status world_retrieve(struct world *world, const struct statement *statement,
                                struct oracle_relation *ret, const char **ret_why) {
  struct base_diag_sink diags;
  const struct ng_query *query;
  base_diag_sink_init(&diags);
  enum base_status status = bind(world, statement_text(world->arena, statement), &diags, &query);
  if (status != BASE_OK)
    *ret_why = base_arena_strdup(world->arena, diags.count ? diags.items[0].message : "?");
  base_diag_sink_done(&diags);
  if (status != BASE_OK) return BASE_USER;
  struct oracle_world oracle = {world, find_rows, world->strings};
  *ret_why = oracle_evaluate(world->arena, &oracle, query, ret);
  if (*ret_why) return BASE_END;
  if (!statement->name) return BASE_OK;
  struct world_relation *relation = &world->relations[world->relation_count++];
  relation->ng = (struct ng_relation){statement->name, NG_REL_DERIVED, query->layout, NULL, -1};
  relation->rows = *ret;
  add_variables(world, relation);
  return BASE_OK;
}
