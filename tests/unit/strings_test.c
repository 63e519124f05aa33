/* Interned strings against a plain model: a list of the strings that must be in the table and their
 * ids, through random interning and sweeps. */
#include "engine/base/strings.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"

START_TEST(the_empty_string_is_zero) {
  struct base_strings *strings = base_strings_new();
  size_t length = 9;
  ck_assert_uint_eq(base_strings_intern(strings, "", 0), 0);
  ck_assert_uint_eq(base_strings_intern(strings, NULL, 0), 0);
  ck_assert_str_eq(base_strings_text(strings, 0, &length), "");
  ck_assert_uint_eq(length, 0);
  ck_assert_uint_eq(base_strings_count(strings), 1);
  base_strings_free(strings);
  base_strings_free(NULL);
}
END_TEST

START_TEST(equal_bytes_have_one_id) {
  struct base_strings *strings = base_strings_new();
  base_string_id a = base_strings_intern_text(strings, "abc");
  ck_assert_uint_eq(base_strings_intern(strings, "abcdef", 3), a);
  base_string_id b = base_strings_intern(strings, "abc\0", 4);
  base_string_id zero = base_strings_intern(strings, "\0", 1);
  ck_assert(a != 0 && b != a && zero != 0 && zero != b);
  size_t length;
  ck_assert_mem_eq(base_strings_text(strings, b, &length), "abc\0", 5);
  ck_assert_uint_eq(length, 4);
  ck_assert_str_eq(base_strings_text(strings, a, NULL), "abc");
  ck_assert_uint_eq(base_strings_count(strings), 4);
  base_strings_free(strings);
}
END_TEST

START_TEST(order_is_that_of_bytes) {
  struct base_strings *strings = base_strings_new();
  const char *const sorted[] = {"", "A", "a", "aa", "ab", "b", "\x7f", "\xc3\xa4", "\xff"};
  enum { COUNT = sizeof sorted / sizeof sorted[0] };
  base_string_id ids[COUNT];
  for (int i = COUNT - 1; i >= 0; i--) ids[i] = base_strings_intern_text(strings, sorted[i]);
  for (int i = 0; i < COUNT; i++)
    for (int j = 0; j < COUNT; j++) {
      int order = base_strings_compare(strings, ids[i], ids[j]);
      ck_assert_int_eq((order > 0) - (order < 0), (i > j) - (i < j));
    }
  base_strings_free(strings);
}
END_TEST

START_TEST(texts_do_not_move_until_a_sweep) {
  struct base_strings *strings = base_strings_new();
  enum { COUNT = 50000 };
  static const char *texts[COUNT];
  char text[64];
  for (int i = 0; i < COUNT; i++) {
    snprintf(text, sizeof text, "string number %d", i);
    texts[i] = base_strings_text(strings, base_strings_intern_text(strings, text), NULL);
  }
  for (int i = 0; i < COUNT; i++) {
    snprintf(text, sizeof text, "string number %d", i);
    ck_assert_str_eq(texts[i], text);
    base_string_id id = base_strings_intern_text(strings, text);
    ck_assert_ptr_eq(base_strings_text(strings, id, NULL), texts[i]);
  }
  ck_assert_uint_eq(base_strings_count(strings), COUNT + 1);
  base_strings_free(strings);
}
END_TEST

START_TEST(large_strings) {
  struct base_strings *strings = base_strings_new();
  size_t size = (size_t)3 * 1024 * 1024;
  char *large = malloc(size);
  memset(large, 'x', size);
  base_string_id a = base_strings_intern(strings, large, size);
  base_string_id small = base_strings_intern_text(strings, "small");
  large[size - 1] = 'y';
  base_string_id b = base_strings_intern(strings, large, size);
  ck_assert_uint_ne(a, b);
  ck_assert(base_strings_want_sweep(strings));
  base_strings_sweep_begin(strings);
  base_strings_mark(strings, b);
  base_strings_mark(strings, small);
  ck_assert_uint_eq(base_strings_sweep_end(strings), 1);
  ck_assert_mem_eq(base_strings_text(strings, b, NULL), large, size);
  ck_assert_str_eq(base_strings_text(strings, small, NULL), "small");
  ck_assert_uint_eq(base_strings_bytes(strings), size + 1 + 6 + 1);
  free(large);
  base_strings_free(strings);
}
END_TEST

START_TEST(a_sweep_forgets_and_reuses) {
  struct base_strings *strings = base_strings_new();
  base_string_id a = base_strings_intern_text(strings, "a");
  base_string_id b = base_strings_intern_text(strings, "b");
  base_string_id c = base_strings_intern_text(strings, "c");
  base_strings_sweep_begin(strings);
  base_strings_mark(strings, b);
  base_strings_mark(strings, b);
  base_strings_mark(strings, 0);
  /* What is interned while the sweep is on is held. */
  ck_assert_uint_eq(base_strings_intern_text(strings, "c"), c);
  base_string_id d = base_strings_intern_text(strings, "d");
  ck_assert_uint_eq(base_strings_sweep_end(strings), 1);
  ck_assert_str_eq(base_strings_text(strings, b, NULL), "b");
  ck_assert_str_eq(base_strings_text(strings, c, NULL), "c");
  ck_assert_str_eq(base_strings_text(strings, d, NULL), "d");
  ck_assert_uint_eq(base_strings_count(strings), 4);
  ck_assert_uint_eq(base_strings_intern_text(strings, "e"), a);
  ck_assert_uint_eq(base_strings_intern_text(strings, "b"), b);
  base_strings_free(strings);
}
END_TEST

START_TEST(a_sweep_is_wanted_when_doubled) {
  struct base_strings *strings = base_strings_new();
  base_string_id next = 0;
  ck_assert(!base_strings_want_sweep(strings));
  while (!base_strings_want_sweep(strings)) {
    char text[32];
    snprintf(text, sizeof text, "%d", (int)next++);
    base_strings_intern_text(strings, text);
    ck_assert_uint_lt(next, 1000000);
  }
  size_t before = base_strings_count(strings);
  base_strings_sweep_begin(strings);
  for (base_string_id id = 0; id < before; id++) base_strings_mark(strings, id);
  ck_assert_uint_eq(base_strings_sweep_end(strings), 0);
  ck_assert(!base_strings_want_sweep(strings));
  while (!base_strings_want_sweep(strings)) {
    char text[32];
    snprintf(text, sizeof text, "%d", (int)next++);
    base_strings_intern_text(strings, text);
  }
  ck_assert_uint_eq(base_strings_count(strings), 2 * before);
  base_strings_free(strings);
}
END_TEST

/* The model: which number's text is in the table under which id. */
enum { NUMBERS = 3000, ABSENT = -1 };

struct model {
  int64_t id_of[NUMBERS];
  int held;
};

static size_t text_of(int number, char *text, size_t size) {
  /* Lengths from 1 to some hundreds, with bytes of all kinds. */
  size_t length = 1 + (size_t)(number * 7919 % 300);
  ck_assert_uint_lt(length + 8, size);
  memcpy(text, &number, sizeof number);
  memset(text + sizeof number, number % 256, length);
  return sizeof number + length;
}

static void check_model(const struct base_strings *strings, const struct model *model) {
  char text[400];
  ck_assert_uint_eq(base_strings_count(strings), (size_t)model->held + 1);
  for (int number = 0; number < NUMBERS; number++) {
    if (model->id_of[number] == ABSENT) continue;
    size_t length = text_of(number, text, sizeof text), found;
    const char *bytes = base_strings_text(strings, (uint64_t)model->id_of[number], &found);
    ck_assert_uint_eq(found, length);
    ck_assert_mem_eq(bytes, text, length);
    ck_assert_int_eq(bytes[length], 0);
  }
}

static void sweep_some(struct base_strings *strings, struct model *model,
                       struct base_random *random) {
  int forgotten = 0;
  base_strings_sweep_begin(strings);
  for (int number = 0; number < NUMBERS; number++) {
    if (model->id_of[number] == ABSENT) continue;
    if (base_random_below(random, 3)) {
      base_strings_mark(strings, (uint64_t)model->id_of[number]);
    } else {
      model->id_of[number] = ABSENT;
      forgotten++;
    }
  }
  ck_assert_uint_eq(base_strings_sweep_end(strings), (size_t)forgotten);
  model->held -= forgotten;
}

START_TEST(random_use_agrees_with_the_model) {
  struct base_strings *strings = base_strings_new();
  struct base_random random = {4};
  static struct model model;
  uint64_t largest_id = 0;
  for (int number = 0; number < NUMBERS; number++) model.id_of[number] = ABSENT;
  for (int step = 0; step < 60000; step++) {
    char text[400];
    int number = (int)base_random_below(&random, NUMBERS);
    uint64_t id = base_strings_intern(strings, text, text_of(number, text, sizeof text));
    if (model.id_of[number] == ABSENT) {
      model.id_of[number] = (int64_t)id;
      model.held++;
    }
    ck_assert_int_eq(model.id_of[number], (int64_t)id);
    if (id > largest_id) largest_id = id;
    if (base_random_below(&random, 2000) == 0) sweep_some(strings, &model, &random);
    if (step % 5000 == 0) check_model(strings, &model);
  }
  check_model(strings, &model);
  ck_assert_uint_le(largest_id, NUMBERS); /* ids were reused */
  base_strings_free(strings);
}
END_TEST

START_TEST(unknown_id_aborts) {
  base_strings_text(base_strings_new(), 1, NULL);
}
END_TEST

START_TEST(swept_id_aborts) {
  struct base_strings *strings = base_strings_new();
  base_string_id id = base_strings_intern_text(strings, "gone");
  base_strings_sweep_begin(strings);
  base_strings_sweep_end(strings);
  base_strings_text(strings, id, NULL);
}
END_TEST

START_TEST(mark_outside_a_sweep_aborts) {
  base_strings_mark(base_strings_new(), 0);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("strings");
  TCase *cases = tcase_create("strings");
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, the_empty_string_is_zero);
  tcase_add_test(cases, equal_bytes_have_one_id);
  tcase_add_test(cases, order_is_that_of_bytes);
  tcase_add_test(cases, texts_do_not_move_until_a_sweep);
  tcase_add_test(cases, large_strings);
  tcase_add_test(cases, a_sweep_forgets_and_reuses);
  tcase_add_test(cases, a_sweep_is_wanted_when_doubled);
  tcase_add_test(cases, random_use_agrees_with_the_model);
  tcase_add_test_raise_signal(cases, unknown_id_aborts, SIGABRT);
  tcase_add_test_raise_signal(cases, swept_id_aborts, SIGABRT);
  tcase_add_test_raise_signal(cases, mark_outside_a_sweep_aborts, SIGABRT);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
