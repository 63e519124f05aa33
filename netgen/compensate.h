/* Compensation of a query's traced relations (compensate.c). */
#ifndef NG_COMPENSATE_H
#define NG_COMPENSATE_H

#include "netgen/plan.h"

/* PERIODS, the tuples of VARIABLE, as QUERY wants them: corrected, if their relation is among those of
 * costs. */
struct ng_node *ng_compensated(struct ng_plan *plan, const struct ng_query *query,
                               const struct ng_variable *variable, struct ng_node *periods);

#endif
