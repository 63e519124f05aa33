/* Numbers and booleans as text. For sensors/feed and tquel/infer. */
#ifndef SN_NUMBERS_H
#define SN_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sn_number {
  SN_NUMBER_OK,
  SN_NUMBER_SYNTAX,   /* no number */
  SN_NUMBER_FRACTION, /* a number, but not a whole one */
  SN_NUMBER_RANGE,
};

/* A decimal number with a whole value: digits with a sign, or with fraction and exponent as long as
 * these leave a whole number, exactly: 1e3, 2.50e1, 7.0. TEXT is trimmed. */
enum sn_number sn_read_integer(const char *text, size_t length, int64_t *ret);
/* A decimal number, rounded to the nearest double. What is behind TEXT must be readable and not go
 * on with the number (a comma, a line end, a NUL). */
enum sn_number sn_read_double(const char *text, size_t length, double *ret);
/* true, false (any case), 1, 0. */
bool sn_read_bool(const char *text, size_t length, bool *ret);
bool sn_equal_ignoring_case(const char *text, size_t length, const char *word);
bool sn_equal(const char *text, size_t length, const char *word);
/* Without blanks at both ends. */
void sn_trim(const char **text, size_t *length);

#endif
