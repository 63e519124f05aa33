/* What is known of those who hand records over, and of the relations that sensors announce.
 *
 *      tq_source       who has been here, and the number of the last message of his that is durable
 *      tq_pipe         sequences of records: what comes next
 *      tq_loss         totals of lost records, as they were told
 *      tq_filtered     how many records nobody asked for, which were left out where they arose
 *      tq_description  texts that programs say of their sensors, by digest
 *      tq_announced    relations that sensors make records of
 *
 * All is written in the transaction that commits the records themselves, so what was acknowledged is
 * there once. Sources, pipes and totals that nothing was heard of for long are forgotten when the
 * database is opened by a server. Digests and pipes have 64 bits; SQLite shows them signed.         */
#include "storage/ground.h"

/* A statement with its parameters, run once. */
static enum base_status finish(struct st_database *database, sqlite3_stmt *statement,
                               const char *doing) {
  enum base_status status = st_step_done(database, statement, doing);
  sqlite3_finalize(statement);
  return status;
}

static enum base_status prepare_write(struct st_database *database, const char *sql,
                                      sqlite3_stmt **ret) {
  enum base_status status = st_writing(database);
  return status == BASE_OK ? st_prepare(database, sql, false, ret) : status;
}

/* A query of one row, with its parameters: *RET_FOUND false: there is none. */
static enum base_status step_one(struct st_database *database, sqlite3_stmt *statement,
                                 const char *doing, bool *ret_found) {
  int code = sqlite3_step(statement);
  *ret_found = code == SQLITE_ROW;
  return code == SQLITE_ROW || code == SQLITE_DONE ? BASE_OK : st_fail(database, doing);
}

/* ---- sources ---- */

enum base_status st_source_save(struct st_database *database, const struct st_source *source) {
  sqlite3_stmt *statement = NULL;
  enum base_status status =
      prepare_write(database,
                    "INSERT INTO tq_source VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (identity)"
                    " DO UPDATE SET host = ?2, number = ?3, gone = ?4, seen = ?5",
                    &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, source->identity, -1, SQLITE_STATIC);
  sqlite3_bind_text(statement, 2, source->host, -1, SQLITE_STATIC);
  sqlite3_bind_int64(statement, 3, (int64_t)source->number);
  sqlite3_bind_int64(statement, 4, source->gone);
  sqlite3_bind_int64(statement, 5, source->seen);
  return finish(database, statement, "noting a source");
}

enum base_status st_sources(struct st_database *database, struct base_arena *arena,
                            struct st_source **ret, size_t *ret_count) {
  *ret = NULL;
  *ret_count = 0;
  if (database->version < 5) return BASE_OK;
  int64_t count = 0;
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_query_integer(database, "SELECT count(*) FROM tq_source", 0, &count);
  if (status != BASE_OK || count == 0) return status;
  status = st_prepare(database,
                      "SELECT identity, host, number, gone, seen FROM tq_source"
                      " ORDER BY identity LIMIT ?1",
                      false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_int64(statement, 1, count);
  struct st_source *sources = BASE_NEW_ARRAY(arena, (size_t)count, struct st_source);
  size_t read = 0;
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW)
    sources[read++] = (struct st_source){.identity = st_column_text(arena, statement, 0),
                                         .host = st_column_text(arena, statement, 1),
                                         .number = (uint64_t)sqlite3_column_int64(statement, 2),
                                         .gone = sqlite3_column_int64(statement, 3) != 0,
                                         .seen = sqlite3_column_int64(statement, 4)};
  if (code != SQLITE_DONE) status = st_fail(database, "reading the sources");
  sqlite3_finalize(statement);
  if (status != BASE_OK) return status;
  *ret = sources;
  *ret_count = read;
  return BASE_OK;
}

enum base_status st_sources_forget(struct st_database *database, int64_t before) {
  static const char *const tables[] = {"DELETE FROM tq_source WHERE seen < ?1",
                                       "DELETE FROM tq_pipe WHERE seen < ?1",
                                       "DELETE FROM tq_loss WHERE seen < ?1"};
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < sizeof tables / sizeof tables[0] && status == BASE_OK; i++) {
    sqlite3_stmt *statement = NULL;
    status = prepare_write(database, tables[i], &statement);
    if (status != BASE_OK) break;
    sqlite3_bind_int64(statement, 1, before);
    status = finish(database, statement, "forgetting old sources");
  }
  return status;
}

/* ---- pipes ---- */

enum base_status st_pipes_save(struct st_database *database, const struct st_pipe *pipes,
                               size_t count) {
  sqlite3_stmt *statement = NULL;
  if (count == 0) return BASE_OK;
  enum base_status status =
      prepare_write(database,
                    "INSERT INTO tq_pipe VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (pipe)"
                    " DO UPDATE SET process = ?2, position = ?3, at = ?4, seen = ?5",
                    &statement);
  for (size_t i = 0; i < count && status == BASE_OK; i++) {
    sqlite3_bind_int64(statement, 1, (int64_t)pipes[i].pipe);
    sqlite3_bind_text(statement, 2, pipes[i].process, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 3, (int64_t)pipes[i].position);
    sqlite3_bind_int64(statement, 4, pipes[i].at);
    sqlite3_bind_int64(statement, 5, pipes[i].seen);
    status = st_step_done(database, statement, "noting how far a pipe has come");
  }
  sqlite3_finalize(statement);
  return status;
}

enum base_status st_pipe_load(struct st_database *database, struct base_arena *arena, uint64_t pipe,
                              bool *ret_found, struct st_pipe *ret) {
  sqlite3_stmt *statement = NULL;
  enum base_status status =
      st_prepare(database, "SELECT process, position, at, seen FROM tq_pipe WHERE pipe = ?1", false,
                 &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_int64(statement, 1, (int64_t)pipe);
  status = step_one(database, statement, "reading how far a pipe has come", ret_found);
  if (status == BASE_OK && *ret_found)
    *ret = (struct st_pipe){.pipe = pipe,
                            .process = st_column_text(arena, statement, 0),
                            .position = (uint64_t)sqlite3_column_int64(statement, 1),
                            .at = sqlite3_column_int64(statement, 2),
                            .seen = sqlite3_column_int64(statement, 3)};
  sqlite3_finalize(statement);
  return status;
}

/* ---- losses ---- */

static void bind_loss(sqlite3_stmt *statement, const struct st_loss *loss) {
  sqlite3_bind_text(statement, 1, loss->source, -1, SQLITE_STATIC);
  sqlite3_bind_text(statement, 2, loss->relation, -1, SQLITE_STATIC);
  sqlite3_bind_text(statement, 3, loss->cause, -1, SQLITE_STATIC);
}

enum base_status st_loss_total(struct st_database *database, const struct st_loss *loss,
                               uint64_t *ret) {
  sqlite3_stmt *statement = NULL;
  bool found = false;
  enum base_status status = st_prepare(
      database, "SELECT total FROM tq_loss WHERE source = ?1 AND relation = ?2 AND cause = ?3",
      false, &statement);
  if (status != BASE_OK) return status;
  bind_loss(statement, loss);
  status = step_one(database, statement, "reading what was lost", &found);
  if (status == BASE_OK) *ret = found ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
  sqlite3_finalize(statement);
  return status;
}

enum base_status st_loss_save(struct st_database *database, const struct st_loss *loss) {
  sqlite3_stmt *statement = NULL;
  enum base_status status =
      prepare_write(database,
                    "INSERT INTO tq_loss VALUES (?1, ?2, ?3, ?4, ?5)"
                    " ON CONFLICT (source, relation, cause) DO UPDATE SET total = ?4, seen = ?5",
                    &statement);
  if (status != BASE_OK) return status;
  bind_loss(statement, loss);
  sqlite3_bind_int64(statement, 4, (int64_t)loss->total);
  sqlite3_bind_int64(statement, 5, loss->seen);
  return finish(database, statement, "noting what was lost");
}

/* ---- what was left out ---- */

enum base_status st_filtered_add(struct st_database *database, const struct st_filtered *filtered) {
  sqlite3_stmt *statement = NULL;
  enum base_status status =
      prepare_write(database,
                    "INSERT INTO tq_filtered VALUES (?1, ?2, ?3, ?4, ?5)"
                    " ON CONFLICT (relation, source) DO UPDATE SET count ="
                    " CASE WHEN count > 9223372036854775807 - ?3 THEN count ELSE count + ?3 END,"
                    " since = min(since, ?4), until = max(until, ?5)",
                    &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, filtered->relation, -1, SQLITE_STATIC);
  sqlite3_bind_text(statement, 2, filtered->source, -1, SQLITE_STATIC);
  sqlite3_bind_int64(statement, 3, (int64_t)filtered->count);
  sqlite3_bind_int64(statement, 4, filtered->since);
  sqlite3_bind_int64(statement, 5, filtered->until);
  return finish(database, statement, "counting what was left out");
}

enum base_status st_filtered(struct st_database *database, const char *relation, void *context,
                             void (*each)(void *context, const struct st_filtered *filtered)) {
  sqlite3_stmt *statement = NULL;
  struct base_arena *arena = base_arena_new();
  int code = SQLITE_DONE;
  enum base_status status =
      database->version < 9
          ? BASE_OK
          : st_prepare(database,
                       "SELECT relation, source, count, since, until FROM tq_filtered"
                       " WHERE ?1 IS NULL OR relation = ?1 ORDER BY relation, source",
                       false, &statement);
  if (statement != NULL) sqlite3_bind_text(statement, 1, relation, -1, SQLITE_STATIC);
  while (statement != NULL && (code = sqlite3_step(statement)) == SQLITE_ROW) {
    int64_t count = sqlite3_column_int64(statement, 2);
    const struct st_filtered filtered = {.relation = st_column_text(arena, statement, 0),
                                         .source = st_column_text(arena, statement, 1),
                                         .count = count > 0 ? (uint64_t)count : 0,
                                         .since = sqlite3_column_int64(statement, 3),
                                         .until = sqlite3_column_int64(statement, 4)};
    each(context, &filtered);
    base_arena_reset(arena);
  }
  if (statement != NULL && code != SQLITE_DONE) status = st_fail(database, "reading tq_filtered");
  sqlite3_finalize(statement);
  base_arena_free(arena);
  return status;
}

/* ---- descriptions, announced relations ---- */

enum base_status st_description_save(struct st_database *database, uint64_t digest,
                                     const char *text, size_t length) {
  sqlite3_stmt *statement = NULL;
  enum base_status status =
      prepare_write(database, "INSERT OR IGNORE INTO tq_description VALUES (?1, ?2)", &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_int64(statement, 1, (int64_t)digest);
  sqlite3_bind_text64(statement, 2, text, length, SQLITE_STATIC, SQLITE_UTF8);
  return finish(database, statement, "keeping a description");
}

enum base_status st_announced_save(struct st_database *database,
                                   const struct st_announced *announced) {
  sqlite3_stmt *statement = NULL;
  enum base_status status = prepare_write(
      database,
      "INSERT INTO tq_announced VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (relation)"
      " DO UPDATE SET digest = ?2, holder = ?3, persistent = ?4, taskforce = ?5,"
      " event = ?6",
      &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, announced->relation, -1, SQLITE_STATIC);
  sqlite3_bind_int64(statement, 2, (int64_t)announced->digest);
  if (announced->holder >= 0) sqlite3_bind_int(statement, 3, announced->holder);
  sqlite3_bind_int64(statement, 4, announced->persistent);
  sqlite3_bind_text(statement, 5, announced->taskforce, -1, SQLITE_STATIC);
  sqlite3_bind_text(statement, 6, announced->event, -1, SQLITE_STATIC);
  return finish(database, statement, "noting what sensors announce");
}

static const char *optional_text(struct base_arena *arena, sqlite3_stmt *statement, int column) {
  return sqlite3_column_type(statement, column) == SQLITE_NULL
             ? NULL
             : st_column_text(arena, statement, column);
}

enum base_status st_description(struct st_database *database, struct base_arena *arena,
                                uint64_t digest, const char **ret) {
  sqlite3_stmt *statement = NULL;
  *ret = NULL;
  if (database->version < 5) return BASE_OK;
  enum base_status status =
      st_prepare(database, "SELECT text FROM tq_description WHERE digest = ?1", false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_int64(statement, 1, (int64_t)digest);
  int code = sqlite3_step(statement);
  if (code == SQLITE_ROW) *ret = st_column_text(arena, statement, 0);
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    status = st_fail(database, "reading a description");
  sqlite3_finalize(statement);
  return status;
}

enum base_status st_announced(struct st_database *database, struct base_arena *arena,
                              struct st_announced **ret, size_t *ret_count) {
  *ret = NULL;
  *ret_count = 0;
  if (database->version < 5) return BASE_OK;
  int64_t count = 0;
  sqlite3_stmt *statement = NULL;
  enum base_status status =
      st_query_integer(database, "SELECT count(*) FROM tq_announced", 0, &count);
  if (status != BASE_OK || count == 0) return status;
  status = st_prepare(database,
                      database->version < 8
                          ? "SELECT relation, digest, ifnull(holder, -1), persistent, NULL, NULL"
                            " FROM tq_announced ORDER BY relation LIMIT ?1"
                          : "SELECT relation, digest, ifnull(holder, -1), persistent, taskforce,"
                            " event FROM tq_announced ORDER BY relation LIMIT ?1",
                      false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_int64(statement, 1, count);
  struct st_announced *announced = BASE_NEW_ARRAY(arena, (size_t)count, struct st_announced);
  size_t read = 0;
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW)
    announced[read++] =
        (struct st_announced){.relation = st_column_text(arena, statement, 0),
                              .digest = (uint64_t)sqlite3_column_int64(statement, 1),
                              .holder = sqlite3_column_int(statement, 2),
                              .persistent = sqlite3_column_int64(statement, 3) != 0,
                              .taskforce = optional_text(arena, statement, 4),
                              .event = optional_text(arena, statement, 5)};
  if (code != SQLITE_DONE) status = st_fail(database, "reading what sensors announce");
  sqlite3_finalize(statement);
  if (status != BASE_OK) return status;
  *ret = announced;
  *ret_count = read;
  return BASE_OK;
}
