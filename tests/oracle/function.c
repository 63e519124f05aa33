/* Temporal values of the reference: quotients of polynomials of degree one, (n0 + n1 tau) / (d0 + d1
 * tau), computed in long double: with integer and dyadic coefficients of the size tests use that is
 * exact. Constants are reduced to (c 0 1 0), linear functions to a denominator of 1, so that two forms
 * of one function compare equal after cross multiplication.
 *
 * Factors that numerator and denominator share are cancelled; what leaves the form then is an error at
 * run time ("form").                                                                             */
#include <math.h>

#include "tests/oracle/oracle_internal.h"

struct oracle_function oracle_normal(struct oracle_function f) {
  if (f.n0 * f.d1 == f.n1 * f.d0)
    return (struct oracle_function){f.d1 != 0 ? f.n1 / f.d1 : f.n0 / f.d0, 0, 1, 0};
  if (f.d1 == 0) return (struct oracle_function){f.n0 / f.d0, f.n1 / f.d0, 1, 0};
  if (f.d0 < 0 || (f.d0 == 0 && f.d1 < 0))
    return (struct oracle_function){-f.n0, -f.n1, -f.d0, -f.d1};
  return f;
}

/* The same function of absolute time, tau counting from a chronon later by BY. */
struct oracle_function oracle_moved(struct oracle_function f, long double by) {
  f.n0 += f.n1 * by;
  f.d0 += f.d1 * by;
  return oracle_normal(f);
}

static bool close(long double a, long double b) {
  long double size = fabsl(a) > fabsl(b) ? fabsl(a) : fabsl(b);
  return fabsl(a - b) <= 1e-12L * (size > 1 ? size : 1);
}

static bool is_rounded(long double coefficient) {
  long double scaled = fabsl(coefficient) * 0x1p20L;
  return scaled >= 0x1p51L || scaled != floorl(scaled);
}

/* Is a coefficient one that doubles may not have exactly, as a third or a nanosecond? */
bool oracle_is_rounded(struct oracle_function f) {
  return is_rounded(f.n0) || is_rounded(f.n1) || is_rounded(f.d0) || is_rounded(f.d1);
}

/* As functions: a.n * b.d and b.n * a.d, coefficient by coefficient. Neither need be in the shortest form: a
 * factor that numerator and denominator share but for the last bit of a double is in one and not in the
 * other. */
bool oracle_same_function(struct oracle_function a, struct oracle_function b) {
  a = oracle_normal(a);
  b = oracle_normal(b);
  return close(a.n0 * b.d0, b.n0 * a.d0) && close(a.n1 * b.d1, b.n1 * a.d1) &&
         close(a.n0 * b.d1 + a.n1 * b.d0, b.n0 * a.d1 + b.n1 * a.d0);
}

static bool is_constant(struct oracle_function f) {
  return f.n1 == 0 && f.d1 == 0;
}
static struct oracle_function sum_of(struct oracle *oracle, struct oracle_function a,
                                     struct oracle_function b, int sign) {
  if (is_constant(b))
    return (struct oracle_function){a.n0 + sign * b.n0 * a.d0, a.n1 + sign * b.n0 * a.d1, a.d0,
                                    a.d1};
  if (is_constant(a))
    return (struct oracle_function){a.n0 * b.d0 + sign * b.n0, a.n0 * b.d1 + sign * b.n1, b.d0,
                                    b.d1};
  if (a.d0 * b.d1 == a.d1 * b.d0) { /* one denominator, perhaps scaled */
    long double scale = b.d0 != 0 ? a.d0 / b.d0 : a.d1 / b.d1;
    return (struct oracle_function){a.n0 + sign * scale * b.n0, a.n1 + sign * scale * b.n1, a.d0,
                                    a.d1};
  }
  oracle_fail(oracle, "form");
  return a;
}

/* A whole number that doubles have not, as what lasts for ever and two: with doubles nothing is left of the two
 * when that is taken away again. */
static bool is_too_far(long double coefficient) {
  return fabsl(coefficient) >= 0x1p53L && (long double)(double)coefficient != coefficient;
}

static struct oracle_function add_functions(struct oracle *oracle, struct oracle_function a,
                                            struct oracle_function b, int sign) {
  struct oracle_function sum = sum_of(oracle, oracle_normal(a), oracle_normal(b), sign);
  if ((is_too_far(sum.n0) || is_too_far(sum.n1)) && oracle->world->unsaid)
    *oracle->world->unsaid = true;
  return sum;
}

struct polynomial {
  long double by_degree[3];
};

static struct polynomial product(long double a0, long double a1, long double b0, long double b1) {
  return (struct polynomial){{a0 * b0, a0 * b1 + a1 * b0, a1 * b1}};
}

static bool nothing(long double value, long double size) {
  return fabsl(value) <= 1e-12L * size;
}

/* P without the factor (l0 + l1 tau), if it is one: synthetic division by its root. */
static bool without_factor(struct polynomial *p, long double l0, long double l1) {
  if (l1 == 0) return false;
  long double root = -l0 / l1;
  long double *c = p->by_degree, high = c[2], low = c[1] + root * high;
  long double size = fabsl(c[0]) + fabsl(c[1] * root) + fabsl(c[2] * root * root);
  if (!nothing(c[0] + root * low, size)) return false;
  *p = (struct polynomial){{low / l1, high / l1, 0}};
  return true;
}

/* NUMERATOR / (d * e), of which the numerator's factors are cancelled. */
static struct oracle_function quotient(struct oracle *oracle, struct polynomial numerator,
                                       long double d0, long double d1, long double e0,
                                       long double e1) {
  if (without_factor(&numerator, d0, d1)) {
    d0 = 1;
    d1 = 0;
  }
  if (without_factor(&numerator, e0, e1)) {
    e0 = 1;
    e1 = 0;
  }
  struct polynomial denominator = product(d0, d1, e0, e1);
  const long double *n = numerator.by_degree, *d = denominator.by_degree;
  if (n[2] != 0 || d[2] != 0) oracle_fail(oracle, "form");
  return (struct oracle_function){n[0], n[1], d[0], d[1]};
}

static struct oracle_function multiply_functions(struct oracle *oracle, struct oracle_function a,
                                                 struct oracle_function b) {
  a = oracle_normal(a);
  b = oracle_normal(b);
  return quotient(oracle, product(a.n0, a.n1, b.n0, b.n1), a.d0, a.d1, b.d0, b.d1);
}

static struct oracle_function divide_functions(struct oracle *oracle, struct oracle_function a,
                                               struct oracle_function b) {
  a = oracle_normal(a);
  b = oracle_normal(b);
  if (b.n0 == 0 && b.n1 == 0) {
    oracle_fail(oracle, "division by zero");
    return a;
  }
  return quotient(oracle, product(a.n0, a.n1, b.d0, b.d1), a.d0, a.d1, b.n0, b.n1);
}

struct oracle_value oracle_temporal_operation(struct oracle *oracle, enum ng_op op,
                                              struct oracle_value a, struct oracle_value b) {
  struct oracle_value result = {.base = NET_TEMPORAL};
  switch (op) {
    case NG_NEG:
      result.function = a.function;
      result.function.n0 = -a.function.n0;
      result.function.n1 = -a.function.n1;
      break;
    case NG_ADD:
      result.function = add_functions(oracle, a.function, b.function, 1);
      break;
    case NG_SUB:
      result.function = add_functions(oracle, a.function, b.function, -1);
      break;
    case NG_MUL:
      result.function = multiply_functions(oracle, a.function, b.function);
      break;
    case NG_DIV:
      result.function = divide_functions(oracle, a.function, b.function);
      break;
    default:
      oracle_fail(oracle, "temporal operator");
  }
  if (!oracle->error) result.function = oracle_normal(result.function);
  return result;
}
