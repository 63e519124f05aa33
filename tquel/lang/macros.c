/* See macros.h. Macros are of texts, before anything is parsed: the scanner says where words, strings, names and comments
 * are, and that is all that is known of a text here. */
#include "tquel/lang/macros.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/heap.h"
#include "tquel/lang/lexer.h"

/* Bytes that the uses in a text may make of it: macros that use each other twice make much of little. */
static const size_t EXPANDED_MAX = (size_t)16 << 20;
/* Uses in the bodies of uses. */
static const unsigned NESTED_MAX = 200;

/* --- what is defined */

/* The latest definition counts. */
static const struct tql_macro *find(const struct tql_macros *macros, const char *name,
                                    size_t length) {
  for (size_t i = macros->count; i-- > 0;) {
    const struct tql_macro *macro = &macros->items[i];
    if (macro->name_length == length && strncasecmp(macro->name, name, length) == 0) return macro;
  }
  return NULL;
}

static void macro_free(struct tql_macro *macro) {
  free(macro->name);
  free(macro->body);
}

static void forget(struct tql_macros *macros, size_t count) {
  while (macros->count > count) macro_free(&macros->items[--macros->count]);
}

/* Of several definitions of a name the last stays. */
static void settle(struct tql_macros *macros) {
  size_t kept = 0;
  for (size_t i = 0; i < macros->count; i++) {
    struct tql_macro *macro = &macros->items[i];
    if (find(macros, macro->name, macro->name_length) == macro)
      macros->items[kept++] = *macro;
    else
      macro_free(macro);
  }
  macros->count = kept;
}

static char *copy(const char *text, size_t length) {
  char *own = base_xmalloc(length + 1);
  memcpy(own, text, length);
  own[length] = '\0';
  return own;
}

/* --- reading */

struct reader {
  const char *text;
  size_t length;
  void *flex;
  size_t at, token; /* where the token is, and its bytes */
  enum tql_shape shape;
};

/* Goes on to the next token; false: there is none. */
static bool next(struct reader *reader) {
  reader->at += reader->token;
  reader->token = 0;
  if (reader->flex == NULL || reader->at >= reader->length) return false;
  reader->shape = tql_flex_next(reader->flex, false, &reader->token);
  if (reader->shape == TQL_LEX_END) reader->token = 0;
  return reader->token > 0;
}

static bool begin(struct reader *reader, const char *text, size_t length) {
  *reader = (struct reader){.text = text, .length = length, .flex = tql_flex_open(text, length)};
  return next(reader);
}

static void end(struct reader *reader) {
  if (reader->flex != NULL) tql_flex_close(reader->flex);
}

static bool is(const struct reader *reader, char sign) {
  return reader->token == 1 && reader->text[reader->at] == sign;
}

static bool is_blank(const struct reader *reader) {
  return reader->token > 0 && reader->shape == TQL_LEX_BLANK;
}

static bool has_line_end(const struct reader *reader) {
  return memchr(reader->text + reader->at, '\n', reader->token) != NULL;
}

static void pass_blanks(struct reader *reader) {
  while (is_blank(reader) && next(reader)) continue;
}

/* --- expanding */

/* A use in the midst of another one's body. */
struct use {
  const struct tql_macro *macro;
  const struct use *outer;
  unsigned depth;
};

struct expansion {
  struct tql_macros *macros;
  struct base_source source;
  struct base_diag_sink *diags;
  struct base_buffer *out;
  size_t place, place_length; /* in the source: of what is being replaced */
  bool any;                   /* something was */
};

static struct base_range range_of(const struct expansion *expansion) {
  struct base_range range = {1, 1, 1, 1};
  const char *text = expansion->source.text;
  for (size_t i = 0; i < expansion->place; i++) {
    range.first_column = text[i] == '\n' ? 1 : range.first_column + 1;
    range.first_line += text[i] == '\n';
  }
  range.last_line = range.first_line;
  range.last_column = range.first_column + (int)expansion->place_length;
  return range;
}

static bool report(struct expansion *expansion, const char *hint, const char *what,
                   const char *name) {
  struct base_range range = range_of(expansion);
  base_report_hint(expansion->diags, MSG_MACRO, &expansion->source, &range, hint, "%s%s", what,
                   name);
  return false;
}

static bool report_much(struct expansion *expansion) {
  return report(expansion, NULL, "macros would make more than 16 MiB of it", "");
}

static const char *const DEFINITION =
    "{define; NAME $1 $2; what NAME with two arguments stands for}";

/* From behind the brace to the closing one, which is the token then. */
static bool read_body(struct expansion *expansion, struct reader *reader,
                      struct base_buffer *body) {
  unsigned depth = 1;
  for (; reader->token > 0; next(reader)) {
    depth += is(reader, '{');
    depth -= is(reader, '}');
    if (depth == 0) return true;
    const char *here = reader->text + reader->at;
    if (is(reader, '\\')) { /* the line goes on, as in Ingres, where a definition was a line */
      const char *line = memchr(here, '\n', reader->length - reader->at);
      bool last = line != NULL;
      for (const char *byte = here + 1; last && byte < line; byte++) last = strchr(" \t\r", *byte);
      if (last) continue;
    }
    base_buffer_append(body, here, reader->token);
  }
  return report(expansion, DEFINITION, "the definition of a macro has no end", "");
}

/* $1 and so on, in their order. */
static bool read_parameters(struct expansion *expansion, struct reader *reader, unsigned *ret) {
  for (pass_blanks(reader); !is(reader, ';'); pass_blanks(reader)) {
    char number[24];
    int bytes = snprintf(number, sizeof number, "%u", *ret + 1);
    bool good = is(reader, '$') && next(reader) && reader->token == (size_t)bytes &&
                strncmp(reader->text + reader->at, number, reader->token) == 0;
    if (!good)
      return report(expansion, DEFINITION, "the parameters of a macro are $1, $2 and so on", "");
    ++*ret;
    next(reader);
  }
  next(reader);
  return true;
}

static bool read_name(struct expansion *expansion, struct reader *reader, char **ret) {
  pass_blanks(reader);
  const char *here = reader->text + reader->at;
  if (reader->token == 0 || reader->shape != TQL_LEX_WORD)
    return report(expansion, DEFINITION, "the definition of a macro has no name", "");
  *ret = copy(here, reader->token);
  if (tql_word_find(here, reader->token) != NULL)
    return report(expansion, "a word of the language would mean something else from then on",
                  "a macro cannot be called ", *ret);
  next(reader);
  return true;
}

/* The token is an opening brace; it is the one behind the definition then. */
static bool define(struct expansion *expansion, struct reader *reader) {
  struct tql_macro macro = {0};
  struct base_buffer body = BASE_BUFFER_EMPTY;
  size_t first = reader->at;
  next(reader);
  pass_blanks(reader);
  bool good = reader->token == strlen("define") &&
              strncasecmp(reader->text + reader->at, "define", reader->token) == 0 && next(reader);
  if (good) pass_blanks(reader);
  if (!good || !is(reader, ';'))
    good = report(expansion, DEFINITION, "a brace begins the definition of a macro", "");
  next(reader);
  good = good && read_name(expansion, reader, &macro.name) &&
         read_parameters(expansion, reader, &macro.parameters) &&
         read_body(expansion, reader, &body);
  if (good) {
    macro.body = copy(base_buffer_text(&body), body.length);
    macro.body_length = body.length;
    macro.name_length = strlen(macro.name);
    struct tql_macros *macros = expansion->macros;
    base_grow(&macros->items, &macros->capacity, macros->count + 1, sizeof *macros->items);
    macros->items[macros->count++] = macro;
    base_buffer_putc(expansion->out, ' ');
    for (size_t i = first; i < reader->at; i++)
      if (reader->text[i] == '\n') base_buffer_putc(expansion->out, '\n');
    next(reader);
  } else {
    free(macro.name);
  }
  base_buffer_done(&body);
  return good;
}

struct argument {
  const char *text;
  size_t length;
};

/* The token is a blank, or what else follows a use; it is the first behind the argument then. */
static bool read_argument(struct reader *reader, struct argument *ret) {
  if (is_blank(reader) && (has_line_end(reader) || !next(reader))) return false;
  unsigned depth = 0;
  size_t first = reader->at;
  for (; reader->token > 0 && (depth > 0 || !is_blank(reader)); next(reader)) {
    if (depth == 0 && is(reader, ')')) break; /* of what is around the use */
    depth += is(reader, '(');
    depth -= is(reader, ')');
  }
  *ret = (struct argument){reader->text + first, reader->at - first};
  return ret->length > 0;
}

/* MACRO's body with ARGUMENTS; false: it is longer than may be. */
static bool put_arguments(const struct tql_macro *macro, const struct argument *arguments,
                          struct base_buffer *out) {
  struct reader reader;
  size_t skipped = 0; /* the rest of a parameter, which the scanner sees as a number */
  bool any = begin(&reader, macro->body, macro->body_length);
  for (; any && out->length <= EXPANDED_MAX; any = next(&reader)) {
    const char *here = macro->body + reader.at;
    unsigned long number = 0;
    size_t digits = 0;
    while (is(&reader, '$') && here[1 + digits] >= '0' && here[1 + digits] <= '9' &&
           number <= macro->parameters)
      number = number * 10 + (unsigned long)(here[1 + digits++] - '0');
    if (number > 0 && number <= macro->parameters) {
      base_buffer_append(out, arguments[number - 1].text, arguments[number - 1].length);
      skipped = digits;
    } else {
      size_t from = skipped < reader.token ? skipped : reader.token;
      base_buffer_append(out, here + from, reader.token - from);
      skipped -= from;
    }
  }
  end(&reader);
  return out->length <= EXPANDED_MAX;
}

/* The macro that the token names. In its own body its name is one as others are. */
static const struct tql_macro *used(const struct expansion *expansion, const struct reader *reader,
                                    const struct use *outer) {
  if (reader->shape != TQL_LEX_WORD) return NULL;
  const struct tql_macro *macro = find(expansion->macros, reader->text + reader->at, reader->token);
  for (; outer != NULL; outer = outer->outer)
    if (outer->macro == macro) return NULL;
  return macro;
}

static bool expand(struct expansion *expansion, const char *text, size_t length,
                   const struct use *outer);

/* The token is the word of MACRO; it is the first behind the use then. */
static bool put_use(struct expansion *expansion, struct reader *reader,
                    const struct tql_macro *macro, const struct use *outer) {
  struct use use = {macro, outer, outer != NULL ? outer->depth + 1 : 1};
  struct argument *arguments = base_xcalloc(macro->parameters + 1u, sizeof *arguments);
  struct base_buffer body = BASE_BUFFER_EMPTY;
  bool good = use.depth <= NESTED_MAX;
  if (!good) report(expansion, NULL, "macros are used in each other's bodies 200 deep", "");
  next(reader);
  for (unsigned i = 0; i < macro->parameters && good; i++) {
    if (read_argument(reader, &arguments[i])) continue;
    struct base_buffer hint = BASE_BUFFER_EMPTY;
    base_buffer_printf(&hint, "its arguments (%u) stand behind it on its line, with blanks between",
                       macro->parameters);
    good = report(expansion, base_buffer_text(&hint), "arguments are missing of the macro ",
                  macro->name);
    base_buffer_done(&hint);
  }
  if (good && !put_arguments(macro, arguments, &body)) good = report_much(expansion);
  if (good) {
    base_buffer_putc(expansion->out, ' ');
    good = expand(expansion, base_buffer_text(&body), body.length, &use);
    base_buffer_putc(expansion->out, ' ');
  }
  base_buffer_done(&body);
  free(arguments);
  return good;
}

/* OUTER: NULL, the text is the source itself. */
static bool expand(struct expansion *expansion, const char *text, size_t length,
                   const struct use *outer) {
  struct reader reader;
  bool good = true, dot = false;
  bool any = begin(&reader, text, length);
  while (any && good) {
    const struct tql_macro *macro = dot ? NULL : used(expansion, &reader, outer);
    if (outer == NULL) {
      expansion->place = reader.at;
      expansion->place_length = reader.token;
    }
    if (!is_blank(&reader)) dot = is(&reader, '.');
    if (macro != NULL) {
      good = put_use(expansion, &reader, macro, outer);
      any = reader.token > 0;
    } else if (is(&reader, '{') && outer == NULL) {
      good = define(expansion, &reader);
      any = reader.token > 0;
    } else {
      base_buffer_append(expansion->out, text + reader.at, reader.token);
      any = next(&reader);
      if (expansion->out->length > EXPANDED_MAX && outer != NULL) good = report_much(expansion);
      continue;
    }
    expansion->any = true;
  }
  end(&reader);
  return good;
}

/* Is there a brace, or a word that is a macro's name? */
static bool may_have_any(const struct tql_macros *macros, const char *text, size_t length) {
  return macros->count > 0 || memchr(text, '{', length) != NULL;
}

const char *tql_macros_expand(struct tql_macros *macros, const char *source, const char *text,
                              size_t *length, struct base_diag_sink *diags,
                              struct base_buffer *scratch) {
  size_t before = macros->count;
  struct expansion expansion = {.macros = macros,
                                .source = {.name = source, .text = text, .length = *length},
                                .diags = diags,
                                .out = scratch};
  if (!may_have_any(macros, text, *length)) return text;
  if (!expand(&expansion, text, *length, NULL)) {
    forget(macros, before);
    return NULL;
  }
  settle(macros);
  if (!expansion.any) return text;
  *length = scratch->length;
  return base_buffer_text(scratch);
}

bool tql_macros_is_open(const char *text, size_t length) {
  struct reader reader;
  unsigned depth = 0;
  for (bool any = begin(&reader, text, length); any; any = next(&reader)) {
    depth += is(&reader, '{');
    depth -= depth > 0 && is(&reader, '}');
  }
  end(&reader);
  return depth > 0;
}

void tql_macros_print(const struct tql_macros *macros, struct base_buffer *out) {
  for (size_t i = 0; i < macros->count; i++) {
    const struct tql_macro *macro = &macros->items[i];
    base_buffer_printf(out, "{define; %s", macro->name);
    for (unsigned k = 1; k <= macro->parameters; k++) base_buffer_printf(out, " $%u", k);
    base_buffer_puts(out, ";");
    base_buffer_append(out, macro->body, macro->body_length);
    base_buffer_puts(out, "}\n");
  }
}

void tql_macros_done(struct tql_macros *macros) {
  forget(macros, 0);
  free(macros->items);
  *macros = (struct tql_macros){0};
}
