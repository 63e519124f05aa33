/* Checked objects to a description: see description.h.
 *
 * What is checked here is what the classes mean: that names can be names in C and in the query
 * language, that attributes do not contradict each other, that numbers are unique. All mistakes are
 * reported, each at its place.                                                                    */
#include "sensors/sdf/description.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "engine/base/status.h"

struct describer {
  struct base_arena *arena;
  const struct base_source *source;
  struct base_diag_sink *diags;
  struct sn_description *description;
  struct sn_object *objects;
  enum sn_direction direction;
  bool ok;
};

/* HINT may be NULL. */
static void __attribute__((format(printf, 5, 6)))
wrong(struct describer *describer, enum base_message number, const struct sn_element *at,
      const char *hint, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *text = base_arena_vprintf(describer->arena, format, args);
  va_end(args);
  const struct base_range *range = at != NULL && at->range.first_line > 0 ? &at->range : NULL;
  describer->ok = false;
  if (hint != NULL)
    base_report_hint(describer->diags, number, describer->source, range, hint, "%s", text);
  else
    base_report(describer->diags, number, describer->source, range, "%s", text);
}

/* --- names ------------------------------------------------------------------------------------ */

static const char *const minor_names[] = {"objecttraced", "sensortraced", "receptaclesampled",
                                          "messagesampled", "invocationsampled"};
static const char *const holder_names[] = {"performer", "object", "initiator"};
/* As enum sn_relation_type has them, and period sensors. */
static const char *const relation_names[] = {"event", "traced", "sampled", "period"};
enum { PERIOD_SENSOR = 3 };

const char sn_ticket_domain[] = "Ticket";

const char *sn_minor_name(enum sn_minor minor) {
  return minor_names[minor - 1];
}
const char *sn_holder_name(enum sn_holder holder) {
  return holder_names[holder];
}
const char *sn_relation_name(enum sn_relation_type relation) {
  return relation_names[relation];
}
const char *sn_event_relation(const struct sn_event_description *event) {
  return relation_names[event->is_period ? PERIOD_SENSOR : event->relation];
}

static bool ends_with(const char *name, const char *suffix) {
  size_t length = strlen(name), end = strlen(suffix);
  return length >= end && strcasecmp(name + length - end, suffix) == 0;
}

static bool is_one_of(const char *name, const char *const *words, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strcasecmp(name, words[i]) == 0) return true;
  return false;
}

/* Letters, digits and "_", no digit first: names of C and of the query language at once. */
static bool check_identifier(struct describer *describer, const struct sn_element *at,
                             const char *what) {
  const char *name = at->text;
  bool good = isalpha((unsigned char)name[0]) != 0;
  for (const char *c = name; *c != '\0'; c++)
    good = good && (isalnum((unsigned char)*c) || *c == '_');
  if (good) return true;
  wrong(describer, MSG_DESCRIPTION_NAME, at,
        "it becomes a name in C and in queries: a letter, then letters, digits and _",
        "%s cannot be the name of %s", name, what);
  return false;
}

static void check_event_name(struct describer *describer, const struct sn_element *at) {
  static const char *const words[] = {"Late", "Lost", "Rejected", "Clock", "SensorCost"};
  if (!check_identifier(describer, at, "an event")) return;
  bool taken = strncasecmp(at->text, "tq_", 3) == 0 || strncasecmp(at->text, "sqlite_", 7) == 0 ||
               ends_with(at->text, "_readable") ||
               is_one_of(at->text, words, sizeof words / sizeof words[0]);
  if (!taken) return;
  wrong(describer, MSG_DESCRIPTION_NAME, at,
        "it becomes the name of a relation; names that begin with tq_ or sqlite_ or end in "
        "_readable, "
        "and Late, Lost, Rejected, SensorCost and Clock belong to the system",
        "%s cannot be the name of an event", at->text);
}

static void check_domain_name(struct describer *describer, const struct sn_element *at,
                              const char *what) {
  static const char *const words[] = {"at", "start", "stop", "time", "all", "definite"};
  static const char *const suffixes[] = {"_lo", "_hi", "_n0", "_n1", "_d0", "_d1"};
  if (!check_identifier(describer, at, what)) return;
  bool taken = is_one_of(at->text, words, sizeof words / sizeof words[0]);
  for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
    taken = taken || ends_with(at->text, suffixes[i]);
  if (!taken) return;
  wrong(describer, MSG_DESCRIPTION_NAME, at,
        "it becomes a domain of a relation; at, start, stop, time, all, definite and names in _lo "
        "_hi "
        "_n0 _n1 _d0 _d1 are taken",
        "%s cannot be the name of %s", at->text, what);
}

/* --- values of attributes --------------------------------------------------------------------- */

static const struct sn_value *value_of(const struct sn_object *object, const char *name) {
  const struct sn_attribute *attribute = sn_attribute(object, name);
  return attribute != NULL ? attribute->values : NULL;
}

/* Whether the text itself says it, not the format's default. */
static const struct sn_element *given(const struct sn_object *object, const char *name) {
  const struct sn_attribute *attribute = sn_attribute(object, name);
  return attribute != NULL && attribute->element != NULL && attribute->values != NULL
             ? attribute->values->element
             : NULL;
}

static bool boolean_of(const struct sn_object *object, const char *name, bool otherwise) {
  const struct sn_value *value = value_of(object, name);
  return value != NULL ? sn_boolean(value->element) == 1 : otherwise;
}

/* The integer within its bounds, else reported and OTHERWISE. */
static int64_t integer_of(struct describer *describer, const struct sn_object *object,
                          const char *name, int64_t low, int64_t high, int64_t otherwise) {
  const struct sn_value *value = value_of(object, name);
  if (value == NULL || value->element->kind != SN_INTEGER) return otherwise;
  int64_t integer = value->element->integer;
  if (integer >= low && integer <= high) return integer;
  wrong(describer, MSG_ATTRIBUTE_VALUE, value->element, NULL,
        "the attribute %s is a number from %lld to %lld", name, (long long)low, (long long)high);
  return otherwise;
}

/* The index of the atom in NAMES, or OTHERWISE. */
static int choice_of(const struct sn_object *object, const char *name, const char *const *names,
                     int count, int otherwise) {
  const struct sn_value *value = value_of(object, name);
  if (value == NULL || value->element->kind != SN_ATOM) return otherwise;
  for (int i = 0; i < count; i++)
    if (strcasecmp(value->element->text, names[i]) == 0) return i;
  return otherwise;
}

/* Words and strings as one text. */
static const char *documentation_of(const struct describer *describer,
                                    const struct sn_object *object) {
  static const char *const names[] = {"documentation", "doc"};
  struct base_buffer text = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < 2; i++) {
    for (const struct sn_value *one = value_of(object, names[i]); one != NULL; one = one->next) {
      if (text.length > 0) base_buffer_putc(&text, ' ');
      if (one->element->kind == SN_STRING)
        base_buffer_puts(&text, one->element->text);
      else
        sn_tree_write(&text, one->element);
    }
  }
  const char *copy = base_arena_strdup(describer->arena, base_buffer_text(&text));
  base_buffer_done(&text);
  return copy;
}

static bool is_class(const struct sn_object *object, const char *name) {
  return strcasecmp(object->class->name, name) == 0;
}

static bool check_named(struct describer *describer, const struct sn_object *object) {
  if (object->name != NULL) return true;
  wrong(describer, MSG_ATTRIBUTE_MISSING, object->place, NULL, "this %s has no attribute name",
        object->class->name);
  return false;
}

/* --- the task force and the types ------------------------------------------------------------- */

static void read_taskforce(struct describer *describer) {
  struct sn_description *description = describer->description;
  const char *slash = strrchr(describer->source->name, '/');
  description->name = "";
  description->documentation = "";
  /* Without its folders: what is made from it must not depend on where that was done. */
  description->file = slash != NULL ? slash + 1 : describer->source->name;
  for (const struct sn_object *one = describer->objects; one != NULL; one = one->next) {
    if (!is_class(one, "taskforce")) continue;
    if (description->taskforce != NULL) {
      wrong(describer, MSG_SENSOR_MEANING, one->place, "describe it in a file of its own",
            "a second task force");
      return;
    }
    description->taskforce = one;
  }
  const struct sn_object *taskforce = description->taskforce;
  if (taskforce == NULL) {
    wrong(describer, MSG_SENSOR_MEANING, NULL, "begin with: (taskforce (name NAME))",
          "the description has no task force");
    return;
  }
  description->documentation = documentation_of(describer, taskforce);
  const struct sn_element *file = given(taskforce, "sdfilename");
  if (describer->direction == SN_OUTPUT && file != NULL) description->file = file->text;
  description->version = integer_of(describer, taskforce, "version", 0, INT32_MAX, 0);
  if (!check_named(describer, taskforce)) return;
  description->name = taskforce->name;
  check_identifier(describer, taskforce->place, "a task force");
}

static void add_type(struct describer *describer, struct sn_object *object, bool is_process) {
  struct sn_description *description = describer->description;
  if (!check_named(describer, object)) return;
  if (is_process)
    check_identifier(describer, object->place, "a sensor process");
  else
    check_domain_name(describer, object->place, "an object type");
  const char *other = is_process ? "objecttype" : "sensorprocess";
  if (!is_process && sn_find_object(&description->objects, other, object->name) != NULL) {
    wrong(describer, MSG_OBJECT_TWICE, object->place, NULL,
          "there are a sensorprocess and an objecttype called %s", object->name);
  }
  object->index = description->type_count;
  struct sn_type_description *type = &description->types[description->type_count++];
  *type = (struct sn_type_description){.name = object->name,
                                       .number = (uint32_t)description->type_count,
                                       .is_process = is_process,
                                       .documentation = documentation_of(describer, object),
                                       .object = object,
                                       .range = object->place->range};
}

/* Without a sensor process there is one, which has the name of the task force. */
static void read_types(struct describer *describer) {
  struct sn_description *description = describer->description;
  size_t count = 1;
  bool any_process = false;
  for (const struct sn_object *one = describer->objects; one != NULL; one = one->next) {
    any_process = any_process || is_class(one, "sensorprocess");
    count += is_class(one, "sensorprocess") || is_class(one, "objecttype");
  }
  description->types = BASE_NEW_ARRAY(describer->arena, count, struct sn_type_description);
  if (!any_process && description->name[0] != '\0') {
    description->types[description->type_count++] =
        (struct sn_type_description){.name = description->name,
                                     .number = 1,
                                     .is_process = true,
                                     .documentation = "",
                                     .range = description->taskforce->place->range};
  }
  for (struct sn_object *one = describer->objects; one != NULL; one = one->next)
    if (is_class(one, "sensorprocess")) add_type(describer, one, true);
  for (struct sn_object *one = describer->objects; one != NULL; one = one->next)
    if (is_class(one, "objecttype")) add_type(describer, one, false);
}

/* --- domains ---------------------------------------------------------------------------------- */

static const struct sn_type_description *type_named(const struct describer *describer,
                                                    const struct sn_object *object,
                                                    const char *name, bool is_process) {
  const struct sn_value *value = value_of(object, name);
  if (value == NULL || value->object == NULL || value->object->name == NULL) return NULL;
  if (!is_class(value->object, is_process ? "sensorprocess" : "objecttype")) return NULL;
  return &describer->description->types[value->object->index];
}

uint32_t sn_type_size(struct net_type type) {
  switch (type.base) {
    case NET_INTEGER:
    case NET_FLOAT:
      return type.width;
    case NET_BOOL:
      return 1;
    case NET_STRING:
    case NET_BYTES:
      return 4;
    default:
      return 8;
  }
}

static void read_type(struct describer *describer, const struct sn_object *object,
                      struct sn_domain_description *domain) {
  const struct sn_value *value = value_of(object, "type");
  domain->type = (struct net_type){NET_INTEGER, 4};
  if (value == NULL) {
    wrong(describer, MSG_ATTRIBUTE_MISSING, object->place, NULL,
          "this domain has no attribute type");
    return;
  }
  const char *name = value->element->text;
  if (strcasecmp(name, "integer") == 0) return;
  if (strcasecmp(name, "doubleinteger") == 0) name = "i8";
  if (strcasecmp(name, "string") == 0) name = "text";
  if (!net_type_parse(name, &domain->type) || domain->type.base == NET_TEMPORAL) {
    wrong(describer, MSG_ATTRIBUTE_VALUE, value->element,
          "the types are integer, doubleinteger, string, i1, i2, i4, i8, f4, f8, cN, text, "
          "bytes, bool, name",
          "no type of a domain");
  }
}

static void read_domain(struct describer *describer, const struct sn_object *object,
                        struct sn_domain_description *domain) {
  *domain = (struct sn_domain_description){.name = "", .documentation = ""};
  domain->range = object->place->range;
  read_type(describer, object, domain);
  domain->counted = boolean_of(object, "counted", false) || domain->type.base == NET_BYTES;
  if (domain->counted && domain->type.base != NET_STRING && domain->type.base != NET_BYTES) {
    wrong(describer, MSG_SENSOR_MEANING, given(object, "counted"), "leave counted out",
          "only texts and bytes are given with a length");
  }
  domain->documentation = documentation_of(describer, object);
  domain->object = type_named(describer, object, "object", false);
  if (check_named(describer, object)) {
    domain->name = object->name;
    check_domain_name(describer, object->place, "a domain");
  }
  if (domain->type.base == NET_NAME && domain->object == NULL &&
      value_of(object, "object") == NULL) {
    wrong(describer, MSG_ATTRIBUTE_MISSING, object->place,
          "name the type of the objects: (object OBJECTTYPE)",
          "a domain of type name has no attribute object");
  } else if (domain->type.base != NET_NAME && given(object, "object") != NULL) {
    wrong(describer, MSG_SENSOR_MEANING, given(object, "object"),
          "only domains of type name hold names of objects",
          "the domain %s has an object type, but no names", domain->name);
  }
}

size_t sn_event_implicit(const struct sn_event_description *event, const char *ret_names[3]) {
  size_t count = 0;
  ret_names[count++] = "Process";
  if (event->object != NULL) ret_names[count++] = event->object->name;
  if (event->initiator != NULL) ret_names[count++] = "Initiator";
  return count;
}

bool sn_event_key_has(const struct sn_event_description *event, const char *domain) {
  for (size_t i = 0; i < event->key_count; i++)
    if (strcasecmp(event->keys[i], domain) == 0) return true;
  return false;
}

static void check_domains_differ(struct describer *describer,
                                 const struct sn_event_description *event) {
  const char *implicit[3];
  size_t count = sn_event_implicit(event, implicit);
  static const char *const taken[] = {"Process", "Initiator", sn_ticket_domain};
  if (event->object != NULL && is_one_of(event->object->name, taken, 2u + event->is_period)) {
    wrong(describer, MSG_DESCRIPTION_NAME, given(event->checked, "object"),
          "relations name objects in a domain that is called like their type; give the type "
          "another name",
          "%s is the domain of the relation %s for something else", event->object->name,
          event->name);
  }
  const struct sn_attribute *attribute = sn_attribute(event->checked, "domains");
  const struct sn_value *value = attribute != NULL ? attribute->values : NULL;
  for (size_t i = event->is_period; i < event->domain_count; i++, value = value->next) {
    const char *name = event->domains[i].name;
    const struct sn_element *at =
        value->element->kind == SN_ATOM ? value->element : value->object->place;
    bool twice = is_one_of(name, implicit, count);
    if (twice && name[0] != '\0') {
      wrong(describer, MSG_DESCRIPTION_NAME, at, "the relation has this domain anyway",
            "%s cannot be the name of a domain of this event", name);
    }
    for (size_t j = 0; j < i && !twice && name[0] != '\0'; j++) {
      twice = strcasecmp(name, event->domains[j].name) == 0;
      if (twice && event->is_period && j == 0)
        wrong(describer, MSG_DESCRIPTION_NAME, at,
              "it tells the periods of the relation apart, and has it anyway",
              "%s cannot be the name of a domain of this event", name);
      else if (twice)
        wrong(describer, MSG_OBJECT_TWICE, at, NULL, "there are two domains called %s", name);
    }
  }
}

static void read_domains(struct describer *describer, struct sn_event_description *event) {
  size_t count = 0;
  for (const struct sn_value *one = value_of(event->checked, "domains"); one != NULL;
       one = one->next)
    count++;
  if (count > SN_DOMAINS_MAX) {
    wrong(describer, MSG_SENSOR_MEANING, event->checked->place, NULL,
          "an event with more than %d domains", SN_DOMAINS_MAX);
    return;
  }
  event->domains = BASE_NEW_ARRAY(describer->arena, count + 1, struct sn_domain_description);
  if (event->is_period) {
    event->domains[event->domain_count++] =
        (struct sn_domain_description){.name = sn_ticket_domain,
                                       .type = {NET_INTEGER, 8},
                                       .documentation = "Tells the periods of a process apart.",
                                       .range = event->range};
  }
  for (const struct sn_value *one = value_of(event->checked, "domains"); one != NULL;
       one = one->next) {
    /* A class that a newer remote description has is no domain for us. */
    if (one->object != NULL)
      read_domain(describer, one->object, &event->domains[event->domain_count++]);
  }
  check_domains_differ(describer, event);
}

/* --- events ----------------------------------------------------------------------------------- */

static const struct sn_type_description *only_process(const struct sn_description *description) {
  const struct sn_type_description *only = NULL;
  for (size_t i = 0; i < description->type_count; i++) {
    if (!description->types[i].is_process) continue;
    if (only != NULL) return NULL;
    only = &description->types[i];
  }
  return only;
}

static void read_location(struct describer *describer, struct sn_event_description *event) {
  const struct sn_object *object = event->checked;
  event->location = type_named(describer, object, "location", true);
  if (value_of(object, "location") != NULL) return;
  event->location = only_process(describer->description);
  if (event->location == NULL && describer->description->taskforce != NULL) {
    wrong(describer, MSG_ATTRIBUTE_MISSING, object->place,
          "say in which of the sensor processes it is: (location SENSORPROCESS)",
          "this event has no attribute location");
  }
}

static void read_holder(struct describer *describer, struct sn_event_description *event) {
  const struct sn_object *object = event->checked;
  bool object_traced = event->minor == SN_MINOR_OBJECT_TRACED;
  int otherwise = object_traced ? SN_HOLDER_OBJECT : SN_HOLDER_PERFORMER;
  event->holder = (enum sn_holder)choice_of(object, "receptacle", holder_names, 3, otherwise);
  const struct sn_element *receptacle = given(object, "receptacle");
  const struct sn_element *at = receptacle != NULL ? receptacle : given(object, "minortype");
  if (at == NULL) at = object->place;
  if (receptacle != NULL && event->minor <= SN_MINOR_SENSOR_TRACED &&
      object_traced != (event->holder == SN_HOLDER_OBJECT)) {
    wrong(describer, MSG_SENSOR_MEANING, at,
          "objecttraced asks the receptacle of the object, sensortraced that of the performer or "
          "of the initiator",
          "an event that is %s cannot ask the receptacle of the %s", sn_minor_name(event->minor),
          sn_holder_name(event->holder));
  } else if (event->holder == SN_HOLDER_OBJECT && value_of(object, "object") == NULL) {
    wrong(describer, MSG_SENSOR_MEANING, at, "name the object's type: (object OBJECTTYPE)",
          "the sensor asks the receptacle of an object, but the event has no object");
  } else if (event->holder == SN_HOLDER_INITIATOR && value_of(object, "initiator") == NULL) {
    wrong(describer, MSG_SENSOR_MEANING, at, "name the initiator's type: (initiator OBJECTTYPE)",
          "the sensor asks the receptacle of an initiator, but the event has none");
  }
}

static void read_switches(struct describer *describer, struct sn_event_description *event) {
  const struct sn_object *object = event->checked;
  event->timestamp = boolean_of(object, "timestamp", false);
  event->declare_object = boolean_of(object, "declareobject", false);
  event->assume_enabled = boolean_of(object, "assumeenabled", false);
  event->check_one_time = boolean_of(object, "checkonetime", true);
  event->assume_one_time = boolean_of(object, "assumeonetime", false);
  event->wait_ms = (int32_t)integer_of(describer, object, "waittime", -1, 3600000, 0);
  event->is_inline = integer_of(describer, object, "spacetimeratio", 0, 100, 100) < 50;
  const struct sn_element *assumed = given(object, "assumeenabled");
  if (event->assume_enabled && event->minor > SN_MINOR_SENSOR_TRACED) {
    wrong(describer, MSG_SENSOR_MEANING, assumed != NULL ? assumed : object->place,
          "leave assumeenabled out", "a sampled event is enabled when it is asked for, not always");
  } else if (event->assume_enabled && event->assume_one_time) {
    wrong(describer, MSG_SENSOR_MEANING, assumed != NULL ? assumed : object->place,
          "leave one of them out", "assumeenabled and assumeonetime contradict each other");
  }
  if (event->assume_one_time && !event->check_one_time) {
    const struct sn_element *at = given(object, "checkonetime");
    wrong(describer, MSG_SENSOR_MEANING, at != NULL ? at : object->place, "leave one of them out",
          "an event that assumes one time must check it");
  }
  if (event->declare_object && event->object == NULL && value_of(object, "object") == NULL) {
    wrong(describer, MSG_SENSOR_MEANING, given(object, "declareobject"),
          "name the object's type: (object OBJECTTYPE)", "the event has no object to declare");
  }
}

/* Of period sensors it is the rule. What others read has it as an attribute of its own: programs of before did not
 * count durations, and readers of before know nothing of them. */
static bool is_of_durations(const struct describer *describer,
                            const struct sn_event_description *event,
                            const struct sn_value *value) {
  if (!event->is_period) return false;
  if (describer->direction == SN_OUTPUT) return boolean_of(event->checked, "durations", false);
  return value != NULL ? strcasecmp(value->element->text, "duration") == 0 : !event->assume_enabled;
}

static void read_histogram(struct describer *describer, struct sn_event_description *event) {
  const struct sn_value *value = value_of(event->checked, "histogram");
  bool durations = is_of_durations(describer, event, value);
  event->histogram = durations ? SN_DURATIONS : -1;
  if (value == NULL) return;
  for (size_t i = 0; i < event->domain_count; i++)
    if (strcasecmp(event->domains[i].name, value->element->text) == 0) event->histogram = (int)i;
  if (durations && event->histogram >= 0) {
    wrong(describer, MSG_SENSOR_MEANING, value->element,
          "call the domain otherwise; without histogram it is how long the periods last",
          "duration may be the domain %s, or how long the periods last",
          event->domains[event->histogram].name);
    return;
  }
  if (durations) return;
  if (event->histogram < 0) {
    bool word = strcasecmp(value->element->text, "duration") == 0;
    wrong(describer, MSG_UNKNOWN_OBJECT, value->element,
          word ? "durations are those of period sensors: (relation period)" : NULL,
          "the event has no domain called %s", value->element->text);
    return;
  }
  enum net_base_type base = event->domains[event->histogram].type.base;
  if (base != NET_INTEGER && base != NET_FLOAT) {
    wrong(describer, MSG_SENSOR_MEANING, value->element, "histograms are made of numbers",
          "the domain %s is no number", event->domains[event->histogram].name);
  }
}

static const char *relation_domain(const struct sn_event_description *event, const char *name) {
  const char *implicit[3];
  size_t count = sn_event_implicit(event, implicit);
  for (size_t i = 0; i < count; i++)
    if (strcasecmp(implicit[i], name) == 0) return implicit[i];
  for (size_t i = 0; i < event->domain_count; i++)
    if (strcasecmp(event->domains[i].name, name) == 0) return event->domains[i].name;
  return NULL;
}

/* Of whom the tuples of the relation speak, unless the text says so: of the object where one is
 * sampled or asked, else of the process or initiator that is asked.                              */
static const char *default_key(const struct sn_event_description *event) {
  bool sampled = event->minor > SN_MINOR_SENSOR_TRACED;
  if (event->object != NULL && (sampled || event->holder == SN_HOLDER_OBJECT))
    return event->object->name;
  return event->holder == SN_HOLDER_INITIATOR && event->initiator != NULL ? "Initiator" : "Process";
}

static void set_key(struct describer *describer, struct sn_event_description *event,
                    const char *domain) {
  const char **keys = BASE_NEW_ARRAY(describer->arena, 1, const char *);
  keys[0] = domain;
  event->keys = keys;
  event->key_count = 1;
}

static bool has_key(const struct sn_event_description *event, const char *domain) {
  for (size_t i = 0; i < event->key_count; i++)
    if (strcmp(event->keys[i], domain) == 0) return true;
  return false;
}

static void read_keys(struct describer *describer, struct sn_event_description *event,
                      const struct sn_value *values) {
  size_t count = 0;
  for (const struct sn_value *value = values; value != NULL; value = value->next) count++;
  const char **keys = BASE_NEW_ARRAY(describer->arena, count, const char *);
  event->keys = keys;
  for (const struct sn_value *value = values; value != NULL; value = value->next) {
    const char *domain = relation_domain(event, value->element->text);
    if (domain == NULL) {
      wrong(describer, MSG_UNKNOWN_OBJECT, value->element, NULL,
            "the relation has no domain called %s", value->element->text);
    } else if (has_key(event, domain)) {
      wrong(describer, MSG_SENSOR_MEANING, value->element, "name each domain once",
            "the key has the domain %s twice", domain);
    } else {
      keys[event->key_count++] = domain;
    }
  }
}

static void read_key(struct describer *describer, struct sn_event_description *event) {
  const struct sn_value *value = value_of(event->checked, "key");
  if (event->is_period && value != NULL && describer->direction == SN_INPUT) {
    wrong(describer, MSG_SENSOR_MEANING, value->element, "leave key out",
          "the periods of a period sensor are told apart, and do not follow each other");
    return;
  }
  if (event->is_period) {
    set_key(describer, event, sn_ticket_domain);
    return;
  }
  if (event->relation == SN_KIND_EVENT) {
    if (value != NULL) {
      wrong(describer, MSG_SENSOR_MEANING, value->element, "leave key out",
            "an event relation has no key: its tuples do not follow each other");
    }
    return;
  }
  if (value != NULL)
    read_keys(describer, event, value);
  else
    set_key(describer, event, default_key(event));
}

/* A period sensor starts and stops: both are records at their times. */
static void read_period(struct describer *describer, struct sn_event_description *event) {
  const struct sn_element *at = given(event->checked, "relation");
  if (at == NULL) at = event->checked->place;
  event->is_period = true;
  event->relation = SN_KIND_TRACED;
  if (!event->timestamp) {
    wrong(describer, MSG_SENSOR_MEANING, at, "say (timestamp true)",
          "a period sensor takes the times of start and stop");
  } else if (event->assume_one_time) {
    const struct sn_element *once = given(event->checked, "assumeonetime");
    wrong(describer, MSG_SENSOR_MEANING, once != NULL ? once : at, "leave assumeonetime out",
          "a period is two records, its start and its stop, not one");
  }
}

static void read_relation(struct describer *describer, struct sn_event_description *event) {
  bool sampled = event->minor > SN_MINOR_SENSOR_TRACED;
  int otherwise = sampled ? SN_KIND_SAMPLED : SN_KIND_TRACED;
  int relation = choice_of(event->checked, "relation", relation_names, 4, otherwise);
  if (relation == PERIOD_SENSOR)
    read_period(describer, event);
  else
    event->relation = (enum sn_relation_type)relation;
  bool contradicts =
      event->relation != SN_KIND_EVENT && sampled != (event->relation == SN_KIND_SAMPLED);
  if (contradicts) {
    wrong(describer, MSG_SENSOR_MEANING, given(event->checked, "relation"),
          "traced events make traced relations or are period sensors, sampled ones make sampled "
          "relations; either may make an event relation",
          "an event that is %s cannot make a relation that is %s", sn_minor_name(event->minor),
          sn_event_relation(event));
  }
}

static void read_event(struct describer *describer, struct sn_object *object,
                       struct sn_event_description *event) {
  *event = (struct sn_event_description){.name = "", .checked = object, .histogram = -1};
  event->range = object->place->range;
  if (check_named(describer, object)) {
    event->name = object->name;
    check_event_name(describer, object->place);
  }
  event->minor = (enum sn_minor)(
      1 + choice_of(object, "minortype", minor_names, 5, SN_MINOR_SENSOR_TRACED - 1));
  event->documentation = documentation_of(describer, object);
  event->object = type_named(describer, object, "object", false);
  event->initiator = type_named(describer, object, "initiator", false);
  read_location(describer, event);
  read_holder(describer, event);
  read_switches(describer, event);
  read_relation(describer, event);
  read_domains(describer, event);
  read_histogram(describer, event);
  read_key(describer, event);
}

/* --- numbers ---------------------------------------------------------------------------------- */

static const char *number_attribute(const struct describer *describer) {
  return describer->direction == SN_INPUT ? "number" : "enableindex";
}

/* The numbers that the text gives. Returns the greatest. */
static uint32_t read_numbers(struct describer *describer) {
  struct sn_description *description = describer->description;
  uint32_t greatest = 0;
  for (size_t i = 0; i < description->event_count; i++) {
    struct sn_event_description *event = &description->events[i];
    event->number = (uint32_t)integer_of(describer, event->checked, number_attribute(describer), 1,
                                         SN_EVENT_NUMBER_MAX, 0);
    if (event->number > greatest) greatest = event->number;
  }
  return greatest;
}

static void check_numbers(struct describer *describer, const struct sn_event_description **taken) {
  struct sn_description *description = describer->description;
  for (size_t i = 0; i < description->event_count; i++) {
    struct sn_event_description *event = &description->events[i];
    if (event->number == 0) continue;
    if (taken[event->number] != NULL) {
      wrong(describer, MSG_EVENT_NUMBER, given(event->checked, number_attribute(describer)), NULL,
            "the event %s has the number %u, too", taken[event->number]->name, event->number);
    }
    taken[event->number] = event;
  }
}

/* Numbers that the text gives stay; the others are given out in its order, the smallest first. */
static void number_events(struct describer *describer) {
  struct sn_description *description = describer->description;
  size_t room = read_numbers(describer) + description->event_count + 2;
  const struct sn_event_description **taken =
      BASE_NEW_ARRAY(describer->arena, room, const struct sn_event_description *);
  uint32_t next = 1;
  check_numbers(describer, taken);
  for (size_t i = 0; i < description->event_count; i++) {
    struct sn_event_description *event = &description->events[i];
    if (event->number == 0) {
      while (taken[next] != NULL) next++;
      taken[next] = event;
      event->number = next;
    }
    if (event->number > description->number_max) description->number_max = event->number;
  }
  if (description->number_max <= SN_EVENT_NUMBER_MAX) return;
  wrong(describer, MSG_EVENT_NUMBER, NULL, "the numbers of events go up to 65535",
        "more events than there are numbers for");
}

const struct sn_event_description *sn_description_event(const struct sn_description *description,
                                                        const char *name) {
  const struct sn_object *object = sn_find_object(&description->objects, "event", name);
  return object != NULL ? &description->events[object->index] : NULL;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void read_events(struct describer *describer) {
  struct sn_description *description = describer->description;
  size_t count = 0;
  for (const struct sn_object *one = describer->objects; one != NULL; one = one->next)
    count += is_class(one, "event");
  description->events = BASE_NEW_ARRAY(describer->arena, count + 1, struct sn_event_description);
  for (struct sn_object *one = describer->objects; one != NULL; one = one->next) {
    if (!is_class(one, "event")) continue;
    one->index = description->event_count;
    read_event(describer, one, &description->events[description->event_count++]);
  }
  number_events(describer);
}

static struct sn_description *describe(struct base_arena *arena, const struct base_source *source,
                                       const struct sn_format *format, enum sn_direction direction,
                                       struct base_diag_sink *diags) {
  struct describer describer = {
      .arena = arena, .source = source, .diags = diags, .direction = direction, .ok = true};
  const struct sn_element *tree = sn_tree_parse(arena, source, diags);
  struct sn_objects objects;
  if (tree == NULL || !sn_check(arena, source, tree, format, direction, diags, &objects))
    return NULL;
  describer.objects = objects.first;
  describer.description = BASE_NEW(arena, struct sn_description);
  describer.description->objects = objects;
  describer.description->source = source;
  describer.description->format = format;
  read_taskforce(&describer);
  read_types(&describer);
  read_events(&describer);
  return describer.ok ? describer.description : NULL;
}

struct sn_description *sn_description_read(struct base_arena *arena,
                                           const struct base_source *source,
                                           const struct sn_format *format,
                                           struct base_diag_sink *diags) {
  return describe(arena, source, format, SN_INPUT, diags);
}

struct sn_description *sn_description_read_remote(struct base_arena *arena,
                                                  const struct base_source *source,
                                                  const struct sn_format *format,
                                                  struct base_diag_sink *diags) {
  return describe(arena, source, format, SN_OUTPUT, diags);
}
