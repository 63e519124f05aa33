/* Whether a sensor may be sampled when it makes more records than can be taken (thesis 4.5).
 *
 * What is passed over counts as lost, so answers are as certain as they can be, whatever is asked. But who counts, or asks
 * for events, wants each record, and is told less by a sample than by what chance leaves; who asks what holds, of a
 * traced relation, learns that anew with each record of an entity. So of a traced relation records may be passed over if all
 * that stands on it, directly or not, asks for its periods alone: none is counted or summed, none gives its start or
 * stop as an event, none is in a sequence, and nobody wants all records as they come (create persistent, save,
 * display). set overload always says that it may be for whatever is asked, set overload lose for nothing.    */
#include "engine/layout.h"
#include "tquel/session/session_impl.h"

/* Does EXPR speak of VARIABLE? */
static bool names(const struct ng_expr *expr, size_t variable) {
  if (expr == NULL) return false;
  if ((expr->op == NG_T_VARIABLE || expr->op == NG_DOMAIN || expr->op == NG_DURATION) &&
      expr->variable == variable)
    return true;
  for (unsigned i = 0; i < expr->arg_count; i++)
    if (names(expr->args[i], variable)) return true;
  return false;
}

/* Is it in the order of VARIABLE's tuples and others' that EXPR sees something? */
static bool asks_for_order(const struct ng_expr *expr, size_t variable) {
  if (expr == NULL) return false;
  bool order = expr->op == NG_T_SEQUENCE || expr->op == NG_T_PRECEDE;
  if (order && names(expr, variable)) return true;
  for (unsigned i = 0; i < expr->arg_count; i++)
    if (asks_for_order(expr->args[i], variable)) return true;
  return false;
}

/* Is a condition on when VARIABLE's tuples begin or end? */
static bool asks_for_ends(const struct ng_expr *expr, size_t variable) {
  if (expr == NULL) return false;
  if ((expr->op == NG_T_START || expr->op == NG_T_STOP) && names(expr, variable)) return true;
  for (unsigned i = 0; i < expr->arg_count; i++)
    if (asks_for_ends(expr->args[i], variable)) return true;
  return false;
}

static bool wants_each(const struct ng_query *query, size_t variable) {
  const struct ng_expr *const times[] = {query->when, query->start, query->stop, query->at};
  for (size_t i = 0; i < query->aggregate_count; i++)
    if (query->aggregates[i].variable == variable) return true;
  for (size_t i = 0; i < sizeof times / sizeof *times; i++)
    if (asks_for_order(times[i], variable)) return true;
  if (asks_for_ends(query->when, variable)) return true;
  return query->result_class == NET_EVENT && names(query->at, variable);
}

/* READER's own question, of what is made of the records of RELATION. */
static bool permits(struct tql_session *session, struct session_relation *reader,
                    const struct session_relation *relation) {
  const struct ng_query *query = session_query(session, reader);
  /* Who takes what is there for all there was is not to be given less. */
  if (query == NULL || query->losses_ignored) return false;
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct ng_variable *variable = &query->variables[i];
    const struct session_relation *input = session_of(session, variable->relation);
    if (variable->costs || variable->paces || input == NULL) continue;
    if (input != relation && !session_depends(session, input, relation)) continue;
    if (wants_each(query, i)) return false;
  }
  return true;
}

/* Does it stand, or anything that reads it? */
static bool is_asked(struct tql_session *session, const struct session_relation *reader) {
  if (session_stands(session, reader)) return true;
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *other = session->relations[i];
    if (session_stands(session, other) && session_depends(session, other, reader)) return true;
  }
  return false;
}

static bool may_be_sampled(struct tql_session *session, const struct session_relation *relation) {
  bool periods = relation->sensors.sensor != NULL && relation->sensors.sensor->one_record;
  if (session->overload != TQL_OVERLOAD_SAMPLED) return session->overload == TQL_OVERLOAD_ALWAYS;
  if (relation->ng.kind != NG_REL_TRACED || periods || relation->sensors.asked != NULL)
    return false;
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *reader = session->relations[i];
    if (!session_is_derived(reader) || !session_depends(session, reader, relation)) continue;
    if (is_asked(session, reader) && !permits(session, reader, relation)) return false;
  }
  return true;
}

void tql_session_each_overload(struct tql_session *session, bool all,
                               void (*each)(void *context, const char *relation, bool sampled),
                               void *context) {
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *relation = session->relations[i];
    if (session_is_derived(relation) || !relation->sensors.announced) continue;
    bool told = relation->sensors.sampled_in_overload;
    if (!all) relation->sensors.sampled_in_overload = may_be_sampled(session, relation);
    if (all ? told : told != relation->sensors.sampled_in_overload)
      each(context, relation->ng.name, relation->sensors.sampled_in_overload);
  }
}

uint64_t tql_session_asks(const struct tql_session *session) {
  return session->asks;
}
