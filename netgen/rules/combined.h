/* What combined_events.c and combined_periods.c share: one side of a full product comes through a projection
 * whose rows have the same columns (ng_node.carries), but another time of their own. Attempts are made on the
 * plan itself, and undone where they are good for nothing. */
#ifndef NG_RULES_COMBINED_H
#define NG_RULES_COMBINED_H

#include "netgen/plan.h"

/* The nodes above a product, in order, up to the projection that makes the result. */
struct ng_above {
  struct ng_node **nodes;
  size_t count, capacity;
};

/* The plan as it was before an attempt. */
struct ng_before {
  struct ng_node **nodes;
  struct ng_node *copies;
  size_t count, capacity;
  struct ng_node **results; /* of its queries */
  size_t trials;            /* how many attempts there have been */
};

/* All of this lives in the plan's arena. */
/* *RET is empty, or what was remembered of PLAN before, whose room it takes. */
void ng_combined_remember(const struct ng_plan *plan, struct ng_before *ret);
void ng_combined_restore(struct ng_plan *plan, const struct ng_before *before);

/* False: others than full products, and what follows them, read PRODUCT's rows. */
bool ng_combined_above(struct ng_plan *plan, const struct ng_node *product, struct ng_above *ret);

/* Is EXPR an instant of SIDE's rows? It may be computed, and computing it may fail. */
bool ng_combined_is_instant(const struct ng_expr *expr, const struct ng_node *side);

/* Everything above that read INSTANT reads COLUMN. */
void ng_combined_read(struct ng_plan *plan, const struct ng_above *above,
                      const struct ng_expr *instant, const struct ng_column *column);

/* SIDE below what the conditions on it alone ask: those that read a stop, which predicates-down leaves above,
 * or did before it was an event's. */
struct ng_node *ng_combined_select(struct ng_plan *plan, const struct ng_above *above,
                                   struct ng_node *side);

/* SIDE with a column that is INSTANT, *RET. */
struct ng_node *ng_combined_instant(struct ng_plan *plan, struct ng_node *side,
                                    const struct ng_expr *instant, const struct ng_column **ret);

/* SIDE's rows, with those of COLUMNS that are not open, at FROM, which is AT then. */
struct ng_node *ng_combined_project(struct ng_plan *plan, struct ng_node *side,
                                    const struct ng_columns *columns, const struct ng_column *from,
                                    const struct ng_column *at);

/* What rows above SIDE have of it: its fields, and the times that a plain input has as its implicit ones. */
struct ng_columns ng_combined_columns(struct ng_plan *plan, const struct ng_node *side);

/* Does anything above read one of COLUMNS, but STOP, that is open? */
bool ng_combined_lacks(const struct ng_above *above, const struct ng_columns *columns,
                       const struct ng_column *stop);

#endif
