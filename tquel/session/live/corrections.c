/* Records before the checkpoint that are no broken promise: they go into the table, and what depends on them is computed
 * anew. A statement's own are beside a feed, and so is what comes at the very last time of a feed that has ended. And the
 * end records of feeds, which close what they name, and rounds of samples, as either may be that. */
#include <stdlib.h>
#include <string.h>

#include "tquel/session/live/live.h"
#include "tquel/session/records/bringers.h"
#include "tquel/session/records/records.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/tables/tables.h"

enum base_status session_correct(struct tql_session *session, struct session_relation *relation,
                                 const struct net_rows *rows) {
  enum base_status status = session_put(session, relation, rows, NULL);
  if (status != BASE_OK) return status;
  session_mark_stale(session, relation);
  session_drop_live(session);
  if (!session_has_records(relation)) status = session_find_open_rows(session, relation);
  return status == BASE_OK ? session_ensure_live(session) : status;
}

/* An end at the very last time of a feed that ended: no broken promise, but what was made of it before
 * is to be made anew. */
static enum base_status correct_end(struct tql_session *session, struct session_relation *relation,
                                    const union net_slot *open, const union net_slot *row,
                                    uint8_t marks) {
  struct net_rows rows;
  net_rows_init(&rows, session_write_layout(relation));
  if (open == NULL) net_rows_add_copy(&rows, row, marks);
  struct net_store *store = st_net(session->database);
  enum base_status status = BASE_OK;
  if (open != NULL)
    status = store->class->close(store, relation->ng.name, relation->ng.layout, open, row,
                                 marks & NET_DEFINITE);
  if (status == BASE_OK) status = session_correct(session, relation, &rows);
  net_rows_done(&rows);
  return status;
}

static bool names_tuple(const struct net_layout *layout, const struct net_read_event *event,
                        const union net_slot *open) {
  if (open[1].i >= event->time) return false;
  for (uint32_t f = 0; f < layout->field_count; f++) {
    uint32_t slot = layout->fields[f].slot;
    if (event->named[f] && memcmp(open + slot, event->row + slot,
                                  net_type_slots(layout->fields[f].type.base) * sizeof *open) != 0)
      return false;
  }
  return true;
}

/* Closes the open tuples that EVENT names; *WRONG is set when there are none. */
static enum base_status end_periods(struct tql_session *session, struct session_relation *relation,
                                    const struct net_read_event *event, net_chronon limit,
                                    bool correction, const char **wrong) {
  const struct net_layout *layout = relation->ng.layout;
  size_t size = layout->slot_count * sizeof(union net_slot);
  union net_slot *open = base_xmalloc(size), *row = base_xmalloc(size);
  enum base_status status = BASE_OK;
  *wrong = "the end record names no open period";
  for (size_t i = 0; i < relation->waiting.open_rows.count && status == BASE_OK;) {
    if (!names_tuple(layout, event, net_rows_row(&relation->waiting.open_rows, i))) {
      i++;
      continue;
    }
    *wrong = NULL;
    memcpy(open, net_rows_row(&relation->waiting.open_rows, i), size);
    memcpy(row, open, size);
    row[2].i = row[3].i = event->time;
    uint8_t marks = (uint8_t)(relation->waiting.open_rows.marks[i] | NET_CLOSES);
    if (correction) {
      status = correct_end(session, relation, open, row, marks); /* collects the open rows anew */
    } else if (event->time < limit) {
      status = session_take_record(session, relation, row, marks, limit);
      i++; /* late: the tuple stays open */
    } else {
      status = session_take_record(session, relation, row, marks, limit); /* forgets the open row */
    }
  }
  free(open);
  free(row);
  return status;
}

static enum base_status end_entity(struct tql_session *session, struct session_relation *relation,
                                   const struct net_read_event *event, net_chronon limit,
                                   bool correction) {
  const struct net_layout *layout = relation->ng.records;
  union net_slot *row = base_xcalloc(layout->slot_count, sizeof *row);
  memcpy(row, event->row, layout->slot_count * sizeof *row);
  row[0].i = row[1].i = event->time;
  uint8_t marks = NET_DEFINITE | NET_CLOSES;
  enum base_status status = correction ? correct_end(session, relation, NULL, row, marks)
                                       : session_take_record(session, relation, row, marks, limit);
  free(row);
  return status;
}

enum base_status session_take_end(struct tql_session *session, struct session_relation *relation,
                                  const struct net_read_event *event, net_chronon limit) {
  enum base_status status = BASE_OK;
  const char *wrong = NULL;
  bool correction = event->time == relation->waiting.boundary &&
                    relation->checkpoint == net_chronon_add(relation->waiting.boundary, 1);
  if (event->time == NET_FOREVER) {
    wrong = "forever is no time of a record";
  } else if (session_has_records(relation)) {
    wrong = session_unnamed(relation, event);
    if (wrong == NULL) status = end_entity(session, relation, event, limit, correction);
  } else if (relation->ng.layout->tuple_class == NET_EVENT) {
    wrong = "an event has no end";
  } else {
    status = end_periods(session, relation, event, limit, correction, &wrong);
  }
  if (wrong == NULL || status != BASE_OK) return status;
  if (relation->feed != NULL) relation->feed->counts.rejected++;
  net_chronon at = event->time == NET_FOREVER ? relation->checkpoint : event->time;
  struct base_buffer record = BASE_BUFFER_EMPTY;
  session_print_end(session, &record, session_write_layout(relation), event);
  status = session_divert(session, "Rejected", relation, at, wrong, base_buffer_text(&record),
                          record.length);
  base_buffer_done(&record);
  return status;
}

enum base_status session_take_round(struct tql_session *session, struct session_relation *relation,
                                    const struct net_read_event *event, net_chronon limit) {
  const struct net_layout *layout = relation->ng.records;
  struct net_rows round;
  net_rows_init(&round, layout);
  union net_slot *row = net_rows_add(&round, NET_DEFINITE | NET_ROUND);
  row[0].i = row[1].i = event->time;
  enum base_status status;
  if (event->time == relation->waiting.boundary &&
      relation->checkpoint == net_chronon_add(relation->waiting.boundary, 1)) {
    status = session_correct(session, relation, &round);
  } else {
    status = session_take_record(session, relation, row, NET_DEFINITE | NET_ROUND, limit);
  }
  net_rows_done(&round);
  return status;
}
