/* Connections of the protocol: a socket, whole messages in, whole messages out, nothing that waits.
 *
 *     acceptor ──sn_acceptor_next──▶ connection        sn_connection_open ──▶ connection
 *     poll(sn_connection_descriptor, sn_connection_events) ──▶ sn_connection_pump ──▶ sn_connection_next
 *     sn_put_NAME(sn_connection_out(c), ...) ──▶ sent by the next pumps
 *
 * A connection is over when the other side is gone, when it said goodbye, when it sent what is no message,
 * what its side may not send, or not first what comes first (HELLO, WELCOME); sn_connection_reason says what
 * it was. To the one who broke the rules a GOODBYE is sent, if it goes out at once.
 *
 * Times are looked at when a connection is pumped: one that is leaving, or has not been greeted, must be
 * pumped once a second. Who has not said HELLO in 10 s is sent away; one that is leaving ends after 1 s.
 *
 * Who sends more than the other side takes, must look at sn_connection_unsent: there is no bound here. What
 * comes in is bounded by one message: while it has not been asked for, nothing is read on.            */
#ifndef SN_WIRE_CONNECTION_H
#define SN_WIRE_CONNECTION_H

#include "sensors/wire/message.h"

struct sn_acceptor;
struct sn_connection;

enum sn_address_kind { SN_ADDRESS_UNIX, SN_ADDRESS_TLS };

/* Where a server is. Texts belong to the caller, and live as long as what was opened with them. NULL: not given. */
struct sn_address {
  enum sn_address_kind kind;
  const char *path;              /* unix: of the socket */
  const char *host, *port;       /* tls */
  const char *certificate, *key; /* tls: files (PEM); one's own */
  /* tls: file of the certificates that the other side's must be signed by. A client without one trusts whom
   * the system trusts; an acceptor without one asks for no certificate. */
  const char *authority;
  /* Of an acceptor at tls that has an authority: who shows no certificate comes in as well, and is asked for
   * something else. One who shows a wrong one never does. */
  bool certificate_optional;
  /* A client at a unix socket that nobody has named, where others may put theirs, too: the server must be this user's,
   * root's or the directory's owner's. */
  bool found;
  /* An acceptor at a unix socket: who may connect besides this user and root: the members of this group,
   * and then the socket is theirs, too; -1: nobody. */
  int64_t group;
};

/* "tls:HOST:PORT" ("tls:[::1]:7000"), "unix:PATH" or a path. False: *ret_reason (a constant). The address
 * points into *STORAGE, which is the caller's to free. */
bool sn_address_parse(const char *text, struct sn_address *ret_address, char **storage,
                      const char **ret_reason);
/* Whether a client can use the files that ADDRESS names; *RET_REASON, a constant: why not. */
bool sn_address_check(const struct sn_address *address, const char **ret_reason);

/* --- server. *ret_reason is a constant. */
struct sn_acceptor *sn_acceptor_open(const struct sn_address *address, const char **ret_reason);
void sn_acceptor_free(struct sn_acceptor *acceptor); /* NULL is accepted; the socket's file goes */
int sn_acceptor_descriptor(const struct sn_acceptor *acceptor); /* poll for POLLIN */
/* Of TCP: the port, also where the address said 0 (any that is free); else -1. */
int sn_acceptor_port(const struct sn_acceptor *acceptor);
/* The next one who has connected; NULL: nobody now. Who may not is told so and dropped here. */
struct sn_connection *sn_acceptor_next(struct sn_acceptor *acceptor);

/* --- client. The connection may come about later, or turn out to be over: pump tells. */
struct sn_connection *sn_connection_open(const struct sn_address *address, const char **ret_reason);

/* --- both */

/* A connection over a stream socket that there is already, does not block, and becomes its own; SERVER: this
 * side is the server's. */
struct sn_connection *sn_connection_adopt(int descriptor, bool server);
void sn_connection_free(
    struct sn_connection *connection); /* NULL is accepted; what is unsent is lost */
/* To poll; another one after a while, as long as it is not greeted. */
int sn_connection_descriptor(const struct sn_connection *connection);
/* POLLIN, POLLOUT: what to poll for. May change with every call of the functions here. */
short sn_connection_events(const struct sn_connection *connection);
/* True: do not poll, pump again now (decrypted bytes wait). */
bool sn_connection_pending(const struct sn_connection *connection);
/* Sends and receives what goes; REVENTS is what poll said (0: try). False: the connection is over. What
 * had come before can still be asked for. */
bool sn_connection_pump(struct sn_connection *connection, short revents);
/* The next message, a view that is good until the next pump. False: none now. */
bool sn_connection_next(struct sn_connection *connection, struct sn_message *ret_message);
/* Messages are appended here and leave with the next pumps. */
struct base_buffer *sn_connection_out(struct sn_connection *connection);
size_t sn_connection_unsent(const struct sn_connection *connection); /* bytes */
/* Sends a GOODBYE after all the rest, and is over once it is out (or cannot go out). */
void sn_connection_goodbye(struct sn_connection *connection, uint32_t diagnostic,
                           const char *reason);

/* Why it is over; NULL: it is not. DIAGNOSTIC: the number in the other side's GOODBYE, or 0. */
const char *sn_connection_reason(const struct sn_connection *connection);
bool sn_connection_is_over(const struct sn_connection *connection); /* the last pump said so */
uint32_t sn_connection_diagnostic(const struct sn_connection *connection);
/* Whether it was the other side's GOODBYE that ended it, not an accident. */
bool sn_connection_said_goodbye(const struct sn_connection *connection);
/* Whether a certificate ended it: a server is there, but one of the two does not accept the other. */
bool sn_connection_refused(const struct sn_connection *connection);
/* Whether the other side has been seen: HELLO or WELCOME came. */
bool sn_connection_greeted(const struct sn_connection *connection);
/* Sends a PING, unless one is on its way; the other side's connection answers by itself. */
void sn_connection_ping(struct sn_connection *connection);
/* By how much the other side's clock is ahead, in ns, and what that may be wrong by at most, after at least
 * one ping was answered; false: not known. Exact (0, 0) at a unix socket. */
bool sn_connection_clock(const struct sn_connection *connection, int64_t *ret_offset,
                         int64_t *ret_error);
/* Nanoseconds since anything came from the other side. */
int64_t sn_connection_silence(const struct sn_connection *connection);

/* The other side. Of a unix socket: user, group, process, by the kernel; else -1. */
int64_t sn_connection_uid(const struct sn_connection *connection);
int64_t sn_connection_pid(const struct sn_connection *connection);
/* Of TLS: the common name of its certificate, which was checked; NULL: it showed none. */
const char *sn_connection_certificate(const struct sn_connection *connection);
/* Whether both are on the same machine: a unix socket. */
bool sn_connection_is_local(const struct sn_connection *connection);

#endif
