/* The automaton at work: a lexer, a push parser, and what messages need to know of the statement in
 * progress. Internal to tquel/lang.                                                               */
#ifndef TQL_READER_H
#define TQL_READER_H

#include "tquel/lang/ast_build.h"
#include "tquel/lang/parse.h"

enum tql_step {
  TQL_STEP_MORE,   /* the token was taken */
  TQL_STEP_END,    /* it was the end of the text, and fitted */
  TQL_STEP_SYNTAX, /* it does not fit; parser.expected says what would */
  TQL_STEP_FAILED, /* a builder, or the depth of nesting, refused; already reported */
};

struct tql_reader {
  struct tql_parser parser;
  struct tql_lexer lexer;
  void *state;               /* the push parser's */
  struct tql_token previous; /* the last token taken; kind 0 at a statement's beginning */
  struct tql_token opener;   /* the statement's first token; kind 0 before it */
  struct tql_span *open;     /* the parentheses open now */
  size_t depth, capacity;
};

/* Reads the bytes FIRST to LIMIT of the source. DIAGS NULL: silent. False: the text is too long. */
bool tql_reader_init(struct tql_reader *reader, struct base_arena *arena,
                     const struct base_source *source, struct base_diag_sink *diags, size_t first,
                     size_t limit, int line, int column);
void tql_reader_done(struct tql_reader *reader);
enum tql_step tql_reader_push(struct tql_reader *reader, const struct tql_token *token);
/* Forgets the statement in progress. */
void tql_reader_restart(struct tql_reader *reader);

/* Words the syntax error at TOKEN and reports it. (expected.c) */
void tql_report_syntax(struct tql_reader *reader, const struct tql_token *token);

#endif
