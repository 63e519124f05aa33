/* Help outside a session: the program, its subcommands, the numbers of messages. */
#ifndef TQL_PROGRAM_HELP_H
#define TQL_PROGRAM_HELP_H

#include <stdbool.h>

#include "engine/base/buffer.h"

/* The subcommands. RUN gets the arguments behind the name. */
struct program_subcommand {
  const char *name;
  const char *what;  /* one line */
  const char *usage; /* of --help, without the options; NULL: as the table of options says */
  int not_executed;  /* the number of the answer, 0: there is a RUN */
  int (*run)(int count, char *const *arguments);
  /* What --help says behind WHAT, and the options as its lines; NULL: there are none. */
  const char *about;
  void (*describe_options)(struct base_buffer *out);
};
/* SUBCOMMANDS are those of the program; the last row has no name. They are not copied. Before anything else. */
void program_help_know(const struct program_subcommand *subcommands);

/* The row of NAME, or NULL. */
const struct program_subcommand *program_find_subcommand(const char *name);
/* The subcommand that NAME may be a slip of, or NULL. */
const char *program_nearest_command(const char *name);

/* Print, and return the exit code. NAME NULL: of the program itself. */
int program_help_command(const char *name);
int program_help_version(void);
int program_help_main(int count, char *const *arguments);

/* Appends the entry of the message TOPIC names ("TQ-0101", "101"); false: there is none such. */
bool program_help_message(const char *topic, struct base_buffer *out);

#endif
