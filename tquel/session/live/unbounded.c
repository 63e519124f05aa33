/* Standing queries that would need memory without bound: over a live feed they are refused, over inputs
 * that are closed they get a warning; `set unbounded allowed` turns both off.
 *
 * What is allowed stays with the query, in its definition: whoever feeds it, and whenever. What was not is
 * refused the feed, unless the session that brings it allows it: so what was defined before its feed can have
 * one without being made anew.
 *
 * What counts is what the statement says, not which rules are switched on: it is looked at with all of
 * them. A view has no state of its own; it counts with the queries that read it, and by what those are
 * allowed. */
#include "tquel/session/live/live.h"
#include "tquel/session/queries/queries.h"
#include "tquel/session/records/bringers.h"
#include "tquel/session/session_impl.h"

/* What the standing query is when it is looked at. */
enum stage {
  OVER_CLOSED, /* about to be defined */
  OVER_FED,    /* ... over a live feed */
  TO_BE_FED,   /* there already, without a feed */
};

/* `within` is of use where the times are exact, as those of a relation are; of what two uncertain tuples have
 * in common a third one says too little. */
static const char *hint_of(struct base_arena *arena, const struct ng_unbounded *unbounded,
                           const char *name, enum stage stage) {
  bool there = stage == TO_BE_FED;
  const char *anew = there ? base_arena_printf(arena, "define %s anew: ", name) : "";
  const char *allowed =
      there ? "or after set unbounded allowed, which stays with it" : "or set unbounded allowed";
  if (unbounded->quantile)
    return base_arena_printf(
        arena, "%swrite for each DURATION, or for each instant of what lasts; %s", anew, allowed);
  if (unbounded->behind || !unbounded->together)
    return base_arena_printf(arena, "%swrite `; within DURATION`, %slet the tuples overlap; %s",
                             anew, unbounded->behind ? "set sequence closest, or " : "or ",
                             allowed);
  return base_arena_printf(
      arena,
      "%smake a derived relation of %s, and ask for what that and the others have "
      "to do with each other (help \"set\"); %s",
      anew, unbounded->together, allowed);
}

static enum base_status report(struct tql_session *session, struct base_arena *arena,
                               const struct ng_unbounded *unbounded, const char *name,
                               enum stage stage) {
  bool fed = stage != OVER_CLOSED;
  base_report_hint(session->diags, fed ? MSG_UNBOUNDED : MSG_UNBOUNDED_WARNING,
                   unbounded->query->source, &unbounded->clause,
                   hint_of(arena, unbounded, name, stage),
                   "nothing says when %s can forget the tuples of %s", name, unbounded->kept);
  return fed ? BASE_USER : BASE_OK;
}

/* QUERY is, or is to be, the standing query NAME. */
static enum base_status check(struct tql_session *session, const struct ng_query *query,
                              const char *name, enum stage stage) {
  struct base_arena *arena = base_arena_new();
  struct ng_plan *plan = ng_plan_new(arena, session->strings, session->timeline);
  struct ng_unbounded unbounded;
  enum base_status status = session_add_views(session, query, plan, false);
  if (status == BASE_OK) status = ng_plan_add_query(plan, query, session->diags);
  if (status == BASE_OK) status = ng_plan_transform(plan, NULL, session->diags);
  if (status == BASE_OK && ng_plan_find_unbounded(plan, &unbounded))
    status = report(session, arena, &unbounded, name, stage);
  base_arena_free(arena);
  return status;
}

enum base_status session_check_bounds(struct tql_session *session, const struct ng_query *query) {
  bool fed = false;
  if (query->unbounded_allowed) return BASE_OK;
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct session_relation *input = session_of(session, query->variables[i].relation);
    fed |= input != NULL && session_is_fed(session, input);
  }
  return check(session, query, query->name, fed ? OVER_FED : OVER_CLOSED);
}

enum base_status session_check_bounds_of_dependants(struct tql_session *session,
                                                    const struct session_relation *relation) {
  if (session->seat->settings.unbounded_allowed) return BASE_OK;
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *derived = session->relations[i];
    if (!session_is_derived(derived) || derived->view ||
        !session_depends(session, derived, relation))
      continue;
    const struct ng_query *query = session_query(session, derived);
    if (query == NULL) return BASE_USER;
    if (query->unbounded_allowed) continue;
    enum base_status status = check(session, query, derived->ng.name, TO_BE_FED);
    if (status != BASE_OK) return status;
  }
  return BASE_OK;
}
