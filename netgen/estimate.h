/* How many rows the nodes of a plan will have, as far as somebody knows how many tuples the relations
 * have. Guesses that serve to choose between equivalent plans; nothing else depends on them.
 *
 *   tuples of a relation      what the session says of it (ng_plan_set_statistics)
 *   a condition of one input  the share that a node with the same text let pass when it ran (also said
 *                             by the session); else 1/10 of an equality, 1/3 of an order, 1/2 of others
 *   two inputs                one of sqrt(n) combinations, n the tuples of the larger one, but of 10 at
 *                             least, for each equality, and as many for a time in common         */
#ifndef NG_ESTIMATE_H
#define NG_ESTIMATE_H

#include "netgen/plan.h"

struct ng_estimate {
  double *rows; /* of each input, after the conditions that concern it alone */
  double *tuples;
};

/* Estimates the COUNT inputs of the products under TOP; false: of one of them nothing is known. */
bool ng_estimate_inputs(struct ng_plan *plan, struct ng_node *const *inputs, size_t count,
                        const struct ng_node *top, struct ng_estimate *ret);
/* The share of the combinations of inputs I and J that an equality, or a time in common, leaves. */
double ng_estimate_share(const struct ng_estimate *estimate, size_t i, size_t j);

#endif
