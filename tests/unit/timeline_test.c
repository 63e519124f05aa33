/* The line from stamps to times: whatever the clock does at the knots, what is later by its stamp is not
 * earlier by its time, nothing jumps unless the clock does, and the line follows the clock.          */
#include "sensors/collect/timeline.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>

#include "engine/base/env.h"
#include "tquel/sensor_layout.h"

static const int64_t second = 1000000000;
static const uint64_t rate = UINT64_C(1431655765); /* a third of a ns a tick */

static uint64_t stamp_at(int64_t ns) {
  return (uint64_t)ns * 3 + 1000000;
}

static struct sn_timeline begun(void) {
  struct sn_timeline line = {.count = 0};
  sn_timeline_knot(&line, stamp_at(0), 100 * second, rate);
  return line;
}

/* The most that a ns of stamps is of time. */
static void expect_steady(const struct sn_timeline *line, int64_t from, int64_t to, int64_t most) {
  int64_t before = sn_timeline_time(line, stamp_at(from));
  for (int64_t at = from + 1; at <= to; at++) {
    int64_t now = sn_timeline_time(line, stamp_at(at));
    ck_assert_int_ge(now, before);
    ck_assert_int_le(now - before, most);
    before = now;
  }
}

START_TEST(follows_a_steady_clock) {
  struct sn_timeline line = begun();
  for (int64_t i = 1; i <= 200; i++) {
    sn_timeline_knot(&line, stamp_at(i * second), 100 * second + i * second, rate);
    int64_t time = sn_timeline_time(&line, stamp_at(i * second + second / 2));
    int64_t error = time - (100 * second + i * second + second / 2);
    ck_assert_int_le(llabs(error), 20);
  }
  /* Of the past as well, also of before the oldest knot that is kept. */
  ck_assert_int_le(llabs(sn_timeline_time(&line, stamp_at(150 * second)) - 250 * second), 20);
  ck_assert_int_le(llabs(sn_timeline_time(&line, stamp_at(second)) - 101 * second), 100);
}
END_TEST

START_TEST(knots_do_not_show) {
  struct sn_timeline line = begun();
  int64_t off[] = {0, 5000, -7000, 300000, -300000, 100000000, -100000000};
  for (unsigned i = 0; i < sizeof off / sizeof off[0]; i++) {
    int64_t at = (int64_t)(i + 1) * second;
    sn_timeline_knot(&line, stamp_at(at), 100 * second + at + off[i], rate);
    expect_steady(&line, at - 3000, at + 3000, 3);
  }
}
END_TEST

START_TEST(a_clock_set_forward_is_followed_at_once) {
  struct sn_timeline line = begun();
  sn_timeline_knot(&line, stamp_at(second), 100 * second + 3601 * second, rate);
  ck_assert_int_eq(sn_timeline_time(&line, stamp_at(second)), 3701 * second);
  ck_assert_int_lt(sn_timeline_time(&line, stamp_at(second) - 3), 102 * second);
}
END_TEST

START_TEST(a_clock_set_back_is_waited_for) {
  struct sn_timeline line = begun();
  int64_t behind = 10 * second; /* the clock, from now on */
  for (int64_t i = 1; i <= 40; i++) {
    sn_timeline_knot(&line, stamp_at(i * second), 100 * second + i * second - behind, rate);
    expect_steady(&line, i * second - 2000, i * second + 2000, 3);
  }
  int64_t time = sn_timeline_time(&line, stamp_at(41 * second));
  ck_assert_int_le(llabs(time - (141 * second - behind)), 1000000);
}
END_TEST

START_TEST(any_clock_keeps_the_order) {
  struct base_random random = {.state = 1};
  struct sn_timeline line = begun();
  int64_t at = 0, before = INT64_MIN;
  for (int i = 0; i < 20000; i++) {
    at += (int64_t)base_random_below(&random, (uint64_t)second);
    int64_t clock = 100 * second + at - 5 * second +
                    (int64_t)base_random_below(&random, (uint64_t)(10 * second));
    sn_timeline_knot(&line, stamp_at(at), clock, rate);
    for (int k = 0; k < 4; k++) {
      int64_t time = sn_timeline_time(&line, stamp_at(at) + (uint64_t)k);
      ck_assert_int_ge(time, before);
      before = time;
    }
  }
}
END_TEST

/* Whatever offset the knots follow, the line is no further from it than it says, before and behind each. */
START_TEST(it_knows_how_far_it_is_off) {
  struct base_random random = {.state = 2};
  struct sn_timeline line = begun();
  int64_t was = 0, offset = 0;
  for (int64_t i = 1; i <= 3000; i++) {
    if (base_random_below(&random, 4) == 0)
      offset = (int64_t)base_random_below(&random, (uint64_t)second) - second / 2;
    sn_timeline_knot(&line, stamp_at(i * second), 100 * second + i * second + offset, rate);
    int64_t wrong = sn_timeline_time(&line, stamp_at(i * second)) - (100 + i) * second - offset;
    ck_assert_int_le(llabs(wrong), sn_timeline_off(&line, stamp_at(i * second)) + 10);
    for (int64_t k = 0; k < 10; k++) {
      int64_t at = (i - 1) * second + k * (second / 10);
      int64_t clock = 100 * second + at + was + (offset - was) / 10 * k;
      wrong = sn_timeline_time(&line, stamp_at(at)) - clock;
      ck_assert_int_le(llabs(wrong), sn_timeline_off(&line, stamp_at(at)) + 10);
    }
    was = offset;
  }
}
END_TEST

START_TEST(a_steady_clock_is_not_far) {
  struct sn_timeline line = begun();
  for (int64_t i = 1; i <= 20; i++) {
    int64_t offset = i < 10 ? 100000000 : 0;
    sn_timeline_knot(&line, stamp_at(i * second), 100 * second + i * second + offset, rate);
  }
  ck_assert_int_ge(sn_timeline_off(&line, stamp_at(10 * second)), 90000000);
  ck_assert_int_le(sn_timeline_off(&line, stamp_at(20 * second)), 100);
}
END_TEST

/* One line is ahead of the clock, which was set back; what it has said goes for the one that begins then. */
START_TEST(a_line_that_joins_is_not_behind) {
  struct sn_timeline first, joined;
  sn_timeline_start(&first, SN_CLOCK_MONOTONIC);
  sn_timeline_step(&first, 10 * second);
  sn_timeline_step(&first, 0);
  sn_timeline_start(&joined, SN_CLOCK_MONOTONIC);
  int64_t said = sn_timeline_time(&first, sn_timeline_stamp(&first));
  sn_timeline_join(&joined, &first, 0);
  uint64_t stamp = sn_timeline_stamp(&joined);
  ck_assert_int_gt(said, base_env_now() + 9 * second);
  ck_assert_int_ge(sn_timeline_time(&joined, stamp), said);
  ck_assert_int_ge(sn_timeline_off(&joined, stamp), 9 * second);
}
END_TEST

START_TEST(this_machine_s_clocks) {
  struct sn_timeline line;
  sn_timeline_start(&line, SN_CLOCK_MONOTONIC);
  for (int i = 0; i < 1000; i++) {
    int64_t before = base_env_now();
    int64_t time = sn_timeline_time(&line, sn_timeline_stamp(&line));
    int64_t after = base_env_now();
    ck_assert_int_ge(time, before - 1000000);
    ck_assert_int_le(time, after + 1000000);
    if (i % 100 == 0) sn_timeline_step(&line, 0);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("timeline");
  TCase *cases = tcase_create("timeline");
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, follows_a_steady_clock);
  tcase_add_test(cases, knots_do_not_show);
  tcase_add_test(cases, a_clock_set_forward_is_followed_at_once);
  tcase_add_test(cases, a_clock_set_back_is_waited_for);
  tcase_add_test(cases, any_clock_keeps_the_order);
  tcase_add_test(cases, it_knows_how_far_it_is_off);
  tcase_add_test(cases, a_steady_clock_is_not_far);
  tcase_add_test(cases, this_machine_s_clocks);
  tcase_add_test(cases, a_line_that_joins_is_not_behind);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
