/* The server: one session, one thread, one poll loop, and peers. What the files of tquel/serve share.
 *
 *     acceptors ──▶ peer ──HELLO──▶ shell    statements, questions ──▶ a seat of the session
 *                     └──────────▶ source   records ──▶ a source of the session; commands back
 *
 * A peer that breaks the rules, goes or dies takes nothing with it but its own seat or source. Nothing
 * here waits for a peer: what one does not take piles up only as far as its own statement's result; rows
 * of displays are dropped, and counted.                                                               */
#ifndef TQL_SERVE_SERVER_H
#define TQL_SERVE_SERVER_H

#include <sys/types.h>

#include "engine/base/usage.h"
#include "engine/control.h"
#include "sensors/wire/connection.h"
#include "sensors/wire/records.h"
#include "tquel/program/output.h"

/* Frames of data that a source may have unacknowledged. */
#define SERVER_CREDIT 4096
/* Bytes that a shell has not taken yet: beyond the first, rows of displays are dropped; beyond the second it
 * gets no new statement done. */
#define SERVER_DISPLAY_BYTES ((size_t)4 << 20)
#define SERVER_RESULT_BYTES  ((size_t)1 << 20)
/* Connections that have not said who they are, or have been told to go: with more, some of those who have most of
 * them are ended at once. */
#define SERVER_WAITING_MOST ((size_t)64)
/* Messages of one peer in one turn of the loop, so that all have their turn. */
#define SERVER_MESSAGES 64

struct server;
struct server_shell;
struct server_source;
struct server_inquiry;
struct server_reading;

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

/* A watch that is on: what every collector is told. */
struct server_watch {
  uint32_t number;
  const struct net_watch *watch;
};

/* What went to standard error, and when (monotonic). */
struct server_said {
  char *text;
  int64_t at;
};

/* What a turn of the loop looks at. */
struct server_loop {
  struct pollfd *polled;
  size_t count, capacity;
  size_t first_peer; /* index of the first peer's entry, in the order of the peers */
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
  int bringing;                 /* end of a connection to who brings the log in; -1: nobody does */
  int keeper;                   /* socket of the process that makes readers; -1: there is none */
  long keeper_process;
  bool keeper_wanted; /* there is to be one: another one, if it ends */
  struct server_reading **readings;
  size_t reading_count, reading_capacity;
  struct server_reader *reader; /* this process is a reader; NULL: the server */

  struct net_sensor sensor; /* that the session switches: the collectors' sensors all together */
  struct server_watch *watches;
  size_t watch_count, watch_capacity;
  uint32_t last_watch, last_packet;
  bool commands_pending; /* commands were sent since the last END */
  char **counted;        /* relations that somebody has said are to be counted */
  size_t counted_count, counted_capacity;
  uint32_t last_request; /* of READ_ENTRY */
  struct server_said *said;
  size_t said_count, said_capacity, unsaid;
  struct base_usage usage; /* of this process */
  size_t unheard;       /* connections that were ended before they greeted, since that was said */
  int64_t unheard_said; /* monotonic ns; 0: it never was */
  int64_t
      checkpoint_ns; /* how often collectors were told to say what is past; 0: nothing was said */
  uint64_t asks;     /* as of which they know what may be sampled (tql_session_asks) */
};

/* --- server.c */

/* Diagnostics of an empty SERVER go to whose statement runs, else to standard error. */
void server_init(struct server *server);
void server_done(struct server *server);
/* Opens the session that SERVER's options describe, without sockets. What fails is reported. */
enum base_status server_open(struct server *server);
/* Says goodbye to all, commits, closes the session and the sockets, the keeper, too. Returns STATUS, or, where it is
 * good, that of the last commit. */
enum base_status server_close(struct server *server, enum base_status status);

/* --- loop.c */

/* Serves until a signal asks for the end. */
void server_run(struct server *server);
/* A turn of the loop. WAIT: until there is something to do. */
void server_turn(struct server *server, bool wait);

/* --- peer.c */

/* Tells it goodbye and why (DIAGNOSTIC: a number, or 0); nothing more is taken from it. Its shell or source is ended by
 * who gave it the turn. */
void server_peer_dismiss(struct server_peer *peer, uint32_t diagnostic, const char *reason);
/* To a shell: the answer to its question; or why there is none. */
void server_peer_answer(struct server_peer *peer, const struct base_buffer *text);
void server_peer_refuse(struct server_peer *peer, uint32_t diagnostic, const char *message);

/* --- peers.c */

/* Takes CONNECTION. */
void server_peer_add(struct server *server, struct sn_connection *connection);
/* After one was added: where too many have not greeted, one of them goes, or (false) will be able to in the next turn. */
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

/* --- output.c */

/* A diagnostic of its statement. */
void server_output_report(struct server_shell *shell, const struct base_diag *diag);
/* It has been sent, by somebody else, an error of its statement; some of its result. */
void server_output_told(struct server_shell *shell);
void server_output_begun(struct server_shell *shell);

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
/* What readers have said goes to their shells; what is behind a statement that one has done is run. */
void server_shells_turn(struct server *server);

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
/* What the reader has said goes to the shell. *RET: how it ended, if it is over. Whoever hears that it is over or was not
 * begun frees it. */
enum server_reading_state server_reading_turn(struct server_reading *reading,
                                              struct server_reading_end *ret);

/* --- keeper.c */

/* The server has its end of PAIR, to KEEPER, a process that was made; not positive: none was. */
void server_keeper_adopt(struct server *server, const int pair[2], pid_t keeper);
void server_keeper_stop(struct server *server);
/* A connection to a new reader; NULL: there can be none, which the server reports. */
struct sn_connection *server_keeper_ask(struct server *server, const struct server_reader *reader);
/* Has somebody bring the database's write-ahead log into its file. CONTEXT is the server. False: there can be nobody. */
bool server_keeper_bring_in(void *context);
/* Is PROCESS a reader, or one who brings the log in? CONTEXT is the server. */
bool server_keeper_made(void *context, long process);

/* --- numbers.c */

/* The type of a domain in messages (enum sn_domain_type); 0: it cannot be sent. */
uint8_t server_domain_type(struct net_type type);
/* Is it a collector, which is told what to watch? */
bool server_source_is_collector(const struct server_peer *peer);
/* The strings that its names stand for. */
void server_source_mark(struct server_source *source, struct base_strings *strings);

/* --- reader.c */

/* Forks the keeper of readers; to be called before anything is opened. Where it ends another one is made when it is
 * asked for something. */
void server_keeper_start(struct server *server);
/* Where a server has started this program as its keeper: is that, and does not return. */
void server_keeper_be(const struct server_options *options);

/* --- sources.c */
void server_source_open(struct server_peer *peer, const struct sn_message_hello *hello);
/* FOR_GOOD: it said goodbye. */
void server_source_close(struct server_peer *peer, bool for_good);
void server_source_message(struct server_peer *peer, const struct sn_message *message);
/* Acknowledges what has become durable. */
void server_source_tick(struct server_peer *peer);

/* --- watches.c */
void server_watches_open(struct server *server);
void server_watches_close(struct server *server);
/* Tells a collector that has just come of all watches. */
void server_watches_tell(struct server_peer *peer);
/* Ends the packet of commands, if there were any since the last time. */
void server_watches_flush(struct server *server);

/* --- receptacles.c */

/* Takes the question about the receptacles of a relation ("": of all), or to count one ("RELATION on", "RELATION
 * off"). It is answered when the collectors have answered.                                            */
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

/* --- counts.c */

/* Records of RELATION are to be counted from now on, or (not ON) not any more: so collectors that come will be told. */
void server_count_remember(struct server *server, const char *relation, bool on);
/* Tells a collector of one relation. */
void server_count_tell(struct server_peer *source, const char *relation, bool on);
/* Tells a collector that has just come what is counted. */
void server_counts_tell(struct server_peer *peer);
void server_counts_free(struct server *server);

/* --- reports.c */

/* What collectors said of sensors, of one source. */
struct server_reports;
/* Takes MESSAGE, a report of SOURCE about sensors; what they cost is kept by the session, when the report is complete
 * (*RET_STATUS). False: it makes no sense, and nothing was taken. */
bool server_reports_take(struct server_source *source, const struct sn_message_report *message,
                         enum base_status *ret_status);
/* PROCESS has ended. REPORTS may be NULL. */
void server_reports_forget(struct server_reports *reports, const char *process);
void server_reports_free(struct server_reports *reports);
/* Appends what \ds shows on SEAT. */
void server_reports_describe(struct server *server, struct tql_seat *seat, struct base_buffer *out);

#endif
