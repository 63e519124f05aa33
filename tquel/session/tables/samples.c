/* Sampled relations: the records are kept (tq_sample), the relation's table is made from them.
 *
 *      written:  records ──▶ tq_sample ──▶ samples-to-period ──▶ table "S", anew
 *      live:     records ──▶ tq_sample
 *                       └──▶ access ──▶ samples-to-period ──▶ queries
 *                                                        └──▶ table "S"
 *
 * A row of the table is never open: a run that may go on stands there as what is known of it, stop =
 * [last sample + 1, forever]. Live, such rows are rewritten before each commit and each statement
 * (session_save_runs); runs that have ended are written when they end. Queries that are not live read the table; standing ones
 * read the samples-to-period node of the live network, which knows what is open. What they made of a
 * run that was written as if it had ended is of no use to a live network: they are computed anew when
 * one is built.                                                                                     */
#include <string.h>

#include "tquel/session/session_impl.h"
#include "tquel/session/tables/tables.h"

const char *session_sample_fault(const union net_slot *row, uint8_t marks) {
  if (row[0].i != row[1].i) return "the time of a sample must be known";
  if (row[0].i == NET_BEGINNING || row[0].i == NET_FOREVER) return "a sample needs a time";
  if (!(marks & NET_DEFINITE)) return "a sample is there for sure";
  return NULL;
}

enum base_status session_check_samples(struct tql_session *session,
                                       const struct session_relation *relation,
                                       const struct net_rows *rows) {
  for (size_t i = 0; session_is_sampled(relation) && i < rows->count; i++) {
    const char *fault = session_sample_fault(net_rows_row(rows, i), rows->marks[i]);
    if (fault == NULL) continue;
    struct base_buffer text = BASE_BUFFER_EMPTY;
    session_print_row(session, &text, rows->layout, net_rows_row(rows, i));
    base_report(session->diags, MSG_SAMPLE_UNCERTAIN, session->source,
                session->statement ? &session->statement->range : NULL, "%s: %s in %s",
                relation->ng.name, fault, base_buffer_text(&text));
    base_buffer_done(&text);
    return BASE_USER;
  }
  return BASE_OK;
}

/* --- the table */

static enum base_status write_period(struct tql_session *session, struct session_relation *relation,
                                     const union net_slot *row, uint8_t marks) {
  struct net_store *store = st_net(session->database);
  return store->class->put(store, relation->ng.name, relation->ng.layout, row,
                           marks & NET_DEFINITE);
}

struct table_context {
  struct tql_session *session;
  struct session_relation *relation;
};

/* Runs that may go on are written by session_save_runs. */
static enum base_status write_periods(void *context, const struct net_batch *batch) {
  struct table_context *table = context;
  if (!table->session->displays_on) return BASE_OK; /* a replay: they are there */
  for (uint32_t i = 0; i < batch->count; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    if (row[2].i == NET_OPEN || row[3].i == NET_FOREVER) continue;
    enum base_status status =
        write_period(table->session, table->relation, row, net_batch_marks(batch, i));
    if (status != BASE_OK) return status;
  }
  return BASE_OK;
}

static enum base_status write_all_periods(void *context, const struct net_batch *batch) {
  struct table_context *table = context;
  for (uint32_t i = 0; i < batch->count; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    if (row[2].i == NET_OPEN) continue; /* its end comes with the last batch */
    enum base_status status =
        write_period(table->session, table->relation, row, net_batch_marks(batch, i));
    if (status != BASE_OK) return status;
  }
  return BASE_OK;
}

enum base_status session_open_samples(struct tql_session *session,
                                      const struct session_relation *relation,
                                      net_chronon checkpoint, struct net_source **ret) {
  uint32_t rows = session->options.batch_rows ? session->options.batch_rows : NET_BATCH_ROWS;
  return st_samples_scan(session->database, relation->ng.name, relation->ng.records, checkpoint,
                         rows, ret);
}

/* access ─▶ samples-to-period ─▶ SINK; *RET_ACCESS may be NULL. Returns the middle one. */
static struct net_node *build_chain(struct net_network *network,
                                    const struct session_relation *relation,
                                    struct net_source *source, struct net_node *sink,
                                    struct net_node **ret_access) {
  const struct ng_relation *ng = &relation->ng;
  struct net_node *access = net_create_access(network, ng->name, ng->records, source, false);
  net_access_set_passed(access, relation->passed);
  struct net_node *periods =
      net_create_samples_to_period(network, ng->name, ng->records, ng->layout, &ng->entity);
  BASE_CHECK(net_link(access, periods, 0) == BASE_OK && net_link(periods, sink, 0) == BASE_OK,
             "samples-links");
  if (ret_access != NULL) *ret_access = access;
  return periods;
}

static enum base_status make_table(struct tql_session *session, struct session_relation *relation) {
  struct net_source *source = NULL;
  enum base_status status = st_clear(session->database, relation->ng.name);
  if (status == BASE_OK) status = session_open_samples(session, relation, NET_FOREVER, &source);
  if (status != BASE_OK) return status;
  struct net_network *network =
      net_network_new(session->strings, session->timeline, session->diags);
  struct table_context context = {session, relation};
  struct net_node *sink = net_create_display(network, relation->ng.name, relation->ng.layout,
                                             write_all_periods, &context);
  build_chain(network, relation, source, sink, NULL);
  net_freeze(network);
  status = net_run(network);
  net_network_free(network);
  if (relation->network.runs.layout != NULL) net_rows_done(&relation->network.runs);
  relation->network.runs.layout = NULL; /* to be found in the new table */
  return status;
}

static enum base_status collect_periods(void *context, const struct net_batch *batch) {
  for (uint32_t i = 0; i < batch->count; i++)
    if (net_batch_row(batch, i)[2].i != NET_OPEN) /* its end comes with the last batch */
      net_rows_add_copy(context, net_batch_row(batch, i), NET_DEFINITE);
  return BASE_OK;
}

enum base_status session_doubtful_samples(struct tql_session *session,
                                          const struct session_relation *relation,
                                          const struct net_losses *losses, int process,
                                          struct net_rows *ret, bool *ret_matters) {
  struct net_source *source = NULL;
  enum base_status status = session_open_samples(session, relation, NET_FOREVER, &source);
  if (status != BASE_OK) return status;
  struct net_network *network =
      net_network_new(session->strings, session->timeline, session->diags);
  struct net_node *sink =
      net_create_display(network, relation->ng.name, relation->ng.layout, collect_periods, ret);
  struct net_node *periods = build_chain(network, relation, source, sink, NULL);
  net_samples_set_losses(periods, losses, process, ret_matters);
  net_freeze(network);
  status = net_run(network);
  net_network_free(network);
  return status;
}

enum base_status session_put_samples(struct tql_session *session, struct session_relation *relation,
                                     const struct net_rows *rows) {
  enum base_status status = st_samples_add(session->database, relation->ng.name, rows);
  return status == BASE_OK ? make_table(session, relation) : status;
}

/* Is the record one of the samples of a tuple in REMOVED? */
static bool is_removed(const struct session_relation *relation, const struct net_rows *removed,
                       const union net_slot *record, uint8_t marks) {
  const struct net_layout *in = relation->ng.records, *out = relation->ng.layout;
  if (marks & (NET_CLOSES | NET_ROUND)) return false;
  for (size_t i = 0; i < removed->count; i++) {
    const union net_slot *tuple = net_rows_row(removed, i);
    if (record[0].i >= tuple[1].i && record[0].i < tuple[2].i &&
        memcmp(record + in->first_domain_slot, tuple + out->first_domain_slot,
               (in->slot_count - in->first_domain_slot) * sizeof *record) == 0)
      return true;
  }
  return false;
}

enum base_status session_revise_samples(struct tql_session *session,
                                        struct session_relation *relation,
                                        const struct net_rows *removed,
                                        const struct net_rows *added) {
  struct net_rows kept;
  net_rows_init(&kept, relation->ng.records);
  struct net_source *source = NULL;
  struct net_batch batch;
  enum base_status status = session_open_samples(session, relation, NET_FOREVER, &source);
  while (status == BASE_OK && (status = source->next(source, &batch)) == BASE_OK)
    for (uint32_t i = 0; i < batch.count; i++) {
      const union net_slot *row = net_batch_row(&batch, i);
      uint8_t marks = net_batch_marks(&batch, i);
      if (!is_removed(relation, removed, row, marks)) net_rows_add_copy(&kept, row, marks);
    }
  if (source != NULL) source->free(source);
  if (status == BASE_END) status = st_samples_clear(session->database, relation->ng.name);
  if (status == BASE_OK) status = st_samples_add(session->database, relation->ng.name, &kept);
  if (status == BASE_OK) status = session_put_samples(session, relation, added);
  net_rows_done(&kept);
  return status;
}

/* --- live */

enum base_status session_build_samples(struct tql_session *session,
                                       struct session_relation *relation,
                                       struct net_node **ret_access) {
  struct net_network *network = session->live;
  struct net_source *source = NULL;
  enum base_status status = session_open_samples(session, relation, relation->checkpoint, &source);
  if (status != BASE_OK) return status;
  struct table_context *context = BASE_NEW(net_network_arena(network), struct table_context);
  *context = (struct table_context){session, relation};
  struct net_node *sink =
      net_create_display(network, relation->ng.name, relation->ng.layout, write_periods, context);
  relation->network.store_node = build_chain(network, relation, source, sink, ret_access);
  return BASE_OK;
}

static void keep_run(void *context, const union net_slot *row) {
  net_rows_add_copy(context, row, NET_DEFINITE);
}

static bool has_row(const struct net_rows *rows, size_t index, const union net_slot *row) {
  return index < rows->count &&
         memcmp(net_rows_row(rows, index), row, rows->layout->slot_count * sizeof *row) == 0;
}

static enum base_status add_runs(void *context, const struct net_batch *batch) {
  struct net_rows *runs = context;
  for (uint32_t i = 0; i < batch->count; i++)
    if (net_batch_row(batch, i)[3].i == NET_FOREVER)
      net_rows_add_copy(runs, net_batch_row(batch, i), NET_DEFINITE);
  return BASE_OK;
}

/* The rows of the table that a scan finds to be runs which may go on. */
static enum base_status find_runs(struct tql_session *session, struct session_relation *relation) {
  net_rows_init(&relation->network.runs, relation->ng.layout);
  struct net_wanted wanted = NET_WANTED_ALL;
  wanted.stop_hi_min = NET_FOREVER;
  struct net_scan scan = {.relation = relation->ng.name,
                          .layout = relation->ng.layout,
                          .form = NET_SCAN_TUPLES,
                          .checkpoint = NET_FOREVER,
                          .wanted = &wanted};
  return net_store_each_batch(st_net(session->database), &scan, add_runs, &relation->network.runs);
}

/* What the table says of the runs that may go on, as it is now known. Rows that are as they were stay. */
static enum base_status save_runs(struct tql_session *session, struct session_relation *relation) {
  const struct net_layout *layout = relation->ng.layout;
  struct net_rows now;
  enum base_status status = BASE_OK;
  if (relation->network.runs.layout == NULL) status = find_runs(session, relation);
  net_rows_init(&now, layout);
  net_samples_each_run(relation->network.store_node, keep_run, &now);
  for (size_t i = 0; i < relation->network.runs.count && status == BASE_OK; i++)
    if (!has_row(&now, i, net_rows_row(&relation->network.runs, i)))
      status = st_remove(session->database, relation->ng.name, layout,
                         net_rows_row(&relation->network.runs, i));
  /* A row may have moved to another place: then it was taken out above, and is put in again. */
  for (size_t i = 0; i < now.count && status == BASE_OK; i++)
    if (!has_row(&relation->network.runs, i, net_rows_row(&now, i)))
      status = write_period(session, relation, net_rows_row(&now, i), NET_DEFINITE);
  net_rows_done(&relation->network.runs);
  relation->network.runs = now;
  relation->network.runs_changed = false;
  return status;
}

enum base_status session_save_runs(struct tql_session *session) {
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *relation = session->relations[i];
    if (!relation->network.runs_changed || relation->network.store_node == NULL) continue;
    enum base_status status = save_runs(session, relation);
    if (status != BASE_OK) return status;
  }
  return BASE_OK;
}
