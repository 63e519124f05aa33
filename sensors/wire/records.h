/* What is in the rest of some messages: records (EVENT_RECORD), objects (ADJUST_OBJECT), domains
 * (RELATION_INFO), cells (REPORT).
 *
 * A record is a byte of marks, what the marks say follows, and a value for each domain of its relation, in
 * the order of the create statement. Of what type they are is not said again: reader and writer know the
 * relation (DESCRIPTION, RELATION_INFO). So a reader asks for the head of a record, finds the types of
 * its relation, and then asks for the values.                                                        */
#ifndef SN_WIRE_RECORDS_H
#define SN_WIRE_RECORDS_H

#include "sensors/wire/message.h"

enum sn_relation_kind {
  SN_RELATION_EVENT,
  SN_RELATION_TRACED,
  SN_RELATION_SAMPLED,
  SN_RELATION_PERIOD,
  SN_RELATION_SNAPSHOT
};

/* Types of domains. A name is written as a string is. */
enum sn_domain_type {
  SN_DOMAIN_INTEGER = 1, /* i64; size: 1, 2, 4, 8 */
  SN_DOMAIN_FLOAT,       /* f64; size: 4, 8 */
  SN_DOMAIN_BOOL,        /* u8 */
  SN_DOMAIN_STRING, /* u32 length, bytes; or u32 with the highest bit set: a NAME's id. size: code
                          * points at most, 0: any number */
  SN_DOMAIN_NAME,   /* TYPE:MINOR#EPOCH */
  SN_DOMAIN_BYTES   /* u32 length, bytes: any, and no NAME's id. size: 0 */
};

/* --- records */

enum sn_mark {
  SN_MARK_DEFINITE = 1,
  SN_MARK_EXACT = 2, /* at (or start): one i64, else lo and hi */
  SN_MARK_CLOSES =
      4, /* an end record: the entity that the named domains say is there no more at .start */
  SN_MARK_ROUND = 8,       /* the end of a round of samples at .start: no values */
  SN_MARK_SKIPPED = 16,    /* no record: u32, so many of the pipe were for nobody. Alone, or with
                           * SN_MARK_RELATION. With SN_MARK_DEFINITE: so many records of the relation and of a
                           * process (u32) that no filter let pass, from i64 to i64 */
  SN_MARK_RELATION = 32,   /* u32: this and the following records are of this relation */
  SN_MARK_PERIOD = 64,     /* stop follows start */
  SN_MARK_EXACT_STOP = 128 /* stop: one i64, else lo and hi */
};

/* Times are ns since 1970-01-01T00:00:00Z, or chronons of an abstract time line. An event's time is .start;
 * the stop of a period that is still open is [INT64_MIN + 1, INT64_MAX] (NET_OPEN, forever). */
struct sn_record_head {
  uint8_t marks;
  uint32_t relation;
  uint32_t skipped,
      process; /* process: of filtered records, whose times are from .start_lo to .start_hi */
  int64_t start_lo, start_hi, stop_lo, stop_hi;
};

/* Writes a head; SN_MARK_EXACT and SN_MARK_EXACT_STOP are set as the times are, whatever .marks says. The
 * values follow: sn_put_i64, sn_put_f64, sn_put_u8, sn_put_string, sn_put_name_id. After
 * SN_MARK_CLOSES first sn_put_named, and only the named values. */
void sn_put_record_head(struct base_buffer *out, const struct sn_record_head *head);
void sn_put_named(struct base_buffer *out, const bool *named, uint32_t domains);
void sn_put_name_id(struct base_buffer *out, uint32_t id);
/* An EVENT_RECORD that was begun with count 0: COUNT entries (skips count as one) followed. */
bool sn_event_record_end(struct base_buffer *out, size_t at, uint32_t count);

struct sn_datum {
  bool given;      /* false: an end record does not name it */
  bool is_name_id; /* of a string: .id, else .text */
  uint32_t id;
  int64_t integer; /* also of a bool: 0 or 1 */
  double real;
  struct sn_string text; /* into the message */
};

struct sn_records {
  struct sn_reading reading;
  uint32_t left;     /* entries */
  uint32_t relation; /* of the next record */
  uint64_t sequence; /* in the pipe, of the next record */
};
void sn_records_start(struct sn_records *records, const struct sn_message_event_record *message);
/* The next head; false: that was all, and sn_records_good says whether it was all right. A head without
 * SN_MARK_ROUND and SN_MARK_SKIPPED is followed by sn_records_values. records->sequence is already the one
 * after this record (these records). */
bool sn_records_next(struct sn_records *records, struct sn_record_head *ret_head);
/* The values of a record of DOMAINS domains of types TYPES (enum sn_domain_type). */
bool sn_records_values(struct sn_records *records, const struct sn_record_head *head,
                       const uint8_t *types, uint32_t domains, struct sn_datum *ret_values);
bool sn_records_good(const struct sn_records *records);

/* --- objects of ADJUST_OBJECT: u8 flags, text domain, u8 type, the value as in a record */

struct sn_watched_object {
  struct sn_string domain;
  bool pattern; /* the value is a pattern: * any characters, ? one */
  uint8_t type; /* enum sn_domain_type */
  struct sn_datum value;
};
void sn_put_object(struct base_buffer *out, const struct sn_watched_object *object);
/* Of READING, which is what sn_reading_from(message.objects) gave. */
bool sn_get_object(struct sn_reading *reading, struct sn_watched_object *ret_object);

/* --- domains of RELATION_INFO: text name, u8 type, u32 size, flag by (part of the key) */

struct sn_domain {
  struct sn_string name;
  uint8_t type;
  uint32_t size;
  bool by;
};
void sn_put_domain(struct base_buffer *out, const struct sn_domain *domain);
bool sn_get_domain(struct sn_reading *reading, struct sn_domain *ret_domain);

/* What is in a rest; cells of a REPORT are texts (sn_get_bytes), row by row. */
struct sn_reading sn_reading_from(struct sn_string rest);

#endif
