/* The table of operations: what each takes from the stack, what it leaves, whether it can fail. For
 * expr.c and expr_print.c only.
 *
 * A signature names the operands from the bottom up, then the one result: i integer, f float,
 * s string, t truth, x instant, m temporal; a (only as a result) is a slot whose type the program
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

enum { NET_OP_COUNT = NET_OP_CHRONON + 1 };

/* The row of OP; OP must be an operation (BASE_CHECK). */
const struct net_op_info *net_op_info(enum net_op op);

/* A T_ step on ARGS (operands as the table says); leaves its result in ARGS[0]. expr_temporal.c. */
enum net_eval_error net_temporal_operation(const struct net_program *program, enum net_op op,
                                           struct net_value *args);

#endif
