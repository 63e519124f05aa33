/* Results on their way to standard output.
 *
 * What is to be written is gathered and written in large pieces, but at least every FLUSH_NS while a
 * display goes on, at the end of every statement, and before anything goes to standard error, so that
 * both keep their order on a terminal. When a write fails (the reader has gone, the disk is full)
 * the session is interrupted: there is no use in computing what nobody gets. Ctrl-C cuts what a statement
 * shows, wherever it is. Every result after the
 * first is separated from it where the format wants that. */
#include "tquel/program/output.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"

#define PENDING_MAX (64 * 1024)
#define FLUSH_NS    20000000

/* At most so much before a signal is looked at: a terminal may take long to show it. */
#define WRITE_MAX 4096

/* The rest is not wanted. What a terminal shows next begins a line. */
static void cut(struct program_output *output, char last) {
  output->cut = true;
  if (last != '\n' && isatty(STDOUT_FILENO)) (void)!write(STDOUT_FILENO, "\n", 1);
}

static void write_all(struct program_output *output, const char *bytes, size_t length) {
  char last = '\n';
  while (length > 0) {
    if (output->interruptible && !output->cut && base_env_is_stopped()) {
      cut(output, last);
      return;
    }
    ssize_t written = write(STDOUT_FILENO, bytes, length < WRITE_MAX ? length : WRITE_MAX);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EAGAIN) {
      /* Someone has made the terminal or pipe non-blocking for all its users. */
      struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
      (void)poll(&out, 1, -1);
      continue;
    }
    if (written < 0) {
      output->error = errno;
      base_env_interrupt();
      return;
    }
    bytes += written;
    length -= (size_t)written;
    if (written > 0) last = bytes[-1];
  }
}

void program_output_begin(struct program_output *output) {
  output->interruptible = true;
  output->cut = false;
}

void program_output_end(struct program_output *output) {
  program_output_flush(output);
  output->interruptible = output->cut = false;
}

void program_output_flush(struct program_output *output) {
  output->flushed_at = base_env_monotonic();
  if (output->pending.length == 0) return;
  if (!output->error && !output->cut) {
    if (output->before_writing) output->before_writing(output->context);
    if (output->write)
      output->write(output->context, output->pending.data, output->pending.length);
    else
      write_all(output, output->pending.data, output->pending.length);
  }
  base_buffer_clear(&output->pending);
}

static void flush_large(struct program_output *output) {
  if (output->pending.length >= PENDING_MAX) program_output_flush(output);
}

void program_output_text(struct program_output *output, const char *text) {
  program_output_bytes(output, text, strlen(text));
}

void program_output_bytes(struct program_output *output, const char *bytes, size_t length) {
  base_buffer_append(&output->pending, bytes, length);
  flush_large(output);
}

bool program_output_once(const char *text, size_t length, struct base_diag_sink *diags) {
  size_t written = fwrite(text, 1, length, stdout);
  if ((written == length && fflush(stdout) == 0) || errno == EPIPE) return true;
  base_report(diags, MSG_OUTPUT_FAILED, NULL, NULL, "cannot write standard output: %s",
              strerror(errno));
  return false;
}

unsigned program_output_terminal_width(void) {
  struct winsize size;
  if (!isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

/* A large result is not text as a whole before it is written. */
static void pour(void *context, struct base_buffer *out) {
  (void)out;
  program_output_flush(context);
}

static struct tql_format_context format_context(struct program_output *output) {
  return (struct tql_format_context){
      .format = output->format,
      .timeline = tql_session_timeline(output->session),
      .strings = tql_session_strings(output->session),
      .results_before = output->results,
      .pour = pour,
      .pour_context = output,
      .pour_at = PENDING_MAX,
      .width = output->width   ? output->width
               : output->write ? 0
                               : program_output_terminal_width(),
  };
}

static void on_rows(void *context, const struct tql_rows *rows) {
  struct program_output *output = context;
  if (output->cut) return;
  struct tql_format_context format = format_context(output);
  tql_format_rows(&output->pending, &format, rows);
  output->results++;
  flush_large(output);
}

static void on_text(void *context, const char *text) {
  struct program_output *output = context;
  if (!output->cut) program_output_text(output, text);
}

static bool is_headed(struct program_output *output, const char *name) {
  for (size_t i = 0; i < output->headed_count; i++)
    if (strcmp(output->headed[i], name) == 0) return true;
  base_grow(&output->headed, &output->headed_capacity, output->headed_count + 1,
            sizeof *output->headed);
  output->headed[output->headed_count++] = base_xstrdup(name);
  return false;
}

static void on_live(void *context, const char *name, const struct net_layout *layout,
                    const union net_slot *row, uint8_t marks, net_chronon checkpoint) {
  struct program_output *output = context;
  struct tql_format_context format = format_context(output);
  if (!is_headed(output, name)) {
    if (output->results++ > 0 && output->format == TQL_FORMAT_CSV)
      base_buffer_putc(&output->pending, '\n');
    tql_format_live_heading(&output->pending, &format, name, layout);
  }
  tql_format_live_row(&output->pending, &format, name, layout, row, marks, checkpoint);
  if (output->pending.length >= PENDING_MAX ||
      base_env_monotonic() - output->flushed_at >= FLUSH_NS)
    program_output_flush(output);
}

static void on_timing(void *context, const char *line) {
  struct program_output *output = context;
  program_output_flush(output);
  fprintf(stderr, "%s\n", line);
}

void program_output_init(struct program_output *output, enum tql_format format, bool timing) {
  *output = (struct program_output){.format = format};
  output->output =
      (struct tql_output){.context = output, .rows = on_rows, .text = on_text, .live = on_live};
  program_output_set_timing(output, timing);
}

void program_output_set_timing(struct program_output *output, bool timing) {
  output->timing = timing;
  output->output.timing = timing ? on_timing : NULL;
}

void program_output_done(struct program_output *output) {
  for (size_t i = 0; i < output->headed_count; i++) free(output->headed[i]);
  free(output->headed);
  base_buffer_done(&output->pending);
}
