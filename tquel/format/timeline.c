/* The timeline: a line per row, with its bar over a common axis.
 *
 *     Process
 *     A         ████████████████░░░░
 *     B                 ████████████████████▶
 *               ┬─────────┬─────────┬────────
 *               0         10        20
 *     (2 rows; ░ is possible, █ certain)
 *
 * A period is drawn solid where it is definitely valid and light where it is possibly so; a row
 * that is not definite has no solid part. An event is a dot (a circle, if it is not definite), one
 * at an unknown time is light over its bounds. Arrows say that a row reaches beyond the axis, to
 * forever or to beginning. Every row shows at least one cell, so bars shorter than a cell look
 * longer than they are. Positions are computed in long double, which is exact enough for any width.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "tquel/format/cells.h"

#define DEFAULT_WIDTH 100
#define FEWEST_CELLS  20

enum mark { MARK_NONE, MARK_LIGHT, MARK_SOLID, MARK_DOT, MARK_CIRCLE, MARK_BEFORE, MARK_AFTER };

struct chart {
  const struct tql_format_context *context;
  const struct tql_rows *rows;
  struct tql_columns columns; /* of the labels: the domains */
  size_t *widths;
  size_t label_width;
  net_chronon first, last; /* of the axis; first < last */
  size_t cells;
  unsigned char *bar;
  bool any_light;
};

/* ---- the axis ---- */

struct extent {
  bool any, beyond_last;
  net_chronon first, last;
};

static void stretch(struct extent *extent, net_chronon time) {
  if (time == NET_FOREVER) extent->beyond_last = true;
  if (time == NET_FOREVER || time == NET_BEGINNING) return;
  if (!extent->any || time < extent->first) extent->first = time;
  if (!extent->any || time > extent->last) extent->last = time;
  extent->any = true;
}

static uint64_t span_of(net_chronon first, net_chronon last) {
  return (uint64_t)last - (uint64_t)first;
}

static void find_axis(struct chart *chart) {
  struct extent extent = {0};
  struct tql_cursor cursor;
  struct tql_row row;
  uint32_t bounds = chart->rows->rows.layout->first_domain_slot;
  tql_cursor_init(&cursor, chart->rows);
  while (tql_cursor_next(&cursor, &row))
    for (uint32_t i = 0; i < bounds; i++) stretch(&extent, row.slots[i].i);
  tql_cursor_done(&cursor);
  /* Room for what has no end. */
  if (extent.beyond_last)
    extent.last =
        net_chronon_add(extent.last, (int64_t)(span_of(extent.first, extent.last) / 20) + 1);
  if (extent.first == extent.last) extent.last = net_chronon_add(extent.last, 1);
  chart->first = extent.first;
  chart->last = extent.last;
}

/* The cell that TIME lies in, or the number of cells at and beyond the end. */
static size_t cell_of(const struct chart *chart, net_chronon time) {
  if (time <= chart->first) return 0;
  if (time >= chart->last) return chart->cells;
  long double part =
      (long double)span_of(chart->first, time) / (long double)span_of(chart->first, chart->last);
  return (size_t)(part * (long double)chart->cells);
}

/* Round steps, the smallest first: 1, 2, 5, 10, ... and, above a second, those of clocks. */
static bool next_step(enum net_timeline timeline, size_t index, int64_t *ret) {
  static const int64_t clock_steps[] = {1,   2,   5,    10,   15,   30,    60,    120,   300,
                                        600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400};
  static const int64_t digits[] = {1, 2, 5};
  const size_t clock_count = sizeof clock_steps / sizeof clock_steps[0];
  size_t decades = timeline == NET_TIMELINE_REAL ? 9 : 19;
  int64_t unit = 1;
  if (index >= decades * 3 && timeline == NET_TIMELINE_ABSTRACT) return false;
  if (index < decades * 3) {
    for (size_t i = 0; i < index / 3; i++) unit *= 10;
    return !__builtin_mul_overflow(unit, digits[index % 3], ret);
  }
  index -= decades * 3;
  if (index < clock_count) {
    *ret = clock_steps[index] * 1000000000;
    return true;
  }
  index -= clock_count;
  unit = (int64_t)86400 * 1000000000;
  for (size_t i = 0; i < index / 3; i++)
    if (__builtin_mul_overflow(unit, 10, &unit)) return false;
  return !__builtin_mul_overflow(unit, digits[index % 3], ret);
}

static size_t label_length(const struct chart *chart, int64_t step) {
  struct base_buffer text = BASE_BUFFER_EMPTY;
  size_t length = strlen("2026-01-01T00:00:00Z");
  if (chart->context->timeline == NET_TIMELINE_REAL)
    return length + (step >= 1000000000 ? 0 : step >= 1000000 ? 4 : step >= 1000 ? 7 : 10);
  net_time_print(&text, chart->context->timeline, chart->first);
  length = text.length;
  base_buffer_clear(&text);
  net_time_print(&text, chart->context->timeline, chart->last);
  if (text.length > length) length = text.length;
  base_buffer_done(&text);
  return length;
}

/* The smallest step whose labels do not touch; 0: none. */
static int64_t find_step(const struct chart *chart) {
  int64_t step;
  long double cell = (long double)span_of(chart->first, chart->last) / (long double)chart->cells;
  for (size_t i = 0; next_step(chart->context->timeline, i, &step); i++)
    if ((long double)step >= cell * (long double)(label_length(chart, step) + 2)) return step;
  return 0;
}

/* The first multiple of STEP at or after the axis's start; false: it lies beyond the end. */
static bool first_tick(const struct chart *chart, int64_t step, net_chronon *ret) {
  if (step == 0) return false;
  int64_t rest = chart->first % step, tick = chart->first;
  if (rest != 0 && __builtin_add_overflow(tick, rest > 0 ? step - rest : -rest, &tick))
    return false;
  *ret = tick;
  return tick < chart->last;
}

static void add_tick(const struct chart *chart, net_chronon time, struct base_buffer *axis,
                     struct base_buffer *labels, size_t *drawn) {
  size_t cell = cell_of(chart, time);
  tql_append_repeated(axis, "─", cell - *drawn);
  base_buffer_puts(axis, "┬");
  *drawn = cell + 1;
  size_t width = tql_text_width(base_buffer_text(labels), labels->length);
  tql_append_repeated(labels, " ", cell > width ? cell - width : width > 0);
  net_time_print(labels, chart->context->timeline, time);
}

static void append_axis(struct base_buffer *out, const struct chart *chart) {
  struct base_buffer axis = BASE_BUFFER_EMPTY, labels = BASE_BUFFER_EMPTY;
  int64_t step = find_step(chart);
  net_chronon tick;
  size_t drawn = 0;
  bool any = first_tick(chart, step, &tick);
  if (!any) add_tick(chart, chart->first, &axis, &labels, &drawn);
  while (any) {
    add_tick(chart, tick, &axis, &labels, &drawn);
    any = !__builtin_add_overflow(tick, step, &tick) && cell_of(chart, tick) < chart->cells;
  }
  tql_append_repeated(&axis, "─", chart->cells - drawn);
  tql_append_repeated(out, " ", chart->label_width);
  base_buffer_append(out, axis.data, axis.length);
  base_buffer_putc(out, '\n');
  tql_append_repeated(out, " ", chart->label_width);
  base_buffer_append(out, labels.data, labels.length);
  base_buffer_putc(out, '\n');
  base_buffer_done(&axis);
  base_buffer_done(&labels);
}

/* ---- bars ---- */

/* From FROM up to TO, at least one cell. */
static void draw(struct chart *chart, net_chronon from, net_chronon to, enum mark mark) {
  size_t first = cell_of(chart, from), last = cell_of(chart, to);
  if (first >= chart->cells) first = chart->cells - 1;
  if (last <= first) last = first + 1;
  for (size_t i = first; i < last; i++) chart->bar[i] = (unsigned char)mark;
}

static void draw_event(struct chart *chart, const struct tql_row *row) {
  struct net_instant at = net_row_start(row->slots);
  if (at.lo != at.hi)
    draw(chart, at.lo, net_chronon_add(at.hi, 1), MARK_LIGHT);
  else
    draw(chart, at.lo, at.lo, row->definite ? MARK_DOT : MARK_CIRCLE);
}

static void draw_row(struct chart *chart, const struct tql_row *row) {
  bool is_event = chart->rows->rows.layout->tuple_class == NET_EVENT;
  net_chronon latest = row->slots[is_event ? 1 : 3].i;
  memset(chart->bar, MARK_NONE, chart->cells);
  if (is_event) {
    draw_event(chart, row);
  } else {
    struct net_instant start = net_row_start(row->slots), stop = net_row_start(row->slots + 2);
    draw(chart, start.lo, stop.hi, MARK_LIGHT);
    if (row->definite && start.hi < stop.lo) draw(chart, start.hi, stop.lo, MARK_SOLID);
  }
  for (size_t i = 0; i < chart->cells; i++)
    if (chart->bar[i] == MARK_LIGHT) chart->any_light = true;
  if (row->slots[0].i == NET_BEGINNING) chart->bar[0] = MARK_BEFORE;
  if (latest == NET_FOREVER) chart->bar[chart->cells - 1] = MARK_AFTER;
}

static void append_bar(struct base_buffer *out, const struct chart *chart) {
  static const char *const signs[] = {" ", "░", "█", "●", "○", "◀", "▶"};
  size_t length = chart->cells;
  while (length > 0 && chart->bar[length - 1] == MARK_NONE) length--;
  for (size_t i = 0; i < length; i++) base_buffer_puts(out, signs[chart->bar[i]]);
}

/* ---- labels ---- */

static void measure_labels(struct chart *chart) {
  struct base_buffer cell = BASE_BUFFER_EMPTY;
  struct tql_cursor cursor;
  struct tql_row row;
  for (size_t i = 0; i < chart->columns.count; i++)
    chart->widths[i] =
        tql_text_width(chart->columns.items[i].name, strlen(chart->columns.items[i].name));
  tql_cursor_init(&cursor, chart->rows);
  while (tql_cursor_next(&cursor, &row))
    for (size_t i = 0; i < chart->columns.count; i++) {
      base_buffer_clear(&cell);
      tql_cell_for_people(&cell, chart->context, &chart->columns.items[i], &row);
      size_t width = tql_text_width(base_buffer_text(&cell), cell.length);
      if (width > chart->widths[i]) chart->widths[i] = width;
    }
  tql_cursor_done(&cursor);
  base_buffer_done(&cell);
  for (size_t i = 0; i < chart->columns.count; i++) chart->label_width += chart->widths[i] + 2;
}

/* The label, or with ROW NULL the names of the domains. */
static void append_label(struct base_buffer *out, const struct chart *chart,
                         const struct tql_row *row) {
  struct base_buffer cell = BASE_BUFFER_EMPTY;
  for (size_t i = 0; i < chart->columns.count; i++) {
    const struct tql_column *column = &chart->columns.items[i];
    base_buffer_clear(&cell);
    if (row)
      tql_cell_for_people(&cell, chart->context, column, row);
    else
      base_buffer_puts(&cell, column->name);
    size_t pad = chart->widths[i] - tql_text_width(base_buffer_text(&cell), cell.length);
    bool to_right = tql_column_is_numeric(chart->context, column);
    if (to_right) tql_append_repeated(out, " ", pad);
    base_buffer_append(out, base_buffer_text(&cell), cell.length);
    if (!row && i + 1 == chart->columns.count) break;
    tql_append_repeated(out, " ", to_right ? 2 : pad + 2);
  }
  base_buffer_done(&cell);
}

static void append_rows(struct base_buffer *out, struct chart *chart) {
  struct tql_cursor cursor;
  struct tql_row row;
  tql_cursor_init(&cursor, chart->rows);
  while (tql_cursor_next(&cursor, &row)) {
    append_label(out, chart, &row);
    draw_row(chart, &row);
    append_bar(out, chart);
    base_buffer_putc(out, '\n');
    tql_pour(chart->context, out);
  }
  tql_cursor_done(&cursor);
}

static void init_labels(struct chart *chart) {
  uint32_t times = chart->rows->rows.layout->tuple_class == NET_EVENT ? 1 : 2;
  tql_columns_for_people(&chart->columns, chart->rows->rows.layout, false);
  chart->columns.items += times;
  chart->columns.count -= times;
  chart->widths = base_xcalloc(chart->columns.count, sizeof *chart->widths);
  measure_labels(chart);
}

void tql_write_timeline(struct base_buffer *out, const struct tql_format_context *context,
                        const struct tql_rows *rows) {
  if (rows->rows.layout->timeless) {
    tql_write_table(out, context, rows);
    return;
  }
  struct chart chart = {.context = context, .rows = rows};
  size_t width = context->width ? context->width : DEFAULT_WIDTH, count = rows->rows.count;
  init_labels(&chart);
  chart.cells =
      width >= chart.label_width + FEWEST_CELLS ? width - chart.label_width : FEWEST_CELLS;
  chart.bar = base_xmalloc(chart.cells);
  find_axis(&chart);
  if (context->results_before > 0) base_buffer_putc(out, '\n');
  if (rows->name) tql_append_title(out, rows->name);
  if (chart.columns.count > 0) {
    append_label(out, &chart, NULL);
    base_buffer_putc(out, '\n');
  }
  append_rows(out, &chart);
  if (count > 0) append_axis(out, &chart);
  base_buffer_printf(out, "(%zu %s%s)\n", count, count == 1 ? "row" : "rows",
                     chart.any_light ? "; ░ is possible, █ certain" : "");
  free(chart.bar);
  free(chart.widths);
  tql_columns_done(&chart.columns);
}
