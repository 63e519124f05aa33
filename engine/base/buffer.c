/* The growable byte buffer and the printing of numbers.
 *
 * Invariants: data is NULL or holds capacity bytes with data[length] == 0 and length < capacity.
 * What is appended must not lie inside the same buffer, since growing moves it.
 *
 * Doubles are printed with the fewest significant digits that read back as the same number, in the
 * form of %g. The C locale's decimal point is assumed: no part of the product sets LC_NUMERIC. */
#include "engine/base/buffer.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/status.h"

void base_buffer_done(struct base_buffer *buffer) {
  free(buffer->data);
  *buffer = (struct base_buffer)BASE_BUFFER_EMPTY;
}

void base_buffer_clear(struct base_buffer *buffer) {
  buffer->length = 0;
  if (buffer->data) buffer->data[0] = 0;
}

void base_buffer_reserve(struct base_buffer *buffer, size_t extra) {
  /* A sum that does not fit becomes a request that base_grow cannot meet: it ends there, loudly. */
  size_t needed = extra >= SIZE_MAX - buffer->length ? SIZE_MAX : buffer->length + extra + 1;
  if (needed > buffer->capacity) base_grow_large(&buffer->data, &buffer->capacity, needed, 1);
  buffer->data[buffer->length] = 0;
}

void base_buffer_append(struct base_buffer *buffer, const void *bytes, size_t length) {
  base_buffer_reserve(buffer, length);
  if (!length) return;
  memcpy(buffer->data + buffer->length, bytes, length);
  buffer->length += length;
  buffer->data[buffer->length] = 0;
}

void base_buffer_puts(struct base_buffer *buffer, const char *text) {
  base_buffer_append(buffer, text, strlen(text));
}

void base_buffer_putc(struct base_buffer *buffer, char byte) {
  base_buffer_append(buffer, &byte, 1);
}

void base_buffer_printf(struct base_buffer *buffer, const char *format, ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  BASE_CHECK(length >= 0, "buffer-format");
  base_buffer_reserve(buffer, (size_t)length);
  vsnprintf(buffer->data + buffer->length, (size_t)length + 1, format, again);
  va_end(again);
  buffer->length += (size_t)length;
}

size_t base_int_text(int64_t value, char ret[BASE_NUMBER_TEXT]) {
  char digits[20]; /* a sign and the 19 digits of 2^63 */
  size_t first = sizeof digits;
  /* Negation in unsigned arithmetic has a result for INT64_MIN too. */
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do digits[--first] = (char)('0' + rest % 10);
  while (rest /= 10);
  if (value < 0) digits[--first] = '-';
  memcpy(ret, digits + first, sizeof digits - first);
  return sizeof digits - first;
}

void base_buffer_int(struct base_buffer *buffer, int64_t value) {
  char text[BASE_NUMBER_TEXT];
  base_buffer_append(buffer, text, base_int_text(value, text));
}

/* Room for every %.17g: sign, 17 digits, point, e-308, NUL. */
struct double_text {
  char text[BASE_NUMBER_TEXT];
};

static bool reads_back(const struct double_text *digits, double value) {
  return strtod(digits->text, NULL) == value;
}

static bool try_precision(struct double_text *digits, int precision, double value) {
  snprintf(digits->text, sizeof digits->text, "%.*g", precision, value);
  return reads_back(digits, value);
}

/* At a power of two the doubles below are twice as dense as those above. The nearest 16-digit
 * decimal may then belong to the neighbour below while the next one away from zero still reads
 * back:
 * %.16g alone would miss it. Its last digit is never 9, for the next decimal would then have 15
 * digits and would have been found before. */
static bool try_next_above(struct double_text *digits, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  if (bits << 12) return false; /* the fraction is not zero: no power of two */
  snprintf(digits->text, sizeof digits->text, "%#.16g", value);
  size_t end = strcspn(digits->text, "e");
  char *last = digits->text + end - 1;
  if (*last < '0' || *last >= '9') return false;
  *last = (char)(*last + 1);
  return reads_back(digits, value);
}

static void shortest_digits(struct double_text *digits, double value) {
  /* Every decimal of up to 15 digits survives the way through a normal double, so %.15g, which
   * drops trailing zeros, is as short as anything shorter. Subnormals have fewer digits to give. */
  int precision = isnormal(value) ? 15 : 1;
  for (; precision <= 16; precision++)
    if (try_precision(digits, precision, value)) return;
  if (try_next_above(digits, value)) return;
  BASE_CHECK(try_precision(digits, 17, value), "buffer-double-reads-back");
}

size_t base_double_text(double value, char ret[BASE_NUMBER_TEXT]) {
  BASE_CHECK(isfinite(value), "buffer-double-finite");
  struct double_text digits = {"0"}; /* of negative zero as well */
  if (value != 0) shortest_digits(&digits, value);
  size_t length = strlen(digits.text);
  memcpy(ret, digits.text, length);
  return length;
}

void base_buffer_double(struct base_buffer *buffer, double value) {
  char text[BASE_NUMBER_TEXT];
  base_buffer_append(buffer, text, base_double_text(value, text));
}

const char *base_buffer_text(const struct base_buffer *buffer) {
  return buffer->data ? buffer->data : "";
}
