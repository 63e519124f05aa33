/* The shell's variables: \set NAME VALUE, -v NAME=VALUE; $NAME in statements (tquel/lang/variables.h). */
#ifndef TQL_SHELL_VARIABLES_H
#define TQL_SHELL_VARIABLES_H

#include "engine/base/diag.h"

struct shell_variable {
  char *name, *value;
};

struct shell_variables {
  struct shell_variable *items; /* by their names */
  size_t count, capacity;
};

/* What follows \set: "NAME VALUE" sets (a VALUE in double quotes is what stands in them), "" puts all to OUT. False: reported. */
bool shell_variables_command(struct shell_variables *variables, const char *argument,
                             struct base_diag_sink *diags, struct base_buffer *out);
/* What follows \unset. */
bool shell_variables_unset(struct shell_variables *variables, const char *argument,
                           struct base_diag_sink *diags);
/* NAME=VALUE, as -v gives it. False: it is none. */
bool shell_variables_assign(struct shell_variables *variables, const char *text);
/* TEXT with its variables replaced; it may be TEXT itself. NULL: one has no value, which is reported for SOURCE.
 * SCRATCH keeps it. */
const char *shell_variables_expand(const struct shell_variables *variables, const char *source,
                                   const char *text, size_t *length, struct base_diag_sink *diags,
                                   struct base_buffer *scratch);
void shell_variables_done(struct shell_variables *variables);

#endif
