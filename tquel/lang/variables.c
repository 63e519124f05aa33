/* See variables.h. The scanner says where strings, names and comments are, so what looks like a variable in them is
 * none. */
#include "tquel/lang/variables.h"

#include <string.h>
#include <strings.h>

#include "tquel/lang/lexer.h"
#include "tquel/lang/print.h"

static bool begins_name(char byte) {
  return byte == '_' || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

bool tql_is_variable_name(const char *text, size_t length) {
  if (length == 0 || !begins_name(text[0])) return false;
  for (size_t i = 1; i < length; i++)
    if (!begins_name(text[i]) && (text[i] < '0' || text[i] > '9')) return false;
  return true;
}

/* --- values */

/* A number, perhaps with a sign or a unit, or a truth: one token of which nothing else can come. */
static bool is_constant(const char *value) {
  size_t length = strlen(value), at = 0, token;
  if (strcasecmp(value, "true") == 0 || strcasecmp(value, "false") == 0) return true;
  if (value[0] == '-') value++, length--;
  void *flex = tql_flex_open(value, length);
  if (flex == NULL) return false;
  enum tql_shape shape = tql_flex_next(flex, false, &token);
  at = token;
  tql_flex_close(flex);
  bool number = shape == TQL_LEX_INTEGER || shape == TQL_LEX_FLOAT || shape == TQL_LEX_DURATION;
  return number && at == length && strpbrk(value, "\r\n\f\v") == NULL;
}

static void put_constant(struct base_buffer *out, const char *value) {
  if (!is_constant(value)) {
    tql_print_string(out, value, strlen(value));
  } else if (value[0] == '-') { /* whatever stands before it */
    base_buffer_printf(out, "(%s)", value);
  } else {
    base_buffer_puts(out, value);
  }
}

static void put_name(struct base_buffer *out, const char *value) {
  base_buffer_putc(out, '`');
  for (; *value != '\0'; value++) {
    if (*value == '`') base_buffer_putc(out, '`');
    base_buffer_putc(out, *value == '\n' ? ' ' : *value);
  }
  base_buffer_putc(out, '`');
}

/* --- texts */

struct reader {
  const char *text;
  size_t length, at;
  int line;
  size_t line_at; /* where the line begins */
};

static void move(struct reader *reader, size_t to) {
  for (; reader->at < to; reader->at++) {
    if (reader->text[reader->at] != '\n') continue;
    reader->line++;
    reader->line_at = reader->at + 1;
  }
}

/* Bytes of the variable's name at AT, 0: there is none. */
static size_t name_at(const struct reader *reader, size_t at) {
  size_t length = 0;
  while (at + length < reader->length && tql_is_variable_name(reader->text + at, length + 1))
    length++;
  return length;
}

bool tql_put_values(const char *text, size_t length, tql_value_fn *value, void *context,
                    struct base_buffer *out, struct base_range *ret_range, const char **ret_name,
                    size_t *ret_length) {
  struct reader reader = {text, length, 0, 1, 0};
  void *flex = tql_flex_open(text, length);
  bool good = true;
  size_t token, skipped = 0; /* the rest of a variable, which the scanner sees as a word */
  while (good && flex != NULL && reader.at < length) {
    enum tql_shape shape = tql_flex_next(flex, false, &token);
    if (shape == TQL_LEX_END || token == 0) break;
    size_t at = reader.at;
    const char *here = text + at;
    bool dollar = shape == TQL_LEX_STRAY && *here == '$';
    bool quoted =
        shape == TQL_LEX_QUOTED_NAME && here[1] == '$' && tql_is_variable_name(here + 2, token - 3);
    size_t name = quoted ? token - 3 : dollar ? name_at(&reader, at + 1) : 0;
    move(&reader, at + token);
    if (name == 0) {
      size_t from = skipped < token ? skipped : token;
      base_buffer_append(out, here + from, token - from);
      skipped -= from;
      continue;
    }
    const char *called = here + (quoted ? 2 : 1), *found = value(context, called, name);
    if (found == NULL) {
      int column = (int)(at - reader.line_at) + 1;
      *ret_range = (struct base_range){reader.line, column, reader.line,
                                       column + (int)(quoted ? token : name + 1)};
      *ret_name = called;
      *ret_length = name;
      good = false;
    } else if (quoted) {
      put_name(out, found);
    } else {
      put_constant(out, found);
      skipped = name;
    }
  }
  if (flex != NULL) tql_flex_close(flex);
  return good;
}
