/* A fuzz target for stored databases: a good file is damaged, then opened and used.
 *
 * The first byte chooses the damage. Bit 0 clear: the rest is a list of patches, each an offset of
 * three bytes, a length of one, and that many bytes to put there. Bit 0 set: the rest is SQL that the
 * stock library runs on the file, which leaves it well-formed and makes it nonsense (foreign keys and
 * checks that would object are what is to be tested; `pragma` and `attach` are left out). Bit 1: the
 * file is opened for reading only. Bits 0 and 2 set: the rest are edits (edits.h), of the catalogue mostly.
 *
 * Whatever the damage: opening and each statement end with a status that the diagnostics bear out,
 * and nothing aborts. So do a check of the database, before and behind them, and what a user without
 * permits and a source of records ask of a server's session.
 *
 * The program without libFuzzer takes files of inputs, or `--seeds FIRST LAST [-v]`: inputs made of random
 * numbers, the same ones for the same seed. */
#include <fcntl.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <signal.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "storage/storage.h"
#include "tests/fuzz/edits.h"
#include "tquel/session/source.h"

#define BUDGET_US 200000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char world_text[] =
    "create event E (x = i4, s = text) create period P (n = c20, k = i4, f = f8, b = bool)\n"
    "create traced T (who = text, v = i4) by who create S (n = text)\n"
    "create sampled M (who = name, v = i2) by who\n"
    "create event G (x = i8)\n"
    "append to E (x = 1, s = \"a\") at 5 append to E (x = 2, s = \"b\") at 5\n"
    "append to P (n = \"a\", k = 1, f = 0.5, b = true) start 2 stop 6\n"
    "append to P (n = \"b\", k = 2) start 3 append to T (who = \"a\", v = 1) at 1\n"
    "append to T (who = \"a\", v = 2) at 7 append to S (n = \"a\")\n"
    "append to M (who = \"cpu:0#0\", v = 1) at 4 append to M (who = \"cpu:0#0\", v = 2) at 9\n"
    "range of e is E range of p is P range of t is T range of m is M\n"
    "retrieve into A (p.n, d = duration(p)) where p.k > 0\n"
    "range of a is A retrieve into B (c = count(a))\n"
    "define view V (e.x, p.n) when e , p\n"
    "range of v is V retrieve into W (v.n, c = countc(v by v.n))\n"
    "define view U (n = count(v))\n"
    "define integrity on e is e.x > 0\n"
    "define permit retrieve, append on E (x) to bob where e.x > 5\n"
    "index on P is pk (k) modify T to hash on who\n"
    "range of l is Late range of r is Rejected range of o is Lost\n"
    "retrieve into C (l.relation, n = countc(l by l.relation))\n"
    "set checkpoint manual append to E (x = 9, s = \"z\") at 50 checkpoint 40\n"
    "append to E (x = 9, s = \"late\") at 30\n";

static const char *const use_text[] = {
    "print E print P print T print S print M print G",
    "print A print B print W print C print Late",
    "print V",
    "print U",
    "display P, A, V",
    "range of e is E range of p is P retrieve (e.x, p.n) when e , p",
    "range of t is T retrieve (n = countc(t by t.who), t.v)",
    "range of x is P retrieve (x.n) where x.k = 1",
    "range of a is A range of b is B retrieve (a.d, b.c)",
    "range of m is M retrieve (m.v) at m.start",
    "range of w is W retrieve (w.all)",
    "range of l is Lost retrieve (l.all)",
    "range of u is U retrieve into D (u.n) explain analyze retrieve (u.n)",
    "append to E (x = 3, s = \"c\") at 60",
    "append to P (n = \"q\", k = 1) start 1 stop 3",
    "append to T (who = \"b\", v = 2) at 4",
    "append to M (who = \"cpu:0#1\", v = 2) at 44",
    "append to S (n = \"c\") append to G (x = 1) at 900000",
    "range of e is E replace e (x = 2) where e.x = 1",
    "range of p is P delete p where p.k = 1",
    "set checkpoint manual append to E (x = 4, s = \"d\") at 70 append to P (n = \"r\", k = 1) "
    "start 71",
    "checkpoint 100 for E",
    "save E until forever modify P to hash on k index on E is ek (x)",
    "help E help A",
    "destroy pk destroy integrity E all destroy permit E all",
    "destroy C destroy W destroy U",
    "destroy V destroy B destroy A",
    "create event New (x = i4) append to New (x = 1) at 1 print New",
    "destroy E, P, T",
    "destroy M destroy S destroy G destroy Late",
};

static const char *const relations[] = {"E", "P", "T", "S", "M",    "G",    "A", "B",
                                        "V", "W", "U", "C", "Late", "Lost", NULL};

static struct {
  uint8_t *data;
  size_t size;
  char path[64], wal[72], shm[72];
} file;

static bool verbose;

static void on_rows(void *context, const struct tql_rows *rows) {
  (void)context;
  BASE_CHECK(rows->rows.layout != NULL, "fuzz-rows");
}

static void on_text(void *context, const char *text) {
  (void)context, (void)text;
}

static void on_alarm(int signal) {
  (void)signal;
  base_env_interrupt();
}

static void on_live(void *context, const char *name, const struct net_layout *layout,
                    const union net_slot *row, uint8_t marks, net_chronon checkpoint) {
  (void)context, (void)layout, (void)row, (void)marks, (void)checkpoint;
  BASE_CHECK(name != NULL, "fuzz-live");
}

static const struct tql_output output = {.rows = on_rows, .text = on_text, .live = on_live};

static void remove_file(void) {
  unlink(file.path);
  unlink(file.wal);
  unlink(file.shm);
}

static void make_world(void) {
  struct base_diag_sink diags;
  struct tql_session *session = NULL;
  struct tql_session_options options = {
      .path = file.path, .timeline = NET_TIMELINE_ABSTRACT, .timeline_given = true};
  base_diag_sink_init(&diags);
  if (tql_session_open(&options, &diags, &session) != BASE_OK ||
      tql_session_run(session, "world", 1, world_text, strlen(world_text), &output, false) !=
          BASE_OK) {
    fprintf(stderr, "the world is refused: %s\n", diags.count ? diags.items[0].message : "");
    abort();
  }
  tql_session_close(session);
  base_diag_sink_done(&diags);
}

/* Rows that are in the log and not yet in their table, as a session leaves them that is killed. */
static void log_rows(void) {
  struct base_diag_sink diags;
  struct base_strings *strings = base_strings_new();
  struct base_arena *arena = base_arena_new();
  const struct net_field field = {.name = "x", .type = {NET_INTEGER, 8}};
  struct net_rows rows;
  struct st_options options = {.path = file.path};
  struct st_database *database = NULL;
  base_diag_sink_init(&diags);
  net_rows_init(&rows, net_layout_new(arena, NET_EVENT, &field, 1));
  for (int64_t i = 0; i < 4096; i++)
    net_rows_add_copy(&rows, (union net_slot[]){{.i = 1000 + i}, {.i = 1000 + i}, {.i = i}},
                      NET_DEFINITE);
  if (st_open(&options, strings, &diags, &database) != BASE_OK || st_begin(database) != BASE_OK ||
      st_net(database)->class->append(st_net(database), "G", &rows) != BASE_OK ||
      st_net(database)->class->checkpoint(st_net(database), "G", 100000) != BASE_OK ||
      st_commit(database) != BASE_OK)
    abort();
  st_close(database);
  net_rows_done(&rows);
  base_arena_free(arena);
  base_strings_free(strings);
  base_diag_sink_done(&diags);
}

static void read_world(void) {
  struct stat status;
  int descriptor = open(file.path, O_RDONLY);
  if (descriptor < 0 || fstat(descriptor, &status) != 0) abort();
  file.size = (size_t)status.st_size;
  file.data = base_xmalloc(file.size);
  if (read(descriptor, file.data, file.size) != (ssize_t)file.size) abort();
  close(descriptor);
}

static void prepare(void) {
  const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  sigaction(SIGVTALRM, &action, NULL);
  base_env_set_clock(INT64_C(1763600000) * 1000000000);
  snprintf(file.path, sizeof file.path, "%s/database-fuzz-%d.db", memory, (int)getpid());
  snprintf(file.wal, sizeof file.wal, "%s-wal", file.path);
  snprintf(file.shm, sizeof file.shm, "%s-shm", file.path);
  remove_file();
  make_world();
  log_rows();
  read_world();
  atexit(remove_file);
}

static void patch(uint8_t *bytes, const uint8_t *data, size_t size) {
  while (size > 4) {
    size_t offset = ((size_t)data[0] << 16 | (size_t)data[1] << 8 | data[2]) % file.size;
    size_t length = data[3] % 32 + 1;
    data += 4;
    size -= 4;
    if (length > size) length = size;
    if (length > file.size - offset) length = file.size - offset;
    memcpy(bytes + offset, data, length);
    data += length;
    size -= length;
  }
}

static void write_file(const uint8_t *bytes) {
  int descriptor = open(file.path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (descriptor < 0 || write(descriptor, bytes, file.size) != (ssize_t)file.size) abort();
  close(descriptor);
}

static int permit(void *context, int action, const char *a, const char *b, const char *c,
                  const char *d) {
  (void)context, (void)a, (void)b, (void)c, (void)d;
  bool denied = action == SQLITE_PRAGMA || action == SQLITE_ATTACH || action == SQLITE_RECURSIVE;
  return denied ? SQLITE_DENY : SQLITE_OK;
}

static int stop_when_interrupted(void *context) {
  (void)context;
  return base_env_interrupted();
}

static void spoil(const uint8_t *data, size_t size) {
  sqlite3 *database = NULL;
  char *sql = base_xmalloc(size + 1);
  memcpy(sql, data, size);
  sql[size] = '\0';
  if (sqlite3_open(file.path, &database) != SQLITE_OK) abort();
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 100000);
  sqlite3_set_authorizer(database, permit, NULL);
  sqlite3_progress_handler(database, 1000, stop_when_interrupted, NULL);
  (void)sqlite3_exec(database, sql, NULL, NULL, NULL);
  sqlite3_close(database);
  free(sql);
}

static void say(const char *sql) {
  fprintf(stderr, "edit: %s\n", sql);
}

static void edit(const uint8_t *data, size_t size) {
  sqlite3 *database = NULL;
  if (sqlite3_open(file.path, &database) != SQLITE_OK) abort();
  sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 1000000);
  sqlite3_progress_handler(database, 1000, stop_when_interrupted, NULL);
  edits_make(database, data, size, verbose ? say : NULL);
  sqlite3_close(database);
}

static void tell(const struct base_diag_sink *diags, size_t from) {
  for (size_t i = from; verbose && i < diags->count; i++)
    fprintf(stderr, "  %s\n", diags->items[i].message);
}

static void describe(struct tql_session *session) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  (void)tql_session_describe(session, NULL, &text);
  for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
    (void)tql_session_describe(session, relations[i], &text);
    (void)tql_session_describe_nodes(session, relations[i], &text);
  }
  tql_session_describe_sensors(session, NULL, 0, &text);
  base_buffer_done(&text);
}

/* What a server is asked: by a user who is not the owner, by a source of records. */
static void serve(struct tql_session *session) {
  static const char text[] = "print E range of e is E retrieve (e.x) append to E (x = 7) at 80";
  struct tql_seat_options options = {.user = "bob"};
  struct tql_seat *seat = tql_seat_new(session, &options);
  enum base_status status = tql_seat_run(seat, "seat", 1, text, strlen(text), &output, false);
  tql_seat_free(seat);
  struct tql_source *source = NULL;
  struct tql_stream *stream = NULL;
  status = tql_source_open(session, "place/1", "host", &source);
  if (status != BASE_OK) return;
  status = tql_source_relation(source, "G", 0, &stream);
  if (status == BASE_OK)
    status = tql_source_rows(stream, (union net_slot[]){{.i = 200000}, {.i = 200000}, {.i = 1}},
                             (uint8_t[]){NET_DEFINITE}, 1);
  if (status == BASE_OK) status = tql_source_check(source, stream, 200001);
  status = tql_session_turn(session);
  if (status == BASE_OK) status = tql_session_commit(session);
  status = tql_source_close(source, true);
}

static void use(bool readonly) {
  struct base_diag_sink diags;
  struct tql_session *session = NULL;
  struct tql_session_options options = {.path = file.path, .readonly = readonly};
  base_diag_sink_init(&diags);
  enum base_status opened = tql_session_open(&options, &diags, &session);
  tell(&diags, 0);
  if (!base_env_interrupted())
    BASE_CHECK((opened == BASE_OK) == (diags.errors == 0), "fuzz-open-reports");
  if (opened == BASE_OK) describe(session);
  for (size_t i = 0; opened == BASE_OK && i < sizeof use_text / sizeof *use_text; i++) {
    size_t before = diags.errors, from = diags.count;
    enum base_status status =
        tql_session_run(session, "use", 1, use_text[i], strlen(use_text[i]), &output, false);
    if (verbose) fprintf(stderr, "use: %s\n", use_text[i]);
    tell(&diags, from);
    if (base_env_interrupted()) break;
    bool reported = status == BASE_CANCEL || (status == BASE_OK) == (diags.errors == before);
    if (!reported)
      fprintf(stderr, "status %d, %s, of: %s\n", status,
              diags.errors > before ? diags.items[diags.count - 1].message : "nothing reported",
              use_text[i]);
    BASE_CHECK(reported, "fuzz-statement-reports");
    if (i == 20) serve(session);
  }
  if (opened == BASE_OK) tql_session_close(session);
  base_diag_sink_done(&diags);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (file.data == NULL) prepare();
  if (size < 2) return 0;
  struct itimerval timer = {.it_value = {.tv_usec = BUDGET_US}}, none = {0};
  uint8_t *bytes = base_xmalloc(file.size);
  memcpy(bytes, file.data, file.size);
  bool by_sql = data[0] & 1, by_edits = by_sql && data[0] & 4;
  if (!by_sql) patch(bytes, data + 1, size - 1);
  remove_file();
  write_file(bytes);
  free(bytes);
  base_env_clear_interrupt();
  setitimer(ITIMER_VIRTUAL, &timer, NULL);
  if (by_edits)
    edit(data + 1, size - 1);
  else if (by_sql)
    spoil(data + 1, size - 1);
  use(data[0] & 2);
  setitimer(ITIMER_VIRTUAL, &none, NULL);
  return 0;
}

#ifdef DATABASE_FUZZ_MAIN
/* Input number SEED: one to six edits, or now and then patches. */
static void try_seed(uint64_t seed) {
  struct base_random random = {seed};
  uint8_t data[256];
  size_t size = 2 + base_random_below(&random, 60);
  for (size_t i = 0; i < size; i++) data[i] = (uint8_t)base_random_below(&random, 256);
  data[0] = base_random_below(&random, 8) ? (uint8_t)(data[0] | 5) : (uint8_t)(data[0] & 2);
  if (verbose) fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
  LLVMFuzzerTestOneInput(data, size);
}

static void try_file(const char *path) {
  uint8_t data[65536];
  FILE *input = fopen(path, "rb");
  if (!input) exit(EXIT_FAILURE);
  size_t size = fread(data, 1, sizeof data, input);
  fclose(input);
  LLVMFuzzerTestOneInput(data, size);
}

int main(int argc, char **argv) {
  verbose = argc > 2 && strcmp(argv[argc - 1], "-v") == 0;
  argc -= verbose;
  if (argc == 4 && strcmp(argv[1], "--seeds") == 0) {
    unsigned long long first = strtoull(argv[2], NULL, 10), last = strtoull(argv[3], NULL, 10);
    for (unsigned long long seed = first; seed <= last; seed++) try_seed(seed);
    printf("seeds %llu to %llu\n", first, last);
    return EXIT_SUCCESS;
  }
  for (int i = 1; i < argc; i++) try_file(argv[i]);
  return EXIT_SUCCESS;
}
#endif
