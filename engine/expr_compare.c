/* Comparing two temporal values at one moment (thesis 3.6; tquel(7), VALUES).
 *
 *      f = (n0 + n1 tau) / (d0 + d1 tau)   and   g = (m0 + m1 tau) / (e0 + e1 tau)
 *
 * differ by (n e - m d) / (d e). Without a pole in the period, d e has one sign in all of it, and the
 * numerator is linear in tau unless n1 e1 - m1 d1 is not 0: then the comparison is refused. With tau a
 * number of chronons over a whole number of them to the unit, sign and root are found exactly.
 *
 * Equal functions are equal everywhere, also where neither is linear.                                 */
#include "engine/exact.h"
#include "engine/expr_ops.h"

static uint64_t chronons_per_unit(enum net_timeline timeline) {
  return timeline == NET_TIMELINE_REAL ? 1000000000 : 1;
}

/* The sign of the denominator of V at chronon OFFSET. */
static int denominator_sign(enum net_timeline timeline, struct net_temporal v, uint64_t offset) {
  struct net_linear linear;
  struct net_product a = {v.d0, 1, false}, b = {v.d1, 1, false};
  if (v.d1 == 0) return v.d0 > 0 ? 1 : v.d0 < 0 ? -1 : 0;
  net_linear_make(&a, 1, &b, 1, chronons_per_unit(timeline), &linear);
  return net_linear_sign(&linear, offset);
}

/* The one sign that the denominator has from the start to chronon LAST, 0 if there is a pole. */
static int sign_throughout(enum net_timeline timeline, struct net_temporal v, uint64_t last) {
  int first_sign = denominator_sign(timeline, v, 0);
  return v.d1 == 0 || first_sign == denominator_sign(timeline, v, last) ? first_sign : 0;
}

enum net_eval_error net_temporal_compare(const struct net_program *program,
                                         enum net_comparison comparison,
                                         const struct net_moment *moment, struct net_value *args) {
  struct net_temporal f = args[0].temporal, g = args[1].temporal;
  const struct net_product constant[] = {{f.n0, g.d0, false}, {g.n0, f.d0, true}};
  const struct net_product slope[] = {
      {f.n0, g.d1, false}, {f.n1, g.d0, false}, {g.n0, f.d1, true}, {g.n1, f.d0, true}};
  const struct net_product quadratic[] = {{f.n1, g.d1, false}, {g.n1, f.d1, true}};
  struct net_linear numerator;
  uint64_t root;
  bool whole;
  if (moment == NULL) return NET_EVAL_CUT; /* a condition on a tuple as a whole */
  int sign = sign_throughout(program->timeline, f, moment->last) *
             sign_throughout(program->timeline, g, moment->last);
  if (sign == 0) return NET_EVAL_POLE;
  if (net_products_sign(quadratic, 2) != 0) return NET_EVAL_QUADRATIC;
  net_linear_make(constant, 2, slope, 4, chronons_per_unit(program->timeline), &numerator);
  if (moment->found != NULL && net_linear_root(&numerator, &root, &whole))
    moment->found(moment->context, root, whole);
  args[0].i = net_comparison_holds(comparison, sign * net_linear_sign(&numerator, moment->offset));
  return NET_EVAL_OK;
}
