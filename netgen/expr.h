/* Expressions in netgen: making, comparing, asking, normal form, printing, compiling.
 *
 * After lowering (lower.h) an expression is over columns and instants; all functions here take
 * lowered expressions. Expressions are immutable, so trees share subtrees freely. */
#ifndef NG_EXPR_H
#define NG_EXPR_H

#include "netgen/plan.h"

/* --- make */
struct ng_expr *ng_expr_new(struct base_arena *arena, enum ng_op op, struct net_type type);
const struct ng_expr *ng_expr_column(struct base_arena *arena, const struct ng_column *column);
const struct ng_expr *ng_expr_instant(struct base_arena *arena, struct net_instant instant);
const struct ng_expr *ng_expr_truth(struct base_arena *arena, bool value);
/* An operator of ARG_COUNT operands; truths for conditions, instants for LATER, EARLIER, INTERSECT.
 */
const struct ng_expr *ng_expr_make(struct base_arena *arena, enum ng_op op, unsigned arg_count,
                                   const struct ng_expr *const *args);
/* Conjunction; NULL is T on either side. */
const struct ng_expr *ng_expr_and(struct base_arena *arena, const struct ng_expr *left,
                                  const struct ng_expr *right);

/* --- ask */
/* The comparison that holds when its operands are exchanged: < for >. Others as they are. */
enum ng_op ng_op_mirrored(enum ng_op op);
/* So many operands of EXPR, 1 or 2, and as many behind them may change places when the operator is mirrored;
 * 0: none may. */
unsigned ng_expr_turning_operands(const struct ng_expr *expr);
bool ng_expr_equal(const struct ng_expr *a, const struct ng_expr *b);
/* Marks the columns that EXPR reads in USED, indexed by column id. */
void ng_expr_mark(const struct ng_expr *expr, bool *used);
/* Does NODE have all columns that EXPR reads? */
bool ng_expr_fits(const struct ng_expr *expr, const struct ng_node *node);
bool ng_expr_reads(const struct ng_expr *expr, const struct ng_column *column);
bool ng_expr_reads_nothing(const struct ng_expr *expr);
/* EXPR with TO in the place of FROM. */
const struct ng_expr *ng_expr_substitute(struct base_arena *arena, const struct ng_expr *expr,
                                         const struct ng_column *from, const struct ng_column *to);
/* A comparison of temporal values, whose truth changes with time. */
bool ng_expr_is_temporal_comparison(const struct ng_expr *expr);
/* Reads a stop that may be open. */
bool ng_expr_reads_open(const struct ng_expr *expr);
/* Can its evaluation fail at run time? Integer ranges are followed through the arithmetic, so that
 * i4 + 1 cannot. */
bool ng_expr_can_fail(const struct ng_expr *expr);
/* The values an integer expression can have; the whole of int64 when it may overflow. */
void ng_expr_range(const struct ng_expr *expr, int64_t *ret_lo, int64_t *ret_hi);

/* EXPR, or the name that it makes a string of: both are the same words, in slots that are equal when they are. */
const struct ng_expr *ng_expr_words(const struct ng_expr *expr);

/* What of the predicate of JOIN its keys do not say; NULL: nothing. */
const struct ng_expr *ng_join_rest(struct base_arena *arena, const struct ng_node *join);

/* --- normal form */
struct ng_exprs {
  const struct ng_expr **items;
  size_t count, capacity;
};
void ng_exprs_add(struct base_arena *arena, struct ng_exprs *list, const struct ng_expr *expr);
/* Appends the conjuncts of EXPR's conjunctive normal form. A part that can fail is never taken
 * apart, and a conjunct that would grow beyond reason stays as it is. */
void ng_expr_conjuncts(struct base_arena *arena, const struct ng_expr *expr,
                       struct ng_exprs *conjuncts);

/* --- print, compile */
/* Readable infix: A.IterNum > B.IterNum + 1. */
void ng_expr_print(struct base_buffer *out, const struct ng_plan *plan, const struct ng_expr *expr);

/* What is wanted of the rows of an access node, events or periods: k = 3 and stop >= 10. */
void ng_wanted_print(struct base_buffer *out, const struct ng_plan *plan,
                     const struct net_wanted *wanted, bool events);

/* Where a column is in the rows that a program runs over. */
typedef uint32_t (*ng_slot_fn)(void *context, const struct ng_column *column);
const struct net_program *ng_expr_compile(struct base_arena *arena, const struct ng_expr *expr,
                                          enum net_timeline timeline, struct base_strings *strings,
                                          ng_slot_fn slot, void *context);

#endif
