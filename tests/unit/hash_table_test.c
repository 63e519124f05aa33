/* Hash tables against a plain array of what should be there: random changes, with a hash that is bad on purpose, so
 * that places run over the end and removing has to move others up.  */
#include "engine/base/hash_table.h"

#include <check.h>
#include <stdlib.h>

#include "engine/base/env.h"

enum { KEYS = 500, STEPS = 20000 };

struct item {
  uint32_t key, value; /* key 0: free */
};

static bool is_free(const struct item *item) {
  return item->key == 0;
}

/* CONTEXT: how many different hashes there are. */
static uint64_t hash_of_key(uint32_t key, const void *context) {
  return base_mix(key) % *(const uint64_t *)context - 3;
}

static uint64_t hash_of(const struct item *item, const void *context) {
  return hash_of_key(item->key, context);
}

static bool is_item(const struct item *item, const void *key, const void *context) {
  (void)context;
  return item->key == *(const uint32_t *)key;
}
BASE_HASH_TABLE(items, struct item, is_free, hash_of, is_item);

static void expect_all(const struct items *items, const uint32_t *values, uint64_t hashes) {
  size_t count = 0;
  for (uint32_t key = 1; key <= KEYS; key++) {
    const struct item *item = items_find(items, hash_of_key(key, &hashes), &key, &hashes);
    ck_assert_uint_eq(item != NULL, values[key] != 0);
    if (item != NULL) ck_assert_uint_eq(item->value, values[key]);
    count += values[key] != 0;
  }
  ck_assert_uint_eq(items->count, count);
}

START_TEST(changes_at_random) {
  struct base_random random = {20261128};
  const uint64_t hash_counts[] = {1, 2, 7, 100, UINT64_C(1) << 60};
  uint64_t hashes = hash_counts[_i];
  struct items items = {0};
  uint32_t values[KEYS + 1] = {0};
  for (uint32_t step = 1; step <= STEPS; step++) {
    uint32_t key = (uint32_t)base_random_below(&random, KEYS) + 1;
    uint64_t hash = hash_of_key(key, &hashes);
    /* Now many are added, now many go. */
    if (base_random_below(&random, 10) < (step / 2000 % 2 ? 3u : 7u)) {
      struct item *item = items_place(&items, hash, &key, &hashes);
      ck_assert_uint_eq(item->value, values[key]);
      *item = (struct item){key, values[key] = step};
    } else if (values[key] != 0) {
      items_remove(&items, items_find(&items, hash, &key, &hashes), &hashes);
      values[key] = 0;
    }
    if (step % 500 == 0) expect_all(&items, values, hashes);
  }
  items_done(&items);
  ck_assert_ptr_null(items_find(&items, 0, &(uint32_t){1}, &hashes));
}
END_TEST

int main(void) {
  Suite *suite = suite_create("hash_table");
  TCase *cases = tcase_create("hash_table");
  tcase_set_timeout(cases, 60);
  tcase_add_loop_test(cases, changes_at_random, 0, 5);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
