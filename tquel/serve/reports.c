/* What collectors report of their sensors, kept until they say something else.
 *
 * Rows of texts, each of a process; a report of a process replaces what was known of it, one that begins
 * with a row without a process all that the source has said. A long report comes in several messages. What a
 * message costs is linear in its rows and in those that are kept, and these are bounded: rows beyond
 * are counted, and \ds says so. */
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/arena.h"
#include "engine/base/printable.h"
#include "tquel/serve/source.h"

/* Bytes of the reports of one source. */
#define REPORTS_BYTES ((size_t)64 << 20)
/* Bytes of one cell: a table is as wide as its widest. */
#define CELL_BYTES 255

struct row {
  struct tql_sensor_report report; /* its texts lie behind each other, at the first one */
  size_t bytes;
  bool fresh; /* of the report that is coming in */
};

struct rows {
  struct row *items;
  size_t count, capacity;
};

struct server_reports {
  struct rows rows;
  size_t bytes;    /* of the rows, with their texts */
  size_t not_kept; /* rows, since all was reported anew */
  bool unfinished; /* more of the report will come */
};

static const char *process_of(const struct row *row) {
  return row->report.cells[TQL_SENSOR_PROCESS];
}

static void row_done(struct row *row) {
  free((char *)row->report.cells[0]);
}

/* Not those of the report that is coming in. GOES tells which. */
static void forget(struct server_reports *reports,
                   bool (*goes)(const void *context, const struct row *row), const void *context) {
  struct rows *rows = &reports->rows;
  size_t kept = 0;
  for (size_t i = 0; i < rows->count; i++) {
    struct row *row = &rows->items[i];
    if (row->fresh || !goes(context, row)) {
      rows->items[kept++] = *row;
      continue;
    }
    reports->bytes -= row->bytes;
    row_done(row);
  }
  rows->count = kept;
}

static bool is_of_process(const void *process, const struct row *row) {
  return strcmp(process_of(row), process) == 0;
}

static bool is_any(const void *unused, const struct row *row) {
  (void)unused;
  (void)row;
  return true;
}

void server_reports_forget(struct server_reports *reports, const char *process) {
  if (reports) forget(reports, is_of_process, process);
}

/* --- a message -------------------------------------------------------------------------------- */

/* The cells that are of use, each as far as it is shown. */
static bool read_row(const struct server_source *source, struct sn_reading *reading,
                     uint32_t columns, struct row *ret) {
  struct base_buffer texts = BASE_BUFFER_EMPTY;
  struct sn_string process = {0};
  size_t places[TQL_SENSOR_CELLS] = {0};
  for (uint32_t i = 0; i < columns && !reading->bad; i++) {
    struct sn_string text = sn_get_bytes(reading);
    if (i >= TQL_SENSOR_CELLS) continue;
    if (i == TQL_SENSOR_PROCESS) process = text;
    if (i == TQL_SENSOR_RELATION) text = server_source_relation(source, process, text);
    places[i] = texts.length;
    base_buffer_append(&texts, text.bytes, base_utf8_cut(text.bytes, text.length, CELL_BYTES));
    base_buffer_putc(&texts, '\0');
  }
  base_buffer_putc(&texts, '\0'); /* of those that are not there */
  for (uint32_t i = columns; i < TQL_SENSOR_CELLS; i++) places[i] = texts.length - 1;
  *ret = (struct row){.fresh = true, .bytes = texts.length + sizeof *ret};
  for (uint32_t i = 0; i < TQL_SENSOR_CELLS; i++) ret->report.cells[i] = texts.data + places[i];
  if (reading->bad) base_buffer_done(&texts);
  return !reading->bad;
}

static void rows_done(struct rows *rows) {
  for (size_t i = 0; i < rows->count; i++) row_done(&rows->items[i]);
  free(rows->items);
}

/* False: they are not what the message says. */
static bool read_rows(const struct server_source *source, const struct sn_message_report *message,
                      struct rows *ret) {
  struct sn_reading reading = sn_reading_from(message->cells);
  *ret = (struct rows){0};
  for (uint32_t i = 0; i < message->rows; i++) {
    struct row row;
    if (!read_row(source, &reading, message->columns, &row)) break;
    base_grow(&ret->items, &ret->capacity, ret->count + 1, sizeof *ret->items);
    ret->items[ret->count++] = row;
  }
  if (sn_reading_end(&reading)) return true;
  rows_done(ret);
  return false;
}

static int by_name(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

struct names {
  const char **items;
  size_t count;
};

static bool is_of_one(const void *context, const struct row *row) {
  const struct names *names = context;
  const char *name = process_of(row);
  return bsearch(&name, names->items, names->count, sizeof *names->items, by_name) != NULL;
}

/* The processes of ROWS are reported anew. */
static void forget_processes(struct server_reports *reports, const struct rows *rows) {
  struct names names = {base_xcalloc(rows->count + 1, sizeof *names.items), 0};
  for (size_t i = 0; i < rows->count; i++)
    if (i == 0 || strcmp(names.items[names.count - 1], process_of(&rows->items[i])) != 0)
      names.items[names.count++] = process_of(&rows->items[i]);
  qsort(names.items, names.count, sizeof *names.items, by_name);
  if (names.count > 0) forget(reports, is_of_one, &names);
  free(names.items);
}

static void keep(struct server_reports *reports, struct row *row) {
  bool none = !*process_of(row) && !*row->report.cells[TQL_SENSOR_RELATION];
  if (none || reports->bytes + row->bytes > REPORTS_BYTES) {
    reports->not_kept += !none;
    row_done(row);
    return;
  }
  struct rows *kept = &reports->rows;
  base_grow(&kept->items, &kept->capacity, kept->count + 1, sizeof *kept->items);
  kept->items[kept->count++] = *row;
  reports->bytes += row->bytes;
}

/* What is new in the report, which is complete now, says what records cost. */
static enum base_status keep_costs(struct tql_session *session, struct server_reports *reports) {
  struct rows *rows = &reports->rows;
  struct tql_sensor_report *fresh = base_xcalloc(rows->count + 1, sizeof *fresh);
  size_t count = 0;
  for (size_t i = 0; i < rows->count; i++) {
    if (!rows->items[i].fresh) continue;
    fresh[count++] = rows->items[i].report;
    rows->items[i].fresh = false;
  }
  enum base_status status = count > 0 ? tql_session_sensor_costs(session, fresh, count) : BASE_OK;
  free(fresh);
  return status;
}

bool server_reports_take(struct server_source *source, const struct sn_message_report *message,
                         enum base_status *ret_status) {
  struct server_reports **reports = &source->reports;
  struct rows rows;
  *ret_status = BASE_OK;
  if (!read_rows(source, message, &rows)) return false;
  if (!*reports) *reports = base_xcalloc(1, sizeof **reports);
  struct server_reports *kept = *reports;
  if (!kept->unfinished && rows.count > 0 && !*process_of(&rows.items[0])) {
    forget(kept, is_any, NULL);
    kept->not_kept = 0;
  }
  forget_processes(kept, &rows);
  for (size_t i = 0; i < rows.count; i++) keep(kept, &rows.items[i]);
  free(rows.items);
  kept->unfinished = message->more;
  if (!message->more) *ret_status = keep_costs(source->peer->server->session, kept);
  return true;
}

void server_reports_free(struct server_reports *reports) {
  if (!reports) return;
  rows_done(&reports->rows);
  free(reports);
}

/* The server's own row. TEXT is of 24 bytes, and lasts as long as the row. */
static struct tql_sensor_report own_row(struct server *server, char *text) {
  struct tql_sensor_report report;
  for (size_t i = 0; i < TQL_SENSOR_CELLS; i++) report.cells[i] = "";
  (void)base_usage_look(&server->usage, 0);
  snprintf(text, 24, "%lld", (long long)server->usage.a_second);
  report.cells[TQL_SENSOR_PROCESS] = report.cells[TQL_SENSOR_STATE] = "server";
  report.cells[TQL_SENSOR_COST] = text;
  return report;
}

void server_reports_describe(struct server *server, struct tql_seat *seat,
                             struct base_buffer *out) {
  struct tql_sensor_report *all = NULL;
  size_t count = 0, capacity = 0, not_kept = 0;
  bool any = false;
  char usage[24];
  for (size_t i = 0; i < server->peer_count; i++) {
    const struct server_source *source = server->peers[i]->source;
    any |= server_source_is_collector(server->peers[i]);
    const struct server_reports *reports = source ? source->reports : NULL;
    if (!reports) continue;
    not_kept += reports->not_kept;
    for (size_t row = 0; row < reports->rows.count; row++) {
      base_grow(&all, &capacity, count + 1, sizeof *all);
      all[count++] = reports->rows.items[row].report;
    }
  }
  base_grow(&all, &capacity, count + 1, sizeof *all);
  all[count++] = own_row(server, usage);
  tql_seat_describe_sensors(seat, all, count, out);
  if (not_kept > 0)
    base_buffer_printf(out, "%zu more rows were reported than are kept\n", not_kept);
  if (!any) base_buffer_puts(out, "no collector is connected\n");
  free(all);
}
