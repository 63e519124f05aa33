/* Writes remote descriptions. Which attributes there are is the format's business; what their values
 * are is known here: computed ones by name, all others are copied from the description.
 *
 * What a reader needs in order to make sense of records (types, numbers, keys) is written even where
 * a format does not ask for it: the program's own format adds to any other.                      */
#include "sensors/sdf/remote.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "engine/base/env.h"
#include "engine/base/status.h"

struct writer {
  struct base_buffer *out;
  const struct sn_description *description;
  const struct sn_format *own;
  struct base_diag_sink *diags;
  bool ok;
};

uint64_t sn_remote_digest(const char *text, size_t length) {
  uint64_t digest = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < length; i++)
    digest = (digest ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  return digest;
}

/* --- single attributes ------------------------------------------------------------------------ */

static void put_text(struct writer *writer, const char *name, const char *text) {
  if (text == NULL || text[0] == '\0') return;
  base_buffer_printf(writer->out, " (%s ", name);
  sn_tree_write_text(writer->out, text);
  base_buffer_putc(writer->out, ')');
}

static void put_string(struct writer *writer, const char *name, const char *text) {
  if (text == NULL || text[0] == '\0') return;
  base_buffer_printf(writer->out, " (%s ", name);
  sn_tree_write_string(writer->out, text);
  base_buffer_putc(writer->out, ')');
}

static void put_integer(struct writer *writer, const char *name, int64_t value) {
  base_buffer_printf(writer->out, " (%s %lld)", name, (long long)value);
}

static void put_boolean(struct writer *writer, const char *name, bool value) {
  base_buffer_printf(writer->out, " (%s %s)", name, value ? "t" : "nil");
}

static void put_type(struct writer *writer, const char *name,
                     const struct sn_type_description *type) {
  if (type != NULL) put_text(writer, name, type->name);
}

static void put_key(struct writer *writer, const char *name,
                    const struct sn_event_description *event) {
  if (event->key_count == 0) return;
  base_buffer_printf(writer->out, " (%s", name);
  for (size_t i = 0; i < event->key_count; i++) {
    base_buffer_putc(writer->out, ' ');
    sn_tree_write_text(writer->out, event->keys[i]);
  }
  base_buffer_putc(writer->out, ')');
}

/* As the description has it. False: it knows no such attribute. */
static bool put_copy(struct writer *writer, const struct sn_object *object,
                     const struct sn_attribute_format *format) {
  const struct sn_attribute *attribute = object != NULL ? sn_attribute(object, format->name) : NULL;
  if (attribute == NULL)
    return object != NULL && sn_format_attribute(object->class->input, format->name) != NULL;
  base_buffer_printf(writer->out, " (%s", format->name);
  for (const struct sn_value *value = attribute->values; value != NULL; value = value->next) {
    base_buffer_putc(writer->out, ' ');
    if (value->object != NULL && value->object->name != NULL)
      sn_tree_write_text(writer->out, value->object->name);
    else
      sn_tree_write(writer->out, value->element);
  }
  base_buffer_putc(writer->out, ')');
  return true;
}

/* year, month, ... of SOURCE_DATE_EPOCH if that is set, else of now. Formats that want descriptions
 * to be reproducible do not ask for them.                                                         */
static bool put_date(struct writer *writer, const char *name) {
  static const char *const names[] = {"year", "month", "day", "hour", "minute"};
  const char *epoch = getenv("SOURCE_DATE_EPOCH");
  time_t seconds = (time_t)(base_env_now() / 1000000000);
  struct tm date;
  if (epoch != NULL && epoch[0] != '\0') seconds = (time_t)strtoll(epoch, NULL, 10);
  if (gmtime_r(&seconds, &date) == NULL) return false;
  int values[] = {date.tm_year + 1900, date.tm_mon + 1, date.tm_mday, date.tm_hour, date.tm_min};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcasecmp(name, names[i]) != 0) continue;
    put_integer(writer, names[i], values[i]);
    return true;
  }
  return false;
}

/* --- the classes ------------------------------------------------------------------------------ */

static void put_domain(struct writer *writer, const struct sn_domain_description *domain);

static bool put_taskforce(struct writer *writer, const struct sn_attribute_format *format) {
  const struct sn_description *description = writer->description;
  const char *name = format->name;
  if (strcasecmp(name, "systemname") == 0)
    put_string(writer, name, "tquel");
  else if (strcasecmp(name, "sdfilename") == 0)
    put_string(writer, name, description->file);
  else if (strcasecmp(name, "version") == 0)
    put_integer(writer, name, description->version);
  else if (strcasecmp(name, "documentation") == 0)
    put_string(writer, name, description->documentation);
  else
    return put_date(writer, name) || put_copy(writer, description->taskforce, format);
  return true;
}

static bool put_of_type(struct writer *writer, const struct sn_type_description *type,
                        const struct sn_attribute_format *format) {
  if (strcasecmp(format->name, "number") == 0)
    put_integer(writer, format->name, type->number);
  else if (strcasecmp(format->name, "documentation") == 0)
    put_string(writer, format->name, type->documentation);
  else
    return put_copy(writer, type->object, format) || type->object == NULL;
  return true;
}

static bool put_switch(struct writer *writer, const struct sn_event_description *event,
                       const char *name) {
  const struct {
    const char *name;
    bool value;
  } switches[] = {{"internal", event->holder == SN_HOLDER_PERFORMER},
                  {"timestamp", event->timestamp},
                  {"declareobject", event->declare_object},
                  {"assumeenabled", event->assume_enabled},
                  {"checkonetime", event->check_one_time},
                  {"assumeonetime", event->assume_one_time}};
  for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
    if (strcasecmp(name, switches[i].name) != 0) continue;
    put_boolean(writer, name, switches[i].value);
    return true;
  }
  return false;
}

static void put_domains(struct writer *writer, const struct sn_event_description *event,
                        const char *name) {
  size_t first = event->is_period; /* who reads it gives it a ticket himself */
  if (event->domain_count == first) return;
  base_buffer_printf(writer->out, "\n  (%s", name);
  for (size_t i = first; i < event->domain_count; i++) {
    base_buffer_puts(writer->out, "\n    ");
    put_domain(writer, &event->domains[i]);
  }
  base_buffer_putc(writer->out, ')');
}

static bool put_event(struct writer *writer, const struct sn_event_description *event,
                      const struct sn_attribute_format *format) {
  const char *name = format->name;
  if (strcasecmp(name, "enableindex") == 0)
    put_integer(writer, name, event->number);
  else if (strcasecmp(name, "location") == 0)
    put_type(writer, name, event->location);
  else if (strcasecmp(name, "object") == 0)
    put_type(writer, name, event->object);
  else if (strcasecmp(name, "initiator") == 0)
    put_type(writer, name, event->initiator);
  else if (strcasecmp(name, "receptacle") == 0)
    put_text(writer, name, sn_holder_name(event->holder));
  else if (strcasecmp(name, "minortype") == 0)
    put_text(writer, name, sn_minor_name(event->minor));
  else if (strcasecmp(name, "waittime") == 0)
    put_integer(writer, name, event->wait_ms);
  else if (strcasecmp(name, "histogram") == 0)
    put_text(writer, name, event->histogram >= 0 ? event->domains[event->histogram].name : NULL);
  else if (strcasecmp(name, "durations") == 0) {
    if (event->histogram == SN_DURATIONS) put_boolean(writer, name, true);
  } else if (strcasecmp(name, "relation") == 0)
    put_text(writer, name, sn_event_relation(event));
  else if (strcasecmp(name, "documentation") == 0)
    put_string(writer, name, event->documentation);
  else if (strcasecmp(name, "key") == 0)
    put_key(writer, name, event);
  else if (strcasecmp(name, "domains") == 0)
    put_domains(writer, event, name);
  else
    return put_switch(writer, event, name) || put_copy(writer, event->checked, format);
  return true;
}

static void put_domain(struct writer *writer, const struct sn_domain_description *domain) {
  struct base_buffer type = BASE_BUFFER_EMPTY;
  net_type_print(&type, domain->type);
  base_buffer_puts(writer->out, "(domain (name ");
  sn_tree_write_text(writer->out, domain->name);
  base_buffer_printf(writer->out, ") (type %s)", base_buffer_text(&type));
  put_type(writer, "object", domain->object);
  put_string(writer, "documentation", domain->documentation);
  base_buffer_putc(writer->out, ')');
  base_buffer_done(&type);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* An object of the class NAME: what our own format puts out, then what the description's own format
 * wants besides. PUT is one of the three above.                                                   */
static void put_object(struct writer *writer, const char *class_name, const char *name,
                       const void *what,
                       bool (*put)(struct writer *writer, const void *what,
                                   const struct sn_attribute_format *format)) {
  const struct sn_class_format *own = sn_format_class(writer->own, class_name);
  const struct sn_class_format *wanted = sn_format_class(writer->description->format, class_name);
  base_buffer_printf(writer->out, "(%s (name ", class_name);
  sn_tree_write_text(writer->out, name);
  base_buffer_putc(writer->out, ')');
  for (const struct sn_attribute_format *one = own->output; one != NULL; one = one->next) {
    bool known = put(writer, what, one);
    BASE_CHECK(known, "sn-output-known");
  }
  for (const struct sn_attribute_format *one = wanted != NULL ? wanted->output : NULL; one != NULL;
       one = one->next) {
    if (strcasecmp(one->name, "name") == 0 || sn_format_attribute(own->output, one->name) != NULL)
      continue;
    if (put(writer, what, one)) continue;
    base_report_hint(writer->diags, MSG_FORMAT_DEFINITION, writer->description->format->source,
                     &one->element->range,
                     "output consists of attributes of the input and of those that README names",
                     "nothing is known of the attribute %s of the class %s", one->name, class_name);
    writer->ok = false;
  }
  base_buffer_puts(writer->out, ")\n");
}

static bool any_taskforce(struct writer *writer, const void *what,
                          const struct sn_attribute_format *format) {
  (void)what;
  return put_taskforce(writer, format);
}

static bool any_type(struct writer *writer, const void *what,
                     const struct sn_attribute_format *format) {
  return put_of_type(writer, what, format);
}

static bool any_event(struct writer *writer, const void *what,
                      const struct sn_attribute_format *format) {
  return put_event(writer, what, format);
}

bool sn_remote_write(struct base_buffer *out, const struct sn_description *description,
                     const struct sn_format *own, struct base_diag_sink *diags) {
  struct writer writer = {
      .out = out, .description = description, .own = own, .diags = diags, .ok = true};
  put_object(&writer, "taskforce", description->name, NULL, any_taskforce);
  for (size_t i = 0; i < description->type_count; i++) {
    const struct sn_type_description *type = &description->types[i];
    put_object(&writer, type->is_process ? "sensorprocess" : "objecttype", type->name, type,
               any_type);
  }
  for (size_t i = 0; i < description->event_count; i++)
    put_object(&writer, "event", description->events[i].name, &description->events[i], any_event);
  return writer.ok;
}
