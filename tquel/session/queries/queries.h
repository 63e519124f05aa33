/* Running a query once, over what is stored and what is known of losses; how views and origins of aggregates come into it,
 * and what standing queries need of the past.
 *
 * Nothing is written here but an origin that is fixed, and nothing is live: who keeps a network going builds it with the plans
 * of this room. */
#ifndef TQUEL_SESSION_QUERIES_H
#define TQUEL_SESSION_QUERIES_H

#include "tquel/session/session_impl.h"

/* --- run_once.c */
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
/* session_run_query with that origin, into *RET. */
enum base_status session_run_once(struct tql_session *session, const struct ng_query *query,
                                  struct tql_rows *ret) BASE_MUST_USE;
enum base_status session_rows_of(struct tql_session *session, struct session_relation *relation,
                                 struct tql_rows *ret) BASE_MUST_USE;
/* Up to when all is known that QUERY reads; of RELATION, or of what it is looked through for. */
net_chronon session_reads_until(struct tql_session *session, const struct ng_query *query);
net_chronon session_known_until(struct tql_session *session, struct session_relation *relation);
/* Is QUERY's result at a time from which on not all is known that it reads? Then nothing of it is final, whatever is
 * computed. */
bool session_is_beyond(struct tql_session *session, const struct ng_query *query);

/* --- origins.c */
/* *QUERY, which is not kept, becomes the one with the origin of its inputs as they stand. */
enum base_status session_query_once(struct tql_session *session,
                                    const struct ng_query **query) BASE_MUST_USE;
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

/* --- views.c */
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

/* --- estimates.c */
/* Tells PLAN which relations depend on others. */
void session_set_depends(struct tql_session *session, struct ng_plan *plan);
/* Transforms PLAN by the session's rules. Unless the result is KEPT, or a relation is not closed, they
 * are told what the relations contain. */
enum base_status session_transform(struct tql_session *session, struct ng_plan *plan,
                                   bool kept) BASE_MUST_USE;

/* --- await.c */
/* Is QUERY, which runs once, to be given back until what it reads is known as far as the times that have come which
 * it names (session->awaits)? If that cannot be had, it is said (TQ-0853), and the answer is no.          */
bool session_awaits(struct tql_session *session, const struct ng_query *query);
/* The checkpoint that it has for QUERY, which runs once. */
net_chronon session_paced_until(const struct tql_session *session, const struct ng_query *query);

#endif
