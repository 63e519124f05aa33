/* The interval predicates by brute force: over all bounds in a small range, the answer must be T
 * exactly when the plain comparison holds for every choice of chronons within the bounds, F exactly
 * when it holds for none. The one place where the definition says otherwise is tested as such. */
#include "engine/interval.h"

#include <check.h>
#include <stdlib.h>

#include "engine/base/env.h"

/* What all choices together say. */
struct poll {
  bool some_true, some_false;
};

static void vote(struct poll *poll, bool holds) {
  if (holds)
    poll->some_true = true;
  else
    poll->some_false = true;
}

static enum net_truth verdict(struct poll poll) {
  if (poll.some_true && poll.some_false) return NET_UNKNOWN;
  return poll.some_true ? NET_TRUE : NET_FALSE;
}

#define EACH_INSTANT(A, TOP)                                 \
  for (struct net_instant A = {0, 0}; A.lo <= (TOP); A.lo++) \
    for (A.hi = A.lo; A.hi <= (TOP); A.hi++)

#define EACH_PERIOD(P, TOP)                                                                   \
  for (struct net_period P = {{0, 0}, {0, 0}}; P.start.lo <= (TOP); P.start.lo++)             \
    for (P.start.hi = P.start.lo; P.start.hi <= (TOP); P.start.hi++)                          \
      for (P.stop.lo = P.start.lo; P.stop.lo <= (TOP); P.stop.lo++)                           \
        for (P.stop.hi = P.stop.lo > P.start.hi ? P.stop.lo : P.start.hi; P.stop.hi <= (TOP); \
             P.stop.hi++)

#define EACH_CHOICE(C, A) for (net_chronon C = (A).lo; C <= (A).hi; C++)

START_TEST(kleene) {
  for (int a = NET_FALSE; a <= NET_TRUE; a++)
    for (int b = NET_FALSE; b <= NET_TRUE; b++) {
      struct poll both = {false, false}, either = {false, false}, neither = {false, false};
      for (int x = a == NET_TRUE; x <= (a != NET_FALSE); x++)
        for (int y = b == NET_TRUE; y <= (b != NET_FALSE); y++) {
          vote(&both, x && y);
          vote(&either, x || y);
          vote(&neither, !x);
        }
      ck_assert_int_eq(net_and((enum net_truth)a, (enum net_truth)b), verdict(both));
      ck_assert_int_eq(net_or((enum net_truth)a, (enum net_truth)b), verdict(either));
      ck_assert_int_eq(net_not((enum net_truth)a), verdict(neither));
    }
}
END_TEST

START_TEST(instants_by_brute_force) {
  EACH_INSTANT(a, 6) EACH_INSTANT(b, 6) {
    struct poll before = {false, false}, not_after = {false, false}, equal = {false, false};
    EACH_CHOICE(x, a) EACH_CHOICE(y, b) {
      vote(&before, x < y);
      vote(&not_after, x <= y);
      vote(&equal, x == y);
    }
    ck_assert_int_eq(net_before(a, b), verdict(before));
    ck_assert_int_eq(net_not_after(a, b), verdict(not_after));
    ck_assert_int_eq(net_equal_instants(a, b), verdict(equal));
  }
}
END_TEST

START_TEST(within_by_brute_force) {
  for (int64_t span = 0; span <= 8; span++) {
    EACH_INSTANT(a, 6) EACH_INSTANT(b, 6) {
      struct poll within = {false, false};
      EACH_CHOICE(x, a) EACH_CHOICE(y, b) vote(&within, y - x <= span);
      ck_assert_int_eq(net_within(a, b, span), verdict(within));
    }
  }
}
END_TEST

START_TEST(later_and_earlier_by_brute_force) {
  EACH_INSTANT(a, 5) EACH_INSTANT(b, 5) {
    struct net_instant later = {99, -1}, earlier = {99, -1};
    EACH_CHOICE(x, a) EACH_CHOICE(y, b) {
      net_chronon large = x > y ? x : y, small = x > y ? y : x;
      if (large < later.lo) later.lo = large;
      if (large > later.hi) later.hi = large;
      if (small < earlier.lo) earlier.lo = small;
      if (small > earlier.hi) earlier.hi = small;
    }
    struct net_instant result = net_later(a, b);
    ck_assert(result.lo == later.lo && result.hi == later.hi);
    result = net_earlier(a, b);
    ck_assert(result.lo == earlier.lo && result.hi == earlier.hi);
  }
}
END_TEST

/* Is X a chronon of both, for some x? The meaning of overlapping, without the formula. */
static bool share_a_chronon(net_chronon start_a, net_chronon stop_a, net_chronon start_b,
                            net_chronon stop_b) {
  for (net_chronon x = start_a; x < stop_a; x++)
    if (x >= start_b && x < stop_b) return true;
  return false;
}

START_TEST(periods_by_brute_force) {
  EACH_PERIOD(a, 3) EACH_PERIOD(b, 3) {
    struct poll overlap = {false, false}, equal = {false, false}, contain = {false, false};
    EACH_CHOICE(start_a, a.start)
    EACH_CHOICE(stop_a, a.stop) EACH_CHOICE(start_b, b.start) EACH_CHOICE(stop_b, b.stop) {
      vote(&overlap, share_a_chronon(start_a, stop_a, start_b, stop_b));
      vote(&equal, start_a == start_b && stop_a == stop_b);
      vote(&contain, start_a <= start_b && stop_b <= stop_a);
    }
    ck_assert_int_eq(net_overlap_periods(a, b), verdict(overlap));
    ck_assert_int_eq(net_equal_periods(a, b), verdict(equal));
    ck_assert_int_eq(net_contain(a, b), verdict(contain));
    ck_assert_int_eq(net_overlap_periods(a, b), net_overlap_periods(b, a));
  }
}
END_TEST

static bool certainly_empty(struct net_period p) {
  return p.start.lo >= p.stop.hi;
}

START_TEST(event_in_period_by_brute_force) {
  int deviations = 0;
  EACH_INSTANT(event, 5) EACH_PERIOD(period, 5) {
    struct poll overlap = {false, false};
    EACH_CHOICE(at, event)
    EACH_CHOICE(start, period.start)
    EACH_CHOICE(stop, period.stop) vote(&overlap, start <= at && at < stop);
    enum net_truth answer = net_overlap_event(event, period);
    if (answer != verdict(overlap)) {
      /* Only as the definition has it: an empty period within the event's bounds. */
      ck_assert(certainly_empty(period));
      ck_assert_int_eq(answer, NET_UNKNOWN);
      ck_assert(event.lo < period.start.lo && event.hi >= period.start.lo);
      deviations++;
    }
  }
  ck_assert_int_gt(deviations, 0);
}
END_TEST

/* The definitions' own inequalities, on bounds of any size. */
static net_chronon random_chronon(struct base_random *random) {
  static const net_chronon special[] = {NET_BEGINNING,   NET_BEGINNING + 1, -1, 0, 1,
                                        NET_FOREVER - 1, NET_FOREVER};
  if (base_random_below(random, 2)) return special[base_random_below(random, 7)];
  return (net_chronon)base_random_next(random);
}

static struct net_instant random_instant(struct base_random *random) {
  net_chronon a = random_chronon(random), b = random_chronon(random);
  return a < b ? (struct net_instant){a, b} : (struct net_instant){b, a};
}

START_TEST(definitions_hold_at_any_size) {
  struct base_random random = {6};
  for (int i = 0; i < 200000; i++) {
    struct net_instant e = random_instant(&random), a = random_instant(&random);
    struct net_period p = {random_instant(&random), random_instant(&random)};
    enum net_truth expected = p.start.hi <= e.lo && e.hi < p.stop.lo   ? NET_TRUE
                              : e.hi < p.start.lo || e.lo >= p.stop.hi ? NET_FALSE
                                                                       : NET_UNKNOWN;
    if (net_period_valid(p)) ck_assert_int_eq(net_overlap_event(e, p), expected);
    expected = a.hi <= e.lo ? NET_TRUE : a.lo > e.hi ? NET_FALSE : NET_UNKNOWN;
    ck_assert_int_eq(net_not_after(a, e), expected);
    expected = a.hi < e.lo ? NET_TRUE : a.lo >= e.hi ? NET_FALSE : NET_UNKNOWN;
    ck_assert_int_eq(net_before(a, e), expected);
    ck_assert_int_eq(net_nonempty((struct net_period){a, e}), expected);
  }
}
END_TEST

static struct net_instant exactly(net_chronon time) {
  return (struct net_instant){time, time};
}

START_TEST(within_at_the_ends_of_time) {
  const net_chronon first = NET_BEGINNING + 1, last = NET_FOREVER - 1;
  ck_assert_int_eq(net_within(exactly(first), exactly(last), INT64_MAX), NET_FALSE);
  ck_assert_int_eq(net_within(exactly(last), exactly(first), 0), NET_TRUE);
  ck_assert_int_eq(net_within(exactly(0), exactly(last), INT64_MAX), NET_TRUE);
  ck_assert_int_eq(net_within(exactly(0), exactly(last), INT64_MAX - 1), NET_TRUE);
  ck_assert_int_eq(net_within(exactly(0), exactly(last), INT64_MAX - 2), NET_FALSE);
  /* The reserved values are infinitely far from all others. */
  ck_assert_int_eq(net_within(exactly(last), exactly(NET_FOREVER), INT64_MAX), NET_FALSE);
  ck_assert_int_eq(net_within(exactly(NET_BEGINNING), exactly(first), INT64_MAX), NET_FALSE);
  ck_assert_int_eq(net_within(exactly(NET_FOREVER), exactly(last), 0), NET_TRUE);
  ck_assert_int_eq(net_within(exactly(first), exactly(NET_BEGINNING), 0), NET_TRUE);
  ck_assert_int_eq(net_within(exactly(NET_FOREVER), exactly(NET_FOREVER), 0), NET_TRUE);
  ck_assert_int_eq(net_within(exactly(NET_BEGINNING), exactly(NET_BEGINNING), 0), NET_TRUE);
  ck_assert_int_eq(net_within(exactly(0), (struct net_instant){5, NET_FOREVER}, 5), NET_UNKNOWN);
  ck_assert_int_eq(net_within(exactly(0), (struct net_instant){6, NET_FOREVER}, 5), NET_FALSE);
}
END_TEST

START_TEST(adjoining_periods) {
  struct net_period p = {{0, 0}, {5, 5}}, q = {{5, 5}, {9, 9}};
  ck_assert_int_eq(net_overlap_periods(p, q), NET_FALSE);
  ck_assert_int_eq(net_before(p.stop, q.start), NET_FALSE);
  ck_assert_int_eq(net_not_after(p.stop, q.start), NET_TRUE);
  ck_assert_int_eq(net_overlap_event(exactly(5), p), NET_FALSE);
  ck_assert_int_eq(net_overlap_event(exactly(5), q), NET_TRUE);
  /* Open periods: surely there up to the checkpoint, perhaps for ever. */
  struct net_period open = {{0, 0}, {5, NET_FOREVER}};
  ck_assert_int_eq(net_overlap_event(exactly(4), open), NET_TRUE);
  ck_assert_int_eq(net_overlap_event(exactly(5), open), NET_UNKNOWN);
  ck_assert_int_eq(net_overlap_periods(open, q), NET_UNKNOWN);
}
END_TEST

START_TEST(valid_periods) {
  int valid = 0, enumerated = 0;
  EACH_INSTANT(start, 4) EACH_INSTANT(stop, 4) {
    struct net_period p = {start, stop};
    bool expected = start.lo <= stop.lo && start.hi <= stop.hi;
    ck_assert_int_eq(net_period_valid(p), expected);
    valid += expected;
    p.start = (struct net_instant){start.hi, start.lo};
    if (start.lo != start.hi) ck_assert(!net_period_valid(p));
    p = (struct net_period){start, {stop.hi, stop.lo}};
    if (stop.lo != stop.hi) ck_assert(!net_period_valid(p));
  }
  EACH_PERIOD(p, 4) {
    ck_assert(net_period_valid(p));
    enumerated++;
  }
  ck_assert_int_eq(valid, enumerated); /* so the tests above saw every valid period */
}
END_TEST

START_TEST(clip_loses_only_empty_choices) {
  EACH_INSTANT(start, 5) EACH_INSTANT(stop, 5) {
    struct net_period p = {start, stop}, clipped = net_period_clip(p);
    if (net_period_valid(p))
      ck_assert(clipped.start.lo == start.lo && clipped.start.hi == start.hi &&
                clipped.stop.lo == stop.lo && clipped.stop.hi == stop.hi);
    if (net_nonempty(p) == NET_FALSE) continue;
    ck_assert(net_period_valid(clipped));
    EACH_CHOICE(from, start) EACH_CHOICE(to, stop) {
      bool kept = from <= clipped.start.hi && to >= clipped.stop.lo;
      ck_assert(kept || from >= to);
    }
    ck_assert_int_eq(net_nonempty(clipped), net_nonempty(p));
  }
}
END_TEST

int main(void) {
  Suite *suite = suite_create("interval");
  TCase *cases = tcase_create("interval");
  tcase_set_timeout(cases, 60);
  tcase_add_test(cases, kleene);
  tcase_add_test(cases, instants_by_brute_force);
  tcase_add_test(cases, within_by_brute_force);
  tcase_add_test(cases, later_and_earlier_by_brute_force);
  tcase_add_test(cases, periods_by_brute_force);
  tcase_add_test(cases, event_in_period_by_brute_force);
  tcase_add_test(cases, definitions_hold_at_any_size);
  tcase_add_test(cases, within_at_the_ends_of_time);
  tcase_add_test(cases, adjoining_periods);
  tcase_add_test(cases, valid_periods);
  tcase_add_test(cases, clip_loses_only_empty_choices);
  suite_add_tcase(suite, cases);
  SRunner *runner = srunner_create(suite);
  srunner_set_tap(runner, "-");
  srunner_run_all(runner, CK_SILENT);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
