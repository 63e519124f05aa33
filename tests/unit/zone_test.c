/* Time zones against the C library's, and what a client may send. */
#include "engine/zone.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/env.h"

#define HOUR   3600
#define BERLIN "CET-1CEST,M3.5.0,M10.5.0/3"

static struct net_zone *zone_of(const char *rule) {
  struct net_zone *zone = net_zone_read(rule, strlen(rule));
  ck_assert_ptr_nonnull(zone);
  return zone;
}

START_TEST(changes_of_the_clock) {
  struct net_zone *berlin = zone_of(BERLIN);
  int64_t when[2];
  const int64_t spring = 1774746000, autumn = 1792890000; /* 2026-03-29, 2026-10-25, 1:00 UTC */
  ck_assert_int_eq(net_zone_offset(berlin, spring - 1), HOUR);
  ck_assert_int_eq(net_zone_offset(berlin, spring), 2 * HOUR);
  ck_assert_int_eq(net_zone_offset(berlin, autumn - 1), 2 * HOUR);
  ck_assert_int_eq(net_zone_offset(berlin, autumn), HOUR);
  ck_assert_int_eq(net_zone_when(berlin, spring + HOUR - 1, when), 1);
  ck_assert_int_eq(when[0], spring - 1);
  for (int64_t skipped = 0; skipped < HOUR; skipped += 599) {
    ck_assert_int_eq(net_zone_when(berlin, spring + HOUR + skipped, when), 0);
    ck_assert_int_eq(when[0], spring);
    ck_assert_int_eq(when[1], spring);
  }
  ck_assert_int_eq(net_zone_when(berlin, spring + 2 * HOUR, when), 1);
  ck_assert_int_eq(when[0], spring);
  for (int64_t twice = 0; twice < HOUR; twice += 599) {
    ck_assert_int_eq(net_zone_when(berlin, autumn + HOUR + twice, when), 2);
    ck_assert_int_eq(when[0], autumn + twice - HOUR);
    ck_assert_int_eq(when[1], autumn + twice);
  }
  ck_assert_int_eq(net_zone_when(berlin, autumn + 2 * HOUR, when), 1);
  ck_assert_int_eq(when[0], autumn + HOUR);
  ck_assert_int_eq(net_zone_when(NULL, 5, when), 1);
  ck_assert_int_eq(when[1], 5);
  net_zone_release(berlin);
}
END_TEST

/* ZONE, which TZ names, at random times and near its changes. */
static void expect_as_libc(struct net_zone *zone, struct base_random *random, int64_t from,
                           int64_t until) {
  int64_t change = from;
  for (int i = 0; i < 3000; i++) {
    int64_t utc = from + (int64_t)base_random_below(random, (uint64_t)(until - from));
    if (i % 2) utc = change + (int64_t)base_random_below(random, 8 * HOUR) - 4 * HOUR;
    time_t seconds = (time_t)utc;
    struct tm local;
    ck_assert_ptr_nonnull(localtime_r(&seconds, &local));
    ck_assert_msg(net_zone_offset(zone, utc) == local.tm_gmtoff, "%s at %lld: %lld, not %ld",
                  getenv("TZ"), (long long)utc, (long long)net_zone_offset(zone, utc),
                  local.tm_gmtoff);
    int64_t when[2];
    int shown = net_zone_when(zone, utc + local.tm_gmtoff, when);
    ck_assert_int_ge(shown, 1);
    ck_assert(utc == when[0] || utc == when[1] || (when[0] < utc && utc < when[1]));
    for (int k = 0; k < 2; k++)
      ck_assert_int_eq(when[k] + net_zone_offset(zone, when[k]), utc + local.tm_gmtoff);
    /* The next change behind it, by halves. */
    int64_t low = utc, high = utc + 200 * INT64_C(86400);
    if (net_zone_offset(zone, low) == net_zone_offset(zone, high)) continue;
    while (high - low > 1) {
      int64_t middle = low + (high - low) / 2;
      if (net_zone_offset(zone, middle) == net_zone_offset(zone, low))
        low = middle;
      else
        high = middle;
    }
    change = high;
  }
}

START_TEST(as_the_library) {
  static const char *const names[] = {BERLIN,
                                      "EST5EDT",
                                      "<+0330>-3:30",
                                      "NZST-12NZDT,M9.5.0,M4.1.0/3",
                                      "IST-2IDT,M3.4.4/26,M10.5.0",
                                      "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1",
                                      "AAA+2BBB+1,J60/4,J300",
                                      "AAA3BBB,59,300/25:30:10",
                                      "Europe/Berlin",
                                      "America/Sao_Paulo",
                                      "Australia/Lord_Howe",
                                      "Africa/Casablanca",
                                      "Asia/Tehran",
                                      "Pacific/Apia",
                                      "Europe/Dublin",
                                      "UTC"};
  struct base_random random = {20261122};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char path[256];
    snprintf(path, sizeof path, "/usr/share/zoneinfo/%s", names[i]);
    bool file = strchr(names[i], '/') && names[i][0] != '<' && !strchr(names[i], ',');
    if (file && access(path, R_OK) != 0) continue;
    setenv("TZ", names[i], 1);
    tzset();
    struct net_zone *zone = net_zone_local(), *copy;
    ck_assert_msg(zone || !strcmp(names[i], "UTC"), "%s", names[i]);
    expect_as_libc(zone, &random, 0, INT64_C(4000000000));
    expect_as_libc(zone, &random, INT64_C(7000000000), INT64_C(9000000000));
    size_t length;
    const void *bytes = net_zone_bytes(zone, &length);
    copy = zone ? net_zone_read(bytes, length) : NULL;
    ck_assert_int_eq(net_zone_offset(copy, 1800000000), net_zone_offset(zone, 1800000000));
    net_zone_release(copy);
    net_zone_release(net_zone_hold(zone));
    net_zone_release(zone);
  }
}
END_TEST

/* Anything may come; nothing is read beyond it (valgrind and sanitizers say so), and what is taken can be asked. */
START_TEST(hostile_bytes) {
  static const char *const wrong[] = {"",
                                      "CET",
                                      "CET-1CEST,",
                                      "CET-1CEST,M3.5.0",
                                      "CET-1CEST,M13.5.0,M10.5.0",
                                      "CET-99",
                                      "C-1",
                                      "<CET-1",
                                      "CET-1CEST,M3.5.0,M10.5.0/3x",
                                      "TZif",
                                      "CET-1CEST,J0,J3",
                                      "CET-1CEST,M3.5.0/168,M10.5.0"};
  struct base_random random = {7};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    ck_assert_msg(!net_zone_read(wrong[i], strlen(wrong[i])), "%s", wrong[i]);
  for (int i = 0; i < 20000; i++) {
    unsigned char bytes[256];
    size_t length = 44 + base_random_below(&random, sizeof bytes - 44);
    for (size_t k = 0; k < length; k++)
      bytes[k] = (unsigned char)(base_random_below(&random, 3) ? base_random_below(&random, 5)
                                                               : base_random_next(&random));
    memcpy(bytes, "TZif", 4);
    bytes[4] = i % 2 ? '2' : 0;
    if (i % 4) memset(bytes + 20, 0, 23);
    if (i % 4) bytes[39] = bytes[35] = 1;
    unsigned char *exact = malloc(length);
    memcpy(exact, bytes, length);
    struct net_zone *zone = net_zone_read(exact, length);
    free(exact);
    int64_t when[2];
    for (int k = 0; zone && k < 4; k++)
      (void)net_zone_when(zone, (int64_t)base_random_below(&random, UINT64_C(9000000000)), when);
    net_zone_release(zone);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("zone");
  TCase *tests = tcase_create("zone");
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, changes_of_the_clock);
  tcase_add_test(tests, as_the_library);
  tcase_add_test(tests, hostile_bytes);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
