/* Statements, a file a kind: analysed, refused or carried out, in a transaction if they write.
 *
 * Whoever has a statement to run calls these (execute.c); they call all the rooms below and not each other, but for what is
 * written. */
#ifndef TQUEL_SESSION_STATEMENTS_H
#define TQUEL_SESSION_STATEMENTS_H

#include "tquel/session/session_impl.h"

/* --- statement.c: what all have */
/* The statement that runs begins to show what it has found: it is not given back any more. */
void session_has_shown(struct tql_session *session);
void session_say(struct tql_session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- retrieve.c */
/* The derived relation or view that STATEMENT defines by QUERY, without its definition. In ARENA. */
struct st_relation session_derived(struct base_arena *arena, const struct tql_statement *statement,
                                   const struct ng_query *query);
enum base_status session_retrieve(struct tql_session *session,
                                  const struct tql_statement *statement) BASE_MUST_USE;
enum base_status session_print(struct tql_session *session,
                               struct session_relation *relation) BASE_MUST_USE;
/* What losses leave uncertain may last beyond all that is known by now; then results of it are final later than the
 * others, and are not there, nor what waits behind them: says so of ROWS. */
void session_report_not_final(struct tql_session *session, const struct ng_query *query,
                              struct session_relation *relation, const struct tql_rows *rows);

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

/* --- write.c: append, copy, checkpoint */
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
enum base_status session_append(struct tql_session *session,
                                const struct tql_statement *statement) BASE_MUST_USE;
enum base_status session_copy(struct tql_session *session,
                              const struct tql_statement *statement) BASE_MUST_USE;
enum base_status session_checkpoint(struct tql_session *session,
                                    const struct tql_statement *statement) BASE_MUST_USE;

/* --- of_file.c: create R from, range of r is file; RUN runs statements, *RET lives as long as the statement */
typedef enum base_status (*session_run)(struct tql_session *, const struct tql_statement *);
enum base_status session_make_of_file(struct tql_session *session, const struct tql_statement *,
                                      session_run run, const char **ret) BASE_MUST_USE;

/* --- update.c: delete, replace */
enum base_status session_update(struct tql_session *session,
                                const struct tql_statement *statement) BASE_MUST_USE;

/* --- define.c: integrity and permits, and their end */
enum base_status session_define_integrity(struct tql_session *session,
                                          const struct tql_statement *statement) BASE_MUST_USE;
enum base_status session_define_permit(struct tql_session *session,
                                       const struct tql_statement *statement) BASE_MUST_USE;
enum base_status session_destroy_rules(struct tql_session *session,
                                       const struct tql_statement *statement) BASE_MUST_USE;

/* --- index.c: index, modify */
/* `tquel explain` knows indexes by their names, without those that modify makes. */
struct session_index {
  const char *name;
  struct session_index *next;
};
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

/* --- keep.c */
/* `modify R to keep AGE`, whose relation is RELATION. */
enum base_status session_modify_age(struct tql_session *session,
                                    const struct tql_analysis *analysis,
                                    struct session_relation *relation,
                                    const struct tql_statement *statement) BASE_MUST_USE;

/* --- save.c */
enum base_status session_save(struct tql_session *session,
                              const struct tql_statement *statement) BASE_MUST_USE;

/* --- rules.c: set rule */
enum base_status session_set_rule(struct tql_session *session,
                                  const struct tql_statement *statement) BASE_MUST_USE;

/* --- explain.c */
enum base_status session_explain(struct tql_session *session,
                                 const struct tql_statement *statement) BASE_MUST_USE;
/* `tquel explain`: queries and displays are gathered in one plan. DEFINES: the name of the query, if it has one, is
 * that of a relation from now on. */
enum base_status session_gather_retrieve(struct tql_session *session,
                                         const struct tql_statement *statement,
                                         bool defines) BASE_MUST_USE;
void session_gather_display(struct tql_session *session, const struct session_relation *relation);

#endif
