/* A solver process: iterates over one strip of the grid.
 *
 *      strip above  ──last row──▶ ┌───────────┐
 *                                 │ our strip │──▶ record at the start of every iteration
 *      strip below ──first row──▶ └───────────┘
 *
 * Purely asynchronous: the processes start together and never wait for each other afterwards.
 * They share the grid and a few counters, from which each concludes when all are finished.       */
#ifndef PDE_WORKER_H
#define PDE_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sensors/examples/pde/options.h"
#include "sensors/examples/pde/problem.h"
#include "sensors/examples/pde/record.h"

/* What a process publishes; written by it alone. A cache line each, so that they do not slow each
 * other down.                                                                                    */
struct pde_progress {
  _Alignas(64) _Atomic uint64_t iterations; /* begun */
  _Atomic uint64_t in_order_at; /* shared->changes when it last began to find its strip in order */
};

/* For in_order_at: it has not found it in order, or has changed it since. */
#define PDE_NOT_IN_ORDER UINT64_MAX

/* In memory shared by all processes, followed there by the points of the grid. */
struct pde_shared {
  atomic_bool stop;
  _Atomic int64_t start_ns; /* CLOCK_MONOTONIC; set before the processes are let go */
  _Atomic uint64_t changes; /* iterations that have changed the grid, counted at their ends */
  struct pde_reporting reporting;
  struct pde_progress progress[PDE_WORKERS_MAX];
  _Alignas(64) pde_point points[];
};

/* Exit status of a solver process. */
enum pde_worker_end { PDE_WORKER_CONVERGED = 0, PDE_WORKER_EXHAUSTED = 4, PDE_WORKER_STOPPED = 5 };

/* Says who this process is in what its sensors report: P1 for worker 0, and so on. If that fails, it is called
 * by its process id. */
void pde_worker_declare(unsigned worker);

/* Runs process number `worker` (from 0) to its end. SIGTERM or shared->stop ends it early. */
enum pde_worker_end pde_worker_run(const struct pde_options *options,
                                   const struct pde_problem *problem, struct pde_shared *shared,
                                   unsigned worker);

/* For the handler of SIGTERM: asynchronous-signal-safe. */
void pde_worker_interrupt(int signal_number);

#endif
