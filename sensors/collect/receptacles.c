/* Counting by hand, and what receptacles hold (thesis 5.4; 8.4, "read entry" and "write entry").
 *
 * A receptacle counts how often its sensor was passed, and of an event with a `histogram` sums that domain and
 * puts it in buckets, whether records are wanted or not. Who wants that says it of a relation: an entry
 * "count RELATION" is written, "on" or "off", and holds for all processes and objects, also later ones, as long as
 * the connection does. Counts are the program's: they begin with it, stand still while counting is off, and
 * outlive us. Events that are on without being asked are not counted: their records are. Of a period sensor the numbers are
 * those of how long its periods have lasted that were counted at their start; what of those has not stopped, is open. */
#include <math.h>

#include "sensors/collect/monitor_impl.h"

/* --- switching */

static unsigned wanted_counts(const struct sn_monitor *monitor,
                              const struct sn_known_event *known) {
  bool counted = known->interest->counted || monitor->telling.counts;
  if (!counted || known->event->assume_enabled) return 0;
  return known->event->histogram != -1 ? SN_COUNT | SN_SUM | SN_HISTOGRAM : SN_COUNT;
}

bool sn_counts_switch(struct sn_program *program, const struct sn_part *part, uint32_t event) {
  const struct sn_known_event *known = &part->known->events[event];
  unsigned wanted = wanted_counts(program->monitor, known);
  if (sn_peer_counted(program->peer, part->index, event) == wanted) return false;
  sn_peer_count(program->peer, part->index, event, wanted);
  return known->event->holder == SN_HOLDER_OBJECT || known->event->holder == SN_HOLDER_INITIATOR;
}

static void stop_counting(void *context, const struct sn_object_view *object) {
  struct sn_program *program = context;
  for (uint32_t e = 0; e < object->switches; e++) sn_peer_count_object(program->peer, object, e);
}

void sn_counts_off(struct sn_program *program) {
  bool any = false;
  for (size_t i = 0; i < program->part_count; i++) {
    const struct sn_part *part = &program->parts[i];
    for (uint32_t e = 0; e < part->event_count; e++) {
      if (sn_peer_counted(program->peer, part->index, e) == 0) continue;
      sn_peer_count(program->peer, part->index, e, 0);
      any = true;
    }
  }
  if (any) sn_peer_objects(program->peer, stop_counting, program);
}

/* --- what they hold */

bool sn_holding_of(const struct sn_program *program, const struct sn_part *part, uint32_t event,
                   struct sn_holding *ret_holding) {
  *ret_holding = (struct sn_holding){.modes = sn_peer_switched(program->peer, part->index, event),
                                     .counted = sn_peer_counted(program->peer, part->index, event)};
  /* A once may have been good for one. */
  if (part->events[event].want != 0) ret_holding->modes |= SN_TRACE;
  if (!sn_peer_entry(program->peer, part->index, event, &ret_holding->entry)) return false;
  /* What was passed over there is counted beside, as it costs less. */
  if (part->known->events[event].holder == NULL)
    ret_holding->entry.missed += sn_overload_passed(program, part, event);
  return true;
}

bool sn_holding_of_object(const struct sn_program *program, const struct sn_part *part,
                          uint32_t event, const struct sn_object_view *object,
                          struct sn_holding *ret_holding) {
  const struct sn_known_event *known = &part->known->events[event];
  const struct sn_type_description *asked = sn_asked_type(known->event);
  if (asked == NULL || known->event->assume_enabled || object->type != asked->number ||
      object->module != part->index ||
      !sn_peer_object_entry(program->peer, object, known->place, &ret_holding->entry)) {
    return false;
  }
  ret_holding->modes = sn_peer_object_switched(program->peer, object, event);
  ret_holding->counted = sn_peer_object_counted(program->peer, object, event);
  return ret_holding->modes != 0 || ret_holding->counted != 0 || ret_holding->entry.count != 0 ||
         ret_holding->entry.missed != 0;
}

bool sn_holding_moments(const struct sn_holding *holding, double *ret_mean, double *ret_deviation) {
  const struct sn_entry_view *entry = &holding->entry;
  double counted = 0;
  for (unsigned i = 0; entry->has_histogram && i < SN_BUCKETS; i++) {
    counted += (double)entry->buckets[i];
  }
  *ret_mean = *ret_deviation = 0;
  if (counted <= 0) return false;
  *ret_mean = entry->sum / counted;
  double variance = entry->squares / counted - *ret_mean * *ret_mean;
  *ret_deviation = variance > 0 ? sqrt(variance) : 0;
  return true;
}
