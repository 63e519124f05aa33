/* All that can be wrong with a file, looked for: what opening does not look at because it is in proportion to
 * the data, and what does no harm until somebody comes across it.
 *
 *      SQLite's own check ── tables, indexes, pages
 *      the schema ────────── as tquel would make it today, in an empty database beside this one
 *      the catalogue ─────── rows about relations that are not there, indexes
 *      rows ──────────────── each is a tuple of its relation; so are records that wait, samples, the log
 *
 * Each finding has a subject, a relation or a table, and says what is wrong in one line. Nothing is written.
 * What definitions mean is not known here (tquel/session/check.c).                                    */
#include <stdlib.h>
#include <string.h>

#include "storage/rows.h"

#define FORM_SHOWN 400 /* bytes of the form of a table or an index */
#define ROWS_NAMED 10  /* of a relation; of more the number is said */

struct check {
  struct st_database *database;
  const struct st_check_sink *sink;
  struct base_arena *arena;
  struct st_relation *relations;
  size_t count;
  sqlite3 *reference; /* what the schema should be */
};

static void found(const struct check *check, const char *subject, const char *text) {
  check->sink->found(check->sink->context, subject, text);
}

/* A query over CONNECTION with the parameter ?1; NULL after a finding about SUBJECT. */
static sqlite3_stmt *query(const struct check *check, sqlite3 *connection, const char *subject,
                           const char *sql, const char *parameter) {
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v2(connection, sql, -1, &statement, NULL) != SQLITE_OK)
    found(check, subject, sqlite3_errmsg(connection));
  else if (parameter)
    sqlite3_bind_text(statement, 1, parameter, -1, SQLITE_TRANSIENT);
  return statement;
}

/* The next row; says so if there is none because of an error. */
static bool step(const struct check *check, const char *subject, sqlite3_stmt *statement) {
  int code = statement ? sqlite3_step(statement) : SQLITE_DONE;
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    found(check, subject, sqlite3_errmsg(sqlite3_db_handle(statement)));
  return code == SQLITE_ROW;
}

static char *text_at(const struct check *check, sqlite3_stmt *statement, int column) {
  return st_column_text(check->arena, statement, column);
}

/* The first column of the first row; NULL: there is none. */
static char *one_text(const struct check *check, sqlite3 *connection, const char *subject,
                      const char *sql, const char *parameter) {
  sqlite3_stmt *statement = query(check, connection, subject, sql, parameter);
  char *text = NULL;
  if (step(check, subject, statement) && sqlite3_column_type(statement, 0) != SQLITE_NULL)
    text = text_at(check, statement, 0);
  sqlite3_finalize(statement);
  return text;
}

/* What was reported as an error since BEFORE is a finding about SUBJECT. */
static void turn_into_findings(const struct check *check, const char *subject, size_t before) {
  struct base_diag_sink *diags = check->database->diags;
  for (size_t i = before; i < diags->count; i++) found(check, subject, diags->items[i].message);
  base_diag_drop(diags, before);
}

/* ---- the file, the schema ---- */

static void check_file(const struct check *check) {
  sqlite3_stmt *statement =
      query(check, check->database->sqlite, "file", "PRAGMA integrity_check", NULL);
  while (step(check, "file", statement)) {
    const char *text = text_at(check, statement, 0);
    if (strcmp(text, "ok") != 0) found(check, "file", text);
  }
  sqlite3_finalize(statement);
}

static bool make_reference(struct check *check) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  if (check->database->version < ST_SCHEMA_VERSION) return false;
  bool made = sqlite3_open(":memory:", &check->reference) == SQLITE_OK;
  st_sql_schema(&sql);
  made = made && sqlite3_exec(check->reference, sql.data, NULL, NULL, NULL) == SQLITE_OK;
  for (size_t i = 0; made && i < check->count; i++) {
    const struct st_relation *relation = &check->relations[i];
    if (relation->unusable || relation->view) continue;
    base_buffer_clear(&sql);
    st_sql_create(&sql, relation);
    st_sql_create_long(&sql, check->database->timeline, relation);
    st_sql_create_view(&sql, check->database->timeline, relation);
    made = sqlite3_exec(check->reference, sql.data, NULL, NULL, NULL) == SQLITE_OK;
  }
  base_buffer_done(&sql);
  return made;
}

static const char columns_sql[] =
    "SELECT (SELECT CASE strict WHEN 1 THEN 'STRICT ' ELSE '' END FROM pragma_table_list(?1)"
    " WHERE schema = 'main') || group_concat(name || ' ' || type || CASE \"notnull\" WHEN 1 THEN"
    " ' NOT NULL' ELSE '' END || CASE pk WHEN 0 THEN '' ELSE ' key ' || pk END, ', ')"
    " FROM pragma_table_xinfo(?1)";

/* Its columns, for people and to be compared; of an index what it was made by. */
static const char *form_of(const struct check *check, sqlite3 *connection, const char *type,
                           const char *name) {
  if (strcmp(type, "view") == 0) return "";
  bool table = strcmp(type, "table") == 0;
  return one_text(
      check, connection, name,
      table ? columns_sql : "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?1",
      name);
}

static void compare_object(const struct check *check, const char *type, const char *name) {
  char *there = one_text(check, check->database->sqlite, name,
                         "SELECT type FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE", name);
  /* Without it questions about short times read more: older files have none. */
  size_t length = strlen(name);
  bool optional = length > 5 && strcmp(name + length - 5, "_long") == 0;
  if (there == NULL || strcmp(there, type) != 0) {
    if (!optional || there)
      found(
          check, name,
          base_arena_printf(check->arena, "there is no %s of this name, which tquel makes", type));
    return;
  }
  const char *is = form_of(check, check->database->sqlite, type, name);
  const char *should = form_of(check, check->reference, type, name);
  if (is && should && strcmp(is, should) == 0) return;
  found(check, name,
        base_arena_printf(check->arena, "the %s is %s, and tquel makes it %s", type,
                          st_shown_part(check->arena, is ? is : "nothing", FORM_SHOWN),
                          st_shown_part(check->arena, should ? should : "nothing", FORM_SHOWN)));
}

/* Is TABLE that of a relation of the catalogue, or VIEW its readable view? Of one that is unusable it was said
 * what is wrong. */
static bool is_of_relation(const struct check *check, const char *table) {
  for (size_t i = 0; i < check->count; i++) {
    const char *name = check->relations[i].name;
    if (sqlite3_stricmp(name, table) == 0 ||
        sqlite3_stricmp(base_arena_printf(check->arena, "%s_readable", name), table) == 0)
      return true;
  }
  return false;
}

/* Objects that look like tquel's, and are not. */
static void check_leftover(const struct check *check, const char *type, const char *name,
                           const char *table) {
  bool trigger = strcmp(type, "trigger") == 0;
  bool ours = strncmp(name, "tq_sample", 9) == 0 || strncmp(table, "tq_gone_", 8) == 0 ||
              one_text(check, check->reference, name,
                       "SELECT 1 FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE", name) ||
              one_text(check, check->database->sqlite, name,
                       "SELECT 1 FROM tq_index WHERE name = ?1", name);
  size_t length = strlen(name);
  if (!trigger && (ours || is_of_relation(check, table))) return;
  if (trigger)
    found(check, name,
          base_arena_printf(check->arena, "a trigger on %s, which tquel has not made", table));
  else if (sqlite3_strnicmp(name, "tq_", 3) == 0)
    found(check, name,
          base_arena_printf(check->arena, "%s %s that belongs to nothing",
                            strcmp(type, "index") == 0 ? "an" : "a", type));
  else if (strcmp(type, "view") == 0 && length > 9 && strcmp(name + length - 9, "_readable") == 0)
    found(check, name, "a view of a relation that is not there");
  else if (strcmp(type, "table") == 0 &&
           one_text(check, check->database->sqlite, name,
                    "SELECT 1 FROM pragma_table_xinfo(?1) WHERE name = 'definite'", name))
    found(check, name, "a table like that of a relation, which tq_relation does not have");
}

static void check_schema(struct check *check) {
  if (!make_reference(check)) return;
  sqlite3_stmt *statement = query(
      check, check->reference, "schema",
      "SELECT type, name FROM sqlite_schema WHERE name NOT LIKE 'sqlite%' ORDER BY rowid", NULL);
  while (step(check, "schema", statement))
    compare_object(check, text_at(check, statement, 0), text_at(check, statement, 1));
  sqlite3_finalize(statement);
  statement =
      query(check, check->database->sqlite, "schema",
            "SELECT type, name, tbl_name FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'", NULL);
  while (step(check, "schema", statement))
    check_leftover(check, text_at(check, statement, 0), text_at(check, statement, 1),
                   text_at(check, statement, 2));
  sqlite3_finalize(statement);
}

/* ---- the catalogue ---- */

/* Tables whose rows speak of relations, by the version that they came with. */
static const struct {
  int version;
  const char *table, *column;
} speaking[] = {
    {1, "tq_domain", "relation"},    {1, "tq_query", "name"},
    {1, "tq_query_input", "query"},  {1, "tq_checkpoint", "relation"},
    {1, "tq_feed", "relation"},      {1, "tq_pending", "relation"},
    {2, "tq_view", "name"},          {2, "tq_index", "relation"},
    {2, "tq_structure", "relation"}, {2, "tq_rule", "relation"},
    {2, "tq_retention", "relation"}, {4, "tq_node_stats", "relation"},
    {5, "tq_announced", "relation"}, {6, "tq_log", "relation"},
    {7, "tq_keep", "relation"},      {9, "tq_alike", "relation"},
    {9, "tq_filtered", "relation"},
};

static void check_orphans(const struct check *check) {
  for (size_t i = 0; i < sizeof speaking / sizeof *speaking; i++) {
    const char *table = speaking[i].table, *column = speaking[i].column;
    if (speaking[i].version > check->database->version) {
      if (strcmp(table, "tq_node_stats") != 0 && /* very old files have one */
          one_text(check, check->database->sqlite, table,
                   "SELECT 1 FROM sqlite_schema WHERE name = ?1", table))
        found(check, table,
              base_arena_printf(check->arena, "is there, though user_version is %d",
                                check->database->version));
      continue;
    }
    sqlite3_stmt *statement =
        query(check, check->database->sqlite, table,
              base_arena_printf(check->arena,
                                "SELECT %s, count(*) FROM %s WHERE %s IS NULL OR %s COLLATE NOCASE"
                                " NOT IN (SELECT name FROM tq_relation WHERE name IS NOT NULL)"
                                " GROUP BY 1",
                                column, table, column, column),
              NULL);
    while (step(check, table, statement))
      found(
          check, table,
          base_arena_printf(check->arena, "speaks of %s, a relation that is not there: %lld row%s",
                            st_shown_text(check->arena, text_at(check, statement, 0)),
                            (long long)sqlite3_column_int64(statement, 1),
                            sqlite3_column_int64(statement, 1) == 1 ? "" : "s"));
    sqlite3_finalize(statement);
  }
}

static void check_indexes(const struct check *check) {
  static const char sql[] =
      "SELECT i.name, i.relation, d.domain FROM tq_index AS i LEFT JOIN tq_index_domain AS d"
      " ON d.name = i.name LEFT JOIN tq_domain AS r ON r.relation = i.relation AND"
      " r.name = d.domain COLLATE NOCASE WHERE r.name IS NULL OR NOT EXISTS (SELECT 1 FROM"
      " sqlite_schema AS s WHERE s.type = 'index' AND s.name = i.name COLLATE NOCASE AND"
      " s.tbl_name = i.relation COLLATE NOCASE) GROUP BY i.name";
  if (check->database->version < 2) return;
  sqlite3_stmt *statement = query(check, check->database->sqlite, "tq_index", sql, NULL);
  while (step(check, "tq_index", statement))
    found(check, text_at(check, statement, 0),
          base_arena_printf(check->arena, "the index on %s is not there, or not on its domains",
                            st_shown_text(check->arena, text_at(check, statement, 1))));
  sqlite3_finalize(statement);
}

/* ---- rows ---- */

struct faults {
  const struct check *check;
  const char *relation;
  long long count;
};

static bool on_fault(void *context, int64_t row, const char *fault) {
  struct faults *faults = context;
  if (faults->count++ < ROWS_NAMED)
    found(
        faults->check, faults->relation,
        base_arena_printf(faults->check->arena, "row %lld is no tuple: %s", (long long)row, fault));
  return true;
}

static void check_rows(const struct check *check, struct st_table *table) {
  struct faults faults = {check, table->name, 0};
  size_t before = check->database->diags->count;
  (void)st_each_fault(check->database, table, on_fault, &faults);
  turn_into_findings(check, table->name, before);
  if (faults.count > ROWS_NAMED)
    found(
        check, table->name,
        base_arena_printf(check->arena, "%lld more rows are no tuples", faults.count - ROWS_NAMED));
}

static const struct net_layout *record_layout(const struct check *check,
                                              const struct st_table *table) {
  const struct net_layout *layout = table->layout;
  bool records = table->kind == ST_TRACED || table->kind == ST_SAMPLED;
  return records ? net_layout_new(check->arena, NET_EVENT, layout->fields, layout->field_count)
                 : layout;
}

/* Records that wait for the checkpoint, samples, and what open rows stand for. */
static void check_records(const struct check *check, struct st_table *table) {
  struct st_database *database = check->database;
  const struct net_layout *layout = record_layout(check, table);
  size_t before = database->diags->count;
  struct net_rows rows;
  struct net_source *source = NULL;
  struct net_batch batch;
  net_rows_init(&rows, layout);
  enum base_status status = st_pending_load(database, table->name, layout, &rows);
  if (status == BASE_OK) status = st_alike_load(database, table->name, layout, &rows);
  net_rows_done(&rows);
  if (table->kind == ST_SAMPLED && status == BASE_OK)
    status = st_samples_scan(database, table->name, layout, NET_FOREVER, 0, &source);
  while (source && status == BASE_OK) status = source->next(source, &batch);
  if (source) source->free(source);
  turn_into_findings(check, table->name, before);
}

static void check_piece(const struct check *check, struct st_table *table, sqlite3_stmt *statement,
                        int64_t *last) {
  struct net_rows rows;
  net_rows_init(&rows, table->layout);
  const void *bytes = sqlite3_column_blob(statement, 4);
  size_t length = (size_t)sqlite3_column_bytes(statement, 4);
  const char *wrong = NULL;
  if (table->kind != ST_EVENT)
    wrong = "is not of an event relation";
  else if (!st_rows_unpack(bytes, length, check->database->strings, &rows))
    wrong = "is damaged";
  else if (sqlite3_column_int64(statement, 3) != (int64_t)rows.count ||
           sqlite3_column_int64(statement, 1) != net_rows_row(&rows, 0)[0].i ||
           sqlite3_column_int64(statement, 2) != net_rows_row(&rows, rows.count - 1)[0].i)
    wrong = "has other rows than tq_log says";
  else if (sqlite3_column_int64(statement, 1) < *last)
    wrong = "begins before the one in front of it ends";
  *last = sqlite3_column_int64(statement, 2);
  if (wrong)
    found(check, table->name,
          base_arena_printf(check->arena, "piece %lld of its log %s",
                            (long long)sqlite3_column_int64(statement, 0), wrong));
  net_rows_done(&rows);
}

static void check_log(const struct check *check, struct st_table *table) {
  int64_t last = NET_BEGINNING;
  if (check->database->version < 6) return;
  sqlite3_stmt *statement = query(check, check->database->sqlite, table->name,
                                  "SELECT number, first, last, rows, data FROM tq_log WHERE"
                                  " relation = ?1 ORDER BY number",
                                  table->name);
  while (step(check, table->name, statement)) check_piece(check, table, statement, &last);
  sqlite3_finalize(statement);
}

/* ---- all ---- */

enum base_status st_check(struct st_database *database, const struct st_check_sink *sink) {
  struct check check = {.database = database, .sink = sink, .arena = base_arena_new()};
  enum base_status status = st_relations(database, check.arena, &check.relations, &check.count);
  if (status == BASE_OK) {
    check_file(&check);
    check_schema(&check);
    check_orphans(&check);
    check_indexes(&check);
  }
  for (size_t i = 0; status == BASE_OK && i < check.count; i++) {
    struct st_table *table = NULL;
    if (check.relations[i].unusable || check.relations[i].view) continue;
    status = st_catalogue_look(database, check.relations[i].name, &table);
    if (status != BASE_OK) break;
    check_rows(&check, table);
    check_records(&check, table);
    check_log(&check, table);
  }
  sqlite3_close(check.reference);
  base_arena_free(check.arena);
  return status;
}
