/* copy, and what else reads files: builders of the grammar's actions. */
#include <string.h>
#include <strings.h>

#include "engine/base/status.h"
#include "tquel/lang/ast_build.h"

void tql_option_once(struct tql_parser *parser, const struct tql_span *at, bool given,
                     const char *option) {
  if (!given) return;
  tql_fail(parser, MSG_SYNTAX, &at->range, "each option stands at most once in a statement",
           "a second \"%s\" where another option or the end of the statement was expected", option);
}

struct tql_copy_options *tql_copy_options_new(struct tql_parser *parser) {
  return BASE_NEW(parser->arena, struct tql_copy_options);
}

struct tql_copy_options *tql_copy_following(struct tql_parser *parser,
                                            struct tql_copy_options *options,
                                            const struct tql_span *at) {
  tql_option_once(parser, at, options->following, "following");
  options->following = true;
  return options;
}

struct tql_copy_options *tql_copy_within(struct tql_parser *parser,
                                         struct tql_copy_options *options,
                                         const struct tql_span *at, struct tql_expr *within) {
  tql_option_once(parser, at, options->within != NULL, "within");
  options->within = within;
  return options;
}

struct tql_copy_options *tql_copy_ordered(struct tql_parser *parser,
                                          struct tql_copy_options *options,
                                          const struct tql_span *at) {
  tql_option_once(parser, at, options->ordered, "ordered by stop");
  options->ordered = true;
  return options;
}

struct tql_copy_options *tql_copy_skipping(struct tql_parser *parser,
                                           struct tql_copy_options *options,
                                           const struct tql_span *at) {
  tql_option_once(parser, at, options->skipping, "skipping errors");
  options->skipping = true;
  return options;
}

struct tql_copy_options *tql_copy_skipping_lines(struct tql_parser *parser,
                                                 struct tql_copy_options *options,
                                                 const struct tql_span *at,
                                                 const struct tql_span *number_at,
                                                 const struct tql_lexeme *number,
                                                 const struct tql_name *lines) {
  tql_option_once(parser, at, options->form.skipped > 0, "skipping ... lines");
  if (strcasecmp(lines->text, "lines") != 0 && strcasecmp(lines->text, "line") != 0)
    tql_fail(parser, MSG_SYNTAX, &lines->range, NULL, "\"%s\" where lines was expected",
             lines->text);
  options->form.skipped = tql_build_literal(parser, TQL_E_INTEGER, number_at, number)->integer;
  if (options->form.skipped == 0)
    tql_fail(parser, MSG_SYNTAX, &number_at->range, NULL, "no lines are skipped");
  return options;
}

struct tql_copy_options *tql_copy_as(struct tql_parser *parser, struct tql_copy_options *options,
                                     const struct tql_span *at, const struct tql_name *format,
                                     const struct tql_lexeme *how) {
  tql_option_once(parser, at, options->form.format.text != NULL, "as");
  options->form.format = *format;
  if (how != NULL) options->form.how = base_arena_strndup(parser->arena, how->text, how->length);
  return options;
}

struct tql_copy_options *tql_copy_without(struct tql_parser *parser,
                                          struct tql_copy_options *options,
                                          const struct tql_span *at, const struct tql_name *word) {
  tql_option_once(parser, at, options->form.headless, "without header");
  if (strcasecmp(word->text, "header") != 0)
    tql_fail(parser, MSG_SYNTAX, &word->range, NULL, "\"%s\" where header was expected",
             word->text);
  options->form.headless = true;
  return options;
}

struct tql_copy_options *tql_copy_continued(struct tql_parser *parser,
                                            struct tql_copy_options *options,
                                            const struct tql_span *at) {
  tql_option_once(parser, at, options->form.continued, "continued");
  options->form.continued = true;
  return options;
}

struct tql_copy_options *tql_copy_ragged(struct tql_parser *parser,
                                         struct tql_copy_options *options,
                                         const struct tql_span *at) {
  tql_option_once(parser, at, options->form.ragged, "ragged");
  options->form.ragged = true;
  return options;
}

struct tql_copy_options *tql_copy_empty(struct tql_parser *parser, struct tql_copy_options *options,
                                        const struct tql_span *at, const struct tql_name *periods,
                                        const struct tql_name *how) {
  tql_option_once(parser, at, options->form.empty.text != NULL, "empty periods");
  if (strcasecmp(periods->text, "periods") != 0)
    tql_fail(parser, MSG_SYNTAX, &periods->range, NULL, "\"%s\" where periods was expected",
             periods->text);
  options->form.empty = *how;
  return options;
}

struct tql_copy_options *tql_copy_mappings(struct tql_parser *parser,
                                           struct tql_copy_options *options,
                                           const struct tql_span *at,
                                           const struct tql_list *mappings) {
  tql_option_once(parser, at, options->form.mappings != NULL, "(");
  options->form.mappings = mappings->items;
  options->form.mapping_count = mappings->count;
  options->form.range = at->range;
  return options;
}

/* --- mappings */

struct tql_mapping tql_mapping_of(struct tql_parser *parser, const struct tql_span *span,
                                  const struct tql_name *name) {
  (void)parser;
  return (struct tql_mapping){.range = span->range, .target = *name, .column = name->text};
}

struct tql_mapping tql_mapping_of_word(struct tql_parser *parser, const struct tql_span *span,
                                       const struct tql_lexeme *word) {
  struct tql_name name = tql_name(parser, span, word);
  return tql_mapping_of(parser, span, &name);
}

struct tql_mapping tql_mapping_from(const struct tql_span *span, const struct tql_name *target,
                                    const struct tql_mapping *origin) {
  struct tql_mapping mapping = *origin;
  mapping.range = span->range;
  mapping.target = *target;
  return mapping;
}

struct tql_mapping tql_mapping_column(struct tql_parser *parser, const struct tql_span *span,
                                      const struct tql_lexeme *name) {
  struct tql_mapping mapping = {.range = span->range};
  if (memchr(name->text, '\0', name->length) != NULL)
    tql_fail(parser, MSG_BAD_TOKEN, &span->range, NULL,
             "a name of a column with a zero byte in it");
  mapping.column = base_arena_strndup(parser->arena, name->text, name->length);
  return mapping;
}

struct tql_mapping tql_mapping_number(struct tql_parser *parser, const struct tql_span *span,
                                      const struct tql_lexeme *number) {
  const uint64_t most = 1000000000;
  if (number->integer < 1 || number->integer > most)
    tql_fail(parser, MSG_SYNTAX, &span->range, "columns are counted from 1",
             "no number of a column");
  return (struct tql_mapping){.range = span->range,
                              .number = (int64_t)(number->integer % (most + 1))};
}

struct tql_mapping tql_mapping_relative(struct tql_mapping mapping, enum tql_mapping_from from) {
  mapping.from = from;
  return mapping;
}

struct tql_mapping tql_mapping_in(struct tql_parser *parser, struct tql_mapping mapping,
                                  const struct tql_span *span, const struct tql_name *unit) {
  tql_option_once(parser, span, mapping.unit.text != NULL || mapping.like != NULL, "in");
  mapping.unit = *unit;
  return mapping;
}

static const char *text_of(struct tql_parser *parser, const struct tql_span *at,
                           const struct tql_lexeme *text) {
  if (memchr(text->text, '\0', text->length) != NULL)
    tql_fail(parser, MSG_BAD_TOKEN, &at->range, NULL, "a text with a zero byte in it");
  return base_arena_strndup(parser->arena, text->text, text->length);
}

struct tql_mapping tql_mapping_like(struct tql_parser *parser, struct tql_mapping mapping,
                                    const struct tql_span *span, const struct tql_span *at,
                                    const struct tql_lexeme *format) {
  tql_option_once(parser, span, mapping.unit.text != NULL || mapping.like != NULL, "like");
  mapping.like = text_of(parser, at, format);
  return mapping;
}

struct tql_mapping tql_mapping_else(struct tql_parser *parser, struct tql_mapping mapping,
                                    const struct tql_span *span, const struct tql_span *at,
                                    const char *sign, const struct tql_lexeme *text) {
  tql_option_once(parser, span, mapping.otherwise != NULL, "else");
  mapping.otherwise = base_arena_printf(parser->arena, "%s%s", sign, text_of(parser, at, text));
  return mapping;
}

/* --- the statements */

static void set_path(struct tql_parser *parser, struct tql_statement *statement,
                     const struct tql_lexeme *path, const struct tql_span *path_span) {
  statement->path = base_arena_strndup(parser->arena, path->text, path->length);
  statement->path_range = path_span->range;
  if (memchr(path->text, '\0', path->length) != NULL)
    tql_fail(parser, MSG_BAD_TOKEN, &path_span->range, NULL, "a file name with a zero byte in it");
}

static void set_options(struct tql_statement *statement, const struct tql_copy_options *options) {
  const struct tql_file_form *form = &options->form;
  statement->following = options->following;
  statement->within = options->within;
  statement->ordered_by_stop = options->ordered;
  statement->skipping_errors = options->skipping;
  if (form->format.text != NULL || form->empty.text != NULL || form->headless || form->ragged ||
      form->continued || form->skipped > 0 || form->mappings != NULL)
    statement->form = form;
}

/* A file that makes a relation is read once, and what its columns are is inferred. */
static void refuse_options(struct tql_parser *parser, const struct tql_statement *statement) {
  const char *hint =
      "make the relation with create R (...), then copy; tquel infer FILE prints both";
  if (statement->following || statement->within != NULL || statement->ordered_by_stop)
    tql_fail(parser, MSG_SYNTAX, &statement->path_range, hint,
             "a relation is made of a file that is there, not followed");
  if (statement->form != NULL && statement->form->mappings != NULL)
    tql_fail(parser, MSG_SYNTAX, &statement->form->range, hint,
             "what the columns are is inferred here");
}

struct tql_statement *tql_build_create_from(struct tql_parser *parser, const struct tql_span *span,
                                            const struct tql_relation_head *head,
                                            const struct tql_lexeme *path,
                                            const struct tql_span *path_span,
                                            const struct tql_copy_options *options) {
  struct tql_statement *statement = tql_build_create(parser, span, head, NULL, NULL);
  set_path(parser, statement, path, path_span);
  set_options(statement, options);
  refuse_options(parser, statement);
  return statement;
}

struct tql_statement *tql_build_range_file(struct tql_parser *parser, const struct tql_span *span,
                                           const struct tql_name *variable,
                                           const struct tql_lexeme *path,
                                           const struct tql_span *path_span,
                                           const struct tql_copy_options *options) {
  struct tql_statement *statement = tql_new_statement(parser, TQL_S_RANGE, span);
  statement->variable = *variable;
  set_path(parser, statement, path, path_span);
  set_options(statement, options);
  refuse_options(parser, statement);
  return statement;
}

struct tql_statement *tql_build_copy(struct tql_parser *parser, const struct tql_span *span,
                                     const struct tql_name *name, const struct tql_lexeme *path,
                                     const struct tql_span *path_span,
                                     const struct tql_copy_options *options) {
  struct tql_statement *statement = tql_new_statement(parser, TQL_S_COPY, span);
  statement->name = *name;
  set_path(parser, statement, path, path_span);
  statement->copy_into = options == NULL;
  if (options != NULL) set_options(statement, options);
  return statement;
}
