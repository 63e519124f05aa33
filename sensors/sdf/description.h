/* What a sensor description says: the task force, its sensor processes, object types and events, with
 * everything decided that the text left open (numbers of events, kinds of relations, keys).
 *
 * Made from checked objects, of a description that a user wrote or of a remote description that was
 * found in a program; both come out the same. All strings and arrays live in the arena.           */
#ifndef SN_SDF_DESCRIPTION_H
#define SN_SDF_DESCRIPTION_H

#include "engine/value.h"
#include "sensors/sdf/check.h"

/* How an event is triggered (thesis 8.2.1). The order is that of the sensors' run-time. */
enum sn_minor {
  SN_MINOR_OBJECT_TRACED = 1,
  SN_MINOR_SENSOR_TRACED,
  SN_MINOR_RECEPTACLE_SAMPLED,
  SN_MINOR_MESSAGE_SAMPLED,
  SN_MINOR_INVOCATION_SAMPLED,
};

/* Whose receptacle the sensor asks (thesis 5.2). */
enum sn_holder { SN_HOLDER_PERFORMER, SN_HOLDER_OBJECT, SN_HOLDER_INITIATOR };

enum sn_relation_type { SN_KIND_EVENT, SN_KIND_TRACED, SN_KIND_SAMPLED };

/* A sensor process or an object type; both are numbered in one sequence. */
struct sn_type_description {
  const char *name;
  uint32_t number; /* from 1 */
  bool is_process;
  const char *documentation; /* "" if there is none */
  const struct sn_object *object;
  struct base_range range;
};

struct sn_domain_description {
  const char *name;
  struct net_type type;
  bool counted; /* the program gives a length with it: of bytes, and of texts that say so */
  const struct sn_type_description *object; /* of type name */
  const char *documentation;
  struct base_range range;
};

/* In the place of a domain's index: of how long a period sensor's periods last. */
#define SN_DURATIONS (-2)

struct sn_event_description {
  const char *name;
  uint32_t number; /* from 1; at most SN_EVENT_NUMBER_MAX */
  const struct sn_type_description *location;
  const struct sn_type_description *object, *initiator; /* NULL: none */
  enum sn_holder holder;
  enum sn_minor minor;
  bool timestamp, declare_object, assume_enabled, check_one_time, assume_one_time;
  int32_t wait_ms; /* what a sensor does when there is no room: 0 discard, -1 wait, else so long */
  bool is_inline;  /* the recording part, too (spacetimeratio below 50) */
  int histogram;   /* index of the domain that histograms are made of; SN_DURATIONS; -1 none */
  enum sn_relation_type relation;
  bool is_period;          /* a traced relation, whose first domain is sn_ticket_domain, the key */
  const char *const *keys; /* the domains that together tell entities apart, each once */
  size_t key_count;        /* 0: of an event relation */
  struct sn_domain_description *domains;
  size_t domain_count;
  const char *documentation;
  const struct sn_object *checked;
  struct base_range range;
};

#define SN_EVENT_NUMBER_MAX 65535
#define SN_DOMAINS_MAX      1000

struct sn_description {
  const struct base_source *source;
  const struct sn_format *format;
  const char *name; /* of the task force */
  const char
      *file; /* what the description was read from when it was a file of its own, no folders */
  int64_t version;
  const char *documentation;
  const struct sn_object *taskforce;
  struct sn_objects objects;
  struct sn_type_description *types;
  size_t type_count;
  struct sn_event_description *events; /* in the order of the text */
  size_t event_count;
  uint32_t number_max;
};

/* Reads a description that a user wrote, or NULL when something was reported. */
struct sn_description *sn_description_read(struct base_arena *arena,
                                           const struct base_source *source,
                                           const struct sn_format *format,
                                           struct base_diag_sink *diags);
/* Reads a remote description; FORMAT is the program's own (sn_format_default). */
struct sn_description *sn_description_read_remote(struct base_arena *arena,
                                                  const struct base_source *source,
                                                  const struct sn_format *format,
                                                  struct base_diag_sink *diags);

/* --- what follows from it */

/* The event of that name, or NULL. */
const struct sn_event_description *sn_description_event(const struct sn_description *description,
                                                        const char *name);

/* The domain of a period sensor that tells its periods apart, within their process; the sensor gives it out. */
extern const char sn_ticket_domain[];

/* The relation's domains in front of those that the event declares: Process, the object, the
 * initiator. Returns how many; RET_NAMES has room for 3.                                           */
size_t sn_event_implicit(const struct sn_event_description *event, const char *ret_names[3]);
/* Is DOMAIN one of those that together tell the event's entities apart? */
bool sn_event_key_has(const struct sn_event_description *event, const char *domain);
/* Bytes of TYPE in a record; of a string its length only. */
uint32_t sn_type_size(struct net_type type);

const char *sn_minor_name(enum sn_minor minor);
const char *sn_holder_name(enum sn_holder holder);
/* Of the relation in the query language. */
const char *sn_relation_name(enum sn_relation_type relation);
/* What the description says of it: a period sensor's relation is traced, too. */
const char *sn_event_relation(const struct sn_event_description *event);

#endif
