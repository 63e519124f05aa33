/* JSON and NDJSON: an object per row, with the columns of CSV as keys. Finite times and integers
 * are numbers with all their digits (up to 19), forever and beginning are strings.
 *
 * Output is always valid UTF-8: bytes of a string that are not become U+FFFD. */
#include <math.h>
#include <string.h>

#include "engine/base/bytes.h"
#include "tquel/format/cells.h"

static void append_escape(struct base_buffer *out, uint32_t point) {
  static const char bytes[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
  const char *found = point ? strchr(bytes, (int)point) : NULL;
  if (found)
    base_buffer_printf(out, "\\%c", names[found - bytes]);
  else
    base_buffer_printf(out, "\\u%04x", point);
}

void tql_json_text(struct base_buffer *out, const char *text, size_t length) {
  base_buffer_putc(out, '"');
  for (size_t i = 0; i < length;) {
    uint32_t point = 0;
    size_t size = base_utf8(text + i, length - i, &point);
    if (size == 0)
      base_buffer_puts(out, "\xEF\xBF\xBD");
    else if (point < ' ' || point == '"' || point == '\\' || point == 0x7F)
      append_escape(out, point);
    else
      base_buffer_append(out, text + i, size);
    i += size ? size : 1;
  }
  base_buffer_putc(out, '"');
}

static void append_time(struct base_buffer *out, net_chronon time) {
  if (time == NET_FOREVER || time == NET_BEGINNING)
    base_buffer_puts(out, time == NET_FOREVER ? "\"forever\"" : "\"beginning\"");
  else
    base_buffer_int(out, time);
}

/* What is not finite is in no relation, but it may be in a record that is rejected for it. */
static void append_float(struct base_buffer *out, double value) {
  if (isfinite(value))
    base_buffer_double(out, value);
  else
    base_buffer_puts(out, isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"");
}

/* A number is a number; what is not is a word, or has signs that only a string may have. */
static void append_point(struct base_buffer *out, enum net_timeline timeline, net_chronon time) {
  bool word = timeline == NET_TIMELINE_REAL || time == NET_BEGINNING || time == NET_FOREVER;
  if (word) base_buffer_putc(out, '"');
  net_time_print(out, timeline, time);
  if (word) base_buffer_putc(out, '"');
}

static void append_value(struct base_buffer *out, const struct tql_format_context *context,
                         struct net_type type, union net_slot slot) {
  size_t length;
  const char *text;
  switch (type.base) {
    case NET_INTEGER:
      if (type.quantity == NET_POINT)
        append_point(out, context->timeline, slot.i);
      else
        base_buffer_int(out, slot.i);
      return;
    case NET_FLOAT:
      append_float(out, slot.f);
      return;
    case NET_BOOL:
      base_buffer_puts(out, slot.i ? "true" : "false");
      return;
    case NET_STRING:
    case NET_NAME:
      text = base_strings_text(context->strings, slot.s, &length);
      tql_json_text(out, text, length);
      return;
    case NET_BYTES:
      text = base_strings_text(context->strings, slot.s, &length);
      base_buffer_puts(out, "\"\\"); /* the backslash that JSON wants before one */
      base_buffer_bytes(out, text, length);
      base_buffer_putc(out, '"');
      return;
    case NET_TEMPORAL:
    case NET_INSTANT:
      return; /* made of parts and bounds */
  }
}

static void append_cell(struct base_buffer *out, const struct tql_format_context *context,
                        const struct tql_column *column, const struct tql_row *row) {
  union net_slot slot = row->slots[column->slot];
  switch (column->kind) {
    case TQL_BOUND:
      append_time(out, slot.i);
      return;
    case TQL_DEFINITE:
      base_buffer_puts(out, row->definite ? "true" : "false");
      return;
    case TQL_PART:
      base_buffer_double(out, slot.f);
      return;
    case TQL_VALUE:
      append_value(out, context, column->type, slot);
      return;
    case TQL_INSTANT:
      return;
  }
}

void tql_json_members(struct base_buffer *out, const struct tql_format_context *context,
                      const struct tql_columns *columns, const struct tql_row *row) {
  for (size_t i = 0; i < columns->count; i++) {
    const struct tql_column *column = &columns->items[i];
    if (i > 0) base_buffer_puts(out, ", ");
    tql_json_text(out, column->name, strlen(column->name));
    base_buffer_puts(out, ": ");
    append_cell(out, context, column, row);
  }
}

static void write_objects(struct base_buffer *out, const struct tql_format_context *context,
                          const struct tql_rows *rows, const char *before, const char *between) {
  struct tql_columns columns;
  struct tql_cursor cursor;
  struct tql_row row;
  tql_columns_for_programs(&columns, rows->rows.layout);
  tql_cursor_init(&cursor, rows);
  while (tql_cursor_next(&cursor, &row)) {
    base_buffer_puts(out, cursor.next == 1 ? before : between);
    base_buffer_putc(out, '{');
    tql_json_members(out, context, &columns, &row);
    base_buffer_putc(out, '}');
    tql_pour(context, out);
  }
  tql_cursor_done(&cursor);
  tql_columns_done(&columns);
}

void tql_write_json(struct base_buffer *out, const struct tql_format_context *context,
                    const struct tql_rows *rows) {
  base_buffer_putc(out, '[');
  write_objects(out, context, rows, "", ",\n ");
  base_buffer_puts(out, "]\n");
}

void tql_write_ndjson(struct base_buffer *out, const struct tql_format_context *context,
                      const struct tql_rows *rows) {
  write_objects(out, context, rows, "", "\n");
  if (rows->rows.count > 0) base_buffer_putc(out, '\n');
}

void tql_format_end(struct base_buffer *out, const struct tql_format_context *context,
                    const struct net_layout *layout, const union net_slot *row, const bool *named,
                    net_chronon time) {
  base_buffer_puts(out, "{\"end\": ");
  append_time(out, time);
  for (uint32_t f = 0; f < layout->field_count; f++) {
    const struct net_field *field = &layout->fields[f];
    if (!named[f] || net_type_slots(field->type.base) != 1) continue;
    base_buffer_puts(out, ", ");
    tql_json_text(out, field->name, strlen(field->name));
    base_buffer_puts(out, ": ");
    append_value(out, context, field->type, row[field->slot]);
  }
  base_buffer_putc(out, '}');
}
