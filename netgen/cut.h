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
/* Is VALUE, over the columns of a cut's input, to be computed above the cut? It can fail, and an error of what
 * the cut leaves out does not count. */
bool ng_waits_for_cut(const struct ng_expr *value);
/* Such a VALUE over the rows of a cut above PROJECTION, likewise; PROJECTION NULL: of one above *TOP, which keeps
 * all fields. */
const struct ng_expr *ng_cut_target(struct ng_plan *plan, struct ng_node *projection,
                                    struct ng_node **top, const struct ng_expr *value);
/* A cut above INPUT that keeps its first KEPT_FIELDS fields. */
struct ng_node *ng_cut_node(struct ng_plan *plan, struct ng_node *input, size_t kept_fields,
                            const struct ng_expr *condition);

/* A cut above TOP (and the applies that it needs) that keeps all fields. CONDITION is over TOP's
 * columns. */
struct ng_node *ng_cut_rows(struct ng_plan *plan, struct ng_node *top,
                            const struct ng_expr *condition);

#endif
