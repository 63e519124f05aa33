/* Description file formats: which classes, attributes, values and defaults a description may have.
 *
 * A format file (.dff) has the syntax of all description files (figure E-4 of the thesis):
 *
 *   (general (filedefault ".sdf"))
 *   (fieldtypes (mtype objecttraced sensortraced ...))
 *   (input (specifies event) (name atom required one) (minortype mtype one (default sensortraced)))
 *   (output (specifies event) (enableindex integer))
 *
 * `input` lists what a description may say of a class, `output` what its remote description says.
 * README.md has the types and options of attributes.                                              */
#ifndef SN_SDF_FORMAT_H
#define SN_SDF_FORMAT_H

#include "sensors/sdf/tree.h"

enum sn_attribute_type {
  SN_IS_ATOM,
  SN_IS_INTEGER, /* fixp, integer */
  SN_IS_STRING,  /* a string or an atom */
  SN_IS_BOOLEAN, /* t true yes, nil false no */
  SN_IS_ANYTHING,
  SN_IS_OBJECT, /* an object of a class, or its name */
  SN_IS_ONE_OF, /* of a field type */
};

/* A set of atoms. `c#` stands for c and a positive number, such as c20. */
struct sn_field_type {
  const char *name;
  const struct sn_element *atoms;
  struct sn_field_type *next;
};

struct sn_attribute_format {
  const char *name;
  enum sn_attribute_type type;
  const char *type_name;           /* as written, for messages */
  struct sn_class_format *class;   /* of SN_IS_OBJECT */
  struct sn_field_type *field;     /* of SN_IS_ONE_OF */
  bool required, one;              /* one: at most one value */
  const struct sn_element *values; /* what holds without the attribute; NULL: nothing */
  const struct sn_element *element;
  struct sn_attribute_format *next;
};

struct sn_class_format {
  const char *name;
  struct sn_attribute_format *input, *output;
  const struct sn_element *element;
  struct sn_class_format *next;
};

struct sn_format {
  const struct base_source *source;
  const char *file_default; /* such as ".sdf" */
  struct sn_class_format *classes;
  struct sn_field_type *fields;
};

/* Reads a format; NULL when something was reported. SOURCE must live as long as it and its messages. */
struct sn_format *sn_format_read(struct base_arena *arena, const struct base_source *source,
                                 struct base_diag_sink *diags);
/* The format that the program brings along: tquel.dff. */
struct sn_format *sn_format_default(struct base_arena *arena);
/* Its text. */
extern const char sn_default_dff[];
extern const size_t sn_default_dff_length;

struct sn_class_format *sn_format_class(const struct sn_format *format, const char *name);
const struct sn_attribute_format *sn_format_attribute(const struct sn_attribute_format *first,
                                                      const char *name);
bool sn_field_allows(const struct sn_field_type *field, const char *atom);
/* Whether ELEMENT is t, true or yes (1), nil, false or no (0); -1 neither. */
int sn_boolean(const struct sn_element *element);
/* Whether ELEMENT is `(comment ...)`, which may stand where an object or attribute may. */
bool sn_is_comment(const struct sn_element *element);

#endif
