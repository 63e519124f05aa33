/* Does a temporal operation leave the form (n0 + n1 tau) / (d0 + d1 tau)?
 *
 * Only the degrees are looked at, as far as the text shows them: a number is constant, duration(V)
 * is linear with slope 1, sums keep track of the slope, a literal factor scales it. What comes from
 * a domain, an aggregate or a computed factor is unknown (a computed factor may be 0), and unknown
 * never counts as lost: then the run decides, and reports it with the tuple. Slopes
 * are the same for all tuples of a combination, because values are re-based to the combination's
 * start before they meet. */
#include "tquel/analyse/analyse_internal.h"

enum shape {
  CONSTANT,   /* .known: with value .number */
  LINEAR,     /* degree 1 for certain; .known: with slope .number */
  RECIPROCAL, /* a constant other than 0 over something LINEAR */
  UNKNOWN,
  LOST,
};

struct form {
  enum shape shape;
  bool known;
  double number;
};

static const struct form unknown = {UNKNOWN, false, 0};
static const struct form lost = {LOST, false, 0};

static struct form form_of(const struct ng_expr *expr);

static struct form literal(const struct ng_expr *expr) {
  if (expr->op == NG_CONVERT) return literal(expr->args[0]);
  if (expr->op == NG_INTEGER) return (struct form){CONSTANT, true, (double)expr->integer};
  if (expr->op == NG_FLOAT) return (struct form){CONSTANT, true, expr->real};
  return (struct form){CONSTANT, false, 0};
}

static struct form negated(struct form form) {
  form.number = -form.number;
  return form;
}

static struct form sum_of(struct form a, struct form b) {
  if (a.shape == CONSTANT && b.shape == CONSTANT)
    return (struct form){CONSTANT, a.known && b.known, a.number + b.number};
  if (a.shape == LINEAR && b.shape == CONSTANT) return a;
  if (a.shape == CONSTANT && b.shape == LINEAR) return b;
  if (a.shape == LINEAR && b.shape == LINEAR && a.known && b.known) {
    double slope = a.number + b.number;
    return slope == 0 ? (struct form){CONSTANT, false, 0} : (struct form){LINEAR, true, slope};
  }
  bool mixed =
      (a.shape == LINEAR && b.shape == RECIPROCAL) || (a.shape == RECIPROCAL && b.shape == LINEAR);
  return mixed ? lost : unknown;
}

/* FACTOR is constant. */
static struct form scaled(struct form form, struct form factor) {
  if (factor.known && factor.number == 0) return (struct form){CONSTANT, true, 0};
  if (form.shape == CONSTANT)
    return (struct form){CONSTANT, form.known && factor.known, form.number * factor.number};
  if (!factor.known || form.shape == UNKNOWN) return unknown;
  form.number *= factor.number;
  return form;
}

static struct form product_of(struct form a, struct form b) {
  if (b.shape == CONSTANT) return scaled(a, b);
  if (a.shape == CONSTANT) return scaled(b, a);
  bool same = a.shape == b.shape && a.shape != UNKNOWN;
  return same ? lost : unknown; /* tau * tau or 1 / tau * 1 / tau; linear / linear is in the form */
}

static struct form inverse_of(struct form form) {
  switch (form.shape) {
    case CONSTANT:
      if (!form.known || form.number == 0) return (struct form){CONSTANT, false, 0};
      return (struct form){CONSTANT, true, 1 / form.number};
    case LINEAR:
      return (struct form){RECIPROCAL, false, 0};
    case RECIPROCAL:
      return (struct form){LINEAR, false, 0};
    default:
      return unknown;
  }
}

static struct form form_of(const struct ng_expr *expr) {
  if (expr->type.base != NET_TEMPORAL || expr->op == NG_CONVERT) return literal(expr);
  if (expr->op == NG_DURATION) return (struct form){LINEAR, true, 1};
  if (expr->op == NG_NEG) return negated(form_of(expr->args[0]));
  if (expr->op < NG_ADD || expr->op > NG_DIV) return unknown;
  struct form left = form_of(expr->args[0]), right = form_of(expr->args[1]);
  switch (expr->op) {
    case NG_ADD:
      return sum_of(left, right);
    case NG_SUB:
      return sum_of(left, negated(right));
    case NG_MUL:
      return product_of(left, right);
    default:
      return product_of(left, inverse_of(right));
  }
}

bool tql_form_is_lost(const struct ng_expr *expr) {
  return expr->type.base == NET_TEMPORAL && form_of(expr).shape == LOST;
}
