/* Overload: a sensor that makes more than can be taken is sampled, where who asks for it permits that (thesis 4.5, 5.3).
 *
 *      records lost because rings are full, LASTING looks in a row
 *          │   the sensor that makes most of them
 *          ▼
 *      sampled: so many records are allowed, and again when EVERY has passed; others are passed over, and counted
 *          │   EVERY grows while there is pressure and shrinks while there is none, and for QUIET nothing was passed over
 *          ▼
 *      every record again
 *
 * What is allowed of all sampled sensors of a process together fits in a quarter of its smallest ring, so the others
 * have room whatever these do. Nothing is tried out: a sensor goes back to every record when all of its records fit
 * in what it is allowed anyway. Of events whose sensors ask an object each object is allowed one record (the one-time-enable
 * of the thesis), by a scan (switching.c); of others the process is allowed a number, so that those that
 * follow each other closely, of several keys, come together.
 *
 * What is passed over is in no ring, and in no ring's account: it is lost with a cause of its own, in intervals from
 * one look at the count to the next (losses.c), and no checkpoint passes what is not said (checks.c).       */
#include <inttypes.h>
#include <stdlib.h>

#include "engine/base/env.h"
#include "sensors/collect/monitor_impl.h"

#define MS INT64_C(1000000)
static const int64_t LOOK_NS = 50 * MS, QUIET_NS = 1000 * MS, SHARE_NS = 1000 * MS;
static const int64_t FIRST_NS = 64 * MS, MOST_NS = 1024 * MS;
static const int64_t LEAST_NS = MS, LEAST_OF_OBJECTS_NS = 16 * MS;
enum { LASTING = 4, RELIEVED = 16 }; /* looks with losses; allowances without pressure */
enum { USUAL_BYTES = 64 }; /* of a record, with which four times as many fit as are allowed */

/* --- which */

static const struct sn_known_event *known_event(const struct sn_part *part, uint32_t e) {
  if (part->name == NULL || e >= part->known->event_count) return NULL;
  const struct sn_known_event *known = &part->known->events[e];
  return known->event != NULL ? known : NULL;
}

static bool is_on(const struct sn_part_event *state) {
  return state->want != 0 || state->objects > 0;
}

static bool may_be_sampled(const struct sn_program *program, const struct sn_part *part,
                           uint32_t e) {
  const struct sn_known_event *known = known_event(part, e);
  if (known == NULL || known->event->wait_ms != 0)
    return false; /* it waits: none of its records is to be missing */
  return known->interest->sampled_in_overload && is_on(&part->events[e]) &&
         sn_overload_counts(known->event) && sn_peer_can_thin(program->peer);
}

/* --- on and off */

static void tell(const struct sn_program *program, const struct sn_part *part, uint32_t e,
                 enum base_message message) {
  const struct sn_monitor_options *options = &program->monitor->options;
  if (options->tell == NULL) return;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_printf(&text, "%s: %s", part->name->text, part->known->events[e].event->name);
  options->tell(options->context, message, text.data);
  base_buffer_done(&text);
}

/* All of the program's switches of the event are to stand as its state says. */
static void switch_anew(struct sn_program *program, struct sn_part *part, uint32_t e) {
  const struct sn_part_event *state = &part->events[e];
  if (state->want != 0)
    sn_peer_switch(program->peer, part->index, e, state->want | sn_overload_mode(state));
  if (part->known->events[e].holder != NULL) {
    program->scan_wanted = true;
    program->scan_after = 0;
  }
  program->report_wanted = true;
  sn_report_soon(program->monitor);
}

static void allow(struct sn_program *program, struct sn_part *part, uint32_t e, int64_t now) {
  struct sn_thinning *thinning = &part->events[e].thinning;
  uint64_t ring = sn_peer_least_ring(program->peer);
  if (ring == 0) ring = SN_RING_BYTES;
  uint64_t records = ring / 4 / USUAL_BYTES / program->overload.count;
  thinning->due = now + thinning->every;
  if (part->known->events[e].holder != NULL) program->scan_wanted = true;
  sn_peer_allow(program->peer, part->index, e, records > 0 ? (uint32_t)records : 1);
}

static uint64_t generated(const struct sn_program *program, const struct sn_part *part,
                          uint32_t e) {
  struct sn_totals totals;
  return sn_totals_of(program, part, e, &totals) ? totals.records : 0;
}

static void begin(struct sn_program *program, struct sn_part *part, uint32_t e, int64_t now) {
  struct sn_part_event *state = &part->events[e];
  struct sn_thinning *thinning = &state->thinning;
  program->overload.any = true;
  program->overload.count++;
  *thinning = (struct sn_thinning){.on = true,
                                   .since = sn_monitor_time(program->monitor),
                                   .every = FIRST_NS,
                                   .passed_at = now,
                                   .passed = sn_overload_passed(program, part, e),
                                   .share = SN_SHARE_UNKNOWN,
                                   .share_at = now};
  thinning->share_passed = thinning->passed;
  thinning->share_of = generated(program, part, e);
  allow(program, part, e, now);
  switch_anew(program, part, e);
  tell(program, part, e, MSG_SENSOR_SAMPLED);
}

static void end(struct sn_program *program, struct sn_part *part, uint32_t e) {
  part->events[e].thinning.on = false;
  program->overload.count--;
  switch_anew(program, part, e);
  if (is_on(&part->events[e])) tell(program, part, e, MSG_SENSOR_TRACED);
}

/* --- looking */

/* Of what was made since the last look: by whom most. */
struct most {
  struct sn_part *part;
  uint32_t event;
  uint64_t records, of;
};

static void look_at(struct sn_program *program, struct sn_part *part, uint32_t e, uint64_t *full,
                    struct most *most) {
  struct sn_thinning *thinning = &part->events[e].thinning;
  struct sn_tally tally;
  if (!sn_peer_tally(program->peer, part->index, e, &tally)) return;
  uint64_t made = generated(program, part, e), more = made - thinning->seen;
  *full += tally.lost[SN_FULL];
  thinning->seen = made;
  if (thinning->on) return;
  most->of += more;
  if (more <= most->records || !may_be_sampled(program, part, e)) return;
  *most = (struct most){.part = part, .event = e, .records = more, .of = most->of};
}

/* Who makes less than a quarter is not to blame, and to sample it would be of no use to the others. */
static void look(struct sn_program *program, int64_t now) {
  struct most most = {.part = NULL};
  uint64_t full = 0;
  program->overload.look_at = now + LOOK_NS;
  for (size_t i = 0; i < program->part_count; i++) {
    struct sn_part *part = &program->parts[i];
    for (uint32_t e = 1; e < part->event_count; e++)
      if (known_event(part, e) != NULL) look_at(program, part, e, &full, &most);
  }
  program->overload.looks = full > program->overload.full ? program->overload.looks + 1 : 0;
  program->overload.full = full;
  if (program->overload.looks < LASTING || most.part == NULL || most.records < most.of / 4) return;
  program->overload.looks = 0;
  begin(program, most.part, most.event, now);
}

/* --- while it is sampled */

static bool is_under_pressure(const struct sn_program *program) {
  const struct sn_monitor *monitor = program->monitor;
  return program->overload.looks > 0 || sn_uplink_holds(monitor) ||
         sn_uplink_waiting(monitor) > monitor->options.buffer_bytes / 16;
}

static void adapt(struct sn_thinning *thinning, bool pressure, bool objects) {
  int64_t least = objects ? LEAST_OF_OBJECTS_NS : LEAST_NS;
  thinning->relieved = pressure ? 0 : thinning->relieved + 1;
  if (pressure) {
    thinning->every = thinning->every < MOST_NS / 2 ? 2 * thinning->every : MOST_NS;
  } else if (thinning->relieved >= RELIEVED) {
    thinning->every = thinning->every / 2 > least ? thinning->every / 2 : least;
    thinning->relieved = 0;
  }
}

static void look_at_share(const struct sn_program *program, const struct sn_part *part, uint32_t e,
                          int64_t now) {
  struct sn_thinning *thinning = &part->events[e].thinning;
  if (now - thinning->share_at < SHARE_NS) return;
  uint64_t made = generated(program, part, e), of = made - thinning->share_of;
  uint64_t passed = thinning->passed - thinning->share_passed;
  if (of > 0) thinning->share = (uint32_t)((of - (passed < of ? passed : of)) * 1000 / of);
  thinning->share_at = now;
  thinning->share_of = made;
  thinning->share_passed = thinning->passed;
}

static void ease(struct sn_program *program, struct sn_part *part, uint32_t e, int64_t now) {
  struct sn_thinning *thinning = &part->events[e].thinning;
  uint64_t passed = sn_overload_passed(program, part, e);
  if (passed != thinning->passed) {
    thinning->passed = passed;
    thinning->passed_at = now;
  }
  bool over = now - thinning->passed_at > QUIET_NS;
  if (over || !may_be_sampled(program, part, e)) {
    end(program, part, e);
    return;
  }
  look_at_share(program, part, e, now);
  if (now < thinning->due) return;
  adapt(thinning, is_under_pressure(program), part->known->events[e].holder != NULL);
  if (sn_uplink_holds(program->monitor))
    thinning->due = now + thinning->every;
  else
    allow(program, part, e, now);
}

static void ease_all(struct sn_program *program, int64_t now) {
  for (size_t i = 0; i < program->part_count && program->overload.count > 0; i++) {
    struct sn_part *part = &program->parts[i];
    for (uint32_t e = 1; e < part->event_count; e++)
      if (part->events[e].thinning.on) ease(program, part, e, now);
  }
}

void sn_overload_turn(struct sn_monitor *monitor) {
  int64_t now = base_env_monotonic();
  for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
    if (program->state != SN_RUNNING || program->own || !sn_program_ready(program)) continue;
    if (program->enabled && now >= program->overload.look_at) look(program, now);
    if (program->overload.count > 0) ease_all(program, now);
  }
}
