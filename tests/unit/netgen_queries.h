/* Bound queries made by hand, for the tests of netgen: small constructors, and the three queries of
 * thesis 3.7 (AOverB, Over, Catch). Everything lives in one arena that a fixture opens and closes.
 */
#ifndef TESTS_NETGEN_QUERIES_H
#define TESTS_NETGEN_QUERIES_H

#include "netgen/netgen.h"

extern struct base_arena *nq_arena;
extern struct base_strings *nq_strings;

/* A bit for each rule. */
#define NQ_RULE(NAME) (UINT64_C(1) << NG_RULE_##NAME)
#define NQ_ALL_RULES  ((UINT64_C(1) << NG_RULES) - 1)

/* Choices of rules, as bits, to be tried: none, all, each one off, each one alone, and others. */
enum { NQ_RULE_CHOICES = 2 + 2 * NG_RULES + 64 };
uint64_t nq_rule_choice(unsigned index);

void nq_set_up(void);
void nq_tear_down(void);

/* Iteration (Process = c20, IterNum = i4), traced by Process. */
const struct ng_relation *nq_iteration(void);
/* A relation of COUNT integer domains named A, B, ... of WIDTH bytes. */
const struct ng_relation *nq_relation(const char *name, enum ng_relation_kind kind, unsigned count,
                                      uint32_t width);
/* Relations with sensors, which are switched by Process: ExecutionStatus (Process = i4, State = c8), traced
 * by Process; Load (Process = i4, Load = i4), sampled by Process. */
const struct ng_relation *nq_execution_status(void);
const struct ng_relation *nq_load(void);
/* Fed (Process = i4, Cage = i4, Amount = i4), traced by the domain BY, and switched by Process and Cage. */
const struct ng_relation *nq_fed(int by);
/* NAME (Process = i4), periods. */
const struct ng_relation *nq_processes(const char *name);
const struct ng_relation *nq_clock(int64_t every);
/* The query of thesis 7.2.1, over ExecutionStatus and F; AT_START: when E.start , F. */
const struct ng_query *nq_stop_running(bool at_start);
/* Load of the processes 3 and 5 when Clock(10) ticks. */
const struct ng_query *nq_load_at_ticks(void);
const struct ng_query *nq_load_at_events(void);
/* Since when those had been what they are. */
const struct ng_query *nq_load_since(void);
/* The derived relation that QUERY defines. */
const struct ng_relation *nq_derived(const struct ng_query *query);

/* A query over COUNT variables V, W, X, ... (or NAMES) of the relations; all take part outside. */
struct ng_query *nq_query(const char *name, unsigned count, const char *const *names,
                          const struct ng_relation *const *relations);
/* Adds a target; then call nq_finish. */
void nq_target(struct ng_query *query, const char *name, const struct ng_expr *expr);
unsigned nq_aggregate(struct ng_query *query, struct ng_aggregate aggregate);
/* Result class and layout from clauses and targets. */
const struct ng_query *nq_finish(struct ng_query *query, enum net_tuple_class result_class);

const struct ng_expr *nq_domain(const struct ng_query *query, unsigned variable, const char *name);
const struct ng_expr *nq_integer(int64_t value);
const struct ng_expr *nq_string(const char *text);
const struct ng_expr *nq_aggregate_value(const struct ng_query *query, unsigned index);
const struct ng_expr *nq_convert(const struct ng_expr *expr, struct net_type type);
const struct ng_expr *nq_binary(enum ng_op op, const struct ng_expr *a, const struct ng_expr *b);
const struct ng_expr *nq_not(const struct ng_expr *a);
/* temporal expressions */
const struct ng_expr *nq_variable(const struct ng_query *query, unsigned variable);
const struct ng_expr *nq_start(const struct ng_expr *expr);
const struct ng_expr *nq_stop(const struct ng_expr *expr);
const struct ng_expr *nq_constant(net_chronon time);
const struct ng_expr *nq_temporal(enum ng_op op, const struct ng_expr *a, const struct ng_expr *b);
const struct ng_expr *nq_holds(const struct ng_expr *expr);

const struct ng_query *nq_a_over_b(void);
const struct ng_query *nq_over(const struct ng_relation *a_over_b);
/* CATCHES_DURING: when A , B.start, which expires; else the thesis's own A.start ; B.start. */
const struct ng_query *nq_catch(bool during);

#endif
