/* What is lost, and reports of all sensors.
 *
 * Programs and monitor count in the announcement, by event and cause: totals since the process began, which
 * outlive everybody. They are said as they stand whenever they have changed, with the interval in which
 * they did; so saying them twice does no harm. What no event is charged with (a record that was being
 * written when its thread died, a ring that went with the program) is found when the program has ended.  */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "sensors/collect/monitor_impl.h"

enum { REPORT_COLUMNS = 11, REPORT_BYTES = 256 << 10, OBJECTS_SHOWN = 1000 };
static const int64_t REPORT_NS = INT64_C(250000000), SOON_NS = INT64_C(50000000);

static const char *const causes[SN_CAUSES] = {
    [SN_FULL] = "full",       [SN_UNREACHABLE] = "unreachable",
    [SN_NESTED] = "nested",   [SN_OVERSIZE] = "oversize",
    [SN_TORN] = "torn",       [SN_ABANDONED] = "abandoned",
    [SN_CORRUPT] = "corrupt", [SN_UNSENT] = "buffer",
    [SN_SAMPLED] = "sampled",
};

static const char *const reasons[SN_CAUSES] = {
    [SN_FULL] = "the rings of its threads were full", /* and how large they are */
    [SN_UNREACHABLE] = "no collector took its rings",
    [SN_NESTED] = "too many signal handlers within each other",
    [SN_OVERSIZE] = "a record was larger than its ring",
    [SN_TORN] = "its thread died while it was written",
    [SN_ABANDONED] = "it was left in a ring",
    [SN_CORRUPT] = "it made no sense",
    [SN_UNSENT] = "the server was away, and the buffer full",
    [SN_SAMPLED] = "the sensor is sampled, as it makes more than can be taken",
};

/* Up to when all that was lost has been said; INT64_MIN: up to what was promised last, by whoever did. */
static int64_t known_until(const struct sn_program *program) {
  return program->since_promise ? INT64_MIN : program->losses_at;
}

/* false: there is no room; it is said another time. */
static bool say(struct sn_program *program, const struct sn_part *part, const char *relation,
                unsigned cause, uint64_t total, uint64_t more, int64_t now) {
  struct sn_monitor *monitor = program->monitor;
  struct sn_message_loss message = {.process = part->process,
                                    .relation = sn_string_of(relation),
                                    .cause = sn_string_of(causes[cause]),
                                    .total = total,
                                    .from = known_until(program),
                                    .to = now};
  sn_put_loss(sn_uplink_frame(monitor), 0, &message);
  if (!sn_uplink_data(monitor)) return false;
  if (!program->own) sn_self_lost(causes[cause], more);
  return true;
}

/* Of the first record, the tenth, the hundredth and so on. */
static void warn(const struct sn_program *program, const struct sn_part *part, const char *relation,
                 unsigned cause, uint64_t total, uint64_t more) {
  const struct sn_monitor_options *options = &program->monitor->options;
  uint64_t power = 1;
  while (power <= (total - more) && power <= UINT64_MAX / 10) power *= 10;
  if (cause == SN_SAMPLED) return; /* that was told when it began (overload.c) */
  if (program->own || options->tell == NULL || total < power) return;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_printf(&text, "%s: %" PRIu64 " record%s of %s lost: %s", part->name->text, total,
                     total == 1 ? "" : "s", relation, reasons[cause]);
  uint64_t ring = sn_peer_least_ring(program->peer);
  if (cause == SN_FULL && ring != 0)
    base_buffer_printf(&text, ", with %" PRIu64 " KiB", ring >> 10);
  options->tell(options->context, cause == SN_FULL ? MSG_RING_FULL : MSG_RECORDS_LOST, text.data);
  base_buffer_done(&text);
}

/* What has become of the records of an event since its process began. */
struct fate {
  struct sn_tally tally;
  uint64_t passed;
};

static bool look_at(const struct sn_program *program, const struct sn_part *part, uint32_t e,
                    struct fate *ret) {
  ret->passed = sn_overload_passed(program, part, e);
  return sn_peer_tally(program->peer, part->index, e, &ret->tally);
}

/* Lost by CAUSE. */
static uint64_t lost_by(const struct fate *fate, unsigned cause) {
  if (cause < SN_COUNTED) return fate->tally.lost[cause];
  return cause == SN_UNSENT ? fate->tally.unsent : cause == SN_SAMPLED ? fate->passed : 0;
}

static bool poll_event(struct sn_program *program, struct sn_part *part, uint32_t e) {
  struct sn_part_event *event = &part->events[e];
  struct fate fate;
  if (event->received != 0 || event->unsent != 0) {
    sn_peer_tally_add(program->peer, part->index, e, event->received, event->unsent);
    event->received = event->unsent = 0;
  }
  if (!look_at(program, part, e, &fate)) return true;
  int64_t now = sn_monitor_time(program->monitor); /* all that is counted was lost before */
  for (unsigned cause = 0; cause < SN_CAUSES; cause++) {
    uint64_t lost = lost_by(&fate, cause);
    uint64_t total = lost > event->base[cause] ? lost - event->base[cause] : 0;
    if (total <= event->said[cause]) continue;
    if (!say(program, part, part->known->events[e].event->name, cause, total,
             total - event->said[cause], now))
      return false;
    warn(program, part, part->known->events[e].event->name, cause, total,
         total - event->said[cause]);
    event->said[cause] = total;
  }
  return true;
}

bool sn_totals_of(const struct sn_program *program, const struct sn_part *part, uint32_t event,
                  struct sn_totals *ret_totals) {
  const struct sn_part_event *state = &part->events[event];
  struct fate fate;
  if (!look_at(program, part, event, &fate)) return false;
  fate.tally.received += state->received; /* as yet in no tally */
  fate.tally.unsent += state->unsent;
  *ret_totals = (struct sn_totals){.escaped = state->escaped};
  for (unsigned cause = 0; cause < SN_CAUSES; cause++) ret_totals->lost += lost_by(&fate, cause);
  ret_totals->records = fate.tally.received + ret_totals->lost;
  return true;
}

bool sn_totals_of_object(const struct sn_program *program, const struct sn_part *part,
                         uint32_t event, const struct sn_object_view *object,
                         struct sn_entity *entity, struct sn_totals *ret_totals) {
  const struct sn_taken *taken = sn_entity_taken(entity, event);
  struct sn_entry_view entry;
  if (part->events[event].want != 0) return false;
  if (sn_peer_object_switched(program->peer, object, event) == 0) return false;
  uint32_t place = part->known->events[event].place;
  bool there = sn_peer_object_entry(program->peer, object, place, &entry);
  *ret_totals = (struct sn_totals){.lost = there ? entry.missed : 0};
  ret_totals->records = (taken != NULL ? taken->records : 0) + ret_totals->lost;
  return true;
}

bool sn_losses_poll(struct sn_program *program) {
  int64_t now =
      sn_monitor_time(program->monitor); /* what is lost from here on may be said next time */
  bool all = true;
  if (program->state == SN_ENDED || !sn_program_ready(program)) return true;
  for (size_t i = 0; i < program->part_count; i++) {
    struct sn_part *part = &program->parts[i];
    if (part->name == NULL) continue;
    uint32_t events = part->event_count;
    if (events > part->known->event_count) events = part->known->event_count;
    for (uint32_t e = 1; e < events; e++) {
      if (part->known->events[e].event != NULL) all &= poll_event(program, part, e);
    }
  }
  if (all && program->part_count > 0) sn_losses_are_known(program, now); /* it has been looked at */
  return all;
}

void sn_losses_are_known(struct sn_program *program, int64_t until) {
  if (until > program->losses_at || program->since_promise) program->losses_at = until;
  program->since_promise = false;
}

/* The program is dead and its rings are read: what is said of no event is said of none. */
void sn_losses_final(struct sn_program *program) {
  struct sn_account sum;
  uint64_t charged[SN_CAUSES] = {0};
  struct sn_part *named = NULL;
  int64_t from = program->losses_at;
  bool since_promise = program->since_promise;
  sn_losses_poll(program);
  sn_peer_account(program->peer, true, &sum);
  for (size_t i = 0; i < program->part_count; i++) {
    struct sn_part *part = &program->parts[i];
    if (part->name == NULL) continue;
    if (named == NULL) named = part;
    for (uint32_t e = 0; e < part->event_count; e++) {
      for (unsigned cause = 0; cause < SN_CAUSES; cause++) {
        charged[cause] += part->events[e].said[cause] + part->events[e].base[cause];
      }
    }
  }
  if (named == NULL) return;
  program->losses_at = from;
  program->since_promise = since_promise;
  for (unsigned cause = 0; cause < SN_CAUSES; cause++) {
    if (sum.lost[cause] <= charged[cause]) continue;
    uint64_t rest = sum.lost[cause] - charged[cause];
    say(program, named, "", cause, rest, rest, sn_monitor_time(program->monitor));
  }
}

/* The announcement is gone, and with it all counts: that something was lost is all there is to say. */
void sn_losses_cut(struct sn_program *program) {
  struct sn_monitor *monitor = program->monitor;
  struct sn_message_loss message = {
      .cause = sn_string_of("cut"), .from = known_until(program), .to = sn_monitor_time(monitor)};
  for (size_t i = program->part_count; i-- > 0;)
    if (program->parts[i].name != NULL) message.process = program->parts[i].process;
  if (message.from > message.to) message.from = message.to;
  sn_put_loss(sn_uplink_frame(monitor), 0, &message);
  (void)sn_uplink_data(monitor); /* no room: then losses are told of already */
}

/* --- reports */

struct report {
  struct sn_monitor *monitor;
  struct base_buffer cells;
  uint32_t rows;
  uint32_t request;
  struct base_buffer objects; /* of a program: cells that come behind those of its processes */
  uint32_t object_rows;
};

static void cell(struct base_buffer *cells, const char *text) {
  sn_put_string(cells, sn_string_of(text));
}

static void cell_number(struct base_buffer *cells, uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, number);
  cell(cells, text);
}

static void flush(struct report *report, bool more) {
  struct base_buffer *out = sn_uplink_answer(report->monitor);
  struct sn_message_report message = {
      .request = report->request,
      .what = sn_string_of("sensors"),
      .more = more,
      .columns = REPORT_COLUMNS,
      .rows = report->rows,
      .cells = sn_string_from(base_buffer_text(&report->cells), report->cells.length)};
  if (out != NULL) sn_put_report(out, 0, &message);
  base_buffer_clear(&report->cells);
  report->rows = 0;
}

static uint64_t ticks_to_ns(const struct sn_program *program, uint64_t ticks) {
  const struct sn_monitor *monitor = program->monitor;
  const struct sn_timeline *line = &monitor->lines[sn_peer_identity(program->peer)->clock - 1];
  __extension__ unsigned __int128 ns = (unsigned __int128)ticks * line->knots[line->last].rate;
  return (uint64_t)(ns >> 32);
}

/* What a record costs its process, whose ever switch is asked. */
static void cell_cost(struct base_buffer *cells, const struct sn_program *program,
                      const struct sn_part *part, uint32_t e) {
  struct sn_entry_view entry;
  if (sn_peer_entry(program->peer, part->index, e, &entry) && entry.cost_samples > 0) {
    cell_number(cells, ticks_to_ns(program, entry.cost_ticks) / entry.cost_samples);
  } else {
    cell(cells, "");
  }
}

/* Records a second; *REPORTED becomes GENERATED. */
static uint64_t rate_of(uint64_t generated, uint64_t *reported, int64_t elapsed) {
  uint64_t more = generated >= *reported ? generated - *reported : 0;
  *reported = generated;
  return elapsed > 0 ? more * UINT64_C(1000000000) / (uint64_t)elapsed : 0;
}

/* How its switch stands: of the process, or of how many objects. */
static void cell_state(struct base_buffer *cells, const struct sn_part *part, uint32_t e) {
  const struct sn_known_event *known = &part->known->events[e];
  const struct sn_part_event *event = &part->events[e];
  char text[32];
  if (known->event->assume_enabled && part->listening) {
    cell(cells, "always");
  } else if (event->thinning.on) {
    struct base_buffer sampled = BASE_BUFFER_EMPTY;
    sn_overload_print(&sampled, event);
    cell(cells, sampled.data);
    base_buffer_done(&sampled);
  } else if (event->want != 0) {
    cell(cells, "on");
  } else if (event->objects > 0) {
    snprintf(text, sizeof text, "objects: %" PRIu32, event->objects);
    cell(cells, text);
  } else if (known->holder != NULL &&
             sn_interest_wants_process(known->interest, part->name->text)) {
    cell(cells, "no such object"); /* as yet */
  } else {
    cell(cells, "off");
  }
}

static void add_event(struct report *report, struct sn_program *program, struct sn_part *part,
                      uint32_t e, int64_t elapsed) {
  struct base_buffer *cells = &report->cells;
  struct sn_part_event *event = &part->events[e];
  struct sn_totals totals;
  if (!sn_totals_of(program, part, e, &totals)) return;
  event->reported_rate = rate_of(totals.records, &event->reported_generated, elapsed);
  cell(cells, part->name->text);
  cell(cells, part->known->events[e].event->name);
  cell(cells, "");
  cell_state(cells, part, e);
  cell_number(cells, totals.records);
  cell_number(cells, totals.lost);
  cell_number(cells, event->reported_rate);
  cell_cost(cells, program, part, e);
  cell_number(cells, totals.escaped);
  cell_number(cells, event->triggers);
  cell_number(cells, event->coalesced);
  report->rows++;
  event->reported_lost = totals.lost;
  event->reported_want = event->want;
}

/* Objects that are on by themselves, where the process is not. */
struct object_report {
  struct report *report;
  struct sn_program *program;
  int64_t elapsed;
};

static void add_object_event(struct object_report *of, const struct sn_part *part, uint32_t e,
                             const struct sn_object_view *object, struct sn_entity *entity) {
  struct base_buffer *cells = &of->report->objects;
  struct sn_taken none = {.event = e}, *taken = sn_entity_taken(entity, e);
  struct sn_totals totals;
  if (!sn_totals_of_object(of->program, part, e, object, entity, &totals)) return;
  if (taken == NULL) taken = &none;
  cell(cells, part->name->text);
  cell(cells, part->known->events[e].event->name);
  cell(cells, entity->name->text);
  cell(cells, "on");
  cell_number(cells, totals.records);
  cell_number(cells, totals.lost);
  cell_number(cells, rate_of(totals.records, &taken->reported, of->elapsed));
  cell_cost(cells, of->program, part, e);
  for (int i = 0; i < 3; i++) cell(cells, "");
  of->report->object_rows++;
}

static void add_object(void *context, const struct sn_object_view *object) {
  struct object_report *of = context;
  struct sn_program *program = of->program;
  struct sn_part *part = sn_program_part(program, object->module);
  if (part == NULL || part->name == NULL) return;
  for (uint32_t e = 1; e < object->switches && e < part->event_count; e++) {
    if (e >= part->known->event_count || part->known->events[e].event == NULL) continue;
    if (of->report->object_rows == OBJECTS_SHOWN) return;
    struct sn_entity *entity = sn_entity_find(program, (uint32_t)(part - program->parts),
                                              object->type, object->minor, object->epoch);
    if (entity != NULL) add_object_event(of, part, e, object, entity);
  }
}

/* The rows of the first objects that are on. */
static void look_at_objects(struct report *report, struct sn_program *program, int64_t elapsed) {
  struct object_report objects = {report, program, elapsed};
  base_buffer_clear(&report->objects);
  report->object_rows = 0;
  if (program->objects_wanted) sn_peer_objects(program->peer, add_object, &objects);
}

/* What its records are a part of. */
static void add_usage(struct report *report, struct sn_program *program) {
  struct base_buffer *cells = &report->cells;
  const struct sn_part *named = NULL;
  uint32_t pid = sn_peer_identity(program->peer)->pid;
  for (size_t i = program->part_count; i-- > 0;)
    if (program->parts[i].name != NULL) named = &program->parts[i];
  if (named == NULL || pid == 0 || !base_usage_look(&program->usage, (pid_t)pid)) return;
  cell(cells, named->name->text);
  cell(cells, "");
  cell(cells, "");
  cell(cells, program->own ? "collector" : "program");
  cell(cells, "");
  cell(cells, "");
  cell(cells, "");
  cell_number(cells, (uint64_t)program->usage.a_second);
  for (int i = 0; i < 3; i++) cell(cells, "");
  report->rows++;
}

static void report_program(struct report *report, struct sn_program *program) {
  int64_t now = base_env_monotonic();
  int64_t elapsed = program->reported_at != 0 ? now - program->reported_at : 0;
  sn_losses_poll(program);
  look_at_objects(report, program, elapsed);
  for (size_t i = 0; i < program->part_count; i++) {
    struct sn_part *part = &program->parts[i];
    if (part->name == NULL) continue;
    uint32_t events = part->event_count;
    if (events > part->known->event_count) events = part->known->event_count;
    for (uint32_t e = 1; e < events; e++) {
      if (part->known->events[e].event != NULL) add_event(report, program, part, e, elapsed);
    }
  }
  base_buffer_append(&report->cells, base_buffer_text(&report->objects), report->objects.length);
  report->rows += report->object_rows;
  add_usage(report, program);
  program->reported_at = now;
}

static bool is_reported(const struct sn_program *program) {
  return program->state == SN_RUNNING && sn_program_ready(program);
}

/* A process's rows stand in one message: a message replaces them. */
void sn_report_all(struct sn_monitor *monitor, uint32_t request) {
  struct report report = {.monitor = monitor,
                          .cells = BASE_BUFFER_EMPTY,
                          .request = request,
                          .objects = BASE_BUFFER_EMPTY};
  for (unsigned i = 0; i < REPORT_COLUMNS; i++) cell(&report.cells, "");
  report.rows = 1; /* all rows of before are replaced */
  for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
    if (!is_reported(program)) continue;
    report_program(&report, program);
    if (report.cells.length > REPORT_BYTES) flush(&report, true);
  }
  flush(&report, false);
  base_buffer_done(&report.cells);
  base_buffer_done(&report.objects);
  monitor->reported_at = base_env_monotonic();
  monitor->report_at = monitor->reported_at + REPORT_NS;
}

static bool has_changed(const struct sn_program *program) {
  if (!is_reported(program)) return false;
  for (size_t i = 0; i < program->part_count; i++) {
    const struct sn_part *part = &program->parts[i];
    for (uint32_t e = 1; part->name != NULL && e < part->event_count; e++) {
      const struct sn_part_event *event = &part->events[e];
      struct fate fate;
      if (event->want != event->reported_want || event->reported_rate != 0) return true;
      if (!look_at(program, part, e, &fate)) continue;
      uint64_t lost = 0;
      for (unsigned cause = 0; cause < SN_CAUSES; cause++) lost += lost_by(&fate, cause);
      if (fate.tally.received + lost != event->reported_generated) return true;
    }
  }
  return program->reported_at == 0 || program->report_wanted;
}

static void add_program(struct report *report, struct sn_program *program) {
  program->report_wanted = false;
  report_program(report, program);
  if (report->cells.length > REPORT_BYTES) flush(report, true);
}

void sn_report_turn(struct sn_monitor *monitor) {
  int64_t now = base_env_monotonic();
  if (now < monitor->report_at || !sn_uplink_is_up(monitor)) return;
  monitor->reported_at = now;
  monitor->report_at = now + REPORT_NS;
  monitor->report_soon = false;
  struct report report = {
      .monitor = monitor, .cells = BASE_BUFFER_EMPTY, .objects = BASE_BUFFER_EMPTY};
  for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
    if (!program->own && has_changed(program)) add_program(&report, program);
  }
  for (struct sn_program *program = monitor->programs; program != NULL; program = program->next) {
    /* What we cost belongs to what the others make. */
    bool due = has_changed(program) || (report.rows > 0 && is_reported(program));
    if (program->own && due) add_program(&report, program);
  }
  if (report.rows > 0) flush(&report, false);
  base_buffer_done(&report.cells);
  base_buffer_done(&report.objects);
}

void sn_report_soon(struct sn_monitor *monitor) {
  monitor->report_soon = true;
  int64_t soon = monitor->reported_at + SOON_NS;
  if (monitor->report_at > soon) monitor->report_at = soon;
}
