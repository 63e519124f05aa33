/* The reference's side of a scenario: relations as literal rows, statements parsed and bound by the
 * language's own front end, evaluated by the oracle. Derived relations become literal rows; after an
 * update all of them are evaluated anew from the queries that defined them.                        */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tests/oracle/judge.h"
#include "tquel/lang/parse.h"

struct world_relation {
  struct ng_relation ng;
  struct oracle_relation records; /* traced, sampled */
  struct net_key entity;          /* what tells its entities apart */
  struct oracle_relation rows;
  struct oracle_relation
      passed; /* events of sensors: the same, with what was left out where it arose */
  struct oracle_relation certain; /* the same, as far as losses leave it so, for who only looks */
  struct oracle_losses losses;
  const struct ng_query *query; /* derived */
  struct oracle_origin origin;  /* found once and kept */
  bool view, may_fail;          /* a view's errors are those of every query over it */
  bool looks_through;           /* derived: who looks at it, and heeds losses, evaluates it anew */
  bool looking_fails;           /* that may fail */
  bool unsaid;
};

struct world {
  struct base_arena *arena;
  struct base_strings *strings;
  enum net_timeline timeline;
  struct world_relation relations[RELATIONS_MAX + STATEMENTS_MAX];
  size_t relation_count;
  struct tql_variable variables[3 * (RELATIONS_MAX + STATEMENTS_MAX) + 2];
  struct tql_settings settings;
  struct tql_scope scope;
  bool looking;       /* what is evaluated is only looked at */
  bool counting;      /* ... is how many records sensors made, and nothing else */
  bool as_stored;     /* ... and what is derived is as it was made, as looking through it fails */
  net_chronon passed; /* the latest finite checkpoint of all inputs */
  bool may_fail, unsaid; /* of the last evaluation */
  bool clocks_alone;     /* is what it read */
  uint64_t doubted;
  struct oracle_origin origin;
  struct ng_relation passing;     /* what says how far clocks alone tick */
  struct oracle_relation nothing; /* its tuples */
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

static const struct ng_relation *time_passed(void *context) {
  return &((struct world *)context)->passing;
}

static void each_relation(void *context, void (*on_name)(void *, const char *), void *on_context) {
  struct world *world = context;
  for (size_t i = 0; i < world->relation_count; i++)
    on_name(on_context, world->relations[i].ng.name);
}

static const struct oracle_relation *shown(const struct world *world,
                                           const struct world_relation *relation) {
  return world->settings.losses_ignored ? &relation->rows : &relation->certain;
}

static const struct oracle_relation *find_rows(void *context, const char *name) {
  const struct world *world = context;
  const struct world_relation *relation = find(context, name);
  if (relation == NULL) return &world->nothing; /* of what paces clocks */
  if (world->counting && relation->passed.layout) return &relation->passed;
  bool stored = world->as_stored && relation->query && !relation->view;
  return world->looking && !stored ? shown(world, relation) : &relation->rows;
}

/* Does QUERY ask how many records sensors made, of each process or in all, and nothing else of them? */
static bool counts_passes(struct world *world, const struct ng_query *query) {
  bool only = query->summary;
  for (size_t i = 0; i < query->aggregate_count && only; i++) {
    const struct ng_aggregate *aggregate = &query->aggregates[i];
    const struct ng_variable *variable = &query->variables[aggregate->variable];
    const struct world_relation *relation = find(world, variable->relation->name);
    only = relation && relation->passed.layout && !variable->credibility &&
           aggregate->function == NET_AGG_COUNT && !aggregate->unique && !aggregate->where &&
           !aggregate->when && !aggregate->during && aggregate->by_count <= 1;
    if (only && aggregate->argument) only = aggregate->argument->op == NG_DOMAIN;
    if (only && aggregate->by_count == 1) /* Process is the first domain */
      only = aggregate->by[0]->op == NG_DOMAIN && aggregate->by[0]->index == 0;
  }
  return only;
}

static bool is_made_of_inputs(struct world *world, const struct world_relation *relation) {
  if (!relation->query) return true;
  for (size_t i = 0; i < relation->query->variable_count; i++) {
    struct world_relation *input = find(world, relation->query->variables[i].relation->name);
    if (input && is_made_of_inputs(world, input)) return true;
  }
  return false;
}

static net_chronon find_passed(void *context, const char *name) {
  struct world *world = context;
  const struct world_relation *relation = find(world, name);
  if (relation == NULL) return NET_BEGINNING;
  return is_made_of_inputs(world, relation) ? world->passed : NET_BEGINNING;
}

static struct oracle_missing find_missing(void *context, const char *name);

/* Where tuples may be missing of what QUERY has with its default times. */
static void missing_of_query(struct world *world, const struct ng_query *query,
                             struct oracle_stretches *ret) {
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct ng_variable *variable = &query->variables[i];
    if (variable->relation->kind == NG_REL_CLOCK || variable->costs || variable->credibility)
      continue;
    struct oracle_missing missing = find_missing(world, variable->relation->name);
    if (variable->outside) oracle_missing_anywhere(world->arena, &missing, ret);
    for (size_t j = 0; j < query->aggregate_count; j++) {
      struct ng_aggregate aggregate = query->aggregates[j];
      struct oracle_stretches counted = {0};
      if (aggregate.variable != i) continue;
      aggregate.cumulative = aggregate.cumulative || aggregate.function == NET_AGG_EXTEND;
      oracle_missing_anywhere(world->arena, &missing, &counted);
      oracle_outlast(&aggregate, &counted);
      for (size_t k = 0; k < counted.count; k++)
        oracle_add_stretch(world->arena, ret, counted.items[k].from, counted.items[k].to);
    }
  }
}

/* Of what is stored, and made of others by who ignores losses, nothing is missing: it was made of what is there. */
static struct oracle_missing find_missing(void *context, const char *name) {
  struct world *world = context;
  const struct world_relation *relation = find(world, name);
  struct oracle_missing missing = {.kind = relation ? relation->ng.kind : NG_REL_EVENT};
  if (!world->looking || !relation) return missing;
  if (!relation->query) {
    missing.losses = &relation->losses;
    missing.records = &relation->records;
    missing.entity = relation->entity;
  } else if (relation->looks_through && (relation->view || !world->as_stored)) {
    const struct ng_query *query = relation->query;
    missing_of_query(world, query, &missing.stretches);
    bool moves = query->start || query->stop || query->at || query->coalesced;
    if (moves && missing.stretches.count > 0)
      missing.stretches.items[0] = (struct oracle_stretch){NET_BEGINNING, NET_FOREVER};
  }
  return missing;
}

static struct oracle_world oracle_of(struct world *world, struct oracle_origin *origin,
                                     bool *unsaid) {
  return (struct oracle_world){.context = world,
                               .find = find_rows,
                               .strings = world->strings,
                               .origin = origin,
                               .passed = find_passed,
                               .missing = find_missing,
                               .doubted = &world->doubted,
                               .unsaid = unsaid};
}

static void add_variables(struct world *world, struct world_relation *relation) {
  for (int copy = 0; copy < 3; copy++)
    world->variables[world->scope.variable_count++] = (struct tql_variable){
        base_arena_printf(world->arena, "%c%s", 'a' + copy, relation->ng.name), &relation->ng,
        copy == 2 ? 0 : -1};
}

/* --- inputs */

static const struct net_layout *layout_of(struct base_arena *arena, const struct input *input,
                                          enum net_tuple_class tuple_class) {
  struct net_field fields[DOMAINS_MAX] = {{0}};
  for (size_t i = 0; i < input->domain_count; i++) {
    fields[i].name = input->domains[i].name;
    net_type_parse(input->domains[i].type, &fields[i].type);
  }
  return net_layout_new(arena, tuple_class, fields, (uint32_t)input->domain_count);
}

static base_string_id bytes_of_digits(struct base_strings *strings, const char *digits) {
  unsigned char bytes[16];
  size_t count = 0;
  for (unsigned byte; sscanf(digits + 2 * count, "%2x", &byte) == 1; count++)
    bytes[count] = (unsigned char)byte;
  return base_strings_intern(strings, (const char *)bytes, count);
}

static void put_row(struct world *world, const struct input *input, const struct input_row *row,
                    struct oracle_relation *rows) {
  const struct net_layout *layout = rows->layout;
  union net_slot *slots = BASE_NEW_ARRAY(world->arena, layout->slot_count, union net_slot);
  for (uint32_t i = 0; i < layout->first_domain_slot; i++) slots[i].i = row->time[i];
  for (size_t i = 0; i < input->domain_count; i++) {
    union net_slot *slot = &slots[layout->fields[i].slot];
    const struct input_value *value = &row->values[i];
    if (input->domains[i].kind == 's')
      slot->s = base_strings_intern_text(world->strings, value->s);
    else if (input->domains[i].kind == 'y')
      slot->s = bytes_of_digits(world->strings, value->s);
    else if (input->domains[i].kind == 'f')
      slot->f = value->f;
    else
      slot->i = value->i;
  }
  oracle_add(world->arena, rows, slots, row->definite);
}

static void show_samples(struct world *world, struct world_relation *relation,
                         const struct oracle_losses *losses, struct oracle_relation *ret) {
  oracle_samples(world->arena, &relation->records, &relation->entity, losses, relation->ng.layout,
                 ret);
}

/* What the records of a traced or sampled relation say. */
static void show(struct world *world, struct world_relation *relation) {
  if (relation->ng.kind == NG_REL_TRACED) {
    oracle_periods(world->arena, &relation->records, &relation->entity, relation->ng.layout,
                   &relation->rows);
    oracle_make_set(&relation->rows);
    oracle_lose(world->arena, &relation->rows, &relation->losses, &relation->certain);
  } else if (relation->ng.kind == NG_REL_SAMPLED) {
    show_samples(world, relation, &(struct oracle_losses){.process = -1}, &relation->rows);
    oracle_make_set(&relation->rows);
    show_samples(world, relation, &relation->losses, &relation->certain);
  } else {
    relation->rows = relation->records;
    oracle_make_set(&relation->rows);
    relation->certain = relation->rows;
  }
  oracle_make_set(&relation->certain);
}

/* What Lost, Late and Rejected say of INPUT. */
static struct oracle_losses losses_of(struct world *world, const struct scenario *scenario,
                                      const struct input *input) {
  struct oracle_loss *items = BASE_NEW_ARRAY(world->arena, LOSSES_MAX, struct oracle_loss);
  struct oracle_losses losses = {.items = items, .process = -1};
  for (size_t i = 0; i < input->domain_count; i++)
    if (strcmp(input->domains[i].name, "Process") == 0) losses.process = (int)i;
  for (size_t i = 0; i < scenario->loss_count; i++) {
    const struct loss *loss = &scenario->losses[i];
    bool lost = strcmp(loss->in, "Lost") == 0, of_process = lost && strchr(loss->source, '#');
    bool named = strcmp(loss->relation, input->name) == 0;
    /* A process of which nothing is known here brings what names it, and nothing else. */
    bool perhaps = !*loss->relation && (!of_process || losses.process >= 0);
    if (loss->dropped || (!named && !perhaps)) continue;
    items[losses.count++] = (struct oracle_loss){
        .anybody = !of_process,
        .process = of_process ? base_strings_intern_text(world->strings, loss->source) : 0,
        .from = loss->from,
        /* What cannot be read has the latest time before it. */
        .to = lost ? loss->to : loss->from + (strcmp(loss->in, "Late") == 0 ? 1 : 2)};
  }
  return losses;
}

/* The key, and where sensors report, the process, which the first domain names. */
static void find_entity(struct world *world, const struct input *input,
                        struct world_relation *relation) {
  uint32_t *fields = BASE_NEW_ARRAY(world->arena, input->by_count + 1, uint32_t);
  for (size_t i = 0; i < input->by_count; i++) fields[i] = (uint32_t)input->by[i];
  relation->ng.by = (struct net_key){fields, input->by_count};
  relation->ng.entity = relation->ng.by;
  relation->entity =
      (struct net_key){fields, input->by_count + (input->by_count > 0 && input->in_process)};
}

static void add_input(struct world *world, const struct scenario *scenario,
                      const struct input *input) {
  struct world_relation *relation = &world->relations[world->relation_count++];
  bool period = is_kind(input, "period"), traced = is_kind(input, "traced");
  const struct net_layout *layout = layout_of(world->arena, input, period ? NET_PERIOD : NET_EVENT);
  relation->records.layout = layout;
  relation->losses = losses_of(world, scenario, input);
  bool sensed = strcmp(input->domains[0].name, "Process") == 0 && is_kind(input, "event");
  if (sensed) relation->passed.layout = layout;
  for (size_t i = 0; i < input->count; i++) {
    const struct input_row *row = &input->rows[i];
    if (row->dropped) continue;
    if (!row->left_out) put_row(world, input, row, &relation->records);
    if (sensed) put_row(world, input, row, &relation->passed);
  }
  if (sensed) oracle_make_set(&relation->passed);
  relation->ng = (struct ng_relation){.name = input->name, .layout = layout};
  find_entity(world, input, relation);
  if (input->by_count > 0) {
    relation->ng.kind = traced ? NG_REL_TRACED : NG_REL_SAMPLED;
    relation->ng.records = layout;
    relation->ng.layout = layout_of(world->arena, input, NET_PERIOD);
  } else {
    relation->ng.kind = period ? NG_REL_PERIOD : NG_REL_EVENT;
  }
  show(world, relation);
  add_variables(world, relation);
}

static void add_clocks(struct world *world, const struct scenario *scenario) {
  const struct net_layout *layout = net_layout_new(world->arena, NET_EVENT, NULL, 0);
  world->passing = (struct ng_relation){.name = "Clock", .kind = NG_REL_EVENT, .layout = layout};
  world->nothing.layout = layout;
  for (int i = 0; i < 2; i++) {
    struct ng_relation *clock = BASE_NEW(world->arena, struct ng_relation);
    *clock = (struct ng_relation){.name = "Clock",
                                  .kind = NG_REL_CLOCK,
                                  .layout = layout,
                                  .every = clock_units[i] * scenario->unit};
    world->variables[world->scope.variable_count++] =
        (struct tql_variable){clock_variables[i], clock, -1};
  }
}

struct world *world_new(struct base_arena *arena, const struct scenario *scenario) {
  struct world *world = BASE_NEW(arena, struct world);
  world->arena = arena;
  world->strings = base_strings_new();
  world->passed = NET_BEGINNING;
  world->timeline = scenario->real ? NET_TIMELINE_REAL : NET_TIMELINE_ABSTRACT;
  world->settings =
      (struct tql_settings){.origin_given = !scenario->real, .unit = scenario->real ? 1000000 : 1};
  world->scope = (struct tql_scope){.context = world,
                                    .find_relation = find_relation,
                                    .each_relation = each_relation,
                                    .time_passed = time_passed,
                                    .variables = world->variables,
                                    .settings = &world->settings,
                                    .time = {world->timeline, base_env_now(), 0},
                                    .strings = world->strings};
  add_clocks(world, scenario);
  for (size_t i = 0; i < scenario->input_count; i++)
    if (!scenario->inputs[i].dropped) add_input(world, scenario, &scenario->inputs[i]);
  return world;
}

void world_pass(struct world *world, net_chronon checkpoint) {
  world->passed = checkpoint;
}

void world_free(struct world *world) {
  if (world) base_strings_free(world->strings);
}

/* --- statements */

struct bound {
  struct base_diag_sink diags;
  struct tql_analysis analysis;
  struct tql_statement *statement;
};

static bool parse(struct world *world, const char *text, struct bound *bound) {
  struct base_source *source = BASE_NEW(world->arena, struct base_source);
  *source = (struct base_source){.name = "statement", .text = text, .length = strlen(text)};
  size_t count;
  bool ok;
  base_diag_sink_init(&bound->diags);
  struct tql_statement **list = tql_parse(world->arena, source, 1, &bound->diags, &count, &ok);
  bound->analysis = (struct tql_analysis){
      .arena = world->arena, .scope = &world->scope, .source = source, .diags = &bound->diags};
  bound->statement = ok && count == 1 ? list[0] : NULL;
  return bound->statement != NULL;
}

/* Why it does not bind; BASE_AGAIN if it is not executed yet. */
static enum base_status refusal(struct world *world, struct bound *bound, const char **ret_why) {
  enum base_status status = BASE_USER;
  *ret_why = "?";
  for (size_t i = 0; i < bound->diags.count; i++) {
    if (bound->diags.items[i].severity != BASE_ERROR) continue;
    if ((int)bound->diags.items[i].number >= 900) status = BASE_AGAIN;
    *ret_why = base_arena_strdup(world->arena, bound->diags.items[i].message);
  }
  return status;
}

static void set_time(struct bound *bound, bool *given, net_chronon *time) {
  if (tql_analyse_time(&bound->analysis, bound->statement->value, false, time) == BASE_OK)
    *given = true;
}

static void apply_setting(struct world *world, const char *text) {
  struct bound bound;
  struct tql_settings *settings = &world->settings;
  if (parse(world, text, &bound)) {
    const char *words = bound.statement->words;
    const struct tql_expr *value = bound.statement->value;
    if (strcmp(words, "origin") == 0)
      set_time(&bound, &settings->origin_given, &settings->origin);
    else if (strcmp(words, "averaging origin") == 0)
      set_time(&bound, &settings->averaging_origin_given, &settings->averaging_origin);
    else if (strcmp(words, "losses") == 0)
      settings->losses_ignored = strcmp(value->name.text, "ignored") == 0;
    else if (strcmp(words, "parallel") == 0)
      settings->coverage = strcmp(value->name.text, "coverage") == 0;
    else if (strcmp(words, "compensate") == 0)
      (void)tql_analyse_compensate(&bound.analysis, bound.statement, world->arena, settings);
    else
      settings->sequence = strcmp(value->name.text, "closest") == 0    ? NG_SEQUENCE_CLOSEST
                           : strcmp(value->name.text, "distinct") == 0 ? NG_SEQUENCE_DISTINCT
                                                                       : NG_SEQUENCE_FULL;
  }
  base_diag_sink_done(&bound.diags);
}

/* Has a tuple that starts at an end of the time line a temporal value that is not constant? */
static bool is_far(const struct oracle_relation *rows) {
  for (size_t i = 0; i < rows->count; i++) {
    const union net_slot *row = rows->tuples[i].row;
    if (row[0].i != NET_BEGINNING && row[0].i != NET_FOREVER) continue;
    for (uint32_t j = 0; j < rows->layout->field_count; j++) {
      const union net_slot *slot = row + rows->layout->fields[j].slot;
      if (rows->layout->fields[j].type.base == NET_TEMPORAL && (slot[1].f != 0 || slot[3].f != 0))
        return true;
    }
  }
  return false;
}

/* What is left open of the inputs is left open of what is made of them; a view's errors are those of every
 * query over it. */
static void inherit(struct world *world, const struct ng_query *query, bool *may_fail,
                    bool *unsaid) {
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct world_relation *input = find(world, query->variables[i].relation->name);
    if (input && input->view && input->may_fail) *may_fail = true;
    if (input && world->looking && input->looking_fails) *may_fail = true;
    if (input && (input->unsaid || is_far(&input->rows))) *unsaid = true;
  }
}

static bool reads_clocks_alone(struct world *world, const struct ng_query *query) {
  bool alone = query->variable_count > 0;
  for (size_t i = 0; i < query->variable_count; i++)
    alone = alone && (query->variables[i].relation->kind == NG_REL_CLOCK ||
                      find(world, query->variables[i].relation->name) == NULL);
  return alone;
}

static enum base_status retrieve(struct world *world, const struct statement *statement,
                                 struct oracle_relation *ret, const char **ret_why,
                                 const struct ng_query **ret_query) {
  struct bound bound;
  struct statement plain = *statement;
  plain.view = false; /* a view is the same retrieve */
  enum base_status status = BASE_USER;
  if (parse(world, statement_text(world->arena, &plain), &bound))
    status = tql_analyse_retrieve(&bound.analysis, bound.statement, ret_query);
  if (status != BASE_OK) status = refusal(world, &bound, ret_why);
  base_diag_sink_done(&bound.diags);
  if (status != BASE_OK) return status;
  world->origin = (struct oracle_origin){0};
  world->unsaid = false;
  world->clocks_alone = reads_clocks_alone(world, *ret_query);
  struct oracle_world oracle = oracle_of(world, &world->origin, &world->unsaid);
  world->counting = counts_passes(world, *ret_query);
  *ret_why = oracle_evaluate(world->arena, &oracle, *ret_query, ret, &world->may_fail);
  world->counting = false;
  inherit(world, *ret_query, &world->may_fail, &world->unsaid);
  const struct tql_order *order = bound.statement->order;
  bool ordered = *ret_why == NULL && order != NULL && oracle_is_ordered(ret->layout);
  if (ordered && !oracle_order(ret, world->strings, order)) return BASE_USER;
  if (order != NULL && !ordered) world->unsaid = true;
  return *ret_why ? BASE_END : BASE_OK;
}

/* Evaluates the view anew for who only looks, and so what is stored and not defined to ignore losses. Where that
 * fails and the other did not, nothing is said of it. */
static void look_at(struct world *world, struct world_relation *view,
                    const struct ng_query *query) {
  struct oracle_origin origin = {0};
  bool unsaid = false, may_fail = false;
  struct oracle_world oracle = oracle_of(world, &origin, &unsaid);
  world->looking = true;
  world->counting = counts_passes(world, query);
  const char *why = oracle_evaluate(world->arena, &oracle, query, &view->certain, &may_fail);
  world->counting = false;
  inherit(world, query, &may_fail, &unsaid);
  world->looking = false;
  view->looking_fails = may_fail;
  view->unsaid = view->unsaid || unsaid || why;
}

/* Of what is looked at: *RET_VIEWS says whether there are views among it, too. */
static bool looks_through(struct world *world, const struct ng_query *query, bool *ret_views) {
  bool any = false;
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct world_relation *input = find(world, query->variables[i].relation->name);
    if (input == NULL || !input->query) continue;
    any |= input->view || input->looks_through;
    *ret_views |= input->view;
  }
  return any && world->looking;
}

/* What is uncertain of what a derived relation is made of may make an error of a statement: then its table is read. */
static enum base_status retrieve_stored(struct world *world, const struct statement *statement,
                                        struct oracle_relation *ret, const char **ret_why,
                                        const struct ng_query **ret_query,
                                        enum base_status status) {
  bool views = false;
  if (status == BASE_USER || !looks_through(world, *ret_query, &views)) return status;
  bool may_fail = world->may_fail;
  if (status == BASE_END) {
    world->as_stored = true;
    status = retrieve(world, statement, ret, ret_why, ret_query);
    world->as_stored = false;
    world->unsaid |= views;
  }
  world->unsaid |= may_fail;
  return status;
}

enum base_status world_retrieve(struct world *world, const struct statement *statement,
                                struct oracle_relation *ret, const char **ret_why) {
  const struct ng_query *query;
  world->clocks_alone = false;
  world->looking = !statement->name && !world->settings.losses_ignored;
  enum base_status status = retrieve(world, statement, ret, ret_why, &query);
  status = retrieve_stored(world, statement, ret, ret_why, &query, status);
  world->looking = false;
  if (status != BASE_OK || !statement->name) return status;
  struct world_relation *relation = &world->relations[world->relation_count++];
  relation->ng = (struct ng_relation){
      .name = statement->name, .kind = NG_REL_DERIVED, .layout = query->layout};
  relation->rows = *ret;
  relation->query = query;
  relation->origin = world->origin;
  relation->view = statement->view;
  relation->may_fail = world->may_fail;
  relation->unsaid = world->unsaid;
  relation->certain = relation->rows;
  relation->looks_through = relation->view || !world->settings.losses_ignored;
  if (relation->looks_through) look_at(world, relation, query);
  if (relation->view) relation->may_fail = relation->may_fail || relation->looking_fails;
  world->may_fail = relation->may_fail || relation->looking_fails;
  world->unsaid = relation->unsaid;
  *ret = *shown(world, relation); /* it is printed */
  add_variables(world, relation);
  return BASE_OK;
}

/* --- updates */

static struct contents *add_contents(struct world *world, struct outcome *outcome) {
  if (!outcome->contents)
    outcome->contents =
        BASE_NEW_ARRAY(world->arena, RELATIONS_MAX + STATEMENTS_MAX, struct contents);
  return &outcome->contents[outcome->content_count++];
}

static bool depends_on(struct world *world, const struct world_relation *derived,
                       const struct world_relation *changed) {
  if (derived == changed) return true;
  if (!derived->query) return false;
  for (size_t i = 0; i < derived->query->variable_count; i++) {
    const struct ng_variable *variable = &derived->query->variables[i];
    struct world_relation *input = find(world, variable->relation->name);
    if (input && depends_on(world, input, changed)) return true;
  }
  return false;
}

/* All that depends on the relation, anew; on an error everything is as it was. */
static void follow_up(struct world *world, struct world_relation *changed,
                      struct oracle_relation records, struct outcome *outcome) {
  struct world_relation kept[RELATIONS_MAX + STATEMENTS_MAX];
  memcpy(kept, world->relations, sizeof kept);
  changed->records = records;
  show(world, changed);
  changed->unsaid = changed->unsaid || outcome->unsaid;
  *add_contents(world, outcome) =
      (struct contents){changed->ng.name, *shown(world, changed), false, changed->unsaid};
  for (size_t i = 0; i < world->relation_count && outcome->status == BASE_OK; i++) {
    struct world_relation *derived = &world->relations[i];
    if (derived == changed || !depends_on(world, derived, changed)) continue;
    struct oracle_origin origin = {0};
    derived->unsaid = false;
    struct oracle_world oracle = oracle_of(world, &origin, &derived->unsaid);
    struct ng_query query = *derived->query;
    if (derived->origin.found) {
      query.origin_given = true;
      query.origin = derived->origin.time;
    }
    outcome->why =
        oracle_evaluate(world->arena, &oracle, &query, &derived->rows, &derived->may_fail);
    inherit(world, &query, &derived->may_fail, &derived->unsaid);
    if (!derived->origin.found) derived->origin = origin;
    derived->certain = derived->rows;
    if (derived->looks_through && !outcome->why) look_at(world, derived, &query);
    if (derived->view) derived->may_fail = derived->may_fail || derived->looking_fails;
    /* A view is not stored: that it fails now is known when somebody asks for it, or never. */
    if (outcome->why) outcome->status = derived->view ? BASE_AGAIN : BASE_END;
    outcome->may_fail = outcome->may_fail || derived->may_fail;
    *add_contents(world, outcome) = (struct contents){
        derived->ng.name, *shown(world, derived),
        (derived->view && derived->may_fail) || derived->looking_fails, derived->unsaid};
  }
  if (outcome->status != BASE_OK) memcpy(world->relations, kept, sizeof kept);
}

static void append(struct world *world, struct bound *bound, struct outcome *outcome) {
  const struct ng_query *query;
  struct oracle_relation rows;
  outcome->status = tql_analyse_append(&bound->analysis, bound->statement, &query);
  if (outcome->status != BASE_OK) return;
  struct oracle_world oracle = oracle_of(world, NULL, &outcome->unsaid);
  outcome->why = oracle_evaluate(world->arena, &oracle, query, &rows, &outcome->may_fail);
  inherit(world, query, &outcome->may_fail, &outcome->unsaid);
  if (outcome->why) {
    outcome->status = BASE_END;
    return;
  }
  struct world_relation *relation = find(world, bound->statement->name.text);
  struct oracle_relation records = {.layout = relation->records.layout};
  for (size_t i = 0; i < relation->records.count; i++)
    oracle_add(world->arena, &records, relation->records.tuples[i].row,
               relation->records.tuples[i].definite);
  for (size_t i = 0; i < rows.count; i++)
    oracle_add(world->arena, &records, rows.tuples[i].row, rows.tuples[i].definite);
  follow_up(world, relation, records, outcome);
}

static void update(struct world *world, struct bound *bound, struct outcome *outcome) {
  struct tql_update update;
  struct oracle_relation records;
  outcome->status = tql_analyse_update(&bound->analysis, bound->statement, &update);
  if (outcome->status != BASE_OK) return;
  struct world_relation *relation = find(world, update.relation->name);
  struct oracle_update change = {.query = update.query,
                                 .variable = update.query->delimiter,
                                 .replaces = bound->statement->kind == TQL_S_REPLACE,
                                 .moves = update.moves,
                                 .own_start = update.own_start,
                                 .own_stop = update.own_stop,
                                 .fields = update.fields,
                                 .field_count = update.field_count};
  struct oracle_world oracle = oracle_of(world, NULL, &outcome->unsaid);
  outcome->why = oracle_apply_update(world->arena, &oracle, &change, &relation->rows, &records,
                                     &outcome->may_fail);
  inherit(world, update.query, &outcome->may_fail, &outcome->unsaid);
  if (outcome->why)
    outcome->status = outcome->why == oracle_unsaid ? BASE_AGAIN : BASE_END;
  else
    follow_up(world, relation, records, outcome);
}

static struct outcome change(struct world *world, const struct statement *statement) {
  struct outcome outcome = {.status = BASE_USER};
  struct bound bound;
  if (parse(world, statement_text(world->arena, statement), &bound)) {
    if (statement->kind == APPEND)
      append(world, &bound, &outcome);
    else
      update(world, &bound, &outcome);
  }
  if (outcome.status == BASE_USER) outcome.status = refusal(world, &bound, &outcome.why);
  base_diag_sink_done(&bound.diags);
  return outcome;
}

struct outcome world_run(struct world *world, const struct statement *statement) {
  struct outcome outcome = {.status = BASE_OK};
  switch (statement->kind) {
    case SETTING:
      apply_setting(world, statement->text);
      return outcome;
    case RETRIEVE:
      world->doubted = 0;
      outcome.status = world_retrieve(world, statement, &outcome.rows, &outcome.why);
      outcome.has_rows = outcome.status == BASE_OK;
      outcome.may_fail = outcome.has_rows && world->may_fail;
      outcome.unsaid = world->unsaid;
      outcome.clocks_alone = world->clocks_alone;
      outcome.ordered = statement->order != NULL && outcome.has_rows;
      outcome.doubted = world->doubted;
      return outcome;
    default:
      return change(world, statement);
  }
}
