/* Plans: their shapes before and after each rule, what is refused, and that they build.
 *
 * The texts of explain are compared with netgen_golden.h, which `netgen_test print` writes anew:
 *   netgen_test print > tests/unit/netgen_golden.h      (then read the diff) */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netgen/expr.h"
#include "tests/unit/netgen_golden.h"
#include "tests/unit/netgen_rule_queries.h"
#include "tests/amount.h"

static struct base_diag_sink diags;

static void set_up(void) {
  nq_set_up();
  base_diag_sink_init(&diags);
}

static void tear_down(void) {
  base_diag_sink_done(&diags);
  nq_tear_down();
}

static struct ng_plan *new_plan(void) {
  return ng_plan_new(nq_arena, nq_strings, NET_TIMELINE_ABSTRACT);
}

/* No ck_assert here: this runs while goldens are printed, too. */
static void add(struct ng_plan *plan, const struct ng_query *query) {
  BASE_CHECK(ng_plan_add_query(plan, query, &diags) == BASE_OK, "test-query-accepted");
}

static struct ng_plan *plan_of(const struct ng_query *query) {
  struct ng_plan *plan = new_plan();
  if (query_view) {
    add(plan, query_view);
    ng_plan_make_inner(plan);
    query_view = NULL;
  }
  add(plan, query);
  return plan;
}

/* RULES as bits. */
static void transform(struct ng_plan *plan, uint64_t rules) {
  struct ng_switches switches;
  for (int i = 0; i < NG_RULES; i++) switches.off[i] = !(rules >> i & 1);
  BASE_CHECK(ng_plan_transform(plan, &switches, &diags) == BASE_OK, "test-plan-transformed");
}

#define KEYS         NQ_RULE(GROUP_KEYS)
#define FOLDING      NQ_RULE(CONSTANT_FOLDING)
#define FORMS        NQ_RULE(NORMAL_FORMS)
#define DISTINCT     NQ_RULE(DISTINCT_TUPLES)
#define SPECULATION  NQ_RULE(SPECULATION)
#define ORDER        NQ_RULE(PRODUCT_ORDER)
#define DOWN         NQ_RULE(PREDICATES_DOWN)
#define PRODUCTS     NQ_RULE(PRODUCT_RULE)
#define COMBINED     NQ_RULE(COMBINED_EVENTS)
#define PERIODS      NQ_RULE(COMBINED_PERIODS)
#define PARTIAL      NQ_RULE(PARTIAL_OVERLAP)
#define JOINS        NQ_RULE(JOINS)
#define COMMON       NQ_RULE(COMMON_PERIOD)
#define UNUSED       NQ_RULE(UNUSED_DOMAINS)
#define EQUAL        NQ_RULE(EQUAL_VALUES)
#define MERGED       NQ_RULE(MERGED_PROJECTIONS)
#define EXPRESSIONS  NQ_RULE(COMMON_EXPRESSIONS)
#define STORED       NQ_RULE(STORED_PERIODS)
#define STARTS       NQ_RULE(TRACED_START_ONLY)
#define COMMON_NODES NQ_RULE(COMMON_SUBNETWORKS)
#define ARCS         NQ_RULE(CONTROL_ARCS)
#define TRIGGERED    NQ_RULE(TRIGGERED_SAMPLES)
#define SAMPLES      NQ_RULE(CLOCK_SAMPLES)
#define FUNCTIONS    NQ_RULE(MERGED_AGGREGATES)
#define CONTROL      NQ_RULE(ACCESS_CONTROL)
#define SOURCE       NQ_RULE(SELECTIONS_AT_SOURCE)
#define SEMI         NQ_RULE(SEMI_JOINS)
#define SELF         NQ_RULE(SELF_JOINS)
#define ASKED        NQ_RULE(AGGREGATES_AT_EVENTS)
#define ORDERED      NQ_RULE(TEMPORAL_ORDER)
#define ALL          NQ_ALL_RULES

static struct ng_plan *thesis_plan(bool during) {
  struct ng_plan *plan = new_plan();
  const struct ng_query *a_over_b = nq_a_over_b();
  add(plan, a_over_b);
  add(plan, nq_over(nq_derived(a_over_b)));
  add(plan, nq_catch(during));
  ng_plan_add_display(plan, "Over");
  ng_plan_add_display(plan, "catch");
  return plan;
}

/* --- goldens */

struct golden {
  const char *name;
  const struct ng_query *(*query)(void); /* NULL: the plan of thesis 3.7 */
  bool during;
  uint64_t rules;
  bool over_store;
  const char *text;
};

#define GOLDEN(NAME, QUERY, DURING, RULES) \
  { #NAME, QUERY, DURING, RULES, false, golden_##NAME }
#define GOLDEN_OVER_STORE(NAME, QUERY, RULES) \
  { #NAME, QUERY, false, RULES, true, golden_##NAME }

static const struct golden goldens[] = {
    GOLDEN(thesis_initial, NULL, false, 0),
    GOLDEN(thesis_during_initial, NULL, true, 0),
    GOLDEN(thesis_predicates_down, NULL, false, DOWN),
    GOLDEN(thesis_product_rule, NULL, true, PRODUCTS),
    GOLDEN(folded_initial, query_folded, false, 0),
    GOLDEN(folded_constant_folding, query_folded, false, FOLDING),
    GOLDEN(turned_initial, query_turned, false, 0),
    GOLDEN(turned_normal_forms, query_turned, false, FORMS),
    GOLDEN(turned_folded, query_turned, false, FOLDING | FORMS),
    GOLDEN(keys_initial, query_keys, false, 0),
    GOLDEN(keys_joins, query_keys, false, JOINS),
    GOLDEN(keys_final, query_keys, false, ALL),
    GOLDEN(halves_initial, query_halves, false, 0),
    GOLDEN(halves_common_expressions, query_halves, false, EXPRESSIONS),
    GOLDEN(halves_final, query_halves, false, ALL),
    GOLDEN_OVER_STORE(next_before, query_next, ALL & ~SPECULATION),
    GOLDEN_OVER_STORE(next_speculation, query_next, ALL),
    GOLDEN(lasting_initial, query_lasting, false, 0),
    GOLDEN(lasting_distinct_tuples, query_lasting, false, DISTINCT),
    GOLDEN(within_initial, query_within, false, 0),
    GOLDEN(within_partial_overlap, query_within, false, PARTIAL),
    GOLDEN(within_final, query_within, false, ALL),
    GOLDEN(three_events_before, query_three_events, false, ALL & ~COMBINED),
    GOLDEN(three_events_combined, query_three_events, false, ALL),
    GOLDEN(near_product_rule, query_near, false, PRODUCTS),
    GOLDEN(near_partial_overlap, query_near, false, PRODUCTS | PARTIAL),
    GOLDEN(near_final, query_near, false, ALL),
    GOLDEN(inside_initial, query_inside, false, 0),
    GOLDEN(inside_partial_overlap, query_inside, false, PARTIAL),
    GOLDEN(stop_within_before, query_stop_within, false, ALL & ~COMBINED),
    GOLDEN(stop_within_combined, query_stop_within, false, ALL),
    GOLDEN(common_within_final, query_common_within, false, ALL),
    GOLDEN_OVER_STORE(common_within_closed, query_common_within, ALL),
    GOLDEN_OVER_STORE(count_at_stop_before, query_count_at_stop, ALL & ~COMBINED),
    GOLDEN_OVER_STORE(count_at_stop_combined, query_count_at_stop, ALL),
    GOLDEN_OVER_STORE(centre_before, query_centre, ALL & ~PERIODS),
    GOLDEN_OVER_STORE(centre_combined, query_centre, ALL),
    GOLDEN_OVER_STORE(span_overlaps_before, query_span_overlaps, ALL & ~PERIODS),
    GOLDEN_OVER_STORE(span_overlaps_combined, query_span_overlaps, ALL),
    GOLDEN_OVER_STORE(shifted_before, query_shifted, ALL & ~SPECULATION),
    GOLDEN_OVER_STORE(shifted_combined, query_shifted, ALL),
    GOLDEN_OVER_STORE(apart_before, query_apart, ALL & ~SEMI),
    GOLDEN_OVER_STORE(apart_semi_joins, query_apart, ALL),
    GOLDEN(apart_standing, query_apart, false, ALL),
    GOLDEN(met_before, query_met, false, ALL & ~SEMI),
    GOLDEN(met_semi_joins, query_met, false, ALL),
    GOLDEN(soon_before, query_soon, false, ALL & ~COMBINED),
    GOLDEN(soon_combined, query_soon, false, ALL),
    GOLDEN(counts_at_stop_before, query_counts_at_stop, false, ALL & ~COMBINED),
    GOLDEN(counts_at_stop_combined, query_counts_at_stop, false, ALL),
    GOLDEN(meets_partial_overlap, query_meets, false, PARTIAL),
    GOLDEN(either_initial, query_either, false, 0),
    GOLDEN(either_partial_overlap, query_either, false, PARTIAL),
    GOLDEN(star_initial, query_star, false, 0),
    GOLDEN(star_product_rule, query_star, false, PRODUCTS),
    GOLDEN(star_product_order, query_star, false, ORDER),
    GOLDEN(star_final, query_star, false, ALL),
    GOLDEN(chain_initial, query_chain, false, 0),
    GOLDEN(chain_product_rule, query_chain, false, PRODUCTS),
    GOLDEN(chain_final, query_chain, false, ALL),
    GOLDEN(common_initial, query_common, false, 0),
    GOLDEN(common_product_rule, query_common, false, PRODUCTS),
    GOLDEN(keyed_initial, query_keyed, false, 0),
    GOLDEN(late_pair_before, query_late_pair, false, ALL & ~ORDER),
    GOLDEN(late_pair_final, query_late_pair, false, ALL),
    GOLDEN(keyed_product_order, query_keyed, false, ORDER),
    GOLDEN(of_view_initial, query_of_view, false, 0),
    GOLDEN(of_view_predicates_down, query_of_view, false, DOWN),
    GOLDEN(of_view_merged_projections, query_of_view, false, MERGED),
    GOLDEN(of_view_equal_values, query_of_view, false, DOWN | EQUAL),
    GOLDEN(of_view_final, query_of_view, false, ALL),
    GOLDEN(of_groups_initial, query_of_groups, false, 0),
    GOLDEN(of_groups_predicates_down, query_of_groups, false, KEYS | DOWN),
    GOLDEN(of_segments_before, query_of_segments, false, ALL & ~ORDERED),
    GOLDEN(of_segments_temporal_order, query_of_segments, false, ALL),
    GOLDEN(thesis_partial_overlap, NULL, false, PARTIAL),
    GOLDEN(thesis_joins, NULL, false, JOINS),
    GOLDEN(thesis_common_period, NULL, false, COMMON),
    GOLDEN(thesis_unused_domains, NULL, false, UNUSED),
    GOLDEN(thesis_starts_only, NULL, true, ALL & ~JOINS),
    GOLDEN(thesis_common_subnetworks, NULL, false, COMMON_NODES),
    GOLDEN(pairs_initial, query_pairs, false, 0),
    GOLDEN(pairs_common_subnetworks, query_pairs, false, COMMON_NODES),
    GOLDEN(pairs_final, query_pairs, false, ALL),
    GOLDEN(twice_final, query_twice, false, ALL),
    GOLDEN(several_before, query_several, false, ALL & ~FUNCTIONS),
    GOLDEN(several_final, query_several, false, ALL),
    GOLDEN(thesis_final, NULL, false, ALL),
    GOLDEN(thesis_during_final, NULL, true, ALL),
    GOLDEN(single_initial, query_single, false, 0),
    GOLDEN(event_initial, query_event, false, 0),
    GOLDEN(began_unused_domains, query_began, false, UNUSED),
    GOLDEN(began_starts_only, query_began, false, UNUSED | STARTS),
    GOLDEN(event_and_period_initial, query_event_and_period, false, 0),
    GOLDEN(failing_initial, query_failing, false, 0),
    GOLDEN(failing_final, query_failing, false, ALL),
    GOLDEN(two_failing_initial, query_two_failing, false, 0),
    GOLDEN(counts_initial, query_counts, false, 0),
    GOLDEN(counts_final, query_counts, false, ALL),
    GOLDEN(named_initial, query_named, false, 0),
    GOLDEN(named_final, query_named, false, KEYS),
    GOLDEN(named_ever_initial, query_named_ever, false, 0),
    GOLDEN(named_ever_final, query_named_ever, false, KEYS),
    GOLDEN(count_at_initial, query_count_at, false, 0),
    GOLDEN(count_at_final, query_count_at, false, ALL),
    GOLDEN(implied_initial, query_implied, false, 0),
    GOLDEN(implied_final, query_implied, false, ALL),
    GOLDEN_OVER_STORE(implied_stored_periods, query_implied, STORED),
    GOLDEN_OVER_STORE(pairs_stored_periods, query_pairs, ALL & ~SELF),
    GOLDEN_OVER_STORE(pairs_self_joins, query_pairs, ALL),
    GOLDEN_OVER_STORE(shares_before, query_shares, ALL & ~ASKED),
    GOLDEN_OVER_STORE(shares_at_events, query_shares, ALL),
    GOLDEN(bounded_down, query_bounded, false, DOWN),
    GOLDEN(bounded_access_control, query_bounded, false, DOWN | CONTROL),
    GOLDEN(bounded_final, query_bounded, false, ALL),
    GOLDEN(figure_7_3_a, query_stop_running, false, 0),
    GOLDEN(figure_7_3_b, query_stop_running, false, DOWN | PRODUCTS | JOINS | UNUSED | ARCS),
    GOLDEN(figure_7_3_c, query_stop_running, false, ALL),
    GOLDEN(fed_access_control, query_fed, false, CONTROL),
    GOLDEN(fed_final, query_fed, false, ALL),
    GOLDEN(fed_process_final, query_fed_process, false, ALL),
    GOLDEN(fed_by_process_final, query_fed_by_process, false, ALL),
    GOLDEN(fed_events_at_source, query_fed_events, false, DOWN | SOURCE),
    GOLDEN(fed_events_final, query_fed_events, false, ALL),
    GOLDEN(fed_events_counted_final, query_fed_events_counted, false, ALL),
    GOLDEN(fed_and_found_final, query_fed_and_found, false, ALL),
    GOLDEN(fed_by_process_and_found_final, query_fed_by_process_and_found, false, ALL),
    GOLDEN(load_initial, nq_load_at_ticks, false, 0),
    GOLDEN(load_samples, nq_load_at_ticks, false, SAMPLES),
    GOLDEN(load_final, nq_load_at_ticks, false, ALL),
    GOLDEN(load_at_events_triggered, nq_load_at_events, false, TRIGGERED | JOINS),
    GOLDEN(load_at_events_final, nq_load_at_events, false, ALL),
    GOLDEN(load_since_samples, nq_load_since, false, SAMPLES),
    GOLDEN(choice_initial, query_choice, false, 0),
    GOLDEN(constants_initial, query_constants, false, 0),
    GOLDEN(at_constant_initial, query_at_constant, false, 0),
};
enum { GOLDENS = sizeof goldens / sizeof *goldens };

static void explain(const struct golden *golden, struct base_buffer *out) {
  struct ng_plan *plan = golden->query ? plan_of(golden->query()) : thesis_plan(golden->during);
  if (golden->over_store) {
    ng_plan_over_store(plan);
    ng_plan_may_speculate(plan);
  }
  if (golden->rules) transform(plan, golden->rules);
  ng_plan_explain(plan, NG_EXPLAIN_TEXT, golden->name, out);
  ng_plan_explain_rules(plan, out);
}

START_TEST(plans_look_as_before) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  explain(&goldens[_i], &out);
  ck_assert_str_eq(base_buffer_text(&out), goldens[_i].text);
  base_buffer_done(&out);
}
END_TEST

static void print_goldens(void) {
  printf(
      "/* What explain says of the plans of netgen_test.c; written by `netgen_test print`. */\n"
      "#ifndef TESTS_NETGEN_GOLDEN_H\n#define TESTS_NETGEN_GOLDEN_H\n");
  for (size_t i = 0; i < GOLDENS; i++) {
    set_up();
    struct base_buffer out = BASE_BUFFER_EMPTY;
    explain(&goldens[i], &out);
    printf("\nstatic const char golden_%s[] =\n    \"", goldens[i].name);
    for (const char *at = base_buffer_text(&out); *at; at++) {
      if (*at == '\n')
        printf(at[1] ? "\\n\"\n    \"" : "\\n");
      else if (*at == '"' || *at == '\\')
        printf("\\%c", *at);
      else
        putchar(*at);
    }
    printf("\";\n");
    base_buffer_done(&out);
    tear_down();
  }
  printf("\n#endif\n");
}

/* --- shapes */

static void count_kinds(struct ng_plan *plan, unsigned *counts) {
  for (int i = 0; i < NET_NODE_KINDS; i++) counts[i] = 0;
  for (size_t i = 0; i < plan->node_count; i++) {
    if (!plan->nodes[i]->alias) counts[plan->nodes[i]->kind]++;
  }
}

START_TEST(figures_f_1_to_f_3) {
  struct ng_plan *plan = thesis_plan(false);
  unsigned counts[NET_NODE_KINDS];
  count_kinds(plan, counts);
  ck_assert_uint_eq(ng_plan_access_count(plan), 4);
  ck_assert_uint_eq(ng_plan_operator_count(plan), 24);
  ck_assert_uint_eq(counts[NET_NODE_EVENT_TO_PERIOD], 4);
  ck_assert_uint_eq(counts[NET_NODE_PRODUCT], 2);
  ck_assert_uint_eq(counts[NET_NODE_SELECTION], 7);
  ck_assert_uint_eq(counts[NET_NODE_APPLY], 4);
  ck_assert_uint_eq(counts[NET_NODE_PROJECTION], 3);
  ck_assert_uint_eq(counts[NET_NODE_AGGREGATE], 1);
  ck_assert_uint_eq(counts[NET_NODE_SWITCH_DISPOSITION], 1);
  ck_assert_uint_eq(counts[NET_NODE_DISPLAY], 2);
}
END_TEST

START_TEST(rules_have_names) {
  ck_assert_int_eq(ng_rule_find("Predicates-Down"), NG_RULE_PREDICATES_DOWN);
  ck_assert_int_eq(ng_rule_find("joins"), NG_RULE_JOINS);
  ck_assert_int_eq(ng_rule_find("join"), -1);
  ck_assert_int_eq(ng_rule_find(""), -1);
  for (int i = 0; i < NG_RULES; i++) {
    ck_assert_int_eq(ng_rule_find(ng_rule_info((enum ng_rule)i)->name), i);
    ck_assert_uint_gt(strlen(ng_rule_info((enum ng_rule)i)->what), 10);
  }
}
END_TEST

/* --- statistics */

static double tuples_by_name(void *context, const struct ng_relation *relation) {
  const double *large = context;
  if (strcmp(relation->name, "Large") == 0) return *large;
  return strcmp(relation->name, "Middle") == 0 ? 10000 : 100;
}

static bool share_by_text(void *context, const char *condition, double *ret) {
  (void)context;
  *ret = 0.5;
  return strcmp(condition, "F.B = 3") == 0;
}

/* The names of the inputs of the products of query_keyed, the innermost first. */
static const char *order_with(const struct ng_statistics *statistics) {
  struct ng_plan *plan = plan_of(query_keyed());
  ng_plan_set_statistics(plan, statistics);
  ck_assert_int_eq(ng_plan_transform(plan, NULL, &diags), BASE_OK);
  const struct ng_node *node = plan->queries[0].result;
  while (!ng_node_is_product(node)) node = node->inputs[0];
  const char *order = "";
  for (; ng_node_is_product(node); node = node->inputs[0]) {
    const struct ng_node *right = node->inputs[1];
    while (right->input_count > 0) right = right->inputs[0];
    order = base_arena_printf(nq_arena, "%s%s", right->variable->name, order);
  }
  while (node->input_count > 0) node = node->inputs[0];
  return base_arena_printf(nq_arena, "%s%s", node->variable->name, order);
}

START_TEST(smaller_inputs_come_first) {
  double large = 1e6;
  struct ng_statistics statistics = {.context = &large, .tuples = tuples_by_name};
  ck_assert_str_eq(order_with(NULL), "EGF");
  ck_assert_str_eq(order_with(&statistics), "FGE"); /* F: a tenth of 10,000 */
  statistics.share = share_by_text;
  ck_assert_str_eq(order_with(&statistics), "FGE");
  large = 40; /* 40 pairs with G; F has 10 of a tenth, and 50 of a half */
  ck_assert_str_eq(order_with(&statistics), "EGF");
  statistics.share = NULL;
  ck_assert_str_eq(order_with(&statistics), "FGE");
  large = -1; /* nothing is known */
  ck_assert_str_eq(order_with(&statistics), "EGF");
  large = 0; /* empty: who knows what will come */
  ck_assert_str_eq(order_with(&statistics), "EGF");
}
END_TEST

/* A join's predicate is over its rows and those of its inputs. */
static void check_join_reads(const struct ng_plan *plan, const struct ng_node *join,
                             const struct ng_expr *rest) {
  bool *read = BASE_NEW_ARRAY(nq_arena, plan->column_count + 1, bool);
  size_t wanted = 0, found = 0;
  ng_expr_mark(rest, read);
  for (unsigned id = 0; id < plan->column_count; id++) wanted += read[id];
  for (unsigned port = 0; port < 3; port++) {
    const struct ng_node *node = port < 2 ? join->inputs[port] : join;
    for (size_t i = 0; i < node->fields.count + 2; i++) {
      const struct ng_column *column = i == 0   ? node->start
                                       : i == 1 ? node->stop
                                                : node->fields.items[i - 2];
      if (!column || !read[column->id]) continue;
      read[column->id] = false;
      found++;
    }
  }
  ck_assert_uint_eq(found, wanted);
}

/* Every column that a node reads is there, after any choice of rules. */
START_TEST(nodes_read_what_their_inputs_have) {
  if (_i % 5 > 1 && !amount(0, 1)) return;
  for (size_t g = 0; g < GOLDENS; g++) {
    struct golden golden = goldens[g];
    struct ng_plan *plan = golden.query ? plan_of(golden.query()) : thesis_plan(golden.during);
    transform(plan, nq_rule_choice((unsigned)_i));
    for (size_t i = 0; i < plan->node_count; i++) {
      const struct ng_node *node = plan->nodes[i];
      const struct ng_node *read = ng_node_is_product(node) ? node : node->inputs[0];
      if (node->kind == NET_NODE_JOIN) {
        const struct ng_expr *rest = ng_join_rest(nq_arena, node);
        if (rest) check_join_reads(plan, node, rest);
        for (size_t k = 0; k < node->key_count; k++) {
          ck_assert(ng_node_has(node->inputs[0], node->keys[k].left));
          ck_assert(ng_node_has(node->inputs[1], node->keys[k].right));
        }
      } else if (node->expr) {
        ck_assert(ng_expr_fits(node->expr, read));
      }
      for (size_t k = 0; k < node->sources.count; k++) {
        ck_assert(ng_node_has(read, node->sources.items[k]));
      }
      if (node->start_from) ck_assert(ng_node_has(read, node->start_from));
      if (node->stop_from) ck_assert(ng_node_has(read, node->stop_from));
    }
  }
}
END_TEST

/* --- expressions */

static const struct ng_expr *column(const char *name, enum net_base_type base, uint32_t width) {
  static struct ng_plan *plan;
  plan = new_plan();
  return ng_expr_column(nq_arena, ng_column_new(plan, name, (struct net_type){base, width}, false));
}

START_TEST(what_can_fail) {
  const struct ng_expr *i4 = column("x", NET_INTEGER, 4), *i8 = column("y", NET_INTEGER, 8);
  const struct ng_expr *one = nq_integer(1), *zero = nq_integer(0), *most = nq_integer(INT64_MAX);
  ck_assert(!ng_expr_can_fail(nq_binary(NG_ADD, i4, one)));
  ck_assert(ng_expr_can_fail(nq_binary(NG_ADD, i8, one)));
  ck_assert(ng_expr_can_fail(nq_binary(NG_ADD, i4, most)));
  ck_assert(!ng_expr_can_fail(nq_binary(NG_MUL, i4, i4)));
  ck_assert(ng_expr_can_fail(nq_binary(NG_MUL, nq_binary(NG_MUL, i4, i4), i4)));
  ck_assert(!ng_expr_can_fail(nq_binary(NG_SUB, i4, i4)));
  ck_assert(ng_expr_can_fail(nq_binary(NG_DIV, i4, i4)));
  ck_assert(ng_expr_can_fail(nq_binary(NG_DIV, i4, zero)));
  ck_assert(!ng_expr_can_fail(nq_binary(NG_DIV, i8, nq_integer(2))));
  ck_assert(ng_expr_can_fail(nq_binary(NG_DIV, i8, nq_integer(-1))));
  ck_assert(!ng_expr_can_fail(nq_binary(NG_MOD, i4, nq_integer(10))));
  ck_assert(ng_expr_can_fail(nq_binary(NG_GT, nq_binary(NG_ADD, i8, one), i4)));
  ck_assert(!ng_expr_can_fail(nq_binary(NG_GT, i8, i4)));
  const struct ng_expr *f = column("f", NET_FLOAT, 8);
  ck_assert(ng_expr_can_fail(nq_binary(NG_ADD, f, f)));
  ck_assert(!ng_expr_can_fail(nq_binary(NG_LT, f, nq_convert(i8, f->type))));
  ck_assert(ng_expr_can_fail(nq_convert(f, i8->type)));
  ck_assert(ng_expr_can_fail(nq_convert(i8, i4->type)));
  ck_assert(!ng_expr_can_fail(nq_convert(i4, i8->type)));
}
END_TEST

START_TEST(ranges_at_the_edges) {
  int64_t lo, hi;
  const struct ng_expr *least = nq_integer(INT64_MIN), *one = nq_integer(1);
  ck_assert(ng_expr_can_fail(nq_binary(NG_SUB, least, one)));
  ck_assert(!ng_expr_can_fail(nq_binary(NG_ADD, least, one)));
  ck_assert(ng_expr_can_fail(nq_binary(NG_DIV, least, nq_integer(-1))));
  ng_expr_range(nq_binary(NG_MUL, column("x", NET_INTEGER, 1), nq_integer(-2)), &lo, &hi);
  ck_assert_int_eq(lo, -254);
  ck_assert_int_eq(hi, 256);
  ng_expr_range(nq_binary(NG_DIV, column("x", NET_INTEGER, 1), nq_integer(3)), &lo, &hi);
  ck_assert_int_eq(lo, -42);
  ck_assert_int_eq(hi, 42);
  ng_expr_range(nq_binary(NG_MOD, column("x", NET_INTEGER, 1), nq_integer(-3)), &lo, &hi);
  ck_assert_int_eq(lo, -2);
  ck_assert_int_eq(hi, 2);
  ng_expr_range(nq_binary(NG_MOD, nq_integer(5), nq_integer(INT64_MIN)), &lo, &hi);
  ck_assert_int_eq(lo, 0);
  ck_assert_int_eq(hi, 5);
  ck_assert(!ng_expr_can_fail(nq_binary(NG_MOD, least, nq_integer(-1))));
}
END_TEST

static size_t conjuncts(const struct ng_expr *expr, struct base_buffer *out) {
  struct ng_exprs found = {0};
  ng_expr_conjuncts(nq_arena, expr, &found);
  struct ng_plan *plan = new_plan();
  for (size_t i = 0; i < found.count; i++) {
    if (i) base_buffer_puts(out, "; ");
    ng_expr_print(out, plan, found.items[i]);
  }
  return found.count;
}

START_TEST(normal_form) {
  const struct ng_expr *a = nq_binary(NG_LT, column("a", NET_INTEGER, 4), nq_integer(1));
  const struct ng_expr *b = nq_binary(NG_EQ, column("b", NET_INTEGER, 4), nq_integer(2));
  const struct ng_expr *c = nq_binary(NG_GE, column("c", NET_INTEGER, 4), nq_integer(3));
  struct base_buffer out = BASE_BUFFER_EMPTY;
  conjuncts(nq_binary(NG_OR, nq_binary(NG_AND, a, b), c), &out);
  ck_assert_str_eq(base_buffer_text(&out), "a < 1 or c >= 3; b = 2 or c >= 3");
  base_buffer_clear(&out);
  conjuncts(nq_not(nq_binary(NG_OR, a, nq_not(nq_binary(NG_AND, b, c)))), &out);
  ck_assert_str_eq(base_buffer_text(&out), "a >= 1; b = 2; c >= 3");
  base_buffer_clear(&out);
  /* what can fail is not taken apart */
  const struct ng_expr *sum = nq_binary(NG_ADD, column("d", NET_INTEGER, 8), nq_integer(1));
  const struct ng_expr *fails = nq_binary(NG_GT, sum, nq_integer(0));
  conjuncts(nq_binary(NG_OR, nq_binary(NG_AND, a, fails), c), &out);
  ck_assert_str_eq(base_buffer_text(&out), "a < 1 and d + 1 > 0 or c >= 3");
  base_buffer_done(&out);
}
END_TEST

START_TEST(normal_form_does_not_explode) {
  const struct ng_expr *expr = NULL;
  for (int i = 0; i < 12; i++) {
    const struct ng_expr *a = nq_binary(NG_LT, column("a", NET_INTEGER, 4), nq_integer(i));
    const struct ng_expr *b = nq_binary(NG_GT, column("b", NET_INTEGER, 4), nq_integer(i));
    const struct ng_expr *both = nq_binary(NG_AND, a, b);
    expr = expr ? nq_binary(NG_OR, expr, both) : both;
  }
  struct base_buffer out = BASE_BUFFER_EMPTY;
  ck_assert_uint_le(conjuncts(expr, &out), 64);
  base_buffer_done(&out);
}
END_TEST

START_TEST(parentheses_where_needed) {
  const struct ng_expr *a = column("a", NET_INTEGER, 8), *b = column("b", NET_INTEGER, 8);
  const struct ng_expr *expr =
      nq_binary(NG_SUB, a, nq_binary(NG_SUB, b, nq_binary(NG_MUL, nq_binary(NG_ADD, a, b), a)));
  struct base_buffer out = BASE_BUFFER_EMPTY;
  ng_expr_print(&out, new_plan(), expr);
  ck_assert_str_eq(base_buffer_text(&out), "a - (b - (a + b) * a)");
  base_buffer_done(&out);
}
END_TEST

/* --- temporal comparisons */

/* A comparison of temporal values is a cut above the projection, which carries what it reads; the
 * conjunct that can fail goes with it, the other one is a selection. */
START_TEST(temporal_comparisons_cut) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 1);
  struct ng_expr *duration = BASE_NEW(nq_arena, struct ng_expr);
  duration->op = NG_DURATION;
  duration->type = (struct net_type){NET_TEMPORAL, 0};
  const struct ng_expr *one = nq_convert(nq_integer(1), (struct net_type){NET_TEMPORAL, 0});
  query->where = nq_not(nq_binary(NG_GT, duration, one));
  const struct ng_query *bound = nq_finish(query, NET_PERIOD);
  struct ng_plan *plan = ng_plan_new(nq_arena, nq_strings, NET_TIMELINE_ABSTRACT);
  ck_assert_int_eq(ng_plan_add_query(plan, bound, &diags), BASE_OK);
  ck_assert_int_eq(ng_plan_transform(plan, NULL, &diags), BASE_OK);
  const struct ng_node *cut = plan->queries[0].result;
  ck_assert_int_eq(cut->kind, NET_NODE_CUT);
  ck_assert_int_eq(cut->inputs[0]->kind, NET_NODE_PROJECTION);
  ck_assert_uint_eq(cut->fields.count, bound->target_count);
}
END_TEST

/* --- building and other formats */

static enum base_status no_source(void *context, const struct ng_relation *relation,
                                  const struct net_layout *layout, enum net_scan_form form,
                                  const struct net_wanted *wanted, struct net_source **ret) {
  unsigned *asked = context;
  (void)wanted;
  ++*asked;
  for (uint32_t i = 0; i < layout->field_count; i++) {
    ck_assert_int_ge(net_layout_find(relation->layout, layout->fields[i].name), 0);
  }
  ck_assert_int_eq(layout->tuple_class == NET_EVENT,
                   form == NET_SCAN_RECORDS || relation->layout->tuple_class == NET_EVENT);
  *ret = NULL;
  return BASE_OK;
}

START_TEST(every_plan_builds) {
  if (_i % 5 > 1 && !amount(0, 1)) return;
  for (size_t g = 0; g < GOLDENS; g++) {
    struct golden golden = goldens[g];
    struct ng_plan *plan = golden.query ? plan_of(golden.query()) : thesis_plan(golden.during);
    transform(plan, nq_rule_choice((unsigned)_i));
    struct net_network *network = net_network_new(nq_strings, NET_TIMELINE_ABSTRACT, &diags);
    unsigned asked = 0;
    struct ng_inputs inputs = {.context = &asked, .source = no_source};
    struct net_node *result = NULL;
    ck_assert_int_eq(ng_plan_build(plan, network, &inputs, &diags, &result), BASE_OK);
    const struct ng_query *query = plan->queries[plan->query_count - 1].query;
    ck_assert_int_eq(net_node_layout(result)->tuple_class, query->result_class);
    ck_assert_uint_eq(net_node_layout(result)->field_count, query->layout->field_count);
    net_freeze(network);
    if (golden.query && query->variable_count) ck_assert_uint_gt(asked, 0);
    net_network_free(network);
  }
}
END_TEST

/* Catch twice into one network, and a query that has only its access nodes in common with it. */
START_TEST(plans_share_nodes) {
  struct net_network *network = net_network_new(nq_strings, NET_TIMELINE_ABSTRACT, &diags);
  unsigned asked = 0;
  size_t counts[3];
  struct net_node *results[3];
  struct ng_inputs inputs = {.context = &asked, .source = no_source, .shared = ng_shared_new()};
  for (int i = 0; i < 3; i++) {
    struct ng_plan *plan = plan_of(i < 2 ? nq_catch(true) : nq_a_over_b());
    transform(plan, i < 2 ? ALL : COMMON_NODES);
    ck_assert_int_eq(ng_plan_build(plan, network, &inputs, &diags, &results[i]), BASE_OK);
    struct net_node *sink =
        net_create_display(network, "sink", net_node_layout(results[i]), NULL, NULL);
    ck_assert_int_eq(net_link(results[i], sink, 0), BASE_OK);
    counts[i] = net_node_count(network);
  }
  net_freeze(network);
  ck_assert_ptr_eq(results[0], results[1]);
  ck_assert_uint_eq(counts[1], counts[0] + 1);
  ck_assert_uint_eq(asked, 2);
  net_network_free(network);
  ng_shared_free(inputs.shared);
}
END_TEST

static enum base_status failing_source(void *context, const struct ng_relation *relation,
                                       const struct net_layout *layout, enum net_scan_form form,
                                       const struct net_wanted *wanted, struct net_source **ret) {
  (void)context, (void)relation, (void)layout, (void)form, (void)wanted, (void)ret;
  return BASE_SYSTEM;
}

START_TEST(a_source_that_fails) {
  struct ng_plan *plan = plan_of(query_single());
  struct net_network *network = net_network_new(nq_strings, NET_TIMELINE_ABSTRACT, &diags);
  struct ng_inputs inputs = {.source = failing_source};
  struct net_node *result = NULL;
  ck_assert_int_eq(ng_plan_build(plan, network, &inputs, &diags, &result), BASE_SYSTEM);
  ck_assert_ptr_null(result);
  net_network_free(network);
}
END_TEST

struct running {
  struct net_node *node;
  unsigned joined;
};

static struct net_node *running_node(void *context, const struct ng_relation *relation) {
  ck_assert_str_eq(relation->name, "Q");
  return ((struct running *)context)->node;
}

static void joined(void *context, const struct ng_relation *relation, struct net_node *node,
                   unsigned port) {
  (void)relation;
  ck_assert_ptr_nonnull(node);
  ck_assert_uint_eq(port, 0);
  ((struct running *)context)->joined++;
}

static enum base_status see_rows(void *context, const struct net_batch *batch) {
  int64_t *seen = context;
  for (uint32_t i = 0; i < batch->count; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    *seen += row[batch->layout->fields[0].slot].i;
  }
  return BASE_OK;
}

/* A query over a derived relation whose network runs: its second domain, behind a selection. */
START_TEST(a_running_derived_relation) {
  const struct ng_query *inner = query_single();
  const struct ng_relation *derived = nq_derived(inner);
  static const char *const name[] = {"E"};
  struct ng_query *query = nq_query(NULL, 1, name, &derived);
  nq_target(query, "B", nq_domain(query, 0, "Twice"));
  query->where = nq_binary(NG_LT, nq_domain(query, 0, "Twice"), nq_integer(100));
  const struct ng_query *outer = nq_finish(query, NET_PERIOD);
  struct net_network *network = net_network_new(nq_strings, NET_TIMELINE_ABSTRACT, &diags);
  struct running running = {net_create_access(network, "Q", inner->layout, NULL, false), 0};
  struct ng_inputs inputs = {.context = &running, .derived = running_node, .joined = joined};
  struct ng_plan *plan = plan_of(outer);
  transform(plan, ALL);
  struct net_node *result = NULL;
  ck_assert_int_eq(ng_plan_build(plan, network, &inputs, &diags, &result), BASE_OK);
  ck_assert_uint_eq(running.joined, 1);
  int64_t seen = 0;
  struct net_node *sink =
      net_create_display(network, "sink", net_node_layout(result), see_rows, &seen);
  ck_assert_int_eq(net_link(result, sink, 0), BASE_OK);
  net_freeze(network);
  union net_slot row[6] = {{.i = 1}, {.i = 1}, {.i = 5}, {.i = 5}, {.i = 1000}, {.i = 42}};
  uint8_t marks = NET_DEFINITE;
  struct net_batch batch = {.layout = inner->layout,
                            .rows = row,
                            .marks = &marks,
                            .count = 1,
                            .checkpoint = NET_FOREVER,
                            .bound = NET_FOREVER};
  ck_assert_int_eq(net_access_push(running.node, &batch), BASE_OK);
  ck_assert_int_eq(seen, 42);
  net_network_free(network);
}
END_TEST

START_TEST(a_query_of_constants_runs) {
  struct ng_plan *plan = plan_of(query_constants());
  struct net_network *network = net_network_new(nq_strings, NET_TIMELINE_ABSTRACT, &diags);
  struct ng_inputs inputs = {.context = NULL};
  struct net_node *result = NULL;
  ck_assert_int_eq(ng_plan_build(plan, network, &inputs, &diags, &result), BASE_OK);
  int64_t seen = 0;
  struct net_node *sink =
      net_create_display(network, "sink", net_node_layout(result), see_rows, &seen);
  ck_assert_int_eq(net_link(result, sink, 0), BASE_OK);
  net_freeze(network);
  ck_assert_int_eq(net_run(network), BASE_OK);
  ck_assert_int_eq(seen, 7);
  net_network_free(network);
}
END_TEST

/* Brackets and quotes balance; hostile names do not break out of their strings. */
static void check_balanced(const char *text) {
  int depth = 0;
  bool quoted = false;
  for (; *text; text++) {
    ck_assert(!quoted || (unsigned char)*text >= ' ');
    if (quoted && *text == '\\')
      text++;
    else if (*text == '"')
      quoted = !quoted;
    else if (!quoted && (*text == '{' || *text == '['))
      depth++;
    else if (!quoted && (*text == '}' || *text == ']'))
      depth--;
    ck_assert_int_ge(depth, 0);
  }
  ck_assert(!quoted);
  ck_assert_int_eq(depth, 0);
}

START_TEST(dot_and_json) {
  for (size_t g = 0; g < GOLDENS; g++) {
    struct golden golden = goldens[g];
    struct ng_plan *plan = golden.query ? plan_of(golden.query()) : thesis_plan(golden.during);
    struct base_buffer out = BASE_BUFFER_EMPTY;
    ng_plan_explain(plan, NG_EXPLAIN_DOT, "a \"title\"\n\\", &out);
    check_balanced(base_buffer_text(&out));
    ck_assert_ptr_nonnull(strstr(base_buffer_text(&out), "digraph"));
    base_buffer_clear(&out);
    ng_plan_explain(plan, NG_EXPLAIN_JSON, "a \"title\"\n\\", &out);
    check_balanced(base_buffer_text(&out));
    ck_assert_ptr_nonnull(strstr(base_buffer_text(&out), "\"shared\": null"));
    const char *title = "\"title\": \"a \\\"title\\\"\\u000a\\\\\"";
    ck_assert_ptr_nonnull(strstr(base_buffer_text(&out), title));
    base_buffer_done(&out);
  }
}
END_TEST

/* What the same query would have in common with itself is all that cannot fail; of one without a name nothing. */
START_TEST(twins_are_shown) {
  struct ng_shared *shared = ng_shared_new();
  struct ng_plan *stands = plan_of(nq_catch(true)), *asks = plan_of(nq_catch(true));
  struct base_buffer out = BASE_BUFFER_EMPTY;
  transform(stands, ALL);
  transform(asks, ALL);
  ng_plan_enter(stands, shared, "a \"name\"");
  ng_plan_find_twins(asks, shared);
  for (size_t i = 0; i < asks->node_count; i++) {
    if (asks->nodes[i]->alias) continue;
    ck_assert_ptr_nonnull(asks->nodes[i]->twin);
    ck_assert_uint_eq(asks->nodes[i]->twin->number, asks->nodes[i]->number);
  }
  ng_plan_explain(asks, NG_EXPLAIN_DOT, "final network", &out);
  check_balanced(base_buffer_text(&out));
  ck_assert_ptr_nonnull(strstr(base_buffer_text(&out), "\\nshared with a \\\"name\\\".1\""));
  base_buffer_clear(&out);
  ng_plan_explain(asks, NG_EXPLAIN_JSON, "final network", &out);
  check_balanced(base_buffer_text(&out));
  const char *twin = "\"shared\": {\"relation\": \"a \\\"name\\\"\", \"number\": 1}";
  ck_assert_ptr_nonnull(strstr(base_buffer_text(&out), twin));
  struct ng_query unnamed = *nq_catch(true);
  unnamed.name = NULL;
  struct ng_plan *once = plan_of(&unnamed);
  transform(once, ALL);
  ng_plan_find_twins(once, shared);
  for (size_t i = 0; i < once->node_count; i++) ck_assert_ptr_null(once->nodes[i]->twin);
  base_buffer_done(&out);
  ng_shared_free(shared);
}
END_TEST

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "print") == 0) {
    print_goldens();
    return EXIT_SUCCESS;
  }
  Suite *suite = suite_create("netgen");
  TCase *cases = tcase_create("plans");
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_loop_test(cases, plans_look_as_before, 0, GOLDENS);
  tcase_add_test(cases, figures_f_1_to_f_3);
  tcase_add_test(cases, rules_have_names);
  tcase_add_test(cases, smaller_inputs_come_first);
  tcase_add_loop_test(cases, nodes_read_what_their_inputs_have, 0, NQ_RULE_CHOICES);
  tcase_add_test(cases, what_can_fail);
  tcase_add_test(cases, ranges_at_the_edges);
  tcase_add_test(cases, normal_form);
  tcase_add_test(cases, normal_form_does_not_explode);
  tcase_add_test(cases, parentheses_where_needed);
  tcase_add_test(cases, temporal_comparisons_cut);
  tcase_add_loop_test(cases, every_plan_builds, 0, NQ_RULE_CHOICES);
  tcase_add_test(cases, plans_share_nodes);
  tcase_add_test(cases, a_source_that_fails);
  tcase_add_test(cases, a_running_derived_relation);
  tcase_add_test(cases, a_query_of_constants_runs);
  tcase_add_test(cases, dot_and_json);
  tcase_add_test(cases, twins_are_shown);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
