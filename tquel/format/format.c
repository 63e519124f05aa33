/* Names of formats, and the way from a format to its writer. The writers have a file each. */
#include "tquel/format/format.h"

#include <string.h>

#include "tquel/format/cells.h"

static const char *const names[] = {
    [TQL_FORMAT_TABLE] = "table",       [TQL_FORMAT_CSV] = "csv",
    [TQL_FORMAT_JSON] = "json",         [TQL_FORMAT_NDJSON] = "ndjson",
    [TQL_FORMAT_LINE] = "line",         [TQL_FORMAT_MARKDOWN] = "markdown",
    [TQL_FORMAT_TIMELINE] = "timeline", [TQL_FORMAT_COUNT] = "count",
};

int tql_format_find(const char *name) {
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcasecmp(name, names[i]) == 0) return (int)i;
  return -1;
}

const char *tql_format_name(enum tql_format format) {
  return names[format];
}

void tql_format_rows(struct base_buffer *out, const struct tql_format_context *context,
                     const struct tql_rows *rows) {
  switch (context->format) {
    case TQL_FORMAT_TABLE:
      tql_write_table(out, context, rows);
      return;
    case TQL_FORMAT_CSV:
      tql_write_csv(out, context, rows);
      return;
    case TQL_FORMAT_JSON:
      tql_write_json(out, context, rows);
      return;
    case TQL_FORMAT_NDJSON:
      tql_write_ndjson(out, context, rows);
      return;
    case TQL_FORMAT_LINE:
      tql_write_line(out, context, rows);
      return;
    case TQL_FORMAT_MARKDOWN:
      tql_write_markdown(out, context, rows);
      return;
    case TQL_FORMAT_TIMELINE:
      tql_write_timeline(out, context, rows);
      return;
    case TQL_FORMAT_COUNT:
      base_buffer_printf(out, "%zu\n", rows->rows.count);
      return;
  }
}
