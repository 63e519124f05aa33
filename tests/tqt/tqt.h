/* Test files in text form: cases and their commands, as tests/tqt/README.md describes them. */
#ifndef TQT_H
#define TQT_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/arena.h"
#include "engine/base/buffer.h"

struct tqt_command {
  const char *kind;   /* "run", "expect", ... */
  const char *args;   /* the rest of the line, trimmed */
  int line;           /* in the file */
  const char *body;   /* comment lines are empty lines in it */
  const char *data;   /* without comment lines and trailing empty lines */
  size_t first, last; /* lines of the body in the file, [first, last), from 0 */
};

struct tqt_case {
  const char *name;
  int line;
  struct tqt_command *commands;
  size_t count, capacity;
};

struct tqt_file {
  struct base_arena *arena;
  const char *path;
  const char **lines; /* without line ends */
  size_t line_count, line_capacity;
  struct tqt_case *cases;
  size_t count, capacity;
  const char *error; /* NULL: read well */
};

void tqt_read(struct tqt_file *file, const char *path);
void tqt_done(struct tqt_file *file);

/* The lines of results: blocks separated by empty lines, each a header and rows. Rows in sorted order
 * unless ORDERED; the text that comparisons are made of.                                           */
void tqt_normalise(struct base_buffer *out, const char *text, bool ordered);
/* The next word of *ARGS, in ARENA, or NULL; *ARGS then stands behind it. */
const char *tqt_word(struct base_arena *arena, const char **args);

#endif
