/* Views: derived relations that are not stored.
 *
 *      view's query ──▶ network of its own ──▶ whoever reads it
 *
 * A view is bound when it is defined, like a derived relation, and its definition is kept the same
 * way; but it has no table. In the plan of a one-off over a view the view's query comes first, and rules
 * see both as one. In the live network so does the query of a view that one standing query alone reads, if
 * nothing in it can fail; else the view has a node there, to which its readers are linked. The origin of its aggregates on
 * the real timeline is fixed as that of a derived relation: at the first tuples that a statement writes; before,
 * and while an input is fed, it is that of the tuples as they stand.                                 */
#include <stdlib.h>

#include "tquel/session/losses/losses.h"
#include "tquel/session/queries/queries.h"
#include "tquel/session/results/results.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/tables/tables.h"

/* The bound query of a view, with the origin that holds now. */
static enum base_status view_query(struct tql_session *session, struct session_relation *view,
                                   const struct ng_query **ret) {
  bool fixed_now;
  if (view->view && st_in_transaction(session->database) && !session->options.readonly) {
    enum base_status status = session_fix_origin(session, view, &fixed_now);
    if (status == BASE_OK) *ret = view->derived.query;
    return status;
  }
  *ret = session_query(session, view);
  return *ret == NULL ? BASE_USER : session_at_origin(session, view, ret);
}

static size_t readers_of(const struct tql_session *session, const struct session_relation *view) {
  size_t count = 0;
  for (size_t i = 0; i < session->relation_count; i++) {
    const struct session_relation *reader = session->relations[i];
    for (size_t k = 0; k < reader->derived.input_count; k++)
      count += strcasecmp(reader->derived.inputs[k], view->ng.name) == 0;
  }
  for (size_t i = 0; i < session->display_count; i++)
    count += 2 * (strcasecmp(session->displays[i]->name, view->ng.name) == 0);
  return count;
}

bool session_view_is_inlined(struct tql_session *session, struct session_relation *view) {
  if (!view->view || readers_of(session, view) != 1) return false;
  const struct ng_query *query = session_query(session, view);
  if (query == NULL) return false;
  struct base_arena *arena = base_arena_new();
  struct ng_plan *plan = ng_plan_new(arena, session->strings, session->timeline);
  bool may = ng_plan_add_query(plan, query, session->diags) == BASE_OK && !ng_plan_can_fail(plan);
  base_arena_free(arena);
  return may;
}

/* The inlined views that READER reads, directly or through such ones, become inner queries of PLAN. */
static enum base_status add_inlined_views(struct tql_session *session,
                                          const struct session_relation *reader,
                                          struct ng_plan *plan) {
  for (size_t i = 0; i < reader->derived.input_count; i++) {
    struct session_relation *view = session_find(session, reader->derived.inputs[i]);
    if (view == NULL || !session_view_is_inlined(session, view)) continue;
    enum base_status status = add_inlined_views(session, view, plan);
    if (status != BASE_OK) return status;
    const struct ng_query *query;
    status = view_query(session, view, &query);
    if (status == BASE_OK) status = ng_plan_add_query(plan, query, session->diags);
    if (status != BASE_OK) return status;
    ng_plan_make_inner(plan);
  }
  return BASE_OK;
}

enum base_status session_live_plan(struct tql_session *session,
                                   const struct session_relation *relation,
                                   const struct ng_query *query, struct base_arena *arena,
                                   struct ng_plan **ret) {
  *ret = ng_plan_new(arena, session->strings, session->timeline);
  enum base_status status = add_inlined_views(session, relation, *ret);
  query = session_so_far(arena, query);
  if (status == BASE_OK) status = ng_plan_add_query(*ret, query, session->diags);
  if (status == BASE_OK) status = session_transform(session, *ret, true);
  return status;
}

enum base_status session_build_view(struct tql_session *session, struct session_relation *view,
                                    struct net_network *network, const struct ng_inputs *inputs,
                                    struct net_node **ret) {
  const struct ng_query *query;
  struct ng_plan *plan;
  enum base_status status = view_query(session, view, &query);
  if (status == BASE_OK)
    status = session_live_plan(session, view, query, net_network_arena(network), &plan);
  if (status != BASE_OK) return status;
  struct ng_inputs own = *inputs;
  own.owner = view->ng.name;
  return ng_plan_build(plan, network, &own, session->diags, ret);
}

/* Goes by what READER, if it is looked through, reads with nothing else between that is computed. */
static void visit_read(struct tql_session *session, struct session_relation *reader,
                       uint64_t walk) {
  if (session_is_kept(session, reader) || !session_visit(reader, walk)) return;
  for (size_t i = 0; i < reader->derived.input_count && session_is_looked_through(reader); i++) {
    struct session_relation *input = session_find(session, reader->derived.inputs[i]);
    if (input != NULL) visit_read(session, input, walk);
  }
}

/* The views that QUERY reads, in the order of their definition; *RET is the caller's to free. */
static size_t views_read(struct tql_session *session, const struct ng_query *query,
                         struct session_relation ***ret) {
  uint64_t walk = ++session->walks;
  size_t count = 0;
  for (size_t v = 0; v < query->variable_count; v++) {
    struct session_relation *input = session_of(session, query->variables[v].relation);
    if (input != NULL) visit_read(session, input, walk);
  }
  *ret = base_xcalloc(session->relation_count + 1, sizeof **ret);
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *view = session->relations[i];
    if (session_is_looked_through(view) && view->visited == walk) (*ret)[count++] = view;
  }
  return count;
}

enum base_status session_add_views(struct tql_session *session, const struct ng_query *query,
                                   struct ng_plan *plan, bool run) {
  enum base_status status = BASE_OK;
  struct session_relation **views;
  size_t count = views_read(session, query, &views);
  session_begin_origins(session);
  for (size_t i = 0; i < count && status == BASE_OK; i++) {
    const struct ng_query *its = NULL;
    if (run)
      status = view_query(session, views[i], &its);
    else if ((its = session_query(session, views[i])) == NULL)
      status = BASE_USER;
    if (status == BASE_OK && run) status = session_doubt_query(session, &its);
    if (status == BASE_OK) status = ng_plan_add_query(plan, its, session->diags);
    if (status == BASE_OK) ng_plan_make_inner(plan);
  }
  session_end_origins(session);
  free(views);
  return status;
}

enum base_status session_view_rows(struct tql_session *session, struct session_relation *view,
                                   struct tql_rows *ret) {
  const struct ng_query *query;
  enum base_status status = view_query(session, view, &query);
  return status == BASE_OK ? session_run_query(session, query, ret, NULL, NULL) : status;
}
