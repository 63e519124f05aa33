/* The accountant (thesis 8.3.3): rings to messages.
 *
 *     ring ──▶ record ──by its description──▶ row of its relation ──▶ EVENT_RECORD, one a ring and pass
 *
 * Rings take turns. What was taken from a ring is released when it stands in the outbox, and leaves the
 * outbox after that; so no record goes out that another reader could get again. `sequence` counts, for each
 * ring, what went into the outbox, by whatever reader. With the outbox full a record is taken and thrown
 * away, and counted so in the announcement (SN_UNSENT), where it outlives us.                          */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/bytes.h"
#include "engine/base/env.h"
#include "sensors/collect/monitor_impl.h"

enum { RECORDS_A_PASS = 512, MESSAGE_BYTES = 64 << 10, RECORD_SHOWN = 200 << 10, UNREAD_MAX = 256 };
static const uint32_t NAME_ID = UINT32_C(1) << 31;

/* The message that is being written. */
struct writing {
  struct sn_program *program;
  struct sn_intake *intake;
  struct base_buffer *out; /* NULL: none is begun */
  size_t at;
  uint32_t relation, entries, records, skipped;
  struct { /* a run of records that were left out */
    uint32_t count, relation, process;
    int64_t from, to;
  } filtered;
  bool full, holds; /* the outbox, as it was when something was put there last */
};

static void look_at_outbox(struct writing *writing) {
  writing->full = sn_uplink_full(writing->program->monitor);
  writing->holds = sn_uplink_holds(writing->program->monitor);
}

/* --- bytes. There is room: it was reserved. */

static unsigned char *put_bytes(unsigned char *to, const void *from, size_t length) {
  memcpy(to, from, length);
  return to + length;
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#define LITTLE32 __builtin_bswap32
#define LITTLE64 __builtin_bswap64
#else
#define LITTLE32(VALUE) (VALUE)
#define LITTLE64(VALUE) (VALUE)
#endif

static unsigned char *put_u32(unsigned char *to, uint32_t value) {
  value = LITTLE32(value);
  return put_bytes(to, &value, sizeof value);
}

static unsigned char *put_u64(unsigned char *to, uint64_t value) {
  value = LITTLE64(value);
  return put_bytes(to, &value, sizeof value);
}

static unsigned char *put_i64(unsigned char *to, int64_t value) {
  return put_u64(to, (uint64_t)value);
}

/* --- messages */

static void begin(struct writing *writing, uint32_t relation) {
  struct sn_monitor *monitor = writing->program->monitor;
  const struct sn_intake *intake = writing->intake;
  struct base_buffer *out = &monitor->message;
  struct sn_message_event_record message = {.relation = relation};
  base_buffer_clear(out);
  if (intake != NULL) {
    message.pipe = intake->id;
    message.sequence = intake->sequence;
  }
  writing->at = sn_begin_event_record(out, 0, &message);
  writing->out = out;
  writing->relation = relation;
  writing->entries = writing->records = 0;
}

/* Into the message that is begun; at most one of both has a count. */
static void put_filtered(struct writing *writing) {
  if (writing->filtered.count == 0) return;
  struct sn_record_head head = {.marks = SN_MARK_SKIPPED | SN_MARK_DEFINITE,
                                .relation = writing->filtered.relation,
                                .skipped = writing->filtered.count,
                                .process = writing->filtered.process,
                                .start_lo = writing->filtered.from,
                                .start_hi = writing->filtered.to};
  if (head.relation != writing->relation) head.marks |= SN_MARK_RELATION;
  writing->relation = head.relation;
  sn_put_record_head(writing->out, &head);
  writing->entries++;
  writing->records += head.skipped;
  writing->filtered.count = 0;
}

static void put_skipped(struct writing *writing) {
  put_filtered(writing);
  if (writing->skipped == 0) return;
  struct sn_record_head head = {.marks = SN_MARK_SKIPPED, .skipped = writing->skipped};
  sn_put_record_head(writing->out, &head);
  writing->entries++;
  writing->records += writing->skipped;
  writing->skipped = 0;
}

static void finish(struct writing *writing) {
  if (writing->out == NULL) return;
  put_skipped(writing);
  sn_event_record_end(writing->out, writing->at, writing->entries);
  base_buffer_append(sn_uplink_frame(writing->program->monitor), writing->out->data,
                     writing->out->length);
  sn_uplink_data(writing->program->monitor); /* there is room: records are not taken without */
  if (writing->intake != NULL) writing->intake->sequence += writing->records;
  writing->out = NULL;
  look_at_outbox(writing);
}

/* A record that counts in its ring and goes nowhere. */
static void skip(struct writing *writing, uint32_t relation) {
  if (writing->out == NULL) begin(writing, relation);
  put_filtered(writing);
  writing->skipped++;
}

/* --- times */

struct at {
  int64_t lo, hi;
};

static struct at time_of(const struct sn_program *program, const struct sn_intake *intake,
                         const struct sn_record_view *record, bool exact) {
  const struct sn_monitor *monitor = program->monitor;
  const struct sn_timeline *line = &monitor->lines[sn_peer_identity(program->peer)->clock - 1];
  struct at at;
  if (record->kind & SN_RECORD_STAMP) {
    at.lo = at.hi = sn_timeline_time(line, record->stamp);
  } else {
    /* It happened after we had seen all there was, and before now. */
    at.lo = at.hi = sn_monitor_time(monitor);
    if (!exact && intake->complete_at != INT64_MIN) at.lo = intake->complete_at;
    if (at.lo < monitor->checked) at.lo = monitor->checked;
    if (at.lo > at.hi) at.lo = at.hi;
  }
  if (monitor->uplink.error > 0 && !exact) {
    bool stamped = record->kind & SN_RECORD_STAMP;
    int64_t error =
        sn_monitor_error(monitor, line, stamped ? record->stamp : sn_timeline_stamp(line));
    int64_t lo = at.lo - error;
    /* What is promised not to come before cannot have been before. */
    at.lo = lo < monitor->checked && at.lo >= monitor->checked ? monitor->checked : lo;
    at.hi += error;
  }
  return at;
}

/* --- values */

static unsigned char *put_name(unsigned char *to, const struct sn_name *name) {
  return put_u32(to, name->id | NAME_ID);
}

/* A process that another one, TELLER, mentions by its process id, which holds in the pid namespace of both. */
static const struct sn_name *process_named(const struct sn_program *teller, uint32_t type,
                                           const struct sn_known *known, uint64_t minor) {
  uint64_t space = sn_peer_identity(teller->peer)->process_space;
  for (const struct sn_program *program = teller->monitor->programs; program != NULL;
       program = program->next) {
    const struct sn_identity *identity = sn_peer_identity(program->peer);
    if (identity->announced_pid != minor || program->state == SN_ENDED) continue;
    if (identity->process_space != space) continue;
    for (size_t i = 0; i < program->part_count; i++) {
      const struct sn_part *part = &program->parts[i];
      if (part->known == known && part->name != NULL && part->minor == NULL && part->type == type) {
        return part->name;
      }
    }
  }
  return NULL;
}

/* Minor names to names; those of nobody have the epoch 0. */
static unsigned char *put_minor(struct writing *writing, const struct sn_part *part,
                                unsigned char *to, const struct sn_type_description *type,
                                uint64_t minor, struct sn_entity **ret_entity) {
  char text[64] = "";
  struct sn_program *program = writing->program;
  uint32_t index = (uint32_t)(part - program->parts);
  if (type != NULL && type->is_process) {
    const struct sn_name *name = process_named(program, type->number, part->known, minor);
    if (name != NULL) return put_name(to, name);
  } else if (type != NULL) {
    struct sn_entity *entity = sn_entity_named(program, index, type->number, minor);
    if (entity != NULL) {
      *ret_entity = entity;
      return put_name(to, entity->name);
    }
  }
  const char *word = type != NULL ? type->name : "object";
  int digits = snprintf(text, sizeof text, ":%" PRIu64 "#0", minor);
  size_t length = strlen(word);
  to = put_u32(to, (uint32_t)(length + (size_t)digits));
  return put_bytes(put_bytes(to, word, length), text, (size_t)digits);
}

static size_t bytes_of(const struct sn_value_view *value) {
  if (value->type.base == NET_STRING || value->type.base == NET_BYTES) return 4u + value->length;
  if (value->type.base == NET_NAME) {
    return 64 + (value->object != NULL ? strlen(value->object->name) : 0);
  }
  return 8;
}

static unsigned char *put_value(struct writing *writing, const struct sn_part *part,
                                unsigned char *to, const struct sn_value_view *value,
                                struct sn_entity **ret_entity) {
  uint64_t bits;
  switch (value->type.base) {
    case NET_INTEGER:
      return put_i64(to, value->integer);
    case NET_FLOAT:
      memcpy(&bits, &value->real, sizeof bits);
      return put_u64(to, bits);
    case NET_BOOL:
      *to = value->integer != 0;
      return to + 1;
    case NET_STRING:
    case NET_BYTES:
      return put_bytes(put_u32(to, value->length), value->text, value->length);
    default:
      return put_minor(writing, part, to, value->object, value->minor, ret_entity);
  }
}

/* --- records */

static void reject(struct writing *writing, uint32_t relation, int64_t at, const char *reason,
                   const struct sn_record_view *record) {
  static const char digits[] = "0123456789abcdef";
  struct sn_monitor *monitor = writing->program->monitor;
  uint32_t length = record->payload_bytes < RECORD_SHOWN ? record->payload_bytes : RECORD_SHOWN;
  struct base_buffer *text = &monitor->scratch;
  base_buffer_clear(text);
  base_buffer_reserve(text, 2u * length);
  for (uint32_t i = 0; i < length; i++) {
    base_buffer_putc(text, digits[record->payload[i] >> 4]);
    base_buffer_putc(text, digits[record->payload[i] & 15u]);
  }
  skip(writing, relation);
  finish(writing);
  struct sn_message_reject message = {
      .relation = relation,
      .at = at,
      .reason = sn_string_of(reason),
      .record = sn_string_from(base_buffer_text(text), text->length)};
  sn_put_reject(sn_uplink_frame(monitor), 0, &message);
  sn_uplink_data(monitor);
  look_at_outbox(writing);
}

struct row {
  struct sn_part *part;
  struct sn_known_event *event;
  uint32_t number, relation;
  struct at at;
  struct sn_entity *holder; /* whose receptacle was asked */
};

/* Whose period the record has opened. OBJECTS: those that are of the key, by their domains, as far as they are there. */
static void note_report(struct sn_program *program, const struct row *row,
                        struct sn_entity *const *objects) {
  struct sn_part_event *event = &row->part->events[row->number];
  bool fresh = !event->reported && !row->event->holder_of_key;
  if (!event->reported) event->reported_as_of = row->event->interest->narrowings;
  event->reported = true;
  if (row->at.hi > event->last_at) event->last_at = row->at.hi;
  if (row->at.hi > program->monitor->said_at) program->monitor->said_at = row->at.hi;
  if (row->at.hi > row->event->interest->said_at) row->event->interest->said_at = row->at.hi;
  if (sn_is_sampled(row->event->event)) {
    struct sn_entity *asked = row->holder;
    for (uint32_t i = 0; i < SN_IMPLICIT_MAX && asked == NULL; i++) asked = objects[i];
    sn_sampling_taken(program, row->part, row->number, asked, row->at.hi);
  }
  for (uint32_t i = 0; i < SN_IMPLICIT_MAX; i++) {
    if (objects[i] == NULL) continue;
    fresh |= sn_entity_report(objects[i], row->number, i, row->at.hi, program->scan);
  }
  if (fresh && row->event->event->relation == SN_KIND_TRACED) {
    sn_periods_opened(program, row->at.hi);
  }
}

/* Object and initiator: in the record itself, or in front of the payload's values. */
static void put_row(struct writing *writing, const struct row *row) {
  const struct sn_known_event *known = row->event;
  const struct sn_event_description *event = known->event;
  const struct sn_value_view *values = writing->program->monitor->values;
  struct sn_entity *objects[SN_IMPLICIT_MAX] = {NULL};
  size_t bytes = 64;
  for (size_t i = 0; i < known->value_count; i++) bytes += bytes_of(&values[i]);
  if (writing->out != NULL && writing->out->length - writing->at > MESSAGE_BYTES) finish(writing);
  if (writing->out == NULL) begin(writing, row->relation);
  put_skipped(writing);
  base_buffer_reserve(writing->out, bytes);
  unsigned char *start = (unsigned char *)writing->out->data + writing->out->length, *to = start;
  unsigned marks = SN_MARK_DEFINITE;
  if (row->at.lo == row->at.hi) marks |= SN_MARK_EXACT;
  if (row->relation != writing->relation) marks |= SN_MARK_RELATION;
  *to++ = (unsigned char)marks;
  if (marks & SN_MARK_RELATION) to = put_u32(to, row->relation);
  writing->relation = row->relation;
  to = put_i64(to, row->at.lo);
  if ((marks & SN_MARK_EXACT) == 0) to = put_i64(to, row->at.hi);
  to = put_name(to, row->part->name);
  size_t next = 0;
  for (uint32_t i = 1; i < known->domain_count; i++) {
    bool is_object = i == 1 && event->object != NULL;
    bool is_initiator =
        !is_object && i <= 2 && i == 1u + (event->object != NULL) && event->initiator != NULL;
    bool asked = (is_object && event->holder == SN_HOLDER_OBJECT) ||
                 (is_initiator && event->holder == SN_HOLDER_INITIATOR);
    struct sn_entity *named = asked ? row->holder : NULL;
    if (asked) {
      to = put_name(to, row->holder->name);
    } else {
      to = put_value(writing, row->part, to, &values[next++], &named);
    }
    if (i < known->implicit_count && known->of_key[i]) objects[i] = named;
  }
  writing->out->length += (size_t)(to - start);
  writing->out->data[writing->out->length] = '\0';
  writing->entries++;
  writing->records++;
  note_report(writing->program, row, objects);
}

/* The record is asked for by nobody: it is counted, with those before it. */
static void leave_out(struct writing *writing, const struct row *row) {
  uint32_t relation = row->relation, process = row->part->process;
  if (writing->out == NULL) begin(writing, relation);
  if (writing->skipped > 0 || writing->filtered.relation != relation ||
      writing->filtered.process != process)
    put_skipped(writing);
  bool first = writing->filtered.count++ == 0;
  writing->filtered.relation = relation;
  writing->filtered.process = process;
  if (first || row->at.lo < writing->filtered.from) writing->filtered.from = row->at.lo;
  if (first || row->at.hi > writing->filtered.to) writing->filtered.to = row->at.hi;
}

/* Texts among the values that are no UTF-8 are escaped, in the scratch buffer. */
static void escape_texts(const struct sn_program *program, const struct row *row) {
  struct sn_value_view *values = program->monitor->values;
  struct base_buffer *scratch = &program->monitor->scratch;
  size_t count = row->event->value_count, at = 0;
  bool any = false;
  for (size_t i = 0; i < count; i++) {
    struct sn_value_view *value = &values[i];
    value->escaped =
        value->type.base == NET_STRING && !base_bytes_are_plain(value->text, value->length);
    if (value->escaped && !any) base_buffer_clear(scratch);
    any |= value->escaped;
    if (!value->escaped) continue;
    size_t before = scratch->length;
    base_bytes_escape(scratch, value->text, value->length);
    value->length = (uint32_t)(scratch->length - before);
  }
  if (!any) return;
  for (size_t i = 0; i < count; i++) { /* the buffer stays where it is now */
    if (!values[i].escaped) continue;
    values[i].text = base_buffer_text(scratch) + at;
    at += values[i].length;
  }
  row->part->events[row->number].escaped++;
}

/* The row that the record is; false: it was seen to otherwise. */
static bool find_row(struct writing *writing, const struct sn_record_view *record,
                     struct row *ret_row) {
  struct sn_program *program = writing->program;
  struct sn_part *part = sn_program_part(program, record->module);
  uint32_t e = record->event;
  bool known = part != NULL && part->name != NULL && e < part->event_count &&
               e < part->known->event_count && part->known->events[e].event != NULL;
  if (!known) {
    sn_pipe_unsent(program->peer, (size_t)(writing->intake - program->intakes));
    return false;
  }
  struct sn_known_event *event = &part->known->events[e];
  *ret_row = (struct row){.part = part, .event = event, .number = e};
  if (writing->full) {
    program->unsent = true;
    sn_pipe_unsent(program->peer, (size_t)(writing->intake - program->intakes));
    part->events[e].unsent++;
    return false;
  }
  ret_row->relation = sn_known_relation(program->monitor, part->known, event);
  part->events[e].received++;
  if ((record->kind & SN_RECORD_ROUND) && !event->event->is_period) {
    skip(writing, ret_row->relation);
    sn_sampling_answered(program, part, e, time_of(program, writing->intake, record, true).hi);
    return false;
  }
  return true;
}

/* An end record of the period whose ticket the record has. It is a record of its ring like any other. */
static void take_stop(struct writing *writing, const struct sn_record_view *record,
                      struct row *row) {
  struct sn_program *program = writing->program;
  struct sn_monitor *monitor = program->monitor;
  const struct sn_known_event *known = row->event;
  int64_t ticket;
  row->at = time_of(program, writing->intake, record, false);
  if (record->payload_bytes != sizeof ticket) {
    reject(writing, row->relation, row->at.lo, "the record does not fit its description", record);
    return;
  }
  memcpy(&ticket, record->payload, sizeof ticket);
  if (writing->out == NULL) begin(writing, row->relation);
  put_skipped(writing);
  struct sn_record_head head = {.marks = SN_MARK_DEFINITE | SN_MARK_CLOSES,
                                .relation = row->relation,
                                .start_lo = row->at.lo,
                                .start_hi = row->at.hi};
  if (row->relation != writing->relation) head.marks |= SN_MARK_RELATION;
  writing->relation = row->relation;
  sn_put_record_head(writing->out, &head);
  /* The process, and behind what is implied the ticket: among the first eight. */
  uint32_t ticket_at = known->domain_count - (uint32_t)known->event->domain_count;
  sn_put_u8(writing->out, (uint8_t)(1u | 1u << ticket_at));
  for (uint32_t i = 8; i < known->domain_count; i += 8) sn_put_u8(writing->out, 0);
  sn_put_name_id(writing->out, row->part->name->id);
  sn_put_i64(writing->out, ticket);
  writing->entries++;
  writing->records++;
  if (row->at.hi > row->part->events[row->number].last_at)
    row->part->events[row->number].last_at = row->at.hi;
  if (row->at.hi > monitor->said_at) monitor->said_at = row->at.hi;
  if (row->at.hi > known->interest->said_at) known->interest->said_at = row->at.hi;
}

static void take(struct writing *writing, const struct sn_record_view *record) {
  struct sn_program *program = writing->program;
  struct row row;
  if (!find_row(writing, record, &row)) return;
  if (record->kind & SN_RECORD_ROUND) {
    take_stop(writing, record, &row);
    return;
  }
  const struct sn_event_description *event = row.event->event;
  bool sampled = event->relation == SN_KIND_SAMPLED;
  row.at = time_of(program, writing->intake, record, sampled);
  const char *reason = NULL;
  if (row.event->holder != NULL) {
    if ((record->kind & SN_RECORD_NAME) == 0) {
      reason = "the object is missing";
    } else {
      row.holder = sn_entity_of(program, (uint32_t)(row.part - program->parts), record->type,
                                record->minor, record->epoch);
      sn_entity_take(row.holder, row.number);
    }
  }
  if (sampled && (record->kind & SN_RECORD_STAMP) != 0) {
    row.at.lo = row.at.hi =
        sn_sampling_time(program->monitor, row.part, row.number, row.holder, row.at.hi);
  }
  if (reason == NULL &&
      !sn_payload_read(event, record->payload, record->payload_bytes, program->monitor->values)) {
    reason = "the record does not fit its description";
  }
  if (reason != NULL) {
    reject(writing, row.relation, row.at.lo, reason, record);
  } else {
    escape_texts(program, &row);
    if (sn_filter_leaves_out(row.event, &row.part->events[row.number], program->monitor->values))
      leave_out(writing, &row);
    else
      put_row(writing, &row);
  }
}

/* --- rings */

static uint64_t drain_pipe(struct sn_program *program, size_t i, uint32_t budget) {
  struct sn_record_view record;
  struct sn_intake *intake = &program->intakes[i];
  uint64_t count = 0;
  unsigned filled = sn_pipe_filled(program->peer, i);
  if (filled > program->monitor->fullest && !program->own) program->monitor->fullest = filled;
  if (!sn_pipe_next(program->peer, i, &record)) return 0;
  sn_accountant_pipe(program, i);
  struct writing writing = {.program = program, .intake = intake};
  look_at_outbox(&writing);
  do {
    if (record.kind & SN_RECORD_STAMP) intake->last_stamp = record.stamp;
    take(&writing, &record);
  } while (++count < budget && !writing.holds && sn_pipe_next(program->peer, i, &record));
  finish(&writing);
  sn_pipe_release(program->peer, i);
  return count;
}

uint64_t sn_accountant_drain(struct sn_program *program, uint32_t budget) {
  uint64_t count = 0;
  if (program->state == SN_ENDED || !sn_program_ready(program) || program->part_count == 0)
    return 0;
  for (size_t i = 0; i < program->intake_count && !sn_uplink_holds(program->monitor); i++) {
    count += drain_pipe(program, i, budget);
  }
  return count;
}

void sn_accountant_own(struct sn_monitor *monitor) {
  if (monitor->telling.unread < UNREAD_MAX) return;
  monitor->telling.unread = 0;
  for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
    if (program->own && program->state == SN_RUNNING) sn_accountant_drain(program, UINT32_MAX);
  }
}

/* Each program's rings in turn; the next turn begins with the one that this one did not come to. */
uint64_t sn_accountant_turn(struct sn_monitor *monitor, int64_t budget_ns, bool *ret_more) {
  uint64_t count = 0, own = 0;
  int64_t end = base_env_monotonic() + budget_ns;
  struct sn_program *program = monitor->programs;
  size_t programs = 0, quiet = 0;
  for (const struct sn_program *each = program; each != NULL; each = each->next) programs++;
  if (monitor->turn_first >= programs) monitor->turn_first = 0;
  for (size_t i = 0; i < monitor->turn_first; i++) program = program->next;
  while (quiet < programs && base_env_monotonic() < end) {
    uint64_t drained = sn_accountant_drain(program, RECORDS_A_PASS);
    if (program->own) {
      own += drained;
    } else {
      count += drained;
    }
    quiet = drained > 0 && !program->own ? 0 : quiet + 1;
    monitor->turn_first++;
    program = program->next;
    if (program != NULL) continue;
    program = monitor->programs;
    monitor->turn_first = 0;
  }
  *ret_more = quiet < programs;
  if (count > 0) sn_self_drained(count, sn_uplink_waiting(monitor));
  return count + own;
}
