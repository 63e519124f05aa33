/* The run-time for instrumented programs, and its reading side: `runtime_test WATCHED-PROGRAM [NAME]...`
 *
 * Each scenario starts a program of watched.c and reads it while it does what may go wrong. In all of
 * them, generated = received + lost holds, and generated is what the program itself has counted. Prints
 * TAP.                                                                                               */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "sensors/collect/clock.h"
#include "tests/amount.h"
#include "tests/sensors/watcher.h"

enum event {
  ITERATION = 1,
  LONG,
  PATIENT,
  BRIEF,
  READ,
  ALWAYS,
  STATUS,
  POLL,
  SINGLE,
  SHORTEST,
  WRITE
};

static const char *binary;
static struct watcher watcher;

#define CHECK(CONDITION, ...)                               \
  do {                                                      \
    if (!(CONDITION)) watcher_wrong(&watcher, __VA_ARGS__); \
  } while (0)

static void nap_ms(long ms) {
  struct timespec nap = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&nap, NULL);
}

/* --- what holds for all */

static uint64_t lost_in_all(const struct sn_account *account) {
  uint64_t lost = 0;
  for (unsigned cause = 0; cause < SN_CAUSES; cause++) lost += account->lost[cause];
  return lost;
}

static void say_account(const struct sn_account *account) {
  printf("# generated %" PRIu64 ", received %" PRIu64 ", lost: full %" PRIu64
         ", unreachable %" PRIu64 ", nested %" PRIu64 ", oversize %" PRIu64 ", torn %" PRIu64
         ", abandoned %" PRIu64 ", corrupt %" PRIu64 "; called %" PRIu64 "\n",
         account->generated, account->received, account->lost[SN_FULL],
         account->lost[SN_UNREACHABLE], account->lost[SN_NESTED], account->lost[SN_OVERSIZE],
         account->lost[SN_TORN], account->lost[SN_ABANDONED], account->lost[SN_CORRUPT],
         watcher_calls(&watcher, false));
}

/* generated = received + lost, and it is what the program has called. */
static struct sn_account balance(void) {
  struct sn_account account;
  watcher_account(&watcher, &account);
  uint64_t least = watcher_calls(&watcher, true), most = watcher_calls(&watcher, false);
  CHECK(account.generated == account.received + lost_in_all(&account), "does not balance");
  CHECK(account.generated >= least && account.generated <= most,
        "generated %" PRIu64 ", called %" PRIu64 " to %" PRIu64, account.generated, least, most);
  CHECK(watcher.ledger->bad == 0, "the program found %" PRIu32, watcher.ledger->bad);
  CHECK(watcher.refused == 0, "%" PRIu64 " rings refused", watcher.refused);
  say_account(&account);
  return account;
}

static int32_t number_of(const struct sn_record_view *record) {
  int32_t number = INT32_MIN;
  if (record->payload_bytes >= 4) memcpy(&number, record->payload, 4);
  return number;
}

/* Numbers of one thread grow. */
static void see_growing(struct watcher *self, const struct sn_peer *peer,
                        const struct sn_record_view *record) {
  (void)peer;
  int32_t number = number_of(record);
  int64_t *last = &self->last[record->tid % WATCHER_LAST];
  if (number <= *last && number != 0) watcher_wrong(self, "%d behind %" PRId64, number, *last);
  *last = number;
}

/* Nothing is missing: the number is the place in the pipe. */
static void see_all(struct watcher *self, const struct sn_peer *peer,
                    const struct sn_record_view *record) {
  (void)peer;
  if ((uint64_t)number_of(record) != record->sequence) {
    watcher_wrong(self, "number %d at %" PRIu64, number_of(record), record->sequence);
  }
}

static void start(const char *role, long count, unsigned event, unsigned modes) {
  watcher.modes[event] = modes;
  if (watcher.listener == NULL) watcher_listen(&watcher);
  watcher_run(&watcher, binary, role, count);
  watcher_need(&watcher, 1);
  watcher_until(&watcher, 1);
  watcher_go(&watcher, 1);
}

static void finish(void) {
  int status = watcher_finish(&watcher);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the program ended with %d", status);
}

/* --- the scenarios */

static void nobody_listens(void) {
  watcher_run(&watcher, binary, "mixed", 200000);
  watcher_go(&watcher, 1);
  int status = 0;
  waitpid(watcher.program, &status, 0);
  watcher.program = 0;
  CHECK(status == 0, "the program ended with %d", status);
  CHECK(watcher.ledger->bad == 0, "errno changed"); /* and watcher_done finds nothing left over */
}

static void nobody_can_listen(void) {
  setenv("XDG_RUNTIME_DIR", "/nonexistent/directory", 1);
  nobody_listens();
}

/* A limit of the size of files, which would end whoever passes it. */
static void no_files(void) {
  struct rlimit before, none;
  getrlimit(RLIMIT_FSIZE, &before);
  none = (struct rlimit){0, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &none);
  watcher_run(&watcher, binary, "mixed", 20000);
  setrlimit(RLIMIT_FSIZE, &before);
  watcher_go(&watcher, 1);
  int status = 0;
  waitpid(watcher.program, &status, 0);
  watcher.program = 0;
  CHECK(status == 0, "the program ended with %d", status);
  CHECK(watcher.ledger->bad == 0, "errno changed");
}

static void everything_arrives(void) {
  watcher.see = see_all;
  watcher.ring_bytes = 1u << 20;
  watcher.nap_us = 0;
  start("plain", 20000, ITERATION, SN_TRACE);
  finish();
  struct sn_account account = balance();
  CHECK(account.received == 20000, "not all arrived");
}

/* The first records are measured, then about one in a thousand. */
static void costs(void) {
  struct sn_entry_view entry;
  watcher.ring_bytes = 1u << 20;
  start("plain", 200000, ITERATION, SN_TRACE);
  finish();
  struct sn_account account = balance();
  CHECK(sn_peer_entry(watcher.peers[0], 0, ITERATION, &entry), "no entry");
  CHECK(entry.cost_samples >= 8 + account.received / 4000 &&
            entry.cost_samples <= 16 + account.received / 100,
        "%" PRIu64 " of %" PRIu64 " records measured", entry.cost_samples, account.received);
  CHECK(entry.cost_ticks >= entry.cost_samples && entry.cost_ticks < entry.cost_samples * 65536,
        "%" PRIu64 " ticks", entry.cost_ticks);
  CHECK(sn_peer_entry(watcher.peers[0], 0, LONG, &entry) && entry.cost_samples == 0,
        "what was not enabled has cost something");
  CHECK(sn_peer_switched(watcher.peers[0], 0, ITERATION) == SN_TRACE, "the switch is another one");
}

static void see_mixed(struct watcher *self, const struct sn_peer *peer,
                      const struct sn_record_view *record) {
  (void)peer;
  int64_t *stamp = &self->last[250];
  if (record->kind & SN_RECORD_STAMP) {
    if ((int64_t)record->stamp < *stamp) watcher_wrong(self, "a stamp went back");
    *stamp = (int64_t)record->stamp;
  }
  if (record->event != LONG) return;
  int32_t number = number_of(record);
  int64_t large;
  uint32_t length;
  memcpy(&large, record->payload + 4, 8);
  memcpy(&length, record->payload + 12, 4);
  if (large != -(int64_t)number || length != (uint32_t)(number * INT64_C(7) % 390) ||
      record->payload_bytes < 16 + length || record->payload_bytes >= 16 + length + 8) {
    watcher_wrong(self, "record %d is not itself", number);
    return;
  }
  for (uint32_t i = 0; i < length; i++) {
    if (record->payload[16 + i] != 'a' + number % 26) watcher_wrong(self, "other words");
  }
}

static void all_kinds(void) {
  watcher.see = see_mixed;
  watcher.modes[LONG] = watcher.modes[SHORTEST] = SN_TRACE;
  start("mixed", 20000, ITERATION, SN_TRACE);
  finish();
  balance();
  CHECK(watcher.by_event[LONG] > 100 && watcher.by_event[SHORTEST] > 100 &&
            watcher.by_event[ALWAYS] > 100,
        "a kind is missing");
}

/* A twentieth of what comes is taken, however fast either side is. */
static void overload(void) {
  watcher.see = see_growing;
  watcher.ring_bytes = 64u << 10;
  watcher.share = 20;
  start("plain", 2000000, ITERATION, SN_TRACE);
  finish();
  struct sn_account account = balance();
  CHECK(account.lost[SN_FULL] > 9 * account.received, "no overload: received %" PRIu64,
        account.received);
  struct sn_entry_view entry;
  CHECK(sn_peer_entry(watcher.peers[0], 0, ITERATION, &entry) &&
            entry.missed == account.lost[SN_FULL],
        "the receptacle missed another number");
}

static void threads(void) {
  watcher.see = see_growing;
  start("threads", 100000, ITERATION, SN_TRACE);
  finish();
  balance();
  CHECK(sn_peer_pipes(watcher.peers[0]) >= 8, "fewer pipes than threads");
}

static void short_threads(void) {
  start("short-threads", 50, ITERATION, SN_TRACE);
  finish();
  struct sn_account account = balance();
  CHECK(account.received == 20000, "not all arrived");
  CHECK(sn_peer_pipes(watcher.peers[0]) <= 42, "rings are not used again");
}

static void signals(void) {
  watcher.ring_bytes = 1u << 20;
  start("signals", 3000000, ITERATION, SN_TRACE);
  finish();
  balance();
  CHECK(watcher.ledger->lines[1].after > 0, "no signal came");
}

static void handler_forks(void) {
  start("handler-forks", (long)amount(1000000, 3000000), ITERATION, SN_TRACE);
  finish();
  struct sn_account first, rest;
  sn_peer_account(watcher.peers[0], true, &first);
  CHECK(first.generated == watcher_calls(&watcher, true), "the parent's count is off");
  watcher_account(&watcher, &rest);
  for (size_t i = 0; i < watcher.peer_count; i++) {
    struct sn_account one;
    sn_peer_account(watcher.peers[i], true, &one);
    if (one.generated == one.received + lost_in_all(&one)) continue;
    watcher_wrong(&watcher, "process %zu does not balance", i);
    say_account(&one);
  }
  CHECK(rest.generated == rest.received + lost_in_all(&rest), "does not balance");
  CHECK(watcher.ledger->bad == 0, "a child ended with %" PRIu32, watcher.ledger->bad >> 8);
  printf("# %zu processes\n", watcher.peer_count);
}

static void family(void) {
  watcher.modes[READ] = SN_TRACE;
  start("family", 5000, ITERATION, SN_TRACE);
  watcher_until(&watcher, 10);
  watcher_need(&watcher, 2);
  watcher_go(&watcher, 2);
  finish();
  balance();
  /* It inherits the object; all its switches are off, and defaults are for new ones. */
  CHECK(watcher.by_event[READ] == 0, "the object is on");
}

static void raw_child(void) {
  start("raw-child", 3000, ITERATION, SN_TRACE);
  finish();
  balance();
}

static void exec(void) {
  start("again", 1000, ITERATION, SN_TRACE);
  watcher_until(&watcher, 20);
  CHECK(sn_peer_mapped(watcher.peers[0]), "is not itself");
  watcher_go(&watcher, 2);
  watcher_need(&watcher, 2);
  CHECK(sn_peer_alive(watcher.peers[0]), "another process?");
  CHECK(!sn_peer_mapped(watcher.peers[0]), "the first is still there");
  CHECK(sn_peer_identity(watcher.peers[0])->start_ticks ==
            sn_peer_identity(watcher.peers[1])->start_ticks,
        "another process");
  watcher_go(&watcher, 3);
  finish();
  struct sn_account account;
  watcher_account(&watcher, &account);
  CHECK(account.generated == account.received + lost_in_all(&account), "does not balance");
}

/* The program dies in the middle, at some other place each time. */
static void killed(const char *role) {
  start(role, 0, ITERATION, SN_TRACE);
  for (int i = 0; i < 600000 && watcher.records == 0; i++) watcher_pass(&watcher);
  for (int i = 0; i < 5 + (int)(watcher.directory[20] % 8) * 3; i++) watcher_pass(&watcher);
  kill(watcher.program, SIGKILL);
  watcher_finish(&watcher);
  struct sn_account account = balance();
  CHECK(account.received > 0, "nothing arrived");
  CHECK(!sn_peer_alive(watcher.peers[0]), "it is not dead");
}
static void sudden_death(void) {
  killed("endless");
}
static void sudden_death_of_threads(void) {
  killed("endless-threads");
}

/* A reader in a process of its own, which is killed while it reads. */
static pid_t run_reader(void) {
  fflush(NULL);
  pid_t reader = fork();
  if (reader == 0) {
    watcher_listen(&watcher);
    for (;;) {
      uint64_t before = watcher.records;
      watcher_pass(&watcher);
      __atomic_fetch_add(&watcher.ledger->seen, watcher.records - before, __ATOMIC_SEQ_CST);
    }
  }
  return reader;
}

static void readers_die(const char *role, int readers) {
  watcher.modes[ITERATION] = SN_TRACE;
  pid_t reader = run_reader();
  watcher_run(&watcher, binary, role, 0);
  watcher_go(&watcher, 1);
  for (int i = 0; i < readers; i++) {
    uint64_t seen = __atomic_load_n(&watcher.ledger->seen, __ATOMIC_SEQ_CST);
    for (int turn = 0; turn < 120000; turn++) {
      if (__atomic_load_n(&watcher.ledger->seen, __ATOMIC_SEQ_CST) != seen) break;
      nap_ms(1);
    }
    nap_ms(20);
    kill(reader, SIGKILL);
    waitpid(reader, NULL, 0);
    if (i + 1 < readers) reader = run_reader();
  }
  watcher_listen(&watcher);
}

static void reader_dies(void) {
  readers_die("plain-until-told", 5);
  for (int i = 0; i < 600000 && watcher.records == 0; i++) watcher_pass(&watcher);
  watcher_go(&watcher, 2);
  finish();
  struct sn_account account;
  watcher_account(&watcher, &account);
  say_account(&account);
  /* Between two readers switches are off; no more than what was called was generated. */
  CHECK(account.generated == account.received + lost_in_all(&account), "does not balance");
  CHECK(account.generated <= watcher_calls(&watcher, false), "more than was called");
  CHECK(account.received > 0 && account.lost[SN_ABANDONED] == 0, "some were abandoned");
}

/* Both ends die; the next reader finds what it can, and how much is gone. */
static void both_die(void) {
  readers_die("endless-threads", 2);
  kill(watcher.program, SIGKILL);
  watcher_finish(&watcher);
  struct sn_account account;
  watcher_account(&watcher, &account);
  say_account(&account);
  CHECK(account.generated == account.received + lost_in_all(&account), "does not balance");
  CHECK(account.received > 0 && account.generated > 0, "nothing arrived");
}

/* Switches are set by one whose socket is not there. */
static void no_socket(void) {
  watcher_listen(&watcher);
  watcher_run(&watcher, binary, "plain", 3000);
  watcher.modes[ITERATION] = SN_TRACE;
  watcher_need(&watcher, 1);
  watcher_deafen(&watcher);
  watcher_go(&watcher, 1);
  finish();
  struct sn_account account = balance();
  CHECK(account.lost[SN_UNREACHABLE] == 3000, "some were reachable");
}

/* The program is announced when files may be no larger any more: there is no ring. */
static void no_more_files(void) {
  struct rlimit none;
  getrlimit(RLIMIT_FSIZE, &none);
  none.rlim_cur = 0;
  watcher_listen(&watcher);
  watcher_run(&watcher, binary, "plain", 3000);
  watcher.modes[ITERATION] = SN_TRACE;
  watcher_need(&watcher, 1);
  CHECK(prlimit(watcher.program, RLIMIT_FSIZE, &none, NULL) == 0, "no limit");
  watcher_until(&watcher, 1);
  watcher_go(&watcher, 1);
  finish();
  struct sn_account account = balance();
  CHECK(account.lost[SN_UNREACHABLE] == 3000, "some had a ring");
}

static void patient(void) {
  watcher.see = see_all;
  watcher.ring_bytes = 4096;
  watcher.limit = 300;
  watcher.nap_us = 100;
  start("patient", 30000, PATIENT, SN_TRACE);
  finish();
  struct sn_account account = balance();
  CHECK(account.received == 30000, "it did not wait");
}

/* Whoever waits for a dead reader stops. */
static void patient_alone(void) {
  watcher.ring_bytes = 4096;
  start("patient", 2000, PATIENT, SN_TRACE);
  for (int i = 0; i < 3; i++) watcher_pass(&watcher);
  int status = 0;
  waitpid(watcher.program, &status, 0); /* no more passes, no more beats */
  CHECK(status == 0, "the program ended with %d", status);
  watcher.program = 0;
  for (int i = 0; i < 10; i++) watcher_pass(&watcher);
  struct sn_account account = balance();
  CHECK(account.lost[SN_FULL] > 0, "the ring took all");
}

/* Who waits meets another reader, when the first has taken nothing and is dead: the ring, which is full, is the
 * new one's, with all that is in it.                                                                 */
static void patient_handed_over(void) {
  uint64_t calls = 0, still = 0;
  watcher.ring_bytes = 4096;
  watcher.modes[PATIENT] = SN_TRACE;
  watcher.share = UINT64_MAX; /* it beats */
  watcher_run(&watcher, binary, "patient", 3000);
  pid_t reader = fork();
  if (reader == 0) {
    watcher_listen(&watcher);
    watcher_find(&watcher, 1);
    watcher_until(&watcher, 1);
    watcher_go(&watcher, 1);
    for (;;) watcher_pass(&watcher);
  }
  /* A ring takes more than a hundred: with fewer it is not let run. */
  for (int turn = 0; turn < 120000 && (calls <= 100 || still < 100); turn++) {
    nap_ms(1);
    uint64_t now = watcher_calls(&watcher, false);
    still = now == calls ? still + 1 : 0;
    calls = now;
  }
  CHECK(calls > 100 && calls < 3000, "it does not wait, after %" PRIu64, calls);
  kill(reader, SIGKILL);
  waitpid(reader, NULL, 0);
  watcher.share = 0;
  watcher.see = see_growing;
  watcher.nap_us = 1000;
  watcher_listen(&watcher);
  for (int i = 0; i < 20000 && watcher.records < calls; i++) watcher_pass(&watcher);
  CHECK(watcher.records >= calls, "of %" PRIu64 " records %" PRIu64 " came", calls,
        watcher.records);
  if (watcher.records < calls) kill(watcher.program, SIGKILL);
  finish();
  struct sn_account account;
  watcher_account(&watcher, &account);
  say_account(&account);
  /* Passed with the switch off, between the readers, are not generated. */
  CHECK(account.generated == account.received && account.received >= calls, "some are lost");
  CHECK(account.generated <= watcher_calls(&watcher, false), "more than was called");
}

static void brief(void) {
  watcher.ring_bytes = 4096;
  watcher.share = 1000; /* beats, but none are taken */
  start("brief", 200, BRIEF, SN_TRACE);
  finish();
  struct sn_account account = balance();
  printf("# took %" PRIu64 " ms\n", watcher.ledger->took_ns / 1000000);
  CHECK(account.lost[SN_FULL] > 0 && watcher.ledger->took_ns > 200000000, "it did not wait");
}

/* --- receptacles */

static struct sn_object_view objects[8];
static size_t object_count;

static void note_object(void *context, const struct sn_object_view *object) {
  (void)context;
  if (object_count < 8) objects[object_count++] = *object;
}

static void look_at_objects(void) {
  object_count = 0;
  sn_peer_update(watcher.peers[0]);
  sn_peer_objects(watcher.peers[0], note_object, NULL);
}

static const struct sn_object_view *object_called(uint64_t minor) {
  for (size_t i = 0; i < object_count; i++) {
    if (objects[i].minor == minor) return &objects[i];
  }
  return NULL;
}

static void see_objects(struct watcher *self, const struct sn_peer *peer,
                        const struct sn_record_view *record) {
  (void)peer;
  if (!(record->kind & SN_RECORD_NAME) || record->type != 2) watcher_wrong(self, "without a name");
  if (self->by_event[READ] == 1 && (record->minor != 101 || number_of(record) != 1)) {
    watcher_wrong(self, "of another object");
  }
}

static void objects_filter(void) {
  struct sn_entry_view entry, of_process;
  watcher.see = see_objects;
  start("objects", 20, 0, 0);
  watcher_until(&watcher, 10);
  look_at_objects();
  const struct sn_object_view *one = object_called(101);
  struct sn_object_view old = one != NULL ? *one : objects[0];
  CHECK(object_count == 3 && one != NULL, "%zu objects", object_count);
  CHECK(sn_peer_switch_object(watcher.peers[0], &old, READ, SN_TRACE), "no switch");
  watcher_go(&watcher, 2);
  watcher_until(&watcher, 11);
  CHECK(watcher.by_event[READ] == 1, "%" PRIu64 " reads, not 1", watcher.by_event[READ]);
  CHECK(!sn_peer_switch_object(watcher.peers[0], &old, READ, SN_TRACE), "that one is gone");
  look_at_objects();
  one = object_called(101);
  CHECK(one != NULL && one->epoch > old.epoch, "its name does not tell it from the old one");
  sn_peer_switch(watcher.peers[0], 0, READ, SN_TRACE); /* for those to come */
  for (size_t i = 0; i < object_count; i++) {
    sn_peer_switch_object(watcher.peers[0], &objects[i], READ, SN_TRACE);
  }
  watcher_go(&watcher, 3);
  watcher_until(&watcher, 12);
  CHECK(watcher.by_event[READ] == 5, "%" PRIu64 " reads, not 5", watcher.by_event[READ]);
  look_at_objects();
  for (size_t i = 0; i < object_count; i++) {
    sn_peer_switch_object(watcher.peers[0], &objects[i], WRITE, SN_COUNT | SN_SUM | SN_HISTOGRAM);
  }
  watcher_go(&watcher, 4);
  finish();
  balance();
  CHECK(watcher.by_event[READ] == 25 && watcher.by_event[WRITE] == 0, "reads, not writes");
  one = object_called(101);
  CHECK(one != NULL && sn_peer_object_entry(watcher.peers[0], one, 1, &entry) && entry.count == 1 &&
            entry.sum == 3.0 && entry.squares == 9.0 && entry.has_histogram &&
            entry.buckets[64 + 2] == 1,
        "its count is off");
  /* 102 is gone; it wrote 6. */
  CHECK(sn_peer_entry(watcher.peers[0], 0, WRITE, &of_process) && of_process.count == 1 &&
            of_process.sum == 6.0 && of_process.has_histogram && of_process.buckets[64 + 3] == 1,
        "what it counted is gone, too");
  /* What the reads cost is the process's, also of objects that are there. */
  CHECK(sn_peer_entry(watcher.peers[0], 0, READ, &of_process) && of_process.cost_samples > 0 &&
            of_process.cost_samples <= 25 && of_process.cost_ticks >= of_process.cost_samples,
        "%" PRIu64 " reads measured", of_process.cost_samples);
  look_at_objects();
  for (size_t i = 0; i < object_count; i++) {
    CHECK(sn_peer_object_entry(watcher.peers[0], &objects[i], 0, &entry) && entry.cost_samples == 0,
          "measured by an object");
  }
}

/* One-time enables, counts, histograms, of the process: numbers from -500 to 499. */
static void modes(void) {
  struct sn_entry_view entry;
  uint64_t in_buckets = 0;
  watcher.modes[SINGLE] = SN_TRACE;
  start("modes", 1000, ITERATION, SN_TRACE | SN_ONCE);
  watcher_until(&watcher, 11);
  CHECK(watcher.by_event[ITERATION] == 1 && watcher.by_event[SINGLE] == 1, "not once");
  CHECK(sn_peer_switched(watcher.peers[0], 0, ITERATION) == 0, "still on");
  sn_peer_switch(watcher.peers[0], 0, ITERATION,
                 SN_COUNT | SN_SUM | SN_HISTOGRAM | SN_TRACE | SN_ONCE);
  watcher_go(&watcher, 2);
  watcher_until(&watcher, 12);
  CHECK(watcher.by_event[ITERATION] == 2, "counted and once more");
  CHECK(sn_peer_switched(watcher.peers[0], 0, ITERATION) == (SN_COUNT | SN_SUM | SN_HISTOGRAM),
        "off");
  CHECK(sn_peer_entry(watcher.peers[0], 0, ITERATION, &entry) && entry.count == 1000 &&
            entry.sum == -500.0 && entry.has_histogram,
        "counts");
  CHECK(entry.squares == 83333500.0, "squares %f", entry.squares);
  for (unsigned i = 0; i < SN_BUCKETS; i++) in_buckets += entry.buckets[i];
  CHECK(in_buckets == 1000 && entry.buckets[64] == 1 && entry.buckets[64 + 9] == 244 &&
            entry.buckets[64 - 9] == 245 && entry.buckets[64 + 1] == 1,
        "histogram");
  sn_peer_switch(watcher.peers[0], 0, ITERATION, 0);
  watcher_go(&watcher, 3);
  watcher_until(&watcher, 13);
  watcher_go(&watcher, 4);
  finish();
  CHECK(sn_peer_entry(watcher.peers[0], 0, ITERATION, &entry) && entry.count == 1000, "on again");
  CHECK(watcher.by_event[ITERATION] == 2, "still traced");
}

static void fork_objects(void) {
  start("fork-objects", (long)amount(20, 50), 0, 0);
  finish();
  CHECK(watcher.ledger->bad == 0, "the program found %" PRIu32 ", a child ended with %#" PRIx32,
        watcher.ledger->bad & 255u, watcher.ledger->bad >> 8);
}

/* What the child does is nothing to its parent. */
static void child_ends(const char *role) {
  struct sn_module_view module;
  start(role, 100, ITERATION, SN_TRACE);
  watcher_until(&watcher, 10);
  sn_peer_update(watcher.peers[0]);
  CHECK(!sn_peer_ended(watcher.peers[0]), "the parent has ended");
  CHECK(sn_peer_module(watcher.peers[0], 0, &module) && !module.closed, "its module is closed");
  watcher_go(&watcher, 2);
  finish();
  CHECK(watcher.ledger->bad == 0, "the program found %" PRIu32 ", a child ended with %#" PRIx32,
        watcher.ledger->bad & 255u, watcher.ledger->bad >> 8);
  CHECK(watcher.by_event[ITERATION] == 100, "not all arrived");
}
static void raw_child_exits(void) {
  child_ends("raw-child-exits");
}
static void poor_child(void) {
  child_ends("poor-child");
}

/* A library that is unloaded leaves mapped what other threads may still be in, which leaks by intent. */
static void plugin(void) {
  const char *before = getenv("ASAN_OPTIONS");
  char *options = before != NULL ? base_xstrdup(before) : NULL;
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  watcher.modes[POLL] = SN_TRACE;
  start("plugin", 40, ITERATION, SN_TRACE);
  unsetenv("ASAN_OPTIONS");
  if (options != NULL) setenv("ASAN_OPTIONS", options, 1);
  free(options);
  int status = 0;
  while (waitpid(watcher.program, &status, WNOHANG) == 0) {
    watcher_pass(&watcher);
    for (size_t p = 1; p < watcher.peer_count; p++) sn_peer_ask(watcher.peers[p], 0, POLL);
  }
  watcher.program = 0;
  CHECK(status == 0, "the program ended with %d", status);
  CHECK(watcher.ledger->bad == 0, "the program found %" PRIu32, watcher.ledger->bad);
  CHECK(watcher.peer_count > 10 && watcher.rounds > 5, "%" PRIu64 " rounds of %zu", watcher.rounds,
        watcher.peer_count);
  for (int i = 0; i < 3; i++) watcher_pass(&watcher);
}

static void trapping(void) {
  struct sn_entry_view entry;
  start("trapping", 100, WRITE, SN_COUNT | SN_SUM | SN_HISTOGRAM);
  finish();
  CHECK(sn_peer_entry(watcher.peers[0], 0, WRITE, &entry) && entry.count == 400, "counts");
  CHECK(watcher.ledger->bad == 0, "flags have changed");
}

static void race_for_one(void) {
  start("race", 1000, ITERATION, SN_TRACE | SN_ONCE);
  for (uint32_t stage = 1; stage <= 20; stage++) {
    watcher_until(&watcher, 100 + stage);
    for (int i = 0; i < 3; i++) watcher_pass(&watcher);
    CHECK(watcher.by_event[ITERATION] == stage, "%" PRIu64 " of %" PRIu32,
          watcher.by_event[ITERATION], stage);
    sn_peer_switch(watcher.peers[0], 0, ITERATION, SN_TRACE | SN_ONCE);
    watcher_go(&watcher, stage + 1);
  }
  finish();
}

/* Threads race for as many records as are allowed; the others are counted, whatever is counted besides. */
static void thinned(void) {
  enum { ALLOWED = 10, STAGES = 20 };
  struct sn_entry_view entry;
  start("race", 1000, ITERATION, SN_TRACE | SN_THINNED | SN_COUNT);
  CHECK(sn_peer_can_thin(watcher.peers[0]), "it does not say that it can");
  for (uint32_t stage = 1; stage <= STAGES; stage++) {
    watcher_until(&watcher, 100 + stage);
    for (int i = 0; i < 3; i++) watcher_pass(&watcher);
    CHECK(watcher.by_event[ITERATION] == ALLOWED * (stage - 1), "%" PRIu64 " in stage %" PRIu32,
          watcher.by_event[ITERATION], stage);
    sn_peer_allow(watcher.peers[0], 0, ITERATION, ALLOWED);
    if (stage == STAGES) sn_peer_switch(watcher.peers[0], 0, ITERATION, 0);
    watcher_go(&watcher, stage + 1);
  }
  finish();
  uint64_t passed = sn_peer_passed_over(watcher.peers[0], 0, ITERATION);
  CHECK(sn_peer_entry(watcher.peers[0], 0, ITERATION, &entry) && entry.count > 0 &&
            entry.count == passed + watcher.by_event[ITERATION],
        "%" PRIu64 " passed over of %" PRIu64, passed, entry.count);
}

static void rounds(void) {
  struct sn_module_view module;
  struct sn_entry_view entry;
  watcher.modes[STATUS] = watcher.modes[POLL] = SN_TRACE;
  start("rounds", 0, 0, 0);
  watcher_until(&watcher, 10);
  sn_peer_update(watcher.peers[0]);
  CHECK(sn_peer_module(watcher.peers[0], 0, &module) && module.name_length == 7 &&
            memcmp(module.name, "Watched", 7) == 0 && module.digest == 0x1234 &&
            module.process_type == 1 && module.process_length == 2 &&
            memcmp(module.process, "P7", 2) == 0,
        "the module");
  for (uint32_t i = 1; i <= 5; i++) {
    CHECK(sn_peer_ask(watcher.peers[0], 0, STATUS), "cannot ask");
    CHECK(sn_peer_ask(watcher.peers[0], 0, POLL), "cannot ask");
    watcher_until(&watcher, 10 + i);
    for (int turn = 0; turn < 600000 && watcher.rounds < 2 * i; turn++) watcher_pass(&watcher);
    CHECK(watcher.rounds == 2 * i, "%" PRIu64 " rounds", watcher.rounds);
  }
  watcher_go(&watcher, 2);
  finish();
  CHECK(watcher.by_event[STATUS] == 20 && watcher.by_event[POLL] == 30, "records of rounds");
  CHECK(sn_peer_entry(watcher.peers[0], 0, POLL, &entry) && entry.rounds == 5, "rounds counted");
  CHECK(watcher.ledger->bad == 0, "the program found %" PRIu32, watcher.ledger->bad);
}

static void closes_descriptors(void) {
  watcher.ring_bytes = 1u << 20;
  start("closing", 5000, ITERATION, SN_TRACE);
  finish();
  struct sn_account account = balance();
  CHECK(account.received == 15000, "not all arrived");
}

static void memory_of_a_hundred(void) {
  watcher_run(&watcher, binary, "memory", 1000);
  watcher_go(&watcher, 1);
  int status = 0;
  waitpid(watcher.program, &status, 0);
  watcher.program = 0;
  CHECK(status == 0 && watcher.ledger->bad == 0, "something was on");
  printf("# %" PRIu64 " bytes\n", watcher.ledger->took_ns);
  CHECK((int64_t)watcher.ledger->took_ns < 200 << 10, "200 KiB or more");
}

/* --- the reader's own */

/* Bytes of the announcement and of a ring changed at random: whatever is read, we survive. All of it where the address
 * sanitizer looks on.  */
static void nonsense(void) {
  struct base_random random = {42};
  const char *reason = NULL;
  watcher.modes[READ] = SN_TRACE;
  start("objects", 0, ITERATION, SN_TRACE | SN_COUNT);
  watcher_until(&watcher, 10);
  char path[400];
  snprintf(path, sizeof path, "%s/%s", watcher.directory, sn_peer_name(watcher.peers[0]));
  int file = open(path, O_RDWR);
  struct stat status;
  fstat(file, &status);
  size_t bytes = (size_t)status.st_size;
  unsigned char *content = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  unsigned char *good = malloc(bytes);
  memcpy(good, content, bytes);
#ifdef __SANITIZE_ADDRESS__
  const int rounds = 20000;
#else
  const int rounds = (int)amount(2000, 20000);
#endif
  for (int i = 0; i < rounds; i++) {
    for (uint64_t n = base_random_below(&random, 8) + 1; n > 0; n--) {
      size_t at = base_random_below(&random, i % 2 ? bytes : 600);
      content[at] = base_random_below(&random, 2) ? (unsigned char)base_random_next(&random) : 255;
    }
    struct sn_peer *peer = sn_peer_open(watcher.directory, sn_peer_name(watcher.peers[0]), &reason);
    struct sn_record_view record;
    struct sn_account account;
    struct sn_module_view module;
    if (peer != NULL) {
      sn_peer_attach(peer, 0);
      object_count = 0;
      sn_peer_objects(peer, note_object, NULL);
      for (size_t o = 0; o < object_count; o++) {
        struct sn_entry_view entry;
        sn_peer_switch_object(peer, &objects[o], READ, SN_TRACE);
        sn_peer_object_entry(peer, &objects[o], 0, &entry);
      }
      sn_peer_module(peer, 0, &module);
      for (size_t p = 0; p < sn_peer_pipes(peer); p++) {
        while (sn_pipe_next(peer, p, &record)) continue;
        sn_pipe_release(peer, p);
      }
      sn_peer_account(peer, true, &account);
      sn_peer_free(peer);
    }
    memcpy(content, good, bytes);
  }
  free(good);
  munmap(content, bytes);
  close(file);
}

/* Who sees the socket can connect: it gets its name when it is listened at. */
static void seen_when_ready(void) {
  _Alignas(struct inotify_event) char events[4096];
  int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  uint32_t how = 0;
  CHECK(inotify_add_watch(watch, watcher.directory, IN_CREATE | IN_MOVED_TO) >= 0, "no watch");
  watcher_listen(&watcher);
  ssize_t length = read(watch, events, sizeof events);
  for (char *at = events; length > 0 && at < events + length;) {
    const struct inotify_event *event = (const struct inotify_event *)(void *)at;
    if (strcmp(event->name, SN_SOCKET) == 0) how |= event->mask;
    at += sizeof *event + event->len;
  }
  CHECK(how == IN_MOVED_TO, "it came by %x", (unsigned)how);
  close(watch);
}

static void one_reader_only(void) {
  const char *reason = "";
  watcher_listen(&watcher);
  CHECK(sn_listener_open(watcher.directory, 0600, &reason) == NULL &&
            strstr(reason, "another collector") != NULL && strstr(reason, "process ") != NULL &&
            atol(strstr(reason, "process ") + 8) == (long)getpid(),
        "two listen, or nobody knows who does: %s", reason);
}

static void clocks(void) {
  for (uint32_t clock = SN_CLOCK_MONOTONIC; clock <= SN_CLOCK_CYCLES; clock++) {
    struct sn_clock_reading first, test;
    struct sn_clock_line line;
    uint64_t error = 0;
    sn_clock_read(clock, &first);
    sn_clock_start(&line, clock, &first);
    nap_ms(50);
    sn_clock_step(&line);
    nap_ms(20);
    sn_clock_read(clock, &test);
    int64_t time = sn_clock_time(&line, test.stamp, &error);
    int64_t off = time - (int64_t)test.realtime_ns;
    uint64_t bound = error + test.width_ns;
    CHECK((uint64_t)(off < 0 ? -off : off) <= bound, "off by %" PRId64 ", bound %" PRIu64, off,
          bound);
    printf("# clock %" PRIu32 ": off by %" PRId64 " ns, bound %" PRIu64 "\n", clock, off, bound);
  }
}

/* This must fail: one record more than the program called. */
static void must_fail(void) {
  start("plain", 100, ITERATION, SN_TRACE);
  finish();
  watcher.ledger->lines[0].before = watcher.ledger->lines[0].after = 99;
  balance();
}

/* This, too: a program that is not there. It is not waited for, and nothing is asked of it. */
static void must_fail_to_start(void) {
  watcher_run(&watcher, "/bin/false", "objects", 20);
  watcher_need(&watcher, 1);
  look_at_objects();
}

static const struct scenario {
  const char *name;
  void (*body)(void);
} scenarios[] = {
    {"nobody-listens", nobody_listens},
    {"nobody-can-listen", nobody_can_listen},
    {"no-files", no_files},
    {"everything-arrives", everything_arrives},
    {"costs", costs},
    {"all-kinds", all_kinds},
    {"overload", overload},
    {"threads", threads},
    {"short-threads", short_threads},
    {"signals", signals},
    {"handler-forks", handler_forks},
    {"family", family},
    {"raw-child", raw_child},
    {"exec", exec},
    {"sudden-death", sudden_death},
    {"sudden-death-of-threads", sudden_death_of_threads},
    {"reader-dies", reader_dies},
    {"both-die", both_die},
    {"no-socket", no_socket},
    {"no-more-files", no_more_files},
    {"patient", patient},
    {"patient-alone", patient_alone},
    {"patient-handed-over", patient_handed_over},
    {"brief", brief},
    {"objects", objects_filter},
    {"modes", modes},
    {"fork-objects", fork_objects},
    {"raw-child-exits", raw_child_exits},
    {"poor-child", poor_child},
    {"plugin", plugin},
    {"trapping", trapping},
    {"race-for-one", race_for_one},
    {"thinned", thinned},
    {"rounds", rounds},
    {"closes-descriptors", closes_descriptors},
    {"memory-of-a-hundred", memory_of_a_hundred},
    {"nonsense", nonsense},
    {"one-reader-only", one_reader_only},
    {"seen-when-ready", seen_when_ready},
    {"clocks", clocks},
    {"must-fail", must_fail},
    {"must-fail-to-start", must_fail_to_start},
};

static void play(const struct scenario *scenario) {
  jmp_buf end;
  watcher_init(&watcher);
  watcher.give_up = &end;
  if (setjmp(end) == 0) scenario->body();
  watcher.give_up = NULL;
  watcher_done(&watcher);
}

int main(int argc, char **argv) {
  enum { COUNT = sizeof scenarios / sizeof *scenarios };
  if (argc < 2) return 2;
  binary = argv[1];
  int failures = 0, number = 0;
  setvbuf(stdout, NULL, _IOLBF, 0);
  for (int i = 0; i < COUNT; i++) {
    bool wanted = argc == 2;
    for (int a = 2; a < argc; a++) wanted = wanted || strcmp(argv[a], scenarios[i].name) == 0;
    if (!wanted) continue;
#ifdef __SANITIZE_ADDRESS__
    if (scenarios[i].body == poor_child) { /* the sanitizer itself needs more than it has left */
      printf("ok %d - %s # SKIP\n", ++number, scenarios[i].name);
      continue;
    }
#endif
    play(&scenarios[i]);
    bool good = watcher.wrong == 0;
    if (strncmp(scenarios[i].name, "must-fail", 9) == 0) good = !good;
    printf("%sok %d - %s\n", good ? "" : "not ", ++number, scenarios[i].name);
    if (!good) printf("# %s (%" PRIu64 " in all)\n", watcher.first_wrong, watcher.wrong);
    failures += !good;
  }
  printf("1..%d\n", number);
  return failures != 0;
}
