/* CSV: RFC 4180 with line feeds, a header line, times as integers or the words forever and
 * beginning. What is written here reads back as the same rows (sensors/feed).
 *
 * Fields are quoted when they must be: when they hold a comma, a quotation mark or a line end. */
#include <string.h>

#include "engine/base/bytes.h"
#include "tquel/format/cells.h"

void tql_csv_text(struct base_buffer *out, const char *text, size_t length) {
  const char *end = text + length;
  if (!memchr(text, ',', length) && !memchr(text, '"', length) && !memchr(text, '\n', length) &&
      !memchr(text, '\r', length)) {
    base_buffer_append(out, text, length);
    return;
  }
  base_buffer_putc(out, '"');
  for (const char *mark; (mark = memchr(text, '"', (size_t)(end - text))); text = mark + 1) {
    base_buffer_append(out, text, (size_t)(mark + 1 - text));
    base_buffer_putc(out, '"');
  }
  base_buffer_append(out, text, (size_t)(end - text));
  base_buffer_putc(out, '"');
}

static void append_value(struct base_buffer *out, const struct tql_format_context *context,
                         struct net_type type, union net_slot slot) {
  size_t length;
  const char *text;
  switch (type.base) {
    case NET_INTEGER:
      if (type.quantity == NET_POINT)
        net_time_print(out, context->timeline, slot.i);
      else
        base_buffer_int(out, slot.i);
      return;
    case NET_FLOAT:
      base_buffer_double(out, slot.f);
      return;
    case NET_BOOL:
      base_buffer_puts(out, slot.i ? "true" : "false");
      return;
    case NET_STRING:
    case NET_NAME:
      text = base_strings_text(context->strings, slot.s, &length);
      tql_csv_text(out, text, length);
      return;
    case NET_BYTES:
      text = base_strings_text(context->strings, slot.s, &length);
      base_buffer_bytes(out, text, length);
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
      net_time_print_raw(out, slot.i);
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

void tql_csv_header(struct base_buffer *out, const struct tql_columns *columns) {
  for (size_t i = 0; i < columns->count; i++) {
    if (i > 0) base_buffer_putc(out, ',');
    tql_csv_text(out, columns->items[i].name, strlen(columns->items[i].name));
  }
  base_buffer_putc(out, '\n');
}

void tql_csv_row(struct base_buffer *out, const struct tql_format_context *context,
                 const struct tql_columns *columns, const struct tql_row *row) {
  for (size_t i = 0; i < columns->count; i++) {
    if (i > 0) base_buffer_putc(out, ',');
    append_cell(out, context, &columns->items[i], row);
  }
  base_buffer_putc(out, '\n');
}

void tql_write_csv(struct base_buffer *out, const struct tql_format_context *context,
                   const struct tql_rows *rows) {
  struct tql_columns columns;
  struct tql_cursor cursor;
  struct tql_row row;
  if (context->results_before > 0) base_buffer_putc(out, '\n');
  tql_columns_for_programs(&columns, rows->rows.layout);
  tql_csv_header(out, &columns);
  tql_cursor_init(&cursor, rows);
  while (tql_cursor_next(&cursor, &row)) {
    tql_csv_row(out, context, &columns, &row);
    tql_pour(context, out);
  }
  tql_cursor_done(&cursor);
  tql_columns_done(&columns);
}
