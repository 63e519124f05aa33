/* Steps of expression programs that take instants: the three-valued predicates of interval.h, what is
 * made of two instants, instants moved by a duration, and the two doors from time to numbers, span and
 * chronon.
 *
 * Nothing wraps and nothing is rounded: a moved instant that leaves the time line and a span that has
 * no number are errors. `beginning` and `forever` are no points of it, they stay when moved.          */
#include "engine/expr_ops.h"

static struct net_period period_at(const struct net_value *args) {
  return (struct net_period){args[0].instant, args[1].instant};
}

static bool reserved(net_chronon time) {
  return time == NET_BEGINNING || time == NET_FOREVER;
}

/* The sum saturates, for those who look at it in spite of an overflow. */
static enum net_eval_error shift(int64_t delta, struct net_instant *instant) {
  net_chronon lo = net_chronon_add(instant->lo, delta), hi = net_chronon_add(instant->hi, delta);
  bool left = (reserved(lo) && !reserved(instant->lo)) || (reserved(hi) && !reserved(instant->hi));
  *instant = (struct net_instant){lo, hi};
  return left ? NET_EVAL_OVERFLOW : NET_EVAL_OK;
}

static enum net_truth relation(const struct net_step *step, const struct net_value *args) {
  switch (step->op) {
    case NET_OP_BEFORE:
      return net_before(args[0].instant, args[1].instant);
    case NET_OP_NOT_AFTER:
      return net_not_after(args[0].instant, args[1].instant);
    case NET_OP_EQUAL_INSTANTS:
      return net_equal_instants(args[0].instant, args[1].instant);
    case NET_OP_WITHIN:
      return net_within(args[0].instant, args[1].instant, step->i);
    case NET_OP_OVERLAP_PERIODS:
      return net_overlap_periods(period_at(args), period_at(args + 2));
    case NET_OP_OVERLAP_EVENT:
      return net_overlap_event(args[0].instant, period_at(args + 1));
    case NET_OP_EQUAL_PERIODS:
      return net_equal_periods(period_at(args), period_at(args + 2));
    default:
      return net_contain(period_at(args), period_at(args + 2)); /* NET_OP_CONTAIN */
  }
}

static struct net_instant intersection(struct net_instant a, struct net_instant b) {
  return (struct net_instant){net_later(a, b).lo, net_earlier(a, b).hi};
}

/* Rounded down; the difference is taken without sign, where it cannot overflow. */
static net_chronon midpoint(struct net_instant instant) {
  uint64_t width = (uint64_t)instant.hi - (uint64_t)instant.lo;
  return instant.lo + (int64_t)(width / 2);
}

/* What reaches from `beginning`, or to `forever`, is longer than any number: the largest integer, which
 * is how chronon() says `forever`, so that conditions on the length of open periods hold. In the other
 * direction it is the smallest. The middle of an uncertain bound on the way there is there.           */
static int64_t endless(net_chronon from, net_chronon to) {
  if (from == to) return 0;
  return to == NET_FOREVER || from == NET_BEGINNING ? INT64_MAX : INT64_MIN;
}

static net_chronon middle_or_end(struct net_instant instant) {
  return reserved(instant.hi) ? instant.hi : reserved(instant.lo) ? instant.lo : midpoint(instant);
}

static enum net_eval_error span(int64_t which, struct net_value *args) {
  struct net_instant start = args[0].instant, stop = args[1].instant;
  net_chronon from = middle_or_end(start), to = middle_or_end(stop);
  if (which == 1) {
    from = start.hi;
    to = stop.lo;
  } else if (which == 2) {
    from = start.lo;
    to = stop.hi;
  }
  if (reserved(from) || reserved(to)) {
    args[0].i = endless(from, to);
    return NET_EVAL_OK;
  }
  return __builtin_sub_overflow(to, from, &args[0].i) ? NET_EVAL_OVERFLOW : NET_EVAL_OK;
}

/* Bounds and middles are given also when they are `beginning` or `forever`. */
static enum net_eval_error chronon(int64_t which, struct net_value *args) {
  struct net_instant instant = args[0].instant;
  if (which == 1) {
    args[0].i = instant.lo;
  } else if (which == 2) {
    args[0].i = instant.hi;
  } else {
    args[0].i = middle_or_end(instant);
  }
  return NET_EVAL_OK;
}

enum net_eval_error net_time_operation(const struct net_step *step, struct net_value *args) {
  switch (step->op) {
    case NET_OP_LATER:
      args->instant = net_later(args[0].instant, args[1].instant);
      return NET_EVAL_OK;
    case NET_OP_EARLIER:
      args->instant = net_earlier(args[0].instant, args[1].instant);
      return NET_EVAL_OK;
    case NET_OP_INTERSECT:
      args->instant = intersection(args[0].instant, args[1].instant);
      return NET_EVAL_OK;
    case NET_OP_SHIFT:
      return shift(step->i, &args->instant);
    case NET_OP_SPAN:
      return span(step->i, args);
    case NET_OP_CHRONON:
      return chronon(step->i, args);
    default:
      args->i = relation(step, args);
      return NET_EVAL_OK;
  }
}
