/* Relations that were destroyed and are large: their pages go a few at a time.
 *
 *      "R", "tq_R_set", "tq_R_long", indexes ──st_destroy──▶ "tq_gone_7", "tq_gone_7_0", "tq_gone_7_1", ...
 *                                                               │ st_remove_gone: some rows in each transaction
 *                                                               ▼ none left: the table is dropped
 *
 * To drop a table SQLite reads all of its pages, for as long as that takes. To give it another name takes no time: then
 * nothing speaks of it, R can be created again, and all of it happens in the transaction of whoever destroys. What is
 * still to go stands in the file as tables of that name, so the next program goes on after a crash.
 *
 * SQLite has no statement that renames an index. So the rows of sqlite_schema are changed, as its own ALTER TABLE does, and
 * as its manual describes for changes that ALTER TABLE cannot make; only texts that begin exactly as ours do, and it is looked
 * at what came of it. Whatever somebody has made otherwise, a trigger say, is no case for this: then the table is dropped. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "storage/ground.h"

#define GONE "tq_gone_"

/* ---- what has another name ---- */

struct object {
  bool index;
  char *name;
};

struct objects {
  struct object *items;
  size_t count, capacity;
};

static void objects_done(struct objects *objects) {
  for (size_t i = 0; i < objects->count; i++) free(objects->items[i].name);
  free(objects->items);
}

/* All of which sqlite_schema says that it belongs to the table NAME. */
static enum base_status find_objects(struct st_database *database, const char *name,
                                     struct objects *ret) {
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_prepare(database,
                                       "SELECT type, name FROM sqlite_schema"
                                       " WHERE tbl_name = ?1 COLLATE NOCASE",
                                       false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    const char *type = (const char *)sqlite3_column_text(statement, 0);
    const char *text = (const char *)sqlite3_column_text(statement, 1);
    base_grow(&ret->items, &ret->capacity, ret->count + 1, sizeof *ret->items);
    ret->items[ret->count++] =
        (struct object){strcmp(type ? type : "", "table") != 0, base_xstrdup(text ? text : "")};
  }
  if (code != SQLITE_DONE) status = st_fail(database, "reading the schema");
  sqlite3_finalize(statement);
  return status;
}

/* How the SQL of OBJECT of the table TABLE begins, if it is called NAME. */
static void sql_begin(struct base_buffer *sql, const struct object *object, bool unique,
                      const char *name, const char *table) {
  base_buffer_clear(sql);
  base_buffer_puts(
      sql, object->index ? unique ? "CREATE UNIQUE INDEX " : "CREATE INDEX " : "CREATE TABLE ");
  st_sql_name(sql, name);
  if (!object->index) return;
  base_buffer_puts(sql, " ON ");
  st_sql_name(sql, table);
}

/* How many rows of sqlite_schema have become others: 1 is right. */
static int change(struct st_database *database, const struct object *object, bool unique,
                  const char *table, const char *to, const char *to_table) {
  struct base_buffer is = BASE_BUFFER_EMPTY, becomes = BASE_BUFFER_EMPTY;
  sqlite3_stmt *statement = NULL;
  int changed = 0;
  sql_begin(&is, object, unique, object->name, table);
  sql_begin(&becomes, object, unique, to, to_table);
  if (sqlite3_prepare_v2(database->sqlite,
                         "UPDATE sqlite_schema SET sql = ?3 || substr(sql, length(?2) + 1),"
                         " name = ?4, tbl_name = ?5"
                         " WHERE name = ?1 AND substr(sql, 1, length(?2)) = ?2",
                         -1, &statement, NULL) == SQLITE_OK) {
    const char *const texts[] = {object->name, base_buffer_text(&is), base_buffer_text(&becomes),
                                 to, to_table};
    for (int i = 0; i < 5; i++) sqlite3_bind_text(statement, i + 1, texts[i], -1, SQLITE_TRANSIENT);
    if (sqlite3_step(statement) == SQLITE_DONE) changed = sqlite3_changes(database->sqlite);
  }
  sqlite3_finalize(statement);
  base_buffer_done(&is);
  base_buffer_done(&becomes);
  return changed;
}

static bool ask(struct st_database *database, const char *sql, int64_t *ret) {
  sqlite3_stmt *statement = NULL;
  bool answered = sqlite3_prepare_v2(database->sqlite, sql, -1, &statement, NULL) == SQLITE_OK &&
                  sqlite3_step(statement) == SQLITE_ROW;
  if (answered) *ret = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return answered;
}

/* SQLite reads the schema anew, and finds the table TO with all its indexes there. */
static bool is_renamed(struct st_database *database, const struct objects *objects,
                       const char *to) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  int64_t version, indexes = -1, any;
  bool is = ask(database, "PRAGMA schema_version", &version);
  base_buffer_printf(&sql, "PRAGMA schema_version=%" PRId64, version + 1);
  is = is && sqlite3_exec(database->sqlite, base_buffer_text(&sql), NULL, NULL, NULL) == SQLITE_OK;
  sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0, NULL);
  base_buffer_clear(&sql);
  base_buffer_printf(&sql, "SELECT count(*) FROM pragma_index_list('%s')", to);
  is = is && ask(database, base_buffer_text(&sql), &indexes);
  base_buffer_clear(&sql);
  base_buffer_printf(&sql, "SELECT EXISTS (SELECT 1 FROM %s)", to);
  is = is && ask(database, base_buffer_text(&sql), &any);
  base_buffer_done(&sql);
  return is && indexes == (int64_t)objects->count - 1;
}

/* What ANALYZE, of whoever has run it, says of TABLE would be taken for true of the next one of that name. */
static bool forget_statistics(struct st_database *database, const char *table) {
  static const char *const statistics[] = {"sqlite_stat1", "sqlite_stat4"};
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  bool forgotten = true;
  for (int i = 0; i < 2 && forgotten; i++) {
    int64_t there = 0;
    base_buffer_clear(&sql);
    base_buffer_printf(&sql, "SELECT count(*) FROM sqlite_schema WHERE name = '%s'", statistics[i]);
    forgotten = ask(database, base_buffer_text(&sql), &there);
    if (!there) continue;
    sqlite3_stmt *statement = NULL;
    base_buffer_clear(&sql);
    base_buffer_printf(&sql, "DELETE FROM %s WHERE tbl = ?1 COLLATE NOCASE", statistics[i]);
    forgotten = sqlite3_prepare_v2(database->sqlite, base_buffer_text(&sql), -1, &statement,
                                   NULL) == SQLITE_OK;
    if (forgotten) sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
    forgotten = forgotten && sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_finalize(statement);
  }
  base_buffer_done(&sql);
  return forgotten;
}

/* False: it cannot be done, or was not done as expected. */
static bool rename_all(struct st_database *database, const struct objects *objects,
                       const char *table, const char *to) {
  struct base_buffer name = BASE_BUFFER_EMPTY;
  bool all = true;
  sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 1, NULL);
  for (size_t i = 0; i < objects->count && all; i++) {
    const struct object *object = &objects->items[i];
    base_buffer_clear(&name);
    base_buffer_puts(&name, to);
    if (object->index) base_buffer_printf(&name, "_%zu", i);
    int changed = change(database, object, true, table, base_buffer_text(&name), to);
    if (changed == 0 && object->index)
      changed = change(database, object, false, table, base_buffer_text(&name), to);
    all = changed == 1;
  }
  base_buffer_done(&name);
  all = all && forget_statistics(database, table) && is_renamed(database, objects, to);
  sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0, NULL);
  return all;
}

static enum base_status rename_table(struct st_database *database, const struct st_table *table,
                                     bool *ret_renamed) {
  struct objects objects = {0};
  char to[64];
  int64_t number = 0;
  enum base_status status =
      st_query_integer(database,
                       "SELECT max(CAST(substr(name, 9) AS INTEGER)) FROM sqlite_schema"
                       " WHERE type = 'table' AND name GLOB '" GONE "[0-9]*'",
                       0, &number);
  snprintf(to, sizeof to, GONE "%" PRId64, number + 1);
  if (status == BASE_OK) status = find_objects(database, table->name, &objects);
  if (status == BASE_OK) status = st_run(database, "SAVEPOINT tq_renaming", "a savepoint");
  if (status == BASE_OK) {
    *ret_renamed = rename_all(database, &objects, table->name, to);
    if (!*ret_renamed && !sqlite3_get_autocommit(database->sqlite))
      status = st_run(database, "ROLLBACK TO tq_renaming", "a savepoint");
    if (status == BASE_OK) status = st_run(database, "RELEASE tq_renaming", "a savepoint");
  }
  objects_done(&objects);
  return status;
}

enum base_status st_put_away(struct st_database *database, const struct st_table *table,
                             bool *ret_done) {
  const char *rowid = st_rowid_name(table);
  int64_t rows = 0;
  *ret_done = false;
  /* Rows are found by their numbers, whatever the table's columns are called. */
  if (table->unusable || table->view || rowid == NULL) return BASE_OK;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  for (int i = 0; i < 2; i++) {
    base_buffer_printf(&sql, "%s(SELECT %s(%s) FROM ", i ? "-" : "SELECT ", i ? "min" : "max",
                       rowid);
    st_sql_name(&sql, table->name);
    base_buffer_putc(&sql, ')');
  }
  enum base_status status = st_query_integer(database, base_buffer_text(&sql), 0, &rows);
  base_buffer_done(&sql);
  if (status != BASE_OK || rows < database->gone_rows) return status;
  status = rename_table(database, table, ret_done);
  database->has_gone |= *ret_done;
  return status;
}

/* ---- what goes ---- */

/* The first table that is to go, and how its rows' numbers are called; an empty name: there is none. */
static enum base_status find_gone(struct st_database *database, struct base_buffer *name,
                                  struct base_buffer *rowid) {
  sqlite3_stmt *statement = NULL;
  enum base_status status =
      st_prepare(database,
                 "SELECT s.name, (SELECT column1 FROM (VALUES ('rowid'), ('_rowid_'), ('oid'))"
                 " WHERE column1 NOT IN (SELECT lower(name) FROM pragma_table_xinfo(s.name)))"
                 " FROM sqlite_schema AS s WHERE type = 'table' AND name GLOB '" GONE
                 "[0-9]*' ORDER BY s.rowid LIMIT 1",
                 false, &statement);
  if (status != BASE_OK) return status;
  int code = sqlite3_step(statement);
  if (code == SQLITE_ROW) {
    const char *text = (const char *)sqlite3_column_text(statement, 1);
    base_buffer_puts(name, (const char *)sqlite3_column_text(statement, 0));
    base_buffer_puts(rowid, text ? text : "");
  } else if (code != SQLITE_DONE) {
    status = st_fail(database, "reading the schema");
  }
  sqlite3_finalize(statement);
  return status;
}

static enum base_status drop(struct st_database *database, const char *name) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(&sql, "DROP TABLE ");
  st_sql_name(&sql, name);
  enum base_status status = st_run(database, base_buffer_text(&sql), "removing what was destroyed");
  base_buffer_done(&sql);
  return status;
}

/* Rows in the order of their numbers, so that page after page becomes empty. */
static enum base_status remove_some(struct st_database *database, const char *name,
                                    const char *rowid, size_t rows, size_t *ret_removed) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(&sql, "DELETE FROM ");
  st_sql_name(&sql, name);
  base_buffer_printf(&sql, " WHERE %s IN (SELECT %s FROM ", rowid, rowid);
  st_sql_name(&sql, name);
  base_buffer_printf(&sql, " ORDER BY %s LIMIT %zu)", rowid, rows);
  enum base_status status = st_run(database, base_buffer_text(&sql), "removing what was destroyed");
  *ret_removed = status == BASE_OK ? (size_t)sqlite3_changes(database->sqlite) : 0;
  base_buffer_done(&sql);
  return status;
}

enum base_status st_remove_gone(struct st_database *database, size_t rows, size_t *ret_removed) {
  struct base_buffer name = BASE_BUFFER_EMPTY, rowid = BASE_BUFFER_EMPTY;
  *ret_removed = 0;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = find_gone(database, &name, &rowid);
  if (status == BASE_OK) database->has_gone = name.length > 0;
  if (status == BASE_OK && database->has_gone) {
    bool whole = rows == SIZE_MAX || rowid.length == 0;
    if (!whole)
      status = remove_some(database, base_buffer_text(&name), base_buffer_text(&rowid), rows,
                           ret_removed);
    if (status == BASE_OK && *ret_removed < rows) status = drop(database, base_buffer_text(&name));
  }
  base_buffer_done(&name);
  base_buffer_done(&rowid);
  return status;
}

bool st_has_gone(const struct st_database *database) {
  return database->has_gone;
}

enum base_status st_gone_open(struct st_database *database) {
  int64_t count = 0;
  enum base_status status = st_query_integer(
      database,
      "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name GLOB '" GONE "[0-9]*'", 0,
      &count);
  database->has_gone = count > 0;
  return status;
}
