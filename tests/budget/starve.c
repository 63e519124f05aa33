/* Takes memory away from a program, by LD_PRELOAD, as the variable STARVE says:
 *
 *     count:FILE   nothing is taken; FILE gets the number of allocations at the end
 *     fail:K:N     the K-th allocation (from 1 on) and N - 1 behind it fail
 *     limit:K      at the K-th the address space may not grow any more (RLIMIT_AS)
 *
 * Allocations of all of the program count, its libraries' included, and of a process that it forks from there on. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static struct {
  int counts;
  const char *file;
  uint64_t seen, first, end, limit_at;
} starve;

static void limit_now(void) {
  char text[64] = "";
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0 || read(file, text, sizeof text - 1) <= 0) return;
  close(file);
  rlim_t size = (rlim_t)strtoull(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE);
  (void)setrlimit(RLIMIT_AS, &(struct rlimit){size, size});
}

/* Is this one to fail? */
static int fails(void) {
  if (!starve.counts) return 0;
  uint64_t number = ++starve.seen;
  if (number == starve.limit_at) limit_now();
  return number >= starve.first && number < starve.end;
}

static void *refuse(void) {
  errno = ENOMEM;
  return NULL;
}

__attribute__((visibility("default"))) void *malloc(size_t size) {
  return fails() ? refuse() : __libc_malloc(size);
}
__attribute__((visibility("default"))) void *calloc(size_t count, size_t size) {
  return fails() ? refuse() : __libc_calloc(count, size);
}
__attribute__((visibility("default"))) void *realloc(void *old, size_t size) {
  return fails() ? refuse() : __libc_realloc(old, size);
}

__attribute__((constructor)) static void begin(void) {
  const char *text = getenv("STARVE");
  if (!text) return;
  char *end;
  if (strncmp(text, "count:", 6) == 0) {
    starve.file = text + 6;
  } else if (strncmp(text, "fail:", 5) == 0) {
    starve.first = strtoull(text + 5, &end, 10);
    starve.end = starve.first + (*end ? strtoull(end + 1, NULL, 10) : 1);
  } else if (strncmp(text, "limit:", 6) == 0) {
    starve.limit_at = strtoull(text + 6, NULL, 10);
  }
  starve.counts = 1;
}

__attribute__((destructor)) static void end(void) {
  char text[32];
  if (!starve.file) return;
  int length = snprintf(text, sizeof text, "%llu\n", (unsigned long long)starve.seen);
  int file = open(starve.file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file >= 0) (void)!write(file, text, (size_t)length);
}
