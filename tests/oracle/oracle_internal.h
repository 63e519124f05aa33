/* Inside of the reference evaluator: one combination of tuples and what expressions give on it. */
#ifndef ORACLE_INTERNAL_H
#define ORACLE_INTERNAL_H

#include "tests/oracle/oracle.h"

/* (n0 + n1 tau) / (d0 + d1 tau). */
struct oracle_function {
  long double n0, n1, d0, d1;
};

struct oracle_value {
  enum net_base_type base;
  int64_t i;
  double f;
  base_string_id s;
  enum net_truth truth; /* NET_BOOL */
  struct oracle_function function;
};

/* A stretch of time during which an aggregate has one value, in one group. Its time is determinate,
 * but for extendc.                                                                                */
struct oracle_segment {
  const struct oracle_value *by;
  struct net_period time;
  bool definite;
  struct oracle_value value; /* temporal: tau counts from time.start.lo */
  struct net_period chosen;  /* earliest, latest: of the tuple; an event in its start */
  bool chosen_event;
};

struct oracle_segments {
  struct oracle_segment *items;
  size_t count, capacity;
};

struct oracle {
  struct base_arena *arena;
  const struct oracle_world *world;
  const struct ng_query *query; /* without its variables of costs: */
  const struct ng_variable *costs;
  size_t cost_count;
  struct oracle_relation *inputs;         /* by variable, compensated, credibility applied */
  net_chronon origin;                     /* of the aggregates */
  bool no_origin;                         /* there is no tuple that could give one */
  struct oracle_segments *aggregates;     /* by aggregate */
  const struct oracle_tuple **tuples;     /* the combination: by variable, NULL: takes no part */
  const struct oracle_segment **segments; /* by aggregate */
  const struct oracle_segment *
      *doubts; /* by aggregate: the part of the time line, NULL: all of it */
  bool rebase; /* temporal values count from REBASE_TO */
  net_chronon rebase_to;
  bool at_chronon; /* comparisons of temporal values are asked for at CHRONON */
  net_chronon chronon;
  long double cut_length; /* to the last chronon of what is cut, in units; < 0: for ever */
  bool absent;            /* a condition of an unless clause is asked for: `;` is as ever there */
  struct oracle_matches *matches; /* where combinations are collected, or NULL */
  bool may_fail;                  /* an error that may count or not */
  const char *error;              /* the first one */
};

/* One alternative of a temporal expression. OWN_START and OWN_STOP say of which tuple's start (twice
 * its number) or stop (twice its number, plus one) the instants are; -1: of none. Variables come
 * first in the numbers, then aggregates.                                                            */
struct oracle_alternative {
  enum net_truth condition;
  struct net_instant start, stop;
  bool event;
  int own_start, own_stop;
};

struct oracle_alternatives {
  struct oracle_alternative *items;
  size_t count, capacity;
};

bool oracle_fail(struct oracle *oracle, const char *error); /* false */

/* scalar.c */
struct oracle_value oracle_scalar(struct oracle *oracle, const struct ng_expr *expr);
/* T when EXPR is NULL. */
enum net_truth oracle_condition(struct oracle *oracle, const struct ng_expr *expr);
bool oracle_equal_values(const struct oracle *oracle, const struct oracle_value *a,
                         const struct oracle_value *b);
/* <0, 0, >0; strings by bytes. Not of temporal values. */
int oracle_compare_values(struct oracle *oracle, const struct oracle_value *a,
                          const struct oracle_value *b);
struct oracle_value oracle_stored_value(struct net_type type, const union net_slot *slot);
long double oracle_units(const struct oracle *oracle, net_chronon from, net_chronon to);

/* function.c */
struct oracle_function oracle_normal(struct oracle_function function);
struct oracle_function oracle_moved(struct oracle_function function, long double by);
bool oracle_same_function(struct oracle_function a, struct oracle_function b);
bool oracle_is_rounded(struct oracle_function function);
struct oracle_value oracle_temporal_operation(struct oracle *oracle, enum ng_op op,
                                              struct oracle_value a, struct oracle_value b);

/* text.c */
struct oracle_value oracle_text_operation(struct oracle *oracle, const struct ng_expr *expr,
                                          const struct oracle_value *a,
                                          const struct oracle_value *b);
/* lower, upper, trim, substring, position, substitute, split. */
struct oracle_value oracle_text_change(struct oracle *oracle, const struct ng_expr *expr,
                                       const struct oracle_value *a, const struct oracle_value *b,
                                       const struct oracle_value *c);
/* Of bytes, and what makes some of a text. */
struct oracle_value oracle_bytes_operation(struct oracle *oracle, const struct ng_expr *expr,
                                           const struct oracle_value *a,
                                           const struct oracle_value *b,
                                           const struct oracle_value *c);
/* The regular expressions that the generator writes mean the same in POSIX. */
bool oracle_finds(const struct oracle *oracle, base_string_id text, base_string_id expression);
struct oracle_value oracle_capture(struct oracle *oracle, const struct ng_expr *expr,
                                   base_string_id text, int64_t group);
bool oracle_matches(const struct oracle *oracle, base_string_id text, base_string_id pattern);
bool oracle_number_of_text(const char *text, struct net_type type, struct oracle_value *ret);

/* cut.c: comparisons of temporal values hold for a part of a period only. */
struct oracle_piece {
  struct net_period time;
  enum net_truth truth;
};
struct oracle_pieces {
  struct oracle_piece *items;
  size_t count;
};
bool oracle_has_cut(const struct ng_expr *condition);
/* The condition over TIME, in maximal pieces. */
void oracle_cut(struct oracle *oracle, const struct ng_expr *condition, struct net_period time,
                struct oracle_pieces *ret);
/* Of an event result at AT. */
enum net_truth oracle_cut_event(struct oracle *oracle, const struct ng_expr *condition,
                                struct net_instant at);
/* A comparison's operands as functions from oracle->rebase_to, at oracle->chronon. */
enum net_truth oracle_temporal_comparison(struct oracle *oracle, enum ng_op op,
                                          struct oracle_function a, struct oracle_function b);

/* absence.c: what the unless clauses leave of a result that lasts for TIME (an event: in its start) and of which
 * TRUTH is known; pieces may be F. */
void oracle_left(struct oracle *oracle, struct net_period time, enum net_truth truth,
                 struct oracle_pieces *ret);

/* temporal.c */
void oracle_temporal(struct oracle *oracle, const struct ng_expr *expr,
                     struct oracle_alternatives *ret);
enum net_truth oracle_holds(struct oracle *oracle, const struct ng_expr *expr);
enum net_truth oracle_overlap(const struct oracle_alternative *a,
                              const struct oracle_alternative *b);
struct oracle_alternative oracle_of_tuple(const struct oracle *oracle, unsigned variable);
struct oracle_alternative oracle_of_segment(const struct oracle *oracle, size_t index);

/* compensate.c: the tuples of VARIABLE's relation, as the costs of the query want them */
struct oracle_relation oracle_compensated(struct oracle *oracle, const struct ng_variable *variable,
                                          const struct oracle_relation *periods);

/* closest.c: does nothing that goes with either side lie between FROM and TO? */
enum net_truth oracle_closest(struct oracle *oracle, const struct ng_expr *sequence,
                              struct net_instant from, struct net_instant to);
void oracle_ask_alone(struct oracle *oracle); /* what of it fails may fail the query */

/* aggregate.c, aggregate_value.c */
void oracle_aggregate(struct oracle *oracle, size_t index, struct oracle_segments *ret);
/* Does the combination's segment of aggregate INDEX belong to the right group? */
bool oracle_right_group(struct oracle *oracle, size_t index);

/* missing.c: the time line in pieces, those not definite in which something may be missing of the group of
 * aggregate INDEX that the combination has; none: nothing is. */
void oracle_doubts(struct oracle *oracle, size_t index, struct oracle_segments *ret);

/* relation.c */
struct oracle_relation oracle_collapsed(struct oracle *oracle, const struct oracle_relation *input);
/* `retrieve coalesced`: tuples equal in the domains whose periods overlap or adjoin become one. */
void oracle_coalesce(struct oracle *oracle, struct oracle_relation *relation);
void oracle_rebase_row(const struct oracle *oracle, const struct net_layout *layout,
                       union net_slot *row, net_chronon from, net_chronon to);
bool oracle_same_domains(const struct net_layout *layout, const union net_slot *a,
                         net_chronon a_from, const union net_slot *b, net_chronon b_from,
                         enum net_timeline timeline);

#endif
