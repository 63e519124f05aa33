/* The time line, instants and periods (thesis 4.5).
 *
 * Chronons are int64. An instant is a pair of bounds: the thing happened at one unknown chronon in
 * the closed range [lo, hi]. A period is half-open, [start, stop), each bound an instant.
 * Nobody writes a comparison of times by hand: interval.h has the predicates.                      */
#ifndef NET_TIME_H
#define NET_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/buffer.h"
#include "engine/zone.h"

typedef int64_t net_chronon;

#define NET_BEGINNING INT64_MIN
#define NET_FOREVER   INT64_MAX
/* The first instant there can be. The value between it and `beginning` is no time: rows use it to say
 * that a stop is open (layout.h). */
#define NET_EARLIEST (INT64_MIN + 2)

enum net_timeline { NET_TIMELINE_REAL, NET_TIMELINE_ABSTRACT };

struct net_instant {
  net_chronon lo, hi;
};

struct net_period {
  struct net_instant start, stop;
};

/* Saturating at the two reserved values, which absorb. */
net_chronon net_chronon_add(net_chronon time, int64_t delta);

/* Appends TIME for people: "beginning", "forever", else ISO 8601 in UTC ("2026-11-20T11:02:03Z",
 * with as many of .ddd .dddddd .ddddddddd as needed) on the real timeline, an integer on the
 * abstract one. Years outside 0000..9999 get a sign, as ISO 8601 has it.                          */
void net_time_print(struct base_buffer *out, enum net_timeline timeline, net_chronon time);
/* Appends TIME for programs: "beginning", "forever" or an integer. */
void net_time_print_raw(struct base_buffer *out, net_chronon time);

/* The session's surroundings that texts of times are read in. */
struct net_time_context {
  enum net_timeline timeline;
  net_chronon now;       /* ns: when the statement began */
  net_chronon start;     /* ns: when the session did; gives the date of clock times */
  struct net_zone *zone; /* for texts without an offset from UTC; NULL: UTC */
};

enum net_time_error {
  NET_TIME_OK = 0,
  NET_TIME_SYNTAX,   /* no time at all */
  NET_TIME_RANGE,    /* a time, but outside the time line, or more exact than a chronon */
  NET_TIME_FIELD,    /* no such time: 30 February, 25:00, a leap second */
  NET_TIME_ABSTRACT, /* ISO text on the abstract timeline */
  NET_TIME_TWICE,    /* the clock was put back, and showed it more than once */
  NET_TIME_SKIPPED,  /* the clock was put forward over it */
};

/* Reads a time: an integer (chronons: ns since 1970 on the real timeline), "forever", "beginning",
 * "now" (the context's now), on the real timeline also "today" (when that day began, in the session's
 * zone), ISO 8601 date or date and time with optional
 * fraction (up to 9 digits) and zone (Z, +hh:mm, +hhmm, +hh), and a clock time "3:00pm", "15:00",
 * "15:00:02.5", taken on the session's date in the session's zone. *RET is written on success only. */
enum net_time_error net_time_parse(const char *text, size_t length,
                                   const struct net_time_context *context, net_chronon *ret);
/* The same, but what the clock showed more than once is the uncertain instant from the first to the last of
 * them; with NET_TIME_SKIPPED, *RET is when it was put forward. */
enum net_time_error net_time_parse_instant(const char *text, size_t length,
                                           const struct net_time_context *context,
                                           struct net_instant *ret);

/* Reads "5 ms", "1hour", "250us", "2 days" (ns us ms s sec second(s) m min minute(s) h hour(s) d
 * day(s) w week(s), fractions allowed) into nanoseconds. False: no duration or out of range.        */
bool net_duration_parse(const char *text, size_t length, int64_t *ret_ns);

/* Appends a length of NS nanoseconds for people: "1 d 12 h", "3 h 25 min", "4 min 7 s", "12.35 s", "2.3 ms", "17 us", "5 ns":
 * the two largest units of a minute or more, else one, with three digits at least that count. */
void net_duration_print(struct base_buffer *out, double ns);

#endif
