/* Arenas and the aborting heap allocation: alignment, zeroing, no overlap, sizes at the seams of
 * blocks, reset, overflow of counts. Under AddressSanitizer also that what the arena holds is
 * really there: every piece is written to its last byte. */
#include "engine/base/arena.h"

#include <check.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"

static bool is_filled(const unsigned char *bytes, size_t length, unsigned char value) {
  for (size_t i = 0; i < length; i++)
    if (bytes[i] != value) return false;
  return true;
}

START_TEST(pieces_are_aligned_zeroed_and_apart) {
  enum { PIECES = 3000 };
  struct base_random random = {1};
  struct base_arena *arena = base_arena_new();
  for (int round = 0; round < 3; round++) {
    unsigned char *pieces[PIECES];
    size_t sizes[PIECES];
    for (int i = 0; i < PIECES; i++) {
      /* Mostly small, at times around and far above the size of a block. */
      sizes[i] = base_random_below(&random, i % 50 == 0 ? 20000 : i % 10 == 0 ? 1100 : 70);
      pieces[i] = base_arena_alloc(arena, sizes[i]);
      ck_assert_uint_eq((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
      ck_assert(is_filled(pieces[i], sizes[i], 0));
      memset(pieces[i], 1 + i % 255, sizes[i]);
    }
    for (int i = 0; i < PIECES; i++)
      ck_assert(is_filled(pieces[i], sizes[i], (unsigned char)(1 + i % 255)));
    base_arena_reset(arena);
  }
  base_arena_free(arena);
}
END_TEST

START_TEST(size_zero_is_unique) {
  struct base_arena *arena = base_arena_new();
  void *a = base_arena_alloc(arena, 0), *b = base_arena_alloc(arena, 0);
  void *c = base_arena_array(arena, 0, 100);
  ck_assert_ptr_nonnull(a);
  ck_assert(a != b && b != c && a != c);
  base_arena_free(arena);
}
END_TEST

START_TEST(first_request_may_be_larger_than_a_block) {
  struct base_arena *arena = base_arena_new();
  size_t size = (size_t)10 * 1024 * 1024 + 1;
  unsigned char *large = base_arena_alloc(arena, size);
  unsigned char *small = base_arena_alloc(arena, 1);
  memset(large, 7, size);
  *small = 9;
  ck_assert(is_filled(large, size, 7));
  base_arena_reset(arena);
  ck_assert_ptr_nonnull(base_arena_alloc(arena, 4000));
  base_arena_free(arena);
}
END_TEST

START_TEST(reset_reuses_the_first_block) {
  struct base_arena *arena = base_arena_new();
  char *before = base_arena_alloc(arena, 10);
  memset(before, 'x', 10);
  for (int i = 0; i < 100; i++) base_arena_alloc(arena, 3000);
  base_arena_reset(arena);
  char *after = base_arena_alloc(arena, 10);
  ck_assert_ptr_eq(before, after);
  ck_assert(is_filled((unsigned char *)after, 10, 0));
  base_arena_free(arena);
}
END_TEST

START_TEST(free_accepts_null) {
  base_arena_free(NULL);
}
END_TEST

START_TEST(texts_are_copied) {
  struct base_arena *arena = base_arena_new();
  char original[] = "abc";
  char *copy = base_arena_strdup(arena, original);
  original[0] = 'x';
  ck_assert_str_eq(copy, "abc");
  ck_assert_str_eq(base_arena_strndup(arena, "abcdef", 2), "ab");
  ck_assert_str_eq(base_arena_strndup(arena, NULL, 0), "");
  ck_assert_mem_eq(base_arena_strndup(arena, "a\0b", 3), "a\0b", 4);
  ck_assert_str_eq(base_arena_printf(arena, "%s-%d", "n", 5), "n-5");
  ck_assert_str_eq(base_arena_printf(arena, "%s", ""), "");
  char *wide = base_arena_printf(arena, "%*d", 100000, 1);
  ck_assert_uint_eq(strlen(wide), 100000);
  ck_assert_int_eq(wide[99999], '1');
  base_arena_free(arena);
}
END_TEST

START_TEST(typed_helpers) {
  struct base_arena *arena = base_arena_new();
  int64_t *one = BASE_NEW(arena, int64_t), *many = BASE_NEW_ARRAY(arena, 1000, int64_t);
  ck_assert_int_eq(*one, 0);
  many[999] = INT64_MIN;
  ck_assert_int_eq(many[998], 0);
  base_arena_free(arena);
}
END_TEST

START_TEST(array_overflow_exits) {
  base_arena_array(base_arena_new(), SIZE_MAX / 2, 3);
}
END_TEST

START_TEST(huge_size_exits) {
  base_arena_alloc(base_arena_new(), SIZE_MAX - 3);
}
END_TEST

START_TEST(realloc_overflow_exits) {
  base_xrealloc(NULL, SIZE_MAX / 4, 8);
}
END_TEST

START_TEST(grow_doubles_and_keeps) {
  int *numbers = NULL;
  size_t capacity = 0, reallocations = 0;
  for (size_t i = 0; i < 10000; i++) {
    size_t before = capacity;
    base_grow(&numbers, &capacity, i + 1, sizeof *numbers);
    ck_assert_uint_ge(capacity, i + 1);
    reallocations += capacity != before;
    numbers[i] = (int)i;
  }
  ck_assert_uint_lt(reallocations, 20);
  for (size_t i = 0; i < 10000; i++) ck_assert_int_eq(numbers[i], (int)i);
  base_grow(&numbers, &capacity, 100000, sizeof *numbers);
  ck_assert_uint_ge(capacity, 100000);
  free(numbers);
}
END_TEST

START_TEST(grow_little_grows_by_an_eighth) {
  int *numbers = NULL;
  size_t capacity = 0, reallocations = 0;
  for (size_t i = 0; i < 10000; i++) {
    size_t before = capacity;
    base_grow_little(&numbers, &capacity, i + 1, sizeof *numbers);
    ck_assert_uint_ge(capacity, i + 1);
    ck_assert_uint_le(capacity, i < 8 ? 8 : i + 1 + i / 8);
    reallocations += capacity != before;
    numbers[i] = (int)i;
  }
  ck_assert_uint_lt(reallocations, 80);
  for (size_t i = 0; i < 10000; i++) ck_assert_int_eq(numbers[i], (int)i);
  free(numbers);
}
END_TEST

START_TEST(heap_helpers) {
  char *copy = base_xstrdup("");
  unsigned char *zeroed = base_xcalloc(3, 5);
  void *nothing = base_xmalloc(0), *none = base_xcalloc(0, 8);
  ck_assert_str_eq(copy, "");
  ck_assert(is_filled(zeroed, 15, 0));
  ck_assert_ptr_nonnull(nothing);
  ck_assert_ptr_nonnull(none);
  free(copy);
  free(zeroed);
  free(nothing);
  free(none);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("arena");
  TCase *cases = tcase_create("arena");
  tcase_add_test(cases, pieces_are_aligned_zeroed_and_apart);
  tcase_add_test(cases, size_zero_is_unique);
  tcase_add_test(cases, first_request_may_be_larger_than_a_block);
  tcase_add_test(cases, reset_reuses_the_first_block);
  tcase_add_test(cases, free_accepts_null);
  tcase_add_test(cases, texts_are_copied);
  tcase_add_test(cases, typed_helpers);
  tcase_add_test(cases, grow_doubles_and_keeps);
  tcase_add_test(cases, grow_little_grows_by_an_eighth);
  tcase_add_test(cases, heap_helpers);
  tcase_add_exit_test(cases, array_overflow_exits, BASE_HEAP_EXIT);
  tcase_add_exit_test(cases, huge_size_exits, BASE_HEAP_EXIT);
  tcase_add_exit_test(cases, realloc_overflow_exits, BASE_HEAP_EXIT);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
