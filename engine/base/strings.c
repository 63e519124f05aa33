/* The table of interned strings.
 *
 * Three parts: entries, indexed by id; slots, an open-addressing hash table of ids with linear
 * probing; chunks, in which the bytes lie one string after the other, each with its NUL.
 *
 *      bytes --hash--> slots[i] = id --> entries[id] --> text in a chunk
 *
 * Interning never moves a text. A sweep copies the marked strings into new chunks, frees the old
 * ones and builds the slots anew, so that there are no tombstones; ids of forgotten strings go on a
 * free list threaded through the entries and are given out again, last forgotten first.
 *
 * Invariants: slot value 0 means empty, for the empty string (id 0) is never in the slots; at most
 * half of the slots are used; an entry is free exactly when its text is NULL. */
#include "engine/base/strings.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/base/status.h"

#define CHUNK_SIZE    ((size_t)64 * 1024)
#define FIRST_SLOTS   ((size_t)256)
#define SWEEP_STRINGS ((size_t)4096)        /* a table that has doubled from less than this, or */
#define SWEEP_BYTES   ((size_t)1024 * 1024) /* from less than this, is not worth a sweep */
#define HASH_SEED     UINT64_C(0x7471756572795f31)

struct chunk {
  struct chunk *next;
  size_t size, used;
  char data[];
};

struct entry {
  const char *text; /* NULL: free */
  uint64_t length : 62;
  uint64_t marked : 1;
  uint64_t pinned : 1; /* held for the life of the table */
  uint32_t hash;       /* of a free entry: the next free id, 0 at the end of the list */
};

struct base_strings {
  struct entry *entries;
  size_t entry_count, entry_capacity;
  uint32_t first_free; /* 0: none */
  uint32_t *slots;
  size_t slot_count; /* a power of two */
  struct chunk *chunks;
  size_t count, bytes;             /* now */
  size_t count_swept, bytes_swept; /* after the last sweep */
  bool sweeping;
};

/* A text too large to share a chunk gets its own, behind the head, so that the head's rest is not
 * lost. */
static char *chunk_space(struct chunk **chunks, size_t size) {
  struct chunk *head = *chunks;
  if (!head || head->size - head->used < size) {
    bool own = size > CHUNK_SIZE / 4;
    size_t data_size = own ? size : CHUNK_SIZE;
    struct chunk *chunk = base_xmalloc(sizeof *chunk + data_size);
    chunk->size = data_size;
    chunk->used = 0;
    if (own && head) {
      chunk->next = head->next;
      head->next = chunk;
    } else {
      chunk->next = head;
      *chunks = chunk;
    }
    head = chunk;
  }
  char *space = head->data + head->used;
  head->used += size;
  return space;
}

static const char *chunk_copy(struct chunk **chunks, const char *text, size_t length) {
  BASE_CHECK(length < SIZE_MAX / 4, "strings-length");
  char *copy = chunk_space(chunks, length + 1);
  if (length) memcpy(copy, text, length);
  copy[length] = 0;
  return copy;
}

static void chunks_free(struct chunk *chunk) {
  while (chunk) {
    struct chunk *next = chunk->next;
    free(chunk);
    chunk = next;
  }
}

/* The slot of the string, or the empty slot where it belongs. */
static size_t find_slot(const struct base_strings *strings, const char *text, size_t length,
                        uint32_t hash) {
  size_t mask = strings->slot_count - 1;
  size_t slot = (size_t)hash & mask;
  for (; strings->slots[slot]; slot = (slot + 1) & mask) {
    const struct entry *entry = &strings->entries[strings->slots[slot]];
    if (entry->hash == hash && entry->length == length && memcmp(entry->text, text, length) == 0)
      break;
  }
  return slot;
}

static void rebuild_slots(struct base_strings *strings, size_t slot_count) {
  free(strings->slots);
  strings->slots = base_xcalloc(slot_count, sizeof *strings->slots);
  strings->slot_count = slot_count;
  size_t mask = slot_count - 1;
  for (uint32_t id = 1; id < strings->entry_count; id++) {
    if (!strings->entries[id].text) continue;
    size_t slot = (size_t)strings->entries[id].hash & mask;
    while (strings->slots[slot]) slot = (slot + 1) & mask;
    strings->slots[slot] = id;
  }
}

static uint32_t take_id(struct base_strings *strings) {
  uint32_t id = strings->first_free;
  if (id) {
    strings->first_free = strings->entries[id].hash;
    return id;
  }
  BASE_CHECK(strings->entry_count < UINT32_MAX, "strings-count");
  base_grow_little(&strings->entries, &strings->entry_capacity, strings->entry_count + 1,
                   sizeof *strings->entries);
  return (uint32_t)strings->entry_count++;
}

static struct entry *entry_of(const struct base_strings *strings, base_string_id id) {
  BASE_CHECK(id < strings->entry_count && strings->entries[id].text, "strings-id-known");
  return &strings->entries[id];
}

struct base_strings *base_strings_new(void) {
  struct base_strings *strings = base_xcalloc(1, sizeof *strings);
  uint32_t empty = take_id(strings);
  strings->entries[empty] = (struct entry){.text = chunk_copy(&strings->chunks, "", 0)};
  strings->count = 1;
  strings->bytes = 1;
  rebuild_slots(strings, FIRST_SLOTS);
  return strings;
}

void base_strings_free(struct base_strings *strings) {
  if (!strings) return;
  chunks_free(strings->chunks);
  free(strings->entries);
  free(strings->slots);
  free(strings);
}

base_string_id base_strings_intern(struct base_strings *strings, const char *text, size_t length) {
  if (length == 0) return 0;
  uint32_t hash = (uint32_t)base_hash(text, length, HASH_SEED);
  size_t slot = find_slot(strings, text, length, hash);
  uint32_t id = strings->slots[slot];
  if (id) {
    /* Whoever interns during a sweep holds the id from now on. */
    if (strings->sweeping) strings->entries[id].marked = true;
    return id;
  }
  const char *copy = chunk_copy(&strings->chunks, text, length);
  id = take_id(strings);
  strings->entries[id] = (struct entry){
      .text = copy, .length = length & UINT64_MAX >> 2, .marked = strings->sweeping, .hash = hash};
  strings->slots[slot] = id;
  strings->count++;
  strings->bytes += length + 1;
  if (strings->count > strings->slot_count / 2) rebuild_slots(strings, strings->slot_count * 2);
  return id;
}

base_string_id base_strings_intern_text(struct base_strings *strings, const char *text) {
  return base_strings_intern(strings, text, strlen(text));
}

const char *base_strings_text(const struct base_strings *strings, base_string_id id,
                              size_t *ret_length) {
  const struct entry *entry = entry_of(strings, id);
  if (ret_length) *ret_length = entry->length;
  return entry->text;
}

int base_strings_compare(const struct base_strings *strings, base_string_id a, base_string_id b) {
  const struct entry *left = entry_of(strings, a), *right = entry_of(strings, b);
  if (a == b) return 0;
  size_t common = left->length < right->length ? left->length : right->length;
  int order = memcmp(left->text, right->text, common);
  if (order) return order;
  return (left->length > right->length) - (left->length < right->length);
}

size_t base_strings_count(const struct base_strings *strings) {
  return strings->count;
}

size_t base_strings_bytes(const struct base_strings *strings) {
  return strings->bytes;
}

size_t base_strings_memory(const struct base_strings *strings) {
  size_t bytes = strings->entry_capacity * sizeof *strings->entries +
                 strings->slot_count * sizeof *strings->slots;
  for (const struct chunk *chunk = strings->chunks; chunk; chunk = chunk->next)
    bytes += sizeof *chunk + chunk->size;
  return bytes;
}

static bool has_doubled(size_t now, size_t swept, size_t worth) {
  return now / 2 >= (swept > worth ? swept : worth);
}

bool base_strings_want_sweep(const struct base_strings *strings) {
  return has_doubled(strings->count, strings->count_swept, SWEEP_STRINGS) ||
         has_doubled(strings->bytes, strings->bytes_swept, SWEEP_BYTES);
}

void base_strings_sweep_begin(struct base_strings *strings) {
  BASE_CHECK(!strings->sweeping, "strings-one-sweep");
  strings->sweeping = true;
  for (size_t id = 0; id < strings->entry_count; id++)
    strings->entries[id].marked = strings->entries[id].pinned;
}

void base_strings_pin_all(struct base_strings *strings) {
  for (size_t id = 0; id < strings->entry_count; id++)
    if (strings->entries[id].text) strings->entries[id].pinned = true;
}

void base_strings_mark(struct base_strings *strings, base_string_id id) {
  BASE_CHECK(strings->sweeping, "strings-sweep-begun");
  entry_of(strings, id)->marked = true;
}

static void forget(struct base_strings *strings, uint32_t id) {
  struct entry *entry = &strings->entries[id];
  strings->count--;
  strings->bytes -= entry->length + 1;
  *entry = (struct entry){.hash = strings->first_free};
  strings->first_free = id;
}

size_t base_strings_sweep_end(struct base_strings *strings) {
  BASE_CHECK(strings->sweeping, "strings-sweep-begun");
  size_t before = strings->count;
  struct chunk *kept = NULL;
  strings->entries[0].marked = true;
  for (uint32_t id = 0; id < strings->entry_count; id++) {
    struct entry *entry = &strings->entries[id];
    if (!entry->text) continue;
    if (entry->marked)
      entry->text = chunk_copy(&kept, entry->text, entry->length);
    else
      forget(strings, id);
  }
  chunks_free(strings->chunks);
  strings->chunks = kept;
  size_t slot_count = FIRST_SLOTS;
  while (slot_count / 2 < strings->count) slot_count *= 2;
  rebuild_slots(strings, slot_count);
  strings->count_swept = strings->count;
  strings->bytes_swept = strings->bytes;
  strings->sweeping = false;
  return before - strings->count;
}
