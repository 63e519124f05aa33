/* What the database knows of announced relations: which description, whose receptacles, whether all of it is wanted. */
#include "sensors/sdf/description.h"
#include "tquel/session/control/control.h"
#include "tquel/session/session_impl.h"

static const char *copy_of(struct tql_session *session, const char *text) {
  return text != NULL ? base_arena_strdup(session->arena, text) : NULL;
}

/* No event but that of a period sensor can have a domain of that name (sensors/sdf). */
static bool is_of_period_sensor(const struct session_relation *relation) {
  const struct ng_relation *ng = &relation->ng;
  return ng->kind == NG_REL_TRACED && ng->by.count == 1 &&
         strcasecmp(ng->layout->fields[ng->by.fields[0]].name, sn_ticket_domain) == 0;
}

/* RELATION is one that sensors make records of, by what the catalogue says. */
static void mark(struct tql_session *session, struct session_relation *relation,
                 const struct st_announced *from) {
  relation->sensors.digest = from->digest;
  relation->sensors.announced = from->digest != 0;
  relation->sensors.persistent = from->persistent;
  relation->sensors.holder = from->holder;
  relation->sensors.event = copy_of(session, from->event);
  relation->sensors.taskforce = from->event != NULL ? copy_of(session, from->taskforce) : NULL;
  relation->ng.sensor = relation->sensors.sensor = NULL;
  session->asks_changed = true;
  ng_set_entity(session->arena, &relation->ng);
  if (!relation->sensors.announced) return;
  uint32_t *objects = BASE_NEW_ARRAY(session->arena, 2, uint32_t);
  struct ng_sensor *sensor = BASE_NEW(session->arena, struct ng_sensor);
  int process = net_layout_find(relation->ng.layout, "Process");
  sensor->objects = objects;
  relation->ng.sensor = relation->sensors.sensor = sensor;
  if (process >= 0) objects[sensor->object_count++] = (uint32_t)process;
  if (from->holder >= 0 && from->holder != process &&
      (uint32_t)from->holder < relation->ng.layout->field_count)
    objects[sensor->object_count++] = (uint32_t)from->holder;
  sensor->one_record = is_of_period_sensor(relation);
  ng_set_entity(session->arena, &relation->ng);
  for (size_t i = 0; i < session->relation_count; i++)
    session->relations[i]->ng.of_switches = session_says_switches(session, session->relations[i]);
}

enum base_status session_load_announced(struct tql_session *session) {
  struct base_arena *arena = base_arena_new();
  struct st_announced *all = NULL;
  size_t count = 0;
  enum base_status status = st_announced(session->database, arena, &all, &count);
  for (size_t i = 0; i < count; i++) {
    struct session_relation *relation = session_find(session, all[i].relation);
    if (relation != NULL && !session_is_derived(relation)) mark(session, relation, &all[i]);
  }
  base_arena_free(arena);
  return status;
}

enum base_status session_save_announced(struct tql_session *session,
                                        struct session_relation *relation, uint64_t digest,
                                        int holder, bool persistent) {
  struct st_announced saved = {.relation = relation->ng.name,
                               .digest = digest,
                               .holder = holder,
                               .persistent = persistent,
                               .taskforce = relation->sensors.taskforce,
                               .event = relation->sensors.event};
  enum base_status status = st_announced_save(session->database, &saved);
  if (status == BASE_OK) mark(session, relation, &saved);
  return status;
}
