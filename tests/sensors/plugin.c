/* A library with sensors, a run-time of its own and a function that is called at each round, which the
 * watched program loads and unloads in the midst of that. It does not withdraw the function: what is
 * left behind must not be called. C99.                                                               */
#include <time.h>

#include "tests/sensors/watched.h"

void plugin_start(void);

static void poll_slowly(void *context) {
  struct timespec nap = {0, 300000};
  nanosleep(&nap, NULL);
  PollSensor(*(int *)context);
}

void plugin_start(void) {
  static int number = 5;
  sn_sample_register(&watched, WATCHED_POLL, poll_slowly, &number);
}
