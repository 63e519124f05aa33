/* Row map: open addressing over indices into blocks of entries. See rowmap.h.
 *
 * An entry is a header, the row's slots, and the state. The table holds index + 1,
 * or 0 for empty. What is removed leaves no trace: entries behind it move up, so that the table is as
 * large as the map ever was full, and a map whose entries come and go allocates nothing.           */
#include "engine/rowmap.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "engine/base/status.h"

enum { SMALL = sizeof((struct net_rowmap_id_entry *)NULL)->small_state };

static struct net_rowmap_entry *entry_at(const struct net_rowmap *map, uint32_t index) {
  return (struct net_rowmap_entry *)(void *)net_rowmap_entry(map, index);
}

static struct net_rowmap_id_entry *id_entry_at(const struct net_rowmap *map, uint32_t index) {
  return (struct net_rowmap_id_entry *)(void *)net_rowmap_entry(map, index);
}

static inline uint64_t hash_at(const struct net_rowmap *map, uint32_t index) {
  return map->key == NET_KEY_ID ? id_entry_at(map, index)->hash : entry_at(map, index)->hash;
}

/* For a state of STATE_SIZE, which is a multiple of what it must be aligned to. */
static size_t round_up(size_t size, size_t state_size) {
  size_t alignment = sizeof(int64_t);
  if (state_size > 0 && state_size % _Alignof(max_align_t) == 0) alignment = _Alignof(max_align_t);
  return (size + alignment - 1) / alignment * alignment;
}

static uint32_t width(const struct net_layout *layout) {
  return layout ? layout->slot_count : 0;
}

void net_rowmap_init(struct net_rowmap *map, const struct net_layout *layout,
                     enum net_rowmap_key key, uint32_t key_fields, const uint32_t *key_slots,
                     size_t key_count, size_t state_size) {
  memset(map, 0, sizeof *map);
  map->layout = layout;
  map->key = key;
  map->key_fields = key_fields;
  map->key_slots = key_slots;
  map->key_count = key_count;
  map->state_size = state_size;
  net_rowmap_keep(map, 0, width(layout));
}

void net_rowmap_keep(struct net_rowmap *map, uint32_t first, uint32_t end) {
  BASE_CHECK(map->capacity == 0 && first <= end && end <= width(map->layout), "rowmap-keep");
  bool by_id = map->key == NET_KEY_ID, small = by_id && map->state_size <= SMALL;
  size_t header = by_id ? sizeof(struct net_rowmap_id_entry) : sizeof(struct net_rowmap_entry);
  size_t size = header + (end - first) * sizeof(union net_slot);
  map->first_slot = first;
  map->end_slot = end;
  map->row_offset = (ptrdiff_t)header - (ptrdiff_t)(first * sizeof(union net_slot));
  map->state_offset =
      small ? offsetof(struct net_rowmap_id_entry, small_state) : round_up(size, map->state_size);
  map->stride = small ? size : round_up(map->state_offset + map->state_size, map->state_size);
}

static void keep_row(const struct net_rowmap *map, uint32_t index, const union net_slot *row) {
  memcpy(net_rowmap_row(map, index) + map->first_slot, row + map->first_slot,
         (map->end_slot - map->first_slot) * sizeof *row);
}

/* What of a block is in front of its entries: a row in the first of them has its slot 0 there. */
static size_t front_of(const struct net_rowmap *map) {
  size_t alignment = _Alignof(max_align_t);
  return (map->first_slot * sizeof(union net_slot) + alignment - 1) / alignment * alignment;
}

void net_rowmap_done(struct net_rowmap *map) {
  for (size_t i = 0; i * NET_ROWMAP_BLOCK < map->capacity; i++) free(map->blocks[i] - front_of(map));
  free(map->blocks);
  free(map->table);
  map->blocks = NULL;
  map->table = NULL;
  map->block_capacity = 0;
  map->used = map->capacity = map->live = map->table_size = 0;
  map->free_list = 0;
}

void net_rowmap_clear(struct net_rowmap *map) {
  for (uint32_t i = 0; i < map->used; i++) {
    const struct net_rowmap_entry *entry = entry_at(map, i);
    if (entry->link != NET_ROWMAP_LIVE) continue;
    /* Everything goes, so nothing moves up. */
    size_t place = (size_t)hash_at(map, i) & (map->table_size - 1);
    while (map->table[place] != i + 1) place = (place + 1) & (map->table_size - 1);
    map->table[place] = 0;
  }
  map->used = map->live = 0;
  map->free_list = 0;
}

static uint64_t slots_hash(const union net_slot *row, uint32_t slot, uint32_t count,
                           uint64_t seed) {
  for (uint32_t i = 0; i < count; i++) seed = base_hash_u64((uint64_t)row[slot + i].i, seed);
  return seed;
}

/* Slots from the first domain to the end of field KEY_FIELDS - 1. */
static uint32_t domain_slots(const struct net_rowmap *map) {
  const struct net_layout *layout = map->layout;
  if (map->key_fields >= layout->field_count) return layout->slot_count - layout->first_domain_slot;
  return layout->fields[map->key_fields].slot - layout->first_domain_slot;
}

/* One multiplication a slot; the shifts bring what it has mixed into the bits that choose a place. */
static inline uint64_t key_slots_hash(const struct net_rowmap *map, const union net_slot *row) {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (size_t i = 0; i < map->key_count; i++) {
    hash = (hash ^ (uint64_t)row[map->key_slots[i]].i) * 0xd6e8feb86659fd93u;
    hash ^= hash >> 32;
  }
  return hash;
}

static uint64_t key_hash(const struct net_rowmap *map, const union net_slot *row) {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  switch (map->key) {
    case NET_KEY_IDENTITY:
      return net_row_identity_hash(map->layout, row);
    case NET_KEY_DOMAINS:
      return slots_hash(row, map->layout->first_domain_slot, domain_slots(map), hash);
    case NET_KEY_SLOTS:
      return key_slots_hash(map, row);
    case NET_KEY_ID:
      break;
  }
  BASE_CHECK(false, "rowmap-key");
  return hash;
}

static inline bool key_slots_equal(const struct net_rowmap *map, const union net_slot *a,
                                   const union net_slot *b) {
  for (size_t i = 0; i < map->key_count; i++)
    if (a[map->key_slots[i]].i != b[map->key_slots[i]].i) return false;
  return true;
}

/* Of rows whose hash is the same. */
static bool key_equal(const struct net_rowmap *map, const union net_slot *a,
                      const union net_slot *b) {
  uint32_t first = map->layout ? map->layout->first_domain_slot : 0;
  switch (map->key) {
    case NET_KEY_IDENTITY:
      return net_row_same_identity(map->layout, a, b);
    case NET_KEY_DOMAINS:
      return memcmp(a + first, b + first, domain_slots(map) * sizeof *a) == 0;
    case NET_KEY_SLOTS:
      return key_slots_equal(map, a, b);
    case NET_KEY_ID:
      return true;
  }
  return false;
}

/* Few entries have a table of their own each four times over: who looks up finds what is looked for at once, and
 * nothing has to be predicted. */
enum { FEW = 1024 };

static bool is_crowded(const struct net_rowmap *map) {
  return map->live * (map->live <= FEW ? 4 : 2) > map->table_size;
}

static void rebuild(struct net_rowmap *map) {
  size_t size = 16;
  while (size < map->live * (map->live <= FEW ? 8 : 3)) size *= 2;
  free(map->table);
  map->table = base_xcalloc(size, sizeof *map->table);
  map->table_size = size;
  for (uint32_t i = 0; i < map->used; i++) {
    const struct net_rowmap_entry *entry = entry_at(map, i);
    if (entry->link != NET_ROWMAP_LIVE) continue;
    size_t place = (size_t)hash_at(map, i) & (size - 1);
    while (map->table[place] != 0) place = (place + 1) & (size - 1);
    map->table[place] = i + 1;
  }
}

static uint32_t find_hash(const struct net_rowmap *map, const union net_slot *row, uint64_t hash) {
  if (map->table_size == 0) return NET_NO_ENTRY;
  size_t place = (size_t)hash & (map->table_size - 1);
  for (; map->table[place] != 0; place = (place + 1) & (map->table_size - 1)) {
    uint32_t index = map->table[place] - 1;
    if (entry_at(map, index)->hash == (uint32_t)hash &&
        key_equal(map, net_rowmap_row(map, index), row))
      return index;
  }
  return NET_NO_ENTRY;
}

/* The same for maps of NET_KEY_ID, which is not empty. */
static uint32_t find_id_hash(const struct net_rowmap *map, uint64_t hash) {
  size_t mask = map->table_size - 1;
  for (size_t place = (size_t)hash & mask; map->table[place] != 0; place = (place + 1) & mask)
    if (id_entry_at(map, map->table[place] - 1)->hash == hash) return map->table[place] - 1;
  return NET_NO_ENTRY;
}

/* The same for maps of NET_KEY_SLOTS, which are asked most. */
static inline uint32_t find_slots(const struct net_rowmap *map, const union net_slot *row,
                                  uint64_t hash) {
  if (map->table_size == 0) return NET_NO_ENTRY;
  size_t mask = map->table_size - 1;
  for (size_t place = (size_t)hash & mask; map->table[place] != 0; place = (place + 1) & mask) {
    uint32_t index = map->table[place] - 1;
    if (entry_at(map, index)->hash == (uint32_t)hash &&
        key_slots_equal(map, net_rowmap_row(map, index), row))
      return index;
  }
  return NET_NO_ENTRY;
}

uint32_t net_rowmap_find(const struct net_rowmap *map, const union net_slot *row) {
  if (map->live == 0) return NET_NO_ENTRY;
  return find_hash(map, row, key_hash(map, row));
}

/* The first block grows until it is as large as the others. */
static void add_room(struct net_rowmap *map) {
  size_t block = map->capacity / NET_ROWMAP_BLOCK, room = NET_ROWMAP_BLOCK;
  if (map->capacity < NET_ROWMAP_BLOCK) room = map->capacity ? map->capacity * 2 : 8;
  base_grow(&map->blocks, &map->block_capacity, block + 1, sizeof *map->blocks);
  bool fresh = map->capacity % NET_ROWMAP_BLOCK == 0;
  unsigned char *memory = fresh ? NULL : map->blocks[block] - front_of(map);
  map->blocks[block] =
      (unsigned char *)base_xrealloc(memory, room * map->stride + front_of(map), 1) + front_of(map);
  map->capacity = block * NET_ROWMAP_BLOCK + room;
}

static uint32_t new_entry(struct net_rowmap *map) {
  if (map->free_list != 0) {
    uint32_t index = map->free_list - 1;
    map->free_list = entry_at(map, index)->link;
    return index;
  }
  if (map->used == map->capacity) {
    BASE_CHECK(map->used < UINT32_MAX - 1, "rowmap-size");
    add_room(map);
  }
  return (uint32_t)map->used++;
}

/* A new entry under HASH, with a copy of ROW and zeroed state. */
static uint32_t add(struct net_rowmap *map, const union net_slot *row, uint64_t hash) {
  uint32_t index = new_entry(map);
  struct net_rowmap_entry *entry = entry_at(map, index);
  memset(entry, 0, map->stride);
  if (map->key == NET_KEY_ID)
    id_entry_at(map, index)->hash = hash;
  else
    entry->hash = (uint32_t)hash;
  entry->link = NET_ROWMAP_LIVE;
  if (row != NULL) keep_row(map, index, row);
  map->live++;
  if (is_crowded(map)) {
    rebuild(map);
  } else {
    size_t place = (size_t)hash & (map->table_size - 1);
    while (map->table[place] != 0) place = (place + 1) & (map->table_size - 1);
    map->table[place] = index + 1;
  }
  return index;
}

uint32_t net_rowmap_put(struct net_rowmap *map, const union net_slot *row, bool *ret_new) {
  bool slots = map->key == NET_KEY_SLOTS;
  uint64_t hash = slots ? key_slots_hash(map, row) : key_hash(map, row);
  uint32_t index = slots ? find_slots(map, row, hash) : find_hash(map, row, hash);
  if (ret_new != NULL) *ret_new = index == NET_NO_ENTRY;
  return index == NET_NO_ENTRY ? add(map, row, hash) : index;
}

/* Ids are scattered so that none is lost: the hash of an id is that of no other, and says which. */
#define SCATTER 0x9e3779b97f4a7c15u
#define GATHER  0xf1de83e19937733du /* SCATTER * GATHER = 1 */

static uint64_t id_hash(uint64_t id) {
  uint64_t hash = id * SCATTER;
  return hash ^ hash >> 32;
}

uint64_t net_rowmap_id(const struct net_rowmap *map, uint32_t index) {
  uint64_t hash = id_entry_at(map, index)->hash;
  return (hash ^ hash >> 32) * GATHER;
}

uint32_t net_rowmap_find_id(const struct net_rowmap *map, uint64_t id) {
  BASE_CHECK(map->key == NET_KEY_ID && id != 0, "rowmap-id");
  return map->live == 0 ? NET_NO_ENTRY : find_id_hash(map, id_hash(id));
}

uint32_t net_rowmap_put_id(struct net_rowmap *map, uint64_t id, const union net_slot *row) {
  uint32_t index = net_rowmap_find_id(map, id);
  if (index == NET_NO_ENTRY) return add(map, row, id_hash(id));
  if (row != NULL) keep_row(map, index, row);
  return index;
}

/* Empties PLACE. Whatever stands behind it and would be looked for from there or before moves up. */
static void empty_place(struct net_rowmap *map, size_t place) {
  size_t mask = map->table_size - 1;
  for (size_t next = (place + 1) & mask; map->table[next] != 0; next = (next + 1) & mask) {
    size_t home = (size_t)hash_at(map, map->table[next] - 1) & mask;
    if (((next - home) & mask) < ((next - place) & mask)) continue;
    map->table[place] = map->table[next];
    place = next;
  }
  map->table[place] = 0;
}

void net_rowmap_remove(struct net_rowmap *map, uint32_t index) {
  struct net_rowmap_entry *entry = entry_at(map, index);
  BASE_CHECK(entry->link == NET_ROWMAP_LIVE, "rowmap-remove-dead");
  size_t place = (size_t)hash_at(map, index) & (map->table_size - 1);
  while (map->table[place] != index + 1) place = (place + 1) & (map->table_size - 1);
  empty_place(map, place);
  entry->link = map->free_list;
  map->free_list = index + 1;
  map->live--;
}

size_t net_rowmap_bytes(const struct net_rowmap *map) {
  size_t blocks = (map->capacity + NET_ROWMAP_BLOCK - 1) / NET_ROWMAP_BLOCK;
  return map->capacity * map->stride + blocks * front_of(map) +
         map->block_capacity * sizeof *map->blocks + map->table_size * sizeof *map->table;
}

void net_rowmap_mark_strings(const struct net_rowmap *map, struct base_strings *strings) {
  for (uint32_t f = 0; map->layout != NULL && f < map->layout->field_count; f++) {
    const struct net_field *field = &map->layout->fields[f];
    bool text = field->type.base == NET_STRING || field->type.base == NET_NAME;
    if (!text || field->slot < map->first_slot || field->slot >= map->end_slot) continue;
    for (uint32_t i = 0; i < map->used; i++)
      if (net_rowmap_live(map, i)) base_strings_mark(strings, net_rowmap_row(map, i)[field->slot].s);
  }
}
