/* Periods of the system that are told by our own sensors: task forces, sensors, objects, what is on (system.c). */
#ifndef SN_COLLECT_TOLD_H
#define SN_COLLECT_TOLD_H

#include <stdbool.h>
#include <stdint.h>

struct sn_entity;
struct sn_known;
struct sn_monitor;
struct sn_part;
struct sn_program;

/* The relations whose periods are told one by one. */
enum sn_self_period {
  SN_SELF_TASKFORCE,
  SN_SELF_EVENT,
  SN_SELF_OBJECT,
  SN_SELF_ON,
  SN_SELF_PERIODS
};

/* What a sensor of ours gave for a period (sn_ticket, whose header and those of descriptions do not go together). */
struct sn_self_ticket {
  bool open; /* false: there is nothing to be stopped */
  uint64_t words[4];
};

/* A period that is told, in the ASKING-th time that somebody asks for its relation; 0: it is not. */
struct sn_told {
  struct sn_self_ticket ticket;
  uint32_t asking;
};

struct sn_telling {
  struct {
    bool on; /* somebody asks */
    uint32_t asking;
  } periods[SN_SELF_PERIODS];
  bool counts;     /* somebody asks for SensorCount: receptacles are to count */
  uint32_t unread; /* records of ours since our rings were read last (sn_accountant_own) */
};

bool sn_tells(const struct sn_monitor *monitor, enum sn_self_period relation);
/* Is PART's process there for others to see? */
bool sn_is_seen(const struct sn_program *program, const struct sn_part *part);
/* The events of PART that are described have numbers less than that. */
uint32_t sn_part_events(const struct sn_part *part);

/* A process is there that has this description; no more. */
void sn_tell_taskforce(struct sn_monitor *monitor, struct sn_known *known, bool there);
/* A scan of PROGRAM is done: its sensors, and which of them are on, are as they are. */
void sn_tell_sensors(struct sn_program *program);
/* The switch of the process, or of an object alone, is about to go on, or has gone off. */
void sn_tell_switched(struct sn_program *program, struct sn_part *part, uint32_t event, bool on);
void sn_tell_object_switched(struct sn_program *program, const struct sn_part *part, uint32_t event,
                             struct sn_entity *entity, bool on);
/* ENTITY is there, and is a TYPE. */
void sn_tell_object(struct sn_program *program, const struct sn_part *part, const char *type,
                    struct sn_entity *entity);
/* They are no more, or lose their name. */
void sn_tell_entity_ends(struct sn_program *program, struct sn_entity *entity);
void sn_tell_part_ends(struct sn_program *program, struct sn_part *part);

#endif
