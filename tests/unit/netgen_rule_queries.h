/* Queries for the tests of netgen's rules: each has something that a rule or two look for, and what
 * makes them keep away from it. Made by hand like those of netgen_queries.h, and in its arena. */
#ifndef TESTS_NETGEN_RULE_QUERIES_H
#define TESTS_NETGEN_RULE_QUERIES_H

#include "tests/unit/netgen_queries.h"

/* The query of the view that the query made last reads; NULL: none. */
extern const struct ng_query *query_view;

/* Q, over COUNT variables of one relation R (A = i8, B = i8) of this KIND. */
struct ng_query *query_over(enum ng_relation_kind kind, unsigned count);

const struct ng_query *query_single(void);
const struct ng_query *query_event(void);
const struct ng_query *query_began(void);
const struct ng_query *query_event_and_period(void);
const struct ng_query *query_failing(void);
const struct ng_query *query_counts(void);
const struct ng_query *query_named(void);
const struct ng_query *query_named_ever(void);
const struct ng_query *query_count_at(void);
const struct ng_query *query_shares(void);
const struct ng_query *query_implied(void);
const struct ng_query *query_folded(void);
const struct ng_query *query_turned(void);
const struct ng_query *query_keys(void);
const struct ng_query *query_halves(void);
const struct ng_query *query_next(void);
const struct ng_query *query_three_events(void);
const struct ng_query *query_within(void);
const struct ng_query *query_meets(void);
const struct ng_query *query_either(void);
const struct ng_query *query_star(void);
const struct ng_query *query_late_pair(void);
const struct ng_query *query_chain(void);
const struct ng_query *query_common(void);
const struct ng_query *query_near(void);
const struct ng_query *query_inside(void);
const struct ng_query *query_stop_within(void);
const struct ng_query *query_common_within(void);
const struct ng_query *query_count_at_stop(void);
const struct ng_query *query_counts_at_stop(void);
const struct ng_query *query_soon(void);
const struct ng_query *query_centre(void);
const struct ng_query *query_shifted(void);
const struct ng_query *query_span_overlaps(void);
const struct ng_query *query_apart(void);
const struct ng_query *query_met(void);
const struct ng_query *query_keyed(void);
const struct ng_query *query_two_failing(void);
const struct ng_query *query_choice(void);
const struct ng_query *query_pairs(void);
const struct ng_query *query_twice(void);
const struct ng_query *query_several(void);
const struct ng_query *query_of_view(void);
const struct ng_query *query_of_groups(void);
const struct ng_query *query_of_segments(void);
const struct ng_query *query_bounded(void);
const struct ng_query *query_stop_running(void);
const struct ng_query *query_fed(void);
const struct ng_query *query_fed_process(void);
const struct ng_query *query_fed_by_process(void);
const struct ng_query *query_fed_events(void);
const struct ng_query *query_fed_events_counted(void);
const struct ng_query *query_fed_and_found(void);
const struct ng_query *query_fed_by_process_and_found(void);
const struct ng_query *query_lasting(void);
const struct ng_query *query_constants(void);
const struct ng_query *query_at_constant(void);

#endif
