/* Plans that run: whatever rules are on, and however the rows come in batches, a query gives the
 * same set of tuples. Random queries over random relations, and the three queries of thesis 3.7
 * against loops over all pairs of tuples. Random queries in one network give what each gives alone.
 *
 * Traced records are determinate here (see netgen/README.md on traced-start-only); tuples of period
 * and event relations need not be. Relations that are not determinate are closed for ever, so that
 * nothing stays undecided: what a node that waits has decided by then, and with which bounds, is the
 * engine's affair and not that of the rules. */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "engine/rowmap.h"
#include "tests/unit/netgen_queries.h"
#include "tests/amount.h"

/* --- data: rows of the full layout of each relation */

struct table {
  const struct ng_relation *relation;
  const struct net_layout *layout; /* of the rows: records of traced relations */
  struct net_rows rows;
};

static struct table tables[4];
static size_t table_count;
static uint32_t batch_rows;
static net_chronon last_checkpoint;

struct table_source {
  struct net_source source;
  const struct table *table;
  const struct net_layout *layout;
  struct net_batch_builder builder;
  size_t next;
  bool ended;
  struct net_wanted_test wanted; /* what is not is left out, as a store would */
};

static enum base_status next_batch(struct net_source *base, struct net_batch *ret) {
  struct table_source *source = (struct table_source *)base;
  const struct net_rows *rows = &source->table->rows;
  if (source->ended) return BASE_END;
  net_batch_builder_clear(&source->builder);
  while (source->next < rows->count && !net_batch_builder_full(&source->builder)) {
    const union net_slot *from = net_rows_row(rows, source->next);
    bool closes = rows->marks[source->next] & NET_CLOSES;
    if (!closes && !net_wanted_row(&source->wanted, from)) {
      source->next++;
      continue;
    }
    union net_slot *to = net_batch_builder_add(&source->builder, rows->marks[source->next++]);
    memcpy(to, from, source->layout->first_domain_slot * sizeof *to);
    for (uint32_t i = 0; i < source->layout->field_count; i++) {
      int field = net_layout_find(rows->layout, source->layout->fields[i].name);
      ck_assert_int_ge(field, 0);
      to[source->layout->fields[i].slot] = from[rows->layout->fields[field].slot];
    }
  }
  source->ended = source->next == rows->count;
  net_chronon checkpoint = source->ended ? last_checkpoint : net_rows_row(rows, source->next)[0].i;
  *ret = net_batch_builder_batch(&source->builder, checkpoint);
  return BASE_OK;
}

static void free_source(struct net_source *base) {
  net_batch_builder_done(&((struct table_source *)base)->builder);
  free(base);
}

static enum base_status open_source(void *context, const struct ng_relation *relation,
                                    const struct net_layout *layout, enum net_scan_form form,
                                    const struct net_wanted *wanted, struct net_source **ret) {
  (void)context;
  for (size_t i = 0; i < table_count; i++) {
    if (strcmp(tables[i].relation->name, relation->name) != 0) continue;
    ck_assert_int_eq(form, relation->kind == NG_REL_TRACED ? NET_SCAN_RECORDS : NET_SCAN_TUPLES);
    struct table_source *source = base_xcalloc(1, sizeof *source);
    source->source = (struct net_source){.next = next_batch, .free = free_source};
    source->table = &tables[i];
    source->layout = layout;
    struct net_wanted *copy = BASE_NEW(nq_arena, struct net_wanted);
    *copy = net_wanted_copy(nq_arena, wanted);
    net_wanted_test_init(&source->wanted, nq_arena, copy, tables[i].layout);
    net_batch_builder_init(&source->builder, layout, batch_rows);
    *ret = &source->source;
    return BASE_OK;
  }
  ck_abort_msg("no table");
}

static struct table *add_table(const struct ng_relation *relation) {
  struct table *table = &tables[table_count++];
  table->relation = relation;
  table->layout = relation->records ? relation->records : relation->layout;
  net_rows_init(&table->rows, table->layout);
  return table;
}

static void drop_tables(void) {
  for (size_t i = 0; i < table_count; i++) net_rows_done(&tables[i].rows);
  table_count = 0;
}

/* --- results: a sorted text, one tuple a line */

struct collected {
  struct net_rows rows;
  struct net_rowmap open; /* by id; state: the place in ROWS */
};

static enum base_status collect(void *context, const struct net_batch *batch) {
  struct collected *collected = context;
  struct net_rows *rows = &collected->rows;
  for (uint32_t i = 0; i < batch->count; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    uint8_t marks = net_batch_marks(batch, i);
    uint64_t id = net_batch_id(batch, i);
    bool open = net_row_is_open(rows->layout, row);
    ck_assert_int_eq(id != 0, open || (marks & NET_CLOSES) != 0);
    size_t at = rows->count;
    if (id == 0) {
      net_rows_add_copy(rows, row, marks);
      continue;
    }
    uint32_t place = net_rowmap_find_id(&collected->open, id);
    if (marks & NET_CLOSES) {
      ck_assert_msg(place != NET_NO_ENTRY, "a close without an open row");
      at = *(size_t *)net_rowmap_state(&collected->open, place);
      ck_assert(net_row_same_identity(rows->layout, net_rows_row(rows, at), row));
      ck_assert_int_eq(rows->marks[at], marks & NET_DEFINITE);
      memcpy(net_rows_row(rows, at), row, rows->layout->slot_count * sizeof *row);
      if (!open) net_rowmap_remove(&collected->open, place);
    } else {
      ck_assert_uint_eq(place, NET_NO_ENTRY);
      place = net_rowmap_put_id(&collected->open, id, NULL);
      *(size_t *)net_rowmap_state(&collected->open, place) = at;
      net_rows_add_copy(rows, row, marks);
    }
  }
  return BASE_OK;
}

static int compare_lines(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_row(struct base_buffer *out, const struct net_layout *layout,
                      const union net_slot *row) {
  for (uint32_t slot = 0; slot < layout->first_domain_slot; slot++) {
    base_buffer_puts(out, slot ? " " : "");
    bool open = slot == 2 && row[slot].i == NET_OPEN; /* after the last checkpoint: for ever */
    if (open)
      base_buffer_puts(out, last_checkpoint == NET_FOREVER ? "forever" : "open");
    else
      net_time_print_raw(out, row[slot].i);
  }
  for (uint32_t i = 0; i < layout->field_count; i++) {
    uint32_t slots = net_type_slots(layout->fields[i].type.base), slot = layout->fields[i].slot;
    for (uint32_t k = 0; k < slots; k++) {
      base_buffer_puts(out, k ? " " : " | ");
      if (slots == 4)
        base_buffer_double(out, row[slot + k].f);
      else
        base_buffer_int(out, row[slot + k].i);
    }
  }
}

/* The set of tuples: a definite one wins over an equal one that is not. */
static char *as_text(const struct net_rows *rows) {
  char **lines = base_xcalloc(rows->count + 1, sizeof *lines);
  for (size_t i = 0; i < rows->count; i++) {
    struct base_buffer line = BASE_BUFFER_EMPTY;
    print_row(&line, rows->layout, net_rows_row(rows, i));
    base_buffer_puts(&line, rows->marks[i] & NET_DEFINITE ? " !" : " ?");
    lines[i] = line.data;
  }
  qsort(lines, rows->count, sizeof *lines, compare_lines);
  struct base_buffer out = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < rows->count; i++) { /* '!' sorts before '?' */
    size_t length = strlen(lines[i]) - 1;
    if (i && strncmp(lines[i], lines[i - 1], length) == 0 && strlen(lines[i - 1]) == length + 1) {
      continue;
    }
    base_buffer_printf(&out, "%s\n", lines[i]);
  }
  for (size_t i = 0; i < rows->count; i++) free(lines[i]);
  free(lines);
  base_buffer_puts(&out, "");
  return out.data;
}

static struct ng_plan *plan_of(const struct ng_query *const *queries, size_t count,
                               const struct ng_switches *switches, struct base_diag_sink *diags) {
  struct ng_plan *plan = ng_plan_new(nq_arena, nq_strings, NET_TIMELINE_ABSTRACT);
  for (size_t i = 0; i < count; i++) {
    ck_assert_int_eq(ng_plan_add_query(plan, queries[i], diags), BASE_OK);
  }
  if (switches) ck_assert_int_eq(ng_plan_transform(plan, switches, diags), BASE_OK);
  return plan;
}

static struct net_network *network_of(uint32_t rows_per_batch, struct base_diag_sink *diags) {
  batch_rows = rows_per_batch;
  struct net_network *network = net_network_new(nq_strings, NET_TIMELINE_ABSTRACT, diags);
  net_network_set_checked(network);
  net_network_set_batch_rows(network, rows_per_batch);
  net_network_set_young(network, rows_per_batch); /* a few rows are many where batches are small */
  return network;
}

static void collect_result(struct net_network *network, struct net_node *result,
                           struct collected *ret) {
  net_rows_init(&ret->rows, net_node_layout(result));
  net_rowmap_init(&ret->open, NULL, NET_KEY_ID, 0, NULL, 0, sizeof(size_t));
  struct net_node *sink =
      net_create_display(network, "result", net_node_layout(result), collect, ret);
  ck_assert_int_eq(net_link(result, sink, 0), BASE_OK);
}

static char *text_of(struct collected *collected) {
  char *text = as_text(&collected->rows);
  net_rows_done(&collected->rows);
  net_rowmap_done(&collected->open);
  return text;
}

static char *run(const struct ng_query *const *queries, size_t count,
                 const struct ng_switches *switches, uint32_t rows_per_batch) {
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  struct ng_plan *plan = plan_of(queries, count, switches, &diags);
  struct net_network *network = network_of(rows_per_batch, &diags);
  struct ng_inputs inputs = {.source = open_source};
  struct net_node *result = NULL;
  ck_assert_int_eq(ng_plan_build(plan, network, &inputs, &diags, &result), BASE_OK);
  struct collected collected;
  collect_result(network, result, &collected);
  net_freeze(network);
  ck_assert_int_eq(net_run(network), BASE_OK);
  char *text = text_of(&collected);
  net_network_free(network);
  base_diag_sink_done(&diags);
  return text;
}

enum { TOGETHER = 3 };

/* All QUERIES in one network, each with a result of its own. Returns how many nodes the network has. */
static size_t run_together(const struct ng_query *const queries[TOGETHER],
                           const struct ng_switches *switches, uint32_t rows_per_batch,
                           char *ret[TOGETHER]) {
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  struct net_network *network = network_of(rows_per_batch, &diags);
  struct ng_inputs inputs = {.source = open_source, .shared = ng_shared_new()};
  struct collected collected[TOGETHER];
  for (size_t i = 0; i < TOGETHER; i++) {
    struct ng_plan *plan = plan_of(&queries[i], 1, switches, &diags);
    struct net_node *result = NULL;
    ck_assert_int_eq(ng_plan_build(plan, network, &inputs, &diags, &result), BASE_OK);
    collect_result(network, result, &collected[i]);
  }
  net_freeze(network);
  size_t count = net_node_count(network);
  ck_assert_int_eq(net_run(network), BASE_OK);
  for (size_t i = 0; i < TOGETHER; i++) ret[i] = text_of(&collected[i]);
  net_network_free(network);
  ng_shared_free(inputs.shared);
  base_diag_sink_done(&diags);
  return count;
}

static void explain_failure(const struct ng_query *const *queries, size_t count,
                            const struct ng_switches *switches) {
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  struct ng_plan *plan = ng_plan_new(nq_arena, nq_strings, NET_TIMELINE_ABSTRACT);
  for (size_t i = 0; i < count; i++) {
    if (ng_plan_add_query(plan, queries[i], &diags) != BASE_OK) return;
  }
  struct base_buffer out = BASE_BUFFER_EMPTY;
  ng_plan_explain(plan, NG_EXPLAIN_TEXT, "initial", &out);
  ck_assert_int_eq(ng_plan_transform(plan, switches, &diags), BASE_OK);
  ng_plan_explain(plan, NG_EXPLAIN_TEXT, "transformed", &out);
  fprintf(stderr, "%s", base_buffer_text(&out));
  for (size_t i = 0; i < table_count; i++) {
    fprintf(stderr, "%s:\n", tables[i].relation->name);
    for (size_t j = 0; j < tables[i].rows.count; j++) {
      base_buffer_clear(&out);
      print_row(&out, tables[i].layout, net_rows_row(&tables[i].rows, j));
      fprintf(stderr, "  %s%s\n", base_buffer_text(&out),
              tables[i].rows.marks[j] & NET_DEFINITE ? "" : " ?");
    }
  }
  base_buffer_done(&out);
  base_diag_sink_done(&diags);
}

/* Combinations of rules against none, some of them in batches of a few rows. Returns the number of
 * result characters. */
static size_t check_rules(const struct ng_query *const *queries, size_t count) {
  char *expected = run(queries, count, NULL, NET_BATCH_ROWS);
  size_t length = strlen(expected);
  for (unsigned choice = 0; choice < NQ_RULE_CHOICES; choice++) {
    struct ng_switches switches;
    uint64_t on = nq_rule_choice(choice);
    for (int rule = 0; rule < NG_RULES; rule++) switches.off[rule] = !(on >> rule & 1);
    uint32_t rows_per_batch = choice % 3 == 0 ? 1 + choice % 4 : NET_BATCH_ROWS;
    char *got = run(queries, count, &switches, rows_per_batch);
    if (strcmp(expected, got) != 0) {
      explain_failure(queries, count, &switches);
      ck_abort_msg("rules %" PRIx64 ": expected\n%s\ngot\n%s", on, expected, got);
    }
    free(got);
  }
  free(expected);
  return length;
}

/* --- thesis 3.7 */

static void fill_iteration(struct base_random *random, size_t count) {
  struct table *table = add_table(nq_iteration());
  base_string_id processes[3] = {base_strings_intern_text(nq_strings, "P1"),
                                 base_strings_intern_text(nq_strings, "P2"),
                                 base_strings_intern_text(nq_strings, "P3")};
  int64_t time = 0, iteration[3] = {0, 0, 0};
  for (size_t i = 0; i < count; i++) {
    time += 1 + (int64_t)base_random_below(random, 4);
    size_t process = base_random_below(random, 3);
    union net_slot *row = net_rows_add(&table->rows, NET_DEFINITE);
    row[0].i = row[1].i = time;
    row[2].s = processes[process];
    row[3].i = ++iteration[process];
  }
}

static int64_t stop_of(const struct net_rows *rows, size_t index) {
  for (size_t i = index + 1; i < rows->count; i++) {
    const union net_slot *later = net_rows_row(rows, i);
    if (later[2].s == net_rows_row(rows, index)[2].s) return later[0].i;
  }
  return NET_FOREVER;
}

/* AOverB, or Catch, by trying all pairs. */
static char *by_hand(int which) {
  const struct net_rows *rows = &tables[0].rows;
  const struct ng_query *query = which == 0 ? nq_a_over_b() : nq_catch(which == 2);
  base_string_id p1 = base_strings_intern_text(nq_strings, "P1");
  base_string_id p2 = base_strings_intern_text(nq_strings, "P2");
  struct net_rows result;
  net_rows_init(&result, query->layout);
  for (size_t i = 0; i < rows->count; i++) {
    for (size_t j = 0; j < rows->count; j++) {
      const union net_slot *a = net_rows_row(rows, i), *b = net_rows_row(rows, j);
      if (a[2].s != p1 || b[2].s != p2) continue;
      int64_t start = a[0].i > b[0].i ? a[0].i : b[0].i;
      int64_t a_stop = stop_of(rows, i), b_stop = stop_of(rows, j);
      int64_t stop = a_stop < b_stop ? a_stop : b_stop;
      if (which == 0 && start < stop && a[3].i > b[3].i + 1) {
        union net_slot *row = net_rows_add(&result, NET_DEFINITE);
        row[0].i = row[1].i = start;
        row[2].i = stop == NET_FOREVER && last_checkpoint != NET_FOREVER ? NET_OPEN : stop;
        row[3].i = stop;
        row[4].i = b[3].i - a[3].i;
      }
      bool caught = which == 1 ? a[0].i < b[0].i : a[0].i <= b[0].i && b[0].i < a_stop;
      if (which != 0 && a[3].i == b[3].i && caught) {
        union net_slot *row = net_rows_add(&result, NET_DEFINITE);
        row[0].i = row[1].i = b[0].i;
      }
    }
  }
  char *text = as_text(&result);
  net_rows_done(&result);
  return text;
}

START_TEST(the_queries_of_the_thesis) {
  struct base_random random = {(uint64_t)_i};
  size_t size = 0;
  fill_iteration(&random, 10 + (size_t)_i * 9);
  last_checkpoint = _i % 2 ? NET_FOREVER : 1000;
  const struct ng_query *over[2] = {nq_a_over_b(), NULL};
  over[1] = nq_over(nq_derived(over[0]));
  const struct ng_query *single[3] = {over[0], nq_catch(false), nq_catch(true)};
  for (int which = 0; which < 3; which++) {
    char *expected = by_hand(which), *got = run(&single[which], 1, NULL, 7);
    ck_assert_str_eq(got, expected);
    free(expected);
    free(got);
    size += check_rules(&single[which], 1);
  }
  size += check_rules(over, 2);
  ck_assert_uint_gt(size, 0);
  drop_tables();
}
END_TEST

/* --- random queries */

static int compare_by_time(const void *a, const void *b) {
  const union net_slot *x = a, *y = b;
  return x[0].i < y[0].i ? -1 : x[0].i > y[0].i;
}

static net_chronon soon(struct base_random *random, net_chronon time, bool determinate) {
  return determinate ? time : time + (net_chronon)base_random_below(random, 4);
}

static void fill_random(struct base_random *random, struct table *table, bool determinate) {
  size_t count = 3 + base_random_below(random, 10);
  bool traced = table->relation->kind == NG_REL_TRACED;
  bool period = table->layout->tuple_class == NET_PERIOD;
  int64_t time = 0;
  for (size_t i = 0; i < count; i++) {
    bool definite = traced || determinate || base_random_below(random, 6) > 0;
    union net_slot *row = net_rows_add(&table->rows, definite ? NET_DEFINITE : 0);
    /* one record of an entity at one time: access nodes promise it */
    time = traced ? time + 1 + (int64_t)base_random_below(random, 3)
                  : (int64_t)base_random_below(random, 30);
    row[0].i = time;
    row[1].i = soon(random, time, traced || determinate);
    if (period) {
      row[2].i = row[1].i + 1 + (net_chronon)base_random_below(random, 12);
      row[3].i = soon(random, row[2].i, determinate);
    }
    for (uint32_t f = 0; f < table->layout->field_count; f++) {
      row[table->layout->fields[f].slot].i = (int64_t)base_random_below(random, 3);
    }
  }
  count = table->rows.count;
  qsort(table->rows.rows, count, table->layout->slot_count * sizeof(union net_slot),
        compare_by_time);
}

/* The variables of a query in the other order: the same query, said otherwise. */
static bool turned;

static unsigned variable_at(unsigned count, unsigned index) {
  return turned ? count - 1 - index : index;
}

static unsigned some_variable(struct base_random *random, const struct ng_query *query) {
  unsigned count = (unsigned)query->variable_count;
  return variable_at(count, (unsigned)base_random_below(random, count));
}

static const struct ng_expr *some_domain(struct base_random *random, const struct ng_query *query,
                                         unsigned variable) {
  return nq_domain(query, variable, base_random_below(random, 2) ? "A" : "B");
}

static const struct ng_expr *some_where(struct base_random *random, const struct ng_query *query,
                                        int depth) {
  unsigned v = some_variable(random, query);
  unsigned w = some_variable(random, query);
  uint64_t kind = base_random_below(random, depth > 0 ? 7 : 4);
  const struct ng_expr *a = some_domain(random, query, v), *b = some_domain(random, query, w);
  switch (kind) {
    case 0:
      return nq_binary(NG_EQ, a, nq_integer((int64_t)base_random_below(random, 3)));
    case 1:
      return nq_binary(NG_LE, a, nq_binary(NG_ADD, b, nq_integer(1)));
    case 2:
    case 3:
      return nq_binary(NG_EQ, a, b);
    case 4:
      return nq_not(some_where(random, query, depth - 1));
    case 5:
      return nq_binary(NG_OR, some_where(random, query, depth - 1),
                       some_where(random, query, depth - 1));
    default:
      return nq_binary(NG_AND, some_where(random, query, depth - 1),
                       some_where(random, query, depth - 1));
  }
}

/* An event expression when EVENT. */
static const struct ng_expr *some_temporal(struct base_random *random, const struct ng_query *query,
                                           bool event) {
  unsigned v = some_variable(random, query);
  const struct ng_expr *variable = nq_variable(query, v);
  uint64_t kind = base_random_below(random, event ? 3 : 4);
  if (kind == 0) return nq_stop(variable);
  if (kind <= 2) return variable->event ? variable : nq_start(variable);
  return variable;
}

static const struct ng_expr *some_when(struct base_random *random, const struct ng_query *query,
                                       int depth) {
  static const enum ng_op ops[] = {NG_T_SEQUENCE, NG_T_OVERLAP, NG_T_OVERLAP, NG_T_OVERLAP,
                                   NG_T_PRECEDE,  NG_T_EQUAL,   NG_T_CONTAIN, NG_T_CHOICE};
  uint64_t kind = base_random_below(random, depth > 0 ? 6 : 3);
  if (kind == 3) return nq_not(some_when(random, query, depth - 1));
  if (kind >= 4) {
    return nq_binary(kind == 4 ? NG_OR : NG_AND, some_when(random, query, depth - 1),
                     some_when(random, query, depth - 1));
  }
  const struct ng_expr *a = some_temporal(random, query, false);
  const struct ng_expr *b = some_temporal(random, query, false);
  enum ng_op op = ops[base_random_below(random, sizeof ops / sizeof *ops)];
  if (op == NG_T_CHOICE) {
    const struct ng_expr *choice = nq_temporal(NG_T_CHOICE, a, b);
    return nq_holds(nq_temporal(NG_T_SEQUENCE, choice, some_temporal(random, query, false)));
  }
  return nq_holds(nq_temporal(op, a, b));
}

static void some_aggregate(struct base_random *random, struct ng_query *query) {
  static const enum net_aggregate_function functions[] = {NET_AGG_COUNT, NET_AGG_ANY};
  unsigned variable = some_variable(random, query);
  struct ng_aggregate aggregate = {
      .function = functions[base_random_below(random, 2)],
      .cumulative = base_random_below(random, 3) == 0,
      .variable = variable,
      .type = {NET_INTEGER, 8},
  };
  if (query->variables[variable].relation->layout->tuple_class == NET_EVENT) {
    aggregate.cumulative = true;
  }
  const struct ng_expr **by = BASE_NEW_ARRAY(nq_arena, 1, const struct ng_expr *);
  by[0] = nq_domain(query, variable, "B");
  aggregate.by = by;
  aggregate.by_count = base_random_below(random, 2);
  if (base_random_below(random, 3) == 0) {
    aggregate.where = nq_binary(NG_GT, nq_domain(query, variable, "A"), nq_integer(0));
  }
  unsigned index = nq_aggregate(query, aggregate);
  nq_target(query, "n", nq_aggregate_value(query, index));
}

/* With the targets that TARGETS chooses. */
static const struct ng_query *some_query_with(struct base_random *random,
                                              struct base_random *targets) {
  static const char *const names[] = {"X", "Y", "Z"};
  const struct ng_relation *relations[3];
  unsigned count = 1 + (unsigned)base_random_below(random, 3);
  for (unsigned i = 0; i < count; i++)
    relations[variable_at(count, i)] = tables[base_random_below(random, 3)].relation;
  struct ng_query *query = nq_query(NULL, count, names, relations);
  unsigned events = 0;
  for (unsigned i = 0; i < count; i++) events += relations[i]->layout->tuple_class == NET_EVENT;
  for (uint64_t i = base_random_below(targets, 3); i > 0; i--) {
    unsigned v = some_variable(targets, query);
    nq_target(query, i == 1 ? "p" : "q", nq_domain(query, v, "A"));
  }
  if (base_random_below(random, 2)) query->where = some_where(random, query, 2);
  if (base_random_below(random, 3)) query->when = some_when(random, query, 2);
  if (base_random_below(random, 4) == 0) some_aggregate(random, query);
  uint64_t delimiters = base_random_below(random, 3);
  if (delimiters == 0) query->at = some_temporal(random, query, true);
  if (delimiters == 1 && events == 0) query->start = some_temporal(random, query, true);
  if (delimiters == 1 && events == 0) query->stop = some_temporal(random, query, true);
  if (query->when && events > 1 && !query->at) query->at = some_temporal(random, query, true);
  bool event = query->at || events > 0;
  return nq_finish(query, event ? NET_EVENT : NET_PERIOD);
}

static const struct ng_query *some_query(struct base_random *random) {
  return some_query_with(random, random);
}

static void fill_tables(struct base_random *random, bool determinate) {
  add_table(nq_relation("T", NG_REL_TRACED, 2, 4));
  add_table(nq_relation("P", NG_REL_PERIOD, 2, 4));
  add_table(nq_relation("E", NG_REL_EVENT, 2, 4));
  for (size_t i = 0; i < table_count; i++) fill_random(random, &tables[i], determinate);
  last_checkpoint = !determinate || base_random_below(random, 2) ? NET_FOREVER : 60;
}

static size_t check_random(uint64_t seed, bool determinate) {
  struct base_random random = {seed};
  fill_tables(&random, determinate);
  const struct ng_query *query = some_query(&random);
  size_t length = check_rules(&query, 1);
  drop_tables();
  return length;
}

START_TEST(random_queries_over_determinate_relations) {
  size_t length = 0;
  for (uint64_t i = 0; i < amount(4, 15); i++)
    length += check_random((uint64_t)_i * 1000 + i, true);
  ck_assert_uint_gt(length, 0);
}
END_TEST

START_TEST(random_queries_over_indeterminate_relations) {
  size_t length = 0;
  for (uint64_t i = 0; i < amount(4, 15); i++)
    length += check_random((uint64_t)_i * 1000 + 500 + i, false);
  ck_assert_uint_gt(length, 0);
}
END_TEST

/* A query, the same with its variables in the other order, and one with other targets: what each gives alone it
 * gives in one network with the others, too. Returns how many nodes were saved. */
static size_t check_together(uint64_t seed, bool determinate) {
  static const struct ng_switches none;
  struct base_random random = {seed};
  fill_tables(&random, determinate);
  const struct ng_query *queries[TOGETHER];
  for (unsigned i = 0; i < TOGETHER; i++) {
    struct base_random same = random, targets = {seed + (i == 2)};
    turned = i > 0;
    queries[i] = some_query_with(&same, &targets);
  }
  turned = false;
  size_t nodes = 0, saved = 0;
  for (unsigned choice = 0; choice < 4; choice++) {
    uint32_t rows_per_batch = choice == 0 ? NET_BATCH_ROWS : choice;
    char *got[TOGETHER];
    nodes = run_together(queries, &none, rows_per_batch, got);
    for (size_t i = 0; i < TOGETHER; i++) {
      char *expected = run(&queries[i], 1, &none, rows_per_batch);
      if (strcmp(expected, got[i]) != 0) {
        explain_failure(&queries[i], 1, &none);
        ck_abort_msg("seed %llu, query %zu: expected\n%s\ngot\n%s", (unsigned long long)seed, i,
                     expected, got[i]);
      }
      free(expected);
      free(got[i]);
    }
  }
  for (size_t i = 0; i < TOGETHER; i++) {
    struct base_diag_sink diags;
    base_diag_sink_init(&diags);
    struct ng_plan *plan = plan_of(&queries[i], 1, &none, &diags);
    saved += ng_plan_access_count(plan) + ng_plan_operator_count(plan) + 1;
    base_diag_sink_done(&diags);
  }
  drop_tables();
  return saved - nodes;
}

START_TEST(random_queries_in_one_network) {
  size_t saved = 0;
  for (uint64_t i = 0; i < amount(4, 15); i++)
    saved += check_together((uint64_t)_i * 1000 + 700 + i, i % 2 == 0);
  ck_assert_uint_gt(saved, 2 * amount(4, 15));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("netgen_run");
  TCase *cases = tcase_create("rules");
  tcase_add_checked_fixture(cases, nq_set_up, nq_tear_down);
  tcase_set_timeout(cases, 120);
  tcase_add_loop_test(cases, the_queries_of_the_thesis, 0, 8);
  tcase_add_loop_test(cases, random_queries_over_determinate_relations, 0, 8);
  tcase_add_loop_test(cases, random_queries_over_indeterminate_relations, 0, 8);
  tcase_add_loop_test(cases, random_queries_in_one_network, 0, 8);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
