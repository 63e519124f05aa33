/* The socket that programs hand their rings to. Senders connect, send one message with one descriptor
 * and go. Nothing here waits for one that has connected and not yet sent: it is looked at again.     */
#include "sensors/collect/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/base/arena.h"

/* Until it is listened at: what programs see can be connected to. */
#define FIRST_NAME "." SN_SOCKET

enum { PENDING_MAX = 1024 };

struct sn_listener {
  int directory, lock, socket, poll;
  int *pending; /* have connected and not yet sent */
  size_t pending_count;
};

/* Binds within the directory whatever the length of its path. */
static const char *bind_socket(struct sn_listener *listener, unsigned mode) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/" FIRST_NAME,
           listener->directory);
  listener->socket = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener->socket < 0) return "no socket can be made";
  /* We hold the lock: a socket that is there is a dead reader's. */
  unlinkat(listener->directory, SN_SOCKET, 0);
  unlinkat(listener->directory, FIRST_NAME, 0);
  fchmod(listener->socket, (mode_t)mode);
  if (bind(listener->socket, (const struct sockaddr *)&address, sizeof address) != 0 ||
      fchmodat(listener->directory, FIRST_NAME, (mode_t)mode, 0) != 0) {
    return "the socket cannot be put in the directory";
  }
  struct epoll_event event = {.events = EPOLLIN};
  listener->poll = epoll_create1(EPOLL_CLOEXEC);
  if (listen(listener->socket, 4096) != 0 || listener->poll < 0 ||
      epoll_ctl(listener->poll, EPOLL_CTL_ADD, listener->socket, &event) != 0) {
    return "the socket cannot be listened at";
  }
  if (renameat(listener->directory, FIRST_NAME, listener->directory, SN_SOCKET) != 0)
    return "the socket cannot be put in the directory";
  return NULL;
}

/* Who holds the lock has written who he is into it, by what he takes for his number and his machine. */
static const char *who_listens(const struct sn_listener *listener) {
  static char reason[HOST_NAME_MAX + 64];
  char who[HOST_NAME_MAX + 24];
  ssize_t length = pread(listener->lock, who, sizeof who - 1, 0);
  who[length > 0 ? length : 0] = '\0';
  who[strcspn(who, "\n")] = '\0';
  for (char *at = who; *at != '\0'; at++)
    if ((unsigned char)*at < ' ' || *at == 127) *at = '?';
  if (who[0] == '\0') return "another collector reads it";
  snprintf(reason, sizeof reason, "another collector reads it: process %s", who);
  return reason;
}

static void say_who(const struct sn_listener *listener) {
  char host[HOST_NAME_MAX + 1] = "";
  gethostname(host, sizeof host - 1);
  if (ftruncate(listener->lock, 0) != 0 ||
      dprintf(listener->lock, "%ld on %s\n", (long)getpid(), host) < 0) {
    /* Without room for it others are not told who it is. */
  }
}

static const char *open_all(struct sn_listener *listener, const char *directory, unsigned mode) {
  listener->directory = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (listener->directory < 0) return "the directory cannot be opened";
  listener->lock = openat(listener->directory, SN_SOCKET ".lock",
                          O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (listener->lock < 0)
    return errno == EACCES ? "another user's collector reads it" : "the lock cannot be opened";
  if (flock(listener->lock, LOCK_EX | LOCK_NB) != 0) return who_listens(listener);
  say_who(listener);
  return bind_socket(listener, mode);
}

struct sn_listener *sn_listener_open(const char *directory, unsigned mode,
                                     const char **ret_reason) {
  struct sn_listener *listener = base_xmalloc(sizeof *listener);
  *listener = (struct sn_listener){.directory = -1, .lock = -1, .socket = -1, .poll = -1};
  listener->pending = base_xcalloc(PENDING_MAX, sizeof *listener->pending);
  const char *reason = open_all(listener, directory, mode);
  if (reason == NULL) return listener;
  sn_listener_free(listener);
  *ret_reason = reason;
  return NULL;
}

void sn_listener_free(struct sn_listener *listener) {
  if (listener == NULL) return;
  if (listener->socket >= 0) {
    unlinkat(listener->directory, FIRST_NAME, 0);
    unlinkat(listener->directory, SN_SOCKET, 0);
    close(listener->socket);
  }
  for (size_t i = 0; i < listener->pending_count; i++) close(listener->pending[i]);
  free(listener->pending);
  if (listener->poll >= 0) close(listener->poll);
  if (listener->lock >= 0) close(listener->lock);
  if (listener->directory >= 0) close(listener->directory);
  free(listener);
}

int sn_listener_descriptor(const struct sn_listener *listener) {
  return listener->poll;
}

/* The descriptor in MESSAGE; others, which nobody asked for, are closed. */
static int take_descriptor(struct msghdr *message) {
  int taken = -1;
  for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head != NULL;
       head = CMSG_NXTHDR(message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; i++) {
      int file;
      memcpy(&file, CMSG_DATA(head) + i * sizeof file, sizeof file);
      if (taken < 0) {
        taken = file;
      } else {
        close(file);
      }
    }
  }
  return taken;
}

/* The descriptor of a good message, -1 of another one or of none; *ret_wait: it has not come. */
static int receive(int from, struct sn_handover *ret_handover, uint32_t *ret_uid, bool *ret_wait) {
  union {
    struct cmsghdr align;
    unsigned char bytes[CMSG_SPACE(4 * sizeof(int))];
  } control;
  struct iovec part = {ret_handover, sizeof *ret_handover};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  struct ucred peer;
  socklen_t length = sizeof peer;
  ssize_t got = recvmsg(from, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  *ret_wait = got < 0 && (errno == EAGAIN || errno == EINTR);
  int file = got >= 0 ? take_descriptor(&message) : -1;
  bool good = got == (ssize_t)sizeof *ret_handover && (message.msg_flags & MSG_TRUNC) == 0 &&
              memchr(ret_handover->announcement, '\0', sizeof ret_handover->announcement) != NULL &&
              getsockopt(from, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0;
  if (!good && file >= 0) close(file);
  if (!good) return -1;
  *ret_uid = peer.uid;
  return file;
}

static void drop(struct sn_listener *listener, size_t i) {
  close(listener->pending[i]); /* and so it is polled no more */
  listener->pending_count--;
  memmove(&listener->pending[i], &listener->pending[i + 1],
          (listener->pending_count - i) * sizeof *listener->pending);
}

/* As many as there is room for; the others wait. */
static void accept_all(struct sn_listener *listener) {
  for (int from;
       listener->pending_count < PENDING_MAX &&
       (from = accept4(listener->socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0;) {
    struct epoll_event event = {.events = EPOLLIN};
    listener->pending[listener->pending_count++] = from;
    epoll_ctl(listener->poll, EPOLL_CTL_ADD, from, &event);
  }
}

int sn_listener_next(struct sn_listener *listener, struct sn_handover *ret_handover,
                     uint32_t *ret_uid) {
  accept_all(listener);
  for (size_t i = 0; i < listener->pending_count;) {
    bool wait = false;
    int file = receive(listener->pending[i], ret_handover, ret_uid, &wait);
    if (wait) {
      i++;
      continue;
    }
    drop(listener, i);
    if (file >= 0) return file;
    if (listener->pending_count + 1 == PENDING_MAX) accept_all(listener);
  }
  /* Of too many that do not send the oldest goes. */
  if (listener->pending_count == PENDING_MAX) drop(listener, 0);
  return -1;
}
