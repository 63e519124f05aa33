/* The monitor's own sensors: off, and of no cost, until somebody asks for their relations. */
#ifndef SN_COLLECT_SELF_H
#define SN_COLLECT_SELF_H

#include <stdbool.h>
#include <stdint.h>

void sn_self_start(void);
void sn_self_stop(void);
/* Is ADDRESS in the announcement of these sensors? For signal handlers. */
bool sn_self_holds(const void *address);
void sn_self_drained(uint64_t records, uint64_t waiting_bytes);
void sn_self_command(const char *kind);
void sn_self_lost(const char *cause, uint64_t count);

#endif
