/* Binary heaps in arrays that belong to their owners, who also grow and shrink them: the place of element I's children
 * is 2 I + 1 and 2 I + 2, and no element stands above one that should be above it. (heap.h is about memory.)
 *
 *     static bool is_sooner(const struct stop *a, const struct stop *b, const void *context);
 *     BASE_BINARY_HEAP(stops, struct stop, is_sooner)
 *
 * makes three static functions, in which what decides can be inlined. IS_ABOVE is a strict order; CONTEXT is
 * handed to it and to nobody else. Elements are copied, never compared with themselves.
 *
 *     stops_up(items, at, item, context)            ITEM comes to the free place AT, the last one, or above it
 *     stops_down(items, count, at, item, context)   ITEM comes to the free place AT of COUNT, or below it; COUNT 0:
 *                                                   nothing is written
 *     stops_make(items, count, context)             COUNT elements in any order become a heap
 *
 * To take the first of COUNT: keep items[0], then stops_down(items, count - 1, 0, items[count - 1], context). */
#ifndef BASE_BINARY_HEAP_H
#define BASE_BINARY_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#define BASE_BINARY_HEAP(NAME, TYPE, IS_ABOVE)                                                   \
  static inline __attribute__((unused)) void NAME##_up(TYPE *items, size_t at, TYPE item,        \
                                                       const void *context) {                    \
    for (; at > 0 && IS_ABOVE(&item, &items[(at - 1) / 2], context); at = (at - 1) / 2)          \
      items[at] = items[(at - 1) / 2];                                                           \
    items[at] = item;                                                                            \
  }                                                                                              \
  static inline __attribute__((unused)) void NAME##_down(TYPE *items, size_t count, size_t at,   \
                                                         TYPE item, const void *context) {       \
    for (size_t child; (child = 2 * at + 1) < count; at = child) {                               \
      if (child + 1 < count) child += IS_ABOVE(&items[child + 1], &items[child], context);       \
      if (!IS_ABOVE(&items[child], &item, context)) break;                                       \
      items[at] = items[child];                                                                  \
    }                                                                                            \
    if (count > 0) items[at] = item;                                                             \
  }                                                                                              \
  static inline                                                                                  \
      __attribute__((unused)) void NAME##_make(TYPE *items, size_t count, const void *context) { \
    for (size_t at = count / 2; at-- > 0;) NAME##_down(items, count, at, items[at], context);    \
  }                                                                                              \
  struct base_binary_heap_##NAME /* takes the semicolon */

#endif
