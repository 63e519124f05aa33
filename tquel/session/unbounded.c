/* Standing queries that would need memory without bound: over a live feed they are refused, over inputs
 * that are closed they get a warning; `set unbounded allowed` turns both off.
 *
 * What counts is what the statement says, not which rules are switched on: it is looked at with all of
 * them. A view has no state of its own; it counts with the queries that read it. */
#include "tquel/session/session_impl.h"

/* `within` is of use where the times are exact, as those of a relation are; of what two uncertain tuples have
 * in common a third one says too little. */
static const char *hint_of(struct base_arena *arena, const struct ng_unbounded *unbounded) {
  if (unbounded->behind || !unbounded->together)
    return "write `; within DURATION`, or let the tuples overlap; or set unbounded allowed";
  return base_arena_printf(
      arena,
      "make a derived relation of %s, and ask for what that and the others have "
      "to do with each other (help \"set\"); or set unbounded allowed",
      unbounded->together);
}

static enum base_status report(struct tql_session *session, const struct ng_unbounded *unbounded,
                               const char *name, bool fed) {
  base_report_hint(session->diags, fed ? MSG_UNBOUNDED : MSG_UNBOUNDED_WARNING,
                   unbounded->query->source, &unbounded->clause,
                   hint_of(session->statement_arena, unbounded),
                   "nothing says when %s can forget the tuples of %s", name, unbounded->kept);
  return fed ? BASE_USER : BASE_OK;
}

/* QUERY is to be the standing query NAME; FED: over a live feed. */
static enum base_status check(struct tql_session *session, const struct ng_query *query,
                              const char *name, bool fed) {
  struct base_arena *arena = base_arena_new();
  struct ng_plan *plan = ng_plan_new(arena, session->strings, session->timeline);
  struct ng_unbounded unbounded;
  enum base_status status = session_add_views(session, query, plan, false);
  if (status == BASE_OK) status = ng_plan_add_query(plan, query, session->diags);
  if (status == BASE_OK) {
    ng_plan_transform(plan, NULL);
    if (ng_plan_find_unbounded(plan, &unbounded)) status = report(session, &unbounded, name, fed);
  }
  base_arena_free(arena);
  return status;
}

enum base_status session_check_bounds(struct tql_session *session, const struct ng_query *query) {
  bool fed = false;
  if (session->seat->unbounded) return BASE_OK;
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct session_relation *input = session_of(session, query->variables[i].relation);
    fed |= input != NULL && session_is_fed(session, input);
  }
  return check(session, query, query->name, fed);
}

enum base_status session_check_bounds_of_dependants(struct tql_session *session,
                                                    const struct session_relation *relation) {
  for (size_t i = 0; i < session->relation_count && !session->seat->unbounded; i++) {
    struct session_relation *derived = session->relations[i];
    if (!session_is_derived(derived) || derived->view ||
        !session_depends(session, derived, relation))
      continue;
    const struct ng_query *query = session_query(session, derived);
    enum base_status status =
        query == NULL ? BASE_USER : check(session, query, derived->ng.name, true);
    if (status != BASE_OK) return status;
  }
  return BASE_OK;
}
