/* Bytes of the reference, each a number by itself: parts, positions, digits, and how they stand in texts. */
#include <string.h>

#include "tests/oracle/oracle_internal.h"

struct bytes {
  const unsigned char *items;
  size_t count;
};

static struct bytes bytes_of(const struct oracle *oracle, base_string_id id) {
  struct bytes bytes;
  bytes.items = (const unsigned char *)base_strings_text(oracle->world->strings, id, &bytes.count);
  return bytes;
}

/* Does TEXT hold PART at AT? */
static bool stands_at(struct bytes text, size_t at, struct bytes part) {
  for (size_t i = 0; i < part.count; i++)
    if (at + i >= text.count || text.items[at + i] != part.items[i]) return false;
  return true;
}

static int64_t position_of(struct bytes text, struct bytes part) {
  for (size_t i = 0; i <= text.count; i++)
    if (stands_at(text, i, part)) return (int64_t)i + 1;
  return 0;
}

static void put_digits(struct base_buffer *out, struct bytes bytes) {
  for (size_t i = 0; i < bytes.count; i++) base_buffer_printf(out, "%02x", bytes.items[i]);
}

/* --- texts */

/* How many bytes the character at AT takes, by what its first byte says; 0: there is none. What it means is written
 * anew, and must be what stands there. */
static size_t character_at(struct bytes bytes, size_t at) {
  unsigned char first = bytes.items[at], again[4];
  size_t count = first < 0x80 ? 1 : first < 0xC0 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (count == 0 || first >= 0xF8 || bytes.count - at < count) return 0;
  uint32_t point = count == 1 ? first : first & (0xFFu >> (count + 1));
  for (size_t i = 1; i < count; i++) point = point << 6 | (bytes.items[at + i] & 0x3Fu);
  if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return 0;
  size_t least = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  if (least != count) return 0;
  if (count == 1) return 1;
  again[0] = (unsigned char)((0xF00u >> count & 0xFFu) | point >> 6 * (count - 1));
  for (size_t i = 1; i < count; i++)
    again[i] = (unsigned char)(0x80u | (point >> 6 * (count - 1 - i) & 0x3Fu));
  return memcmp(again, bytes.items + at, count) == 0 ? count : 0;
}

/* Would somebody take what stands at AT for an escaped byte? */
static bool looks_escaped(struct bytes bytes, size_t at) {
  if (bytes.count - at < 4) return false;
  for (unsigned byte = 0; byte < 256; byte = byte == 0 ? 0x80 : byte + 1) {
    char escaped[8];
    struct base_buffer text = BASE_BUFFER_EMPTY;
    base_buffer_printf(&text, "\\x%02x", byte);
    memcpy(escaped, base_buffer_text(&text), 4);
    base_buffer_done(&text);
    if (memcmp(escaped, bytes.items + at, 4) == 0) return true;
  }
  return false;
}

static bool is_text(struct bytes bytes) {
  for (size_t at = 0, step; at < bytes.count; at += step) {
    step = character_at(bytes, at);
    if (step == 0 || bytes.items[at] == 0 || looks_escaped(bytes, at)) return false;
  }
  return true;
}

static void put_text(struct base_buffer *out, struct bytes bytes) {
  bool whole = is_text(bytes);
  for (size_t at = 0, step; at < bytes.count; at += step) {
    step = character_at(bytes, at);
    bool escaped = step == 0 || bytes.items[at] == 0;
    if (escaped)
      base_buffer_printf(out, "\\x%02x", bytes.items[at]);
    else if (bytes.items[at] == '\\' && !whole)
      base_buffer_puts(out, "\\\\");
    else
      base_buffer_append(out, bytes.items + at, step);
    if (step == 0) step = 1;
  }
}

/* --- digits */

static bool read_digits(struct bytes text, struct base_buffer *out) {
  static const char digits[] = "00112233445566778899aAbBcCdDeEfF";
  size_t at = text.count >= 2 && text.items[0] == '\\' && text.items[1] == 'x' ? 2 : 0;
  if ((text.count - at) % 2 != 0) return false;
  for (; at < text.count; at += 2) {
    const char *high = text.items[at] ? strchr(digits, text.items[at]) : NULL;
    const char *low = text.items[at + 1] ? strchr(digits, text.items[at + 1]) : NULL;
    if (!high || !low) return false;
    base_buffer_putc(out, (char)((high - digits) / 2 * 16 + (low - digits) / 2));
  }
  return true;
}

/* --- operations */

static bool is_wanted(const struct ng_expr *expr, size_t at, size_t count, int64_t a, int64_t b) {
  int64_t place = (int64_t)at + 1, all = (int64_t)count;
  if (expr->op == NG_LEFT) return place <= a;
  if (expr->op == NG_RIGHT) return all - (int64_t)at <= a;
  return place >= a && (a > INT64_MAX - b || place < a + b);
}

struct oracle_value oracle_bytes_operation(struct oracle *oracle, const struct ng_expr *expr,
                                           const struct oracle_value *a,
                                           const struct oracle_value *b,
                                           const struct oracle_value *c) {
  struct oracle_value result = {.base = expr->type.base};
  struct bytes bytes = bytes_of(oracle, a->s);
  struct base_buffer out = BASE_BUFFER_EMPTY;
  switch (expr->op) {
    case NG_LENGTH:
      result.i = (int64_t)bytes.count;
      return result;
    case NG_POSITION:
      result.i = position_of(bytes, bytes_of(oracle, b->s));
      return result;
    case NG_CONCAT:
      base_buffer_append(&out, bytes.items, bytes.count);
      bytes = bytes_of(oracle, b->s);
      base_buffer_append(&out, bytes.items, bytes.count);
      break;
    case NG_ASCII:
      base_buffer_puts(&out, "\\x");
      put_digits(&out, bytes);
      break;
    case NG_HEX:
      put_digits(&out, bytes);
      break;
    case NG_UNHEX:
      if (!read_digits(bytes, &out)) oracle_fail(oracle, "no bytes");
      break;
    case NG_CONVERT:
      if (expr->type.base == NET_STRING)
        put_text(&out, bytes);
      else
        base_buffer_append(&out, bytes.items, bytes.count);
      break;
    default:
      if ((expr->op == NG_SUBSTRING ? c->i : b->i) < 0) oracle_fail(oracle, "negative length");
      for (size_t i = 0; i < bytes.count; i++)
        if (is_wanted(expr, i, bytes.count, b->i, c->i))
          base_buffer_putc(&out, (char)bytes.items[i]);
  }
  result.s = base_strings_intern(oracle->world->strings, base_buffer_text(&out), out.length);
  base_buffer_done(&out);
  return result;
}
