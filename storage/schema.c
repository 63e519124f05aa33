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

#include "storage/internal.h"

static const char *const schema =
    "CREATE TABLE tq_setting (name TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) STRICT;"
    "CREATE TABLE tq_relation ("
    "  id INTEGER PRIMARY KEY NOT NULL," /* in order of creation */
    "  name TEXT NOT NULL UNIQUE COLLATE NOCASE,"
    "  kind TEXT NOT NULL CHECK (kind IN ('snapshot', 'event', 'period', 'traced', 'sampled',"
    "                                     'derived event', 'derived period')),"
    "  by_domain INTEGER) STRICT;" /* position in tq_domain */
    "CREATE TABLE tq_domain ("
    "  relation TEXT NOT NULL COLLATE NOCASE, position INTEGER NOT NULL,"
    "  name TEXT NOT NULL, type TEXT NOT NULL, PRIMARY KEY (relation, position)) STRICT;"
    "CREATE TABLE tq_query ("
    "  name TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, text TEXT NOT NULL,"
    "  origin INTEGER) STRICT;" /* NULL: not fixed */
    "CREATE TABLE tq_query_input ("
    "  query TEXT NOT NULL COLLATE NOCASE, position INTEGER NOT NULL,"
    "  relation TEXT NOT NULL COLLATE NOCASE, PRIMARY KEY (query, position)) STRICT;"
    "CREATE TABLE tq_checkpoint ("
    "  relation TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, checkpoint INTEGER NOT NULL) STRICT;"
    "CREATE TABLE tq_feed ("
    "  relation TEXT NOT NULL COLLATE NOCASE, source TEXT NOT NULL, position INTEGER NOT NULL,"
    "  sequence INTEGER NOT NULL, PRIMARY KEY (relation, source)) STRICT;"
    "CREATE TABLE tq_pending ("
    "  relation TEXT NOT NULL COLLATE NOCASE, position INTEGER NOT NULL, marks INTEGER NOT NULL,"
    "  row BLOB NOT NULL, PRIMARY KEY (relation, position)) STRICT;";

/* What version 2 added. */
static const char *const schema_2 =
    "CREATE TABLE tq_view (name TEXT PRIMARY KEY NOT NULL COLLATE NOCASE) STRICT;"
    "CREATE TABLE tq_index ("
    "  name TEXT PRIMARY KEY NOT NULL COLLATE NOCASE," /* also that of the SQLite index */
    "  relation TEXT NOT NULL COLLATE NOCASE,"
    "  structure INTEGER NOT NULL) STRICT;" /* 1: made by modify, 0: by index */
    "CREATE TABLE tq_index_domain ("
    "  name TEXT NOT NULL COLLATE NOCASE, position INTEGER NOT NULL,"
    "  domain TEXT NOT NULL, PRIMARY KEY (name, position)) STRICT;"
    "CREATE TABLE tq_structure (" /* missing: time */
    "  relation TEXT PRIMARY KEY NOT NULL COLLATE NOCASE,"
    "  structure TEXT NOT NULL CHECK (structure IN ('heap', 'time', 'hash'))) STRICT;"
    "CREATE TABLE tq_rule ("
    "  relation TEXT NOT NULL COLLATE NOCASE,"
    "  kind TEXT NOT NULL CHECK (kind IN ('integrity', 'permit')),"
    "  number INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (relation, kind, number)) STRICT;"
    "CREATE TABLE tq_retention ("
    "  relation TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, until INTEGER NOT NULL) STRICT;";

/* What version 3 added: the latest finite checkpoint that was ever promised, also when all is closed at
 * forever; NULL: none. */
static const char *const schema_3 = "ALTER TABLE tq_checkpoint ADD COLUMN passed INTEGER;";

/* What version 4 added, in the place of a table of this name that was never written. */
static const char *const schema_4 =
    "DROP TABLE IF EXISTS tq_node_stats;"
    "CREATE TABLE tq_node_stats ("
    "  relation TEXT NOT NULL COLLATE NOCASE, node INTEGER NOT NULL,"
    "  kind TEXT NOT NULL, what TEXT NOT NULL, inputs TEXT NOT NULL,"
    "  fires INTEGER NOT NULL, rows_in INTEGER NOT NULL, rows_out INTEGER NOT NULL,"
    "  time_ns INTEGER NOT NULL,"
    "  state_rows INTEGER NOT NULL, state_rows_max INTEGER NOT NULL,"
    "  state_bytes INTEGER NOT NULL, state_bytes_max INTEGER NOT NULL,"
    "  PRIMARY KEY (relation, node)) STRICT;";

/* What version 5 added (source.c). */
static const char *const schema_5 =
    "CREATE TABLE tq_source ("
    "  identity TEXT PRIMARY KEY NOT NULL, host TEXT NOT NULL, number INTEGER NOT NULL,"
    "  gone INTEGER NOT NULL, seen INTEGER NOT NULL) STRICT;"
    "CREATE TABLE tq_pipe ("
    "  pipe INTEGER PRIMARY KEY NOT NULL, process TEXT NOT NULL, position INTEGER NOT NULL,"
    "  at INTEGER NOT NULL, seen INTEGER NOT NULL) STRICT;"
    "CREATE TABLE tq_loss ("
    "  source TEXT NOT NULL, relation TEXT NOT NULL COLLATE NOCASE, cause TEXT NOT NULL,"
    "  total INTEGER NOT NULL, seen INTEGER NOT NULL,"
    "  PRIMARY KEY (source, relation, cause)) STRICT;"
    "CREATE TABLE tq_description (digest INTEGER PRIMARY KEY NOT NULL, text TEXT NOT NULL) STRICT;"
    "CREATE TABLE tq_announced ("
    "  relation TEXT PRIMARY KEY NOT NULL COLLATE NOCASE,"
    "  digest INTEGER NOT NULL," /* 0: of no program yet */
    "  holder INTEGER,"          /* position in tq_domain; NULL: the process's switch alone */
    "  persistent INTEGER NOT NULL) STRICT;";

/* What version 6 added (log.c). */
static const char *const schema_6 =
    "CREATE TABLE tq_log ("
    "  number INTEGER PRIMARY KEY NOT NULL,"
    "  relation TEXT NOT NULL COLLATE NOCASE,"
    "  first INTEGER NOT NULL, last INTEGER NOT NULL, rows INTEGER NOT NULL,"
    "  whole INTEGER NOT NULL," /* 1: up to a checkpoint */
    "  data BLOB NOT NULL) STRICT;"
    "CREATE INDEX tq_log_relation ON tq_log (relation, number);";

/* What version 7 added (keep.c). */
static const char *const schema_7 =
    "CREATE TABLE tq_keep ("
    "  relation TEXT PRIMARY KEY NOT NULL COLLATE NOCASE,"
    "  age INTEGER,"             /* chronons; NULL: for ever */
    "  gone INTEGER,"            /* tuples that ended before it are gone, or may be; NULL: none */
    "  removed INTEGER NOT NULL" /* how many */
    ") STRICT;";

/* What version 8 added (source.c): whose sensors a relation is of; NULL: of every task force that has such an event. */
static const char *const schema_8 =
    "ALTER TABLE tq_announced ADD COLUMN taskforce TEXT;"
    "ALTER TABLE tq_announced ADD COLUMN event TEXT;";

/* What version 9 changed: the type bytes, of which older programs know nothing; a domain's place in the key that tells
 * the entities of a traced or sampled relation apart, NULL: it is not of it (there was one such domain, in
 * tq_relation); what open rows of derived relations stand for beside themselves (feed.c); and records that nobody
 * asked for, so that they were left out where they arose (source.c). */
static const char *const schema_9 =
    "ALTER TABLE tq_domain ADD COLUMN key_place INTEGER;"
    "UPDATE tq_domain SET key_place = 0 WHERE EXISTS (SELECT 1 FROM tq_relation AS r"
    " WHERE r.name = tq_domain.relation AND r.by_domain = tq_domain.position);"
    "ALTER TABLE tq_relation DROP COLUMN by_domain;"
    "CREATE TABLE tq_alike ("
    "  relation TEXT NOT NULL COLLATE NOCASE, position INTEGER NOT NULL, marks INTEGER NOT NULL,"
    "  row BLOB NOT NULL, PRIMARY KEY (relation, position)) STRICT;"
    "CREATE TABLE tq_filtered ("
    "  relation TEXT NOT NULL COLLATE NOCASE, source TEXT NOT NULL,"            /* the process */
    "  count INTEGER NOT NULL, since INTEGER NOT NULL, until INTEGER NOT NULL," /* first, last */
    "  PRIMARY KEY (relation, source)) STRICT;";

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

void st_sql_schema(struct base_buffer *sql) {
  base_buffer_printf(sql, "%s %s %s %s %s %s %s %s %s", schema, schema_2, schema_3, schema_4,
                     schema_5, schema_6, schema_7, schema_8, schema_9);
}

/* Within the transaction that creates the file. */
enum base_status st_schema_create(struct st_database *database) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_printf(&sql, "PRAGMA application_id=%d; PRAGMA user_version=%d; ", ST_APPLICATION_ID,
                     ST_SCHEMA_VERSION);
  st_sql_schema(&sql);
  base_buffer_printf(&sql, "INSERT INTO tq_setting VALUES('timeline', '%s');",
                     database->timeline == NET_TIMELINE_REAL ? "real" : "abstract");
  enum base_status status = st_run(database, sql.data, "creating the database");
  base_buffer_done(&sql);
  return status;
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
  if (database->version < 2) {
    status = append_indexes(database, &sql);
    base_buffer_puts(&sql, schema_2);
  }
  if (database->version < 3)
    base_buffer_printf(&sql,
                       "%s UPDATE tq_checkpoint SET passed = checkpoint"
                       " WHERE checkpoint > %lld AND checkpoint < %lld;",
                       schema_3, (long long)NET_OPEN, (long long)NET_FOREVER);
  if (database->version < 4) base_buffer_puts(&sql, schema_4);
  if (database->version < 5) base_buffer_puts(&sql, schema_5);
  if (database->version < 6) base_buffer_puts(&sql, schema_6);
  if (database->version < 7) base_buffer_puts(&sql, schema_7);
  if (database->version < 8) base_buffer_puts(&sql, schema_8);
  base_buffer_printf(&sql, "%s PRAGMA user_version=%d;", schema_9, ST_SCHEMA_VERSION);
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
