#include "engine/key.h"

struct net_key net_key_copy(struct base_arena *arena, const struct net_key *key) {
  uint32_t *fields = BASE_NEW_ARRAY(arena, key->count, uint32_t);
  for (size_t i = 0; i < key->count; i++) fields[i] = key->fields[i];
  return (struct net_key){fields, key->count};
}

struct net_key net_key_named(struct base_arena *arena, const struct net_layout *layout,
                             const char *const *names, size_t count) {
  uint32_t *fields = BASE_NEW_ARRAY(arena, count, uint32_t);
  struct net_key key = {fields, 0};
  for (size_t i = 0; i < count; i++) {
    int field = net_layout_find(layout, names[i]);
    if (field >= 0) fields[key.count++] = (uint32_t)field;
  }
  return key;
}

bool net_key_same(const struct net_layout *layout, const struct net_key *key,
                  const struct net_layout *other, const struct net_key *other_key) {
  if (key->count != other_key->count) return false;
  for (size_t i = 0; i < key->count; i++) {
    int field = net_layout_find(other, layout->fields[key->fields[i]].name);
    if (field < 0 || !net_key_has(other_key, (uint32_t)field)) return false;
  }
  return true;
}

void net_key_print(struct base_buffer *out, const struct net_layout *layout,
                   const struct net_key *key) {
  for (size_t i = 0; i < key->count; i++)
    base_buffer_printf(out, "%s%s", i > 0 ? ", " : "", layout->fields[key->fields[i]].name);
}
