/* Messages between collectors, feeders, shells and the server: as structs and as bytes (thesis 8.4).
 *
 *     struct ──sn_put_NAME──▶ bytes in a buffer ══connection══▶ struct sn_message ──sn_get_NAME──▶ struct
 *
 * A message is a frame, little-endian: u32 length of the body, u16 type, u16 flags (0), u64 number, body.
 * Which messages there are and what they consist of is in messages.def; what they mean, and who says what
 * when, in README.md.
 *
 * Nothing is copied in reading: texts are views into the message. Whatever the bytes, a reader stays within
 * them; a message that is too short or too long, a flag that is not 0 or 1, a text that is not UTF-8, are no
 * message (false). What a number refers to is the receiver's to check.                               */
#ifndef SN_WIRE_MESSAGE_H
#define SN_WIRE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/buffer.h"

#define SN_WIRE_VERSION   2
#define SN_FRAME_HEAD     16         /* bytes before the body */
#define SN_BODY_MAX       (1u << 20) /* bytes of a body */
#define SN_BODY_MAX_FIRST (1u << 16) /* of the first one of a connection */
#define SN_NAME_ID_MAX    (UINT32_MAX / 2)

enum sn_role { SN_ROLE_SHELL, SN_ROLE_COLLECTOR, SN_ROLE_FEED };
enum { SN_HELLO_READONLY = 1, SN_HELLO_FLAGS = 1 }; /* flags of a hello */

/* Who may send a message. */
enum sn_wire_side {
  SN_FROM_SHELL = 1,
  SN_FROM_SOURCE = 2, /* collector or feed */
  SN_FROM_CLIENT = 3,
  SN_FROM_SERVER = 4,
  SN_FROM_ALL = 7,
  SN_NUMBERED = 8 /* it is data: see README.md, Sources */
};

/* SN_WIRE_HELLO and so on. */
enum sn_message_type {
#define MESSAGE(NUMBER, NAME, LOWER, FROM) SN_WIRE_##NAME = NUMBER,
#define FIELD(KIND, LOWER)
#define AT_MOST(LOWER, LARGEST)
#define COUNTED(REST, COUNT, LEAST)
#define END(LOWER)
#include "sensors/wire/messages.def"
};

/* Bytes that are somebody else's, or a literal's. */
struct sn_string {
  const char *bytes;
  uint32_t length;
};
struct sn_string sn_string_of(const char *text); /* NULL is "" */
struct sn_string sn_string_from(const char *bytes, size_t length);
bool sn_string_is(struct sn_string string, const char *text);

/* A message as it came: body[0 .. length). */
struct sn_message {
  uint16_t type;
  uint64_t number; /* of data: 1, 2, ... for each incarnation of a source; else 0 */
  const unsigned char *body;
  uint32_t length;
};

/* The name of TYPE, "EVENT_RECORD"; NULL: there is no such message. Who may send it, and SN_NUMBERED; 0: nobody. */
const char *sn_message_name(unsigned type);
unsigned sn_message_from(unsigned type);

/* --- bytes: writing appends to a buffer */

void sn_put_u8(struct base_buffer *out, uint8_t value);
void sn_put_u32(struct base_buffer *out, uint32_t value);
void sn_put_u64(struct base_buffer *out, uint64_t value);
void sn_put_i64(struct base_buffer *out, int64_t value);
void sn_put_f64(struct base_buffer *out, double value);
void sn_put_string(struct base_buffer *out, struct sn_string value); /* u32 length, bytes */

/* False: the body is longer than SN_BODY_MAX; the frame is taken out again. */
bool sn_message_end(struct base_buffer *out, size_t at);

/* --- bytes: reading. After the first thing that is not there, everything is 0 or empty, and .bad. */

struct sn_reading {
  const unsigned char *at, *end;
  bool bad;
};
struct sn_reading sn_reading_of(const struct sn_message *message);
bool sn_reading_end(const struct sn_reading *reading); /* all was read, and nothing was bad */
uint8_t sn_get_u8(struct sn_reading *reading);
bool sn_get_flag(struct sn_reading *reading);
uint32_t sn_get_u32(struct sn_reading *reading);
uint64_t sn_get_u64(struct sn_reading *reading);
double sn_get_f64(struct sn_reading *reading);
struct sn_string sn_get_bytes(struct sn_reading *reading);
struct sn_string sn_get_text(struct sn_reading *reading); /* bad: not UTF-8, or with a NUL */

/* --- messages. For each NAME of messages.def:
 *
 *   struct sn_message_NAME                        its fields
 *   bool sn_put_NAME(out, number, &message)       appends it; false: it is too long, nothing is appended
 *   size_t sn_begin_NAME(out, number, &message)   the same without the end, for more to follow: what of
 *                                                 .rest there is not yet; sn_message_end ends it
 *   bool sn_get_NAME(&message, &ret_message)      false: it is no such message; ret_message is not to be used
 *
 * The field "rest" of a message that was read is everything from there to its end.                  */

#define SN_TYPE_u8    uint8_t
#define SN_TYPE_u32   uint32_t
#define SN_TYPE_u64   uint64_t
#define SN_TYPE_i64   int64_t
#define SN_TYPE_flag  bool
#define SN_TYPE_text  struct sn_string
#define SN_TYPE_bytes struct sn_string
#define SN_TYPE_rest  struct sn_string

#define MESSAGE(NUMBER, NAME, LOWER, FROM) struct sn_message_##LOWER {
#define FIELD(KIND, LOWER)                 SN_TYPE_##KIND LOWER;
#define AT_MOST(LOWER, LARGEST)
#define COUNTED(REST, COUNT, LEAST)
#define END(LOWER) \
  char end;        \
  }                \
  ;
#include "sensors/wire/messages.def"

#define MESSAGE(NUMBER, NAME, LOWER, FROM)                           \
  bool sn_put_##LOWER(struct base_buffer *out, uint64_t number,      \
                      const struct sn_message_##LOWER *message);     \
  size_t sn_begin_##LOWER(struct base_buffer *out, uint64_t number,  \
                          const struct sn_message_##LOWER *message); \
  bool sn_get_##LOWER(const struct sn_message *message, struct sn_message_##LOWER *ret);
#define FIELD(KIND, LOWER)
#define AT_MOST(LOWER, LARGEST)
#define COUNTED(REST, COUNT, LEAST)
#define END(LOWER)
#include "sensors/wire/messages.def"

#endif
