/* The interactive loop.
 *
 * Lines are gathered in the workspace. A blank line or \g runs it; a line that begins with a backslash
 * is a command of the shell. The prompt says where one is:
 *
 *     tquel>   the workspace is empty
 *       ...>   the statement goes on
 *       run>   it is complete: a blank line runs it, more text adds to it
 *
 * Ctrl-C drops what was typed or cancels the running statement; Ctrl-D leaves. Errors do not end the
 * shell. While the shell waits for a key and feeds are live, it runs them in short turns, so that
 * standing displays go on printing; the line being typed is drawn again below what they print. */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <wchar.h>

#include "engine/base/env.h"
#include "tquel/lang/parse.h"
#include "tquel/program/signals.h"
#include "tquel/shell/terminal.h"

/* The feeds' turn; a key waits no longer than this. */
#define TURN_MS 25

static struct terminal *of_edit(EditLine *edit) {
  struct terminal *terminal = NULL;
  el_get(edit, EL_CLIENTDATA, &terminal);
  return terminal;
}

/* --- reading keys ----------------------------------------------------------------------------- */

/* Makes room for output in the place of the line that is being typed. */
static void before_writing(void *context) {
  struct terminal *terminal = context;
  if (!terminal->reading || terminal->wrote) return;
  const char *name = getenv("TERM");
  bool clears = name && *name && strcmp(name, "dumb") != 0;
  fputs(clears ? "\r\033[K" : "\n", terminal->out);
  fflush(terminal->out);
  terminal->wrote = true;
}

static void run_feeds(struct terminal *terminal) {
  struct shell *shell = terminal->shell;
  enum base_status status = shell->backend->class->follow(shell->backend, TURN_MS);
  program_output_flush(&shell->output);
  if (status != BASE_AGAIN && status != BASE_CANCEL) {
    terminal->feeds_over = true;
    if (shell->backend->class->commit(shell->backend) != BASE_OK) terminal->wrote = true;
  }
  if (terminal->wrote) el_set(terminal->edit, EL_REFRESH);
  terminal->wrote = false;
}

/* Waits TIMEOUT_MS at most for keys, and for what the backend may have to say; true: keys. */
static bool wait_for_news(struct terminal *terminal, int timeout_ms) {
  struct shell_backend *backend = terminal->shell->backend;
  struct pollfd polled[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                             {.fd = backend->class->descriptor(backend), .events = POLLIN}};
  if (terminal->feeds_over) polled[1].fd = -1;
  (void)program_signals_wait(polled, 2, timeout_ms);
  if (polled[1].revents) run_feeds(terminal);
  return polled[0].revents != 0;
}

/* Feeds that have to be asked, as they have nothing to poll. */
static bool asks_feeds(const struct terminal *terminal) {
  struct shell_backend *backend = terminal->shell->backend;
  return !terminal->feeds_over && backend->class->descriptor(backend) < 0 &&
         backend->class->goes_on(backend);
}

/* Waits for a byte of input; false: Ctrl-C, or the end. */
static bool wait_input(struct terminal *terminal) {
  for (;;) {
    if (base_env_interrupted()) return false;
    if (program_signals_continued()) {
      /* Whoever had the terminal meanwhile has set it as they liked. */
      el_set(terminal->edit, EL_PREP_TERM, 0);
      el_set(terminal->edit, EL_PREP_TERM, 1);
      el_set(terminal->edit, EL_REFRESH);
    }
    if (program_signals_resized()) el_resize(terminal->edit);
    bool asks = asks_feeds(terminal);
    if (wait_for_news(terminal, asks ? 0 : -1)) return true;
    if (asks && !base_env_interrupted()) run_feeds(terminal);
  }
}

/* libedit's source of characters: 1, 0 at the end of input, -1 when interrupted. */
static int next_character(EditLine *edit, wchar_t *ret) {
  mbstate_t state = {0};
  for (;;) {
    char byte;
    if (!wait_input(of_edit(edit))) {
      errno = EINTR;
      return -1;
    }
    ssize_t count = read(STDIN_FILENO, &byte, 1);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return (int)count;
    size_t length = mbrtowc(ret, &byte, 1, &state);
    if (length == (size_t)-2) continue;
    if (length != (size_t)-1) return 1;
    /* Not UTF-8: the byte is dropped. */
    state = (mbstate_t){0};
    el_beep(edit);
  }
}

/* --- the workspace ---------------------------------------------------------------------------- */

static char *prompt(EditLine *edit) {
  static char ready[] = "tquel> ", more[] = "  ...> ", run[] = "  run> ";
  const struct base_buffer *workspace = &of_edit(edit)->workspace;
  if (workspace->length == 0) return ready;
  return tql_completeness(workspace->data, workspace->length) == TQL_COMPLETE ? run : more;
}

void terminal_run_text(struct terminal *terminal, const char *name, const char *text,
                       size_t length) {
  struct shell *shell = terminal->shell;
  base_diag_sink_clear(&shell->diags);
  base_env_clear_interrupt();
  terminal->feeds_over = false;
  /* What went wrong has been reported, and the next statement may do better. */
  (void)shell_run_text(shell, name, text, length);
  if (!program_signals_ending()) base_env_clear_interrupt();
  if (shell->output.error) terminal->quit = true;
}

/* Runs the workspace (or, empty, what ran last) and makes it the previous one. */
static void run_workspace(struct terminal *terminal) {
  struct base_buffer *workspace = &terminal->workspace;
  if (workspace->length == 0)
    base_buffer_append(workspace, base_buffer_text(&terminal->previous), terminal->previous.length);
  if (workspace->length == 0) return;
  terminal_history_add(terminal, workspace->data);
  struct base_buffer text = *workspace;
  *workspace = terminal->previous;
  terminal->previous = text;
  base_buffer_clear(workspace);
  /* Without the last line end, so that what is missing at the end is shown in the line typed last. */
  size_t length = text.length;
  while (length > 0 && text.data[length - 1] == '\n') length--;
  terminal_run_text(terminal, "<typed>", text.data, length);
}

static bool ends_with_go(const char *line, size_t length) {
  while (length > 0 && strchr(" \t", line[length - 1])) length--;
  return length >= 2 && strncasecmp(line + length - 2, "\\g", 2) == 0;
}

/* LENGTH bytes without the line end. */
static void take_line(struct terminal *terminal, const char *line, size_t length) {
  struct base_buffer *workspace = &terminal->workspace;
  size_t blanks = strspn(line, " \t\n");
  if (blanks >= length) {
    if (workspace->length == 0) return;
    if (tql_macros_is_open(workspace->data, workspace->length))
      base_buffer_putc(workspace, '\n');
    else if (tql_completeness(workspace->data, workspace->length) == TQL_EMPTY)
      base_buffer_clear(workspace);
    else
      run_workspace(terminal);
    return;
  }
  if (line[blanks] == '\\' && ends_with_go(line + blanks, length - blanks) &&
      length - blanks == 2) {
    run_workspace(terminal);
    return;
  }
  if (line[blanks] == '\\' && strncasecmp(line + blanks, "\\g", 2) != 0) {
    terminal_history_add(terminal, line);
    terminal_command(terminal, line + blanks);
    return;
  }
  base_buffer_append(workspace, line, length);
  base_buffer_putc(workspace, '\n');
  if (ends_with_go(line, length)) run_workspace(terminal);
}

/* With nothing typed Ctrl-C is for the displays, where they can be ended. */
static void drop_typed(struct terminal *terminal) {
  struct shell_backend *backend = terminal->shell->backend;
  bool typed = terminal->workspace.length > 0;
  base_env_clear_interrupt();
  base_buffer_clear(&terminal->workspace);
  fputs("^C\n", terminal->out);
  if (!typed && backend->class->stop && backend->class->stop(backend))
    fputs("the displays have ended\n", terminal->out);
  fflush(terminal->out);
}

static void read_line(struct terminal *terminal) {
  int count = 0;
  terminal->reading = true;
  terminal->wrote = false;
  const char *line = el_gets(terminal->edit, &count);
  terminal->reading = false;
  if (program_signals_ending()) {
    terminal->quit = true;
  } else if (line && count > 0) {
    /* The line lives in libedit's buffer, which a command may use again. */
    struct base_buffer copy = BASE_BUFFER_EMPTY;
    size_t length = (size_t)count;
    if (line[length - 1] == '\n') length--;
    base_buffer_append(&copy, line, length);
    take_line(terminal, base_buffer_text(&copy), copy.length);
    base_buffer_done(&copy);
  } else if (base_env_interrupted()) {
    drop_typed(terminal);
  } else {
    fputs("\n", terminal->out);
    fflush(terminal->out);
    terminal->quit = true;
  }
}

/* --- beginning and end ------------------------------------------------------------------------ */

/* Keys arrive as UTF-8, whatever the environment forgot to say. Numbers stay as they are in C. */
static void choose_locale(void) {
  if (!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
    (void)setlocale(LC_CTYPE, "C.UTF-8");
}

static bool open_terminal(struct terminal *terminal) {
  choose_locale();
  terminal->out = isatty(STDOUT_FILENO) ? stdout : stderr;
  terminal->edit = el_init("tquel", stdin, terminal->out, stderr);
  if (!terminal->edit) return false;
  EditLine *edit = terminal->edit;
  el_set(edit, EL_CLIENTDATA, terminal);
  el_set(edit, EL_PROMPT, prompt);
  el_set(edit, EL_EDITOR, "emacs");
  el_set(edit, EL_GETCFN, next_character);
  terminal_history_open(terminal);
  if (terminal->history) el_set(edit, EL_HIST, history, terminal->history);
  el_set(edit, EL_ADDFN, "tquel-complete", "complete a word", terminal_complete);
  el_set(edit, EL_BIND, "^I", "tquel-complete", NULL);
  el_set(edit, EL_BIND, "^R", "em-inc-search-prev", NULL);
  (void)el_source(edit, NULL);
  return true;
}

static void greet(const struct shell *shell) {
  if (shell->quiet) return;
  struct base_buffer title = BASE_BUFFER_EMPTY;
  shell->backend->class->title(shell->backend, &title);
  printf("tquel: %s. A blank line runs what was typed; \\? for help, \\q to leave.\n",
         base_buffer_text(&title));
  fflush(stdout);
  base_buffer_done(&title);
}

void shell_interact(struct shell *shell) {
  struct terminal terminal = {.shell = shell};
  shell->output.before_writing = before_writing;
  shell->output.context = &terminal;
  if (open_terminal(&terminal)) {
    greet(shell);
    while (!terminal.quit) read_line(&terminal);
    el_end(terminal.edit);
  }
  terminal_history_close(&terminal);
  shell->output.before_writing = NULL;
  base_buffer_done(&terminal.workspace);
  base_buffer_done(&terminal.previous);
  base_diag_sink_clear(&shell->diags);
}
