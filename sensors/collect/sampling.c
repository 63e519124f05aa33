/* Samples: when sampled events are asked for them, and what came of it.
 *
 *     tick ──▶ ask ──▶ samples (for the tick) ──▶ nobody is waited for ──▶ the round is complete
 *
 * Ticks are origin + k * every of each watch; what several ask for at once is asked once. A program that is
 * asked for a round says itself when it has run the sensors of all that it has. receptaclesampled: the
 * switch is good for one record, and a record of each object that was asked is its answer.
 *
 * A sample stands for the last tick before it, if that can still be told: the relation's checkpoint stays at a
 * tick until all have answered, or until the next one. A round is complete, and the server is told, when all
 * have had a sample since the one before; those who have none are not there, to the server. So it is told
 * as well when somebody does not answer within the patience (an object: and before the next tick, if that is
 * within ten times the patience), who then is not waited for until he answers again.
 *
 * A trigger (thesis 6.3) is no tick: the sample that it asks for stands for the time at which it was taken, which
 * is later than the event, unless that of the tick before has not come yet, which it then is. What is asked for again
 * before the program has come to it is taken once. Rounds are of ticks alone: those of several collectors are at the
 * same times, and so are one; triggers reach them one after the other.                                */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/env.h"
#include "sensors/collect/monitor_impl.h"

enum { PATIENCES = 10 }; /* that an object is waited for, if its next tick is not sooner */

/* An event relation may be made of samples, too; it knows no rounds. */
static bool has_rounds(const struct sn_known_event *known) {
  return known->event != NULL && known->event->relation == SN_KIND_SAMPLED;
}

/* --- ticks */

/* The last time at or before NOW that is ORIGIN and a number of EVERY. */
static int64_t tick_of(int64_t every, int64_t origin, int64_t now) {
  int64_t since = now % every - origin % every;
  if (since < 0) since += every;
  return now - since % every;
}

static int64_t every_of(const struct sn_monitor *monitor, const struct sn_watch *watch) {
  return watch->every > 0 ? watch->every : monitor->options.sample_ns;
}

static void add_clock(const struct sn_monitor *monitor, struct sn_interest *interest,
                      const struct sn_watch *watch) {
  int64_t every = every_of(monitor, watch), origin = watch->origin % every;
  for (size_t i = 0; i < interest->clock_count; i++) {
    struct sn_sample_clock *clock = &interest->clocks[i];
    if (clock->every != every || clock->origin != origin) continue;
    if (watch->since < clock->since) clock->since = watch->since;
    return;
  }
  base_grow(&interest->clocks, &interest->clock_room, interest->clock_count + 1,
            sizeof *interest->clocks);
  interest->clocks[interest->clock_count++] =
      (struct sn_sample_clock){.every = every, .origin = origin, .since = watch->since};
}

static void find_clocks(const struct sn_monitor *monitor, struct sn_interest *interest) {
  if (interest->clocks_of == monitor->commands) return;
  interest->clocks_of = monitor->commands;
  interest->clock_count = 0;
  for (unsigned list = 0; list < 2; list++) {
    const struct sn_watch *watch = interest->watches[list];
    for (; watch != NULL; watch = watch->next) add_clock(monitor, interest, watch);
  }
}

/* The last tick at or before NOW; INT64_MIN: there is none. */
static int64_t last_tick(const struct sn_interest *interest, int64_t now) {
  int64_t last = INT64_MIN;
  for (size_t i = 0; i < interest->clock_count; i++) {
    int64_t tick = tick_of(interest->clocks[i].every, interest->clocks[i].origin, now);
    if (tick > last) last = tick;
  }
  return last;
}

static struct sn_sampling *find_sampling(const struct sn_entity *entity, uint32_t event) {
  for (uint32_t i = 0; i < entity->sampling_count; i++) {
    if (entity->sampling[i].event == event) return &entity->sampling[i];
  }
  return NULL;
}

/* The sample that TICK asked for has come, and a trigger behind the tick has asked for another. */
static bool is_triggered(const struct sn_part *part, uint32_t e, const struct sn_entity *entity,
                         int64_t tick) {
  const struct sn_part_event *event = &part->events[e];
  const struct sn_sampling *sampling = entity != NULL ? find_sampling(entity, e) : &event->own;
  return tick < event->triggered && sampling != NULL && sampling->last >= tick;
}

int64_t sn_sampling_time(struct sn_monitor *monitor, const struct sn_part *part, uint32_t e,
                         const struct sn_entity *entity, int64_t at) {
  struct sn_interest *interest = part->known->events[e].interest;
  int64_t last = INT64_MIN;
  find_clocks(monitor, interest);
  for (size_t i = 0; i < interest->clock_count; i++) {
    const struct sn_sample_clock *clock = &interest->clocks[i];
    int64_t tick = tick_of(clock->every, clock->origin, at);
    if (tick > last && tick >= clock->since) last = tick;
  }
  /* Nobody has asked then, or it was promised that nothing of that time would follow. */
  bool own = last == INT64_MIN || last < interest->checked || is_triggered(part, e, entity, last);
  if (!own) return last;
  /* That was promised while it was under way, of a thread whose first record it is. */
  bool passed = at < interest->checked && interest->checked - at <= monitor->options.patience_ns;
  return passed ? interest->checked : at;
}

/* --- what came */

static void note_sample(struct sn_sampling *sampling, int64_t round, int64_t at) {
  if (sampling->first <= round) sampling->first = sampling->last > round ? sampling->last : at;
  if (at > sampling->last) sampling->last = at;
  sampling->waiting = 0;
  sampling->silent = false;
}

static struct sn_sampling *sampling_of(struct sn_entity *entity, uint32_t event) {
  struct sn_sampling *sampling = find_sampling(entity, event);
  if (sampling != NULL) return sampling;
  entity->sampling =
      base_xrealloc(entity->sampling, entity->sampling_count + 1u, sizeof *entity->sampling);
  sampling = &entity->sampling[entity->sampling_count++];
  *sampling = (struct sn_sampling){.event = event};
  return sampling;
}

/* It is not waited for any more. */
static void count_out(struct sn_part_event *event, struct sn_sampling *sampling) {
  if (sampling->counted && sampling->asked == event->asked) event->unanswered--;
  sampling->counted = false;
}

void sn_sampling_taken(struct sn_program *program, struct sn_part *part, uint32_t e,
                       struct sn_entity *entity, int64_t at) {
  const struct sn_known_event *known = &part->known->events[e];
  struct sn_part_event *event = &part->events[e];
  (void)program;
  if (!has_rounds(known)) return;
  if (event->pass_from == 0 || at < event->pass_from) event->pass_from = at;
  if (!sn_is_once(known->event)) return; /* its process answers for all */
  if (known->holder == NULL) note_sample(&event->own, known->interest->round, at);
  if (entity == NULL) return;
  struct sn_sampling *sampling = sampling_of(entity, e);
  note_sample(sampling, known->interest->round, at);
  if (at >= event->asked) count_out(event, sampling);
}

/* What it had was sampled after the first sample that it gave meanwhile. */
void sn_sampling_answered(struct sn_program *program, struct sn_part *part, uint32_t e,
                          int64_t at) {
  const struct sn_known_event *known = &part->known->events[e];
  struct sn_part_event *event = &part->events[e];
  if (!has_rounds(known)) return;
  at = sn_sampling_time(program->monitor, part, e, NULL, at);
  if (event->pass_from != 0 && event->pass_from < at) at = event->pass_from;
  event->pass_from = 0;
  note_sample(&event->own, known->interest->round, at);
}

void sn_sampling_leave(struct sn_program *program, const struct sn_entity *entity) {
  for (uint32_t i = 0; i < entity->sampling_count; i++) {
    struct sn_sampling *sampling = &entity->sampling[i];
    count_out(&program->parts[entity->part].events[sampling->event], sampling);
  }
}

/* --- asking */

void sn_sampling_ask_object(struct sn_program *program, struct sn_part *part, uint32_t e,
                            const struct sn_object_view *object, struct sn_entity **entity) {
  struct sn_part_event *event = &part->events[e];
  if (has_rounds(&part->known->events[e])) {
    if (*entity == NULL) {
      *entity = sn_entity_of(program, (uint32_t)(part - program->parts), object->type,
                             object->minor, object->epoch);
    }
    struct sn_sampling *sampling = sampling_of(*entity, e);
    if (sampling->asked != event->asked) {
      sampling->asked = event->asked;
      sampling->counted = !sampling->silent && sampling->last < event->asked;
      event->unanswered += sampling->counted;
    }
  }
  sn_peer_switch_object(program->peer, object, e, SN_TRACE | SN_ONCE);
}

static void ask_event(struct sn_program *program, struct sn_part *part, uint32_t e, int64_t tick,
                      int64_t now) {
  const struct sn_known_event *known = &part->known->events[e];
  struct sn_part_event *event = &part->events[e];
  bool once = sn_is_once(known->event);
  if (!once && event->want == 0 && known->holder == NULL) return; /* as yet */
  if (tick > event->asked) {                                      /* or another watch has come */
    event->asked = event->own.asked = tick;
    event->unanswered = 0;
  }
  event->asked_at = now;
  if (!once) {
    sn_peer_ask(program->peer, part->index, e);
  } else if (known->holder == NULL) {
    sn_peer_switch(program->peer, part->index, e, SN_TRACE | SN_ONCE);
  } else {
    event->once_due = true;
    program->scan_wanted = true;
    program->scan_after = 0;
  }
}

/* --- triggers */

static bool names_objects(const struct sn_watch *trigger) {
  bool any = false;
  for (uint32_t i = 0; i < trigger->value_count; i++) any |= !trigger->values[i].process;
  return any;
}

/* Some of its objects: by the next scan. So many that they are not worth a list: all of them. */
static void trigger_objects(struct sn_program *program, struct sn_part_event *event,
                            const struct sn_watch *trigger) {
  enum { LISTED = 64 };
  size_t count = 0;
  for (const struct sn_watch *each = event->once_for; each != NULL; each = each->next) count++;
  if (count < LISTED) {
    struct sn_watch *copy = sn_watch_copy(trigger);
    copy->next = event->once_for;
    event->once_for = copy;
  } else {
    event->once_due = true;
  }
  program->scan_wanted = true;
}

static void trigger_event(struct sn_program *program, struct sn_part *part, uint32_t e,
                          const struct sn_watch *trigger, int64_t now) {
  const struct sn_known_event *known = &part->known->events[e];
  struct sn_part_event *event = &part->events[e];
  bool once = sn_is_once(known->event), objects = once && known->holder != NULL;
  if (!once && event->want == 0 && known->holder == NULL) return; /* as yet */
  event->triggered = now;
  if (objects && names_objects(trigger)) { /* it is counted when one of that name is found */
    trigger_objects(program, event, trigger);
    return;
  }
  event->triggers++;
  if (objects) {
    event->coalesced += event->once_due;
    event->once_due = program->scan_wanted = true;
  } else if (once) {
    event->coalesced += (sn_peer_switched(program->peer, part->index, e) & SN_ONCE) != 0;
    sn_peer_switch(program->peer, part->index, e, SN_TRACE | SN_ONCE);
  } else {
    event->coalesced += sn_peer_is_asked(program->peer, part->index, e);
    sn_peer_ask(program->peer, part->index, e);
  }
}

static void trigger_interest(struct sn_monitor *monitor, struct sn_interest *interest,
                             const struct sn_watch *trigger) {
  int64_t now = sn_monitor_time(monitor);
  for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
    for (size_t i = 0; i < program->part_count && program->state == SN_RUNNING; i++) {
      struct sn_part *part = &program->parts[i];
      if (part->name == NULL || part->closed) continue;
      if (!sn_watch_wants_process(trigger, part->name->text)) continue;
      for (uint32_t e = 1; e < part->event_count && e < part->known->event_count; e++) {
        const struct sn_known_event *known = &part->known->events[e];
        if (known->event == NULL || known->interest != interest || !sn_is_sampled(known->event)) {
          continue;
        }
        if (!sn_interest_wants_process(interest, part->name->text)) continue;
        trigger_event(program, part, e, trigger, now);
      }
    }
  }
}

void sn_sampling_trigger(struct sn_monitor *monitor, const char *relation,
                         const struct sn_watch *trigger) {
  for (struct sn_interest *interest = monitor->interests; interest != NULL;
       interest = interest->next) {
    if (interest->count == 0 || !sn_relation_means(relation, interest->relation)) continue;
    trigger_interest(monitor, interest, trigger);
  }
}

/* --- ticks */

/* false: there is nobody to ask. */
static bool ask_all(struct sn_monitor *monitor, struct sn_interest *interest,
                    const struct sn_watch *watch, int64_t now) {
  bool any = false;
  for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
    if (program->state != SN_RUNNING) continue;
    for (size_t i = 0; i < program->part_count; i++) {
      struct sn_part *part = &program->parts[i];
      if (part->name == NULL || part->closed) continue;
      uint32_t events = part->event_count;
      if (events > part->known->event_count) events = part->known->event_count;
      for (uint32_t e = 1; e < events; e++) {
        const struct sn_known_event *known = &part->known->events[e];
        if (known->event == NULL || known->interest != interest || !sn_is_sampled(known->event)) {
          continue;
        }
        if (!sn_watch_wants_process(watch, part->name->text)) continue;
        any = true;
        bool is_asked = part->events[e].asked >= watch->tick && part->events[e].asked_at == now;
        if (is_asked) continue;
        ask_event(program, part, e, watch->tick, now);
      }
    }
  }
  if (watch->tick > interest->asked) {
    interest->asked = watch->tick;
    interest->asked_at = now;
  }
  return any;
}

static bool any_sampled(const struct sn_monitor *monitor, const struct sn_interest *interest) {
  for (const struct sn_known *known = monitor->known; known != NULL; known = known->next) {
    for (uint32_t e = 0; e < known->event_count; e++) {
      const struct sn_known_event *event = &known->events[e];
      if (event->event != NULL && event->interest == interest && sn_is_sampled(event->event)) {
        return true;
      }
    }
  }
  return false;
}

int64_t sn_sampling_turn(struct sn_monitor *monitor) {
  int64_t now = sn_monitor_time(monitor), monotonic = base_env_monotonic(), first = INT64_MAX;
  if (!monitor->sampled) return INT64_MAX;
  bool any = false;
  for (struct sn_interest *interest = monitor->interests; interest != NULL;
       interest = interest->next) {
    if (interest->count == 0 || !any_sampled(monitor, interest)) continue;
    for (unsigned list = 0; list < 2; list++) {
      for (struct sn_watch *watch = interest->watches[list]; watch != NULL; watch = watch->next) {
        int64_t every = every_of(monitor, watch), tick = tick_of(every, watch->origin, now);
        /* Somebody who comes where nobody was may come before the next tick. */
        bool come = !watch->answered && watch->scans != monitor->sampled_scans;
        if (tick > watch->tick || come) {
          watch->tick = tick;
          watch->scans = monitor->sampled_scans;
          watch->answered = ask_all(monitor, interest, watch, monotonic);
        }
        if (!watch->answered) continue; /* until a scan finds somebody */
        any = true;
        if (tick + every - now < first) first = tick + every - now;
      }
    }
  }
  monitor->sampled = any;
  return any ? base_env_monotonic() + first : INT64_MAX;
}

/* --- who is waited for */

struct samples {
  struct sn_monitor *monitor;
  struct sn_interest *interest;
  int64_t now, upto; /* monotonic; the tick */
};

/* Whether EACH says so of any event of the interest in a program that runs. It is asked of all. */
static bool any_event(const struct samples *samples,
                      bool (*each)(const struct samples *samples, const struct sn_program *program,
                                   struct sn_part *part, uint32_t e)) {
  bool any = false;
  const struct sn_program *program = samples->monitor->programs;
  for (; program != NULL; program = program->next) {
    for (size_t i = 0; i < program->part_count && program->state == SN_RUNNING; i++) {
      struct sn_part *part = &program->parts[i];
      if (part->name == NULL || part->closed) continue;
      for (uint32_t e = 1; e < part->event_count && e < part->known->event_count; e++) {
        const struct sn_known_event *known = &part->known->events[e];
        if (!has_rounds(known) || known->interest != samples->interest) continue;
        if (part->events[e].asked != 0) any |= each(samples, program, part, e);
      }
    }
  }
  return any;
}

static int64_t patience_of(const struct samples *samples, const struct sn_known_event *known) {
  int64_t patience = samples->monitor->options.patience_ns;
  return sn_is_once(known->event) ? PATIENCES * patience : patience;
}

/* Samples for the tick are still to come from it. */
static bool is_expected(const struct samples *samples, const struct sn_program *program,
                        struct sn_part *part, uint32_t e) {
  const struct sn_known_event *known = &part->known->events[e];
  const struct sn_part_event *event = &part->events[e];
  (void)program;
  if (samples->now - event->asked_at > patience_of(samples, known)) return false;
  if (event->once_due || event->once_now || event->unanswered > 0) return true;
  bool own = !sn_is_once(known->event) || known->holder == NULL;
  return own && !event->own.silent && event->own.last < event->asked;
}

/* It has no sample of this round, and could have one still. Gives it up when it has not answered for long. */
static bool is_missing(const struct samples *samples, const struct sn_part_event *event,
                       struct sn_sampling *sampling) {
  int64_t round = samples->interest->round, upto = samples->upto;
  if (sampling->silent || (sampling->first > round && sampling->first <= upto) ||
      (sampling->last > round && sampling->last <= upto)) {
    return false;
  }
  if (sampling->last >= event->asked) return true; /* it is asked again sooner or later */
  if (sampling->waiting == 0) sampling->waiting = event->asked_at;
  if (samples->now - sampling->waiting <= samples->monitor->options.patience_ns) return true;
  sampling->silent = true;
  return false;
}

static bool is_wanted(const struct samples *samples, const struct sn_part *part) {
  for (unsigned list = 0; list < 2; list++) {
    const struct sn_watch *watch = samples->interest->watches[list];
    for (; watch != NULL; watch = watch->next) {
      if (sn_watch_wants_process(watch, part->name->text)) return true;
    }
  }
  return false;
}

static bool is_entity_missing(const struct samples *samples, struct sn_part *part, uint32_t e,
                              const struct sn_entity *entity) {
  const struct sn_known_event *known = &part->known->events[e];
  struct sn_part_event *event = &part->events[e];
  struct sn_sampling *sampling = find_sampling(entity, e);
  if (sampling == NULL || entity->gone || !is_missing(samples, event, sampling)) {
    if (sampling != NULL && (sampling->silent || entity->gone)) count_out(event, sampling);
    return false;
  }
  const struct sn_name *object = known->holder != NULL ? entity->name : NULL;
  return sn_interest_wants(samples->interest, part->name->text,
                           object != NULL ? known->holder : NULL, object);
}

static bool is_incomplete(const struct samples *samples, const struct sn_program *program,
                          struct sn_part *part, uint32_t e) {
  const struct sn_known_event *known = &part->known->events[e];
  bool once = sn_is_once(known->event), own = !once || known->holder == NULL;
  bool any = own && is_missing(samples, &part->events[e], &part->events[e].own) &&
             is_wanted(samples, part);
  for (size_t i = 0; once && i < program->entities.size; i++) {
    const struct sn_entity *entity = program->entities.places[i];
    for (; entity != NULL; entity = entity->next) {
      if (&program->parts[entity->part] != part) continue;
      any |= is_entity_missing(samples, part, e, entity);
    }
  }
  return any;
}

/* --- rounds */

static void say_round(struct sn_monitor *monitor, struct sn_interest *interest, int64_t at) {
  for (struct sn_known *known = monitor->known; known != NULL; known = known->next) {
    for (uint32_t e = 0; e < known->event_count; e++) {
      struct sn_known_event *event = &known->events[e];
      if (!has_rounds(event) || event->interest != interest) continue;
      sn_accountant_round(monitor, known, event, at);
      interest->round = at;
      return; /* the relation is one, however many descriptions there are of it */
    }
  }
}

/* No more samples come for the tick. */
static void close_tick(struct samples *samples, int64_t tick) {
  struct sn_interest *interest = samples->interest;
  int64_t since = INT64_MAX;
  interest->closed = samples->upto = tick;
  for (size_t i = 0; i < interest->clock_count; i++) {
    if (interest->clocks[i].since < since) since = interest->clocks[i].since;
  }
  bool old = tick <= interest->round || tick < interest->checked || tick < since;
  if (old || sn_uplink_tight(samples->monitor)) return;
  if (!any_event(samples, is_incomplete)) say_round(samples->monitor, interest, tick);
}

int64_t sn_sampling_promise(struct sn_monitor *monitor, struct sn_interest *interest,
                            int64_t least) {
  if (interest->count == 0 || !interest->sampled) return least;
  find_clocks(monitor, interest);
  struct samples samples = {.monitor = monitor, .interest = interest, .now = base_env_monotonic()};
  int64_t tick = last_tick(interest, least), before = last_tick(interest, tick - 1);
  if (before > interest->closed) close_tick(&samples, before);
  if (tick <= interest->closed) return least;
  if (interest->asked >= tick && !any_event(&samples, is_expected)) close_tick(&samples, tick);
  return tick <= interest->closed ? least : tick;
}
