/* Lowering: from the bound query's expressions to expressions over columns and instants.
 *
 * A temporal expression becomes alternatives (condition, start, stop), the normal form over `|` of
 * thesis 4.5.1; a condition the disjunction of its alternatives' conditions. */
#ifndef NG_LOWER_H
#define NG_LOWER_H

#include "netgen/expr.h"

/* What a variable or an aggregate of the query has become; zeroed: it takes no part here. */
struct ng_lowered_input {
  const struct ng_column *start, *stop; /* STOP NULL: events */
  const struct ng_column **fields;      /* by index into the relation's layout */
};

struct ng_lowering {
  struct ng_plan *plan;
  const struct ng_query *query;
  struct ng_lowered_input *variables;  /* as the query's variables */
  const struct ng_column **aggregates; /* value column of each aggregate */
  const struct ng_column **groups;     /* of a summary: by the place in the by lists */
  struct ng_lowered_input *aggregate_inputs;
  struct ng_lowered_input *chosen; /* of each aggregate: the times of the tuple it chose */
  /* Where temporal values count from in the result; NULL: they are left as they are. */
  const struct ng_column *rebase_to;
};

struct ng_alternative {
  const struct ng_expr *condition;    /* NULL: T */
  const struct ng_expr *start, *stop; /* of an event the same */
  bool event;
};

struct ng_alternatives {
  struct ng_alternative *items;
  size_t count, capacity;
};

void ng_lower_temporal(const struct ng_lowering *lowering, const struct ng_expr *expr,
                       struct ng_alternatives *ret);
/* Scalars and truths. */
const struct ng_expr *ng_lower(const struct ng_lowering *lowering, const struct ng_expr *expr);
/* The conjunction of overlap conditions of two participants of a combination. */
const struct ng_expr *ng_lower_overlap(struct base_arena *arena, struct ng_alternative a,
                                       struct ng_alternative b);

#endif
