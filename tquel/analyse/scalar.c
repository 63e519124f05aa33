/* Scalar expressions: types, conversions, conditions.
 *
 * Operands of one operator get one base type: integer and float meet as floats, numbers and
 * temporal values as temporal values, names and strings as strings; conversions are nodes of their
 * own, those of constants are done here. Conditions are scalars of type bool. A bare name that is
 * no tuple variable is a string constant; such names are remembered, because one that is also a
 * domain of a variable in the statement was perhaps meant as that (TQ-0110).
 *
 * A string constant with pattern characters beside = or != is a pattern (engine/pattern.h); < and the
 * like compare it as it is.
 *
 * Temporal expressions are refused here, with the way to the when clause; span() and chronon()
 * (function.c) are the doors from time to values. */
#include <stdlib.h>
#include <string.h>

#include "engine/pattern.h"
#include "tquel/analyse/analyse_internal.h"

static const struct net_type integer_type = {NET_INTEGER, 8};
static const struct net_type point_type = {NET_INTEGER, 8, NET_POINT};
static const struct net_type length_type = {NET_INTEGER, 8, NET_LENGTH};
static const struct net_type float_type = {NET_FLOAT, 8};
static const struct net_type bool_type = {NET_BOOL, 0};

bool tql_binder_enter(struct tql_binder *binder, const struct tql_expr *expr) {
  if (binder->depth < TQL_DEPTH_MAX) {
    binder->depth++;
    return true;
  }
  base_report_hint(binder->analysis->diags, MSG_TOO_NESTED, binder->analysis->source, &expr->range,
                   "divide it over several derived relations",
                   "the expression is nested too deeply");
  return false;
}

void tql_binder_leave(struct tql_binder *binder) {
  binder->depth--;
}

/* ---- making nodes ---- */

struct ng_expr *tql_new_expr(const struct tql_binder *binder, enum ng_op op, struct net_type type,
                             struct base_range range) {
  struct ng_expr *expr = BASE_NEW(binder->arena, struct ng_expr);
  expr->op = op;
  expr->type = type;
  expr->range = range;
  return expr;
}

struct ng_expr *tql_new_unary(const struct tql_binder *binder, enum ng_op op, struct net_type type,
                              struct base_range range, const struct ng_expr *operand) {
  struct ng_expr *expr = tql_new_expr(binder, op, type, range);
  expr->args[0] = operand;
  expr->arg_count = 1;
  return expr;
}

struct ng_expr *tql_new_binary(const struct tql_binder *binder, enum ng_op op, struct net_type type,
                               struct base_range range, const struct ng_expr *left,
                               const struct ng_expr *right) {
  struct ng_expr *expr = tql_new_unary(binder, op, type, range, left);
  expr->args[1] = right;
  expr->arg_count = 2;
  return expr;
}

const struct ng_expr *tql_new_domain(const struct tql_binder *binder, unsigned variable,
                                     unsigned field, struct base_range range) {
  const struct net_layout *layout = binder->variables[variable].relation->layout;
  struct ng_expr *expr = tql_new_expr(binder, NG_DOMAIN, layout->fields[field].type, range);
  expr->variable = variable;
  expr->index = field;
  return expr;
}

/* ---- types ---- */

bool tql_type_is_number(struct net_type type) {
  return type.base == NET_INTEGER || type.base == NET_FLOAT;
}

static bool is_text(struct net_type type) {
  return type.base == NET_STRING || type.base == NET_NAME;
}

const char *tql_type_words(struct net_type type) {
  if (type.quantity == NET_POINT) return "an instant";
  if (type.quantity == NET_LENGTH) return "a length of time";
  switch (type.base) {
    case NET_INTEGER:
      return "an integer";
    case NET_FLOAT:
      return "a float";
    case NET_STRING:
      return "a string";
    case NET_BOOL:
      return "a bool";
    case NET_BYTES:
      return "bytes";
    case NET_NAME:
      return "a name";
    case NET_TEMPORAL:
      return "a temporal value";
    case NET_INSTANT:
      return "an instant";
  }
  return "a value";
}

const struct ng_expr *tql_convert(const struct tql_binder *binder, const struct ng_expr *expr,
                                  enum net_base_type base) {
  if (expr->type.base == base) return expr;
  if (expr->op == NG_INTEGER && base == NET_FLOAT) {
    struct ng_expr *constant = tql_new_expr(binder, NG_FLOAT, float_type, expr->range);
    constant->real = (double)expr->integer;
    return constant;
  }
  if (expr->op == NG_STRING && base == NET_NAME) {
    struct ng_expr *constant =
        tql_new_expr(binder, NG_STRING, (struct net_type){NET_NAME, 0}, expr->range);
    constant->string = expr->string;
    return constant;
  }
  uint32_t width = base == NET_INTEGER || base == NET_FLOAT ? 8 : 0;
  struct net_type type = {base, width};
  if (width > 0 && expr->type.quantity == NET_LENGTH) type.quantity = NET_LENGTH;
  return tql_new_unary(binder, NG_CONVERT, type, expr->range, expr);
}

/* Brings a name and a string together: a constant becomes a name, any other name a string. */
static void unify_text(const struct tql_binder *binder, const struct ng_expr **left,
                       const struct ng_expr **right) {
  if ((*left)->type.base == (*right)->type.base) return;
  if ((*left)->op == NG_STRING || (*right)->op == NG_STRING) {
    *left = tql_convert(binder, *left, NET_NAME);
    *right = tql_convert(binder, *right, NET_NAME);
  } else {
    *left = tql_convert(binder, *left, NET_STRING);
    *right = tql_convert(binder, *right, NET_STRING);
  }
}

static bool is_numeric_or_temporal(struct net_type type) {
  return tql_type_is_number(type) || type.base == NET_TEMPORAL;
}

/* Temporal if either is, else float if either is, else integer. */
static void unify_numbers(const struct tql_binder *binder, const struct ng_expr **left,
                          const struct ng_expr **right) {
  enum net_base_type a = (*left)->type.base, b = (*right)->type.base;
  enum net_base_type base = a == NET_TEMPORAL || b == NET_TEMPORAL ? NET_TEMPORAL
                            : a == NET_FLOAT || b == NET_FLOAT     ? NET_FLOAT
                                                                   : NET_INTEGER;
  *left = tql_convert(binder, *left, base);
  *right = tql_convert(binder, *right, base);
}

/* ---- leaves ---- */

static const struct ng_expr *bind_string(const struct tql_binder *binder,
                                         const struct tql_expr *expr, const char *text,
                                         size_t length) {
  struct ng_expr *constant =
      tql_new_expr(binder, NG_STRING, (struct net_type){NET_STRING, 0}, expr->range);
  constant->string = base_strings_intern(binder->scope->strings, text, length);
  return constant;
}

static const struct ng_expr *bind_bytes(const struct tql_binder *binder,
                                        const struct tql_expr *expr) {
  struct ng_expr *constant =
      tql_new_expr(binder, NG_STRING, (struct net_type){NET_BYTES, 0}, expr->range);
  constant->string = base_strings_intern(binder->scope->strings, expr->name.text, expr->length);
  return constant;
}

/* In a summary, outside of its aggregates: the element of the target list called NAME, or NULL. */
static const struct ng_expr *summary_element(const struct tql_binder *binder, const char *name) {
  for (size_t i = 0; binder->summary && !binder->in_aggregate && i < binder->target_count; i++)
    if (tql_same_name(binder->targets[i].name, name)) return binder->targets[i].expr;
  return NULL;
}

static const struct ng_expr *bind_bare_name(struct tql_binder *binder,
                                            const struct tql_expr *expr) {
  const struct tql_variable *variable = tql_scope_variable(binder->scope, expr->name.text);
  if (variable) {
    base_report_hint(binder->analysis->diags, MSG_NOT_A_VALUE, binder->analysis->source,
                     &expr->range,
                     "write V.domain for a value of the tuple; conditions on its time stand in the "
                     "when clause",
                     "%s is a tuple variable, not a value", expr->name.text);
    return NULL;
  }
  const struct ng_expr *element = summary_element(binder, expr->name.text);
  if (element) return element;
  base_grow(&binder->bare_names, &binder->bare_name_capacity, binder->bare_name_count + 1,
            sizeof *binder->bare_names);
  binder->bare_names[binder->bare_name_count++] = expr;
  return bind_string(binder, expr, expr->name.text, strlen(expr->name.text));
}

static const struct ng_expr *bind_domain(struct tql_binder *binder, const struct tql_expr *expr) {
  int variable = tql_bind_variable(binder, &expr->name);
  if (variable < 0) return NULL;
  const struct ng_relation *relation = binder->variables[variable].relation;
  int field = tql_find_domain(binder->analysis, relation, relation->layout, &expr->member);
  return field < 0 ? NULL
                   : tql_new_domain(binder, (unsigned)variable, (unsigned)field, expr->range);
}

static const struct ng_expr *bind_number(const struct tql_binder *binder,
                                         const struct tql_expr *expr) {
  struct ng_expr *constant =
      tql_new_expr(binder, expr->kind == TQL_E_FLOAT ? NG_FLOAT : NG_INTEGER,
                   expr->kind == TQL_E_FLOAT ? float_type : integer_type, expr->range);
  constant->integer = expr->integer;
  constant->real = expr->real == 0 ? 0 : expr->real; /* no negative zero */
  return constant;
}

static const struct ng_expr *bind_duration(const struct tql_binder *binder,
                                           const struct tql_expr *expr) {
  struct ng_expr *constant = tql_new_expr(binder, NG_INTEGER, length_type, expr->range);
  if (tql_analyse_duration(binder->analysis, expr, &constant->integer) != BASE_OK) return NULL;
  return constant;
}

static const struct ng_expr *bind_truth(const struct tql_binder *binder,
                                        const struct tql_expr *expr) {
  struct ng_expr *constant = tql_new_expr(binder, NG_TRUTH, bool_type, expr->range);
  constant->integer = expr->integer ? NET_TRUE : NET_FALSE;
  return constant;
}

/* ---- arithmetic ---- */

static enum ng_op arithmetic_op(enum tql_expr_kind kind) {
  switch (kind) {
    case TQL_E_ADD:
      return NG_ADD;
    case TQL_E_SUB:
      return NG_SUB;
    case TQL_E_MUL:
      return NG_MUL;
    case TQL_E_DIV:
      return NG_DIV;
    default:
      return NG_POWER;
  }
}

static const struct ng_expr *refuse_types(const struct tql_binder *binder,
                                          const struct tql_expr *expr, const char *what,
                                          const struct ng_expr *left, const struct ng_expr *right,
                                          const char *hint) {
  const char *left_words = tql_type_words(left->type), *right_words = tql_type_words(right->type);
  struct base_diag *diag =
      base_report(binder->analysis->diags, MSG_TYPE_MISMATCH, binder->analysis->source,
                  &expr->range, "cannot %s %s and %s", what, left_words, right_words);
  const struct tql_expr *name = expr->left->kind == TQL_E_NAME    ? expr->left
                                : expr->right->kind == TQL_E_NAME ? expr->right
                                                                  : NULL;
  if (name && !summary_element(binder, name->name.text))
    tql_set_hint(diag, "%s is no tuple variable and so a string; for a domain write V.%s",
                 name->name.text, name->name.text);
  else if (hint)
    tql_set_hint(diag, "%s", hint);
  return NULL;
}

static bool is_numeral(const struct tql_expr *expr) {
  const char *text = expr->name.text;
  if (expr->kind != TQL_E_STRING || strspn(text, "-.0123456789eE") != expr->length) return false;
  char *end;
  strtod(text, &end);
  return end != text && *end == '\0';
}

/* What to do where a number is compared with a string: one of them may want quotes, or no quotes. */
static const char *quotes_hint(const struct tql_binder *binder, const struct tql_expr *expr,
                               const struct ng_expr *left, const struct ng_expr *right) {
  for (int side = 0; side < 2; side++) {
    const struct tql_expr *constant = side ? expr->right : expr->left;
    enum net_base_type other = side ? left->type.base : right->type.base;
    bool other_is_number = other == NET_INTEGER || other == NET_FLOAT;
    bool other_is_text = other == NET_STRING || other == NET_NAME;
    if (is_numeral(constant) && other_is_number)
      return base_arena_printf(binder->analysis->arena, "write %s without quotes",
                               constant->name.text);
    if ((constant->kind == TQL_E_INTEGER || constant->kind == TQL_E_FLOAT) && other_is_text)
      return base_arena_printf(binder->analysis->arena, "a string stands in quotes: \"%s\"",
                               tql_expr_text(binder->analysis, constant));
  }
  return NULL;
}

/* What to do where a string, or a name, stands beside bytes. */
static const char *bytes_hint(const struct tql_binder *binder, const struct tql_expr *expr,
                              const struct ng_expr *left, const struct ng_expr *right) {
  bool bytes_left = left->type.base == NET_BYTES;
  const struct ng_expr *other = bytes_left ? right : left;
  if (!bytes_left && right->type.base != NET_BYTES) return NULL;
  const char *text = tql_expr_text(binder->analysis, bytes_left ? expr->right : expr->left);
  if (is_text(other->type))
    return base_arena_printf(binder->analysis->arena,
                             "bytes(%s) are its bytes; text(...) makes a string of bytes", text);
  return "x'00ff' is a constant of bytes";
}

static const struct ng_expr *check_form(const struct tql_binder *binder,
                                        const struct ng_expr *expr) {
  if (!tql_form_is_lost(expr)) return expr;
  base_report_hint(binder->analysis->diags, MSG_TEMPORAL_FORM, binder->analysis->source,
                   &expr->range, "multiply and divide by numbers, or divide two linear functions",
                   "the result is no ratio of two linear functions of time");
  return NULL;
}

/* What LEFT OP RIGHT is, if either is of time; false: nothing. A number beside an instant, or a length, is one of units on
 * the abstract time line, where nothing else can be said; on the real one it may stand beside a length, as ever. */
static bool quantity_of(const struct tql_binder *binder, enum ng_op op, enum net_quantity left,
                        enum net_quantity right, enum net_quantity *ret) {
  bool abstract = binder->scope->time.timeline == NET_TIMELINE_ABSTRACT;
  bool points = left == NET_POINT || right == NET_POINT;
  bool moves = (left == NET_LENGTH || (left == NET_NUMBER && abstract)) ||
               (right == NET_LENGTH || (right == NET_NUMBER && abstract));
  *ret = NET_NUMBER;
  switch (op) {
    case NG_ADD:
      *ret = points ? NET_POINT : left == right ? left : NET_LENGTH;
      return !points || (left != right && moves);
    case NG_SUB:
      if (left == NET_POINT && right == NET_POINT)
        *ret = NET_LENGTH;
      else
        *ret = points ? NET_POINT : left == right ? left : NET_LENGTH;
      return right != NET_POINT ? !points || moves : left == NET_POINT;
    case NG_MUL:
      if (left == NET_LENGTH || right == NET_LENGTH) *ret = left == right ? NET_NUMBER : NET_LENGTH;
      return !points;
    case NG_DIV:
      if (left == NET_LENGTH && right == NET_NUMBER) *ret = NET_LENGTH;
      return !points;
    default:
      return !points;
  }
}

/* Nobody divides a length of time by a thousand or more but to have its number in another unit. */
static bool changes_unit(enum ng_op op, const struct ng_expr *divisor) {
  if (op != NG_DIV || divisor->type.quantity != NET_NUMBER) return false;
  return (divisor->op == NG_INTEGER && divisor->integer >= 1000) ||
         (divisor->op == NG_FLOAT && divisor->real >= 1000);
}

/* A string beside what is of time says a time: it becomes one. False after a diagnostic. */
static bool become_point(struct tql_binder *binder, const struct ng_expr **one,
                         const struct ng_expr *other, enum net_quantity with) {
  if ((*one)->op != NG_STRING || (*one)->type.base != NET_STRING || other->type.quantity != with)
    return true;
  *one = tql_as_point(binder, *one);
  return *one != NULL;
}

static const struct ng_expr *bind_arithmetic(struct tql_binder *binder,
                                             const struct tql_expr *expr) {
  const struct ng_expr *left = tql_bind_scalar(binder, expr->left);
  const struct ng_expr *right = tql_bind_scalar(binder, expr->right);
  if (!left || !right) return NULL;
  enum ng_op op = arithmetic_op(expr->kind);
  bool moves = op == NG_ADD || op == NG_SUB;
  if (moves && (!become_point(binder, &left, right, NET_LENGTH) ||
                !become_point(binder, &right, left, NET_LENGTH) ||
                !become_point(binder, &left, right, NET_POINT) ||
                !become_point(binder, &right, left, NET_POINT)))
    return NULL;
  enum net_quantity quantity;
  if (!quantity_of(binder, op, left->type.quantity, right->type.quantity, &quantity))
    return refuse_types(
        binder, expr, "calculate with", left, right,
        "instants are moved by lengths of time, as 5 s or span(V), and one is taken from "
        "another; chronon(...) is a number");
  if (!is_numeric_or_temporal(left->type) || !is_numeric_or_temporal(right->type))
    return refuse_types(binder, expr, "calculate with", left, right,
                        "arithmetic takes integers, floats and temporal values");
  unify_numbers(binder, &left, &right);
  if (op == NG_POWER) {
    if (left->type.base == NET_TEMPORAL)
      return refuse_types(binder, expr, "take powers of", left, right,
                          "powers take integers and floats");
  }
  struct net_type type = {left->type.base, left->type.base == NET_TEMPORAL ? 0 : 8};
  if (type.base != NET_TEMPORAL && !changes_unit(op, right)) type.quantity = quantity;
  if (type.quantity == NET_POINT && type.base == NET_FLOAT) {
    return refuse_types(binder, expr, "calculate with", left, right,
                        "instants are moved by whole lengths: i8(...) makes one of a mean");
  }
  return check_form(binder, tql_new_binary(binder, op, type, expr->range, left, right));
}

static const struct ng_expr *bind_negate(struct tql_binder *binder, const struct tql_expr *expr) {
  const struct ng_expr *operand = tql_bind_scalar(binder, expr->left);
  if (!operand) return NULL;
  if (!is_numeric_or_temporal(operand->type)) {
    base_report(binder->analysis->diags, MSG_TYPE_MISMATCH, binder->analysis->source, &expr->range,
                "cannot take the negative of %s", tql_type_words(operand->type));
    return NULL;
  }
  bool folds =
      operand->op == NG_FLOAT || (operand->op == NG_INTEGER && operand->integer != INT64_MIN);
  if (folds) {
    struct ng_expr *constant = tql_new_expr(binder, operand->op, operand->type, expr->range);
    constant->integer = -operand->integer;
    constant->real = operand->real == 0 ? 0 : -operand->real;
    return constant;
  }
  struct net_type type = {operand->type.base, operand->type.base == NET_TEMPORAL ? 0 : 8};
  if (operand->type.quantity == NET_LENGTH) type.quantity = NET_LENGTH;
  return tql_new_unary(binder, NG_NEG, type, expr->range, operand);
}

/* ---- conditions ---- */

static enum ng_op comparison_op(enum tql_expr_kind kind) {
  switch (kind) {
    case TQL_E_EQ:
      return NG_EQ;
    case TQL_E_NE:
      return NG_NE;
    case TQL_E_LT:
      return NG_LT;
    case TQL_E_LE:
      return NG_LE;
    case TQL_E_GT:
      return NG_GT;
    default:
      return NG_GE;
  }
}

/* ---- patterns ---- */

/* TEXT = or != the string constant PATTERN, which holds pattern characters. One that stands for a
 * single text is compared, which leaves it to joins and indexes. */
static const struct ng_expr *bind_pattern(struct tql_binder *binder, const struct tql_expr *expr,
                                          const struct ng_expr *text,
                                          const struct ng_expr *pattern) {
  size_t length;
  const char *bytes = base_strings_text(binder->scope->strings, pattern->string, &length);
  const char *fault = net_pattern_fault(bytes, length);
  if (fault) {
    base_report_hint(binder->analysis->diags, MSG_BAD_PATTERN, binder->analysis->source,
                     &pattern->range,
                     "in patterns * ? [ and \\ are special; \\ before one of them makes it an "
                     "ordinary character",
                     "the pattern %s", fault);
    return NULL;
  }
  struct base_buffer plain = BASE_BUFFER_EMPTY;
  struct ng_expr *result;
  if (net_pattern_plain(bytes, length, &plain)) {
    struct ng_expr *constant = tql_new_expr(binder, NG_STRING, text->type, pattern->range);
    constant->string =
        base_strings_intern(binder->scope->strings, base_buffer_text(&plain), plain.length);
    result = tql_new_binary(binder, NG_EQ, bool_type, expr->range, text, constant);
    if (expr->kind == TQL_E_NE) result->op = NG_NE;
  } else {
    result = tql_new_unary(binder, NG_MATCHES, bool_type, expr->range, text);
    result->string = pattern->string;
    if (expr->kind == TQL_E_NE)
      result = tql_new_unary(binder, NG_NOT, bool_type, expr->range, result);
  }
  base_buffer_done(&plain);
  return result;
}

static bool is_pattern(const struct tql_binder *binder, const struct ng_expr *expr) {
  size_t length;
  if (expr->op != NG_STRING) return false;
  const char *text = base_strings_text(binder->scope->strings, expr->string, &length);
  return net_pattern_is_one(text, length);
}

/* Numbers are compared as real numbers, so an integer and a float stay what they are; a constant that
 * is a double, too, joins the other side. Temporal values compare with each other only. */
static void unify_compared(const struct tql_binder *binder, const struct ng_expr **left,
                           const struct ng_expr **right) {
  const int64_t exact = INT64_C(1) << 53;
  for (int side = 0; side < 2; side++) {
    const struct ng_expr **one = side ? right : left, *other = side ? *left : *right;
    bool small = (*one)->op == NG_INTEGER && (*one)->integer >= -exact && (*one)->integer <= exact;
    if (small && other->type.base == NET_FLOAT) *one = tql_convert(binder, *one, NET_FLOAT);
  }
  if (!tql_type_is_number((*left)->type) || !tql_type_is_number((*right)->type))
    unify_numbers(binder, left, right);
}

/* DURATION is compared with OTHER, bound to DOMAIN: data, in whatever unit. What is derived may be a span. */
static void warn_of_unit(struct tql_binder *binder, const struct tql_expr *duration,
                         const struct tql_expr *other, const struct ng_expr *domain) {
  const struct tql_analysis *analysis = binder->analysis;
  if (analysis->kept) return;
  if (duration->kind != TQL_E_DURATION || other->kind != TQL_E_DOMAIN || domain->op != NG_DOMAIN ||
      domain->type.quantity != NET_NUMBER)
    return;
  if (binder->variables[domain->variable].relation->kind == NG_REL_DERIVED) return;
  const char *text = tql_expr_text(analysis, duration);
  struct base_diag *diag =
      base_report(analysis->diags, MSG_UNIT_OF_NUMBER, analysis->source, &duration->range,
                  "%s.%s is a number without a unit: %s is compared with it as %lld",
                  other->name.text, other->member.text, text, (long long)duration->integer);
  tql_set_hint(diag, "write the number in the unit of %s; as it stands that is nanoseconds",
               other->member.text);
}

/* NUMBER is compared with LENGTH: so many nanoseconds are rarely meant where it is less than a million. */
static void warn_of_number(struct tql_binder *binder, const struct tql_expr *number,
                           const struct tql_expr *length, const struct ng_expr *bound) {
  const struct tql_analysis *analysis = binder->analysis;
  if (analysis->kept) return;
  if (number->kind != TQL_E_INTEGER || number->integer == 0 || number->integer >= 1000000) return;
  if (binder->scope->time.timeline != NET_TIMELINE_REAL || bound->type.quantity != NET_LENGTH)
    return;
  const char *text = tql_expr_text(analysis, number);
  struct base_diag *diag =
      base_report(analysis->diags, MSG_NUMBER_OF_DURATION, analysis->source, &number->range,
                  "%s is a length of time: %s is compared with it as %s ns",
                  tql_expr_text(analysis, length), text, text);
  tql_set_hint(diag, "write the unit: %s s, %s ms, or %s ns if that is meant", text, text, text);
}

/* As far as instants are concerned: on the abstract time line numbers are such, too. */
static bool are_comparable(const struct tql_binder *binder, struct net_type a, struct net_type b) {
  if (a.quantity != NET_POINT && b.quantity != NET_POINT) return true;
  if (a.quantity == b.quantity) return true;
  const struct net_type *other = a.quantity == NET_POINT ? &b : &a;
  return other->quantity == NET_NUMBER && other->base == NET_INTEGER &&
         binder->scope->time.timeline == NET_TIMELINE_ABSTRACT;
}

static const struct ng_expr *bind_comparison(struct tql_binder *binder,
                                             const struct tql_expr *expr) {
  const struct ng_expr *left = tql_bind_scalar(binder, expr->left);
  const struct ng_expr *right = tql_bind_scalar(binder, expr->right);
  if (!left || !right) return NULL;
  warn_of_unit(binder, expr->left, expr->right, right);
  warn_of_unit(binder, expr->right, expr->left, left);
  warn_of_number(binder, expr->left, expr->right, right);
  warn_of_number(binder, expr->right, expr->left, left);
  enum ng_op op = comparison_op(expr->kind);
  if (!become_point(binder, &left, right, NET_POINT) ||
      !become_point(binder, &right, left, NET_POINT))
    return NULL;
  if (!are_comparable(binder, left->type, right->type))
    return refuse_types(
        binder, expr, "compare", left, right,
        "an instant is compared with an instant, such as \"2026-11-20T11:02\", now, or V.start; "
        "chronon(...) is a number");
  if (is_numeric_or_temporal(left->type) && is_numeric_or_temporal(right->type))
    unify_compared(binder, &left, &right);
  else if (is_text(left->type) && is_text(right->type)) {
    if (op == NG_EQ || op == NG_NE) {
      if (is_pattern(binder, right)) return bind_pattern(binder, expr, left, right);
      if (is_pattern(binder, left)) return bind_pattern(binder, expr, right, left);
    }
    unify_text(binder, &left, &right);
  } else if (left->type.base == NET_BYTES && right->type.base == NET_BYTES) {
    /* by their bytes, as they are */
  } else if (left->type.base != NET_BOOL || right->type.base != NET_BOOL)
    return refuse_types(binder, expr, "compare", left, right,
                        left->type.base == NET_BYTES || right->type.base == NET_BYTES
                            ? bytes_hint(binder, expr, left, right)
                            : quotes_hint(binder, expr, left, right));
  else if (op != NG_EQ && op != NG_NE)
    return refuse_types(binder, expr, "order", left, right, "bools compare with = and !=");
  return tql_new_binary(binder, op, bool_type, expr->range, left, right);
}

const struct ng_expr *tql_bind_condition(struct tql_binder *binder, const struct tql_expr *expr) {
  const struct ng_expr *bound = tql_bind_scalar(binder, expr);
  if (!bound || bound->type.base == NET_BOOL) return bound;
  base_report_hint(binder->analysis->diags, MSG_TYPE_MISMATCH, binder->analysis->source,
                   &expr->range, "conditions are comparisons, bool domains, and, or, not",
                   "%s is %s where a condition is needed", tql_expr_text(binder->analysis, expr),
                   tql_type_words(bound->type));
  return NULL;
}

static const struct ng_expr *bind_logic(struct tql_binder *binder, const struct tql_expr *expr) {
  const struct ng_expr *left = tql_bind_condition(binder, expr->left);
  if (expr->kind == TQL_E_NOT)
    return left ? tql_new_unary(binder, NG_NOT, bool_type, expr->range, left) : NULL;
  const struct ng_expr *right = tql_bind_condition(binder, expr->right);
  if (!left || !right) return NULL;
  enum ng_op op = expr->kind == TQL_E_AND ? NG_AND : NG_OR;
  return tql_new_binary(binder, op, bool_type, expr->range, left, right);
}

/* Has EXPR a comparison of temporal values, true for part of a period only? */
static bool has_temporal_comparison(const struct ng_expr *expr) {
  if (expr->op >= NG_EQ && expr->op <= NG_GE && expr->args[0]->type.base == NET_TEMPORAL)
    return true;
  if (expr->op == NG_SPAN || expr->op == NG_CHRONON) return false;
  for (unsigned i = 0; i < expr->arg_count; i++)
    if (has_temporal_comparison(expr->args[i])) return true;
  return false;
}

bool tql_check_constant_truth(const struct tql_binder *binder, const struct ng_expr *bound) {
  if (!has_temporal_comparison(bound)) return true;
  base_report_hint(binder->analysis->diags, MSG_TEMPORAL_FORM, binder->analysis->source,
                   &bound->range, "put the comparison into the where clause, which cuts the period",
                   "a comparison of temporal values changes with time and is no value");
  return false;
}

/* ---- the dispatcher ---- */

static const struct ng_expr *refuse_time(const struct tql_binder *binder,
                                         const struct tql_expr *expr) {
  base_report_hint(binder->analysis->diags, MSG_NOT_A_VALUE, binder->analysis->source, &expr->range,
                   "temporal conditions stand in the when clause; span(...) and chronon(...) make "
                   "numbers of times",
                   "%s is a time, not a value", tql_expr_text(binder->analysis, expr));
  return NULL;
}

/* V.start: an instant as a value, that in the middle of its bounds, as chronon(...) has it. */
static const struct ng_expr *bind_instant(struct tql_binder *binder, const struct tql_expr *expr) {
  const struct ng_expr *time = tql_bind_event(binder, expr, "a value");
  return time ? tql_new_unary(binder, NG_CHRONON, point_type, expr->range, time) : NULL;
}

static const struct ng_expr *bind_kind(struct tql_binder *binder, const struct tql_expr *expr) {
  switch (expr->kind) {
    case TQL_E_INTEGER:
    case TQL_E_FLOAT:
      return bind_number(binder, expr);
    case TQL_E_STRING:
      return bind_string(binder, expr, expr->name.text, expr->length);
    case TQL_E_BYTES:
      return bind_bytes(binder, expr);
    case TQL_E_BOOL:
      return bind_truth(binder, expr);
    case TQL_E_DURATION:
      return bind_duration(binder, expr);
    case TQL_E_NAME:
      return bind_bare_name(binder, expr);
    case TQL_E_DOMAIN:
      return bind_domain(binder, expr);
    case TQL_E_ALL:
      base_report_hint(binder->analysis->diags, MSG_NOT_A_VALUE, binder->analysis->source,
                       &expr->range, "V.all is an element of the target list",
                       "%s.all stands for several domains", expr->name.text);
      return NULL;
    case TQL_E_NEGATE:
      return bind_negate(binder, expr);
    case TQL_E_ADD:
    case TQL_E_SUB:
    case TQL_E_MUL:
    case TQL_E_DIV:
    case TQL_E_POWER:
      return bind_arithmetic(binder, expr);
    case TQL_E_EQ:
    case TQL_E_NE:
    case TQL_E_LT:
    case TQL_E_LE:
    case TQL_E_GT:
    case TQL_E_GE:
      return bind_comparison(binder, expr);
    case TQL_E_NOT:
    case TQL_E_AND:
    case TQL_E_OR:
      return bind_logic(binder, expr);
    case TQL_E_CALL:
      return tql_bind_call(binder, expr);
    case TQL_E_START:
    case TQL_E_STOP:
      return bind_instant(binder, expr);
    case TQL_E_TIME:
    case TQL_E_SEQUENCE:
    case TQL_E_PARALLEL:
    case TQL_E_CHOICE:
    case TQL_E_OVERLAP:
    case TQL_E_EXTEND:
    case TQL_E_PRECEDE:
    case TQL_E_EQUAL:
    case TQL_E_CONTAIN:
      return refuse_time(binder, expr);
  }
  return refuse_time(binder, expr);
}

const struct ng_expr *tql_bind_scalar(struct tql_binder *binder, const struct tql_expr *expr) {
  if (!tql_binder_enter(binder, expr)) return NULL;
  const struct ng_expr *bound = bind_kind(binder, expr);
  tql_binder_leave(binder);
  return bound;
}

const struct ng_expr *tql_as_point(struct tql_binder *binder, const struct ng_expr *bound) {
  size_t length;
  struct tql_expr text = {.kind = TQL_E_STRING, .range = bound->range};
  struct ng_expr *point = tql_new_expr(binder, NG_INTEGER, point_type, bound->range);
  text.name.text = base_strings_text(binder->scope->strings, bound->string, &length);
  text.length = length;
  enum tql_constant why = tql_constant_time(binder->scope, &text,
                                            (struct tql_time_forms){false, false}, &point->integer);
  if (why != TQL_CONSTANT_OK) {
    tql_report_constant(binder->analysis, &text, why);
    return NULL;
  }
  base_grow(&binder->times, &binder->time_capacity, binder->time_count + 1, sizeof *binder->times);
  binder->times[binder->time_count++] = (struct ng_time){bound->range, point->integer};
  return point;
}
