/* The live network: standing queries over what is fed. It is built and taken down here, records that a checkpoint has passed go
 * into it, and what it cannot follow is computed anew.
 *
 * Who brings records, who commits, and which statement it was is not known here. */
#ifndef TQUEL_SESSION_LIVE_H
#define TQUEL_SESSION_LIVE_H

#include "tquel/session/session_impl.h"

/* --- live.c */
/* Makes RELATION live: the network is (re)built and replayed from the store. */
enum base_status session_make_live(struct tql_session *session,
                                   struct session_relation *relation) BASE_MUST_USE;
/* The same, but the network is left to session_ensure_live. */
enum base_status session_wake(struct tql_session *session,
                              struct session_relation *relation) BASE_MUST_USE;
/* Builds the live network if some relation is live and it is not there. */
enum base_status session_ensure_live(struct tql_session *session) BASE_MUST_USE;
void session_drop_live(struct tql_session *session);
/* Is RELATION in the live network, with a sink that shows to whoever displays it, also later? */
bool session_has_displays_sink(const struct tql_session *session,
                               const struct session_relation *relation);
/* Derived relations are as far as their networks are. */
void session_follow_checkpoints(struct tql_session *session);

/* --- advance.c */
/* Advances the relation's checkpoint: what it passes goes into store and network. */
enum base_status session_advance(struct tql_session *session, struct session_relation *relation,
                                 net_chronon checkpoint) BASE_MUST_USE;
enum base_status session_save_pending(struct tql_session *session) BASE_MUST_USE;

/* --- corrections.c: before the checkpoint, and no broken promise */
enum base_status session_take_round(struct tql_session *session, struct session_relation *relation,
                                    const struct net_read_event *event,
                                    net_chronon limit) BASE_MUST_USE;
/* Rows before the checkpoint that are no broken promise (a statement's own, the last time of a feed that
 * ended): they go into the table, and what depends on them is computed anew.                        */
enum base_status session_correct(struct tql_session *session, struct session_relation *relation,
                                 const struct net_rows *rows) BASE_MUST_USE;
/* An end record of a feed or file: closes what it names. */
enum base_status session_take_end(struct tql_session *session, struct session_relation *relation,
                                  const struct net_read_event *event,
                                  net_chronon limit) BASE_MUST_USE;

/* --- recompute.c */
/* Computes a derived relation anew from its inputs. */
enum base_status session_recompute(struct tql_session *session,
                                   struct session_relation *relation) BASE_MUST_USE;
/* ... all derived relations that depend on RELATION, in order. */
enum base_status session_recompute_dependants(
    struct tql_session *session, const struct session_relation *relation) BASE_MUST_USE;
/* What is derived from Late and Rejected, if rows have come into them. */
enum base_status session_recompute_diverted(struct tql_session *session) BASE_MUST_USE;

/* --- history.c: how far back what is needed */
/* Tuples of RELATION that were over before *RET may go; NET_BEGINNING: none. */
enum base_status session_keep_limit(struct tql_session *session, struct session_relation *relation,
                                    net_chronon *ret) BASE_MUST_USE;
/* Sets the horizon of each relation: what of it was over before that, no replay needs. While all that is derived stands as
 * it was committed. */
enum base_status session_find_horizons(struct tql_session *session) BASE_MUST_USE;
/* Refuses QUERY, a standing query NAME, if it needs all tuples of a relation that is kept for an age. */
enum base_status session_check_history(struct tql_session *session, const struct ng_query *query,
                                       const char *name) BASE_MUST_USE;
/* Refuses that RELATION is to be kept for an age, if a standing query over it needs all of its tuples. */
enum base_status session_check_age(struct tql_session *session,
                                   const struct session_relation *relation) BASE_MUST_USE;
/* Tuples of RELATION that were over before that are old; NET_BEGINNING: none is yet. */
net_chronon session_old_before(struct tql_session *session,
                               const struct session_relation *relation);
void session_describe_age(struct tql_session *session, struct session_relation *relation,
                          struct base_buffer *out);
/* How many tuples of RELATION are older than they are kept, MOST at most. */
int64_t session_count_old(struct tql_session *session, struct session_relation *relation,
                          int64_t most);

/* --- unbounded.c: standing queries that need memory without bound */
/* Refuses the standing query QUERY, or warns of it, if nothing bounds its state and that is not allowed. */
enum base_status session_check_bounds(struct tql_session *session,
                                      const struct ng_query *query) BASE_MUST_USE;
/* RELATION is to get a live feed: refuses it if there is such a query that depends on it, unless that query was
 * allowed when it was defined, or all are now. */
enum base_status session_check_bounds_of_dependants(
    struct tql_session *session, const struct session_relation *relation) BASE_MUST_USE;

#endif
