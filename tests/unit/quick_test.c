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
    if (net_program_select(program, false, rows, WIDTH, selected, &count)) {
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

/* --- plain rows: four integers, then three instants */

enum { PLAIN_WIDTH = 10 };

static void emit_instant(struct net_program *program, unsigned depth) {
  int64_t kind = depth == 0 ? below(3) : below(6);
  int64_t time = below(8) == 0 ? (below(2) ? NET_FOREVER : NET_BEGINNING) : below(12);
  if (kind == 0) {
    net_chronon hi = time < 12 && below(20) == 0 ? 12 : time;
    net_program_emit(arena, program,
                     (struct net_step){.op = NET_OP_CONST_INSTANT, .instant = {time, hi}});
  } else if (kind < 3) {
    emit(program, kind == 1 ? NET_OP_INSTANT_SLOT : NET_OP_STOP_SLOT, 4 + 2 * (uint32_t)below(3),
         0);
  } else if (kind == 3) {
    emit_instant(program, depth - 1);
    emit(program, NET_OP_SHIFT, 0, below(7) - 3);
  } else {
    emit_instant(program, depth - 1);
    emit_instant(program, depth - 1);
    emit(program, kind == 4 ? NET_OP_LATER : NET_OP_EARLIER, 0, 0);
  }
}

static void emit_relation(struct net_program *program) {
  static const enum net_op ops[] = {
      NET_OP_BEFORE,          NET_OP_NOT_AFTER,     NET_OP_EQUAL_INSTANTS, NET_OP_WITHIN,
      NET_OP_OVERLAP_PERIODS, NET_OP_OVERLAP_EVENT, NET_OP_EQUAL_PERIODS,  NET_OP_CONTAIN};
  static const unsigned operands[] = {2, 2, 2, 2, 4, 3, 4, 4};
  int64_t choice = below(8);
  for (unsigned i = 0; i < operands[choice]; i++) emit_instant(program, 2);
  emit(program, ops[choice], 0, ops[choice] == NET_OP_WITHIN ? below(4) : 0);
}

static void emit_plain_truth(struct net_program *program, unsigned depth) {
  int64_t kind = depth == 0 ? 0 : below(4);
  if (kind < 2) {
    if (below(3)) {
      emit_relation(program);
    } else {
      emit_integer(program, 2);
      emit_integer(program, 1);
      emit(program, NET_OP_I_COMPARE, 0, below(6));
    }
    return;
  }
  emit_plain_truth(program, depth - 1);
  emit_plain_truth(program, depth - 1);
  emit(program, kind == 2 ? NET_OP_OR : NET_OP_AND, 0, 0);
}

/* One that gives a truth, an integer (a span, a chronon) or an instant. */
static struct net_program *plain_program(int64_t kind) {
  struct net_program *program = net_program_new(arena, NET_TIMELINE_ABSTRACT, NULL);
  if (kind == 0) emit_plain_truth(program, 2);
  if (kind > 0) emit_instant(program, 2);
  if (kind == 2) {
    emit_instant(program, 2);
    emit(program, NET_OP_SPAN, 0, below(3));
  }
  if (kind == 3) emit(program, NET_OP_CHRONON, 0, below(3));
  if (kind == 4) {
    struct net_program *integers = net_program_new(arena, NET_TIMELINE_ABSTRACT, NULL);
    program = integers;
    emit_integer(program, 2);
  }
  net_program_finish(program);
  return program;
}

static void plain_row(union net_slot *row) {
  for (int s = 0; s < 4; s++) row[s].i = some_integer();
  for (int s = 4; s < PLAIN_WIDTH; s += 2) {
    row[s].i = below(12) == 0 ? (below(2) ? NET_FOREVER : NET_EARLIEST) : below(12);
    row[s + 1].i = row[s].i;
  }
}

/* A plain row's value by the stack machine, as the plain form gives it. */
static bool slow_value(const struct net_program *program, const union net_slot *row, int64_t kind,
                       int64_t *ret) {
  struct net_program slow = *program;
  struct net_value value = {.i = 0};
  slow.quick_count = 0;
  if (net_program_run(&slow, row, 0, &value) != NET_EVAL_OK) return false;
  *ret = kind == 0 ? value.truth == NET_TRUE : value.i;
  if (kind == 0) ck_assert_int_ne(value.truth, NET_UNKNOWN);
  if (kind == 1) {
    ck_assert(value.instant.lo == value.instant.hi);
    *ret = value.instant.lo;
  }
  return true;
}

START_TEST(columns_of_plain_rows_agree) {
  enum { ROWS = 7 };
  int columns = 0, failed = 0;
  for (int i = 0; i < 40000; i++) {
    int64_t kind = below(5), fast[ROWS], slow = 0;
    struct net_program *program = plain_program(kind);
    union net_slot rows[ROWS * PLAIN_WIDTH];
    uint32_t selection[ROWS], count = 0;
    for (uint32_t r = 0; r < ROWS; r++) {
      plain_row(rows + r * PLAIN_WIDTH);
      if (below(4)) selection[count++] = r;
    }
    if (!net_program_column(program, rows, PLAIN_WIDTH, selection, count, fast)) {
      failed++;
    } else {
      columns++;
      for (uint32_t r = 0; r < count; r++) {
        ck_assert(slow_value(program, rows + selection[r] * PLAIN_WIDTH, kind, &slow));
        ck_assert_int_eq(fast[r], slow);
      }
    }
    if (i % 100 == 0) base_arena_reset(arena);
  }
  ck_assert_int_gt(columns, 10000);
  ck_assert_int_gt(failed, 1000);
}
END_TEST

/* A condition over two rows and the times of their combination, and over the combination written out. */
START_TEST(pairs_agree) {
  int agreed = 0;
  for (int i = 0; i < 40000; i++) {
    struct net_program *program = plain_program(0);
    union net_slot rows[3][PLAIN_WIDTH], written[PLAIN_WIDTH];
    uint8_t sides[PLAIN_WIDTH];
    uint32_t slots[PLAIN_WIDTH];
    bool fast = false;
    int64_t slow = 0;
    for (unsigned k = 0; k < 3; k++) plain_row(rows[k]);
    for (uint32_t s = 0; s < PLAIN_WIDTH; s += s < 4 ? 1 : 2) {
      sides[s] = (uint8_t)below(3);
      slots[s] = s < 4 ? (uint32_t)below(4) : 4 + 2 * (uint32_t)below(3);
      written[s] = rows[sides[s]][slots[s]];
      if (s >= 4) written[s + 1] = written[s];
    }
    const struct net_pair_program *pair = net_pair_program_new(arena, program, sides, slots);
    if (pair != NULL && net_pair_program_holds(pair, rows[0], rows[1], rows[2], &fast)) {
      ck_assert(slow_value(program, written, 0, &slow));
      ck_assert_int_eq(fast, slow);
      agreed++;
    }
    if (i % 100 == 0) base_arena_reset(arena);
  }
  ck_assert_int_gt(agreed, 5000);
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
  tcase_add_test(cases, columns_of_plain_rows_agree);
  tcase_add_test(cases, pairs_agree);
  tcase_add_test(cases, what_is_deep_goes_to_the_stack_machine);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
