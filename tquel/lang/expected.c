/* What may come next: for completion, and for the words of a syntax error.
 *
 * The automaton itself answers: a token that fits nowhere is pushed, and LAC enumerates those that
 * would have fitted. Where a name fits, every contextual word fits as a name; whether it also means
 * something there is found out by reading the statement again with the word and with a plain name,
 * and comparing what may follow (only for statements up to REPLAY_MAX bytes).
 *
 * In messages, tokens are gathered into classes ("an expression", "a clause") so that the list
 * stays short enough to be read. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/status.h"
#include "tquel/lang/reader.h"
#include "tql_grammar.h"

#define REPLAY_MAX 4096
#define PIECES_MAX 6

/* Spellings of the tokens that fit, pointing to the grammar's own names. */
struct expected {
  const char *names[TQL_TOKENS_MAX];
  size_t count;
  /* where we are */
  int opener, previous;
  size_t depth;
};

struct stretch { /* of a source; begins with a statement */
  const struct base_source *source;
  size_t first, limit;
  bool open_end;
};

static bool has(const struct expected *expected, const char *name) {
  for (size_t i = 0; i < expected->count; i++) {
    if (expected->names[i] != NULL && strcmp(expected->names[i], name) == 0) return true;
  }
  return false;
}

static void take_out(struct expected *expected, const char *name) {
  size_t kept = 0;
  for (size_t i = 0; i < expected->count; i++) {
    if (strcmp(expected->names[i], name) != 0) expected->names[kept++] = expected->names[i];
  }
  expected->count = kept;
}

static void from_parser(const struct tql_reader *reader, struct expected *ret_expected) {
  *ret_expected = (struct expected){.opener = reader->opener.kind,
                                    .previous = reader->previous.kind,
                                    .depth = reader->depth,
                                    .count = reader->parser.expected_count};
  memcpy(ret_expected->names, reader->parser.expected,
         reader->parser.expected_count * sizeof *reader->parser.expected);
}

/* Reads the stretch and asks; WORD, if not NULL, is read after it. False: the end of the stretch
 * cannot be reached or lies in an error. */
static bool ask(const struct stretch *stretch, const struct tql_word *word,
                struct expected *ret_expected) {
  struct base_arena *arena = base_arena_new();
  struct tql_reader reader;
  struct tql_token token;
  bool skipping = false;
  bool ok =
      tql_reader_init(&reader, arena, stretch->source, NULL, stretch->first, stretch->limit, 1, 1);
  reader.lexer.open_end = stretch->open_end;
  while (ok) {
    tql_lexer_next(&reader.lexer, &token);
    if (token.kind == TQL_T_END_OF_TEXT) break;
    if (skipping && !tql_token_opens_statement(token.kind)) continue;
    skipping = token.kind == TQL_BAD || tql_reader_push(&reader, &token) != TQL_STEP_MORE;
    if (skipping) tql_reader_restart(&reader);
  }
  ok = ok && !skipping;
  if (ok && word != NULL) {
    struct tql_token extra = {.kind = word->token,
                              .lexeme.text = word->text,
                              .lexeme.length = strlen(word->text),
                              .span.first = stretch->limit,
                              .span.last = stretch->limit};
    ok = tql_reader_push(&reader, &extra) == TQL_STEP_MORE;
  }
  struct tql_token probe = {.kind = TQL_T_PROBE};
  if (ok) ok = tql_reader_push(&reader, &probe) == TQL_STEP_SYNTAX;
  if (ok) from_parser(&reader, ret_expected);
  tql_reader_done(&reader);
  base_arena_free(arena);
  return ok;
}

static bool same(const struct expected *a, const struct expected *b) {
  return a->count == b->count && memcmp(a->names, b->names, a->count * sizeof a->names[0]) == 0;
}

/* Takes out the words that would be nothing but names after STRETCH. */
static void drop_mere_names(const struct stretch *stretch, struct expected *expected) {
  static const struct tql_word name = {"name", TQL_T_NAME, TQL_WORD_NONE};
  struct expected after_name, after_word;
  if (!has(expected, "name")) return;
  bool replay = stretch->limit - stretch->first <= REPLAY_MAX && ask(stretch, &name, &after_name);
  size_t count;
  const struct tql_word *words = tql_words(&count);
  for (size_t i = 0; i < count; i++) {
    bool contextual = words[i].word_class == TQL_WORD_CONTEXTUAL;
    if (expected->opener == TQL_T_SET) contextual = words[i].word_class != TQL_WORD_STATEMENT;
    if (!contextual || !has(expected, words[i].text)) continue;
    if (replay && expected->opener != TQL_T_SET && ask(stretch, &words[i], &after_word) &&
        !same(&after_name, &after_word)) {
      continue;
    }
    take_out(expected, words[i].text);
  }
}

/* --- completion ------------------------------------------------------------------------------- */

static const char *class_after_opener(const struct expected *expected) {
  int previous = expected->previous;
  bool in_list = expected->depth == 1 && (previous == '(' || previous == ',');
  switch (expected->opener) {
    case TQL_T_RANGE:
      return previous == TQL_T_IS ? "<relation>" : "<variable>";
    case TQL_T_DISPLAY:
    case TQL_T_PRINT:
    case TQL_T_DESTROY:
    case TQL_T_HELP:
    case TQL_T_COPY:
      return "<relation>";
    case TQL_T_SAVE:
    case TQL_T_CHECKPOINT:
      return previous == TQL_T_SAVE || previous == TQL_T_FOR ? "<relation>" : "<name>";
    case TQL_T_MODIFY:
      if (previous == TQL_T_MODIFY) return "<relation>";
      return previous == TQL_T_ON || previous == ',' ? "<domain>" : "<name>";
    case TQL_T_INDEX:
      if (previous == TQL_T_ON) return "<variable>";
      return previous == TQL_T_IS ? "<name>" : "<domain>";
    case TQL_T_CREATE:
      if (previous == ',' && expected->depth == 0) return "<domain>";
      return previous == TQL_T_BY ? "<domain>" : "<name>";
    case TQL_T_APPEND:
      if (previous == TQL_T_APPEND || previous == TQL_T_TO) return "<relation>";
      return in_list ? "<domain>" : "<variable>";
    case TQL_T_REPLACE:
      return in_list ? "<domain>" : "<variable>";
    case TQL_T_DEFINE:
    case TQL_T_SET:
      return "<name>";
    default:
      return "<variable>";
  }
}

static const char *name_class(const struct expected *expected) {
  switch (expected->previous) {
    case '.':
      return "<domain>";
    case TQL_T_RETRIEVE:
    case TQL_T_UNIQUE:
    case TQL_T_COALESCED:
    case TQL_T_INTO:
      return "<name>";
    default:
      return class_after_opener(expected);
  }
}

/* The spelling for completion of the grammar's NAME, NULL for tokens that nobody types. */
static const char *completion(const char *name, const struct expected *expected, char *sign) {
  if (strcmp(name, "name") == 0) return name_class(expected);
  if (strcmp(name, "string") == 0 || strcmp(name, "clock time") == 0) return "<string>";
  if (strcmp(name, "integer") == 0 || strcmp(name, "float") == 0 || strcmp(name, "duration") == 0) {
    return "<number>";
  }
  if (strcmp(name, "bytes constant") == 0) return NULL; /* stands where strings do */
  if (name[0] == '\'') {
    sign[0] = name[1];
    sign[1] = '\0';
    return sign;
  }
  if (strcmp(name, "the end of the text") == 0) return NULL;
  if (strcmp(name, "; at the end") == 0) return ";";
  return name[0] == '.' ? name + 1 : name;
}

static void complete(const struct stretch *stretch,
                     void (*on_word)(void *context, const char *word), void *context) {
  struct expected expected;
  const char *last[2] = {"", ""};
  if (!ask(stretch, NULL, &expected)) return;
  drop_mere_names(stretch, &expected);
  for (size_t i = 0; i < expected.count; i++) {
    char sign[2];
    const char *word = completion(expected.names[i], &expected, sign);
    if (word == NULL || strcmp(word, last[0]) == 0 || strcmp(word, last[1]) == 0) continue;
    on_word(context, word);
    if (word[0] == '<' && word[1] != '\0') last[word[1] == 's'] = word; /* classes come once */
  }
}

void tql_expected(const char *text, size_t length, void (*on_word)(void *context, const char *word),
                  void *context) {
  struct base_source source = {.name = "", .text = text, .length = length};
  struct stretch stretch = {.source = &source, .limit = length};
  complete(&stretch, on_word, context);
  while (length > 0 &&
         (text[length - 1] == ' ' || (text[length - 1] >= '\t' && text[length - 1] <= '\r'))) {
    length--;
  }
  if (length == 0 || text[length - 1] != ';') return;
  /* The `;` may end the statement or be an operator. */
  stretch.open_end = true;
  complete(&stretch, on_word, context);
}

/* --- the words of a syntax error -------------------------------------------------------------- */

struct pieces {
  const char *items[TQL_TOKENS_MAX];
  size_t count;
};

static void add_piece(struct pieces *pieces, const char *piece) {
  pieces->items[pieces->count++] = piece;
}

static const char *const operand_names[] = {
    "name", "string", "integer", "float", "duration", "true", "false",          "not", "'('", "'-'",
    "'+'",  "begin",  "end",     "start", "stop",     "last", "bytes constant",
};
static const char *const operator_names[] = {
    "and",    "or",      "**",    "!=",      "<=",  ">=",      "'='",     "'<'",
    "'>'",    "'+'",     "'-'",   "'*'",     "'/'", "'|'",     "';'",     "overlap",
    "extend", "precede", "equal", "contain", "in",  "between", "matches", "not",
};
static const char *const clause_names[] = {"where", "when", "start",  "stop",  "at",
                                           "valid", "sort", "offset", "limit", "unless"};

#define COUNT_OF(ARRAY) (sizeof(ARRAY) / sizeof(ARRAY)[0])

/* If at least LEAST of the NAMES are expected, CLASS_NAME takes their place. */
static bool gather(struct expected *expected, struct pieces *pieces, const char *const *names,
                   size_t count, size_t least, const char *class_name) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++) found += has(expected, names[i]);
  if (found < least) return false;
  for (size_t i = 0; i < count; i++) take_out(expected, names[i]);
  add_piece(pieces, class_name);
  return true;
}

/* Words that open a statement, \g and the end of the text. */
static void gather_end(struct expected *expected, struct pieces *pieces, bool at_beginning) {
  if (!has(expected, "the end of the text")) return;
  size_t count;
  const struct tql_word *words = tql_words(&count);
  for (size_t i = 0; i < count; i++) {
    if (words[i].word_class == TQL_WORD_STATEMENT) take_out(expected, words[i].text);
  }
  take_out(expected, "the end of the text");
  take_out(expected, "; at the end");
  take_out(expected, "\\g");
  add_piece(pieces, at_beginning ? "a statement" : "the end of the statement");
}

static const char *piece_of(struct base_arena *arena, const char *name) {
  if (strcmp(name, "name") == 0) return "a name";
  if (strcmp(name, "string") == 0) return "a string";
  if (strcmp(name, "integer") == 0) return "an integer";
  if (strcmp(name, "float") == 0) return "a float";
  if (strcmp(name, "duration") == 0) return "a duration";
  if (strcmp(name, "clock time") == 0) return "a clock time";
  if (strcmp(name, "bytes constant") == 0) return "a constant of bytes";
  if (name[0] == '\'') return base_arena_printf(arena, "\"%c\"", name[1]);
  return base_arena_printf(arena, "\"%s\"", name[0] == '.' ? name + 1 : name);
}

/* "A, B or C" */
static const char *word_list(struct base_arena *arena, struct expected *expected,
                             bool at_beginning) {
  struct pieces classes = {.count = 0}, all = {.count = 0};
  if (has(expected, "'('") && has(expected, "integer")) {
    gather(expected, &classes, operand_names, COUNT_OF(operand_names), 1, "an expression");
  } else {
    if (gather(expected, &classes, operator_names, COUNT_OF(operator_names), 3, "an operator")) {
      take_out(expected, "'.'");
      take_out(expected, "'('");
    }
    gather(expected, &classes, clause_names, COUNT_OF(clause_names), 2, "a clause");
  }
  gather_end(expected, &classes, at_beginning);
  for (size_t i = 0; i < expected->count; i++) add_piece(&all, piece_of(arena, expected->names[i]));
  for (size_t i = 0; i < classes.count; i++) add_piece(&all, classes.items[i]);
  if (all.count == 0) return "nothing";
  if (all.count > PIECES_MAX) {
    all.count = PIECES_MAX;
    add_piece(&all, "another word");
  }
  const char *list = all.items[0];
  for (size_t i = 1; i < all.count; i++) {
    list = base_arena_printf(arena, i + 1 == all.count ? "%s or %s" : "%s, %s", list, all.items[i]);
  }
  return list;
}

static const char *offender(const struct tql_reader *reader, const struct tql_token *token) {
  if (token->kind == TQL_T_END_OF_TEXT) return "the end of the text";
  const char *text = reader->parser.text + token->span.first;
  size_t length = token->span.last - token->span.first, shown = 0;
  while (shown < length && shown < 40) {
    size_t step = tql_utf8_length(text + shown, length - shown);
    shown += step == 0 ? 1 : step;
  }
  const char *format =
      token->kind == TQL_T_STRING && text[0] == '"' ? "the string %.*s%s" : "\"%.*s%s\"";
  return base_arena_printf(reader->parser.arena, format, (int)shown, text,
                           shown < length ? "..." : "");
}

/* --- hints ------------------------------------------------------------------------------------ */

/* What an error knows: the token, what was expected in its place, and the statement so far. */
struct error {
  struct tql_reader *reader;
  const struct tql_token *token;
  const struct expected *expected; /* all of it, nothing gathered */
};

static const char *slice(const struct error *error, const struct tql_token *token) {
  return base_arena_strndup(error->reader->parser.arena,
                            error->reader->parser.text + token->span.first,
                            token->span.last - token->span.first);
}

static bool token_is(const struct error *error, const char *text) {
  size_t length = error->token->span.last - error->token->span.first;
  return strlen(text) == length &&
         strncasecmp(error->reader->parser.text + error->token->span.first, text, length) == 0;
}

static const char *hint_foreign(const struct error *error) {
  if (error->token->kind != TQL_T_FOREIGN) return NULL;
  if (token_is(error, "==")) return "equality is written =";
  if (token_is(error, "<>")) return "inequality is written !=";
  if (token_is(error, "&&")) return "write: and";
  if (token_is(error, "||")) return "write: or";
  return "strings stand in double quotes";
}

static const char *hint_sql(const struct error *error) {
  static const struct {
    const char *word, *hint;
  } rows[] = {
      {"select", "TQuel asks with: range of V is RELATION retrieve (V.domain, ...) where ..."},
      {"insert", "write: append to RELATION (domain = value, ...)"},
      {"update", "write: replace V (domain = value, ...) where ..."},
      {"drop", "write: destroy RELATION"},
      {"show", "\\d lists the relations, \\d RELATION the domains of one"},
      {"describe", "\\d lists the relations, \\d RELATION the domains of one"},
      {"alter", "write: modify RELATION to ..."},
      {"with", "write first: retrieve into NAME (...), and then: range of V is NAME"},
      {"order", "write: sort by ELEMENT descending, ..."},
      {"group", "write: retrieve summary (V.domain, n = count(V by V.domain))"},
      {"having", "write: retrieve summary (V.domain, n = count(V by V.domain)) where n > 10"},
      {"top", "write: sort by ELEMENT descending limit N"},
      {"fetch", "write: limit N"},
      {"quit", "leave the shell with \\q"},
      {"exit", "leave the shell with \\q"},
  };
  if (error->reader->opener.kind == TQL_T_RETRIEVE && error->token->kind == TQL_T_FROM) {
    return "a tuple variable is declared before it is used: range of V is RELATION";
  }
  if (error->reader->opener.kind != 0 && !has(error->expected, "retrieve")) return NULL;
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    if (token_is(error, rows[i].word)) return rows[i].hint;
  }
  return NULL;
}

/* Does a query of its own stand in parentheses, behind exists or in? */
static bool is_in_subquery(const struct error *error) {
  const struct tql_reader *reader = error->reader;
  struct tql_lexer lexer;
  struct tql_token token;
  bool behind = false, opened = false, query = false;
  size_t limit = error->token->span.last;
  if (reader->opener.kind == 0 || limit - reader->opener.span.first > REPLAY_MAX) return false;
  if (!tql_lexer_init(&lexer, reader->parser.arena, reader->lexer.text, reader->lexer.length,
                      reader->opener.span.first, limit, 1, 1))
    return false;
  for (tql_lexer_next(&lexer, &token); token.kind != TQL_T_END_OF_TEXT && token.kind != TQL_BAD;
       tql_lexer_next(&lexer, &token)) {
    const char *text = slice(error, &token);
    query |= opened && (token.kind == TQL_T_RETRIEVE || strcasecmp(text, "select") == 0);
    opened = behind && token.kind == '(';
    behind = token.kind == TQL_T_IN || strcasecmp(text, "exists") == 0;
  }
  tql_lexer_done(&lexer);
  return query;
}

/* not exists ..., not in (select ...), except, left join: what is asked of others by what is absent. */
static const char *hint_absence(const struct error *error) {
  static const char none[] =
      "for what has no partner, write: unless W where W.domain = V.domain (help \"unless\")";
  static const char either[] =
      "a condition has no query in it: what has a partner is where V.domain = W.domain, what has "
      "none is unless W where W.domain = V.domain (help \"unless\")";
  static const char *const words[] = {"except", "minus", "left", "outer", "anti", "without"};
  const struct tql_token *before = &error->reader->previous;
  if (error->token->kind == TQL_T_UNLESS)
    return "unless is a clause of retrieve and of define view, before sort by and limit; what is "
           "to go on with such a result ranges over a view of it";
  if (before->kind == TQL_T_NAME && strcasecmp(slice(error, before), "exists") == 0) return either;
  if (before->kind == TQL_T_UNLESS)
    return "behind unless stands one tuple variable, and then its conditions: unless W where ... "
           "when ...";
  for (size_t i = 0; has(error->expected, "unless") && i < COUNT_OF(words); i++)
    if (token_is(error, words[i])) return none;
  return is_in_subquery(error) ? either : NULL;
}

/* How others say what is said of times: Allen's relations, SQL's periods. Where a condition on times may go on. */
static const char *hint_times(const struct error *error) {
  static const char within[] =
      "write: B contain A, if all of A is to be within B; A overlap B, if some of it is. A date is "
      "an instant; the day is (\"2026-11-28\" extend \"2026-11-29\")";
  static const struct {
    const char *word, *hint;
  } rows[] = {
      {"during", within},
      {"inside", within},
      {"while", "write: A overlap B"},
      {"before", "write: A precede B, or A ; B if time is to pass between them"},
      {"after", "write: B precede A, or B ; A if time is to pass between them"},
      {"meets", "write: A.stop equal B.start"},
      {"starts", "write: A.start equal B.start and B contain A"},
      {"finishes", "write: A.stop equal B.stop and B contain A"},
      {"since", "write: (\"10:00\" extend forever) contain A"},
  };
  if (!has(error->expected, "precede")) return NULL;
  for (size_t i = 0; i < COUNT_OF(rows); i++)
    if (token_is(error, rows[i].word)) return rows[i].hint;
  return NULL;
}

/* count(*), create table R (...), V.x is null. */
static const char *hint_sql_within(const struct error *error) {
  const struct tql_token *before = &error->reader->previous;
  if (error->token->kind == '*' && before->kind == '(' && error->reader->depth > 0)
    return "tuples are counted by their variable: count(V)";
  if (error->reader->opener.kind == TQL_T_CREATE && before->kind == TQL_T_NAME &&
      strcasecmp(slice(error, before), "table") == 0)
    return "write: create event NAME (domain = type, ...); or create period, traced or snapshot";
  if (token_is(error, "is") && error->reader->depth == 0 && has(error->expected, "'='"))
    return "each domain has a value, there is no null; equality is written =";
  return NULL;
}

/* Of the words expected the one nearest to what TOKEN says. */
static const char *nearest(const struct error *error, const struct tql_token *token,
                           const struct expected *expected) {
  const char *words[TQL_TOKENS_MAX];
  size_t count = 0;
  if (token->kind != TQL_T_NAME || token->lexeme.quoted) return NULL;
  if (token->lexeme.length < 3 || token->lexeme.length > 20) return NULL;
  for (size_t i = 0; i < expected->count; i++) {
    const char *name = expected->names[i];
    if (name[0] == '.') name++;
    if (tql_word_find(name, strlen(name)) != NULL) words[count++] = name;
  }
  /* "wher" is nearer to "where" than to "when". */
  for (size_t i = 0; i < count; i++) {
    if (strncasecmp(words[i], token->lexeme.text, token->lexeme.length) == 0) return words[i];
  }
  return base_nearest(slice(error, token), words, count);
}

static const char *hint_misspelt(const struct error *error) {
  const char *word = nearest(error, error->token, error->expected);
  if (word == NULL) return NULL;
  return base_arena_printf(error->reader->parser.arena, "did you mean \"%s\"?", word);
}

/* create evnt R: the mistake is the word before. */
static const char *hint_misspelt_before(const struct error *error) {
  const struct tql_reader *reader = error->reader;
  struct stretch stretch = {.source = reader->parser.source,
                            .first = reader->opener.span.first,
                            .limit = reader->previous.span.first,
                            .open_end = true};
  struct expected before;
  if (reader->opener.kind == 0 || reader->previous.kind != TQL_T_NAME) return NULL;
  if (stretch.limit - stretch.first > REPLAY_MAX || !ask(&stretch, NULL, &before)) return NULL;
  const char *word = nearest(error, &reader->previous, &before);
  if (word == NULL) return NULL;
  return base_arena_printf(reader->parser.arena, "did you mean \"%s\" instead of \"%s\"?", word,
                           slice(error, &reader->previous));
}

/* display A; retreive ...: the word after it was meant to open a statement. */
static const char *hint_semicolon(const struct error *error) {
  const struct tql_reader *reader = error->reader;
  if (error->token->kind != ';') return NULL;
  struct tql_lexer lexer;
  struct tql_token next;
  size_t first = error->token->span.last, count, openers = 0;
  size_t limit = reader->lexer.length - first > 100 ? first + 100 : reader->lexer.length;
  const struct tql_word *words = tql_words(&count);
  const char *candidates[TQL_TOKENS_MAX], *nearest_word = NULL;
  for (size_t i = 0; i < count; i++) {
    if (words[i].word_class == TQL_WORD_STATEMENT) candidates[openers++] = words[i].text;
  }
  if (tql_lexer_init(&lexer, reader->parser.arena, reader->lexer.text, reader->lexer.length, first,
                     limit, 1, 1)) {
    tql_lexer_next(&lexer, &next);
    if (next.kind == TQL_T_NAME && next.lexeme.length <= 20) {
      nearest_word = base_nearest(slice(error, &next), candidates, openers);
    }
    tql_lexer_done(&lexer);
  }
  if (nearest_word == NULL) {
    return "a ; ends a statement only directly before a statement's keyword, \\g or the end";
  }
  return base_arena_printf(reader->parser.arena, "did you mean \"%s\" instead of \"%s\"?",
                           nearest_word, slice(error, &next));
}

static const char *hint_unit(const struct error *error) {
  const struct tql_token *previous = &error->reader->previous;
  if (error->token->kind != TQL_T_NAME) return NULL;
  if (previous->kind != TQL_T_INTEGER && previous->kind != TQL_T_FLOAT) return NULL;
  return "the units of durations are ns, us, ms, s, min, h, d and week, on the number's own line";
}

static const char *hint_keyword_as_name(const struct error *error) {
  const struct tql_token *token = error->token;
  size_t length = token->span.last - token->span.first;
  const struct tql_word *word =
      tql_word_find(error->reader->parser.text + token->span.first, length);
  if (word == NULL || !has(error->expected, "name")) return NULL;
  bool new_line = token->span.range.first_line > error->reader->previous.span.range.last_line;
  if (new_line && word->word_class == TQL_WORD_STATEMENT) return NULL;
  /* sort by p.start: elsewhere it is an accessor. */
  if (error->reader->previous.kind == '.' && tql_is_accessor(word->text))
    return "a result has times of its own: sort by start, stop or at";
  return base_arena_printf(error->reader->parser.arena,
                           "\"%s\" is a keyword; as a name it stands in backticks: `%s`",
                           word->text, slice(error, token));
}

static const char *hint_parenthesis(const struct error *error) {
  const struct tql_reader *reader = error->reader;
  if (error->token->kind == ')' && reader->depth == 0) return "there is no \"(\" before it";
  if (reader->depth == 0 || !has(error->expected, "')'")) return NULL;
  const struct tql_word *word = tql_word_find(reader->parser.text + error->token->span.first,
                                              error->token->span.last - error->token->span.first);
  if (error->token->kind != TQL_T_END_OF_TEXT && error->token->kind != TQL_T_GO &&
      error->token->kind != TQL_T_TERMINATOR && word == NULL) {
    return NULL;
  }
  const struct base_range *open = &reader->open[reader->depth - 1].range;
  return base_arena_printf(reader->parser.arena, "the \"(\" in line %d, column %d is still open",
                           open->first_line, open->first_column);
}

/* where e.s like "a%": words that other languages compare strings with, behind an operand. */
static const char *hint_matching(const struct error *error) {
  static const char *const words[] = {"like", "ilike", "regexp", "rlike", "glob"};
  bool word = error->token->kind == TQL_T_NAME || error->token->kind == TQL_T_LIKE;
  if (!word || !has(error->expected, "'='") || has(error->expected, "is")) return NULL;
  for (size_t i = 0; i < COUNT_OF(words); i++) {
    if (token_is(error, words[i]))
      return "a string is compared with a pattern by =, where * and ? stand for other characters: "
             "where e.s = \"a*\"; with a regular expression by matches: where e.s matches \"^a\"";
  }
  return NULL;
}

/* What stands for one of a unit in English: each second. */
static const char *unit_of(const struct error *error) {
  static const struct {
    const char *word, *duration;
  } rows[] = {{"second", "1 s"}, {"minute", "1 min"}, {"hour", "1 h"},
              {"day", "1 d"},    {"week", "1 week"},  {"millisecond", "1 ms"}};
  for (size_t i = 0; i < COUNT_OF(rows); i++)
    if (token_is(error, rows[i].word)) return rows[i].duration;
  return NULL;
}

/* count(p for 5); count(p for each -5): there, no number but an integer is expected. */
static const char *hint_window(const struct error *error) {
  if (has(error->expected, "each") && !has(error->expected, "name"))
    return "a window is for each 5, for each 10 s, for each instant or for ever";
  if (!has(error->expected, "duration") || !has(error->expected, "instant")) return NULL;
  if (has(error->expected, "float") || has(error->expected, "on")) return NULL; /* modify */
  const char *one = unit_of(error);
  if (one != NULL)
    return base_arena_printf(error->reader->parser.arena, "a window is so many units: for each %s",
                             one);
  return "a window is longer than nothing: for each 5, for each 10 s; or for each instant";
}

static bool is_calculation(int kind) {
  return kind == TQL_T_INTEGER || kind == TQL_T_FLOAT || kind == TQL_T_DURATION || kind == '+' ||
         kind == '-' || kind == '*' || kind == '/' || kind == '(' || kind == ')';
}

/* A number, and behind it a word that is no unit: what is to be a duration was taken for a number and a name. */
static const char *not_a_unit(const struct error *error) {
  return base_arena_printf(
      error->reader->parser.arena,
      "\"%s\" is no unit: those of durations are ns, us, ms, s, min, h, d and week",
      slice(error, &error->reader->previous));
}

/* a ; within -5 ms b: the word was taken for a name, and what is wrong shows behind the calculation only. */
static const char *hint_distance(const struct error *error) {
  const struct tql_reader *reader = error->reader;
  struct tql_lexer lexer;
  struct tql_token token;
  bool sought = false, first = false, number = false, word = false;
  int before = 0;
  size_t limit = error->token->span.first;
  if (error->token->kind == TQL_T_WITHIN && has(error->expected, "';'"))
    return "a sequence says how far apart its parts may be: A ; within 5 ms B";
  if (reader->opener.kind == 0 || limit - reader->opener.span.first > REPLAY_MAX) return NULL;
  if (!tql_lexer_init(&lexer, reader->parser.arena, reader->lexer.text, reader->lexer.length,
                      reader->opener.span.first, limit, 1, 1))
    return NULL;
  for (tql_lexer_next(&lexer, &token); token.kind != TQL_T_END_OF_TEXT && token.kind != TQL_BAD;
       tql_lexer_next(&lexer, &token)) {
    bool taken = first && (token.kind == TQL_T_INTEGER || token.kind == TQL_T_DURATION);
    word = number && token.kind == TQL_T_NAME;
    number = first && token.kind == TQL_T_INTEGER;
    first = token.kind == TQL_T_WITHIN && (before == ';' || reader->opener.kind == TQL_T_COPY);
    sought = first || (sought && !taken && is_calculation(token.kind));
    before = token.kind;
  }
  tql_lexer_done(&lexer);
  if (word && error->token->kind == TQL_T_NAME) return not_a_unit(error);
  return sought ? "after within stands a duration or an integer, with no sign: within 5 ms" : NULL;
}

/* What stands in parentheses of its own is no element. */
static const char *hint_target(const struct error *error) {
  const struct tql_reader *reader = error->reader;
  int opener = reader->opener.kind;
  if (opener != TQL_T_RETRIEVE && opener != TQL_T_APPEND && opener != TQL_T_REPLACE) return NULL;
  if (reader->depth != 1) return NULL;
  if (has(error->expected, "'='") && has(error->expected, "is")) {
    return "an element is written name = expression, or V.domain, or V.all";
  }
  int kind = error->token->kind;
  bool operation = kind == '+' || kind == '-' || kind == '*' || kind == '/' || kind == TQL_T_POWER;
  if (!operation && !(has(error->expected, "name") && !has(error->expected, "integer")))
    return NULL;
  return "an element that is not V.domain needs a name: name = expression";
}

static const char *hint_of(const struct error *error) {
  static const char *(*const makers[])(const struct error *) = {
      hint_foreign,         hint_absence,  hint_sql,         hint_times,
      hint_sql_within,      hint_matching, hint_semicolon,   hint_misspelt,
      hint_distance,        hint_unit,     hint_parenthesis, hint_keyword_as_name,
      hint_misspelt_before, hint_window,   hint_target,
  };
  for (size_t i = 0; i < COUNT_OF(makers); i++) {
    const char *hint = makers[i](error);
    if (hint != NULL) return hint;
  }
  return NULL;
}

/* What the text lacks at its end is marked behind its last word, not on the empty line after it. */
static struct base_range place_of(const struct tql_reader *reader, const struct tql_token *token) {
  struct base_range range = token->span.range;
  if (token->kind != TQL_T_END_OF_TEXT || reader->previous.kind == 0) return range;
  range.first_line = range.last_line = reader->previous.span.range.last_line;
  range.first_column = range.last_column = reader->previous.span.range.last_column;
  return range;
}

void tql_report_syntax(struct tql_reader *reader, const struct tql_token *token) {
  if (reader->parser.diags == NULL) return;
  struct expected expected, all;
  from_parser(reader, &expected);
  all = expected;
  bool at_beginning = reader->opener.kind == 0;
  struct stretch stretch = {.source = reader->parser.source,
                            .first = reader->opener.span.first,
                            .limit = token->span.first,
                            .open_end = true};
  if (!at_beginning) drop_mere_names(&stretch, &expected);
  struct error error = {.reader = reader, .token = token, .expected = &all};
  const char *hint = hint_of(&error);
  const char *list = word_list(reader->parser.arena, &expected, at_beginning);
  struct base_range range = place_of(reader, token);
  tql_fail(&reader->parser, MSG_SYNTAX, &range, hint, "%s where %s was expected",
           offender(reader, token), list);
}
