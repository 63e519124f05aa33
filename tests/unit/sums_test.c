/* What aggregates keep: exact sums and ordered multisets, against arithmetic and arrays that are slow
 * and obvious. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/exact_sum.h"
#include "engine/ordered.h"

enum { STEPS = 20000, KEYS = 40 };

static uint64_t seed;

static uint64_t next(void) {
  seed ^= seed << 13;
  seed ^= seed >> 7;
  seed ^= seed << 17;
  return seed;
}

/* --- exact sums */

START_TEST(integers_and_products_are_exact) {
  struct net_sum sum = {0};
  net_wide expected = 0;
  seed = 1;
  for (int i = 0; i < STEPS; i++) {
    int64_t value = (int64_t)next() >> (next() % 60), factor = (int64_t)(next() % 2001) - 1000;
    net_sum_add_integer(&sum, value, factor);
    expected += (net_wide)value * factor;
    ck_assert_int_eq(net_sum_sign(&sum), (expected > 0) - (expected < 0));
    ck_assert_double_eq(net_sum_double(&sum), (double)expected);
  }
  net_sum_done(&sum);
}
END_TEST

/* Any bits that make a finite number: all magnitudes, subnormal ones too. */
static double any_double(void) {
  for (;;) {
    uint64_t bits = next();
    double value;
    memcpy(&value, &bits, sizeof value);
    if (isfinite(value)) return value;
  }
}

START_TEST(what_is_taken_away_leaves_nothing) {
  static double values[1000];
  struct net_sum sum = {0}, squares = {0};
  seed = 2;
  for (int i = 0; i < 1000; i++) {
    values[i] = any_double();
    net_sum_add(&sum, values[i], 1);
    net_sum_add_square(&squares, values[i], false);
  }
  net_sum_add(&sum, 0.5, 1);
  for (int i = 999; i >= 0; i--) {
    net_sum_add(&sum, values[i], -1);
    net_sum_add_square(&squares, values[i], true);
  }
  ck_assert_double_eq(net_sum_double(&sum), 0.5);
  ck_assert_int_eq(net_sum_sign(&squares), 0);
  net_sum_done(&sum);
  net_sum_done(&squares);
}
END_TEST

START_TEST(sums_are_rounded_once) {
  struct net_sum sum = {0};
  net_sum_add(&sum, 1, 1);
  net_sum_add(&sum, 0x1p-53, 1); /* half a unit in the last place: to even */
  ck_assert_double_eq(net_sum_double(&sum), 1);
  net_sum_add(&sum, 0x1p-1074, 1); /* a little more than half */
  ck_assert_double_eq(net_sum_double(&sum), 1 + 0x1p-52);
  net_sum_add(&sum, 1, -3);
  ck_assert_double_eq(net_sum_double(&sum), -2 + 0x1p-52);
  net_sum_done(&sum);
}
END_TEST

START_TEST(sums_out_of_range_are_infinite_and_come_back) {
  struct net_sum sum = {0};
  net_sum_add(&sum, 1e308, 4);
  ck_assert(isinf(net_sum_double(&sum)));
  ck_assert(isfinite(net_sum_long(&sum)));
  net_sum_add(&sum, 1e308, -3);
  ck_assert_double_eq(net_sum_double(&sum), 1e308);
  net_sum_done(&sum);
}
END_TEST

START_TEST(squares_of_sums) {
  struct net_sum sum = {0}, square = {0};
  seed = 3;
  for (int i = 0; i < 1000; i++) {
    int64_t a = (int64_t)next() >> 3, b = (int64_t)next() >> 3;
    net_wide both = (net_wide)(a / 4) + b / 4;
    net_sum_clear(&sum);
    net_sum_clear(&square);
    net_sum_add_integer(&sum, a / 4, 1);
    net_sum_add_integer(&sum, b / 4, 1);
    net_sum_add_integer_square(&square, (int64_t)both, false);
    net_sum_subtract_square_of(&square, &sum);
    ck_assert_int_eq(net_sum_sign(&square), 0);
  }
  net_sum_done(&sum);
  net_sum_done(&square);
}
END_TEST

START_TEST(means_of_quotients) {
  struct net_sum sum = {0};
  net_sum_add_integer_quotient(&sum, -2, 1, false);
  net_sum_add_integer_quotient(&sum, 4, 3, false);
  ck_assert_double_eq(net_sum_mean(&sum, 2), -1.0 / 3);
  net_sum_add_integer_quotient(&sum, 4, 3, true);
  net_sum_add_quotient(&sum, -0x1p-60, 1, 7, false);
  net_sum_add_quotient(&sum, -0x1p-60, 1, 7, true);
  net_sum_add_integer_quotient(&sum, -2, 1, true);
  ck_assert_int_eq(net_sum_sign(&sum), 0);
  seed = 11;
  for (int i = 0; i < 1000; i++) { /* n/d + (d - n)/d = 1 */
    int64_t divisor = (int64_t)(next() >> 1) + 1, n = (int64_t)(next() >> 2);
    net_sum_clear(&sum);
    net_sum_add_integer_quotient(&sum, n, (uint64_t)divisor, false);
    net_sum_add_integer_quotient(&sum, (net_wide)divisor - n, (uint64_t)divisor, false);
    ck_assert_double_eq(net_sum_mean(&sum, 1), 1);
    ck_assert_double_eq(net_sum_mean(&sum, INT64_MAX), 0x1p-63);
  }
  ck_assert_double_eq(net_wide_mean((net_wide)INT64_MIN * 3, 3), -0x1p63);
  ck_assert_double_eq(net_wide_mean(10, 4), 2.5);
  net_sum_done(&sum);
}
END_TEST

/* --- ordered multisets */

static const struct net_ordered_key *key_of(int64_t value) {
  static struct net_ordered_key key;
  key = (struct net_ordered_key){.value.i = value};
  return &key;
}

static void expect_key(const struct net_ordered *sets, uint32_t index, const int *counts, int from,
                       int step) {
  int value = from;
  while (value >= 0 && value < KEYS && counts[value] == 0) value += step;
  if (value < 0 || value >= KEYS) {
    ck_assert_uint_eq(index, 0);
  } else {
    ck_assert_uint_ne(index, 0);
    struct net_ordered_key key;
    net_ordered_get(sets, index, &key);
    ck_assert_int_eq(key.value.i, value);
  }
}

START_TEST(multisets_agree_with_counts) {
  struct net_ordered sets;
  uint32_t roots[3] = {0, 0, 0};
  int counts[3][KEYS] = {{0}};
  net_ordered_init(&sets, NET_KEEP_VALUE, NULL, NULL);
  seed = 4;
  for (int i = 0; i < STEPS; i++) {
    int set = (int)(next() % 3), value = (int)(next() % KEYS);
    if (next() % 2 && counts[set][value] > 0) {
      counts[set][value]--;
      ck_assert_int_eq(net_ordered_remove(&sets, &roots[set], key_of(value)),
                       counts[set][value] == 0);
    } else if (next() % 400 == 0) {
      net_ordered_clear(&sets, &roots[set]);
      memset(counts[set], 0, sizeof counts[set]);
    } else {
      ck_assert_int_eq(net_ordered_insert(&sets, &roots[set], key_of(value)),
                       counts[set][value] == 0);
      counts[set][value]++;
    }
    expect_key(&sets, net_ordered_first(&sets, roots[set]), counts[set], 0, 1);
    expect_key(&sets, net_ordered_last(&sets, roots[set]), counts[set], KEYS - 1, -1);
    expect_key(&sets, net_ordered_before(&sets, roots[set], key_of(value)), counts[set], value - 1,
               -1);
    expect_key(&sets, net_ordered_after(&sets, roots[set], key_of(value)), counts[set], value + 1,
               1);
  }
  size_t distinct = 0;
  for (int set = 0; set < 3; set++)
    for (int value = 0; value < KEYS; value++) distinct += counts[set][value] > 0;
  ck_assert_uint_eq(sets.live, distinct);
  net_ordered_done(&sets);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("sums");
  TCase *cases = tcase_create("sums");
  tcase_add_test(cases, integers_and_products_are_exact);
  tcase_add_test(cases, what_is_taken_away_leaves_nothing);
  tcase_add_test(cases, sums_are_rounded_once);
  tcase_add_test(cases, sums_out_of_range_are_infinite_and_come_back);
  tcase_add_test(cases, squares_of_sums);
  tcase_add_test(cases, means_of_quotients);
  tcase_add_test(cases, multisets_agree_with_counts);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
