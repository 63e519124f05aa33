/* The calendar: dates, and what a clock on the wall and a calendar say of an instant.
 *
 * It is the Gregorian one for all time, as in ISO 8601; weeks begin on Monday, and the first of a year has its first
 * Thursday. */
#ifndef NET_CALENDAR_H
#define NET_CALENDAR_H

#include "engine/time.h"
#include "engine/zone.h"

struct net_date {
  int64_t year;
  int month, day; /* from 1 */
};

/* Days since 1970-01-01. */
int64_t net_days_from_date(struct net_date date);
struct net_date net_date_from_days(int64_t days);

enum net_calendar_part {
  NET_PART_SECOND, /* numbers: of the minute */
  NET_PART_MINUTE,
  NET_PART_HOUR,
  NET_PART_DAY,     /* of the month */
  NET_PART_WEEKDAY, /* 1 Monday to 7 Sunday */
  NET_PART_WEEK,
  NET_PART_MONTH,
  NET_PART_YEAR,
  NET_SINCE_LENGTH, /* when it began, an instant: what of so many chronons it is in, counted by the clock from 1970 */
  NET_SINCE_DAY,
  NET_SINCE_WEEK,
  NET_SINCE_MONTH,
  NET_SINCE_YEAR,
};

struct net_calendar {
  enum net_calendar_part part;
  int64_t length;        /* ns, > 0, of NET_SINCE_LENGTH */
  struct net_zone *zone; /* NULL: UTC; not held */
};

/* What CALENDAR says of TIME, of the real time line. `beginning` and `forever` began when they are; they have no parts:
 * false, as where what began lies outside of the time line. */
bool net_calendar_of(const struct net_calendar *calendar, net_chronon time, int64_t *ret);

#endif
