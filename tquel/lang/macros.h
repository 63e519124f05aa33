/* Macros: {define; NAME $1 $2; BODY}, and NAME with two arguments to what stands in BODY (Ingres; thesis, figure E-7). */
#ifndef TQL_MACROS_H
#define TQL_MACROS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/diag.h"

struct tql_macro {
  char *name, *body;
  size_t name_length, body_length;
  unsigned parameters; /* $1 to this one */
};

struct tql_macros {
  struct tql_macro *items; /* in the order of their definitions */
  size_t count, capacity;
};

/* TEXT, called SOURCE in messages, with the macros that are used in it replaced by their bodies, also those that it
 * defines itself, which MACROS has from then on. A word is a use wherever it stands but in strings, comments,
 * backticks, its own body and behind a dot; what stands behind it on its line are its arguments, each up to a blank that is not in
 * a string or between parentheses. A definition leaves its line ends, so what is behind it stays in its line; a body
 * brings its own.
 * Returns TEXT itself if there is nothing to replace, else what SCRATCH has then, and changes *LENGTH. NULL: an error was
 * reported to DIAGS, and MACROS is as it was. */
const char *tql_macros_expand(struct tql_macros *macros, const char *source, const char *text,
                              size_t *length, struct base_diag_sink *diags,
                              struct base_buffer *scratch);
/* Does TEXT end in the midst of a definition? */
bool tql_macros_is_open(const char *text, size_t length);
/* Writes the definitions to OUT, as they can be read. */
void tql_macros_print(const struct tql_macros *macros, struct base_buffer *out);
void tql_macros_done(struct tql_macros *macros);

#endif
