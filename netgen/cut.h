/* Comparisons of temporal values, which cut periods. See cut.c. */
#ifndef NG_CUT_H
#define NG_CUT_H

#include "netgen/expr.h"

/* Has EXPR, bound or lowered, a comparison of temporal values in it? */
bool ng_changes_with_time(const struct ng_expr *expr);
/* CONDITION, over *TOP's columns and with temporal values counted from PROJECTION's start, as one over
 * PROJECTION's rows. PROJECTION, which is to stand above *TOP and has its start already, gets the columns
 * that are read; *TOP grows by applies. */
const struct ng_expr *ng_cut_condition(struct ng_plan *plan, struct ng_node *projection,
                                       struct ng_node **top, const struct ng_expr *condition);
/* VALUE, a target over *TOP's columns, as one over the rows of a cut above PROJECTION, likewise. */
const struct ng_expr *ng_cut_target(struct ng_plan *plan, struct ng_node *projection,
                                    struct ng_node **top, const struct ng_expr *value);
/* Is EXPR the time of a tuple, or a value that counts from it? */
bool ng_is_of_own_time(const struct ng_expr *expr);
/* A cut above INPUT that keeps its first KEPT_FIELDS fields. */
struct ng_node *ng_cut_node(struct ng_plan *plan, struct ng_node *input, size_t kept_fields,
                            const struct ng_expr *condition);

/* A cut above TOP (and the applies that it needs) that keeps all fields. CONDITION is over TOP's
 * columns. */
struct ng_node *ng_cut_rows(struct ng_plan *plan, struct ng_node *top,
                            const struct ng_expr *condition);

#endif
