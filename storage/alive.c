/* Rows that are not over at a time: where they begin.
 *
 *      "tq_R_long"   the long ones among them, exactly
 *      "tq_R_set"    the others start less than LONG before that time: those are looked at in the order of time, up to
 *                    the first that is not over
 *      tq_log        all
 *
 * As time goes on the same is asked again and again, so what was found is remembered: of what is not over later, nothing
 * that is not long begins before what was not over then, except what came since (came.c). */
#include <inttypes.h>

#include "storage/relations.h"

enum base_status st_first_short(struct st_database *database, struct st_table *table,
                                net_chronon time, net_chronon *ret) {
  int64_t version = 0, first = NET_FOREVER;
  net_chronon from;
  enum base_status status = st_query_integer(database, "PRAGMA data_version", 0, &version);
  if (status != BASE_OK) return status;
  if (__builtin_sub_overflow(time, st_long_span(database->timeline), &from)) from = NET_BEGINNING;
  bool known = table->alive_known && table->alive_version == version && table->alive_at <= time;
  if (known && table->alive_first > from) from = table->alive_first;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  const char *start = st_sql_start(table->kind);
  base_buffer_printf(&sql, "SELECT %s FROM ", start);
  st_sql_name(&sql, table->name);
  base_buffer_printf(
      &sql, " WHERE %s>=%" PRId64 " AND %s<%" PRId64 " AND %s>=%" PRId64 " ORDER BY %s LIMIT 1",
      start, from, start, time, st_sql_last(table->kind), time, start);
  status = st_query_integer(database, base_buffer_text(&sql), NET_FOREVER, &first);
  base_buffer_done(&sql);
  *ret = first < time ? first : time;
  table->alive_known = status == BASE_OK;
  table->alive_version = version;
  table->alive_at = time;
  table->alive_first = *ret;
  return status;
}

static enum base_status first_long(struct st_database *database, const struct st_table *table,
                                   net_chronon time, net_chronon *first) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  int64_t found = NET_FOREVER;
  /* With a bare column SQLite would walk the order of time for the first. */
  base_buffer_printf(&sql, "SELECT min(+%s) FROM ", st_sql_start(table->kind));
  st_sql_name(&sql, table->name);
  base_buffer_puts(&sql, " WHERE ");
  st_sql_is_long(&sql, table->kind, database->timeline);
  base_buffer_printf(&sql, " AND %s>=%" PRId64, st_sql_last(table->kind), time);
  enum base_status status = st_query_integer(database, base_buffer_text(&sql), NET_FOREVER, &found);
  base_buffer_done(&sql);
  if (found < *first) *first = found;
  return status;
}

struct alive {
  net_chronon time, first;
};

static void look_at(void *context, const struct net_rows *rows) {
  struct alive *alive = context;
  for (size_t i = 0; i < rows->count; i++) {
    const union net_slot *row = net_rows_row(rows, i);
    if (row[0].i < alive->first && row[1].i >= alive->time) alive->first = row[0].i;
  }
}

enum base_status st_first_alive(struct st_database *database, const char *name, net_chronon time,
                                net_chronon *ret) {
  struct st_table *table = NULL;
  struct alive alive = {.time = time, .first = NET_FOREVER};
  net_chronon first = NET_FOREVER;
  enum base_status status = st_catalogue_find(database, name, &table);
  *ret = NET_FOREVER;
  if (status != BASE_OK || table->view) return status;
  status = st_log_each(database, table, look_at, &alive); /* only events are logged */
  if (status == BASE_OK) status = first_long(database, table, time, &alive.first);
  if (status == BASE_OK) status = st_first_short(database, table, time, &first);
  if (first < alive.first) alive.first = first;
  if (status == BASE_OK && alive.first < time) *ret = alive.first;
  return status;
}
