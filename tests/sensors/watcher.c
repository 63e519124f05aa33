/* A reader for the tests. */
#include "tests/sensors/watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

void watcher_wrong(struct watcher *watcher, const char *format, ...) {
  va_list arguments;
  if (watcher->wrong++ != 0) return;
  va_start(arguments, format);
  vsnprintf(watcher->first_wrong, sizeof watcher->first_wrong, format, arguments);
  va_end(arguments);
}

void watcher_init(struct watcher *watcher) {
  char base[] = "/tmp/tquel-sensors-XXXXXX";
  memset(watcher, 0, sizeof *watcher);
  if (mkdtemp(base) == NULL) abort();
  snprintf(watcher->directory, sizeof watcher->directory, "%s/tquel", base);
  snprintf(watcher->ledger_path, sizeof watcher->ledger_path, "%s/ledger", base);
  setenv("XDG_RUNTIME_DIR", base, 1);
  if (mkdir(watcher->directory, 0700) != 0) abort();
  int file = open(watcher->ledger_path, O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof *watcher->ledger) != 0) abort();
  watcher->ledger =
      mmap(NULL, sizeof *watcher->ledger, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (watcher->ledger == MAP_FAILED) abort();
  close(file);
  for (size_t i = 0; i < WATCHER_LAST; i++) watcher->last[i] = -1;
}

void watcher_listen(struct watcher *watcher) {
  const char *reason = NULL;
  watcher->listener = sn_listener_open(watcher->directory, 0600, &reason);
  if (watcher->listener == NULL) watcher_wrong(watcher, "listener: %s", reason);
}

void watcher_deafen(struct watcher *watcher) {
  sn_listener_free(watcher->listener);
  watcher->listener = NULL;
}

static void give_up(struct watcher *watcher) {
  if (watcher->give_up != NULL) longjmp(*watcher->give_up, 1);
}

void watcher_run(struct watcher *watcher, const char *binary, const char *role, long count) {
  char number[24];
  snprintf(number, sizeof number, "%ld", count);
  fflush(NULL);
  watcher->program = fork();
  if (watcher->program == 0) {
    execl(binary, binary, watcher->ledger_path, role, number, (char *)NULL);
    fprintf(stderr, "%s: %s\n", binary, strerror(errno));
    _exit(127);
  }
  if (watcher->program > 0) return;
  watcher->program = 0; /* not -1, which to kill means everybody */
  watcher_wrong(watcher, "the program cannot be started: %s", strerror(errno));
  give_up(watcher);
}

/* --- a pass */

static void find(void *context, const char *name) {
  struct watcher *watcher = context;
  const char *reason = NULL;
  for (size_t i = 0; i < watcher->peer_count; i++) {
    if (strcmp(sn_peer_name(watcher->peers[i]), name) == 0) return;
  }
  if (watcher->peer_count == WATCHER_PEERS) return;
  struct sn_peer *peer = sn_peer_open(watcher->directory, name, &reason);
  if (peer == NULL) return; /* it ended meanwhile */
  sn_peer_beat(peer, now_ns());
  sn_peer_attach(peer, watcher->ring_bytes);
  watcher->enabled[watcher->peer_count] = 0;
  watcher->peers[watcher->peer_count++] = peer;
}

/* A program is announced before its modules are. */
static void enable(struct watcher *watcher, size_t p) {
  struct sn_peer *peer = watcher->peers[p];
  for (uint32_t module = watcher->enabled[p]; module < sn_peer_modules(peer); module++) {
    for (uint32_t event = 1; event < WATCHER_EVENTS; event++) {
      if (watcher->modes[event] != 0) sn_peer_switch(peer, module, event, watcher->modes[event]);
    }
    watcher->enabled[p] = module + 1;
  }
}

static void take_rings(struct watcher *watcher) {
  struct sn_handover handover;
  uint32_t uid;
  int file;
  while (watcher->listener != NULL &&
         (file = sn_listener_next(watcher->listener, &handover, &uid)) >= 0) {
    const char *reason = "of an unknown program";
    struct sn_peer *peer = NULL;
    /* A program may have come since we looked. */
    sn_directory_each(watcher->directory, find, watcher);
    for (size_t i = 0; i < watcher->peer_count; i++) {
      if (strcmp(sn_peer_name(watcher->peers[i]), handover.announcement) == 0) {
        peer = watcher->peers[i];
      }
    }
    if (peer == NULL || !sn_peer_adopt(peer, &handover, file, &reason)) {
      watcher->refused++;
      if (peer == NULL) close(file);
    }
  }
}

static bool drain(struct watcher *watcher) {
  size_t left = watcher->limit != 0 ? watcher->limit : SIZE_MAX;
  if (watcher->share != 0) {
    uint64_t most = watcher_calls(watcher, true) / watcher->share;
    size_t more = most > watcher->records ? most - watcher->records : 0;
    if (more < left) left = more;
  }
  bool any = false;
  for (size_t p = 0; p < watcher->peer_count; p++) {
    struct sn_peer *peer = watcher->peers[p];
    struct sn_record_view record;
    sn_peer_update(peer);
    enable(watcher, p);
    for (size_t i = 0; i < sn_peer_pipes(peer); i++) {
      while (left > 0 && sn_pipe_next(peer, i, &record)) {
        left--;
        any = true;
        watcher->records++;
        if (record.event < WATCHER_EVENTS) watcher->by_event[record.event]++;
        if (record.kind & SN_RECORD_ROUND) watcher->rounds++;
        if (watcher->see != NULL) watcher->see(watcher, peer, &record);
      }
      sn_pipe_release(peer, i);
    }
    sn_peer_beat(peer, now_ns());
  }
  return any;
}

void watcher_pass(struct watcher *watcher) {
  struct timespec nap = {0, (long)watcher->nap_us * 1000 + 100000};
  sn_directory_each(watcher->directory, find, watcher);
  take_rings(watcher);
  if (!drain(watcher) || watcher->nap_us != 0) nanosleep(&nap, NULL);
}

/* Whether the program has ended, and how (as wait says it); it is not waited for. Of another process's program
 * nothing is known.                                                                                 */
static bool has_ended(const struct watcher *watcher, int *ret_status) {
  siginfo_t info = {.si_pid = 0};
  if (watcher->program <= 0 ||
      waitid(P_PID, (id_t)watcher->program, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != watcher->program) {
    return false;
  }
  *ret_status = info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
  return true;
}

static bool is_found(const struct watcher *watcher, size_t peers) {
  return watcher->peer_count >= peers && watcher->enabled[peers - 1] != 0;
}

bool watcher_find(struct watcher *watcher, size_t peers) {
  uint64_t end = now_ns() + UINT64_C(120000000000);
  int status = 0;
  bool ended = false;
  for (bool last = false; !is_found(watcher, peers) && !last;) {
    ended = has_ended(watcher, &status); /* what it was announced as before that, this pass finds */
    last = ended || now_ns() >= end;
    watcher_pass(watcher);
  }
  if (is_found(watcher, peers)) return true;
  if (ended) {
    watcher_wrong(watcher, "announced are %zu of %zu, and the program has ended with %#x",
                  watcher->peer_count, peers, (unsigned)status);
  } else {
    watcher_wrong(watcher, "announced are %zu of %zu after two minutes, and the program runs",
                  watcher->peer_count, peers);
  }
  return false;
}

void watcher_need(struct watcher *watcher, size_t peers) {
  if (!watcher_find(watcher, peers)) give_up(watcher);
}

bool watcher_until(struct watcher *watcher, uint32_t stage) {
  uint64_t end = now_ns() + UINT64_C(120000000000);
  uint32_t now;
  do {
    now = __atomic_load_n(&watcher->ledger->stage, __ATOMIC_SEQ_CST);
    watcher_pass(watcher);
  } while (now < stage && now_ns() < end);
  return now >= stage;
}

void watcher_go(struct watcher *watcher, uint32_t stage) {
  __atomic_store_n(&watcher->ledger->go, stage, __ATOMIC_SEQ_CST);
}

int watcher_finish(struct watcher *watcher) {
  uint64_t end = now_ns() + UINT64_C(600000000000);
  int status = -1;
  while (watcher->program > 0 && waitpid(watcher->program, &status, WNOHANG) != watcher->program) {
    if (now_ns() > end) kill(watcher->program, SIGKILL);
    watcher_pass(watcher);
  }
  watcher->program = 0;
  watcher->limit = watcher->share = 0;
  watcher->nap_us = 0;
  for (uint64_t before = watcher->records + 1; before != watcher->records;) {
    before = watcher->records;
    watcher_pass(watcher);
  }
  return status;
}

void watcher_account(struct watcher *watcher, struct sn_account *ret_account) {
  memset(ret_account, 0, sizeof *ret_account);
  for (size_t p = 0; p < watcher->peer_count; p++) {
    struct sn_account account;
    sn_peer_account(watcher->peers[p], true, &account);
    ret_account->generated += account.generated;
    ret_account->received += account.received;
    ret_account->waiting += account.waiting;
    for (unsigned cause = 0; cause < SN_CAUSES; cause++) {
      ret_account->lost[cause] += account.lost[cause];
    }
  }
}

uint64_t watcher_calls(const struct watcher *watcher, bool after) {
  uint64_t calls = 0;
  for (size_t i = 0; i < LEDGER_LINES; i++) {
    const struct ledger_line *line = &watcher->ledger->lines[i];
    calls += __atomic_load_n(after ? &line->after : &line->before, __ATOMIC_ACQUIRE);
  }
  return calls;
}

void watcher_done(struct watcher *watcher) {
  if (watcher->program > 0) {
    kill(watcher->program, SIGKILL);
    waitpid(watcher->program, NULL, 0);
  }
  for (size_t p = 0; p < watcher->peer_count; p++) {
    sn_peer_remove(watcher->peers[p]);
    sn_peer_free(watcher->peers[p]);
  }
  watcher_deafen(watcher);
  munmap(watcher->ledger, sizeof *watcher->ledger);
  unlink(watcher->ledger_path);
  char lock[240];
  snprintf(lock, sizeof lock, "%s/collector.lock", watcher->directory);
  unlink(lock);
  if (rmdir(watcher->directory) != 0) watcher_wrong(watcher, "something is left in the directory");
  *strrchr(watcher->directory, '/') = '\0';
  rmdir(watcher->directory);
}
