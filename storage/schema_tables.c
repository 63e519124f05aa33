/* The tq_ tables in SQL, as each version of the schema made them. Of the product's own it needs buffers alone: the
 * program that makes blank databases while the product is built (blank_make.c) is linked with it.
 *
 * A change of any of this needs a new ST_SCHEMA_VERSION and a step that brings older files up (schema.c). */
#include "storage/schema_tables.h"

static const char schema_1[] =
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
static const char schema_2[] =
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
static const char schema_3[] = "ALTER TABLE tq_checkpoint ADD COLUMN passed INTEGER;";

/* What version 4 added, in the place of a table of this name that was never written. */
static const char schema_4[] =
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
static const char schema_5[] =
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
static const char schema_6[] =
    "CREATE TABLE tq_log ("
    "  number INTEGER PRIMARY KEY NOT NULL,"
    "  relation TEXT NOT NULL COLLATE NOCASE,"
    "  first INTEGER NOT NULL, last INTEGER NOT NULL, rows INTEGER NOT NULL,"
    "  whole INTEGER NOT NULL," /* 1: up to a checkpoint */
    "  data BLOB NOT NULL) STRICT;"
    "CREATE INDEX tq_log_relation ON tq_log (relation, number);";

/* What version 7 added (keep.c). */
static const char schema_7[] =
    "CREATE TABLE tq_keep ("
    "  relation TEXT PRIMARY KEY NOT NULL COLLATE NOCASE,"
    "  age INTEGER,"             /* chronons; NULL: for ever */
    "  gone INTEGER,"            /* tuples that ended before it are gone, or may be; NULL: none */
    "  removed INTEGER NOT NULL" /* how many */
    ") STRICT;";

/* What version 8 added (source.c): whose sensors a relation is of; NULL: of every task force that has such an event. */
static const char schema_8[] =
    "ALTER TABLE tq_announced ADD COLUMN taskforce TEXT;"
    "ALTER TABLE tq_announced ADD COLUMN event TEXT;";

/* What version 9 changed: the type bytes, of which older programs know nothing; a domain's place in the key that tells
 * the entities of a traced or sampled relation apart, NULL: it is not of it (there was one such domain, in
 * tq_relation); what open rows of derived relations stand for beside themselves (feed.c); and records that nobody
 * asked for, so that they were left out where they arose (source.c). */
static const char schema_9[] =
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

static const char *const versions[] = {schema_1, schema_2, schema_3, schema_4, schema_5,
                                       schema_6, schema_7, schema_8, schema_9};
_Static_assert(sizeof versions / sizeof *versions == ST_SCHEMA_VERSION,
               "each version of the schema has its step");

const char *st_schema_step(int version) {
  return versions[version - 1];
}

void st_sql_schema(struct base_buffer *sql) {
  for (int version = 1; version <= ST_SCHEMA_VERSION; version++)
    base_buffer_printf(sql, "%s ", st_schema_step(version));
}

void st_sql_blank(struct base_buffer *sql, enum net_timeline timeline) {
  base_buffer_printf(
      sql,
      "PRAGMA auto_vacuum=INCREMENTAL; PRAGMA application_id=%d; PRAGMA user_version=%d; BEGIN; ",
      ST_APPLICATION_ID, ST_SCHEMA_VERSION);
  st_sql_schema(sql);
  base_buffer_printf(sql, "INSERT INTO tq_setting VALUES('timeline', '%s'); COMMIT;",
                     timeline == NET_TIMELINE_REAL ? "real" : "abstract");
}
