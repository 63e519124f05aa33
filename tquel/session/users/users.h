/* Users who work on one session: what is his own, what he may do, and what he displays, standing.
 *
 * Who runs statements asks here what he may do; who makes rows, whom to show them. No display is run here. */
#ifndef TQUEL_SESSION_USERS_H
#define TQUEL_SESSION_USERS_H

#include "tquel/session/session_impl.h"

/* --- seats.c */
/* A seat with the settings that every session begins with; the last of the session's. */
struct tql_seat *session_seat_new(struct tql_session *session);
/* SEAT, which displays nothing any more, goes. */
void session_seat_free(struct tql_seat *seat);
/* PATH, of a file that a statement names, from the seat's directory; NULL after a diagnostic: the seat may
 * not have files read or written. */
const char *session_path(struct tql_session *session, const struct tql_statement *statement);
/* Refuses what the seat may not do, whatever its user is permitted. */
enum base_status session_check_seat(struct tql_session *session,
                                    const struct tql_statement *statement) BASE_MUST_USE;

/* --- displays.c */
/* Lives as long as the live network that shows it. */
struct shown_row {
  uint64_t identity; /* of start and domains */
  uint64_t whole;    /* of all */
  net_chronon stop_lo,
      stop_hi; /* of one that was open when it was shown, from its start on; of an event, its time */
  bool definite;
};
struct session_shown {
  struct shown_row *rows; /* in the order of identity and whole */
  size_t count;
  uint64_t said;            /* a hash of what was said of losses */
  uint64_t changes, say_at; /* how often that changed; when it is said next */
};
/* The seat whose statement runs displays RELATION from now on; false: it does already. */
bool session_add_display(struct tql_session *session, const struct session_relation *relation);
/* Forgets displays that have ended; nothing of the live network shows them. */
void session_sweep_displays(struct tql_session *session);
/* Those of SEAT end. Was one of them of a view, which may be in the live network for it alone? */
bool session_stop_displays(struct tql_seat *seat);
/* RELATION was destroyed: whoever else displays it is told. */
void session_end_displays(struct tql_session *session, const char *relation);
/* COUNT records of RELATION ("": of any) are in WHERE by now: for the displays of others, of it and what it makes. */
void session_tell_displays(struct tql_session *session, const char *relation, const char *where,
                           uint64_t count);
/* Something of RELATION was lost just now. */
void session_doubt_displays_of(struct tql_session *session, const char *relation);
/* Tuples may be other than they were; LOSSES: so may what was lost, or what displays make of that. */
void session_doubt_displays(struct tql_session *session, bool losses);
/* Can a loss make tuples of RELATION uncertain that are there? Those of events are what they are. */
bool session_may_matter(struct tql_session *session, struct session_relation *relation,
                        uint64_t walk);
/* When session_show_certain is to be called next; INT64_MAX: there is nothing to show. */
int64_t session_shown_due(const struct tql_session *session);

/* --- permits.c */
/* The statement as the seat's user may run it: perhaps with a further condition. NULL after a diagnostic: he may
 * not. */
const struct tql_statement *session_permitted(struct tql_session *session,
                                              const struct tql_statement *statement);
/* Why a permit gives nobody anything, or NULL. */
const char *session_permit_fault(const struct tql_statement *permit);
/* What the user of the session's seat may know of relations beside their names; NULL: he is the owner, and may know
 * everything. It is good until the next statement. */
struct session_sight;
struct session_sight *session_sight_new(struct tql_session *session);
void session_sight_free(struct session_sight *sight);
/* Does some permit let him do something with DOMAIN (NULL: with anything) of RELATION? */
bool session_sees(struct session_sight *sight, const struct session_relation *relation,
                  const char *domain);
/* Is RULE, of whatever kind, his to know? Permits that name him are. */
bool session_sees_rule(struct session_sight *sight, const struct st_rule *rule);
/* May he retrieve all its tuples, with all domains? */
bool session_sees_all(struct session_sight *sight, const struct session_relation *relation);

#endif
