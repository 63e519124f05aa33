/* Arenas: memory by lifetime (process, session, statement, network). Everything allocated in an
 * arena goes when the arena goes; nothing in it is freed alone. Memory that runs out: see heap.h, which comes
 * with this.                                                                                       */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "engine/base/heap.h"

struct base_arena;

struct base_arena *base_arena_new(void);
/* Frees the arena and all that was allocated in it. NULL is accepted. */
void base_arena_free(struct base_arena *arena);
/* Forgets all allocations and keeps the first block for reuse. */
void base_arena_reset(struct base_arena *arena);

/* How many bytes the arena has taken of the heap. */
size_t base_arena_bytes(const struct base_arena *arena);

/* SIZE bytes, zeroed, aligned for any type. SIZE 0 gives a valid unique pointer. */
void *base_arena_alloc(struct base_arena *arena, size_t size);
void *base_arena_array(struct base_arena *arena, size_t count, size_t size); /* checks overflow */
char *base_arena_strdup(struct base_arena *arena, const char *text);
char *base_arena_strndup(struct base_arena *arena, const char *text, size_t length);
char *base_arena_printf(struct base_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
char *base_arena_vprintf(struct base_arena *arena, const char *format, va_list args);

#define BASE_NEW(ARENA, TYPE) ((TYPE *)base_arena_alloc((ARENA), sizeof(TYPE)))
#define BASE_NEW_ARRAY(ARENA, COUNT, TYPE) \
  ((TYPE *)base_arena_array((ARENA), (COUNT), sizeof(TYPE)))

#endif
