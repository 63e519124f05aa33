/* Statements that look as far as now, of relations that are known a little less far.
 *
 * Who asks how it is now means everything until then; but what is brought is known up to its checkpoint only, which
 * is always a little behind. So what runs once waits until the checkpoints of what it reads have passed the latest
 * time that it names, where that time has come and somebody brings them; and where they do not come, or nobody can
 * wait, it is said what the answer knows. Clocks alone are known up to now, or to the latest time that is named (pace.c). */
#include "tquel/session/queries/queries.h"
#include "tquel/session/records/bringers.h"
#include "tquel/session/session_impl.h"

/* The latest time not after NOW that EXPR names, if that is later than *LATEST. */
static void find_latest(const struct ng_expr *expr, net_chronon now, net_chronon *latest) {
  if (expr == NULL) return;
  if (expr->op == NG_T_CONSTANT && expr->instant.hi <= now && expr->instant.hi > *latest)
    *latest = expr->instant.hi;
  for (unsigned i = 0; i < expr->arg_count; i++) find_latest(expr->args[i], now, latest);
}

static net_chronon latest_of(const struct ng_query *query, net_chronon now) {
  net_chronon latest = NET_BEGINNING;
  const struct ng_expr *clauses[] = {query->where, query->when, query->start, query->stop,
                                     query->at};
  for (size_t i = 0; i < sizeof clauses / sizeof *clauses; i++)
    find_latest(clauses[i], now, &latest);
  for (size_t i = 0; i < query->target_count; i++)
    find_latest(query->targets[i].expr, now, &latest);
  for (size_t i = 0; i < query->aggregate_count; i++) {
    find_latest(query->aggregates[i].where, now, &latest);
    find_latest(query->aggregates[i].when, now, &latest);
    find_latest(query->aggregates[i].during, now, &latest);
  }
  return latest;
}

/* The relation below RELATION that is known least far, and not beyond TIME; NULL: there is none. */
static const struct session_relation *known_least(struct tql_session *session,
                                                  struct session_relation *relation,
                                                  net_chronon time, uint64_t walk) {
  const struct session_relation *least = NULL;
  if (!session_visit(relation, walk)) return NULL;
  if (!session_is_derived(relation)) return relation->checkpoint <= time ? relation : NULL;
  for (size_t i = 0; i < relation->derived.input_count; i++) {
    struct session_relation *input = session_find(session, relation->derived.inputs[i]);
    const struct session_relation *found =
        input != NULL ? known_least(session, input, time, walk) : NULL;
    if (found != NULL && (least == NULL || found->checkpoint < least->checkpoint)) least = found;
  }
  return least;
}

/* Will its checkpoint pass what the clock has passed, if one waits? */
static bool follows_clock(const struct tql_session *session,
                          const struct session_relation *relation) {
  if (session_is_pace(relation)) return relation->live;
  if (relation->feed != NULL) return relation->feed->keeps_up && !relation->feed->ended;
  return relation->live && session_is_brought(session, relation);
}

bool session_awaits(struct tql_session *session, const struct ng_query *query) {
  if (session->timeline != NET_TIMELINE_REAL || session->given.relation != NULL) return false;
  net_chronon time = latest_of(query, session->seat->time.now);
  if (time == NET_BEGINNING) return false;
  const struct session_relation *least = NULL;
  uint64_t walk = ++session->walks;
  for (size_t i = 0; i < query->variable_count; i++) {
    struct session_relation *input = session_of(session, query->variables[i].relation);
    if (query->variables[i].paces) continue;
    const struct session_relation *found =
        input != NULL ? known_least(session, input, time, walk) : NULL;
    if (found != NULL && (least == NULL || found->checkpoint < least->checkpoint)) least = found;
  }
  if (least == NULL) return false;
  if (session->may_wait && session->patient_until != INT64_MAX && follows_clock(session, least)) {
    session->awaits = true;
    return true;
  }
  struct base_buffer asked = BASE_BUFFER_EMPTY, known = BASE_BUFFER_EMPTY;
  net_time_print(&asked, session->timeline, time);
  net_time_print(&known, session->timeline, least->checkpoint);
  base_report(session->diags, MSG_KNOWN_LESS_FAR, session->source, &query->range,
              "%s is known up to %s: what depends on more, up to %s, is not in the answer",
              least->ng.name, base_buffer_text(&known), base_buffer_text(&asked));
  base_buffer_done(&asked);
  base_buffer_done(&known);
  return false;
}

/* --- clocks alone */

/* Is it of aggregates at a time that the statement names? What ticks behind that is nothing to them. */
static bool is_at_named(const struct ng_query *query) {
  for (size_t i = 0; i < query->variable_count; i++)
    if (query->variables[i].outside) return false;
  return query->at != NULL && query->at->op == NG_T_CONSTANT;
}

net_chronon session_paced_until(const struct tql_session *session, const struct ng_query *query) {
  if (session->timeline != NET_TIMELINE_REAL) return NET_FOREVER;
  net_chronon until = session->seat->time.now;
  if (ng_is_paced(query) && is_at_named(query)) return net_chronon_add(query->at->instant.hi, 1);
  if (ng_is_paced(query) && query->named_last > until) until = query->named_last;
  return net_chronon_add(until, 1);
}
