/* Sensors in a program: what a header generated from a sensor description is made of.
 *
 *     if (SN_UNLIKELY(sn_enabled(&module, 3))) {                    a load or two and a branch
 *       unsigned char *payload = sn_record_open(&module, &events[2], NULL, 4, value, &record);
 *       if (payload) { memcpy(payload, &value, 4); sn_record_close(&record); }
 *     }
 *
 * A sensor asks a switch in the receptacle of its process, of an object or of an initiator, as its
 * description says (thesis 5.2). A reader, in another process, sets the switches; nothing is allocated,
 * no thread runs and no record is written before. Records go into a ring of the thread's own, in memory
 * shared with the reader; what cannot be written is counted, by cause.
 *
 * A sensor never fails, never prints, leaves errno alone, and may be passed in a signal handler and in
 * the child of a fork. It waits only where its description says so, and only while a reader is there.
 * The quick half is here, in line; the rest is in the library. C99 and C++11, gcc and clang.        */
#ifndef TQUEL_SENSOR_H
#define TQUEL_SENSOR_H

#include <stddef.h>
#include <stdint.h>

#include "tquel/sensor_layout.h"

#if defined(__GNUC__) && defined(__INCLUDE_LEVEL__) && __INCLUDE_LEVEL__ > 0
#pragma GCC system_header
#endif

#define SN_INTERFACE 1

#ifdef __cplusplus
extern "C" {
#endif

#define SN_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
/* What stands before is done before, as a signal handler of this thread sees it. */
#define SN_IN_ORDER() __asm__ volatile("" ::: "memory")

/* --- what a description says (written by the generator; read-only) */

enum sn_field_type {
  SN_I1 = 1,
  SN_I2,
  SN_I4,
  SN_I8,
  SN_F4,
  SN_F8,
  SN_TEXT,
  SN_BOOL,
  SN_NAME,
  SN_BYTES
};
enum sn_minor_type {
  SN_OBJECT_TRACED = 1,
  SN_SENSOR_TRACED,
  SN_RECEPTACLE_SAMPLED,
  SN_MESSAGE_SAMPLED,
  SN_INVOCATION_SAMPLED
};
enum sn_consulted { SN_PERFORMER = 0, SN_OBJECT = 1, SN_INITIATOR = 2 };
enum sn_event_flag {
  SN_TIMESTAMP = 1,       /* the record carries a time stamp */
  SN_ASSUME_ENABLED = 2,  /* recorded whenever somebody listens: switch 0 */
  SN_CHECK_ONE_TIME = 4,  /* SN_ONCE is honoured */
  SN_ASSUME_ONE_TIME = 8, /* every enable is good for one record */
  SN_DECLARE_OBJECT = 16, /* for the collector: remember the objects that this event names */
  SN_STOP = 32            /* of a period: the payload is its ticket */
};

/* In the place of a field: a receptacle's sums and histogram are of how long its periods have lasted. */
#define SN_OF_DURATION (-2)

struct sn_field {
  const char *name;
  uint8_t type,
      size; /* bytes in the payload; of SN_TEXT and SN_BYTES 0: u32 length and the bytes */
};

struct sn_event {
  const char *name;
  uint32_t number; /* 1..65535, the index of its switch */
  uint8_t minor_type, consulted;
  uint16_t flags;
  int32_t
      wait_ms; /* ring full: 0 discard, n wait so long at most, -1 wait while a reader is there */
  uint32_t process, object, initiator; /* numbers of sn_type rows; 0: none */
  int32_t histogram_field; /* what sums and histograms are of: a field, SN_OF_DURATION; -1: none */
  uint32_t fixed_size;     /* of the payload, without the bytes of texts and bytes */
  uint32_t field_count;
  const struct sn_field *fields; /* packed in this order, native byte order */
};

struct sn_type {
  const char *name;
  uint32_t number; /* 1..65535 */
  uint8_t is_process;
};

struct sn_module {
  const uint32_t *switches; /* no_switches, or in the announcement */
  uint32_t *asked;          /* NULL, or in the announcement */
  uint32_t index, registered;
  const char *name;
  uint64_t digest;
  const struct sn_event *events;
  uint32_t event_count, event_greatest;
  const struct sn_type *types;
  uint32_t type_count;
  uint32_t description_bytes;
  const char *description;
  const uint32_t *no_switches;
  struct sn_module_state *state; /* the library's own */
};

/* The module is there from the start of its program to the end. A program that is seldom one to be watched
 * defines SN_BY_HAND before it includes the one header that is to be so, and calls sn_module_register and
 * sn_module_withdraw with sn_module_by_hand() itself.                                                */
#ifdef SN_BY_HAND
#define SN_MODULE_LIVES(SYMBOL)                             \
  static inline struct sn_module *sn_module_by_hand(void) { \
    return &SYMBOL;                                         \
  }
#else
#define SN_MODULE_LIVES(SYMBOL)                                            \
  static __attribute__((constructor, used)) void SYMBOL##_register(void) { \
    sn_module_register(&SYMBOL);                                           \
  }                                                                        \
  static __attribute__((destructor, used)) void SYMBOL##_withdraw(void) {  \
    sn_module_withdraw(&SYMBOL);                                           \
  }
#endif

/* Defines and registers the module SYMBOL. The header that says so is included in many translation
 * units; one module results in each executable and library.                                        */
#define SN_MODULE(SYMBOL, NAME, DIGEST, EVENTS, EVENT_COUNT, EVENT_GREATEST, TYPES, TYPE_COUNT, \
                  DESCRIPTION, DESCRIPTION_BYTES)                                               \
  extern uint32_t SYMBOL##_off[(EVENT_GREATEST) + 1];                                           \
  extern struct sn_module SYMBOL;                                                               \
  __attribute__((weak, visibility("hidden"))) uint32_t SYMBOL##_off[(EVENT_GREATEST) + 1];      \
  __attribute__((weak, visibility("hidden"))) struct sn_module SYMBOL = {                       \
      SYMBOL##_off,   SN_NULL,      0,          0,                                              \
      NAME,           DIGEST,       EVENTS,     EVENT_COUNT,                                    \
      EVENT_GREATEST, TYPES,        TYPE_COUNT, DESCRIPTION_BYTES,                              \
      DESCRIPTION,    SYMBOL##_off, SN_NULL};                                                   \
  SN_MODULE_LIVES(SYMBOL)                                                                       \
  struct sn_module /* whose declaration takes the semicolon */

void sn_module_register(struct sn_module *module);
void sn_module_withdraw(struct sn_module *module);

/* --- is it on? */

static inline int sn_enabled(const struct sn_module *module, uint32_t event) {
  return __atomic_load_n(&module->switches[event], __ATOMIC_RELAXED) != 0;
}

static inline int sn_listening(const struct sn_module *module) {
  return sn_enabled(module, 0);
}

static inline int sn_object_enabled(const struct sn_receptacle *receptacle, uint32_t event) {
  return receptacle != SN_NULL &&
         __atomic_load_n(&sn_switches(receptacle)[event], __ATOMIC_RELAXED) != 0;
}

/* --- records */

/* Of a period, from its start to its stop. All zero: there is nothing to be stopped. */
typedef struct sn_ticket {
  int64_t number; /* in its records, its own alone in its process; 0: there are none */
  uint64_t since; /* where its duration will be counted: CLOCK_MONOTONIC at its start; else 0 */
  struct sn_receptacle *receptacle; /* ... there; NULL: in the process's */
  uint32_t epoch, forks;            /* of that, and of the process then */
} sn_ticket;

/* What a ticket is before its start, and behind its stop. */
#define SN_NO_PERIOD \
  { 0, 0, SN_NULL, 0, 0 }

/* What writing needs of a thread. `ready` is the switch that the quick way is for; SN_BUSY while a
 * record is being written; SN_SLOW when the long way must be taken. Neither is ever a switch.       */
#define SN_BUSY 0x80u
#define SN_SLOW 0x81u
struct sn_thread {
  uint32_t ready, resume;
  uint64_t head, limit; /* may be written up to limit; base is good for that */
  uint64_t mask;
  unsigned char *base;
  struct sn_slot *slot;
  uint64_t generated;
  int64_t ticket; /* of the last period that was begun with this ring */
};

extern __thread struct sn_thread *sn_this_thread __attribute__((tls_model("initial-exec")));

struct sn_record {
  struct sn_thread *thread;
  uint64_t head;  /* behind the record; odd: it is measured what the record costs */
  uint64_t since; /* of SN_OF_DURATION alone, and else as it was: what is counted of a ticket */
  uint32_t forks;
};

/* The long way. `claimed`: the caller has set thread->ready to SN_BUSY. */
unsigned char *sn_record_open_slowly(struct sn_module *module, const struct sn_event *event,
                                     const struct sn_receptacle *receptacle, uint64_t bytes,
                                     double value, struct sn_record *record, int claimed);
/* Publishes a record that is measured. */
void sn_record_close_measured(struct sn_record *record);

#if defined(__x86_64__)
static inline uint64_t sn_cycles(void) {
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return SN_AS(uint64_t, high) << 32 | low;
}
#define SN_HAS_CYCLES 1
#elif defined(__aarch64__)
static inline uint64_t sn_cycles(void) {
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}
#define SN_HAS_CYCLES 1
#else
static inline uint64_t sn_cycles(void) {
  return 0;
} /* the quick way is never taken */
#define SN_HAS_CYCLES 0
#endif

static inline unsigned char *sn_put_word(unsigned char *at, uint64_t word) {
  __builtin_memcpy(at, &word, sizeof word);
  return at + sizeof word;
}

static inline uint64_t sn_head_word(const struct sn_module *module, uint32_t event, uint64_t bytes,
                                    uint32_t kind) {
  struct sn_ring_record head;
  uint64_t word;
  head.event = event;
  head.words = SN_AS(uint16_t, bytes / 8u);
  head.module = SN_AS(uint16_t, module->index | kind);
  __builtin_memcpy(&word, &head, sizeof word);
  return word;
}

/* Writes what stands before the payload; returns where the payload goes. */
static inline unsigned char *sn_put_head(unsigned char *at, const struct sn_module *module,
                                         const struct sn_event *event,
                                         const struct sn_receptacle *receptacle, uint64_t bytes,
                                         uint64_t stamp) {
  uint32_t kind = (event->flags & SN_TIMESTAMP ? SN_AS(uint32_t, SN_RECORD_STAMP) : 0u) |
                  (receptacle != SN_NULL ? SN_AS(uint32_t, SN_RECORD_NAME) : 0u) |
                  (event->flags & SN_STOP ? SN_AS(uint32_t, SN_RECORD_STOP) : 0u);
  at = sn_put_word(at, sn_head_word(module, event->number, bytes, kind));
  if (event->flags & SN_TIMESTAMP) at = sn_put_word(at, stamp);
  if (receptacle != SN_NULL) {
    at = sn_put_word(at, receptacle->minor);
    __builtin_memcpy(at, &receptacle->epoch, 4);
    __builtin_memcpy(at + 4, &receptacle->type, 4);
    at += 8;
  }
  return at;
}

/* Opens a record with SIZE bytes of payload. VALUE: of the event's numeric field, 0 without one.
 * NULL: nothing is to be written, what there was to count is counted. Otherwise the payload goes there
 * (on a multiple of 8 bytes), and sn_record_close must follow, with no other sensor between.        */
static inline unsigned char *sn_record_open(struct sn_module *module, const struct sn_event *event,
                                            const struct sn_receptacle *receptacle, uint32_t size,
                                            double value, struct sn_record *record) {
  struct sn_thread *thread = sn_this_thread;
  uint64_t bytes = (SN_AS(uint64_t, size) + 8u + (event->flags & SN_TIMESTAMP ? 8u : 0u) +
                    (receptacle != SN_NULL ? 16u : 0u) + 7u) &
                   ~UINT64_C(7);
  uint32_t number = event->flags & SN_ASSUME_ENABLED ? 0 : event->number;
  const uint32_t *switches =
      receptacle != SN_NULL && number != 0 ? sn_switches(receptacle) : module->switches;
  uint32_t word = __atomic_load_n(&switches[number], __ATOMIC_RELAXED);
  uint64_t head;
  if (SN_UNLIKELY(thread->ready != word || (event->flags & SN_ASSUME_ONE_TIME))) {
    return sn_record_open_slowly(module, event, receptacle, bytes, value, record, 0);
  }
  /* From here to the close the ring is ours. A handler that came before may have moved the head. */
  thread->ready = SN_BUSY;
  SN_IN_ORDER();
  head = thread->head;
  if (SN_UNLIKELY(thread->limit - head < bytes)) {
    return sn_record_open_slowly(module, event, receptacle, bytes, value, record, 1);
  }
  thread->generated++;
  __atomic_store_n(&thread->slot->generated, thread->generated, __ATOMIC_RELAXED);
  /* Counted before the time is read: who finds all that was counted, misses nothing that is older. */
  SN_IN_ORDER();
  record->thread = thread;
  record->head = head + bytes;
  return sn_put_head(thread->base + (head & thread->mask), module, event, receptacle, bytes,
                     event->flags & SN_TIMESTAMP ? sn_cycles() : 0);
}

/* The bytes of a text, or of bytes, of a record. A length that nothing has (a negative one, say) is such that the record is lost as
 * oversize, and not that sums of lengths begin anew. */
static inline size_t sn_counted(const void *text, size_t length) {
  const uint64_t wide = length;
  if (text == SN_NULL) return 0;
  return wide > UINT32_MAX ? SN_AS(size_t, UINT32_MAX) : length;
}

/* Publishes the record. */
static inline void sn_record_close(struct sn_record *record) {
  struct sn_thread *thread = record->thread;
  if (SN_UNLIKELY(record->head & 1u)) {
    sn_record_close_measured(record);
    return;
  }
  thread->head = record->head;
  __atomic_store_n(&thread->slot->head, record->head, __ATOMIC_RELEASE);
  SN_IN_ORDER();
  thread->ready = thread->resume;
}

/* --- periods: a period sensor's start gives a ticket, which its stop takes back, perhaps in another thread. */

#define SN_TICKETS      (INT64_C(1) << 20) /* so many are a thread's own */
#define SN_SCOPE(LINE)  SN_SCOPE_(LINE)
#define SN_SCOPE_(LINE) sn_scope_##LINE

/* The first one of a block of SN_TICKETS that nobody else has. */
int64_t sn_period_tickets(void);
/* Counts how long a period that was counted has lasted. EVENT: as of sn_period_stop. */
void sn_period_lasted(struct sn_module *module, const struct sn_event *event,
                      const sn_ticket *period);

static inline sn_ticket sn_no_period(void) {
  const sn_ticket none = SN_NO_PERIOD;
  return none;
}

static inline int sn_is_period(const sn_ticket *period) {
  return (SN_AS(uint64_t, period->number) | period->since) != 0;
}

/* Behind sn_record_open, which may have counted the period in RECEPTACLE. */
static inline void sn_period_counted(sn_ticket *period, const struct sn_record *record,
                                     struct sn_receptacle *receptacle) {
  if (record->since == 0) return;
  period->since = record->since;
  period->forks = record->forks;
  period->receptacle = receptacle;
  period->epoch = receptacle != SN_NULL ? receptacle->epoch : 0;
}

/* A ticket of its own, between sn_record_open and sn_record_close: THREAD is ours. */
static inline int64_t sn_new_ticket(struct sn_thread *thread) {
  /* 0 of a thread that has had none, 0 behind the last one of a block. */
  if (SN_UNLIKELY(((thread->ticket + 1) & (SN_TICKETS - 1)) <= 1)) {
    thread->ticket = sn_period_tickets();
  } else {
    thread->ticket++;
  }
  return thread->ticket;
}

/* EVENT: the row of its stops, which asks whether anybody listens. Whose sensor, or object's, is off by now is told
 * all the same: that one may have been ended already. */
static inline void sn_period_stop(struct sn_module *module, const struct sn_event *event,
                                  const sn_ticket *period) {
  struct sn_record record;
  unsigned char *to;
  if (period->since != 0) sn_period_lasted(module, event, period);
  if (period->number == 0) return;
  to = sn_record_open(module, event, SN_NULL, sizeof period->number, 0.0, &record);
  if (to == SN_NULL) return;
  __builtin_memcpy(to, &period->number, sizeof period->number);
  sn_record_close(&record);
}

/* --- objects */

/* A receptacle for a new object of TYPE with the minor name MINOR; NULL without memory (and sensors then
 * do nothing). Its switches begin as the process's switches of the same events stand.               */
struct sn_receptacle *sn_receptacle_new(struct sn_module *module, uint32_t type, uint64_t minor);
/* The object is gone; NULL is accepted. Not in signal handlers. */
void sn_receptacle_free(struct sn_receptacle *receptacle);

/* Which sensor process this process is; MINOR: its name, NULL: the process id. 0, or -1: no memory. */
int sn_process_declare(struct sn_module *module, uint32_t type, const char *minor);

/* --- sampling */

int sn_sample_taken(struct sn_module *module, uint32_t event);

/* 1 once for each round that the reader asked of EVENT. */
static inline int sn_sample_requested(struct sn_module *module, uint32_t event) {
  uint32_t *asked = __atomic_load_n(&module->asked, __ATOMIC_ACQUIRE);
  return asked != SN_NULL && SN_UNLIKELY(__atomic_load_n(&asked[event], __ATOMIC_RELAXED) != 0) &&
         sn_sample_taken(module, event);
}

/* All entities of this round have been reported. */
void sn_sample_done(struct sn_module *module, uint32_t event);

/* Calls FUNCTION at each request for EVENT, then does sn_sample_done: in a thread of the library, which
 * the first registration starts. 0, or -1: no memory or no thread. NULL: no longer.                 */
int sn_sample_register(struct sn_module *module, uint32_t event, void (*function)(void *),
                       void *context);

/* A descriptor that becomes readable (8 bytes, as of eventfd) when something is asked for; -1: none. */
int sn_sample_fd(struct sn_module *module);

#ifdef __cplusplus
}
#endif

#endif
