/* Arenas and the heap allocation that never returns NULL.
 *
 * An arena is a list of blocks. The head is the block that small requests are cut from; a request
 * too big to share a block gets one of its own, put behind the head so that the rest of the head
 * is not lost. Blocks double in size up to a limit, so that a small arena costs little and a large
 * one few calls.
 *
 *      arena --> [head | used | free] --> [own block] --> [older block] --> ... --> [first]
 *
 * Invariants: every piece is aligned for any type and zeroed when handed out; two pieces never
 * share an address; `first` is the oldest block and the only one that a reset keeps. Under
 * AddressSanitizer what is not handed out is poisoned, so that an overrun or a use after a reset is
 * seen although the memory belongs to malloc as a whole. */
#include "engine/base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/base/status.h"

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISONS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISONS 1
#endif
#endif
#ifdef ARENA_POISONS
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(START, SIZE)   ((void)(START), (void)(SIZE))
#define ASAN_UNPOISON_MEMORY_REGION(START, SIZE) ((void)(START), (void)(SIZE))
#endif

#define ALIGNMENT       _Alignof(max_align_t)
#define FIRST_BLOCK     ((size_t)4096)
#define LARGEST_BLOCK   ((size_t)256 * 1024)
#define OWN_BLOCK_SHARE 4 /* a request above 1/4 of the next block's size gets its own */

struct block {
  struct block *next;
  size_t size; /* of data */
  size_t used; /* a multiple of ALIGNMENT */
  _Alignas(max_align_t) unsigned char data[];
};

struct base_arena {
  struct block *head;
  struct block *first;
  size_t next_size;
};

static _Noreturn void out_of_memory(size_t size) {
  fprintf(stderr, "out of memory: %zu bytes were asked for\n", size);
  abort();
}

static size_t multiply(size_t count, size_t size) {
  size_t product;
  if (__builtin_mul_overflow(count, size, &product)) out_of_memory(SIZE_MAX);
  return product;
}

/* No object may be larger than pointers can differ; malloc would refuse too, but not every
 * instrumented one returns. */
static size_t possible(size_t size) {
  if (size > PTRDIFF_MAX) out_of_memory(size);
  return size ? size : 1;
}

static struct block *block_new(size_t size) {
  if (size > PTRDIFF_MAX / 2) out_of_memory(size);
  struct block *block = base_xmalloc(sizeof *block + size);
  block->next = NULL;
  block->size = size;
  block->used = 0;
  ASAN_POISON_MEMORY_REGION(block->data, block->size);
  return block;
}

static void *block_cut(struct block *block, size_t size, size_t rounded) {
  void *piece = block->data + block->used;
  block->used += rounded;
  ASAN_UNPOISON_MEMORY_REGION(piece, size);
  memset(piece, 0, size);
  return piece;
}

struct base_arena *base_arena_new(void) {
  struct base_arena *arena = base_xmalloc(sizeof *arena);
  arena->head = arena->first = block_new(FIRST_BLOCK);
  arena->next_size = 2 * FIRST_BLOCK;
  return arena;
}

static void free_all_but(struct base_arena *arena, const struct block *kept) {
  struct block *next;
  for (struct block *block = arena->head; block; block = next) {
    next = block->next;
    if (block != kept) free(block);
  }
}

void base_arena_free(struct base_arena *arena) {
  if (!arena) return;
  free_all_but(arena, NULL);
  free(arena);
}

void base_arena_reset(struct base_arena *arena) {
  free_all_but(arena, arena->first);
  arena->head = arena->first;
  arena->first->used = 0;
  arena->next_size = 2 * FIRST_BLOCK;
  ASAN_POISON_MEMORY_REGION(arena->first->data, arena->first->size);
}

static struct block *own_block(struct base_arena *arena, size_t size) {
  struct block *block = block_new(size);
  /* The first block must stay the last of the list, so nothing goes behind it. */
  if (arena->head == arena->first) {
    block->next = arena->head;
    arena->head = block;
  } else {
    block->next = arena->head->next;
    arena->head->next = block;
  }
  return block;
}

void *base_arena_alloc(struct base_arena *arena, size_t size) {
  size_t rounded = (possible(size) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  struct block *head = arena->head;
  if (rounded <= head->size - head->used) return block_cut(head, size, rounded);
  if (rounded > arena->next_size / OWN_BLOCK_SHARE)
    return block_cut(own_block(arena, rounded), size, rounded);
  struct block *block = block_new(arena->next_size);
  if (arena->next_size < LARGEST_BLOCK) arena->next_size *= 2;
  block->next = arena->head;
  arena->head = block;
  return block_cut(block, size, rounded);
}

void *base_arena_array(struct base_arena *arena, size_t count, size_t size) {
  return base_arena_alloc(arena, multiply(count, size));
}

char *base_arena_strdup(struct base_arena *arena, const char *text) {
  return base_arena_strndup(arena, text, strlen(text));
}

char *base_arena_strndup(struct base_arena *arena, const char *text, size_t length) {
  if (length == SIZE_MAX) out_of_memory(length);
  char *copy = base_arena_alloc(arena, length + 1);
  if (length) memcpy(copy, text, length);
  return copy;
}

char *base_arena_printf(struct base_arena *arena, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = base_arena_vprintf(arena, format, args);
  va_end(args);
  return text;
}

char *base_arena_vprintf(struct base_arena *arena, const char *format, va_list args) {
  va_list measured;
  va_copy(measured, args);
  int length = vsnprintf(NULL, 0, format, measured);
  va_end(measured);
  BASE_CHECK(length >= 0, "arena-format");
  char *text = base_arena_alloc(arena, (size_t)length + 1);
  vsnprintf(text, (size_t)length + 1, format, args);
  return text;
}

void *base_xmalloc(size_t size) {
  void *memory = malloc(possible(size));
  if (!memory) out_of_memory(size);
  return memory;
}

void *base_xcalloc(size_t count, size_t size) {
  size_t total = multiply(count, size);
  void *memory = calloc(possible(total), 1);
  if (!memory) out_of_memory(total);
  return memory;
}

void *base_xrealloc(void *old, size_t count, size_t size) {
  size_t total = multiply(count, size);
  void *memory = realloc(old, possible(total));
  if (!memory) out_of_memory(total);
  return memory;
}

char *base_xstrdup(const char *text) {
  size_t size = strlen(text) + 1;
  return memcpy(base_xmalloc(size), text, size);
}

static void grow_to(void *array_pointer, size_t *capacity, size_t needed, size_t wanted,
                    size_t size) {
  if (wanted < needed) wanted = needed;
  if (wanted < 8) wanted = 8;
  /* The caller's pointer has a type of its own; copying its bytes keeps to the aliasing rules. */
  void *array;
  memcpy(&array, array_pointer, sizeof array);
  array = base_xrealloc(array, wanted, size);
  memcpy(array_pointer, &array, sizeof array);
  *capacity = wanted;
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
