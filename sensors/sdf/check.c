/* Checks trees against formats: see check.h.
 *
 * Two passes: the first makes the objects and reads their attributes, so that names may be used before
 * they are defined; the second resolves names of objects. All mistakes of a text are reported, except
 * those that would only follow from another.                                                      */
#include "sensors/sdf/check.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "engine/base/env.h"

struct checker {
  struct base_arena *arena;
  const struct base_source *source;
  const struct sn_format *format;
  enum sn_direction direction;
  struct base_diag_sink *diags;
  struct sn_objects objects;
  struct sn_object **end;
  bool ok;
};

/* --- messages --------------------------------------------------------------------------------- */

static struct base_diag *wrong(struct checker *checker, enum base_message number,
                               const struct sn_element *at, const char *hint, const char *text) {
  const struct base_range *range = at->range.first_line > 0 ? &at->range : NULL;
  checker->ok = false;
  if (hint != NULL)
    return base_report_hint(checker->diags, number, checker->source, range, hint, "%s", text);
  return base_report(checker->diags, number, checker->source, range, "%s", text);
}

static const char *did_you_mean(struct checker *checker, const struct base_near *near) {
  if (near->nearest == NULL) return NULL;
  return base_arena_printf(checker->arena, "did you mean %s?", near->nearest);
}

static void unknown_class(struct checker *checker, const struct sn_element *at) {
  struct base_near near = base_near_to(at->text);
  struct base_buffer list = BASE_BUFFER_EMPTY;
  base_buffer_puts(&list, "the classes are");
  for (const struct sn_class_format *one = checker->format->classes; one != NULL; one = one->next) {
    base_buffer_printf(&list, "%s %s", one != checker->format->classes ? "," : "", one->name);
    base_near_offer(&near, one->name);
  }
  const char *hint = did_you_mean(checker, &near);
  wrong(checker, MSG_UNKNOWN_CLASS, at, hint != NULL ? hint : base_buffer_text(&list),
        base_arena_printf(checker->arena, "there is no class %s", at->text));
  base_buffer_done(&list);
}

static void unknown_attribute(struct checker *checker, const struct sn_class_format *class,
                              const struct sn_element *at) {
  struct base_near near = base_near_to(at->text);
  struct base_buffer list = BASE_BUFFER_EMPTY;
  base_buffer_puts(&list, "its attributes are");
  for (const struct sn_attribute_format *one = class->input; one != NULL; one = one->next) {
    base_buffer_printf(&list, "%s %s", one != class->input ? "," : "", one->name);
    base_near_offer(&near, one->name);
  }
  const char *hint = did_you_mean(checker, &near);
  if (hint == NULL && sn_format_class(checker->format, at->text) != NULL)
    hint = base_arena_printf(
        checker->arena, "an object of the class %s cannot stand here; is a ) missing before it?",
        at->text);
  wrong(
      checker, MSG_UNKNOWN_ATTRIBUTE, at, hint != NULL ? hint : base_buffer_text(&list),
      base_arena_printf(checker->arena, "the class %s has no attribute %s", class->name, at->text));
  base_buffer_done(&list);
}

static const char *describe_type(struct checker *checker,
                                 const struct sn_attribute_format *format) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  switch (format->type) {
    case SN_IS_ATOM:
      return "a name";
    case SN_IS_INTEGER:
      return "an integer";
    case SN_IS_STRING:
      return "a string";
    case SN_IS_BOOLEAN:
      return "t or nil";
    case SN_IS_ANYTHING:
      return "anything";
    case SN_IS_OBJECT:
      return base_arena_printf(checker->arena, "the name of a %s, or a %s itself",
                               format->class->name, format->class->name);
    case SN_IS_ONE_OF:
      break;
  }
  base_buffer_puts(&text, "one of");
  for (const struct sn_element *one = format->field->atoms; one != NULL; one = one->next) {
    size_t length = strlen(one->text);
    bool pattern = length > 0 && one->text[length - 1] == '#';
    base_buffer_printf(&text, " %.*s%s", (int)(length - pattern), one->text, pattern ? "20" : "");
  }
  const char *copy = base_arena_strdup(checker->arena, base_buffer_text(&text));
  base_buffer_done(&text);
  return copy;
}

static void bad_value(struct checker *checker, const struct sn_attribute_format *format,
                      const struct sn_element *at) {
  const char *hint = NULL;
  if (format->type == SN_IS_ONE_OF && at->kind == SN_ATOM) {
    struct base_near near = base_near_to(at->text);
    for (const struct sn_element *one = format->field->atoms; one != NULL; one = one->next)
      if (strchr(one->text, '#') == NULL) base_near_offer(&near, one->text);
    hint = did_you_mean(checker, &near);
  }
  if (format->type == SN_IS_STRING && at->kind == SN_INTEGER) hint = "put it in double quotes";
  wrong(checker, MSG_ATTRIBUTE_VALUE, at, hint,
        base_arena_printf(checker->arena, "the attribute %s takes %s", format->name,
                          describe_type(checker, format)));
}

/* --- the first pass --------------------------------------------------------------------------- */

static struct sn_object *read_object(struct checker *checker, const struct sn_element *element,
                                     bool inner);

static const struct sn_attribute_format *formats_of(const struct checker *checker,
                                                    const struct sn_class_format *class) {
  return checker->direction == SN_INPUT ? class->input : class->output;
}

/* What holds of the attribute `name` everywhere: the remote description always has it. */
static const struct sn_attribute_format name_format = {
    .name = "name", .type = SN_IS_ATOM, .type_name = "atom", .required = true, .one = true};

static const struct sn_attribute_format *find_format(const struct checker *checker,
                                                     const struct sn_class_format *class,
                                                     const char *name) {
  const struct sn_attribute_format *format = sn_format_attribute(formats_of(checker, class), name);
  if (format == NULL && checker->direction == SN_OUTPUT && strcasecmp(name, "name") == 0)
    return &name_format;
  return format;
}

static bool value_fits(const struct sn_attribute_format *format, const struct sn_element *value) {
  switch (format->type) {
    case SN_IS_ATOM:
      return value->kind == SN_ATOM;
    case SN_IS_INTEGER:
      return value->kind == SN_INTEGER;
    case SN_IS_STRING:
      return value->kind == SN_STRING || value->kind == SN_ATOM;
    case SN_IS_BOOLEAN:
      return sn_boolean(value) >= 0;
    case SN_IS_ONE_OF:
      return value->kind == SN_ATOM && sn_field_allows(format->field, value->text);
    case SN_IS_OBJECT:
      return value->kind == SN_ATOM ||
             (value->kind == SN_LIST && sn_is_atom(value->first, format->class->name));
    case SN_IS_ANYTHING:
      return true;
  }
  return false;
}

static struct sn_value *read_values(struct checker *checker,
                                    const struct sn_attribute_format *format,
                                    const struct sn_element *first) {
  struct sn_value *values = NULL, **end = &values;
  for (const struct sn_element *one = first; one != NULL; one = one->next) {
    if (format->type == SN_IS_OBJECT && sn_is_comment(one)) continue;
    if (!value_fits(format, one)) {
      bad_value(checker, format, one);
      continue;
    }
    struct sn_value *value = BASE_NEW(checker->arena, struct sn_value);
    value->element = one;
    if (format->type == SN_IS_OBJECT && one->kind == SN_LIST)
      value->object = read_object(checker, one, true);
    *end = value;
    end = &value->next;
  }
  return values;
}

static void add_attribute(struct sn_object *object, struct sn_attribute *attribute) {
  struct sn_attribute **end = &object->attributes;
  while (*end != NULL) end = &(*end)->next;
  *end = attribute;
}

static void read_attribute(struct checker *checker, struct sn_object *object,
                           const struct sn_element *element) {
  const struct sn_element *name = element->kind == SN_LIST ? element->first : NULL;
  if (name == NULL || name->kind != SN_ATOM) {
    wrong(checker, MSG_DESCRIPTION_SYNTAX, element, "an attribute is (NAME VALUE...)",
          base_arena_printf(checker->arena, "an attribute of the class %s was expected here",
                            object->class->name));
    return;
  }
  const struct sn_attribute_format *format = find_format(checker, object->class, name->text);
  if (format == NULL) {
    if (checker->direction == SN_INPUT) unknown_attribute(checker, object->class, name);
    return;
  }
  if (sn_attribute(object, format->name) != NULL) {
    wrong(checker, MSG_ATTRIBUTE_TWICE, name, NULL,
          base_arena_printf(checker->arena, "the attribute %s is given twice", format->name));
    return;
  }
  if (format->one && sn_list_length(name->next) > 1) {
    wrong(checker, MSG_ATTRIBUTE_VALUE, name->next->next, NULL,
          base_arena_printf(checker->arena, "the attribute %s takes one value", format->name));
    return;
  }
  struct sn_attribute *attribute = BASE_NEW(checker->arena, struct sn_attribute);
  attribute->format = format;
  attribute->element = name;
  add_attribute(object, attribute);
  if (name->next == NULL && format->type != SN_IS_ANYTHING) {
    wrong(checker, MSG_ATTRIBUTE_VALUE, name, NULL,
          base_arena_printf(checker->arena, "the attribute %s takes %s", format->name,
                            describe_type(checker, format)));
  }
  attribute->values = read_values(checker, format, name->next);
}

static void add_missing(struct checker *checker, struct sn_object *object) {
  for (const struct sn_attribute_format *format = formats_of(checker, object->class);
       format != NULL; format = format->next) {
    if (sn_attribute(object, format->name) != NULL) continue;
    if (format->required) {
      wrong(checker, MSG_ATTRIBUTE_MISSING, object->place, NULL,
            base_arena_printf(checker->arena, "this %s has no attribute %s", object->class->name,
                              format->name));
    }
    if (format->values == NULL) continue;
    struct sn_attribute *attribute = BASE_NEW(checker->arena, struct sn_attribute);
    attribute->format = format;
    attribute->values = read_values(checker, format, format->values);
    add_attribute(object, attribute);
  }
}

static struct sn_object *read_object(struct checker *checker, const struct sn_element *element,
                                     bool inner) {
  const struct sn_class_format *class = sn_format_class(checker->format, element->first->text);
  if (class == NULL) {
    if (checker->direction == SN_INPUT) unknown_class(checker, element->first);
    return NULL;
  }
  struct sn_object *object = BASE_NEW(checker->arena, struct sn_object);
  object->class = class;
  object->element = object->place = element->first;
  object->inner = inner;
  *checker->end = object;
  checker->end = &object->next;
  checker->objects.count++;
  for (const struct sn_element *one = element->first->next; one != NULL; one = one->next)
    if (!sn_is_comment(one)) read_attribute(checker, object, one);
  const struct sn_attribute *name = sn_attribute(object, "name");
  if (name != NULL && name->values != NULL) {
    object->place = name->values->element;
    object->name = object->place->text;
  }
  add_missing(checker, object);
  return object;
}

/* --- the second pass -------------------------------------------------------------------------- */

/* A domain that stands inside an event belongs to that event. */
static bool can_be_named(const struct sn_object *object) {
  return object->name != NULL && !(object->inner && strcasecmp(object->class->name, "domain") == 0);
}

/* Upper and lower case alike. */
static uint64_t hash_name(const char *class_name, const char *name) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (const char *c = class_name; *c != '\0'; c++)
    hash = (hash ^ (uint64_t)tolower((unsigned char)*c)) * UINT64_C(0x100000001b3);
  for (const char *c = name; *c != '\0'; c++)
    hash = (hash ^ (uint64_t)tolower((unsigned char)*c)) * UINT64_C(0x100000001b3);
  return base_hash_u64(hash, 0);
}

struct sn_object *sn_find_object(const struct sn_objects *objects, const char *class_name,
                                 const char *name) {
  if (objects->bucket_count == 0) return NULL;
  size_t bucket = (size_t)(hash_name(class_name, name) & (objects->bucket_count - 1));
  for (struct sn_object *one = objects->buckets[bucket]; one != NULL; one = one->collision)
    if (strcasecmp(one->name, name) == 0 && strcasecmp(one->class->name, class_name) == 0)
      return one;
  return NULL;
}

/* The first of each name. The others are told of when names are checked. */
static void fill_table(struct checker *checker) {
  struct sn_objects *objects = &checker->objects;
  objects->bucket_count = 16;
  while (objects->bucket_count < objects->count) objects->bucket_count *= 2;
  objects->buckets = BASE_NEW_ARRAY(checker->arena, objects->bucket_count, struct sn_object *);
  for (struct sn_object *one = objects->first; one != NULL; one = one->next) {
    if (!can_be_named(one) || sn_find_object(objects, one->class->name, one->name) != NULL)
      continue;
    size_t bucket = (size_t)(hash_name(one->class->name, one->name) & (objects->bucket_count - 1));
    one->collision = objects->buckets[bucket];
    objects->buckets[bucket] = one;
  }
}

static void unknown_object(struct checker *checker, const struct sn_class_format *class,
                           const struct sn_element *at) {
  struct base_near near = base_near_to(at->text);
  for (const struct sn_object *one = checker->objects.first; one != NULL; one = one->next)
    if (one->class == class && can_be_named(one)) base_near_offer(&near, one->name);
  const char *hint = did_you_mean(checker, &near);
  wrong(checker, MSG_UNKNOWN_OBJECT, at, hint,
        base_arena_printf(checker->arena, "there is no %s called %s", class->name, at->text));
}

static void resolve(struct checker *checker, const struct sn_attribute *attribute) {
  if (attribute->format->type != SN_IS_OBJECT) return;
  for (struct sn_value *value = attribute->values; value != NULL; value = value->next) {
    if (value->object != NULL || value->element->kind != SN_ATOM) continue;
    value->object =
        sn_find_object(&checker->objects, attribute->format->class->name, value->element->text);
    if (value->object == NULL) unknown_object(checker, attribute->format->class, value->element);
  }
}

static void check_unique(struct checker *checker, const struct sn_object *object) {
  if (!can_be_named(object)) return;
  const struct sn_object *first =
      sn_find_object(&checker->objects, object->class->name, object->name);
  if (first == object) return;
  const char *hint = NULL;
  if (first->place->range.first_line > 0)
    hint = base_arena_printf(checker->arena, "the first is in line %d",
                             first->place->range.first_line);
  wrong(checker, MSG_OBJECT_TWICE, object->place, hint,
        base_arena_printf(checker->arena, "there are two objects of the class %s called %s",
                          object->class->name, object->name));
}

bool sn_check(struct base_arena *arena, const struct base_source *source,
              const struct sn_element *tree, const struct sn_format *format,
              enum sn_direction direction, struct base_diag_sink *diags,
              struct sn_objects *ret_objects) {
  struct checker checker = {.arena = arena,
                            .source = source,
                            .format = format,
                            .direction = direction,
                            .diags = diags,
                            .ok = true};
  checker.end = &checker.objects.first;
  for (const struct sn_element *one = tree->first; one != NULL; one = one->next)
    if (!sn_is_comment(one)) read_object(&checker, one, false);
  fill_table(&checker);
  for (const struct sn_object *object = checker.objects.first; object != NULL;
       object = object->next) {
    check_unique(&checker, object);
    for (const struct sn_attribute *one = object->attributes; one != NULL; one = one->next)
      resolve(&checker, one);
  }
  *ret_objects = checker.objects;
  return checker.ok;
}

const struct sn_attribute *sn_attribute(const struct sn_object *object, const char *name) {
  for (const struct sn_attribute *one = object->attributes; one != NULL; one = one->next)
    if (strcasecmp(one->format->name, name) == 0) return one;
  return NULL;
}
