/* Ordered multisets: see ordered.h. Insertion splits the tree at the new key where its priority wants it
 * to stand; removal merges the two halves below the node. Recursion is as deep as the tree, which is a few
 * times the logarithm of its size but for a chance that nobody meets.                               */
#include "engine/ordered.h"

#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/base/status.h"

enum { FIRST_NODES = 8 };

uint32_t net_key_slots(unsigned kept) {
  uint32_t slots = 0;
  for (unsigned part = NET_KEEP_START; part <= NET_KEEP_AT; part *= 2)
    if (kept & part) slots += part == NET_KEEP_START || part == NET_KEEP_STOP ? 2 : 1;
  return slots;
}

void net_ordered_init(struct net_ordered *sets, unsigned kept, net_ordered_compare_fn compare,
                      const void *context) {
  const unsigned integers =
      NET_KEEP_AT | NET_KEEP_START | NET_KEEP_STOP | (compare == NULL ? NET_KEEP_VALUE : 0);
  uint32_t slots = net_key_slots(kept);
  *sets = (struct net_ordered){
      .compare = compare,
      .context = context,
      .kept = kept,
      .whole = net_key_slots(kept & integers),
      .has_value = compare != NULL && (kept & NET_KEEP_VALUE) != 0,
      .slots = slots,
      .stride = sizeof(struct net_ordered_node) + slots * sizeof(struct net_packed_slot),
      .used = 1};
}

void net_ordered_done(struct net_ordered *sets) {
  for (size_t i = 0; i * NET_ORDERED_BLOCK < sets->capacity; i++) free(sets->blocks[i]);
  free(sets->blocks);
  sets->blocks = NULL;
  sets->capacity = sets->block_capacity = sets->holes = 0;
}

size_t net_ordered_bytes(const struct net_ordered *sets) {
  return (sets->capacity - sets->holes * NET_ORDERED_BLOCK) * sets->stride +
         sets->block_capacity * sizeof *sets->blocks;
}

static inline struct net_ordered_node *node_at(const struct net_ordered *sets, uint32_t index) {
  return net_ordered_node(sets, index);
}

/* Where it says what is left of the node at INDEX. */
static inline uint32_t *left_at(const struct net_ordered *sets, uint32_t index) {
  uint32_t *left = &node_at(sets, index)->left;
  return *left & NET_ORDERED_MANY ? &node_at(sets, *left & ~NET_ORDERED_MANY)->left : left;
}

static inline uint32_t left_of(const struct net_ordered *sets, uint32_t index) {
  return *left_at(sets, index);
}

static inline uint32_t priority(uint32_t index) {
  uint32_t x = index * 0x9e3779b1u;
  x = (x ^ x >> 15) * 0x85ebca6bu;
  return x ^ x >> 13;
}

/* The first block grows until it is as large as the others. */
static void grow(struct net_ordered *sets) {
  size_t block = sets->capacity / NET_ORDERED_BLOCK, room = NET_ORDERED_BLOCK;
  if (block == 0) room = sets->capacity ? sets->capacity * 2 : FIRST_NODES;
  base_grow(&sets->blocks, &sets->block_capacity, block + 1, sizeof *sets->blocks);
  bool fresh = sets->capacity % NET_ORDERED_BLOCK == 0;
  sets->blocks[block] = base_xrealloc(fresh ? NULL : sets->blocks[block], room, sets->stride);
  sets->capacity = block * NET_ORDERED_BLOCK + room;
}

static void list_free(struct net_ordered *sets, uint32_t index) {
  node_at(sets, index)->right = NET_ORDERED_NO_KEY;
  node_at(sets, index)->left = sets->free_list;
  sets->free_list = index;
}

/* The first block that is not there is there again. */
static void fill_hole(struct net_ordered *sets) {
  while (sets->blocks[sets->first_hole] != NULL) sets->first_hole++;
  size_t block = sets->first_hole;
  sets->blocks[block] = base_xrealloc(NULL, NET_ORDERED_BLOCK, sets->stride);
  sets->holes--;
  for (uint32_t i = NET_ORDERED_BLOCK; i-- > 0;)
    list_free(sets, (uint32_t)(block * NET_ORDERED_BLOCK) + i);
}

/* --- giving back */

enum { WORTH_IT = 2048, SHARE = 16 };

/* Are so few places used, and have so many been freed since the last look, or half of those that it found? */
static inline bool is_mostly_empty(const struct net_ordered *sets) {
  size_t room = sets->capacity - sets->holes * NET_ORDERED_BLOCK;
  if (room < WORTH_IT || sets->places * SHARE >= room) return false;
  return sets->removed * 2 > room || sets->places < sets->look_below;
}

/* Of each block, how many of its places are free. */
static unsigned char *count_free(const struct net_ordered *sets) {
  unsigned char *free_places = base_xcalloc(sets->capacity / NET_ORDERED_BLOCK, 1);
  for (uint32_t i = sets->free_list; i != 0; i = node_at(sets, i)->left)
    free_places[i / NET_ORDERED_BLOCK]++;
  return free_places;
}

/* Free places of blocks that go leave their list. */
static void unlist(struct net_ordered *sets, const unsigned char *free_places) {
  uint32_t *link = &sets->free_list;
  while (*link != 0) {
    if (free_places[*link / NET_ORDERED_BLOCK] == NET_ORDERED_BLOCK)
      *link = node_at(sets, *link)->left;
    else
      link = &node_at(sets, *link)->left;
  }
}

/* Blocks of which all places are free go. The first one stays: a place of it is never used. */
static void give_back(struct net_ordered *sets) {
  size_t blocks = sets->capacity / NET_ORDERED_BLOCK;
  unsigned char *free_places = count_free(sets);
  unlist(sets, free_places);
  for (size_t i = 0; i < blocks; i++) {
    if (free_places[i] < NET_ORDERED_BLOCK) continue;
    free(sets->blocks[i]);
    sets->blocks[i] = NULL;
    sets->holes++;
  }
  for (; sets->blocks[blocks - 1] == NULL; blocks--) sets->holes--;
  free(free_places);
  sets->capacity = blocks * NET_ORDERED_BLOCK;
  if (sets->used > sets->capacity) sets->used = sets->capacity;
  sets->first_hole = sets->removed = 0;
  sets->look_below = (sets->places + 1) / 2;
}

/* --- places */

static uint32_t new_place(struct net_ordered *sets) {
  sets->places++;
  if (sets->free_list == 0 && sets->holes > 0) fill_hole(sets);
  uint32_t index = sets->free_list;
  if (index != 0) {
    sets->free_list = node_at(sets, index)->left;
  } else {
    BASE_CHECK(sets->used < NET_ORDERED_MANY, "ordered-size");
    if (sets->used >= sets->capacity) grow(sets);
    index = (uint32_t)sets->used++;
  }
  return index;
}

static void free_place(struct net_ordered *sets, uint32_t index) {
  list_free(sets, index);
  sets->places--;
  sets->removed++;
  if (is_mostly_empty(sets)) give_back(sets);
}

static uint32_t new_node(struct net_ordered *sets, const struct net_packed_slot *key) {
  uint32_t index = new_place(sets);
  struct net_ordered_node *node = node_at(sets, index);
  node->left = node->right = 0;
  for (uint32_t i = 0; i < sets->slots; i++) node->key[i] = key[i];
  sets->live++;
  return index;
}

static void free_node(struct net_ordered *sets, uint32_t index) {
  uint32_t left = node_at(sets, index)->left;
  if (left & NET_ORDERED_MANY) free_place(sets, left & ~NET_ORDERED_MANY);
  free_place(sets, index);
  sets->live--;
}

/* --- how often a key is there, if not once */

static void count_one_more(struct net_ordered *sets, uint32_t index) {
  uint32_t left = node_at(sets, index)->left;
  if (left & NET_ORDERED_MANY) {
    node_at(sets, left & ~NET_ORDERED_MANY)->key[0].slot.i++;
    return;
  }
  uint32_t place = new_place(sets);
  struct net_ordered_node *many = node_at(sets, place);
  many->left = left;
  many->right = NET_ORDERED_NO_KEY;
  many->key[0].slot.i = 2;
  node_at(sets, index)->left = place | NET_ORDERED_MANY;
}

/* False: there is but one. */
static bool count_one_less(struct net_ordered *sets, uint32_t index) {
  uint32_t left = node_at(sets, index)->left;
  if (!(left & NET_ORDERED_MANY)) return false;
  uint32_t place = left & ~NET_ORDERED_MANY;
  struct net_ordered_node *many = node_at(sets, place);
  if (--many->key[0].slot.i > 1) return true;
  node_at(sets, index)->left = many->left;
  free_place(sets, place);
  return true;
}

/* --- the tree */

/* What is looked for. */
struct sought {
  struct net_packed_slot key[NET_KEEP_SLOTS];
  union net_slot value;
  uint32_t owner, index; /* where keys have places of their own */
};

static inline void seek(const struct net_ordered *sets, const struct net_ordered_key *key,
                        struct sought *ret) {
  net_key_pack(sets->kept, key, ret->key);
  ret->value = key->value;
}

static inline union net_slot value_at(const struct net_ordered *sets, uint32_t index) {
  if (sets->value != NULL) return sets->value(sets->context, *net_ordered_extra(sets, index));
  return node_at(sets, index)->key[sets->whole].slot;
}

static inline int compare_values(const struct net_ordered *sets, union net_slot a,
                                 union net_slot b) {
  return sets->compare != NULL ? sets->compare(sets->context, a, b) : (a.i > b.i) - (a.i < b.i);
}

static inline int compare_keys(const struct net_ordered *sets, const struct sought *sought,
                               uint32_t index) {
  const struct net_packed_slot *key = sought->key, *other = node_at(sets, index)->key;
  uint32_t whole = sets->whole;
  if (whole > 0 && key[0].slot.i != other[0].slot.i)
    return key[0].slot.i < other[0].slot.i ? -1 : 1;
  for (uint32_t i = 1; i < whole; i++)
    if (key[i].slot.i != other[i].slot.i) return key[i].slot.i < other[i].slot.i ? -1 : 1;
  return sets->has_value ? compare_values(sets, sought->value, value_at(sets, index)) : 0;
}

static inline int compare_owners(const struct net_ordered *sets, const struct sought *sought,
                                 uint32_t index) {
  int order = compare_keys(sets, sought, index);
  if (order != 0 || sets->extra == 0) return order;
  uint32_t other = *net_ordered_extra(sets, index);
  return (sought->owner > other) - (sought->owner < other);
}

/* As they are in order: no two are equal that have places of their own. */
static inline int compare(const struct net_ordered *sets, const struct sought *sought,
                          uint32_t index) {
  int order = compare_owners(sets, sought, index);
  if (order != 0 || sets->extra == 0) return order;
  return (sought->index > index) - (sought->index < index);
}

static uint32_t find(const struct net_ordered *sets, uint32_t root, const struct sought *sought) {
  while (root != 0) {
    int order = compare_keys(sets, sought, root);
    if (order == 0) break;
    root = order < 0 ? left_of(sets, root) : node_at(sets, root)->right;
  }
  return root;
}

/* The nodes of ROOT before what is SOUGHT and after it; none is equal. */
static void split(struct net_ordered *sets, uint32_t root, const struct sought *sought,
                  uint32_t *ret_before, uint32_t *ret_after) {
  if (root == 0) {
    *ret_before = *ret_after = 0;
    return;
  }
  if (compare(sets, sought, root) < 0) {
    uint32_t *left = left_at(sets, root);
    split(sets, *left, sought, ret_before, left);
    *ret_after = root;
  } else {
    uint32_t *right = &node_at(sets, root)->right;
    split(sets, *right, sought, right, ret_after);
    *ret_before = root;
  }
}

static uint32_t merge(struct net_ordered *sets, uint32_t before, uint32_t after) {
  if (before == 0) return after;
  if (after == 0) return before;
  if (priority(before) > priority(after)) {
    uint32_t *right = &node_at(sets, before)->right;
    *right = merge(sets, *right, after);
    return before;
  }
  uint32_t *left = left_at(sets, after);
  *left = merge(sets, before, *left);
  return after;
}

/* FRESH, which is what is SOUGHT, comes to the set at ROOT. */
static void take_in(struct net_ordered *sets, uint32_t *root, const struct sought *sought,
                    uint32_t fresh) {
  struct net_ordered_node *node = node_at(sets, fresh);
  uint32_t *place = root;
  while (*place != 0 && priority(*place) > priority(fresh))
    place =
        compare(sets, sought, *place) < 0 ? left_at(sets, *place) : &node_at(sets, *place)->right;
  split(sets, *place, sought, &node->left, &node->right);
  *place = fresh;
}

/* Where it says that what is SOUGHT is in the set at ROOT. */
static uint32_t *find_link(struct net_ordered *sets, uint32_t *root, const struct sought *sought) {
  uint32_t *place = root;
  for (;;) {
    BASE_CHECK(*place != 0, "ordered-remove");
    int order = compare(sets, sought, *place);
    if (order == 0) return place;
    place = order < 0 ? left_at(sets, *place) : &node_at(sets, *place)->right;
  }
}

static void take_out(struct net_ordered *sets, uint32_t *place) {
  *place = merge(sets, node_at(sets, *place)->left, node_at(sets, *place)->right);
}

bool net_ordered_insert(struct net_ordered *sets, uint32_t *root,
                        const struct net_ordered_key *key) {
  struct sought sought;
  seek(sets, key, &sought);
  uint32_t found = find(sets, *root, &sought);
  if (found != 0) {
    count_one_more(sets, found);
    return false;
  }
  take_in(sets, root, &sought, new_node(sets, sought.key));
  return true;
}

bool net_ordered_remove(struct net_ordered *sets, uint32_t *root,
                        const struct net_ordered_key *key) {
  struct sought sought;
  seek(sets, key, &sought);
  uint32_t *place = find_link(sets, root, &sought), found = *place;
  if (count_one_less(sets, found)) return false;
  take_out(sets, place);
  free_node(sets, found);
  return true;
}

uint32_t net_ordered_find(const struct net_ordered *sets, uint32_t root,
                          const struct net_ordered_key *key) {
  struct sought sought;
  seek(sets, key, &sought);
  return find(sets, root, &sought);
}

uint32_t net_ordered_first(const struct net_ordered *sets, uint32_t root) {
  while (root != 0 && left_of(sets, root) != 0) root = left_of(sets, root);
  return root;
}

uint32_t net_ordered_last(const struct net_ordered *sets, uint32_t root) {
  while (root != 0 && node_at(sets, root)->right != 0) root = node_at(sets, root)->right;
  return root;
}

uint32_t net_ordered_before(const struct net_ordered *sets, uint32_t root,
                            const struct net_ordered_key *key) {
  struct sought sought;
  seek(sets, key, &sought);
  uint32_t best = 0;
  while (root != 0) {
    bool after = compare_keys(sets, &sought, root) > 0;
    if (after) best = root;
    root = after ? node_at(sets, root)->right : left_of(sets, root);
  }
  return best;
}

uint32_t net_ordered_after(const struct net_ordered *sets, uint32_t root,
                           const struct net_ordered_key *key) {
  struct sought sought;
  seek(sets, key, &sought);
  uint32_t best = 0;
  while (root != 0) {
    bool before = compare_keys(sets, &sought, root) < 0;
    if (before) best = root;
    root = before ? left_of(sets, root) : node_at(sets, root)->right;
  }
  return best;
}

void net_ordered_clear(struct net_ordered *sets, uint32_t *root) {
  if (*root == 0) return;
  net_ordered_clear(sets, left_at(sets, *root));
  net_ordered_clear(sets, &node_at(sets, *root)->right);
  free_node(sets, *root);
  *root = 0;
}

/* --- keys that have places of their own */

void net_ordered_apart(struct net_ordered *sets, uint32_t extra, net_ordered_value_fn value) {
  sets->extra = extra;
  sets->value = value;
  sets->has_value = sets->has_value || value != NULL;
  sets->stride += extra * sizeof(uint32_t);
}

uint32_t net_ordered_make(struct net_ordered *sets, const struct net_ordered_key *key,
                          uint32_t owner) {
  struct net_packed_slot packed[NET_KEEP_SLOTS];
  net_key_pack(sets->kept, key, packed);
  uint32_t index = new_node(sets, packed);
  node_at(sets, index)->right = NET_ORDERED_ALONE;
  uint32_t *extra = net_ordered_extra(sets, index);
  *extra = owner;
  for (uint32_t i = 1; i < sets->extra; i++) extra[i] = 0;
  return index;
}

void net_ordered_free(struct net_ordered *sets, uint32_t index) {
  free_node(sets, index);
}

static void seek_place(const struct net_ordered *sets, uint32_t index, struct sought *ret) {
  const struct net_packed_slot *key = node_at(sets, index)->key;
  for (uint32_t i = 0; i < sets->slots; i++) ret->key[i] = key[i];
  if (sets->has_value) ret->value = value_at(sets, index);
  ret->owner = *net_ordered_extra(sets, index);
  ret->index = index;
}

bool net_ordered_link(struct net_ordered *sets, uint32_t *root, uint32_t index) {
  struct sought sought;
  seek_place(sets, index, &sought);
  bool first = find(sets, *root, &sought) == 0;
  take_in(sets, root, &sought, index);
  return first;
}

bool net_ordered_unlink(struct net_ordered *sets, uint32_t *root, uint32_t index) {
  struct sought sought;
  seek_place(sets, index, &sought);
  take_out(sets, find_link(sets, root, &sought));
  node_at(sets, index)->left = 0;
  node_at(sets, index)->right = NET_ORDERED_ALONE;
  return find(sets, *root, &sought) == 0;
}

uint32_t net_ordered_find_of(const struct net_ordered *sets, uint32_t root,
                             const struct net_ordered_key *key, uint32_t owner) {
  struct sought sought;
  seek(sets, key, &sought);
  sought.owner = owner;
  while (root != 0) {
    int order = compare_owners(sets, &sought, root);
    if (order == 0) break;
    root = order < 0 ? left_of(sets, root) : node_at(sets, root)->right;
  }
  return root;
}
