/* What a shell is shown: results, rows of displays and diagnostics, as frames.
 *
 * Results are sent whole. Rows of standing displays are made for those who take them: with too many bytes waiting
 * they are dropped, which the shell is told when it reads again. */
#include <poll.h>

#include "tquel/serve/shell.h"

/* The largest frame. */
#define PIECE ((size_t)256 << 10)

static struct base_buffer *out_of(struct server_shell *shell) {
  return sn_connection_out(shell->peer->connection);
}

/* Rows of displays wait while a result is on its way: they would come in the midst of its lines. */
static bool holds_displays(const struct server_shell *shell) {
  return !shell->running && shell->begun;
}

/* A reader has nothing else to do than to wait until the server takes what it has: so a large result is nowhere as a
 * whole. False: it is not wanted any more. */
static bool wait_for_taker(struct server_shell *shell) {
  struct sn_connection *connection = shell->peer->connection;
  if (!shell->peer->server->reader || !shell->running) return true;
  while (!shell->cancelled && sn_connection_unsent(connection) >= SERVER_RESULT_BYTES) {
    struct pollfd polled = {.fd = sn_connection_descriptor(connection),
                            .events = sn_connection_events(connection)};
    struct sn_message message;
    (void)poll(&polled, 1, 1000);
    shell->cancelled =
        !sn_connection_pump(connection, polled.revents) || sn_connection_next(connection, &message);
  }
  return !shell->cancelled;
}

/* As frames of at most PIECE bytes. */
static void write_frames(void *context, const char *bytes, size_t length) {
  struct server_shell *shell = context;
  if (holds_displays(shell)) {
    base_buffer_append(&shell->held, bytes, length);
    return;
  }
  while (length > 0 && wait_for_taker(shell)) {
    size_t piece = length < PIECE ? length : PIECE;
    const struct sn_string text = sn_string_from(bytes, piece);
    if (shell->running)
      (void)sn_put_output(out_of(shell), 0, &(struct sn_message_output){.bytes = text});
    else
      (void)sn_put_live(out_of(shell), 0, &(struct sn_message_live){.bytes = text});
    bytes += piece;
    length -= piece;
  }
}

static struct server_shell *of_output(void *context) {
  return ((struct program_output *)context)->context;
}

static void on_live(void *context, const char *name, const struct net_layout *layout,
                    const union net_slot *row, uint8_t marks, net_chronon checkpoint) {
  struct server_shell *shell = of_output(context);
  if (sn_connection_unsent(shell->peer->connection) + shell->held.length > SERVER_DISPLAY_BYTES) {
    shell->dropped++;
    return;
  }
  shell->show(context, name, layout, row, marks, checkpoint);
}

static void send_diagnostic(struct server_shell *shell, const struct base_diag *diag) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_diag_format(&text, diag);
  if (text.length > SN_BODY_MAX / 2) text.length = SN_BODY_MAX / 2;
  shell->told |= diag->severity == BASE_ERROR;
  const struct sn_message_diagnostic message = {.severity = (uint8_t)diag->severity,
                                                .text = sn_string_from(text.data, text.length)};
  (void)sn_put_diagnostic(out_of(shell), 0, &message);
  base_buffer_done(&text);
}

static void on_live_over(void *context, const char *name) {
  struct server_shell *shell = of_output(context);
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  struct base_diag *diag =
      base_report(&diags, MSG_DISPLAY_OVER, NULL, NULL, "%s was destroyed; its display ends", name);
  program_output_flush(&shell->output);
  send_diagnostic(shell, diag);
  base_diag_sink_done(&diags);
}

static void on_live_lacks(void *context, const struct base_diag *diag) {
  struct server_shell *shell = of_output(context);
  program_output_flush(&shell->output);
  send_diagnostic(shell, diag);
}

static void on_timing(void *context, const char *line) {
  struct server_shell *shell = of_output(context);
  program_output_flush(&shell->output);
  const struct sn_message_timing timing = {.text = sn_string_of(line)};
  (void)sn_put_timing(out_of(shell), 0, &timing);
}

void server_output_report(struct server_shell *shell, const struct base_diag *diag) {
  program_output_flush(&shell->output);
  send_diagnostic(shell, diag);
}

static void tell_dropped(struct server_shell *shell) {
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  struct base_diag *diag =
      base_report(&diags, MSG_ROWS_DROPPED, NULL, NULL,
                  "%llu rows of displays were dropped, as the shell did not take them in time",
                  (unsigned long long)shell->dropped);
  send_diagnostic(shell, diag);
  base_diag_sink_done(&diags);
  shell->dropped = 0;
}

void server_output_tick(struct server_shell *shell) {
  program_output_flush(&shell->output);
  if (shell->dropped && sn_connection_unsent(shell->peer->connection) < SERVER_DISPLAY_BYTES / 2)
    tell_dropped(shell);
}

void server_output_told(struct server_shell *shell) {
  shell->told = true;
}

void server_output_begun(struct server_shell *shell) {
  shell->begun = true;
}

void server_output_release(struct server_shell *shell) {
  shell->begun = false;
  write_frames(shell, base_buffer_text(&shell->held), shell->held.length);
  base_buffer_done(&shell->held);
}

void server_output_timing(struct server_shell *shell, bool on) {
  shell->output.output.timing = on ? on_timing : NULL;
}

void server_output_open(struct server_shell *shell) {
  program_output_init(&shell->output, TQL_FORMAT_CSV, false);
  shell->output.session = shell->peer->server->session;
  shell->output.write = write_frames;
  shell->output.context = shell;
  shell->show = shell->output.output.live;
  shell->output.output.live = on_live;
  shell->output.output.live_over = on_live_over;
  shell->output.output.live_lacks = on_live_lacks;
}

void server_output_close(struct server_shell *shell) {
  base_buffer_clear(&shell->output.pending);
  program_output_done(&shell->output);
  base_buffer_done(&shell->held);
}
