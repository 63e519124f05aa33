/* What the files of tquel/session/ share. See README.md for who does what.
 *
 * Invariants: the catalogue in memory mirrors the database file between statements; whatever fails
 * rolls the transaction back and reloads the catalogue. Every write goes through session_begin and
 * session_end. The live network exists only while some relation is fed live.                        */
#ifndef TQL_SESSION_IMPL_H
#define TQL_SESSION_IMPL_H

#include <strings.h>

#include "engine/ingest.h"
#include "engine/rowmap.h"
#include "netgen/netgen.h"
#include "storage/storage.h"
#include "tquel/analyse/analyse.h"
#include "tquel/lang/parse.h"
#include "tquel/session/catalogue/catalogue.h"
#include "tquel/session/catalogue/relation.h"
#include "tquel/session/source.h"

struct session_feed;
struct session_source;
struct session_description;
struct net_control;
struct net_control_entry;

struct session_display {
  struct tql_seat *seat; /* NULL: it has ended */
  const char *name;
  bool shown;     /* a row of it has been */
  bool fresh;     /* it has begun, and what was lost was not looked for yet */
  bool unchecked; /* nor since more was lost */
  bool as_is;     /* it shows what is there, as what is certain could not be found */
  bool news;      /* for CERTAIN: there is more to show */
  struct session_shown
      *certain; /* what it has shown, since something was lost (shown.c); NULL: rows as they come */
};

/* Results of views that stand for them (kept.c). */
struct net_losses;
struct session_kept;
struct session_kept_views {
  struct session_kept *items; /* the oldest first */
  size_t count, capacity;
  struct st_version version; /* they are those of what was stored then */
  bool in_use;               /* by the retrieve that runs */
};

/* The memory of results that are gone (spare.c). */
enum { SESSION_SPARES = 3 };
struct session_spare {
  union net_slot *rows; /* NULL: none */
  uint8_t *marks;
  size_t slots, marks_capacity;
};
struct session_spares {
  struct session_spare items[SESSION_SPARES];
};

struct tql_seat {
  struct tql_session *session;
  const char *user; /* NULL: seat 0 */
  bool owner, readonly, files;
  const char *directory;    /* of relative paths; NULL: the process's */
  struct tql_output output; /* of standing displays; seat 0 has the session's */
  struct base_arena *texts; /* of its last statements; seat 0 has the session's */
  struct tql_variable *variables;
  size_t variable_count, variable_capacity;
  struct tql_settings settings;
  bool memory_set, time_limit_set; /* set memory, set time limit; else the session's hold */
  size_t memory;                   /* bytes a statement may take; 0: as much as there is */
  int64_t time_limit;              /* ns; 0: none */
  int64_t patience;                /* ns: a statement that takes longer is given back; 0: none is */
  bool manual;                     /* set checkpoint manual */
  struct net_time_context time;    /* of its statements: now, when it came, its zone */
  int64_t now;                     /* 0: each statement's now is when it begins */
  struct ng_switches switches;     /* those of seat 0 hold for the live network, too */
};

struct session_counters {
  int64_t load_ns, network_ns, output_ns;
  uint64_t rows_in, rows_out;
};

/* What is looked after between groups (upkeep.c). Times are monotonic ns. */
struct session_upkeep {
  int64_t log_at;               /* when it is asked next who reads the write-ahead log */
  bool held_said, failure_said; /* why it is so long */
  int64_t space_at;             /* when something is done about unused pages next */
  uint64_t looked;              /* st_commits when they were looked at */
  bool unused;                  /* there are many */
  bool shortens;                /* they were given back, but the file has still its length */
  int64_t gone_at;              /* when more goes of what was destroyed */
  bool gone_waits;              /* that it does not was said */
  int64_t room_at;              /* when the log is next asked to begin anew for what can wait */
  double row_ns;                /* what a row of it takes; 0: not measured */
};

/* How far the log has come into its tables (fold.c). Times are monotonic ns. */
struct session_fold {
  bool due;               /* there is perhaps something to do */
  int64_t quiet_at;       /* when nothing has come until then, it goes as fast as it can */
  int64_t ended;          /* the last round */
  int64_t retry_at;       /* not before, since a round has failed */
  uint64_t came, handled; /* rows that came live: until now, until the last round */
  size_t behind;          /* rows that waited after the last round */
  size_t most;            /* when more wait, who brings them is slowed */
  double row_ns;          /* what a row takes; 0: not measured */
};

/* How far what is old has gone (aging.c). Times are monotonic ns. */
struct session_keep {
  uint64_t rounds;         /* how often it was asked what is old */
  size_t place;            /* the relation that comes next */
  int64_t next_at;         /* nothing is done before */
  int64_t round_at, ended; /* when the first relation of the round was to come; the last slice */
  bool removed;            /* something was, since PLACE was the first */
  int64_t walk_ns;         /* until the next round */
  double row_ns;           /* what a row takes; 0: not measured */
  double row_bytes;        /* of the write-ahead log, in the same way */
  bool waits;              /* that what is old stays for now was said */
  bool
      exact; /* it is asked what a replay is to read, not what may go: worth to look at many rows */
};

/* Tuples that a one-off network reads in the place of a relation's own (update.c). */
struct session_given {
  const struct ng_relation *relation;
  const struct net_rows *rows; /* in the order of time */
  net_chronon checkpoint;
};

struct tql_session {
  struct tql_session_options options;
  struct base_arena *arena;
  struct base_diag_sink *diags;
  struct base_strings *strings;
  struct st_database *database;
  enum net_timeline timeline;
  struct tql_seat *seat;   /* whose statement runs; else seat 0 */
  struct tql_seat **seats; /* from seat 0 on */
  size_t seat_count, seat_capacity;
  int64_t durable_ns;    /* set durable every D */
  int64_t checkpoint_ns; /* set checkpoint every D; 0: as often as collectors like */
  enum { TQL_OVERLOAD_SAMPLED, TQL_OVERLOAD_LOSE, TQL_OVERLOAD_ALWAYS } overload; /* set overload */
  int64_t future_limit;                                                           /* chronons */

  struct session_relation **relations; /* in order of creation */
  size_t relation_count, relation_capacity;
  struct session_unusable *unusable; /* in the order of creation */
  size_t unusable_count, unusable_capacity;
  bool binds_only; /* a name makes no relation */

  struct ng_shared *live_nodes; /* of the live network, as far as queries may share them */
  struct net_network *live;
  uint64_t *saved_fires; /* of its nodes, when their figures were written; NULL: they never were */
  bool
      strings_unpinned; /* definitions have been bound since base_strings_pin_all: they hold strings */
  struct session_feed **feeds;
  size_t feed_count, feed_capacity;
  struct session_display **displays;
  size_t display_count, display_capacity;
  struct session_source **sources;
  size_t source_count, source_capacity;
  bool sources_loaded;
  int64_t source_grace; /* ns: how long checkpoints wait for one that has gone */
  struct session_description *descriptions;
  struct net_rowmap pipes; /* of struct session_pipe */
  bool has_pipes;
  struct net_control *control; /* NULL: there are no sensors */
  int64_t turned_at; /* realtime: when the last turn ended; no network has seen what is later */
  bool control_held; /* the live network is being built anew */
  uint64_t catalogue_changes; /* how often relations came or went */
  uint64_t walks;             /* over the catalogue, so far */
  uint64_t origin_searches;   /* so far, the one that goes on included */
  unsigned origin_depth;      /* 0: none goes on */
  void (*mark_strings)(void *context, struct base_strings *strings); /* of others; may be NULL */
  void *mark_context;
  int64_t shown_due; /* nothing is looked at before; monotonic ns */
  bool displays_on;  /* not while the live network replays */
  bool asks_changed; /* who asks for announced relations, perhaps, since sensors were told */
  uint64_t asks;     /* how often sensors were told */
  struct session_diverted *diverted;
  size_t diverted_count, diverted_capacity;
  bool refused;        /* the statement that writes, before it had changed anything */
  bool group_open;     /* a durable group of the feeds is being written */
  int64_t group_since; /* monotonic ns */
  int64_t retry_at;    /* monotonic ns: no turn is due before, since the last one has failed */
  int64_t retry_after; /* ... by so much */
  int64_t failed_at;   /* monotonic ns: when that was */
  bool stalled;        /* nothing could be stored; that was said (stall.c) */
  bool stored;         /* ... and since then something could */
  struct session_fold fold;
  struct session_upkeep upkeep;
  struct session_keep keep;

  /* of the statement that runs */
  const struct tql_output *output;
  const struct base_source *source;
  const struct tql_statement *statement;
  struct base_arena *statement_arena;
  struct session_counters counters;
  struct session_given given;
  struct session_given given_pace; /* to clocks alone, in the query that runs */
  net_chronon
      paced_until; /* how far time has come for what runs once; NET_BEGINNING: nothing does */
  struct session_kept_views kept;
  struct session_doubt *doubts; /* of the statement that runs (doubt.c) */
  size_t doubt_count, doubt_capacity;
  struct session_missing **missing; /* what aggregates read beside what they count (missing.c) */
  size_t missing_count, missing_capacity;
  struct session_spares spares;
  bool single_transaction;
  int input_kept; /* the file that standard input was put into, to make a relation of it; 0: none */
  bool in_script_transaction;
  int64_t patient_until; /* monotonic ns: then the statement is given back; INT64_MAX: it is not */
  bool impatient;        /* it is to be */
  bool may_wait,
      awaits; /* it may be given back until checkpoints have come; it is, for that (await.c) */
  size_t
      memory_usual;   /* bytes that a statement may take where nobody says: half of the machine's */
  size_t memory_said; /* bytes that the process had when that was said to be too much */
  int64_t memory_looked_at;  /* monotonic ns */
  size_t memory_lent;        /* bytes of options.memory_total that others have */
  const char *doing;         /* in words, for who exceeds his memory; NULL: nothing special */
  const char *memory_holder; /* who has most of it; NULL: not known */

  /* explain_only: all statements in one plan */
  struct ng_plan *gathered, *gathered_final;
};

/* Is it the one that says how far time has come, for queries over clocks alone? */
static inline bool session_is_pace(const struct session_relation *relation) {
  return strcasecmp(relation->ng.name, "Clock") == 0;
}
/* What a relation is derived from is a graph: where each reads the two before it there are as many ways down as
 * Fibonacci has numbers. So a walk goes by each relation once: true for the first time in the WALK with the number
 * ++session->walks. */
static inline bool session_visit(struct session_relation *relation, uint64_t walk) {
  if (relation->visited == walk) return false;
  relation->visited = walk;
  return true;
}

/* --- what the files at the top of the session share */

/* execute.c */
enum base_status session_execute(struct tql_session *session,
                                 const struct tql_statement *statement) BASE_MUST_USE;
/* help.c */
enum base_status session_help(struct tql_session *session,
                              const struct tql_statement *statement) BASE_MUST_USE;
/* shown.c: displays of what records were lost of. Before checkpoints go on: looks which displays show what is certain from
 * now on. */
void session_check_shown(struct tql_session *session);
/* Those that do show what is new. */
void session_show_certain(struct tql_session *session);
/* sensors.c: sets brought and asked_for of all relations, if they may have changed. */
void session_find_asked_for(struct tql_session *session);
/* pump.c: the session ends: what was read and taken back is tried once more to be stored, and if it cannot be, that is
 * said. */
void session_store_held(struct tql_session *session);
/* Makes the relations that have feeds live, in a transaction of its own. */
enum base_status session_wake_feeds(struct tql_session *session) BASE_MUST_USE;

#endif
