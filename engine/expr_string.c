/* Strings in expression programs: ascii, concat, left, right, length, patterns, and numbers read from
 * strings. Those that take strings apart and change them are in expr_text.c.
 *
 * A string that is made here is interned like one that came from outside; whoever keeps it in a row
 * marks it when the table is swept, and one that nobody keeps is forgotten then. So a standing query
 * that makes strings all day runs in bounded memory.
 *
 * Characters are code points; every string in the table is valid UTF-8, and what is cut or joined at
 * their borders is so, too. Numbers are read as text has them, not as C does: decimal, with blanks
 * around them, no hexadecimal, no words for infinity.                                                */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/expr_ops.h"
#include "engine/expr_span.h"
#include "engine/pattern.h"

static int64_t count_points(struct span span) {
  int64_t count = 0;
  for (size_t i = 0; i < span.length; i++) count += !span_continues(span.text[i]);
  return count;
}

/* --- made of strings */

static void concatenate(const struct net_program *program, struct net_value *args) {
  char small[256], *joined = small;
  struct span a = span_of(program, args[0].s), b = span_of(program, args[1].s);
  if (a.length == 0 || b.length == 0) {
    if (a.length == 0) args[0].s = args[1].s;
    return;
  }
  if (a.length + b.length > sizeof small) joined = base_xmalloc(a.length + b.length);
  memcpy(joined, a.text, a.length);
  memcpy(joined + a.length, b.text, b.length);
  args[0].s = base_strings_intern(program->strings, joined, a.length + b.length);
  if (joined != small) free(joined);
}

/* left and right. The table never moves a text while it grows, so a part of one can be interned. */
static enum net_eval_error part(const struct net_program *program, enum net_op op,
                                struct net_value *args) {
  struct span whole = span_of(program, args[0].s);
  int64_t wanted = args[1].i, points;
  if (wanted < 0) return NET_EVAL_COUNT;
  points = count_points(whole);
  if (wanted >= points) return NET_EVAL_OK;
  if (op == NET_OP_LEFT) {
    whole.length = span_bytes(whole, 0, wanted);
  } else {
    size_t skipped = span_bytes(whole, 0, points - wanted);
    whole.text += skipped;
    whole.length -= skipped;
  }
  args[0].s = base_strings_intern(program->strings, whole.text, whole.length);
  return NET_EVAL_OK;
}

static bool matches(const struct net_program *program, base_string_id pattern_id,
                    base_string_id id) {
  struct span pattern = span_of(program, pattern_id), text = span_of(program, id);
  return net_pattern_match(pattern.text, pattern.length, text.text, text.length);
}

/* --- made of other values */

static void print_number(const struct net_program *program, enum net_op op,
                         struct net_value *value) {
  char text[BASE_NUMBER_TEXT];
  size_t length =
      op == NET_OP_I_TO_S ? base_int_text(value->i, text) : base_double_text(value->f, text);
  value->s = base_strings_intern(program->strings, text, length);
}

static enum net_eval_error print_truth(const struct net_program *program, struct net_value *value) {
  if (value->truth == NET_UNKNOWN) return NET_EVAL_OPEN;
  value->s =
      base_strings_intern_text(program->strings, value->truth == NET_TRUE ? "true" : "false");
  return NET_EVAL_OK;
}

/* --- numbers */

static bool is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

static struct span trimmed(struct span span) {
  while (span.length > 0 && (span.text[0] == ' ' || span.text[0] == '\t')) {
    span.text++;
    span.length--;
  }
  while (span.length > 0 &&
         (span.text[span.length - 1] == ' ' || span.text[span.length - 1] == '\t'))
    span.length--;
  return span;
}

static size_t digits_at(struct span span, size_t at) {
  size_t end = at;
  while (end < span.length && is_digit(span.text[end])) end++;
  return end - at;
}

static size_t sign_at(struct span span, size_t at) {
  return at < span.length && (span.text[at] == '-' || span.text[at] == '+');
}

static enum net_eval_error read_integer(struct span span, int64_t *ret) {
  size_t at = sign_at(span, 0);
  bool negative = at > 0 && span.text[0] == '-';
  int64_t value = 0; /* summed up below zero, where INT64_MIN has room */
  if (at == span.length || digits_at(span, at) != span.length - at) return NET_EVAL_TEXT;
  for (; at < span.length; at++) {
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_sub_overflow(value, span.text[at] - '0', &value))
      return NET_EVAL_RANGE;
  }
  if (!negative && __builtin_sub_overflow(INT64_C(0), value, &value)) return NET_EVAL_RANGE;
  *ret = value;
  return NET_EVAL_OK;
}

/* [sign] digits [. digits] [e [sign] digits], digits on one side of the point at least. */
static bool is_float(struct span span) {
  size_t at = sign_at(span, 0), whole = digits_at(span, at), fraction = 0;
  at += whole;
  if (at < span.length && span.text[at] == '.') {
    fraction = digits_at(span, ++at);
    at += fraction;
  }
  if (whole + fraction == 0) return false;
  if (at < span.length && (span.text[at] == 'e' || span.text[at] == 'E')) {
    at++;
    at += sign_at(span, at);
    size_t exponent = digits_at(span, at);
    if (exponent == 0) return false;
    at += exponent;
  }
  return at == span.length;
}

/* The blanks behind the number, or the table's NUL, end it for strtod. */
static enum net_eval_error read_float(struct span span, double *ret) {
  if (!is_float(span)) return NET_EVAL_TEXT;
  double value = strtod(span.text, NULL);
  if (!isfinite(value)) return NET_EVAL_RANGE;
  *ret = value + 0.0;
  return NET_EVAL_OK;
}

/* What comes of a group that is part of a text is one. */
static enum net_eval_error regular(const struct net_program *program, const struct net_step *step,
                                   struct net_value *args) {
  struct span span = span_of(program, args[0].s);
  bool capture = step->op == NET_OP_CAPTURE;
  int64_t group = capture ? args[1].i : 0;
  size_t first, end;
  if (group < 0 || group > NET_REGEX_GROUPS) return NET_EVAL_COUNT;
  enum net_regex_found found =
      net_regex_find(step->regex, span.text, span.length, (uint32_t)group, &first, &end);
  if (found == NET_REGEX_TOO_LONG) return NET_EVAL_REGEX;
  if (capture)
    args[0].s = base_strings_intern(program->strings, span.text + first, end - first);
  else
    args[0].i = found == NET_REGEX_FOUND ? NET_TRUE : NET_FALSE;
  return NET_EVAL_OK;
}

enum net_eval_error net_string_operation(const struct net_program *program,
                                         const struct net_step *step, struct net_value *args) {
  switch (step->op) {
    case NET_OP_CONCAT:
      concatenate(program, args);
      return NET_EVAL_OK;
    case NET_OP_LEFT:
    case NET_OP_RIGHT:
      return part(program, step->op, args);
    case NET_OP_LENGTH:
      args[0].i = count_points(span_of(program, args[0].s));
      return NET_EVAL_OK;
    case NET_OP_LOWER:
    case NET_OP_UPPER:
    case NET_OP_TRIM:
    case NET_OP_SUBSTRING:
    case NET_OP_POSITION:
    case NET_OP_SUBSTITUTE:
    case NET_OP_SPLIT:
      return net_text_operation(program, step->op, args);
    case NET_OP_MATCHES:
      args[0].i = matches(program, step->s, args[0].s) ? NET_TRUE : NET_FALSE;
      return NET_EVAL_OK;
    case NET_OP_FINDS:
    case NET_OP_CAPTURE:
      return regular(program, step, args);
    case NET_OP_S_TO_I:
      return read_integer(trimmed(span_of(program, args[0].s)), &args[0].i);
    case NET_OP_S_TO_F:
      return read_float(trimmed(span_of(program, args[0].s)), &args[0].f);
    case NET_OP_B_TO_S:
      return print_truth(program, args);
    default: /* NET_OP_I_TO_S, NET_OP_F_TO_S */
      print_number(program, step->op, args);
      return NET_EVAL_OK;
  }
}
