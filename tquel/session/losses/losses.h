/* What may be missing of what is read: records that were lost on the way, and tuples that were removed because they were
 * old; and what that makes of an answer.
 *
 * It is known here what is lost and which tuples that leaves certain; how a query runs is not. */
#ifndef TQUEL_SESSION_LOSSES_H
#define TQUEL_SESSION_LOSSES_H

#include "tquel/session/session_impl.h"

/* --- doubt.c: what was lost of what a retrieve or print reads */
struct session_doubt;
/* What was lost of RELATION, or of what it is made of. */
void session_describe_losses(struct tql_session *session, struct session_relation *relation,
                             struct base_buffer *out);
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
  return relation->view || relation->derived.looked_through;
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

/* --- filtered.c: what was left out where it arose, as nobody asked for it; who counts that (ng_inputs.counts) */

/* ... in a network that is run once. CONTEXT: the session. */
enum base_status session_count_once(void *context, const struct ng_relation *ng,
                                    struct net_node *node) BASE_MUST_USE;
/* ... in the live network, where NODE is told of what comes, too. */
enum base_status session_count_live(void *context, const struct ng_relation *ng,
                                    struct net_node *node) BASE_MUST_USE;
/* FILTERED, more than there were, to those of the live network. */
void session_pass_filtered(struct tql_session *session, const struct st_filtered *filtered);
/* Calls EACH for what was left out of RELATION, if sensors make its records. */
enum base_status session_each_filtered(
    struct tql_session *session, const struct session_relation *relation, void *context,
    void (*each)(void *context, const struct st_filtered *filtered)) BASE_MUST_USE;
/* Says of what QUERY, or RELATION (one of both is NULL), reads that records were left out where they arose. */
enum base_status session_say_filtered(struct tql_session *session, const struct ng_query *query,
                                      struct session_relation *relation) BASE_MUST_USE;
void session_describe_filtered(struct tql_session *session, const struct session_relation *relation,
                               struct base_buffer *out);
/* Of each report; the caller frees it. */
uint64_t *session_count_filtered(struct tql_session *session,
                                 const struct tql_sensor_report *reports, size_t report_count);

/* --- missing.c: aggregates over what may be missing, nearest partners among it */
/* *QUERY becomes one whose aggregates are not definite where what doubt.c knows may be missing of what they count, nor pairs
 * of which it may be between (set sequence). In the statement's arena. */
enum base_status session_doubt_query(struct tql_session *session,
                                     const struct ng_query **query) BASE_MUST_USE;
/* The tuples of RELATION, if such a query has it for that; else NULL. */
const struct session_given *session_missing_of(const struct tql_session *session,
                                               const struct ng_relation *relation);
void session_end_missing(struct tql_session *session);

/* --- incomplete.c: what was old and is gone */
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
/* Warns once in a statement that tuples of RELATION are gone; of all that PLAN reads, if it asks for such a time. */
void session_warn_incomplete(struct tql_session *session, struct session_relation *relation);
void session_warn_plan(struct tql_session *session, const struct ng_plan *plan);

#endif
