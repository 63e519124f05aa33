/* What our own sensors say of the system: who asks, and samples of what receptacles hold and of how many records there
 * were. Periods are in told.c.
 *
 * We are the one who reads our own rings, so whoever tells much reads them in the midst of it (sn_accountant_own). */
#include "sensors/collect/system.h"

#include <inttypes.h>
#include <string.h>

#include "engine/base/env.h" /* base_hash */
#include "sensors/collect/monitor_impl.h"

/* --- task forces */

static bool is_there(const struct sn_monitor *monitor, const struct sn_known *known) {
  const struct sn_program *program = monitor->programs;
  for (; program != NULL; program = program->next) {
    for (size_t i = 0; program->state != SN_ENDED && i < program->part_count; i++) {
      if (program->parts[i].known == known && program->parts[i].name != NULL) return true;
    }
  }
  return false;
}

static void tell_taskforces(struct sn_monitor *monitor) {
  for (struct sn_known *known = monitor->known; known != NULL; known = known->next) {
    if (known->state != SN_KNOWN_GOOD) continue;
    sn_tell_taskforce(monitor, known, is_there(monitor, known));
    sn_accountant_own(monitor);
  }
}

/* --- who asks */

static void look_at_asking(struct sn_monitor *monitor) {
  struct sn_telling *telling = &monitor->telling;
  bool fresh = false, objects = false;
  for (unsigned i = 0; i < SN_SELF_PERIODS; i++) {
    bool on = sn_self_period_asked((enum sn_self_period)i);
    if (on && !telling->periods[i].on) {
      telling->periods[i].asking++;
      fresh = true;
      objects |= i == SN_SELF_OBJECT || i == SN_SELF_ON;
    }
    telling->periods[i].on = on;
  }
  bool counts = sn_self_counts_asked();
  if (objects || counts != telling->counts) sn_switching_want(monitor);
  if (counts != telling->counts) monitor->commands++; /* programs that begin are told, too */
  telling->counts = counts;
  for (struct sn_program *program = monitor->programs; fresh && program != NULL;
       program = program->next) {
    if (sn_program_ready(program)) sn_tell_sensors(program);
    sn_accountant_own(monitor);
  }
}

void sn_system_turn(struct sn_monitor *monitor) {
  look_at_asking(monitor);
  if (sn_tells(monitor, SN_SELF_TASKFORCE)) tell_taskforces(monitor);
}

/* --- samples */

/* The same in each round, and of each collector. */
static int64_t number_of(const struct sn_self_sensor *sensor) {
  uint64_t hash = base_hash(sensor->process, strlen(sensor->process), 0);
  hash = base_hash(sensor->event, strlen(sensor->event), hash);
  return (int64_t)(base_hash(sensor->object, strlen(sensor->object), hash) >> 1);
}

static void put_count(struct sn_monitor *monitor, const struct sn_self_sensor *sensor,
                      const struct sn_holding *holding) {
  const struct sn_entry_view *entry = &holding->entry;
  struct sn_self_count sample = {.count = entry->count, .missed = entry->missed};
  if (sn_holding_moments(holding, &sample.mean, &sample.deviation)) sample.sum = entry->sum;
  sn_self_count(sensor, &sample);
  monitor->telling.unread++;
  sn_accountant_own(monitor);
}

static void put_records(struct sn_monitor *monitor, const struct sn_self_sensor *sensor,
                        const struct sn_totals *totals) {
  sn_self_records(
      sensor, &(struct sn_self_records){
                  .records = totals->records, .lost = totals->lost, .escaped = totals->escaped});
  monitor->telling.unread++;
  sn_accountant_own(monitor);
}

/* All that is sampled of a program. */
struct sampling {
  struct sn_program *program;
  bool counts; /* what receptacles hold; else records */
  struct base_buffer name;
};

static struct sn_self_sensor sensor_of(const struct sn_part *part, uint32_t e, const char *object) {
  struct sn_self_sensor sensor = {
      .process = part->name->text, .event = part->known->events[e].event->name, .object = object};
  sensor.number = number_of(&sensor);
  return sensor;
}

static void sample_event(const struct sampling *sampling, const struct sn_part *part, uint32_t e) {
  struct sn_monitor *monitor = sampling->program->monitor;
  struct sn_self_sensor sensor = sensor_of(part, e, "");
  struct sn_holding holding;
  struct sn_totals totals;
  if (!sampling->counts) {
    if (sn_totals_of(sampling->program, part, e, &totals)) put_records(monitor, &sensor, &totals);
  } else if (!part->known->events[e].event->assume_enabled && /* those are not counted */
             sn_holding_of(sampling->program, part, e, &holding)) {
    put_count(monitor, &sensor, &holding);
  }
}

/* What OBJECT is called, which is ENTITY if that is known. */
static const char *name_of(struct sampling *sampling, const struct sn_part *part,
                           const struct sn_object_view *object, const struct sn_entity *entity) {
  if (entity != NULL) return entity->name->text;
  base_buffer_clear(&sampling->name);
  sn_entity_print(&sampling->name, sampling->program, part, object->type, object->minor,
                  object->epoch);
  return base_buffer_text(&sampling->name);
}

static void sample_object(void *context, const struct sn_object_view *object) {
  struct sampling *sampling = context;
  struct sn_program *program = sampling->program;
  const struct sn_part *part = sn_program_part(program, object->module);
  if (part == NULL || !sn_is_seen(program, part)) return;
  struct sn_entity *entity = sn_entity_find(program, (uint32_t)(part - program->parts),
                                            object->type, object->minor, object->epoch);
  for (uint32_t e = 1; e < sn_part_events(part) && e < object->switches; e++) {
    struct sn_holding holding;
    struct sn_totals totals;
    if (part->known->events[e].event == NULL) continue;
    if (sampling->counts && sn_holding_of_object(program, part, e, object, &holding)) {
      struct sn_self_sensor sensor = sensor_of(part, e, name_of(sampling, part, object, entity));
      put_count(program->monitor, &sensor, &holding);
    } else if (!sampling->counts && entity != NULL &&
               sn_totals_of_object(program, part, e, object, entity, &totals)) {
      struct sn_self_sensor sensor = sensor_of(part, e, entity->name->text);
      put_records(program->monitor, &sensor, &totals);
    }
  }
}

static void sample_program(struct sn_program *program, bool counts) {
  struct sampling sampling = {program, counts, BASE_BUFFER_EMPTY};
  for (size_t i = 0; i < program->part_count; i++) {
    const struct sn_part *part = &program->parts[i];
    for (uint32_t e = 1; sn_is_seen(program, part) && e < sn_part_events(part); e++) {
      if (part->known->events[e].event != NULL) sample_event(&sampling, part, e);
    }
  }
  if (counts || program->objects_wanted) sn_peer_objects(program->peer, sample_object, &sampling);
  base_buffer_done(&sampling.name);
}

static void sample_all(struct sn_monitor *monitor, bool counts) {
  for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
    if (sn_program_ready(program)) sample_program(program, counts);
  }
}

void sn_system_sample(struct sn_monitor *monitor) {
  if (sn_self_counts_due()) {
    sample_all(monitor, true);
    sn_self_counts_done();
  }
  if (sn_self_records_due()) {
    sample_all(monitor, false);
    sn_self_records_done();
  }
}
