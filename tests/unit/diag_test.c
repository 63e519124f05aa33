/* The registry, the sink, the text form with its carets, suggestions; and the environment (clock,
 * generator, hash, interrupt), which has no test file of its own. */
#include "engine/base/diag.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"

START_TEST(registry_is_sorted_and_complete) {
  int previous = 0;
  size_t count = 0;
  for (const struct base_message_info *info; (info = base_message_at(count)); count++) {
    ck_assert_int_gt(info->number, previous);
    ck_assert_int_le(info->number, 9999);
    ck_assert_ptr_eq(base_message_find(info->number), info);
    ck_assert_int_ge(info->exit_code, 1);
    ck_assert_int_le(info->exit_code, 3);
    ck_assert_msg(*info->template && *info->explanation && *info->example && *info->fix,
                  "TQ-%04d has an empty part", info->number);
    ck_assert_msg(info->name[strspn(info->name, "abcdefghijklmnopqrstuvwxyz0123456789-")] == 0,
                  "TQ-%04d is called %s", info->number, info->name);
    previous = info->number;
  }
  ck_assert_uint_gt(count, 0);
  ck_assert_ptr_null(base_message_at(count));
  ck_assert_ptr_null(base_message_at(SIZE_MAX));
  ck_assert_ptr_null(base_message_find(0));
  ck_assert_ptr_null(base_message_find(-1));
  ck_assert_str_eq(base_message_find(MSG_UNKNOWN_RELATION)->name, "unknown-relation");
}
END_TEST

static void count_report(void *context, const struct base_diag *diag) {
  ck_assert_ptr_nonnull(diag->message);
  ++*(int *)context;
}

START_TEST(sink_counts) {
  struct base_diag_sink sink;
  int seen = 0;
  base_diag_sink_init(&sink);
  sink.on_report = count_report;
  sink.context = &seen;
  base_report(&sink, MSG_NAME_IS_DOMAIN, NULL, NULL, "only a warning");
  ck_assert_uint_eq(sink.errors, 0);
  ck_assert_int_eq(sink.exit_code, 0);
  struct base_diag *diag = base_report(&sink, MSG_USAGE, NULL, NULL, "%s %d", "first", 1);
  ck_assert_str_eq(diag->message, "first 1");
  ck_assert_ptr_null(diag->hint);
  ck_assert_int_eq(diag->severity, BASE_ERROR);
  base_report_hint(&sink, MSG_SYNTAX, NULL, NULL, "try this", "second");
  base_report_hint(&sink, MSG_SYNTAX, NULL, NULL, NULL, "third");
  ck_assert_str_eq(sink.items[2].hint, "try this");
  ck_assert_ptr_null(sink.items[3].hint);
  ck_assert_uint_eq(sink.count, 4);
  ck_assert_uint_eq(sink.errors, 3);
  ck_assert_int_eq(sink.exit_code, 1); /* that of the first error */
  ck_assert_int_eq(seen, 4);
  for (int i = 0; i < 1000; i++) base_report(&sink, MSG_SYNTAX, NULL, NULL, "number %d", i);
  ck_assert_str_eq(sink.items[1003].message, "number 999");
  base_diag_sink_clear(&sink);
  ck_assert_uint_eq(sink.count + sink.errors, 0);
  ck_assert_int_eq(sink.exit_code, 0);
  base_report(&sink, MSG_SYNTAX, NULL, NULL, "after");
  ck_assert_int_eq(seen, 1005);
  base_diag_sink_done(&sink);
  base_diag_sink_done(&sink);
}
END_TEST

START_TEST(message_stays_on_one_line) {
  struct base_diag_sink sink;
  base_diag_sink_init(&sink);
  struct base_diag *diag =
      base_report(&sink, MSG_UNKNOWN_RELATION, NULL, NULL, "%s", "a\nb\tc\x1b[2J\x7f\xc3\xa4");
  ck_assert_str_eq(diag->message, "a\\nb\\tc\\x1b[2J\\x7f\xc3\xa4");
  base_diag_sink_done(&sink);
}
END_TEST

START_TEST(unregistered_number_aborts) {
  struct base_diag_sink sink;
  base_diag_sink_init(&sink);
  base_report(&sink, (enum base_message)9998, NULL, NULL, "none");
}
END_TEST

static void expect_text(const struct base_source *source, struct base_range range, const char *hint,
                        const char *expected) {
  struct base_diag_sink sink;
  struct base_buffer out = BASE_BUFFER_EMPTY;
  base_diag_sink_init(&sink);
  base_buffer_puts(&out, "before:");
  base_diag_format(
      &out, base_report_hint(&sink, MSG_UNKNOWN_RELATION, source, &range, hint, "there is no r"));
  ck_assert_str_eq(out.data + strlen("before:"), expected);
  base_buffer_done(&out);
  base_diag_sink_done(&sink);
}

#define HEAD "error TQ-0101: there is no r\n"

START_TEST(text_has_what_is_known) {
  struct base_source file = {.name = "x.csv"};
  expect_text(NULL, (struct base_range){0}, NULL, HEAD);
  expect_text(NULL, (struct base_range){0}, "do it", HEAD "hint: do it\n");
  expect_text(NULL, (struct base_range){3, 4, 3, 5}, NULL, "3:4: " HEAD);
  expect_text(&file, (struct base_range){0}, NULL, "x.csv: " HEAD);
  expect_text(&file, (struct base_range){7, 0, 0, 0}, NULL, "x.csv:7: " HEAD);
  expect_text(&file, (struct base_range){7, 2, 7, 3}, NULL, "x.csv:7:2: " HEAD);
}
END_TEST

START_TEST(text_has_line_and_carets) {
  static const char text[] = "one\nrange of e is r\r\n\n\tx\t= \xc3\xa4\xc3\xb6y\nbad\x1b!\nlast";
  struct base_source source = {.name = "t.tq", .text = text, .length = sizeof text - 1};
  /* An ordinary range, an empty one, one with an unknown end. */
  expect_text(&source, (struct base_range){2, 7, 2, 9}, NULL,
              "t.tq:2:7: " HEAD "  range of e is r\n        ^^\n");
  expect_text(&source, (struct base_range){2, 7, 2, 7}, NULL,
              "t.tq:2:7: " HEAD "  range of e is r\n        ^\n");
  expect_text(&source, (struct base_range){2, 7, 0, 0}, NULL,
              "t.tq:2:7: " HEAD "  range of e is r\n        ^\n");
  /* Over several lines: to the end of the first. Ends before it starts: one caret. */
  expect_text(&source, (struct base_range){2, 12, 4, 1}, NULL,
              "t.tq:2:12: " HEAD "  range of e is r\n             ^^^^\n");
  expect_text(&source, (struct base_range){2, 7, 2, 3}, "h",
              "t.tq:2:7: " HEAD "  range of e is r\n        ^\nhint: h\n");
  /* Tabs stay, characters of several bytes take one column. */
  expect_text(&source, (struct base_range){4, 6, 4, 11}, NULL,
              "t.tq:4:6: " HEAD "  \tx\t= \xc3\xa4\xc3\xb6y\n  \t \t  ^^^\n");
  expect_text(&source, (struct base_range){5, 5, 5, 6}, NULL,
              "t.tq:5:5: " HEAD "  bad?!\n      ^\n");
  /* A line without an end, past the end of a line, an empty line, no such line, no column. */
  expect_text(&source, (struct base_range){6, 1, 6, 500}, NULL,
              "t.tq:6:1: " HEAD "  last\n  ^^^^\n");
  expect_text(&source, (struct base_range){6, 99, 6, 100}, NULL,
              "t.tq:6:99: " HEAD "  last\n      ^\n");
  expect_text(&source, (struct base_range){3, 1, 3, 1}, NULL, "t.tq:3:1: " HEAD);
  expect_text(&source, (struct base_range){7, 1, 7, 1}, NULL, "t.tq:7:1: " HEAD);
  expect_text(&source, (struct base_range){6, 0, 0, 0}, NULL, "t.tq:6: " HEAD "  last\n");
  /* A text that is a part of a longer one. */
  source.first_line = 10;
  expect_text(&source, (struct base_range){10, 1, 10, 2}, NULL, "t.tq:10:1: " HEAD "  one\n  ^\n");
  expect_text(&source, (struct base_range){9, 1, 9, 2}, NULL, "t.tq:9:1: " HEAD);
}
END_TEST

static void put(struct base_buffer *out, const char *what, size_t times) {
  for (size_t i = 0; i < times; i++) base_buffer_puts(out, what);
}

/* BEFORE times WHAT, MARKED, AFTER times WHAT: where MARKED is pointed at in what is shown. */
static void expect_part(const char *what, size_t before, const char *marked, size_t after,
                        const char *expected) {
  struct base_buffer text = BASE_BUFFER_EMPTY, head = BASE_BUFFER_EMPTY;
  base_buffer_puts(&text, "x\n");
  put(&text, what, before);
  base_buffer_puts(&text, marked);
  put(&text, what, after);
  base_buffer_puts(&text, "\nx");
  struct base_source source = {.name = "t", .text = text.data, .length = text.length};
  int first = (int)(before * strlen(what)) + 1, last = first + (int)strlen(marked);
  base_buffer_printf(&head, "t:2:%d: " HEAD "%s", first, expected);
  expect_text(&source, (struct base_range){2, first, 2, last}, NULL, base_buffer_text(&head));
  base_buffer_done(&text);
  base_buffer_done(&head);
}

/* "..." if CUT_BEFORE, WHAT as often as is said, MARKED, again; and the carets. */
static void expect_shown(const char *what, size_t before, const char *marked, size_t after,
                         bool cut_before, size_t shown_before, size_t shown_after, bool cut_after,
                         size_t carets) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  base_buffer_puts(&out, cut_before ? "  ..." : "  ");
  put(&out, what, shown_before);
  base_buffer_puts(&out, marked);
  put(&out, what, shown_after);
  base_buffer_puts(&out, cut_after ? "...\n" : "\n");
  base_buffer_puts(&out, cut_before ? "     " : "  ");
  put(&out, *what == '\t' ? "\t" : " ", shown_before);
  put(&out, "^", carets);
  base_buffer_puts(&out, "\n");
  expect_part(what, before, marked, after, base_buffer_text(&out));
  base_buffer_done(&out);
}

START_TEST(long_lines_are_shown_in_part) {
  expect_shown("a", 0, "here", 196, false, 0, 196, false, 4); /* 200: as it is */
  expect_shown("a", 196, "here", 0, false, 196, 0, false, 4);
  expect_shown("a", 0, "here", 197, false, 0, 196, true, 4);
  expect_shown("a", 60, "here", 750000, false, 60, 136, true, 4);
  expect_shown("a", 61, "here", 750000, true, 60, 136, true, 4);
  expect_shown("a", 750000, "here", 750000, true, 60, 136, true, 4);
  expect_shown("a", 750000, "here", 137, true, 60, 136, true, 4);
  expect_shown("a", 750000, "here", 136, true, 60, 136, false, 4);
  expect_shown("a", 750000, "here", 0, true, 196, 0, false, 4);
  /* Characters, not bytes; and tabs stay. */
  expect_shown("\xe2\x82\xac", 0, "\xc3\xa4", 199, false, 0, 199, false, 1);
  expect_shown("\xe2\x82\xac", 500, "\xc3\xa4o", 500, true, 60, 138, true, 2);
  expect_shown("\t", 500, "here", 500, true, 60, 136, true, 4);
}
END_TEST

/* The place itself is long, or there is none, or it is no text at all. */
START_TEST(long_places) {
  struct base_buffer text = BASE_BUFFER_EMPTY, expected = BASE_BUFFER_EMPTY;
  put(&text, "a", 1000);
  struct base_source source = {.name = "t", .text = text.data, .length = text.length};
  base_buffer_puts(&expected, "t:1:101: " HEAD "  ...");
  put(&expected, "a", 200);
  base_buffer_puts(&expected, "...\n     ");
  put(&expected, " ", 60);
  put(&expected, "^", 140);
  base_buffer_puts(&expected, "\n");
  expect_text(&source, (struct base_range){1, 101, 1, 900}, NULL, base_buffer_text(&expected));
  expect_text(&source, (struct base_range){1, 101, 3, 1}, NULL, base_buffer_text(&expected));
  base_buffer_clear(&expected);
  base_buffer_puts(&expected, "t:1: " HEAD "  ");
  put(&expected, "a", 200);
  base_buffer_puts(&expected, "...\n");
  expect_text(&source, (struct base_range){1, 0, 0, 0}, NULL, base_buffer_text(&expected));
  memset(text.data, 0x80, text.length); /* no character begins here */
  struct base_diag_sink sink;
  base_diag_sink_init(&sink);
  base_buffer_clear(&expected);
  struct base_range range = {1, 950, 1, 999};
  base_diag_format(&expected, base_report(&sink, MSG_SYNTAX, &source, &range, "m"));
  ck_assert_uint_lt(expected.length, 900);
  base_diag_sink_done(&sink);
  base_buffer_done(&text);
  base_buffer_done(&expected);
}
END_TEST

/* No range, however wrong, may read outside the text (the sanitizers watch). */
START_TEST(random_ranges_are_safe) {
  struct base_random random = {5};
  struct base_diag_sink sink;
  struct base_buffer out = BASE_BUFFER_EMPTY;
  base_diag_sink_init(&sink);
  for (int i = 0; i < 20000; i++) {
    size_t most = base_random_below(&random, 8) ? 12 : 2000;
    size_t length = base_random_below(&random, most);
    char *text = malloc(length + 1); /* no NUL at its end */
    for (size_t j = 0; j < length; j++)
      text[j] = "\n\r\tab\xc3\x80\x1b"[base_random_below(&random, 8)];
    struct base_source source = {.name = "s", .text = text, .length = length};
    struct base_range range = {
        (int)base_random_below(&random, 5) - 1, (int)base_random_below(&random, most + 2) - 1,
        (int)base_random_below(&random, 5) - 1, (int)base_random_below(&random, most + 2) - 1};
    base_diag_format(&out, base_report(&sink, MSG_SYNTAX, &source, &range, "m"));
    base_buffer_clear(&out);
    base_diag_sink_clear(&sink);
    free(text);
  }
  base_buffer_done(&out);
  base_diag_sink_done(&sink);
}
END_TEST

static const char *nearest(const char *name) {
  static const char *const names[] = {"Iteration", "Process", "Running", "ab", "abcdefghi", "e"};
  const char *found = base_nearest(name, names, sizeof names / sizeof names[0]);
  return found ? found : "none";
}

START_TEST(nearest_name) {
  ck_assert_str_eq(nearest("Iteratoin"), "Iteration");
  ck_assert_str_eq(nearest("ITERATION"), "Iteration");
  ck_assert_str_eq(nearest("proces"), "Process");
  ck_assert_str_eq(nearest("Processes"), "Process"); /* 2 of 9 */
  ck_assert_str_eq(nearest("runing"), "Running");
  ck_assert_str_eq(nearest("Rnunign"), "Running");     /* two exchanges in 7 */
  ck_assert_str_eq(nearest("zzzdefghi"), "abcdefghi"); /* 3 of 9 */
  ck_assert_str_eq(nearest("zzzzefghi"), "none");      /* 4 of 9 */
  ck_assert_str_eq(nearest("ba"), "ab");
  ck_assert_str_eq(nearest("cd"), "none");
  ck_assert_str_eq(nearest("E"), "e");
  ck_assert_str_eq(nearest("f"), "none"); /* nothing of it would be left */
  ck_assert_str_eq(nearest(""), "none");
  ck_assert_ptr_null(base_nearest("x", NULL, 0));
  const char *const two[] = {"cat", "bat"};
  ck_assert_str_eq(base_nearest("rat", two, 2), "cat"); /* the first of equals */
  ck_assert_str_eq(base_nearest("bats", two, 2), "bat");
}
END_TEST

START_TEST(clock_obeys_tests) {
  base_env_set_clock(INT64_MIN);
  ck_assert_int_eq(base_env_now(), INT64_MIN);
  base_env_set_clock(42);
  ck_assert_int_eq(base_env_now(), 42);
  base_env_use_real_clock();
  ck_assert_int_gt(base_env_now(), INT64_C(1700000000000000000));
  int64_t before = base_env_monotonic();
  ck_assert_int_ge(base_env_monotonic(), before);
}
END_TEST

START_TEST(generator_and_hash) {
  /* The published first numbers of splitmix64 from seed 1234567. */
  struct base_random random = {1234567};
  ck_assert_uint_eq(base_random_next(&random), UINT64_C(6457827717110365317));
  ck_assert_uint_eq(base_random_next(&random), UINT64_C(3203168211198807973));
  int seen[7] = {0};
  for (int i = 0; i < 7000; i++) seen[base_random_below(&random, 7)]++;
  for (int i = 0; i < 7; i++) ck_assert(seen[i] > 800 && seen[i] < 1200);
  /* With a bound of 3/4 of all numbers a plain remainder would fall into the first third half of
   * the time. */
  int first_third = 0;
  for (int i = 0; i < 3000; i++)
    first_third += base_random_below(&random, UINT64_C(3) << 62) < UINT64_C(1) << 62;
  ck_assert(first_third > 900 && first_third < 1100);
  ck_assert_uint_eq(base_random_below(&random, 1), 0);
  for (int i = 0; i < 100; i++)
    ck_assert_uint_lt(base_random_below(&random, UINT64_MAX - 1), UINT64_MAX - 1);
  ck_assert_uint_eq(base_hash("abc", 3, 1), base_hash("abc", 3, 1));
  ck_assert_uint_ne(base_hash("abc", 3, 1), base_hash("abc", 3, 2));
  ck_assert_uint_ne(base_hash("abc", 3, 1), base_hash("abd", 3, 1));
  ck_assert_uint_ne(base_hash("", 0, 1), base_hash("\0", 1, 1));
  ck_assert_uint_ne(base_hash_u64(0, 0), base_hash_u64(0, 1));
  ck_assert_uint_ne(base_hash_u64(0, 0), base_hash_u64(1, 0));
}
END_TEST

START_TEST(random_below_zero_aborts) {
  base_random_below(&(struct base_random){1}, 0);
}
END_TEST

static void on_signal(int number) {
  (void)number;
  base_env_interrupt();
}

START_TEST(interrupt_flag) {
  ck_assert(!base_env_interrupted());
  signal(SIGINT, on_signal);
  raise(SIGINT);
  ck_assert(base_env_interrupted());
  ck_assert(base_env_interrupted());
  base_env_clear_interrupt();
  ck_assert(!base_env_interrupted());
}
END_TEST

int main(void) {
  Suite *suite = suite_create("diag");
  TCase *cases = tcase_create("diag");
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, registry_is_sorted_and_complete);
  tcase_add_test(cases, sink_counts);
  tcase_add_test(cases, message_stays_on_one_line);
  tcase_add_test(cases, text_has_what_is_known);
  tcase_add_test(cases, text_has_line_and_carets);
  tcase_add_test(cases, long_lines_are_shown_in_part);
  tcase_add_test(cases, long_places);
  tcase_add_test(cases, random_ranges_are_safe);
  tcase_add_test(cases, nearest_name);
  tcase_add_test(cases, clock_obeys_tests);
  tcase_add_test(cases, generator_and_hash);
  tcase_add_test(cases, interrupt_flag);
  tcase_add_test_raise_signal(cases, unregistered_number_aborts, SIGABRT);
  tcase_add_test_raise_signal(cases, random_below_zero_aborts, SIGABRT);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
