/* Reads description file formats. The types of attributes are resolved in a second pass, so that a
 * class may be used before it is specified. What the format does not say, such as commandfunction
 * of figure E-4, is accepted and ignored in `general`, and nowhere else.                          */
#include "sensors/sdf/format.h"

#include <string.h>
#include <strings.h>

#include "engine/base/status.h"

struct format_reader {
  struct base_arena *arena;
  const struct base_source *source;
  struct base_diag_sink *diags;
  struct sn_format *format;
  bool ok;
};

static void wrong(struct format_reader *reader, const struct sn_element *at, const char *hint,
                  const char *text) {
  const struct base_range *range = at->range.first_line > 0 ? &at->range : NULL;
  if (hint != NULL)
    base_report_hint(reader->diags, MSG_FORMAT_DEFINITION, reader->source, range, hint, "%s", text);
  else
    base_report(reader->diags, MSG_FORMAT_DEFINITION, reader->source, range, "%s", text);
  reader->ok = false;
}

/* --- questions -------------------------------------------------------------------------------- */

struct sn_class_format *sn_format_class(const struct sn_format *format, const char *name) {
  for (struct sn_class_format *class = format->classes; class != NULL; class = class->next)
    if (strcasecmp(class->name, name) == 0) return class;
  return NULL;
}

const struct sn_attribute_format *sn_format_attribute(const struct sn_attribute_format *first,
                                                      const char *name) {
  for (; first != NULL; first = first->next)
    if (strcasecmp(first->name, name) == 0) return first;
  return NULL;
}

static struct sn_field_type *find_field(const struct sn_format *format, const char *name) {
  for (struct sn_field_type *field = format->fields; field != NULL; field = field->next)
    if (strcasecmp(field->name, name) == 0) return field;
  return NULL;
}

/* c# */
static bool matches(const char *pattern, const char *atom) {
  size_t length = strlen(pattern);
  if (length == 0 || pattern[length - 1] != '#') return strcasecmp(pattern, atom) == 0;
  if (strncasecmp(pattern, atom, length - 1) != 0) return false;
  const char *digits = atom + length - 1;
  size_t count = strspn(digits, "0123456789");
  return count > 0 && count < 10 && digits[0] != '0' && digits[count] == '\0';
}

bool sn_field_allows(const struct sn_field_type *field, const char *atom) {
  for (const struct sn_element *one = field->atoms; one != NULL; one = one->next)
    if (matches(one->text, atom)) return true;
  return false;
}

int sn_boolean(const struct sn_element *element) {
  if (sn_is_atom(element, "t") || sn_is_atom(element, "true") || sn_is_atom(element, "yes"))
    return 1;
  if (sn_is_atom(element, "nil") || sn_is_atom(element, "false") || sn_is_atom(element, "no"))
    return 0;
  return -1;
}

bool sn_is_comment(const struct sn_element *element) {
  return element->kind == SN_LIST && sn_is_atom(element->first, "comment");
}

/* --- reading ---------------------------------------------------------------------------------- */

static void read_general(struct format_reader *reader, const struct sn_element *object) {
  for (const struct sn_element *one = object->first->next; one != NULL; one = one->next) {
    if (one->kind != SN_LIST || !sn_is_atom(one->first, "filedefault")) continue;
    const struct sn_element *value = one->first->next;
    if (value != NULL && (value->kind == SN_STRING || value->kind == SN_ATOM))
      reader->format->file_default = value->text;
    else
      wrong(reader, one, NULL, "filedefault takes the ending of file names, such as \".sdf\"");
  }
}

static bool is_built_in(const char *name) {
  static const char *const names[] = {"atom",    "fixp",     "integer",      "string",
                                      "boolean", "anything", "attributename"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcasecmp(names[i], name) == 0) return true;
  return false;
}

static void read_field(struct format_reader *reader, const struct sn_element *one) {
  if (sn_is_comment(one)) return;
  if (one->kind != SN_LIST || one->first == NULL || one->first->kind != SN_ATOM) {
    wrong(reader, one, NULL, "a field type is (NAME ATOM...)");
    return;
  }
  const char *name = one->first->text;
  if (find_field(reader->format, name) != NULL || is_built_in(name)) {
    wrong(reader, one->first, NULL,
          base_arena_printf(reader->arena, "the type %s exists already", name));
    return;
  }
  for (const struct sn_element *atom = one->first->next; atom != NULL; atom = atom->next)
    if (atom->kind != SN_ATOM) wrong(reader, atom, NULL, "a field type consists of atoms");
  struct sn_field_type *field = BASE_NEW(reader->arena, struct sn_field_type);
  *field = (struct sn_field_type){one->first->text, one->first->next, reader->format->fields};
  reader->format->fields = field;
}

static void read_option(struct format_reader *reader, struct sn_attribute_format *attribute,
                        const struct sn_element *option) {
  if (sn_is_atom(option, "required"))
    attribute->required = true;
  else if (sn_is_atom(option, "one"))
    attribute->one = true;
  else if (option->kind == SN_LIST && sn_is_atom(option->first, "default") &&
           option->first->next != NULL)
    attribute->values = option->first->next;
  else
    wrong(reader, option, "the options are required, one and (default VALUE...)",
          "no option of an attribute");
}

static struct sn_attribute_format *read_attribute(struct format_reader *reader,
                                                  const struct sn_element *one) {
  const struct sn_element *name = one->kind == SN_LIST ? one->first : NULL;
  const struct sn_element *type = name != NULL ? name->next : NULL;
  if (type == NULL || name->kind != SN_ATOM || type->kind != SN_ATOM) {
    wrong(reader, one, "for instance (waittime fixp one (default 0))",
          "an attribute is (NAME TYPE OPTION...)");
    return NULL;
  }
  struct sn_attribute_format *attribute = BASE_NEW(reader->arena, struct sn_attribute_format);
  attribute->name = name->text;
  attribute->type_name = type->text;
  attribute->element = one;
  for (const struct sn_element *option = type->next; option != NULL; option = option->next)
    read_option(reader, attribute, option);
  return attribute;
}

static void add_attributes(struct format_reader *reader, struct sn_attribute_format **list,
                           const struct sn_element *object) {
  while (*list != NULL) list = &(*list)->next;
  struct sn_attribute_format **first = list;
  for (const struct sn_element *one = object->first->next; one != NULL; one = one->next) {
    if (sn_is_comment(one)) continue;
    if (one->kind == SN_LIST && sn_is_atom(one->first, "specifies")) continue;
    struct sn_attribute_format *attribute = read_attribute(reader, one);
    if (attribute == NULL) continue;
    if (sn_format_attribute(*first, attribute->name) != NULL) {
      wrong(reader, one, NULL,
            base_arena_printf(reader->arena, "the attribute %s is there already", attribute->name));
    }
    *list = attribute;
    list = &attribute->next;
  }
}

static const char *specified_class(const struct sn_element *object) {
  for (const struct sn_element *one = object->first->next; one != NULL; one = one->next) {
    if (one->kind != SN_LIST || !sn_is_atom(one->first, "specifies")) continue;
    const struct sn_element *class = one->first->next;
    if (class != NULL && class->kind == SN_ATOM && class->next == NULL) return class->text;
  }
  return NULL;
}

static void read_class(struct format_reader *reader, const struct sn_element *object, bool input) {
  const char *name = specified_class(object);
  if (name == NULL) {
    wrong(reader, object, NULL, "the class is missing: (specifies CLASS)");
    return;
  }
  struct sn_class_format *class = sn_format_class(reader->format, name);
  if (class == NULL) {
    class = BASE_NEW(reader->arena, struct sn_class_format);
    class->name = name;
    class->element = object;
    struct sn_class_format **end = &reader->format->classes;
    while (*end != NULL) end = &(*end)->next;
    *end = class;
  }
  if ((input ? class->input : class->output) != NULL) {
    wrong(reader, object, NULL,
          base_arena_printf(reader->arena, "the %s of the class %s is specified already",
                            input ? "input" : "output", name));
    return;
  }
  add_attributes(reader, input ? &class->input : &class->output, object);
}

/* --- resolving -------------------------------------------------------------------------------- */

static void resolve(struct format_reader *reader, struct sn_attribute_format *attribute) {
  static const struct {
    const char *name;
    enum sn_attribute_type type;
  } types[] = {{"atom", SN_IS_ATOM},         {"fixp", SN_IS_INTEGER},
               {"integer", SN_IS_INTEGER},   {"string", SN_IS_STRING},
               {"boolean", SN_IS_BOOLEAN},   {"anything", SN_IS_ANYTHING},
               {"attributename", SN_IS_ATOM}};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    if (strcasecmp(types[i].name, attribute->type_name) != 0) continue;
    attribute->type = types[i].type;
    return;
  }
  attribute->field = find_field(reader->format, attribute->type_name);
  attribute->class = sn_format_class(reader->format, attribute->type_name);
  attribute->type = attribute->field != NULL ? SN_IS_ONE_OF : SN_IS_OBJECT;
  if (attribute->field == NULL && attribute->class == NULL) {
    wrong(reader, attribute->element->first->next,
          "types are atom, fixp, integer, string, boolean, anything, field types and classes",
          base_arena_printf(reader->arena, "there is no type %s", attribute->type_name));
  }
}

static void check_default(struct format_reader *reader,
                          const struct sn_attribute_format *attribute) {
  for (const struct sn_element *value = attribute->values; value != NULL; value = value->next) {
    bool good = true;
    switch (attribute->type) {
      case SN_IS_ATOM:
        good = value->kind == SN_ATOM;
        break;
      case SN_IS_INTEGER:
        good = value->kind == SN_INTEGER;
        break;
      case SN_IS_STRING:
        good = value->kind == SN_STRING || value->kind == SN_ATOM;
        break;
      case SN_IS_BOOLEAN:
        good = sn_boolean(value) >= 0;
        break;
      case SN_IS_ONE_OF:
        good = value->kind == SN_ATOM && sn_field_allows(attribute->field, value->text);
        break;
      case SN_IS_OBJECT:
        good = false;
        break;
      case SN_IS_ANYTHING:
        break;
    }
    if (!good || (attribute->one && value->next != NULL)) {
      wrong(reader, value, NULL,
            base_arena_printf(reader->arena, "no default for an attribute of the type %s%s",
                              attribute->type_name, attribute->one ? " with one value" : ""));
      return;
    }
  }
}

static void read_object(struct format_reader *reader, const struct sn_element *object) {
  if (sn_is_comment(object)) return;
  if (sn_is_atom(object->first, "general")) {
    read_general(reader, object);
  } else if (sn_is_atom(object->first, "fieldtypes")) {
    for (const struct sn_element *one = object->first->next; one != NULL; one = one->next)
      read_field(reader, one);
  } else if (sn_is_atom(object->first, "input") || sn_is_atom(object->first, "output")) {
    read_class(reader, object, sn_is_atom(object->first, "input"));
  } else {
    wrong(reader, object->first, "a format consists of general, fieldtypes, input and output",
          base_arena_printf(reader->arena, "%s has no meaning in a format", object->first->text));
  }
}

struct sn_format *sn_format_read(struct base_arena *arena, const struct base_source *source,
                                 struct base_diag_sink *diags) {
  struct format_reader reader = {.arena = arena, .source = source, .diags = diags, .ok = true};
  const struct sn_element *objects = sn_tree_parse(arena, source, diags);
  if (objects == NULL) return NULL;
  reader.format = BASE_NEW(arena, struct sn_format);
  reader.format->source = source;
  reader.format->file_default = "";
  for (const struct sn_element *object = objects->first; object != NULL; object = object->next)
    read_object(&reader, object);
  for (struct sn_class_format *class = reader.format->classes; class != NULL; class = class->next) {
    for (struct sn_attribute_format *one = class->input; one != NULL; one = one->next) {
      resolve(&reader, one);
      check_default(&reader, one);
    }
    for (struct sn_attribute_format *one = class->output; one != NULL; one = one->next)
      resolve(&reader, one);
  }
  if (reader.ok && reader.format->classes == NULL)
    wrong(&reader, objects, NULL, "a format without a class");
  return reader.ok ? reader.format : NULL;
}

struct sn_format *sn_format_default(struct base_arena *arena) {
  struct base_diag_sink diags;
  static struct base_source source = {.name = "tquel.dff", .text = sn_default_dff};
  source.length = sn_default_dff_length;
  base_diag_sink_init(&diags);
  struct sn_format *format = sn_format_read(arena, &source, &diags);
  BASE_CHECK(format != NULL, "sn-default-format");
  base_diag_sink_done(&diags);
  return format;
}
