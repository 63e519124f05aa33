/* Which characters are safe to print, and how the others are shown. */
#include "engine/base/printable.h"

size_t base_utf8(const char *text, size_t length, uint32_t *ret_point) {
  const unsigned char *bytes = (const unsigned char *)text;
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  size_t size = bytes[0] < 0x80 ? 1 : bytes[0] >= 0xF0 ? 4 : bytes[0] >= 0xE0 ? 3 : 2;
  if (size == 1) {
    *ret_point = bytes[0];
    return 1;
  }
  if (bytes[0] < 0xC2 || bytes[0] > 0xF4 || length < size) return 0;
  uint32_t point = bytes[0] & (0x7Fu >> size);
  for (size_t i = 1; i < size; i++) {
    if ((bytes[i] & 0xC0) != 0x80) return 0;
    point = point << 6 | (bytes[i] & 0x3F);
  }
  if (point < least[size] || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return 0;
  *ret_point = point;
  return size;
}

size_t base_utf8_cut(const char *text, size_t length, size_t most) {
  if (length <= most) return length;
  size_t cut = most;
  while (cut > 0 && most - cut < 3 && ((unsigned char)text[cut] & 0xC0) == 0x80) cut--;
  return ((unsigned char)text[cut] & 0xC0) == 0x80 ? most : cut;
}

static bool is_unsafe(uint32_t point) {
  return point < ' ' || (point >= 0x7F && point <= 0x9F) || (point >= 0x2028 && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069) || point == 0x200E || point == 0x200F;
}

/* The SIZE bytes of the character POINT, or one byte that is none (SIZE 0). */
static void append_escape(struct base_buffer *out, const char *text, size_t size, uint32_t point) {
  if (size == 1 && (point == '\n' || point == '\t' || point == '\r'))
    base_buffer_puts(out, point == '\n' ? "\\n" : point == '\t' ? "\\t" : "\\r");
  else if (size > 1)
    base_buffer_printf(out, "\\u%04x", point);
  else
    base_buffer_printf(out, "\\x%02x", (unsigned char)*text);
}

static void append(struct base_buffer *out, const char *text, size_t length, bool lines) {
  for (size_t i = 0, size; i < length; i += size ? size : 1) {
    uint32_t point = 0;
    size = base_utf8(text + i, length - i, &point);
    if ((size && !is_unsafe(point)) || (lines && size && (point == '\n' || point == '\t')))
      base_buffer_append(out, text + i, size);
    else
      append_escape(out, text + i, size, point);
  }
}

void base_buffer_printable(struct base_buffer *out, const char *text, size_t length) {
  append(out, text, length, false);
}

void base_buffer_printable_lines(struct base_buffer *out, const char *text, size_t length) {
  append(out, text, length, true);
}

bool base_is_printable(const char *text, size_t length) {
  for (size_t i = 0, size; i < length; i += size) {
    uint32_t point = 0;
    size = base_utf8(text + i, length - i, &point);
    if (size == 0 || is_unsafe(point)) return false;
  }
  return true;
}
