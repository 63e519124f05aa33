/* What is said beside what rings hold: ends of what is open, rounds, and where reading a ring began. */
#include <stdlib.h>

#include "engine/base/env.h"
#include "sensors/collect/monitor_impl.h"

void sn_accountant_pipe(struct sn_program *program, size_t i) {
  struct sn_intake *intake = &program->intakes[i];
  if (intake->begun) return;
  struct sn_pipe_view view;
  sn_pipe_view(program->peer, i, &view);
  intake->sequence = intake->first = view.released;
  intake->begun = true;
  sn_accountant_define_pipe(program, i);
}

void sn_accountant_define_pipe(struct sn_program *program, size_t i) {
  const struct sn_intake *intake = &program->intakes[i];
  struct sn_message_pipe message = {
      .pipe = intake->id, .process = program->parts[0].process, .position = intake->first};
  sn_put_pipe(sn_uplink_frame(program->monitor), 0, &message);
  sn_uplink_define(program->monitor, intake->id);
}

/* Is what DOMAIN of a process's records says one entity? */
static bool is_whole_key(const struct sn_known_event *known, uint32_t domain) {
  return known->event->key_count ==
         (size_t)known->of_key[0] + (domain > 0 && known->of_key[domain]);
}

void sn_accountant_end_record(struct sn_program *program, struct sn_part *part, uint32_t event,
                              uint32_t domain, const struct sn_name *name, int64_t lo, int64_t hi) {
  if (part->known == NULL || event >= part->known->event_count) return;
  struct sn_monitor *monitor = program->monitor;
  struct sn_known_event *known = &part->known->events[event];
  if (known->event == NULL || known->event->relation == SN_KIND_EVENT) return;
  bool sampled = known->event->relation == SN_KIND_SAMPLED;
  if (sampled && !is_whole_key(known, domain)) return;
  if (sampled) lo = hi;
  struct sn_message_event_record message = {.relation =
                                                sn_known_relation(monitor, part->known, known)};
  bool *named = base_xcalloc(known->domain_count, sizeof *named);
  named[0] = true; /* the process, which belongs to the key */
  named[domain] = true;
  struct base_buffer *out = sn_uplink_frame(monitor);
  size_t begun = sn_begin_event_record(out, 0, &message);
  struct sn_record_head head = {
      .marks = SN_MARK_DEFINITE | SN_MARK_CLOSES, .start_lo = lo, .start_hi = hi};
  if (lo == hi) head.marks |= SN_MARK_EXACT;
  sn_put_record_head(out, &head);
  sn_put_named(out, named, known->domain_count);
  sn_put_name_id(out, part->name->id);
  if (domain > 0) sn_put_name_id(out, name->id);
  sn_event_record_end(out, begun, 1);
  sn_uplink_data(monitor);
  free(named);
  if (hi > monitor->said_at) monitor->said_at = hi;
}

void sn_accountant_round(struct sn_monitor *monitor, struct sn_known *known,
                         struct sn_known_event *event, int64_t at) {
  struct sn_message_event_record message = {.relation = sn_known_relation(monitor, known, event)};
  struct base_buffer *out = sn_uplink_frame(monitor);
  size_t begun = sn_begin_event_record(out, 0, &message);
  struct sn_record_head head = {
      .marks = SN_MARK_DEFINITE | SN_MARK_ROUND, .start_lo = at, .start_hi = at};
  sn_put_record_head(out, &head);
  sn_event_record_end(out, begun, 1);
  sn_uplink_data(monitor);
}
