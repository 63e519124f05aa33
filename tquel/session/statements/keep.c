/* modify R to keep AGE: how long tuples of R are kept (live/history.c says what else needs them, durable/aging.c removes
 * them). */
#include <strings.h>

#include "tquel/session/durable/durable.h"
#include "tquel/session/live/live.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/statements/statements.h"

static enum base_status bad_age(struct tql_session *session,
                                const struct tql_statement *statement) {
  base_report_hint(session->diags, MSG_STRUCTURE, session->source, &statement->words_range,
                   "modify R to keep 1 hour, to keep nothing, or to keep forever",
                   "how long is it to be kept?");
  return BASE_USER;
}

/* *RET: -1 for ever. */
static enum base_status find_age(struct tql_session *session, const struct tql_analysis *analysis,
                                 const struct tql_statement *statement, int64_t *ret) {
  const struct tql_expr *expr = statement->expr;
  *ret = 0;
  if (expr == NULL) return bad_age(session, statement);
  /* A bare number counts units, milliseconds as a rule; what is gone by mistake is gone. */
  if (expr->kind == TQL_E_INTEGER && session->timeline == NET_TIMELINE_REAL) {
    base_report_hint(
        session->diags, MSG_STRUCTURE, session->source, &expr->range,
        base_arena_printf(session->statement_arena, "write %lld h, %lld d, or whatever it is",
                          (long long)expr->integer, (long long)expr->integer),
        "%lld of what?", (long long)expr->integer);
    return BASE_USER;
  }
  if (expr->kind != TQL_E_NAME) return tql_analyse_duration(analysis, expr, ret);
  bool forever = strcasecmp(expr->name.text, "forever") == 0;
  if (!forever && strcasecmp(expr->name.text, "nothing") != 0) return bad_age(session, statement);
  *ret = forever ? -1 : 0;
  return BASE_OK;
}

/* Of what was only copied or appended nobody has said up to when it is complete. */
static enum base_status note_ageless(struct tql_session *session,
                                     const struct session_relation *relation,
                                     const struct tql_statement *statement) {
  int64_t count = 0;
  if (session_old_before(session, relation) != NET_BEGINNING) return BASE_OK;
  enum base_status status =
      relation->view ? BASE_OK : st_count(session->database, relation->ng.name, &count);
  if (status == BASE_OK && count > 0)
    base_report_hint(
        session->diags, MSG_AGELESS, session->source, &statement->range,
        "feed it (copy ... following), or delete what is old: delete v where ... when ...",
        "nothing of %s is old yet: age counts from its checkpoint, and no feed has brought it to "
        "one",
        relation->ng.name);
  return status;
}

enum base_status session_modify_age(struct tql_session *session,
                                    const struct tql_analysis *analysis,
                                    struct session_relation *relation,
                                    const struct tql_statement *statement) {
  int64_t age;
  enum base_status status = find_age(session, analysis, statement, &age);
  if (status != BASE_OK) return status;
  if (age >= 0 && (relation->kind == ST_SNAPSHOT || session_is_sampled(relation))) {
    base_report_hint(session->diags, MSG_NO_AGE, session->source, &statement->name.range,
                     relation->kind == ST_SNAPSHOT
                         ? "say which tuples are to go: delete V where ..."
                         : "keep a relation that is derived from it",
                     relation->kind == ST_SNAPSHOT
                         ? "%s is a plain relation: its tuples hold for ever and have no age"
                         : "%s is sampled: its periods are made from all samples",
                     relation->ng.name);
    return BASE_USER;
  }
  if (age >= 0) status = session_check_age(session, relation);
  if (status != BASE_OK || session->options.explain_only) return status;
  status = session_begin(session);
  if (status != BASE_OK) return status;
  status = session_end(session, st_set_keep(session->database, relation->ng.name, age));
  if (status != BASE_OK) return status;
  relation = session_find(session, statement->name.text);
  session_set_age(session, relation, age >= 0, age);
  session->keep.next_at = 0;
  return relation->keep.ages ? note_ageless(session, relation, statement) : BASE_OK;
}
