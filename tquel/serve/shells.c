/* Shells: each has a seat of the session, and an output that becomes frames.
 *
 * One statement runs at a time, for all. While it runs its own connection is looked at now and then: a
 * CANCEL, or its end, interrupts. Results are sent whole; a shell that does not take its result gets no
 * other done. Rows of standing displays are made for those who take them: with too many bytes waiting
 * they are dropped, which the shell is told when it reads again. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "tquel/serve/server.h"

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
#define PIECE    ((size_t)256 << 10)

struct server_shell {
  struct server_peer *peer;
  struct tql_seat *seat;
  struct program_output output;
  void (*show)(void *context, const char *name, const struct net_layout *layout,
               const union net_slot *row, uint8_t marks, net_chronon checkpoint);
  struct base_buffer text;                 /* of statements, as far as it came */
  struct base_buffer name;                 /* of the text */
  struct sn_message_statements statements; /* how they are to be run; its texts are those above */
  struct tql_rest rest;                    /* of the text, what is not done */
  struct server_reading *reading;          /* a reader runs that one; NULL: none does */
  struct base_buffer held;                 /* of displays, until its result is over */
  int64_t awaits_until,
      try_at;      /* monotonic ns: it waits for checkpoints (tql_rest.awaits); 0: it does not */
  size_t awaiting; /* which statement of the text does */
  bool running;
  bool cancelled;    /* its statement is not wanted any more */
  bool told;         /* an error of the text that runs was sent to it */
  int64_t looked_at; /* monotonic ns: for CANCEL */
  uint64_t dropped;  /* rows of displays, since it was told */
};

static struct base_buffer *out_of(struct server_shell *shell) {
  return sn_connection_out(shell->peer->connection);
}

/* --- output ----------------------------------------------------------------------------------- */

/* Rows of displays wait while a result is on its way: they would come in the midst of its lines. */
static bool holds_displays(const struct server_shell *shell) {
  return !shell->running && shell->reading && server_reading_has_shown(shell->reading);
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

void server_shell_report(struct server_shell *shell, const struct base_diag *diag) {
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

static void run(struct server_shell *shell, bool here);

void server_shell_tick(struct server_peer *peer) {
  struct server_shell *shell = peer->shell;
  server_inquiry_tick(peer, base_env_monotonic());
  if (server_shell_due(peer, base_env_monotonic()) == 0) run(shell, false);
  program_output_flush(&shell->output);
  if (shell->dropped && sn_connection_unsent(peer->connection) < SERVER_DISPLAY_BYTES / 2)
    tell_dropped(shell);
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
  program_output_init(&shell->output, TQL_FORMAT_CSV, false);
  shell->output.session = server->session;
  shell->output.write = write_frames;
  shell->output.context = shell;
  shell->show = shell->output.output.live;
  shell->output.output.live = on_live;
  shell->output.output.live_over = on_live_over;
  shell->output.output.live_lacks = on_live_lacks;
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
  base_buffer_clear(&shell->output.pending);
  program_output_done(&shell->output);
  base_buffer_done(&shell->text);
  base_buffer_done(&shell->name);
  base_buffer_done(&shell->held);
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

void server_shell_told(struct server_shell *shell) {
  shell->told = true;
}

/* A failure without a word is one more. */
static void tell_unexplained(struct server_shell *shell) {
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  base_report(&diags, MSG_UNEXPLAINED, NULL, NULL, "the statement failed, and nothing says why");
  server_shell_report(shell, &diags.items[0]);
  base_diag_sink_done(&diags);
}

static void finish(struct server_shell *shell, uint8_t code, enum base_status status) {
  if (code != 0 && !shell->told) tell_unexplained(shell);
  const struct sn_message_done done = {.exit_code = code, .status = (uint8_t)status};
  (void)sn_put_done(out_of(shell), 0, &done);
  base_buffer_clear(&shell->text);
  base_buffer_clear(&shell->name);
}

/* Who has cancelled a statement wants those behind it no more. */
static bool end_cancelled(struct server_shell *shell) {
  if (!shell->cancelled) return false;
  struct base_diag_sink diags;
  base_diag_sink_init(&diags);
  base_report(&diags, MSG_CANCELLED, NULL, NULL, "the statement was interrupted");
  server_shell_report(shell, &diags.items[0]);
  finish(shell, exit_code(&diags, BASE_CANCEL), BASE_CANCEL);
  base_diag_sink_done(&diags);
  return true;
}

/* The statement is tried again when checkpoints may have come. */
static void await(struct server_shell *shell) {
  int64_t now = base_env_monotonic();
  if (shell->awaits_until == 0 || shell->awaiting != shell->rest.next)
    shell->awaits_until = now + AWAIT_NS + 2 * shell->peer->server->checkpoint_ns;
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
  write_frames(shell, base_buffer_text(&shell->held), shell->held.length);
  base_buffer_done(&shell->held);
}

void server_shell_read(struct server_peer *peer, uint8_t code, enum base_status status) {
  struct server_shell *shell = peer->shell;
  end_reading(shell);
  shell->rest.next++;
  shell->rest.now = 0;
  shell->output.results += shell->rest.shows_rows && status == BASE_OK;
  if (code != 0 || status != BASE_OK)
    finish(shell, code, status);
  else if (!end_cancelled(shell))
    run(shell, false);
}

void server_shell_unread(struct server_peer *peer) {
  end_reading(peer->shell);
  if (!end_cancelled(peer->shell)) run(peer->shell, true);
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
  shell->output.output.timing = statements.timing ? on_timing : NULL;
  base_buffer_append(&shell->name, statements.name.bytes, statements.name.length);
  shell->statements = statements;
  if (statements.first_line == 0) shell->statements.first_line = 1;
  shell->rest = (struct tql_rest){0};
  shell->cancelled = shell->told = false;
  run(shell, false);
}

/* --- questions -------------------------------------------------------------------------------- */

static void on_name(void *context, const char *name) {
  struct base_buffer *out = context;
  base_buffer_puts(out, name);
  base_buffer_putc(out, '\n');
}

static bool say_displays(struct server_shell *shell, const char *argument,
                         struct base_buffer *out) {
  (void)argument;
  base_buffer_puts(out, tql_seat_has_displays(shell->seat) ? "on\n" : "off\n");
  return true;
}
static bool say_seat(struct server_shell *shell, const char *argument, struct base_buffer *out) {
  (void)argument;
  tql_seat_text(shell->seat, out);
  return true;
}
static bool stop_displays(struct server_shell *shell, const char *argument,
                          struct base_buffer *out) {
  (void)argument;
  (void)out;
  tql_seat_stop_displays(shell->seat);
  return true;
}
static bool say_relations(struct server_shell *shell, const char *argument,
                          struct base_buffer *out) {
  (void)argument;
  tql_seat_each_relation(shell->seat, on_name, out);
  return true;
}
static bool say_variables(struct server_shell *shell, const char *argument,
                          struct base_buffer *out) {
  (void)argument;
  tql_seat_each_variable(shell->seat, on_name, out);
  return true;
}
static bool say_domains(struct server_shell *shell, const char *argument, struct base_buffer *out) {
  tql_seat_each_domain(shell->seat, argument, on_name, out);
  return true;
}
static bool say_description(struct server_shell *shell, const char *argument,
                            struct base_buffer *out) {
  return tql_seat_describe(shell->seat, *argument ? argument : NULL, out);
}
static bool say_nodes(struct server_shell *shell, const char *argument, struct base_buffer *out) {
  return tql_seat_describe_nodes(shell->seat, *argument ? argument : NULL, out);
}
static bool say_sensors(struct server_shell *shell, const char *argument, struct base_buffer *out) {
  (void)argument;
  server_reports_describe(shell->peer->server, shell->seat, out);
  return true;
}

static const struct {
  const char *what;
  bool (*say)(struct server_shell *shell, const char *argument, struct base_buffer *out);
  bool owners; /* the nodes of a query say what it is made of */
} questions[] = {
    {"relations", say_relations, false}, {"variables", say_variables, false},
    {"domains", say_domains, false},     {"describe", say_description, false},
    {"nodes", say_nodes, true},          {"sensors", say_sensors, false},
    {"displays", say_displays, false},   {"stop displays", stop_displays, false},
    {"seat", say_seat, false},
};

/* Questions that only collectors can answer. */
static bool ask_collectors(struct server_peer *peer, struct sn_string what, const char *argument) {
  if (sn_string_is(what, "receptacles")) {
    server_receptacles_ask(peer, argument);
  } else if (sn_string_is(what, "count")) {
    server_count_ask(peer, argument);
  } else {
    return false;
  }
  return true;
}

/* The client's time zone, which is not text. */
static void take_zone(struct server_peer *peer, struct sn_string bytes) {
  struct base_buffer none = BASE_BUFFER_EMPTY;
  if (tql_seat_set_zone(peer->shell->seat, bytes.bytes, bytes.length))
    server_peer_answer(peer, &none);
  else
    server_peer_refuse(peer, MSG_PEER_REFUSED, "these are no rules of a time zone");
}

static void take_question(struct server_peer *peer, const struct sn_message *message) {
  struct server_shell *shell = peer->shell;
  struct sn_message_question question;
  if (!sn_get_question(message, &question)) {
    server_peer_dismiss(peer, MSG_PEER_REFUSED, "a QUESTION is wrong");
    return;
  }
  if (sn_string_is(question.what, "zone")) {
    take_zone(peer, question.argument);
    return;
  }
  struct base_buffer argument = BASE_BUFFER_EMPTY, text = BASE_BUFFER_EMPTY;
  base_buffer_append(&argument, question.argument.bytes, question.argument.length);
  bool known = false, found = false, refused = false;
  if (ask_collectors(peer, question.what, base_buffer_text(&argument))) {
    base_buffer_done(&argument);
    return;
  }
  for (size_t i = 0; i < sizeof questions / sizeof questions[0] && !known; i++) {
    known = sn_string_is(question.what, questions[i].what);
    refused = known && questions[i].owners && !peer->owner;
    if (known && !refused) found = questions[i].say(shell, base_buffer_text(&argument), &text);
  }
  if (found)
    server_peer_answer(peer, &text);
  else if (refused)
    server_peer_refuse(peer, MSG_OWNER_ONLY, "only the owner of the database may look at nodes");
  else
    server_peer_refuse(peer, known ? MSG_UNKNOWN_RELATION : MSG_PEER_REFUSED,
                        known ? "there is no such relation" : "there is no such question");
  base_buffer_done(&argument);
  base_buffer_done(&text);
}

void server_shell_message(struct server_peer *peer, const struct sn_message *message) {
  if (message->type == SN_WIRE_STATEMENTS)
    take_statements(peer, message);
  else if (message->type == SN_WIRE_QUESTION)
    take_question(peer, message);
  /* A CANCEL that comes when all is done is none too many. */
}
