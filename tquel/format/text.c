/* Text on a terminal: how wide it is.
 *
 * The width is that of most terminals: two columns for the wide scripts of East Asia and for emoji,
 * none for combining marks and joiners, one for everything else. It does not depend on the locale,
 * so that the same result always prints the same bytes. */
#include <string.h>

#include "tquel/format/cells.h"

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
    size_t size = base_utf8(text + i, length - i, &point);
    width += size ? point_width(point) : 1;
    i += size ? size : 1;
  }
  return width;
}

void tql_append_repeated(struct base_buffer *out, const char *text, size_t count) {
  size_t length = strlen(text);
  base_buffer_reserve(out, length * count);
  for (size_t i = 0; i < count; i++) base_buffer_append(out, text, length);
}

void tql_append_title(struct base_buffer *out, const char *name) {
  base_buffer_printable(out, name, strlen(name));
  base_buffer_putc(out, '\n');
}
