/* What the aggregate functions give of the members that are there at one instant, from scratch.
 *
 * Sums are exact as far as integers and halves go, so that the order of members does not show. The
 * value is that of the members that are there for sure; one that is there perhaps makes the result
 * indefinite.                                                                                      */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/aggregate.h"

static long double number(const struct oracle_value *value) {
  return value->base == NET_FLOAT ? (long double)value->f : (long double)value->i;
}

/* --- the average over time */

static bool uncertain_until(const struct oracle_member *member, net_chronon t) {
  struct net_period time = member->time;
  net_chronon first = NET_FOREVER;
  if (!member->definite || member->condition == NET_UNKNOWN || time.start.lo < time.start.hi ||
      time.start.hi > time.stop.lo)
    first = time.start.lo;
  else if (time.stop.lo < time.stop.hi)
    first = time.stop.lo;
  return first <= t && first < time.stop.hi;
}

/* W: the sum of the arguments at T. Integral up to T: then A = integral - W (T - 0), since
 * integral + W (t - T) = A + W t; on the real timeline everything in seconds.                      */
void oracle_average_at(const struct oracle_evaluation *e, const struct oracle_value *by,
                       net_chronon t, struct oracle_sample *ret) {
  ret->average = ret->constant = true;
  ret->value = (struct oracle_value){.base = NET_TEMPORAL, .function = {0, 0, 1, 0}};
  long double w = 0, integral = 0;
  __extension__ __int128 whole = 0; /* of integers, which may cancel */
  for (size_t i = 0; i < e->member_count; i++) {
    const struct oracle_member *member = &e->members[i];
    bool integer = member->argument.base == NET_INTEGER;
    if (member->condition == NET_FALSE || !oracle_same_group(e, member->by, by)) continue;
    if (uncertain_until(member, t)) ret->definite = false;
    if (!member->definite || member->condition != NET_TRUE) continue;
    net_chronon from = member->time.start.hi, to = member->time.stop.lo;
    if (from <= t && t < to && integer) ret->whole_w += member->argument.i;
    if (from <= t && t < to && !integer) w += number(&member->argument);
    if (to > t) to = t;
    if (e->averaging_known && from < e->averaging_origin) from = e->averaging_origin;
    if (from >= to) continue;
    if (integer)
      whole += __extension__((__int128)to - from) * member->argument.i;
    else
      integral += number(&member->argument) * ((long double)to - (long double)from);
  }
  w += (long double)ret->whole_w;
  integral += (long double)whole;
  if (!e->averaging_known || t < e->averaging_origin) return;
  long double second = e->oracle->query->timeline == NET_TIMELINE_REAL ? 1e9L : 1;
  long double since = (long double)t - (long double)e->averaging_origin;
  /* As a function of u = t - T0: integral + w (u - since), over u. */
  ret->a = integral - w * since;
  ret->w = w;
  /* The coefficients are doubles, and as such the function is a constant or is none. */
  double n0 = (double)(integral / second), n1 = (double)w, d0 = (double)(since / second);
  ret->constant = n0 == n1 * d0;
  ret->value.function = oracle_normal((struct oracle_function){n0, n1, d0, 1});
  if (ret->constant) ret->value.function = (struct oracle_function){n1, 0, 1, 0};
}

/* --- the members that are there */

struct those {
  const struct oracle_member **items;
  size_t count;
};

static bool same_domains(const struct oracle_evaluation *e, const struct oracle_member *a,
                         const struct oracle_member *b) {
  enum net_timeline timeline = e->oracle->query->timeline;
  if (!oracle_same_domains(e->layout, a->row, a->row[0].i, b->row, b->row[0].i, timeline))
    return false;
  /* Functions whose coefficients have been rounded may be the same or not. */
  bool *unsaid = e->oracle->world->unsaid;
  if (unsaid && !oracle_same_bits(e->layout, a->row, b->row, timeline)) *unsaid = true;
  return true;
}

static enum net_truth counts(const struct oracle_member *member, net_chronon t) {
  return net_and(member->condition, oracle_there(member, t));
}

/* Where an argument depends on the time of the tuple, the one that starts first stands for all. */
static bool starts_before(const struct oracle_evaluation *e, size_t j, size_t i) {
  const struct oracle_member *a = &e->members[j], *b = &e->members[i];
  if (a->time.start.lo != b->time.start.lo) return a->time.start.lo < b->time.start.lo;
  if (a->time.start.hi != b->time.start.hi) return a->time.start.hi < b->time.start.hi;
  int order = a->argument.base == NET_TEMPORAL
                  ? 0
                  : oracle_compare_values(e->oracle, &a->argument, &b->argument);
  if (order != 0) return order < 0;
  if (a->time.stop.lo != b->time.stop.lo) return a->time.stop.lo < b->time.stop.lo;
  return a->time.stop.hi != b->time.stop.hi ? a->time.stop.hi < b->time.stop.hi : j < i;
}

/* Does member I stand for itself at T: no equal one is there more surely, none as surely that starts
 * before it? Cumulative functions count each tuple, whatever is equal, but its pieces as one.        */
static bool speaks(const struct oracle_evaluation *e, size_t i, net_chronon t) {
  enum net_truth own = counts(&e->members[i], t);
  for (size_t j = 0; j < e->member_count; j++) {
    if (j == i) continue;
    bool same = e->as_set ? same_domains(e, &e->members[i], &e->members[j])
                          : e->members[i].row == e->members[j].row;
    if (!same) continue;
    enum net_truth other = counts(&e->members[j], t);
    if (other > own || (other == own && starts_before(e, j, i))) return false;
  }
  return true;
}

/* Has an earlier one of THOSE the same argument? */
static bool value_is_new(const struct oracle_evaluation *e, const struct those *those,
                         const struct oracle_value *argument) {
  for (size_t i = 0; i < those->count; i++)
    if (oracle_equal_values(e->oracle, &those->items[i]->argument, argument)) return false;
  return true;
}

static struct those those_at(struct oracle_evaluation *e, const struct oracle_value *by,
                             net_chronon t, bool *ret_definite) {
  struct those those = {
      BASE_NEW_ARRAY(e->oracle->arena, e->member_count, const struct oracle_member *), 0};
  for (size_t i = 0; i < e->member_count; i++) {
    const struct oracle_member *member = &e->members[i];
    enum net_truth truth = counts(member, t);
    if (truth == NET_FALSE || !oracle_same_group(e, member->by, by) || !speaks(e, i, t)) continue;
    if (truth == NET_UNKNOWN) *ret_definite = false;
    if (truth != NET_TRUE) continue;
    if (e->aggregate->unique && !value_is_new(e, &those, &member->argument)) continue;
    those.items[those.count++] = member;
  }
  return those;
}

/* --- functions of numbers */

static struct oracle_value sum_of_functions(struct oracle_evaluation *e, const struct those *those,
                                            net_chronon t, long double divisor) {
  struct oracle_value sum = {.base = NET_TEMPORAL, .function = {0, 0, 1, 0}};
  for (size_t i = 0; i < those->count; i++) {
    struct oracle_value value = those->items[i]->argument;
    if (value.function.d1 != 0) oracle_fail(e->oracle, "not linear");
    value.function =
        oracle_moved(value.function, oracle_units(e->oracle, those->items[i]->time.start.lo, t));
    sum = oracle_temporal_operation(e->oracle, NG_ADD, sum, value);
  }
  sum.function.n0 /= divisor;
  sum.function.n1 /= divisor;
  return sum;
}

static void sum(struct oracle_evaluation *e, const struct those *those, net_chronon t,
                struct oracle_sample *ret) {
  __extension__ __int128 whole = 0;
  long double real = 0;
  struct oracle_value *value = &ret->value;
  if (value->base == NET_TEMPORAL) {
    *value = sum_of_functions(e, those, t, 1);
    return;
  }
  for (size_t i = 0; i < those->count; i++) {
    if (value->base == NET_INTEGER)
      whole += those->items[i]->argument.i;
    else
      real += number(&those->items[i]->argument);
  }
  value->i = (int64_t)whole;
  value->f = (double)real;
  if (value->base == NET_INTEGER && (whole > INT64_MAX || whole < INT64_MIN))
    oracle_fail(e->oracle, "integer overflow");
  if (value->base == NET_FLOAT && !isfinite(value->f)) oracle_fail(e->oracle, "no number");
}

static void mean(struct oracle_evaluation *e, const struct those *those, net_chronon t,
                 struct oracle_sample *ret) {
  long double total = 0, size = (long double)those->count;
  if (those->count == 0) {
    ret->present = false;
    return;
  }
  if (ret->value.base == NET_TEMPORAL) {
    ret->value = sum_of_functions(e, those, t, size);
    return;
  }
  for (size_t i = 0; i < those->count; i++) total += number(&those->items[i]->argument);
  ret->value.f = (double)(total / size);
}

/* Of the population: n sum(x^2) - sum(x)^2 is exact for small numbers. */
static bool deviation(const long double *numbers, size_t count, long double *ret) {
  long double total = 0, squares = 0, size = (long double)count;
  if (count == 0) return false;
  for (size_t i = 0; i < count;
       i++) { /* from the first one on: large numbers may differ by little */
    long double off = numbers[i] - numbers[0];
    total += off;
    squares += off * off;
  }
  long double variance = (size * squares - total * total) / (size * size);
  *ret = sqrtl(variance > 0 ? variance : 0);
  return true;
}

static void stdev(struct oracle_evaluation *e, const struct those *those,
                  struct oracle_sample *ret) {
  long double *numbers = BASE_NEW_ARRAY(e->oracle->arena, those->count, long double), result = 0;
  for (size_t i = 0; i < those->count; i++) numbers[i] = number(&those->items[i]->argument);
  ret->present = deviation(numbers, those->count, &result) && ret->present;
  ret->value.f = (double)result;
}

/* --- quantiles: all values in order */

static struct oracle *ordering;

static int by_value(const void *a, const void *b) {
  const struct oracle_member *x = *(const struct oracle_member *const *)a;
  const struct oracle_member *y = *(const struct oracle_member *const *)b;
  return oracle_compare_values(ordering, &x->argument, &y->argument);
}

static void quantile(struct oracle_evaluation *e, const struct those *those,
                     struct oracle_sample *ret) {
  double fraction = e->aggregate->fraction;
  if (those->count == 0) {
    ret->present = false;
    return;
  }
  ordering = e->oracle;
  qsort(those->items, those->count, sizeof *those->items, by_value);
  if (e->function == NET_AGG_QUANTILE_OF) {
    size_t at = 0;
    while ((double)(at + 1) < fraction * (double)those->count) at++;
    ret->value = those->items[at]->argument;
    return;
  }
  double place = fraction * (double)(those->count - 1);
  size_t at = (size_t)floor(place), next = at + 1 < those->count ? at + 1 : at;
  long double low = number(&those->items[at]->argument),
              high = number(&those->items[next]->argument);
  ret->value.f = (double)(low + (high - low) * (long double)(place - floor(place)));
}

/* --- functions of the order in time */

/* By start.lo, start.hi, then values. */
static int by_start(const void *a, const void *b) {
  const struct oracle_member *x = *(const struct oracle_member *const *)a;
  const struct oracle_member *y = *(const struct oracle_member *const *)b;
  struct net_instant s = x->time.start, t = y->time.start;
  if (s.lo != t.lo) return s.lo < t.lo ? -1 : 1;
  if (s.hi != t.hi) return s.hi < t.hi ? -1 : 1;
  return oracle_compare_values(ordering, &x->argument, &y->argument);
}

static void sort(struct oracle_evaluation *e, struct those *those) {
  ordering = e->oracle;
  qsort(those->items, those->count, sizeof *those->items, by_start);
}

static void varts(struct oracle_evaluation *e, struct those *those, struct oracle_sample *ret) {
  sort(e, those);
  if (those->count < 2) {
    ret->present = false;
    return;
  }
  size_t count = those->count - 1;
  long double *spans = BASE_NEW_ARRAY(e->oracle->arena, count, long double), result = 0;
  for (size_t i = 0; i < count; i++)
    spans[i] = (long double)those->items[i + 1]->time.start.lo -
               (long double)those->items[i]->time.start.lo;
  long double total = 0;
  for (size_t i = 0; i < count; i++) total += spans[i];
  if (total == 0) {
    ret->present = false;
    return;
  }
  deviation(spans, count, &result);
  ret->value.f = (double)(result / (total / (long double)count));
}

/* Rates have periods behind the point. With 113 bits and then 80, equal means of different ones are equal. */
__extension__ typedef __float128 precise;

static precise shortened(precise value) {
  precise upper = value * (((uint64_t)1 << 33) + 1);
  return upper - (upper - value);
}

static void avgti(struct oracle_evaluation *e, struct those *those, struct oracle_sample *ret) {
  precise total = 0;
  long double second = oracle_units(e->oracle, 0, 1000000000); /* or so many chronons */
  size_t pairs = 0;
  sort(e, those);
  for (size_t i = 0; i + 1 < those->count; i++) {
    const struct oracle_member *a = those->items[i], *b = those->items[i + 1];
    if (a->time.start.lo == b->time.start.lo) continue;
    precise span = (precise)b->time.start.lo - a->time.start.lo;
    precise rise = (precise)number(&b->argument) - number(&a->argument);
    total += rise * (1000000000 / second) / span;
    pairs++;
  }
  if (pairs == 0)
    ret->present = false;
  else
    ret->value.f = (double)shortened(total / (precise)pairs);
}

/* Of equal starts the first takes the smallest value, the last the largest. */
static void end_of(struct oracle_evaluation *e, struct those *those, bool last,
                   struct oracle_sample *ret) {
  if (those->count == 0) {
    ret->present = false;
    return;
  }
  sort(e, those);
  ret->value = those->items[last ? those->count - 1 : 0]->argument;
}

static int compare_times(struct net_period a, struct net_period b) {
  if (a.start.lo != b.start.lo) return a.start.lo < b.start.lo ? -1 : 1;
  if (a.start.hi != b.start.hi) return a.start.hi < b.start.hi ? -1 : 1;
  if (a.stop.lo != b.stop.lo) return a.stop.lo < b.stop.lo ? -1 : 1;
  return (a.stop.hi > b.stop.hi) - (a.stop.hi < b.stop.hi);
}

static void choose(const struct those *those, bool latest, struct oracle_sample *ret) {
  if (those->count == 0) ret->present = false;
  for (size_t i = 0; i < those->count; i++) {
    struct net_period time = those->items[i]->time;
    int order = i == 0 ? 0 : compare_times(time, ret->chosen);
    if (i == 0 || (latest ? order > 0 : order < 0)) ret->chosen = time;
  }
}

/* --- all */

static void extreme(struct oracle_evaluation *e, const struct those *those, bool most,
                    struct oracle_sample *ret) {
  if (those->count == 0) ret->present = false;
  for (size_t i = 0; i < those->count; i++) {
    const struct oracle_value *argument = &those->items[i]->argument;
    int order = i == 0 ? 0 : oracle_compare_values(e->oracle, argument, &ret->value);
    if (i == 0 || (most ? order > 0 : order < 0)) ret->value = *argument;
  }
}

void oracle_value_at(struct oracle_evaluation *e, const struct oracle_value *by, net_chronon t,
                     struct oracle_sample *ret) {
  struct those those = those_at(e, by, t, &ret->definite);
  ret->value.base = e->aggregate->type.base;
  switch (e->function) {
    case NET_AGG_COUNT:
      ret->value.i = (int64_t)those.count;
      break;
    case NET_AGG_ANY:
      ret->value.i = those.count > 0;
      break;
    case NET_AGG_SUM:
      sum(e, &those, t, ret);
      break;
    case NET_AGG_AVG:
    case NET_AGG_AVGC:
      mean(e, &those, t, ret);
      break;
    case NET_AGG_STDEV:
      stdev(e, &those, ret);
      break;
    case NET_AGG_QUANTILE:
    case NET_AGG_QUANTILE_OF:
      quantile(e, &those, ret);
      break;
    case NET_AGG_VARTS:
      varts(e, &those, ret);
      break;
    case NET_AGG_AVGTI:
      avgti(e, &those, ret);
      break;
    case NET_AGG_FIRST:
    case NET_AGG_LAST:
      end_of(e, &those, e->function == NET_AGG_LAST, ret);
      break;
    case NET_AGG_EARLIEST:
    case NET_AGG_LATEST:
      choose(&those, e->function == NET_AGG_LATEST, ret);
      break;
    case NET_AGG_MIN:
    case NET_AGG_MAX:
      extreme(e, &those, e->function == NET_AGG_MAX, ret);
      break;
    case NET_AGG_EXTEND:
      oracle_fail(e->oracle, "extendc");
  }
}
