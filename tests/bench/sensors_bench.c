/* Benchmark: what a sensor costs, in calls of a function that is not inlined, and how many records go from
 * a program to a reader, against a bare ring between two processes. The sensors are those of thesis figure
 * D-7, generated; the figures are those of its table 8-1.
 *
 *     sensors_bench [RUNS]
 *
 * Every run measures everything once; figures are medians over the runs, ratios medians of the ratios
 * within a run. The program is its own reader while sensors are timed: it empties the ring between
 * bursts, untimed. Where LTTng-UST is installed, tracepoints of the same payload are timed, too (on, when
 * with_lttng.sh runs this). Fails if a record is missing.                          */
#include <dirent.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sensors/collect/listener.h"
#include "sensors/collect/peer.h"
#include "tests/bench/sensor_sizes.h"
#include "measure.h" /* made from tests/sdf/good/measure.sdf and tests/bench/lasting.sdf.in */
#ifdef HAVE_LTTNG
#include "tests/bench/lttng_points.h"
#endif

enum { SHORTEST = 1, SHORT, MEDIUM, LONG, LASTING };
enum { LOOPS = 20000000, BURST = 8000, BURSTS = 60, RUNS_MAX = 99 };
static const char text15[] = "fifteen letters";

static double clock_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double now_ns(void) {
  return clock_ns(CLOCK_MONOTONIC);
}

/* Of this process alone: others are about. */
static double own_ns(void) {
  return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static void fail(const char *what) {
  fprintf(stderr, "sensors_bench: %s\n", what);
  exit(1);
}

/* --- the reader */

static char directory[128];
static struct sn_listener *listener;
static struct sn_peer *peer;

/* A child that reads has an announcement of its own, too. */
static void open_peer(void *context, const char *name) {
  const char *reason = NULL;
  struct sn_peer *found = sn_peer_open(directory, name, &reason);
  if (found != NULL && sn_peer_identity(found)->pid == (uint32_t) * (pid_t *)context) {
    peer = found;
  } else {
    sn_peer_free(found);
  }
}

static void begin_reading(pid_t program) {
  const char *reason = "";
  listener = sn_listener_open(directory, 0600, &reason);
  if (listener == NULL) fail(reason);
  sn_directory_each(directory, open_peer, &program);
  if (peer == NULL) fail("the program is not announced");
  sn_peer_attach(peer, 1u << 20);
}

static uint64_t read_all(void) {
  struct sn_handover handover;
  struct sn_record_view record;
  uint64_t records = 0;
  uint32_t uid;
  const char *reason;
  int file;
  sn_peer_beat(peer, (uint64_t)now_ns());
  while ((file = sn_listener_next(listener, &handover, &uid)) >= 0) {
    if (!sn_peer_adopt(peer, &handover, file, &reason)) fail(reason);
  }
  sn_peer_update(peer);
  for (size_t i = 0; i < sn_peer_pipes(peer); i++) {
    while (sn_pipe_next(peer, i, &record)) records++;
    sn_pipe_release(peer, i);
  }
  return records;
}

/* --- what is timed */

static __attribute__((noinline)) void call(uint32_t a, uint64_t b, uint64_t c, uint64_t d) {
  __asm__ volatile("" ::"r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

#define LOOP(NAME, BODY)                 \
  static double NAME(void) {             \
    double start = own_ns();             \
    for (long i = 0; i < LOOPS; i++) {   \
      BODY;                              \
      __asm__ volatile("" ::: "memory"); \
    }                                    \
    return (own_ns() - start) / LOOPS;   \
  }
LOOP(time_call, call(1, (uint64_t)i, (uint64_t)i + 1, (uint64_t)i + 2))
LOOP(time_short_in_loop, ShortSensor((int32_t)i))

/* Nobody reads. */
static double time_full(void) {
  for (int i = 0; i < LOOPS; i++) ShortSensor(i);
  return time_short_in_loop();
}

/* In bursts that fit in the ring. */
#define BURSTS_OF(NAME, BODY) BURSTS_OF_RECORDS(NAME, 1, BODY)
#define BURSTS_OF_RECORDS(NAME, EACH, BODY)                                        \
  static double NAME(void) {                                                       \
    double total = 0;                                                              \
    uint64_t records = 0;                                                          \
    for (int burst = 0; burst < BURSTS; burst++) {                                 \
      read_all();                                                                  \
      double start = own_ns();                                                     \
      for (int i = 0; i < BURST; i++) {                                            \
        BODY;                                                                      \
        __asm__ volatile("" ::: "memory");                                         \
      }                                                                            \
      total += own_ns() - start;                                                   \
      records += read_all();                                                       \
    }                                                                              \
    if (records != (uint64_t)BURST * BURSTS * (EACH)) fail("records are missing"); \
    return total / ((double)BURST * BURSTS);                                       \
  }
BURSTS_OF(time_shortest, ShortestSensor())
BURSTS_OF(time_short, ShortSensor(i))
BURSTS_OF(time_medium, MediumSensor(i, i))
BURSTS_OF(time_long, LongSensor(i, i, text15))
BURSTS_OF_RECORDS(time_period, 2, sn_ticket period = LastingStart(i); LastingStop(&period))

static uint64_t sink;
LOOP(time_cycles, sink += sn_cycles())
LOOP(time_clock, struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); sink += (uint64_t)t.tv_nsec)

#ifdef HAVE_LTTNG
LOOP(time_lttng_short, tracepoint(tquel_bench, short_event, (int32_t)i))
LOOP(time_lttng_long, tracepoint(tquel_bench, long_event, (int32_t)i, i, text15))
#endif

static void count_on(void) {
  sn_peer_switch(peer, 0, SHORT, SN_COUNT);
}
/* Nothing is allowed. */
static void thinned_on(void) {
  sn_peer_switch(peer, 0, SHORT, SN_TRACE | SN_THINNED);
}
static void all_on(void) {
  for (uint32_t event = 0; event <= LASTING; event++) sn_peer_switch(peer, 0, event, SN_TRACE);
}
static void others_on(void) {
  all_on();
  sn_peer_switch(peer, 0, SHORT, 0);
}
static void all_off(void) {
  if (peer == NULL) return;
  for (uint32_t event = 0; event <= LASTING; event++) sn_peer_switch(peer, 0, event, 0);
}

static struct item {
  const char *name;
  void (*prepare)(void);
  double (*time)(void);
  const char *aim; /* calls; the thesis's figure in brackets */
  double ns[RUNS_MAX], calls[RUNS_MAX];
} items[] = {
    {"call of a function", NULL, time_call, "", {0}, {0}},
    {"sensor, nothing enabled", all_off, time_short_in_loop, "0.3 [0.15]", {0}, {0}},
    {"sensor, others enabled, this one not", others_on, time_short_in_loop, "0.5 [1.65]", {0}, {0}},
    {"event counted only", count_on, time_short_in_loop, "", {0}, {0}},
    {"record passed over: sampled under overload", thinned_on, time_short_in_loop, "", {0}, {0}},
    {"record lost: the ring is full", all_on, time_full, "", {0}, {0}},
    {"record: nothing, no stamp", all_on, time_shortest, " [5.9]", {0}, {0}},
    {"record: stamp, integer", all_on, time_short, "8 [7.3]", {0}, {0}},
    {"record: stamp, 2 integers", all_on, time_medium, " [7.7]", {0}, {0}},
    {"record: stamp, 2 integers, 15 characters", all_on, time_long, "14 [14]", {0}, {0}},
    {"period, 2 records: start with integer, stop", all_on, time_period, "20.8", {0}, {0}},
    {"cycle counter", NULL, time_cycles, "", {0}, {0}},
    {"clock_gettime", NULL, time_clock, "", {0}, {0}},
#ifdef HAVE_LTTNG
    {"LTTng-UST: integer", NULL, time_lttng_short, "", {0}, {0}},
    {"LTTng-UST: 2 integers, 15 characters", NULL, time_lttng_long, "", {0}, {0}},
#endif
};
enum { ITEMS = sizeof items / sizeof *items };

/* --- from process to process */

enum { PASSED = 4000000, BARE = 1 << 15 };
struct bare_record {
  uint64_t head, stamp, number;
};
struct bare_ring {
  uint64_t head, pad1[7], tail, pad2[7], known, pad3[7];
  struct bare_record records[BARE];
};

static void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

static void bare_consume(struct bare_ring *ring) {
  uint64_t tail = 0, sum = 0;
  pin(1);
  while (tail < PASSED) {
    uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
    if (head == tail) sched_yield();
    for (; tail < head; tail++) {
      const struct bare_record *record = &ring->records[tail % BARE];
      if (record->number != tail) _exit(3);
      sum += record->stamp;
    }
    __atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE);
  }
  sink = sum;
  _exit(0);
}

/* Records a second. */
static double pass_bare(void) {
  struct bare_ring *ring = mmap(NULL, sizeof *ring, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) bare_consume(ring);
  double start = now_ns();
  for (uint64_t i = 0; i < PASSED; i++) {
    while (i - ring->known >= BARE) {
      ring->known = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
      if (i - ring->known >= BARE) sched_yield();
    }
    ring->records[i % BARE] = (struct bare_record){1, sn_cycles(), i};
    __atomic_store_n(&ring->head, i + 1, __ATOMIC_RELEASE);
  }
  int status;
  waitpid(child, &status, 0);
  double took = now_ns() - start;
  munmap(ring, sizeof *ring);
  if (status != 0) fail("the bare ring lost a record");
  return PASSED / took * 1e9;
}

/* The other side of the same, with a child's reader that sees the parent's announcement. */
static void sensor_consume(int ready) {
  struct sn_record_view record;
  struct sn_handover handover;
  uint64_t next = 0, sum = 0;
  uint32_t uid;
  const char *reason;
  pin(1);
  begin_reading(getppid());
  sn_peer_switch(peer, 0, SHORT, SN_TRACE);
  if (write(ready, "", 1) != 1) _exit(1);
  while (next < PASSED) {
    int file = sn_listener_next(listener, &handover, &uid);
    if (file >= 0 && !sn_peer_adopt(peer, &handover, file, &reason)) fail(reason);
    uint64_t before = next;
    sn_peer_update(peer);
    sn_peer_beat(peer, (uint64_t)now_ns());
    for (size_t i = 0; i < sn_peer_pipes(peer); i++) {
      while (sn_pipe_next(peer, i, &record)) {
        int32_t number;
        if (record.event != SHORT) continue;
        memcpy(&number, record.payload, 4);
        if ((uint64_t)number != next++) _exit(3);
        sum += record.stamp;
      }
      sn_pipe_release(peer, i);
    }
    if (next == before) sched_yield();
  }
  sink = sum;
  sn_peer_switch(peer, 0, SHORT, 0);
  sn_listener_free(listener);
  _exit(0);
}

static double pass_sensors(void) {
  int ready[2], status;
  char byte;
  if (pipe(ready) != 0) fail("no pipe");
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) sensor_consume(ready[1]);
  close(ready[1]);
  if (read(ready[0], &byte, 1) != 1) fail("the reader has died");
  close(ready[0]);
  double start = now_ns();
  for (int i = 0; i < PASSED; i++) ShortSensor(i);
  waitpid(child, &status, 0);
  double took = now_ns() - start;
  if (status != 0) fail("a record was lost");
  return PASSED / took * 1e9;
}

/* --- */

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, compare);
  return values[count / 2];
}

/* Sensors are announced before main begins: the directory must be there before. */
static void in_own_directory(char **argv) {
  char base[] = "/tmp/tquel-bench-XXXXXX";
  if (getenv("TQUEL_BENCH_DIRECTORY") == NULL) {
    if (mkdtemp(base) == NULL) fail("no directory");
    setenv("TQUEL_BENCH_DIRECTORY", base, 1);
    setenv("XDG_RUNTIME_DIR", base, 1);
    execv("/proc/self/exe", argv);
    fail("cannot be run again");
  }
  snprintf(directory, sizeof directory, "%s/tquel", getenv("TQUEL_BENCH_DIRECTORY"));
}

/* Announcements of the children that read, too. */
static void remove_directory(void) {
  char path[512];
  DIR *stream = opendir(directory);
  struct dirent *entry;
  while (stream != NULL && (entry = readdir(stream)) != NULL) {
    snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
    if (entry->d_name[0] != '.') unlink(path);
  }
  if (stream != NULL) closedir(stream);
  rmdir(directory);
  rmdir(getenv("TQUEL_BENCH_DIRECTORY"));
}

static void print(int runs) {
  printf("%-44s %8s %8s  %s\n", "", "ns", "calls", "at most [thesis]");
  for (int i = 0; i < ITEMS; i++) {
    printf("%-44s %8.2f %8.2f  %s\n", items[i].name, median(items[i].ns, runs),
           median(items[i].calls, runs), items[i].aim);
  }
}

int main(int argc, char **argv) {
  static double bare[RUNS_MAX], passed[RUNS_MAX], ratio[RUNS_MAX];
  int runs = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 7;
  if (runs < 1 || runs > RUNS_MAX) return 1;
  in_own_directory(argv);
  pin(0);
  for (int run = 0; run < runs; run++) {
    bare[run] = pass_bare();
    passed[run] = pass_sensors();
    ratio[run] = passed[run] / bare[run];
  }
  begin_reading(getpid());
  all_on();
  ShortSensor(0); /* the ring is made */
  read_all();
  for (int run = 0; run < runs; run++) {
    for (int i = 0; i < ITEMS; i++) {
      if (items[i].prepare != NULL) items[i].prepare();
      items[i].ns[run] = items[i].time();
      items[i].calls[run] = items[i].ns[run] / items[0].ns[run];
    }
  }
  printf("stamps: %s\n",
         sn_peer_identity(peer)->clock == SN_CLOCK_CYCLES ? "cycle counter" : "clock_gettime");
  print(runs);
#ifdef HAVE_LTTNG
  printf("LTTng's tracepoints are %s\n", getenv("TQUEL_BENCH_LTTNG") != NULL ? "on" : "off");
#endif
  printf("\n24-byte records from process to process: %.1f M/s; bare ring %.1f M/s; ratio %.2f\n",
         median(passed, runs) / 1e6, median(bare, runs) / 1e6, median(ratio, runs));
  print_sensor_sizes();
  sn_listener_free(listener);
  remove_directory();
  return 0;
}
