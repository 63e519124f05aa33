/* What the monitor says of the system by its own sensors: who and what is there and what of it is on (told.h), and,
 * sampled, what receptacles and records have come to (README.md, "What it says of others"). */
#ifndef SN_COLLECT_SYSTEM_H
#define SN_COLLECT_SYSTEM_H

struct sn_monitor;

/* What has begun to be asked for is told from the beginning. Before anything is switched in a turn. */
void sn_system_turn(struct sn_monitor *monitor);
/* Gives the samples that were asked for. */
void sn_system_sample(struct sn_monitor *monitor);

#endif
