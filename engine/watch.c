#include "engine/watch.h"

#include <string.h>
#include <strings.h>

#include "engine/base/env.h"

uint64_t net_watch_hash(const struct net_watch *watch) {
  uint64_t hash = base_hash_u64((uint64_t)watch->every, (uint64_t)watch->starts_only);
  hash = base_hash_u64((uint64_t)watch->origin, hash);
  for (const char *at = watch->relation; *at; at++)
    hash = base_hash_u64((uint64_t)(*at | 0x20), hash); /* names are the same in any case */
  for (uint32_t i = 0; i < watch->object_count; i++)
    hash = base_hash_u64((uint64_t)watch->objects[i].value.i, hash + watch->objects[i].pattern);
  return watch->filter_length > 0 ? base_hash(watch->filter, watch->filter_length, hash) : hash;
}

bool net_watch_same(const struct net_watch *a, const struct net_watch *b) {
  if (strcasecmp(a->relation, b->relation) != 0 || a->starts_only != b->starts_only ||
      a->every != b->every || a->origin != b->origin || a->object_count != b->object_count ||
      a->filter_length != b->filter_length ||
      (a->filter_length > 0 && memcmp(a->filter, b->filter, a->filter_length) != 0))
    return false;
  for (uint32_t i = 0; i < a->object_count; i++)
    if (strcasecmp(a->objects[i].domain, b->objects[i].domain) != 0 ||
        a->objects[i].value.i != b->objects[i].value.i ||
        a->objects[i].pattern != b->objects[i].pattern)
      return false;
  return true;
}

void net_watch_copy(struct base_arena *arena, const struct net_watch *watch,
                    struct net_watch *ret) {
  struct net_watch_object *objects =
      BASE_NEW_ARRAY(arena, watch->object_count + 1, struct net_watch_object);
  for (uint32_t i = 0; i < watch->object_count; i++) {
    objects[i] = watch->objects[i];
    objects[i].domain = base_arena_strdup(arena, watch->objects[i].domain);
  }
  *ret = *watch;
  ret->relation = base_arena_strdup(arena, watch->relation);
  ret->objects = objects;
  if (watch->filter_length > 0)
    ret->filter = base_arena_strndup(arena, watch->filter, watch->filter_length);
}
