/* Records before they are tuples: whether they may be taken, those that wait for the checkpoint, and where those go that
 * are not taken.
 *
 * Whether a relation is in the live network is known here; how it is built, and who brings records, is not. */
#ifndef TQUEL_SESSION_RECORDS_H
#define TQUEL_SESSION_RECORDS_H

#include "tquel/session/session_impl.h"

struct session_sight;

/* --- waiting.c */
/* Those of RELATION that an earlier session, or a reload of the catalogue, has left. */
enum base_status session_load_pending(struct tql_session *session,
                                      struct session_relation *relation) BASE_MUST_USE;
/* Replaces the pending rows of a relation that is live. */
enum base_status session_set_pending(struct tql_session *session, struct session_relation *relation,
                                     const struct net_rows *rows) BASE_MUST_USE;
/* Finds the open tuples of a period relation anew, which end records may close: those of the table, as far as what is
 * pending does not close them, and those that are pending. */
enum base_status session_find_open_rows(struct tql_session *session,
                                        struct session_relation *relation) BASE_MUST_USE;
/* Is ROW, which closes, one that is open? */
bool session_has_open(const struct session_relation *relation, const union net_slot *row);
/* Records of an event relation that are in order, wait for the checkpoint. */
void session_add_events(struct session_relation *relation, const union net_slot *rows,
                        const uint8_t *marks, size_t count);
/* Puts one record into the relation's pending rows, or, when its time is before LIMIT (at least the
 * checkpoint), into Late.                                                                           */
enum base_status session_take_record(struct tql_session *session, struct session_relation *relation,
                                     const union net_slot *row, uint8_t marks,
                                     net_chronon limit) BASE_MUST_USE;
/* The time of a record: a close's stop, else its start. */
net_chronon session_record_time(const struct session_relation *relation, const union net_slot *row,
                                uint8_t marks);
/* NULL: EVENT, an end record, names all that tells entities of the traced or sampled RELATION apart. */
const char *session_unnamed(const struct session_relation *relation,
                            const struct net_read_event *event);

/* --- ends.c */
/* Adds to ROWS, records that go into the live network together, an end record for each entity of RELATION that
 * is open before END (a record with TQL_CLOSES_ALL) and that END says, by process and objects, or by key. */
void session_end_all(const struct session_relation *relation, const union net_slot *end,
                     struct net_rows *rows);
/* What PROCESS has open in RELATION ends at its checkpoint, or behind the last of its records that waits. */
enum base_status session_lose_process(struct tql_session *session,
                                      struct session_relation *relation,
                                      const char *process) BASE_MUST_USE;

/* --- integrity.c */
/* A rule of integrity, bound. */
struct session_rule {
  int64_t number;
  const char *condition;             /* its text */
  const struct net_program *program; /* over rows of the write layout */
};
/* Which relations' records are not to be left out as rules and permits stand. */
enum base_status session_find_whole(struct tql_session *session) BASE_MUST_USE;
/* Refuses computed values of RELATION's write layout that do not fit the types of their domains. */
enum base_status session_check_values(struct tql_session *session,
                                      struct session_relation *relation,
                                      const struct net_rows *rows) BASE_MUST_USE;
/* Refuses rows of the write layout that break a rule. */
enum base_status session_check_integrity(struct tql_session *session,
                                         struct session_relation *relation,
                                         const struct net_rows *rows) BASE_MUST_USE;
/* Reports NUMBER, that WHAT, of ROW. */
void session_report_row(struct tql_session *session, enum base_message number, const char *what,
                        const struct net_layout *layout, const union net_slot *row);
/* Is the condition of a rule true for ROW? An error in it is not. */
bool session_rule_holds(const struct net_program *program, const union net_slot *row);
/* Has RELATION rules of integrity? */
enum base_status session_has_rules(struct tql_session *session, struct session_relation *relation,
                                   bool *ret);
/* The first rule that ROW breaks, NULL: none; and the words for it. */
enum base_status session_broken_rule(struct tql_session *session, struct session_relation *relation,
                                     const union net_slot *row,
                                     const struct session_rule **ret) BASE_MUST_USE;
const char *session_rule_reason(struct base_arena *arena, const struct session_relation *relation,
                                const struct session_rule *rule);
/* Those that SIGHT sees. */
void session_describe_rules(struct tql_session *session, const struct session_relation *relation,
                            struct session_sight *sight, struct base_buffer *out);

/* --- divert.c: into Late and Rejected */
/* Into relation Late or Rejected. */
enum base_status session_divert(struct tql_session *session, const char *system_relation,
                                struct session_relation *relation, net_chronon at,
                                const char *reason, const char *record,
                                size_t record_length) BASE_MUST_USE;
/* ... of the relation called NAME, which need not be there. */
enum base_status session_divert_named(struct tql_session *session, const char *system_relation,
                                      const char *name, net_chronon at, const char *reason,
                                      const char *record, size_t record_length) BASE_MUST_USE;
/* A run-time error of RELATION's query into Rejected. It is there once, however often a restart or a
 * correction brings the same combination again.                                                    */
enum base_status session_divert_combination(struct tql_session *session,
                                            struct session_relation *relation, net_chronon at,
                                            const char *reason, const char *record,
                                            size_t record_length) BASE_MUST_USE;
/* How many tuples of Rejected are of each relation, in the order of the session's relations; the caller frees it.
 * One that cannot be read counts nothing.                                                            */
uint64_t *session_count_rejected(struct tql_session *session);
/* What is said of Late and Rejected counts what is there: the records since this was called last are, or were taken back. */
void session_settle_diverted(struct tql_session *session, bool kept);
/* COUNT records of RELATION ("": of any) were lost; 0: nobody knows how many. */
void session_note_lost(struct tql_session *session, const char *relation, uint64_t count);
/* Says, when a group was committed, that fed records were equal to others. */
void session_note_equal(struct tql_session *session);
void session_free_diverted(struct tql_session *session);

/* --- lost.c */
/* Into Lost: COUNT records of RELATION ("": who knows) from SOURCE. */
enum base_status session_put_lost(struct tql_session *session, const char *relation,
                                  const char *source, const char *cause, uint64_t count,
                                  struct net_instant from, struct net_instant to) BASE_MUST_USE;

#endif
