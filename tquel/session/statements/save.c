/* save R until T: the relation is kept until then (durable/retention.c). */
#include "engine/base/env.h"
#include "tquel/session/control/control.h"
#include "tquel/session/durable/durable.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/statements/statements.h"

enum base_status session_save(struct tql_session *session, const struct tql_statement *statement) {
  struct session_scope scope;
  session_scope_init(&scope, session, NULL);
  struct tql_analysis analysis = session_analysis(session, &scope);
  const struct ng_relation *ng = tql_analyse_relation(&analysis, &statement->name);
  net_chronon until;
  if (ng == NULL || tql_analyse_time(&analysis, statement->expr, false, &until) != BASE_OK)
    return BASE_USER;
  if (session->timeline == NET_TIMELINE_ABSTRACT && until != NET_FOREVER) {
    base_report_hint(session->diags, MSG_NO_CLOCK, session->source, &statement->expr->range,
                     "relations stay until they are destroyed",
                     "the abstract timeline has no clock that could say when the time has come");
    return BASE_USER;
  }
  if (session->options.explain_only) return BASE_OK;
  struct session_relation *relation = session_of(session, ng);
  enum base_status status = session_begin(session);
  if (status != BASE_OK) return status;
  status = st_set_until(session->database, ng->name, until);
  if (status == BASE_OK && relation->sensors.announced)
    status = session_save_announced(session, relation, relation->sensors.digest,
                                    relation->sensors.holder, until == NET_FOREVER);
  status = session_end(session, status);
  if (status != BASE_OK) return status;
  relation = session_find(session, relation->ng.name);
  relation->keep.expires = until != NET_FOREVER;
  relation->keep.until = until;
  relation->keep.expiring = relation->keep.expiry_said = false;
  session->keep.next_at = 0;
  session->asks_changed = true;
  if (until <= base_env_now())
    base_report(session->diags, MSG_SAVED_UNTIL_PAST, session->source, &statement->expr->range,
                "that time has passed: %s goes at once", ng->name);
  return BASE_OK;
}
