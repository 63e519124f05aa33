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
#include "tquel/serve/turns.h"
#include "tquel/program/client.h"
#include "tquel/program/help.h"
#include "tquel/program/signals.h"

/* Descriptors that are no connections: the database, files that are read. */
#define DESCRIPTORS_KEPT 64
/* Of a user who is not the owner, if nobody says how many: connections, and statements that run in readers. */
#define CONNECTIONS 100
#define STATEMENTS  8

struct serving {
  struct program_options options;
  struct program_address addresses[2];
  struct sn_address opened[2];
  char *token;
  char **command; /* of the program, ends with NULL */
  struct server_options server_options;
  struct server server;
};

/* --- what the options ask for ----------------------------------------------------------------- */

static bool wrong(struct server *server, const char *hint, const char *what) {
  base_report_hint(&server->diags, MSG_USAGE, NULL, NULL, hint, "%s", what);
  return false;
}

static bool check_network(struct serving *serving) {
  const struct program_options *options = &serving->options;
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
static void set_limits(const struct program_options *options, struct server_options *limits) {
  limits->memory = options->memory ? options->memory << 20 : base_memory_of_machine() / 2;
  limits->statement_memory =
      options->statement_memory ? options->statement_memory << 20 : limits->memory / 4;
  limits->log_limit = (uint64_t)options->log_limit << 20;
  limits->time_limit = options->time_limit_ns;
  limits->connections = options->connections ? options->connections : CONNECTIONS;
  limits->statements = options->statements ? options->statements : STATEMENTS;
}

/* What readers need as well. */
static void set_options(struct serving *serving) {
  const struct program_options *options = &serving->options;
  serving->server_options = (struct server_options){.command = serving->command,
                                                    .database = options->database,
                                                    .timeline_given = options->timeline_given,
                                                    .timeline = options->timeline,
                                                    .rules_off = options->rules_off,
                                                    .quiet = options->quiet};
  set_limits(options, &serving->server_options);
}

static bool prepare(struct serving *serving) {
  const struct program_options *options = &serving->options;
  struct base_diag_sink *diags = &serving->server.diags;
  size_t count = 1;
  if (!program_address_read(options, options->socket, true, diags, &serving->addresses[0]))
    return false;
  if (serving->addresses[0].address.kind != SN_ADDRESS_UNIX)
    return wrong(&serving->server, "write --listen tls:HOST:PORT", "--socket is for a path");
  if (options->listen) {
    if (!program_address_read(options, options->listen, true, diags, &serving->addresses[1]))
      return false;
    count = 2;
  }
  if (!check_network(serving) || !find_group(serving) ||
      !program_token_read(options, diags, &serving->token))
    return false;
  serving->addresses[1].address.certificate_optional = serving->token != NULL;
  for (size_t i = 0; i < count; i++) serving->opened[i] = serving->addresses[i].address;
  serving->server_options.addresses = serving->opened;
  serving->server_options.address_count = count;
  serving->server_options.token = serving->token;
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
  (void)program_output_once(base_buffer_text(&text), text.length, &serving->server.diags);
  base_buffer_done(&text);
}

static int serve(struct serving *serving) {
  struct server *server = &serving->server;
  set_options(serving);
  server_keeper_be(&serving->server_options);
  if (!prepare(serving)) return server->diags.exit_code;
  server->options = &serving->server_options;
  server_keeper_start(server);
  program_signals_install(false);
  server->peers_max = most_peers();
  enum base_status status = server_open(server);
  if (status == BASE_OK && !open_sockets(serving)) status = BASE_SYSTEM;
  if (status == BASE_OK) {
    greet(serving);
    server_run(server);
  }
  status = server_close(server, status);
  if (status == BASE_OK) return 0;
  return server->diags.exit_code ? server->diags.exit_code : 3;
}

static char **make_command(int count, char *const *arguments) {
  static char program[] = "tquel", subcommand[] = "serve";
  char **command = base_xcalloc((size_t)count + 3, sizeof *command);
  command[0] = program;
  command[1] = subcommand;
  if (count > 0) memcpy(command + 2, arguments, (size_t)count * sizeof *command);
  return command;
}

int serve_main(int count, char *const *arguments) {
  struct serving serving = {0};
  struct server *server = &serving.server;
  int code;
  serving.command = make_command(count, arguments);
  server_init(server);
  if (!program_options_read(&serving.options, PROGRAM_SERVE, count, arguments, &server->diags))
    code = server->diags.exit_code;
  else if (serving.options.help)
    code = program_help_command("serve");
  else
    code = serve(&serving);
  for (size_t i = 0; i < 2; i++) program_address_done(&serving.addresses[i]);
  free(serving.token);
  free(serving.command);
  server_done(server);
  program_options_done(&serving.options);
  return code;
}
