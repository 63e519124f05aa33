/* Groups: rows, checkpoints, positions of feeds, numbers and totals of sources, in one transaction. Whoever
 * writes outside a statement opens it; it is committed when it has been open for as
 * long as set durable says, and before each statement that writes. What fails takes the whole group
 * back, but nobody who interrupts: then the catalogue is read again, feeds go back to where the last commit found them, and
 * sources are over until they come again. */
#include "engine/base/budget.h"
#include "engine/base/env.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/feeds/feeds.h"
#include "tquel/session/live/live.h"
#include "tquel/session/records/bringers.h"
#include "tquel/session/records/records.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/tables/tables.h"

enum base_status session_begin_group(struct tql_session *session) {
  if (session->group_open) return BASE_OK;
  enum base_status status = st_begin(session->database);
  if (status != BASE_OK) return status;
  session->group_open = true;
  session->group_since = base_env_monotonic();
  return BASE_OK;
}

void session_take_back(struct tql_session *session) {
  base_budget_wind_up();
  session->group_open = false;
  st_rollback(session->database);
  session_sources_take_back(session);
  enum base_status reloaded = session_load_catalogue(session);
  (void)reloaded; /* reported */
  session_rewind_feeds(session);
  session_settle_diverted(session, false);
}

static enum base_status commit_group(struct tql_session *session) {
  enum base_status status = session_save_positions(session);
  if (status == BASE_OK) status = session_sources_save(session);
  if (status == BASE_OK) status = session_recompute_diverted(session);
  if (status == BASE_OK) status = session_save_pending(session);
  if (status == BASE_OK) status = session_save_node_stats(session);
  if (status == BASE_OK) status = session_age_waiting(session);
  if (status == BASE_OK) status = st_commit(session->database);
  session->group_open = false;
  if (status == BASE_OK) {
    session_feeds_committed(session);
    session_note_equal(session);
    session_settle_diverted(session, true);
    session_sources_committed(session);
    session_note_stored(session, false);
  } else {
    session_take_back(session);
  }
  return status;
}

/* What others have brought does not go with the statement that happens to be interrupted. */
enum base_status session_commit_group(struct tql_session *session) {
  if (!session->group_open) return BASE_OK;
  base_env_shield();
  enum base_status status = commit_group(session);
  base_env_unshield();
  return status;
}

enum base_status tql_session_commit(struct tql_session *session) {
  return session_commit_group(session);
}
