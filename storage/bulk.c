/* Many rows at once: rows in memory as a table that SQLite reads.
 *
 *      INSERT INTO "R"(...) SELECT c0,c1,... FROM tq_rows_7 ... ON CONFLICT ...
 *
 * "tq_rows_N" is a virtual table of N columns; what it shows are the rows that st_put_all was given, as
 * the columns of their relation's table. One statement then puts them all, without binding, stepping and
 * resetting one for each: half the time of prepared inserts. A module is made for each number of columns when
 * it is first needed. It exists in this connection only, and nobody can name it in a schema.
 *
 * The statement is INSERT OR ROLLBACK: a failure rolls the transaction back, as st_fail would; so SQLite need
 * not keep what the pages were before.                                                               */
#include <stdlib.h>
#include <string.h>

#include "engine/base/env.h"
#include "storage/rows.h"

struct rows_table {
  sqlite3_vtab base; /* first, so that it can be cast back */
  struct st_database *database;
};

struct rows_cursor {
  sqlite3_vtab_cursor base; /* first */
  const struct st_bulk *bulk;
  size_t at;
};

static int table_connect(sqlite3 *sqlite, void *context, int argument_count,
                         const char *const *arguments, sqlite3_vtab **ret, char **ret_error) {
  (void)ret_error;
  /* The module's name ends in the number of columns. */
  long columns = argument_count > 0 ? strtol(strrchr(arguments[0], '_') + 1, NULL, 10) : 0;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(&sql, "CREATE TABLE x(");
  for (long i = 0; i < columns; i++) base_buffer_printf(&sql, i ? ",c%ld" : "c%ld", i);
  base_buffer_putc(&sql, ')');
  int code = sqlite3_declare_vtab(sqlite, sql.data);
  base_buffer_done(&sql);
  if (code != SQLITE_OK) return code;
  sqlite3_vtab_config(sqlite, SQLITE_VTAB_DIRECTONLY);
  struct rows_table *table = base_xcalloc(1, sizeof *table);
  table->database = context;
  *ret = &table->base;
  return SQLITE_OK;
}

static int table_disconnect(sqlite3_vtab *table) {
  free(table);
  return SQLITE_OK;
}

static int table_plan(sqlite3_vtab *table, sqlite3_index_info *plan) {
  (void)table;
  plan->estimatedRows = 1000000;
  return SQLITE_OK;
}

static int cursor_open(sqlite3_vtab *table, sqlite3_vtab_cursor **ret) {
  (void)table;
  struct rows_cursor *cursor = base_xcalloc(1, sizeof *cursor);
  *ret = &cursor->base;
  return SQLITE_OK;
}

static int cursor_close(sqlite3_vtab_cursor *cursor) {
  free(cursor);
  return SQLITE_OK;
}

static int cursor_begin(sqlite3_vtab_cursor *base, int number, const char *plan, int argument_count,
                        sqlite3_value **arguments) {
  (void)number, (void)plan, (void)argument_count, (void)arguments;
  struct rows_cursor *cursor = (struct rows_cursor *)base;
  cursor->bulk = ((struct rows_table *)base->pVtab)->database->bulk;
  cursor->at = 0;
  return SQLITE_OK;
}

static int cursor_next(sqlite3_vtab_cursor *base) {
  struct rows_cursor *cursor = (struct rows_cursor *)base;
  cursor->at++;
  return (cursor->at & 0xfff) == 0 && base_env_interrupted() ? SQLITE_INTERRUPT : SQLITE_OK;
}

static int cursor_at_end(sqlite3_vtab_cursor *base) {
  const struct rows_cursor *cursor = (const struct rows_cursor *)base;
  return !cursor->bulk || cursor->at >= cursor->bulk->rows->count;
}

static int cursor_column(sqlite3_vtab_cursor *base, sqlite3_context *result, int number) {
  const struct rows_cursor *cursor = (const struct rows_cursor *)base;
  const struct st_bulk *bulk = cursor->bulk;
  const union net_slot *row = net_rows_row(bulk->rows, cursor->at);
  int times = (int)bulk->rows->layout->first_domain_slot;
  if (number < times) {
    if (number == 2 && row[2].i == NET_OPEN)
      sqlite3_result_null(result);
    else
      sqlite3_result_int64(result, row[number].i);
    return SQLITE_OK;
  }
  if (number == times) {
    sqlite3_result_int(result, bulk->rows->marks[cursor->at] & NET_DEFINITE);
    return SQLITE_OK;
  }
  /* Behind `definite`, the columns are the slots of the layout. */
  const union net_slot *slot = row + number - 1;
  size_t length;
  const char *text;
  switch (bulk->types[number - times - 1]) {
    case NET_FLOAT:
    case NET_TEMPORAL:
      sqlite3_result_double(result, slot->f);
      break;
    case NET_STRING:
    case NET_NAME:
      text = base_strings_text(bulk->strings, slot->s, &length);
      sqlite3_result_text64(result, text, length, SQLITE_STATIC, SQLITE_UTF8);
      break;
    case NET_BYTES:
      text = base_strings_text(bulk->strings, slot->s, &length);
      sqlite3_result_blob64(result, text, length, SQLITE_STATIC);
      break;
    case NET_INTEGER:
    case NET_BOOL:
    case NET_INSTANT:
      sqlite3_result_int64(result, slot->i);
      break;
  }
  return SQLITE_OK;
}

static int cursor_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *ret) {
  *ret = (sqlite3_int64)((const struct rows_cursor *)base)->at;
  return SQLITE_OK;
}

static const sqlite3_module rows_module = {.xConnect = table_connect,
                                           .xBestIndex = table_plan,
                                           .xDisconnect = table_disconnect,
                                           .xDestroy = table_disconnect,
                                           .xOpen = cursor_open,
                                           .xClose = cursor_close,
                                           .xFilter = cursor_begin,
                                           .xNext = cursor_next,
                                           .xEof = cursor_at_end,
                                           .xColumn = cursor_column,
                                           .xRowid = cursor_rowid};

static enum base_status prepare(struct st_database *database, struct st_table *table) {
  uint32_t columns = table->layout->slot_count + 1;
  struct base_buffer module = BASE_BUFFER_EMPTY, sql = BASE_BUFFER_EMPTY;
  base_buffer_printf(&module, "tq_rows_%u", columns);
  enum base_status status = BASE_OK;
  if (sqlite3_create_module(database->sqlite, module.data, &rows_module, database) != SQLITE_OK)
    status = st_fail(database, "preparing to add rows");
  base_buffer_puts(&sql, "INSERT OR ROLLBACK INTO ");
  st_sql_name(&sql, table->name);
  base_buffer_putc(&sql, '(');
  st_sql_times(&sql, table->kind);
  base_buffer_puts(&sql, ",definite");
  st_sql_domains(&sql, table->domains, table->domain_count);
  base_buffer_puts(&sql, ") SELECT ");
  for (uint32_t i = 0; i < columns; i++) base_buffer_printf(&sql, i ? ",c%u" : "c%u", i);
  base_buffer_printf(&sql,
                     " FROM %s WHERE true"
                     " ON CONFLICT DO UPDATE SET definite=1 WHERE definite<excluded.definite",
                     module.data);
  if (status == BASE_OK) status = st_prepare(database, sql.data, true, &table->put_all);
  base_buffer_done(&module);
  base_buffer_done(&sql);
  return status;
}

enum base_status st_put_all(struct st_database *database, struct st_table *table,
                            const struct net_rows *rows) {
  enum base_status status = table->put_all ? BASE_OK : prepare(database, table);
  if (status != BASE_OK) return status;
  const struct net_layout *layout = table->layout;
  uint32_t slots = layout->slot_count - layout->first_domain_slot;
  struct st_bulk bulk = {rows, database->strings, base_xcalloc(slots + 1, sizeof *bulk.types)};
  for (uint32_t i = 0; i < layout->field_count; i++)
    for (uint32_t part = 0; part < net_type_slots(layout->fields[i].type.base); part++)
      bulk.types[layout->fields[i].slot - layout->first_domain_slot + part] =
          layout->fields[i].type.base;
  database->bulk = &bulk;
  status = st_step_done(database, table->put_all, "adding a row");
  for (size_t i = 0; i < rows->count; i++) st_row_came(database, table, net_rows_row(rows, i));
  database->bulk = NULL;
  free(bulk.types);
  return status;
}
