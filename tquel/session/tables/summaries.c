/* Summaries that stand: what each group has so far (tquel(7), "retrieve summary").
 *
 *      inputs ──▶ aggregates ──▶ ... ──▶ snapshot-store ──▶ table ──▶ who asks
 *                 a period for each value,              │
 *                 from run to run                       └── written with the group that is committed, and before
 *                                                           a statement looks
 *
 * The definition is that of the summary asked once, and so is what is computed of inputs that nothing feeds. In the
 * live network the same aggregates tell at the end of each run what it has changed; of the periods that they tell, by a
 * time line of their own, the table has those that are open. When a value changes the row before goes, which no network
 * can be told: so nothing that is stored, nor a view, is derived from a summary that stands. */
#include "tquel/session/session_impl.h"
#include "tquel/session/tables/tables.h"

const struct ng_query *session_so_far(struct base_arena *arena, const struct ng_query *query) {
  if (!query->summary) return query;
  struct ng_query *live = BASE_NEW(arena, struct ng_query);
  *live = *query;
  live->so_far = true;
  live->start = live->stop = NULL; /* those of the aggregates */
  live->origin = NET_BEGINNING;
  return live;
}

static enum base_status take_stored(void *context, const struct net_batch *batch) {
  net_snapshot_set_stored(context, batch);
  return BASE_OK;
}

/* Tells the sink what the table has. */
static enum base_status load(struct tql_session *session, struct session_relation *relation) {
  const struct net_scan scan = {.relation = relation->ng.name,
                                .layout = relation->ng.layout,
                                .form = NET_SCAN_TUPLES,
                                .checkpoint = NET_FOREVER};
  return net_store_each_batch(st_net(session->database), &scan, take_stored,
                              relation->network.store_node);
}

enum base_status session_build_summary(struct tql_session *session,
                                       struct session_relation *relation) {
  relation->network.store_node = net_create_snapshot_store(
      session->live, relation->ng.name, relation->ng.layout, st_net(session->database));
  net_snapshot_set_quiet(relation->network.store_node, true);
  return load(session, relation);
}

static enum base_status save(struct tql_session *session, struct session_relation *relation) {
  struct net_store *store = st_net(session->database);
  enum base_status status = net_snapshot_write(relation->network.store_node);
  if (status != BASE_OK) return status;
  return store->class->checkpoint(store, relation->ng.name, relation->checkpoint);
}

enum base_status session_end_summary_replay(struct tql_session *session,
                                            struct session_relation *relation) {
  enum base_status status = save(session, relation);
  net_snapshot_set_quiet(relation->network.store_node, false);
  return status;
}

enum base_status session_save_summaries(struct tql_session *session) {
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < session->relation_count && status == BASE_OK; i++) {
    struct session_relation *relation = session->relations[i];
    if (session_is_summary(relation) && relation->network.store_node != NULL)
      status = save(session, relation);
  }
  return status;
}

enum base_status session_show_summaries(struct tql_session *session) {
  if (!session->group_open) return BASE_OK; /* all that came is committed */
  return session_save_summaries(session);
}

bool session_refuse_summary(struct tql_session *session, const struct ng_query *query) {
  for (size_t i = 0; i < query->variable_count; i++) {
    const struct ng_relation *relation = query->variables[i].relation;
    if (!relation->layout->timeless) continue;
    base_report_hint(
        session->diags, MSG_OF_SUMMARY, session->source, &query->range,
        "ask once, without a name; or store the values with their times: "
        "retrieve into R (n = count(V by V.domain for ever))",
        "%s is a summary, whose rows change without a trace: nothing is derived from it",
        relation->name);
    return true;
  }
  return false;
}
