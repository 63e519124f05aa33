/* What the catalogue says of relations besides their form: indexes, structures, rules, permits.
 *
 * An index of a user is an SQLite index of that name on the relation's table; relations and indexes
 * share one set of names, as they do in SQLite. `modify R to hash on d` makes an index as well, called
 * "tq_R_hash", a name that no user can give. None of them changes a result; scans may find rows through
 * them (bounded.c). A structure that is not written down is `time`.
 *
 * Rules are texts in the language of the query, which this folder does not read.                    */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "storage/relations.h"

static const char *const structure_texts[] = {
    [ST_HEAP] = "heap", [ST_TIME] = "time", [ST_HASH] = "hash"};
static const char *const rule_texts[] = {[ST_INTEGRITY] = "integrity", [ST_PERMIT] = "permit"};

/* Prepares SQL and binds A and B (NULL: not bound), by number from 1 on. */
static enum base_status prepare_with(struct st_database *database, const char *sql, const char *a,
                                     const char *b, sqlite3_stmt **ret) {
  enum base_status status = st_prepare(database, sql, false, ret);
  if (status != BASE_OK) return status;
  if (a) sqlite3_bind_text(*ret, 1, a, -1, SQLITE_TRANSIENT);
  if (b) sqlite3_bind_text(*ret, 2, b, -1, SQLITE_TRANSIENT);
  return BASE_OK;
}

static enum base_status run_with(struct st_database *database, const char *sql, const char *a,
                                 const char *b) {
  sqlite3_stmt *statement = NULL;
  enum base_status status = prepare_with(database, sql, a, b, &statement);
  if (status == BASE_OK) status = st_step_done(database, statement, "writing the catalogue");
  sqlite3_finalize(statement);
  return status;
}

/* BASE_OK with a row to read, BASE_END behind the last one. */
static enum base_status next_row(struct st_database *database, sqlite3_stmt *statement) {
  int code = sqlite3_step(statement);
  if (code == SQLITE_ROW) return BASE_OK;
  return code == SQLITE_DONE ? BASE_END : st_fail(database, "reading the catalogue");
}

/* ---- indexes ---- */

static enum base_status read_domains(struct st_database *database, struct base_arena *arena,
                                     struct st_index *index) {
  sqlite3_stmt *statement = NULL;
  const char **names = NULL;
  size_t count = 0, capacity = 0;
  enum base_status status =
      prepare_with(database, "SELECT domain FROM tq_index_domain WHERE name = ?1 ORDER BY position",
                   index->name, NULL, &statement);
  while (status == BASE_OK && (status = next_row(database, statement)) == BASE_OK) {
    base_grow(&names, &capacity, count + 1, sizeof *names);
    names[count++] = st_column_text(arena, statement, 0);
  }
  sqlite3_finalize(statement);
  const char **copy = BASE_NEW_ARRAY(arena, count + 1, const char *);
  if (count) memcpy(copy, names, count * sizeof *copy);
  free(names);
  index->domains = copy;
  index->domain_count = count;
  return status == BASE_END ? BASE_OK : status;
}

enum base_status st_indexes(struct st_database *database, struct base_arena *arena,
                            struct st_index **ret, size_t *ret_count) {
  *ret = NULL;
  *ret_count = 0;
  if (database->version < 2) return BASE_OK;
  struct st_index *indexes = NULL;
  size_t count = 0, capacity = 0;
  sqlite3_stmt *statement = NULL;
  enum base_status status =
      prepare_with(database, "SELECT name, relation, structure FROM tq_index ORDER BY name", NULL,
                   NULL, &statement);
  while (status == BASE_OK && (status = next_row(database, statement)) == BASE_OK) {
    base_grow(&indexes, &capacity, count + 1, sizeof *indexes);
    indexes[count++] = (struct st_index){.name = st_column_text(arena, statement, 0),
                                         .relation = st_column_text(arena, statement, 1),
                                         .structure = sqlite3_column_int(statement, 2)};
  }
  sqlite3_finalize(statement);
  if (status == BASE_END) status = BASE_OK;
  for (size_t i = 0; status == BASE_OK && i < count; i++)
    status = read_domains(database, arena, &indexes[i]);
  if (status == BASE_OK) {
    *ret = BASE_NEW_ARRAY(arena, count + 1, struct st_index);
    if (count) memcpy(*ret, indexes, count * sizeof **ret);
    *ret_count = count;
  }
  free(indexes);
  return status;
}

static const struct st_domain *domain_called(const struct st_table *table, const char *name) {
  for (size_t i = 0; i < table->domain_count; i++)
    if (sqlite3_stricmp(table->domains[i].name, name) == 0) return &table->domains[i];
  BASE_CHECK(false, "storage-index-domain");
  return NULL;
}

static enum base_status make_index(struct st_database *database, const struct st_table *table,
                                   const char *name, const char *const *domains, size_t count,
                                   bool structure) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(&sql, "CREATE INDEX ");
  st_sql_name(&sql, name);
  base_buffer_puts(&sql, " ON ");
  st_sql_name(&sql, table->name);
  base_buffer_putc(&sql, '(');
  bool first = true;
  for (size_t i = 0; i < count; i++) {
    const struct st_domain *domain = domain_called(table, domains[i]);
    for (unsigned part = 0; part < st_domain_columns(domain); part++, first = false) {
      if (!first) base_buffer_putc(&sql, ',');
      st_sql_column(&sql, domain, part);
    }
  }
  base_buffer_putc(&sql, ')');
  enum base_status status = st_run(database, sql.data, "making an index");
  base_buffer_done(&sql);
  if (status == BASE_OK)
    status =
        run_with(database,
                 structure ? "INSERT INTO tq_index (name, relation, structure) VALUES (?1, ?2, 1)"
                           : "INSERT INTO tq_index (name, relation, structure) VALUES (?1, ?2, 0)",
                 name, table->name);
  for (size_t i = 0; status == BASE_OK && i < count; i++)
    status = run_with(database,
                      "INSERT INTO tq_index_domain (name, position, domain) VALUES (?1, (SELECT"
                      " count(*) FROM tq_index_domain WHERE name = ?1), ?2)",
                      name, domain_called(table, domains[i])->name);
  return status;
}

static bool is_relation(const struct st_database *database, const char *name) {
  for (size_t i = 0; i < database->table_count; i++)
    if (sqlite3_stricmp(database->tables[i]->name, name) == 0) return true;
  return false;
}

enum base_status st_index_create(struct st_database *database, const struct st_index *index) {
  struct st_table *table = NULL;
  bool taken = false;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_find(database, index->relation, &table);
  if (status == BASE_OK) status = st_index_exists(database, index->name, &taken);
  if (status != BASE_OK) return status;
  if (taken || is_relation(database, index->name)) {
    base_report(database->diags, MSG_NAME_EXISTS, NULL, NULL, "%s exists already", index->name);
    return BASE_USER;
  }
  return make_index(database, table, index->name, index->domains, index->domain_count, false);
}

enum base_status st_index_destroy(struct st_database *database, const char *name) {
  enum base_status status = st_writing(database);
  if (status != BASE_OK) return status;
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_puts(&sql, "DROP INDEX IF EXISTS ");
  st_sql_name(&sql, name);
  status = st_run(database, sql.data, "destroying an index");
  base_buffer_done(&sql);
  if (status == BASE_OK)
    status = run_with(database, "DELETE FROM tq_index_domain WHERE name = ?1", name, NULL);
  if (status == BASE_OK)
    status = run_with(database, "DELETE FROM tq_index WHERE name = ?1", name, NULL);
  return status;
}

/* ---- structures ---- */

enum base_status st_modify(struct st_database *database, const char *relation,
                           enum st_structure structure, const char *const *domains,
                           size_t domain_count) {
  struct st_table *table = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_find(database, relation, &table);
  if (status != BASE_OK) return status;
  struct base_buffer name = BASE_BUFFER_EMPTY;
  base_buffer_printf(&name, "tq_%s_hash", table->name);
  status = st_index_destroy(database, name.data);
  if (status == BASE_OK && structure == ST_HASH)
    status = make_index(database, table, name.data, domains, domain_count, true);
  base_buffer_done(&name);
  if (status == BASE_OK)
    status = run_with(database,
                      "INSERT INTO tq_structure (relation, structure) VALUES (?1, ?2)"
                      " ON CONFLICT (relation) DO UPDATE SET structure = ?2",
                      table->name, structure_texts[structure]);
  return status;
}

enum base_status st_structure(struct st_database *database, const char *relation,
                              enum st_structure *ret) {
  sqlite3_stmt *statement = NULL;
  *ret = ST_TIME;
  if (database->version < 2) return BASE_OK;
  enum base_status status =
      prepare_with(database, "SELECT structure FROM tq_structure WHERE relation = ?1", relation,
                   NULL, &statement);
  if (status == BASE_OK) status = next_row(database, statement);
  const char *text = status == BASE_OK ? (const char *)sqlite3_column_text(statement, 0) : NULL;
  for (int i = 0; text && i < 3; i++)
    if (strcmp(text, structure_texts[i]) == 0) *ret = (enum st_structure)i;
  sqlite3_finalize(statement);
  return status == BASE_END ? BASE_OK : status;
}

/* ---- rules ---- */

enum base_status st_rules(struct st_database *database, struct base_arena *arena,
                          struct st_rule **ret, size_t *ret_count) {
  *ret = NULL;
  *ret_count = 0;
  if (database->version < 2) return BASE_OK;
  struct st_rule *rules = NULL;
  size_t count = 0, capacity = 0;
  sqlite3_stmt *statement = NULL;
  enum base_status status = prepare_with(database,
                                         "SELECT relation, kind, number, text FROM tq_rule"
                                         " ORDER BY relation, kind, number",
                                         NULL, NULL, &statement);
  while (status == BASE_OK && (status = next_row(database, statement)) == BASE_OK) {
    base_grow(&rules, &capacity, count + 1, sizeof *rules);
    const char *kind =
        st_column_text(arena, statement, 1); /* of neither kind: rows must satisfy it */
    rules[count++] = (struct st_rule){
        .kind = strcmp(kind, rule_texts[ST_PERMIT]) == 0 ? ST_PERMIT : ST_INTEGRITY,
        .relation = st_column_text(arena, statement, 0),
        .number = sqlite3_column_int64(statement, 2),
        .text = st_column_text(arena, statement, 3)};
  }
  sqlite3_finalize(statement);
  if (status == BASE_END) status = BASE_OK;
  if (status == BASE_OK) {
    *ret = BASE_NEW_ARRAY(arena, count + 1, struct st_rule);
    if (count) memcpy(*ret, rules, count * sizeof **ret);
    *ret_count = count;
  }
  free(rules);
  return status;
}

enum base_status st_rule_add(struct st_database *database, enum st_rule_kind kind,
                             const char *relation, const char *text, int64_t *ret_number) {
  struct st_table *table = NULL;
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_find(database, relation, &table);
  if (status == BASE_OK)
    status = prepare_with(
        database,
        "INSERT INTO tq_rule (relation, kind, number, text) VALUES (?1, ?2, 1 + ifnull("
        "(SELECT max(number) FROM tq_rule WHERE relation = ?1 AND kind = ?2), 0), ?3)"
        " RETURNING number",
        table->name, rule_texts[kind], &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 3, text, -1, SQLITE_TRANSIENT);
  status = next_row(database, statement);
  if (status == BASE_OK) {
    *ret_number = sqlite3_column_int64(statement, 0);
    status = st_step_done(database, statement, "writing the catalogue");
  }
  sqlite3_finalize(statement);
  return status;
}

enum base_status st_rule_remove(struct st_database *database, enum st_rule_kind kind,
                                const char *relation, int64_t number, bool *ret_found) {
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_writing(database);
  *ret_found = false;
  if (status == BASE_OK)
    status = prepare_with(database,
                          "DELETE FROM tq_rule WHERE relation = ?1 AND kind = ?2 AND number = ?3",
                          relation, rule_texts[kind], &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_int64(statement, 3, number);
  status = st_step_done(database, statement, "writing the catalogue");
  *ret_found = sqlite3_changes(database->sqlite) > 0;
  sqlite3_finalize(statement);
  return status;
}

bool st_is_owner(const struct st_database *database) {
  const char *path = sqlite3_db_filename(database->sqlite, "main");
  struct stat file;
  if (!path || !*path || stat(path, &file) != 0) return true;
  return geteuid() == 0 || geteuid() == file.st_uid;
}
