/* Scalar expressions on one combination of tuples, by recursion over the bound tree.
 *
 * Integers fail on overflow and division by zero, floats when the result is no finite number.
 * Conditions are three-valued; an error in one counts only if no other conjunct is F. A comparison of
 * temporal values is true or false at one chronon (oracle->chronon): cut.c asks for it at all
 * chronons that matter.                                                                             */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/calendar.h"
#include "tests/oracle/oracle_internal.h"

bool oracle_fail(struct oracle *oracle, const char *error) {
  if (!oracle->error) oracle->error = error;
  return false;
}

/* --- numbers */

/* A negative power is the truncated quotient 1 / a ** -b. */
static struct oracle_value integer_power(struct oracle *oracle, int64_t a, int64_t b) {
  struct oracle_value result = {.base = NET_INTEGER, .i = 1};
  if (b < 0) {
    if (a == 0) oracle_fail(oracle, "division by zero");
    result.i = a == 1 || (a == -1 && b % 2 == 0) ? 1 : a == -1 ? -1 : 0;
    return result;
  }
  if (a == 0 || a == 1 || a == -1) {
    result.i = b == 0 ? 1 : a == -1 && b % 2 == 0 ? 1 : a;
    return result;
  }
  for (; b > 0 && !oracle->error; b--)
    if (__builtin_mul_overflow(result.i, a, &result.i)) oracle_fail(oracle, "integer overflow");
  return result;
}

static struct oracle_value integer_operation(struct oracle *oracle, enum ng_op op, int64_t a,
                                             int64_t b) {
  struct oracle_value result = {.base = NET_INTEGER};
  bool overflow = false;
  if ((op == NG_DIV || op == NG_MOD) && b == 0) {
    oracle_fail(oracle, "division by zero");
    return result;
  }
  switch (op) {
    case NG_NEG:
      overflow = __builtin_sub_overflow((int64_t)0, a, &result.i);
      break;
    case NG_ADD:
      overflow = __builtin_add_overflow(a, b, &result.i);
      break;
    case NG_SUB:
      overflow = __builtin_sub_overflow(a, b, &result.i);
      break;
    case NG_MUL:
      overflow = __builtin_mul_overflow(a, b, &result.i);
      break;
    case NG_ABS:
      overflow = a == INT64_MIN;
      result.i = overflow || a >= 0 ? a : -a;
      break;
    case NG_DIV:
      overflow = a == INT64_MIN && b == -1;
      result.i = overflow ? 0 : a / b;
      break;
    case NG_MOD:
      result.i = b == -1 ? 0 : a % b;
      break;
    case NG_POWER:
      return integer_power(oracle, a, b);
    default:
      oracle_fail(oracle, "integer operator");
  }
  if (overflow) oracle_fail(oracle, "integer overflow");
  return result;
}

static struct oracle_value float_operation(struct oracle *oracle, enum ng_op op, double a,
                                           double b) {
  struct oracle_value result = {.base = NET_FLOAT};
  if (op == NG_DIV && b == 0) oracle_fail(oracle, "division by zero");
  switch (op) {
    case NG_NEG:
      result.f = -a;
      break;
    case NG_ADD:
      result.f = a + b;
      break;
    case NG_SUB:
      result.f = a - b;
      break;
    case NG_MUL:
      result.f = a * b;
      break;
    case NG_DIV:
      result.f = b == 0 ? 0 : a / b;
      break;
    case NG_POWER:
      result.f = pow(a, b);
      break;
    case NG_ABS:
      result.f = fabs(a);
      break;
    case NG_SQRT:
      result.f = sqrt(a);
      break;
    case NG_LOG:
      result.f = log(a);
      break;
    case NG_EXP:
      result.f = exp(a);
      break;
    case NG_SIN:
      result.f = sin(a);
      break;
    case NG_COS:
      result.f = cos(a);
      break;
    case NG_ATAN:
      result.f = atan(a);
      break;
    default:
      oracle_fail(oracle, "float operator");
  }
  if (!isfinite(result.f)) oracle_fail(oracle, "no number");
  if (result.f == 0) result.f = 0; /* no negative zero */
  return result;
}

static bool fits_width(uint32_t width, int64_t value) {
  if (width >= 8) return true;
  int64_t limit = (int64_t)1 << (8 * width - 1);
  return value >= -limit && value < limit;
}

static struct oracle_value to_integer(struct oracle *oracle, struct net_type type,
                                      const struct oracle_value *value) {
  struct oracle_value result = {.base = NET_INTEGER, .i = value->i};
  if (value->base == NET_BOOL) result.i = value->truth == NET_TRUE;
  if (value->base == NET_FLOAT) {
    if (!(value->f >= -0x1p63 && value->f < 0x1p63))
      oracle_fail(oracle, "out of range");
    else
      result.i = (int64_t)value->f;
  } else if (value->base == NET_STRING || value->base == NET_NAME) {
    const char *text = base_strings_text(oracle->world->strings, value->s, NULL);
    if (!oracle_number_of_text(text, type, &result)) oracle_fail(oracle, "no number");
  } else if (value->base != NET_INTEGER && value->base != NET_BOOL) {
    oracle_fail(oracle, "conversion");
  }
  if (!fits_width(type.width, result.i)) oracle_fail(oracle, "out of range");
  return result;
}

static struct oracle_value to_float(struct oracle *oracle, struct net_type type,
                                    const struct oracle_value *value) {
  struct oracle_value result = {.base = NET_FLOAT, .f = value->f};
  if (value->base == NET_BOOL) {
    result.f = value->truth == NET_TRUE;
  } else if (value->base == NET_INTEGER) {
    result.f = (double)value->i;
  } else if (value->base == NET_STRING || value->base == NET_NAME) {
    const char *text = base_strings_text(oracle->world->strings, value->s, NULL);
    if (!oracle_number_of_text(text, type, &result)) oracle_fail(oracle, "no number");
  } else if (value->base != NET_FLOAT) {
    oracle_fail(oracle, "conversion");
  }
  if (type.width == 4) {
    if (isinf((float)result.f)) oracle_fail(oracle, "out of range");
    result.f = (double)(float)result.f;
  }
  if (result.f == 0) result.f = 0; /* no negative zero */
  return result;
}

static struct oracle_value convert(struct oracle *oracle, struct net_type type,
                                   struct oracle_value value) {
  struct oracle_value result = {.base = type.base};
  bool text = value.base == NET_STRING || value.base == NET_NAME;
  switch (type.base) {
    case NET_INTEGER:
      return to_integer(oracle, type, &value);
    case NET_FLOAT:
      return to_float(oracle, type, &value);
    case NET_STRING:
    case NET_NAME:
      if (!text) oracle_fail(oracle, "conversion");
      result.s = value.s;
      return result;
    case NET_TEMPORAL:
      if (value.base == NET_TEMPORAL) return value;
      result.function = (struct oracle_function){
          value.base == NET_INTEGER ? (long double)value.i : (long double)value.f, 0, 1, 0};
      return result;
    default:
      if (type.base != value.base) oracle_fail(oracle, "conversion");
      return value;
  }
}

/* --- leaves */

struct oracle_value oracle_stored_value(struct net_type type, const union net_slot *slot) {
  struct oracle_value value = {.base = type.base};
  switch (type.base) {
    case NET_FLOAT:
      value.f = slot->f;
      break;
    case NET_BOOL:
      value.truth = slot->i ? NET_TRUE : NET_FALSE;
      break;
    case NET_TEMPORAL:
      value.function = (struct oracle_function){slot[0].f, slot[1].f, slot[2].f, slot[3].f};
      break;
    case NET_STRING:
    case NET_NAME:
    case NET_BYTES:
      value.s = slot->s;
      break;
    default:
      value.i = slot->i;
  }
  return value;
}

/* A span in the unit of temporal values. */
long double oracle_units(const struct oracle *oracle, net_chronon from, net_chronon to) {
  long double scale = oracle->query->timeline == NET_TIMELINE_REAL ? 1e9L : 1;
  return ((long double)to - (long double)from) / scale;
}

static void rebase(const struct oracle *oracle, struct oracle_value *value, net_chronon from) {
  if (value->base != NET_TEMPORAL || !oracle->rebase) return;
  value->function = oracle_moved(value->function, oracle_units(oracle, from, oracle->rebase_to));
}

static struct oracle_value domain(struct oracle *oracle, const struct ng_expr *expr) {
  const struct net_layout *layout = oracle->inputs[expr->variable].layout;
  const struct oracle_tuple *tuple = oracle->tuples[expr->variable];
  if (expr->index == layout->field_count) /* an update asks for the tuple's number */
    return (struct oracle_value){.base = NET_INTEGER,
                                 .i = tuple - oracle->inputs[expr->variable].tuples};
  const struct net_field *field = &layout->fields[expr->index];
  struct oracle_value value = oracle_stored_value(field->type, tuple->row + field->slot);
  rebase(oracle, &value, tuple->row[0].i);
  return value;
}

static struct oracle_value aggregate(struct oracle *oracle, const struct ng_expr *expr) {
  const struct oracle_segment *segment = oracle->segments[expr->index];
  struct oracle_value value = segment->value;
  rebase(oracle, &value, segment->time.start.lo);
  return value;
}

/* --- time */

/* The middle of what is uncertain up to `forever` is `forever`, and likewise of `beginning`. */
static int64_t middle(struct net_instant instant) {
  if (instant.hi == NET_FOREVER) return NET_FOREVER;
  if (instant.lo == NET_BEGINNING) return NET_BEGINNING;
  __extension__ __int128 sum = (__int128)instant.lo + instant.hi;
  return (int64_t)((sum - (sum % 2 != 0 && sum < 0)) / 2);
}

/* From `beginning` or to `forever`: longer than any number; the other way about: shorter. */
static int64_t distance(struct oracle *oracle, int64_t from, int64_t to) {
  int64_t result = 0;
  if (from == to) return 0;
  if (from == NET_BEGINNING || to == NET_FOREVER) return INT64_MAX;
  if (from == NET_FOREVER || to == NET_BEGINNING) return INT64_MIN;
  if (__builtin_sub_overflow(to, from, &result)) oracle_fail(oracle, "endless");
  return result;
}

static struct oracle_value of_time(struct oracle *oracle, const struct ng_expr *expr) {
  struct oracle_alternatives alternatives = {0};
  oracle_temporal(oracle, expr->args[0], &alternatives);
  struct oracle_value value = {.base = NET_INTEGER};
  struct net_instant start = alternatives.items[0].start, stop = alternatives.items[0].stop;
  if (expr->op == NG_CHRONON) {
    value.i = expr->integer == 1 ? start.lo : expr->integer == 2 ? start.hi : middle(start);
    return value;
  }
  int64_t from = expr->integer == 1 ? start.hi : expr->integer == 2 ? start.lo : middle(start);
  int64_t to = expr->integer == 1 ? stop.lo : expr->integer == 2 ? stop.hi : middle(stop);
  value.i = distance(oracle, from, to);
  return value;
}

/* By the C library. No clock is put forward or back between the times of a scenario and what began before them. */
static struct oracle_value of_calendar(struct oracle *oracle, const struct ng_expr *expr) {
  struct oracle_value value = oracle_scalar(oracle, expr->args[0]);
  if (oracle->error) return value;
  bool since = expr->integer >= NET_SINCE_LENGTH;
  if (value.i == NET_BEGINNING || value.i == NET_FOREVER) {
    if (!since) oracle_fail(oracle, "out of range");
    return value;
  }
  int64_t ns = ((value.i % 1000000000) + 1000000000) % 1000000000;
  time_t utc = (time_t)((value.i - ns) / 1000000000);
  struct tm tm;
  setenv("TZ", base_strings_text(oracle->world->strings, expr->string, NULL), 1);
  tzset();
  localtime_r(&utc, &tm);
  int64_t local = timegm(&(struct tm){tm.tm_sec, tm.tm_min, tm.tm_hour, tm.tm_mday, tm.tm_mon,
                                      tm.tm_year, 0, 0, 0, 0, NULL});
  char week[8];
  strftime(week, sizeof week, "%V", &tm);
  struct tm first = {.tm_mday = tm.tm_mday, .tm_mon = tm.tm_mon, .tm_year = tm.tm_year};
  switch ((enum net_calendar_part)expr->integer) {
    case NET_PART_SECOND:
      value.i = tm.tm_sec;
      return value;
    case NET_PART_MINUTE:
      value.i = tm.tm_min;
      return value;
    case NET_PART_HOUR:
      value.i = tm.tm_hour;
      return value;
    case NET_PART_DAY:
      value.i = tm.tm_mday;
      return value;
    case NET_PART_WEEKDAY:
      value.i = tm.tm_wday == 0 ? 7 : tm.tm_wday;
      return value;
    case NET_PART_WEEK:
      value.i = atoi(week);
      return value;
    case NET_PART_MONTH:
      value.i = tm.tm_mon + 1;
      return value;
    case NET_PART_YEAR:
      value.i = tm.tm_year + 1900;
      return value;
    case NET_SINCE_LENGTH: {
      int64_t length = expr->instant.lo, behind = (local * 1000000000 + ns) % length;
      value.i -= behind < 0 ? behind + length : behind;
      return value;
    }
    case NET_SINCE_DAY:
      break;
    case NET_SINCE_WEEK:
      first.tm_mday -= (tm.tm_wday + 6) % 7;
      break;
    case NET_SINCE_MONTH:
      first.tm_mday = 1;
      break;
    case NET_SINCE_YEAR:
      first.tm_mday = 1;
      first.tm_mon = 0;
      break;
  }
  first.tm_isdst = -1;
  value.i = (int64_t)mktime(&first) * 1000000000;
  return value;
}

/* --- conditions */

static int compare_strings(const struct oracle *oracle, base_string_id a, base_string_id b) {
  size_t length_a, length_b;
  const char *text_a = base_strings_text(oracle->world->strings, a, &length_a);
  const char *text_b = base_strings_text(oracle->world->strings, b, &length_b);
  int order = memcmp(text_a, text_b, length_a < length_b ? length_a : length_b);
  return order ? order : (length_a > length_b) - (length_a < length_b);
}

int oracle_compare_values(struct oracle *oracle, const struct oracle_value *a,
                          const struct oracle_value *b) {
  bool numbers = (a->base == NET_INTEGER || a->base == NET_FLOAT) &&
                 (b->base == NET_INTEGER || b->base == NET_FLOAT);
  if (numbers && a->base != b->base) {
    /* A long double has 64 bits: it holds every integer and every double. */
    _Static_assert(LDBL_MANT_DIG >= 64, "integers and doubles are compared as long doubles");
    long double x = a->base == NET_INTEGER ? (long double)a->i : (long double)a->f;
    long double y = b->base == NET_INTEGER ? (long double)b->i : (long double)b->f;
    return (x > y) - (x < y);
  }
  switch (a->base) {
    case NET_INTEGER:
      return (a->i > b->i) - (a->i < b->i);
    case NET_FLOAT:
      return (a->f > b->f) - (a->f < b->f);
    case NET_STRING:
    case NET_NAME:
    case NET_BYTES:
      return compare_strings(oracle, a->s, b->s);
    case NET_BOOL:
      return (a->truth > b->truth) - (a->truth < b->truth);
    default:
      oracle_fail(oracle, "comparison");
      return 0;
  }
}

bool oracle_equal_values(const struct oracle *oracle, const struct oracle_value *a,
                         const struct oracle_value *b) {
  if (a->base != b->base) return false;
  switch (a->base) {
    case NET_INTEGER:
      return a->i == b->i;
    case NET_FLOAT:
      return a->f == b->f;
    case NET_BOOL:
      return a->truth == b->truth;
    case NET_TEMPORAL:
      return oracle_same_function(a->function, b->function);
    default:
      return compare_strings(oracle, a->s, b->s) == 0;
  }
}

static enum net_truth comparison(struct oracle *oracle, const struct ng_expr *expr) {
  struct oracle_value a = oracle_scalar(oracle, expr->args[0]);
  struct oracle_value b = oracle_scalar(oracle, expr->args[1]);
  if (oracle->error) return NET_UNKNOWN;
  if (a.base == NET_TEMPORAL && oracle->at_chronon)
    return oracle_temporal_comparison(oracle, expr->op, a.function, b.function);
  int order = oracle_compare_values(oracle, &a, &b);
  bool holds = false;
  switch (expr->op) {
    case NG_EQ:
      holds = order == 0;
      break;
    case NG_NE:
      holds = order != 0;
      break;
    case NG_LT:
      holds = order < 0;
      break;
    case NG_LE:
      holds = order <= 0;
      break;
    case NG_GT:
      holds = order > 0;
      break;
    default:
      holds = order >= 0;
  }
  return holds ? NET_TRUE : NET_FALSE;
}

/* One side that decides makes an error of the other side not count. */
static enum net_truth connective(struct oracle *oracle, const struct ng_expr *expr) {
  enum net_truth decides = expr->op == NG_AND ? NET_FALSE : NET_TRUE;
  const char *before = oracle->error;
  enum net_truth left = oracle_condition(oracle, expr->args[0]);
  const char *left_error = oracle->error;
  oracle->error = before;
  enum net_truth right = oracle_condition(oracle, expr->args[1]);
  const char *right_error = oracle->error;
  if ((!left_error && left == decides) || (!right_error && right == decides)) {
    oracle->error = before;
    return decides;
  }
  oracle->error = left_error ? left_error : right_error;
  return expr->op == NG_AND ? net_and(left, right) : net_or(left, right);
}

enum net_truth oracle_condition(struct oracle *oracle, const struct ng_expr *expr) {
  if (!expr) return NET_TRUE;
  if (oracle->error) return NET_UNKNOWN;
  switch (expr->op) {
    case NG_AND:
    case NG_OR:
      return connective(oracle, expr);
    case NG_NOT:
      return net_not(oracle_condition(oracle, expr->args[0]));
    case NG_TRUTH:
      return expr->integer ? NET_TRUE : NET_FALSE;
    case NG_HOLDS:
      return oracle_holds(oracle, expr->args[0]);
    case NG_MATCHES: {
      struct oracle_value text = oracle_scalar(oracle, expr->args[0]);
      if (oracle->error) return NET_UNKNOWN;
      return oracle_matches(oracle, text.s, expr->string) ? NET_TRUE : NET_FALSE;
    }
    case NG_FINDS: {
      struct oracle_value text = oracle_scalar(oracle, expr->args[0]);
      if (oracle->error) return NET_UNKNOWN;
      return oracle_finds(oracle, text.s, expr->string) ? NET_TRUE : NET_FALSE;
    }
    case NG_EQ:
    case NG_NE:
    case NG_LT:
    case NG_LE:
    case NG_GT:
    case NG_GE:
      return comparison(oracle, expr);
    default:
      return oracle_scalar(oracle, expr).truth;
  }
}

/* --- all scalars */

static struct oracle_value operation(struct oracle *oracle, const struct ng_expr *expr) {
  struct oracle_value a = oracle_scalar(oracle, expr->args[0]), b = {0}, c = {0};
  if (expr->arg_count > 1) b = oracle_scalar(oracle, expr->args[1]);
  if (expr->arg_count > 2) c = oracle_scalar(oracle, expr->args[2]);
  if (oracle->error) return a;
  if (a.base == NET_BYTES || expr->type.base == NET_BYTES)
    return oracle_bytes_operation(oracle, expr, &a, &b, &c);
  if (expr->op == NG_CONVERT) return convert(oracle, expr->type, a);
  if (expr->op == NG_CAPTURE) return oracle_capture(oracle, expr, a.s, b.i);
  if (expr->op >= NG_LOWER && expr->op <= NG_SPLIT)
    return oracle_text_change(oracle, expr, &a, &b, &c);
  if (expr->op == NG_ASCII || expr->op == NG_CONCAT || expr->op == NG_LEFT ||
      expr->op == NG_RIGHT || expr->op == NG_LENGTH)
    return oracle_text_operation(oracle, expr, &a, &b);
  switch (expr->type.base) {
    case NET_INTEGER:
      return integer_operation(oracle, expr->op, a.i, b.i);
    case NET_FLOAT:
      return float_operation(oracle, expr->op, a.f, b.f);
    default:
      return oracle_temporal_operation(oracle, expr->op, a, b);
  }
}

struct oracle_value oracle_scalar(struct oracle *oracle, const struct ng_expr *expr) {
  struct oracle_value value = {.base = expr->type.base};
  if (oracle->error) return value;
  switch (expr->op) {
    case NG_INTEGER:
      value.i = expr->integer;
      return value;
    case NG_FLOAT:
      value.f = expr->real;
      return value;
    case NG_STRING:
      value.s = expr->string;
      return value;
    case NG_DOMAIN:
      return domain(oracle, expr);
    case NG_AGGREGATE:
      return aggregate(oracle, expr);
    case NG_GROUP:
      return oracle->segments[0]->by[expr->index];
    case NG_SPAN:
    case NG_CHRONON:
      return of_time(oracle, expr);
    case NG_CALENDAR:
      return of_calendar(oracle, expr);
    case NG_TRUTH:
    case NG_AND:
    case NG_OR:
    case NG_NOT:
    case NG_EQ:
    case NG_NE:
    case NG_LT:
    case NG_LE:
    case NG_GT:
    case NG_GE:
    case NG_HOLDS:
    case NG_MATCHES:
    case NG_FINDS:
      value.base = NET_BOOL;
      value.truth = oracle_condition(oracle, expr);
      return value;
    case NG_DURATION: {
      const struct oracle_tuple *tuple = oracle->tuples[expr->variable];
      value.function = (struct oracle_function){0, 1, 1, 0};
      rebase(oracle, &value, tuple->row[0].i);
      return value;
    }
    case NG_NEG:
    case NG_ADD:
    case NG_SUB:
    case NG_MUL:
    case NG_DIV:
    case NG_MOD:
    case NG_POWER:
    case NG_ABS:
    case NG_SQRT:
    case NG_LOG:
    case NG_EXP:
    case NG_SIN:
    case NG_COS:
    case NG_ATAN:
    case NG_CONVERT:
    case NG_ASCII:
    case NG_CONCAT:
    case NG_LEFT:
    case NG_RIGHT:
    case NG_LENGTH:
    case NG_LOWER:
    case NG_UPPER:
    case NG_TRIM:
    case NG_SUBSTRING:
    case NG_POSITION:
    case NG_SUBSTITUTE:
    case NG_SPLIT:
    case NG_CAPTURE:
    case NG_HEX:
    case NG_UNHEX:
      return operation(oracle, expr);
    default:
      oracle_fail(oracle, "expression");
      return value;
  }
}
