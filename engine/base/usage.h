/* How much processor time a process takes: what monitoring costs is told in parts of it. */
#ifndef BASE_USAGE_H
#define BASE_USAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Begins with zeros. */
struct base_usage {
  int64_t at;       /* ns, monotonic: of the last look; 0: there was none */
  int64_t used;     /* ns of processor time that it had by then, of all its threads */
  int64_t a_second; /* ns a second between the last two looks; 0: there were none */
};

/* Looks at process PID (0: this one), unless the last look is less than a second ago, as short stretches say little.
 * False: nothing is known yet, or the process cannot be seen. */
bool base_usage_look(struct base_usage *usage, pid_t pid);

#endif
