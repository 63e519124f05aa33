/* What is asked for waits in a list; a table of places in it, by what is asked for, finds what is there already. */
#include "engine/triggers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/arena.h"
#include "engine/watch.h"

struct waiting {
  struct net_watch watch;
  uint64_t hash;
  size_t next; /* in its bucket: a place + 1; 0: none */
};

struct counted {
  char *relation;
  uint64_t tuples, asked;
};

struct net_triggers {
  struct net_sensor *sensor;
  struct base_arena *arena; /* of what waits; NULL: nothing does */
  struct waiting *waiting;
  size_t waiting_count, waiting_capacity;
  size_t *buckets; /* places + 1 */
  size_t bucket_count;
  struct counted *counts;
  size_t count_count, count_capacity;
  bool replaying;
  net_chronon new_from;
};

struct net_triggers *net_triggers_new(struct net_sensor *sensor) {
  struct net_triggers *triggers = base_xcalloc(1, sizeof *triggers);
  triggers->sensor = sensor;
  triggers->bucket_count = 16;
  triggers->buckets = base_xcalloc(triggers->bucket_count, sizeof *triggers->buckets);
  return triggers;
}

void net_triggers_free(struct net_triggers *triggers) {
  if (triggers == NULL) return;
  if (triggers->arena != NULL) base_arena_free(triggers->arena);
  for (size_t i = 0; i < triggers->count_count; i++) free(triggers->counts[i].relation);
  free(triggers->counts);
  free(triggers->buckets);
  free(triggers->waiting);
  free(triggers);
}

static struct counted *counted_of(struct net_triggers *triggers, const char *relation) {
  for (size_t i = 0; i < triggers->count_count; i++)
    if (strcasecmp(triggers->counts[i].relation, relation) == 0) return &triggers->counts[i];
  base_grow(&triggers->counts, &triggers->count_capacity, triggers->count_count + 1,
            sizeof *triggers->counts);
  struct counted *counted = &triggers->counts[triggers->count_count++];
  *counted = (struct counted){.relation = base_xstrdup(relation)};
  return counted;
}

static void enter(struct net_triggers *triggers, size_t place) {
  size_t *bucket = &triggers->buckets[triggers->waiting[place].hash % triggers->bucket_count];
  triggers->waiting[place].next = *bucket;
  *bucket = place + 1;
}

static void grow(struct net_triggers *triggers) {
  free(triggers->buckets);
  triggers->bucket_count *= 4;
  triggers->buckets = base_xcalloc(triggers->bucket_count, sizeof *triggers->buckets);
  for (size_t i = 0; i < triggers->waiting_count; i++) enter(triggers, i);
}

static bool is_waiting(const struct net_triggers *triggers, const struct net_watch *watch,
                       uint64_t hash) {
  size_t place = triggers->buckets[hash % triggers->bucket_count];
  for (; place != 0; place = triggers->waiting[place - 1].next) {
    const struct waiting *waiting = &triggers->waiting[place - 1];
    if (waiting->hash == hash && net_watch_same(&waiting->watch, watch)) return true;
  }
  return false;
}

void net_trigger(struct net_triggers *triggers, const struct net_watch *watch, net_chronon at) {
  if (triggers->replaying && at < triggers->new_from) return;
  uint64_t hash = net_watch_hash(watch);
  counted_of(triggers, watch->relation)->tuples++;
  if (is_waiting(triggers, watch, hash)) return;
  if (triggers->arena == NULL) triggers->arena = base_arena_new();
  base_grow(&triggers->waiting, &triggers->waiting_capacity, triggers->waiting_count + 1,
            sizeof *triggers->waiting);
  struct waiting *waiting = &triggers->waiting[triggers->waiting_count++];
  *waiting = (struct waiting){.hash = hash};
  net_watch_copy(triggers->arena, watch, &waiting->watch);
  if (triggers->waiting_count > triggers->bucket_count)
    grow(triggers);
  else
    enter(triggers, triggers->waiting_count - 1);
}

void net_triggers_replay(struct net_triggers *triggers, net_chronon new_from) {
  triggers->replaying = true;
  triggers->new_from = new_from;
}

void net_triggers_live(struct net_triggers *triggers) {
  triggers->replaying = false;
}

void net_triggers_tell(struct net_triggers *triggers) {
  if (triggers->waiting_count == 0) return;
  const struct net_sensor_class *class = triggers->sensor->class;
  for (size_t i = 0; i < triggers->waiting_count; i++) {
    const struct net_watch *watch = &triggers->waiting[i].watch;
    counted_of(triggers, watch->relation)->asked++;
    if (class->sample != NULL) class->sample(triggers->sensor, watch);
  }
  triggers->waiting_count = 0;
  memset(triggers->buckets, 0, triggers->bucket_count * sizeof *triggers->buckets);
  base_arena_free(triggers->arena);
  triggers->arena = NULL;
}

void net_triggers_each(const struct net_triggers *triggers,
                       void (*each)(void *context, const char *relation, uint64_t tuples,
                                    uint64_t asked),
                       void *context) {
  for (size_t i = 0; i < triggers->count_count; i++) {
    const struct counted *counted = &triggers->counts[i];
    each(context, counted->relation, counted->tuples, counted->asked);
  }
}

void net_triggers_mark_strings(const struct net_triggers *triggers, struct base_strings *strings) {
  for (size_t i = 0; i < triggers->waiting_count; i++) {
    const struct net_watch *watch = &triggers->waiting[i].watch;
    for (uint32_t k = 0; k < watch->object_count; k++) {
      enum net_base_type base = watch->objects[k].type.base;
      if (base == NET_STRING || base == NET_NAME)
        base_strings_mark(strings, watch->objects[k].value.s);
    }
  }
}
