/* Libraries that are loaded when they are needed: what is there, what is not, and what lacks a function. */
#include "engine/base/library.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static struct {
  typeof(floor) *floor;
  typeof(ceil) *nothing_is_called_so;
} calls;

START_TEST(the_first_that_is_there_is_taken) {
  static const char *const names[] = {"libnobody-has-this.so.7", "libm.so.6", NULL};
  static const struct base_library_function functions[] = {BASE_LIBRARY_FUNCTION(calls, floor)};
  ck_assert(base_library_load(names, functions, 1));
  ck_assert(calls.floor(2.5) == 2.0);
}
END_TEST

START_TEST(none_is_there) {
  static const char *const names[] = {"libnobody-has-this.so.7", NULL};
  static const struct base_library_function functions[] = {BASE_LIBRARY_FUNCTION(calls, floor)};
  ck_assert(!base_library_load(names, functions, 1));
  ck_assert(!base_library_load(names + 1, functions, 1));
}
END_TEST

START_TEST(a_function_is_missing) {
  static const char *const names[] = {"libm.so.6", NULL};
  static const struct base_library_function functions[] = {
      BASE_LIBRARY_FUNCTION(calls, floor) BASE_LIBRARY_FUNCTION(calls, nothing_is_called_so)};
  ck_assert(!base_library_load(names, functions, 2));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("library");
  TCase *cases = tcase_create("library");
  tcase_add_test(cases, the_first_that_is_there_is_taken);
  tcase_add_test(cases, none_is_there);
  tcase_add_test(cases, a_function_is_missing);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
