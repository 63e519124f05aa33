/* Open periods: a traced event whose sensor is off has none, for nobody knows how it stands.
 *
 *     switched off at t ──▶ all rings have been read up to t ──▶ a scan without it ──▶ end record at t
 *
 * Records that were made before lie in the rings still when the switch goes: the end waits for them, and
 * comes behind the last of them. Checkpoints wait as well (sn_periods_bound). A thread that had asked the
 * switch before it went may write a record after all: a period that is opened within the patience of a
 * switching off is looked at again. What the process's own switch decides is known from the switch;
 * what objects' switches decide is known from a scan that began later.
 *
 * An end record names the process, and an object of the key if that has been switched off or has ended: it ends all
 * periods that records of this process have opened, of that object, whatever else is of their key.  */
#include <stdlib.h>

#include "engine/base/env.h"
#include "sensors/collect/monitor_impl.h"

static bool is_traced(const struct sn_known_event *known) {
  return known->event != NULL && known->event->relation == SN_KIND_TRACED;
}

/* The description of event E of PART; NULL: it has no periods. */
static const struct sn_known_event *traced_event(const struct sn_part *part, uint32_t e) {
  if (part->name == NULL || e >= part->known->event_count) return NULL;
  const struct sn_known_event *known = &part->known->events[e];
  return is_traced(known) ? known : NULL;
}

/* --- what has been switched, and what has come since */

static void want_ends(struct sn_program *program, int64_t at) {
  program->settle_again |= program->settling;
  if (program->ends_wanted) return;
  program->ends_wanted = true;
  program->ends_since = base_env_monotonic();
  program->ends_from = at;
}

static void went_off(struct sn_program *program, int64_t at) {
  want_ends(program, at);
  if (at > program->off_last) program->off_last = at;
}

void sn_periods_opened(struct sn_program *program, int64_t at) {
  if (program->off_last == INT64_MIN || at < program->off_last) return;
  if (at - program->off_last <= program->monitor->options.patience_ns) want_ends(program, at);
}

static bool patience_is_over(const struct sn_program *program, int64_t monotonic) {
  return monotonic - program->ends_since > program->monitor->options.patience_ns;
}

int64_t sn_periods_bound(const struct sn_program *program, int64_t monotonic) {
  if (!program->ends_wanted || patience_is_over(program, monotonic)) return INT64_MAX;
  return program->ends_from;
}

bool sn_periods_due(const struct sn_program *program) {
  const struct sn_monitor *monitor = program->monitor;
  const struct sn_timeline *line = &monitor->lines[sn_peer_identity(program->peer)->clock - 1];
  if (!program->ends_wanted || sn_uplink_tight(monitor) || sn_uplink_holds(monitor)) return false;
  if (patience_is_over(program, base_env_monotonic())) return true;
  for (size_t i = 0; i < program->intake_count; i++) {
    struct sn_pipe_view view;
    sn_pipe_view(program->peer, i, &view);
    uint64_t stamp = program->intakes[i].last_stamp;
    if (view.accounted >= view.generated) continue;
    if (stamp == 0 || sn_timeline_time(line, stamp) <= program->off_last) return false;
  }
  return true;
}

/* --- ends */

static bool is_on(const struct sn_part *part, const struct sn_known_event *known, uint32_t e) {
  return known->event->assume_enabled ? part->listening : part->events[e].want != 0;
}

/* Behind what is known of it, and not before what has been promised. */
static void end_at(struct sn_program *program, struct sn_part *part, uint32_t e, uint32_t domain,
                   const struct sn_name *name, int64_t off_at, int64_t last_at) {
  const struct sn_monitor *monitor = program->monitor;
  int64_t at = last_at >= off_at ? last_at + 1 : off_at, error = monitor->uplink.error;
  int64_t lo = at - error;
  if (lo < monitor->checked) lo = monitor->checked;
  if (at < lo) at = lo;
  sn_accountant_end_record(program, part, e, domain, name, lo, at + error);
}

/* What ENTITY has opened by OPEN. */
static void end_open(struct sn_program *program, const struct sn_entity *entity,
                     const struct sn_open *open, int64_t off_at) {
  end_at(program, &program->parts[entity->part], open->event, open->domain, entity->name, off_at,
         entity->last_at);
}

/* All that the process has opened. */
static void end_event(struct sn_program *program, struct sn_part *part, uint32_t e) {
  struct sn_part_event *event = &part->events[e];
  int64_t off_at = event->off_at != INT64_MIN ? event->off_at : program->ends_from;
  end_at(program, part, e, 0, NULL, off_at, event->last_at);
  event->reported = event->taken_over = false;
  event->off_at = INT64_MIN;
}

void sn_periods_event_off(struct sn_program *program, struct sn_part *part, uint32_t e) {
  if (traced_event(part, e) == NULL) return;
  int64_t now = sn_monitor_time(program->monitor);
  part->events[e].off_at = now;
  went_off(program, now);
}

/* It has been off for a moment, and what it had open has not been ended yet. */
void sn_periods_event_on(struct sn_program *program, struct sn_part *part, uint32_t e) {
  const struct sn_known_event *known = traced_event(part, e);
  struct sn_part_event *event = &part->events[e];
  if (known == NULL || event->off_at == INT64_MIN) return;
  if (!known->holder_of_key || event->taken_over) end_event(program, part, e);
  event->off_at = INT64_MIN;
}

void sn_periods_object(struct sn_program *program, struct sn_part *part, uint32_t e,
                       struct sn_entity *entity, bool was_on, bool on) {
  const struct sn_known_event *known = traced_event(part, e);
  if (known == NULL) return;
  struct sn_open *open = entity != NULL ? sn_entity_open(entity, e, known->holder_domain) : NULL;
  if (on) {
    part->events[e].objects_on = program->scan;
    if (open != NULL) open->on = program->scan;
    if (open == NULL || open->off_at == INT64_MIN) return;
    end_open(program, entity, open, open->off_at);
    *open = entity->open[--entity->open_count];
  } else if (was_on) {
    int64_t now = sn_monitor_time(program->monitor);
    if (open != NULL) open->off_at = now;
    went_off(program, now);
  }
}

/* --- settling */

static void settle_events(struct sn_program *program, struct sn_part *part) {
  for (uint32_t e = 1; e < part->event_count; e++) {
    const struct sn_known_event *known = traced_event(part, e);
    struct sn_part_event *event = &part->events[e];
    if (known == NULL || !event->reported || is_on(part, known, e)) continue;
    if (known->holder_of_key && !event->taken_over) continue; /* objects' own */
    if (known->holder != NULL && !event->taken_over && event->objects_on == program->scan) continue;
    if (event->off_at > program->settled_at || sn_uplink_tight(program->monitor)) {
      program->settle_again = true; /* switched by this very scan: the next one */
    } else {
      end_event(program, part, e);
    }
  }
}

static bool is_to_settle(struct sn_program *program, const struct sn_entity *entity,
                         const struct sn_open *open) {
  struct sn_part *part = &program->parts[entity->part];
  const struct sn_known_event *known = traced_event(part, open->event);
  if (known == NULL || !known->holder_of_key || is_on(part, known, open->event)) return false;
  if (open->domain != known->holder_domain) return false;
  if (open->on == program->scan) return false;
  bool later = open->made == program->scan || open->off_at > program->settled_at ||
               sn_uplink_tight(program->monitor);
  program->settle_again |= later; /* the scan has not seen it, or has switched it */
  return !later;
}

static void settle_entity(struct sn_program *program, struct sn_entity *entity) {
  if (entity->gone || entity->seen != program->scan) return; /* it ends as a whole */
  for (uint32_t i = 0; i < entity->open_count;) {
    struct sn_open *open = &entity->open[i];
    if (!is_to_settle(program, entity, open)) {
      i++;
      continue;
    }
    int64_t off_at = open->off_at != INT64_MIN ? open->off_at : program->ends_from;
    end_open(program, entity, open, off_at);
    *open = entity->open[--entity->open_count];
  }
}

void sn_periods_settle_begin(struct sn_program *program) {
  program->settling = true;
  program->settle_again = false;
  program->settled_at = program->off_last;
}

void sn_periods_settle(struct sn_program *program) {
  program->settling = false;
  for (size_t i = 0; i < program->part_count; i++) {
    settle_events(program, &program->parts[i]);
  }
  for (size_t i = 0; i < program->entities.size; i++) {
    struct sn_entity *entity = program->entities.places[i];
    for (; entity != NULL; entity = entity->next) settle_entity(program, entity);
  }
  program->ends_wanted = program->settle_again;
  program->ends_since = base_env_monotonic();
  if (program->settled_at > program->ends_from) program->ends_from = program->settled_at;
}

/* --- beginnings and ends */

void sn_periods_process_ended(struct sn_program *program, struct sn_part *part, uint32_t e,
                              int64_t lo, int64_t hi) {
  struct sn_part_event *event = &part->events[e];
  if (!event->reported || part->name == NULL || e >= part->known->event_count) return;
  const struct sn_known_event *known = &part->known->events[e];
  bool of_objects = is_traced(known) && known->holder_of_key && !event->taken_over;
  if (!of_objects) sn_accountant_end_record(program, part, e, 0, NULL, lo, hi);
  event->reported = event->taken_over = false;
}

/* Whether records have been read that are in no tally: their reader was killed before he counted them. */
static bool is_uncounted(const struct sn_program *program) {
  uint64_t released = 0, counted = 0;
  for (size_t i = 0; i < sn_peer_pipes(program->peer); i++) {
    struct sn_pipe_view view;
    sn_pipe_view(program->peer, i, &view);
    released += view.released;
  }
  for (size_t i = 0; i < program->part_count; i++) {
    const struct sn_part *part = &program->parts[i];
    for (uint32_t e = 1; e < part->event_count; e++) {
      struct sn_tally tally;
      if (sn_peer_tally(program->peer, part->index, e, &tally)) counted += tally.received;
    }
  }
  return released > counted;
}

static void take_over(struct sn_program *program) {
  bool any = is_uncounted(program);
  for (size_t i = 0; i < program->part_count; i++) {
    struct sn_part *part = &program->parts[i];
    for (uint32_t e = 1; e < part->event_count; e++) {
      struct sn_tally tally;
      bool taken = sn_peer_tally(program->peer, part->index, e, &tally) && tally.received > 0;
      part->events[e].taken_over = any || taken;
      part->events[e].reported |= any || taken;
    }
  }
}

void sn_periods_begin(struct sn_program *program) {
  const struct sn_timeline *line = &program->monitor->lines[SN_CLOCK_MONOTONIC - 1];
  int64_t at = sn_timeline_time(line, program->attached);
  program->begun = true;
  take_over(program);
  for (size_t i = 0; i < program->part_count; i++) {
    struct sn_part *part = &program->parts[i];
    for (uint32_t e = 1; e < part->event_count; e++) {
      if (!part->events[e].taken_over || traced_event(part, e) == NULL) continue;
      part->events[e].off_at = at;
      went_off(program, at);
    }
  }
}

static void stop_program(struct sn_program *program, int64_t now) {
  went_off(program, now);
  for (size_t i = 0; i < program->part_count; i++) {
    struct sn_part *part = &program->parts[i];
    for (uint32_t e = 1; e < part->event_count; e++) {
      if (part->events[e].off_at == INT64_MIN) part->events[e].off_at = now;
    }
  }
}

void sn_periods_stop(struct sn_monitor *monitor) {
  int64_t now = sn_monitor_time(monitor);
  for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
    if (program->state == SN_RUNNING && sn_program_ready(program)) stop_program(program, now);
  }
}

static void end_all(struct sn_program *program) {
  for (size_t i = 0; i < program->part_count; i++) {
    struct sn_part *part = &program->parts[i];
    for (uint32_t e = 1; e < part->event_count; e++) {
      const struct sn_known_event *known = traced_event(part, e);
      if (known == NULL || !part->events[e].reported) continue;
      if (!known->holder_of_key || part->events[e].taken_over) end_event(program, part, e);
    }
  }
  for (size_t i = 0; i < program->entities.size; i++) {
    struct sn_entity *entity = program->entities.places[i];
    for (; entity != NULL; entity = entity->next) {
      struct sn_part *part = &program->parts[entity->part];
      for (uint32_t k = 0; k < entity->open_count; k++) {
        const struct sn_open *open = &entity->open[k];
        if (traced_event(part, open->event) == NULL) continue;
        int64_t off_at = open->off_at != INT64_MIN ? open->off_at : program->off_last;
        end_open(program, entity, open, off_at);
      }
      entity->open_count = 0;
    }
  }
}

void sn_periods_stopped(struct sn_monitor *monitor) {
  for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
    if (program->state == SN_RUNNING && sn_program_ready(program)) end_all(program);
    program->ends_wanted = false;
  }
}
