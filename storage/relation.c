/* Rows in and out of one relation: put, close, clear, take.
 *
 * put and close are what a feed does with every record, so their statements are prepared once per
 * relation and bound in place; strings are bound without a copy and the statement is reset before
 * the call returns. A layout's fields are matched to the relation's domains by name; the match is
 * remembered and only checked the next time, whatever layout comes then.
 *
 * An open row's stop_lo is NULL. close finds the one it is given through the whole of the index and
 * updates it in place. Everything unusual (no such row, a row like the closed one there already) goes
 * the long way: take the open row out, put the closed one in.                                      */
#include <inttypes.h>
#include <stdlib.h>

#include "storage/internal.h"

static void append_fields(struct base_buffer *sql, const struct st_table *table,
                          const struct net_layout *layout);

/* ---- values ---- */

/* Binds the value at SLOT of BASE to the parameters FIRST (and three more of a temporal value).
 * Strings are not copied: the statement must be stepped before the table of strings is swept. */
static void bind_value(struct st_database *database, sqlite3_stmt *statement, int first,
                       enum net_base_type base, const union net_slot *slot) {
  size_t length;
  const char *text;
  switch (base) {
    case NET_INTEGER:
    case NET_BOOL:
      sqlite3_bind_int64(statement, first, slot->i);
      return;
    case NET_FLOAT:
      sqlite3_bind_double(statement, first, slot->f);
      return;
    case NET_STRING:
    case NET_NAME:
      text = base_strings_text(database->strings, slot->s, &length);
      sqlite3_bind_text64(statement, first, text, length, SQLITE_STATIC, SQLITE_UTF8);
      return;
    case NET_BYTES:
      text = base_strings_text(database->strings, slot->s, &length);
      sqlite3_bind_blob64(statement, first, text, length, SQLITE_STATIC);
      return;
    case NET_TEMPORAL:
      for (int part = 0; part < 4; part++)
        sqlite3_bind_double(statement, first + part, slot[part].f);
      return;
    case NET_INSTANT:
      break;
  }
  BASE_CHECK(false, "storage-domain-can-be-stored");
}

char *st_column_text(struct base_arena *arena, sqlite3_stmt *statement, int column) {
  const char *text = (const char *)sqlite3_column_text(statement, column);
  return base_arena_strndup(arena, text ? text : "",
                            (size_t)sqlite3_column_bytes(statement, column));
}

static int column_type(enum net_base_type base) {
  switch (base) {
    case NET_FLOAT:
    case NET_TEMPORAL:
      return SQLITE_FLOAT;
    case NET_STRING:
    case NET_NAME:
      return SQLITE_TEXT;
    case NET_BYTES:
      return SQLITE_BLOB;
    case NET_INTEGER:
    case NET_BOOL:
    case NET_INSTANT:
      break;
  }
  return SQLITE_INTEGER;
}

/* The value that stands at a column of STATEMENT. It is looked at several times, which sqlite3_column_... would
 * each look for anew; nobody else uses the connection meanwhile. */
static sqlite3_value *value_at(sqlite3_stmt *statement, int column) {
  return sqlite3_column_value(statement, column);
}

/* VALUE as that of TYPE, which has one slot or is a part of a temporal value, into SLOT. */
static const char *take_part(struct st_database *database, sqlite3_value *value,
                             struct net_type type, union net_slot *slot) {
  const char *text;
  switch (type.base) {
    case NET_INTEGER:
      slot->i = sqlite3_value_int64(value);
      return type.width == 0 || type.width == 8 ? NULL
                                                : net_value_check(database->strings, type, *slot);
    case NET_BOOL:
      slot->i = sqlite3_value_int64(value);
      break;
    case NET_FLOAT:
    case NET_TEMPORAL:
      slot->f = sqlite3_value_double(value);
      break;
    case NET_STRING:
    case NET_NAME:
      text = (const char *)sqlite3_value_text(value);
      slot->s = base_strings_intern(database->strings, text ? text : "",
                                    (size_t)sqlite3_value_bytes(value));
      break;
    case NET_BYTES:
      text = sqlite3_value_blob(value);
      slot->s = base_strings_intern(database->strings, text ? text : "",
                                    (size_t)sqlite3_value_bytes(value));
      break;
    case NET_INSTANT:
      BASE_CHECK(false, "storage-domain-can-be-stored");
  }
  return net_value_check(database->strings, type, *slot);
}

/* The value of FIELD at column FIRST into SLOT; why it can be none of that type. */
static const char *take_value(struct st_database *database, sqlite3_stmt *statement, int first,
                              const struct net_field *field, bool declared, union net_slot *slot) {
  struct net_type type = field->type;
  int wanted = column_type(type.base);
  unsigned parts = net_type_slots(type.base);
  const char *fault = NULL;
  if (!declared) type = (struct net_type){type.base == NET_NAME ? NET_STRING : type.base, 0};
  for (unsigned part = 0; part < parts && fault == NULL; part++) {
    sqlite3_value *value = value_at(statement, first + (int)part);
    if (sqlite3_value_type(value) != wanted) return "of another type";
    fault = take_part(database, value, type, slot + part);
  }
  return fault;
}

const char *st_column_row(struct st_database *database, sqlite3_stmt *statement, bool declared,
                          const struct net_layout *layout, union net_slot *row, uint8_t *ret_marks,
                          const struct net_field **ret_field) {
  int times = (int)layout->first_domain_slot;
  *ret_field = NULL;
  for (int i = 0; i < times; i++) {
    sqlite3_value *value = value_at(statement, i);
    int type = sqlite3_value_type(value);
    row[i].i = type == SQLITE_INTEGER ? sqlite3_value_int64(value) : NET_OPEN;
    if (type == SQLITE_INTEGER && (i != 2 || row[i].i != NET_OPEN)) continue;
    if (i != 2 || type != SQLITE_NULL) return "its times are no times";
  }
  const char *fault = st_times_fault(row, times);
  sqlite3_value *mark = value_at(statement, times);
  int64_t definite = sqlite3_value_int64(mark);
  if (!fault && (definite < 0 || definite > 1 || sqlite3_value_type(mark) != SQLITE_INTEGER))
    fault = "definite is neither 0 nor 1";
  int column = times + 1;
  for (uint32_t i = 0; !fault && i < layout->field_count; i++) {
    const struct net_field *field = &layout->fields[i];
    fault = take_value(database, statement, column, field, declared, row + field->slot);
    column += (int)net_type_slots(field->type.base);
    if (fault) *ret_field = field;
  }
  *ret_marks = definite ? NET_DEFINITE : 0;
  return fault;
}

struct refusal {
  struct st_database *database;
  const struct st_table *table;
};

static bool report_first(void *context, int64_t row, const char *fault) {
  const struct refusal *refusal = context;
  const struct st_table *table = refusal->table;
  base_report_hint(
      refusal->database->diags, MSG_NO_TUPLE, NULL, NULL,
      "correct or delete the row with sqlite3; tquel check-database names all such rows",
      "row %lld of %s is no tuple: %s", (long long)row, table->name, fault);
  return false;
}

enum base_status st_refuse_row(struct st_database *database, const struct st_table *table) {
  size_t before = database->diags->errors;
  struct refusal refusal = {database, table};
  enum base_status status = st_each_fault(database, table, report_first, &refusal);
  if (status == BASE_OK && database->diags->errors == before) /* it has been mended meanwhile */
    base_report(database->diags, MSG_NO_TUPLE, NULL, NULL,
                "a row of %s was no tuple, and has changed meanwhile", table->name);
  return status == BASE_CANCEL ? BASE_CANCEL : BASE_SYSTEM;
}

bool st_is_declared(const struct st_table *table) {
  return table->kind != ST_DERIVED_EVENT && table->kind != ST_DERIVED_PERIOD;
}

enum base_status st_each_fault(struct st_database *database, const struct st_table *table,
                               bool (*on_fault)(void *context, int64_t row, const char *fault),
                               void *context) {
  const char *rowid = st_rowid_name(table);
  struct base_arena *arena = base_arena_new();
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  sqlite3_stmt *statement = NULL;
  const struct net_field *field = NULL;
  union net_slot *row = BASE_NEW_ARRAY(arena, table->layout->slot_count, union net_slot);
  uint8_t marks;
  bool more = true;
  base_buffer_puts(&sql, "SELECT ");
  st_sql_times(&sql, table->kind);
  base_buffer_puts(&sql, ",definite");
  append_fields(&sql, table, table->layout);
  base_buffer_printf(&sql, ",%s FROM ", rowid ? rowid : "-1");
  st_sql_name(&sql, table->name);
  enum base_status status = st_prepare(database, base_buffer_text(&sql), false, &statement);
  base_buffer_done(&sql);
  int last = sqlite3_column_count(statement) - 1;
  int code = SQLITE_DONE;
  while (status == BASE_OK && more && (code = sqlite3_step(statement)) == SQLITE_ROW) {
    const char *fault = st_column_row(database, statement, st_is_declared(table), table->layout,
                                      row, &marks, &field);
    if (fault && field) fault = base_arena_printf(arena, "%s is %s", field->name, fault);
    if (fault) more = on_fault(context, sqlite3_column_int64(statement, last), fault);
  }
  if (status == BASE_OK && more && code != SQLITE_DONE)
    status = st_fail(database, "reading a relation");
  sqlite3_finalize(statement);
  base_arena_free(arena);
  return status;
}

/* Appends the columns of LAYOUT's fields, each with a comma in front. */
static void append_fields(struct base_buffer *sql, const struct st_table *table,
                          const struct net_layout *layout) {
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const struct st_domain *domain = st_domain_of(table, layout->fields[i].name);
    BASE_CHECK(domain, "storage-layout-field-is-a-domain");
    BASE_CHECK(domain->type.base == layout->fields[i].type.base, "storage-layout-type-agrees");
    st_sql_domains(sql, domain, 1);
  }
}

void st_sql_select(struct base_buffer *sql, const struct st_table *table,
                   const struct net_layout *layout) {
  base_buffer_puts(sql, "SELECT ");
  st_sql_times(sql, table->kind);
  base_buffer_puts(sql, ",definite");
  append_fields(sql, table, layout);
  base_buffer_puts(sql, " FROM ");
  st_sql_name(sql, table->name);
}

/* ---- statements ---- */

void st_table_reset(struct st_table *table) {
  sqlite3_finalize(table->put);
  sqlite3_finalize(table->put_all);
  sqlite3_finalize(table->find_open);
  sqlite3_finalize(table->close_open);
  sqlite3_finalize(table->take_open);
  sqlite3_finalize(table->remove);
  table->put = table->put_all = table->remove = NULL;
  table->find_open = table->close_open = table->take_open = NULL;
}

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

/* Which field of LAYOUT is which domain. */
void st_match_fields(struct st_table *table, const struct net_layout *layout) {
  BASE_CHECK(layout->field_count == table->domain_count, "storage-layout-has-the-domains");
  BASE_CHECK((layout->tuple_class == NET_EVENT) == st_kind_is_event(table->kind),
             "storage-layout-class-agrees");
  for (size_t i = 0; i < table->domain_count; i++) {
    const struct st_domain *domain = &table->domains[i];
    uint32_t field = table->field_of[i];
    if (field >= layout->field_count ||
        sqlite3_stricmp(layout->fields[field].name, domain->name) != 0) {
      int found = net_layout_find(layout, domain->name);
      BASE_CHECK(found >= 0, "storage-layout-has-the-domains");
      field = table->field_of[i] = (uint32_t)found;
    }
    BASE_CHECK(layout->fields[field].type.base == domain->type.base, "storage-layout-type-agrees");
  }
}

void st_bind_row(struct st_database *database, const struct st_table *table,
                 sqlite3_stmt *statement, const struct net_layout *layout,
                 const union net_slot *row, bool definite) {
  int times = (int)layout->first_domain_slot;
  for (int i = 0; i < times; i++) {
    if (i == 2 && row[i].i == NET_OPEN)
      sqlite3_bind_null(statement, i + 1);
    else
      sqlite3_bind_int64(statement, i + 1, row[i].i);
  }
  sqlite3_bind_int(statement, times + 1, definite);
  int parameter = times + 2;
  for (size_t i = 0; i < table->domain_count; i++) {
    const struct net_field *field = &layout->fields[table->field_of[i]];
    bind_value(database, statement, parameter, field->type.base, row + field->slot);
    parameter += (int)st_domain_columns(&table->domains[i]);
  }
}

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
  st_keep_added(database, table, row);
  if (table->cached && table->cache_grows)
    st_cache_put(database, table, st_row_of_table(table, layout, row), marks);
  else
    st_cache_forget(table);
  return status;
}

/* What SQLite gives back: it has no negative zero. */
static void copy_value(union net_slot *to, enum net_base_type base, const union net_slot *from) {
  bool real = base == NET_FLOAT || base == NET_TEMPORAL;
  for (unsigned part = 0; part < net_type_slots(base); part++) {
    to[part] = from[part];
    if (real && to[part].f == 0) to[part].f = 0;
  }
}

const union net_slot *st_row_of_table(struct st_table *table, const struct net_layout *layout,
                                      const union net_slot *row) {
  for (uint32_t i = 0; i < layout->first_domain_slot; i++) table->row[i] = row[i];
  for (uint32_t i = 0; i < table->layout->field_count; i++)
    copy_value(table->row + table->layout->fields[i].slot, table->layout->fields[i].type.base,
               row + layout->fields[table->field_of[i]].slot);
  return table->row;
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

void st_note_equal(const struct st_database *database, struct st_table *table, size_t count) {
  if (table->equal_in != database->begun) table->equal = 0;
  table->equal_in = database->begun;
  table->equal += count;
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
  st_keep_added(database, table, row);
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

static enum base_status write_checkpoint(struct st_database *database, struct st_table *table) {
  enum base_status status = BASE_OK;
  table->checkpoint_waits = false;
  if (!database->checkpoint)
    status = st_prepare(database,
                        "INSERT INTO tq_checkpoint (relation, checkpoint) VALUES (?1, ?2)"
                        " ON CONFLICT (relation) DO UPDATE SET checkpoint = ?2",
                        true, &database->checkpoint);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(database->checkpoint, 1, table->name, -1, SQLITE_STATIC);
  sqlite3_bind_int64(database->checkpoint, 2, table->checkpoint);
  return st_step_done(database, database->checkpoint, "noting a checkpoint");
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

static enum base_status write_passed(struct st_database *database, struct st_table *table) {
  enum base_status status = BASE_OK;
  table->passed_waits = false;
  if (!database->passed)
    status = st_prepare(database, "UPDATE tq_checkpoint SET passed = ?2 WHERE relation = ?1", true,
                        &database->passed);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(database->passed, 1, table->name, -1, SQLITE_STATIC);
  sqlite3_bind_int64(database->passed, 2, table->passed);
  return st_step_done(database, database->passed, "noting what was passed");
}

enum base_status st_checkpoints_flush(struct st_database *database) {
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < database->table_count && status == BASE_OK; i++) {
    struct st_table *table = database->tables[i];
    if (table->checkpoint_waits) status = write_checkpoint(database, table);
    if (status == BASE_OK && table->passed_waits) status = write_passed(database, table);
  }
  return status;
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
      bind_value(database, statement, (int)k + 1, table->domains[by->fields[k]].type.base,
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
