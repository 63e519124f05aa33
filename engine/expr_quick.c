/* Quick programs: the straight way through conditions and integers, which most expressions are.
 *
 * A program that only loads slots and constants, computes with integers, compares integers (or strings
 * for equality: equal strings have one id) and combines such comparisons has a second form: the conjuncts
 * of its topmost `and`s one after the other, each a few steps whose operands are slots, constants or
 * results of earlier steps. Such comparisons are never unknown. A conjunct that is F ends the run: an
 * error in another one does not count then.
 *
 * Where a step fails (overflow, division by zero) the run is given up and the stack machine (expr.c)
 * says what comes of it. The two forms agree; expr_test runs random programs both ways.            */
#include <string.h>

#include "engine/expr_ops.h"

enum operand { OPERAND_SLOT, OPERAND_CONSTANT, OPERAND_RESULT };

struct net_quick_step {
  uint8_t op;         /* enum net_op: I_ADD .. I_MOD, I_COMPARE, AND, OR, NOT, I_NEG, INTEGER */
  uint8_t comparison; /* enum net_comparison */
  uint8_t left, right;
  bool ends; /* a conjunct ends here: F is the program's answer */
  uint32_t left_slot, right_slot;
  int64_t constant; /* of the right operand, or of the left where the right is none */
};

enum { DEEPEST = 16 };

/* --- making */

struct maker {
  const struct net_program *program;
  struct net_quick_step *steps;
  size_t count;
  size_t depth, deepest;
};

static bool is_push(const struct net_step *step) {
  return step->op == NET_OP_SLOT || step->op == NET_OP_INTEGER || step->op == NET_OP_STRING;
}

static bool is_arithmetic(enum net_op op) {
  return op == NET_OP_I_ADD || op == NET_OP_I_SUB || op == NET_OP_I_MUL || op == NET_OP_I_DIV ||
         op == NET_OP_I_MOD;
}

static bool is_comparison(const struct net_step *step) {
  if (step->op == NET_OP_I_COMPARE) return true;
  return step->op == NET_OP_S_COMPARE && (step->i == NET_EQ || step->i == NET_NE);
}

/* The index of the first step of the operand that ends at step LAST. */
static size_t first_of(const struct net_program *program, size_t last) {
  size_t wanted = 1, at = last + 1;
  while (wanted > 0) wanted = wanted + net_op_info(program->steps[--at].op)->operand_count - 1;
  return at;
}

static int64_t constant_of(const struct net_step *step) {
  return step->op == NET_OP_STRING ? (int64_t)step->s : step->i;
}

static bool make(struct maker *maker, size_t first, size_t last);

/* An operand as the step that uses it has it; steps that compute it are made before. */
static bool make_operand(struct maker *maker, size_t first, size_t last, uint8_t *ret_kind,
                         uint32_t *ret_slot, int64_t *ret_constant, bool constants) {
  const struct net_step *step = &maker->program->steps[last];
  if (step->op == NET_OP_SLOT) {
    *ret_kind = OPERAND_SLOT;
    *ret_slot = step->slot;
    return true;
  }
  if (constants && is_push(step)) {
    *ret_kind = OPERAND_CONSTANT;
    *ret_constant = constant_of(step);
    return true;
  }
  *ret_kind = OPERAND_RESULT;
  return make(maker, first, last);
}

static bool make(struct maker *maker, size_t first, size_t last) {
  const struct net_program *program = maker->program;
  const struct net_step *step = &program->steps[last];
  struct net_quick_step quick = {
      .op = (uint8_t)step->op, .left = OPERAND_CONSTANT, .right = OPERAND_CONSTANT};
  bool binary = is_arithmetic(step->op) || is_comparison(step) || step->op == NET_OP_AND ||
                step->op == NET_OP_OR;
  if (binary) {
    size_t middle = first_of(program, last - 1);
    if (is_comparison(step)) {
      quick.op = NET_OP_I_COMPARE;
      quick.comparison = (uint8_t)step->i;
    }
    int64_t unused;
    if (!make_operand(maker, first, middle - 1, &quick.left, &quick.left_slot, &unused, false) ||
        !make_operand(maker, middle, last - 1, &quick.right, &quick.right_slot, &quick.constant,
                      true))
      return false;
    maker->depth -= (quick.left == OPERAND_RESULT) + (quick.right == OPERAND_RESULT);
  } else if (step->op == NET_OP_I_NEG || step->op == NET_OP_NOT) {
    int64_t unused;
    if (!make_operand(maker, first, last - 1, &quick.left, &quick.left_slot, &unused, false))
      return false;
    maker->depth -= quick.left == OPERAND_RESULT;
  } else if (step->op == NET_OP_INTEGER || step->op == NET_OP_STRING) {
    quick.op = NET_OP_INTEGER;
    quick.constant = constant_of(step);
  } else {
    return false;
  }
  if (++maker->depth > maker->deepest) maker->deepest = maker->depth;
  maker->steps[maker->count++] = quick;
  return true;
}

/* The conjuncts of steps FIRST to LAST, in their order. */
static bool make_conjuncts(struct maker *maker, size_t first, size_t last) {
  const struct net_program *program = maker->program;
  if (program->steps[last].op == NET_OP_AND) {
    size_t middle = first_of(program, last - 1);
    return make_conjuncts(maker, first, middle - 1) && make_conjuncts(maker, middle, last - 1);
  }
  maker->depth = 0;
  if (!make(maker, first, last)) return false;
  maker->steps[maker->count - 1].ends = true;
  return true;
}

void net_quick_make(struct net_program *program) {
  struct maker maker = {.program = program, .steps = program->quick};
  size_t last = program->count - 1;
  char result = net_op_info(program->steps[last].op)->result;
  program->quick_count = 0;
  if (result != 't' && result != 'i') return;
  bool made = result == 't' ? make_conjuncts(&maker, 0, last) : make(&maker, 0, last);
  if (!made || maker.deepest > DEEPEST) return;
  program->quick_count = maker.count;
  program->quick_truth = result == 't';
}

size_t net_quick_step_size(void) {
  return sizeof(struct net_quick_step);
}

/* --- running */

static bool compare(enum net_comparison comparison, int64_t a, int64_t b) {
  switch (comparison) {
    case NET_EQ:
      return a == b;
    case NET_NE:
      return a != b;
    case NET_LT:
      return a < b;
    case NET_LE:
      return a <= b;
    case NET_GT:
      return a > b;
    case NET_GE:
    default:
      return a >= b;
  }
}

/* STEP on the operands at *TOP; false: it fails. */
static inline bool perform(const struct net_quick_step *step, const union net_slot *row,
                           int64_t **top) {
  int64_t a = 0, b = step->constant, result = 0;
  if (step->right == OPERAND_SLOT)
    b = row[step->right_slot].i;
  else if (step->right == OPERAND_RESULT)
    b = *--*top;
  if (step->left == OPERAND_SLOT)
    a = row[step->left_slot].i;
  else if (step->left == OPERAND_RESULT)
    a = *--*top;
  switch ((enum net_op)step->op) {
    case NET_OP_I_ADD:
      if (__builtin_add_overflow(a, b, &result)) return false;
      break;
    case NET_OP_I_SUB:
      if (__builtin_sub_overflow(a, b, &result)) return false;
      break;
    case NET_OP_I_MUL:
      if (__builtin_mul_overflow(a, b, &result)) return false;
      break;
    case NET_OP_I_DIV:
      if (b == 0 || b == -1) return false;
      result = a / b;
      break;
    case NET_OP_I_MOD:
      if (b == 0 || b == -1) return false;
      result = a % b;
      break;
    case NET_OP_I_NEG:
      if (__builtin_sub_overflow(INT64_C(0), a, &result)) return false;
      break;
    case NET_OP_I_COMPARE:
      result = compare((enum net_comparison)step->comparison, a, b);
      break;
    case NET_OP_AND:
      result = a & b;
      break;
    case NET_OP_OR:
      result = a | b;
      break;
    case NET_OP_NOT:
      result = !a;
      break;
    default: /* NET_OP_INTEGER */
      result = step->constant;
  }
  *(*top)++ = result;
  return true;
}

bool net_quick_run(const struct net_program *program, const union net_slot *row, int64_t *ret) {
  int64_t stack[DEEPEST + 1], *top = stack; /* TOP: behind the last result */
  const struct net_quick_step *step = program->quick, *end = step + program->quick_count;
  for (; step < end; step++) {
    if (!perform(step, row, &top)) return false;
    if (!step->ends) continue;
    if (!top[-1]) {
      *ret = 0;
      return true;
    }
    if (step + 1 < end) top = stack;
  }
  *ret = top[-1];
  return true;
}

bool net_program_select(const struct net_program *program, const union net_slot *rows,
                        uint32_t width, uint32_t *selected, uint32_t *count) {
  const struct net_quick_step *first = program->quick, *end = first + program->quick_count;
  if (program->quick_count == 0 || !program->quick_truth) return false;
  while (first < end) {
    const struct net_quick_step *last = first;
    while (!last->ends) last++;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; i++) {
      int64_t stack[DEEPEST + 1], *top = stack;
      const union net_slot *row = rows + (size_t)selected[i] * width;
      for (const struct net_quick_step *step = first; step <= last; step++)
        if (!perform(step, row, &top)) return false;
      selected[kept] = selected[i]; /* no branch: nobody could predict it */
      kept += top[-1] != 0;
    }
    *count = kept;
    first = last + 1;
  }
  return true;
}
