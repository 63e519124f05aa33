/* The lexer at its edges: bytes that are no UTF-8, stray bytes, numbers at their limits, what a word
 * or a `;` is by its neighbours. The corpus in tests/lang has the ordinary cases. */
#include <check.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/status.h"
#include "tquel/lang/lexer.h"
#include "tquel/lang/parse.h"

static struct base_arena *arena;
static struct base_diag_sink diags;

static void set_up(void) {
  arena = base_arena_new();
  base_diag_sink_init(&diags);
}

static void tear_down(void) {
  base_diag_sink_done(&diags);
  base_arena_free(arena);
}

/* The statements of TEXT as canonical text, one a line; NULL after an error. */
static const char *parsed(const char *text, size_t length) {
  struct base_source source = {.name = "test", .text = text, .length = length};
  struct base_buffer out = BASE_BUFFER_EMPTY;
  size_t count = 0;
  bool ok = false;
  base_diag_sink_clear(&diags);
  struct tql_statement **statements = tql_parse(arena, &source, 1, &diags, &count, &ok);
  ck_assert_int_eq(ok, diags.errors == 0);
  for (size_t i = 0; ok && i < count; i++) {
    tql_print_statement(&out, statements[i]);
    base_buffer_putc(&out, '\n');
  }
  const char *result = ok ? base_arena_strdup(arena, base_buffer_text(&out)) : NULL;
  base_buffer_done(&out);
  return result;
}

static const struct {
  const char *text, *message;
} mistakes[] = {
    /* UTF-8: too short, overlong in each length, surrogates, past U+10FFFF, not a start at all. */
    {"print \xc3", "the byte 0xc3, which is not UTF-8"},
    {"print \xc0\x80", "the byte 0xc0, which is not UTF-8"},
    {"print \xe0\x9f\xbf", "the byte 0xe0, which is not UTF-8"},
    {"print \xed\xa0\x80", "the byte 0xed, which is not UTF-8"},
    {"print \xf0\x8f\xbf\xbf", "the byte 0xf0, which is not UTF-8"},
    {"print \xf4\x90\x80\x80", "the byte 0xf4, which is not UTF-8"},
    {"print \xf5\x80\x80\x80", "the byte 0xf5, which is not UTF-8"},
    {"print \x80", "the byte 0x80, which is not UTF-8"},
    {"print \xe2\x82(", "the byte 0xe2, which is not UTF-8"},
    {"print \xf0\x9f\x98\x80", "a stray \"\xf0\x9f\x98\x80\""},
    {"print \xe2\x82\xac", "a stray \"\xe2\x82\xac\""},
    {"print `a\xff`", "a name that is not UTF-8"},
    {"print ``", "an empty name"},
    {"help \"a\xff\"", "a string that is not UTF-8"},
    /* Stray bytes, in letters where that is safe. */
    {"print \x01", "a stray byte 0x01"},
    {"print \x7f", "a stray byte 0x7f"},
    {"print #", "a stray \"#\""},
    {"print '", "a stray \"'\""},
    {"print \\", "a stray \"\\\""},
    {"print \\aVeryLongCommandOfTheShell", "\"\\aVeryLongCommandOfT\" inside a statement"},
    {"print \\goo", "\"\\goo\" inside a statement"},
    /* Numbers. */
    {"append R (x = 99999999999999999999999999999999999999999999999999)",
     "99999999999999999999... is out of range"},
    {"append R (x = 1e-999)", "1e-999 is out of range"},
    {"append R (x = 99999999999999999999 s)", "99999999999999999999 s is out of range"},
    {"append R (x = 9223372036.854775808 s)", "9223372036.854775808 s is out of range"},
    {"append R (x = 18446744073.9 s)", "18446744073.9 s is out of range"},
    {"append R (x = 0.0000000001 s)", "0.0000000001 s is out of range"},
    {"append R (x = 1.5 ns)", "1.5 ns is out of range"},
    {"append R (x = 8.stop)", "a number directly before a dot and a word"},
    {"print /* ends **", "a comment without an end"},
    {"print `abc", "a name in backticks without an end"},
};

START_TEST(mistakes_are_named) {
  ck_assert_ptr_null(parsed(mistakes[_i].text, strlen(mistakes[_i].text)));
  ck_assert_str_eq(diags.items[0].message, mistakes[_i].message);
  /* Whatever else: the same text, cut anywhere, is answered for. */
  for (size_t length = 0; length < strlen(mistakes[_i].text); length++) {
    (void)parsed(mistakes[_i].text, length);
    (void)tql_completeness(mistakes[_i].text, length);
  }
}
END_TEST

static const struct {
  const char *text, *canonical;
} readings[] = {
    {"append R (x = 1.000 ns)", "append to R (x = 1 ns)\n"},
    {"append R (x = 9223372036.854775807 s)", "append to R (x = 9223372036854775807 ns)\n"},
    {"append R (x = 2\t ms)", "append to R (x = 2 ms)\n"},
    {"append R (x = -9223372036854775808)", "append to R (x = -9223372036854775808)\n"},
    {"append R (x = 4.9e-324)", "append to R (x = 5e-324)\n"},
    {"append R (`a``b` = 1)", "append to R (`a``b` = 1)\n"},
    {"retrieve (at = e.x, start is e.y)", "retrieve (`at` = e.x, `start` = e.y)\n"},
    {"retrieve (e.x) -- to the end\nwhere e.x=1/*/**/", "retrieve (e.x) where e.x = 1\n"},
    {"help range", "help \"range\"\n"},
    {"help retrieve\nprint E", "help \"retrieve\"\nprint E\n"},
    {"help retrieve /* a\nb */ print E", "help \"retrieve\"\nprint E\n"},
    {"help retrieve -- all\n", "help \"retrieve\"\n"},
    {"help set ; print E", "help \"set\"\nprint E\n"},
    {"help where \\g print E", "help \"where\"\nprint E\n"},
    {"help \\g print E \\G", "help\nprint E\n"},
    {"display A; /* and */ -- more\n display B;", "display A\ndisplay B\n"},
    {"display A;\\g", "display A\n"},
    {"set parallel overlap set rule a-b off", "set parallel overlap\nset rule a-b off\n"},
    {"set rule\nprint E", "set rule\nprint E\n"},
    {"retrieve (e.x) when e;f;print E", "retrieve (e.x) when e ; f\nprint E\n"},
    {"\xef\xbb\xbfprint E", "print E\n"},
    {"print E where", NULL},
    {"retrieve (true = 1)", NULL},
};

START_TEST(neighbours_decide) {
  const char *got = parsed(readings[_i].text, strlen(readings[_i].text));
  if (readings[_i].canonical == NULL) {
    ck_assert_ptr_null(got);
    return;
  }
  ck_assert_msg(got != NULL, "%s: %s", readings[_i].text,
                diags.count ? diags.items[0].message : "refused");
  ck_assert_str_eq(got, readings[_i].canonical);
}
END_TEST

START_TEST(plain_words_and_lengths) {
  ck_assert(tql_is_plain_word("a_1", false));
  ck_assert(!tql_is_plain_word("", false));
  ck_assert(!tql_is_plain_word("1a", false));
  ck_assert(!tql_is_plain_word("a-b", false));
  ck_assert(tql_is_plain_word("a-b", true));
  ck_assert(!tql_is_plain_word("a-", true));
  ck_assert(!tql_is_plain_word("a--b", true));
  ck_assert(!tql_is_plain_word("a b", true));
  ck_assert_uint_eq(tql_utf8_length("", 0), 0);
  ck_assert_uint_eq(tql_utf8_length("a", 1), 1);
  ck_assert_uint_eq(tql_utf8_length("\xc3\xa4", 2), 2);
  ck_assert_uint_eq(tql_utf8_length("\xc3\xa4", 1), 0);
  ck_assert_uint_eq(tql_utf8_length("\xe0\xa0\x80", 3), 3);
  ck_assert_uint_eq(tql_utf8_length("\xed\x9f\xbf", 3), 3);
  ck_assert_uint_eq(tql_utf8_length("\xf0\x90\x80\x80", 4), 4);
  ck_assert_uint_eq(tql_utf8_length("\xf4\x8f\xbf\xbf", 4), 4);
}
END_TEST

/* A text longer than the scanner can count is refused, not cut. The text is never read. */
START_TEST(a_text_that_is_too_long) {
  struct base_source source = {.name = "test", .text = "print E", .length = INT_MAX};
  size_t count = 1;
  bool ok = true;
  tql_parse(arena, &source, 1, &diags, &count, &ok);
  ck_assert(!ok);
  ck_assert_uint_eq(count, 0);
  ck_assert_int_eq(diags.items[0].number, MSG_TOO_NESTED);
  ck_assert_int_eq(tql_completeness("print E", INT_MAX), TQL_ERROR);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("lexer");
  TCase *tcase = tcase_create("lexer");
  tcase_add_checked_fixture(tcase, set_up, tear_down);
  tcase_add_loop_test(tcase, mistakes_are_named, 0, (int)(sizeof mistakes / sizeof mistakes[0]));
  tcase_add_loop_test(tcase, neighbours_decide, 0, (int)(sizeof readings / sizeof readings[0]));
  tcase_add_test(tcase, plain_words_and_lengths);
  tcase_add_test(tcase, a_text_that_is_too_long);
  suite_add_tcase(suite, tcase);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
