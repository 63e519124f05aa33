/* Derived relations are computed anew from their inputs: those that are not in the live network at once, the others with it,
 * as it is built anew. */
#include "tquel/session/live/live.h"
#include "tquel/session/losses/losses.h"
#include "tquel/session/queries/queries.h"
#include "tquel/session/session_impl.h"

enum base_status session_recompute(struct tql_session *session, struct session_relation *relation);

/* What is wrong in a definition is shown there; which statement has set it off, in a hint. */
static void name_place(struct tql_session *session, size_t first) {
  if (session->source == NULL || session->statement == NULL) return;
  const struct base_range *range = &session->statement->range;
  for (size_t i = first; i < session->diags->count; i++) {
    struct base_diag *diag = &session->diags->items[i];
    if (diag->source == NULL || diag->source == session->source || diag->hint != NULL) continue;
    struct base_buffer hint = BASE_BUFFER_EMPTY;
    base_buffer_printf(&hint, "computed by the statement at %s:%d:%d", session->source->name,
                       range->first_line, range->first_column);
    diag->hint = base_xstrdup(base_buffer_text(&hint));
    base_buffer_done(&hint);
  }
}

static enum base_status recompute(struct tql_session *session, struct session_relation *relation) {
  bool fixed_now;
  enum base_status status = session_refuse_anew(session, relation);
  if (status == BASE_OK) status = session_complete(session, relation);
  if (status == BASE_OK) status = session_fix_origin(session, relation, &fixed_now);
  if (status != BASE_OK) return status;
  const struct ng_query *query = session_query(session, relation);
  status = st_clear(session->database, relation->ng.name);
  if (status != BASE_OK) return status;
  net_chronon checkpoint = NET_BEGINNING;
  status = session_run_query(session, query, NULL, relation->ng.name, &checkpoint);
  if (status != BASE_OK) return status;
  relation->checkpoint = checkpoint;
  return st_net(session->database)
      ->class->checkpoint(st_net(session->database), relation->ng.name, checkpoint);
}

/* Computes a derived relation anew from its inputs. */
enum base_status session_recompute(struct tql_session *session, struct session_relation *relation) {
  size_t first = session->diags->count;
  base_diag_hold(session->diags);
  enum base_status status = recompute(session, relation);
  name_place(session, first);
  base_diag_release(session->diags);
  return status;
}

/* A view whose inputs were empty so far counts from the first tuples that a statement has written, whether or not
 * anybody has asked for it by the next. That its inputs cannot be computed is told to who asks. */
static enum base_status begin_view(struct tql_session *session, struct session_relation *view) {
  size_t first = session->diags->count;
  bool fixed_now;
  if (view->derived.origin_fixed) return BASE_OK;
  base_diag_hold(session->diags);
  enum base_status status = session_fix_origin(session, view, &fixed_now);
  if (status == BASE_USER) {
    base_diag_drop(session->diags, first);
    status = BASE_OK;
  }
  base_diag_release(session->diags);
  return status;
}

/* Those of the live network have read what was stored when it was built, and so have the sensors that it asks: it is
 * built anew, and they with it. */
enum base_status session_recompute_dependants(struct tql_session *session,
                                              const struct session_relation *relation) {
  bool in_live = false;
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < session->relation_count && status == BASE_OK; i++) {
    struct session_relation *derived = session->relations[i];
    if (!session_is_derived(derived) || !session_depends(session, derived, relation)) continue;
    /* Of views those that somebody looks at. */
    bool live = derived->view ? derived->network.store_node != NULL
                              : session_depends_on_live(session, derived);
    in_live |= live;
    if (derived->view)
      status = begin_view(session, derived);
    else if (live)
      derived->derived.stale = true;
    else
      status = session_recompute(session, derived);
  }
  if (status != BASE_OK || !in_live) return status;
  session_drop_live(session);
  return session_ensure_live(session);
}

enum base_status session_recompute_diverted(struct tql_session *session) {
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *relation = session->relations[i];
    if (!relation->waiting.diverted) continue;
    relation->waiting.diverted = false;
    enum base_status status = session_recompute_dependants(session, relation);
    if (status != BASE_OK) return status;
  }
  return BASE_OK;
}
