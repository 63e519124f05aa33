/* The kinds of peers, and what each does with a message. */
#ifndef TQL_SERVE_KINDS_H
#define TQL_SERVE_KINDS_H

#include "tquel/serve/peer.h"

/* Frames of data that a source may have unacknowledged. */
#define SERVER_CREDIT 4096

/* --- shells.c */

void server_shell_open(struct server_peer *peer, const struct sn_message_hello *hello);
void server_shell_close(struct server_peer *peer);
void server_shell_message(struct server_peer *peer, const struct sn_message *message);
/* May its next message be looked at? Not while it does not take the result of the last one. */
bool server_shell_is_ready(const struct server_peer *peer);
/* Sends what displays have shown, and how many of their rows were dropped. */
void server_shell_tick(struct server_peer *peer);
/* Has a reader its statement, or does it wait for checkpoints? Then there is nothing to do for the shell but to look
 * for a CANCEL. */
bool server_shell_is_busy(const struct server_peer *peer);
/* In how many ns from NOW (monotonic) its tick has something to do; INT64_MAX: never. */
int64_t server_shell_due(const struct server_peer *peer, int64_t now);
/* The statement is not wanted any more, nor are those behind it. */
void server_shell_cancel(struct server_peer *peer);
/* Of all shells: what readers have said goes to theirs; what is behind a statement that one has done is run. */
void server_shells_turn(struct server *server);

/* --- sources.c */

void server_source_open(struct server_peer *peer, const struct sn_message_hello *hello);
/* FOR_GOOD: it said goodbye. */
void server_source_close(struct server_peer *peer, bool for_good);
void server_source_message(struct server_peer *peer, const struct sn_message *message);
/* Acknowledges what has become durable. */
void server_source_tick(struct server_peer *peer);

#endif
