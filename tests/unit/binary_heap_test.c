/* Binary heaps: what is taken comes in order, whatever was pushed and taken before, heaps made of arrays included. The
 * order has ties and looks at its context, so both are seen to get there.  */
#include "engine/base/binary_heap.h"

#include <check.h>
#include <stdlib.h>

#include "engine/base/env.h"

enum { MOST = 200 };

struct item {
  int rank, name;
};

/* CONTEXT: the direction. */
static bool is_above(const struct item *a, const struct item *b, const void *context) {
  const int *direction = context;
  return *direction * a->rank < *direction * b->rank;
}
BASE_BINARY_HEAP(items, struct item, is_above);

static void expect_heap(const struct item *heap, size_t count, int direction) {
  for (size_t i = 1; i < count; i++) ck_assert(!is_above(&heap[i], &heap[(i - 1) / 2], &direction));
}

/* Takes all; NAMES says how often each is to come. */
static void expect_all(struct item *heap, size_t count, int direction, const int *names) {
  int came[MOST] = {0};
  for (size_t left = count, before = count; left > 0; before = left) {
    struct item first = heap[0];
    left--;
    items_down(heap, left, 0, heap[left], &direction);
    expect_heap(heap, left, direction);
    if (left > 0) ck_assert(!is_above(&heap[0], &first, &direction));
    ck_assert_uint_eq(before, left + 1);
    came[first.name]++;
  }
  for (int i = 0; i < MOST; i++) ck_assert_int_eq(came[i], names[i]);
}

START_TEST(of_every_size_in_both_directions) {
  struct base_random random = {20261128};
  for (int size = 0; size < MOST; size++) {
    for (int direction = -1; direction <= 1; direction += 2) {
      struct item pushed[MOST], made[MOST];
      int names[MOST] = {0};
      for (int i = 0; i < size; i++) {
        struct item item = {(int)base_random_below(&random, 30), i};
        items_up(pushed, (size_t)i, item, &direction);
        expect_heap(pushed, (size_t)i + 1, direction);
        made[i] = item;
        names[i] = 1;
      }
      items_make(made, (size_t)size, &direction);
      expect_heap(made, (size_t)size, direction);
      expect_all(pushed, (size_t)size, direction, names);
      expect_all(made, (size_t)size, direction, names);
    }
  }
}
END_TEST

START_TEST(of_none_nothing_is_written) {
  struct item heap[1] = {{7, 7}};
  int direction = 1;
  items_down(heap, 0, 0, (struct item){1, 1}, &direction);
  items_make(heap, 0, &direction);
  ck_assert_int_eq(heap[0].name, 7);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("binary_heap");
  TCase *cases = tcase_create("binary_heap");
  tcase_add_test(cases, of_every_size_in_both_directions);
  tcase_add_test(cases, of_none_nothing_is_written);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
