/* Rows out of a relation one by one: what delete and replace take away.
 *
 * A row is found through the whole of the set's index, as close finds an open one: by its times and
 * domains; `definite` does not count, since a relation has a tuple once. An unknown stop is found
 * under the number that stands for it in the index.                                                */
#include <inttypes.h>

#include "storage/relations.h"

/* VERB the row in the parameters, which are as in put (the third time is the stop that the index has). */
static enum base_status prepare(struct st_database *database, struct st_table *table,
                                const char *verb, sqlite3_stmt **ret) {
  int times = st_kind_is_event(table->kind) ? 2 : 4;
  int columns = 0;
  for (size_t i = 0; i < table->domain_count; i++)
    columns += (int)st_domain_columns(&table->domains[i]);
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(&sql, verb);
  base_buffer_puts(&sql, " FROM ");
  st_sql_name(&sql, table->name);
  base_buffer_puts(&sql, " INDEXED BY ");
  st_sql_index(&sql, table->name);
  base_buffer_puts(&sql, " WHERE (");
  st_sql_key(&sql, table);
  base_buffer_puts(&sql, ")=(");
  for (int i = 1; i <= times; i++) base_buffer_printf(&sql, i > 1 ? ",?%d" : "?%d", i);
  for (int i = 0; i < columns; i++) base_buffer_printf(&sql, ",?%d", times + 2 + i);
  base_buffer_putc(&sql, ')');
  enum base_status status = st_prepare(database, sql.data, true, ret);
  base_buffer_done(&sql);
  return status;
}

enum base_status st_remove(struct st_database *database, const char *name,
                           const struct net_layout *layout, const union net_slot *row) {
  struct st_table *table = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_find(database, name, &table);
  if (status == BASE_OK) status = st_log_fold(database, table);
  if (status != BASE_OK) return status;
  st_cache_forget(table);
  st_match_fields(table, layout);
  if (!table->remove) status = prepare(database, table, "DELETE", &table->remove);
  if (status != BASE_OK) return status;
  st_bind_row(database, table, table->remove, layout, row, true);
  if (layout->tuple_class == NET_PERIOD && row[2].i == NET_OPEN)
    sqlite3_bind_int64(table->remove, 3, NET_OPEN);
  return st_step_done(database, table->remove, "taking a row out");
}

enum base_status st_relation_remove(struct net_store *store, const char *relation,
                                    const struct net_layout *layout, const union net_slot *row) {
  return st_remove((struct st_database *)store, relation, layout, row);
}

enum base_status st_has(struct st_database *database, const char *name,
                        const struct net_layout *layout, const union net_slot *row, bool *ret) {
  struct st_table *table = NULL;
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_catalogue_find(database, name, &table);
  if (status == BASE_OK && database->in_transaction && !database->readonly)
    status = st_log_fold(database, table);
  if (status != BASE_OK) return status;
  st_match_fields(table, layout);
  status = prepare(database, table, "SELECT 1", &statement);
  if (status != BASE_OK) return status;
  st_bind_row(database, table, statement, layout, row, true);
  if (layout->tuple_class == NET_PERIOD && row[2].i == NET_OPEN)
    sqlite3_bind_int64(statement, 3, NET_OPEN);
  int code = sqlite3_step(statement);
  *ret = code == SQLITE_ROW;
  if (code != SQLITE_ROW && code != SQLITE_DONE) status = st_fail(database, "looking for a row");
  sqlite3_finalize(statement);
  return status;
}
