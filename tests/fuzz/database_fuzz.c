/* A fuzz target for stored databases: a good file is damaged, then opened and used.
 *
 * The first byte chooses the damage. Bit 0 clear: the rest is a list of patches, each an offset of
 * three bytes, a length of one, and that many bytes to put there. Bit 0 set: the rest is SQL that the
 * stock library runs on the file, which leaves it well-formed and makes it nonsense (foreign keys and
 * checks that would object are what is to be tested; `pragma` and `attach` are left out). Bit 1: the
 * file is opened for reading only.
 *
 * Whatever the damage: opening and each statement end with a status that the diagnostics bear out,
 * and nothing aborts. */
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
#include "tquel/session/session.h"

#define BUDGET_US 200000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char world_text[] =
    "create event E (x = i4, s = text) create period P (n = c20, k = i4, f = f8, b = bool) "
    "create traced T (who = text, v = i4) by who create S (n = text) "
    "append to E (x = 1, s = \"a\") at 5 append to E (x = 2, s = \"b\") at 5 "
    "append to P (n = \"a\", k = 1, f = 0.5) start 2 stop 6 "
    "append to P (n = \"b\", k = 2) start 3 append to T (who = \"a\", v = 1) at 1 "
    "append to T (who = \"a\", v = 2) at 7 append to S (n = \"a\") "
    "range of e is E range of p is P range of t is T "
    "retrieve into A (p.n, d = duration(p)) where p.k > 0 "
    "range of a is A retrieve into B (c = count(a)) "
    "set checkpoint manual append to E (x = 9, s = \"z\") at 50\n";

static const char use_text[][120] = {
    "print E print P print T print S print A print B",
    "range of e is E range of p is P retrieve (e.x, p.n) when e , p",
    "append to E (x = 3, s = \"c\") at 60 append to P (n = \"q\", k = 1) start 1 stop 3",
    "append to T (who = \"b\", v = 2) at 4",
    "checkpoint 100 for E",
    "help E help A destroy B destroy A",
    "create event New (x = i4) append to New (x = 1) at 1 print New",
};

static struct {
  uint8_t *data;
  size_t size;
  char path[64], wal[72], shm[72];
} file;

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

static const struct tql_output output = {NULL, on_rows, on_text, NULL, NULL};

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

static void use(bool readonly) {
  struct base_diag_sink diags;
  struct tql_session *session = NULL;
  struct tql_session_options options = {.path = file.path, .readonly = readonly};
  base_diag_sink_init(&diags);
  enum base_status opened = tql_session_open(&options, &diags, &session);
  BASE_CHECK((opened == BASE_OK) == (diags.errors == 0), "fuzz-open-reports");
  for (size_t i = 0; opened == BASE_OK && i < sizeof use_text / sizeof *use_text; i++) {
    size_t before = diags.errors;
    enum base_status status =
        tql_session_run(session, "use", 1, use_text[i], strlen(use_text[i]), &output, false);
    if (base_env_interrupted()) break;
    bool reported = status == BASE_CANCEL || (status == BASE_OK) == (diags.errors == before);
    if (!reported)
      fprintf(stderr, "status %d, %s, of: %s\n", status,
              diags.errors > before ? diags.items[diags.count - 1].message : "nothing reported",
              use_text[i]);
    BASE_CHECK(reported, "fuzz-statement-reports");
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
  bool by_sql = data[0] & 1;
  if (!by_sql) patch(bytes, data + 1, size - 1);
  remove_file();
  write_file(bytes);
  free(bytes);
  base_env_clear_interrupt();
  setitimer(ITIMER_VIRTUAL, &timer, NULL);
  if (by_sql) spoil(data + 1, size - 1);
  use(data[0] & 2);
  setitimer(ITIMER_VIRTUAL, &none, NULL);
  return 0;
}

#ifdef DATABASE_FUZZ_MAIN
int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    uint8_t data[65536];
    FILE *input = fopen(argv[i], "rb");
    if (!input) exit(EXIT_FAILURE);
    size_t size = fread(data, 1, sizeof data, input);
    fclose(input);
    LLVMFuzzerTestOneInput(data, size);
  }
  return EXIT_SUCCESS;
}
#endif
