/* Comparisons of temporal values: true for a part of the period only. The condition is asked for at
 * one chronon after the other, namely at the start and next to every root and pole of every
 * comparison in it; in between nothing changes. Equal neighbours are joined to maximal pieces.
 *
 * Errors, unless another conjunct is F there: a pole inside the period, an equation that is not linear,
 * a cut of an indeterminate period. An event whose time is uncertain gives unknown instead.         */
#include <math.h>
#include <stdlib.h>

#include "tests/oracle/oracle_internal.h"

static bool is_comparison(const struct ng_expr *expr) {
  return expr->op >= NG_EQ && expr->op <= NG_GE && expr->args[0]->type.base == NET_TEMPORAL;
}

bool oracle_has_cut(const struct ng_expr *condition) {
  if (!condition) return false;
  if (is_comparison(condition)) return true;
  for (unsigned i = 0; i < condition->arg_count; i++)
    if (oracle_has_cut(condition->args[i])) return true;
  return false;
}

/* --- one comparison at one chronon */

static long double at(long double constant, long double slope, long double tau) {
  return constant + slope * tau;
}

/* Has F a pole in [0, LENGTH], LENGTH < 0: for ever? One between two chronons is one as well. */
static bool has_pole(struct oracle_function f, long double length) {
  if (f.d1 == 0) return false;
  long double pole = -f.d0 / f.d1;
  return pole >= 0 && (length < 0 || pole <= length);
}

/* The two sides meet at this chronon, or their coefficients have been rounded and so they only nearly do,
 * or should: of that nothing is said. */
static void look_closely(struct oracle *oracle, struct oracle_function a, struct oracle_function b,
                         long double left, long double right) {
  bool near = fabsl(left - right) <= 1e-12L * (fabsl(left) + fabsl(right));
  bool rounded = oracle_is_rounded(a) || oracle_is_rounded(b);
  if (near && rounded && oracle->world->unsaid) *oracle->world->unsaid = true;
}

enum net_truth oracle_temporal_comparison(struct oracle *oracle, enum ng_op op,
                                          struct oracle_function a, struct oracle_function b) {
  long double tau = oracle_units(oracle, oracle->rebase_to, oracle->chronon);
  if (a.n1 * b.d1 != b.n1 * a.d1 && (a.d1 != 0 || b.d1 != 0)) {
    oracle_fail(oracle, "not linear");
    return NET_UNKNOWN;
  }
  long double a_low = at(a.d0, a.d1, tau), b_low = at(b.d0, b.d1, tau);
  if (has_pole(a, oracle->cut_length) || has_pole(b, oracle->cut_length)) {
    oracle_fail(oracle, "pole");
    return NET_UNKNOWN;
  }
  /* a/b against c/d: a d against c b, turned about for each negative denominator. */
  long double left = at(a.n0, a.n1, tau) * b_low, right = at(b.n0, b.n1, tau) * a_low;
  look_closely(oracle, a, b, left, right);
  int order = (left > right) - (left < right);
  if ((a_low < 0) != (b_low < 0)) order = -order;
  bool holds = op == NG_EQ   ? order == 0
               : op == NG_NE ? order != 0
               : op == NG_LT ? order < 0
               : op == NG_LE ? order <= 0
               : op == NG_GT ? order > 0
                             : order >= 0;
  return holds ? NET_TRUE : NET_FALSE;
}

/* --- where anything can change */

struct points {
  net_chronon *items;
  size_t count, capacity;
};

static void add_point(struct oracle *oracle, struct points *points, net_chronon time) {
  if (points->count == points->capacity) {
    size_t capacity = points->capacity ? points->capacity * 2 : 16;
    net_chronon *items = BASE_NEW_ARRAY(oracle->arena, capacity, net_chronon);
    for (size_t i = 0; i < points->count; i++) items[i] = points->items[i];
    points->items = items;
    points->capacity = capacity;
  }
  points->items[points->count++] = time;
}

static void add_near(struct oracle *oracle, struct points *points, struct net_period time,
                     long double tau) {
  long double scale = oracle->query->timeline == NET_TIMELINE_REAL ? 1e9L : 1;
  long double chronon = floorl(tau * scale) + (long double)time.start.lo;
  for (int i = -2; i <= 2; i++) {
    long double t = chronon + i;
    if (t <= (long double)time.start.lo || t >= (long double)time.stop.hi) continue;
    if (t < 9.2e18L) add_point(oracle, points, (net_chronon)t);
  }
}

static void root(struct oracle *oracle, struct points *points, struct net_period time,
                 long double constant, long double slope) {
  if (slope != 0) add_near(oracle, points, time, -constant / slope);
}

static void points_of(struct oracle *oracle, const struct ng_expr *condition,
                      struct net_period time, struct points *points) {
  if (!is_comparison(condition)) {
    for (unsigned i = 0; i < condition->arg_count; i++)
      if (condition->args[i]->type.base == NET_BOOL)
        points_of(oracle, condition->args[i], time, points);
    return;
  }
  const char *before = oracle->error;
  struct oracle_function a = oracle_scalar(oracle, condition->args[0]).function;
  struct oracle_function b = oracle_scalar(oracle, condition->args[1]).function;
  bool good = !oracle->error;
  oracle->error = before; /* found again when the condition is asked for */
  if (!good) return;
  root(oracle, points, time, a.n0 * b.d0 - b.n0 * a.d0,
       a.n0 * b.d1 + a.n1 * b.d0 - b.n0 * a.d1 - b.n1 * a.d0);
  root(oracle, points, time, a.d0, a.d1);
  root(oracle, points, time, b.d0, b.d1);
}

static int by_time(const void *a, const void *b) {
  net_chronon x = *(const net_chronon *)a, y = *(const net_chronon *)b;
  return (x > y) - (x < y);
}

/* --- pieces */

static enum net_truth truth_at(struct oracle *oracle, const struct ng_expr *condition,
                               net_chronon time) {
  oracle->at_chronon = true;
  oracle->chronon = time;
  enum net_truth truth = oracle_condition(oracle, condition);
  oracle->at_chronon = false;
  return truth;
}

static bool determinate(struct net_period time) {
  return time.start.lo == time.start.hi && time.stop.lo == time.stop.hi;
}

void oracle_cut(struct oracle *oracle, const struct ng_expr *condition, struct net_period time,
                struct oracle_pieces *ret) {
  struct points points = {0};
  *ret = (struct oracle_pieces){0};
  /* So far from there the doubles of a value have no chronons any more. */
  if (time.start.lo == NET_BEGINNING && oracle->world->unsaid) *oracle->world->unsaid = true;
  oracle->rebase = true;
  oracle->rebase_to = time.start.lo;
  oracle->cut_length =
      time.stop.hi == NET_FOREVER ? -1 : oracle_units(oracle, time.start.lo, time.stop.hi - 1);
  add_point(oracle, &points, time.start.lo);
  points_of(oracle, condition, time, &points);
  qsort(points.items, points.count, sizeof *points.items, by_time);
  ret->items = BASE_NEW_ARRAY(oracle->arena, points.count, struct oracle_piece);
  for (size_t i = 0; i < points.count && !oracle->error; i++) {
    enum net_truth truth = truth_at(oracle, condition, points.items[i]);
    if (ret->count > 0 && ret->items[ret->count - 1].truth == truth) continue;
    struct net_instant from = {points.items[i], points.items[i]};
    if (ret->count > 0) ret->items[ret->count - 1].time.stop = from;
    ret->items[ret->count++] = (struct oracle_piece){{from, time.stop}, truth};
  }
  oracle->rebase = false;
  if (ret->count == 1)
    ret->items[0].time = time;
  else if (!determinate(time))
    oracle_fail(oracle, "cut of an indeterminate period");
}

enum net_truth oracle_cut_event(struct oracle *oracle, const struct ng_expr *condition,
                                struct net_instant when) {
  struct oracle_pieces pieces;
  struct net_instant stop = {when.hi, when.hi};
  if (stop.lo < NET_FOREVER) stop.lo = stop.hi = stop.lo + 1;
  if (when.lo == NET_FOREVER && oracle->world->unsaid) *oracle->world->unsaid = true;
  oracle_cut(oracle, condition, (struct net_period){{when.lo, when.lo}, stop}, &pieces);
  return pieces.count == 1 ? pieces.items[0].truth : NET_UNKNOWN;
}
