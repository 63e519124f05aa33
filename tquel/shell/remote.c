/* The shell's backend that is a connection to a server, which runs the statements in a seat of its own.
 *
 * The server formats: what comes is text for standard output, or for standard error, and is written in the
 * order in which it comes. While an answer is awaited Ctrl-C sends CANCEL, and the answer is still awaited:
 * only it says what became of the statement; results that still come are not shown. A server that goes in the
 * midst of one leaves that open. Who types is connected again with his next statement, when the server is back, and
 * has his variables and settings again, which are asked for after each statement. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "tquel/program/client.h"
#include "tquel/shell/shell.h"

#define PIECE ((size_t)256 << 10)
/* So long after the first Ctrl-C another one is no slip of the finger. */
#define GIVE_UP_NS 1000000000

struct remote {
  struct shell_backend backend; /* first */
  struct shell *shell;
  struct sn_connection *connection;
  struct program_welcome welcome;
  bool over;     /* reported */
  bool failed;   /* an error of what runs was shown */
  bool cut;      /* some of its results was not */
  bool displays; /* standing displays go on, as the server said last */
  bool told;     /* a diagnostic has come: perhaps that a display is over */
  bool done;     /* DONE, or the whole of an ANSWER, has come */
  uint8_t exit_code, status;
  uint32_t refused; /* number of an ERROR that came as the answer */
  char *reason;     /* its text */
  struct base_buffer answer;
  struct base_buffer
      seat; /* variables and settings there, as statements, a line each; empty: not known */
};

/* --- what comes ------------------------------------------------------------------------------- */

static void print_error(struct remote *remote, struct sn_string text, const char *end) {
  /* Interrupted because nobody takes the output: that is said in other words. */
  if (remote->shell->output.error) return;
  program_output_flush(&remote->shell->output);
  fprintf(stderr, "%.*s%s", (int)text.length, text.bytes, end);
}

static void take_diagnostic(struct remote *remote, const struct sn_message *message) {
  struct sn_message_diagnostic diagnostic;
  if (!sn_get_diagnostic(message, &diagnostic)) return;
  remote->told = true;
  remote->failed |= diagnostic.severity == BASE_ERROR;
  remote->shell->told |= diagnostic.severity == BASE_ERROR;
  if (remote->shell->quiet && diagnostic.severity != BASE_ERROR) return;
  if (remote->shell->output.before_writing)
    remote->shell->output.before_writing(remote->shell->output.context);
  print_error(remote, diagnostic.text, "");
}

static void take_message(struct remote *remote, const struct sn_message *message) {
  struct program_output *output = &remote->shell->output;
  union {
    struct sn_message_output output;
    struct sn_message_live live;
    struct sn_message_timing timing;
    struct sn_message_done done;
    struct sn_message_answer answer;
    struct sn_message_error error;
  } got;
  if (message->type == SN_WIRE_OUTPUT && sn_get_output(message, &got.output)) {
    remote->cut |= output->cut;
    if (output->cut) return;
    program_output_bytes(output, got.output.bytes.bytes, got.output.bytes.length);
  } else if (message->type == SN_WIRE_LIVE && sn_get_live(message, &got.live)) {
    program_output_bytes(output, got.live.bytes.bytes, got.live.bytes.length);
  } else if (message->type == SN_WIRE_DIAGNOSTIC) {
    take_diagnostic(remote, message);
  } else if (message->type == SN_WIRE_TIMING && sn_get_timing(message, &got.timing)) {
    print_error(remote, got.timing.text, "\n");
  } else if (message->type == SN_WIRE_DONE && sn_get_done(message, &got.done)) {
    remote->exit_code = got.done.exit_code;
    remote->status = got.done.status;
    remote->done = true;
  } else if (message->type == SN_WIRE_ANSWER && sn_get_answer(message, &got.answer)) {
    base_buffer_append(&remote->answer, got.answer.bytes.bytes, got.answer.bytes.length);
    remote->done = !got.answer.more;
  } else if (message->type == SN_WIRE_ERROR && sn_get_error(message, &got.error)) {
    remote->refused = got.error.diagnostic;
    free(remote->reason);
    remote->reason = base_xmalloc(got.error.message.length + 1u);
    memcpy(remote->reason, got.error.message.bytes, got.error.message.length);
    remote->reason[got.error.message.length] = '\0';
    remote->done = true;
  }
}

/* Waits TIMEOUT_MS at most for news and takes them. False: the connection is over. */
static bool turn(struct remote *remote, int timeout_ms) {
  struct sn_message message;
  bool any = false, alive = true;
  while (sn_connection_next(remote->connection, &message)) {
    take_message(remote, &message);
    any = true;
  }
  if (any && remote->done) return true;
  alive = program_client_wait(remote->connection, any ? 0 : timeout_ms);
  while (sn_connection_next(remote->connection, &message)) take_message(remote, &message);
  return alive;
}

/* --- asking ----------------------------------------------------------------------------------- */

static enum base_status report_gone(struct remote *remote, const char *what) {
  const char *reason = sn_connection_reason(remote->connection);
  bool told = sn_connection_diagnostic(remote->connection) != 0;
  remote->over = true;
  program_output_flush(&remote->shell->output);
  base_report(&remote->shell->diags, MSG_SERVER_GONE, NULL, NULL, "the server has gone%s%s%s",
              told && reason ? ": " : "", told && reason ? reason : "", what);
  return BASE_SYSTEM;
}

static enum base_status give_up(struct remote *remote, const char *what) {
  remote->over = true;
  base_report(&remote->shell->diags, MSG_SERVER_GONE, NULL, NULL,
              "the server does not answer, and the connection was given up%s", what);
  return BASE_SYSTEM;
}

/* Waits for the answer to what was sent. Who types need not wait for ever: Ctrl-C once more gives up. */
static enum base_status await(struct remote *remote, bool cancellable, const char *what_if_gone) {
  int64_t interrupted_at = 0;
  while (!remote->done) {
    if (base_env_interrupted()) {
      int64_t now = base_env_monotonic();
      /* Waiting must be possible. */
      base_env_clear_interrupt();
      if (interrupted_at && remote->shell->interactive && now - interrupted_at >= GIVE_UP_NS)
        return give_up(remote, what_if_gone);
      if (!interrupted_at && cancellable) {
        const struct sn_message_cancel cancel = {0};
        (void)sn_put_cancel(sn_connection_out(remote->connection), 0, &cancel);
        remote->shell->output.cut = true;
      }
      if (!interrupted_at) interrupted_at = now;
    }
    if (!turn(remote, -1) && !remote->done) return report_gone(remote, what_if_gone);
  }
  if (interrupted_at) base_env_interrupt();
  return BASE_OK;
}

static enum base_status ask_bytes(struct remote *remote, const char *what,
                                  struct sn_string argument) {
  const struct sn_message_question question = {.what = sn_string_of(what), .argument = argument};
  base_buffer_clear(&remote->answer);
  remote->done = false;
  remote->refused = 0;
  if (!sn_put_question(sn_connection_out(remote->connection), 0, &question)) {
    remote->refused = MSG_UNKNOWN_RELATION; /* nothing is called by a megabyte */
    return BASE_END;
  }
  enum base_status status = await(remote, false, "");
  return status == BASE_OK && remote->refused ? BASE_END : status;
}

static enum base_status question(struct remote *remote, const char *what, const char *argument) {
  return ask_bytes(remote, what, sn_string_of(argument));
}

/* Local times in statements are those of the client. A server that is older takes them for its own. */
static enum base_status tell_zone(struct remote *remote) {
  size_t length;
  struct net_zone *zone = net_zone_local();
  const void *bytes = net_zone_bytes(zone, &length);
  enum base_status status = ask_bytes(remote, "zone", sn_string_from(bytes, length));
  if (status == BASE_END)
    base_report(&remote->shell->diags, MSG_ZONE_NOT_TAKEN, NULL, NULL,
                "the server does not take this shell's time zone: local times are the server's");
  net_zone_release(zone);
  return status == BASE_END ? BASE_OK : status;
}

static bool is_there(struct remote *remote);

static enum base_status ask(struct remote *remote, const char *what, const char *argument) {
  return is_there(remote) ? question(remote, what, argument) : BASE_SYSTEM;
}

static void send_statements(struct remote *remote, const char *name, const char *text,
                            size_t length, bool single_transaction) {
  const struct program_output *output = &remote->shell->output;
  struct sn_message_statements statements = {
      .name = sn_string_of(name),
      .first_line = 1,
      .single_transaction = single_transaction,
      .format = (uint8_t)output->format,
      .timing = output->timing,
      .width = program_output_terminal_width(),
  };
  do {
    size_t piece = length < PIECE ? length : PIECE;
    statements.more = piece < length;
    statements.text = sn_string_from(text, piece);
    (void)sn_put_statements(sn_connection_out(remote->connection), 0, &statements);
    text += piece;
    length -= piece;
  } while (length > 0);
}

static enum base_status run_text(struct remote *remote, const char *name, const char *text,
                                 size_t length, bool single_transaction) {
  remote->done = remote->failed = remote->cut = false;
  remote->refused = 0;
  send_statements(remote, name, text, length, single_transaction);
  enum base_status status = await(remote, true, "; it is not known whether the statement was done");
  if (status != BASE_OK) return status;
  if (remote->exit_code && !remote->shell->diags.exit_code)
    remote->shell->diags.exit_code = remote->exit_code;
  return remote->status <= BASE_CANCEL ? (enum base_status)remote->status : BASE_SYSTEM;
}

/* --- a server that is back -------------------------------------------------------------------- */

/* What would be gone with the server. */
static void remember(struct remote *remote) {
  if (!remote->shell->interactive || question(remote, "seat", "") != BASE_OK) return;
  base_buffer_clear(&remote->seat);
  base_buffer_append(&remote->seat, base_buffer_text(&remote->answer), remote->answer.length);
}

/* Each for itself: a variable's relation may not be there any more, which is told. */
static void establish(struct remote *remote) {
  struct base_buffer lines = remote->seat;
  remote->seat = (struct base_buffer)BASE_BUFFER_EMPTY;
  const char *line = base_buffer_text(&lines), *end;
  for (; !remote->over && (end = strchr(line, '\n')) != NULL; line = end + 1)
    (void)run_text(remote, "<settings>", line, (size_t)(end - line), false);
  base_buffer_done(&lines);
}

/* One that has gone may be back. What it had for this shell it has not any more. */
static bool connect_again(struct remote *remote) {
  struct shell *shell = remote->shell;
  struct sn_connection *connection;
  struct program_welcome welcome;
  if (program_client_open(shell->options, SN_ROLE_SHELL, "", &shell->diags, &connection,
                          &welcome) != BASE_OK)
    return false;
  sn_connection_free(remote->connection);
  program_welcome_done(&remote->welcome);
  remote->connection = connection;
  remote->welcome = welcome;
  remote->over = false;
  bool known = remote->seat.length > 0;
  base_report(&shell->diags, MSG_CONNECTED_AGAIN, NULL, NULL,
              "connected to %s again: %s, and displays have ended",
              welcome.database ? welcome.database : "a database",
              known ? "variables and settings are made anew" : "variables and settings are gone");
  if (tell_zone(remote) == BASE_OK) establish(remote);
  return !remote->over;
}

static bool is_there(struct remote *remote) {
  return !remote->over || connect_again(remote);
}

/* What was interrupted, where the server was done with it already. */
static enum base_status account(struct remote *remote, enum base_status status) {
  if (status != BASE_OK || !base_env_interrupted() || remote->shell->output.error) return status;
  if (!remote->failed)
    base_report(&remote->shell->diags, MSG_CANCELLED, NULL, NULL,
                remote->cut ? "interrupted: not all of the results is shown"
                            : "interrupted behind the statements, which were done");
  return BASE_CANCEL;
}

static enum base_status remote_run(struct shell_backend *backend, const char *name,
                                   const char *text, size_t length, bool single_transaction) {
  struct remote *remote = (struct remote *)backend;
  if (!is_there(remote)) return BASE_SYSTEM;
  enum base_status status = run_text(remote, name, text, length, single_transaction);
  status = account(remote, status);
  if (!remote->over) remember(remote);
  return status;
}

/* --- going on --------------------------------------------------------------------------------- */

static bool remote_goes_on(struct shell_backend *backend) {
  struct remote *remote = (struct remote *)backend;
  if (remote->over) return false;
  return ask(remote, "displays", "") == BASE_OK &&
         strcmp(base_buffer_text(&remote->answer), "on\n") == 0;
}

static enum base_status remote_follow(struct shell_backend *backend, int timeout_ms) {
  struct remote *remote = (struct remote *)backend;
  if (remote->over) return BASE_SYSTEM;
  remote->told = false;
  if (!turn(remote, timeout_ms)) return report_gone(remote, "");
  return remote->told && !remote_goes_on(backend) ? BASE_END : BASE_AGAIN;
}

static bool remote_stop(struct shell_backend *backend) {
  struct remote *remote = (struct remote *)backend;
  return remote_goes_on(backend) && ask(remote, "stop displays", "") == BASE_OK;
}

static int remote_descriptor(struct shell_backend *backend) {
  struct remote *remote = (struct remote *)backend;
  return remote->over ? -1 : sn_connection_descriptor(remote->connection);
}

static enum base_status remote_commit(struct shell_backend *backend) {
  (void)backend; /* the server sees to it */
  return BASE_OK;
}

/* --- looking ---------------------------------------------------------------------------------- */

static void remote_each_name(struct shell_backend *backend, enum shell_names kind,
                             const char *owner, void (*on_name)(void *context, const char *name),
                             void *context) {
  static const char *const questions[] = {[SHELL_RELATIONS] = "relations",
                                          [SHELL_VARIABLES] = "variables",
                                          [SHELL_DOMAINS] = "domains"};
  struct remote *remote = (struct remote *)backend;
  if (remote->over || ask(remote, questions[kind], owner) != BASE_OK) return;
  char *name = remote->answer.data, *end;
  for (; name && (end = strchr(name, '\n')) != NULL; name = end + 1) {
    *end = '\0';
    on_name(context, name);
  }
}

static enum base_status remote_describe(struct shell_backend *backend, enum shell_view view,
                                        const char *name, struct base_buffer *out) {
  static const char *const questions[] = {[SHELL_DESCRIPTION] = "describe",
                                          [SHELL_NODES] = "nodes",
                                          [SHELL_SENSORS] = "sensors",
                                          [SHELL_RECEPTACLES] = "receptacles",
                                          [SHELL_COUNT] = "count"};
  struct remote *remote = (struct remote *)backend;
  enum base_status status = ask(remote, questions[view], name);
  if (status == BASE_END && remote->refused != MSG_UNKNOWN_RELATION) {
    int number = (int)remote->refused;
    if (!base_message_find(number)) number = MSG_PEER_REFUSED; /* a younger server's */
    base_report(&remote->shell->diags, (enum base_message)number, NULL, NULL, "%s", remote->reason);
    return BASE_USER;
  }
  if (status == BASE_OK)
    base_buffer_append(out, base_buffer_text(&remote->answer), remote->answer.length);
  return status;
}

static void remote_title(struct shell_backend *backend, struct base_buffer *out) {
  const struct program_welcome *welcome = &((struct remote *)backend)->welcome;
  base_buffer_printf(out, "%s through its server, %s timeline",
                     welcome->database ? welcome->database : "a database",
                     welcome->timeline == NET_TIMELINE_REAL ? "real" : "abstract");
}

static enum base_status remote_close(struct shell_backend *backend, enum base_status status) {
  struct remote *remote = (struct remote *)backend;
  if (!remote->over) {
    sn_connection_goodbye(remote->connection, 0, "");
    (void)sn_connection_pump(remote->connection, 0);
  }
  sn_connection_free(remote->connection);
  program_welcome_done(&remote->welcome);
  base_buffer_done(&remote->answer);
  base_buffer_done(&remote->seat);
  free(remote->reason);
  free(remote);
  return status;
}

static const struct shell_backend_class remote_class = {
    .run = remote_run,
    .goes_on = remote_goes_on,
    .follow = remote_follow,
    .stop = remote_stop,
    .descriptor = remote_descriptor,
    .commit = remote_commit,
    .each_name = remote_each_name,
    .describe = remote_describe,
    .title = remote_title,
    .close = remote_close,
};

enum base_status shell_remote_open(struct shell *shell, struct shell_backend **ret) {
  struct remote *remote = base_xcalloc(1, sizeof *remote);
  remote->backend.class = &remote_class;
  remote->shell = shell;
  enum base_status status = program_client_open(shell->options, SN_ROLE_SHELL, "", &shell->diags,
                                                &remote->connection, &remote->welcome);
  if (status != BASE_OK) {
    free(remote);
    return status;
  }
  *ret = &remote->backend;
  return tell_zone(remote);
}
