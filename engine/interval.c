/* Interval predicates: all comparisons of times that can be undecided.
 *
 * An instant is one unknown chronon of a closed range, so a comparison is true when it holds for
 * every choice within the bounds, false when it holds for none, and unknown otherwise. Each
 * predicate here gives exactly that, the bounds being chosen independently, with one exception:
 *
 *   - net_overlap_event of an event and a period that is certainly empty (start and stop
 *     determinate and equal), with the event's bounds around it, is unknown though no choice makes
 *     it true. Empty periods are never produced, and the definition has no clause for them.
 *
 * "Independently" matters too: a period whose bounds overlap is not assumed to start before it
 * stops. So net_overlap_periods can be unknown where only empty choices would make it false. That
 * the period is not empty is a condition of its own, net_nonempty.
 *
 * Nothing here overflows, and bounds may be `beginning` and `forever`. */
#include "engine/interval.h"

static net_chronon smaller(net_chronon a, net_chronon b) {
  return a < b ? a : b;
}

static net_chronon larger(net_chronon a, net_chronon b) {
  return a > b ? a : b;
}

static bool determinate(struct net_instant a) {
  return a.lo == a.hi;
}

enum net_truth net_before(struct net_instant a, struct net_instant b) {
  if (a.hi < b.lo) return NET_TRUE;
  if (a.lo >= b.hi) return NET_FALSE;
  return NET_UNKNOWN;
}

enum net_truth net_not_after(struct net_instant a, struct net_instant b) {
  return net_not(net_before(b, a));
}

enum net_truth net_equal_instants(struct net_instant a, struct net_instant b) {
  if (a.hi < b.lo || b.hi < a.lo) return NET_FALSE;
  return determinate(a) && determinate(b) ? NET_TRUE : NET_UNKNOWN;
}

struct net_instant net_later(struct net_instant a, struct net_instant b) {
  return (struct net_instant){larger(a.lo, b.lo), larger(a.hi, b.hi)};
}

struct net_instant net_earlier(struct net_instant a, struct net_instant b) {
  return (struct net_instant){smaller(a.lo, b.lo), smaller(a.hi, b.hi)};
}

enum net_truth net_overlap_periods(struct net_period a, struct net_period b) {
  return net_before(net_later(a.start, b.start), net_earlier(a.stop, b.stop));
}

enum net_truth net_overlap_event(struct net_instant event, struct net_period period) {
  return net_and(net_not_after(period.start, event), net_before(event, period.stop));
}

enum net_truth net_equal_periods(struct net_period a, struct net_period b) {
  return net_and(net_equal_instants(a.start, b.start), net_equal_instants(a.stop, b.stop));
}

enum net_truth net_contain(struct net_period a, struct net_period b) {
  return net_and(net_not_after(a.start, b.start), net_not_after(b.stop, a.stop));
}

/* b - a <= span for chronons. The reserved values lie infinitely far from all others and at no
 * distance from themselves. */
static bool within(net_chronon a, net_chronon b, int64_t span) {
  int64_t distance;
  if (a != b && (b == NET_FOREVER || a == NET_BEGINNING)) return false;
  if (__builtin_sub_overflow(b, a, &distance)) return b < a;
  return distance <= span;
}

enum net_truth net_within(struct net_instant a, struct net_instant b, int64_t span) {
  if (within(a.lo, b.hi, span)) return NET_TRUE;
  if (!within(a.hi, b.lo, span)) return NET_FALSE;
  return NET_UNKNOWN;
}

enum net_truth net_nonempty(struct net_period period) {
  return net_before(period.start, period.stop);
}

bool net_period_valid(struct net_period period) {
  return period.start.lo <= period.start.hi && period.stop.lo <= period.stop.hi &&
         period.start.lo <= period.stop.lo && period.start.hi <= period.stop.hi;
}

/* Cuts off only choices that would make the period empty. Of a period that may be non-empty the
 * result is valid; one that is certainly empty must not come here. */
struct net_period net_period_clip(struct net_period period) {
  period.start.hi = smaller(period.start.hi, period.stop.hi);
  period.stop.lo = larger(period.stop.lo, period.start.lo);
  return period;
}
