/* The server: one session, one thread, one poll loop, and peers. What it is made of; what is done with it stands in the
 * headers of the floors, from the ground up: peer.h; output.h, source.h, collectors.h, readers.h; kinds.h; turns.h.
 *
 *     acceptors ──▶ peer ──HELLO──▶ shell    statements, questions ──▶ a seat of the session
 *                     └──────────▶ source   records ──▶ a source of the session; commands back
 *
 * A peer that breaks the rules, goes or dies takes nothing with it but its own seat or source. Nothing
 * here waits for a peer: what one does not take piles up only as far as its own statement's result; rows
 * of displays are dropped, and counted. */
#ifndef TQL_SERVE_SERVER_H
#define TQL_SERVE_SERVER_H

#include "engine/base/usage.h"
#include "engine/control.h"
#include "sensors/wire/connection.h"
#include "sensors/wire/records.h"
#include "tquel/program/output.h"
#include "tquel/session/source.h"

struct server_shell;
struct server_source;
struct server_inquiry;
struct server_reading;
struct server_reader;
struct server_peer;

struct server_options {
  char *const *command; /* that the server was started by, ends with NULL */
  const char *database;
  struct sn_address *addresses;
  size_t address_count;
  const char *token; /* NULL: none is asked for */
  bool timeline_given;
  enum net_timeline timeline;
  bool rules_off;
  bool quiet;
  size_t memory, statement_memory; /* bytes of all statements, of one */
  uint64_t log_limit;              /* bytes of the write-ahead log; 0: as usual */
  int64_t time_limit;              /* ns of a statement; 0: none */
  size_t connections, statements;  /* of a user who is not the owner */
};

/* What a turn of the loop looks at. */
struct server_loop {
  struct pollfd *polled;
  size_t count, capacity;
  size_t first_peer; /* index of the first peer's entry, in the order of the peers */
};

/* The process that makes readers (keeper.c). */
struct server_keeper {
  int socket; /* -1: there is none */
  long process;
  bool wanted;  /* there is to be one: another one, if it ends */
  int bringing; /* end of a connection to who brings the log in; -1: nobody does */
};

/* A watch that is on: what every collector is told. */
struct server_watch {
  uint32_t number;
  const struct net_watch *watch;
};

/* What collectors are told (watches.c). */
struct server_watching {
  struct net_sensor sensor; /* that the session switches: the collectors' sensors all together */
  struct server_watch *watches;
  size_t count, capacity;
  uint32_t last_watch, last_packet;
  bool pending;          /* commands were sent since the last END */
  int64_t checkpoint_ns; /* how often they were told to say what is past; 0: nothing was said */
  uint64_t asks;         /* as of which they know what may be sampled (tql_session_asks) */
};

/* Relations that somebody has said are to be counted (counts.c). */
struct server_counts {
  char **relations;
  size_t count, capacity;
};

/* What went to standard error, and when (monotonic). */
struct server_said {
  char *text;
  int64_t at;
};

/* What was said there lately, and how much was not (server.c). */
struct server_sayings {
  struct server_said *items;
  size_t count, capacity, unsaid;
};

/* Connections that were ended before they greeted (peers.c). */
struct server_unheard {
  size_t count; /* since that was said */
  int64_t said; /* monotonic ns; 0: it never was */
};

struct server {
  const struct server_options *options;
  struct base_diag_sink diags; /* the session's: to whose statement runs, else to standard error */
  struct tql_session *session;
  struct sn_acceptor **acceptors;
  size_t acceptor_count;
  struct server_peer **peers;
  size_t peer_count, peer_capacity, peers_max;
  struct server_loop loop;
  struct server_shell *running; /* whose statement runs */
  struct server_keeper keeper;
  struct server_reading **readings;
  size_t reading_count, reading_capacity;
  struct server_reader *reader; /* this process is a reader; NULL: the server */
  struct server_watching watching;
  struct server_counts counts;
  uint32_t last_request; /* of READ_ENTRY */
  struct server_sayings said;
  struct base_usage usage; /* of this process */
  struct server_unheard unheard;
};

#endif
