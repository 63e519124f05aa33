/* Ordered multisets: see ordered.h. Insertion splits the tree at the new key where its priority wants it
 * to stand; removal merges the two halves below the node. Recursion is as deep as the tree, which is a few
 * times the logarithm of its size but for a chance that nobody meets.                               */
#include "engine/ordered.h"

#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/base/status.h"

void net_ordered_init(struct net_ordered *sets, net_ordered_compare_fn compare,
                      const void *context) {
  *sets = (struct net_ordered){.compare = compare, .context = context, .used = 1};
}

void net_ordered_done(struct net_ordered *sets) {
  free(sets->nodes);
  sets->nodes = NULL;
}

size_t net_ordered_bytes(const struct net_ordered *sets) {
  return sets->capacity * sizeof *sets->nodes;
}

static inline uint32_t priority(uint32_t index) {
  uint32_t x = index * 0x9e3779b1u;
  x = (x ^ x >> 15) * 0x85ebca6bu;
  return x ^ x >> 13;
}

/* By half, as most of what is kept of a tuple may be here. */
static void add_room(struct net_ordered *sets) {
  size_t capacity = sets->capacity + sets->capacity / 2 + 8;
  sets->nodes = base_xrealloc(sets->nodes, capacity, sizeof *sets->nodes);
  sets->capacity = capacity;
}

static uint32_t new_node(struct net_ordered *sets, const struct net_ordered_key *key) {
  uint32_t index = sets->free_list;
  if (index != 0) {
    sets->free_list = sets->nodes[index].left;
  } else {
    BASE_CHECK(sets->used < UINT32_MAX, "ordered-size");
    if (sets->used >= sets->capacity) add_room(sets);
    index = (uint32_t)sets->used++;
  }
  sets->nodes[index] = (struct net_ordered_node){.key = *key, .count = 1};
  sets->live++;
  return index;
}

static void free_node(struct net_ordered *sets, uint32_t index) {
  sets->nodes[index].count = 0;
  sets->nodes[index].left = sets->free_list;
  sets->free_list = index;
  sets->live--;
}

static int compare(const struct net_ordered *sets, const struct net_ordered_key *key,
                   uint32_t index) {
  return sets->compare(sets->context, key, &sets->nodes[index].key);
}

static uint32_t find(const struct net_ordered *sets, uint32_t root,
                     const struct net_ordered_key *key) {
  while (root != 0) {
    int order = compare(sets, key, root);
    if (order == 0) break;
    root = order < 0 ? sets->nodes[root].left : sets->nodes[root].right;
  }
  return root;
}

/* The nodes of ROOT before KEY and after it; none is equal. */
static void split(struct net_ordered *sets, uint32_t root, const struct net_ordered_key *key,
                  uint32_t *ret_before, uint32_t *ret_after) {
  if (root == 0) {
    *ret_before = *ret_after = 0;
    return;
  }
  struct net_ordered_node *node = &sets->nodes[root];
  if (compare(sets, key, root) < 0) {
    split(sets, node->left, key, ret_before, &node->left);
    *ret_after = root;
  } else {
    split(sets, node->right, key, &node->right, ret_after);
    *ret_before = root;
  }
}

static uint32_t merge(struct net_ordered *sets, uint32_t before, uint32_t after) {
  if (before == 0) return after;
  if (after == 0) return before;
  struct net_ordered_node *a = &sets->nodes[before], *b = &sets->nodes[after];
  if (priority(before) > priority(after)) {
    a->right = merge(sets, a->right, after);
    return before;
  }
  b->left = merge(sets, before, b->left);
  return after;
}

bool net_ordered_insert(struct net_ordered *sets, uint32_t *root,
                        const struct net_ordered_key *key) {
  uint32_t found = find(sets, *root, key);
  if (found != 0) {
    sets->nodes[found].count++;
    return false;
  }
  uint32_t fresh = new_node(sets, key);
  struct net_ordered_node *node = &sets->nodes[fresh];
  uint32_t *place = root;
  while (*place != 0 && priority(*place) > priority(fresh))
    place = compare(sets, key, *place) < 0 ? &sets->nodes[*place].left : &sets->nodes[*place].right;
  split(sets, *place, key, &node->left, &node->right);
  *place = fresh;
  return true;
}

bool net_ordered_remove(struct net_ordered *sets, uint32_t *root,
                        const struct net_ordered_key *key) {
  uint32_t *place = root;
  for (;;) {
    BASE_CHECK(*place != 0, "ordered-remove");
    int order = compare(sets, key, *place);
    if (order == 0) break;
    place = order < 0 ? &sets->nodes[*place].left : &sets->nodes[*place].right;
  }
  uint32_t found = *place;
  if (--sets->nodes[found].count > 0) return false;
  *place = merge(sets, sets->nodes[found].left, sets->nodes[found].right);
  free_node(sets, found);
  return true;
}

const struct net_ordered_key *net_ordered_find(const struct net_ordered *sets, uint32_t root,
                                               const struct net_ordered_key *key) {
  while (root != 0) {
    int order = compare(sets, key, root);
    if (order == 0) return &sets->nodes[root].key;
    root = order < 0 ? sets->nodes[root].left : sets->nodes[root].right;
  }
  return NULL;
}

const struct net_ordered_key *net_ordered_first(const struct net_ordered *sets, uint32_t root) {
  if (root == 0) return NULL;
  while (sets->nodes[root].left != 0) root = sets->nodes[root].left;
  return &sets->nodes[root].key;
}

const struct net_ordered_key *net_ordered_last(const struct net_ordered *sets, uint32_t root) {
  if (root == 0) return NULL;
  while (sets->nodes[root].right != 0) root = sets->nodes[root].right;
  return &sets->nodes[root].key;
}

const struct net_ordered_key *net_ordered_before(const struct net_ordered *sets, uint32_t root,
                                                 const struct net_ordered_key *key) {
  uint32_t best = 0;
  while (root != 0) {
    bool after = compare(sets, key, root) > 0;
    if (after) best = root;
    root = after ? sets->nodes[root].right : sets->nodes[root].left;
  }
  return best == 0 ? NULL : &sets->nodes[best].key;
}

const struct net_ordered_key *net_ordered_after(const struct net_ordered *sets, uint32_t root,
                                                const struct net_ordered_key *key) {
  uint32_t best = 0;
  while (root != 0) {
    bool before = compare(sets, key, root) < 0;
    if (before) best = root;
    root = before ? sets->nodes[root].left : sets->nodes[root].right;
  }
  return best == 0 ? NULL : &sets->nodes[best].key;
}

void net_ordered_clear(struct net_ordered *sets, uint32_t *root) {
  if (*root == 0) return;
  net_ordered_clear(sets, &sets->nodes[*root].left);
  net_ordered_clear(sets, &sets->nodes[*root].right);
  free_node(sets, *root);
  *root = 0;
}
