/* The way to a host: its addresses, tried one after the other.
 *
 * Finding the addresses of a name may take many seconds and cannot be done without waiting, so a thread does
 * it; an address in digits needs none. Who asked may go away meanwhile: the two share what they have, and the
 * last one frees it.                                                                                 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "sensors/wire/transport.h"

struct sn_route {
  char *host, *port;
  int event;            /* readable when the thread is done */
  int holders;          /* atomic: who asked, and the thread */
  struct addrinfo *all; /* the thread's until the event; then whose the route is */
  struct addrinfo *next;
  int error, system_error;
};

static void release(struct sn_route *route) {
  if (__atomic_sub_fetch(&route->holders, 1, __ATOMIC_ACQ_REL) > 0) return;
  if (route->all != NULL) freeaddrinfo(route->all);
  if (route->event >= 0) close(route->event);
  free(route->host);
  free(route->port);
  free(route);
}

void sn_route_free(struct sn_route *route) {
  if (route != NULL) release(route);
}

static void look_up(struct sn_route *route, int flags) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = flags | AI_NUMERICSERV};
  route->error = getaddrinfo(route->host, route->port, &hints, &route->all);
  route->system_error = errno;
  if (route->error != 0) route->all = NULL;
  route->next = route->all;
}

static void *thread(void *argument) {
  struct sn_route *route = argument;
  uint64_t one = 1;
  look_up(route, 0);
  /* An eventfd takes 8 bytes at once, and there is room. */
  ssize_t written = write(route->event, &one, sizeof one);
  (void)written;
  release(route);
  return NULL;
}

static bool start_thread(struct sn_route *route) {
  pthread_attr_t attributes;
  pthread_t id;
  sigset_t all, before;
  route->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (route->event < 0 || pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  route->holders = 2;
  /* Signals are for the threads that were there. */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = pthread_create(&id, &attributes, thread, route) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (!started) route->holders = 1;
  return started;
}

struct sn_route *sn_route_new(const struct sn_address *address, const char **ret_reason) {
  struct sn_route *route = base_xcalloc(1, sizeof *route);
  *route = (struct sn_route){.host = base_xstrdup(address->host),
                             .port = base_xstrdup(address->port),
                             .event = -1,
                             .holders = 1};
  look_up(route, AI_NUMERICHOST);
  if (route->error != EAI_NONAME || start_thread(route)) return route;
  *ret_reason = "no thread can be started to find the host";
  sn_route_free(route);
  return NULL;
}

int sn_route_descriptor(const struct sn_route *route) {
  return route->event;
}

bool sn_route_ready(const struct sn_route *route) {
  struct pollfd one = {.fd = route->event, .events = POLLIN};
  return route->event < 0 || poll(&one, 1, 0) > 0;
}

/* A connection whose other side has vanished is found out in some minutes, also when nothing is said. */
void sn_socket_tcp_options(int at) {
  int yes = 1, idle = 30, interval = 10, count = 6, unanswered_ms = 120000;
  setsockopt(at, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(at, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  setsockopt(at, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(at, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(at, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
  setsockopt(at, IPPROTO_TCP, TCP_USER_TIMEOUT, &unanswered_ms, sizeof unanswered_ms);
}

int sn_route_connect(struct sn_route *route, const char **ret_reason) {
  if (route->error != 0) {
    *ret_reason = route->error == EAI_SYSTEM ? sn_socket_error(route->system_error)
                                             : gai_strerror(route->error);
    return -1;
  }
  while (route->next != NULL) {
    struct addrinfo *one = route->next;
    route->next = one->ai_next;
    int at = socket(one->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (at >= 0) {
      sn_socket_tcp_options(at);
      if (connect(at, one->ai_addr, one->ai_addrlen) == 0 || errno == EINPROGRESS) return at;
    }
    *ret_reason = sn_socket_error(errno);
    if (at >= 0) close(at);
  }
  return -1;
}
