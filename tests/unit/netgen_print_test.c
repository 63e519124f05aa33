/* Lowered expressions in words: every operator, parentheses exactly where they are needed, constants
 * that read back. What explain says of a node is made of these. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "netgen/expr.h"
#include "tests/unit/netgen_queries.h"

static struct ng_plan *plan;

static void set_up(void) {
  nq_set_up();
  plan = ng_plan_new(nq_arena, nq_strings, NET_TIMELINE_ABSTRACT);
}

static const struct ng_expr *column(const char *name, enum net_base_type base, uint32_t width) {
  struct ng_column *column = BASE_NEW(nq_arena, struct ng_column);
  column->name = name;
  column->type = (struct net_type){base, width};
  struct ng_expr *expr = BASE_NEW(nq_arena, struct ng_expr);
  expr->op = NG_COLUMN;
  expr->type = column->type;
  expr->column = column;
  return expr;
}

static const struct ng_expr *made(enum ng_op op, enum net_base_type base, int64_t integer,
                                  unsigned count, const char *const *names) {
  struct ng_expr *expr = BASE_NEW(nq_arena, struct ng_expr);
  expr->op = op;
  expr->type = (struct net_type){base, 8};
  expr->integer = integer;
  expr->arg_count = count;
  for (unsigned i = 0; i < count; i++)
    expr->args[i] = column(names[i], op >= NG_COLUMN ? NET_INSTANT : base, 8);
  return expr;
}

static void expect(const struct ng_expr *expr, const char *text) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  ng_expr_print(&out, plan, expr);
  ck_assert_str_eq(base_buffer_text(&out), text);
  base_buffer_done(&out);
}

static const char *const names[] = {"a", "b", "c", "d"};

static const struct {
  enum ng_op op;
  enum net_base_type base;
  int64_t integer;
  unsigned count;
  const char *text;
} forms[] = {
    {NG_NEG, NET_INTEGER, 0, 1, "-a"},
    {NG_ADD, NET_INTEGER, 0, 2, "a + b"},
    {NG_SUB, NET_FLOAT, 0, 2, "a - b"},
    {NG_MUL, NET_FLOAT, 0, 2, "a * b"},
    {NG_DIV, NET_INTEGER, 0, 2, "a / b"},
    {NG_MOD, NET_INTEGER, 0, 2, "a mod b"},
    {NG_POWER, NET_INTEGER, 0, 2, "a ** b"},
    {NG_ABS, NET_INTEGER, 0, 1, "abs(a)"},
    {NG_SQRT, NET_FLOAT, 0, 1, "sqrt(a)"},
    {NG_LOG, NET_FLOAT, 0, 1, "log(a)"},
    {NG_EXP, NET_FLOAT, 0, 1, "exp(a)"},
    {NG_SIN, NET_FLOAT, 0, 1, "sin(a)"},
    {NG_COS, NET_FLOAT, 0, 1, "cos(a)"},
    {NG_ATAN, NET_FLOAT, 0, 1, "atan(a)"},
    {NG_ASCII, NET_STRING, 0, 1, "ascii(a)"},
    {NG_CONCAT, NET_STRING, 0, 2, "concat(a, b)"},
    {NG_LEFT, NET_STRING, 0, 2, "left(a, b)"},
    {NG_RIGHT, NET_STRING, 0, 2, "right(a, b)"},
    {NG_LENGTH, NET_STRING, 0, 1, "length(a)"},
    {NG_EQ, NET_INTEGER, 0, 2, "a = b"},
    {NG_NE, NET_INTEGER, 0, 2, "a != b"},
    {NG_LT, NET_INTEGER, 0, 2, "a < b"},
    {NG_LE, NET_INTEGER, 0, 2, "a <= b"},
    {NG_GT, NET_INTEGER, 0, 2, "a > b"},
    {NG_GE, NET_INTEGER, 0, 2, "a >= b"},
    {NG_AND, NET_BOOL, 0, 2, "a and b"},
    {NG_OR, NET_BOOL, 0, 2, "a or b"},
    {NG_NOT, NET_BOOL, 0, 1, "not a"},
    {NG_DURATION, NET_TEMPORAL, 0, 1, "duration(a)"},
    {NG_LATER, NET_INSTANT, 0, 2, "later(a, b)"},
    {NG_EARLIER, NET_INSTANT, 0, 2, "earlier(a, b)"},
    {NG_INTERSECT, NET_INSTANT, 0, 2, "intersection(a, b)"},
    {NG_BEFORE, NET_BOOL, 0, 2, "a before b"},
    {NG_NOT_AFTER, NET_BOOL, 0, 2, "a not after b"},
    {NG_EQUAL_INSTANTS, NET_BOOL, 0, 2, "a coincides with b"},
    {NG_WITHIN, NET_BOOL, 12, 2, "b within 12 of a"},
    {NG_OVERLAP_PERIODS, NET_BOOL, 0, 4, "[a, b) overlaps [c, d)"},
    {NG_OVERLAP_EVENT, NET_BOOL, 0, 3, "a in [b, c)"},
    {NG_EQUAL_PERIODS, NET_BOOL, 0, 4, "[a, b) equals [c, d)"},
    {NG_CONTAIN, NET_BOOL, 0, 4, "[a, b) contains [c, d)"},
    {NG_REBASE, NET_TEMPORAL, 0, 3, "rebase(a, b, c)"},
    {NG_SPAN_OF, NET_INTEGER, 0, 2, "span(a, b)"},
    {NG_SPAN_OF, NET_INTEGER, 1, 2, "span_lo(a, b)"},
    {NG_SPAN_OF, NET_INTEGER, 2, 2, "span_hi(a, b)"},
    {NG_CHRONON_OF, NET_INTEGER, 0, 1, "chronon(a)"},
    {NG_CHRONON_OF, NET_INTEGER, 1, 1, "chronon_lo(a)"},
    {NG_CHRONON_OF, NET_INTEGER, 2, 1, "chronon_hi(a)"},
};

START_TEST(every_operator) {
  expect(made(forms[_i].op, forms[_i].base, forms[_i].integer, forms[_i].count, names),
         forms[_i].text);
}
END_TEST

static const struct ng_expr *unary(enum ng_op op, const struct ng_expr *a) {
  struct ng_expr *expr = BASE_NEW(nq_arena, struct ng_expr);
  *expr = (struct ng_expr){.op = op, .type = a->type, .args = {a}, .arg_count = 1};
  return expr;
}

/* Left operands of the same strength need none, right ones do unless it makes no difference. */
START_TEST(parentheses) {
  const struct ng_expr *a = column("a", NET_INTEGER, 8), *b = column("b", NET_INTEGER, 8),
                       *c = column("c", NET_INTEGER, 8);
  expect(nq_binary(NG_SUB, nq_binary(NG_SUB, a, b), c), "a - b - c");
  expect(nq_binary(NG_SUB, a, nq_binary(NG_SUB, b, c)), "a - (b - c)");
  expect(nq_binary(NG_ADD, a, nq_binary(NG_ADD, b, c)), "a + b + c");
  expect(nq_binary(NG_MOD, nq_binary(NG_ADD, a, b), c), "(a + b) mod c");
  expect(nq_binary(NG_ADD, nq_binary(NG_DIV, a, b), c), "a / b + c");
  expect(unary(NG_NEG, nq_binary(NG_MUL, a, b)), "-(a * b)");
  expect(unary(NG_NEG, nq_binary(NG_POWER, a, b)), "-a ** b");
  expect(nq_binary(NG_POWER, unary(NG_NEG, a), b), "(-a) ** b");
  expect(nq_binary(NG_AND, nq_binary(NG_OR, a, b), c), "(a or b) and c");
  expect(nq_binary(NG_OR, nq_binary(NG_AND, a, b), c), "a and b or c");
  expect(unary(NG_NOT, nq_binary(NG_AND, a, b)), "not (a and b)");
  expect(unary(NG_NOT, nq_binary(NG_EQ, a, b)), "not a = b");
  expect(nq_binary(NG_EQ, unary(NG_NOT, a), b), "(not a) = b");
  expect(nq_binary(NG_EQ, nq_binary(NG_LT, a, b), c), "a < b = c");
  expect(nq_binary(NG_EQ, a, nq_binary(NG_LT, b, c)), "a = (b < c)");
}
END_TEST

START_TEST(constants) {
  struct ng_expr expr = {.op = NG_INTEGER, .integer = INT64_MIN};
  expect(&expr, "-9223372036854775808");
  expr = (struct ng_expr){.op = NG_FLOAT, .real = 3};
  expect(&expr, "3.0");
  expr.real = -0.25;
  expect(&expr, "-0.25");
  expr.real = 1e300;
  expect(&expr, "1e+300");
  expr = (struct ng_expr){.op = NG_TRUTH, .integer = 1};
  expect(&expr, "true");
  expr.integer = 0;
  expect(&expr, "false");
  expr = (struct ng_expr){.op = NG_INSTANT, .instant = {5, 5}};
  expect(&expr, "5");
  expr.instant = (struct net_instant){5, NET_FOREVER};
  expect(&expr, "{5..forever}");
  expect(nq_string("a \"b\" \\ \n\t\x01\x7f \xc3\xa4"),
         "\"a \\\"b\\\" \\\\ \\n\\t\\x01\\x7f \xc3\xa4\"");
}
END_TEST

START_TEST(shifts_patterns_and_conversions) {
  struct ng_expr shift = {.op = NG_SHIFT,
                          .type = {NET_INSTANT, 0},
                          .args = {column("e.at", NET_INSTANT, 0)},
                          .arg_count = 1,
                          .integer = -7};
  expect(&shift, "e.at - 7");
  shift.integer = INT64_MIN;
  expect(&shift, "e.at - 9223372036854775808");
  shift.integer = 60;
  expect(&shift, "e.at + 60");
  const struct ng_expr *text = column("e.s", NET_STRING, 0);
  struct ng_expr matches = {.op = NG_MATCHES,
                            .type = {NET_BOOL, 0},
                            .args = {text},
                            .arg_count = 1,
                            .string = base_strings_intern_text(nq_strings, "a*")};
  expect(&matches, "e.s matches \"a*\"");
  expect(nq_convert(column("e.x", NET_INTEGER, 8), (struct net_type){NET_FLOAT, 8}), "e.x");
  expect(nq_convert(text, (struct net_type){NET_INTEGER, 8}), "i8(e.s)");
  expect(nq_convert(text, (struct net_type){NET_NAME, 0}), "e.s");
}
END_TEST

int main(void) {
  Suite *suite = suite_create("netgen_print");
  TCase *tcase = tcase_create("print");
  tcase_add_checked_fixture(tcase, set_up, nq_tear_down);
  tcase_add_loop_test(tcase, every_operator, 0, (int)(sizeof forms / sizeof forms[0]));
  tcase_add_test(tcase, parentheses);
  tcase_add_test(tcase, constants);
  tcase_add_test(tcase, shifts_patterns_and_conversions);
  suite_add_tcase(suite, tcase);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
