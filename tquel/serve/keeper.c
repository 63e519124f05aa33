/* Processes that answer statements which take long and only look: readers, and their keeper.
 *
 *     server ──request, descriptor──▶ keeper ──fork──▶ reader: a session of its own, of the same database,
 *        ▲                                               │     opened for reading
 *        └──────────── the protocol of shells ───────────┘
 *
 * Those who bring the write-ahead log into the file, where it is much, are made in the same way, and say nothing: they end.
 *
 * The keeper is forked before the server opens anything, and does nothing but fork: so a reader starts with
 * none of the server's memory, descriptors or locks. Where it is killed (for want of memory, say) the server starts
 * its own program anew as the keeper, with the same arguments: they say all that a reader needs. To the reader the server is a shell: HELLO, the seat's zone, a
 * text of settings, the user's text, of which one statement is run, and the end of the connection, at which it ends,
 * in whatever midst. The keeper ends with the server's end of its socket. Signals of a terminal are for the
 * server: it sees to the others. Where nobody looks at a connection (a reader that is stopped, or sorts), the system sees
 * to it: a keeper is killed with its server, and a reader with its keeper.                            */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "tquel/serve/server.h"

/* A request: this, and the user's name behind it. */
struct request {
  uint64_t statement, results, memory;
  int64_t start, now;
  bool owner;
  bool brings_in; /* no statement: the write-ahead log is to be brought into the file */
};
/* Who takes records comes first. */
#define READER_NICE 10
#define USER_MAX    ((size_t)4096)
/* The server ends: so long it waits for who brings the log in. */
#define LAST_LOG_MS 10000
/* ... and for those who are killed with the keeper: the system is slow then, or one of them is in its hands. */
#define LAST_READER_MS 5000
/* In the environment of a program that is started as a keeper: the server's process. */
#define KEEPER_OF     "TQUEL_KEEPER_OF"
#define KEEPER_SOCKET 3

/* This process is killed when PARENT, which has just forked it, ends. */
static void end_with(pid_t parent) {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0); /* it has ended before that */
}

/* --- the reader ------------------------------------------------------------------------------- */

static void on_report(void *context, const struct base_diag *diag) {
  struct server *server = context;
  if (server->running) server_shell_report(server->running, diag);
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
                                 const struct request *request, const char *user) {
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

union control {
  struct cmsghdr align;
  char bytes[CMSG_SPACE(sizeof(int))];
};

/* -1: the server has ended. */
static ssize_t receive(int socket, struct request *request, char *user, int *ret_descriptor) {
  union control control;
  struct iovec parts[2] = {{request, sizeof *request}, {user, USER_MAX}};
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
  struct request request;
  char user[USER_MAX + 1];
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

/* --- in the server ---------------------------------------------------------------------------- */

/* Of a keeper that was made: the server keeps its end of PAIR. */
static void adopt(struct server *server, const int pair[2], pid_t keeper) {
  close(pair[1]);
  server->keeper_process = keeper;
  server->keeper = keeper > 0 ? pair[0] : -1;
  if (keeper <= 0) close(pair[0]);
}

void server_keeper_start(struct server *server) {
  int pair[2];
  server->keeper = server->bringing = -1;
  server->keeper_wanted = true;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return;
  fflush(NULL);
  pid_t server_process = getpid(), keeper = fork();
  if (keeper == 0) {
    end_with(server_process);
    close(pair[0]);
    keep(server->options, pair[1]);
  }
  adopt(server, pair, keeper);
}

static bool takes_requests(int socket) {
  int type;
  socklen_t size = sizeof type;
  return getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

void server_keeper_be(const struct server_options *options) {
  const char *server = getenv(KEEPER_OF);
  if (!server || !takes_requests(KEEPER_SOCKET)) return; /* somebody else has set it */
  end_with((pid_t)strtol(server, NULL, 10));
  (void)unsetenv(KEEPER_OF);
  (void)fcntl(KEEPER_SOCKET, F_SETFD, FD_CLOEXEC);
  keep(options, KEEPER_SOCKET);
}

/* The server's program with its arguments, but with SOCKET and without anything else that the server has open. 0, or an
   error of the system. */
static int spawn(const struct server *server, int socket, pid_t *ret_keeper) {
  char text[32];
  posix_spawn_file_actions_t actions;
  snprintf(text, sizeof text, "%ld", (long)getpid());
  if (setenv(KEEPER_OF, text, 1) != 0 || posix_spawn_file_actions_init(&actions) != 0)
    return ENOMEM;
  int error = posix_spawn_file_actions_adddup2(&actions, socket, KEEPER_SOCKET);
  if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, KEEPER_SOCKET + 1);
  if (!error)
    error = posix_spawn(ret_keeper, "/proc/self/exe", &actions, NULL, server->options->command,
                        environ);
  posix_spawn_file_actions_destroy(&actions);
  (void)unsetenv(KEEPER_OF);
  return error;
}

/* Another one in place of the keeper that has ended. */
static int start_anew(struct server *server) {
  int pair[2];
  pid_t keeper = -1;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return errno;
  int error = spawn(server, pair[1], &keeper);
  adopt(server, pair, error ? -1 : keeper);
  return error;
}

/* With the keeper who brings the log in would end as well, and to do it anew takes longer. */
static void wait_for_log(struct server *server) {
  struct pollfd polled = {.fd = server->bringing, .events = POLLIN};
  if (server->keeper < 0 || server->bringing < 0) return;
  (void)poll(&polled, 1, LAST_LOG_MS);
  close(server->bringing);
  server->bringing = -1;
}

/* The keeper and all whom it has made end. Who is the last to close the database brings the log into the file and
 * removes it; of these none would, as they are killed. So the server waits until it is the last: orphans are its own
 * from now on. */
static void wait_for_all(void) {
  int64_t until = base_env_monotonic() + LAST_READER_MS * (int64_t)1000000;
  pid_t ended;
  while ((ended = waitpid(-1, NULL, WNOHANG)) >= 0 || errno == EINTR) {
    if (base_env_monotonic() > until) return;
    if (ended == 0) (void)usleep(1000);
  }
}

void server_keeper_stop(struct server *server) {
  wait_for_log(server);
  server->keeper_wanted = false;
  if (server->keeper < 0) return;
  (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
  close(server->keeper);
  server->keeper = -1;
  wait_for_all();
}

/* READER is NULL for one who brings the log in. */
static bool send_request(int keeper, const struct server_reader *reader, int descriptor) {
  static const struct server_reader nobody = {.user = ""};
  struct request request;
  memset(&request, 0, sizeof request);
  request.brings_in = reader == NULL;
  if (reader == NULL) reader = &nobody;
  request.statement = reader->statement;
  request.results = reader->results;
  request.memory = reader->memory;
  request.owner = reader->owner;
  request.start = reader->start;
  request.now = reader->now;
  union control control;
  memset(&control, 0, sizeof control);
  struct iovec parts[2] = {{&request, sizeof request},
                           {(char *)reader->user, strlen(reader->user)}};
  struct msghdr message = {.msg_iov = parts,
                           .msg_iovlen = 2,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(head), &descriptor, sizeof descriptor);
  return sendmsg(keeper, &message, MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

/* For the server's own ears: the shell gets its result all the same. */
static void report_none(struct server *server, const char *reason) {
  base_report(&server->diags, MSG_NO_READERS, NULL, NULL,
              "statements that take long hold everybody up: %s", reason);
}

/* How the keeper ended, which has ended or just does. */
static void describe_end(pid_t keeper, char *ret_text, size_t size) {
  int status;
  ret_text[0] = '\0';
  if (waitpid(keeper, &status, 0) == keeper && WIFSIGNALED(status))
    snprintf(ret_text, size, " by signal %d", WTERMSIG(status));
}

/* The keeper has ended, or there was none. False: there is none, as is reported. */
static bool replace_keeper(struct server *server) {
  char how[32] = "", reason[128];
  if (server->keeper >= 0) {
    close(server->keeper);
    server->keeper = -1;
    describe_end((pid_t)server->keeper_process, how, sizeof how);
  }
  int error = start_anew(server);
  if (!error) {
    base_report(&server->diags, MSG_KEEPER_ANEW, NULL, NULL,
                "the process that makes readers has ended%s, and those that it made: there is "
                "another one now",
                how);
    return true;
  }
  snprintf(reason, sizeof reason,
           "the process that makes readers has ended%s, and there can be no other: %s", how,
           strerror(error));
  report_none(server, reason);
  return false;
}

static bool is_gone(int error) {
  return error != EAGAIN && error != ENOBUFS && error != ETOOMANYREFS;
}

/* Sends the request with DESCRIPTOR, to another keeper where it has ended. 0, or an error of the system: there is
   none, which was reported unless the server ends (ECHILD), or what sendmsg says. */
static int ask_keeper(struct server *server, const struct server_reader *reader, int descriptor) {
  if (!server->keeper_wanted) return ECHILD;
  for (bool again = false;; again = true) {
    if (server->keeper < 0 && !replace_keeper(server)) return ECHILD;
    if (send_request(server->keeper, reader, descriptor)) return 0;
    int error = errno;
    if (again || !is_gone(error)) return error;
    if (!replace_keeper(server)) return ECHILD;
  }
}

struct sn_connection *server_keeper_ask(struct server *server, const struct server_reader *reader) {
  int pair[2];
  if (strlen(reader->user) > USER_MAX) return NULL;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) != 0) {
    report_none(server, strerror(errno));
    return NULL;
  }
  int error = ask_keeper(server, reader, pair[1]);
  close(pair[1]);
  if (!error) return sn_connection_adopt(pair[0], false);
  if (error != ECHILD)
    report_none(server, is_gone(error) ? strerror(error) : "too many wait for readers");
  close(pair[0]);
  return NULL;
}

/* Has he ended? Until then there is nothing to read. */
static bool is_over(int descriptor) {
  char byte;
  return recv(descriptor, &byte, 1, MSG_DONTWAIT) == 0 || (errno != EAGAIN && errno != EINTR);
}

bool server_keeper_bring_in(void *context) {
  struct server *server = context;
  int pair[2];
  if (server->bringing >= 0 && !is_over(server->bringing)) return true;
  if (server->bringing >= 0) close(server->bringing);
  server->bringing = -1;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
  bool sent = ask_keeper(server, NULL, pair[1]) == 0;
  close(pair[1]);
  if (sent)
    server->bringing = pair[0];
  else
    close(pair[0]);
  return sent;
}

/* -1: it has ended. */
static long parent_of(long process) {
  char path[32], text[512];
  snprintf(path, sizeof path, "/proc/%ld/stat", process);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  text[length > 0 ? length : 0] = '\0';
  const char *name_end = strrchr(text, ')'); /* the name may have anything in it */
  long parent = -1;
  return name_end && sscanf(name_end, ") %*c %ld", &parent) == 1 ? parent : -1;
}

bool server_keeper_made(void *context, long process) {
  const struct server *server = context;
  return server->keeper >= 0 && parent_of(process) == server->keeper_process;
}
