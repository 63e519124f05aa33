/* See calendar.h. What begins by the clock on the wall is found by that: of times that it showed more than once the last
 * that is not behind the instant, and of one that it never showed when it was put forward. */
#include "engine/calendar.h"

#define NS_PER_SECOND   INT64_C(1000000000)
#define SECONDS_PER_DAY 86400
#define DAYS_PER_ERA    146097 /* 400 years, after which the calendar repeats */

__extension__ typedef __int128 wide;

static int64_t floor_divide(int64_t a, int64_t b) {
  return a / b - (a % b < 0);
}

/* Days since 1970-01-01. Years are taken to begin in March, so that the leap day comes last; then
 * (153 m + 2) / 5 is the number of days before the m-th month. */
int64_t net_days_from_date(struct net_date date) {
  int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  int64_t era = floor_divide(year, 400), year_of_era = year - era * 400;
  int month = (date.month + 9) % 12;
  int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 +
                       (153 * month + 2) / 5 + date.day - 1;
  return era * DAYS_PER_ERA + day_of_era - 719468; /* 0000-03-01 to 1970-01-01 */
}

struct net_date net_date_from_days(int64_t days) {
  int64_t shifted = days + 719468;
  int64_t era = floor_divide(shifted, DAYS_PER_ERA), day_of_era = shifted - era * DAYS_PER_ERA;
  int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int month = (int)((5 * day_of_year + 2) / 153);
  struct net_date date = {.year = era * 400 + year_of_era + (month >= 10),
                          .month = month < 10 ? month + 3 : month - 9,
                          .day = (int)(day_of_year - (153 * month + 2) / 5) + 1};
  return date;
}

/* --- numbers */

/* Monday is 1. */
static int weekday_of(int64_t days) {
  int64_t day = (days + 3) % 7; /* 1970 began on a Thursday */
  return (int)(day < 0 ? day + 7 : day) + 1;
}

static int64_t week_of(int64_t days) {
  int64_t thursday = days - weekday_of(days) + 4;
  struct net_date first = {net_date_from_days(thursday).year, 1, 1};
  return (thursday - net_days_from_date(first)) / 7 + 1;
}

/* LOCAL seconds, as the clock shows them. */
static int64_t number_of(enum net_calendar_part part, int64_t local) {
  int64_t days = floor_divide(local, SECONDS_PER_DAY), second = local - days * SECONDS_PER_DAY;
  struct net_date date = net_date_from_days(days);
  switch (part) {
    case NET_PART_SECOND:
      return second % 60;
    case NET_PART_MINUTE:
      return second / 60 % 60;
    case NET_PART_HOUR:
      return second / 3600;
    case NET_PART_DAY:
      return date.day;
    case NET_PART_WEEKDAY:
      return weekday_of(days);
    case NET_PART_WEEK:
      return week_of(days);
    case NET_PART_MONTH:
      return date.month;
    default:
      return date.year;
  }
}

/* --- beginnings */

static int64_t first_day_of(enum net_calendar_part part, int64_t days) {
  struct net_date date = net_date_from_days(days);
  switch (part) {
    case NET_SINCE_WEEK:
      return days - weekday_of(days) + 1;
    case NET_SINCE_MONTH:
      return net_days_from_date((struct net_date){date.year, date.month, 1});
    case NET_SINCE_YEAR:
      return net_days_from_date((struct net_date){date.year, 1, 1});
    default:
      return days;
  }
}

/* When, at UTC or before, the clock showed LOCAL seconds. */
static int64_t shown_at(struct net_zone *zone, int64_t local, int64_t utc) {
  int64_t times[2];
  if (zone == NULL) return local;
  net_zone_when(zone, local, times);
  return times[1] <= utc ? times[1] : times[0];
}

static bool since(const struct net_calendar *calendar, int64_t utc, int64_t ns, int64_t local,
                  net_chronon *ret) {
  int64_t began, fraction = 0;
  if (calendar->part == NET_SINCE_LENGTH) {
    /* In nanoseconds the local time need not fit, but how far it is behind what began does. */
    wide now = (wide)local * NS_PER_SECOND + ns, behind = now % calendar->length;
    if (behind < 0) behind += calendar->length;
    wide then = now - behind;
    fraction = (int64_t)(then % NS_PER_SECOND);
    if (fraction < 0) fraction += NS_PER_SECOND;
    began = (int64_t)((then - fraction) / NS_PER_SECOND);
  } else {
    began = first_day_of(calendar->part, floor_divide(local, SECONDS_PER_DAY)) * SECONDS_PER_DAY;
  }
  began = shown_at(calendar->zone, began, utc);
  return !__builtin_mul_overflow(began, NS_PER_SECOND, ret) &&
         !__builtin_add_overflow(*ret, fraction, ret) && *ret >= NET_EARLIEST;
}

bool net_calendar_of(const struct net_calendar *calendar, net_chronon time, int64_t *ret) {
  if (time == NET_BEGINNING || time == NET_FOREVER) {
    *ret = time;
    return calendar->part >= NET_SINCE_LENGTH;
  }
  int64_t utc = floor_divide(time, NS_PER_SECOND), ns = time % NS_PER_SECOND;
  if (ns < 0) ns += NS_PER_SECOND;
  int64_t local = utc + net_zone_offset(calendar->zone, utc);
  if (calendar->part >= NET_SINCE_LENGTH) return since(calendar, utc, ns, local, ret);
  *ret = number_of(calendar->part, local);
  return true;
}
