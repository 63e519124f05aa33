/* Description files to trees: tokens from lexemes, the builders that the grammar calls, messages about
 * syntax, and trees back to text.
 *
 * A parenthesis that was forgotten shows only at the end of the text, far from where it is missing. So
 * the first "(" at the beginning of a line that stands inside others is remembered: an object begins
 * there, most likely, and the one before it was not closed.                                       */
#include "sensors/sdf/tree.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sensors/sdf/reader.h"
#include "sn_grammar.h"

/* --- messages --------------------------------------------------------------------------------- */

/* Only the first mistake is told: what follows it is not to be trusted. */
static void bad_token(struct sn_tree_reader *reader, const struct base_range *range,
                      const char *hint, const char *text) {
  if (!reader->failed) {
    struct base_diag_sink *diags = reader->diags;
    if (hint != NULL)
      base_report_hint(diags, MSG_DESCRIPTION_TOKEN, reader->source, range, hint, "%s", text);
    else
      base_report(diags, MSG_DESCRIPTION_TOKEN, reader->source, range, "%s", text);
  }
  reader->failed = true;
}

static void report_unclosed(struct sn_tree_reader *reader) {
  struct base_arena *arena = reader->arena;
  bool margin = reader->margin.first_line > 0;
  const struct base_range *open =
      &reader->open[margin ? reader->margin_depth - 1 : reader->depth - 1];
  const char *hint = "each ( needs its )";
  if (margin) {
    hint = base_arena_printf(arena,
                             "a ) is missing before line %d, where the next object seems to begin",
                             reader->margin.first_line);
  }
  base_report_hint(reader->diags, MSG_DESCRIPTION_SYNTAX, reader->source, open, hint,
                   "a ( that is never closed");
}

void sn_syntax_error(struct sn_tree_reader *reader, const struct base_range *range,
                     const char *found, const char *expected) {
  if (reader->failed) return;
  reader->failed = true;
  if (found == NULL) {
    base_report(reader->diags, MSG_DESCRIPTION_SYNTAX, reader->source, range, "%s", expected);
  } else if (strcmp(found, "the end of the text") == 0 && reader->depth > 0) {
    report_unclosed(reader);
  } else if (strcmp(found, ")") == 0 && reader->closes_nothing) {
    base_report_hint(reader->diags, MSG_DESCRIPTION_SYNTAX, reader->source, range,
                     "there is one more ) than ( before it", "a ) that closes nothing");
  } else {
    bool sign = found[0] == '(' || found[0] == ')';
    base_report(reader->diags, MSG_DESCRIPTION_SYNTAX, reader->source, range,
                sign ? "\"%s\" where %s was expected" : "%s where %s was expected", found,
                expected);
  }
}

/* --- tokens ----------------------------------------------------------------------------------- */

static void advance(struct sn_tree_reader *reader, size_t length) {
  const char *end = reader->text + length, *text = reader->text, *line_end;
  while ((line_end = memchr(text, '\n', (size_t)(end - text))) != NULL) {
    reader->line++;
    reader->column = 1;
    text = line_end + 1;
  }
  reader->column += (int)(end - text);
  reader->text = end;
}

static struct sn_element *new_element(struct sn_tree_reader *reader, enum sn_element_kind kind,
                                      const struct base_range *range, size_t length) {
  struct sn_element *element = BASE_NEW(reader->arena, struct sn_element);
  element->kind = kind;
  element->range = *range;
  element->text = base_arena_strndup(reader->arena, reader->text, length);
  return element;
}

/* The length of the UTF-8 sequence at TEXT, 0 if there is none. Overlong forms, surrogates and what
 * lies beyond the last character are none.                                                        */
static size_t utf8_length(const unsigned char *text, size_t left) {
  unsigned char first = text[0];
  size_t length = first < 0x80   ? 1
                  : first < 0xc2 ? 0
                  : first < 0xe0 ? 2
                  : first < 0xf0 ? 3
                  : first < 0xf5 ? 4
                                 : 0;
  if (length == 0 || length > left) return 0;
  for (size_t i = 1; i < length; i++)
    if ((text[i] & 0xc0) != 0x80) return 0;
  bool bad = (first == 0xe0 && text[1] < 0xa0) || (first == 0xed && text[1] > 0x9f) ||
             (first == 0xf0 && text[1] < 0x90) || (first == 0xf4 && text[1] > 0x8f);
  return bad ? 0 : length;
}

static bool is_utf8(const char *text, size_t length) {
  for (size_t i = 0; i < length;) {
    size_t sequence = utf8_length((const unsigned char *)text + i, length - i);
    if (sequence == 0) return false;
    i += sequence;
  }
  return true;
}

static int take_string(struct sn_tree_reader *reader, const struct base_range *range, size_t length,
                       struct sn_element **ret_element) {
  const char *text = reader->text + 1;
  char *value = base_arena_alloc(reader->arena, length);
  size_t out = 0;
  if (!is_utf8(text, length - 2)) {
    bad_token(reader, range, "save the text as UTF-8", "a string that is not UTF-8");
    return SN_T_BAD;
  }
  for (size_t i = 0; i < length - 2; i++) {
    if (text[i] == '\\') {
      i++;
      value[out++] = text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
      if (strchr("nt\"\\", text[i]) != NULL && text[i] != '\0') continue;
      bad_token(reader, range, "a string knows \\\" \\\\ \\n and \\t",
                "a backslash in a string before something that it cannot escape");
      return SN_T_BAD;
    }
    value[out++] = text[i];
    if (text[i] != '\0') continue;
    bad_token(reader, range, NULL, "a string with a zero byte in it");
    return SN_T_BAD;
  }
  *ret_element = BASE_NEW(reader->arena, struct sn_element);
  **ret_element = (struct sn_element){.kind = SN_STRING, .range = *range, .text = value};
  return SN_T_STRING;
}

static int take_integer(struct sn_tree_reader *reader, const struct base_range *range,
                        size_t length, struct sn_element **ret_element) {
  struct sn_element *element = new_element(reader, SN_INTEGER, range, length);
  errno = 0;
  element->integer = strtoll(element->text, NULL, 10);
  *ret_element = element;
  if (errno == 0) return SN_T_INTEGER;
  bad_token(reader, range, "integers have 64 bits", "an integer out of range");
  return SN_T_BAD;
}

static int take_stray(struct sn_tree_reader *reader, const struct base_range *range,
                      size_t length) {
  struct base_arena *arena = reader->arena;
  unsigned char byte = (unsigned char)reader->text[0];
  size_t sequence = utf8_length((const unsigned char *)reader->text, length);
  const char *text, *hint = NULL;
  if (sequence > 1) {
    text = base_arena_printf(arena, "a stray \"%.*s\"", (int)sequence, reader->text);
    hint = "names are made of letters a to z, digits and signs; other text stands in double quotes";
  } else if (sequence == 1 && byte > ' ' && byte < 0x7f) {
    text = base_arena_printf(arena, "a stray \"%c\"", byte);
  } else {
    text = base_arena_printf(arena, "a stray byte 0x%02x", byte);
    if (byte >= 0x80) hint = "save the text as UTF-8";
  }
  bad_token(reader, range, hint, text);
  return SN_T_BAD;
}

static int take_open(struct sn_tree_reader *reader, const struct base_range *range) {
  if (reader->depth >= SN_DEPTH_MAX) {
    bad_token(
        reader, range, NULL,
        base_arena_printf(reader->arena, "parentheses nested more than %d deep", SN_DEPTH_MAX));
    return SN_T_BAD;
  }
  if (range->first_column == 1 && reader->depth > 0 && reader->margin.first_line == 0) {
    reader->margin = *range;
    reader->margin_depth = reader->depth;
  }
  base_grow(&reader->open, &reader->open_capacity, reader->depth + 1, sizeof *reader->open);
  reader->open[reader->depth++] = *range;
  return SN_T_OPEN;
}

static int take(struct sn_tree_reader *reader, enum sn_shape shape, const struct base_range *range,
                size_t length, struct sn_element **ret_element) {
  switch (shape) {
    case SN_LEX_END:
    case SN_LEX_BLANK:
      return SN_T_END_OF_TEXT;
    case SN_LEX_OPEN:
      return take_open(reader, range);
    case SN_LEX_CLOSE:
      reader->closes_nothing = reader->depth == 0;
      if (reader->depth > 0) reader->depth--;
      /* What stood at the margin was inside on purpose if the list it is in gets closed again. */
      if (reader->depth < reader->margin_depth) reader->margin.first_line = 0;
      return SN_T_CLOSE;
    case SN_LEX_ATOM:
      *ret_element = new_element(reader, SN_ATOM, range, length);
      return SN_T_ATOM;
    case SN_LEX_INTEGER:
      return take_integer(reader, range, length, ret_element);
    case SN_LEX_STRING:
      return take_string(reader, range, length, ret_element);
    case SN_LEX_OPEN_STRING:
      bad_token(reader, range, "a \" in a string is written \\\"", "a string without an end");
      return SN_T_BAD;
    case SN_LEX_STRAY:
      return take_stray(reader, range, length);
  }
  return SN_T_BAD;
}

/* The shape and place of the next lexeme that is no blank. */
static enum sn_shape next_shape(struct sn_tree_reader *reader, struct base_range *ret_range,
                                size_t *ret_length) {
  enum sn_shape shape;
  while ((shape = sn_flex_next(reader->flex, ret_length)) == SN_LEX_BLANK)
    advance(reader, *ret_length);
  ret_range->first_line = reader->line;
  ret_range->first_column = reader->column;
  const char *text = reader->text;
  struct sn_tree_reader behind = *reader;
  advance(&behind, *ret_length);
  ret_range->last_line = behind.line;
  ret_range->last_column = behind.column;
  reader->text = text;
  return shape;
}

int sn_yylex(union SN_YYSTYPE *value, struct base_range *range, struct sn_tree_reader *reader) {
  size_t length = 0;
  struct sn_element *element = NULL;
  enum sn_shape shape = next_shape(reader, range, &length);
  int kind = take(reader, shape, range, length, &element);
  value->SN_T_ATOM = element;
  advance(reader, length);
  return kind;
}

/* --- builders --------------------------------------------------------------------------------- */

struct sn_list sn_list_empty(void) {
  return (struct sn_list){NULL, NULL};
}

struct sn_list sn_list_add(struct sn_list list, struct sn_element *element) {
  if (list.last != NULL)
    list.last->next = element;
  else
    list.first = element;
  list.last = element;
  return list;
}

struct sn_element *sn_list_close(struct sn_tree_reader *reader, const struct base_range *range,
                                 struct sn_element *head, struct sn_list rest) {
  struct sn_element *list = BASE_NEW(reader->arena, struct sn_element);
  *list = (struct sn_element){.kind = SN_LIST, .range = *range, .text = "", .first = rest.first};
  if (head != NULL) {
    head->next = rest.first;
    list->first = head;
  }
  return list;
}

void sn_add_object(struct sn_tree_reader *reader, struct sn_element *object) {
  reader->objects = sn_list_add(reader->objects, object);
}

struct sn_element *sn_tree_parse(struct base_arena *arena, const struct base_source *source,
                                 struct base_diag_sink *diags) {
  struct sn_tree_reader reader = {.arena = arena,
                                  .source = source,
                                  .diags = diags,
                                  .text = source->text,
                                  .line = 1,
                                  .column = 1};
  size_t length = source->length;
  if (source->first_line > 0) reader.line = source->first_line;
  /* Some editors begin a file with a byte order mark. */
  if (length >= 3 && memcmp(reader.text, "\xef\xbb\xbf", 3) == 0) {
    reader.text += 3;
    length -= 3;
  }
  if (length <= INT_MAX - 16) reader.flex = sn_flex_open(reader.text, length);
  if (reader.flex == NULL) {
    base_report(diags, MSG_DESCRIPTION_TOKEN, source, NULL,
                "a text of %zu bytes, which is too long", length);
    return NULL;
  }
  bool ok = sn_yyparse(&reader) == 0 && !reader.failed;
  sn_flex_close(reader.flex);
  free(reader.open);
  return ok ? sn_list_close(&reader, &(struct base_range){0, 0, 0, 0}, NULL, reader.objects) : NULL;
}

/* --- small questions, and back to text -------------------------------------------------------- */

bool sn_is_atom(const struct sn_element *element, const char *word) {
  return element != NULL && element->kind == SN_ATOM && strcasecmp(element->text, word) == 0;
}

size_t sn_list_length(const struct sn_element *first) {
  size_t count = 0;
  for (; first != NULL; first = first->next) count++;
  return count;
}

void sn_tree_write_string(struct base_buffer *out, const char *text) {
  base_buffer_putc(out, '"');
  for (; *text != '\0'; text++) {
    if (*text == '\n' || *text == '\t') {
      base_buffer_puts(out, *text == '\n' ? "\\n" : "\\t");
      continue;
    }
    if (*text == '"' || *text == '\\') base_buffer_putc(out, '\\');
    base_buffer_putc(out, *text);
  }
  base_buffer_putc(out, '"');
}

static bool is_plain_atom(const char *text) {
  bool digits_only = true;
  for (const char *c = text; *c != '\0'; c++) {
    if (!isalnum((unsigned char)*c) && strchr("_.:/-", *c) == NULL) return false;
    if ((unsigned char)*c >= 0x80) return false;
    if (!isdigit((unsigned char)*c) && !(c == text && *c == '-')) digits_only = false;
  }
  return text[0] != '\0' && !digits_only;
}

void sn_tree_write_text(struct base_buffer *out, const char *text) {
  if (is_plain_atom(text))
    base_buffer_puts(out, text);
  else
    sn_tree_write_string(out, text);
}

void sn_tree_write(struct base_buffer *out, const struct sn_element *element) {
  if (element->kind == SN_INTEGER || element->kind == SN_ATOM) {
    base_buffer_puts(out, element->text);
    return;
  }
  if (element->kind == SN_STRING) {
    sn_tree_write_string(out, element->text);
    return;
  }
  base_buffer_putc(out, '(');
  for (const struct sn_element *one = element->first; one != NULL; one = one->next) {
    sn_tree_write(out, one);
    if (one->next != NULL) base_buffer_putc(out, ' ');
  }
  base_buffer_putc(out, ')');
}
