/* \d, \dn, \ds, \dr: looking at what there is; and \count, which says what \dr is to show. They change no
 * data and stand alone on a line, so a script's -c may be one of them as well; the other commands that begin with a backslash belong to the workspace
 * of the interactive shell (commands.c).                                                            */
#include <string.h>

#include "engine/base/arena.h"
#include "tquel/shell/backend.h"
#include "tquel/shell/shell.h"

static const struct view {
  const char *name;
  enum shell_view view;
  const char *nothing;
} views[] = {
    {"\\d", SHELL_DESCRIPTION, "there are no relations yet\n"},
    {"\\dn", SHELL_NODES, "there are no nodes of standing queries\n"},
    {"\\ds", SHELL_SENSORS, "there are no sensors\n"},
    {"\\dr", SHELL_RECEPTACLES, "there are no sensors\n"},
    {"\\count", SHELL_COUNT, ""},
};

enum base_status shell_look(struct shell *shell, const char *name, const char *argument) {
  const struct view *view = NULL;
  for (size_t i = 0; i < sizeof views / sizeof *views; i++)
    if (strcmp(views[i].name, name) == 0) view = &views[i];
  if (!view) {
    base_report_hint(&shell->diags, MSG_USAGE, NULL, NULL,
                     "-c takes statements, or one of \\d [NAME], \\dn [NAME], \\ds, \\dr [NAME], "
                     "\\count NAME on|off",
                     "there is no command %s outside of the interactive shell", name);
    return BASE_USER;
  }
  struct base_buffer text = BASE_BUFFER_EMPTY;
  enum base_status status = shell->backend->class->describe(shell->backend, view->view,
                                                            *argument ? argument : NULL, &text);
  if (status == BASE_OK) {
    program_output_text(&shell->output, text.length ? text.data : view->nothing);
    program_output_flush(&shell->output);
  } else if (status == BASE_END) {
    base_report_hint(&shell->diags, MSG_UNKNOWN_RELATION, NULL, NULL, "\\d lists what there is",
                     "there is no relation %.*s", (int)strcspn(argument, " \t"), argument);
    status = BASE_USER;
  }
  base_buffer_done(&text);
  return status;
}

enum base_status shell_run_look(struct shell *shell, const char *line) {
  struct base_arena *arena = base_arena_new();
  size_t length = strcspn(line, " \t\n");
  const char *name = base_arena_strndup(arena, line, length);
  line += length + strspn(line + length, " \t\n");
  length = strlen(line);
  while (length > 0 && strchr(" \t\n", line[length - 1])) length--;
  enum base_status status = shell_look(shell, name, base_arena_strndup(arena, line, length));
  base_arena_free(arena);
  return status;
}
