/* Modules and receptacles: what a reader sees of a description, and what it switches.
 *
 * A module has a receptacle of the process, with a switch and an entry for each event number; its first
 * switch, 0, says that somebody listens. An object has a receptacle with the switches of the events that
 * consult its type. The process's switch of such an event is what new objects begin with, so that a
 * reader that wants all of them misses none that is made meanwhile. What an object has counted is added
 * to the process's entry when it goes.                                                              */
#include "sensors/runtime/internal.h"

#include <stdlib.h>
#include <string.h>

/* --- counting (thesis 5.4) */

/* Programs may have asked for SIGFPE (feenableexcept), or look at the flags: our sums overflow silently. */
#if defined(__x86_64__)
static uint32_t float_quiet(void) {
  uint32_t before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(0x1f80);
  return before;
}
static void float_as_before(uint32_t before) {
  __builtin_ia32_ldmxcsr(before);
}
#elif defined(__aarch64__)
static uint64_t float_quiet(void) {
  uint64_t control, status;
  __asm__ volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control), "=r"(status));
  __asm__ volatile("msr fpcr, %0" : : "r"(UINT64_C(0)));
  return control << 32 | (status & 0xffffffffu);
}
static void float_as_before(uint64_t before) {
  __asm__ volatile("msr fpsr, %0\n\tmsr fpcr, %1" : : "r"(before & 0xffffffffu), "r"(before >> 32));
}
#else
static int float_quiet(void) {
  return 0;
}
static void float_as_before(int before) {
  (void)before;
}
#endif

/* Adds to a double that other threads add to. */
static void add(double *sum, double value) {
  uint64_t *cell = (uint64_t *)(void *)sum, before = __atomic_load_n(cell, __ATOMIC_RELAXED), after;
  do {
    double number;
    memcpy(&number, &before, sizeof number);
    number += value;
    memcpy(&after, &number, sizeof after);
  } while (
      !__atomic_compare_exchange_n(cell, &before, after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

/* 64 + sign * (1 + the exponent of two), 64 below one in absolute value. */
static unsigned bucket_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
  if (exponent < 0) return 64;
  unsigned distance = exponent > 63 ? 64 : (unsigned)exponent + 1;
  return bits >> 63 ? 64 - distance : 64 + distance;
}

/* Under the lock: a histogram, free and empty. */
static struct sn_histogram *histogram_new(void) {
  struct sn_chunk *chunk;
  for (const struct sn_piece *piece = sn_process.pieces; piece != NULL; piece = piece->next) {
    if (piece->kind != SN_HISTOGRAMS) continue;
    struct sn_chunk *at = (struct sn_chunk *)(void *)piece->address;
    struct sn_histogram *histograms = (struct sn_histogram *)(at + 1);
    for (uint32_t i = 0; i < piece->units; i++) {
      if (histograms[i].state == SN_FREE) {
        memset(&histograms[i], 0, sizeof histograms[i]);
        return &histograms[i];
      }
    }
  }
  uint32_t units = (uint32_t)((sn_process.page - sizeof *chunk) / sizeof(struct sn_histogram));
  chunk = sn_chunk_new(SN_HISTOGRAMS, sizeof(struct sn_histogram), units);
  return chunk != NULL ? (struct sn_histogram *)(chunk + 1) : NULL;
}

static struct sn_histogram *histogram_at(uint64_t offset) {
  return offset != 0 ? sn_at_offset(offset, sizeof(struct sn_histogram)) : NULL;
}

static struct sn_histogram *histogram_of(struct sn_entry *entry) {
  struct sn_histogram *histogram = NULL;
  struct sn_guard guard;
  if (!sn_lock(&guard)) return NULL;
  if (entry->histogram == 0 && (histogram = histogram_new()) != NULL) {
    histogram->state = SN_LIVE;
    __atomic_store_n(&entry->histogram, sn_offset_of(histogram), __ATOMIC_RELEASE);
  } else {
    histogram = histogram_at(entry->histogram);
  }
  sn_unlock(&guard);
  return histogram;
}

/* Not in line: what is computed must not move from between the two. */
static __attribute__((noinline)) void add_square(struct sn_entry *entry, double value) {
  add(&entry->sum, value);
  add(&entry->squares, value * value);
}

static __attribute__((noinline)) void add_integer(struct sn_entry *entry, uint64_t value) {
  add_square(entry, (double)value);
}

static void put_in_bucket(struct sn_entry *entry, unsigned bucket) {
  uint64_t offset = __atomic_load_n(&entry->histogram, __ATOMIC_ACQUIRE);
  struct sn_histogram *histogram = offset != 0 ? histogram_at(offset) : histogram_of(entry);
  if (histogram != NULL) __atomic_fetch_add(&histogram->buckets[bucket], 1, __ATOMIC_RELAXED);
}

static bool is_nan(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (bits & ~(UINT64_C(1) << 63)) > UINT64_C(0x7ff) << 52;
}

void sn_count(struct sn_entry *entry, const struct sn_event *event, uint32_t word, double value) {
  bool is_number = event->histogram_field >= 0 && !is_nan(value);
  if (word & SN_COUNT) __atomic_fetch_add(&entry->count, 1, __ATOMIC_RELAXED);
  if ((word & SN_SUM) && is_number) {
    __auto_type before = float_quiet();
    add_square(entry, value);
    float_as_before(before);
  }
  if ((word & SN_HISTOGRAM) && is_number) put_in_bucket(entry, bucket_of(value));
}

void sn_count_duration(struct sn_entry *entry, uint64_t ns) {
  __auto_type before = float_quiet();
  add_integer(entry, ns);
  float_as_before(before);
  put_in_bucket(entry, ns == 0 ? 64 : 128 - (unsigned)__builtin_clzll(ns));
  __atomic_fetch_add(&entry->rounds, 1, __ATOMIC_RELEASE);
}

/* Under the lock: what FROM, of an object that goes, has counted is the process's now. */
static void entry_merge(struct sn_entry *into, struct sn_entry *from) {
  __atomic_fetch_add(&into->missed, from->missed, __ATOMIC_RELAXED);
  __atomic_fetch_add(&into->count, from->count, __ATOMIC_RELAXED);
  __atomic_fetch_add(&into->rounds, from->rounds, __ATOMIC_RELEASE);
  __auto_type before = float_quiet();
  add(&into->sum, from->sum);
  add(&into->squares, from->squares);
  float_as_before(before);
  struct sn_histogram *old = histogram_at(from->histogram);
  if (old == NULL) return;
  if (into->histogram == 0) {
    __atomic_store_n(&into->histogram, from->histogram, __ATOMIC_RELEASE);
    return;
  }
  struct sn_histogram *sum = histogram_at(into->histogram);
  for (unsigned i = 0; i < SN_BUCKETS && sum != NULL; i++) {
    if (old->buckets[i] != 0) {
      __atomic_fetch_add(&sum->buckets[i], old->buckets[i], __ATOMIC_RELAXED);
    }
  }
  old->state = SN_FREE;
}

/* --- modules */

/* The number of the type whose receptacle the event consults; 0: the process. */
static uint32_t consulted_type(const struct sn_event *event) {
  switch (event->consulted) {
    case SN_OBJECT:
      return event->object;
    case SN_INITIATOR:
      return event->initiator;
    default:
      return 0;
  }
}

/* Which switches and entries the receptacles of each type have. */
static bool find_places(struct sn_module_state *state) {
  const struct sn_module *module = state->module;
  uint32_t numbers = module->event_greatest + 1;
  state->places = malloc(numbers * sizeof *state->places);
  state->kinds = calloc(module->type_count + 1, sizeof *state->kinds);
  state->names = calloc(module->event_count + 1, sizeof *state->names);
  if (state->places == NULL || state->kinds == NULL || state->names == NULL) return false;
  uint64_t taskforce = sn_name_hash_on(sn_name_hash(module->name), ".");
  for (uint32_t e = 0; e < module->event_count; e++) {
    const char *name = module->events[e].name;
    state->names[e] = (struct sn_event_names){sn_name_hash(name), sn_name_hash_on(taskforce, name)};
  }
  memset(state->places, 0xff, numbers * sizeof *state->places);
  for (uint32_t t = 0; t < module->type_count; t++) {
    struct sn_object_kind *kind = &state->kinds[t];
    *kind = (struct sn_object_kind){.type = module->types[t].number, .switches = 1};
    for (uint32_t e = 0; e < module->event_count; e++) {
      const struct sn_event *event = &module->events[e];
      if (consulted_type(event) != kind->type) continue;
      state->places[event->number] = kind->entries++;
      if (kind->switches <= event->number) kind->switches = event->number + 1;
    }
  }
  return true;
}

static uint64_t text_new(const char *text, size_t length) {
  struct sn_chunk *chunk = sn_chunk_new(SN_TEXTS, sizeof(struct sn_text) + length, 1);
  if (chunk == NULL) return 0;
  struct sn_text *unit = (struct sn_text *)(void *)(chunk + 1);
  unit->length = (uint32_t)length;
  memcpy(unit + 1, text, length);
  __atomic_store_n(&unit->state, SN_LIVE, __ATOMIC_RELEASE);
  return sn_offset_of(unit);
}

/* The module's part of the announcement. Its name stands behind it, in the same chunk. */
static struct sn_module_unit *unit_new(const struct sn_module *module) {
  uint32_t switches = module->event_greatest + 1;
  uint64_t behind = sn_receptacle_bytes(switches, switches, true) - sizeof(struct sn_receptacle);
  uint64_t bytes = sizeof(struct sn_module_unit) + behind;
  size_t length = strlen(module->name);
  struct sn_chunk *chunk = sn_chunk_new(SN_MODULES, bytes + sizeof(struct sn_text) + length, 1);
  if (chunk == NULL) return NULL;
  struct sn_module_unit *unit = (struct sn_module_unit *)(void *)(chunk + 1);
  struct sn_text *name = (struct sn_text *)(void *)((unsigned char *)unit + bytes);
  *name = (struct sn_text){.state = SN_LIVE, .length = (uint32_t)length};
  memcpy(name + 1, module->name, length);
  unit->digest = module->digest;
  unit->description = (uint64_t)(uintptr_t)module->description;
  unit->description_bytes = module->description_bytes;
  unit->name = sn_offset_of(name);
  unit->receptacle.switches = unit->receptacle.entries = switches;
  unit->receptacle.opened = sn_stamp();
  return unit;
}

/* Indices are given out once: records in rings name them. */
static bool module_add(struct sn_module *module) {
  static uint32_t modules;
  struct sn_module_state *state = calloc(1, sizeof *state);
  if (state == NULL || modules > SN_RECORD_MODULE) return false;
  state->module = module;
  if (!find_places(state) || (state->unit = unit_new(module)) == NULL) return false;
  module->index = state->unit->index = state->unit->receptacle.module = modules++;
  module->state = state;
  state->next = sn_process.modules;
  sn_process.modules = state;
  /* Who may be no more when somebody has found it, and is the first of its kind, says itself what its records mean. */
  if (sn_wanted_ask(state)) {
    state->unit->text = text_new(module->description, module->description_bytes);
  }
  uint32_t *asked = sn_asked(&state->unit->receptacle, module->event_greatest + 1);
  __atomic_store_n(&module->asked, asked, __ATOMIC_RELEASE);
  __atomic_store_n(&module->switches, sn_switches(&state->unit->receptacle), __ATOMIC_RELEASE);
  __atomic_store_n(&state->unit->receptacle.state, SN_LIVE, __ATOMIC_RELEASE);
  __atomic_store_n(&state->unit->state, SN_LIVE, __ATOMIC_RELEASE);
  return true;
}

SN_EXPORT void sn_module_register(struct sn_module *module) {
  struct sn_guard guard;
  if (module->registered || !sn_lock(&guard)) return;
  if (!module->registered && module->event_greatest <= 65535) {
    module->registered = 1;
    if (sn_announce() && module_add(module)) {
      sn_wanted_look(module->state);
      sn_changed();
    }
  }
  sn_unlock(&guard);
}

/* What it was in is unloaded. Its part of the announcement stays, for who reads the counts. */
SN_EXPORT void sn_module_withdraw(struct sn_module *module) {
  struct sn_guard guard;
  if (!module->registered) return;
  sn_samples_withdraw(module);
  if (!sn_lock(&guard)) return;
  struct sn_module_state *state = module->state;
  module->registered = 0;
  if (state != NULL) {
    struct sn_module_state **link = &sn_process.modules;
    while (*link != NULL && *link != state) link = &(*link)->next;
    if (*link != NULL) *link = state->next;
    __atomic_store_n(&module->switches, module->no_switches, __ATOMIC_RELEASE);
    __atomic_store_n(&module->asked, NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&state->unit->state, SN_CLOSED, __ATOMIC_RELEASE);
    sn_changed();
    /* Another thread may be in a sensor of it at the end of the program: the state is not freed. */
  }
  sn_unlock(&guard);
}

/* --- what is on from the beginning */

/* Sampled events wait for who asks for samples; of one that is good for one record only, the reader knows when. */
static bool is_traced(const struct sn_event *event, const struct sn_wanted_row *row) {
  if (event->flags & SN_ASSUME_ONE_TIME) return false;
  if (event->minor_type != SN_OBJECT_TRACED && event->minor_type != SN_SENSOR_TRACED) return false;
  bool asks_process = consulted_type(event) == 0 || (event->flags & SN_ASSUME_ENABLED);
  return (row->what & (asks_process ? SN_WANTED_PROCESS : SN_WANTED_OBJECTS)) != 0;
}

/* The modes that ROW wants of the event; 0: it means another one, or wants nothing that can be had of this. */
static uint32_t modes_of(const struct sn_event *event, const struct sn_event_names *name,
                         const struct sn_wanted_row *row) {
  if (name->alone != row->name && name->whole != row->name) return 0;
  uint32_t modes = is_traced(event, row) ? SN_TRACE | SN_MEASURE : 0;
  if ((row->what & SN_WANTED_COUNT) == 0 || (event->flags & SN_ASSUME_ENABLED)) return modes;
  return modes | (event->histogram_field != -1 ? SN_COUNT | SN_SUM | SN_HISTOGRAM : SN_COUNT);
}

bool sn_module_has(const struct sn_module_state *state, const struct sn_wanted_row *row) {
  const struct sn_module *module = state->module;
  for (uint32_t e = 0; e < module->event_count; e++) {
    if (modes_of(&module->events[e], &state->names[e], row) != 0) return true;
  }
  return false;
}

void sn_module_switch_on(const struct sn_module_state *state, const struct sn_wanted_row *row,
                         uint32_t generation) {
  const struct sn_module *module = state->module;
  for (uint32_t e = 0; e < module->event_count; e++) {
    const struct sn_event *event = &module->events[e];
    uint32_t modes = modes_of(event, &state->names[e], row);
    if (modes == 0) continue;
    uint32_t number = event->flags & SN_ASSUME_ENABLED ? 0 : event->number;
    uint32_t *place = &sn_switches(&state->unit->receptacle)[number], before = *place;
    if (before >> SN_GENERATION_SHIFT == generation) modes |= before & (SN_MODES | SN_MEASURE);
    __atomic_store_n(place, generation << SN_GENERATION_SHIFT | modes, __ATOMIC_SEQ_CST);
  }
}

struct sn_entry *sn_entry_of(const struct sn_module *module, const struct sn_event *event,
                             const struct sn_receptacle *receptacle) {
  const struct sn_module_state *state = module->state;
  if (state == NULL) return NULL;
  if (receptacle == NULL) {
    return &sn_entries(&state->unit->receptacle, module->event_greatest + 1, true)[event->number];
  }
  uint32_t place = state->places[event->number], type = consulted_type(event);
  if (place == SN_NO_PLACE || receptacle->type != type) return NULL;
  uint32_t t = 0;
  while (t < module->type_count && state->kinds[t].type != type) t++;
  return t < module->type_count ? &sn_entries(receptacle, state->kinds[t].switches, false)[place]
                                : NULL;
}

struct sn_tally *sn_tally_of(const struct sn_module *module, const struct sn_event *event) {
  if (module->state == NULL) return NULL;
  uint32_t switches = module->event_greatest + 1;
  return &sn_tallies(&module->state->unit->receptacle, switches, switches)[event->number];
}

SN_EXPORT int sn_process_declare(struct sn_module *module, uint32_t type, const char *minor) {
  struct sn_guard guard;
  int result = -1;
  if (module->state == NULL || type > UINT16_MAX || !sn_lock(&guard)) return -1;
  uint64_t text = minor != NULL ? text_new(minor, strlen(minor)) : 0;
  if ((minor == NULL || text != 0) && text < UINT64_C(1) << 48) {
    __atomic_store_n(&module->state->unit->process, (uint64_t)type << 48 | text, __ATOMIC_RELEASE);
    sn_changed();
    result = 0;
  }
  sn_unlock(&guard);
  return result;
}

/* --- objects */

/* What is true of a receptacle, whatever its reader writes there, and whatever a parent does with its own while
 * the child copies them. Its `owner` is its number here.                                             */
struct object {
  struct sn_receptacle *receptacle;
  uint64_t bytes;
  const struct sn_module *module;
  const struct sn_object_kind *kind;
  uint64_t minor, opened;
  uint32_t index, epoch; /* of the module, which may be gone */
  uint32_t next_free;    /* a number, one more; 0: the last */
  bool live;
};
static struct object *objects;
static uint32_t object_count, object_room;

/* Receptacles of one size that nobody uses. */
struct pool {
  struct pool *next;
  uint64_t unit_bytes;
  uint32_t free; /* as next_free */
};
static struct pool *pools;

static struct pool *pool_of(uint64_t bytes) {
  struct pool *pool = pools;
  while (pool != NULL && pool->unit_bytes != bytes) pool = pool->next;
  if (pool == NULL && (pool = malloc(sizeof *pool)) != NULL) {
    *pool = (struct pool){.next = pools, .unit_bytes = bytes};
    pools = pool;
  }
  return pool;
}

static void pool_put(struct pool *pool, uint32_t number) {
  objects[number].next_free = pool->free;
  pool->free = number + 1;
}

static bool make_room(uint32_t units) {
  if (units > UINT32_MAX / 2 - object_count) return false;
  if (object_count + units <= object_room) return true;
  uint32_t room = 2 * object_room > object_count + units ? 2 * object_room : object_count + units;
  struct object *grown = realloc(objects, room * sizeof *objects);
  if (grown == NULL) return false;
  objects = grown;
  object_room = room;
  return true;
}

static struct object *pool_take(struct pool *pool) {
  if (pool->free == 0) {
    uint64_t room = UINT64_C(16) * sn_process.page - sizeof(struct sn_chunk);
    uint32_t units = pool->unit_bytes > room ? 1 : (uint32_t)(room / pool->unit_bytes);
    if (!make_room(units)) return NULL;
    struct sn_chunk *chunk = sn_chunk_new(SN_OBJECTS, pool->unit_bytes, units);
    if (chunk == NULL) return NULL;
    unsigned char *unit = (unsigned char *)(chunk + 1);
    for (uint32_t i = units; i-- > 0;) {
      objects[object_count] = (struct object){
          .receptacle = (struct sn_receptacle *)(void *)(unit + i * pool->unit_bytes),
          .bytes = pool->unit_bytes};
      pool_put(pool, object_count++);
    }
  }
  struct object *object = &objects[pool->free - 1];
  pool->free = object->next_free;
  return object;
}

/* As it begins: all is off. */
static void write_receptacle(const struct object *object) {
  struct sn_receptacle *receptacle = object->receptacle;
  memset(receptacle, 0, object->bytes);
  receptacle->owner = (uint64_t)(object - objects);
  if (!object->live) return;
  receptacle->module = object->index;
  receptacle->type = object->kind->type;
  receptacle->epoch = object->epoch;
  receptacle->minor = object->minor;
  receptacle->opened = object->opened;
  receptacle->switches = object->kind->switches;
  receptacle->entries = object->kind->entries;
  __atomic_store_n(&receptacle->state, SN_LIVE, __ATOMIC_SEQ_CST);
}

void sn_modules_restart(bool sound) {
  if (!sound) { /* `objects` may be about to move */
    objects = NULL;
    object_count = object_room = 0;
    pools = NULL;
  }
  for (uint32_t i = 0; i < object_count; i++) write_receptacle(&objects[i]);
}

/* The switches begin as the process's stand. The reader changes the process's first and then those of
 * the objects that it sees; so what changed while we copied is copied again.                         */
static void copy_switches(const struct sn_module *module, struct sn_receptacle *receptacle) {
  for (uint32_t e = 0; e < module->event_count; e++) {
    const struct sn_event *event = &module->events[e];
    if (consulted_type(event) != receptacle->type) continue;
    uint32_t *to = &sn_switches(receptacle)[event->number], set = 0, word;
    while ((word = __atomic_load_n(&module->switches[event->number], __ATOMIC_SEQ_CST)) != set) {
      if (!__atomic_compare_exchange_n(to, &set, word, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        break; /* the reader has set it */
      }
      set = word;
    }
  }
}

/* Of a module that is no longer there, nothing is asked any more. */
static bool is_registered(const struct sn_module *module) {
  const struct sn_module_state *state = sn_process.modules;
  while (state != NULL && state->module != module) state = state->next;
  return state != NULL;
}

void sn_modules_switch_objects(void) {
  for (uint32_t i = 0; i < object_count; i++) {
    if (objects[i].live && is_registered(objects[i].module))
      copy_switches(objects[i].module, objects[i].receptacle);
  }
}

static struct sn_receptacle *receptacle_new(struct sn_module *module,
                                            const struct sn_object_kind *kind, uint64_t minor) {
  /* Nothing to be had, and nobody who would find it; and in such a child malloc may be what must not be called. */
  if (sn_process.path == NULL && pools == NULL) return NULL;
  struct pool *pool = pool_of(sn_receptacle_bytes(kind->switches, kind->entries, false));
  struct object *object = pool != NULL ? pool_take(pool) : NULL;
  if (object == NULL) return NULL;
  object->module = module;
  object->index = module->index;
  object->kind = kind;
  object->epoch = ++sn_process.epoch;
  object->minor = minor;
  object->opened = sn_stamp();
  object->live = true;
  write_receptacle(object);
  copy_switches(module, object->receptacle);
  sn_changed();
  return object->receptacle;
}

SN_EXPORT struct sn_receptacle *sn_receptacle_new(struct sn_module *module, uint32_t type,
                                                  uint64_t minor) {
  struct sn_receptacle *receptacle = NULL;
  struct sn_guard guard;
  if (module->state == NULL || !sn_lock(&guard)) return NULL;
  for (uint32_t t = 0; t < module->type_count && receptacle == NULL; t++) {
    const struct sn_object_kind *kind = &module->state->kinds[t];
    if (kind->type == type && type != 0) receptacle = receptacle_new(module, kind, minor);
    if (kind->type == type) break;
  }
  sn_unlock(&guard);
  return receptacle;
}

/* NULL: there is none (any more). */
static struct object *object_of(const struct sn_receptacle *receptacle) {
  uint64_t number = receptacle->owner;
  if (number >= object_count || objects[number].receptacle != receptacle) {
    for (number = 0; number < object_count && objects[number].receptacle != receptacle;) number++;
  }
  return number < object_count && objects[number].live ? &objects[number] : NULL;
}

static void receptacle_end(struct object *object) {
  struct sn_receptacle *receptacle = object->receptacle;
  const struct sn_module *module = is_registered(object->module) ? object->module : NULL;
  struct sn_entry *entries = sn_entries(receptacle, object->kind->switches, false);
  for (uint32_t e = 0; module != NULL && e < module->event_count; e++) {
    const struct sn_event *event = &module->events[e];
    if (consulted_type(event) != object->kind->type) continue;
    entry_merge(sn_entry_of(module, event, NULL), &entries[module->state->places[event->number]]);
  }
  object->live = false;
  __atomic_store_n(&receptacle->state, SN_FREE, __ATOMIC_SEQ_CST);
  memset(sn_switches(receptacle), 0, object->bytes - sizeof *receptacle);
  struct pool *pool = pool_of(object->bytes);
  if (pool != NULL) pool_put(pool, (uint32_t)(object - objects));
  sn_changed();
}

SN_EXPORT void sn_receptacle_free(struct sn_receptacle *receptacle) {
  struct sn_guard guard;
  /* A lock that cannot be had: the object stays announced, its switches are never asked again. */
  if (receptacle == NULL || !sn_lock(&guard)) return;
  struct object *object = object_of(receptacle);
  if (object != NULL) receptacle_end(object);
  sn_unlock(&guard);
}
