/* Results, and the memory they take: those of views that were looked at, in the place of their networks, and the memory of results that
 * are gone; and how much a statement may take.
 *
 * Whoever changes what is stored, or which strings there are, says so here; what is kept is good for one version of it. */
#ifndef TQUEL_SESSION_RESULTS_H
#define TQUEL_SESSION_RESULTS_H

#include "tquel/session/session_impl.h"

/* --- kept.c */
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

/* --- spare.c */
/* ROWS, which have none yet, get some, if there is any. */
void session_lend_rows(struct tql_session *session, struct net_rows *rows);
/* ROWS are gone; it is as if they had been freed. */
void session_spare_rows(struct tql_session *session, struct net_rows *rows);
void session_spares_done(struct session_spares *spares);

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

#endif
