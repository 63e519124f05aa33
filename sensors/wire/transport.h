/* Sockets of connections: how they are made, and bytes through them, plain or by TLS (tls.c; without OpenSSL
 * no_tls.c). Internal to this folder. Reasons are constants.                                         */
#ifndef SN_WIRE_TRANSPORT_H
#define SN_WIRE_TRANSPORT_H

#include <sys/types.h>

#include "sensors/wire/connection.h"

/* Instead of a number of bytes. */
enum { SN_IO_END = 0, SN_IO_AGAIN = -1, SN_IO_FAILED = -2 };

/* --- sockets (socket.c). Descriptors, or -1 with *ret_reason; all non-blocking and close-on-exec. */
int sn_socket_listen(const struct sn_address *address, const char **ret_reason);
int sn_socket_connect(const struct sn_address *address, const char **ret_reason);
/* (sn_socket_connect: to a unix socket.) A lock beside the socket's file; who holds it may remove what a dead server left. */
int sn_socket_lock(const char *path, const char **ret_reason);
void sn_socket_remove(const char *path);
/* What the kernel says in errno, as a constant. */
const char *sn_socket_error(int error);

void sn_socket_tcp_options(int descriptor);

/* --- the way to a host (route.c) */
struct sn_route;
struct sn_route *sn_route_new(const struct sn_address *address, const char **ret_reason);
void sn_route_free(struct sn_route *route);
/* Until it is ready: poll for POLLIN; -1: it was at once. */
int sn_route_descriptor(const struct sn_route *route);
bool sn_route_ready(const struct sn_route *route);
/* A socket that is connecting to the next address; -1: there is none, *ret_reason: if this was the first. */
int sn_route_connect(struct sn_route *route, const char **ret_reason);

/* --- TLS */
struct sn_tls_context; /* certificates: of an acceptor, or of one client's connection */
struct sn_tls;

struct sn_tls_context *sn_tls_context_new(const struct sn_address *address, bool server,
                                          const char **ret_reason);
void sn_tls_context_free(struct sn_tls_context *context);
/* HOST: of a client: whom the certificate must name. */
struct sn_tls *sn_tls_new(struct sn_tls_context *context, int descriptor, const char *host,
                          const char **ret_reason);
void sn_tls_free(struct sn_tls *tls);
/* As recv and send; *ret_events: what to wait for after SN_IO_AGAIN. The handshake is part of them. What is
 * sent again after that must begin with the same bytes. */
ssize_t sn_tls_receive(struct sn_tls *tls, void *to, size_t room, short *ret_events,
                       const char **ret_reason);
ssize_t sn_tls_send(struct sn_tls *tls, const void *from, size_t length, short *ret_events,
                    const char **ret_reason);
/* Bytes have come that sn_tls_receive would give at once. */
bool sn_tls_pending(const struct sn_tls *tls);
/* Whether it failed for a certificate: the server's is not vouched for, or the client's is not accepted. */
bool sn_tls_refused(const struct sn_tls *tls); /* NULL is accepted */
void sn_tls_close(struct sn_tls *tls);         /* says that nothing follows */
/* The common name of the other side's certificate; NULL: none, or not known yet. */
const char *sn_tls_peer(struct sn_tls *tls);

#endif
