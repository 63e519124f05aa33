/* The formats for reading: table, line, markdown.
 *
 *     start | stop | Process
 *     ------+------+--------
 *         1 |    5 | A
 *         3 |    8 | B
 *     (2 rows)
 *
 * The rows are gone through twice, once for the widths and once for the text, so that a large
 * result needs no memory of its own cells. A table wider than the terminal is written in line form
 * instead: nothing is cut off. Numbers and the times of the abstract timeline are aligned to the
 * right.      */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "tquel/format/cells.h"

static void append_row_count(struct base_buffer *out, size_t count) {
  base_buffer_printf(out, "(%zu %s)\n", count, count == 1 ? "row" : "rows");
}

/* ---- table ---- */

struct table {
  const struct tql_format_context *context;
  const struct tql_rows *rows;
  struct tql_columns columns;
  size_t *widths;
  bool *to_right;
  struct base_buffer cell;
};

static const char *cell_text(struct table *table, size_t column, const struct tql_row *row) {
  base_buffer_clear(&table->cell);
  tql_cell_for_people(&table->cell, table->context, &table->columns.items[column], row);
  return base_buffer_text(&table->cell);
}

static void measure(struct table *table) {
  struct tql_cursor cursor;
  struct tql_row row;
  for (size_t i = 0; i < table->columns.count; i++) {
    const struct tql_column *column = &table->columns.items[i];
    table->widths[i] = tql_text_width(column->name, strlen(column->name));
    table->to_right[i] =
        tql_column_is_numeric(table->context, column) &&
        (column->kind != TQL_INSTANT || tql_all_determinate(table->rows, column->slot));
  }
  tql_cursor_init(&cursor, table->rows);
  while (tql_cursor_next(&cursor, &row))
    for (size_t i = 0; i < table->columns.count; i++) {
      const char *text = cell_text(table, i, &row);
      size_t width = tql_text_width(text, table->cell.length);
      if (width > table->widths[i]) table->widths[i] = width;
    }
  tql_cursor_done(&cursor);
}

static size_t total_width(const struct table *table) {
  size_t total = 0;
  for (size_t i = 0; i < table->columns.count; i++) total += table->widths[i] + (i > 0 ? 3 : 0);
  return total;
}

static void append_cell(struct base_buffer *out, const struct table *table, size_t column,
                        const char *text) {
  size_t length = strlen(text), width = tql_text_width(text, length);
  size_t pad = table->widths[column] - width;
  if (column > 0) base_buffer_puts(out, " | ");
  if (table->to_right[column]) tql_append_repeated(out, " ", pad);
  base_buffer_append(out, text, length);
  bool last = column + 1 == table->columns.count;
  if (!table->to_right[column] && !last) tql_append_repeated(out, " ", pad);
}

static void append_heading(struct base_buffer *out, const struct table *table) {
  for (size_t i = 0; i < table->columns.count; i++)
    append_cell(out, table, i, table->columns.items[i].name);
  base_buffer_putc(out, '\n');
  for (size_t i = 0; i < table->columns.count; i++) {
    if (i > 0) base_buffer_puts(out, "-+-");
    tql_append_repeated(out, "-", table->widths[i]);
  }
  base_buffer_putc(out, '\n');
}

static void append_rows(struct base_buffer *out, struct table *table) {
  struct tql_cursor cursor;
  struct tql_row row;
  tql_cursor_init(&cursor, table->rows);
  while (tql_cursor_next(&cursor, &row)) {
    for (size_t i = 0; i < table->columns.count; i++)
      append_cell(out, table, i, cell_text(table, i, &row));
    base_buffer_putc(out, '\n');
    tql_pour(table->context, out);
  }
  tql_cursor_done(&cursor);
}

static void write_blocks(struct base_buffer *out, const struct tql_format_context *context,
                         const struct tql_rows *rows, const struct tql_columns *columns) {
  struct tql_cursor cursor;
  struct tql_row row;
  tql_cursor_init(&cursor, rows);
  while (tql_cursor_next(&cursor, &row)) {
    if (cursor.next > 1) base_buffer_putc(out, '\n');
    tql_line_row(out, context, columns, &row);
    tql_pour(context, out);
  }
  tql_cursor_done(&cursor);
}

/* Without a terminal, too, a table has an end: one long text makes every line as long. */
#define WIDEST 10000

void tql_write_table(struct base_buffer *out, const struct tql_format_context *context,
                     const struct tql_rows *rows) {
  struct table table = {.context = context, .rows = rows};
  tql_columns_for_people(&table.columns, rows->rows.layout, tql_any_indefinite(rows));
  table.widths = base_xcalloc(table.columns.count, sizeof *table.widths);
  table.to_right = base_xcalloc(table.columns.count, sizeof *table.to_right);
  measure(&table);
  if (context->results_before > 0) base_buffer_putc(out, '\n');
  if (rows->name) tql_append_title(out, rows->name);
  size_t most = context->width > 0 ? context->width : WIDEST;
  if (total_width(&table) > most && rows->rows.count > 0) {
    write_blocks(out, context, rows, &table.columns);
  } else {
    append_heading(out, &table);
    append_rows(out, &table);
  }
  append_row_count(out, rows->rows.count);
  free(table.widths);
  free(table.to_right);
  base_buffer_done(&table.cell);
  tql_columns_done(&table.columns);
}

/* ---- line ---- */

void tql_line_row(struct base_buffer *out, const struct tql_format_context *context,
                  const struct tql_columns *columns, const struct tql_row *row) {
  size_t widest = 0;
  for (size_t i = 0; i < columns->count; i++) {
    size_t width = tql_text_width(columns->items[i].name, strlen(columns->items[i].name));
    if (width > widest) widest = width;
  }
  for (size_t i = 0; i < columns->count; i++) {
    const char *name = columns->items[i].name;
    tql_append_repeated(out, " ", widest - tql_text_width(name, strlen(name)));
    base_buffer_printf(out, "%s = ", name);
    tql_cell_for_people(out, context, &columns->items[i], row);
    base_buffer_putc(out, '\n');
  }
}

void tql_write_line(struct base_buffer *out, const struct tql_format_context *context,
                    const struct tql_rows *rows) {
  struct tql_columns columns;
  tql_columns_for_people(&columns, rows->rows.layout, tql_any_indefinite(rows));
  if (context->results_before > 0 && rows->rows.count > 0) base_buffer_putc(out, '\n');
  write_blocks(out, context, rows, &columns);
  tql_columns_done(&columns);
}

/* ---- markdown ---- */

static void markdown_text(struct base_buffer *out, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (strchr("|\\`*_<>[]", text[i]) && text[i]) base_buffer_putc(out, '\\');
    base_buffer_putc(out, text[i]);
  }
}

void tql_markdown_name(struct base_buffer *out, const char *name) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_printable(&text, name, strlen(name));
  markdown_text(out, base_buffer_text(&text), text.length);
  base_buffer_done(&text);
}

void tql_markdown_heading(struct base_buffer *out, const struct tql_format_context *context,
                          const struct tql_columns *columns, const char *before,
                          const char *rule_before) {
  base_buffer_puts(out, before);
  for (size_t i = 0; i < columns->count; i++) {
    base_buffer_puts(out, "| ");
    markdown_text(out, columns->items[i].name, strlen(columns->items[i].name));
    base_buffer_putc(out, ' ');
  }
  base_buffer_printf(out, "|\n%s", rule_before);
  for (size_t i = 0; i < columns->count; i++)
    base_buffer_puts(out,
                     tql_column_is_numeric(context, &columns->items[i]) ? "| ---: " : "| --- ");
  base_buffer_puts(out, "|\n");
}

void tql_markdown_row(struct base_buffer *out, const struct tql_format_context *context,
                      const struct tql_columns *columns, const struct tql_row *row) {
  struct base_buffer cell = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < columns->count; i++) {
    base_buffer_clear(&cell);
    tql_cell_for_people(&cell, context, &columns->items[i], row);
    base_buffer_puts(out, "| ");
    markdown_text(out, base_buffer_text(&cell), cell.length);
    base_buffer_putc(out, ' ');
  }
  base_buffer_puts(out, "|\n");
  base_buffer_done(&cell);
}

void tql_write_markdown(struct base_buffer *out, const struct tql_format_context *context,
                        const struct tql_rows *rows) {
  struct tql_columns columns;
  struct tql_cursor cursor;
  struct tql_row row;
  if (context->results_before > 0) base_buffer_putc(out, '\n');
  if (rows->name) {
    base_buffer_puts(out, "**");
    tql_markdown_name(out, rows->name);
    base_buffer_puts(out, "**\n\n");
  }
  tql_columns_for_people(&columns, rows->rows.layout, tql_any_indefinite(rows));
  tql_markdown_heading(out, context, &columns, "", "");
  tql_cursor_init(&cursor, rows);
  while (tql_cursor_next(&cursor, &row)) {
    tql_markdown_row(out, context, &columns, &row);
    tql_pour(context, out);
  }
  tql_cursor_done(&cursor);
  tql_columns_done(&columns);
}
