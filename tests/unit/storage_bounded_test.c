/* Scans of what is wanted: whichever way a scan takes, it gives the rows that are wanted and no others, in
 * the order of time.
 *
 * Relations with short and long, certain and uncertain, open and endless rows are asked for random bounds
 * and values, with and without indexes of users, with rows in memory and without; the result must be the
 * whole scan, filtered here by the definition (wanted.h). Then, that a question about a short time at the
 * end of a long relation is answered by indexes.                                                     */
#include <stdlib.h>

#include "engine/base/env.h"
#include "storage/relations.h"
#include "tests/unit/storage_world.h"

#define SECOND INT64_C(1000000000)

static const struct st_domain domains[] = {{"name", {NET_STRING, 8}},
                                           {"number", {NET_INTEGER, 8}},
                                           {"flag", {NET_BOOL, 1}},
                                           {"key", {NET_BYTES, 0}}};
static const enum st_kind kinds[] = {ST_EVENT, ST_PERIOD, ST_TRACED};

static struct base_random dice;

static int64_t below(int64_t limit) {
  return (int64_t)base_random_below(&dice, (uint64_t)limit);
}

static base_string_id some_name(void) {
  return text(base_arena_printf(arena, "it's %d", (int)below(6)));
}

/* Among them none, zeros and what is no UTF-8; of some there are texts with the same bytes. */
static base_string_id some_key(void) {
  static const char keys[] = "it's 1\0\xff\0";
  size_t first = (size_t)below(9);
  return base_strings_intern(strings, keys + first, (size_t)below((int64_t)(10 - first)));
}

static net_chronon some_time(void) {
  int64_t kind = below(60);
  if (kind == 0) return NET_BEGINNING;
  return kind == 1 ? NET_FOREVER : below(400) * SECOND - 50 * SECOND;
}

static net_chronon behind(net_chronon time, int64_t seconds) {
  return net_chronon_add(time, seconds * SECOND);
}

static void make_row(enum st_kind kind, union net_slot *row) {
  bool event = kind == ST_EVENT;
  union net_slot *domain = row + (event ? 2 : 4);
  row[0].i = some_time();
  if (!event && row[0].i == NET_FOREVER) row[0].i--; /* no period starts then */
  row[1].i = below(4) ? row[0].i : behind(row[0].i, below(2) ? below(5) : below(200));
  if (!event) {
    bool open = below(20) == 0;
    net_chronon from = row[1].i == NET_BEGINNING ? 0 : row[1].i; /* it is not empty */
    row[2].i = open ? NET_OPEN : behind(from, 1 + (below(3) ? below(40) : below(300)));
    row[3].i = open || below(20) == 0 ? NET_FOREVER : behind(row[2].i, below(4) ? 0 : below(100));
  }
  domain[0].s = some_name();
  domain[1].i = below(10) - 5;
  domain[2].i = below(2);
  domain[3].s = some_key();
}

static struct st_relation relation_of(enum st_kind kind) {
  static const uint32_t key[] = {1};
  return (struct st_relation){.name = "R",
                              .kind = kind,
                              .domains = domains,
                              .domain_count = LENGTH(domains),
                              .by = {key, kind == ST_TRACED},
                              .checkpoint = NET_BEGINNING};
}

static void fill(struct st_database *database, const struct st_relation *relation, size_t count) {
  struct net_rows rows;
  net_rows_init(&rows, layout_of(relation, false));
  for (size_t i = 0; i < count; i++) {
    union net_slot row[8] = {{0}};
    make_row(relation->kind, row);
    net_rows_add_copy(&rows, row, below(2) ? NET_DEFINITE : 0);
  }
  ok(st_begin(database));
  ok(st_put_rows(database, "R", &rows));
  ok(st_commit(database));
  net_rows_done(&rows);
}

static struct net_wanted some_values(void) {
  struct net_type integer = {NET_INTEGER, 8}, string = {NET_STRING, 8}, flag = {NET_BOOL, 1};
  struct net_type bytes = {NET_BYTES, 0};
  switch (below(5)) {
    case 4:
      return net_wanted_value(arena, "key", bytes, (union net_slot){.s = some_key()});
    case 0:
      return net_wanted_value(arena, "NAME", string, (union net_slot){.s = some_name()});
    case 1:
      return net_wanted_value(arena, "number", integer, (union net_slot){.i = below(12) - 6});
    case 2:
      return net_wanted_value(arena, "flag", flag, (union net_slot){.i = below(2)});
    default:
      return net_wanted_between(arena, "number", integer, below(6) - 5, below(6));
  }
}

static struct net_wanted some_wanted(bool stops) {
  struct net_wanted wanted = NET_WANTED_ALL;
  if (below(3) == 0) wanted.start_hi_min = some_time();
  if (below(3) == 0) wanted.start_lo_max = some_time();
  if (stops && below(3) == 0) wanted.stop_hi_min = some_time();
  if (stops && below(3) == 0) wanted.stop_lo_max = some_time();
  while (below(2)) {
    struct net_wanted more = some_values(), other = some_values();
    if (below(2)) more = net_wanted_either(arena, &more, &other);
    wanted = net_wanted_both(arena, &wanted, &more);
  }
  return wanted;
}

/* As wanted.h says it. */
static bool is_wanted(const struct net_wanted *wanted, const struct net_layout *layout,
                      const union net_slot *row) {
  bool period = layout->tuple_class == NET_PERIOD;
  if (row[1].i < wanted->start_hi_min || row[0].i > wanted->start_lo_max) return false;
  if (period && row[3].i < wanted->stop_hi_min) return false;
  if (period && row[2].i != NET_OPEN && row[2].i > wanted->stop_lo_max) return false;
  for (uint32_t i = 0; i < wanted->domain_count; i++) {
    const struct net_wanted_domain *domain = &wanted->domains[i];
    int64_t value = row[layout->fields[net_layout_find(layout, domain->name)].slot].i;
    bool found = !domain->listed && value >= domain->min && value <= domain->max;
    for (uint32_t k = 0; domain->listed && k < domain->count; k++)
      found |= domain->values[k].i == value;
    if (!found) return false;
  }
  return true;
}

static void check_scan(struct st_database *database, const struct net_layout *layout) {
  struct net_wanted wanted = some_wanted(layout->tuple_class == NET_PERIOD);
  net_chronon checkpoint = below(3) ? NET_FOREVER : some_time();
  struct net_rows all, found;
  scan_form(database, "R", layout, NET_SCAN_TUPLES, checkpoint, 7, &all);
  if (below(2)) { /* nothing in memory */
    ck_assert_int_eq(st_set_cache(database, 0), BASE_OK);
    ck_assert_int_eq(st_set_cache(database, ST_CACHE_BYTES), BASE_OK);
  }
  scan_wanted(database, "R", layout, NET_SCAN_TUPLES, checkpoint, below(2) ? 1024 : 5, &wanted,
              &found);
  size_t next = 0;
  for (size_t i = 0; i < all.count; i++) {
    if (!is_wanted(&wanted, layout, net_rows_row(&all, i))) continue;
    ck_assert_uint_lt(next, found.count);
    ck_assert_int_eq(found.marks[next], all.marks[i]);
    ck_assert_mem_eq(net_rows_row(&found, next), net_rows_row(&all, i),
                     layout->slot_count * sizeof(union net_slot));
    next++;
  }
  ck_assert_uint_eq(next, found.count);
  net_rows_done(&all);
  net_rows_done(&found);
}

/* The records of what is wanted: those of the periods that are. */
static void check_records(struct st_database *database, const struct st_relation *relation) {
  const struct net_layout *layout = layout_of(relation, true);
  struct net_wanted wanted = some_wanted(false);
  struct net_rows found, all;
  scan_wanted(database, "R", layout, NET_SCAN_RECORDS, NET_FOREVER, 5, &wanted, &found);
  scan_wanted(database, "R", layout_of(relation, false), NET_SCAN_TUPLES, NET_FOREVER, 5, &wanted,
              &all);
  size_t starts = 0;
  for (size_t i = 0; i < found.count; i++) {
    if (found.marks[i] & NET_CLOSES) continue;
    ck_assert_uint_lt(starts, all.count);
    ck_assert_mem_eq(net_rows_row(&found, i), net_rows_row(&all, starts),
                     2 * sizeof(union net_slot));
    starts++;
  }
  ck_assert_uint_eq(starts, all.count);
  net_rows_done(&found);
  net_rows_done(&all);
}

START_TEST(whatever_is_wanted) {
  static const char *const by_number[] = {"number"}, *const by_name[] = {"name", "number"};
  dice = (struct base_random){(uint64_t)_i + 1};
  struct st_relation relation = relation_of(kinds[_i % (int)LENGTH(kinds)]);
  struct st_database *database = open_at(path);
  create(database, &relation);
  fill(database, &relation, (size_t)below(2) ? 300 : (size_t)below(12));
  struct st_index indexes[] = {{"one", "R", by_number, 1, false}, {"two", "r", by_name, 2, false}};
  ok(st_begin(database));
  for (size_t i = 0; i < LENGTH(indexes); i++)
    if (below(2)) ok(st_index_create(database, &indexes[i]));
  ok(st_commit(database));
  if (below(4) == 0) outside(path, "DROP INDEX tq_R_long"); /* as in older files */
  for (int i = 0; i < 150; i++) {
    check_scan(database, layout_of(&relation, false));
    if (relation.kind == ST_TRACED) check_records(database, &relation);
  }
  st_close(database);
}
END_TEST

static void check_bounded(struct st_database *database, const struct net_layout *layout,
                          const struct net_wanted *wanted, bool expected) {
  struct st_table *table = NULL;
  sqlite3_stmt *statements[2];
  ok(st_catalogue_find(database, "R", &table));
  ok(st_open_bounded(database, table, layout, wanted, NET_FOREVER, statements));
  ck_assert_int_eq(statements[1] != NULL, expected);
  sqlite3_finalize(statements[0]);
  sqlite3_finalize(statements[1]);
}

/* A row a second for three hours, one of them endless. */
START_TEST(the_last_minute) {
  static const char *const by_number[] = {"number"};
  struct st_relation relation = relation_of(ST_PERIOD);
  const struct net_layout *layout = layout_of(&relation, false);
  struct st_database *database = open_at(path);
  struct net_rows rows;
  create(database, &relation);
  net_rows_init(&rows, layout);
  for (int64_t i = 0; i < 10800; i++) {
    net_chronon start = i * SECOND, stop = i == 77 ? NET_FOREVER : start + 3 * SECOND;
    union net_slot row[] = {{.i = start},      {.i = start},   {.i = stop}, {.i = stop},
                            {.s = text("it")}, {.i = i % 100}, {.i = 0},    {.s = text("")}};
    net_rows_add_copy(&rows, row, NET_DEFINITE);
  }
  ok(st_begin(database));
  ok(st_put_rows(database, "R", &rows));
  ok(st_commit(database));
  net_rows_done(&rows);
  ck_assert_int_eq(st_set_cache(database, 0), BASE_OK);
  struct net_wanted wanted = NET_WANTED_ALL;
  check_bounded(database, layout, &wanted, false);
  wanted.stop_hi_min = (10800 - 60) * SECOND + 1;
  check_bounded(database, layout, &wanted, true);
  struct net_rows found;
  scan_wanted(database, "R", layout, NET_SCAN_TUPLES, NET_FOREVER, 10, &wanted, &found);
  ck_assert_uint_eq(found.count, 63); /* the endless one, and those from second 10738 on */
  ck_assert_int_eq(net_rows_row(&found, 0)[0].i, 77 * SECOND);
  net_rows_done(&found);
  wanted.stop_hi_min = 3 * SECOND; /* most of them: not worth it */
  check_bounded(database, layout, &wanted, false);
  wanted.start_lo_max = 70 * SECOND;
  check_bounded(database, layout, &wanted, true);
  wanted = net_wanted_value(arena, "number", domains[1].type, (union net_slot){.i = 5});
  check_bounded(database, layout, &wanted, false);
  ok(st_begin(database));
  ok(st_index_create(database, &(struct st_index){"X", "R", by_number, 1, false}));
  ok(st_commit(database));
  check_bounded(database, layout, &wanted, true);
  st_close(database);
}
END_TEST

/* --- what is not over */

static bool is_long(const struct net_layout *layout, const union net_slot *row) {
  int64_t lasts;
  return __builtin_sub_overflow(row[layout->tuple_class == NET_EVENT ? 1 : 3].i, row[0].i,
                                &lasts) ||
         lasts > st_long_span(NET_TIMELINE_REAL);
}

/* By definition, of all rows. */
static void check_alive(struct st_database *database, const struct net_layout *layout,
                        net_chronon time) {
  struct st_table *table = NULL;
  struct net_rows all;
  net_chronon first = NET_FOREVER, first_short = time, found, bound;
  scan_form(database, "R", layout, NET_SCAN_TUPLES, NET_FOREVER, 100, &all);
  for (size_t i = 0; i < all.count; i++) {
    const union net_slot *row = net_rows_row(&all, i);
    bool alive = row[layout->tuple_class == NET_EVENT ? 1 : 3].i >= time && row[0].i < time;
    if (alive && row[0].i < first) first = row[0].i;
    if (alive && !is_long(layout, row) && row[0].i < first_short) first_short = row[0].i;
  }
  net_rows_done(&all);
  ok(st_first_alive(database, "R", time, &found));
  ck_assert_int_eq(found, first);
  ok(st_catalogue_find(database, "R", &table));
  ok(st_first_short(database, table, time, &bound));
  ck_assert_int_le(bound, first_short);
}

/* One that is not over at TIME, and not long. */
static void put_one(struct st_database *database, const struct st_relation *relation,
                    const struct net_layout *layout, net_chronon time) {
  union net_slot row[8] = {{0}};
  struct net_store *store = st_net(database);
  bool event = relation->kind == ST_EVENT;
  make_row(relation->kind, row);
  row[0].i = row[1].i = time - below(50) * SECOND;
  row[event ? 1 : 2].i = time + (1 + below(9)) * SECOND;
  if (!event) row[3] = row[2];
  ok(store->class->put(store, "R", layout, row, NET_DEFINITE));
}

/* Where what is not over begins is as if nothing had been remembered, whatever is written, taken back or done by others. */
START_TEST(what_is_not_over) {
  dice = (struct base_random){(uint64_t)_i + 1};
  struct st_relation relation = relation_of(kinds[_i % 2]);
  const struct net_layout *layout = layout_of(&relation, false);
  struct st_database *database = open_at(path);
  create(database, &relation);
  fill(database, &relation, below(2) ? 300 : 30);
  for (int i = 0; i < 60; i++) {
    net_chronon time = below(500) * SECOND - 50 * SECOND;
    check_alive(database, layout, time);
    if (below(2)) {
      ok(st_begin(database));
      bool clears = below(3) == 0;
      if (clears) ok(st_clear(database, "R"));
      put_one(database, &relation, layout, time);
      check_alive(database, layout, time + below(10) * SECOND);
      if (clears || below(2))
        st_rollback(database);
      else
        ok(st_commit(database));
    } else if (below(4) == 0) {
      outside(path, relation.kind == ST_EVENT ? "UPDATE OR IGNORE R SET at_lo = at_lo - 7000000000 "
                                                "WHERE rowid % 3 = 0 AND at_lo > 0"
                                              : "UPDATE OR IGNORE R SET start_lo = start_lo - "
                                                "7000000000 WHERE rowid % 3 = 0 AND start_lo > 0");
    }
    check_alive(database, layout, time + (10 + below(10)) * SECOND);
  }
  st_close(database);
}
END_TEST

/* Of which statements SQLite walked a table or an index as a whole. */
static int trace_scans(unsigned event, void *context, void *statement, void *unused) {
  int *scans = context;
  (void)event;
  (void)unused;
  *scans += sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0);
  return 0;
}

/* What a replay asks is answered by indexes, and costs as much as it finds: of rows that last a second each and one that
 * is open. */
START_TEST(a_replay_walks_nothing) {
  struct st_relation relation = relation_of(kinds[_i % 2]);
  const struct net_layout *layout = layout_of(&relation, false);
  struct st_database *database = open_at(path);
  struct net_rows rows, found;
  net_chronon first;
  int scans = 0;
  create(database, &relation);
  net_rows_init(&rows, layout);
  for (int64_t i = 0; i < 4000; i++) {
    union net_slot period[] = {{.i = i * SECOND},
                               {.i = i * SECOND},
                               {.i = (i + 1) * SECOND},
                               {.i = (i + 1) * SECOND},
                               {.s = text("it")},
                               {.i = i % 100},
                               {.i = 0},
                               {.s = text("")}};
    if (i == 3990 && relation.kind == ST_PERIOD) {
      period[2].i = NET_OPEN;
      period[3].i = NET_FOREVER;
    }
    net_rows_add_copy(&rows, relation.kind == ST_EVENT ? period + 2 : period, NET_DEFINITE);
  }
  ok(st_begin(database));
  ok(st_put_rows(database, "R", &rows));
  ok(st_commit(database));
  net_rows_done(&rows);
  ck_assert_int_eq(st_set_cache(database, 0), BASE_OK); /* as after a restart */
  ck_assert_int_eq(st_set_cache(database, ST_CACHE_BYTES), BASE_OK);
  sqlite3_trace_v2(database->sqlite, SQLITE_TRACE_PROFILE, trace_scans, &scans);
  struct net_wanted wanted = NET_WANTED_ALL;
  if (relation.kind == ST_EVENT)
    wanted.start_hi_min = 3995 * SECOND;
  else
    wanted.stop_hi_min = 3995 * SECOND;
  scan_wanted(database, "R", layout, NET_SCAN_TUPLES, NET_FOREVER, 1000, &wanted, &found);
  ck_assert_uint_eq(found.count, relation.kind == ST_EVENT ? 6 : 7);
  net_rows_done(&found);
  ok(st_first_alive(database, "R", 3995 * SECOND, &first));
  ok(st_begin(database));
  ok(st_clear_open(database, "R", 3995 * SECOND));
  ok(st_commit(database));
  ck_assert_int_lt(scans, 20);
  st_close(database);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("storage_bounded");
  TCase *test = tcase_create("storage_bounded");
  tcase_add_checked_fixture(test, set_up, tear_down);
  tcase_set_timeout(test, 120);
  tcase_add_loop_test(test, whatever_is_wanted, 0, 30);
  tcase_add_test(test, the_last_minute);
  tcase_add_loop_test(test, what_is_not_over, 0, 10);
  tcase_add_loop_test(test, a_replay_walks_nothing, 0, 2);
  suite_add_tcase(suite, test);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
