/* What collectors report of their sensors, kept until they say something else.
 *
 * Rows of texts, each of a process; a report of a process replaces what was known of it, one that begins
 * with a row without a process all that the source has said. A long report comes in several messages. */
#include <stdlib.h>

#include "engine/base/arena.h"
#include "tquel/serve/server.h"

struct row {
  struct tql_sensor_report report; /* texts of its own */
  bool fresh;                      /* of the report that is coming in */
};

struct server_reports {
  struct row *rows;
  size_t count, capacity;
  bool unfinished; /* more of the report will come */
};

static void row_done(struct row *row) {
  for (size_t i = 0; i < TQL_SENSOR_CELLS; i++) free((char *)row->report.cells[i]);
}

static void forget(struct server_reports *reports, const char *process) {
  size_t kept = 0;
  for (size_t i = 0; i < reports->count; i++) {
    struct row *row = &reports->rows[i];
    if (!row->fresh && (!process || strcmp(row->report.cells[TQL_SENSOR_PROCESS], process) == 0))
      row_done(row);
    else
      reports->rows[kept++] = *row;
  }
  reports->count = kept;
}

void server_reports_forget(struct server_reports *reports, const char *process) {
  if (reports) forget(reports, process);
}

static bool read_row(struct sn_reading *reading, uint32_t columns, struct row *ret) {
  *ret = (struct row){.fresh = true};
  for (uint32_t i = 0; i < columns; i++) {
    struct sn_string text = sn_get_bytes(reading);
    if (i >= TQL_SENSOR_CELLS) continue;
    char *copy = base_xmalloc((size_t)text.length + 1);
    if (text.length) memcpy(copy, text.bytes, text.length);
    copy[text.length] = '\0';
    ret->report.cells[i] = copy;
  }
  for (uint32_t i = columns; i < TQL_SENSOR_CELLS; i++) ret->report.cells[i] = base_xstrdup("");
  if (reading->bad) row_done(ret);
  return !reading->bad;
}

void server_reports_take(struct server_reports **reports, const struct sn_message_report *message,
                         bool *ret_good) {
  *ret_good = true;
  if (!sn_string_is(message->what, "sensors")) return;
  if (!*reports) *reports = base_xcalloc(1, sizeof **reports);
  struct server_reports *kept = *reports;
  struct sn_reading reading = sn_reading_from(message->cells);
  const char *process = NULL; /* of the row before */
  bool begins = !kept->unfinished;
  for (uint32_t i = 0; i < message->rows && *ret_good; i++) {
    struct row row;
    *ret_good = message->columns > 0 && read_row(&reading, message->columns, &row);
    if (!*ret_good) break;
    const char *name = row.report.cells[TQL_SENSOR_PROCESS];
    if (begins && i == 0 && !*name) forget(kept, NULL);
    if (!process || strcmp(process, name) != 0) forget(kept, name);
    if (!*name && !*row.report.cells[TQL_SENSOR_RELATION]) {
      row_done(&row);
      continue;
    }
    process = name;
    base_grow(&kept->rows, &kept->capacity, kept->count + 1, sizeof *kept->rows);
    kept->rows[kept->count++] = row;
  }
  if (!sn_reading_end(&reading)) *ret_good = false;
  kept->unfinished = message->more;
  if (message->more) return;
  for (size_t i = 0; i < kept->count; i++) kept->rows[i].fresh = false;
}

enum base_status server_reports_costs(struct tql_session *session,
                                      const struct server_reports *reports) {
  if (!reports || reports->unfinished || reports->count == 0) return BASE_OK;
  struct tql_sensor_report *all = base_xcalloc(reports->count, sizeof *all);
  for (size_t i = 0; i < reports->count; i++) all[i] = reports->rows[i].report;
  enum base_status status = tql_session_sensor_costs(session, all, reports->count);
  free(all);
  return status;
}

void server_reports_free(struct server_reports *reports) {
  if (!reports) return;
  for (size_t i = 0; i < reports->count; i++) row_done(&reports->rows[i]);
  free(reports->rows);
  free(reports);
}

void server_reports_describe(struct server *server, struct base_buffer *out) {
  struct tql_sensor_report *all = NULL;
  size_t count = 0, capacity = 0;
  bool any = false;
  for (size_t i = 0; i < server->peer_count; i++) {
    const struct server_source *source = server->peers[i]->source;
    any |= server_source_is_collector(server->peers[i]);
    const struct server_reports *reports = source ? server_source_reports(source) : NULL;
    for (size_t row = 0; reports && row < reports->count; row++) {
      base_grow(&all, &capacity, count + 1, sizeof *all);
      all[count++] = reports->rows[row].report;
    }
  }
  tql_session_describe_sensors(server->session, all, count, out);
  if (!any) base_buffer_puts(out, "no collector is connected\n");
  free(all);
}
