/* Transactions: a statement and all that follows from it commit together; what fails leaves nothing.
 * A script run as a single transaction nests its statements in one.                                 */
#include "engine/base/budget.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/live/live.h"
#include "tquel/session/records/records.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/tables/tables.h"

enum base_status session_begin(struct tql_session *session) {
  enum base_status status = session_commit_group(session);
  if (status != BASE_OK) return status;
  session->refused = false;
  if (session->in_script_transaction) return BASE_OK;
  status = st_begin(session->database);
  if (status == BASE_OK && session->single_transaction) session->in_script_transaction = true;
  return status;
}

enum base_status session_end(struct tql_session *session, enum base_status status) {
  if (status == BASE_OK) status = session_recompute_diverted(session);
  if (status == BASE_OK) status = session_save_pending(session);
  if (status == BASE_OK) status = session_save_node_stats(session);
  if (status == BASE_OK && session->in_script_transaction) return BASE_OK;
  if (status == BASE_OK) {
    status = st_commit(session->database);
    if (status == BASE_OK) session_note_equal(session);
    if (status == BASE_OK) session_settle_diverted(session, true);
    if (status == BASE_OK) return BASE_OK;
  }
  base_budget_wind_up(); /* taking it back has to be done */
  /* Where there is nothing to take back, the live network stays: to build it anew all that is stored is read, and who may
   * append could have everybody wait for that as often as he likes. */
  if (session->refused && !session->in_script_transaction && st_in_transaction(session->database) &&
      st_commit(session->database) == BASE_OK)
    return status;
  st_rollback(session->database);
  session_settle_diverted(session, false);
  session->in_script_transaction = false;
  enum base_status reloaded = session_load_catalogue(session);
  return status != BASE_OK ? status : reloaded;
}
