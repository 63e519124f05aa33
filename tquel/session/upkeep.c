/* What is looked after between groups: how long the write-ahead log has become, and pages of the file that hold nothing.
 *
 * Who keeps the log long is said at half of its limit; beyond it st_begin fails, and nothing more is read (stall.c).
 * Pages are given back in slices, for a fifth of the time, where they are much (storage/space.c): what is deleted is
 * mostly in the place of what comes next.
 *
 * What a server destroys goes in slices, too, for a quarter of the time, and before that (storage/gone.c): its next start
 * goes on with what is left. Nobody waits for any other session, which removes all of it at its end.          */
#include "engine/base/budget.h"
#include "engine/base/buffer.h"
#include "engine/base/env.h"
#include "tquel/session/session_impl.h"

#define MS         INT64_C(1000000)
#define LOOK_NS    (200 * MS)  /* for somebody who reads, if there was nobody */
#define SPACE_NS   (1000 * MS) /* at unused pages, where something was written */
#define SLICE_NS   (4 * MS)
#define CLOSING_NS (500 * MS)
#define FAILED_NS  (60000 * MS) /* on a full disk, say */
#define ROW_NS     1500.0       /* of what was destroyed, as long as nothing was measured */
enum { ROWS_LEAST = 256, ROWS_MOST = 16384 };

/* Does it write to a file? */
static bool writes(const struct tql_session *session) {
  const struct tql_session_options *options = &session->options;
  return options->path != NULL && !options->readonly && !options->explain_only;
}

/* --- the log */

static void say_held(struct tql_session *session) {
  struct base_buffer who = BASE_BUFFER_EMPTY;
  session->upkeep.held_said = st_ahead_holder(session->database, true, &who);
  if (session->upkeep.held_said)
    base_report_hint(
        session->diags, MSG_LOG_HELD, NULL, NULL, "end it, or allow a longer log: --log-limit MIB",
        "the write-ahead log of %s has grown beyond half of its limit of %llu MiB: %s "
        "reads an old state",
        session->options.path, (unsigned long long)(st_ahead_limit(session->database) >> 20),
        base_buffer_text(&who));
  base_buffer_done(&who);
}

static void look_at_log(struct tql_session *session, int64_t now) {
  struct session_upkeep *upkeep = &session->upkeep;
  const char *failure = st_ahead_failure(session->database);
  uint64_t bytes = st_ahead_bytes(session->database);
  if (failure != NULL && !upkeep->failure_said)
    base_report_hint(session->diags, MSG_LOG_STAYS, NULL, NULL, "free space",
                     "what is in the write-ahead log of %s cannot be brought into the database: %s",
                     session->options.path, failure);
  upkeep->failure_said = failure != NULL;
  if (bytes <= st_ahead_limit(session->database) / 2)
    upkeep->held_said = false;
  else if (!upkeep->held_said && failure == NULL && now >= upkeep->log_at) {
    upkeep->log_at = now + LOOK_NS;
    say_held(session);
  }
}

/* --- pages */

/* Each of them goes through the log, where not much must wait already. */
static bool may_give_back(const struct tql_session *session) {
  return !session->group_open && !session->stalled && !st_in_transaction(session->database) &&
         st_ahead_waits(session->database) < st_ahead_limit(session->database) / 4;
}

static void look_at_pages(struct tql_session *session, int64_t now) {
  struct session_upkeep *upkeep = &session->upkeep;
  struct st_space space;
  if (upkeep->looked == st_commits(session->database) || now < upkeep->space_at) return;
  upkeep->looked = st_commits(session->database);
  upkeep->space_at = now + SPACE_NS;
  upkeep->unused = st_space(session->database, &space) == BASE_OK && space.shrinks && space.is_much;
}

static void give_back(struct tql_session *session, int64_t time) {
  struct session_upkeep *upkeep = &session->upkeep;
  int64_t began = base_env_monotonic();
  enum base_status status = st_give_back(session->database, time, &upkeep->unused);
  int64_t ended = base_env_monotonic();
  upkeep->looked = st_commits(session->database);
  upkeep->space_at = ended + 4 * (ended - began);
  if (status != BASE_OK) upkeep->unused = false; /* until something else is written */
  upkeep->shortens = status == BASE_OK && !upkeep->unused;
}

static void shorten(struct tql_session *session, int64_t now) {
  struct session_upkeep *upkeep = &session->upkeep;
  upkeep->shortens = !st_shorten(session->database);
  upkeep->space_at = now + SPACE_NS;
}

/* --- what was destroyed */

static size_t rows_of_slice(const struct session_upkeep *upkeep) {
  double rows = (double)SLICE_NS / (upkeep->row_ns > 0 ? upkeep->row_ns : ROW_NS);
  if (rows > ROWS_MOST) return ROWS_MOST;
  return rows < ROWS_LEAST ? ROWS_LEAST : (size_t)rows;
}

/* ROWS rows; SIZE_MAX: a whole relation. */
static enum base_status remove_gone(struct tql_session *session, size_t rows) {
  struct session_upkeep *upkeep = &session->upkeep;
  size_t removed = 0;
  int64_t began = base_env_monotonic();
  enum base_status status = st_begin(session->database);
  if (status == BASE_OK) status = st_remove_gone(session->database, rows, &removed);
  if (status == BASE_OK) status = st_commit(session->database);
  if (status != BASE_OK) st_rollback(session->database);
  int64_t ended = base_env_monotonic();
  if (removed >= ROWS_LEAST) upkeep->row_ns = (double)(ended - began) / (double)removed;
  upkeep->gone_at = ended + (status == BASE_OK ? 3 * (ended - began) : FAILED_NS);
  return status;
}

/* --- all */

void session_upkeep(struct tql_session *session) {
  struct session_upkeep *upkeep = &session->upkeep;
  int64_t now = base_env_monotonic();
  if (!writes(session)) return;
  look_at_log(session, now);
  if (!may_give_back(session)) return;
  if (st_has_gone(session->database)) {
    if (now >= upkeep->gone_at) (void)remove_gone(session, rows_of_slice(upkeep));
    return; /* its pages are not to be moved first */
  }
  if (upkeep->shortens && now >= upkeep->space_at) shorten(session, now);
  if (!upkeep->unused) look_at_pages(session, now);
  if (upkeep->unused && now >= upkeep->space_at) give_back(session, SLICE_NS);
}

int64_t session_upkeep_due(const struct tql_session *session, int64_t now) {
  const struct session_upkeep *upkeep = &session->upkeep;
  if (!writes(session) || !may_give_back(session)) return INT64_MAX;
  if (st_has_gone(session->database)) return upkeep->gone_at - now;
  if (!upkeep->unused && !upkeep->shortens && upkeep->looked == st_commits(session->database))
    return INT64_MAX;
  return upkeep->space_at - now;
}

void session_upkeep_end(struct tql_session *session) {
  struct session_upkeep *upkeep = &session->upkeep;
  if (!writes(session) || !may_give_back(session)) return;
  while (session->options.bring_in == NULL && st_has_gone(session->database))
    if (remove_gone(session, SIZE_MAX) != BASE_OK) return;
  upkeep->space_at = 0;
  look_at_pages(session, base_env_monotonic());
  if (upkeep->unused) give_back(session, CLOSING_NS);
}

void tql_session_watch_log(struct tql_session *session) {
  if (st_ahead_outgrown(session->database)) base_budget_log_outgrown();
}

enum base_status tql_session_space(struct tql_session *session, uint64_t *ret_bytes,
                                   uint64_t *ret_unused, bool *ret_much) {
  struct st_space space = {0};
  enum base_status status = st_space(session->database, &space);
  *ret_bytes = space.bytes;
  *ret_unused = space.unused;
  *ret_much = space.is_much;
  return status;
}

enum base_status tql_session_compact(struct tql_session *session) {
  return st_compact(session->database);
}

void tql_bring_in(const char *path) {
  st_bring_in(path);
}
