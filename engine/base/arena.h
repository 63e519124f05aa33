/* Arenas: memory by lifetime (process, session, statement, network). Everything allocated in an
 * arena goes when the arena goes; nothing in it is freed alone. Running out of memory aborts with a
 * message: the callers of this library cannot do anything useful then, and the database is safe
 * (its transaction is rolled back by SQLite).                                                      */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct base_arena;

struct base_arena *base_arena_new(void);
/* Frees the arena and all that was allocated in it. NULL is accepted. */
void base_arena_free(struct base_arena *arena);
/* Forgets all allocations and keeps the first block for reuse. */
void base_arena_reset(struct base_arena *arena);

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

/* Heap allocation that aborts instead of returning NULL, with overflow checks. Free with free(). */
void *base_xmalloc(size_t size);
void *base_xcalloc(size_t count, size_t size);
void *base_xrealloc(void *old, size_t count, size_t size);
char *base_xstrdup(const char *text);

/* Grows the heap array *ARRAY (elements of SIZE bytes, *CAPACITY of them) so that it holds at least
 * NEEDED elements; doubles. New elements are not initialised.                                      */
void base_grow(void *array_pointer, size_t *capacity, size_t needed, size_t size);
/* The same by an eighth, and of more than a few KiB by a sixteenth, for arrays of which there is a piece for each live
 * tuple: what is not used counts there. */
void base_grow_little(void *array_pointer, size_t *capacity, size_t needed, size_t size);
/* Is an array for CAPACITY elements of SIZE bytes much too large for the COUNT that are left of them? Sixteen times as
 * large at least; and not small (64 KiB), so that what comes and goes with each batch is not allocated anew. */
static inline bool base_is_roomy(size_t capacity, size_t count, size_t size) {
  return count < capacity / 16 && capacity * size >= (size_t)64 << 10;
}
/* Then room for four times as many is kept: call it as elements are taken away, one after the other. */
void base_shrink(void *array_pointer, size_t *capacity, size_t count, size_t size);
/* The same as base_grow for arrays that may become very large: the system is asked for large pages then, because a
 * small one costs as much as filling it. */
void base_grow_large(void *array_pointer, size_t *capacity, size_t needed, size_t size);

#endif
