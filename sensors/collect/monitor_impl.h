/* What the files of the monitor know of each other.
 *
 *     monitor.c       the loop: who is served when
 *     programs.c      programs: found, named, followed, ended
 *     descriptions.c  descriptions of modules, read by a thread of their own
 *     objects.c       objects of a program, and what they are called
 *     watches.c       what the server wants to see
 *     switching.c     watches to switches, in slices
 *     wanted.c        watches to what programs have on when they begin
 *     sampling.c      when sampled events are asked for samples, and what came of it
 *     periods.c       open periods, and their ends where a sensor goes off
 *     filtering.c     records that nobody asks for
 *     accountant.c    rings to messages
 *     checks.c        checkpoints
 *     losses.c        what is lost; reports
 *     overload.c      which sensors are sampled, as they make more than can be taken
 *     thinning.c      what has become of their records
 *     receptacles.c   what is counted, by hand; what receptacles hold
 *     uplink.c        the server: what it says, and what it is told
 *     self.c          the monitor's own sensors
 *     told.c          what they say of who and what is there
 *     system.c        who asks for that; what they say of counts, sampled                             */
#ifndef SN_COLLECT_MONITOR_IMPL_H
#define SN_COLLECT_MONITOR_IMPL_H

#include <stddef.h>

#include "engine/base/usage.h"
#include "sensors/collect/listener.h"
#include "sensors/collect/monitor.h"
#include "sensors/collect/peer.h"
#include "sensors/collect/self.h"
#include "sensors/collect/timeline.h"
#include "sensors/collect/told.h"
#include "sensors/sdf/decode.h"
#include "sensors/wire/link.h"
#include "sensors/wire/records.h"

struct sn_program;
struct sn_part;

/* --- names that the server knows by an id */

struct sn_name {
  uint32_t id, length;
  char text[];
};
/* Defines it. Ending it takes it away once the server has all that mentions it. */
struct sn_name *sn_name_new(struct sn_monitor *monitor, const char *text);
void sn_name_end(struct sn_monitor *monitor, struct sn_name *name); /* NULL is accepted */

/* --- watches.c */

struct sn_watch_value {
  char *domain;
  char *text;
  uint32_t length;
  bool pattern, process; /* process: of the domain Process */
};

struct sn_watch {
  struct sn_watch *next;      /* of its interest */
  struct sn_watch *same_hash; /* of its interest's index */
  struct sn_interest *interest;
  uint32_t id;
  bool stale;  /* of a connection that is over; gone when the new one has said all */
  bool copied; /* of one for the events of all task forces */
  bool starts_only;
  int64_t every, origin;  /* every: 0: as often as we do by ourselves */
  int64_t since;          /* realtime: when it came */
  int64_t tick;           /* the last one asked for */
  bool answered;          /* there was somebody to ask */
  uint64_t scans;         /* monitor->sampled_scans when it was asked */
  char *filter;           /* bytes (engine/filter.h) */
  uint32_t filter_length; /* 0: it has none */
  struct sn_watch_value *values;
  uint32_t value_count, key; /* key: index of the value it is indexed by; value_count: none */
};

/* All that is wanted of a relation; stays once it is there. */
struct sn_interest {
  struct sn_interest *next;
  char *relation; /* TASKFORCE.EVENT; EVENT: what was wanted of that of every task force */
  struct sn_watch *watches[2]; /* [1]: with an exact value besides Process */
  struct sn_watch **index;     /* of the latter, by domain and value */
  size_t index_size, count, exact;
  char *domain; /* of all exact values, unless mixed */
  bool mixed;
  /* of its watches, each once (filtering.c); how many watches have one; grows with each change */
  struct sn_filter *filters;
  size_t filter_count, filtered;
  uint64_t filter_changes;
  uint64_t narrowings; /* how often what had been asked for may have been no more */
  bool counted,
      counted_before; /* somebody wants it to be counted; he said so over an earlier connection */
  bool sampled_in_overload,
      sampled_before; /* who asks for it permits that its sensors are sampled; as COUNTED_BEFORE */
  bool sampled;       /* some description makes a sampled relation of it */
  uint32_t number;    /* of the relation, as the server knows it; 0: not mentioned as yet */
  int64_t checked;    /* nothing of it from before this follows, as the server was told */
  int64_t bound;      /* ... as is to be said */
  int64_t said_at;    /* the time of its latest record */
  /* of sampled events: when to ask, all watches together; made anew when CLOCKS_OF is not the count of commands */
  struct sn_sample_clock *clocks;
  size_t clock_count, clock_room;
  uint64_t clocks_of;
  int64_t asked, asked_at; /* the last tick asked for, and when (monotonic); 0: none */
  int64_t closed;          /* the last tick of which no sample is waited for any more */
  int64_t round;           /* the last one that the server was told to be complete */
};

/* Samples are taken at ORIGIN and every so many ns after it. */
struct sn_sample_clock {
  int64_t every, origin, since; /* since: realtime; when the first watch that says so came */
};

struct sn_interest *sn_interest_of(struct sn_monitor *monitor, const char *relation);
struct sn_interest *sn_interest_of_event(struct sn_monitor *monitor, const char *taskforce,
                                         const char *event);
/* Does who says WANTED, "EVENT" or "TASKFORCE.EVENT", mean RELATION, the latter? */
bool sn_relation_means(const char *wanted, const char *relation);
void sn_watches_free(struct sn_monitor *monitor);
/* Takes a command. false: it is none. */
bool sn_watch_adjust(struct sn_monitor *monitor, const struct sn_message_adjust_object *command);
/* A connection is over; the new one has said all that it wants. */
void sn_watches_stale(struct sn_monitor *monitor);
void sn_watches_drop_stale(struct sn_monitor *monitor);
/* Whether a watch wants the event of any object of that process, or of the object OBJECT (NULL: any). HOLDER:
 * the domain whose receptacle is asked, NULL: the process's.                                        */
bool sn_interest_wants(const struct sn_interest *interest, const char *process, const char *holder,
                       const struct sn_name *object);
/* Whether a watch wants anything of that process. */
bool sn_interest_wants_process(const struct sn_interest *interest, const char *process);
bool sn_watch_wants_process(const struct sn_watch *watch, const char *process);
/* Whether WATCH wants that object of HOLDER in PROCESS. */
bool sn_watch_wants(const struct sn_watch *watch, const char *process, const char *holder,
                    const struct sn_name *object);
/* One that is no interest's. */
struct sn_watch *sn_watch_copy(const struct sn_watch *watch);
void sn_watch_list_free(struct sn_watch *watches);
/* One of OBJECTS, as ADJUST_OBJECT has them behind their number, that is no interest's. NULL: they make no sense. */
struct sn_watch *sn_watch_read(struct sn_string objects);

/* --- filtering.c */

struct sn_known_event;
struct sn_part_event;
/* Are BYTES a filter? */
bool sn_filter_is_one(const char *bytes, size_t length);
/* WATCH has come to INTEREST, or is about to go. */
void sn_filter_add(struct sn_interest *interest, const struct sn_watch *watch);
void sn_filter_remove(struct sn_interest *interest, const struct sn_watch *watch);
/* Does nobody ask for a record of the event with VALUES? STATE: the event's, of the process that has made it. */
bool sn_filter_leaves_out(struct sn_known_event *known, const struct sn_part_event *state,
                          const struct sn_value_view *values);

/* --- descriptions.c */

enum sn_known_state { SN_KNOWN_READING, SN_KNOWN_GOOD, SN_KNOWN_BAD };

#define SN_IMPLICIT_MAX 3 /* domains: process, object, initiator */

struct sn_known_event {
  const struct sn_event_description *event;
  struct sn_interest *interest;
  const char *holder; /* the domain whose receptacle is asked; NULL: the process's */
  uint32_t relation;  /* number; 0: never mentioned as yet */
  uint32_t domain_count,
      implicit_count;           /* the implicit ones come first: process, object, initiator */
  uint32_t holder_domain;       /* of HOLDER; 0, the process: there is none */
  bool of_key[SN_IMPLICIT_MAX]; /* which of the implicit domains are: what ends by itself */
  bool holder_of_key;           /* an object is, or the initiator, whose receptacle is asked */
  size_t value_count;           /* of the payload */
  uint32_t
      place; /* of its entry in the receptacles that it asks: in the order of the description */
  uint32_t *filter_places;   /* which values the interest's filters ask, as of */
  uint64_t filter_places_of; /* so many changes of them */
};

struct sn_known {
  struct sn_known *next;
  uint64_t digest;
  uint32_t asked; /* process id of the program that it was sought in last */
  enum sn_known_state state;
  struct base_arena *arena;
  struct base_source source;
  struct sn_description *description;
  struct sn_known_event *events; /* by number; .event NULL: none */
  uint32_t event_count;
  struct sn_told told; /* SensorTaskForce has a tuple of it */
};

struct sn_reader;
struct sn_reader *sn_reader_new(void);
void sn_reader_free(struct sn_reader *reader);
int sn_reader_descriptor(const struct sn_reader *reader); /* something has been read */
/* The description of a module of PEER; begins to read it if it is not known. */
struct sn_known *sn_known_of(struct sn_monitor *monitor, const struct sn_peer *peer,
                             const struct sn_module_view *module);
/* Takes what has been read; true: there was something. */
bool sn_known_take(struct sn_monitor *monitor);
void sn_known_free(struct sn_monitor *monitor);
/* Whose receptacles EVENT asks; NULL: the process's. */
const struct sn_type_description *sn_asked_type(const struct sn_event_description *event);
const struct sn_type_description *sn_known_type(const struct sn_known *known, uint32_t number);
bool sn_is_sampled(const struct sn_event_description *event);
bool sn_is_once(const struct sn_event_description *event); /* one switching on, one record */
/* The relation's number, said to the server. */
uint32_t sn_known_relation(struct sn_monitor *monitor, struct sn_known *known,
                           struct sn_known_event *event);

/* --- objects.c */

/* The samples of an event, of an object or of a whole process. Times are those of records; 0: never. */
struct sn_sampling {
  uint32_t event;
  int64_t asked;       /* for this tick */
  int64_t first, last; /* samples: the first that is known since the last round, the last */
  int64_t waiting;     /* monotonic: it is asked since, and has not answered; 0: it has */
  bool counted;        /* its event waits for it */
  bool silent;         /* given up: it is waited for when it has answered again */
};

/* Periods that an object has opened, being what DOMAIN of the event's key says. */
struct sn_open {
  uint32_t event, domain;
  uint32_t made, on; /* the scans when it was opened, and that saw it switched on */
  int64_t off_at;    /* when it was switched off; INT64_MIN: it was not, or before it was opened */
};

/* Records that an object has made of an event. */
struct sn_taken {
  uint32_t event;
  uint64_t records, reported; /* since we know it; generated, as of the last report */
};

/* Its own switch of an event is on, and SensorOn has a tuple of that. */
struct sn_alone {
  uint32_t event;
  struct sn_told told;
};

struct sn_entity {
  struct sn_entity *next, *next_minor; /* same hash */
  uint64_t offset;                     /* of its receptacle; 0: not known */
  struct sn_name *name;
  uint64_t minor;
  uint32_t epoch, type, part;
  uint32_t seen, made; /* numbers of scans */
  int64_t last_at;     /* time of its last record */
  struct sn_open *open;
  uint32_t open_count, sampling_count;
  struct sn_sampling *sampling;
  struct sn_taken *taken;
  uint32_t taken_count, alone_count;
  struct sn_alone *alone;
  struct sn_told told; /* SensorObject has a tuple of it */
  bool gone;           /* it was not seen: it ends when what it left has been read */
  uint64_t gone_turn;
};

struct sn_entities {
  struct sn_entity **places, **minors; /* by epoch; by type and minor name */
  size_t size, count;
  /* The last name that was not found, and how many changes there had been. */
  uint32_t missed_part, missed_type, missed_changes;
  uint64_t missed_minor;
};
struct sn_entity *sn_entity_find(const struct sn_program *program, uint32_t part, uint32_t type,
                                 uint64_t minor, uint32_t epoch);

/* Appends what it is called. */
void sn_entity_print(struct base_buffer *out, const struct sn_program *program,
                     const struct sn_part *part, uint32_t type, uint64_t minor, uint32_t epoch);
struct sn_entity *sn_entity_of(struct sn_program *program, uint32_t part, uint32_t type,
                               uint64_t minor, uint32_t epoch);
/* The one of that name which is there; NULL: none is. */
struct sn_entity *sn_entity_named(struct sn_program *program, uint32_t part, uint32_t type,
                                  uint64_t minor);
/* A record has come that ENTITY is in domain DOMAIN of. SCAN: the program's. true: it has opened a period that was not
 * open before. */
bool sn_entity_report(struct sn_entity *entity, uint32_t event, uint32_t domain, int64_t at,
                      uint32_t scan);
/* A record of EVENT has asked its receptacle. */
void sn_entity_take(struct sn_entity *entity, uint32_t event);
struct sn_taken *sn_entity_taken(struct sn_entity *entity, uint32_t event); /* NULL: none */
/* NULL: it has none. */
struct sn_open *sn_entity_open(struct sn_entity *entity, uint32_t event, uint32_t domain);
/* It is not among those of a program any more; *LINK, which was it, is the next one. */
void sn_entity_take_out(struct sn_entities *entities, struct sn_entity **link);
void sn_entity_free(struct sn_entity *entity); /* without its name */
void sn_entities_free(struct sn_program *program);

/* --- sweep.c */

/* After a scan: those that were not seen are gone; those that were gone before, end. ALL: all do. */
void sn_entities_sweep(struct sn_program *program, bool all);

/* --- programs.c */

/* A sensor of which not every record is taken (overload.c). */
struct sn_thinning {
  bool on;
  int64_t since;                   /* realtime: when that began last; 0: it never did */
  int64_t every, due;              /* ns; monotonic: when records are allowed again */
  unsigned relieved;               /* allowances without pressure since EVERY changed */
  uint64_t passed, seen;           /* over, generated: as of the last look */
  int64_t passed_at;               /* monotonic: of the last look that found more of them */
  uint32_t share;                  /* in thousandths of what was generated; SN_SHARE_UNKNOWN */
  int64_t share_at;                /* monotonic: ... since then */
  uint64_t share_of, share_passed; /* generated, passed over until then */
};
#define SN_SHARE_UNKNOWN UINT32_MAX

struct sn_part_event {
  uint8_t want;    /* how the switch of the process stands */
  bool reported;   /* it has opened a period, of whatever key, and nothing has ended all of them */
  bool taken_over; /* it may have: by a collector before us */
  uint64_t
      reported_as_of; /* ... so many narrowings of what is asked for, when it opened the first of them */
  uint32_t objects_on;            /* the last scan that saw it on for an object */
  uint32_t objects, objects_seen; /* that it is on for: as of the last scan, of the one that runs */
  int64_t last_at;                /* time of its last record */
  int64_t off_at; /* when it was switched off, and has not been ended since; INT64_MIN: it is on */
  bool once_due, once_now; /* its objects are to be asked once: by the next scan, by this one */
  struct sn_watch *once_for, *once_for_now; /* ... those that these triggers name */
  int64_t triggered;                        /* the last trigger that asked for samples; 0: none */
  uint64_t triggers, coalesced; /* how many did; of which others were still to be answered */
  int64_t asked, asked_at;      /* the last tick asked for, and when (monotonic); 0: none */
  int64_t
      pass_from; /* the first sample since its process said that a round was complete; 0: none */
  size_t unanswered;         /* objects that were asked at ASKED and have not answered */
  struct sn_sampling own;    /* of the process */
  uint64_t received, unsent; /* since they were added to the tally */
  uint64_t escaped;          /* records that had a text which is no UTF-8, of those we have read */
  uint64_t said[SN_CAUSES];  /* lost, as the server was told */
  uint64_t base[SN_CAUSES];  /* lost while the process had another name */
  uint64_t reported_generated, reported_lost, reported_rate; /* of the last report */
  uint8_t reported_want;
  struct sn_told told, told_on; /* SensorEvent, SensorOn have tuples of it */
  struct sn_thinning thinning;
};

/* A module of a program. */
struct sn_part {
  struct sn_known *known;
  struct sn_name *name;    /* of the process; NULL: not yet known */
  uint32_t index, process; /* process: its number */
  bool listening, closed;
  char *minor; /* as declared; NULL: the process id */
  uint32_t type;
  struct sn_part_event *events;
  uint32_t event_count;
  bool sought;                /* its description, in this program; else another one may have it */
  bool refused;               /* it was said that it cannot be had, if it was to be said */
  struct sn_receptacle *self; /* of our own sensors; NULL: none */
  bool told;                  /* SensorProcess has a tuple of it */
};

struct sn_intake {
  uint64_t id, sequence, first; /* first: sequence where we began */
  bool begun;
  uint64_t last_stamp; /* of the last record; 0: none */
  int64_t complete_at; /* nothing before it is still to come; INT64_MIN: not known */
  int64_t
      stood_ns; /* for so long, as far as we looked, it was not complete and did not move; -1: it is */
  int64_t looked_at; /* monotonic: then */
  uint64_t stood_at;
};

enum sn_program_state { SN_RUNNING, SN_ENDING, SN_ENDED };

struct sn_program {
  struct sn_program *next;
  struct sn_monitor *monitor;
  struct sn_peer *peer;
  enum sn_program_state state;
  bool own;         /* the monitor itself */
  bool gone;        /* known to be dead: not only ending */
  bool blank;       /* it has ended and never made a record */
  int process;      /* pidfd; -1 */
  uint64_t epoch;   /* of its names */
  bool epoch_given; /* ... and of no other program's */
  uint64_t seal;    /* of the machine, its boot, and the announcement; 0: its names do without */
  uint32_t changes; /* of its announcement, as of the last look */
  uint64_t ended_number; /* of its last message; the announcement goes when it is acknowledged */
  int64_t seen_alive;    /* realtime */
  int64_t looked_at;     /* monotonic: at its map */
  uint64_t quiet_turns;  /* ending: turns without a record */
  struct sn_part *parts;
  size_t part_count;
  struct sn_intake *intakes; /* as the peer's pipes */
  size_t intake_count;
  struct sn_entities entities;
  /* periods.c: something was switched off, and what it had open is still to end */
  bool ends_wanted, settling, settle_again; /* settling: the scan that runs is to find out what */
  int64_t ends_from, ends_since;            /* realtime, monotonic: since when */
  int64_t off_last;    /* realtime: when something was switched off last; INT64_MIN: never */
  int64_t settled_at;  /* off_last, when the scan began */
  uint64_t attached;   /* stamp (SN_CLOCK_MONOTONIC) when all of it went off for us */
  bool begun;          /* it has been scanned */
  bool enabled;        /* something of it is on */
  bool complete;       /* at the last check */
  int64_t enabled_at;  /* monotonic: of the last check at which something was on */
  int64_t losses_at;   /* realtime: losses are said up to here */
  bool since_promise;  /* who read it before us has said them, up to what he promised last */
  uint64_t lost;       /* records, by all its pipes, as of the last check */
  uint64_t lost_said;  /* ... as of the last time that losses were said for a check */
  int64_t said_at;     /* monotonic: that */
  bool lost_known;     /* LOST is that */
  bool unsent;         /* the buffer had no room for some since */
  int64_t reported_at; /* monotonic */
  bool report_wanted;  /* its switches have changed */
  struct base_usage usage;
  struct {
    int64_t look_at; /* monotonic */
    uint64_t full;   /* records lost as rings were full, as of the last look */
    unsigned looks;  /* in a row that found more of them */
    uint32_t count;  /* events that are sampled */
    bool any;        /* some were, perhaps */
  } overload;
  /* the scan that brings its switches in line with the watches */
  bool scan_wanted, scanning, objects_wanted;
  uint32_t scan;             /* number */
  uint64_t scan_of, scanned; /* command counts: of the one that runs, of the last complete one */
  struct sn_object_place place;
  int64_t scan_started, scan_after; /* monotonic */
};

/* --- naming.c */

/* Of a program that was found: what its names will be made of. */
void sn_naming_begin(struct sn_program *program);
/* Before it is named: nobody else is called so from now on. */
void sn_naming_give(struct sn_program *program);
/* Appends what follows TYPE:MINOR in the name of the process, or of its OBJECT (0: none). */
void sn_naming_put(struct base_buffer *out, const struct sn_program *program, uint32_t object);

/* --- refusals.c */

struct sn_refusal;

/* Whether it was said that the announcement is not watched. */
bool sn_refused(struct sn_monitor *monitor, const char *name);
void sn_refuse(struct sn_monitor *monitor, const char *name, const char *reason);
/* Around a look at all announcements: those that are gone are forgotten. ALL: whether they are gone or not. */
void sn_refusals_look(struct sn_monitor *monitor);
void sn_refusals_looked(struct sn_monitor *monitor, bool all);

/* --- programs.c */

void sn_programs_look(struct sn_monitor *monitor); /* at the directory */
/* Announcements that are new or were just completed. */
void sn_programs_notice(struct sn_monitor *monitor);
/* New modules, names, pipes; the dead. */
void sn_programs_follow(struct sn_monitor *monitor);
/* Says who is there, if somebody asks for SensorProcess (self.h). */
void sn_programs_tell(struct sn_monitor *monitor);
void sn_programs_beat(struct sn_monitor *monitor);
void sn_programs_adopt(struct sn_monitor *monitor);
void sn_programs_end(struct sn_monitor *monitor);
void sn_programs_free(struct sn_monitor *monitor);

/* --- parts.c */

struct sn_part *sn_program_part(const struct sn_program *program, uint32_t module);
bool sn_program_ready(
    const struct sn_program *program); /* all its descriptions are known, or never will be */

/* --- switching.c */

/* Up to about BUDGET_NS; true: there is more to do. */
bool sn_switching_slice(struct sn_monitor *monitor, int64_t budget_ns);
void sn_switching_want(struct sn_monitor *monitor); /* of all programs */
void sn_switching_off(struct sn_monitor *monitor);

/* --- wanted.c */

struct sn_page {
  uint64_t number;         /* ours; 0: it has not been begun */
  int file;                /* -1: there is none */
  struct base_buffer rows; /* as they were written */
  uint64_t commands;       /* as of which they are */
  bool open;               /* we are one who switches anything on */
};

void sn_wanted_start(struct sn_monitor *monitor); /* nobody else collects here */
void sn_wanted_turn(struct sn_monitor *monitor);
void sn_wanted_beat(struct sn_monitor *monitor, uint64_t monotonic_ns);
void sn_wanted_free(struct sn_monitor *monitor);

/* --- sampling.c */

/* Asks for the samples that are due. Returns when the next ones are (monotonic), INT64_MAX: never. */
int64_t sn_sampling_turn(struct sn_monitor *monitor);
/* A scan has come to an object that is due; *ENTITY may be NULL, and then is made. */
void sn_sampling_ask_object(struct sn_program *program, struct sn_part *part, uint32_t event,
                            const struct sn_object_view *object, struct sn_entity **entity);
/* The time that a sample taken AT, of ENTITY (NULL: of the process), stands for: the tick it was asked for, or its own. */
int64_t sn_sampling_time(struct sn_monitor *monitor, const struct sn_part *part, uint32_t event,
                         const struct sn_entity *entity, int64_t at);
/* A tuple has come that asks for samples of RELATION, of what has the values of TRIGGER. */
void sn_sampling_trigger(struct sn_monitor *monitor, const char *relation,
                         const struct sn_watch *trigger);
/* A sample for the time AT has come. ENTITY: whose it is, or NULL. */
void sn_sampling_taken(struct sn_program *program, struct sn_part *part, uint32_t event,
                       struct sn_entity *entity, int64_t at);
/* A process has said AT a time that it has run the sensors of all that it has. */
void sn_sampling_answered(struct sn_program *program, struct sn_part *part, uint32_t event,
                          int64_t at);
/* ENTITY is about to go. */
void sn_sampling_leave(struct sn_program *program, const struct sn_entity *entity);
/* Nothing that happened before LEAST will follow. Says which rounds are complete, and the time up to which
 * records of INTEREST are complete: the tick whose samples are still to come, else LEAST.            */
int64_t sn_sampling_promise(struct sn_monitor *monitor, struct sn_interest *interest,
                            int64_t least);

/* --- periods.c */

/* Before its first scan: all of it went off when we came; what a collector before us had opened ends then. */
void sn_periods_begin(struct sn_program *program);
/* The switch of the process has been, or is about to be, changed. */
void sn_periods_event_off(struct sn_program *program, struct sn_part *part, uint32_t event);
void sn_periods_event_on(struct sn_program *program, struct sn_part *part, uint32_t event);
/* A scan has seen an object's switch, and how it is to stand. ENTITY may be NULL. */
void sn_periods_object(struct sn_program *program, struct sn_part *part, uint32_t event,
                       struct sn_entity *entity, bool was_on, bool on);
/* A record at AT has opened a period. */
void sn_periods_opened(struct sn_program *program, int64_t at);
/* No checkpoint is to pass this as long as ends are wanted; INT64_MAX: none are. */
int64_t sn_periods_bound(const struct sn_program *program, int64_t monotonic);
/* A scan is to find out what has to end. */
bool sn_periods_due(const struct sn_program *program);
void sn_periods_settle_begin(struct sn_program *program);
void sn_periods_settle(struct sn_program *program);
/* The process has ended, between LO and HI. */
void sn_periods_process_ended(struct sn_program *program, struct sn_part *part, uint32_t event,
                              int64_t lo, int64_t hi);
/* Everything is about to be switched off; it was, and is drained. */
void sn_periods_stop(struct sn_monitor *monitor);
void sn_periods_stopped(struct sn_monitor *monitor);

/* --- outgoing.c */

/* Says where reading a ring began, once. */
void sn_accountant_pipe(struct sn_program *program, size_t pipe);
/* Says again whose it is. */
void sn_accountant_define_pipe(struct sn_program *program, size_t pipe);
/* An end record, at [lo, hi], of all that records of this process have opened in whose domain DOMAIN stands NAME; 0: whatever
 * stands there. Of a sampled relation only where that is one entity: others end by their absence. */
void sn_accountant_end_record(struct sn_program *program, struct sn_part *part, uint32_t event,
                              uint32_t domain, const struct sn_name *name, int64_t lo, int64_t hi);
void sn_accountant_round(struct sn_monitor *monitor, struct sn_known *known,
                         struct sn_known_event *event, int64_t at);

/* --- accountant.c */

/* Drains what there is, at most about BUDGET_NS; *ret_full: some ring was more than half full. Returns the
 * number of records. */
uint64_t sn_accountant_turn(struct sn_monitor *monitor, int64_t budget_ns, bool *ret_more);
uint64_t sn_accountant_drain(struct sn_program *program, uint32_t budget);
/* Reads our own rings if much was told since that was done last; it may make objects of ours. */
void sn_accountant_own(struct sn_monitor *monitor);
/* --- now.c */

int64_t sn_monitor_time(const struct sn_monitor *monitor); /* realtime on the line, now */
/* ns that a time on LINE may be from the server's clock: 0 if that is ours, too. */
int64_t sn_monitor_error(const struct sn_monitor *monitor, const struct sn_timeline *line,
                         uint64_t stamp);

/* --- checks.c */

void sn_check_turn(struct sn_monitor *monitor);
bool sn_check_is_wanted(const struct sn_monitor *monitor);

/* --- losses.c */

/* Says what has been lost since the last time. false: there was no room for some of it. */
bool sn_losses_poll(struct sn_program *program);
void sn_losses_final(struct sn_program *program);
/* All that was lost until then has been said. */
void sn_losses_are_known(struct sn_program *program, int64_t until);
/* Instead of that, if the announcement was cut: nobody knows any more how many were lost. */
void sn_losses_cut(struct sn_program *program);
void sn_report_all(struct sn_monitor *monitor, uint32_t request);
void sn_report_turn(struct sn_monitor *monitor);
/* Switches stand otherwise now: somebody may look. */
void sn_report_soon(struct sn_monitor *monitor);

/* What a sensor has come to since its process began. */
struct sn_totals {
  uint64_t records, lost, escaped; /* records: lost ones among them */
};
/* Of all of a process. false: there is no such event. */
bool sn_totals_of(const struct sn_program *program, const struct sn_part *part, uint32_t event,
                  struct sn_totals *ret_totals);
/* Of ENTITY, which is at OBJECT: its records since we know it; false: it is not on by itself. */
bool sn_totals_of_object(const struct sn_program *program, const struct sn_part *part,
                         uint32_t event, const struct sn_object_view *object,
                         struct sn_entity *entity, struct sn_totals *ret_totals);

/* --- thinning.c */

/* Can what is passed over be counted of the event? */
bool sn_overload_counts(const struct sn_event_description *event);
/* Records of the event, of all of the program's, that were passed over since the process began. */
uint64_t sn_overload_passed(const struct sn_program *program, const struct sn_part *part,
                            uint32_t event);
uint64_t sn_overload_passed_all(const struct sn_program *program);
/* What stands in a switch beside SN_TRACE. */
unsigned sn_overload_mode(const struct sn_part_event *state);
/* Appends since when it is sampled, and how much of it. */
void sn_overload_print(struct base_buffer *out, const struct sn_part_event *state);

/* --- overload.c */

void sn_overload_turn(struct sn_monitor *monitor);

/* --- receptacles.c */

/* What a receptacle holds of an event, and how that is switched. */
struct sn_holding {
  struct sn_entry_view entry;
  unsigned modes, counted;
};
/* The process's; false: there is none. */
bool sn_holding_of(const struct sn_program *program, const struct sn_part *part, uint32_t event,
                   struct sn_holding *ret_holding);
/* An object's; false: the event asks no receptacles of its type, or it is off and has never held anything. */
bool sn_holding_of_object(const struct sn_program *program, const struct sn_part *part,
                          uint32_t event, const struct sn_object_view *object,
                          struct sn_holding *ret_holding);
/* Of the values that were counted, as far as its event has a histogram. false: there are none. */
bool sn_holding_moments(const struct sn_holding *holding, double *ret_mean, double *ret_deviation);

/* Brings the process's switch in line; true: objects are to be looked at, too. */
bool sn_counts_switch(struct sn_program *program, const struct sn_part *part, uint32_t event);
/* Of all events. */
void sn_counts_off(struct sn_program *program);

/* --- entries.c */

/* Takes a WRITE_ENTRY. false: it makes no sense. What is not known is passed over. */
bool sn_entry_write(struct sn_monitor *monitor, const struct sn_message_write_entry *command);
/* Answers READ_ENTRY of "receptacles", or "receptacles RELATION". false: it is about something else. */
bool sn_receptacles_report(struct sn_monitor *monitor, const struct sn_message_read_entry *command);
/* What was said over a connection that is over counts no more. */
void sn_counts_drop_stale(struct sn_monitor *monitor);

/* --- uplink.c */

struct sn_ending {
  uint64_t number;
  uint32_t id;
  char *process; /* its name; NULL: it is a name that ends */
};

struct sn_uplink {
  struct sn_link *link;
  bool up;
  uint64_t welcomes; /* of the connection that is, or was the last */
  int64_t down_at;   /* monotonic: it ended; 0: it is there, or there never was one */
  uint64_t durable;  /* what the server had for good when last looked at */
  int64_t moved_at;  /* monotonic: when that became more */
  char *told;        /* what was last complained of */
  int64_t told_at;   /* monotonic */
  bool let_in;       /* since then */
  char host[256];
  char place[96];        /* where there is one collector at a time */
  bool clock_known;      /* nothing is recorded before */
  int64_t offset, error; /* of the clock, against the server's */
  int64_t stepped;       /* the offset that the lines follow: that of their last step */
};

bool sn_uplink_start(struct sn_monitor *monitor);
/* An empty buffer for a message, with the number 0, which one of the next two takes. */
struct base_buffer *sn_uplink_frame(struct sn_monitor *monitor);
/* Kept until it is acknowledged. false: there is no room. */
bool sn_uplink_data(struct sn_monitor *monitor);
/* Said again to each server, until it is forgotten. */
void sn_uplink_define(struct sn_monitor *monitor, uint64_t id);
void sn_uplink_forget(struct sn_monitor *monitor, enum sn_message_type type, uint64_t id);
void sn_uplink_process_ends(struct sn_monitor *monitor, uint32_t process, const char *name);
bool sn_uplink_full(const struct sn_monitor *monitor); /* no more records */
/* The server is there, but behind: records are best left in the rings, where their sensors have been told
 * whether to wait or to discard. For one that is away, or stuck, they are discarded here beyond the bound. */
bool sn_uplink_holds(const struct sn_monitor *monitor);
bool sn_uplink_tight(const struct sn_monitor *monitor); /* nothing that can wait */
uint64_t sn_uplink_last(const struct sn_monitor *monitor);
uint64_t sn_uplink_durable(const struct sn_monitor *monitor);
uint64_t sn_uplink_waiting(const struct sn_monitor *monitor); /* bytes */
bool sn_uplink_is_up(const struct sn_monitor *monitor);
/* For what need not survive a broken connection; NULL: nobody is there. */
struct base_buffer *sn_uplink_answer(struct sn_monitor *monitor);
void sn_uplink_poll(const struct sn_monitor *monitor, struct pollfd *ret_poll, int64_t *ret_wait);
/* Names and processes that have ended, where the server has all that mentions them. */
void sn_uplink_say_endings(struct sn_monitor *monitor);
/* Says goodbye when all is acknowledged; true: over. */
bool sn_uplink_finish(struct sn_monitor *monitor);
void sn_uplink_free(struct sn_monitor *monitor);

/* --- commands.c */

/* What is to be sent is, what has come is executed. */
void sn_commands_turn(struct sn_monitor *monitor, short events);
/* What an earlier connection wanted is wanted no more. */
void sn_commands_drop_stale(struct sn_monitor *monitor);

/* --- the monitor */

struct sn_monitor {
  struct sn_monitor_options options;
  char *directory;
  struct sn_listener *listener;
  struct sn_reader *reader;
  struct sn_uplink uplink;
  struct sn_page page;
  struct sn_timeline lines[2]; /* by clock - 1 */
  struct sn_program *programs;
  struct sn_refusal *refusals; /* announcements that are not watched */
  struct sn_known *known;
  struct sn_interest *interests;
  uint32_t next_name, next_process, next_relation;
  uint64_t commands; /* grows with each adjustment */
  size_t watched;    /* watches there are */
  struct {
    uint32_t packet;
    uint64_t commands;
  } * ends; /* to be acknowledged */
  size_t end_count, end_room;
  struct sn_ending *endings; /* of names and processes, to be said when NUMBER is durable */
  size_t ending_count, ending_room;
  int64_t stale_until; /* monotonic: when watches of an earlier connection go; 0: never */
  int64_t checkpoint_ns,
      checked;         /* checked: the last checkpoint said, but for samples that are to come */
  int64_t checked_all; /* ... of all relations alike */
  int64_t
      said_at; /* the time of the latest record; the server is to know that nothing comes before */
  int64_t check_at, beat_at, knot_at, loss_at, report_at, look_at; /* monotonic: when next */
  int64_t reported_at;                                             /* monotonic: the last one */
  bool report_soon; /* somebody may look: nothing sleeps beyond report_at */
  uint64_t turn;
  unsigned fullest;                    /* sixteenths of a ring that waited in this turn, at most */
  int64_t nap_ns;                      /* how long programs are left alone while something is on */
  bool enabled;                        /* something is on anywhere */
  bool sampled;                        /* some sampled event is watched */
  uint64_t sampled_scans;              /* of programs that have such events */
  bool stopping, clocked;              /* clocked: the lines are the server's time */
  bool unpromised;                     /* this connection has heard no checkpoint yet */
  int poll, notify;                    /* epoll; inotify */
  struct base_buffer scratch, message; /* message: with records, while it is written */
  struct sn_value_view *values;
  size_t value_room;
  size_t turn_first; /* which program is served first */
  struct sn_telling telling;
};

#endif
