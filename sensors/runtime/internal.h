/* What the parts of the run-time library know of each other.
 *
 *     process.c   the announcement: its file, its chunks; what a fork does to it; the lock
 *     modules.c   modules, receptacles, counting
 *     threads.c   threads and their rings, how a ring is handed over
 *     records.c   the long way of a sensor
 *     samples.c   rounds asked for
 *     wanted.c    what is on from the beginning
 *
 * Whatever a sensor may come to works in a signal handler: no malloc, no lock that is waited for without
 * bound. Private memory of that kind comes from sn_private_new and is never given back to the system.
 * A page of private memory is wiped by a fork however it was made: `*sn_process.same` tells.          */
#ifndef TQUEL_SENSOR_INTERNAL_H
#define TQUEL_SENSOR_INTERNAL_H

#ifndef _GNU_SOURCE /* whatever the build says: no C library needs options of ours */
#define _GNU_SOURCE 1
#endif

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "tquel/sensor.h"

#define SN_EXPORT __attribute__((visibility("default")))

/* A part of the announcement as it is mapped here; the first is the header's page. What we need to know of it is
 * here: what is shared is the parent's until a forked child has its own, and a reader may write to it.   */
struct sn_piece {
  struct sn_piece *next;
  unsigned char *address;
  uint64_t offset, bytes;
  uint32_t kind, unit_bytes, units; /* of its chunk */
};

struct sn_process {
  struct sn_header *header; /* NULL: not announced, nothing is ever enabled */
  struct sn_piece *pieces, *last_piece;
  char *path;       /* of the announcement; NULL: there is no file (any more) */
  char *unready;    /* its name before it is complete */
  size_t directory; /* length of the directory in both, with the slash */
  uint32_t page;
  uint32_t ring_bytes; /* what our user wants; 0: what the reader wishes for */
  bool ring_refused;
  uint32_t pid;
  uint32_t epoch;
  uint32_t forks; /* how many lie between us and the program that began */
  uint32_t lock;
  const uint32_t *same; /* 1; 0: this is a forked child that has not been told so */
  uint64_t stamp_ticks; /* what taking a stamp costs */
  struct sn_module_state *modules;
};
extern struct sn_process sn_process;

/* --- process.c */

/* The lock, with signals blocked, cancellation off and errno kept. false: it could not be had soon (and
 * nothing is to be undone).                                                                           */
struct sn_guard {
  sigset_t signals;
  int cancel, error;
};
bool sn_lock(struct sn_guard *guard);
void sn_unlock(struct sn_guard *guard);

/* Under the lock: */
bool sn_announce(void); /* true: is announced */
void *sn_private_new(size_t bytes);
/* Room on the disk or in memory; false: there is none, or not for files as large as that. */
bool sn_allocate(int file, uint64_t offset, uint64_t bytes);
/* A new chunk; NULL: no memory. Its units are zero. */
struct sn_chunk *sn_chunk_new(enum sn_chunk_kind kind, uint64_t unit_bytes, uint32_t units);
/* Offset in the file of what is at ADDRESS; 0: it is not there. */
uint64_t sn_offset_of(const void *address);
/* BYTES that are there, on a multiple of 8; NULL: they are not. */
void *sn_at_offset(uint64_t offset, uint64_t bytes);
void sn_changed(void);
/* Is ADDRESS in the announcement of this process? For the handler of SIGBUS that the collector has, which is a program
 * with sensors, too; takes no lock. */
bool sn_is_announced(const void *address);
/* This is a child: it gets an announcement of its own, at the same addresses, all switches off. SOUND: nobody else
 * had the lock when it was forked; else it runs unannounced, without what may be half changed.       */
void sn_restart(bool sound);

uint64_t sn_monotonic_ns(void);
uint64_t sn_stamp(void);
/* Appends; returns the end. */
char *sn_put_text(char *at, const char *text);
char *sn_put_number(char *at, uint64_t number, unsigned base);

/* --- modules.c */

struct sn_object_kind {
  uint32_t type, switches, entries;
};

/* sn_name_hash of EVENT, and of TASKFORCE.EVENT. */
struct sn_event_names {
  uint64_t alone, whole;
};

struct sn_module_state {
  struct sn_module_state *next;
  struct sn_module *module;
  struct sn_module_unit *unit;
  uint32_t *places; /* event number -> its entry in the receptacle of an object; SN_NO_PLACE */
  struct sn_object_kind *kinds; /* as module->types */
  struct sn_event_names *names; /* of its events */
};
#define SN_NO_PLACE UINT32_MAX

/* In a child whose announcement is its own: objects are there as they were when it was forked; if that was not
 * SOUND, only their memory is, and there will be no others.                                          */
void sn_modules_restart(bool sound);
/* Of EVENT in RECEPTACLE (NULL: the process); NULL: none. */
struct sn_entry *sn_entry_of(const struct sn_module *module, const struct sn_event *event,
                             const struct sn_receptacle *receptacle);
/* Of EVENT in the process; NULL: none. */
struct sn_tally *sn_tally_of(const struct sn_module *module, const struct sn_event *event);
void sn_count(struct sn_entry *entry, const struct sn_event *event, uint32_t word, double value);
/* Of a period that was counted. */
void sn_count_duration(struct sn_entry *entry, uint64_t ns);

/* Under the lock. Whether a row of the page of what is wanted is about events of the module. */
bool sn_module_has(const struct sn_module_state *state, const struct sn_wanted_row *row);
/* Puts them on, for the reader of GENERATION. */
void sn_module_switch_on(const struct sn_module_state *state, const struct sn_wanted_row *row,
                         uint32_t generation);
/* The switches of objects that there are become as those of new ones would be. */
void sn_modules_switch_objects(void);

/* --- wanted.c */

/* Puts on what is wanted of ONLY, NULL: of all modules. true: there was something. Under the lock. */
bool sn_wanted_look(struct sn_module_state *only);
/* Whether there is something of ONLY; nothing is put on. */
bool sn_wanted_ask(const struct sn_module_state *only);

/* --- threads.c */

/* The memory of a ring, twice in a row, and its slot. */
struct sn_ring {
  struct sn_ring *next;
  struct sn_slot *slot;
  unsigned char *base; /* NULL: none */
  uint64_t bytes;
};

/* A thread, or a signal handler that interrupted it in a sensor. In memory that a fork wipes. */
struct sn_worker {
  struct sn_thread thread; /* first: sn_this_thread points to it */
  struct sn_ring *ring;
  struct sn_worker *nested, *next;
  uint64_t retry_ns; /* not before this: another try to hand a ring over */
  uint32_t tid, level;
  struct sn_entry *measured; /* whose record is measured, since then */
  uint64_t since;
  bool abandoned; /* its sensor was interrupted by a fork, and this is the child */
};

#define SN_LEVELS 8 /* handlers within handlers, each in the middle of a sensor */

/* The worker for a record now, claimed (ready is SN_BUSY); NULL: nested too deep, or no memory. */
struct sn_worker *sn_worker_claim(void);
void sn_worker_release(struct sn_worker *worker);
/* Sees to it that the worker has a ring that the reader of GENERATION knows of, or at least one. */
bool sn_worker_ready(struct sn_worker *worker, uint32_t generation);
uint64_t sn_slot_tail(const struct sn_slot *slot, uint64_t head, uint64_t bytes);
bool sn_threads_start(void);
void sn_threads_stop(void);
void sn_threads_before_fork(bool locked);
void sn_threads_after_fork(bool locked);
/* In the child, before that: whether a sensor was in the midst of something, which it will go on with. */
bool sn_threads_interrupted(void);
void sn_threads_restart(void);

/* --- records.c */

/* Room for BYTES in the worker's ring, counted as generated; NULL: lost, counted. */
unsigned char *sn_reserve(struct sn_worker *worker, const struct sn_module *module,
                          const struct sn_event *event, uint64_t bytes, struct sn_entry *entry);

/* --- samples.c */

void sn_samples_restart(void);
/* There is no thread of ours in this child, and, made so, there will be none. */
void sn_samples_forget(void);
void sn_samples_stop(void);
/* MODULE goes: its functions are called no more. Not under the lock. */
void sn_samples_withdraw(const struct sn_module *module);

#endif
