/* Rows that come live and many, for several relations and without end: the log behind which their tables are
 * stays bounded, and no relation waits for the others.                                              */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tquel/session/durable/durable.h"

enum { ROWS = 5000, MOST = 20000 };

static struct tql_session *session;
static struct base_diag_sink diags;

static void set_up(void) {
  const char *create = "create event A (x = i8) create event B (x = i8) create event C (x = i8)";
  struct tql_session_options options = {.timeline = NET_TIMELINE_ABSTRACT, .timeline_given = true};
  struct tql_output output = {0};
  base_diag_sink_init(&diags);
  ck_assert_int_eq(tql_session_open(&options, &diags, &session), BASE_OK);
  ck_assert_int_eq(tql_session_run(session, "test", 1, create, strlen(create), &output, false),
                   BASE_OK);
  session->fold.most = MOST;
}

static void tear_down(void) {
  tql_session_close(session);
  base_diag_sink_done(&diags);
}

static void ok(enum base_status status) {
  ck_assert_int_eq(status, BASE_OK);
}

/* ROWS events of RELATION behind all earlier ones. */
static void bring(const char *relation, int64_t *at) {
  const struct net_layout *layout = session_find(session, relation)->ng.layout;
  struct net_rows rows;
  net_rows_init(&rows, layout);
  for (unsigned i = 0; i < ROWS; i++) {
    union net_slot row[3] = {{.i = *at}, {.i = *at}, {.i = i}};
    net_rows_add_copy(&rows, row, NET_DEFINITE);
    ++*at;
  }
  struct net_store *store = st_net(session->database);
  ok(store->class->append(store, relation, &rows));
  net_rows_done(&rows);
}

static int64_t logged(const char *relation) {
  int64_t rows = 0;
  ok(st_logged(session->database, relation, &rows));
  return rows;
}

START_TEST(the_log_is_bounded) {
  int64_t at = 1, most = 0;
  for (int round = 0; round < 40; round++) {
    ok(st_begin(session->database));
    bring("A", &at);
    bring("B", &at);
    if (round < 10) bring("C", &at);
    ok(st_commit(session->database));
    session->fold.row_ns = 1e15; /* so slow that time allows nothing */
    ok(session_fold_some(session));
    int64_t waiting = logged("A") + logged("B") + logged("C");
    if (waiting > most) most = waiting;
    ck_assert_msg(logged("B") <= MOST + 3 * ROWS, "B waits for A: %lld", (long long)logged("B"));
    ck_assert_msg(logged("C") <= MOST + 3 * ROWS, "C waits for A: %lld", (long long)logged("C"));
  }
  /* What a round finds too many came with the one before. */
  ck_assert_msg(most <= MOST + 6 * ROWS, "%lld rows wait", (long long)most);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("fold");
  TCase *test = tcase_create("fold");
  tcase_add_checked_fixture(test, set_up, tear_down);
  tcase_add_test(test, the_log_is_bounded);
  suite_add_tcase(suite, test);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
