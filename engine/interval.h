/* Interval predicates, three-valued (thesis 4.5.1). The one file that compares times. */
#ifndef NET_INTERVAL_H
#define NET_INTERVAL_H

#include "engine/time.h"

/* Kleene's logic. The order F < unknown < T makes `and` the minimum and `or` the maximum. */
enum net_truth { NET_FALSE = 0, NET_UNKNOWN = 1, NET_TRUE = 2 };

static inline enum net_truth net_and(enum net_truth a, enum net_truth b) {
  return a < b ? a : b;
}
static inline enum net_truth net_or(enum net_truth a, enum net_truth b) {
  return a > b ? a : b;
}
static inline enum net_truth net_not(enum net_truth a) {
  return (enum net_truth)(NET_TRUE - a);
}

/* T if a.hi < b.lo, F if a.lo >= b.hi, else unknown. Strict. */
enum net_truth net_before(struct net_instant a, struct net_instant b);
/* T if a.hi <= b.lo, F if a.lo > b.hi, else unknown: `precede`, and "at or before". */
enum net_truth net_not_after(struct net_instant a, struct net_instant b);
/* T if both determinate and equal, F if the bounds are disjoint, else unknown. */
enum net_truth net_equal_instants(struct net_instant a, struct net_instant b);
struct net_instant net_later(struct net_instant a, struct net_instant b);   /* max of each bound */
struct net_instant net_earlier(struct net_instant a, struct net_instant b); /* min of each bound */

enum net_truth net_overlap_periods(struct net_period a, struct net_period b);
/* T if p.start.hi <= e.lo and e.hi < p.stop.lo; F if e.hi < p.start.lo or e.lo >= p.stop.hi. */
enum net_truth net_overlap_event(struct net_instant event, struct net_period period);
/* `equal`: T if all four bounds of both are determinate and pairwise equal, F if start or stop are
 * certainly different, else unknown. */
enum net_truth net_equal_periods(struct net_period a, struct net_period b);
/* `contain`: a.start at or before b.start and b.stop at or before a.stop. */
enum net_truth net_contain(struct net_period a, struct net_period b);
/* b - a <= span (chronons >= 0), three-valued. */
enum net_truth net_within(struct net_instant a, struct net_instant b, int64_t span);

/* Is the period non-empty: before(start, stop). */
enum net_truth net_nonempty(struct net_period period);
/* The four inequalities of a period hold (start.lo <= start.hi, stop.lo <= stop.hi,
 * start.lo <= stop.lo, start.hi <= stop.hi). */
bool net_period_valid(struct net_period period);
/* Restores the inequalities after a combination: start.hi clipped down to stop.hi, stop.lo up to
 * start.lo. */
struct net_period net_period_clip(struct net_period period);

#endif
