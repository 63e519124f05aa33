/* Whose turn it is: what is done with a server from its beginning to its end. */
#ifndef TQL_SERVE_TURNS_H
#define TQL_SERVE_TURNS_H

#include "tquel/serve/peer.h"

/* Connections that have not said who they are, or have been told to go: with more, some of those who have most of
 * them are ended at once. */
#define SERVER_WAITING_MOST ((size_t)64)
/* Messages of one peer in one turn of the loop, so that all have their turn. */
#define SERVER_MESSAGES 64

/* --- peers.c */

/* Takes CONNECTION. */
void server_peer_add(struct server *server, struct sn_connection *connection);
/* After one was added: where too many have not greeted, one of them goes, or (false) will be able to in the next
 * turn. */
bool server_peer_make_room(struct server *server);
/* When (ns from NOW on) it is to be said how many went so, and that. */
int64_t server_unheard_due(const struct server *server, int64_t now);
void server_say_unheard(struct server *server, int64_t now);
/* Sends and receives; looks at what came. */
void server_peer_turn(struct server_peer *peer, short revents);
/* Has it something that can be looked at without waiting? */
bool server_peer_waits(const struct server_peer *peer);
/* What is due without news: pings, patience, acknowledgements, displays. */
void server_peer_tick(struct server_peer *peer, int64_t now);
/* In how many ns it is due. */
int64_t server_peer_due(const struct server_peer *peer, int64_t now);
/* Dismisses it, and ends its shell or source. */
void server_peer_end(struct server_peer *peer, uint32_t diagnostic, const char *reason);
/* Frees it. */
void server_peer_free(struct server_peer *peer);

/* --- loop.c */

/* Serves until a signal asks for the end. */
void server_run(struct server *server);
/* A turn of the loop. WAIT: until there is something to do. */
void server_turn(struct server *server, bool wait);

/* --- server.c */

/* Diagnostics of an empty SERVER go to whose statement runs, else to standard error. */
void server_init(struct server *server);
void server_done(struct server *server);
/* Opens the session that SERVER's options describe, without sockets. What fails is reported. */
enum base_status server_open(struct server *server);
/* Says goodbye to all, commits, closes the session and the sockets, the keeper, too. Returns STATUS, or, where it is
 * good, that of the last commit. */
enum base_status server_close(struct server *server, enum base_status status);

/* --- reader.c */

/* Forks the keeper of readers; to be called before anything is opened. Where it ends another one is made when it is
 * asked for something. */
void server_keeper_start(struct server *server);
/* Where a server has started this program as its keeper: is that, and does not return. */
void server_keeper_be(const struct server_options *options);

#endif
