/* Records and the other lists in messages. The heads of records are read and written in one go, since
 * there are many of them; everything else uses the readers of single numbers.                        */
#include "sensors/wire/records.h"

#include <endian.h>
#include <string.h>

#include "engine/base/status.h"

#define NAME_BIT UINT32_C(0x80000000)

/* --- numbers, as sn_get_... reads them: there are several in each record */

static inline uint64_t load(struct sn_reading *reading, size_t bytes) {
  uint64_t value = 0;
  if (reading->bad || (size_t)(reading->end - reading->at) < bytes) {
    reading->bad = true;
    return 0;
  }
  memcpy(&value, reading->at, bytes);
  reading->at += bytes;
  return le64toh(value);
}

static inline int64_t load_i64(struct sn_reading *reading) {
  return (int64_t)load(reading, sizeof(int64_t));
}

static inline uint32_t load_u32(struct sn_reading *reading) {
  return (uint32_t)load(reading, sizeof(uint32_t));
}

/* Marks that go together: a skip is nothing else, or of filtered records; a round has no values to name. */
static bool marks_agree(unsigned marks) {
  if ((marks & SN_MARK_SKIPPED) != 0)
    return (marks & ~(unsigned)(SN_MARK_SKIPPED | SN_MARK_RELATION | SN_MARK_DEFINITE)) == 0;
  if ((marks & (SN_MARK_ROUND | SN_MARK_CLOSES)) == (SN_MARK_ROUND | SN_MARK_CLOSES)) return false;
  if ((marks & SN_MARK_PERIOD) == 0) return (marks & SN_MARK_EXACT_STOP) == 0;
  return (marks & (SN_MARK_ROUND | SN_MARK_CLOSES)) == 0;
}

void sn_put_record_head(struct base_buffer *out, const struct sn_record_head *head) {
  unsigned marks = head->marks & ~(unsigned)(SN_MARK_EXACT | SN_MARK_EXACT_STOP);
  bool skip = (marks & SN_MARK_SKIPPED) != 0, period = (marks & SN_MARK_PERIOD) != 0;
  if (!skip && head->start_lo == head->start_hi) marks |= SN_MARK_EXACT;
  if (period && head->stop_lo == head->stop_hi) marks |= SN_MARK_EXACT_STOP;
  BASE_CHECK(marks_agree(marks), "wire-record-marks");
  sn_put_u8(out, (uint8_t)marks);
  if (marks & SN_MARK_RELATION) sn_put_u32(out, head->relation);
  if (skip) {
    sn_put_u32(out, head->skipped);
    if ((marks & SN_MARK_DEFINITE) == 0) return;
    sn_put_u32(out, head->process);
    sn_put_i64(out, head->start_lo);
    sn_put_i64(out, head->start_hi);
    return;
  }
  sn_put_i64(out, head->start_lo);
  if ((marks & SN_MARK_EXACT) == 0) sn_put_i64(out, head->start_hi);
  if (!period) return;
  sn_put_i64(out, head->stop_lo);
  if ((marks & SN_MARK_EXACT_STOP) == 0) sn_put_i64(out, head->stop_hi);
}

void sn_put_named(struct base_buffer *out, const bool *named, uint32_t domains) {
  for (uint32_t i = 0; i < domains; i += 8) {
    unsigned byte = 0;
    for (uint32_t bit = 0; bit < 8 && i + bit < domains; bit++)
      byte |= (unsigned)named[i + bit] << bit;
    sn_put_u8(out, (uint8_t)byte);
  }
}

void sn_put_name_id(struct base_buffer *out, uint32_t id) {
  BASE_CHECK(id <= SN_NAME_ID_MAX, "wire-name-id");
  sn_put_u32(out, id | NAME_BIT);
}

bool sn_event_record_end(struct base_buffer *out, size_t at, uint32_t count) {
  /* Behind u32 relation, u64 pipe, u64 sequence. */
  unsigned char *place = (unsigned char *)out->data + at + SN_FRAME_HEAD + 20;
  for (unsigned i = 0; i < 4; i++) place[i] = (unsigned char)(count >> (8 * i));
  return sn_message_end(out, at);
}

struct sn_reading sn_reading_from(struct sn_string rest) {
  const unsigned char *at = (const unsigned char *)rest.bytes;
  return (struct sn_reading){at, at + rest.length, false};
}

void sn_records_start(struct sn_records *records, const struct sn_message_event_record *message) {
  *records = (struct sn_records){.reading = sn_reading_from(message->records),
                                 .left = message->count,
                                 .relation = message->relation,
                                 .sequence = message->sequence};
}

/* The two times that MARKS say are there. */
static void get_bounds(struct sn_reading *reading, bool exact, int64_t *ret_lo, int64_t *ret_hi) {
  *ret_lo = load_i64(reading);
  *ret_hi = exact ? *ret_lo : load_i64(reading);
  if (*ret_lo > *ret_hi) reading->bad = true;
}

bool sn_records_next(struct sn_records *records, struct sn_record_head *ret_head) {
  struct sn_reading *reading = &records->reading;
  *ret_head = (struct sn_record_head){.relation = records->relation};
  if (records->left == 0 || reading->bad) return false;
  unsigned marks = ret_head->marks = (uint8_t)load(reading, 1);
  if (!marks_agree(marks)) reading->bad = true;
  if (marks & SN_MARK_RELATION) ret_head->relation = records->relation = load_u32(reading);
  if (marks & SN_MARK_SKIPPED) {
    ret_head->skipped = load_u32(reading);
    if (marks & SN_MARK_DEFINITE) {
      ret_head->process = load_u32(reading);
      get_bounds(reading, false, &ret_head->start_lo, &ret_head->start_hi);
    }
  } else {
    get_bounds(reading, (marks & SN_MARK_EXACT) != 0, &ret_head->start_lo, &ret_head->start_hi);
  }
  if (marks & SN_MARK_PERIOD)
    get_bounds(reading, (marks & SN_MARK_EXACT_STOP) != 0, &ret_head->stop_lo, &ret_head->stop_hi);
  uint64_t places = marks & SN_MARK_SKIPPED ? ret_head->skipped : 1;
  if (places > UINT64_MAX - records->sequence) reading->bad = true;
  if (reading->bad) return false;
  records->left--;
  records->sequence += places;
  return true;
}

/* A value of TYPE. */
static void get_datum(struct sn_reading *reading, unsigned type, struct sn_datum *ret) {
  *ret = (struct sn_datum){.given = true};
  switch (type) {
    case SN_DOMAIN_INTEGER:
      ret->integer = load_i64(reading);
      break;
    case SN_DOMAIN_FLOAT:
      ret->real = sn_get_f64(reading);
      break;
    case SN_DOMAIN_BOOL:
      ret->integer = sn_get_flag(reading);
      break;
    case SN_DOMAIN_STRING:
    case SN_DOMAIN_NAME: {
      struct sn_reading ahead = *reading;
      uint32_t length = load_u32(&ahead);
      ret->is_name_id = !ahead.bad && (length & NAME_BIT) != 0;
      if (ret->is_name_id) {
        ret->id = length & ~NAME_BIT;
        *reading = ahead;
      } else {
        ret->text = sn_get_bytes(reading);
      }
      break;
    }
    case SN_DOMAIN_BYTES:
      ret->text = sn_get_bytes(reading);
      break;
    default:
      reading->bad = true;
  }
}

bool sn_records_values(struct sn_records *records, const struct sn_record_head *head,
                       const uint8_t *types, uint32_t domains, struct sn_datum *ret_values) {
  struct sn_reading *reading = &records->reading;
  if ((head->marks & (SN_MARK_ROUND | SN_MARK_SKIPPED)) != 0) return !reading->bad;
  const unsigned char *named = NULL;
  if (head->marks & SN_MARK_CLOSES) {
    named = reading->at;
    for (uint32_t i = 0; i < domains; i += 8) sn_get_u8(reading);
    if (reading->bad) return false;
    if (domains % 8 != 0 && named[domains / 8] >> (domains % 8) != 0) reading->bad = true;
  }
  for (uint32_t i = 0; i < domains; i++) {
    if (named != NULL && (named[i / 8] >> (i % 8) & 1) == 0) {
      ret_values[i] = (struct sn_datum){.given = false};
    } else {
      get_datum(reading, types[i], &ret_values[i]);
    }
  }
  return !reading->bad;
}

bool sn_records_good(const struct sn_records *records) {
  return records->left == 0 && sn_reading_end(&records->reading);
}

static void put_datum(struct base_buffer *out, unsigned type, const struct sn_datum *value) {
  switch (type) {
    case SN_DOMAIN_INTEGER:
      sn_put_i64(out, value->integer);
      break;
    case SN_DOMAIN_FLOAT:
      sn_put_f64(out, value->real);
      break;
    case SN_DOMAIN_BOOL:
      sn_put_u8(out, value->integer != 0);
      break;
    default:
      BASE_CHECK(type >= SN_DOMAIN_STRING && type <= SN_DOMAIN_BYTES, "wire-domain-type");
      if (value->is_name_id) {
        sn_put_name_id(out, value->id);
      } else {
        sn_put_string(out, value->text);
      }
  }
}

void sn_put_object(struct base_buffer *out, const struct sn_watched_object *object) {
  sn_put_u8(out, object->pattern);
  sn_put_string(out, object->domain);
  sn_put_u8(out, object->type);
  put_datum(out, object->type, &object->value);
}

bool sn_get_object(struct sn_reading *reading, struct sn_watched_object *ret_object) {
  *ret_object = (struct sn_watched_object){.pattern = sn_get_flag(reading)};
  ret_object->domain = sn_get_text(reading);
  ret_object->type = sn_get_u8(reading);
  get_datum(reading, ret_object->type, &ret_object->value);
  /* The server names nothing: whatever it says is said in full. */
  if (ret_object->value.is_name_id) reading->bad = true;
  return !reading->bad;
}

void sn_put_domain(struct base_buffer *out, const struct sn_domain *domain) {
  sn_put_string(out, domain->name);
  sn_put_u8(out, domain->type);
  sn_put_u32(out, domain->size);
  sn_put_u8(out, domain->by);
}

bool sn_get_domain(struct sn_reading *reading, struct sn_domain *ret_domain) {
  *ret_domain = (struct sn_domain){.name = sn_get_text(reading)};
  ret_domain->type = sn_get_u8(reading);
  ret_domain->size = sn_get_u32(reading);
  ret_domain->by = sn_get_flag(reading);
  if (ret_domain->type < SN_DOMAIN_INTEGER || ret_domain->type > SN_DOMAIN_BYTES)
    reading->bad = true;
  return !reading->bad;
}
