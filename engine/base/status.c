/* The end of a programmer's mistake.
 *
 * A failed check prints one line to stderr and aborts. It is the only place, with the out-of-memory
 * exit in arena.c, where this library writes to a stream: nothing above can be trusted any more to
 * carry a diagnostic. The id comes first, so that a report can be searched for by it. */
#include "engine/base/status.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void base_check_failed(const char *id, const char *condition, const char *file,
                                 int line) {
  fprintf(stderr, "check failed: %s: %s at %s:%d\n", id, condition, file, line);
  abort();
}
