/* TQuel declarations: one create statement for each event. Traced events make traced relations, sampled
 * ones sampled relations (thesis 3.2, E.5), unless the description says otherwise.                 */
#include <stdio.h>
#include <strings.h>

#include "sensors/sdf/output.h"

static void put_name(struct base_buffer *out, const char *name, const char *const *reserved) {
  bool quote = false;
  for (; *reserved != NULL; reserved++) quote = quote || strcasecmp(*reserved, name) == 0;
  base_buffer_printf(out, quote ? "`%s`" : "%s", name);
}

void sn_write_create(struct base_buffer *out, const struct sn_event_description *event,
                     const char *const *reserved) {
  const char *implicit[3];
  size_t count = sn_event_implicit(event, implicit);
  base_buffer_printf(out, "create %s ", sn_relation_name(event->relation));
  put_name(out, event->name, reserved);
  for (size_t i = 0; i < count; i++) {
    base_buffer_puts(out, i == 0 ? " (" : ", ");
    put_name(out, implicit[i], reserved);
    base_buffer_puts(out, " = name");
  }
  for (size_t i = 0; i < event->domain_count; i++) {
    base_buffer_puts(out, ", ");
    put_name(out, event->domains[i].name, reserved);
    base_buffer_puts(out, " = ");
    net_type_print(out, event->domains[i].type);
  }
  base_buffer_putc(out, ')');
  for (size_t i = 0; i < event->key_count; i++) {
    base_buffer_puts(out, i == 0 ? " by " : ", ");
    put_name(out, event->keys[i], reserved);
  }
}

static void put_comment(struct base_buffer *out, const char *text) {
  if (text[0] == '\0') return;
  base_buffer_puts(out, "-- ");
  for (; *text != '\0'; text++) {
    base_buffer_putc(out, *text);
    if (*text == '\n') base_buffer_puts(out, "-- ");
  }
  base_buffer_putc(out, '\n');
}

void sn_write_tquel(struct base_buffer *out, const struct sn_description *description,
                    const char *const *reserved) {
  base_buffer_printf(out, "-- The relations of the task force %s.\n", description->name);
  put_comment(out, description->documentation);
  for (size_t i = 0; i < description->event_count; i++) {
    const struct sn_event_description *event = &description->events[i];
    base_buffer_putc(out, '\n');
    put_comment(out, event->documentation);
    sn_write_create(out, event, reserved);
    base_buffer_putc(out, '\n');
  }
}

/* "3 events", "1 event" */
static void put_count(struct base_buffer *out, size_t count, const char *what, const char *plural) {
  base_buffer_printf(out, "%zu %s", count, count == 1 ? what : plural);
}

void sn_write_summary(struct base_buffer *out, const struct sn_description *description) {
  size_t processes = 0;
  for (size_t i = 0; i < description->type_count; i++)
    processes += description->types[i].is_process;
  base_buffer_printf(out, "task force %s: ", description->name);
  put_count(out, processes, "sensor process", "sensor processes");
  base_buffer_puts(out, ", ");
  put_count(out, description->type_count - processes, "object type", "object types");
  base_buffer_puts(out, ", ");
  put_count(out, description->event_count, "event", "events");
  base_buffer_putc(out, '\n');
  for (size_t i = 0; i < description->event_count; i++) {
    const struct sn_event_description *event = &description->events[i];
    base_buffer_printf(out, "%5u  %s (", event->number, event->name);
    for (size_t j = 0; j < event->domain_count; j++) {
      base_buffer_printf(out, "%s%s: ", j > 0 ? ", " : "", event->domains[j].name);
      net_type_print(out, event->domains[j].type);
    }
    base_buffer_printf(out, ") in %s, %s%s", event->location->name, sn_minor_name(event->minor),
                       event->timestamp ? ", stamped" : "");
    if (event->object != NULL) base_buffer_printf(out, ", of %s", event->object->name);
    base_buffer_putc(out, '\n');
  }
}
