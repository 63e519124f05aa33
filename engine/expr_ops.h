/* The table of operations: what each takes from the stack, what it leaves, whether it can fail. For
 * expr.c and expr_print.c only.
 *
 * A signature names the operands from the bottom up, then the one result: i integer, f float,
 * s string or bytes, t truth, x instant, m temporal; a (only as a result) is a slot whose type the program
 * does not say: integer, float or string.                                                          */
#ifndef NET_EXPR_OPS_H
#define NET_EXPR_OPS_H

#include "engine/expr.h"

struct net_op_info {
  const char *operands; /* "ii" */
  uint8_t operand_count;
  char result;
  bool can_fail;
  const char *name; /* how explain writes it: an infix operator's sign, or a function's name */
};

enum { NET_OP_COUNT = NET_OP_CALENDAR + 1 };

/* The row of OP; OP must be an operation (BASE_CHECK). */
const struct net_op_info *net_op_info(enum net_op op);

/* A T_ step on ARGS (operands as the table says); leaves its result in ARGS[0]. expr_temporal.c. */
enum net_eval_error net_temporal_operation(const struct net_program *program, enum net_op op,
                                           struct net_value *args);
/* VALUE, the result of a program, in normal form. */
enum net_eval_error net_temporal_result(struct net_value *value);
/* Is all that PROGRAM does to move a value of the row? */
bool net_rebases_only(const struct net_program *program);
/* T_COMPARE. expr_compare.c. */
enum net_eval_error net_temporal_compare(const struct net_program *program,
                                         enum net_comparison comparison,
                                         const struct net_moment *moment, struct net_value *args);
/* Steps that take or make strings. expr_string.c. */
enum net_eval_error net_string_operation(const struct net_program *program,
                                         const struct net_step *step, struct net_value *args);
/* Of these the ones that take texts apart or change them. expr_text.c. */
enum net_eval_error net_text_operation(const struct net_program *program, enum net_op op,
                                       struct net_value *args);
/* Steps on bytes. expr_bytes.c. */
enum net_eval_error net_bytes_operation(const struct net_program *program,
                                        const struct net_step *step, struct net_value *args);
/* Steps on instants. expr_time.c. */
enum net_eval_error net_time_operation(const struct net_step *step, struct net_value *args);
/* The second form of a finished program, if it has one; the arena keeps its steps (of this size, so many
 * at most for a step). expr_quick.c. */
enum { NET_QUICK_STEPS = 3 };
void net_quick_make(struct net_program *program);
size_t net_quick_step_size(void);
/* Runs it: false when a step fails, and the stack machine is to be asked. */
bool net_quick_run(const struct net_program *program, const union net_slot *row, int64_t *ret);
/* Does COMPARISON hold for operands in that ORDER (<0, 0, >0)? */
enum net_truth net_comparison_holds(enum net_comparison comparison, int order);

#endif
