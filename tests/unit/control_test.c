/* Control of sensors: who asks is counted, control arcs switch objects on and off, and a network that netgen
 * made has exactly the records made that its queries ask for.
 *
 * The sensor of this test stands for a program of nine objects that all do something at every instant: it
 * makes a record of what some watch asks for, and of nothing else, and counts what it is told.          */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/control.h"
#include "engine/triggers.h"
#include "tests/unit/netgen_queries.h"

enum { OBJECTS = 10, WATCHES = 32 };

struct program {
  struct net_sensor sensor;
  const struct net_watch *watches[WATCHES];
  size_t count;
  unsigned enabled, disabled; /* how often it was told */
  struct base_buffer said;    /* "+3 -3 +all" */
};

static struct program program;
static struct net_control *control;

static void say(char sign, const struct net_watch *watch) {
  base_buffer_printf(&program.said, "%s%c", program.said.length ? " " : "", sign);
  if (watch->object_count == 0) base_buffer_puts(&program.said, "all");
  for (uint32_t i = 0; i < watch->object_count; i++)
    base_buffer_printf(&program.said, "%s%d", i ? "/" : "", (int)watch->objects[i].value.i);
}

static void enable(struct net_sensor *sensor, const struct net_watch *watch) {
  ck_assert_ptr_eq(sensor, &program.sensor);
  ck_assert_uint_lt(program.count, WATCHES);
  program.watches[program.count++] = watch;
  program.enabled++;
  say('+', watch);
}

static void disable(struct net_sensor *sensor, const struct net_watch *watch) {
  size_t at = 0;
  ck_assert_ptr_eq(sensor, &program.sensor);
  while (at < program.count && program.watches[at] != watch) at++;
  ck_assert_uint_lt(at, program.count); /* of what was never enabled nothing is said */
  program.watches[at] = program.watches[--program.count];
  program.disabled++;
  say('-', watch);
}

static void sample(struct net_sensor *sensor, const struct net_watch *watch) {
  ck_assert_ptr_eq(sensor, &program.sensor);
  ck_assert_int_eq(watch->every, 0);
  say('?', watch);
}

static const struct net_sensor_class program_class = {enable, disable, sample};

/* What was said since the last time. */
static const char *said(void) {
  static char text[400];
  snprintf(text, sizeof text, "%s", base_buffer_text(&program.said));
  base_buffer_clear(&program.said);
  return text;
}

static bool is_watched(int64_t object, net_chronon time, bool end) {
  for (size_t i = 0; i < program.count; i++) {
    const struct net_watch *watch = program.watches[i];
    bool it = watch->object_count == 0 || watch->objects[0].value.i == object;
    if (watch->every > 0) it = it && (time - watch->origin) % watch->every == 0;
    if (it && !(end && watch->starts_only)) return true;
  }
  return false;
}

static void set_up(void) {
  nq_set_up();
  program = (struct program){.sensor = {&program_class}, .said = BASE_BUFFER_EMPTY};
  control = net_control_new(&program.sensor);
}

static void tear_down(void) {
  net_control_free(control); /* checks that nobody holds anything any more */
  ck_assert_uint_eq(program.count, 0);
  ck_assert_uint_eq(program.enabled, program.disabled);
  base_buffer_done(&program.said);
  nq_tear_down();
}

/* --- counting */

static struct net_watch_object objects_of[OBJECTS];

static struct net_watch watch_of(int64_t object) {
  objects_of[object] = (struct net_watch_object){
      .domain = "Process", .type = {NET_INTEGER, 4}, .value = {.i = object}};
  return (struct net_watch){
      .relation = "ExecutionStatus", .objects = &objects_of[object], .object_count = 1};
}

START_TEST(who_asks_is_counted) {
  struct net_watch three = watch_of(3), four = watch_of(4), all = {.relation = "ExecutionStatus"};
  struct net_control_entry *a = net_control_enable(control, &three);
  struct net_control_entry *b = net_control_enable(control, &three);
  struct net_control_entry *c = net_control_enable(control, &all);
  ck_assert_str_eq(said(), "+3 +all");
  ck_assert_uint_eq(net_control_count(control), 2);
  net_control_disable(control, a);
  ck_assert_str_eq(said(), "");
  net_control_disable(control, b);
  ck_assert_str_eq(said(), "-3");
  /* While it is held nothing is said; in the end only what has changed, first what is new. */
  net_control_hold(control);
  net_control_disable(control, c);
  struct net_control_entry *d = net_control_enable(control, &four);
  struct net_control_entry *e = net_control_enable(control, &three);
  net_control_disable(control, e);
  ck_assert_str_eq(said(), "");
  net_control_release(control);
  ck_assert_str_eq(said(), "+4 -all");
  net_control_hold(control);
  net_control_disable(control, d);
  d = net_control_enable(control, &four);
  net_control_release(control);
  ck_assert_str_eq(said(), "");
  net_control_disable(control, d);
  ck_assert_str_eq(said(), "-4");
}
END_TEST

START_TEST(other_ways_of_watching_are_other_watches) {
  struct net_watch full = watch_of(1), starts = full, clock = full, later = full;
  starts.starts_only = true;
  clock.every = 10;
  later.every = 10;
  later.origin = 5;
  struct net_watch *all[] = {&full, &starts, &clock, &later};
  struct net_control_entry *entries[4];
  for (int i = 0; i < 4; i++) entries[i] = net_control_enable(control, all[i]);
  ck_assert_uint_eq(program.count, 4);
  struct net_watch upper = full;
  upper.relation = "EXECUTIONSTATUS"; /* names are the same in any case */
  struct net_control_entry *same = net_control_enable(control, &upper);
  ck_assert_uint_eq(program.count, 4);
  net_control_disable(control, same);
  for (int i = 0; i < 4; i++) net_control_disable(control, entries[i]);
}
END_TEST

START_TEST(many_objects) {
  enum { MANY = 3000 };
  struct net_control_entry **entries = calloc(MANY, sizeof *entries);
  struct net_watch_object object = {.domain = "Process", .type = {NET_INTEGER, 8}};
  struct net_watch watch = {.relation = "R", .objects = &object, .object_count = 1};
  net_control_hold(control);
  for (int64_t i = 0; i < MANY; i++) {
    object.value.i = i * 1000;
    entries[i] = net_control_enable(control, &watch);
  }
  ck_assert_uint_eq(net_control_count(control), MANY);
  for (int64_t i = 0; i < MANY; i++) {
    ck_assert_int_eq(net_control_watch(entries[i])->objects[0].value.i, i * 1000);
    net_control_disable(control, entries[i]);
  }
  net_control_release(control);
  ck_assert_uint_eq(net_control_count(control), 0);
  ck_assert_str_eq(said(), "");
  free(entries);
}
END_TEST

/* --- the control arc of an access node */

struct arc {
  struct base_diag_sink diags;
  struct net_network *network;
  struct net_node *objects, *access;
};

static enum base_status ignore(void *context, const struct net_batch *batch) {
  (void)context, (void)batch;
  return BASE_OK;
}

static void make_arc(struct arc *arc, enum net_tuple_class tuple_class) {
  struct net_field field = {.name = "Process", .type = {NET_INTEGER, 4}};
  base_diag_sink_init(&arc->diags);
  arc->network = net_network_new(nq_strings, NET_TIMELINE_ABSTRACT, &arc->diags);
  struct net_layout *in = net_layout_new(nq_arena, tuple_class, &field, 1);
  struct net_layout *records = net_layout_new(nq_arena, NET_EVENT, &field, 1);
  in->may_be_open = tuple_class == NET_PERIOD;
  arc->objects = net_create_access(arc->network, "objects", in, NULL, false);
  arc->access = net_create_access(arc->network, "records", records, NULL, false);
  struct net_watch watch = watch_of(0);
  net_access_watch_objects(arc->access, control, &watch, in, in->first_domain_slot);
  ck_assert_int_eq(net_link(arc->objects, arc->access, 0), BASE_OK);
  struct net_node *sink = net_create_display(arc->network, "sink", records, ignore, NULL);
  ck_assert_int_eq(net_link(arc->access, sink, 0), BASE_OK);
  /* no arc back: the objects would depend on what they switch on */
  struct net_node *other = net_create_access(arc->network, "other", in, NULL, false);
  ck_assert_int_eq(net_link(arc->access, other, 0), BASE_OK);
  ck_assert_int_eq(net_link(other, arc->objects, 0), BASE_USER);
  net_freeze(arc->network);
}

static void free_arc(struct arc *arc) {
  net_network_free(arc->network);
  base_diag_sink_done(&arc->diags);
}

static void push(struct arc *arc, const union net_slot *rows, const uint8_t *marks, uint32_t count,
                 net_chronon checkpoint) {
  struct net_batch batch = {.layout = net_node_layout(arc->objects),
                            .rows = rows,
                            .marks = marks,
                            .count = count,
                            .checkpoint = checkpoint,
                            .bound = NET_BEGINNING};
  ck_assert_int_eq(net_access_push(arc->objects, &batch), BASE_OK);
}

START_TEST(periods_switch_on_and_off) {
  static const uint8_t marks[] = {NET_DEFINITE, 0, NET_DEFINITE};
  static const uint8_t closes[] = {NET_DEFINITE | NET_CLOSES};
  struct arc arc;
  make_arc(&arc, NET_PERIOD);
  /* 1 opens; 2 from 0 to [8, 12], perhaps; 3 was over before anybody knew */
  const union net_slot first[] = {
      {.i = 2}, {.i = 2}, {.i = NET_OPEN}, {.i = NET_FOREVER}, {.i = 1}, /* */
      {.i = 0}, {.i = 0}, {.i = 8},        {.i = 12},          {.i = 2}, /* */
      {.i = 0}, {.i = 0}, {.i = 5},        {.i = 5},           {.i = 3}};
  push(&arc, first, marks, 3, 5);
  ck_assert_str_eq(said(), "+1 +2");
  push(&arc, NULL, NULL, 0, 11); /* 2 perhaps goes on */
  ck_assert_str_eq(said(), "");
  push(&arc, NULL, NULL, 0, 12);
  ck_assert_str_eq(said(), "-2");
  /* 1 stops and starts again: that is not worth a word */
  const union net_slot stop[] = {{.i = 2}, {.i = 2}, {.i = 14}, {.i = 14}, {.i = 1}};
  const union net_slot again[] = {{.i = 14}, {.i = 14}, {.i = 20}, {.i = 20}, {.i = 1}};
  push(&arc, stop, closes, 1, 13);
  push(&arc, again, marks, 1, 14);
  ck_assert_str_eq(said(), "");
  push(&arc, NULL, NULL, 0, 20);
  ck_assert_str_eq(said(), "-1");
  /* for ever: until the network goes */
  const union net_slot ever[] = {
      {.i = 20}, {.i = 20}, {.i = NET_FOREVER}, {.i = NET_FOREVER}, {.i = 4}};
  push(&arc, ever, marks, 1, NET_FOREVER);
  ck_assert_str_eq(said(), "+4");
  ck_assert_uint_eq(net_node_stats(arc.access).state_rows, 1);
  free_arc(&arc);
  ck_assert_str_eq(said(), "-4");
}
END_TEST

START_TEST(events_switch_on) {
  static const uint8_t marks[] = {NET_DEFINITE, NET_DEFINITE, NET_DEFINITE};
  struct arc arc;
  make_arc(&arc, NET_EVENT);
  const union net_slot rows[] = {{.i = 1}, {.i = 1}, {.i = 0}, {.i = 2}, {.i = 2},
                                 {.i = 7}, {.i = 3}, {.i = 3}, {.i = 0}};
  push(&arc, rows, marks, 3, 3);
  ck_assert_str_eq(said(), "+0 +7");
  push(&arc, rows, marks, 3, 100);
  ck_assert_str_eq(said(), "");
  ck_assert_uint_eq(net_node_stats(arc.access).state_rows, 2);
  free_arc(&arc);
}
END_TEST

/* --- queries */

/* Everything that is built, and what is pushed into it. */
struct machine {
  struct base_diag_sink diags;
  struct net_network *network;
  struct ng_shared *shared;
  struct net_node *accesses[8]; /* of relations with a sensor */
  struct net_node *others[8];
  size_t access_count, other_count;
  size_t produced, shown;
};

static enum base_status nothing_stored(void *context, const struct ng_relation *relation,
                                       const struct net_layout *layout, enum net_scan_form form,
                                       const struct net_wanted *wanted, struct net_source **ret) {
  (void)context, (void)relation, (void)layout, (void)form, (void)wanted;
  *ret = NULL;
  return BASE_OK;
}

static void note_access(void *context, const struct ng_relation *relation, enum net_scan_form form,
                        struct net_node *access) {
  struct machine *machine = context;
  (void)form;
  if (relation->sensor)
    machine->accesses[machine->access_count++] = access;
  else
    machine->others[machine->other_count++] = access;
}

static struct net_control *control_of(void *context, const struct ng_relation *relation) {
  (void)context;
  ck_assert_ptr_nonnull(relation->sensor);
  return control;
}

static enum base_status count_shown(void *context, const struct net_batch *batch) {
  ((struct machine *)context)->shown += batch->count;
  return BASE_OK;
}

static void add_query(struct machine *machine, const struct ng_query *query, uint64_t off) {
  struct ng_switches switches = {{false}};
  for (unsigned i = 0; i < NG_RULES; i++) switches.off[i] = off >> i & 1;
  struct ng_plan *plan = ng_plan_new(nq_arena, nq_strings, NET_TIMELINE_ABSTRACT);
  ck_assert_int_eq(ng_plan_add_query(plan, query, &machine->diags), BASE_OK);
  ck_assert_int_eq(ng_plan_transform(plan, &switches, &machine->diags), BASE_OK);
  struct ng_inputs inputs = {.context = machine,
                             .source = nothing_stored,
                             .made = note_access,
                             .control = control_of,
                             .shared = machine->shared};
  struct net_node *result = NULL;
  ck_assert_int_eq(ng_plan_build(plan, machine->network, &inputs, &machine->diags, &result),
                   BASE_OK);
  struct net_node *sink =
      net_create_display(machine->network, "result", net_node_layout(result), count_shown, machine);
  ck_assert_int_eq(net_link(result, sink, 0), BASE_OK);
}

static void start(struct machine *machine, bool shares) {
  *machine = (struct machine){.shared = shares ? ng_shared_new() : NULL};
  base_diag_sink_init(&machine->diags);
  machine->network = net_network_new(nq_strings, NET_TIMELINE_ABSTRACT, &machine->diags);
}

static void stop(struct machine *machine) {
  net_network_free(machine->network);
  ng_shared_free(machine->shared);
  base_diag_sink_done(&machine->diags);
}

/* The records of one instant that somebody asks for: "Done" by even objects, "Run" by odd ones. They go to
 * all access nodes, whoever they were made for. */
static void run_program(struct machine *machine, net_chronon time) {
  for (size_t a = 0; a < machine->access_count; a++) {
    const struct net_layout *layout = net_node_layout(machine->accesses[a]);
    struct net_batch_builder builder;
    net_batch_builder_init(&builder, layout, OBJECTS);
    for (int64_t object = 0; object < OBJECTS; object++) {
      if (!is_watched(object, time, false)) continue;
      union net_slot *row = net_batch_builder_add(&builder, NET_DEFINITE);
      row[0].i = row[1].i = time;
      for (uint32_t f = 0; f < layout->field_count; f++) {
        union net_slot *slot = &row[layout->fields[f].slot];
        if (strcmp(layout->fields[f].name, "State") == 0)
          slot->s = base_strings_intern_text(nq_strings, object % 2 ? "Run" : "Done");
        else
          slot->i = object;
      }
      machine->produced += a == 0;
    }
    struct net_batch batch = net_batch_builder_batch(&builder, time + 1);
    ck_assert_int_eq(net_access_push(machine->accesses[a], &batch), BASE_OK);
    net_batch_builder_done(&builder);
  }
}

static void push_process(struct machine *machine, int64_t process, net_chronon start,
                         net_chronon until, uint8_t marks, net_chronon checkpoint) {
  const union net_slot row[] = {{.i = start},
                                {.i = start},
                                {.i = until},
                                {.i = until == NET_OPEN ? NET_FOREVER : until},
                                {.i = process}};
  struct net_batch batch = {.layout = net_node_layout(machine->others[0]),
                            .rows = row,
                            .marks = &marks,
                            .count = process < 0 ? 0 : 1,
                            .checkpoint = checkpoint,
                            .bound = NET_BEGINNING};
  ck_assert_int_eq(net_access_push(machine->others[0], &batch), BASE_OK);
}

/* Figure 7-3: only the processes in F are watched, while they are in it. */
START_TEST(figure_7_3) {
  struct machine machine;
  start(&machine, _i);
  add_query(&machine, nq_stop_running(true), 0);
  net_freeze(machine.network);
  ck_assert_uint_eq(machine.access_count, 1);
  ck_assert_str_eq(said(), "");
  run_program(&machine, 0);
  ck_assert_uint_eq(machine.produced, 0);
  push_process(&machine, 4, 1, NET_OPEN, NET_DEFINITE, 1);
  push_process(&machine, 5, 1, NET_OPEN, NET_DEFINITE, 1);
  ck_assert_str_eq(said(), "+4 +5");
  ck_assert(program.watches[0]->starts_only); /* figure 7-2 c */
  for (net_chronon time = 1; time < 4; time++) run_program(&machine, time);
  ck_assert_uint_eq(machine.produced, 6);
  push_process(&machine, 4, 1, 4, NET_DEFINITE | NET_CLOSES, 4);
  ck_assert_str_eq(said(), "-4");
  for (net_chronon time = 4; time < 6; time++) run_program(&machine, time);
  ck_assert_uint_eq(machine.produced, 8);
  ck_assert_uint_eq(machine.shown, 3); /* 4 was Done at 1, 2 and 3; 5 never was */
  stop(&machine);
  ck_assert_str_eq(said(), "-5");
}
END_TEST

/* With the rule off, or the join that it needs, all is watched: the universal relation. */
START_TEST(without_control_arcs) {
  static const uint64_t off[] = {NQ_RULE(CONTROL_ARCS), NQ_RULE(JOINS), NQ_ALL_RULES};
  struct machine machine;
  start(&machine, false);
  add_query(&machine, nq_stop_running(true), off[_i]);
  net_freeze(machine.network);
  ck_assert_str_eq(said(), "+all");
  push_process(&machine, 4, 1, NET_OPEN, NET_DEFINITE, 1);
  for (net_chronon time = 1; time < 4; time++) run_program(&machine, time);
  ck_assert_uint_eq(machine.produced, 3 * OBJECTS);
  push_process(&machine, 4, 1, 4, NET_DEFINITE | NET_CLOSES, 4);
  ck_assert_uint_eq(machine.shown, 3); /* the result is the same */
  stop(&machine);
}
END_TEST

/* ExecutionStatus of the processes A and B. */
static const struct ng_query *states_of(int64_t a, int64_t b) {
  static const char *const names[] = {"E"};
  const struct ng_relation *relation = nq_execution_status();
  struct ng_query *query = nq_query("States", 1, names, &relation);
  nq_target(query, "State", nq_domain(query, 0, "State"));
  query->where = nq_binary(NG_OR, nq_binary(NG_EQ, nq_domain(query, 0, "Process"), nq_integer(a)),
                           nq_binary(NG_EQ, nq_domain(query, 0, "Process"), nq_integer(b)));
  return nq_finish(query, NET_PERIOD);
}

START_TEST(queries_share_what_is_watched) {
  struct machine machine, other;
  start(&machine, _i);
  add_query(&machine, states_of(2, 3), 0);
  ck_assert_str_eq(said(), "+2 +3");
  add_query(&machine, states_of(3, 8), 0);
  ck_assert_str_eq(said(), "+8");
  net_freeze(machine.network);
  for (net_chronon time = 0; time < 5; time++) run_program(&machine, time);
  ck_assert_uint_eq(machine.produced, 5 * 3);
  /* A network that takes this one's place with the first query alone. */
  net_control_hold(control);
  stop(&machine);
  start(&other, _i);
  add_query(&other, states_of(2, 3), 0);
  net_control_release(control);
  ck_assert_str_eq(said(), "-8");
  stop(&other);
}
END_TEST

START_TEST(nothing_is_asked_for_what_cannot_be) {
  struct machine machine;
  start(&machine, false);
  struct ng_query *query = (struct ng_query *)states_of(1, 1);
  query->where = nq_binary(NG_AND, query->where,
                           nq_binary(NG_EQ, nq_domain(query, 0, "Process"), nq_integer(2)));
  add_query(&machine, query, 0);
  ck_assert_str_eq(said(), "");
  stop(&machine);
}
END_TEST

/* What is read for its costs is read as it comes: nobody switches a sensor on to see what it costs, and what
 * is asked for the query itself is no more than it would be without. */
START_TEST(costs_are_not_asked_for) {
  static const uint32_t first[] = {0};
  static const struct ng_sensor sensor = {.objects = first, .object_count = 1};
  const struct net_field fields[] = {{.name = "Process", .type = {NET_STRING, 20}}};
  struct ng_relation iteration = *nq_iteration();
  struct ng_relation request = {.name = "Request",
                                .kind = NG_REL_EVENT,
                                .layout = net_layout_new(nq_arena, NET_EVENT, fields, 1)};
  iteration.sensor = request.sensor = &sensor;
  const struct ng_relation *const relations[] = {&iteration};
  struct ng_query *query = nq_query("Q", 1, (const char *const[]){"I"}, relations);
  nq_target(query, "IterNum", nq_domain(query, 0, "IterNum"));
  query->where = nq_binary(NG_EQ, nq_domain(query, 0, "Process"), nq_string("P1"));
  struct ng_query compensated = *nq_finish(query, NET_PERIOD);
  struct ng_variable variables[] = {
      query->variables[0],
      {.name = "Iteration", .relation = &iteration, .costs = true, .cost = 2},
      {.name = "Request", .relation = &request, .costs = true, .cost = 1}};
  compensated.variables = variables;
  compensated.variable_count = 3;
  struct machine machine;
  start(&machine, _i == 2);
  add_query(&machine, &compensated, _i == 1 ? NQ_ALL_RULES : 0);
  net_freeze(machine.network);
  ck_assert_uint_eq(machine.access_count, 3);
  ck_assert_uint_eq(program.count, 1);
  ck_assert_str_eq(program.watches[0]->relation, "Iteration");
  ck_assert_uint_eq(program.watches[0]->object_count, _i == 1 ? 0 : 1);
  stop(&machine);
  ck_assert_uint_eq(program.count, 0);
}
END_TEST

/* Figure 7-2 b: samples of two processes, when the clock ticks. */
START_TEST(samples_at_ticks) {
  struct machine machine;
  start(&machine, false);
  add_query(&machine, nq_load_at_ticks(), 0);
  net_freeze(machine.network);
  ck_assert_str_eq(said(), "+3 +5");
  for (net_chronon time = 0; time < 30; time++)
    for (int64_t object = 0; object < OBJECTS; object++)
      machine.produced += is_watched(object, time, false);
  ck_assert_uint_eq(machine.produced, 2 * 3);
  stop(&machine);
}
END_TEST

/* Thesis 6.3: a sample of the process that an event names, whenever one comes. */
START_TEST(samples_at_events) {
  struct machine machine;
  struct net_triggers *triggers = net_control_triggers(control);
  start(&machine, false);
  add_query(&machine, nq_load_at_events(), 0);
  net_freeze(machine.network);
  ck_assert_str_eq(said(), "+all");
  ck_assert_int_eq(program.watches[0]->every, 0);
  ck_assert_uint_eq(machine.other_count, 1);
  struct net_node *events = machine.others[0];
  const struct net_layout *layout = net_node_layout(events);
  union net_slot rows[12] = {{.i = 0}};
  ck_assert_uint_eq(layout->slot_count, 3);
  for (int i = 0; i < 4; i++) {
    rows[3 * i].i = rows[3 * i + 1].i = i;
    rows[3 * i + 2].i = i == 3 ? 7 : 4;
  }
  const uint8_t marks[4] = {NET_DEFINITE, 0, NET_DEFINITE, NET_DEFINITE};
  struct net_batch batch = {.layout = layout,
                            .rows = rows,
                            .marks = marks,
                            .count = 4,
                            .checkpoint = 4,
                            .bound = NET_BEGINNING};
  /* What is stored has been there before. */
  net_triggers_replay(triggers, 3);
  ck_assert_int_eq(net_access_push(events, &batch), BASE_OK);
  net_triggers_live(triggers);
  net_triggers_tell(triggers);
  ck_assert_str_eq(said(), "?7");
  for (int i = 0; i < 4; i++) rows[3 * i].i = rows[3 * i + 1].i = 10 + i;
  batch.checkpoint = 20;
  ck_assert_int_eq(net_access_push(events, &batch), BASE_OK);
  ck_assert_str_eq(said(), "");
  net_triggers_tell(triggers);
  ck_assert_str_eq(said(), "?4 ?7");
  net_triggers_tell(triggers);
  ck_assert_str_eq(said(), "");
  stop(&machine);
}
END_TEST

START_TEST(much_is_asked_for_once) {
  enum { MANY = 1000 };
  struct net_triggers *triggers = net_control_triggers(control);
  struct net_watch_object object = {.domain = "Process", .type = {NET_INTEGER, 8}};
  struct net_watch watch = {.relation = "R", .objects = &object, .object_count = 1};
  for (int round = 0; round < 3; round++)
    for (int64_t i = 0; i < MANY; i++) {
      object.value.i = i;
      net_trigger(triggers, &watch, i);
    }
  net_triggers_tell(triggers);
  size_t asked = 0;
  for (const char *at = base_buffer_text(&program.said); *at; at++) asked += *at == '?';
  ck_assert_uint_eq(asked, MANY);
  base_buffer_clear(&program.said);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("control");
  TCase *test = tcase_create("control");
  tcase_add_checked_fixture(test, set_up, tear_down);
  tcase_add_test(test, who_asks_is_counted);
  tcase_add_test(test, other_ways_of_watching_are_other_watches);
  tcase_add_test(test, many_objects);
  tcase_add_test(test, periods_switch_on_and_off);
  tcase_add_test(test, events_switch_on);
  tcase_add_loop_test(test, figure_7_3, 0, 2);
  tcase_add_loop_test(test, without_control_arcs, 0, 3);
  tcase_add_loop_test(test, queries_share_what_is_watched, 0, 2);
  tcase_add_test(test, nothing_is_asked_for_what_cannot_be);
  tcase_add_loop_test(test, costs_are_not_asked_for, 0, 3);
  tcase_add_test(test, samples_at_ticks);
  tcase_add_test(test, samples_at_events);
  tcase_add_test(test, much_is_asked_for_once);
  suite_add_tcase(suite, test);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
