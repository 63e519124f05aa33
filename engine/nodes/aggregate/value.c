/* Aggregate: the functions. What value a group has by what it keeps of its tuples (tally.c).
 *
 *     sum avg, temporal          linear functions of absolute time; the same function is told exactly, not by
 *                                rounded values
 *     stdev                      n sum x^2 - (sum x)^2 loses nothing
 *     varts                      the same of the spans between successive tuples
 *     quantiles                  quantile.c
 *     avgc                       (1/T) integral of the sum of the arguments, as (I + W tau) / (T + tau)
 */
#include <math.h>
#include <string.h>

#include "engine/nodes/aggregate/aggregate.h"

static long double units(const struct net_aggregate *node, long double chronons) {
  return chronons / (long double)net_agg_unit(node);
}

/* Adds the difference of A times A_TIMES and B times B_TIMES. */
static void subtract(struct net_sum *result, struct net_sum *a, int64_t a_times, struct net_sum *b,
                     int64_t b_times) {
  net_sum_add_multiple(result, a, a_times);
  net_sum_add_multiple(result, b, -b_times);
}

/* --- avgc */

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
    if (net_agg_is_whole(node, tally)) {
      function.n0 = whole_units(node, tally->whole_integral);
      function.n1 = net_agg_is_word(tally->whole_weight) ? (double)(int64_t)tally->whole_weight
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
  return net_agg_is_whole(node, &group->tally) &&
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
  if (net_agg_is_whole(node, &group->tally))
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
  int64_t unit = net_agg_unit(node);
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
  int64_t unit = net_agg_unit(node);
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
  uint32_t known = node->has_stairs ? net_agg_staircase(node, group, now) : 0;
  uint32_t other = node->wants_smallest ? net_ordered_first(node->ranked, tally->ordered)
                                        : net_ordered_last(node->ranked, tally->ordered);
  net_ordered_get(known != 0 ? &node->stairs : node->ranked, known != 0 ? known : other, ret);
  if (known == 0 || other == 0) return;
  struct net_ordered_key of_other;
  net_ordered_get(node->ranked, other, &of_other);
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
    case NET_AGG_QUANTILE:
    case NET_AGG_QUANTILE_OF:
      ret->slots[0] = net_agg_quantile(node, group);
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
    if (!net_agg_is_whole(node, tally)) net_sum_copy(&group->function.weight, &tally->weight);
  } else if (node->argument == NET_TEMPORAL) {
    net_sum_copy(&group->function.exact, &tally->exact);
    net_sum_copy(&group->function.slopes, &tally->slopes);
    net_sum_copy(&group->function.moments, &tally->moments);
    group->function.count = net_agg_values(node, group);
  }
}
