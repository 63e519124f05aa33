/* Live output: rows one at a time, as a standing query brings them.
 *
 * Widths of columns are not known in advance, so the table form is a line of words:
 *
 *     Over  opens   [2026-11-20T09:00:00Z, ...)  Process = A, Load = 7
 *     Over  closes  [2026-11-20T09:00:00Z, 2026-11-20T09:05:00Z)  Process = A, Load = 7
 *     Load  is now  Process = A, n = 12
 *     Alarm  [2026-11-20T09:01:00Z]  Process = A  (Ω)
 *
 * The forms for programs have two columns more, in front: relation and change, which is "open",
 * "close", "bound" (still open, but an earlier upper bound on its stop is known now) or "whole". json
 * is written as ndjson, for an array would never end; timeline as table, for its axis would have to
 * move; count says nothing until there is a result to count. */
#include <string.h>

#include "tquel/format/cells.h"

static const char *change_of(const struct net_layout *layout, const union net_slot *row,
                             uint8_t marks) {
  if (marks & NET_CLOSES) return net_row_is_open(layout, row) ? "bound" : "close";
  return net_row_is_open(layout, row) ? "open" : "whole";
}

/* ---- table ---- */

static const char *word_of(const char *change) {
  switch (*change) {
    case 'o':
      return "opens   ";
    case 'c':
      return "closes  ";
    case 'b':
      return "bounds  ";
    default:
      return "holds   ";
  }
}

static void append_stop(struct base_buffer *out, const struct tql_format_context *context,
                        const union net_slot *row) {
  if (row[2].i == NET_OPEN)
    base_buffer_puts(out, "...");
  else
    tql_instant_for_people(out, context, net_row_start(row + 2));
  base_buffer_putc(out, ')');
}

static void append_times(struct base_buffer *out, const struct tql_format_context *context,
                         const struct net_layout *layout, const union net_slot *row) {
  base_buffer_putc(out, '[');
  tql_instant_for_people(out, context, net_row_start(row));
  if (layout->tuple_class == NET_EVENT) {
    base_buffer_putc(out, ']');
    return;
  }
  base_buffer_puts(out, ", ");
  append_stop(out, context, row);
}

static void append_domains(struct base_buffer *out, const struct tql_format_context *context,
                           const struct tql_columns *columns, const struct tql_row *row) {
  size_t before = 0;
  for (size_t i = 0; i < columns->count; i++) {
    if (columns->items[i].kind != TQL_VALUE) continue;
    base_buffer_printf(out, "%s%s = ", before++ ? ", " : "  ", columns->items[i].name);
    tql_cell_for_people(out, context, &columns->items[i], row);
  }
}

static void append_words(struct base_buffer *out, const struct tql_format_context *context,
                         const char *name, const struct net_layout *layout,
                         const union net_slot *slots, uint8_t marks,
                         const struct tql_columns *columns, const struct tql_row *row) {
  const char *change = change_of(layout, slots, marks);
  base_buffer_printable(out, name, strlen(name));
  base_buffer_puts(out, "  ");
  if (layout->timeless) {
    base_buffer_puts(out, "is now");
  } else {
    if (layout->tuple_class == NET_PERIOD) base_buffer_puts(out, word_of(change));
    append_times(out, context, layout, slots);
  }
  append_domains(out, context, columns, row);
  base_buffer_puts(out, row->definite ? "\n" : "  (Ω)\n");
}

static void append_table_heading(struct base_buffer *out, const char *name,
                                 const struct net_layout *layout) {
  base_buffer_printf(out, "-- %s ",
                     layout->timeless                   ? "summary"
                     : layout->tuple_class == NET_EVENT ? "event"
                                                        : "period");
  base_buffer_printable(out, name, strlen(name));
  base_buffer_puts(out, " (");
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const char *field = layout->fields[i].name;
    if (i > 0) base_buffer_puts(out, ", ");
    base_buffer_printable(out, field, strlen(field));
  }
  base_buffer_puts(out, ")\n");
}

/* ---- all forms ---- */

static bool is_for_programs(enum tql_format format) {
  return format == TQL_FORMAT_CSV || format == TQL_FORMAT_JSON || format == TQL_FORMAT_NDJSON;
}

static void columns_for(struct tql_columns *columns, const struct tql_format_context *context,
                        const struct net_layout *layout) {
  if (is_for_programs(context->format))
    tql_columns_for_programs(columns, layout);
  else
    tql_columns_for_people(columns, layout, context->format == TQL_FORMAT_MARKDOWN);
}

void tql_format_live_heading(struct base_buffer *out, const struct tql_format_context *context,
                             const char *name, const struct net_layout *layout) {
  struct tql_columns columns;
  columns_for(&columns, context, layout);
  switch (context->format) {
    case TQL_FORMAT_TABLE:
    case TQL_FORMAT_TIMELINE:
      append_table_heading(out, name, layout);
      break;
    case TQL_FORMAT_CSV:
      base_buffer_puts(out, "relation,change,");
      tql_csv_header(out, &columns);
      break;
    case TQL_FORMAT_MARKDOWN:
      tql_markdown_heading(out, context, &columns, "| relation | change ", "| --- | --- ");
      break;
    case TQL_FORMAT_JSON:
    case TQL_FORMAT_NDJSON:
    case TQL_FORMAT_LINE:
    case TQL_FORMAT_COUNT:
      break;
  }
  tql_columns_done(&columns);
}

static void append_line_block(struct base_buffer *out, const struct tql_format_context *context,
                              const char *name, const char *change,
                              const struct tql_columns *columns, const struct tql_row *row) {
  base_buffer_puts(out, "relation = ");
  base_buffer_printable(out, name, strlen(name));
  base_buffer_printf(out, "\nchange = %s\n", change);
  if (!row->definite) base_buffer_puts(out, "definite = Ω\n");
  tql_line_row(out, context, columns, row);
  base_buffer_putc(out, '\n');
}

static void append_json(struct base_buffer *out, const struct tql_format_context *context,
                        const char *name, const char *change, const struct tql_columns *columns,
                        const struct tql_row *row) {
  base_buffer_puts(out, "{\"relation\": ");
  tql_json_text(out, name, strlen(name));
  base_buffer_printf(out, ", \"change\": \"%s\", ", change);
  tql_json_members(out, context, columns, row);
  base_buffer_puts(out, "}\n");
}

static void append_markdown(struct base_buffer *out, const struct tql_format_context *context,
                            const char *name, const char *change, const struct tql_columns *columns,
                            const struct tql_row *row) {
  base_buffer_puts(out, "| ");
  tql_markdown_name(out, name);
  base_buffer_printf(out, " | %s ", change);
  tql_markdown_row(out, context, columns, row);
}

void tql_format_live_row(struct base_buffer *out, const struct tql_format_context *context,
                         const char *name, const struct net_layout *layout,
                         const union net_slot *slots, uint8_t marks, net_chronon checkpoint) {
  const char *change = change_of(layout, slots, marks);
  struct tql_columns columns;
  struct net_rows filled;
  net_rows_init(&filled, layout);
  net_rows_add_copy(&filled, slots, marks);
  tql_fill_open(layout, filled.rows, checkpoint);
  struct tql_row row = {filled.rows, marks & NET_DEFINITE};
  columns_for(&columns, context, layout);
  switch (context->format) {
    case TQL_FORMAT_TABLE:
    case TQL_FORMAT_TIMELINE:
      append_words(out, context, name, layout, slots, marks, &columns, &row);
      break;
    case TQL_FORMAT_CSV:
      tql_csv_text(out, name, strlen(name));
      base_buffer_printf(out, ",%s,", change);
      tql_csv_row(out, context, &columns, &row);
      break;
    case TQL_FORMAT_JSON:
    case TQL_FORMAT_NDJSON:
      append_json(out, context, name, change, &columns, &row);
      break;
    case TQL_FORMAT_LINE:
      append_line_block(out, context, name, change, &columns, &row);
      break;
    case TQL_FORMAT_MARKDOWN:
      append_markdown(out, context, name, change, &columns, &row);
      break;
    case TQL_FORMAT_COUNT:
      break;
  }
  tql_columns_done(&columns);
  net_rows_done(&filled);
}
