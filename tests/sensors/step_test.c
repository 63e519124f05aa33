/* Sensors interrupted after each of their instructions: `step_test PROGRAM [STRIDE [WAY+ACTION]...]`
 *
 * For each way through a sensor and each thing that a handler may do: executes stepped.c's sensor with
 * PTRACE_SINGLESTEP up to instruction n, sends the signal there, lets the program go, and looks at how
 * it ends. That for every n, or each STRIDE-th. Where signals are blocked (while the lock is held) one
 * n stands for all: the signal comes when they are no longer. Prints TAP.                             */
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

#include "tests/sensors/watcher.h"

enum { ITERATION = 1, PATIENT = 3, READ = 5, MOST_STEPS = 6000 };

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
                                  {"nested", ITERATION, SN_TRACE, 0}};
static const char *const actions[] = {"fork", "fork-twice",  "fork-on",      "sensor",
                                      "jump", "thread-exit", "pthread-exit", "cancel",
                                      "exit", "exec",        "vfork",        "clone"};

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
    if (thread == watcher.program) return 0;
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

/* Leads to instruction N of the sensor. *ret_good: there is one, and not one of many where signals are
 * blocked. false: the thread is gone.                                                                */
static bool lead(pid_t thread, long n, bool *ret_good) {
  *ret_good = false;
  for (int i = 0; stage() < 50 && i < 20000; i++) {
    if (!step(thread)) return false;
  }
  bool blocked = false;
  for (long i = 0; i < n; i++) {
    if (!step(thread) || stage() != 50) return true;
    if (i >= n - 2 && i < n - 1) blocked = is_blocked(thread);
  }
  *ret_good = !(blocked && is_blocked(thread));
  return true;
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

/* false: the sensor has no instruction N. */
static bool run(const struct way *way, const char *action, long n) {
  char role[64];
  int status;
  watcher_init(&watcher);
  watcher.modes[way->event] = way->modes;
  watcher.ring_bytes = way->ring_bytes;
  watcher_listen(&watcher);
  snprintf(role, sizeof role, "%s+%s", way->name, action);
  watcher_run(&watcher, binary, role, n);
  if (!watcher_find(&watcher, 1)) watcher_wrong(&watcher, "is not announced");
  if (way->event == READ) {
    watcher_until(&watcher, 1);
    /* Objects that were there before: the default is for new ones. */
    struct sn_object_place place = {0, 0};
    extern void step_switch(void *context, const struct sn_object_view *object);
    sn_peer_update(watcher.peers[0]);
    sn_peer_objects_slice(watcher.peers[0], &place, 8, step_switch, watcher.peers[0]);
  }
  watcher_until(&watcher, 1);
  if (strcmp(way->name, "full") == 0 || strcmp(way->name, "patient") == 0) watcher.share = 1u << 30;
  watcher_go(&watcher, 1);
  bool good = false, more = true;
  pid_t thread = await_stop(&status);
  if (thread == 0) {
    watcher_wrong(&watcher, "ended before its sensor");
  } else {
    for (int i = 0; i < 3; i++) watcher_pass(&watcher);
    watcher.share = 0;
    if (strcmp(way->name, "renew") == 0) {
      sn_peer_attach(watcher.peers[0], 0);
      sn_peer_switch(watcher.peers[0], 0, way->event, way->modes);
    }
    more = lead(thread, n, &good) && stage() == 50;
    ptrace(PTRACE_DETACH, thread, 0, good && more ? SIGUSR1 : 0);
    status = finish();
    CHECK(status == 0, "the program ended with %#x, having found %u (%#x)", (unsigned)status,
          watcher.ledger->bad & 255u, watcher.ledger->bad >> 8);
    if (status >= 0) check_account(way, action);
  }
  watcher_done(&watcher);
  return more;
}

void step_switch(void *context, const struct sn_object_view *object);
void step_switch(void *context, const struct sn_object_view *object) {
  sn_peer_switch_object(context, object, READ, SN_TRACE);
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

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  binary = argv[1];
  if (!may_trace()) {
    printf("1..0 # SKIP this process may not trace others\n");
    return 0;
  }
  long stride = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
  int number = 0, failures = 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
    for (size_t a = 0; a < sizeof actions / sizeof *actions; a++) {
      char name[64];
      uint64_t wrong = 0;
      long n = stride > 1 ? (long)((w * 7 + a * 3) % (size_t)stride) : 0, runs = 0;
#ifdef __SANITIZE_ADDRESS__
      /* It does not learn that a cancelled thread has left its frames, and takes them for live ones. */
      if (strcmp(actions[a], "cancel") == 0) continue;
#endif
      snprintf(name, sizeof name, "%s+%s", ways[w].name, actions[a]);
      if (!is_wanted(argc, argv, name) && !is_wanted(argc, argv, ways[w].name)) continue;
      for (; n < (ways[w].event == PATIENT ? 700 : MOST_STEPS) && run(&ways[w], actions[a], n);
           n += stride) {
        runs++;
        if (watcher.wrong == 0) continue;
        if (wrong++ < 3) printf("# after instruction %ld: %s\n", n, watcher.first_wrong);
      }
      if (watcher.wrong != 0) printf("# at the end (%ld): %s\n", n, watcher.first_wrong);
      wrong += watcher.wrong;
      printf("%sok %d - %s\n# %ld runs up to instruction %ld, %" PRIu64 " wrong\n",
             wrong ? "not " : "", ++number, name, runs, n, wrong);
      failures += wrong != 0;
    }
  }
  printf("1..%d\n", number);
  return failures != 0;
}
