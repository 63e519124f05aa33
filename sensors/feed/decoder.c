/* From the texts of a record to a checked row.
 *
 * A value is converted into the slot of its column and checked against its type at once; what
 * concerns several values (bounds exchanged, an empty period, a denominator of zero) is checked
 * when the record is complete. A row that passes holds the invariants of periods (engine/time.h): the
 * four inequalities hold, no determinate period is empty, an open stop has NET_OPEN as its lower
 * bound.
 *
 * Times in data are integers, the words forever and beginning, and ISO 8601 on the real timeline.
 * "now" and bare clock times, which mean something else tomorrow, are refused here. */
#include "sensors/feed/decoder.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/bytes.h"
#include "sensors/feed/numbers.h"

#define SHOWN_BYTES       48
#define LONGEST_SUGGESTED ((size_t)256)

void sn_decoder_init(struct sn_decoder *decoder, const struct sn_reader_options *options) {
  const struct net_layout *layout = options->layout;
  *decoder = (struct sn_decoder){.layout = layout,
                                 .time = options->time,
                                 .strings = options->strings,
                                 .timeless = options->timeless,
                                 .least_number = INT64_MAX,
                                 .most_number = INT64_MIN,
                                 .round_numbers = true};
  if (options->form != NULL) decoder->empty = options->form->empty;
  if (options->form != NULL && options->form->mapping_count > 0)
    sn_columns_map(&decoder->columns, layout, options->form);
  else
    sn_columns_init(&decoder->columns, layout);
  sn_stamps_init(&decoder->stamps, &options->time);
  decoder->row = base_xcalloc(layout->slot_count, sizeof *decoder->row);
  for (uint32_t i = 0; i < layout->field_count; i++)
    if (layout->fields[i].type.base == NET_TEMPORAL) decoder->has_temporal = true;
}

void sn_decoder_done(struct sn_decoder *decoder) {
  sn_columns_done(&decoder->columns);
  base_buffer_done(&decoder->reason);
  base_buffer_done(&decoder->bytes);
  free(decoder->row);
}

void sn_decoder_begin(struct sn_decoder *decoder) {
  decoder->definite = true;
  decoder->stop_lo_empty = decoder->stop_hi_empty = false;
  decoder->start_offset = decoder->stop_offset = 0;
  decoder->dropped = decoder->has_length = false;
}

/* ---- saying what is wrong ---- */

bool sn_decoder_refuse(struct sn_decoder *decoder, enum base_message number, const char *format,
                       ...) {
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, args);
  va_end(args);
  BASE_CHECK(length >= 0, "feed-reason-format");
  base_buffer_clear(&decoder->reason);
  base_buffer_reserve(&decoder->reason, (size_t)length);
  vsnprintf(decoder->reason.data, (size_t)length + 1, format, again);
  va_end(again);
  decoder->reason.length = (size_t)length;
  decoder->number = number;
  return false;
}

/* Appends TEXT for a message: quoted, in printable characters, shortened. */
static void show(struct base_buffer *out, const char *text, size_t length) {
  size_t shown = length > SHOWN_BYTES ? SHOWN_BYTES : length;
  /* Not in the middle of a sequence. */
  while (shown < length && shown > 0 && ((unsigned char)text[shown] & 0xC0) == 0x80) shown--;
  base_buffer_putc(out, '"');
  for (size_t i = 0; i < shown; i++) {
    unsigned char byte = (unsigned char)text[i];
    if (byte < ' ' || byte >= 0x7F)
      base_buffer_printf(out, "\\x%02x", byte);
    else
      base_buffer_putc(out, text[i]);
  }
  base_buffer_puts(out, shown < length ? "\"..." : "\"");
}

static bool refuse_value(struct sn_decoder *decoder, const char *name, const char *text,
                         size_t length, const char *what) {
  sn_decoder_refuse(decoder, MSG_BAD_VALUE, "%s: ", name);
  if (length == 0) {
    base_buffer_puts(&decoder->reason, "the value is missing");
    return false;
  }
  show(&decoder->reason, text, length);
  base_buffer_printf(&decoder->reason, " is %s", what);
  return false;
}

bool sn_decoder_unknown(struct sn_decoder *decoder, const char *name, size_t length) {
  const struct sn_columns *columns = &decoder->columns;
  char *copy = base_xmalloc(length + 1);
  const char *nearest = NULL;
  memcpy(copy, name, length);
  copy[length] = 0;
  if (length <= LONGEST_SUGGESTED) nearest = base_nearest(copy, columns->names, columns->count);
  free(copy);
  sn_decoder_refuse(decoder, MSG_UNKNOWN_COLUMN, "the relation has no column ");
  show(&decoder->reason, name, length);
  if (nearest) base_buffer_printf(&decoder->reason, "; did you mean %s?", nearest);
  return false;
}

bool sn_decoder_lacks(struct sn_decoder *decoder, enum sn_lack lack, const char *name) {
  if (lack == SN_COMPLETE) return true;
  if (lack == SN_TWICE)
    return sn_decoder_refuse(decoder, MSG_COLUMN_TWICE, "%s is given twice", name);
  return sn_decoder_refuse(decoder, MSG_MISSING_COLUMN, "column %s is missing", name);
}

/* ---- times ---- */

static bool looks_like_date(const char *text, size_t length) {
  size_t digits = 0;
  if (length > 0 && (*text == '-' || *text == '+')) text++, length--;
  while (digits < length && text[digits] >= '0' && text[digits] <= '9') digits++;
  return digits >= 4 && digits < length && text[digits] == '-';
}

static bool parse_time(struct sn_decoder *decoder, const char *name, const char *text,
                       size_t length, struct net_instant *ret) {
  const char *what = "no time";
  if (sn_equal_ignoring_case(text, length, "forever")) {
    *ret = (struct net_instant){NET_FOREVER, NET_FOREVER};
    return true;
  }
  if (sn_equal_ignoring_case(text, length, "beginning")) {
    *ret = (struct net_instant){NET_BEGINNING, NET_BEGINNING};
    return true;
  }
  if (!looks_like_date(text, length)) return refuse_value(decoder, name, text, length, what);
  switch (net_time_parse_instant(text, length, &decoder->time, ret)) {
    case NET_TIME_OK:
      return true;
    case NET_TIME_SYNTAX:
      break;
    case NET_TIME_FIELD:
      what = "no date or time of day that there is";
      break;
    case NET_TIME_RANGE:
      what = "out of the range of times";
      break;
    case NET_TIME_TWICE:
      break;
    case NET_TIME_SKIPPED:
      what = "a time that clocks were put forward over";
      break;
    case NET_TIME_ABSTRACT:
      what = "a date, and times on the abstract timeline are integers";
      break;
  }
  return refuse_value(decoder, name, text, length, what);
}

static void note_number(struct sn_decoder *decoder, net_chronon time) {
  if (time == NET_BEGINNING || time == NET_FOREVER) return;
  if (time < decoder->least_number) decoder->least_number = time;
  if (time > decoder->most_number) decoder->most_number = time;
  decoder->round_numbers &= time % 1000000 == 0;
}

const char *sn_decoder_unit(const struct sn_decoder *decoder) {
  static const struct {
    const char *name;
    int64_t per_second;
  } units[] = {{"seconds", 1}, {"milliseconds", 1000}, {"microseconds", 1000000}};
  const int64_t year_2000 = 946684800, year_2100 = 4102444800;
  if (decoder->time.timeline != NET_TIMELINE_REAL || decoder->round_numbers) return NULL;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
    if (decoder->least_number >= year_2000 * units[i].per_second &&
        decoder->most_number < year_2100 * units[i].per_second)
      return units[i].name;
  return NULL;
}

static bool read_time(struct sn_decoder *decoder, const char *name, const char *text, size_t length,
                      struct net_instant *ret) {
  sn_trim(&text, &length);
  switch (sn_read_integer(text, length, &ret->lo)) {
    case SN_NUMBER_OK:
      ret->hi = ret->lo;
      if (ret->lo < NET_EARLIEST && ret->lo != NET_BEGINNING) break;
      note_number(decoder, ret->lo);
      return true;
    case SN_NUMBER_SYNTAX:
      return parse_time(decoder, name, text, length, ret);
    case SN_NUMBER_FRACTION:
      return refuse_value(
          decoder, name, text, length,
          decoder->time.timeline == NET_TIMELINE_REAL
              ? "no whole number of nanoseconds since 1970: parts of a second are written as in "
                "2026-01-01T10:00:00.5Z"
              : "no whole number of chronons");
    case SN_NUMBER_RANGE:
      break;
  }
  return refuse_value(decoder, name, text, length, "out of the range of times");
}

bool sn_decoder_read_time(struct sn_decoder *decoder, const char *name, const char *text,
                          size_t length, net_chronon *ret) {
  struct net_instant time;
  if (!read_time(decoder, name, text, length, &time)) return false;
  *ret = time.lo;
  return time.lo == time.hi ||
         refuse_value(
             decoder, name, text, length,
             "a time that comes twice, as clocks were put back: it needs its offset from UTC");
}

/* A time in the form that its mapping says. */
static bool read_stamp(struct sn_decoder *decoder, const struct sn_column *column, const char *text,
                       size_t length, struct net_instant *ret) {
  sn_trim(&text, &length);
  if (column->form == SN_TIME_OWN) return read_time(decoder, column->name, text, length, ret);
  const char *problem =
      sn_stamp_read(&decoder->stamps, column->form, column->like, text, length, ret);
  return problem == NULL || refuse_value(decoder, column->name, text, length, problem);
}

static bool set_length(struct sn_decoder *decoder, const struct sn_column *column, const char *text,
                       size_t length) {
  sn_trim(&text, &length);
  const char *problem = sn_length_read(column->form, text, length, &decoder->length);
  decoder->has_length = true;
  decoder->before = column->before;
  return problem == NULL || refuse_value(decoder, column->name, text, length, problem);
}

static bool set_stop(struct sn_decoder *decoder, const struct sn_column *column, const char *text,
                     size_t length) {
  union net_slot *slot = decoder->row + column->slot;
  const char *trimmed = text;
  size_t left = length;
  sn_trim(&trimmed, &left);
  if (left == 0) {
    if (column->role != SN_STOP_HI) decoder->stop_lo_empty = true;
    if (column->role != SN_STOP_LO) decoder->stop_hi_empty = true;
    return true;
  }
  struct net_instant time;
  if (!read_stamp(decoder, column, trimmed, left, &time)) {
    if (!decoder->columns.mapped ||
        !sn_stamp_is_endless(&decoder->stamps, column->form, column->like, trimmed, left))
      return false;
    time.lo = time.hi = NET_FOREVER;
  }
  slot->i = column->role == SN_STOP_HI ? time.hi : time.lo;
  if (slot->i == NET_BEGINNING && column->role == SN_STOP)
    return refuse_value(decoder, column->name, trimmed, left, "no time to stop at");
  if (column->role == SN_STOP) slot[1].i = time.hi;
  return true;
}

/* ---- domains ---- */

static const char *number_problem(enum sn_number result, struct net_type type) {
  if (result == SN_NUMBER_FRACTION) return "no whole number";
  if (result == SN_NUMBER_SYNTAX) return type.base == NET_INTEGER ? "no integer" : "no number";
  return type.base == NET_INTEGER ? "out of the range of i8" : "out of the range of f8";
}

static const char *convert_point(struct sn_decoder *decoder, const char *text, size_t length,
                                 union net_slot *slot) {
  bool reserved = sn_equal_ignoring_case(text, length, "forever") ||
                  sn_equal_ignoring_case(text, length, "beginning");
  if (!reserved && !looks_like_date(text, length)) return "no time";
  switch (net_time_parse(text, length, &decoder->time, &slot->i)) {
    case NET_TIME_OK:
      return NULL;
    case NET_TIME_SYNTAX:
      return "no time";
    case NET_TIME_RANGE:
      return "a time outside the time line";
    case NET_TIME_FIELD:
      return "no time that there is";
    case NET_TIME_ABSTRACT:
      return "a date, on the abstract time line";
    case NET_TIME_TWICE:
      return "a time that the clock showed twice: say its offset from UTC";
    case NET_TIME_SKIPPED:
      return "a time that the clock was put forward over";
  }
  return "no time";
}

/* Converts without checking; a text that says what is wrong, or NULL. */
static const char *convert(struct sn_decoder *decoder, struct net_type type, const char *text,
                           size_t length, union net_slot *slot) {
  enum sn_number result = SN_NUMBER_OK;
  bool truth;
  switch (type.base) {
    case NET_INTEGER:
      result = sn_read_integer(text, length, &slot->i);
      if (result == SN_NUMBER_OK || type.quantity == NET_NUMBER) break;
      return type.quantity == NET_POINT ? convert_point(decoder, text, length, slot)
             : net_duration_parse(text, length, &slot->i)
                 ? NULL
                 : "no length of time, such as 1500000 (ns) or 1.5 ms";
    case NET_FLOAT:
    case NET_TEMPORAL:
      result = sn_read_double(text, length, &slot->f);
      break;
    case NET_BOOL:
      if (!sn_read_bool(text, length, &truth)) return "neither true nor false";
      slot->i = truth;
      break;
    case NET_STRING:
    case NET_NAME:
      slot->s = base_strings_intern(decoder->strings, text, length);
      break;
    case NET_BYTES:
      base_buffer_clear(&decoder->bytes);
      if (!base_bytes_read(&decoder->bytes, text, length))
        return "no bytes, of which each has two hexadecimal digits";
      slot->s = base_strings_intern(decoder->strings, base_buffer_text(&decoder->bytes),
                                    decoder->bytes.length);
      break;
    case NET_INSTANT:
      return "of no type that records can hold";
  }
  return result == SN_NUMBER_OK ? NULL : number_problem(result, type);
}

static bool set_domain(struct sn_decoder *decoder, const struct sn_column *column, const char *text,
                       size_t length) {
  struct net_type type = column->field->type;
  union net_slot *slot = decoder->row + column->slot;
  if (type.base != NET_STRING && type.base != NET_NAME) sn_trim(&text, &length);
  const char *problem = convert(decoder, type, text, length, slot);
  if (!problem) problem = net_value_check_entry(decoder->strings, type, *slot);
  return problem ? refuse_value(decoder, column->name, text, length, problem) : true;
}

static bool set_definite(struct sn_decoder *decoder, const char *text, size_t length) {
  sn_trim(&text, &length);
  return sn_read_bool(text, length, &decoder->definite) ||
         refuse_value(decoder, "definite", text, length, "neither true nor false");
}

static bool is_blank(const char *text, size_t length) {
  sn_trim(&text, &length);
  return length == 0;
}

bool sn_decoder_set(struct sn_decoder *decoder, const struct sn_column *column, const char *text,
                    size_t length, size_t offset) {
  struct net_instant time;
  if (column->otherwise != NULL && is_blank(text, length)) {
    text = column->otherwise;
    length = strlen(text);
  }
  switch (column->role) {
    case SN_WHOLE:
    case SN_LO:
    case SN_HI:
      decoder->start_offset = offset;
      /* What the clock showed twice, as it was put back, is either: an uncertain instant. */
      if (!read_stamp(decoder, column, text, length, &time)) return false;
      decoder->row[column->slot].i = column->role == SN_HI ? time.hi : time.lo;
      if (column->role == SN_WHOLE) decoder->row[column->slot + 1].i = time.hi;
      return true;
    case SN_STOP:
    case SN_STOP_LO:
    case SN_STOP_HI:
      decoder->stop_offset = offset;
      return set_stop(decoder, column, text, length);
    case SN_LENGTH:
      decoder->stop_offset = offset;
      return set_length(decoder, column, text, length);
    case SN_DEFINITE:
      return set_definite(decoder, text, length);
    case SN_DOMAIN:
    case SN_PART:
      return set_domain(decoder, column, text, length);
  }
  return true;
}

/* ---- the whole record ---- */

static bool bad_times(struct sn_decoder *decoder, const char *what) {
  return sn_decoder_refuse(decoder, MSG_BAD_TIMES, "%s", what);
}

/* What the other end of the period is that the record does not have. */
static bool add_length(struct sn_decoder *decoder) {
  union net_slot *known = decoder->row + (decoder->before ? 2 : 0);
  union net_slot *other = decoder->row + (decoder->before ? 0 : 2);
  int64_t length = decoder->before ? -decoder->length : decoder->length;
  for (int i = 0; i < 2; i++) {
    other[i].i = net_chronon_add(known[i].i, length);
    if (other[i].i != known[i].i && (other[i].i == NET_BEGINNING || other[i].i == NET_FOREVER))
      return bad_times(decoder, "the period reaches beyond the time line");
  }
  return true;
}

static bool is_empty(const union net_slot *row) {
  return row[0].i == row[1].i && row[2].i == row[3].i && row[0].i == row[2].i;
}

/* A period that is empty, and not to be refused. */
static bool take_empty(struct sn_decoder *decoder) {
  union net_slot *row = decoder->row;
  if (decoder->empty == SN_EMPTY_REFUSE || !is_empty(row)) return false;
  if (decoder->empty == SN_EMPTY_INSTANT && row[0].i >= NET_FOREVER - 1) return false;
  decoder->dropped = decoder->empty == SN_EMPTY_DROP;
  if (!decoder->dropped) row[2].i = row[3].i = row[0].i + 1;
  decoder->empty_count++;
  return true;
}

static bool check_stop(struct sn_decoder *decoder) {
  union net_slot *row = decoder->row;
  if (decoder->has_length && decoder->before && decoder->stop_lo_empty)
    return bad_times(decoder, "the start is not known, as there is no stop");
  if (decoder->has_length && !add_length(decoder)) return false;
  if (decoder->stop_hi_empty && !decoder->stop_lo_empty)
    return bad_times(decoder, "stop_hi is empty and stop_lo is not");
  if (decoder->stop_hi_empty) row[3].i = NET_FOREVER;
  bool open = decoder->stop_lo_empty;
  if (!open && take_empty(decoder)) return true;
  struct net_period period = {net_row_start(row), net_row_start(row + 2)};
  /* An open stop is at its start at the earliest. */
  if (open) period.stop.lo = period.start.lo < row[3].i ? period.start.lo : row[3].i;
  if (open) row[2].i = NET_OPEN;
  if (period.stop.lo > period.stop.hi) return bad_times(decoder, "stop_lo is after stop_hi");
  if (!open && period.start.lo == period.start.hi && period.stop.lo == period.stop.hi &&
      period.start.lo >= period.stop.lo)
    return bad_times(decoder, period.start.lo == period.stop.lo
                                  ? "the period is empty: it stops when it starts"
                                  : "the period stops before it starts");
  if (!net_period_valid(period))
    return bad_times(decoder, "a bound of stop is before the same bound of start");
  if (net_nonempty(period) == NET_FALSE) return bad_times(decoder, "the period is empty");
  return true;
}

bool sn_decoder_finish_temporals(struct sn_decoder *decoder, const bool *named) {
  const struct net_layout *layout = decoder->layout;
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const struct net_field *field = &layout->fields[i];
    if (field->type.base != NET_TEMPORAL || (named && !named[i])) continue;
    union net_slot *slots = decoder->row + field->slot;
    struct net_temporal value = {slots[0].f, slots[1].f, slots[2].f, slots[3].f};
    if (value.d0 == 0 && value.d1 == 0)
      return sn_decoder_refuse(decoder, MSG_BAD_VALUE, "%s: the denominator is zero", field->name);
    value = net_temporal_shortest(net_temporal_normal(value));
    if (!isfinite(value.n0) || !isfinite(value.n1))
      return sn_decoder_refuse(decoder, MSG_BAD_VALUE, "%s: out of range", field->name);
    slots[0].f = value.n0;
    slots[1].f = value.n1;
    slots[2].f = value.d0;
    slots[3].f = value.d1;
  }
  return true;
}

static void fill_timeless(struct sn_decoder *decoder) {
  decoder->row[0].i = decoder->row[1].i = NET_BEGINNING;
  if (decoder->layout->tuple_class == NET_PERIOD)
    decoder->row[2].i = decoder->row[3].i = NET_FOREVER;
}

bool sn_decoder_finish(struct sn_decoder *decoder, bool times, size_t *ret_offset) {
  const union net_slot *row = decoder->row;
  *ret_offset = 0;
  if (decoder->has_temporal && !sn_decoder_finish_temporals(decoder, NULL)) return false;
  if (!times) {
    fill_timeless(decoder);
    return true;
  }
  *ret_offset = decoder->start_offset;
  bool event = decoder->layout->tuple_class == NET_EVENT;
  if (decoder->has_length && decoder->before) return check_stop(decoder);
  if (row[0].i > row[1].i)
    return bad_times(decoder, event ? "at_lo is after at_hi" : "start_lo is after start_hi");
  *ret_offset = decoder->stop_offset;
  return event || check_stop(decoder);
}
