/* Rows that come live and many: written as they are first, put into their relation's table later.
 *
 *      append ──▶ waiting ──(flush)──▶ few: "R"
 *                                └───▶ many: tq_log, in pieces (log.c) ──(fold)──▶ "R"
 *
 * Rows of event relations that a checkpoint has passed wait in memory until the transaction is
 * committed, or somebody looks (st_catalogue_find), or there are many of them. Then they are put in
 * order, and a few go to their table, as ever. Of many SQLite would ask too much, one by one in table
 * and index: they are written into the log, in the same transaction as everything else, so what was
 * committed is as durable here as there. They are folded into the table, and so seen by others' SQL, when
 * the session has nothing else to do (st_fold), when it ends, and before anything but another append
 * changes the relation.
 *
 * Invariants
 *   - What would not start behind all rows of the table is put there, after the log was folded.
 *   - While pieces of a relation wait, nothing else goes into its table.
 *   - No more than so many of a relation wait: whoever appends more folds as much. */
#include <stdlib.h>
#include <string.h>

#include "storage/relations.h"

enum { DROPPED_WAIT = 16 };

/* ---- come ---- */

/* Rows of TABLE's own layout, with nothing that SQLite would give back otherwise? */
static bool is_as_stored(const struct st_table *table, const struct net_layout *layout) {
  if (layout->slot_count != table->layout->slot_count) return false;
  for (uint32_t i = 0; i < table->layout->field_count; i++) {
    const struct net_field *field = &table->layout->fields[i];
    if (table->field_of[i] != i || layout->fields[i].slot != field->slot ||
        field->type.base == NET_FLOAT || field->type.base == NET_TEMPORAL)
      return false;
  }
  return true;
}

enum base_status st_relation_append(struct net_store *store, const char *relation,
                                    const struct net_rows *rows) {
  struct st_database *database = (struct st_database *)store;
  struct st_table *table = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_look(database, relation, &table);
  if (status != BASE_OK || rows->count == 0) return status;
  st_match_fields(table, rows->layout);
  if (!table->waiting.layout) net_rows_init(&table->waiting, table->layout);
  table->changes++;
  database->appended += rows->count;
  for (size_t i = 0; i < rows->count; i++) st_row_came(database, table, net_rows_row(rows, i));
  if (is_as_stored(table, rows->layout)) {
    net_rows_add_all(&table->waiting, rows->rows, rows->marks, rows->count);
    return BASE_OK;
  }
  for (size_t i = 0; i < rows->count; i++)
    net_rows_add_copy(&table->waiting, st_row_of_table(table, rows->layout, net_rows_row(rows, i)),
                      rows->marks[i]);
  return BASE_OK;
}

/* ---- out of the log ---- */

/* The piece at which STATEMENT (number, rows, whole, data) stands goes into TABLE. */
static enum base_status fold_piece(struct st_database *database, struct st_table *table,
                                   sqlite3_stmt *statement, sqlite3_stmt *forget) {
  int64_t number = sqlite3_column_int64(statement, 0);
  struct net_rows rows;
  net_rows_init(&rows, table->layout);
  const void *bytes = sqlite3_column_blob(statement, 3);
  size_t length = (size_t)sqlite3_column_bytes(statement, 3);
  enum base_status status = BASE_OK;
  if (!st_rows_unpack(bytes, length, database->strings, &rows))
    status = st_row_damaged(database, table->name, "logged rows");
  sqlite3_reset(statement);
  if (status == BASE_OK) status = st_put_all(database, table, &rows);
  if (status == BASE_OK) {
    sqlite3_bind_int64(forget, 1, number);
    status = st_step_done(database, forget, "emptying the log");
  }
  net_rows_done(&rows);
  return status;
}

/* ROWS of the logged rows of TABLE go into the table, and as many as a whole checkpoint needs. */
static enum base_status fold_some(struct st_database *database, struct st_table *table,
                                  int64_t rows) {
  sqlite3_stmt *statement = NULL, *forget = NULL;
  bool whole = true;
  enum base_status status = st_log_know(database, table);
  if (status != BASE_OK || table->log_rows == 0) return status;
  status = st_prepare(database,
                      "SELECT number, rows, whole, data FROM tq_log WHERE relation = ?1"
                      " ORDER BY number LIMIT 1",
                      false, &statement);
  if (status == BASE_OK)
    status = st_prepare(database, "DELETE FROM tq_log WHERE number = ?1", false, &forget);
  while (status == BASE_OK && (rows > 0 || !whole)) {
    sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
    int code = sqlite3_step(statement);
    if (code == SQLITE_DONE) break;
    if (code != SQLITE_ROW) {
      status = st_fail(database, "reading the log");
      break;
    }
    int64_t count = sqlite3_column_int64(statement, 1);
    whole = sqlite3_column_int(statement, 2);
    rows -= count;
    status = fold_piece(database, table, statement, forget);
  }
  sqlite3_finalize(statement);
  sqlite3_finalize(forget);
  table->log_known = false;
  return status;
}

enum base_status st_log_fold(struct st_database *database, struct st_table *table) {
  return st_log_takes(table) ? fold_some(database, table, INT64_MAX) : BASE_OK;
}

/* ---- out of memory ---- */

/* Do the rows that wait start behind all that is there? */
static enum base_status are_behind(struct st_database *database, const struct st_table *table,
                                   bool *ret) {
  net_chronon first = net_rows_row(&table->waiting, 0)[0].i, last = table->log_last;
  bool any = table->log_rows > 0;
  enum base_status status = BASE_OK;
  if (!any) {
    sqlite3_stmt *statement = NULL;
    struct base_buffer sql = BASE_BUFFER_EMPTY;
    base_buffer_puts(&sql, "SELECT max(at_lo) FROM ");
    st_sql_name(&sql, table->name);
    status = st_prepare(database, sql.data, false, &statement);
    base_buffer_done(&sql);
    if (status != BASE_OK) return status;
    if (sqlite3_step(statement) != SQLITE_ROW) {
      status = st_fail(database, "looking for the last time");
    } else {
      any = sqlite3_column_type(statement, 0) != SQLITE_NULL;
      last = sqlite3_column_int64(statement, 0);
    }
    sqlite3_finalize(statement);
  }
  *ret = !any || first > last;
  return status;
}

/* Has a row what SQLite takes for no value, and refuses? */
static bool has_no_number(const struct net_rows *rows) {
  const struct net_layout *layout = rows->layout;
  for (uint32_t f = 0; f < layout->field_count; f++) {
    if (layout->fields[f].type.base != NET_FLOAT) continue;
    for (size_t i = 0; i < rows->count; i++) {
      double value = net_rows_row(rows, i)[layout->fields[f].slot].f;
      if (value != value) return true;
    }
  }
  return false;
}

/* Are the rows that wait to be logged? What they exceed the log's bound by is folded. */
static enum base_status choose(struct st_database *database, struct st_table *table, bool *ret) {
  size_t count = table->waiting.count;
  *ret = false;
  if (!st_log_takes(table) || has_no_number(&table->waiting)) return BASE_OK;
  enum base_status status = st_log_know(database, table);
  if (status != BASE_OK || (table->log_rows == 0 && count < database->log.least)) return status;
  status = are_behind(database, table, ret);
  if (status == BASE_OK && !*ret) status = st_log_fold(database, table);
  if (status == BASE_OK && *ret && (size_t)table->log_rows + count > database->log.most)
    status = fold_some(database, table, 2 * (int64_t)count);
  return status;
}

static enum base_status put_waiting(struct st_database *database, struct st_table *table) {
  enum base_status status = st_put_all(database, table, &table->waiting);
  if (status == BASE_OK)
    st_note_equal(database, table,
                  table->waiting.count - (size_t)sqlite3_changes64(database->sqlite));
  if (status == BASE_OK && table->cached && table->cache_grows)
    st_cache_put_rows(database, table, &table->waiting);
  else
    st_cache_forget(table);
  return status;
}

static enum base_status flush(struct st_database *database, struct st_table *table) {
  bool logged = false;
  if (table->waiting.count == 0) return BASE_OK;
  size_t came = table->waiting.count;
  st_rows_order(&table->waiting, database->strings);
  st_note_equal(database, table, came - table->waiting.count);
  enum base_status status = choose(database, table, &logged);
  if (status == BASE_OK && logged) {
    status = st_log_write(database, table);
    st_cache_forget(table);
  } else if (status == BASE_OK) {
    status = put_waiting(database, table);
  }
  if (table->waiting.layout) table->waiting.count = 0;
  return status;
}

enum base_status st_log_flush_all(struct st_database *database) {
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < database->table_count && status == BASE_OK; i++)
    status = flush(database, database->tables[i]);
  return status;
}

enum base_status st_log_flush_many(struct st_database *database, struct st_table *table) {
  /* Of what is kept for an age most need not be written, when it is committed. */
  size_t most = table->drops ? DROPPED_WAIT * database->log.flush : database->log.flush;
  return table->waiting.count < most ? BASE_OK : flush(database, table);
}

/* ---- who looks ---- */

enum base_status st_catalogue_find(struct st_database *database, const char *name,
                                   struct st_table **ret) {
  enum base_status status = st_catalogue_look(database, name, ret);
  return status == BASE_OK ? flush(database, *ret) : status;
}

enum base_status st_logged(struct st_database *database, const char *name, int64_t *ret) {
  struct st_table *table = NULL;
  bool any = false;
  enum base_status status = st_catalogue_find(database, name, &table);
  if (status == BASE_OK) status = st_log_any(database, table, &any);
  *ret = any ? table->log_rows : 0;
  return status;
}

/* ---- when there is time ---- */

/* How many rows of all relations wait in the log. */
static enum base_status count_logged(struct st_database *database, int64_t *ret) {
  enum base_status status = BASE_OK;
  *ret = 0;
  for (size_t i = 0; i < database->table_count && status == BASE_OK; i++) {
    struct st_table *table = database->tables[i];
    if (!st_log_takes(table) || table->view) continue;
    status = st_log_know(database, table);
    *ret += table->log_rows;
  }
  return status;
}

/* Of ROWS rows, all LOGGED rows having the same right, TABLE's share. */
static int64_t share(const struct st_table *table, size_t rows, int64_t logged) {
  if (rows >= (size_t)logged) return table->log_rows;
  return 1 + (int64_t)((double)table->log_rows / (double)logged * (double)rows);
}

enum base_status st_fold(struct st_database *database, size_t rows, size_t *ret_done,
                         size_t *ret_left) {
  int64_t logged = 0, left = 0;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_log_flush_all(database);
  if (status == BASE_OK) status = count_logged(database, &logged);
  for (size_t i = 0; i < database->table_count && status == BASE_OK && logged > 0; i++) {
    struct st_table *table = database->tables[i];
    if (table->log_known && table->log_rows > 0 && rows > 0)
      status = fold_some(database, table, share(table, rows, logged));
  }
  if (status == BASE_OK) status = count_logged(database, &left);
  *ret_done = status == BASE_OK ? (size_t)(logged - left) : 0;
  *ret_left = (size_t)left;
  return status;
}

uint64_t st_appended(const struct st_database *database) {
  return database->appended;
}

bool st_fold_is_due(struct st_database *database) {
  sqlite3_stmt *statement = NULL;
  if (database->readonly || database->version < 6 ||
      sqlite3_prepare_v2(database->sqlite, "SELECT 1 FROM tq_log LIMIT 1", -1, &statement, NULL) !=
          SQLITE_OK)
    return false;
  bool due = sqlite3_step(statement) == SQLITE_ROW;
  sqlite3_finalize(statement);
  return due;
}
