/* Relations come to be and go: their rows in the catalogue's tables, their own tables, the copy in memory. */
#include "storage/relations.h"

/* ---- come ---- */

static enum base_status check_columns(struct st_database *database,
                                      const struct st_relation *relation) {
  size_t columns = st_kind_is_event(relation->kind) ? 3 : 5;
  int most = sqlite3_limit(database->sqlite, SQLITE_LIMIT_COLUMN, -1);
  for (size_t i = 0; i < relation->domain_count; i++)
    columns += st_domain_columns(&relation->domains[i]);
  if (columns <= (size_t)most) return BASE_OK;
  base_report_hint(database->diags, MSG_TOO_MANY_COLUMNS, NULL, NULL,
                   "divide the domains among several relations",
                   "%s would have %zu columns, more than the %d that a table can have",
                   relation->name, columns, most);
  return BASE_SYSTEM;
}

/* Runs SQL once with the parameters NAME, NUMBER, A, B; A and B may be NULL. */
static enum base_status insert(struct st_database *database, const char *sql, const char *name,
                               int64_t number, const char *a, const char *b) {
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_prepare(database, sql, false, &statement);
  if (status != BASE_OK) return status;
  int used = sqlite3_bind_parameter_count(statement);
  sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
  if (used >= 2) sqlite3_bind_int64(statement, 2, number);
  if (used >= 3) sqlite3_bind_text(statement, 3, a, -1, SQLITE_STATIC);
  if (used >= 4) sqlite3_bind_text(statement, 4, b, -1, SQLITE_STATIC);
  status = st_step_done(database, statement, "writing the catalogue");
  sqlite3_finalize(statement);
  return status;
}

static enum base_status insert_domains(struct st_database *database,
                                       const struct st_relation *relation) {
  enum base_status status = BASE_OK;
  struct base_buffer type = BASE_BUFFER_EMPTY;
  for (size_t i = 0; status == BASE_OK && i < relation->domain_count; i++) {
    base_buffer_clear(&type);
    net_type_print(&type, relation->domains[i].type);
    status = insert(database,
                    "INSERT INTO tq_domain (relation, position, name, type)"
                    " VALUES (?1, ?2, ?3, ?4)",
                    relation->name, (int64_t)i, relation->domains[i].name, type.data);
  }
  for (size_t i = 0; status == BASE_OK && i < relation->by.count; i++)
    status =
        insert(database, "UPDATE tq_domain SET key_place = ?2 WHERE relation = ?1 AND name = ?3",
               relation->name, (int64_t)i, relation->domains[relation->by.fields[i]].name, NULL);
  base_buffer_done(&type);
  return status;
}

static enum base_status insert_query(struct st_database *database,
                                     const struct st_relation *relation) {
  enum base_status status = insert(database,
                                   "INSERT INTO tq_query (name, origin, text)"
                                   " VALUES (?1, CASE ?4 WHEN 'fixed' THEN ?2 END, ?3)",
                                   relation->name, relation->origin, relation->definition,
                                   relation->origin_fixed ? "fixed" : "open");
  for (size_t i = 0; status == BASE_OK && i < relation->input_count; i++)
    status = insert(database,
                    "INSERT INTO tq_query_input (query, position, relation) VALUES (?1, ?2, ?3)",
                    relation->name, (int64_t)i, relation->inputs[i], NULL);
  return status;
}

static enum base_status insert_relation(struct st_database *database,
                                        const struct st_relation *relation) {
  enum base_status status = insert(database, "INSERT INTO tq_relation (name, kind) VALUES (?1, ?3)",
                                   relation->name, 0, st_kind_text(relation->kind), NULL);
  if (status == BASE_OK)
    status = insert(database, "INSERT INTO tq_checkpoint (relation, checkpoint) VALUES (?1, ?2)",
                    relation->name, relation->checkpoint, NULL, NULL);
  if (status == BASE_OK) status = insert_domains(database, relation);
  if (status == BASE_OK && relation->view)
    status =
        insert(database, "INSERT INTO tq_view (name) VALUES (?1)", relation->name, 0, NULL, NULL);
  if (status == BASE_OK && relation->definition) status = insert_query(database, relation);
  return status;
}

static enum base_status create_table(struct st_database *database,
                                     const struct st_relation *relation) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  st_sql_create(&sql, relation);
  st_sql_create_long(&sql, database->timeline, relation);
  st_sql_create_view(&sql, database->timeline, relation);
  enum base_status status = st_run(database, sql.data, "creating a relation");
  base_buffer_done(&sql);
  return status;
}

enum base_status st_create(struct st_database *database, const struct st_relation *relation) {
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_refresh(database);
  if (status != BASE_OK) return status;
  bool taken = st_catalogue_has(database, relation->name);
  if (!taken) status = st_index_exists(database, relation->name, &taken);
  if (status != BASE_OK) return status;
  if (taken) {
    base_report(database->diags, MSG_NAME_EXISTS, NULL, NULL, "%s exists already", relation->name);
    return BASE_USER;
  }
  status = check_columns(database, relation);
  if (status != BASE_OK) return status;
  if (!relation->view) status = create_table(database, relation);
  if (status == BASE_OK && relation->kind == ST_SAMPLED) status = st_samples_prepare(database);
  if (status == BASE_OK) status = insert_relation(database, relation);
  if (status != BASE_OK) return status;
  struct st_table *table = st_catalogue_add(database, relation);
  if (!table->view) st_none_came(database, table);
  st_cache_begin_empty(database, table, false);
  return BASE_OK;
}

/* ---- go ---- */

/* Whatever is there in the place of the table of what is unusable. */
static enum base_status drop_remains(struct st_database *database, const struct st_table *table) {
  static const char *const kinds[] = {"table", "view"};
  sqlite3_stmt *statement = NULL;
  bool found[2] = {false, false};
  enum base_status status = st_prepare(
      database, "SELECT 1 FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE AND type = ?2", false,
      &statement);
  for (int i = 0; i < 2 && status == BASE_OK; i++) {
    sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, kinds[i], -1, SQLITE_STATIC);
    found[i] = sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_reset(statement);
  }
  sqlite3_finalize(statement);
  for (int i = 0; i < 2 && status == BASE_OK; i++) {
    struct base_buffer sql = BASE_BUFFER_EMPTY;
    if (!found[i]) continue;
    base_buffer_printf(&sql, "DROP %s ", kinds[i]);
    st_sql_name(&sql, table->name);
    status = st_run(database, sql.data, "destroying a relation");
    base_buffer_done(&sql);
  }
  return status;
}

/* Is there the table that samples would be in? */
static enum base_status has_samples(struct st_database *database, bool *ret) {
  int64_t count = 0;
  enum base_status status = st_query_integer(
      database, "SELECT count(*) FROM sqlite_schema WHERE name = 'tq_sample' AND type = 'table'", 0,
      &count);
  *ret = count > 0;
  return status;
}

static enum base_status drop_table(struct st_database *database, const struct st_table *table) {
  struct base_buffer view = BASE_BUFFER_EMPTY, sql = BASE_BUFFER_EMPTY;
  bool away = false;
  base_buffer_printf(&view, "%s_readable", table->name);
  base_buffer_puts(&sql, "DROP VIEW IF EXISTS ");
  st_sql_name(&sql, view.data);
  enum base_status status = st_run(database, sql.data, "destroying a relation");
  if (status == BASE_OK) status = st_put_away(database, table, &away);
  if (status == BASE_OK && !table->unusable && !away) {
    base_buffer_clear(&sql);
    base_buffer_puts(&sql, "DROP TABLE ");
    st_sql_name(&sql, table->name);
    status = st_run(database, sql.data, "destroying a relation");
  }
  if (status == BASE_OK && table->unusable) status = drop_remains(database, table);
  base_buffer_done(&view);
  base_buffer_done(&sql);
  return status;
}

enum base_status st_destroy(struct st_database *database, const char *name) {
  static const char *const traces[] = {
      "DELETE FROM tq_relation WHERE name = ?1",
      "DELETE FROM tq_domain WHERE relation = ?1",
      "DELETE FROM tq_query WHERE name = ?1",
      "DELETE FROM tq_query_input WHERE query = ?1",
      "DELETE FROM tq_checkpoint WHERE relation = ?1",
      "DELETE FROM tq_node_stats WHERE relation = ?1",
      "DELETE FROM tq_feed WHERE relation = ?1",
      "DELETE FROM tq_pending WHERE relation = ?1",
      "DELETE FROM tq_alike WHERE relation = ?1",
      "DELETE FROM tq_view WHERE name = ?1",
      "DELETE FROM tq_index_domain WHERE name IN (SELECT name FROM tq_index WHERE relation = ?1)",
      "DELETE FROM tq_index WHERE relation = ?1",
      "DELETE FROM tq_structure WHERE relation = ?1",
      "DELETE FROM tq_rule WHERE relation = ?1",
      "DELETE FROM tq_retention WHERE relation = ?1",
      "DELETE FROM tq_keep WHERE relation = ?1",
      "DELETE FROM tq_announced WHERE relation = ?1",
      "DELETE FROM tq_filtered WHERE relation = ?1",
      "DELETE FROM tq_log WHERE relation = ?1",
  };
  struct st_table *table = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_refresh(database);
  if (status == BASE_OK) table = st_catalogue_unusable(database, name);
  if (status == BASE_OK && !table) status = st_catalogue_find(database, name, &table);
  if (status != BASE_OK) return status;
  bool sampled = table->kind == ST_SAMPLED;
  if (table->unusable) status = has_samples(database, &sampled);
  if (status == BASE_OK && sampled) status = st_samples_clear(database, table->name);
  if (status == BASE_OK && (table->unusable || !table->view)) status = drop_table(database, table);
  for (size_t i = 0; status == BASE_OK && i < sizeof traces / sizeof traces[0]; i++)
    status = insert(database, traces[i], table->name, 0, NULL, NULL);
  if (status != BASE_OK) return status;
  st_catalogue_remove(database, table);
  return BASE_OK;
}

/* ---- change ---- */

enum base_status st_set_origin(struct st_database *database, const char *name, net_chronon origin) {
  struct st_table *table = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_find(database, name, &table);
  if (status == BASE_OK)
    status = insert(database, "UPDATE tq_query SET origin = ?2 WHERE name = ?1", table->name,
                    origin, NULL, NULL);
  return status;
}

enum base_status st_set_until(struct st_database *database, const char *name, net_chronon until) {
  struct st_table *table = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = st_catalogue_find(database, name, &table);
  if (status != BASE_OK) return status;
  const char *sql = until == NET_FOREVER
                        ? "DELETE FROM tq_retention WHERE relation = ?1"
                        : "INSERT INTO tq_retention (relation, until) VALUES (?1, ?2)"
                          " ON CONFLICT (relation) DO UPDATE SET until = ?2";
  return insert(database, sql, table->name, until, NULL, NULL);
}
