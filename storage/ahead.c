/* The write-ahead log: how long it is, what keeps it so long, and how it begins anew.
 *
 *      commit ──▶ log ── checkpoint, behind each commit of a long log ──▶ the file
 *                  └── all of it is in the file, and nobody reads the log: the next commit begins it anew
 *
 * A checkpoint brings what no snapshot hides into the file; that needs nobody's consent. For the log to begin anew there must
 * be a moment in which all of it is in the file and nobody reads it, which need never come where one short reader follows
 * the other: so a log that has grown is given such a moment, for which whoever reads is waited for, a little. Who holds one
 * snapshot for long is not waited for: nothing but his end lets the log begin anew, and beyond its limit nothing more is
 * written.
 *
 * Who that is the locks say by which readers hold their place in the log's index (-shm): byte 123 + N is held shared by
 * those who read at mark N (sqlite.org/walformat.html). They are asked for in a process of their own, since to close a
 * descriptor of that file drops all locks that this process has on it. It is made by vfork: what it does takes no memory,
 * and takes no longer with much of it.                                                                        */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/printable.h"
#include "storage/ground.h"

#define FRAME_HEAD 24 /* bytes, beside the page */

/* Frames from which on a commit is followed by a checkpoint. */
#define CHECKPOINT_FRAMES 1000
/* So much is brought into the file by another process, if there is one. */
#define MUCH_BYTES ((uint64_t)16 << 20)
/* How far the log grows until a moment without readers is looked for, and from one time to the next; or an eighth of its
 * limit. */
#define STEP_BYTES ((uint64_t)16 << 20)
/* How long is waited for them: of a short log, of one at its limit. */
#define WAIT_LEAST_MS 10
#define WAIT_MOST_MS  500

/* The log's index: 32-bit words of its first region, and bytes of its file. */
#define INDEX_BYTES   32768
#define INDEX_CHANGE  2  /* counts transactions */
#define INDEX_FRAMES  4  /* in the log */
#define INDEX_IN_FILE 24 /* frames that are there, too */
#define INDEX_MARK(N) (25 + (N))
#define MARKS         5
#define MARK_LOCK(N)  (123 + (N))

uint64_t st_ahead_bytes(const struct st_database *database) {
  return database->ahead.frames * database->ahead.frame_bytes;
}

/* ---- who reads the log ---- */

static const volatile uint32_t *index_of(struct st_database *database) {
  sqlite3_file *file = NULL;
  volatile void *region = NULL;
  if (!database->ahead.watched) return NULL;
  if (sqlite3_file_control(database->sqlite, "main", SQLITE_FCNTL_FILE_POINTER, &file) !=
          SQLITE_OK ||
      !file->pMethods || file->pMethods->iVersion < 2)
    return NULL;
  if (file->pMethods->xShmMap(file, 0, INDEX_BYTES, 0, &region) != SQLITE_OK) return NULL;
  return (const volatile uint32_t *)region;
}

/* Bytes of it that are not in the file yet. */
static uint64_t bytes_waiting(struct st_database *database) {
  const volatile uint32_t *index = index_of(database);
  if (index == NULL) return 0;
  uint32_t frames = index[INDEX_FRAMES], in_file = index[INDEX_IN_FILE];
  return frames > in_file ? (frames - in_file) * database->ahead.frame_bytes : 0;
}

/* In the child of vfork: nothing but system calls. HOLDERS[N]: who holds mark N; 0: nobody. */
_Noreturn static void ask_locks(const char *path, volatile pid_t holders[MARKS]) {
  int file = open(path, O_RDWR | O_CLOEXEC);
  for (int i = 0; file >= 0 && i < MARKS; i++) {
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = MARK_LOCK(i), .l_len = 1};
    if (fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
      holders[i] = lock.l_pid > 0 ? lock.l_pid : -1;
  }
  _exit(0);
}

static bool is_own(const struct st_ahead *ahead, pid_t process) {
  return process > 0 && ahead->is_own && ahead->is_own(ahead->context, (long)process);
}

/* Who reads at the oldest mark; 0: nobody but perhaps this process, or, of FOREIGN ones, those of its own. */
static pid_t find_holder(struct st_database *database, bool foreign) {
  static volatile pid_t holders[MARKS];
  const volatile uint32_t *index = index_of(database);
  const char *file = sqlite3_db_filename(database->sqlite, "main");
  pid_t holder = 0;
  uint32_t oldest = UINT32_MAX;
  if (!index || !file) return 0;
  struct base_buffer path = BASE_BUFFER_EMPTY;
  base_buffer_printf(&path, "%s-shm", file);
  const char *name = base_buffer_text(&path);
  for (int i = 0; i < MARKS; i++) holders[i] = 0;
  pid_t child = vfork();
  if (child == 0) ask_locks(name, holders);
  if (child > 0) (void)waitpid(child, NULL, 0);
  for (int i = 0; i < MARKS; i++) {
    uint32_t mark = i == 0 ? 0 : index[INDEX_MARK(i)]; /* the first reads the file alone */
    if (holders[i] == 0 || holders[i] == getpid() || mark >= oldest) continue;
    if (foreign && is_own(&database->ahead, holders[i])) continue;
    oldest = mark;
    holder = holders[i];
  }
  base_buffer_done(&path);
  return holder;
}

static void append_command(struct base_buffer *out, pid_t process) {
  char path[32], text[64];
  snprintf(path, sizeof path, "/proc/%ld/comm", (long)process);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? 0 : read(file, text, sizeof text);
  if (file >= 0) close(file);
  while (length > 0 && text[length - 1] == '\n') length--;
  if (length <= 0) return;
  base_buffer_puts(out, " (");
  base_buffer_printable(out, text, (size_t)length);
  base_buffer_putc(out, ')');
}

bool st_ahead_holder(struct st_database *database, bool foreign, struct base_buffer *out) {
  pid_t holder = find_holder(database, foreign);
  if (holder == 0) return false;
  if (holder < 0) {
    base_buffer_puts(out, "a process that cannot be seen from here");
    return true;
  }
  base_buffer_printf(out, "process %ld", (long)holder);
  append_command(out, holder);
  return true;
}

/* ---- checkpoints ---- */

/* *RET_MOVED: how many frames are in the file. */
static int checkpoint(struct st_database *database, int mode, int wait_ms, int *ret_moved) {
  int frames = 0;
  *ret_moved = 0;
  sqlite3_busy_timeout(database->sqlite, wait_ms);
  int code = sqlite3_wal_checkpoint_v2(database->sqlite, "main", mode, &frames, ret_moved);
  sqlite3_busy_timeout(database->sqlite, ST_BUSY_TIMEOUT_MS);
  return code;
}

static int wait_of(const struct st_database *database) {
  uint64_t limit = database->ahead.limit, bytes = st_ahead_bytes(database);
  uint64_t wait = bytes < limit ? bytes * WAIT_MOST_MS / limit : WAIT_MOST_MS;
  return wait > WAIT_LEAST_MS ? (int)wait : WAIT_LEAST_MS;
}

static bool is_held(int code) {
  return (code & 0xff) == SQLITE_BUSY || (code & 0xff) == SQLITE_LOCKED;
}

static uint64_t frames_of_step(const struct st_ahead *ahead) {
  uint64_t bytes = ahead->limit / 8 < STEP_BYTES ? ahead->limit / 8 : STEP_BYTES;
  return bytes / ahead->frame_bytes;
}

bool st_shorten(struct st_database *database) {
  int frames = 0, moved = 0;
  int code = sqlite3_wal_checkpoint_v2(database->sqlite, "main", SQLITE_CHECKPOINT_PASSIVE, &frames,
                                       &moved);
  return code == SQLITE_OK && moved == frames;
}

void st_bring_in(const char *path) {
  sqlite3 *sqlite = NULL;
  st_heap_configure();
  int code = sqlite3_open_v2(path, &sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
  if (code == SQLITE_OK) {
    sqlite3_db_config(sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    /* Who has read nothing yet does not know that there is a log. */
    (void)sqlite3_exec(sqlite, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
    (void)sqlite3_wal_checkpoint_v2(sqlite, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
  }
  sqlite3_close(sqlite);
}

/* What somebody's snapshot has held up comes all at once when he ends: others would wait for it. */
static bool is_brought_in(struct st_database *database) {
  const struct st_ahead *ahead = &database->ahead;
  if (ahead->bring_in == NULL || bytes_waiting(database) < MUCH_BYTES) return false;
  if (st_ahead_bytes(database) > ahead->limit / 8 * 7)
    return false; /* it is to begin anew at once */
  return find_holder(database, false) != 0 || ahead->bring_in(ahead->context);
}

/* Brings what it can into the file, and lets the log begin anew if it has come to TRY_AT. */
static void cut(struct st_database *database) {
  struct st_ahead *ahead = &database->ahead;
  int moved;
  if (is_brought_in(database)) return;
  int code = checkpoint(database, SQLITE_CHECKPOINT_PASSIVE, 0, &moved);
  if (code == SQLITE_OK && ahead->frames >= ahead->try_at) {
    /* Nothing has come into the file since the last time: somebody reads for long. */
    bool stuck = ahead->moved == moved && ahead->tried;
    code = checkpoint(database, SQLITE_CHECKPOINT_RESTART, stuck ? 0 : wait_of(database), &moved);
    ahead->tried = code != SQLITE_OK;
    ahead->moved = moved;
    if (code == SQLITE_OK) ahead->frames = 0; /* from the next commit on */
    ahead->try_at = ahead->frames + frames_of_step(ahead);
  }
  ahead->failure = is_held(code) || code == SQLITE_INTERRUPT ? SQLITE_OK : code;
}

static int on_commit(void *context, sqlite3 *sqlite, const char *name, int frames) {
  struct st_database *database = context;
  struct st_ahead *ahead = &database->ahead;
  (void)sqlite;
  (void)name;
  if (ahead->frames > (uint64_t)frames) ahead->tried = false; /* it began anew */
  if (!ahead->tried) ahead->try_at = frames_of_step(ahead);
  ahead->frames = (uint64_t)frames;
  ahead->commits++;
  if (frames >= CHECKPOINT_FRAMES) cut(database);
  return SQLITE_OK; /* the commit is done, whatever became of the checkpoint */
}

enum base_status st_ahead_open(struct st_database *database, const struct st_options *options) {
  struct st_ahead *ahead = &database->ahead;
  int64_t page = 0;
  enum base_status status = st_query_integer(database, "PRAGMA page_size", 4096, &page);
  if (status != BASE_OK) return status;
  *ahead = (struct st_ahead){.limit = options->log_limit ? options->log_limit : ST_AHEAD_BYTES,
                             .bring_in = options->bring_in,
                             .is_own = options->is_own,
                             .context = options->context,
                             .frame_bytes = (uint64_t)page + FRAME_HEAD,
                             .watched = true};
  ahead->try_at = frames_of_step(ahead);
  if (!database->readonly) (void)sqlite3_wal_hook(database->sqlite, on_commit, database);
  return BASE_OK;
}

/* ---- limits ---- */

const char *st_ahead_failure(const struct st_database *database) {
  int code = database->ahead.failure;
  return code == SQLITE_OK ? NULL : sqlite3_errstr(code);
}

uint64_t st_commits(const struct st_database *database) {
  return database->ahead.commits;
}

uint64_t st_ahead_limit(const struct st_database *database) {
  return database->ahead.limit;
}

bool st_ahead_is_full(struct st_database *database) {
  struct st_ahead *ahead = &database->ahead;
  if (!ahead->watched || database->readonly || st_ahead_bytes(database) <= ahead->limit)
    return false;
  ahead->try_at = 0;
  cut(database);
  return st_ahead_bytes(database) > ahead->limit;
}

bool st_ahead_has_room(struct st_database *database) {
  uint64_t limit = database->ahead.limit;
  if (limit == 0) return true; /* in memory there is none */
  return st_ahead_bytes(database) <= limit / 2 && bytes_waiting(database) < limit / 4;
}

bool st_ahead_make_room(struct st_database *database) {
  if (st_ahead_has_room(database)) return true;
  database->ahead.try_at = 0;
  cut(database);
  return st_ahead_has_room(database);
}

const char *st_ahead_why(struct st_database *database, struct base_buffer *out) {
  const char *failure = st_ahead_failure(database);
  if (failure) {
    base_buffer_printf(out, "it cannot be brought into the file: %s", failure);
    return "free space; it goes on then";
  }
  if (st_ahead_holder(database, false, out))
    base_buffer_puts(out, " reads an old state of the database");
  else
    base_buffer_puts(out, "an old state of the database is read");
  return "end whoever reads so long, or allow a longer log: --log-limit MIB";
}

enum base_status st_ahead_refuse(struct st_database *database) {
  struct base_buffer why = BASE_BUFFER_EMPTY;
  unsigned long long limit = database->ahead.limit >> 20;
  const char *hint = st_ahead_why(database, &why);
  base_report_hint(database->diags, MSG_LOG_LIMIT, NULL, NULL, hint,
                   "the write-ahead log of %s has come to its limit of %llu MiB, as %s",
                   database->label, limit, base_buffer_text(&why));
  base_buffer_done(&why);
  database->may_pass = true;
  return BASE_SYSTEM;
}

/* It ends before others have to wait: at three quarters of the limit who has seen it grow, at seven eighths who began before
 * that; and at the limit everybody, also who reads the last state, if not all of it was in the file when he began. */
bool st_ahead_outgrown(struct st_database *database) {
  struct st_ahead *ahead = &database->ahead;
  const volatile uint32_t *index = index_of(database);
  if (!index) return false;
  uint32_t change = index[INDEX_CHANGE], frames = index[INDEX_FRAMES];
  if (sqlite3_txn_state(database->sqlite, "main") != SQLITE_TXN_READ) {
    ahead->change = change;
    ahead->frames = frames;
    ahead->in_the_way = index[INDEX_IN_FILE] < frames;
    return false;
  }
  uint64_t bytes = frames * ahead->frame_bytes, eighth = ahead->limit / 8;
  if (change == ahead->change) return ahead->in_the_way && bytes > ahead->limit;
  uint64_t before = ahead->frames <= frames ? st_ahead_bytes(database) : 0; /* it began anew */
  uint64_t allowed = before > 7 * eighth ? ahead->limit : 7 * eighth;
  return bytes > allowed || (bytes > 6 * eighth && bytes - before > eighth);
}
