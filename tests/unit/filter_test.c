/* Filters: what they let pass, put together by `and` and `or`, as bytes, and from bytes that anybody sent. */
#include "engine/filter.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct base_arena *arena;

static void setup(void) {
  arena = base_arena_new();
}

static void teardown(void) {
  base_arena_free(arena);
}

static struct net_filter of_integer(const char *domain, enum net_filter_test test, int64_t value) {
  return net_filter_one(
      arena, (struct net_filter_atom){
                 .domain = domain, .test = test, .value = {.base = NET_INTEGER, .integer = value}});
}

static struct net_filter of_text(const char *domain, enum net_filter_test test, const char *text) {
  return net_filter_one(
      arena, (struct net_filter_atom){
                 .domain = domain,
                 .test = test,
                 .value = {.base = NET_STRING, .text = text, .length = (uint32_t)strlen(text)}});
}

/* Of a record whose x and y are such integers. */
static bool passes(struct net_filter filter, int64_t x, int64_t y) {
  for (uint32_t c = 0; c < filter.count; c++) {
    bool any = false;
    for (uint32_t a = 0; a < filter.clauses[c].count; a++) {
      const struct net_filter_atom *atom = &filter.clauses[c].atoms[a];
      struct net_filter_value value = {.base = NET_INTEGER,
                                       .integer = *atom->domain == 'x' ? x : y};
      any |= net_filter_holds(atom, &value);
    }
    if (!any) return false;
  }
  return true;
}

static const char *printed(struct net_filter filter) {
  static struct base_buffer out;
  base_buffer_clear(&out);
  net_filter_print(&out, filter);
  return base_buffer_text(&out);
}

static struct net_filter random_filter(unsigned *random, int depth) {
  if (rand_r(random) % 10 == 0) return net_filter_none(arena);
  int choice = rand_r(random) % (depth > 0 ? 4 : 2);
  if (choice < 2)
    return of_integer(rand_r(random) % 2 ? "x" : "y", (enum net_filter_test)(rand_r(random) % 6),
                      rand_r(random) % 4);
  struct net_filter a = random_filter(random, depth - 1), b = random_filter(random, depth - 1);
  return choice == 2 ? net_filter_both(arena, a, b) : net_filter_either(arena, a, b);
}

/* and, or are exact while filters are small; bytes say the same. */
START_TEST(put_together) {
  unsigned random = 17;
  for (int round = 0; round < 500; round++) {
    struct net_filter a = random_filter(&random, 2), b = random_filter(&random, 1), again;
    struct net_filter both = net_filter_both(arena, a, b), either = net_filter_either(arena, a, b);
    struct base_buffer bytes = BASE_BUFFER_EMPTY;
    if (net_filter_is_none(a) || net_filter_is_none(b)) ck_assert(net_filter_is_none(both));
    net_filter_put(&bytes, both);
    ck_assert(net_filter_get(arena, bytes.data, bytes.length, &again));
    for (int64_t x = -1; x < 5; x++)
      for (int64_t y = -1; y < 5; y++) {
        bool in_a = passes(a, x, y), in_b = passes(b, x, y);
        ck_assert_msg(passes(both, x, y) == (in_a && in_b), "%s", printed(both));
        ck_assert(passes(again, x, y) == (in_a && in_b));
        ck_assert_msg(passes(either, x, y) == (in_a || in_b), "%s", printed(either));
      }
    base_buffer_done(&bytes);
    if (round % 100 == 0) base_arena_reset(arena);
  }
}
END_TEST

/* What would grow beyond bounds says less, never more. */
START_TEST(large_ones_say_less) {
  struct net_filter list = of_integer("x", NET_FILTER_EQ, 0), all = list;
  for (int i = 1; i < 200; i++)
    list = net_filter_either(arena, list, of_integer("x", NET_FILTER_EQ, i));
  ck_assert_uint_eq(list.count, 1);
  ck_assert(passes(list, 199, 0) && !passes(list, 200, 0));
  for (int i = 200; i < 400; i++)
    list = net_filter_either(arena, list, of_integer("x", NET_FILTER_EQ, i));
  ck_assert(passes(list, 399, 0));
  for (int i = 0; i < 400; i++)
    all = net_filter_both(arena, all, of_integer("y", NET_FILTER_NE, i));
  ck_assert(!passes(all, 1, 7) && passes(all, 0, 1000));
  ck_assert_uint_eq(net_filter_either(arena, NET_FILTER_ALL, all).count, 0);
}
END_TEST

START_TEST(values) {
  struct net_filter_atom atom = {
      .domain = "f", .test = NET_FILTER_NE, .value = {.base = NET_FLOAT, .real = 0.0}};
  struct net_filter_value value = {.base = NET_FLOAT, .real = -0.0};
  ck_assert(!net_filter_holds(&atom, &value));
  value.real = NAN; /* no number: it is the server's to say what it is */
  ck_assert(net_filter_holds(&atom, &value));
  atom.test = NET_FILTER_LT;
  ck_assert(net_filter_holds(&atom, &value));
  value.real = INFINITY;
  ck_assert(!net_filter_holds(&atom, &value));
  value.base = NET_INTEGER; /* of another type: nothing is known */
  ck_assert(net_filter_holds(&atom, &value));
  static const struct {
    enum net_filter_test test;
    const char *constant, *text;
    bool holds;
  } texts[] = {
      {NET_FILTER_EQ, "a", "a", true},
      {NET_FILTER_EQ, "a", "A", false},
      {NET_FILTER_NE, "", "", false},
      {NET_FILTER_LT, "ab", "a", true},
      {NET_FILTER_GT, "\x7f", "\xc3\xa9", true},
      {NET_FILTER_MATCHES, "a*", "abc", true},
      {NET_FILTER_MATCHES, "a*", "", false},
      {NET_FILTER_MATCHES_NOT, "?", "\xc3\xa9", false},
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct net_filter one = of_text("s", texts[i].test, texts[i].constant);
    value = (struct net_filter_value){
        .base = NET_STRING, .text = texts[i].text, .length = (uint32_t)strlen(texts[i].text)};
    ck_assert_msg(net_filter_holds(one.clauses[0].atoms, &value) == texts[i].holds, "%zu", i);
  }
}
END_TEST

START_TEST(for_people) {
  struct net_filter a = net_filter_either(arena, of_integer("x", NET_FILTER_GT, 5),
                                          of_text("s", NET_FILTER_MATCHES, "a\n*"));
  ck_assert_str_eq(printed(net_filter_both(arena, a, of_integer("y", NET_FILTER_NE, -1))),
                   "(x > 5 or s matches \"a\\n*\") and y != -1");
  ck_assert_str_eq(printed(NET_FILTER_ALL), "all");
}
END_TEST

/* Cut off, and with each byte changed: refused, or another filter. */
START_TEST(hostile_bytes) {
  struct net_filter filter =
      net_filter_both(arena,
                      net_filter_either(arena, of_integer("x", NET_FILTER_GT, 5),
                                        of_text("s", NET_FILTER_MATCHES, "[a-z]*")),
                      of_text("name", NET_FILTER_NE, "text"));
  struct base_buffer bytes = BASE_BUFFER_EMPTY, printing = BASE_BUFFER_EMPTY;
  struct net_filter got;
  net_filter_put(&bytes, filter);
  for (size_t length = 1; length < bytes.length; length++)
    ck_assert(!net_filter_get(arena, bytes.data, length, &got));
  for (size_t i = 0; i < bytes.length; i++)
    for (int value = 0; value < 256; value++) {
      char *changed = base_arena_strndup(arena, bytes.data, bytes.length);
      changed[i] = (char)value;
      if (net_filter_get(arena, changed, bytes.length, &got)) net_filter_print(&printing, got);
      base_buffer_clear(&printing);
    }
  ck_assert(net_filter_get(arena, "", 0, &got) && got.count == 0);
  ck_assert(!net_filter_get(arena, "\0\0", 2, &got));
  base_buffer_done(&bytes);
  base_buffer_done(&printing);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("filter");
  TCase *tests = tcase_create("filter");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, put_together);
  tcase_add_test(tests, large_ones_say_less);
  tcase_add_test(tests, values);
  tcase_add_test(tests, for_people);
  tcase_add_test(tests, hostile_bytes);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? 1 : 0;
}
