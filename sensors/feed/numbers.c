/* Exact reading of numbers.
 *
 * Integers never go through a double: the digits are summed up in 64 bits, and a fraction or an
 * exponent is accepted only where decimal arithmetic shows that the value is whole. Doubles are
 * rounded correctly: up to 15 digits and small powers of ten by one multiplication or division of
 * exact doubles, everything else by strtod. There are no words for infinity or "not a number". */
#include "sensors/feed/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXPONENT_LIMIT 100000 /* what lies beyond overflows, or vanishes, in any case */
#define INTEGER_DIGITS 19     /* of 2^63 */

static bool is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

/* A decimal number taken apart: sign, digits before and behind the point, exponent. */
struct decimal {
  bool negative;
  const char *whole, *fraction;
  size_t whole_length, fraction_length;
  int exponent;
};

static const char *skip_digits(const char *text, const char *end) {
  while (text < end && is_digit(*text)) text++;
  return text;
}

/* "e-12" at TEXT: the end of it, or NULL. */
static const char *take_exponent(const char *text, const char *end, int *ret) {
  bool negative = false;
  int value = 0;
  text++;
  if (text < end && (*text == '-' || *text == '+')) negative = *text++ == '-';
  const char *digits = text;
  text = skip_digits(text, end);
  if (text == digits) return NULL;
  for (; digits < text; digits++)
    if (value < EXPONENT_LIMIT) value = value * 10 + (*digits - '0');
  *ret = negative ? -value : value;
  return text;
}

static bool take_apart(const char *text, size_t length, struct decimal *ret) {
  const char *end = text + length;
  *ret = (struct decimal){.negative = length > 0 && *text == '-'};
  if (length > 0 && (*text == '-' || *text == '+')) text++;
  ret->whole = text;
  text = skip_digits(text, end);
  ret->whole_length = (size_t)(text - ret->whole);
  if (text < end && *text == '.') {
    ret->fraction = ++text;
    text = skip_digits(text, end);
    ret->fraction_length = (size_t)(text - ret->fraction);
  }
  if (ret->whole_length + ret->fraction_length == 0) return false;
  if (text < end && (*text == 'e' || *text == 'E')) {
    text = take_exponent(text, end, &ret->exponent);
    if (!text) return false;
  }
  return text == end;
}

static char digit_at(const struct decimal *decimal, size_t index) {
  return index < decimal->whole_length ? decimal->whole[index]
                                       : decimal->fraction[index - decimal->whole_length];
}

/* The whole value, summed up below zero, where INT64_MIN has room. */
static enum sn_number whole_value(const struct decimal *decimal, int64_t *ret) {
  size_t last = decimal->whole_length + decimal->fraction_length, first = 0;
  while (first < last && digit_at(decimal, first) == '0') first++;
  if (first == last) {
    *ret = 0;
    return SN_NUMBER_OK;
  }
  int64_t zeros = decimal->exponent - (int64_t)decimal->fraction_length;
  for (; digit_at(decimal, last - 1) == '0'; last--) zeros++;
  if (zeros < 0) return SN_NUMBER_FRACTION;
  if ((int64_t)(last - first) + zeros > INTEGER_DIGITS) return SN_NUMBER_RANGE;
  int64_t value = 0;
  for (int64_t i = 0; i < (int64_t)(last - first) + zeros; i++) {
    size_t index = first + (size_t)i;
    int digit = index < last ? digit_at(decimal, index) - '0' : 0;
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_sub_overflow(value, digit, &value))
      return SN_NUMBER_RANGE;
  }
  if (!decimal->negative && __builtin_sub_overflow((int64_t)0, value, &value))
    return SN_NUMBER_RANGE;
  *ret = value;
  return SN_NUMBER_OK;
}

enum sn_number sn_read_integer(const char *text, size_t length, int64_t *ret) {
  struct decimal decimal;
  bool negative = length > 0 && *text == '-';
  size_t digits = length - negative;
  /* Eighteen digits always fit. */
  if (digits > 0 && digits <= INTEGER_DIGITS - 1) {
    int64_t value = 0;
    size_t i = negative;
    for (; i < length && is_digit(text[i]); i++) value = value * 10 + (text[i] - '0');
    if (i == length) {
      *ret = negative ? -value : value;
      return SN_NUMBER_OK;
    }
  }
  return take_apart(text, length, &decimal) ? whole_value(&decimal, ret) : SN_NUMBER_SYNTAX;
}

/* Both factors are exact doubles, so the one rounding is the right one (Clinger's fast path). */
static bool read_small(const struct decimal *decimal, double *ret) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  size_t digits = decimal->whole_length + decimal->fraction_length;
  if (digits > 15) return false;
  int64_t exponent = decimal->exponent - (int64_t)decimal->fraction_length, value = 0;
  if (exponent < -22 || exponent > 22) return false;
  for (size_t i = 0; i < digits; i++) value = value * 10 + (digit_at(decimal, i) - '0');
  double result = (double)value;
  result = exponent < 0 ? result / powers[-exponent] : result * powers[exponent];
  *ret = decimal->negative ? -result : result;
  return true;
}

enum sn_number sn_read_double(const char *text, size_t length, double *ret) {
  struct decimal decimal;
  double value;
  if (!take_apart(text, length, &decimal)) return SN_NUMBER_SYNTAX;
  if (!read_small(&decimal, &value)) value = strtod(text, NULL);
  if (!isfinite(value)) return SN_NUMBER_RANGE;
  *ret = value == 0 ? 0 : value; /* no negative zero */
  return SN_NUMBER_OK;
}

bool sn_equal_ignoring_case(const char *text, size_t length, const char *word) {
  for (size_t i = 0; i < length; i++, word++) {
    char a = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] + 32) : text[i];
    char b = *word >= 'A' && *word <= 'Z' ? (char)(*word + 32) : *word;
    if (a != b || !*word) return false;
  }
  return *word == 0;
}

bool sn_equal(const char *text, size_t length, const char *word) {
  return strlen(word) == length && memcmp(text, word, length) == 0;
}

bool sn_read_bool(const char *text, size_t length, bool *ret) {
  bool is_true = sn_equal_ignoring_case(text, length, "true") || (length == 1 && *text == '1');
  bool is_false = sn_equal_ignoring_case(text, length, "false") || (length == 1 && *text == '0');
  if (is_true || is_false) *ret = is_true;
  return is_true || is_false;
}

static bool is_blank(char byte) {
  return byte == ' ' || byte == '\t';
}

void sn_trim(const char **text, size_t *length) {
  while (*length && is_blank(**text)) (*text)++, (*length)--;
  while (*length && is_blank((*text)[*length - 1])) (*length)--;
}
