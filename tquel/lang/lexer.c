/* What the lexemes mean: keyword or name, values of numbers and strings, the end of a statement.
 *
 * See lexer.h for the decisions taken here by a token's neighbours. Looking ahead is done on the
 * bytes themselves (struct peek), over blanks and comments to the next lexeme, which is never more
 * than what the scanner reads next anyway; so a text is read a constant number of times.
 *
 * A bad lexeme never stops the lexer: it is a token like any other, and what follows it is read as
 * if nothing had been. */
#include "tquel/lang/lexer.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "tql_grammar.h"

/* --- words ------------------------------------------------------------------------------------ */

static const struct tql_word word_table[] = {
#define RESERVED(WORD, TOKEN, CLASS) {WORD, TQL_T_##TOKEN, TQL_WORD_##CLASS},
#define CONTEXTUAL(WORD, TOKEN)      {WORD, TQL_T_##TOKEN, TQL_WORD_CONTEXTUAL},
#include "tquel/lang/keywords.def"
#undef RESERVED
#undef CONTEXTUAL
};
#define WORD_COUNT (sizeof word_table / sizeof word_table[0])

const struct tql_word *tql_words(size_t *ret_count) {
  *ret_count = WORD_COUNT;
  return word_table;
}

/* strcasecmp of a counted and a NUL-terminated string. */
static int compare_word(const char *text, size_t length, const char *word) {
  int order = strncasecmp(text, word, length);
  if (order != 0) return order;
  return strlen(word) > length ? -1 : 0;
}

const struct tql_word *tql_word_find(const char *text, size_t length) {
  size_t low = 0, high = WORD_COUNT;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = compare_word(text, length, word_table[middle].text);
    if (order == 0) return &word_table[middle];
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

bool tql_token_opens_statement(int kind) {
  for (size_t i = 0; i < WORD_COUNT; i++) {
    if (word_table[i].token == kind) return word_table[i].word_class == TQL_WORD_STATEMENT;
  }
  return false;
}

static bool is_reserved(const struct tql_word *word) {
  return word != NULL && word->word_class != TQL_WORD_CONTEXTUAL;
}

static bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word_byte(char c) {
  return is_word_start(c) || (c >= '0' && c <= '9');
}

bool tql_is_plain_word(const char *text, bool dashes) {
  if (!is_word_start(text[0])) return false;
  for (const char *c = text + 1; *c != '\0'; c++) {
    if (is_word_byte(*c)) continue;
    if (!dashes || *c != '-' || !is_word_byte(c[1])) return false;
  }
  return true;
}

/* --- looking ahead ---------------------------------------------------------------------------- */

struct peek {
  const char *text; /* the next lexeme's beginning */
  size_t left;      /* bytes from there to the end of the whole text; 0: nothing follows */
  bool new_line;    /* a line ended before it */
};

static struct peek peek_from(const char *text, size_t length, size_t offset) {
  struct peek peek = {0};
  size_t i = offset;
  while (i < length) {
    char c = text[i];
    if (c == '\n') peek.new_line = true;
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      i++;
    } else if (c == '-' && i + 1 < length && text[i + 1] == '-') {
      const char *end = memchr(text + i, '\n', length - i);
      i = end == NULL ? length : (size_t)(end - text);
    } else if (c == '/' && i + 1 < length && text[i + 1] == '*') {
      const char *end = memmem(text + i + 2, length - i - 2, "*/", 2);
      size_t next = end == NULL ? length : (size_t)(end - text) + 2;
      if (memchr(text + i, '\n', next - i) != NULL) peek.new_line = true;
      i = next;
    } else {
      break;
    }
  }
  peek.text = text + i;
  peek.left = length - i;
  return peek;
}

static size_t word_length(const struct peek *peek) {
  size_t length = 0;
  if (peek->left == 0 || !is_word_start(peek->text[0])) return 0;
  while (length < peek->left && is_word_byte(peek->text[length])) length++;
  return length;
}

static bool peek_is_go(const struct peek *peek) {
  return peek->left >= 2 && peek->text[0] == '\\' &&
         (peek->text[1] == 'g' || peek->text[1] == 'G') &&
         (peek->left == 2 || !is_word_byte(peek->text[2]));
}

/* Is what follows OFFSET something that a statement cannot contain? */
static bool statement_ends_before(const struct tql_lexer *lexer, size_t offset) {
  struct peek peek = peek_from(lexer->text, lexer->length, offset);
  if (peek.left == 0) return !lexer->open_end;
  if (peek_is_go(&peek)) return true;
  const struct tql_word *word = tql_word_find(peek.text, word_length(&peek));
  return word != NULL && word->word_class == TQL_WORD_STATEMENT;
}

static bool name_definition_before(const struct tql_lexer *lexer, size_t offset) {
  struct peek peek = peek_from(lexer->text, lexer->length, offset);
  if (peek.left == 0) return false;
  if (peek.text[0] == '=') return peek.left < 2 || peek.text[1] != '=';
  return compare_word(peek.text, word_length(&peek), "is") == 0 && word_length(&peek) == 2;
}

static bool help_topic_before(const struct tql_lexer *lexer, size_t offset) {
  struct peek peek = peek_from(lexer->text, lexer->length, offset);
  return peek.left == 0 || peek.new_line || peek_is_go(&peek) || peek.text[0] == ';';
}

/* --- values ----------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  uint64_t nanoseconds;
} units[] = {
    {"ns", 1},
    {"nanosecond", 1},
    {"nanoseconds", 1},
    {"us", 1000},
    {"microsecond", 1000},
    {"microseconds", 1000},
    {"ms", 1000000},
    {"msec", 1000000},
    {"millisecond", 1000000},
    {"milliseconds", 1000000},
    {"s", 1000000000},
    {"sec", 1000000000},
    {"second", 1000000000},
    {"seconds", 1000000000},
    {"min", 60000000000},
    {"minute", 60000000000},
    {"minutes", 60000000000},
    {"h", 3600000000000},
    {"hour", 3600000000000},
    {"hours", 3600000000000},
    {"d", 86400000000000},
    {"day", 86400000000000},
    {"days", 86400000000000},
    {"week", 604800000000000},
    {"weeks", 604800000000000},
};

static uint64_t unit_of(const char *text, size_t length) {
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (strlen(units[i].name) == length && strncasecmp(units[i].name, text, length) == 0) {
      return units[i].nanoseconds;
    }
  }
  return 0;
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/* The length of DIGITS or DIGITS.DIGITS at TEXT. */
static size_t decimal_length(const char *text, size_t length) {
  size_t i = 0;
  while (i < length && is_digit(text[i])) i++;
  if (i + 1 < length && text[i] == '.' && is_digit(text[i + 1])) {
    i++;
    while (i < length && is_digit(text[i])) i++;
  }
  return i;
}

size_t tql_duration_length(const char *text, size_t length) {
  size_t number = decimal_length(text, length), unit = number;
  while (unit < length && (text[unit] == ' ' || text[unit] == '\t')) unit++;
  return unit_of(text + unit, length - unit) != 0 ? length : number;
}

/* DIGITS as a magnitude of at most 2^63. */
static bool read_magnitude(const char *text, size_t length, uint64_t *ret_value) {
  const uint64_t most = (uint64_t)INT64_MAX + 1;
  uint64_t value = 0;
  for (size_t i = 0; i < length; i++) {
    uint64_t digit = (uint64_t)(text[i] - '0');
    if (value > (most - digit) / 10) return false;
    value = value * 10 + digit;
  }
  *ret_value = value;
  return true;
}

/* Nanoseconds of a decimal number and a unit, exactly; false: more than 63 bits, or a fraction of a
 * nanosecond. */
static bool read_duration(const char *text, size_t length, uint64_t *ret_value) {
  size_t number = decimal_length(text, length), unit = number, whole = 0;
  while (unit < length && (text[unit] == ' ' || text[unit] == '\t')) unit++;
  uint64_t scale = unit_of(text + unit, length - unit), value = 0;
  while (whole < number && text[whole] != '.') whole++;
  if (!read_magnitude(text, whole, &value)) return false;
  if (__builtin_mul_overflow(value, scale, &value)) return false;
  for (size_t i = whole + 1; i < number; i++) {
    if (scale % 10 != 0) {
      if (text[i] != '0') return false; /* below a nanosecond */
      continue;
    }
    scale /= 10;
    if (__builtin_add_overflow(value, scale * (uint64_t)(text[i] - '0'), &value)) return false;
  }
  if (value > (uint64_t)INT64_MAX) return false;
  *ret_value = value;
  return true;
}

size_t tql_utf8_length(const char *text, size_t length) {
  const unsigned char *byte = (const unsigned char *)text;
  if (length == 0) return 0;
  if (byte[0] < 0x80) return 1;
  size_t wanted = byte[0] >= 0xf0 ? 4 : byte[0] >= 0xe0 ? 3 : 2;
  if (byte[0] < 0xc2 || byte[0] > 0xf4 || wanted > length) return 0;
  for (size_t i = 1; i < wanted; i++) {
    if ((byte[i] & 0xc0) != 0x80) return 0;
  }
  if (byte[0] == 0xe0 && byte[1] < 0xa0) return 0; /* overlong */
  if (byte[0] == 0xed && byte[1] > 0x9f) return 0; /* surrogates */
  if (byte[0] == 0xf0 && byte[1] < 0x90) return 0;
  if (byte[0] == 0xf4 && byte[1] > 0x8f) return 0; /* past U+10FFFF */
  return wanted;
}

static bool is_utf8(const char *text, size_t length) {
  for (size_t i = 0; i < length;) {
    size_t step = tql_utf8_length(text + i, length - i);
    if (step == 0) return false;
    i += step;
  }
  return true;
}

/* --- tokens ----------------------------------------------------------------------------------- */

static void bad(struct tql_token *token, enum base_message number, const char *message,
                const char *hint) {
  token->kind = TQL_BAD;
  token->number = number;
  token->message = message;
  token->hint = hint;
}

static void read_word(struct tql_lexer *lexer, struct tql_token *token, size_t end) {
  const char *text = token->lexeme.text;
  size_t length = token->lexeme.length;
  token->kind = TQL_T_NAME;
  if (lexer->previous == '.') {
    if (compare_word(text, length, "start") == 0) token->kind = TQL_T_DOT_START;
    if (compare_word(text, length, "stop") == 0) token->kind = TQL_T_DOT_STOP;
    if (compare_word(text, length, "time") == 0) token->kind = TQL_T_DOT_TIME;
    if (compare_word(text, length, "all") == 0) token->kind = TQL_T_DOT_ALL;
    return;
  }
  const struct tql_word *word = tql_word_find(text, length);
  if (lexer->previous == TQL_T_SET || lexer->previous == TQL_T_RULE) {
    bool same_line = lexer->previous_line == token->span.range.first_line;
    if (!same_line && word != NULL && word->word_class == TQL_WORD_STATEMENT)
      token->kind = word->token;
    else if (lexer->previous == TQL_T_SET && compare_word(text, length, "rule") == 0)
      token->kind = TQL_T_RULE;
    return;
  }
  if (word == NULL) return;
  token->kind = word->token;
  if (!is_reserved(word)) return;
  if (lexer->previous == TQL_T_HELP && lexer->previous_line == token->span.range.first_line &&
      help_topic_before(lexer, end)) {
    token->kind = TQL_T_STRING;
  }
  if ((lexer->previous == '(' || lexer->previous == ',') && token->kind != TQL_T_TRUE_WORD &&
      token->kind != TQL_T_FALSE_WORD && name_definition_before(lexer, end)) {
    token->kind = TQL_T_NAME;
  }
}

static void read_quoted_name(struct tql_lexer *lexer, struct tql_token *token) {
  const char *text = token->lexeme.text + 1;
  size_t length = token->lexeme.length - 2, out = 0;
  if (length == 0) {
    bad(token, MSG_BAD_TOKEN, "an empty name", NULL);
    return;
  }
  if (memchr(text, '\0', length) != NULL || !is_utf8(text, length)) {
    bad(token, MSG_BAD_TOKEN, "a name that is not UTF-8", "save the text as UTF-8");
    return;
  }
  char *name = base_arena_alloc(lexer->arena, length + 1);
  for (size_t i = 0; i < length; i++) {
    name[out++] = text[i];
    if (text[i] == '`') i++; /* written twice */
  }
  token->kind = TQL_T_NAME;
  token->lexeme.text = name;
  token->lexeme.length = out;
  token->lexeme.quoted = true;
}

/* What \C in a string stands for, 0 for nothing. */
static char unescaped(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case '"':
    case '\\':
      return c;
    default:
      return '\0';
  }
}

static void read_string(struct tql_lexer *lexer, struct tql_token *token) {
  const char *text = token->lexeme.text + 1;
  size_t length = token->lexeme.length - 2, out = 0;
  if (!is_utf8(text, length)) {
    bad(token, MSG_BAD_TOKEN, "a string that is not UTF-8", "save the text as UTF-8");
    return;
  }
  char *value = base_arena_alloc(lexer->arena, length + 1);
  for (size_t i = 0; i < length; i++) {
    char c = text[i];
    if (c == '\\') c = unescaped(text[++i]);
    if (c == '\0' && text[i] != '\0') {
      bad(token, MSG_BAD_TOKEN, "a backslash in a string before something that it cannot escape",
          "a string knows \\\" \\\\ \\n and \\t; a backslash itself is written \\\\");
      return;
    }
    value[out++] = c;
  }
  token->kind = TQL_T_STRING;
  token->lexeme.text = value;
  token->lexeme.length = out;
}

static void read_bytes(struct tql_lexer *lexer, struct tql_token *token) {
  struct base_buffer value = BASE_BUFFER_EMPTY;
  size_t digits = token->lexeme.length - 3; /* x, and two quotes */
  if (!base_hex_read(&value, token->lexeme.text + 2, digits)) {
    bad(token, MSG_BAD_TOKEN, "a constant of bytes that has not two hexadecimal digits for each",
        "x'00ff' are two bytes, x'' is none");
  } else {
    token->kind = TQL_T_BYTES_CONSTANT;
    token->lexeme.text = base_arena_strndup(lexer->arena, base_buffer_text(&value), value.length);
    token->lexeme.length = value.length;
  }
  base_buffer_done(&value);
}

static void out_of_range(struct tql_lexer *lexer, struct tql_token *token, const char *hint) {
  /* A number of a thousand digits is shown by its first ones. */
  size_t length = token->lexeme.length;
  bool whole = length <= 40;
  bad(token, MSG_BAD_NUMBER,
      base_arena_printf(lexer->arena, "%.*s%s is out of range", whole ? (int)length : 20,
                        token->lexeme.text, whole ? "" : "..."),
      hint);
}

static void read_number(struct tql_lexer *lexer, struct tql_token *token, enum tql_shape shape) {
  struct tql_lexeme *lexeme = &token->lexeme;
  if (shape == TQL_LEX_INTEGER) {
    token->kind = TQL_T_INTEGER;
    if (!read_magnitude(lexeme->text, lexeme->length, &lexeme->integer)) {
      out_of_range(lexer, token, "integers have 64 bits");
    }
    return;
  }
  if (shape == TQL_LEX_DURATION) {
    token->kind = TQL_T_DURATION;
    if (!read_duration(lexeme->text, lexeme->length, &lexeme->integer)) {
      out_of_range(lexer, token, "durations are whole nanoseconds, of at most 63 bits");
    }
    return;
  }
  token->kind = TQL_T_FLOAT;
  char *digits = base_arena_strndup(lexer->arena, lexeme->text, lexeme->length);
  errno = 0;
  lexeme->real = strtod(digits, NULL);
  if (errno == ERANGE && (lexeme->real > 1 || lexeme->real == 0)) {
    out_of_range(lexer, token, "floats lie between 5e-324 and 1.797e308");
  }
}

static void read_sign(struct tql_lexer *lexer, struct tql_token *token, size_t end) {
  static const struct {
    char text[3];
    int kind;
  } pairs[] = {{"**", TQL_T_POWER},    {"!=", TQL_T_UNEQUAL}, {"<=", TQL_T_AT_MOST},
               {">=", TQL_T_AT_LEAST}, {"==", TQL_T_FOREIGN}, {"<>", TQL_T_FOREIGN},
               {"&&", TQL_T_FOREIGN},  {"||", TQL_T_FOREIGN}};
  token->kind = (unsigned char)token->lexeme.text[0];
  for (size_t i = 0; token->lexeme.length == 2 && i < sizeof pairs / sizeof pairs[0]; i++) {
    if (memcmp(pairs[i].text, token->lexeme.text, 2) == 0) token->kind = pairs[i].kind;
  }
  if (token->kind == ';' && statement_ends_before(lexer, end)) token->kind = TQL_T_TERMINATOR;
}

static void read_stray(struct tql_lexer *lexer, struct tql_token *token) {
  const char *text = token->lexeme.text;
  size_t sequence = tql_utf8_length(text, token->lexeme.length);
  unsigned char byte = (unsigned char)text[0];
  if (sequence == 0) {
    bad(token, MSG_BAD_TOKEN,
        base_arena_printf(lexer->arena, "the byte 0x%02x, which is not UTF-8", byte),
        "save the text as UTF-8");
  } else if (sequence > 1) {
    bad(token, MSG_BAD_TOKEN,
        base_arena_printf(lexer->arena, "a stray \"%.*s\"", (int)sequence, text),
        "names with other letters than a to z stand in backticks: `Größe`");
  } else if (byte == '`') {
    bad(token, MSG_BAD_TOKEN, "a name in backticks that does not end on its line", NULL);
  } else if (byte < ' ' || byte == 0x7f) {
    bad(token, MSG_BAD_TOKEN, base_arena_printf(lexer->arena, "a stray byte 0x%02x", byte), NULL);
  } else {
    const char *hint = byte == '\'' ? "strings stand in double quotes" : NULL;
    bad(token, MSG_BAD_TOKEN, base_arena_printf(lexer->arena, "a stray \"%c\"", byte), hint);
  }
}

static void read_open(struct tql_lexer *lexer, struct tql_token *token, size_t end,
                      const char *message, const char *hint) {
  bad(token, MSG_BAD_TOKEN, message, hint);
  token->open = end >= lexer->length;
}

static void read_backslash(struct tql_lexer *lexer, struct tql_token *token) {
  token->kind = TQL_T_GO;
  if (token->lexeme.length == 2 && (token->lexeme.text[1] | 0x20) == 'g') return;
  bad(token, MSG_BAD_TOKEN,
      base_arena_printf(lexer->arena, "\"%.*s\" inside a statement",
                        token->lexeme.length > 20 ? 20 : (int)token->lexeme.length,
                        token->lexeme.text),
      "commands with a backslash belong to the shell; a statement ends with \\g");
}

static void read_token(struct tql_lexer *lexer, struct tql_token *token, enum tql_shape shape,
                       size_t end) {
  switch (shape) {
    case TQL_LEX_END:
    case TQL_LEX_BLANK:
      token->kind = TQL_T_END_OF_TEXT;
      break;
    case TQL_LEX_OPEN_COMMENT:
      read_open(lexer, token, end, "a comment without an end", "a comment ends with */");
      break;
    case TQL_LEX_WORD:
      read_word(lexer, token, end);
      break;
    case TQL_LEX_QUOTED_NAME:
      read_quoted_name(lexer, token);
      break;
    case TQL_LEX_OPEN_NAME:
      read_open(lexer, token, end, "a name in backticks without an end", NULL);
      break;
    case TQL_LEX_STRING:
      read_string(lexer, token);
      break;
    case TQL_LEX_OPEN_STRING:
      read_open(lexer, token, end, "a string without an end",
                "a string ends on its line; a new line in it is written \\n");
      break;
    case TQL_LEX_SINGLE_QUOTED:
      token->kind = TQL_T_FOREIGN;
      break;
    case TQL_LEX_BYTES:
      read_bytes(lexer, token);
      break;
    case TQL_LEX_INTEGER:
    case TQL_LEX_FLOAT:
    case TQL_LEX_DURATION:
      read_number(lexer, token, shape);
      break;
    case TQL_LEX_DOTTED_NUMBER:
      bad(token, MSG_BAD_TOKEN, "a number directly before a dot and a word",
          "put the number in parentheses: (8).start");
      break;
    case TQL_LEX_CLOCK:
      token->kind = TQL_T_CLOCK;
      break;
    case TQL_LEX_SIGN:
      read_sign(lexer, token, end);
      break;
    case TQL_LEX_BACKSLASH:
      read_backslash(lexer, token);
      break;
    case TQL_LEX_STRAY:
      read_stray(lexer, token);
      break;
  }
}

/* Moves the lexer over LENGTH bytes. */
static void advance(struct tql_lexer *lexer, size_t length) {
  if (length == 0) return;
  const char *text = lexer->text + lexer->offset, *end = text + length, *line_end;
  while ((line_end = memchr(text, '\n', (size_t)(end - text))) != NULL) {
    lexer->line++;
    lexer->column = 1;
    text = line_end + 1;
  }
  lexer->column += (int)(end - text);
  lexer->offset += length;
}

bool tql_lexer_init(struct tql_lexer *lexer, struct base_arena *arena, const char *text,
                    size_t length, size_t first, size_t limit, int line, int column) {
  *lexer = (struct tql_lexer){.arena = arena,
                              .text = text,
                              .length = length,
                              .limit = limit,
                              .offset = first,
                              .line = line,
                              .column = column};
  BASE_CHECK(first <= limit && limit <= length, "tql-lexer-bounds");
  if (limit - first > INT_MAX - 16) return false;
  lexer->flex = tql_flex_open(text + first, limit - first);
  return lexer->flex != NULL;
}

void tql_lexer_done(struct tql_lexer *lexer) {
  tql_flex_close(lexer->flex);
  lexer->flex = NULL;
}

void tql_lexer_next(struct tql_lexer *lexer, struct tql_token *ret_token) {
  bool rule_name = lexer->previous == TQL_T_RULE; /* which comes after SET only */
  struct tql_token token = {0};
  size_t length = 0;
  enum tql_shape shape;
  while ((shape = tql_flex_next(lexer->flex, rule_name, &length)) == TQL_LEX_BLANK) {
    advance(lexer, length);
  }
  token.lexeme.text = lexer->text + lexer->offset;
  token.lexeme.length = length;
  token.span.first = lexer->offset;
  token.span.range.first_line = lexer->line;
  token.span.range.first_column = lexer->column;
  size_t end = lexer->offset + length;
  read_token(lexer, &token, shape, end);
  advance(lexer, length);
  token.span.last = lexer->offset;
  token.span.range.last_line = lexer->line;
  token.span.range.last_column = lexer->column;
  lexer->previous = token.kind;
  lexer->previous_line = token.span.range.last_line;
  *ret_token = token;
}
