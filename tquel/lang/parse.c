/* Drives lexer and automaton over a text: statements out, errors reported, and after an error on
 * with the next statement.
 *
 * After an error, tokens are skipped up to a word that opens a statement. The offending word itself
 * counts as such only at the beginning of a line: `range of print is R` means a bad name, not a new
 * statement. At most ERRORS_MAX errors are reported for one text. */
#include "tquel/lang/parse.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "engine/base/status.h"
#include "tquel/lang/reader.h"
#include "tql_grammar.h"

#define ERRORS_MAX 20

/* --- the reader ------------------------------------------------------------------------------- */

bool tql_reader_init(struct tql_reader *reader, struct base_arena *arena,
                     const struct base_source *source, struct base_diag_sink *diags, size_t first,
                     size_t limit, int line, int column) {
  *reader = (struct tql_reader){0};
  reader->parser.arena = arena;
  reader->parser.source = source;
  reader->parser.diags = diags;
  reader->parser.text = source->text;
  /* Some editors begin a file with a byte order mark. */
  if (first == 0 && limit >= 3 && memcmp(source->text, "\xef\xbb\xbf", 3) == 0) first = 3;
  if (!tql_lexer_init(&reader->lexer, arena, source->text, source->length, first, limit, line,
                      column)) {
    return false;
  }
  reader->state = tql_yypstate_new();
  BASE_CHECK(reader->state != NULL, "tql-parser-memory");
  return true;
}

void tql_reader_done(struct tql_reader *reader) {
  tql_lexer_done(&reader->lexer);
  if (reader->state != NULL) tql_yypstate_delete(reader->state);
  free(reader->open);
  free(reader->parser.statements);
}

static void begin_statement(struct tql_reader *reader) {
  reader->previous.kind = 0;
  reader->opener.kind = 0;
  reader->depth = 0;
}

void tql_reader_restart(struct tql_reader *reader) {
  tql_yypstate_delete(reader->state);
  reader->state = tql_yypstate_new();
  BASE_CHECK(reader->state != NULL, "tql-parser-memory");
  reader->parser.failed = false;
  reader->parser.minimum = NULL;
  begin_statement(reader);
}

static void too_deep(struct tql_reader *reader, const struct tql_token *token) {
  tql_fail(&reader->parser, MSG_TOO_NESTED, &token->span.range,
           "name a part of it as a derived relation", "an expression nested more than %d deep",
           TQL_DEPTH_MAX);
}

static void count_parentheses(struct tql_reader *reader, const struct tql_token *token) {
  if (token->kind == '(') {
    base_grow(&reader->open, &reader->capacity, reader->depth + 1, sizeof *reader->open);
    reader->open[reader->depth++] = token->span;
  } else if (token->kind == ')' && reader->depth > 0) {
    reader->depth--;
  }
}

/* The automaton reduces to whole statements when it sees what follows them; this notes it. */
static void note_token(struct tql_reader *reader, const struct tql_token *token, size_t before) {
  if (token->kind == TQL_T_GO || token->kind == TQL_T_TERMINATOR) {
    begin_statement(reader);
    return;
  }
  if (reader->parser.count > before) begin_statement(reader);
  if (reader->opener.kind == 0) reader->opener = *token;
  reader->previous = *token;
  count_parentheses(reader, token);
}

enum tql_step tql_reader_push(struct tql_reader *reader, const struct tql_token *token) {
  if (token->kind == '(' && reader->depth >= TQL_DEPTH_MAX) {
    too_deep(reader, token);
    return TQL_STEP_FAILED;
  }
  size_t before = reader->parser.count;
  TQL_YYSTYPE value = {.TQL_T_NAME = token->lexeme};
  struct tql_span span = token->span;
  int status = tql_yypush_parse(reader->state, token->kind, &value, &span, &reader->parser);
  if (reader->parser.failed) return TQL_STEP_FAILED;
  if (status == YYPUSH_MORE) {
    note_token(reader, token, before);
    return TQL_STEP_MORE;
  }
  if (status == 0) return TQL_STEP_END;
  if (status == 1) return TQL_STEP_SYNTAX;
  too_deep(reader, token);
  return TQL_STEP_FAILED;
}

/* --- a whole text ----------------------------------------------------------------------------- */

struct run {
  struct tql_reader reader;
  bool skipping;
  int skipped_previous; /* kind of the last token skipped */
  int last_line;        /* of the token before the present one */
  int errors;
  size_t good;  /* statements before the first error */
  bool stopped; /* interrupted, or too much for its budget */
};

static bool may_resume(const struct run *run, const struct tql_token *token) {
  if (!tql_token_opens_statement(token->kind)) return false;
  /* define permit retrieve, append ... */
  return run->skipped_previous != ',' && run->skipped_previous != TQL_T_PERMIT;
}

/* True: TOKEN, which an error was reported for, is to be read again as a statement's first. */
static bool recover(struct run *run, const struct tql_token *token) {
  if (run->errors++ == 0) run->good = run->reader.parser.count;
  bool first_on_line = token->span.range.first_line > run->last_line;
  run->skipped_previous = 0;
  run->skipping = !(first_on_line && may_resume(run, token));
  tql_reader_restart(&run->reader);
  return !run->skipping && run->errors < ERRORS_MAX;
}

static void report_bad(struct run *run, const struct tql_token *token) {
  tql_fail(&run->reader.parser, token->number, &token->span.range, token->hint, "%s",
           token->message);
}

/* Takes one token; false when the text is done with. */
static bool take(struct run *run, const struct tql_token *token) {
  struct tql_reader *reader = &run->reader;
  if (run->skipping) {
    if (token->kind == TQL_T_GO || may_resume(run, token)) run->skipping = false;
    run->skipped_previous = token->kind;
    if (token->kind == TQL_T_END_OF_TEXT) return false;
    if (run->skipping) return true;
  }
  bool again = true;
  while (again) {
    again = false;
    enum tql_step step = TQL_STEP_FAILED;
    if (token->kind == TQL_BAD)
      report_bad(run, token);
    else
      step = tql_reader_push(reader, token);
    if (step == TQL_STEP_MORE) return true;
    if (step == TQL_STEP_END) return false;
    if (step == TQL_STEP_SYNTAX) tql_report_syntax(reader, token);
    again = recover(run, token);
  }
  return run->errors < ERRORS_MAX && token->kind != TQL_T_END_OF_TEXT;
}

static void read_all(struct run *run) {
  struct tql_token token;
  size_t tokens = 0;
  do {
    run->stopped = (++tokens & 0x3ff) == 0 && base_env_interrupted();
    if (run->stopped) break;
    tql_lexer_next(&run->reader.lexer, &token);
    bool more = take(run, &token);
    run->last_line = token.span.range.last_line;
    if (!more) break;
  } while (true);
}

static struct tql_statement **copy_statements(struct base_arena *arena, const struct run *run,
                                              size_t count) {
  struct tql_statement **statements = BASE_NEW_ARRAY(arena, count + 1, struct tql_statement *);
  for (size_t i = 0; i < count; i++) statements[i] = run->reader.parser.statements[i];
  return statements;
}

struct tql_statement **tql_parse(struct base_arena *arena, const struct base_source *source,
                                 int first_line, struct base_diag_sink *diags, size_t *ret_count,
                                 bool *ret_ok) {
  struct run run = {0};
  if (!tql_reader_init(&run.reader, arena, source, diags, 0, source->length, first_line, 1)) {
    base_report_hint(diags, MSG_TOO_NESTED, source, NULL, "split it into several texts",
                     "a text of %zu bytes, which is too long to be parsed", source->length);
    tql_reader_done(&run.reader);
    *ret_count = 0;
    *ret_ok = false;
    return copy_statements(arena, &run, 0);
  }
  read_all(&run);
  *ret_ok = run.errors == 0 && !run.stopped;
  *ret_count = run.errors == 0 ? run.reader.parser.count : run.good;
  struct tql_statement **statements = copy_statements(arena, &run, *ret_count);
  tql_reader_done(&run.reader);
  return statements;
}

/* --- how complete ----------------------------------------------------------------------------- */

static enum tql_completeness completeness(struct tql_reader *reader) {
  struct tql_token token;
  for (;;) {
    tql_lexer_next(&reader->lexer, &token);
    if (token.kind == TQL_BAD) return token.open ? TQL_INCOMPLETE : TQL_ERROR;
    switch (tql_reader_push(reader, &token)) {
      case TQL_STEP_MORE:
        break;
      case TQL_STEP_END:
        return reader->parser.count > 0 ? TQL_COMPLETE : TQL_EMPTY;
      case TQL_STEP_SYNTAX:
        return token.kind == TQL_T_END_OF_TEXT ? TQL_INCOMPLETE : TQL_ERROR;
      case TQL_STEP_FAILED:
        return TQL_ERROR;
    }
  }
}

enum tql_completeness tql_completeness(const char *text, size_t length) {
  struct base_arena *arena = base_arena_new();
  struct base_source source = {.name = "", .text = text, .length = length};
  struct tql_reader reader;
  enum tql_completeness answer = TQL_ERROR;
  if (tql_reader_init(&reader, arena, &source, NULL, 0, length, 1, 1))
    answer = completeness(&reader);
  tql_reader_done(&reader);
  base_arena_free(arena);
  return answer;
}
