/* The rules, and what they do for each other: netgen's own.
 *
 *      transform.c ──▶ one function a rule ──▶ services of other rules ──▶ plan.h
 *
 * A rule is a function over the plan that leaves it valid (plan.h says what that means) and gives the same
 * results: on or off is a matter of speed only. It knows of other rules only what stands here; who runs them, and in
 * which order, is transform.c's. */
#ifndef NG_RULES_RULES_H
#define NG_RULES_RULES_H

#include "netgen/plan.h"

#define RULE(RULE, FUNCTION, NAME, WHAT) void ng_rule_##FUNCTION(struct ng_plan *plan);
#include "netgen/rules.def"
#undef RULE

/* Says that RULE changed something; FORMAT is printed once, as the rule's line of explain. */
void ng_rule_changed(struct ng_plan *plan, enum ng_rule rule, size_t count, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* --- services of rules to others */

/* Which columns of its output are read above each of PLAN->nodes, by column id (rules/unused_domains.c); in the plan's
 * arena. */
bool *const *ng_plan_needs(struct ng_plan *plan);

/* May SELECTION be moved: can its condition not fail, or is it to be seen whether it does? */
bool ng_selection_moves(const struct ng_node *selection);
/* Moves SELECTION, of which that is true, as far down as it goes (rules/predicates_down.c); false: it
 * stays. The plan is to be refreshed. */
bool ng_selection_down(struct ng_plan *plan, struct ng_node *selection);

/* Makes a switch-disposition one with the projection below it, where nothing but the start of a tuple's own
 * period is asked for (rules/unused_domains.c); false: NODE is none, or something else is. */
bool ng_switch_merge(struct ng_plan *plan, struct ng_node *node);

/* Is COLUMN a domain of ACCESS, *RET_DOMAIN, by which the sensor of its relation is switched (rules/control_arcs.c)? */
bool ng_rule_is_object(const struct ng_node *access, const struct ng_column *column,
                       uint32_t *ret_domain);
/* Is NODE an access node of a sampled relation that sensors make, read for its tuples? */
bool ng_rule_is_sampled(const struct ng_node *node);
/* The product in which ACCESS, one of those, meets what is at *RET_PORT, if nobody asks of its samples more than
 * what held at the instants of that, which are events or are taken for some (rules/clock_samples.c); NULL:
 * somebody does. */
const struct ng_node *ng_rule_samples_met(const struct ng_plan *plan, const struct ng_node *access,
                                          unsigned *ret_port);
/* Makes PRODUCT, of the full rule, an overlap product if the conditions above it say so, and drops those that
 * it tests itself (rules/product_rule.c); false: they do not. The plan is to be refreshed before. */
bool ng_product_overlaps(struct ng_plan *plan, struct ng_node *product);
/* Do the conditions above PRODUCT, of the full rule, say until when rows of both sides are kept
 * (rules/partial_overlap.c)? *RET, in the plan's arena: until when. */
bool ng_product_bounds(struct ng_plan *plan, const struct ng_node *product,
                       struct ng_expiry *ret[2], size_t ret_counts[2]);
/* Do they say that no row at PORT of it is kept once INSTANT of PARTICIPANT, its start or its stop, is over? */
bool ng_product_keeps_until(struct ng_plan *plan, const struct ng_node *product, unsigned port,
                            struct ng_participant participant, const struct ng_column *instant);

#endif
