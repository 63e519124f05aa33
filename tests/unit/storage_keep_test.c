/* Rows that are old go, and so do relations that were destroyed: some at a time, with whatever comes between.
 *
 * A random history of a relation, of which a copy is kept here: rows come, in any order, walks remove what is old in slices
 * of any size, slices are taken back, the database is closed or its process ends. When a walk is over, exactly what is over
 * before the limit has gone, and `removed` says how much. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "storage/relations.h"
#include "tests/amount.h"
#include "tests/unit/storage_world.h"

/* --- what is old */

struct tuple {
  net_chronon start, last;
  bool open, gone;
};

struct history {
  struct base_random random;
  struct st_database *database;
  const struct st_relation *relation;
  struct net_layout *layout;
  struct tuple tuples[512];
  size_t count;
  net_chronon limit;
  int64_t removed;
};

static uint64_t below(struct history *history, uint64_t limit) {
  return base_random_below(&history->random, limit);
}

/* Many at one time, some far away, some at the ends of time. */
static net_chronon any_time(struct history *history) {
  static const net_chronon ends[] = {NET_BEGINNING, NET_BEGINNING + 2, -1, 0, NET_FOREVER - 1};
  if (below(history, 12) == 0) return ends[below(history, LENGTH(ends))];
  net_chronon scale = below(history, 4) == 0 ? INT64_C(60000000000) : 1;
  return (net_chronon)below(history, 30) * scale;
}

static void come(struct history *history) {
  for (uint64_t i = below(history, 20); i > 0 && history->count < LENGTH(history->tuples); i--) {
    net_chronon start = any_time(history), last = any_time(history);
    if (last <= start || below(history, 4))
      last = start == NET_FOREVER - 1 ? NET_FOREVER : start + 2;
    bool period = history->relation->kind == ST_PERIOD, open = period && below(history, 6) == 0;
    union net_slot row[5] = {{.i = start}, {.i = period ? start : last}};
    row[2].i = open ? NET_OPEN : last;
    row[3].i = open ? NET_FOREVER : last;
    row[period ? 4 : 2].i = (int64_t)history->count;
    put(history->database, history->relation->name, history->layout, row, NET_DEFINITE);
    history->tuples[history->count++] = (struct tuple){start, last, open, false};
  }
}

static void begin(struct history *history) {
  ok(st_begin(history->database));
}

/* One slice; true: a walk is over. Often it is taken back. */
static bool slice(struct history *history, size_t rows, bool stays) {
  size_t removed;
  bool done;
  begin(history);
  ok(st_remove_old(history->database, history->relation->name, history->limit, rows, &removed,
                   &done));
  ck_assert_uint_le(removed, history->count);
  if (stays) {
    ok(st_commit(history->database));
    history->removed += (int64_t)removed;
  } else {
    st_rollback(history->database);
  }
  return done && stays;
}

static void check_all(struct history *history) {
  struct net_rows rows;
  bool there[LENGTH(history->tuples)] = {false};
  scan(history->database, history->relation->name, history->layout, &rows);
  for (size_t i = 0; i < rows.count; i++)
    there[net_rows_row(&rows, i)[history->layout->first_domain_slot].i] = true;
  net_rows_done(&rows);
  int64_t gone = 0;
  for (size_t i = 0; i < history->count; i++) {
    struct tuple *tuple = &history->tuples[i];
    bool old = tuple->last < history->limit && !tuple->open;
    tuple->gone |= old;
    gone += tuple->gone;
    ck_assert_msg(there[i] != tuple->gone, "tuple %zu of %zu, [%lld, %lld%s, limit %lld", i,
                  history->count, (long long)tuple->start, (long long)tuple->last,
                  tuple->open ? " and on" : "", (long long)history->limit);
  }
  ck_assert_int_eq(history->removed, gone);
  char *sql = base_arena_printf(arena, "SELECT coalesce(sum(removed), 0) FROM tq_keep");
  ck_assert_int_eq(strtoll(outside(path, sql), NULL, 10), gone);
}

static void reopen(struct history *history) {
  st_close(history->database);
  history->database = open_at(path);
}

static void walk_all(struct history *history) {
  /* The walk that goes on may have begun with an earlier limit. */
  for (int walks = 0, slices = 0; walks < 2; slices++) {
    ck_assert_int_lt(slices, 20000);
    walks += slice(history, 1 + below(history, 9), below(history, 8) > 0);
    if (below(history, 40) == 0) {
      reopen(history);
      walks = 0;
    }
  }
  check_all(history);
}

static void run_history(const struct st_relation *relation, uint64_t seed) {
  struct history history = {.random = {seed}, .relation = relation, .limit = NET_BEGINNING};
  history.layout = layout_of(relation, false);
  unlink(path);
  history.database = open_at(path);
  create(history.database, relation);
  begin(&history);
  ok(st_set_keep(history.database, relation->name, 0));
  ok(st_commit(history.database));
  walk_all(&history); /* of nothing */
  for (int i = 0; i < 12; i++) {
    begin(&history);
    come(&history);
    ok(st_commit(history.database));
    for (uint64_t k = below(&history, 4); k > 0; k--) slice(&history, 1 + below(&history, 5), true);
    net_chronon limit = any_time(&history);
    if (limit > history.limit && (limit < NET_FOREVER - 1 || i == 11)) history.limit = limit;
    if (below(&history, 2)) walk_all(&history);
  }
  walk_all(&history);
  st_close(history.database);
}

START_TEST(any_history) {
  for (uint64_t seed = 1; seed <= amount(4, 40); seed++)
    run_history(seed % 2 ? &period_p : &event_e, seed);
}
END_TEST

/* More rows of one time than a slice looks at, none of which goes: the walk gets past them. */
START_TEST(rows_of_one_time_that_stay) {
  struct st_database *database = open_at(path);
  struct net_layout *layout = layout_of(&period_p, false);
  size_t removed, all = 0;
  bool done = false;
  create(database, &period_p);
  ok(st_begin(database));
  ok(st_set_keep(database, "P", 0));
  for (int64_t i = 0; i < 50; i++)
    put(database, "P", layout,
        (union net_slot[]){{.i = 5}, {.i = 5}, {.i = NET_OPEN}, {.i = NET_FOREVER}, {.i = i}},
        NET_DEFINITE);
  put(database, "P", layout, (union net_slot[]){{.i = 6}, {.i = 6}, {.i = 7}, {.i = 7}, {.i = 50}},
      NET_DEFINITE);
  ok(st_commit(database));
  for (int slices = 0; !done; slices++) {
    ck_assert_int_lt(slices, 100);
    ok(st_begin(database));
    ok(st_remove_old(database, "P", 20, 4, &removed, &done));
    ok(st_commit(database));
    all += removed;
  }
  ck_assert_uint_eq(all, 1);
  ck_assert_int_eq(count(database, "P"), 50);
  st_close(database);
}
END_TEST

/* `gone` is there with the first rows that went, also for who reads another state; a process that ends between two slices
 * leaves both. */
static void remove_some_and_end(void) {
  size_t removed;
  bool done;
  struct st_database *database = open_at(path);
  CHILD_NEEDS(st_begin(database) == BASE_OK);
  CHILD_NEEDS(st_remove_old(database, "E", 100, 30, &removed, &done) == BASE_OK);
  CHILD_NEEDS(st_commit(database) == BASE_OK && removed == 30 && !done);
  CHILD_NEEDS(st_begin(database) == BASE_OK);
  CHILD_NEEDS(st_remove_old(database, "E", 100, 30, &removed, &done) == BASE_OK);
  _exit(0);
}

START_TEST(a_process_that_ends_between_slices) {
  struct st_relation *relations;
  size_t relation_count, removed;
  bool done = false;
  struct st_database *database = open_at(path);
  create(database, &event_e);
  ok(st_begin(database));
  ok(st_set_keep(database, "E", 7));
  for (int64_t i = 0; i < 150; i++) put_event(database, i, i, NET_DEFINITE);
  ok(st_commit(database));
  st_close(database);
  ck_assert_int_eq(in_child(remove_some_and_end), 0);
  ck_assert_str_eq(outside(path, "SELECT age, gone, removed FROM tq_keep; SELECT count(*) FROM E"),
                   "7|100|30\n120");
  database = open_at(path);
  ok(st_relations(database, arena, &relations, &relation_count));
  ck_assert(relations[0].ages && relations[0].incomplete);
  ck_assert_int_eq(relations[0].age, 7);
  ck_assert_int_eq(relations[0].gone, 100);
  ck_assert_int_eq(relations[0].removed, 30);
  while (!done) {
    ok(st_begin(database));
    ok(st_remove_old(database, "E", 100, 30, &removed, &done));
    ok(st_commit(database));
  }
  ck_assert_str_eq(outside(path, "SELECT gone, removed FROM tq_keep; SELECT min(at_lo) FROM E"),
                   "100|100\n100");
  st_close(database);
}
END_TEST

START_TEST(a_file_of_the_sixth_version) {
  struct st_relation *relations;
  size_t relation_count, removed;
  bool done;
  struct st_database *database = open_at(path);
  create(database, &event_e);
  ok(st_begin(database));
  for (int64_t i = 0; i < 10; i++) put_event(database, i, i, NET_DEFINITE);
  ok(st_commit(database));
  st_close(database);
  outside(
      path,
      "DROP INDEX tq_E_long; DROP TABLE tq_keep; ALTER TABLE tq_announced DROP COLUMN taskforce;"
      "ALTER TABLE tq_announced DROP COLUMN event;" NO_NINTH "PRAGMA user_version=6");
  database = open_reader(path);
  ok(st_relations(database, arena, &relations, &relation_count));
  ck_assert(!relations[0].ages && !relations[0].incomplete);
  st_close(database);
  database = open_at(path);
  ck_assert_str_eq(outside(path, "PRAGMA user_version; SELECT count(*) FROM tq_keep"), "9\n0");
  ok(st_begin(database));
  ok(st_set_keep(database, "E", 3));
  ok(st_remove_old(database, "E", 5, 100, &removed, &done));
  ok(st_commit(database));
  ck_assert(done);
  ck_assert_uint_eq(removed, 5);
  ck_assert_str_eq(outside(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'tq_E_long'"),
                   "1");
  ok(st_begin(database)); /* for ever again: what has gone stays known */
  ok(st_set_keep(database, "E", -1));
  ok(st_commit(database));
  ck_assert_str_eq(outside(path, "SELECT ifnull(age, 'none'), gone, removed FROM tq_keep"),
                   "none|5|5");
  st_close(database);
}
END_TEST

/* --- what was destroyed */

static const char tables[] =
    "SELECT ifnull(group_concat(name, ' '), '') FROM (SELECT name FROM sqlite_schema"
    " WHERE tbl_name = 'E' OR name LIKE 'tq_gone%' OR name LIKE 'E%' ORDER BY name)";

static struct st_database *open_later(void) {
  struct st_database *database = open_at(path);
  database->gone_rows = 20;
  return database;
}

static void fill(struct st_database *database, int64_t number) {
  ok(st_begin(database));
  for (int64_t i = 0; i < number; i++) put_event(database, (i * 7) % number, i, NET_DEFINITE);
  ok(st_commit(database));
}

static void destroy(struct st_database *database) {
  ok(st_begin(database));
  ok(st_destroy(database, "E"));
  ok(st_commit(database));
}

/* How many slices it took. */
static int remove_all(struct st_database *database, size_t rows) {
  int slices = 0;
  for (; st_has_gone(database); slices++) {
    size_t removed;
    ck_assert_int_lt(slices, 1000);
    ok(st_begin(database));
    ok(st_remove_gone(database, rows, &removed));
    ck_assert(rows == SIZE_MAX || removed <= rows);
    ok(st_commit(database));
  }
  return slices;
}

static void complain(void *context, const char *subject, const char *text) {
  (void)context;
  ck_abort_msg("%s: %s", subject, text);
}

static void check_file(struct st_database *database) {
  const struct st_check_sink sink = {.found = complain};
  ok(st_check(database, &sink));
}

START_TEST(destroyed_in_slices) {
  static const char *const domains[] = {"x"};
  const struct st_index by_x = {
      .name = "ByX", .relation = "E", .domains = domains, .domain_count = 1};
  struct st_database *database = open_later();
  create(database, &event_e);
  fill(database, 100);
  ok(st_begin(database));
  ok(st_index_create(database, &by_x));
  ok(st_commit(database));
  char *before = outside(path, "SELECT group_concat(sql, ';') FROM sqlite_schema");
  ok(st_begin(database)); /* taken back, nothing has happened */
  ok(st_destroy(database, "E"));
  st_rollback(database);
  ck_assert_str_eq(outside(path, "SELECT group_concat(sql, ';') FROM sqlite_schema"), before);
  ck_assert_int_eq(count(database, "E"), 100);
  ok(st_begin(database)); /* its name, and those of its indexes, are there for others */
  ok(st_destroy(database, "E"));
  ok(st_create(database, &event_e));
  ok(st_index_create(database, &by_x));
  put_event(database, 3, 3, NET_DEFINITE);
  ok(st_commit(database));
  ck_assert_str_eq(outside(path, tables),
                   "ByX E E_readable tq_E_long tq_E_set tq_gone_1 "
                   "tq_gone_1_1 tq_gone_1_2 tq_gone_1_3");
  ck_assert_int_eq(count(database, "E"), 1);
  fill(database, 50);
  destroy(database); /* another one of that name */
  create(database, &event_e);
  check_file(database);
  ck_assert_int_gt(remove_all(database, 30), 5);
  ck_assert_str_eq(outside(path, tables), "E E_readable tq_E_long tq_E_set");
  ck_assert_int_eq(count(database, "E"), 0);
  check_file(database);
  st_close(database);
}
END_TEST

static void destroy_some_and_end(void) {
  size_t removed;
  struct st_database *database = open_later();
  CHILD_NEEDS(st_begin(database) == BASE_OK && st_destroy(database, "E") == BASE_OK);
  CHILD_NEEDS(st_commit(database) == BASE_OK && st_begin(database) == BASE_OK);
  CHILD_NEEDS(st_remove_gone(database, 30, &removed) == BASE_OK && removed == 30);
  CHILD_NEEDS(st_commit(database) == BASE_OK && st_begin(database) == BASE_OK);
  CHILD_NEEDS(st_remove_gone(database, 30, &removed) == BASE_OK && removed == 30);
  _exit(0);
}

START_TEST(the_next_program_goes_on) {
  struct st_database *database = open_later(), *reader;
  create(database, &event_e);
  fill(database, 100);
  st_close(database);
  ck_assert_int_eq(in_child(destroy_some_and_end), 0);
  ck_assert_str_eq(outside(path, "SELECT count(*) FROM tq_gone_1"), "70");
  reader = open_reader(path);
  check_file(reader);
  st_close(reader);
  database = open_at(path);
  ck_assert(st_has_gone(database));
  ck_assert_int_eq(remove_all(database, SIZE_MAX), 2);
  ck_assert_str_eq(outside(path, tables), "");
  st_close(database);
  database = open_at(path);
  ck_assert(!st_has_gone(database));
  st_close(database);
}
END_TEST

/* Few rows, and tables that somebody has changed so that they are not as ours any more, go at once. */
START_TEST(dropped_at_once) {
  static const char *const changes[] = {"CREATE INDEX mine ON E(x)",
                                        "CREATE TRIGGER t AFTER DELETE ON E BEGIN SELECT 1; END",
                                        "SELECT 1"};
  for (size_t i = 0; i < LENGTH(changes); i++) {
    struct st_database *database = open_later();
    create(database, &event_e);
    fill(database, i == 2 ? 20 : 100);
    outside(path, changes[i]);
    destroy(database);
    ck_assert(!st_has_gone(database));
    ck_assert_str_eq(outside(path, tables), "");
    create(database, &event_e);
    fill(database, 5);
    ck_assert_int_eq(count(database, "E"), 5);
    destroy(database);
    st_close(database);
  }
}
END_TEST

/* What somebody's ANALYZE has found of a relation is not said of the next one of that name; and who has the file written
 * anew has it without what was destroyed. */
START_TEST(nothing_of_it_is_left) {
  struct st_database *database = open_later();
  create(database, &event_e);
  fill(database, 100);
  outside(path, "ANALYZE");
  ck_assert_str_ne(outside(path, "SELECT count(*) FROM sqlite_stat1 WHERE tbl = 'E'"), "0");
  destroy(database);
  ck_assert(st_has_gone(database));
  ck_assert_str_eq(outside(path, "SELECT count(*) FROM sqlite_stat1 WHERE tbl = 'E'"), "0");
  ok(st_compact(database));
  ck_assert(!st_has_gone(database));
  ck_assert_str_eq(outside(path, tables), "");
  st_close(database);
}
END_TEST

/* Names that have to be quoted, and a domain that hides the number of a row. */
START_TEST(names_of_any_kind) {
  static const struct st_domain domains[] = {{"rowid", {NET_INTEGER, 8}},
                                             {"tq_a\"b_set", {NET_INTEGER, 8}}};
  static const struct st_relation odd = {.name = "a\"b",
                                         .kind = ST_EVENT,
                                         .domains = domains,
                                         .domain_count = 2,
                                         .checkpoint = NET_BEGINNING};
  struct st_database *database = open_later();
  struct net_layout *layout = layout_of(&odd, false);
  create(database, &odd);
  ok(st_begin(database));
  for (int64_t i = 0; i < 100; i++)
    put(database, odd.name, layout, (union net_slot[]){{.i = i}, {.i = i}, {.i = -i}, {.i = i}},
        NET_DEFINITE);
  ok(st_commit(database));
  ok(st_begin(database));
  ok(st_destroy(database, odd.name));
  ok(st_commit(database));
  ck_assert_int_eq(remove_all(database, 40), 4);
  check_file(database);
  st_close(database);
}
END_TEST

/* What cannot be written has not happened, and goes on when it can. */
START_TEST(nothing_can_be_written) {
  struct st_database *database = open_later();
  size_t removed;
  create(database, &event_e);
  fill(database, 3000);
  for (int i = 0; i < 2; i++) {
    ok(st_begin(database));
    sqlite3_exec(database->sqlite, "PRAGMA query_only=ON", NULL, NULL, NULL);
    ck_assert_int_eq(i == 0 ? st_destroy(database, "E") : st_remove_gone(database, 100, &removed),
                     BASE_SYSTEM);
    st_rollback(database);
    base_diag_sink_clear(&diags);
    sqlite3_exec(database->sqlite, "PRAGMA query_only=OFF", NULL, NULL, NULL);
    if (i > 0) continue;
    ck_assert_int_eq(count(database, "E"), 3000);
    destroy(database);
  }
  ck_assert_int_eq(remove_all(database, 100), 32);
  check_file(database);
  st_close(database);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("storage_keep");
  TCase *tests = tcase_create("storage_keep");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, any_history);
  tcase_add_test(tests, rows_of_one_time_that_stay);
  tcase_add_test(tests, a_process_that_ends_between_slices);
  tcase_add_test(tests, a_file_of_the_sixth_version);
  tcase_add_test(tests, destroyed_in_slices);
  tcase_add_test(tests, the_next_program_goes_on);
  tcase_add_test(tests, dropped_at_once);
  tcase_add_test(tests, nothing_of_it_is_left);
  tcase_add_test(tests, names_of_any_kind);
  tcase_add_test(tests, nothing_can_be_written);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
