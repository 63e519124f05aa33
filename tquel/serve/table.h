/* Numbers that a peer has given to things, and what they stand for. */
#ifndef TQL_SERVE_TABLE_H
#define TQL_SERVE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/env.h"
#include "engine/base/hash_table.h"

struct server_entry {
  uint64_t key; /* the number + 1; 0: free */
  union {
    uint64_t word;
    void *pointer;
  } value;
};

static inline bool server_entry_is_free(const struct server_entry *entry) {
  return entry->key == 0;
}

static inline uint64_t server_entry_hash(const struct server_entry *entry, const void *context) {
  (void)context;
  return base_mix(entry->key);
}

static inline bool server_entry_is(const struct server_entry *entry, const void *key,
                                   const void *context) {
  (void)context;
  return entry->key == *(const uint64_t *)key;
}
BASE_HASH_TABLE(server_entries, struct server_entry, server_entry_is_free, server_entry_hash,
                server_entry_is);

struct server_table {
  struct server_entries entries;
};

/* What NUMBER stands for, or NULL. Good until the next change. */
static inline struct server_entry *server_table_find(const struct server_table *table,
                                                     uint32_t number) {
  uint64_t key = (uint64_t)number + 1;
  return server_entries_find(&table->entries, base_mix(key), &key, NULL);
}

/* Likewise, added if it is not there (then its value is 0). */
static inline struct server_entry *server_table_add(struct server_table *table, uint32_t number) {
  uint64_t key = (uint64_t)number + 1;
  struct server_entry *entry = server_entries_place(&table->entries, base_mix(key), &key, NULL);
  entry->key = key;
  return entry;
}

static inline void server_table_remove(struct server_table *table, uint32_t number) {
  struct server_entry *entry = server_table_find(table, number);
  if (entry != NULL) server_entries_remove(&table->entries, entry, NULL);
}

static inline void server_table_done(struct server_table *table) {
  server_entries_done(&table->entries);
}

#endif
