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
#include "tquel/session/durable/durable.h"
#include "tquel/session/session_impl.h"

#define MS         INT64_C(1000000)
#define LOOK_NS    (200 * MS)  /* for somebody who reads, if there was nobody */
#define SPACE_NS   (1000 * MS) /* at unused pages, where something was written */
#define SLICE_NS   (4 * MS)
#define CLOSING_NS (500 * MS)
#define FAILED_NS  (2000 * MS) /* on a full disk, say */
#define ROOM_NS    (1000 * MS) /* for room in the log */
#define ROW_NS     1500.0      /* of what was destroyed, as long as nothing was measured */
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

/* --- room in the log for what can wait */

bool session_has_room(struct tql_session *session) {
  struct session_upkeep *upkeep = &session->upkeep;
  bool room = st_ahead_has_room(session->database);
  if (!room && base_env_monotonic() >= upkeep->room_at) {
    room = st_ahead_make_room(session->database);
    upkeep->room_at = base_env_monotonic() + ROOM_NS;
  }
  if (room) upkeep->room_at = 0;
  return room;
}

int64_t session_room_due(const struct tql_session *session, int64_t now) {
  if (st_ahead_has_room(session->database) || session->upkeep.room_at <= now) return 0;
  return session->upkeep.room_at - now;
}

static const char *first_error(const struct tql_session *session, size_t before) {
  for (size_t i = before; i < session->diags->count; i++)
    if (session->diags->items[i].severity == BASE_ERROR) return session->diags->items[i].message;
  return NULL;
}

void session_say_removal_waits(struct tql_session *session, const char *what, size_t before,
                               bool *said) {
  struct base_buffer why = BASE_BUFFER_EMPTY;
  const char *error = first_error(session, before), *hint = "it goes on by itself";
  if (error != NULL) {
    base_buffer_puts(&why, error);
    base_diag_drop(session->diags, before);
  } else if (!*said) {
    base_buffer_printf(
        &why, "the rest of the write-ahead log of %s, limit %llu MiB, is for what cannot wait, as ",
        session->options.path, (unsigned long long)(st_ahead_limit(session->database) >> 20));
    hint = st_ahead_why(session->database, &why);
  }
  if (!*said)
    base_report_hint(session->diags, MSG_REMOVAL_WAITS, NULL, NULL, hint, "%s stays for now: %s",
                     what, base_buffer_text(&why));
  *said = true;
  base_buffer_done(&why);
}

void session_say_removed(struct tql_session *session, const char *what, bool *said) {
  if (*said)
    base_report(session->diags, MSG_REMOVAL_GOES_ON, NULL, NULL,
                "%s has gone: removal is not held up any more", what);
  *said = false;
}

/* --- pages */

static bool is_between_groups(const struct tql_session *session) {
  return !session->group_open && !st_in_transaction(session->database);
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

static const char DESTROYED[] = "what was destroyed";

/* ROWS rows; SIZE_MAX: a whole relation. */
static enum base_status remove_gone(struct tql_session *session, size_t rows) {
  struct session_upkeep *upkeep = &session->upkeep;
  size_t removed = 0;
  size_t before = session->diags->count;
  int64_t began = base_env_monotonic();
  base_diag_hold(session->diags);
  enum base_status status = st_begin(session->database);
  if (status == BASE_OK) status = st_remove_gone(session->database, rows, &removed);
  if (status == BASE_OK) status = st_commit(session->database);
  if (status != BASE_OK) st_rollback(session->database);
  int64_t ended = base_env_monotonic();
  if (removed >= ROWS_LEAST) upkeep->row_ns = (double)(ended - began) / (double)removed;
  upkeep->gone_at = ended + (status == BASE_OK ? 3 * (ended - began) : FAILED_NS);
  if (status != BASE_OK)
    session_say_removal_waits(session, DESTROYED, before, &upkeep->gone_waits);
  else if (!st_has_gone(session->database))
    session_say_removed(session, DESTROYED, &upkeep->gone_waits);
  base_diag_release(session->diags);
  return status;
}

static void remove_slice(struct tql_session *session) {
  struct session_upkeep *upkeep = &session->upkeep;
  if (session_has_room(session))
    (void)remove_gone(session, rows_of_slice(upkeep));
  else
    session_say_removal_waits(session, DESTROYED, session->diags->count, &upkeep->gone_waits);
}

/* --- all */

static bool has_work(const struct tql_session *session) {
  const struct session_upkeep *upkeep = &session->upkeep;
  return st_has_gone(session->database) || upkeep->unused || upkeep->shortens ||
         upkeep->looked != st_commits(session->database);
}

void session_upkeep(struct tql_session *session) {
  struct session_upkeep *upkeep = &session->upkeep;
  int64_t now = base_env_monotonic();
  if (!writes(session)) return;
  look_at_log(session, now);
  if (!is_between_groups(session) || !has_work(session)) return;
  if (st_has_gone(session->database)) {
    if (now >= upkeep->gone_at) remove_slice(session);
    return; /* its pages are not to be moved first */
  }
  if (session->stalled) return;
  if (upkeep->shortens && now >= upkeep->space_at && session_has_room(session))
    shorten(session, now);
  if (!upkeep->unused) look_at_pages(session, now);
  if (upkeep->unused && now >= upkeep->space_at && session_has_room(session))
    give_back(session, SLICE_NS);
}

int64_t session_upkeep_due(const struct tql_session *session, int64_t now) {
  const struct session_upkeep *upkeep = &session->upkeep;
  if (!writes(session) || !is_between_groups(session) || !has_work(session)) return INT64_MAX;
  if (session->stalled && !st_has_gone(session->database)) return INT64_MAX;
  int64_t due = (st_has_gone(session->database) ? upkeep->gone_at : upkeep->space_at) - now;
  bool looks = !st_has_gone(session->database) && !upkeep->unused && !upkeep->shortens;
  int64_t room = looks ? 0 : session_room_due(session, now);
  return due > room ? due : room;
}

void session_upkeep_end(struct tql_session *session) {
  struct session_upkeep *upkeep = &session->upkeep;
  if (!writes(session) || !is_between_groups(session)) return;
  while (session->options.bring_in == NULL && st_has_gone(session->database) &&
         session_has_room(session))
    if (remove_gone(session, SIZE_MAX) != BASE_OK) return;
  if (session->stalled || !st_ahead_has_room(session->database)) return;
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
