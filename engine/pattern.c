/* Matching of Quel's patterns.
 *
 * The pattern is read as it stands, nothing is compiled. A `*` is tried with as little text as will
 * do; when what follows does not match, only the last `*` takes one character more, for whatever an
 * earlier one could take, the last one can take as well. So the work is at most the product of the
 * two lengths, and no memory is needed.
 *
 * Texts are valid UTF-8 (checked where they enter). Sets compare code points; order in a range is
 * that of the code points, as of the bytes. `-` stands for itself at either end of a set; an empty
 * set, a range that runs backwards, and a `\` at the very end are faults.                            */
#include "engine/pattern.h"

#include <stdint.h>

struct text {
  const unsigned char *at, *end;
};

static struct text text_of(const char *bytes, size_t length) {
  const unsigned char *at = (const unsigned char *)bytes;
  return (struct text){at, at + length};
}

/* The next code point; the text is not at its end. */
static uint32_t next_point(struct text *text) {
  uint32_t point = *text->at++;
  if (point >= 0xC0) point &= point >= 0xF0 ? 0x07 : point >= 0xE0 ? 0x0F : 0x1F;
  for (; text->at < text->end && (*text->at & 0xC0) == 0x80; text->at++)
    point = point << 6 | (*text->at & 0x3F);
  return point;
}

bool net_pattern_is_one(const char *text, size_t length) {
  for (size_t i = 0; i < length; i++)
    if (text[i] == '*' || text[i] == '?' || text[i] == '[') return true;
  return false;
}

/* One member of a set: a character, perhaps behind a `\`. */
static uint32_t next_member(struct text *pattern) {
  if (*pattern->at == '\\' && pattern->at + 1 < pattern->end) pattern->at++;
  return next_point(pattern);
}

/* Behind the `[`, up to the `]`: is POINT in the set? */
static bool in_set(struct text *pattern, uint32_t point) {
  bool found = false;
  while (*pattern->at != ']') {
    uint32_t first = next_member(pattern), last = first;
    if (pattern->at[0] == '-' && pattern->at[1] != ']') {
      pattern->at++;
      last = next_member(pattern);
    }
    found = found || (point >= first && point <= last);
  }
  pattern->at++;
  return found;
}

static const char *set_fault(struct text *pattern) {
  static const char *const unterminated = "has a [ without its ]";
  if (pattern->at < pattern->end && *pattern->at == ']') return "has an empty set []";
  while (pattern->at < pattern->end && *pattern->at != ']') {
    uint32_t first = next_member(pattern);
    if (pattern->end - pattern->at < 2 || pattern->at[0] != '-' || pattern->at[1] == ']') continue;
    pattern->at++;
    if (next_member(pattern) < first) return "has a range that runs backwards";
  }
  if (pattern->at == pattern->end) return unterminated;
  pattern->at++;
  return NULL;
}

const char *net_pattern_fault(const char *pattern, size_t length) {
  struct text rest = text_of(pattern, length);
  while (rest.at < rest.end) {
    unsigned char byte = *rest.at++;
    if (byte == '\\' && rest.at == rest.end) return "ends with a \\ that escapes nothing";
    if (byte == '\\') next_point(&rest);
    if (byte != '[') continue;
    const char *fault = set_fault(&rest);
    if (fault) return fault;
  }
  return NULL;
}

bool net_pattern_plain(const char *pattern, size_t length, struct base_buffer *out) {
  for (size_t i = 0; i < length; i++) {
    if (pattern[i] == '*' || pattern[i] == '?' || pattern[i] == '[') return false;
    if (pattern[i] == '\\') i++;
    base_buffer_putc(out, pattern[i]);
  }
  return true;
}

/* Takes one character of TEXT, which is not at its end, by the element that PATTERN begins with
 * (which is no `*`). */
static bool take_one(struct text *pattern, struct text *text) {
  uint32_t point = next_point(text);
  if (pattern->at == pattern->end) return false;
  unsigned char byte = *pattern->at;
  if (byte == '?' || byte == '[') pattern->at++;
  if (byte == '?') return true;
  return byte == '[' ? in_set(pattern, point) : next_member(pattern) == point;
}

bool net_pattern_match(const char *pattern_bytes, size_t pattern_length, const char *bytes,
                       size_t length) {
  struct text pattern = text_of(pattern_bytes, pattern_length), text = text_of(bytes, length);
  struct text after_star = {0}, taken = {0}; /* behind the last `*`, and what it has taken */
  for (;;) {
    if (pattern.at < pattern.end && *pattern.at == '*') {
      pattern.at++;
      after_star = pattern;
      taken = text;
      continue;
    }
    if (text.at == text.end) return pattern.at == pattern.end;
    if (take_one(&pattern, &text)) continue;
    if (!after_star.at) return false;
    next_point(&taken);
    text = taken;
    pattern = after_star;
  }
}
