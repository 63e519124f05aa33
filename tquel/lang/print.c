/* The canonical text of expressions: minimal parentheses, one spelling for each operator (`.start`
 * for `begin of`), durations in the largest unit that divides them. Parsing it gives the same tree,
 * up to ranges and to which operands had superfluous parentheses.
 *
 * Recursion is bounded by TQL_DEPTH_MAX. */
#include <string.h>
#include <strings.h>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "tquel/lang/lexer.h"
#include "tquel/lang/parse.h"
#include "tquel/lang/print.h"

/* Loosest first, as in the grammar. */
enum binding {
  BINDS_OR = 1,
  BINDS_AND,
  BINDS_NOT,
  BINDS_COMPARE,
  BINDS_CHOICE,
  BINDS_SEQUENCE,
  BINDS_PARALLEL,
  BINDS_OVERLAP,
  BINDS_ADD,
  BINDS_MULTIPLY,
  BINDS_POWER,
  BINDS_SIGN,
  BINDS_ACCESS,
  BINDS_CLOSED,
};

static bool is_negative_number(const struct tql_expr *expr) {
  switch (expr->kind) {
    case TQL_E_INTEGER:
    case TQL_E_DURATION:
      return expr->integer < 0;
    case TQL_E_FLOAT:
      return expr->real < 0;
    default:
      return false;
  }
}

static bool is_number(const struct tql_expr *expr) {
  return expr->kind == TQL_E_INTEGER || expr->kind == TQL_E_FLOAT || expr->kind == TQL_E_DURATION;
}

/* What the grammar makes of A matches B. */
static bool is_matching(const struct tql_expr *expr) {
  return expr->kind == TQL_E_CALL && strcasecmp(expr->name.text, "matches") == 0 &&
         expr->args.count == 2 && expr->by.count == 0 && expr->tail == TQL_TAIL_NONE &&
         expr->where == NULL && expr->when == NULL;
}

static enum binding binding_of(const struct tql_expr *expr) {
  switch (expr->kind) {
    case TQL_E_CALL:
      return is_matching(expr) ? BINDS_COMPARE : BINDS_CLOSED;
    case TQL_E_OR:
      return BINDS_OR;
    case TQL_E_AND:
      return BINDS_AND;
    case TQL_E_NOT:
      return BINDS_NOT;
    case TQL_E_EQ:
    case TQL_E_NE:
    case TQL_E_LT:
    case TQL_E_LE:
    case TQL_E_GT:
    case TQL_E_GE:
    case TQL_E_PRECEDE:
    case TQL_E_EQUAL:
    case TQL_E_CONTAIN:
      return BINDS_COMPARE;
    case TQL_E_CHOICE:
      return BINDS_CHOICE;
    case TQL_E_SEQUENCE:
      return BINDS_SEQUENCE;
    case TQL_E_PARALLEL:
      return BINDS_PARALLEL;
    case TQL_E_OVERLAP:
    case TQL_E_EXTEND:
      return BINDS_OVERLAP;
    case TQL_E_ADD:
    case TQL_E_SUB:
      return BINDS_ADD;
    case TQL_E_MUL:
    case TQL_E_DIV:
      return BINDS_MULTIPLY;
    case TQL_E_POWER:
      return BINDS_POWER;
    case TQL_E_NEGATE:
      return BINDS_SIGN;
    case TQL_E_START:
    case TQL_E_STOP:
    case TQL_E_TIME:
      return BINDS_ACCESS;
    default:
      return is_negative_number(expr) ? BINDS_SIGN : BINDS_CLOSED;
  }
}

static const char *sign_of(enum tql_expr_kind kind) {
  switch (kind) {
    case TQL_E_OR:
      return " or ";
    case TQL_E_AND:
      return " and ";
    case TQL_E_EQ:
      return " = ";
    case TQL_E_NE:
      return " != ";
    case TQL_E_LT:
      return " < ";
    case TQL_E_LE:
      return " <= ";
    case TQL_E_GT:
      return " > ";
    case TQL_E_GE:
      return " >= ";
    case TQL_E_PRECEDE:
      return " precede ";
    case TQL_E_EQUAL:
      return " equal ";
    case TQL_E_CONTAIN:
      return " contain ";
    case TQL_E_CHOICE:
      return " | ";
    case TQL_E_SEQUENCE:
      return " ; ";
    case TQL_E_PARALLEL:
      return ", ";
    case TQL_E_OVERLAP:
      return " overlap ";
    case TQL_E_EXTEND:
      return " extend ";
    case TQL_E_ADD:
      return " + ";
    case TQL_E_SUB:
      return " - ";
    case TQL_E_MUL:
      return " * ";
    case TQL_E_DIV:
      return " / ";
    case TQL_E_POWER:
      return " ** ";
    default:
      return NULL;
  }
}

/* --- words and constants ---------------------------------------------------------------------- */

static void print_quoted_name(struct base_buffer *out, const char *text) {
  base_buffer_putc(out, '`');
  for (; *text != '\0'; text++) {
    if (*text == '`') base_buffer_putc(out, '`');
    base_buffer_putc(out, *text);
  }
  base_buffer_putc(out, '`');
}

void tql_print_name(struct base_buffer *out, const char *text) {
  if (tql_is_plain_word(text, false) && !tql_is_keyword(text))
    base_buffer_puts(out, text);
  else
    print_quoted_name(out, text);
}

/* After a dot every word but the accessors is a domain. */
static void print_member(struct base_buffer *out, const char *text) {
  if (tql_is_plain_word(text, false) && !tql_is_accessor(text))
    base_buffer_puts(out, text);
  else
    print_quoted_name(out, text);
}

void tql_print_string(struct base_buffer *out, const char *text, size_t length) {
  base_buffer_putc(out, '"');
  for (size_t i = 0; i < length; i++) {
    switch (text[i]) {
      case '"':
        base_buffer_puts(out, "\\\"");
        break;
      case '\\':
        base_buffer_puts(out, "\\\\");
        break;
      case '\n':
        base_buffer_puts(out, "\\n");
        break;
      case '\t':
        base_buffer_puts(out, "\\t");
        break;
      default:
        base_buffer_putc(out, text[i]);
    }
  }
  base_buffer_putc(out, '"');
}

static void print_float(struct base_buffer *out, double value) {
  size_t from = out->length;
  base_buffer_double(out, value);
  /* A float stays one: 5.0 must not be read back as an integer. */
  if (strpbrk(base_buffer_text(out) + from, ".eE") == NULL) base_buffer_puts(out, ".0");
}

static void print_duration(struct base_buffer *out, int64_t nanoseconds) {
  static const struct {
    const char *name;
    int64_t size;
  } units[] = {{"d", 86400000000000},
               {"h", 3600000000000},
               {"min", 60000000000},
               {"s", 1000000000},
               {"ms", 1000000},
               {"us", 1000},
               {"ns", 1}};
  size_t unit = 0;
  while (nanoseconds % units[unit].size != 0) unit++;
  if (nanoseconds == 0) unit = 3;
  base_buffer_int(out, nanoseconds / units[unit].size);
  base_buffer_putc(out, ' ');
  base_buffer_puts(out, units[unit].name);
}

/* --- operators -------------------------------------------------------------------------------- */

static void print_bound(struct base_buffer *out, const struct tql_expr *expr, int least,
                        bool comma);

static void print_in_parentheses(struct base_buffer *out, const struct tql_expr *expr) {
  base_buffer_putc(out, '(');
  print_bound(out, expr, 0, true);
  base_buffer_putc(out, ')');
}

static void print_list(struct base_buffer *out, const struct tql_expr_list *list) {
  for (size_t i = 0; i < list->count; i++) {
    if (i > 0) base_buffer_puts(out, ", ");
    tql_print_operand(out, list->items[i], false);
  }
}

static void print_call(struct base_buffer *out, const struct tql_expr *expr) {
  tql_print_name(out, expr->name.text);
  base_buffer_putc(out, '(');
  print_list(out, &expr->args);
  if (expr->by.count > 0) {
    base_buffer_puts(out, " by ");
    print_list(out, &expr->by);
  }
  if (expr->tail == TQL_TAIL_EVER) base_buffer_puts(out, " for ever");
  if (expr->tail == TQL_TAIL_INSTANT) base_buffer_puts(out, " for each instant");
  if (expr->tail == TQL_TAIL_DURATION) {
    base_buffer_puts(out, " for each ");
    tql_print_operand(out, expr->within, false);
  }
  if (expr->where != NULL) {
    base_buffer_puts(out, " where ");
    tql_print_operand(out, expr->where, false);
  }
  if (expr->when != NULL) {
    base_buffer_puts(out, " when ");
    tql_print_operand(out, expr->when, true);
  }
  base_buffer_putc(out, ')');
}

/* The first thing that EXPR's text shows is a word, unless a parenthesis comes before it. */
static bool begins_with_word(const struct tql_expr *expr) {
  while (expr->left != NULL && expr->kind != TQL_E_NEGATE && expr->kind != TQL_E_NOT) {
    expr = expr->left;
  }
  return expr->kind == TQL_E_NAME || expr->kind == TQL_E_DOMAIN || expr->kind == TQL_E_CALL;
}

/* within 5 s: after a bare number a word could be read as its unit. */
/* first b: what is chosen is a variable or its start or stop, which needs no parentheses. False: nothing is. */
static bool print_choice(struct base_buffer *out, const struct tql_expr *expr, bool comma) {
  static const char *const words[] = {
      [TQL_EACH] = "each ", [TQL_FIRST] = "first ", [TQL_NEAREST] = "closest "};
  if (expr->choice == TQL_BY_SETTING || expr->choice == TQL_LATEST) return false;
  base_buffer_puts(out, words[expr->choice]);
  print_bound(out, expr->right, BINDS_SEQUENCE + 1, comma);
  return true;
}

static void print_within(struct base_buffer *out, const struct tql_expr *expr, bool comma) {
  base_buffer_puts(out, "within ");
  tql_print_operand(out, expr->within, false);
  base_buffer_putc(out, ' ');
  if (print_choice(out, expr, comma)) return;
  if (expr->within->kind == TQL_E_INTEGER && begins_with_word(expr->right))
    print_in_parentheses(out, expr->right);
  else
    print_bound(out, expr->right, BINDS_SEQUENCE + 1, comma);
}

static void print_binary(struct base_buffer *out, const struct tql_expr *expr, bool comma) {
  int binding = (int)binding_of(expr);
  if (expr->choice == TQL_LATEST) base_buffer_puts(out, "last ");
  /* Comparisons do not chain; everything else goes from left to right. */
  print_bound(out, expr->left, binding == BINDS_COMPARE ? binding + 1 : binding, comma);
  base_buffer_puts(out, sign_of(expr->kind));
  if (expr->kind == TQL_E_SEQUENCE && expr->within != NULL)
    print_within(out, expr, comma);
  else if (!print_choice(out, expr, comma))
    print_bound(out, expr->right, binding + 1, comma);
}

static void print_access(struct base_buffer *out, const struct tql_expr *expr,
                         const char *accessor) {
  if (is_number(expr->left))
    print_in_parentheses(out, expr->left); /* 8.start would be read as one thing */
  else
    print_bound(out, expr->left, BINDS_ACCESS, true);
  base_buffer_puts(out, accessor);
}

static void print_bare(struct base_buffer *out, const struct tql_expr *expr, bool comma) {
  switch (expr->kind) {
    case TQL_E_INTEGER:
      base_buffer_int(out, expr->integer);
      break;
    case TQL_E_FLOAT:
      print_float(out, expr->real);
      break;
    case TQL_E_STRING:
      tql_print_string(out, expr->name.text, expr->length);
      break;
    case TQL_E_BYTES:
      base_buffer_bytes_constant(out, expr->name.text, expr->length);
      break;
    case TQL_E_BOOL:
      base_buffer_puts(out, expr->integer != 0 ? "true" : "false");
      break;
    case TQL_E_DURATION:
      print_duration(out, expr->integer);
      break;
    case TQL_E_NAME:
      tql_print_name(out, expr->name.text);
      break;
    case TQL_E_DOMAIN:
      tql_print_name(out, expr->name.text);
      base_buffer_putc(out, '.');
      print_member(out, expr->member.text);
      break;
    case TQL_E_ALL:
      tql_print_name(out, expr->name.text);
      base_buffer_puts(out, ".all");
      break;
    case TQL_E_CALL:
      if (is_matching(expr)) {
        print_bound(out, expr->args.items[0], BINDS_OVERLAP, comma);
        base_buffer_puts(out, " matches ");
        print_bound(out, expr->args.items[1], BINDS_OVERLAP, comma);
      } else {
        print_call(out, expr);
      }
      break;
    case TQL_E_NEGATE: /* -5 is a number and -- a comment */
      base_buffer_putc(out, '-');
      if (is_number(expr->left) || expr->left->kind == TQL_E_NEGATE)
        print_in_parentheses(out, expr->left);
      else
        print_bound(out, expr->left, BINDS_SIGN, comma);
      break;
    case TQL_E_NOT:
      base_buffer_puts(out, "not ");
      print_bound(out, expr->left, BINDS_NOT, comma);
      break;
    case TQL_E_START:
      print_access(out, expr, ".start");
      break;
    case TQL_E_STOP:
      print_access(out, expr, ".stop");
      break;
    case TQL_E_TIME:
      print_access(out, expr, ".time");
      break;
    default:
      print_binary(out, expr, comma);
  }
}

/* With parentheses, if EXPR binds less than LEAST or is a `,` where commas separate. */
static void print_bound(struct base_buffer *out, const struct tql_expr *expr, int least,
                        bool comma) {
  if ((int)binding_of(expr) < least || (!comma && expr->kind == TQL_E_PARALLEL))
    print_in_parentheses(out, expr);
  else
    print_bare(out, expr, comma);
}

void tql_print_operand(struct base_buffer *out, const struct tql_expr *expr, bool comma) {
  print_bound(out, expr, 0, comma);
}

void tql_print_expr(struct base_buffer *out, const struct tql_expr *expr) {
  print_bound(out, expr, 0, true);
}
