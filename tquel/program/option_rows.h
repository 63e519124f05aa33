/* Options of a subcommand with a table of its own (sdf, collect): found, told apart from what is no option,
 * listed for --help. The shell's own options are in options.c.                                       */
#ifndef TQL_PROGRAM_OPTION_ROWS_H
#define TQL_PROGRAM_OPTION_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/buffer.h"
#include "engine/base/diag.h"

struct program_option_row {
  const char *name, *value, *what; /* VALUE: what --help calls it; NULL: there is none */
};

struct program_option_rows {
  const char *command; /* tquel COMMAND */
  const struct program_option_row *rows;
  size_t count;
  int width; /* of the column of names in --help */
};

void program_option_rows_describe(const struct program_option_rows *rows, struct base_buffer *out);

/* Reports a mistake of usage: TEXT is a format with VALUE; HINT NULL: the command's --help. Returns false. */
bool program_option_wrong(const struct program_option_rows *rows, struct base_diag_sink *diags,
                          const char *hint, const char *text, const char *value);

/* The row of ARGUMENT, --NAME or --NAME=VALUE; COUNT of rows after a report. *RET_VALUE: behind the '=', else
 * NULL; an option without a value does not get one. */
size_t program_option_find(const struct program_option_rows *rows, struct base_diag_sink *diags,
                           const char *argument, const char **ret_value);

#endif
