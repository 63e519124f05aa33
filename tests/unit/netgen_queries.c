/* See netgen_queries.h. */
#include "tests/unit/netgen_queries.h"

struct base_arena *nq_arena;
struct base_strings *nq_strings;

static const struct ng_relation *iteration, *execution_status; /* one for all queries */

static const struct net_type type_bool = {NET_BOOL, 1};
static const struct net_type type_long = {NET_INTEGER, 8};
static const struct net_type type_text = {NET_STRING, 0};
static const struct net_type type_temporal = {NET_TEMPORAL, 0};

uint64_t nq_rule_choice(unsigned index) {
  const uint64_t all = NQ_ALL_RULES;
  if (index < 2) return index ? all : 0;
  if (index < 2 + NG_RULES) return all & ~(UINT64_C(1) << (index - 2));
  if (index < 2 + 2 * NG_RULES) return UINT64_C(1) << (index - 2 - NG_RULES);
  return (index * UINT64_C(0x9e3779b97f4a7c15) >> 24) & all;
}

void nq_set_up(void) {
  iteration = execution_status = NULL;
  nq_arena = base_arena_new();
  nq_strings = base_strings_new();
}

void nq_tear_down(void) {
  base_arena_free(nq_arena);
  base_strings_free(nq_strings);
}

static const struct ng_relation *relation(const char *name, enum ng_relation_kind kind,
                                          const struct net_field *fields, uint32_t count, int by) {
  struct ng_relation *result = BASE_NEW(nq_arena, struct ng_relation);
  enum net_tuple_class shown = kind == NG_REL_EVENT ? NET_EVENT : NET_PERIOD;
  result->name = name;
  result->kind = kind;
  result->layout = net_layout_new(nq_arena, shown, fields, count);
  if (kind == NG_REL_TRACED || kind == NG_REL_SAMPLED) {
    result->records = net_layout_new(nq_arena, NET_EVENT, fields, count);
  }
  if (by >= 0) {
    uint32_t *fields_of_key = BASE_NEW_ARRAY(nq_arena, 1, uint32_t);
    *fields_of_key = (uint32_t)by;
    result->by = (struct net_key){fields_of_key, 1};
  }
  ng_set_entity(nq_arena, result);
  return result;
}

const struct ng_relation *nq_iteration(void) {
  if (iteration) return iteration;
  struct net_field fields[] = {{.name = "Process", .type = {NET_STRING, 20}},
                               {.name = "IterNum", .type = {NET_INTEGER, 4}}};
  iteration = relation("Iteration", NG_REL_TRACED, fields, 2, 0);
  return iteration;
}

const struct ng_relation *nq_relation(const char *name, enum ng_relation_kind kind, unsigned count,
                                      uint32_t width) {
  static const char *const names[] = {"A", "B", "C", "D", "E", "F", "G", "H"};
  struct net_field fields[8] = {{.name = NULL}};
  for (unsigned i = 0; i < count; i++) {
    fields[i] = (struct net_field){.name = names[i], .type = {NET_INTEGER, width}};
  }
  bool by = kind == NG_REL_TRACED || kind == NG_REL_SAMPLED;
  return relation(name, kind, fields, count, by ? 0 : -1);
}

static const struct ng_relation *sensed(const struct ng_relation *of) {
  static const uint32_t first[] = {0};
  static const struct ng_sensor sensor = {.objects = first, .object_count = 1};
  struct ng_relation *result = BASE_NEW(nq_arena, struct ng_relation);
  *result = *of;
  result->sensor = &sensor;
  return result;
}

const struct ng_relation *nq_execution_status(void) {
  struct net_field fields[] = {{.name = "Process", .type = {NET_INTEGER, 4}},
                               {.name = "State", .type = {NET_STRING, 8}}};
  if (!execution_status)
    execution_status = sensed(relation("ExecutionStatus", NG_REL_TRACED, fields, 2, 0));
  return execution_status;
}

const struct ng_relation *nq_fed(int by) {
  static const uint32_t objects[] = {0, 1};
  static const struct ng_sensor sensor = {.objects = objects, .object_count = 2};
  struct net_field fields[] = {{.name = "Process", .type = {NET_INTEGER, 4}},
                               {.name = "Cage", .type = {NET_INTEGER, 4}},
                               {.name = "Amount", .type = {NET_INTEGER, 4}}};
  struct ng_relation *result = BASE_NEW(nq_arena, struct ng_relation);
  *result = *relation("Fed", NG_REL_TRACED, fields, 3, by);
  result->sensor = &sensor;
  return result;
}

const struct ng_relation *nq_processes(const char *name) {
  struct net_field fields[] = {{.name = "Process", .type = {NET_INTEGER, 4}}};
  return relation(name, NG_REL_PERIOD, fields, 1, -1);
}

const struct ng_relation *nq_load(void) {
  struct net_field fields[] = {{.name = "Process", .type = {NET_INTEGER, 4}},
                               {.name = "Load", .type = {NET_INTEGER, 4}}};
  return sensed(relation("Load", NG_REL_SAMPLED, fields, 2, 0));
}

const struct ng_relation *nq_clock(int64_t every) {
  struct ng_relation *result = BASE_NEW(nq_arena, struct ng_relation);
  *result = (struct ng_relation){.name = "Clock",
                                 .kind = NG_REL_CLOCK,
                                 .layout = net_layout_new(nq_arena, NET_EVENT, NULL, 0),
                                 .every = every};
  return result;
}

const struct ng_query *nq_stop_running(bool at_start) {
  const struct ng_relation *relations[] = {nq_execution_status(), nq_processes("F")};
  static const char *const names[] = {"E", "F"};
  struct ng_query *query = nq_query("StopRunning", 2, names, relations);
  nq_target(query, "Process", nq_domain(query, 0, "Process"));
  query->where =
      nq_binary(NG_AND, nq_binary(NG_EQ, nq_domain(query, 0, "State"), nq_string("Done")),
                nq_binary(NG_EQ, nq_domain(query, 0, "Process"), nq_domain(query, 1, "Process")));
  if (at_start)
    query->when =
        nq_holds(nq_temporal(NG_T_OVERLAP, nq_start(nq_variable(query, 0)), nq_variable(query, 1)));
  query->at = nq_start(nq_variable(query, 0));
  return nq_finish(query, NET_EVENT);
}

static struct ng_query *load_when_clock_ticks(void) {
  const struct ng_relation *relations[] = {nq_load(), nq_clock(10)};
  static const char *const names[] = {"L", "C"};
  struct ng_query *query = nq_query("Loads", 2, names, relations);
  nq_target(query, "Load", nq_domain(query, 0, "Load"));
  query->where = nq_binary(NG_OR, nq_binary(NG_EQ, nq_domain(query, 0, "Process"), nq_integer(3)),
                           nq_binary(NG_EQ, nq_domain(query, 0, "Process"), nq_integer(5)));
  return query;
}

const struct ng_query *nq_load_at_ticks(void) {
  return nq_finish(load_when_clock_ticks(), NET_EVENT);
}

const struct ng_query *nq_load_at_events(void) {
  struct net_field fields[] = {{.name = "Process", .type = {NET_INTEGER, 4}}};
  const struct ng_relation *relations[] = {nq_load(),
                                           relation("Alarm", NG_REL_EVENT, fields, 1, -1)};
  static const char *const names[] = {"L", "A"};
  struct ng_query *query = nq_query("Alarmed", 2, names, relations);
  nq_target(query, "Load", nq_domain(query, 0, "Load"));
  query->where = nq_binary(NG_EQ, nq_domain(query, 0, "Process"), nq_domain(query, 1, "Process"));
  return nq_finish(query, NET_EVENT);
}

const struct ng_query *nq_load_since(void) {
  struct ng_query *query = load_when_clock_ticks();
  query->at = nq_start(nq_variable(query, 0));
  return nq_finish(query, NET_EVENT);
}

const struct ng_relation *nq_derived(const struct ng_query *query) {
  struct ng_relation *result = BASE_NEW(nq_arena, struct ng_relation);
  *result =
      (struct ng_relation){.name = query->name, .kind = NG_REL_DERIVED, .layout = query->layout};
  return result;
}

struct ng_query *nq_query(const char *name, unsigned count, const char *const *names,
                          const struct ng_relation *const *relations) {
  struct ng_query *query = BASE_NEW(nq_arena, struct ng_query);
  query->name = name;
  query->text = "by hand";
  query->timeline = NET_TIMELINE_ABSTRACT;
  query->variables = BASE_NEW_ARRAY(nq_arena, count, struct ng_variable);
  query->variable_count = count;
  query->targets = BASE_NEW_ARRAY(nq_arena, 16, struct ng_target);
  query->aggregates = BASE_NEW_ARRAY(nq_arena, 8, struct ng_aggregate);
  for (unsigned i = 0; i < count; i++) {
    query->variables[i] =
        (struct ng_variable){.name = names[i], .relation = relations[i], .outside = true};
  }
  return query;
}

void nq_target(struct ng_query *query, const char *name, const struct ng_expr *expr) {
  query->targets[query->target_count++] = (struct ng_target){name, expr};
}

unsigned nq_aggregate(struct ng_query *query, struct ng_aggregate aggregate) {
  query->aggregates[query->aggregate_count] = aggregate;
  return (unsigned)query->aggregate_count++;
}

const struct ng_query *nq_finish(struct ng_query *query, enum net_tuple_class result_class) {
  struct net_field fields[16] = {{.name = NULL}};
  for (size_t i = 0; i < query->target_count; i++) {
    fields[i] =
        (struct net_field){.name = query->targets[i].name, .type = query->targets[i].expr->type};
  }
  query->result_class = result_class;
  query->layout = net_layout_new(nq_arena, result_class, fields, (uint32_t)query->target_count);
  return query;
}

/* --- expressions */

static struct ng_expr *make(enum ng_op op, struct net_type type, const struct ng_expr *a,
                            const struct ng_expr *b) {
  struct ng_expr *expr = BASE_NEW(nq_arena, struct ng_expr);
  expr->op = op;
  expr->type = type;
  expr->args[0] = a;
  expr->args[1] = b;
  expr->arg_count = b ? 2 : a ? 1 : 0;
  return expr;
}

const struct ng_expr *nq_domain(const struct ng_query *query, unsigned variable, const char *name) {
  const struct net_layout *layout = query->variables[variable].relation->layout;
  int index = net_layout_find(layout, name);
  BASE_CHECK(index >= 0, "test-domain");
  struct ng_expr *expr = make(NG_DOMAIN, layout->fields[index].type, NULL, NULL);
  expr->variable = variable;
  expr->index = (unsigned)index;
  return expr;
}

const struct ng_expr *nq_integer(int64_t value) {
  struct ng_expr *expr = make(NG_INTEGER, type_long, NULL, NULL);
  expr->integer = value;
  return expr;
}

const struct ng_expr *nq_string(const char *text) {
  struct ng_expr *expr = make(NG_STRING, type_text, NULL, NULL);
  expr->string = base_strings_intern_text(nq_strings, text);
  return expr;
}

const struct ng_expr *nq_aggregate_value(const struct ng_query *query, unsigned index) {
  struct ng_expr *expr = make(NG_AGGREGATE, query->aggregates[index].type, NULL, NULL);
  expr->index = index;
  return expr;
}

const struct ng_expr *nq_convert(const struct ng_expr *a, struct net_type type) {
  return make(NG_CONVERT, type, a, NULL);
}

const struct ng_expr *nq_binary(enum ng_op op, const struct ng_expr *a, const struct ng_expr *b) {
  bool truth = op >= NG_EQ && op <= NG_NOT;
  struct net_type type = a->type;
  if (type.base == NET_INTEGER) type.width = 8;
  return make(op, truth ? type_bool : type, a, b);
}

const struct ng_expr *nq_not(const struct ng_expr *a) {
  return make(NG_NOT, type_bool, a, NULL);
}

const struct ng_expr *nq_variable(const struct ng_query *query, unsigned variable) {
  struct ng_expr *expr = make(NG_T_VARIABLE, type_bool, NULL, NULL);
  expr->variable = variable;
  expr->event = query->variables[variable].relation->layout->tuple_class == NET_EVENT;
  return expr;
}

static const struct ng_expr *event(struct ng_expr *expr) {
  expr->event = true;
  return expr;
}

const struct ng_expr *nq_start(const struct ng_expr *a) {
  return event(make(NG_T_START, type_bool, a, NULL));
}

const struct ng_expr *nq_stop(const struct ng_expr *a) {
  return event(make(NG_T_STOP, type_bool, a, NULL));
}

const struct ng_expr *nq_constant(net_chronon time) {
  struct ng_expr *expr = make(NG_T_CONSTANT, type_bool, NULL, NULL);
  expr->instant = (struct net_instant){time, time};
  return event(expr);
}

const struct ng_expr *nq_temporal(enum ng_op op, const struct ng_expr *a, const struct ng_expr *b) {
  struct ng_expr *expr = make(op, type_bool, a, b);
  expr->integer = -1;
  expr->event = op == NG_T_OVERLAP && (a->event || b->event);
  return expr;
}

const struct ng_expr *nq_holds(const struct ng_expr *a) {
  return make(NG_HOLDS, type_bool, a, NULL);
}

/* --- thesis 3.7 */

static const char *const names_a_b[] = {"A", "B"};

static const struct ng_expr *processes(const struct ng_query *query) {
  return nq_binary(NG_AND, nq_binary(NG_EQ, nq_domain(query, 0, "Process"), nq_string("P1")),
                   nq_binary(NG_EQ, nq_domain(query, 1, "Process"), nq_string("P2")));
}

const struct ng_query *nq_a_over_b(void) {
  const struct ng_relation *of = nq_iteration();
  struct ng_query *query =
      nq_query("AOverB", 2, names_a_b, (const struct ng_relation *const[]){of, of});
  const struct ng_expr *a = nq_domain(query, 0, "IterNum"), *b = nq_domain(query, 1, "IterNum");
  nq_target(query, "Diff", nq_binary(NG_SUB, b, a));
  query->where =
      nq_binary(NG_AND, processes(query), nq_binary(NG_GT, a, nq_binary(NG_ADD, b, nq_integer(1))));
  return nq_finish(query, NET_PERIOD);
}

const struct ng_query *nq_over(const struct ng_relation *a_over_b) {
  struct ng_query *query = nq_query("Over", 1, (const char *const[]){"AB"}, &a_over_b);
  query->variables[0].outside = false;
  nq_aggregate(query, (struct ng_aggregate){.function = NET_AGG_AVGC, .type = type_temporal});
  const struct ng_expr *hundred = nq_convert(nq_integer(100), type_temporal);
  nq_target(query, "Percent", nq_binary(NG_MUL, nq_aggregate_value(query, 0), hundred));
  return nq_finish(query, NET_PERIOD);
}

const struct ng_query *nq_catch(bool during) {
  const struct ng_relation *of = nq_iteration();
  struct ng_query *query =
      nq_query("Catch", 2, names_a_b, (const struct ng_relation *const[]){of, of});
  query->where =
      nq_binary(NG_AND, processes(query),
                nq_binary(NG_EQ, nq_domain(query, 0, "IterNum"), nq_domain(query, 1, "IterNum")));
  const struct ng_expr *a = nq_variable(query, 0), *b_start = nq_start(nq_variable(query, 1));
  query->when = nq_holds(during ? nq_temporal(NG_T_OVERLAP, a, b_start)
                                : nq_temporal(NG_T_SEQUENCE, nq_start(a), b_start));
  query->at = b_start;
  return nq_finish(query, NET_EVENT);
}
