/* Rows kept in memory: whatever happens to a relation, its scans are the same with and without them.
 *
 * Two databases go through the same random history of writes, transactions, rollbacks, writes of
 * another connection and sweeps of the table of strings; one keeps rows in memory (in changing amounts),
 * the other none. After most steps a scan of a random form has to give the same rows, marks and batches.
 * Then, that rows are in memory when they should be, and not beyond the limit.                       */
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "engine/base/env.h"
#include "storage/relations.h"
#include "tests/unit/storage_world.h"

static const struct st_domain domains[] = {{"name", {NET_STRING, 8}},
                                           {"level", {NET_FLOAT, 8}},
                                           {"number", {NET_INTEGER, 8}},
                                           {"trend", {NET_TEMPORAL, 0}}};
static const struct st_relation traced = {.name = "T",
                                          .kind = ST_TRACED,
                                          .domains = domains,
                                          .domain_count = LENGTH(domains),
                                          .by = {(const uint32_t[]){2}, 1},
                                          .checkpoint = NET_BEGINNING};

enum { WITH, WITHOUT, BOTH };

struct world {
  struct base_random random;
  struct st_database *databases[BOTH];
  sqlite3 *others[BOTH];         /* other connections to the same files */
  struct net_layout *layouts[3]; /* all domains; others in another order; some */
  unsigned transactions, savepoints;
};

static uint64_t below(struct world *world, uint64_t limit) {
  return base_random_below(&world->random, limit);
}

static base_string_id some_name(struct world *world) {
  char name[32];
  snprintf(name, sizeof name, "%c%d", "Aaé"[below(world, 2)], (int)below(world, 5));
  return text(name);
}

static net_chronon some_time(struct world *world) {
  uint64_t kind = below(world, 40);
  if (kind == 0) return NET_BEGINNING;
  return kind == 1 ? NET_FOREVER : (net_chronon)below(world, 12) - 3;
}

/* A row of the layout of all domains. */
static void make_row(struct world *world, union net_slot *row) {
  row[0].i = some_time(world);
  if (row[0].i == NET_FOREVER) row[0].i--; /* nothing starts then */
  row[1].i = row[0].i < NET_FOREVER - 1 ? row[0].i + (net_chronon)below(world, 2) : row[0].i;
  bool open = below(world, 3) == 0;
  row[2].i = open ? NET_OPEN : row[1].i < NET_FOREVER ? row[1].i + 1 : NET_FOREVER;
  row[3].i = open ? NET_FOREVER : row[2].i;
  row[4].s = some_name(world);
  row[5].f = below(world, 2) ? -0.0 : (double)below(world, 3) - 0.5;
  row[6].i = (int64_t)below(world, 4);
  for (int part = 0; part < 4; part++) row[7 + part].f = (double)below(world, 2);
}

static uint8_t some_marks(struct world *world) {
  return below(world, 2) ? NET_DEFINITE : 0;
}

/* ROW, of all domains, in LAYOUT. */
static void arrange(const struct world *world, const struct net_layout *layout,
                    const union net_slot *row, union net_slot *ret) {
  memcpy(ret, row, layout->first_domain_slot * sizeof *ret);
  for (uint32_t i = 0; i < layout->field_count; i++) {
    int field = net_layout_find(world->layouts[0], layout->fields[i].name);
    memcpy(ret + layout->fields[i].slot, row + world->layouts[0]->fields[field].slot,
           net_type_slots(layout->fields[i].type.base) * sizeof *ret);
  }
}

static void put_many(struct world *world) {
  struct net_layout *layout = world->layouts[below(world, 2)];
  struct net_rows rows;
  net_rows_init(&rows, layout);
  size_t count = below(world, 3) ? below(world, 4) : below(world, 60);
  for (size_t i = 0; i < count; i++) {
    union net_slot row[11] = {{0}}, arranged[11] = {{0}};
    make_row(world, row);
    arrange(world, layout, row, arranged);
    net_rows_add_copy(&rows, arranged, some_marks(world));
  }
  for (int i = 0; i < BOTH; i++) ok(st_put_rows(world->databases[i], "t", &rows));
  net_rows_done(&rows);
}

static void put_one(struct world *world) {
  struct net_layout *layout = world->layouts[below(world, 2)];
  union net_slot row[11] = {{0}}, arranged[11] = {{0}};
  make_row(world, row);
  arrange(world, layout, row, arranged);
  uint8_t marks = some_marks(world);
  for (int i = 0; i < BOTH; i++) put(world->databases[i], "T", layout, arranged, marks);
}

/* A row that is there, or not. */
static bool choose(struct world *world, union net_slot *row) {
  struct net_rows rows;
  scan(world->databases[WITHOUT], "T", world->layouts[0], &rows);
  bool any = rows.count > 0;
  if (any)
    memcpy(row, net_rows_row(&rows, below(world, rows.count)),
           world->layouts[0]->slot_count * sizeof *row);
  net_rows_done(&rows);
  return any;
}

static void remove_one(struct world *world) {
  union net_slot row[11];
  if (!choose(world, row)) make_row(world, row);
  for (int i = 0; i < BOTH; i++) ok(st_remove(world->databases[i], "T", world->layouts[0], row));
}

static void close_one(struct world *world) {
  union net_slot row[11];
  uint8_t marks = some_marks(world);
  if (!choose(world, row) || row[2].i != NET_OPEN) return;
  row[2].i = row[3].i = row[1].i < NET_FOREVER ? row[1].i + 1 : NET_FOREVER;
  for (int i = 0; i < BOTH; i++)
    close_row(world->databases[i], "T", world->layouts[0], NET_FOREVER, row, marks);
}

static void take_entity(struct world *world) {
  union net_slot value = {.i = (int64_t)below(world, 4)};
  net_chronon from = below(world, 2) ? NET_BEGINNING : some_time(world);
  for (int i = 0; i < BOTH; i++) {
    struct net_rows taken;
    net_rows_init(&taken, world->layouts[0]);
    ok(st_take_entities(world->databases[i], "T", world->layouts[0], &traced.by, &value, 1, from,
                        &taken));
    net_rows_done(&taken);
  }
}

/* As another program would; it may find the database locked. */
static void write_outside(struct world *world) {
  static const char *const statements[] = {
      "DELETE FROM T WHERE number = 1", "UPDATE T SET definite = 1 WHERE number = 2",
      "INSERT INTO T VALUES (3,3,5,5,1,'outside',1.5,3,0,1,0,1) ON CONFLICT DO NOTHING"};
  if (world->transactions) return;
  const char *sql = statements[below(world, LENGTH(statements))];
  for (int i = 0; i < BOTH; i++)
    ck_assert_int_eq(sqlite3_exec(world->others[i], sql, NULL, NULL, NULL), SQLITE_OK);
}

static void sweep(struct world *world) {
  base_strings_sweep_begin(strings);
  for (int i = 0; i < BOTH; i++) st_mark_strings(world->databases[i]);
  base_strings_sweep_end(strings);
  for (int i = 0; i < 4; i++) {
    char name[32];
    snprintf(name, sizeof name, "new %d", (int)below(world, 1000));
    text(name);
  }
}

static void change_transaction(struct world *world) {
  uint64_t what = below(world, 5);
  for (int i = 0; i < BOTH; i++) {
    struct st_database *database = world->databases[i];
    if (world->transactions == 0)
      ok(st_begin(database));
    else if (what == 0 && world->savepoints == 0)
      ok(st_savepoint(database));
    else if (what <= 1 && world->savepoints > 0)
      ok(st_release(database));
    else if (world->savepoints > 0)
      st_rollback_to(database);
    else if (what <= 2)
      st_rollback(database);
    else
      ok(st_commit(database));
  }
  if (world->transactions == 0)
    world->transactions = 1;
  else if (what == 0 && world->savepoints == 0)
    world->savepoints = 1;
  else if (world->savepoints > 0)
    world->savepoints = 0;
  else
    world->transactions = 0;
}

static void check_same(const struct world *world, const struct net_rows *a,
                       const struct net_rows *b) {
  ck_assert_uint_eq(a->count, b->count);
  (void)world;
  for (size_t i = 0; i < a->count; i++) {
    ck_assert_int_eq(a->marks[i], b->marks[i]);
    ck_assert_mem_eq(net_rows_row(a, i), net_rows_row(b, i),
                     a->layout->slot_count * sizeof(union net_slot));
  }
}

static void compare_extents(struct world *world) {
  net_chronon first[BOTH], last[BOTH], finite[BOTH];
  bool any[BOTH], any_finite[BOTH];
  for (int i = 0; i < BOTH; i++) {
    ok(st_extent(world->databases[i], "T", &any[i], &first[i], &last[i]));
    ok(st_first_finite(world->databases[i], "T", &any_finite[i], &finite[i]));
  }
  ck_assert(any[WITH] == any[WITHOUT] && any_finite[WITH] == any_finite[WITHOUT]);
  if (any[WITH]) ck_assert(first[WITH] == first[WITHOUT] && last[WITH] == last[WITHOUT]);
  if (any_finite[WITH]) ck_assert(finite[WITH] == finite[WITHOUT]);
}

static void compare_scans(struct world *world) {
  static const uint32_t batch_rows[] = {1, 3, 7, 1024};
  enum net_scan_form form = below(world, 3) == 0 ? NET_SCAN_RECORDS : NET_SCAN_TUPLES;
  const struct net_layout *layout = world->layouts[below(world, 3)];
  if (form == NET_SCAN_RECORDS)
    layout = net_layout_new(arena, NET_EVENT, layout->fields, layout->field_count);
  net_chronon checkpoint = below(world, 2) ? NET_FOREVER : some_time(world);
  uint32_t most = batch_rows[below(world, LENGTH(batch_rows))];
  struct net_rows found[BOTH];
  for (int i = 0; i < BOTH; i++)
    scan_form(world->databases[i], "T", layout, form, checkpoint, most, &found[i]);
  check_same(world, &found[WITH], &found[WITHOUT]);
  compare_extents(world);
  for (int i = 0; i < BOTH; i++) net_rows_done(&found[i]);
}

/* A scan that is begun, sees writes behind it, and is left, must harm nothing. */
static void leave_a_scan(struct world *world) {
  for (int i = 0; i < BOTH; i++) {
    struct net_store *store = st_net(world->databases[i]);
    struct net_source *source;
    struct net_batch batch;
    ok(store->class->scan(
        store, &(struct net_scan){"T", world->layouts[0], NET_SCAN_TUPLES, NET_FOREVER, 2, NULL},
        &source));
    ok(source->next(source, &batch));
    if (world->transactions && i == WITH) {
      union net_slot row[11];
      make_row(world, row);
      for (int k = 0; k < BOTH; k++) put(world->databases[k], "T", world->layouts[0], row, 0);
    }
    if (below(world, 2)) sweep(world);
    while (source->next(source, &batch) == BASE_OK) continue;
    source->free(source);
  }
}

static void clear(struct world *world, bool all) {
  net_chronon since = below(world, 2) ? NET_BEGINNING : (net_chronon)below(world, 12) - 3;
  for (int i = 0; i < BOTH; i++)
    ok(all ? st_clear(world->databases[i], "T") : st_clear_open(world->databases[i], "T", since));
}

static void step(struct world *world) {
  uint64_t what = below(world, 40);
  if (what < 8) {
    change_transaction(world);
  } else if (what < 11) {
    write_outside(world);
  } else if (what < 13) {
    sweep(world);
  } else if (what < 14) {
    ck_assert_int_eq(st_set_cache(world->databases[WITH], below(world, 2) ? ST_CACHE_BYTES : 1000),
                     BASE_OK);
  } else if (what < 16) {
    leave_a_scan(world);
  } else if (world->transactions) {
    if (what < 24)
      put_many(world);
    else if (what < 30)
      put_one(world);
    else if (what < 33)
      close_one(world);
    else if (what < 35)
      remove_one(world);
    else if (what < 37)
      take_entity(world);
    else
      clear(world, what < 39);
  }
  if (below(world, 3)) compare_scans(world);
}

static void open_world(struct world *world, uint64_t seed) {
  *world = (struct world){.random = {seed}};
  const struct net_field mixed[] = {{.name = "Trend", .type = domains[3].type},
                                    {.name = "number", .type = domains[2].type},
                                    {.name = "name", .type = domains[0].type},
                                    {.name = "level", .type = domains[1].type}};
  world->layouts[0] = layout_of(&traced, false);
  world->layouts[1] = net_layout_new(arena, NET_PERIOD, mixed, 4);
  world->layouts[2] = net_layout_new(arena, NET_PERIOD, mixed + 1, 2);
  for (int i = 0; i < BOTH; i++) {
    char where[200];
    snprintf(where, sizeof where, "%s/%d.db", directory, i);
    unlink(where);
    world->databases[i] = open_at(where);
    create(world->databases[i], &traced);
    ck_assert_int_eq(sqlite3_open(where, &world->others[i]), SQLITE_OK);
  }
  ck_assert_int_eq(st_set_cache(world->databases[WITHOUT], 0), BASE_OK);
}

static void close_world(struct world *world) {
  for (int i = 0; i < BOTH; i++) {
    st_close(world->databases[i]);
    sqlite3_close(world->others[i]);
  }
}

START_TEST(any_history) {
  for (uint64_t seed = 1; seed <= 6; seed++) {
    struct world world;
    open_world(&world, seed);
    for (int i = 0; i < 700; i++) step(&world);
    close_world(&world);
  }
}
END_TEST

/* --- what is in memory */

static struct st_table *table_of(struct st_database *database, const char *name) {
  struct st_table *table = NULL;
  ok(st_catalogue_find(database, name, &table));
  return table;
}

static void put_events(struct st_database *database, size_t count) {
  struct net_rows rows;
  net_rows_init(&rows, layout_of(&event_e, false));
  for (size_t i = count; i-- > 0;) {
    union net_slot row[3] = {{.i = (int64_t)i}, {.i = (int64_t)i}, {.i = (int64_t)i}};
    net_rows_add_copy(&rows, row, NET_DEFINITE);
  }
  ok(st_put_rows(database, "E", &rows));
  net_rows_done(&rows);
}

START_TEST(rows_that_were_written_are_in_memory) {
  struct st_database *database = open_at(path);
  create(database, &event_e);
  ok(st_begin(database));
  put_events(database, 100);
  ok(st_commit(database));
  struct st_table *table = table_of(database, "E");
  ck_assert_ptr_nonnull(table->cached);
  ck_assert_uint_eq(table->cached->rows.count, 100);
  /* A batch points into them. */
  struct net_store *store = st_net(database);
  struct net_source *source;
  struct net_batch batch;
  struct net_scan scan = {"E", layout_of(&event_e, false), NET_SCAN_TUPLES, NET_FOREVER, 10, NULL};
  ok(store->class->scan(store, &scan, &source));
  ok(source->next(source, &batch));
  ck_assert_ptr_eq(batch.rows, table->cached->rows.rows);
  /* The scan goes on with them when the table has forgotten them, and when it is gone. */
  ok(st_begin(database));
  put_event(database, 1000, 1, 0);
  ck_assert_ptr_null(table->cached);
  ok(source->next(source, &batch));
  ck_assert_int_eq(batch.rows[0].i, 10);
  st_rollback(database);
  ck_assert_int_eq(count(database, "E"), 100);
  ok(source->next(source, &batch));
  ck_assert_int_eq(batch.rows[0].i, 20);
  st_close(database);
  source->free(source);
}
END_TEST

START_TEST(rows_that_were_read_are_in_memory) {
  struct st_database *database = open_at(path);
  struct net_rows rows;
  create(database, &event_e);
  ok(st_begin(database));
  put_events(database, 100);
  ok(st_commit(database));
  st_close(database);
  database = open_at(path);
  ck_assert_ptr_null(table_of(database, "E")->cached);
  scan(database, "E", layout_of(&event_e, false), &rows);
  net_rows_done(&rows);
  ck_assert_ptr_nonnull(table_of(database, "E")->cached);
  outside(path, "DELETE FROM E WHERE x > 9");
  scan(database, "E", layout_of(&event_e, false), &rows);
  ck_assert_uint_eq(rows.count, 10);
  net_rows_done(&rows);
  /* Also where a part of it is asked for. */
  outside(path, "DELETE FROM E WHERE x > 8");
  scan_form(database, "E", layout_of(&event_e, false), NET_SCAN_TUPLES, 5, 100, &rows);
  ck_assert_uint_eq(rows.count, 5);
  net_rows_done(&rows);
  ck_assert_uint_eq(table_of(database, "E")->cached->rows.count, 9);
  /* What has once had large row numbers is read as it lies in the index. */
  outside(path, "UPDATE E SET rowid = rowid + (1 << 40)");
  scan(database, "E", layout_of(&event_e, false), &rows);
  ck_assert_uint_eq(rows.count, 9);
  net_rows_done(&rows);
  ck_assert_ptr_null(table_of(database, "E")->cached);
  st_close(database);
}
END_TEST

START_TEST(what_fails_leaves_nothing) {
  struct st_database *database = open_at(path);
  struct net_rows rows;
  create(database, &event_e);
  ok(st_begin(database));
  put_events(database, 100);
  ok(st_commit(database));
  net_rows_init(&rows, layout_of(&event_e, false));
  for (int64_t i = 0; i < 20000; i++)
    net_rows_add_copy(&rows, (union net_slot[]){{.i = 500 + i}, {.i = 500 + i}, {.i = i}}, 0);
  ok(st_begin(database));
  base_env_interrupt();
  ck_assert_int_eq(st_put_rows(database, "E", &rows), BASE_CANCEL);
  base_env_clear_interrupt();
  st_rollback(database);
  net_rows_done(&rows);
  scan(database, "E", layout_of(&event_e, false), &rows);
  ck_assert_uint_eq(rows.count, 100);
  ck_assert_int_eq(count(database, "E"), 100);
  net_rows_done(&rows);
  st_close(database);
}
END_TEST

/* What SQLite cannot store fails as it does row by row. */
START_TEST(a_value_that_cannot_be_stored) {
  struct st_database *database = open_at(path);
  struct net_rows rows;
  create(database, &traced);
  net_rows_init(&rows, layout_of(&traced, false));
  union net_slot row[11] = {{.i = 1}, {.i = 1}, {.i = 2}, {.i = 2}};
  row[5].f = (double)NAN;
  net_rows_add_copy(&rows, row, 0);
  ok(st_begin(database));
  ck_assert_int_eq(st_put_rows(database, "T", &rows), BASE_SYSTEM);
  st_rollback(database);
  net_rows_done(&rows);
  ck_assert_int_eq(count(database, "T"), 0);
  base_diag_sink_clear(&diags);
  st_close(database);
}
END_TEST

START_TEST(memory_is_bounded) {
  struct st_database *database = open_at(NULL);
  struct st_relation other = event_e;
  struct net_rows rows;
  other.name = "F";
  create(database, &event_e);
  create(database, &other);
  ck_assert_int_eq(st_set_cache(database, 3000), BASE_OK);
  ok(st_begin(database));
  put_events(database, 100);
  ok(st_commit(database));
  ck_assert_ptr_nonnull(table_of(database, "E")->cached);
  ok(st_begin(database));
  ok(st_clear(database, "F"));
  for (int64_t i = 0; i < 60; i++)
    put(database, "F", layout_of(&other, false), (union net_slot[]){{.i = -i}, {.i = -i}, {.i = i}},
        0);
  ok(st_commit(database));
  ck_assert_ptr_null(table_of(database, "E")->cached);
  ck_assert_ptr_nonnull(table_of(database, "F")->cached);
  scan(database, "F", layout_of(&other, false), &rows);
  ck_assert_uint_eq(rows.count, 60);
  ck_assert_int_eq(net_rows_row(&rows, 0)[0].i, -59);
  net_rows_done(&rows);
  ok(st_begin(database));
  put_events(database, 500);
  ok(st_commit(database));
  ck_assert_ptr_null(table_of(database, "E")->cached);
  scan(database, "E", layout_of(&event_e, false), &rows);
  ck_assert_uint_eq(rows.count, 500);
  net_rows_done(&rows);
  ck_assert_ptr_null(table_of(database, "E")->cached);
  st_close(database);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("storage_cache");
  TCase *test = tcase_create("storage_cache");
  tcase_add_checked_fixture(test, set_up, tear_down);
  tcase_set_timeout(test, 120);
  tcase_add_test(test, any_history);
  tcase_add_test(test, rows_that_were_written_are_in_memory);
  tcase_add_test(test, rows_that_were_read_are_in_memory);
  tcase_add_test(test, what_fails_leaves_nothing);
  tcase_add_test(test, a_value_that_cannot_be_stored);
  tcase_add_test(test, memory_is_bounded);
  suite_add_tcase(suite, test);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
