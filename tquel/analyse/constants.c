/* Constant times and durations made absolute.
 *
 * An integer counts time units from 0 on the abstract timeline and from the start of the session on
 * the real one; a string is ISO 8601, a clock time or one of the words; beginning, forever and now
 * may also stand bare (a tuple variable of that name wins). Durations stand where lengths are
 * wanted; as a time a duration counts from the start of the session, in append, checkpoint and set
 * origin only, which in turn refuse bare integers on the real timeline.
 *
 * Nothing here is rounded or saturated: a constant outside the time line is an error. */
#include <string.h>

#include "tquel/analyse/analyse_internal.h"

static bool is_time_word(const char *name) {
  return tql_same_name(name, "beginning") || tql_same_name(name, "forever") ||
         tql_same_name(name, "now") || tql_same_name(name, "today") ||
         tql_same_name(name, "yesterday");
}

/* An integer constant with any number of signs. */
static bool integer_value(const struct tql_expr *expr, int64_t *ret) {
  bool negative = false;
  for (; expr && expr->kind == TQL_E_NEGATE; expr = expr->left) negative = !negative;
  if (!expr || expr->kind != TQL_E_INTEGER || expr->integer == INT64_MIN) return false;
  *ret = negative ? -expr->integer : expr->integer;
  return true;
}

static bool looks_like_duration(const struct tql_expr *expr) {
  int64_t ignored;
  return expr->kind == TQL_E_DURATION || integer_value(expr, &ignored);
}

static bool is_shift(const struct tql_expr *expr) {
  return expr->kind == TQL_E_ADD || expr->kind == TQL_E_SUB;
}

void tql_shift_parts(const struct tql_expr *expr, const struct tql_expr **ret_time,
                     const struct tql_expr **ret_duration) {
  bool exchanged = expr->kind == TQL_E_ADD && looks_like_duration(expr->left) &&
                   !looks_like_duration(expr->right);
  *ret_time = exchanged ? expr->right : expr->left;
  *ret_duration = exchanged ? expr->left : expr->right;
}

bool tql_looks_constant(const struct tql_expr *expr) {
  int64_t ignored;
  if (is_shift(expr)) {
    const struct tql_expr *time, *duration;
    tql_shift_parts(expr, &time, &duration);
    return looks_like_duration(duration) && tql_looks_constant(time);
  }
  return expr->kind == TQL_E_STRING || expr->kind == TQL_E_DURATION ||
         (expr->kind == TQL_E_NAME && is_time_word(expr->name.text)) ||
         integer_value(expr, &ignored);
}

/* On the real timeline a number in quotes may be a year, seconds, or anything; data have nanoseconds so. */
static bool is_number(const char *text, size_t length) {
  size_t at = length > 0 && (text[0] == '-' || text[0] == '+');
  return at < length && strspn(text + at, "0123456789") >= length - at;
}

static enum tql_constant text_time(const struct tql_scope *scope, const char *text, size_t length,
                                   net_chronon *ret) {
  if (scope->time.timeline == NET_TIMELINE_REAL && is_number(text, length))
    return TQL_CONSTANT_NUMBER;
  switch (net_time_parse(text, length, &scope->time, ret)) {
    case NET_TIME_OK:
      return TQL_CONSTANT_OK;
    case NET_TIME_SYNTAX:
      return TQL_CONSTANT_SYNTAX;
    case NET_TIME_RANGE:
      return TQL_CONSTANT_RANGE;
    case NET_TIME_FIELD:
      return TQL_CONSTANT_FIELD;
    case NET_TIME_ABSTRACT:
      return TQL_CONSTANT_ABSTRACT;
    case NET_TIME_TWICE:
      return TQL_CONSTANT_TWICE;
    case NET_TIME_SKIPPED:
      return TQL_CONSTANT_SKIPPED;
  }
  return TQL_CONSTANT_SYNTAX;
}

static enum tql_constant offset_from(net_chronon origin, int64_t count, int64_t unit,
                                     net_chronon *ret) {
  int64_t offset;
  net_chronon time;
  if (__builtin_mul_overflow(count, unit, &offset)) return TQL_CONSTANT_RANGE;
  if (__builtin_add_overflow(origin, offset, &time)) return TQL_CONSTANT_RANGE;
  if (time == NET_BEGINNING || time == NET_FOREVER) return TQL_CONSTANT_RANGE;
  *ret = time;
  return TQL_CONSTANT_OK;
}

/* `beginning` and `forever` stay where they are. */
static enum tql_constant moved_time(const struct tql_scope *scope, const struct tql_expr *expr,
                                    struct tql_time_forms forms, net_chronon *ret) {
  const struct tql_expr *time_part, *duration_part;
  net_chronon time, moved;
  int64_t delta;
  tql_shift_parts(expr, &time_part, &duration_part);
  enum tql_constant result = tql_constant_duration(scope, duration_part, &delta);
  if (result == TQL_CONSTANT_OK) result = tql_constant_time(scope, time_part, forms, &time);
  if (result != TQL_CONSTANT_OK) return result;
  bool reserved = time == NET_BEGINNING || time == NET_FOREVER;
  moved = net_chronon_add(time, expr->kind == TQL_E_SUB ? -delta : delta);
  if (!reserved && (moved == NET_BEGINNING || moved == NET_FOREVER)) return TQL_CONSTANT_RANGE;
  *ret = moved;
  return TQL_CONSTANT_OK;
}

enum tql_constant tql_constant_time(const struct tql_scope *scope, const struct tql_expr *expr,
                                    struct tql_time_forms forms, net_chronon *ret) {
  bool real = scope->time.timeline == NET_TIMELINE_REAL;
  int64_t count;
  if (is_shift(expr)) return moved_time(scope, expr, forms, ret);
  if (expr->kind == TQL_E_STRING) return text_time(scope, expr->name.text, expr->length, ret);
  if (expr->kind == TQL_E_NAME && is_time_word(expr->name.text))
    return text_time(scope, expr->name.text, strlen(expr->name.text), ret);
  if (expr->kind == TQL_E_DURATION) {
    if (!real || !forms.durations) return TQL_CONSTANT_DURATION;
    return offset_from(scope->time.start, expr->integer, 1, ret);
  }
  if (!integer_value(expr, &count)) return TQL_CONSTANT_NONE;
  if (real && !forms.integers) return TQL_CONSTANT_BARE_INTEGER;
  return offset_from(real ? scope->time.start : 0, count, scope->settings->unit, ret);
}

enum tql_constant tql_constant_duration(const struct tql_scope *scope, const struct tql_expr *expr,
                                        int64_t *ret) {
  int64_t count;
  if (expr->kind == TQL_E_DURATION) {
    if (scope->time.timeline != NET_TIMELINE_REAL) return TQL_CONSTANT_ABSTRACT;
    *ret = expr->integer;
    return *ret < 0 ? TQL_CONSTANT_RANGE : TQL_CONSTANT_OK;
  }
  if (!integer_value(expr, &count)) return TQL_CONSTANT_NONE;
  if (count < 0 || __builtin_mul_overflow(count, scope->settings->unit, ret))
    return TQL_CONSTANT_RANGE;
  return TQL_CONSTANT_OK;
}

/* What the clock of the session's zone did at the hour that EXPR names. */
static void report_change_of_clock(const struct tql_analysis *analysis, const struct tql_expr *expr,
                                   bool twice) {
  const struct tql_scope *scope = analysis->scope;
  struct base_buffer hint = BASE_BUFFER_EMPTY;
  struct net_instant time;
  bool known = expr->kind == TQL_E_STRING && expr->name.text != NULL;
  if (known) (void)net_time_parse_instant(expr->name.text, expr->length, &scope->time, &time);
  base_buffer_puts(&hint,
                   twice ? "write the offset from UTC behind it" : "clocks were put forward");
  if (known) {
    base_buffer_puts(&hint, twice ? ": it is " : " at ");
    net_time_print(&hint, NET_TIMELINE_REAL, time.lo);
    if (twice) base_buffer_puts(&hint, " or ");
    if (twice) net_time_print(&hint, NET_TIMELINE_REAL, time.hi);
  }
  base_report_hint(analysis->diags, MSG_BAD_TIME, analysis->source, &expr->range,
                   base_buffer_text(&hint),
                   twice ? "%s comes twice: clocks are put back then"
                         : "there is no such time as %s: clocks are put forward over it",
                   tql_expr_text(analysis, expr));
  base_buffer_done(&hint);
}

void tql_report_constant(const struct tql_analysis *analysis, const struct tql_expr *expr,
                         enum tql_constant why) {
  bool real = analysis->scope->time.timeline == NET_TIMELINE_REAL;
  const char *text = tql_expr_text(analysis, expr);
  switch (why) {
    case TQL_CONSTANT_OK:
      break;
    case TQL_CONSTANT_NONE:
      base_report_hint(analysis->diags, MSG_BAD_TIME, analysis->source, &expr->range,
                       real ? "a time is ISO 8601 text, a clock time, \"now\", beginning, forever"
                            : "a time is an integer, beginning or forever",
                       "%s is no constant time", text);
      break;
    case TQL_CONSTANT_SYNTAX:
      base_report_hint(analysis->diags, MSG_BAD_TIME, analysis->source, &expr->range,
                       real
                           ? "write ISO 8601, \"2026-11-20T11:02:03Z\", or a clock time, \"3:00pm\""
                           : "times of the abstract timeline are integers",
                       "%s is no time", text);
      break;
    case TQL_CONSTANT_RANGE:
      base_report(analysis->diags, MSG_BAD_TIME, analysis->source, &expr->range,
                  "%s is outside the time line", text);
      break;
    case TQL_CONSTANT_FIELD:
      base_report_hint(analysis->diags, MSG_BAD_TIME, analysis->source, &expr->range,
                       "months have 28 to 31 days, hours go to 23, minutes and seconds to 59",
                       "there is no such time as %s", text);
      break;
    case TQL_CONSTANT_ABSTRACT:
      base_report_hint(analysis->diags, MSG_BAD_TIME, analysis->source, &expr->range,
                       "this database has the abstract timeline; its times are integers",
                       "%s is no time of the abstract timeline", text);
      break;
    case TQL_CONSTANT_NUMBER:
      base_report_hint(analysis->diags, MSG_BAD_TIME, analysis->source, &expr->range,
                       "write ISO 8601: \"2026-01-01\" is the instant at which that year begins",
                       "%s is a number, and no time", text);
      break;
    case TQL_CONSTANT_TWICE:
    case TQL_CONSTANT_SKIPPED:
      report_change_of_clock(analysis, expr, why == TQL_CONSTANT_TWICE);
      break;
    case TQL_CONSTANT_DURATION:
      base_report_hint(analysis->diags, MSG_BAD_DURATION, analysis->source, &expr->range,
                       real ? "durations follow within, or are compared with span(...)"
                            : "times of the abstract timeline are integers",
                       "%s is a duration, not a time", text);
      break;
    case TQL_CONSTANT_BARE_INTEGER:
      base_report_hint(analysis->diags, MSG_BARE_INTEGER_TIME, analysis->source, &expr->range,
                       "write ISO 8601 text, \"now\", or a number with a unit, which counts from "
                       "the start of the session",
                       "the bare integer %s is no time here", text);
      break;
  }
}

enum base_status tql_analyse_time(const struct tql_analysis *analysis, const struct tql_expr *expr,
                                  bool integers_ok, net_chronon *ret) {
  struct tql_time_forms forms = {.integers = integers_ok, .durations = true};
  enum tql_constant why = tql_constant_time(analysis->scope, expr, forms, ret);
  if (why == TQL_CONSTANT_OK) return BASE_OK;
  tql_report_constant(analysis, expr, why);
  return BASE_USER;
}

enum base_status tql_analyse_duration(const struct tql_analysis *analysis,
                                      const struct tql_expr *expr, int64_t *ret) {
  const char *text = tql_expr_text(analysis, expr);
  switch (tql_constant_duration(analysis->scope, expr, ret)) {
    case TQL_CONSTANT_OK:
      return BASE_OK;
    case TQL_CONSTANT_ABSTRACT:
      base_report_hint(analysis->diags, MSG_BAD_DURATION, analysis->source, &expr->range,
                       "durations of the abstract timeline are integers",
                       "the abstract timeline has no unit that %s could mean", text);
      return BASE_USER;
    case TQL_CONSTANT_RANGE:
      base_report(analysis->diags, MSG_BAD_DURATION, analysis->source, &expr->range,
                  "the duration %s is negative or too long", text);
      return BASE_USER;
    default:
      base_report_hint(analysis->diags, MSG_BAD_DURATION, analysis->source, &expr->range,
                       "write a number with a unit, 5 s, or an integer", "%s is no duration", text);
      return BASE_USER;
  }
}
