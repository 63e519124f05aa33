/* Row map: open addressing over indices into blocks of entries. See rowmap.h.
 *
 * An entry is a header, the row's slots, and the state. The table holds index + 1, or 0 for empty; the bits that an
 * index leaves say how far a place is from where its entry would like to be, its home. So of others than those of the
 * same home nothing is looked at, neither when something is looked for nor when it is removed, and the table may be
 * fairly full. Where there are so many entries that no bits are left, their hash says it.
 *
 * What is removed leaves no trace: entries behind it move up, and a map whose entries come and go allocates nothing.
 * A map of which a sixteenth is used gives back the blocks in which nothing lives, and most of its table, once as
 * many entries have been removed as half of it has: so that costs each of them next to nothing, also where many come
 * and go again and again. What still lives then may be in as many blocks as there are entries, and no other may ever
 * be removed: so it looks again whenever but half of those live that it found the last time.                  */
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

static size_t round_up(size_t size) {
  size_t alignment = sizeof(union net_slot);
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
  map->state_offset = small ? offsetof(struct net_rowmap_id_entry, small_state) : round_up(size);
  map->stride = small ? size : round_up(map->state_offset + map->state_size);
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

static void free_block(struct net_rowmap *map, size_t block) {
  if (map->blocks[block] != NULL) free(map->blocks[block] - front_of(map));
  map->blocks[block] = NULL;
}

void net_rowmap_done(struct net_rowmap *map) {
  for (size_t i = 0; i * NET_ROWMAP_BLOCK < map->capacity; i++) free_block(map, i);
  free(map->blocks);
  free(map->table);
  map->blocks = NULL;
  map->table = NULL;
  map->block_capacity = 0;
  map->used = map->capacity = map->live = map->table_size = map->holes = map->first_hole = 0;
  map->free_list = 0;
}

/* --- places */

static inline size_t home_of(const struct net_rowmap *map, uint64_t hash) {
  return (size_t)(((hash & UINT32_MAX) * map->table_size) >> 32);
}

static inline size_t place_after(const struct net_rowmap *map, size_t place) {
  return place + 1 == map->table_size ? 0 : place + 1;
}

/* Of the place that has WORD. */
static inline uint32_t index_in(const struct net_rowmap *map, uint32_t word) {
  return (uint32_t)(word & map->index_mask) - 1;
}

static inline uint32_t word_for(const struct net_rowmap *map, uint32_t index, size_t far) {
  uint64_t said = far < map->furthest ? far : map->furthest;
  return (uint32_t)(said << map->index_bits) | (index + 1);
}

/* Does WORD say that it is FAR from its home? Who says that it is very far may be further. */
static inline bool says_far(const struct net_rowmap *map, uint32_t word, size_t far) {
  uint32_t said = (uint32_t)((uint64_t)word >> map->index_bits);
  return said == far || (said == map->furthest && far > said);
}

/* How far WORD, at PLACE, is from its home. */
static inline size_t far_at(const struct net_rowmap *map, size_t place, uint32_t word) {
  uint32_t said = (uint32_t)((uint64_t)word >> map->index_bits);
  if (said < map->furthest) return said;
  size_t home = home_of(map, hash_at(map, index_in(map, word)));
  return place >= home ? place - home : place + map->table_size - home;
}

/* The place of the entry at INDEX, which has one. */
static size_t find_place(const struct net_rowmap *map, uint32_t index) {
  size_t place = home_of(map, hash_at(map, index));
  while (index_in(map, map->table[place]) != index) place = place_after(map, place);
  return place;
}

/* The entry at INDEX, of HASH, gets a place. */
static inline void take_place(struct net_rowmap *map, uint32_t index, uint64_t hash) {
  size_t place = home_of(map, hash), far = 0;
  for (; map->table[place] != 0; far++) place = place_after(map, place);
  map->table[place] = word_for(map, index, far);
}

/* Empties PLACE. Whatever stands behind it and would be looked for from there or before moves up. */
static void empty_place(struct net_rowmap *map, size_t place) {
  size_t gap = 1; /* from PLACE on */
  uint32_t word;
  for (size_t next = place_after(map, place); (word = map->table[next]) != 0;
       next = place_after(map, next), gap++) {
    size_t far = far_at(map, next, word);
    if (far < gap) continue;
    map->table[place] = word_for(map, index_in(map, word), far - gap);
    place = next;
    gap = 0;
  }
  map->table[place] = 0;
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
 * nothing has to be predicted. Of many it is full to three fifths at least, and three quarters at most. */
enum { FEW = 1024 };

static bool is_crowded(const struct net_rowmap *map) {
  if (map->live > FEW && !map->many) return true;
  return map->many ? map->live * 4 > map->table_size * 3 : map->live * 4 > map->table_size;
}

static void rebuild(struct net_rowmap *map) {
  size_t size = 16;
  map->many = map->many || map->live > FEW;
  while (!map->many && size < map->live * 8) size *= 2;
  if (map->many) size = map->live * 5 / 3;
  free(map->table);
  map->table = base_xcalloc(size, sizeof *map->table);
  map->table_size = size;
  map->index_bits = 1;
  /* an index is less than SIZE, or there are free ones before it */
  size_t indices = size > map->capacity ? size : map->capacity;
  while (indices >> map->index_bits != 0) map->index_bits++;
  map->index_mask = (uint32_t)((UINT64_C(1) << map->index_bits) - 1);
  map->furthest = (uint32_t)((UINT64_C(1) << 32 >> map->index_bits) - 1);
  for (uint32_t i = 0; (i = net_rowmap_next(map, i)) < map->used; i++)
    take_place(map, i, hash_at(map, i));
}

static uint32_t find_hash(const struct net_rowmap *map, const union net_slot *row, uint64_t hash) {
  if (map->table_size == 0) return NET_NO_ENTRY;
  size_t place = home_of(map, hash), far = 0;
  for (uint32_t word; (word = map->table[place]) != 0; place = place_after(map, place), far++) {
    if (!says_far(map, word, far)) continue;
    uint32_t index = index_in(map, word);
    if (entry_at(map, index)->hash == (uint32_t)hash &&
        key_equal(map, net_rowmap_row(map, index), row))
      return index;
  }
  return NET_NO_ENTRY;
}

/* The same for maps of NET_KEY_ID, which is not empty. */
static uint32_t find_id_hash(const struct net_rowmap *map, uint64_t hash) {
  size_t place = home_of(map, hash), far = 0;
  for (uint32_t word; (word = map->table[place]) != 0; place = place_after(map, place), far++) {
    if (says_far(map, word, far) && id_entry_at(map, index_in(map, word))->hash == hash)
      return index_in(map, word);
  }
  return NET_NO_ENTRY;
}

/* The same for maps of NET_KEY_SLOTS, which are asked most. */
static inline uint32_t find_slots(const struct net_rowmap *map, const union net_slot *row,
                                  uint64_t hash) {
  if (map->table_size == 0) return NET_NO_ENTRY;
  size_t place = home_of(map, hash), far = 0;
  uint32_t first =
      map->table[place] - 1; /* mostly it is at home, and its place says nothing else */
  if (first < map->index_mask && entry_at(map, first)->hash == (uint32_t)hash &&
      key_slots_equal(map, net_rowmap_row(map, first), row))
    return first;
  for (uint32_t word; (word = map->table[place]) != 0; place = place_after(map, place), far++) {
    if (!says_far(map, word, far)) continue;
    uint32_t index = index_in(map, word);
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

static void free_entry(struct net_rowmap *map, uint32_t index) {
  entry_at(map, index)->link = map->free_list;
  map->free_list = index + 1;
}

/* The first block that is not there is there again. */
static void fill_hole(struct net_rowmap *map) {
  while (map->blocks[map->first_hole] != NULL) map->first_hole++;
  size_t block = map->first_hole;
  map->blocks[block] =
      (unsigned char *)base_xmalloc(NET_ROWMAP_BLOCK * map->stride + front_of(map)) + front_of(map);
  map->holes--;
  for (uint32_t i = NET_ROWMAP_BLOCK; i-- > 0;)
    free_entry(map, (uint32_t)(block * NET_ROWMAP_BLOCK) + i);
}

static uint32_t new_entry(struct net_rowmap *map) {
  if (map->free_list == 0 && map->holes > 0) fill_hole(map);
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
  if (is_crowded(map))
    rebuild(map);
  else
    take_place(map, index, hash);
  return index;
}

/* --- giving back */

enum { WORTH_IT = 2048, SHARE = 16 };

/* Have so many entries been removed from a map of which LIVE are used that it is worth to look at it? */
static inline bool is_mostly_empty(const struct net_rowmap *map, size_t live) {
  if (map->capacity < WORTH_IT) return false;
  size_t room = map->capacity - map->holes * NET_ROWMAP_BLOCK;
  if (room < WORTH_IT || live * SHARE >= room) return false;
  return map->removed * 2 > room || live < map->look_below;
}

static bool is_empty(const struct net_rowmap *map, size_t block) {
  size_t first = block * NET_ROWMAP_BLOCK;
  for (size_t i = first; map->blocks[block] != NULL && i < first + NET_ROWMAP_BLOCK; i++)
    if (net_rowmap_live(map, (uint32_t)i)) return false;
  return true;
}

/* Frees the entries of BLOCK that are not used, so that the first one is taken first. */
static void free_unused(struct net_rowmap *map, size_t block) {
  size_t first = block * NET_ROWMAP_BLOCK, end = first + NET_ROWMAP_BLOCK;
  for (size_t i = end < map->used ? end : map->used; i-- > first;)
    if (!net_rowmap_live(map, (uint32_t)i)) free_entry(map, (uint32_t)i);
}

/* Blocks in which nothing lives go. Free entries of the others are taken in their order, the first ones first, so that
 * more blocks become empty behind them. */
static void give_back(struct net_rowmap *map) {
  size_t blocks = map->capacity / NET_ROWMAP_BLOCK;
  map->removed = 0;
  map->look_below = (map->live + 1) / 2;
  for (size_t i = 0; i < blocks; i++)
    if (is_empty(map, i)) free_block(map, i);
  while (blocks > 0 && map->blocks[blocks - 1] == NULL) blocks--;
  map->capacity = blocks * NET_ROWMAP_BLOCK;
  if (map->used > map->capacity) map->used = map->capacity;
  map->holes = map->first_hole = 0;
  map->free_list = 0;
  for (size_t i = blocks; i-- > 0;) {
    if (map->blocks[i] != NULL)
      free_unused(map, i);
    else
      map->holes++;
  }
  map->many = false;
  rebuild(map);
}

void net_rowmap_clear(struct net_rowmap *map) {
  /* Everything goes, so nothing moves up. */
  for (uint32_t i = 0; (i = net_rowmap_next(map, i)) < map->used; i++)
    map->table[find_place(map, i)] = 0;
  map->removed += map->live;
  bool much = is_mostly_empty(map, map->live);
  map->live = 0;
  if (much || map->holes > 0) {
    for (uint32_t i = 0; (i = net_rowmap_next(map, i)) < map->used; i++) free_entry(map, i);
    give_back(map);
  }
  map->used = 0;
  map->free_list = 0;
}

/* --- looking up */

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

void net_rowmap_remove(struct net_rowmap *map, uint32_t index) {
  struct net_rowmap_entry *entry = entry_at(map, index);
  BASE_CHECK(entry->link == NET_ROWMAP_LIVE, "rowmap-remove-dead");
  empty_place(map, find_place(map, index));
  free_entry(map, index);
  map->live--;
  map->removed++;
  if (is_mostly_empty(map, map->live)) give_back(map);
}

size_t net_rowmap_bytes(const struct net_rowmap *map) {
  size_t blocks = (map->capacity + NET_ROWMAP_BLOCK - 1) / NET_ROWMAP_BLOCK - map->holes;
  return (map->capacity - map->holes * NET_ROWMAP_BLOCK) * map->stride + blocks * front_of(map) +
         map->block_capacity * sizeof *map->blocks + map->table_size * sizeof *map->table;
}

void net_rowmap_mark_strings(const struct net_rowmap *map, struct base_strings *strings) {
  for (uint32_t f = 0; map->layout != NULL && f < map->layout->field_count; f++) {
    const struct net_field *field = &map->layout->fields[f];
    bool text = net_type_is_interned(field->type.base);
    if (!text || field->slot < map->first_slot || field->slot >= map->end_slot) continue;
    for (uint32_t i = 0; (i = net_rowmap_next(map, i)) < map->used; i++)
      base_strings_mark(strings, net_rowmap_row(map, i)[field->slot].s);
  }
}
