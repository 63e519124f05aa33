/* Pipes: the rings of a peer, read in place.
 *
 * A slot in the announcement says how far a ring is written and read; its memory comes over the socket,
 * sealed so that it cannot shrink. The memory may be exchanged for another one (a serial number says
 * so); what is written in one that has not yet come is read when it comes. A record that makes no sense
 * closes its pipe: all that is in it, or will be, is lost as corrupt.                                */
#include "sensors/collect/peer_impl.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/base/arena.h"

void sn_peer_wake(struct sn_peer *peer) {
  syscall(SYS_futex, &sn_peer_header(peer)->requests, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void sn_pipe_add(struct sn_peer *peer, uint64_t offset) {
  if (peer->pipe_count == peer->pipe_room) {
    peer->pipe_room = 2 * peer->pipe_room + 8;
    peer->pipes = base_xrealloc(peer->pipes, peer->pipe_room, sizeof *peer->pipes);
  }
  peer->pipes[peer->pipe_count++] = (struct sn_pipe){.slot = offset};
}

void sn_pipe_done(struct sn_pipe *pipe) {
  if (pipe->base != NULL) munmap(pipe->base, 2 * pipe->bytes);
  pipe->base = NULL;
}

size_t sn_peer_pipes(const struct sn_peer *peer) {
  return peer->pipe_count;
}

/* --- taking a ring */

static const char *check_handover(const struct sn_peer *peer, const struct sn_handover *handover) {
  if (handover->magic != SN_HANDOVER || handover->layout != SN_LAYOUT) return "not a ring";
  if (handover->pid != peer->identity.announced_pid) return "a ring of another process";
  if (strncmp(handover->announcement, peer->name, sizeof handover->announcement) != 0) {
    return "a ring of another program";
  }
  uint64_t bytes = handover->ring_bytes;
  if (bytes < SN_RING_BYTES_MIN || bytes > SN_RING_BYTES_MAX || (bytes & (bytes - 1)) != 0 ||
      bytes % (uint64_t)sysconf(_SC_PAGESIZE) != 0) {
    return "a ring of an odd size";
  }
  return NULL;
}

static const char *check_memory(int file, uint64_t bytes) {
  struct stat status;
  int seals = fcntl(file, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return "a ring that could shrink";
  if (fstat(file, &status) != 0 || (uint64_t)status.st_size != bytes) {
    return "a ring of another size than it says";
  }
  return NULL;
}

/* Read-only, twice in a row. */
static unsigned char *map_ring(int file, uint64_t bytes) {
  unsigned char *base = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return NULL;
  for (unsigned half = 0; half < 2; half++) {
    if (mmap(base + half * bytes, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) ==
        MAP_FAILED) {
      munmap(base, 2 * bytes);
      return NULL;
    }
  }
  return base;
}

uint64_t sn_peer_least_ring(const struct sn_peer *peer) {
  uint64_t least = 0;
  for (size_t i = 0; i < peer->pipe_count; i++) {
    uint64_t bytes = peer->pipes[i].bytes;
    if (bytes != 0 && (least == 0 || bytes < least)) least = bytes;
  }
  return least;
}

bool sn_peer_ring_refused(const struct sn_peer *peer) {
  return __atomic_load_n(&sn_peer_header(peer)->ring_refused, __ATOMIC_RELAXED) != 0;
}

static struct sn_pipe *pipe_of(struct sn_peer *peer, uint64_t slot) {
  for (size_t i = 0; i < peer->pipe_count; i++) {
    if (peer->pipes[i].slot == slot) return &peer->pipes[i];
  }
  return NULL;
}

bool sn_peer_adopt(struct sn_peer *peer, const struct sn_handover *handover, int file,
                   const char **ret_reason) {
  sn_peer_update(peer);
  const char *reason = check_handover(peer, handover);
  if (reason == NULL) reason = check_memory(file, handover->ring_bytes);
  struct sn_pipe *pipe = pipe_of(peer, handover->slot);
  if (reason == NULL && pipe == NULL) reason = "a ring without a slot";
  unsigned char *base = reason == NULL ? map_ring(file, handover->ring_bytes) : NULL;
  close(file);
  if (reason == NULL && base == NULL) reason = "a ring that cannot be mapped";
  if (reason != NULL) {
    *ret_reason = reason;
    return false;
  }
  /* What was read of the old memory and not released is in the new one again. */
  sn_pipe_done(pipe);
  pipe->base = base;
  pipe->bytes = handover->ring_bytes;
  pipe->serial = handover->serial;
  pipe->reading = false;
  return true;
}

/* --- reading */

/* Where reading goes on: behind what was released by whatever reader. */
static void begin(struct sn_pipe *pipe, const struct sn_slot *slot) {
  const struct sn_place *place = &slot->place[__atomic_load_n(&slot->which, __ATOMIC_ACQUIRE) & 1u];
  pipe->position = place->tail;
  pipe->count = place->received;
  pipe->unsent = place->unsent;
  pipe->seen = place->tail;
  pipe->reading = true;
}

/* Memory that its program has given back, or exchanged, is of no more use once it is read. */
static void let_go(struct sn_pipe *pipe, const struct sn_slot *slot, uint64_t head) {
  if (head == pipe->position && __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == SN_CLOSED) {
    sn_pipe_done(pipe);
  }
}

/* How much there is to read in the memory that we have. The writer's head is looked at when what was seen has been
 * read, or released: each look takes the line from the writer.                                      */
static uint64_t available(struct sn_pipe *pipe, const struct sn_slot *slot) {
  if (pipe->reading && pipe->seen != pipe->position) return pipe->seen - pipe->position;
  uint64_t head = __atomic_load_n(&slot->head, __ATOMIC_ACQUIRE);
  /* The serial after the head: a head that moved in other memory comes with its serial. */
  if (__atomic_load_n(&slot->serial, __ATOMIC_ACQUIRE) != pipe->serial) return 0;
  if (!pipe->reading) begin(pipe, slot);
  if (head - pipe->position > pipe->bytes) {
    pipe->corrupt = true;
    return 0;
  }
  if (head == pipe->position) let_go(pipe, slot, head);
  pipe->seen = head;
  return head - pipe->position;
}

/* Takes a record apart; false: it makes no sense. */
static bool parse(const unsigned char *at, uint64_t left, struct sn_record_view *record,
                  uint64_t *ret_bytes) {
  struct sn_ring_record head;
  memcpy(&head, at, sizeof head);
  uint64_t bytes = head.words * UINT64_C(8), fixed = sizeof head;
  unsigned kind = head.module & ~(unsigned)SN_RECORD_MODULE;
  if (kind & SN_RECORD_STAMP) fixed += 8;
  if (kind & SN_RECORD_NAME) fixed += 16;
  if (kind & SN_RECORD_THREAD) fixed += 8;
  if (bytes < fixed || bytes > left) return false;
  *record = (struct sn_record_view){
      .event = head.event, .kind = kind, .module = head.module & SN_RECORD_MODULE};
  at += sizeof head;
  if (kind & SN_RECORD_STAMP) {
    memcpy(&record->stamp, at, 8);
    at += 8;
  }
  if (kind & SN_RECORD_NAME) {
    memcpy(&record->minor, at, 8);
    memcpy(&record->epoch, at + 8, 4);
    memcpy(&record->type, at + 12, 4);
    at += 16;
  }
  if (kind & SN_RECORD_THREAD) memcpy(&record->tid, at, 4);
  record->payload = at;
  record->payload_bytes = (uint32_t)(bytes - fixed);
  *ret_bytes = bytes;
  return true;
}

bool sn_pipe_next(struct sn_peer *peer, size_t i, struct sn_record_view *ret_record) {
  struct sn_pipe *pipe = &peer->pipes[i];
  const struct sn_slot *slot = sn_pipe_slot(peer, pipe);
  if (pipe->base == NULL || pipe->corrupt) return false;
  for (uint64_t left; (left = available(pipe, slot)) > 0;) {
    uint64_t bytes = 0;
    const unsigned char *at = pipe->base + (pipe->position & (pipe->bytes - 1));
    if (left < sizeof(struct sn_ring_record) || !parse(at, left, ret_record, &bytes)) {
      pipe->corrupt = true;
      return false;
    }
    pipe->position += bytes;
    if (ret_record->kind & SN_RECORD_THREAD) {
      pipe->tid = ret_record->tid;
      continue;
    }
    ret_record->tid = pipe->tid;
    ret_record->sequence = pipe->count++;
    return true;
  }
  return false;
}

unsigned sn_pipe_filled(struct sn_peer *peer, size_t i) {
  struct sn_pipe *pipe = &peer->pipes[i];
  if (pipe->base == NULL || pipe->corrupt) return 0;
  uint64_t waiting = available(pipe, sn_pipe_slot(peer, pipe));
  return pipe->base == NULL || pipe->corrupt ? 0 : (unsigned)(16 * waiting / pipe->bytes);
}

void sn_pipe_release(struct sn_peer *peer, size_t i) {
  struct sn_pipe *pipe = &peer->pipes[i];
  struct sn_slot *slot = sn_pipe_slot(peer, pipe);
  if (!pipe->reading) return;
  pipe->seen = pipe->position;
  uint32_t which = slot->which & 1u, other = which ^ 1u;
  if (slot->place[which].tail == pipe->position) return;
  slot->place[other].tail = pipe->position;
  slot->place[other].received = pipe->count;
  slot->place[other].unsent = pipe->unsent;
  __atomic_store_n(&slot->which, other, __ATOMIC_RELEASE);
}

void sn_pipe_unsent(struct sn_peer *peer, size_t i) {
  peer->pipes[i].unsent++;
}

static const struct sn_place *place_of(const struct sn_slot *slot) {
  return &slot->place[__atomic_load_n(&slot->which, __ATOMIC_ACQUIRE) & 1u];
}

static uint64_t slot_lost(const struct sn_slot *slot) {
  uint64_t lost = 0;
  for (unsigned cause = 0; cause < SN_COUNTED; cause++) {
    lost += __atomic_load_n(&slot->lost[cause], __ATOMIC_ACQUIRE);
  }
  return lost;
}

void sn_pipe_view(const struct sn_peer *peer, size_t i, struct sn_pipe_view *ret_view) {
  const struct sn_pipe *pipe = &peer->pipes[i];
  const struct sn_slot *slot = sn_pipe_slot(peer, pipe);
  const struct sn_place *place = place_of(slot);
  uint64_t generated = __atomic_load_n(&slot->generated, __ATOMIC_ACQUIRE);
  uint64_t lost = slot_lost(slot);
  *ret_view =
      (struct sn_pipe_view){.slot = pipe->slot,
                            .released = place->received - place->unsent,
                            .unsent = place->unsent,
                            .accounted = (pipe->reading ? pipe->count : place->received) + lost,
                            .generated = generated,
                            .lost = lost,
                            .open = pipe->base != NULL && !pipe->corrupt};
  if (ret_view->open && __atomic_load_n(&slot->serial, __ATOMIC_ACQUIRE) == pipe->serial) {
    uint64_t at = pipe->reading ? pipe->position : place->tail;
    ret_view->readable = __atomic_load_n(&slot->head, __ATOMIC_ACQUIRE) != at;
  }
}

/* --- accounts */

static void add_slot(const struct sn_peer *peer, const struct sn_pipe *pipe, bool ended,
                     struct sn_account *account) {
  const struct sn_slot *slot = sn_pipe_slot(peer, pipe);
  const struct sn_place *place = place_of(slot);
  uint64_t known = place->received;
  for (unsigned cause = 0; cause < SN_COUNTED; cause++) {
    uint64_t lost = __atomic_load_n(&slot->lost[cause], __ATOMIC_ACQUIRE);
    account->lost[cause] += lost;
    known += lost;
  }
  uint64_t generated = __atomic_load_n(&slot->generated, __ATOMIC_ACQUIRE);
  account->generated += generated;
  account->received += place->received - place->unsent;
  account->lost[SN_UNSENT] += place->unsent;
  uint64_t missing = generated > known ? generated - known : 0;
  if (!ended) {
    account->waiting += missing;
  } else if (pipe->corrupt) {
    account->lost[SN_CORRUPT] += missing;
  } else if (slot->head == place->tail) {
    account->lost[SN_TORN] += missing; /* all that was complete is here */
  } else {
    account->lost[SN_ABANDONED] += missing;
  }
}

void sn_peer_account(struct sn_peer *peer, bool ended, struct sn_account *ret_account) {
  const struct sn_header *header = sn_peer_header(peer);
  *ret_account = (struct sn_account){0};
  sn_peer_update(peer);
  header = sn_peer_header(peer);
  uint64_t known = 0;
  for (unsigned cause = 0; cause < SN_COUNTED; cause++) {
    uint64_t lost = __atomic_load_n(&header->aside_lost[cause], __ATOMIC_ACQUIRE);
    ret_account->lost[cause] = lost;
    known += lost;
  }
  ret_account->generated = __atomic_load_n(&header->aside_generated, __ATOMIC_ACQUIRE);
  /* Counted as generated first, but for what a fork interrupted there and the child went on with. */
  if (ret_account->generated < known) ret_account->generated = known;
  uint64_t missing = ret_account->generated > known ? ret_account->generated - known : 0;
  if (ended) {
    ret_account->lost[SN_TORN] = missing;
  } else {
    ret_account->waiting = missing;
  }
  for (size_t i = 0; i < peer->pipe_count; i++) {
    add_slot(peer, &peer->pipes[i], ended, ret_account);
  }
}
