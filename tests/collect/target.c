/* The target of the collector's tests: an instrumented program that does what it is told on standard input,
 * a line at a time, and answers with a line. How often sensors were passed stands in a file (argument 1),
 * where it outlives any end: for each thread a count before and a count after.                     */
#include "tests/collect/enabled.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 64, JOBS = 100000 };

struct ledger {
  volatile uint64_t before[THREADS], after[THREADS];
  volatile uint64_t enough; /* set by the test: children end */
  volatile uint64_t calm;   /* passed by floods, beside */
};
static struct ledger *ledger;
static struct sn_receptacle *jobs[JOBS];
static volatile int going;

struct work {
  pthread_t thread;
  int index;
  long count, gap_ns;
  int patient;
};

static void nap(long ns) {
  struct timespec time = {ns / 1000000000, ns % 1000000000};
  nanosleep(&time, NULL);
}

/* Nested, in part by the end of a block, in part by another function. */
static void spans(long count, long gap_ns) {
  for (long i = 0; i < count; i++) {
    SpanScope(i, "outer");
    sn_ticket inner = SpanStart(i, "inner");
    nap(gap_ns);
    SpanStop(&inner);
    SpanStop(&inner);
    nap(gap_ns);
  }
}

static sn_ticket held[THREADS], visited[THREADS];

/* A child has its parent's tickets, and counts what is its own. */
static void child_spans(long at) {
  ledger->enough = 0;
  if (fork() == 0) {
    while (ledger->enough == 0) nap(1000000);
    SpanStop(&held[at]);
    { SpanScope(at, "child"); }
    held[at] = SpanStart(at, "left open");
    while (ledger->enough == 1) nap(1000000);
    _exit(0);
  }
  while (wait(NULL) > 0) continue;
}

static void *pass(void *context) {
  struct work *work = context;
  for (long i = 0; going && (work->count < 0 || i < work->count); i++) {
    ledger->before[work->index]++;
    if (work->patient) {
      PatientSensor(i);
    } else {
      TickSensor(i, work->index);
    }
    ledger->after[work->index]++;
    if (work->gap_ns > 0) nap(work->gap_ns);
  }
  return NULL;
}

/* Many times what a ring has room for, again and again; in between others shall have the processor, too. */
static void breathe(long i) {
  if (i % 8192 == 8191) nap(2000000);
}

/* More than can be taken, and now and then another sensor, so that both are in one ring. */
static void *flood(void *context) {
  struct work *work = context;
  for (long i = 0; going; i++) {
    ledger->before[work->index]++;
    TickSensor(i, work->index);
    ledger->after[work->index]++;
    breathe(i);
    if (i % work->count != 0) continue;
    PhaseSensor("calm");
    __atomic_fetch_add(&ledger->calm, 1, __ATOMIC_RELAXED);
  }
  return NULL;
}

/* The same of sensors that ask an object: of JOBS, one after the other. */
static void *flood_jobs(void *context) {
  struct work *work = context;
  for (long i = 0; going; i++) {
    ledger->before[work->index]++;
    StepSensor(jobs[i % work->count], i);
    ledger->after[work->index]++;
    breathe(i);
  }
  return NULL;
}

static struct work works[THREADS];
static int started;

static void start(int threads, long count, long gap_ns, int patient) {
  going = 1;
  started = threads < THREADS ? threads : THREADS;
  for (int i = 0; i < started; i++) {
    works[i] = (struct work){.index = i, .count = count, .gap_ns = gap_ns, .patient = patient};
    pthread_create(&works[i].thread, NULL, pass, &works[i]);
  }
}

static void start_flood(void *(*body)(void *), int threads, long count) {
  going = 1;
  started = threads < THREADS ? threads : THREADS;
  for (int i = 0; i < started; i++) {
    works[i] = (struct work){.index = i, .count = count};
    pthread_create(&works[i].thread, NULL, body, &works[i]);
  }
}

static void finish(void) {
  for (int i = 0; i < started; i++) pthread_join(works[i].thread, NULL);
  started = 0;
}

static uint64_t total(void) {
  uint64_t sum = 0;
  for (int i = 0; i < THREADS; i++) sum += ledger->after[i];
  return sum;
}

/* What is on, in C; where there is C++ it must be the same there. */
static int print_enabled(const struct sn_receptacle *job) {
  unsigned on = enabled(job);
#ifdef WITH_CPP
  if (enabled_in_cpp(job) != on) return -1;
#endif
  printf("%u ", on);
  return 0;
}

static void levels(void *context) {
  (void)context;
  for (int i = 0; i < JOBS; i++) {
    if (jobs[i] != NULL) LevelSensor((uint64_t)i, i);
  }
}

/* Children that pass Tick as thread 63 until it is enough. */
static void family(int children) {
  pid_t parent = getpid();
  ledger->enough = 0;
  for (int i = 0; i < children; i++) {
    if (fork() == 0) {
      for (long k = 0; ledger->enough == 0 && getppid() == parent; k++) {
        TickSensor(k, 63);
        nap(1000000);
      }
      _exit(0);
    }
  }
  while (wait(NULL) > 0) continue;
}

static void jobs_do(const char *what, long first, long count, long times) {
  for (long i = first; i < first + count && i < JOBS; i++) {
    if (*what == 'n') jobs[i] = JobReceptacle((uint64_t)i);
    if (*what == 'r') {
      JobRelease(jobs[i]);
      jobs[i] = NULL;
    }
    for (long k = 0; *what == 's' && k < times; k++) StepSensor(jobs[i], k);
    for (long k = 0; *what == 'd' && k < times; k++)
      DoneSensor((uint64_t)i, (uint64_t)(i + 1), 0.5, 1);
  }
}

/* The bytes of DIGITS, several times; "-": none. */
static void blob(const char *digits, size_t times) {
  size_t count = 0, length = digits[0] == '-' ? 0 : strlen(digits) / 2;
  unsigned char *bytes = malloc(length * times + 1);
  for (; bytes != NULL && count < length * times; count++)
    sscanf(digits + count % length * 2, "%2hhx", &bytes[count]);
  BlobSensor(bytes, count, (int64_t)count);
  free(bytes);
}

static int command(char *line, char **arguments) {
  char word[64] = "", text[64] = "";
  long a = 0, b = 0, c = 0;
  if (sscanf(line, "process %63s", text) == 1) return WorkerProcess(text);
  if (sscanf(line, "phase %63s", text) == 1) {
    PhaseSensor(text);
    return 0;
  }
  if (sscanf(line, "keys %63s %ld", text, &a) == 2) { /* of any length: a piece of an array */
    KeySensor(text, (size_t)a, a);
    return 0;
  }
  if (sscanf(line, "blob %63s %ld", text, &a) == 2) {
    blob(text, (size_t)a);
    return 0;
  }
  if (sscanf(line, "bytes %63s", text) ==
      1) { /* a phase that is called so, in hexadecimal digits */
    char called[32] = "";
    for (size_t i = 0;
         i < sizeof called - 1 && sscanf(text + 2 * i, "%2hhx", (unsigned char *)&called[i]) == 1;
         i++)
      continue;
    PhaseSensor(called);
    return 0;
  }
  sscanf(line, "%63s %ld %ld %ld", word, &a, &b, &c);
  if (strcmp(word, "tick") == 0) {
    start((int)a, b, c, 0);
    finish();
  } else if (strcmp(word, "patient") == 0) {
    start((int)a, b, c, 1);
    finish();
  } else if (strcmp(word, "start") == 0) {
    start((int)a, -1, b, 0);
  } else if (strcmp(word, "flood") == 0) {
    start_flood(flood, (int)a, b);
  } else if (strcmp(word, "floodjobs") == 0) {
    start_flood(flood_jobs, (int)a, b);
  } else if (strcmp(word, "stop") == 0) {
    going = 0;
    finish();
  } else if (strcmp(word, "new") == 0 || strcmp(word, "release") == 0 ||
             strcmp(word, "step") == 0 || strcmp(word, "done") == 0) {
    jobs_do(word, a, b, c);
  } else if (strcmp(word, "spans") == 0) {
    spans(a, b);
  } else if (strcmp(word, "hold") == 0) { /* a period that lasts until it is let go */
    held[a] = SpanStart(a, "held");
  } else if (strcmp(word, "let") == 0) {
    SpanStop(&held[a]);
  } else if (strcmp(word, "childspans") == 0) {
    child_spans(a);
  } else if (strcmp(word, "enter") == 0) {
    visited[a] = VisitStart(jobs[b]);
  } else if (strcmp(word, "leave") == 0) {
    VisitStop(&visited[a]);
  } else if (strcmp(word, "visit") == 0) {
    VisitScope(jobs[a]); /* with records of another relation within */
    spans(2, b);
  } else if (strcmp(word, "unstamped") == 0) {
    for (long i = 0; i < a; i++) UnstampedSensor(i);
  } else if (strcmp(word, "beats") == 0) {
    for (long i = 0; i < a; i++) {
      BeatSensor(i);
      nap(1000000);
    }
  } else if (strcmp(word, "sampler") == 0) {
    return LevelOnSample(a ? levels : NULL, NULL);
  } else if (strcmp(word, "depths") == 0) { /* answers requests for a milliseconds, of b jobs */
    for (long i = 0; i < a; i++) {
      if (DepthRequested()) {
        for (long k = 0; k < b; k++) DepthSensor((uint64_t)k, k);
        DepthRound();
      }
      nap(1000000);
    }
  } else if (strcmp(word, "enabled") == 0) {
    return print_enabled(jobs[a]);
  } else if (strcmp(word, "fork") == 0) {
    family((int)a);
  } else if (strcmp(word, "exec") == 0) {
    execv("/proc/self/exe", arguments);
    return -1;
  } else if (strcmp(word, "truncate") == 0) { /* its own announcement: as hostile as can be */
    truncate(line + sizeof "truncate", 4096);
  } else if (strcmp(word, "die") == 0) {
    kill(getpid(), SIGKILL);
  } else if (strcmp(word, "count") != 0) {
    return -1;
  }
  return 0;
}

/* Passes so many sensors of a library that it loads and lets go again. */
static int plug(const char *path, long sensors) {
  void (*pass_all)(long);
  void *library = path != NULL ? dlopen(path, RTLD_NOW) : NULL;
  void *found = library != NULL ? dlsym(library, "plugin_pass") : NULL;
  if (found == NULL) return path != NULL;
  memcpy(&pass_all, &found, sizeof found);
  pass_all(sensors);
  return dlclose(library);
}

/* A life of a few ms, a child's, and that of what comes of its exec: each passes so many sensors at once, parent and child
 * one of an object, and who executes a program one of a library. */
static int live_briefly(char **arguments) {
  const long sensors = atol(arguments[2]);
  for (long i = 0; i < sensors; i++) TickSensor(i, 0);
  struct sn_receptacle *job = JobReceptacle(1);
  StepSensor(job, 1);
  if (fork() == 0) {
    for (long i = 0; i < sensors; i++) TickSensor(i, 1);
    StepSensor(job, 2);
    arguments[1] = (char *)(uintptr_t) "again";
    if (arguments[3] != NULL) execv("/proc/self/exe", arguments);
    _exit(arguments[3] != NULL);
  }
  return plug(arguments[3], sensors);
}

static int live_again(char **arguments) {
  const long sensors = atol(arguments[2]);
  for (long i = 0; i < sensors; i++) TickSensor(i, 2);
  return plug(arguments[3], sensors);
}

int main(int count, char **arguments) {
  char line[4096];
  if (count >= 3 && strcmp(arguments[1], "briefly") == 0) return live_briefly(arguments);
  if (count >= 3 && strcmp(arguments[1], "again") == 0) return live_again(arguments);
  if (count < 2) return 1;
  int file = open(arguments[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof *ledger) != 0) return 1;
  ledger = mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  printf("ready %d\n", (int)getpid());
  fflush(stdout);
  while (fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    int result = command(line, arguments);
    printf("%s %" PRIu64 "\n", result == 0 ? "ok" : "failed", total());
    fflush(stdout);
  }
  return 0;
}
