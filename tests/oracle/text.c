/* Strings of the reference: code points, patterns, ascii, concat, left, right, length, numbers read
 * from text. A pattern is matched by trying everything: `*` any string, `?` one code point, `[a-z]` one
 * of a class; `\` takes the next code point as it is.                                              */
#include <errno.h>
#include <math.h>
#include <regex.h>
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

/* By the C library: other code, and for these expressions the same language. */
static bool find(const struct oracle *oracle, base_string_id text, base_string_id expression,
                 regmatch_t groups[10]) {
  regex_t compiled;
  const char *words = base_strings_text(oracle->world->strings, expression, NULL);
  if (regcomp(&compiled, words, REG_EXTENDED) != 0) return false;
  int found =
      regexec(&compiled, base_strings_text(oracle->world->strings, text, NULL), 10, groups, 0);
  regfree(&compiled);
  return found == 0;
}

bool oracle_finds(const struct oracle *oracle, base_string_id text, base_string_id expression) {
  regmatch_t groups[10];
  return find(oracle, text, expression, groups);
}

struct oracle_value oracle_capture(struct oracle *oracle, const struct ng_expr *expr,
                                   base_string_id text, int64_t group) {
  regmatch_t groups[10];
  struct oracle_value value = {.base = NET_STRING};
  size_t first = 0, length = 0;
  if (group < 0 || group > 63) {
    oracle_fail(oracle, "capture");
    return value;
  }
  const char *bytes = base_strings_text(oracle->world->strings, text, NULL);
  if (find(oracle, text, expr->string, groups) && group < 10 && groups[group].rm_so >= 0) {
    first = (size_t)groups[group].rm_so;
    length = (size_t)groups[group].rm_eo - first;
  }
  value.s = base_strings_intern(oracle->world->strings, bytes + first, length);
  return value;
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

/* --- texts as characters, each a number */

struct characters {
  uint32_t *items;
  size_t count;
};

static struct characters characters_of(struct oracle *oracle, base_string_id id) {
  const char *text = base_strings_text(oracle->world->strings, id, NULL);
  struct characters result = {
      BASE_NEW_ARRAY(oracle->arena, (size_t)code_points(text) + 1, uint32_t), 0};
  for (; *text; text += step(text)) {
    uint32_t character = (unsigned char)text[0];
    for (size_t i = 1; i < step(text); i++) character = character << 8 | (unsigned char)text[i];
    result.items[result.count++] = character; /* its bytes, as one number */
  }
  return result;
}

static void put_character(struct base_buffer *out, uint32_t character) {
  for (int shift = 24; shift >= 0; shift -= 8)
    if (character >> shift) base_buffer_putc(out, (char)(character >> shift));
}

static bool begins_at(struct characters text, size_t at, struct characters part) {
  for (size_t i = 0; i < part.count; i++)
    if (at + i >= text.count || text.items[at + i] != part.items[i]) return false;
  return true;
}

static bool is_white(uint32_t character) {
  return character == ' ' || (character >= 9 && character <= 13);
}

/* The generator's texts have no other letters that change. */
static uint32_t other_case(uint32_t character, bool lower) {
  if (lower && character >= 'A' && character <= 'Z') return character + 32;
  if (!lower && character >= 'a' && character <= 'z') return character - 32;
  if (character == 0xC3A9 && !lower) return 0xC389;
  if (character == 0xC389 && lower) return 0xC3A9;
  return character;
}

static void put_part(struct base_buffer *out, struct characters text, struct characters by,
                     int64_t wanted) {
  int64_t part = 1;
  for (size_t i = 0; i < text.count;) {
    if (by.count > 0 && begins_at(text, i, by)) {
      part++;
      i += by.count;
    } else {
      if (part == wanted) put_character(out, text.items[i]);
      i++;
    }
  }
}

static void put_substituted(struct base_buffer *out, struct characters text, struct characters what,
                            struct characters by) {
  for (size_t i = 0; i < text.count;) {
    if (what.count > 0 && begins_at(text, i, what)) {
      for (size_t j = 0; j < by.count; j++) put_character(out, by.items[j]);
      i += what.count;
    } else {
      put_character(out, text.items[i++]);
    }
  }
}

static int64_t position_of(struct characters text, struct characters part) {
  for (size_t i = 0; i <= text.count; i++)
    if (begins_at(text, i, part)) return (int64_t)i + 1;
  return 0;
}

static void put_trimmed(struct base_buffer *out, struct characters text) {
  size_t first = 0, end = text.count;
  while (first < end && is_white(text.items[first])) first++;
  while (end > first && is_white(text.items[end - 1])) end--;
  for (size_t i = first; i < end; i++) put_character(out, text.items[i]);
}

struct oracle_value oracle_text_change(struct oracle *oracle, const struct ng_expr *expr,
                                       const struct oracle_value *a, const struct oracle_value *b,
                                       const struct oracle_value *c) {
  struct oracle_value result = {.base = expr->type.base};
  struct characters text = characters_of(oracle, a->s);
  struct base_buffer out = BASE_BUFFER_EMPTY;
  bool counted = expr->op == NG_SUBSTRING || expr->op == NG_SPLIT;
  if (counted && c->i < (expr->op == NG_SPLIT ? 1 : 0)) {
    oracle_fail(oracle, "negative length");
    return result;
  }
  switch (expr->op) {
    case NG_POSITION:
      result.i = position_of(text, characters_of(oracle, b->s));
      return result;
    case NG_TRIM:
      put_trimmed(&out, text);
      break;
    case NG_SUBSTRING:
      for (size_t i = 0; i < text.count; i++) {
        int64_t place = (int64_t)i + 1;
        bool before = b->i > INT64_MAX - c->i || place < b->i + c->i;
        if (place >= b->i && before) put_character(&out, text.items[i]);
      }
      break;
    case NG_SUBSTITUTE:
      put_substituted(&out, text, characters_of(oracle, b->s), characters_of(oracle, c->s));
      break;
    case NG_SPLIT:
      put_part(&out, text, characters_of(oracle, b->s), c->i);
      break;
    default:
      for (size_t i = 0; i < text.count; i++)
        put_character(&out, other_case(text.items[i], expr->op == NG_LOWER));
  }
  result.s = base_strings_intern_text(oracle->world->strings, base_buffer_text(&out));
  base_buffer_done(&out);
  return result;
}
