/* pde-solver: the example of section 3.7 of the thesis, a program worth watching.
 *
 * Solves Laplace's equation with given values on the edges of a grid by finite differences. The
 * parent process in this file lays out the grid in shared memory, starts one process per strip
 * (worker.c), lets them go together, waits for all, and compares the answer with the analytic
 * solution (problem.c). The processes pass their sensor themselves (worker.c), and print records if
 * that was asked for (record.c).
 *
 * Invariants: standard output carries records or nothing; no process outlives the parent,
 * however it ends (PR_SET_PDEATHSIG); the parent reaps every process it has started; the shared
 * memory has no name, so it is gone with the last process. The parent does not take part in the
 * computation and does not synchronise the processes after their start.                          */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sensors/examples/pde/options.h"
#include "sensors/examples/pde/problem.h"
#include "sensors/examples/pde/record.h"
#include "sensors/examples/pde/worker.h"

enum { EXIT_AGREES = 0, EXIT_BAD_OPTION = 1, EXIT_SYSTEM = 2, EXIT_DISAGREES = 4 };

/* How long processes get to end by themselves after they were told to. */
#define GRACE_NS INT64_C(2000000000)

struct run {
  struct pde_options options;
  struct pde_problem problem;
  struct pde_shared *shared;
  size_t shared_size;
  pid_t pids[PDE_WORKERS_MAX]; /* 0: not running */
  bool converged[PDE_WORKERS_MAX];
  unsigned alive;
  sigset_t waited_for; /* blocked; taken with sigtimedwait */
  sigset_t original_mask;
  int signal_number; /* the signal that ended the run, or 0 */
  bool out_of_time;
  bool crashed;
  int64_t kill_ns; /* when to kill what has not ended; 0: nobody has been told to end */
  int64_t end_ns;
};

static int64_t monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool system_failed(const char *what) {
  fprintf(stderr, "pde-solver: %s: %s\n", what, strerror(errno));
  return false;
}

static bool never(void) {
  return false;
}

/* Descriptors 0 to 2 must be open, lest a pipe of ours become somebody's standard output. */
static bool check_descriptors(void) {
  if (fcntl(STDOUT_FILENO, F_GETFD) < 0) {
    return system_failed("standard output");
  }
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) {
      return false;
    }
  }
  return true;
}

static bool map_shared(struct run *run) {
  size_t points = run->options.rows * run->options.cols;
  run->shared_size = sizeof *run->shared + points * sizeof run->shared->points[0];
  void *memory =
      mmap(NULL, run->shared_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return system_failed("cannot get shared memory for the grid");
  }
  run->shared = memory; /* zero-filled: that is how the other counters begin */
  for (unsigned w = 0; w < run->options.workers; w++) {
    atomic_init(&run->shared->progress[w].in_order_at, PDE_NOT_IN_ORDER);
  }
  pde_problem_fill(&run->problem, &run->options, run->shared->points);
  return true;
}

/* Signals are not handled but waited for, so that there is no moment in which one is missed. What
 * was ignored when we were started (nohup, background jobs) stays ignored.                       */
static void block_signals(struct run *run) {
  static const int endings[] = {SIGINT, SIGTERM, SIGHUP};
  sigemptyset(&run->waited_for);
  sigaddset(&run->waited_for, SIGCHLD);
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    struct sigaction inherited;
    if (sigaction(endings[i], NULL, &inherited) == 0 && inherited.sa_handler != SIG_IGN) {
      sigaddset(&run->waited_for, endings[i]);
    }
  }
  signal(SIGCHLD, SIG_DFL); /* ignored, our children would vanish without a status */
  signal(SIGPIPE, SIG_IGN);
  sigprocmask(SIG_BLOCK, &run->waited_for, &run->original_mask);
}

/* In the new process. Ctrl-C reaches it, too, but it ends only at the parent's word. */
static void set_child_signals(const struct run *run, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) {
    _exit(PDE_WORKER_STOPPED); /* it died before we asked to be told */
  }
  signal(SIGINT, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  /* No SA_RESTART: it has to get us out of a write to a pipe that nobody reads. */
  struct sigaction interrupt = {.sa_handler = pde_worker_interrupt};
  sigemptyset(&interrupt.sa_mask);
  sigaction(SIGTERM, &interrupt, NULL);
  sigset_t mask = run->original_mask;
  sigdelset(&mask, SIGTERM);
  sigprocmask(SIG_SETMASK, &mask, NULL);
}

/* The life of a solver process. It says on `ready` that it is there and starts when `go` closes. */
static void child(struct run *run, unsigned worker, pid_t parent, const int ready[2],
                  const int go[2]) {
  set_child_signals(run, parent);
  pde_worker_declare(worker);
  close(ready[0]);
  close(go[1]);
  char byte = 0;
  if (write(ready[1], &byte, 1) != 1) {
    _exit(PDE_WORKER_STOPPED);
  }
  close(ready[1]);
  while (read(go[0], &byte, 1) < 0 && errno == EINTR) {
  }
  close(go[0]);
  _exit(pde_worker_run(&run->options, &run->problem, run->shared, worker));
}

static void stop_all(struct run *run) {
  atomic_store(&run->shared->stop, true);
  for (unsigned w = 0; w < run->options.workers; w++) {
    if (run->pids[w] > 0) {
      kill(run->pids[w], SIGTERM);
    }
  }
  if (run->kill_ns == 0) {
    run->kill_ns = monotonic_ns() + GRACE_NS;
  }
}

static bool fork_all(struct run *run, const int ready[2], const int go[2]) {
  pid_t parent = getpid();
  for (unsigned w = 0; w < run->options.workers; w++) {
    pid_t pid = fork();
    if (pid < 0) {
      return system_failed("cannot start a process");
    }
    if (pid == 0) {
      child(run, w, parent, ready, go);
    }
    run->pids[w] = pid;
    run->alive++;
  }
  return true;
}

/* Starts the processes and lets them go when all are there: their only synchronisation. */
static bool start_all(struct run *run) {
  int ready[2];
  int go[2];
  if (pipe2(ready, O_CLOEXEC) != 0) {
    return system_failed("cannot make a pipe");
  }
  if (pipe2(go, O_CLOEXEC) != 0) {
    close(ready[0]);
    close(ready[1]);
    return system_failed("cannot make a pipe");
  }
  bool started = fork_all(run, ready, go);
  close(ready[1]);
  close(go[0]);
  for (unsigned there = 0; started && there < run->options.workers;) {
    char byte;
    ssize_t got = read(ready[0], &byte, 1);
    if (got == 1) {
      there++;
    } else if (got == 0 || errno != EINTR) {
      fprintf(stderr, "pde-solver: a process ended before it had begun\n");
      started = false;
    }
  }
  atomic_store(&run->shared->start_ns, monotonic_ns());
  if (!started) {
    stop_all(run); /* before they are let go */
  }
  close(ready[0]);
  close(go[1]);
  return started;
}

static void reap(struct run *run) {
  for (unsigned w = 0; w < run->options.workers; w++) {
    int status = 0;
    if (run->pids[w] == 0 || waitpid(run->pids[w], &status, WNOHANG) != run->pids[w]) {
      continue;
    }
    run->pids[w] = 0;
    run->alive--;
    run->end_ns = monotonic_ns();
    if (WIFEXITED(status) && WEXITSTATUS(status) == PDE_WORKER_CONVERGED) {
      run->converged[w] = true;
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == PDE_WORKER_EXHAUSTED) {
      continue; /* the others go on to their own limit */
    } else if (run->kill_ns == 0) {
      fprintf(stderr, "pde-solver: process P%u was %s; all stop\n", w + 1,
              WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "stopped from outside");
      run->crashed = true;
      stop_all(run);
    }
  }
}

/* Until the last process has ended: by itself, after a signal, or when the time is up. */
static void wait_all(struct run *run) {
  const int64_t limit_ns =
      atomic_load(&run->shared->start_ns) + (int64_t)(run->options.time_limit_s * 1e9);
  for (reap(run); run->alive > 0; reap(run)) {
    int64_t now_ns = monotonic_ns();
    if (run->kill_ns == 0 && now_ns >= limit_ns) {
      run->out_of_time = true;
      stop_all(run);
    } else if (run->kill_ns != 0 && now_ns >= run->kill_ns) {
      for (unsigned w = 0; w < run->options.workers; w++) {
        if (run->pids[w] > 0) {
          kill(run->pids[w], SIGKILL);
        }
      }
      run->kill_ns = now_ns + GRACE_NS;
    }
    int64_t left_ns = (run->kill_ns != 0 ? run->kill_ns : limit_ns) - now_ns;
    left_ns = left_ns < 0 ? 0 : left_ns;
    struct timespec left = {.tv_sec = left_ns / 1000000000, .tv_nsec = left_ns % 1000000000};
    int taken = sigtimedwait(&run->waited_for, NULL, &left);
    if (taken > 0 && taken != SIGCHLD) {
      run->signal_number = taken;
      stop_all(run);
    }
  }
}

static void describe_problem(const struct run *run) {
  if (run->options.quiet) {
    return;
  }
  fprintf(stderr, "pde-solver: u = %s on %zux%zu points, %u processes, omega %.6f, seed %" PRIu64,
          run->problem.name, run->options.rows, run->options.cols, run->options.workers,
          run->problem.omega, run->options.seed);
  if (run->options.pace_us > 0) {
    fprintf(stderr, ", one iteration per %" PRIu64 " us", run->options.pace_us);
  }
  fputc('\n', stderr);
}

static void describe_processes(const struct run *run) {
  for (unsigned w = 0; w < run->options.workers; w++) {
    const struct pde_strip *strip = &run->problem.strips[w];
    fprintf(stderr, "pde-solver: P%u: rows %zu to %zu, %" PRIu64 " iterations, %s\n", w + 1,
            strip->first, strip->last, atomic_load(&run->shared->progress[w].iterations),
            run->converged[w] ? "converged" : "not converged");
  }
  double elapsed_s = (double)(run->end_ns - atomic_load(&run->shared->start_ns)) / 1e9;
  fprintf(stderr, "pde-solver: elapsed %.3f s\n", elapsed_s);
}

/* Looks at the grid, prints what was found, and says whether the answer is right. */
static bool verify(const struct run *run) {
  const struct pde_problem *problem = &run->problem;
  double residual = 0.0;
  double error = 0.0;
  pde_problem_check(problem, &run->options, run->shared->points, &residual, &error);
  double bound = run->options.tolerance + problem->bound_discretisation + problem->bound_rounding;
  bool converged = true;
  for (unsigned w = 0; w < run->options.workers; w++) {
    converged = converged && run->converged[w];
  }
  bool agrees = converged && residual <= problem->residual_max && error <= bound;
  if (!run->options.quiet) {
    describe_processes(run);
    fprintf(stderr,
            "pde-solver: largest error %.3g, bound %.3g (iteration %.3g, discretisation %.3g, "
            "rounding %.3g)\n",
            error, bound, run->options.tolerance, problem->bound_discretisation,
            problem->bound_rounding);
    fprintf(stderr, "pde-solver: largest residual %.3g, allowed %.3g\n", residual,
            problem->residual_max);
  }
  if (!agrees || !run->options.quiet) {
    fprintf(stderr, "pde-solver: %s\n",
            agrees             ? "the answer agrees with the analytic solution"
            : run->out_of_time ? "the time is up before the processes have converged"
            : !converged       ? "the processes have not converged"
                               : "the answer does not agree with the analytic solution");
  }
  return agrees;
}

/* What became of the records; false if some are missing though there was a reader. */
static bool verify_reporting(const struct run *run) {
  int error = atomic_load(&run->shared->reporting.write_error);
  if (error != 0) {
    fprintf(stderr, "pde-solver: writing the records: %s; reporting was given up\n",
            strerror(error));
    return false;
  }
  if (atomic_load(&run->shared->reporting.reader_gone) && !run->options.quiet) {
    fprintf(stderr, "pde-solver: the reader of the records has gone; computed without reporting\n");
  }
  return true;
}

/* Ends as the signal would have ended us, so that the shell knows. */
static int end_by_signal(int signal_number) {
  fprintf(stderr, "pde-solver: stopped by a signal (%s)\n", strsignal(signal_number));
  signal(signal_number, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal_number);
  raise(signal_number);
  sigprocmask(SIG_UNBLOCK, &only, NULL);
  return 128 + signal_number;
}

static int solve(struct run *run) {
  block_signals(run);
  describe_problem(run);
  struct pde_reporter header = {
      .reporting = &run->shared->reporting, .records = run->options.records, .is_stopping = never};
  pde_report_header(&header);
  bool started = start_all(run);
  wait_all(run);
  if (!started) {
    return EXIT_SYSTEM;
  }
  if (run->signal_number != 0) {
    return end_by_signal(run->signal_number);
  }
  bool agrees = verify(run);
  bool reported = verify_reporting(run);
  if (run->crashed || !reported) {
    return EXIT_SYSTEM;
  }
  return agrees ? EXIT_AGREES : EXIT_DISAGREES;
}

int main(int argc, char **argv) {
  struct run run = {0};
  switch (pde_options_parse(argc, argv, &run.options)) {
    case PDE_OPTIONS_HELP:
      return EXIT_AGREES;
    case PDE_OPTIONS_BAD:
      return EXIT_BAD_OPTION;
    case PDE_OPTIONS_RUN:
      break;
  }
  if (!pde_problem_init(&run.problem, &run.options)) {
    return EXIT_BAD_OPTION;
  }
  if (!check_descriptors() || !map_shared(&run)) {
    return EXIT_SYSTEM;
  }
  int status = solve(&run);
  munmap(run.shared, run.shared_size);
  return status;
}
