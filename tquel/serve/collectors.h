/* What collectors are told and asked: watches, what is counted, receptacles. */
#ifndef TQL_SERVE_COLLECTORS_H
#define TQL_SERVE_COLLECTORS_H

#include "tquel/serve/peer.h"

/* --- counts.c */

/* Records of RELATION are to be counted from now on, or (not ON) not any more: so collectors that come will be told. */
void server_count_remember(struct server *server, const char *relation, bool on);
/* Tells a collector of one relation. */
void server_count_tell(struct server_peer *source, const char *relation, bool on);
/* Tells a collector that has just come what is counted. */
void server_counts_tell(struct server_peer *peer);
void server_counts_free(struct server *server);

/* --- watches.c */

void server_watches_open(struct server *server);
void server_watches_close(struct server *server);
/* Tells a collector that has just come of all watches. */
void server_watches_tell(struct server_peer *peer);
/* Ends the packet of commands, if there were any since the last time. */
void server_watches_flush(struct server *server);

/* --- receptacles.c */

/* Takes the question about the receptacles of a relation ("": of all), or to count one ("RELATION on", "RELATION
 * off"). It is answered when the collectors have answered. */
void server_receptacles_ask(struct server_peer *peer, const char *relation);
void server_count_ask(struct server_peer *peer, const char *argument);
/* A report about receptacles; false: it makes no sense. A packet of commands that was done. */
bool server_receptacles_take(struct server_peer *source, const struct sn_message_report *report);
void server_receptacles_done(struct server_peer *source, uint64_t packet);
/* A source has gone: nobody waits for it. A shell has gone, or nobody waits any longer. */
void server_receptacles_lost(struct server_peer *source);
void server_inquiry_free(struct server_peer *peer);
void server_inquiry_tick(struct server_peer *peer, int64_t now);
/* In how many ns it has been waited for long enough; INT64_MAX: nobody waits. */
int64_t server_inquiry_due(const struct server_peer *peer, int64_t now);

#endif
