/* From what a plan's access node asks for to watches (engine/control.h): one for each combination of the
 * values that its selections leave of the domains by which the sensor is switched. Without any, one for all
 * objects: the universal relation of thesis 7.1.1. */
#include "netgen/build_control.h"

#include <strings.h>

#include "engine/filter.h"

/* So many watches at most: a sensor is not to be asked for every combination of long lists. */
enum { WATCHES_MAX = 256 };

struct watching {
  const struct ng_inputs *inputs;
  const struct ng_relation *relation;
  struct net_node *access;
  struct net_control *control;
  const struct net_wanted_domain **domains; /* with lists of values */
  uint32_t domain_count;
  struct net_watch watch;
  struct net_watch_object *objects;
};

/* All combinations of values of the domains from INDEX on. */
static void watch_values(struct watching *watching, uint32_t index) {
  if (index == watching->domain_count) {
    const struct ng_inputs *inputs = watching->inputs;
    net_access_watch(watching->access, watching->control, &watching->watch);
    if (inputs->watches)
      inputs->watches(inputs->context, inputs->owner, watching->relation, &watching->watch,
                      watching->access);
    return;
  }
  const struct net_wanted_domain *domain = watching->domains[index];
  for (uint32_t i = 0; i < domain->count; i++) {
    watching->objects[index] = (struct net_watch_object){
        domain->name, domain->type, domain->values[i], domain->patterns && domain->patterns[i]};
    watch_values(watching, index + 1);
  }
}

static void list_domains(struct watching *watching, const struct ng_node *node) {
  const struct ng_sensor *sensor = node->relation->sensor;
  size_t watches = 1;
  for (size_t i = 0; i < sensor->object_count && node->watched; i++) {
    const char *name = node->relation->layout->fields[sensor->objects[i]].name;
    const struct net_wanted_domain *domain = net_wanted_find(node->watched, name);
    if (!domain || !domain->listed || watches * domain->count > WATCHES_MAX) continue;
    watches *= domain->count;
    watching->domains[watching->domain_count++] = domain;
  }
}

/* What the selections say besides of the objects that a control arc brings; only single values can be put
 * beside them. */
static void watch_objects(struct watching *watching, const struct ng_node *node,
                          const struct net_layout *in, uint32_t slot) {
  const struct net_field *field = &node->relation->layout->fields[node->control_domain];
  uint32_t count = 0;
  for (uint32_t i = 0; i < watching->domain_count; i++) {
    const struct net_wanted_domain *domain = watching->domains[i];
    if (domain->count == 1 && strcasecmp(domain->name, field->name) != 0)
      watching->objects[count++] = (struct net_watch_object){
          domain->name, domain->type, domain->values[0], domain->patterns && domain->patterns[0]};
  }
  watching->objects[count++] =
      (struct net_watch_object){.domain = field->name, .type = field->type};
  watching->watch.object_count = count;
  net_access_watch_objects(watching->access, watching->control, &watching->watch, in, slot);
}

void ng_watch(const struct ng_inputs *inputs, struct base_arena *arena, const struct ng_node *node,
              struct net_node *access, struct net_control *control, const struct net_layout *in,
              uint32_t slot) {
  size_t most = node->relation->sensor->object_count + 1;
  struct watching watching = {
      .inputs = inputs, .relation = node->relation, .access = access, .control = control};
  watching.domains = BASE_NEW_ARRAY(arena, most, const struct net_wanted_domain *);
  watching.objects = BASE_NEW_ARRAY(arena, most, struct net_watch_object);
  watching.watch = (struct net_watch){.relation = node->relation->name,
                                      .objects = watching.objects,
                                      .starts_only = node->starts_only,
                                      .every = node->every,
                                      .origin = node->origin};
  struct base_buffer filter = BASE_BUFFER_EMPTY;
  if (node->filter) net_filter_put(&filter, *node->filter);
  watching.watch.filter = filter.data;
  watching.watch.filter_length = (uint32_t)filter.length;
  list_domains(&watching, node);
  if (node->control) {
    if (in) watch_objects(&watching, node, in, slot);
    if (inputs->watches)
      inputs->watches(inputs->context, inputs->owner, node->relation, NULL, access);
  } else {
    watching.watch.object_count = watching.domain_count;
    watch_values(&watching, 0);
  }
  base_buffer_done(&filter);
}

struct net_node *ng_watch_trigger(struct net_network *network, struct base_arena *arena,
                                  const struct ng_node *node, const char *name,
                                  struct net_control *control, const struct net_layout *in,
                                  const uint32_t *slots) {
  const struct net_field *fields = node->relation->layout->fields;
  size_t most = node->relation->sensor->object_count, count = 0;
  struct net_watch_object *objects =
      BASE_NEW_ARRAY(arena, most + node->triggers.count + 1, struct net_watch_object);
  for (size_t i = 0; i < most && node->watched; i++) {
    uint32_t index = node->relation->sensor->objects[i];
    const struct net_wanted_domain *domain = net_wanted_find(node->watched, fields[index].name);
    bool brought = false;
    for (size_t k = 0; k < node->triggers.count; k++)
      brought = brought || node->trigger_domains[k] == index;
    if (domain && domain->listed && domain->count == 1 && !brought)
      objects[count++] = (struct net_watch_object){domain->name, domain->type, domain->values[0],
                                                   domain->patterns && domain->patterns[0]};
  }
  for (size_t k = 0; k < node->triggers.count; k++) {
    const struct net_field *field = &fields[node->trigger_domains[k]];
    objects[count++] = (struct net_watch_object){.domain = field->name, .type = field->type};
  }
  const struct net_watch watch = {
      .relation = node->relation->name, .objects = objects, .object_count = (uint32_t)count};
  return net_create_trigger(network, name, in, control, &watch, slots, node->triggers.count);
}
