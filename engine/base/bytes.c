/* Any bytes as text: escaped, where most of them are characters, and in hexadecimal digits.
 *
 * Escaped:
 *
 *     "caf\351"      caf\xe9         a byte that belongs to no character: \x and its two digits
 *     "a\0b"         a\x00b         the zero byte, too, which texts do not have
 *     "a\b\351"      a\\b\xe9        a backslash in such a text is two
 *     "a\b"          a\b             all other texts are as they are
 *     "C:\xe9"       C:\\xe9         but for those that would be taken for the first kind
 *
 * So a text with \x and two digits from 80 to ff, or 00, is one that was escaped, no other is, and what it was can be
 * had back: each \\ was a backslash, each \xHH a byte.                                                      */
#include "engine/base/bytes.h"

#include <string.h>

#include "engine/base/printable.h"

/* --- escaped */

static bool is_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* Does TEXT begin as a byte that was escaped? */
static bool looks_escaped(const char *text, size_t length) {
  if (length < 4 || text[0] != '\\' || text[1] != 'x' || !is_digit(text[3])) return false;
  return (is_digit(text[2]) && text[2] >= '8') || (text[2] == '0' && text[3] == '0');
}

/* Eight characters of ASCII, none of them a backslash or zero. */
static bool is_simple(const char *text) {
  const uint64_t high = UINT64_C(0x8080808080808080), ones = UINT64_C(0x0101010101010101);
  uint64_t word;
  memcpy(&word, text, sizeof word);
  uint64_t other = word ^ ones * '\\'; /* a byte of it is 0 where there is a backslash */
  return ((word | ((other - ones) & ~other) | ((word - ones) & ~word)) & high) == 0;
}

bool base_bytes_are_plain(const char *text, size_t length) {
  uint32_t point;
  for (size_t i = 0, size; i < length; i += size) {
    size = 8;
    if (length - i >= 8 && is_simple(text + i)) continue;
    size = base_utf8(text + i, length - i, &point);
    if (size == 0 || text[i] == '\0' || looks_escaped(text + i, length - i)) return false;
  }
  return true;
}

void base_bytes_escape(struct base_buffer *out, const char *text, size_t length) {
  uint32_t point;
  for (size_t i = 0, size; i < length; i += size) {
    size = base_utf8(text + i, length - i, &point);
    if (size == 0 || text[i] == '\0')
      base_buffer_printf(out, "\\x%02x", (unsigned char)text[i]);
    else if (text[i] == '\\')
      base_buffer_puts(out, "\\\\");
    else
      base_buffer_append(out, text + i, size);
    if (size == 0) size = 1;
  }
}

/* --- hexadecimal */

void base_buffer_hex(struct base_buffer *out, const char *bytes, size_t length) {
  static const char digits[] = "0123456789abcdef";
  base_buffer_reserve(out, length * 2);
  for (size_t i = 0; i < length; i++) {
    unsigned char byte = (unsigned char)bytes[i];
    base_buffer_putc(out, digits[byte >> 4]);
    base_buffer_putc(out, digits[byte & 15]);
  }
}

void base_buffer_bytes(struct base_buffer *out, const char *bytes, size_t length) {
  base_buffer_puts(out, "\\x");
  base_buffer_hex(out, bytes, length);
}

void base_buffer_bytes_constant(struct base_buffer *out, const char *bytes, size_t length) {
  base_buffer_puts(out, "x'");
  base_buffer_hex(out, bytes, length);
  base_buffer_putc(out, '\'');
}

/* -1: no digit. */
static int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool base_hex_read(struct base_buffer *out, const char *text, size_t length) {
  size_t before = out->length;
  bool good = length % 2 == 0;
  for (size_t i = 0; good && i < length; i += 2) {
    int high = digit_of(text[i]), low = digit_of(text[i + 1]);
    good = high >= 0 && low >= 0;
    if (good) base_buffer_putc(out, (char)(high << 4 | low));
  }
  if (good || out->data == NULL) return good;
  out->length = before;
  out->data[before] = '\0';
  return false;
}

bool base_bytes_read(struct base_buffer *out, const char *text, size_t length) {
  bool marked = length >= 2 && text[0] == '\\' && text[1] == 'x';
  return marked ? base_hex_read(out, text + 2, length - 2) : base_hex_read(out, text, length);
}
