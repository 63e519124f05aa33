/* Strings of the reference: code points, patterns, ascii, concat, left, right, length, numbers read
 * from text. A pattern is matched by trying everything: `*` any string, `?` one code point, `[a-z]` one
 * of a class; `\` takes the next code point as it is.                                              */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/oracle_internal.h"

/* Length in bytes of the code point at TEXT (valid UTF-8, not at the end). */
static size_t step(const char *text) {
  unsigned char c = (unsigned char)*text;
  return c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

static int64_t code_points(const char *text) {
  int64_t count = 0;
  for (; *text; text += step(text)) count++;
  return count;
}

/* The code point's bytes as a number: their order is that of the code points. */
static uint32_t point(const char *text) {
  uint32_t value = 0;
  for (size_t i = 0; i < step(text); i++) value = value << 8 | (unsigned char)text[i];
  return value;
}

/* One code point of a class; an escape takes the next. */
static const char *class_point(const char *pattern, uint32_t *ret) {
  if (*pattern == '\\') pattern++;
  *ret = point(pattern);
  return pattern + step(pattern);
}

/* PATTERN points behind the `[`. The pattern behind the `]`; *RET: is C in the class? */
static const char *in_class(const char *pattern, uint32_t c, bool *ret) {
  *ret = false;
  while (*pattern != ']') {
    uint32_t first, last;
    pattern = class_point(pattern, &first);
    last = first;
    if (*pattern == '-' && pattern[1] != ']') pattern = class_point(pattern + 1, &last);
    if (first <= c && c <= last) *ret = true;
  }
  return pattern + 1;
}

static bool matches(const char *text, const char *pattern) {
  bool is_in;
  switch (*pattern) {
    case '\0':
      return *text == '\0';
    case '*':
      for (;; text += step(text)) {
        if (matches(text, pattern + 1)) return true;
        if (!*text) return false;
      }
    case '?':
      return *text && matches(text + step(text), pattern + 1);
    case '[':
      if (!*text) return false;
      pattern = in_class(pattern + 1, point(text), &is_in);
      return is_in && matches(text + step(text), pattern);
    case '\\':
      pattern++;
      break;
    default:
      break;
  }
  return *text && point(text) == point(pattern) &&
         matches(text + step(text), pattern + step(pattern));
}

bool oracle_matches(const struct oracle *oracle, base_string_id text, base_string_id pattern) {
  return matches(base_strings_text(oracle->world->strings, text, NULL),
                 base_strings_text(oracle->world->strings, pattern, NULL));
}

bool oracle_number_of_text(const char *text, struct net_type type, struct oracle_value *ret) {
  char *end;
  while (*text == ' ' || *text == '\t') text++;
  if (*text == '\0') return false;
  errno = 0;
  ret->base = type.base;
  if (type.base == NET_INTEGER)
    ret->i = strtoll(text, &end, 10);
  else
    ret->f = strtod(text, &end);
  while (*end == ' ' || *end == '\t') end++;
  return errno == 0 && *end == '\0' && (type.base == NET_INTEGER || isfinite(ret->f));
}

static void ascii(const struct oracle *oracle, struct base_buffer *out,
                  const struct oracle_value *value) {
  switch (value->base) {
    case NET_FLOAT:
      base_buffer_double(out, value->f);
      return;
    case NET_BOOL:
      base_buffer_puts(out, value->truth == NET_TRUE ? "true" : "false");
      return;
    case NET_STRING:
    case NET_NAME:
      base_buffer_puts(out, base_strings_text(oracle->world->strings, value->s, NULL));
      return;
    default:
      base_buffer_int(out, value->i);
  }
}

/* The first COUNT code points, or the last ones. */
static void part(struct oracle *oracle, struct base_buffer *out, const char *text, int64_t count,
                 bool right) {
  if (count < 0) {
    oracle_fail(oracle, "negative length");
    return;
  }
  int64_t have = code_points(text);
  for (int64_t i = 0; i < have; i++, text += step(text))
    if (right ? i >= have - count : i < count)
      for (size_t j = 0; j < step(text); j++) base_buffer_putc(out, text[j]);
}

struct oracle_value oracle_text_operation(struct oracle *oracle, const struct ng_expr *expr,
                                          const struct oracle_value *a,
                                          const struct oracle_value *b) {
  struct oracle_value result = {.base = expr->type.base};
  const struct base_strings *strings = oracle->world->strings;
  struct base_buffer out = BASE_BUFFER_EMPTY;
  switch (expr->op) {
    case NG_LENGTH:
      result.i = code_points(base_strings_text(strings, a->s, NULL));
      return result;
    case NG_ASCII:
      ascii(oracle, &out, a);
      break;
    case NG_CONCAT:
      base_buffer_puts(&out, base_strings_text(strings, a->s, NULL));
      base_buffer_puts(&out, base_strings_text(strings, b->s, NULL));
      break;
    default:
      part(oracle, &out, base_strings_text(strings, a->s, NULL), b->i, expr->op == NG_RIGHT);
  }
  result.s = base_strings_intern_text(oracle->world->strings, base_buffer_text(&out));
  base_buffer_done(&out);
  return result;
}
