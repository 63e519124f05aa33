/* Text on a terminal: how wide it is, and which of it is safe to print.
 *
 * The width is that of most terminals: two columns for the wide scripts of East Asia and for emoji,
 * none for combining marks and joiners, one for everything else. It does not depend on the locale,
 * so that the same result always prints the same bytes.
 *
 * Strings come from outside. A control character among them (also one of the C1 set, and the signs
 * that turn the direction of writing) could move the cursor or hide text, so these are shown as
 * escapes. */
#include <string.h>

#include "tquel/format/cells.h"

size_t tql_utf8(const char *text, size_t length, uint32_t *ret_point) {
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

struct point_range {
  uint32_t first, last;
};

static bool is_in(const struct point_range *ranges, size_t count, uint32_t point) {
  for (size_t i = 0; i < count; i++)
    if (point >= ranges[i].first && point <= ranges[i].last) return true;
  return false;
}

static size_t point_width(uint32_t point) {
  static const struct point_range none[] = {{0x300, 0x36F},   {0x483, 0x489},   {0x591, 0x5BD},
                                            {0x610, 0x61A},   {0x64B, 0x65F},   {0x1AB0, 0x1AFF},
                                            {0x1DC0, 0x1DFF}, {0x200B, 0x200D}, {0x20D0, 0x20FF},
                                            {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}};
  static const struct point_range wide[] = {
      {0x1100, 0x115F},   {0x2E80, 0x303E},  {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},
      {0xA960, 0xA97F},   {0xAC00, 0xD7A3},  {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},
      {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF},
      {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD}};
  if (point < 0x300) return 1;
  if (is_in(none, sizeof none / sizeof none[0], point)) return 0;
  return is_in(wide, sizeof wide / sizeof wide[0], point) ? 2 : 1;
}

size_t tql_text_width(const char *text, size_t length) {
  size_t width = 0;
  for (size_t i = 0; i < length;) {
    uint32_t point = 0;
    size_t size = tql_utf8(text + i, length - i, &point);
    width += size ? point_width(point) : 1;
    i += size ? size : 1;
  }
  return width;
}

static bool is_unsafe(uint32_t point) {
  return point < ' ' || (point >= 0x7F && point <= 0x9F) || (point >= 0x2028 && point <= 0x202E) ||
         (point >= 0x2066 && point <= 0x2069) || point == 0x200E || point == 0x200F;
}

void tql_append_printable(struct base_buffer *out, const char *text, size_t length) {
  for (size_t i = 0; i < length;) {
    uint32_t point = 0;
    size_t size = tql_utf8(text + i, length - i, &point);
    if (size && !is_unsafe(point)) {
      base_buffer_append(out, text + i, size);
    } else if (point == '\n' || point == '\t' || point == '\r') {
      base_buffer_puts(out, point == '\n' ? "\\n" : point == '\t' ? "\\t" : "\\r");
    } else if (size > 1) {
      base_buffer_printf(out, "\\u%04x", point);
    } else {
      base_buffer_printf(out, "\\x%02x", (unsigned char)text[i]);
    }
    i += size ? size : 1;
  }
}

void tql_append_repeated(struct base_buffer *out, const char *text, size_t count) {
  size_t length = strlen(text);
  base_buffer_reserve(out, length * count);
  for (size_t i = 0; i < count; i++) base_buffer_append(out, text, length);
}
