/* Benchmark: rows from files and from the database, against the least that can be done for them.
 *
 *     loading_bench [ROWS] [RUNS]
 *
 * Makes ROWS periods of two integers and two times and measures, in one run and as medians of RUNS:
 *
 *   csv, ndjson   reading, decoding and checking the file into rows (sensors/feed), against a loop that
 *                 takes the same numbers out of the same file and checks nothing, and a count of its lines
 *   store         putting the rows into the database, up to and with the commit, in the order of time and
 *                 shuffled, against prepared inserts of the same rows in the same order into the same
 *                 table in one transaction
 *   scan          a stored relation in the order of time as batches: from SQLite, from SQLite into
 *                 memory, and once more, against a loop of sqlite3_step over the same rows in that order
 *   load_us       of a retrieve over what was copied in the same session, against the same loop
 *
 * All must agree on the number of rows and on a sum over all their slots; the exit status says whether
 * they do. Times are those of the process on its core, except for load_us, so that neighbours count for little. */
#include <fcntl.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "sensors/feed/feed.h"
#include "storage/storage.h"
#include "tquel/session/session.h"

struct outcome {
  uint64_t rows, sum;
};

struct bench {
  size_t rows, runs;
  char directory[64];
  char *csv, *ndjson;
  bool agree;
};

/* CPU time: user and system. */
static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int compare(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static int64_t median(int64_t *values, size_t count) {
  qsort(values, count, sizeof *values, compare);
  return values[count / 2];
}

static void die(const char *what) {
  fprintf(stderr, "loading_bench: %s\n", what);
  exit(1);
}

static char *in_directory(const struct bench *bench, const char *name) {
  struct base_buffer path = BASE_BUFFER_EMPTY;
  base_buffer_printf(&path, "%s/%s", bench->directory, name);
  return path.data;
}

/* Starts grow, as in a log; the integers are as long as counters of a day. */
static void make_files(struct bench *bench) {
  FILE *csv = fopen(bench->csv, "w"), *ndjson = fopen(bench->ndjson, "w");
  if (!csv || !ndjson) die("cannot write the files");
  struct base_random random = {1};
  int64_t start = 1000000;
  fprintf(csv, "start,stop,a,b\n");
  for (size_t i = 0; i < bench->rows; i++) {
    start += (int64_t)base_random_below(&random, 20);
    int64_t stop = start + 1 + (int64_t)base_random_below(&random, 1000);
    int64_t a = (int64_t)base_random_below(&random, 1000000);
    int64_t b = (int64_t)i;
    fprintf(csv, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 "\n", start, stop, a, b);
    fprintf(ndjson,
            "{\"start\": %" PRId64 ", \"stop\": %" PRId64 ", \"a\": %" PRId64 ", \"b\": %" PRId64
            "}\n",
            start, stop, a, b);
  }
  if (fclose(csv) != 0 || fclose(ndjson) != 0) die("cannot write the files");
}

/* --- by hand */

static char *read_file(const char *path, size_t *ret_length) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  off_t size = descriptor >= 0 ? lseek(descriptor, 0, SEEK_END) : -1;
  if (size < 0 || lseek(descriptor, 0, SEEK_SET) != 0) die("cannot open a file");
  char *text = base_xmalloc((size_t)size + 1);
  size_t have = 0;
  for (ssize_t got; (got = read(descriptor, text + have, (size_t)size - have)) > 0;)
    have += (size_t)got;
  close(descriptor);
  text[have] = 0;
  *ret_length = have;
  return text;
}

static struct outcome count_lines(const char *path) {
  struct outcome outcome = {0};
  size_t length;
  char *text = read_file(path, &length), *end = text + length;
  for (char *at = text; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++) outcome.rows++;
  free(text);
  return outcome;
}

/* Four numbers a line, whatever stands between them. */
static struct outcome parse_by_hand(const char *path, bool header) {
  struct outcome outcome = {0};
  size_t length;
  char *text = read_file(path, &length), *at = text, *end = text + length;
  if (header) at = memchr(at, '\n', length);
  int64_t row[4];
  unsigned field = 0;
  while (at < end) {
    while (at < end && (*at < '0' || *at > '9')) at++;
    if (at == end) break;
    int64_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++) value = value * 10 + (*at - '0');
    row[field++] = value;
    if (field < 4) continue;
    field = 0;
    outcome.rows++;
    outcome.sum += 2 * (uint64_t)(row[0] + row[1]) + (uint64_t)(row[2] + row[3]);
  }
  free(text);
  return outcome;
}

/* --- through the readers */

static struct net_layout *layout_of_rows(struct base_arena *arena) {
  const struct net_field fields[] = {{.name = "a", .type = {.base = NET_INTEGER, .width = 8}},
                                     {.name = "b", .type = {.base = NET_INTEGER, .width = 8}}};
  return net_layout_new(arena, NET_PERIOD, fields, 2);
}

static void add_rows(struct outcome *outcome, const union net_slot *rows, size_t count,
                     uint32_t slots) {
  for (size_t i = 0; i < count * slots; i++) outcome->sum += (uint64_t)rows[i].i;
  outcome->rows += count;
}

static struct outcome parse(const char *path, enum sn_format format) {
  struct outcome outcome = {0};
  struct base_arena *arena = base_arena_new();
  struct base_strings *strings = base_strings_new();
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  struct sn_reader_options options = {.path = path,
                                      .format = format,
                                      .layout = layout_of_rows(arena),
                                      .time = {.timeline = NET_TIMELINE_ABSTRACT},
                                      .strings = strings};
  struct net_reader *reader = NULL;
  struct net_batch_builder builder;
  struct net_read_event event;
  if (sn_reader_open(&options, &diags, &reader) != BASE_OK) die("cannot open a file");
  net_batch_builder_init(&builder, options.layout, NET_BATCH_ROWS);
  while (reader->class->read(reader, &builder, &event) == NET_READ_ROWS) {
    add_rows(&outcome, builder.rows, builder.count, options.layout->slot_count);
    net_batch_builder_clear(&builder);
  }
  net_batch_builder_done(&builder);
  reader->class->free(reader);
  base_diag_sink_done(&diags);
  base_strings_free(strings);
  base_arena_free(arena);
  return outcome;
}

static void agree(struct bench *bench, const char *what, struct outcome a, struct outcome b) {
  if (a.rows == b.rows && a.sum == b.sum) return;
  printf("%s: DIFFER: %" PRIu64 " rows, sum %" PRIu64 "; by hand %" PRIu64 " rows, sum %" PRIu64
         "\n",
         what, a.rows, a.sum, b.rows, b.sum);
  bench->agree = false;
}

/* A line of the table: OURS against REFERENCE, both in ns. */
static void say(const struct bench *bench, const char *what, int64_t ours, const char *against,
                int64_t reference) {
  printf("%-22s %8.2f M rows/s   %-32s %8.2f M rows/s   ratio %6.2f\n", what,
         (double)bench->rows * 1e3 / (double)ours, against,
         (double)bench->rows * 1e3 / (double)reference, (double)ours / (double)reference);
  fflush(stdout);
}

static void bench_files(struct bench *bench) {
  int64_t *ours = base_xcalloc(bench->runs, sizeof *ours);
  int64_t *hand = base_xcalloc(bench->runs, sizeof *hand);
  int64_t *lines = base_xcalloc(bench->runs, sizeof *lines);
  for (int format = 0; format < 2; format++) {
    const char *path = format == 0 ? bench->csv : bench->ndjson;
    for (size_t i = 0; i < bench->runs; i++) {
      int64_t began = now();
      struct outcome read = parse(path, format == 0 ? SN_CSV : SN_NDJSON);
      ours[i] = now() - began;
      began = now();
      struct outcome by_hand = parse_by_hand(path, format == 0);
      hand[i] = now() - began;
      began = now();
      struct outcome counted = count_lines(path);
      lines[i] = now() - began;
      agree(bench, format == 0 ? "csv" : "ndjson", read, by_hand);
      if (counted.rows != by_hand.rows + (format == 0)) bench->agree = false;
    }
    int64_t median_ours = median(ours, bench->runs);
    say(bench, format == 0 ? "csv" : "ndjson", median_ours, "numbers by hand, unchecked",
        median(hand, bench->runs));
    say(bench, "", median_ours, "lines counted", median(lines, bench->runs));
  }
  free(ours);
  free(hand);
  free(lines);
}

/* --- storing */

static const struct st_domain domains[] = {{"a", {NET_INTEGER, 8}}, {"b", {NET_INTEGER, 8}}};
static const struct st_relation relation = {.name = "R",
                                            .kind = ST_PERIOD,
                                            .domains = domains,
                                            .domain_count = 2,
                                            .checkpoint = NET_FOREVER};

struct store {
  struct base_arena *arena;
  struct base_strings *strings;
  struct base_diag_sink diags;
  struct st_database *database;
};

static void must(enum base_status status, const char *what) {
  if (status != BASE_OK) die(what);
}

static void open_store(struct store *store, const char *path) {
  store->arena = base_arena_new();
  store->strings = base_strings_new();
  base_diag_sink_init(&store->diags);
  must(st_open(&(struct st_options){.path = path, .timeline = NET_TIMELINE_ABSTRACT},
               store->strings, &store->diags, &store->database),
       "cannot open the database");
}

static void close_store(struct store *store) {
  st_close(store->database);
  base_diag_sink_done(&store->diags);
  base_strings_free(store->strings);
  base_arena_free(store->arena);
}

static void remove_database(const char *path) {
  static const char *const suffixes[] = {"", "-wal", "-shm", "-tquel-lock"};
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    struct base_buffer name = BASE_BUFFER_EMPTY;
    base_buffer_printf(&name, "%s%s", path, suffixes[i]);
    unlink(name.data);
    base_buffer_done(&name);
  }
}

/* A new database with the empty relation R. */
static void create_store(struct store *store, const char *path) {
  remove_database(path);
  open_store(store, path);
  must(st_begin(store->database), "cannot begin");
  must(st_create(store->database, &relation), "cannot create");
  must(st_commit(store->database), "cannot commit");
}

static void read_rows(const char *path, struct net_rows *rows) {
  size_t length;
  char *text = read_file(path, &length), *at = memchr(text, '\n', length);
  for (char *end = text + length; at + 1 < end;) {
    union net_slot *row = net_rows_add(rows, NET_DEFINITE);
    row[0].i = row[1].i = strtoll(at + 1, &at, 10);
    row[2].i = row[3].i = strtoll(at + 1, &at, 10);
    row[4].i = strtoll(at + 1, &at, 10);
    row[5].i = strtoll(at + 1, &at, 10);
  }
  free(text);
}

static void shuffle(struct net_rows *rows) {
  struct base_random random = {2};
  union net_slot kept[6];
  for (size_t i = rows->count; i > 1; i--) {
    union net_slot *a = net_rows_row(rows, i - 1);
    union net_slot *b = net_rows_row(rows, (size_t)base_random_below(&random, i));
    memcpy(kept, a, sizeof kept);
    memmove(a, b, sizeof kept);
    memcpy(b, kept, sizeof kept);
  }
}

static int64_t store_rows(const char *path, const struct net_rows *rows) {
  struct store store;
  create_store(&store, path);
  int64_t began = now();
  must(st_begin(store.database), "cannot begin");
  must(st_put_rows(store.database, "R", rows), "cannot store");
  must(st_commit(store.database), "cannot commit");
  int64_t took = now() - began;
  close_store(&store);
  return took;
}

static sqlite3 *connect(const char *path) {
  sqlite3 *sqlite;
  if (sqlite3_open_v2(path, &sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
      SQLITE_OK)
    die("cannot open the database by hand");
  sqlite3_exec(sqlite, "PRAGMA synchronous=FULL; PRAGMA cache_size=-65536", NULL, NULL, NULL);
  return sqlite;
}

static sqlite3_stmt *prepare(sqlite3 *sqlite, const char *sql) {
  sqlite3_stmt *statement;
  if (sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL) != SQLITE_OK)
    die(sqlite3_errmsg(sqlite));
  return statement;
}

static int64_t insert_by_hand(const char *path, const struct net_rows *rows) {
  struct store store;
  create_store(&store, path);
  close_store(&store);
  sqlite3 *sqlite = connect(path);
  int64_t began = now();
  sqlite3_exec(sqlite, "BEGIN IMMEDIATE", NULL, NULL, NULL);
  sqlite3_stmt *statement = prepare(sqlite, "INSERT INTO R VALUES (?1,?2,?3,?4,?5,?6,?7)");
  for (size_t i = 0; i < rows->count; i++) {
    const union net_slot *row = net_rows_row(rows, i);
    for (int k = 0; k < 4; k++) sqlite3_bind_int64(statement, k + 1, row[k].i);
    sqlite3_bind_int64(statement, 5, 1);
    sqlite3_bind_int64(statement, 6, row[4].i);
    sqlite3_bind_int64(statement, 7, row[5].i);
    if (sqlite3_step(statement) != SQLITE_DONE) die(sqlite3_errmsg(sqlite));
    sqlite3_reset(statement);
  }
  sqlite3_finalize(statement);
  sqlite3_exec(sqlite, "COMMIT", NULL, NULL, NULL);
  int64_t took = now() - began;
  sqlite3_close(sqlite);
  return took;
}

/* --- scanning */

/* Rows that start at FIRST or after. */
static struct outcome step_from(const char *path, net_chronon first) {
  static const char sql[] =
      "SELECT start_lo,start_hi,stop_lo,stop_hi,definite,a,b FROM R INDEXED BY tq_R_set"
      " WHERE start_lo>=?1"
      " ORDER BY start_lo,start_hi,ifnull(stop_lo,-9223372036854775807),stop_hi,a,b";
  struct outcome outcome = {0};
  sqlite3 *sqlite = connect(path);
  sqlite3_stmt *statement = prepare(sqlite, sql);
  sqlite3_bind_int64(statement, 1, first);
  while (sqlite3_step(statement) == SQLITE_ROW) {
    for (int k = 0; k < 7; k++)
      if (k != 4) outcome.sum += (uint64_t)sqlite3_column_int64(statement, k);
    outcome.rows++;
  }
  sqlite3_finalize(statement);
  sqlite3_close(sqlite);
  return outcome;
}

static struct outcome step_by_hand(const char *path) {
  return step_from(path, NET_BEGINNING);
}

/* When the last thousandth of the rows begins. */
static net_chronon last_thousandth(const char *path, size_t rows) {
  sqlite3 *sqlite = connect(path);
  sqlite3_stmt *statement =
      prepare(sqlite, "SELECT start_lo FROM R ORDER BY start_lo DESC LIMIT 1 OFFSET ?1");
  sqlite3_bind_int64(statement, 1, (int64_t)(rows / 1000));
  net_chronon first =
      sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : NET_BEGINNING;
  sqlite3_finalize(statement);
  sqlite3_close(sqlite);
  return first;
}

static struct outcome scan_wanted(struct store *store, const struct net_layout *layout,
                                  const struct net_wanted *wanted) {
  struct outcome outcome = {0};
  struct net_store *net = st_net(store->database);
  struct net_source *source;
  struct net_batch batch;
  struct net_scan scan = {"R", layout, NET_SCAN_TUPLES, NET_FOREVER, NET_BATCH_ROWS, wanted};
  must(net->class->scan(net, &scan, &source), "cannot scan");
  while (source->next(source, &batch) == BASE_OK)
    add_rows(&outcome, batch.rows, batch.count, layout->slot_count);
  source->free(source);
  return outcome;
}

static struct outcome scan(struct store *store, const struct net_layout *layout) {
  return scan_wanted(store, layout, NULL);
}

/* A short time at the end, of a file that was just opened: beside all of it, and beside a range by hand. */
static void bench_part(struct bench *bench, const char *path) {
  struct net_wanted wanted = NET_WANTED_ALL;
  int64_t *times[3];
  for (int k = 0; k < 3; k++) times[k] = base_xcalloc(bench->runs, sizeof *times[k]);
  wanted.start_hi_min = last_thousandth(path, bench->rows);
  for (size_t i = 0; i < bench->runs; i++) {
    struct store store;
    int64_t began = now();
    struct outcome by_hand = step_from(path, wanted.start_hi_min);
    times[0][i] = now() - began;
    began = now();
    (void)step_by_hand(path);
    times[1][i] = now() - began;
    began = now();
    open_store(&store, path);
    agree(bench, "scan of a part", scan_wanted(&store, layout_of_rows(store.arena), &wanted),
          by_hand);
    times[2][i] = now() - began;
    close_store(&store);
  }
  int64_t ours = median(times[2], bench->runs);
  say(bench, "scan of a part", ours, "sqlite3_step, all", median(times[1], bench->runs));
  say(bench, "scan of a part", ours, "sqlite3_step, part", median(times[0], bench->runs));
  for (int k = 0; k < 3; k++) free(times[k]);
}

static void bench_scans(struct bench *bench, const char *path) {
  struct store store;
  int64_t *ours[3] = {0}, *hand = base_xcalloc(bench->runs, sizeof *hand);
  for (int k = 0; k < 3; k++) ours[k] = base_xcalloc(bench->runs, sizeof *ours[k]);
  for (size_t i = 0; i < bench->runs; i++) {
    int64_t began = now();
    struct outcome by_hand = step_by_hand(path);
    hand[i] = now() - began;
    for (int k = 0; k < 3; k++) {
      if (k < 2) open_store(&store, path);
      if (k == 0) must(st_set_cache(store.database, 0), "cannot set the cache");
      struct net_layout *layout = layout_of_rows(store.arena);
      began = now();
      struct outcome scanned = scan(&store, layout);
      ours[k][i] = now() - began;
      agree(bench, "scan", scanned, by_hand);
      if (k != 1) close_store(&store);
    }
  }
  int64_t reference = median(hand, bench->runs);
  say(bench, "scan", median(ours[0], bench->runs), "sqlite3_step", reference);
  say(bench, "scan into memory", median(ours[1], bench->runs), "sqlite3_step", reference);
  say(bench, "scan once more", median(ours[2], bench->runs), "sqlite3_step", reference);
  for (int k = 0; k < 3; k++) free(ours[k]);
  free(hand);
}

static void bench_storing(struct bench *bench, const char *path) {
  struct base_arena *arena = base_arena_new();
  struct net_rows rows;
  int64_t *ours = base_xcalloc(bench->runs, sizeof *ours);
  int64_t *hand = base_xcalloc(bench->runs, sizeof *hand);
  net_rows_init(&rows, layout_of_rows(arena));
  read_rows(bench->csv, &rows);
  for (int shuffled = 1; shuffled >= 0; shuffled--) {
    struct net_rows copy;
    net_rows_init(&copy, rows.layout);
    net_rows_add_all(&copy, rows.rows, rows.marks, rows.count);
    if (shuffled) shuffle(&copy);
    for (size_t i = 0; i < bench->runs; i++) {
      hand[i] = insert_by_hand(path, &copy);
      ours[i] = store_rows(path, &copy);
    }
    net_rows_done(&copy);
    say(bench, shuffled ? "store, out of order" : "store", median(ours, bench->runs),
        "prepared inserts", median(hand, bench->runs));
  }
  net_rows_done(&rows);
  base_arena_free(arena);
  free(ours);
  free(hand);
}

/* --- in a session */

static void on_timing(void *context, const char *line) {
  const char *found = strstr(line, "load_us=");
  if (found) *(int64_t *)context = strtoll(found + strlen("load_us="), NULL, 10) * 1000;
}

static void run(struct tql_session *session, int64_t *load_ns, const char *text) {
  struct tql_output output = {.context = load_ns, .timing = on_timing};
  if (tql_session_run(session, "bench", 1, text, strlen(text), &output, false) != BASE_OK)
    die("a statement fails");
}

static void bench_session(struct bench *bench, const char *path) {
  struct base_diag_sink diags;
  struct tql_session *session = NULL;
  struct base_buffer copy = BASE_BUFFER_EMPTY;
  int64_t load_ns = 0, *ours = base_xcalloc(bench->runs, sizeof *ours);
  int64_t *hand = base_xcalloc(bench->runs, sizeof *hand);
  remove_database(path);
  base_diag_sink_init(&diags);
  struct tql_session_options options = {.path = path, .timeline = NET_TIMELINE_ABSTRACT};
  must(tql_session_open(&options, &diags, &session), "cannot open a session");
  base_buffer_printf(&copy, "copy R from \"%s\"", bench->csv);
  run(session, &load_ns, "create period R (a = i8, b = i8)");
  run(session, &load_ns, copy.data);
  run(session, &load_ns, "range of X is R");
  for (size_t i = 0; i < bench->runs; i++) {
    int64_t began = now();
    (void)step_by_hand(path);
    hand[i] = now() - began;
    run(session, &load_ns, "retrieve (X.a) where X.a != X.a");
    ours[i] = load_ns > 0 ? load_ns : 1;
  }
  say(bench, "load_us after copy", median(ours, bench->runs), "sqlite3_step",
      median(hand, bench->runs));
  tql_session_close(session);
  base_diag_sink_done(&diags);
  base_buffer_done(&copy);
  free(ours);
  free(hand);
}

int main(int argc, char **argv) {
  struct bench bench = {.rows = argc > 1 ? strtoull(argv[1], NULL, 10) : 300000,
                        .runs = argc > 2 ? strtoull(argv[2], NULL, 10) : 5,
                        .directory = "/tmp/loading_bench_XXXXXX",
                        .agree = true};
  if (bench.rows == 0 || bench.runs == 0) die("ROWS and RUNS are numbers above 0");
  if (!mkdtemp(bench.directory)) die("cannot make a directory");
  bench.csv = in_directory(&bench, "rows.csv");
  bench.ndjson = in_directory(&bench, "rows.ndjson");
  char *database = in_directory(&bench, "rows.db");
  make_files(&bench);
  bench_files(&bench);
  bench_storing(&bench, database);
  bench_scans(&bench, database);
  bench_part(&bench, database);
  bench_session(&bench, database);
  remove_database(database);
  unlink(bench.csv);
  unlink(bench.ndjson);
  rmdir(bench.directory);
  free(bench.csv);
  free(bench.ndjson);
  free(database);
  printf("%zu rows, medians of %zu: results %s\n", bench.rows, bench.runs,
         bench.agree ? "agree" : "DIFFER");
  return bench.agree ? 0 : 1;
}
