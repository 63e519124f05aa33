/* The parser's face: text in, statements out, one at a time.
 *
 * A pure push parser: bytes are fed as they come (a terminal's lines, a script); statements come out
 * as soon as the automaton knows that they are complete: the next statement's keyword, \g, a `;`
 * directly before either or before the end of input, or the end of input. The same automaton answers
 * "is this complete?" and "what may come next?".                                                   */
#ifndef TQL_PARSE_H
#define TQL_PARSE_H

#include "engine/base/arena.h"
#include "engine/base/diag.h"
#include "tquel/lang/ast.h"

/* Parses a whole text and returns its statements in order (allocated in ARENA). A syntax error is
 * reported with position, expected tokens and a hint, and parsing goes on with the next statement
 * keyword, so that several errors can be reported; *RET_OK is then false. Statements before the
 * first error are still returned, nothing after it. SOURCE's text must outlive the tree.
 * FIRST_LINE is the line number of the text's first line (1 for a file).                           */
struct tql_statement **tql_parse(struct base_arena *arena, const struct base_source *source,
                                 int first_line, struct base_diag_sink *diags, size_t *ret_count,
                                 bool *ret_ok);

enum tql_completeness {
  TQL_EMPTY,      /* only blanks and comments */
  TQL_INCOMPLETE, /* a prefix of some statement: more is needed */
  TQL_COMPLETE,   /* at least one whole statement, and nothing missing at the end */
  TQL_ERROR,      /* no continuation can make it right */
};

/* How complete TEXT is. */
enum tql_completeness tql_completeness(const char *text, size_t length);

/* What may come next after TEXT: calls ON_WORD for each keyword or punctuation ("retrieve", "(") that
 * the automaton accepts, and for each class of names, as "<relation>", "<variable>", "<domain>",
 * "<name>", "<string>", "<number>".  For completion and messages.                                  */
void tql_expected(const char *text, size_t length, void (*on_word)(void *context, const char *word),
                  void *context);

/* The reserved words, NULL-terminated, sorted: for highlighting, the manual, quoting in printing. */
const char *const *tql_keywords(void);
bool tql_is_keyword(const char *word); /* case-insensitive */

#endif
