/* Expression programs against their definitions: integers against 128-bit arithmetic, temporal values
 * against the quotients they stand for, open stops against every way they may close.                */
#include "engine/expr.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "engine/base/env.h"
#include "engine/base/status.h"
#include "engine/batch.h"
#include "tests/amount.h"

__extension__ typedef __int128 wide;

static struct base_arena *arena;
static struct base_strings *strings;

static void set_up(void) {
  arena = base_arena_new();
  strings = base_strings_new();
}

static void tear_down(void) {
  base_arena_free(arena);
  base_strings_free(strings);
}

/* --- short ways to write programs */

static struct net_program *program_of(size_t count, const struct net_step *steps) {
  struct net_program *program = net_program_new(arena, NET_TIMELINE_ABSTRACT, strings);
  for (size_t i = 0; i < count; i++) net_program_emit(arena, program, steps[i]);
  net_program_finish(program);
  return program;
}
#define PROGRAM(...)                                                             \
  program_of(sizeof((struct net_step[]){__VA_ARGS__}) / sizeof(struct net_step), \
             (struct net_step[]){__VA_ARGS__})
#define OP(NAME) \
  { .op = NET_OP_##NAME }
#define OP_I(NAME, I) \
  { .op = NET_OP_##NAME, .i = (I) }
#define INT(I) \
  { .op = NET_OP_INTEGER, .i = (I) }
#define FLT(F) \
  { .op = NET_OP_FLOAT, .f = (F) }
#define TRUTH(T) \
  { .op = NET_OP_TRUTH, .i = (T) }
#define AT(LO, HI)                                       \
  {                                                      \
    .op = NET_OP_CONST_INSTANT, .instant = {(LO), (HI) } \
  }
#define SLOT(NAME, S) \
  { .op = NET_OP_##NAME, .slot = (S) }

static struct net_value result;

static enum net_eval_error run_on(const struct net_program *program, const union net_slot *row,
                                  net_chronon bound) {
  return net_program_run(program, row, bound, &result);
}
static enum net_eval_error run(const struct net_program *program) {
  return run_on(program, NULL, NET_BEGINNING);
}

static const int64_t edges[] = {
    INT64_MIN,  INT64_MIN + 1, -3037000500,   -4294967296,   -7,       -2, -1, 0, 1, 2, 3, 10,
    4294967296, 3037000500,    INT64_MAX / 2, INT64_MAX - 1, INT64_MAX};
enum { EDGES = sizeof edges / sizeof edges[0] };

/* --- numbers */

static void expect_integer(enum net_op op, int64_t a, int64_t b, wide exact) {
  const struct net_program *program = PROGRAM(INT(a), INT(b), {.op = op});
  enum net_eval_error error = run(program);
  ck_assert(program->can_fail);
  if (exact < INT64_MIN || exact > INT64_MAX) {
    ck_assert_int_eq(error, NET_EVAL_OVERFLOW);
  } else {
    ck_assert_int_eq(error, NET_EVAL_OK);
    ck_assert_int_eq(result.i, (int64_t)exact);
  }
}

START_TEST(integers) {
  for (int i = 0; i < EDGES; i++) {
    wide a = edges[i];
    enum net_eval_error error = run(PROGRAM(INT(edges[i]), OP(I_NEG)));
    ck_assert(a == INT64_MIN ? error == NET_EVAL_OVERFLOW : result.i == -edges[i]);
    error = run(PROGRAM(INT(edges[i]), OP(I_ABS)));
    ck_assert(a == INT64_MIN ? error == NET_EVAL_OVERFLOW : result.i == llabs(edges[i]));
    for (int j = 0; j < EDGES; j++) {
      wide b = edges[j];
      expect_integer(NET_OP_I_ADD, edges[i], edges[j], a + b);
      expect_integer(NET_OP_I_SUB, edges[i], edges[j], a - b);
      expect_integer(NET_OP_I_MUL, edges[i], edges[j], a * b);
      if (b != 0) {
        expect_integer(NET_OP_I_DIV, edges[i], edges[j], a / b);
        expect_integer(NET_OP_I_MOD, edges[i], edges[j], a % b);
      }
    }
    ck_assert_int_eq(run(PROGRAM(INT(edges[i]), INT(0), OP(I_DIV))), NET_EVAL_DIVISION);
    ck_assert_int_eq(run(PROGRAM(INT(edges[i]), INT(0), OP(I_MOD))), NET_EVAL_DIVISION);
  }
}
END_TEST

START_TEST(integers_fit) {
  for (int64_t width = 1; width <= 8; width *= 2) {
    for (int i = 0; i < EDGES; i++) {
      wide limit = (wide)1 << (8 * width - 1);
      bool fits = edges[i] >= -limit && edges[i] < limit;
      ck_assert_int_eq(run(PROGRAM(INT(edges[i]), OP_I(INTEGER_FITS, width))),
                       fits ? NET_EVAL_OK : NET_EVAL_RANGE);
    }
  }
}
END_TEST

START_TEST(floats) {
  ck_assert_int_eq(run(PROGRAM(FLT(1e308), FLT(10), OP(F_MUL))), NET_EVAL_NUMBER);
  ck_assert_int_eq(run(PROGRAM(FLT(1), FLT(0), OP(F_DIV))), NET_EVAL_DIVISION);
  ck_assert_int_eq(run(PROGRAM(FLT(-8), FLT(1.0 / 3), OP(F_POWER))), NET_EVAL_NUMBER);
  ck_assert_int_eq(run(PROGRAM(FLT(0), FLT(-1), OP(F_POWER))), NET_EVAL_NUMBER);
  ck_assert_int_eq(run(PROGRAM(FLT(-1), OP(F_SQRT))), NET_EVAL_NUMBER);
  ck_assert_int_eq(run(PROGRAM(FLT(0), OP(F_LOG))), NET_EVAL_NUMBER);
  ck_assert_int_eq(run(PROGRAM(FLT(1000), OP(F_EXP))), NET_EVAL_NUMBER);
  ck_assert_int_eq(run(PROGRAM(FLT(-2), FLT(3), OP(F_POWER))), NET_EVAL_OK);
  ck_assert(result.f == -8);
  ck_assert_int_eq(run(PROGRAM(FLT(0.1), FLT(0.2), OP(F_ADD))), NET_EVAL_OK);
  ck_assert(result.f == 0.1 + 0.2);
}
END_TEST

START_TEST(no_negative_zero) {
  const struct net_program *programs[] = {
      PROGRAM(FLT(0), OP(F_NEG)),
      PROGRAM(FLT(-0.0)),
      PROGRAM(FLT(-1), FLT(0), OP(F_MUL)),
      PROGRAM(FLT(-1e-300), FLT(1e300), OP(F_DIV)),
      PROGRAM(FLT(-1e-300), FLT(1e-300), OP(F_MUL)),
      PROGRAM(FLT(0), OP(F_NEG), OP(F_SIN)),
  };
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
    ck_assert_int_eq(run(programs[i]), NET_EVAL_OK);
    ck_assert_msg(result.f != 0 || !signbit(result.f), "program %zu", i);
  }
}
END_TEST

START_TEST(conversions) {
  ck_assert_int_eq(run(PROGRAM(FLT(-2.9), OP(F_TO_I))), NET_EVAL_OK);
  ck_assert_int_eq(result.i, -2);
  ck_assert_int_eq(run(PROGRAM(FLT(-0x1p63), OP(F_TO_I))), NET_EVAL_OK);
  ck_assert_int_eq(result.i, INT64_MIN);
  ck_assert_int_eq(run(PROGRAM(FLT(0x1p63), OP(F_TO_I))), NET_EVAL_RANGE);
  ck_assert_int_eq(run(PROGRAM(FLT(-0x1.0000000000001p63), OP(F_TO_I))), NET_EVAL_RANGE);
  ck_assert_int_eq(run(PROGRAM(TRUTH(NET_TRUE), OP(TRUTH_TO_I))), NET_EVAL_OK);
  ck_assert_int_eq(result.i, 1);
  ck_assert_int_eq(run(PROGRAM(TRUTH(NET_UNKNOWN), OP(TRUTH_TO_I))), NET_EVAL_RANGE);
  ck_assert_int_eq(run(PROGRAM(INT(7), OP(I_TO_TEMPORAL))), NET_EVAL_OK);
  ck_assert(result.temporal.n0 == 7 && result.temporal.d0 == 1 && result.temporal.d1 == 0);
}
END_TEST

START_TEST(comparisons) {
  for (int a = 0; a < 3; a++) {
    for (int b = 0; b < 3; b++) {
      bool expected[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
      static const char *const words[] = {"a", "aa", "b"};
      base_string_id s = base_strings_intern_text(strings, words[a]);
      base_string_id t = base_strings_intern_text(strings, words[b]);
      for (int c = NET_EQ; c <= NET_GE; c++) {
        enum net_truth truth = expected[c] ? NET_TRUE : NET_FALSE;
        run(PROGRAM(INT(a), INT(b), OP_I(I_COMPARE, c)));
        ck_assert_int_eq(result.truth, truth);
        ck_assert_int_eq(result.i, truth);
        run(PROGRAM(FLT(a), FLT(b), OP_I(F_COMPARE, c)));
        ck_assert_int_eq(result.truth, truth);
        run(PROGRAM({.op = NET_OP_STRING, .s = s}, {.op = NET_OP_STRING, .s = t},
                    OP_I(S_COMPARE, c)));
        ck_assert_int_eq(result.truth, truth);
        run(PROGRAM(TRUTH(a), TRUTH(b), OP_I(B_COMPARE, c)));
        ck_assert_int_eq(result.truth, a == 1 || b == 1 ? NET_UNKNOWN : truth);
      }
    }
  }
}
END_TEST

/* Around 2^53, where doubles begin to leave integers out, at the ends of the integers and beyond. */
START_TEST(integers_with_floats) {
  static const struct {
    int64_t a;
    double b;
    int order;
  } cases[] = {
      {3, 3.0, 0},
      {3, 3.5, -1},
      {4, 3.5, 1},
      {-3, -3.5, 1},
      {-4, -3.5, -1},
      {0, 0x1p-1074, -1},
      {0, -0x1p-1074, 1},
      {9007199254740992, 9007199254740992.0, 0},
      {9007199254740993, 9007199254740992.0, 1},
      {9007199254740993, 9007199254740994.0, -1},
      {INT64_MAX, 0x1p63, -1},
      {INT64_MAX, 0x1.fffffffffffffp62, 1},
      {INT64_MIN, -0x1p63, 0},
      {INT64_MIN, -0x1.0000000000001p63, 1},
      {INT64_MIN + 1, -0x1p63, 1},
      {INT64_MAX, DBL_MAX, -1},
      {INT64_MIN, -DBL_MAX, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int order = cases[i].order;
    bool expected[] = {order == 0, order != 0, order<0, order <= 0, order> 0, order >= 0};
    for (int c = NET_EQ; c <= NET_GE; c++) {
      run(PROGRAM(INT(cases[i].a), FLT(cases[i].b), OP_I(I_F_COMPARE, c)));
      ck_assert_int_eq(result.truth, expected[c] ? NET_TRUE : NET_FALSE);
    }
  }
}
END_TEST

/* --- temporal values, against the quotient at points without poles */

static double value_at(struct net_temporal v, double tau) {
  return (v.n0 + v.n1 * tau) / (v.d0 + v.d1 * tau);
}

static enum net_eval_error run_temporal(enum net_op op, struct net_temporal a,
                                        struct net_temporal b) {
  union net_slot row[8] = {{.f = a.n0}, {.f = a.n1}, {.f = a.d0}, {.f = a.d1},
                           {.f = b.n0}, {.f = b.n1}, {.f = b.d0}, {.f = b.d1}};
  return run_on(PROGRAM(SLOT(TEMPORAL_SLOT, 0), SLOT(TEMPORAL_SLOT, 4), {.op = op}), row, 0);
}

static bool linear(struct net_temporal v) {
  return v.d1 == 0;
}
static bool constant(struct net_temporal v) {
  return v.n1 == 0 && v.d1 == 0;
}

/* Of two values that are not constant: has the product's numerator or denominator degree 2, when what is
 * above and below has been cancelled? */
static bool leaves_form(struct net_temporal a, struct net_temporal b) {
  if (a.n0 * b.d1 == a.n1 * b.d0 || b.n0 * a.d1 == b.n1 * a.d0) return false;
  return (a.n1 != 0 && b.n1 != 0) || (a.d1 != 0 && b.d1 != 0);
}

static void expect_temporal(enum net_op op, struct net_temporal a, struct net_temporal b) {
  bool same_poles = a.d0 * b.d1 == a.d1 * b.d0, any_constant = constant(a) || constant(b);
  bool zero = b.n0 == 0 && b.n1 == 0;
  enum net_eval_error error = run_temporal(op, a, b), expected = NET_EVAL_OK;
  struct net_temporal inverse = {b.d0, b.d1, b.n0, b.n1};
  bool leaves = op == NET_OP_T_MUL   ? leaves_form(a, b)
                : op == NET_OP_T_DIV ? leaves_form(a, inverse)
                                     : !same_poles;
  if (!any_constant && leaves) expected = NET_EVAL_FORM;
  if (op == NET_OP_T_DIV && zero) expected = NET_EVAL_DIVISION;
  ck_assert_int_eq(error, expected);
  if (error != NET_EVAL_OK) return;
  ck_assert(net_temporal_equal(result.temporal, net_temporal_normal(result.temporal)));
  for (int k = 0; k < 4; k++) {
    double tau = 7.5 + k, x = value_at(a, tau), y = value_at(b, tau);
    double z = op == NET_OP_T_ADD   ? x + y
               : op == NET_OP_T_SUB ? x - y
               : op == NET_OP_T_MUL ? x * y
                                    : x / y;
    ck_assert_double_eq_tol(value_at(result.temporal, tau), z, 1e-12 * (1 + fabs(z)));
  }
}

START_TEST(temporal_arithmetic) {
  enum { SIDE = 5, QUADS = SIDE * SIDE * SIDE * SIDE };
  struct net_temporal values[QUADS];
  int count = 0;
  for (int i = 0; i < QUADS; i++) {
    struct net_temporal v = {i % SIDE - 2, i / SIDE % SIDE - 2, i / SIDE / SIDE % SIDE - 2,
                             i / SIDE / SIDE / SIDE - 2};
    if (v.d0 != 0 || v.d1 != 0) values[count++] = net_temporal_normal(v);
  }
  for (int i = 0; i < count; i += 3) {
    for (int j = 0; j < count; j += 2) {
      for (enum net_op op = NET_OP_T_ADD; op <= NET_OP_T_DIV; op++) {
        expect_temporal(op, values[i], values[j]);
      }
    }
    base_arena_reset(arena);
  }
}
END_TEST

START_TEST(temporal_forms) {
  struct net_temporal duration = {0, 1, 1, 0}, average = {100, 1, 277, 1}, hundred = {100, 0, 1, 0};
  ck_assert_int_eq(run_temporal(NET_OP_T_MUL, average, hundred), NET_EVAL_OK);
  ck_assert(result.temporal.n0 == 10000 && result.temporal.n1 == 100 && result.temporal.d0 == 277 &&
            result.temporal.d1 == 1);
  ck_assert_int_eq(run_temporal(NET_OP_T_DIV, hundred, duration), NET_EVAL_OK);
  ck_assert(result.temporal.n0 == 100 && result.temporal.d0 == 0 && result.temporal.d1 == 1);
  ck_assert_int_eq(run_temporal(NET_OP_T_SUB, duration, duration), NET_EVAL_OK);
  ck_assert(constant(result.temporal) && linear(result.temporal) && result.temporal.n0 == 0);
  ck_assert_int_eq(run_temporal(NET_OP_T_MUL, duration, duration), NET_EVAL_FORM);
  ck_assert_int_eq(run_temporal(NET_OP_T_ADD, duration, average), NET_EVAL_FORM);
  struct net_temporal huge = {1e308, 1, 1, 0}, ten = {10, 0, 1, 0};
  ck_assert_int_eq(run_temporal(NET_OP_T_MUL, huge, ten), NET_EVAL_NUMBER);
  run_temporal(NET_OP_T_EQUAL, average, (struct net_temporal){200, 2, 554, 2});
  ck_assert_int_eq(result.truth, NET_TRUE);
}
END_TEST

START_TEST(rebasing) {
  union net_slot row[4] = {{.f = 10000}, {.f = 100}, {.f = 277}, {.f = 1}};
  ck_assert_int_eq(
      run_on(PROGRAM(SLOT(TEMPORAL_SLOT, 0), AT(285, 290), AT(300, 301), OP(T_REBASE)), row, 0),
      NET_EVAL_OK);
  ck_assert(result.temporal.n0 == 11500 && result.temporal.n1 == 100 && result.temporal.d0 == 292 &&
            result.temporal.d1 == 1);
  const struct net_step far[] = {SLOT(TEMPORAL_SLOT, 0), AT(INT64_MIN, 0), AT(5, 5), OP(T_REBASE)};
  ck_assert_int_eq(run_on(program_of(4, far), row, 0), NET_EVAL_OK); /* as a double it fits */
  union net_slot fixed[4] = {{.f = 3}, {.f = 0}, {.f = 1}, {.f = 0}};
  ck_assert_int_eq(run_on(program_of(4, far), fixed, 0), NET_EVAL_OK);
  ck_assert(result.temporal.n0 == 3);
}
END_TEST

/* --- logic and errors */

START_TEST(kleene) {
  for (int a = 0; a < 3; a++) {
    run(PROGRAM(TRUTH(a), OP(NOT)));
    ck_assert_int_eq(result.truth, net_not((enum net_truth)a));
    for (int b = 0; b < 3; b++) {
      run(PROGRAM(TRUTH(a), TRUTH(b), OP(AND)));
      ck_assert_int_eq(result.truth, net_and((enum net_truth)a, (enum net_truth)b));
      run(PROGRAM(TRUTH(a), TRUTH(b), OP(OR)));
      ck_assert_int_eq(result.truth, net_or((enum net_truth)a, (enum net_truth)b));
    }
  }
}
END_TEST

#define FAILS INT(1), INT(0), OP(I_DIV), INT(1), OP_I(I_COMPARE, NET_EQ)

START_TEST(errors_count_unless_guarded) {
  for (int guard = 0; guard < 3; guard++) {
    enum net_eval_error and_error = guard == NET_FALSE ? NET_EVAL_OK : NET_EVAL_DIVISION;
    enum net_eval_error or_error = guard == NET_TRUE ? NET_EVAL_OK : NET_EVAL_DIVISION;
    ck_assert_int_eq(run(PROGRAM(TRUTH(guard), FAILS, OP(AND))), and_error);
    ck_assert_int_eq(run(PROGRAM(FAILS, TRUTH(guard), OP(AND))), and_error);
    ck_assert_int_eq(run(PROGRAM(TRUTH(guard), FAILS, OP(OR))), or_error);
    ck_assert_int_eq(run(PROGRAM(FAILS, TRUTH(guard), OP(OR))), or_error);
    ck_assert_int_eq(run(PROGRAM(FAILS, TRUTH(0), OP(OR), OP(NOT), TRUTH(guard), OP(AND))),
                     and_error);
  }
  ck_assert_int_eq(run(PROGRAM(FAILS, FAILS, OP(AND), TRUTH(0), OP(AND))), NET_EVAL_OK);
  ck_assert_int_eq(result.truth, NET_FALSE);
  /* What comes after a forgiven error is computed as ever; the first of two errors is told. */
  ck_assert_int_eq(
      run(PROGRAM(FAILS, TRUTH(0), OP(AND), INT(1), INT(2), OP_I(I_COMPARE, NET_LT), OP(OR))),
      NET_EVAL_OK);
  ck_assert_int_eq(result.truth, NET_TRUE);
  ck_assert_int_eq(
      run(PROGRAM(INT(INT64_MAX), INT(1), OP(I_ADD), INT(1), INT(0), OP(I_DIV), OP(I_ADD))),
      NET_EVAL_OVERFLOW);
}
END_TEST

START_TEST(nothing_is_written_on_failure) {
  result.i = 4711;
  ck_assert_int_eq(run(PROGRAM(INT(1), INT(0), OP(I_DIV))), NET_EVAL_DIVISION);
  ck_assert_int_eq(result.i, 4711);
}
END_TEST

/* --- strings, moved instants, temporal values at a moment */

#define STR(TEXT) \
  { .op = NET_OP_STRING, .s = base_strings_intern_text(strings, TEXT) }

static void expect_string(const struct net_program *program, const char *text) {
  ck_assert_int_eq(run(program), NET_EVAL_OK);
  ck_assert_str_eq(base_strings_text(strings, result.s, NULL), text);
}

START_TEST(string_steps) {
  expect_string(PROGRAM(STR("ab"), STR("c"), OP(CONCAT)), "abc");
  expect_string(PROGRAM(STR(""), STR("c"), OP(CONCAT)), "c");
  expect_string(PROGRAM(STR("\xC3\xA9x"), INT(1), OP(LEFT)), "\xC3\xA9");
  expect_string(PROGRAM(STR("\xC3\xA9x"), INT(1), OP(RIGHT)), "x");
  expect_string(PROGRAM(STR("ab"), INT(0), OP(RIGHT)), "");
  expect_string(PROGRAM(INT(INT64_MIN), OP(I_TO_S)), "-9223372036854775808");
  expect_string(PROGRAM(FLT(0.5), OP(F_TO_S)), "0.5");
  expect_string(PROGRAM(TRUTH(NET_TRUE), OP(B_TO_S)), "true");
  ck_assert_int_eq(run(PROGRAM(TRUTH(NET_UNKNOWN), OP(B_TO_S))), NET_EVAL_OPEN);
  ck_assert_int_eq(run(PROGRAM(STR("ab"), INT(-1), OP(LEFT))), NET_EVAL_COUNT);
  ck_assert_int_eq(run(PROGRAM(STR("12 "), OP(S_TO_I))), NET_EVAL_OK);
  ck_assert_int_eq(result.i, 12);
  ck_assert_int_eq(run(PROGRAM(STR("-9223372036854775808"), OP(S_TO_I))), NET_EVAL_OK);
  ck_assert_int_eq(result.i, INT64_MIN);
  ck_assert_int_eq(run(PROGRAM(STR("9223372036854775808"), OP(S_TO_I))), NET_EVAL_RANGE);
  ck_assert_int_eq(run(PROGRAM(STR("1-"), OP(S_TO_I))), NET_EVAL_TEXT);
  ck_assert_int_eq(run(PROGRAM(STR(" -0 "), OP(S_TO_F))), NET_EVAL_OK);
  ck_assert(result.f == 0 && !signbit(result.f));
  ck_assert_int_eq(run(PROGRAM(STR("."), OP(S_TO_F))), NET_EVAL_TEXT);
}
END_TEST

static base_string_id bytes(const char *text, size_t length) {
  return base_strings_intern(strings, text, length);
}
#define BYTES(TEXT) \
  { .op = NET_OP_STRING, .slot = 1, .s = bytes(TEXT, sizeof(TEXT) - 1) }

START_TEST(bytes_steps) {
#define GIVES(TEXT, ...)                                    \
  ck_assert_int_eq(run(PROGRAM(__VA_ARGS__)), NET_EVAL_OK); \
  ck_assert_uint_eq(result.s, bytes(TEXT, sizeof(TEXT) - 1))
  GIVES("\0", BYTES("\0\xC3\xA9"), INT(1), OP(BYTES_LEFT));
  GIVES("\xA9", BYTES("\0\xC3\xA9"), INT(1), OP(BYTES_RIGHT));
  GIVES("\0\xC3\xA9", BYTES("\0\xC3\xA9"), INT(INT64_MAX), OP(BYTES_RIGHT));
  GIVES("\xC3", BYTES("\0\xC3\xA9"), INT(2), INT(1), OP(BYTES_SUBSTRING));
  GIVES("\0", BYTES("\0\xC3"), INT(INT64_MIN), INT(INT64_MAX), OP(BYTES_SUBSTRING), BYTES("\0"),
        OP(CONCAT));
  GIVES("", BYTES("\0\xC3"), INT(INT64_MAX), INT(INT64_MAX), OP(BYTES_SUBSTRING));
  GIVES("00c3a9", BYTES("\0\xC3\xA9"), OP(HEX));
  GIVES("\\x00c3", BYTES("\0\xC3"), OP_I(HEX, 1));
  GIVES("\0\xC3", STR("\\x00C3"), OP(UNHEX));
  GIVES("", STR(""), OP(UNHEX));
  GIVES("a\xC3\xA9", BYTES("a\xC3\xA9"), OP(BYTES_TO_S));
  GIVES("\\\\\\x00\\xa9", BYTES("\\\0\xA9"), OP(BYTES_TO_S));
#undef GIVES
  ck_assert_int_eq(run(PROGRAM(BYTES("a\0b\0"), OP(BYTES_LENGTH))), NET_EVAL_OK);
  ck_assert_int_eq(result.i, 4);
  ck_assert_int_eq(run(PROGRAM(BYTES("a\0b\0"), BYTES("\0b"), OP(BYTES_POSITION))), NET_EVAL_OK);
  ck_assert_int_eq(result.i, 2);
  ck_assert_int_eq(run(PROGRAM(STR("0"), OP(UNHEX))), NET_EVAL_HEX);
  ck_assert_int_eq(run(PROGRAM(STR("0x"), OP(UNHEX))), NET_EVAL_HEX);
  ck_assert_int_eq(run(PROGRAM(BYTES("a"), INT(-1), OP(BYTES_LEFT))), NET_EVAL_COUNT);
  ck_assert_int_eq(run(PROGRAM(BYTES("a"), INT(1), INT(-1), OP(BYTES_SUBSTRING))), NET_EVAL_COUNT);
  for (unsigned high = 0; high < 256; high++) { /* every byte, and back */
    char byte = (char)high;
    const struct net_step step = {.op = NET_OP_STRING, .s = bytes(&byte, 1)};
    ck_assert_int_eq(run(PROGRAM(step, OP(HEX), OP(UNHEX))), NET_EVAL_OK);
    ck_assert_uint_eq(result.s, bytes(&byte, 1));
  }
}
END_TEST

/* What nobody marks is forgotten: strings that programs make do not pile up. */
START_TEST(made_strings_are_swept) {
  base_strings_pin_all(strings);
  size_t before = base_strings_count(strings), most = 0;
  for (int64_t i = 0; i < 50000; i++) {
    ck_assert_int_eq(run(PROGRAM(INT(i), OP(I_TO_S), INT(i * i), OP(I_TO_S), OP(CONCAT))),
                     NET_EVAL_OK);
    if (base_strings_want_sweep(strings)) {
      base_strings_sweep_begin(strings);
      base_strings_sweep_end(strings);
    }
    if (base_strings_count(strings) > most) most = base_strings_count(strings);
    base_arena_reset(arena);
  }
  ck_assert_uint_lt(most - before, 20000);
}
END_TEST

static void expect_power(int64_t base, int64_t exponent, enum net_eval_error error,
                         int64_t expected) {
  ck_assert_int_eq(run(PROGRAM(INT(base), INT(exponent), OP(I_POWER))), error);
  if (error == NET_EVAL_OK) ck_assert_int_eq(result.i, expected);
}

START_TEST(integer_powers) {
  expect_power(-2, 63, NET_EVAL_OK, INT64_MIN);
  expect_power(2, 63, NET_EVAL_OVERFLOW, 0);
  expect_power(3037000499, 2, NET_EVAL_OK, INT64_C(9223372030926249001));
  expect_power(3037000500, 2, NET_EVAL_OVERFLOW, 0);
  expect_power(-1, INT64_MAX, NET_EVAL_OK, -1);
  expect_power(-1, INT64_MIN, NET_EVAL_OK, 1);
  expect_power(1, INT64_MIN, NET_EVAL_OK, 1);
  expect_power(0, 0, NET_EVAL_OK, 1);
  expect_power(0, INT64_MAX, NET_EVAL_OK, 0);
  expect_power(0, -1, NET_EVAL_DIVISION, 0);
  expect_power(5, -3, NET_EVAL_OK, 0);
  expect_power(2, INT64_MAX, NET_EVAL_OVERFLOW, 0);
}
END_TEST

static void expect_shift(int64_t lo, int64_t hi, int64_t delta, enum net_eval_error error,
                         int64_t new_lo, int64_t new_hi) {
  ck_assert_int_eq(run(PROGRAM(AT(lo, hi), OP_I(SHIFT, delta))), error);
  if (error != NET_EVAL_OK) return;
  ck_assert_int_eq(result.instant.lo, new_lo);
  ck_assert_int_eq(result.instant.hi, new_hi);
}

START_TEST(moved_instants) {
  expect_shift(1, 4, -6, NET_EVAL_OK, -5, -2);
  expect_shift(NET_BEGINNING, 3, 5, NET_EVAL_OK, NET_BEGINNING, 8);
  expect_shift(3, NET_FOREVER, -5, NET_EVAL_OK, -2, NET_FOREVER);
  expect_shift(0, INT64_MAX - 5, 5, NET_EVAL_OVERFLOW, 0, 0);
  expect_shift(INT64_MIN + 2, 0, -3, NET_EVAL_OVERFLOW, 0, 0);
}
END_TEST

/* An open stop moved forward is open; moved back it is not known before the stop is. */
START_TEST(moved_open_stops) {
  union net_slot row[4] = {{.i = 5}, {.i = 5}, {.i = NET_OPEN}, {.i = NET_FOREVER}};
  const struct net_program *later = PROGRAM(SLOT(STOP_SLOT, 2), OP_I(SHIFT, 3));
  const struct net_program *before = PROGRAM(SLOT(STOP_SLOT, 2), OP_I(SHIFT, -3));
  struct net_instant got;
  bool open;
  ck_assert_int_eq(net_program_run_instant(later, row, 10, &got, &open), NET_EVAL_OK);
  ck_assert(open && got.lo == NET_OPEN && got.hi == NET_FOREVER);
  ck_assert_int_eq(net_program_run_instant(before, row, 10, &got, &open), NET_EVAL_OPEN);
  ck_assert_int_eq(net_program_floor(later, row, 10), 13);
  ck_assert_int_eq(net_program_floor(before, row, 10), 7);
  row[2].i = row[3].i = 12;
  ck_assert_int_eq(net_program_run_instant(before, row, 10, &got, &open), NET_EVAL_OK);
  ck_assert(!open && got.lo == 9 && got.hi == 9);
}
END_TEST

struct roots {
  uint64_t found[4];
  bool whole[4];
  int count;
};

static void note_root(void *context, uint64_t root, bool whole) {
  struct roots *roots = context;
  roots->found[roots->count] = root;
  roots->whole[roots->count++] = whole;
}

/* 3 / (6 - 2 tau) < tau / 2 would be quadratic; (1 + tau) / (6 - 2 tau) < 2 turns at tau = 11/5, and
 * has its pole at 3. */
START_TEST(temporal_values_at_a_moment) {
  const struct net_program *program =
      PROGRAM(OP(DURATION), INT(1), OP(I_TO_TEMPORAL), OP(T_ADD), INT(6), OP(I_TO_TEMPORAL),
              OP(DURATION), INT(2), OP(I_TO_TEMPORAL), OP(T_MUL), OP(T_SUB), OP(T_DIV), INT(2),
              OP(I_TO_TEMPORAL), OP_I(T_COMPARE, NET_LT));
  struct roots roots = {.count = 0};
  for (uint64_t k = 0; k <= 2; k++) {
    struct net_moment moment = {k, 2, note_root, &roots};
    ck_assert_int_eq(net_program_run_moment(program, NULL, 0, &moment, &result), NET_EVAL_OK);
    ck_assert_int_eq(result.truth, NET_TRUE);
  }
  ck_assert_int_eq(roots.count, 3);
  ck_assert_uint_eq(roots.found[0], 2);
  ck_assert(!roots.whole[0]);
  struct net_moment pole = {0, 3, NULL, NULL}, behind = {0, 4, NULL, NULL};
  ck_assert_int_eq(net_program_run_moment(program, NULL, 0, &pole, &result), NET_EVAL_POLE);
  ck_assert_int_eq(net_program_run_moment(program, NULL, 0, &behind, &result), NET_EVAL_POLE);
  const struct net_program *square =
      PROGRAM(INT(1), OP(I_TO_TEMPORAL), INT(6), OP(I_TO_TEMPORAL), OP(DURATION), OP(T_ADD),
              OP(T_DIV), OP(DURATION), OP_I(T_COMPARE, NET_EQ));
  struct net_moment start = {0, 4, NULL, NULL};
  ck_assert_int_eq(net_program_run_moment(square, NULL, 0, &start, &result), NET_EVAL_QUADRATIC);
}
END_TEST

START_TEST(error_texts) {
  for (int error = NET_EVAL_OK; error <= NET_EVAL_OPEN; error++) {
    ck_assert_ptr_nonnull(net_eval_error_text((enum net_eval_error)error));
    for (int other = 0; other < error; other++) {
      ck_assert_str_ne(net_eval_error_text((enum net_eval_error)error),
                       net_eval_error_text((enum net_eval_error)other));
    }
  }
}
END_TEST

/* --- the stack */

START_TEST(deep_and_shallow_stacks) {
  for (uint32_t depth = 1; depth <= 3000; depth = depth < 70 ? depth + 1 : depth * 6) {
    struct net_program *program = net_program_new(arena, NET_TIMELINE_ABSTRACT, strings);
    for (uint32_t i = 0; i < depth; i++) {
      net_program_emit(arena, program, (struct net_step)INT((int64_t)i));
    }
    for (uint32_t i = 1; i < depth; i++)
      net_program_emit(arena, program, (struct net_step)OP(I_ADD));
    net_program_finish(program);
    ck_assert_uint_eq(program->stack_depth, depth);
    ck_assert_int_eq(run(program), NET_EVAL_OK);
    ck_assert_int_eq(result.i, (int64_t)depth * (depth - 1) / 2);
  }
}
END_TEST

START_TEST(an_operand_is_missing) {
  PROGRAM(INT(1), OP(I_ADD));
}
END_TEST
START_TEST(a_value_is_left_over) {
  PROGRAM(INT(1), INT(2));
}
END_TEST
START_TEST(an_empty_program) {
  net_program_finish(net_program_new(arena, NET_TIMELINE_REAL, NULL));
}
END_TEST
START_TEST(a_float_is_no_integer) {
  PROGRAM(INT(1), FLT(2), OP(I_ADD));
}
END_TEST
START_TEST(an_integer_is_no_truth) {
  PROGRAM(INT(1), OP(NOT));
}
END_TEST
START_TEST(no_such_comparison) {
  PROGRAM(INT(1), INT(2), OP_I(I_COMPARE, 6));
}
END_TEST
START_TEST(a_program_that_was_not_finished) {
  struct net_program *program = net_program_new(arena, NET_TIMELINE_REAL, strings);
  net_program_emit(arena, program, (struct net_step)INT(1));
  run(program);
}
END_TEST

/* --- rows, and stops that are open */

START_TEST(slots) {
  union net_slot row[4] = {{.i = -5}, {.f = 2.5}, {.i = 1}, {.s = 0}};
  run_on(PROGRAM(SLOT(SLOT, 0), INT(1), OP(I_ADD)), row, 0);
  ck_assert_int_eq(result.i, -4);
  run_on(PROGRAM(SLOT(SLOT, 1), FLT(2), OP(F_MUL)), row, 0);
  ck_assert(result.f == 5);
  run_on(PROGRAM(SLOT(BOOL_SLOT, 2)), row, 0);
  ck_assert_int_eq(result.truth, NET_TRUE);
  run_on(PROGRAM(SLOT(BOOL_SLOT, 3)), row, 0);
  ck_assert_int_eq(result.truth, NET_FALSE);
  const struct net_program *program =
      PROGRAM(SLOT(SLOT, 3), SLOT(SLOT, 3), OP_I(S_COMPARE, NET_EQ));
  ck_assert(!program->can_fail && !program->reads_open);
  run_on(program, row, 0);
  ck_assert_int_eq(result.truth, NET_TRUE);
}
END_TEST

/* Two stops (slots 0, 2), each open or known; a tree of later and earlier over them and constants. It closes after MOST
 * leaves: left to chance alone a few of thousands have millions, which take all the time and find nothing more. */
static const struct net_program *random_instant(struct base_random *random) {
  enum { MOST = 40 };
  struct net_program *program = net_program_new(arena, NET_TIMELINE_ABSTRACT, strings);
  unsigned depth = 0, leaves = 0;
  do {
    leaves++;
    int64_t lo = (int64_t)base_random_below(random, 6);
    uint32_t slot = (uint32_t)base_random_below(random, 2) * 2;
    if (base_random_below(random, 3) == 0) {
      net_program_emit(arena, program,
                       (struct net_step)AT(lo, lo + (int64_t)base_random_below(random, 2)));
    } else {
      net_program_emit(arena, program, (struct net_step)SLOT(STOP_SLOT, slot));
    }
    depth++;
    while (depth > 1 && (leaves > MOST || base_random_below(random, 2) == 0)) {
      enum net_op op = base_random_below(random, 2) ? NET_OP_LATER : NET_OP_EARLIER;
      net_program_emit(arena, program, (struct net_step){.op = op});
      depth--;
    }
  } while (depth > 1 || base_random_below(random, 3) == 0);
  net_program_finish(program);
  return program;
}

/* Runs over all ways in which the open stops of ROW can close, from BOUND on up to 8. */
static void close_all_ways(const struct net_program *program, const union net_slot *row,
                           net_chronon bound, bool *ret_one, struct net_instant *ret_latest) {
  struct net_instant first = {0, 0};
  bool any = false;
  *ret_one = true;
  for (net_chronon p = bound; p <= 8; p++) {
    for (net_chronon q = bound; q <= 8; q++) {
      union net_slot closed[4] = {row[0], row[1], row[2], row[3]};
      if (row[0].i == NET_OPEN) closed[0].i = closed[1].i = p;
      if (row[2].i == NET_OPEN) closed[2].i = closed[3].i = q;
      net_program_run(program, closed, bound, &result);
      if (any && (result.instant.lo != first.lo || result.instant.hi != first.hi)) *ret_one = false;
      if (!any) first = result.instant;
      any = true;
      *ret_latest = result.instant; /* both at their ends, in the last round */
    }
  }
}

START_TEST(instants_of_open_stops) {
  struct base_random random = {5};
  int open_count = 0, final_count = 0, vague_count = 0;
  for (unsigned i = 0, most = amount(6000, 20000); i < most; i++) {
    const struct net_program *program = random_instant(&random);
    union net_slot row[4];
    net_chronon bound = (net_chronon)base_random_below(&random, 7);
    for (int k = 0; k < 4; k += 2) {
      bool open = base_random_below(&random, 2) == 0;
      row[k].i = open ? NET_OPEN : (int64_t)base_random_below(&random, 8);
      row[k + 1].i = open ? 8 : row[k].i + (int64_t)base_random_below(&random, 2);
    }
    struct net_instant got, latest;
    bool one;
    bool open;
    enum net_eval_error error = net_program_run_instant(program, row, bound, &got, &open);
    close_all_ways(program, row, bound, &one, &latest);
    bool vague = !one && latest.lo != latest.hi;
    ck_assert_int_eq(error, vague ? NET_EVAL_OPEN : NET_EVAL_OK);
    vague_count += vague;
    if (vague) continue;
    ck_assert(open == !one);
    ck_assert_int_eq(got.hi, latest.hi);
    ck_assert_int_eq(got.lo, one ? latest.lo : NET_OPEN);
    open_count += open;
    final_count += !open && (row[0].i == NET_OPEN || row[2].i == NET_OPEN);
    if (i % 100 == 0) base_arena_reset(arena);
  }
  ck_assert_int_gt(open_count, 100);
  ck_assert_int_gt(final_count, 100);
  ck_assert_int_gt(vague_count, 100);
}
END_TEST

START_TEST(truths_over_open_stops_are_final) {
  static const enum net_op ops[] = {NET_OP_BEFORE, NET_OP_NOT_AFTER};
  for (int64_t at = 0; at <= 8; at++) {
    for (net_chronon bound = 0; bound <= 8; bound++) {
      for (int i = 0; i < 2; i++) {
        const struct net_program *program = PROGRAM(SLOT(STOP_SLOT, 0), AT(at, at), {.op = ops[i]});
        bool some[3] = {false, false, false};
        for (int64_t close = bound; close <= 8; close++) {
          union net_slot closed[2] = {{.i = close}, {.i = close}};
          run_on(program, closed, bound);
          some[result.truth] = true;
        }
        union net_slot open[2] = {{.i = NET_OPEN}, {.i = 8}};
        ck_assert(program->reads_open);
        run_on(program, open, bound);
        ck_assert(result.truth == NET_UNKNOWN ? some[NET_TRUE] && some[NET_FALSE]
                                              : !some[NET_TRUE + NET_FALSE - result.truth]);
      }
    }
  }
}
END_TEST

START_TEST(intersection) {
  run(PROGRAM(AT(1, 7), AT(3, 9), OP(INTERSECT)));
  ck_assert_int_eq(result.instant.lo, 3);
  ck_assert_int_eq(result.instant.hi, 7);
}
END_TEST

START_TEST(spans) {
  const struct net_step start = AT(10, 13), stop = AT(-20, 31);
  static const int64_t expected[] = {5 - 11, -20 - 13, 31 - 10};
  for (int64_t which = 0; which < 3; which++) {
    ck_assert_int_eq(run(PROGRAM(start, stop, OP_I(SPAN, which))), NET_EVAL_OK);
    ck_assert_int_eq(result.i, expected[which]);
  }
  static const int64_t endless[] = {INT64_MAX, 4, INT64_MAX};
  for (int64_t which = 0; which < 3; which++) {
    ck_assert_int_eq(run(PROGRAM(AT(1, 1), AT(5, NET_FOREVER), OP_I(SPAN, which))), NET_EVAL_OK);
    ck_assert_int_eq(result.i, endless[which]);
  }
  ck_assert_int_eq(run(PROGRAM(AT(-2, -2), AT(INT64_MAX - 1, INT64_MAX - 1), OP_I(SPAN, 1))),
                   NET_EVAL_OVERFLOW);
  ck_assert_int_eq(run(PROGRAM(AT(NET_BEGINNING, 0), AT(3, 3), OP_I(SPAN, 2))), NET_EVAL_OK);
  ck_assert_int_eq(result.i, INT64_MAX);
  ck_assert_int_eq(run(PROGRAM(AT(NET_FOREVER, NET_FOREVER), AT(3, 3), OP_I(SPAN, 0))),
                   NET_EVAL_OK);
  ck_assert_int_eq(result.i, INT64_MIN);
  ck_assert_int_eq(
      run(PROGRAM(AT(NET_FOREVER, NET_FOREVER), AT(NET_FOREVER, NET_FOREVER), OP_I(SPAN, 0))),
      NET_EVAL_OK);
  ck_assert_int_eq(result.i, 0);
}
END_TEST

START_TEST(chronons) {
  for (int i = 0; i < EDGES; i++) {
    for (int j = i; j < EDGES; j++) {
      wide sum = (wide)edges[i] + edges[j];
      int64_t middle = (int64_t)(sum >= 0 ? sum / 2 : -((-sum + 1) / 2));
      bool reserved = edges[i] == NET_BEGINNING || edges[j] == NET_FOREVER;
      if (edges[i] > edges[j]) continue;
      enum net_eval_error error = run(PROGRAM(AT(edges[i], edges[j]), OP_I(CHRONON, 0)));
      ck_assert_int_eq(error, NET_EVAL_OK);
      if (reserved) middle = edges[j] == NET_FOREVER ? NET_FOREVER : NET_BEGINNING;
      ck_assert_int_eq(result.i, middle);
      ck_assert_int_eq(run(PROGRAM(AT(edges[i], edges[j]), OP_I(CHRONON, 1))), NET_EVAL_OK);
      ck_assert_int_eq(result.i, edges[i]);
      ck_assert_int_eq(run(PROGRAM(AT(edges[i], edges[j]), OP_I(CHRONON, 2))), NET_EVAL_OK);
      ck_assert_int_eq(result.i, edges[j]);
    }
  }
}
END_TEST

#define STOP_SPAN AT(1, 1), SLOT(STOP_SLOT, 0), OP_I(SPAN, 0)

START_TEST(scalars_of_open_stops_are_not_yet_known) {
  union net_slot open[2] = {{.i = NET_OPEN}, {.i = 100}}, closed[2] = {{.i = 7}, {.i = 7}};
  const struct net_program *scalar = PROGRAM(STOP_SPAN, INT(1), OP(I_ADD));
  const struct net_program *test = PROGRAM(STOP_SPAN, INT(6), OP_I(I_COMPARE, NET_EQ));
  ck_assert_int_eq(run_on(scalar, open, 5), NET_EVAL_OPEN);
  ck_assert_int_eq(run_on(scalar, closed, 5), NET_EVAL_OK);
  ck_assert_int_eq(result.i, 7);
  ck_assert_int_eq(run_on(test, open, 5), NET_EVAL_OK);
  ck_assert_int_eq(result.truth, NET_UNKNOWN);
  ck_assert_int_eq(run_on(test, closed, 5), NET_EVAL_OK);
  ck_assert_int_eq(result.truth, NET_TRUE);
  ck_assert_int_eq(run_on(scalar, open, 100), NET_EVAL_OK); /* known: it cannot last any longer */
  ck_assert_int_eq(result.i, 100);
  /* Another conjunct decides; an error next to it counts. */
  ck_assert_int_eq(
      run_on(PROGRAM(STOP_SPAN, INT(6), OP_I(I_COMPARE, NET_EQ), TRUTH(0), OP(AND)), open, 5),
      NET_EVAL_OK);
  ck_assert_int_eq(result.truth, NET_FALSE);
  ck_assert_int_eq(
      run_on(PROGRAM(STOP_SPAN, INT(1), INT(0), OP(I_DIV), OP_I(I_COMPARE, NET_EQ)), open, 5),
      NET_EVAL_DIVISION);
  /* What no longer depends on the open stop is known: the earlier of it and 3. */
  const struct net_program *earlier =
      PROGRAM(AT(1, 1), SLOT(STOP_SLOT, 0), AT(3, 3), OP(EARLIER), OP_I(SPAN, 0));
  ck_assert_int_eq(run_on(earlier, open, 5), NET_EVAL_OK);
  ck_assert_int_eq(result.i, 2);
  ck_assert_int_eq(run_on(earlier, open, 2), NET_EVAL_OPEN);
}
END_TEST

START_TEST(bounds_of_rows) {
  const struct net_layout *period = net_layout_new(arena, NET_PERIOD, NULL, 0);
  struct net_field field = {.name = "s", .type = {NET_INSTANT, 0}, .openable = true};
  const struct net_layout *event = net_layout_new(arena, NET_EVENT, &field, 1);
  const struct net_layout *both = net_layout_new(arena, NET_PERIOD, &field, 1);
  union net_slot row[6] = {{.i = 5},           {.i = 5},        {.i = NET_OPEN},
                           {.i = NET_FOREVER}, {.i = NET_OPEN}, {.i = NET_FOREVER}};
  ck_assert_int_eq(net_row_bound(period, row, 0, 2), 6);
  ck_assert_int_eq(net_row_bound(period, row, NET_DEFINITE, 20), 20);
  row[1].i = 9;
  ck_assert_int_eq(net_row_bound(period, row, 0, 2), 5);
  row[0].i = row[1].i = NET_BEGINNING;
  ck_assert_int_eq(net_row_bound(period, row, 0, NET_BEGINNING), NET_BEGINNING + 1);
  row[1].i = 9;
  ck_assert_int_eq(net_row_bound(period, row, 0, NET_BEGINNING), NET_BEGINNING);
  row[0].i = row[1].i = NET_FOREVER;
  ck_assert_int_eq(net_row_bound(period, row, 0, 3), NET_FOREVER);
  row[0].i = row[1].i = 5;
  row[2].i = 8, row[3].i = 12;
  ck_assert_int_eq(net_row_bound(both, row, NET_CLOSES, 2), 12);
  ck_assert_int_eq(net_row_bound(both, row, NET_CLOSES, 13), 13);
  ck_assert_int_eq(net_row_bound(both, row, 0, 2), 6);
  ck_assert_int_eq(net_row_bound(period, row, 0, 2), 2); /* whole */
  union net_slot combination[4] = {{.i = 50}, {.i = 50}, {.i = NET_OPEN}, {.i = NET_FOREVER}};
  ck_assert_int_eq(net_row_bound(event, combination, 0, 2), 2);
}
END_TEST

/* --- printing */

static void expect_print(const struct net_program *program, const struct net_layout *layout,
                         const char *expected) {
  struct base_buffer out = BASE_BUFFER_EMPTY;
  net_program_print(&out, program, layout);
  ck_assert_str_eq(base_buffer_text(&out), expected);
  base_buffer_done(&out);
}

START_TEST(infix) {
  expect_print(PROGRAM(SLOT(SLOT, 4), SLOT(SLOT, 9), INT(1), OP(I_ADD), OP_I(I_COMPARE, NET_GT)),
               NULL, "slot 4 > slot 9 + 1");
  expect_print(PROGRAM(INT(1), INT(2), OP(I_ADD), INT(3), OP(I_MUL)), NULL, "(1 + 2) * 3");
  expect_print(PROGRAM(INT(1), INT(2), INT(3), OP(I_MUL), OP(I_ADD)), NULL, "1 + 2 * 3");
  expect_print(PROGRAM(INT(1), INT(2), OP(I_SUB), INT(3), OP(I_SUB)), NULL, "1 - 2 - 3");
  expect_print(PROGRAM(INT(1), INT(2), INT(-3), OP(I_SUB), OP(I_SUB)), NULL, "1 - (2 - -3)");
  expect_print(PROGRAM(INT(-3), OP(I_NEG), OP(I_NEG)), NULL, "-(-(-3))");
  expect_print(PROGRAM(FLT(2), OP(F_NEG), FLT(0.5), OP(F_POWER)), NULL, "(-2) ** 0.5");
  expect_print(PROGRAM(TRUTH(2), TRUTH(0), OP(OR), TRUTH(1), OP(AND), OP(NOT)), NULL,
               "not ((true or false) and unknown)");
  expect_print(PROGRAM(TRUTH(2), TRUTH(0), TRUTH(1), OP(AND), OP(AND)), NULL,
               "true and false and unknown");
}
END_TEST

START_TEST(names_and_functions) {
  struct net_field field = {.name = "Worker", .type = {NET_STRING, 0}};
  const struct net_layout *layout = net_layout_new(arena, NET_PERIOD, &field, 1);
  base_string_id id = base_strings_intern_text(strings, "a\"b\\\n\x01");
  expect_print(PROGRAM(SLOT(SLOT, 4), {.op = NET_OP_STRING, .s = id}, OP_I(S_COMPARE, NET_NE)),
               layout, "Worker != \"a\\\"b\\\\\\n\\x01\"");
  expect_print(
      PROGRAM(SLOT(INSTANT_SLOT, 0), SLOT(STOP_SLOT, 2), AT(5, 5), OP(LATER), OP_I(WITHIN, 30)),
      layout, "within(start, later(stop, 5), 30)");
  expect_print(PROGRAM(SLOT(INSTANT_SLOT, 0), SLOT(STOP_SLOT, 2), AT(1, 2), AT(3, NET_FOREVER),
                       OP(OVERLAP_PERIODS)),
               layout, "overlap(start, stop, [1, 2], [3, forever])");
  expect_print(
      PROGRAM(SLOT(INSTANT_SLOT, 0), SLOT(STOP_SLOT, 2), OP_I(SPAN, 2), OP_I(INTEGER_FITS, 4)),
      layout, "i4(span_hi(start, stop))");
}
END_TEST

START_TEST(a_long_condition) {
  enum { CONJUNCTS = 50000 };
  struct net_program *program = net_program_new(arena, NET_TIMELINE_ABSTRACT, strings);
  struct base_buffer out = BASE_BUFFER_EMPTY;
  net_program_emit(arena, program, (struct net_step)TRUTH(2));
  for (int i = 1; i < CONJUNCTS; i++) {
    net_program_emit(arena, program, (struct net_step)TRUTH(2));
    net_program_emit(arena, program, (struct net_step)OP(AND));
  }
  net_program_finish(program);
  ck_assert_uint_eq(program->stack_depth, 2);
  net_program_print(&out, program, NULL);
  ck_assert_uint_eq(out.length, CONJUNCTS * 9 - 5);
  base_buffer_done(&out);
}
END_TEST

int main(void) {
  Suite *suite = suite_create("expr");
  TCase *cases = tcase_create("expr");
  tcase_set_timeout(cases, 120);
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_test(cases, integers);
  tcase_add_test(cases, integers_fit);
  tcase_add_test(cases, floats);
  tcase_add_test(cases, no_negative_zero);
  tcase_add_test(cases, conversions);
  tcase_add_test(cases, comparisons);
  tcase_add_test(cases, integers_with_floats);
  tcase_add_test(cases, temporal_arithmetic);
  tcase_add_test(cases, temporal_forms);
  tcase_add_test(cases, rebasing);
  tcase_add_test(cases, kleene);
  tcase_add_test(cases, errors_count_unless_guarded);
  tcase_add_test(cases, nothing_is_written_on_failure);
  tcase_add_test(cases, string_steps);
  tcase_add_test(cases, bytes_steps);
  tcase_add_test(cases, made_strings_are_swept);
  tcase_add_test(cases, integer_powers);
  tcase_add_test(cases, moved_instants);
  tcase_add_test(cases, moved_open_stops);
  tcase_add_test(cases, temporal_values_at_a_moment);
  tcase_add_test(cases, error_texts);
  tcase_add_test(cases, deep_and_shallow_stacks);
  tcase_add_test_raise_signal(cases, an_operand_is_missing, SIGABRT);
  tcase_add_test_raise_signal(cases, a_value_is_left_over, SIGABRT);
  tcase_add_test_raise_signal(cases, an_empty_program, SIGABRT);
  tcase_add_test_raise_signal(cases, a_float_is_no_integer, SIGABRT);
  tcase_add_test_raise_signal(cases, an_integer_is_no_truth, SIGABRT);
  tcase_add_test_raise_signal(cases, no_such_comparison, SIGABRT);
  tcase_add_test_raise_signal(cases, a_program_that_was_not_finished, SIGABRT);
  tcase_add_test(cases, slots);
  tcase_add_test(cases, instants_of_open_stops);
  tcase_add_test(cases, truths_over_open_stops_are_final);
  tcase_add_test(cases, intersection);
  tcase_add_test(cases, spans);
  tcase_add_test(cases, chronons);
  tcase_add_test(cases, scalars_of_open_stops_are_not_yet_known);
  tcase_add_test(cases, bounds_of_rows);
  tcase_add_test(cases, infix);
  tcase_add_test(cases, names_and_functions);
  tcase_add_test(cases, a_long_condition);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
