/* Variables in statements: $NAME, and a name `$NAME`, to what stands for them. */
#ifndef TQL_VARIABLES_H
#define TQL_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/diag.h"

/* A letter or _, then letters, digits and _. */
bool tql_is_variable_name(const char *text, size_t length);

/* The value of the variable called by LENGTH bytes at NAME, or NULL. */
typedef const char *tql_value_fn(void *context, const char *name, size_t length);

/* Writes TEXT to OUT with values in the place of variables: $NAME outside of strings and comments is a constant, which a
 * value that reads as a number, a duration, true or false is as it stands, and any other as a string; `$NAME` is a
 * name. Nothing in a value is more than that. Values have no line ends as they are written, so lines stay lines.
 * False: a variable has no value; *RET_NAME, of *RET_LENGTH bytes in TEXT, and *RET_RANGE say which.   */
bool tql_put_values(const char *text, size_t length, tql_value_fn *value, void *context,
                    struct base_buffer *out, struct base_range *ret_range, const char **ret_name,
                    size_t *ret_length);

#endif
