/* The long way of a sensor: everything but a plain record into a ring with room.
 *
 * It counts what is counted; honours one-time enables, so that one record only comes of each; finds the
 * thread's ring, or one of a handler's own; waits where the event says so and a reader is there; counts
 * what is lost; and measures, of some records, what they cost. What a record costs in system calls is here, too: nothing, except when a ring is
 * new, full and waited for, or the reader another one.
 *
 * generated = received + lost holds at every moment but between two stores of one thread, where a death
 * leaves one record that the reader finds missing (SN_TORN).                                        */
#include "sensors/runtime/internal.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* --- losses */

static void lost(struct sn_worker *worker, enum sn_cause cause, const struct sn_module *module,
                 const struct sn_event *event, struct sn_entry *entry) {
  struct sn_header *header = sn_process.header;
  if (worker != NULL && worker->ring != NULL) {
    struct sn_slot *slot = worker->thread.slot;
    __atomic_store_n(&slot->generated, ++worker->thread.generated, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->lost[cause], slot->lost[cause] + 1, __ATOMIC_RELEASE);
  } else if (worker == NULL || !worker->abandoned) {
    __atomic_fetch_add(&header->aside_generated, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&header->aside_lost[cause], 1, __ATOMIC_RELEASE);
  }
  if (worker != NULL && worker->abandoned) return; /* the parent's to count */
  struct sn_tally *tally = sn_tally_of(module, event);
  if (tally != NULL) __atomic_fetch_add(&tally->lost[cause], 1, __ATOMIC_RELAXED);
  if (entry != NULL) __atomic_fetch_add(&entry->missed, 1, __ATOMIC_RELAXED);
}

/* --- room */

static bool has_room(struct sn_worker *worker, uint64_t bytes) {
  struct sn_thread *thread = &worker->thread;
  uint64_t ring_bytes = worker->ring->bytes;
  thread->limit = sn_slot_tail(thread->slot, thread->head, ring_bytes) + ring_bytes;
  return thread->limit - thread->head >= bytes;
}

/* A beat to come is nonsense. */
static bool reader_is_there(uint64_t now) {
  uint64_t beat = __atomic_load_n(&sn_process.header->beat_ns, __ATOMIC_RELAXED);
  return now < beat ? beat - now < SN_BEAT_NS : now - beat < SN_BEAT_NS;
}

/* nanosleep would be a cancellation point; and were cancellation off meanwhile, it would remain so when a
 * handler leaves by a jump.                                                                           */
static void sleep_ns(long time) {
#ifdef SYS_nanosleep
  long nap[2] = {0, time};
  syscall(SYS_nanosleep, nap, NULL);
#else
  long long nap[2] = {0, time};
  syscall(SYS_clock_nanosleep_time64, CLOCK_MONOTONIC, 0, nap, NULL);
#endif
}

/* Another reader has come, who knows nothing of this ring: he gets it, with what is in it. Else we would wait
 * for room that nobody makes. false: as it is now the ring will never have room for BYTES.            */
static bool hand_over(struct sn_worker *worker, uint64_t bytes) {
  uint32_t generation = __atomic_load_n(&sn_process.header->generation, __ATOMIC_ACQUIRE);
  if (worker->ring->slot->generation != generation) (void)sn_worker_ready(worker, generation);
  return bytes <= worker->ring->bytes;
}

/* As the event declares, and not in a handler that interrupted a sensor: that one waits for us. */
static bool wait_for_room(struct sn_worker *worker, const struct sn_event *event, uint64_t bytes) {
  long nap = 2000;
  uint64_t now = sn_monotonic_ns();
  uint64_t end = event->wait_ms < 0 ? UINT64_MAX : now + (uint64_t)event->wait_ms * 1000000u;
  if (event->wait_ms == 0 || worker->level != 0) return false;
  /* Nobody reads the ring of a sensor that goes on in the child of a fork; the fork may come now. */
  while (now < end && !__atomic_load_n(&worker->abandoned, __ATOMIC_RELAXED) &&
         reader_is_there(now)) {
    sleep_ns(nap);
    if (nap < 1000000) nap *= 2;
    if (!hand_over(worker, bytes)) return false;
    if (has_room(worker, bytes)) return true;
    now = sn_monotonic_ns();
  }
  return false;
}

unsigned char *sn_reserve(struct sn_worker *worker, const struct sn_module *module,
                          const struct sn_event *event, uint64_t bytes, struct sn_entry *entry) {
  struct sn_thread *thread = &worker->thread;
  if (bytes > worker->ring->bytes || bytes > SN_RECORD_BYTES_MAX) {
    lost(worker, SN_OVERSIZE, module, event, entry);
    return NULL;
  }
  if (!has_room(worker, bytes) && !wait_for_room(worker, event, bytes)) {
    lost(worker, SN_FULL, module, event, entry);
    return NULL;
  }
  __atomic_store_n(&thread->slot->generated, ++thread->generated, __ATOMIC_RELAXED);
  return thread->base + (thread->head & thread->mask);
}

/* --- switches */

/* The switch that the sensor asks. */
static uint32_t *switch_of(const struct sn_module *module, const struct sn_event *event,
                           const struct sn_receptacle *receptacle) {
  if (event->flags & SN_ASSUME_ENABLED) return (uint32_t *)(uintptr_t)module->switches;
  return receptacle != NULL ? &sn_switches(receptacle)[event->number]
                            : (uint32_t *)(uintptr_t)&module->switches[event->number];
}

/* Whether this sensor is the one that an enable for one record is good for. */
static bool takes_once(uint32_t *place, uint32_t word) {
  uint32_t rest;
  do {
    rest = word & ~(uint32_t)(SN_TRACE | SN_ONCE | SN_MEASURE);
    if ((rest & SN_MODES) == 0) rest = 0;
    if ((word & SN_TRACE) == 0) return false;
  } while (
      !__atomic_compare_exchange_n(place, &word, rest, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  return true;
}

static bool is_once(const struct sn_event *event, uint32_t word) {
  if (event->flags & SN_ASSUME_ENABLED) return false;
  return (event->flags & SN_ASSUME_ONE_TIME) ||
         ((word & SN_ONCE) && (event->flags & SN_CHECK_ONE_TIME));
}

/* --- overload */

/* Takes one of those that its reader allows the process. */
static bool takes_allowed(uint32_t *allowed) {
  uint32_t left = __atomic_load_n(allowed, __ATOMIC_RELAXED);
  while (left != 0 && !__atomic_compare_exchange_n(allowed, &left, left - 1, true, __ATOMIC_ACQ_REL,
                                                   __ATOMIC_RELAXED)) {
    continue;
  }
  return left != 0;
}

/* Takes the one that is an object's until its reader comes again; *WORD: as the switch stood then. */
static bool takes_turn(uint32_t *place, uint32_t *word) {
  uint32_t rest;
  do {
    if ((*word & SN_THINNED) == 0) return true; /* no more by now */
    if ((*word & SN_TRACE) == 0) return false;
    rest = *word & ~(uint32_t)(SN_TRACE | SN_MEASURE);
  } while (
      !__atomic_compare_exchange_n(place, word, rest, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
  return true;
}

/* A sensor of which not every record is wanted. true: this one is not, which is counted. */
static bool is_passed_over(const struct sn_module *module, const struct sn_event *event,
                           const struct sn_receptacle *receptacle, uint32_t *place,
                           uint32_t *word) {
  uint32_t *asked = __atomic_load_n(&module->asked, __ATOMIC_ACQUIRE);
  if (receptacle != NULL ? takes_turn(place, word)
                         : asked == NULL || takes_allowed(&asked[event->number])) {
    return false;
  }
  struct sn_entry *entry = sn_entry_of(module, event, NULL);
  if (entry != NULL) __atomic_fetch_add(&entry->rounds, 1, __ATOMIC_RELEASE);
  if (receptacle != NULL && (entry = sn_entry_of(module, event, receptacle)) != NULL) {
    __atomic_fetch_add(&entry->missed, 1, __ATOMIC_RELAXED);
  }
  return true;
}

/* --- what records cost */

/* The quick way is left when the thread has written so much: that record is measured. */
static void measure_again(struct sn_thread *thread, uint64_t head) {
  if (thread->limit - head > SN_COST_BYTES) thread->limit = head + SN_COST_BYTES;
}

/* From here on an ordinary record does what it does in line; what comes before is the way to here. ENTRY: the
 * process's, whoever's switch was asked (NULL: none): a sensor costs the same for all of its objects, and
 * objects may go before they have been looked at. */
static void measure(struct sn_worker *worker, struct sn_entry *entry, struct sn_record *record) {
  if (entry == NULL) return;
  record->head |= 1u;
  worker->measured = entry;
  worker->since = sn_stamp();
}

/* Ticks from SINCE to now, without what it takes to look. 0: the thread was interrupted. */
static uint64_t ticks_since(uint64_t since) {
  uint64_t ticks = sn_stamp() - since;
  if (ticks > SN_COST_MOST) return 0;
  return ticks > sn_process.stamp_ticks ? ticks - sn_process.stamp_ticks : 1;
}

/* Enough: from now on the switch is one for the quick way. */
static void measured_enough(uint32_t *place, uint32_t word) {
  __atomic_compare_exchange_n(place, &word, word & ~(uint32_t)SN_MEASURE, false, __ATOMIC_ACQ_REL,
                              __ATOMIC_RELAXED);
}

SN_EXPORT void sn_record_close_measured(struct sn_record *record) {
  struct sn_thread *thread = record->thread;
  struct sn_worker *worker = (struct sn_worker *)(void *)thread;
  thread->head = record->head & ~UINT64_C(1);
  __atomic_store_n(&thread->slot->head, thread->head, __ATOMIC_RELEASE);
  int error = errno;
  /* In the child of a fork in the middle of a sensor there is nothing to add it to; the fork may come now. */
  struct sn_entry *entry = __atomic_load_n(&worker->measured, __ATOMIC_RELAXED);
  uint64_t ticks = entry != NULL ? ticks_since(worker->since) : 0;
  errno = error;
  if (ticks != 0) {
    __atomic_fetch_add(&entry->cost_ticks, ticks, __ATOMIC_RELAXED);
    __atomic_fetch_add(&entry->cost_samples, 1, __ATOMIC_RELAXED);
  }
  SN_IN_ORDER();
  thread->ready = thread->resume;
}

/* --- periods */

SN_EXPORT int64_t sn_period_tickets(void) {
  /* Goes on in the child of a fork, whose periods are told apart from inherited ones. */
  static int64_t blocks;
  return __atomic_fetch_add(&blocks, 1, __ATOMIC_RELAXED) * SN_TICKETS + 1;
}

/* false: the process is not announced. A child that fork does not know of is found out: the lock may have been
 * held by another thread; what was on in its parent is off then, and some of it may be on again. */
static bool is_announced(void) {
  struct sn_guard guard;
  if (sn_process.header == NULL) return false;
  if (__atomic_load_n(sn_process.same, __ATOMIC_RELAXED) != 0) return true;
  if (!sn_lock(&guard)) return false;
  sn_unlock(&guard);
  return sn_process.header != NULL;
}

/* What the start has counted, whatever the switch says by now: so what is counted and has not lasted, is open. The
 * object may have gone, with what it has counted to the process's; a parent's periods are the parent's to count. */
SN_EXPORT void sn_period_lasted(struct sn_module *module, const struct sn_event *event,
                                const sn_ticket *period) {
  const struct sn_receptacle *receptacle = period->receptacle;
  int error = errno;
  if (is_announced() && period->forks == sn_process.forks) {
    uint64_t now = sn_monotonic_ns();
    if (receptacle != NULL && (__atomic_load_n(&receptacle->state, __ATOMIC_ACQUIRE) != SN_LIVE ||
                               receptacle->epoch != period->epoch)) {
      receptacle = NULL;
    }
    struct sn_entry *entry = sn_entry_of(module, event, receptacle);
    if (entry != NULL) sn_count_duration(entry, now > period->since ? now - period->since : 0);
  }
  errno = error;
}

/* --- the long way */

static unsigned char *open_record(struct sn_module *module, const struct sn_event *event,
                                  const struct sn_receptacle *receptacle, uint64_t bytes,
                                  struct sn_record *record, uint32_t generation, bool measured) {
  struct sn_entry *entry = sn_entry_of(module, event, receptacle);
  struct sn_worker *worker = sn_worker_claim();
  if (worker == NULL) {
    lost(NULL, SN_NESTED, module, event, entry);
    return NULL;
  }
  unsigned char *at = NULL;
  if (!sn_worker_ready(worker, generation)) {
    lost(worker, SN_UNREACHABLE, module, event, entry);
  } else {
    at = sn_reserve(worker, module, event, bytes, entry);
    /* A ring that could not yet be handed over is tried again each time. */
    bool quick = sn_process.header->clock == SN_CLOCK_CYCLES &&
                 worker->thread.slot->generation == generation;
    worker->thread.resume = quick ? generation << SN_GENERATION_SHIFT | SN_TRACE : SN_SLOW;
  }
  if (at == NULL) {
    sn_worker_release(worker);
    return NULL;
  }
  record->thread = &worker->thread;
  record->head = worker->thread.head + bytes;
  measure_again(&worker->thread, record->head);
  measured = measured || worker->thread.generated % SN_COST_RECORDS == 0;
  if (measured) measure(worker, sn_entry_of(module, event, NULL), record);
  return sn_put_head(at, module, event, receptacle, bytes, sn_stamp());
}

static unsigned char *open_slowly(struct sn_module *module, const struct sn_event *event,
                                  const struct sn_receptacle *receptacle, uint64_t bytes,
                                  double value, struct sn_record *record, bool measured) {
  if (!is_announced()) return NULL;
  uint32_t *place = switch_of(module, event, receptacle);
  uint32_t word = __atomic_load_n(place, __ATOMIC_ACQUIRE);
  if (word == 0) return NULL;
  /* What a reader that is no more has enabled, the new one has not. */
  uint32_t generation = __atomic_load_n(&sn_process.header->generation, __ATOMIC_ACQUIRE);
  if (word >> SN_GENERATION_SHIFT != generation) return NULL;
  if ((word & (SN_COUNT | SN_HISTOGRAM | SN_SUM)) != 0 && (event->flags & SN_STOP) == 0) {
    struct sn_entry *entry = sn_entry_of(module, event, receptacle);
    if (entry != NULL) sn_count(entry, event, word, value);
    if (entry != NULL && event->histogram_field == SN_OF_DURATION &&
        (word & (SN_SUM | SN_HISTOGRAM)) != 0) {
      record->since = sn_monotonic_ns();
      record->forks = sn_process.forks;
    }
  }
  if ((word & SN_THINNED) != 0 && is_passed_over(module, event, receptacle, place, &word))
    return NULL;
  if ((word & SN_TRACE) == 0 || (is_once(event, word) && !takes_once(place, word))) return NULL;
  if ((word & SN_MEASURE) != 0) {
    const struct sn_entry *entry = sn_entry_of(module, event, NULL);
    measured = true;
    if (entry == NULL || __atomic_load_n(&entry->cost_samples, __ATOMIC_RELAXED) % SN_COST_FIRST ==
                             SN_COST_FIRST - 1) {
      measured_enough(place, word);
    }
  }
  return open_record(module, event, receptacle, bytes, record, generation, measured);
}

SN_EXPORT unsigned char *sn_record_open_slowly(struct sn_module *module,
                                               const struct sn_event *event,
                                               const struct sn_receptacle *receptacle,
                                               uint64_t bytes, double value,
                                               struct sn_record *record, int claimed) {
  int error = errno;
  if (claimed) {
    SN_IN_ORDER();
    sn_this_thread->ready = sn_this_thread->resume;
  }
  /* Here because the thread has written so much, or because the ring is full. */
  unsigned char *payload =
      open_slowly(module, event, receptacle, bytes, value, record, claimed != 0);
  errno = error;
  return payload;
}
