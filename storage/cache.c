/* Rows kept in memory: what was just written, or read, is not read from SQLite again.
 *
 *      put_rows ──▶ cached (in order, each once) ──────────────▶ scans, which share it
 *      put      ──▶ added (as they came) ── st_cache_find ──▶ merged into cached
 *      st_cache_load ── in the order in which they lie, sorted ──▶ cached
 *
 * A table has either all its rows in memory or none of them. They come to be there
 *   - with the rows of st_put_rows, if the table was empty or was in memory already;
 *   - with those of put, in the transaction in which the table was found or made empty (a statement that
 *     computes a relation anew); later ones, a feed's, are not worth the room;
 *   - when a scan begins that needs them and they fit. They are read in the order in which they lie in
 *     the file and then sorted, if that is not the order of time: to look them up one by one through
 *     the index takes many times as long where it is not.
 *
 * They are forgotten with every other change of the table (close, remove, rows taken out), with a
 * rollback if they changed since the transaction began, with the catalogue's copy, and when PRAGMA
 * data_version says that another connection has written (any connection: it does not say what).
 *
 * All tables together keep ST_CACHE_BYTES at most, or what st_set_cache says. Where more is needed, the
 * table that was used least recently is forgotten; one that does not fit alone is not kept.
 *
 * A scan holds the rows that it reads: who changes rows that are held makes a copy. The strings of all
 * rows in memory are marked by st_mark_strings.                                                      */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/budget.h"
#include "storage/rows.h"

/* ---- how much there is ---- */

static size_t bytes_of(const struct net_rows *rows) {
  return rows->layout ? rows->capacity * (rows->layout->slot_count * sizeof *rows->rows + 1) : 0;
}

static size_t bytes_in_use(const struct st_database *database) {
  size_t bytes = 0;
  for (size_t i = 0; i < database->table_count; i++) {
    const struct st_table *table = database->tables[i];
    if (table->cached) bytes += bytes_of(&table->cached->rows) + bytes_of(&table->added);
  }
  return bytes;
}

/* From this size on it is asked whether what runs has memory for it. */
#define LARGE ((size_t)1 << 20)

/* Forgets what was not used for long until there is room for BYTES more, but not KEEP (may be NULL). */
static bool make_room(struct st_database *database, const struct st_table *keep, size_t bytes) {
  for (;;) {
    struct st_table *oldest = NULL;
    if (bytes <= database->cache_limit && bytes_in_use(database) <= database->cache_limit - bytes &&
        (bytes < LARGE || base_budget_has_room(bytes)))
      return true;
    for (size_t i = 0; i < database->table_count; i++) {
      struct st_table *table = database->tables[i];
      if (table != keep && table->cached && (!oldest || table->cache_used < oldest->cache_used))
        oldest = table;
    }
    if (!oldest) return false;
    st_cache_forget(oldest);
  }
}

/* Room for COUNT more of ROWS, which belong to TABLE: those that it ADDED, or others. Growing doubles. */
static bool has_room(struct st_database *database, const struct st_table *table,
                     const struct net_rows *rows, size_t count) {
  size_t needed = rows->count + count, row = rows->layout->slot_count * sizeof *rows->rows + 1;
  if (needed <= rows->capacity) return true;
  if (needed > SIZE_MAX / 4 / row) return false;
  size_t grown = needed > 2 * rows->capacity ? needed : 2 * rows->capacity;
  size_t counted = rows == &table->added ? rows->capacity : 0;
  return make_room(database, table, (grown - counted) * row);
}

/* Pages of the file stay in SQLite until it has as many as it may, so a session that only writes comes to
 * hold them all, in time: as many as helps where rows are put into the midst of an index, and not more
 * than rows may have. With less than the least a statement would read the same pages again and again. */
static size_t page_bytes(size_t limit) {
  if (limit > ST_PAGE_BYTES_MOST) return ST_PAGE_BYTES_MOST;
  return limit < ST_PAGE_BYTES_LEAST ? ST_PAGE_BYTES_LEAST : limit;
}

enum base_status st_set_cache(struct st_database *database, size_t bytes) {
  char sql[64];
  database->cache_limit = bytes;
  (void)make_room(database, NULL, 0);
  snprintf(sql, sizeof sql, "PRAGMA cache_size=-%zu", page_bytes(bytes) / 1024);
  return st_run(database, sql, "setting the size of the cache");
}

/* ---- holding ---- */

/* Takes ROWS over; the layout is a copy, since scans outlive tables. */
static struct st_cached *cached_new(const struct st_table *table, struct net_rows *rows) {
  struct st_cached *cached = base_xcalloc(1, sizeof *cached);
  const struct net_layout *layout = table->layout;
  cached->references = 1;
  cached->arena = base_arena_new();
  cached->rows = *rows;
  cached->rows.layout =
      net_layout_new(cached->arena, layout->tuple_class, layout->fields, layout->field_count);
  net_rows_init(rows, layout);
  return cached;
}

void st_cached_release(struct st_cached *cached) {
  if (!cached || --cached->references > 0) return;
  net_rows_done(&cached->rows);
  net_plain_notes_done(&cached->plain);
  base_arena_free(cached->arena);
  free(cached);
}

void st_cache_forget(struct st_table *table) {
  table->changes++;
  if (!table->cached) return;
  st_cached_release(table->cached);
  net_rows_done(&table->added);
  table->cached = NULL;
  table->cache_changed = table->cache_grows = false;
}

/* The version of what this connection sees now, in or out of a transaction. */
static enum base_status read_version(struct st_database *database, int64_t *ret) {
  return st_query_integer(database, "PRAGMA data_version", 0, ret);
}

size_t st_cache_limit(const struct st_database *database) {
  return database->cache_limit;
}

enum base_status st_version(struct st_database *database, struct st_version *ret) {
  *ret = (struct st_version){
      .own = sqlite3_total_changes64(database->sqlite) + (int64_t)database->appended,
      .taken_back = database->taken_back};
  return read_version(database, &ret->others);
}

static void establish(struct st_database *database, struct st_table *table, struct net_rows *rows,
                      int64_t version) {
  st_cache_forget(table);
  table->cached = cached_new(table, rows);
  net_rows_init(&table->added, table->layout);
  table->cache_version = version;
  table->cache_changed = database->in_transaction;
  table->cache_used = ++database->cache_clock;
}

void st_cache_begin_empty(struct st_database *database, struct st_table *table, bool grows) {
  struct net_rows none;
  int64_t version;
  st_cache_forget(table);
  if (table->view || database->cache_limit == 0 || read_version(database, &version) != BASE_OK)
    return;
  net_rows_init(&none, table->layout);
  establish(database, table, &none, version);
  table->cache_grows = grows;
}

/* TABLE's rows are ROWS, in order, which are taken over; or they are not kept. */
static void fill(struct st_database *database, struct st_table *table, struct net_rows *rows,
                 int64_t version) {
  st_cache_forget(table);
  if (!make_room(database, table, bytes_of(rows))) return;
  establish(database, table, rows, version);
}

/* ---- changes ---- */

bool st_cache_is_empty(const struct st_table *table) {
  return table->cached && table->cached->rows.count == 0 && table->added.count == 0;
}

void st_cache_put(struct st_database *database, struct st_table *table, const union net_slot *row,
                  uint8_t marks) {
  table->changes++;
  if (!has_room(database, table, &table->added, 1)) {
    st_cache_forget(table);
    return;
  }
  table->cache_changed = true;
  net_rows_add_copy(&table->added, row, marks & NET_DEFINITE);
}

void st_cache_put_rows(struct st_database *database, struct st_table *table,
                       struct net_rows *rows) {
  table->changes++;
  if (!table->cached) return;
  table->cache_changed = true;
  if (st_cache_is_empty(table)) {
    bool grows = table->cache_grows;
    int64_t version = table->cache_version;
    fill(database, table, rows, version);
    table->cache_grows = table->cached && grows;
  } else if (has_room(database, table, &table->added, rows->count)) {
    net_rows_add_all(&table->added, rows->rows, rows->marks, rows->count);
  } else {
    st_cache_forget(table);
  }
}

/* Is all that came behind the rows that are there already? */
static bool is_behind(const struct st_table *table, const struct base_strings *strings) {
  const struct net_rows *rows = &table->cached->rows;
  return st_rows_compare(rows->layout, strings, net_rows_row(rows, rows->count - 1),
                         net_rows_row(&table->added, 0)) < 0;
}

/* Brings what was added to its place. */
static void settle(struct st_database *database, struct st_table *table) {
  struct net_rows *added = &table->added, merged;
  if (added->count == 0) return;
  st_rows_order(added, database->strings);
  if (table->cached->rows.count > 0 && table->cached->references == 1 &&
      is_behind(table, database->strings)) {
    net_rows_add_all(&table->cached->rows, added->rows, added->marks, added->count);
  } else {
    if (table->cached->rows.count == 0) {
      merged = *added;
      net_rows_init(added, table->layout);
    } else {
      st_rows_merge(&table->cached->rows, added, database->strings, &merged);
    }
    st_cached_release(table->cached);
    table->cached = cached_new(table, &merged);
  }
  net_rows_done(added);
}

struct st_cached *st_cache_find(struct st_database *database, struct st_table *table,
                                int64_t version) {
  if (!table->cached) return NULL;
  if (table->cache_version != version) {
    st_cache_forget(table);
    return NULL;
  }
  table->cache_used = ++database->cache_clock;
  settle(database, table);
  struct st_cached *cached = table->cached;
  cached->references++;
  if (!make_room(database, table, 0)) st_cache_forget(table);
  return cached;
}

/* ---- reading ---- */

/* The rows of a table are no more than its largest row number says; false: not even that is small. */
static enum base_status fits(struct st_database *database, const struct st_table *table,
                             bool *ret) {
  size_t row_bytes = table->layout->slot_count * sizeof(union net_slot) + 1;
  const char *rowid = st_rowid_name(table);
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  int64_t rows = INT64_MAX;
  base_buffer_printf(&sql, "SELECT max(%s) FROM ", rowid ? rowid : "NULL");
  st_sql_name(&sql, table->name);
  enum base_status status = rowid ? st_query_integer(database, sql.data, 0, &rows) : BASE_OK;
  base_buffer_done(&sql);
  *ret = rows >= 0 && (uint64_t)rows <= database->cache_limit / row_bytes;
  return status;
}

/* Adds the rows of STATEMENT; LIMITED: as long as there is room. */
static enum base_status read_table(struct st_database *database, const struct st_table *table,
                                   sqlite3_stmt *statement, bool limited, struct net_rows *rows,
                                   bool *ret_room) {
  int code;
  bool declared = st_is_declared(table);
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    if (limited && !has_room(database, table, rows, 1)) {
      *ret_room = false;
      return BASE_OK;
    }
    union net_slot *row = net_rows_add(rows, 0);
    const struct net_field *field;
    if (st_column_row(database, statement, declared, table->layout, row,
                      &rows->marks[rows->count - 1], &field))
      return st_refuse_row(database, table);
  }
  return code == SQLITE_DONE ? BASE_OK : st_fail(database, "reading a relation");
}

/* Table and log, in order. */
static enum base_status read_all(struct st_database *database, const struct st_table *table,
                                 const struct st_log *log, bool limited, struct net_rows *rows,
                                 bool *ret_room) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  sqlite3_stmt *statement = NULL;
  *ret_room = true;
  st_sql_select(&sql, table, table->layout);
  enum base_status status = st_prepare(database, sql.data, false, &statement);
  base_buffer_done(&sql);
  if (status != BASE_OK) return status;
  status = read_table(database, table, statement, limited, rows, ret_room);
  sqlite3_finalize(statement);
  for (size_t i = 0; log && i < log->count && status == BASE_OK && *ret_room; i++) {
    *ret_room = !limited || has_room(database, table, rows, ST_PIECE_ROWS);
    if (*ret_room) status = st_log_rows(database, log, i, rows);
  }
  if (status == BASE_OK && *ret_room) st_rows_order(rows, database->strings);
  return status;
}

enum base_status st_cache_load(struct st_database *database, struct st_table *table,
                               const struct st_log *log, int64_t version, struct st_cached **ret) {
  struct net_rows rows;
  bool room = false;
  *ret = NULL;
  if (database->cache_limit == 0) return BASE_OK;
  enum base_status status = fits(database, table, &room);
  if (status != BASE_OK || !room) return status;
  net_rows_init(&rows, table->layout);
  status = read_all(database, table, log, true, &rows, &room);
  if (status == BASE_OK && room) {
    fill(database, table, &rows, version);
    *ret = st_cache_find(database, table, version);
  }
  net_rows_done(&rows);
  return status;
}

enum base_status st_cache_read(struct st_database *database, const struct st_table *table,
                               const struct st_log *log, struct st_cached **ret) {
  struct net_rows rows;
  bool room;
  *ret = NULL;
  net_rows_init(&rows, table->layout);
  enum base_status status = read_all(database, table, log, false, &rows, &room);
  if (status == BASE_OK) *ret = cached_new(table, &rows);
  net_rows_done(&rows);
  return status;
}

/* ---- transactions, strings ---- */

void st_cache_committed(struct st_database *database) {
  for (size_t i = 0; i < database->table_count; i++)
    database->tables[i]->cache_changed = database->tables[i]->cache_grows = false;
}

void st_cache_rolled_back(struct st_database *database) {
  if (sqlite3_total_changes64(database->sqlite) != database->changes_before)
    database->taken_back++; /* SQLite does not turn its count back */
  for (size_t i = 0; i < database->table_count; i++)
    if (database->tables[i]->cache_changed) st_cache_forget(database->tables[i]);
}

void st_rows_mark_strings(const struct net_rows *rows, struct base_strings *strings) {
  bool any = false;
  for (uint32_t i = 0; rows->count > 0 && i < rows->layout->field_count; i++)
    any |= net_type_is_interned(rows->layout->fields[i].type.base);
  for (size_t i = 0; any && i < rows->count; i++)
    net_row_mark_strings(rows->layout, strings, net_rows_row(rows, i));
}

void st_cache_mark_strings(const struct st_database *database) {
  for (size_t i = 0; i < database->table_count; i++) {
    const struct st_table *table = database->tables[i];
    if (table->waiting.layout) st_rows_mark_strings(&table->waiting, database->strings);
    if (!table->cached) continue;
    st_rows_mark_strings(&table->cached->rows, database->strings);
    st_rows_mark_strings(&table->added, database->strings);
  }
}
