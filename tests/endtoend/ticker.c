/* A program for the end-to-end tests, with the sensors of ticker.sdf.
 *
 *     ticker NAME LEDGER COUNT PAUSE-NS [THREADS]
 *
 * It is the process NAME of the task force. Each thread waits for the word `go` of the ledger, a small
 * file that the test shares with it, then passes Tick COUNT times with a pause after each, or until `go` is 2,
 * and counts in the ledger before and after each time; PAUSE-NS of -1 stands for Beat, which waits for room,
 * and no pause, and PAUSE-NS of -N for a Beat every N nanoseconds; no two have a number in common, as
 * two threads may pass in one nanosecond. Each is at Work now and then, on one of the two sides of its Pair. Meanwhile
 * the first thread enters a Phase, opens one of three doors and Turns one of its sides
 * now and then, and answers when the load of the doors is asked for. When all is done it says so in the
 * ledger and stays until `stop` is set. All the time it weighs the doors, but those of the ledger's bits `unweighed`;
 * those of the bits `away` are not there. `clockwork` is the same program with the sensors of clockwork.sdf. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifdef CLOCKWORK
#include "clockwork.h"
#else
#include "ticker.h"
#endif

#define THREADS_MAX 16
#define DOORS       3

/* The test reads and writes it as 64-bit words, in this order. */
struct ledger {
  uint64_t go, stop, ready, done;
  uint64_t before[THREADS_MAX], after[THREADS_MAX];
  uint64_t phases, opened[DOORS], rounds;
  uint64_t unweighed, away; /* from the test */
};

static struct ledger *ledger;
static long count, pause_ns;
static int threads = 1;
static struct sn_receptacle *doors[DOORS];

static uint64_t get(const uint64_t *word) {
  return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void add(uint64_t *word) {
  __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
}

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* What is shorter than the kernel can wait is not slept. */
static void nap(long ns) {
  struct timespec time = {ns / 1000000000, ns % 1000000000};
  if (ns >= 20000) {
    nanosleep(&time, NULL);
  } else if (ns > 0) {
    for (int64_t end = now_ns() + ns; now_ns() < end;) {
    }
  }
}

/* Until the next Beat is due, by a plan that a late one does not shift. */
static void await_turn(int64_t start, long i) {
  if (pause_ns == -1) return;
  while (now_ns() < start + (i + 1) * -pause_ns) nap(20000);
}

static void weigh(void) {
  uint64_t unweighed = get(&ledger->unweighed), away = get(&ledger->away);
  for (int i = 0; i < DOORS; i++) {
    if ((away >> i & 1) != 0 && doors[i] != NULL) {
      DoorRelease(doors[i]);
      doors[i] = NULL;
    } else if ((away >> i & 1) == 0 && doors[i] == NULL) {
      doors[i] = DoorReceptacle((uint64_t)i + 1);
    }
    if ((unweighed >> i & 1) == 0) WeightSensor(doors[i], (int32_t)(now_ns() / 1000000 % 1000000));
  }
}

static void answer(void) {
  weigh();
  if (!LoadRequested()) return;
  for (int i = 0; i < DOORS; i++) LoadSensor((uint64_t)i + 1, i * 10);
  LoadRound();
  add(&ledger->rounds);
}

static void now_and_then(long i) {
  static int times[DOORS];
  if (i % 10 == 0) {
    PhaseSensor((int32_t)(i / 10));
    add(&ledger->phases);
    int door = (int)(i / 10 % DOORS);
    OpenedSensor(doors[door], ++times[door]);
    add(&ledger->opened[door]);
    TurnSensor(doors[door], (int32_t)(i / 30 % 2), times[door]);
  }
  answer();
}

static void *run(void *context) {
  int thread = (int)(intptr_t)context;
  while (!get(&ledger->go)) {
    if (thread == 0) answer();
    nap(200000);
  }
  const int64_t start = now_ns();
  for (long i = 0; i < count && get(&ledger->go) == 1 && !get(&ledger->stop); i++) {
    add(&ledger->before[thread]);
    if (pause_ns < 0) {
      BeatSensor(i * threads + thread);
      await_turn(start, i);
    } else {
      TickSensor(i, thread);
    }
    add(&ledger->after[thread]);
    if (i % 10 == 0) WorkSensor(thread, (int32_t)(i / 10));
    if (i % 10 == 0) PairSensor(thread, (int32_t)(i / 10 % 2), (int32_t)(i / 20));
    if (thread == 0) now_and_then(i);
    nap(pause_ns);
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 5) return 2;
  int file = open(argv[2], O_RDWR | O_CREAT, 0600);
  if (file < 0 || ftruncate(file, sizeof *ledger) != 0) return 2;
  ledger = mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (ledger == MAP_FAILED) return 2;
  count = strtol(argv[3], NULL, 10);
  pause_ns = strtol(argv[4], NULL, 10);
  if (argc > 5) threads = (int)(strtol(argv[5], NULL, 10) % (THREADS_MAX + 1));
  if (WorkerProcess(argv[1]) != 0) return 3;
  for (int i = 0; i < DOORS; i++) doors[i] = DoorReceptacle((uint64_t)i + 1);
  ledger->ready = 1;
  pthread_t others[THREADS_MAX];
  for (int i = 1; i < threads; i++)
    if (pthread_create(&others[i], NULL, run, (void *)(intptr_t)i) != 0) return 4;
  run(NULL);
  for (int i = 1; i < threads; i++) pthread_join(others[i], NULL);
  ledger->done = 1;
  while (!get(&ledger->stop)) {
    answer();
    nap(1000000);
  }
  for (int i = 0; i < DOORS; i++)
    if (doors[i] != NULL) DoorRelease(doors[i]);
  return 0;
}
