/* Heap allocation. See heap.h; what is counted, and what is done when there is none, is in budget.c. */
#include "engine/base/heap.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/base/budget.h"

/* Pieces of this size and above are looked at before they grow. */
#define WORTH_A_LOOK ((size_t)1 << 20)

void base_heap_exhausted(size_t size) {
  char text[160];
  int length = snprintf(text, sizeof text,
                        "error TQ-0514: out of memory: %zu bytes were asked for\n"
                        "hint: ask for less, or give the process more (ulimit -v, cgroups)\n",
                        size);
  if (length > 0) (void)!write(STDERR_FILENO, text, (size_t)length);
  _exit(BASE_HEAP_EXIT);
}

static size_t multiply(size_t count, size_t size) {
  size_t product;
  if (__builtin_mul_overflow(count, size, &product)) base_heap_exhausted(SIZE_MAX);
  return product;
}

/* No object may be larger than pointers can differ; malloc would refuse too, but not every
 * instrumented one returns. */
static size_t possible(size_t size) {
  if (size > PTRDIFF_MAX) base_heap_exhausted(size);
  return size ? size : 1;
}

static inline void count(size_t size) {
  base_heap_count.asked += size;
  if (base_heap_count.asked >= base_heap_count.look_at)
    base_budget_look(size >= WORTH_A_LOOK ? size : 0);
}

void *base_try_malloc(size_t size) {
  void *memory;
  size = possible(size);
  count(size);
  for (int i = 0; (memory = malloc(size)) == NULL && base_budget_relieve(i); i++) continue;
  return memory;
}

static void *try_calloc(size_t number, size_t size) {
  void *memory;
  size_t total = possible(multiply(number, size));
  count(total);
  for (int i = 0; (memory = calloc(total, 1)) == NULL && base_budget_relieve(i); i++) continue;
  return memory;
}

/* Of an array that grows, what comes to it counts. */
static void count_more(const void *old, size_t total) {
  size_t before = old == NULL || total < WORTH_A_LOOK ? 0 : malloc_usable_size((void *)old);
  count(total > before ? total - before : 0);
}

void *base_try_realloc(void *old, size_t number, size_t size) {
  void *memory;
  size_t total = possible(multiply(number, size));
  count_more(old, total);
  for (int i = 0; (memory = realloc(old, total)) == NULL && base_budget_relieve(i); i++) continue;
  return memory;
}

void *base_xmalloc(size_t size) {
  void *memory = base_try_malloc(size);
  if (!memory) base_heap_exhausted(size);
  return memory;
}

void *base_xcalloc(size_t number, size_t size) {
  void *memory = try_calloc(number, size);
  if (!memory) base_heap_exhausted(number * size);
  return memory;
}

void *base_xrealloc(void *old, size_t number, size_t size) {
  void *memory = base_try_realloc(old, number, size);
  if (!memory) base_heap_exhausted(number * size);
  return memory;
}

char *base_xstrdup(const char *text) {
  size_t size = strlen(text) + 1;
  return memcpy(base_xmalloc(size), text, size);
}

/* --- arrays */

/* WANTED elements are no less than NEEDED. Where there is no room for so many, or the system does not give it, a
 * few more than are needed do: so what has used half of its budget does not fail for want of the other half. */
static void *grow_large(void *array, size_t *capacity, size_t needed, size_t wanted, size_t size) {
  size_t enough = needed + needed / 16;
  if (enough < needed || enough > wanted) enough = needed;
  size_t more = multiply(wanted - *capacity, size);
  if (base_budget_has_room(more)) {
    size_t total = possible(multiply(wanted, size));
    count(more);
    void *grown = realloc(array, total);
    if (grown != NULL) {
      *capacity = wanted;
      return grown;
    }
  }
  void *grown = base_try_realloc(array, enough, size);
  *capacity = grown != NULL ? enough : needed;
  return grown != NULL ? grown : base_xrealloc(array, needed, size);
}

static void grow_to(void *array_pointer, size_t *capacity, size_t needed, size_t wanted,
                    size_t size) {
  if (wanted < needed) wanted = needed;
  if (wanted < 8) wanted = 8;
  /* The caller's pointer has a type of its own; copying its bytes keeps to the aliasing rules. */
  void *array;
  memcpy(&array, array_pointer, sizeof array);
  if (wanted > *capacity && (wanted - *capacity) > WORTH_A_LOOK / (size ? size : 1)) {
    array = grow_large(array, capacity, needed, wanted, size);
  } else {
    array = base_xrealloc(array, wanted, size);
    *capacity = wanted;
  }
  memcpy(array_pointer, &array, sizeof array);
}

void base_grow(void *array_pointer, size_t *capacity, size_t needed, size_t size) {
  if (needed <= *capacity) return;
  size_t wanted = *capacity > SIZE_MAX / 2 ? needed : *capacity * 2;
  grow_to(array_pointer, capacity, needed, wanted, size);
}

/* What is small is grown in larger steps: a few bytes are not worth the call. */
#define SMALL ((size_t)16 << 10)

void base_grow_little(void *array_pointer, size_t *capacity, size_t needed, size_t size) {
  if (needed <= *capacity) return;
  size_t step = *capacity * size < SMALL ? *capacity / 8 : *capacity / 16;
  grow_to(array_pointer, capacity, needed, *capacity + step, size);
}

void base_shrink(void *array_pointer, size_t *capacity, size_t count, size_t size) {
  if (!base_is_roomy(*capacity, count, size)) return;
  grow_to(array_pointer, capacity, count, 4 * count, size);
}

/* Advice alone: where there are no large pages nothing comes of it. Whole pages, so that what malloc has
 * mapped stays one mapping, which can be moved without copying. */
static void advise_large(void *array, size_t size) {
#ifdef MADV_HUGEPAGE
  const uintptr_t page = 4096;
  uintptr_t first = (uintptr_t)array & ~(page - 1);
  uintptr_t end = ((uintptr_t)array + size + page - 1) & ~(page - 1);
  (void)madvise((void *)first, end - first, MADV_HUGEPAGE);
#else
  (void)array;
  (void)size;
#endif
}

#define LARGE ((size_t)8 << 20)

void base_grow_large(void *array_pointer, size_t *capacity, size_t needed, size_t size) {
  if (needed <= *capacity) return;
  base_grow(array_pointer, capacity, needed, size);
  if (*capacity * size < LARGE) return;
  void *array;
  memcpy(&array, array_pointer, sizeof array);
  advise_large(array, *capacity * size);
}
