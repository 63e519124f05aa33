/* The four questions in SQLite. Periods of one process do not overlap in this data, and both forms of the
 * joins make use of that: the one that was running (or waiting) when another began is the last before it. */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "tests/bench/engines.h"

static _Noreturn void give_up(sqlite3 *database, const char *what) {
  fprintf(stderr, "SQLite: %s: %s\n", what, sqlite3_errmsg(database));
  exit(1);
}

static void run(sqlite3 *database, const char *sql) {
  if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK) give_up(database, sql);
}

static const char *version(void) {
  return sqlite3_libversion();
}

static void *open(const char *path) {
  sqlite3 *database = NULL;
  if (sqlite3_open(path ? path : ":memory:", &database) != SQLITE_OK) give_up(database, "open");
  run(database,
      "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -4000000; PRAGMA synchronous = OFF;");
  return database;
}

static void shut(void *handle) {
  sqlite3_close(handle);
}

/* --- loading */

static void insert(sqlite3_stmt *statement, int64_t a, int64_t b, int64_t c, int64_t d, int count) {
  int64_t values[4] = {a, b, c, d};
  for (int i = 0; i < count; i++) sqlite3_bind_int64(statement, i + 1, values[i]);
  if (sqlite3_step(statement) != SQLITE_DONE) give_up(sqlite3_db_handle(statement), "insert");
  sqlite3_reset(statement);
}

static sqlite3_stmt *into(sqlite3 *database, const char *table, const char *columns, int count) {
  static const char *const marks[] = {"", "(?)", "", "(?,?,?)", "(?,?,?,?)"};
  char sql[256];
  sqlite3_stmt *statement = NULL;
  snprintf(sql, sizeof sql, "CREATE TABLE %s(%s)", table, columns);
  run(database, sql);
  snprintf(sql, sizeof sql, "INSERT INTO %s VALUES%s", table, marks[count]);
  if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK) give_up(database, sql);
  return statement;
}

static void load_periods(sqlite3 *database, const char *table, const struct bench_period *periods,
                         size_t count) {
  sqlite3_stmt *statement = into(database, table, "process INT, other INT, start INT, stop INT", 4);
  for (size_t i = 0; i < count; i++)
    insert(statement, periods[i].process, periods[i].other, periods[i].start, periods[i].stop, 4);
  sqlite3_finalize(statement);
}

static void load_messages(sqlite3 *database, const char *table,
                          const struct bench_message *messages, size_t count) {
  sqlite3_stmt *statement =
      into(database, table, "sender INT, receiver INT, id INT, instant INT", 4);
  for (size_t i = 0; i < count; i++)
    insert(statement, messages[i].from, messages[i].to, messages[i].id, messages[i].at, 4);
  sqlite3_finalize(statement);
}

static void load_iterations(sqlite3 *database, const struct bench_data *data) {
  sqlite3_stmt *statement = into(database, "iteration", "process INT, number INT, instant INT", 3);
  for (size_t i = 0; i < data->iteration_count; i++) {
    const struct bench_iteration *iteration = &data->iterations[i];
    insert(statement, iteration->process, iteration->number, iteration->at, 0, 3);
  }
  sqlite3_finalize(statement);
  statement = into(database, "horizon", "instant INT", 1);
  insert(statement, data->horizon, 0, 0, 0, 1);
  sqlite3_finalize(statement);
}

static void load(void *handle, enum bench_question question, const struct bench_data *data) {
  static const char *const indexes[BENCH_QUESTIONS] = {
      [BENCH_OVERLAP] =
          "CREATE INDEX running_i ON running(process, start, stop);"
          "CREATE INDEX waiting_i ON waiting(process, start, stop)",
      [BENCH_SEQUENCE] = "CREATE INDEX received_i ON received(id, instant)"};
  sqlite3 *database = handle;
  run(database, "BEGIN");
  if (question == BENCH_PDE) load_iterations(database, data);
  if (question == BENCH_OVERLAP || question == BENCH_COUNT)
    load_periods(database, "running", data->running, data->running_count);
  if (question == BENCH_OVERLAP)
    load_periods(database, "waiting", data->waiting, data->waiting_count);
  if (question == BENCH_SEQUENCE) {
    load_messages(database, "sent", data->sent, data->sent_count);
    load_messages(database, "received", data->received, data->received_count);
  }
  run(database, "COMMIT");
  if (indexes[question] != NULL) run(database, indexes[question]);
  run(database, "ANALYZE");
}

/* --- asking */

static const char *const questions[BENCH_QUESTIONS] = {
    /* Each common period begins with one of the two. */
    [BENCH_OVERLAP] =
        "WITH common AS ("
        "  SELECT w.start AS start, min(w.stop, (SELECT r.stop FROM running r WHERE r.process = "
        "w.process"
        "      AND r.start <= w.start ORDER BY r.start DESC LIMIT 1)) AS stop FROM waiting w"
        "  UNION ALL"
        "  SELECT r.start, min(r.stop, (SELECT w.stop FROM waiting w WHERE w.process = r.process"
        "      AND w.start < r.start ORDER BY w.start DESC LIMIT 1)) FROM running r)"
        "SELECT count(*), sum(stop - start), sum(start % 1000003), 0 FROM common WHERE stop > "
        "start",
    /* In one order for each pair: numbers only grow, so each one's last is its largest. */
    [BENCH_PDE] =
        "WITH steps AS ("
        "  SELECT process / 2 AS pair, process % 2 AS who, instant,"
        "    lead(instant, 1, " BENCH_HORIZON
        ") OVER o AS until,"
        "    max(CASE process % 2 WHEN 0 THEN number END) OVER o AS a,"
        "    max(CASE process % 2 WHEN 1 THEN number END) OVER o AS b"
        "  FROM iteration WINDOW o AS (PARTITION BY process / 2 ORDER BY instant, process)),"
        "behind AS (SELECT *, CASE WHEN a > b + 1 THEN until - instant ELSE 0 END AS length FROM "
        "steps),"
        "covered AS (SELECT *, sum(length) OVER (PARTITION BY pair ORDER BY instant, who) AS so_far"
        "  FROM behind)"
        "SELECT sum(length > 0), sum(length), sum(who = 1 AND a = b),"
        "  sum(CASE WHEN who = 1 AND a = b AND instant > 0 THEN so_far * 1000000 / instant ELSE 0 "
        "END) FROM "
        "covered",
    [BENCH_COUNT] =
        "WITH changes AS (SELECT other, instant, sum(by) AS by FROM"
        "    (SELECT other, start AS instant, 1 AS by FROM running"
        "     UNION ALL SELECT other, stop, -1 FROM running) GROUP BY other, instant HAVING "
        "sum(by) <> "
        "0),"
        "segments AS (SELECT instant AS start, sum(by) OVER o AS number, lead(instant) OVER o AS "
        "stop"
        "  FROM changes WINDOW o AS (PARTITION BY other ORDER BY instant))"
        "SELECT count(*), sum(number * (stop - start)), sum(start % 1000003 * number), 0 FROM "
        "segments"
        "  WHERE number > 0",
    [BENCH_SEQUENCE] =
        "WITH pairs AS (SELECT s.receiver, (SELECT min(r.instant) FROM received r WHERE r.id = s.id"
        "    AND r.instant > s.instant) - s.instant AS latency FROM sent s),"
        "receivers AS (SELECT count(latency) AS number, sum(latency) AS latency FROM pairs"
        "  GROUP BY receiver)"
        "SELECT sum(number), sum(latency), sum(latency / number), 0 FROM receivers",
};

static int is_late(void *context) {
  return base_env_monotonic() > *(const int64_t *)context;
}

static struct bench_sums ask(void *handle, enum bench_question question) {
  sqlite3 *database = handle;
  sqlite3_stmt *statement = NULL;
  int64_t end = base_env_monotonic() + BENCH_SECONDS * INT64_C(1000000000);
  sqlite3_progress_handler(database, 1000000, is_late, &end);
  if (sqlite3_prepare_v2(database, questions[question], -1, &statement, NULL) != SQLITE_OK)
    give_up(database, "question");
  int status = sqlite3_step(statement);
  sqlite3_progress_handler(database, 0, NULL, NULL);
  if (status == SQLITE_INTERRUPT) {
    sqlite3_finalize(statement);
    return (struct bench_sums){.rows = -1};
  }
  if (status != SQLITE_ROW) give_up(database, "question");
  struct bench_sums sums = {sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1),
                            sqlite3_column_int64(statement, 2), sqlite3_column_int64(statement, 3)};
  sqlite3_finalize(statement);
  return sums;
}

const struct bench_engine bench_sqlite = {"SQLite", version, open, load, ask, NULL, shut};
