/* The log: rows of event relations that are not in their table yet, packed (packed.c) into pieces of tq_log.
 *
 * append.c says which rows those are, and puts them into the table.
 *
 * Invariants
 *   - The rows of a relation in the log are in the order of its index over all its pieces, each once,
 *     and start behind all rows of its table. (Somebody with sqlite3 may add rows to the table nevertheless:
 *     scans notice.)
 *   - A piece is folded with all that follow it up to one that is WHOLE: up to a checkpoint. So the
 *     table shows the relation as it was at some checkpoint, never half of one.
 *
 * One program writes a database, so it remembers what stands in the log; after a rollback it looks
 * again.                                                                                             */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "storage/rows.h"

/* --- what stands in the log --- */

bool st_log_takes(const struct st_table *table) {
  return table->kind == ST_EVENT;
}

enum base_status st_log_know(struct st_database *database, struct st_table *table) {
  sqlite3_stmt *statement = NULL;
  if (table->log_known) return BASE_OK;
  enum base_status status =
      st_prepare(database, "SELECT ifnull(sum(rows), 0), max(last) FROM tq_log WHERE relation = ?1",
                 false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
  if (sqlite3_step(statement) == SQLITE_ROW) {
    table->log_rows = sqlite3_column_int64(statement, 0);
    table->log_last = sqlite3_column_int64(statement, 1);
    table->log_known = true;
  } else {
    status = st_fail(database, "looking at the log");
  }
  sqlite3_finalize(statement);
  return status;
}

void st_log_forget(struct st_table *table) {
  net_rows_done(&table->waiting);
  table->checkpoint_waits = table->passed_waits = false;
  table->log_known = false;
}

void st_log_rolled_back(struct st_database *database) {
  for (size_t i = 0; i < database->table_count; i++) st_log_forget(database->tables[i]);
}

/* --- into the log --- */

static enum base_status write_piece(struct st_database *database, struct st_table *table,
                                    sqlite3_stmt *statement, size_t first, size_t count,
                                    bool whole) {
  const struct net_rows *rows = &table->waiting;
  struct base_buffer bytes = BASE_BUFFER_EMPTY;
  st_rows_pack(&bytes, database->strings, rows, first, count);
  sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
  sqlite3_bind_int64(statement, 2, net_rows_row(rows, first)[0].i);
  sqlite3_bind_int64(statement, 3, net_rows_row(rows, first + count - 1)[0].i);
  sqlite3_bind_int64(statement, 4, (int64_t)count);
  sqlite3_bind_int(statement, 5, whole);
  sqlite3_bind_blob64(statement, 6, bytes.data, bytes.length, SQLITE_STATIC);
  enum base_status status = st_step_done(database, statement, "writing the log");
  sqlite3_clear_bindings(statement);
  base_buffer_done(&bytes);
  return status;
}

enum base_status st_log_write(struct st_database *database, struct st_table *table) {
  const struct net_rows *rows = &table->waiting;
  size_t most = database->log.piece;
  enum base_status status = BASE_OK;
  if (!database->log_piece)
    status = st_prepare(database,
                        "INSERT INTO tq_log (relation, first, last, rows, whole, data)"
                        " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                        true, &database->log_piece);
  for (size_t at = 0; status == BASE_OK && at < rows->count; at += most) {
    size_t left = rows->count - at, count = left < most ? left : most;
    status = write_piece(database, table, database->log_piece, at, count, count == left);
  }
  if (status != BASE_OK) return status;
  table->log_rows += (int64_t)rows->count;
  table->log_last = net_rows_row(rows, rows->count - 1)[0].i;
  return BASE_OK;
}

enum base_status st_log_clear(struct st_database *database, struct st_table *table) {
  sqlite3_stmt *statement = NULL;
  if (!st_log_takes(table)) return BASE_OK;
  enum base_status status =
      st_prepare(database, "DELETE FROM tq_log WHERE relation = ?1", false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
  status = st_step_done(database, statement, "emptying the log");
  sqlite3_finalize(statement);
  table->log_known = false;
  return status;
}

/* --- reading --- */

void st_log_free(struct st_log *log) {
  if (!log) return;
  for (size_t i = 0; i < log->count; i++) free(log->pieces[i].bytes);
  free(log->pieces);
  base_arena_free(log->arena);
  free(log);
}

static void add_piece(struct st_log *log, sqlite3_stmt *statement) {
  size_t length = (size_t)sqlite3_column_bytes(statement, 2);
  if (log->count == 0) log->first = sqlite3_column_int64(statement, 0);
  log->rows += sqlite3_column_int64(statement, 1);
  base_grow(&log->pieces, &log->capacity, log->count + 1, sizeof *log->pieces);
  struct st_piece *piece = &log->pieces[log->count++];
  *piece = (struct st_piece){.bytes = base_xmalloc(length + 1), .length = length};
  if (length > 0) memcpy(piece->bytes, sqlite3_column_blob(statement, 2), length);
}

bool st_log_is_possible(const struct st_database *database, const struct st_table *table) {
  return database->version >= 6 && st_log_takes(table) && !table->view;
}

enum base_status st_log_any(struct st_database *database, struct st_table *table, bool *ret) {
  *ret = false;
  if (!st_log_is_possible(database, table)) return BASE_OK;
  if (database->readonly) table->log_known = false; /* others write it: it is looked at each time */
  enum base_status status = st_log_know(database, table);
  *ret = status == BASE_OK && table->log_rows > 0;
  return status;
}

enum base_status st_log_read(struct st_database *database, struct st_table *table,
                             struct st_log **ret) {
  bool any;
  *ret = NULL;
  enum base_status status = st_log_any(database, table, &any);
  if (status != BASE_OK || !any) return status;
  sqlite3_stmt *statement = NULL;
  status = st_prepare(database,
                      "SELECT first, rows, data FROM tq_log WHERE relation = ?1 ORDER BY number",
                      false, &statement);
  if (status != BASE_OK) return status;
  struct st_log *log = base_xcalloc(1, sizeof *log);
  log->arena = base_arena_new();
  log->layout = net_layout_new(log->arena, table->layout->tuple_class, table->layout->fields,
                               table->layout->field_count);
  log->relation = base_arena_strdup(log->arena, table->name);
  sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) add_piece(log, statement);
  if (code != SQLITE_DONE) status = st_fail(database, "reading the log");
  sqlite3_finalize(statement);
  if (status == BASE_OK && log->count > 0)
    *ret = log;
  else
    st_log_free(log);
  return status;
}

enum base_status st_log_rows(struct st_database *database, const struct st_log *log, size_t piece,
                             struct net_rows *ret) {
  const struct st_piece *from = &log->pieces[piece];
  return st_rows_unpack(from->bytes, from->length, database->strings, ret)
             ? BASE_OK
             : st_row_damaged(database, log->relation, "logged rows");
}

enum base_status st_log_each(struct st_database *database, struct st_table *table,
                             void (*look)(void *context, const struct net_rows *rows),
                             void *context) {
  struct st_log *log = NULL;
  enum base_status status = st_log_read(database, table, &log);
  for (size_t i = 0; log && i < log->count && status == BASE_OK; i++) {
    struct net_rows rows;
    net_rows_init(&rows, log->layout);
    status = st_log_rows(database, log, i, &rows);
    if (status == BASE_OK) look(context, &rows);
    net_rows_done(&rows);
  }
  st_log_free(log);
  return status;
}

enum base_status st_log_overlaps(struct st_database *database, const struct st_table *table,
                                 const struct st_log *log, bool *ret) {
  int64_t there = 0;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(&sql, "SELECT EXISTS (SELECT 1 FROM ");
  st_sql_name(&sql, table->name);
  base_buffer_printf(&sql, " WHERE at_lo>=%" PRId64 ")", log->first);
  enum base_status status = st_query_integer(database, sql.data, 0, &there);
  base_buffer_done(&sql);
  *ret = there != 0;
  return status;
}
