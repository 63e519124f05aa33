/* Rows taken out one by one; indexes, structures, rules, retention; files of the first version. */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/storage_world.h"

static const struct st_domain many_domains[] = {{"x", {NET_INTEGER, 8}},
                                                {"s", {NET_STRING, 0}},
                                                {"f", {NET_FLOAT, 8}},
                                                {"t", {NET_TEMPORAL, 0}}};
static const struct st_relation many = {.name = "Many",
                                        .kind = ST_PERIOD,
                                        .domains = many_domains,
                                        .domain_count = 4,
                                        .checkpoint = NET_FOREVER};

static void fill(union net_slot *row, int64_t start, int64_t stop, int64_t x, const char *s) {
  memset(row, 0, 11 * sizeof *row);
  row[0].i = row[1].i = start;
  row[2].i = stop;
  row[3].i = stop == NET_OPEN ? NET_FOREVER : stop;
  row[4].i = x;
  row[5].s = text(s);
  row[6].f = 0.1;
  row[7].f = (double)x;
  row[9].f = 1;
}

START_TEST(one_row_is_taken_out) {
  struct st_database *database = open_at(path);
  struct net_layout *layout = layout_of(&many, false);
  union net_slot row[11], other[11];
  create(database, &many);
  ok(st_begin(database));
  fill(row, 1, 5, 7, "a");
  put(database, "Many", layout, row, NET_DEFINITE);
  fill(other, 1, 5, 7, "b");
  put(database, "Many", layout, other, 0);
  fill(other, 1, NET_OPEN, 7, "a");
  put(database, "Many", layout, other, NET_DEFINITE);
  ok(st_remove(database, "many", layout, row));
  ck_assert_int_eq(count(database, "Many"), 2);
  ok(st_remove(database, "many", layout, row)); /* there is none any more */
  ck_assert_int_eq(count(database, "Many"), 2);
  ok(st_remove(database, "many", layout, other)); /* the open one */
  fill(other, 1, 5, 7, "b");
  other[6].f = 0.2;
  ok(st_remove(database, "many", layout, other)); /* not quite */
  ck_assert_int_eq(count(database, "Many"), 1);
  other[6].f = 0.1;
  ok(st_remove(database, "many", layout, other)); /* definite or not */
  ck_assert_int_eq(count(database, "Many"), 0);
  ok(st_commit(database));
  st_close(database);
}
END_TEST

START_TEST(events_without_domains) {
  static const struct st_relation bare = {
      .name = "Bare", .kind = ST_EVENT, .checkpoint = NET_FOREVER};
  struct st_database *database = open_at(path);
  struct net_layout *layout = layout_of(&bare, false);
  union net_slot row[2] = {{.i = 3}, {.i = 4}}, other[2] = {{.i = 3}, {.i = 5}};
  create(database, &bare);
  ok(st_begin(database));
  put(database, "Bare", layout, row, NET_DEFINITE);
  put(database, "Bare", layout, other, NET_DEFINITE);
  ok(st_remove(database, "Bare", layout, row));
  ck_assert_int_eq(count(database, "Bare"), 1);
  ok(st_commit(database));
  st_close(database);
}
END_TEST

static struct st_index *only_index(struct st_database *database) {
  struct st_index *indexes;
  size_t index_count;
  ok(st_indexes(database, arena, &indexes, &index_count));
  ck_assert_uint_eq(index_count, 1);
  return indexes;
}

START_TEST(indexes_of_users) {
  static const char *const domains[] = {"S", "t"};
  struct st_database *database = open_at(path);
  create(database, &many);
  ok(st_begin(database));
  ok(st_index_create(
      database, &(struct st_index){
                    .name = "ByS", .relation = "many", .domains = domains, .domain_count = 2}));
  ok(st_commit(database));
  const struct st_index *index = only_index(database);
  ck_assert_str_eq(index->name, "ByS");
  ck_assert_str_eq(index->relation, "Many");
  ck_assert_uint_eq(index->domain_count, 2);
  ck_assert_str_eq(index->domains[0], "s");
  ck_assert(!index->structure);
  ck_assert_str_eq(outside(path, "SELECT group_concat(name) FROM pragma_index_info('ByS')"),
                   "s,t_n0,t_n1,t_d0,t_d1");
  /* one set of names */
  ok(st_begin(database));
  size_t before = diags.count;
  ck_assert_int_eq(st_index_create(database, &(struct st_index){.name = "bys",
                                                                .relation = "Many",
                                                                .domains = domains,
                                                                .domain_count = 1}),
                   BASE_USER);
  ck_assert_int_eq(diags.items[before].number, MSG_NAME_EXISTS);
  ck_assert_int_eq(st_index_create(database, &(struct st_index){.name = "MANY",
                                                                .relation = "Many",
                                                                .domains = domains,
                                                                .domain_count = 1}),
                   BASE_USER);
  struct st_relation bys = event_e;
  bys.name = "byS";
  ck_assert_int_eq(st_create(database, &bys), BASE_USER);
  ck_assert_int_eq(diags.items[before + 2].number, MSG_NAME_EXISTS);
  ok(st_index_destroy(database, "BYS"));
  ok(st_create(database, &bys));
  ok(st_commit(database));
  st_close(database);
}
END_TEST

START_TEST(structures_of_relations) {
  static const char *const domains[] = {"x"};
  enum st_structure structure;
  struct st_database *database = open_at(path);
  create(database, &many);
  ok(st_structure(database, "Many", &structure));
  ck_assert_int_eq(structure, ST_TIME);
  ok(st_begin(database));
  ok(st_modify(database, "many", ST_HASH, domains, 1));
  ok(st_modify(database, "many", ST_HASH, domains, 1));
  ok(st_structure(database, "Many", &structure));
  ck_assert_int_eq(structure, ST_HASH);
  ck_assert(only_index(database)->structure);
  ok(st_modify(database, "many", ST_HEAP, NULL, 0));
  ok(st_structure(database, "many", &structure));
  ck_assert_int_eq(structure, ST_HEAP);
  struct st_index *indexes;
  size_t index_count;
  ok(st_indexes(database, arena, &indexes, &index_count));
  ck_assert_uint_eq(index_count, 0);
  ok(st_modify(database, "many", ST_HASH, domains, 1));
  ok(st_destroy(database, "Many"));
  ok(st_indexes(database, arena, &indexes, &index_count));
  ck_assert_uint_eq(index_count, 0);
  ok(st_commit(database));
  st_close(database);
}
END_TEST

START_TEST(rules_and_permits) {
  struct st_database *database = open_at(path);
  struct st_rule *all;
  size_t all_count;
  int64_t number;
  bool found;
  create(database, &event_e);
  create(database, &period_p);
  ok(st_begin(database));
  ok(st_rule_add(database, ST_INTEGRITY, "e", "one", &number));
  ck_assert_int_eq(number, 1);
  ok(st_rule_add(database, ST_INTEGRITY, "E", "two", &number));
  ck_assert_int_eq(number, 2);
  ok(st_rule_add(database, ST_PERMIT, "E", "three", &number));
  ck_assert_int_eq(number, 1);
  ok(st_rule_add(database, ST_INTEGRITY, "P", "four", &number));
  ck_assert_int_eq(number, 1);
  ok(st_rule_remove(database, ST_INTEGRITY, "e", 1, &found));
  ck_assert(found);
  ok(st_rule_remove(database, ST_INTEGRITY, "e", 1, &found));
  ck_assert(!found);
  ok(st_commit(database));
  st_close(database);
  database = open_at(path);
  ok(st_rules(database, arena, &all, &all_count));
  ck_assert_uint_eq(all_count, 3);
  ck_assert_str_eq(all[0].text, "two");
  ck_assert_int_eq(all[0].number, 2);
  ck_assert_int_eq(all[1].kind, ST_PERMIT);
  ck_assert_str_eq(all[2].relation, "P");
  ok(st_begin(database));
  ok(st_destroy(database, "E"));
  ok(st_commit(database));
  ok(st_rules(database, arena, &all, &all_count));
  ck_assert_uint_eq(all_count, 1);
  ck_assert(st_is_owner(database));
  st_close(database);
}
END_TEST

START_TEST(retention_and_views) {
  struct st_relation view = event_e, *all;
  size_t all_count;
  view.name = "V";
  view.kind = ST_DERIVED_EVENT;
  view.definition = "the text";
  view.view = true;
  struct st_database *database = open_at(path);
  create(database, &event_e);
  create(database, &view);
  ok(st_begin(database));
  ok(st_set_until(database, "e", 77));
  ok(st_commit(database));
  st_close(database);
  database = open_reader(path);
  ok(st_relations(database, arena, &all, &all_count));
  ck_assert_uint_eq(all_count, 2);
  ck_assert(all[0].expires && all[0].until == 77 && !all[0].view);
  ck_assert(all[1].view && !all[1].expires);
  ck_assert_str_eq(all[1].definition, "the text");
  st_close(database);
  ck_assert_str_eq(outside(path, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'V%'"), "0");
  database = open_at(path);
  ok(st_begin(database));
  ok(st_set_until(database, "e", NET_FOREVER));
  ok(st_destroy(database, "v"));
  ok(st_commit(database));
  ok(st_relations(database, arena, &all, &all_count));
  ck_assert_uint_eq(all_count, 1);
  ck_assert(!all[0].expires);
  st_close(database);
}
END_TEST

/* The table that was there before version 4, and was never written. */
/* What version 6 added. */
#define NO_LOG "DROP TABLE tq_log; DROP TABLE tq_keep;"

/* What version 5 added. */
#define NO_SOURCES                                                                           \
  "DROP TABLE tq_source; DROP TABLE tq_pipe; DROP TABLE tq_loss; DROP TABLE tq_description;" \
  "DROP TABLE tq_announced;" NO_LOG NO_NINTH

#define OLD_NODE_STATS                                                                            \
  "DROP TABLE tq_node_stats; CREATE TABLE tq_node_stats (query TEXT NOT NULL COLLATE NOCASE, "    \
  "node INTEGER NOT NULL, kind TEXT NOT NULL, fires INTEGER NOT NULL, rows_in INTEGER NOT NULL, " \
  "rows_out INTEGER NOT NULL, state_rows INTEGER NOT NULL, state_rows_max INTEGER NOT NULL, "     \
  "PRIMARY KEY (query, node)) STRICT;"

/* Makes of the file at PATH what the first version would have made. */
static void make_old(void) {
  sqlite3 *raw;
  ck_assert_int_eq(sqlite3_open(path, &raw), SQLITE_OK);
  ck_assert_int_eq(
      sqlite3_exec(
          raw,
          "DROP INDEX tq_P_set; CREATE UNIQUE INDEX tq_P_set ON P(start_lo,"
          "start_hi,ifnull(stop_lo,-9223372036854775808),stop_hi,x);"
          "DROP TABLE tq_view; DROP TABLE tq_index; DROP TABLE "
          "tq_index_domain; DROP TABLE tq_structure; DROP TABLE tq_rule;"
          "DROP TABLE tq_retention; ALTER TABLE tq_checkpoint DROP COLUMN passed;" NO_SOURCES
              OLD_NODE_STATS "PRAGMA user_version=1;",
          NULL, NULL, NULL),
      SQLITE_OK);
  sqlite3_close(raw);
}

START_TEST(a_file_of_the_first_version) {
  struct st_relation *all;
  struct st_rule *all_rules;
  struct st_index *indexes;
  size_t all_count;
  enum st_structure structure;
  struct st_database *database = open_at(path);
  create(database, &event_e);
  create(database, &period_p);
  ok(st_begin(database));
  put_event(database, 1, 2, NET_DEFINITE);
  ok(st_commit(database));
  st_close(database);
  make_old();
  database = open_reader(path);
  ok(st_relations(database, arena, &all, &all_count));
  ck_assert_uint_eq(all_count, 2);
  ok(st_rules(database, arena, &all_rules, &all_count));
  ck_assert_uint_eq(all_count, 0);
  ok(st_indexes(database, arena, &indexes, &all_count));
  ck_assert_uint_eq(all_count, 0);
  ok(st_structure(database, "E", &structure));
  ck_assert_int_eq(structure, ST_TIME);
  st_close(database);
  ck_assert_str_eq(outside(path, "PRAGMA user_version"), "1");
  database = open_at(path);
  ck_assert_int_eq(count(database, "E"), 1);
  ck_assert_str_eq(outside(path, "PRAGMA user_version; SELECT count(*) FROM tq_rule"), "9\n0");
  ck_assert_str_eq(outside(path,
                           "SELECT count(*) FROM sqlite_master WHERE type='index' AND "
                           "sql LIKE '%ifnull(stop_lo,-9223372036854775807)%'"),
                   "1");
  st_close(database);
}
END_TEST

START_TEST(a_file_of_the_second_version) {
  struct st_relation *all;
  size_t all_count;
  sqlite3 *raw;
  struct st_database *database = open_at(path);
  create(database, &event_e);
  create(database, &period_p);
  ok(st_begin(database));
  ok(st_net(database)->class->checkpoint(st_net(database), "E", 17));
  ok(st_net(database)->class->checkpoint(st_net(database), "P", NET_FOREVER));
  ok(st_commit(database));
  st_close(database);
  ck_assert_int_eq(sqlite3_open(path, &raw), SQLITE_OK);
  ck_assert_int_eq(
      sqlite3_exec(raw,
                   "ALTER TABLE tq_checkpoint DROP COLUMN passed;" NO_SOURCES OLD_NODE_STATS
                   "PRAGMA user_version=2;",
                   NULL, NULL, NULL),
      SQLITE_OK);
  sqlite3_close(raw);
  database = open_reader(path);
  ok(st_relations(database, arena, &all, &all_count));
  ck_assert_uint_eq(all_count, 2);
  ck_assert_int_eq(all[0].passed, NET_BEGINNING);
  st_close(database);
  database = open_at(path);
  ok(st_relations(database, arena, &all, &all_count));
  ck_assert_int_eq(all[0].passed, 17);
  ck_assert_int_eq(all[1].passed, NET_BEGINNING);
  ok(st_begin(database));
  ok(st_set_passed(database, "p", 30));
  ok(st_net(database)->class->checkpoint(st_net(database), "P", NET_FOREVER));
  ok(st_commit(database));
  st_close(database);
  database = open_at(path);
  ok(st_relations(database, arena, &all, &all_count));
  ck_assert_int_eq(all[1].passed, 30);
  ck_assert_int_eq(all[1].checkpoint, NET_FOREVER);
  st_close(database);
}
END_TEST

static struct st_node_stats node_stats(const char *relation, int64_t node, int64_t fires) {
  return (struct st_node_stats){.relation = relation,
                                .node = node,
                                .kind = "join",
                                .what = "overlap",
                                .inputs = "1 E.2",
                                .fires = fires,
                                .rows_in = 2,
                                .rows_out = 3,
                                .time_ns = 4,
                                .state_rows = 5,
                                .state_rows_max = 6,
                                .state_bytes = 7,
                                .state_bytes_max = 8};
}

START_TEST(figures_of_nodes) {
  struct st_node_stats *all;
  size_t all_count;
  struct st_database *database = open_at(path);
  create(database, &event_e);
  create(database, &period_p);
  ok(st_node_stats_load(database, arena, &all, &all_count));
  ck_assert_uint_eq(all_count, 0);
  struct st_node_stats first[] = {node_stats("P", 1, 10), node_stats("E", 2, 20),
                                  node_stats("E", 1, 30)};
  ok(st_begin(database));
  ok(st_node_stats_save(database, first, 3));
  ok(st_node_stats_save(database, NULL, 0));
  ok(st_commit(database));
  struct st_node_stats again = node_stats("e", 2, 21); /* the same: names have no case */
  again.rows_in = 9;
  ok(st_begin(database));
  ok(st_node_stats_save(database, &again, 1));
  ok(st_commit(database));
  ok(st_node_stats_load(database, arena, &all, &all_count));
  ck_assert_uint_eq(all_count, 3);
  ck_assert_str_eq(all[0].relation, "E");
  ck_assert_int_eq(all[0].node, 1);
  ck_assert_int_eq(all[0].fires, 30);
  ck_assert_int_eq(all[1].fires, 21);
  ck_assert_int_eq(all[1].rows_in, 9);
  ck_assert_str_eq(all[1].kind, "join");
  ck_assert_str_eq(all[1].what, "overlap");
  ck_assert_str_eq(all[1].inputs, "1 E.2");
  ck_assert_int_eq(all[1].rows_out, 3);
  ck_assert_int_eq(all[1].time_ns, 4);
  ck_assert_int_eq(all[1].state_rows, 5);
  ck_assert_int_eq(all[1].state_rows_max, 6);
  ck_assert_int_eq(all[1].state_bytes, 7);
  ck_assert_int_eq(all[1].state_bytes_max, 8);
  ok(st_begin(database));
  ok(st_node_stats_clear(database, "p"));
  ok(st_destroy(database, "E")); /* and its nodes' figures */
  ok(st_commit(database));
  ok(st_node_stats_load(database, arena, &all, &all_count));
  ck_assert_uint_eq(all_count, 0);
  st_close(database);
}
END_TEST

/* Before version 4 nobody wrote figures. */
START_TEST(a_file_of_the_third_version) {
  struct st_node_stats *all;
  size_t all_count;
  sqlite3 *raw;
  struct st_database *database = open_at(path);
  create(database, &event_e);
  st_close(database);
  ck_assert_int_eq(sqlite3_open(path, &raw), SQLITE_OK);
  ck_assert_int_eq(
      sqlite3_exec(raw, NO_SOURCES OLD_NODE_STATS "PRAGMA user_version=3;", NULL, NULL, NULL),
      SQLITE_OK);
  sqlite3_close(raw);
  database = open_reader(path);
  ok(st_node_stats_load(database, arena, &all, &all_count));
  ck_assert_uint_eq(all_count, 0);
  st_close(database);
  ck_assert_str_eq(outside(path, "PRAGMA user_version"), "3");
  database = open_at(path);
  struct st_node_stats one = node_stats("E", 1, 1);
  ok(st_begin(database));
  ok(st_node_stats_save(database, &one, 1));
  ok(st_commit(database));
  st_close(database);
  ck_assert_str_eq(outside(path, "PRAGMA user_version; SELECT relation, fires FROM tq_node_stats"),
                   "9\nE|1");
}
END_TEST

/* Before version 9 a key was one domain. */
START_TEST(a_file_of_the_eighth_version) {
  static const uint32_t key[] = {1};
  static const struct st_domain xy[] = {{"x", {NET_INTEGER, 4}}, {"y", {NET_INTEGER, 4}}};
  static const struct st_relation traced = {.name = "T",
                                            .kind = ST_TRACED,
                                            .domains = xy,
                                            .domain_count = 2,
                                            .by = {key, 1},
                                            .checkpoint = NET_BEGINNING};
  struct st_relation *all;
  size_t count_of_all;
  struct st_database *database = open_at(path);
  create(database, &event_e);
  create(database, &traced);
  st_close(database);
  outside(path, NO_NINTH "PRAGMA user_version=8");
  ck_assert_str_eq(outside(path, "SELECT by_domain FROM tq_relation WHERE name = 'T'"), "1");
  for (int written = 0; written < 2; written++) {
    database = written ? open_at(path) : open_reader(path);
    ok(st_relations(database, arena, &all, &count_of_all));
    ck_assert_uint_eq(count_of_all, 2);
    ck_assert(!all[0].unusable && !all[1].unusable && all[0].by.count == 0);
    ck_assert(all[1].by.count == 1 && all[1].by.fields[0] == 1);
    st_close(database);
  }
  ck_assert_str_eq(outside(path,
                           "PRAGMA user_version; SELECT name FROM tq_domain"
                           " WHERE key_place = 0"),
                   "9\ny");
}
END_TEST

START_TEST(a_file_of_the_fourth_version) {
  struct st_source *sources;
  struct st_announced *announced;
  size_t sources_count, announced_count;
  sqlite3 *raw;
  struct st_database *database = open_at(path);
  create(database, &event_e);
  st_close(database);
  ck_assert_int_eq(sqlite3_open(path, &raw), SQLITE_OK);
  ck_assert_int_eq(sqlite3_exec(raw, NO_SOURCES "PRAGMA user_version=4;", NULL, NULL, NULL),
                   SQLITE_OK);
  sqlite3_close(raw);
  database = open_reader(path);
  ok(st_sources(database, arena, &sources, &sources_count));
  ok(st_announced(database, arena, &announced, &announced_count));
  ck_assert_uint_eq(sources_count + announced_count, 0);
  st_close(database);
  database = open_at(path);
  const struct st_source one = {"inc1", "here", UINT64_MAX, false, 5};
  const struct st_pipe pipe = {UINT64_MAX - 1, "P:a#1", UINT64_MAX, NET_BEGINNING, 5};
  const struct st_announced e = {"E", UINT64_MAX, -1, true, "Plant", "e"};
  ok(st_begin(database));
  ok(st_source_save(database, &one));
  ok(st_pipes_save(database, &pipe, 1));
  ok(st_announced_save(database, &e));
  ok(st_commit(database));
  st_close(database);
  database = open_at(path);
  struct st_pipe found;
  bool any;
  ok(st_sources(database, arena, &sources, &sources_count));
  ck_assert_uint_eq(sources_count, 1);
  ck_assert_uint_eq(sources[0].number, UINT64_MAX);
  ok(st_pipe_load(database, arena, UINT64_MAX - 1, &any, &found));
  ck_assert(any && found.position == UINT64_MAX && found.at == NET_BEGINNING);
  ok(st_announced(database, arena, &announced, &announced_count));
  ck_assert_uint_eq(announced_count, 1);
  ck_assert_uint_eq(announced[0].digest, UINT64_MAX);
  ck_assert_int_eq(announced[0].holder, -1);
  ck_assert_str_eq(announced[0].taskforce, "Plant");
  ck_assert_str_eq(announced[0].event, "e");
  ok(st_begin(database));
  ok(st_sources_forget(database, 6));
  ok(st_destroy(database, "E"));
  ok(st_commit(database));
  ok(st_pipe_load(database, arena, UINT64_MAX - 1, &any, &found));
  ck_assert(!any);
  ok(st_announced(database, arena, &announced, &announced_count));
  ck_assert_uint_eq(announced_count, 0);
  st_close(database);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("storage_rules");
  TCase *tests = tcase_create("storage_rules");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, one_row_is_taken_out);
  tcase_add_test(tests, events_without_domains);
  tcase_add_test(tests, indexes_of_users);
  tcase_add_test(tests, structures_of_relations);
  tcase_add_test(tests, rules_and_permits);
  tcase_add_test(tests, retention_and_views);
  tcase_add_test(tests, a_file_of_the_first_version);
  tcase_add_test(tests, a_file_of_the_second_version);
  tcase_add_test(tests, a_file_of_the_third_version);
  tcase_add_test(tests, a_file_of_the_fourth_version);
  tcase_add_test(tests, a_file_of_the_eighth_version);
  tcase_add_test(tests, figures_of_nodes);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
