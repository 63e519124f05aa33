/* Periods that our own sensors tell: task forces, sensors, objects, which of the sensors are on.
 *
 *     somebody asks ──▶ all there is is told ──▶ what comes and goes is told ──▶ nobody asks: nothing is known
 *
 * The run-time ends what is open when a sensor of ours goes off; so a period that was told belongs to one time of being
 * asked for, and is told anew in the next. What is switched on is told before, and what is switched off behind, so that
 * all records of a sensor lie in the periods of SensorOn. Nothing is looked for here: who has found something says it. */
#include "sensors/collect/told.h"

#include <stdlib.h>

#include "sensors/collect/monitor_impl.h"

bool sn_tells(const struct sn_monitor *monitor, enum sn_self_period relation) {
  return monitor->telling.periods[relation].on;
}

/* Is there something to tell of it still? Once: what was lost then is counted as lost. */
static bool begin(struct sn_monitor *monitor, enum sn_self_period relation, struct sn_told *told) {
  uint32_t asking = monitor->telling.periods[relation].asking;
  if (!sn_tells(monitor, relation) || told->asking == asking) return false;
  told->asking = asking;
  monitor->telling.unread++;
  return true;
}

static void end(struct sn_monitor *monitor, enum sn_self_period relation, struct sn_told *told) {
  bool open = sn_tells(monitor, relation) && told->ticket.open &&
              told->asking == monitor->telling.periods[relation].asking;
  if (open) sn_self_over(relation, &told->ticket);
  monitor->telling.unread += open;
  *told = (struct sn_told){0};
}

void sn_tell_taskforce(struct sn_monitor *monitor, struct sn_known *known, bool there) {
  const struct sn_description *description = known->description;
  if (!there) {
    end(monitor, SN_SELF_TASKFORCE, &known->told);
  } else if (begin(monitor, SN_SELF_TASKFORCE, &known->told)) {
    known->told.ticket = sn_self_taskforce(description->name, description->version, known->digest,
                                           description->documentation);
  }
}

/* --- sensors */

bool sn_is_seen(const struct sn_program *program, const struct sn_part *part) {
  return program->state == SN_RUNNING && part->name != NULL && part->known->state == SN_KNOWN_GOOD;
}

uint32_t sn_part_events(const struct sn_part *part) {
  return part->event_count < part->known->event_count ? part->event_count
                                                      : part->known->event_count;
}

static void put_domain(struct base_buffer *out, const char *name, struct net_type type) {
  base_buffer_printf(out, "%s%s ", out->length > 0 ? ", " : "", name);
  net_type_print(out, type);
}

static void tell_event(struct sn_program *program, struct sn_part *part, uint32_t e) {
  struct sn_monitor *monitor = program->monitor;
  const struct sn_event_description *event = part->known->events[e].event;
  struct sn_told *told = &part->events[e].told;
  struct base_buffer domains = BASE_BUFFER_EMPTY, keys = BASE_BUFFER_EMPTY;
  const char *implicit[3];
  size_t count = sn_event_implicit(event, implicit);
  if (!begin(monitor, SN_SELF_EVENT, told)) return;
  for (size_t i = 0; i < count; i++) {
    put_domain(&domains, implicit[i], (struct net_type){.base = NET_NAME});
  }
  for (size_t i = 0; i < event->domain_count; i++) {
    put_domain(&domains, event->domains[i].name, event->domains[i].type);
  }
  for (size_t i = 0; i < event->key_count; i++) {
    base_buffer_printf(&keys, "%s%s", i > 0 ? ", " : "", event->keys[i]);
  }
  told->ticket = sn_self_event(part->name->text, event->name, part->known->description->name,
                               sn_relation_name(event->relation), base_buffer_text(&keys),
                               base_buffer_text(&domains));
  base_buffer_done(&keys);
  base_buffer_done(&domains);
}

void sn_tell_switched(struct sn_program *program, struct sn_part *part, uint32_t e, bool on) {
  struct sn_told *told = &part->events[e].told_on;
  if (!on) {
    end(program->monitor, SN_SELF_ON, told);
  } else if (sn_is_seen(program, part) && begin(program->monitor, SN_SELF_ON, told)) {
    told->ticket = sn_self_on(part->name->text, part->known->events[e].event->name, "");
  }
}

static void look_at_part(struct sn_program *program, struct sn_part *part) {
  if (!sn_is_seen(program, part)) return;
  for (uint32_t e = 1; e < sn_part_events(part); e++) {
    const struct sn_event_description *event = part->known->events[e].event;
    if (event == NULL) continue;
    bool on = event->assume_enabled ? part->listening : part->events[e].want != 0;
    tell_event(program, part, e);
    sn_tell_switched(program, part, e, on);
  }
}

void sn_tell_sensors(struct sn_program *program) {
  const struct sn_monitor *monitor = program->monitor;
  if (!sn_tells(monitor, SN_SELF_EVENT) && !sn_tells(monitor, SN_SELF_ON)) return;
  for (size_t i = 0; i < program->part_count; i++) look_at_part(program, &program->parts[i]);
}

/* --- objects */

void sn_tell_object(struct sn_program *program, const struct sn_part *part, const char *type,
                    struct sn_entity *entity) {
  if (!begin(program->monitor, SN_SELF_OBJECT, &entity->told)) return;
  entity->told.ticket = sn_self_object(part->name->text, type, entity->name->text);
}

static struct sn_alone *alone_of(struct sn_entity *entity, uint32_t event, bool make) {
  for (uint32_t i = 0; i < entity->alone_count; i++) {
    if (entity->alone[i].event == event) return &entity->alone[i];
  }
  if (!make) return NULL;
  entity->alone = base_xrealloc(entity->alone, entity->alone_count + 1u, sizeof *entity->alone);
  entity->alone[entity->alone_count] = (struct sn_alone){.event = event};
  return &entity->alone[entity->alone_count++];
}

void sn_tell_object_switched(struct sn_program *program, const struct sn_part *part, uint32_t e,
                             struct sn_entity *entity, bool on) {
  struct sn_monitor *monitor = program->monitor;
  bool tells = on && sn_tells(monitor, SN_SELF_ON) && sn_is_seen(program, part);
  struct sn_alone *alone = alone_of(entity, e, tells);
  if (alone == NULL) return;
  if (!tells) {
    end(monitor, SN_SELF_ON, &alone->told);
    *alone = entity->alone[--entity->alone_count];
  } else if (begin(monitor, SN_SELF_ON, &alone->told)) {
    alone->told.ticket =
        sn_self_on(part->name->text, part->known->events[e].event->name, entity->name->text);
  }
}

void sn_tell_entity_ends(struct sn_program *program, struct sn_entity *entity) {
  struct sn_monitor *monitor = program->monitor;
  end(monitor, SN_SELF_OBJECT, &entity->told);
  for (uint32_t i = 0; i < entity->alone_count; i++) {
    end(monitor, SN_SELF_ON, &entity->alone[i].told);
  }
  entity->alone_count = 0;
}

void sn_tell_part_ends(struct sn_program *program, struct sn_part *part) {
  uint32_t index = (uint32_t)(part - program->parts);
  for (uint32_t e = 1; e < part->event_count; e++) {
    end(program->monitor, SN_SELF_EVENT, &part->events[e].told);
    end(program->monitor, SN_SELF_ON, &part->events[e].told_on);
  }
  for (size_t i = 0; i < program->entities.size; i++) {
    struct sn_entity *entity = program->entities.places[i];
    for (; entity != NULL; entity = entity->next) {
      if (entity->part == index) sn_tell_entity_ends(program, entity);
    }
  }
}
