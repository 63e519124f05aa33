/* The program that step_test executes one instruction at a time: `stepped LEDGER WAY+ACTION COUNT`.
 *
 * A second thread comes to a sensor in the way named WAY (its first record, one with room, one into a
 * full ring, ...), stops, and is then led by the test. The handler of SIGUSR1, which the test sends
 * after the instruction of its choice, does ACTION: fork, pass the same sensor, jump out, end the
 * thread, ... With fork-beside it is the first thread that forks while the second stands still.
 * Whatever comes then must come to its end, and be counted. C99.                                      */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/sensors/ledger.h"
#include "tests/sensors/watched.h"

static struct ledger *ledger;
static const char *way, *action, *own_path;
static sigjmp_buf out;
static volatile sig_atomic_t handled, is_child;
static struct sn_receptacle *file_object;
static int cancel_state;

static void set(uint32_t *word, uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

static void await(uint32_t stage) {
  struct timespec nap = {0, 200000};
  while (__atomic_load_n(&ledger->go, __ATOMIC_SEQ_CST) < stage) nanosleep(&nap, NULL);
}

/* The child's calls, its own and not those of the sensor that was interrupted, are in a line of its own. */
#define COUNTED(CALL)                                                                 \
  do {                                                                                \
    __atomic_fetch_add(&ledger->lines[is_child ? 1 : 0].before, 1, __ATOMIC_SEQ_CST); \
    CALL;                                                                             \
    __atomic_fetch_add(&ledger->lines[is_child ? 1 : 0].after, 1, __ATOMIC_SEQ_CST);  \
  } while (0)

static void sensor(int32_t number) {
  if (strcmp(way, "patient") == 0) {
    PatientSensor(number);
  } else if (strcmp(way, "object") == 0) {
    ReadSensor(file_object, number);
  } else if (strcmp(way, "new") == 0) {
    sn_receptacle_free(FileReceptacle((uint64_t)number));
  } else {
    IterationSensor(number);
  }
}

static void fail(uint32_t number) {
  set(&ledger->bad, number);
  _exit(9);
}

/* Ends after the sensor it is in; what it counted is the test's to compare with its own announcement. */
static void become_child(void) {
  is_child = 1;
  alarm(60);
  /* Its lines must not be its parent's, also where it is about to count. */
  if (mmap(ledger, sizeof *ledger, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
           -1, 0) == MAP_FAILED) {
    _exit(8);
  }
}

/* What a program itself does in its child, before the run-time does: its memory must be its own. Rings are not
 * inherited, and so their places would be the next to be given out.                                  */
enum { PLACES = 16, PLACE_BYTES = 64 << 10 };
static unsigned char *taken[PLACES];
static void take_places(void) {
  for (int i = 0; i < PLACES; i++) {
    void *place =
        mmap(NULL, PLACE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) _exit(3);
    taken[i] = (unsigned char *)memset(place, 'x', PLACE_BYTES);
  }
}

static void check_places(void) {
  for (int i = 0; i < PLACES; i++) {
    if (taken[i] == NULL) continue;
    for (int at = 0; at < PLACE_BYTES; at++) {
      if (taken[i][at] != 'x') _exit(5);
    }
  }
}

/* Before the run-time does the same. */
static __attribute__((constructor(101))) void begin_early(void) {
  pthread_atfork(NULL, NULL, take_places);
}

static void await_enabled(void) {
  struct timespec nap = {0, 500000};
  uint32_t event = strcmp(way, "patient") == 0                             ? WATCHED_PATIENT
                   : strcmp(way, "object") == 0 || strcmp(way, "new") == 0 ? WATCHED_READ
                                                                           : WATCHED_ITERATION;
  for (int i = 0; i < 4000 && !sn_enabled(&watched, event); i++) nanosleep(&nap, NULL);
}

static void *of_child(void *unused) {
  (void)unused;
  for (int32_t i = 0; i < 5; i++) COUNTED(sensor(400 + i));
  return NULL;
}

/* A child that the C library does not know of. The other thread may stand in malloc, under the lock: what a sensor
 * or an object needs here must not come from there.                                                 */
static void clone_beside(void) {
  int status = 0;
  pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0) {
    alarm(20);
    for (int32_t i = 0; i < 3; i++) {
      IterationSensor(i);
      ReadSensor(file_object, i);
      FileReceptacle(2000);
    }
    _exit(0);
  }
  if (waitpid(child, &status, 0) != child || status != 0) {
    set(&ledger->bad, 102u | (uint32_t)status << 8);
  }
}

/* The thread that is in its sensor is not there in the child, wherever it is. All works there as in any program, or
 * nobody finds it, if what that thread was about could not be waited for.                           */
static void fork_beside(bool own_sensor) {
  pthread_t thread;
  struct sn_record record;
  unsigned char *payload = NULL;
  int32_t number = 3001;
  int status = 0;
  await(2);
  clone_beside();
  /* In the midst of a sensor of its own, as in a handler that interrupts it. */
  if (own_sensor) {
    __atomic_fetch_add(&ledger->lines[0].before, 1, __ATOMIC_SEQ_CST);
    payload = sn_record_open(&watched, &watched_events[0], NULL, 4, 1.0, &record);
    __atomic_fetch_add(&ledger->lines[0].after, 1, __ATOMIC_SEQ_CST);
  }
  pid_t child = fork();
  if (child < 0) fail(2);
  if (payload != NULL) {
    memcpy(payload, &number, sizeof number);
    sn_record_close(&record);
  }
  if (child > 0) {
    if ((waitpid(child, &status, 0) != child || status != 0) && ledger->bad == 0) {
      set(&ledger->bad, 101u | (uint32_t)status << 8);
    }
    __atomic_store_n(&ledger->seen, 1, __ATOMIC_SEQ_CST);
    return;
  }
  become_child();
  /* What there was of objects is still there, and can be asked. */
  for (int32_t i = 0; i < 5; i++) ReadSensor(file_object, i);
  sn_receptacle_free(file_object);
  file_object = FileReceptacle(8);
  struct sn_receptacle *second = FileReceptacle(9);
  if (second != NULL && second == file_object) _exit(4);
  if (file_object != NULL) await_enabled();
  for (int32_t i = 0; i < 5; i++) COUNTED(sensor(100 + i));
  if (pthread_create(&thread, NULL, of_child, NULL) == 0) pthread_join(thread, NULL);
  sn_receptacle_free(second);
  check_places();
  exit(0);
}

static void on_signal(int signal_number) {
  (void)signal_number;
  int error = errno;
  handled = 1;
  if (strcmp(action, "fork") == 0 || strcmp(action, "fork-twice") == 0 ||
      strcmp(action, "fork-on") == 0) {
    pid_t child = fork();
    if (child < 0) fail(2);
    if (child == 0) {
      become_child();
      if (strcmp(action, "fork-twice") == 0 && fork() < 0) _exit(7);
      if (strcmp(action, "fork-on") == 0) await_enabled();
      for (int32_t i = 0; i < 5; i++) COUNTED(sensor(100 + i));
    }
  } else if (strcmp(action, "sensor") == 0) {
    for (int32_t i = 0; i < 3; i++) COUNTED(sensor(200 + i));
  } else if (strcmp(action, "jump") == 0) {
    siglongjmp(out, 1);
  } else if (strcmp(action, "pthread-exit") == 0) {
    pthread_exit(NULL);
  } else if (strcmp(action, "thread-exit") == 0) {
    syscall(SYS_exit, 0);
  } else if (strcmp(action, "cancel") == 0) {
    pthread_cancel(pthread_self());
  } else if (strcmp(action, "exit") == 0) {
    exit(0);
  } else if (strcmp(action, "exec") == 0) {
    execl("/bin/true", "true", (char *)NULL);
    fail(3);
  } else if (strcmp(action, "vfork") == 0) {
    pid_t child = vfork();
    if (child == 0) _exit(0);
  } else if (strcmp(action, "clone") == 0) {
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
      is_child = 1;
      for (int32_t i = 0; i < 5; i++) sensor(300 + i);
      _exit(0);
    }
  } else {
    fail(4);
  }
  errno = error;
}

static void on_nested(int signal_number) {
  (void)signal_number;
  raise(SIGSTOP);
  set(&ledger->stage, 50);
  COUNTED(sensor(2));
  set(&ledger->stage, 51);
}

/* A sensor that is interrupted between its opening and its close. */
static void outer_sensor(void) {
  struct sn_record record;
  unsigned char *payload;
  int32_t number = 1;
  payload = sn_record_open(&watched, &watched_events[0], NULL, 4, 1.0, &record);
  raise(SIGUSR2);
  if (payload == NULL) return;
  memcpy(payload, &number, 4);
  sn_record_close(&record);
}

static void come_to_it(void) {
  int32_t before = strcmp(way, "plain") == 0 || strcmp(way, "renew") == 0    ? 30
                   : strcmp(way, "measured") == 0                            ? 2
                   : strcmp(way, "full") == 0 || strcmp(way, "patient") == 0 ? 400
                                                                             : 0;
  if (strcmp(way, "patient") == 0) before = 170; /* 24 bytes each, of 4096 */
  for (int32_t i = 0; i < before; i++) COUNTED(sensor(i));
}

static void *subject(void *unused) {
  (void)unused;
  if (strcmp(action, "cancel") == 0) pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  come_to_it();
  if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) fail(5);
  ledger->pid = (uint32_t)syscall(SYS_gettid);
  if (sigsetjmp(out, 1) == 0) {
    if (strcmp(way, "nested") == 0) {
      COUNTED(outer_sensor());
    } else {
      syscall(SYS_tgkill, getpid(), ledger->pid, SIGSTOP);
      set(&ledger->stage, 50);
      COUNTED(sensor(1));
      set(&ledger->stage, 51);
    }
  }
  for (int32_t i = 0; i < 20; i++) COUNTED(sensor(1000 + i));
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel_state);
  if (!is_child && cancel_state != PTHREAD_CANCEL_ENABLE) fail(6);
  sigset_t now;
  pthread_sigmask(SIG_SETMASK, NULL, &now);
  if (sigismember(&now, SIGALRM)) fail(7);
  if (is_child) {
    int status;
    while (wait(&status) > 0) {
      if (status != 0) _exit(6);
    }
    check_places();
    exit(0);
  }
  return NULL;
}

int main(int argc, char **argv) {
  struct sigaction handler;
  pthread_t thread;
  int status;
  if (argc < 3) return 2;
  own_path = argv[0];
  way = argv[2];
  char *plus = strchr(argv[2], '+');
  if (plus == NULL) return 2;
  *plus = '\0';
  action = plus + 1;
  int file = open(argv[1], O_RDWR);
  ledger = (struct ledger *)mmap(NULL, sizeof *ledger, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (ledger == MAP_FAILED) return 2;
  close(file);
  alarm(120); /* a sensor that waits for what never comes */
  memset(&handler, 0, sizeof handler);
  handler.sa_handler = on_signal;
  sigaction(SIGUSR1, &handler, NULL);
  handler.sa_handler = on_nested;
  sigaction(SIGUSR2, &handler, NULL);
  file_object = FileReceptacle(7);
  set(&ledger->stage, 1);
  await(1);
  /* Those that there is room for without more: the next one takes it. */
  if (strcmp(way, "new") == 0) {
    for (uint64_t i = 0; i < 254; i++) file_object = FileReceptacle(1000 + i);
  }
  bool beside = strcmp(action, "fork-beside") == 0;
  /* One enable is for one record. */
  bool own_sensor = beside && strcmp(way, "once") != 0 && sn_enabled(&watched, WATCHED_ITERATION);
  if (own_sensor) COUNTED(IterationSensor(3000));
  if (pthread_create(&thread, NULL, subject, NULL) != 0) return 3;
  if (beside) fork_beside(own_sensor);
  pthread_join(thread, NULL);
  /* Those after it find all in order. */
  for (int32_t i = 0; i < 20; i++) COUNTED(IterationSensor(2000 + i));
  while (wait(&status) > 0) {
    if (status != 0) set(&ledger->bad, 100u | (uint32_t)status << 8);
  }
  if (ledger->bad != 0) return 4;
  sn_receptacle_free(file_object);
  return 0;
}
