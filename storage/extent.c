/* What is said of a relation as a whole: how many rows it has, its first and its last times.
 *
 * A relation whose rows are in memory (cache.c) is looked at there; SQLite would walk the whole table. */
#include <inttypes.h>

#include "storage/relations.h"

#define FOREVER_TEXT   "9223372036854775807"
#define BEGINNING_TEXT "(-9223372036854775807-1)"

enum base_status st_count(struct st_database *database, const char *name, int64_t *ret) {
  struct st_table *table = NULL;
  enum base_status status = st_catalogue_find(database, name, &table);
  if (status != BASE_OK) return status;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(&sql, "SELECT count(*)");
  if (st_log_is_possible(database, table)) {
    base_buffer_puts(&sql, "+(SELECT ifnull(sum(rows),0) FROM tq_log WHERE relation=");
    st_sql_text(&sql, table->name);
    base_buffer_putc(&sql, ')');
  }
  base_buffer_puts(&sql, " FROM ");
  st_sql_name(&sql, table->name);
  status = st_query_integer(database, sql.data, 0, ret);
  base_buffer_done(&sql);
  return status;
}

enum base_status st_count_from(struct st_database *database, const char *name, net_chronon time,
                               int64_t most, int64_t *ret) {
  struct st_table *table = NULL;
  enum base_status status = st_catalogue_find(database, name, &table);
  *ret = 0;
  if (status != BASE_OK || table->view) return status;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(&sql, "SELECT count(*) FROM (SELECT 1 FROM ");
  st_sql_name(&sql, table->name);
  base_buffer_printf(&sql, " WHERE %s>=%" PRId64 " LIMIT %" PRId64 ")", st_sql_start(table->kind),
                     time, most);
  status = st_query_integer(database, base_buffer_text(&sql), 0, ret);
  base_buffer_done(&sql);
  return status;
}

/* The rows of TABLE, held, if they are in memory as they are now; else NULL. */
static enum base_status rows_in_memory(struct st_database *database, struct st_table *table,
                                       struct st_cached **ret) {
  int64_t version;
  *ret = NULL;
  if (!table->cached) return BASE_OK;
  enum base_status status = st_query_integer(database, "PRAGMA data_version", 0, &version);
  if (status == BASE_OK) *ret = st_cache_find(database, table, version);
  return status;
}

static void note_last(net_chronon *last, net_chronon time) {
  if (time != NET_FOREVER && time > *last) *last = time;
}

static void extent_of(const struct net_rows *rows, bool *ret_any, net_chronon *ret_first,
                      net_chronon *ret_last) {
  bool event = rows->layout->tuple_class == NET_EVENT;
  *ret_any = rows->count > 0;
  *ret_first = rows->count > 0 ? NET_FOREVER : 0;
  *ret_last = NET_BEGINNING;
  for (size_t i = 0; i < rows->count; i++) {
    const union net_slot *row = net_rows_row(rows, i);
    net_chronon first = row[0].i == NET_BEGINNING ? row[1].i : row[0].i;
    if (first < *ret_first) *ret_first = first;
    note_last(ret_last, row[0].i);
    note_last(ret_last, row[1].i);
    if (event || row[2].i == NET_OPEN) continue;
    note_last(ret_last, row[2].i);
    note_last(ret_last, row[3].i);
  }
}

static void first_finite_of(const struct net_rows *rows, bool *ret_any, net_chronon *ret) {
  *ret_any = false;
  *ret = NET_FOREVER;
  for (size_t i = 0; i < rows->count; i++) {
    const union net_slot *row = net_rows_row(rows, i);
    for (uint32_t k = 0; k < rows->layout->first_domain_slot; k++) {
      net_chronon time = row[k].i;
      if (time == NET_BEGINNING || time == NET_FOREVER || (k == 2 && time == NET_OPEN)) continue;
      if (time < *ret) *ret = time;
      *ret_any = true;
    }
  }
}

struct extent {
  bool any;
  net_chronon first, last;
};

static void widen(void *context, const struct net_rows *rows) {
  struct extent *extent = context, more;
  extent_of(rows, &more.any, &more.first, &more.last);
  if (!more.any) return;
  if (!extent->any || more.first < extent->first) extent->first = more.first;
  if (!extent->any || more.last > extent->last) extent->last = more.last;
  extent->any = true;
}

static void note_first_finite(void *context, const struct net_rows *rows) {
  struct extent *extent = context;
  bool any;
  net_chronon first;
  first_finite_of(rows, &any, &first);
  if (any && (!extent->any || first < extent->first)) extent->first = first;
  extent->any |= any;
}

/* The two ways in which a row has its first time, each answered by the index. */
static enum base_status first_stored(struct st_database *database, const struct st_table *table,
                                     struct extent *extent) {
  const char *lo = st_kind_is_event(table->kind) ? "at_lo" : "start_lo";
  const char *hi = st_kind_is_event(table->kind) ? "at_hi" : "start_hi";
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  sqlite3_stmt *statement = NULL;
  for (int i = 0; i < 2; i++) {
    base_buffer_printf(&sql, "%s(SELECT min(%s) FROM ", i == 0 ? "SELECT " : ",", i == 0 ? lo : hi);
    st_sql_name(&sql, table->name);
    base_buffer_printf(&sql, " WHERE %s%s" BEGINNING_TEXT ")", lo, i == 0 ? ">" : "=");
  }
  enum base_status status = st_prepare(database, base_buffer_text(&sql), false, &statement);
  base_buffer_done(&sql);
  if (status != BASE_OK) return status;
  if (sqlite3_step(statement) != SQLITE_ROW)
    status = st_fail(database, "looking for the first time");
  for (int i = 0; i < 2 && status == BASE_OK; i++) {
    if (sqlite3_column_type(statement, i) == SQLITE_NULL) continue;
    net_chronon first = sqlite3_column_int64(statement, i);
    if (!extent->any || first < extent->first) extent->first = first;
    extent->any = true;
  }
  sqlite3_finalize(statement);
  return status;
}

/* The latest time that was seen: `forever` says that none was, and is passed over. */
enum base_status st_extent(struct st_database *database, const char *name, bool *ret_any,
                           net_chronon *ret_first, net_chronon *ret_last) {
  struct st_table *table = NULL;
  struct st_cached *cached = NULL;
  enum base_status status = st_catalogue_find(database, name, &table);
  if (status == BASE_OK) status = rows_in_memory(database, table, &cached);
  if (status != BASE_OK) return status;
  if (cached) {
    extent_of(&cached->rows, ret_any, ret_first, ret_last);
    st_cached_release(cached);
    return BASE_OK;
  }
  struct extent extent = {.any = false};
  status = st_log_each(database, table, widen, &extent);
  if (status != BASE_OK) return status;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(
      &sql, st_kind_is_event(table->kind)
                ? "SELECT min(CASE at_lo WHEN " BEGINNING_TEXT
                  " THEN at_hi ELSE at_lo END),max(nullif(at_lo," FOREVER_TEXT
                  ")),max(nullif(at_hi," FOREVER_TEXT "))"
                : "SELECT min(CASE start_lo WHEN " BEGINNING_TEXT
                  " THEN start_hi ELSE start_lo END),max(nullif(start_lo," FOREVER_TEXT
                  ")),max(nullif(start_hi," FOREVER_TEXT ")),max(nullif(stop_lo," FOREVER_TEXT
                  ")),max(CASE WHEN stop_lo IS NOT NULL THEN nullif(stop_hi," FOREVER_TEXT
                  ") END)");
  base_buffer_puts(&sql, " FROM ");
  st_sql_name(&sql, table->name);
  sqlite3_stmt *statement = NULL;
  status = st_prepare(database, sql.data, false, &statement);
  base_buffer_done(&sql);
  if (status != BASE_OK) return status;
  if (sqlite3_step(statement) != SQLITE_ROW) {
    status = st_fail(database, "looking for first and last times");
  } else {
    *ret_any = sqlite3_column_type(statement, 0) != SQLITE_NULL;
    *ret_first = sqlite3_column_int64(statement, 0);
    *ret_last = NET_BEGINNING;
    for (int i = 1; i < sqlite3_column_count(statement); i++)
      if (sqlite3_column_type(statement, i) != SQLITE_NULL &&
          sqlite3_column_int64(statement, i) > *ret_last)
        *ret_last = sqlite3_column_int64(statement, i);
  }
  sqlite3_finalize(statement);
  if (status == BASE_OK && extent.any) {
    if (!*ret_any || extent.first < *ret_first) *ret_first = extent.first;
    if (!*ret_any || extent.last > *ret_last) *ret_last = extent.last;
    *ret_any = true;
  }
  return status;
}

enum base_status st_first(struct st_database *database, const char *name, bool *ret_any,
                          net_chronon *ret) {
  struct st_table *table = NULL;
  struct st_cached *cached = NULL;
  struct extent extent = {.first = NET_FOREVER};
  enum base_status status = st_catalogue_find(database, name, &table);
  if (status == BASE_OK) status = rows_in_memory(database, table, &cached);
  if (status != BASE_OK) return status;
  if (cached) {
    widen(&extent, &cached->rows);
    st_cached_release(cached);
  } else {
    status = st_log_each(database, table, widen, &extent);
    if (status == BASE_OK) status = first_stored(database, table, &extent);
  }
  *ret_any = extent.any;
  *ret = extent.first;
  return status;
}

enum base_status st_first_finite(struct st_database *database, const char *name, bool *ret_any,
                                 net_chronon *ret) {
  static const char *const columns[] = {"at_lo",    "at_hi",   "start_lo",
                                        "start_hi", "stop_lo", "stop_hi"};
  struct st_table *table = NULL;
  struct st_cached *cached = NULL;
  enum base_status status = st_catalogue_find(database, name, &table);
  if (status == BASE_OK) status = rows_in_memory(database, table, &cached);
  if (status != BASE_OK) return status;
  if (cached) {
    first_finite_of(&cached->rows, ret_any, ret);
    st_cached_release(cached);
    return BASE_OK;
  }
  struct extent extent = {.any = false};
  status = st_log_each(database, table, note_first_finite, &extent);
  if (status != BASE_OK) return status;
  bool event = st_kind_is_event(table->kind);
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(&sql, "SELECT ");
  for (int i = event ? 0 : 2; i < (event ? 2 : 6); i++)
    base_buffer_printf(
        &sql, "%smin(CASE WHEN %s NOT IN (" BEGINNING_TEXT "," FOREVER_TEXT ") THEN %s END)",
        i % 2 == 0 && (event || i == 2) ? "" : ",", columns[i], columns[i]);
  base_buffer_puts(&sql, " FROM ");
  st_sql_name(&sql, table->name);
  sqlite3_stmt *statement = NULL;
  status = st_prepare(database, sql.data, false, &statement);
  base_buffer_done(&sql);
  if (status != BASE_OK) return status;
  *ret_any = false;
  if (sqlite3_step(statement) != SQLITE_ROW) {
    status = st_fail(database, "looking for the first time");
  } else {
    for (int i = 0; i < sqlite3_column_count(statement); i++) {
      if (sqlite3_column_type(statement, i) == SQLITE_NULL) continue;
      net_chronon time = sqlite3_column_int64(statement, i);
      if (!*ret_any || time < *ret) *ret = time;
      *ret_any = true;
    }
  }
  sqlite3_finalize(statement);
  if (status == BASE_OK && extent.any) {
    if (!*ret_any || extent.first < *ret) *ret = extent.first;
    *ret_any = true;
  }
  return status;
}
