/* Checkpoints: a time before which nothing will follow.
 *
 * The clock is read first; then each ring is looked at. If all that its program has counted is here, or lost,
 * then nothing of it is older than the clock was: a record is counted before its time is read. Else the
 * ring's own bound stays where it was, or moves with the records that have come out of it. The smallest
 * bound is the checkpoint. SLACK is more than what a store takes until others see it.
 *
 * A ring that is not complete and of which there is nothing to read (its thread was killed, or stopped, in the midst
 * of a record) holds nothing back any more when the patience is over; what comes of it then may be late. The patience is
 * counted in our own looks, none of them for more than a part of it: when it is we who stood still, or the whole machine
 * did, its thread has had no time. Nor has it while what it is waits to be read.
 *
 * What was lost is said first, so whoever believes a checkpoint knows what of all before it is missing. While more and more
 * is lost that is said now and then, and checkpoints wait for it. (What a killed program or collector has taken
 * with it is found when it is gone, and told then.)
 *
 * A sampled relation's checkpoint stays at the tick whose samples are still to come (sampling.c), and at that one
 * all that has been said of the others is said of each.                                             */
#include "engine/base/env.h"
#include "sensors/collect/monitor_impl.h"

enum { SLACK_NS = 20 * 1000, UNDER_WAY_MAX = 2048, LOOKS = 8 };
/* How often with nothing enabled: with each turn, and while what was said waits. */
enum { IDLE_NS = 250 * 1000 * 1000, OWING_NS = 50 * 1000 * 1000 };
/* Losses that go on are said so often. */
static const int64_t LOST_NS = 50 * 1000 * 1000;

static int64_t greatest_error(const struct sn_monitor *monitor) {
  int64_t greatest = 0;
  for (unsigned i = 0; i < 2; i++) {
    const struct sn_timeline *line = &monitor->lines[i];
    if (line->count == 0) continue;
    int64_t error = sn_monitor_error(monitor, line, sn_timeline_stamp(line));
    if (error > greatest) greatest = error;
  }
  return greatest;
}

/* What both lines agree on: programs of this machine may use either clock. */
static int64_t safe_time(const struct sn_monitor *monitor) {
  int64_t least = INT64_MAX;
  for (unsigned i = 0; i < 2; i++) {
    const struct sn_timeline *line = &monitor->lines[i];
    if (line->count == 0) continue;
    int64_t time = sn_timeline_time(line, sn_timeline_stamp(line));
    if (time < least) least = time;
  }
  return least - SLACK_NS;
}

/* Nothing comes of it for longer than the patience. OURS: it would be for us to read it. */
static bool stands(struct sn_intake *intake, uint64_t accounted, bool ours, int64_t monotonic,
                   int64_t patience_ns) {
  int64_t since = monotonic - intake->looked_at;
  intake->looked_at = monotonic;
  if (intake->stood_ns < 0 || intake->stood_at != accounted || ours) {
    intake->stood_ns = 0;
    intake->stood_at = accounted;
    return false;
  }
  intake->stood_ns += since < patience_ns / LOOKS ? since : patience_ns / LOOKS;
  return intake->stood_ns > patience_ns;
}

/* INT64_MAX: it holds nothing back. */
static int64_t bound_of(struct sn_program *program, size_t i, int64_t now, int64_t monotonic) {
  const struct sn_monitor *monitor = program->monitor;
  struct sn_intake *intake = &program->intakes[i];
  struct sn_pipe_view view;
  sn_pipe_view(program->peer, i, &view);
  program->lost += view.lost;
  if (view.accounted >= view.generated) {
    intake->complete_at = now;
    intake->stood_ns = -1;
    return INT64_MAX;
  }
  program->complete = false;
  if (intake->last_stamp != 0) {
    const struct sn_timeline *line = &monitor->lines[sn_peer_identity(program->peer)->clock - 1];
    int64_t last = sn_timeline_time(line, intake->last_stamp);
    if (last > intake->complete_at && last < now) intake->complete_at = last;
  }
  bool ours = view.readable || !sn_program_ready(program) || sn_uplink_holds(monitor);
  return stands(intake, view.accounted, ours, monotonic, monitor->options.patience_ns)
             ? INT64_MAX
             : intake->complete_at;
}

/* What was recorded just before all was switched off, and who is in the midst of a record by then, is waited for. */
static int64_t bound_of_program(struct sn_program *program, int64_t now, int64_t monotonic) {
  const struct sn_monitor *monitor = program->monitor;
  int64_t least = INT64_MAX;
  if (program->state == SN_ENDED) return least;
  least = sn_periods_bound(program, monotonic);
  if (program->enabled) program->enabled_at = monotonic;
  program->lost_known = false;
  bool rests = monotonic - program->enabled_at > monitor->options.patience_ns;
  if (program->complete && rests && program->lost == program->lost_said) return least;
  program->complete = sn_program_ready(program);
  program->lost_known = true;
  program->lost = 0;
  for (size_t i = 0; i < sn_peer_pipes(program->peer) && i < program->intake_count; i++) {
    int64_t bound = bound_of(program, i, now, monotonic);
    if (bound < least) least = bound;
  }
  program->lost += sn_overload_passed_all(program);
  return least;
}

/* Nothing is promised before it is said what was lost between two readers. */
static int64_t said_until(const struct sn_program *program) {
  return program->since_promise ? program->monitor->checked : program->losses_at;
}

/* Says what PROGRAM has lost, if that is more than was said; up to when all of it is said otherwise. */
static int64_t bound_of_losses(struct sn_program *program, int64_t now, int64_t monotonic) {
  if (program->state == SN_ENDED || !program->lost_known) return INT64_MAX;
  if (!sn_program_ready(program)) { /* of which relation it was is not known yet */
    bool any = program->overload.any || program->lost > program->lost_said;
    return any && program->state == SN_RUNNING ? said_until(program) : INT64_MAX;
  }
  if (program->lost == program->lost_said && !program->unsent) {
    sn_losses_are_known(program, now);
    return INT64_MAX;
  }
  if (monotonic - program->said_at < LOST_NS) return said_until(program);
  if (sn_uplink_full(program->monitor) || !sn_losses_poll(program)) return said_until(program);
  program->lost_said = program->lost;
  program->unsent = false;
  program->said_at = monotonic;
  return INT64_MAX;
}

/* With much under way a checkpoint is not worth a message each time. */
static bool is_worth_it(const struct sn_monitor *monitor, int64_t bound) {
  uint64_t under_way = sn_uplink_last(monitor) - sn_uplink_durable(monitor);
  if (bound <= monitor->checked || !sn_uplink_is_up(monitor) || sn_uplink_full(monitor)) {
    return false;
  }
  return under_way < UNDER_WAY_MAX || bound - monitor->checked > INT64_C(5000000);
}

/* Nothing was promised as yet of what was said last. */
static bool is_owing(const struct sn_monitor *monitor) {
  return monitor->said_at != INT64_MIN && monitor->checked <= monitor->said_at;
}

/* Somebody waits for what we could promise: who watches a relation, be it one that nobody here has had (who has may
 * come at any time, and his records are no earlier than what was promised before we knew him); who did, for what was
 * said then; a server that has just come may have records from before that it could not make final. */
bool sn_check_is_wanted(const struct sn_monitor *monitor) {
  const struct sn_interest *interest = monitor->interests;
  if (!monitor->clocked) return false; /* our clock is not the server's */
  if (is_owing(monitor) || monitor->unpromised) return true;
  while (interest != NULL && interest->count == 0) interest = interest->next;
  return interest != NULL;
}

static bool say(struct sn_monitor *monitor, uint32_t relation, int64_t time) {
  sn_put_check(sn_uplink_frame(monitor), 0,
               &(struct sn_message_check){.relation = relation, .time = time});
  return sn_uplink_data(monitor);
}

/* The number of the relation of INTEREST; 0: no description has it. */
static uint32_t number_of(struct sn_monitor *monitor, struct sn_interest *interest) {
  for (struct sn_known *known = monitor->known; known != NULL && interest->number == 0;
       known = known->next) {
    for (uint32_t e = 0; e < known->event_count && interest->number == 0; e++) {
      struct sn_known_event *event = &known->events[e];
      if (event->event == NULL || event->interest != interest) continue;
      interest->number = sn_known_relation(monitor, known, event);
    }
  }
  return interest->number;
}

/* Nothing from before LEAST will follow, but samples that stand for an earlier time. Relations that have none are
 * told apart from those that have, so that nobody else waits for samples.                           */
static void say_all(struct sn_monitor *monitor, int64_t least) {
  int64_t all = least;
  for (struct sn_interest *each = monitor->interests; each != NULL; each = each->next) {
    each->bound = sn_sampling_promise(monitor, each, least);
    if (each->bound < all) all = each->bound;
  }
  if (all > monitor->checked_all) {
    if (!say(monitor, 0, all)) return;
    monitor->checked_all = all;
    monitor->unpromised = false;
  }
  for (struct sn_interest *each = monitor->interests; each != NULL; each = each->next) {
    if (monitor->checked_all > each->checked) each->checked = monitor->checked_all;
    if (each->bound <= each->checked) continue;
    bool waits = each->count > 0 || (each->said_at != 0 && each->said_at >= each->checked);
    if (waits && number_of(monitor, each) != 0 && say(monitor, each->number, each->bound)) {
      each->checked = each->bound;
    }
  }
  monitor->checked = least;
}

void sn_check_turn(struct sn_monitor *monitor) {
  int64_t monotonic = base_env_monotonic();
  if (monotonic < monitor->check_at || !sn_uplink_is_up(monitor)) return;
  if (!sn_check_is_wanted(monitor)) return;
  int64_t interval = monitor->checkpoint_ns;
  int64_t least_interval = is_owing(monitor) ? OWING_NS : IDLE_NS;
  if (!monitor->enabled && interval < least_interval) interval = least_interval;
  monitor->check_at = monotonic + interval;
  int64_t now = safe_time(monitor), least = now;
  sn_programs_notice(monitor); /* programs that have begun before the clock was read, */
  sn_programs_follow(monitor); /* and rings that were made */
  for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
    int64_t bound = bound_of_program(program, now, monotonic);
    if (bound < least) least = bound;
    bound = bound_of_losses(program, now, monotonic);
    if (bound < least) least = bound;
  }
  /* Of a ring that nobody has seen empty nothing is known. */
  if (__builtin_sub_overflow(least, greatest_error(monitor), &least)) return;
  if (is_worth_it(monitor, least)) say_all(monitor, least);
}
