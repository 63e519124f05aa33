/* The form of the file: the tq_ tables, and the SQL of a relation's table and index.
 *
 *      event       at_lo at_hi                              definite  domains ...
 *      all others  start_lo start_hi stop_lo stop_hi        definite  domains ...
 *
 * A temporal domain d is the four columns d_n0 d_n1 d_d0 d_d1. stop_lo is NULL as long as the stop
 * has not been seen; no other column is ever NULL. The unique index "tq_R_set" over the times and the
 * domains (not `definite`) makes the relation a set and gives the order of output; open rows are
 * unique in it through ifnull(stop_lo, NET_OPEN), which no known stop has.
 *
 * A change of any of this needs a new ST_SCHEMA_VERSION and a step that brings older files up.   */
#include <string.h>

#include "storage/ground.h"

static const char *const kind_texts[] = {
    [ST_SNAPSHOT] = "snapshot",
    [ST_EVENT] = "event",
    [ST_PERIOD] = "period",
    [ST_TRACED] = "traced",
    [ST_SAMPLED] = "sampled",
    [ST_DERIVED_EVENT] = "derived event",
    [ST_DERIVED_PERIOD] = "derived period",
};

const char *st_kind_text(enum st_kind kind) {
  return kind_texts[kind];
}

bool st_kind_parse(const char *text, enum st_kind *ret) {
  for (size_t i = 0; i < sizeof kind_texts / sizeof kind_texts[0]; i++) {
    if (strcmp(text, kind_texts[i]) != 0) continue;
    *ret = (enum st_kind)i;
    return true;
  }
  return false;
}

bool st_kind_is_event(enum st_kind kind) {
  return kind == ST_EVENT || kind == ST_DERIVED_EVENT;
}

const char *st_sql_start(enum st_kind kind) {
  return st_kind_is_event(kind) ? "at_lo" : "start_lo";
}

const char *st_sql_last(enum st_kind kind) {
  return st_kind_is_event(kind) ? "at_hi" : "stop_hi";
}

/* Appends what makes the relations' indexes anew, in which an open stop once counted as `beginning`. */
static enum base_status append_indexes(struct st_database *database, struct base_buffer *sql) {
  static const char query[] =
      "SELECT 'DROP INDEX \"' || replace(name, '\"', '\"\"') || '\"; ' ||"
      " replace(sql, 'ifnull(stop_lo,-9223372036854775808)', '" ST_OPEN_KEY
      "') || ';'"
      " FROM sqlite_master WHERE type = 'index' AND instr(sql, "
      "'ifnull(stop_lo,-9223372036854775808)')";
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_prepare(database, query, false, &statement);
  int code = SQLITE_DONE;
  while (status == BASE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
    const char *text = (const char *)sqlite3_column_text(statement, 0);
    if (text) base_buffer_puts(sql, text);
  }
  if (status == BASE_OK && code != SQLITE_DONE) status = st_fail(database, "reading the indexes");
  sqlite3_finalize(statement);
  return status;
}

/* Within a transaction: what an older file has not. */
enum base_status st_schema_upgrade(struct st_database *database) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  enum base_status status = BASE_OK;
  if (database->version < 2) status = append_indexes(database, &sql);
  for (int version = database->version + 1; version <= ST_SCHEMA_VERSION; version++) {
    base_buffer_printf(&sql, "%s ", st_schema_step(version));
    if (version == 3)
      base_buffer_printf(&sql,
                         "UPDATE tq_checkpoint SET passed = checkpoint"
                         " WHERE checkpoint > %lld AND checkpoint < %lld; ",
                         (long long)NET_OPEN, (long long)NET_FOREVER);
  }
  base_buffer_printf(&sql, "PRAGMA user_version=%d;", ST_SCHEMA_VERSION);
  if (status == BASE_OK) status = st_run(database, sql.data, "bringing the database up to date");
  base_buffer_done(&sql);
  return status;
}

/* Sets the database's timeline from the file. */
enum base_status st_schema_timeline(struct st_database *database, bool *ret_known) {
  int64_t timeline;
  enum base_status status =
      st_query_integer(database,
                       "SELECT CASE value WHEN 'real' THEN 0 WHEN 'abstract' THEN 1 END"
                       " FROM tq_setting WHERE name = 'timeline'",
                       -1, &timeline);
  if (status != BASE_OK) return status;
  *ret_known = timeline >= 0;
  if (timeline >= 0) database->timeline = timeline == 0 ? NET_TIMELINE_REAL : NET_TIMELINE_ABSTRACT;
  return BASE_OK;
}

/* ---- names ---- */

static void quoted(struct base_buffer *sql, const char *text, char quote) {
  base_buffer_putc(sql, quote);
  for (; *text; text++) {
    if (*text == quote) base_buffer_putc(sql, quote);
    base_buffer_putc(sql, *text);
  }
  base_buffer_putc(sql, quote);
}

void st_sql_name(struct base_buffer *sql, const char *name) {
  quoted(sql, name, '"');
}

void st_sql_text(struct base_buffer *sql, const char *text) {
  quoted(sql, text, '\'');
}

void st_sql_index(struct base_buffer *sql, const char *relation) {
  struct base_buffer name = BASE_BUFFER_EMPTY;
  base_buffer_printf(&name, "tq_%s_set", relation);
  st_sql_name(sql, name.data);
  base_buffer_done(&name);
}

/* ---- columns ---- */

static const char *const temporal_parts[] = {"_n0", "_n1", "_d0", "_d1"};

unsigned st_domain_columns(const struct st_domain *domain) {
  return net_type_slots(domain->type.base);
}

void st_sql_column(struct base_buffer *sql, const struct st_domain *domain, unsigned part) {
  if (domain->type.base != NET_TEMPORAL) {
    st_sql_name(sql, domain->name);
    return;
  }
  struct base_buffer name = BASE_BUFFER_EMPTY;
  base_buffer_puts(&name, domain->name);
  base_buffer_puts(&name, temporal_parts[part]);
  st_sql_name(sql, name.data);
  base_buffer_done(&name);
}

void st_sql_domains(struct base_buffer *sql, const struct st_domain *domains, size_t count) {
  for (size_t i = 0; i < count; i++)
    for (unsigned part = 0; part < st_domain_columns(&domains[i]); part++) {
      base_buffer_putc(sql, ',');
      st_sql_column(sql, &domains[i], part);
    }
}

void st_sql_times(struct base_buffer *sql, enum st_kind kind) {
  base_buffer_puts(sql,
                   st_kind_is_event(kind) ? "at_lo,at_hi" : "start_lo,start_hi,stop_lo,stop_hi");
}

static void sql_key(struct base_buffer *sql, enum st_kind kind, const struct st_domain *domains,
                    size_t count) {
  base_buffer_puts(
      sql, st_kind_is_event(kind) ? "at_lo,at_hi" : "start_lo,start_hi," ST_OPEN_KEY ",stop_hi");
  st_sql_domains(sql, domains, count);
}

void st_sql_key(struct base_buffer *sql, const struct st_table *table) {
  sql_key(sql, table->kind, table->domains, table->domain_count);
}

static const char *column_type(enum net_base_type base) {
  switch (base) {
    case NET_INTEGER:
      return " INTEGER NOT NULL";
    case NET_BOOL:
      return " INTEGER NOT NULL";
    case NET_FLOAT:
    case NET_TEMPORAL:
      return " REAL NOT NULL";
    case NET_STRING:
    case NET_NAME:
      return " TEXT NOT NULL";
    case NET_BYTES:
      return " BLOB NOT NULL";
    case NET_INSTANT:
      break;
  }
  BASE_CHECK(false, "storage-domain-can-be-stored");
  return NULL;
}

void st_sql_create(struct base_buffer *sql, const struct st_relation *relation) {
  base_buffer_puts(sql, "CREATE TABLE ");
  st_sql_name(sql, relation->name);
  base_buffer_puts(sql, st_kind_is_event(relation->kind)
                            ? "(at_lo INTEGER NOT NULL,at_hi INTEGER NOT NULL"
                            : "(start_lo INTEGER NOT NULL,start_hi INTEGER NOT NULL,"
                              "stop_lo INTEGER,stop_hi INTEGER NOT NULL");
  base_buffer_puts(sql, ",definite INTEGER NOT NULL");
  for (size_t i = 0; i < relation->domain_count; i++)
    for (unsigned part = 0; part < st_domain_columns(&relation->domains[i]); part++) {
      base_buffer_putc(sql, ',');
      st_sql_column(sql, &relation->domains[i], part);
      base_buffer_puts(sql, column_type(relation->domains[i].type.base));
    }
  base_buffer_puts(sql, ") STRICT; CREATE UNIQUE INDEX ");
  st_sql_index(sql, relation->name);
  base_buffer_puts(sql, " ON ");
  st_sql_name(sql, relation->name);
  base_buffer_putc(sql, '(');
  sql_key(sql, relation->kind, relation->domains, relation->domain_count);
  base_buffer_puts(sql, ");");
}

/* --- what a relation and the catalogue are asked --- */

const struct st_domain *st_domain_of(const struct st_table *table, const char *name) {
  for (size_t i = 0; i < table->domain_count; i++)
    if (sqlite3_stricmp(table->domains[i].name, name) == 0) return &table->domains[i];
  return NULL;
}

const char *st_rowid_name(const struct st_table *table) {
  static const char *const names[] = {"rowid", "_rowid_", "oid"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (!st_domain_of(table, names[i])) return names[i];
  return NULL;
}

enum base_status st_index_exists(struct st_database *database, const char *name, bool *ret) {
  sqlite3_stmt *statement = NULL;
  *ret = false;
  enum base_status status =
      st_prepare(database, "SELECT 1 FROM tq_index WHERE name = ?1", false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, name, -1, SQLITE_TRANSIENT);
  int code = sqlite3_step(statement);
  *ret = code == SQLITE_ROW;
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    status = st_fail(database, "reading the catalogue");
  sqlite3_finalize(statement);
  return status;
}
