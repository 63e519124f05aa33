/* Rows in and out of one relation: put, close, clear, take.
 *
 * put and close are what a feed does with every record, so their statements are prepared once per
 * relation and bound in place (row.c), and reset before the call returns.
 *
 * An open row's stop_lo is NULL. close finds the one it is given through the whole of the index and
 * updates it in place. Everything unusual (no such row, a row like the closed one there already) goes
 * the long way: take the open row out, put the closed one in.                                      */
#include <inttypes.h>
#include <stdlib.h>

#include "storage/relations.h"

/* ---- statements ---- */

/* COUNT parameters from number FIRST on: "?3,?4". */
static void sql_parameters(struct base_buffer *sql, int first, int count) {
  for (int i = 0; i < count; i++) base_buffer_printf(sql, i ? ",?%d" : "?%d", first + i);
}

static int domain_columns(const struct st_table *table) {
  unsigned columns = 0;
  for (size_t i = 0; i < table->domain_count; i++) columns += st_domain_columns(&table->domains[i]);
  return (int)columns;
}

/* Parameters: times, definite, domains. */
static enum base_status prepare_put(struct st_database *database, struct st_table *table) {
  int times = st_kind_is_event(table->kind) ? 2 : 4;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(&sql, "INSERT INTO ");
  st_sql_name(&sql, table->name);
  base_buffer_putc(&sql, '(');
  st_sql_times(&sql, table->kind);
  base_buffer_puts(&sql, ",definite");
  st_sql_domains(&sql, table->domains, table->domain_count);
  base_buffer_puts(&sql, ") VALUES(");
  sql_parameters(&sql, 1, times + 1 + domain_columns(table));
  base_buffer_puts(&sql, ") ON CONFLICT DO UPDATE SET definite=1 WHERE definite<excluded.definite");
  enum base_status status = st_prepare(database, sql.data, true, &table->put);
  base_buffer_done(&sql);
  return status;
}

/* WHERE the row is the open one in the parameters: ?1, ?2 its start, ?4 its stop_hi, ?6... its domains;
 * found through the set's index. A vector, because a long chain of ANDs would be too deep for SQLite's
 * parser.                                                                                          */
static void sql_where_open(struct base_buffer *sql, const struct st_table *table) {
  base_buffer_puts(sql, " INDEXED BY ");
  st_sql_index(sql, table->name);
  base_buffer_puts(sql, " WHERE (start_lo,start_hi," ST_OPEN_KEY ",stop_hi");
  st_sql_domains(sql, table->domains, table->domain_count);
  base_buffer_puts(sql, ")=(?1,?2," ST_OPEN_VALUE ",?4");
  int columns = domain_columns(table);
  if (columns) base_buffer_putc(sql, ',');
  sql_parameters(sql, 6, columns);
  base_buffer_putc(sql, ')');
}

/* One UPDATE with the WHERE above would collect the rows it finds in a table of its own first and
 * guard against half of them failing; two statements are twice as fast.
 *   find_open    parameters as in put; the row's number, if it is there
 *   close_open   parameters: number, stop_lo, stop_hi, definite                                  */
static enum base_status prepare_close_in_place(struct st_database *database, struct st_table *table,
                                               const char *rowid) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_printf(&sql, "SELECT %s FROM ", rowid);
  st_sql_name(&sql, table->name);
  sql_where_open(&sql, table);
  enum base_status status = st_prepare(database, sql.data, true, &table->find_open);
  base_buffer_clear(&sql);
  base_buffer_puts(&sql, "UPDATE ");
  st_sql_name(&sql, table->name);
  base_buffer_printf(&sql, " SET stop_lo=?2,stop_hi=?3,definite=?4 WHERE %s=?1", rowid);
  if (status == BASE_OK) status = st_prepare(database, sql.data, true, &table->close_open);
  base_buffer_done(&sql);
  return status;
}

/* The long way. Parameters as in put; a row if one was deleted. */
static enum base_status prepare_take(struct st_database *database, struct st_table *table) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(&sql, "DELETE FROM ");
  st_sql_name(&sql, table->name);
  sql_where_open(&sql, table);
  base_buffer_puts(&sql, " RETURNING 1");
  enum base_status status = st_prepare(database, sql.data, true, &table->take_open);
  base_buffer_done(&sql);
  return status;
}

/* ---- writing ---- */

static enum base_status put_row(struct st_database *database, struct st_table *table,
                                const struct net_layout *layout, const union net_slot *row,
                                bool definite) {
  if (!table->put) {
    enum base_status status = prepare_put(database, table);
    if (status != BASE_OK) return status;
  }
  st_bind_row(database, table, table->put, layout, row, definite);
  return st_step_done(database, table->put, "adding a row");
}

enum base_status st_relation_put(struct net_store *store, const char *relation,
                                 const struct net_layout *layout, const union net_slot *row,
                                 uint8_t marks) {
  struct st_database *database = (struct st_database *)store;
  struct st_table *table = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_find(database, relation, &table);
  if (status == BASE_OK) status = st_log_fold(database, table);
  if (status != BASE_OK) return status;
  st_match_fields(table, layout);
  status = put_row(database, table, layout, row, marks & NET_DEFINITE);
  if (status == BASE_OK && sqlite3_changes64(database->sqlite) == 0)
    st_note_equal(database, table, 1);
  st_row_came(database, table, row);
  if (table->cached && table->cache_grows)
    st_cache_put(database, table, st_row_of_table(table, layout, row), marks);
  else
    st_cache_forget(table);
  return status;
}

static enum base_status is_empty(struct st_database *database, const struct st_table *table,
                                 bool *ret) {
  int64_t empty = 0;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(&sql, "SELECT NOT EXISTS (SELECT 1 FROM ");
  st_sql_name(&sql, table->name);
  base_buffer_putc(&sql, ')');
  enum base_status status = st_query_integer(database, sql.data, 0, &empty);
  base_buffer_done(&sql);
  *ret = empty != 0;
  return status;
}

enum base_status st_relation_put_rows(struct net_store *store, const char *relation,
                                      const struct net_rows *rows) {
  struct st_database *database = (struct st_database *)store;
  struct st_table *table = NULL;
  enum base_status status = st_put_rows(database, relation, rows);
  if (status != BASE_OK || database->rows_equal == 0) return status;
  status = st_catalogue_look(database, relation, &table);
  if (status == BASE_OK) st_note_equal(database, table, database->rows_equal);
  return status;
}

enum base_status st_put_rows(struct st_database *database, const char *name,
                             const struct net_rows *rows) {
  struct st_table *table = NULL;
  bool empty = false;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_find(database, name, &table);
  database->rows_equal = 0;
  if (status != BASE_OK || rows->count == 0) return status;
  status = st_log_fold(database, table);
  if (status == BASE_OK && !table->cached) status = is_empty(database, table, &empty);
  if (status != BASE_OK) return status;
  struct net_rows ordered = {.layout = table->layout};
  base_grow(&ordered.rows, &ordered.capacity, rows->count,
            table->layout->slot_count * sizeof *ordered.rows);
  ordered.marks = base_xmalloc(ordered.capacity);
  st_match_fields(table, rows->layout);
  for (size_t i = 0; i < rows->count; i++)
    net_rows_add_copy(&ordered, st_row_of_table(table, rows->layout, net_rows_row(rows, i)),
                      rows->marks[i] & NET_DEFINITE);
  st_rows_order(&ordered, database->strings);
  status = st_put_all(database, table, &ordered);
  if (status == BASE_OK) {
    database->rows_equal = rows->count - (size_t)sqlite3_changes64(database->sqlite);
    if (empty) st_cache_begin_empty(database, table, false);
    st_cache_put_rows(database, table, &ordered);
  }
  net_rows_done(&ordered);
  return status;
}

size_t st_rows_equal(const struct st_database *database) {
  return database->rows_equal;
}

uint64_t st_fed_equal(struct st_database *database, const char *name) {
  struct st_table *table = NULL;
  if (st_catalogue_look(database, name, &table) != BASE_OK) return 0;
  return table->equal_in == database->begun ? table->equal : 0;
}

/* The number of the open row OPEN; *RET_FOUND false: it is not there. */
static enum base_status find_open(struct st_database *database, struct st_table *table,
                                  const struct net_layout *layout, const union net_slot *open,
                                  bool *ret_found, int64_t *ret_number) {
  enum base_status status = BASE_OK;
  st_bind_row(database, table, table->find_open, layout, open, false);
  int code = sqlite3_step(table->find_open);
  *ret_found = code == SQLITE_ROW;
  if (code == SQLITE_ROW)
    *ret_number = sqlite3_column_int64(table->find_open, 0);
  else if (code != SQLITE_DONE)
    status = st_fail(database, "looking for an open period");
  sqlite3_reset(table->find_open);
  return status;
}

/* The usual case of close. BASE_END: there is no such row. *RET_DONE false: nothing was changed, the
 * long way is needed. */
static enum base_status close_in_place(struct st_database *database, struct st_table *table,
                                       const struct net_layout *layout, const union net_slot *open,
                                       const union net_slot *row, bool definite, bool *ret_done) {
  const char *rowid = st_rowid_name(table);
  enum base_status status = BASE_OK;
  bool found = false;
  int64_t number = 0;
  if (!rowid) return BASE_OK;
  if (!table->close_open) status = prepare_close_in_place(database, table, rowid);
  if (status == BASE_OK) status = find_open(database, table, layout, open, &found, &number);
  if (status != BASE_OK) return status;
  if (!found) return BASE_END;
  sqlite3_bind_int64(table->close_open, 1, number);
  if (row[2].i == NET_OPEN)
    sqlite3_bind_null(table->close_open, 2);
  else
    sqlite3_bind_int64(table->close_open, 2, row[2].i);
  sqlite3_bind_int64(table->close_open, 3, row[3].i);
  sqlite3_bind_int(table->close_open, 4, definite);
  int code = sqlite3_step(table->close_open);
  *ret_done = code == SQLITE_DONE;
  if (code != SQLITE_DONE && code != SQLITE_CONSTRAINT_UNIQUE)
    status = st_fail(database, "closing a period");
  sqlite3_reset(table->close_open);
  return status;
}

static enum base_status take_and_put(struct st_database *database, struct st_table *table,
                                     const struct net_layout *layout, const union net_slot *open,
                                     const union net_slot *row, bool definite) {
  enum base_status status = table->take_open ? BASE_OK : prepare_take(database, table);
  if (status != BASE_OK) return status;
  bool found = false;
  st_bind_row(database, table, table->take_open, layout, open, definite);
  int code;
  while ((code = sqlite3_step(table->take_open)) == SQLITE_ROW) found = true;
  if (code != SQLITE_DONE) status = st_fail(database, "closing a period");
  sqlite3_reset(table->take_open);
  if (status == BASE_OK && !found) return BASE_END;
  return status == BASE_OK ? put_row(database, table, layout, row, definite) : status;
}

enum base_status st_relation_close(struct net_store *store, const char *relation,
                                   const struct net_layout *layout, const union net_slot *open,
                                   const union net_slot *row, uint8_t marks) {
  struct st_database *database = (struct st_database *)store;
  struct st_table *table = NULL;
  bool done = false;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_find(database, relation, &table);
  if (status != BASE_OK) return status;
  BASE_CHECK(layout->tuple_class == NET_PERIOD, "storage-close-of-a-period");
  BASE_CHECK(open[2].i == NET_OPEN, "storage-close-of-an-open-row");
  st_cache_forget(table);
  st_match_fields(table, layout);
  status = close_in_place(database, table, layout, open, row, marks & NET_DEFINITE, &done);
  if (status == BASE_OK && !done)
    status = take_and_put(database, table, layout, open, row, marks & NET_DEFINITE);
  st_row_came(database, table, row);
  return status;
}

/* Nodes say it many times in a transaction; the last one is written. */
enum base_status st_relation_checkpoint(struct net_store *store, const char *relation,
                                        net_chronon time) {
  struct st_database *database = (struct st_database *)store;
  struct st_table *table = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_look(database, relation, &table);
  if (status == BASE_OK) status = st_log_flush_many(database, table);
  if (status != BASE_OK) return status;
  table->checkpoint_waits = true;
  table->checkpoint = time;
  return BASE_OK;
}

enum base_status st_set_passed(struct st_database *database, const char *name, net_chronon time) {
  struct st_table *table = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_look(database, name, &table);
  if (status != BASE_OK) return status;
  table->passed_waits = true;
  table->passed = time;
  return BASE_OK;
}

/* ---- a relation as a whole ---- */

enum base_status st_clear(struct st_database *database, const char *name) {
  struct st_table *table = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_find(database, name, &table);
  if (status == BASE_OK) status = st_log_clear(database, table);
  if (status != BASE_OK) return status;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(&sql, "DELETE FROM ");
  st_sql_name(&sql, table->name);
  status = st_run(database, sql.data, "clearing a relation");
  base_buffer_done(&sql);
  if (status == BASE_OK)
    st_cache_begin_empty(database, table, true);
  else
    st_cache_forget(table);
  return status;
}

/* The long ones by their index, the others among those that start so late: a relation is not read for the few rows of it
 * that are open. */
static void sql_of_open(struct base_buffer *sql, const struct st_database *database,
                        const struct st_table *table, net_chronon since) {
  net_chronon first;
  if (__builtin_sub_overflow(since, st_long_span(database->timeline), &first))
    first = NET_BEGINNING;
  for (int is_long = 1; is_long >= 0; is_long--) {
    base_buffer_puts(sql, "DELETE FROM ");
    st_sql_name(sql, table->name);
    base_buffer_printf(sql, " WHERE stop_lo IS NULL AND stop_hi>=%" PRId64, since);
    if (!is_long) base_buffer_printf(sql, " AND start_lo>=%" PRId64, first);
    base_buffer_puts(sql, is_long ? " AND " : " AND NOT ");
    if (!is_long) base_buffer_putc(sql, '(');
    st_sql_is_long(sql, table->kind, database->timeline);
    base_buffer_puts(sql, is_long ? ";" : ")");
  }
}

enum base_status st_clear_open(struct st_database *database, const char *name, net_chronon since) {
  struct st_table *table = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_find(database, name, &table);
  if (status != BASE_OK || st_kind_is_event(table->kind)) return status;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  sql_of_open(&sql, database, table, since);
  status = st_run(database, sql.data, "clearing what is open");
  base_buffer_done(&sql);
  st_cache_forget(table);
  return status;
}

/* ---- taking entities out ---- */

/* PREFIX1, PREFIX2, ... COUNT */
static void sql_of_list(struct base_buffer *sql, const char *prefix, size_t count) {
  for (size_t i = 1; i <= count; i++)
    base_buffer_printf(sql, "%s%s%zu", i > 1 ? "," : "", prefix, i);
}

/* Puts VALUES into the temporary table that the two statements below look into: one for each number of domains. */
static enum base_status choose_entities(struct st_database *database, const struct st_table *table,
                                        const struct net_key *by, const union net_slot *values,
                                        size_t entity_count) {
  sqlite3_stmt *statement = NULL;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_printf(&sql, "CREATE TEMP TABLE IF NOT EXISTS tq_entity_%zu (", by->count);
  sql_of_list(&sql, "value", by->count);
  base_buffer_printf(&sql, "); DELETE FROM temp.tq_entity_%zu", by->count);
  enum base_status status = st_run(database, base_buffer_text(&sql), "choosing entities");
  base_buffer_clear(&sql);
  base_buffer_printf(&sql, "INSERT INTO temp.tq_entity_%zu VALUES (", by->count);
  sql_of_list(&sql, "?", by->count);
  base_buffer_putc(&sql, ')');
  if (status == BASE_OK) status = st_prepare(database, base_buffer_text(&sql), false, &statement);
  base_buffer_done(&sql);
  for (size_t i = 0; status == BASE_OK && i < entity_count; i++) {
    for (size_t k = 0; k < by->count; k++)
      st_bind_value(database, statement, (int)k + 1, table->domains[by->fields[k]].type.base,
                    &values[i * by->count + k]);
    status = st_step_done(database, statement, "choosing entities");
  }
  sqlite3_finalize(statement);
  return status;
}

static void sql_of_entities(struct base_buffer *sql, const struct st_table *table,
                            const struct net_key *by, net_chronon from) {
  base_buffer_puts(sql, " WHERE (");
  for (size_t i = 0; i < by->count; i++) {
    if (i > 0) base_buffer_putc(sql, ',');
    st_sql_column(sql, &table->domains[by->fields[i]], 0);
  }
  base_buffer_printf(sql, ") IN (SELECT * FROM temp.tq_entity_%zu)", by->count);
  if (from != NET_BEGINNING)
    base_buffer_printf(sql, " AND (stop_lo IS NULL OR stop_hi>=%" PRId64 ")", from);
}

static enum base_status read_entities(struct st_database *database, const struct st_table *table,
                                      const struct net_layout *layout, const struct net_key *by,
                                      net_chronon from, struct net_rows *rows) {
  sqlite3_stmt *statement = NULL;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  st_sql_select(&sql, table, layout);
  sql_of_entities(&sql, table, by, from);
  base_buffer_puts(&sql, " ORDER BY ");
  st_sql_key(&sql, table);
  enum base_status status = st_prepare(database, sql.data, false, &statement);
  base_buffer_done(&sql);
  if (status != BASE_OK) return status;
  union net_slot *row = base_xcalloc(layout->slot_count, sizeof *row);
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    uint8_t marks;
    const struct net_field *field;
    if (st_column_row(database, statement, st_is_declared(table), layout, row, &marks, &field)) {
      status = st_refuse_row(database, table);
      break;
    }
    net_rows_add_copy(rows, row, marks);
  }
  if (status == BASE_OK && code != SQLITE_DONE) status = st_fail(database, "reading entities");
  free(row);
  sqlite3_finalize(statement);
  return status;
}

enum base_status st_take_entities(struct st_database *database, const char *name,
                                  const struct net_layout *layout, const struct net_key *by,
                                  const union net_slot *values, size_t entity_count,
                                  net_chronon from, struct net_rows *ret) {
  struct st_table *table = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_find(database, name, &table);
  if (status != BASE_OK) return status;
  for (size_t i = 0; i < by->count; i++) {
    BASE_CHECK(by->fields[i] < table->domain_count, "storage-by-is-a-domain");
    BASE_CHECK(st_domain_columns(&table->domains[by->fields[i]]) == 1, "storage-by-has-one-slot");
  }
  status = choose_entities(database, table, by, values, entity_count);
  if (status == BASE_OK) status = read_entities(database, table, layout, by, from, ret);
  if (status != BASE_OK) return status;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(&sql, "DELETE FROM ");
  st_sql_name(&sql, table->name);
  sql_of_entities(&sql, table, by, from);
  status = st_run(database, sql.data, "taking entities out");
  base_buffer_done(&sql);
  if (status != BASE_OK) return status;
  bool empty = st_cache_is_empty(table);
  if (!empty) status = is_empty(database, table, &empty);
  if (status == BASE_OK && empty)
    st_cache_begin_empty(database, table, true);
  else
    st_cache_forget(table);
  return status;
}
