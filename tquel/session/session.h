/* A session: a database (file or memory), tuple variables, settings, standing queries, live feeds.
 * The shell, scripts, tests and the server run statements through it.
 *
 * Several users work on one session, each on a *seat* of his own, with his own variables, settings and
 * displays; relations and standing queries are everybody's. A session has seat 0 from the beginning, that of
 * the functions without a seat. Records come from files (copy ... following) or are handed over by *sources*:
 * whoever has a connection to a collector or a feeder decodes what it sends and calls tql_source_*. All calls
 * come from one thread.                                                                             */
#ifndef TQL_SESSION_H
#define TQL_SESSION_H

#include "engine/base/diag.h"
#include "engine/base/status.h"
#include "engine/ingest.h"
#include "netgen/netgen.h"
#include "tquel/format/format.h"

struct tql_session;

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

/* --- sources */

struct tql_source; /* one connection of somebody who brings records */
struct
    tql_stream; /* the records of one relation from one source, of one version of its description */

/* Somebody is there who calls himself IDENTITY (one incarnation of a program, never used again), at HOST. If he
 * was there before (his connection broke, or this is a server that was started again), what was made durable is
 * known (tql_source_durable), and an older handle of his is over. What IDENTITY has before its last '/', if
 * anything, is a place that only one source at a time can have: those that had it before have gone for good, so
 * nothing waits for them. */
enum base_status tql_source_open(struct tql_session *session, const char *identity,
                                 const char *host, struct tql_source **ret) BASE_MUST_USE;
/* It is not the owner's: it announces nothing, so nothing waits for what it might announce, and what it says was lost of
 * a process is told apart from what others say. */
void tql_source_of_other(struct tql_source *source);
/* FOR_GOOD: he has said that he will not come again. Otherwise checkpoints wait for him for a while (set source
 * grace). SOURCE is gone in any case, and its streams. */
enum base_status tql_source_close(struct tql_source *source, bool for_good) BASE_MUST_USE;
/* The source was opened again by another connection, or a turn failed: nothing is taken any more (BASE_AGAIN);
 * the connection is to be closed. */
bool tql_source_is_over(const struct tql_source *source);

/* A remote description: its relations appear in the catalogue. BASE_USER, with a diagnostic for each, if one
 * of them does not go with a relation that is there: records of that one are rejected.                */
enum base_status tql_source_description(struct tql_source *source, uint64_t digest,
                                        const char *text, size_t length) BASE_MUST_USE;
/* The source is about to bring records of RELATION as the description DIGEST has them; 0: as the relation itself
 * is. BASE_USER after a diagnostic: there is no such relation or description, or it is derived.      */
enum base_status tql_source_relation(struct tql_source *source, const char *relation,
                                     uint64_t digest, struct tql_stream **ret) BASE_MUST_USE;
/* What rows must look like: events (event, traced, sampled relations) or periods. */
const struct net_layout *tql_stream_layout(const struct tql_stream *stream);
const char *tql_stream_relation(const struct tql_stream *stream);
enum ng_relation_kind tql_stream_kind(const struct tql_stream *stream);
const struct net_key *tql_stream_by(const struct tql_stream *stream); /* of the layout's fields */

/* The source says that PROCESS is there, or has ended: the latter needs nobody's end any more. */
void tql_source_process(struct tql_source *source, const char *process, bool there);
/* Beside NET_CLOSES: ends all entities of a traced relation whose last record has the row's Process and the names that
 * it gives (those that are not "") of the domains of the key; or, where it gives no Process, its key, whatever their process. */
#define TQL_CLOSES_ALL 8
/* COUNT rows of the stream's layout, in the order in which they came. Marks: NET_DEFINITE; NET_CLOSES ends the
 * entity of a traced relation (only the domains of the key count then, and of sensors' relations Process) or the open period of a period relation that
 * equals it in start and domains; NET_ROUND ends a round of a sampled relation. Values must fit their types
 * (net_value_check), else the row is rejected. Ends that sensors send are never late: one that comes behind a
 * checkpoint is taken for the checkpoint's time. */
enum base_status tql_source_rows(struct tql_stream *stream, const union net_slot *rows,
                                 const uint8_t *marks, size_t count) BASE_MUST_USE;
/* {"end": T, DOMAINS}, as a reader gives it (engine/ingest.h). */
enum base_status tql_source_end(struct tql_stream *stream,
                                const struct net_read_event *event) BASE_MUST_USE;
/* Nothing of STREAM (NULL: of all streams and descriptions of the source) before TIME will follow. */
enum base_status tql_source_check(struct tql_source *source, struct tql_stream *stream,
                                  net_chronon time) BASE_MUST_USE;
/* A record that the source itself found to be bad. STREAM may be NULL. */
enum base_status tql_source_reject(struct tql_source *source, struct tql_stream *stream,
                                   net_chronon at, const char *reason, const char *record,
                                   size_t record_length) BASE_MUST_USE;
/* Of PROCESS (or, "", of the source itself) TOTAL records of RELATION ("": who knows) were lost by CAUSE since it
 * began, the last ones between FROM and TO. */
enum base_status tql_source_loss(struct tql_source *source, const char *process,
                                 const char *relation, const char *cause, uint64_t total,
                                 net_chronon from, net_chronon to) BASE_MUST_USE;

/* COUNT records of STREAM by PROCESS were left out where they arose, as nobody asked for them; they happened from SINCE
 * to UNTIL. */
enum base_status tql_source_filtered(struct tql_source *source, struct tql_stream *stream,
                                     const char *process, uint64_t count, net_chronon since,
                                     net_chronon until) BASE_MUST_USE;

/* Pipes: sequences of records that several incarnations of a source may read, one after the other. PIPE belongs
 * to PROCESS, and what comes next of it has the number POSITION or a greater one: whatever before it has not
 * come here is lost, by the cause "collector".                                                       */
enum base_status tql_source_pipe(struct tql_source *source, uint64_t pipe, const char *process,
                                 uint64_t position) BASE_MUST_USE;
/* The records FIRST, FIRST + 1, ... (COUNT of them) of PIPE have come. *RET_KNOWN: how many of them, from the first
 * on, were here before and are not to be taken again. What is missing before FIRST is lost. PIPE 0: none. */
enum base_status tql_source_sequence(struct tql_source *source, uint64_t pipe, uint64_t first,
                                     uint64_t count, uint64_t *ret_known) BASE_MUST_USE;

/* All data messages up to NUMBER were taken. The last one that is durable, with all that followed from it. */
void tql_source_number(struct tql_source *source, uint64_t number);
uint64_t tql_source_durable(const struct tql_source *source);

/* --- sensors */

/* How often collectors are to say what is past, in ns, as `set checkpoint every` has it; 0: as they like. */
int64_t tql_session_checkpoint_every(const struct tql_session *session);

/* Calls EACH for the announced relations whose sensors may be sampled when they make too much (overload.c), so far as
 * that has changed since it was asked last; ALL: for all of which it was so then. It changes with what is asked, and with
 * settings: then tql_session_asks is another number.                                                    */
void tql_session_each_overload(struct tql_session *session, bool all,
                               void (*each)(void *context, const char *relation, bool sampled),
                               void *context);
uint64_t tql_session_asks(const struct tql_session *session);

/* Has the relation called NAME sensors? NULL: there is none of that name; else what it is called, and
 * *RET_ANNOUNCED: a program has announced it.                                                        */
const char *tql_session_sensors_of(struct tql_session *session, const char *name,
                                   bool *ret_announced);

/* Which relation EVENT of a program of TASKFORCE is of: its name, EVENT itself where nothing is known of it. */
const char *tql_session_relation_of(const struct tql_session *session, const char *taskforce,
                                    const char *event);
/* Are there task forces whose EVENT is of a relation that is called otherwise? */
bool tql_session_is_ambiguous(const struct tql_session *session, const char *event);
/* What collectors know the announced relation NAME by: TASKFORCE.EVENT, or NAME for the events of all. */
void tql_session_put_sensor_name(struct tql_session *session, const char *name,
                                 struct base_buffer *out);

/* SENSOR hears which records of announced relations somebody asks for (engine/ingest.h), from the next turn on;
 * it lives until the session is closed or another is set. Values of watches that are strings are ids of the
 * session's table. NULL: nobody.                                                                     */
void tql_session_on_watch(struct tql_session *session, struct net_sensor *sensor);
/* What a collector says of one sensor in one process; or, with no relation, of a process: what it is (program,
 * collector, server) for its state, and for the cost the processor time that it takes, in ns a second. */
enum {
  TQL_SENSOR_PROCESS,
  TQL_SENSOR_RELATION,
  TQL_SENSOR_OBJECT, /* "": the process's own switch */
  TQL_SENSOR_STATE, /* on, off, always, "objects: N", "sampled ...", "no such object" (which somebody waits for) */
  TQL_SENSOR_GENERATED,
  TQL_SENSOR_LOST,
  TQL_SENSOR_RATE,    /* records a second */
  TQL_SENSOR_COST,    /* ns a record, "" unknown */
  TQL_SENSOR_ESCAPED, /* records that had a text which was no UTF-8; "" or "0": none */
  TQL_SENSOR_TRIGGERS, /* how often another relation's tuples have had samples taken; "" or "0": never */
  TQL_SENSOR_COALESCED, /* ... before the sample for the one before was taken */
  TQL_SENSOR_CELLS
};
struct tql_sensor_report {
  const char *cells[TQL_SENSOR_CELLS];
};
/* What sensors cost goes into the relation SensorCost, as far as it is news: to be called when a collector has
 * reported. Not on the abstract timeline. */
enum base_status tql_session_sensor_costs(struct tql_session *session,
                                          const struct tql_sensor_report *reports,
                                          size_t report_count) BASE_MUST_USE;
/* The width of a column of \ds or \dr, WIDTH so far, with CELL in it, too. A longer one than most moves its line only: what one
 * program says makes no other line long. */
int tql_cell_width(int width, const char *cell);
/* Appends what \ds shows: each sensor that is reported, or announced and reported by nobody, and who asks; what is
 * watched, and whether it is there; which relations lag, and for whom they wait. */
void tql_session_describe_sensors(struct tql_session *session,
                                  const struct tql_sensor_report *reports, size_t report_count,
                                  struct base_buffer *out);

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
