/* The monitor's own sensors: off, and of no cost, until somebody asks for their relations. */
#ifndef SN_COLLECT_SELF_H
#define SN_COLLECT_SELF_H

#include <stdbool.h>
#include <stdint.h>

#include "sensors/collect/told.h"

struct sn_receptacle;

void sn_self_start(void);
void sn_self_stop(void);
/* Is ADDRESS in the announcement of these sensors? For signal handlers. */
bool sn_self_holds(const void *address);
void sn_self_drained(uint64_t records, uint64_t waiting_bytes);
void sn_self_command(const char *kind);
void sn_self_lost(const char *cause, uint64_t count);
/* The object that stands for a process that is watched, until it has ended; NULL: there are no sensors. */
struct sn_receptacle *sn_self_process(uint64_t number);
void sn_self_process_ended(struct sn_receptacle *process);
/* Does somebody ask for it? */
bool sn_self_tells(const struct sn_receptacle *process);
void sn_self_tell(struct sn_receptacle *process, const char *name, const char *taskforce,
                  uint32_t pid);

/* --- told.c, system.c */

/* Does somebody ask for its periods? */
bool sn_self_period_asked(enum sn_self_period relation);
/* Where nothing was told the ticket is not open. */
struct sn_self_ticket sn_self_taskforce(const char *name, int64_t version, uint64_t digest,
                                        const char *documentation);
struct sn_self_ticket sn_self_event(const char *process, const char *event, const char *taskforce,
                                    const char *kind, const char *key, const char *domains);
struct sn_self_ticket sn_self_object(const char *process, const char *type, const char *object);
struct sn_self_ticket sn_self_on(const char *process, const char *event, const char *object);
void sn_self_over(enum sn_self_period relation, struct sn_self_ticket *ticket);

/* Whose, and which sensor of theirs. */
struct sn_self_sensor {
  int64_t number;
  const char *process, *event, *object;
};
struct sn_self_count {
  uint64_t count, missed;
  double sum, mean, deviation;
};
struct sn_self_records {
  uint64_t records, lost, escaped;
};
/* Does somebody ask, and have samples become due? The latter answers once. */
bool sn_self_counts_asked(void);
bool sn_self_counts_due(void);
void sn_self_count(const struct sn_self_sensor *sensor, const struct sn_self_count *sample);
void sn_self_counts_done(void);
bool sn_self_records_due(void);
void sn_self_records(const struct sn_self_sensor *sensor, const struct sn_self_records *sample);
void sn_self_records_done(void);

#endif
