/* Exact arithmetic on sums of products of doubles.
 *
 * A double is a whole number of 53 bits times a power of two, so after all products have been brought
 * to the smallest power that occurs, everything is whole numbers of at most some 4400 bits: large
 * enough a place for them is fixed (exact.h), nothing is allocated and nothing can overflow. Only the
 * limbs in use are looked at, which for numbers of like size are three or four.
 *
 * Sums are kept as two magnitudes, of what is added and of what is taken away, and subtracted once.  */
#include "engine/exact.h"

#include <math.h>
#include <string.h>

#include "engine/base/status.h"

__extension__ typedef unsigned __int128 wide;

/* --- magnitudes */

static void trim(struct net_exact *x) {
  while (x->count > 0 && x->limbs[x->count - 1] == 0) x->count--;
  if (x->count == 0) x->negative = false;
}

static int compare(const struct net_exact *x, const struct net_exact *y) {
  if (x->count != y->count) return x->count > y->count ? 1 : -1;
  for (uint32_t i = x->count; i-- > 0;)
    if (x->limbs[i] != y->limbs[i]) return x->limbs[i] > y->limbs[i] ? 1 : -1;
  return 0;
}

static void extend(struct net_exact *x, uint32_t count) {
  BASE_CHECK(count <= NET_EXACT_LIMBS, "exact-fits");
  while (x->count < count) x->limbs[x->count++] = 0;
}

/* x += y 2^(64 limb) */
static void add_limb(struct net_exact *x, uint32_t limb, uint64_t y) {
  for (; y != 0; limb++) {
    extend(x, limb + 1);
    x->limbs[limb] += y;
    y = x->limbs[limb] < y;
  }
}

/* x += y 2^shift */
static void add_shifted(struct net_exact *x, wide y, unsigned shift) {
  uint32_t limb = shift / 64;
  unsigned bits = shift % 64;
  uint64_t low = (uint64_t)y, high = (uint64_t)(y >> 64);
  add_limb(x, limb, low << bits);
  add_limb(x, limb + 1, bits ? high << bits | low >> (64 - bits) : high);
  if (bits) add_limb(x, limb + 2, high >> (64 - bits));
}

/* x -= y; x >= y */
static void subtract(struct net_exact *x, const struct net_exact *y) {
  uint64_t borrow = 0;
  for (uint32_t i = 0; i < x->count && (i < y->count || borrow); i++) {
    uint64_t take = i < y->count ? y->limbs[i] : 0, before = x->limbs[i];
    x->limbs[i] = before - take - borrow;
    borrow = before < take || (before == take && borrow);
  }
  trim(x);
}

static void multiply(struct net_exact *x, uint64_t factor) {
  uint64_t carry = 0;
  for (uint32_t i = 0; i < x->count; i++) {
    wide product = (wide)x->limbs[i] * factor + carry;
    x->limbs[i] = (uint64_t)product;
    carry = (uint64_t)(product >> 64);
  }
  if (carry) {
    extend(x, x->count + 1);
    x->limbs[x->count - 1] = carry;
  }
  trim(x);
}

static unsigned bits_of(const struct net_exact *x) {
  if (x->count == 0) return 0;
  return 64 * x->count - (unsigned)__builtin_clzll(x->limbs[x->count - 1]);
}

static void copy(struct net_exact *to, const struct net_exact *from) {
  to->negative = from->negative;
  to->count = from->count;
  memcpy(to->limbs, from->limbs, from->count * sizeof *from->limbs);
}

static void shift_up(struct net_exact *x, unsigned shift) {
  uint32_t limbs = shift / 64;
  unsigned bits = shift % 64;
  uint32_t count = x->count;
  extend(x, count + limbs + 1);
  for (uint32_t i = count; i-- > 0;) {
    uint64_t limb = x->limbs[i];
    x->limbs[i + limbs + 1] |= bits ? limb >> (64 - bits) : 0;
    x->limbs[i + limbs] = limb << bits;
  }
  for (uint32_t i = 0; i < limbs; i++) x->limbs[i] = 0;
  trim(x);
}

/* --- sums of products */

/* X = m 2^e with |m| < 2^53. */
static int64_t whole_part(double x, int *ret_exponent) {
  double fraction = frexp(x, ret_exponent);
  *ret_exponent -= 53;
  return (int64_t)ldexp(fraction, 53);
}

static int smallest_exponent(const struct net_product *products, unsigned count, int so_far) {
  for (unsigned i = 0; i < count; i++) {
    int x_exponent, y_exponent;
    if (products[i].x == 0 || products[i].y == 0) continue;
    whole_part(products[i].x, &x_exponent);
    whole_part(products[i].y, &y_exponent);
    if (x_exponent + y_exponent < so_far) so_far = x_exponent + y_exponent;
  }
  return so_far;
}

/* The sum times 2^-EXPONENT. */
static void sum_up(const struct net_product *products, unsigned count, int exponent,
                   struct net_exact *ret) {
  struct net_exact taken = {.count = 0};
  ret->negative = false;
  ret->count = 0;
  for (unsigned i = 0; i < count; i++) {
    int x_exponent, y_exponent;
    if (products[i].x == 0 || products[i].y == 0) continue;
    int64_t x = whole_part(products[i].x, &x_exponent);
    int64_t y = whole_part(products[i].y, &y_exponent);
    bool minus = ((x < 0) != (y < 0)) != products[i].minus;
    wide size = (wide)(x < 0 ? -x : x) * (wide)(y < 0 ? -y : y);
    add_shifted(minus ? &taken : ret, size, (unsigned)(x_exponent + y_exponent - exponent));
  }
  trim(ret);
  trim(&taken);
  if (compare(ret, &taken) >= 0) {
    subtract(ret, &taken);
    return;
  }
  subtract(&taken, ret);
  copy(ret, &taken);
  ret->negative = true;
}

void net_linear_make(const struct net_product *a, unsigned a_count, const struct net_product *b,
                     unsigned b_count, uint64_t unit, struct net_linear *ret) {
  int exponent = smallest_exponent(b, b_count, smallest_exponent(a, a_count, INT32_MAX));
  sum_up(a, a_count, exponent, &ret->a);
  sum_up(b, b_count, exponent, &ret->b);
  multiply(&ret->a, unit);
}

static int sign_of(const struct net_exact *x) {
  return x->count == 0 ? 0 : x->negative ? -1 : 1;
}

int net_products_sign(const struct net_product *products, unsigned count) {
  struct net_exact sum;
  sum_up(products, count, smallest_exponent(products, count, INT32_MAX), &sum);
  return sign_of(&sum);
}

/* --- linear functions */

int net_linear_sign(const struct net_linear *linear, uint64_t k) {
  int a = sign_of(&linear->a), b = k == 0 ? 0 : sign_of(&linear->b);
  if (a == 0 || b == 0 || a == b) return a != 0 ? a : b;
  struct net_exact product;
  copy(&product, &linear->b);
  multiply(&product, k);
  int order = compare(&linear->a, &product);
  return order == 0 ? 0 : order > 0 ? a : b;
}

/* |a| / |b|, bit by bit from the top. */
bool net_linear_root(const struct net_linear *linear, uint64_t *ret, bool *ret_whole) {
  int a = sign_of(&linear->a), b = sign_of(&linear->b);
  if (b == 0 || a == b) return false;
  unsigned a_bits = bits_of(&linear->a), b_bits = bits_of(&linear->b);
  struct net_exact rest, part;
  uint64_t root = 0;
  if (a_bits > b_bits + 64) return false;
  copy(&rest, &linear->a);
  for (unsigned bit = a_bits >= b_bits ? a_bits - b_bits + 1 : 0; bit-- > 0;) {
    copy(&part, &linear->b);
    shift_up(&part, bit);
    if (compare(&rest, &part) < 0) continue;
    if (bit >= 64) return false;
    subtract(&rest, &part);
    root |= UINT64_C(1) << bit;
  }
  *ret = root;
  *ret_whole = rest.count == 0;
  return true;
}
