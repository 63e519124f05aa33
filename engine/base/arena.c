/* Arenas.
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
  size_t bytes; /* of all blocks */
};

/* No object may be larger than pointers can differ; malloc would refuse too, but not every
 * instrumented one returns. */
static size_t possible(size_t size) {
  if (size > PTRDIFF_MAX) base_heap_exhausted(size);
  return size ? size : 1;
}

static struct block *block_new(size_t size) {
  if (size > PTRDIFF_MAX / 2) base_heap_exhausted(size);
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
  arena->bytes = FIRST_BLOCK;
  return arena;
}

size_t base_arena_bytes(const struct base_arena *arena) {
  return arena->bytes;
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
  arena->bytes = arena->first->size;
  arena->next_size = 2 * FIRST_BLOCK;
  ASAN_POISON_MEMORY_REGION(arena->first->data, arena->first->size);
}

static struct block *own_block(struct base_arena *arena, size_t size) {
  struct block *block = block_new(size);
  arena->bytes += size;
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
  arena->bytes += arena->next_size;
  if (arena->next_size < LARGEST_BLOCK) arena->next_size *= 2;
  block->next = arena->head;
  arena->head = block;
  return block_cut(block, size, rounded);
}

void *base_arena_array(struct base_arena *arena, size_t count, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(count, size, &total)) base_heap_exhausted(SIZE_MAX);
  return base_arena_alloc(arena, total);
}

char *base_arena_strdup(struct base_arena *arena, const char *text) {
  return base_arena_strndup(arena, text, strlen(text));
}

char *base_arena_strndup(struct base_arena *arena, const char *text, size_t length) {
  if (length == SIZE_MAX) base_heap_exhausted(length);
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
