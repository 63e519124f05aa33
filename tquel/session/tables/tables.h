/* What stands in the database beside a relation's rows as they came, and how rows get there and back.
 *
 * Knows the catalogue, and nothing of who has what written: no live network, no statement, no feed. */
#ifndef TQUEL_SESSION_TABLES_H
#define TQUEL_SESSION_TABLES_H

#include "tquel/session/session_impl.h"

/* --- record_text.c */
void session_print_row(struct tql_session *session, struct base_buffer *out,
                       const struct net_layout *layout, const union net_slot *row);
/* EVENT, an end record with the domains of LAYOUT, as it came; or, of a source that sends no text, as it would have. */
void session_print_end(struct tql_session *session, struct base_buffer *out,
                       const struct net_layout *layout, const struct net_read_event *event);

/* --- table.c */
/* What became of rows that were put into a table, so far as it is not what one would think. */
struct session_written {
  size_t equal; /* were there before, or came twice; not of what periods are made from */
  /* Records of a traced relation that make no tuple, as others of the entity follow at the same time; tuples that were
   * there, and are no more as records came at the time of their start. The first of the former, and what follows it. */
  size_t superseded, replaced;
  size_t first, next;
};
/* Writes rows straight into the table; of a traced relation the periods of the entities concerned. *RET, which may be
 * NULL, is added to. */
enum base_status session_put(struct tql_session *session, struct session_relation *relation,
                             const struct net_rows *rows,
                             struct session_written *ret) BASE_MUST_USE;
/* Takes tuples REMOVED away (of a traced relation: the records that opened them) and puts rows of the
 * write layout in their place.                                                                      */
enum base_status session_revise(struct tql_session *session, struct session_relation *relation,
                                const struct net_rows *removed,
                                const struct net_rows *added) BASE_MUST_USE;

/* --- given.c */
/* The tuples of GIVEN before its checkpoint, with the domains of LAYOUT. */
struct net_source *session_open_given(const struct session_given *given,
                                      const struct net_layout *layout, uint32_t batch_rows);

/* --- samples.c */
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

/* --- statistics.c: tq_node_stats */
/* Writes the figures of the live network's nodes that have fired since; before every commit. */
enum base_status session_save_node_stats(struct tql_session *session) BASE_MUST_USE;
/* Those of a derived relation that was computed in NETWORK. */
enum base_status session_keep_node_stats(struct tql_session *session,
                                         const struct net_network *network) BASE_MUST_USE;
/* The live network is gone. */
void session_forget_node_stats(struct tql_session *session);

#endif
