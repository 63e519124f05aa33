/* Trees checked against a format: objects of classes, with attributes whose values have the types that
 * the format asks for, and names resolved to the objects they name, wherever those stand.
 *
 * What the classes mean is not known here; see description.h.                                      */
#ifndef SN_SDF_CHECK_H
#define SN_SDF_CHECK_H

#include "sensors/sdf/format.h"

struct sn_value {
  const struct sn_element *element;
  const struct sn_object *object; /* of an attribute whose type is a class */
  struct sn_value *next;
};

struct sn_attribute {
  const struct sn_attribute_format *format;
  const struct sn_element *element; /* its name; NULL: the default */
  struct sn_value *values;
  struct sn_attribute *next;
};

struct sn_object {
  const struct sn_class_format *class;
  const char *name;                 /* NULL: none */
  const struct sn_element *element; /* its class, which stands for the object in messages */
  const struct sn_element *place;   /* of the name, else of the class */
  struct sn_attribute *attributes;  /* those given, and the defaults */
  bool inner;                       /* stands inside another object */
  size_t index;                     /* for the reader: of what the object became */
  struct sn_object *next;           /* in the order of the text */
  struct sn_object *collision;      /* of the table */
};

/* All objects of a text, also those that stand inside others, and a table of those with names. */
struct sn_objects {
  struct sn_object *first;
  struct sn_object **buckets;
  size_t bucket_count, count;
};

/* Descriptions, or remote descriptions. Of the latter, classes and attributes that the format does not
 * know are passed over: a newer program wrote them.                                                */
enum sn_direction { SN_INPUT, SN_OUTPUT };

/* Returns false when something was reported. */
bool sn_check(struct base_arena *arena, const struct base_source *source,
              const struct sn_element *tree, const struct sn_format *format,
              enum sn_direction direction, struct base_diag_sink *diags,
              struct sn_objects *ret_objects);

/* The object of CLASS (a name) called NAME, or NULL. A domain that stands inside an event belongs to that
 * event and cannot be found.                                                                      */
struct sn_object *sn_find_object(const struct sn_objects *objects, const char *class_name,
                                 const char *name);

/* The attribute NAME of OBJECT, or NULL. */
const struct sn_attribute *sn_attribute(const struct sn_object *object, const char *name);

#endif
