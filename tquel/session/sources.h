/* Sources and what they bring; shared by sources.c, taking.c, described.c, pipes.c and pump.c.
 *
 *      tql_source ──▶ session_source ──▶ promises, one a relation
 *      connection     incarnation
 *         └──▶ tql_stream ──▶ relation
 *
 * A session_source is there from the first connection of an incarnation until it is gone for good and that is
 * durable; a tql_source as long as its connection. Relations are found again by name whenever the
 * catalogue has changed.                                                                            */
#ifndef TQL_SESSION_SOURCES_H
#define TQL_SESSION_SOURCES_H

#include "tquel/session/session_impl.h"

/* Nothing of RELATION before TIME will follow from this source. */
struct session_promise {
  char *relation;
  net_chronon time;
  bool given_up; /* it was gone for longer than the grace, and the relation went on without it */
  const struct session_relation *found; /* as of CATALOGUE; NULL: it is not there */
  uint64_t catalogue;
};

struct session_source {
  char *identity, *host;
  uint64_t number, durable; /* of messages: taken; committed */
  bool changed;             /* since it was saved */
  bool gone;                /* for good */
  bool holds_all;           /* of an earlier process of ours: nobody knows yet what he will bring */
  bool announces;           /* a collector: what it will bring is known only in part */
  bool doubted;             /* it has promised what nobody can know, and that was said */
  bool others;              /* not the owner's: it cannot announce anything */
  int64_t since;            /* monotonic: when he was last there, if TAKER is NULL */
  net_chronon checked;      /* the promise for all relations; NET_BEGINNING: none */
  struct tql_source *taker;
  struct session_promise *promises;
  size_t promise_count, promise_capacity;
  char **processes; /* that are there, as far as it has said */
  size_t process_count, process_capacity;
};

struct tql_source {
  struct tql_session *session;
  struct session_source *state; /* NULL: over */
  struct tql_stream **streams;
  size_t stream_count, stream_capacity;
};

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

/* A description that was announced, as relations. */
struct session_event {
  const char *name;
  enum st_kind kind;
  const struct st_domain *domains;
  size_t domain_count;
  struct net_key by;
  int holder; /* a domain; -1: none */
  const struct net_layout *layout;
};
struct session_description {
  uint64_t digest;
  const char *taskforce;
  struct base_arena *arena;
  const struct session_event *events;
  size_t event_count;
  struct session_description *next;
};

/* A sequence of records that several incarnations may read. */
struct session_pipe {
  char *process;
  uint64_t position;
  net_chronon at;        /* promised by who brought its last records */
  net_chronon handed_at; /* AT, when who reads it now came */
  uint64_t reader;       /* who that is: the hash of his identity; 0: as yet nobody, as far as is known here */
  bool changed;
};

/* --- descriptions.c */
const struct session_description *session_description_of(const struct tql_session *session,
                                                         uint64_t digest);
const struct session_event *session_event_of(const struct session_description *description,
                                             const char *name);
/* Why records of LAYOUT, KIND and key BY do not go with RELATION, in the statement's arena; NULL: they do. */
const char *session_misfit(struct tql_session *session, const struct session_relation *relation,
                           const struct net_layout *layout, enum ng_relation_kind kind,
                           const struct net_key *by);
/* ... of EVENT, in the same way. */
const char *session_event_misfit(struct tql_session *session,
                                 const struct session_relation *relation,
                                 const struct session_event *event);
/* The description with DIGEST, also where it was announced to an earlier session; NULL: there is none. */
const struct session_description *session_known_description(struct tql_session *session,
                                                            uint64_t digest);
/* Reads TEXT, of LENGTH bytes, whose digest is DIGEST, and keeps it; NULL: it is none, which was reported. */
struct session_description *session_read_description(struct tql_session *session, uint64_t digest,
                                                     const char *text, size_t length);
void session_descriptions_free(struct tql_session *session);

/* --- taskforces.c */
/* What the relation of EVENT of TASKFORCE is called, in the statement's arena or as long as the catalogue is: one that is
 * there, or that is to be created. */
const char *session_place_of(struct tql_session *session, const char *taskforce,
                             const struct session_event *event);
/* The relation NAME has been made for it: says so, if that is another name. */
void session_note_place(struct tql_session *session, const char *taskforce, const char *event,
                        const char *name);

/* --- sources.c */
/* Does it hold checkpoints back? NOW: monotonic. */
bool session_source_counts(const struct tql_session *session, const struct session_source *state,
                           int64_t now);
struct session_promise *session_promise_of(struct session_source *source, const char *relation);
/* Finds the stream's relation and how its fields come from the stream's, as the catalogue is now. */
void session_stream_resolve(struct tql_stream *stream);

/* --- pipes.c */
enum base_status session_pipes_save(struct tql_session *session) BASE_MUST_USE;
void session_pipes_clear(struct tql_session *session);
/* Into Lost: COUNT records of RELATION ("": who knows) from SOURCE. */
enum base_status session_put_lost(struct tql_session *session, const char *relation,
                                  const char *source, const char *cause, uint64_t count,
                                  struct net_instant from, struct net_instant to) BASE_MUST_USE;

#endif
