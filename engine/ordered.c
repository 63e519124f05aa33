/* Ordered multisets: see ordered.h. Insertion splits the tree at the new key where its priority wants it
 * to stand; removal merges the two halves below the node. Recursion is as deep as the tree, which is a few
 * times the logarithm of its size but for a chance that nobody meets.                               */
#include "engine/ordered.h"

#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/base/status.h"

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
  free(sets->nodes);
  sets->nodes = NULL;
}

size_t net_ordered_bytes(const struct net_ordered *sets) {
  return sets->capacity * sets->stride;
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

static uint32_t new_place(struct net_ordered *sets) {
  uint32_t index = sets->free_list;
  if (index != 0) {
    sets->free_list = node_at(sets, index)->left;
  } else {
    BASE_CHECK(sets->used < NET_ORDERED_MANY, "ordered-size");
    base_grow_little(&sets->nodes, &sets->capacity, sets->used + 1, sets->stride);
    index = (uint32_t)sets->used++;
  }
  return index;
}

static void free_place(struct net_ordered *sets, uint32_t index) {
  node_at(sets, index)->right = NET_ORDERED_NO_KEY;
  node_at(sets, index)->left = sets->free_list;
  sets->free_list = index;
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

static inline int compare(const struct net_ordered *sets, const struct net_packed_slot *key,
                          uint32_t index) {
  const struct net_packed_slot *other = node_at(sets, index)->key;
  uint32_t whole = sets->whole;
  if (whole > 0 && key[0].slot.i != other[0].slot.i)
    return key[0].slot.i < other[0].slot.i ? -1 : 1;
  for (uint32_t i = 1; i < whole; i++)
    if (key[i].slot.i != other[i].slot.i) return key[i].slot.i < other[i].slot.i ? -1 : 1;
  return sets->has_value ? sets->compare(sets->context, key[whole].slot, other[whole].slot) : 0;
}

static uint32_t find(const struct net_ordered *sets, uint32_t root,
                     const struct net_packed_slot *key) {
  while (root != 0) {
    int order = compare(sets, key, root);
    if (order == 0) break;
    root = order < 0 ? left_of(sets, root) : node_at(sets, root)->right;
  }
  return root;
}

/* The nodes of ROOT before KEY and after it; none is equal. */
static void split(struct net_ordered *sets, uint32_t root, const struct net_packed_slot *key,
                  uint32_t *ret_before, uint32_t *ret_after) {
  if (root == 0) {
    *ret_before = *ret_after = 0;
    return;
  }
  if (compare(sets, key, root) < 0) {
    uint32_t *left = left_at(sets, root);
    split(sets, *left, key, ret_before, left);
    *ret_after = root;
  } else {
    uint32_t *right = &node_at(sets, root)->right;
    split(sets, *right, key, right, ret_after);
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

bool net_ordered_insert(struct net_ordered *sets, uint32_t *root,
                        const struct net_ordered_key *key) {
  struct net_packed_slot packed[NET_KEEP_SLOTS];
  net_key_pack(sets->kept, key, packed);
  uint32_t found = find(sets, *root, packed);
  if (found != 0) {
    count_one_more(sets, found);
    return false;
  }
  uint32_t fresh = new_node(sets, packed);
  struct net_ordered_node *node = node_at(sets, fresh);
  uint32_t *place = root;
  while (*place != 0 && priority(*place) > priority(fresh))
    place =
        compare(sets, packed, *place) < 0 ? left_at(sets, *place) : &node_at(sets, *place)->right;
  split(sets, *place, packed, &node->left, &node->right);
  *place = fresh;
  return true;
}

bool net_ordered_remove(struct net_ordered *sets, uint32_t *root,
                        const struct net_ordered_key *key) {
  struct net_packed_slot packed[NET_KEEP_SLOTS];
  net_key_pack(sets->kept, key, packed);
  uint32_t *place = root;
  for (;;) {
    BASE_CHECK(*place != 0, "ordered-remove");
    int order = compare(sets, packed, *place);
    if (order == 0) break;
    place = order < 0 ? left_at(sets, *place) : &node_at(sets, *place)->right;
  }
  uint32_t found = *place;
  if (count_one_less(sets, found)) return false;
  *place = merge(sets, node_at(sets, found)->left, node_at(sets, found)->right);
  free_node(sets, found);
  return true;
}

uint32_t net_ordered_find(const struct net_ordered *sets, uint32_t root,
                          const struct net_ordered_key *key) {
  struct net_packed_slot packed[NET_KEEP_SLOTS];
  net_key_pack(sets->kept, key, packed);
  return find(sets, root, packed);
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
  struct net_packed_slot packed[NET_KEEP_SLOTS];
  net_key_pack(sets->kept, key, packed);
  uint32_t best = 0;
  while (root != 0) {
    bool after = compare(sets, packed, root) > 0;
    if (after) best = root;
    root = after ? node_at(sets, root)->right : left_of(sets, root);
  }
  return best;
}

uint32_t net_ordered_after(const struct net_ordered *sets, uint32_t root,
                           const struct net_ordered_key *key) {
  struct net_packed_slot packed[NET_KEEP_SLOTS];
  net_key_pack(sets->kept, key, packed);
  uint32_t best = 0;
  while (root != 0) {
    bool before = compare(sets, packed, root) < 0;
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
