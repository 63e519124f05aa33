/* Explain analyze: the plan with the figures of the nodes that were built of it.
 *
 *   number  kind  inputs  figures ...  what it does  [what bounds its state]
 *
 * Counts are whole numbers and the same in every run over the same input. What was measured, times and
 * memory, has a point: who compares texts can leave out just that.                                  */
#include <stdlib.h>
#include <string.h>

#include "netgen/plan.h"

enum { FIGURES = 8, COLUMNS = FIGURES + 3, TIME_WIDTH = 9 };

static const char *const titles[COLUMNS] = {"",        "node",     "inputs", "fires",
                                            "rows in", "rows out", "own ms", "state",
                                            "most",    "state KB", "most KB"};

static void put_count(struct base_buffer *cell, uint64_t count) {
  base_buffer_printf(cell, "%llu", (unsigned long long)count);
}

/* A row of the table: the cells of NODE up to what it does. */
static void fill(struct base_buffer *cells, const struct ng_node *node) {
  base_buffer_printf(&cells[0], "%u", node->number);
  base_buffer_puts(&cells[1], net_node_info(node->kind)->name);
  for (unsigned port = 0; port < node->input_count; port++)
    base_buffer_printf(&cells[2], "%s%u", port ? " " : "", node->inputs[port]->number);
  if (node->running == NULL) return;
  struct net_node_stats stats = net_node_stats(node->running);
  put_count(&cells[3], stats.fires);
  put_count(&cells[4], stats.rows_in);
  put_count(&cells[5], stats.rows_out);
  base_buffer_printf(&cells[6], "%.3f", (double)stats.time_ns / 1e6);
  put_count(&cells[7], stats.state_rows);
  put_count(&cells[8], stats.state_rows_max);
  base_buffer_printf(&cells[9], "%.1f", (double)stats.state_bytes / 1e3);
  base_buffer_printf(&cells[10], "%.1f", (double)stats.state_bytes_max / 1e3);
}

static void print_cell(struct base_buffer *out, size_t column, size_t width, const char *text) {
  bool left = column == 1 || column == 2;
  if (column == 0) width = width < 4 ? 4 : width;
  base_buffer_printf(out, left ? "%s%-*s" : "%s%*s", column ? "  " : "", (int)width, text);
}

void ng_plan_explain_run(const struct ng_plan *plan, const char *title, struct base_buffer *out) {
  struct base_buffer(*rows)[COLUMNS] = base_xcalloc(plan->node_count + 1, sizeof *rows);
  size_t widths[COLUMNS];
  for (size_t c = 0; c < COLUMNS; c++) widths[c] = strlen(titles[c]);
  widths[6] = TIME_WIDTH; /* the text is to be the same if it takes longer */
  for (size_t i = 0; i < plan->node_count; i++) {
    if (!ng_node_is_counted(plan->nodes[i])) continue;
    fill(rows[i], plan->nodes[i]);
    for (size_t c = 0; c < COLUMNS; c++)
      if (rows[i][c].length > widths[c]) widths[c] = rows[i][c].length;
  }
  base_buffer_printf(out, "%s\n", title);
  for (size_t c = 0; c < COLUMNS; c++) print_cell(out, c, widths[c], titles[c]);
  base_buffer_putc(out, '\n');
  for (size_t i = 0; i < plan->node_count; i++) {
    const struct ng_node *node = plan->nodes[i];
    if (!ng_node_is_counted(node)) continue;
    for (size_t c = 0; c < COLUMNS; c++) {
      print_cell(out, c, widths[c], base_buffer_text(&rows[i][c]));
      base_buffer_done(&rows[i][c]);
    }
    base_buffer_puts(out, "  ");
    ng_explain_what(out, plan, node);
    if (ng_explain_state(node)) base_buffer_printf(out, "  [%s]", ng_explain_state(node));
    base_buffer_putc(out, '\n');
  }
  free(rows);
  size_t access = ng_plan_access_count(plan), operators = ng_plan_operator_count(plan);
  base_buffer_printf(out, "%zu access node%s, %zu operator node%s\n", access,
                     access == 1 ? "" : "s", operators, operators == 1 ? "" : "s");
}
