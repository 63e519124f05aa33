/* The commands of the shell, which begin with a backslash.
 *
 * They belong to the workspace, not to the language: a script has none of them except \g. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "tquel/program/help.h"
#include "tquel/program/signals.h"
#include "tquel/shell/terminal.h"

/* ARGUMENT is the rest of the line without blanks around it, "" if there is none. */
typedef void command_function(struct terminal *terminal, const char *argument);

static void say(struct terminal *terminal, const char *text) {
  program_output_text(&terminal->shell->output, text);
  program_output_flush(&terminal->shell->output);
}

/* --- the workspace ---------------------------------------------------------------------------- */

/* What \p and \e are about: what is typed, else what ran last. */
static const struct base_buffer *at_hand(const struct terminal *terminal) {
  return terminal->workspace.length ? &terminal->workspace : &terminal->previous;
}

static void do_print(struct terminal *terminal, const char *argument) {
  (void)argument;
  say(terminal, base_buffer_text(at_hand(terminal)));
}

static void do_reset(struct terminal *terminal, const char *argument) {
  (void)argument;
  base_buffer_clear(&terminal->workspace);
}

static void do_quit(struct terminal *terminal, const char *argument) {
  (void)argument;
  terminal->quit = true;
}

/* Runs a shell command in the foreground; true: it ended with 0. */
static bool run_program(const char *command) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    program_signals_reset();
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
  }
  int status = -1;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  /* A Ctrl-C meant for the child reached this process too. */
  if (!program_signals_ending()) base_env_clear_interrupt();
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool write_temporary(char *path, const struct base_buffer *text) {
  int descriptor = mkstemps(path, 3);
  if (descriptor < 0) return false;
  const char *bytes = base_buffer_text(text);
  size_t left = text->length;
  while (left > 0) {
    ssize_t written = write(descriptor, bytes, left);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    bytes += written;
    left -= (size_t)written;
  }
  close(descriptor);
  return left == 0;
}

static void do_edit(struct terminal *terminal, const char *argument) {
  (void)argument;
  struct base_arena *arena = base_arena_new();
  const char *directory = getenv("TMPDIR"), *editor = getenv("VISUAL");
  if (!directory || !*directory) directory = "/tmp";
  if (!editor || !*editor) editor = getenv("EDITOR");
  if (!editor || !*editor) editor = "vi";
  char *path = base_arena_printf(arena, "%s/tquel-XXXXXX.tq", directory);
  if (!write_temporary(path, at_hand(terminal))) {
    base_report(&terminal->shell->diags, MSG_SCRIPT_UNREADABLE, NULL, NULL, "cannot write %s: %s",
                path, strerror(errno));
  } else {
    /* The name is made of letters and digits; only TMPDIR may need the quotes. */
    struct base_buffer text = BASE_BUFFER_EMPTY;
    if (setenv("TQUEL_EDITED", path, 1) == 0 &&
        run_program(base_arena_printf(arena, "%s \"$TQUEL_EDITED\"", editor)) &&
        shell_read_file(path, &terminal->shell->diags, &text)) {
      base_buffer_clear(&terminal->workspace);
      base_buffer_append(&terminal->workspace, base_buffer_text(&text), text.length);
      if (text.length && text.data[text.length - 1] != '\n')
        base_buffer_putc(&terminal->workspace, '\n');
      say(terminal, base_buffer_text(&terminal->workspace));
    }
    base_buffer_done(&text);
    (void)unsetenv("TQUEL_EDITED");
  }
  (void)unlink(path);
  base_arena_free(arena);
}

static void do_include(struct terminal *terminal, const char *argument) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (!*argument)
    base_report_hint(&terminal->shell->diags, MSG_USAGE, NULL, NULL, "\\i FILE",
                     "the name of the file is missing");
  else if (shell_read_file(argument, &terminal->shell->diags, &text))
    terminal_run_text(terminal, argument, base_buffer_text(&text), text.length);
  base_buffer_done(&text);
}

/* --- looking ---------------------------------------------------------------------------------- */

static void do_describe(struct terminal *terminal, const char *argument) {
  (void)shell_look(terminal->shell, "\\d", argument);
}

static void do_nodes(struct terminal *terminal, const char *argument) {
  (void)shell_look(terminal->shell, "\\dn", argument);
}

static void do_sensors(struct terminal *terminal, const char *argument) {
  (void)shell_look(terminal->shell, "\\ds", argument);
}

static void do_receptacles(struct terminal *terminal, const char *argument) {
  (void)shell_look(terminal->shell, "\\dr", argument);
}

static void do_count(struct terminal *terminal, const char *argument) {
  (void)shell_look(terminal->shell, "\\count", argument);
}

static void do_time(struct terminal *terminal, const char *argument) {
  (void)argument;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  net_time_print(&text, NET_TIMELINE_REAL, base_env_now());
  base_buffer_putc(&text, '\n');
  say(terminal, text.data);
  base_buffer_done(&text);
}

static void do_timing(struct terminal *terminal, const char *argument) {
  struct program_output *output = &terminal->shell->output;
  bool on = !output->timing;
  if (strcasecmp(argument, "on") == 0) on = true;
  if (strcasecmp(argument, "off") == 0) on = false;
  program_output_set_timing(output, on);
  say(terminal, on ? "timing is on\n" : "timing is off\n");
}

static void do_format(struct terminal *terminal, const char *argument) {
  struct program_output *output = &terminal->shell->output;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  int format = *argument ? tql_format_find(argument) : (int)output->format;
  if (format < 0) {
    base_report_hint(&terminal->shell->diags, MSG_USAGE, NULL, NULL,
                     "the formats are table csv json ndjson line markdown timeline count",
                     "there is no format %s", argument);
    return;
  }
  output->format = (enum tql_format)format;
  base_buffer_printf(&text, "format is %s\n", tql_format_name(output->format));
  say(terminal, text.data);
  base_buffer_done(&text);
}

static void do_shell(struct terminal *terminal, const char *argument) {
  (void)terminal;
  const char *shell = getenv("SHELL");
  if (*argument)
    (void)run_program(argument);
  else
    (void)run_program(shell && *shell ? "exec \"$SHELL\"" : "exec /bin/sh");
}

/* help of the language, with the topic as a string. */
static void do_help(struct terminal *terminal, const char *argument) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (*argument && program_help_message(argument, &text)) {
    say(terminal, text.data);
    base_buffer_done(&text);
    return;
  }
  base_buffer_puts(&text, "help");
  if (*argument) base_buffer_puts(&text, " \"");
  for (const char *byte = argument; *byte; byte++) {
    if (*byte == '"' || *byte == '\\') base_buffer_putc(&text, '\\');
    base_buffer_putc(&text, *byte);
  }
  if (*argument) base_buffer_putc(&text, '"');
  terminal_run_text(terminal, "<typed>", text.data, text.length);
  base_buffer_done(&text);
}

static void do_set(struct terminal *terminal, const char *argument) {
  struct base_buffer list = BASE_BUFFER_EMPTY;
  struct shell *shell = terminal->shell;
  if (shell_variables_command(&shell->variables, argument, &shell->diags, &list))
    say(terminal, base_buffer_text(&list));
  base_buffer_done(&list);
}

static void do_unset(struct terminal *terminal, const char *argument) {
  (void)shell_variables_unset(&terminal->shell->variables, argument, &terminal->shell->diags);
}

static void do_macros(struct terminal *terminal, const char *argument) {
  struct base_buffer list = BASE_BUFFER_EMPTY;
  (void)argument;
  tql_macros_print(&terminal->shell->macros, &list);
  say(terminal, base_buffer_text(&list));
  base_buffer_done(&list);
}

/* --- the table -------------------------------------------------------------------------------- */

static command_function do_commands;

static const struct command {
  const char *name, *argument, *what;
  command_function *run; /* NULL: interactive.c knows it */
} commands[] = {
    {"\\g", "", "run what was typed (as a blank line does), or what ran last again", NULL},
    {"\\?", "", "this list", do_commands},
    {"\\h", "[TOPIC]", "help on the language, a relation or TQ-nnnn", do_help},
    {"\\help", "[TOPIC]", "the same", do_help},
    {"\\d", "[NAME]", "list the relations, or describe one", do_describe},
    {"\\dn", "[NAME]", "list the nodes of standing queries, and what they cost", do_nodes},
    {"\\ds", "", "list the sensors of programs, and who has switched them on", do_sensors},
    {"\\dr", "[NAME]", "list what the sensors' receptacles have counted", do_receptacles},
    {"\\count", "NAME on|off", "count what passes the sensors of a relation, see \\dr", do_count},
    {"\\set", "[NAME VALUE]", "let $NAME stand for a constant in statements, or list all", do_set},
    {"\\unset", "NAME", "let it stand for nothing", do_unset},
    {"\\macros", "", "list the macros: {define; NAME $1; what NAME with an argument is}",
     do_macros},
    {"\\p", "", "print what was typed, or what ran last", do_print},
    {"\\r", "", "reset: forget what was typed", do_reset},
    {"\\e", "", "edit it with $VISUAL or $EDITOR", do_edit},
    {"\\i", "FILE", "run the statements in FILE", do_include},
    {"\\format", "[NAME]", "table csv json ndjson line markdown timeline count", do_format},
    {"\\timing", "[on|off]", "say after each statement how long it took", do_timing},
    {"\\t", "", "print the time", do_time},
    {"\\s", "[COMMAND]", "run a system command, or a system shell", do_shell},
    {"\\q", "", "leave (as Ctrl-D does)", do_quit},
};
#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

const char *terminal_command_name(size_t index) {
  return index < COMMAND_COUNT ? commands[index].name : NULL;
}

static void do_commands(struct terminal *terminal, const char *argument) {
  (void)argument;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < COMMAND_COUNT; i++) {
    struct base_buffer left = BASE_BUFFER_EMPTY;
    base_buffer_printf(&left, "%s %s", commands[i].name, commands[i].argument);
    base_buffer_printf(&text, "  %-18s %s\n", left.data, commands[i].what);
    base_buffer_done(&left);
  }
  base_buffer_puts(
      &text,
      "Ctrl-C drops what was typed or cancels what runs; TAB completes; Ctrl-R searches "
      "what was\ntyped before. help, a statement of the language, lists its "
      "statements.\n");
  say(terminal, text.data);
  base_buffer_done(&text);
}

static void report_unknown(struct terminal *terminal, const char *name) {
  struct base_near near = base_near_to(name);
  struct base_buffer hint = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < COMMAND_COUNT && strlen(name) > 2; i++)
    base_near_offer(&near, commands[i].name);
  if (near.nearest)
    base_buffer_printf(&hint, "did you mean %s?", near.nearest);
  else
    base_buffer_puts(&hint, "\\? lists the commands");
  base_report_hint(&terminal->shell->diags, MSG_USAGE, NULL, NULL, hint.data,
                   "there is no command %s", name);
  base_buffer_done(&hint);
}

void terminal_command(struct terminal *terminal, const char *line) {
  struct base_arena *arena = base_arena_new();
  size_t length = strcspn(line, " \t\n");
  char *name = base_arena_strndup(arena, line, length);
  line += length + strspn(line + length, " \t\n");
  length = strlen(line);
  while (length > 0 && strchr(" \t\n", line[length - 1])) length--;
  char *argument = base_arena_strndup(arena, line, length);
  const struct command *found = NULL;
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    if (commands[i].run && strcmp(commands[i].name, name) == 0) found = &commands[i];
  base_diag_sink_clear(&terminal->shell->diags);
  if (found)
    found->run(terminal, argument);
  else
    report_unknown(terminal, name);
  base_arena_free(arena);
}
