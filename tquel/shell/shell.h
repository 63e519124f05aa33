/* The shell: scripts and the interactive loop over a session. */
#ifndef TQL_SHELL_H
#define TQL_SHELL_H

#include "tquel/shell/backend.h"
#include "tquel/program/options.h"
#include "tquel/program/output.h"
#include "tquel/lang/macros.h"
#include "tquel/shell/variables.h"

struct shell {
  const struct program_options *options;
  struct base_diag_sink diags;
  struct shell_backend *backend; /* NULL: not yet, or no more */
  struct program_output output;
  struct shell_variables variables;
  struct tql_macros macros;
  bool quiet;
  bool interactive;
  bool told; /* an error was said: an exit code that is not 0 has its reason */
};

/* Runs `tquel [OPTION]... [DB]`; returns the exit code. */
int shell_main(int count, char *const *arguments);
/* Runs `tquel explain`. */
int shell_explain_main(int count, char *const *arguments);

/* Runs `tquel feed`. */
int shell_feed_main(int count, char *const *arguments);

/* Runs `tquel infer`; its options as lines of --help. */
int shell_infer_main(int count, char *const *arguments);
void shell_infer_describe(struct base_buffer *out);

/* Runs `tquel sdf`; its options as lines of --help. */
int shell_check_database_main(int count, char *const *arguments);
void shell_check_database_describe(struct base_buffer *out);
int shell_sdf_main(int count, char *const *arguments);
void shell_sdf_describe(struct base_buffer *out);

/* Runs `tquel collect`; its options as lines of --help. */
int shell_collect_main(int count, char *const *arguments);
void shell_collect_describe(struct base_buffer *out);

/* --- script.c */

/* Reads all of PATH ("-": standard input); on failure reports and returns false. */
bool shell_read_file(const char *path, struct base_diag_sink *diags, struct base_buffer *ret);
/* Looks: NAME is \d, \dn or \ds, ARGUMENT a relation's name or "". BASE_USER: there is no such command or
 * relation; reported, as are other failures. */
enum base_status shell_look(struct shell *shell, const char *name, const char *argument);
/* The same with both on one LINE, as -c gives it. */
enum base_status shell_run_look(struct shell *shell, const char *line);
/* Runs TEXT, called NAME in messages, with its macros and variables replaced, and flushes. */
enum base_status shell_run_text(struct shell *shell, const char *name, const char *text,
                                size_t length);
/* Runs what the options name, or standard input, then the feeds until they end. */
enum base_status shell_run_script(struct shell *shell);

/* --- interactive.c */
void shell_interact(struct shell *shell);

#endif
