/* The records of --ndjson and --csv: what the sensor reports, on standard output, for those who want
 * lines. One record is one line and one write(2) of less than PIPE_BUF bytes, so the lines of several
 * processes never mix in a pipe and never wait in a buffer.
 *
 * Printing may not disturb the program: when the reader closes the pipe, or a write fails, all processes
 * stop printing and go on computing.                                                             */
#ifndef PDE_RECORD_H
#define PDE_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sensors/examples/pde/options.h"

/* Lives in memory shared by all processes. */
struct pde_reporting {
  atomic_bool off; /* nobody reports any more */
  atomic_bool reader_gone;
  atomic_int write_error; /* errno of the write that failed for another reason, else 0 */
};

/* One per process, not shared. */
struct pde_reporter {
  struct pde_reporting *reporting;
  enum pde_records records;
  unsigned process;          /* 1, 2, ... for P1, P2, ... */
  int64_t last_ns;           /* stamps of a process never decrease, even if the clock is set back */
  bool (*is_stopping)(void); /* an interrupted write is given up if this says so */
};

/* The first line of CSV output; nothing for NDJSON. Written once, before all records. */
void pde_report_header(struct pde_reporter *reporter);

/* The process begins iteration `iteration`. */
void pde_report_iteration(struct pde_reporter *reporter, uint64_t iteration);

/* The process ends, and with it its last iteration. CSV has no form for this, so nothing there.
 * Does not wait for a reader that has stopped reading if the program is being stopped.          */
void pde_report_end(struct pde_reporter *reporter);

#endif
