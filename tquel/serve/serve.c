/* `tquel serve`: from its command line to its exit code.
 *
 * The database is opened before the socket, so that who finds the socket finds a server; the socket goes
 * before the database is closed. Exit codes are those of the shell; an end by SIGINT or SIGTERM is 0. */
#include "tquel/serve/serve.h"

#include <grp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/budget.h"
#include "engine/base/env.h"
#include "sensors/collect/directory.h"
#include "tquel/serve/server.h"
#include "tquel/shell/client.h"
#include "tquel/shell/help.h"
#include "tquel/shell/signals.h"

/* Descriptors that are no connections: the database, files that are read. */
#define DESCRIPTORS_KEPT 64
/* The last words to peers may take so long. */
#define GOODBYE_MS 200
/* What has not changed is said again after this time. */
#define SAID_NS (60 * (int64_t)1000000000)
/* So much is said in that time. */
#define SAID_MAX 200

/* Of a user who is not the owner, if nobody says how many: connections, and statements that run in readers. */
#define CONNECTIONS 100
#define STATEMENTS  8

struct serving {
  struct shell_options options;
  struct shell_address addresses[2];
  struct sn_address opened[2];
  char *token;
  struct server_options server_options;
  struct server server;
};

/* --- diagnostics ------------------------------------------------------------------------------ */

__attribute__((format(printf, 1, 0))) static void say_unsaid(const char *format, size_t count) {
  struct base_diag_sink diags;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_diag_sink_init(&diags);
  base_diag_format(&text, base_report(&diags, MSG_NOT_SAID, NULL, NULL, format, count));
  (void)!fwrite(text.data, 1, text.length, stderr);
  base_buffer_done(&text);
  base_diag_sink_done(&diags);
}

/* Said within the last minute already? A full disk is met many times a second. */
static bool was_said(struct server *server, const char *text) {
  int64_t now = base_env_monotonic();
  size_t kept = 0;
  bool found = false;
  for (size_t i = 0; i < server->said_count; i++) {
    struct server_said said = server->said[i];
    if (now - said.at > SAID_NS) {
      free(said.text);
      continue;
    }
    found |= strcmp(said.text, text) == 0;
    server->said[kept++] = said;
  }
  server->said_count = kept;
  if (found) return true;
  if (kept >= SAID_MAX) {
    if (server->unsaid++ == 0)
      say_unsaid("more than %zu messages came within a minute; further ones are counted",
                 (size_t)SAID_MAX);
    return true;
  }
  base_grow(&server->said, &server->said_capacity, kept + 1, sizeof *server->said);
  server->said[server->said_count++] = (struct server_said){base_xstrdup(text), now};
  return false;
}

static void on_report(void *context, const struct base_diag *diag) {
  struct server *server = context;
  if (server->running) {
    server_shell_report(server->running, diag);
    return;
  }
  if (server->options && server->options->quiet && diag->severity != BASE_ERROR) return;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_diag_format(&text, diag);
  if (!was_said(server, base_buffer_text(&text))) {
    if (server->unsaid > 0) say_unsaid("%zu messages were not shown", server->unsaid);
    server->unsaid = 0;
    (void)!fwrite(text.data, 1, text.length, stderr);
  }
  base_buffer_done(&text);
}

/* --- what the options ask for ----------------------------------------------------------------- */

static bool wrong(struct server *server, const char *hint, const char *what) {
  base_report_hint(&server->diags, MSG_USAGE, NULL, NULL, hint, "%s", what);
  return false;
}

static bool check_network(struct serving *serving) {
  const struct shell_options *options = &serving->options;
  struct server *server = &serving->server;
  if (!options->listen) {
    if (options->certificate || options->key || options->token_file || options->client_authority)
      return wrong(server, "they are for --listen tls:HOST:PORT",
                   "certificates and tokens are of no use without --listen");
    return true;
  }
  if (serving->addresses[1].address.kind != SN_ADDRESS_TLS)
    return wrong(server, "write --listen tls:HOST:PORT; a socket is named by --socket",
                 "--listen is for the network");
  if (!options->certificate || !options->key)
    return wrong(server, "make them with openssl req -x509 -newkey ...",
                 "--listen needs --certificate FILE and --key FILE");
  if (!options->token_file && !options->client_authority)
    return wrong(server, "either says who may connect",
                 "--listen needs --token-file FILE or --client-ca FILE");
  return true;
}

static bool find_group(struct serving *serving) {
  const char *name = serving->options.group;
  if (!name) return true;
  const struct group *group = getgrnam(name);
  if (!group) {
    base_report(&serving->server.diags, MSG_USAGE, NULL, NULL, "there is no group %s", name);
    return false;
  }
  serving->addresses[0].address.group = (int64_t)group->gr_gid;
  return true;
}

/* What of the machine's memory statements may have, if nobody says how much. */
static void set_limits(struct serving *serving) {
  const struct shell_options *options = &serving->options;
  struct server_options *limits = &serving->server_options;
  limits->memory = options->memory ? options->memory << 20 : base_memory_of_machine() / 2;
  limits->statement_memory =
      options->statement_memory ? options->statement_memory << 20 : limits->memory / 4;
  limits->time_limit = options->time_limit_ns;
  limits->connections = options->connections ? options->connections : CONNECTIONS;
  limits->statements = options->statements ? options->statements : STATEMENTS;
}

static bool prepare(struct serving *serving) {
  const struct shell_options *options = &serving->options;
  struct base_diag_sink *diags = &serving->server.diags;
  size_t count = 1;
  if (!shell_address_read(options, options->socket, true, diags, &serving->addresses[0]))
    return false;
  if (serving->addresses[0].address.kind != SN_ADDRESS_UNIX)
    return wrong(&serving->server, "write --listen tls:HOST:PORT", "--socket is for a path");
  if (options->listen) {
    if (!shell_address_read(options, options->listen, true, diags, &serving->addresses[1]))
      return false;
    count = 2;
  }
  if (!check_network(serving) || !find_group(serving) ||
      !shell_token_read(options, diags, &serving->token))
    return false;
  serving->addresses[1].address.certificate_optional = serving->token != NULL;
  for (size_t i = 0; i < count; i++) serving->opened[i] = serving->addresses[i].address;
  serving->server_options = (struct server_options){.database = options->database,
                                                    .addresses = serving->opened,
                                                    .address_count = count,
                                                    .token = serving->token,
                                                    .timeline_given = options->timeline_given,
                                                    .timeline = options->timeline,
                                                    .rules_off = options->rules_off,
                                                    .quiet = options->quiet};
  set_limits(serving);
  return true;
}

/* --- opening and closing ---------------------------------------------------------------------- */

/* As many connections as the system lets one process have. */
static size_t most_peers(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 512;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 512;
  size_t most = limit.rlim_cur > 65536 ? 65536 : (size_t)limit.rlim_cur;
  return most > 2 * DESCRIPTORS_KEPT ? most - DESCRIPTORS_KEPT : DESCRIPTORS_KEPT;
}

static void mark_names(void *context, struct base_strings *strings) {
  struct server *server = context;
  for (size_t i = 0; i < server->peer_count; i++)
    if (server->peers[i]->source) server_source_mark(server->peers[i]->source, strings);
}

static enum base_status open_session(struct serving *serving) {
  struct server *server = &serving->server;
  const struct tql_session_options options = {
      .path = serving->options.database,
      .timeline = serving->options.timeline,
      .timeline_given = serving->options.timeline_given,
      .rules_off = serving->options.rules_off,
      .stdin_is_script = true,
      .memory = server->options->statement_memory,
      .memory_total = server->options->memory,
      .time_limit = server->options->time_limit,
  };
  enum base_status status = tql_session_open(&options, &server->diags, &server->session);
  if (status != BASE_OK) return status;
  tql_session_on_sweep(server->session, mark_names, server);
  server_watches_open(server);
  return BASE_OK;
}

/* The directory of the default socket; one that a user names is the user's business. */
static bool prepare_directory(struct serving *serving) {
  const char *reason = NULL;
  if (serving->options.socket) return true;
  char *directory = sn_directory_default();
  bool good = sn_directory_prepare(directory, &reason);
  if (!good)
    base_report_hint(&serving->server.diags, MSG_CANNOT_SERVE, NULL, NULL,
                     "set XDG_RUNTIME_DIR to a directory of yours; or, as root: mkdir -m 1777 "
                     "/run/tquel; or name a place by --socket PATH",
                     "cannot serve in %s: %s", directory, reason);
  free(directory);
  return good;
}

static bool open_sockets(struct serving *serving) {
  struct server *server = &serving->server;
  const struct server_options *options = server->options;
  if (!prepare_directory(serving)) return false;
  server->acceptors = base_xcalloc(options->address_count, sizeof *server->acceptors);
  for (size_t i = 0; i < options->address_count; i++) {
    const char *reason = NULL;
    struct sn_acceptor *acceptor = sn_acceptor_open(&options->addresses[i], &reason);
    if (!acceptor) {
      base_report(&server->diags, MSG_CANNOT_SERVE, NULL, NULL, "cannot serve at %s: %s",
                  serving->addresses[i].text, reason);
      return false;
    }
    server->acceptors[server->acceptor_count++] = acceptor;
  }
  return true;
}

/* Nobody may take it, which is reported; the server is there all the same. */
static void greet(struct serving *serving) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (serving->options.quiet) return;
  base_buffer_printf(&text, "serving %s on %s", serving->options.database,
                     serving->addresses[0].text);
  if (serving->options.listen) base_buffer_printf(&text, " and %s", serving->addresses[1].text);
  base_buffer_putc(&text, '\n');
  (void)shell_output_once(base_buffer_text(&text), text.length, &serving->server.diags);
  base_buffer_done(&text);
}

static void end_peers(struct server *server) {
  for (size_t i = 0; i < server->peer_count; i++)
    if (!server->peers[i]->over) server_peer_end(server->peers[i], MSG_SERVER_GONE, "it was ended");
  int64_t until = base_env_monotonic() + GOODBYE_MS * (int64_t)1000000;
  bool unsent = true;
  while (unsent && base_env_monotonic() < until) {
    unsent = false;
    for (size_t i = 0; i < server->peer_count; i++)
      unsent |= sn_connection_unsent(server->peers[i]->connection) > 0 &&
                sn_connection_pump(server->peers[i]->connection, 0);
    if (unsent) (void)usleep(2000);
  }
  while (server->peer_count > 0) server_peer_free(server->peers[--server->peer_count]);
  free(server->peers);
  server->peers = NULL;
  server->peer_count = 0; /* who is still told of watches */
}

static enum base_status close_all(struct server *server, enum base_status status) {
  for (size_t i = 0; i < server->acceptor_count; i++) sn_acceptor_free(server->acceptors[i]);
  free(server->acceptors);
  server_keeper_stop(server);
  if (!server->session) return status;
  base_env_clear_interrupt();
  enum base_status committed = tql_session_commit(server->session);
  for (size_t i = 0; i < server->peer_count; i++)
    if (server->peers[i]->source) server_source_tick(server->peers[i]);
  end_peers(server);
  server_watches_close(server);
  tql_session_close(server->session);
  free(server->readings);
  return status == BASE_OK ? committed : status;
}

static int serve(struct serving *serving) {
  struct server *server = &serving->server;
  if (!prepare(serving)) return server->diags.exit_code;
  server->options = &serving->server_options;
  server_keeper_start(server);
  shell_signals_install(false);
  server->peers_max = most_peers();
  enum base_status status = open_session(serving);
  if (status == BASE_OK && !open_sockets(serving)) status = BASE_SYSTEM;
  if (status == BASE_OK) {
    greet(serving);
    server_run(server);
  }
  status = close_all(server, status);
  if (status == BASE_OK) return 0;
  return server->diags.exit_code ? server->diags.exit_code : 3;
}

int serve_main(int count, char *const *arguments) {
  struct serving serving = {0};
  struct server *server = &serving.server;
  int code;
  base_diag_sink_init(&server->diags);
  server->diags.on_report = on_report;
  server->diags.context = server;
  if (!shell_options_read(&serving.options, SHELL_SERVE, count, arguments, &server->diags))
    code = server->diags.exit_code;
  else if (serving.options.help)
    code = shell_help_command("serve");
  else
    code = serve(&serving);
  for (size_t i = 0; i < 2; i++) shell_address_done(&serving.addresses[i]);
  free(serving.token);
  base_diag_sink_done(&server->diags);
  for (size_t i = 0; i < server->said_count; i++) free(server->said[i].text);
  free(server->said);
  shell_options_done(&serving.options);
  return code;
}
