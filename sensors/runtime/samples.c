/* Rounds of sampled events (thesis 5.3).
 *
 * The reader marks an event in the module's part of the announcement and moves the header's count of
 * requests, on which a thread of ours may sleep. A program that samples when it is ready asks for the
 * mark; one that gave a function has it called by that thread, which the first function starts and the
 * last one that is withdrawn ends. A round ends with a record that says so.                          */
#include "sensors/runtime/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* As linux/futex.h has them, which is the kernel's and not there with every C library. */
enum { FUTEX_WAIT = 0, FUTEX_WAKE = 1 };

struct sampler {
  struct sampler *next;
  struct sn_module *module;
  uint32_t event;
  void (*function)(void *);
  void *context;
};

static struct sampler *samplers; /* never freed, reused by the same event; under the lock to add */
static pthread_t server;
static bool served;                    /* there is a server */
static bool forgotten;                 /* there was one in the parent */
static uint32_t turn;                  /* the number of the server: another one is to end */
static const struct sn_module *called; /* whose function is being called, perhaps */
static int notice = -1;                /* sn_sample_fd's */

SN_EXPORT int sn_sample_taken(struct sn_module *module, uint32_t event) {
  uint32_t *asked = __atomic_load_n(&module->asked, __ATOMIC_ACQUIRE);
  return asked != NULL && event <= module->event_greatest &&
         __atomic_exchange_n(&asked[event], 0, __ATOMIC_ACQ_REL) != 0;
}

static const struct sn_event *event_of(const struct sn_module *module, uint32_t number) {
  for (uint32_t e = 0; e < module->event_count; e++) {
    if (module->events[e].number == number) return &module->events[e];
  }
  return NULL;
}

static void put_round(struct sn_module *module, const struct sn_event *event,
                      struct sn_entry *entry, uint32_t generation) {
  struct sn_worker *worker = sn_worker_claim();
  if (worker == NULL) return;
  unsigned char *at = NULL;
  if (sn_worker_ready(worker, generation)) at = sn_reserve(worker, module, event, 16, entry);
  if (at != NULL) {
    uint32_t kind = SN_RECORD_STAMP | SN_RECORD_ROUND;
    struct sn_record record = {.thread = &worker->thread, .head = worker->thread.head + 16};
    sn_put_word(sn_put_word(at, sn_head_word(module, event->number, 16, kind)), sn_stamp());
    sn_record_close(&record);
  } else {
    sn_worker_release(worker);
  }
}

SN_EXPORT void sn_sample_done(struct sn_module *module, uint32_t number) {
  const struct sn_event *event = event_of(module, number);
  int error = errno;
  if (event == NULL || module->state == NULL || sn_process.header == NULL) return;
  struct sn_entry *entry = sn_entry_of(module, event, NULL);
  uint32_t word = __atomic_load_n(&module->switches[0], __ATOMIC_ACQUIRE);
  uint32_t generation = __atomic_load_n(&sn_process.header->generation, __ATOMIC_ACQUIRE);
  __atomic_fetch_add(&entry->rounds, 1, __ATOMIC_RELEASE);
  if (word != 0 && word >> SN_GENERATION_SHIFT == generation) {
    put_round(module, event, entry, generation);
  }
  errno = error;
}

/* --- the thread that calls functions */

/* What to call now; it may be registered anew meanwhile. */
static bool look_up(struct sampler *sampler, struct sampler *ret_copy) {
  struct sn_guard guard;
  if (!sn_lock(&guard)) return false;
  *ret_copy = *sampler;
  if (sampler->function != NULL) __atomic_store_n(&called, sampler->module, __ATOMIC_SEQ_CST);
  sn_unlock(&guard);
  return ret_copy->function != NULL;
}

static void serve_all(void) {
  struct sampler *sampler = __atomic_load_n(&samplers, __ATOMIC_ACQUIRE), now;
  for (; sampler != NULL; sampler = sampler->next) {
    if (look_up(sampler, &now) && sn_sample_requested(now.module, now.event)) {
      now.function(now.context);
      sn_sample_done(now.module, now.event);
    }
    __atomic_store_n(&called, NULL, __ATOMIC_SEQ_CST);
  }
}

static void tell(void) {
  uint64_t one = 1;
  int file = __atomic_load_n(&notice, __ATOMIC_ACQUIRE);
  if (file >= 0 && write(file, &one, sizeof one) != (ssize_t)sizeof one) {
    /* It is readable already. */
  }
}

static void *serve(void *number) {
  uint32_t *requests = &sn_process.header->requests;
  uint32_t seen = 0;
  while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) == (uint32_t)(uintptr_t)number) {
    uint32_t now = __atomic_load_n(requests, __ATOMIC_ACQUIRE);
    if (now != seen) {
      seen = now;
      serve_all();
      tell();
    } else {
      syscall(SYS_futex, requests, FUTEX_WAIT, seen, NULL, NULL, 0);
    }
  }
  return NULL;
}

/* With all signals blocked (by the lock): the program's handlers run in its own threads. */
static bool start_server(void) {
  if (served) return true;
  uint32_t number = __atomic_add_fetch(&turn, 1, __ATOMIC_ACQ_REL);
  served = pthread_create(&server, NULL, serve, (void *)(uintptr_t)number) == 0;
  return served;
}

static void wake_server(void) {
  __atomic_fetch_add(&turn, 1, __ATOMIC_ACQ_REL);
  /* Between its look at `turn` and its sleep the count must change. */
  __atomic_fetch_add(&sn_process.header->requests, 1, __ATOMIC_ACQ_REL);
  syscall(SYS_futex, &sn_process.header->requests, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static bool is_needed(void) {
  for (struct sampler *sampler = samplers; sampler != NULL; sampler = sampler->next) {
    if (sampler->function != NULL) return true;
  }
  return notice >= 0;
}

static struct sampler *sampler_of(struct sn_module *module, uint32_t event) {
  struct sampler *sampler = samplers;
  while (sampler != NULL && (sampler->module != module || sampler->event != event)) {
    sampler = sampler->next;
  }
  if (sampler == NULL && (sampler = calloc(1, sizeof *sampler)) != NULL) {
    sampler->module = module;
    sampler->event = event;
    sampler->next = samplers;
    __atomic_store_n(&samplers, sampler, __ATOMIC_RELEASE);
  }
  return sampler;
}

SN_EXPORT int sn_sample_register(struct sn_module *module, uint32_t event, void (*function)(void *),
                                 void *context) {
  struct sn_guard guard;
  bool good = false, end = false;
  pthread_t ending = server;
  if (module->state == NULL || !sn_lock(&guard)) return -1;
  struct sampler *sampler = sampler_of(module, event);
  if (sampler != NULL) {
    sampler->function = function;
    sampler->context = context;
    good = function == NULL || start_server();
    if (served && !is_needed()) {
      ending = server;
      served = false;
      end = true;
      wake_server();
    }
  }
  sn_unlock(&guard);
  if (end && !pthread_equal(ending, pthread_self())) pthread_join(ending, NULL);
  return good ? 0 : -1;
}

SN_EXPORT int sn_sample_fd(struct sn_module *module) {
  struct sn_guard guard;
  if (module->state == NULL || !sn_lock(&guard)) return -1;
  if (notice < 0) {
    __atomic_store_n(&notice, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), __ATOMIC_RELEASE);
  }
  if (notice >= 0 && !start_server()) {
    close(notice);
    notice = -1;
  }
  int file = notice;
  sn_unlock(&guard);
  return file;
}

/* In a child, under the lock: its functions are called by a thread of its own. The descriptor is the
 * parent's.                                                                                          */
void sn_samples_forget(void) {
  forgotten = forgotten || served;
  served = false;
  called = NULL;
  notice = -1;
}

void sn_samples_restart(void) {
  sn_samples_forget();
  if (!forgotten) return;
  forgotten = false;
  if (sn_process.header != NULL && is_needed()) start_server();
}

/* Neither waits for ever: the thread may be in a function that waits for whoever ends it. */
static void nap(void) {
  struct timespec time = {0, 1000000};
  int cancel;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  nanosleep(&time, NULL);
  pthread_setcancelstate(cancel, NULL);
}

void sn_samples_withdraw(const struct sn_module *module) {
  struct sn_guard guard;
  if (samplers == NULL || !sn_lock(&guard)) return;
  bool self = served && pthread_equal(server, pthread_self());
  for (struct sampler *sampler = samplers; sampler != NULL; sampler = sampler->next) {
    if (sampler->module == module) sampler->function = NULL;
  }
  sn_unlock(&guard);
  for (int i = 0; i < 1000 && served && !self; i++) {
    if (__atomic_load_n(&called, __ATOMIC_SEQ_CST) != module) break;
    nap();
  }
}

/* The program ends, or what we are part of is unloaded with the code that the thread executes. */
void sn_samples_stop(void) {
  struct sn_guard guard;
  if (!served || !sn_lock(&guard)) return;
  bool join = served && !pthread_equal(server, pthread_self());
  if (served) wake_server();
  served = false;
  sn_unlock(&guard);
  for (int i = 0; join && i < 1000 && pthread_tryjoin_np(server, NULL) == EBUSY; i++) nap();
}
