/* Networks for `;` under `set sequence closest` (closest.c). */
#ifndef NG_CLOSEST_H
#define NG_CLOSEST_H

#include "netgen/lower.h"
#include "netgen/plan.h"

struct ng_closest {
  struct ng_plan *plan;
  const struct ng_lowering *lowering;
  /* The leaf of the query's variable VARIABLE, which from then on takes part. */
  struct ng_node *(*leaf)(void *context, unsigned variable);
  void *context;
};

/* Builds the network of each such sequence among the conjuncts of CONDITION. */
void ng_closest_each(const struct ng_closest *closest, const struct ng_expr *condition,
                     void (*each)(void *context, struct ng_node *node), void *context);

#endif
