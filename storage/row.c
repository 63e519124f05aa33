/* Rows as SQLite has them: a tuple's slots to a statement's parameters, and a statement's columns to slots.
 *
 *      times, definite, domains      of a table, in its order, to write; a layout's fields are matched to them by name, and
 *                                    the match is remembered, and only checked the next time, whatever layout comes then
 *      times, definite, fields       of a layout, to read: somebody may have edited the file, so what stands there is judged
 *
 * Strings are bound without a copy: whoever binds resets the statement before his call returns. */
#include <stdlib.h>

#include "storage/rows.h"

/* ---- in ---- */

/* Binds the value at SLOT of BASE to the parameters FIRST (and three more of a temporal value).
 * Strings are not copied: the statement must be stepped before the table of strings is swept. */
void st_bind_value(struct st_database *database, sqlite3_stmt *statement, int first,
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
    st_bind_value(database, statement, parameter, field->type.base, row + field->slot);
    parameter += (int)st_domain_columns(&table->domains[i]);
  }
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

/* ---- out ---- */

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

/* ---- what is no tuple ---- */

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
