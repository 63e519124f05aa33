/* The source's end: a connection that is made again whenever it breaks, and an outbox behind it.
 *
 *     put frames into sn_link_outbox(link); again and again:
 *       poll(sn_link_poll) ──▶ sn_link_turn ──▶ sn_link_next: the server's commands
 *
 * Acknowledgements, pings and greetings are dealt with here. Attempts follow each other at once, after
 * 0.1 s, 0.2 s, ... 10 s, each more or less by a quarter. Nothing waits.                              */
#ifndef SN_WIRE_LINK_H
#define SN_WIRE_LINK_H

#include <poll.h>

#include "sensors/wire/outbox.h"

/* All of it belongs to the caller and must live as long as the link. NULL: "". */
struct sn_link_options {
  struct sn_address address;
  enum sn_role role;
  const char *program, *user, *token, *host, *directory;
  size_t outbox_bytes; /* of data kept: see sn_outbox_new */
};

struct sn_link;

/* Begins with the first turn. */
struct sn_link *sn_link_new(const struct sn_link_options *options);
void sn_link_free(struct sn_link *link); /* NULL is accepted */
struct sn_outbox *sn_link_outbox(struct sn_link *link);

/* What to poll for: .fd is -1 while there is no connection. *ret_wait: turn after so many ns in any case. */
void sn_link_poll(const struct sn_link *link, struct pollfd *ret_poll, int64_t *ret_wait);
void sn_link_turn(struct sn_link *link, short revents);
/* The next command, a view until the next turn. */
bool sn_link_next(struct sn_link *link, struct sn_message *ret_message);

/* The server has welcomed us; and how often it has so far: when that changes it is another connection. */
bool sn_link_is_up(const struct sn_link *link);
uint64_t sn_link_welcomes(const struct sn_link *link);
/* While it is up: for answers that need not survive a break (REPORT, ERROR, ACKNOWLEDGE); else NULL. */
struct sn_connection *sn_link_connection(struct sn_link *link);
/* Why the last attempt failed or the last connection ended (NULL: none has), and the number the server gave. */
const char *sn_link_reason(const struct sn_link *link);
uint32_t sn_link_diagnostic(const struct sn_link *link);
/* 32 hexadecimal digits: this incarnation. */
const char *sn_link_identity(const struct sn_link *link);
/* The last WELCOME: the server's time line (enum net_timeline). */
uint8_t sn_link_timeline(const struct sn_link *link);
/* Ends in an orderly way: says goodbye once all data are acknowledged. True: done, or not connected. */
bool sn_link_finish(struct sn_link *link, const char *reason);

#endif
