/* Budgets of memory and time, and the reserve.
 *
 * Memory is counted by the system: what the process has resident and not from files. The allocator counts what is
 * asked for, and looks there each few MiB: that costs some microseconds, next to the millisecond that the system takes
 * to give them. Neither is exact: a budget is kept to a few MiB, plus what a large array has got and not used. (What
 * mallinfo2() says is exact, but takes as long as there are free pieces.)
 *
 *     base_xmalloc, base_grow ──count──▶ look ──▶ exceeded ──▶ base_env_interrupted ──▶ the statement unwinds
 *                └── the system says no ──▶ reserve given up, tried again ──▶ the same
 *
 * The reserve is address space that nobody has touched: it costs nothing but what a limit of address space
 * (ulimit -v) or a system that promises nothing twice (vm.overcommit_memory 2) counts, and these are what makes an
 * allocation fail. It is as much as unwinding takes, and what is done until the next poll.                    */
#include "engine/base/budget.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/base/env.h"
#include "engine/base/heap.h"

#define LOOK_EACH     ((size_t)4 << 20)
#define RESERVE       ((size_t)32 << 20)
#define LEAST_RESERVE ((size_t)1 << 20)

struct base_heap_count base_heap_count = {.look_at = SIZE_MAX};

static struct {
  bool running;
  bool winding_up;
  enum base_excess excess;
  size_t memory; /* bytes that may come; SIZE_MAX: no limit */
  size_t most;   /* so that the process has so many then; 0: not known before the first look */
  size_t total;  /* bytes that it may have in all */
  int64_t until; /* monotonic ns; INT64_MAX: no limit */
  void *reserve;
  size_t reserve_size;
  int spill_reason; /* errno */
} guard = {.memory = SIZE_MAX, .total = SIZE_MAX, .until = INT64_MAX};

/* --- looking at the system */

/* The first bytes of the file PATH as text; false: there is none. No memory is asked for. */
static bool read_text(const char *path, char *ret, size_t size) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  ssize_t length = read(file, ret, size - 1);
  close(file);
  ret[length > 0 ? length : 0] = '\0';
  return length > 0;
}

static size_t seen;

size_t base_memory_seen(void) {
  return seen;
}

size_t base_memory_in_use(void) {
  char text[128];
  if (!read_text("/proc/self/statm", text, sizeof text)) return 0;
  char *next = text;
  (void)strtoull(next, &next, 10); /* of address space */
  unsigned long long resident = strtoull(next, &next, 10), shared = strtoull(next, &next, 10);
  seen = resident > shared ? (size_t)(resident - shared) * (size_t)sysconf(_SC_PAGESIZE) : 0;
  return seen;
}

/* Of control groups, the one that a container shows as the root. */
size_t base_memory_of_machine(void) {
  static const char *const limits[] = {"/sys/fs/cgroup/memory.max",
                                       "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  size_t least = pages > 0 && page > 0 ? (size_t)pages * (size_t)page : (size_t)1 << 30;
  char text[64];
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    if (!read_text(limits[i], text, sizeof text)) continue;
    unsigned long long limit = strtoull(text, NULL, 10); /* "max" is 0 */
    if (limit > 0 && limit < least) least = (size_t)limit;
  }
  return least;
}

/* --- the reserve */

/* No more than an eighth of a limit of address space. */
static void take_reserve(void) {
  struct rlimit limit;
  size_t size = RESERVE;
  if (guard.reserve != NULL) return;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur / 8 < size) size = limit.rlim_cur / 8;
  for (; size >= LEAST_RESERVE; size /= 2) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) continue;
    guard.reserve = memory;
    guard.reserve_size = size;
    return;
  }
}

bool base_budget_relieve(int attempt) {
  base_budget_exhausted();
  if (attempt == 0 && guard.reserve != NULL) {
    munmap(guard.reserve, guard.reserve_size);
    guard.reserve = NULL;
  } else if (attempt < 2) {
    malloc_trim(0); /* pieces of it may do where what is wanted is mapped */
  }
  return attempt < 2;
}

/* --- what runs */

static void exceed(enum base_excess excess) {
  if (!guard.running || guard.excess != BASE_EXCESS_NONE) return;
  guard.excess = excess;
  base_heap_count.look_at = SIZE_MAX;
}

void base_budget_exhausted(void) {
  exceed(BASE_EXCESS_EXHAUSTED);
}

void base_budget_spill_failed(int reason) {
  guard.spill_reason = reason;
  exceed(BASE_EXCESS_SPILLED);
}

void base_budget_log_outgrown(void) {
  exceed(BASE_EXCESS_LOG);
}

int base_budget_spill_reason(void) {
  return guard.spill_reason;
}

static size_t add(size_t a, size_t b) {
  return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

void base_budget_begin(const struct base_budget *budget) {
  take_reserve();
  bool limited = budget->memory != SIZE_MAX || budget->total != SIZE_MAX;
  guard.running = true;
  guard.winding_up = false;
  guard.excess = BASE_EXCESS_NONE;
  guard.memory = budget->memory;
  guard.most = 0;
  guard.total = budget->total;
  guard.until = budget->time == INT64_MAX ? INT64_MAX : base_env_monotonic() + budget->time;
  base_heap_count = (struct base_heap_count){.look_at = limited ? LOOK_EACH : SIZE_MAX};
}

void base_budget_end(void) {
  guard.running = false;
  guard.memory = guard.total = SIZE_MAX;
  guard.until = INT64_MAX;
  base_heap_count.look_at = SIZE_MAX;
  if (base_budget_excess_is_of_memory()) malloc_trim(0);
  take_reserve();
}

/* What BYTES more would exceed. What was in use at the beginning is what is now without what was asked for since, as far
 * as that can be: so a statement that asks for little does not pay for a look. */
static enum base_excess would_exceed(size_t bytes) {
  if (guard.memory == SIZE_MAX && guard.total == SIZE_MAX) return BASE_EXCESS_NONE;
  size_t now = base_memory_in_use(), asked = base_heap_count.asked;
  if (guard.most == 0) guard.most = add(asked < now ? now - asked : now, guard.memory);
  if (now > guard.most || bytes > guard.most - now) return BASE_EXCESS_MEMORY;
  return now > guard.total || bytes > guard.total - now ? BASE_EXCESS_TOTAL : BASE_EXCESS_NONE;
}

void base_budget_look(size_t bytes) {
  enum base_excess excess = would_exceed(bytes);
  base_heap_count.asked = 0;
  if (excess != BASE_EXCESS_NONE) exceed(excess);
}

bool base_budget_has_room(size_t bytes) {
  return guard.excess != BASE_EXCESS_NONE || would_exceed(bytes) == BASE_EXCESS_NONE;
}

bool base_budget_is_exceeded(void) {
  if (!guard.running || guard.winding_up) return false;
  if (guard.until != INT64_MAX && guard.excess == BASE_EXCESS_NONE &&
      base_env_monotonic() >= guard.until)
    exceed(BASE_EXCESS_TIME);
  return guard.excess != BASE_EXCESS_NONE;
}

void base_budget_wind_up(void) {
  guard.winding_up = true;
}

bool base_budget_excess_is_of_memory(void) {
  return guard.excess == BASE_EXCESS_MEMORY || guard.excess == BASE_EXCESS_TOTAL ||
         guard.excess == BASE_EXCESS_EXHAUSTED;
}

enum base_excess base_budget_excess(void) {
  return guard.excess;
}
