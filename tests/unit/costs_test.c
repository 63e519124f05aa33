/* What collectors report of costs: what of it is written to SensorCost, and that queries are compensated by
 * it. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "tquel/session/source.h"

static struct tql_session *session;
static struct base_diag_sink diags;
static size_t row_count;
static int64_t last_cost;
static net_chronon last_stop;

static void on_rows(void *context, const struct tql_rows *rows) {
  (void)context;
  row_count = rows->rows.count;
  for (size_t i = 0; i < row_count; i++) {
    const struct net_layout *layout = rows->rows.layout;
    const union net_slot *row = net_rows_row(&rows->rows, i);
    last_cost = row[layout->fields[layout->field_count - 1].slot].i;
    if (layout->tuple_class == NET_PERIOD) last_stop = row[2].i;
  }
}

static void run(const char *text) {
  struct tql_output output = {.rows = on_rows};
  ck_assert_int_eq(tql_session_run(session, "test", 1, text, strlen(text), &output, false),
                   BASE_OK);
}

static void report(const char *process, const char *relation, const char *object,
                   const char *cost) {
  struct tql_sensor_report sensor = {{process, relation, object, "on", "10", "0", "1", cost}};
  ck_assert_int_eq(tql_session_sensor_costs(session, &sensor, 1), BASE_OK);
}

static void setup(void) {
  struct tql_session_options options = {.timeline = NET_TIMELINE_REAL, .timeline_given = true};
  base_diag_sink_init(&diags);
  ck_assert_int_eq(tql_session_open(&options, &diags, &session), BASE_OK);
  run("range of c is SensorCost");
}

static void teardown(void) {
  tql_session_close(session);
  base_diag_sink_done(&diags);
}

static size_t rows_of(const char *text) {
  row_count = 0;
  run(text);
  return row_count;
}

START_TEST(what_is_news_is_written) {
  report("P:1", "It", "", "");
  report("P:1", "", "", "90");
  report("P:1", "It", "", "many");
  report("P:1", "It", "", "-4");
  ck_assert_uint_eq(rows_of("retrieve (c.all)"), 0);
  report("P:1", "It", "", "100.4");
  ck_assert_uint_eq(rows_of("retrieve (c.all)"), 1);
  ck_assert_int_eq(last_cost, 100);
  report("P:1", "It", "", "112");
  report("P:1", "It", "", "88");
  ck_assert_uint_eq(rows_of("retrieve (c.all)"), 1);
  report("P:1", "It", "", "113");
  report("P:2", "It", "", "100");
  report("P:1", "Other", "", "100");
  ck_assert_uint_eq(rows_of("retrieve (c.all)"), 4);
  report("P:1", "It", "", "100");
  ck_assert_uint_eq(rows_of("retrieve (c.all) where c.Relation = \"It\""), 3);
}
END_TEST

START_TEST(objects_share_a_cost) {
  struct tql_sensor_report sensors[] = {{{"P:1", "It", "F:1", "on", "10", "0", "1", "10"}},
                                        {{"P:2", "It", "F:1", "on", "10", "0", "1", "70"}},
                                        {{"P:1", "It", "F:2", "on", "10", "0", "1", "20"}},
                                        {{"P:1", "It", "F:3", "off", "0", "0", "0", ""}}};
  ck_assert_int_eq(tql_session_sensor_costs(session, sensors, 4), BASE_OK);
  ck_assert_uint_eq(rows_of("retrieve (c.Cost) where c.Process = \"P:1\""), 1);
  ck_assert_int_eq(last_cost, 15);
}
END_TEST

START_TEST(queries_are_compensated_by_it) {
  run("create traced It (Process = c8, N = i4) by Process");
  run("append to It (Process = \"P:1\", N = 1) at \"2026-01-01\"");
  run("append to It (Process = \"P:1\", N = 2) at \"2026-01-01T00:00:00.000001Z\"");
  run("range of i is It set compensate on");
  rows_of("retrieve (i.N) where i.N = 1");
  net_chronon whole = last_stop;
  ck_assert_uint_eq(diags.count, 1);
  ck_assert_int_eq((int)diags.items[0].number, MSG_COST_UNKNOWN);
  report("P:1", "It", "", "100");
  report("P:2", "It", "", "200");
  run("retrieve into D (i.N)");
  rows_of("retrieve (i.N) where i.N = 1");
  ck_assert_int_eq(last_stop, whole - 150);
  report("P:2", "It", "", "400");
  rows_of("retrieve (i.N) where i.N = 1");
  ck_assert_int_eq(last_stop, whole - 250);
  /* What is defined keeps what it knew. */
  run("range of d is D set compensate off");
  run("append to It (Process = \"P:2\", N = 1) at \"2026-01-01\"");
  rows_of("retrieve (d.N) where d.N = 1 when d.stop precede \"2026-01-02\"");
  ck_assert_uint_eq(row_count, 1);
  ck_assert_int_eq(last_stop, whole - 150);
  ck_assert_uint_eq(diags.count, 1);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("costs");
  TCase *tcase = tcase_create("costs");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, what_is_news_is_written);
  tcase_add_test(tcase, objects_share_a_cost);
  tcase_add_test(tcase, queries_are_compensated_by_it);
  suite_add_tcase(suite, tcase);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
