/* Names, lists and expressions of the syntax tree.
 *
 * Every expression knows its depth; a tree deeper than TQL_DEPTH_MAX is refused here, whether it
 * got deep by parentheses or by a long chain of operators, so that no walk over a tree can overflow
 * the stack. A minus directly before a number is part of the number. */
#include "tquel/lang/ast_build.h"

#include <stdarg.h>
#include <string.h>

#include "engine/base/status.h"

struct tql_span tql_span_join(const struct tql_span *first, const struct tql_span *last) {
  struct tql_span span = *first;
  span.last = last->last;
  span.range.last_line = last->range.last_line;
  span.range.last_column = last->range.last_column;
  return span;
}

struct tql_span tql_span_after(const struct tql_span *span) {
  struct tql_span after = *span;
  after.first = span->last;
  after.range.first_line = span->range.last_line;
  after.range.first_column = span->range.last_column;
  return after;
}

void tql_fail(struct tql_parser *parser, enum base_message number, const struct base_range *range,
              const char *hint, const char *format, ...) {
  bool first = !parser->failed;
  parser->failed = true;
  if (parser->diags == NULL || !first) return;
  va_list args;
  va_start(args, format);
  const char *message = base_arena_vprintf(parser->arena, format, args);
  va_end(args);
  if (hint != NULL)
    base_report_hint(parser->diags, number, parser->source, range, hint, "%s", message);
  else
    base_report(parser->diags, number, parser->source, range, "%s", message);
}

/* --- lists and names -------------------------------------------------------------------------- */

struct tql_list *tql_list_empty(struct tql_parser *parser) {
  return BASE_NEW(parser->arena, struct tql_list);
}

struct tql_list *tql_list_add(struct tql_parser *parser, struct tql_list *list, size_t size,
                              const void *item) {
  if (list == NULL) list = tql_list_empty(parser);
  if (list->count == list->capacity) {
    size_t capacity = list->capacity == 0 ? 4 : list->capacity * 2;
    void *items = base_arena_array(parser->arena, capacity, size);
    if (list->count > 0) memcpy(items, list->items, list->count * size);
    list->items = items;
    list->capacity = capacity;
  }
  memcpy((char *)list->items + list->count * size, item, size);
  list->count++;
  return list;
}

static struct tql_expr_list expr_list(const struct tql_list *list) {
  if (list == NULL) return (struct tql_expr_list){0};
  return (struct tql_expr_list){.items = list->items, .count = list->count};
}

struct tql_name tql_name(struct tql_parser *parser, const struct tql_span *span,
                         const struct tql_lexeme *lexeme) {
  return (struct tql_name){.text = base_arena_strndup(parser->arena, lexeme->text, lexeme->length),
                           .range = span->range};
}

struct tql_name tql_name_of_string(struct tql_parser *parser, const struct tql_span *span,
                                   const struct tql_lexeme *string) {
  if (string->length == 0 || memchr(string->text, '\0', string->length) != NULL) {
    tql_fail(parser, MSG_BAD_TOKEN, &span->range, NULL,
             "an empty string, or a zero byte in a string, "
             "where a name was expected");
  }
  return tql_name(parser, span, string);
}

/* --- expressions ------------------------------------------------------------------------------ */

void tql_check_minimum(struct tql_parser *parser) {
  if (parser->minimum == NULL) return;
  const struct base_range range = parser->minimum->range;
  parser->minimum = NULL;
  tql_fail(parser, MSG_BAD_NUMBER, &range, "integers have 64 bits",
           "9223372036854775808 is out of range");
}

static struct tql_expr *new_expr(struct tql_parser *parser, enum tql_expr_kind kind,
                                 const struct tql_span *span) {
  tql_check_minimum(parser);
  struct tql_expr *expr = BASE_NEW(parser->arena, struct tql_expr);
  expr->kind = kind;
  expr->range = span->range;
  expr->depth = 1;
  return expr;
}

/* EXPR gets CHILD, which may be NULL, below it. */
static void deepen(struct tql_parser *parser, struct tql_expr *expr, const struct tql_expr *child) {
  if (child == NULL || child->depth < expr->depth) return;
  expr->depth = child->depth + 1;
  if (expr->depth > TQL_DEPTH_MAX) {
    tql_fail(parser, MSG_TOO_NESTED, &expr->range, "name a part of it as a derived relation",
             "an expression nested more than %d deep", TQL_DEPTH_MAX);
  }
}

static void deepen_list(struct tql_parser *parser, struct tql_expr *expr,
                        const struct tql_expr_list *list) {
  for (size_t i = 0; i < list->count; i++) deepen(parser, expr, list->items[i]);
}

static bool is_number(const struct tql_expr *expr) {
  return expr->kind == TQL_E_INTEGER || expr->kind == TQL_E_FLOAT || expr->kind == TQL_E_DURATION;
}

/* -5 is a number, -(5) an operator and a number. */
static struct tql_expr *negate_literal(struct tql_parser *parser, struct tql_expr *number,
                                       const struct tql_span *span) {
  parser->minimum = NULL;
  /* INT64_MIN stands for the magnitude 2^63, whose negation it is. */
  if (number->integer != INT64_MIN) number->integer = -number->integer;
  if (number->real != 0) number->real = -number->real;
  number->range = span->range;
  if (number->kind == TQL_E_DURATION) {
    number->name.text = base_arena_printf(parser->arena, "-%s", number->name.text);
    number->name.range = span->range;
  }
  return number;
}

static bool is_negative(const struct tql_expr *number) {
  return number->integer < 0 || number->real < 0;
}

struct tql_expr *tql_build_expr(struct tql_parser *parser, enum tql_expr_kind kind,
                                const struct tql_span *span, struct tql_expr *left,
                                struct tql_expr *right) {
  if (kind == TQL_E_NEGATE && is_number(left) && !left->parenthesised &&
      (!is_negative(left) || left == parser->minimum)) {
    return negate_literal(parser, left, span);
  }
  struct tql_expr *expr = new_expr(parser, kind, span);
  expr->left = left;
  expr->right = right;
  deepen(parser, expr, left);
  deepen(parser, expr, right);
  return expr;
}

/* In halves, so that a long list is not deep. */
static struct tql_expr *any_of(struct tql_parser *parser, const struct tql_span *span,
                               struct tql_expr *expr, struct tql_expr **alternatives,
                               size_t count) {
  if (count == 1) return tql_build_expr(parser, TQL_E_EQ, span, expr, alternatives[0]);
  struct tql_expr *left = any_of(parser, span, expr, alternatives, count / 2);
  struct tql_expr *right = any_of(parser, span, expr, alternatives + count / 2, count - count / 2);
  return tql_build_expr(parser, TQL_E_OR, span, left, right);
}

struct tql_expr *tql_build_in(struct tql_parser *parser, const struct tql_span *span,
                              struct tql_expr *expr, const struct tql_list *alternatives) {
  return any_of(parser, span, expr, alternatives->items, alternatives->count);
}

struct tql_expr *tql_build_between(struct tql_parser *parser, const struct tql_span *span,
                                   struct tql_expr *expr, struct tql_expr *first,
                                   struct tql_expr *last) {
  struct tql_expr *from = tql_build_expr(parser, TQL_E_GE, span, expr, first);
  return tql_build_expr(parser, TQL_E_AND, span, from,
                        tql_build_expr(parser, TQL_E_LE, span, expr, last));
}

struct tql_expr *tql_build_within(struct tql_parser *parser, const struct tql_span *span,
                                  struct tql_expr *left, struct tql_expr *within,
                                  struct tql_expr *right) {
  struct tql_expr *expr = tql_build_expr(parser, TQL_E_SEQUENCE, span, left, right);
  expr->within = within;
  return expr;
}

struct tql_expr *tql_build_chosen(struct tql_parser *parser, const struct tql_span *span,
                                  struct tql_expr *left, struct tql_expr *within,
                                  struct tql_expr *right, enum tql_sequence_choice choice) {
  struct tql_expr *expr = tql_build_within(parser, span, left, within, right);
  expr->choice = choice;
  return expr;
}

struct tql_expr *tql_build_last(struct tql_parser *parser, const struct tql_span *span,
                                const struct tql_span *duration_span,
                                const struct tql_lexeme *duration) {
  const struct tql_name now = {.text = "now", .range = span->range};
  struct tql_expr *length = tql_build_literal(parser, TQL_E_DURATION, duration_span, duration);
  struct tql_expr *from =
      tql_build_expr(parser, TQL_E_SUB, span, tql_build_name(parser, span, &now), length);
  return tql_build_expr(parser, TQL_E_EXTEND, span, from, tql_build_name(parser, span, &now));
}

struct tql_expr *tql_build_literal(struct tql_parser *parser, enum tql_expr_kind kind,
                                   const struct tql_span *span, const struct tql_lexeme *lexeme) {
  struct tql_expr *expr = new_expr(parser, kind, span);
  expr->real = lexeme->real;
  if (lexeme->integer > (uint64_t)INT64_MAX) {
    expr->integer = INT64_MIN;
    parser->minimum = expr;
  } else {
    expr->integer = (int64_t)lexeme->integer;
  }
  if (kind == TQL_E_STRING || kind == TQL_E_BYTES || kind == TQL_E_DURATION) {
    expr->name = tql_name(parser, span, lexeme);
    expr->length = lexeme->length;
  }
  return expr;
}

struct tql_expr *tql_build_negative(struct tql_parser *parser, const struct tql_span *span,
                                    enum tql_expr_kind kind, const struct tql_span *number_span,
                                    const struct tql_lexeme *lexeme) {
  struct tql_expr *number = tql_build_literal(parser, kind, number_span, lexeme);
  return negate_literal(parser, number, span);
}

struct tql_expr *tql_build_truth(struct tql_parser *parser, const struct tql_span *span,
                                 bool truth) {
  struct tql_expr *expr = new_expr(parser, TQL_E_BOOL, span);
  expr->integer = truth;
  return expr;
}

struct tql_expr *tql_build_name(struct tql_parser *parser, const struct tql_span *span,
                                const struct tql_name *name) {
  struct tql_expr *expr = new_expr(parser, TQL_E_NAME, span);
  expr->name = *name;
  return expr;
}

struct tql_expr *tql_build_domain(struct tql_parser *parser, const struct tql_span *span,
                                  const struct tql_name *name, const struct tql_lexeme *domain,
                                  const struct tql_span *domain_span) {
  struct tql_expr *expr = new_expr(parser, TQL_E_DOMAIN, span);
  expr->name = *name;
  expr->member = tql_name(parser, domain_span, domain);
  return expr;
}

struct tql_expr *tql_build_all(struct tql_parser *parser, const struct tql_span *span,
                               const struct tql_name *name) {
  struct tql_expr *expr = new_expr(parser, TQL_E_ALL, span);
  expr->name = *name;
  return expr;
}

struct tql_expr *tql_build_access(struct tql_parser *parser, enum tql_expr_kind kind,
                                  const struct tql_span *span, const struct tql_name *name,
                                  const struct tql_span *name_span) {
  return tql_build_expr(parser, kind, span, tql_build_name(parser, name_span, name), NULL);
}

struct tql_expr *tql_build_parentheses(struct tql_parser *parser, const struct tql_span *span,
                                       struct tql_expr *expr) {
  tql_check_minimum(parser);
  expr->parenthesised = true;
  expr->range = span->range;
  return expr;
}

/* --- calls ------------------------------------------------------------------------------------ */

static void once(struct tql_parser *parser, const struct tql_span *at, bool given,
                 const char *clause) {
  if (!given) return;
  tql_fail(parser, MSG_SYNTAX, &at->range, "a tail stands at most once in an aggregate",
           "a second \"%s\" where \")\" was expected", clause);
}

struct tql_call_tail *tql_call_tail_new(struct tql_parser *parser) {
  return BASE_NEW(parser->arena, struct tql_call_tail);
}

struct tql_call_tail *tql_call_by(struct tql_parser *parser, struct tql_call_tail *tail,
                                  const struct tql_span *at, struct tql_list *by) {
  once(parser, at, tail->by != NULL, "by");
  tail->by = by;
  return tail;
}

struct tql_call_tail *tql_call_where(struct tql_parser *parser, struct tql_call_tail *tail,
                                     const struct tql_span *at, struct tql_expr *where) {
  once(parser, at, tail->where != NULL, "where");
  tail->where = where;
  return tail;
}

struct tql_call_tail *tql_call_when(struct tql_parser *parser, struct tql_call_tail *tail,
                                    const struct tql_span *at, struct tql_expr *when) {
  once(parser, at, tail->when != NULL, "when");
  tail->when = when;
  return tail;
}

struct tql_call_tail *tql_call_for(struct tql_parser *parser, struct tql_call_tail *tail,
                                   const struct tql_span *at, enum tql_tail kind,
                                   struct tql_expr *within) {
  once(parser, at, tail->tail != TQL_TAIL_NONE, "for");
  tail->tail = kind;
  tail->within = within;
  return tail;
}

struct tql_expr *tql_build_call(struct tql_parser *parser, const struct tql_span *span,
                                const struct tql_name *name, const struct tql_list *arguments,
                                const struct tql_call_tail *tail) {
  struct tql_expr *expr = new_expr(parser, TQL_E_CALL, span);
  expr->name = *name;
  expr->args = expr_list(arguments);
  if (tail != NULL) {
    expr->by = expr_list(tail->by);
    expr->where = tail->where;
    expr->when = tail->when;
    expr->tail = tail->tail;
    expr->within = tail->within;
  }
  deepen_list(parser, expr, &expr->args);
  deepen_list(parser, expr, &expr->by);
  deepen(parser, expr, expr->where);
  deepen(parser, expr, expr->when);
  return expr;
}

struct tql_expr *tql_build_not(struct tql_parser *parser, const struct tql_span *span,
                               struct tql_expr *expr) {
  return tql_build_expr(parser, TQL_E_NOT, span, expr, NULL);
}

struct tql_expr *tql_build_matches(struct tql_parser *parser, const struct tql_span *span,
                                   struct tql_expr *text, struct tql_name matches,
                                   struct tql_expr *expression) {
  struct tql_list *arguments = tql_list_add(parser, NULL, sizeof text, &text);
  arguments = tql_list_add(parser, arguments, sizeof expression, &expression);
  return tql_build_call(parser, span, &matches, arguments, NULL);
}

struct tql_target tql_target_domain(struct tql_parser *parser, const struct tql_span *span,
                                    const struct tql_name *name, const struct tql_lexeme *domain,
                                    const struct tql_span *domain_span) {
  return (struct tql_target){.expr = tql_build_domain(parser, span, name, domain, domain_span)};
}

struct tql_target tql_target_all(struct tql_parser *parser, const struct tql_span *span,
                                 const struct tql_name *name) {
  return (struct tql_target){.expr = tql_build_all(parser, span, name)};
}
