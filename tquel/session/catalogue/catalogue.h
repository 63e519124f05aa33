/* The catalogue in memory: which relations there are, what they are derived from, and what analysis sees of them.
 *
 * The ground floor of the session: everything else stands on it, and it calls nothing else of the session. */
#ifndef TQUEL_SESSION_CATALOGUE_H
#define TQUEL_SESSION_CATALOGUE_H

#include "storage/storage.h"
#include "tquel/analyse/analyse.h"
#include "tquel/lang/parse.h"
#include "tquel/session/session.h"

struct session_relation;
struct session_unusable;

/* --- relations.c */
struct session_relation *session_find(struct tql_session *session, const char *name);
struct session_relation *session_of(struct tql_session *session, const struct ng_relation *ng);
/* Adds a relation to the catalogue in memory; layouts and names are copied. */
struct session_relation *session_add_relation(struct tql_session *session,
                                              const struct st_relation *relation);
void session_remove_relation(struct tql_session *session, struct session_relation *relation);
/* Frees what RELATION has, which is in the catalogue no more. */
void session_relation_done(struct session_relation *relation);
bool session_is_derived(const struct session_relation *relation);
enum ng_relation_kind session_kind_of(enum st_kind kind);
bool session_is_sampled(const struct session_relation *relation);
/* Is it made from records: traced, or sampled? */
bool session_has_records(const struct session_relation *relation);
/* The tuples of RELATION that are not over before TIME. */
struct net_wanted session_not_over_before(const struct session_relation *relation,
                                          net_chronon time);
/* The layout that rows added to RELATION have: records of a traced relation, else tuples. */
const struct net_layout *session_write_layout(const struct session_relation *relation);
/* The slots of KEY in rows of LAYOUT, the relation's own or that of its records, with room for one more: the caller frees
 * them. */
uint32_t *session_key_slots(const struct net_layout *layout, const struct net_key *key);
/* Does RELATION depend on OTHER, directly or not? */
bool session_depends(struct tql_session *session, const struct session_relation *relation,
                     const struct session_relation *other);
/* All that depends on RELATION is to be computed anew when the live network is built. */
void session_mark_stale(struct tql_session *session, const struct session_relation *relation);
/* Does a relation that is live have something to do with RELATION, which is derived? */
bool session_depends_on_live(struct tql_session *session, const struct session_relation *relation);
/* ... or one that is announced, whose sensors are switched on for those who read it? */
bool session_may_be_fed(struct tql_session *session, const struct session_relation *relation);
/* Does somebody display RELATION, or did until now? */
bool session_is_displayed(const struct tql_session *session,
                          const struct session_relation *relation);
/* Is READER a standing query, or a view that somebody looks at? */
bool session_stands(const struct tql_session *session, const struct session_relation *reader);
/* Do RELATION's tuples depend on which sensors are on? */
bool session_says_switches(struct tql_session *session, const struct session_relation *relation);
/* It is no more asked for as a whole. */
void session_stop_asking(struct tql_session *session, struct session_relation *relation);
/* "1 hour", "nothing", on the abstract timeline chronons. */
void session_print_age(const struct tql_session *session, struct base_buffer *out, int64_t age);
/* Its tuples are kept for AGE; AGES false: for ever. Nothing is stored. */
void session_set_age(struct tql_session *session, struct session_relation *relation, bool ages,
                     int64_t age);
/* RELATION has come to CHECKPOINT, by somebody's promise: if that is finite, it is remembered. */
enum base_status session_note_passed(struct tql_session *session, struct session_relation *relation,
                                     net_chronon checkpoint) BASE_MUST_USE;
/* For ng_inputs.passed; CONTEXT is the session. */
net_chronon session_passed(void *context, const struct ng_relation *ng);
/* NULL: NAME is none that can only be destroyed (unusable.h). */
const struct session_unusable *session_find_unusable(const struct tql_session *session,
                                                     const char *name);

/* --- system.c: Late, Rejected, Lost, SensorCost, and Clock, which says how far time has come */
bool session_is_system_name(const char *name);
/* Is it none of the system's own relations, or has it their domains? */
bool session_is_as_made(const struct st_relation *relation);
/* A relation that the system keeps, made at first use; NULL after a diagnostic. */
struct session_relation *session_system_relation(struct tql_session *session, const char *name);
/* The same, as somebody speaks of it: there, if only empty. NULL: it is none, or cannot be made here. */
struct session_relation *session_make_mentioned(struct tql_session *session, const char *name);

/* --- scope.c */
/* The scope in which a statement of this session is analysed. HIDDEN: a name that counts as free. */
struct session_scope {
  struct tql_session *session;
  const char *hidden;
  struct tql_scope scope;
};
void session_scope_init(struct session_scope *scope, struct tql_session *session,
                        const char *hidden);
struct tql_analysis session_analysis(struct tql_session *session,
                                     const struct session_scope *scope);
/* What a range statement ranges over; NULL after a diagnostic. */
const struct ng_relation *session_range_over(struct tql_session *session,
                                             const struct tql_analysis *analysis,
                                             const struct tql_statement *statement);
void session_set_variable(struct tql_session *session, const char *name,
                          const struct ng_relation *relation, int credibility);

/* --- settings.c: set, but for `set rule` */
enum base_status session_set(struct tql_session *session,
                             const struct tql_statement *statement) BASE_MUST_USE;
/* STATEMENT's value is one of two words: *RET is true for the second. */
enum base_status session_choose(struct tql_session *session, const struct tql_statement *statement,
                                const char *no, const char *yes, bool *ret) BASE_MUST_USE;
/* Behind it no time is believed. */
net_chronon session_future_limit(const struct tql_session *session);

/* --- definitions.c */
/* Binds TEXT, a script that the catalogue keeps, called NAME in diagnostics, in a scope of its own: what its last statement
 * asks; NULL, and *RET_OK false, after a diagnostic. DERIVED: the relation that it defines, whose name counts as free there;
 * NULL: it is a rule of integrity. NAME and TEXT outlive what is bound. */
const struct ng_query *session_bind_script(struct tql_session *session, const char *name,
                                           const char *text, const char *derived, bool *ret_ok);
/* The bound query of a derived relation (from its definition), NULL after a diagnostic. */
const struct ng_query *session_query(struct tql_session *session,
                                     struct session_relation *relation);

/* --- known_costs.c (known_costs.h has the rest) */
/* Of tql_scope: the mean of what the records of each relation cost. */
void session_costs(void *context, struct base_arena *arena, struct tql_costs *ret);

#endif
