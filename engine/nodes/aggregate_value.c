/* Aggregate: the functions. What a group keeps of the tuples that count for sure, and what value it has.
 *
 *     count any                  the number of tuples, which the group has already
 *     sum avg                    integers in 128 bits, floats exactly (exact_sum.c): tuples may go again, and
 *                                neither their order nor what is gone shows in the result
 *     sum avg, temporal          sums of n0, of the slopes and of slope times start: linear functions of
 *                                absolute time; the same function is told exactly, not by rounded values
 *     min max first last         never go: the best; else an ordered set of starts and values
 *     earliest latest            the same, of starts and stops
 *     stdev                      exact sums of arguments and squares: n sum x^2 - (sum x)^2 loses nothing
 *     varts avgti                an ordered set, and sums over its neighbours (rates as exact as sums);
 *                                what never goes and can get no new neighbour is given up
 *     avgc                       (1/T) integral of the sum of the arguments, as (I + W tau) / (T + tau)
 *
 * Tuples are in order by start.lo, start.hi, value; spans between them are those of start.lo.        */
#include <math.h>
#include <string.h>

#include "engine/nodes/aggregate.h"

/* --- order */

static int compare_integers(int64_t a, int64_t b) {
  return (a > b) - (a < b);
}

bool net_agg_wants_smallest(enum net_aggregate_function function) {
  return function == NET_AGG_MIN || function == NET_AGG_FIRST || function == NET_AGG_EARLIEST;
}

static bool chooses(enum net_aggregate_function function) {
  return net_agg_wants_smallest(function) || function == NET_AGG_MAX || function == NET_AGG_LAST ||
         function == NET_AGG_LATEST;
}

static int compare_values(const void *context, union net_slot a, union net_slot b) {
  const struct net_aggregate *node = context;
  switch (node->argument) {
    case NET_FLOAT:
      return (a.f > b.f) - (a.f < b.f);
    case NET_STRING:
    case NET_NAME:
      return base_strings_compare(net_network_strings(node->node.network), a.s, b.s);
    default:
      return compare_integers(a.i, b.i);
  }
}

int net_agg_compare(const struct net_aggregate *node, const struct net_ordered_key *a,
                    const struct net_ordered_key *b) {
  if (a->start.lo != b->start.lo) return compare_integers(a->start.lo, b->start.lo);
  if (a->start.hi != b->start.hi) return compare_integers(a->start.hi, b->start.hi);
  if (!node->chooses_time) return compare_values(node, a->value, b->value);
  if (a->stop.lo != b->stop.lo) return compare_integers(a->stop.lo, b->stop.lo);
  return compare_integers(a->stop.hi, b->stop.hi);
}

/* What the function, or the order of tuples, asks of a tuple besides its stop. */
unsigned net_agg_kept(const struct net_aggregate *node) {
  unsigned kept = node->chooses_time ? NET_KEEP_STOP : NET_KEEP_VALUE;
  switch (node->function) {
    case NET_AGG_COUNT:
    case NET_AGG_ANY:
      if (!node->stands) return 0;
      break;
    case NET_AGG_VARTS:
      kept = NET_KEEP_START;
      break;
    case NET_AGG_FIRST:
    case NET_AGG_LAST:
    case NET_AGG_EARLIEST:
    case NET_AGG_LATEST:
    case NET_AGG_AVGTI:
      kept |= NET_KEEP_START;
      break;
    default:
      break;
  }
  if (node->stands || node->argument == NET_TEMPORAL) kept |= NET_KEEP_START;
  if (node->argument == NET_TEMPORAL) kept |= NET_KEEP_SLOPE;
  return kept;
}

void net_agg_value_init(struct net_aggregate *node) {
  unsigned kept = net_agg_kept(node);
  bool integers =
      node->argument != NET_FLOAT && node->argument != NET_STRING && node->argument != NET_NAME;
  net_ordered_init(&node->ordered, kept, integers ? NULL : compare_values, node);
  unsigned known = kept | NET_KEEP_END; /* their times are determinate */
  if (known & NET_KEEP_START) known ^= NET_KEEP_START | NET_KEEP_AT;
  net_ordered_init(&node->stairs, known, integers ? NULL : compare_values, node);
  net_ordered_init(&node->floors, NET_KEEP_START, NULL, NULL);
}

/* --- units of time: seconds on the real timeline, chronons on the abstract one */

static int64_t chronons_a_unit(const struct net_aggregate *node) {
  return net_network_timeline(node->node.network) == NET_TIMELINE_REAL ? 1000000000 : 1;
}

static long double units(const struct net_aggregate *node, long double chronons) {
  bool real = net_network_timeline(node->node.network) == NET_TIMELINE_REAL;
  return real ? chronons / 1e9L : chronons;
}

/* --- neighbours in time: varts, avgti */

static uint64_t span_between(const struct net_ordered_key *a, const struct net_ordered_key *b) {
  return (uint64_t)b->start.lo - (uint64_t)a->start.lo;
}

static long double number_of(const struct net_aggregate *node, union net_slot value) {
  return node->argument == NET_FLOAT ? (long double)value.f : (long double)value.i;
}

static void count_span(struct net_tally *tally, uint64_t span, bool take_away) {
  net_wide_unsigned square = (net_wide_unsigned)span * span;
  if (take_away) {
    tally->spans -= span;
    tally->span_squares -= square;
  } else {
    tally->spans += span;
    tally->span_squares += square;
  }
}

/* The rate as a quotient of exact numbers, so that neither order nor what is gone shows in the sum. */
static void add_rate(struct net_aggregate *node, struct net_tally *tally,
                     const struct net_ordered_key *a, const struct net_ordered_key *b,
                     bool take_away) {
  uint64_t span = span_between(a, b);
  int64_t unit = chronons_a_unit(node);
  if (node->argument == NET_FLOAT) {
    net_sum_add_quotient(&tally->rates, b->value.f, unit, span, take_away);
    net_sum_add_quotient(&tally->rates, a->value.f, unit, span, !take_away);
  } else {
    net_wide rise = (net_wide)b->value.i - a->value.i;
    net_sum_add_integer_quotient(&tally->rates, rise * unit, span, take_away);
  }
}

static void count_rate(struct net_aggregate *node, struct net_tally *tally,
                       const struct net_ordered_key *a, const struct net_ordered_key *b,
                       bool take_away) {
  int64_t sign = take_away ? -1 : 1;
  uint64_t span = span_between(a, b);
  if (span == 0) return;
  long double rise = number_of(node, b->value) - number_of(node, a->value);
  tally->pairs += sign;
  if (isfinite((double)(rise / units(node, (long double)span)))) {
    add_rate(node, tally, a, b, take_away);
  } else {
    tally->infinite += sign;
  }
}

/* A and B are neighbours, or are so no longer. */
static void count_neighbours(struct net_aggregate *node, struct net_tally *tally,
                             const struct net_ordered_key *a, const struct net_ordered_key *b,
                             bool take_away) {
  if (node->function == NET_AGG_VARTS) {
    count_span(tally, span_between(a, b), take_away);
  } else {
    count_rate(node, tally, a, b, take_away);
  }
}

/* KEY, which stands for itself alone in the set, is there now (or, TAKE_AWAY, no longer). */
static void count_between(struct net_aggregate *node, struct net_tally *tally,
                          const struct net_ordered_key *key, bool take_away) {
  uint32_t before = net_ordered_before(&node->ordered, tally->ordered, key);
  uint32_t after = net_ordered_after(&node->ordered, tally->ordered, key);
  struct net_ordered_key a, b;
  if (before != 0) net_ordered_get(&node->ordered, before, &a);
  if (after != 0) net_ordered_get(&node->ordered, after, &b);
  if (before != 0 && after != 0) count_neighbours(node, tally, &a, &b, !take_away);
  if (before != 0) count_neighbours(node, tally, &a, key, take_away);
  if (after != 0) count_neighbours(node, tally, key, &b, take_away);
}

void net_agg_settle(struct net_aggregate *node, struct net_agg_group *group) {
  if (group->references > 0) return;
  uint32_t *root = &group->tally.ordered;
  uint32_t last = net_ordered_last(&node->ordered, *root);
  if (last == 0) return;
  struct net_ordered_key kept;
  net_ordered_get(&node->ordered, last, &kept);
  net_ordered_clear(&node->ordered, root);
  (void)net_ordered_insert(&node->ordered, root, &kept);
}

/* --- tuples that count, and those that do no longer */

static void sum(struct net_aggregate *node, struct net_tally *tally,
                const struct net_ordered_key *key, int64_t sign) {
  union net_slot value = key->value;
  if (node->argument == NET_INTEGER) {
    tally->sum += sign * (net_wide)value.i;
    return;
  }
  net_sum_add(&tally->exact, value.f, sign);
  if (node->argument != NET_TEMPORAL) return;
  net_sum_add(&tally->slopes, key->slope, sign);
  net_wide moment = sign * (net_wide)key->start.lo;
  if (moment > INT64_MAX) { /* the beginning, taken away */
    net_sum_add(&tally->moments, key->slope, INT64_MAX);
    moment = 1;
  }
  net_sum_add(&tally->moments, key->slope, (int64_t)moment);
}

static void sum_squares(struct net_aggregate *node, struct net_tally *tally,
                        const struct net_ordered_key *key, bool take_away) {
  union net_slot value = key->value;
  if (node->argument == NET_FLOAT) {
    net_sum_add(&tally->exact, value.f, take_away ? -1 : 1);
    net_sum_add_square(&tally->squares, value.f, take_away);
  } else {
    net_sum_add_integer(&tally->exact, value.i, take_away ? -1 : 1);
    net_sum_add_integer_square(&tally->squares, value.i, take_away);
  }
}

struct net_ordered_key net_agg_rank(const struct net_aggregate *node,
                                    const struct net_ordered_key *key) {
  struct net_ordered_key plain = *key;
  if (node->function == NET_AGG_MIN || node->function == NET_AGG_MAX)
    plain.start = (struct net_instant){0, 0};
  return plain;
}

/* Functions whose tuples never go keep the best alone. */
static void choose(struct net_aggregate *node, struct net_agg_group *group,
                   const struct net_ordered_key *key) {
  struct net_ordered_key *best = &group->tally.best;
  int order = net_agg_compare(node, key, best);
  bool better = node->wants_smallest ? order < 0 : order > 0;
  if (net_agg_values(node, group) > 1 && !better) return;
  if (net_agg_values(node, group) > 1) net_agg_floor_remove(node, best->start.lo);
  net_agg_floor_add(node, key->start.lo);
  *best = *key;
}

void net_agg_add(struct net_aggregate *node, struct net_agg_group *group,
                 const struct net_ordered_key *key) {
  struct net_tally *tally = &group->tally;
  struct net_ordered_key plain = net_agg_rank(node, key);
  key = &plain;
  switch (node->function) {
    case NET_AGG_SUM:
    case NET_AGG_AVG:
      sum(node, tally, key, 1);
      break;
    case NET_AGG_MIN:
    case NET_AGG_MAX:
    case NET_AGG_FIRST:
    case NET_AGG_LAST:
    case NET_AGG_EARLIEST:
    case NET_AGG_LATEST:
      if (node->goes) {
        (void)net_ordered_insert(&node->ordered, &tally->ordered, key);
        net_agg_floor_add(node, key->start.lo);
      } else {
        choose(node, group, key);
      }
      break;
    case NET_AGG_STDEV:
      sum_squares(node, tally, key, false);
      break;
    case NET_AGG_VARTS:
    case NET_AGG_AVGTI:
      if (net_ordered_insert(&node->ordered, &tally->ordered, key))
        count_between(node, tally, key, false);
      break;
    default: /* the group has their number */
      break;
  }
}

void net_agg_remove(struct net_aggregate *node, struct net_agg_group *group,
                    const struct net_ordered_key *key) {
  struct net_tally *tally = &group->tally;
  struct net_ordered_key plain = net_agg_rank(node, key);
  key = &plain;
  switch (node->function) {
    case NET_AGG_SUM:
    case NET_AGG_AVG:
      sum(node, tally, key, -1);
      break;
    case NET_AGG_MIN:
    case NET_AGG_MAX:
    case NET_AGG_FIRST:
    case NET_AGG_LAST:
    case NET_AGG_EARLIEST:
    case NET_AGG_LATEST:
      (void)net_ordered_remove(&node->ordered, &tally->ordered, key);
      net_agg_floor_remove(node, key->start.lo);
      break;
    case NET_AGG_STDEV:
      sum_squares(node, tally, key, true);
      break;
    case NET_AGG_VARTS:
    case NET_AGG_AVGTI:
      if (net_ordered_remove(&node->ordered, &tally->ordered, key))
        count_between(node, tally, key, true);
      break;
    default:
      break;
  }
}

/* Adds the difference of A times A_TIMES and B times B_TIMES. */
static void subtract(struct net_sum *result, struct net_sum *a, int64_t a_times, struct net_sum *b,
                     int64_t b_times) {
  net_sum_add_multiple(result, a, a_times);
  net_sum_add_multiple(result, b, -b_times);
}

/* --- avgc */

/* Weight and integral of integers are so while 128 bits have room for them; only then does it take sums
 * without end. Both give the same values, which are rounded once. */
static inline bool is_whole(const struct net_aggregate *node, const struct net_tally *tally) {
  return node->argument != NET_FLOAT && !tally->beyond;
}

static void go_beyond(struct net_agg_group *group) {
  struct net_tally *tally = &group->tally;
  tally->beyond = true;
  net_sum_add_wide(&tally->weight, tally->whole_weight);
  net_sum_add_wide(&tally->integral, tally->whole_integral);
  net_sum_add_wide(&group->function.weight, group->function.whole_weight);
}

static inline bool is_word(net_wide value) {
  return value == (int64_t)value;
}

static inline bool integrate_whole(struct net_tally *tally, net_wide span) {
  net_wide area, integral;
  if (is_word(tally->whole_weight) && is_word(span)) {
    area = tally->whole_weight * span; /* of two words: it has room */
  } else if (__builtin_mul_overflow(tally->whole_weight, span, &area)) {
    return false;
  }
  if (__builtin_add_overflow(tally->whole_integral, area, &integral)) return false;
  tally->whole_integral = integral;
  return true;
}

void net_agg_weigh(struct net_aggregate *node, struct net_agg_group *group, union net_slot value,
                   int64_t sign) {
  if (is_whole(node, &group->tally)) {
    group->tally.whole_weight += sign * (net_wide)value.i;
    return;
  }
  if (node->argument == NET_FLOAT) {
    net_sum_add(&group->tally.weight, value.f, sign);
  } else {
    net_sum_add_integer(&group->tally.weight, value.i, sign);
  }
}

void net_agg_integrate_weight(struct net_aggregate *node, struct net_agg_group *group,
                              net_chronon to) {
  struct net_tally *tally = &group->tally;
  net_chronon from = tally->integrated_to;
  tally->integrated_to = to;
  if (!node->averaging_known) return; /* what is not integrated so far has no weight */
  if (from < node->averaging_origin) from = node->averaging_origin;
  if (to <= from) return;
  net_wide span = (net_wide)to - from;
  if (is_whole(node, tally)) {
    if (integrate_whole(tally, span)) return;
    go_beyond(group);
  }
  int64_t half = (int64_t)(span / 2); /* the whole may not fit */
  net_sum_add_multiple(&tally->integral, &tally->weight, half);
  net_sum_add_multiple(&tally->integral, &tally->weight, (int64_t)(span - half));
}

static inline void put_function(struct net_agg_value *value, const struct net_temporal *function) {
  value->slots[0].f = function->n0;
  value->slots[1].f = function->n1;
  value->slots[2].f = function->d0;
  value->slots[3].f = function->d1;
}

/* CHRONONS in units; rounded once where a double has room for the chronons. */
static inline double whole_units(const struct net_aggregate *node, net_wide chronons) {
  bool real = net_network_timeline(node->node.network) == NET_TIMELINE_REAL;
  const net_wide room = (net_wide)1 << 53;
  if (chronons <= room && chronons >= -room) {
    double exact = (double)(int64_t)chronons;
    return real ? exact / 1e9 : exact;
  }
  return (double)units(node, (long double)chronons);
}

static enum net_eval_error average_over_time(struct net_aggregate *node,
                                             struct net_agg_group *group, net_chronon now,
                                             struct net_agg_value *ret) {
  struct net_temporal function = {0, 0, 1, 0};
  struct net_tally *tally = &group->tally;
  if (node->averaging_known && now >= node->averaging_origin) {
    if (is_whole(node, tally)) {
      function.n0 = whole_units(node, tally->whole_integral);
      function.n1 = is_word(tally->whole_weight) ? (double)(int64_t)tally->whole_weight
                                                 : (double)tally->whole_weight;
    } else {
      long double integral = net_sum_long(&tally->integral);
      bool whole = node->argument != NET_FLOAT && fabsl(integral) <= 0x1p53L;
      function.n0 = whole ? whole_units(node, (net_wide)integral) : (double)units(node, integral);
      function.n1 = net_sum_double(&tally->weight);
    }
    function.d0 = whole_units(node, (net_wide)now - node->averaging_origin);
    function.d1 = 1;
    if (!isfinite(function.n0) || !isfinite(function.n1)) return NET_EVAL_NUMBER;
    net_temporal_normalise(&function);
  }
  put_function(ret, &function);
  return NET_EVAL_OK;
}

/* Where both functions come from the integral and have one weight they are the same: if constants, then
 * both the weight (see net_temporal_settled). */
bool net_agg_average_lasts(const struct net_aggregate *node, const struct net_agg_group *group,
                           net_chronon now) {
  return is_whole(node, &group->tally) &&
         group->tally.whole_weight == group->function.whole_weight && node->averaging_known &&
         group->since >= node->averaging_origin && now > node->averaging_origin;
}

/* The average is continuous: while the sum of the arguments is the same, so is the function. */
static bool same_average(struct net_aggregate *node, struct net_agg_group *group,
                         const struct net_agg_value *value) {
  const union net_slot *rest = net_agg_value_rest(node, group), *new = value->slots;
  if (rest[0].f == 0 && rest[2].f == 0 && new[1].f == 0 && new[3].f == 0)
    return group->value.f == new[0].f;
  if (!node->averaging_known || group->since < node->averaging_origin) return false;
  if (is_whole(node, &group->tally))
    return group->tally.whole_weight == group->function.whole_weight;
  net_sum_clear(&node->scratch);
  subtract(&node->scratch, &group->tally.weight, 1, &group->function.weight, 1);
  return net_sum_sign(&node->scratch) == 0;
}

/* --- temporal sums: E + (W t - P) / unit */

static enum net_eval_error temporal_sum(struct net_aggregate *node, struct net_agg_group *group,
                                        net_chronon now, struct net_agg_value *ret) {
  struct net_tally *tally = &group->tally;
  struct net_sum *value = &node->scratch;
  int64_t unit = chronons_a_unit(node);
  net_sum_clear(value);
  net_sum_add_multiple(value, &tally->exact, unit);
  net_sum_add_multiple(value, &tally->slopes, now);
  net_sum_add_multiple(value, &tally->moments, -1);
  long double n0 = net_sum_long(value) / (long double)unit;
  long double n1 = net_sum_long(&tally->slopes);
  if (node->function == NET_AGG_AVG) {
    n0 /= (long double)net_agg_values(node, group);
    n1 /= (long double)net_agg_values(node, group);
  }
  struct net_temporal function = {(double)n0, (double)n1, 1, 0};
  if (!isfinite(function.n0) || !isfinite(function.n1)) return NET_EVAL_NUMBER;
  net_temporal_normalise(&function);
  put_function(ret, &function);
  return NET_EVAL_OK;
}

static bool same_temporal_sum(struct net_aggregate *node, struct net_agg_group *group) {
  struct net_tally *now = &group->tally;
  struct net_agg_function *then = &group->function;
  struct net_sum *rest = &node->scratch;
  bool mean = node->function == NET_AGG_AVG;
  int64_t count = mean ? net_agg_values(node, group) : 1, old_count = mean ? then->count : 1;
  net_sum_clear(rest);
  subtract(rest, &now->slopes, old_count, &then->slopes, count);
  if (net_sum_sign(rest) != 0) return false;
  int64_t unit = chronons_a_unit(node);
  net_sum_clear(rest);
  subtract(rest, &now->exact, old_count * unit, &then->exact, count * unit);
  subtract(rest, &then->moments, count, &now->moments, old_count);
  return net_sum_sign(rest) == 0;
}

/* --- values */

static enum net_eval_error finite_value(long double value, struct net_agg_value *ret) {
  ret->slots[0].f = (double)value + 0.0;
  return isfinite(ret->slots[0].f) ? NET_EVAL_OK : NET_EVAL_NUMBER;
}

static enum net_eval_error tell_sum(struct net_aggregate *node, struct net_agg_group *group,
                                    net_chronon now, struct net_agg_value *ret) {
  struct net_tally *tally = &group->tally;
  bool mean = node->function == NET_AGG_AVG;
  if (node->argument == NET_TEMPORAL) return temporal_sum(node, group, now, ret);
  if (mean) {
    uint64_t count = (uint64_t)net_agg_values(node, group);
    return finite_value(node->argument == NET_INTEGER ? net_wide_mean(tally->sum, count)
                                                      : net_sum_mean(&tally->exact, count),
                        ret);
  }
  if (node->argument == NET_FLOAT) return finite_value(net_sum_double(&tally->exact), ret);
  if (tally->sum > INT64_MAX || tally->sum < INT64_MIN) return NET_EVAL_OVERFLOW;
  ret->slots[0].i = (int64_t)tally->sum;
  return NET_EVAL_OK;
}

/* The square root of n sum x^2 - (sum x)^2, over n. */
static enum net_eval_error deviation(struct net_aggregate *node, struct net_agg_group *group,
                                     struct net_agg_value *ret) {
  struct net_sum *squares = &node->scratch;
  int64_t count = net_agg_values(node, group);
  net_sum_clear(squares);
  net_sum_add_multiple(squares, &group->tally.squares, count);
  net_sum_subtract_square_of(squares, &group->tally.exact);
  return finite_value(sqrtl(net_sum_long(squares)) / (long double)count, ret);
}

/* The square root of n sum s^2 - (sum s)^2, over sum s: all exact but the last two steps. */
static enum net_eval_error variation(const struct net_aggregate *node,
                                     const struct net_agg_group *group, struct net_agg_value *ret) {
  const struct net_tally *tally = &group->tally;
  net_wide_unsigned count = (net_wide_unsigned)(net_agg_values(node, group) - 1);
  net_wide_unsigned low_bits = UINT64_MAX;
  net_wide_unsigned square = (net_wide_unsigned)tally->spans * tally->spans;
  net_wide high = (net_wide)(count * (tally->span_squares >> 64)) - (net_wide)(square >> 64);
  net_wide low =
      (net_wide)(count * (tally->span_squares & low_bits)) - (net_wide)(square & low_bits);
  high += low >> 64;
  low &= (net_wide)low_bits;
  long double rest = ldexpl((long double)high, 64) + (long double)low;
  return finite_value(sqrtl(rest) / (long double)tally->spans, ret);
}

static void choose_now(struct net_aggregate *node, struct net_agg_group *group, net_chronon now,
                       struct net_ordered_key *ret) {
  const struct net_tally *tally = &group->tally;
  if (!node->goes) {
    *ret = tally->best;
    return;
  }
  uint32_t known = node->has_stairs ? net_agg_best(node, group, now) : 0;
  uint32_t other = node->wants_smallest ? net_ordered_first(&node->ordered, tally->ordered)
                                        : net_ordered_last(&node->ordered, tally->ordered);
  net_ordered_get(known != 0 ? &node->stairs : &node->ordered, known != 0 ? known : other, ret);
  if (known == 0 || other == 0) return;
  struct net_ordered_key of_other;
  net_ordered_get(&node->ordered, other, &of_other);
  int order = net_agg_compare(node, ret, &of_other);
  if (node->wants_smallest ? order > 0 : order < 0) *ret = of_other;
}

static void tell_choice(struct net_aggregate *node, struct net_agg_group *group, net_chronon now,
                        struct net_agg_value *ret) {
  struct net_ordered_key key;
  choose_now(node, group, now, &key);
  ret->slots[0] = key.value;
  if (!node->chooses_time) return;
  ret->slots[0].i = key.start.lo;
  ret->slots[1].i = key.start.hi;
  ret->slots[2].i = key.stop.lo;
  ret->slots[3].i = key.stop.hi;
}

bool net_agg_can_fail(const struct net_aggregate *node) {
  switch (node->function) {
    case NET_AGG_AVGC:
    case NET_AGG_AVG:
      return node->argument != NET_INTEGER;
    case NET_AGG_SUM:
    case NET_AGG_STDEV:
    case NET_AGG_VARTS:
    case NET_AGG_AVGTI:
      return true;
    default: /* numbers of tuples, and values and times of one of them */
      return false;
  }
}

static bool has_value(const struct net_aggregate *node, const struct net_agg_group *group) {
  switch (node->function) {
    case NET_AGG_COUNT:
    case NET_AGG_ANY:
    case NET_AGG_SUM:
      return !node->params.some_only || net_agg_values(node, group) > 0;
    case NET_AGG_AVGC: /* its values come and go */
      return !node->params.some_only || group->sure > 0;
    case NET_AGG_VARTS:
      return net_agg_values(node, group) > 1 && group->tally.spans > 0;
    case NET_AGG_AVGTI:
      return group->tally.pairs > 0;
    default:
      return net_agg_values(node, group) > 0;
  }
}

enum net_eval_error net_agg_tell(struct net_aggregate *node, struct net_agg_group *group,
                                 net_chronon now, struct net_agg_value *ret, bool *ret_has) {
  enum net_eval_error error = NET_EVAL_OK;
  int64_t sure = net_agg_values(node, group);
  memset(ret, 0, sizeof *ret);
  if (!has_value(node, group)) {
    *ret_has = false;
    return NET_EVAL_OK;
  }
  switch (node->function) {
    case NET_AGG_COUNT:
      ret->slots[0].i = sure;
      break;
    case NET_AGG_ANY:
      ret->slots[0].i = sure > 0;
      break;
    case NET_AGG_SUM:
    case NET_AGG_AVG:
      error = tell_sum(node, group, now, ret);
      break;
    case NET_AGG_AVGC:
      error = average_over_time(node, group, now, ret);
      break;
    case NET_AGG_STDEV:
      error = deviation(node, group, ret);
      break;
    case NET_AGG_VARTS:
      error = variation(node, group, ret);
      break;
    case NET_AGG_AVGTI:
      error =
          group->tally.infinite > 0
              ? NET_EVAL_NUMBER
              : finite_value(net_sum_mean(&group->tally.rates, (uint64_t)group->tally.pairs), ret);
      break;
    default:
      tell_choice(node, group, now, ret);
  }
  if (error == NET_EVAL_OK) *ret_has = true;
  return error;
}

bool net_agg_same(struct net_aggregate *node, struct net_agg_group *group,
                  const struct net_agg_value *value) {
  if (node->function == NET_AGG_AVGC) return same_average(node, group, value);
  if (node->argument == NET_TEMPORAL) return same_temporal_sum(node, group);
  if (group->value.i != value->slots[0].i) return false;
  return !node->is_wide ||
         memcmp(group->tally.chosen, value->slots + 1, sizeof group->tally.chosen) == 0;
}

void net_agg_keep(struct net_aggregate *node, struct net_agg_group *group,
                  const struct net_agg_value *value) {
  struct net_tally *tally = &group->tally;
  group->value = value->slots[0];
  if (node->is_wide) net_row_copy(net_agg_value_rest(node, group), value->slots + 1, 3);
  net_agg_floor_add(node, value->slots[0].i);
  if (node->function == NET_AGG_AVGC) {
    group->function.whole_weight = tally->whole_weight;
    if (!is_whole(node, tally)) net_sum_copy(&group->function.weight, &tally->weight);
  } else if (node->argument == NET_TEMPORAL) {
    net_sum_copy(&group->function.exact, &tally->exact);
    net_sum_copy(&group->function.slopes, &tally->slopes);
    net_sum_copy(&group->function.moments, &tally->moments);
    group->function.count = net_agg_values(node, group);
  }
}

/* Of the times that earliest and latest may yet choose: nothing comes back that has gone. They are those of
 * changes to come, of what is in an ordered set or the best of a group, and of the values of segments. */
net_chronon net_agg_floor(const struct net_aggregate *node, net_chronon checkpoint) {
  uint32_t first = net_ordered_first(&node->floors, node->floor_root);
  if (first == 0) return checkpoint;
  struct net_ordered_key key;
  net_ordered_get(&node->floors, first, &key);
  return key.start.lo < checkpoint ? key.start.lo : checkpoint;
}

void net_agg_floor_count(struct net_aggregate *node, net_chronon start, bool comes) {
  struct net_ordered_key key = {.start = {start, start}};
  if (comes) {
    (void)net_ordered_insert(&node->floors, &node->floor_root, &key);
  } else {
    (void)net_ordered_remove(&node->floors, &node->floor_root, &key);
  }
}

/* --- the end, and strings */

/* What is in the tally. */
enum tally_kind { NOTHING, BEST, SETS, INTEGERS, SPANS, EXACT, SQUARES, RATES, FUNCTIONS, AVERAGE };

static enum tally_kind tally_kind(const struct net_aggregate *node) {
  switch (node->function) {
    case NET_AGG_COUNT:
    case NET_AGG_ANY:
      return NOTHING;
    case NET_AGG_SUM:
    case NET_AGG_AVG:
      if (node->argument == NET_TEMPORAL) return FUNCTIONS;
      return node->argument == NET_INTEGER ? INTEGERS : EXACT;
    case NET_AGG_STDEV:
      return SQUARES;
    case NET_AGG_VARTS:
      return SPANS;
    case NET_AGG_AVGTI:
      return RATES;
    case NET_AGG_AVGC:
      return AVERAGE;
    default:
      return node->goes && !node->chooses_time ? SETS : BEST;
  }
}

static void sums_done(enum tally_kind kind, struct net_tally *tally,
                      struct net_agg_function *function) {
  switch (kind) {
    case SQUARES:
      net_sum_done(&tally->squares);
      break;
    case FUNCTIONS:
      net_sum_done(&tally->slopes);
      net_sum_done(&tally->moments);
      net_sum_done(&function->exact);
      net_sum_done(&function->slopes);
      net_sum_done(&function->moments);
      break;
    default:
      break;
  }
  net_sum_done(&tally->exact);
}

void net_agg_group_done(struct net_aggregate *node, struct net_agg_group *group) {
  struct net_tally *tally = &group->tally;
  if (node->has_stairs) net_ordered_clear(&node->stairs, &group->tally.stairs);
  switch (tally_kind(node)) {
    case NOTHING:
    case INTEGERS:
      break;
    case BEST:
    case SETS:
    case SPANS:
      net_ordered_clear(&node->ordered, &tally->ordered);
      break;
    case RATES:
      net_ordered_clear(&node->ordered, &tally->ordered);
      net_sum_done(&tally->rates);
      break;
    case EXACT:
    case SQUARES:
    case FUNCTIONS:
      sums_done(tally_kind(node), tally, &group->function);
      break;
    case AVERAGE:
      net_sum_done(&tally->weight);
      net_sum_done(&tally->integral);
      net_sum_done(&group->function.weight);
      break;
  }
}

#define UP_TO(LAST) \
  offsetof(struct net_agg_group, LAST) + sizeof(((struct net_agg_group *)NULL)->LAST)

size_t net_agg_group_size(const struct net_aggregate *node) {
  switch (tally_kind(node)) {
    case NOTHING:
      return UP_TO(value);
    case SETS:
      return UP_TO(tally.stairs);
    case BEST:
      return node->chooses_time ? UP_TO(tally.chosen) : UP_TO(tally.best);
    case INTEGERS:
      return UP_TO(tally.sum);
    case SPANS:
      return UP_TO(tally.span_squares);
    case EXACT:
      return UP_TO(tally.exact);
    case SQUARES:
      return UP_TO(tally.squares);
    case RATES:
      return UP_TO(tally.infinite);
    case FUNCTIONS:
      return UP_TO(function.count);
    case AVERAGE:
      break;
  }
  return UP_TO(function.whole_weight);
}

static void mark_keys(const struct net_ordered *sets, struct base_strings *strings) {
  struct net_ordered_key key;
  for (uint32_t i = 1; i < sets->used; i++) {
    if (!net_ordered_has_key(sets, i)) continue;
    net_ordered_get(sets, i, &key);
    base_strings_mark(strings, key.value.s);
  }
}

void net_agg_mark_strings(const struct net_aggregate *node, struct base_strings *strings) {
  if (!chooses(node->function) || (node->argument != NET_STRING && node->argument != NET_NAME))
    return;
  mark_keys(&node->ordered, strings);
  mark_keys(&node->stairs, strings);
  net_agg_wait_mark_strings(node, strings);
  for (uint32_t i = 0; i < node->groups.used; i++) {
    if (!net_rowmap_live(&node->groups, i)) continue;
    const struct net_agg_group *group = net_agg_group(node, i);
    if (!node->goes) base_strings_mark(strings, group->tally.best.value.s);
    if (group->begun) base_strings_mark(strings, group->value.s);
  }
}
