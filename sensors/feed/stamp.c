/* Reading times in forms of others.
 *
 * Numbers are read digit by digit, so a time in seconds with nine digits behind the point is exact; digits beyond a
 * chronon are dropped, as programs print doubles with more digits than they have. A time by a format is brought into
 * ISO 8601 and read as such: so there is one place that knows calendar and zones. */
#include "sensors/feed/stamp.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "sensors/feed/numbers.h"

void sn_stamps_init(struct sn_stamps *stamps, const struct net_time_context *time) {
  *stamps = (struct sn_stamps){.time = *time};
}

/* --- numbers */

static bool is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

/* How many decimal places a number in FORM is moved by, to be one of ns. */
static int places(enum sn_time_form form) {
  switch (form) {
    case SN_TIME_S:
      return 9;
    case SN_TIME_MS:
      return 6;
    case SN_TIME_US:
      return 3;
    default:
      return 0;
  }
}

/* A number with digits in front of its point or behind it, and perhaps an exponent, times ten to PLACES; what is behind the
 * point then is left out, towards the past. NULL: done. */
static const char *scaled(const char *text, size_t length, int places_left, int64_t *ret) {
  enum { EXPONENT_MAX = 100 };
  const char *end = text + length, *at = text;
  bool negative = at < end && *at == '-', rest = false;
  if (at < end && (*at == '-' || *at == '+')) at++;
  const char *digits = at, *point = NULL, *exponent = NULL;
  while (at < end && (is_digit(*at) || (*at == '.' && point == NULL))) {
    if (*at == '.') point = at;
    at++;
  }
  const char *digits_end = at;
  if (digits_end - digits - (point != NULL) <= 0) return "no number";
  if (at < end && (*at == 'e' || *at == 'E')) {
    int value = 0;
    exponent = ++at;
    bool down = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end) return "no number";
    for (; at < end && is_digit(*at); at++)
      if (value < EXPONENT_MAX) value = value * 10 + (*at - '0');
    places_left += down ? -value : value;
  }
  if (at != end || (exponent != NULL && exponent == end)) return "no number";
  const char *whole_end = point != NULL ? point : digits_end;
  int64_t value = 0;
  /* How many digits count: those in front of the point, and PLACES_LEFT more. */
  int64_t wanted = (whole_end - digits) + places_left;
  for (at = digits; at < digits_end; at++) {
    if (at == point) continue;
    int digit = *at - '0';
    if (wanted-- <= 0) {
      rest |= digit != 0;
    } else if (__builtin_mul_overflow(value, 10, &value) ||
               __builtin_sub_overflow(value, digit, &value)) {
      return "out of the range of times";
    }
  }
  for (; wanted > 0 && value != 0; wanted--)
    if (__builtin_mul_overflow(value, 10, &value)) return "out of the range of times";
  if (negative && rest && __builtin_sub_overflow(value, 1, &value))
    return "out of the range of times";
  if (!negative && __builtin_sub_overflow((int64_t)0, value, &value))
    return "out of the range of times";
  *ret = value;
  return NULL;
}

const char *sn_length_read(enum sn_time_form form, const char *text, size_t length, int64_t *ret) {
  const char *problem = scaled(text, length, places(form), ret);
  if (problem != NULL && form == SN_TIME_OWN && net_duration_parse(text, length, ret))
    problem = NULL;
  if (problem != NULL) return form == SN_TIME_OWN ? "no length of time" : problem;
  return *ret < 0 ? "less than zero" : NULL;
}

/* --- formats */

struct parts {
  int64_t year;
  int month, day, hour, minute, second, day_of_year;
  int64_t nanoseconds;
  bool has_year, has_day_of_year, has_offset, has_half, afternoon, has_epoch;
  int offset; /* minutes */
  int64_t epoch;
};

struct reading {
  const char *at, *end;
  struct parts parts;
};

static bool number(struct reading *reading, int least, int most, int64_t *ret) {
  int64_t value = 0;
  int count = 0;
  for (; count < most && reading->at < reading->end && is_digit(*reading->at); count++)
    value = value * 10 + (*reading->at++ - '0');
  *ret = value;
  return count >= least;
}

static bool small(struct reading *reading, int most, int *ret) {
  int64_t value;
  if (!number(reading, 1, most, &value)) return false;
  *ret = (int)value;
  return true;
}

/* One of COUNT names, of which three letters are enough; its index. */
static bool name_of(struct reading *reading, const char *const *names, int count, int *ret) {
  size_t left = (size_t)(reading->end - reading->at);
  for (int i = 0; i < count; i++) {
    size_t length = strlen(names[i]);
    bool whole = left >= length && strncasecmp(reading->at, names[i], length) == 0;
    if (!whole && (left < 3 || strncasecmp(reading->at, names[i], 3) != 0)) continue;
    reading->at += whole ? length : 3;
    *ret = i;
    return true;
  }
  return false;
}

static bool month_name(struct reading *reading) {
  static const char *const names[] = {"January",   "February", "March",    "April",
                                      "May",       "June",     "July",     "August",
                                      "September", "October",  "November", "December"};
  if (!name_of(reading, names, 12, &reading->parts.month)) return false;
  reading->parts.month++;
  return true;
}

static bool day_name(struct reading *reading) {
  static const char *const names[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                      "Thursday", "Friday", "Saturday"};
  int ignored;
  return name_of(reading, names, 7, &ignored);
}

static bool fraction(struct reading *reading) {
  int64_t value = 0;
  int count = 0;
  for (; reading->at < reading->end && is_digit(*reading->at); reading->at++)
    if (count < 9) value = value * 10 + (*reading->at - '0'), count++;
  if (count == 0) return false;
  for (; count < 9; count++) value *= 10;
  reading->parts.nanoseconds = value;
  return true;
}

/* Seconds; a fraction behind them that the format (from NEXT on) does not speak of is read as well. */
static bool seconds(struct reading *reading, const char *next) {
  if (!small(reading, 2, &reading->parts.second)) return false;
  bool marked = reading->at + 1 < reading->end && (*reading->at == '.' || *reading->at == ',') &&
                is_digit(reading->at[1]);
  if (!marked || *next == *reading->at) return true;
  reading->at++;
  return fraction(reading);
}

/* Z, UTC, GMT, +01:00, +0100, +01 */
static bool offset(struct reading *reading) {
  struct parts *parts = &reading->parts;
  size_t left = (size_t)(reading->end - reading->at);
  parts->has_offset = true;
  parts->offset = 0;
  if (left >= 3 &&
      (strncasecmp(reading->at, "UTC", 3) == 0 || strncasecmp(reading->at, "GMT", 3) == 0)) {
    reading->at += 3;
    return true;
  }
  if (left >= 1 && (*reading->at == 'Z' || *reading->at == 'z')) {
    reading->at++;
    return true;
  }
  if (left < 3 || (*reading->at != '+' && *reading->at != '-')) return false;
  bool west = *reading->at++ == '-';
  int64_t hours, minutes = 0;
  if (!number(reading, 2, 2, &hours)) return false;
  if (reading->at < reading->end && *reading->at == ':') reading->at++;
  if (reading->at < reading->end && is_digit(*reading->at) && !number(reading, 2, 2, &minutes))
    return false;
  parts->offset = (int)(hours * 60 + minutes) * (west ? -1 : 1);
  return true;
}

static bool half_of_day(struct reading *reading) {
  static const char *const names[] = {"AM.", "PM."};
  int which = -1;
  for (int i = 0; i < 2; i++)
    if (reading->end - reading->at >= 2 && strncasecmp(reading->at, names[i], 2) == 0) which = i;
  if (which < 0) return false;
  reading->at += 2;
  reading->parts.has_half = true;
  reading->parts.afternoon = which == 1;
  return true;
}

static bool short_year(struct reading *reading) {
  if (!number(reading, 2, 2, &reading->parts.year)) return false;
  reading->parts.year += reading->parts.year < 69 ? 2000 : 1900; /* as strptime has it */
  return reading->parts.has_year = true;
}

static void blanks(struct reading *reading) {
  while (reading->at < reading->end && (*reading->at == ' ' || *reading->at == '\t')) reading->at++;
}

static bool by_format(struct reading *reading, const char *format);

static bool directive(struct reading *reading, const char *letter) {
  struct parts *parts = &reading->parts;
  switch (*letter) {
    case 'Y':
      return parts->has_year = number(reading, 4, 4, &parts->year);
    case 'y':
      return short_year(reading);
    case 'm':
      return small(reading, 2, &parts->month);
    case 'd':
    case 'e':
      blanks(reading);
      return small(reading, 2, &parts->day);
    case 'b':
    case 'B':
    case 'h':
      return month_name(reading);
    case 'a':
    case 'A':
      return day_name(reading);
    case 'j':
      return parts->has_day_of_year = small(reading, 3, &parts->day_of_year);
    case 'H':
    case 'I':
    case 'k':
    case 'l':
      blanks(reading);
      return small(reading, 2, &parts->hour);
    case 'M':
      return small(reading, 2, &parts->minute);
    case 'S':
      return seconds(reading, letter + 1);
    case 'f':
      return fraction(reading);
    case 'p':
      return half_of_day(reading);
    case 'z':
    case 'Z':
      return offset(reading);
    case 's':
      return parts->has_epoch = number(reading, 1, 18, &parts->epoch);
    case 'T':
      return by_format(reading, "%H:%M:%S");
    case 'R':
      return by_format(reading, "%H:%M");
    case 'F':
      return by_format(reading, "%Y-%m-%d");
    case 'D':
      return by_format(reading, "%m/%d/%y");
    case 'n':
    case 't':
      blanks(reading);
      return true;
    default:
      return reading->at < reading->end && *reading->at++ == *letter; /* %% */
  }
}

static bool by_format(struct reading *reading, const char *format) {
  for (; *format != '\0'; format++) {
    if (*format == '%') {
      if (!directive(reading, ++format)) return false;
    } else if (*format == ' ') {
      blanks(reading);
    } else if (reading->at == reading->end || *reading->at++ != *format) {
      return false;
    }
  }
  return true;
}

const char *sn_like_fault(struct base_arena *arena, const char *like) {
  for (const char *at = like; *at != '\0'; at++) {
    if (*at != '%') continue;
    if (*++at == '\0') return "it ends with %";
    if (strchr("YymdebBhaAjHIklMSfpzZsTRFDnt%", *at) == NULL)
      return base_arena_printf(
          arena, "there is no %%%c; there are %%Y %%m %%d %%b %%H %%M %%S %%f %%z and others", *at);
  }
  bool date = strstr(like, "%d") || strstr(like, "%e") || strstr(like, "%j") ||
              strstr(like, "%F") || strstr(like, "%D") || strstr(like, "%s");
  return date ? NULL : "it says no day";
}

bool sn_like_lacks_year(const char *like) {
  return !strstr(like, "%Y") && !strstr(like, "%y") && !strstr(like, "%F") && !strstr(like, "%D") &&
         !strstr(like, "%s");
}

/* --- from parts to a time */

static const char *problem_of(enum net_time_error error) {
  switch (error) {
    case NET_TIME_OK:
      return NULL;
    case NET_TIME_FIELD:
      return "no date or time of day that there is";
    case NET_TIME_RANGE:
      return "out of the range of times";
    case NET_TIME_SKIPPED:
      return "a time that clocks were put forward over";
    case NET_TIME_ABSTRACT:
      return "a date, and times on the abstract timeline are integers";
    case NET_TIME_SYNTAX:
    case NET_TIME_TWICE:
      break;
  }
  return "no time";
}

static const char *in_iso(const struct sn_stamps *stamps, const struct parts *parts, int64_t year,
                          struct net_instant *ret) {
  char text[128];
  int length =
      snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%09d", (int)year, parts->month,
               parts->day, parts->hour, parts->minute, parts->second, (int)parts->nanoseconds);
  if (parts->has_offset) {
    int minutes = parts->offset < 0 ? -parts->offset : parts->offset;
    length += snprintf(text + length, sizeof text - (size_t)length, "%c%02d:%02d",
                       parts->offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
  }
  return problem_of(net_time_parse_instant(text, (size_t)length, &stamps->time, ret));
}

static int64_t year_now(const struct sn_stamps *stamps) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  net_time_print(&text, NET_TIMELINE_REAL, stamps->time.now);
  int64_t year = 0;
  for (const char *at = base_buffer_text(&text); is_digit(*at); at++)
    year = year * 10 + (*at - '0');
  base_buffer_done(&text);
  return year;
}

/* The first time is the last one that is not in the future, by a day, as clocks differ. From then on a step of more than
 * half a year is one over the end of a year. 29 February finds a year that has it. */
static const char *in_some_year(struct sn_stamps *stamps, const struct parts *parts,
                                struct net_instant *ret) {
  const int64_t day = INT64_C(86400) * 1000000000;
  const char *problem = NULL;
  int64_t year;
  if (stamps->year == 0) {
    year = year_now(stamps);
    for (int back = 0; back < 8; back++, year--) {
      problem = in_iso(stamps, parts, year, ret);
      if (problem == NULL && (stamps->time.now == 0 || ret->lo - day <= stamps->time.now)) break;
    }
  } else {
    year = stamps->year + (parts->month + 6 < stamps->month) - (parts->month > stamps->month + 6);
    problem = in_iso(stamps, parts, year, ret);
  }
  if (problem != NULL) return problem;
  if (!stamps->assumed) stamps->first_year = year;
  stamps->year = year;
  stamps->month = parts->month;
  stamps->assumed = true;
  return NULL;
}

static void day_to_month(struct parts *parts) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  bool leap = parts->year % 4 == 0 && (parts->year % 100 != 0 || parts->year % 400 == 0);
  parts->day = parts->day_of_year;
  for (parts->month = 1; parts->month <= 12; parts->month++) {
    int length = days[parts->month - 1] + (parts->month == 2 && leap);
    if (parts->day <= length) return;
    parts->day -= length;
  }
}

static const char *by_like(struct sn_stamps *stamps, const char *like, const char *text,
                           size_t length, struct net_instant *ret) {
  struct reading reading = {.at = text, .end = text + length, .parts = {.month = 1, .day = 1}};
  struct parts *parts = &reading.parts;
  if (stamps->time.timeline != NET_TIMELINE_REAL) return problem_of(NET_TIME_ABSTRACT);
  if (!by_format(&reading, like)) return "no time in this format";
  blanks(&reading);
  if (reading.at != reading.end) return "longer than its format";
  if (parts->has_epoch) {
    int64_t ns;
    if (__builtin_mul_overflow(parts->epoch, 1000000000, &ns) ||
        __builtin_add_overflow(ns, parts->nanoseconds, &ns) || ns == NET_FOREVER)
      return problem_of(NET_TIME_RANGE);
    *ret = (struct net_instant){ns, ns};
    return NULL;
  }
  if (parts->has_half) {
    if (parts->hour < 1 || parts->hour > 12) return problem_of(NET_TIME_FIELD);
    parts->hour = parts->hour % 12 + (parts->afternoon ? 12 : 0);
  }
  if (parts->has_day_of_year) {
    if (!parts->has_year || parts->day_of_year < 1) return problem_of(NET_TIME_FIELD);
    day_to_month(parts);
  }
  return parts->has_year ? in_iso(stamps, parts, parts->year, ret)
                         : in_some_year(stamps, parts, ret);
}

/* YEAR is after the last one of the timeline, and the rest of PARTS is a time in a year like it. */
static bool is_beyond(const struct sn_stamps *stamps, const struct parts *parts, int64_t year) {
  struct net_instant ignored;
  return year > 2262 && in_iso(stamps, parts, 2000 + year % 200, &ignored) == NULL;
}

bool sn_stamp_is_endless(const struct sn_stamps *stamps, enum sn_time_form form, const char *like,
                         const char *text, size_t length) {
  struct reading reading = {.at = text, .end = text + length, .parts = {.month = 1, .day = 1}};
  if (stamps->time.timeline != NET_TIMELINE_REAL) return false;
  if (sn_equal_ignoring_case(text, length, "infinity")) return true;
  if (form == SN_TIME_OWN) {
    int64_t year = 0;
    for (; reading.at < reading.end && is_digit(*reading.at) && year < 100000; reading.at++)
      year = year * 10 + (*reading.at - '0');
    char like_it[64];
    size_t digits = (size_t)(reading.at - text);
    if (year <= 2262 || year > 9999 || digits != 4 || length >= sizeof like_it) return false;
    struct net_instant ignored;
    int rest = snprintf(like_it, sizeof like_it, "%04d%.*s", (int)(2000 + year % 200),
                        (int)(length - digits), reading.at);
    return net_time_parse_instant(like_it, (size_t)rest, &stamps->time, &ignored) == NET_TIME_OK;
  }
  if (form != SN_TIME_LIKE || !by_format(&reading, like)) return false;
  blanks(&reading);
  const struct parts *parts = &reading.parts;
  return reading.at == reading.end && parts->has_year && !parts->has_day_of_year &&
         !parts->has_epoch && is_beyond(stamps, parts, parts->year);
}

const char *sn_stamp_read(struct sn_stamps *stamps, enum sn_time_form form, const char *like,
                          const char *text, size_t length, struct net_instant *ret) {
  if (form == SN_TIME_LIKE) return by_like(stamps, like, text, length, ret);
  if (stamps->time.timeline != NET_TIMELINE_REAL)
    return "a time since 1970, and the timeline is abstract";
  if (sn_equal_ignoring_case(text, length, "forever") ||
      sn_equal_ignoring_case(text, length, "beginning")) {
    ret->lo = ret->hi = (*text | 32) == 'f' ? NET_FOREVER : NET_BEGINNING;
    return NULL;
  }
  const char *problem = scaled(text, length, places(form), &ret->lo);
  ret->hi = ret->lo;
  if (problem == NULL && (ret->lo < NET_EARLIEST || ret->lo == NET_FOREVER))
    problem = problem_of(NET_TIME_RANGE);
  return problem;
}
