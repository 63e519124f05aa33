/* The queries of netgen_rule_queries.h, by the functions of netgen_queries.h.
 *
 * A comment says a query in TQuel, or what of it a rule looks for. Variables are E, F and G over
 * R (A, B), unless a query says otherwise; domains of 8 bytes can overflow, those of 4 cannot. */
#include "tests/unit/netgen_rule_queries.h"

static const struct net_type type_long = {NET_INTEGER, 8};

const struct ng_query *query_view;

static const char *const names[] = {"E", "F", "G"};

struct ng_query *query_over(enum ng_relation_kind kind, unsigned count) {
  const struct ng_relation *relation = nq_relation("R", kind, 2, 8);
  const struct ng_relation *relations[] = {relation, relation, relation};
  return nq_query("Q", count, names, relations);
}

const struct ng_query *query_single(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 1);
  nq_target(query, "A", nq_domain(query, 0, "A"));
  nq_target(query, "Twice", nq_binary(NG_MUL, nq_domain(query, 0, "B"), nq_integer(2)));
  const struct ng_expr *a = nq_domain(query, 0, "A"), *b = nq_domain(query, 0, "B");
  query->where = nq_binary(NG_OR, nq_binary(NG_LT, a, nq_integer(3)),
                           nq_binary(NG_AND, nq_binary(NG_EQ, a, nq_integer(7)),
                                     nq_not(nq_binary(NG_GE, b, nq_integer(5)))));
  return nq_finish(query, NET_PERIOD);
}

const struct ng_query *query_event(void) {
  struct ng_query *query = query_over(NG_REL_EVENT, 1);
  nq_target(query, "A", nq_domain(query, 0, "A"));
  return nq_finish(query, NET_EVENT);
}

/* When tuples of A above 1 began: at the start of E, whose stop nothing reads. */
const struct ng_query *query_began(void) {
  struct ng_query *query = query_over(NG_REL_TRACED, 1);
  nq_target(query, "B", nq_domain(query, 0, "B"));
  query->where = nq_binary(NG_GT, nq_domain(query, 0, "A"), nq_integer(1));
  query->at = nq_start(nq_variable(query, 0));
  return nq_finish(query, NET_EVENT);
}

/* An event and a period under the default clauses. */
const struct ng_query *query_event_and_period(void) {
  const struct ng_relation *relations[] = {nq_relation("R", NG_REL_PERIOD, 2, 4),
                                           nq_relation("S", NG_REL_EVENT, 2, 4)};
  struct ng_query *query = nq_query(NULL, 2, names, relations);
  nq_target(query, "Sum", nq_binary(NG_ADD, nq_domain(query, 0, "A"), nq_domain(query, 1, "A")));
  return nq_finish(query, NET_EVENT);
}

/* where E.A + 1 > F.A (may overflow) and E.A = F.A, three variables, start and stop given. */
const struct ng_query *query_failing(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 3);
  const struct ng_expr *a = nq_domain(query, 0, "A"), *b = nq_domain(query, 1, "A");
  query->where = nq_binary(NG_AND, nq_binary(NG_GT, nq_binary(NG_ADD, a, nq_integer(1)), b),
                           nq_binary(NG_EQ, a, b));
  query->start = nq_start(nq_variable(query, 2));
  query->stop = nq_stop(nq_variable(query, 2));
  return nq_finish(query, NET_PERIOD);
}

/* count(E by E.B where E.A > 1) for each E, and the count of all. */
const struct ng_query *query_counts(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 1);
  const struct ng_expr **by = BASE_NEW_ARRAY(nq_arena, 1, const struct ng_expr *);
  by[0] = nq_domain(query, 0, "B");
  struct ng_aggregate grouped = {
      .function = NET_AGG_COUNT,
      .by = by,
      .by_count = 1,
      .type = type_long,
      .where = nq_binary(NG_GT, nq_domain(query, 0, "A"), nq_integer(1))};
  struct ng_aggregate all = {.function = NET_AGG_ANY, .cumulative = true, .type = type_long};
  nq_target(query, "A", nq_domain(query, 0, "A"));
  nq_target(query, "n", nq_aggregate_value(query, nq_aggregate(query, grouped)));
  nq_target(query, "m", nq_aggregate_value(query, nq_aggregate(query, all)));
  return nq_finish(query, NET_PERIOD);
}

/* count(E by E.B), and what the group is called. */
const struct ng_query *query_named(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 1);
  const struct ng_expr **by = BASE_NEW_ARRAY(nq_arena, 1, const struct ng_expr *);
  by[0] = nq_domain(query, 0, "B");
  query->variables[0].outside = false;
  struct ng_aggregate aggregate = {.by = by, .by_count = 1, .type = type_long};
  aggregate.function = NET_AGG_MIN;
  aggregate.argument = nq_domain(query, 0, "B");
  nq_target(query, "b", nq_aggregate_value(query, nq_aggregate(query, aggregate)));
  aggregate.function = NET_AGG_COUNT;
  aggregate.argument = NULL;
  nq_target(query, "n", nq_aggregate_value(query, nq_aggregate(query, aggregate)));
  return nq_finish(query, NET_PERIOD);
}

/* minc(E.B by E.B) and avgc(E by E.B): of all that was ever there. */
const struct ng_query *query_named_ever(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 1);
  const struct ng_expr **by = BASE_NEW_ARRAY(nq_arena, 1, const struct ng_expr *);
  by[0] = nq_domain(query, 0, "B");
  query->variables[0].outside = false;
  struct ng_aggregate aggregate = {.by = by, .by_count = 1, .cumulative = true, .type = type_long};
  aggregate.function = NET_AGG_MIN;
  aggregate.argument = nq_domain(query, 0, "B");
  nq_target(query, "b", nq_aggregate_value(query, nq_aggregate(query, aggregate)));
  aggregate.function = NET_AGG_AVGC;
  aggregate.argument = NULL;
  aggregate.type = (struct net_type){NET_TEMPORAL, 0};
  nq_target(query, "share", nq_aggregate_value(query, nq_aggregate(query, aggregate)));
  return nq_finish(query, NET_PERIOD);
}

/* count(F) at E.start: the value at the result's instant. */
const struct ng_query *query_count_at(void) {
  struct ng_query *query = query_over(NG_REL_TRACED, 2);
  query->variables[1].outside = false;
  struct ng_aggregate count = {.function = NET_AGG_COUNT, .variable = 1, .type = type_long};
  nq_target(query, "n", nq_aggregate_value(query, nq_aggregate(query, count)));
  query->at = nq_start(nq_variable(query, 0));
  return nq_finish(query, NET_EVENT);
}

/* F.start during E, written as a sequence; when E.start ; F.start and F.start ; E.stop. */
const struct ng_query *query_implied(void) {
  struct ng_query *query = query_over(NG_REL_TRACED, 2);
  const struct ng_expr *e = nq_variable(query, 0), *f = nq_start(nq_variable(query, 1));
  nq_target(query, "A", nq_domain(query, 0, "A"));
  query->when = nq_binary(NG_AND, nq_holds(nq_temporal(NG_T_SEQUENCE, nq_start(e), f)),
                          nq_holds(nq_temporal(NG_T_SEQUENCE, f, nq_stop(e))));
  query->at = f;
  return nq_finish(query, NET_EVENT);
}

/* Constants in conditions and targets; one of them fails, which counts for each tuple. */
const struct ng_query *query_folded(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 1);
  const struct ng_expr *a = nq_domain(query, 0, "A"), *one = nq_integer(1), *two = nq_integer(2);
  const struct ng_expr *less = nq_binary(NG_LT, a, nq_binary(NG_ADD, one, two));
  const struct ng_expr *never = nq_binary(NG_EQ, one, two);
  const struct ng_expr *always = nq_not(never);
  const struct ng_expr *fails =
      nq_binary(NG_EQ, a, nq_binary(NG_DIV, one, nq_binary(NG_SUB, one, one)));
  query->where =
      nq_binary(NG_AND, nq_binary(NG_AND, less, always),
                nq_binary(NG_AND, nq_binary(NG_OR, never, nq_binary(NG_NE, a, two)), fails));
  nq_target(query, "x", nq_binary(NG_MUL, nq_integer(6), nq_integer(7)));
  return nq_finish(query, NET_PERIOD);
}

/* Conditions that are written the wrong way round, twice, or as a part of what is never true. */
const struct ng_query *query_turned(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 2);
  const struct ng_expr *a = nq_domain(query, 0, "A"), *three = nq_integer(3);
  const struct ng_expr *sum = nq_binary(NG_MOD, nq_binary(NG_DIV, a, three), nq_integer(5));
  const struct ng_expr *twice =
      nq_binary(NG_AND, nq_binary(NG_LT, three, a), nq_binary(NG_GT, a, three));
  const struct ng_expr *either =
      nq_binary(NG_OR, nq_binary(NG_EQ, nq_integer(1), nq_integer(2)),
                nq_binary(NG_AND, nq_binary(NG_LT, nq_integer(0), sum), nq_binary(NG_NE, a, sum)));
  query->where = nq_binary(NG_AND, nq_binary(NG_AND, twice, either),
                           nq_binary(NG_EQ, nq_domain(query, 1, "B"), nq_domain(query, 0, "B")));
  nq_target(query, "sum", nq_binary(NG_MUL, nq_integer(2), sum));
  return nq_finish(query, NET_PERIOD);
}

/* where E.A / 2 = F.A / 2 and E.B = F.B. */
const struct ng_query *query_keys(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 2);
  const struct ng_expr *two = nq_integer(2);
  query->where = nq_binary(NG_AND,
                           nq_binary(NG_EQ, nq_binary(NG_DIV, nq_domain(query, 0, "A"), two),
                                     nq_binary(NG_DIV, nq_domain(query, 1, "A"), two)),
                           nq_binary(NG_EQ, nq_domain(query, 0, "B"), nq_domain(query, 1, "B")));
  nq_target(query, "A", nq_domain(query, 1, "A"));
  return nq_finish(query, NET_PERIOD);
}

/* where E.A / 2 = F.A / 2, E.A / 2 * 3 > E.B: the half as a target, and one more than it. */
const struct ng_query *query_halves(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 2);
  const struct ng_expr *two = nq_integer(2);
  const struct ng_expr *half = nq_binary(NG_DIV, nq_domain(query, 0, "A"), two);
  query->where =
      nq_binary(NG_AND, nq_binary(NG_EQ, half, nq_binary(NG_DIV, nq_domain(query, 1, "A"), two)),
                nq_binary(NG_GT, nq_binary(NG_MOD, half, nq_integer(3)), nq_domain(query, 1, "B")));
  nq_target(query, "half", half);
  nq_target(query, "more", nq_binary(NG_ADD, half, nq_integer(1)));
  return nq_finish(query, NET_PERIOD);
}

/* where E.A = F.A + 1 and F.A / E.B > 2 and E.B > 0: both can fail, and where E.B is 0 no error counts. */
const struct ng_query *query_next(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 2);
  const struct ng_expr *a = nq_domain(query, 0, "A"), *b = nq_domain(query, 0, "B");
  const struct ng_expr *before = nq_domain(query, 1, "A");
  query->where =
      nq_binary(NG_AND,
                nq_binary(NG_AND, nq_binary(NG_EQ, a, nq_binary(NG_ADD, before, nq_integer(1))),
                          nq_binary(NG_GT, nq_binary(NG_DIV, before, b), nq_integer(2))),
                nq_binary(NG_GT, b, nq_integer(0)));
  nq_target(query, "A", a);
  return nq_finish(query, NET_PERIOD);
}

static const struct ng_expr *span_within(const struct ng_expr *left, const struct ng_expr *right) {
  struct ng_expr *sequence = BASE_NEW(nq_arena, struct ng_expr);
  *sequence = *nq_temporal(NG_T_SEQUENCE, left, right);
  sequence->integer = 5;
  return sequence;
}

static const struct ng_expr *within(const struct ng_expr *left, const struct ng_expr *right) {
  return nq_holds(span_within(left, right));
}

/* when E ; within 5 F and F ; within 5 G, events, at E. */
const struct ng_query *query_three_events(void) {
  struct ng_query *query = query_over(NG_REL_EVENT, 3);
  const struct ng_expr *e = nq_variable(query, 0), *f = nq_variable(query, 1),
                       *g = nq_variable(query, 2);
  query->when = nq_binary(NG_AND, within(e, f), within(f, g));
  query->at = e;
  nq_target(query, "A", nq_domain(query, 0, "A"));
  nq_target(query, "B", nq_domain(query, 2, "B"));
  return nq_finish(query, NET_EVENT);
}

/* when E ; within 5 F: the next one within five chronons. */
const struct ng_query *query_within(void) {
  struct ng_query *query = query_over(NG_REL_TRACED, 2);
  query->when = within(nq_variable(query, 0), nq_variable(query, 1));
  query->where = nq_binary(NG_EQ, nq_domain(query, 0, "A"), nq_domain(query, 1, "A"));
  query->start = nq_start(nq_variable(query, 0));
  query->stop = nq_stop(nq_variable(query, 1));
  nq_target(query, "A", nq_domain(query, 0, "A"));
  return nq_finish(query, NET_PERIOD);
}

/* E stops when F starts, or during F: partial overlap without a common start. */
const struct ng_query *query_meets(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 2);
  const struct ng_expr *e = nq_variable(query, 0), *f = nq_variable(query, 1);
  query->when = nq_binary(NG_AND, nq_holds(nq_temporal(NG_T_PRECEDE, nq_start(f), nq_stop(e))),
                          nq_holds(nq_temporal(NG_T_SEQUENCE, nq_stop(e), nq_stop(f))));
  query->start = nq_start(e);
  query->stop = nq_stop(f);
  return nq_finish(query, NET_PERIOD);
}

/* E starts before F and stops at most 5 before it, or during F. */
const struct ng_query *query_either(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 2);
  const struct ng_expr *e = nq_variable(query, 0), *f = nq_variable(query, 1);
  struct ng_expr *sequence = BASE_NEW(nq_arena, struct ng_expr);
  *sequence = *nq_temporal(NG_T_SEQUENCE, e, f);
  sequence->integer = 5;
  query->when =
      nq_binary(NG_OR, nq_holds(sequence), nq_holds(nq_temporal(NG_T_OVERLAP, nq_start(e), f)));
  query->start = nq_start(e);
  query->stop = nq_stop(f);
  return nq_finish(query, NET_PERIOD);
}

static const struct ng_expr *overlaps(const struct ng_expr *a, const struct ng_expr *b) {
  return nq_holds(nq_temporal(NG_T_OVERLAP, a, b));
}

/* when E , G.start and F , G.start at G.start: of E and F nothing is said. */
const struct ng_query *query_star(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 3);
  const struct ng_expr *g = nq_start(nq_variable(query, 2));
  query->when =
      nq_binary(NG_AND, overlaps(nq_variable(query, 0), g), overlaps(nq_variable(query, 1), g));
  query->at = g;
  nq_target(query, "A", nq_domain(query, 2, "A"));
  return nq_finish(query, NET_EVENT);
}

/* when E ; within 5 F.start and G ; within 5 E at E, F periods: E and F come together when F does, which says
 * nothing of G. */
const struct ng_query *query_late_pair(void) {
  const struct ng_relation *events = nq_relation("R", NG_REL_EVENT, 2, 4);
  const struct ng_relation *relations[] = {events, nq_relation("P", NG_REL_PERIOD, 2, 4), events};
  struct ng_query *query = nq_query("Q", 3, (const char *const[]){"E", "F", "G"}, relations);
  const struct ng_expr *e = nq_variable(query, 0);
  query->when = nq_binary(NG_AND, within(e, nq_start(nq_variable(query, 1))),
                          within(nq_variable(query, 2), e));
  query->at = e;
  nq_target(query, "A", nq_domain(query, 0, "A"));
  nq_target(query, "B", nq_domain(query, 1, "B"));
  nq_target(query, "C", nq_domain(query, 2, "B"));
  return nq_finish(query, NET_EVENT);
}

/* when E , F and F , G, and the period that all have in common. */
const struct ng_query *query_chain(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 3);
  const struct ng_expr *f = nq_variable(query, 1);
  query->when =
      nq_binary(NG_AND, overlaps(nq_variable(query, 0), f), overlaps(f, nq_variable(query, 2)));
  nq_target(query, "A", nq_domain(query, 2, "A"));
  return nq_finish(query, NET_PERIOD);
}

/* when (E , F) , G: one condition of three. */
const struct ng_query *query_common(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 3);
  query->when = overlaps(nq_temporal(NG_T_OVERLAP, nq_variable(query, 0), nq_variable(query, 1)),
                         nq_variable(query, 2));
  nq_target(query, "A", nq_domain(query, 2, "A"));
  return nq_finish(query, NET_PERIOD);
}

/* when E , F and F ; within 5 G at G.start: what waits for G is asked of F's stop. */
const struct ng_query *query_stop_within(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 3);
  const struct ng_expr *f = nq_variable(query, 1), *g = nq_variable(query, 2);
  query->when = nq_binary(NG_AND, overlaps(nq_variable(query, 0), f), within(f, g));
  query->at = nq_start(g);
  nq_target(query, "A", nq_domain(query, 0, "A"));
  return nq_finish(query, NET_EVENT);
}

/* when E , F and E.start ; within 5 F.start at F.start: after five chronons E meets nobody any more. */
const struct ng_query *query_near(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 2);
  const struct ng_expr *e = nq_variable(query, 0), *f = nq_variable(query, 1);
  query->when = nq_binary(NG_AND, overlaps(e, f), within(nq_start(e), nq_start(f)));
  query->at = nq_start(f);
  nq_target(query, "A", nq_domain(query, 0, "A"));
  return nq_finish(query, NET_EVENT);
}

/* when not (E , F) at E.start: of F nothing is shown. */
const struct ng_query *query_apart(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 2);
  query->when = nq_not(overlaps(nq_variable(query, 0), nq_variable(query, 1)));
  query->at = nq_start(nq_variable(query, 0));
  nq_target(query, "A", nq_domain(query, 0, "A"));
  return nq_finish(query, NET_EVENT);
}

/* F.A where E.B = F.B, of periods E and events F. */
const struct ng_query *query_met(void) {
  const struct ng_relation *relations[] = {nq_relation("R", NG_REL_PERIOD, 2, 4),
                                           nq_relation("S", NG_REL_EVENT, 2, 4)};
  struct ng_query *query = nq_query(NULL, 2, names, relations);
  query->where = nq_binary(NG_EQ, nq_domain(query, 0, "B"), nq_domain(query, 1, "B"));
  nq_target(query, "A", nq_domain(query, 1, "A"));
  return nq_finish(query, NET_EVENT);
}

/* when E contain F and E.start ; within 5 F.start at F.start: E meets nobody after five chronons, nor once it is
 * over. */
const struct ng_query *query_inside(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 2);
  const struct ng_expr *e = nq_variable(query, 0), *f = nq_variable(query, 1);
  query->when = nq_binary(NG_AND, nq_holds(nq_temporal(NG_T_CONTAIN, e, f)),
                          within(nq_start(e), nq_start(f)));
  query->at = nq_start(f);
  nq_target(query, "A", nq_domain(query, 0, "A"));
  return nq_finish(query, NET_EVENT);
}

/* when (E , F) ; within 5 G at G.start: what waits for G is asked of the earlier stop. */
const struct ng_query *query_common_within(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 3);
  const struct ng_expr *g = nq_variable(query, 2);
  query->when = within(nq_temporal(NG_T_OVERLAP, nq_variable(query, 0), nq_variable(query, 1)), g);
  query->at = nq_start(g);
  nq_target(query, "A", nq_domain(query, 0, "A"));
  return nq_finish(query, NET_EVENT);
}

/* count(G) when E ; within 5 F at E.stop. */
const struct ng_query *query_count_at_stop(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 3);
  const struct ng_expr *e = nq_variable(query, 0);
  struct ng_aggregate count = {.function = NET_AGG_COUNT, .variable = 2, .type = type_long};
  query->variables[2].outside = false;
  query->when = within(e, nq_variable(query, 1));
  query->at = nq_stop(e);
  nq_target(query, "A", nq_domain(query, 0, "A"));
  nq_target(query, "n", nq_aggregate_value(query, nq_aggregate(query, count)));
  return nq_finish(query, NET_EVENT);
}

/* Counts of F and of G at E.stop. */
const struct ng_query *query_counts_at_stop(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 3);
  const struct ng_expr *e = nq_variable(query, 0);
  struct ng_aggregate count = {.function = NET_AGG_COUNT, .type = type_long};
  query->at = nq_stop(e);
  nq_target(query, "A", nq_domain(query, 0, "A"));
  for (unsigned i = 1; i <= 2; i++) {
    count.variable = i;
    query->variables[i].outside = false;
    nq_target(query, i == 1 ? "n" : "m", nq_aggregate_value(query, nq_aggregate(query, count)));
  }
  return nq_finish(query, NET_EVENT);
}

/* when E ; within 5 F at F.start: E is asked for its stop only. */
const struct ng_query *query_soon(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 2);
  const struct ng_expr *f = nq_variable(query, 1);
  query->when = within(nq_variable(query, 0), f);
  query->at = nq_start(f);
  nq_target(query, "A", nq_domain(query, 0, "A"));
  return nq_finish(query, NET_EVENT);
}

/* when E , F and E , G at F.start: what G is asked for is E's period. */
const struct ng_query *query_centre(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 3);
  const struct ng_expr *e = nq_variable(query, 0), *f = nq_variable(query, 1);
  query->when = nq_binary(NG_AND, overlaps(e, f), overlaps(e, nq_variable(query, 2)));
  query->at = nq_start(f);
  nq_target(query, "A", nq_domain(query, 1, "A"));
  return nq_finish(query, NET_EVENT);
}

/* when (E ; within 5 F) , G at F.start: it is asked for what lies from E's start to F's stop. */
const struct ng_query *query_span_overlaps(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 3);
  const struct ng_expr *f = nq_variable(query, 1);
  query->when = overlaps(span_within(nq_variable(query, 0), f), nq_variable(query, 2));
  query->at = nq_start(f);
  nq_target(query, "A", nq_domain(query, 1, "A"));
  return nq_finish(query, NET_EVENT);
}

/* when (E.start + 5) , F at F.start: an instant that can leave the timeline. */
const struct ng_query *query_shifted(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 2);
  struct ng_expr *shift = BASE_NEW(nq_arena, struct ng_expr);
  const struct ng_expr *start = nq_start(nq_variable(query, 0)), *f = nq_variable(query, 1);
  *shift = *nq_start(start);
  shift->op = NG_T_SHIFT;
  shift->integer = 5;
  query->when = overlaps(shift, f);
  query->at = nq_start(f);
  nq_target(query, "A", nq_domain(query, 0, "A"));
  return nq_finish(query, NET_EVENT);
}

/* E with F by one domain, F with G by the other, E of a certain kind. */
const struct ng_query *query_keyed(void) {
  const struct ng_relation *relations[] = {nq_relation("Large", NG_REL_PERIOD, 2, 4),
                                           nq_relation("Middle", NG_REL_PERIOD, 2, 4),
                                           nq_relation("Small", NG_REL_PERIOD, 2, 4)};
  struct ng_query *query = nq_query("Q", 3, names, relations);
  query->where =
      nq_binary(NG_AND, nq_binary(NG_EQ, nq_domain(query, 0, "A"), nq_domain(query, 2, "A")),
                nq_binary(NG_AND, nq_binary(NG_EQ, nq_domain(query, 1, "B"), nq_integer(3)),
                          nq_binary(NG_EQ, nq_domain(query, 1, "A"), nq_domain(query, 2, "A"))));
  nq_target(query, "B", nq_domain(query, 0, "B"));
  return nq_finish(query, NET_PERIOD);
}

/* Two conjuncts that can fail and one that cannot. */
const struct ng_query *query_two_failing(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 1);
  const struct ng_expr *a = nq_domain(query, 0, "A"), *b = nq_domain(query, 0, "B");
  const struct ng_expr *first =
      nq_binary(NG_GT, nq_binary(NG_ADD, a, nq_integer(1)), nq_integer(0));
  const struct ng_expr *second = nq_binary(NG_EQ, nq_binary(NG_DIV, a, b), nq_integer(2));
  query->where =
      nq_binary(NG_AND, nq_binary(NG_AND, first, second), nq_binary(NG_NE, b, nq_integer(0)));
  return nq_finish(query, NET_PERIOD);
}

const struct ng_query *query_choice(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 3);
  const struct ng_expr *choice =
      nq_temporal(NG_T_CHOICE, nq_variable(query, 0), nq_variable(query, 1));
  query->when = nq_holds(nq_temporal(NG_T_SEQUENCE, choice, nq_variable(query, 2)));
  query->start = nq_start(nq_temporal(NG_T_EXTEND, nq_variable(query, 0), nq_variable(query, 1)));
  return nq_finish(query, NET_PERIOD);
}

/* Three variables over one relation, of which one only is restricted. */
const struct ng_query *query_pairs(void) {
  struct ng_query *query = query_over(NG_REL_TRACED, 3);
  nq_target(query, "B", nq_domain(query, 1, "B"));
  query->where = nq_binary(
      NG_AND, nq_binary(NG_EQ, nq_domain(query, 0, "A"), nq_domain(query, 1, "A")),
      nq_binary(NG_AND, nq_binary(NG_EQ, nq_domain(query, 1, "A"), nq_domain(query, 2, "A")),
                nq_binary(NG_EQ, nq_domain(query, 2, "B"), nq_integer(3))));
  return nq_finish(query, NET_PERIOD);
}

/* The same count twice, which cannot fail, and the same sum twice, which can. */
const struct ng_query *query_twice(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 1);
  struct ng_aggregate count = {.function = NET_AGG_COUNT, .type = type_long};
  struct ng_aggregate sum = {
      .function = NET_AGG_SUM, .argument = nq_domain(query, 0, "A"), .type = type_long};
  nq_target(query, "n", nq_aggregate_value(query, nq_aggregate(query, count)));
  nq_target(query, "m", nq_aggregate_value(query, nq_aggregate(query, count)));
  nq_target(query, "s", nq_aggregate_value(query, nq_aggregate(query, sum)));
  nq_target(query, "t", nq_aggregate_value(query, nq_aggregate(query, sum)));
  return nq_finish(query, NET_PERIOD);
}

/* Of E, how many in its group, their sum, their greatest and (where A > 1) their least. */
const struct ng_query *query_several(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 1);
  const struct ng_expr **by = BASE_NEW_ARRAY(nq_arena, 1, const struct ng_expr *);
  by[0] = nq_domain(query, 0, "B");
  struct ng_aggregate aggregate = {.by = by, .by_count = 1, .type = type_long};
  nq_target(query, "A", nq_domain(query, 0, "A"));
  aggregate.function = NET_AGG_COUNT;
  nq_target(query, "n", nq_aggregate_value(query, nq_aggregate(query, aggregate)));
  aggregate.argument = nq_domain(query, 0, "A");
  aggregate.function = NET_AGG_SUM;
  nq_target(query, "s", nq_aggregate_value(query, nq_aggregate(query, aggregate)));
  aggregate.function = NET_AGG_MAX;
  nq_target(query, "m", nq_aggregate_value(query, nq_aggregate(query, aggregate)));
  aggregate.function = NET_AGG_MIN;
  aggregate.where = nq_binary(NG_GT, nq_domain(query, 0, "A"), nq_integer(1));
  nq_target(query, "l", nq_aggregate_value(query, nq_aggregate(query, aggregate)));
  return nq_finish(query, NET_PERIOD);
}

static const struct ng_query *over_view(const struct ng_query *its) {
  const struct ng_relation *relation = nq_derived(its);
  static const char *const name[] = {"V"};
  query_view = its;
  struct ng_query *query = nq_query(NULL, 1, name, &relation);
  query->where = nq_binary(NG_EQ, nq_domain(query, 0, "A"), nq_integer(3));
  nq_target(query, "Twice",
            nq_binary(NG_ADD, nq_convert(nq_domain(query, 0, "B"), type_long), nq_integer(1)));
  return nq_finish(query, NET_PERIOD);
}

/* V: the pairs of equal A; of V those with A = 3. */
const struct ng_query *query_of_view(void) {
  const struct ng_relation *relation = nq_relation("R", NG_REL_TRACED, 2, 4);
  const struct ng_relation *relations[] = {relation, relation};
  struct ng_query *query = nq_query("Pairs", 2, names, relations);
  nq_target(query, "A", nq_domain(query, 0, "A"));
  nq_target(query, "B", nq_domain(query, 1, "B"));
  query->where = nq_binary(NG_EQ, nq_domain(query, 0, "A"), nq_domain(query, 1, "A"));
  return over_view(nq_finish(query, NET_PERIOD));
}

/* The largest B of each kind A. */
static struct ng_query *groups(void) {
  const struct ng_relation *relation = nq_relation("R", NG_REL_PERIOD, 2, 4);
  struct ng_query *query = nq_query("Kinds", 1, names, &relation);
  const struct ng_expr **by = BASE_NEW_ARRAY(nq_arena, 1, const struct ng_expr *);
  by[0] = nq_domain(query, 0, "A");
  query->variables[0].outside = false;
  struct ng_aggregate aggregate = {.by = by, .by_count = 1, .type = {NET_INTEGER, 4}};
  aggregate.function = NET_AGG_MIN;
  aggregate.argument = nq_domain(query, 0, "A");
  nq_target(query, "A", nq_aggregate_value(query, nq_aggregate(query, aggregate)));
  aggregate.function = NET_AGG_MAX;
  aggregate.argument = nq_domain(query, 0, "B");
  nq_target(query, "B", nq_aggregate_value(query, nq_aggregate(query, aggregate)));
  return query;
}

/* V: the largest of each kind; of V the kind 3. */
const struct ng_query *query_of_groups(void) {
  return over_view(nq_finish(groups(), NET_PERIOD));
}

/* The same view, each kind beside the next one. */
const struct ng_query *query_of_segments(void) {
  static const char *const both[] = {"V", "W"};
  query_view = nq_finish(groups(), NET_PERIOD);
  const struct ng_relation *relation = nq_derived(query_view);
  const struct ng_relation *relations[] = {relation, relation};
  struct ng_query *query = nq_query(NULL, 2, both, relations);
  query->where =
      nq_binary(NG_AND, nq_binary(NG_EQ, nq_domain(query, 0, "A"), nq_domain(query, 1, "A")),
                nq_binary(NG_LT, nq_domain(query, 0, "B"), nq_domain(query, 1, "B")));
  nq_target(query, "A", nq_domain(query, 0, "A"));
  nq_target(query, "B", nq_domain(query, 1, "B"));
  return nq_finish(query, NET_PERIOD);
}

/* V: the groups of R and their shares of the time; at each event of S that of its group. */
const struct ng_query *query_shares(void) {
  static const char *const both[] = {"C", "V"};
  const struct ng_relation *relation = nq_relation("R", NG_REL_PERIOD, 2, 8);
  struct ng_query *view = nq_query("Shares", 1, names, &relation);
  const struct ng_expr **by = BASE_NEW_ARRAY(nq_arena, 1, const struct ng_expr *);
  by[0] = nq_domain(view, 0, "B");
  view->variables[0].outside = false;
  struct ng_aggregate aggregate = {.by = by, .by_count = 1, .cumulative = true, .type = type_long};
  aggregate.function = NET_AGG_MIN;
  aggregate.argument = by[0];
  nq_target(view, "B", nq_aggregate_value(view, nq_aggregate(view, aggregate)));
  aggregate.function = NET_AGG_AVGC;
  aggregate.argument = NULL;
  aggregate.type = (struct net_type){NET_TEMPORAL, 0};
  nq_target(view, "Share", nq_aggregate_value(view, nq_aggregate(view, aggregate)));
  const struct ng_relation *relations[] = {nq_relation("S", NG_REL_EVENT, 2, 8),
                                           nq_derived(nq_finish(view, NET_PERIOD))};
  query_view = view;
  struct ng_query *query = nq_query(NULL, 2, both, relations);
  nq_target(query, "A", nq_domain(query, 0, "A"));
  nq_target(query, "Share", nq_domain(query, 1, "Share"));
  query->where = nq_binary(NG_EQ, nq_domain(query, 0, "B"), nq_domain(query, 1, "B"));
  return nq_finish(query, NET_EVENT);
}

/* One variable's times and values are bounded by constants. */
const struct ng_query *query_bounded(void) {
  struct ng_query *query = query_over(NG_REL_PERIOD, 2);
  nq_target(query, "B", nq_domain(query, 1, "B"));
  query->where =
      nq_binary(NG_AND,
                nq_binary(NG_OR, nq_binary(NG_EQ, nq_domain(query, 0, "A"), nq_integer(3)),
                          nq_binary(NG_EQ, nq_domain(query, 0, "A"), nq_integer(5))),
                nq_binary(NG_AND, nq_binary(NG_GT, nq_domain(query, 0, "B"), nq_integer(0)),
                          nq_binary(NG_LT, nq_domain(query, 0, "B"), nq_domain(query, 1, "B"))));
  query->when =
      nq_binary(NG_AND, nq_holds(nq_temporal(NG_T_OVERLAP, nq_variable(query, 0), nq_constant(20))),
                nq_holds(nq_temporal(NG_T_PRECEDE, nq_constant(10), nq_variable(query, 1))));
  return nq_finish(query, NET_PERIOD);
}

/* Figure 7-3. */
const struct ng_query *query_stop_running(void) {
  return nq_stop_running(true);
}

static const struct ng_expr *is(const struct ng_query *query, const char *domain, int64_t value) {
  return nq_binary(NG_EQ, nq_domain(query, 0, domain), nq_integer(value));
}

static struct ng_query *fed(const struct ng_relation *relation, const struct ng_relation *found) {
  const struct ng_relation *relations[] = {relation, found};
  struct ng_query *query = nq_query("Q", found ? 2 : 1, names, relations);
  nq_target(query, "Amount", nq_domain(query, 0, "Amount"));
  return query;
}

/* Of a cage of a process; an entity is a cage: both tell the sensor, and what is more than 7 does not. */
const struct ng_query *query_fed(void) {
  struct ng_query *query = fed(nq_fed(1), NULL);
  query->where = nq_binary(NG_AND, nq_binary(NG_AND, is(query, "Process", 3), is(query, "Cage", 2)),
                           nq_binary(NG_GT, nq_domain(query, 0, "Amount"), nq_integer(7)));
  return nq_finish(query, NET_PERIOD);
}

/* Of all the cages of a process, or one of another. */
const struct ng_query *query_fed_process(void) {
  struct ng_query *query = fed(nq_fed(1), NULL);
  query->where = nq_binary(NG_OR, is(query, "Process", 3),
                           nq_binary(NG_AND, is(query, "Process", 4), is(query, "Cage", 2)));
  return nq_finish(query, NET_PERIOD);
}

/* An entity is a process: its records of other cages end the periods of this one. */
const struct ng_query *query_fed_by_process(void) {
  struct ng_query *query = fed(nq_fed(0), NULL);
  query->where = nq_binary(NG_AND, is(query, "Process", 3), is(query, "Cage", 2));
  return nq_finish(query, NET_PERIOD);
}

/* Events of some amounts, of two cages; all of them are counted, or those of some amounts. */
static const struct ng_query *fed_events(bool all) {
  struct ng_relation *relation = BASE_NEW(nq_arena, struct ng_relation);
  *relation = *nq_fed(-1);
  relation->kind = NG_REL_EVENT;
  relation->records = NULL;
  relation->layout =
      net_layout_new(nq_arena, NET_EVENT, relation->layout->fields, relation->layout->field_count);
  struct ng_query *query = fed(relation, NULL);
  query->where = nq_binary(NG_AND, nq_binary(NG_OR, is(query, "Cage", 3), is(query, "Cage", 4)),
                           nq_binary(NG_NE, nq_domain(query, 0, "Amount"), nq_integer(7)));
  query->variables[0].outside = true;
  (void)nq_aggregate(
      query,
      (struct ng_aggregate){
          .function = NET_AGG_COUNT,
          .cumulative = true,
          .where = all ? NULL : nq_binary(NG_GT, nq_domain(query, 0, "Amount"), nq_integer(100)),
          .type = {NET_INTEGER, 8}});
  query->origin_given = true;
  nq_target(query, "Count", nq_aggregate_value(query, 0));
  return nq_finish(query, NET_EVENT);
}

const struct ng_query *query_fed_events(void) {
  return fed_events(false);
}

const struct ng_query *query_fed_events_counted(void) {
  return fed_events(true);
}

/* Of the processes that another relation names, where an entity is a cage. */
const struct ng_query *query_fed_and_found(void) {
  struct ng_query *query = fed(nq_fed(1), nq_processes("F"));
  query->where = nq_binary(NG_EQ, nq_domain(query, 0, "Process"), nq_domain(query, 1, "Process"));
  return nq_finish(query, NET_PERIOD);
}

/* Of the cages that it names, where an entity is a process. */
const struct ng_query *query_fed_by_process_and_found(void) {
  struct ng_query *query = fed(nq_fed(0), nq_processes("F"));
  query->where = nq_binary(NG_EQ, nq_domain(query, 0, "Cage"), nq_domain(query, 1, "Process"));
  return nq_finish(query, NET_PERIOD);
}

/* countc(E where duration(E) > 1): each tuple counts, and not each piece of it. */
const struct ng_query *query_lasting(void) {
  struct ng_query *query = query_over(NG_REL_TRACED, 1);
  struct ng_expr *duration = BASE_NEW(nq_arena, struct ng_expr);
  duration->op = NG_DURATION;
  duration->type = (struct net_type){NET_TEMPORAL, 0};
  query->variables[0].outside = false;
  struct ng_aggregate count = {
      .function = NET_AGG_COUNT,
      .cumulative = true,
      .type = type_long,
      .where = nq_binary(NG_GT, duration,
                         nq_convert(nq_integer(1), (struct net_type){NET_TEMPORAL, 0}))};
  nq_target(query, "n", nq_aggregate_value(query, nq_aggregate(query, count)));
  return nq_finish(query, NET_PERIOD);
}

const struct ng_query *query_constants(void) {
  struct ng_query *query = nq_query(NULL, 0, NULL, NULL);
  nq_target(query, "x", nq_integer(7));
  nq_target(query, "s", nq_string("a\"b\n"));
  return nq_finish(query, NET_PERIOD);
}

const struct ng_query *query_at_constant(void) {
  struct ng_query *query = nq_query(NULL, 0, NULL, NULL);
  query->at = nq_constant(5);
  return nq_finish(query, NET_EVENT);
}
