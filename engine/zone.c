/* Rules of time zones: reading TZif files and rules in text, asking them.
 *
 *      changes of the file, in order            the rule, from then on
 *      ──┬───────┬───────┬── ... ──┬───────┬──────────▶ two changes a year, computed
 *     offset   offset           offset
 *
 * What comes in may be anything (a client sends it): every count is checked against what is there. */
#include "engine/zone.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "engine/base/heap.h"
#include "engine/calendar.h"

#define DAY         INT64_C(86400)
#define OFFSET_MOST (26 * 3600) /* RFC 8536: no zone is further from UTC */
#define BYTES_MOST  ((size_t)1 << 20)

/* A day of each year, and a time of it. */
struct yearly {
  char
      form; /* 'J' day 1 to 365 without 29 February, 'n' day 0 to 365, 'M' the week's day of a month */
  int month, week, day;
  int64_t seconds; /* local, of the day; may lie on other days */
};

struct net_zone {
  unsigned holders;
  char *name; /* NULL: not known */
  void *bytes;
  size_t length;
  int64_t *changes; /* UTC, ascending */
  int64_t *offsets; /* from each on */
  size_t count;
  int64_t first; /* before the first */
  bool ruled;    /* there is a rule behind the last */
  bool summer;   /* it has two offsets */
  int64_t standard, daylight;
  struct yearly begins, ends;
  /* Between the two, in UTC, nothing changes: found when it was asked last. */
  int64_t calm_from, calm_until;
};

/* --- the calendar --------------------------------------------------------------------------------- */

/* Days from 1970 to the first of MONTH (1 to 12) of YEAR. */
static int64_t days_to(int64_t year, int month) {
  return net_days_from_date((struct net_date){year, month, 1});
}

static int64_t floor_days(int64_t seconds) {
  return seconds / DAY - (seconds % DAY < 0);
}

static int64_t year_of(int64_t seconds) {
  int64_t days = floor_days(seconds), year = 1970 + days * 400 / 146097;
  while (days_to(year, 1) > days) year--;
  while (days_to(year + 1, 1) <= days) year++;
  return year;
}

static bool is_leap(int64_t year) {
  return days_to(year + 1, 1) - days_to(year, 1) == 366;
}

/* Local seconds. */
static int64_t yearly_at(const struct yearly *yearly, int64_t year) {
  int64_t day;
  if (yearly->form == 'M') {
    day = days_to(year, yearly->month);
    int64_t weekday = ((day + 4) % 7 + 7) % 7, next = yearly->month % 12 + 1;
    int64_t end = days_to(year + (next == 1), (int)next);
    day += (yearly->day - weekday + 7) % 7 + 7 * (yearly->week - 1);
    if (day >= end) day -= 7;
  } else {
    day = days_to(year, 1) + yearly->day;
    if (yearly->form == 'J') day += (is_leap(year) && yearly->day >= 60) - 1;
  }
  return day * DAY + yearly->seconds;
}

/* --- rules in text ---------------------------------------------------------------------------------- */

struct text {
  const char *at, *end;
};

static bool accept(struct text *text, char byte) {
  if (text->at == text->end || *text->at != byte) return false;
  text->at++;
  return true;
}

static bool number(struct text *text, int least, int most, int *ret) {
  int value = 0;
  const char *from = text->at;
  while (text->at < text->end && *text->at >= '0' && *text->at <= '9' && value <= most)
    value = 10 * value + (*text->at++ - '0');
  *ret = value;
  return text->at > from && value >= least && value <= most;
}

static bool zone_name(struct text *text) {
  const char *from = text->at;
  if (accept(text, '<')) {
    while (text->at < text->end && *text->at != '>') text->at++;
    return accept(text, '>');
  }
  while (text->at < text->end && ((*text->at | 32) >= 'a' && (*text->at | 32) <= 'z')) text->at++;
  return text->at - from >= 3;
}

/* [+-]hh[:mm[:ss]] */
static bool hours(struct text *text, int most, int64_t *ret) {
  int hour, minute = 0, second = 0;
  bool negative = accept(text, '-');
  if (!negative) (void)accept(text, '+');
  if (!number(text, 0, most, &hour)) return false;
  if (accept(text, ':') && !number(text, 0, 59, &minute)) return false;
  if (accept(text, ':') && !number(text, 0, 59, &second)) return false;
  *ret = (negative ? -1 : 1) * (hour * INT64_C(3600) + minute * 60 + second);
  return true;
}

static bool read_yearly(struct text *text, struct yearly *ret) {
  ret->seconds = 7200;
  if (!accept(text, ',')) return false;
  if (accept(text, 'M')) {
    ret->form = 'M';
    if (!number(text, 1, 12, &ret->month) || !accept(text, '.') ||
        !number(text, 1, 5, &ret->week) || !accept(text, '.') || !number(text, 0, 6, &ret->day))
      return false;
  } else {
    ret->form = accept(text, 'J') ? 'J' : 'n';
    if (!number(text, ret->form == 'J', 365, &ret->day)) return false;
  }
  return !accept(text, '/') || hours(text, 167, &ret->seconds);
}

/* std offset [dst [offset] [,start[/time],end[/time]]] */
static bool read_rule(struct net_zone *zone, const char *bytes, size_t length) {
  struct text text = {bytes, bytes + length}, usual = {",M3.2.0,M11.1.0", NULL};
  usual.end = usual.at + strlen(usual.at);
  if (!zone_name(&text) || !hours(&text, 24, &zone->standard)) return false;
  zone->standard = -zone->standard;
  zone->ruled = true;
  zone->summer = text.at < text.end;
  if (!zone->summer) return true;
  zone->daylight = zone->standard + 3600;
  if (!zone_name(&text)) return false;
  if (text.at < text.end && *text.at != ',') {
    if (!hours(&text, 24, &zone->daylight)) return false;
    zone->daylight = -zone->daylight;
  }
  struct text *rule = text.at < text.end ? &text : &usual;
  return read_yearly(rule, &zone->begins) && read_yearly(rule, &zone->ends) &&
         rule->at == rule->end;
}

/* --- TZif ------------------------------------------------------------------------------------------- */

static int64_t big_endian(const uint8_t *bytes, size_t size) {
  uint64_t value = size < 8 && (bytes[0] & 0x80) ? UINT64_MAX : 0;
  for (size_t i = 0; i < size; i++) value = value << 8 | bytes[i];
  return (int64_t)value;
}

#define HEADER 44

struct counts {
  size_t utc, standard, leaps, changes, types, characters;
};

static bool read_header(const uint8_t *bytes, size_t length, struct counts *ret) {
  if (length < HEADER || memcmp(bytes, "TZif", 4) != 0) return false;
  size_t counts[6];
  for (size_t i = 0; i < 6; i++) {
    counts[i] = (size_t)(uint32_t)big_endian(bytes + 20 + 4 * i, 4);
    if (counts[i] > length) return false;
  }
  *ret = (struct counts){counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]};
  return true;
}

/* Of what follows the header, with times of SIZE bytes. */
static size_t data_length(const struct counts *counts, size_t size) {
  return counts->changes * (size + 1) + counts->types * 6 + counts->characters +
         counts->leaps * (size + 4) + counts->standard + counts->utc;
}

static bool read_changes(struct net_zone *zone, const uint8_t *data, const struct counts *counts,
                         size_t size) {
  const uint8_t *kinds = data + counts->changes * size, *types = kinds + counts->changes;
  if (counts->types == 0 || counts->leaps > 0) return false;
  zone->count = counts->changes;
  zone->changes = base_xcalloc(counts->changes + 1, sizeof *zone->changes);
  zone->offsets = base_xcalloc(counts->changes + 1, sizeof *zone->offsets);
  zone->first = big_endian(types, 4);
  for (size_t i = 0; i < counts->changes; i++) {
    if (kinds[i] >= counts->types) return false;
    zone->changes[i] = big_endian(data + i * size, size);
    zone->offsets[i] = big_endian(types + (size_t)6 * kinds[i], 4);
    if (i > 0 && zone->changes[i] <= zone->changes[i - 1]) return false;
  }
  for (size_t i = 0; i < counts->types; i++)
    if (llabs(big_endian(types + 6 * i, 4)) > OFFSET_MOST) return false;
  return true;
}

static bool read_file(struct net_zone *zone, const uint8_t *bytes, size_t length) {
  struct counts counts;
  if (!read_header(bytes, length, &counts)) return false;
  size_t old = HEADER + data_length(&counts, 4);
  if (old > length) return false;
  if (bytes[4] < '2') return read_changes(zone, bytes + HEADER, &counts, 4);
  bytes += old, length -= old;
  if (!read_header(bytes, length, &counts)) return false;
  size_t new = HEADER + data_length(&counts, 8);
  if (new > length || !read_changes(zone, bytes + HEADER, &counts, 8)) return false;
  bytes += new, length -= new;
  const uint8_t *end = length > 1 ? memchr(bytes + 1, '\n', length - 1) : NULL;
  if (!end || bytes[0] != '\n') return false;
  size_t rule = (size_t)(end - bytes) - 1;
  return rule == 0 || read_rule(zone, (const char *)bytes + 1, rule);
}

/* --- zones ------------------------------------------------------------------------------------------ */

struct net_zone *net_zone_read(const void *bytes, size_t length) {
  if (length == 0 || length > BYTES_MOST) return NULL;
  struct net_zone *zone = base_xcalloc(1, sizeof *zone);
  zone->holders = 1;
  zone->bytes = base_xmalloc(length);
  zone->length = length;
  memcpy(zone->bytes, bytes, length);
  bool file = length >= 4 && memcmp(bytes, "TZif", 4) == 0;
  if (file ? read_file(zone, bytes, length) : read_rule(zone, bytes, length)) return zone;
  net_zone_release(zone);
  return NULL;
}

static struct net_zone *read_path(const char *path) {
  struct base_buffer bytes = BASE_BUFFER_EMPTY;
  int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  ssize_t count = 0;
  char piece[4096];
  if (descriptor < 0) return NULL;
  while (bytes.length <= BYTES_MOST && (count = read(descriptor, piece, sizeof piece)) > 0)
    base_buffer_append(&bytes, piece, (size_t)count);
  close(descriptor);
  struct net_zone *zone = NULL;
  if (bytes.length > 4 && memcmp(bytes.data, "TZif", 4) == 0)
    zone = net_zone_read(bytes.data, bytes.length);
  base_buffer_done(&bytes);
  return zone;
}

/* Of the zone database, or a file where NAME is a path. */
static struct net_zone *read_named(const char *name) {
  const char *directory = getenv("TZDIR");
  struct base_buffer path = BASE_BUFFER_EMPTY;
  if (*name != '/')
    base_buffer_printf(&path, "%s/", directory && *directory ? directory : "/usr/share/zoneinfo");
  base_buffer_puts(&path, name);
  struct net_zone *zone = read_path(base_buffer_text(&path));
  base_buffer_done(&path);
  if (!zone) zone = net_zone_read(name, strlen(name));
  if (zone && *name != '/') zone->name = base_xstrdup(name);
  return zone;
}

/* The link says which zone it is. */
static struct net_zone *read_localtime(void) {
  static const char mark[] = "/zoneinfo/";
  char target[PATH_MAX];
  struct net_zone *zone = read_path("/etc/localtime");
  ssize_t length = readlink("/etc/localtime", target, sizeof target - 1);
  if (!zone || length < 0) return zone;
  target[length] = '\0';
  const char *name = strstr(target, mark);
  if (name) zone->name = base_xstrdup(name + strlen(mark));
  return zone;
}

struct net_zone *net_zone_local(void) {
  const char *name = getenv("TZ");
  if (!name) return read_localtime();
  if (*name == ':') name++;
  return *name ? read_named(name) : NULL;
}

const char *net_zone_name(const struct net_zone *zone) {
  return zone ? zone->name : "UTC";
}

/* --- those with names, which stay */

static struct {
  struct net_zone **items;
  char **names;
  size_t count, capacity, name_capacity;
} known;

static const char *keep(const char *name, struct net_zone *zone) {
  base_grow(&known.items, &known.capacity, known.count + 1, sizeof *known.items);
  base_grow(&known.names, &known.name_capacity, known.count + 1, sizeof *known.names);
  known.items[known.count] = zone;
  return known.names[known.count++] = base_xstrdup(name);
}

/* No path: the database is a folder. */
static bool is_name(const char *name) {
  return *name && *name != '/' && *name != '.' && !strstr(name, "..");
}

bool net_zone_named(const char *name, struct net_zone **ret) {
  *ret = NULL;
  if (strcasecmp(name, "UTC") == 0) return true;
  for (size_t i = 0; i < known.count; i++)
    if (strcmp(known.names[i], name) == 0) {
      *ret = known.items[i];
      return true;
    }
  if (!is_name(name)) return false;
  *ret = read_named(name);
  if (*ret) keep(name, *ret);
  return *ret != NULL;
}

const char *net_zone_enter(struct net_zone *zone) {
  if (zone == NULL) return "UTC";
  for (size_t i = 0; i < known.count; i++)
    if (known.items[i]->length == zone->length &&
        memcmp(known.items[i]->bytes, zone->bytes, zone->length) == 0)
      return known.names[i];
  char name[32];
  snprintf(name, sizeof name, "(zone %zu)", known.count + 1);
  return keep(zone->name ? zone->name : name, net_zone_hold(zone));
}

const void *net_zone_bytes(const struct net_zone *zone, size_t *ret_length) {
  *ret_length = zone ? zone->length : 0;
  return zone ? zone->bytes : "";
}

struct net_zone *net_zone_hold(struct net_zone *zone) {
  if (zone) zone->holders++;
  return zone;
}

void net_zone_release(struct net_zone *zone) {
  if (!zone || --zone->holders > 0) return;
  free(zone->changes);
  free(zone->offsets);
  free(zone->bytes);
  free(zone->name);
  free(zone);
}

/* --- asking ----------------------------------------------------------------------------------------- */

/* The changes of the rule in the years around UTC, in the order in which they are: it starts before it ends, or the
 * other way round in the south. */
static int64_t ruled_offset(const struct net_zone *zone, int64_t utc) {
  if (!zone->summer) return zone->standard;
  int64_t year = year_of(utc + zone->standard), latest = INT64_MIN, offset = zone->standard;
  for (int64_t y = year - 1; y <= year + 1; y++) {
    int64_t ends = yearly_at(&zone->ends, y) - zone->daylight;
    int64_t begins = yearly_at(&zone->begins, y) - zone->standard;
    if (ends <= utc && ends > latest) latest = ends, offset = zone->standard;
    if (begins <= utc && begins >= latest) latest = begins, offset = zone->daylight;
  }
  return offset;
}

int64_t net_zone_offset(const struct net_zone *zone, int64_t utc) {
  if (!zone) return 0;
  if (zone->ruled && (zone->count == 0 || utc >= zone->changes[zone->count - 1]))
    return ruled_offset(zone, utc);
  size_t low = 0, high = zone->count; /* those before LOW are at or before UTC */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (zone->changes[middle] <= utc)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? zone->first : zone->offsets[low - 1];
}

/* The first second in (LOW, HIGH] at which the offset is not that of LOW. */
static int64_t next_change(const struct net_zone *zone, int64_t low, int64_t high) {
  int64_t offset = net_zone_offset(zone, low);
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    if (net_zone_offset(zone, middle) == offset)
      low = middle;
    else
      high = middle;
  }
  return high;
}

#define STEP      (3 * 3600) /* no zone changes twice within it */
#define CALM_MOST (16 * DAY)

/* From FROM, where there is no change until UNTIL, on. */
static void find_calm(struct net_zone *zone, int64_t from, int64_t until) {
  int64_t offset = net_zone_offset(zone, from);
  zone->calm_from = from;
  while (until - from < CALM_MOST && net_zone_offset(zone, until + STEP) == offset) until += STEP;
  zone->calm_until = until;
}

int net_zone_when(struct net_zone *zone, int64_t local, int64_t ret[2]) {
  int found = 0;
  int64_t from = local - OFFSET_MOST, until = local + OFFSET_MOST, skipped = local;
  int64_t offset = net_zone_offset(zone, from);
  if (!zone || (from >= zone->calm_from && until <= zone->calm_until)) {
    ret[0] = ret[1] = local - offset;
    return 1;
  }
  bool calm = true;
  for (int64_t at = from; at < until; at += STEP) {
    /* From AT to the next step there is one offset, or two. */
    int64_t next = net_zone_offset(zone, at + STEP);
    int64_t change = next == offset ? at + STEP : next_change(zone, at, at + STEP);
    int64_t before = local - offset, after = local - next;
    if (before >= at && before < change) ret[found++ > 0] = before;
    if (next != offset && after >= change && after < at + STEP) ret[found++ > 0] = after;
    if (next > offset && before >= change && after < change) skipped = change;
    calm &= next == offset;
    offset = next;
  }
  if (calm) find_calm(zone, from, until);
  if (found == 1) ret[1] = ret[0];
  if (found == 0) ret[0] = ret[1] = skipped;
  return found > 2 ? 2 : found;
}
