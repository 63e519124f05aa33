/* Statements that take long: the server's end of the keeper, and what readers say. */
#ifndef TQL_SERVE_READERS_H
#define TQL_SERVE_READERS_H

#include <sys/types.h>

#include "tquel/serve/peer.h"

/* What a reader is to do: run one statement of the second text that it gets. */
struct server_reader {
  const char *user; /* whose statement it is */
  bool owner;
  size_t statement; /* its number, from 0 on */
  size_t results;   /* that the shell was shown before */
  size_t texts;     /* that it has had */
  size_t memory;    /* bytes that it may have in all; 0: as many as its statement may */
  int64_t start;    /* ns: when his session began, and what `now` is in the statement */
  int64_t now;
};

/* --- keeper.c */

/* The server has its end of PAIR, to KEEPER, a process that was made; not positive: none was. */
void server_keeper_adopt(struct server *server, const int pair[2], pid_t keeper);
void server_keeper_stop(struct server *server);
/* A connection to a new reader; NULL: there can be none, which the server reports. */
struct sn_connection *server_keeper_ask(struct server *server, const struct server_reader *reader);
/* Has somebody bring the database's write-ahead log into its file. CONTEXT is the server. False: there can be
 * nobody. */
bool server_keeper_bring_in(void *context);
/* Is PROCESS a reader, or one who brings the log in? CONTEXT is the server. */
bool server_keeper_made(void *context, long process);

/* --- readings.c */

enum server_reading_state {
  SERVER_READING_ON,
  SERVER_READING_OVER,
  SERVER_READING_UNREAD /* it could not begin, or need not any more: the shell sees to the statement */
};

struct server_reading_end {
  uint8_t exit_code;
  enum base_status status;
};

/* May PEER have another reader, for a statement of SEAT? RET's memory is set then; else it is told why not. */
bool server_reading_is_allowed(struct server_peer *peer, const struct tql_seat *seat,
                               struct server_reader *ret);
/* Makes a reader for one of STATEMENTS, whose texts stay the caller's until the end. NULL: there can be none. */
struct server_reading *server_reading_new(struct server_peer *peer, struct tql_seat *seat,
                                          const struct sn_message_statements *statements,
                                          const struct server_reader *reader);
/* The reader ends. NULL is accepted. */
void server_reading_free(struct server_reading *reading);
void server_reading_cancel(struct server_reading *reading);
/* Whose shell it is for. */
struct server_peer *server_reading_peer(const struct server_reading *reading);
/* To poll. */
int server_reading_descriptor(const struct server_reading *reading);
short server_reading_events(const struct server_reading *reading);
/* Has it something that can be looked at without waiting? */
bool server_reading_waits(const struct server_reading *reading);
/* What the reader has said goes to the shell. *RET: how it ended, if it is over. Whoever hears that it is over or
 * could not begin frees it. */
enum server_reading_state server_reading_turn(struct server_reading *reading,
                                              struct server_reading_end *ret);

#endif
