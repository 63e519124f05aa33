/* Open addressing with linear probing. Taking an entry out moves those behind it up, so that there are no
 * marks of what was there, and a table that lives for long stays as quick as it is full. */
#include "tquel/serve/table.h"

#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"

static size_t home_of(const struct server_table *table, uint64_t key) {
  return (size_t)base_mix(key) & (table->capacity - 1);
}

/* Where KEY is, or the free place where it would be. */
static struct server_entry *place_of(const struct server_table *table, uint64_t key) {
  size_t at = home_of(table, key);
  while (table->entries[at].key != 0 && table->entries[at].key != key)
    at = (at + 1) & (table->capacity - 1);
  return &table->entries[at];
}

struct server_entry *server_table_find(const struct server_table *table, uint32_t key) {
  if (table->capacity == 0) return NULL;
  struct server_entry *entry = place_of(table, (uint64_t)key + 1);
  return entry->key ? entry : NULL;
}

static void grow(struct server_table *table) {
  struct server_table larger = {.capacity = table->capacity ? 2 * table->capacity : 16,
                                .count = table->count};
  larger.entries = base_xcalloc(larger.capacity, sizeof *larger.entries);
  for (size_t i = 0; i < table->capacity; i++)
    if (table->entries[i].key) *place_of(&larger, table->entries[i].key) = table->entries[i];
  free(table->entries);
  *table = larger;
}

struct server_entry *server_table_add(struct server_table *table, uint32_t key) {
  if (4 * (table->count + 1) > 3 * table->capacity) grow(table);
  struct server_entry *entry = place_of(table, (uint64_t)key + 1);
  if (!entry->key) {
    entry->key = (uint64_t)key + 1;
    table->count++;
  }
  return entry;
}

void server_table_remove(struct server_table *table, uint32_t key) {
  struct server_entry *entry = server_table_find(table, key);
  if (!entry) return;
  size_t mask = table->capacity - 1, free_place = (size_t)(entry - table->entries);
  for (size_t at = (free_place + 1) & mask; table->entries[at].key; at = (at + 1) & mask) {
    /* What lies between its home and here may move up to the free place if that lies there, too. */
    size_t home = home_of(table, table->entries[at].key);
    if (((at - home) & mask) < ((at - free_place) & mask)) continue;
    table->entries[free_place] = table->entries[at];
    free_place = at;
  }
  table->entries[free_place] = (struct server_entry){0};
  table->count--;
}

void server_table_done(struct server_table *table) {
  free(table->entries);
  *table = (struct server_table){0};
}
