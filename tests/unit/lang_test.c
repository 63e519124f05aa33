/* The front end of the language: lexer, automaton, tree, printer.
 *
 * - The corpus, tests/lang/FILE.lang: blocks of an input, a line "=>", and what must come out: the
 *   canonical text of each statement, then the diagnostics as the shell shows them. A block ends
 *   with "----". The directory is the macro or the environment variable TQL_LANG_CORPUS; with
 *   TQL_LANG_UPDATE=1 the expectations are written anew, to be reviewed as a diff.
 * - Everything that parses is printed, parsed again, and compared as a tree.
 * - Random trees are printed and must be read back as they were.
 * - Random damage done to the corpus must neither crash nor hang. */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/base/env.h"
#include "engine/base/status.h"
#include "tests/unit/lang_tree.h"
#include "tquel/lang/lexer.h"
#include "tquel/lang/parse.h"
#include "tests/amount.h"

const char *tql_token_name(int kind);

struct parsed {
  struct base_arena *arena;
  struct base_diag_sink diags;
  struct base_source source;
  struct tql_statement **statements;
  size_t count;
  bool ok;
};

static void parse(struct parsed *parsed, const char *text, size_t length) {
  parsed->arena = base_arena_new();
  base_diag_sink_init(&parsed->diags);
  parsed->source = (struct base_source){.name = "test", .text = text, .length = length};
  parsed->statements =
      tql_parse(parsed->arena, &parsed->source, 1, &parsed->diags, &parsed->count, &parsed->ok);
}

static void parsed_done(struct parsed *parsed) {
  base_diag_sink_done(&parsed->diags);
  base_arena_free(parsed->arena);
}

static void print_all(struct base_buffer *out, const struct parsed *parsed) {
  for (size_t i = 0; i < parsed->count; i++) {
    tql_print_statement(out, parsed->statements[i]);
    base_buffer_putc(out, '\n');
  }
}

/* Whatever parses is the same after printing and parsing again. */
static void check_fixed_point(const struct parsed *first) {
  struct base_buffer once = BASE_BUFFER_EMPTY, twice = BASE_BUFFER_EMPTY;
  struct parsed second;
  print_all(&once, first);
  parse(&second, base_buffer_text(&once), once.length);
  ck_assert_msg(second.ok, "printed text does not parse: %s", base_buffer_text(&once));
  print_all(&twice, &second);
  ck_assert_str_eq(base_buffer_text(&once), base_buffer_text(&twice));
  ck_assert_uint_eq(first->count, second.count);
  for (size_t i = 0; i < first->count; i++) {
    ck_assert_msg(lang_same_statement(first->statements[i], second.statements[i]),
                  "another tree: %s", base_buffer_text(&once));
  }
  parsed_done(&second);
  base_buffer_done(&once);
  base_buffer_done(&twice);
}

/* --- the corpus ------------------------------------------------------------------------------- */

static const char *corpus_directory(void) {
  const char *directory = getenv("TQL_LANG_CORPUS");
#ifdef TQL_LANG_CORPUS
  if (directory == NULL) directory = TQL_LANG_CORPUS;
#endif
  return directory == NULL ? "tests/lang" : directory;
}

static char *read_file(const char *path, size_t *ret_length) {
  struct base_buffer content = BASE_BUFFER_EMPTY;
  char chunk[4096];
  size_t got;
  FILE *file = fopen(path, "rb");
  ck_assert_msg(file != NULL, "cannot read %s", path);
  while ((got = fread(chunk, 1, sizeof chunk, file)) > 0) base_buffer_append(&content, chunk, got);
  fclose(file);
  base_buffer_putc(&content, '\0');
  *ret_length = content.length - 1;
  return content.data;
}

/* The beginning of the line that says WORD and nothing else, from AT on. */
static const char *find_line(const char *at, const char *word) {
  size_t length = strlen(word);
  for (; at != NULL && *at != '\0'; at = strchr(at, '\n'), at = at == NULL ? NULL : at + 1) {
    if (strncmp(at, word, length) == 0 && (at[length] == '\n' || at[length] == '\0')) return at;
  }
  return NULL;
}

static size_t blocks, files;

static void check_block(const char *path, const char *input, size_t length, const char *expected,
                        size_t expected_length, struct base_buffer *ret_actual) {
  struct parsed parsed;
  char *text = base_xmalloc(length + 1);
  memcpy(text, input, length);
  text[length] = '\0';
  parse(&parsed, text, length);
  size_t from = ret_actual->length;
  print_all(ret_actual, &parsed);
  for (size_t i = 0; i < parsed.diags.count; i++) {
    base_diag_format(ret_actual, &parsed.diags.items[i]);
  }
  const char *actual = base_buffer_text(ret_actual) + from;
  if (getenv("TQL_LANG_UPDATE") == NULL) {
    ck_assert_msg(
        strlen(actual) == expected_length && memcmp(actual, expected, expected_length) == 0,
        "%s: for the input\n%s\ncame\n%s\ninstead of\n%.*s", path, text, actual,
        (int)expected_length, expected);
  }
  ck_assert_int_eq(parsed.ok, parsed.diags.errors == 0);
  check_fixed_point(&parsed);
  bool complete = tql_completeness(text, length) == TQL_COMPLETE;
  ck_assert_msg(complete == (parsed.ok && parsed.count > 0), "completeness of %s", text);
  parsed_done(&parsed);
  free(text);
  blocks++;
}

static void run_file(const char *path) {
  size_t length;
  char *content = read_file(path, &length);
  struct base_buffer renewed = BASE_BUFFER_EMPTY;
  const char *at = content;
  while (*at != '\0') {
    const char *arrow = find_line(at, "=>");
    ck_assert_msg(arrow != NULL, "%s: a block without =>", path);
    const char *expected = arrow + 3, *end = find_line(expected, "----");
    if (end == NULL) end = content + length;
    base_buffer_append(&renewed, at, (size_t)(expected - at));
    size_t input_length = arrow == at ? 0 : (size_t)(arrow - at) - 1;
    check_block(path, at, input_length, expected, (size_t)(end - expected), &renewed);
    if (*end == '\0') break;
    base_buffer_puts(&renewed, "----\n");
    at = end + 5;
  }
  if (getenv("TQL_LANG_UPDATE") != NULL) {
    FILE *file = fopen(path, "wb");
    ck_assert_msg(file != NULL, "cannot write %s", path);
    fwrite(base_buffer_text(&renewed), 1, renewed.length, file);
    fclose(file);
  }
  base_buffer_done(&renewed);
  free(content);
  files++;
}

/* Calls ON_FILE for every .lang file. */
static void each_file(void (*on_file)(const char *path)) {
  DIR *directory = opendir(corpus_directory());
  struct dirent *entry;
  ck_assert_msg(directory != NULL, "no directory %s", corpus_directory());
  while ((entry = readdir(directory)) != NULL) {
    size_t length = strlen(entry->d_name);
    struct base_buffer path = BASE_BUFFER_EMPTY;
    if (length < 5 || strcmp(entry->d_name + length - 5, ".lang") != 0) continue;
    base_buffer_printf(&path, "%s/%s", corpus_directory(), entry->d_name);
    on_file(base_buffer_text(&path));
    base_buffer_done(&path);
  }
  closedir(directory);
}

START_TEST(corpus_is_as_reviewed) {
  blocks = files = 0;
  each_file(run_file);
  ck_assert_uint_ge(files, 3);
  ck_assert_uint_ge(blocks, 60);
}
END_TEST

/* --- damage ----------------------------------------------------------------------------------- */

static struct base_random random_state = {.state = 1982};

static size_t below(size_t bound) {
  return (size_t)base_random_below(&random_state, bound);
}

static void damage(struct base_buffer *text) {
  static const char *const pieces[] = {
      "(",  ")",  ";",    ",",     "|",        ".", " start ",       "retrieve ",
      "\"", "`",  "5 ",   "\\g",   " within ", "=", " is ",          "--",
      "/*", "\n", "\xff", " not ", " s",       "-", "set rule a-b ", " of ",
      "."};
  size_t at = below(text->length + 1), length = below(12);
  if (at + length > text->length) length = text->length - at;
  const char *piece = pieces[below(sizeof pieces / sizeof pieces[0])];
  struct base_buffer result = BASE_BUFFER_EMPTY;
  base_buffer_append(&result, base_buffer_text(text), at);
  if (below(2) == 0) base_buffer_puts(&result, piece);
  if (below(3) != 0) length = 0;
  base_buffer_append(&result, base_buffer_text(text) + at + length, text->length - at - length);
  base_buffer_done(text);
  *text = result;
}

static void count_word(void *context, const char *word) {
  (void)word;
  (*(size_t *)context)++;
}

static void try_damaged(const struct base_buffer *text) {
  struct parsed parsed;
  size_t words = 0;
  parse(&parsed, base_buffer_text(text), text->length);
  ck_assert_int_eq(parsed.ok, parsed.diags.errors == 0);
  check_fixed_point(&parsed);
  enum tql_completeness complete = tql_completeness(base_buffer_text(text), text->length);
  ck_assert_msg((complete == TQL_COMPLETE || complete == TQL_EMPTY) == parsed.ok,
                "completeness of %s", base_buffer_text(text));
  if (below(20) == 0) tql_expected(base_buffer_text(text), text->length, count_word, &words);
  parsed_done(&parsed);
}

static void damage_file(const char *path) {
  size_t length;
  char *content = read_file(path, &length);
  for (int round = 0; round < 3000; round++) {
    struct base_buffer text = BASE_BUFFER_EMPTY;
    size_t from = below(length), some = below(300);
    if (from + some > length) some = length - from;
    base_buffer_append(&text, content + from, some);
    for (size_t i = below(4); i > 0; i--) damage(&text);
    try_damaged(&text);
    base_buffer_done(&text);
  }
  free(content);
}

START_TEST(damage_is_survived) {
  each_file(damage_file);
}
END_TEST

/* --- random trees ----------------------------------------------------------------------------- */

START_TEST(random_expressions_are_read_back) {
  for (unsigned round = 0, most = amount(5000, 20000); round < most; round++) {
    struct base_arena *arena = base_arena_new();
    struct base_buffer text = BASE_BUFFER_EMPTY;
    const struct tql_expr *expr = lang_random_expr(arena, &random_state, 6);
    base_buffer_puts(&text, "retrieve X when ");
    tql_print_expr(&text, expr);
    struct parsed parsed;
    parse(&parsed, base_buffer_text(&text), text.length);
    ck_assert_msg(parsed.ok && parsed.count == 1, "does not parse: %s", base_buffer_text(&text));
    ck_assert_msg(lang_same_expr(expr, parsed.statements[0]->clauses.when), "another tree: %s",
                  base_buffer_text(&text));
    check_fixed_point(&parsed);
    parsed_done(&parsed);
    base_buffer_done(&text);
    base_arena_free(arena);
  }
}
END_TEST

START_TEST(random_statements_are_read_back) {
  for (int round = 0; round < 20000; round++) {
    struct base_arena *arena = base_arena_new();
    struct base_buffer text = BASE_BUFFER_EMPTY;
    const struct tql_statement *statement = lang_random_statement(arena, &random_state);
    tql_print_statement(&text, statement);
    struct parsed parsed;
    parse(&parsed, base_buffer_text(&text), text.length);
    ck_assert_msg(parsed.ok && parsed.count == 1, "does not parse: %s", base_buffer_text(&text));
    ck_assert_msg(lang_same_statement(statement, parsed.statements[0]), "another tree: %s",
                  base_buffer_text(&text));
    parsed_done(&parsed);
    base_buffer_done(&text);
    base_arena_free(arena);
  }
}
END_TEST

/* The comparison itself can fail. */
START_TEST(different_trees_are_told_apart) {
  static const char *const pairs[][2] = {
      {"retrieve X when a ; b", "retrieve X when a , b"},
      {"retrieve X (y = 1)", "retrieve X (y = 1.0)"},
      {"retrieve X when a, (b, c)", "retrieve X when a, b, c"},
      {"retrieve X when a ; within 5 b", "retrieve X when a ; b"},
      {"append R (x = 1) at a", "append R (x = 1) valid at a"},
      {"retrieve X", "retrieve X ()"},
      {"create event R (a = i4)", "create event R (a = i8)"},
      {"copy R from \"f\" following", "copy R from \"f\""},
      {"set x on", "set x off"},
  };
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    struct parsed a, b;
    parse(&a, pairs[i][0], strlen(pairs[i][0]));
    parse(&b, pairs[i][1], strlen(pairs[i][1]));
    ck_assert(a.ok && b.ok && a.count == 1 && b.count == 1);
    ck_assert_msg(!lang_same_statement(a.statements[0], b.statements[0]), "%s", pairs[i][0]);
    ck_assert(lang_same_statement(a.statements[0], a.statements[0]));
    parsed_done(&a);
    parsed_done(&b);
  }
}
END_TEST

/* --- words ------------------------------------------------------------------------------------ */

START_TEST(keyword_list_agrees_with_the_grammar) {
  size_t count;
  const struct tql_word *words = tql_words(&count);
  for (size_t i = 0; i < count; i++) {
    ck_assert_str_eq(words[i].text, tql_token_name(words[i].token));
    ck_assert(tql_word_find(words[i].text, strlen(words[i].text)) == &words[i]);
    if (i > 0) ck_assert_int_lt(strcmp(words[i - 1].text, words[i].text), 0);
  }
  const char *const *reserved = tql_keywords();
  for (size_t i = 0; reserved[i] != NULL; i++) {
    ck_assert(tql_is_keyword(reserved[i]));
    if (i > 0) ck_assert_int_lt(strcmp(reserved[i - 1], reserved[i]), 0);
  }
  ck_assert(tql_is_keyword("RetrieVe"));
  ck_assert(!tql_is_keyword("event"));
  ck_assert(!tql_is_keyword("retriev"));
  ck_assert(!tql_is_keyword("retrieves"));
  ck_assert(!tql_is_keyword(""));
}
END_TEST

/* --- completeness and completion -------------------------------------------------------------- */

START_TEST(completeness_is_told) {
  static const struct {
    const char *text;
    enum tql_completeness answer;
  } rows[] = {
      {"", TQL_EMPTY},
      {" -- x", TQL_EMPTY},
      {"/* x */\n", TQL_EMPTY},
      {"/* x", TQL_INCOMPLETE},
      {"retrieve", TQL_COMPLETE},
      {"retrieve (", TQL_INCOMPLETE},
      {"retrieve (e.x", TQL_INCOMPLETE},
      {"retrieve (e.x)", TQL_COMPLETE},
      {"retrieve (e.x) where", TQL_INCOMPLETE},
      {"retrieve (e.x) where \"a", TQL_INCOMPLETE},
      {"retrieve (e.x) where \"a\n", TQL_ERROR},
      {"retrieve (e.x) ;", TQL_COMPLETE},
      {"retrieve (e.x) wher", TQL_ERROR},
      {"range of", TQL_INCOMPLETE},
      {"range of E is R\n", TQL_COMPLETE},
      {"help", TQL_COMPLETE},
      {"copy R", TQL_INCOMPLETE},
      {"define", TQL_INCOMPLETE},
      {"foo", TQL_ERROR},
      {"display A display", TQL_INCOMPLETE},
      {"retrieve (`a", TQL_INCOMPLETE},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    ck_assert_msg(tql_completeness(rows[i].text, strlen(rows[i].text)) == rows[i].answer, "%s",
                  rows[i].text);
  }
}
END_TEST

static void collect_word(void *context, const char *word) {
  base_buffer_printf(context, "%s ", word);
}

START_TEST(completion_knows_what_may_come) {
  static const struct {
    const char *text, *words;
  } rows[] = {
      {"range ", "of "},
      {"range of E ", "is "},
      {"range of E is ", "<relation> file "},
      {"range of E is R with ", "credibility "},
      {"retrieve (E.", "<domain> all "},
      {"copy R ", "from into "},
      {"copy R from ", "<string> "},
      {"explain analyze ", "retrieve "},
      {"display ", "<relation> "},
      {"nonsense here ", ""},
      {"nonsense here range ", "of "},
      {"create ", "<name> event period persistent plain sampled traced "},
      {"create traced R (x = i4) by ", "<domain> "},
      {"create traced R (x = i4) by x, ", "<domain> "},
      {"retrieve X when A.", "<domain> start stop time "},
      {"define ", "integrity permit view "},
      {"retrieve (E.x) unless ", "<variable> "},
      {"retrieve (E.x) unless l where l.", "<domain> start stop time "},
      {"retrieve X (E.x) unless l ",
       "; \\g append at checkpoint copy create define delete destroy display explain help index "
       "modify print range replace retrieve save set start stop valid when where limit offset sort "
       "unless "},
      {"set ", "<name> rule "},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct base_buffer words = BASE_BUFFER_EMPTY;
    tql_expected(rows[i].text, strlen(rows[i].text), collect_word, &words);
    ck_assert_msg(strcmp(base_buffer_text(&words), rows[i].words) == 0, "after \"%s\" came \"%s\"",
                  rows[i].text, base_buffer_text(&words));
    base_buffer_done(&words);
  }
}
END_TEST

/* --- places ----------------------------------------------------------------------------------- */

START_TEST(statements_know_their_text_and_place) {
  static const char text[] = "-- first\n  display A , B -- after\n;\n\trange of E\n is R \\g";
  struct parsed parsed;
  parse(&parsed, text, sizeof text - 1);
  ck_assert_uint_eq(parsed.count, 2);
  ck_assert_str_eq(parsed.statements[0]->text, "display A , B");
  ck_assert_str_eq(parsed.statements[1]->text, "range of E\n is R");
  ck_assert_uint_eq(parsed.statements[1]->text_length, 16);
  ck_assert_int_eq(parsed.statements[0]->range.first_line, 2);
  ck_assert_int_eq(parsed.statements[0]->range.first_column, 3);
  ck_assert_int_eq(parsed.statements[0]->range.last_column, 16);
  ck_assert_int_eq(parsed.statements[1]->range.first_line, 4);
  ck_assert_int_eq(parsed.statements[1]->range.first_column, 2);
  ck_assert_int_eq(parsed.statements[1]->range.last_line, 5);
  parsed_done(&parsed);
}
END_TEST

START_TEST(odd_beginnings_and_ends) {
  static const char *const texts[] = {"\xef\xbb\xbf display A", "display A\r\n", "display A\v\f;",
                                      "display A;\\g",          "\\g display A", "display A -- x"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    struct parsed parsed;
    parse(&parsed, texts[i], strlen(texts[i]));
    ck_assert_msg(parsed.ok && parsed.count == 1, "text %zu", i);
    ck_assert_str_eq(parsed.statements[0]->text, "display A");
    parsed_done(&parsed);
  }
  struct parsed nothing;
  parse(&nothing, NULL, 0);
  ck_assert(nothing.ok && nothing.count == 0);
  parsed_done(&nothing);
}
END_TEST

/* A script with an error runs up to it; the line numbers count from what the caller says. */
START_TEST(statements_before_an_error_are_kept) {
  static const char text[] = "display A\ndisplay B\ndisplay 5\ndisplay C\ndisplay 6";
  struct base_arena *arena = base_arena_new();
  struct base_diag_sink diags;
  struct base_source source = {.name = "t", .text = text, .length = sizeof text - 1};
  size_t count;
  bool ok;
  base_diag_sink_init(&diags);
  tql_parse(arena, &source, 11, &diags, &count, &ok);
  ck_assert(!ok);
  ck_assert_uint_eq(count, 2);
  ck_assert_uint_eq(diags.errors, 2);
  ck_assert_int_eq(diags.items[0].range.first_line, 13);
  ck_assert_int_eq(diags.items[1].range.first_line, 15);
  base_diag_sink_done(&diags);
  base_arena_free(arena);
}
END_TEST

START_TEST(strings_hold_any_byte_of_utf8) {
  static const char text[] = "append R (x = \"a\0b\\\"\\\\\\n\\t\xc3\xa9\")";
  struct parsed parsed;
  parse(&parsed, text, sizeof text - 1);
  ck_assert(parsed.ok && parsed.count == 1);
  const struct tql_expr *value = parsed.statements[0]->targets.items[0].expr;
  ck_assert_uint_eq(value->length, 9);
  ck_assert_mem_eq(value->name.text, "a\0b\"\\\n\t\xc3\xa9", 10);
  check_fixed_point(&parsed);
  parsed_done(&parsed);
}
END_TEST

/* --- hostile sizes ---------------------------------------------------------------------------- */

static double seconds_of(const char *piece, const char *before, const char *after, int number) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_puts(&text, before);
  while (text.length < 1000000) base_buffer_puts(&text, piece);
  base_buffer_puts(&text, after);
  struct parsed parsed;
  clock_t begun = clock();
  parse(&parsed, base_buffer_text(&text), text.length);
  double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
  ck_assert_msg(parsed.ok == (number == 0), "%s...", piece);
  if (number != 0) ck_assert_int_eq((int)parsed.diags.items[0].number, number);
  tql_completeness(base_buffer_text(&text), text.length);
  parsed_done(&parsed);
  base_buffer_done(&text);
  return seconds;
}

START_TEST(a_megabyte_is_no_trouble) {
  static const struct {
    const char *before, *piece, *after;
    int number;
  } rows[] = {
      {"retrieve (x = ", "(", "", 204},
      {"retrieve X when ", "not ", "a", 204},
      {"retrieve X when ", "begin of ", "a", 204},
      {"retrieve (x = ", "- ", "1)", 204},
      {"retrieve (x = 1", "+1", ")", 204},
      {"retrieve X when a", ".start", "", 204},
      {"retrieve (x = ", "f(", "", 204},
      {"retrieve (x = e.y", ", x = e.y", ")", 0},
      {"display a", ", b", "", 0},
      {"", "retrieve (e.x) where e.y = 1\n", "", 0},
      {"", "; /* x */", "", 201},
      {"", "/* ", "", 202},
      {"", "\"", "\"", 201},
      {"retrieve (x = \"", "long ", "\")", 0},
      {"retrieve (x = ", "9", ")", 203},
      {"retrieve (x = ", "#", ")", 202},
      {"retrieve (x = e.", "y", ")", 0},
      {"", "retrieve (", "", 201},
      {"set rule a", "-b", " on", 0},
      {"/* ", "* /", "*/", 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    double seconds = seconds_of(rows[i].piece, rows[i].before, rows[i].after, rows[i].number);
    ck_assert_msg(seconds < 10, "%s...: %.1f s", rows[i].piece, seconds);
  }
}
END_TEST

START_TEST(depth_is_bounded_exactly) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  struct parsed parsed;
  base_buffer_puts(&text, "retrieve (x = 1");
  for (int i = 1; i < TQL_DEPTH_MAX; i++) base_buffer_puts(&text, " + 1");
  base_buffer_puts(&text, ")");
  parse(&parsed, base_buffer_text(&text), text.length);
  ck_assert(parsed.ok);
  ck_assert_int_eq(parsed.statements[0]->targets.items[0].expr->depth, TQL_DEPTH_MAX);
  check_fixed_point(&parsed);
  parsed_done(&parsed);
  text.length--;
  base_buffer_puts(&text, " + 1)");
  parse(&parsed, base_buffer_text(&text), text.length);
  ck_assert(!parsed.ok);
  ck_assert_int_eq((int)parsed.diags.items[0].number, 204);
  parsed_done(&parsed);
  base_buffer_done(&text);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("lang");
  TCase *tests = tcase_create("lang");
  tcase_set_timeout(tests, 300);
  tcase_add_test(tests, corpus_is_as_reviewed);
  tcase_add_test(tests, damage_is_survived);
  tcase_add_test(tests, random_expressions_are_read_back);
  tcase_add_test(tests, random_statements_are_read_back);
  tcase_add_test(tests, different_trees_are_told_apart);
  tcase_add_test(tests, keyword_list_agrees_with_the_grammar);
  tcase_add_test(tests, completeness_is_told);
  tcase_add_test(tests, completion_knows_what_may_come);
  tcase_add_test(tests, statements_know_their_text_and_place);
  tcase_add_test(tests, odd_beginnings_and_ends);
  tcase_add_test(tests, statements_before_an_error_are_kept);
  tcase_add_test(tests, strings_hold_any_byte_of_utf8);
  tcase_add_test(tests, a_megabyte_is_no_trouble);
  tcase_add_test(tests, depth_is_bounded_exactly);
  suite_add_tcase(suite, tests);
  SRunner *runner = srunner_create(suite);
  srunner_set_fork_status(runner, CK_NOFORK);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? 0 : 1;
}
