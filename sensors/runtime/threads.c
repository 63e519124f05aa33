/* Threads, and the rings they write.
 *
 * A thread gets a worker at its first enabled sensor, and with it a ring: a slot in the announcement and
 * a memfd, whose descriptor goes to the reader's socket and is then closed here. A signal handler that
 * interrupts its thread in a sensor writes to a ring of its own, one a level. When a thread ends its
 * rings wait for another one; a record says who writes now.
 *
 * Another reader (a new generation) gets every ring anew, when its thread next passes an enabled sensor:
 * the memory that the old one had is copied with what was not yet read. So nothing is lost when a
 * reader dies, as long as the program goes on.                                                       */
#include "sensors/runtime/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum {
  WORKERS_A_BLOCK = 32,
  SLOTS_A_CHUNK = 21,
  FREE_RINGS = 4,              /* that keep their memory */
  FULL_RINGS = 64,             /* left by threads and not yet read, beyond which there are no new */
  RETRY_NS = 10 * 1000 * 1000, /* after a ring could not be handed over */
  THREAD_BYTES = 16            /* of the record that names the thread */
};

static struct sn_thread nobody = {SN_SLOW, SN_SLOW, 0, 0, 0, NULL, NULL, 0, 0};
SN_EXPORT __thread struct sn_thread *sn_this_thread __attribute__((tls_model("initial-exec"))) =
    &nobody;

/* Blocks of workers; the workers themselves are wiped by a fork, these are not. */
struct block {
  struct block *next;
  struct sn_worker *workers;
};
static struct block *blocks;
static struct sn_worker *free_workers;
static struct sn_ring *free_rings;
static pthread_key_t key;
static bool key_good;

/* --- slots */

uint64_t sn_slot_tail(const struct sn_slot *slot, uint64_t head, uint64_t bytes) {
  uint32_t which = __atomic_load_n(&slot->which, __ATOMIC_ACQUIRE) & 1u;
  uint64_t tail = __atomic_load_n(&slot->place[which].tail, __ATOMIC_ACQUIRE);
  return head - tail <= bytes ? tail : head - bytes; /* nonsense: there is no room */
}

static struct sn_slot *slot_new(void) {
  struct sn_chunk *chunk = NULL;
  for (struct sn_piece *piece = sn_process.pieces; piece != NULL; piece = piece->next) {
    /* only the last has free ones */
    if (piece->kind == SN_SLOTS) chunk = (struct sn_chunk *)(void *)piece->address;
  }
  for (int attempt = 0; attempt < 2; attempt++) {
    struct sn_slot *slots = chunk != NULL ? (struct sn_slot *)(chunk + 1) : NULL;
    for (uint32_t i = 0; chunk != NULL && i < SLOTS_A_CHUNK; i++) {
      if (slots[i].state == SN_FREE) return &slots[i];
    }
    if (attempt == 0) chunk = sn_chunk_new(SN_SLOTS, sizeof(struct sn_slot), SLOTS_A_CHUNK);
  }
  return NULL;
}

/* --- the memory of rings */

static uint64_t wished_bytes(void) {
  if (sn_process.ring_bytes != 0) return sn_process.ring_bytes;
  uint64_t bytes = __atomic_load_n(&sn_process.header->ring_bytes, __ATOMIC_RELAXED);
  bool good = bytes >= SN_RING_BYTES_MIN && bytes <= SN_RING_BYTES_MAX &&
              (bytes & (bytes - 1)) == 0 && bytes % sn_process.page == 0;
  return good ? bytes : SN_RING_BYTES;
}

/* A memfd of that size, mapped twice in a row; *ret_file is the caller's to close. */
static unsigned char *memory_new(uint64_t bytes, int *ret_file) {
  int file = (int)syscall(SYS_memfd_create, "tquel-ring", 3u /* close on exec, may be sealed */);
  if (file < 0) return NULL;
  unsigned char *base = MAP_FAILED;
  if (sn_allocate(file, 0, bytes) &&
      fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    base = mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  for (unsigned half = 0; half < 2 && base != MAP_FAILED; half++) {
    if (mmap(base + half * bytes, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) ==
        MAP_FAILED) {
      munmap(base, 2 * bytes);
      base = MAP_FAILED;
    }
  }
  if (base == MAP_FAILED) {
    close(file);
    return NULL;
  }
  madvise(base, 2 * bytes, MADV_DONTFORK);
  *ret_file = file;
  return base;
}

/* The reader's socket; the path through a descriptor where it is too long for an address. */
static int connect_to_reader(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  struct ucred peer;
  socklen_t length = sizeof peer;
  int directory = -1, result = -1;
  char *at = address.sun_path;
  if (sn_process.directory + sizeof SN_SOCKET <= sizeof address.sun_path) {
    memcpy(at, sn_process.path, sn_process.directory);
    at += sn_process.directory;
  } else {
    char *end = sn_process.unready + sn_process.directory;
    *end = '\0';
    directory = open(sn_process.unready, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return -1;
    at = sn_put_number(sn_put_text(at, "/proc/self/fd/"), (uint64_t)directory, 10);
    at = sn_put_text(at, "/");
  }
  sn_put_text(at, SN_SOCKET);
  int file = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (file >= 0 && connect(file, (const struct sockaddr *)&address, sizeof address) == 0 &&
      getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
      (peer.uid == geteuid() || peer.uid == 0)) {
    result = file;
  } else if (file >= 0) {
    close(file);
  }
  if (directory >= 0) close(directory);
  return result;
}

static bool send_ring(int file, const struct sn_slot *slot, uint32_t serial, uint64_t bytes) {
  struct sn_handover handover = {.magic = SN_HANDOVER,
                                 .layout = SN_LAYOUT,
                                 .pid = sn_process.pid,
                                 .serial = serial,
                                 .slot = sn_offset_of(slot),
                                 .ring_bytes = bytes};
  const char *name = sn_process.path + sn_process.directory;
  if (strlen(name) >= sizeof handover.announcement) return false;
  sn_put_text(handover.announcement, name);
  union {
    struct cmsghdr align;
    unsigned char bytes[CMSG_SPACE(sizeof(int))];
  } control;
  memset(&control, 0, sizeof control);
  struct iovec part = {&handover, sizeof handover};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(head), &file, sizeof file);
  int reader = connect_to_reader();
  if (reader < 0) return false;
  bool sent = sendmsg(reader, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof handover;
  close(reader);
  return sent;
}

/* Gives the ring memory that the reader of GENERATION is told of, with what is in it. false: nothing has
 * changed.                                                                                           */
static bool ring_renew(struct sn_ring *ring, uint32_t generation) {
  struct sn_slot *slot = ring->slot;
  uint64_t head = slot->head;
  uint64_t tail = ring->base != NULL ? sn_slot_tail(slot, head, ring->bytes) : head;
  uint64_t bytes = head != tail ? ring->bytes : wished_bytes();
  int file;
  unsigned char *base = memory_new(bytes, &file);
  if (base == NULL) return false;
  if (head != tail) {
    memcpy(base + (tail & (bytes - 1)), ring->base + (tail & (bytes - 1)), head - tail);
  }
  bool sent = send_ring(file, slot, slot->serial + 1, bytes);
  close(file);
  if (!sent) {
    munmap(base, 2 * bytes);
    return false;
  }
  if (ring->base != NULL) munmap(ring->base, 2 * ring->bytes);
  ring->base = base;
  ring->bytes = slot->ring_bytes = bytes;
  slot->generation = generation;
  /* Before the serial: the reader lets go of memory that is its own and whose slot is closed. */
  __atomic_store_n(&slot->state, SN_LIVE, __ATOMIC_RELEASE);
  __atomic_store_n(&slot->serial, slot->serial + 1, __ATOMIC_RELEASE);
  return true;
}

static bool ring_waits(const struct sn_ring *ring) {
  return ring->base != NULL &&
         sn_slot_tail(ring->slot, ring->slot->head, ring->bytes) != ring->slot->head;
}

static bool ring_has_room(const struct sn_ring *ring) {
  uint64_t head = ring->slot->head;
  return ring->base == NULL ||
         head - sn_slot_tail(ring->slot, head, ring->bytes) <= ring->bytes / 2;
}

/* A ring that nobody writes, and that is half empty at least. *ret_free: how many nobody writes. */
static struct sn_ring *ring_take_free(unsigned *ret_free) {
  *ret_free = 0;
  for (struct sn_ring **link = &free_rings; *link != NULL; link = &(*link)->next) {
    struct sn_ring *ring = *link;
    ++*ret_free;
    if (ring_has_room(ring)) {
      *link = ring->next;
      return ring;
    }
  }
  return NULL;
}

/* Such a one, or a new slot without memory; NULL: no memory, or the reader is far behind. */
static struct sn_ring *ring_take(void) {
  unsigned full;
  struct sn_ring *ring = ring_take_free(&full);
  if (ring != NULL || full >= FULL_RINGS) return ring;
  struct sn_slot *slot = slot_new();
  if (slot == NULL || (ring = sn_private_new(sizeof *ring)) == NULL) return NULL;
  *ring = (struct sn_ring){.slot = slot};
  __atomic_store_n(&slot->state, SN_CLOSED, __ATOMIC_RELEASE); /* no memory as yet */
  sn_changed();
  return ring;
}

/* Those with memory come first. Few keep it, unless something in it waits to be read. */
static void ring_put(struct sn_ring *ring) {
  struct sn_ring **link = &free_rings;
  unsigned kept = 0;
  for (struct sn_ring *other = free_rings; other != NULL; other = other->next) {
    kept += other->base != NULL;
  }
  if (ring->base != NULL && kept >= FREE_RINGS && !ring_waits(ring)) {
    __atomic_store_n(&ring->slot->state, SN_CLOSED, __ATOMIC_RELEASE);
    munmap(ring->base, 2 * ring->bytes);
    ring->base = NULL;
  }
  while (ring->base == NULL && *link != NULL && (*link)->base != NULL) link = &(*link)->next;
  ring->next = *link;
  *link = ring;
  sn_changed();
}

/* What rings without a writer still hold, the new reader is to have. */
static void renew_free_rings(uint32_t generation) {
  for (struct sn_ring *ring = free_rings; ring != NULL; ring = ring->next) {
    if (ring->slot->generation != generation && ring_waits(ring) && !ring_renew(ring, generation)) {
      return;
    }
  }
}

/* --- workers */

static struct sn_worker *worker_new(void) {
  if (free_workers == NULL) {
    size_t bytes = (sizeof(struct sn_worker) * WORKERS_A_BLOCK | (sn_process.page - 1)) + 1;
    struct block *block = sn_private_new(sizeof *block);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == NULL || memory == MAP_FAILED) return NULL;
    madvise(memory, bytes, MADV_WIPEONFORK);
    *block = (struct block){.next = blocks, .workers = memory};
    __atomic_store_n(&blocks, block, __ATOMIC_RELEASE); /* a fork may come, see sn_restart */
    for (unsigned i = 0; i < WORKERS_A_BLOCK; i++) {
      block->workers[i].next = free_workers;
      free_workers = &block->workers[i];
    }
  }
  struct sn_worker *worker = free_workers;
  free_workers = worker->next;
  memset(worker, 0, sizeof *worker);
  worker->thread.ready = worker->thread.resume = SN_SLOW;
  worker->tid = (uint32_t)syscall(SYS_gettid);
  return worker;
}

static void worker_end(struct sn_worker *worker) {
  while (worker != NULL) {
    struct sn_worker *nested = worker->nested;
    uint32_t generation = sn_process.header->generation;
    if (worker->ring != NULL) {
      if (worker->ring->slot->generation != generation && ring_waits(worker->ring)) {
        ring_renew(worker->ring, generation);
      }
      ring_put(worker->ring);
    }
    memset(worker, 0, sizeof *worker);
    worker->next = free_workers;
    free_workers = worker;
    worker = nested;
  }
}

/* The thread ends. It may pass sensors still, in other destructors: then it begins anew. */
static void thread_ends(void *first) {
  struct sn_guard guard;
  if (!sn_lock(&guard)) return;
  if (sn_this_thread == first) {
    sn_this_thread = &nobody;
    worker_end(first);
  }
  sn_unlock(&guard);
}

/* Where there is no key to tell of the end of threads: those whose thread is no more. */
static void reap(void) {
  for (struct block *block = blocks; block != NULL && !key_good; block = block->next) {
    for (unsigned i = 0; i < WORKERS_A_BLOCK; i++) {
      struct sn_worker *worker = &block->workers[i];
      if (worker->tid != 0 && worker->level == 0 &&
          syscall(SYS_tgkill, sn_process.pid, worker->tid, 0) != 0 && errno == ESRCH) {
        worker_end(worker);
      }
    }
  }
}

/* glibc keeps the values of the first 32 keys in the thread itself; beyond it would call malloc, which
 * is not for signal handlers.                                                                        */
bool sn_threads_start(void) {
  key_good = pthread_key_create(&key, thread_ends) == 0;
  if (key_good && key >= 32) {
    pthread_key_delete(key);
    key_good = false;
  }
  return true;
}

void sn_threads_stop(void) {
  if (key_good) pthread_key_delete(key);
  key_good = false;
}

static struct sn_worker *worker_first(void) {
  struct sn_worker *worker = NULL;
  struct sn_guard guard;
  if (!sn_lock(&guard)) return NULL;
  if (free_workers == NULL) reap();
  if ((worker = worker_new()) != NULL) {
    sn_this_thread = &worker->thread;
    if (key_good) pthread_setspecific(key, worker);
  }
  sn_unlock(&guard);
  return worker;
}

static struct sn_worker *worker_nested(struct sn_worker *outer) {
  struct sn_guard guard;
  if (outer->level + 1 >= SN_LEVELS || !sn_lock(&guard)) return NULL;
  if (outer->nested == NULL && (outer->nested = worker_new()) != NULL) {
    outer->nested->level = outer->level + 1;
    outer->nested->abandoned = outer->abandoned;
  }
  sn_unlock(&guard);
  return outer->nested;
}

struct sn_worker *sn_worker_claim(void) {
  struct sn_worker *worker = (struct sn_worker *)(void *)sn_this_thread;
  if (sn_this_thread == &nobody) worker = worker_first();
  while (worker != NULL && worker->thread.ready == SN_BUSY) {
    worker = worker->nested != NULL ? worker->nested : worker_nested(worker);
  }
  if (worker != NULL) {
    worker->thread.ready = SN_BUSY;
    SN_IN_ORDER();
  }
  return worker;
}

void sn_worker_release(struct sn_worker *worker) {
  SN_IN_ORDER();
  worker->thread.ready = worker->thread.resume;
}

/* Takes the worker's ring as it is now; says who writes, if that is another thread. */
static void worker_use(struct sn_worker *worker, struct sn_ring *ring) {
  struct sn_thread *thread = &worker->thread;
  struct sn_slot *slot = ring->slot;
  bool other = worker->ring != ring;
  worker->ring = ring;
  thread->slot = slot;
  thread->base = ring->base;
  thread->mask = ring->bytes - 1;
  thread->head = slot->head;
  thread->generated = slot->generated;
  if (other) {
    struct sn_ring_record head = {0, THREAD_BYTES / 8, SN_RECORD_THREAD};
    unsigned char *at = ring->base + (thread->head & thread->mask);
    memcpy(at, &head, sizeof head);
    sn_put_word(at + sizeof head, worker->tid);
    slot->tid = worker->tid;
    slot->level = worker->level;
    thread->head += THREAD_BYTES;
    __atomic_store_n(&slot->head, thread->head, __ATOMIC_RELEASE);
  }
  thread->limit = thread->head; /* to be asked for */
}

/* Under the lock. A sensor that went on in the child of a fork knows the reader of the parent only. */
static bool worker_renew(struct sn_worker *worker, uint32_t generation) {
  if (worker->abandoned || generation != sn_process.header->generation) return false;
  struct sn_ring *ring = worker->ring != NULL ? worker->ring : ring_take();
  if (ring == NULL) return false;
  bool good = ring->base != NULL && ring->slot->generation == generation;
  if (!good) good = ring_renew(ring, generation);
  if (good) {
    worker_use(worker, ring);
    renew_free_rings(generation);
  } else if (worker->ring == NULL) {
    ring_put(ring);
  }
  return good;
}

bool sn_worker_ready(struct sn_worker *worker, uint32_t generation) {
  struct sn_guard guard;
  if (worker->ring != NULL && worker->ring->slot->generation == generation) return true;
  uint64_t now = sn_monotonic_ns();
  if (now >= worker->retry_ns && sn_lock(&guard)) {
    if (sn_process.path != NULL && !worker_renew(worker, generation)) {
      worker->retry_ns = now + RETRY_NS;
    }
    sn_unlock(&guard);
  }
  return worker->ring != NULL; /* what the old reader did not take, the new one may get later */
}

/* --- forks */

/* A handler may fork in the middle of a sensor. What that sensor still does in the child must go
 * somewhere: its worker, which the fork wipes, is put back with a slot and a ring that nobody else knows
 * of, and is never used again. The child may fork before that sensor has ended, so these outlive it.  */
struct interrupted {
  struct interrupted *next;
  struct sn_worker *worker;
  struct sn_worker as_it_was;
  struct sn_slot slot;
  struct sn_ring ring;
};
static struct interrupted *left_over; /* of forks before; the innermost first, as in the next */
static struct interrupted *free_interrupted;
/* Of the thread that forks: those to be put back, the innermost first; what they are in if it has not the lock. */
static __thread struct interrupted *in_midst __attribute__((tls_model("initial-exec")));
static __thread struct interrupted *own_page __attribute__((tls_model("initial-exec")));

static void interrupted_free_all(struct interrupted **list) {
  while (*list != NULL) {
    struct interrupted *first = *list;
    *list = first->next;
    first->next = free_interrupted;
    free_interrupted = first;
  }
}

/* Those that have ended since are forgotten. */
static void left_over_keep(void) {
  struct interrupted *ended = NULL;
  for (struct interrupted **link = &left_over; *link != NULL;) {
    struct interrupted *at = *link;
    if (at->worker->thread.ready == SN_BUSY) {
      at->as_it_was = *at->worker;
      link = &at->next;
    } else {
      *link = at->next;
      at->next = ended;
      ended = at;
    }
  }
  interrupted_free_all(&ended);
}

static struct interrupted *interrupted_new(bool locked, size_t number) {
  struct interrupted *at = free_interrupted;
  if (!locked) {
    size_t bytes = (sizeof *at * SN_LEVELS | (sn_process.page - 1)) + 1;
    void *memory = own_page != NULL ? own_page
                                    : mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    own_page = memory;
    return &own_page[number];
  }
  if (at == NULL) return sn_private_new(sizeof *at);
  free_interrupted = at->next;
  return at;
}

/* In the child the ring's place must not be free for others until put_back takes it: a fork leaves out rings, and
 * what the program itself does in the child may come before what we do.                              */
static void inherit_ring(const struct interrupted *at, int advice) {
  const struct sn_ring *ring = at->as_it_was.ring;
  if (ring != NULL && ring->base != NULL) madvise(ring->base, 2 * ring->bytes, advice);
}

void sn_threads_before_fork(bool locked) {
  struct sn_worker *worker = (struct sn_worker *)(void *)sn_this_thread;
  if (locked) left_over_keep();
  if (sn_this_thread == &nobody) return;
  for (size_t i = 0; worker != NULL && worker->thread.ready == SN_BUSY && i < SN_LEVELS; i++) {
    struct interrupted *at = interrupted_new(locked, i);
    if (at == NULL) return; /* no memory: in the child it is as after a bare clone */
    at->worker = worker;
    at->as_it_was = *worker;
    at->next = in_midst;
    in_midst = at;
    inherit_ring(at, MADV_DOFORK);
    worker = worker->nested;
  }
}

void sn_threads_after_fork(bool locked) {
  for (const struct interrupted *at = in_midst; at != NULL; at = at->next) {
    inherit_ring(at, MADV_DONTFORK);
  }
  if (locked) {
    interrupted_free_all(&in_midst);
  } else if (own_page != NULL) {
    munmap(own_page, (sizeof *own_page * SN_LEVELS | (sn_process.page - 1)) + 1);
  }
  in_midst = own_page = NULL;
}

bool sn_threads_interrupted(void) {
  return in_midst != NULL || left_over != NULL;
}

/* In the child; the worker is wiped. */
static void put_back(struct interrupted *at) {
  struct sn_worker *worker = at->worker;
  const struct sn_ring *ring = at->as_it_was.ring;
  *worker = at->as_it_was;
  worker->abandoned = true;
  worker->measured = NULL;
  worker->thread.resume = SN_SLOW;
  if (worker->nested != NULL && worker->nested->thread.ready != SN_BUSY) worker->nested = NULL;
  if (ring == NULL) return;
  memset(&at->slot, 0, sizeof at->slot);
  at->ring = (struct sn_ring){.slot = &at->slot, .base = ring->base, .bytes = ring->bytes};
  worker->thread.slot = &at->slot;
  worker->ring = &at->ring;
  mmap(ring->base, 2 * ring->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
       -1, 0);
}

/* The child's only thread has no ring. The workers of before are not used again where a sensor of theirs
 * goes on.                                                                                           */
void sn_threads_restart(void) {
  free_workers = NULL;
  free_rings = NULL; /* their few words of private memory are lost */
  bool all_free = !sn_threads_interrupted();
  for (struct block *block = blocks; block != NULL; block = block->next) {
    memset(block->workers, 0, sizeof(struct sn_worker) * WORKERS_A_BLOCK);
    for (unsigned i = 0; i < WORKERS_A_BLOCK && all_free; i++) {
      block->workers[i].next = free_workers;
      free_workers = &block->workers[i];
    }
  }
  struct interrupted **end = &in_midst;
  while (*end != NULL) end = &(*end)->next;
  *end = left_over;
  left_over = in_midst;
  in_midst = own_page = NULL;
  /* The innermost comes first, so that who has a nested one finds it as it is. */
  for (struct interrupted *at = left_over; at != NULL; at = at->next) put_back(at);
  sn_this_thread = &nobody;
  if (key_good) pthread_setspecific(key, NULL);
}
