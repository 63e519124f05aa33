/* Objects of a program: what they are called, and which periods they have open.
 *
 * An object is known here from its first record, or from when somebody asks for it by name, until a scan of
 * the program's receptacles does not find it any more and what it left in the rings has been read. Its
 * name has the epochs of both (naming.c).                                                            */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "sensors/collect/monitor_impl.h"

static size_t place_of(const struct sn_entities *entities, uint32_t part, uint32_t epoch) {
  return base_hash_u64(epoch, part) & (entities->size - 1);
}

static size_t minor_place(const struct sn_entities *entities, uint32_t type, uint64_t minor) {
  return base_hash_u64(minor, type) & (entities->size - 1);
}

static void put(struct sn_entities *entities, struct sn_entity *entity) {
  struct sn_entity **place = &entities->places[place_of(entities, entity->part, entity->epoch)];
  struct sn_entity **minor = &entities->minors[minor_place(entities, entity->type, entity->minor)];
  entity->next = *place;
  *place = entity;
  entity->next_minor = *minor;
  *minor = entity;
}

static void grow(struct sn_entities *entities) {
  struct sn_entities old = *entities;
  if (entities->count < entities->size) return;
  entities->size = entities->size != 0 ? 2 * entities->size : 64;
  entities->places = base_xcalloc(entities->size, sizeof(struct sn_entity *));
  entities->minors = base_xcalloc(entities->size, sizeof(struct sn_entity *));
  for (size_t i = 0; i < old.size; i++) {
    for (struct sn_entity *entity = old.places[i], *next; entity != NULL; entity = next) {
      next = entity->next;
      put(entities, entity);
    }
  }
  free(old.places);
  free(old.minors);
}

void sn_entity_print(struct base_buffer *out, const struct sn_program *program,
                     const struct sn_part *part, uint32_t type, uint64_t minor, uint32_t epoch) {
  const struct sn_type_description *described = sn_known_type(part->known, type);
  base_buffer_printf(out, "%s:%" PRIu64, described != NULL ? described->name : "object", minor);
  sn_naming_put(out, program, epoch);
}

static struct sn_name *name_of(struct sn_program *program, const struct sn_part *part,
                               uint32_t type, uint64_t minor, uint32_t epoch) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  sn_entity_print(&text, program, part, type, minor, epoch);
  struct sn_name *name = sn_name_new(program->monitor, text.data);
  base_buffer_done(&text);
  return name;
}

struct sn_entity *sn_entity_find(const struct sn_program *program, uint32_t part, uint32_t type,
                                 uint64_t minor, uint32_t epoch) {
  const struct sn_entities *entities = &program->entities;
  if (entities->size == 0) return NULL;
  struct sn_entity *entity = entities->places[place_of(entities, part, epoch)];
  while (entity != NULL && (entity->epoch != epoch || entity->part != part ||
                            entity->minor != minor || entity->type != type)) {
    entity = entity->next;
  }
  return entity;
}

struct sn_entity *sn_entity_of(struct sn_program *program, uint32_t part, uint32_t type,
                               uint64_t minor, uint32_t epoch) {
  struct sn_entity *entity = sn_entity_find(program, part, type, minor, epoch);
  if (entity != NULL) return entity;
  grow(&program->entities);
  entity = base_xmalloc(sizeof *entity);
  *entity = (struct sn_entity){.name = name_of(program, &program->parts[part], type, minor, epoch),
                               .minor = minor,
                               .epoch = epoch,
                               .type = type,
                               .part = part,
                               .made = program->scan,
                               .last_at = INT64_MIN};
  put(&program->entities, entity);
  program->entities.count++;
  return entity;
}

struct wanted {
  uint32_t module, type;
  uint64_t minor;
  struct sn_object_view found;
  bool any;
};

static void find(void *context, const struct sn_object_view *object) {
  struct wanted *wanted = context;
  if (object->module != wanted->module || object->type != wanted->type ||
      object->minor != wanted->minor) {
    return;
  }
  if (wanted->any && wanted->found.epoch > object->epoch) return; /* the youngest of several */
  wanted->any = true;
  wanted->found = *object;
}

/* All receptacles are looked at only for names that are new. */
struct sn_entity *sn_entity_named(struct sn_program *program, uint32_t part, uint32_t type,
                                  uint64_t minor) {
  struct sn_entities *entities = &program->entities;
  uint32_t changes = sn_peer_changes(program->peer);
  if (entities->size > 0) {
    struct sn_entity *each = entities->minors[minor_place(entities, type, minor)];
    for (; each != NULL; each = each->next_minor) {
      if (each->part == part && each->type == type && each->minor == minor && each->offset != 0 &&
          sn_peer_object_is(program->peer, each->offset, each->epoch)) {
        return each;
      }
    }
  }
  if (entities->missed_part == part && entities->missed_type == type &&
      entities->missed_minor == minor && entities->missed_changes == changes) {
    return NULL;
  }
  struct wanted wanted = {.module = program->parts[part].index, .type = type, .minor = minor};
  sn_peer_objects(program->peer, find, &wanted);
  if (wanted.any) {
    struct sn_entity *entity = sn_entity_of(program, part, type, minor, wanted.found.epoch);
    entity->offset = wanted.found.offset;
    return entity;
  }
  entities->missed_part = part;
  entities->missed_type = type;
  entities->missed_minor = minor;
  entities->missed_changes = changes;
  return NULL;
}

struct sn_open *sn_entity_open(struct sn_entity *entity, uint32_t event, uint32_t domain) {
  for (uint32_t i = 0; i < entity->open_count; i++) {
    struct sn_open *open = &entity->open[i];
    if (open->event == event && open->domain == domain) return open;
  }
  return NULL;
}

struct sn_taken *sn_entity_taken(struct sn_entity *entity, uint32_t event) {
  for (uint32_t i = 0; i < entity->taken_count; i++) {
    if (entity->taken[i].event == event) return &entity->taken[i];
  }
  return NULL;
}

void sn_entity_take(struct sn_entity *entity, uint32_t event) {
  struct sn_taken *taken = sn_entity_taken(entity, event);
  if (taken == NULL) {
    entity->taken = base_xrealloc(entity->taken, entity->taken_count + 1u, sizeof *entity->taken);
    taken = &entity->taken[entity->taken_count++];
    *taken = (struct sn_taken){.event = event};
  }
  taken->records++;
}

bool sn_entity_report(struct sn_entity *entity, uint32_t event, uint32_t domain, int64_t at,
                      uint32_t scan) {
  if (at > entity->last_at) entity->last_at = at;
  if (sn_entity_open(entity, event, domain) != NULL) return false;
  entity->open = base_xrealloc(entity->open, entity->open_count + 1u, sizeof *entity->open);
  entity->open[entity->open_count++] =
      (struct sn_open){.event = event, .domain = domain, .made = scan, .off_at = INT64_MIN};
  return true;
}

void sn_entity_take_out(struct sn_entities *entities, struct sn_entity **link) {
  struct sn_entity *entity = *link;
  struct sn_entity **minor = &entities->minors[minor_place(entities, entity->type, entity->minor)];
  while (*minor != entity) minor = &(*minor)->next_minor;
  *minor = entity->next_minor;
  *link = entity->next;
  entities->count--;
}

void sn_entity_free(struct sn_entity *entity) {
  free(entity->open);
  free(entity->sampling);
  free(entity->taken);
  free(entity->alone);
  free(entity);
}

void sn_entities_free(struct sn_program *program) {
  struct sn_entities *entities = &program->entities;
  for (size_t i = 0; i < entities->size; i++) {
    for (struct sn_entity *entity = entities->places[i], *next; entity != NULL; entity = next) {
      next = entity->next;
      free(entity->name);
      sn_entity_free(entity);
    }
  }
  free(entities->places);
  free(entities->minors);
}
