/* What sources bring: each record is judged before it waits for its checkpoint.
 *
 *      rows ──▶ judged ──▶ pending ──(checkpoint)──▶ live network, tables
 *                  └─────▶ Late, Rejected
 *
 * A row that its relation cannot have is rejected, with the reason; one that comes too late is late; neither
 * ends anything. Of events, which most records are, those of which nothing is to be said are found many
 * at a time and wait as a block: whatever take_row would say of them must be asked there as well.      */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "tquel/session/feeds/feeds.h"
#include "tquel/session/live/live.h"
#include "tquel/session/records/bringers.h"
#include "tquel/session/records/records.h"
#include "tquel/session/sources/sources.h"
#include "tquel/session/tables/tables.h"

/* When a record is rejected, as the relation Rejected has it. */
static net_chronon rejected_at(const struct tql_session *session,
                               const struct session_relation *relation) {
  if (session->timeline == NET_TIMELINE_REAL) return base_env_now();
  return relation == NULL || relation->waiting.latest == NET_BEGINNING ? 0
                                                                       : relation->waiting.latest;
}

static enum base_status reject_row(struct tql_stream *stream, const union net_slot *row,
                                   uint8_t marks, const char *reason) {
  struct tql_session *session = stream->source->session;
  struct base_buffer record = BASE_BUFFER_EMPTY;
  if (marks & NET_ROUND)
    base_buffer_printf(&record, "{\"round\": %" PRId64 "}", row[0].i);
  else
    session_print_row(session, &record, stream->layout, row);
  enum base_status status = session_divert_named(session, "Rejected", stream->relation_name,
                                                 rejected_at(session, stream->relation), reason,
                                                 base_buffer_text(&record), record.length);
  base_buffer_done(&record);
  return status;
}

/* A value that its domain cannot have. An end record has those alone that it names; the others are 0. */
static const char *value_fault(struct tql_session *session, const struct net_layout *layout,
                               const union net_slot *row, uint8_t marks) {
  for (uint32_t f = 0; f < layout->field_count; f++) {
    const struct net_field *field = &layout->fields[f];
    if ((marks & NET_CLOSES) && row[field->slot].i == 0) continue;
    const char *fault = net_type_slots(field->type.base) == 1
                            ? net_value_check_entry(session->strings, field->type, row[field->slot])
                            : NULL;
    if (fault != NULL)
      return base_arena_printf(session->statement_arena, "%s: the value is %s", field->name, fault);
  }
  return NULL;
}

/* Times that no row can have. */
static const char *times_fault(const struct net_layout *layout, const union net_slot *row) {
  if (row[0].i > row[1].i || row[0].i == NET_OPEN) return "the bounds of its time are exchanged";
  if (layout->tuple_class == NET_EVENT) return NULL;
  struct net_period period = {net_row_start(row), net_row_start(row + 2)};
  if (row[2].i == NET_OPEN) period.stop.lo = row[0].i < row[3].i ? row[0].i : row[3].i;
  if (period.stop.lo > period.stop.hi || !net_period_valid(period) ||
      net_nonempty(period) == NET_FALSE)
    return "the period stops before it starts";
  return NULL;
}

/* Ends and rounds that the relation does not have. */
static const char *marks_fault(const struct session_relation *relation, const union net_slot *row,
                               uint8_t marks) {
  if ((marks & NET_ROUND) && !session_is_sampled(relation))
    return "rounds are for sampled relations";
  if (!(marks & NET_CLOSES)) return NULL;
  if (relation->kind == ST_EVENT || relation->kind == ST_SNAPSHOT) return "an event has no end";
  if (relation->kind == ST_PERIOD && (row[2].i == NET_OPEN || !session_has_open(relation, row)))
    return "the end record names no open period";
  return NULL;
}

/* ROW of the stream's layout as the relation has it. */
static const union net_slot *as_relation(const struct tql_stream *stream, const union net_slot *row,
                                         union net_slot *scratch) {
  if (stream->from == NULL) return row;
  const struct net_layout *to = session_write_layout(stream->relation), *from = stream->layout;
  memcpy(scratch, row, to->first_domain_slot * sizeof *scratch);
  for (uint32_t f = 0; f < to->field_count; f++) {
    const struct net_field *source = &from->fields[stream->from[f]], *target = &to->fields[f];
    if (source->type.base == NET_INTEGER && target->type.base == NET_FLOAT)
      scratch[target->slot].f = (double)row[source->slot].i;
    else
      memcpy(scratch + target->slot, row + source->slot,
             net_type_slots(target->type.base) * sizeof *scratch);
  }
  return scratch;
}

struct taking {
  struct tql_stream *stream;
  net_chronon limit;  /* before it a record is late */
  net_chronon future; /* behind it a record is not believed */
  struct net_rows
      *corrections; /* of the last time of a feed that has ended; NULL: there are none */
};

static enum base_status take_round(const struct taking *taking, net_chronon time) {
  struct tql_session *session = taking->stream->source->session;
  struct net_read_event event = {.time = time};
  return session_take_round(session, taking->stream->relation, &event, taking->limit);
}

/* An end that a sensor sends, and that comes too late: what it ends lasted until LIMIT for all that was said. */
static const union net_slot *not_late(const struct session_relation *relation,
                                      const union net_slot *row, net_chronon limit,
                                      union net_slot *scratch) {
  const struct net_layout *layout = session_write_layout(relation);
  if (relation->kind != ST_TRACED) return row;
  if (row != scratch) memcpy(scratch, row, layout->slot_count * sizeof *scratch);
  scratch[0].i = limit;
  if (scratch[1].i < limit) scratch[1].i = limit;
  return scratch;
}

static enum base_status take_row(const struct taking *taking, const union net_slot *row,
                                 uint8_t marks, union net_slot *scratch) {
  struct tql_stream *stream = taking->stream;
  struct tql_session *session = stream->source->session;
  struct session_relation *relation = stream->relation;
  const char *wrong = times_fault(stream->layout, row);
  if (wrong == NULL && !(marks & NET_ROUND))
    wrong = value_fault(session, stream->layout, row, marks);
  if (wrong != NULL) return reject_row(stream, row, marks, wrong);
  const union net_slot *mine = as_relation(stream, row, scratch);
  wrong = marks_fault(relation, mine, marks);
  if (wrong != NULL) return reject_row(stream, row, marks, wrong);
  enum base_status status =
      session_row_fault(session, relation, mine, marks, mine[0].i > taking->future, &wrong);
  if (status != BASE_OK) return status;
  if (wrong != NULL) return reject_row(stream, row, marks, wrong);
  if (marks & NET_ROUND) return take_round(taking, mine[0].i);
  if ((marks & NET_CLOSES) && stream->digest != 0 && mine[0].i < taking->limit)
    mine = not_late(relation, mine, taking->limit, scratch);
  if (taking->corrections != NULL && mine[0].i == relation->waiting.boundary &&
      relation->checkpoint == net_chronon_add(relation->waiting.boundary, 1)) {
    net_rows_add_copy(taking->corrections, mine, marks);
    return BASE_OK;
  }
  return session_take_record(session, relation, mine, marks, taking->limit);
}

/* --- records of which nothing is to be said */

/* What is to be looked at in the values of a stream's records: most integers can be anything, and a string that
 * was right a record ago is so now. */
struct values {
  const struct net_field **fields;
  base_string_id *right;
  uint32_t count;
};

static struct values values_of(const struct net_layout *layout) {
  struct values values = {base_xcalloc(layout->field_count + 1, sizeof *values.fields),
                          base_xcalloc(layout->field_count + 1, sizeof *values.right), 0};
  for (uint32_t f = 0; f < layout->field_count; f++) {
    const struct net_field *field = &layout->fields[f];
    if (field->type.base == NET_INTEGER && field->type.width == 8) continue;
    values.right[values.count] = UINT64_MAX;
    values.fields[values.count++] = field;
  }
  return values;
}

static void values_done(struct values *values) {
  free(values->fields);
  free(values->right);
}

static bool are_right(const struct tql_session *session, struct values *values,
                      const union net_slot *row) {
  for (uint32_t f = 0; f < values->count; f++) {
    const struct net_field *field = values->fields[f];
    union net_slot value = row[field->slot];
    bool string = net_type_is_interned(field->type.base);
    if (string && value.s == values->right[f]) continue;
    if (net_type_slots(field->type.base) != 1 ||
        net_value_check_entry(session->strings, field->type, value) != NULL)
      return false;
    if (string) values->right[f] = value.s;
  }
  return true;
}

/* How many of ROWS, from the first on, take_row would do nothing with but session_take_record, which would have
 * them wait. */
static size_t count_good(const struct taking *taking, struct values *values,
                         const union net_slot *rows, const uint8_t *marks, size_t count) {
  const struct session_relation *relation = taking->stream->relation;
  uint32_t slots = taking->stream->layout->slot_count;
  net_chronon from = taking->limit, boundary = relation->waiting.boundary;
  if (from == NET_OPEN || from == NET_BEGINNING) from = NET_OPEN + 1;
  if (taking->corrections != NULL && from <= boundary) from = net_chronon_add(boundary, 1);
  net_chronon to = taking->future < NET_FOREVER ? taking->future : NET_FOREVER - 1;
  size_t good = 0;
  for (const union net_slot *row = rows; good < count; good++, row += slots)
    if (row[0].i < from || row[0].i > to || row[0].i > row[1].i ||
        (marks[good] & ~NET_DEFINITE) != 0 ||
        !are_right(taking->stream->source->session, values, row))
      break;
  return good;
}

/* Can there be such records? Only of events that are as the relation has them, without rules. */
static enum base_status may_be_good(struct tql_stream *stream, bool *ret) {
  *ret = false;
  if (stream->relation->kind != ST_EVENT || stream->from != NULL) return BASE_OK;
  bool rules = true;
  enum base_status status = session_has_rules(stream->source->session, stream->relation, &rules);
  *ret = !rules;
  return status;
}

static void begin_taking(struct taking *taking, struct tql_stream *stream) {
  struct tql_session *session = stream->source->session;
  net_chronon promised = session_promise_of(stream->source->state, stream->relation_name)->time;
  net_chronon checkpoint = stream->relation->checkpoint;
  *taking = (struct taking){.stream = stream,
                            .limit = promised > checkpoint ? promised : checkpoint,
                            .future = session_future_limit(session)};
}

static enum base_status take_rows(struct tql_stream *stream, const union net_slot *rows,
                                  const uint8_t *marks, size_t count) {
  struct tql_session *session = stream->source->session;
  uint32_t slots = stream->layout->slot_count;
  enum base_status status = BASE_OK;
  session_stream_resolve(stream);
  if (stream->fault != NULL) {
    for (size_t i = 0; i < count && status == BASE_OK; i++)
      status = reject_row(stream, rows + i * slots, marks[i], stream->fault);
    return status;
  }
  status = session_wake(session, stream->relation);
  struct taking taking;
  struct net_rows corrections;
  const struct net_layout *layout = session_write_layout(stream->relation);
  net_rows_init(&corrections, layout);
  begin_taking(&taking, stream);
  if (stream->digest == 0) taking.corrections = &corrections;
  union net_slot *scratch = base_xcalloc(layout->slot_count, sizeof *scratch);
  struct values values = values_of(stream->layout);
  bool quick = false;
  if (status == BASE_OK) status = may_be_good(stream, &quick);
  for (size_t i = 0; i < count && status == BASE_OK; i++) {
    size_t good = quick ? count_good(&taking, &values, rows + i * slots, marks + i, count - i) : 0;
    if (good > 0) session_add_events(stream->relation, rows + i * slots, marks + i, good);
    i += good;
    if (i < count) status = take_row(&taking, rows + i * slots, marks[i], scratch);
  }
  values_done(&values);
  if (status == BASE_OK && corrections.count > 0)
    status = session_correct(session, stream->relation, &corrections);
  free(scratch);
  net_rows_done(&corrections);
  return status;
}

enum base_status tql_source_rows(struct tql_stream *stream, const union net_slot *rows,
                                 const uint8_t *marks, size_t count) {
  struct tql_session *session = stream->source->session;
  if (stream->source->state == NULL) return BASE_AGAIN;
  enum base_status status = session_enter_source(session);
  session->counters.rows_in += count;
  if (status == BASE_OK) status = take_rows(stream, rows, marks, count);
  return session_leave_source(session, status);
}

static enum base_status reject_end(struct tql_stream *stream, const struct net_read_event *event,
                                   const char *reason) {
  struct tql_session *session = stream->source->session;
  struct base_buffer record = BASE_BUFFER_EMPTY;
  session_print_end(session, &record, stream->layout, event);
  enum base_status status = session_divert_named(session, "Rejected", stream->relation_name,
                                                 rejected_at(session, stream->relation), reason,
                                                 base_buffer_text(&record), record.length);
  base_buffer_done(&record);
  return status;
}

static enum base_status take_end(struct tql_stream *stream, const struct net_read_event *event) {
  struct tql_session *session = stream->source->session;
  session_stream_resolve(stream);
  if (stream->fault != NULL) return reject_end(stream, event, stream->fault);
  if (stream->from != NULL)
    return reject_end(stream, event, "the domains of the relation are not those of the stream");
  if (event->time > session_future_limit(session))
    return reject_end(stream, event, "further ahead of the clock than set future limit");
  enum base_status status = session_make_live(session, stream->relation);
  if (status != BASE_OK) return status;
  struct taking taking;
  begin_taking(&taking, stream);
  status = session_take_end(session, stream->relation, event, taking.limit);
  if (event->time > stream->relation->waiting.latest && event->time != NET_FOREVER)
    stream->relation->waiting.latest = event->time;
  return status;
}

enum base_status tql_source_end(struct tql_stream *stream, const struct net_read_event *event) {
  struct tql_session *session = stream->source->session;
  if (stream->source->state == NULL) return BASE_AGAIN;
  enum base_status status = session_enter_source(session);
  if (status == BASE_OK) status = take_end(stream, event);
  return session_leave_source(session, status);
}

enum base_status tql_source_reject(struct tql_source *source, struct tql_stream *stream,
                                   net_chronon at, const char *reason, const char *record,
                                   size_t record_length) {
  struct tql_session *session = source->session;
  if (source->state == NULL) return BASE_AGAIN;
  enum base_status status = session_enter_source(session);
  if (status == BASE_OK)
    status = session_divert_named(session, "Rejected", stream ? stream->relation_name : "", at,
                                  reason, record, record_length);
  return session_leave_source(session, status);
}
