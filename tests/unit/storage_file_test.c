/* The database file: who may open it, what is refused and left untouched, readers beside the writer,
 * killed writers, full disks. Where another process is part of the matter a child is forked; as root
 * it becomes nobody where permissions are tested, and a small disk is mounted if that is permitted. */
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "storage/schema_tables.h"
#include "tests/unit/storage_world.h"

/* ---- whose it is ---- */

static unsigned mode_of(const char *name) {
  struct stat status;
  ck_assert_msg(stat(name, &status) == 0, "%s is not there", name);
  return status.st_mode & 0777;
}

START_TEST(a_new_file_is_its_owners) {
  static const char *const beside[] = {"", "-wal", "-shm", "-tquel-lock"};
  static const mode_t modes[] = {0600, 0600, 0660};
  mode_t mask = umask(0);
  for (int i = 0; i < 3; i++) {
    if (i == 2) ck_assert_int_eq(chmod(path, 0660), 0); /* what the owner says later holds */
    struct st_database *database = open_at(path);
    if (i == 0) create(database, &event_e);
    ok(st_begin(database));
    put_event(database, i, i, NET_DEFINITE);
    ok(st_commit(database));
    for (size_t k = 0; k < sizeof beside / sizeof beside[0]; k++)
      ck_assert_uint_eq(mode_of(base_arena_printf(arena, "%s%s", path, beside[k])), modes[i]);
    st_close(database);
  }
  umask(mask);
}
END_TEST

/* ---- readers and writers ---- */

START_TEST(a_second_writer_is_refused) {
  struct st_database *database = open_at(path);
  refused((struct st_options){.path = path}, MSG_DATABASE_LOCKED);
  char *link = base_arena_printf(arena, "%s/link.db", directory);
  ck_assert_int_eq(symlink(path, link), 0);
  refused((struct st_options){.path = link}, MSG_DATABASE_LOCKED);
  st_close(database);
  database = open_at(link);
  refused((struct st_options){.path = path}, MSG_DATABASE_LOCKED);
  st_close(database);
  database = open_at(path);
  st_close(database);
}
END_TEST

START_TEST(readers_see_the_state_before) {
  struct st_database *writer = open_at(path);
  create(writer, &event_e);
  struct st_database *reader = open_reader(path);
  ok(st_begin(writer));
  for (int i = 0; i < 50000; i++) put_event(writer, i, i, NET_DEFINITE);
  ok(st_create(writer, &period_p));
  ck_assert_int_eq(count(reader, "E"), 0);
  int64_t rows;
  ck_assert_int_eq(st_count(reader, "P", &rows), BASE_USER);
  ck_assert_str_eq(outside(path, "SELECT count(*) FROM E"), "0");
  ok(st_commit(writer));
  ck_assert_int_eq(count(reader, "E"), 50000);
  ck_assert_int_eq(count(reader, "P"), 0); /* it has noticed the new relation */
  /* A reader's transaction keeps what it saw. */
  ok(st_begin(reader));
  ck_assert_int_eq(count(reader, "E"), 50000);
  ok(st_begin(writer));
  ok(st_clear(writer, "E"));
  ok(st_commit(writer));
  ck_assert_int_eq(count(reader, "E"), 50000);
  base_diag_sink_clear(&diags);
  ck_assert_int_eq(st_clear(reader, "E"), BASE_SYSTEM);
  ck_assert_int_eq((int)diags.items[0].number, MSG_DATABASE_READONLY);
  ok(st_commit(reader));
  ck_assert_int_eq(count(reader, "E"), 0);
  st_close(reader);
  st_close(writer);
  ck_assert_uint_eq(files_in(directory), 1);
  size_t before_length, after_length;
  char *before = slurp(path, &before_length);
  reader = open_reader(path);
  ck_assert_int_eq(count(reader, "E"), 0);
  st_close(reader);
  char *after = slurp(path, &after_length);
  ck_assert_uint_eq(before_length, after_length);
  ck_assert_mem_eq(before, after, after_length);
  ck_assert_uint_eq(files_in(directory), 1);
}
END_TEST

static void write_until_killed(void) {
  struct st_database *database;
  struct st_options options = {.path = path};
  const struct net_layout *layout = layout_of(&event_e, false);
  CHILD_NEEDS(st_open(&options, strings, &diags, &database) == BASE_OK);
  for (int64_t transaction = 0;; transaction++) {
    CHILD_NEEDS(st_begin(database) == BASE_OK);
    for (int64_t i = 0; i < 20000; i++)
      CHILD_NEEDS(st_net(database)->class->put(
                      st_net(database), "E", layout,
                      (union net_slot[]){{.i = transaction}, {.i = transaction}, {.i = i}},
                      0) == BASE_OK);
    CHILD_NEEDS(st_feed_save(database, &(struct st_feed){"E", "s", transaction, 0}) == BASE_OK);
    CHILD_NEEDS(st_commit(database) == BASE_OK);
  }
}

START_TEST(a_killed_writer_leaves_whole_transactions) {
  struct st_database *database = open_at(path);
  create(database, &event_e);
  st_close(database);
  int64_t transactions = 0;
  useconds_t life = 60000;
  /* On a slow machine until one has lived long enough for a transaction. */
  for (int round = 0; round < 4 || (transactions == 0 && round < 12); round++) {
    pid_t child = fork();
    if (child == 0) write_until_killed();
    usleep(life);
    life += round < 3 ? 70000 : life;
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    int state;
    ck_assert_int_eq(waitpid(child, &state, 0), child);
    ck_assert(WIFSIGNALED(state));
    database = open_at(path); /* the lock went with the process */
    bool found = false;
    struct st_feed feed = {0};
    ok(st_feed_load(database, arena, "E", "s", &found, &feed));
    int64_t rows = count(database, "E");
    ck_assert_int_eq(rows, found ? (feed.position + 1) * 20000 : 0);
    transactions += rows / 20000;
    ok(st_begin(database));
    ok(st_clear(database, "E"));
    ok(st_feed_save(database, &(struct st_feed){"E", "s", -1, 0}));
    ok(st_commit(database));
    st_close(database);
  }
  ck_assert_int_gt(transactions, 0);
  ck_assert_str_eq(outside(path, "PRAGMA integrity_check"), "ok");
}
END_TEST

/* ---- refusals ---- */

static void foreign_database(const char *where, const char *sql) {
  sqlite3 *raw;
  ck_assert_int_eq(sqlite3_open(where, &raw), SQLITE_OK);
  ck_assert_int_eq(sqlite3_exec(raw, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(raw);
}

/* Refused as a writer and as a reader, and not a byte changed, not a file added. */
static void refused_untouched(const char *where, int number) {
  size_t before_length, after_length, files = files_in(directory);
  char *before = slurp(where, &before_length);
  refused((struct st_options){.path = where}, number);
  refused((struct st_options){.path = where, .readonly = true}, number);
  char *after = slurp(where, &after_length);
  ck_assert_uint_eq(before_length, after_length);
  ck_assert_mem_eq(before, after, after_length);
  ck_assert_uint_eq(files_in(directory), files);
}

START_TEST(what_is_not_ours_is_refused) {
  write_file(path, "at,x\n1,2\n", 9);
  refused_untouched(path, MSG_NOT_A_DATABASE);
  char zeros[5000] = {0};
  write_file(path, zeros, sizeof zeros);
  refused_untouched(path, MSG_NOT_A_DATABASE);
  unlink(path);
  foreign_database(path, "CREATE TABLE t (x)");
  refused_untouched(path, MSG_DATABASE_FOREIGN);
  foreign_database(path,
                   "PRAGMA journal_mode=WAL; PRAGMA application_id=7; INSERT INTO t VALUES(1)");
  refused_untouched(path, MSG_DATABASE_FOREIGN);
  unlink(path);
  refused((struct st_options){.path = directory}, MSG_NOT_A_DATABASE);
  refused((struct st_options){.path = "/dev/null"}, MSG_NOT_A_DATABASE);
  refused((struct st_options){.path = ""}, MSG_NOT_A_DATABASE);
  ck_assert_int_eq(mkfifo(path, 0600), 0);
  refused((struct st_options){.path = path}, MSG_NOT_A_DATABASE);
}
END_TEST

START_TEST(what_is_not_there_is_refused) {
  char *below = base_arena_printf(arena, "%s/no/test.db", directory);
  refused((struct st_options){.path = below}, MSG_DATABASE_DIRECTORY);
  write_file(base_arena_printf(arena, "%s/no", directory), "", 0);
  refused((struct st_options){.path = below}, MSG_DATABASE_DIRECTORY);
  refused((struct st_options){.path = path, .readonly = true}, MSG_DATABASE_MISSING);
  write_file(path, "", 0);
  refused((struct st_options){.path = path, .readonly = true}, MSG_DATABASE_MISSING);
  ck_assert_uint_eq(files_in(directory), 2);
  struct st_database *database = open_at(path); /* an empty file counts as new */
  create(database, &event_e);
  st_close(database);
  database = open_at(path);
  ck_assert_int_eq(count(database, "E"), 0);
  st_close(database);
}
END_TEST

START_TEST(newer_and_other_timeline_are_refused) {
  struct st_options options = {.path = path, .timeline = NET_TIMELINE_ABSTRACT};
  struct st_database *database;
  ok(st_open(&options, strings, &diags, &database));
  create(database, &event_e);
  st_close(database);
  size_t before_length, after_length;
  char *before = slurp(path, &before_length);
  options.timeline = NET_TIMELINE_REAL;
  options.timeline_given = true;
  refused(options, MSG_DATABASE_TIMELINE);
  options.readonly = true;
  refused(options, MSG_DATABASE_TIMELINE);
  char *after = slurp(path, &after_length);
  ck_assert_uint_eq(before_length, after_length);
  ck_assert_mem_eq(before, after, after_length);
  ck_assert_uint_eq(files_in(directory), 1);
  options = (struct st_options){.path = path, .timeline = NET_TIMELINE_REAL};
  ok(st_open(&options, strings, &diags, &database));
  ck_assert_int_eq(st_timeline(database), NET_TIMELINE_ABSTRACT);
  st_close(database);
  foreign_database(path, "PRAGMA user_version=1000");
  refused_untouched(path, MSG_DATABASE_NEWER);
}
END_TEST

/* The newer version stands in a log that a crash left behind. */
static void leave_newer_log(void) {
  sqlite3 *raw;
  CHILD_NEEDS(sqlite3_open(path, &raw) == SQLITE_OK);
  CHILD_NEEDS(sqlite3_exec(raw, "PRAGMA user_version=1000", NULL, NULL, NULL) == SQLITE_OK);
}

START_TEST(a_newer_log_is_refused_and_kept) {
  struct st_database *database = open_at(path);
  create(database, &event_e);
  st_close(database);
  ck_assert_int_eq(in_child(leave_newer_log), 0);
  char *log = base_arena_printf(arena, "%s-wal", path);
  size_t before_length, after_length;
  char *before = slurp(log, &before_length);
  ck_assert_uint_gt(before_length, 0);
  refused_untouched(path, MSG_DATABASE_NEWER);
  char *after = slurp(log, &after_length);
  ck_assert_uint_eq(before_length, after_length);
  ck_assert_mem_eq(before, after, after_length);
}
END_TEST

/* A creation that was killed: SQLite's rollback journal restores the empty file. */
static void die_while_creating(void) {
  sqlite3 *raw;
  CHILD_NEEDS(sqlite3_open(path, &raw) == SQLITE_OK);
  CHILD_NEEDS(
      sqlite3_exec(raw,
                   "PRAGMA cache_size=1; PRAGMA cache_spill=1; BEGIN;"
                   "CREATE TABLE tq_relation (x);"
                   "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500)"
                   "INSERT INTO tq_relation SELECT randomblob(2000) FROM n",
                   NULL, NULL, NULL) == SQLITE_OK);
}

START_TEST(a_killed_creation_is_taken_up_again) {
  ck_assert_int_eq(in_child(die_while_creating), 0);
  struct stat state;
  ck_assert_int_eq(stat(path, &state), 0);
  ck_assert_int_gt(state.st_size, 0);
  ck_assert_int_eq(stat(base_arena_printf(arena, "%s-journal", path), &state), 0);
  struct st_database *database = open_at(path);
  create(database, &event_e);
  st_close(database);
  ck_assert_str_eq(outside(path, "SELECT count(*) FROM tq_relation; PRAGMA integrity_check"),
                   "1\nok");
}
END_TEST

/* The copy of what was made while the product was built. */
START_TEST(a_new_file_is_what_its_statements_make) {
  static const char all[] =
      "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name; SELECT * FROM tq_setting;"
      "PRAGMA user_version; PRAGMA application_id; PRAGMA auto_vacuum; PRAGMA integrity_check";
  char *reference = base_arena_printf(arena, "%s/reference.db", directory);
  for (int timeline = NET_TIMELINE_REAL; timeline <= NET_TIMELINE_ABSTRACT; timeline++) {
    struct base_buffer sql = BASE_BUFFER_EMPTY;
    st_sql_blank(&sql, (enum net_timeline)timeline);
    outside(reference, sql.data);
    base_buffer_done(&sql);
    struct st_database *database = NULL;
    struct st_options options = {
        .path = path, .timeline = (enum net_timeline)timeline, .timeline_given = true};
    ok(st_open(&options, strings, &diags, &database));
    st_close(database);
    ck_assert_str_eq(outside(path, all), outside(reference, all));
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(unlink(reference), 0);
  }
}
END_TEST

START_TEST(a_damaged_database_is_refused) {
  struct st_database *database = open_at(path);
  create(database, &event_e);
  st_close(database);
  int file = open(path, O_WRONLY);
  char junk[4000];
  memset(junk, 0x5a, sizeof junk);
  ck_assert_int_eq(pwrite(file, junk, sizeof junk, 100), (ssize_t)sizeof junk);
  close(file);
  refused_untouched(path, MSG_DATABASE_DAMAGED);
}
END_TEST

/* ---- without permissions: as a user who is not root ---- */

static void become_nobody(void) {
  if (geteuid() == 0)
    CHILD_NEEDS(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
}

static int open_number(const char *where, bool readonly) {
  struct st_database *database = NULL;
  struct st_options options = {.path = where, .readonly = readonly};
  base_diag_sink_clear(&diags);
  if (st_open(&options, strings, &diags, &database) == BASE_OK) {
    int64_t rows = -1;
    CHILD_NEEDS(st_count(database, "E", &rows) == BASE_OK && rows == 1);
    st_close(database);
    return 0;
  }
  CHILD_NEEDS(diags.count == 1 && diags.items[0].exit_code == 3);
  return (int)diags.items[0].number;
}

static void nobody_reads(void) {
  become_nobody();
  CHILD_NEEDS(open_number(path, false) == MSG_DATABASE_UNWRITABLE);
  CHILD_NEEDS(open_number(path, true) == 0);
  CHILD_NEEDS(open_number(base_arena_printf(arena, "%s/new.db", directory), false) ==
              MSG_DATABASE_PERMISSION);
}

static void nobody_may_not_read(void) {
  become_nobody();
  CHILD_NEEDS(open_number(path, true) == MSG_DATABASE_PERMISSION);
  CHILD_NEEDS(open_number(path, false) == MSG_DATABASE_PERMISSION);
}

static void nobody_misses_the_log(void) {
  become_nobody();
  CHILD_NEEDS(open_number(path, true) == MSG_DATABASE_LOG_UNREADABLE);
}

static void leave_a_log(void) {
  struct st_database *database;
  struct st_options options = {.path = path};
  CHILD_NEEDS(st_open(&options, strings, &diags, &database) == BASE_OK);
  CHILD_NEEDS(st_begin(database) == BASE_OK);
  CHILD_NEEDS(st_clear(database, "E") == BASE_OK);
  CHILD_NEEDS(st_commit(database) == BASE_OK);
}

START_TEST(permissions) {
  struct st_database *database = open_at(path);
  create(database, &event_e);
  ck_assert_int_eq(in_child(nobody_may_not_read), 0);
  st_close(database);
  ck_assert_int_eq(chmod(path, 0644), 0); /* from here on others may read it */
  database = open_at(path);
  ok(st_begin(database));
  put_event(database, 1, 1, 0);
  ok(st_commit(database));
  ck_assert_int_eq(chmod(directory, 0555), 0);
  ck_assert_int_eq(chmod(path, 0444), 0);
  ck_assert_int_eq(in_child(nobody_reads), 0); /* while a writer has it open */
  st_close(database);
  ck_assert_int_eq(in_child(nobody_reads), 0); /* no log, no shared memory: immutable */
  ck_assert_int_eq(chmod(path, 0666), 0);
  ck_assert_int_eq(in_child(nobody_reads), 0);
  ck_assert_int_eq(chmod(path, 0000), 0);
  ck_assert_int_eq(in_child(nobody_may_not_read), 0);
  ck_assert_int_eq(chmod(path, 0444), 0);
  ck_assert_uint_eq(files_in(directory), 1);
  ck_assert_int_eq(chmod(directory, 0755), 0);
  if (geteuid() == 0) {
    /* A log whose index is gone cannot be read without writing. */
    ck_assert_int_eq(in_child(leave_a_log), 0);
    ck_assert_int_eq(unlink(base_arena_printf(arena, "%s-shm", path)), 0);
    ck_assert_int_eq(chmod(directory, 0555), 0);
    ck_assert_int_eq(in_child(nobody_misses_the_log), 0);
  }
  ck_assert_int_eq(chmod(directory, 0755), 0);
}
END_TEST

/* ---- no space ---- */

static void put_until_full(struct st_database *database, int number_1, int number_2) {
  const struct net_layout *layout = layout_of(&event_e, false);
  struct net_store *store = st_net(database);
  enum base_status status = BASE_OK;
  CHILD_NEEDS(st_begin(database) == BASE_OK);
  for (int64_t i = 0; status == BASE_OK && i < 10000000; i++)
    status =
        store->class->put(store, "E", layout, (union net_slot[]){{.i = i}, {.i = i}, {.i = i}}, 0);
  if (status == BASE_OK) status = st_commit(database);
  CHILD_NEEDS(status == BASE_SYSTEM && diags.count == 1 && diags.items[0].exit_code == 3);
  int number = (int)diags.items[0].number;
  CHILD_NEEDS(number == number_1 || number == number_2);
  CHILD_NEEDS(!st_in_transaction(database));
  /* What follows fails too, without more reports, until the caller has noticed. */
  CHILD_NEEDS(store->class->put(store, "E", layout,
                                (union net_slot[]){{.i = 1}, {.i = 1}, {.i = 1}},
                                0) == BASE_SYSTEM);
  CHILD_NEEDS(st_commit(database) == BASE_SYSTEM && diags.count == 1);
  st_rollback(database);
  int64_t rows = -1;
  CHILD_NEEDS(st_count(database, "E", &rows) == BASE_OK && rows == 1);
  CHILD_NEEDS(st_begin(database) == BASE_OK);
  CHILD_NEEDS(store->class->put(store, "E", layout,
                                (union net_slot[]){{.i = 2}, {.i = 2}, {.i = 2}}, 0) == BASE_OK);
  CHILD_NEEDS(st_commit(database) == BASE_OK);
  st_close(database);
}

static void limited_files(void) {
  struct st_database *database;
  struct st_options options = {.path = path};
  signal(SIGXFSZ, SIG_IGN);
  CHILD_NEEDS(st_open(&options, strings, &diags, &database) == BASE_OK);
  CHILD_NEEDS(setrlimit(RLIMIT_FSIZE, &(struct rlimit){1 << 20, RLIM_INFINITY}) == 0);
  put_until_full(database, MSG_DATABASE_IO, MSG_DATABASE_FULL);
}

static void fill_e(const char *where) {
  struct st_database *database = open_at(where);
  create(database, &event_e);
  ok(st_begin(database));
  put_event(database, 1, 1, 0);
  ok(st_commit(database));
  st_close(database);
}

START_TEST(a_limit_on_file_size) {
  fill_e(path);
  ck_assert_int_eq(in_child(limited_files), 0);
  ck_assert_str_eq(outside(path, "SELECT group_concat(at_lo) FROM E; PRAGMA integrity_check"),
                   "1,2\nok");
}
END_TEST

static void no_room_to_create(void) {
  signal(SIGXFSZ, SIG_IGN);
  CHILD_NEEDS(setrlimit(RLIMIT_FSIZE, &(struct rlimit){10000, RLIM_INFINITY}) == 0);
  int number = open_number(path, false);
  CHILD_NEEDS(number == MSG_DATABASE_IO || number == MSG_DATABASE_FULL);
}

START_TEST(no_room_for_a_new_database) {
  ck_assert_int_eq(in_child(no_room_to_create), 0);
  ck_assert_uint_eq(files_in(directory), 0);
  write_file(path, "", 0);
  ck_assert_int_eq(in_child(no_room_to_create), 0);
  struct stat state;
  ck_assert_int_eq(stat(path, &state), 0);
  ck_assert_int_eq(state.st_size, 0);
  ck_assert_uint_eq(files_in(directory), 1);
}
END_TEST

static char *small_disk;

static void full_disk(void) {
  struct st_database *database;
  struct st_options options = {.path = base_arena_printf(arena, "%s/test.db", small_disk)};
  CHILD_NEEDS(st_open(&options, strings, &diags, &database) == BASE_OK);
  put_until_full(database, MSG_DATABASE_FULL, MSG_DATABASE_FULL);
}

START_TEST(a_full_disk) {
  small_disk = base_arena_printf(arena, "%s/disk", directory);
  ck_assert_int_eq(mkdir(small_disk, 0700), 0);
  if (mount("tmpfs", small_disk, "tmpfs", 0, "size=1m") != 0) return; /* not permitted here */
  char *where = base_arena_printf(arena, "%s/test.db", small_disk);
  fill_e(where);
  int state = in_child(full_disk);
  char *found = outside(where, "SELECT group_concat(at_lo) FROM E; PRAGMA integrity_check");
  ck_assert_int_eq(umount(small_disk), 0);
  ck_assert_int_eq(state, 0);
  ck_assert_str_eq(found, "1,2\nok");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("storage_file");
  TCase *tests = tcase_create("storage_file");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, a_second_writer_is_refused);
  tcase_add_test(tests, readers_see_the_state_before);
  tcase_add_test(tests, a_killed_writer_leaves_whole_transactions);
  tcase_add_test(tests, what_is_not_ours_is_refused);
  tcase_add_test(tests, what_is_not_there_is_refused);
  tcase_add_test(tests, newer_and_other_timeline_are_refused);
  tcase_add_test(tests, a_newer_log_is_refused_and_kept);
  tcase_add_test(tests, a_killed_creation_is_taken_up_again);
  tcase_add_test(tests, a_new_file_is_what_its_statements_make);
  tcase_add_test(tests, a_damaged_database_is_refused);
  tcase_add_test(tests, a_new_file_is_its_owners);
  tcase_add_test(tests, permissions);
  tcase_add_test(tests, a_limit_on_file_size);
  tcase_add_test(tests, no_room_for_a_new_database);
  tcase_add_test(tests, a_full_disk);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
