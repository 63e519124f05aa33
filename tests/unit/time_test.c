/* Times and durations as texts. The C library's calendar is the oracle for dates; every chronon
 * must read back as printed; the ends of the range are tested to the nanosecond; hostile texts must
 * be refused without touching the result. */
#include "engine/time.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/base/env.h"

#define SECOND    INT64_C(1000000000)
#define HOUR      (3600 * SECOND)
#define DAY       (24 * HOUR)
#define UNTOUCHED INT64_C(-4711)

/* 2026-11-20T11:02:03.000000004Z */
#define NOW (INT64_C(1795172523) * SECOND + 4)

static const struct net_time_context utc = {NET_TIMELINE_REAL, NOW, NOW, NULL};
static const struct net_time_context abstract = {NET_TIMELINE_ABSTRACT, NOW, NOW, NULL};

/* So many seconds east of UTC. The caller releases it. */
static struct net_zone *zone_of(int seconds) {
  char rule[64];
  int most = abs(seconds);
  snprintf(rule, sizeof rule, "<here>%s%d:%02d:%02d", seconds > 0 ? "-" : "", most / 3600,
           most / 60 % 60, most % 60);
  return net_zone_read(rule, strlen(rule));
}

static void expect_error(const struct net_time_context *context, const char *text,
                         enum net_time_error error) {
  net_chronon time = UNTOUCHED;
  enum net_time_error found = net_time_parse(text, strlen(text), context, &time);
  ck_assert_msg(found == error, "'%s' gives %d, not %d", text, (int)found, (int)error);
  ck_assert_int_eq(time, UNTOUCHED);
}

static void expect_time(const struct net_time_context *context, const char *text,
                        net_chronon expected) {
  net_chronon time = UNTOUCHED;
  enum net_time_error error = net_time_parse(text, strlen(text), context, &time);
  ck_assert_msg(error == NET_TIME_OK, "'%s' gives error %d", text, (int)error);
  ck_assert_msg(time == expected, "'%s' is %lld, not %lld", text, (long long)time,
                (long long)expected);
}

static void expect_printed(net_chronon time, const char *expected) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  net_time_print(&out, NET_TIMELINE_REAL, time);
  ck_assert_str_eq(out.data, expected);
  base_buffer_done(&out);
}

static void expect_round_trip(net_chronon time) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  net_time_print(&out, NET_TIMELINE_REAL, time);
  expect_time(&utc, out.data, time);
  base_buffer_clear(&out);
  net_time_print(&out, NET_TIMELINE_ABSTRACT, time);
  expect_time(&abstract, out.data, time);
  base_buffer_clear(&out);
  net_time_print_raw(&out, time);
  expect_time(&utc, out.data, time);
  base_buffer_done(&out);
}

START_TEST(adding_saturates) {
  ck_assert_int_eq(net_chronon_add(5, -7), -2);
  ck_assert_int_eq(net_chronon_add(NET_FOREVER - 1, 5), NET_FOREVER);
  ck_assert_int_eq(net_chronon_add(NET_FOREVER - 1, 1), NET_FOREVER);
  ck_assert_int_eq(net_chronon_add(NET_BEGINNING + 1, -5), NET_BEGINNING);
  ck_assert_int_eq(net_chronon_add(NET_FOREVER, -5), NET_FOREVER);
  ck_assert_int_eq(net_chronon_add(NET_FOREVER, INT64_MIN), NET_FOREVER);
  ck_assert_int_eq(net_chronon_add(NET_BEGINNING, INT64_MAX), NET_BEGINNING);
  ck_assert_int_eq(net_chronon_add(-1, INT64_MIN), NET_BEGINNING);
}
END_TEST

START_TEST(printing) {
  expect_printed(0, "1970-01-01T00:00:00Z");
  expect_printed(NOW - 4, "2026-11-20T11:02:03Z");
  expect_printed(NOW, "2026-11-20T11:02:03.000000004Z");
  expect_printed(500000000, "1970-01-01T00:00:00.500Z");
  expect_printed(1000, "1970-01-01T00:00:00.000001Z");
  expect_printed(-1, "1969-12-31T23:59:59.999999999Z");
  expect_printed(-SECOND, "1969-12-31T23:59:59Z");
  expect_printed(NET_FOREVER, "forever");
  expect_printed(NET_BEGINNING, "beginning");
  expect_printed(NET_FOREVER - 1, "2262-04-11T23:47:16.854775806Z");
  expect_printed(NET_EARLIEST, "1677-09-21T00:12:43.145224194Z");
  struct base_buffer out = BASE_BUFFER_EMPTY;
  net_time_print(&out, NET_TIMELINE_ABSTRACT, NET_FOREVER - 1);
  ck_assert_str_eq(out.data, "9223372036854775806");
  base_buffer_done(&out);
}
END_TEST

START_TEST(all_that_is_printed_reads_back) {
  struct base_random random = {7};
  expect_round_trip(NET_BEGINNING);
  for (net_chronon delta = 0; delta < 3; delta++) {
    expect_round_trip(NET_EARLIEST + delta);
    expect_round_trip(NET_FOREVER - delta);
    expect_round_trip(delta - 1);
  }
  for (int i = 0; i < 100000; i++) {
    net_chronon time = (net_chronon)base_random_next(&random);
    if (i % 4 == 1) time -= time % 1000;
    if (i % 4 == 2) time -= time % 1000000;
    if (i % 4 == 3) time -= time % DAY;
    expect_round_trip(time);
  }
}
END_TEST

START_TEST(every_day_agrees_with_the_library) {
  for (time_t second = -9223372036 + 86400; second < 9223372036; second += 86399) {
    struct tm parts;
    char text[64];
    gmtime_r(&second, &parts);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    expect_printed(second * SECOND, text);
    expect_time(&utc, text, second * SECOND);
  }
}
END_TEST

START_TEST(calendar_dates) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  for (int year = 1678; year <= 2261; year++)
    for (int month = 0; month <= 13; month++)
      for (int day = 0; day <= 32; day++) {
        bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        int length = month < 1 || month > 12 ? 0 : days[month - 1] + (month == 2 && leap);
        char text[64];
        snprintf(text, sizeof text, "%04d-%02d-%02d", year, month, day);
        if (day < 1 || day > length) {
          expect_error(&utc, text, NET_TIME_FIELD);
        } else {
          struct tm parts = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
          expect_time(&utc, text, timegm(&parts) * SECOND);
        }
      }
}
END_TEST

START_TEST(words_and_integers) {
  expect_time(&utc, "forever", NET_FOREVER);
  expect_time(&utc, "Beginning", NET_BEGINNING);
  expect_time(&utc, " NOW\t", NOW);
  expect_time(&abstract, "forever", NET_FOREVER);
  expect_time(&abstract, "now", NOW);
  expect_time(&utc, "0", 0);
  expect_time(&utc, "-0", 0);
  expect_time(&utc, "+17", 17);
  expect_time(&abstract, "2026", 2026);
  expect_time(&utc, "000000000000000000000000000001", 1);
  expect_time(&abstract, "9223372036854775807", NET_FOREVER);
  expect_time(&abstract, "-9223372036854775808", NET_BEGINNING);
  expect_error(&abstract, "-9223372036854775807", NET_TIME_RANGE);
  expect_time(&abstract, "-9223372036854775806", NET_EARLIEST);
  expect_error(&abstract, "9223372036854775808", NET_TIME_RANGE);
  expect_error(&abstract, "-9223372036854775809", NET_TIME_RANGE);
  expect_error(&abstract, "99999999999999999999999999", NET_TIME_RANGE);
}
END_TEST

/* The day before the 30th of March 2026 has 23 hours there. */
START_TEST(days) {
  static const char berlin[] = "CET-1CEST,M3.5.0,M10.5.0/3";
  const net_chronon midnight = INT64_C(1774821600) * SECOND; /* 2026-03-30, in summer time */
  struct net_time_context there = {NET_TIMELINE_REAL, midnight + 5 * HOUR, NOW,
                                   net_zone_read(berlin, strlen(berlin))};
  expect_time(&there, "today", midnight);
  expect_time(&there, "yesterday", midnight - 23 * HOUR);
  net_zone_release(there.zone);
  expect_time(&utc, "yesterday", NOW - 4 - 35 * HOUR - 123 * SECOND);
}
END_TEST

START_TEST(iso_forms) {
  const net_chronon midnight = NOW - 4 - 11 * HOUR - 123 * SECOND;
  expect_time(&utc, "2026-11-20", midnight);
  expect_time(&utc, "2026-11-20T11:02", NOW - 4 - 3 * SECOND);
  expect_time(&utc, "2026-11-20 11:02:03", NOW - 4);
  expect_time(&utc, "2026-11-20t11:02:03z", NOW - 4);
  expect_time(&utc, "2026-11-20T11:02:03,000000004Z", NOW);
  expect_time(&utc, "2026-11-20T11:02:03.5", NOW - 4 + SECOND / 2);
  expect_time(&utc, "2026-11-20T12:02:03+01:00", NOW - 4);
  expect_time(&utc, "2026-11-20T12:02:03+01", NOW - 4);
  expect_time(&utc, "2026-11-20T05:32:03-0530", NOW - 4);
  expect_time(&utc, "2026-11-21T01:02:03+14:00", NOW - 4);
  expect_time(&utc, "+2026-11-20", midnight);
  expect_time(&utc, "+02026-11-20", midnight);
  struct net_time_context east = {NET_TIMELINE_REAL, NOW, NOW, zone_of(2 * 3600)};
  expect_time(&east, "2026-11-20", midnight - 2 * HOUR);
  expect_time(&east, "2026-11-20T11:02:03", NOW - 4 - 2 * HOUR);
  expect_time(&east, "2026-11-20T11:02:03Z", NOW - 4);
  net_zone_release(east.zone);
}
END_TEST

START_TEST(ends_of_the_range) {
  expect_time(&utc, "2262-04-11T23:47:16.854775806Z", NET_FOREVER - 1);
  expect_time(&utc, "1677-09-21T00:12:43.145224194Z", NET_EARLIEST);
  expect_error(&utc, "1677-09-21T00:12:43.145224193Z", NET_TIME_RANGE);
  expect_time(&utc, "2262-04-12T00:47:16.854775806+01:00", NET_FOREVER - 1);
  /* A date is never one of the reserved values. */
  expect_error(&utc, "2262-04-11T23:47:16.854775807Z", NET_TIME_RANGE);
  expect_error(&utc, "1677-09-21T00:12:43.145224192Z", NET_TIME_RANGE);
  expect_error(&utc, "2262-04-11T23:47:16.854775808Z", NET_TIME_RANGE);
  expect_error(&utc, "1677-09-21T00:12:43.145224191Z", NET_TIME_RANGE);
  expect_error(&utc, "2262-04-11T23:47:17Z", NET_TIME_RANGE);
  expect_error(&utc, "1677-09-21T00:12:43Z", NET_TIME_RANGE);
  expect_error(&utc, "0000-01-01", NET_TIME_RANGE);
  expect_error(&utc, "9999-12-31", NET_TIME_RANGE);
  expect_error(&utc, "-0001-01-01", NET_TIME_RANGE);
  expect_error(&utc, "+99999999999999999999999-01-01", NET_TIME_RANGE);
}
END_TEST

START_TEST(fields_out_of_range) {
  static const char *const texts[] = {"2026-11-20T24:00:00",
                                      "2026-11-20T11:60",
                                      "2026-11-20T11:02:60Z",
                                      "2016-12-31T23:59:60Z",
                                      "2026-11-20T11:02:03+24:00",
                                      "2026-11-20T11:02:03+01:60",
                                      "2026-13-01",
                                      "2026-00-10",
                                      "2026-11-31",
                                      "2025-02-29",
                                      "2100-02-29",
                                      "24:00",
                                      "15:60",
                                      "15:00:60",
                                      "0:30am",
                                      "13:00pm",
                                      "99:99",
                                      "0pm"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    expect_error(&utc, texts[i], NET_TIME_FIELD);
    expect_error(&abstract, texts[i], NET_TIME_ABSTRACT);
  }
  expect_error(&utc, "2026-11-20T11:02:03.1234567890", NET_TIME_RANGE);
  expect_error(&utc, "3:00:00.1234567890pm", NET_TIME_RANGE);
  expect_error(&abstract, "2026-11-20", NET_TIME_ABSTRACT);
  expect_error(&abstract, "yesterday", NET_TIME_ABSTRACT);
  expect_error(&abstract, "today", NET_TIME_ABSTRACT);
  expect_error(&abstract, "3:00pm", NET_TIME_ABSTRACT);
}
END_TEST

START_TEST(no_times) {
  static const char *const texts[] = {"",
                                      " ",
                                      "-",
                                      "+",
                                      "T",
                                      "Z",
                                      ":",
                                      "abc",
                                      "forevers",
                                      "for ever",
                                      "12a",
                                      "1.5",
                                      "1e3",
                                      "0x10",
                                      "--1",
                                      "+-1",
                                      "2026-11",
                                      "2026-1-1",
                                      "2026-11-20T",
                                      "2026-11-20T11",
                                      "2026-11-20T1:00",
                                      "2026-11-20Z",
                                      "2026-11-20T11:02:",
                                      "2026-11-20T11:02:03.",
                                      "2026-11-20T11:02:03ZZ",
                                      "2026-11-20T11:02:03+",
                                      "2026-11-20T11:02:03+1",
                                      "2026-11-20T11:02:03+01:0",
                                      "2026-11-20T11:02:03+010",
                                      "2026-11-20T11:02:03 Z",
                                      "2026-11-20  11:02",
                                      "20261-11-20",
                                      "2026-11-20x",
                                      "2026-99-99x",
                                      "3:0",
                                      "3:000",
                                      "3:00 xm",
                                      "3:00p",
                                      "3:00pmm",
                                      "123:00",
                                      "15:00Z",
                                      "15:00:",
                                      "15:00:02.",
                                      "3 p m",
                                      "\xff\xfe",
                                      "2026/11/20"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    expect_error(&utc, texts[i], NET_TIME_SYNTAX);
    expect_error(&abstract, texts[i], NET_TIME_SYNTAX);
  }
  net_chronon time = UNTOUCHED;
  ck_assert_int_eq(net_time_parse("12\0", 3, &utc, &time), NET_TIME_SYNTAX);
  ck_assert_int_eq(net_time_parse("now\0", 4, &utc, &time), NET_TIME_SYNTAX);
  ck_assert_int_eq(net_time_parse("12345", 2, &utc, &time), NET_TIME_OK);
  ck_assert_int_eq(time, 12);
}
END_TEST

START_TEST(clock_times) {
  const net_chronon midnight = NOW - 4 - 11 * HOUR - 123 * SECOND;
  expect_time(&utc, "15:00", midnight + 15 * HOUR);
  expect_time(&utc, "3:00pm", midnight + 15 * HOUR);
  expect_time(&utc, "3:00 PM", midnight + 15 * HOUR);
  expect_time(&utc, "03:00am", midnight + 3 * HOUR);
  expect_time(&utc, "3pm", midnight + 15 * HOUR);
  expect_time(&utc, "12:00am", midnight);
  expect_time(&utc, "12:30pm", midnight + 12 * HOUR + HOUR / 2);
  expect_time(&utc, "0:00", midnight);
  expect_time(&utc, "15:00:02.5", midnight + 15 * HOUR + 2 * SECOND + SECOND / 2);
  expect_time(&utc, "11:59:59.999999999pm", midnight + DAY - 1);
  /* The date is the session's, in its zone: at 11:02Z it is the 21st already at +13, and at -12
   * still the 19th. */
  struct net_time_context east = {NET_TIMELINE_REAL, NOW, NOW, zone_of(13 * 3600)};
  expect_time(&east, "0:30", midnight + DAY - 13 * HOUR + HOUR / 2);
  struct net_time_context west = {NET_TIMELINE_REAL, NOW, NOW, zone_of(-12 * 3600)};
  expect_time(&west, "23:00", midnight - DAY + 12 * HOUR + 23 * HOUR);
  /* Before 1970, and where the date reaches beyond the range. */
  struct net_time_context early = {NET_TIMELINE_REAL, -1, -1, zone_of(0)};
  expect_time(&early, "0:00", -DAY);
  struct net_time_context last = {NET_TIMELINE_REAL, NET_FOREVER - 1, NET_FOREVER - 1, zone_of(0)};
  expect_time(&last, "23:47:16", 9223372036 * SECOND);
  expect_error(&last, "23:48", NET_TIME_RANGE);
  struct net_time_context first = {NET_TIMELINE_REAL, NET_BEGINNING + 1, NET_BEGINNING + 1,
                                   zone_of(-86399)};
  expect_error(&first, "0:00am", NET_TIME_FIELD);
  net_zone_release(east.zone);
  net_zone_release(west.zone);
  net_zone_release(early.zone);
  net_zone_release(last.zone);
  net_zone_release(first.zone);
}
END_TEST

/* Random edits of good texts: no answer is expected but that nothing is read out of bounds, and
 * that what is accepted prints and reads back the same. */
START_TEST(hostile_texts) {
  static const char *const seeds[] = {"2026-11-20T11:02:03.123456789+01:00",
                                      "3:00pm",
                                      "forever",
                                      "-9223372036854775808",
                                      "15:00:02.5",
                                      "1.5 hours"};
  static const char alphabet[] = "0123456789-+:.,TZapm \t\xff";
  struct base_random random = {8};
  for (int i = 0; i < 200000; i++) {
    const char *seed = seeds[base_random_below(&random, 6)];
    size_t length = base_random_below(&random, strlen(seed) + 1);
    char *text = malloc(length + 1);
    memcpy(text, seed, length);
    for (uint64_t edits = base_random_below(&random, 3); edits && length; edits--)
      text[base_random_below(&random, length)] =
          alphabet[base_random_below(&random, sizeof alphabet)]; /* its NUL too */
    text = realloc(text, length ? length : 1);                   /* exactly as long as said */
    net_chronon time = UNTOUCHED;
    int64_t duration = -1;
    if (net_time_parse(text, length, &utc, &time) == NET_TIME_OK)
      expect_round_trip(time);
    else
      ck_assert_int_eq(time, UNTOUCHED);
    if (net_duration_parse(text, length, &duration))
      ck_assert_int_ge(duration, 0);
    else
      ck_assert_int_eq(duration, -1);
    free(text);
  }
}
END_TEST

static void expect_duration(const char *text, int64_t expected) {
  int64_t ns = UNTOUCHED;
  ck_assert_msg(net_duration_parse(text, strlen(text), &ns), "'%s' is refused", text);
  ck_assert_msg(ns == expected, "'%s' is %lld", text, (long long)ns);
}

START_TEST(durations) {
  expect_duration("5 ms", 5000000);
  expect_duration("1hour", HOUR);
  expect_duration("250us", 250000);
  expect_duration("2 days", 2 * DAY);
  expect_duration("0ns", 0);
  expect_duration("7 NS", 7);
  expect_duration("1s", SECOND);
  expect_duration("1 sec", SECOND);
  expect_duration("1 Second", SECOND);
  expect_duration("3 seconds", 3 * SECOND);
  expect_duration("1m", 60 * SECOND);
  expect_duration("1min", 60 * SECOND);
  expect_duration("2\tminutes", 120 * SECOND);
  expect_duration("1 minute", 60 * SECOND);
  expect_duration("1h", HOUR);
  expect_duration("1 hours", HOUR);
  expect_duration("1d", DAY);
  expect_duration("1 day", DAY);
  expect_duration("1w", 7 * DAY);
  expect_duration("1 week", 7 * DAY);
  expect_duration(" 2 weeks ", 14 * DAY);
  expect_duration("1.5 s", SECOND + SECOND / 2);
  expect_duration(".25h", HOUR / 4);
  expect_duration("0.001us", 1);
  expect_duration("0.000000001000000000000000000000000 s", 1);
  expect_duration("0.0000152587890625 w", 7 * DAY / 65536);
  expect_duration("9223372036854775807ns", INT64_MAX);
  expect_duration("9223372036.854775807s", INT64_MAX);
  expect_duration("00000000000000000000000000000009 ns", 9);
}
END_TEST

START_TEST(no_durations) {
  static const char *const texts[] = {"",
                                      "5",
                                      "ms",
                                      "5 5 ms",
                                      "-5 ms",
                                      "+5 ms",
                                      "5 msx",
                                      "5 hourss",
                                      "5.ms",
                                      ". s",
                                      "1..5s",
                                      "1e3 s",
                                      "5 fortnights",
                                      "5\nms",
                                      "0.5ns",
                                      "0.0001us",
                                      "0.33333333333333333333333333 s",
                                      "9223372036854775808ns",
                                      "9223372036.854775808s",
                                      "99999999999999999999 ns",
                                      "15251 weeks",
                                      "5 m s"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    int64_t ns = UNTOUCHED;
    ck_assert_msg(!net_duration_parse(texts[i], strlen(texts[i]), &ns), "'%s' is taken", texts[i]);
    ck_assert_int_eq(ns, UNTOUCHED);
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("time");
  TCase *cases = tcase_create("time");
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, adding_saturates);
  tcase_add_test(cases, printing);
  tcase_add_test(cases, all_that_is_printed_reads_back);
  tcase_add_test(cases, every_day_agrees_with_the_library);
  tcase_add_test(cases, calendar_dates);
  tcase_add_test(cases, words_and_integers);
  tcase_add_test(cases, iso_forms);
  tcase_add_test(cases, days);
  tcase_add_test(cases, days);
  tcase_add_test(cases, ends_of_the_range);
  tcase_add_test(cases, fields_out_of_range);
  tcase_add_test(cases, no_times);
  tcase_add_test(cases, clock_times);
  tcase_add_test(cases, hostile_texts);
  tcase_add_test(cases, durations);
  tcase_add_test(cases, no_durations);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
