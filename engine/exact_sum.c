/* Exact sums: see exact_sum.h.
 *
 * Limbs are signed and may exceed 32 bits between two normalisations: an addition changes each by less
 * than 2^33, and carries are passed on before 2^29 additions. In normal form every limb but the top one
 * is in [0, 2^32), the top one is not 0, and its sign is the sign of the sum.
 *
 * The window of limbs grows at both ends as values come that need it, and shrinks at the top when it is
 * normalised; the sums of everyday numbers take two to six limbs.                                   */
#include "engine/exact_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/status.h"

enum { LIMB_BITS = 32, PENDING_MAX = 1 << 28 };
#define LIMB_MASK ((int64_t)0xffffffff)

void net_sum_done(struct net_sum *sum) {
  free(sum->limbs);
  *sum = (struct net_sum){0};
}

void net_sum_clear(struct net_sum *sum) {
  sum->count = 0;
  sum->pending = 0;
}

void net_sum_copy(struct net_sum *sum, const struct net_sum *other) {
  if (sum->capacity < other->count) {
    sum->limbs = base_xrealloc(sum->limbs, other->count, sizeof *sum->limbs);
    sum->capacity = other->count;
  }
  if (other->count) memcpy(sum->limbs, other->limbs, other->count * sizeof *sum->limbs);
  sum->first = other->first;
  sum->count = other->count;
  sum->pending = other->pending;
}

/* Makes room for limbs FIRST .. FIRST + COUNT - 1. */
static void cover(struct net_sum *sum, int32_t first, uint32_t count) {
  if (sum->count == 0) sum->first = first;
  int32_t low = first < sum->first ? first : sum->first;
  int64_t own_end = (int64_t)sum->first + sum->count, end = (int64_t)first + count;
  uint32_t wanted = (uint32_t)((own_end > end ? own_end : end) - low);
  uint32_t below = (uint32_t)(sum->first - low);
  if (wanted > sum->capacity) {
    uint32_t capacity = wanted + 2;
    sum->limbs = base_xrealloc(sum->limbs, capacity, sizeof *sum->limbs);
    sum->capacity = capacity;
  }
  if (below > 0) {
    memmove(sum->limbs + below, sum->limbs, sum->count * sizeof *sum->limbs);
    memset(sum->limbs, 0, below * sizeof *sum->limbs);
  }
  uint32_t used = sum->count + below;
  if (wanted > used) memset(sum->limbs + used, 0, (wanted - used) * sizeof *sum->limbs);
  sum->first = low;
  sum->count = wanted;
}

/* Passes the carries on. */
static void normalise(struct net_sum *sum) {
  sum->pending = 0;
  if (sum->count == 0) return;
  for (uint32_t i = 0; i + 1 < sum->count; i++) {
    int64_t carry = sum->limbs[i] >> LIMB_BITS;
    sum->limbs[i] &= LIMB_MASK;
    sum->limbs[i + 1] += carry;
  }
  for (int64_t top = sum->limbs[sum->count - 1]; top > LIMB_MASK || top < -LIMB_MASK;
       top = sum->limbs[sum->count - 1]) {
    cover(sum, sum->first, sum->count + 1);
    sum->limbs[sum->count - 2] = top & LIMB_MASK;
    sum->limbs[sum->count - 1] = top >> LIMB_BITS;
  }
  while (sum->count > 0 && sum->limbs[sum->count - 1] == 0) sum->count--;
}

/* Adds MAGNITUDE times 2^EXPONENT, negative or not. */
static void add_scaled(struct net_sum *sum, net_wide_unsigned magnitude, int exponent,
                       bool negative) {
  if (magnitude == 0) return;
  int32_t limb = exponent >> 5; /* rounds down */
  unsigned shift = (unsigned)(exponent - limb * LIMB_BITS);
  uint64_t digits[5];
  net_wide_unsigned low = magnitude << shift;
  for (unsigned i = 0; i < 4; i++) digits[i] = (uint64_t)(low >> (LIMB_BITS * i)) & LIMB_MASK;
  digits[4] = shift ? (uint64_t)(magnitude >> (128 - shift)) : 0;
  uint32_t count = 5;
  while (digits[count - 1] == 0) count--;
  uint32_t skipped = 0;
  while (digits[skipped] == 0) skipped++;
  cover(sum, limb + (int32_t)skipped, count - skipped);
  int64_t *limbs = sum->limbs + (limb + (int32_t)skipped - sum->first);
  for (uint32_t i = skipped; i < count; i++, limbs++)
    *limbs += negative ? -(int64_t)digits[i] : (int64_t)digits[i];
  if (++sum->pending >= PENDING_MAX) normalise(sum);
}

static uint64_t magnitude_of(int64_t value) {
  return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

/* |VALUE| as mantissa times 2^*RET_EXPONENT. */
static uint64_t mantissa_of(double value, int *ret_exponent) {
  BASE_CHECK(isfinite(value), "exact-finite");
  double fraction = frexp(fabs(value), ret_exponent);
  *ret_exponent -= 53;
  return (uint64_t)ldexp(fraction, 53);
}

void net_sum_add(struct net_sum *sum, double value, int64_t factor) {
  int exponent;
  net_wide_unsigned mantissa = mantissa_of(value, &exponent);
  add_scaled(sum, mantissa * magnitude_of(factor), exponent, (value < 0) != (factor < 0));
}

void net_sum_add_integer(struct net_sum *sum, int64_t value, int64_t factor) {
  add_scaled(sum, (net_wide_unsigned)magnitude_of(value) * magnitude_of(factor), 0,
             (value < 0) != (factor < 0));
}

/* Adds MAGNITUDE times 2^EXPONENT over DIVISOR: the whole part, and three words behind the point. */
static void add_divided(struct net_sum *sum, net_wide_unsigned magnitude, int exponent,
                        uint64_t divisor, bool negative) {
  BASE_CHECK(divisor > 0, "exact-divisor");
  add_scaled(sum, magnitude / divisor, exponent, negative);
  net_wide_unsigned rest = magnitude % divisor;
  for (int word = 1; word <= 3 && rest != 0; word++) {
    rest <<= 64;
    add_scaled(sum, rest / divisor, exponent - 64 * word, negative);
    rest %= divisor;
  }
}

void net_sum_add_quotient(struct net_sum *sum, double value, int64_t factor, uint64_t divisor,
                          bool take_away) {
  int exponent;
  net_wide_unsigned mantissa = mantissa_of(value, &exponent);
  bool negative = (value < 0) != (factor < 0);
  add_divided(sum, mantissa * magnitude_of(factor), exponent, divisor, negative != take_away);
}

void net_sum_add_integer_quotient(struct net_sum *sum, net_wide value, uint64_t divisor,
                                  bool take_away) {
  net_wide_unsigned magnitude = value < 0 ? -(net_wide_unsigned)value : (net_wide_unsigned)value;
  add_divided(sum, magnitude, 0, divisor, (value < 0) != take_away);
}

void net_sum_add_wide(struct net_sum *sum, net_wide value) {
  add_scaled(sum, value < 0 ? -(net_wide_unsigned)value : (net_wide_unsigned)value, 0, value < 0);
}

void net_sum_add_square(struct net_sum *sum, double value, bool take_away) {
  int exponent;
  net_wide_unsigned mantissa = mantissa_of(value, &exponent);
  add_scaled(sum, mantissa * mantissa, 2 * exponent, take_away);
}

void net_sum_add_integer_square(struct net_sum *sum, int64_t value, bool take_away) {
  net_wide_unsigned magnitude = magnitude_of(value);
  add_scaled(sum, magnitude * magnitude, 0, take_away);
}

void net_sum_add_multiple(struct net_sum *sum, struct net_sum *other, int64_t factor) {
  normalise(other);
  net_wide_unsigned times = magnitude_of(factor);
  for (uint32_t i = 0; i < other->count; i++) {
    int64_t limb = other->limbs[i];
    add_scaled(sum, times * magnitude_of(limb), (other->first + (int32_t)i) * LIMB_BITS,
               (limb < 0) != (factor < 0));
  }
}

void net_sum_subtract_square_of(struct net_sum *sum, struct net_sum *other) {
  normalise(other);
  for (uint32_t i = 0; i < other->count; i++) {
    for (uint32_t j = 0; j < other->count; j++) {
      int64_t a = other->limbs[i], b = other->limbs[j];
      add_scaled(sum, (net_wide_unsigned)magnitude_of(a) * magnitude_of(b),
                 (2 * other->first + (int32_t)(i + j)) * LIMB_BITS, (a < 0) == (b < 0));
    }
  }
}

int net_sum_sign(struct net_sum *sum) {
  normalise(sum);
  if (sum->count == 0) return 0;
  return sum->limbs[sum->count - 1] < 0 ? -1 : 1;
}

static void negate(struct net_sum *sum) {
  for (uint32_t i = 0; i < sum->count; i++) sum->limbs[i] = -sum->limbs[i];
  normalise(sum);
}

/* The upper 97 to 128 bits of a positive sum; what lies below shows in the last bit, so that rounding
 * goes the right way. */
static net_wide_unsigned upper(const struct net_sum *sum, int *ret_exponent) {
  net_wide_unsigned bits = 0;
  uint32_t taken = sum->count < 4 ? sum->count : 4;
  for (uint32_t i = 0; i < taken; i++)
    bits = bits << LIMB_BITS | (net_wide_unsigned)sum->limbs[sum->count - 1 - i];
  for (uint32_t i = 0; i + taken < sum->count; i++) bits |= sum->limbs[i] != 0;
  *ret_exponent = (sum->first + (int32_t)(sum->count - taken)) * LIMB_BITS;
  return bits;
}

double net_sum_double(struct net_sum *sum) {
  int sign = net_sum_sign(sum), exponent;
  if (sign == 0) return 0;
  if (sign < 0) negate(sum);
  net_wide_unsigned bits = upper(sum, &exponent);
  double value = ldexp((double)bits, exponent);
  if (sign < 0) negate(sum);
  return sign < 0 && value != 0 ? -value : value;
}

long double net_sum_long(struct net_sum *sum) {
  int sign = net_sum_sign(sum), exponent;
  if (sign == 0) return 0;
  if (sign < 0) negate(sum);
  net_wide_unsigned bits = upper(sum, &exponent);
  long double value = ldexpl((long double)bits, exponent);
  if (sign < 0) negate(sum);
  return sign < 0 ? -value : value;
}

/* --- means */

enum { MEAN_BITS = 80 };

static int width_of(net_wide_unsigned bits) {
  uint64_t high = (uint64_t)(bits >> 64), low = (uint64_t)bits;
  if (high != 0) return 128 - __builtin_clzll(high);
  return low != 0 ? 64 - __builtin_clzll(low) : 0;
}

/* BITS times 2^EXPONENT over COUNT. */
static double divided(net_wide_unsigned bits, int exponent, uint64_t count) {
  BASE_CHECK(count > 0 && count <= INT64_MAX, "exact-count");
  net_wide_unsigned quotient = bits / count, rest = bits % count;
  int room = 126 - width_of(quotient);
  if (room > 63) room = 63; /* the rest has 63 bits at most */
  if (room > 0) {
    quotient = quotient << room | (rest << room) / count;
    exponent -= room;
  }
  int surplus = width_of(quotient) - MEAN_BITS;
  if (surplus > 0) {
    bool up = (quotient >> (surplus - 1)) & 1;
    quotient = (quotient >> surplus) + up;
    exponent += surplus;
  }
  return ldexp((double)quotient, exponent);
}

double net_sum_mean(struct net_sum *sum, uint64_t count) {
  int sign = net_sum_sign(sum), exponent;
  if (sign == 0) return 0;
  if (sign < 0) negate(sum);
  net_wide_unsigned bits = upper(sum, &exponent);
  double value = divided(bits, exponent, count);
  if (sign < 0) negate(sum);
  return sign < 0 && value != 0 ? -value : value;
}

/* Of numbers that a double has room for the quotient is the double next to it, which is what division
 * gives, where COUNT is so small that none lies as near to the middle between two doubles as MEAN_BITS
 * can tell: such a quotient is at least 1 / (2^54 COUNT) of itself away, or there. */
double net_wide_mean(net_wide sum, uint64_t count) {
  const net_wide room = (net_wide)1 << 53;
  if (sum == 0) return 0;
  if (sum <= room && sum >= -room && count <= (uint64_t)1 << (MEAN_BITS - 56))
    return (double)(int64_t)sum / (double)(int64_t)count;
  double value = divided(sum < 0 ? -(net_wide_unsigned)sum : (net_wide_unsigned)sum, 0, count);
  return sum < 0 ? -value : value;
}
