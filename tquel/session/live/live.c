/* The live network: all standing queries over relations that are fed live, in one network.
 *
 *      records ──▶ pending ──▶ access ──▶ [event-to-period] ──▶ relation-store "R"
 *                                    └──▶ queries ──▶ relation-store "D" ──▶ queries ... ──▶ display
 *
 * It is built by replaying the store: access nodes first read what is stored, from each relation's horizon up to its
 * checkpoint, while the stores of those relations follow without writing (their rows are there already)
 * and the stores of derived relations write only what is not there yet; then batches are pushed. Whatever changes the set of
 * standing queries or of live relations drops the network; it is built again when it is needed.
 *
 * Invariant: a record is pending (in tq_pending once committed) or it has been pushed, never both.    */
#include <stdlib.h>
#include <strings.h>

#include "tquel/session/control/control.h"
#include "tquel/session/live/live.h"
#include "tquel/session/losses/losses.h"
#include "tquel/session/queries/queries.h"
#include "tquel/session/records/records.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/tables/tables.h"
#include "tquel/session/users/users.h"

/* --- building */

static enum base_status open_replay(void *context, const struct ng_relation *ng,
                                    const struct net_layout *layout, enum net_scan_form form,
                                    const struct net_wanted *wanted, struct net_source **ret) {
  struct tql_session *session = context;
  struct session_relation *relation = session_of(session, ng);
  struct net_store *store = st_net(session->database);
  uint32_t rows = session->options.batch_rows ? session->options.batch_rows : NET_BATCH_ROWS;
  struct base_arena *arena = base_arena_new();
  struct net_wanted since = session_not_over_before(relation, relation->keep.horizon);
  if (wanted != NULL) since = net_wanted_both(arena, wanted, &since);
  struct net_scan scan = {ng->name, layout, form, relation->checkpoint, rows, &since};
  enum base_status status = store->class->scan(store, &scan, ret);
  base_arena_free(arena);
  if (status != BASE_OK) return status;
  status = session_join_alike(session, relation, layout, rows, ret);
  if (status != BASE_OK) (*ret)->free(*ret);
  return status;
}

static void remember_access(void *context, const struct ng_relation *ng, enum net_scan_form form,
                            struct net_node *access) {
  (void)form;
  struct session_relation *relation = session_of(context, ng);
  base_grow(&relation->network.accesses, &relation->network.access_capacity,
            relation->network.access_count + 1, sizeof *relation->network.accesses);
  relation->network.accesses[relation->network.access_count++] = access;
}

static struct net_node *derived_node(void *context, const struct ng_relation *ng) {
  return session_of(context, ng)->network.store_node;
}

/* A run-time error in a standing query: the combination goes to Rejected. */
static bool reject_combination(void *context, const struct net_node *node,
                               enum net_eval_error error, const struct net_layout *layout,
                               const union net_slot *row) {
  struct tql_session *session = context;
  struct base_buffer record = BASE_BUFFER_EMPTY;
  session_print_tuple(session, &record, layout, row);
  const char *name = net_node_result_name(node);
  if (error == NET_EVAL_TICKS)
    base_report(session->diags, MSG_COMBINATION_REJECTED, NULL, NULL,
                "%s: %s, from %s on, which is in Rejected", name ? name : "a view",
                net_eval_error_text(error), base_buffer_text(&record));
  enum base_status status = session_divert_combination(
      session, name ? session_find(session, name) : NULL, row[0].i, net_eval_error_text(error),
      base_buffer_text(&record), record.length);
  base_buffer_done(&record);
  return status == BASE_OK;
}

static void must_link(struct net_node *from, struct net_node *to) {
  enum base_status status = net_link(from, to, 0);
  BASE_CHECK(status == BASE_OK, "live-link");
}

/* access ─▶ [event-to-period] ─▶ relation-store of a primitive relation. */
static enum base_status build_store(struct tql_session *session,
                                    struct session_relation *relation) {
  if (session_is_sampled(relation)) {
    struct net_node *access = NULL;
    enum base_status built = session_build_samples(session, relation, &access);
    if (built == BASE_OK) remember_access(session, &relation->ng, NET_SCAN_RECORDS, access);
    return built;
  }
  struct net_network *network = session->live;
  const char *name = relation->ng.name;
  const struct net_layout *layout = session_write_layout(relation);
  struct net_source *source = NULL;
  enum base_status status = open_replay(
      session, &relation->ng, layout,
      session_has_records(relation) ? NET_SCAN_RECORDS : NET_SCAN_TUPLES, NULL, &source);
  if (status != BASE_OK) return status;
  struct net_node *top = net_create_access(network, name, layout, source, false);
  net_access_set_passed(top, relation->passed);
  remember_access(session, &relation->ng, NET_SCAN_RECORDS, top);
  if (session_has_records(relation)) {
    struct net_node *periods = net_create_event_to_period(
        network, name, layout, relation->ng.layout, &relation->ng.entity);
    must_link(top, periods);
    top = relation->network.periods = periods;
  }
  relation->network.store_node =
      net_create_relation_store(network, name, relation->ng.layout, st_net(session->database));
  net_store_node_set_replaying(relation->network.store_node, true);
  must_link(top, relation->network.store_node);
  return BASE_OK;
}

/* Does it depend on a sampled relation that is live? What stands in its table was then perhaps made of
 * runs as if they had ended (samples.c).                                                           */
static bool depends_on_runs(struct tql_session *session, const struct session_relation *relation) {
  for (size_t i = 0; i < session->relation_count; i++)
    if (session_is_sampled(session->relations[i]) && session->relations[i]->live &&
        session_depends(session, relation, session->relations[i]))
      return true;
  return false;
}

static enum base_status build_query(struct tql_session *session,
                                    struct session_relation *relation) {
  bool fixed_now;
  enum base_status fixed = session_fix_origin(session, relation, &fixed_now);
  if (fixed != BASE_OK) return fixed;
  const struct ng_query *query = session_query(session, relation);
  struct ng_plan *plan;
  struct ng_inputs inputs = {.context = session,
                             .owner = relation->ng.name,
                             .source = open_replay,
                             .made = remember_access,
                             .derived = derived_node,
                             .passed = session_passed,
                             .counts = session_count_live,
                             .control = session_control_of,
                             .watches = session_note_watch,
                             .shared = session->live_nodes};
  enum base_status status =
      session_live_plan(session, relation, query, net_network_arena(session->live), &plan);
  if (status != BASE_OK) return status;
  struct net_node *result = NULL;
  status = ng_plan_build(plan, session->live, &inputs, session->diags, &result);
  if (status != BASE_OK) return status;
  relation->derived.stale |= depends_on_runs(session, relation);
  if (query->summary) {
    status = session_build_summary(session, relation);
    if (status != BASE_OK) return status;
  } else {
    relation->network.store_node = net_create_relation_store(
        session->live, relation->ng.name, query->layout, st_net(session->database));
  }
  must_link(result, relation->network.store_node);
  if (query->summary) return BASE_OK;
  if (!relation->derived.stale) {
    /* Its inputs may have come further than it had: the replay says more than is stored. */
    status = net_store_node_set_stored(relation->network.store_node, relation->checkpoint);
    if (status != BASE_OK) return status;
    return st_clear_open(session->database, relation->ng.name, relation->checkpoint);
  }
  status = session_refuse_anew(session, relation);
  if (status == BASE_OK) status = session_complete(session, relation);
  if (status != BASE_OK) return status;
  /* Computed anew: what was promised of the old tuples does not hold for the new ones. */
  struct net_store *store = st_net(session->database);
  relation->checkpoint = NET_BEGINNING;
  status = st_clear(session->database, relation->ng.name);
  if (status == BASE_OK) status = store->class->checkpoint(store, relation->ng.name, NET_BEGINNING);
  return status;
}

struct display_context {
  struct tql_session *session;
  const struct session_relation *relation;
};

static void show_on(struct session_display *display, const struct display_context *showing,
                    const struct net_batch *batch) {
  const struct tql_session *session = showing->session;
  if (display->certain != NULL) {
    display->news = true;
    return;
  }
  if (!session->displays_on && (display->shown || !showing->relation->derived.begins)) return;
  const struct tql_output *output =
      display->seat == session->seats[0] ? session->output : &display->seat->output;
  if (output == NULL || output->live == NULL) return;
  for (uint32_t i = 0; i < batch->count; i++)
    output->live(output->context, showing->relation->ng.name, showing->relation->ng.layout,
                 net_batch_row(batch, i), net_batch_marks(batch, i), batch->checkpoint);
  display->shown |= batch->count > 0 && session->displays_on;
}

static enum base_status show(void *context, const struct net_batch *batch) {
  const struct display_context *showing = context;
  const struct tql_session *session = showing->session;
  for (size_t i = 0; i < session->display_count; i++) {
    struct session_display *display = session->displays[i];
    if (display->seat != NULL && strcasecmp(display->name, showing->relation->ng.name) == 0)
      show_on(display, showing, batch);
  }
  return BASE_OK;
}

/* Whoever displays a relation comes and goes without the network being built anew, which would read all that
 * is stored: so each has a sink for displays. A view is there for its displays alone, perhaps. */
static void build_displays(struct tql_session *session) {
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *relation = session->relations[i];
    if (relation->network.store_node == NULL ||
        (relation->view && !session_is_displayed(session, relation)))
      continue;
    struct display_context *context =
        BASE_NEW(net_network_arena(session->live), struct display_context);
    *context = (struct display_context){session, relation};
    must_link(relation->network.store_node, net_create_display(session->live, relation->ng.name,
                                                               relation->ng.layout, show, context));
  }
}

bool session_has_displays_sink(const struct tql_session *session,
                               const struct session_relation *relation) {
  return session->live != NULL && relation->network.store_node != NULL && !relation->view;
}

void session_drop_live(struct tql_session *session) {
  session_hold_control(session);
  for (size_t i = 0; i < session->relation_count; i++) {
    session->relations[i]->network.store_node = session->relations[i]->network.periods = NULL;
    session->relations[i]->network.access_count = session->relations[i]->network.ask_count = 0;
    session->relations[i]->network.count_count = 0;
  }
  net_network_free(session->live);
  session->live = NULL;
  session_forget_node_stats(session);
  ng_shared_free(session->live_nodes);
  session->live_nodes = NULL;
  session_sweep_displays(session);
}

/* The least checkpoint of what RELATION reads. */
static net_chronon known_until(struct tql_session *session, const struct session_relation *relation,
                               uint64_t walk) {
  net_chronon least = NET_FOREVER;
  for (size_t i = 0; i < relation->derived.input_count; i++) {
    struct session_relation *input = session_find(session, relation->derived.inputs[i]);
    if (input == NULL || !session_visit(input, walk)) continue;
    bool inlined = input->view && input->network.store_node == NULL;
    net_chronon its = inlined ? known_until(session, input, walk) : input->checkpoint;
    if (its < least) least = its;
  }
  return least;
}

void session_follow_checkpoints(struct tql_session *session) {
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *relation = session->relations[i];
    if (!session_is_derived(relation) || relation->network.store_node == NULL) continue;
    if (session_is_summary(relation)) {
      relation->checkpoint = known_until(session, relation, ++session->walks);
      continue;
    }
    net_chronon checkpoint = net_node_checkpoint(relation->network.store_node);
    if (checkpoint > relation->checkpoint || relation->derived.stale)
      relation->checkpoint = checkpoint;
  }
}

/* Views are built where a display or a standing query in the live network reads them. */
static bool is_wanted(struct tql_session *session, const struct session_relation *view) {
  for (size_t i = 0; i < session->display_count; i++)
    if (strcasecmp(session->displays[i]->name, view->ng.name) == 0 &&
        session_depends_on_live(session, view))
      return true;
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *reader = session->relations[i];
    if (session_depends(session, reader, view) &&
        (reader->view ? is_wanted(session, reader) : session_depends_on_live(session, reader)))
      return true;
  }
  return false;
}

static enum base_status build_view(struct tql_session *session, struct session_relation *view) {
  struct ng_inputs inputs = {.context = session,
                             .source = open_replay,
                             .made = remember_access,
                             .derived = derived_node,
                             .passed = session_passed,
                             .counts = session_count_live,
                             .control = session_control_of,
                             .watches = session_note_watch,
                             .shared = session->live_nodes};
  if (!is_wanted(session, view) || session_view_is_inlined(session, view)) return BASE_OK;
  return session_build_view(session, view, session->live, &inputs, &view->network.store_node);
}

static enum base_status wake_samples(struct tql_session *session);

/* From here on what comes is new. */
static enum base_status end_replay(struct tql_session *session) {
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < session->relation_count && status == BASE_OK; i++) {
    const struct session_relation *relation = session->relations[i];
    if (relation->network.store_node == NULL || relation->view || session_is_sampled(relation))
      continue;
    if (session_is_summary(relation)) {
      status = session_end_summary_replay(session, session->relations[i]);
      continue;
    }
    net_store_node_set_replaying(relation->network.store_node, false);
    status = net_store_node_set_stored(relation->network.store_node, NET_BEGINNING);
  }
  for (size_t i = 0; i < session->relation_count && status == BASE_OK; i++)
    session->relations[i]->derived.stale = session->relations[i]->derived.begins = false;
  return status;
}

enum base_status session_ensure_live(struct tql_session *session) {
  if (session->live != NULL) return BASE_OK;
  enum base_status status = wake_samples(session);
  if (status == BASE_OK) status = session_find_horizons(session);
  if (status == BASE_OK) status = session_find_whole(session);
  if (status != BASE_OK) return status;
  session->live = net_network_new(session->strings, session->timeline, session->diags);
  if (!session->seats[0]->switches.off[NG_RULE_COMMON_SUBNETWORKS])
    session->live_nodes = ng_shared_new();
  if (session->options.batch_rows)
    net_network_set_batch_rows(session->live, session->options.batch_rows);
  if (session->options.checked) net_network_set_checked(session->live);
  net_network_on_reject(session->live, reject_combination, session);
  for (size_t i = 0; status == BASE_OK && i < session->relation_count; i++) {
    struct session_relation *relation = session->relations[i];
    if (relation->view) {
      status = build_view(session, relation);
    } else if (session_is_derived(relation)) {
      if (session_depends_on_live(session, relation)) status = build_query(session, relation);
    } else if (relation->live) {
      status = build_store(session, relation);
    }
  }
  if (status == BASE_OK) {
    build_displays(session);
    net_freeze(session->live);
    net_network_measure(session->live);
    base_strings_pin_all(
        session->strings); /* the constants of its programs; no rows have come yet */
    session->displays_on = false;
    session_replay_triggers(session);
    status = net_run(session->live);
    session_triggers_live(session);
    session->displays_on = true;
    session_follow_checkpoints(session);
  }
  if (status == BASE_OK) status = end_replay(session);
  if (status != BASE_OK) session_drop_live(session);
  return status;
}

/* --- a relation becomes live */

/* A relation that counted as closed is open again behind the latest start it has seen. */
static enum base_status reopen(struct tql_session *session, struct session_relation *relation) {
  bool any = false;
  net_chronon first, last;
  enum base_status status =
      session_is_sampled(relation)
          ? st_samples_latest(session->database, relation->ng.name, &any, &last)
          : st_extent(session->database, relation->ng.name, &any, &first, &last);
  if (status != BASE_OK) return status;
  relation->checkpoint = any ? net_chronon_add(last, 1) : NET_BEGINNING;
  if (relation->keep.incomplete && relation->passed > relation->checkpoint)
    relation->checkpoint = relation->passed; /* what it was last may be gone */
  session_mark_stale(session, relation);
  status = session_note_passed(session, relation, relation->checkpoint);
  if (status != BASE_OK) return status;
  struct net_store *store = st_net(session->database);
  return store->class->checkpoint(store, relation->ng.name, relation->checkpoint);
}

static enum base_status go_live(struct tql_session *session, struct session_relation *relation) {
  enum base_status status = BASE_OK;
  if (!session_has_records(relation)) status = session_find_open_rows(session, relation);
  if (status == BASE_OK) status = session_load_pending(session, relation);
  if (status != BASE_OK) return status;
  relation->live = true;
  bool any_pending = net_inbox_rows(&relation->waiting.pending) > 0;
  bool finite = relation->checkpoint != NET_BEGINNING && relation->checkpoint != NET_FOREVER;
  bool corrects = finite && !any_pending && !session_has_incomplete_readers(session, relation);
  relation->waiting.boundary = corrects ? relation->checkpoint - 1 : NET_BEGINNING;
  return BASE_OK;
}

enum base_status session_wake(struct tql_session *session, struct session_relation *relation) {
  if (!relation->live) {
    session_drop_live(session);
    enum base_status status = BASE_OK;
    if (relation->checkpoint == NET_FOREVER) status = reopen(session, relation);
    if (status == BASE_OK) status = go_live(session, relation);
    if (status != BASE_OK) return status;
  } else if (!relation->waiting.has_pending) {
    /* After a reload of the catalogue. */
    enum base_status status =
        session_has_records(relation) ? BASE_OK : session_find_open_rows(session, relation);
    if (status == BASE_OK) status = session_load_pending(session, relation);
    if (status != BASE_OK) return status;
  }
  return BASE_OK;
}

enum base_status session_make_live(struct tql_session *session, struct session_relation *relation) {
  enum base_status status = session_wake(session, relation);
  return status == BASE_OK ? session_ensure_live(session) : status;
}

/* Sampled relations that were fed in an earlier session, where a query reads them beside a live one: their
 * tables do not tell the live network which runs may go on, their samples do.                      */
static enum base_status wake_samples(struct tql_session *session) {
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *relation = session->relations[i];
    if (!session_is_sampled(relation) || relation->live || relation->checkpoint == NET_FOREVER)
      continue;
    bool read = false;
    for (size_t j = 0; j < session->relation_count; j++)
      read |= session_depends(session, session->relations[j], relation) &&
              session_depends_on_live(session, session->relations[j]);
    enum base_status status = read ? go_live(session, relation) : BASE_OK;
    if (status != BASE_OK) return status;
  }
  return BASE_OK;
}
