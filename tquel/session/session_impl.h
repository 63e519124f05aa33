/* What the files of tquel/session/ share. See README.md for who does what.
 *
 * Invariants: the catalogue in memory mirrors the database file between statements; whatever fails
 * rolls the transaction back and reloads the catalogue. Every write goes through session_begin and
 * session_end. The live network exists only while some relation is fed live.                        */
#ifndef TQL_SESSION_IMPL_H
#define TQL_SESSION_IMPL_H

#include <strings.h>

#include "engine/inbox.h"
#include "engine/ingest.h"
#include "engine/rowmap.h"
#include "netgen/netgen.h"
#include "storage/storage.h"
#include "tquel/analyse/analyse.h"
#include "tquel/lang/parse.h"
#include "tquel/session/catalogue/catalogue.h"
#include "tquel/session/session.h"

struct session_feed;
struct session_source;
struct session_description;
struct net_control;
struct net_control_entry;

/* A rule of integrity, bound. */
struct session_rule {
  int64_t number;
  const char *condition;             /* its text */
  const struct net_program *program; /* over rows of the write layout */
};

/* `tquel explain` knows indexes by their names, without those that modify makes. */
struct session_index {
  const char *name;
  struct session_index *next;
};

/* Where something begins, as one search for origins has found it (query.c). */
struct session_first {
  uint64_t search;
  bool any;
  net_chronon time;
};

struct session_relation {
  struct ng_relation ng;
  enum st_kind kind;
  bool view;     /* derived, and not stored */
  bool scripted; /* tquel explain: the script has made it, as it is there or anew */
  bool expires;  /* kept until UNTIL */
  bool expiring; /* it is past that, and its tuples go (retention.c) */
  bool expiry_said;
  net_chronon until;
  bool ages; /* tuples are kept for AGE (keep.c) */
  int64_t age;
  char *keeps;     /* that, for people */
  bool incomplete; /* REMOVED tuples that ended before GONE are gone */
  net_chronon gone;
  int64_t removed;
  const struct tql_statement *warned; /* that it is; the last statement */
  bool history_known;                 /* derived: what it needs of its inputs */
  struct ng_history history;
  uint64_t need_round; /* of session_keep: NEED, by NEEDED_BY, is as of it */
  net_chronon need;
  const char *needed_by;
  net_chronon
      horizon; /* what of it was over before that, the live network that is being built does not read */
  const struct session_rule *rules; /* once they were needed */
  size_t rule_count;
  bool rules_loaded;
  net_chronon checkpoint;
  net_chronon
      passed; /* not derived: the latest finite checkpoint that it ever had; NET_BEGINNING: none */
  const char *definition; /* derived: self-contained text */
  const char *const *inputs;
  size_t input_count;
  const struct ng_query *query; /* derived: bound, once needed */
  bool origin_fixed;
  net_chronon origin;
  uint64_t visited;               /* the walk over the catalogue that was here last */
  struct session_first firsts[2]; /* view: of its tuples; of the finite instants in them */
  bool
      looked_through; /* derived and stored: the statement that runs reads its inputs in its place (doubt.c) */
  bool as_stored; /* ... does not, as that would fail */
  bool stale;     /* derived: to be computed anew when the live network is built */
  bool begins;    /* derived: its origin has just been found, so its replay is news */
  bool diverted;  /* Late, Rejected: rows came since the last commit */

  /* live: rows go through the live network */
  bool live;
  struct net_node *store_node; /* in the live network; of a view the result's node */
  struct net_node *periods;    /* traced: what makes them of records there; NULL: not live */
  struct net_node **accesses;  /* nodes that take this relation's rows or records */
  size_t access_count, access_capacity;
  uint64_t repeated;        /* periods that were equal to others, since the last commit */
  uint64_t superseded;      /* records that hold for no time, since the last commit */
  struct net_inbox pending; /* records beyond the checkpoint */
  bool has_pending;
  bool pending_changed; /* since it was saved */
  struct session_feed *feed;
  net_chronon latest; /* latest time seen by a feed */
  /* A feed ended just before the checkpoint: a record at that time is still no broken promise, and is
   * taken as a correction. NET_BEGINNING: none. */
  net_chronon boundary;
  struct net_rows runs; /* sampled: rows of the table that say of a run that it may go on */
  bool runs_changed;    /* since they were written */
  /* made by sensors (described.c, sensors.c) */
  bool announced;
  bool persistent;          /* all of it is asked for, always */
  uint64_t digest;          /* of the description that announced it */
  struct ng_sensor *sensor; /* that of NG; NULL: it has none */
  const char
      *taskforce; /* it is for that one's event EVENT alone; NULL: for every one's of its name */
  const char *event;
  int holder;              /* the domain whose receptacles switch its sensor; -1: none */
  bool brought, asked_for; /* by sources or sensors; by somebody: as of session_find_asked_for */
  struct net_control_entry *asked; /* all of it */
  bool sampled_in_overload;        /* as collectors were told (overload.c) */
  struct session_ask *asks;        /* live and derived: what its network has watched (askers.c) */
  size_t ask_count, ask_capacity;
  struct net_rows
      open_rows; /* period relations fed live: open tuples that an end record may name */
  struct session_index *explained_indexes; /* tquel explain: those that it would have */
};

/* A relation that nobody can use: the catalogue contradicts itself about it, or its definition makes no sense. */
struct session_unusable {
  const char *name;
  const char *why;
  const char *definition; /* NULL: none */
  const char *const *inputs;
  size_t input_count;
  bool by_definition; /* only who has tried to bind it knows */
};

struct session_feed {
  struct session_relation *relation;
  struct net_reader *reader;
  const char *path;
  struct net_time_context time; /* of who began it */
  int64_t within;               /* chronons */
  int64_t position_saved;
  bool ended;
  bool unit_said; /* that its times look like seconds, and so on */
  bool
      ends_now; /* with the next commit: what is taken back is read again, and the end comes again */
  bool
      ordered_by_stop; /* stops are times seen, too; WITHIN is the longest period and the disorder */
  bool keeps_up;       /* stamps follow the clock: silence then means that nothing happened */
  struct session_feed_counts {
    uint64_t rejected, late, records;
    uint64_t read; /* rows, ends, rounds, bad records: all that it brought */
    int64_t sequence;
  } counts, committed; /* now, and as of the last commit */
  uint64_t reached;    /* the most that .read was: what is taken back is still held */
};

/* How many records of a relation have come into Late or Rejected. */
struct session_diverted {
  const char *where;         /* "Late", "Rejected"; "equal": to others */
  char *name;                /* the relation they were for */
  uint64_t count, committed; /* in this session: now, and as of the last commit */
  uint64_t say_at;           /* the count at which it is said again */
};

/* Lives as long as the live network that shows it. */
struct shown_row {
  uint64_t identity; /* of start and domains */
  uint64_t whole;    /* of all */
  net_chronon stop_lo,
      stop_hi; /* of one that was open when it was shown, from its start on; of an event, its time */
  bool definite;
};
struct session_shown {
  struct shown_row *rows; /* in the order of identity and whole */
  size_t count;
  uint64_t said;            /* a hash of what was said of losses */
  uint64_t changes, say_at; /* how often that changed; when it is said next */
};

struct session_display {
  struct tql_seat *seat; /* NULL: it has ended */
  const char *name;
  bool shown;     /* a row of it has been */
  bool fresh;     /* it has begun, and what was lost was not looked for yet */
  bool unchecked; /* nor since more was lost */
  bool as_is;     /* it shows what is there, as what is certain could not be found */
  bool news;      /* for CERTAIN: there is more to show */
  struct session_shown *certain; /* what it has shown, since something was lost (shown.c); NULL: rows as they come */
};

/* Results of views that stand for them (kept.c). */
struct net_losses;
struct session_doubt;
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
  void (*check_shown)(struct tql_session *session);  /* shown.c */
  void (*show_certain)(struct tql_session *session);
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

/* --- reload.c */
/* Relations as the database has them; what lasts finds its relations again by name. */
enum base_status session_load_catalogue(struct tql_session *session) BASE_MUST_USE;

/* --- seats.c */

/* A seat with the settings that every session begins with; the last of the session's. */
struct tql_seat *session_seat_new(struct tql_session *session);
/* PATH, of a file that a statement names, from the seat's directory; NULL after a diagnostic: the seat may
 * not have files read or written. */
const char *session_path(struct tql_session *session, const struct tql_statement *statement);
/* The seat whose statement runs displays RELATION from now on. */
void session_add_display(struct tql_session *session, const struct session_relation *relation);
/* Forgets displays that have ended; nothing of the live network shows them. */
void session_sweep_displays(struct tql_session *session);
/* RELATION was destroyed: whoever else displays it is told. */
void session_end_displays(struct tql_session *session, const char *relation);
/* COUNT records of RELATION ("": of any) are in WHERE by now: for the displays of others, of it and what it makes. */
void session_tell_displays(struct tql_session *session, const char *relation, const char *where,
                           uint64_t count);
/* Something of RELATION was lost just now. */
void session_doubt_displays_of(struct tql_session *session, const char *relation);
/* Tuples may be other than they were; LOSSES: so may what was lost, or what displays make of that. */
void session_doubt_displays(struct tql_session *session, bool losses);
/* Can a loss make tuples of RELATION uncertain that are there? Those of events are what they are. */
bool session_may_matter(struct tql_session *session, struct session_relation *relation,
                        uint64_t walk);
/* When session->show_certain is to be called next; INT64_MAX: there is nothing to show. */
int64_t session_shown_due(const struct tql_session *session);

/* --- shown.c: displays of what records were lost of; called by way of the session, so that it may use all */

/* Before checkpoints go on: looks which displays show what is certain from now on. */
void session_check_shown(struct tql_session *session);
/* Those that do show what is new. */
void session_show_certain(struct tql_session *session);

/* Refuses what the seat may not do, whatever its user is permitted. */
enum base_status session_check_seat(struct tql_session *session,
                                    const struct tql_statement *statement) BASE_MUST_USE;

/* --- permits.c */

/* The statement as the seat's user may run it: perhaps with a further condition. NULL after a diagnostic: he may
 * not. */
const struct tql_statement *session_permitted(struct tql_session *session,
                                              const struct tql_statement *statement);
/* Why a permit gives nobody anything, or NULL. */
const char *session_permit_fault(const struct tql_statement *permit);

/* What the user of the session's seat may know of relations beside their names; NULL: he is the owner, and may know
 * everything. It is good until the next statement. */
struct session_sight;
struct session_sight *session_sight_new(struct tql_session *session);
void session_sight_free(struct session_sight *sight);
/* Does some permit let him do something with DOMAIN (NULL: with anything) of RELATION? */
bool session_sees(struct session_sight *sight, const struct session_relation *relation,
                  const char *domain);
/* Is RULE, of whatever kind, his to know? Permits that name him are. */
bool session_sees_rule(struct session_sight *sight, const struct st_rule *rule);
/* May he retrieve all its tuples, with all domains? */
bool session_sees_all(struct session_sight *sight, const struct session_relation *relation);

/* --- transaction.c */
enum base_status session_begin(struct tql_session *session) BASE_MUST_USE;
/* Commits when STATUS is BASE_OK, else rolls back and reloads; returns what it came to. */
enum base_status session_end(struct tql_session *session, enum base_status status) BASE_MUST_USE;

/* --- execute.c */
enum base_status session_execute(struct tql_session *session,
                                 const struct tql_statement *statement) BASE_MUST_USE;

/* --- statement.c */
/* The statement that runs begins to show what it has found: it is not given back any more. */
void session_has_shown(struct tql_session *session);
void session_say(struct tql_session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- explain.c */
enum base_status session_explain(struct tql_session *session,
                                 const struct tql_statement *statement) BASE_MUST_USE;
/* `tquel explain`: queries and displays are gathered in one plan. DEFINES: the name of the query, if it has one, is
 * that of a relation from now on. */
enum base_status session_gather_retrieve(struct tql_session *session,
                                         const struct tql_statement *statement,
                                         bool defines) BASE_MUST_USE;
void session_gather_display(struct tql_session *session, const struct session_relation *relation);

/* --- session.c */

/* --- budget.c */
/* The statement of session->seat begins, with the budget that it has; to be ended in any case. */
void session_budget_begin(struct tql_session *session);
void session_budget_end(struct tql_session *session);
/* Has it exceeded something? Then that is reported, at RANGE of the session's source. */
bool session_report_excess(struct tql_session *session, const struct base_range *range);
/* Notes which node of NETWORK has most memory, or that ROWS (may be NULL) have it, if that is exceeded. */
void session_note_holder(struct tql_session *session, const struct net_network *network,
                         const struct tql_rows *rows);
/* Says, once for each doubling, that a server keeps more for what it follows than it may take in all. */
void session_warn_of_memory(struct tql_session *session);
/* Ends what has begun without a limit but that of the system (BASE_BUDGET_NONE): STATUS, or that there was no memory,
 * which is reported. */
enum base_status session_end_unlimited(struct tql_session *session,
                                       enum base_status status) BASE_MUST_USE;

/* --- rules.c, help.c */
enum base_status session_set_rule(struct tql_session *session,
                                  const struct tql_statement *statement) BASE_MUST_USE;
enum base_status session_help(struct tql_session *session,
                              const struct tql_statement *statement) BASE_MUST_USE;

/* --- record_text.c */
void session_print_row(struct tql_session *session, struct base_buffer *out,
                       const struct net_layout *layout, const union net_slot *row);
/* EVENT, an end record with the domains of LAYOUT, as it came; or, of a source that sends no text, as it would have. */
void session_print_end(struct tql_session *session, struct base_buffer *out,
                       const struct net_layout *layout, const struct net_read_event *event);

/* --- strings.c */
/* Between two turns: forgets strings that nothing holds any more, once there are twice as many. */
void session_sweep_strings(struct tql_session *session);

/* --- run_once.c: the network of what is asked once */

/* Plans, builds and runs QUERY over the stored relations. The result, with its checkpoint, is in *RET, which the
 * caller has initialised; or (STORE_NAME is not NULL) in that relation of the store, and its checkpoint in
 * *RET_CHECKPOINT. After an error *RET may have some rows.                                              */
enum base_status session_run_query(struct tql_session *session, const struct ng_query *query,
                                   struct tql_rows *ret, const char *store_name,
                                   net_chronon *ret_checkpoint) BASE_MUST_USE;
/* What STORE, in the place of the database, would have to hold of the derived relation NAME, whose query QUERY is. */
enum base_status session_run_into(struct tql_session *session, const struct ng_query *query,
                                  const char *name, struct net_store *store) BASE_MUST_USE;
/* The same into *RET, and appends the plan that ran with the figures of its nodes. */
enum base_status session_run_figures(struct tql_session *session, const struct ng_query *query,
                                     struct tql_rows *ret,
                                     struct base_buffer *ret_figures) BASE_MUST_USE;

/* ... a tuple inside a network: without what was computed on the way, and without the number that an
 * update gave it. */
void session_print_tuple(struct tql_session *session, struct base_buffer *out,
                         const struct net_layout *layout, const union net_slot *row);

/* The tuples of GIVEN before its checkpoint, with the domains of LAYOUT. */
struct net_source *session_open_given(const struct session_given *given,
                                      const struct net_layout *layout, uint32_t batch_rows);

/* --- summaries.c: summaries that stand */

static inline bool session_is_summary(const struct session_relation *relation) {
  return relation->ng.layout->timeless;
}
/* QUERY as it is in the live network; another one only of a summary. */
const struct ng_query *session_so_far(struct base_arena *arena, const struct ng_query *query);
/* RELATION's sink in the live network, which knows what is stored; it tells displays nothing before the replay has
 * ended. */
enum base_status session_build_summary(struct tql_session *session,
                                       struct session_relation *relation) BASE_MUST_USE;
enum base_status session_end_summary_replay(struct tql_session *session,
                                            struct session_relation *relation) BASE_MUST_USE;
/* Their tables become what holds now; in the transaction that runs. */
enum base_status session_save_summaries(struct tql_session *session) BASE_MUST_USE;
/* ... of what has come since the last commit, for a statement that is about to look. */
enum base_status session_show_summaries(struct tql_session *session) BASE_MUST_USE;
/* Does QUERY, which is to have a name, read one? An error is reported then. */
bool session_refuse_summary(struct tql_session *session, const struct ng_query *query);

/* --- alike.c: open tuples that are one row of the table */

/* Tells the file what STORE, into which the derived relation NAME was computed, has of such tuples (LAYOUT: its own). */
enum base_status session_keep_alike(struct tql_session *session, const char *name,
                                    const struct net_node *store,
                                    const struct net_layout *layout) BASE_MUST_USE;
/* ... of the relations of the live network, as far as that has changed; before every commit. */
enum base_status session_save_alike(struct tql_session *session) BASE_MUST_USE;
/* *SOURCE, a scan of RELATION's table up to its checkpoint as rows of LAYOUT, becomes one that gives each of them. If it
 * fails, *SOURCE is still the caller's. */
enum base_status session_join_alike(struct tql_session *session, struct session_relation *relation,
                                    const struct net_layout *layout, uint32_t batch_rows,
                                    struct net_source **source) BASE_MUST_USE;

/* The times of ROW, and its fields that TO has, too, as a row of TO. */
void session_copy_fields(const struct net_layout *to, union net_slot *out,
                         const struct net_layout *from, const union net_slot *row);

/* --- doubt.c: what may have been lost of what a retrieve or print reads */

/* Says of what QUERY, or RELATION (one of both is NULL), reads that records were left out where they arose. */
enum base_status session_say_filtered(struct tql_session *session, const struct ng_query *query,
                                      struct session_relation *relation) BASE_MUST_USE;
/* Which relations' records are not to be left out (integrity.c): as rules and permits stand. */
enum base_status session_find_whole(struct tql_session *session) BASE_MUST_USE;
void session_describe_filtered(struct tql_session *session, const struct session_relation *relation,
                               struct base_buffer *out);
/* What was lost of RELATION, or of what it is made of. */
void session_describe_losses(struct tql_session *session, struct session_relation *relation,
                             struct base_buffer *out);
/* Of each report; the caller frees it. */
uint64_t *session_count_filtered(struct tql_session *session,
                                 const struct tql_sensor_report *reports, size_t report_count);

/* From here to session_end_doubts what QUERY, or RELATION (one of both is NULL), reads is read with what Lost, Late and
 * Rejected say of it, unless the seat ignores losses. Not nested. */
enum base_status session_begin_doubts(struct tql_session *session, const struct ng_query *query,
                                      struct session_relation *relation) BASE_MUST_USE;
/* The answer is ROWS: where nothing of it is uncertain no loss has touched it, and nothing is said of one. */
void session_note_doubted(struct tql_session *session, const struct ng_query *query,
                          struct session_relation *relation, const struct net_rows *rows);
/* SAID: a note says of which relations tuples were not as certain as they are stored. */
void session_end_doubts(struct tql_session *session, bool said);
/* Does who reads RELATION read its inputs, through its definition: a view, or for now what is made of lossy ones? */
static inline bool session_is_looked_through(const struct session_relation *relation) {
  return relation->view || relation->looked_through;
}
/* LOOK with the losses of what QUERY, or RELATION, reads, and then says them. What derived relations are made of may be
 * uncertain in a way that their definitions have no answer to: where LOOK fails for that, it is called once more and their
 * tables are read. */
enum base_status session_look(struct tql_session *session, const struct ng_query *query,
                              struct session_relation *relation,
                              enum base_status (*look)(void *context), void *context) BASE_MUST_USE;
/* Is anything read so that was lost? */
bool session_is_in_doubt(const struct tql_session *session);
/* What is known of RELATION; NULL: nothing of it was lost. */
struct session_doubt *session_doubt_of(const struct tql_session *session,
                                       const struct session_relation *relation);
/* A stream of what SCAN says of DOUBT's relation, in the form of tuples. */
enum base_status session_open_doubtful(struct tql_session *session, struct session_doubt *doubt,
                                       const struct net_scan *scan,
                                       struct net_source **ret) BASE_MUST_USE;
/* The tuples of RELATION, all of them in ROWS, as far as they are certain. */
enum base_status session_doubt_rows(struct tql_session *session,
                                    const struct session_relation *relation,
                                    struct tql_rows *rows) BASE_MUST_USE;

/* --- missing.c: aggregates over what may be missing, nearest partners among it */

/* *QUERY becomes one whose aggregates are not definite where what doubt.c knows may be missing of what they count, nor pairs
 * of which it may be between (set sequence). In the statement's arena. */
enum base_status session_doubt_query(struct tql_session *session,
                                     const struct ng_query **query) BASE_MUST_USE;
/* The tuples of RELATION, if such a query has it for that; else NULL. */
const struct session_given *session_missing_of(const struct tql_session *session,
                                               const struct ng_relation *relation);
void session_end_missing(struct tql_session *session);

/* --- query.c: what is asked once */

/* The derived relation or view that STATEMENT defines by QUERY, without its definition. In ARENA. */
struct st_relation session_derived(struct base_arena *arena, const struct tql_statement *statement,
                                   const struct ng_query *query);
/* *QUERY, which is not kept, becomes the one with the origin of its inputs as they stand. */
enum base_status session_query_once(struct tql_session *session,
                                    const struct ng_query **query) BASE_MUST_USE;
/* session_run_query with that origin, into *RET. */
enum base_status session_run_once(struct tql_session *session, const struct ng_query *query,
                                  struct tql_rows *ret) BASE_MUST_USE;
enum base_status session_retrieve(struct tql_session *session,
                                  const struct tql_statement *statement) BASE_MUST_USE;
enum base_status session_print(struct tql_session *session,
                               struct session_relation *relation) BASE_MUST_USE;
enum base_status session_rows_of(struct tql_session *session, struct session_relation *relation,
                                 struct tql_rows *ret) BASE_MUST_USE;
/* Does what QUERY gives depend on an origin that is not known yet? */
bool session_wants_origin(const struct ng_query *query);
/* Between these two nothing is written, and what has been found of views' first tuples holds; they may be nested. */
void session_begin_origins(struct tql_session *session);
void session_end_origins(struct tql_session *session);
/* On the real timeline the origin of a derived relation's aggregates is the earliest tuple of its
 * inputs at its first checkpoint, and is kept.                                                      */
enum base_status session_fix_origin(struct tql_session *session, struct session_relation *relation,
                                    bool *ret_fixed_now) BASE_MUST_USE;
/* *QUERY of RELATION becomes the one with the origin that is fixed, or else that of the tuples as they stand. */
enum base_status session_at_origin(struct tql_session *session,
                                   const struct session_relation *relation,
                                   const struct ng_query **query) BASE_MUST_USE;
/* *QUERY becomes the one with the origin that is fixed when it is defined now, and stays as it is where none
 * would be. In the statement's arena. */
enum base_status session_query_defined_now(struct tql_session *session,
                                           const struct ng_query **query) BASE_MUST_USE;
/* ... all derived relations that depend on RELATION, in order. */
enum base_status session_recompute_dependants(
    struct tql_session *session, const struct session_relation *relation) BASE_MUST_USE;
/* What is derived from Late and Rejected, if rows have come into them. */
enum base_status session_recompute_diverted(struct tql_session *session) BASE_MUST_USE;

/* --- await.c */

/* Is QUERY, which runs once, to be given back until what it reads is known as far as the times that have come which
 * it names (session->awaits)? If that cannot be had, it is said (TQ-0853), and the answer is no.          */
bool session_awaits(struct tql_session *session, const struct ng_query *query);
/* The checkpoint that it has for QUERY, which runs once. */
net_chronon session_paced_until(const struct tql_session *session, const struct ng_query *query);
/* Does a display of a session that may write want time to go on? */
bool session_pace_is_displayed(struct tql_session *session);
/* Lets it go on to now, if a clock has ticked; outside statements. */
enum base_status session_pace_turn(struct tql_session *session) BASE_MUST_USE;
/* In how many ns it is to go on; INT64_MAX: it is not. */
int64_t session_pace_due(struct tql_session *session);
/* Before QUERY becomes a standing one, within a transaction. */
enum base_status session_pace_begin(struct tql_session *session,
                                    const struct ng_query *query) BASE_MUST_USE;
/* Before QUERY runs once, or RELATION is printed (the other is NULL): what it reads is brought up to now. */
enum base_status session_pace_catch_up(struct tql_session *session, const struct ng_query *query,
                                       const struct session_relation *relation) BASE_MUST_USE;

/* Up to when all is known that QUERY reads; of RELATION, or of what it is looked through for. */
net_chronon session_reads_until(struct tql_session *session, const struct ng_query *query);
net_chronon session_known_until(struct tql_session *session, struct session_relation *relation);
/* What losses leave uncertain may last beyond all that is known by now; then results of it are final later than the
 * others, and are not there, nor what waits behind them: says so of ROWS. */
void session_report_not_final(struct tql_session *session, const struct ng_query *query,
                              struct session_relation *relation, const struct tql_rows *rows);
/* Is QUERY's result at a time from which on not all is known that it reads? Then nothing of it is final, whatever is
 * computed. */
bool session_is_beyond(struct tql_session *session, const struct ng_query *query);

/* --- write.c: statements' own writes */

/* Writes rows straight into the table; of a traced relation the periods of the entities concerned. */
enum base_status session_put(struct tql_session *session, struct session_relation *relation,
                             const struct net_rows *rows) BASE_MUST_USE;
/* Takes tuples REMOVED away (of a traced relation: the records that opened them) and puts rows of the
 * write layout in their place.                                                                      */
enum base_status session_revise(struct tql_session *session, struct session_relation *relation,
                                const struct net_rows *removed,
                                const struct net_rows *added) BASE_MUST_USE;
/* Do a statement's rows go through the live network (`set checkpoint manual`, a running feed)? */
bool session_writes_live(const struct tql_session *session,
                         const struct session_relation *relation);
/* What an earlier session left pending becomes part of the relation, which is closed at forever;
 * *RET_CHANGED: so its dependants are to be computed anew.                                          */
enum base_status session_settle(struct tql_session *session, struct session_relation *relation,
                                bool *ret_changed) BASE_MUST_USE;
/* Reports, and answers true, that RELATION is derived and cannot be written. */
bool session_refuse_derived(struct tql_session *session, const struct session_relation *relation,
                            const struct tql_name *name);
struct sn_reader_options;
enum base_status session_open_reader(struct tql_session *session,
                                     const struct tql_statement *statement,
                                     const struct sn_reader_options *options,
                                     struct net_reader **ret) BASE_MUST_USE;
enum base_status session_append(struct tql_session *session,
                                const struct tql_statement *statement) BASE_MUST_USE;
enum base_status session_copy(struct tql_session *session,
                              const struct tql_statement *statement) BASE_MUST_USE;
enum base_status session_checkpoint(struct tql_session *session,
                                    const struct tql_statement *statement) BASE_MUST_USE;

/* --- update.c: delete, replace */
enum base_status session_update(struct tql_session *session,
                                const struct tql_statement *statement) BASE_MUST_USE;

/* --- integrity.c: what a row must satisfy to be written; permits */

/* Refuses computed values of RELATION's write layout that do not fit the types of their domains. */
enum base_status session_check_values(struct tql_session *session,
                                      struct session_relation *relation,
                                      const struct net_rows *rows) BASE_MUST_USE;
/* Refuses rows of the write layout that break a rule. */
enum base_status session_check_integrity(struct tql_session *session,
                                         struct session_relation *relation,
                                         const struct net_rows *rows) BASE_MUST_USE;
/* Has RELATION rules of integrity? */
enum base_status session_has_rules(struct tql_session *session, struct session_relation *relation,
                                   bool *ret);
/* The first rule that ROW breaks, NULL: none; and the words for it. */
enum base_status session_broken_rule(struct tql_session *session, struct session_relation *relation,
                                     const union net_slot *row,
                                     const struct session_rule **ret) BASE_MUST_USE;
const char *session_rule_reason(struct base_arena *arena, const struct session_relation *relation,
                                const struct session_rule *rule);
enum base_status session_define_integrity(struct tql_session *session,
                                          const struct tql_statement *statement) BASE_MUST_USE;
enum base_status session_define_permit(struct tql_session *session,
                                       const struct tql_statement *statement) BASE_MUST_USE;
enum base_status session_destroy_rules(struct tql_session *session,
                                       const struct tql_statement *statement) BASE_MUST_USE;
/* Those that SIGHT sees. */
void session_describe_rules(struct tql_session *session, const struct session_relation *relation,
                            struct session_sight *sight, struct base_buffer *out);

/* --- index.c: index, modify */
enum base_status session_index(struct tql_session *session,
                               const struct tql_statement *statement) BASE_MUST_USE;
enum base_status session_modify(struct tql_session *session,
                                const struct tql_statement *statement) BASE_MUST_USE;
/* Destroys the index NAME; *RET_FOUND false: there is none. */
enum base_status session_destroy_index(struct tql_session *session, const char *name,
                                       bool *ret_found) BASE_MUST_USE;
/* `tquel explain`: relations have the indexes of the database, until the script changes them. */
enum base_status session_load_explained_indexes(struct tql_session *session) BASE_MUST_USE;
void session_describe_indexes(struct tql_session *session, const struct session_relation *relation,
                              struct base_buffer *out);

/* --- retention.c: save */
enum base_status session_save(struct tql_session *session,
                              const struct tql_statement *statement) BASE_MUST_USE;
/* Destroys what was to be kept until a time that has passed. */
enum base_status session_expire(struct tql_session *session) BASE_MUST_USE;
/* The youngest that is past its time and can go: what is computed from a relation goes before it. NULL: there is none. */
struct session_relation *session_next_expired(struct tql_session *session);
/* The same, while the session goes on: a slice of it, some ROWS of one relation. *RET_ANY: there was something to do. */
enum base_status session_expire_some(struct tql_session *session, size_t rows,
                                     bool *ret_any) BASE_MUST_USE;
void session_describe_until(struct tql_session *session, const struct session_relation *relation,
                            struct base_buffer *out);

/* --- keep.c: modify R to keep AGE */
enum base_status session_keep(struct tql_session *session, const struct tql_analysis *analysis,
                              struct session_relation *relation,
                              const struct tql_statement *statement) BASE_MUST_USE;
/* Tuples of RELATION that were over before *RET may go; NET_BEGINNING: none. */
enum base_status session_keep_limit(struct tql_session *session, struct session_relation *relation,
                                    net_chronon *ret) BASE_MUST_USE;
/* Sets the horizon of each relation: what of it was over before that, no replay needs. While all that is derived stands as
 * it was committed. */
enum base_status session_find_horizons(struct tql_session *session) BASE_MUST_USE;
/* Refuses QUERY, a standing query NAME, if it needs all tuples of a relation that is kept for an age. */
enum base_status session_check_history(struct tql_session *session, const struct ng_query *query,
                                       const char *name) BASE_MUST_USE;
/* Refuses that RELATION, which is derived, is computed anew if that would lose some of it. */
enum base_status session_refuse_anew(struct tql_session *session,
                                     const struct session_relation *relation) BASE_MUST_USE;
/* Are tuples of RELATION gone, or of what it is computed from? */
bool session_lacks_tuples(struct tql_session *session, const struct session_relation *relation);
/* RELATION is computed anew: of its own tuples none is missing then. */
enum base_status session_complete(struct tql_session *session,
                                  struct session_relation *relation) BASE_MUST_USE;
/* Is something that depends on RELATION refused that? */
bool session_has_incomplete_readers(struct tql_session *session,
                                    const struct session_relation *relation);
void session_describe_age(struct tql_session *session, struct session_relation *relation,
                          struct base_buffer *out);
/* Warns once in a statement that tuples of RELATION are gone; of all that PLAN reads, if it asks for such a time. */
void session_warn_incomplete(struct tql_session *session, struct session_relation *relation);
void session_warn_plan(struct tql_session *session, const struct ng_plan *plan);

/* --- aging.c: what is old goes */
/* Between two groups: some rows, for some milliseconds, if it is time. */
void session_age_some(struct tql_session *session);
/* How many tuples of RELATION are older than they are kept, MOST at most. */
int64_t session_count_old(struct tql_session *session, struct session_relation *relation,
                          int64_t most);
/* Does more come than goes, so that a group that has been open for OPEN_NS is to be committed, as what is old waits? */
bool session_age_waits(const struct tql_session *session, int64_t open_ns);
/* So many nanoseconds from NOW (monotonic) more is to be done; INT64_MAX: nothing is. */
int64_t session_age_due(const struct tql_session *session, int64_t now);
/* All that is old goes, before the session ends. */
void session_age_all(struct tql_session *session);
/* What came live and is old already is not written; before a group is committed. */
enum base_status session_age_waiting(struct tql_session *session) BASE_MUST_USE;

/* --- unbounded.c: standing queries that need memory without bound */

/* Refuses the standing query QUERY, or warns of it, if nothing bounds its state and that is not allowed. */
enum base_status session_check_bounds(struct tql_session *session,
                                      const struct ng_query *query) BASE_MUST_USE;
/* RELATION is to get a live feed: refuses it if there is such a query that depends on it, unless that query was
 * allowed when it was defined, or all are now. */
enum base_status session_check_bounds_of_dependants(
    struct tql_session *session, const struct session_relation *relation) BASE_MUST_USE;

/* --- view.c: define view */
/* The network of VIEW within NETWORK; *RET is the node of its result. */
enum base_status session_build_view(struct tql_session *session, struct session_relation *view,
                                    struct net_network *network, const struct ng_inputs *inputs,
                                    struct net_node **ret) BASE_MUST_USE;
/* Is VIEW, in the live network, part of the one query that reads it, and no network of its own? Rules then
 * see both as one. Not where its errors would become those of its reader.                           */
bool session_view_is_inlined(struct tql_session *session, struct session_relation *view);
/* *RET, in ARENA: the plan of QUERY, which defines RELATION, as the live network has it. */
enum base_status session_live_plan(struct tql_session *session,
                                   const struct session_relation *relation,
                                   const struct ng_query *query, struct base_arena *arena,
                                   struct ng_plan **ret) BASE_MUST_USE;
/* The views that QUERY reads, directly or through views, become inner queries of PLAN. RUN: with the
 * origins that hold now.                                                                            */
enum base_status session_add_views(struct tql_session *session, const struct ng_query *query,
                                   struct ng_plan *plan, bool run) BASE_MUST_USE;
enum base_status session_view_rows(struct tql_session *session, struct session_relation *view,
                                   struct tql_rows *ret) BASE_MUST_USE;

/* --- kept.c: results of views that are kept */
void session_forget_kept(struct tql_session *session);
/* The same, if a statement of KIND may change them. */
void session_forget_kept_before(struct tql_session *session, enum tql_statement_kind kind);
/* From now on kept results are used, or no longer; were there any, and are they still good? */
bool session_use_kept(struct tql_session *session, bool use);
/* Does a result stand for VIEW now? */
bool session_is_kept(const struct tql_session *session, const struct session_relation *view);
/* The tuples of a view that is kept, as far as LAYOUT wants them. */
struct net_source *session_open_kept(struct tql_session *session,
                                     const struct session_relation *view,
                                     const struct net_layout *layout, uint32_t batch_rows);
/* The view whose tuples QUERY gives as they are, NULL: none. */
const struct session_relation *session_whole_view(struct tql_session *session,
                                                  const struct ng_query *query);
/* RESULT, finished, is all of VIEW over what was stored at VERSION: it is kept, and then taken over, if it
 * may be. */
void session_keep_result(struct tql_session *session, const struct session_relation *view,
                         const struct st_version *version, struct tql_rows *result);

/* --- spare.c: the memory of results that are gone */
/* ROWS, which have none yet, get some, if there is any. */
void session_lend_rows(struct tql_session *session, struct net_rows *rows);
/* ROWS are gone; it is as if they had been freed. */
void session_spare_rows(struct tql_session *session, struct net_rows *rows);
void session_spares_done(struct session_spares *spares);

/* --- ends.c */

/* Adds to ROWS, records that go into the live network together, an end record for each entity of RELATION that
 * is open before END (a record with TQL_CLOSES_ALL) and that END says, by process and objects, or by key. */
void session_end_all(const struct session_relation *relation, const union net_slot *end,
                     struct net_rows *rows);
/* What PROCESS has open in RELATION ends at its checkpoint, or behind the last of its records that waits. */
enum base_status session_lose_process(struct tql_session *session,
                                      struct session_relation *relation,
                                      const char *process) BASE_MUST_USE;

/* What is wrong with the row as a sample, or NULL. */
const char *session_sample_fault(const union net_slot *row, uint8_t marks);
/* The same for rows that a statement writes, with a diagnostic; other relations may have any rows. */
enum base_status session_check_samples(struct tql_session *session,
                                       const struct session_relation *relation,
                                       const struct net_rows *rows) BASE_MUST_USE;
/* Keeps records and makes the table anew. */
enum base_status session_put_samples(struct tql_session *session, struct session_relation *relation,
                                     const struct net_rows *rows) BASE_MUST_USE;
/* Takes the samples of the tuples REMOVED away, adds the records ADDED, makes the table anew. */
enum base_status session_revise_samples(struct tql_session *session,
                                        struct session_relation *relation,
                                        const struct net_rows *removed,
                                        const struct net_rows *added) BASE_MUST_USE;
/* The relation's part of the live network; its store_node is the node that has the periods. */
enum base_status session_build_samples(struct tql_session *session,
                                       struct session_relation *relation,
                                       struct net_node **ret_access) BASE_MUST_USE;
/* The samples of RELATION before CHECKPOINT. */
enum base_status session_open_samples(struct tql_session *session,
                                      const struct session_relation *relation,
                                      net_chronon checkpoint,
                                      struct net_source **ret) BASE_MUST_USE;
/* Adds to RET the relation's tuples as its samples say and LOSSES leave certain (field PROCESS of a record says
 * whose it is; negative: none does). *RET_MATTERS: set if the losses make a difference. */
enum base_status session_doubtful_samples(struct tql_session *session,
                                          const struct session_relation *relation,
                                          const struct net_losses *losses, int process,
                                          struct net_rows *ret, bool *ret_matters) BASE_MUST_USE;
/* Writes what is known of the runs that may go on; before every commit. */
enum base_status session_save_runs(struct tql_session *session) BASE_MUST_USE;
enum base_status session_take_round(struct tql_session *session, struct session_relation *relation,
                                    const struct net_read_event *event,
                                    net_chronon limit) BASE_MUST_USE;

/* --- statistics.c: tq_node_stats */

/* Writes the figures of the live network's nodes that have fired since; before every commit. */
enum base_status session_save_node_stats(struct tql_session *session) BASE_MUST_USE;
/* Those of a derived relation that was computed in NETWORK. */
enum base_status session_keep_node_stats(struct tql_session *session,
                                         const struct net_network *network) BASE_MUST_USE;
/* The live network is gone. */
void session_forget_node_stats(struct tql_session *session);

/* --- estimates.c */

/* Tells PLAN which relations depend on others. */
void session_set_depends(struct tql_session *session, struct ng_plan *plan);
/* Transforms PLAN by the session's rules. Unless the result is KEPT, or a relation is not closed, they
 * are told what the relations contain. */
enum base_status session_transform(struct tql_session *session, struct ng_plan *plan,
                                   bool kept) BASE_MUST_USE;

/* --- described.c: announced relations */
enum base_status session_load_announced(struct tql_session *session) BASE_MUST_USE;
/* RELATION is announced by the description DIGEST (0: by none yet). */
enum base_status session_save_announced(struct tql_session *session,
                                        struct session_relation *relation, uint64_t digest,
                                        int holder, bool persistent) BASE_MUST_USE;

/* --- sources.c: records that are handed over */

/* Do sources bring RELATION, or would they if somebody asked? */
bool session_is_brought(const struct tql_session *session, const struct session_relation *relation);
/* Does a source that is there bring RELATION? */
bool session_is_taken(const struct tql_session *session, const struct session_relation *relation);
/* Around what is done for a source: outside statements, in the group. leave returns STATUS; unless that is
 * BASE_OK or BASE_USER, the group has been taken back. */
enum base_status session_enter_source(struct tql_session *session) BASE_MUST_USE;
enum base_status session_leave_source(struct tql_session *session,
                                      enum base_status status) BASE_MUST_USE;
/* Checkpoints of relations follow what their sources promise. */
enum base_status session_sources_advance(struct tql_session *session) BASE_MUST_USE;
/* In how many ns they may have to, though nothing comes; NOW is the monotonic clock. */
int64_t session_sources_due(const struct tql_session *session, int64_t now);
/* Before and after a commit; after a rollback: they are over. */
enum base_status session_sources_save(struct tql_session *session) BASE_MUST_USE;
void session_sources_committed(struct tql_session *session);
void session_sources_take_back(struct tql_session *session);
void session_sources_free(struct tql_session *session);

/* --- sensors.c: what they are told */

/* Sets brought and asked_for of all relations, if they may have changed. */
void session_find_asked_for(struct tql_session *session);
/* The live network goes: until session_tell_sensors nothing is said. */
void session_hold_control(struct tql_session *session);
void session_tell_sensors(struct tql_session *session);
/* At the end of a turn: has the samples taken that tuples have asked for. */
void session_tell_triggers(struct tql_session *session);
/* A network is about to read what is stored; it has done so. */
void session_replay_triggers(struct tql_session *session);
void session_triggers_live(struct tql_session *session);
/* For ng_inputs.control; CONTEXT is the session. */
struct net_control *session_control_of(void *context, const struct ng_relation *relation);
void session_mark_watches(struct tql_session *session);

/* --- order.c */

/* What the statement's order means for rows of LAYOUT; it has one. BASE_USER after a diagnostic. */
enum base_status session_analyse_order(struct tql_session *session,
                                       const struct tql_statement *statement,
                                       const struct net_layout *layout,
                                       struct tql_sort *ret) BASE_MUST_USE;
/* Reports that what is stored as NAME can have none, if the statement has one. */
bool session_refuse_order(struct tql_session *session, const struct tql_statement *statement,
                          const char *name);
/* The rows, finished, as the statement that runs wants them. */
enum base_status session_order_rows(struct tql_session *session,
                                    struct tql_rows *rows) BASE_MUST_USE;

/* --- overhead.c */

/* Appends what monitoring takes, as far as collectors have reported it, if anything is recorded. */
void session_put_overhead(const struct tql_sensor_report *reports, size_t count,
                          struct base_buffer *out);

/* --- askers.c: who they are told for */

/* What a network has watched, from when it is built until it goes. */
struct session_ask {
  const char *relation;
  const struct net_watch_object *objects;
  uint32_t object_count;
  const struct net_node *access; /* not NULL: what this one watches, as another relation says */
};
/* For ng_inputs.watches; CONTEXT is the session. */
void session_note_watch(void *context, const char *owner, const struct ng_relation *relation,
                        const struct net_watch *watch, const struct net_node *access);
/* Those who ask for RELATION, in the words of \ds. Good as long as ARENA and until the live network goes. */
struct session_askers;
struct session_askers *session_askers_new(struct tql_session *session, struct base_arena *arena,
                                          const struct session_relation *relation);
/* ... for PROCESS; OBJECT: for that object of it, "": for any of it. NULL: for any process. "": nobody. */
const char *session_askers_of(const struct session_askers *askers, const char *process,
                              const char *object);
/* For \d: that sensors make its records, and who asks for them. */
void session_describe_announced(struct tql_session *session,
                                const struct session_relation *relation, struct base_buffer *out);

/* --- pump.c: groups of what feeds and sources bring */
enum base_status session_begin_group(struct tql_session *session) BASE_MUST_USE;
/* A session that writes begins with what is there (fold.c). */
void session_fold_init(struct session_fold *fold, bool writes);
/* Between two groups: some of the rows that wait in the log go into their tables. BASE_SYSTEM: what failed may succeed
 * later, as on a full disk; anything else that failed was reported, and is not the matter of who comes. */
enum base_status session_fold_some(struct tql_session *session) BASE_MUST_USE;
/* So many nanoseconds from NOW (monotonic) more is to be done at once; INT64_MAX: nothing is. */
int64_t session_fold_due(const struct tql_session *session, int64_t now);
/* Puts all rows that came live into their tables, before the end. What fails was reported, and is done by the
 * next session. */
void session_fold_all(struct tql_session *session);

/* Is there room in the write-ahead log for what can wait? It is made to begin anew where that can be, once in a while. */
bool session_has_room(struct tql_session *session);
/* In how many ns from NOW on it is worth to ask that again; 0: there is room. */
int64_t session_room_due(const struct tql_session *session, int64_t now);
/* WHAT ("what is old") is not removed for now: says so, if *SAID is not set, and sets it. The reason is the first error since
 * BEFORE, which is dropped, or if there is none the write-ahead log. */
void session_say_removal_waits(struct tql_session *session, const char *what, size_t before,
                               bool *said);
/* WHAT has been removed: says so where *SAID is set, and clears it. */
void session_say_removed(struct tql_session *session, const char *what, bool *said);
/* Between groups: says who keeps the write-ahead log long, gives unused pages back for some ms (upkeep.c). */
void session_upkeep(struct tql_session *session);
/* In how many ns from NOW on there is something to do. */
int64_t session_upkeep_due(const struct tql_session *session, int64_t now);
/* The session ends: for half a second. */
void session_upkeep_end(struct tql_session *session);
enum base_status session_commit_group(struct tql_session *session) BASE_MUST_USE;
/* Rolls the group back, reads the catalogue again, and has feeds and sources bring again what the group had. */
void session_take_back(struct tql_session *session);
/* The session ends: what was read and taken back is tried once more to be stored, and if it cannot be, that is said. */
void session_store_held(struct tql_session *session);
/* Makes the relations that have feeds live, in a transaction of its own. */
enum base_status session_wake_feeds(struct tql_session *session) BASE_MUST_USE;

/* --- live.c: the live network */

/* Replaces the pending rows of a relation that is live. */
enum base_status session_set_pending(struct tql_session *session, struct session_relation *relation,
                                     const struct net_rows *rows) BASE_MUST_USE;

/* Makes RELATION live: the network is (re)built and replayed from the store. */
enum base_status session_make_live(struct tql_session *session,
                                   struct session_relation *relation) BASE_MUST_USE;
/* The same, but the network is left to session_ensure_live. */
enum base_status session_wake(struct tql_session *session,
                              struct session_relation *relation) BASE_MUST_USE;
/* Is ROW, which closes, one that is open? */
bool session_has_open(const struct session_relation *relation, const union net_slot *row);
/* Does a relation that is live have something to do with RELATION, which is derived? */
bool session_depends_on_live(struct tql_session *session, const struct session_relation *relation);
/* ... or one that is announced, whose sensors are switched on for those who read it? */
bool session_may_be_fed(struct tql_session *session, const struct session_relation *relation);
/* Builds the live network if some relation is live and it is not there. */
enum base_status session_ensure_live(struct tql_session *session) BASE_MUST_USE;
void session_drop_live(struct tql_session *session);
/* Is RELATION in the live network, with a sink that shows to whoever displays it, also later? */
bool session_has_displays_sink(const struct tql_session *session,
                               const struct session_relation *relation);
/* Records of an event relation that are in order, wait for the checkpoint. */
void session_add_events(struct session_relation *relation, const union net_slot *rows,
                        const uint8_t *marks, size_t count);
/* Puts one record into the relation's pending rows, or, when its time is before LIMIT (at least the
 * checkpoint), into Late.                                                                           */
enum base_status session_take_record(struct tql_session *session, struct session_relation *relation,
                                     const union net_slot *row, uint8_t marks,
                                     net_chronon limit) BASE_MUST_USE;
/* The time of a record: a close's stop, else its start. */
net_chronon session_record_time(const struct session_relation *relation, const union net_slot *row,
                                uint8_t marks);
/* Rows before the checkpoint that are no broken promise (a statement's own, the last time of a feed that
 * ended): they go into the table, and what depends on them is computed anew.                        */
enum base_status session_correct(struct tql_session *session, struct session_relation *relation,
                                 const struct net_rows *rows) BASE_MUST_USE;
/* Derived relations are as far as their networks are. */
void session_follow_checkpoints(struct tql_session *session);

/* --- advance.c */

/* Advances the relation's checkpoint: what it passes goes into store and network. */
enum base_status session_advance(struct tql_session *session, struct session_relation *relation,
                                 net_chronon checkpoint) BASE_MUST_USE;
enum base_status session_save_pending(struct tql_session *session) BASE_MUST_USE;
/* Into relation Late or Rejected. */
enum base_status session_divert(struct tql_session *session, const char *system_relation,
                                struct session_relation *relation, net_chronon at,
                                const char *reason, const char *record,
                                size_t record_length) BASE_MUST_USE;
/* ... of the relation called NAME, which need not be there. */
enum base_status session_divert_named(struct tql_session *session, const char *system_relation,
                                      const char *name, net_chronon at, const char *reason,
                                      const char *record, size_t record_length) BASE_MUST_USE;
/* A run-time error of RELATION's query into Rejected. It is there once, however often a restart or a
 * correction brings the same combination again.                                                    */
enum base_status session_divert_combination(struct tql_session *session,
                                            struct session_relation *relation, net_chronon at,
                                            const char *reason, const char *record,
                                            size_t record_length) BASE_MUST_USE;
/* How many tuples of Rejected are of each relation, in the order of the session's relations; the caller frees it.
 * One that cannot be read counts nothing.                                                            */
uint64_t *session_count_rejected(struct tql_session *session);
/* What is said of Late and Rejected counts what is there: the records since this was called last are, or were taken back. */
void session_settle_diverted(struct tql_session *session, bool kept);
/* Says, when a group was committed, that fed records were equal to others. */
/* COUNT records of RELATION ("": of any) were lost; 0: nobody knows how many. */
void session_note_lost(struct tql_session *session, const char *relation, uint64_t count);
void session_note_equal(struct tql_session *session);
void session_free_diverted(struct tql_session *session);

/* Times that were read look like UNIT and count as nanoseconds: says so. NULL: they do not. */
void session_note_unit(struct tql_session *session, const struct session_relation *relation,
                       const char *unit);

/* --- stall.c */

/* A turn has failed, and its group has been taken back. Returns MAY_PASS; then what was reported since there were BEFORE
 * diagnostics, which are held, is not said but once as a warning, and session_is_resting until it is to be tried again. */
bool session_stall(struct tql_session *session, size_t before, bool may_pass);
bool session_is_resting(const struct tql_session *session);
/* A group has been committed; ENDING: the last one. Says that all is well again. */
void session_note_stored(struct tql_session *session, bool ending);
/* Nothing need come any more for that to be said; in how many ns from NOW on it is. */
void session_note_steady(struct tql_session *session);
int64_t session_steady_due(const struct tql_session *session, int64_t now);

/* --- feed.c */
enum base_status session_add_feed(struct tql_session *session,
                                  const struct tql_statement *statement,
                                  struct session_relation *relation) BASE_MUST_USE;
void session_remove_feeds(struct tql_session *session, const struct session_relation *relation);
/* One turn of one feed; *RET_IDLE: it had nothing. */
enum base_status session_read_feed(struct tql_session *session, struct session_feed *feed,
                                   struct net_batch_builder *builder, bool *ret_idle) BASE_MUST_USE;
enum base_status session_save_positions(struct tql_session *session) BASE_MUST_USE;
void session_feeds_committed(struct tql_session *session);
/* All that was read since the last commit has been taken back, and will be read again. */
void session_rewind_feeds(struct tql_session *session);
/* Has a feed read what was taken back and is not stored again? */
bool session_feeds_hold(const struct tql_session *session);
/* Is a commit needed for a feed to go on? */
bool session_feeds_want_commit(const struct tql_session *session);
/* What was read from pipes and could not be stored is lost: says so. */
void session_report_held(struct tql_session *session);
/* Why a row of the write layout cannot be taken, NULL: it can. AHEAD: it lies behind the future limit. */
enum base_status session_row_fault(struct tql_session *session, struct session_relation *relation,
                                   const union net_slot *row, uint8_t marks, bool ahead,
                                   const char **ret) BASE_MUST_USE;
bool session_is_fed(struct tql_session *session, const struct session_relation *relation);
/* NULL: EVENT, an end record, names all that tells entities of the traced or sampled RELATION apart. */
const char *session_unnamed(const struct session_relation *relation,
                            const struct net_read_event *event);
/* An end record of a feed or file: closes what it names. */
enum base_status session_take_end(struct tql_session *session, struct session_relation *relation,
                                  const struct net_read_event *event,
                                  net_chronon limit) BASE_MUST_USE;

#endif
