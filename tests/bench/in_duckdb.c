/* The four questions in DuckDB, if its library is there. The few functions of its C interface that are
 * used are looked up by name; the result structure is the one of its stable interface.              */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/engines.h"

struct result {
  uint64_t column_count, row_count, rows_changed;
  void *columns;
  char *error;
  void *internal;
};

static struct {
  const char *(*library_version)(void);
  int (*open)(const char *path, void **database);
  int (*connect)(void *database, void **connection);
  int (*query)(void *connection, const char *sql, struct result *result);
  const char *(*result_error)(struct result *result);
  int64_t (*value_int64)(struct result *result, uint64_t column, uint64_t row);
  void (*destroy_result)(struct result *result);
  int (*appender_create)(void *connection, const char *schema, const char *table, void **appender);
  int (*append_int32)(void *appender, int32_t value);
  int (*append_int64)(void *appender, int64_t value);
  int (*appender_end_row)(void *appender);
  int (*appender_destroy)(void **appender);
  void (*disconnect)(void **connection);
  void (*close)(void **database);
} duckdb;

static const struct {
  const char *name;
  void *place;
} symbols[] = {
    {"duckdb_library_version", &duckdb.library_version},
    {"duckdb_open", &duckdb.open},
    {"duckdb_connect", &duckdb.connect},
    {"duckdb_query", &duckdb.query},
    {"duckdb_result_error", &duckdb.result_error},
    {"duckdb_value_int64", &duckdb.value_int64},
    {"duckdb_destroy_result", &duckdb.destroy_result},
    {"duckdb_appender_create", &duckdb.appender_create},
    {"duckdb_append_int32", &duckdb.append_int32},
    {"duckdb_append_int64", &duckdb.append_int64},
    {"duckdb_appender_end_row", &duckdb.appender_end_row},
    {"duckdb_appender_destroy", &duckdb.appender_destroy},
    {"duckdb_disconnect", &duckdb.disconnect},
    {"duckdb_close", &duckdb.close},
};

static const char *version(void) {
  static bool looked, found;
  if (!looked) {
    const char *path = getenv("TQUEL_BENCH_DUCKDB");
    void *library = dlopen(path ? path : "libduckdb.so", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL && path != NULL) fprintf(stderr, "DuckDB: %s\n", dlerror());
    looked = true;
    found = library != NULL;
    for (size_t i = 0; found && i < sizeof symbols / sizeof symbols[0]; i++) {
      void *symbol = dlsym(library, symbols[i].name);
      memcpy(symbols[i].place, &symbol, sizeof symbol);
      found = symbol != NULL;
    }
  }
  return found ? duckdb.library_version() : NULL;
}

struct handle {
  void *database, *connection;
};

static struct bench_sums query(struct handle *handle, const char *sql, bool sums) {
  struct result result;
  struct bench_sums ret = {0};
  if (duckdb.query(handle->connection, sql, &result) != 0) {
    fprintf(stderr, "DuckDB: %s\n", duckdb.result_error(&result));
    exit(1);
  }
  if (sums)
    ret = (struct bench_sums){duckdb.value_int64(&result, 0, 0), duckdb.value_int64(&result, 1, 0),
                              duckdb.value_int64(&result, 2, 0), duckdb.value_int64(&result, 3, 0)};
  duckdb.destroy_result(&result);
  return ret;
}

static void *open(const char *path) {
  struct handle *handle = calloc(1, sizeof *handle);
  if (handle == NULL || duckdb.open(path, &handle->database) != 0 ||
      duckdb.connect(handle->database, &handle->connection) != 0) {
    fprintf(stderr, "DuckDB: cannot open %s\n", path ? path : "a database in memory");
    exit(1);
  }
  query(handle, "SET threads = 1", false);
  return handle;
}

static void shut(void *context) {
  struct handle *handle = context;
  duckdb.disconnect(&handle->connection);
  duckdb.close(&handle->database);
  free(handle);
}

/* --- loading */

static void *into(struct handle *handle, const char *table, const char *columns) {
  char sql[256];
  void *appender = NULL;
  snprintf(sql, sizeof sql, "CREATE TABLE %s(%s)", table, columns);
  query(handle, sql, false);
  if (duckdb.appender_create(handle->connection, NULL, table, &appender) != 0) {
    fprintf(stderr, "DuckDB: cannot append to %s\n", table);
    exit(1);
  }
  return appender;
}

static void finish(void *appender) {
  if (duckdb.appender_destroy(&appender) == 0) return;
  fprintf(stderr, "DuckDB: appending failed\n");
  exit(1);
}

static void load_periods(struct handle *handle, const char *table,
                         const struct bench_period *periods, size_t count) {
  void *appender = into(handle, table, "process INT, other INT, start BIGINT, stop BIGINT");
  for (size_t i = 0; i < count; i++) {
    duckdb.append_int32(appender, periods[i].process);
    duckdb.append_int32(appender, periods[i].other);
    duckdb.append_int64(appender, periods[i].start);
    duckdb.append_int64(appender, periods[i].stop);
    duckdb.appender_end_row(appender);
  }
  finish(appender);
}

static void load_messages(struct handle *handle, const char *table,
                          const struct bench_message *messages, size_t count) {
  void *appender = into(handle, table, "sender INT, receiver INT, id INT, instant BIGINT");
  for (size_t i = 0; i < count; i++) {
    duckdb.append_int32(appender, messages[i].from);
    duckdb.append_int32(appender, messages[i].to);
    duckdb.append_int32(appender, messages[i].id);
    duckdb.append_int64(appender, messages[i].at);
    duckdb.appender_end_row(appender);
  }
  finish(appender);
}

static void load_iterations(struct handle *handle, const struct bench_data *data) {
  void *appender = into(handle, "iteration", "process INT, number INT, instant BIGINT");
  for (size_t i = 0; i < data->iteration_count; i++) {
    duckdb.append_int32(appender, data->iterations[i].process);
    duckdb.append_int32(appender, data->iterations[i].number);
    duckdb.append_int64(appender, data->iterations[i].at);
    duckdb.appender_end_row(appender);
  }
  finish(appender);
  appender = into(handle, "horizon", "instant BIGINT");
  duckdb.append_int64(appender, data->horizon);
  duckdb.appender_end_row(appender);
  finish(appender);
}

static void load(void *context, enum bench_question question, const struct bench_data *data) {
  struct handle *handle = context;
  if (question == BENCH_PDE) load_iterations(handle, data);
  if (question == BENCH_OVERLAP || question == BENCH_COUNT)
    load_periods(handle, "running", data->running, data->running_count);
  if (question == BENCH_OVERLAP)
    load_periods(handle, "waiting", data->waiting, data->waiting_count);
  if (question == BENCH_SEQUENCE) {
    load_messages(handle, "sent", data->sent, data->sent_count);
    load_messages(handle, "received", data->received, data->received_count);
  }
  query(handle, "CHECKPOINT", false);
}

/* --- asking */

#define COVERED                                                                                \
  "WITH steps AS ("                                                                            \
  "  SELECT process // 2 AS pair, process % 2 AS who, instant,"                                \
  "    lead(instant, 1, " BENCH_HORIZON                                                        \
  ") OVER o AS until,"                                                                         \
  "    last_value(CASE process % 2 WHEN 0 THEN number END IGNORE NULLS) OVER o AS a,"          \
  "    last_value(CASE process % 2 WHEN 1 THEN number END IGNORE NULLS) OVER o AS b"           \
  "  FROM iteration WINDOW o AS (PARTITION BY process // 2 ORDER BY instant, process"          \
  "    ROWS UNBOUNDED PRECEDING)),"                                                            \
  "behind AS (SELECT *, CASE WHEN a > b + 1 THEN until - instant ELSE 0 END AS length FROM "   \
  "steps),"                                                                                    \
  "covered AS (SELECT *, sum(length) OVER (PARTITION BY pair ORDER BY instant, who) AS so_far" \
  "  FROM behind)"
#define SEGMENTS                                                                                   \
  "WITH changes AS (SELECT other, instant, sum(change)::BIGINT AS change FROM"                     \
  "    (SELECT other, start AS instant, 1 AS change FROM running"                                  \
  "     UNION ALL SELECT other, stop, -1 FROM running) GROUP BY ALL HAVING sum(change) <> 0),"     \
  "segments AS (SELECT other, instant AS start, sum(change) OVER o AS number, lead(instant) OVER " \
  "o "                                                                                             \
  "AS stop"                                                                                        \
  "  FROM changes WINDOW o AS (PARTITION BY other ORDER BY instant))"

static const char *const questions[BENCH_QUESTIONS] = {
    [BENCH_OVERLAP] =
        "SELECT count(*), sum(stop - start)::BIGINT, sum(start % 1000003)::BIGINT, 0 FROM ("
        "  SELECT w.start, least(r.stop, w.stop) AS stop FROM waiting w ASOF JOIN running r"
        "    ON r.process = w.process AND w.start >= r.start"
        "  UNION ALL"
        "  SELECT r.start, least(r.stop, w.stop) FROM running r ASOF JOIN waiting w"
        "    ON w.process = r.process AND r.start > w.start) WHERE stop > start",
    [BENCH_PDE] = COVERED
    "SELECT count(*) FILTER (length > 0), sum(length)::BIGINT,"
    "  count(*) FILTER (who = 1 AND a = b),"
    "  sum(so_far * 1000000 // instant) FILTER (who = 1 AND a = b AND instant > 0)::BIGINT "
    "FROM covered",
    [BENCH_COUNT] = SEGMENTS
    "SELECT count(*), sum(number * (stop - start))::BIGINT,"
    "  sum(start % 1000003 * number)::BIGINT, 0 FROM segments WHERE number > 0",
    [BENCH_SEQUENCE] =
        "WITH pairs AS (SELECT s.receiver, r.instant - s.instant AS latency FROM sent s ASOF JOIN "
        "received r"
        "    ON r.id = s.id AND s.instant < r.instant),"
        "receivers AS (SELECT count(*) AS number, sum(latency)::BIGINT AS latency FROM pairs"
        "  GROUP BY receiver)"
        "SELECT sum(number)::BIGINT, sum(latency)::BIGINT, sum(latency // number)::BIGINT, 0"
        "  FROM receivers",
};

static struct bench_sums ask(void *context, enum bench_question question) {
  return query(context, questions[question], true);
}

static const char *const all_rows[BENCH_QUESTIONS] = {
    [BENCH_OVERLAP] =
        "SELECT * FROM (SELECT w.start, least(r.stop, w.stop) AS stop, w.process, r.other AS "
        "processor,"
        "    w.other AS lock FROM waiting w ASOF JOIN running r"
        "    ON r.process = w.process AND w.start >= r.start"
        "  UNION ALL"
        "  SELECT r.start, least(r.stop, w.stop), r.process, r.other, w.other FROM running r"
        "    ASOF JOIN waiting w ON w.process = r.process AND r.start > w.start) WHERE stop > "
        "start",
    [BENCH_PDE] = COVERED
    "SELECT instant, until, pair, length, CASE WHEN who = 1 AND a = b AND instant > 0"
    "  THEN so_far * 1000000 // instant END FROM covered WHERE length > 0 OR (who = 1 AND a = b)",
    [BENCH_COUNT] = SEGMENTS "SELECT start, stop, other, number FROM segments WHERE number > 0",
    [BENCH_SEQUENCE] =
        "SELECT s.instant AS start, r.instant AS stop, s.receiver, s.id, r.instant - s.instant"
        "  FROM sent s ASOF JOIN received r ON r.id = s.id AND s.instant < r.instant",
};

static void print(void *context, enum bench_question question, const char *path) {
  char sql[4096];
  snprintf(sql, sizeof sql, "COPY (%s) TO '%s' (FORMAT csv)", all_rows[question], path);
  query(context, sql, false);
}

const struct bench_engine bench_duckdb = {"DuckDB", version, open, load, ask, print, shut};
