/* Statements that take long: a reader (reader.c) runs them, so that records, displays and other shells go on.
 *
 * A statement of a shell that only looks and has shown nothing after PATIENCE_NS is begun anew in a reader.
 * What the reader says goes to the shell as it comes, no faster than the shell takes it; a CANCEL of the
 * shell goes to the reader; the statements behind it wait. What records have brought is committed first, so
 * the reader finds what the server has. Where there can be no reader the statement runs here, as long as it
 * takes; when a reader dies its statement fails. What is done then is the shell's business. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "tquel/serve/output.h"
#include "tquel/serve/readers.h"

#define PIECE ((size_t)256 << 10)

struct server_reading {
  struct server_peer *peer; /* of the shell */
  struct sn_connection *connection;
  struct sn_message_statements statements; /* what was asked: its texts are the shell's */
  struct base_buffer settings;
  struct net_zone *zone; /* the seat's */
  size_t memory;         /* bytes that it has of the server's */
  bool prepared;         /* the settings are done */
  bool cancelled;
};

/* --- sending ---------------------------------------------------------------------------------- */

static void send_text(struct server_reading *reading, struct sn_message_statements statements,
                      struct sn_string text) {
  size_t sent = 0;
  do {
    size_t piece = text.length - sent < PIECE ? text.length - sent : PIECE;
    statements.more = sent + piece < text.length;
    statements.text = sn_string_from(text.bytes + sent, piece);
    (void)sn_put_statements(sn_connection_out(reading->connection), 0, &statements);
    sent += piece;
  } while (sent < text.length);
}

static void send_cancel(struct server_reading *reading) {
  const struct sn_message_cancel cancel = {0};
  (void)sn_put_cancel(sn_connection_out(reading->connection), 0, &cancel);
}

/* The user's text follows when they are done: who says something while a statement runs cancels it. */
static void send_settings(struct server_reading *reading) {
  const struct sn_message_hello hello = {.version = SN_WIRE_VERSION,
                                         .role = SN_ROLE_SHELL,
                                         .program = sn_string_of("tquel serve"),
                                         .flags = SN_HELLO_READONLY};
  (void)sn_put_hello(sn_connection_out(reading->connection), 0, &hello);
  size_t length;
  const void *zone = net_zone_bytes(reading->zone, &length);
  const struct sn_message_question question = {.what = sn_string_of("zone"),
                                               .argument = sn_string_from(zone, length)};
  (void)sn_put_question(sn_connection_out(reading->connection), 0, &question);
  const struct sn_message_statements settings = {.name = sn_string_of("settings"), .first_line = 1};
  send_text(reading, settings,
            sn_string_from(base_buffer_text(&reading->settings), reading->settings.length));
  base_buffer_done(&reading->settings);
}

/* More would take memory from each other; the next ones run here. */
#define READERS 32

/* With less nothing is begun. */
#define MEMORY_LEAST ((size_t)32 << 20)

static bool refuse(struct server_peer *peer, enum base_message number, const char *hint,
                   const char *text, size_t count) {
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  base_report_hint(&diags, number, NULL, NULL, hint, text, count);
  server_output_report(peer->shell, &diags.items[0]);
  base_diag_sink_done(&diags);
  return false;
}

/* One takes no more than half of what is left, so that there is always something for the next, up to a point. */
static bool share_memory(struct server_peer *peer, const struct tql_seat *seat,
                         struct server_reader *ret) {
  size_t wanted = tql_seat_memory(seat), left = tql_session_memory_left(peer->server->session);
  size_t share = wanted < left / 2 ? wanted : left / 2;
  if (share < MEMORY_LEAST) share = MEMORY_LEAST < left ? MEMORY_LEAST : left;
  ret->memory = share < wanted ? share : 0;
  if (share >= wanted || share >= MEMORY_LEAST) return true;
  return refuse(peer, MSG_SERVER_MEMORY, "ask again when other statements are done",
                "the server has no more memory: other statements and standing queries have all "
                "but %zu MiB of it",
                left >> 20);
}

bool server_reading_is_allowed(struct server_peer *peer, const struct tql_seat *seat,
                               struct server_reader *ret) {
  const struct server *server = peer->server;
  size_t own = 0;
  for (size_t i = 0; i < server->reading_count; i++)
    own += strcmp(server->readings[i]->peer->user, peer->user) == 0;
  if (!peer->owner && own >= server->options->statements)
    return refuse(peer, MSG_TOO_MANY_STATEMENTS, "wait until one of them is done, or interrupt it",
                  "%zu statements of yours that take long run already", own);
  if (!peer->owner && server->reading_count == READERS)
    return refuse(peer, MSG_TOO_MANY_STATEMENTS, "wait until one of them is done",
                  "%zu statements that take long run already", server->reading_count);
  return share_memory(peer, seat, ret);
}

static void lend_memory(struct server *server) {
  size_t lent = 0;
  for (size_t i = 0; i < server->reading_count; i++) lent += server->readings[i]->memory;
  tql_session_lend_memory(server->session, lent);
}

/* False: there can be no reader. */
static bool start(struct server *server, struct server_reading *reading,
                  const struct server_reader *reader) {
  if (tql_session_commit(server->session) != BASE_OK) return false;
  reading->connection = server_keeper_ask(server, reader);
  if (!reading->connection) return false;
  send_settings(reading);
  return true;
}

struct server_reading *server_reading_new(struct server_peer *peer, struct tql_seat *seat,
                                          const struct sn_message_statements *statements,
                                          const struct server_reader *reader) {
  struct server *server = peer->server;
  if (server->reading_count == READERS) return NULL;
  struct server_reading *reading = base_xcalloc(1, sizeof *reading);
  *reading =
      (struct server_reading){.peer = peer,
                              .statements = *statements,
                              .memory = reader->memory ? reader->memory : tql_seat_memory(seat),
                              .settings = BASE_BUFFER_EMPTY,
                              .zone = tql_seat_time(seat)->zone};
  tql_seat_text(seat, &reading->settings);
  if (!start(server, reading, reader)) {
    base_buffer_done(&reading->settings);
    free(reading);
    return NULL;
  }
  base_grow(&server->readings, &server->reading_capacity, server->reading_count + 1,
            sizeof *server->readings);
  server->readings[server->reading_count++] = reading;
  lend_memory(server);
  return reading;
}

void server_reading_free(struct server_reading *reading) {
  if (!reading) return;
  struct server *server = reading->peer->server;
  size_t at = 0;
  while (server->readings[at] != reading) at++;
  memmove(server->readings + at, server->readings + at + 1,
          (server->reading_count - at - 1) * sizeof *server->readings);
  server->reading_count--;
  lend_memory(server);
  sn_connection_free(reading->connection);
  base_buffer_done(&reading->settings);
  free(reading);
}

void server_reading_cancel(struct server_reading *reading) {
  if (reading->prepared && !reading->cancelled) send_cancel(reading);
  reading->cancelled = true;
}

/* Does the shell not take what there is? */
static bool is_slow(const struct server_reading *reading) {
  return sn_connection_unsent(reading->peer->connection) >= SERVER_RESULT_BYTES;
}

int server_reading_descriptor(const struct server_reading *reading) {
  return sn_connection_descriptor(reading->connection);
}

short server_reading_events(const struct server_reading *reading) {
  short events = sn_connection_events(reading->connection);
  return is_slow(reading) ? events & (short)~POLLIN : events;
}

bool server_reading_waits(const struct server_reading *reading) {
  return !is_slow(reading) && !(sn_connection_events(reading->connection) & POLLIN);
}

/* --- what comes back -------------------------------------------------------------------------- */

/* It has died, or was never there. */
static void end_badly(struct server_reading *reading, struct server_reading_end *ret) {
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  base_report(&diags, MSG_READER_GONE, NULL, NULL, "the process that ran the statement has ended");
  server_output_report(reading->peer->shell, &diags.items[0]);
  *ret = (struct server_reading_end){(uint8_t)diags.exit_code, BASE_SYSTEM};
  base_diag_sink_done(&diags);
}

/* The settings were done, or the statement. */
static enum server_reading_state take_done(struct server_reading *reading,
                                           const struct sn_message_done *done,
                                           struct server_reading_end *ret) {
  if (!reading->prepared && done->exit_code == 0) {
    reading->prepared = true;
    send_text(reading, reading->statements, reading->statements.text);
    (void)sn_connection_pump(reading->connection, 0);
    return SERVER_READING_ON;
  }
  /* It cannot read, or a variable's relation was destroyed: that is told when it is run here. */
  if (!reading->prepared) return SERVER_READING_UNREAD;
  *ret = (struct server_reading_end){done->exit_code, (enum base_status)done->status};
  return SERVER_READING_OVER;
}

static enum server_reading_state take(struct server_reading *reading,
                                      const struct sn_message *message,
                                      struct server_reading_end *ret) {
  struct base_buffer *out = sn_connection_out(reading->peer->connection);
  struct sn_message_output output;
  struct sn_message_diagnostic diagnostic;
  struct sn_message_timing timing;
  struct sn_message_done done;
  if (message->type == SN_WIRE_DONE && sn_get_done(message, &done))
    return take_done(reading, &done, ret);
  if (!reading->prepared) return SERVER_READING_ON;
  if (message->type == SN_WIRE_OUTPUT && sn_get_output(message, &output)) {
    (void)sn_put_output(out, 0, &output);
    server_output_begun(reading->peer->shell);
  } else if (message->type == SN_WIRE_DIAGNOSTIC && sn_get_diagnostic(message, &diagnostic)) {
    (void)sn_put_diagnostic(out, 0, &diagnostic);
    if (diagnostic.severity == BASE_ERROR) server_output_told(reading->peer->shell);
  } else if (message->type == SN_WIRE_TIMING && sn_get_timing(message, &timing))
    (void)sn_put_timing(out, 0, &timing);
  return SERVER_READING_ON;
}

enum server_reading_state server_reading_turn(struct server_reading *reading,
                                              struct server_reading_end *ret) {
  bool alive = true;
  struct sn_message message;
  if (reading->cancelled && !reading->prepared)
    return SERVER_READING_UNREAD; /* it has not begun, and need not */
  while (!is_slow(reading)) {
    if (!sn_connection_next(reading->connection, &message)) {
      if (!alive) break;
      alive = sn_connection_pump(reading->connection, 0);
      if (!sn_connection_next(reading->connection, &message)) break;
    }
    enum server_reading_state state = take(reading, &message, ret);
    if (state != SERVER_READING_ON) return state;
  }
  if (alive) return SERVER_READING_ON;
  end_badly(reading, ret);
  return SERVER_READING_OVER;
}

struct server_peer *server_reading_peer(const struct server_reading *reading) {
  return reading->peer;
}
