/* Sensors interrupted after each of their instructions: `step_test PROGRAM [STRIDE | few [WAY+ACTION]...]`
 *
 * For each way through a sensor and each thing that a handler may do: executes stepped.c's sensor with
 * PTRACE_SINGLESTEP up to instruction n, sends the signal there, lets the program go, and looks at how
 * it ends. Where signals are blocked (while the lock is held) one n stands for all: the signal comes when
 * they are no longer. For what another thread does meanwhile (fork-beside) the sensor just stands there,
 * wherever that is. That for every such n, each STRIDE-th, or a few: one n for every other pair. Prints
 * TAP.                                                                                              */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "tests/sensors/watcher.h"

enum { ITERATION = 1, PATIENT = 3, READ = 5, MOST_STEPS = 12000, MOST_PATIENT = 700 };

static const char *binary;
static struct watcher watcher;

struct way {
  const char *name;
  unsigned event, modes;
  uint32_t ring_bytes;
};
static const struct way ways[] = {{"plain", ITERATION, SN_TRACE, 0},
                                  {"first", ITERATION, SN_TRACE, 0},
                                  {"measured", ITERATION, SN_TRACE, 0},
                                  {"full", ITERATION, SN_TRACE, 4096},
                                  {"patient", PATIENT, SN_TRACE, 4096},
                                  {"renew", ITERATION, SN_TRACE, 0},
                                  {"object", READ, SN_TRACE, 0},
                                  {"once", ITERATION, SN_TRACE | SN_ONCE, 0},
                                  {"count", ITERATION, SN_COUNT | SN_SUM | SN_HISTOGRAM, 0},
                                  {"nested", ITERATION, SN_TRACE, 0},
                                  {"new", READ, SN_COUNT, 0}};
static const char *const actions[] = {
    "fork",         "fork-twice", "fork-on", "fork-beside", "sensor", "jump", "thread-exit",
    "pthread-exit", "cancel",     "exit",    "exec",        "vfork",  "clone"};
/* By this one the sensor is not interrupted. */
static bool is_beside(const char *action) {
  return strcmp(action, "fork-beside") == 0;
}

/* Objects are not made in handlers. */
static bool goes_with(const struct way *way, const char *action) {
#ifdef __SANITIZE_ADDRESS__
  /* It does not learn that a cancelled thread has left its frames, and takes them for live ones. */
  if (strcmp(action, "cancel") == 0) return false;
  /* Its allocator is not ready for a child when a thread stands in it. */
  if (strcmp(way->name, "new") == 0) return false;
#endif
  return strcmp(way->name, "new") != 0 || is_beside(action);
}

#define CHECK(CONDITION, ...)                               \
  do {                                                      \
    if (!(CONDITION)) watcher_wrong(&watcher, __VA_ARGS__); \
  } while (0)

/* --- leading the program */

static uint32_t stage(void) {
  return __atomic_load_n(&watcher.ledger->stage, __ATOMIC_SEQ_CST);
}

/* Reads until the thread has stopped; its id, 0: the program has ended instead. */
static pid_t await_stop(int *ret_status) {
  for (int i = 0; i < 1000000; i++) {
    pid_t thread = waitpid(-1, ret_status, __WALL | WNOHANG);
    /* Its own signals it gets. */
    if (thread > 0 && WIFSTOPPED(*ret_status) && WSTOPSIG(*ret_status) != SIGSTOP) {
      ptrace(PTRACE_CONT, thread, 0, WSTOPSIG(*ret_status));
      continue;
    }
    if (thread > 0 && WIFSTOPPED(*ret_status)) return thread;
    if (thread == watcher.program) {
      watcher.program = 0; /* the number may be another's now */
      return 0;
    }
    watcher_pass(&watcher);
  }
  return 0;
}

static bool step(pid_t thread) {
  int status;
  return ptrace(PTRACE_SINGLESTEP, thread, 0, 0) == 0 &&
         waitpid(thread, &status, __WALL) == thread && WIFSTOPPED(status);
}

static bool is_blocked(pid_t thread) {
  uint64_t mask = 0;
  return ptrace(PTRACE_GETSIGMASK, thread, sizeof mask, &mask) == 0 &&
         (mask & UINT64_C(1) << (SIGUSR1 - 1)) != 0;
}

/* Leads to the sensor; false: the thread is gone. */
static bool lead_to_sensor(pid_t thread) {
  for (int i = 0; stage() < 50 && i < 20000; i++) {
    if (!step(thread)) return false;
  }
  return stage() == 50;
}

/* Leads to instruction N of the sensor; with NO_BLOCK from there to the next one that is not one of many where
 * signals are blocked. false: it has none.                                                          */
static bool lead(pid_t thread, long n, bool no_block) {
  bool blocked = false, before = false;
  if (!lead_to_sensor(thread)) return false;
  for (long i = 0; i < n || (no_block && blocked && before && i < MOST_STEPS); i++) {
    if (!step(thread) || stage() != 50) return false;
    if (i < n - 2) continue;
    before = blocked;
    blocked = is_blocked(thread);
  }
  return true;
}

/* The instructions of a way's sensor that are looked at: all, and those where signals are not blocked, with one
 * of each row of those where they are.                                                              */
struct places {
  long all, count, at[MOST_STEPS];
};

static void scout(pid_t thread, long most, struct places *places) {
  bool blocked = false;
  if (!lead_to_sensor(thread)) return;
  for (; places->all < most; places->all++) {
    bool before = blocked;
    blocked = is_blocked(thread);
    if (!(blocked && before)) places->at[places->count++] = places->all;
    if (!step(thread) || stage() != 50) return;
  }
}

static int finish(void) {
  struct timespec nap = {0, 50000};
  int status = 0, ended = -1;
  for (int i = 0; i < 400000 && ended < 0; i++) {
    pid_t one = waitpid(watcher.program, &status, WNOHANG);
    if (one == watcher.program && !WIFSTOPPED(status)) ended = status;
    watcher_pass(&watcher);
    if (ended < 0) nanosleep(&nap, NULL);
  }
  if (ended < 0) {
    watcher_wrong(&watcher, "hangs");
  } else {
    watcher.program = 0;
  }
  for (uint64_t before = watcher.records + 1; before != watcher.records;) {
    before = watcher.records;
    watcher_pass(&watcher);
  }
  return ended;
}

/* --- what must hold */

static uint64_t lost_in_all(const struct sn_account *account) {
  uint64_t lost = 0;
  for (unsigned cause = 0; cause < SN_CAUSES; cause++) lost += account->lost[cause];
  return lost;
}

static bool comes_back(const char *action) {
  return strncmp(action, "fork", 4) == 0 || strcmp(action, "sensor") == 0 ||
         strcmp(action, "vfork") == 0 || strcmp(action, "clone") == 0;
}

static void check_account(const struct way *way, const char *action) {
  const struct ledger_line *line = &watcher.ledger->lines[0];
  for (size_t p = 0; p < watcher.peer_count; p++) {
    struct sn_account account;
    sn_peer_account(watcher.peers[p], true, &account);
    CHECK(account.generated == account.received + lost_in_all(&account),
          "process %zu: generated %" PRIu64 ", received %" PRIu64 ", lost %" PRIu64, p,
          account.generated, account.received, lost_in_all(&account));
    CHECK(account.lost[SN_CORRUPT] == 0, "process %zu: corrupt", p);
    if (p != 0 || (way->modes & SN_ONCE) || !(way->modes & SN_TRACE)) continue;
    uint64_t torn = account.lost[SN_TORN] + account.lost[SN_ABANDONED];
    uint64_t least = line->after, most = line->before;
    CHECK(!comes_back(action) || torn == 0, "%" PRIu64 " torn", torn);
    /* The last twenty are of the other event. */
    if (way->event != ITERATION) least = least > 20 ? least - 20 : 0;
    CHECK(account.generated >= least && account.generated <= most,
          "generated %" PRIu64 ", called %" PRIu64 " to %" PRIu64, account.generated, least, most);
    if (comes_back(action) && way->event == ITERATION) {
      CHECK(account.generated == most, "generated %" PRIu64 " of %" PRIu64, account.generated,
            most);
    }
  }
  CHECK(watcher.ledger->bad == 0, "the program found %" PRIu32 " (%#" PRIx32 ")",
        watcher.ledger->bad & 255u, watcher.ledger->bad >> 8);
  CHECK(watcher.refused == 0, "%" PRIu64 " rings refused", watcher.refused);
}

/* --- a run */

static void step_switch(void *context, const struct sn_object_view *object) {
  sn_peer_switch_object(context, object, READ, SN_TRACE);
}

/* Starts the program, as far as before its sensor; the thread, 0: it has ended, which is wrong. */
static pid_t begin(const struct way *way, const char *action) {
  char role[64];
  int status;
  watcher.modes[way->event] = way->modes;
  watcher.ring_bytes = way->ring_bytes;
  watcher_listen(&watcher);
  snprintf(role, sizeof role, "%s+%s", way->name, action);
  /* A child that cannot use what its parent was changing leaves it where it is. */
  const char *before = getenv("ASAN_OPTIONS");
  char *options = before != NULL ? base_xstrdup(before) : NULL;
  if (is_beside(action)) setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  watcher_run(&watcher, binary, role, 0);
  unsetenv("ASAN_OPTIONS");
  if (options != NULL) setenv("ASAN_OPTIONS", options, 1);
  free(options);
  watcher_need(&watcher, 1);
  watcher_until(&watcher, 1);
  if (strcmp(way->name, "object") == 0) {
    /* Objects that were there before: the default is for new ones. */
    struct sn_object_place place = {0, 0};
    sn_peer_update(watcher.peers[0]);
    sn_peer_objects_slice(watcher.peers[0], &place, 8, step_switch, watcher.peers[0]);
  }
  if (strcmp(way->name, "full") == 0 || strcmp(way->name, "patient") == 0) watcher.share = 1u << 30;
  watcher_go(&watcher, 1);
  pid_t thread = await_stop(&status);
  if (thread == 0) {
    watcher_wrong(&watcher, "ended before its sensor");
    return 0;
  }
  for (int i = 0; i < 3; i++) watcher_pass(&watcher);
  watcher.share = 0;
  if (strcmp(way->name, "renew") == 0) {
    sn_peer_attach(watcher.peers[0], 0);
    sn_peer_switch(watcher.peers[0], 0, way->event, way->modes);
  }
  return thread;
}

/* Lets the thread go, and looks at what becomes of the program. */
static void let_go(const struct way *way, const char *action, pid_t thread, int signal_number) {
  ptrace(PTRACE_DETACH, thread, 0, signal_number);
  int status = finish();
  CHECK(status == 0, "the program ended with %#x, having found %u (%#x)", (unsigned)status,
        watcher.ledger->bad & 255u, watcher.ledger->bad >> 8);
  if (status >= 0) check_account(way, action);
}

/* The program's other thread does what it has to, and has done it; or it waits for the one that stands here (in
 * malloc, say), which then goes on.                                                                 */
static void await_other(void) {
  time_t end = time(NULL) + 3;
  watcher_go(&watcher, 2);
  while (__atomic_load_n(&watcher.ledger->seen, __ATOMIC_SEQ_CST) == 0 && time(NULL) < end) {
    watcher_pass(&watcher);
  }
}

/* PLACES: these are looked for, and nothing else is done. true: the sensor has been interrupted. */
static bool run(const struct way *way, const char *action, long n, struct places *places) {
  jmp_buf end;
  volatile bool good = false;
  watcher_init(&watcher);
  watcher.give_up = &end;
  if (setjmp(end) == 0) {
    pid_t thread = begin(way, action);
    if (thread != 0 && places != NULL) {
      scout(thread, way->event == PATIENT ? MOST_PATIENT : MOST_STEPS, places);
      watcher_go(&watcher, 2);
    } else if (thread != 0) {
      good = lead(thread, n, !is_beside(action));
      if (is_beside(action)) await_other();
    }
    if (thread != 0) let_go(way, action, thread, good && !is_beside(action) ? SIGUSR1 : 0);
  }
  watcher.give_up = NULL;
  watcher_done(&watcher);
  return good;
}

static bool is_wanted(int argc, char **argv, const char *name) {
  for (int i = 3; i < argc; i++) {
    if (strcmp(argv[i], name) == 0) return true;
  }
  return argc <= 3;
}

/* Some containers let nobody trace. */
static bool may_trace(void) {
  int status;
  pid_t child = fork();
  if (child == 0) {
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(1);
    raise(SIGSTOP);
    _exit(0);
  }
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return false;
  bool good = step(child);
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return good;
}

/* What has come of the runs of one case, and of all. */
struct tally {
  long runs, interrupted;
  uint64_t wrong;
};

static void run_at(const struct way *way, const char *action, long n, struct tally *tally) {
  tally->runs++;
  tally->interrupted += run(way, action, n, NULL);
  if (watcher.wrong != 0 && tally->wrong++ < 3) {
    printf("# after instruction %ld: %s\n", n, watcher.first_wrong);
  }
}

/* Each STRIDE-th of the places of way W, beginning elsewhere for each action; 0: FEW, spread over all. */
static void run_case(size_t w, size_t a, const struct places *places, long stride,
                     struct tally *tally) {
  enum { ACTIONS = sizeof actions / sizeof *actions, FEW = 1, SLOWER = 10 };
  const struct way *way = &ways[w];
  bool beside = is_beside(actions[a]);
  long count = beside ? places->all : places->count;
  long first = (long)(w * 7 + a * 3), step = stride;
  if (stride == 0) {
    step = count / FEW + 1;
    first = (long)((w + a * 5) % ACTIONS) * step / ACTIONS;
  } else if (beside && stride > 1) {
    step = stride * SLOWER; /* whoever has the lock is waited for */
  }
  for (long i = first % (step < count ? step : count); i < count; i += step) {
    run_at(way, actions[a], beside ? i : places->at[i], tally);
  }
}

/* This must fail: a program that is not there. */
static bool misses_program(void) {
  const char *good = binary;
  binary = "/bin/false";
  run(&ways[6], actions[0], 0, NULL);
  binary = good;
  return watcher.wrong != 0;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  binary = argv[1];
  if (!may_trace()) {
    printf("1..0 # SKIP this process may not trace others\n");
    return 0;
  }
  long stride = argc <= 2 ? 1 : strcmp(argv[2], "few") == 0 ? 0 : strtol(argv[2], NULL, 10);
  int number = 0, failures = 0;
  struct tally all = {0, 0, 0};
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    static struct places places;
    places.all = places.count = 0;
    for (size_t a = 0; a < sizeof actions / sizeof *actions; a++) {
      char name[64];
      struct tally tally = {0, 0, 0};
      snprintf(name, sizeof name, "%s+%s", ways[w].name, actions[a]);
      if (!is_wanted(argc, argv, name) && !is_wanted(argc, argv, ways[w].name)) continue;
      if (!goes_with(&ways[w], actions[a])) continue;
      if (stride == 0 && (w + a) % 2 == 0) continue; /* as on the squares of a board */
      if (places.count == 0) {
        run(&ways[w], actions[a], 0, &places);
        if (watcher.wrong != 0) printf("# not interrupted: %s\n", watcher.first_wrong);
        tally.wrong += watcher.wrong + (places.count == 0);
      }
      run_case(w, a, &places, stride, &tally);
      printf("%sok %d - %s\n# %ld runs at %ld of %ld instructions, %" PRIu64 " wrong\n",
             tally.wrong ? "not " : "", ++number, name, tally.runs, places.count, places.all,
             tally.wrong);
      failures += tally.wrong != 0;
      all.runs += tally.runs;
      all.interrupted += tally.interrupted;
    }
  }
  /* On another day a sensor may have an instruction less, not many. */
  bool most = all.interrupted * 2 > all.runs;
  printf("%sok %d - sensors were interrupted: %ld of %ld\n", most ? "" : "not ", ++number,
         all.interrupted, all.runs);
  bool misses = misses_program();
  printf("%sok %d - a program that is not there is missed\n1..%d\n", misses ? "" : "not ",
         number + 1, number + 1);
  return failures != 0 || !most || !misses;
}
