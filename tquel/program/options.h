/* The command line of the shell and of the subcommands that read statements or talk to a server. One table of options serves reading, "did you
 * mean" and --help.                                                                                 */
#ifndef TQL_PROGRAM_OPTIONS_H
#define TQL_PROGRAM_OPTIONS_H

#include "engine/base/diag.h"
#include "engine/time.h"

/* -c STATEMENTS or -f FILE, in the order given. */
struct program_item {
  bool is_file;
  const char *text;
};

struct program_options {
  const char *database; /* NULL: in memory */
  struct program_item *items;
  size_t item_count, item_capacity;
  const char **variables; /* NAME=VALUE, in the order given */
  size_t variable_count, variable_capacity;
  int format; /* enum tql_format, -1: not given */
  bool timeline_given;
  enum net_timeline timeline;
  bool readonly, quiet, timing, single_transaction;
  bool help, version;
  bool rules_off;
  uint32_t batch_rows;
  /* tquel explain */
  const char *explain_file;
  const char *explain_as;
  /* who talks to a server: where it is; NULL: where servers are by default. Over TLS: files */
  const char *connect, *authority, *certificate, *key, *token_file;
  /* tquel serve */
  const char *socket, *listen, *client_authority, *group;
  size_t memory, statement_memory; /* MiB; 0: not given */
  size_t log_limit;                /* MiB of the write-ahead log; 0: not given */
  int64_t time_limit_ns;           /* 0: none */
  size_t connections, statements;  /* of a user; 0: not given */
  /* tquel feed */
  const char *relation;
  const char *input_format;
  int64_t within_ns;
};

/* Which command line is read. */
enum program_command { PROGRAM_RUN = 1, PROGRAM_EXPLAIN = 2, PROGRAM_SERVE = 4, PROGRAM_FEED = 8 };

/* Reads ARGUMENTS (without the program's name and the subcommand). The strings are not copied. False:
 * wrong usage, reported. Free with program_options_done in either case.                               */
bool program_options_read(struct program_options *options, enum program_command command, int count,
                          char *const *arguments, struct base_diag_sink *diags);
void program_options_done(struct program_options *options);

/* The options of COMMAND as lines of --help. */
void program_options_describe(enum program_command command, struct base_buffer *out);

#endif
