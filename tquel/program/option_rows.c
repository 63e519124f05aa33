/* Tables of options: see option_rows.h. Names are not abbreviated, so that a script keeps its meaning; a
 * name that is none is answered with the nearest that is.                                            */
#include "tquel/program/option_rows.h"

#include <string.h>

#include "engine/base/arena.h"

void program_option_rows_describe(const struct program_option_rows *rows, struct base_buffer *out) {
  for (size_t i = 0; i < rows->count; i++) {
    const struct program_option_row *row = &rows->rows[i];
    struct base_buffer label = BASE_BUFFER_EMPTY;
    base_buffer_puts(&label, row->name);
    if (row->value) base_buffer_printf(&label, " %s", row->value);
    base_buffer_printf(out, "  %-*s %s\n", rows->width, label.data, row->what);
    base_buffer_done(&label);
  }
}

bool program_option_wrong(const struct program_option_rows *rows, struct base_diag_sink *diags,
                          const char *hint, const char *text, const char *value) {
  static const struct base_source tquel = {.name = "tquel"};
  struct base_buffer help = BASE_BUFFER_EMPTY;
  base_buffer_printf(&help, "see tquel %s --help", rows->command);
  base_report_hint(diags, MSG_USAGE, &tquel, NULL, hint ? hint : help.data, text, value);
  base_buffer_done(&help);
  return false;
}

static void report_unknown(const struct program_option_rows *rows, struct base_diag_sink *diags,
                           const char *name) {
  struct base_buffer hint = BASE_BUFFER_EMPTY;
  struct base_near near = base_near_to(name);
  for (size_t i = 0; i < rows->count; i++) base_near_offer(&near, rows->rows[i].name);
  if (near.nearest) base_buffer_printf(&hint, "did you mean %s?", near.nearest);
  program_option_wrong(rows, diags, hint.data, "there is no option %s", name);
  base_buffer_done(&hint);
}

size_t program_option_find(const struct program_option_rows *rows, struct base_diag_sink *diags,
                           const char *argument, const char **ret_value) {
  const char *equals = strchr(argument, '=');
  struct base_buffer name = BASE_BUFFER_EMPTY;
  base_buffer_append(&name, argument, equals ? (size_t)(equals - argument) : strlen(argument));
  size_t row = 0;
  while (row < rows->count && strcmp(rows->rows[row].name, name.data) != 0) row++;
  *ret_value = equals ? equals + 1 : NULL;
  if (row == rows->count) {
    report_unknown(rows, diags, name.data);
  } else if (equals && !rows->rows[row].value) {
    program_option_wrong(rows, diags, NULL, "%s takes no value", name.data);
    row = rows->count;
  }
  base_buffer_done(&name);
  return row;
}
