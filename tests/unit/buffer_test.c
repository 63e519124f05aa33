/* The byte buffer, and the printing of numbers: every int64 edge, and for doubles that the text
 * reads back equal and that no text with fewer digits does, on random bit patterns and the known
 * traps.  */
#include "engine/base/buffer.h"

#include <check.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "engine/base/heap.h"
#include "engine/base/printable.h"

static void expect_double(double value, const char *text) {
  struct base_buffer buffer = BASE_BUFFER_EMPTY;
  base_buffer_double(&buffer, value);
  ck_assert_str_eq(base_buffer_text(&buffer), text);
  base_buffer_done(&buffer);
}

static void expect_int(int64_t value, const char *text) {
  struct base_buffer buffer = BASE_BUFFER_EMPTY;
  base_buffer_int(&buffer, value);
  ck_assert_str_eq(base_buffer_text(&buffer), text);
  ck_assert_uint_eq(buffer.length, strlen(text));
  base_buffer_done(&buffer);
}

START_TEST(empty_buffer) {
  struct base_buffer buffer = BASE_BUFFER_EMPTY;
  ck_assert_str_eq(base_buffer_text(&buffer), "");
  base_buffer_clear(&buffer);
  base_buffer_append(&buffer, NULL, 0);
  ck_assert_ptr_nonnull(buffer.data);
  ck_assert_str_eq(buffer.data, "");
  base_buffer_done(&buffer);
  ck_assert_ptr_null(buffer.data);
  base_buffer_done(&buffer);
}
END_TEST

START_TEST(appends_keep_the_terminator) {
  struct base_buffer buffer = BASE_BUFFER_EMPTY;
  char expected[5000];
  for (size_t i = 0; i < sizeof expected; i++) {
    expected[i] = (char)(i % 256); /* zero bytes too */
    base_buffer_putc(&buffer, expected[i]);
    ck_assert_int_eq(buffer.data[buffer.length], 0);
    ck_assert_uint_lt(buffer.length, buffer.capacity);
  }
  ck_assert_uint_eq(buffer.length, sizeof expected);
  ck_assert_mem_eq(buffer.data, expected, sizeof expected);
  char *memory = buffer.data;
  base_buffer_clear(&buffer);
  base_buffer_puts(&buffer, "again");
  ck_assert_str_eq(buffer.data, "again");
  ck_assert_ptr_eq(buffer.data, memory);
  base_buffer_done(&buffer);
}
END_TEST

START_TEST(printf_appends_any_length) {
  struct base_buffer buffer = BASE_BUFFER_EMPTY;
  base_buffer_printf(&buffer, "%s", "");
  ck_assert_str_eq(buffer.data, "");
  base_buffer_printf(&buffer, "%d,", 1);
  base_buffer_printf(&buffer, "%*s", 70000, "x");
  ck_assert_uint_eq(buffer.length, 70002);
  ck_assert_str_eq(buffer.data + 70001, "x");
  base_buffer_done(&buffer);
}
END_TEST

START_TEST(reserve_beyond_memory_exits) {
  struct base_buffer buffer = BASE_BUFFER_EMPTY;
  base_buffer_reserve(&buffer, SIZE_MAX);
}
END_TEST

START_TEST(integers) {
  expect_int(0, "0");
  expect_int(-1, "-1");
  expect_int(10, "10");
  expect_int(INT64_MAX, "9223372036854775807");
  expect_int(INT64_MIN, "-9223372036854775808");
  struct base_random random = {2};
  for (int i = 0; i < 20000; i++) {
    int64_t value = (int64_t)base_random_next(&random) >> base_random_below(&random, 64);
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    expect_int(value, text);
  }
}
END_TEST

START_TEST(doubles) {
  expect_double(0.0, "0");
  expect_double(-0.0, "0");
  expect_double(1, "1");
  expect_double(-3, "-3");
  expect_double(100000, "100000");
  expect_double(0.1, "0.1");
  expect_double(0.1 + 0.2, "0.30000000000000004");
  expect_double(1.0 / 3, "0.3333333333333333");
  expect_double(1e300, "1e+300");
  expect_double(1e22, "1e+22");
  expect_double(123456789012345, "123456789012345");
  expect_double(9007199254740993.0, "9007199254740992");
  expect_double(DBL_MAX, "1.7976931348623157e+308");
  expect_double(DBL_MIN, "2.2250738585072014e-308");
  expect_double(DBL_TRUE_MIN, "5e-324");
  expect_double(-DBL_TRUE_MIN, "-5e-324");
  expect_double(3 * DBL_TRUE_MIN, "1.5e-323");
  /* Powers of two where the nearest 16-digit decimal belongs to the neighbour below. */
  expect_double(0x1p-44, "5.684341886080802e-14");
  expect_double(-0x1p-44, "-5.684341886080802e-14");
  expect_double(0x1p-1022, "2.2250738585072014e-308");
}
END_TEST

/* How many significant digits TEXT has, without zeros at either end. */
static int significant_digits(const char *text) {
  int digits = 0, with_last_not_zero = 0;
  for (; *text && *text != 'e'; text++) {
    if (*text < '0' || *text > '9' || (*text == '0' && digits == 0)) continue;
    digits++;
    if (*text != '0') with_last_not_zero = digits;
  }
  return with_last_not_zero;
}

/* With one digit fewer: the nearest decimal of that length and its two neighbours. */
static bool some_shorter_reads_back(double value, int digits) {
  if (digits == 1) return false;
  char text[64];
  snprintf(text, sizeof text, "%.*e", digits - 2, value);
  int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10) - (digits - 2);
  int64_t nearest = 0;
  for (const char *byte = text; *byte != 'e'; byte++)
    if (*byte >= '0' && *byte <= '9') nearest = nearest * 10 + (*byte - '0');
  for (int64_t candidate = nearest - 1; candidate <= nearest + 1; candidate++) {
    snprintf(text, sizeof text, "%" PRId64 "e%d", candidate, exponent);
    if (strtod(text, NULL) == value) return true;
  }
  return false;
}

static void expect_shortest(double value) {
  struct base_buffer buffer = BASE_BUFFER_EMPTY;
  base_buffer_double(&buffer, value);
  ck_assert_msg(strtod(buffer.data, NULL) == value, "%a printed as %s", value, buffer.data);
  int digits = significant_digits(buffer.data);
  ck_assert_msg(!some_shorter_reads_back(fabs(value), digits), "%a is not shortest as %s", value,
                buffer.data);
  base_buffer_done(&buffer);
}

START_TEST(doubles_are_shortest) {
  struct base_random random = {3};
  for (int i = 0; i < 100000; i++) {
    uint64_t bits = base_random_next(&random);
    if (i % 4 == 0) bits &= UINT64_C(0x800fffffffffffff) >> (i / 4 % 52); /* subnormals */
    double value;
    memcpy(&value, &bits, sizeof value);
    if (isfinite(value) && value != 0) expect_shortest(value);
  }
  for (int exponent = -1074; exponent < 1024; exponent++) {
    expect_shortest(ldexp(1, exponent));
    expect_shortest(-ldexp(1, exponent));
  }
  for (int i = 1; i < 20000; i++) expect_shortest(i / 100.0);
}
END_TEST

START_TEST(nan_aborts) {
  struct base_buffer buffer = BASE_BUFFER_EMPTY;
  base_buffer_double(&buffer, NAN);
}
END_TEST

START_TEST(infinity_aborts) {
  struct base_buffer buffer = BASE_BUFFER_EMPTY;
  base_buffer_double(&buffer, -INFINITY);
}
END_TEST

/* LINES NULL: as TEXT itself. */
static void expect_printable(const char *text, const char *line, const char *lines) {
  struct base_buffer buffer = BASE_BUFFER_EMPTY;
  size_t length = strlen(text);
  base_buffer_printable(&buffer, text, length);
  ck_assert_str_eq(base_buffer_text(&buffer), line);
  ck_assert_int_eq(base_is_printable(text, length), strcmp(text, line) == 0);
  base_buffer_clear(&buffer);
  base_buffer_printable_lines(&buffer, text, length);
  ck_assert_str_eq(base_buffer_text(&buffer), lines == NULL ? text : lines);
  base_buffer_done(&buffer);
}

START_TEST(nothing_moves_a_cursor) {
  expect_printable("", "", NULL);
  expect_printable("a b\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
                   "a b\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", NULL);
  expect_printable("a\n\tb", "a\\n\\tb", NULL);
  expect_printable("\x1b[2J\r\x7f\a", "\\x1b[2J\\r\\x7f\\x07", "\\x1b[2J\\r\\x7f\\x07");
  expect_printable(
      "\xc2\x9b"
      "1m",
      "\\u009b1m", "\\u009b1m"); /* CSI of the C1 set */
  expect_printable(
      "\xe2\x80\xae"
      "x",
      "\\u202ex", "\\u202ex");                              /* right to left */
  expect_printable("\x9b\xc3", "\\x9b\\xc3", "\\x9b\\xc3"); /* no UTF-8 */
  expect_printable("\xc0\x9b\xed\xa0\x80", "\\xc0\\x9b\\xed\\xa0\\x80",
                   "\\xc0\\x9b\\xed\\xa0\\x80");
  ck_assert(!base_is_printable("a\0b", 3));
}
END_TEST

START_TEST(a_cut_leaves_characters_whole) {
  ck_assert_uint_eq(base_utf8_cut("abc", 3, 5), 3);
  ck_assert_uint_eq(base_utf8_cut("abc", 3, 2), 2);
  ck_assert_uint_eq(base_utf8_cut("a\xc3\xa4", 3, 2), 1);
  ck_assert_uint_eq(base_utf8_cut("a\xf0\x9f\x98\x80", 5, 4), 1);
  ck_assert_uint_eq(base_utf8_cut("\x80\x80\x80\x80\x80", 5, 4), 4);
  ck_assert_uint_eq(base_utf8_cut("abc", 3, 0), 0);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("buffer");
  TCase *cases = tcase_create("buffer");
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, empty_buffer);
  tcase_add_test(cases, appends_keep_the_terminator);
  tcase_add_test(cases, printf_appends_any_length);
  tcase_add_test(cases, integers);
  tcase_add_test(cases, doubles);
  tcase_add_test(cases, doubles_are_shortest);
  tcase_add_test(cases, nothing_moves_a_cursor);
  tcase_add_test(cases, a_cut_leaves_characters_whole);
  tcase_add_exit_test(cases, reserve_beyond_memory_exits, BASE_HEAP_EXIT);
  tcase_add_test_raise_signal(cases, nan_aborts, SIGABRT);
  tcase_add_test_raise_signal(cases, infinity_aborts, SIGABRT);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
