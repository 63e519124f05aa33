/* A sensor that is sampled, as it makes more than can be taken: what has become of its records. Which are, and
 * how much of them, is decided elsewhere (overload.c). */
#include <inttypes.h>

#include "engine/time.h"
#include "sensors/collect/monitor_impl.h"

bool sn_overload_counts(const struct sn_event_description *event) {
  bool traced = event->minor == SN_MINOR_OBJECT_TRACED || event->minor == SN_MINOR_SENSOR_TRACED;
  return traced && !event->is_period && !event->assume_enabled && !event->assume_one_time;
}

uint64_t sn_overload_passed(const struct sn_program *program, const struct sn_part *part,
                            uint32_t e) {
  if (part->known == NULL || e >= part->known->event_count) return 0;
  const struct sn_event_description *event = part->known->events[e].event;
  if (event == NULL || !sn_overload_counts(event)) return 0;
  return sn_peer_passed_over(program->peer, part->index, e);
}

uint64_t sn_overload_passed_all(const struct sn_program *program) {
  uint64_t passed = 0;
  if (!program->overload.any) return 0;
  for (size_t i = 0; i < program->part_count; i++) {
    const struct sn_part *part = &program->parts[i];
    for (uint32_t e = 1; e < part->event_count; e++) passed += sn_overload_passed(program, part, e);
  }
  return passed;
}

unsigned sn_overload_mode(const struct sn_part_event *state) {
  return state->thinning.on ? SN_THINNED : 0;
}

void sn_overload_print(struct base_buffer *out, const struct sn_part_event *state) {
  const struct sn_thinning *thinning = &state->thinning;
  base_buffer_puts(out, "sampled");
  if (thinning->share != SN_SHARE_UNKNOWN)
    base_buffer_printf(out, " (%" PRIu32 ".%" PRIu32 " %%)", thinning->share / 10,
                       thinning->share % 10);
  base_buffer_puts(out, " since ");
  net_time_print(out, NET_TIMELINE_REAL, thinning->since / 1000000000 * 1000000000);
}
