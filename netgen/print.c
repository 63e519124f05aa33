/* Lowered expressions as people read them: infix, minimal parentheses, columns by name.
 *
 * For explain only; nothing parses it. Conditions on times are words that say what they test:
 *   A.stop before B.start        B.start in [A.start, A.stop)      [..) overlaps [..) */
#include "netgen/expr.h"

#include <inttypes.h>
#include <math.h>

#include "engine/base/bytes.h"

/* Binding strength; a weaker operand of a stronger operator stands in parentheses. */
static int strength(const struct ng_expr *expr) {
  switch (expr->op) {
    case NG_OR:
      return 1;
    case NG_AND:
      return 2;
    case NG_NOT:
      return 3;
    case NG_EQ:
    case NG_NE:
    case NG_LT:
    case NG_LE:
    case NG_GT:
    case NG_GE:
    case NG_BEFORE:
    case NG_NOT_AFTER:
    case NG_EQUAL_INSTANTS:
    case NG_WITHIN:
    case NG_OVERLAP_PERIODS:
    case NG_OVERLAP_EVENT:
    case NG_EQUAL_PERIODS:
    case NG_CONTAIN:
    case NG_MATCHES:
    case NG_FINDS:
      return 4;
    case NG_SHIFT:
    case NG_ADD:
    case NG_SUB:
      return 5;
    case NG_MUL:
    case NG_DIV:
    case NG_MOD:
      return 6;
    case NG_NEG:
      return 7;
    case NG_POWER:
      return 8;
    default:
      return 9;
  }
}

static const char *infix(enum ng_op op) {
  switch (op) {
    case NG_OR:
      return " or ";
    case NG_AND:
      return " and ";
    case NG_EQ:
      return " = ";
    case NG_NE:
      return " != ";
    case NG_LT:
      return " < ";
    case NG_LE:
      return " <= ";
    case NG_GT:
      return " > ";
    case NG_GE:
      return " >= ";
    case NG_ADD:
      return " + ";
    case NG_SUB:
      return " - ";
    case NG_MUL:
      return " * ";
    case NG_DIV:
      return " / ";
    case NG_MOD:
      return " mod ";
    case NG_POWER:
      return " ** ";
    case NG_BEFORE:
      return " before ";
    case NG_NOT_AFTER:
      return " not after ";
    case NG_EQUAL_INSTANTS:
      return " coincides with ";
    default:
      return NULL;
  }
}

static const char *function(const struct ng_expr *expr) {
  switch (expr->op) {
    case NG_IF:
      return "if";
    case NG_ABS:
      return "abs";
    case NG_SQRT:
      return "sqrt";
    case NG_LOG:
      return "log";
    case NG_EXP:
      return "exp";
    case NG_SIN:
      return "sin";
    case NG_COS:
      return "cos";
    case NG_ATAN:
      return "atan";
    case NG_HEX:
      return "hex";
    case NG_UNHEX:
      return "unhex";
    case NG_ASCII:
      return "ascii";
    case NG_CONCAT:
      return "concat";
    case NG_LEFT:
      return "left";
    case NG_RIGHT:
      return "right";
    case NG_LENGTH:
      return "length";
    case NG_LOWER:
      return "lower";
    case NG_UPPER:
      return "upper";
    case NG_TRIM:
      return "trim";
    case NG_SUBSTRING:
      return "substring";
    case NG_POSITION:
      return "position";
    case NG_SUBSTITUTE:
      return "substitute";
    case NG_SPLIT:
      return "split";
    case NG_LATER:
      return "later";
    case NG_EARLIER:
      return "earlier";
    case NG_INTERSECT:
      return "intersection";
    case NG_REBASE:
      return "rebase";
    case NG_DURATION:
      return "duration";
    case NG_SPAN_OF:
      return expr->integer == 0 ? "span" : expr->integer == 1 ? "span_lo" : "span_hi";
    case NG_CHRONON_OF:
      return expr->integer == 0 ? "chronon" : expr->integer == 1 ? "chronon_lo" : "chronon_hi";
    default:
      BASE_CHECK(false, "printed-operator");
  }
  return NULL;
}

static void print_operand(struct base_buffer *out, const struct ng_plan *plan,
                          const struct ng_expr *expr, int needed) {
  bool weak = strength(expr) < needed;
  if (weak) base_buffer_putc(out, '(');
  ng_expr_print(out, plan, expr);
  if (weak) base_buffer_putc(out, ')');
}

static void print_string(struct base_buffer *out, const struct ng_plan *plan, base_string_id id) {
  size_t length;
  const char *text = base_strings_text(plan->strings, id, &length);
  base_buffer_putc(out, '"');
  for (size_t i = 0; i < length; i++) {
    unsigned char byte = (unsigned char)text[i];
    if (byte == '"' || byte == '\\') base_buffer_putc(out, '\\');
    if (byte < ' ' || byte == 0x7f) {
      base_buffer_printf(out, byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : "\\x%02x", byte);
    } else {
      base_buffer_putc(out, (char)byte);
    }
  }
  base_buffer_putc(out, '"');
}

/* A constant of BASE. */
static void print_interned(struct base_buffer *out, const struct ng_plan *plan,
                           enum net_base_type base, base_string_id id) {
  size_t length;
  const char *bytes = base_strings_text(plan->strings, id, &length);
  if (base == NET_BYTES)
    base_buffer_bytes_constant(out, bytes, length);
  else
    print_string(out, plan, id);
}

static void print_instant(struct base_buffer *out, const struct ng_plan *plan,
                          struct net_instant instant) {
  if (instant.lo == instant.hi) {
    net_time_print(out, plan->timeline, instant.lo);
    return;
  }
  base_buffer_putc(out, '{');
  net_time_print(out, plan->timeline, instant.lo);
  base_buffer_puts(out, "..");
  net_time_print(out, plan->timeline, instant.hi);
  base_buffer_putc(out, '}');
}

static void print_period(struct base_buffer *out, const struct ng_plan *plan,
                         const struct ng_expr *start, const struct ng_expr *stop) {
  base_buffer_putc(out, '[');
  ng_expr_print(out, plan, start);
  base_buffer_puts(out, ", ");
  ng_expr_print(out, plan, stop);
  base_buffer_putc(out, ')');
}

static void print_periods(struct base_buffer *out, const struct ng_plan *plan,
                          const struct ng_expr *expr, const char *word) {
  print_period(out, plan, expr->args[0], expr->args[1]);
  base_buffer_puts(out, word);
  print_period(out, plan, expr->args[2], expr->args[3]);
}

static void print_operator(struct base_buffer *out, const struct ng_plan *plan,
                           const struct ng_expr *expr) {
  if (infix(expr->op) && expr->arg_count == 2) {
    int needed = strength(expr);
    bool associative =
        expr->op == NG_AND || expr->op == NG_OR || expr->op == NG_ADD || expr->op == NG_MUL;
    print_operand(out, plan, expr->args[0], needed);
    base_buffer_puts(out, infix(expr->op));
    print_operand(out, plan, expr->args[1], associative ? needed : needed + 1);
    return;
  }
  base_buffer_printf(out, "%s(", function(expr));
  for (unsigned i = 0; i < expr->arg_count; i++) {
    if (i) base_buffer_puts(out, ", ");
    ng_expr_print(out, plan, expr->args[i]);
  }
  base_buffer_putc(out, ')');
}

static void print_prefix(struct base_buffer *out, const struct ng_plan *plan,
                         const struct ng_expr *expr, const char *sign) {
  base_buffer_puts(out, sign);
  print_operand(out, plan, expr->args[0], strength(expr));
}

/* Conversions between kinds of numbers go without saying, those of strings and bytes do not. */
/* hour(V.start, "Europe/Berlin"), truncate(V.start, 300000000000, "UTC") */
static void print_calendar(struct base_buffer *out, const struct ng_plan *plan,
                           const struct ng_expr *expr) {
  static const char *const parts[] = {
      [NET_PART_SECOND] = "second", [NET_PART_MINUTE] = "minute",   [NET_PART_HOUR] = "hour",
      [NET_PART_DAY] = "day",       [NET_PART_WEEKDAY] = "weekday", [NET_PART_WEEK] = "week",
      [NET_PART_MONTH] = "month",   [NET_PART_YEAR] = "year",       [NET_SINCE_LENGTH] = "",
      [NET_SINCE_DAY] = "day",      [NET_SINCE_WEEK] = "week",      [NET_SINCE_MONTH] = "month",
      [NET_SINCE_YEAR] = "year"};
  bool since = expr->integer >= NET_SINCE_LENGTH;
  base_buffer_printf(out, "%s(", since ? "truncate" : parts[expr->integer]);
  print_operand(out, plan, expr->args[0], 0);
  if (expr->integer == NET_SINCE_LENGTH)
    base_buffer_printf(out, ", %" PRId64, expr->instant.lo);
  else if (since)
    base_buffer_printf(out, ", %s", parts[expr->integer]);
  base_buffer_puts(out, ", ");
  print_string(out, plan, expr->string);
  base_buffer_putc(out, ')');
}

static void print_conversion(struct base_buffer *out, const struct ng_plan *plan,
                             const struct ng_expr *expr) {
  const struct ng_expr *from = expr->args[0];
  bool says = from->type.base == NET_STRING || from->type.base == NET_BYTES;
  if (!says || expr->type.base == NET_NAME) {
    ng_expr_print(out, plan, from);
    return;
  }
  net_type_print(out, expr->type);
  base_buffer_putc(out, '(');
  ng_expr_print(out, plan, from);
  base_buffer_putc(out, ')');
}

void ng_expr_print(struct base_buffer *out, const struct ng_plan *plan,
                   const struct ng_expr *expr) {
  switch (expr->op) {
    case NG_INTEGER:
      base_buffer_int(out, expr->integer);
      break;
    case NG_FLOAT:
      base_buffer_double(out, expr->real);
      if (expr->real == floor(expr->real) && fabs(expr->real) < 1e15) base_buffer_puts(out, ".0");
      break;
    case NG_STRING:
      print_interned(out, plan, expr->type.base, expr->string);
      break;
    case NG_TRUTH:
      base_buffer_puts(out, expr->integer ? "true" : "false");
      break;
    case NG_COLUMN:
      base_buffer_puts(out, expr->column->name);
      break;
    case NG_INSTANT:
      print_instant(out, plan, expr->instant);
      break;
    case NG_CONVERT:
      print_conversion(out, plan, expr);
      break;
    case NG_CALENDAR:
      print_calendar(out, plan, expr);
      break;
    case NG_CAPTURE:
      base_buffer_puts(out, "capture(");
      print_operand(out, plan, expr->args[0], 0);
      base_buffer_puts(out, ", ");
      print_string(out, plan, expr->string);
      base_buffer_puts(out, ", ");
      print_operand(out, plan, expr->args[1], 0);
      base_buffer_putc(out, ')');
      break;
    case NG_MATCHES:
    case NG_FINDS:
      print_operand(out, plan, expr->args[0], 5);
      base_buffer_puts(out, expr->op == NG_FINDS ? " matches regular " : " matches ");
      print_string(out, plan, expr->string);
      break;
    case NG_SHIFT:
      print_operand(out, plan, expr->args[0], 5);
      base_buffer_puts(out, expr->integer < 0 ? " - " : " + ");
      base_buffer_printf(out, "%" PRIu64,
                         expr->integer < 0 ? -(uint64_t)expr->integer : (uint64_t)expr->integer);
      break;
    case NG_NEG:
      print_prefix(out, plan, expr, "-");
      break;
    case NG_NOT:
      print_prefix(out, plan, expr, "not ");
      break;
    case NG_WITHIN:
      print_operand(out, plan, expr->args[1], 5);
      base_buffer_puts(out, " within ");
      base_buffer_int(out, expr->integer);
      base_buffer_puts(out, " of ");
      print_operand(out, plan, expr->args[0], 5);
      break;
    case NG_OVERLAP_PERIODS:
      print_periods(out, plan, expr, " overlaps ");
      break;
    case NG_EQUAL_PERIODS:
      print_periods(out, plan, expr, " equals ");
      break;
    case NG_CONTAIN:
      print_periods(out, plan, expr, " contains ");
      break;
    case NG_OVERLAP_EVENT:
      print_operand(out, plan, expr->args[0], 5);
      base_buffer_puts(out, " in ");
      print_period(out, plan, expr->args[1], expr->args[2]);
      break;
    default:
      print_operator(out, plan, expr);
  }
}

/* --- what is wanted */

static void print_value(struct base_buffer *out, const struct ng_plan *plan, struct net_type type,
                        union net_slot value) {
  if (net_type_is_interned(type.base))
    print_interned(out, plan, type.base, value.s);
  else if (type.base == NET_BOOL)
    base_buffer_puts(out, value.i ? "true" : "false");
  else
    base_buffer_int(out, value.i);
}

static void print_wanted_domain(struct base_buffer *out, const struct ng_plan *plan,
                                const struct net_wanted_domain *domain) {
  if (!domain->listed) {
    if (domain->min != INT64_MIN)
      base_buffer_printf(out, "%s >= %" PRId64, domain->name, domain->min);
    if (domain->min != INT64_MIN && domain->max != INT64_MAX) base_buffer_puts(out, " and ");
    if (domain->max != INT64_MAX)
      base_buffer_printf(out, "%s <= %" PRId64, domain->name, domain->max);
    return;
  }
  base_buffer_printf(out, domain->count == 1 ? "%s = " : "%s one of (", domain->name);
  for (uint32_t i = 0; i < domain->count; i++) {
    if (i > 0) base_buffer_puts(out, ", ");
    print_value(out, plan, domain->type, domain->values[i]);
  }
  if (domain->count != 1) base_buffer_putc(out, ')');
}

static void print_wanted_time(struct base_buffer *out, const struct ng_plan *plan, const char *what,
                              net_chronon time, net_chronon all, bool *any) {
  if (time == all) return;
  if (*any) base_buffer_puts(out, " and ");
  *any = true;
  base_buffer_puts(out, what);
  net_time_print(out, plan->timeline, time);
}

void ng_wanted_print(struct base_buffer *out, const struct ng_plan *plan,
                     const struct net_wanted *wanted, bool events) {
  bool any = false;
  for (uint32_t i = 0; i < wanted->domain_count; i++) {
    if (any) base_buffer_puts(out, " and ");
    any = true;
    print_wanted_domain(out, plan, &wanted->domains[i]);
  }
  print_wanted_time(out, plan, events ? "at >= " : "start >= ", wanted->start_hi_min, NET_BEGINNING,
                    &any);
  print_wanted_time(out, plan, events ? "at <= " : "start <= ", wanted->start_lo_max, NET_FOREVER,
                    &any);
  print_wanted_time(out, plan, "stop >= ", wanted->stop_hi_min, NET_BEGINNING, &any);
  print_wanted_time(out, plan, "stop <= ", wanted->stop_lo_max, NET_FOREVER, &any);
}
