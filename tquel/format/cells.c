/* Columns, rows and cells as the writers see them.
 *
 * Programs get every bound in a column of its own, whatever the rows are like; people get an
 * instant in one column, written lo..hi where it is indeterminate, and are told of definite only
 * where some row is not. Open stops are filled with the result's checkpoint here and nowhere else.
 */
#include "engine/base/bytes.h"
#include "tquel/format/cells.h"

#include <stdlib.h>
#include <string.h>

static void add(struct tql_columns *columns, const char *name, enum tql_column_kind kind,
                uint32_t slot, struct net_type type) {
  columns->items[columns->count++] = (struct tql_column){name, kind, slot, type};
}

static const struct net_type no_type = {NET_INTEGER, 8};

static const char *shown(struct base_arena *arena, const char *name) {
  size_t length = strlen(name);
  if (base_is_printable(name, length)) return name;
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_printable(&text, name, length);
  name = base_arena_strdup(arena, base_buffer_text(&text));
  base_buffer_done(&text);
  return name;
}

static void init(struct tql_columns *columns, const struct net_layout *layout) {
  *columns = (struct tql_columns){.arena = base_arena_new()};
  columns->items =
      BASE_NEW_ARRAY(columns->arena, 5 + (size_t)layout->field_count * 4, struct tql_column);
}

static void add_parts(struct tql_columns *columns, const struct net_field *field,
                      const char *const *parts, uint32_t count, enum tql_column_kind kind) {
  for (uint32_t i = 0; i < count; i++)
    add(columns, base_arena_printf(columns->arena, "%s_%s", field->name, parts[i]), kind,
        field->slot + i, no_type);
}

void tql_columns_for_programs(struct tql_columns *columns, const struct net_layout *layout) {
  static const char *const event[] = {"at_lo", "at_hi"};
  static const char *const period[] = {"start_lo", "start_hi", "stop_lo", "stop_hi"};
  static const char *const temporal[] = {"n0", "n1", "d0", "d1"}, *const bounds[] = {"lo", "hi"};
  bool is_event = layout->tuple_class == NET_EVENT;
  init(columns, layout);
  for (uint32_t i = 0; i < layout->first_domain_slot && !layout->timeless; i++)
    add(columns, is_event ? event[i] : period[i], TQL_BOUND, i, no_type);
  add(columns, "definite", TQL_DEFINITE, 0, no_type);
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const struct net_field *field = &layout->fields[i];
    if (field->type.base == NET_TEMPORAL)
      add_parts(columns, field, temporal, 4, TQL_PART);
    else if (field->type.base == NET_INSTANT)
      add_parts(columns, field, bounds, 2, TQL_BOUND);
    else
      add(columns, field->name, TQL_VALUE, field->slot, field->type);
  }
}

void tql_columns_for_people(struct tql_columns *columns, const struct net_layout *layout,
                            bool with_definite) {
  bool is_event = layout->tuple_class == NET_EVENT;
  init(columns, layout);
  if (!layout->timeless) add(columns, is_event ? "at" : "start", TQL_INSTANT, 0, no_type);
  if (!is_event && !layout->timeless) add(columns, "stop", TQL_INSTANT, 2, no_type);
  if (with_definite) add(columns, "definite", TQL_DEFINITE, 0, no_type);
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const struct net_field *field = &layout->fields[i];
    add(columns, shown(columns->arena, field->name),
        field->type.base == NET_INSTANT ? TQL_INSTANT : TQL_VALUE, field->slot, field->type);
  }
}

void tql_columns_done(struct tql_columns *columns) {
  base_arena_free(columns->arena);
}

/* ---- rows ---- */

static void fill(union net_slot *slots, uint32_t slot, net_chronon checkpoint) {
  net_chronon earliest = slots[0].i > checkpoint ? slots[0].i : checkpoint;
  slots[slot].i = net_slot_stop(slots, slot, earliest).lo;
}

void tql_fill_open(const struct net_layout *layout, union net_slot *slots, net_chronon checkpoint) {
  if (!layout->may_be_open) return;
  if (layout->tuple_class == NET_PERIOD) fill(slots, 2, checkpoint);
  for (uint32_t i = 0; i < layout->field_count; i++)
    if (layout->fields[i].openable) fill(slots, layout->fields[i].slot, checkpoint);
}

void tql_cursor_init(struct tql_cursor *cursor, const struct tql_rows *rows) {
  *cursor = (struct tql_cursor){.rows = rows};
  cursor->copy = base_xcalloc(rows->rows.layout->slot_count, sizeof *cursor->copy);
}

void tql_cursor_done(struct tql_cursor *cursor) {
  free(cursor->copy);
}

bool tql_cursor_next(struct tql_cursor *cursor, struct tql_row *ret) {
  const struct net_rows *rows = &cursor->rows->rows;
  if (cursor->next == rows->count) return false;
  const union net_slot *slots = net_rows_row(rows, cursor->next);
  ret->definite = rows->marks[cursor->next++] & NET_DEFINITE;
  ret->slots = slots;
  if (net_row_is_open(rows->layout, slots)) {
    memcpy(cursor->copy, slots, rows->layout->slot_count * sizeof *slots);
    tql_fill_open(rows->layout, cursor->copy, cursor->rows->checkpoint);
    ret->slots = cursor->copy;
  }
  return true;
}

bool tql_any_indefinite(const struct tql_rows *rows) {
  for (size_t i = 0; i < rows->rows.count; i++)
    if (!(rows->rows.marks[i] & NET_DEFINITE)) return true;
  return false;
}

bool tql_all_determinate(const struct tql_rows *rows, uint32_t slot) {
  struct tql_cursor cursor;
  struct tql_row row;
  bool all = true;
  tql_cursor_init(&cursor, rows);
  while (all && tql_cursor_next(&cursor, &row)) all = row.slots[slot].i == row.slots[slot + 1].i;
  tql_cursor_done(&cursor);
  return all;
}

/* ---- cells for people ---- */

void tql_instant_for_people(struct base_buffer *out, const struct tql_format_context *context,
                            struct net_instant instant) {
  net_time_print(out, context->timeline, instant.lo);
  if (instant.lo == instant.hi) return;
  base_buffer_puts(out, "..");
  net_time_print(out, context->timeline, instant.hi);
}

static void append_value(struct base_buffer *out, const struct tql_format_context *context,
                         struct net_type type, const union net_slot *slot) {
  size_t length;
  const char *text;
  if (type.quantity == NET_POINT) {
    net_time_print(out, context->timeline, slot->i);
    return;
  }
  if (type.quantity == NET_LENGTH && context->timeline == NET_TIMELINE_REAL) {
    net_duration_print(out, type.base == NET_FLOAT ? slot->f : (double)slot->i);
    return;
  }
  switch (type.base) {
    case NET_INTEGER:
      base_buffer_int(out, slot->i);
      return;
    case NET_FLOAT:
      base_buffer_double(out, slot->f);
      return;
    case NET_BOOL:
      base_buffer_puts(out, slot->i ? "true" : "false");
      return;
    case NET_STRING:
    case NET_NAME:
      text = base_strings_text(context->strings, slot->s, &length);
      base_buffer_printable(out, text, length);
      return;
    case NET_BYTES:
      text = base_strings_text(context->strings, slot->s, &length);
      base_buffer_bytes(out, text, length);
      return;
    case NET_TEMPORAL:
      for (int i = 0; i < 4; i++) {
        base_buffer_putc(out, i == 0 ? '(' : ' ');
        base_buffer_double(out, slot[i].f);
      }
      base_buffer_putc(out, ')');
      return;
    case NET_INSTANT:
      break;
  }
  tql_instant_for_people(out, context, (struct net_instant){slot[0].i, slot[1].i});
}

void tql_cell_for_people(struct base_buffer *out, const struct tql_format_context *context,
                         const struct tql_column *column, const struct tql_row *row) {
  const union net_slot *slot = row->slots + column->slot;
  switch (column->kind) {
    case TQL_BOUND:
      net_time_print(out, context->timeline, slot->i);
      return;
    case TQL_INSTANT:
      tql_instant_for_people(out, context, (struct net_instant){slot[0].i, slot[1].i});
      return;
    case TQL_DEFINITE:
      base_buffer_puts(out, row->definite ? "true" : "Ω");
      return;
    case TQL_PART:
      base_buffer_double(out, slot->f);
      return;
    case TQL_VALUE:
      append_value(out, context, column->type, slot);
      return;
  }
}

bool tql_column_is_numeric(const struct tql_format_context *context,
                           const struct tql_column *column) {
  if (column->kind == TQL_BOUND || column->kind == TQL_INSTANT)
    return context->timeline == NET_TIMELINE_ABSTRACT;
  bool words = column->type.quantity != NET_NUMBER && context->timeline == NET_TIMELINE_REAL;
  return column->kind == TQL_VALUE && !words &&
         (column->type.base == NET_INTEGER || column->type.base == NET_FLOAT);
}
