/* Types, what may be stored, and the normal form and equality of temporal values: by brute force over
 * small numbers against the definition (equality of polynomials in integers).                       */
#include "engine/value.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

START_TEST(types_read_back) {
  static const char *const names[] = {"i1",  "i2",          "i4",   "i8",   "f4",   "f8",      "c1",
                                      "c20", "c4294967295", "text", "bool", "name", "temporal"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    struct base_buffer out = BASE_BUFFER_EMPTY;
    struct net_type type;
    ck_assert(net_type_parse(names[i], &type));
    net_type_print(&out, type);
    ck_assert_str_eq(base_buffer_text(&out), names[i]);
    base_buffer_done(&out);
  }
}
END_TEST

START_TEST(types_in_any_case) {
  struct net_type type;
  ck_assert(net_type_parse("TeXt", &type) && type.base == NET_STRING && type.width == 0);
  ck_assert(net_type_parse("C12", &type) && type.base == NET_STRING && type.width == 12);
  ck_assert(net_type_parse("Bytes", &type) && type.base == NET_BYTES && type.width == 0);
  ck_assert(net_type_parse("I8", &type) && type.base == NET_INTEGER && type.width == 8);
}
END_TEST

START_TEST(no_types) {
  static const char *const texts[] = {
      "",    "i",   "i3",    "i44",      "i4 ", " i4",
      "f2",  "c",   "c0",    "c01",      "c-1", "c4294967296",
      "c1x", "tex", "textt", "instants", "int", "c99999999999999999999"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    struct net_type type = {NET_BOOL, 77};
    ck_assert_msg(!net_type_parse(texts[i], &type), "%s", texts[i]);
    ck_assert_uint_eq(type.width, 77);
  }
}
END_TEST

START_TEST(integers_by_width) {
  static const uint32_t widths[] = {1, 2, 4};
  for (size_t w = 0; w < 3; w++) {
    int64_t top = (INT64_C(1) << (widths[w] * 8 - 1)) - 1;
    struct net_type type = {NET_INTEGER, widths[w]};
    ck_assert_ptr_null(net_value_check(NULL, type, (union net_slot){.i = top}));
    ck_assert_ptr_null(net_value_check(NULL, type, (union net_slot){.i = -top - 1}));
    ck_assert_ptr_nonnull(net_value_check(NULL, type, (union net_slot){.i = top + 1}));
    ck_assert_ptr_nonnull(net_value_check(NULL, type, (union net_slot){.i = -top - 2}));
    ck_assert_ptr_nonnull(net_value_check(NULL, type, (union net_slot){.i = INT64_MIN}));
  }
  struct net_type i2 = {NET_INTEGER, 2}, i8 = {NET_INTEGER, 8};
  ck_assert_str_eq(net_value_check(NULL, i2, (union net_slot){.i = 40000}),
                   "out of the range of i2");
  ck_assert_ptr_null(net_value_check(NULL, i8, (union net_slot){.i = INT64_MIN}));
}
END_TEST

START_TEST(floats_and_bools) {
  struct net_type f4 = {NET_FLOAT, 4}, f8 = {NET_FLOAT, 8}, boolean = {NET_BOOL, 0};
  ck_assert_ptr_null(net_value_check(NULL, f4, (union net_slot){.f = (double)FLT_MAX}));
  ck_assert_ptr_nonnull(net_value_check(NULL, f4, (union net_slot){.f = 1e39}));
  ck_assert_ptr_null(net_value_check(NULL, f8, (union net_slot){.f = 1e39}));
  ck_assert_ptr_nonnull(net_value_check(NULL, f8, (union net_slot){.f = (double)NAN}));
  ck_assert_ptr_nonnull(net_value_check(NULL, f4, (union net_slot){.f = (double)-INFINITY}));
  ck_assert_ptr_null(net_value_check(NULL, boolean, (union net_slot){.i = 1}));
  ck_assert_ptr_nonnull(net_value_check(NULL, boolean, (union net_slot){.i = 2}));
}
END_TEST

/* UTF-8 by its definition: encode every code point, compare. */
static size_t encode(uint32_t point, unsigned char *out) {
  if (point < 0x80) {
    out[0] = (unsigned char)point;
    return 1;
  }
  if (point < 0x800) {
    out[0] = (unsigned char)(0xC0 | point >> 6);
    out[1] = (unsigned char)(0x80 | (point & 0x3F));
    return 2;
  }
  if (point < 0x10000) {
    out[0] = (unsigned char)(0xE0 | point >> 12);
    out[1] = (unsigned char)(0x80 | (point >> 6 & 0x3F));
    out[2] = (unsigned char)(0x80 | (point & 0x3F));
    return 3;
  }
  out[0] = (unsigned char)(0xF0 | point >> 18);
  out[1] = (unsigned char)(0x80 | (point >> 12 & 0x3F));
  out[2] = (unsigned char)(0x80 | (point >> 6 & 0x3F));
  out[3] = (unsigned char)(0x80 | (point & 0x3F));
  return 4;
}

static const char *check_bytes(uint32_t width, const void *bytes, size_t length) {
  struct base_strings *strings = base_strings_new();
  union net_slot slot = {.s = base_strings_intern(strings, bytes, length)};
  const char *answer = net_value_check(strings, (struct net_type){NET_STRING, width}, slot);
  base_strings_free(strings);
  return answer;
}

START_TEST(names) {
  static const struct {
    const char *text;
    bool good;
  } cases[] = {{"Proc:1#2", true},
               {"p:a:b#c#18446744073709551616", true},
               {"Proc:é#0", true},
               {"", false},
               {"foo", false},
               {"Proc:1", false},
               {"Proc#1", false},
               {":1#2", false},
               {"Proc:#2", false},
               {"Proc:1#", false},
               {"Proc:1#x", false},
               {"Proc:1#-2", false},
               {"#:1#2", false},
               {"Proc:1#2 ", false},
               {"Proc:\xff#1", false},
               {":#", false},
               {"Proc:1#2@db1", true},
               {"Proc:1#2.3@db-1_a:5f3a9c20", true},
               {"Proc:a@b#2", true},
               {"Proc:1#2@", false},
               {"Proc:1#@db1", false},
               {"Proc:1#2.@db1", false},
               {"Proc:1#2@db 1", false},
               {"Proc:1#2@db@1", false},
               {"Proc:1#2@d\xc3\xa9", false}};
  struct base_strings *strings = base_strings_new();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    union net_slot slot = {.s = base_strings_intern_text(strings, cases[i].text)};
    const char *answer = net_value_check(strings, (struct net_type){NET_NAME, 0}, slot);
    ck_assert_msg((answer == NULL) == cases[i].good, "%s", cases[i].text);
  }
  base_strings_free(strings);
}
END_TEST

START_TEST(every_code_point) {
  struct base_strings *strings = base_strings_new();
  struct net_type one = {NET_STRING, 1};
  for (uint32_t point = 0; point < 0x120000; point++) {
    unsigned char bytes[4];
    size_t length = encode(point, bytes);
    bool valid = point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
    union net_slot slot = {.s = base_strings_intern(strings, (char *)bytes, length)};
    ck_assert_msg((net_value_check(strings, one, slot) == NULL) == valid, "U+%X", point);
  }
  base_strings_free(strings);
}
END_TEST

/* All sequences of up to two bytes, and of three and four from those bytes that matter: valid if and
 * only if they are a concatenation of encoded code points. */
static bool valid_by_definition(const unsigned char *bytes, size_t length) {
  if (length == 0) return true;
  for (size_t step = 1; step <= 4 && step <= length; step++) {
    uint32_t point = step == 1   ? bytes[0]
                     : step == 2 ? bytes[0] & 0x1Fu
                     : step == 3 ? bytes[0] & 0x0Fu
                                 : bytes[0] & 0x07u;
    unsigned char again[4];
    for (size_t i = 1; i < step; i++) point = point << 6 | (bytes[i] & 0x3Fu);
    if (point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) continue;
    if (encode(point, again) != step || memcmp(again, bytes, step) != 0) continue;
    return valid_by_definition(bytes + step, length - step);
  }
  return false;
}

START_TEST(hostile_bytes) {
  static const unsigned char edges[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0,
                                        0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED,
                                        0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF};
  enum { EDGES = sizeof edges };
  struct base_strings *strings = base_strings_new();
  struct net_type text = {NET_STRING, 0};
  for (size_t n = 0; n < EDGES * EDGES * EDGES * EDGES; n++) {
    unsigned char bytes[4] = {edges[n % EDGES], edges[n / EDGES % EDGES],
                              edges[n / EDGES / EDGES % EDGES], edges[n / EDGES / EDGES / EDGES]};
    for (size_t length = 1; length <= 4; length++) {
      union net_slot slot = {.s = base_strings_intern(strings, (char *)bytes, length)};
      const char *answer = net_value_check(strings, text, slot);
      ck_assert((answer == NULL) == valid_by_definition(bytes, length));
    }
  }
  base_strings_free(strings);
}
END_TEST

START_TEST(code_points_are_counted) {
  ck_assert_ptr_null(check_bytes(3, "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", 9));
  ck_assert_ptr_nonnull(check_bytes(2, "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", 9));
  ck_assert_ptr_null(check_bytes(1, "", 0));
  ck_assert_ptr_null(check_bytes(3, "a\0b", 3));
  ck_assert_ptr_nonnull(check_bytes(2, "a\0b", 3));
}
END_TEST

/* --- temporal values */

enum { TOP = 2, SIDE = 2 * TOP + 1, QUADS = SIDE * SIDE * SIDE * SIDE };

struct quad {
  int n0, n1, d0, d1;
};

static struct quad quad_at(int index) {
  return (struct quad){index % SIDE - TOP, index / SIDE % SIDE - TOP,
                       index / SIDE / SIDE % SIDE - TOP, index / SIDE / SIDE / SIDE - TOP};
}

static bool is_function(struct quad q) {
  return q.d0 != 0 || q.d1 != 0;
}

static struct net_temporal temporal(struct quad q) {
  return (struct net_temporal){q.n0, q.n1, q.d0, q.d1};
}

static bool same_function(struct quad a, struct quad b) {
  return a.n0 * b.d0 == b.n0 * a.d0 && a.n1 * b.d1 == b.n1 * a.d1 &&
         a.n0 * b.d1 + a.n1 * b.d0 == b.n0 * a.d1 + b.n1 * a.d0;
}

static bool identical(struct net_temporal a, struct net_temporal b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

START_TEST(normal_form_is_normal) {
  for (int i = 0; i < QUADS; i++) {
    struct quad q = quad_at(i);
    if (!is_function(q)) continue;
    struct net_temporal v = net_temporal_normal(temporal(q));
    bool constant = q.n0 * q.d1 == q.n1 * q.d0;
    ck_assert(identical(v, net_temporal_normal(v)));
    ck_assert(!signbit(v.n0) || v.n0 != 0);
    ck_assert(!signbit(v.n1) || v.n1 != 0);
    ck_assert(!signbit(v.d1) || v.d1 != 0);
    ck_assert(!signbit(v.d0) && (v.d0 > 0 || v.d1 > 0));
    ck_assert((v.n1 == 0 && v.d0 == 1 && v.d1 == 0) == constant);
    if (q.d1 == 0) ck_assert(v.d0 == 1 && v.d1 == 0);
    /* The same function: halves are exact, so the cross products are, too. */
    ck_assert(v.n0 * q.d0 == q.n0 * v.d0 && v.n1 * q.d1 == q.n1 * v.d1);
    ck_assert(v.n0 * q.d1 + v.n1 * q.d0 == q.n0 * v.d1 + q.n1 * v.d0);
  }
}
END_TEST

START_TEST(equality_is_that_of_functions) {
  for (int i = 0; i < QUADS; i++) {
    struct quad a = quad_at(i);
    if (!is_function(a)) continue;
    struct net_temporal a_normal = net_temporal_normal(temporal(a));
    for (int j = 0; j < QUADS; j++) {
      struct quad b = quad_at(j);
      if (!is_function(b)) continue;
      ck_assert(net_temporal_equal(a_normal, net_temporal_normal(temporal(b))) ==
                same_function(a, b));
    }
  }
}
END_TEST

static struct net_temporal shortest(double n0, double n1, double d0, double d1) {
  return net_temporal_shortest((struct net_temporal){n0, n1, d0, d1});
}

/* Quotients alone: linear functions have one normal form as it is. */
START_TEST(one_shortest_form_stands_for_a_function) {
  static const double scales[] = {0.375, 3, 10, 0x1p40, 0x1p-40 * 21};
  for (int i = 0; i < QUADS; i++) {
    struct quad a = quad_at(i);
    if (!is_function(a)) continue;
    struct net_temporal v = net_temporal_normal(temporal(a)), kept = net_temporal_shortest(v);
    ck_assert(net_temporal_equal(v, kept) && identical(kept, net_temporal_shortest(kept)));
    for (size_t k = 0; k < sizeof scales / sizeof *scales && v.d1 != 0; k++)
      ck_assert(identical(
          kept, shortest(v.n0 * scales[k], v.n1 * scales[k], v.d0 * scales[k], v.d1 * scales[k])));
    if (v.d1 != 0) /* from another origin as well */
      ck_assert(identical(net_temporal_shortest(net_temporal_rebase(kept, 0.75)),
                          net_temporal_shortest(net_temporal_rebase(v, 0.75))));
  }
  ck_assert(identical(shortest(10000, 100, 277, 1), (struct net_temporal){10000, 100, 277, 1}));
  ck_assert(identical(shortest(2, 1, 2, 2), (struct net_temporal){2, 1, 2, 2}));
  ck_assert(identical(shortest(0, 6, 6, 6), (struct net_temporal){0, 1, 1, 1}));
  ck_assert(identical(shortest(0.5, 1, 0.5, 1), (struct net_temporal){0.5, 1, 0.5, 1}));
  /* What has no room for it stays. */
  ck_assert(
      identical(shortest(0x1p1020, 1, 1, 0x1p-20), (struct net_temporal){0x1p1020, 1, 1, 0x1p-20}));
  ck_assert(identical(shortest((double)INFINITY, 1, 1, 2),
                      (struct net_temporal){(double)INFINITY, 1, 1, 2}));
}
END_TEST

START_TEST(numbers_stay_as_they_are) {
  struct net_temporal v = {10000, 100, 277, 1}, twice = {20000, 200, 554, 2};
  ck_assert(identical(net_temporal_normal(v), v));
  ck_assert(identical(net_temporal_normal(twice), twice));
  ck_assert(net_temporal_equal(v, twice));
  ck_assert(identical(net_temporal_normal((struct net_temporal){6, 2, 3, 1}),
                      (struct net_temporal){2, 0, 1, 0}));
  ck_assert(identical(net_temporal_normal((struct net_temporal){-0.0, 4, -2, 0}),
                      (struct net_temporal){0, -2, 1, 0}));
  ck_assert(identical(net_temporal_normal((struct net_temporal){1, 0, -10, 1}),
                      (struct net_temporal){-1, 0, 10, -1}));
  ck_assert(identical(net_temporal_normal((struct net_temporal){0, 7, 0, 2}),
                      (struct net_temporal){3.5, 0, 1, 0}));
}
END_TEST

START_TEST(large_numbers_are_compared_exactly) {
  double big = 0x1p53 - 1; /* big * big is not a double */
  struct net_temporal a = {big, 1, 3, big}, b = {big - 1, 1, 3, big};
  ck_assert(!net_temporal_equal(net_temporal_normal(a), net_temporal_normal(b)));
  /* Products that agree in their first 53 bits: big^2 and (big - 1)(big + 1). */
  struct net_temporal c = {1, 5, big, big - 1}, d = {1, 5, big + 1, big};
  ck_assert(!net_temporal_equal(net_temporal_normal(c), net_temporal_normal(d)));
  struct net_temporal e = {big - 1, 0, big, big / 8}, f = {big, 0, big + 1, (big + 1) / 8};
  ck_assert(!net_temporal_equal(net_temporal_normal(e), net_temporal_normal(f)));
  struct net_temporal huge = {1e300, 1e250, 1e-200, 1e300};
  struct net_temporal scaled = {0x1p10 * 1e300, 0x1p10 * 1e250, 0x1p10 * 1e-200, 0x1p10 * 1e300};
  ck_assert(net_temporal_equal(net_temporal_normal(huge), net_temporal_normal(scaled)));
  huge.n1 = -1e250;
  ck_assert(!net_temporal_equal(net_temporal_normal(huge), net_temporal_normal(scaled)));
}
END_TEST

START_TEST(rounding_makes_no_function_of_a_constant) {
  for (int i = 1; i < 1000; i++) {
    double length = i / 7.0;
    struct net_temporal v = {0.1 * length, 0.1, length, 1};
    ck_assert(identical(net_temporal_normal(v), (struct net_temporal){0.1, 0, 1, 0}));
  }
}
END_TEST

START_TEST(no_function_is_left_alone) {
  struct net_temporal none = {1, 2, 0, 0}, infinite = {(double)INFINITY, 1, 2, 3};
  ck_assert(identical(net_temporal_normal(none), none));
  ck_assert(identical(net_temporal_normal(infinite), infinite));
  ck_assert(net_temporal_equal(none, none));
}
END_TEST

START_TEST(rebase_keeps_the_value_at_each_instant) {
  for (int i = 0; i < QUADS; i++) {
    struct quad q = quad_at(i);
    if (!is_function(q)) continue;
    struct net_temporal before = net_temporal_normal(temporal(q));
    for (int delta = -3; delta <= 3; delta++) {
      struct net_temporal after = net_temporal_rebase(before, delta);
      struct net_temporal back = net_temporal_rebase(after, -delta);
      ck_assert(net_temporal_equal(back, before));
      for (int tau = 5; tau < 9; tau++) { /* poles are at -2 .. 2 */
        double old_value = (before.n0 + before.n1 * tau) / (before.d0 + before.d1 * tau);
        double new_value =
            (after.n0 + after.n1 * (tau - delta)) / (after.d0 + after.d1 * (tau - delta));
        ck_assert_double_eq_tol(old_value, new_value, 1e-12);
      }
    }
  }
}
END_TEST

START_TEST(span_units) {
  ck_assert(net_units_between(NET_TIMELINE_REAL, 0, 1500000000) == 1.5);
  ck_assert(net_units_between(NET_TIMELINE_ABSTRACT, 500, -1499999500) == -1.5e9);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("value");
  TCase *cases = tcase_create("value");
  tcase_set_timeout(cases, 120);
  tcase_add_test(cases, types_read_back);
  tcase_add_test(cases, types_in_any_case);
  tcase_add_test(cases, no_types);
  tcase_add_test(cases, integers_by_width);
  tcase_add_test(cases, floats_and_bools);
  tcase_add_test(cases, names);
  tcase_add_test(cases, every_code_point);
  tcase_add_test(cases, hostile_bytes);
  tcase_add_test(cases, code_points_are_counted);
  tcase_add_test(cases, normal_form_is_normal);
  tcase_add_test(cases, equality_is_that_of_functions);
  tcase_add_test(cases, one_shortest_form_stands_for_a_function);
  tcase_add_test(cases, numbers_stay_as_they_are);
  tcase_add_test(cases, large_numbers_are_compared_exactly);
  tcase_add_test(cases, rounding_makes_no_function_of_a_constant);
  tcase_add_test(cases, no_function_is_left_alone);
  tcase_add_test(cases, rebase_keeps_the_value_at_each_instant);
  tcase_add_test(cases, span_units);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
