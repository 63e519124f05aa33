/* Where the collector is, and where programs are: the boot of the machine, namespaces, processes in them.
 *
 * A program knows its process id in its own pid namespace, and is followed by the one that it has here. A
 * namespace is known by the number of its file below /proc/PID/ns, which no other one of the machine has
 * at the time.                                                                                       */
#ifndef SN_COLLECT_WHEREABOUTS_H
#define SN_COLLECT_WHEREABOUTS_H

#include <stdbool.h>
#include <stdint.h>

enum { SN_BOOT_ROOM = 40 };

struct sn_whereabouts {
  char boot[SN_BOOT_ROOM]; /* of the kernel, at random with each start; "" if that cannot be read */
  uint64_t process_space, time_space; /* our own namespaces; 0: not known */
  bool sees_all; /* no process is out of sight: ours is the first pid namespace */
};

/* What does not change while we run. */
const struct sn_whereabouts *sn_whereabouts(void);

/* Whether /proc shows the processes by the numbers that they have for us. Else nobody can be followed. */
bool sn_proc_is_ours(void);

/* The process that is PID in the pid namespace SPACE (not ours) and began at START_TICKS, by the id that
 * it has here. 0: none that can be seen from here.                                                   */
uint32_t sn_process_in(uint64_t space, uint32_t pid, uint64_t start_ticks);

/* A file below /proc/PID, to its end, zero-terminated, the caller's; NULL: not to be read. */
char *sn_proc_read(uint32_t pid, const char *what);

/* Of a text of /proc/PID/stat: when the process began, in ticks since the machine did. false: it does not
 * live (a zombie does not).                                                                          */
bool sn_proc_started(const char *stat, uint64_t *ret_ticks);

#endif
