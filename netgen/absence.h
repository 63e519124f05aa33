/* Networks for `unless`: anti-joins and differences (absence.c). */
#ifndef NG_ABSENCE_H
#define NG_ABSENCE_H

#include "netgen/lower.h"
#include "netgen/plan.h"

/* Above TOP, for an absence of QUERY: its rows that have no partner among those of RIGHT. WHERE (NULL: true) and WHEN are lowered, over columns of
 * both. */
struct ng_node *ng_anti_join(struct ng_plan *plan, const struct ng_query *query,
                             const struct ng_absence *absence, struct ng_node *top,
                             struct ng_node *right, const struct ng_expr *where,
                             const struct ng_expr *when);
/* Above TOP, periods: the portions at which no partner is valid, with the first KEPT_FIELDS of its fields. */
struct ng_node *ng_difference(struct ng_plan *plan, const struct ng_query *query,
                              const struct ng_absence *absence, struct ng_node *top,
                              struct ng_node *right, const struct ng_expr *where,
                              size_t kept_fields);

#endif
