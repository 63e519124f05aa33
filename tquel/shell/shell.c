/* The shell from its command line to its exit code.
 *
 * Exit codes: 0; 1 wrong usage; 2 an error in a statement; 3 a database, file or network error. A
 * reader of the output that has gone is no error (exit 0, quietly), a full disk is one (3). Ctrl-C
 * ends live feeds in order (0) and anything else as a signal does, after the running statement was
 * rolled back. Diagnostics are printed as they come, on standard error. */
#include "tquel/shell/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "tquel/program/help.h"
#include "tquel/program/signals.h"

static void on_report(void *context, const struct base_diag *diag) {
  struct shell *shell = context;
  if (shell->quiet && diag->severity != BASE_ERROR) return;
  /* Interrupted because nobody takes the output: that is said, if at all, in other words. */
  if (shell->output.error && diag->number == MSG_CANCELLED) return;
  shell->told |= diag->severity == BASE_ERROR;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_diag_format(&text, diag);
  if (shell->backend) program_output_flush(&shell->output);
  fwrite(text.data, 1, text.length, stderr);
  base_buffer_done(&text);
}

static void shell_init(struct shell *shell, const struct program_options *options) {
  *shell = (struct shell){.options = options};
  base_diag_sink_init(&shell->diags);
  shell->diags.on_report = on_report;
  shell->diags.context = shell;
}

static void take_variables(struct shell *shell) {
  for (size_t i = 0; i < shell->options->variable_count; i++)
    (void)shell_variables_assign(&shell->variables, shell->options->variables[i]);
}

static void shell_done(struct shell *shell, struct program_options *options) {
  shell_variables_done(&shell->variables);
  tql_macros_done(&shell->macros);
  base_diag_sink_done(&shell->diags);
  program_options_done(options);
}

/* A file opened while a standard descriptor is closed would take its number, and be written to. */
static void keep_standard_descriptors(void) {
  for (int descriptor = 0; descriptor <= 2; descriptor++) {
    if (fcntl(descriptor, F_GETFD) == -1 && errno == EBADF)
      (void)!open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY);
  }
}

static bool is_script_on_stdin(const struct program_options *options, bool interactive) {
  for (size_t i = 0; i < options->item_count; i++)
    if (options->items[i].is_file && strcmp(options->items[i].text, "-") == 0) return true;
  return options->item_count == 0 && !interactive;
}

static enum base_status open_backend(struct shell *shell, bool stdin_is_script, bool explain_only) {
  const struct program_options *options = shell->options;
  int format = options->format;
  if (format < 0) format = isatty(STDOUT_FILENO) ? TQL_FORMAT_TABLE : TQL_FORMAT_CSV;
  program_output_init(&shell->output, (enum tql_format)format, options->timing);
  if (options->connect) return shell_remote_open(shell, &shell->backend);
  return shell_own_open(shell, stdin_is_script, explain_only, &shell->backend);
}

/* Whatever ends otherwise than well says why. */
static void account(struct shell *shell, enum base_status status) {
  bool good = status == BASE_OK || status == BASE_END || status == BASE_AGAIN;
  if (good || shell->told) return;
  if (status == BASE_CANCEL)
    base_report(&shell->diags, MSG_CANCELLED, NULL, NULL, "interrupted");
  else
    base_report(&shell->diags, MSG_UNEXPLAINED, NULL, NULL, "tquel failed, and nothing says why");
}

static int exit_code(const struct shell *shell, enum base_status status) {
  if (status == BASE_OK || status == BASE_END || status == BASE_AGAIN) return 0;
  if (shell->diags.exit_code != 0) return shell->diags.exit_code;
  return status == BASE_USER ? 2 : 3;
}

/* Writes the rest of the output, closes the session, says what went wrong with writing. */
static int finish(struct shell *shell, enum base_status status) {
  if (shell->backend) {
    program_output_flush(&shell->output);
    struct shell_backend *backend = shell->backend;
    shell->backend = NULL; /* reports from here on have no output to flush */
    status = backend->class->close(backend, status);
  }
  int error = shell->output.error;
  if (error && error != EPIPE)
    base_report(&shell->diags, MSG_OUTPUT_FAILED, NULL, NULL, "cannot write the results: %s",
                strerror(error));
  if (status == BASE_CANCEL && error) status = error == EPIPE ? BASE_OK : BASE_SYSTEM;
  if (status == BASE_OK && error && error != EPIPE) status = BASE_SYSTEM;
  account(shell, status);
  program_output_done(&shell->output);
  if (program_signals_ending()) program_signals_die(program_signals_ending());
  if (status == BASE_CANCEL) program_signals_die(SIGINT);
  return exit_code(shell, status);
}

static int run(struct shell *shell) {
  take_variables(shell);
  const struct program_options *options = shell->options;
  bool interactive = options->item_count == 0 && isatty(STDIN_FILENO);
  program_signals_install(interactive);
  shell->quiet = options->quiet;
  shell->interactive = interactive;
  enum base_status status =
      open_backend(shell, interactive || is_script_on_stdin(options, interactive), false);
  if (status == BASE_OK && interactive)
    shell_interact(shell);
  else if (status == BASE_OK)
    status = shell_run_script(shell);
  return finish(shell, status);
}

/* A new file called almost like a subcommand is more likely a slip than a wish. */
static bool misspells_command(struct shell *shell) {
  const char *name = shell->options->database;
  if (!name || strpbrk(name, "./") || access(name, F_OK) == 0) return false;
  const char *command = program_nearest_command(name);
  if (!command) return false;
  struct base_buffer hint = BASE_BUFFER_EMPTY;
  base_buffer_printf(&hint, "did you mean tquel %s? A new database of this name is written ./%s",
                     command, name);
  base_report_hint(&shell->diags, MSG_USAGE, NULL, NULL, hint.data, "there is no command %s", name);
  base_buffer_done(&hint);
  return true;
}

int shell_main(int count, char *const *arguments) {
  struct program_options options;
  struct shell shell;
  int code;
  keep_standard_descriptors();
  shell_init(&shell, &options);
  if (!program_options_read(&options, PROGRAM_RUN, count, arguments, &shell.diags))
    code = shell.diags.exit_code;
  else if (options.help)
    code = program_help_command(NULL);
  else if (options.version)
    code = program_help_version();
  else if (misspells_command(&shell))
    code = shell.diags.exit_code;
  else
    code = run(&shell);
  shell_done(&shell, &options);
  return code;
}

static enum base_status print_explanation(struct shell *shell) {
  const char *form = shell->options->explain_as;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  enum base_status status = tql_session_explained(shell_own_session(shell->backend),
                                                  strcmp(form, "dot") == 0    ? NG_EXPLAIN_DOT
                                                  : strcmp(form, "json") == 0 ? NG_EXPLAIN_JSON
                                                                              : NG_EXPLAIN_TEXT,
                                                  &text);
  if (status == BASE_OK) program_output_text(&shell->output, base_buffer_text(&text));
  base_buffer_done(&text);
  return status;
}

/* A database that is not there would be created only to be looked at. */
static bool is_missing(struct shell *shell, const char *database) {
  if (!database || access(database, F_OK) == 0) return false;
  base_report(&shell->diags, MSG_DATABASE_MISSING, NULL, NULL, "there is no database %s", database);
  return true;
}

static int explain(struct shell *shell) {
  take_variables(shell);
  const char *path = shell->options->explain_file;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  program_signals_install(false);
  enum base_status status = BASE_SYSTEM;
  if (!is_missing(shell, shell->options->database) && shell_read_file(path, &shell->diags, &text))
    status = open_backend(shell, strcmp(path, "-") == 0, true);
  if (status == BASE_OK)
    status = shell_run_text(shell, strcmp(path, "-") == 0 ? "<stdin>" : path,
                            base_buffer_text(&text), text.length);
  if (status == BASE_OK) status = print_explanation(shell);
  int code = finish(shell, status);
  base_buffer_done(&text);
  return code;
}

int shell_explain_main(int count, char *const *arguments) {
  struct program_options options;
  struct shell shell;
  int code;
  keep_standard_descriptors();
  shell_init(&shell, &options);
  if (!program_options_read(&options, PROGRAM_EXPLAIN, count, arguments, &shell.diags))
    code = shell.diags.exit_code;
  else if (options.help)
    code = program_help_command("explain");
  else
    code = explain(&shell);
  shell_done(&shell, &options);
  return code;
}
