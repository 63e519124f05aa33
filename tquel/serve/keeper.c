/* The server's end of the keeper (reader.c): asks it for readers, and for those who bring the write-ahead log in.
 *
 * Where the keeper is killed (for want of memory, say) the server starts its own program anew as the keeper, with the
 * same arguments: they say all that a reader needs. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "tquel/serve/readers.h"
#include "tquel/serve/request.h"

/* The server ends: so long it waits for who brings the log in. */
#define LAST_LOG_MS 10000
/* ... and for those who are killed with the keeper: the system is slow then, or one of them is in its hands. */
#define LAST_READER_MS 5000

/* --- making one ---------------------------------------------------------------------------------- */

void server_keeper_adopt(struct server *server, const int pair[2], pid_t keeper) {
  close(pair[1]);
  server->keeper.process = keeper;
  server->keeper.socket = keeper > 0 ? pair[0] : -1;
  if (keeper <= 0) close(pair[0]);
}

/* The server's program with its arguments, but with SOCKET and without anything else that the server has open. 0, or an
   error of the system. */
static int spawn(const struct server *server, int socket, pid_t *ret_keeper) {
  char text[32];
  posix_spawn_file_actions_t actions;
  snprintf(text, sizeof text, "%ld", (long)getpid());
  if (setenv(SERVER_KEEPER_OF, text, 1) != 0 || posix_spawn_file_actions_init(&actions) != 0)
    return ENOMEM;
  int error = posix_spawn_file_actions_adddup2(&actions, socket, SERVER_KEEPER_SOCKET);
  if (!error) error = posix_spawn_file_actions_addclosefrom_np(&actions, SERVER_KEEPER_SOCKET + 1);
  if (!error)
    error = posix_spawn(ret_keeper, "/proc/self/exe", &actions, NULL, server->options->command,
                        environ);
  posix_spawn_file_actions_destroy(&actions);
  (void)unsetenv(SERVER_KEEPER_OF);
  return error;
}

/* Another one in place of the keeper that has ended. */
static int start_anew(struct server *server) {
  int pair[2];
  pid_t keeper = -1;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) return errno;
  int error = spawn(server, pair[1], &keeper);
  server_keeper_adopt(server, pair, error ? -1 : keeper);
  return error;
}

/* With the keeper who brings the log in would end as well, and to do it anew takes longer. */
static void wait_for_log(struct server *server) {
  struct pollfd polled = {.fd = server->keeper.bringing, .events = POLLIN};
  if (server->keeper.socket < 0 || server->keeper.bringing < 0) return;
  (void)poll(&polled, 1, LAST_LOG_MS);
  close(server->keeper.bringing);
  server->keeper.bringing = -1;
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
  server->keeper.wanted = false;
  if (server->keeper.socket < 0) return;
  (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
  close(server->keeper.socket);
  server->keeper.socket = -1;
  wait_for_all();
}

/* READER is NULL for one who brings the log in. */
static bool send_request(int keeper, const struct server_reader *reader, int descriptor) {
  static const struct server_reader nobody = {.user = ""};
  struct server_request request;
  memset(&request, 0, sizeof request);
  request.brings_in = reader == NULL;
  if (reader == NULL) reader = &nobody;
  request.statement = reader->statement;
  request.results = reader->results;
  request.memory = reader->memory;
  request.owner = reader->owner;
  request.start = reader->start;
  request.now = reader->now;
  union server_request_control control;
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
  if (server->keeper.socket >= 0) {
    close(server->keeper.socket);
    server->keeper.socket = -1;
    describe_end((pid_t)server->keeper.process, how, sizeof how);
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
  if (!server->keeper.wanted) return ECHILD;
  for (bool again = false;; again = true) {
    if (server->keeper.socket < 0 && !replace_keeper(server)) return ECHILD;
    if (send_request(server->keeper.socket, reader, descriptor)) return 0;
    int error = errno;
    if (again || !is_gone(error)) return error;
    if (!replace_keeper(server)) return ECHILD;
  }
}

struct sn_connection *server_keeper_ask(struct server *server, const struct server_reader *reader) {
  int pair[2];
  if (strlen(reader->user) > SERVER_REQUEST_USER) return NULL;
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
  if (server->keeper.bringing >= 0 && !is_over(server->keeper.bringing)) return true;
  if (server->keeper.bringing >= 0) close(server->keeper.bringing);
  server->keeper.bringing = -1;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return false;
  bool sent = ask_keeper(server, NULL, pair[1]) == 0;
  close(pair[1]);
  if (sent)
    server->keeper.bringing = pair[0];
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
  return server->keeper.socket >= 0 && parent_of(process) == server->keeper.process;
}
