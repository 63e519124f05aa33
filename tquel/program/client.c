/* A client's side of a connection, as far as shells and feeds have it in common.
 *
 * Secrets are read from files, never from the command line, which everyone on the machine can see; a file
 * that others can read is refused. */
#include "tquel/program/client.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "sensors/collect/directory.h"
#include "sensors/wire/token.h"
#include "tquel/program/signals.h"

#ifndef TQUEL_VERSION
#define TQUEL_VERSION "unknown"
#endif

/* While a connection comes about, somebody has to look at it now and then. */
#define GREETING_MS 500

/* --- addresses -------------------------------------------------------------------------------- */

/* Where servers are by default: a path; the caller's to free. */
static char *default_socket(void) {
  struct base_buffer path = BASE_BUFFER_EMPTY;
  char *directory = sn_directory_default();
  base_buffer_printf(&path, "%s/server", directory);
  free(directory);
  return path.data;
}

bool program_address_read(const struct program_options *options, const char *text, bool is_server,
                          struct base_diag_sink *diags, struct program_address *ret) {
  const char *reason = NULL;
  *ret = (struct program_address){0};
  ret->text = !text || strcmp(text, ".") == 0 ? default_socket() : base_xstrdup(text);
  if (!sn_address_parse(ret->text, &ret->address, &ret->storage, &reason)) {
    base_report_hint(diags, MSG_USAGE, NULL, NULL, "an address is a path or tls:HOST:PORT",
                     "%s is no address: %s", ret->text, reason);
    program_address_done(ret);
    return false;
  }
  ret->address.group = -1;
  ret->address.found = !text || strcmp(text, ".") == 0;
  if (ret->address.kind == SN_ADDRESS_TLS) {
    ret->address.certificate = options->certificate;
    ret->address.key = options->key;
    ret->address.authority = is_server ? options->client_authority : options->authority;
  }
  return true;
}

void program_address_done(struct program_address *address) {
  free(address->text);
  free(address->storage);
  *address = (struct program_address){0};
}

bool program_token_read(const struct program_options *options, struct base_diag_sink *diags,
                        char **ret_token) {
  const char *reason = NULL;
  *ret_token = NULL;
  if (!options->token_file) return true;
  *ret_token = sn_token_read(options->token_file, &reason);
  if (!*ret_token)
    base_report(diags, MSG_TOKEN_FILE, NULL, NULL, "cannot use the token in %s: %s",
                options->token_file, reason);
  return *ret_token != NULL;
}

/* --- the greeting ----------------------------------------------------------------------------- */

bool program_client_wait(struct sn_connection *connection, int timeout_ms) {
  struct pollfd polled = {.fd = sn_connection_descriptor(connection),
                          .events = sn_connection_events(connection)};
  if (sn_connection_pending(connection)) timeout_ms = 0;
  if (!program_signals_wait(&polled, 1, timeout_ms)) polled.revents = 0;
  return sn_connection_pump(connection, polled.revents);
}

static void put_hello(struct sn_connection *connection, const struct program_options *options,
                      enum sn_role role, const char *identity, const char *token) {
  char *directory = getcwd(NULL, 0);
  char host[256] = "";
  (void)!gethostname(host, sizeof host - 1);
  const struct sn_message_hello hello = {.version = SN_WIRE_VERSION,
                                         .role = (uint8_t)role,
                                         .program = sn_string_of("tquel " TQUEL_VERSION),
                                         .token = sn_string_of(token),
                                         .identity = sn_string_of(identity),
                                         .host = sn_string_of(host),
                                         .directory = sn_string_of(directory),
                                         .flags = options->readonly ? SN_HELLO_READONLY : 0};
  (void)sn_put_hello(sn_connection_out(connection), 0, &hello);
  free(directory);
}

static enum base_status report_over(const struct sn_connection *connection, const char *address,
                                    struct base_diag_sink *diags) {
  const char *reason = sn_connection_reason(connection);
  if (sn_connection_diagnostic(connection) == MSG_TOO_MANY_CONNECTIONS)
    base_report_hint(diags, MSG_TOO_MANY_CONNECTIONS, NULL, NULL,
                     "end others, or have the owner of the server allow more",
                     "the server at %s: %s", address, reason);
  else if (sn_connection_said_goodbye(connection))
    base_report(diags, MSG_PEER_REFUSED, NULL, NULL, "the server at %s refuses: %s", address,
                reason);
  else if (sn_connection_refused(connection))
    base_report_hint(
        diags, MSG_PEER_REFUSED, NULL, NULL,
        "--ca is who has signed the server's certificate; --certificate and --key are the "
        "client's own, where the server asks for one",
        "the server at %s is there, but TLS fails: %s", address, reason);
  else
    base_report_hint(diags, MSG_SERVER_UNREACHABLE, NULL, NULL, "tquel serve DB starts one",
                     "there is no server at %s: %s", address, reason ? reason : "it has gone");
  return BASE_SYSTEM;
}

static enum base_status greet(struct sn_connection *connection, const char *address,
                              struct base_diag_sink *diags, struct program_welcome *ret) {
  struct sn_message message;
  struct sn_message_welcome welcome;
  bool alive = true;
  while (!sn_connection_next(connection, &message)) {
    if (base_env_interrupted()) return BASE_CANCEL;
    if (!alive) return report_over(connection, address, diags);
    alive = program_client_wait(connection, GREETING_MS);
  }
  if (message.type != SN_WIRE_WELCOME || !sn_get_welcome(&message, &welcome) ||
      welcome.timeline > NET_TIMELINE_ABSTRACT)
    return report_over(connection, address, diags);
  struct base_buffer database = BASE_BUFFER_EMPTY;
  base_buffer_append(&database, welcome.program.bytes, welcome.program.length);
  *ret = (struct program_welcome){.database = database.data,
                                  .durable = welcome.durable,
                                  .credit = welcome.credit,
                                  .timeline = (enum net_timeline)welcome.timeline};
  return BASE_OK;
}

void program_welcome_done(struct program_welcome *welcome) {
  free(welcome->database);
  *welcome = (struct program_welcome){0};
}

enum base_status program_client_open(const struct program_options *options, enum sn_role role,
                                     const char *identity, struct base_diag_sink *diags,
                                     struct sn_connection **ret,
                                     struct program_welcome *ret_welcome) {
  struct program_address address;
  const char *reason = NULL;
  char *token = NULL;
  if (!program_address_read(options, options->connect, false, diags, &address)) return BASE_USER;
  enum base_status status = program_token_read(options, diags, &token) ? BASE_OK : BASE_SYSTEM;
  struct sn_connection *connection = NULL;
  if (status == BASE_OK) {
    connection = sn_connection_open(&address.address, &reason);
    if (!connection) {
      base_report_hint(diags, MSG_SERVER_UNREACHABLE, NULL, NULL, "tquel serve DB starts one",
                       "there is no server at %s: %s", address.text, reason);
      status = BASE_SYSTEM;
    }
  }
  if (status == BASE_OK) {
    put_hello(connection, options, role, identity, token);
    status = greet(connection, address.text, diags, ret_welcome);
  }
  if (status == BASE_OK)
    *ret = connection;
  else
    sn_connection_free(connection);
  free(token);
  program_address_done(&address);
  return status;
}
