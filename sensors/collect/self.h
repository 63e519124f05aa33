/* The monitor's own sensors: off, and of no cost, until somebody asks for their relations. */
#ifndef SN_COLLECT_SELF_H
#define SN_COLLECT_SELF_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
