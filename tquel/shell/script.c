/* Statements from the command line, from files and from standard input.
 *
 * They run in the order given and stop at the first error. When all are done and live feeds are
 * registered, the process runs the feeds until they end or the user interrupts, which is an orderly
 * end: what was read is kept. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "tquel/shell/shell.h"

#define FOLLOW_MS 50

static bool read_all(int descriptor, struct base_buffer *ret) {
  for (;;) {
    char bytes[65536];
    ssize_t count = read(descriptor, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR && !base_env_interrupted()) continue;
    if (count < 0) return false;
    if (count == 0) return true;
    base_buffer_append(ret, bytes, (size_t)count);
  }
}

bool shell_read_file(const char *path, struct base_diag_sink *diags, struct base_buffer *ret) {
  bool is_stdin = strcmp(path, "-") == 0;
  int descriptor = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  int error = 0;
  if (descriptor < 0 || !read_all(descriptor, ret)) error = errno;
  if (!is_stdin && descriptor >= 0) close(descriptor);
  if (error && !(error == EINTR && base_env_interrupted()))
    base_report(diags, MSG_SCRIPT_UNREADABLE, NULL, NULL, "cannot read %s: %s",
                is_stdin ? "standard input" : path, strerror(error));
  return !error;
}

enum base_status shell_run_text(struct shell *shell, const char *name, const char *text,
                                size_t length) {
  struct base_buffer expanded = BASE_BUFFER_EMPTY, scratch = BASE_BUFFER_EMPTY;
  struct base_buffer called = BASE_BUFFER_EMPTY;
  const char *typed = text;
  text = tql_macros_expand(&shell->macros, name, text, &length, &shell->diags, &expanded);
  if (text != NULL && text != typed) { /* its lines are others */
    base_buffer_printf(&called, "%s, macros replaced", name);
    name = base_buffer_text(&called);
  }
  if (text != NULL)
    text = shell_variables_expand(&shell->variables, name, text, &length, &shell->diags, &scratch);
  enum base_status status = BASE_USER;
  if (text != NULL) {
    program_output_begin(&shell->output);
    bool whole = shell->options->single_transaction && !shell->interactive;
    status = shell->backend->class->run(shell->backend, name, text, length, whole);
    program_output_end(&shell->output);
  }
  base_buffer_done(&called);
  base_buffer_done(&scratch);
  base_buffer_done(&expanded);
  return status;
}

static enum base_status run_file(struct shell *shell, const char *path) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  enum base_status status = base_env_interrupted() ? BASE_CANCEL : BASE_SYSTEM;
  if (shell_read_file(path, &shell->diags, &text))
    status = shell_run_text(shell, strcmp(path, "-") == 0 ? "<stdin>" : path,
                            base_buffer_text(&text), text.length);
  else if (base_env_interrupted())
    status = BASE_CANCEL;
  base_buffer_done(&text);
  return status;
}

static enum base_status set_variable(struct shell *shell, const char *argument) {
  struct base_arena *arena = base_arena_new();
  struct base_buffer list = BASE_BUFFER_EMPTY;
  argument += strspn(argument, " \t\n");
  size_t length = strlen(argument);
  while (length > 0 && strchr(" \t\n", argument[length - 1])) length--;
  argument = base_arena_strndup(arena, argument, length);
  bool good = shell_variables_command(&shell->variables, argument, &shell->diags, &list);
  program_output_text(&shell->output, base_buffer_text(&list));
  program_output_flush(&shell->output);
  base_buffer_done(&list);
  base_arena_free(arena);
  return good ? BASE_OK : BASE_USER;
}

static enum base_status run_command(struct shell *shell, const char *text, size_t number) {
  const char *start = text + strspn(text, " \t\n");
  if (strncmp(start, "\\set", 4) == 0 && strchr(" \t\n", start[4]) != NULL)
    return set_variable(shell, start + 4);
  if (*start == '\\') return shell_run_look(shell, start);
  struct base_buffer name = BASE_BUFFER_EMPTY;
  base_buffer_printf(&name, "<command %zu>", number);
  enum base_status status = shell_run_text(shell, name.data, text, strlen(text));
  base_buffer_done(&name);
  return status;
}

static enum base_status follow(struct shell *shell) {
  enum base_status status = BASE_AGAIN;
  while (status == BASE_AGAIN) {
    if (base_env_interrupted()) {
      status = BASE_CANCEL;
      break;
    }
    status = shell->backend->class->follow(shell->backend, FOLLOW_MS);
    program_output_flush(&shell->output);
  }
  if (status == BASE_END || status == BASE_CANCEL) status = BASE_OK;
  base_env_clear_interrupt();
  enum base_status committed = shell->backend->class->commit(shell->backend);
  return status == BASE_OK ? committed : status;
}

enum base_status shell_run_script(struct shell *shell) {
  const struct program_options *options = shell->options;
  enum base_status status = BASE_OK;
  size_t commands = 0;
  for (size_t i = 0; i < options->item_count && status == BASE_OK; i++) {
    const struct program_item *item = &options->items[i];
    status =
        item->is_file ? run_file(shell, item->text) : run_command(shell, item->text, ++commands);
    if (status == BASE_OK && base_env_interrupted()) status = BASE_CANCEL;
  }
  if (options->item_count == 0) status = run_file(shell, "-");
  if (status == BASE_OK && base_env_interrupted()) status = BASE_CANCEL;
  if (status != BASE_OK) return status;
  if (shell->backend->class->goes_on(shell->backend)) return follow(shell);
  if (shell->backend->class->tell_idle) shell->backend->class->tell_idle(shell->backend);
  return BASE_OK;
}
