/* Types and values: names of types, what may be stored, and temporal values as functions.
 *
 * A temporal value is (n0 + n1 tau) / (d0 + d1 tau). Its normal form, which every slot and every
 * operand holds:
 *
 *   - a constant function is (c 0 1 0), also when numerator and denominator are only proportional;
 *   - a linear function has the denominator (1 0);
 *   - otherwise d0 > 0, or d0 = 0 and d1 > 0: the denominator is positive where the tuple starts;
 *   - no negative zero.
 *
 * While an expression is computed, a linear function may have any denominator (d0 0), d0 > 0: a third
 * of T is (0 1 3 0), and compared as that; a double for 1/3 would be another number. That is the
 * settled form, of which the normal form is made where a value is kept.
 *
 * A common factor is left alone: (10000 100 277 1) and (20000 200 554 2) are both normal, and equal.
 * Two normal forms are the same function exactly when their four numbers are proportional, because
 * numerator and denominator of a function that is not constant have no common factor. So equality
 * is decided by products of two doubles, compared without rounding. Where tuples are looked up by their slots that
 * is not asked, so values that tuples have are also the shortest of their kind (net_temporal_shortest).
 *
 * Arithmetic on temporal values is in expr.c.                                                      */
#include "engine/value.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- types */

void net_type_print(struct base_buffer *out, struct net_type type) {
  if (type.quantity != NET_NUMBER) {
    const char *name = type.quantity == NET_POINT ? "instant" : "duration";
    base_buffer_puts(out, type.base == NET_FLOAT ? "fduration" : name);
    return;
  }
  switch (type.base) {
    case NET_INTEGER:
      base_buffer_putc(out, 'i');
      base_buffer_int(out, type.width);
      return;
    case NET_FLOAT:
      base_buffer_putc(out, 'f');
      base_buffer_int(out, type.width);
      return;
    case NET_STRING:
      if (type.width == 0) {
        base_buffer_puts(out, "text");
        return;
      }
      base_buffer_putc(out, 'c');
      base_buffer_int(out, type.width);
      return;
    case NET_BYTES:
      base_buffer_puts(out, "bytes");
      return;
    case NET_BOOL:
      base_buffer_puts(out, "bool");
      return;
    case NET_NAME:
      base_buffer_puts(out, "name");
      return;
    case NET_TEMPORAL:
      base_buffer_puts(out, "temporal");
      return;
    case NET_INSTANT:
      base_buffer_puts(out, "instant");
      return;
  }
}

/* ASCII only: what the locale thinks of letters must not change what a type is called. */
static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool same_word(const char *text, const char *word) {
  while (*word != '\0' && lower(*text) == *word) {
    text++;
    word++;
  }
  return *text == '\0' && *word == '\0';
}

/* The N of cN: a positive number without a leading zero. */
static bool parse_width(const char *digits, uint32_t *ret) {
  uint32_t width = 0;
  if (*digits < '1' || *digits > '9') return false;
  for (; *digits != '\0'; digits++) {
    if (*digits < '0' || *digits > '9') return false;
    if (__builtin_mul_overflow(width, 10u, &width)) return false;
    if (__builtin_add_overflow(width, (uint32_t)(*digits - '0'), &width)) return false;
  }
  *ret = width;
  return true;
}

bool net_type_parse(const char *text, struct net_type *ret) {
  static const struct {
    const char *name;
    struct net_type type;
  } words[] = {
      {"i1", {NET_INTEGER, 1}},
      {"i2", {NET_INTEGER, 2}},
      {"i4", {NET_INTEGER, 4}},
      {"i8", {NET_INTEGER, 8}},
      {"f4", {NET_FLOAT, 4}},
      {"f8", {NET_FLOAT, 8}},
      {"text", {NET_STRING, 0}},
      {"bool", {NET_BOOL, 0}},
      {"name", {NET_NAME, 0}},
      {"bytes", {NET_BYTES, 0}},
      {"temporal", {NET_TEMPORAL, 0}},
      {"instant", {NET_INTEGER, 8, NET_POINT}},
      {"duration", {NET_INTEGER, 8, NET_LENGTH}},
      {"fduration", {NET_FLOAT, 8, NET_LENGTH}},
  };
  uint32_t width;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (!same_word(text, words[i].name)) continue;
    *ret = words[i].type;
    return true;
  }
  if (lower(text[0]) != 'c' || !parse_width(text + 1, &width)) return false;
  *ret = (struct net_type){NET_STRING, width};
  return true;
}

/* --- what may be stored */

/* Length in bytes of the UTF-8 sequence at BYTES (LEFT > 0 of them), 0 when it is none: overlong
 * forms, surrogates and code points above U+10FFFF are none. */
static size_t utf8_sequence(const unsigned char *bytes, size_t left) {
  unsigned char first = bytes[0];
  unsigned char second_min = 0x80, second_max = 0xBF;
  size_t length;
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) second_min = 0xA0;
    if (first == 0xED) second_max = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) second_min = 0x90;
    if (first == 0xF4) second_max = 0x8F;
  } else {
    return 0;
  }
  if (left < length || bytes[1] < second_min || bytes[1] > second_max) return 0;
  for (size_t i = 2; i < length; i++) {
    if (bytes[i] < 0x80 || bytes[i] > 0xBF) return 0;
  }
  return length;
}

static const char *check_text(const struct base_strings *strings, uint32_t width,
                              base_string_id id) {
  size_t length, points = 0;
  const unsigned char *bytes = (const unsigned char *)base_strings_text(strings, id, &length);
  size_t at = 0;
  for (uint64_t word; length - at >= sizeof word; at += sizeof word, points += sizeof word) {
    memcpy(&word, bytes + at, sizeof word); /* most texts are ASCII */
    if (word & UINT64_C(0x8080808080808080)) break;
  }
  for (; at < length; points++) {
    size_t step = utf8_sequence(bytes + at, length - at);
    if (step == 0) return "not valid UTF-8";
    at += step;
  }
  return width > 0 && points > width ? "longer than its type allows" : NULL;
}

/* Of what a host is called, and what is behind it, letters of ASCII, digits and some signs. */
static bool is_host(const char *text, const char *end) {
  if (text == end) return false;
  for (; text < end; text++) {
    bool letter = lower(*text) >= 'a' && lower(*text) <= 'z';
    bool digit = *text >= '0' && *text <= '9';
    if (!letter && !digit && (*text == '\0' || strchr("-_.:", *text) == NULL)) return false;
  }
  return true;
}

/* type:minor#epoch, or type:minor#epoch@host. The type has neither of the first two signs, the minor name may have
 * all, the epoch is a number, or two with a point between: that of a process, and of an object in it. */
static const char *check_name(const struct base_strings *strings, base_string_id id) {
  static const char *const fault = "no name of the form type:minor#epoch or type:minor#epoch@host";
  size_t length;
  const char *text = base_strings_text(strings, id, &length);
  const char *colon = memchr(text, ':', length), *hash = memrchr(text, '#', length);
  if (colon == NULL || colon == text || memchr(text, '#', (size_t)(colon - text))) return fault;
  if (hash == NULL || hash <= colon + 1 || hash + 1 == text + length) return fault;
  const char *end = text + length, *at = memchr(hash, '@', (size_t)(end - hash));
  if (at != NULL && (at == hash + 1 || !is_host(at + 1, end))) return fault;
  if (at != NULL) end = at;
  unsigned points = 0;
  for (const char *digit = hash + 1; digit < end; digit++) {
    bool inside = digit > hash + 1 && digit + 1 < end;
    if (*digit == '.' && inside && points++ == 0) continue;
    if (*digit < '0' || *digit > '9') return fault;
  }
  return check_text(strings, 0, id);
}

static const char *check_integer(uint32_t width, int64_t value) {
  switch (width) {
    case 1:
      return value < INT8_MIN || value > INT8_MAX ? "out of the range of i1" : NULL;
    case 2:
      return value < INT16_MIN || value > INT16_MAX ? "out of the range of i2" : NULL;
    case 4:
      return value < INT32_MIN || value > INT32_MAX ? "out of the range of i4" : NULL;
    default:
      return NULL;
  }
}

const char *net_value_check(const struct base_strings *strings, struct net_type type,
                            union net_slot slot) {
  switch (type.base) {
    case NET_INTEGER:
      return check_integer(type.width, slot.i);
    case NET_FLOAT:
      if (!isfinite(slot.f)) return "not a finite number";
      return type.width == 4 && isinf((float)slot.f) ? "out of the range of f4" : NULL;
    case NET_STRING:
      return check_text(strings, type.width, slot.s);
    case NET_NAME:
      return check_name(strings, slot.s);
    case NET_BOOL:
      return slot.i != 0 && slot.i != 1 ? "neither false nor true" : NULL;
    case NET_TEMPORAL:
      return isfinite(slot.f) ? NULL : "not a finite number";
    case NET_BYTES:
    case NET_INSTANT:
      return NULL;
  }
  return NULL;
}

const char *net_value_check_entry(const struct base_strings *strings, struct net_type type,
                                  union net_slot slot) {
  const char *fault = net_value_check(strings, type, slot);
  if (fault != NULL || (type.base != NET_STRING && type.base != NET_NAME)) return fault;
  size_t length;
  const char *text = base_strings_text(strings, slot.s, &length);
  return memchr(text, 0, length) != NULL ? "no text to be stored, as it has the character NUL"
                                         : NULL;
}

/* --- temporal values */

/* Products of such a size are rounded as if there were no exponents, and so is what they lack. */
static bool is_moderate(double product) {
  return fabs(product) > 1e-200 && fabs(product) < 1e200;
}

/* Is a b = c d? EXACTLY: as real numbers; else: as far as one rounding of each product shows. The
 * exponents are taken off first, so that nothing overflows or underflows. All finite. */
static bool products_equal(double a, double b, double c, double d, bool exactly) {
  int a_exponent, b_exponent, c_exponent, d_exponent, shift;
  double left, right, scale;
  if (a == 0 || b == 0 || c == 0 || d == 0) return (a == 0 || b == 0) == (c == 0 || d == 0);
  left = a * b;
  right = c * d;
  if (is_moderate(left) && is_moderate(right))
    return left == right && (!exactly || fma(a, b, -left) == fma(c, d, -right));
  a = frexp(a, &a_exponent);
  b = frexp(b, &b_exponent);
  c = frexp(c, &c_exponent);
  d = frexp(d, &d_exponent);
  left = a * b;
  right = c * d;
  /* Both are at least 1/4 and less than 1, so their exponents differ by at most 1 when equal. */
  shift = (c_exponent + d_exponent) - (a_exponent + b_exponent);
  if (shift < -1 || shift > 1) return false;
  scale = shift < 0 ? 0.5 : shift > 0 ? 2.0 : 1.0;
  if (left != right * scale) return false;
  return !exactly || fma(a, b, -left) == fma(c, d, -right) * scale;
}

/* A numerator and a denominator that differ from proportional ones by rounding alone are a constant,
 * too (0.1 T over T), provided the denominator has no zero at tau > 0: then every value that the
 * tuple can show lies between n0/d0 and n1/d1, which a double cannot tell apart. */
static inline bool is_constant(const struct net_temporal *v) {
  bool exactly = (v->d0 > 0 && v->d1 < 0) || (v->d0 < 0 && v->d1 > 0);
  return products_equal(v->n0, v->d1, v->n1, v->d0, exactly);
}

static inline bool is_linear(const struct net_temporal *v) {
  return v->d1 == 0 && v->n1 != 0;
}

/* What is no function at all (both d zero, or a number not finite) is left unchanged: it can
 * only be met in a damaged file, or before an operation has looked at its result. */
static inline void settle(struct net_temporal *v) {
  if (!isfinite(v->n0) || !isfinite(v->n1) || !isfinite(v->d0) || !isfinite(v->d1)) return;
  if (v->d0 == 0 && v->d1 == 0) return;
  if (is_constant(v)) {
    /* The slopes' ratio is the argument that was integrated, free of the rounding of n0. */
    v->n0 = v->d1 != 0 ? v->n1 / v->d1 : v->n0 / v->d0;
    v->n1 = v->d1 = 0;
    v->d0 = 1;
  } else if (v->d0 < 0 || (v->d0 == 0 && v->d1 < 0)) {
    v->n0 = -v->n0;
    v->n1 = -v->n1;
    v->d0 = -v->d0;
    v->d1 = -v->d1;
  }
  v->n0 += 0.0; /* -0 + 0 is 0 */
  v->n1 += 0.0;
  v->d0 += 0.0;
  v->d1 += 0.0;
}

struct net_temporal net_temporal_settled(struct net_temporal value) {
  settle(&value);
  return value;
}

void net_temporal_normalise(struct net_temporal *v) {
  if (v->n1 == 0 && v->d0 == 1 && v->d1 == 0) {
    v->n0 += 0.0;
    v->n1 = v->d1 = 0;
    return;
  }
  settle(v);
  if (!is_linear(v) || v->d0 == 0 || v->d0 == 1) return;
  v->n0 = v->n0 / v->d0 + 0.0;
  v->n1 = v->n1 / v->d0 + 0.0;
  v->d0 = 1;
  v->d1 = 0;
}

struct net_temporal net_temporal_normal(struct net_temporal value) {
  net_temporal_normalise(&value);
  return value;
}

/* VALUE, which is not 0, without its factors 2, as an integer; *RET_EXPONENT: how many. */
static uint64_t odd_part(double value, int *ret_exponent) {
  int exponent = 0;
  uint64_t digits = (uint64_t)ldexp(frexp(fabs(value), &exponent), DBL_MANT_DIG);
  int zeros = __builtin_ctzll(digits);
  *ret_exponent = exponent - DBL_MANT_DIG + zeros;
  return digits >> zeros;
}

static uint64_t common_factor(uint64_t a, uint64_t b) {
  while (b != 0) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* Has VALUE 2 ^ EXPONENT all the digits of VALUE? */
static bool stays_exact(double value, int exponent) {
  int own = 0;
  (void)frexp(value, &own);
  return value == 0 ||
         (own + exponent > DBL_MIN_EXP + DBL_MANT_DIG && own + exponent < DBL_MAX_EXP);
}

struct net_temporal net_temporal_shortest(struct net_temporal value) {
  double *const parts[] = {&value.d1, &value.n1, &value.n0, &value.d0};
  if (value.d1 == 0 || (value.d1 == 1 && value.n1 == floor(value.n1))) return value;
  int twos = INT_MAX;
  uint64_t factor = 0;
  for (int i = 0; i < 4; i++) {
    int own = INT_MAX;
    if (!isfinite(*parts[i])) return value;
    if (*parts[i] == 0) continue;
    factor = common_factor(odd_part(*parts[i], &own), factor);
    if (i < 2 && own < twos) twos = own;
  }
  if (factor == 1 && twos == 0) return value;
  for (int i = 0; i < 4; i++)
    if (!stays_exact(*parts[i], -twos)) return value;
  for (int i = 0; i < 4; i++) *parts[i] = ldexp(*parts[i] / (double)factor, -twos);
  return value;
}

struct net_temporal net_temporal_rebase(struct net_temporal value, double delta) {
  if (delta == 0 || (value.n1 == 0 && value.d1 == 0)) return value;
  value.n0 = fma(value.n1, delta, value.n0);
  value.d0 = fma(value.d1, delta, value.d0);
  return net_temporal_normal(value);
}

double net_units_between(enum net_timeline timeline, net_chronon from, net_chronon to) {
  double chronons = to >= from ? (double)((uint64_t)to - (uint64_t)from)
                               : -(double)((uint64_t)from - (uint64_t)to);
  return timeline == NET_TIMELINE_REAL ? chronons / 1e9 : chronons;
}

bool net_temporal_equal(struct net_temporal a, struct net_temporal b) {
  double a_scale, b_scale;
  if (a.n0 == b.n0 && a.n1 == b.n1 && a.d0 == b.d0 && a.d1 == b.d1) return true;
  if ((a.d0 == 0) != (b.d0 == 0)) return false;
  a_scale = a.d0 != 0 ? a.d0 : a.d1;
  b_scale = a.d0 != 0 ? b.d0 : b.d1;
  return products_equal(a.n0, b_scale, b.n0, a_scale, true) &&
         products_equal(a.n1, b_scale, b.n1, a_scale, true) &&
         products_equal(a.d1, b_scale, b.d1, a_scale, true);
}
