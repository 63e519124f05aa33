/* What tells the entities of traced and sampled relations apart. */
#include "netgen/query.h"

/* The innermost of the objects that are of RELATION's key; object_count: none is. */
static size_t object_of_key(const struct ng_relation *relation) {
  const struct ng_sensor *sensor = relation->sensor;
  for (size_t i = sensor->object_count; i-- > 0;)
    if (net_key_has(&relation->by, sensor->objects[i])) return i;
  return sensor->object_count;
}

void ng_set_entity(struct base_arena *arena, struct ng_relation *relation) {
  const struct ng_sensor *sensor = relation->sensor;
  relation->entity = relation->by;
  if (relation->by.count == 0 || !sensor || object_of_key(relation) < sensor->object_count) return;
  int process = net_layout_find(relation->layout, "Process");
  if (process < 0) return;
  uint32_t *fields = BASE_NEW_ARRAY(arena, relation->by.count + 1, uint32_t);
  for (size_t i = 0; i < relation->by.count; i++) fields[i] = relation->by.fields[i];
  fields[relation->by.count] = (uint32_t)process;
  relation->entity = (struct net_key){fields, relation->by.count + 1};
}

bool ng_entity_has_one(const struct ng_relation *relation, uint32_t domain) {
  const struct ng_sensor *sensor = relation->sensor;
  if (relation->entity.count == 0) return false;
  if (net_key_has(&relation->entity, domain)) return true;
  size_t inner = sensor ? object_of_key(relation) : 0;
  if (!sensor || inner == sensor->object_count) return false;
  for (size_t i = 0; i < inner; i++)
    if (sensor->objects[i] == domain) return true;
  return false;
}
