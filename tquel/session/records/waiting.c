/* Records that wait for the checkpoint of their relation, and the open tuples that such a record may close. One that comes
 * behind the checkpoint is late. */
#include <string.h>

#include "tquel/session/records/bringers.h"
#include "tquel/session/records/records.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/tables/tables.h"

/* Takes row INDEX out of the open rows. */
static void forget_open(struct session_relation *relation, size_t index) {
  struct net_rows *rows = &relation->waiting.open_rows;
  size_t last = rows->count - 1;
  memmove(net_rows_row(rows, index), net_rows_row(rows, last),
          rows->layout->slot_count * sizeof *rows->rows);
  rows->marks[index] = rows->marks[last];
  rows->count--;
}

/* A row of a period relation that has come: it opens, or closes one that is open. */
static void note_open(struct session_relation *relation, const union net_slot *row, uint8_t marks) {
  const struct net_layout *layout = relation->ng.layout;
  if (session_has_records(relation) || layout->tuple_class == NET_EVENT) return;
  if (!(marks & NET_CLOSES)) {
    if (net_row_is_open(layout, row)) net_rows_add_copy(&relation->waiting.open_rows, row, marks);
    return;
  }
  for (size_t i = 0; i < relation->waiting.open_rows.count; i++)
    if (net_row_same_identity(layout, net_rows_row(&relation->waiting.open_rows, i), row)) {
      forget_open(relation, i);
      return;
    }
}

static enum base_status add_open_rows(void *context, const struct net_batch *batch) {
  struct net_rows *open = context;
  for (uint32_t i = 0; i < batch->count; i++)
    if (net_row_is_open(batch->layout, net_batch_row(batch, i)))
      net_rows_add_copy(open, net_batch_row(batch, i), net_batch_marks(batch, i));
  return BASE_OK;
}

enum base_status session_find_open_rows(struct tql_session *session,
                                        struct session_relation *relation) {
  if (relation->waiting.open_rows.layout != NULL) net_rows_done(&relation->waiting.open_rows);
  net_rows_init(&relation->waiting.open_rows, relation->ng.layout);
  struct net_wanted wanted = session_not_over_before(relation, relation->checkpoint);
  struct net_scan scan = {.relation = relation->ng.name,
                          .layout = relation->ng.layout,
                          .form = NET_SCAN_TUPLES,
                          .checkpoint = NET_FOREVER,
                          .wanted = &wanted};
  bool event = relation->ng.layout->tuple_class == NET_EVENT; /* of which none is open */
  enum base_status status = event
                                ? BASE_OK
                                : net_store_each_batch(st_net(session->database), &scan,
                                                       add_open_rows, &relation->waiting.open_rows);
  const struct net_inbox_port *port = &relation->waiting.pending.ports[0];
  const union net_slot *row;
  uint8_t marks;
  for (size_t i = 0; relation->waiting.has_pending && (row = net_inbox_waiting(port, i, &marks));
       i++)
    note_open(relation, row, marks);
  return status;
}

static void add_pending(struct session_relation *relation, const union net_slot *row,
                        uint8_t marks) {
  struct net_batch batch = {.layout = session_write_layout(relation),
                            .rows = row,
                            .marks = &marks,
                            .count = 1,
                            .checkpoint = NET_BEGINNING};
  net_inbox_add(&relation->waiting.pending, 0, &batch);
  relation->waiting.pending_changed = true;
  if (row[0].i > relation->waiting.latest) relation->waiting.latest = row[0].i;
  note_open(relation, row, marks);
}

void session_add_events(struct session_relation *relation, const union net_slot *rows,
                        const uint8_t *marks, size_t count) {
  const struct net_layout *layout = session_write_layout(relation);
  BASE_CHECK(relation->kind == ST_EVENT, "pending-events");
  relation->waiting.pending_changed |= count > 0;
  for (size_t i = 0; i < count; i++)
    if (rows[i * layout->slot_count].i > relation->waiting.latest)
      relation->waiting.latest = rows[i * layout->slot_count].i;
  for (size_t at = 0; at < count; at += NET_BATCH_ROWS) {
    size_t left = count - at;
    struct net_batch batch = {.layout = layout,
                              .rows = rows + at * layout->slot_count,
                              .marks = marks + at,
                              .count = (uint32_t)(left < NET_BATCH_ROWS ? left : NET_BATCH_ROWS),
                              .checkpoint = NET_BEGINNING};
    net_inbox_add(&relation->waiting.pending, 0, &batch);
  }
}

enum base_status session_load_pending(struct tql_session *session,
                                      struct session_relation *relation) {
  const struct net_layout *layout = session_write_layout(relation);
  struct net_rows rows;
  net_rows_init(&rows, layout);
  enum base_status status = st_pending_load(session->database, relation->ng.name, layout, &rows);
  if (relation->waiting.has_pending) net_inbox_done(&relation->waiting.pending);
  net_inbox_init(&relation->waiting.pending, layout, NULL,
                 session_has_records(relation) ? NET_CLOSES_BEFORE_RECORDS : NET_CLOSES_AT_STOPS);
  relation->waiting.has_pending = true;
  for (size_t i = 0; status == BASE_OK && i < rows.count; i++)
    add_pending(relation, net_rows_row(&rows, i), rows.marks[i]);
  relation->waiting.pending_changed = false;
  net_rows_done(&rows);
  return status;
}

enum base_status session_set_pending(struct tql_session *session, struct session_relation *relation,
                                     const struct net_rows *rows) {
  enum base_status status = st_pending_save(session->database, relation->ng.name, rows->layout,
                                            rows->rows, rows->marks, rows->count);
  return status == BASE_OK ? session_load_pending(session, relation) : status;
}

net_chronon session_record_time(const struct session_relation *relation, const union net_slot *row,
                                uint8_t marks) {
  return (marks & NET_CLOSES) && !session_has_records(relation) ? row[2].i : row[0].i;
}

enum base_status session_take_record(struct tql_session *session, struct session_relation *relation,
                                     const union net_slot *row, uint8_t marks, net_chronon limit) {
  net_chronon time = session_record_time(relation, row, marks);
  if (time >= limit) {
    add_pending(relation, row, marks);
    return BASE_OK;
  }
  if (relation->feed != NULL) relation->feed->counts.late++;
  struct base_buffer record = BASE_BUFFER_EMPTY;
  if (marks & NET_ROUND)
    base_buffer_printf(&record, "{\"round\": %lld}", (long long)time);
  else
    session_print_row(session, &record, session_write_layout(relation), row);
  enum base_status status = session_divert(session, "Late", relation, time, "before the checkpoint",
                                           base_buffer_text(&record), record.length);
  base_buffer_done(&record);
  return status;
}

bool session_has_open(const struct session_relation *relation, const union net_slot *row) {
  for (size_t i = 0; i < relation->waiting.open_rows.count; i++)
    if (net_row_same_identity(relation->ng.layout, net_rows_row(&relation->waiting.open_rows, i),
                              row))
      return true;
  return false;
}

const char *session_unnamed(const struct session_relation *relation,
                            const struct net_read_event *event) {
  const struct net_key *by = &relation->ng.by, *entity = &relation->ng.entity;
  for (size_t i = 0; i < entity->count; i++) {
    if (event->named[entity->fields[i]]) continue;
    return i < by->count ? "the end record does not name the entity"
                         : "the end record does not name the entity's process";
  }
  return NULL;
}
