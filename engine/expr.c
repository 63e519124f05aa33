/* Expression programs: building, checking and running them.
 *
 * The machine has one stack and one loop; every step takes its operands from the top and leaves
 * exactly one result. net_program_finish follows the types along the steps, so that the loop needs
 * no test of them.
 *
 * Errors and logic: `F and x` is F and `T or x` is T, also when x could not be computed (a guard
 * such as `d != 0 and n / d > 3`, in either order). So a step that fails leaves its error on the
 * stack in place of a value; it spreads through every operation on it until a conjunct that is F (or
 * a disjunct that is T) makes it irrelevant, and counts if it reaches the end.
 *
 * A scalar taken from a stop that is still open (a span, a chronon) is not known yet: it travels in
 * the same way as NET_EVAL_OPEN, and what is compared with it is unknown, hence not yet decided. Nor is
 * an error beside what is unknown over an open row: the stop may still make the error irrelevant.
 *
 * Invariants: floats on the stack are finite and never -0; temporal values are in settled form
 * (value.c), a result in normal form;
 * running allocates nothing unless the program is deeper than SHALLOW.
 *
 * What this does not do: types (netgen), short cuts in evaluation (a condition is computed whole),
 * printing (expr_print.c), and the operations on strings, bytes, times and temporal values (expr_string.c, expr_text.c,
 * expr_bytes.c, expr_time.c, expr_temporal.c, expr_compare.c).                                               */
#include "engine/expr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/status.h"
#include "engine/batch.h"
#include "engine/expr_ops.h"

enum { SHALLOW = 32 };

/* --- the table */

#define OP(OPERANDS, RESULT, CAN_FAIL, NAME) \
  { OPERANDS, sizeof OPERANDS - 1, RESULT, CAN_FAIL, NAME }

static const struct net_op_info op_table[NET_OP_COUNT] = {
    [NET_OP_INTEGER] = OP("", 'i', false, "integer"),
    [NET_OP_FLOAT] = OP("", 'f', false, "float"),
    [NET_OP_STRING] = OP("", 's', false, "string"),
    [NET_OP_TRUTH] = OP("", 't', false, "truth"),
    [NET_OP_CONST_INSTANT] = OP("", 'x', false, "instant"),
    [NET_OP_SLOT] = OP("", 'a', false, "slot"),
    [NET_OP_BOOL_SLOT] = OP("", 't', false, "slot"),
    [NET_OP_TEMPORAL_SLOT] = OP("", 'm', false, "slot"),
    [NET_OP_INSTANT_SLOT] = OP("", 'x', false, "slot"),
    [NET_OP_STOP_SLOT] = OP("", 'x', false, "slot"),
    [NET_OP_I_NEG] = OP("i", 'i', true, "-"),
    [NET_OP_I_ADD] = OP("ii", 'i', true, "+"),
    [NET_OP_I_SUB] = OP("ii", 'i', true, "-"),
    [NET_OP_I_MUL] = OP("ii", 'i', true, "*"),
    [NET_OP_I_DIV] = OP("ii", 'i', true, "/"),
    [NET_OP_I_MOD] = OP("ii", 'i', true, "mod"),
    [NET_OP_I_ABS] = OP("i", 'i', true, "abs"),
    [NET_OP_I_POWER] = OP("ii", 'i', true, "**"),
    [NET_OP_F_NEG] = OP("f", 'f', false, "-"),
    [NET_OP_F_ADD] = OP("ff", 'f', true, "+"),
    [NET_OP_F_SUB] = OP("ff", 'f', true, "-"),
    [NET_OP_F_MUL] = OP("ff", 'f', true, "*"),
    [NET_OP_F_DIV] = OP("ff", 'f', true, "/"),
    [NET_OP_F_POWER] = OP("ff", 'f', true, "**"),
    [NET_OP_F_ABS] = OP("f", 'f', false, "abs"),
    [NET_OP_F_SQRT] = OP("f", 'f', true, "sqrt"),
    [NET_OP_F_LOG] = OP("f", 'f', true, "log"),
    [NET_OP_F_EXP] = OP("f", 'f', true, "exp"),
    [NET_OP_F_SIN] = OP("f", 'f', false, "sin"),
    [NET_OP_F_COS] = OP("f", 'f', false, "cos"),
    [NET_OP_F_ATAN] = OP("f", 'f', false, "atan"),
    [NET_OP_I_TO_F] = OP("i", 'f', false, "float"),
    [NET_OP_F_TO_I] = OP("f", 'i', true, "integer"),
    [NET_OP_I_TO_TEMPORAL] = OP("i", 'm', false, "temporal"),
    [NET_OP_F_TO_TEMPORAL] = OP("f", 'm', false, "temporal"),
    [NET_OP_TRUTH_TO_I] = OP("t", 'i', true, "integer"),
    [NET_OP_INTEGER_FITS] = OP("i", 'i', true, "fits"),
    [NET_OP_F_TO_F4] = OP("f", 'f', true, "float4"),
    [NET_OP_S_TO_I] = OP("s", 'i', true, "integer"),
    [NET_OP_S_TO_F] = OP("s", 'f', true, "float"),
    [NET_OP_I_TO_S] = OP("i", 's', false, "ascii"),
    [NET_OP_F_TO_S] = OP("f", 's', false, "ascii"),
    [NET_OP_B_TO_S] = OP("t", 's', true, "ascii"),
    [NET_OP_CONCAT] = OP("ss", 's', false, "concat"),
    [NET_OP_LEFT] = OP("si", 's', true, "left"),
    [NET_OP_RIGHT] = OP("si", 's', true, "right"),
    [NET_OP_LENGTH] = OP("s", 'i', false, "length"),
    [NET_OP_LOWER] = OP("s", 's', false, "lower"),
    [NET_OP_UPPER] = OP("s", 's', false, "upper"),
    [NET_OP_TRIM] = OP("s", 's', false, "trim"),
    [NET_OP_SUBSTRING] = OP("sii", 's', true, "substring"),
    [NET_OP_POSITION] = OP("ss", 'i', false, "position"),
    [NET_OP_SUBSTITUTE] = OP("sss", 's', false, "substitute"),
    [NET_OP_SPLIT] = OP("ssi", 's', true, "split"),
    [NET_OP_MATCHES] = OP("s", 't', false, "matches"),
    [NET_OP_FINDS] = OP("s", 't', true, "finds"),
    [NET_OP_CAPTURE] = OP("si", 's', true, "capture"),
    [NET_OP_BYTES_LEFT] = OP("si", 's', true, "left"),
    [NET_OP_BYTES_RIGHT] = OP("si", 's', true, "right"),
    [NET_OP_BYTES_LENGTH] = OP("s", 'i', false, "length"),
    [NET_OP_BYTES_SUBSTRING] = OP("sii", 's', true, "substring"),
    [NET_OP_BYTES_POSITION] = OP("ss", 'i', false, "position"),
    [NET_OP_BYTES_TO_S] = OP("s", 's', false, "text"),
    [NET_OP_HEX] = OP("s", 's', false, "hex"),
    [NET_OP_UNHEX] = OP("s", 's', true, "unhex"),
    [NET_OP_DURATION] = OP("", 'm', false, "duration"),
    [NET_OP_T_NEG] = OP("m", 'm', false, "-"),
    [NET_OP_T_ADD] = OP("mm", 'm', true, "+"),
    [NET_OP_T_SUB] = OP("mm", 'm', true, "-"),
    [NET_OP_T_MUL] = OP("mm", 'm', true, "*"),
    [NET_OP_T_DIV] = OP("mm", 'm', true, "/"),
    [NET_OP_T_REBASE] = OP("mxx", 'm', true, "rebase"),
    [NET_OP_I_COMPARE] = OP("ii", 't', false, "compare"),
    [NET_OP_F_COMPARE] = OP("ff", 't', false, "compare"),
    [NET_OP_I_F_COMPARE] = OP("if", 't', false, "compare"),
    [NET_OP_S_COMPARE] = OP("ss", 't', false, "compare"),
    [NET_OP_B_COMPARE] = OP("tt", 't', false, "compare"),
    [NET_OP_T_EQUAL] = OP("mm", 't', false, "="),
    [NET_OP_T_COMPARE] = OP("mm", 't', true, "compare"),
    [NET_OP_AND] = OP("tt", 't', false, "and"),
    [NET_OP_OR] = OP("tt", 't', false, "or"),
    [NET_OP_NOT] = OP("t", 't', false, "not"),
    [NET_OP_IF] = OP("ta", 'a', false, "if"),
    [NET_OP_T_IF] = OP("tm", 'm', false, "if"),
    [NET_OP_LATER] = OP("xx", 'x', false, "later"),
    [NET_OP_EARLIER] = OP("xx", 'x', false, "earlier"),
    [NET_OP_SHIFT] = OP("x", 'x', true, "shift"),
    [NET_OP_INTERSECT] = OP("xx", 'x', false, "intersect"),
    [NET_OP_BEFORE] = OP("xx", 't', false, "before"),
    [NET_OP_NOT_AFTER] = OP("xx", 't', false, "not_after"),
    [NET_OP_EQUAL_INSTANTS] = OP("xx", 't', false, "equal"),
    [NET_OP_WITHIN] = OP("xx", 't', false, "within"),
    [NET_OP_OVERLAP_PERIODS] = OP("xxxx", 't', false, "overlap"),
    [NET_OP_OVERLAP_EVENT] = OP("xxx", 't', false, "overlap"),
    [NET_OP_EQUAL_PERIODS] = OP("xxxx", 't', false, "equal"),
    [NET_OP_CONTAIN] = OP("xxxx", 't', false, "contain"),
    [NET_OP_SPAN] = OP("xx", 'i', true, "span"),
    [NET_OP_CHRONON] = OP("x", 'i', true, "chronon"), /* of an open stop: not known */
    [NET_OP_CALENDAR] = OP("i", 'i', true, "calendar"),
};
#undef OP

const struct net_op_info *net_op_info(enum net_op op) {
  BASE_CHECK((unsigned)op < NET_OP_COUNT && op_table[op].operands != NULL, "expr-op");
  return &op_table[op];
}

const char *net_eval_error_text(enum net_eval_error error) {
  switch (error) {
    case NET_EVAL_OK:
      return "no error";
    case NET_EVAL_OVERFLOW:
      return "integer overflow";
    case NET_EVAL_DIVISION:
      return "division by zero";
    case NET_EVAL_NUMBER:
      return "the result is not a finite number";
    case NET_EVAL_FORM:
      return "the result is no ratio of two linear functions of time";
    case NET_EVAL_RANGE:
      return "the value is out of the range of its type";
    case NET_EVAL_TEXT:
      return "a string that is no number";
    case NET_EVAL_HEX:
      return "a string that has no bytes in hexadecimal digits";
    case NET_EVAL_COUNT:
      return "a negative number of characters, or a part before the first,";
    case NET_EVAL_REGEX:
      return "a regular expression takes more than a million steps";
    case NET_EVAL_CUT:
      return "a condition that changes with time would cut a period whose ends are uncertain";
    case NET_EVAL_POLE:
      return "a temporal value has a pole inside the period";
    case NET_EVAL_QUADRATIC:
      return "the comparison of two temporal values is not linear";
    case NET_EVAL_TICKS:
      return "a clock would tick more than a thousand million times at once and stands still";
    case NET_EVAL_OPEN:
      return "the value depends on a period that is still open";
  }
  return "unknown error";
}

/* --- building */

struct net_program *net_program_new(struct base_arena *arena, enum net_timeline timeline,
                                    struct base_strings *strings) {
  struct net_program *program = BASE_NEW(arena, struct net_program);
  program->timeline = timeline;
  program->strings = strings;
  return program;
}

void net_program_emit(struct base_arena *arena, struct net_program *program, struct net_step step) {
  if (program->count == program->capacity) {
    size_t capacity = program->capacity > 0 ? program->capacity * 2 : 8;
    struct net_step *steps = BASE_NEW_ARRAY(arena, capacity, struct net_step);
    if (program->count > 0) memcpy(steps, program->steps, program->count * sizeof *steps);
    program->steps = steps;
    program->quick = base_arena_array(arena, capacity * NET_QUICK_STEPS, net_quick_step_size());
    program->capacity = capacity;
  }
  program->steps[program->count++] = step;
  program->stack_depth = 0; /* not finished any more */
}

/* Is what the step itself carries meaningful to its operation? */
static bool step_is_sound(const struct net_step *step) {
  switch (step->op) {
    case NET_OP_FLOAT:
      return isfinite(step->f);
    case NET_OP_TRUTH:
      return step->i >= NET_FALSE && step->i <= NET_TRUE;
    case NET_OP_CONST_INSTANT:
      return step->instant.lo <= step->instant.hi;
    case NET_OP_INTEGER_FITS:
      return step->i == 1 || step->i == 2 || step->i == 4 || step->i == 8;
    case NET_OP_I_COMPARE:
    case NET_OP_F_COMPARE:
    case NET_OP_I_F_COMPARE:
    case NET_OP_S_COMPARE:
    case NET_OP_B_COMPARE:
    case NET_OP_T_COMPARE:
      return step->i >= NET_EQ && step->i <= NET_GE;
    case NET_OP_WITHIN:
      return step->i >= 0;
    case NET_OP_SPAN:
    case NET_OP_CHRONON:
      return step->i >= 0 && step->i <= 2;
    default:
      return true;
  }
}

static bool type_fits(char found, char wanted) {
  bool scalar = wanted == 'i' || wanted == 'f' || wanted == 's';
  bool any = wanted == 'a' && (found == 'i' || found == 'f' || found == 's');
  return found == wanted || any || (found == 'a' && scalar);
}

void net_program_finish(struct net_program *program) {
  char *types = base_xmalloc(program->count + 1);
  size_t depth = 0, deepest = 0;
  program->reads_open = program->can_fail = program->moves_back = false;
  for (size_t i = 0; i < program->count; i++) {
    const struct net_step *step = &program->steps[i];
    const struct net_op_info *info = net_op_info(step->op);
    size_t operands = info->operand_count;
    BASE_CHECK(step_is_sound(step), "expr-step");
    BASE_CHECK(depth >= operands, "expr-stack-underflow");
    depth -= operands;
    for (size_t k = 0; k < operands; k++) {
      BASE_CHECK(type_fits(types[depth + k], info->operands[k]), "expr-type");
    }
    types[depth++] = info->result;
    if (depth > deepest) deepest = depth;
    if (step->op == NET_OP_STOP_SLOT) program->reads_open = true;
    if (step->op == NET_OP_SHIFT && step->i < 0) program->moves_back = true;
    if (info->can_fail) program->can_fail = true;
  }
  free(types);
  BASE_CHECK(depth == 1, "expr-one-value");
  BASE_CHECK(deepest <= UINT32_MAX, "expr-deep");
  program->stack_depth = (uint32_t)deepest;
  net_quick_make(program);
  program->only_rebases = net_rebases_only(program);
}

/* --- operations. Each leaves its result in ARGS[0]. */

/* The whole of the union is defined afterwards, so that .i reads 0, 1, 2 where an int is the low
 * half of an int64. */
static void set_truth(struct net_value *value, enum net_truth truth) {
  value->i = 0;
  value->truth = truth;
}

static enum net_eval_error set_float(struct net_value *value, double result) {
  if (!isfinite(result)) return NET_EVAL_NUMBER;
  value->f = result + 0.0; /* never -0 */
  return NET_EVAL_OK;
}

/* By squaring; the square after the last bit is not needed, and may overflow unseen. */
static enum net_eval_error power(int64_t base, int64_t exponent, int64_t *ret) {
  int64_t result = 1;
  if (exponent < 0 && base == 0) return NET_EVAL_DIVISION;
  if (exponent < 0 && base != 1 && base != -1) {
    *ret = 0;
    return NET_EVAL_OK;
  }
  if (base == -1 && exponent < 0) exponent = exponent % 2 == 0 ? 0 : 1;
  if (base == 1 || exponent < 0) exponent = 0;
  for (;;) {
    if ((exponent & 1) && __builtin_mul_overflow(result, base, &result)) return NET_EVAL_OVERFLOW;
    exponent >>= 1;
    if (exponent == 0) break;
    if (__builtin_mul_overflow(base, base, &base)) return NET_EVAL_OVERFLOW;
  }
  *ret = result;
  return NET_EVAL_OK;
}

static enum net_eval_error integer_operation(enum net_op op, struct net_value *args) {
  int64_t a = args[0].i, *result = &args[0].i;
  bool overflow = false;
  switch (op) {
    case NET_OP_I_NEG:
      overflow = __builtin_sub_overflow(INT64_C(0), a, result);
      break;
    case NET_OP_I_ABS:
      overflow = a < 0 && __builtin_sub_overflow(INT64_C(0), a, result);
      break;
    case NET_OP_I_ADD:
      overflow = __builtin_add_overflow(a, args[1].i, result);
      break;
    case NET_OP_I_SUB:
      overflow = __builtin_sub_overflow(a, args[1].i, result);
      break;
    case NET_OP_I_MUL:
      overflow = __builtin_mul_overflow(a, args[1].i, result);
      break;
    case NET_OP_I_DIV: /* by -1: the machine's division traps at INT64_MIN */
      if (args[1].i == 0) return NET_EVAL_DIVISION;
      if (args[1].i == -1) {
        overflow = __builtin_sub_overflow(INT64_C(0), a, result);
      } else {
        *result = a / args[1].i;
      }
      break;
    case NET_OP_I_POWER:
      return power(a, args[1].i, result);
    default: /* NET_OP_I_MOD */
      if (args[1].i == 0) return NET_EVAL_DIVISION;
      *result = args[1].i == -1 ? 0 : a % args[1].i;
      break;
  }
  return overflow ? NET_EVAL_OVERFLOW : NET_EVAL_OK;
}

static enum net_eval_error float_operation(enum net_op op, struct net_value *args) {
  double a = args[0].f;
  switch (op) {
    case NET_OP_F_NEG:
      return set_float(args, -a);
    case NET_OP_F_ADD:
      return set_float(args, a + args[1].f);
    case NET_OP_F_SUB:
      return set_float(args, a - args[1].f);
    case NET_OP_F_MUL:
      return set_float(args, a * args[1].f);
    case NET_OP_F_DIV:
      return args[1].f == 0 ? NET_EVAL_DIVISION : set_float(args, a / args[1].f);
    case NET_OP_F_POWER:
      return set_float(args, pow(a, args[1].f));
    case NET_OP_F_ABS:
      return set_float(args, fabs(a));
    case NET_OP_F_SQRT:
      return set_float(args, sqrt(a));
    case NET_OP_F_LOG:
      return set_float(args, log(a));
    case NET_OP_F_EXP:
      return set_float(args, exp(a));
    case NET_OP_F_SIN:
      return set_float(args, sin(a));
    case NET_OP_F_COS:
      return set_float(args, cos(a));
    default:
      return set_float(args, atan(a)); /* NET_OP_F_ATAN */
  }
}

static enum net_eval_error fits(int64_t value, int64_t width) {
  int64_t limit = width == 8 ? INT64_MAX : (INT64_C(1) << (8 * width - 1)) - 1;
  return value >= -limit - 1 && value <= limit ? NET_EVAL_OK : NET_EVAL_RANGE;
}

static enum net_eval_error conversion(const struct net_step *step, struct net_value *args) {
  double f;
  switch (step->op) {
    case NET_OP_I_TO_F:
      args->f = (double)args->i;
      return NET_EVAL_OK;
    case NET_OP_F_TO_I: /* 2^63 is a double, INT64_MAX is not */
      if (!(args->f >= -0x1p63 && args->f < 0x1p63)) return NET_EVAL_RANGE;
      args->i = (int64_t)args->f;
      return NET_EVAL_OK;
    case NET_OP_TRUTH_TO_I:
      if (args->truth == NET_UNKNOWN) return NET_EVAL_RANGE;
      args->i = args->truth == NET_TRUE;
      return NET_EVAL_OK;
    case NET_OP_INTEGER_FITS:
      return fits(args->i, step->i);
    case NET_OP_F_TO_F4:
      if (isinf((float)args->f)) return NET_EVAL_RANGE;
      args->f = (double)(float)args->f + 0.0;
      return NET_EVAL_OK;
    default: /* NET_OP_I_TO_TEMPORAL, NET_OP_F_TO_TEMPORAL */
      f = step->op == NET_OP_I_TO_TEMPORAL ? (double)args->i : args->f;
      args->temporal = (struct net_temporal){f, 0, 1, 0};
      return NET_EVAL_OK;
  }
}

/* --- comparisons */

enum net_truth net_comparison_holds(enum net_comparison comparison, int order) {
  bool result = false;
  switch (comparison) {
    case NET_EQ:
      result = order == 0;
      break;
    case NET_NE:
      result = order != 0;
      break;
    case NET_LT:
      result = order < 0;
      break;
    case NET_LE:
      result = order <= 0;
      break;
    case NET_GT:
      result = order > 0;
      break;
    case NET_GE:
      result = order >= 0;
      break;
  }
  return result ? NET_TRUE : NET_FALSE;
}

/* The float's whole part is an integer or beyond all of them; where it equals the integer, its rest
 * decides. A double that has a rest has few enough digits for the subtraction to be exact. */
static int mixed_order(int64_t a, double b) {
  if (b >= 0x1p63) return -1;
  if (b < -0x1p63) return 1;
  int64_t whole = (int64_t)b;
  double rest = b - (double)whole;
  if (a != whole) return a > whole ? 1 : -1;
  return (rest < 0) - (rest > 0);
}

static int string_order(const struct net_program *program, int64_t comparison, base_string_id a,
                        base_string_id b) {
  if (a == b) return 0;
  if (comparison == NET_EQ || comparison == NET_NE) return 1; /* interned: no need to look */
  return base_strings_compare(program->strings, a, b);
}

static enum net_truth compare(const struct net_program *program, const struct net_step *step,
                              const struct net_value *args) {
  enum net_comparison comparison = (enum net_comparison)step->i;
  switch (step->op) {
    case NET_OP_I_COMPARE:
      return net_comparison_holds(comparison, (args[0].i > args[1].i) - (args[0].i < args[1].i));
    case NET_OP_F_COMPARE:
      return net_comparison_holds(comparison, (args[0].f > args[1].f) - (args[0].f < args[1].f));
    case NET_OP_I_F_COMPARE:
      return net_comparison_holds(comparison, mixed_order(args[0].i, args[1].f));
    case NET_OP_S_COMPARE:
      return net_comparison_holds(comparison, string_order(program, step->i, args[0].s, args[1].s));
    case NET_OP_B_COMPARE:
      if (args[0].truth == NET_UNKNOWN || args[1].truth == NET_UNKNOWN) return NET_UNKNOWN;
      return net_comparison_holds(comparison, (int)args[0].truth - (int)args[1].truth);
    default: /* NET_OP_T_EQUAL */
      return net_temporal_equal(args[0].temporal, args[1].temporal) ? NET_TRUE : NET_FALSE;
  }
}

/* --- the machine */

/* How open stops are read: as what is known of them, or as one of its two ends. */
enum open_reading { OPEN_RANGE, OPEN_EARLIEST, OPEN_LATEST };

/* What a place of the stack holds: 0, a value that is final; UNSETTLED, an instant that an open stop
 * goes into; else the net_eval_error that stands in place of a value. */
enum { SETTLED = NET_EVAL_OK, UNSETTLED = 255 };

struct machine {
  const struct net_program *program;
  const union net_slot *row;
  net_chronon bound;
  enum open_reading reading;
  const struct net_moment *moment; /* NULL: no temporal values are compared */
  struct net_value *stack;
  uint8_t *states;  /* of the stack's places; kept in programs that can fail only */
  uint32_t special; /* places whose state is not SETTLED */
};

static struct net_instant stop_slot(const struct machine *machine, uint32_t slot) {
  struct net_instant stop = net_slot_stop(machine->row, slot, machine->bound);
  if (machine->row[slot].i != NET_OPEN || machine->reading == OPEN_RANGE) return stop;
  return machine->reading == OPEN_EARLIEST ? (struct net_instant){stop.lo, stop.lo}
                                           : (struct net_instant){stop.hi, stop.hi};
}

static void push(const struct machine *machine, const struct net_step *step,
                 struct net_value *value) {
  const union net_slot *row = machine->row;
  switch (step->op) {
    case NET_OP_INTEGER:
      value->i = step->i;
      break;
    case NET_OP_FLOAT:
      value->f = step->f + 0.0;
      break;
    case NET_OP_STRING:
      value->s = step->s;
      break;
    case NET_OP_TRUTH:
      set_truth(value, (enum net_truth)step->i);
      break;
    case NET_OP_CONST_INSTANT:
      value->instant = step->instant;
      break;
    case NET_OP_SLOT:
      value->i = row[step->slot].i;
      break; /* the bits, whatever they mean */
    case NET_OP_BOOL_SLOT:
      set_truth(value, row[step->slot].i ? NET_TRUE : NET_FALSE);
      break;
    case NET_OP_TEMPORAL_SLOT:
      value->temporal = (struct net_temporal){row[step->slot].f, row[step->slot + 1].f,
                                              row[step->slot + 2].f, row[step->slot + 3].f};
      break;
    case NET_OP_DURATION:
      value->temporal = (struct net_temporal){0, 1, 1, 0};
      break;
    case NET_OP_INSTANT_SLOT:
      value->instant = net_slot_instant(row, step->slot);
      break;
    default:
      value->instant = stop_slot(machine, step->slot);
      break; /* NET_OP_STOP_SLOT */
  }
}

/* What stands in the place of a value that is not asked for. */
static void set_nothing(const struct net_step *step, struct net_value *value) {
  memset(value, 0, sizeof *value); /* of strings: "" */
  if (step->op == NET_OP_T_IF) value->temporal.d0 = 1;
}

/* One step on operands that are values all. */
static enum net_eval_error perform(const struct machine *machine, const struct net_step *step,
                                   struct net_value *args) {
  /* One label a line would hide the groups. */
  /* clang-format off */
  switch (step->op) {
    case NET_OP_INTEGER: case NET_OP_FLOAT: case NET_OP_STRING: case NET_OP_TRUTH:
    case NET_OP_CONST_INSTANT: case NET_OP_SLOT: case NET_OP_BOOL_SLOT:
    case NET_OP_TEMPORAL_SLOT: case NET_OP_DURATION: case NET_OP_INSTANT_SLOT:
    case NET_OP_STOP_SLOT:
      push(machine, step, args);
      return NET_EVAL_OK;
    case NET_OP_I_NEG: case NET_OP_I_ADD: case NET_OP_I_SUB: case NET_OP_I_MUL:
    case NET_OP_I_DIV: case NET_OP_I_MOD: case NET_OP_I_ABS: case NET_OP_I_POWER:
      return integer_operation(step->op, args);
    case NET_OP_F_NEG: case NET_OP_F_ADD: case NET_OP_F_SUB: case NET_OP_F_MUL:
    case NET_OP_F_DIV: case NET_OP_F_POWER: case NET_OP_F_ABS: case NET_OP_F_SQRT:
    case NET_OP_F_LOG: case NET_OP_F_EXP: case NET_OP_F_SIN: case NET_OP_F_COS:
    case NET_OP_F_ATAN:
      return float_operation(step->op, args);
    case NET_OP_I_TO_F: case NET_OP_F_TO_I: case NET_OP_I_TO_TEMPORAL:
    case NET_OP_F_TO_TEMPORAL: case NET_OP_TRUTH_TO_I: case NET_OP_INTEGER_FITS:
    case NET_OP_F_TO_F4:
      return conversion(step, args);
    case NET_OP_T_NEG: case NET_OP_T_ADD: case NET_OP_T_SUB: case NET_OP_T_MUL:
    case NET_OP_T_DIV: case NET_OP_T_REBASE:
      return net_temporal_operation(machine->program, step->op, args);
    case NET_OP_S_TO_I: case NET_OP_S_TO_F: case NET_OP_I_TO_S:
    case NET_OP_F_TO_S: case NET_OP_B_TO_S: case NET_OP_CONCAT: case NET_OP_LEFT:
    case NET_OP_RIGHT: case NET_OP_LENGTH: case NET_OP_LOWER: case NET_OP_UPPER:
    case NET_OP_TRIM: case NET_OP_SUBSTRING: case NET_OP_POSITION: case NET_OP_SUBSTITUTE:
    case NET_OP_SPLIT: case NET_OP_MATCHES: case NET_OP_FINDS: case NET_OP_CAPTURE:
      return net_string_operation(machine->program, step, args);
    case NET_OP_BYTES_LEFT: case NET_OP_BYTES_RIGHT: case NET_OP_BYTES_LENGTH:
    case NET_OP_BYTES_SUBSTRING: case NET_OP_BYTES_POSITION: case NET_OP_BYTES_TO_S:
    case NET_OP_HEX: case NET_OP_UNHEX:
      return net_bytes_operation(machine->program, step, args);
    case NET_OP_T_COMPARE:
      return net_temporal_compare(machine->program, (enum net_comparison)step->i, machine->moment,
                                  args);
    case NET_OP_I_COMPARE: case NET_OP_F_COMPARE: case NET_OP_I_F_COMPARE:
    case NET_OP_S_COMPARE: case NET_OP_B_COMPARE:
    case NET_OP_T_EQUAL:
      set_truth(args, compare(machine->program, step, args));
      return NET_EVAL_OK;
    case NET_OP_AND:
      set_truth(args, net_and(args[0].truth, args[1].truth));
      return NET_EVAL_OK;
    case NET_OP_OR:
      set_truth(args, net_or(args[0].truth, args[1].truth));
      return NET_EVAL_OK;
    case NET_OP_NOT:
      set_truth(args, net_not(args[0].truth));
      return NET_EVAL_OK;
    case NET_OP_IF: case NET_OP_T_IF:
      if (args[0].truth == NET_FALSE) {
        set_nothing(step, args);
      } else {
        args[0] = args[1];
      }
      return NET_EVAL_OK;
    case NET_OP_LATER: case NET_OP_EARLIER: case NET_OP_INTERSECT: case NET_OP_SHIFT:
    case NET_OP_BEFORE: case NET_OP_NOT_AFTER: case NET_OP_EQUAL_INSTANTS: case NET_OP_WITHIN:
    case NET_OP_OVERLAP_PERIODS: case NET_OP_OVERLAP_EVENT: case NET_OP_EQUAL_PERIODS:
    case NET_OP_CONTAIN: case NET_OP_SPAN: case NET_OP_CHRONON:
      return net_time_operation(step, args);
    case NET_OP_CALENDAR:
      return net_calendar_of(step->calendar, args->i, &args->i) ? NET_EVAL_OK : NET_EVAL_RANGE;
  }
  /* clang-format on */
  return NET_EVAL_OK;
}

/* The state of the result of an operation on instants, some of which are not final. A truth is final
 * by Kleene's logic (unknown: not yet decided), and so is an instant known to the chronon. */
static uint8_t perform_on_unsettled(const struct machine *machine, const struct net_step *step,
                                    struct net_value *args) {
  char result = op_table[step->op].result;
  if (result != 't' && result != 'x') return NET_EVAL_OPEN;
  perform(machine, step, args);
  return result == 'x' && args->instant.lo != args->instant.hi ? UNSETTLED : SETTLED;
}

static bool reads_an_open_stop(const struct net_program *program, const union net_slot *row) {
  if (!program->reads_open) return false;
  for (size_t i = 0; i < program->count; i++) {
    const struct net_step *step = &program->steps[i];
    if (step->op == NET_OP_STOP_SLOT && row[step->slot].i == NET_OPEN) return true;
  }
  return false;
}

/* One step of which an operand is an ERROR. */
static uint8_t perform_on_error(const struct machine *machine, const struct net_step *step,
                                uint8_t error, const uint8_t *states, struct net_value *args) {
  bool logic = step->op == NET_OP_AND || step->op == NET_OP_OR;
  enum net_truth absorbing = step->op == NET_OP_AND ? NET_FALSE : NET_TRUE;
  for (unsigned k = 0; logic && k < 2; k++) {
    if (states[k] != SETTLED) continue;
    if (args[k].truth == absorbing) {
      set_truth(args, absorbing);
      return SETTLED;
    }
    if (args[k].truth == NET_UNKNOWN && machine->bound != NET_FOREVER &&
        reads_an_open_stop(machine->program, machine->row))
      error = NET_EVAL_OPEN;
  }
  bool unless = step->op == NET_OP_IF || step->op == NET_OP_T_IF;
  if (unless && states[0] == SETTLED && args[0].truth == NET_FALSE) {
    set_nothing(step, args);
    return SETTLED;
  }
  if (error != NET_EVAL_OPEN || op_table[step->op].result != 't') return error;
  set_truth(args, NET_UNKNOWN);
  return SETTLED;
}

/* One step where some place of the stack is special. Returns the result's state. */
static uint8_t perform_specially(struct machine *machine, const struct net_step *step,
                                 size_t first) {
  struct net_value *args = machine->stack + first;
  const uint8_t *states = machine->states + first;
  uint8_t error = SETTLED;
  bool unsettled = false;
  for (size_t k = 0; k < op_table[step->op].operand_count; k++) {
    if (states[k] == SETTLED) continue;
    machine->special--;
    if (states[k] == UNSETTLED) {
      unsettled = true;
    } else if (error == SETTLED || error == NET_EVAL_OPEN) {
      error = states[k];
    }
  }
  if (error != SETTLED) return perform_on_error(machine, step, error, states, args);
  if (unsettled) return perform_on_unsettled(machine, step, args);
  return (uint8_t)perform(machine, step, args);
}

/* Does STEP, just performed, load a stop that is open and not yet known to the chronon? */
static bool loads_unsettled(const struct machine *machine, const struct net_step *step,
                            const struct net_value *value) {
  return step->op == NET_OP_STOP_SLOT && machine->row[step->slot].i == NET_OPEN &&
         value->instant.lo != value->instant.hi;
}

/* Without states: nothing fails, and only truths and instants are made of open stops. */
static void run_plainly(const struct machine *machine) {
  const struct net_program *program = machine->program;
  struct net_value *top = machine->stack;
  for (size_t i = 0; i < program->count; i++) {
    const struct net_step *step = &program->steps[i];
    top -= op_table[step->op].operand_count;
    perform(machine, step, top);
    top++;
  }
}

static enum net_eval_error run_carefully(struct machine *machine) {
  const struct net_program *program = machine->program;
  size_t depth = 0;
  for (size_t i = 0; i < program->count; i++) {
    const struct net_step *step = &program->steps[i];
    uint8_t state;
    depth -= op_table[step->op].operand_count;
    state = machine->special > 0 ? perform_specially(machine, step, depth)
                                 : (uint8_t)perform(machine, step, machine->stack + depth);
    if (loads_unsettled(machine, step, machine->stack + depth)) state = UNSETTLED;
    if (state != SETTLED) machine->special++;
    machine->states[depth++] = state;
  }
  return machine->states[0] == UNSETTLED ? NET_EVAL_OK : (enum net_eval_error)machine->states[0];
}

static enum net_eval_error run(struct machine *machine, struct net_value *ret) {
  enum net_eval_error error = NET_EVAL_OK;
  if (machine->program->can_fail) {
    error = run_carefully(machine);
  } else {
    run_plainly(machine);
  }
  if (error != NET_EVAL_OK) return error;
  *ret = machine->stack[0];
  const struct net_step *last = &machine->program->steps[machine->program->count - 1];
  return op_table[last->op].result == 'm' ? net_temporal_result(ret) : NET_EVAL_OK;
}

static enum net_eval_error start(struct machine machine, struct net_value *ret) {
  const struct net_program *program = machine.program;
  enum net_eval_error error;
  BASE_CHECK(program->stack_depth > 0, "expr-finished");
  if (program->stack_depth <= SHALLOW) {
    struct net_value stack[SHALLOW];
    uint8_t states[SHALLOW];
    machine.stack = stack;
    machine.states = states;
    return run(&machine, ret);
  }
  machine.stack = base_xcalloc(program->stack_depth, sizeof *machine.stack);
  machine.states = base_xcalloc(program->stack_depth, sizeof *machine.states);
  error = run(&machine, ret);
  free(machine.stack);
  free(machine.states);
  return error;
}

enum net_eval_error net_program_run(const struct net_program *program, const union net_slot *row,
                                    net_chronon bound, struct net_value *ret) {
  int64_t result;
  if (program->quick_count > 0 && net_quick_run(program, row, &result)) {
    if (program->quick_truth) {
      set_truth(ret, result ? NET_TRUE : NET_FALSE);
    } else {
      ret->i = result;
    }
    return NET_EVAL_OK;
  }
  return start((struct machine){.program = program, .row = row, .bound = bound}, ret);
}

enum net_eval_error net_program_run_moment(const struct net_program *program,
                                           const union net_slot *row, net_chronon bound,
                                           const struct net_moment *moment, struct net_value *ret) {
  return start((struct machine){.program = program, .row = row, .bound = bound, .moment = moment},
               ret);
}

enum net_eval_error net_program_run_instant(const struct net_program *program,
                                            const union net_slot *row, net_chronon bound,
                                            struct net_instant *ret, bool *ret_open) {
  struct machine machine = {
      .program = program, .row = row, .bound = bound, .reading = OPEN_EARLIEST};
  struct net_value earliest, latest;
  enum net_eval_error error = start(machine, &earliest);
  if (error == NET_EVAL_OK) *ret = earliest.instant;
  *ret_open = false;
  if (error != NET_EVAL_OK || !reads_an_open_stop(program, row)) return error;
  machine.reading = OPEN_LATEST;
  error = start(machine, &latest);
  if (error != NET_EVAL_OK) return error;
  if (earliest.instant.lo == latest.instant.lo && earliest.instant.hi == latest.instant.hi) {
    return NET_EVAL_OK;
  }
  /* At its latest it must be known to the chronon: of one that has bounds still, the bound of what is
   * open would take the place of the lower one. */
  if (program->moves_back || latest.instant.lo != latest.instant.hi) return NET_EVAL_OPEN;
  *ret = (struct net_instant){NET_OPEN, latest.instant.hi};
  *ret_open = true;
  return NET_EVAL_OK;
}

net_chronon net_program_floor(const struct net_program *program, const union net_slot *floor,
                              net_chronon bound) {
  struct machine machine = {
      .program = program, .row = floor, .bound = bound, .reading = OPEN_EARLIEST};
  struct net_value value;
  return start(machine, &value) == NET_EVAL_OK ? value.instant.lo : NET_BEGINNING;
}

/* --- what a row itself says of its open stops */

static net_chronon larger(net_chronon a, net_chronon b) {
  return a > b ? a : b;
}

/* A period that exists is not empty: its stop, and with it that of every member of the combination,
 * comes after the start, when that is known to the chronon (also when it is `beginning`: then any
 * chronon after it will do). A closing row that knows the implicit stop was emitted when all other
 * stops were known not to come before that. The `at` of an event row bounds nothing: a member of a
 * combination may have stopped before another one started. */
net_chronon net_row_bound(const struct net_layout *layout, const union net_slot *row, uint8_t marks,
                          net_chronon checkpoint) {
  struct net_instant start = net_row_start(row);
  if (layout->tuple_class != NET_PERIOD) return checkpoint;
  if ((marks & NET_CLOSES) && row[2].i != NET_OPEN) return larger(checkpoint, row[3].i);
  if (!net_row_is_open(layout, row)) return checkpoint;
  if (start.lo == start.hi && start.lo != NET_FOREVER) start.lo++;
  return larger(checkpoint, start.lo);
}
