/* A connection, whoever it turns out to be: what is known of it, and what is said to it (peer.c). */
#ifndef TQL_SERVE_PEER_H
#define TQL_SERVE_PEER_H

#include "tquel/serve/server.h"

struct server_peer {
  struct server *server;
  struct sn_connection *connection;
  char *origin; /* the user of this machine, or the address, from whom it comes */
  bool heard;   /* it has had a turn */
  bool greeted;
  char *user;                 /* who it is, once it has greeted */
  bool owner;                 /* he may do everything; others what permits allow them */
  bool leaving;               /* it was told goodbye, and nothing more is taken from it */
  bool over;                  /* to be freed at the end of the turn */
  bool waits;                 /* has messages that were not looked at in this turn */
  int64_t since;              /* monotonic ns: it connected, or was told goodbye */
  int64_t pinged;             /* likewise, the ping that was not answered; 0: none is under way */
  struct server_shell *shell; /* one of the two, once it has greeted */
  struct server_source *source;
  struct server_inquiry *inquiry; /* of a shell: its question waits for collectors; else NULL */
};

/* Tells it goodbye and why (DIAGNOSTIC: a number, or 0); nothing more is taken from it. Its shell or source is ended by
 * who gave it the turn. */
void server_peer_dismiss(struct server_peer *peer, uint32_t diagnostic, const char *reason);
/* To a shell: the answer to its question; or why there is none. */
void server_peer_answer(struct server_peer *peer, const struct base_buffer *text);
void server_peer_refuse(struct server_peer *peer, uint32_t diagnostic, const char *message);

#endif
