/* Quick programs against the stack machine: random conditions and integers over random rows, with values
 * at the ends of the integers, so that steps fail, too; temporal values that are moved alone. Both must give the same value or the same error,
 * and a selection of many rows the same as one by one.                                             */
#include <check.h>
#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/expr.h"

static struct base_arena *arena;
static struct base_random dice = {20261120};

static int64_t below(uint64_t bound) {
  return (int64_t)base_random_below(&dice, bound);
}

static int64_t some_integer(void) {
  static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX, -1, 0, 1};
  return below(4) == 0 ? ends[below(6)] : below(9) - 4;
}

static void emit(struct net_program *program, enum net_op op, uint32_t slot, int64_t i) {
  net_program_emit(arena, program, (struct net_step){.op = op, .slot = slot, .i = i});
}

static void emit_integer(struct net_program *program, unsigned depth) {
  static const enum net_op ops[] = {NET_OP_I_ADD, NET_OP_I_SUB, NET_OP_I_MUL,
                                    NET_OP_I_DIV, NET_OP_I_MOD, NET_OP_I_NEG};
  if (depth == 0 || below(3) == 0) {
    if (below(2)) {
      emit(program, NET_OP_SLOT, (uint32_t)below(4), 0);
    } else {
      emit(program, NET_OP_INTEGER, 0, some_integer());
    }
    return;
  }
  enum net_op op = ops[below(6)];
  emit_integer(program, depth - 1);
  if (op != NET_OP_I_NEG) emit_integer(program, depth - 1);
  emit(program, op, 0, 0);
}

static void emit_truth(struct net_program *program, unsigned depth) {
  int64_t kind = depth == 0 ? 0 : below(5);
  if (kind == 0) {
    emit_integer(program, 2);
    emit_integer(program, 2);
    emit(program, NET_OP_I_COMPARE, 0, below(6));
    return;
  }
  if (kind == 1) { /* a step that the quick form does not have */
    emit(program, NET_OP_SLOT, (uint32_t)below(4), 0);
    emit(program, NET_OP_I_TO_F, 0, 0);
    emit(program, NET_OP_INTEGER, 0, some_integer());
    emit(program, NET_OP_I_TO_F, 0, 0);
    emit(program, NET_OP_F_COMPARE, 0, below(6));
    if (below(8)) return;
  }
  emit_truth(program, depth - 1);
  if (kind == 2) {
    emit(program, NET_OP_NOT, 0, 0);
    return;
  }
  emit_truth(program, depth - 1);
  emit(program, kind == 3 ? NET_OP_OR : NET_OP_AND, 0, 0);
  if (kind == 1) emit(program, NET_OP_AND, 0, 0);
}

static struct net_program *random_program(bool truth) {
  struct net_program *program = net_program_new(arena, NET_TIMELINE_ABSTRACT, NULL);
  if (truth) {
    emit_truth(program, 3);
  } else {
    emit_integer(program, 4);
  }
  net_program_finish(program);
  return program;
}

START_TEST(both_forms_agree) {
  int quick = 0, failed = 0, values = 0;
  for (int i = 0; i < 40000; i++) {
    bool truth = below(3) > 0;
    struct net_program *program = random_program(truth);
    struct net_program slow = *program;
    slow.quick_count = 0;
    quick += program->quick_count > 0;
    for (int k = 0; k < 5; k++) {
      union net_slot row[4];
      struct net_value fast_value = {.i = 0}, slow_value = {.i = 0};
      for (int s = 0; s < 4; s++) row[s].i = some_integer();
      enum net_eval_error fast_error = net_program_run(program, row, 0, &fast_value);
      enum net_eval_error slow_error = net_program_run(&slow, row, 0, &slow_value);
      ck_assert_int_eq(fast_error, slow_error);
      failed += slow_error != NET_EVAL_OK;
      if (slow_error != NET_EVAL_OK) continue;
      values++;
      if (truth) {
        ck_assert_int_eq(fast_value.truth, slow_value.truth);
      } else {
        ck_assert_int_eq(fast_value.i, slow_value.i);
      }
    }
    if (i % 100 == 0) base_arena_reset(arena);
  }
  ck_assert_int_gt(quick, 10000);
  ck_assert_int_gt(failed, 1000);
  ck_assert_int_gt(values, 10000);
}
END_TEST

/* The same rows, one by one and together. */
START_TEST(selections_agree) {
  enum { ROWS = 50, WIDTH = 4 };
  int together = 0, spoilt = 0;
  for (int i = 0; i < 5000; i++) {
    struct net_program *program = random_program(true);
    union net_slot rows[ROWS * WIDTH];
    uint32_t selected[ROWS], expected[ROWS], count = 0, expected_count = 0;
    bool failed = false;
    for (int s = 0; s < ROWS * WIDTH; s++) rows[s].i = below(9) - 2;
    for (uint32_t r = 0; r < ROWS; r++) {
      struct net_value value;
      if (below(4) == 0) continue;
      selected[count++] = r;
      if (net_program_run(program, rows + r * WIDTH, 0, &value) != NET_EVAL_OK)
        failed = true;
      else if (value.truth == NET_TRUE)
        expected[expected_count++] = r;
    }
    if (net_program_select(program, rows, WIDTH, selected, &count)) {
      ck_assert(!failed);
      ck_assert_uint_eq(count, expected_count);
      for (uint32_t k = 0; k < count; k++) ck_assert_uint_eq(selected[k], expected[k]);
      together++;
    } else {
      spoilt += program->quick_count > 0;
    }
    if (i % 100 == 0) base_arena_reset(arena);
  }
  ck_assert_int_gt(together, 500);
  ck_assert_int_gt(spoilt, 100);
}
END_TEST

START_TEST(what_is_deep_goes_to_the_stack_machine) {
  struct net_program *program = net_program_new(arena, NET_TIMELINE_ABSTRACT, NULL);
  struct net_value value;
  for (int i = 0; i < 40; i++) { /* each operand is computed before the operations */
    emit(program, NET_OP_SLOT, 0, 0);
    emit(program, NET_OP_I_NEG, 0, 0);
  }
  for (int i = 0; i < 39; i++) emit(program, NET_OP_I_ADD, 0, 0);
  net_program_finish(program);
  ck_assert_int_eq(program->quick_count, 0);
  union net_slot row[1] = {{.i = 2}};
  ck_assert_int_eq(net_program_run(program, row, 0, &value), NET_EVAL_OK);
  ck_assert_int_eq(value.i, -80);
}
END_TEST

static double some_number(void) {
  static const double numbers[] = {0, 1, -1, 0.1, 3, 1e-300, 1e300, -1e308, 0x1p53, 1e9};
  return below(3) == 0 ? (double)below(2000) / 7 - 100 : numbers[below(10)];
}

START_TEST(values_that_are_moved_agree) {
  int values = 0, failed = 0, constants = 0;
  for (int i = 0; i < 40000; i++) {
    enum net_timeline timeline = below(2) ? NET_TIMELINE_REAL : NET_TIMELINE_ABSTRACT;
    struct net_program *program = net_program_new(arena, timeline, NULL);
    emit(program, NET_OP_TEMPORAL_SLOT, 2, 0);
    emit(program, NET_OP_INSTANT_SLOT, (uint32_t)below(2) * 6, 0);
    emit(program, NET_OP_INSTANT_SLOT, 0, 0);
    emit(program, NET_OP_T_REBASE, 0, 0);
    net_program_finish(program);
    ck_assert(program->only_rebases);
    struct net_temporal v = {some_number(), some_number(), some_number(), some_number()};
    if (v.d0 == 0 && v.d1 == 0) v.d0 = 1;
    v = net_temporal_normal(v);
    union net_slot row[8] = {{.i = some_integer()}, {.i = 0},    {.f = v.n0},       {.f = v.n1},
                             {.f = v.d0},           {.f = v.d1}, {.i = below(1000)}};
    struct net_value slow_value;
    union net_slot fast_value[4];
    enum net_eval_error fast_error = net_program_rebase(program, row, fast_value);
    enum net_eval_error slow_error = net_program_run(program, row, 0, &slow_value);
    ck_assert_int_eq(fast_error, slow_error);
    failed += slow_error != NET_EVAL_OK;
    if (slow_error == NET_EVAL_OK) {
      ck_assert_mem_eq(fast_value, &slow_value.temporal, sizeof v);
      constants += slow_value.temporal.n1 == 0 && slow_value.temporal.d1 == 0;
      values++;
    }
    if (i % 100 == 0) base_arena_reset(arena);
  }
  ck_assert_int_gt(values, 10000);
  ck_assert_int_gt(failed, 100);
  ck_assert_int_gt(values - constants, 5000);
}
END_TEST

static void set_up(void) {
  arena = base_arena_new();
}

static void tear_down(void) {
  base_arena_free(arena);
}

int main(void) {
  Suite *suite = suite_create("quick");
  TCase *cases = tcase_create("quick");
  tcase_add_checked_fixture(cases, set_up, tear_down);
  tcase_add_test(cases, both_forms_agree);
  tcase_add_test(cases, selections_agree);
  tcase_add_test(cases, values_that_are_moved_agree);
  tcase_add_test(cases, what_is_deep_goes_to_the_stack_machine);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
