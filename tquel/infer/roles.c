/* Which columns are times, and what kind of relation they make.
 *
 * A column is a time if all of its values are: dates, or numbers that are times of our days in some unit and whose column
 * is called like one. A start and a stop make a period, if none stops before it starts; so do a time and a length whose
 * unit its name says. Else the first time makes events. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "engine/base/env.h"
#include "sensors/feed/stamp.h"
#include "sensors/feed/numbers.h"
#include "tquel/infer/infer_impl.h"

#define YEAR_2000 946684800.0
#define YEAR_2100 4102444800.0
/* Less than so many ns since 1970 (March 1973) is rather something else. */
#define NANOSECONDS_LEAST (INT64_C(100000000) * 1000000000)

static const char *label(const struct infer *infer, const struct infer_column *column) {
  if (column->name != NULL) return base_arena_printf(infer->arena, "\"%s\"", column->name);
  return base_arena_printf(infer->arena, "column %u", column->number);
}

/* --- times */

/* The unit in which all numbers are times since 1970 of our days. */
static enum sn_time_form unit_of(const struct infer_column *column) {
  static const struct {
    enum sn_time_form form;
    double per_second;
  } units[] = {{SN_TIME_S, 1}, {SN_TIME_MS, 1e3}, {SN_TIME_US, 1e6}, {SN_TIME_NS, 1e9}};
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (column->least_decimal >= YEAR_2000 * units[i].per_second &&
        column->most_decimal < YEAR_2100 * units[i].per_second)
      return units[i].form;
  return SN_TIME_OWN;
}

/* No log speaks of the future, but for a clock that is wrong by a day. */
static bool is_future(const struct infer *infer, const struct infer_column *column) {
  static const double per_second[] = {
      [SN_TIME_S] = 1, [SN_TIME_MS] = 1e3, [SN_TIME_US] = 1e6, [SN_TIME_NS] = 1e9};
  double now = (double)infer->options->time.now / 1e9;
  return infer->form.format == SN_LINES && now > 0 &&
         column->most_decimal / per_second[unit_of(column)] > now + 86400;
}

/* Seconds are ten digits, as many other numbers are. */
static bool is_epoch(const struct infer *infer, const struct infer_column *column, unsigned hints) {
  if (!column->decimals || column->leading_zero || unit_of(column) == SN_TIME_OWN) return false;
  if (is_future(infer, column)) return false;
  return (hints & (INFER_HINT_TIME | INFER_HINT_START | INFER_HINT_STOP)) != 0;
}

static bool has_like(const struct infer_column *column, unsigned i) {
  return column->values > 0 && (column->likes & UINT64_C(1) << i) != 0;
}

/* The form that is LIKE with day and month the other way round; NULL: it has none. */
static const char *other_order(const char *like, unsigned *ret) {
  const char *other = strncmp(like, "%m/%d", 5) == 0   ? "%d/%m"
                      : strncmp(like, "%d/%m", 5) == 0 ? "%m/%d"
                                                       : NULL;
  for (unsigned i = 0; other != NULL && infer_likes[i] != NULL; i++)
    if (strncmp(infer_likes[i], other, 5) == 0 && strcmp(infer_likes[i] + 5, like + 5) == 0) {
      *ret = i;
      return infer_likes[i];
    }
  return NULL;
}

/* Does any column of the file have day and month in that order, and cannot have them in the other? */
static bool is_settled(const struct infer *infer, const char *order) {
  for (size_t c = 0; c < infer->count; c++)
    for (unsigned i = 0, other; infer_likes[i] != NULL; i++)
      if (has_like(&infer->columns[c], i) && strncmp(infer_likes[i], order, 5) == 0 &&
          other_order(infer_likes[i], &other) != NULL && !has_like(&infer->columns[c], other))
        return true;
  return false;
}

static const char *first_like(const struct infer *infer, const struct infer_column *column,
                              unsigned hints) {
  for (unsigned i = 0, other; infer_likes[i] != NULL; i++) {
    if (!has_like(column, i)) continue;
    bool digits = column->integers; /* 20260131: a number like others, but for its name */
    if (digits && hints == 0) return NULL;
    const char *turned = other_order(infer_likes[i], &other);
    bool turn = turned != NULL && has_like(column, other) && is_settled(infer, "%d/%m") &&
                !is_settled(infer, "%m/%d");
    return turn ? turned : infer_likes[i];
  }
  return NULL;
}

static bool is_own_name(const char *name) {
  return name != NULL && (strcasecmp(name, "at") == 0 || strcasecmp(name, "start") == 0 ||
                          strcasecmp(name, "stop") == 0);
}

static void find_time(const struct infer *infer, struct infer_column *column) {
  enum sn_time_form unit;
  unsigned hints = infer_hints(column->name, &unit);
  bool real = infer->options->time.timeline == NET_TIMELINE_REAL;
  if (column->values == column->endless) return;
  if (!real) {
    column->is_time =
        column->integers && (hints & (INFER_HINT_BEST | INFER_HINT_START | INFER_HINT_STOP)) != 0;
    return;
  }
  if (column->dates) {
    column->is_time = true;
    return;
  }
  if (is_epoch(infer, column, hints)) {
    column->is_time = true;
    column->form = unit_of(column);
    return;
  }
  column->like = first_like(infer, column, hints);
  bool chronons = column->integers && !column->leading_zero && column->least >= NANOSECONDS_LEAST;
  if (column->like == NULL && chronons && is_own_name(column->name)) {
    column->is_time = true; /* as in the relation's own files */
    return;
  }
  if (infer->log != NULL && column->name != NULL && strcmp(column->name, infer->log->time) == 0 &&
      infer->log->like != NULL)
    column->like = infer->log->like;
  column->is_time = column->like != NULL;
  if (column->is_time) column->form = SN_TIME_LIKE;
}

static const char *form_text(const struct infer *infer, const struct infer_column *column) {
  static const char *const units[] = {[SN_TIME_S] = "seconds",
                                      [SN_TIME_MS] = "milliseconds",
                                      [SN_TIME_US] = "microseconds",
                                      [SN_TIME_NS] = "nanoseconds"};
  if (infer->options->time.timeline != NET_TIMELINE_REAL) return "integers";
  if (column->form == SN_TIME_OWN && !column->dates)
    return "nanoseconds since 1970, as copy writes them";
  switch (column->form) {
    case SN_TIME_S:
    case SN_TIME_MS:
    case SN_TIME_US:
    case SN_TIME_NS:
      return base_arena_printf(infer->arena, "%s since 1970, by their magnitude",
                               units[column->form]);
    case SN_TIME_LIKE:
      return base_arena_printf(infer->arena, "in the form %s", column->like);
    default:
      break;
  }
  return column->zone_always ? "ISO 8601 with its offset from UTC"
         : column->zone_never
             ? "ISO 8601 without an offset from UTC: in the session's zone"
             : "ISO 8601, of which some have no offset from UTC: these are in the session's zone";
}

/* Do day and month leave a doubt? */
static const char *other_like(const struct infer *infer, const struct infer_column *column) {
  unsigned other;
  if (column->form != SN_TIME_LIKE || strncmp(column->like, "%m/%d", 5) != 0) return NULL;
  const char *turned = other_order(column->like, &other);
  return turned != NULL && has_like(column, other) && !is_settled(infer, "%m/%d") ? turned : NULL;
}

/* A date in one column and a time of day in another one are not put together. */
static void note_times_of_day(struct infer *infer, const struct infer_column *time) {
  bool date = (time->form == SN_TIME_OWN && time->dates) || time->form == SN_TIME_LIKE;
  if (!date || time->example == NULL || strchr(time->example, ':') != NULL) return;
  for (size_t i = 0; i < infer->count; i++) {
    const struct infer_column *column = &infer->columns[i];
    const char *at = column->example;
    if (column == time || at == NULL || !isdigit((unsigned char)*at)) continue;
    at += isdigit((unsigned char)at[1]) ? 2 : 1;
    if (*at != ':' || !isdigit((unsigned char)at[1]) || !isdigit((unsigned char)at[2])) continue;
    infer_note(infer,
               "%s is a time of day, which is not in the time: all is at the beginning of its day",
               label(infer, column));
  }
}

static void note_time(struct infer *infer, const struct infer_column *column, const char *what) {
  const char *other = other_like(infer, column);
  infer_note(infer, "%s is %s, %s (such as %s)", what, label(infer, column),
             form_text(infer, column), column->example);
  note_times_of_day(infer, column);
  if (other != NULL)
    infer_note(infer, "month and day of %s cannot be told apart: it may be %s",
               label(infer, column), other);
  if (column->form == SN_TIME_LIKE && sn_like_lacks_year(column->like))
    infer_note(infer,
               "%s has no year: the latest is assumed in which the first is not in the future",
               label(infer, column));
  if (column->form == SN_TIME_LIKE && strstr(column->like, "%z") == NULL)
    infer_note(infer, "%s has no offset from UTC: it is in the session's zone",
               label(infer, column));
}

/* --- columns as the relation's own files have them */

static struct infer_column *column_called(struct infer *infer, const char *name) {
  for (size_t i = 0; i < infer->count; i++)
    if (infer->columns[i].name != NULL && !infer->columns[i].twice &&
        strcasecmp(infer->columns[i].name, name) == 0)
      return &infer->columns[i];
  return NULL;
}

static bool take_own(struct infer *infer, const char *const *names, enum tql_infer_kind kind) {
  for (size_t i = 0; names[i] != NULL; i++)
    if (column_called(infer, names[i]) == NULL) return false;
  for (size_t i = 0; names[i] != NULL; i++) column_called(infer, names[i])->role = INFER_OWN;
  infer->kind = kind;
  struct infer_column *definite = column_called(infer, "definite");
  if (definite != NULL && definite->truths && !infer_has_gaps(infer, definite))
    definite->role = INFER_OWN;
  infer_note(infer, "the columns of time are those that copy writes");
  return true;
}

static bool is_own(struct infer *infer) {
  static const char *const event[] = {"at_lo", "at_hi", NULL};
  static const char *const period[] = {"start_lo", "start_hi", "stop_lo", "stop_hi", NULL};
  if (infer->options->kind == TQL_INFER_SNAPSHOT) return false;
  return (infer->options->kind != TQL_INFER_PERIOD && take_own(infer, event, TQL_INFER_EVENT)) ||
         (infer->options->kind != TQL_INFER_EVENT && take_own(infer, period, TQL_INFER_PERIOD));
}

/* --- periods */

/* The first time that is hinted at by HINT, with GAPS or without. */
static struct infer_column *find_hinted(struct infer *infer, unsigned hint, bool gaps) {
  for (size_t i = 0; i < infer->count; i++) {
    struct infer_column *column = &infer->columns[i];
    enum sn_time_form unit;
    bool has_all = column->endless == 0 && !infer_has_gaps(infer, column);
    if (column->is_time && (infer_hints(column->name, &unit) & hint) && (gaps || has_all))
      return column;
  }
  return NULL;
}

/* How long something may last, or how old it is: that is no period of the record. */
static bool is_bound(const char *name) {
  static const char *const words[] = {"timeout", "uptime", "limit", "interval", "deadline",
                                      "ttl",     "age",    "every", "retry",    "max"};
  for (size_t i = 0; name != NULL && i < sizeof words / sizeof words[0]; i++)
    if (strcasestr(name, words[i]) != NULL) return true;
  return false;
}

/* A column of numbers that says how long; *RET: some column does, but not in which unit. */
static struct infer_column *find_length(struct infer *infer, struct infer_column **ret_unclear) {
  struct infer_column *named_by_unit = NULL;
  *ret_unclear = NULL;
  if (infer->options->time.timeline != NET_TIMELINE_REAL) return NULL;
  for (size_t i = 0; i < infer->count; i++) {
    struct infer_column *column = &infer->columns[i];
    enum sn_time_form unit;
    unsigned hints = infer_hints(column->name, &unit);
    bool number = column->decimals && column->values > 0 && !infer_has_gaps(infer, column) &&
                  column->least_decimal >= 0 && !column->is_time && !column->leading_zero &&
                  !column->texts && !is_bound(column->name);
    if (!number) continue;
    if (hints & INFER_HINT_LENGTH) {
      if (unit == SN_TIME_OWN) {
        *ret_unclear = column;
        continue;
      }
      column->form = unit;
      return column;
    }
    /* "us" may be a country. */
    bool clear = (hints & INFER_HINT_TIME) || unit == SN_TIME_MS ||
                 strstr(column->name != NULL ? column->name : "", "econds") != NULL;
    if (unit != SN_TIME_OWN && clear && named_by_unit == NULL && strlen(column->name) > 2) {
      named_by_unit = column;
      named_by_unit->form = unit;
    }
  }
  return named_by_unit;
}

struct pair {
  const struct infer_column *start, *stop;
  size_t both, empty, backwards;
};

static bool read_value(struct sn_stamps *stamps, const struct infer_column *column,
                       const struct sn_member *member, struct net_instant *ret) {
  const char *text = member->text;
  size_t length = member->length;
  while (length > 0 && *text == ' ') text++, length--;
  while (length > 0 && text[length - 1] == ' ') length--;
  if (length == 0 || member->kind == SN_JSON_NULL) return false;
  if (sn_stamp_is_endless(stamps, column->form, column->like, text, length)) {
    ret->lo = ret->hi = NET_FOREVER;
    return true;
  }
  if (column->form != SN_TIME_OWN)
    return sn_stamp_read(stamps, column->form, column->like, text, length, ret) == NULL;
  return net_time_parse_instant(text, length, &stamps->time, ret) == NET_TIME_OK;
}

static const struct sn_member *member_of(const struct infer *infer,
                                         const struct sn_sample_record *record,
                                         const struct infer_column *column, bool separated) {
  size_t index = (size_t)(column - infer->columns);
  for (size_t i = 0; separated && i < record->count; i++)
    if (infer->order[i] == index) return &record->members[i];
  if (separated) return NULL;
  for (size_t i = 0; i < record->count; i++)
    if (sn_equal(record->members[i].key, record->members[i].key_length, column->name))
      return &record->members[i];
  return NULL;
}

static void compare(const struct infer *infer, struct pair *pair, struct sn_stamps stamps[2],
                    const struct sn_sample_record *record, bool separated) {
  struct net_instant start, stop;
  const struct sn_member *first = member_of(infer, record, pair->start, separated),
                         *last = member_of(infer, record, pair->stop, separated);
  if (first == NULL || last == NULL || !read_value(&stamps[0], pair->start, first, &start) ||
      !read_value(&stamps[1], pair->stop, last, &stop))
    return;
  pair->both++;
  pair->empty += start.lo == stop.lo;
  pair->backwards += stop.lo < start.lo;
}

/* Reads what was looked at once more, to see how starts and stops lie. */
static enum base_status compare_all(struct infer *infer, struct pair *pair) {
  bool separated = infer->form.format == SN_CSV || infer->form.format == SN_TSV;
  size_t each =
      infer->options->sample == 0
          ? SIZE_MAX
          : (infer->options->sample + infer->options->path_count - 1) / infer->options->path_count;
  for (size_t i = 0; i < infer->options->path_count; i++) {
    struct sn_sample *sample;
    struct sn_sample_record record;
    struct sn_stamps stamps[2];
    const char *head, *problem;
    size_t length, taken = 0;
    sn_stamps_init(&stamps[0], &infer->options->time);
    sn_stamps_init(&stamps[1], &infer->options->time);
    enum base_status status = infer_open(infer, i, &sample);
    if (status != BASE_OK) return status;
    if (sn_sample_head(sample, 1, &head, &length, &problem)) {
      sn_sample_begin(sample, &infer->form);
      bool first = separated;
      for (enum sn_sampled sampled; taken < each;) {
        sampled = sn_sample_next(sample, &record);
        if (sampled == SN_SAMPLED_END || sampled == SN_SAMPLED_FAILED || base_env_interrupted())
          break;
        if (sampled != SN_SAMPLED) continue;
        bool header = first && infer_is_header(infer, i, &record);
        first = false;
        if (header) continue;
        bool shorter = infer->form.ragged && record.count < infer->order_count;
        if (!separated || record.count == infer->order_count || shorter)
          compare(infer, pair, stamps, &record, separated);
        taken++;
      }
    }
    sn_sample_close(sample);
  }
  return base_env_interrupted() ? BASE_CANCEL : BASE_OK;
}

static enum base_status try_start_and_stop(struct infer *infer, bool *ret_is) {
  struct infer_column *start = find_hinted(infer, INFER_HINT_START, false),
                      *stop = find_hinted(infer, INFER_HINT_STOP, true);
  *ret_is = false;
  if (stop != NULL && start == NULL) {
    for (size_t i = 0; i < infer->count && start == NULL; i++) {
      enum sn_time_form unit;
      struct infer_column *column = &infer->columns[i];
      if (column != stop && column->is_time && !infer_has_gaps(infer, column) &&
          column->endless == 0 && (infer_hints(column->name, &unit) & INFER_HINT_BEST))
        start = column;
    }
  }
  if (start == NULL || stop == NULL || start == stop) return BASE_OK;
  struct pair pair = {.start = start, .stop = stop};
  enum base_status status = compare_all(infer, &pair);
  if (status != BASE_OK) return status;
  if (pair.backwards > 0 || pair.both == 0) {
    if (pair.backwards > 0)
      infer_note(infer, "%s and %s are no period: %zu of %zu stop before they start",
                 label(infer, start), label(infer, stop), pair.backwards, pair.both);
    return BASE_OK;
  }
  *ret_is = true;
  start->role = INFER_START;
  stop->role = INFER_STOP;
  infer->kind = TQL_INFER_PERIOD;
  infer->empty = pair.empty;
  note_time(infer, start, "the start");
  note_time(infer, stop, "the stop");
  if (infer_has_gaps(infer, stop))
    infer_note(infer, "where %s is empty, the period goes on", label(infer, stop));
  if (stop->endless > 0)
    infer_note(infer, "where %s is after 2262, or infinity (%zu of %zu), the period has no end",
               label(infer, stop), stop->endless, stop->values);
  return BASE_OK;
}

static struct infer_column *best_time(struct infer *infer) {
  struct infer_column *first = NULL;
  for (size_t i = 0; i < infer->count; i++) {
    struct infer_column *column = &infer->columns[i];
    enum sn_time_form unit;
    if (!column->is_time || column->endless > 0 || infer_has_gaps(infer, column)) continue;
    if (infer_hints(column->name, &unit) & INFER_HINT_BEST) return column;
    if (first == NULL) first = column;
  }
  return first;
}

static bool try_length(struct infer *infer) {
  struct infer_column *unclear, *length = find_length(infer, &unclear), *time = best_time(infer);
  enum sn_time_form unit;
  if (time != NULL && length == NULL && unclear != NULL)
    infer_note(infer,
               "%s may be how long a period lasts, but its name says no unit: stop = start + "
               "\"%s\" in ms would be it",
               label(infer, unclear), unclear->name);
  if (time == NULL || length == NULL) return false;
  infer->backwards = (infer_hints(time->name, &unit) & INFER_HINT_STOP) != 0;
  time->role = infer->backwards ? INFER_STOP : INFER_START;
  length->role = INFER_LENGTH;
  infer->kind = TQL_INFER_PERIOD;
  note_time(infer, time, infer->backwards ? "the stop" : "the start");
  infer_note(
      infer, "%s is how long the period lasts%s", label(infer, length),
      infer->backwards ? "" : "; if its time is that of the end, say start = stop - the length");
  infer->empty = length->least_decimal <= 0;
  return true;
}

/* --- all */

/* It is called like a time, and its values look like some. */
static void note_no_time(struct infer *infer, const struct infer_column *column) {
  enum sn_time_form unit;
  unsigned hints = infer_hints(column->name, &unit);
  unsigned times = INFER_HINT_BEST | INFER_HINT_START | INFER_HINT_STOP;
  bool digits = column->example != NULL && isdigit((unsigned char)*column->example);
  if (column->is_time || (hints & times) == 0 || !digits) return;
  if (infer->options->time.timeline != NET_TIMELINE_REAL) return;
  infer_note(infer,
             "%s is no time: its values are not all of one form, or of our days (such as %s)",
             label(infer, column), column->example);
}

static enum base_status wants(struct infer *infer, const char *what) {
  return infer_fail(infer, infer->options->paths[0],
                    "without the kind, what there is decides; tquel infer FILE says what that is",
                    what);
}

enum base_status infer_roles(struct infer *infer) {
  enum tql_infer_kind kind = infer->options->kind;
  for (size_t i = 0; i < infer->count; i++) find_time(infer, &infer->columns[i]);
  for (size_t i = 0; i < infer->count; i++) note_no_time(infer, &infer->columns[i]);
  infer->kind = TQL_INFER_SNAPSHOT;
  if (is_own(infer)) return BASE_OK;
  bool period = false;
  if (kind == TQL_INFER_ANY || kind == TQL_INFER_PERIOD) {
    enum base_status status = try_start_and_stop(infer, &period);
    if (status != BASE_OK) return status;
    if (!period) period = try_length(infer);
    if (period) return BASE_OK;
  }
  if (kind == TQL_INFER_PERIOD)
    return wants(infer, "it has no start and stop, and no start and length, that make periods");
  struct infer_column *time = kind == TQL_INFER_SNAPSHOT ? NULL : best_time(infer);
  if (kind == TQL_INFER_EVENT && time == NULL)
    return wants(infer, "it has no column that is a time in each record");
  if (time == NULL) {
    infer_note(infer, kind == TQL_INFER_SNAPSHOT
                          ? "what it holds, holds always"
                          : "no column is a time in each record: what it holds, holds always");
    return BASE_OK;
  }
  time->role = INFER_AT;
  infer->kind = TQL_INFER_EVENT;
  note_time(infer, time, "the time");
  return BASE_OK;
}
