/* Files that go on: what a statement has followed is read in turns, judged, and its checkpoint goes forward.
 *
 * Called by who has turns to give, and by who commits what was read or takes it back; neither is known here. */
#ifndef TQUEL_SESSION_FEEDS_H
#define TQUEL_SESSION_FEEDS_H

#include "tquel/session/session_impl.h"

/* --- feed.c */
enum base_status session_add_feed(struct tql_session *session,
                                  const struct tql_statement *statement,
                                  struct session_relation *relation) BASE_MUST_USE;
void session_remove_feeds(struct tql_session *session, const struct session_relation *relation);
/* One turn of one feed; *RET_IDLE: it had nothing. */
enum base_status session_read_feed(struct tql_session *session, struct session_feed *feed,
                                   struct net_batch_builder *builder, bool *ret_idle) BASE_MUST_USE;
enum base_status session_save_positions(struct tql_session *session) BASE_MUST_USE;
void session_feeds_committed(struct tql_session *session);
/* All that was read since the last commit has been taken back, and will be read again. */
void session_rewind_feeds(struct tql_session *session);
/* Has a feed read what was taken back and is not stored again? */
bool session_feeds_hold(const struct tql_session *session);
/* Is a commit needed for a feed to go on? */
bool session_feeds_want_commit(const struct tql_session *session);
/* What was read from pipes and could not be stored is lost: says so. */
void session_report_held(struct tql_session *session);
/* Why a row of the write layout cannot be taken, NULL: it can. AHEAD: it lies behind the future limit. */
enum base_status session_row_fault(struct tql_session *session, struct session_relation *relation,
                                   const union net_slot *row, uint8_t marks, bool ahead,
                                   const char **ret) BASE_MUST_USE;

/* --- intake.c: files of others */
struct sn_form;
/* What STATEMENT, which reads a file for RELATION, says of its form, in the session's arena; NULL: nothing. */
enum base_status session_file_form(struct tql_session *session,
                                   const struct tql_statement *statement,
                                   const struct session_relation *relation,
                                   const struct sn_form **ret) BASE_MUST_USE;
/* The format that SAID names, and what stands behind it, in FORM. */
enum base_status session_said_format(struct tql_session *session, const struct tql_file_form *said,
                                     struct sn_form *form) BASE_MUST_USE;
/* The files that the statement's path stands for, in order of their names. */
enum base_status session_files_of(struct tql_session *session,
                                  const struct tql_statement *statement, const char *const **ret,
                                  size_t *ret_count) BASE_MUST_USE;
/* Says, after a file was read in FORM (may be NULL), what was made of empty periods and of times without a year. */
void session_note_read(struct tql_session *session, const struct session_relation *relation,
                       const struct sn_form *form, const struct net_read_event *event);

/* --- reader.c */
struct sn_reader_options;
enum base_status session_open_reader(struct tql_session *session,
                                     const struct tql_statement *statement,
                                     const struct sn_reader_options *options,
                                     struct net_reader **ret) BASE_MUST_USE;
/* Times that were read look like UNIT and count as nanoseconds: says so. NULL: they do not. */
void session_note_unit(struct tql_session *session, const struct session_relation *relation,
                       const char *unit);

#endif
