/* What a watched program has done, in memory that the test sees, too: the count that the run-time's own
 * accounts are compared with. A call in progress is between `before` and `after`.                    */
#ifndef TESTS_SENSORS_LEDGER_H
#define TESTS_SENSORS_LEDGER_H

#include <stdint.h>

enum { LEDGER_LINES = 64 };

struct ledger_line {
  uint64_t before, after, pad[6];
};

struct ledger {
  uint32_t go;    /* by the test */
  uint32_t stage; /* by the program */
  uint32_t bad;   /* number of what the program found wrong; 0: nothing */
  uint32_t pid;
  uint64_t took_ns;
  uint64_t seen;                          /* records, by the readers that a test kills */
  struct ledger_line lines[LEDGER_LINES]; /* one a thread, or a process */
};

#endif
