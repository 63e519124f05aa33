/* Shared by the two files of the printer. Internal to tquel/lang. */
#ifndef TQL_PRINT_H
#define TQL_PRINT_H

#include "tquel/lang/ast.h"

/* A name, in backticks where the lexer would take it for something else. */
void tql_print_name(struct base_buffer *out, const char *text);
void tql_print_string(struct base_buffer *out, const char *text, size_t length);
/* COMMA: the operator `,` may stand here without parentheses. */
void tql_print_operand(struct base_buffer *out, const struct tql_expr *expr, bool comma);

#endif
