/* A table of watches by what they say, each with the number of its holders. Entries whose number has come
 * from or to zero wait in a list until the control is let go; one that is not held and not enabled is
 * freed then. */
#include "engine/control.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/triggers.h"
#include "engine/watch.h"

struct net_control_entry {
  struct base_arena *arena; /* of all that WATCH says, and of the entry */
  struct net_watch watch;
  uint64_t hash;
  size_t holders;
  bool enabled; /* the sensor knows */
  bool waits;   /* in the list of changes */
  struct net_control_entry *next;
};

struct net_control {
  struct net_sensor *sensor;
  struct net_control_entry **buckets;
  size_t bucket_count, count;
  struct net_control_entry **changes;
  size_t change_count, change_capacity;
  unsigned held;
  struct net_triggers *triggers;
};

struct net_control *net_control_new(struct net_sensor *sensor) {
  struct net_control *control = base_xcalloc(1, sizeof *control);
  control->sensor = sensor;
  control->triggers = net_triggers_new(sensor);
  control->bucket_count = 16;
  control->buckets = base_xcalloc(control->bucket_count, sizeof *control->buckets);
  return control;
}

void net_control_free(struct net_control *control) {
  if (control == NULL) return;
  BASE_CHECK(control->count == 0, "control-held");
  net_triggers_free(control->triggers);
  free(control->buckets);
  free(control->changes);
  free(control);
}

static struct net_control_entry *entry_new(const struct net_watch *watch, uint64_t hash) {
  struct base_arena *arena = base_arena_new();
  struct net_control_entry *entry = BASE_NEW(arena, struct net_control_entry);
  entry->arena = arena;
  entry->hash = hash;
  net_watch_copy(arena, watch, &entry->watch);
  return entry;
}

/* --- the table */

static struct net_control_entry **place_of(const struct net_control *control, uint64_t hash) {
  return &control->buckets[hash % control->bucket_count];
}

static void grow(struct net_control *control) {
  struct net_control_entry **old = control->buckets;
  size_t old_count = control->bucket_count;
  control->bucket_count = 2 * old_count;
  control->buckets = base_xcalloc(control->bucket_count, sizeof *control->buckets);
  for (size_t i = 0; i < old_count; i++) {
    for (struct net_control_entry *entry = old[i], *next; entry; entry = next) {
      struct net_control_entry **place = place_of(control, entry->hash);
      next = entry->next;
      entry->next = *place;
      *place = entry;
    }
  }
  free(old);
}

static void forget(struct net_control *control, struct net_control_entry *entry) {
  struct net_control_entry **place = place_of(control, entry->hash);
  while (*place != entry) place = &(*place)->next;
  *place = entry->next;
  control->count--;
  base_arena_free(entry->arena);
}

/* --- saying it */

static void say(struct net_control *control) {
  const struct net_sensor_class *class = control->sensor->class;
  for (int off = 0; off < 2; off++) {
    for (size_t i = 0; i < control->change_count; i++) {
      struct net_control_entry *entry = control->changes[i];
      bool wanted = entry->holders > 0;
      if (wanted == entry->enabled || wanted == (off == 1)) continue;
      entry->enabled = wanted;
      (wanted ? class->enable : class->disable)(control->sensor, &entry->watch);
    }
  }
  for (size_t i = 0; i < control->change_count; i++) {
    struct net_control_entry *entry = control->changes[i];
    entry->waits = false;
    if (entry->holders == 0) forget(control, entry);
  }
  control->change_count = 0;
}

static void change(struct net_control *control, struct net_control_entry *entry) {
  if (!entry->waits) {
    base_grow(&control->changes, &control->change_capacity, control->change_count + 1,
              sizeof(struct net_control_entry *));
    control->changes[control->change_count++] = entry;
    entry->waits = true;
  }
  if (control->held == 0) say(control);
}

struct net_control_entry *net_control_enable(struct net_control *control,
                                             const struct net_watch *watch) {
  uint64_t hash = net_watch_hash(watch);
  struct net_control_entry *entry = *place_of(control, hash);
  while (entry && (entry->hash != hash || !net_watch_same(&entry->watch, watch)))
    entry = entry->next;
  if (!entry) {
    if (control->count >= control->bucket_count) grow(control);
    struct net_control_entry **place = place_of(control, hash);
    entry = entry_new(watch, hash);
    entry->next = *place;
    *place = entry;
    control->count++;
  }
  if (entry->holders++ == 0) change(control, entry);
  return entry;
}

void net_control_disable(struct net_control *control, struct net_control_entry *entry) {
  BASE_CHECK(entry->holders > 0, "control-not-held");
  if (--entry->holders == 0) change(control, entry);
}

void net_control_hold(struct net_control *control) {
  control->held++;
}

void net_control_release(struct net_control *control) {
  BASE_CHECK(control->held > 0, "control-not-held-back");
  if (--control->held == 0) say(control);
}

struct net_triggers *net_control_triggers(struct net_control *control) {
  return control->triggers;
}

/* --- looking */

const struct net_watch *net_control_watch(const struct net_control_entry *entry) {
  return &entry->watch;
}

size_t net_control_count(const struct net_control *control) {
  return control->count;
}

void net_control_each(const struct net_control *control,
                      void (*each)(void *context, const struct net_watch *watch, size_t holders),
                      void *context) {
  for (size_t i = 0; i < control->bucket_count; i++)
    for (const struct net_control_entry *entry = control->buckets[i]; entry; entry = entry->next)
      each(context, &entry->watch, entry->holders);
}
