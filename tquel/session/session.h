/* A session: a database (file or memory), tuple variables, settings, standing queries, live feeds.
 * The shell, scripts, tests and the server run statements through it.
 *
 * Several users work on one session, each on a *seat* of his own, with his own variables, settings and
 * displays; relations and standing queries are everybody's. A session has seat 0 from the beginning, that of
 * the functions without a seat. Records come from files (copy ... following) or are handed over by *sources*
 * (source.h). All calls come from one thread.                                                       */
#ifndef TQL_SESSION_H
#define TQL_SESSION_H

#include "engine/base/diag.h"
#include "engine/base/status.h"
#include "engine/ingest.h"
#include "netgen/netgen.h"
#include "tquel/format/format.h"

struct tql_session;
struct tql_sensor_report; /* source.h */

/* Where results go. All calls come from the session's thread. */
struct tql_output {
  void *context;
  /* A finished result (retrieve, print, display of a stored relation). */
  void (*rows)(void *context, const struct tql_rows *rows);
  /* Text of help, explain, counts of copy. Ends with a newline. */
  void (*text)(void *context, const char *text);
  /* A standing display: rows as they come. */
  void (*live)(void *context, const char *name, const struct net_layout *layout,
               const union net_slot *row, uint8_t marks, net_chronon checkpoint);
  /* A standing display of NAME ends: somebody else has destroyed the relation. NULL: need not be said. */
  void (*live_over)(void *context, const char *name);
  /* What a standing display shows was made without records that are not there: DIAG. NULL: need not be said. */
  void (*live_lacks)(void *context, const struct base_diag *diag);
  /* --timing: one line a statement, without newline. NULL: not wanted. */
  void (*timing)(void *context, const char *line);
};

struct tql_session_options {
  const char *path;           /* NULL: in memory */
  enum net_timeline timeline; /* of a new database */
  bool timeline_given;        /* then an existing database must agree */
  bool readonly;
  bool rules_off;       /* all optimiser rules (tests) */
  uint32_t batch_rows;  /* 0: the default */
  bool checked;         /* networks look at the order of all rows (tests) */
  bool stdin_is_script; /* `following` "-" is then an error */
  bool explain_only;    /* bind and explain, run nothing */
  bool check_only; /* what is wrong with relations is not warned of: tql_session_check says it */
  size_t
      memory; /* bytes that a statement may take, if its seat does not say; 0: half the machine's */
  size_t
      memory_total; /* bytes that the process may have in all, as far as statements go; 0: no limit */
  int64_t time_limit; /* ns that a statement may take, if its seat does not say; 0: no limit */
  uint64_t log_limit; /* bytes of the database's write-ahead log; 0: 256 MiB */
  /* May another process bring much of it into the file (tql_bring_in)? True: it does. NULL: none can, and this is no
   * server: nobody waits while it is busy. */
  bool (*bring_in)(void *context);
  /* Is PROCESS one of those that tql_session_watch_log ends before the log comes to its limit? NULL: none is. */
  bool (*is_own)(void *context, long process);
  void *context;
};

/* Opens or creates the database. BASE_OK, or BASE_USER/BASE_SYSTEM after a diagnostic. */
enum base_status tql_session_open(const struct tql_session_options *options,
                                  struct base_diag_sink *diags,
                                  struct tql_session **ret) BASE_MUST_USE;
/* Looks for all that is wrong with the database, which was opened for reading only: the file, the catalogue, rows,
 * and whether derived relations are what their definitions compute now. FOUND gets what is wrong, a line each, about
 * SUBJECT: a relation, a table, "file" or "schema". It is one state of the database that is looked at, also where a
 * server writes. BASE_OK: all was looked at; else it was reported why not.                             */
enum base_status tql_session_check(struct tql_session *session,
                                   void (*found)(void *context, const char *subject,
                                                 const char *text),
                                   void *context) BASE_MUST_USE;
/* In a process that has no session: brings the write-ahead log of the database PATH into its file. */
void tql_bring_in(const char *path);
/* Bytes of the database's file, and those of them that hold nothing; *RET_MUCH: they are worth a word. */
enum base_status tql_session_space(struct tql_session *session, uint64_t *ret_bytes,
                                   uint64_t *ret_unused, bool *ret_much) BASE_MUST_USE;
/* Writes the file anew without them. Of a session that writes, before it does anything else. */
enum base_status tql_session_compact(struct tql_session *session) BASE_MUST_USE;
/* Of a session that reads: a statement that is in the way of a write-ahead log near its limit fails. To be called now and
 * then while one runs. */
void tql_session_watch_log(struct tql_session *session);
/* Commits what is durable, closes. NULL is accepted. */
void tql_session_close(struct tql_session *session);

/* Runs the statements of TEXT in order; each is atomic with all that follows from it. The first error
 * stops (earlier statements stay). NAME and FIRST_LINE are for positions. SINGLE_TRANSACTION: all or
 * nothing. BASE_OK, BASE_USER, BASE_SYSTEM, BASE_CANCEL.                                            */
enum base_status tql_session_run(struct tql_session *session, const char *name, int first_line,
                                 const char *text, size_t length, const struct tql_output *output,
                                 bool single_transaction) BASE_MUST_USE;

/* A relation that the session's own user displays; NULL: none. */
const char *tql_session_display(const struct tql_session *session);
/* Has the session live feeds? Runs them until all have ended or the user interrupts (BASE_CANCEL);
 * standing displays print meanwhile. TIMEOUT_MS >= 0: returns BASE_AGAIN after that time.            */
bool tql_session_has_feeds(const struct tql_session *session);
/* Is there anything to follow: a feed that has not ended, a display of what clocks alone say? */
bool tql_session_goes_on(struct tql_session *session);
enum base_status tql_session_follow(struct tql_session *session, const struct tql_output *output,
                                    int timeout_ms) BASE_MUST_USE;

/* After running scripts with options.explain_only: all queries seen, as one network. Text: initial
 * network, what the rules did, final network; dot and json: the final network. In it stands what the
 * queries of the database would share. BASE_USER, BASE_SYSTEM: these cannot be had; it has been reported. */
enum base_status tql_session_explained(struct tql_session *session, enum ng_explain_format format,
                                       struct base_buffer *out) BASE_MUST_USE;

/* Forces a durable commit of what feeds and sources brought. */
enum base_status tql_session_commit(struct tql_session *session) BASE_MUST_USE;

/* --- a server's loop */

/* What is to be done now, without waiting: reads feeds, shows what standing displays have to show, passes
 * checkpoints on, commits what has been open for long enough (set durable). To be called after statements, too:
 * it is then that sensors hear what they are to do. An error: what was not committed is taken back, and all
 * sources are over (tql_source_is_over), so that they come again and repeat it.                       */
enum base_status tql_session_turn(struct tql_session *session) BASE_MUST_USE;
/* In how many ns from now a turn is due though nothing comes; INT64_MAX: never. */
int64_t tql_session_due(struct tql_session *session);
/* What to poll for reading so as to know that a turn is due; returns how many there are, writes CAPACITY at
 * most. */
size_t tql_session_descriptors(const struct tql_session *session, int *ret, size_t capacity);
/* The table of the strings in rows. Ids are good until the next turn, those that MARK marks longer
 * (base_strings_mark; called before strings that nobody holds are forgotten). */
struct base_strings *tql_session_string_table(struct tql_session *session);
void tql_session_on_sweep(struct tql_session *session,
                          void (*mark)(void *context, struct base_strings *strings), void *context);

/* --- seats */

struct tql_seat;
struct tql_seat_options {
  const char *user;                  /* for permits */
  bool owner;                        /* may do everything; others what permits allow */
  bool readonly;                     /* statements that change something are refused */
  bool files;                        /* may have files read and written: copy */
  const char *directory;             /* of relative paths; NULL: the process's */
  const struct tql_output *displays; /* where standing displays go, as long as the seat is there */
  int64_t start, now;                /* ns: when it came, and what `now` is; 0: as the clock says */
};
/* OPTIONS is copied, but for the displays' context. Its time zone is that of the process. */
struct tql_seat *tql_seat_new(struct tql_session *session, const struct tql_seat_options *options);
/* The time zone of its statements, as net_zone_read takes it; LENGTH 0: UTC. False: it is none. */
bool tql_seat_set_zone(struct tql_seat *seat, const void *bytes, size_t length);
/* That zone, and when it came and its last statement began. */
const struct net_time_context *tql_seat_time(const struct tql_seat *seat);
/* Its displays, variables and settings go. NULL is accepted. */
void tql_seat_free(struct tql_seat *seat);
/* As tql_session_run. What is said of the text in diagnostics is good until the seat's next call. */
enum base_status tql_seat_run(struct tql_seat *seat, const char *name, int first_line,
                              const char *text, size_t length, const struct tql_output *output,
                              bool single_transaction) BASE_MUST_USE;
/* As tql_seat_run, of the statements of TEXT from number FIRST on (0: the first), COUNT at most. With a patience
 * (tql_seat_patience), BASE_AGAIN: statement RET->next would take longer, and is as if it had not begun. */
struct tql_rest {
  size_t next;     /* the first statement that was not done */
  bool shows_rows; /* BASE_AGAIN: it has a result, and not a text */
  bool
      awaits; /* BASE_AGAIN: before it can be done, checkpoints must come (await.c), and it took no time */
  int64_t now; /* ns: what `now` was in it */
};
struct tql_part {
  const char *name;
  int first_line;
  const char *text;
  size_t length;
  bool single_transaction;
  size_t first, count;
  int64_t now; /* ns: what `now` is in the first statement; 0: as of the seat */
  bool
      may_wait; /* with a patience: BASE_AGAIN, too, where checkpoints are behind what it names of time */
};
enum base_status tql_seat_run_part(struct tql_seat *seat, const struct tql_part *part,
                                   const struct tql_output *output,
                                   struct tql_rest *ret) BASE_MUST_USE;
/* From now on statements that only look (retrieve without a name, print, explain analyze) and show nothing
 * for NS are given back, outside of transactions; 0: none. Somebody must ask tql_seat_is_impatient as they run
 * (base_env_interrupt_source): true: it is time. */
void tql_seat_patience(struct tql_seat *seat, int64_t ns);
bool tql_seat_is_impatient(struct tql_seat *seat);
/* Bytes of memory that a statement of the seat may take; SIZE_MAX: as many as there are. */
size_t tql_seat_memory(const struct tql_seat *seat);
/* BYTES of options.memory_total are used by others. How many are left for a statement; SIZE_MAX: no limit. */
void tql_session_lend_memory(struct tql_session *session, size_t bytes);
size_t tql_session_memory_left(const struct tql_session *session);
/* Appends statements that give another session's seat the variables, settings and rules of this one. */
void tql_seat_text(struct tql_seat *seat, struct base_buffer *out);
/* Has the seat standing displays? Ends them all. */
bool tql_seat_has_displays(const struct tql_seat *seat);
void tql_seat_stop_displays(struct tql_seat *seat);
/* May USER, who is not the owner, do OPERATION (append, retrieve, ...) with all domains and tuples of RELATION?
 * For who feeds a relation without a seat. */
bool tql_session_may(struct tql_session *session, const char *user, const char *operation,
                     const char *relation);
/* As the functions of the session below, as far as the seat's user may know it (permits.c). */
struct tql_sensor_report;
void tql_seat_each_relation(struct tql_seat *seat, void (*on_name)(void *context, const char *name),
                            void *context);
void tql_seat_each_variable(struct tql_seat *seat, void (*on_name)(void *context, const char *name),
                            void *context);
void tql_seat_each_domain(struct tql_seat *seat, const char *variable_or_relation,
                          void (*on_name)(void *context, const char *name), void *context);
bool tql_seat_describe(struct tql_seat *seat, const char *name, struct base_buffer *out);
bool tql_seat_describe_nodes(struct tql_seat *seat, const char *name, struct base_buffer *out);
void tql_seat_describe_sensors(struct tql_seat *seat, const struct tql_sensor_report *reports,
                               size_t report_count, struct base_buffer *out);

/* --- looking */

struct base_diag_sink *tql_session_diags(struct tql_session *session);
enum net_timeline tql_session_timeline(const struct tql_session *session);
const struct base_strings *tql_session_strings(const struct tql_session *session);

/* For completion and \d. */
void tql_session_each_relation(struct tql_session *session,
                               void (*on_name)(void *context, const char *name), void *context);
void tql_session_each_variable(struct tql_session *session,
                               void (*on_name)(void *context, const char *name), void *context);
void tql_session_each_domain(struct tql_session *session, const char *variable_or_relation,
                             void (*on_name)(void *context, const char *name), void *context);
/* Appends what \d shows: one line a relation, or NAME in detail; false: no such relation. */
bool tql_session_describe(struct tql_session *session, const char *name, struct base_buffer *out);
/* Appends what \dn shows: the nodes of NAME, NULL: of all relations, with their figures, as they are in
 * the live network or as they were written last; nothing where there are none. False: no such relation. */
bool tql_session_describe_nodes(struct tql_session *session, const char *name,
                                struct base_buffer *out);

#endif
