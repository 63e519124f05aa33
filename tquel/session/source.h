/* Who brings records to a session, and its sensors: for whoever has connections to collectors and feeders, decodes what
 * they send, and tells them what is wanted of them. */
#ifndef TQL_SOURCE_H
#define TQL_SOURCE_H

#include "tquel/session/session.h"

/* --- sources */

struct tql_source; /* one connection of somebody who brings records */
/* The records of one relation from one source, of one version of its description. */
struct tql_stream;

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

#endif
