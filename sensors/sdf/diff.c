/* What a change of a description means for those who use its relations.
 *
 * A change is compatible when every relation of the older description still exists, of the same kind and
 * about the same entities, and each of its domains still does, with values that fit the older type. So
 * queries that name their domains go on with the same meaning. Event numbers do not count: they are
 * read from each program. Each difference is one line that begins with "compatible" or "incompatible". */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sensors/sdf/output.h"

struct differences {
  struct base_buffer *out;
  bool compatible;
};

static void __attribute__((format(printf, 3, 4)))
tell(struct differences *differences, bool compatible, const char *format, ...) {
  char *text = NULL;
  va_list args;
  va_start(args, format);
  struct base_arena *arena = base_arena_new();
  text = base_arena_vprintf(arena, format, args);
  va_end(args);
  base_buffer_printf(differences->out, "%-12s  %s\n", compatible ? "compatible" : "incompatible",
                     text);
  base_arena_free(arena);
  differences->compatible = differences->compatible && compatible;
}

/* --- types ------------------------------------------------------------------------------------ */

bool sn_type_fits(struct net_type from, struct net_type to) {
  if (from.base != to.base)
    return from.base == NET_INTEGER && to.base == NET_FLOAT && to.width == 8 && from.width <= 4;
  if (to.base == NET_STRING) return to.width == 0 || (from.width != 0 && from.width <= to.width);
  return from.width <= to.width; /* bytes have none */
}

static bool same_type(struct net_type a, struct net_type b) {
  return a.base == b.base && a.width == b.width;
}

static bool same_name(const struct sn_type_description *a, const struct sn_type_description *b) {
  if (a == NULL || b == NULL) return a == b;
  return strcasecmp(a->name, b->name) == 0;
}

static const char *name_of(const struct sn_type_description *type) {
  return type != NULL ? type->name : "none";
}

/* --- domains ---------------------------------------------------------------------------------- */

static const struct sn_domain_description *find_domain(const struct sn_event_description *event,
                                                       const char *name) {
  for (size_t i = 0; i < event->domain_count; i++)
    if (strcasecmp(event->domains[i].name, name) == 0) return &event->domains[i];
  return NULL;
}

static void compare_domain(struct differences *differences, const char *event,
                           const struct sn_domain_description *older,
                           const struct sn_domain_description *newer) {
  if (!same_type(older->type, newer->type)) {
    struct base_buffer from = BASE_BUFFER_EMPTY, to = BASE_BUFFER_EMPTY;
    net_type_print(&from, older->type);
    net_type_print(&to, newer->type);
    tell(differences, sn_type_fits(newer->type, older->type),
         "event %s: domain %s: type %s, was %s", event, older->name, base_buffer_text(&to),
         base_buffer_text(&from));
    base_buffer_done(&from);
    base_buffer_done(&to);
  }
  if (!same_name(older->object, newer->object))
    tell(differences, false, "event %s: domain %s: names of %s, was %s", event, older->name,
         name_of(newer->object), name_of(older->object));
}

static void compare_domains(struct differences *differences,
                            const struct sn_event_description *older,
                            const struct sn_event_description *newer) {
  for (size_t i = 0; i < older->domain_count; i++) {
    const struct sn_domain_description *one = find_domain(newer, older->domains[i].name);
    if (one == NULL)
      tell(differences, false, "event %s: domain %s is gone", older->name, older->domains[i].name);
    else
      compare_domain(differences, older->name, &older->domains[i], one);
  }
  for (size_t i = 0; i < newer->domain_count; i++)
    if (find_domain(older, newer->domains[i].name) == NULL)
      tell(differences, true, "event %s: domain %s is new", older->name, newer->domains[i].name);
}

/* --- events ----------------------------------------------------------------------------------- */

static bool is_key(const struct sn_event_description *event, const char *domain) {
  for (size_t i = 0; i < event->key_count; i++)
    if (strcasecmp(event->keys[i], domain) == 0) return true;
  return false;
}

/* In whatever order. */
static bool same_key(const struct sn_event_description *one,
                     const struct sn_event_description *other) {
  if (one->key_count != other->key_count) return false;
  for (size_t i = 0; i < one->key_count; i++)
    if (!is_key(other, one->keys[i])) return false;
  return true;
}

static void put_key(struct base_buffer *out, const struct sn_event_description *event) {
  for (size_t i = 0; i < event->key_count; i++)
    base_buffer_printf(out, "%s%s", i > 0 ? " " : "", event->keys[i]);
}

static void tell_key(struct differences *differences, const struct sn_event_description *older,
                     const struct sn_event_description *newer) {
  struct base_buffer now = BASE_BUFFER_EMPTY, before = BASE_BUFFER_EMPTY;
  put_key(&now, newer);
  put_key(&before, older);
  tell(differences, false, "event %s: key %s, was %s", older->name, base_buffer_text(&now),
       base_buffer_text(&before));
  base_buffer_done(&now);
  base_buffer_done(&before);
}

static void compare_key(struct differences *differences, const struct sn_event_description *older,
                        const struct sn_event_description *newer) {
  if (older->relation != newer->relation || older->is_period != newer->is_period) {
    tell(differences, false, "event %s: %s relation, was %s", older->name, sn_event_relation(newer),
         sn_event_relation(older));
  } else if (!same_key(older, newer)) {
    tell_key(differences, older, newer);
  }
}

/* What does not touch the meaning of the relation, only how records come about. */
static void compare_collection(struct differences *differences,
                               const struct sn_event_description *older,
                               const struct sn_event_description *newer) {
  if (older->holder != newer->holder)
    tell(differences, true, "event %s: enabled by the %s, was by the %s", older->name,
         sn_holder_name(newer->holder), sn_holder_name(older->holder));
  if (older->minor != newer->minor)
    tell(differences, true, "event %s: %s, was %s", older->name, sn_minor_name(newer->minor),
         sn_minor_name(older->minor));
  if (older->wait_ms != newer->wait_ms)
    tell(differences, true, "event %s: waittime %d, was %d", older->name, (int)newer->wait_ms,
         (int)older->wait_ms);
  if (older->assume_enabled != newer->assume_enabled)
    tell(differences, true, "event %s: %s enabled", older->name,
         newer->assume_enabled ? "always" : "no longer always");
}

static void compare_event(struct differences *differences, const struct sn_event_description *older,
                          const struct sn_event_description *newer) {
  compare_key(differences, older, newer);
  if (!same_name(older->location, newer->location))
    tell(differences, false, "event %s: in %s, was in %s", older->name, newer->location->name,
         older->location->name);
  if (!same_name(older->object, newer->object))
    tell(differences, older->object == NULL, "event %s: object %s, was %s", older->name,
         name_of(newer->object), name_of(older->object));
  if (!same_name(older->initiator, newer->initiator))
    tell(differences, older->initiator == NULL, "event %s: initiator %s, was %s", older->name,
         name_of(newer->initiator), name_of(older->initiator));
  if (older->timestamp != newer->timestamp)
    tell(differences, newer->timestamp, "event %s: %s time stamp", older->name,
         newer->timestamp ? "has a" : "has no longer a");
  compare_domains(differences, older, newer);
  compare_collection(differences, older, newer);
}

bool sn_write_differences(struct base_buffer *out, const struct sn_description *older,
                          const struct sn_description *newer) {
  struct differences differences = {.out = out, .compatible = true};
  if (strcasecmp(older->name, newer->name) != 0)
    tell(&differences, false, "task force %s, was %s", newer->name, older->name);
  for (size_t i = 0; i < older->event_count; i++) {
    const struct sn_event_description *one = sn_description_event(newer, older->events[i].name);
    if (one == NULL)
      tell(&differences, false, "event %s is gone", older->events[i].name);
    else
      compare_event(&differences, &older->events[i], one);
  }
  for (size_t i = 0; i < newer->event_count; i++)
    if (sn_description_event(older, newer->events[i].name) == NULL)
      tell(&differences, true, "event %s is new", newer->events[i].name);
  return differences.compatible;
}
