/* Rows that are logged first: whatever happens to a relation, its scans are the same with the log and without,
 * and nothing is ever lost or there twice.
 *
 * Two databases go through the same random history; one logs as soon as it may, in small pieces, the other
 * never. After most steps scans of random forms have to give the same rows, also those of a reader. Then
 * damaged pieces, killed writers, the table as others see it while it is filled, older files.      */
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "engine/base/env.h"
#include "storage/relations.h"
#include "tests/amount.h"
#include "tests/unit/storage_world.h"

static const struct st_domain domains[] = {{"name", {NET_STRING, 8}},
                                           {"level", {NET_FLOAT, 8}},
                                           {"number", {NET_INTEGER, 8}},
                                           {"flag", {NET_BOOL, 0}}};
static const struct st_relation events = {.name = "R",
                                          .kind = ST_EVENT,
                                          .domains = domains,
                                          .domain_count = LENGTH(domains),
                                          .checkpoint = NET_BEGINNING};

enum { WITH, WITHOUT, BOTH };
enum { SLOTS = 6 };

struct world {
  struct base_random random;
  char *paths[BOTH];
  struct st_database *databases[BOTH], *reader;
  sqlite3 *others[BOTH];         /* other connections to the same files */
  struct net_layout *layouts[3]; /* all domains; others in another order; some */
  unsigned transactions, savepoints;
  net_chronon now; /* rows come mostly later than this */
};

static const struct st_log_limits small = {.least = 3, .most = 60, .flush = 5, .piece = 4};
static const struct st_log_limits never = {SIZE_MAX, SIZE_MAX, SIZE_MAX, ST_PIECE_ROWS};

static uint64_t below(struct world *world, uint64_t limit) {
  return base_random_below(&world->random, limit);
}

static void make_row(struct world *world, net_chronon at, union net_slot *row) {
  char name[32];
  snprintf(name, sizeof name, "%c%d", "Aaé"[below(world, 2)], (int)below(world, 3));
  row[0].i = at;
  row[1].i = at + (net_chronon)(below(world, 4) == 0 ? below(world, 20000) : 0);
  row[2].s = text(name);
  row[3].f = below(world, 2) ? -0.0 : (double)below(world, 3) - 0.5;
  row[4].i = (int64_t)below(world, 3) - 1;
  row[5].i = (int64_t)below(world, 2);
}

/* ROW, of all domains, in LAYOUT. */
static void arrange(const struct world *world, const struct net_layout *layout,
                    const union net_slot *row, union net_slot *ret) {
  memcpy(ret, row, layout->first_domain_slot * sizeof *ret);
  for (uint32_t i = 0; i < layout->field_count; i++) {
    int field = net_layout_find(world->layouts[0], layout->fields[i].name);
    ret[layout->fields[i].slot] = row[world->layouts[0]->fields[field].slot];
  }
}

static void make_rows(struct world *world, size_t count, bool ordered, struct net_rows *rows) {
  net_rows_init(rows, world->layouts[below(world, 2)]);
  for (size_t i = 0; i < count; i++) {
    union net_slot row[SLOTS] = {{0}}, arranged[SLOTS] = {{0}};
    net_chronon at = (net_chronon)below(world, 40);
    if (ordered) at = world->now + (net_chronon)below(world, 6);
    make_row(world, at, row);
    arrange(world, rows->layout, row, arranged);
    net_rows_add_copy(rows, arranged, below(world, 2) ? NET_DEFINITE : 0);
  }
  if (ordered) world->now += 6;
}

static void append(struct world *world) {
  struct net_rows rows;
  make_rows(world, below(world, 3) ? below(world, 5) : below(world, 30), below(world, 12) > 0,
            &rows);
  for (int i = 0; i < BOTH; i++) {
    struct net_store *store = st_net(world->databases[i]);
    ok(store->class->append(store, "R", &rows));
    ok(store->class->checkpoint(store, "R", world->now));
  }
  net_rows_done(&rows);
}

static void put_many(struct world *world) {
  struct net_rows rows;
  make_rows(world, below(world, 8), below(world, 2), &rows);
  for (int i = 0; i < BOTH; i++) ok(st_put_rows(world->databases[i], "R", &rows));
  net_rows_done(&rows);
}

static void put_one(struct world *world) {
  struct net_rows rows;
  make_rows(world, 1, below(world, 2), &rows);
  for (int i = 0; i < BOTH; i++)
    put(world->databases[i], "R", rows.layout, rows.rows, rows.marks[0]);
  net_rows_done(&rows);
}

static void remove_one(struct world *world) {
  struct net_rows rows;
  scan(world->databases[WITHOUT], "R", world->layouts[0], &rows);
  if (rows.count > 0) {
    const union net_slot *row = net_rows_row(&rows, below(world, rows.count));
    bool there;
    for (int i = 0; i < BOTH; i++) {
      ok(st_has(world->databases[i], "R", world->layouts[0], row, &there));
      ck_assert(there);
      ok(st_remove(world->databases[i], "R", world->layouts[0], row));
    }
  }
  net_rows_done(&rows);
}

/* As another program would. */
static void write_outside(struct world *world) {
  static const char sql[] =
      "INSERT INTO R VALUES (90,90,1,'outside',1.5,3,0) ON CONFLICT DO NOTHING";
  if (world->transactions || below(world, 4)) return;
  for (int i = 0; i < BOTH; i++)
    ck_assert_int_eq(sqlite3_exec(world->others[i], sql, NULL, NULL, NULL), SQLITE_OK);
}

static void sweep(struct world *world) {
  base_strings_sweep_begin(strings);
  for (int i = 0; i < BOTH; i++) st_mark_strings(world->databases[i]);
  st_mark_strings(world->reader);
  base_strings_sweep_end(strings);
  for (int i = 0; i < 4; i++) {
    char name[32];
    snprintf(name, sizeof name, "new %d", (int)below(world, 1000));
    text(name);
  }
}

static void change_transaction(struct world *world) {
  uint64_t what = below(world, 6);
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
    else if (what <= 1)
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

static void open_one(struct world *world, int i) {
  world->databases[i] = open_at(world->paths[i]);
  world->databases[i]->log = i == WITH ? small : never;
}

/* The program ends without folding anything, and comes again. */
static void reopen(struct world *world) {
  if (world->transactions) return;
  for (int i = 0; i < BOTH; i++) {
    st_close(world->databases[i]);
    open_one(world, i);
  }
  ck_assert_int_eq(st_set_cache(world->databases[WITHOUT], 0), BASE_OK);
}

static void check_same(const struct net_rows *a, const struct net_rows *b) {
  ck_assert_uint_eq(a->count, b->count);
  for (size_t i = 0; i < a->count; i++) {
    ck_assert_int_eq(a->marks[i], b->marks[i]);
    ck_assert_mem_eq(net_rows_row(a, i), net_rows_row(b, i),
                     a->layout->slot_count * sizeof(union net_slot));
  }
}

static void compare_extents(struct world *world, struct st_database *a, struct st_database *b) {
  struct st_database *both[BOTH] = {a, b};
  net_chronon first[BOTH], last[BOTH], finite[BOTH];
  bool any[BOTH], any_finite[BOTH];
  (void)world;
  for (int i = 0; i < BOTH; i++) {
    ok(st_extent(both[i], "R", &any[i], &first[i], &last[i]));
    ok(st_first_finite(both[i], "R", &any_finite[i], &finite[i]));
  }
  ck_assert(any[0] == any[1] && any_finite[0] == any_finite[1]);
  if (any[0]) ck_assert(first[0] == first[1] && last[0] == last[1]);
  if (any_finite[0]) ck_assert(finite[0] == finite[1]);
}

/* Rows of a scan with bounds and values, beyond which nothing is given. */
static void compare(struct world *world, struct st_database *a, struct st_database *b) {
  static const uint32_t batch_rows[] = {1, 3, 7, 1024};
  const struct net_layout *layout = world->layouts[below(world, 3)];
  net_chronon checkpoint = below(world, 2) ? NET_FOREVER : (net_chronon)below(world, 300);
  uint32_t most = batch_rows[below(world, LENGTH(batch_rows))];
  struct net_wanted wanted = NET_WANTED_ALL;
  if (below(world, 3) == 0) wanted.start_hi_min = (net_chronon)below(world, 300);
  if (below(world, 3) == 0) wanted.start_lo_max = (net_chronon)below(world, 300);
  struct net_rows found[BOTH];
  scan_wanted(a, "R", layout, NET_SCAN_TUPLES, checkpoint, most, &wanted, &found[0]);
  scan_wanted(b, "R", layout, NET_SCAN_TUPLES, checkpoint, most, &wanted, &found[1]);
  check_same(&found[0], &found[1]);
  for (int i = 0; i < BOTH; i++) net_rows_done(&found[i]);
  compare_extents(world, a, b);
}

/* A scan that is begun sees all that was there, whatever happens behind it. */
static void leave_a_scan(struct world *world) {
  struct st_database *database = world->databases[WITH];
  struct net_store *store = st_net(database);
  struct net_source *source;
  struct net_batch batch;
  struct net_rows before, seen;
  size_t done, left;
  scan(database, "R", world->layouts[0], &before);
  net_rows_init(&seen, world->layouts[0]);
  ok(store->class->scan(
      store, &(struct net_scan){"R", world->layouts[0], NET_SCAN_TUPLES, NET_FOREVER, 2, NULL},
      &source));
  ok(source->next(source, &batch));
  net_rows_add_batch(&seen, &batch);
  if (world->transactions) ok(st_fold(database, below(world, 20), &done, &left));
  sweep(world);
  while (source->next(source, &batch) == BASE_OK) net_rows_add_batch(&seen, &batch);
  source->free(source);
  ck_assert_uint_eq(seen.count, before.count);
  for (size_t i = 0; i < seen.count; i++)
    ck_assert_int_eq(net_rows_row(&seen, i)[0].i, net_rows_row(&before, i)[0].i);
  net_rows_done(&seen);
  net_rows_done(&before);
}

static void fold_some(struct world *world) {
  size_t done, left;
  ok(st_fold(world->databases[WITH], below(world, 30), &done, &left));
  ok(st_fold(world->databases[WITHOUT], 5, &done, &left));
  ck_assert_uint_eq(left, 0);
}

static void change_caches(struct world *world) {
  static const size_t sizes[] = {0, 1000, ST_CACHE_BYTES};
  ck_assert_int_eq(st_set_cache(world->databases[WITH], sizes[below(world, 3)]), BASE_OK);
  ck_assert_int_eq(st_set_cache(world->reader, sizes[below(world, 3)]), BASE_OK);
}

static void step(struct world *world) {
  uint64_t what = below(world, 60);
  if (what < 10)
    change_transaction(world);
  else if (what < 11)
    write_outside(world);
  else if (what < 14)
    sweep(world);
  else if (what < 16)
    change_caches(world);
  else if (what < 18)
    leave_a_scan(world);
  else if (what < 20)
    reopen(world);
  else if (world->transactions && what < 48)
    append(world);
  else if (world->transactions && what < 53)
    fold_some(world);
  else if (world->transactions && what < 54)
    put_many(world);
  else if (world->transactions && what < 55)
    put_one(world);
  else if (world->transactions && what < 57)
    remove_one(world);
  else if (world->transactions && what == 57 && below(world, 6) == 0)
    for (int i = 0; i < BOTH; i++) ok(st_clear(world->databases[i], "R"));
  if (below(world, 3)) compare(world, world->databases[WITH], world->databases[WITHOUT]);
  if (world->transactions == 0) compare(world, world->reader, world->databases[WITHOUT]);
}

static void open_world(struct world *world, uint64_t seed) {
  *world = (struct world){.random = {seed}, .now = 40};
  const struct net_field mixed[] = {{.name = "flag", .type = domains[3].type},
                                    {.name = "number", .type = domains[2].type},
                                    {.name = "name", .type = domains[0].type},
                                    {.name = "level", .type = domains[1].type}};
  world->layouts[0] = layout_of(&events, false);
  world->layouts[1] = net_layout_new(arena, NET_EVENT, mixed, 4);
  world->layouts[2] = net_layout_new(arena, NET_EVENT, mixed + 1, 2);
  for (int i = 0; i < BOTH; i++) {
    world->paths[i] = base_arena_printf(arena, "%s/%d.db", directory, i);
    unlink(world->paths[i]);
    open_one(world, i);
    create(world->databases[i], &events);
    ck_assert_int_eq(sqlite3_open(world->paths[i], &world->others[i]), SQLITE_OK);
  }
  world->reader = open_reader(world->paths[WITH]);
  ck_assert_int_eq(st_set_cache(world->databases[WITHOUT], 0), BASE_OK);
}

static void close_world(struct world *world) {
  size_t done, left;
  if (world->transactions)
    for (int i = 0; i < BOTH; i++) st_rollback(world->databases[i]);
  ok(st_begin(world->databases[WITH]));
  ok(st_fold(world->databases[WITH], SIZE_MAX, &done, &left));
  ok(st_commit(world->databases[WITH]));
  ck_assert_uint_eq(left, 0);
  static const char all[] = "SELECT * FROM R ORDER BY at_lo, at_hi, name, level, number, flag";
  char *with = outside(world->paths[WITH], all), *without = outside(world->paths[WITHOUT], all);
  ck_assert_str_eq(with, without);
  st_close(world->reader);
  for (int i = 0; i < BOTH; i++) {
    st_close(world->databases[i]);
    sqlite3_close(world->others[i]);
  }
}

START_TEST(any_history) {
  for (uint64_t seed = 1; seed <= amount(3, 20); seed++) {
    struct world world;
    open_world(&world, seed);
    for (int i = 0; i < 350; i++) step(&world);
    close_world(&world);
  }
}
END_TEST

/* --- what is in the log, and what in the table */

static void append_events(struct st_database *database, int64_t first, int64_t number) {
  struct net_rows rows;
  struct net_store *store = st_net(database);
  net_rows_init(&rows, layout_of(&event_e, false));
  for (int64_t i = first; i < first + number; i++)
    net_rows_add_copy(&rows, (union net_slot[]){{.i = i}, {.i = i}, {.i = -i * (i % 7)}},
                      NET_DEFINITE);
  ok(store->class->append(store, "E", &rows));
  ok(store->class->checkpoint(store, "E", first + number));
  net_rows_done(&rows);
}

static char *in_file(void) {
  return outside(path,
                 "SELECT (SELECT count(*) FROM E), (SELECT ifnull(sum(rows), 0) FROM tq_log)");
}

START_TEST(few_rows_go_into_the_table) {
  struct st_database *database = open_at(path);
  int64_t logged;
  size_t done, left;
  create(database, &event_e);
  ok(st_begin(database));
  append_events(database, 0, 100);
  ok(st_commit(database));
  ck_assert_str_eq(in_file(), "100|0");
  ok(st_begin(database));
  append_events(database, 100, 200000);
  ok(st_commit(database));
  ck_assert_str_eq(in_file(), "100|200000");
  ok(st_logged(database, "E", &logged));
  ck_assert_int_eq(logged, 200000);
  ck_assert_int_eq(count(database, "E"), 200100);
  ok(st_begin(database)); /* few, but others wait */
  append_events(database, 200100, 10);
  ok(st_commit(database));
  ck_assert_str_eq(in_file(), "100|200010");
  /* Up to a checkpoint at once, never half of it. */
  ok(st_begin(database));
  ok(st_fold(database, 1, &done, &left));
  ok(st_commit(database));
  ck_assert_uint_eq(left, 10);
  ck_assert_uint_eq(done, 200000);
  ck_assert_str_eq(in_file(), "200100|10");
  ok(st_begin(database)); /* what changes a row comes behind all */
  put_event(database, 5, 5, NET_DEFINITE);
  ok(st_commit(database));
  ck_assert_str_eq(in_file(), "200111|0");
  st_close(database);
}
END_TEST

START_TEST(readers_and_the_next_writer_see_all) {
  struct st_database *database = open_at(path);
  size_t done, left;
  create(database, &event_e);
  ok(st_begin(database));
  append_events(database, 0, 10000);
  ok(st_commit(database));
  st_close(database);
  struct net_rows rows;
  struct st_database *reader = open_reader(path);
  scan(reader, "E", layout_of(&event_e, false), &rows);
  ck_assert_uint_eq(rows.count, 10000);
  net_rows_done(&rows);
  database = open_at(path);
  ck_assert_int_eq(count(database, "E"), 10000);
  ok(st_begin(database));
  append_events(database, 10000, 5);
  ok(st_fold(database, SIZE_MAX, &done, &left));
  ok(st_commit(database));
  ck_assert_int_eq(count(reader, "E"), 10005);
  ck_assert_str_eq(in_file(), "10005|0");
  st_close(reader);
  ok(st_begin(database));
  append_events(database, 20000, 10000);
  ok(st_destroy(database, "E"));
  ok(st_commit(database));
  ck_assert_str_eq(outside(path, "SELECT count(*) FROM tq_log"), "0");
  st_close(database);
}
END_TEST

/* --- what can go wrong */

/* Whatever is wrong in a piece is reported, and does no harm. */
START_TEST(damaged_pieces) {
  struct base_random random = {7};
  struct st_database *database = open_at(path);
  create(database, &event_e);
  ok(st_begin(database));
  append_events(database, 0, 5000);
  ok(st_commit(database));
  st_close(database);
  sqlite3 *raw;
  ck_assert_int_eq(sqlite3_open(path, &raw), SQLITE_OK);
  ck_assert_int_eq(
      sqlite3_exec(raw, "CREATE TEMP TABLE good AS SELECT data FROM tq_log", NULL, NULL, NULL),
      SQLITE_OK);
  for (int i = 0; i < 60; i++) {
    char *sql = base_arena_printf(
        arena,
        i % 3 == 0 ? "UPDATE tq_log SET data = substr((SELECT data FROM good), 1, %d)"
        : i % 3 == 1
            ? "UPDATE tq_log SET data = (SELECT CAST(substr(data, 1, %d) || x'ff' || substr(data, "
              "%d) AS BLOB) FROM good)"
            : "UPDATE tq_log SET data = randomblob(%d)",
        (int)base_random_below(&random, 30), (int)base_random_below(&random, 30));
    ck_assert_int_eq(sqlite3_exec(raw, sql, NULL, NULL, NULL), SQLITE_OK);
    database = open_at(path);
    struct net_store *store = st_net(database);
    struct net_source *source;
    struct net_batch batch;
    size_t done, left;
    base_diag_sink_clear(&diags);
    ok(store->class->scan(
        store,
        &(struct net_scan){"E", layout_of(&event_e, false), NET_SCAN_TUPLES, NET_FOREVER, 2, NULL},
        &source));
    ck_assert_msg(source->next(source, &batch) == BASE_SYSTEM, "%s", sql);
    ck_assert_int_eq((int)diags.items[0].number, MSG_DATABASE_DAMAGED);
    source->free(source);
    ok(st_begin(database));
    ck_assert_int_eq(st_fold(database, 1, &done, &left), BASE_SYSTEM);
    st_rollback(database);
    ok(st_begin(database)); /* what comes is taken nevertheless */
    append_events(database, 6000, 1);
    ok(st_commit(database));
    st_close(database);
    ck_assert_int_eq(sqlite3_exec(raw, "DELETE FROM tq_log WHERE rows = 1", NULL, NULL, NULL),
                     SQLITE_OK);
  }
  base_diag_sink_clear(&diags);
  sqlite3_close(raw);
}
END_TEST

/* Bytes that a checksum does not keep out: any that are well-formed enough are read, and no further. */
START_TEST(hostile_pieces) {
  struct base_random random = {3};
  const struct net_layout *layout = layout_of(&events, false);
  struct net_rows rows, back;
  net_rows_init(&rows, layout);
  for (int64_t i = 0; i < 40; i++)
    net_rows_add_copy(&rows,
                      (union net_slot[]){{.i = i * i},
                                         {.i = i * i + i},
                                         {.s = text(i % 2 ? "a" : "bcd")},
                                         {.f = 0.5},
                                         {.i = INT64_MIN + i},
                                         {.i = 1}},
                      NET_DEFINITE);
  struct base_buffer bytes = BASE_BUFFER_EMPTY;
  st_rows_pack(&bytes, strings, &rows, 0, rows.count);
  net_rows_init(&back, layout);
  ck_assert(st_rows_unpack(bytes.data, bytes.length, strings, &back));
  check_same(&rows, &back);
  for (int i = 0; i < 20000; i++) {
    char *copy = base_xmalloc(bytes.length);
    size_t length = bytes.length - base_random_below(&random, 3);
    memcpy(copy, bytes.data, length);
    for (uint64_t k = base_random_below(&random, 3); k > 0; k--)
      copy[8 + base_random_below(&random, length - 8)] = (char)base_random_below(&random, 256);
    uint64_t checksum = base_hash(copy + 8, length - 8, 0x7471756c);
    for (int k = 0; k < 8; k++) copy[k] = (char)(checksum >> 8 * k);
    back.count = 0;
    if (!st_rows_unpack(copy, length, strings, &back)) ck_assert_uint_eq(back.count, 0);
    free(copy);
  }
  base_buffer_done(&bytes);
  net_rows_done(&rows);
  net_rows_done(&back);
}
END_TEST

/* With no space left what was committed stays, and is folded when there is some. */
START_TEST(a_full_disk) {
  struct st_database *database = open_at(path);
  struct net_rows rows;
  size_t done, left;
  database->log.flush = SIZE_MAX;
  create(database, &event_e);
  ok(st_begin(database));
  append_events(database, 0, 20000);
  ok(st_commit(database));
  char *pages = outside(path, "PRAGMA page_count");
  char *sql =
      base_arena_printf(arena, "PRAGMA max_page_count=%d", (int)strtol(pages, NULL, 10) + 3);
  ck_assert_int_eq(sqlite3_exec(database->sqlite, sql, NULL, NULL, NULL), SQLITE_OK);
  for (int i = 0; i < 2; i++) {
    ok(st_begin(database));
    ck_assert_int_eq(st_fold(database, 20000, &done, &left), BASE_SYSTEM);
    st_rollback(database);
    ck_assert_int_eq((int)diags.items[0].number, MSG_DATABASE_FULL);
    base_diag_sink_clear(&diags);
    ok(st_begin(database)); /* is written with the commit, and fails there */
    append_events(database, 30000, 100000);
    ck_assert_int_eq(st_commit(database), BASE_SYSTEM);
    st_rollback(database);
    base_diag_sink_clear(&diags);
    scan(database, "E", layout_of(&event_e, false), &rows);
    ck_assert_uint_eq(rows.count, 20000);
    net_rows_done(&rows);
  }
  ck_assert_int_eq(
      sqlite3_exec(database->sqlite, "PRAGMA max_page_count=1000000", NULL, NULL, NULL), SQLITE_OK);
  ok(st_begin(database));
  append_events(database, 30000, 10000);
  ok(st_fold(database, SIZE_MAX, &done, &left));
  ok(st_commit(database));
  ck_assert_str_eq(in_file(), "30000|0");
  st_close(database);
}
END_TEST

/* What waits for a checkpoint is packed, too, where it is much; marks that say more keep it apart. */
START_TEST(pending_rows_are_packed) {
  struct st_database *database = open_at(path);
  const struct net_layout *layout = layout_of(&event_e, false);
  struct net_rows rows, back;
  create(database, &event_e);
  net_rows_init(&rows, layout);
  for (int64_t i = 0; i < 70000; i++)
    net_rows_add_copy(&rows, (union net_slot[]){{.i = -i}, {.i = i}, {.i = i * i}},
                      i % 30000 == 5 ? NET_CLOSES
                      : i % 2        ? NET_DEFINITE
                                     : 0);
  ok(st_begin(database));
  ok(st_pending_save(database, "E", layout, rows.rows, rows.marks, rows.count));
  ok(st_commit(database));
  ck_assert_str_eq(outside(path, "SELECT count(*) < 20 FROM tq_pending"), "1");
  st_close(database);
  database = open_at(path);
  net_rows_init(&back, layout);
  ok(st_pending_load(database, "E", layout, &back));
  check_same(&rows, &back);
  st_close(database);
  outside(path, "UPDATE tq_pending SET row = substr(row, 1, 50) WHERE marks = -1");
  database = open_at(path);
  back.count = 0;
  ck_assert_int_eq(st_pending_load(database, "E", layout, &back), BASE_SYSTEM);
  ck_assert_int_eq((int)diags.items[0].number, MSG_DATABASE_DAMAGED);
  base_diag_sink_clear(&diags);
  st_close(database);
  net_rows_done(&rows);
  net_rows_done(&back);
}
END_TEST

START_TEST(a_file_of_the_fifth_version) {
  struct net_rows rows;
  struct st_database *database = open_at(path);
  create(database, &event_e);
  ok(st_begin(database));
  put_event(database, 1, 1, NET_DEFINITE);
  ok(st_commit(database));
  st_close(database);
  outside(path,
          "DROP TABLE tq_log; DROP TABLE tq_keep; ALTER TABLE tq_announced DROP COLUMN taskforce;"
          "ALTER TABLE tq_announced DROP COLUMN event;" NO_NINTH "PRAGMA user_version=5");
  struct st_database *reader = open_reader(path);
  scan(reader, "E", layout_of(&event_e, false), &rows);
  ck_assert_uint_eq(rows.count, 1);
  net_rows_done(&rows);
  database = open_at(path);
  ok(st_begin(database));
  append_events(database, 10, 10000);
  ok(st_commit(database));
  ck_assert_str_eq(in_file(), "1|10000");
  ck_assert_int_eq(count(reader, "E"), 10001); /* it notices that the file was brought up */
  scan(reader, "E", layout_of(&event_e, false), &rows);
  ck_assert_uint_eq(rows.count, 10001);
  net_rows_done(&rows);
  st_close(reader);
  st_close(database);
}
END_TEST

static void write_until_killed(void) {
  struct st_database *database;
  struct st_options options = {.path = path};
  size_t done, left;
  CHILD_NEEDS(st_open(&options, strings, &diags, &database) == BASE_OK);
  database->log = (struct st_log_limits){.least = 100, .most = 20000, .flush = 900, .piece = 700};
  for (int64_t transaction = 0;; transaction++) {
    CHILD_NEEDS(st_begin(database) == BASE_OK);
    for (int64_t i = 0; i < 4; i++) append_events(database, transaction * 4000 + i * 1000, 1000);
    CHILD_NEEDS(st_feed_save(database, &(struct st_feed){"E", "s", transaction, 0}) == BASE_OK);
    CHILD_NEEDS(st_commit(database) == BASE_OK);
    if (transaction % 3 > 0) continue;
    CHILD_NEEDS(st_begin(database) == BASE_OK);
    CHILD_NEEDS(st_fold(database, 2000, &done, &left) == BASE_OK);
    CHILD_NEEDS(st_commit(database) == BASE_OK);
  }
}

START_TEST(a_killed_writer_leaves_whole_transactions) {
  struct st_database *database = open_at(path);
  create(database, &event_e);
  st_close(database);
  int64_t transactions = 0;
  for (int round = 0; round < (int)amount(4, 6); round++) {
    pid_t child = fork();
    if (child == 0) write_until_killed();
    usleep(60000 + 40000 * (unsigned)round);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    int state;
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    ck_assert(WIFSIGNALED(state));
    /* What sqlite3 sees ends at a checkpoint. */
    ck_assert_str_eq(outside(path, "SELECT count(*) % 1000 FROM E"), "0");
    database = open_at(path);
    bool found = false;
    struct st_feed feed = {0};
    ok(st_feed_load(database, arena, "E", "s", &found, &feed));
    int64_t there = found ? (feed.position + 1) * 4000 : 0;
    struct net_rows rows;
    scan(database, "E", layout_of(&event_e, false), &rows);
    ck_assert_int_eq((int64_t)rows.count, there);
    for (size_t i = 0; i < rows.count; i++)
      ck_assert_int_eq(net_rows_row(&rows, i)[0].i, (int64_t)i);
    net_rows_done(&rows);
    ck_assert_int_eq(count(database, "E"), there);
    transactions += there / 4000;
    ok(st_begin(database));
    ok(st_clear(database, "E"));
    ok(st_feed_save(database, &(struct st_feed){"E", "s", -1, 0}));
    ok(st_commit(database));
    ck_assert_str_eq(in_file(), "0|0");
    st_close(database);
  }
  (void)transactions; /* on a slow machine there may be none */
}
END_TEST

/* Others that read while rows are folded see the relation as it was at some checkpoint. */
START_TEST(folding_is_seen_by_checkpoints) {
  struct st_database *database = open_at(path);
  size_t done, left = 1;
  create(database, &event_e);
  database->log = (struct st_log_limits){.least = 100, .most = SIZE_MAX, .flush = 1, .piece = 300};
  ok(st_begin(database));
  for (int64_t i = 0; i < 10; i++) append_events(database, i * 1000, 1000);
  ok(st_commit(database));
  sqlite3 *raw;
  ck_assert_int_eq(sqlite3_open(path, &raw), SQLITE_OK);
  for (int64_t folded = 0; left > 0; folded++) {
    sqlite3_stmt *statement;
    ck_assert_int_eq(sqlite3_prepare_v2(raw, "SELECT count(*) FROM E", -1, &statement, NULL),
                     SQLITE_OK);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW); /* its transaction lasts */
    ck_assert_int_eq(sqlite3_column_int64(statement, 0), folded * 1000);
    ok(st_begin(database));
    ok(st_fold(database, 10, &done, &left));
    ok(st_commit(database));
    ck_assert_uint_eq(left, (size_t)(9 - folded) * 1000);
    ck_assert_uint_eq(done, 1000);
    ck_assert_int_eq(count(database, "E"), 10000);
    sqlite3_finalize(statement);
  }
  sqlite3_close(raw);
  st_close(database);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("storage_log");
  TCase *test = tcase_create("storage_log");
  tcase_add_checked_fixture(test, set_up, tear_down);
  tcase_set_timeout(test, 300);
  tcase_add_test(test, any_history);
  tcase_add_test(test, few_rows_go_into_the_table);
  tcase_add_test(test, readers_and_the_next_writer_see_all);
  tcase_add_test(test, damaged_pieces);
  tcase_add_test(test, hostile_pieces);
  tcase_add_test(test, a_full_disk);
  tcase_add_test(test, pending_rows_are_packed);
  tcase_add_test(test, a_file_of_the_fifth_version);
  tcase_add_test(test, a_killed_writer_leaves_whole_transactions);
  tcase_add_test(test, folding_is_seen_by_checkpoints);
  suite_add_tcase(suite, test);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
