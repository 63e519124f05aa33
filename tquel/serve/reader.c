/* The processes that answer statements which take long and only look: readers, and their keeper.
 *
 *     server ──request, descriptor──▶ keeper ──fork──▶ reader: a session of its own, of the same database,
 *        ▲                                               │     opened for reading
 *        └──────────── the protocol of shells ───────────┘
 *
 * Those who bring the write-ahead log into the file, where it is much, are made in the same way, and say nothing:
 * they end.
 *
 * The keeper is forked before the server opens anything, and does nothing but fork: so a reader starts with
 * none of the server's memory, descriptors or locks. To the reader the server is a shell: HELLO, the seat's zone, a
 * text of settings, the user's text, of which one statement is run, and the end of the connection, at which it ends,
 * in whatever midst. The keeper ends with the server's end of its socket. Signals of a terminal are for the
 * server: it sees to the others. Where nobody looks at a connection (a reader that is stopped, or sorts), the system
 * sees to it: a keeper is killed with its server, and a reader with its keeper. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "tquel/serve/output.h"
#include "tquel/serve/readers.h"
#include "tquel/serve/request.h"
#include "tquel/serve/turns.h"

/* Who takes records comes first. */
#define READER_NICE 10

/* This process is killed when PARENT, which has just forked it, ends. */
static void end_with(pid_t parent) {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0); /* it has ended before that */
}

/* --- the reader ------------------------------------------------------------------------------- */

static void on_report(void *context, const struct base_diag *diag) {
  struct server *server = context;
  if (server->running) server_output_report(server->running, diag);
}

static enum base_status open_session(struct server *server) {
  const struct tql_session_options options = {.path = server->options->database,
                                              .readonly = true,
                                              .rules_off = server->options->rules_off,
                                              .stdin_is_script = true,
                                              .memory = server->options->statement_memory,
                                              .memory_total = server->reader->memory,
                                              .time_limit = server->options->time_limit,
                                              .log_limit = server->options->log_limit};
  base_diag_sink_init(&server->diags);
  server->diags.on_report = on_report;
  server->diags.context = server;
  return tql_session_open(&options, &server->diags, &server->session);
}

/* The server runs the statement, and says what is wrong with its database. */
static void refuse(const struct server *server, struct sn_connection *connection) {
  const struct sn_message_done done = {.exit_code = (uint8_t)server->diags.exit_code,
                                       .status = BASE_SYSTEM};
  (void)sn_put_done(sn_connection_out(connection), 0, &done);
  while (sn_connection_unsent(connection) > 0 && sn_connection_pump(connection, 0)) {
    struct pollfd polled = {.fd = sn_connection_descriptor(connection),
                            .events = sn_connection_events(connection)};
    (void)poll(&polled, 1, 1000);
  }
  sn_connection_free(connection);
}

static void answer(struct server *server, int descriptor) {
  struct sn_connection *connection = sn_connection_adopt(descriptor, true);
  if (open_session(server) != BASE_OK) {
    refuse(server, connection);
    return;
  }
  server_peer_add(server, connection);
  struct server_peer *peer = server->peers[0];
  while (!peer->over) {
    struct pollfd polled = {.fd = sn_connection_descriptor(connection),
                            .events = sn_connection_events(connection)};
    if (!server_peer_waits(peer)) (void)poll(&polled, 1, 1000);
    server_peer_turn(peer, polled.revents);
    if (!peer->over) server_peer_tick(peer, base_env_monotonic());
  }
}

_Noreturn static void run_reader(const struct server_options *options, int descriptor,
                                 const struct server_request *request, const char *user) {
  struct server_reader reader = {.user = user,
                                 .owner = request->owner,
                                 .statement = (size_t)request->statement,
                                 .results = (size_t)request->results,
                                 .memory = (size_t)request->memory,
                                 .start = request->start,
                                 .now = request->now};
  struct server server = {.options = options, .reader = &reader};
  (void)prctl(PR_SET_NAME, "tquel-reader");
  (void)!nice(READER_NICE);
  answer(&server, descriptor);
  _exit(0);
}

/* --- who brings the log in -------------------------------------------------------------------- */

_Noreturn static void bring_in(const struct server_options *options) {
  (void)prctl(PR_SET_NAME, "tquel-log");
  tql_bring_in(options->database);
  _exit(0);
}

/* --- the keeper ------------------------------------------------------------------------------- */

/* -1: the server has ended. */
static ssize_t receive(int socket, struct server_request *request, char *user,
                       int *ret_descriptor) {
  union server_request_control control;
  struct iovec parts[2] = {{request, sizeof *request}, {user, SERVER_REQUEST_USER}};
  struct msghdr message = {.msg_iov = parts,
                           .msg_iovlen = 2,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  ssize_t length;
  do {
    length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (length < 0 && errno == EINTR);
  const struct cmsghdr *head = length > 0 ? CMSG_FIRSTHDR(&message) : NULL;
  if (!head || head->cmsg_type != SCM_RIGHTS || (size_t)length < sizeof *request) return -1;
  memcpy(ret_descriptor, CMSG_DATA(head), sizeof *ret_descriptor);
  user[(size_t)length - sizeof *request] = '\0';
  return length;
}

_Noreturn static void keep(const struct server_options *options, int socket) {
  pid_t keeper = getpid();
  struct server_request request;
  char user[SERVER_REQUEST_USER + 1];
  int descriptor;
  signal(SIGCHLD, SIG_IGN);
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  signal(SIGPIPE, SIG_IGN);
  (void)prctl(PR_SET_NAME, "tquel-keeper");
  while (receive(socket, &request, user, &descriptor) >= 0) {
    if (fork() == 0) {
      end_with(keeper);
      close(socket);
      if (request.brings_in) bring_in(options);
      run_reader(options, descriptor, &request, user);
    }
    close(descriptor); /* without a reader the server sees the end at once */
  }
  _exit(0);
}

/* --- beginning ------------------------------------------------------------------------------------ */

void server_keeper_start(struct server *server) {
  int pair[2];
  server->keeper.socket = server->keeper.bringing = -1;
  server->keeper.wanted = true;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return;
  fflush(NULL);
  pid_t server_process = getpid(), keeper = fork();
  if (keeper == 0) {
    end_with(server_process);
    close(pair[0]);
    keep(server->options, pair[1]);
  }
  server_keeper_adopt(server, pair, keeper);
}

static bool takes_requests(int socket) {
  int type;
  socklen_t size = sizeof type;
  return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

void server_keeper_be(const struct server_options *options) {
  const char *server = getenv(SERVER_KEEPER_OF);
  if (!server || !takes_requests(SERVER_KEEPER_SOCKET)) return; /* somebody else has set it */
  end_with((pid_t)strtol(server, NULL, 10));
  (void)unsetenv(SERVER_KEEPER_OF);
  (void)fcntl(SERVER_KEEPER_SOCKET, F_SETFD, FD_CLOEXEC);
  keep(options, SERVER_KEEPER_SOCKET);
}
