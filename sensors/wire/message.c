/* Frames, and the messages of messages.def: structs to bytes and back.
 *
 * The writers trust their callers, who made the structs; the readers trust nobody. Numbers are put
 * together byte by byte, which gcc makes one load or store of, and which is right on any machine.    */
#include "sensors/wire/message.h"

#include <string.h>

#include "engine/base/status.h"
#include "sensors/wire/records.h"

struct sn_string sn_string_of(const char *text) {
  return sn_string_from(text, text == NULL ? 0 : strlen(text));
}

struct sn_string sn_string_from(const char *bytes, size_t length) {
  BASE_CHECK(length <= UINT32_MAX, "wire-string-length");
  return (struct sn_string){bytes, (uint32_t)length};
}

bool sn_string_is(struct sn_string string, const char *text) {
  return strlen(text) == string.length &&
         (string.length == 0 || memcmp(string.bytes, text, string.length) == 0);
}

const char *sn_message_name(unsigned type) {
  switch (type) {
#define MESSAGE(NUMBER, NAME, LOWER, FROM) \
  case NUMBER:                             \
    return #NAME;
#define FIELD(KIND, LOWER)
#define AT_MOST(LOWER, LARGEST)
#define COUNTED(REST, COUNT, LEAST)
#define END(LOWER)
#include "sensors/wire/messages.def"
    default:
      return NULL;
  }
}

unsigned sn_message_from(unsigned type) {
  switch (type) {
#define MESSAGE(NUMBER, NAME, LOWER, FROM) \
  case NUMBER:                             \
    return FROM;
#define FIELD(KIND, LOWER)
#define AT_MOST(LOWER, LARGEST)
#define COUNTED(REST, COUNT, LEAST)
#define END(LOWER)
#include "sensors/wire/messages.def"
    default:
      return 0;
  }
}

/* --- writing */

static void store(unsigned char *to, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; i++) to[i] = (unsigned char)(value >> (8 * i));
}

/* Nearly always there is room for all eight: what is too many is written over by what follows. */
static inline void put(struct base_buffer *out, uint64_t value, size_t bytes) {
  if (out->capacity - out->length <= 8) base_buffer_reserve(out, 8);
  store((unsigned char *)out->data + out->length, value, 8);
  out->length += bytes;
  out->data[out->length] = 0;
}

void sn_put_u8(struct base_buffer *out, uint8_t value) {
  put(out, value, 1);
}

void sn_put_u32(struct base_buffer *out, uint32_t value) {
  put(out, value, 4);
}

void sn_put_u64(struct base_buffer *out, uint64_t value) {
  put(out, value, 8);
}

void sn_put_i64(struct base_buffer *out, int64_t value) {
  put(out, (uint64_t)value, 8);
}

void sn_put_f64(struct base_buffer *out, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  put(out, bits, 8);
}

void sn_put_string(struct base_buffer *out, struct sn_string value) {
  sn_put_u32(out, value.length);
  base_buffer_append(out, value.bytes, value.length);
}

/* A frame; returns where it is, for sn_message_end. */
static size_t begin_message(struct base_buffer *out, enum sn_message_type type, uint64_t number) {
  size_t at = out->length;
  put(out, 0, 4);
  put(out, type, 2);
  put(out, 0, 2);
  put(out, number, 8);
  return at;
}

bool sn_message_end(struct base_buffer *out, size_t at) {
  BASE_CHECK(out->length >= at + SN_FRAME_HEAD, "wire-message-end");
  size_t length = out->length - at - SN_FRAME_HEAD;
  if (length > SN_BODY_MAX) {
    out->length = at;
    out->data[at] = 0;
    return false;
  }
  store((unsigned char *)out->data + at, length, 4);
  return true;
}

/* --- reading */

static uint64_t load(const unsigned char *from, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; i++) value |= (uint64_t)from[i] << (8 * i);
  return value;
}

static uint64_t get(struct sn_reading *reading, size_t bytes) {
  if (reading->bad || (size_t)(reading->end - reading->at) < bytes) {
    reading->bad = true;
    return 0;
  }
  uint64_t value = load(reading->at, bytes);
  reading->at += bytes;
  return value;
}

struct sn_reading sn_reading_of(const struct sn_message *message) {
  return (struct sn_reading){message->body, message->body + message->length, false};
}

bool sn_reading_end(const struct sn_reading *reading) {
  return !reading->bad && reading->at == reading->end;
}

uint8_t sn_get_u8(struct sn_reading *reading) {
  return (uint8_t)get(reading, 1);
}

bool sn_get_flag(struct sn_reading *reading) {
  uint64_t value = get(reading, 1);
  if (value > 1) reading->bad = true;
  return value == 1;
}

uint32_t sn_get_u32(struct sn_reading *reading) {
  return (uint32_t)get(reading, 4);
}

uint64_t sn_get_u64(struct sn_reading *reading) {
  return get(reading, 8);
}

static int64_t sn_get_i64(struct sn_reading *reading) {
  return (int64_t)get(reading, 8);
}

double sn_get_f64(struct sn_reading *reading) {
  uint64_t bits = get(reading, 8);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static struct sn_string take(struct sn_reading *reading, size_t length) {
  if (reading->bad || (size_t)(reading->end - reading->at) < length) {
    reading->bad = true;
    return (struct sn_string){"", 0};
  }
  struct sn_string string = {(const char *)reading->at, (uint32_t)length};
  reading->at += length;
  return string;
}

struct sn_string sn_get_bytes(struct sn_reading *reading) {
  uint32_t length = sn_get_u32(reading);
  return take(reading, length);
}

/* The length of the character of UTF-8 that TEXT begins with; 0: there is none, or it is a NUL. */
static size_t character(const unsigned char *text, size_t length) {
  unsigned first = text[0];
  if (first < 0x80) return first != 0;
  size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || bytes > length) return 0;
  for (size_t i = 1; i < bytes; i++)
    if ((text[i] & 0xc0) != 0x80) return 0;
  unsigned second = text[1]; /* no long forms, no surrogates, nothing above U+10FFFF */
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) {
    return 0;
  }
  return bytes;
}

struct sn_string sn_get_text(struct sn_reading *reading) {
  struct sn_string text = sn_get_bytes(reading);
  for (size_t i = 0, step; i < text.length; i += step) {
    step = character((const unsigned char *)text.bytes + i, text.length - i);
    if (step == 0) {
      reading->bad = true;
      return (struct sn_string){"", 0};
    }
  }
  return text;
}

/* All that is left. */
static struct sn_string sn_get_rest(struct sn_reading *reading) {
  return take(reading, (size_t)(reading->end - reading->at));
}

/* --- messages */

#define SN_PUT_u8(VALUE)    sn_put_u8(out, VALUE)
#define SN_PUT_u32(VALUE)   sn_put_u32(out, VALUE)
#define SN_PUT_u64(VALUE)   sn_put_u64(out, VALUE)
#define SN_PUT_i64(VALUE)   sn_put_i64(out, VALUE)
#define SN_PUT_flag(VALUE)  sn_put_u8(out, VALUE)
#define SN_PUT_text(VALUE)  sn_put_string(out, VALUE)
#define SN_PUT_bytes(VALUE) sn_put_string(out, VALUE)
#define SN_PUT_rest(VALUE)  base_buffer_append(out, (VALUE).bytes, (VALUE).length)

#define MESSAGE(NUMBER, NAME, LOWER, FROM)                              \
  bool sn_put_##LOWER(struct base_buffer *out, uint64_t number,         \
                      const struct sn_message_##LOWER *message) {       \
    return sn_message_end(out, sn_begin_##LOWER(out, number, message)); \
  }                                                                     \
  size_t sn_begin_##LOWER(struct base_buffer *out, uint64_t number,     \
                          const struct sn_message_##LOWER *message) {   \
    (void)message;                                                      \
    size_t at = begin_message(out, NUMBER, number);
#define FIELD(KIND, LOWER) SN_PUT_##KIND(message->LOWER);
#define AT_MOST(LOWER, LARGEST)
#define COUNTED(REST, COUNT, LEAST)
#define END(LOWER) \
  return at;       \
  }
#include "sensors/wire/messages.def"

/* May there be COUNT things of LEAST bytes each in REST? */
static bool counts_agree(struct sn_string rest, uint64_t count, uint32_t least) {
  return count <= rest.length / least;
}

/* A row whose fields are all there ends exactly where the message does. */
#define MESSAGE(NUMBER, NAME, LOWER, FROM)                                                \
  bool sn_get_##LOWER(const struct sn_message *message, struct sn_message_##LOWER *ret) { \
    *ret = (struct sn_message_##LOWER){.end = 0};                                         \
    const struct sn_message_##LOWER *it = ret;                                            \
    (void)it;                                                                             \
    struct sn_reading reading = sn_reading_of(message);                                   \
    if (message->type != NUMBER) return false;
#define FIELD(KIND, LOWER) ret->LOWER = sn_get_##KIND(&reading);
#define AT_MOST(LOWER, LARGEST) \
  if (ret->LOWER > (LARGEST)) reading.bad = true;
#define COUNTED(REST, COUNT, LEAST) \
  if (!counts_agree(ret->REST, (COUNT), (LEAST))) reading.bad = true;
#define END(LOWER)                 \
  return sn_reading_end(&reading); \
  }
#include "sensors/wire/messages.def"
