/* From bytes to tokens, one at a time. Internal to tquel/lang.
 *
 * The lexer decides by a token's neighbours what a word or a `;` is, so that the grammar needs one
 * token of lookahead only:
 *   - after `.`, start, stop, time and all are accessors and every other word is a domain's name;
 *   - directly after `(` or `,` and before `=` or `is`, every word is a name;
 *   - the word after `set` is a setting's name, the word after `set rule` may have dashes in it
 *     (a statement's keyword on the next line is one all the same);
 *   - `;` is a terminator before the end of the text, \g, or a word that opens a statement;
 *   - a keyword alone on the rest of the line after `help` is a topic.
 * It never reports anything: a bad lexeme is a token of kind TQL_BAD that carries its message. */
#ifndef TQL_LEXER_H
#define TQL_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/diag.h"

/* What flex sees: the shape of a lexeme. */
enum tql_shape {
  TQL_LEX_END = 0,
  TQL_LEX_BLANK,
  TQL_LEX_OPEN_COMMENT,
  TQL_LEX_WORD,
  TQL_LEX_QUOTED_NAME,
  TQL_LEX_OPEN_NAME,
  TQL_LEX_STRING,
  TQL_LEX_OPEN_STRING,
  TQL_LEX_SINGLE_QUOTED,
  TQL_LEX_BYTES,
  TQL_LEX_INTEGER,
  TQL_LEX_FLOAT,
  TQL_LEX_DURATION,
  TQL_LEX_DOTTED_NUMBER,
  TQL_LEX_CLOCK,
  TQL_LEX_SIGN,
  TQL_LEX_BACKSLASH,
  TQL_LEX_STRAY,
};

/* The generated scanner (lexer.l). OPEN copies the text; NULL when out of memory. */
void *tql_flex_open(const char *text, size_t length);
void tql_flex_close(void *handle);
enum tql_shape tql_flex_next(void *handle, bool rule_name, size_t *ret_length);
/* Of a number directly followed by a word: the length of both if the word is a unit of time, else
 * of the number alone. */
size_t tql_duration_length(const char *text, size_t length);

/* A place in the source: the range for people, the offsets for us. */
struct tql_span {
  struct base_range range;
  size_t first, last; /* bytes, last exclusive */
};

/* The value of a token. */
struct tql_lexeme {
  const char *text; /* a name or keyword as written, a string's value; NUL-terminated for strings
                       and quoted names, else LENGTH bytes in the source */
  size_t length;
  uint64_t integer; /* integer: the magnitude, up to 2^63; duration: nanoseconds */
  double real;
  bool quoted; /* a name in backticks */
};

struct tql_token {
  int kind; /* a token of the grammar, or TQL_BAD */
  struct tql_span span;
  struct tql_lexeme lexeme;
  /* TQL_BAD: */
  enum base_message number;
  const char *message, *hint; /* in the arena; HINT may be NULL */
  bool open;                  /* something begun and not ended where the text ends */
};

#define TQL_BAD (-1)

struct tql_lexer {
  struct base_arena *arena;
  const char *text; /* the whole text: what is peeked at */
  size_t length;
  size_t limit;  /* tokens end here */
  bool open_end; /* a `;` at the very end is an operator: more may come */
  void *flex;
  size_t offset;
  int line, column;
  int previous; /* kind of the last token, 0 at the beginning */
  int previous_line;
};

/* Reads the bytes FIRST to LIMIT of TEXT; FIRST is at LINE, COLUMN. False: too long for the scanner
 * (nothing to free then). */
bool tql_lexer_init(struct tql_lexer *lexer, struct base_arena *arena, const char *text,
                    size_t length, size_t first, size_t limit, int line, int column);
void tql_lexer_done(struct tql_lexer *lexer);
void tql_lexer_next(struct tql_lexer *lexer, struct tql_token *ret_token);

/* The keyword list. */
enum tql_word_class {
  TQL_WORD_NONE,
  TQL_WORD_STATEMENT,
  TQL_WORD_CLAUSE,
  TQL_WORD_LOGIC,
  TQL_WORD_CONTEXTUAL,
};
struct tql_word {
  const char *text;
  int token;
  enum tql_word_class word_class;
};
/* The row of a word of LENGTH bytes, upper and lower case alike, or NULL. */
const struct tql_word *tql_word_find(const char *text, size_t length);
/* All rows, sorted; *RET_COUNT of them. */
const struct tql_word *tql_words(size_t *ret_count);
/* True for tokens that open a statement. */
bool tql_token_opens_statement(int kind);

/* Names that the lexer reads without backticks. */
bool tql_is_plain_word(const char *text, bool dashes);
bool tql_is_accessor(const char *text); /* start, stop, time, all */
/* Length of the valid UTF-8 sequence at TEXT (1 to 4), 0 if it is none. */
size_t tql_utf8_length(const char *text, size_t length);

#endif
