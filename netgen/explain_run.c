/* Figures of nodes as a table: explain analyze, and the nodes of standing queries.
 *
 *   [relation]  number  kind  inputs  figures ...  what it does  [what bounds its state]
 *
 * Counts are whole numbers and the same in every run over the same input. What was measured, times and
 * memory, has a point: who compares texts can leave out just that.                                  */
#include <stdlib.h>
#include <string.h>

#include "netgen/plan.h"

enum { RELATION, NUMBER, KIND, INPUTS, FIRES, TIME = FIRES + 3, COLUMNS = FIRES + 8 };
enum { NUMBER_WIDTH = 4, TIME_WIDTH = 9 }; /* the text is to be the same if it takes longer */

static const char *const titles[COLUMNS] = {"relation", "",        "node",     "inputs",
                                            "fires",    "rows in", "rows out", "own ms",
                                            "state",    "most",    "state KB", "most KB"};

static void put_count(struct base_buffer *cell, uint64_t count) {
  base_buffer_printf(cell, "%llu", (unsigned long long)count);
}

static void put_bytes(struct base_buffer *cell, uint64_t bytes) {
  base_buffer_printf(cell, "%.1f", (double)bytes / 1e3);
}

static void fill(struct base_buffer *cells, const struct ng_figures *row) {
  if (row->relation != NULL) base_buffer_puts(&cells[RELATION], row->relation);
  base_buffer_printf(&cells[NUMBER], "%u", row->number);
  base_buffer_puts(&cells[KIND], row->kind);
  base_buffer_puts(&cells[INPUTS], row->inputs);
  if (!row->ran) return;
  put_count(&cells[FIRES], row->fires);
  put_count(&cells[FIRES + 1], row->rows_in);
  put_count(&cells[FIRES + 2], row->rows_out);
  base_buffer_printf(&cells[TIME], "%.3f", (double)row->time_ns / 1e6);
  put_count(&cells[TIME + 1], row->state_rows);
  put_count(&cells[TIME + 2], row->state_rows_max);
  put_bytes(&cells[TIME + 3], row->state_bytes);
  put_bytes(&cells[TIME + 4], row->state_bytes_max);
}

static void print_line(struct base_buffer *out, const size_t *widths, const char *const *cells,
                       bool relations, const char *what) {
  for (size_t c = relations ? RELATION : NUMBER; c < COLUMNS; c++) {
    bool left = c == RELATION || c == KIND || c == INPUTS;
    base_buffer_printf(out, left ? "%-*s  " : "%*s  ", (int)widths[c], cells[c]);
  }
  base_buffer_puts(out, what);
  while (out->length > 0 && out->data[out->length - 1] == ' ') out->data[--out->length] = 0;
  base_buffer_putc(out, '\n');
}

void ng_figures_print(const struct ng_figures *rows, size_t count, struct base_buffer *out) {
  struct base_buffer(*cells)[COLUMNS] = base_xcalloc(count + 1, sizeof *cells);
  size_t widths[COLUMNS] = {0};
  for (size_t c = 0; c < COLUMNS; c++) widths[c] = strlen(titles[c]);
  widths[NUMBER] = NUMBER_WIDTH;
  widths[TIME] = TIME_WIDTH;
  bool relations = count > 0 && rows[0].relation != NULL;
  for (size_t i = 0; i < count; i++) {
    fill(cells[i], &rows[i]);
    for (size_t c = 0; c < COLUMNS; c++)
      if (cells[i][c].length > widths[c]) widths[c] = cells[i][c].length;
  }
  print_line(out, widths, titles, relations, "");
  for (size_t i = 0; i < count; i++) {
    const char *texts[COLUMNS];
    for (size_t c = 0; c < COLUMNS; c++) texts[c] = base_buffer_text(&cells[i][c]);
    print_line(out, widths, texts, relations, rows[i].what);
    for (size_t c = 0; c < COLUMNS; c++) base_buffer_done(&cells[i][c]);
  }
  free(cells);
}

/* What a node does, and what bounds its state. */
static const char *describe(struct base_arena *arena, const struct ng_plan *plan,
                            const struct ng_node *node) {
  struct base_buffer what = BASE_BUFFER_EMPTY;
  ng_explain_what(&what, plan, node);
  struct base_buffer state = BASE_BUFFER_EMPTY;
  ng_explain_state(&state, node);
  if (state.length > 0) base_buffer_printf(&what, "  [%s]", base_buffer_text(&state));
  base_buffer_done(&state);
  const char *text = base_arena_strdup(arena, base_buffer_text(&what));
  base_buffer_done(&what);
  return text;
}

static struct ng_figures figures_of(struct base_arena *arena, const struct ng_plan *plan,
                                    const struct ng_node *node) {
  struct ng_figures row = {.number = node->number,
                           .kind = net_node_info(node->kind)->name,
                           .inputs = "",
                           .what = describe(arena, plan, node),
                           .ran = node->running != NULL};
  for (unsigned port = 0; port < node->input_count; port++)
    row.inputs =
        base_arena_printf(arena, "%s%s%u", row.inputs, port ? " " : "", node->inputs[port]->number);
  if (!row.ran) return row;
  struct net_node_stats stats = net_node_stats(node->running);
  row.fires = stats.fires;
  row.rows_in = stats.rows_in;
  row.rows_out = stats.rows_out;
  row.time_ns = stats.time_ns;
  row.state_rows = stats.state_rows;
  row.state_rows_max = stats.state_rows_max;
  row.state_bytes = stats.state_bytes;
  row.state_bytes_max = stats.state_bytes_max;
  return row;
}

void ng_plan_explain_run(const struct ng_plan *plan, const char *title, struct base_buffer *out) {
  struct base_arena *arena = base_arena_new();
  struct ng_figures *rows = BASE_NEW_ARRAY(arena, plan->node_count, struct ng_figures);
  size_t count = 0;
  for (size_t i = 0; i < plan->node_count; i++)
    if (ng_node_is_counted(plan->nodes[i])) rows[count++] = figures_of(arena, plan, plan->nodes[i]);
  base_buffer_printf(out, "%s\n", title);
  ng_figures_print(rows, count, out);
  base_arena_free(arena);
  size_t access = ng_plan_access_count(plan), operators = ng_plan_operator_count(plan);
  base_buffer_printf(out, "%zu access node%s, %zu operator node%s\n", access,
                     access == 1 ? "" : "s", operators, operators == 1 ? "" : "s");
}
