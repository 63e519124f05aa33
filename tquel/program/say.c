#include "tquel/program/say.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

#include "engine/base/buffer.h"
#include "engine/base/diag.h"

/* A terminal that takes something takes so much. */
#define TERMINAL_PART 256

static size_t unsaid;
static bool is_cut; /* what was written last has no end */

static bool takes_some(void) {
  struct pollfd error = {.fd = STDERR_FILENO, .events = POLLOUT};
  int ready;
  do ready = poll(&error, 1, 0);
  while (ready < 0 && errno == EINTR);
  return ready != 0;
}

/* False: not all of it was taken. */
static bool put(const char *text, size_t length) {
  size_t most = isatty(STDERR_FILENO) ? TERMINAL_PART : PIPE_BUF;
  while (length > 0) {
    if (!takes_some()) return false;
    ssize_t written = write(STDERR_FILENO, text, length < most ? length : most);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno != EAGAIN; /* nobody is there any more */
    is_cut = text[written - 1] != '\n';
    text += written;
    length -= (size_t)written;
  }
  return true;
}

static bool put_unsaid(void) {
  struct base_diag_sink diags;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_diag_sink_init(&diags);
  if (is_cut) base_buffer_putc(&text, '\n');
  base_diag_format(&text,
                   base_report(&diags, MSG_NOT_SAID, NULL, NULL,
                               "%zu message%s %s not shown: nobody took what is said here", unsaid,
                               unsaid == 1 ? "" : "s", unsaid == 1 ? "was" : "were"));
  bool done = put(base_buffer_text(&text), text.length);
  base_buffer_done(&text);
  base_diag_sink_done(&diags);
  return done;
}

void program_say(const char *text, size_t length) {
  if (unsaid > 0 && put_unsaid()) unsaid = 0;
  if (unsaid > 0 || !put(text, length)) unsaid++;
}
