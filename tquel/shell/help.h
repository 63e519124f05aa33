/* Help outside a session: the program, its subcommands, the numbers of messages. */
#ifndef TQL_SHELL_HELP_H
#define TQL_SHELL_HELP_H

#include <stdbool.h>

#include "engine/base/buffer.h"

/* The subcommands. RUN gets the arguments behind the name. */
struct shell_subcommand {
  const char *name;
  const char *what;  /* one line */
  const char *usage; /* of --help, without the options; NULL: as the table of options says */
  int not_executed;  /* the number of the answer, 0: there is a RUN */
  int (*run)(int count, char *const *arguments);
};
/* main.c's table; the last row has no name. */
extern const struct shell_subcommand shell_subcommands[];

/* The row of NAME, or NULL. */
const struct shell_subcommand *shell_find_subcommand(const char *name);
/* The subcommand that NAME may be a slip of, or NULL. */
const char *shell_nearest_command(const char *name);

/* Print, and return the exit code. NAME NULL: of the program itself. */
int shell_help_command(const char *name);
int shell_help_version(void);
int shell_help_main(int count, char *const *arguments);

/* Appends the entry of the message TOPIC names ("TQ-0101", "101"); false: there is none such. */
bool shell_help_message(const char *topic, struct base_buffer *out);

#endif
