/* Arithmetic on temporal values, the T_ steps of expression programs: sums, products and quotients that
 * stay ratios of linear functions, and moving a value to another origin. What leaves the form is an
 * error when it runs; analysis refuses what the degrees show.                                       */
#include <math.h>

#include "engine/expr_ops.h"

/* --- temporal values. A constant is (c 0 1 0), so both slopes are zero. */

static bool constant(struct net_temporal v) {
  return v.n1 == 0 && v.d1 == 0;
}

static bool is_finite(struct net_temporal v) {
  return isfinite(v.n0) && isfinite(v.n1) && isfinite(v.d0) && isfinite(v.d1);
}

static enum net_eval_error set_temporal(struct net_value *value, struct net_temporal v) {
  v = net_temporal_settled(v);
  if (!is_finite(v)) return NET_EVAL_NUMBER;
  value->temporal = v;
  return NET_EVAL_OK;
}

static struct net_temporal negated(struct net_temporal v) {
  return (struct net_temporal){0.0 - v.n0, 0.0 - v.n1, v.d0, v.d1};
}

/* Gives *A and *B the same denominator if theirs differ by a factor only. The one with the smaller
 * denominator is blown up, which keeps integers integers where it can be done at all. */
static bool common_denominator(struct net_temporal *a, struct net_temporal *b) {
  struct net_temporal a_ratio = {a->d1, 0, a->d0, 0}, b_ratio = {b->d1, 0, b->d0, 0};
  struct net_temporal *smaller = a, *larger = b;
  double a_size = a->d0 != 0 ? fabs(a->d0) : fabs(a->d1);
  double b_size = b->d0 != 0 ? fabs(b->d0) : fabs(b->d1);
  double factor;
  if (a->d0 == b->d0 && a->d1 == b->d1) return true;
  if ((a->d0 == 0) != (b->d0 == 0) || (a->d1 == 0) != (b->d1 == 0)) return false;
  if (a->d0 != 0 && !net_temporal_equal(a_ratio, b_ratio)) return false;
  if (a_size > b_size) {
    smaller = b;
    larger = a;
  }
  factor = a->d0 != 0 ? larger->d0 / smaller->d0 : larger->d1 / smaller->d1;
  if (a->d1 == 0 && fma(factor, smaller->d0, -larger->d0) != 0) { /* thirds and sevenths */
    double a_d0 = a->d0, b_d0 = b->d0;
    *a = (struct net_temporal){a->n0 * b_d0, a->n1 * b_d0, a_d0 * b_d0, 0};
    *b = (struct net_temporal){b->n0 * a_d0, b->n1 * a_d0, a_d0 * b_d0, 0};
    return true;
  }
  *smaller =
      (struct net_temporal){smaller->n0 * factor, smaller->n1 * factor, larger->d0, larger->d1};
  return true;
}

/* The sum of two fractions with different poles has both of them and leaves the form; so does a
 * fraction plus a linear function. */
static enum net_eval_error temporal_add(struct net_value *result, struct net_temporal a,
                                        struct net_temporal b) {
  if (constant(b)) {
    struct net_temporal other = a;
    a = b;
    b = other;
  }
  if (constant(a)) { /* c + b */
    b.n0 = fma(a.n0, b.d0, b.n0);
    b.n1 = fma(a.n0, b.d1, b.n1);
    return set_temporal(result, b);
  }
  if (!common_denominator(&a, &b)) return NET_EVAL_FORM;
  return set_temporal(result, (struct net_temporal){a.n0 + b.n0, a.n1 + b.n1, a.d0, a.d1});
}

/* Is NUMERATOR / DENOMINATOR, of linear functions, a number? */
static bool cancels(double n0, double n1, double d0, double d1, double *ret) {
  struct net_temporal a = {n0, 0, n1, 0}, b = {d0, 0, d1, 0};
  if ((n0 == 0) != (d0 == 0) || (n1 == 0) != (d1 == 0)) return false;
  if (n0 != 0 && n1 != 0 && !net_temporal_equal(a, b)) return false;
  *ret = n1 != 0 ? n1 / d1 : n0 / d0;
  return true;
}

/* The product of two linear functions is one when a factor is constant. */
static bool linear_product(double a0, double a1, double b0, double b1, double *ret0, double *ret1) {
  if (a1 != 0 && b1 != 0) return false;
  *ret0 = a0 * b0;
  *ret1 = a1 != 0 ? a1 * b0 : a0 * b1;
  return true;
}

/* (t + 1) times 1 / (t + 2) stays in the form; so does what has a common factor above and below. */
static enum net_eval_error temporal_multiply(struct net_value *result, struct net_temporal a,
                                             struct net_temporal b) {
  struct net_temporal product;
  double factor;
  if (constant(b)) {
    struct net_temporal other = a;
    a = b;
    b = other;
  }
  if (constant(a)) {
    product = (struct net_temporal){a.n0 * b.n0, a.n0 * b.n1, b.d0, b.d1};
  } else if (linear_product(a.n0, a.n1, b.n0, b.n1, &product.n0, &product.n1) &&
             linear_product(a.d0, a.d1, b.d0, b.d1, &product.d0, &product.d1)) {
    return set_temporal(result, product);
  } else if (cancels(a.n0, a.n1, b.d0, b.d1, &factor)) {
    product = (struct net_temporal){factor * b.n0, factor * b.n1, a.d0, a.d1};
  } else if (cancels(b.n0, b.n1, a.d0, a.d1, &factor)) {
    product = (struct net_temporal){factor * a.n0, factor * a.n1, b.d0, b.d1};
  } else {
    return NET_EVAL_FORM;
  }
  return set_temporal(result, product);
}

static bool divides(double a, double by) {
  return fma(a / by, by, -a) == 0;
}

static bool multiplies(double a, double by) {
  return fma(a, by, -(a * by)) == 0;
}

/* Numerators are divided, so that 200 / 2 is 100 in every place; where that would round and the
 * denominators can be multiplied without rounding, they are. */
static struct net_temporal divided(struct net_temporal a, double by) {
  bool rounds = !divides(a.n0, by) || !divides(a.n1, by);
  if (rounds && multiplies(a.d0, by) && multiplies(a.d1, by))
    return (struct net_temporal){a.n0, a.n1, a.d0 * by, a.d1 * by};
  return (struct net_temporal){a.n0 / by, a.n1 / by, a.d0, a.d1};
}

static enum net_eval_error temporal_divide(struct net_value *result, struct net_temporal a,
                                           struct net_temporal b) {
  if (b.n0 == 0 && b.n1 == 0) return NET_EVAL_DIVISION;
  if (constant(b)) return set_temporal(result, divided(a, b.n0));
  if (constant(a)) {
    return set_temporal(result, (struct net_temporal){a.n0 * b.d0, a.n0 * b.d1, b.n0, b.n1});
  }
  if (common_denominator(&a, &b))
    return set_temporal(result, (struct net_temporal){a.n0, a.n1, b.n0, b.n1});
  return temporal_multiply(result, a, (struct net_temporal){b.d0, b.d1, b.n0, b.n1});
}

static enum net_eval_error rebase(enum net_timeline timeline, struct net_value *args) {
  net_chronon from = args[1].instant.lo, to = args[2].instant.lo;
  struct net_temporal v = args[0].temporal;
  if (from == to || constant(v)) return NET_EVAL_OK;
  double delta = net_units_between(timeline, from, to);
  v.n0 = fma(v.n1, delta, v.n0);
  v.d0 = fma(v.d1, delta, v.d0);
  return set_temporal(args, v);
}

bool net_rebases_only(const struct net_program *program) {
  const struct net_step *steps = program->steps;
  return program->count == 4 && steps[0].op == NET_OP_TEMPORAL_SLOT &&
         steps[1].op == NET_OP_INSTANT_SLOT && steps[2].op == NET_OP_INSTANT_SLOT &&
         steps[3].op == NET_OP_T_REBASE;
}

/* Slot by slot: what is written so can be read so at once. */
enum net_eval_error net_program_rebase(const struct net_program *program, const union net_slot *row,
                                       union net_slot *ret) {
  const struct net_step *steps = program->steps;
  const union net_slot *slots = row + steps[0].slot;
  struct net_temporal v = {slots[0].f, slots[1].f, slots[2].f, slots[3].f};
  net_chronon from = row[steps[1].slot].i, to = row[steps[2].slot].i;
  if (from != to && !constant(v)) {
    double delta = net_units_between(program->timeline, from, to);
    v.n0 = fma(v.n1, delta, v.n0);
    v.d0 = fma(v.d1, delta, v.d0);
  }
  net_temporal_normalise(&v);
  v = net_temporal_shortest(v);
  ret[0].f = v.n0;
  ret[1].f = v.n1;
  ret[2].f = v.d0;
  ret[3].f = v.d1;
  return isfinite(v.n0) && isfinite(v.n1) && isfinite(v.d0) && isfinite(v.d1) ? NET_EVAL_OK
                                                                              : NET_EVAL_NUMBER;
}

static enum net_eval_error operation(enum net_op op, struct net_value *result,
                                     struct net_temporal a, struct net_temporal b) {
  switch (op) {
    case NET_OP_T_ADD:
      return temporal_add(result, a, b);
    case NET_OP_T_SUB:
      return temporal_add(result, a, negated(b));
    case NET_OP_T_MUL:
      return temporal_multiply(result, a, b);
    default:
      return temporal_divide(result, a, b); /* NET_OP_T_DIV */
  }
}

enum net_eval_error net_temporal_operation(const struct net_program *program, enum net_op op,
                                           struct net_value *args) {
  if (op == NET_OP_T_REBASE) return rebase(program->timeline, args);
  struct net_temporal a = args[0].temporal;
  if (op == NET_OP_T_NEG) {
    args[0].temporal = negated(a);
    return NET_EVAL_OK;
  }
  struct net_temporal b = args[1].temporal;
  enum net_eval_error error = operation(op, args, a, b);
  if (error != NET_EVAL_NUMBER) return error;
  /* Denominators that were kept may be what is too large. */
  return operation(op, args, net_temporal_normal(a), net_temporal_normal(b));
}

enum net_eval_error net_temporal_result(struct net_value *value) {
  value->temporal = net_temporal_shortest(net_temporal_normal(value->temporal));
  return is_finite(value->temporal) ? NET_EVAL_OK : NET_EVAL_NUMBER;
}
