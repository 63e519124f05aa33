/* Making lowered expressions, comparing them, and what can be known of them without a row.
 *
 * The range analysis knows integers only: what a column can hold by its width, and what + - * and
 * the like make of it. It decides whether a condition can fail, and so whether it may stand in
 * front of others (an error counts only if no other conjunct is false). */
#include "netgen/expr.h"

#include <string.h>

static const struct net_type type_bool = {NET_BOOL, 1};
static const struct net_type type_instant = {NET_INSTANT, 0};

struct ng_expr *ng_expr_new(struct base_arena *arena, enum ng_op op, struct net_type type) {
  struct ng_expr *expr = BASE_NEW(arena, struct ng_expr);
  expr->op = op;
  expr->type = type;
  return expr;
}

const struct ng_expr *ng_expr_column(struct base_arena *arena, const struct ng_column *column) {
  struct ng_expr *expr = ng_expr_new(arena, NG_COLUMN, column->type);
  expr->column = column;
  return expr;
}

const struct ng_expr *ng_expr_instant(struct base_arena *arena, struct net_instant instant) {
  struct ng_expr *expr = ng_expr_new(arena, NG_INSTANT, type_instant);
  expr->instant = instant;
  return expr;
}

const struct ng_expr *ng_expr_truth(struct base_arena *arena, bool value) {
  struct ng_expr *expr = ng_expr_new(arena, NG_TRUTH, type_bool);
  expr->integer = value;
  return expr;
}

const struct ng_expr *ng_expr_make(struct base_arena *arena, enum ng_op op, unsigned arg_count,
                                   const struct ng_expr *const *args) {
  bool instant = op == NG_LATER || op == NG_EARLIER || op == NG_INTERSECT;
  struct ng_expr *expr = ng_expr_new(arena, op, instant ? type_instant : type_bool);
  BASE_CHECK(arg_count <= 4, "expression-operands");
  expr->arg_count = arg_count;
  for (unsigned i = 0; i < arg_count; i++) expr->args[i] = args[i];
  return expr;
}

const struct ng_expr *ng_expr_and(struct base_arena *arena, const struct ng_expr *left,
                                  const struct ng_expr *right) {
  if (!left) return right;
  if (!right) return left;
  return ng_expr_make(arena, NG_AND, 2, (const struct ng_expr *const[]){left, right});
}

/* --- ask */

unsigned ng_expr_turning_operands(const struct ng_expr *expr) {
  switch (expr->op) {
    case NG_ADD:
    case NG_MUL:
    case NG_EQ:
    case NG_NE:
    case NG_LT:
    case NG_LE:
    case NG_GT:
    case NG_GE:
    case NG_EQUAL_INSTANTS:
      return expr->args[0]->type.base == NET_TEMPORAL ? 0 : 1;
    case NG_OVERLAP_PERIODS:
    case NG_EQUAL_PERIODS:
      return 2;
    default:
      return 0;
  }
}

enum ng_op ng_op_mirrored(enum ng_op op) {
  switch (op) {
    case NG_LT:
      return NG_GT;
    case NG_LE:
      return NG_GE;
    case NG_GT:
      return NG_LT;
    case NG_GE:
      return NG_LE;
    default:
      return op;
  }
}

bool ng_expr_equal(const struct ng_expr *a, const struct ng_expr *b) {
  if (a == b) return true;
  if (a->op != b->op || a->type.base != b->type.base || a->arg_count != b->arg_count ||
      a->column != b->column || a->integer != b->integer || a->string != b->string ||
      memcmp(&a->real, &b->real, sizeof a->real) != 0 || a->instant.lo != b->instant.lo ||
      a->instant.hi != b->instant.hi) {
    return false;
  }
  for (unsigned i = 0; i < a->arg_count; i++) {
    if (!ng_expr_equal(a->args[i], b->args[i])) return false;
  }
  return true;
}

void ng_expr_mark(const struct ng_expr *expr, bool *used) {
  if (expr->op == NG_COLUMN) used[expr->column->id] = true;
  for (unsigned i = 0; i < expr->arg_count; i++) ng_expr_mark(expr->args[i], used);
}

bool ng_expr_fits(const struct ng_expr *expr, const struct ng_node *node) {
  if (expr->op == NG_COLUMN && !ng_node_has(node, expr->column)) return false;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    if (!ng_expr_fits(expr->args[i], node)) return false;
  }
  return true;
}

bool ng_expr_reads(const struct ng_expr *expr, const struct ng_column *column) {
  if (expr->op == NG_COLUMN && expr->column == column) return true;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    if (ng_expr_reads(expr->args[i], column)) return true;
  }
  return false;
}

const struct ng_expr *ng_expr_substitute(struct base_arena *arena, const struct ng_expr *expr,
                                         const struct ng_column *from, const struct ng_column *to) {
  if (!ng_expr_reads(expr, from)) return expr;
  if (expr->op == NG_COLUMN) return ng_expr_column(arena, to);
  struct ng_expr *copy = BASE_NEW(arena, struct ng_expr);
  *copy = *expr;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    copy->args[i] = ng_expr_substitute(arena, expr->args[i], from, to);
  }
  return copy;
}

bool ng_expr_reads_nothing(const struct ng_expr *expr) {
  if (expr->op == NG_COLUMN) return false;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    if (!ng_expr_reads_nothing(expr->args[i])) return false;
  }
  return true;
}

bool ng_expr_is_temporal_comparison(const struct ng_expr *expr) {
  return expr->op >= NG_EQ && expr->op <= NG_GE && expr->args[0]->type.base == NET_TEMPORAL;
}

bool ng_expr_reads_open(const struct ng_expr *expr) {
  if (expr->op == NG_COLUMN && expr->column->openable) return true;
  for (unsigned i = 0; i < expr->arg_count; i++) {
    if (ng_expr_reads_open(expr->args[i])) return true;
  }
  return false;
}

/* --- what keys say */

const struct ng_expr *ng_expr_words(const struct ng_expr *expr) {
  bool same = expr->op == NG_CONVERT && expr->type.base == NET_STRING &&
              expr->args[0]->type.base == NET_NAME;
  return same ? expr->args[0] : expr;
}

static bool is_key(const struct ng_node *node, const struct ng_expr *conjunct) {
  if (conjunct->op != NG_EQ) return false;
  const struct ng_expr *left = ng_expr_words(conjunct->args[0]);
  const struct ng_expr *right = ng_expr_words(conjunct->args[1]);
  if (left->op != NG_COLUMN || right->op != NG_COLUMN) return false;
  const struct ng_column *a = left->column, *b = right->column;
  for (size_t i = 0; i < node->key_count; i++) {
    const struct ng_key *key = &node->keys[i];
    if ((key->left == a && key->right == b) || (key->left == b && key->right == a)) return true;
  }
  return false;
}

static const struct ng_expr *without_keys(struct base_arena *arena, const struct ng_node *node,
                                          const struct ng_expr *expr) {
  if (!expr || is_key(node, expr)) return NULL;
  if (expr->op != NG_AND) return expr;
  return ng_expr_and(arena, without_keys(arena, node, expr->args[0]),
                     without_keys(arena, node, expr->args[1]));
}

const struct ng_expr *ng_join_rest(struct base_arena *arena, const struct ng_node *join) {
  return without_keys(arena, join, join->expr);
}

/* --- ranges */

struct range {
  int64_t lo, hi;
  bool overflows; /* some operation on the way may leave int64, or divide by zero */
};

/* What can be said of an expression without a row; the range is of those that are integers. */
struct known {
  struct range range;
  bool can_fail;
};

static struct known known_of(const struct ng_expr *expr);

static struct range whole_range(bool overflows) {
  return (struct range){INT64_MIN, INT64_MAX, overflows};
}

static struct range width_range(uint32_t width) {
  switch (width) {
    case 1:
      return (struct range){INT8_MIN, INT8_MAX, false};
    case 2:
      return (struct range){INT16_MIN, INT16_MAX, false};
    case 4:
      return (struct range){INT32_MIN, INT32_MAX, false};
    default:
      return whole_range(false);
  }
}

static bool calculate(enum ng_op op, int64_t a, int64_t b, int64_t *ret) {
  switch (op) {
    case NG_ADD:
      return !__builtin_add_overflow(a, b, ret);
    case NG_SUB:
      return !__builtin_sub_overflow(a, b, ret);
    case NG_MUL:
      return !__builtin_mul_overflow(a, b, ret);
    case NG_DIV:
      if (a == INT64_MIN && b == -1) return false;
      *ret = a / b;
      return true;
    default:
      return false;
  }
}

/* Monotone in each operand (or linear in it): the extremes are at the corners. No divisor is 0. */
static struct range corners(enum ng_op op, struct range a, struct range b) {
  const int64_t left[] = {a.lo, a.hi}, right[] = {b.lo, b.hi};
  struct range range = {INT64_MAX, INT64_MIN, a.overflows || b.overflows};
  for (int i = 0; i < 4; i++) {
    int64_t value;
    if (!calculate(op, left[i / 2], right[i % 2], &value)) return whole_range(true);
    if (value < range.lo) range.lo = value;
    if (value > range.hi) range.hi = value;
  }
  return range;
}

/* A remainder has the dividend's sign, is no further from 0, and nearer to it than the divisor. */
static struct range divide(enum ng_op op, struct range a, struct range b) {
  if (a.overflows || b.overflows || (b.lo <= 0 && b.hi >= 0)) return whole_range(true);
  if (op == NG_DIV) return corners(op, a, b);
  int64_t most = b.lo > 0 ? b.hi - 1 : -(b.lo + 1);
  int64_t lo = a.lo > -most ? a.lo : -most, hi = a.hi < most ? a.hi : most;
  return (struct range){a.lo < 0 ? lo : 0, a.hi > 0 ? hi : 0, false};
}

static struct range convert(const struct ng_expr *expr, const struct known *from) {
  switch (expr->args[0]->type.base) {
    case NET_BOOL:
      return (struct range){0, 1, from->can_fail};
    case NET_INTEGER: {
      struct range range = from->range, width = width_range(expr->type.width);
      if (range.lo >= width.lo && range.hi <= width.hi) return range;
      width.overflows = true;
      return width;
    }
    default:
      return whole_range(true);
  }
}

static struct range negate(struct range a) {
  if (a.lo == INT64_MIN) return whole_range(true);
  return (struct range){-a.hi, -a.lo, a.overflows};
}

/* ARGS: what is known of the operands. */
static struct range range_of(const struct ng_expr *expr, const struct known *args) {
  switch (expr->op) {
    case NG_INTEGER:
      return (struct range){expr->integer, expr->integer, false};
    case NG_COLUMN:
      return width_range(expr->type.width);
    case NG_ADD:
    case NG_SUB:
    case NG_MUL:
      return corners(expr->op, args[0].range, args[1].range);
    case NG_DIV:
    case NG_MOD:
      return divide(expr->op, args[0].range, args[1].range);
    case NG_NEG:
      return negate(args[0].range);
    case NG_ABS: {
      struct range a = args[0].range, minus = negate(a);
      if (minus.overflows) return whole_range(true);
      return (struct range){0, a.hi > minus.hi ? a.hi : minus.hi, false};
    }
    case NG_CONVERT:
      return convert(expr, &args[0]);
    case NG_LENGTH:
      return (struct range){0, INT64_MAX, args[0].can_fail};
    case NG_POSITION:
      return (struct range){0, INT64_MAX, args[0].can_fail || args[1].can_fail};
    default:
      return whole_range(true);
  }
}

void ng_expr_range(const struct ng_expr *expr, int64_t *ret_lo, int64_t *ret_hi) {
  struct range range = known_of(expr).range;
  *ret_lo = range.overflows ? INT64_MIN : range.lo;
  *ret_hi = range.overflows ? INT64_MAX : range.hi;
}

static bool is_single(struct net_type type) {
  return type.base == NET_FLOAT && type.width == 4;
}

/* Of floats only those operations cannot fail that never leave the finite numbers. */
static bool float_can_fail(const struct ng_expr *expr) {
  switch (expr->op) {
    case NG_FLOAT:
    case NG_COLUMN:
    case NG_NEG:
    case NG_ABS:
    case NG_SIN:
    case NG_COS:
    case NG_ATAN:
      return false;
    case NG_CONVERT:
      if (is_single(expr->type) && expr->args[0]->type.base == NET_FLOAT)
        return !is_single(expr->args[0]->type);
      return expr->args[0]->type.base == NET_TEMPORAL || expr->args[0]->type.base == NET_STRING;
    default:
      return true;
  }
}

/* Parts of strings are asked for by counts that may be negative. */
static bool string_can_fail(const struct ng_expr *expr, const struct known *args) {
  if (expr->op == NG_LEFT || expr->op == NG_RIGHT) return args[1].range.lo < 0;
  if (expr->op == NG_SUBSTRING) return args[2].range.lo < 0;
  if (expr->op == NG_SPLIT) return args[2].range.lo < 1;
  if (expr->op == NG_CAPTURE) return true;
  return expr->op == NG_UNHEX || (expr->op == NG_ASCII && expr->args[0]->type.base == NET_BOOL);
}

/* Can EXPR itself fail, whatever its operands do? */
static bool itself_can_fail(const struct ng_expr *expr, const struct known *args,
                            struct range range) {
  bool string = expr->type.base == NET_STRING || expr->type.base == NET_BYTES;
  if (string && string_can_fail(expr, args)) return true;
  if (expr->op == NG_SHIFT || expr->op == NG_FINDS || ng_expr_is_temporal_comparison(expr))
    return true;
  if (expr->type.base == NET_INTEGER && range.overflows) return true;
  if (expr->type.base == NET_FLOAT && float_can_fail(expr)) return true;
  return expr->type.base == NET_TEMPORAL && expr->op != NG_COLUMN;
}

/* Each part is looked at once: one that asked for a range and for failures by itself would look at what is nested
 * N deep two to the N times. */
static struct known known_of(const struct ng_expr *expr) {
  struct known args[sizeof expr->args / sizeof *expr->args] = {{{0, 0, false}, false}};
  struct known known = {.can_fail = false};
  for (unsigned i = 0; i < expr->arg_count; i++) {
    args[i] = known_of(expr->args[i]);
    known.can_fail = known.can_fail || args[i].can_fail;
  }
  known.range = range_of(expr, args);
  known.can_fail = known.can_fail || itself_can_fail(expr, args, known.range);
  return known;
}

bool ng_expr_can_fail(const struct ng_expr *expr) {
  return known_of(expr).can_fail;
}

/* --- normal form */

void ng_exprs_add(struct base_arena *arena, struct ng_exprs *list, const struct ng_expr *expr) {
  list->items = ng_grown(arena, list->items, list->count, &list->capacity, sizeof *list->items);
  list->items[list->count++] = expr;
}

static enum ng_op opposite(enum ng_op op) {
  switch (op) {
    case NG_EQ:
      return NG_NE;
    case NG_NE:
      return NG_EQ;
    case NG_LT:
      return NG_GE;
    case NG_LE:
      return NG_GT;
    case NG_GT:
      return NG_LE;
    case NG_GE:
      return NG_LT;
    default:
      return op;
  }
}

/* EXPR, or its negation, with NOT moved down to what is neither `and` nor `or`: De Morgan's laws
 * hold in Kleene's logic. A comparison of scalars is never unknown and turns into its opposite. */
static const struct ng_expr *with_not_inside(struct base_arena *arena, const struct ng_expr *expr,
                                             bool negated) {
  if (expr->op == NG_NOT) return with_not_inside(arena, expr->args[0], !negated);
  if (expr->op == NG_AND || expr->op == NG_OR) {
    const struct ng_expr *args[2] = {with_not_inside(arena, expr->args[0], negated),
                                     with_not_inside(arena, expr->args[1], negated)};
    enum ng_op op = (expr->op == NG_AND) != negated ? NG_AND : NG_OR;
    if (!negated && args[0] == expr->args[0] && args[1] == expr->args[1]) return expr;
    return ng_expr_make(arena, op, 2, args);
  }
  if (!negated) return expr;
  if (expr->op == NG_TRUTH) return ng_expr_truth(arena, !expr->integer);
  if (opposite(expr->op) != expr->op) {
    return ng_expr_make(arena, opposite(expr->op), expr->arg_count, expr->args);
  }
  return ng_expr_make(arena, NG_NOT, 1, &expr);
}

/* More conjuncts than this out of one disjunction, and it stays whole. */
enum { CONJUNCTS_MAX = 32 };

static void add_conjuncts(struct base_arena *arena, const struct ng_expr *expr,
                          struct ng_exprs *conjuncts) {
  if (expr->op == NG_AND) {
    add_conjuncts(arena, expr->args[0], conjuncts);
    add_conjuncts(arena, expr->args[1], conjuncts);
    return;
  }
  if (expr->op == NG_TRUTH && expr->integer) return;
  if (expr->op != NG_OR || ng_expr_can_fail(expr)) {
    ng_exprs_add(arena, conjuncts, expr);
    return;
  }
  struct ng_exprs left = {0}, right = {0};
  add_conjuncts(arena, expr->args[0], &left);
  add_conjuncts(arena, expr->args[1], &right);
  if (left.count * right.count > CONJUNCTS_MAX) {
    ng_exprs_add(arena, conjuncts, expr);
    return;
  }
  for (size_t i = 0; i < left.count; i++) {
    for (size_t j = 0; j < right.count; j++) {
      const struct ng_expr *args[2] = {left.items[i], right.items[j]};
      ng_exprs_add(arena, conjuncts, ng_expr_make(arena, NG_OR, 2, args));
    }
  }
}

void ng_expr_conjuncts(struct base_arena *arena, const struct ng_expr *expr,
                       struct ng_exprs *conjuncts) {
  add_conjuncts(arena, with_not_inside(arena, expr, false), conjuncts);
}
