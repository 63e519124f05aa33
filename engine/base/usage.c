#include "engine/base/usage.h"

#include <time.h>

#include "engine/base/env.h"

enum { SECOND = 1000000000 };

/* Exact, other than what /proc says in ticks, and asked of a process of anybody. -1: there is no such process. */
static int64_t used_by(pid_t pid) {
  clockid_t clock = CLOCK_PROCESS_CPUTIME_ID;
  struct timespec time;
  if (pid != 0 && clock_getcpuclockid(pid, &clock) != 0) return -1;
  if (clock_gettime(clock, &time) != 0) return -1;
  return (int64_t)time.tv_sec * SECOND + time.tv_nsec;
}

bool base_usage_look(struct base_usage *usage, pid_t pid) {
  int64_t now = base_env_monotonic();
  if (usage->at != 0 && now - usage->at < SECOND) return usage->a_second > 0;
  int64_t used = used_by(pid);
  if (used < 0) return false;
  if (usage->at != 0)
    usage->a_second = (int64_t)((double)(used - usage->used) / (double)(now - usage->at) * SECOND);
  usage->at = now;
  usage->used = used;
  return usage->a_second > 0;
}
