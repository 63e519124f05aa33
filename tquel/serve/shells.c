/* Shells: each has a seat of the session, and an output that becomes frames (output.c).
 *
 * One statement runs at a time, for all. While it runs its own connection is looked at now and then: a
 * CANCEL, or its end, interrupts. A shell that does not take its result gets no other done. What takes long and only
 * looks is given to a reader (readings.c), and what is behind it runs when that is done. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "tquel/serve/collectors.h"
#include "tquel/serve/kinds.h"
#include "tquel/serve/readers.h"
#include "tquel/serve/shell.h"

/* So often the connection is looked at while a statement runs. */
#define LOOK_NS 20000000
/* So long a statement waits for checkpoints (tql_rest.awaits), and what collectors were told as to how often they
 * come on top; and so often it is tried. */
#define AWAIT_NS (2 * (int64_t)1000000000)
#define TRY_NS   20000000
/* So long a statement that only looks holds everybody up, before a reader runs it. */
#define PATIENCE_NS 100000000
/* The longest text of statements that is taken in pieces. */
#define TEXT_MAX ((size_t)64 << 20)

static void run(struct server_shell *shell, bool here);

void server_shell_tick(struct server_peer *peer) {
  struct server_shell *shell = peer->shell;
  server_inquiry_tick(peer, base_env_monotonic());
  if (server_shell_due(peer, base_env_monotonic()) == 0) run(shell, false);
  server_output_tick(shell);
}

bool server_shell_is_ready(const struct server_peer *peer) {
  if (peer->inquiry || server_shell_is_busy(peer)) return false;
  return sn_connection_unsent(peer->connection) < SERVER_RESULT_BYTES;
}

/* --- beginning and end ------------------------------------------------------------------------ */

void server_shell_open(struct server_peer *peer, const struct sn_message_hello *hello) {
  struct server *server = peer->server;
  struct server_shell *shell = base_xcalloc(1, sizeof *shell);
  shell->peer = peer;
  server_output_open(shell);
  bool local = sn_connection_is_local(peer->connection);
  struct base_buffer directory = BASE_BUFFER_EMPTY;
  base_buffer_append(&directory, hello->directory.bytes, hello->directory.length);
  const struct tql_seat_options options = {
      .user = peer->user,
      .owner = peer->owner,
      .readonly = hello->flags & SN_HELLO_READONLY,
      .files = local && peer->owner,
      .directory = local && directory.length ? directory.data : NULL,
      .displays = &shell->output.output,
      .start = server->reader ? server->reader->start : 0,
      .now = server->reader ? server->reader->now : 0,
  };
  shell->seat = tql_seat_new(server->session, &options);
  peer->shell = shell;
  const struct sn_message_welcome welcome = {
      .version = SN_WIRE_VERSION,
      .program = sn_string_of(server->options->database),
      .now = base_env_now(),
      .timeline = (uint8_t)tql_session_timeline(server->session)};
  (void)sn_put_welcome(sn_connection_out(peer->connection), 0, &welcome);
  base_buffer_done(&directory);
}

void server_shell_close(struct server_peer *peer) {
  struct server_shell *shell = peer->shell;
  server_inquiry_free(peer);
  server_reading_free(shell->reading);
  peer->shell = NULL;
  tql_seat_free(shell->seat);
  server_output_close(shell);
  base_buffer_done(&shell->text);
  base_buffer_done(&shell->name);
  free(shell);
}

/* --- statements ------------------------------------------------------------------------------- */

/* Asked in the midst of a statement: is it still wanted? Nothing but the connection may be touched. */
static bool is_cancelled(void *context) {
  struct server_shell *shell = context;
  struct sn_connection *connection = shell->peer->connection;
  if (shell->cancelled || tql_seat_is_impatient(shell->seat)) return true;
  int64_t now = base_env_monotonic();
  if (now - shell->looked_at < LOOK_NS) return false;
  shell->looked_at = now;
  if (shell->peer->server->reader) tql_session_watch_log(shell->peer->server->session);
  /* Who waits for an answer has nothing else to say; it may have come together with the statement. */
  struct sn_message message;
  shell->cancelled = sn_connection_next(connection, &message);
  struct pollfd polled = {.fd = sn_connection_descriptor(connection),
                          .events = sn_connection_events(connection)};
  if (shell->cancelled || (poll(&polled, 1, 0) <= 0 && !sn_connection_pending(connection)))
    return shell->cancelled;
  bool alive = sn_connection_pump(connection, polled.revents);
  shell->cancelled = sn_connection_next(connection, &message) || !alive;
  return shell->cancelled;
}

static uint8_t exit_code(const struct base_diag_sink *diags, enum base_status status) {
  if (status == BASE_OK || status == BASE_END || status == BASE_AGAIN) return 0;
  if (diags->exit_code != 0) return (uint8_t)diags->exit_code;
  return status == BASE_USER ? 2 : 3;
}

/* Runs what is not done yet, until a statement takes longer than PATIENCE. */
static enum base_status run_part(struct server_shell *shell, int64_t patience) {
  struct server *server = shell->peer->server;
  struct tql_part part = {
      .name = base_buffer_text(&shell->name),
      .first_line = (int)shell->statements.first_line,
      .text = base_buffer_text(&shell->text),
      .length = shell->text.length,
      .single_transaction = shell->statements.single_transaction,
      .first = shell->rest.next,
      .count = SIZE_MAX,
      .now = shell->rest.now,
      .may_wait = shell->awaits_until == 0 || base_env_monotonic() < shell->awaits_until};
  if (server->reader && server->reader->texts++ > 0) {
    part.first = server->reader->statement;
    part.count = 1;
    shell->output.results = server->reader->results;
  }
  server->running = shell;
  shell->running = true;
  shell->looked_at = base_env_monotonic();
  tql_seat_patience(shell->seat, patience);
  base_env_interrupt_source(is_cancelled, shell);
  enum base_status status =
      tql_seat_run_part(shell->seat, &part, &shell->output.output, &shell->rest);
  if (status != BASE_AGAIN) shell->rest.now = 0;
  base_env_interrupt_source(NULL, NULL);
  program_output_flush(&shell->output);
  shell->running = false;
  server->running = NULL;
  return status;
}

/* A failure without a word is one more. */
static void tell_unexplained(struct server_shell *shell) {
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  base_report(&diags, MSG_UNEXPLAINED, NULL, NULL, "the statement failed, and nothing says why");
  server_output_report(shell, &diags.items[0]);
  base_diag_sink_done(&diags);
}

static void finish(struct server_shell *shell, uint8_t code, enum base_status status) {
  if (code != 0 && !shell->told) tell_unexplained(shell);
  const struct sn_message_done done = {.exit_code = code, .status = (uint8_t)status};
  (void)sn_put_done(sn_connection_out(shell->peer->connection), 0, &done);
  base_buffer_clear(&shell->text);
  base_buffer_clear(&shell->name);
}

/* Who has cancelled a statement wants those behind it no more. */
static bool end_cancelled(struct server_shell *shell) {
  if (!shell->cancelled) return false;
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  base_report(&diags, MSG_CANCELLED, NULL, NULL, "the statement was interrupted");
  server_output_report(shell, &diags.items[0]);
  finish(shell, exit_code(&diags, BASE_CANCEL), BASE_CANCEL);
  base_diag_sink_done(&diags);
  return true;
}

/* The statement is tried again when checkpoints may have come. */
static void await(struct server_shell *shell) {
  int64_t now = base_env_monotonic();
  if (shell->awaits_until == 0 || shell->awaiting != shell->rest.next)
    shell->awaits_until = now + AWAIT_NS + 2 * shell->peer->server->watching.checkpoint_ns;
  shell->awaiting = shell->rest.next;
  shell->try_at = now + TRY_NS;
}

/* HERE: the next statement runs here, however long it takes. */
static void run(struct server_shell *shell, bool here) {
  struct server *server = shell->peer->server;
  base_diag_sink_clear(&server->diags);
  enum base_status status = run_part(shell, here || server->reader ? 0 : PATIENCE_NS);
  if (status == BASE_AGAIN && shell->rest.awaits) {
    await(shell);
    return;
  }
  shell->awaits_until = 0;
  if (status == BASE_AGAIN) {
    shell->statements.name = sn_string_from(base_buffer_text(&shell->name), shell->name.length);
    shell->statements.text = sn_string_from(base_buffer_text(&shell->text), shell->text.length);
    struct server_reader reader = {.user = shell->peer->user,
                                   .owner = shell->peer->owner,
                                   .statement = shell->rest.next,
                                   .results = shell->output.results,
                                   .start = tql_seat_time(shell->seat)->start,
                                   .now = tql_seat_time(shell->seat)->now};
    if (!server_reading_is_allowed(shell->peer, shell->seat, &reader)) {
      finish(shell, 3, BASE_SYSTEM);
      base_diag_sink_clear(&server->diags);
      return;
    }
    shell->reading = server_reading_new(shell->peer, shell->seat, &shell->statements, &reader);
    if (shell->reading) return;
    status = run_part(shell, 0);
  }
  finish(shell, exit_code(&server->diags, status), status);
  base_diag_sink_clear(&server->diags);
}

bool server_shell_is_busy(const struct server_peer *peer) {
  return peer->shell && (peer->shell->reading || peer->shell->awaits_until);
}

int64_t server_shell_due(const struct server_peer *peer, int64_t now) {
  if (!peer->shell || peer->shell->awaits_until == 0) return INT64_MAX;
  return peer->shell->try_at > now ? peer->shell->try_at - now : 0;
}

void server_shell_cancel(struct server_peer *peer) {
  struct server_shell *shell = peer->shell;
  shell->cancelled = true;
  if (shell->reading) server_reading_cancel(shell->reading);
  if (shell->awaits_until == 0) return;
  shell->awaits_until = 0;
  (void)end_cancelled(shell);
}

static void end_reading(struct server_shell *shell) {
  server_reading_free(shell->reading);
  shell->reading = NULL;
  server_output_release(shell);
}

/* The reader is done: what is behind the statement is run, or the shell is told. */
static void go_on(struct server_shell *shell, uint8_t code, enum base_status status) {
  end_reading(shell);
  shell->rest.next++;
  shell->rest.now = 0;
  shell->output.results += shell->rest.shows_rows && status == BASE_OK;
  if (code != 0 || status != BASE_OK)
    finish(shell, code, status);
  else if (!end_cancelled(shell))
    run(shell, false);
}

/* The reader could not begin: the statement is run here. */
static void run_here(struct server_shell *shell) {
  end_reading(shell);
  if (!end_cancelled(shell)) run(shell, true);
}

void server_shells_turn(struct server *server) {
  for (size_t i = 0; i < server->reading_count;) {
    struct server_reading *reading = server->readings[i];
    struct server_shell *shell = server_reading_peer(reading)->shell;
    struct server_reading_end end = {0};
    enum server_reading_state state = server_reading_turn(reading, &end);
    if (state == SERVER_READING_ON)
      i++; /* else another one has its place */
    else if (state == SERVER_READING_OVER)
      go_on(shell, end.exit_code, end.status);
    else
      run_here(shell);
  }
}

static void take_statements(struct server_peer *peer, const struct sn_message *message) {
  struct server_shell *shell = peer->shell;
  struct sn_message_statements statements;
  if (!sn_get_statements(message, &statements) || statements.format > TQL_FORMAT_COUNT ||
      statements.first_line > INT32_MAX / 2) {
    server_peer_dismiss(peer, MSG_PEER_REFUSED, "STATEMENTS is wrong");
    return;
  }
  if (shell->text.length + statements.text.length > TEXT_MAX) {
    server_peer_dismiss(peer, MSG_PEER_REFUSED, "the text of the statements is too long");
    return;
  }
  base_buffer_append(&shell->text, statements.text.bytes, statements.text.length);
  if (statements.more) return;
  shell->output.format = (enum tql_format)statements.format;
  shell->output.width = statements.width;
  server_output_timing(shell, statements.timing);
  base_buffer_append(&shell->name, statements.name.bytes, statements.name.length);
  shell->statements = statements;
  if (statements.first_line == 0) shell->statements.first_line = 1;
  shell->rest = (struct tql_rest){0};
  shell->cancelled = shell->told = false;
  run(shell, false);
}

void server_shell_message(struct server_peer *peer, const struct sn_message *message) {
  if (message->type == SN_WIRE_STATEMENTS)
    take_statements(peer, message);
  else if (message->type == SN_WIRE_QUESTION)
    server_question_take(peer, message);
  /* A CANCEL that comes when all is done is none too many. */
}
