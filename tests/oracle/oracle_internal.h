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

/* A stretch of time during which an aggregate has one value, in one group. */
struct oracle_segment {
  const struct oracle_value *by;
  net_chronon start, stop;
  bool definite;
  struct oracle_value value; /* temporal: tau counts from START */
};

struct oracle_segments {
  struct oracle_segment *items;
  size_t count, capacity;
};

struct oracle {
  struct base_arena *arena;
  const struct oracle_world *world;
  const struct ng_query *query;
  struct oracle_relation *inputs;         /* by variable, credibility applied */
  struct oracle_segments *aggregates;     /* by aggregate */
  const struct oracle_tuple **tuples;     /* the combination: by variable, NULL: takes no part */
  const struct oracle_segment **segments; /* by aggregate */
  bool rebase;                            /* temporal values count from REBASE_TO */
  net_chronon rebase_to;
  const char *error; /* the first one */
};

/* One alternative of a temporal expression. OWN_START and OWN_STOP say of which tuple's start (twice
 * its variable) or stop (twice its variable, plus one) the instants are; -1: of none.             */
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
struct oracle_function oracle_normal(struct oracle_function function);
struct oracle_function oracle_moved(struct oracle_function function, long double by);
bool oracle_same_function(struct oracle_function a, struct oracle_function b);

/* temporal.c */
void oracle_temporal(struct oracle *oracle, const struct ng_expr *expr,
                     struct oracle_alternatives *ret);
enum net_truth oracle_holds(struct oracle *oracle, const struct ng_expr *expr);
enum net_truth oracle_overlap(const struct oracle_alternative *a,
                              const struct oracle_alternative *b);
struct oracle_alternative oracle_of_tuple(const struct oracle *oracle, unsigned variable);
struct oracle_alternative oracle_of_segment(const struct oracle_segment *segment);

/* aggregate.c */
void oracle_aggregate(struct oracle *oracle, size_t index, struct oracle_segments *ret);
/* Does the combination's segment of aggregate INDEX belong to the right group? */
bool oracle_right_group(struct oracle *oracle, size_t index);

#endif
