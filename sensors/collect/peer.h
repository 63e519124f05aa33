/* An instrumented program, seen by who reads its records: its announcement, its switches, its pipes.
 *
 *     sn_directory_each ──▶ names ──▶ sn_peer_open ──▶ sn_peer_attach
 *     sn_listener_next  ──▶ a ring  ──▶ sn_peer_adopt ──▶ sn_pipe_next, sn_pipe_release (again and again)
 *     sn_peer_update: what has been added since (modules, objects, pipes)
 *     sn_peer_alive, sn_peer_account: at the end, what was generated, received, and lost by which cause
 *
 * The program wrote all this: nothing that is read leads outside of what is mapped, whatever it is. A
 * program can shorten its file, and so hurt (SIGBUS) a reader that it is in the hands of anyway: the
 * same user's. One peer belongs to one thread; different peers are independent.                     */
#ifndef SN_COLLECT_PEER_H
#define SN_COLLECT_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tquel/sensor_layout.h"

struct sn_peer;

/* Calls VISIT with the name of each complete announcement. false: the directory cannot be read. */
bool sn_directory_each(const char *directory, void (*visit)(void *context, const char *name),
                       void *context);

/* Whether NAME is that of a complete announcement. */
bool sn_directory_is_name(const char *name);

/* Maps and checks an announcement. NULL: *ret_reason (a constant, a sentence of it) says why, or is NULL: it is not
 * there any more, or another user's whom we cannot watch. The file stays in either case.             */
struct sn_peer *sn_peer_open(const char *directory, const char *name, const char **ret_reason);
void sn_peer_free(struct sn_peer *peer); /* NULL is accepted; the file stays */
/* Removes the file: the program has ended and its account is made. */
bool sn_peer_remove(struct sn_peer *peer);

struct sn_identity {
  uint32_t pid;                       /* as we see it; 0: it has ended, in a namespace of its own */
  uint32_t announced_pid;             /* as it sees itself */
  uint32_t uid;                       /* of the file, as we see it */
  uint32_t clock;                     /* enum sn_clock */
  uint64_t process_space, time_space; /* namespaces; 0: not known */
  char host[SN_HOST_ROOM + 1];        /* whatever it has written; "": not known */
  uint64_t start_ticks, announced_ns;
  uint64_t pair_stamp, pair_monotonic_ns, pair_realtime_ns;
  uint64_t epoch;  /* as an earlier reader has given it; 0: none has. Not to be trusted */
  uint32_t naming; /* with epoch */
};
const struct sn_identity *sn_peer_identity(const struct sn_peer *peer);
const char *sn_peer_name(const struct sn_peer *peer);
/* How a program is named from now on, whoever reads it. */
void sn_peer_give_epoch(struct sn_peer *peer, uint64_t epoch, uint32_t naming);

/* We are its reader from now on: everything is off, what another reader had on is no longer recorded;
 * switch 0 of each module says that we listen. RING_BYTES: wished for; 0: the default. Modules that are
 * found later are told as well.                                                                     */
void sn_peer_attach(struct sn_peer *peer, uint32_t ring_bytes);
/* The same, and PAGE is the number of our page of what is wanted (struct sn_wanted), 0: there is none. Who has read
 * it is ours already, and what it has put on stays on.                                             */
enum sn_attached {
  SN_TAKEN_OVER, /* it had another reader before us */
  SN_FIRST,      /* it had none */
  SN_OF_PAGE     /* it had none, and has read the page */
};
enum sn_attached sn_peer_attach_page(struct sn_peer *peer, uint32_t ring_bytes, uint64_t page);
/* Of one that is no more, and is not attached: whether it had read the page, and no other reader. */
bool sn_peer_is_of_page(const struct sn_peer *peer, uint64_t page);
/* Before sn_peer_attach: we do not listen to a module before sn_peer_listen says so (switch 0). */
void sn_peer_keep_quiet(struct sn_peer *peer);
bool sn_peer_listen(struct sn_peer *peer, uint32_t module, bool on);
/* We are there: at least four times a second, or programs stop waiting for us. */
void sn_peer_beat(struct sn_peer *peer, uint64_t monotonic_ns);
/* Whether the process lives (not as a zombie, and is not another one with its number). */
bool sn_peer_alive(const struct sn_peer *peer);
/* Whether it is still the program that made the announcement: exec leaves the process and takes the
 * program. Reads /proc/PID/maps; true where that cannot be read.                                     */
bool sn_peer_mapped(const struct sn_peer *peer);
/* Whether it said that it ends. */
bool sn_peer_ended(const struct sn_peer *peer);

/* Where the program has shortened its announcement there is memory of our own, and nothing in it can be
 * believed any more. Needs the handler of sn_peer_guard, which the process installs once.           */
bool sn_peer_broken(const struct sn_peer *peer);
void sn_peer_guard(bool (*own)(const void *address));

/* Grows with every module, object and ring that is made or closed. */
uint32_t sn_peer_changes(const struct sn_peer *peer);

/* Looks for what is new; true if anything has changed since the last time. */
bool sn_peer_update(struct sn_peer *peer);

/* --- what is there to switch */

struct sn_module_view {
  uint32_t index;
  bool closed; /* unloaded */
  uint64_t digest, description, description_bytes;
  const char *text; /* the description, not zero-terminated, as it says itself; NULL: it does not */
  uint32_t events;  /* switches are 0 .. events-1 */
  const char *name; /* of the task force; not zero-terminated */
  uint32_t name_length;
  uint32_t process_type; /* declared; 0: none */
  const char *process;   /* its minor name; NULL: the process id */
  uint32_t process_length;
};
size_t sn_peer_modules(const struct sn_peer *peer);
/* Good until the next sn_peer_update. */
bool sn_peer_module(const struct sn_peer *peer, size_t i, struct sn_module_view *ret_module);

struct sn_object_view {
  uint64_t offset; /* where its receptacle is */
  uint32_t module, type, epoch, switches, entries;
  uint64_t minor, opened;
};
/* Each live object. */
void sn_peer_objects(const struct sn_peer *peer,
                     void (*visit)(void *context, const struct sn_object_view *object),
                     void *context);

/* The same in slices: up to COUNT places from *PLACE on (0: the first), which moves. false: that was the
 * last. What has come or gone meanwhile may have been seen or not.                                  */
struct sn_object_place {
  size_t chunk;
  uint32_t unit;
};
bool sn_peer_objects_slice(const struct sn_peer *peer, struct sn_object_place *place,
                           uint32_t count,
                           void (*visit)(void *context, const struct sn_object_view *object),
                           void *context);

/* Sets a switch (enum sn_mode; 0: off). Of the process, of events that consult it, or for objects to
 * come; of an object. false: there is no such switch, or the object is gone.                        */
bool sn_peer_switch(struct sn_peer *peer, uint32_t module, uint32_t event, unsigned modes);
bool sn_peer_switch_object(struct sn_peer *peer, const struct sn_object_view *object,
                           uint32_t event, unsigned modes);
/* How it stands: the modes; of an object with SN_THINNED, which is left when it has made its record. */
unsigned sn_peer_switched(const struct sn_peer *peer, uint32_t module, uint32_t event);
/* Whether the object of EPOCH is still at OFFSET. */
bool sn_peer_object_is(const struct sn_peer *peer, uint64_t offset, uint32_t epoch);
unsigned sn_peer_object_switched(const struct sn_peer *peer, const struct sn_object_view *object,
                                 uint32_t event);
/* What is counted (of SN_COUNT, SN_SUM, SN_HISTOGRAM) of an event, whatever records are wanted: it goes with the
 * switch of the process, and so with new objects; with that of an object when sn_peer_count_object says it.
 * The functions above keep it and do not show it.                                                   */
/* What a program counts by itself, as it found it wanted when it began, is known from now on. */
void sn_peer_take_counts(struct sn_peer *peer, uint32_t module, uint32_t event);
bool sn_peer_count(struct sn_peer *peer, uint32_t module, uint32_t event, unsigned modes);
unsigned sn_peer_counted(const struct sn_peer *peer, uint32_t module, uint32_t event);
unsigned sn_peer_object_counted(const struct sn_peer *peer, const struct sn_object_view *object,
                                uint32_t event);
void sn_peer_count_object(struct sn_peer *peer, const struct sn_object_view *object,
                          uint32_t event);
/* Has it been asked for a round of a sampled event that it has not begun? */
bool sn_peer_is_asked(const struct sn_peer *peer, uint32_t module, uint32_t event);
/* Asks for a round of a sampled event. */
bool sn_peer_ask(struct sn_peer *peer, uint32_t module, uint32_t event);

/* SN_THINNED, beside SN_TRACE, is for traced events that are no periods. Does the program know it? */
bool sn_peer_can_thin(const struct sn_peer *peer);
/* The process may make so many records more of such an event whose sensors ask its receptacle. */
void sn_peer_allow(struct sn_peer *peer, uint32_t module, uint32_t event, uint32_t records);
/* How many of such an event, of objects, too, were passed over since the process began. They are in no account. */
uint64_t sn_peer_passed_over(const struct sn_peer *peer, uint32_t module, uint32_t event);

struct sn_entry_view {
  uint64_t missed, count, rounds;
  double sum, squares;
  /* What records cost the program: ticks of its clock (sn_clock) that COST_SAMPLES of them took. An
   * object's are added to the process's when it goes. */
  uint64_t cost_ticks, cost_samples;
  bool has_histogram;
  uint64_t buckets[SN_BUCKETS];
};
/* Of an event of the process; of the entry at PLACE of an object (the events that consult its type, in
 * the order of the description).                                                                    */
bool sn_peer_entry(const struct sn_peer *peer, uint32_t module, uint32_t event,
                   struct sn_entry_view *ret_entry);
bool sn_peer_object_entry(const struct sn_peer *peer, const struct sn_object_view *object,
                          uint32_t place, struct sn_entry_view *ret_entry);

/* What became of the records of an event, in the whole process, whoever read them. */
bool sn_peer_tally(const struct sn_peer *peer, uint32_t module, uint32_t event,
                   struct sn_tally *ret_tally);
/* We have received, or had no room to keep, so many more. */
void sn_peer_tally_add(struct sn_peer *peer, uint32_t module, uint32_t event, uint64_t received,
                       uint64_t unsent);

/* --- pipes */

struct sn_record_view {
  uint32_t event, module, tid;
  unsigned kind; /* enum sn_record_kind: what of the following there is */
  uint64_t stamp;
  uint64_t minor; /* whose receptacle was consulted */
  uint32_t epoch, type;
  uint64_t sequence; /* in its pipe, from 0 */
  const unsigned char *payload;
  uint32_t payload_bytes; /* with what fills up the last 8 */
};

/* Takes a ring that came over the socket: FILE becomes the peer's, whatever the answer. false: it is
 * not one (*ret_reason says why).                                                                   */
bool sn_peer_adopt(struct sn_peer *peer, const struct sn_handover *handover, int file,
                   const char **ret_reason);
size_t sn_peer_pipes(const struct sn_peer *peer);
/* The next record of pipe I that is complete; false: none now. What it points to is good until the
 * release. Records of threads' names are dealt with here.                                            */
bool sn_pipe_next(struct sn_peer *peer, size_t i, struct sn_record_view *ret_record);
/* How many sixteenths of the pipe's memory wait to be read. */
unsigned sn_pipe_filled(struct sn_peer *peer, size_t i);
/* All that was got from the pipe is received: the program may write there, and another reader would
 * not get it again.                                                                                  */
void sn_pipe_release(struct sn_peer *peer, size_t i);

/* The record that sn_pipe_next gave last could not be kept: it counts as lost. Before the release. */
void sn_pipe_unsent(struct sn_peer *peer, size_t i);

struct sn_pipe_view {
  uint64_t slot;     /* offset in the announcement: its name, with the announcement's */
  uint64_t released; /* records, less the unsent ones, that were released, by whatever reader */
  uint64_t unsent;
  uint64_t accounted; /* records read (released or not), or counted as lost by the program */
  uint64_t generated;
  uint64_t lost; /* counted as lost by the program */
  bool open;     /* we have its memory */
  bool readable; /* ... and there is something in it that has not been read */
};
void sn_pipe_view(const struct sn_peer *peer, size_t i, struct sn_pipe_view *ret_view);
/* Bytes of the smallest of its rings; 0: it has handed none over. */
uint64_t sn_peer_least_ring(const struct sn_peer *peer);
/* Whether its environment has a size of rings that is none. */
bool sn_peer_ring_refused(const struct sn_peer *peer);

struct sn_account {
  uint64_t generated, received, lost[SN_CAUSES];
  uint64_t waiting; /* in the rings, or being written; 0 once the program has ended */
};
/* ENDED: the program runs no more and the pipes are drained: what is missing is lost. */
void sn_peer_account(struct sn_peer *peer, bool ended, struct sn_account *ret_account);

#endif
