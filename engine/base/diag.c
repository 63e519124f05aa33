/* The registry of messages, the sink, and the text form of a diagnostic.
 *
 * Reporting only collects: a diagnostic is stored, counted and shown to the sink's observer. Its
 * message is kept to one line: control bytes that came in with a user's name or value are written
 * as escapes (\n, \x1b), so that no input can move a terminal's cursor or forge a second line.
 *
 * The text form follows the habit of compilers, so that editors can jump to the place:
 *
 *      demo.tq:3:14: error TQ-0101: there is no relation Iteratoin
 *        range of e is Iteratoin
 *                      ^^^^^^^^^
 *      hint: did you mean Iteration?
 *
 * A source line of more than LINE_COLUMNS characters (a script that a program wrote is one line, at
 * times) is shown in part, around the place, with "..." where it goes on.                        */
#include "engine/base/diag.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "engine/base/printable.h"
#include "engine/base/status.h"

/* The symbolic names as they stand in messages.def; put into lower case with dashes before main, so
 * that the registry is constant ever after. */
static struct {
#define MESSAGE(NUMBER, NAME, SEVERITY, EXIT, TEMPLATE, EXPLANATION, EXAMPLE, FIX) \
  char name_##NAME[sizeof #NAME];
#include "engine/base/messages.def"
#undef MESSAGE
} names = {
#define MESSAGE(NUMBER, NAME, SEVERITY, EXIT, TEMPLATE, EXPLANATION, EXAMPLE, FIX) \
  .name_##NAME = #NAME,
#include "engine/base/messages.def"
#undef MESSAGE
};

static const struct base_message_info messages[] = {
#define MESSAGE(NUMBER, NAME, SEVERITY, EXIT, TEMPLATE, EXPLANATION, EXAMPLE, FIX) \
  {NUMBER, names.name_##NAME, SEVERITY, EXIT, TEMPLATE, EXPLANATION, EXAMPLE, FIX},
#include "engine/base/messages.def"
#undef MESSAGE
};

#define MESSAGE_COUNT (sizeof messages / sizeof messages[0])

__attribute__((constructor)) static void spell_names(void) {
  char *bytes = (char *)&names;
  for (size_t i = 0; i < sizeof names; i++) {
    if (bytes[i] >= 'A' && bytes[i] <= 'Z') bytes[i] = (char)(bytes[i] + 32);
    if (bytes[i] == '_') bytes[i] = '-';
  }
}

const struct base_message_info *base_message_find(int number) {
  for (size_t i = 0; i < MESSAGE_COUNT; i++)
    if (messages[i].number == number) return &messages[i];
  return NULL;
}

const struct base_message_info *base_message_at(size_t index) {
  return index < MESSAGE_COUNT ? &messages[index] : NULL;
}

void base_diag_sink_init(struct base_diag_sink *sink) {
  *sink = (struct base_diag_sink){0};
}

void base_diag_sink_clear(struct base_diag_sink *sink) {
  for (size_t i = 0; i < sink->count; i++) {
    free(sink->items[i].message);
    free(sink->items[i].hint);
  }
  sink->count = 0;
  sink->delivered = 0;
  sink->errors = 0;
  sink->exit_code = 0;
}

void base_diag_drop(struct base_diag_sink *sink, size_t count) {
  BASE_CHECK(sink->delivered <= count && count <= sink->count, "diag-drop");
  for (size_t i = count; i < sink->count; i++) {
    free(sink->items[i].message);
    free(sink->items[i].hint);
  }
  sink->count = count;
  sink->errors = 0;
  sink->exit_code = 0;
  for (size_t i = 0; i < count; i++) {
    if (sink->items[i].severity != BASE_ERROR) continue;
    if (sink->errors++ == 0) sink->exit_code = sink->items[i].exit_code;
  }
}

void base_diag_sink_done(struct base_diag_sink *sink) {
  base_diag_sink_clear(sink);
  free(sink->items);
  base_diag_sink_init(sink);
}

static char *one_line(const char *text) {
  struct base_buffer line = BASE_BUFFER_EMPTY;
  base_buffer_reserve(&line, strlen(text));
  base_buffer_printable(&line, text, strlen(text));
  return line.data;
}

static char *format_line(const char *format, va_list args) {
  struct base_arena *arena = base_arena_new();
  char *line = one_line(base_arena_vprintf(arena, format, args));
  base_arena_free(arena);
  return line;
}

/* Takes over MESSAGE and HINT. */
static void deliver(struct base_diag_sink *sink) {
  if (sink->holds > 0) return;
  while (sink->delivered < sink->count) {
    const struct base_diag *diag = &sink->items[sink->delivered++];
    if (sink->on_report) sink->on_report(sink->context, diag);
  }
}

void base_diag_hold(struct base_diag_sink *sink) {
  sink->holds++;
}

void base_diag_release(struct base_diag_sink *sink) {
  BASE_CHECK(sink->holds > 0, "diag-release");
  sink->holds--;
  deliver(sink);
}

static struct base_diag *add(struct base_diag_sink *sink, enum base_message number,
                             const struct base_source *source, const struct base_range *range,
                             char *message, char *hint) {
  const struct base_message_info *info = base_message_find((int)number);
  BASE_CHECK(info, "diag-number-registered");
  base_grow(&sink->items, &sink->capacity, sink->count + 1, sizeof *sink->items);
  struct base_diag *diag = &sink->items[sink->count++];
  *diag = (struct base_diag){.number = number,
                             .severity = info->severity,
                             .exit_code = info->exit_code,
                             .source = source,
                             .message = message,
                             .hint = hint};
  if (range) diag->range = *range;
  if (info->severity == BASE_ERROR) {
    if (sink->errors == 0) sink->exit_code = info->exit_code;
    sink->errors++;
  }
  deliver(sink);
  return &sink->items[sink->count - 1];
}

struct base_diag *base_report(struct base_diag_sink *sink, enum base_message number,
                              const struct base_source *source, const struct base_range *range,
                              const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *message = format_line(format, args);
  va_end(args);
  return add(sink, number, source, range, message, NULL);
}

struct base_diag *base_report_hint(struct base_diag_sink *sink, enum base_message number,
                                   const struct base_source *source, const struct base_range *range,
                                   const char *hint, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *message = format_line(format, args);
  va_end(args);
  return add(sink, number, source, range, message, hint ? one_line(hint) : NULL);
}

struct line {
  const char *text;
  size_t length;
};

/* The line of the source that has this NUMBER, without its line end; false when there is none. */
static bool find_line(const struct base_source *source, int number, struct line *ret) {
  const char *next = source->text, *end = source->text + source->length;
  int first = source->first_line > 0 ? source->first_line : 1;
  if (number < first) return false;
  for (int line = first; line < number; line++) {
    const char *newline = memchr(next, '\n', (size_t)(end - next));
    if (!newline) return false;
    next = newline + 1;
  }
  const char *newline = memchr(next, '\n', (size_t)(end - next));
  ret->text = next;
  ret->length = (size_t)((newline ? newline : end) - next);
  if (ret->length && next[ret->length - 1] == '\r') ret->length--;
  return true;
}

/* The bytes of UTF-8 after the first of a character take no column on the screen. */
static bool takes_column(char byte) {
  return ((unsigned char)byte & 0xc0) != 0x80;
}

enum { LINE_COLUMNS = 200, COLUMNS_BEFORE = 60 };

/* Where COLUMNS characters from FROM on end; bytes that are no UTF-8 count as at most four each. */
static size_t columns_after(const struct line *line, size_t from, size_t columns) {
  size_t at = from, most = 4 * columns;
  for (; at < line->length && at - from < most; at++)
    if (takes_column(line->text[at]) && columns-- == 0) break;
  return at;
}

/* Where COLUMNS characters that end at FROM begin. */
static size_t columns_before(const struct line *line, size_t from, size_t columns) {
  size_t at = from, most = 4 * columns;
  while (at > 0 && columns > 0 && from - at < most)
    if (takes_column(line->text[--at])) columns--;
  return at;
}

/* The part of LINE around the byte AT that is shown: [*RET_FROM, *RET_END). */
static void find_window(const struct line *line, size_t at, size_t *ret_from, size_t *ret_end) {
  *ret_from = 0;
  *ret_end = columns_after(line, 0, LINE_COLUMNS);
  if (*ret_end == line->length) return;
  *ret_from = columns_before(line, at, COLUMNS_BEFORE);
  *ret_end = columns_after(line, *ret_from, LINE_COLUMNS);
  if (*ret_end == line->length) *ret_from = columns_before(line, line->length, LINE_COLUMNS);
}

/* The bytes of LINE that RANGE is about: [*RET_FIRST, *RET_LAST); without a column its beginning. */
static void find_place(const struct line *line, const struct base_range *range, size_t *ret_first,
                       size_t *ret_last) {
  size_t first = range->first_column > 0 ? (size_t)range->first_column - 1 : 0, last = first + 1;
  if (first > line->length) first = line->length;
  if (range->last_line > range->first_line)
    last = line->length;
  else if (range->last_line == range->first_line && range->last_column > range->first_column)
    last = (size_t)range->last_column - 1;
  *ret_first = first;
  *ret_last = last > line->length ? line->length : last;
}

/* One column, whatever it is, so that the carets below agree. Returns its bytes. */
static size_t append_character(struct base_buffer *out, const struct line *line, size_t at,
                               size_t end) {
  const char *text = line->text + at;
  uint32_t point = 0;
  size_t size = base_utf8(text, end - at, &point);
  if (size == 0) size = 1; /* no UTF-8 */
  if (*text == '\t' || base_is_printable(text, size))
    base_buffer_append(out, text, size);
  else
    base_buffer_putc(out, '?');
  return size;
}

static void format_source(struct base_buffer *out, const struct line *line,
                          const struct base_range *range) {
  size_t first, last, from, end;
  find_place(line, range, &first, &last);
  find_window(line, first, &from, &end);
  base_buffer_puts(out, from > 0 ? "  ..." : "  ");
  for (size_t i = from, size; i < end; i += size) size = append_character(out, line, i, end);
  base_buffer_puts(out, end < line->length ? "...\n" : "\n");
  if (range->first_column <= 0) return;
  base_buffer_puts(out, from > 0 ? "     " : "  ");
  for (size_t i = from; i < first; i++)
    if (takes_column(line->text[i])) base_buffer_putc(out, line->text[i] == '\t' ? '\t' : ' ');
  base_buffer_putc(out, '^');
  if (last > end) last = end;
  for (size_t i = first + 1; i < last; i++)
    if (takes_column(line->text[i])) base_buffer_putc(out, '^');
  base_buffer_putc(out, '\n');
}

static void format_place(struct base_buffer *out, const struct base_diag *diag) {
  size_t before = out->length;
  if (diag->source && diag->source->name) base_buffer_printf(out, "%s:", diag->source->name);
  if (diag->range.first_line > 0) {
    base_buffer_printf(out, "%d:", diag->range.first_line);
    if (diag->range.first_column > 0) base_buffer_printf(out, "%d:", diag->range.first_column);
  }
  if (out->length > before) base_buffer_putc(out, ' ');
}

void base_diag_format(struct base_buffer *out, const struct base_diag *diag) {
  static const char *const severities[] = {
      [BASE_NOTE] = "note", [BASE_WARNING] = "warning", [BASE_ERROR] = "error"};
  format_place(out, diag);
  base_buffer_printf(out, "%s TQ-%04d: %s\n", severities[diag->severity], (int)diag->number,
                     diag->message);
  struct line line;
  if (diag->source && diag->source->text && diag->range.first_line > 0 &&
      find_line(diag->source, diag->range.first_line, &line) && line.length)
    format_source(out, &line, &diag->range);
  if (diag->hint) base_buffer_printf(out, "hint: %s\n", diag->hint);
}
