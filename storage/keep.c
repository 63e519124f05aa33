/* Rows that are old go: what `modify R to keep` asks for, a few at a time.
 *
 *      tq_keep      relation, age, gone, removed
 *
 * A row is old when it was over for certain before a limit: its last time (at_hi, stop_hi) is before that; an open
 * one never is. Which limit that is, the session says, as standing queries may need some that are older than
 * anybody wants to look at (tquel/session/live/history.c). A walk removes all that is old:
 *
 *      "tq_R_set"    rows that are not long, from the limit of the last walk on, less what a short row lasts: what
 *                    lies before it has gone. They are looked at in the order of time, some in each call
 *      "tq_R_long"   of the long ones exactly those that are old
 *      tq_log        whole pieces in which all is old, behind the table
 *
 * so that each call takes about as long as the rows that it may look at, however many there are; what is there and
 * not old is met by few walks. A walk goes as far as the limit with which it began. With the rows `gone` is written: the
 * relation is incomplete before it. A crash leaves a walk half done: the next program's first one begins
 * at the beginning, which meets what is old, and what was there then and still lasts. So does the walk after rows that
 * came old already (a correction; logged rows, put into their table).
 *
 * Files without "tq_R_long" (older programs made them) get it with the age. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "storage/relations.h"

/* ---- what is known of a relation's rows ---- */

static enum base_status know(struct st_database *database, struct st_table *table) {
  sqlite3_stmt *statement = NULL;
  if (table->keep_known) return BASE_OK;
  enum base_status status =
      st_prepare(database, "SELECT gone FROM tq_keep WHERE relation = ?1", false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
  int code = sqlite3_step(statement);
  bool found = code == SQLITE_ROW;
  table->incomplete = found && sqlite3_column_type(statement, 0) != SQLITE_NULL;
  table->gone = found ? sqlite3_column_int64(statement, 0) : 0;
  table->done = table->came_old = NET_BEGINNING;
  table->walking = false;
  table->keep_known = true;
  if (code != SQLITE_ROW && code != SQLITE_DONE) status = st_fail(database, "looking at tq_keep");
  sqlite3_finalize(statement);
  return status;
}

void st_keep_rolled_back(struct st_database *database) {
  for (size_t i = 0; i < database->table_count; i++)
    database->tables[i]->keep_known = database->tables[i]->alive_known = false;
}

/* SQL has the relation as its first parameter, and NUMBERS behind it. */
static enum base_status note(struct st_database *database, const struct st_table *table,
                             const char *sql, const int64_t *numbers, int count) {
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_prepare(database, sql, false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
  for (int i = 0; i < count; i++) sqlite3_bind_int64(statement, i + 2, numbers[i]);
  status = st_step_done(database, statement, "writing the catalogue");
  sqlite3_finalize(statement);
  return status;
}

/* REMOVED rows have gone that were over before LIMIT. */
static enum base_status note_removed(struct st_database *database, struct st_table *table,
                                     net_chronon limit, size_t removed) {
  if (removed == 0) return BASE_OK;
  if (!table->incomplete || limit > table->gone) table->gone = limit;
  table->incomplete = true;
  const int64_t numbers[] = {table->gone, (int64_t)removed};
  return note(database, table,
              "INSERT INTO tq_keep (relation, gone, removed) VALUES (?1, ?2, ?3)"
              " ON CONFLICT (relation) DO UPDATE SET gone = ?2, removed = removed + ?3",
              numbers, 2);
}

/* ---- the statement ---- */

static enum base_status make_long_index(struct st_database *database,
                                        const struct st_table *table) {
  struct base_buffer index = BASE_BUFFER_EMPTY, sql = BASE_BUFFER_EMPTY;
  int64_t there = 0;
  base_buffer_printf(&index, "tq_%s_long", table->name);
  base_buffer_puts(&sql, "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND name = ");
  st_sql_text(&sql, base_buffer_text(&index));
  base_buffer_puts(&sql, " COLLATE NOCASE");
  enum base_status status = st_query_integer(database, base_buffer_text(&sql), 0, &there);
  if (status == BASE_OK && there == 0) {
    const struct st_relation relation = {.name = table->name, .kind = table->kind};
    base_buffer_clear(&sql);
    st_sql_create_long(&sql, database->timeline, &relation);
    status = st_run(database, base_buffer_text(&sql), "making an index");
  }
  base_buffer_done(&index);
  base_buffer_done(&sql);
  return status;
}

enum base_status st_set_keep(struct st_database *database, const char *name, int64_t age) {
  struct st_table *table = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_find(database, name, &table);
  if (status == BASE_OK && age >= 0) status = make_long_index(database, table);
  if (status != BASE_OK) return status;
  if (age < 0) {
    status = note(database, table, "UPDATE tq_keep SET age = NULL WHERE relation = ?1", NULL, 0);
    return status != BASE_OK
               ? status
               : note(database, table, "DELETE FROM tq_keep WHERE relation = ?1 AND gone IS NULL",
                      NULL, 0);
  }
  return note(database, table,
              "INSERT INTO tq_keep (relation, age, removed) VALUES (?1, ?2, 0)"
              " ON CONFLICT (relation) DO UPDATE SET age = ?2",
              &age, 1);
}

enum base_status st_is_complete(struct st_database *database, const char *name) {
  struct st_table *table = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_find(database, name, &table);
  if (status == BASE_OK) status = know(database, table);
  if (status != BASE_OK || !table->incomplete) return status;
  table->keep_known = false;
  return note(database, table, "UPDATE tq_keep SET gone = NULL, removed = 0 WHERE relation = ?1",
              NULL, 0);
}

/* ---- removing ---- */

static net_chronon before(net_chronon time, int64_t span) {
  net_chronon result;
  return __builtin_sub_overflow(time, span, &result) ? NET_BEGINNING : result;
}

/* Removes the rows that have NUMBERS. */
static enum base_status remove_rows(struct st_database *database, const struct st_table *table,
                                    const int64_t *numbers, size_t count) {
  sqlite3_stmt *statement = NULL;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(&sql, "DELETE FROM ");
  st_sql_name(&sql, table->name);
  base_buffer_printf(&sql, " WHERE %s = ?1", st_rowid_name(table));
  enum base_status status = st_prepare(database, base_buffer_text(&sql), false, &statement);
  base_buffer_done(&sql);
  for (size_t i = 0; i < count && status == BASE_OK; i++) {
    sqlite3_bind_int64(statement, 1, numbers[i]);
    status = st_step_done(database, statement, "removing old rows");
  }
  sqlite3_finalize(statement);
  return status;
}

/* Of the rows that SQL gives (number, start, is it to go), ROWS at most. */
struct looked {
  int64_t *numbers;
  size_t removed, rows;
  net_chronon last; /* the start of the last one */
};

static enum base_status look(struct st_database *database, const char *sql, size_t rows,
                             struct looked *ret) {
  sqlite3_stmt *statement = NULL;
  int code = SQLITE_DONE;
  *ret = (struct looked){.numbers = base_xcalloc(rows + 1, sizeof *ret->numbers)};
  enum base_status status = st_prepare(database, sql, false, &statement);
  while (status == BASE_OK && ret->rows < rows && (code = sqlite3_step(statement)) == SQLITE_ROW) {
    ret->rows++;
    ret->last = sqlite3_column_int64(statement, 1);
    if (sqlite3_column_int(statement, 2))
      ret->numbers[ret->removed++] = sqlite3_column_int64(statement, 0);
  }
  if (status == BASE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
    status = st_fail(database, "looking for old rows");
  sqlite3_finalize(statement);
  return status;
}

static enum base_status look_and_remove(struct st_database *database, struct st_table *table,
                                        const char *sql, size_t rows, struct looked *ret) {
  enum base_status status = look(database, sql, rows, ret);
  if (status == BASE_OK && ret->removed > 0) {
    st_cache_forget(table);
    status = remove_rows(database, table, ret->numbers, ret->removed);
  }
  free(ret->numbers);
  return status;
}

static enum base_status walk_long(struct st_database *database, struct st_table *table,
                                  size_t *rows, size_t *removed) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  struct looked looked;
  base_buffer_printf(&sql, "SELECT %s, 0, 1 FROM ", st_rowid_name(table));
  st_sql_name(&sql, table->name);
  base_buffer_puts(&sql, " WHERE ");
  st_sql_is_long(&sql, table->kind, database->timeline);
  base_buffer_printf(&sql, " AND %s<%" PRId64, st_sql_last(table->kind), table->walk_limit);
  if (!st_kind_is_event(table->kind)) base_buffer_puts(&sql, " AND stop_lo IS NOT NULL");
  enum base_status status =
      look_and_remove(database, table, base_buffer_text(&sql), *rows, &looked);
  base_buffer_done(&sql);
  table->long_done = looked.rows < *rows;
  *rows -= looked.rows;
  *removed += looked.removed;
  return status;
}

/* False, *RET_OVER: there is no row left to be looked at. */
static enum base_status walk_table(struct st_database *database, struct st_table *table,
                                   size_t *rows, size_t *removed, bool *ret_over) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  struct looked looked;
  const char *start = st_sql_start(table->kind);
  base_buffer_printf(&sql, "SELECT %s, %s, %s<%" PRId64, st_rowid_name(table), start,
                     st_sql_last(table->kind), table->walk_limit);
  if (!st_kind_is_event(table->kind)) base_buffer_puts(&sql, " AND stop_lo IS NOT NULL");
  base_buffer_puts(&sql, " FROM ");
  st_sql_name(&sql, table->name);
  base_buffer_puts(&sql, " INDEXED BY ");
  st_sql_index(&sql, table->name);
  base_buffer_printf(&sql, " WHERE %s>=%" PRId64 " AND %s<%" PRId64 " ORDER BY %s", start,
                     table->walk_from, start, table->walk_limit, start);
  /* Of more rows of one time than are to be looked at some would never be: all of them are. */
  size_t most = *rows;
  enum base_status status;
  for (;;) {
    status = look_and_remove(database, table, base_buffer_text(&sql), most, &looked);
    *removed += looked.removed;
    bool stuck = looked.rows == most && looked.removed == 0 && looked.last == table->walk_from;
    if (status != BASE_OK || !stuck) break;
    most *= 2;
  }
  base_buffer_done(&sql);
  *ret_over = looked.rows < most;
  if (looked.rows > 0) table->walk_from = looked.last;
  *rows = *ret_over && looked.rows < *rows ? *rows - looked.rows : 0;
  return status;
}

static bool is_over(const struct net_rows *rows, net_chronon limit) {
  for (size_t i = 0; i < rows->count; i++)
    if (net_rows_row(rows, i)[1].i >= limit) return false;
  return true;
}

/* The first logged piece goes, if all of it is old; *RET_OVER: it is not, or there is none. */
static enum base_status walk_log(struct st_database *database, struct st_table *table,
                                 size_t *removed, bool *ret_over) {
  sqlite3_stmt *statement = NULL;
  *ret_over = true;
  if (!st_log_is_possible(database, table)) return BASE_OK;
  enum base_status status = st_prepare(database,
                                       "SELECT number, data FROM tq_log WHERE relation = ?1"
                                       " AND last < ?2 ORDER BY number LIMIT 1",
                                       false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
  sqlite3_bind_int64(statement, 2, table->walk_limit);
  int code = sqlite3_step(statement);
  struct net_rows rows;
  net_rows_init(&rows, table->layout);
  int64_t number = sqlite3_column_int64(statement, 0);
  bool any = code == SQLITE_ROW;
  if (!any && code != SQLITE_DONE) status = st_fail(database, "reading the log");
  /* What is damaged is nobody's to remove; who reads it is told. */
  any = any && status == BASE_OK &&
        st_rows_unpack(sqlite3_column_blob(statement, 1),
                       (size_t)sqlite3_column_bytes(statement, 1), database->strings, &rows) &&
        is_over(&rows, table->walk_limit);
  sqlite3_finalize(statement);
  if (any && status == BASE_OK) {
    *ret_over = false;
    *removed += rows.count;
    st_cache_forget(table);
    table->log_known = false;
    status =
        note(database, table, "DELETE FROM tq_log WHERE relation = ?1 AND number = ?2", &number, 1);
  }
  net_rows_done(&rows);
  return status;
}

static void begin_walk(struct st_database *database, struct st_table *table, net_chronon limit) {
  table->walking = true;
  table->long_done = false;
  if (table->came_old < table->done) table->done = table->came_old;
  table->came_old = NET_FOREVER;
  table->walk_limit = limit;
  table->walk_from = before(table->done, st_long_span(database->timeline));
}

enum base_status st_remove_old(struct st_database *database, const char *name, net_chronon limit,
                               size_t rows, size_t *ret_removed, bool *ret_done) {
  struct st_table *table = NULL;
  bool over = false;
  *ret_removed = 0;
  *ret_done = true;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_find(database, name, &table);
  if (status == BASE_OK) status = know(database, table);
  if (status != BASE_OK || st_rowid_name(table) == NULL) return status;
  if (!table->walking && limit <= table->done && table->came_old >= limit) return BASE_OK;
  if (!table->walking) begin_walk(database, table, limit);
  if (!table->long_done) status = walk_long(database, table, &rows, ret_removed);
  if (status == BASE_OK && table->long_done && rows > 0)
    status = walk_table(database, table, &rows, ret_removed, &over);
  if (status == BASE_OK && over) status = walk_log(database, table, ret_removed, &over);
  if (status == BASE_OK && over) {
    table->walking = false;
    table->done = table->walk_limit;
  }
  *ret_done = over;
  return status == BASE_OK ? note_removed(database, table, table->walk_limit, *ret_removed)
                           : status;
}

enum base_status st_remove_any(struct st_database *database, const char *name, size_t rows,
                               size_t *ret_removed, bool *ret_done) {
  struct st_table *table = NULL;
  struct looked looked;
  *ret_removed = 0;
  *ret_done = true;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_find(database, name, &table);
  if (status == BASE_OK) status = know(database, table);
  if (status != BASE_OK || table->view || st_rowid_name(table) == NULL) return status;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_printf(&sql, "SELECT %s, 0, 1 FROM ", st_rowid_name(table));
  st_sql_name(&sql, table->name);
  status = look_and_remove(database, table, base_buffer_text(&sql), rows, &looked);
  base_buffer_done(&sql);
  *ret_removed = looked.removed;
  *ret_done = looked.rows < rows;
  table->walking = false;
  table->walk_limit = NET_FOREVER;
  bool over = true;
  if (status == BASE_OK && *ret_done) status = walk_log(database, table, ret_removed, &over);
  *ret_done &= over;
  return status == BASE_OK ? note_removed(database, table, NET_FOREVER, *ret_removed) : status;
}

enum base_status st_count_old(struct st_database *database, const char *name, net_chronon limit,
                              int64_t most, int64_t *ret) {
  struct st_table *table = NULL;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  int64_t logged = 0;
  *ret = 0;
  enum base_status status = st_catalogue_find(database, name, &table);
  if (status != BASE_OK || table->view) return status;
  base_buffer_puts(&sql, "SELECT count(*) FROM (SELECT 1 FROM ");
  st_sql_name(&sql, table->name);
  base_buffer_printf(&sql, " WHERE %s<%" PRId64 " AND %s<%" PRId64, st_sql_start(table->kind),
                     limit, st_sql_last(table->kind), limit);
  if (!st_kind_is_event(table->kind)) base_buffer_puts(&sql, " AND stop_lo IS NOT NULL");
  base_buffer_printf(&sql, " LIMIT %" PRId64 ")", most);
  status = st_query_integer(database, base_buffer_text(&sql), 0, ret);
  if (status == BASE_OK && *ret < most && st_log_is_possible(database, table)) {
    base_buffer_clear(&sql);
    base_buffer_puts(&sql, "SELECT ifnull(sum(rows),0) FROM tq_log WHERE relation=");
    st_sql_text(&sql, table->name);
    base_buffer_printf(&sql, " AND last<%" PRId64, limit);
    status = st_query_integer(database, base_buffer_text(&sql), 0, &logged);
  }
  base_buffer_done(&sql);
  *ret = logged < most - *ret ? *ret + logged : most;
  return status;
}

bool st_waits(struct st_database *database, const char *name) {
  struct st_table *table = NULL;
  return st_catalogue_look(database, name, &table) == BASE_OK && table->waiting.count > 0;
}

enum base_status st_drop_waiting(struct st_database *database, const char *name, net_chronon limit,
                                 size_t *ret_removed) {
  struct st_table *table = NULL;
  *ret_removed = 0;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_look(database, name, &table);
  if (status == BASE_OK) status = know(database, table);
  if (status != BASE_OK || table->waiting.count == 0) return status;
  struct net_rows *rows = &table->waiting;
  size_t kept = 0;
  for (size_t i = 0; i < rows->count; i++) {
    const union net_slot *row = net_rows_row(rows, i);
    if (row[1].i < limit) continue;
    if (kept < i) memmove(net_rows_row(rows, kept), row, rows->layout->slot_count * sizeof *row);
    rows->marks[kept++] = rows->marks[i];
  }
  *ret_removed = rows->count - kept;
  table->drops |= *ret_removed > 0;
  rows->count = kept;
  if (*ret_removed > 0) st_cache_forget(table);
  return note_removed(database, table, limit, *ret_removed);
}

/* ---- what is not over ---- */

/* How long do rows last that are not long? It is found out some rows at a time, so that nobody waits for it; until then
 * they may be as long as that. Rows that are logged before it begins are waited for. */
enum { ROWS_TO_LOOK_AT = 8192 };

static enum base_status measure_more(struct st_database *database, struct st_table *table) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  sqlite3_stmt *statement = NULL;
  const char *rowid = st_rowid_name(table);
  if (rowid == NULL) return BASE_OK;
  base_buffer_printf(&sql, "SELECT %s, %s, %s FROM ", rowid, st_sql_start(table->kind),
                     st_sql_last(table->kind));
  st_sql_name(&sql, table->name);
  base_buffer_printf(&sql, " WHERE %s>%" PRId64 " ORDER BY %s LIMIT %d", rowid,
                     table->widest_to - 1, rowid, ROWS_TO_LOOK_AT);
  enum base_status status = st_prepare(database, base_buffer_text(&sql), false, &statement);
  base_buffer_done(&sql);
  if (status != BASE_OK) return status;
  int rows = 0, code;
  for (; (code = sqlite3_step(statement)) == SQLITE_ROW; rows++) {
    int64_t start = sqlite3_column_int64(statement, 1), last = sqlite3_column_int64(statement, 2);
    int64_t lasts, number = sqlite3_column_int64(statement, 0);
    if (!__builtin_sub_overflow(last, start, &lasts) && lasts > table->widest &&
        lasts <= st_long_span(database->timeline))
      table->widest = lasts;
    table->widest_to = number < INT64_MAX - 1 ? number + 1 : number;
  }
  if (code != SQLITE_DONE) status = st_fail(database, "looking how long rows last");
  if (status == BASE_OK && rows < ROWS_TO_LOOK_AT) table->widest_to = INT64_MAX;
  database->measuring |= table->widest_to != INT64_MAX;
  sqlite3_finalize(statement);
  return status;
}

/* *RET: how long a row that is not long may last. */
static enum base_status measure(struct st_database *database, struct st_table *table,
                                int64_t *ret) {
  int64_t version = 0, logged = 0, longest = st_long_span(database->timeline);
  *ret = longest;
  enum base_status status = st_query_integer(database, "PRAGMA data_version", 0, &version);
  if (version != table->widest_version) table->widest_to = 0;
  table->widest_version = version;
  if (status != BASE_OK || table->widest_to == INT64_MAX) goto out;
  if (table->widest_to == 0 && st_log_is_possible(database, table)) {
    struct base_buffer sql = BASE_BUFFER_EMPTY;
    base_buffer_puts(&sql, "SELECT EXISTS (SELECT 1 FROM tq_log WHERE relation=");
    st_sql_text(&sql, table->name);
    base_buffer_putc(&sql, ')');
    status = st_query_integer(database, base_buffer_text(&sql), 0, &logged);
    base_buffer_done(&sql);
  }
  if (status == BASE_OK && !logged && table->widest_to == 0) table->widest_to = 1;
  if (status == BASE_OK && !logged) status = measure_more(database, table);
out:
  if (table->widest_to == INT64_MAX && table->widest < longest) *ret = table->widest;
  return status;
}

bool st_goes_on_measuring(struct st_database *database) {
  bool measuring = database->measuring;
  database->measuring = false;
  return measuring;
}

/* Rows that are logged are not looked at: they are behind the first of them. */
static enum base_status first_logged(struct st_database *database, const struct st_table *table,
                                     net_chronon *ret) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  int64_t first = NET_FOREVER;
  if (!st_log_is_possible(database, table)) return BASE_OK;
  base_buffer_puts(&sql, "SELECT first FROM tq_log WHERE relation=");
  st_sql_text(&sql, table->name);
  base_buffer_puts(&sql, " ORDER BY number LIMIT 1");
  enum base_status status = st_query_integer(database, base_buffer_text(&sql), NET_FOREVER, &first);
  base_buffer_done(&sql);
  if (first < *ret) *ret = first;
  return status;
}

enum base_status st_earliest_alive(struct st_database *database, const char *name, net_chronon time,
                                   net_chronon *ret) {
  struct st_table *table = NULL;
  int64_t lasts = 0, first = NET_FOREVER;
  enum base_status status = st_catalogue_look(database, name, &table);
  if (status == BASE_OK && !table->view) status = measure(database, table, &lasts);
  *ret = before(time, lasts);
  if (status != BASE_OK || table->view) return status;
  for (size_t i = 0; i < table->waiting.count; i++) {
    const union net_slot *row = net_rows_row(&table->waiting, i);
    if (row[1].i >= time && row[0].i < *ret) *ret = row[0].i;
  }
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  /* With a bare column SQLite would walk the order of time for the first. */
  base_buffer_printf(&sql, "SELECT min(+%s) FROM ", st_sql_start(table->kind));
  st_sql_name(&sql, table->name);
  base_buffer_puts(&sql, " WHERE ");
  st_sql_is_long(&sql, table->kind, database->timeline);
  base_buffer_printf(&sql, " AND %s>=%" PRId64, st_sql_last(table->kind), time);
  status = st_query_integer(database, base_buffer_text(&sql), NET_FOREVER, &first);
  base_buffer_done(&sql);
  if (first < *ret) *ret = first;
  bool known = table->widest_to == INT64_MAX;
  return status == BASE_OK && !known ? first_logged(database, table, ret) : status;
}
