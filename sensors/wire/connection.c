/* Connections: buffers before and behind a socket, and the rules of who may say what.
 *
 *     connecting ──▶ awaiting the first message ──▶ greeted ──▶ leaving ──▶ over
 *
 * Leaving: a GOODBYE is on its way out. What still comes in is read and thrown away until the other side is
 * gone, or for a second at most: a socket that is closed while there is something to be read takes back what
 * was sent last.
 *
 * Messages are taken out of the input where they lie; what remains of a message that is not complete moves to
 * the front at the next pump. As long as a complete message lies there nothing is received, so the input
 * holds one message and what came with it in one piece.                                              */
#include "sensors/wire/connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/base/status.h"
#include "sensors/wire/clock_offset.h"
#include "sensors/wire/transport.h"

/* So much is received at once: more, when that was filled. */
enum { READ_MIN = 4096, READ_MAX = 256 * 1024 };
/* An output that was larger is given back when all of it is sent. */
enum { OUT_KEPT = 1024 * 1024 };
static const int64_t leave_ns = 1000000000, greeting_ns = 10000000000, pong_ns = 10000000000;

struct sn_acceptor {
  int descriptor, lock;
  int spare; /* a descriptor to give up, so that a connection can be refused when there are no more */
  bool local;
  bool group;
  char *path;
  struct sn_tls_context *tls;
};

struct sn_connection {
  int descriptor;
  bool server; /* this side is the server's */
  bool local, connecting, greeted, leaving, shut, over;
  unsigned may_send; /* the other side: enum sn_wire_side */
  int64_t uid, gid, pid;
  struct base_buffer in, out;
  size_t taken, sent;            /* bytes of in and out that are done with */
  size_t read_bytes;             /* to receive at once */
  short read_wants, write_wants; /* what TLS waits for besides, or instead */
  const char *reason;
  char *told; /* the other side's reason */
  uint32_t diagnostic;
  int64_t opened, heard, leaving_since;
  int64_t received;          /* realtime at which what is in the input had come */
  int64_t pinged, pinged_at; /* the ping that no pong has come for: its time; monotonic; 0: none */
  struct sn_clock_offset clock;
  struct sn_tls_context *context; /* a client's own */
  struct sn_route *route;         /* of a client over TCP, while it connects */
  char *host;
  struct sn_tls *tls;
};

static struct sn_connection *connection_new(int descriptor, bool server) {
  struct sn_connection *connection = base_xcalloc(1, sizeof *connection);
  *connection = (struct sn_connection){.descriptor = descriptor,
                                       .server = server,
                                       .may_send = server ? SN_FROM_CLIENT : SN_FROM_SERVER,
                                       .uid = -1,
                                       .gid = -1,
                                       .pid = -1,
                                       .read_bytes = READ_MIN,
                                       .opened = base_env_monotonic(),
                                       .heard = base_env_monotonic()};
  return connection;
}

void sn_connection_free(struct sn_connection *connection) {
  if (connection == NULL) return;
  sn_tls_free(connection->tls);
  sn_tls_context_free(connection->context);
  sn_route_free(connection->route);
  free(connection->host);
  if (connection->descriptor >= 0) close(connection->descriptor);
  base_buffer_done(&connection->in);
  base_buffer_done(&connection->out);
  free(connection->told);
  free(connection);
}

/* --- ends */

static void over(struct sn_connection *connection, const char *reason) {
  if (connection->reason == NULL) connection->reason = reason;
  connection->over = true;
}

static void leave(struct sn_connection *connection, uint32_t diagnostic, const char *reason) {
  if (connection->over || connection->leaving) return;
  struct sn_message_goodbye goodbye = {.diagnostic = diagnostic, .reason = sn_string_of(reason)};
  sn_put_goodbye(&connection->out, 0, &goodbye);
  connection->leaving = true;
  connection->leaving_since = base_env_monotonic();
}

/* The other side broke the rules. */
static void refuse(struct sn_connection *connection, const char *reason) {
  leave(connection, 0, reason);
  if (connection->reason == NULL) connection->reason = reason;
}

void sn_connection_goodbye(struct sn_connection *connection, uint32_t diagnostic,
                           const char *reason) {
  leave(connection, diagnostic, reason);
  if (connection->reason == NULL) connection->reason = "closed by this side";
}

static void take_goodbye(struct sn_connection *connection, const struct sn_message *message) {
  struct sn_message_goodbye goodbye;
  if (!sn_get_goodbye(message, &goodbye)) {
    over(connection, "the other side sent a GOODBYE that is none");
    return;
  }
  if (connection->reason == NULL) {
    free(connection->told);
    connection->told = base_xmalloc((size_t)goodbye.reason.length + 1);
    memcpy(connection->told, goodbye.reason.bytes, goodbye.reason.length);
    connection->told[goodbye.reason.length] = 0;
    connection->diagnostic = goodbye.diagnostic;
    connection->reason =
        goodbye.reason.length != 0 ? connection->told : "the other side said goodbye";
  }
  connection->over = true;
}

/* --- messages in the input */

/* The frame at AT of the input. False: it is not all there; BAD: it never will be one. */
static bool frame_at(const struct sn_connection *connection, size_t at, struct sn_message *ret,
                     const char **ret_bad) {
  const unsigned char *head = (const unsigned char *)connection->in.data + at;
  size_t there = connection->in.length - at;
  *ret_bad = NULL;
  if (there < SN_FRAME_HEAD) return false;
  struct sn_message frame = {.body = head, .length = SN_FRAME_HEAD};
  struct sn_reading reading = sn_reading_of(&frame);
  uint32_t length = sn_get_u32(&reading);
  uint32_t type_and_flags = sn_get_u32(&reading);
  *ret = (struct sn_message){.type = (uint16_t)type_and_flags,
                             .number = sn_get_u64(&reading),
                             .body = head + SN_FRAME_HEAD,
                             .length = length};
  if (length > (connection->greeted ? SN_BODY_MAX : SN_BODY_MAX_FIRST)) {
    *ret_bad = "a message is too long";
  } else if (type_and_flags >> 16 != 0) {
    *ret_bad = "a message has flags that are not known";
  } else if ((sn_message_from(ret->type) & connection->may_send) == 0) {
    *ret_bad = "a message of a type that is not for this side";
  } else if (!connection->greeted && ret->type != SN_WIRE_GOODBYE &&
             ret->type != (connection->server ? SN_WIRE_HELLO : SN_WIRE_WELCOME)) {
    *ret_bad = "the first message is not the one that comes first";
  } else if (connection->greeted && (ret->type == SN_WIRE_HELLO || ret->type == SN_WIRE_WELCOME)) {
    *ret_bad = "a second greeting";
  }
  return *ret_bad == NULL && there - SN_FRAME_HEAD >= length;
}

/* After a HELLO its role says what may come; versions must agree. */
static bool greeted(struct sn_connection *connection, const struct sn_message *message) {
  struct sn_reading reading = sn_reading_of(message);
  uint32_t version = sn_get_u32(&reading); /* the first field in all versions */
  struct sn_message_hello hello;
  struct sn_message_welcome welcome;
  const char *bad = NULL;
  if (reading.bad || version != SN_WIRE_VERSION) {
    bad = "the other side speaks another version of the protocol";
  } else if (connection->server && !sn_get_hello(message, &hello)) {
    bad = "a HELLO that is none";
  } else if (!connection->server && !sn_get_welcome(message, &welcome)) {
    bad = "a WELCOME that is none";
  }
  if (bad != NULL) {
    refuse(connection, bad);
    return false;
  }
  connection->greeted = true;
  if (connection->server)
    connection->may_send = hello.role == SN_ROLE_SHELL ? SN_FROM_SHELL : SN_FROM_SOURCE;
  return true;
}

/* PING and PONG: nobody else need know of them. */
static bool exchange(struct sn_connection *connection, const struct sn_message *message) {
  struct sn_message_ping ping;
  struct sn_message_pong pong;
  if (sn_get_ping(message, &ping)) {
    /* Who asks and does not read the answers gets no more of them. */
    if (sn_connection_unsent(connection) > SN_BODY_MAX) return true;
    pong = (struct sn_message_pong){
        .sent = ping.sent, .received = connection->received, .answered = base_env_now()};
    return sn_put_pong(&connection->out, 0, &pong);
  }
  if (!sn_get_pong(message, &pong)) return false;
  /* Nobody is told the time who has not asked. */
  if (connection->pinged_at == 0 || pong.sent != connection->pinged) return true;
  connection->pinged_at = 0;
  sn_clock_offset_add(&connection->clock, pong.sent, pong.received, pong.answered,
                      connection->received, base_env_monotonic());
  return true;
}

void sn_connection_ping(struct sn_connection *connection) {
  struct sn_message_ping ping = {.sent = base_env_now()};
  int64_t now = base_env_monotonic();
  bool waiting = connection->pinged_at != 0 && now - connection->pinged_at < pong_ns;
  if (!connection->greeted || connection->leaving || waiting) return;
  connection->pinged = ping.sent;
  connection->pinged_at = now;
  sn_put_ping(&connection->out, 0, &ping);
}

bool sn_connection_clock(const struct sn_connection *connection, int64_t *ret_offset,
                         int64_t *ret_error) {
  *ret_offset = *ret_error = 0;
  return connection->local ||
         sn_clock_offset_best(&connection->clock, base_env_monotonic(), ret_offset, ret_error);
}

bool sn_connection_next(struct sn_connection *connection, struct sn_message *ret_message) {
  const char *bad;
  while (!connection->leaving && connection->in.data != NULL) {
    if (!frame_at(connection, connection->taken, ret_message, &bad)) {
      if (bad != NULL) refuse(connection, bad);
      return false;
    }
    if (ret_message->type == SN_WIRE_GOODBYE) {
      take_goodbye(connection, ret_message);
      connection->taken = connection->in.length;
      return false;
    }
    connection->taken += SN_FRAME_HEAD + ret_message->length;
    if (!connection->greeted) return greeted(connection, ret_message);
    if (ret_message->type != SN_WIRE_PING && ret_message->type != SN_WIRE_PONG) return true;
    if (!exchange(connection, ret_message)) {
      refuse(connection, "a PING or PONG that is none");
      return false;
    }
  }
  return false;
}

/* --- bytes */

static ssize_t receive(struct sn_connection *connection, void *to, size_t room,
                       const char **ret_reason) {
  if (connection->tls != NULL)
    return sn_tls_receive(connection->tls, to, room, &connection->read_wants, ret_reason);
  ssize_t got;
  do got = recv(connection->descriptor, to, room, MSG_DONTWAIT);
  while (got < 0 && errno == EINTR);
  if (got >= 0) return got;
  if (errno == EAGAIN || errno == EWOULDBLOCK) return SN_IO_AGAIN;
  *ret_reason = sn_socket_error(errno);
  return SN_IO_FAILED;
}

static ssize_t transmit(struct sn_connection *connection, const void *from, size_t length,
                        const char **ret_reason) {
  if (connection->tls != NULL)
    return sn_tls_send(connection->tls, from, length, &connection->write_wants, ret_reason);
  ssize_t sent;
  do sent = send(connection->descriptor, from, length, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent >= 0) return sent;
  if (errno == EAGAIN || errno == EWOULDBLOCK) return SN_IO_AGAIN;
  *ret_reason = sn_socket_error(errno);
  return SN_IO_FAILED;
}

/* False: sending is no use any more; *ret_reason. */
static bool flush(struct sn_connection *connection, const char **ret_reason) {
  struct base_buffer *out = &connection->out;
  while (connection->sent < out->length) {
    ssize_t sent = transmit(connection, out->data + connection->sent,
                            out->length - connection->sent, ret_reason);
    if (sent == SN_IO_AGAIN) break;
    if (sent <= 0) return false;
    connection->sent += (size_t)sent;
  }
  /* What was sent goes when it is all, or the larger part. */
  if (connection->sent == out->length) {
    if (out->capacity > OUT_KEPT) base_buffer_done(out);
    base_buffer_clear(out);
    connection->sent = 0;
  } else if (connection->sent > out->length / 2) {
    memmove(out->data, out->data + connection->sent, out->length - connection->sent + 1);
    out->length -= connection->sent;
    connection->sent = 0;
  }
  return true;
}

static bool complete(const struct sn_connection *connection) {
  struct sn_message message;
  const char *bad;
  return connection->in.data != NULL &&
         (frame_at(connection, connection->taken, &message, &bad) || bad != NULL);
}

/* Receives once, or nothing while a message waits to be asked for. False: nothing will come any more. */
static bool fill(struct sn_connection *connection, const char **ret_reason) {
  struct base_buffer *in = &connection->in;
  if (connection->leaving) {
    base_buffer_clear(in);
    connection->taken = 0;
  } else if (complete(connection)) {
    return true;
  }
  if (connection->taken > 0) {
    memmove(in->data, in->data + connection->taken, in->length - connection->taken + 1);
    in->length -= connection->taken;
    connection->taken = 0;
  }
  base_buffer_reserve(in, connection->read_bytes);
  ssize_t got = receive(connection, in->data + in->length, connection->read_bytes, ret_reason);
  if (got == SN_IO_AGAIN) return true;
  if (got <= 0) {
    if (got == SN_IO_END)
      *ret_reason = connection->greeted ? "the other side has closed the connection"
                                        : "the other side has closed the connection at once";
    return false;
  }
  in->length += (size_t)got;
  if ((size_t)got == connection->read_bytes && connection->read_bytes < READ_MAX)
    connection->read_bytes *= 2;
  in->data[in->length] = 0;
  connection->heard = base_env_monotonic();
  connection->received = base_env_now();
  return true;
}

/* The last words of one who is gone. */
static void look_for_goodbye(struct sn_connection *connection) {
  struct sn_message message;
  const char *bad;
  size_t at = connection->taken;
  if (connection->in.data == NULL || connection->leaving) return;
  while (frame_at(connection, at, &message, &bad)) {
    if (message.type == SN_WIRE_GOODBYE) {
      take_goodbye(connection, &message);
      return;
    }
    at += SN_FRAME_HEAD + message.length;
  }
}

/* The next address of the host, until one answers; false: there is none. */
static bool connect_next(struct sn_connection *connection) {
  const char *reason = connection->reason;
  if (connection->descriptor >= 0) close(connection->descriptor);
  connection->descriptor = sn_route_connect(connection->route, &reason);
  connection->reason = NULL;
  if (connection->descriptor < 0) over(connection, reason);
  return connection->descriptor >= 0;
}

/* A client's way to its server over TCP. True: the socket is connected and TLS may begin. */
static bool connected(struct sn_connection *connection) {
  if (connection->descriptor < 0 &&
      (!sn_route_ready(connection->route) || !connect_next(connection))) {
    return false;
  }
  for (;;) {
    struct pollfd one = {.fd = connection->descriptor, .events = POLLOUT};
    int error = 0;
    socklen_t length = sizeof error;
    if (poll(&one, 1, 0) <= 0) return false;
    if (getsockopt(connection->descriptor, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
      error = errno;
    if (error == 0) break;
    connection->reason = sn_socket_error(error); /* if there is no other address */
    if (!connect_next(connection)) return false;
  }
  const char *reason = NULL;
  connection->connecting = false;
  connection->tls =
      sn_tls_new(connection->context, connection->descriptor, connection->host, &reason);
  if (connection->tls == NULL) over(connection, reason);
  return connection->tls != NULL;
}

bool sn_connection_pump(struct sn_connection *connection, short revents) {
  const char *unsent = NULL, *unread = NULL;
  int64_t now = base_env_monotonic();
  (void)revents; /* everything is tried: that costs no more than finding out */
  if (connection->over) return false;
  if (connection->connecting && !connected(connection)) return !connection->over;
  connection->read_wants = connection->write_wants = 0;
  bool can_send = connection->shut || flush(connection, &unsent);
  bool can_receive = fill(connection, &unread);
  if (can_send && can_receive && connection->leaving && !connection->shut &&
      connection->out.length == 0) {
    if (connection->tls != NULL) sn_tls_close(connection->tls);
    shutdown(connection->descriptor, SHUT_WR);
    connection->shut = true;
  }
  bool late = connection->leaving && now - connection->leaving_since > leave_ns;
  /* A HELLO that is there and waits for us has come, however late we are. */
  if (connection->server && !connection->greeted && now - connection->opened > greeting_ns &&
      !complete(connection))
    refuse(connection, "no HELLO has come");
  if (can_send && can_receive && !late) return true;
  /* Who cannot be written to any more may have said why. */
  while (can_receive && !connection->leaving && !complete(connection)) {
    size_t before = connection->in.length;
    if (!fill(connection, &unread) || connection->in.length == before) break;
  }
  look_for_goodbye(connection);
  over(connection, unsent != NULL   ? unsent
                   : unread != NULL ? unread
                                    : "the other side does not go");
  return false;
}

int sn_connection_descriptor(const struct sn_connection *connection) {
  if (connection->descriptor < 0 && connection->route != NULL)
    return sn_route_descriptor(connection->route);
  return connection->descriptor;
}

bool sn_connection_said_goodbye(const struct sn_connection *connection) {
  return connection->told != NULL;
}

bool sn_connection_refused(const struct sn_connection *connection) {
  return connection->over && sn_tls_refused(connection->tls);
}

short sn_connection_events(const struct sn_connection *connection) {
  if (connection->connecting) return connection->descriptor < 0 ? POLLIN : POLLOUT;
  short events = connection->read_wants;
  if (connection->leaving || !complete(connection)) events |= POLLIN;
  /* While TLS must read before it can write, that the socket could be written to is no news. */
  if (sn_connection_unsent(connection) > 0)
    events |= connection->write_wants != 0 ? connection->write_wants : POLLOUT;
  return events;
}

bool sn_connection_pending(const struct sn_connection *connection) {
  return !connection->over && connection->tls != NULL && sn_tls_pending(connection->tls) &&
         (connection->leaving || !complete(connection));
}

struct base_buffer *sn_connection_out(struct sn_connection *connection) {
  return &connection->out;
}

size_t sn_connection_unsent(const struct sn_connection *connection) {
  return connection->out.length - connection->sent;
}

/* --- who is there */

const char *sn_connection_reason(const struct sn_connection *connection) {
  return connection->reason;
}

bool sn_connection_is_over(const struct sn_connection *connection) {
  return connection->over;
}

uint32_t sn_connection_diagnostic(const struct sn_connection *connection) {
  return connection->diagnostic;
}

bool sn_connection_greeted(const struct sn_connection *connection) {
  return connection->greeted;
}

int64_t sn_connection_silence(const struct sn_connection *connection) {
  return base_env_monotonic() - connection->heard;
}

int64_t sn_connection_uid(const struct sn_connection *connection) {
  return connection->uid;
}

int64_t sn_connection_pid(const struct sn_connection *connection) {
  return connection->pid;
}

bool sn_connection_is_local(const struct sn_connection *connection) {
  return connection->local;
}

const char *sn_connection_certificate(const struct sn_connection *connection) {
  return connection->tls != NULL ? sn_tls_peer(connection->tls) : NULL;
}

/* --- opening */

static void know_peer(struct sn_connection *connection) {
  struct ucred peer;
  socklen_t length = sizeof peer;
  connection->local = true;
  if (getsockopt(connection->descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return;
  connection->uid = peer.uid;
  connection->gid = peer.gid;
  connection->pid = peer.pid;
}

struct sn_connection *sn_connection_adopt(int descriptor, bool server) {
  struct sn_connection *connection = connection_new(descriptor, server);
  know_peer(connection);
  return connection;
}

bool sn_address_check(const struct sn_address *address, const char **ret_reason) {
  if (address->kind != SN_ADDRESS_TLS) return true;
  struct sn_tls_context *context = sn_tls_context_new(address, false, ret_reason);
  sn_tls_context_free(context);
  return context != NULL;
}

static struct sn_connection *open_tls(const struct sn_address *address, const char **ret_reason) {
  struct sn_tls_context *context = sn_tls_context_new(address, false, ret_reason);
  if (context == NULL) return NULL;
  struct sn_connection *connection = connection_new(-1, false);
  connection->context = context;
  connection->connecting = true;
  connection->host = base_xstrdup(address->host);
  connection->route = sn_route_new(address, ret_reason);
  if (connection->route != NULL) {
    if (sn_route_descriptor(connection->route) >= 0) return connection;
    if (connect_next(connection)) return connection;
    *ret_reason = connection->reason;
  }
  sn_connection_free(connection);
  return NULL;
}

/* Whose the directory of the socket PATH is; -1: nobody knows. */
static int64_t owner_of_place(const char *path) {
  struct stat status;
  char *directory = base_xstrdup(path), *slash = strrchr(directory, '/');
  if (slash != NULL) slash[slash == directory] = '\0';
  bool known = stat(slash != NULL ? directory : ".", &status) == 0;
  free(directory);
  return known ? (int64_t)status.st_uid : -1;
}

/* Whoever may write in the directory may have put a socket there and waits for what others say, their questions and
 * secrets. */
static bool may_be_server(const struct sn_connection *connection, const char *path) {
  return connection->uid == (int64_t)geteuid() || connection->uid == 0 ||
         (connection->uid >= 0 && connection->uid == owner_of_place(path));
}

struct sn_connection *sn_connection_open(const struct sn_address *address,
                                         const char **ret_reason) {
  if (address->kind == SN_ADDRESS_TLS) return open_tls(address, ret_reason);
  int at = sn_socket_connect(address, ret_reason);
  if (at < 0) return NULL;
  struct sn_connection *connection = connection_new(at, false);
  know_peer(connection);
  if (!address->found || may_be_server(connection, address->path)) return connection;
  *ret_reason = "another user has put one there; if it is the one that you want, name the socket";
  sn_connection_free(connection);
  return NULL;
}

struct sn_acceptor *sn_acceptor_open(const struct sn_address *address, const char **ret_reason) {
  struct sn_acceptor *acceptor = base_xcalloc(1, sizeof *acceptor);
  *acceptor = (struct sn_acceptor){.descriptor = -1,
                                   .lock = -1,
                                   .spare = open("/dev/null", O_RDONLY | O_CLOEXEC),
                                   .local = address->kind == SN_ADDRESS_UNIX,
                                   .group = address->group >= 0};
  bool ready = true;
  if (acceptor->local) {
    acceptor->lock = sn_socket_lock(address->path, ret_reason);
    ready = acceptor->lock >= 0;
    if (ready) acceptor->path = base_xstrdup(address->path);
  } else {
    acceptor->tls = sn_tls_context_new(address, true, ret_reason);
    ready = acceptor->tls != NULL;
  }
  if (ready) acceptor->descriptor = sn_socket_listen(address, ret_reason);
  if (acceptor->descriptor >= 0) return acceptor;
  free(acceptor->path);
  acceptor->path = NULL; /* whatever is there is not ours */
  sn_acceptor_free(acceptor);
  return NULL;
}

void sn_acceptor_free(struct sn_acceptor *acceptor) {
  if (acceptor == NULL) return;
  if (acceptor->path != NULL) sn_socket_remove(acceptor->path);
  if (acceptor->descriptor >= 0) close(acceptor->descriptor);
  if (acceptor->lock >= 0) close(acceptor->lock);
  if (acceptor->spare >= 0) close(acceptor->spare);
  sn_tls_context_free(acceptor->tls);
  free(acceptor->path);
  free(acceptor);
}

int sn_acceptor_descriptor(const struct sn_acceptor *acceptor) {
  return acceptor->descriptor;
}

int sn_acceptor_port(const struct sn_acceptor *acceptor) {
  struct sockaddr_storage at;
  socklen_t length = sizeof at;
  if (acceptor->local || getsockname(acceptor->descriptor, (struct sockaddr *)&at, &length) != 0)
    return -1;
  if (at.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)(void *)&at)->sin6_port);
  return ntohs(((struct sockaddr_in *)(void *)&at)->sin_port);
}

/* No descriptors left: who waits is sent away, or poll would report him for ever. */
static void send_away(struct sn_acceptor *acceptor) {
  if (acceptor->spare < 0) return;
  close(acceptor->spare);
  int one = accept4(acceptor->descriptor, NULL, NULL, SOCK_CLOEXEC);
  if (one >= 0) close(one);
  acceptor->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static struct sn_connection *accepted(struct sn_acceptor *acceptor, int at) {
  const char *reason = NULL;
  struct sn_connection *connection = connection_new(at, true);
  if (acceptor->local) {
    know_peer(connection);
    if (acceptor->group || connection->uid == 0 || connection->uid == (int64_t)geteuid())
      return connection;
    refuse(connection, "this server is for its own user");
    sn_connection_pump(connection, 0);
  } else {
    sn_socket_tcp_options(at);
    connection->tls = sn_tls_new(acceptor->tls, at, NULL, &reason);
    if (connection->tls != NULL) return connection;
  }
  sn_connection_free(connection);
  return NULL;
}

struct sn_connection *sn_acceptor_next(struct sn_acceptor *acceptor) {
  for (;;) {
    int at = accept4(acceptor->descriptor, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (at < 0) {
      if (errno == EMFILE || errno == ENFILE) send_away(acceptor);
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return NULL;
    }
    struct sn_connection *connection = accepted(acceptor, at);
    if (connection != NULL) return connection;
  }
}
