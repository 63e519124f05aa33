/* EVENT_RECORD: bytes to rows.
 *
 * All records of a message are decoded before the session sees any, so that a message is taken as a whole
 * or not at all. They go relation by relation; between relations there is no order to keep. Of a pipe
 * that others have read before, the session says how many records are known; those are left out. Most records are
 * simple, and many of them come together: these are read in a loop of their own, with the same result. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "tquel/serve/source.h"

struct decoding {
  struct server_source *source;
  struct base_strings *strings;
  uint64_t from; /* records before this one in the pipe are known */
  struct server_stream *last;
  uint32_t last_relation;
  uint32_t last_name; /* looked up last, if there is one: most records are of few objects */
  base_string_id last_string;
  bool has_last_name;
};

static bool get_name(struct decoding *decoding, uint32_t name, union net_slot *ret) {
  if (!decoding->has_last_name || decoding->last_name != name) {
    const struct server_entry *entry = server_table_find(&decoding->source->names, name);
    if (!entry) return false;
    decoding->last_name = name;
    decoding->last_string = entry->value.word;
    decoding->has_last_name = true;
  }
  ret->s = decoding->last_string;
  return true;
}

static bool get_slot(struct decoding *decoding, struct net_type type, const struct sn_datum *datum,
                     union net_slot *ret) {
  switch (type.base) {
    case NET_INTEGER:
    case NET_BOOL:
      ret->i = datum->integer;
      return true;
    case NET_FLOAT:
      ret->f = datum->real;
      return true;
    case NET_STRING:
    case NET_NAME:
      if (datum->is_name_id) return get_name(decoding, datum->id, ret);
      ret->s = base_strings_intern(decoding->strings, datum->text.bytes, datum->text.length);
      return true;
    case NET_BYTES:
      ret->s = base_strings_intern(decoding->strings, datum->text.bytes, datum->text.length);
      return true;
    case NET_TEMPORAL:
    case NET_INSTANT:
    default:
      return false;
  }
}

/* An instant that can be one: NET_OPEN is none, but as the lower bound of a stop. */
static bool is_instant(int64_t lo, int64_t hi) {
  return lo != NET_OPEN && hi != NET_OPEN;
}

static uint8_t marks_of(const struct sn_record_head *head) {
  unsigned marks = 0;
  if (head->marks & SN_MARK_DEFINITE) marks |= NET_DEFINITE;
  if (head->marks & SN_MARK_CLOSES) marks |= NET_CLOSES;
  if (head->marks & SN_MARK_ROUND) marks |= NET_ROUND;
  return (uint8_t)marks;
}

/* Of a traced relation, an end record that does not name the process and all of the key: of all that have the names
 * which it says beside the process; or of all that have its key, which collectors said alone while the process did
 * not belong to it. *RET_GOOD false: it is neither. */
static bool ends_all(const struct server_stream *stream, const struct sn_record_head *head,
                     bool *ret_good) {
  const struct net_key *by = tql_stream_by(stream->stream);
  int process = net_layout_find(stream->layout, "Process");
  *ret_good = true;
  if ((head->marks & SN_MARK_CLOSES) == 0 || by->count == 0 || process < 0) return false;
  if (tql_stream_kind(stream->stream) != NG_REL_TRACED) return false;
  bool all = true, names = true;
  for (size_t i = 0; i < by->count; i++) {
    uint32_t field = by->fields[i];
    enum net_base_type base = stream->layout->fields[field].type.base;
    bool given = stream->values[field].given;
    all &= given;
    names &= !given || base == NET_NAME || base == NET_STRING;
  }
  bool of_process = stream->values[process].given;
  *ret_good = all || (of_process && names);
  return !(all && of_process);
}

static bool put_times(union net_slot *row, const struct net_layout *layout,
                      const struct sn_record_head *head) {
  row[0].i = head->start_lo;
  row[1].i = head->start_hi;
  if (!is_instant(head->start_lo, head->start_hi)) return false;
  bool period = (head->marks & SN_MARK_PERIOD) != 0;
  if (layout->tuple_class == NET_EVENT) return !period;
  if (!period) return false;
  row[2].i = head->stop_lo;
  row[3].i = head->stop_hi;
  return head->stop_lo == NET_OPEN || is_instant(head->stop_lo, head->stop_hi);
}

/* The record behind HEAD, as a row of STREAM. */
static bool decode_record(struct decoding *decoding, struct sn_records *records,
                          const struct sn_record_head *head, struct server_stream *stream) {
  const struct net_layout *layout = stream->layout;
  if (!sn_records_values(records, head, stream->types, layout->field_count, stream->values))
    return false;
  bool known = records->sequence <= decoding->from;
  uint8_t marks = marks_of(head);
  bool good;
  if (ends_all(stream, head, &good)) marks |= TQL_CLOSES_ALL;
  union net_slot *row = net_rows_add(&stream->rows, marks);
  good = put_times(row, layout, head) && good;
  if (!(head->marks & SN_MARK_ROUND)) {
    for (uint32_t i = 0; i < layout->field_count && good; i++)
      if (stream->values[i].given)
        good = get_slot(decoding, layout->fields[i].type, &stream->values[i],
                        &row[layout->fields[i].slot]);
  }
  if (known) stream->rows.count--;
  return good;
}

/* --- simple records: definite events of an exact time, whose values are numbers and the ids of names */

size_t server_records_simple(const struct server_stream *stream) {
  const struct net_layout *layout = stream->layout;
  size_t bytes = 1 + 8;
  if (layout->tuple_class != NET_EVENT || layout->slot_count != 2 + layout->field_count) return 0;
  for (uint32_t i = 0; i < layout->field_count; i++) {
    bool name = stream->types[i] == SN_DOMAIN_STRING || stream->types[i] == SN_DOMAIN_NAME;
    if (!name && stream->types[i] != SN_DOMAIN_INTEGER && stream->types[i] != SN_DOMAIN_FLOAT)
      return 0;
    bytes += name ? 4 : 8;
  }
  return bytes;
}

static uint64_t number_at(const unsigned char *at) {
  uint64_t number;
  memcpy(&number, at, sizeof number);
  return le64toh(number);
}

/* A simple record AT its marks into ROW; false: it is none, or not right. */
static inline bool decode_simple(struct decoding *decoding, const struct server_stream *stream,
                                 const unsigned char *at, union net_slot *row) {
  const struct net_layout *layout = stream->layout;
  if (*at++ != (SN_MARK_DEFINITE | SN_MARK_EXACT)) return false;
  row[0].i = row[1].i = (int64_t)number_at(at);
  if (!is_instant(row[0].i, row[1].i)) return false;
  at += 8;
  for (uint32_t i = 0; i < layout->field_count; i++) {
    union net_slot *slot = &row[layout->fields[i].slot];
    if (stream->types[i] == SN_DOMAIN_INTEGER || stream->types[i] == SN_DOMAIN_FLOAT) {
      slot->i = (int64_t)number_at(at);
      at += 8;
      continue;
    }
    uint32_t name;
    memcpy(&name, at, sizeof name);
    name = le32toh(name);
    if (name <= SN_NAME_ID_MAX || !get_name(decoding, name & SN_NAME_ID_MAX, slot)) return false;
    at += 4;
  }
  return true;
}

/* The simple records that come next, straight into the rows of STREAM, up to one that is known or not simple. */
static void decode_simples(struct decoding *decoding, struct sn_records *records,
                           struct server_stream *stream) {
  struct sn_reading *reading = &records->reading;
  struct net_rows *rows = &stream->rows;
  size_t bytes = stream->simple_bytes, slots = stream->layout->slot_count;
  size_t most = (size_t)(reading->end - reading->at) / bytes, count = 0;
  if (most > records->left) most = records->left;
  if (records->sequence < decoding->from || records->sequence > UINT64_MAX - most) return;
  union net_slot *row = net_rows_make_room(rows, most);
  while (count < most && decode_simple(decoding, stream, reading->at, row)) {
    reading->at += bytes;
    row += slots;
    count++;
  }
  if (count > 0) memset(rows->marks + rows->count, NET_DEFINITE, count);
  rows->count += count;
  records->left -= (uint32_t)count;
  records->sequence += count;
}

/* Records of a relation that a filter has left out, those that are not known. */
static bool note_filtered(struct decoding *decoding, const struct sn_records *records,
                          const struct sn_record_head *head, const struct server_stream *stream) {
  struct server_source *source = decoding->source;
  uint64_t count = head->skipped, first = records->sequence - count;
  if (server_source_process(source, head->process) == NULL) return false;
  if (!is_instant(head->start_lo, head->start_hi)) return false;
  if (first < decoding->from)
    count = records->sequence > decoding->from ? records->sequence - decoding->from : 0;
  if (count == 0) return true;
  for (size_t i = 0; i < source->filtered_count; i++) {
    struct server_filtered *same = &source->filtered[i];
    if (same->stream != stream->stream || same->process != head->process) continue;
    same->count += count;
    if (head->start_lo < same->since) same->since = head->start_lo;
    if (head->start_hi > same->until) same->until = head->start_hi;
    return true;
  }
  base_grow(&source->filtered, &source->filtered_capacity, source->filtered_count + 1,
            sizeof *source->filtered);
  source->filtered[source->filtered_count++] = (struct server_filtered){
      stream->stream, head->process, count, head->start_lo, head->start_hi};
  return true;
}

static struct server_stream *stream_of(struct decoding *decoding, uint32_t relation) {
  if (!decoding->last || decoding->last_relation != relation) {
    decoding->last = server_source_stream(decoding->source, relation);
    decoding->last_relation = relation;
  }
  return decoding->last;
}

/* False: it is no such message. *RET_COUNT: records of the pipe; *RET_REFUSED: it has records of a relation
 * that was refused, and cannot be read beyond them. */
static bool decode(struct decoding *decoding, const struct sn_message_event_record *message,
                   uint64_t *ret_count, bool *ret_refused) {
  struct sn_records records;
  struct sn_record_head head;
  *ret_refused = false;
  sn_records_start(&records, message);
  for (;;) {
    struct server_stream *next = records.left > 0 ? stream_of(decoding, records.relation) : NULL;
    if (next && next->simple_bytes > 0) decode_simples(decoding, &records, next);
    if (!sn_records_next(&records, &head)) break;
    if (head.marks == SN_MARK_SKIPPED || head.marks == (SN_MARK_SKIPPED | SN_MARK_RELATION))
      continue;
    struct server_stream *stream = stream_of(decoding, head.relation);
    if (!stream) return false;
    if (!stream->stream) {
      *ret_refused = true;
      return true;
    }
    if (head.marks & SN_MARK_SKIPPED) {
      if (!note_filtered(decoding, &records, &head, stream)) return false;
    } else if (!decode_record(decoding, &records, &head, stream)) {
      return false;
    }
  }
  *ret_count = records.sequence - message->sequence;
  return sn_records_good(&records);
}

/* An end record that is alone in its message, as feeds send it: it names some of the domains. */
static enum server_taken take_end(struct server_source *source,
                                  const struct sn_message_event_record *message,
                                  struct server_stream *stream) {
  const struct net_layout *layout = stream->layout;
  struct decoding decoding = {.source = source,
                              .strings = tql_session_string_table(source->peer->server->session)};
  struct sn_records records;
  struct sn_record_head head;
  sn_records_start(&records, message);
  if (!sn_records_next(&records, &head) ||
      !sn_records_values(&records, &head, stream->types, layout->field_count, stream->values) ||
      !sn_records_good(&records) || !is_instant(head.start_lo, head.start_hi))
    return SERVER_WRONG;
  union net_slot *row = base_xcalloc((size_t)layout->slot_count + 1, sizeof *row);
  bool *named = base_xcalloc((size_t)layout->field_count + 1, sizeof *named);
  bool good = true;
  for (uint32_t i = 0; i < layout->field_count && good; i++) {
    named[i] = stream->values[i].given;
    if (named[i])
      good = get_slot(&decoding, layout->fields[i].type, &stream->values[i],
                      &row[layout->fields[i].slot]);
  }
  const struct net_read_event event = {.time = head.start_lo, .row = row, .named = named};
  enum base_status status = good ? tql_source_end(stream->stream, &event) : BASE_OK;
  free(row);
  free(named);
  if (!good) return SERVER_WRONG;
  return status == BASE_OK || status == BASE_USER ? SERVER_TAKEN : SERVER_OVER;
}

/* The stream, if MESSAGE is such an end record. */
static struct server_stream *stream_of_end(struct server_source *source,
                                           const struct sn_message_event_record *message) {
  struct sn_records records;
  struct sn_record_head head;
  if (source->collector || message->count != 1) return NULL;
  sn_records_start(&records, message);
  if (!sn_records_next(&records, &head) || !(head.marks & SN_MARK_CLOSES)) return NULL;
  struct server_stream *stream = server_source_stream(source, head.relation);
  return stream && stream->stream ? stream : NULL;
}

static void clear(struct server_source *source) {
  source->filtered_count = 0;
  for (size_t i = 0; i < source->streams.entries.capacity; i++) {
    const struct server_entry *entry = &source->streams.entries.items[i];
    struct server_stream *stream = entry->key ? entry->value.pointer : NULL;
    if (stream) stream->rows.count = 0;
  }
}

static enum base_status push(struct server_source *source) {
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < source->streams.entries.capacity && status == BASE_OK; i++) {
    const struct server_entry *entry = &source->streams.entries.items[i];
    struct server_stream *stream = entry->key ? entry->value.pointer : NULL;
    if (!stream || stream->rows.count == 0) continue;
    status =
        tql_source_rows(stream->stream, stream->rows.rows, stream->rows.marks, stream->rows.count);
    stream->rows.count = 0;
  }
  for (size_t i = 0; i < source->filtered_count && status == BASE_OK; i++) {
    const struct server_filtered *filtered = &source->filtered[i];
    status = tql_source_filtered(source->source, filtered->stream,
                                 server_source_process(source, filtered->process), filtered->count,
                                 filtered->since, filtered->until);
  }
  return status;
}

enum server_taken server_records_take(struct server_source *source,
                                      const struct sn_message_event_record *message) {
  struct server_stream *ending = stream_of_end(source, message);
  if (ending) return take_end(source, message, ending);
  struct decoding decoding = {.source = source,
                              .strings = tql_session_string_table(source->peer->server->session)};
  uint64_t count = 0, known = 0;
  bool refused = false, good = decode(&decoding, message, &count, &refused);
  if (!good || refused) {
    clear(source);
    return good ? SERVER_TAKEN : SERVER_WRONG;
  }
  /* Pipes are all sources' together: who may not say what was dealt with of one has no places in any. */
  uint64_t pipe = source->peer->owner ? message->pipe : 0;
  enum base_status status =
      tql_source_sequence(source->source, pipe, message->sequence, count, &known);
  if (status == BASE_OK && known > 0) {
    clear(source);
    decoding.from = message->sequence + known;
    (void)decode(&decoding, message, &count, &refused);
  }
  if (status == BASE_OK) status = push(source);
  clear(source);
  return status == BASE_OK || status == BASE_USER ? SERVER_TAKEN : SERVER_OVER;
}
