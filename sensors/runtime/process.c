/* The announcement of this process: a file in shared memory that readers find (tquel/sensor_layout.h).
 *
 * It is `$XDG_RUNTIME_DIR/tquel/PID-START-TIME.sensors`, or below /run/tquel, which an administrator
 * makes. No descriptor of it is kept open: programs close descriptors that they do not know. Chunks are
 * appended by opening the file again; all space is allocated before it is touched, since a page missing
 * when the file system is full would be a SIGBUS.
 *
 * A child of fork gets an announcement of its own, mapped at the same addresses, so that every pointer
 * to a receptacle stays good. fork calls us; a child made otherwise is found out by its wiped page.   */
#include "sensors/runtime/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/prctl.h>
#endif

struct sn_process sn_process;

enum { NAME_ROOM = 96, LOCK_WAIT_NS = 1000000000 };

/* --- clocks, texts */

static uint64_t clock_ns(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

uint64_t sn_monotonic_ns(void) {
  return clock_ns(CLOCK_MONOTONIC);
}

uint64_t sn_stamp(void) {
  return sn_process.header->clock == SN_CLOCK_CYCLES ? sn_cycles() : sn_monotonic_ns();
}

/* The cycle counter serves if it runs at one rate whatever the processor does. */
static uint32_t choose_clock(void) {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  int allowed = 0;
  if (prctl(PR_GET_TSC, &allowed) == 0 && allowed == PR_TSC_ENABLE &&
      __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & 1u << 8) != 0) {
    return SN_CLOCK_CYCLES;
  }
  return SN_CLOCK_MONOTONIC;
#else
  return SN_HAS_CYCLES ? SN_CLOCK_CYCLES : SN_CLOCK_MONOTONIC; /* of aarch64 it always does */
#endif
}

char *sn_put_text(char *at, const char *text) {
  size_t length = strlen(text);
  memcpy(at, text, length + 1);
  return at + length;
}

char *sn_put_number(char *at, uint64_t number, unsigned base) {
  char digits[24];
  size_t count = 0;
  do {
    digits[count++] = "0123456789abcdef"[number % base];
    number /= base;
  } while (number != 0);
  while (count > 0) *at++ = digits[--count];
  *at = '\0';
  return at;
}

/* --- the lock */

static uint32_t own_tid(void) {
  return (uint32_t)syscall(SYS_gettid);
}

/* The lock names who holds it. */
static bool take_lock(uint32_t tid) {
  uint32_t free = 0;
  return __atomic_compare_exchange_n(&sn_process.lock, &free, tid, false, __ATOMIC_ACQUIRE,
                                     __ATOMIC_RELAXED);
}

/* Who holds it may be of lower priority, so that yielding alone would never let it run. It may be ourselves, if
 * the program passes sensors while it forks or where it handles a fault of ours: that is not waited for.
 * Nobody waits once one has waited in vain.                                                           */
static bool wait_for_lock(void) {
  static uint32_t in_vain;
  struct timespec nap = {0, 20000};
  uint32_t tid = own_tid();
  if (take_lock(tid)) return true;
  if (__atomic_load_n(&sn_process.lock, __ATOMIC_RELAXED) == tid) return false;
  uint64_t end = sn_monotonic_ns() + LOCK_WAIT_NS;
  for (int i = 0; !__atomic_load_n(&in_vain, __ATOMIC_RELAXED); i++) {
    if (i < 20) {
      sched_yield();
    } else {
      nanosleep(&nap, NULL);
      if (nap.tv_nsec < 1000000) nap.tv_nsec *= 2;
    }
    if (take_lock(tid)) return true;
    if (i > 20 && sn_monotonic_ns() > end) __atomic_store_n(&in_vain, 1, __ATOMIC_RELAXED);
  }
  if (!take_lock(tid)) return false;
  __atomic_store_n(&in_vain, 0, __ATOMIC_RELAXED);
  return true;
}

/* The signals come last: a handler may leave by a jump, and what is not restored by then never is; or it
 * forks, and GUARD is another fork's.                                                                 */
static void as_before(const struct sn_guard *guard) {
  pthread_setcancelstate(guard->cancel, NULL);
  errno = guard->error;
  pthread_sigmask(SIG_SETMASK, &guard->signals, NULL);
}

/* Of the thread that forks. */
static __thread struct sn_guard fork_guard __attribute__((tls_model("initial-exec")));
static __thread bool fork_locked __attribute__((tls_model("initial-exec")));

static bool is_unaware(void) {
  return sn_process.same != NULL && __atomic_load_n(sn_process.same, __ATOMIC_RELAXED) == 0;
}

bool sn_lock(struct sn_guard *guard) {
  sigset_t all;
  bool sound = true;
  sigfillset(&all);
  sigdelset(&all, SIGBUS); /* blocked, a fault would end the program whatever it has to say to it */
  guard->error = errno;
  pthread_sigmask(SIG_SETMASK, &all, &guard->signals);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard->cancel);
  /* In a child that fork does not know of, whoever held the lock is not there; unless it is ours, for the fork. */
  if (is_unaware()) {
    sound = fork_locked || sn_process.lock == 0;
    sn_process.lock = 0;
  }
  if (!wait_for_lock()) {
    as_before(guard);
    return false;
  }
  if (is_unaware()) {
    sn_restart(sound);
    sn_samples_forget();
  }
  return true;
}

void sn_unlock(struct sn_guard *guard) {
  __atomic_store_n(&sn_process.lock, 0, __ATOMIC_RELEASE);
  as_before(guard);
}

/* --- private memory */

static size_t private_left;

void *sn_private_new(size_t bytes) {
  static unsigned char *next;
  bytes = (bytes + 15u) & ~(size_t)15u;
  if (bytes > private_left) {
    size_t block = bytes > sn_process.page ? (bytes | (sn_process.page - 1)) + 1 : sn_process.page;
    void *memory = mmap(NULL, block, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return NULL;
    next = memory;
    private_left = block;
  }
  void *memory = next;
  next += bytes;
  private_left -= bytes;
  return memory;
}

/* --- pieces */

static struct sn_piece *piece_add(void *address, uint64_t offset, uint64_t bytes) {
  struct sn_piece *piece = sn_private_new(sizeof *piece);
  if (piece == NULL) return NULL;
  *piece = (struct sn_piece){.address = address, .offset = offset, .bytes = bytes};
  /* Sensors that count walk the list without the lock. */
  struct sn_piece **link =
      sn_process.last_piece != NULL ? &sn_process.last_piece->next : &sn_process.pieces;
  __atomic_store_n(link, piece, __ATOMIC_RELEASE);
  sn_process.last_piece = piece;
  return piece;
}

uint64_t sn_offset_of(const void *address) {
  const unsigned char *place = address;
  for (const struct sn_piece *piece = sn_process.pieces; piece != NULL; piece = piece->next) {
    if (place >= piece->address && place < piece->address + piece->bytes) {
      return piece->offset + (uint64_t)(place - piece->address);
    }
  }
  return 0;
}

bool sn_is_announced(const void *address) {
  const unsigned char *place = address;
  const struct sn_piece *piece = __atomic_load_n(&sn_process.pieces, __ATOMIC_ACQUIRE);
  while (piece != NULL && (uintptr_t)place - (uintptr_t)piece->address >= piece->bytes)
    piece = __atomic_load_n(&piece->next, __ATOMIC_ACQUIRE);
  return piece != NULL;
}

void *sn_at_offset(uint64_t offset, uint64_t bytes) {
  struct sn_piece *piece = __atomic_load_n(&sn_process.pieces, __ATOMIC_ACQUIRE);
  while (piece != NULL && offset - piece->offset >= piece->bytes) {
    piece = __atomic_load_n(&piece->next, __ATOMIC_ACQUIRE);
  }
  if (piece == NULL || offset % 8 != 0 || bytes > piece->bytes - (offset - piece->offset))
    return NULL;
  return piece->address + (offset - piece->offset);
}

void sn_changed(void) {
  __atomic_fetch_add(&sn_process.header->changes, 1, __ATOMIC_RELEASE);
}

/* Behind the limit of the size of files the system sends SIGXFSZ, which would end a program that knows nothing of
 * our files; its handlers are its own. getrlimit is a system call and nothing else.                  */
bool sn_allocate(int file, uint64_t offset, uint64_t bytes) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
  if (limit.rlim_cur != RLIM_INFINITY && offset + bytes > limit.rlim_cur) return false;
  /* Signals are blocked here; but a program that is stopped, and goes on, is interrupted all the same. */
  int error;
  while ((error = posix_fallocate(file, (off_t)offset, (off_t)bytes)) == EINTR) continue;
  return error == 0;
}

static void *map_new(int file, uint64_t offset, uint64_t bytes) {
  if (!sn_allocate(file, offset, bytes)) return NULL;
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset);
  return memory == MAP_FAILED ? NULL : memory;
}

struct sn_chunk *sn_chunk_new(enum sn_chunk_kind kind, uint64_t unit_bytes, uint32_t units) {
  uint64_t bytes = sizeof(struct sn_chunk) + unit_bytes * units;
  bytes = (bytes + sn_process.page - 1) / sn_process.page * sn_process.page;
  if (sn_process.path == NULL || bytes > UINT32_MAX) return NULL;
  int file = open(sn_process.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return NULL;
  uint64_t offset = sn_process.last_piece->offset + sn_process.last_piece->bytes;
  struct sn_chunk *chunk = map_new(file, offset, bytes);
  close(file);
  if (chunk == NULL) return NULL;
  struct sn_piece *piece = piece_add(chunk, offset, bytes);
  if (piece == NULL) {
    munmap(chunk, bytes);
    return NULL;
  }
  piece->kind = kind;
  piece->unit_bytes = (uint32_t)unit_bytes;
  piece->units = units;
  *chunk = (struct sn_chunk){
      .kind = kind, .bytes = (uint32_t)bytes, .unit_bytes = (uint32_t)unit_bytes, .units = units};
  __atomic_store_n(&sn_process.header->bytes, offset + bytes, __ATOMIC_RELEASE);
  return chunk;
}

/* --- the file */

/* Finds the directory of announcements and makes the paths, with room for a name. false: there is none,
 * or others may do in it what they like.                                                            */
static bool find_directory(void) {
  const char *user = secure_getenv("XDG_RUNTIME_DIR");
  bool own = user != NULL && user[0] == '/';
  struct stat status;
  if (!own) user = "/run";
  size_t room = strlen(user) + sizeof "/tquel/" + NAME_ROOM;
  char *path = malloc(2 * room);
  if (path == NULL) return false;
  char *end = sn_put_text(sn_put_text(path, user), "/tquel");
  if (own) mkdir(path, 0700);
  bool good = lstat(path, &status) == 0 && S_ISDIR(status.st_mode) &&
              (status.st_uid == geteuid() || status.st_uid == 0) &&
              ((status.st_mode & 022) == 0 || (status.st_mode & S_ISVTX) != 0);
  if (!good) {
    free(path);
    return false;
  }
  sn_process.directory = (size_t)(sn_put_text(end, "/") - path);
  sn_process.path = path;
  sn_process.unready = memcpy(path + room, path, sn_process.directory + 1);
  return true;
}

/* How large its rings are, a user may say of a program. What is no size is passed over, and the reader says so. */
static void read_ring_bytes(void) {
  const char *text = secure_getenv(SN_RING_ENVIRONMENT);
  uint64_t kib = 0;
  if (text == NULL) return;
  for (; *text >= '0' && *text <= '9' && kib <= SN_RING_BYTES_MAX >> 10; text++) {
    kib = kib * 10 + (uint64_t)(*text - '0');
  }
  uint64_t bytes = kib << 10;
  bool good = *text == '\0' && bytes >= SN_RING_BYTES_MIN && bytes <= SN_RING_BYTES_MAX &&
              (bytes & (bytes - 1)) == 0 && bytes % sn_process.page == 0;
  sn_process.ring_refused = !good;
  sn_process.ring_bytes = good ? (uint32_t)bytes : 0;
}

/* When the process was started, in ticks since the system was: field 22 of its stat. 0: not known. */
static uint64_t start_ticks(void) {
  char text[1024], *at;
  int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  if (length <= 0) return 0;
  text[length] = '\0';
  /* The name, field 2, stands in parentheses and may contain any character. */
  at = strrchr(text, ')');
  for (int field = 2; at != NULL && field < 22; field++) at = strchr(at + 1, ' ');
  uint64_t ticks = 0;
  for (at = at != NULL ? at + 1 : text + length; *at >= '0' && *at <= '9'; at++) {
    ticks = ticks * 10 + (uint64_t)(*at - '0');
  }
  return ticks;
}

/* Namespaces are told apart by the number of their file. 0: not known. */
static uint64_t namespace_of(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

/* The name of the machine, or of the container that is one of its own, up to the domain. */
static void put_host(char *to) {
  struct utsname names;
  if (uname(&names) != 0) return;
  size_t length = 0;
  while (length + 1 < SN_HOST_ROOM && names.nodename[length] != '\0' &&
         names.nodename[length] != '.') {
    length++;
  }
  memcpy(to, names.nodename, length); /* behind it all is zero */
}

/* What it takes to look at the clock, at least. */
static uint64_t stamp_ticks(uint32_t clock) {
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 16; i++) {
    uint64_t before = clock == SN_CLOCK_CYCLES ? sn_cycles() : sn_monotonic_ns();
    uint64_t after = clock == SN_CLOCK_CYCLES ? sn_cycles() : sn_monotonic_ns();
    if (after - before < least) least = after - before;
  }
  return least;
}

/* Who we are: the program's first part of the header. The reader's is zero: there is none. */
static void fill_header(struct sn_header *header, uint64_t bytes) {
  memset(header, 0, sizeof *header);
  memcpy(header->magic, SN_MAGIC, sizeof header->magic);
  header->layout = SN_LAYOUT;
  header->able = SN_CAN_THIN;
  header->header_bytes = sizeof *header;
  header->pid = sn_process.pid;
  header->uid = (uint32_t)geteuid();
  header->start_ticks = start_ticks();
  header->process_space = namespace_of("/proc/self/ns/pid");
  header->time_space = namespace_of("/proc/self/ns/time");
  put_host(header->host);
  header->clock = choose_clock();
  sn_process.stamp_ticks = stamp_ticks(header->clock);
  header->pair_monotonic_ns = sn_monotonic_ns();
  header->pair_stamp = header->clock == SN_CLOCK_CYCLES ? sn_cycles() : header->pair_monotonic_ns;
  header->pair_realtime_ns = header->announced_ns = clock_ns(CLOCK_REALTIME);
  header->bytes = bytes;
  header->own_ring_bytes = sn_process.ring_bytes;
  header->ring_refused = sn_process.ring_refused;
}

/* The name PID-START-TIME.sensors, behind the directory in PATH. */
static void put_name(char *path, const char *prefix, const struct sn_header *header) {
  char *at = sn_put_text(path + sn_process.directory, prefix);
  at = sn_put_text(sn_put_number(at, header->pid, 10), "-");
  at = sn_put_text(sn_put_number(at, header->start_ticks, 10), "-");
  at = sn_put_number(at, header->announced_ns, 16);
  sn_put_text(at, SN_SUFFIX);
}

/* A new file of that size, mapped as a whole; NULL: not to be had. It gets its name, without a dot, by
 * file_publish: whoever sees that sees a complete announcement.                                      */
static void *file_new(const struct sn_header *header, uint64_t bytes) {
  put_name(sn_process.path, "", header);
  put_name(sn_process.unready, ".", header);
  int file = open(sn_process.unready, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return NULL;
  void *memory = map_new(file, 0, bytes);
  close(file);
  if (memory == NULL) unlink(sn_process.unready);
  return memory;
}

static bool file_publish(void) {
  return rename(sn_process.unready, sn_process.path) == 0;
}

/* --- forks */

static uint32_t forks_before;

static void before_fork(void) {
  fork_locked = sn_lock(&fork_guard);
  forks_before = sn_process.forks;
  sn_threads_before_fork(fork_locked);
}

static void after_fork(void) {
  bool locked = fork_locked;
  fork_locked = false;
  sn_threads_after_fork(locked);
  if (locked) sn_unlock(&fork_guard);
}

static void in_child(void) {
  bool locked = fork_locked;
  fork_locked = false;
  sn_process.lock = own_tid(); /* there is no other thread */
  /* Not again, if a sensor that the program passes in its own handler of forks has found the fork out. */
  if (sn_process.forks == forks_before) sn_restart(locked);
  sn_samples_restart();
  if (locked) {
    sn_unlock(&fork_guard);
  } else {
    sn_process.lock = 0;
  }
}

static unsigned char *spare_page;

static bool mark_same(void) {
  if ((spare_page = sn_private_new(sn_process.page)) == NULL) return false;
  uint32_t *same =
      mmap(NULL, sn_process.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (same == MAP_FAILED) return false;
  madvise(same, sn_process.page, MADV_WIPEONFORK); /* without it, what fork calls must do */
  *same = 1;
  sn_process.same = same;
  return true;
}

/* Of switches, entries and tallies, which the name stands behind. */
static uint64_t module_bytes(const struct sn_module_unit *module, uint64_t unit_bytes) {
  uint32_t switches = module->receptacle.switches;
  uint64_t bytes = sn_receptacle_bytes(switches, switches, true) - sizeof module->receptacle;
  return bytes <= unit_bytes - sizeof *module ? bytes : 0;
}

/* What a child does not inherit: switches, counts, rings. Objects, with their names, it does: sn_modules_restart
 * sees to them.                                                                                        */
static void clear_chunk(struct sn_piece *piece, struct sn_chunk *chunk) {
  unsigned char *unit = (unsigned char *)(chunk + 1);
  /* A sensor that goes on in the child may still write to its slot. */
  if (piece->kind == SN_SLOTS && sn_threads_interrupted()) piece->kind = SN_LEFT;
  *chunk = (struct sn_chunk){.kind = piece->kind,
                             .bytes = (uint32_t)piece->bytes,
                             .unit_bytes = piece->unit_bytes,
                             .units = piece->units};
  for (uint32_t i = 0; i < piece->units; i++, unit += piece->unit_bytes) {
    switch (piece->kind) {
      case SN_MODULES: {
        struct sn_module_unit *module = (struct sn_module_unit *)(void *)unit;
        module->process = 0;
        memset(&module->receptacle + 1, 0, module_bytes(module, piece->unit_bytes));
        break;
      }
      case SN_OBJECTS:
      case SN_SLOTS:
      case SN_HISTOGRAMS:
        memset(unit, 0, piece->unit_bytes);
        break;
      default:
        break;
    }
  }
}

/* Makes it memory of our own without more of it at a time than a page. */
static bool take_in_place(const struct sn_piece *piece) {
  for (uint64_t at = 0; at < piece->bytes; at += sn_process.page) {
    unsigned char *page = piece->address + at;
    memcpy(spare_page, page, sn_process.page);
    if (mmap(page, sn_process.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
             -1, 0) == MAP_FAILED) {
      return false;
    }
    memcpy(page, spare_page, sn_process.page);
  }
  return true;
}

/* Moves the new content of each piece to where the old one is mapped. false: one could not be moved (it is our
 * own, but not in the file).                                                                          */
static bool move_pieces(unsigned char *content) {
  bool all = true;
  for (struct sn_piece *piece = sn_process.pieces; piece != NULL; piece = piece->next) {
    if (mremap(content + piece->offset, piece->bytes, piece->bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
               piece->address) != MAP_FAILED) {
      continue;
    }
    all = false;
    if (take_in_place(piece)) memcpy(piece->address, content + piece->offset, piece->bytes);
  }
  return all;
}

/* There is no memory for a copy; nobody will find us. */
static void stay_in_place(const struct sn_header *header) {
  for (struct sn_piece *piece = sn_process.pieces; piece != NULL; piece = piece->next) {
    if (!take_in_place(piece)) continue; /* a single page, which takes the place of another */
    if (piece->offset != 0) clear_chunk(piece, (struct sn_chunk *)(void *)piece->address);
  }
  memcpy(sn_process.header, header, sizeof *header);
}

/* Whoever had the lock when we were forked is not here, and what it was changing stays as it was then. Only what
 * grows at its end can still be used: the pieces. Without a path there will be no new ones. false: there are none. */
static bool leave_half_changed(void) {
  sn_process.path = NULL;
  private_left = 0; /* of the block that it was cutting */
  sn_process.last_piece = sn_process.pieces;
  if (sn_process.pieces == NULL) {
    sn_process.header = NULL;
    return false;
  }
  while (sn_process.last_piece->next != NULL) sn_process.last_piece = sn_process.last_piece->next;
  return true;
}

void sn_restart(bool sound) {
  if (sn_process.header == NULL) return;
  sn_process.forks++;
  if (!sound && !leave_half_changed()) {
    *(uint32_t *)(uintptr_t)sn_process.same = 1;
    return;
  }
  struct sn_header header;
  uint64_t bytes = sn_process.last_piece->offset + sn_process.last_piece->bytes;
  sn_process.pid = (uint32_t)getpid();
  fill_header(&header, bytes);
  unsigned char *content = sn_process.path != NULL ? file_new(&header, bytes) : NULL;
  bool filed = content != NULL;
  if (!filed) {
    /* Nobody will find us: private memory with all switches off. */
    sn_process.path = NULL;
    content = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  }
  if (content == MAP_FAILED) stay_in_place(&header);
  for (struct sn_piece *piece = sn_process.pieces; content != MAP_FAILED && piece != NULL;
       piece = piece->next) {
    memcpy(content + piece->offset, piece->address, piece->bytes);
    if (piece->offset != 0) {
      clear_chunk(piece, (struct sn_chunk *)(void *)(content + piece->offset));
    }
  }
  if (content != MAP_FAILED) {
    memcpy(content, &header, sizeof header);
    if (!move_pieces(content) && filed) {
      unlink(sn_process.unready);
      sn_process.path = NULL;
      filed = false;
    }
  }
  sn_modules_restart(sound);
  sn_threads_restart();
  *(uint32_t *)(uintptr_t)sn_process.same = 1;
  if (!filed) return;
  if (!file_publish()) {
    sn_process.path = NULL;
  } else if (sn_wanted_look(NULL)) { /* behind that: who is on is found */
    sn_modules_switch_objects();
    sn_changed();
  }
}

/* --- beginning and end */

bool sn_announce(void) {
  static bool tried;
  if (tried) return sn_process.header != NULL;
  tried = true;
  sn_process.page = (uint32_t)sysconf(_SC_PAGESIZE);
  sn_process.pid = (uint32_t)getpid();
  if (!mark_same() || !find_directory()) return false;
  read_ring_bytes();
  struct sn_header header;
  fill_header(&header, sn_process.page);
  struct sn_header *page = file_new(&header, sn_process.page);
  if (page == NULL) return false;
  memcpy(page, &header, sizeof header);
  sn_process.header = page;
  if (piece_add(page, 0, sn_process.page) == NULL || !file_publish() ||
      pthread_atfork(before_fork, after_fork, in_child) != 0 || !sn_threads_start()) {
    unlink(sn_process.path);
    sn_process.header = NULL;
    return false;
  }
  return true;
}

/* The program ends, or what it was loaded from is unloaded. Other threads may be in sensors: all stays
 * mapped. Without a reader nobody is interested in what we counted.                                  */
static __attribute__((destructor)) void end(void) {
  struct sn_guard guard;
  if (sn_process.header == NULL) return;
  sn_samples_stop();
  if (!sn_lock(&guard)) return;
  sn_threads_stop();
  __atomic_store_n(&sn_process.header->ended, 1, __ATOMIC_RELEASE);
  sn_changed();
  if (sn_process.header->generation == 0 && sn_process.path != NULL) unlink(sn_process.path);
  sn_unlock(&guard);
}
