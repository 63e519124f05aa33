/* See world.h. Tuple i of every relation begins at instant i; its k goes round, so that groups and
 * entities stay the same. In T two processes take turns in being ahead, by at most five iterations.  */
#include "tests/memory/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/env.h"
#include "tquel/analyse/analyse.h"
#include "tquel/lang/parse.h"

enum { FIELDS = 3, KEYS = 16, RELATIONS_MAX = 8, VARIABLES_MAX = 16, ACCESSES_MAX = 32 };
enum { CLOSES = 2 /* with each tuple that comes, at most */ };

static const char names_of_fields[] = "kxy";

struct relation {
  struct ng_relation ng;
};

struct input {
  struct net_node *access;
  struct relation *relation;
  struct net_batch_builder builder;
  uint32_t slots[FIELDS]; /* of k, x, y; 0: not wanted */
};

struct machine {
  const struct shape *shape;
  struct base_arena *arena;
  struct base_strings *strings;
  struct base_diag_sink diags;
  struct net_network *network;
  struct relation relations[RELATIONS_MAX];
  size_t relation_count;
  struct tql_variable variables[VARIABLES_MAX];
  size_t variable_count;
  struct tql_settings settings;
  struct input inputs[ACCESSES_MAX];
  size_t input_count;
  uint64_t live, made, results, sweeps;
  uint64_t closed; /* of open periods the first so many */
  uint32_t batch_rows;
  struct base_random random;
  int64_t iterations[2];
};

static _Noreturn void give_up(struct machine *machine, const char *what) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (machine->diags.count > 0) base_diag_format(&text, &machine->diags.items[0]);
  printf("Bail out! %s: %s %s\n", machine->shape->name, what, base_buffer_text(&text));
  exit(99);
}

/* --- names */

static const struct ng_relation *find_relation(void *context, const char *name) {
  struct machine *machine = context;
  for (size_t i = 0; i < machine->relation_count; i++)
    if (strcasecmp(machine->relations[i].ng.name, name) == 0) return &machine->relations[i].ng;
  return NULL;
}

static void each_relation(void *context, void (*on_name)(void *, const char *), void *on_context) {
  (void)context, (void)on_name, (void)on_context;
}

static struct relation *add(struct machine *machine, const char *name, enum ng_relation_kind kind,
                            const struct net_layout *layout) {
  if (machine->relation_count == RELATIONS_MAX) give_up(machine, "too many relations");
  struct relation *relation = &machine->relations[machine->relation_count++];
  *relation = (struct relation){.ng = {.name = name, .kind = kind, .layout = layout}};
  return relation;
}

static void add_primitive(struct machine *machine, const char *name, enum ng_relation_kind kind) {
  struct net_field fields[FIELDS] = {{.name = "k"}, {.name = "x"}, {.name = "y"}};
  static const char *const types[FIELDS] = {"i8", "i8", "f8"};
  for (int i = 0; i < FIELDS; i++)
    if (!net_type_parse(types[i], &fields[i].type)) give_up(machine, "no type");
  bool events = kind == NG_REL_EVENT;
  struct relation *relation =
      add(machine, name, kind,
          net_layout_new(machine->arena, events ? NET_EVENT : NET_PERIOD, fields, FIELDS));
  if (kind != NG_REL_TRACED) return;
  relation->ng.records = net_layout_new(machine->arena, NET_EVENT, fields, FIELDS);
  static const uint32_t key[] = {0};
  relation->ng.by = relation->ng.entity = (struct net_key){key, 1};
}

static void range_of(struct machine *machine, const char *name, const struct ng_relation *relation,
                     int credibility) {
  if (machine->variable_count == VARIABLES_MAX) give_up(machine, "too many variables");
  machine->variables[machine->variable_count++] =
      (struct tql_variable){name, relation, credibility};
}

/* --- building */

static enum base_status no_source(void *context, const struct ng_relation *relation,
                                  const struct net_layout *layout, enum net_scan_form form,
                                  const struct net_wanted *wanted, struct net_source **ret) {
  (void)context, (void)relation, (void)layout, (void)form, (void)wanted;
  *ret = NULL;
  return BASE_OK;
}

static void note_access(void *context, const struct ng_relation *ng, enum net_scan_form form,
                        struct net_node *access) {
  (void)form;
  struct machine *machine = context;
  if (machine->input_count == ACCESSES_MAX) give_up(machine, "too many access nodes");
  struct input *input = &machine->inputs[machine->input_count++];
  *input = (struct input){.access = access};
  for (size_t i = 0; i < machine->relation_count; i++)
    if (strcmp(machine->relations[i].ng.name, ng->name) == 0)
      input->relation = &machine->relations[i];
  const struct net_layout *layout = net_node_layout(access);
  net_batch_builder_init(&input->builder, layout, machine->batch_rows * (CLOSES + 1));
  for (uint32_t f = 0; f < layout->field_count; f++) {
    const char *at = strchr(names_of_fields, layout->fields[f].name[0]);
    input->slots[at - names_of_fields] = layout->fields[f].slot;
  }
}

static enum base_status count_rows(void *context, const struct net_batch *batch) {
  for (uint32_t i = 0; i < batch->count; i++)
    ((struct machine *)context)->results += !(net_batch_marks(batch, i) & NET_CLOSES);
  return BASE_OK;
}

static void run_out(struct machine *machine, struct ng_plan *plan, const struct ng_query *query) {
  struct ng_switches switches = {{false}};
  struct net_node *result = NULL;
  struct ng_inputs inputs = {.context = machine, .source = no_source, .made = note_access};
  for (size_t i = 0; i < NG_RULES; i++) switches.off[i] = machine->shape->rules_off;
  if (ng_plan_transform(plan, &switches, &machine->diags) != BASE_OK)
    give_up(machine, "is not planned");
  if (ng_plan_build(plan, machine->network, &inputs, &machine->diags, &result) != BASE_OK)
    give_up(machine, "is not built");
  struct net_node *display =
      net_create_display(machine->network, "result", query->layout, count_rows, machine);
  if (net_link(result, display, 0) != BASE_OK) give_up(machine, "is not linked");
}

static void retrieve(struct machine *machine, const struct tql_analysis *analysis,
                     const struct tql_statement *statement, const struct ng_query **named,
                     size_t *named_count) {
  const struct ng_query *query = NULL;
  if (tql_analyse_retrieve(analysis, statement, &query) != BASE_OK)
    give_up(machine, "does not bind:");
  if (query->name != NULL) {
    struct relation *derived = add(machine, query->name, NG_REL_DERIVED, query->layout);
    named[(*named_count)++] = query;
    range_of(machine, "d", &derived->ng, -1);
    return;
  }
  struct ng_plan *plan = ng_plan_new(machine->arena, machine->strings, NET_TIMELINE_ABSTRACT);
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < *named_count && status == BASE_OK; i++)
    status = ng_plan_add_query(plan, named[i], &machine->diags);
  if (status == BASE_OK) status = ng_plan_add_query(plan, query, &machine->diags);
  if (status != BASE_OK) give_up(machine, "has no plan");
  run_out(machine, plan, query);
}

static void run_set(struct machine *machine, const struct tql_statement *statement) {
  if (strcmp(statement->words, "sequence") != 0 ||
      !tql_sequence_find(statement->value->name.text, &machine->settings.sequence))
    give_up(machine, "sets what is not known here");
}

static void run_statements(struct machine *machine) {
  const char *text = machine->shape->text;
  struct base_source source = {.name = machine->shape->name, .text = text, .length = strlen(text)};
  struct tql_scope scope = {.context = machine,
                            .find_relation = find_relation,
                            .each_relation = each_relation,
                            .variables = machine->variables,
                            .settings = &machine->settings,
                            .time = {NET_TIMELINE_ABSTRACT, 0, 0},
                            .strings = machine->strings};
  struct tql_analysis analysis = {
      .arena = machine->arena, .scope = &scope, .source = &source, .diags = &machine->diags};
  const struct ng_query *named[RELATIONS_MAX];
  size_t count = 0, named_count = 0;
  bool ok = false;
  struct tql_statement **list = tql_parse(machine->arena, &source, 1, &machine->diags, &count, &ok);
  if (!ok) give_up(machine, "does not parse:");
  for (size_t i = 0; i < count; i++) {
    scope.variable_count = machine->variable_count;
    if (list[i]->kind == TQL_S_SET)
      run_set(machine, list[i]);
    else if (list[i]->kind == TQL_S_RANGE && list[i]->expr != NULL)
      range_of(machine, list[i]->variable.text, tql_analyse_clock(&analysis, list[i]->expr), -1);
    else if (list[i]->kind == TQL_S_RANGE)
      range_of(machine, list[i]->variable.text, find_relation(machine, list[i]->name.text),
               list[i]->credibility);
    else
      retrieve(machine, &analysis, list[i], named, &named_count);
  }
}

struct machine *machine_new(const struct shape *shape, uint64_t live, uint32_t batch_rows) {
  struct machine *machine = base_xcalloc(1, sizeof *machine);
  machine->shape = shape;
  machine->live = live;
  machine->batch_rows = batch_rows;
  machine->arena = base_arena_new();
  machine->strings = base_strings_new();
  machine->settings.unit = 1;
  machine->random.state = 1;
  base_diag_sink_init(&machine->diags);
  machine->network = net_network_new(machine->strings, NET_TIMELINE_ABSTRACT, &machine->diags);
  static const enum ng_relation_kind kinds[] = {NG_REL_EVENT, NG_REL_EVENT, NG_REL_PERIOD,
                                                NG_REL_PERIOD, NG_REL_TRACED};
  static const char *const names[] = {"E", "F", "P", "Q", "T"}, *const variables = "efpqt";
  for (size_t i = 0; i < 5; i++) {
    add_primitive(machine, names[i], kinds[i]);
    range_of(machine, base_arena_strndup(machine->arena, variables + i, 1),
             &machine->relations[i].ng, -1);
  }
  range_of(machine, "u", &machine->relations[4].ng, -1);
  run_statements(machine);
  net_freeze(machine->network);
  base_strings_pin_all(machine->strings);
  return machine;
}

void machine_set_live(struct machine *machine, uint64_t live) {
  machine->live = live;
}

void machine_free(struct machine *machine) {
  net_network_free(machine->network);
  for (size_t i = 0; i < machine->input_count; i++)
    net_batch_builder_done(&machine->inputs[i].builder);
  base_diag_sink_done(&machine->diags);
  base_strings_free(machine->strings);
  base_arena_free(machine->arena);
  free(machine);
}

/* --- rows */

static void put_domains(const struct input *input, union net_slot *row, int64_t k, int64_t x) {
  if (input->slots[0] != 0) row[input->slots[0]].i = k;
  if (input->slots[1] != 0) row[input->slots[1]].i = x;
  if (input->slots[2] != 0) row[input->slots[2]].f = (double)x / 2;
}

static void put_tuple(struct machine *machine, struct input *input, uint64_t number, uint64_t stops,
                      bool close) {
  const struct net_layout *layout = input->builder.layout;
  union net_slot *row =
      net_batch_builder_add(&input->builder, (uint8_t)(NET_DEFINITE | (close ? NET_CLOSES : 0)));
  int64_t doubt = machine->shape->how == UNSURE || machine->shape->how == BOTH ? 2 : 0;
  row[0].i = (int64_t)number;
  row[1].i = row[0].i + doubt;
  if (layout->tuple_class == NET_PERIOD) {
    int64_t stop = (int64_t)stops;
    bool open = machine->shape->how == OPEN && !close;
    row[2].i = open ? NET_OPEN : stop;
    row[3].i = open ? NET_FOREVER : stop + doubt;
  }
  bool unlike = machine->shape->how >= UNLIKE;
  put_domains(input, row, (int64_t)(number % KEYS),
              (int64_t)(unlike ? number : number * 7919 % 1000));
}

/* What process is a step ahead now? The same for all readers of T: it depends on the number alone. */
static void next_record(struct machine *machine, uint64_t number, int64_t *k, int64_t *x) {
  int process = (int)(base_random_below(&machine->random, 100) < ((number >> 8 & 1) ? 60u : 40u));
  if (machine->iterations[process] > machine->iterations[1 - process] + 4) process = 1 - process;
  *k = process + 1;
  *x = ++machine->iterations[process];
}

static void push(struct machine *machine, struct input *input, net_chronon checkpoint) {
  struct net_batch batch = net_batch_builder_batch(&input->builder, checkpoint);
  if (net_access_push(input->access, &batch) != BASE_OK) give_up(machine, "failed");
  net_batch_builder_clear(&input->builder);
}

static void make_rows(struct machine *machine, uint64_t first, uint64_t count) {
  for (uint64_t number = first; number < first + count; number++) {
    int64_t k = 0, x = 0;
    next_record(machine, number, &k, &x);
    uint64_t closed = machine->closed;
    for (int i = 0; i < CLOSES && closed + machine->live <= number; i++) closed++;
    for (size_t i = 0; i < machine->input_count; i++) {
      struct input *input = &machine->inputs[i];
      bool records = input->relation->ng.kind == NG_REL_TRACED;
      if (records) {
        union net_slot *row = net_batch_builder_add(&input->builder, NET_DEFINITE);
        row[0].i = row[1].i = (int64_t)number;
        put_domains(input, row, k, x);
        continue;
      }
      bool open = machine->shape->how == OPEN && input->builder.layout->tuple_class == NET_PERIOD;
      for (uint64_t old = machine->closed; open && old < closed; old++)
        put_tuple(machine, input, old, number, true);
      put_tuple(machine, input, number, number + machine->live, false);
    }
    machine->closed = closed;
  }
}

/* As sessions do. */
static void sweep(struct machine *machine) {
  if (!base_strings_want_sweep(machine->strings)) return;
  base_strings_sweep_begin(machine->strings);
  net_mark_strings(machine->network, machine->strings);
  base_strings_sweep_end(machine->strings);
  machine->sweeps++;
}

void machine_run(struct machine *machine, uint64_t count) {
  while (count > 0) {
    uint64_t now = count < machine->batch_rows ? count : machine->batch_rows;
    make_rows(machine, machine->made, now);
    machine->made += now;
    for (size_t i = 0; i < machine->input_count; i++)
      push(machine, &machine->inputs[i], (net_chronon)machine->made);
    if (net_run(machine->network) != BASE_OK) give_up(machine, "failed");
    sweep(machine);
    count -= now;
  }
}

uint64_t machine_results(const struct machine *machine) {
  return machine->results;
}

const struct net_network *machine_network(const struct machine *machine) {
  return machine->network;
}

struct machine_state machine_state(const struct machine *machine) {
  struct machine_state state = {.string_bytes = base_strings_memory(machine->strings),
                                .sweeps = machine->sweeps};
  for (const struct net_node *node = net_network_first(machine->network); node != NULL;
       node = net_node_next(node)) {
    struct net_node_stats stats = net_node_stats(node);
    state.rows += stats.state_rows;
    state.bytes += stats.state_bytes;
  }
  return state;
}
