/* Texts taken apart and changed, in expression programs: lower, upper, trim, substring, position, substitute, split.
 *
 * Positions count characters from 1, as SQL does. A text is changed in a buffer of the step's own, and interned as it
 * comes out (expr_string.c says what becomes of it); parts of one are interned where they lie, as the table never moves a
 * text while it grows. What is cut at the borders of characters, or at those of a text that begins with one, stays
 * UTF-8. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#include "engine/base/buffer.h"
#include "engine/expr_ops.h"
#include "engine/expr_span.h"

static void give(const struct net_program *program, struct span span, struct net_value *ret) {
  ret->s = base_strings_intern(program->strings, span.text, span.length);
}

/* --- upper and lower case */

/* Unicode's mapping of single characters, whatever the user's locale is. */
static locale_t unicode(void) {
  static locale_t locale;
  if (locale == (locale_t)0) locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
  return locale;
}

/* The letters of ASCII need none, and where the C library has no such locale they are all. */
static wint_t lower_of(wint_t character) {
  if (character < 0x80)
    return character >= 'A' && character <= 'Z' ? character + ('a' - 'A') : character;
  return unicode() != (locale_t)0 ? towlower_l(character, unicode()) : character;
}

static wint_t upper_of(wint_t character) {
  if (character < 0x80)
    return character >= 'a' && character <= 'z' ? character - ('a' - 'A') : character;
  return unicode() != (locale_t)0 ? towupper_l(character, unicode()) : character;
}

static wint_t character_at(struct span span, size_t at, size_t length) {
  static const unsigned char masks[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  wint_t character = (unsigned char)span.text[at] & masks[length];
  for (size_t i = 1; i < length; i++)
    character = character << 6 | ((unsigned char)span.text[at + i] & 0x3F);
  return character;
}

static void put_character(struct base_buffer *out, wint_t character) {
  if (character < 0x80) {
    base_buffer_putc(out, (char)character);
    return;
  }
  unsigned follow = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  static const unsigned char heads[] = {0, 0xC0, 0xE0, 0xF0};
  base_buffer_putc(out, (char)(heads[follow] | character >> 6 * follow));
  while (follow-- > 0) base_buffer_putc(out, (char)(0x80 | (character >> 6 * follow & 0x3F)));
}

static void change_case(const struct net_program *program, bool lower, struct net_value *args) {
  struct span span = span_of(program, args[0].s);
  struct base_buffer out = BASE_BUFFER_EMPTY;
  for (size_t at = 0, length; at < span.length; at += length) {
    length = span_step(span, at);
    wint_t character = character_at(span, at, length);
    put_character(&out, lower ? lower_of(character) : upper_of(character));
  }
  give(program, (struct span){base_buffer_text(&out), out.length}, args);
  base_buffer_done(&out);
}

/* --- parts */

static bool is_blank(char byte) {
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static void trim(const struct net_program *program, struct net_value *args) {
  struct span span = span_of(program, args[0].s);
  while (span.length > 0 && is_blank(span.text[span.length - 1])) span.length--;
  for (; span.length > 0 && is_blank(span.text[0]); span.length--) span.text++;
  give(program, span, args);
}

/* Characters that would be before the first one count, too. */
static enum net_eval_error substring(const struct net_program *program, struct net_value *args) {
  struct span span = span_of(program, args[0].s);
  int64_t first = args[1].i, count = args[2].i, before;
  if (count < 0) return NET_EVAL_COUNT;
  if (first < 1) {
    if (__builtin_sub_overflow(INT64_C(1), first, &before)) before = INT64_MAX;
    count = before < count ? count - before : 0;
    first = 1;
  }
  size_t skipped = span_bytes(span, 0, first - 1);
  give(program, (struct span){span.text + skipped, span_bytes(span, skipped, count)}, args);
  return NET_EVAL_OK;
}

/* Where PART begins in SPAN, from AT on; its length: nowhere. A text that begins with a character is found at the
 * beginning of one. */
static size_t find(struct span span, size_t at, struct span part) {
  if (part.length > span.length - at) return span.length;
  const char *found = memmem(span.text + at, span.length - at, part.text, part.length);
  return found != NULL ? (size_t)(found - span.text) : span.length;
}

static void position(const struct net_program *program, struct net_value *args) {
  struct span span = span_of(program, args[0].s), part = span_of(program, args[1].s);
  size_t found = part.length == 0 ? 0 : find(span, 0, part);
  int64_t characters = 1;
  for (size_t at = 0; at < found; at++) characters += !span_continues(span.text[at]);
  args[0].i = part.length > 0 && found == span.length ? 0 : characters;
}

static void substitute(const struct net_program *program, struct net_value *args) {
  struct span span = span_of(program, args[0].s), part = span_of(program, args[1].s);
  struct span by = span_of(program, args[2].s);
  size_t found = part.length == 0 ? span.length : find(span, 0, part), at = 0;
  if (found == span.length) return;
  struct base_buffer out = BASE_BUFFER_EMPTY;
  for (; found < span.length; found = find(span, at, part)) {
    base_buffer_append(&out, span.text + at, found - at);
    base_buffer_append(&out, by.text, by.length);
    at = found + part.length;
  }
  base_buffer_append(&out, span.text + at, span.length - at);
  give(program, (struct span){base_buffer_text(&out), out.length}, args);
  base_buffer_done(&out);
}

/* A separator of nothing separates nothing. */
static enum net_eval_error split(const struct net_program *program, struct net_value *args) {
  struct span span = span_of(program, args[0].s), by = span_of(program, args[1].s);
  int64_t wanted = args[2].i;
  if (wanted < 1) return NET_EVAL_COUNT;
  size_t at = 0, end = by.length == 0 ? span.length : find(span, 0, by);
  for (; wanted > 1 && end < span.length; wanted--) {
    at = end + by.length;
    end = find(span, at, by);
  }
  struct span part = {span.text + at, end - at};
  give(program, wanted > 1 ? (struct span){"", 0} : part, args);
  return NET_EVAL_OK;
}

enum net_eval_error net_text_operation(const struct net_program *program, enum net_op op,
                                       struct net_value *args) {
  switch (op) {
    case NET_OP_LOWER:
    case NET_OP_UPPER:
      change_case(program, op == NET_OP_LOWER, args);
      return NET_EVAL_OK;
    case NET_OP_TRIM:
      trim(program, args);
      return NET_EVAL_OK;
    case NET_OP_SUBSTRING:
      return substring(program, args);
    case NET_OP_POSITION:
      position(program, args);
      return NET_EVAL_OK;
    case NET_OP_SUBSTITUTE:
      substitute(program, args);
      return NET_EVAL_OK;
    default:
      return split(program, args);
  }
}
