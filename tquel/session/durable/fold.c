/* Rows that came live and many come from the log into their tables (storage/README.md, "The log").
 *
 * Between two groups some are put there, so that those who come with SQL are not long behind:
 *
 *      nothing came for QUIET_NS     PIECE_ROWS at a time, as fast as it goes
 *      fewer than BEHIND wait        as many as a quarter of the time since the last round is enough for
 *      more wait                     those, and so many that fewer wait than before: whoever brings them is slowed
 *
 * so the log never holds more than BEHIND rows and what comes within a group. How long a row takes is measured
 * with each round. What stands in the log is as durable there, and is found. Where there is no room for it in a table
 * there is soon none in the log: nothing more is read until there is (stall.c). What fails otherwise, as a piece that
 * is damaged, is tried again, but not soon.                                                                            */
#include "engine/base/env.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/session_impl.h"

#define PIECE_ROWS ((size_t)4096)  /* while others may want something */
#define MOST_ROWS  ((size_t)32768) /* at a time: what they hold can be forgotten behind them */
#define BEHIND     ((size_t)1 << 20)
#define QUIET_NS   (INT64_C(200) * 1000000)
#define FAILED_NS  (INT64_C(60000) * 1000000)
#define ROUND_NS   (INT64_C(25) * 1000000) /* of a round, at most, while fewer than BEHIND wait */
#define ROW_NS     1000.0                  /* as long as nothing was measured */

static enum base_status fold(struct tql_session *session, size_t rows, size_t *ret_done,
                             size_t *ret_left) {
  *ret_done = *ret_left = 0;
  if (!st_fold_is_due(session->database)) return BASE_OK;
  enum base_status status = st_begin(session->database);
  if (status == BASE_OK) status = st_fold(session->database, rows, ret_done, ret_left);
  if (status == BASE_OK) status = st_commit(session->database);
  if (status != BASE_OK) st_rollback(session->database);
  return status;
}

void session_fold_init(struct session_fold *fold, bool writes) {
  *fold = (struct session_fold){.due = writes, .most = BEHIND};
}

/* As many rows as a round that begins NOW may put into their tables. */
static size_t rows_of_round(const struct session_fold *fold, int64_t now) {
  if (now >= fold->quiet_at) return PIECE_ROWS;
  int64_t time = (now - fold->ended) / 4;
  double afford =
      (double)(time < ROUND_NS ? time : ROUND_NS) / (fold->row_ns > 0 ? fold->row_ns : ROW_NS);
  size_t rows = afford < (double)MOST_ROWS ? (size_t)afford : MOST_ROWS;
  size_t came = (size_t)(fold->came - fold->handled);
  size_t enough = came + came / 4 + PIECE_ROWS;
  return fold->behind + came > fold->most && rows < enough ? enough : rows;
}

/* ROWS were put into their tables, which may be fewer than it was to be, or more: groups stay together. */
static void note_round(struct session_fold *fold, int64_t began, size_t rows, size_t left) {
  fold->ended = base_env_monotonic();
  fold->handled = fold->came;
  fold->behind = left;
  if (rows >= PIECE_ROWS) fold->row_ns = (double)(fold->ended - began) / (double)rows;
}

enum base_status session_fold_some(struct tql_session *session) {
  struct session_fold *state = &session->fold;
  int64_t now = base_env_monotonic();
  if (session->options.readonly) return BASE_OK;
  uint64_t came = st_appended(session->database);
  if (came != state->came) {
    state->came = came;
    state->quiet_at = now + QUIET_NS;
    state->due = true;
  }
  if (!state->due || session->group_open || session_is_resting(session) || now < state->retry_at)
    return BASE_OK;
  size_t rows = rows_of_round(state, now), done = 0, left = 0;
  if (rows == 0) return BASE_OK;
  enum base_status status = fold(session, rows, &done, &left);
  note_round(state, now, done, left);
  state->due = status != BASE_OK || left > 0;
  if (status == BASE_OK) session_note_stored(session, false);
  if (status == BASE_OK) return BASE_OK;
  if (status == BASE_SYSTEM && st_failure_may_pass(session->database)) return status;
  state->retry_at = state->ended + FAILED_NS;
  return BASE_OK;
}

int64_t session_fold_due(const struct tql_session *session, int64_t now) {
  return session->fold.due && !session->group_open ? session->fold.quiet_at - now : INT64_MAX;
}

void session_fold_all(struct tql_session *session) {
  size_t done, left = 1;
  if (session->options.readonly || st_in_transaction(session->database)) return;
  if (st_ahead_is_full(session->database)) return; /* what is logged is found there */
  while (left > 0 && fold(session, MOST_ROWS, &done, &left) == BASE_OK)
    session_sweep_strings(session);
}
