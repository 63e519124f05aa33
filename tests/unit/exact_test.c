/* Exact signs and roots of linear functions, and patterns.
 *
 * Judges: 128-bit integers for coefficients that are small integers or small multiples of powers of
 * two, far apart or not; for patterns, matching by plain recursion over all ways to divide the text.  */
#include "engine/exact.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "engine/pattern.h"

__extension__ typedef __int128 wide;

static int sign_of(wide x) {
  return x > 0 ? 1 : x < 0 ? -1 : 0;
}

static int64_t small(struct base_random *random, uint64_t limit) {
  return (int64_t)base_random_below(random, 2 * limit + 1) - (int64_t)limit;
}

/* a + b k of integers, all of them scaled by 2^exponent, which changes neither signs nor roots. */
static void one_linear(struct base_random *random, int exponent) {
  uint64_t limit = UINT64_C(1) << (1 + base_random_below(random, 25));
  int64_t a[4], b[4];
  for (int i = 0; i < 4; i++) {
    a[i] = small(random, limit);
    b[i] = small(random, limit);
  }
  double scale = ldexp(1, exponent);
  struct net_product constant[] = {{(double)a[0] * scale, (double)a[1], false},
                                   {(double)a[2], (double)a[3] * scale, true}};
  struct net_product slope[] = {{(double)b[0], (double)b[1] * scale, false},
                                {(double)b[2] * scale, (double)b[3], true}};
  wide unit = base_random_below(random, 2) ? 1000000000 : 1;
  wide x = ((wide)a[0] * a[1] - (wide)a[2] * a[3]) * unit;
  wide y = (wide)b[0] * b[1] - (wide)b[2] * b[3];
  struct net_linear linear;
  net_linear_make(constant, 2, slope, 2, (uint64_t)unit, &linear);
  ck_assert_int_eq(net_products_sign(slope, 2), sign_of(y));
  for (int i = 0; i < 4; i++) {
    uint64_t k = base_random_below(random, limit);
    ck_assert_int_eq(net_linear_sign(&linear, k), sign_of(x + y * (wide)k));
  }
  uint64_t root = 0;
  bool whole = false,
       expected = y != 0 && (x == 0 || (x > 0) != (y > 0)) && (-x / y) <= (wide)UINT64_MAX;
  ck_assert(net_linear_root(&linear, &root, &whole) == expected);
  if (!expected) return;
  ck_assert_uint_eq(root, (uint64_t)(-x / y));
  ck_assert(whole == (x % y == 0));
  ck_assert_int_eq(net_linear_sign(&linear, root) == 0, whole);
}

START_TEST(signs_and_roots) {
  struct base_random random = {11};
  for (int i = 0; i < 200000; i++) one_linear(&random, (int)small(&random, 900));
}
END_TEST

/* Products that differ in the last place only, and by all that doubles can differ. */
START_TEST(extremes) {
  double tiny = 0x1p-1074;
  struct net_product near[] = {{1 + DBL_EPSILON, 1 - DBL_EPSILON, false}, {1, 1, true}};
  ck_assert_int_eq(net_products_sign(near, 2), -1); /* 1 - eps^2 */
  struct net_product far[] = {{DBL_MAX, DBL_MAX, false}, {tiny, tiny, true}};
  ck_assert_int_eq(net_products_sign(far, 2), 1);
  struct net_product all[] = {
      {DBL_MAX, DBL_MAX, false}, {tiny, tiny, true}, {DBL_MAX, DBL_MAX, true}};
  ck_assert_int_eq(net_products_sign(all, 3), -1);
  struct net_linear linear;
  struct net_product slope = {tiny, tiny, true};
  uint64_t root;
  bool whole;
  net_linear_make(far, 2, &slope, 1, 1000000000, &linear);
  ck_assert(!net_linear_root(&linear, &root, &whole));
  ck_assert_int_eq(net_linear_sign(&linear, UINT64_MAX), 1);
  struct net_product constant = {tiny, -0x1p1000, false};
  struct net_product steep = {DBL_MAX, DBL_MAX, false};
  net_linear_make(&constant, 1, &steep, 1, 1000000000, &linear);
  ck_assert(net_linear_root(&linear, &root, &whole));
  ck_assert_uint_eq(root, 0);
  ck_assert(!whole);
  struct net_product largest = {-0x1p32, 0x1p31, false}, one = {1, 1, false};
  net_linear_make(&largest, 1, &one, 1, 1, &linear);
  ck_assert(net_linear_root(&linear, &root, &whole));
  ck_assert_uint_eq(root, UINT64_C(1) << 63);
  ck_assert(whole);
  struct net_product beyond = {-0x1p32, 0x1p32, false};
  net_linear_make(&beyond, 1, &one, 1, 1, &linear);
  ck_assert(!net_linear_root(&linear, &root, &whole));
}
END_TEST

/* --- patterns */

static bool plainly(const char *pattern, const char *text) {
  if (*pattern == '\0') return *text == '\0';
  if (*pattern == '*') return plainly(pattern + 1, text) || (*text && plainly(pattern, text + 1));
  if (*text == '\0') return false;
  if (*pattern == '?') return plainly(pattern + 1, text + 1);
  if (*pattern == '[') { /* one range, as the generator below writes it */
    bool in = *text >= pattern[1] && *text <= pattern[3];
    return in && plainly(pattern + 5, text + 1);
  }
  if (*pattern == '\\') pattern++;
  return *pattern == *text && plainly(pattern + 1, text + 1);
}

START_TEST(patterns) {
  static const char *const parts[] = {"a", "b", "c", "*", "?", "[a-b]", "[b-c]", "\\*", "\\a"};
  static const char letters[] = "abc*";
  struct base_random random = {3};
  int matched = 0;
  for (int i = 0; i < 200000; i++) {
    char pattern[64] = "", text[16] = "";
    size_t count = base_random_below(&random, 7), length = base_random_below(&random, 8);
    size_t used = 0;
    for (size_t k = 0; k < count; k++) {
      const char *part = parts[base_random_below(&random, sizeof parts / sizeof *parts)];
      memcpy(pattern + used, part, strlen(part) + 1);
      used += strlen(part);
    }
    for (size_t k = 0; k < length; k++) text[k] = letters[base_random_below(&random, 4)];
    ck_assert_ptr_null(net_pattern_fault(pattern, used));
    bool matches = net_pattern_match(pattern, used, text, length);
    ck_assert_msg(matches == plainly(pattern, text), "%s %s", pattern, text);
    matched += matches;
  }
  ck_assert_int_gt(matched, 5000);
}
END_TEST

START_TEST(many_stars_take_no_time) {
  char pattern[400], text[2000];
  for (size_t i = 0; i < sizeof pattern; i++) pattern[i] = i % 2 ? 'a' : '*';
  memset(text, 'a', sizeof text);
  pattern[sizeof pattern - 1] = 'b';
  ck_assert(!net_pattern_match(pattern, sizeof pattern, text, sizeof text));
}
END_TEST

START_TEST(characters_are_code_points) {
  ck_assert(net_pattern_match("?", 1, "\xE2\x82\xAC", 3));
  ck_assert(!net_pattern_match("??", 2, "\xE2\x82\xAC", 3));
  ck_assert(net_pattern_match("[\xC3\xA0-\xF0\x9F\x98\x80]", 9, "\xE2\x82\xAC", 3));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("exact");
  TCase *cases = tcase_create("exact");
  tcase_set_timeout(cases, 120);
  tcase_add_test(cases, signs_and_roots);
  tcase_add_test(cases, extremes);
  tcase_add_test(cases, patterns);
  tcase_add_test(cases, many_stars_take_no_time);
  tcase_add_test(cases, characters_are_code_points);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
