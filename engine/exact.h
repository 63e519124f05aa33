/* Linear functions of a whole number, in exact arithmetic: signs and roots.
 *
 *      h(k) = a + b k,    a and b sums of products of two doubles, k a number of chronons
 *
 * What is computed of doubles without rounding: the chronon at which two temporal values meet, and
 * which of them is the larger before and after it.                                                  */
#ifndef NET_EXACT_H
#define NET_EXACT_H

#include <stdbool.h>
#include <stdint.h>

/* A product of two doubles spans 4302 bits between the smallest and the largest; 30 more for a
 * factor of 10^9, 64 for k, 64 for a quotient. */
enum { NET_EXACT_LIMBS = 70 };

struct net_exact {
  bool negative;
  uint32_t count; /* limbs in use, the lowest first; 0: zero */
  uint64_t limbs[NET_EXACT_LIMBS];
};

struct net_linear {
  struct net_exact a, b;
};

/* X times Y, with a minus sign if so. */
struct net_product {
  double x, y;
  bool minus;
};

/* RET: UNIT times the sum of A's products, plus k times the sum of B's. All finite; UNIT > 0.        */
void net_linear_make(const struct net_product *a, unsigned a_count, const struct net_product *b,
                     unsigned b_count, uint64_t unit, struct net_linear *ret);
/* The sign of the sum of products: -1, 0, 1. */
int net_products_sign(const struct net_product *products, unsigned count);
/* The sign of h(k). */
int net_linear_sign(const struct net_linear *linear, uint64_t k);
/* False: h has no root in [0, 2^64), or is 0 everywhere. Else the root rounded down, and whether it is a
 * whole number. */
bool net_linear_root(const struct net_linear *linear, uint64_t *ret, bool *ret_whole);

#endif
