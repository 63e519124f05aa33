/* save R until T: the relation is kept until then.
 *
 * When a database is opened for writing, relations whose time has passed are destroyed, with their
 * tuples and all that the catalogue says of them; a warning says which, and how many tuples went. One
 * that others are computed from stays, and a warning names them; it goes when they have gone. Nothing
 * is dropped while a session runs, by a session that only reads, or on the abstract timeline, which has
 * no clock.                                                                                        */
#include <string.h>

#include "engine/base/env.h"
#include "tquel/session/session_impl.h"

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
  if (status == BASE_OK && relation->announced)
    status = session_save_announced(session, relation, relation->digest, relation->holder,
                                    until == NET_FOREVER);
  status = session_end(session, status);
  if (status != BASE_OK) return status;
  relation = session_find(session, relation->ng.name);
  relation->expires = until != NET_FOREVER;
  relation->until = until;
  session->asks_changed = true;
  if (until <= base_env_now())
    base_report(session->diags, MSG_SAVED_UNTIL_PAST, session->source, &statement->expr->range,
                "that time has passed: %s goes when the database is next opened", ng->name);
  return BASE_OK;
}

static void print_until(struct tql_session *session, struct base_buffer *out,
                        const struct session_relation *relation) {
  net_time_print(out, session->timeline, relation->until);
}

/* Destroys RELATION unless others are computed from it. */
static enum base_status drop_expired(struct tql_session *session,
                                     struct session_relation *relation) {
  struct base_buffer until = BASE_BUFFER_EMPTY;
  print_until(session, &until, relation);
  const char *users = session_dependants(session, session->arena, relation);
  enum base_status status = BASE_OK;
  if (users != NULL) {
    base_report_hint(session->diags, MSG_EXPIRED_KEPT, NULL, NULL,
                     "destroy what is computed from it, or save it until a later time",
                     "%s was to be kept until %s; it stays, because %s is computed from it",
                     relation->ng.name, base_buffer_text(&until), users);
  } else {
    int64_t count = 0;
    if (!relation->view) status = st_count(session->database, relation->ng.name, &count);
    if (status == BASE_OK) status = st_destroy(session->database, relation->ng.name);
    if (status == BASE_OK)
      base_report(session->diags, MSG_EXPIRED, NULL, NULL,
                  "%s was kept until %s and is gone now, with %lld tuple%s", relation->ng.name,
                  base_buffer_text(&until), (long long)count, count == 1 ? "" : "s");
    if (status == BASE_OK) session_remove_relation(session, relation);
  }
  base_buffer_done(&until);
  return status;
}

enum base_status session_expire(struct tql_session *session) {
  if (session->timeline != NET_TIMELINE_REAL || session->options.readonly ||
      session->options.explain_only)
    return BASE_OK;
  net_chronon now = base_env_now();
  size_t expired = 0;
  for (size_t i = 0; i < session->relation_count; i++)
    expired += session->relations[i]->expires && session->relations[i]->until <= now;
  if (expired == 0) return BASE_OK;
  enum base_status status = st_begin(session->database);
  /* From the youngest on: what is computed from a relation goes before it. */
  for (size_t i = session->relation_count; status == BASE_OK && i-- > 0;) {
    struct session_relation *relation = session->relations[i];
    if (relation->expires && relation->until <= now) status = drop_expired(session, relation);
  }
  if (status == BASE_OK) status = st_commit(session->database);
  if (status != BASE_OK) st_rollback(session->database);
  return status;
}

void session_describe_until(struct tql_session *session, const struct session_relation *relation,
                            struct base_buffer *out) {
  if (!relation->expires) return;
  base_buffer_puts(out, "kept until: ");
  print_until(session, out, relation);
  base_buffer_putc(out, '\n');
}
