/* The iterations of one solver process: see worker.h.
 *
 * Points are improved in place, one after the other, each from the values its neighbours have at
 * that moment. One such step with a factor between 0 and 2 never increases the energy of the grid
 * (the sum of the squared differences of neighbours), whichever point it is applied to; that is
 * why the processes may proceed at any speed relative to each other and still converge. README.md
 * says more, also about the pace.                                                                */
#include "sensors/examples/pde/worker.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "pde_sensors.h"

/* A strip is at rest when no correction exceeds this part of the residual allowed at the end. After
 * such an iteration the residual of a point is at most (|1 - omega| + omega) times as large, below
 * 3 times; the remaining quarter is for what the neighbours' strips still change.                */
#define REST_PART 0.25

static volatile sig_atomic_t interrupted;
static const struct pde_shared *running; /* for is_stopping, which gets no argument */

void pde_worker_interrupt(int signal_number) {
  (void)signal_number;
  interrupted = 1;
}

static bool is_stopping(void) {
  return interrupted || atomic_load_explicit(&running->stop, memory_order_relaxed);
}

static double load(const pde_point *point) {
  return atomic_load_explicit(point, memory_order_relaxed);
}

/* Improves every point of the strip. Returns the largest difference found between the average of
 * the neighbours and the value; infinity if it was interrupted.                                 */
static double improve(const struct pde_strip *strip, size_t cols, double omega, pde_point *points) {
  double largest = 0.0;
  for (size_t row = strip->first; row <= strip->last; row++) {
    if (is_stopping()) {
      return INFINITY;
    }
    pde_point *above = points + (row - 1) * cols;
    pde_point *here = above + cols;
    pde_point *below = here + cols;
    double left = load(&here[0]);
    double value = load(&here[1]);
    for (size_t col = 1; col < cols - 1; col++) {
      double right = load(&here[col + 1]);
      double average = 0.25 * ((left + right) + (load(&above[col]) + load(&below[col])));
      double difference = average - value;
      largest = fabs(difference) > largest ? fabs(difference) : largest;
      left = value + omega * difference;
      atomic_store_explicit(&here[col], left, memory_order_relaxed);
      value = right;
    }
  }
  return largest;
}

/* The same without changing anything: an iteration over a strip that is at rest. */
static double examine(const struct pde_strip *strip, size_t cols, const pde_point *points) {
  double largest = 0.0;
  for (size_t row = strip->first; row <= strip->last; row++) {
    if (is_stopping()) {
      return INFINITY;
    }
    const pde_point *here = points + row * cols;
    for (size_t col = 1; col < cols - 1; col++) {
      double average = 0.25 * ((load(&here[col - 1]) + load(&here[col + 1])) +
                               (load(here + col - cols) + load(here + col + cols)));
      double difference = fabs(average - load(&here[col]));
      largest = difference > largest ? difference : largest;
    }
  }
  return largest;
}

static int64_t monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* How many iterations the plan of a process is late (negative: early) at its iteration k: two slow
 * waves of its own, of a few hundred iterations, zero at the start and on the average.*/
static double plan_wave(uint64_t seed, unsigned worker, double k) {
  const double two_pi = 6.28318530717958647692;
  uint64_t index = 1000 + 10 * (uint64_t)worker;
  double slow = 240.0 + 160.0 * pde_random(seed, index);
  double fast = 80.0 + 60.0 * pde_random(seed, index + 1);
  double slow_size = pde_random(seed, index + 2) < 0.5 ? 0.8 : -0.8;
  double fast_size = pde_random(seed, index + 3) < 0.5 ? 0.3 : -0.3;
  return slow_size * sin(two_pi * k / slow) + fast_size * sin(two_pi * k / fast);
}

/* Waits until iteration k (from 1) is due. The plan is absolute: a process that is late for any
 * reason catches up by running without waiting, so all have the same rate in the long run.      */
static void keep_pace(const struct pde_options *options, int64_t start_ns, unsigned worker,
                      uint64_t k) {
  if (options->pace_us == 0 || k == 1) {
    return;
  }
  double steps = (double)(k - 1);
  double jitter = 0.4 * (pde_random(options->seed + worker, 100000 + k) - 0.5);
  double due_steps = steps + plan_wave(options->seed, worker, steps) + jitter;
  int64_t due_ns = start_ns + (int64_t)(due_steps * (double)options->pace_us * 1000.0);
  while (!is_stopping()) {
    int64_t now_ns = monotonic_ns();
    if (now_ns >= due_ns) {
      return;
    }
    /* Short naps, so that a stop that comes just before we fall asleep is still noticed. */
    int64_t nap_ns = due_ns - now_ns < 100000000 ? due_ns : now_ns + 100000000;
    struct timespec until = {.tv_sec = nap_ns / 1000000000, .tv_nsec = nap_ns % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
  }
}

/* Whether all have found their strips in order since the last change of the grid. Then nobody has
 * a reason to change it any more: the first to do so would need a change since it last looked.   */
static bool is_finished(const struct pde_shared *shared, unsigned workers) {
  uint64_t changes = atomic_load(&shared->changes);
  for (unsigned w = 0; w < workers; w++) {
    if (atomic_load(&shared->progress[w].in_order_at) != changes) {
      return false;
    }
  }
  return true;
}

/* One iteration. A strip is improved until it is at rest and from then on only examined, until
 * changes of the neighbours' strips have put it out of order again. Returns whether it is at rest.
 */
static bool iterate(const struct pde_options *options, const struct pde_problem *problem,
                    struct pde_shared *shared, unsigned worker, bool at_rest) {
  const struct pde_strip *strip = &problem->strips[worker];
  struct pde_progress *mine = &shared->progress[worker];
  if (at_rest) {
    uint64_t changes = atomic_load(&shared->changes); /* before looking at any point */
    if (examine(strip, options->cols, shared->points) <= problem->residual_max) {
      atomic_store(&mine->in_order_at, changes);
      return true;
    }
    atomic_store(&mine->in_order_at, PDE_NOT_IN_ORDER);
    return false;
  }
  double largest = improve(strip, options->cols, problem->omega, shared->points);
  atomic_fetch_add(&shared->changes, 1); /* after the last change */
  return largest <= REST_PART * problem->residual_max;
}

void pde_worker_declare(unsigned worker) {
  char name[16];
  (void)snprintf(name, sizeof name, "P%u", worker + 1);
  (void)PDESolverProcess(name);
}

enum pde_worker_end pde_worker_run(const struct pde_options *options,
                                   const struct pde_problem *problem, struct pde_shared *shared,
                                   unsigned worker) {
  running = shared;
  struct pde_reporter reporter = {.reporting = &shared->reporting,
                                  .records = options->records,
                                  .process = worker + 1,
                                  .is_stopping = is_stopping};
  struct pde_progress *mine = &shared->progress[worker];
  const int64_t start_ns = atomic_load(&shared->start_ns);
  bool at_rest = false;
  enum pde_worker_end end = PDE_WORKER_EXHAUSTED;

  for (uint64_t k = 1; k <= options->iterations_max; k++) {
    keep_pace(options, start_ns, worker, k);
    if (is_stopping()) {
      end = PDE_WORKER_STOPPED;
      break;
    }
    atomic_store_explicit(&mine->iterations, k, memory_order_relaxed);
    IterationSensor((int64_t)k);
    pde_report_iteration(&reporter, k);
    at_rest = iterate(options, problem, shared, worker, at_rest);
    if (at_rest && is_finished(shared, options->workers)) {
      end = PDE_WORKER_CONVERGED;
      break;
    }
    if (at_rest) {
      sched_yield(); /* nothing to do here until another process has changed something */
    }
  }
  pde_report_end(&reporter);
  return end;
}
