/* Numbers that a peer has given to things, and what they stand for: a hash table with u32 keys. */
#ifndef TQL_SERVE_TABLE_H
#define TQL_SERVE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct server_entry {
  uint64_t key; /* the number + 1; 0: free */
  union {
    uint64_t word;
    void *pointer;
  } value;
};

struct server_table {
  struct server_entry *entries;
  size_t count, capacity; /* capacity: a power of two, or 0 */
};

/* What KEY stands for, or NULL. Good until the next change. */
struct server_entry *server_table_find(const struct server_table *table, uint32_t key);
/* Likewise, added if it is not there (then its value is 0). */
struct server_entry *server_table_add(struct server_table *table, uint32_t key);
void server_table_remove(struct server_table *table, uint32_t key);
void server_table_done(struct server_table *table);

#endif
