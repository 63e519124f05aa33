/* Exact sums: numbers of as many bits as they need, so that neither the order of additions nor what has
 * been taken away again shows in the result (Kulisch's long accumulator, kept as short as its content).
 *
 * A sum holds any mixture of 64-bit integers, doubles, and products of two of them, without rounding;
 * only net_sum_double and net_sum_long round, once. A zeroed struct is the sum of nothing; it may be
 * moved in memory.                                                                                  */
#ifndef NET_EXACT_SUM_H
#define NET_EXACT_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Aligned as words are, so that states with such ones need no gaps. */
__extension__ typedef __int128 net_wide __attribute__((aligned(8)));
__extension__ typedef unsigned __int128 net_wide_unsigned __attribute__((aligned(8)));

struct net_sum {
  int64_t *limbs; /* limb i counts 2^(32 (first + i)) */
  int32_t first;
  uint32_t count, capacity;
  uint32_t pending; /* additions since the carries were passed on */
};

void net_sum_done(struct net_sum *sum);
void net_sum_copy(struct net_sum *sum, const struct net_sum *other);
void net_sum_clear(struct net_sum *sum);
/* Add FACTOR (of any sign) times the second operand. Doubles are finite. */
void net_sum_add(struct net_sum *sum, double value, int64_t factor);
void net_sum_add_integer(struct net_sum *sum, int64_t value, int64_t factor);
void net_sum_add_wide(struct net_sum *sum, net_wide value);
void net_sum_add_square(struct net_sum *sum, double value, bool take_away);
void net_sum_add_integer_square(struct net_sum *sum, int64_t value, bool take_away);
void net_sum_add_multiple(struct net_sum *sum, struct net_sum *other, int64_t factor);
/* Add (or take away) the quotient, cut off 192 bits below the operand's last: always the same number, so
 * that what is taken away leaves nothing behind. */
void net_sum_add_quotient(struct net_sum *sum, double value, int64_t factor, uint64_t divisor,
                          bool take_away);
void net_sum_add_integer_quotient(struct net_sum *sum, net_wide value, uint64_t divisor,
                                  bool take_away);
/* Takes away the square of OTHER. */
void net_sum_subtract_square_of(struct net_sum *sum, struct net_sum *other);

/* The sign of the sum: -1, 0, 1. */
int net_sum_sign(struct net_sum *sum);
/* Rounded once; infinite when it is out of range. Never -0. */
double net_sum_double(struct net_sum *sum);
long double net_sum_long(struct net_sum *sum);

/* The sum divided by COUNT. It is rounded to 80 bits and then to a double: where quotients went into the
 * sum, means that are equal come out equal, whatever they are means of. */
double net_sum_mean(struct net_sum *sum, uint64_t count);
double net_wide_mean(net_wide sum, uint64_t count);

#endif
