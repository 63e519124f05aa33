/* Edits of a database, as somebody makes them who has sqlite3 and no idea.
 *
 * An edit is a kind, a table, a column and a row, taken from bytes modulo what there is, and a value: one
 * of a pool of bad ones, or what stands elsewhere in the database, so that names, types and texts are those
 * of others. Constraints that would object are taken out of the schema first, where the edit says so. */
#include "tests/fuzz/edits.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct editor {
  sqlite3 *database;
  const uint8_t *data;
  size_t size;
  void (*said)(const char *sql);
};

static const char *const values[] = {
    "NULL",
    "0",
    "-1",
    "1",
    "7",
    "2147483648",
    "-9223372036854775808",
    "-9223372036854775807",
    "9223372036854775807",
    "9223372036854775806",
    "1e308*10",
    "0.5",
    "''",
    "'E'",
    "'V'",
    "'A'",
    "'e'",
    "'c20'",
    "'i1'",
    "'temporal'",
    "'text'",
    "'name'",
    "'c99999999999'",
    "'derived event'",
    "'derived period'",
    "'traced'",
    "'sampled'",
    "'snapshot'",
    "'event'",
    "'period'",
    "'tq_domain'",
    "'real'",
    "x'ff00fe'",
    "zeroblob(40)",
    "CAST(x'ff00fe' AS TEXT)",
    "'a\"b; drop table E'",
    "'definite'",
    "printf('%.*c', 100000, 'x')",
    "'range of e is E retrieve into A (e.x)'",
    "'range of b is B retrieve into A (b.c)'",
    "'retrieve into A ()'",
    "'destroy E'",
    "'define view V (n = count(v))'",
    "'range of p is P define integrity on p is p.k > 0'",
    "'define integrity on e is 1 = 1'",
    "'range of e is E retrieve into A (n = p.n, d = duration(p))'",
    "'set parallel coverage'",
};

static const char *const statements[] = {
    "PRAGMA user_version=0",
    "PRAGMA user_version=1",
    "PRAGMA user_version=3",
    "PRAGMA user_version=5",
    "PRAGMA user_version=6",
    "INSERT INTO tq_keep VALUES('E', -1, 5, -7)",
    "INSERT OR REPLACE INTO tq_keep SELECT name, 0, 9223372036854775807, 1 FROM tq_relation",
    "INSERT OR REPLACE INTO tq_keep SELECT name, 3, NULL, 0 FROM tq_relation",
    "INSERT INTO tq_keep VALUES('Q', 9223372036854775807, -9223372036854775807-1, 0)",
    "PRAGMA user_version=99",
    "PRAGMA user_version=-1",
    "PRAGMA application_id=0",
    "UPDATE tq_view SET name='E'",
    "INSERT INTO tq_view VALUES ('A')",
    "UPDATE tq_relation SET kind='event' WHERE kind='period'",
    "UPDATE tq_relation SET kind='derived event' WHERE name='E'",
    "UPDATE tq_query_input SET relation='B'",
    "INSERT INTO tq_announced VALUES ('E', 5, 9, 1, NULL, NULL)",
    "INSERT INTO tq_announced VALUES ('W', 5, -3, 7, 'T', NULL)",
    "INSERT INTO tq_retention VALUES ('A', 0)",
    "INSERT INTO tq_source VALUES ('x', 'y', -1, 5, -9)",
    "INSERT INTO tq_pipe VALUES (1, 'x', -1, 0, 0)",
    "INSERT INTO tq_loss VALUES ('s', 'E', 'full', -5, 0)",
    "INSERT INTO tq_description VALUES (5, 'nonsense')",
    "INSERT INTO tq_index VALUES ('pz', 'P', 0)",
    "INSERT INTO tq_index_domain VALUES ('pz', 0, 'nothing')",
    "UPDATE tq_index SET name='tq_P_set'",
    "CREATE TRIGGER spy AFTER INSERT ON \"E\" BEGIN DELETE FROM \"P\"; END",
    "CREATE TRIGGER stop BEFORE UPDATE ON tq_checkpoint BEGIN SELECT raise(IGNORE); END",
    "CREATE TRIGGER stop2 BEFORE DELETE ON tq_relation BEGIN SELECT raise(ABORT, 'no'); END",
    "DROP TABLE \"E\"; CREATE VIEW \"E\" AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x+1 "
    "FROM r)"
    " SELECT x AS at_lo, x AS at_hi, 1 AS definite, x, 's' AS s FROM r",
    "DROP TABLE tq_view; CREATE VIEW tq_view AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT "
    "x+1"
    " FROM r) SELECT 'E' AS name FROM r",
    "UPDATE tq_domain SET type='i2' WHERE type='i4'",
    "UPDATE tq_domain SET type='f4' WHERE type='f8'",
    "UPDATE tq_domain SET type='name' WHERE type='text'",
    "UPDATE tq_domain SET type='c1'",
    "UPDATE \"P\" SET start_lo=start_hi+1",
    "UPDATE \"P\" SET stop_lo=start_lo-5",
    "UPDATE \"P\" SET stop_lo=NULL, stop_hi=start_lo-1",
    "UPDATE \"T\" SET stop_lo=NULL, stop_hi=start_lo-1",
    "UPDATE \"E\" SET definite=7",
    "UPDATE \"A\" SET d_d0=0, d_d1=0",
    "INSERT INTO tq_log SELECT 7, 'E', 0, 1, 5, 1, x'00'",
    "UPDATE tq_log SET rows = 9000000000",
    "UPDATE tq_log SET relation='G', first=0, last=0",
    "INSERT INTO tq_domain SELECT relation, position + 1000, name || position, type FROM tq_domain",
};

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static unsigned take(struct editor *editor) {
  if (editor->size == 0) return 0;
  editor->size--;
  return *editor->data++;
}

static void run(struct editor *editor, char *sql) {
  if (sql == NULL) abort();
  if (editor->said) editor->said(sql);
  (void)sqlite3_exec(editor->database, sql, NULL, NULL, NULL);
  sqlite3_free(sql);
}

/* The first value of row WHICH, modulo how many there are, of what SQL lists; NULL: nothing. */
static char *pick(struct editor *editor, unsigned which, char *sql) {
  sqlite3_stmt *statement = NULL;
  char *found = NULL;
  if (sql == NULL) abort();
  if (sqlite3_prepare_v2(editor->database, sql, -1, &statement, NULL) == SQLITE_OK) {
    unsigned count = 0;
    while (count < 1000 && sqlite3_step(statement) == SQLITE_ROW) count++;
    sqlite3_reset(statement);
    for (unsigned i = 0; count > 0 && i <= which % count; i++) (void)sqlite3_step(statement);
    const char *text = count > 0 ? (const char *)sqlite3_column_text(statement, 0) : NULL;
    if (text) found = sqlite3_mprintf("%s", text);
  }
  sqlite3_finalize(statement);
  sqlite3_free(sql);
  return found;
}

static char *pick_object(struct editor *editor, const char *type) {
  return pick(editor, take(editor),
              sqlite3_mprintf("SELECT name FROM sqlite_schema WHERE type = %Q"
                              " AND name NOT LIKE 'sqlite%%' ORDER BY name",
                              type));
}

static char *pick_column(struct editor *editor, const char *table) {
  return pick(editor, take(editor),
              sqlite3_mprintf("SELECT name FROM pragma_table_info(%Q)", table));
}

/* Text of SQL: the value that an edit puts there. */
static char *pick_value(struct editor *editor) {
  unsigned which = take(editor);
  if (which % 2 == 0) return sqlite3_mprintf("%s", values[which / 2 % LENGTH(values)]);
  char *table = pick_object(editor, "table");
  char *column = table ? pick_column(editor, table) : NULL;
  char *value = column ? sqlite3_mprintf("(SELECT \"%w\" FROM \"%w\" LIMIT 1 OFFSET %u)", column,
                                         table, take(editor) % 8)
                       : sqlite3_mprintf("NULL");
  sqlite3_free(table);
  sqlite3_free(column);
  return value;
}

/* Nothing that the schema says of TABLE's values is asked for any more. */
static void loosen(struct editor *editor, const char *table) {
  run(editor,
      sqlite3_mprintf("PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql ="
                      " replace(replace(replace(replace(sql, ' NOT NULL', ''), ' STRICT', ''),"
                      " ')STRICT', ')'), ' UNIQUE COLLATE', ' COLLATE') WHERE name = %Q;"
                      " PRAGMA writable_schema=RESET",
                      table));
}

static void change_cell(struct editor *editor, const char *table) {
  char *column = pick_column(editor, table);
  unsigned row = take(editor);
  char *value = pick_value(editor);
  if (column && row % 4 == 0)
    run(editor, sqlite3_mprintf("UPDATE \"%w\" SET \"%w\" = %s", table, column, value));
  else if (column)
    run(editor, sqlite3_mprintf("UPDATE \"%w\" SET \"%w\" = %s WHERE rowid = (SELECT rowid FROM"
                                " \"%w\" LIMIT 1 OFFSET %u)",
                                table, column, value, table, row / 4 % 16));
  sqlite3_free(column);
  sqlite3_free(value);
}

static void swap_cells(struct editor *editor, const char *table) {
  char *column = pick_column(editor, table);
  unsigned a = take(editor) % 12, b = take(editor) % 12;
  if (column)
    run(editor,
        sqlite3_mprintf(
            "CREATE TEMP TABLE swap AS SELECT rowid AS r, \"%w\" AS v FROM \"%w\" WHERE rowid"
            " IN ((SELECT rowid FROM \"%w\" LIMIT 1 OFFSET %u), (SELECT rowid FROM \"%w\""
            " LIMIT 1 OFFSET %u)); UPDATE \"%w\" SET \"%w\" = rowid || ' swapped' WHERE rowid"
            " IN (SELECT r FROM swap); UPDATE \"%w\" SET \"%w\" = (SELECT v FROM swap WHERE r"
            " <> \"%w\".rowid) WHERE rowid IN (SELECT r FROM swap); DROP TABLE swap",
            column, table, table, a, table, b, table, column, table, column, table));
  sqlite3_free(column);
}

static void change_rows(struct editor *editor, const char *table, unsigned kind) {
  unsigned row = take(editor) % 16;
  if (kind == 0)
    run(editor, sqlite3_mprintf("DELETE FROM \"%w\" WHERE rowid = (SELECT rowid FROM \"%w\" LIMIT 1"
                                " OFFSET %u)",
                                table, table, row));
  else if (kind == 1)
    run(editor, sqlite3_mprintf("INSERT INTO \"%w\" SELECT * FROM \"%w\" LIMIT 1 OFFSET %u", table,
                                table, row));
  else
    run(editor, sqlite3_mprintf("DELETE FROM \"%w\"", table));
}

static void change_schema(struct editor *editor, const char *table, unsigned kind) {
  static const char *const types[] = {"table", "view", "index"};
  char *column = pick_column(editor, table);
  const char *type = types[kind % 3];
  char *other = pick_object(editor, type);
  if (kind % 5 == 0 && column)
    run(editor, sqlite3_mprintf("ALTER TABLE \"%w\" DROP COLUMN \"%w\"", table, column));
  else if (kind % 5 == 1 && column)
    run(editor, sqlite3_mprintf("ALTER TABLE \"%w\" RENAME COLUMN \"%w\" TO x", table, column));
  else if (kind % 5 == 2 && other)
    run(editor, sqlite3_mprintf("ALTER TABLE \"%w\" RENAME TO \"%w%s\"", table, other,
                                kind & 64 ? "2" : ""));
  else if (kind % 5 == 3)
    run(editor,
        sqlite3_mprintf("CREATE TABLE tq__ AS SELECT * FROM \"%w\"; DROP TABLE \"%w\"; ALTER"
                        " TABLE tq__ RENAME TO \"%w\"",
                        table, table, table));
  else if (other)
    run(editor, sqlite3_mprintf("DROP %s \"%w\"", type, other));
  sqlite3_free(column);
  sqlite3_free(other);
}

static void edit(struct editor *editor) {
  unsigned kind = take(editor);
  if (kind % 8 == 7) {
    run(editor, sqlite3_mprintf("%s", statements[take(editor) % LENGTH(statements)]));
    return;
  }
  char *table = pick_object(editor, "table");
  if (!table) return;
  if (kind & 16) loosen(editor, table);
  if (kind % 8 < 3)
    change_cell(editor, table);
  else if (kind % 8 == 3)
    swap_cells(editor, table);
  else if (kind % 8 < 6)
    change_rows(editor, table, take(editor) % 4);
  else
    change_schema(editor, table, take(editor));
  sqlite3_free(table);
}

void edits_make(sqlite3 *database, const uint8_t *data, size_t size,
                void (*said)(const char *sql)) {
  struct editor editor = {database, data, size, said};
  (void)sqlite3_exec(database, "PRAGMA ignore_check_constraints=ON", NULL, NULL, NULL);
  while (editor.size >= 2) edit(&editor);
}
