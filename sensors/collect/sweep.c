/* Objects that a scan of their program's receptacles does not find any more: what they have open ends. */
#include "sensors/collect/monitor_impl.h"

/* Its periods end between what is known of it last and now. */
static void end(struct sn_program *program, struct sn_entity *entity) {
  struct sn_monitor *monitor = program->monitor;
  int64_t now = sn_monitor_time(monitor), lo = monitor->checked;
  if (entity->last_at >= lo) lo = entity->last_at + 1;
  if (now < lo) now = lo;
  for (uint32_t i = 0; i < entity->open_count; i++) {
    const struct sn_open *open = &entity->open[i];
    sn_accountant_end_record(program, &program->parts[entity->part], open->event, open->domain,
                             entity->name, lo, now);
  }
  sn_sampling_leave(program, entity);
  sn_tell_entity_ends(program, entity);
  if (!program->own) sn_accountant_own(monitor); /* not while ours are gone through */
  sn_name_end(monitor, entity->name);
  sn_entity_free(entity);
}

void sn_entities_sweep(struct sn_program *program, bool all) {
  struct sn_entities *entities = &program->entities;
  uint64_t turn = program->monitor->turn;
  for (size_t i = 0; i < entities->size; i++) {
    for (struct sn_entity **link = &entities->places[i]; *link != NULL;) {
      struct sn_entity *entity = *link;
      bool seen = entity->seen == program->scan || entity->made == program->scan;
      if (!seen && !entity->gone) {
        entity->gone = true;
        entity->gone_turn = turn;
      }
      if (all || (entity->gone && turn > entity->gone_turn + 2)) {
        sn_entity_take_out(entities, link);
        end(program, entity);
      } else {
        link = &entity->next;
      }
    }
  }
}
