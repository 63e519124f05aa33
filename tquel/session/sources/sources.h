/* Sources: collectors and feeders, whose records are handed over by whoever has a connection to them. What they say is taken
 * here, in the group that is open, and checkpoints follow what they promise.
 *
 *      tql_stream ──▶ relation, found again by name whenever the catalogue has changed
 *
 * Their state is in records/bringers.h, as groups and questions need it that know nothing of connections. */
#ifndef TQUEL_SESSION_SOURCES_H
#define TQUEL_SESSION_SOURCES_H

#include "tquel/session/records/bringers.h"

struct tql_stream {
  struct tql_source *source;
  char *relation_name;
  uint64_t digest;
  const struct net_layout *layout;
  enum ng_relation_kind kind;
  struct net_key by;
  uint64_t catalogue; /* as of which RELATION, FROM and FAULT are */
  struct session_relation *relation;
  int *from; /* for each field of the relation's write layout that of LAYOUT; NULL: all the same */
  const char *fault; /* why its records cannot be taken; NULL: nothing */
};

/* --- sources.c */
/* Finds the stream's relation and how its fields come from the stream's, as the catalogue is now. */
void session_stream_resolve(struct tql_stream *stream);
/* Around what is done for a source: outside statements, in the group. leave returns STATUS; unless that is
 * BASE_OK or BASE_USER, the group has been taken back. */
enum base_status session_enter_source(struct tql_session *session) BASE_MUST_USE;
enum base_status session_leave_source(struct tql_session *session,
                                      enum base_status status) BASE_MUST_USE;
/* Checkpoints of relations follow what their sources promise. */
enum base_status session_sources_advance(struct tql_session *session) BASE_MUST_USE;
/* In how many ns they may have to, though nothing comes; NOW is the monotonic clock. */
int64_t session_sources_due(const struct tql_session *session, int64_t now);

#endif
