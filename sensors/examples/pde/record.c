/* Event records on standard output: see record.h.
 *
 * The time stamp (CLOCK_REALTIME, nanoseconds) is taken immediately before the line is formatted
 * and written. If the pipe is full the write blocks; that the solver then waits for its reader is
 * the price of losing nothing.                                                                   */
#include "sensors/examples/pde/record.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* The longest line, with both numbers at their longest, has 81 bytes. */
#define LINE_SIZE 128
_Static_assert(LINE_SIZE <= _POSIX_PIPE_BUF, "a record must fit into one indivisible write");

static int64_t stamp(struct pde_reporter *reporter) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  int64_t now_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
  if (now_ns > reporter->last_ns) {
    reporter->last_ns = now_ns;
  }
  return reporter->last_ns;
}

static void fail(struct pde_reporting *reporting, int error) {
  if (error == EPIPE) {
    atomic_store(&reporting->reader_gone, true);
  } else {
    atomic_store(&reporting->write_error, error);
  }
  atomic_store(&reporting->off, true);
}

static void write_line(struct pde_reporter *reporter, const char *line, int length) {
  if (length <= 0 || length >= LINE_SIZE) {
    fail(reporter->reporting, EOVERFLOW);
    return;
  }
  for (;;) {
    ssize_t written = write(STDOUT_FILENO, line, (size_t)length);
    if (written == length) {
      return;
    }
    if (written >= 0) {
      /* Part of a line, as on a full disk. The rest could land behind another process's line. */
      fail(reporter->reporting, ENOSPC);
      return;
    }
    if (errno == EAGAIN) { /* somebody has made our standard output non-blocking */
      struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
      poll(&out, 1, 100);
    } else if (errno != EINTR) {
      fail(reporter->reporting, errno);
      return;
    }
    if (reporter->is_stopping()) {
      return;
    }
  }
}

static bool is_off(const struct pde_reporter *reporter) {
  return reporter->records == PDE_RECORDS_NONE ||
         atomic_load_explicit(&reporter->reporting->off, memory_order_relaxed);
}

void pde_report_header(struct pde_reporter *reporter) {
  if (reporter->records == PDE_RECORDS_CSV) {
    static const char header[] = "at,Process,IterNum\n";
    write_line(reporter, header, (int)sizeof header - 1);
  }
}

void pde_report_iteration(struct pde_reporter *reporter, uint64_t iteration) {
  if (is_off(reporter)) {
    return;
  }
  char line[LINE_SIZE];
  const char *format = reporter->records == PDE_RECORDS_CSV
                           ? "%" PRId64 ",P%u,%" PRIu64 "\n"
                           : "{\"at\": %" PRId64 ", \"Process\": \"P%u\", \"IterNum\": %" PRIu64
                             "}\n";
  int length = snprintf(line, sizeof line, format, stamp(reporter), reporter->process, iteration);
  write_line(reporter, line, length);
}

void pde_report_end(struct pde_reporter *reporter) {
  if (is_off(reporter) || reporter->records == PDE_RECORDS_CSV) {
    return;
  }
  if (reporter->is_stopping()) {
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (poll(&out, 1, 100) <= 0) {
      return;
    }
  }
  char line[LINE_SIZE];
  int length = snprintf(line, sizeof line, "{\"end\": %" PRId64 ", \"Process\": \"P%u\"}\n",
                        stamp(reporter), reporter->process);
  write_line(reporter, line, length);
}
