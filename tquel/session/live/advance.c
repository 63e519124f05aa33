/* The checkpoint of a relation that is fed live advances: what it has passed goes into the network, in order.
 *
 *      pending ──(settled)──▶ rows in order ──▶ access nodes ──▶ the network runs ──▶ origins that are known now
 *
 * What it has not passed waits, and is saved with the group that is committed, so that a later process has it.
 * Events are pushed from where they wait; of traced relations, records that others supersede are dropped
 * first.                                                                                             */
#include <stdlib.h>
#include <string.h>

#include "tquel/session/live/live.h"
#include "tquel/session/queries/queries.h"
#include "tquel/session/records/records.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/tables/tables.h"
#include "tquel/session/users/users.h"

/* So many rows, and nodes get on with them. */
enum { ROWS_A_CHECKPOINT = 16384 };

/* The fields that an access node wants of the rows of BATCH, by name. */
static enum base_status push_narrow(struct net_node *access, const struct net_batch *batch) {
  const struct net_layout *wanted = net_node_layout(access), *from = batch->layout;
  struct net_batch_builder builder;
  uint32_t *sources = base_xcalloc(wanted->slot_count + 1, sizeof *sources); /* of each slot */
  for (uint32_t i = 0; i < wanted->first_domain_slot; i++) sources[i] = i;
  for (uint32_t f = 0; f < wanted->field_count; f++) {
    int source = net_layout_find(from, wanted->fields[f].name);
    BASE_CHECK(source >= 0, "push-field");
    for (uint32_t part = 0; part < net_type_slots(wanted->fields[f].type.base); part++)
      sources[wanted->fields[f].slot + part] = from->fields[source].slot + part;
  }
  net_batch_builder_init(&builder, wanted, batch->count > 0 ? batch->count : 1);
  for (uint32_t i = 0; i < batch->count; i++) {
    const union net_slot *row = net_batch_row(batch, i);
    union net_slot *to = net_batch_builder_add(&builder, net_batch_marks(batch, i));
    for (uint32_t k = 0; k < wanted->slot_count; k++) to[k] = row[sources[k]];
  }
  struct net_batch narrow = net_batch_builder_batch(&builder, batch->checkpoint);
  narrow.bound = batch->bound;
  narrow.more = batch->more;
  enum base_status status = net_access_push(access, &narrow);
  net_batch_builder_done(&builder);
  free(sources);
  return status;
}

static bool same_fields(const struct net_layout *a, const struct net_layout *b) {
  if (a->field_count != b->field_count) return false;
  for (uint32_t f = 0; f < a->field_count; f++)
    if (net_layout_find(b, a->fields[f].name) != (int)f) return false;
  return true;
}

static enum base_status push_batch(struct net_node *access, const struct net_batch *batch) {
  return same_fields(net_node_layout(access), batch->layout) ? net_access_push(access, batch)
                                                             : push_narrow(access, batch);
}

/* How far all that precedes row NEXT of ROWS, events in order, may be worked on: up to that one, unless the one
 * before it is of the same time, which stores keep together.                                        */
static net_chronon reached(const struct net_rows *rows, size_t next, net_chronon before) {
  net_chronon here = net_rows_row(rows, next)[0].i;
  return here > before && here > net_rows_row(rows, next - 1)[0].i ? here : before;
}

/* Of EVENTS each batch is worked on while it is in the caches; the relation itself goes from BEFORE to CHECKPOINT
 * in one step, so who has much to tell at a checkpoint waits for the last batch.                    */
static enum base_status push(const struct tql_session *session, struct session_relation *relation,
                             const struct net_rows *rows, bool events, net_chronon before,
                             net_chronon checkpoint) {
  size_t at = 0, most = session->options.batch_rows;
  if (most == 0) most = NET_BATCH_ROWS;
  enum base_status status = BASE_OK;
  do {
    size_t left = rows->count - at;
    size_t count = left < most ? left : most;
    struct net_batch batch = {.layout = rows->layout,
                              .rows = count > 0 ? net_rows_row(rows, at) : NULL,
                              .marks = count > 0 ? rows->marks + at : NULL,
                              .count = (uint32_t)count,
                              .checkpoint = before,
                              .bound = before};
    at += count;
    if (at == rows->count) {
      batch.checkpoint = checkpoint;
    } else if (events) {
      before = batch.checkpoint = reached(rows, at, before);
      batch.more = true;
    }
    for (size_t a = 0; a < relation->network.access_count && status == BASE_OK; a++)
      status = push_batch(relation->network.accesses[a], &batch);
  } while (at < rows->count && status == BASE_OK);
  return status;
}

/* Of the records of one entity at one time only the last in sequence survives. */
static void drop_superseded(struct session_relation *relation, struct net_rows *rows,
                            size_t first) {
  if (relation->kind != ST_TRACED || rows->count - first < 2) return;
  const struct net_key *entity = &relation->ng.entity;
  uint32_t *slots = session_key_slots(rows->layout, entity);
  struct net_rowmap last;
  net_rowmap_init(&last, rows->layout, NET_KEY_SLOTS, 0, slots, entity->count, sizeof(size_t));
  for (size_t i = first; i < rows->count; i++) {
    const union net_slot *row = net_rows_row(rows, i);
    if ((rows->marks[i] & NET_CLOSES) || row[0].i != row[1].i) continue;
    *(size_t *)net_rowmap_state(&last, net_rowmap_put(&last, row, NULL)) = i;
  }
  size_t kept = first, bytes = rows->layout->slot_count * sizeof(union net_slot);
  for (size_t i = first; i < rows->count; i++) {
    const union net_slot *row = net_rows_row(rows, i);
    bool starts = !(rows->marks[i] & NET_CLOSES) && row[0].i == row[1].i;
    size_t survivor = starts ? *(size_t *)net_rowmap_state(&last, net_rowmap_find(&last, row)) : i;
    if (survivor != i) {
      relation->waiting.superseded += memcmp(net_rows_row(rows, survivor), row, bytes) != 0;
      continue;
    }
    memmove(net_rows_row(rows, kept), row, rows->layout->slot_count * sizeof *row);
    rows->marks[kept++] = rows->marks[i];
  }
  rows->count = kept;
  net_rowmap_done(&last);
  free(slots);
}

/* Equal tuples of one start are one, definite if any of them is: a network that knows of two, and sees their
 * stops only when the checkpoint has passed these, could not tell before then that they are.         */
static void drop_repeated(struct session_relation *relation, struct net_rows *rows, size_t first) {
  if (relation->kind != ST_PERIOD || rows->count - first < 2) return;
  uint32_t slots = rows->layout->slot_count;
  uint32_t *whole = base_xcalloc(slots, sizeof *whole);
  for (uint32_t i = 0; i < slots; i++) whole[i] = i;
  struct net_rowmap kept_at;
  net_rowmap_init(&kept_at, rows->layout, NET_KEY_SLOTS, 0, whole, slots, sizeof(size_t));
  size_t kept = first;
  for (size_t i = first; i < rows->count; i++) {
    const union net_slot *row = net_rows_row(rows, i);
    bool fresh = true, whole_row = row[2].i != NET_OPEN && !(rows->marks[i] & ~NET_DEFINITE);
    if (whole_row) {
      uint32_t place = net_rowmap_put(&kept_at, row, &fresh);
      size_t *at = net_rowmap_state(&kept_at, place);
      if (fresh)
        *at = kept;
      else
        rows->marks[*at] |= rows->marks[i];
    }
    relation->waiting.repeated += !fresh;
    if (!fresh) continue;
    memmove(net_rows_row(rows, kept), row, slots * sizeof *row);
    rows->marks[kept++] = rows->marks[i];
  }
  rows->count = kept;
  net_rowmap_done(&kept_at);
  free(whole);
}

/* Records with uncertain times may be clipped by later ones: until the checkpoint has passed their
 * latest bound, it does not pass their earliest.                                                    */
static net_chronon settled_checkpoint(const struct session_relation *relation,
                                      net_chronon checkpoint) {
  if (relation->kind != ST_TRACED || checkpoint == NET_FOREVER) return checkpoint;
  const struct net_inbox_port *port = &relation->waiting.pending.ports[0];
  net_chronon settled = checkpoint;
  const union net_slot *row;
  uint8_t marks;
  for (size_t i = 0; (row = net_inbox_waiting(port, i, &marks)); i++)
    if (row[0].i < settled && row[1].i > row[0].i && row[1].i >= checkpoint) settled = row[0].i;
  return settled;
}

/* Aggregates whose inputs were empty so far began at the first tuple that came to them; that need not be
 * the earliest of the query's inputs: when that is known, the query is computed anew from there.    */
static enum base_status fix_origins(struct tql_session *session, bool *ret_rebuild) {
  *ret_rebuild = false;
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *relation = session->relations[i];
    if (!session_is_derived(relation) || relation->network.store_node == NULL ||
        relation->derived.origin_fixed)
      continue;
    if (relation->derived.stale) continue; /* an input is about to be computed anew */
    const struct ng_query *query = session_query(session, relation);
    if (query == NULL || !session_wants_origin(query)) continue;
    bool fixed_now;
    enum base_status status = session_save_runs(session); /* tables are asked for first tuples */
    if (status == BASE_OK) status = session_fix_origin(session, relation, &fixed_now);
    if (status != BASE_OK) return status;
    if (!fixed_now) continue;
    relation->derived.stale = relation->derived.begins = *ret_rebuild = true;
    for (size_t j = i + 1; j < session->relation_count; j++)
      if (session_depends(session, session->relations[j], relation))
        session->relations[j]->derived.stale = session->relations[j]->derived.begins = true;
  }
  return BASE_OK;
}

static enum base_status settle_origins(struct tql_session *session) {
  bool rebuild = session->timeline == NET_TIMELINE_REAL;
  enum base_status status = BASE_OK;
  while (rebuild && status == BASE_OK) {
    status = fix_origins(session, &rebuild);
    if (status != BASE_OK || !rebuild) continue;
    session_drop_live(session);
    status = session_ensure_live(session);
  }
  return status;
}

/* Of other relations the store node writes the rows and the checkpoint. */
static enum base_status keep_samples(struct tql_session *session, struct session_relation *relation,
                                     const struct net_rows *rows) {
  if (!session_is_sampled(relation)) return BASE_OK;
  relation->network.runs_changed = true;
  enum base_status status = st_samples_add(session->database, relation->ng.name, rows);
  struct net_store *store = st_net(session->database);
  return status == BASE_OK
             ? store->class->checkpoint(store, relation->ng.name, relation->checkpoint)
             : status;
}

/* The records that the checkpoint has passed, in order. They have left what waits also where nothing comes of
 * them: the end of a process that has nothing open. */
static void take_settled(struct session_relation *relation, struct net_rows *rows) {
  struct net_inbox_item item;
  const union net_slot *row;
  size_t group = 0;
  net_chronon group_time = NET_BEGINNING;
  while ((row = net_inbox_next(&relation->waiting.pending, &item, NULL)) != NULL) {
    relation->waiting.pending_changed = true;
    if (item.time != group_time) {
      drop_superseded(relation, rows, group);
      drop_repeated(relation, rows, group);
      group = rows->count;
      group_time = item.time;
    }
    if (item.marks & TQL_CLOSES_ALL)
      session_end_all(relation, row, rows);
    else
      net_rows_add_copy(rows, row, item.marks);
  }
  drop_superseded(relation, rows, group);
  drop_repeated(relation, rows, group);
  net_inbox_tidy(&relation->waiting.pending);
}

/* ... of an event relation, where they stand: nobody adds to them while they go through the network. */
static void view_settled(struct session_relation *relation, struct net_rows *rows) {
  const union net_slot *first;
  const uint8_t *marks;
  rows->count = net_inbox_take_starts(&relation->waiting.pending, &first, &marks);
  rows->rows = (union net_slot *)first;
  rows->marks = (uint8_t *)marks;
}

enum base_status session_advance(struct tql_session *session, struct session_relation *relation,
                                 net_chronon checkpoint) {
  checkpoint = settled_checkpoint(relation, checkpoint);
  if (checkpoint <= relation->checkpoint) return BASE_OK;
  const struct net_layout *layout = session_write_layout(relation);
  struct net_batch promise = {.layout = layout, .checkpoint = checkpoint};
  net_inbox_add(&relation->waiting.pending, 0, &promise);
  struct net_rows rows;
  net_rows_init(&rows, layout);
  bool events = relation->kind == ST_EVENT && net_inbox_has_starts_only(&relation->waiting.pending);
  if (events)
    view_settled(relation, &rows);
  else
    take_settled(relation, &rows);
  if (rows.count > 0) relation->waiting.pending_changed = true;
  net_chronon before = relation->checkpoint;
  relation->checkpoint = checkpoint;
  session_doubt_displays(session, false); /* more is known, also where the network waits */
  enum base_status status = session_note_passed(session, relation, checkpoint);
  if (status == BASE_OK) status = keep_samples(session, relation, &rows);
  if (status == BASE_OK) status = push(session, relation, &rows, events, before, checkpoint);
  if (events)
    net_inbox_tidy(&relation->waiting.pending);
  else
    net_rows_done(&rows);
  if (status == BASE_OK) status = net_run(session->live); /* clocks tick behind what was pushed */
  session_follow_checkpoints(session);
  return status == BASE_OK ? settle_origins(session) : status;
}

enum base_status session_save_pending(struct tql_session *session) {
  enum base_status saved = session_save_runs(session);
  if (saved == BASE_OK) saved = session_save_alike(session);
  if (saved == BASE_OK) saved = session_save_summaries(session);
  if (saved != BASE_OK) return saved;
  for (size_t i = 0; i < session->relation_count; i++) {
    struct session_relation *relation = session->relations[i];
    if (!relation->waiting.has_pending || !relation->waiting.pending_changed) continue;
    const struct net_inbox_port *port = &relation->waiting.pending.ports[0];
    struct net_rows rows;
    net_rows_init(&rows, port->layout);
    const union net_slot *row;
    uint8_t marks;
    for (size_t j = 0; (row = net_inbox_waiting(port, j, &marks)); j++)
      net_rows_add_copy(&rows, row, marks);
    enum base_status status = st_pending_save(session->database, relation->ng.name, rows.layout,
                                              rows.rows, rows.marks, rows.count);
    net_rows_done(&rows);
    if (status != BASE_OK) return status;
    relation->waiting.pending_changed = false;
  }
  return BASE_OK;
}
