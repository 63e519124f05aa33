/* Watches to switches.
 *
 * A scan brings one program in line with the watches: first the switches of its processes, which are what new
 * objects begin with, then those of each object. It goes on in slices between drains, so that thousands
 * of objects cost no record; it starts over when watches or objects have changed meanwhile. Only programs
 * with events that ask objects, and that somebody watches, are scanned for objects.
 *
 * The switch of a receptaclesampled event is good for one record: a scan sets it only where a sample has become
 * due since the scan before (sampling.c).                                                            */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/env.h"
#include "sensors/collect/monitor_impl.h"

enum { OBJECTS_A_SLICE = 128 };

void sn_switching_want(struct sn_monitor *monitor) {
  for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
    program->scan_wanted = true;
    program->scan_after = 0;
  }
}

/* --- of a process */

static unsigned wanted_of_process(const struct sn_part *part, const struct sn_known_event *known) {
  const char *holder = known->event->assume_enabled ? NULL : known->holder;
  if (known->interest->count == 0) return 0;
  return sn_interest_wants(known->interest, part->name->text, holder, NULL) ? SN_TRACE : 0;
}

static void switch_process(struct sn_program *program, struct sn_part *part, uint32_t e,
                           unsigned want, bool once) {
  struct sn_part_event *event = &part->events[e];
  bool was_on = event->want != 0, assumed = part->known->events[e].event->assume_enabled;
  if (event->want == want) return;
  if (was_on && !assumed) sn_periods_event_off(program, part, e);
  if (want != 0 && !assumed) sn_periods_event_on(program, part, e);
  if (want != 0 && !assumed) sn_tell_switched(program, part, e, true);
  /* One that waits for its one record waits no longer. */
  if ((!once || want == 0) && !assumed)
    sn_peer_switch(program->peer, part->index, e, want != 0 ? want | sn_overload_mode(event) : 0);
  event->want = (uint8_t)want;
  if (want == 0 && !assumed) sn_tell_switched(program, part, e, false);
}

/* Events that are assumed to be enabled are, as long as we listen. */
static void listen_to(struct sn_program *program, struct sn_part *part, bool on) {
  if (part->listening == on) return;
  for (uint32_t e = 1; e < part->event_count && e < part->known->event_count; e++) {
    const struct sn_event_description *event = part->known->events[e].event;
    if (event == NULL || !event->assume_enabled) continue;
    if (on) {
      sn_periods_event_on(program, part, e);
    } else {
      sn_periods_event_off(program, part, e);
    }
  }
  sn_peer_listen(program->peer, part->index, on);
  part->listening = on;
}

/* Whether records may come of the event. New objects are found by looking: who waits for one by its name looks
 * as often as if he had it. */
static bool is_awake(const struct sn_part *part, uint32_t e) {
  const struct sn_known_event *known = &part->known->events[e];
  if (part->events[e].want != 0 || known->event->assume_enabled) return true;
  return known->holder != NULL && sn_interest_wants_process(known->interest, part->name->text);
}

/* What it has put on by itself, as it found it wanted when it began. */
static void take_early(struct sn_program *program, struct sn_part *part, uint32_t e) {
  const struct sn_event_description *event = part->known->events[e].event;
  struct sn_part_event *state = &part->events[e];
  if (event->assume_enabled) {
    part->listening |= (sn_peer_switched(program->peer, part->index, 0) & SN_TRACE) != 0;
  } else {
    sn_peer_take_counts(program->peer, part->index, e);
  }
  if (!event->assume_enabled && state->want == 0 && !sn_is_once(event)) {
    state->want = sn_peer_switched(program->peer, part->index, e) & SN_TRACE;
  }
}

static void switch_part(struct sn_program *program, struct sn_part *part) {
  bool any = false;
  for (uint32_t e = 1; e < part->event_count && e < part->known->event_count; e++) {
    if (part->known->events[e].event != NULL) take_early(program, part, e);
  }
  for (uint32_t e = 1; e < part->event_count && e < part->known->event_count; e++) {
    const struct sn_known_event *known = &part->known->events[e];
    if (known->event == NULL || known->interest->count == 0) continue;
    any |= sn_interest_wants_process(known->interest, part->name->text);
  }
  if (any) listen_to(program, part, true);
  for (uint32_t e = 1; e < part->event_count && e < part->known->event_count; e++) {
    const struct sn_known_event *known = &part->known->events[e];
    struct sn_part_event *event = &part->events[e];
    if (known->event == NULL) continue;
    unsigned want = wanted_of_process(part, known);
    bool once = sn_is_once(known->event);
    event->once_now = event->once_due;
    event->once_due = false;
    event->once_for_now = event->once_for;
    event->once_for = NULL;
    switch_process(program, part, e, want, once);
    if (sn_counts_switch(program, part, e)) program->objects_wanted = true;
    if (known->holder != NULL && known->interest->count > 0) program->objects_wanted = true;
    if (any && is_awake(part, e)) program->enabled = true;
    if (any && sn_is_sampled(known->event)) {
      program->monitor->sampled = true;
      program->monitor->sampled_scans++;
    }
  }
  if (!any) listen_to(program, part, false);
}

/* --- of objects */

/* Counts the triggers that name it; *ENTITY may be NULL, and then is made. */
static size_t triggers_of(struct sn_program *program, struct sn_part *part, uint32_t e,
                          const struct sn_object_view *object, struct sn_entity **entity) {
  const struct sn_watch *triggers = part->events[e].once_for_now;
  const char *holder = part->known->events[e].holder;
  size_t count = 0;
  if (triggers == NULL) return 0;
  if (*entity == NULL) {
    *entity = sn_entity_of(program, (uint32_t)(part - program->parts), object->type, object->minor,
                           object->epoch);
  }
  for (; triggers != NULL; triggers = triggers->next)
    count += sn_watch_wants(triggers, part->name->text, holder, (*entity)->name);
  return count;
}

/* The switch is good for one record, which answers all TRIGGERS; NOW: how it stands. */
static void trigger_object(struct sn_program *program, struct sn_part *part, uint32_t e,
                           const struct sn_object_view *object, size_t triggers, unsigned now) {
  struct sn_part_event *event = &part->events[e];
  event->triggers += triggers;
  event->coalesced += (now & SN_ONCE) != 0 ? triggers : triggers - 1;
  sn_peer_switch_object(program->peer, object, e, SN_TRACE | SN_ONCE);
}

static void switch_object(struct sn_program *program, struct sn_part *part, uint32_t e,
                          const struct sn_object_view *object, struct sn_entity **entity,
                          bool wanted) {
  const struct sn_known_event *known = &part->known->events[e];
  unsigned now = sn_peer_object_switched(program->peer, object, e);
  if (sn_is_once(known->event)) {
    size_t triggers = wanted ? triggers_of(program, part, e, object, entity) : 0;
    if (triggers > 0) trigger_object(program, part, e, object, triggers, now);
    if (wanted && part->events[e].once_now) {
      sn_sampling_ask_object(program, part, e, object, entity);
    } else if (!wanted && now != 0) {
      sn_peer_switch_object(program->peer, object, e, 0);
    }
    return;
  }
  sn_periods_object(program, part, e, *entity, now != 0, wanted);
  /* One that has made its record, of those that overload leaves it, gets another. */
  unsigned want = wanted ? SN_TRACE | sn_overload_mode(&part->events[e]) : 0;
  if (now != want) sn_peer_switch_object(program->peer, object, e, want);
}

static void switch_event(struct sn_program *program, struct sn_part *part, uint32_t e,
                         const struct sn_object_view *object, struct sn_entity **entity) {
  const struct sn_known_event *known = &part->known->events[e];
  struct sn_part_event *event = &part->events[e];
  bool wanted = event->want != 0;
  if (!wanted && known->interest->count > 0) {
    if (*entity == NULL) {
      *entity = sn_entity_of(program, (uint32_t)(part - program->parts), object->type,
                             object->minor, object->epoch);
    }
    wanted = sn_interest_wants(known->interest, part->name->text, known->holder, (*entity)->name);
  }
  if (wanted) event->objects_seen++;
  bool alone = wanted && event->want == 0;
  if (alone) sn_tell_object_switched(program, part, e, *entity, true);
  switch_object(program, part, e, object, entity, wanted);
  if (!alone && *entity != NULL) sn_tell_object_switched(program, part, e, *entity, false);
}

/* Whether the event asks receptacles of TYPE. */
static bool asks(const struct sn_event_description *event, uint32_t type) {
  const struct sn_type_description *asked = sn_asked_type(event);
  return asked != NULL && asked->number == type && !event->assume_enabled;
}

static void tell_object(struct sn_program *program, struct sn_part *part,
                        const struct sn_object_view *object, struct sn_entity **entity) {
  const struct sn_type_description *type = sn_known_type(part->known, object->type);
  if (!sn_is_seen(program, part)) return;
  if (*entity == NULL) {
    *entity = sn_entity_of(program, (uint32_t)(part - program->parts), object->type, object->minor,
                           object->epoch);
  }
  sn_tell_object(program, part, type != NULL ? type->name : "object", *entity);
}

static void visit(void *context, const struct sn_object_view *object) {
  struct sn_program *program = context;
  struct sn_part *part = sn_program_part(program, object->module);
  struct sn_entity *entity = NULL;
  if (part == NULL || part->name == NULL || part->closed) return;
  entity = sn_entity_find(program, (uint32_t)(part - program->parts), object->type, object->minor,
                          object->epoch);
  if (sn_tells(program->monitor, SN_SELF_OBJECT)) tell_object(program, part, object, &entity);
  uint32_t events = part->event_count;
  if (events > part->known->event_count) events = part->known->event_count;
  for (uint32_t e = 1; e < events && e < object->switches; e++) {
    const struct sn_event_description *event = part->known->events[e].event;
    if (event == NULL || !asks(event, object->type)) continue;
    switch_event(program, part, e, object, &entity);
    sn_peer_count_object(program->peer, object, e);
  }
  sn_accountant_own(program->monitor);
  if (entity == NULL) return;
  entity->seen = program->scan;
  entity->offset = object->offset;
}

/* --- scans */

static void scan_start(struct sn_program *program, int64_t now) {
  struct sn_monitor *monitor = program->monitor;
  bool before = program->objects_wanted;
  program->scan_wanted = false;
  program->scanning = true;
  program->scan++;
  program->scan_of = monitor->commands;
  program->scan_started = now;
  program->place = (struct sn_object_place){0, 0};
  program->objects_wanted = program->enabled = false;
  if (!program->begun) sn_periods_begin(program);
  for (size_t i = 0; i < program->part_count; i++) {
    struct sn_part *part = &program->parts[i];
    for (uint32_t e = 0; e < part->event_count; e++) part->events[e].objects_seen = 0;
    if (part->name != NULL && !part->closed) switch_part(program, part);
  }
  /* What was on for objects must go off, too. */
  program->objects_wanted |= before || program->entities.count > 0;
  program->objects_wanted |= sn_tells(monitor, SN_SELF_OBJECT);
  if (program->enabled && !monitor->enabled) monitor->check_at = 0; /* it was at rest */
  monitor->enabled |= program->enabled;
}

static void scan_end(struct sn_program *program) {
  int64_t now = base_env_monotonic();
  bool objects = false;
  program->scanning = false;
  program->report_wanted = true;
  if (program->scanned != program->scan_of) sn_report_soon(program->monitor);
  program->scanned = program->scan_of;
  program->scan_after = now + 4 * (now - program->scan_started) + 1000000;
  sn_entities_sweep(program, false);
  sn_tell_sensors(program);
  sn_accountant_own(program->monitor);
  if (program->settling) sn_periods_settle(program);
  for (size_t i = 0; i < program->part_count; i++) {
    struct sn_part *part = &program->parts[i];
    for (uint32_t e = 0; e < part->event_count; e++) {
      struct sn_part_event *event = &part->events[e];
      event->once_now = false;
      sn_watch_list_free(event->once_for_now);
      event->once_for_now = NULL;
      if (event->objects != event->objects_seen) program->report_wanted = true;
      event->objects = event->objects_seen;
      if (part->name == NULL || e >= part->known->event_count) continue;
      const struct sn_known_event *known = &part->known->events[e];
      if (known->event != NULL && known->holder != NULL && known->interest->count > 0) {
        objects = true;
      }
    }
  }
  program->objects_wanted = objects || program->entities.count > 0;
  /* The gone ones are seen to by another scan. */
  if (program->entities.count > 0 && !program->scan_wanted) {
    for (size_t i = 0; i < program->entities.size && !program->scan_wanted; i++) {
      const struct sn_entity *entity = program->entities.places[i];
      for (; entity != NULL; entity = entity->next) program->scan_wanted |= entity->gone;
    }
  }
}

/* One slice of one program; false: nothing to do. */
static bool scan_slice(struct sn_program *program) {
  int64_t now = base_env_monotonic();
  if (program->state != SN_RUNNING || !sn_program_ready(program)) return false;
  if (!program->scanning) {
    bool other = program->scan_of != program->monitor->commands;
    bool settle = sn_periods_due(program);
    if (!(program->scan_wanted || settle) || (now < program->scan_after && !other)) return false;
    if (settle) sn_periods_settle_begin(program);
    scan_start(program, now);
  }
  bool more = program->objects_wanted && sn_peer_objects_slice(program->peer, &program->place,
                                                               OBJECTS_A_SLICE, visit, program);
  if (!more) scan_end(program);
  return true;
}

bool sn_switching_slice(struct sn_monitor *monitor, int64_t budget_ns) {
  int64_t end = base_env_monotonic() + budget_ns;
  bool any = true;
  while (any && base_env_monotonic() < end) {
    any = false;
    for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
      any |= scan_slice(program);
      if (any && base_env_monotonic() >= end) return true;
    }
  }
  return any;
}

static void switch_object_off(void *context, const struct sn_object_view *object) {
  struct sn_program *program = context;
  for (uint32_t e = 0; e < object->switches; e++) {
    if (sn_peer_object_switched(program->peer, object, e) != 0) {
      sn_peer_switch_object(program->peer, object, e, 0);
    }
  }
}

void sn_switching_off(struct sn_monitor *monitor) {
  for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
    if (program->state != SN_RUNNING) continue;
    sn_counts_off(program);
    for (size_t i = 0; i < program->part_count; i++) {
      struct sn_part *part = &program->parts[i];
      for (uint32_t e = 0; e < part->event_count; e++) {
        sn_peer_switch(program->peer, part->index, e, 0);
      }
    }
    sn_peer_objects(program->peer, switch_object_off, program);
  }
}
