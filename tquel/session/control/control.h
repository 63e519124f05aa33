/* What sensors say of themselves, and what they are told: which records somebody asks for, of which process and object.
 *
 * The live network asks, and knows this room; what it is made of is not known here, nor who brings the records. */
#ifndef TQUEL_SESSION_CONTROL_H
#define TQUEL_SESSION_CONTROL_H

#include "tquel/session/session_impl.h"

/* --- control.c */
/* Is all of RELATION wanted, whatever queries say? */
bool session_wants_all(const struct tql_session *session, const struct session_relation *relation);
/* ... or some of it? */
bool session_is_asked_for(struct tql_session *session, const struct session_relation *relation);
/* The live network goes: until session_tell_sensors nothing is said. */
void session_hold_control(struct tql_session *session);
void session_tell_sensors(struct tql_session *session);
/* At the end of a turn: has the samples taken that tuples have asked for. */
void session_tell_triggers(struct tql_session *session);
/* A network is about to read what is stored; it has done so. */
void session_replay_triggers(struct tql_session *session);
void session_triggers_live(struct tql_session *session);
/* For ng_inputs.control; CONTEXT is the session. */
struct net_control *session_control_of(void *context, const struct ng_relation *relation);
void session_mark_watches(struct tql_session *session);

/* --- askers.c: who they are told for */
/* What a network has watched, from when it is built until it goes. */
struct session_ask {
  const char *relation;
  const struct net_watch_object *objects;
  uint32_t object_count;
  const struct net_node *access; /* not NULL: what this one watches, as another relation says */
};
/* For ng_inputs.watches; CONTEXT is the session. */
void session_note_watch(void *context, const char *owner, const struct ng_relation *relation,
                        const struct net_watch *watch, const struct net_node *access);
/* Those who ask for RELATION, in the words of \ds. Good as long as ARENA and until the live network goes. */
struct session_askers;
struct session_askers *session_askers_new(struct tql_session *session, struct base_arena *arena,
                                          const struct session_relation *relation);
/* ... for PROCESS; OBJECT: for that object of it, "": for any of it. NULL: for any process. "": nobody. */
const char *session_askers_of(const struct session_askers *askers, const char *process,
                              const char *object);
/* For \d: that sensors make its records, and who asks for them. */
void session_describe_announced(struct tql_session *session,
                                const struct session_relation *relation, struct base_buffer *out);

/* --- descriptions.c: what was announced, as relations */
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

/* --- announced.c */
enum base_status session_load_announced(struct tql_session *session) BASE_MUST_USE;
/* RELATION is announced by the description DIGEST (0: by none yet). */
enum base_status session_save_announced(struct tql_session *session,
                                        struct session_relation *relation, uint64_t digest,
                                        int holder, bool persistent) BASE_MUST_USE;

/* --- overhead.c */
/* Appends what monitoring takes, as far as collectors have reported it, if anything is recorded. */
void session_put_overhead(const struct tql_sensor_report *reports, size_t count,
                          struct base_buffer *out);

#endif
