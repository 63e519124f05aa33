/* What is durable together, and how long: groups and transactions, what is taken back, and what goes on with the database
 * between statements: rows of the log, what is old, what was destroyed, time itself.
 *
 * Whose records they are, and which statement it was, is not known here. */
#ifndef TQUEL_SESSION_DURABLE_H
#define TQUEL_SESSION_DURABLE_H

#include "tquel/session/session_impl.h"

/* --- transaction.c */
enum base_status session_begin(struct tql_session *session) BASE_MUST_USE;
/* Commits when STATUS is BASE_OK, else rolls back and reloads; returns what it came to. */
enum base_status session_end(struct tql_session *session, enum base_status status) BASE_MUST_USE;

/* --- group.c */
enum base_status session_begin_group(struct tql_session *session) BASE_MUST_USE;
enum base_status session_commit_group(struct tql_session *session) BASE_MUST_USE;
/* Rolls the group back, reads the catalogue again, and has feeds and sources bring again what the group had. */
void session_take_back(struct tql_session *session);

/* --- reload.c */
/* Relations as the database has them; what lasts finds its relations again by name. */
enum base_status session_load_catalogue(struct tql_session *session) BASE_MUST_USE;

/* --- pace.c: time goes on, for clocks alone */
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

/* --- retention.c, aging.c: what is old goes */
/* Destroys what was to be kept until a time that has passed. */
enum base_status session_expire(struct tql_session *session) BASE_MUST_USE;
/* The youngest that is past its time and can go: what is computed from a relation goes before it. NULL: there is none. */
struct session_relation *session_next_expired(struct tql_session *session);
/* The same, while the session goes on: a slice of it, some ROWS of one relation. *RET_ANY: there was something to do. */
enum base_status session_expire_some(struct tql_session *session, size_t rows,
                                     bool *ret_any) BASE_MUST_USE;
void session_describe_until(struct tql_session *session, const struct session_relation *relation,
                            struct base_buffer *out);
/* Between two groups: some rows, for some milliseconds, if it is time. */
void session_age_some(struct tql_session *session);
/* Does more come than goes, so that a group that has been open for OPEN_NS is to be committed, as what is old waits? */
bool session_age_waits(const struct tql_session *session, int64_t open_ns);
/* So many nanoseconds from NOW (monotonic) more is to be done; INT64_MAX: nothing is. */
int64_t session_age_due(const struct tql_session *session, int64_t now);
/* All that is old goes, before the session ends. */
void session_age_all(struct tql_session *session);
/* What came live and is old already is not written; before a group is committed. */
enum base_status session_age_waiting(struct tql_session *session) BASE_MUST_USE;

/* --- fold.c */
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

/* --- upkeep.c */
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

/* --- strings.c */
/* Between two turns: forgets strings that nothing holds any more, once there are twice as many. */
void session_sweep_strings(struct tql_session *session);

#endif
