/* The heap: allocation that never returns NULL, allocation that may, and arrays that grow.
 *
 * When the system has no memory any more, the reserve is given up (budget.h), what runs is told to unwind, and the
 * request is tried again. What cannot be met even so ends the process, with a message and status BASE_HEAP_EXIT: the
 * database is then as after a kill. What could do with less, or nothing, uses base_try_.
 * All is freed with free().                                                                         */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/* The status of a process that ended for want of memory. */
#define BASE_HEAP_EXIT 3

/* Heap allocation that ends the process instead of returning NULL, with overflow checks. */
void *base_xmalloc(size_t size);
void *base_xcalloc(size_t count, size_t size);
void *base_xrealloc(void *old, size_t count, size_t size);
char *base_xstrdup(const char *text);

/* The same, but NULL where even the reserve does not do. OLD is kept then. */
void *base_try_malloc(size_t size);
void *base_try_realloc(void *old, size_t count, size_t size);

/* SIZE bytes were asked for and are not to be had: says so and ends the process. */
_Noreturn void base_heap_exhausted(size_t size);

/* Grows the heap array *ARRAY (elements of SIZE bytes, *CAPACITY of them) so that it holds at least
 * NEEDED elements; doubles, or, where there is no room for that, adds a sixteenth. New elements are not
 * initialised.                                                                                      */
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

/* What was asked for since the budget looked last, and at how much it looks again. */
struct base_heap_count {
  size_t asked, look_at;
};
extern struct base_heap_count base_heap_count;

#endif
