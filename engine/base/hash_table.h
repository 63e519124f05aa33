/* Hash tables of elements that lie in the table itself: open addressing with linear probing. Taking one out moves those
 * behind it up, so there are no marks of what was there, and a table that lives for long stays as quick as it is full.
 * Rows of networks have tables of their own (engine/rowmap.h), interned strings too (strings.h).
 *
 *     struct thing { uint64_t number; ... };                  zeroed it is no element but a free place
 *     static bool is_free(const struct thing *thing);
 *     static uint64_t hash_of(const struct thing *thing, const void *context);
 *     static bool is_thing(const struct thing *thing, const void *key, const void *context);
 *     BASE_HASH_TABLE(things, struct thing, is_free, hash_of, is_thing)
 *
 * makes struct things, which is empty when it is zeroed, and these static functions. HASH is what hash_of says of an
 * element with that KEY; KEY and CONTEXT are handed on. Pointers to elements hold until the next change.
 *
 *     things_find(table, hash, key, context)    the element, or NULL
 *     things_place(table, hash, key, context)   the element, or a free place for it, which the caller fills
 *                                               before anything else; it counts already. The table owns its places
 *     things_remove(table, element, context)
 *     things_done(table)                        frees the places; then it is empty                              */
#ifndef BASE_HASH_TABLE_H
#define BASE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "engine/base/heap.h"

#define BASE_HASH_TABLE(NAME, TYPE, IS_FREE, HASH_OF, IS_SAME)                                   \
  struct NAME {                                                                                  \
    TYPE *items;                                                                                 \
    size_t count, capacity; /* capacity: a power of two, or 0 */                                 \
  };                                                                                             \
  BASE_HASH_FUNCTION TYPE *NAME##_at(const struct NAME *table, uint64_t hash, const void *key,   \
                                     const void *context) {                                      \
    size_t mask = table->capacity - 1, at = (size_t)hash & mask;                                 \
    while (!IS_FREE(&table->items[at]) && !IS_SAME(&table->items[at], key, context))             \
      at = (at + 1) & mask;                                                                      \
    return &table->items[at];                                                                    \
  }                                                                                              \
  BASE_HASH_FUNCTION TYPE *NAME##_find(const struct NAME *table, uint64_t hash, const void *key, \
                                       const void *context) {                                    \
    if (table->count == 0) return NULL;                                                          \
    TYPE *item = NAME##_at(table, hash, key, context);                                           \
    return IS_FREE(item) ? NULL : item;                                                          \
  }                                                                                              \
  BASE_HASH_FUNCTION void NAME##_grow(struct NAME *table, const void *context) {                 \
    struct NAME larger = {.count = table->count,                                                 \
                          .capacity = table->capacity ? 2 * table->capacity : 16};               \
    larger.items = base_xcalloc(larger.capacity, sizeof *larger.items);                          \
    for (size_t i = 0; i < table->capacity; i++) {                                               \
      if (IS_FREE(&table->items[i])) continue;                                                   \
      size_t at = (size_t)HASH_OF(&table->items[i], context) & (larger.capacity - 1);            \
      while (!IS_FREE(&larger.items[at])) at = (at + 1) & (larger.capacity - 1);                 \
      larger.items[at] = table->items[i];                                                        \
    }                                                                                            \
    free(table->items);                                                                          \
    *table = larger;                                                                             \
  }                                                                                              \
  BASE_HASH_FUNCTION TYPE *NAME##_place(struct NAME *table, uint64_t hash, const void *key,      \
                                        const void *context) {                                   \
    if (4 * (table->count + 1) > 3 * table->capacity) NAME##_grow(table, context);               \
    TYPE *item = NAME##_at(table, hash, key, context);                                           \
    table->count += IS_FREE(item);                                                               \
    return item;                                                                                 \
  }                                                                                              \
  BASE_HASH_FUNCTION void NAME##_remove(struct NAME *table, TYPE *item, const void *context) {   \
    size_t mask = table->capacity - 1, gap = (size_t)(item - table->items);                      \
    for (size_t at = (gap + 1) & mask; !IS_FREE(&table->items[at]); at = (at + 1) & mask) {      \
      /* Who stands here may move up to the gap if that lies between his home and here. */       \
      size_t home = (size_t)HASH_OF(&table->items[at], context) & mask;                          \
      if (((at - home) & mask) < ((at - gap) & mask)) continue;                                  \
      table->items[gap] = table->items[at];                                                      \
      gap = at;                                                                                  \
    }                                                                                            \
    table->items[gap] = (TYPE){0};                                                               \
    table->count--;                                                                              \
  }                                                                                              \
  BASE_HASH_FUNCTION void NAME##_done(struct NAME *table) {                                      \
    free(table->items);                                                                          \
    *table = (struct NAME){0};                                                                   \
  }                                                                                              \
  struct NAME /* takes the semicolon */

#define BASE_HASH_FUNCTION static inline __attribute__((unused))

#endif
