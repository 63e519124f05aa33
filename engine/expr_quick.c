/* Quick programs: the straight way through conditions and integers, which most expressions are.
 *
 * A program that only loads slots and constants, computes with integers, compares integers (or strings
 * for equality: equal strings have one id) and combines such comparisons has a second form: the conjuncts
 * of its topmost `and`s one after the other, each a few steps whose operands are slots, constants or
 * results of earlier steps. Such comparisons are never unknown. A conjunct that is F ends the run: an
 * error in another one does not count then.
 *
 * Over plain rows (batch.h) an instant is a number, too, and what is said of instants is never unknown:
 * the plain form has steps for them besides. A predicate over a combination of two rows can be run on
 * the two where they lie.
 *
 * What is asked most is one step: an operand may be a slot to which a constant is added, or a slot by a
 * power of two, or what that leaves.
 *
 * Where a step fails (overflow, division by zero, the ends of the time line) the run is given up and the
 * stack machine (expr.c) says what comes of it. The forms agree; quick_test runs random programs.     */
#include <string.h>

#include "engine/expr_ops.h"

enum operand { OPERAND_SLOT, OPERAND_CONSTANT, OPERAND_RESULT };

/* Steps that no program has. */
enum { QUICK_LOAD = NET_OP_COUNT };

/* How a slot becomes an operand: BY is added to it, or it is halved BY times, or what is left then. */
enum how { HOW_ADD, HOW_HALVE, HOW_REST };

struct operand_of {
  uint8_t kind;
  uint8_t how;
  uint8_t side; /* of a pair: whose slot; 2: the implicit times of the combination */
  uint32_t slot;
  int64_t by; /* or the constant */
};

struct net_quick_step {
  uint8_t
      op; /* enum net_op: I_ADD .. I_MOD, I_COMPARE, AND, OR, NOT, I_NEG; of instants; QUICK_LOAD */
  uint8_t comparison; /* enum net_comparison */
  bool ends;          /* a conjunct ends here: F is the program's answer */
  struct operand_of left, right;
  int64_t span; /* WITHIN, SHIFT */
};

enum { DEEPEST = 16, LONGEST = 1024 /* steps */ };

/* --- making */

struct maker {
  const struct net_program *program;
  struct net_quick_step *steps;
  size_t count;
  size_t depth, deepest;
  bool plain;
};

/* The steps FIRST to LAST of the program, an operand. */
struct extent {
  size_t first, last;
};

static bool is_constant(const struct maker *maker, const struct net_step *step) {
  if (step->op == NET_OP_INTEGER || step->op == NET_OP_STRING) return true;
  return maker->plain && step->op == NET_OP_CONST_INSTANT && step->instant.lo == step->instant.hi;
}

static bool is_slot(const struct maker *maker, const struct net_step *step) {
  if (step->op == NET_OP_SLOT) return true;
  return maker->plain && (step->op == NET_OP_INSTANT_SLOT || step->op == NET_OP_STOP_SLOT);
}

static int64_t constant_of(const struct net_step *step) {
  if (step->op == NET_OP_CONST_INSTANT) return step->instant.lo;
  return step->op == NET_OP_STRING ? (int64_t)step->s : step->i;
}

/* The operands of the step at LAST, of which the first begins at FIRST. */
static void split(const struct net_program *program, size_t last, struct extent *ret) {
  size_t at = last;
  for (size_t i = net_op_info(program->steps[last].op)->operand_count; i-- > 0;) {
    size_t wanted = 1;
    ret[i].last = at - 1;
    while (wanted > 0) wanted = wanted + net_op_info(program->steps[--at].op)->operand_count - 1;
    ret[i].first = at;
  }
}

static bool make(struct maker *maker, struct extent extent);

static void put(struct maker *maker, struct net_quick_step step) {
  maker->depth -= (step.left.kind == OPERAND_RESULT) + (step.right.kind == OPERAND_RESULT);
  if (++maker->depth > maker->deepest) maker->deepest = maker->depth;
  maker->steps[maker->count++] = step;
}

static bool is_power_of_two(int64_t integer) {
  return integer > 0 && (integer & (integer - 1)) == 0;
}

/* The last step, if it makes an operand out of a slot and a constant, becomes this operand. */
static bool fold(struct maker *maker, struct operand_of *ret) {
  const struct net_quick_step *step = &maker->steps[maker->count - 1];
  if (step->left.kind != OPERAND_SLOT || step->left.how != HOW_ADD || step->left.by != 0 ||
      step->right.kind != OPERAND_CONSTANT)
    return false;
  struct operand_of operand = step->left;
  int64_t constant = step->right.by;
  if (step->op == NET_OP_I_ADD) {
    operand.by = constant;
  } else if (step->op == NET_OP_I_SUB && constant != INT64_MIN) {
    operand.by = -constant;
  } else if ((step->op == NET_OP_I_DIV || step->op == NET_OP_I_MOD) && is_power_of_two(constant)) {
    operand.how = step->op == NET_OP_I_DIV ? HOW_HALVE : HOW_REST;
    operand.by = __builtin_ctzll((unsigned long long)constant);
  } else {
    return false;
  }
  maker->count--;
  maker->depth--;
  *ret = operand;
  return true;
}

/* An operand as the step that uses it has it; steps that compute it are made before. */
static bool make_operand(struct maker *maker, struct extent extent, struct operand_of *ret) {
  const struct net_step *step = &maker->program->steps[extent.last];
  *ret = (struct operand_of){.kind = OPERAND_RESULT};
  if (is_slot(maker, step)) {
    *ret = (struct operand_of){.kind = OPERAND_SLOT, .slot = step->slot};
    return true;
  }
  if (is_constant(maker, step)) {
    *ret = (struct operand_of){.kind = OPERAND_CONSTANT, .by = constant_of(step)};
    return true;
  }
  if (!make(maker, extent)) return false;
  (void)fold(maker, ret);
  return true;
}

static bool make_binary(struct maker *maker, enum net_op op, enum net_comparison comparison,
                        struct extent left, struct extent right) {
  struct net_quick_step quick = {.op = (uint8_t)op, .comparison = (uint8_t)comparison};
  if (!make_operand(maker, left, &quick.left) || !make_operand(maker, right, &quick.right))
    return false;
  put(maker, quick);
  return true;
}

/* Two steps' results as one. */
static void join(struct maker *maker, enum net_op op, enum net_comparison comparison) {
  put(maker, (struct net_quick_step){.op = (uint8_t)op,
                                     .comparison = (uint8_t)comparison,
                                     .left = {.kind = OPERAND_RESULT},
                                     .right = {.kind = OPERAND_RESULT}});
}

/* The relations of periods, by what they are made of (interval.c). */
static bool make_relation(struct maker *maker, enum net_op op, const struct extent *of) {
  const enum net_op comparison = NET_OP_I_COMPARE;
  switch (op) {
    case NET_OP_OVERLAP_EVENT: /* event, start, stop */
      if (!make_binary(maker, comparison, NET_LE, of[1], of[0]) ||
          !make_binary(maker, comparison, NET_LT, of[0], of[2]))
        return false;
      break;
    case NET_OP_OVERLAP_PERIODS:
      if (!make_binary(maker, NET_OP_LATER, 0, of[0], of[2]) ||
          !make_binary(maker, NET_OP_EARLIER, 0, of[1], of[3]))
        return false;
      join(maker, comparison, NET_LT);
      return true;
    case NET_OP_EQUAL_PERIODS:
      if (!make_binary(maker, comparison, NET_EQ, of[0], of[2]) ||
          !make_binary(maker, comparison, NET_EQ, of[1], of[3]))
        return false;
      break;
    default: /* NET_OP_CONTAIN */
      if (!make_binary(maker, comparison, NET_LE, of[0], of[2]) ||
          !make_binary(maker, comparison, NET_LE, of[3], of[1]))
        return false;
  }
  join(maker, NET_OP_AND, 0);
  return true;
}

/* A step of which the other operand is a constant of its own. */
static bool make_unary(struct maker *maker, const struct net_step *step, struct extent of) {
  struct net_quick_step quick = {.op = (uint8_t)step->op, .right = {.kind = OPERAND_CONSTANT}};
  if (step->op == NET_OP_SHIFT) quick.span = step->i;
  if (step->op == NET_OP_CHRONON) quick.op = QUICK_LOAD;
  if (!make_operand(maker, of, &quick.left)) return false;
  put(maker, quick);
  return true;
}

static bool make_of_instants(struct maker *maker, const struct net_step *step,
                             const struct extent *of) {
  if (!maker->plain) return false;
  switch (step->op) {
    case NET_OP_BEFORE:
      return make_binary(maker, NET_OP_I_COMPARE, NET_LT, of[0], of[1]);
    case NET_OP_NOT_AFTER:
      return make_binary(maker, NET_OP_I_COMPARE, NET_LE, of[0], of[1]);
    case NET_OP_EQUAL_INSTANTS:
      return make_binary(maker, NET_OP_I_COMPARE, NET_EQ, of[0], of[1]);
    case NET_OP_LATER:
    case NET_OP_EARLIER:
    case NET_OP_SPAN:
      return make_binary(maker, step->op, 0, of[0], of[1]);
    case NET_OP_WITHIN:
      if (!make_binary(maker, step->op, 0, of[0], of[1])) return false;
      maker->steps[maker->count - 1].span = step->i;
      return true;
    case NET_OP_CHRONON:
    case NET_OP_SHIFT:
      return make_unary(maker, step, of[0]);
    case NET_OP_OVERLAP_EVENT:
    case NET_OP_OVERLAP_PERIODS:
    case NET_OP_EQUAL_PERIODS:
    case NET_OP_CONTAIN:
      return make_relation(maker, step->op, of);
    default:
      return false;
  }
}

static bool make(struct maker *maker, struct extent extent) {
  const struct net_step *step = &maker->program->steps[extent.last];
  struct extent of[4];
  if (is_slot(maker, step) || is_constant(maker, step)) {
    struct net_quick_step load = {.op = QUICK_LOAD, .right = {.kind = OPERAND_CONSTANT}};
    if (!make_operand(maker, extent, &load.left)) return false;
    put(maker, load);
    return true;
  }
  if (net_op_info(step->op)->operand_count > 4 || net_op_info(step->op)->operand_count == 0)
    return false;
  split(maker->program, extent.last, of);
  switch (step->op) {
    case NET_OP_I_ADD:
    case NET_OP_I_SUB:
    case NET_OP_I_MUL:
    case NET_OP_I_DIV:
    case NET_OP_I_MOD:
    case NET_OP_AND:
    case NET_OP_OR:
      return make_binary(maker, step->op, 0, of[0], of[1]);
    case NET_OP_I_COMPARE:
      return make_binary(maker, NET_OP_I_COMPARE, (enum net_comparison)step->i, of[0], of[1]);
    case NET_OP_S_COMPARE:
      return (step->i == NET_EQ || step->i == NET_NE) &&
             make_binary(maker, NET_OP_I_COMPARE, (enum net_comparison)step->i, of[0], of[1]);
    case NET_OP_I_NEG:
    case NET_OP_NOT:
      return make_unary(maker, step, of[0]);
    default:
      return make_of_instants(maker, step, of);
  }
}

/* The conjuncts of the steps of EXTENT, in their order. */
static bool make_conjuncts(struct maker *maker, struct extent extent) {
  const struct net_program *program = maker->program;
  if (program->steps[extent.last].op == NET_OP_AND) {
    struct extent of[2];
    split(program, extent.last, of);
    return make_conjuncts(maker, of[0]) && make_conjuncts(maker, of[1]);
  }
  maker->depth = 0;
  if (!make(maker, extent)) return false;
  maker->steps[maker->count - 1].ends = true;
  return true;
}

/* The number of steps; 0: there is no such form. Making it goes as deep as the program, so that very
 * long ones are left to the stack machine. */
static size_t make_form(const struct net_program *program, struct net_quick_step *steps,
                        bool plain) {
  if (program->count > LONGEST) return 0;
  struct maker maker = {.program = program, .steps = steps, .plain = plain};
  struct extent all = {0, program->count - 1};
  char result = net_op_info(program->steps[all.last].op)->result;
  if (result != 't' && result != 'i' && !(plain && result == 'x')) return 0;
  bool made = result == 't' ? make_conjuncts(&maker, all) : make(&maker, all);
  struct net_quick_step load = {.op = QUICK_LOAD, .right = {.kind = OPERAND_CONSTANT}};
  if (made && result != 't' && maker.count == 1 && fold(&maker, &load.left)) put(&maker, load);
  return made && maker.deepest <= DEEPEST ? maker.count : 0;
}

void net_quick_make(struct net_program *program) {
  char result = net_op_info(program->steps[program->count - 1].op)->result;
  program->quick_truth = result == 't';
  program->quick_count = make_form(program, program->quick, false);
  program->plain = program->quick;
  program->plain_count = program->quick_count;
  if (program->quick_count > 0) return;
  program->plain_count = make_form(program, program->plain, true);
}

size_t net_quick_step_size(void) {
  return sizeof(struct net_quick_step);
}

/* --- running */

static bool reserved(net_chronon time) {
  return time == NET_BEGINNING || time == NET_FOREVER;
}

/* The value of a slot as the operand has it; false: it fails. */
static inline bool take(enum how how, int64_t by, int64_t value, int64_t *ret) {
  if (how == HOW_ADD) return !__builtin_add_overflow(value, by, ret);
  int64_t mask = (int64_t)((UINT64_C(1) << by) - 1);
  int64_t rounded = value + (value >> 63 & mask);
  *ret = how == HOW_HALVE ? rounded >> by : value - (rounded & ~mask);
  return true;
}

static inline bool load(const struct operand_of *operand, const union net_slot *row, int64_t **top,
                        int64_t *ret) {
  if (operand->kind == OPERAND_SLOT)
    return take((enum how)operand->how, operand->by, row[operand->slot].i, ret);
  *ret = operand->kind == OPERAND_RESULT ? *--*top : operand->by;
  return true;
}

static bool perform_of_instants(const struct net_quick_step *step, int64_t a, int64_t b,
                                int64_t *ret) {
  switch ((enum net_op)step->op) {
    case NET_OP_SHIFT:
      return !reserved(a) && !__builtin_add_overflow(a, step->span, ret) && !reserved(*ret) &&
             *ret >= NET_EARLIEST;
    case NET_OP_SPAN:
      return !reserved(a) && !reserved(b) && !__builtin_sub_overflow(b, a, ret);
    default: /* NET_OP_WITHIN */
      if (reserved(a) || reserved(b) || __builtin_sub_overflow(b, a, ret)) return false;
      *ret = *ret <= step->span;
      return true;
  }
}

/* STEP on the operands at *TOP; false: it fails. */
static inline bool perform(const struct net_quick_step *step, const union net_slot *left,
                           const union net_slot *right, int64_t **top) {
  int64_t a, b, result = 0;
  if (!load(&step->right, right, top, &b) || !load(&step->left, left, top, &a)) return false;
  switch (step->op) {
    case NET_OP_I_COMPARE:
      result = net_compare_integers((enum net_comparison)step->comparison, a, b);
      break;
    case QUICK_LOAD:
      result = a;
      break;
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
    case NET_OP_AND:
      result = a & b;
      break;
    case NET_OP_OR:
      result = a | b;
      break;
    case NET_OP_NOT:
      result = !a;
      break;
    case NET_OP_LATER:
      result = a > b ? a : b;
      break;
    case NET_OP_EARLIER:
      result = a < b ? a : b;
      break;
    default:
      if (!perform_of_instants(step, a, b, &result)) return false;
  }
  *(*top)++ = result;
  return true;
}

/* ROWS: of a pair left, right and implicit times; else all the same. */
static inline bool run(const struct net_quick_step *step, size_t count, bool pair,
                       const union net_slot *const *rows, int64_t *ret) {
  int64_t stack[DEEPEST + 1], *top = stack; /* TOP: behind the last result */
  const struct net_quick_step *end = step + count;
  for (; step < end; step++) {
    if (!perform(step, rows[pair ? step->left.side : 0], rows[pair ? step->right.side : 0], &top))
      return false;
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

bool net_quick_run(const struct net_program *program, const union net_slot *row, int64_t *ret) {
  return run(program->quick, program->quick_count, false, &row, ret);
}

/* --- programs of other rows */

void net_program_plain_reads(const struct net_program *program, bool *reads) {
  for (size_t i = 0; i < program->plain_count; i++) {
    const struct net_quick_step *step = &program->plain[i];
    if (step->left.kind == OPERAND_SLOT) reads[step->left.slot] = true;
    if (step->right.kind == OPERAND_SLOT) reads[step->right.slot] = true;
  }
}

const struct net_program *net_program_moved(struct base_arena *arena,
                                            const struct net_program *program,
                                            const uint32_t *slots) {
  struct net_program *moved = BASE_NEW(arena, struct net_program);
  *moved = (struct net_program){
      .plain = base_arena_array(arena, program->plain_count, sizeof *moved->plain),
      .plain_count = program->plain_count,
      .quick_truth = program->quick_truth};
  for (size_t i = 0; i < program->plain_count; i++) {
    struct net_quick_step *step = &moved->plain[i];
    *step = program->plain[i];
    if (step->left.kind == OPERAND_SLOT) step->left.slot = slots[step->left.slot];
    if (step->right.kind == OPERAND_SLOT) step->right.slot = slots[step->right.slot];
  }
  return moved;
}

/* --- pairs */

const struct net_pair_program *net_pair_program_new(struct base_arena *arena,
                                                    const struct net_program *program,
                                                    const uint8_t *sides, const uint32_t *slots) {
  if (program->plain_count == 0 || !program->quick_truth) return NULL;
  struct net_pair_program *pair = BASE_NEW(arena, struct net_pair_program);
  struct net_quick_step *steps = base_arena_array(arena, program->plain_count, sizeof *steps);
  memcpy(steps, program->plain, program->plain_count * sizeof *steps);
  for (size_t i = 0; i < program->plain_count; i++) {
    struct operand_of *operands[2] = {&steps[i].left, &steps[i].right};
    for (unsigned k = 0; k < 2; k++) {
      if (operands[k]->kind != OPERAND_SLOT) continue;
      operands[k]->side = sides[operands[k]->slot];
      operands[k]->slot = slots[operands[k]->slot];
    }
  }
  *pair = (struct net_pair_program){.steps = steps, .count = program->plain_count};
  const struct operand_of *left = &steps->left, *right = &steps->right;
  pair->compares = pair->count == 1 && steps->op == NET_OP_I_COMPARE &&
                   left->kind == OPERAND_SLOT && left->how == HOW_ADD &&
                   right->kind == OPERAND_SLOT && right->how == HOW_ADD;
  pair->comparison = (enum net_comparison)steps->comparison;
  for (unsigned k = 0; k < 2; k++) {
    const struct operand_of *operand = k == 0 ? left : right;
    pair->sides[k] = operand->side;
    pair->slots[k] = operand->slot;
    pair->more[k] = operand->by;
  }
  return pair;
}

bool net_pair_program_run(const struct net_pair_program *pair, const union net_slot *left,
                          const union net_slot *right, const union net_slot *times, bool *ret) {
  const union net_slot *const rows[3] = {left, right, times};
  int64_t result;
  if (!run(pair->steps, pair->count, true, rows, &result)) return false;
  *ret = result != 0;
  return true;
}

/* --- many rows */

static inline bool column_slot(const struct operand_of *operand, enum how how,
                               const union net_slot *rows, uint32_t width,
                               const uint32_t *selection, uint32_t count, int64_t *ret) {
  const union net_slot *slots = rows + operand->slot;
  int64_t by = operand->by;
  bool failed = false;
  for (uint32_t i = 0; i < count && selection == NULL; i++, slots += width)
    failed |= !take(how, by, slots->i, &ret[i]);
  for (uint32_t i = 0; i < count && selection != NULL; i++)
    failed |= !take(how, by, slots[(size_t)selection[i] * width].i, &ret[i]);
  return !failed;
}

static bool is_bare_slot(const struct operand_of *operand) {
  return operand->kind == OPERAND_SLOT && operand->how == HOW_ADD && operand->by == 0;
}

/* From one slot to another, both finite: mostly two instants of a row. */
static bool column_span(const struct net_quick_step *step, const union net_slot *rows,
                        uint32_t width, const uint32_t *selection, uint32_t count, int64_t *ret) {
  bool failed = false;
  for (uint32_t i = 0; i < count; i++) {
    const union net_slot *row = rows + (size_t)(selection ? selection[i] : i) * width;
    int64_t from = row[step->left.slot].i, to = row[step->right.slot].i;
    failed |= reserved(from) | reserved(to) | __builtin_sub_overflow(to, from, &ret[i]);
  }
  return !failed;
}

bool net_program_column(const struct net_program *program, const union net_slot *rows,
                        uint32_t width, const uint32_t *selection, uint32_t count, int64_t *ret) {
  const struct net_quick_step *step = program->plain;
  if (program->plain_count == 0) return false;
  if (program->plain_count == 1 && step->op == QUICK_LOAD && step->left.kind == OPERAND_SLOT) {
    switch ((enum how)step->left.how) {
      case HOW_ADD:
        return column_slot(&step->left, HOW_ADD, rows, width, selection, count, ret);
      case HOW_HALVE:
        return column_slot(&step->left, HOW_HALVE, rows, width, selection, count, ret);
      case HOW_REST:
      default:
        return column_slot(&step->left, HOW_REST, rows, width, selection, count, ret);
    }
  }
  if (program->plain_count == 1 && step->op == NET_OP_SPAN && is_bare_slot(&step->left) &&
      is_bare_slot(&step->right) && column_span(step, rows, width, selection, count, ret))
    return true;
  for (uint32_t i = 0; i < count; i++) {
    const union net_slot *row = rows + (size_t)(selection ? selection[i] : i) * width;
    if (!run(program->plain, program->plain_count, false, &row, &ret[i])) return false;
  }
  return true;
}

/* Of a comparison of a slot with a constant, one loop for each that is common. There is no branch on the
 * answer: nobody could predict it. */
static inline bool select_slot(const struct net_quick_step *step, enum how how,
                               enum net_comparison comparison, const union net_slot *rows,
                               uint32_t width, uint32_t *selected, uint32_t *count) {
  const union net_slot *slots = rows + step->left.slot;
  int64_t by = step->left.by, constant = step->right.by;
  uint32_t kept = 0;
  bool failed = false;
  for (uint32_t i = 0; i < *count; i++) {
    uint32_t index = selected[i];
    int64_t value;
    failed |= !take(how, by, slots[(size_t)index * width].i, &value);
    selected[kept] = index;
    kept += net_compare_integers(comparison, value, constant);
  }
  *count = kept;
  return !failed;
}

static inline bool select_how(const struct net_quick_step *step, enum how how,
                              const union net_slot *rows, uint32_t width, uint32_t *selected,
                              uint32_t *count) {
  switch ((enum net_comparison)step->comparison) {
    case NET_EQ:
      return select_slot(step, how, NET_EQ, rows, width, selected, count);
    case NET_NE:
      return select_slot(step, how, NET_NE, rows, width, selected, count);
    case NET_LT:
      return select_slot(step, how, NET_LT, rows, width, selected, count);
    case NET_LE:
      return select_slot(step, how, NET_LE, rows, width, selected, count);
    case NET_GT:
      return select_slot(step, how, NET_GT, rows, width, selected, count);
    case NET_GE:
    default:
      return select_slot(step, how, NET_GE, rows, width, selected, count);
  }
}

static bool select_compared(const struct net_quick_step *step, const union net_slot *rows,
                            uint32_t width, uint32_t *selected, uint32_t *count) {
  switch ((enum how)step->left.how) {
    case HOW_ADD:
      return select_how(step, HOW_ADD, rows, width, selected, count);
    case HOW_HALVE:
      return select_how(step, HOW_HALVE, rows, width, selected, count);
    case HOW_REST:
    default:
      return select_how(step, HOW_REST, rows, width, selected, count);
  }
}

static bool select_steps(const struct net_quick_step *first, const struct net_quick_step *last,
                         const union net_slot *rows, uint32_t width, uint32_t *selected,
                         uint32_t *count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < *count; i++) {
    int64_t stack[DEEPEST + 1], *top = stack;
    const union net_slot *row = rows + (size_t)selected[i] * width;
    for (const struct net_quick_step *step = first; step <= last; step++)
      if (!perform(step, row, row, &top)) return false;
    selected[kept] = selected[i];
    kept += top[-1] != 0;
  }
  *count = kept;
  return true;
}

bool net_program_select(const struct net_program *program, bool plain, const union net_slot *rows,
                        uint32_t width, uint32_t *selected, uint32_t *count) {
  const struct net_quick_step *first = plain ? program->plain : program->quick;
  const struct net_quick_step *end = first + (plain ? program->plain_count : program->quick_count);
  if (first == end || !program->quick_truth) return false;
  while (first < end) {
    const struct net_quick_step *last = first;
    while (!last->ends) last++;
    bool compared = first == last && first->op == NET_OP_I_COMPARE &&
                    first->left.kind == OPERAND_SLOT && first->right.kind == OPERAND_CONSTANT;
    if (!(compared ? select_compared(first, rows, width, selected, count)
                   : select_steps(first, last, rows, width, selected, count)))
      return false;
    first = last + 1;
  }
  return true;
}

/* The same for marks. */
static inline __attribute__((always_inline)) bool mark_slot(
    const struct net_quick_step *step, enum how how, enum net_comparison comparison,
    const union net_slot *rows, uint32_t width, const uint32_t *selection, uint32_t count,
    uint8_t bit, uint8_t *marks) {
  const union net_slot *slots = rows + step->left.slot;
  int64_t by = step->left.by, constant = step->right.by;
  bool failed = false;
  for (uint32_t i = 0; i < count; i++) {
    int64_t value;
    failed |= !take(how, by, slots[(size_t)(selection ? selection[i] : i) * width].i, &value);
    bool holds = net_compare_integers(comparison, value, constant);
    marks[i] &= (uint8_t)(~bit | -(int)holds);
  }
  return !failed;
}

static bool mark_compared(const struct net_quick_step *step, const union net_slot *rows,
                          uint32_t width, const uint32_t *selection, uint32_t count, uint8_t bit,
                          uint8_t *marks) {
  enum how how = (enum how)step->left.how;
  enum net_comparison comparison = (enum net_comparison)step->comparison;
  if (how == HOW_REST && comparison == NET_EQ)
    return mark_slot(step, HOW_REST, NET_EQ, rows, width, selection, count, bit, marks);
  if (how == HOW_ADD && comparison == NET_EQ)
    return mark_slot(step, HOW_ADD, NET_EQ, rows, width, selection, count, bit, marks);
  return mark_slot(step, how, comparison, rows, width, selection, count, bit, marks);
}

static bool mark_steps(const struct net_quick_step *first, const struct net_quick_step *last,
                       const union net_slot *rows, uint32_t width, const uint32_t *selection,
                       uint32_t count, uint8_t bit, uint8_t *marks) {
  for (uint32_t i = 0; i < count; i++) {
    int64_t stack[DEEPEST + 1], *top = stack;
    const union net_slot *row = rows + (size_t)(selection ? selection[i] : i) * width;
    for (const struct net_quick_step *step = first; step <= last; step++)
      if (!perform(step, row, row, &top)) return false;
    if (top[-1] == 0) marks[i] &= (uint8_t)~bit;
  }
  return true;
}

bool net_program_mark(const struct net_program *program, const union net_slot *rows, uint32_t width,
                      const uint32_t *selection, uint32_t count, uint8_t bit, uint8_t *marks) {
  const struct net_quick_step *first = program->plain, *end = first + program->plain_count;
  if (first == end || !program->quick_truth) return false;
  while (first < end) {
    const struct net_quick_step *last = first;
    while (!last->ends) last++;
    bool compared = first == last && first->op == NET_OP_I_COMPARE &&
                    first->left.kind == OPERAND_SLOT && first->right.kind == OPERAND_CONSTANT;
    if (!(compared ? mark_compared(first, rows, width, selection, count, bit, marks)
                   : mark_steps(first, last, rows, width, selection, count, bit, marks)))
      return false;
    first = last + 1;
  }
  return true;
}

/* The one step of a program that asks whether a slot, or what is computed of it alone, has a value. */
static const struct net_quick_step *asks_value(const struct net_program *program) {
  const struct net_quick_step *step = program->plain;
  bool asks = program->plain_count == 1 && program->quick_truth && step->op == NET_OP_I_COMPARE &&
              step->comparison == NET_EQ && step->left.kind == OPERAND_SLOT &&
              step->right.kind == OPERAND_CONSTANT;
  return asks ? step : NULL;
}

static inline __attribute__((always_inline)) bool mark_values(
    const struct net_quick_step *step, enum how how, int64_t second, const union net_slot *rows,
    uint32_t width, const uint32_t *selection, uint32_t count, uint8_t *marks) {
  const union net_slot *slots = rows + step->left.slot;
  int64_t by = step->left.by, first = step->right.by;
  bool failed = false;
  for (uint32_t i = 0; i < count; i++) {
    int64_t value;
    failed |= !take(how, by, slots[(size_t)(selection ? selection[i] : i) * width].i, &value);
    marks[i] = (uint8_t)((value == first) | (value == second) << 1);
  }
  return !failed;
}

static inline __attribute__((always_inline)) bool find_values(const struct net_quick_step *step,
                                                              enum how how, int64_t second,
                                                              const union net_slot *rows,
                                                              uint32_t width, uint32_t count,
                                                              uint8_t *which) {
  const union net_slot *slots = rows + step->left.slot;
  int64_t by = step->left.by, first = step->right.by;
  bool failed = false;
  for (uint32_t i = 0; i < count; i++, slots += width) {
    int64_t value;
    failed |= !take(how, by, slots->i, &value);
    which[i] = value == second;
    failed |= (value != first) & (value != second);
  }
  return !failed;
}

/* Do both ask for values of the same expression? */
static bool ask_alike(const struct net_quick_step *a, const struct net_quick_step *b) {
  return a != NULL && b != NULL && a->left.slot == b->left.slot && a->left.how == b->left.how &&
         a->left.by == b->left.by;
}

bool net_programs_find_values(const struct net_program *first, const struct net_program *second,
                              const union net_slot *rows, uint32_t width, uint32_t count,
                              uint8_t *which) {
  const struct net_quick_step *a = asks_value(first), *b = asks_value(second);
  if (!ask_alike(a, b) || a->right.by == b->right.by) return false;
  int64_t value = b->right.by;
  switch ((enum how)a->left.how) {
    case HOW_ADD:
      return find_values(a, HOW_ADD, value, rows, width, count, which);
    case HOW_HALVE:
      return find_values(a, HOW_HALVE, value, rows, width, count, which);
    case HOW_REST:
    default:
      return find_values(a, HOW_REST, value, rows, width, count, which);
  }
}

bool net_programs_mark_values(const struct net_program *first, const struct net_program *second,
                              const union net_slot *rows, uint32_t width, const uint32_t *selection,
                              uint32_t count, uint8_t *marks) {
  const struct net_quick_step *a = asks_value(first), *b = asks_value(second);
  if (!ask_alike(a, b)) return false;
  int64_t value = b->right.by;
  switch ((enum how)a->left.how) {
    case HOW_ADD:
      return mark_values(a, HOW_ADD, value, rows, width, selection, count, marks);
    case HOW_HALVE:
      return mark_values(a, HOW_HALVE, value, rows, width, selection, count, marks);
    case HOW_REST:
    default:
      return mark_values(a, HOW_REST, value, rows, width, selection, count, marks);
  }
}
