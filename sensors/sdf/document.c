/* Documentation in Markdown: what may be asked of the programs of a task force, and how their sensors are
 * called.                                                                                        */
#include <string.h>

#include "sensors/sdf/output.h"

/* Text in Markdown: signs that would mean something are escaped. IN_TABLE: and a line stays one. */
static void put_text(struct base_buffer *out, const char *text, bool in_table) {
  for (; *text != '\0'; text++) {
    if (strchr("\\`*_[]<>|#", *text) != NULL) base_buffer_putc(out, '\\');
    base_buffer_putc(out, in_table && *text == '\n' ? ' ' : *text);
  }
}

static void put_paragraph(struct base_buffer *out, const char *text) {
  if (text[0] == '\0') return;
  put_text(out, text, false);
  base_buffer_puts(out, "\n\n");
}

static void put_types(struct base_buffer *out, const struct sn_description *description) {
  base_buffer_puts(out, "| type | | |\n|---|---|---|\n");
  for (size_t i = 0; i < description->type_count; i++) {
    const struct sn_type_description *type = &description->types[i];
    base_buffer_printf(out, "| `%s` | %s | ", type->name,
                       type->is_process ? "sensor process" : "object type");
    put_text(out, type->documentation, true);
    base_buffer_puts(out, " |\n");
  }
  base_buffer_putc(out, '\n');
}

static void put_trigger(struct base_buffer *out, const struct sn_event_description *event) {
  static const char *const holders[] = {"the process", "the object", "the initiator"};
  const char *holder = holders[event->holder];
  switch (event->minor) {
    case SN_MINOR_OBJECT_TRACED:
    case SN_MINOR_SENSOR_TRACED:
      if (event->assume_enabled)
        base_buffer_puts(out, "Traced: recorded whenever it happens and somebody listens.");
      else if (event->assume_one_time)
        base_buffer_printf(out,
                           "Traced: recorded once each time it is enabled for %s: when it happens "
                           "next.",
                           holder);
      else
        base_buffer_printf(out, "Traced: recorded whenever it happens while it is enabled for %s.",
                           holder);
      break;
    case SN_MINOR_RECEPTACLE_SAMPLED:
      base_buffer_printf(out,
                         "Sampled: the program passes the sensor regularly; one record each time "
                         "it is asked of %s.",
                         holder);
      break;
    case SN_MINOR_MESSAGE_SAMPLED:
      base_buffer_printf(
          out,
          "Sampled: the program asks `%sRequested()`, runs the sensor for each entity, "
          "and says `%sRound()`.",
          event->name, event->name);
      break;
    case SN_MINOR_INVOCATION_SAMPLED:
      base_buffer_printf(out, "Sampled: a function given to `%sOnSample()` is called.",
                         event->name);
      break;
  }
  if (event->is_period)
    base_buffer_printf(out,
                       " A period sensor: `%sStart()` and `%sStop()`, or `%sScope()`; one record "
                       "each.",
                       event->name, event->name, event->name);
  base_buffer_puts(out,
                   event->timestamp
                       ? " The record carries the time."
                       : " The record carries no time; it is known within the time between two "
                         "looks of the monitor.");
  if (event->wait_ms == 0)
    base_buffer_puts(out, " Where there is no room the record is lost, and counted.");
  else if (event->wait_ms < 0)
    base_buffer_puts(out,
                     " Where there is no room the program waits, as long as somebody listens.");
  else
    base_buffer_printf(
        out,
        " Where there is no room the program waits for up to %d ms; then the record is "
        "lost, and counted.",
        (int)event->wait_ms);
  if (event->histogram >= 0)
    base_buffer_printf(out, " Sums and histograms are those of `%s`.",
                       event->domains[event->histogram].name);
  if (event->histogram == SN_DURATIONS)
    base_buffer_puts(out, " Sums and histograms are those of how long the periods last.");
  base_buffer_puts(out, "\n\n");
}

static void put_domain(struct base_buffer *out, const char *name, struct net_type type,
                       const char *holds, const char *documentation) {
  base_buffer_printf(out, "| `%s` | ", name);
  net_type_print(out, type);
  base_buffer_puts(out, " | ");
  if (holds != NULL) base_buffer_printf(out, "a `%s`", holds);
  if (holds != NULL && documentation[0] != '\0') base_buffer_puts(out, ": ");
  put_text(out, documentation, true);
  base_buffer_puts(out, " |\n");
}

static void put_domains(struct base_buffer *out, const struct sn_event_description *event) {
  const struct net_type name = {NET_NAME, 0};
  base_buffer_puts(out, "| domain | type | |\n|---|---|---|\n");
  put_domain(out, "Process", name, event->location->name, "");
  if (event->object != NULL) put_domain(out, event->object->name, name, event->object->name, "");
  if (event->initiator != NULL) put_domain(out, "Initiator", name, event->initiator->name, "");
  for (size_t i = 0; i < event->domain_count; i++) {
    const struct sn_domain_description *domain = &event->domains[i];
    put_domain(out, domain->name, domain->type,
               domain->object != NULL ? domain->object->name : NULL, domain->documentation);
  }
  base_buffer_putc(out, '\n');
}

static void put_event(struct base_buffer *out, const struct sn_event_description *event,
                      const char *const *reserved) {
  base_buffer_printf(out, "## %s\n\nEvent %u, sensor `%s%s` in `%s`.\n\n", event->name,
                     event->number, event->name, event->is_period ? "Start" : "Sensor",
                     event->location->name);
  put_paragraph(out, event->documentation);
  put_trigger(out, event);
  put_domains(out, event);
  base_buffer_puts(out, "    ");
  sn_write_create(out, event, reserved);
  base_buffer_puts(out, "\n");
}

void sn_write_document(struct base_buffer *out, const struct sn_description *description,
                       const char *const *reserved) {
  base_buffer_printf(out, "# Task force %s\n\n", description->name);
  put_paragraph(out, description->documentation);
  if (description->version > 0)
    base_buffer_printf(out, "Version %lld.\n\n", (long long)description->version);
  put_types(out, description);
  for (size_t i = 0; i < description->event_count; i++) {
    if (i > 0) base_buffer_putc(out, '\n');
    put_event(out, &description->events[i], reserved);
  }
}
