/* What was typed, kept from session to session.
 *
 * In $XDG_STATE_HOME/tquel/history, else ~/.local/state/tquel/history, readable by the user only: what
 * is typed may hold data. One entry is one run of the workspace, with its lines. The file is written
 * after each, so that nothing is lost with the terminal. If it cannot be written the history lasts for
 * the session and nothing is said. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "tquel/shell/terminal.h"

#define ENTRIES_MAX 2000

/* Makes PATH's directories; PATH itself is a file. */
static bool make_directories(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    bool there = mkdir(path, 0700) == 0 || access(path, X_OK) == 0;
    *slash = '/';
    if (!there) return false;
  }
  return true;
}

static char *history_path(void) {
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  struct base_buffer path = BASE_BUFFER_EMPTY;
  /* A relative one is to be ignored, says the standard. */
  if (state && state[0] == '/')
    base_buffer_printf(&path, "%s/tquel/history", state);
  else if (home && home[0] == '/')
    base_buffer_printf(&path, "%s/.local/state/tquel/history", home);
  if (!path.data) return NULL;
  int descriptor = -1;
  if (make_directories(path.data)) descriptor = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    base_buffer_done(&path);
    return NULL;
  }
  (void)!fchmod(descriptor, 0600);
  close(descriptor);
  return path.data;
}

void terminal_history_open(struct terminal *terminal) {
  HistEvent event;
  terminal->history = history_init();
  if (!terminal->history) return;
  history(terminal->history, &event, H_SETSIZE, ENTRIES_MAX);
  history(terminal->history, &event, H_SETUNIQUE, 1);
  terminal->history_path = history_path();
  if (terminal->history_path) history(terminal->history, &event, H_LOAD, terminal->history_path);
}

void terminal_history_add(struct terminal *terminal, const char *text) {
  HistEvent event;
  size_t length = strlen(text);
  while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' ')) length--;
  if (!terminal->history || length == 0) return;
  char *entry = base_xmalloc(length + 1);
  memcpy(entry, text, length);
  entry[length] = '\0';
  history(terminal->history, &event, H_ENTER, entry);
  free(entry);
  if (terminal->history_path) history(terminal->history, &event, H_SAVE, terminal->history_path);
}

void terminal_history_close(struct terminal *terminal) {
  if (terminal->history) history_end(terminal->history);
  free(terminal->history_path);
}
