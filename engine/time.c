/* Reading and printing times and durations.
 *
 * The calendar is the proleptic Gregorian one in UTC, every day 86400 s long; a leap second (:60)
 * has no chronon and is out of range. All arithmetic is exact: a text that names no representable
 * chronon is refused, never rounded. The dated texts reach from 1677-09-21T00:12:43.145224194Z to
 * 2262-04-11T23:47:16.854775806Z; beyond lie the reserved values, which only their words and the bare
 * integers name, so that no date turns into `forever`, and one that no text names (NET_EARLIEST - 1).
 *
 * Reading tries, in this order: a word, an integer, a date, a clock time. What is printed reads
 * back as the same chronon, on both timelines, for every chronon. Texts need no NUL, and may hold any
 * bytes. Blanks around a text are ignored; letters compare without case. */
#include "engine/time.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/calendar.h"

#define NS_PER_SECOND   INT64_C(1000000000)
#define SECONDS_PER_DAY 86400

net_chronon net_chronon_add(net_chronon time, int64_t delta) {
  net_chronon sum;
  if (time == NET_BEGINNING || time == NET_FOREVER) return time;
  if (!__builtin_add_overflow(time, delta, &sum) && (sum >= NET_EARLIEST || sum == NET_BEGINNING))
    return sum;
  return delta < 0 ? NET_BEGINNING : NET_FOREVER;
}

/* ---- the calendar ---- */

static int64_t floor_divide(int64_t a, int64_t b) {
  return a / b - (a % b < 0);
}

static bool is_leap_year(int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_in_month(int64_t year, int month) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap_year(year) ? 29 : days[month - 1];
}

/* ---- printing ---- */

static bool print_reserved(struct base_buffer *out, net_chronon time) {
  if (time != NET_BEGINNING && time != NET_FOREVER) return false;
  base_buffer_puts(out, time == NET_FOREVER ? "forever" : "beginning");
  return true;
}

void net_time_print_raw(struct base_buffer *out, net_chronon time) {
  if (!print_reserved(out, time)) base_buffer_int(out, time);
}

static void print_fraction(struct base_buffer *out, int nanoseconds) {
  if (nanoseconds == 0) return;
  if (nanoseconds % 1000000 == 0)
    base_buffer_printf(out, ".%03d", nanoseconds / 1000000);
  else if (nanoseconds % 1000 == 0)
    base_buffer_printf(out, ".%06d", nanoseconds / 1000);
  else
    base_buffer_printf(out, ".%09d", nanoseconds);
}

/* Chronons reach only from 1677 to 2262, so no year needs a sign. */
void net_time_print(struct base_buffer *out, enum net_timeline timeline, net_chronon time) {
  if (timeline == NET_TIMELINE_ABSTRACT) {
    net_time_print_raw(out, time);
    return;
  }
  if (print_reserved(out, time)) return;
  int64_t seconds = floor_divide(time, NS_PER_SECOND);
  /* Not time - seconds * NS_PER_SECOND: that product need not fit. */
  int nanoseconds = (int)(time % NS_PER_SECOND);
  if (nanoseconds < 0) nanoseconds += (int)NS_PER_SECOND;
  int64_t days = floor_divide(seconds, SECONDS_PER_DAY);
  int second_of_day = (int)(seconds - days * SECONDS_PER_DAY);
  struct net_date date = net_date_from_days(days);
  base_buffer_printf(out, "%04d-%02d-%02dT%02d:%02d:%02d", (int)date.year, date.month, date.day,
                     second_of_day / 3600, second_of_day / 60 % 60, second_of_day % 60);
  print_fraction(out, nanoseconds);
  base_buffer_putc(out, 'Z');
}

/* ---- reading: the cursor ---- */

struct cursor {
  const char *next, *end;
};

static bool is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

static bool is_blank(char byte) {
  return byte == ' ' || byte == '\t';
}

static char lower(char byte) {
  return byte >= 'A' && byte <= 'Z' ? (char)(byte + 32) : byte;
}

static bool at_end(const struct cursor *at) {
  return at->next == at->end;
}

static char peek(const struct cursor *at) {
  return at_end(at) ? 0 : *at->next;
}

static bool accept(struct cursor *at, char byte) {
  if (at_end(at) || lower(*at->next) != byte) return false;
  at->next++;
  return true;
}

static void skip_blanks(struct cursor *at) {
  while (!at_end(at) && is_blank(*at->next)) at->next++;
}

static struct cursor trimmed(const char *text, size_t length) {
  struct cursor at = {text, text + length};
  skip_blanks(&at);
  while (at.end > at.next && is_blank(at.end[-1])) at.end--;
  return at;
}

static bool is_word(const struct cursor *at, const char *word) {
  size_t length = strlen(word);
  if ((size_t)(at->end - at->next) != length) return false;
  for (size_t i = 0; i < length; i++)
    if (lower(at->next[i]) != word[i]) return false;
  return true;
}

static size_t count_digits(const struct cursor *at) {
  const char *digit = at->next;
  while (digit < at->end && is_digit(*digit)) digit++;
  return (size_t)(digit - at->next);
}

/* Reads LENGTH digits, which the caller has counted. False: they do not fit. */
static bool read_digits(struct cursor *at, size_t length, int64_t *ret) {
  int64_t value = 0;
  bool fits = true;
  for (; length; length--, at->next++)
    fits = fits && !__builtin_mul_overflow(value, 10, &value) &&
           !__builtin_add_overflow(value, *at->next - '0', &value);
  if (fits) *ret = value;
  return fits;
}

/* Exactly two digits. */
static bool two_digits(struct cursor *at, int *ret) {
  int64_t value;
  if (count_digits(at) != 2 || !read_digits(at, 2, &value)) return false;
  *ret = (int)value;
  return true;
}

/* ---- reading: the parts of a time ---- */

/* Each reader below returns NET_TIME_SYNTAX at once when the text has not the form, but goes on
 * reading after a field that does not exist, so that FIELD is said only of what has the form. */
static enum net_time_error worse(enum net_time_error so_far, bool exists) {
  return so_far == NET_TIME_OK && !exists ? NET_TIME_FIELD : so_far;
}

static enum net_time_error parse_integer(struct cursor at, net_chronon *ret) {
  bool negative = peek(&at) == '-';
  if (negative || peek(&at) == '+') at.next++;
  size_t length = count_digits(&at);
  if (length == 0 || length != (size_t)(at.end - at.next)) return NET_TIME_SYNTAX;
  /* Summed up below zero, where INT64_MIN has room. */
  int64_t value = 0;
  for (; !at_end(&at); at.next++)
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_sub_overflow(value, *at.next - '0', &value))
      return NET_TIME_RANGE;
  if (!negative && __builtin_sub_overflow((int64_t)0, value, &value)) return NET_TIME_RANGE;
  *ret = value;
  return NET_TIME_OK;
}

/* YYYY-MM-DD, or with a sign and four or more digits of year. */
static enum net_time_error read_date(struct cursor *at, struct net_date *ret) {
  enum net_time_error error = NET_TIME_OK;
  bool negative = peek(at) == '-', with_sign = negative || peek(at) == '+';
  if (with_sign) at->next++;
  size_t year_length = count_digits(at);
  if (year_length < 4 || (year_length > 4 && !with_sign)) return NET_TIME_SYNTAX;
  ret->year = 0;
  if (!read_digits(at, year_length, &ret->year) || ret->year > 9999) error = NET_TIME_RANGE;
  if (!accept(at, '-') || !two_digits(at, &ret->month)) return NET_TIME_SYNTAX;
  if (!accept(at, '-') || !two_digits(at, &ret->day)) return NET_TIME_SYNTAX;
  if (error) return error;
  if (negative) ret->year = -ret->year;
  error = worse(error, ret->month >= 1 && ret->month <= 12);
  return error ? error
               : worse(error, ret->day >= 1 && ret->day <= days_in_month(ret->year, ret->month));
}

struct clock_reading {
  int64_t seconds; /* since midnight */
  int nanoseconds;
};

/* ".5", ",123456789": at most nine digits, for more could not be kept. */
static enum net_time_error read_fraction(struct cursor *at, int *ret) {
  if (!accept(at, '.') && !accept(at, ',')) return NET_TIME_OK;
  size_t length = count_digits(at);
  if (length == 0) return NET_TIME_SYNTAX;
  int64_t value = 0;
  bool fits = read_digits(at, length, &value) && length <= 9;
  if (!fits) return NET_TIME_RANGE;
  for (; length < 9; length++) value *= 10;
  *ret = (int)value;
  return NET_TIME_OK;
}

/* ":mm[:ss[.fraction]]" after HOUR. */
static enum net_time_error read_after_hour(struct cursor *at, int64_t hour,
                                           struct clock_reading *ret) {
  int minute, second = 0;
  enum net_time_error error = NET_TIME_OK;
  ret->nanoseconds = 0;
  if (!accept(at, ':') || !two_digits(at, &minute)) return NET_TIME_SYNTAX;
  if (accept(at, ':')) {
    if (!two_digits(at, &second)) return NET_TIME_SYNTAX;
    error = read_fraction(at, &ret->nanoseconds);
  }
  ret->seconds = hour * 3600 + minute * 60 + second;
  return worse(error, minute <= 59 && second <= 59);
}

/* Z, +hh:mm, +hhmm, +hh or nothing. */
static enum net_time_error read_offset(struct cursor *at, bool *ret_given, int32_t *ret) {
  int hour, minute = 0;
  if (at_end(at)) return NET_TIME_OK;
  *ret_given = true;
  if (accept(at, 'z')) {
    *ret = 0;
    return NET_TIME_OK;
  }
  bool west = peek(at) == '-';
  if (!accept(at, '+') && !accept(at, '-')) return NET_TIME_SYNTAX;
  size_t length = count_digits(at);
  if (length != 2 && length != 4) return NET_TIME_SYNTAX;
  hour = (at->next[0] - '0') * 10 + (at->next[1] - '0');
  at->next += 2;
  if (length == 4 || accept(at, ':'))
    if (!two_digits(at, &minute)) return NET_TIME_SYNTAX;
  *ret = (west ? -1 : 1) * (hour * 3600 + minute * 60);
  return worse(NET_TIME_OK, hour <= 23 && minute <= 59);
}

/* SECONDS since 1970 in UTC, and NANOSECONDS in [0, 10^9). */
static enum net_time_error make_chronon(int64_t seconds, int nanoseconds, net_chronon *ret) {
  int64_t rest = nanoseconds, time;
  /* So that both terms have one sign and only a sum that does not fit overflows. */
  if (seconds < 0 && rest > 0) {
    seconds++;
    rest -= NS_PER_SECOND;
  }
  if (__builtin_mul_overflow(seconds, NS_PER_SECOND, &time) ||
      __builtin_add_overflow(time, rest, &time) || time == NET_BEGINNING || time == NET_FOREVER)
    return NET_TIME_RANGE;
  *ret = time;
  return NET_TIME_OK;
}

/* ---- reading: whole times ---- */

static enum net_time_error make_exact(int64_t seconds, int nanoseconds, struct net_instant *ret) {
  enum net_time_error error = make_chronon(seconds, nanoseconds, &ret->lo);
  ret->hi = ret->lo;
  return error;
}

/* When the session's clock shows LOCAL seconds since 1970. */
static enum net_time_error make_local(const struct net_time_context *context, int64_t local,
                                      int nanoseconds, struct net_instant *ret) {
  int64_t when[2];
  int shown = net_zone_when(context->zone, local, when);
  if (shown == 0) nanoseconds = 0;
  enum net_time_error error = make_chronon(when[0], nanoseconds, &ret->lo);
  if (error == NET_TIME_OK) error = make_chronon(when[1], nanoseconds, &ret->hi);
  return error == NET_TIME_OK && shown == 0 ? NET_TIME_SKIPPED : error;
}

static enum net_time_error parse_iso(struct cursor at, const struct net_time_context *context,
                                     struct net_instant *ret) {
  struct net_date date = {0};
  struct clock_reading clock = {0, 0};
  bool with_offset = false;
  int32_t offset = 0;
  enum net_time_error date_error = read_date(&at, &date);
  enum net_time_error clock_error = NET_TIME_OK, zone_error = NET_TIME_OK;
  if (date_error == NET_TIME_SYNTAX) return NET_TIME_SYNTAX;
  if (!at_end(&at)) {
    int hour;
    if (!accept(&at, 't') && !accept(&at, ' ')) return NET_TIME_SYNTAX;
    if (!two_digits(&at, &hour)) return NET_TIME_SYNTAX;
    clock_error = worse(read_after_hour(&at, hour, &clock), hour <= 23);
    if (clock_error == NET_TIME_SYNTAX) return NET_TIME_SYNTAX;
    zone_error = read_offset(&at, &with_offset, &offset);
    if (zone_error == NET_TIME_SYNTAX || !at_end(&at)) return NET_TIME_SYNTAX;
  }
  if (date_error) return date_error;
  if (clock_error || zone_error) return clock_error ? clock_error : zone_error;
  int64_t seconds = net_days_from_date(date) * SECONDS_PER_DAY + clock.seconds;
  return with_offset ? make_exact(seconds - offset, clock.nanoseconds, ret)
                     : make_local(context, seconds, clock.nanoseconds, ret);
}

/* CLOCK on the date of TIME, both in the session's zone. */
static enum net_time_error on_date_of(net_chronon time, const struct net_time_context *context,
                                      struct clock_reading clock, struct net_instant *ret) {
  int64_t seconds = floor_divide(time, NS_PER_SECOND);
  int64_t local = seconds + net_zone_offset(context->zone, seconds);
  return make_local(context, floor_divide(local, SECONDS_PER_DAY) * SECONDS_PER_DAY + clock.seconds,
                    clock.nanoseconds, ret);
}

/* Where midnight is skipped the day begins behind it; where it comes twice, with the first. */
static enum net_time_error begin_of_day(net_chronon time, const struct net_time_context *context,
                                        struct net_instant *ret) {
  enum net_time_error error = on_date_of(time, context, (struct clock_reading){0, 0}, ret);
  ret->hi = ret->lo;
  return error == NET_TIME_SKIPPED ? NET_TIME_OK : error;
}

/* "am" or "pm" after an hour of 1 to 12: turns *HOUR into that of 24. */
static bool read_half_day(struct cursor *at, bool *ret_afternoon) {
  skip_blanks(at);
  *ret_afternoon = accept(at, 'p');
  return (*ret_afternoon || accept(at, 'a')) && accept(at, 'm');
}

/* "15:00", "15:00:02.5", "3:00pm", "3 pm": on the session's date, in the session's zone. */
static enum net_time_error parse_clock(struct cursor at, const struct net_time_context *context,
                                       struct net_instant *ret) {
  int64_t hour = 0;
  bool afternoon;
  struct clock_reading clock = {0, 0};
  enum net_time_error error = NET_TIME_OK;
  size_t length = count_digits(&at);
  if (length != 1 && length != 2) return NET_TIME_SYNTAX;
  read_digits(&at, length, &hour);
  bool with_minutes = peek(&at) == ':';
  if (with_minutes) error = read_after_hour(&at, hour, &clock);
  if (error == NET_TIME_SYNTAX || (at_end(&at) && !with_minutes)) return NET_TIME_SYNTAX;
  if (at_end(&at)) {
    error = worse(error, hour <= 23);
  } else {
    if (!read_half_day(&at, &afternoon) || !at_end(&at)) return NET_TIME_SYNTAX;
    error = worse(error, hour >= 1 && hour <= 12);
    int64_t hour_of_day = hour % 12 + (afternoon ? 12 : 0);
    clock.seconds += (hour_of_day - (with_minutes ? hour : 0)) * 3600;
  }
  if (error) return error;
  return on_date_of(context->start, context, clock, ret);
}

static enum net_time_error parse_calendar(struct cursor at, const struct net_time_context *context,
                                          struct net_instant *ret) {
  enum net_time_error error = parse_iso(at, context, ret);
  return error == NET_TIME_SYNTAX ? parse_clock(at, context, ret) : error;
}

enum net_time_error net_time_parse_instant(const char *text, size_t length,
                                           const struct net_time_context *context,
                                           struct net_instant *ret) {
  struct cursor at = trimmed(text, length);
  struct net_instant time = {0, 0};
  if (is_word(&at, "forever") || is_word(&at, "beginning") || is_word(&at, "now")) {
    char first = lower(*at.next);
    ret->lo = first == 'f' ? NET_FOREVER : first == 'b' ? NET_BEGINNING : context->now;
    ret->hi = ret->lo;
    return NET_TIME_OK;
  }
  bool yesterday = is_word(&at, "yesterday");
  if (yesterday || is_word(&at, "today")) {
    if (context->timeline == NET_TIMELINE_ABSTRACT) return NET_TIME_ABSTRACT;
    enum net_time_error error = begin_of_day(context->now, context, ret);
    return yesterday && error == NET_TIME_OK
               ? begin_of_day(net_chronon_add(ret->lo, -1), context, ret)
               : error;
  }
  enum net_time_error error = parse_integer(at, &time.lo);
  time.hi = time.lo;
  if (error == NET_TIME_SYNTAX) {
    error = parse_calendar(at, context, &time);
    /* What would be a date on the other timeline deserves a better message than "no time". */
    if (error != NET_TIME_SYNTAX && context->timeline == NET_TIMELINE_ABSTRACT)
      return NET_TIME_ABSTRACT;
  }
  if (error == NET_TIME_OK && time.lo < NET_EARLIEST && time.lo != NET_BEGINNING)
    error = NET_TIME_RANGE;
  if (error == NET_TIME_OK || error == NET_TIME_SKIPPED) *ret = time;
  return error;
}

enum net_time_error net_time_parse(const char *text, size_t length,
                                   const struct net_time_context *context, net_chronon *ret) {
  struct net_instant time;
  enum net_time_error error = net_time_parse_instant(text, length, context, &time);
  if (error == NET_TIME_OK && time.lo != time.hi) error = NET_TIME_TWICE;
  if (error == NET_TIME_OK) *ret = time.lo;
  return error;
}

/* ---- durations ---- */

static bool find_unit(const struct cursor *at, int64_t *ret_ns) {
  static const struct {
    const char *word;
    int64_t ns;
  } units[] = {
      {"ns", 1},
      {"us", 1000},
      {"ms", 1000000},
      {"s", NS_PER_SECOND},
      {"sec", NS_PER_SECOND},
      {"second", NS_PER_SECOND},
      {"seconds", NS_PER_SECOND},
      {"m", 60 * NS_PER_SECOND},
      {"min", 60 * NS_PER_SECOND},
      {"minute", 60 * NS_PER_SECOND},
      {"minutes", 60 * NS_PER_SECOND},
      {"h", 3600 * NS_PER_SECOND},
      {"hour", 3600 * NS_PER_SECOND},
      {"hours", 3600 * NS_PER_SECOND},
      {"d", SECONDS_PER_DAY * NS_PER_SECOND},
      {"day", SECONDS_PER_DAY * NS_PER_SECOND},
      {"days", SECONDS_PER_DAY * NS_PER_SECOND},
      {"w", 7 * SECONDS_PER_DAY * NS_PER_SECOND},
      {"week", 7 * SECONDS_PER_DAY * NS_PER_SECOND},
      {"weeks", 7 * SECONDS_PER_DAY * NS_PER_SECOND},
  };
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (is_word(at, units[i].word)) {
      *ret_ns = units[i].ns;
      return true;
    }
  return false;
}

/* The fraction 0.DIGITS of UNIT in whole nanoseconds. From the last digit on: if the whole is an
 * integer then so is every step, for all other terms are multiples of ten. False: no integer. */
static bool fraction_of_unit(const char *digits, size_t length, int64_t unit, int64_t *ret) {
  int64_t sum = 0;
  for (size_t i = length; i > 0; i--) {
    sum += (digits[i - 1] - '0') * unit;
    if (sum % 10 != 0) return false;
    sum /= 10;
  }
  *ret = sum;
  return true;
}

/* A fraction of a nanosecond is refused, not rounded. */
bool net_duration_parse(const char *text, size_t length, int64_t *ret_ns) {
  struct cursor at = trimmed(text, length);
  size_t whole_length = count_digits(&at), fraction_length = 0;
  int64_t whole, unit, fraction;
  if (!read_digits(&at, whole_length, &whole)) return false;
  if (accept(&at, '.')) {
    fraction_length = count_digits(&at);
    if (fraction_length == 0) return false;
  }
  if (whole_length + fraction_length == 0) return false;
  const char *fraction_digits = at.next;
  at.next += fraction_length;
  skip_blanks(&at);
  if (!find_unit(&at, &unit) || __builtin_mul_overflow(whole, unit, &whole) ||
      !fraction_of_unit(fraction_digits, fraction_length, unit, &fraction) ||
      __builtin_add_overflow(whole, fraction, &whole))
    return false;
  *ret_ns = whole;
  return true;
}

/* --- lengths for people */

/* X with four digits, less the zeros at the end. */
static void print_short(struct base_buffer *out, double x, const char *unit) {
  char text[32];
  snprintf(text, sizeof text, "%.*f", x < 9.9995 ? 3 : x < 99.995 ? 2 : x < 999.95 ? 1 : 0, x);
  if (strchr(text, '.') != NULL) {
    char *end = text + strlen(text);
    while (end[-1] == '0') *--end = '\0';
    if (end[-1] == '.') *--end = '\0';
  }
  base_buffer_printf(out, "%s %s", text, unit);
}

/* The whole number N of SMALLs, of which PER are a LARGE. */
static void print_two(struct base_buffer *out, double n, int per, const char *large,
                      const char *small) {
  double larges = floor(n / per);
  base_buffer_printf(out, "%.0f %s", larges, large);
  if (n - larges * per > 0) base_buffer_printf(out, " %.0f %s", n - larges * per, small);
}

void net_duration_print(struct base_buffer *out, double ns) {
  double second = (double)NS_PER_SECOND;
  if (!isfinite(ns)) {
    base_buffer_double(out, ns);
    return;
  }
  if (ns < 0) base_buffer_putc(out, '-');
  ns = fabs(ns);
  if (ns < 999.95)
    print_short(out, ns, "ns");
  else if (ns < 999950)
    print_short(out, ns / 1e3, "us");
  else if (ns < 999950000)
    print_short(out, ns / 1e6, "ms");
  else if (ns < 59.995 * second)
    print_short(out, ns / second, "s");
  else if (round(ns / second) < 3600)
    print_two(out, round(ns / second), 60, "min", "s");
  else if (round(ns / second / 60) < 24 * 60)
    print_two(out, round(ns / second / 60), 60, "h", "min");
  else
    print_two(out, round(ns / second / 3600), 24, "d", "h");
}
