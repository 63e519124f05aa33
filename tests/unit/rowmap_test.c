/* Row maps and cells: what comes and goes in them, against the plainest model. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/cells.h"
#include "engine/rowmap.h"

/* --- maps */

enum { VALUES = 64, STEPS = 40000 };

static struct base_arena *arena;
static const struct net_layout *layout;

static void set_up(void) {
  struct net_field field = {.name = "x", .type = {.base = NET_INTEGER}};
  arena = base_arena_new();
  layout = net_layout_new(arena, NET_EVENT, &field, 1);
}

static void tear_down(void) {
  base_arena_free(arena);
}

static const union net_slot *row_of(int64_t value) {
  static union net_slot row[3];
  row[2].i = value;
  return row;
}

/* Every value is where it was put, or not there. */
static void check(const struct net_rowmap *map, const uint32_t *where) {
  size_t live = 0;
  for (int64_t value = 0; value < VALUES; value++) {
    uint32_t place = net_rowmap_find(map, row_of(value));
    ck_assert_uint_eq(place, where[value]);
    if (place == NET_NO_ENTRY) continue;
    live++;
    ck_assert(net_rowmap_live(map, place));
    ck_assert_int_eq(net_rowmap_row(map, place)[2].i, value);
    ck_assert_int_eq(*(int64_t *)net_rowmap_state(map, place), value + 1000);
  }
  ck_assert_uint_eq(map->live, live);
}

/* A small table that is nearly full: chains run into each other and around the end. */
START_TEST(entries_come_and_go) {
  static const uint32_t slot = 2;
  struct base_random random = {7};
  struct net_rowmap map;
  uint32_t where[VALUES];
  memset(where, 0xff, sizeof where);
  net_rowmap_init(&map, layout, NET_KEY_SLOTS, 0, &slot, 1, sizeof(int64_t));
  check(&map, where);
  for (int step = 0; step < STEPS; step++) {
    int64_t value = (int64_t)base_random_below(&random, step % 4000 < 2000 ? VALUES : 12);
    if (where[value] != NET_NO_ENTRY) {
      net_rowmap_remove(&map, where[value]);
      where[value] = NET_NO_ENTRY;
    } else {
      bool fresh = false;
      where[value] = net_rowmap_put(&map, row_of(value), &fresh);
      ck_assert(fresh);
      *(int64_t *)net_rowmap_state(&map, where[value]) = value + 1000;
    }
    if (step % 10000 == 9999) {
      net_rowmap_clear(&map);
      memset(where, 0xff, sizeof where);
    }
    if (step % 16 == 0) check(&map, where);
  }
  check(&map, where);
  size_t bytes = net_rowmap_bytes(&map);
  ck_assert_uint_ge(bytes, map.live * map.stride);
  ck_assert_uint_le(bytes, (size_t)2 * VALUES * (map.stride + 2 * sizeof(uint32_t)));
  net_rowmap_done(&map);
  ck_assert_uint_eq(net_rowmap_bytes(&map), 0);
}
END_TEST

/* Many come, and most go; a few stay all over the place, and are found where they were. */
START_TEST(memory_is_given_back) {
  enum { MANY = 100000, STAY = 7001, FEW = 300, ROUNDS = 3 };
  static const uint32_t slot = 2;
  static uint32_t where[MANY];
  struct net_rowmap map;
  net_rowmap_init(&map, layout, NET_KEY_SLOTS, 0, &slot, 1, sizeof(int64_t));
  for (int round = 0; round < ROUNDS; round++) {
    for (int64_t i = 0; i < MANY; i++) {
      if (round > 0 && i % STAY == 0) continue;
      where[i] = net_rowmap_put(&map, row_of(i), NULL);
      *(int64_t *)net_rowmap_state(&map, where[i]) = i + 1000;
    }
    ck_assert_uint_eq(map.live, MANY);
    ck_assert_uint_ge(net_rowmap_bytes(&map), MANY * map.stride);
    for (int64_t i = 0; i < MANY; i++)
      if (i % STAY != 0) net_rowmap_remove(&map, where[i]);
    for (int64_t i = 0; i < (int64_t)FEW * FEW; i++) { /* life goes on */
      uint32_t *place = &where[1 + i % FEW];
      if (i >= FEW) net_rowmap_remove(&map, *place);
      *place = net_rowmap_put(&map, row_of(1 + i % FEW), NULL);
    }
    ck_assert_uint_le(net_rowmap_bytes(&map), (size_t)4096 * (map.stride + 16));
    for (int64_t i = 0; i < MANY; i += STAY) {
      ck_assert_uint_eq(net_rowmap_find(&map, row_of(i)), where[i]);
      ck_assert_int_eq(*(int64_t *)net_rowmap_state(&map, where[i]), i + 1000);
    }
    for (int64_t i = 1; i <= FEW; i++) {
      ck_assert_uint_eq(net_rowmap_find(&map, row_of(i)), where[i]);
      net_rowmap_remove(&map, where[i]);
    }
    ck_assert_uint_eq(map.live, (MANY + STAY - 1) / STAY);
  }
  net_rowmap_clear(&map);
  ck_assert_uint_eq(net_rowmap_find(&map, row_of(0)), NET_NO_ENTRY);
  ck_assert_uint_eq(net_rowmap_put(&map, row_of(0), NULL), 0);
  net_rowmap_done(&map);
  ck_assert_uint_eq(net_rowmap_bytes(&map), 0);
}
END_TEST

/* Those that go last are in all blocks, and nothing comes after them. */
START_TEST(memory_is_given_back_when_nothing_comes_any_more) {
  enum { MANY = 100000, SHARE = 17, FEW = 10 };
  static const uint32_t slot = 2;
  struct net_rowmap map;
  net_rowmap_init(&map, layout, NET_KEY_SLOTS, 0, &slot, 1, sizeof(int64_t));
  for (int64_t i = 0; i < MANY; i++) (void)net_rowmap_put(&map, row_of(i), NULL);
  for (uint32_t i = 0; i < MANY; i++)
    if (i % SHARE != 0) net_rowmap_remove(&map, i);
  size_t left = map.live;
  for (uint32_t i = 0; i < MANY; i += SHARE) {
    if (map.live == FEW) break;
    ck_assert(net_rowmap_live(&map, i));
    net_rowmap_remove(&map, i);
    /* a block for each, at most, of those at the last look */
    ck_assert_uint_le(net_rowmap_bytes(&map),
                      (size_t)(2 * map.live + 1) * NET_ROWMAP_BLOCK * (map.stride + 8) +
                          (size_t)2048 * (map.stride + 16));
  }
  ck_assert_uint_gt(left, MANY / 20);
  for (int64_t i = MANY - (FEW * SHARE); i < MANY; i++) {
    uint32_t place = net_rowmap_find(&map, row_of(i));
    ck_assert((place == i) == (i % SHARE == 0));
    if (place != NET_NO_ENTRY) net_rowmap_remove(&map, place);
  }
  ck_assert_uint_eq(map.live, 0);
  ck_assert_uint_le(net_rowmap_bytes(&map), (size_t)2048 * (map.stride + 16));
  net_rowmap_done(&map);
}
END_TEST

/* One stays far behind all that come and go, again and again. */
START_TEST(places_that_were_given_back_are_taken_again) {
  enum { MANY = 200000, BURST = 5000, ROUNDS = 20 };
  struct net_rowmap map;
  net_rowmap_init(&map, NULL, NET_KEY_ID, 0, NULL, 0, sizeof(uint32_t));
  for (uint64_t id = 1; id <= MANY; id++) (void)net_rowmap_put_id(&map, id, NULL);
  uint32_t last = net_rowmap_find_id(&map, MANY);
  for (uint32_t i = 0; i < last; i++) net_rowmap_remove(&map, i);
  for (uint64_t round = 1; round <= ROUNDS; round++) {
    for (uint64_t i = 0; i < BURST; i++) (void)net_rowmap_put_id(&map, round * MANY + i + 1, NULL);
    ck_assert_uint_eq(map.live, BURST + 1);
    ck_assert_uint_le(net_rowmap_bytes(&map), (size_t)4 * BURST * map.stride + MANY);
    for (uint64_t i = 0; i < BURST; i++) {
      uint32_t place = net_rowmap_find_id(&map, round * MANY + i + 1);
      ck_assert_uint_eq(net_rowmap_id(&map, place), round * MANY + i + 1);
      net_rowmap_remove(&map, place);
    }
    ck_assert_uint_eq(net_rowmap_find_id(&map, MANY), last);
  }
  for (uint64_t i = 1; i < MANY; i++) (void)net_rowmap_put_id(&map, i, NULL);
  ck_assert_uint_eq(map.used, MANY); /* no place was lost */
  net_rowmap_done(&map);
}
END_TEST

/* --- cells */

START_TEST(cells_are_taken_again) {
  enum { COUNT = 5000 };
  static unsigned char *cells[COUNT];
  struct net_cells all;
  net_cells_init(&all, 24);
  ck_assert_uint_eq(net_cells_bytes(&all), 0);
  for (int round = 0; round < 3; round++) {
    size_t bytes = net_cells_bytes(&all);
    for (int i = 0; i < COUNT; i++) {
      cells[i] = net_cells_take(&all);
      ck_assert_uint_eq((uintptr_t)cells[i] % _Alignof(void *), 0);
      for (int k = 0; k < 24; k++) ck_assert_uint_eq(cells[i][k], 0);
      memset(cells[i], i & 0xff, 24);
    }
    if (round > 0) ck_assert_uint_eq(net_cells_bytes(&all), bytes);
    for (int i = 0; i < COUNT; i++) {
      for (int k = 0; k < 24; k++) ck_assert_uint_eq(cells[i][k], i & 0xff); /* its own memory */
      net_cells_give(&all, cells[i]);
    }
  }
  ck_assert_uint_ge(net_cells_bytes(&all), COUNT * 24);
  ck_assert_uint_le(net_cells_bytes(&all), COUNT * 32 + 1200 * 32);
  net_cells_done(&all);
  ck_assert_uint_eq(net_cells_bytes(&all), 0);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("rowmap");
  TCase *tests = tcase_create("rowmap");
  tcase_add_checked_fixture(tests, set_up, tear_down);
  tcase_add_test(tests, entries_come_and_go);
  tcase_add_test(tests, memory_is_given_back);
  tcase_add_test(tests, memory_is_given_back_when_nothing_comes_any_more);
  tcase_add_test(tests, places_that_were_given_back_are_taken_again);
  tcase_add_test(tests, cells_are_taken_again);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
