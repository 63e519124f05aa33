/* When nothing can be stored, because the disk is full or another program has the database locked.
 *
 * What was read since the last commit has been taken back; feeds hold it, sources keep it, and bring it again. That is
 * tried anew, after ever longer times, until it can be stored; meanwhile nothing more is read. It is said when it
 * begins and, once nothing has failed for a while, that it is over: a disk that is nearly full lets some commits
 * through and others not.                                                                             */
#include "engine/base/env.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/session_impl.h"

#define MS        INT64_C(1000000)
#define RETRY_NS  (200 * MS)
#define RETRY_MAX (3200 * MS)
#define STEADY_NS (1000 * MS)

/* NULL: there is none. */
static const char *first_error(struct tql_session *session, size_t before) {
  const struct base_diag_sink *diags = session->diags;
  for (size_t i = before; i < diags->count; i++)
    if (diags->items[i].severity == BASE_ERROR)
      return base_arena_strdup(session->statement_arena, diags->items[i].message);
  return NULL; /* the user has interrupted it */
}

bool session_stall(struct tql_session *session, size_t before, bool may_pass) {
  session->stored = false;
  int64_t after = session->stalled ? 2 * session->retry_after : RETRY_NS;
  session->failed_at = base_env_monotonic();
  session->retry_after = after < RETRY_MAX ? after : RETRY_MAX;
  session->retry_at = session->failed_at + session->retry_after;
  if (!may_pass) return false;
  const char *why = first_error(session, before);
  base_diag_drop(session->diags, before);
  if (!session->stalled && why != NULL)
    base_report_hint(
        session->diags, MSG_STALLED, NULL, NULL,
        "free space, or end what locks the database or reads it for long; it goes on by "
        "itself",
        "%s: nothing more is read until it can be stored", why);
  session->stalled |= why != NULL;
  return true;
}

bool session_is_resting(const struct tql_session *session) {
  return session->stalled && base_env_monotonic() < session->retry_at;
}

void session_note_stored(struct tql_session *session, bool ending) {
  if (!session->stalled) return;
  session->stored = true;
  if (!ending && base_env_monotonic() < session->failed_at + STEADY_NS) return;
  session->stalled = session->stored = false;
  base_report(session->diags, MSG_STORES_AGAIN, NULL, NULL,
              "what was read could be stored; reading goes on, and nothing was lost");
}

void session_note_steady(struct tql_session *session) {
  if (session->stored) session_note_stored(session, false);
}

int64_t session_steady_due(const struct tql_session *session, int64_t now) {
  return session->stored ? session->failed_at + STEADY_NS - now : INT64_MAX;
}
