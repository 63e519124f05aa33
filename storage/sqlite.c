/* SQLite: its statements, and its failures as numbered messages. Knows nothing of relations.
 *
 * A transaction that failed is rolled back on the spot, which who keeps something of it hears (on_rolled_back); `failed`
 * then keeps everything else from being written until the caller has noticed (st_rollback, st_begin). */
#include <stdlib.h>
#include <string.h>

#include "engine/base/budget.h"
#include "storage/ground.h"

/* ---- errors ---- */

void st_report_failure(struct st_database *database, int code, const char *doing,
                       const char *text) {
  const char *label = database->label;
  /* The log's index could not be made as long as it has to be: that it could not be written would be no help. */
  if (code == SQLITE_IOERR_SHMSIZE) code = SQLITE_FULL;
  switch (code & 0xff) {
    case SQLITE_NOMEM:
      base_report_hint(database->diags, MSG_OUT_OF_MEMORY, NULL, NULL,
                       "give the process more (ulimit -v, cgroups)",
                       "the system has no more memory (%s, for %s)", doing, label);
      return;
    case SQLITE_FULL:
      base_report_hint(database->diags, MSG_DATABASE_FULL, NULL, NULL,
                       "free space and run the statement again", "no space is left for %s", label);
      return;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      base_report(database->diags, MSG_DATABASE_IO, NULL, NULL,
                  "reading or writing %s failed: %s (%s)", label, text, doing);
      return;
    case SQLITE_BUSY:
      base_report_hint(database->diags, MSG_DATABASE_BUSY, NULL, NULL,
                       "end the other program's transaction and try again",
                       "%s is locked by another program", label);
      return;
    case SQLITE_NOTADB:
      base_report(database->diags, MSG_NOT_A_DATABASE, NULL, NULL, "%s is not a database", label);
      return;
    case SQLITE_CORRUPT:
      base_report_hint(database->diags, MSG_DATABASE_DAMAGED, NULL, NULL,
                       "restore a copy, or try sqlite3's .recover command on it",
                       "%s is damaged: %s", label, text);
      return;
    case SQLITE_READONLY:
      base_report_hint(database->diags, MSG_DATABASE_UNWRITABLE, NULL, NULL,
                       "use --readonly, or make the file and its directory writable",
                       "%s cannot be written: %s", label, text);
      return;
    default:
      base_report(database->diags, MSG_DATABASE_FAILED, NULL, NULL, "%s: %s failed: %s", label,
                  doing, text);
  }
}

void st_run_rollback(struct st_database *database) {
  if (sqlite3_get_autocommit(database->sqlite)) return;
  sqlite3_step(database->rollback);
  sqlite3_reset(database->rollback);
}

void st_roll_back(struct st_database *database) {
  st_run_rollback(database);
  database->catalogue_stale = true;
  database->on_rolled_back(database);
}

/* An interrupt, a lock, no room; a limit on the size of files is a failing write to SQLite, whose errno is not to be
 * relied on any more when it is asked for. */
static bool may_pass(int code) {
  int kind = code & 0xff;
  return kind == SQLITE_INTERRUPT || kind == SQLITE_FULL || kind == SQLITE_BUSY ||
         code == SQLITE_IOERR_WRITE || code == SQLITE_IOERR_SHMSIZE;
}

bool st_failure_may_pass(const struct st_database *database) {
  return database->may_pass;
}

enum base_status st_fail(struct st_database *database, const char *doing) {
  int code = sqlite3_extended_errcode(database->sqlite);
  database->may_pass = may_pass(code);
  char *text = base_xstrdup(sqlite3_errmsg(database->sqlite));
  /* Of who is interrupted while he reads, what was written before, perhaps for others, stays: he decides. */
  bool stays = (code & 0xff) == SQLITE_INTERRUPT && !sqlite3_get_autocommit(database->sqlite);
  if (database->in_transaction && !stays) {
    database->in_transaction = false;
    database->savepoints = 0;
    database->failed = true;
    st_roll_back(database);
  }
  bool no_memory = (code & 0xff) == SQLITE_NOMEM || code == SQLITE_IOERR_NOMEM;
  if (no_memory) base_budget_exhausted();
  bool interrupted = (code & 0xff) == SQLITE_INTERRUPT || (no_memory && base_budget_is_exceeded());
  if (!interrupted) st_report_failure(database, code, doing, text);
  free(text);
  return interrupted ? BASE_CANCEL : BASE_SYSTEM;
}

enum base_status st_writing(struct st_database *database) {
  if (database->failed) return BASE_SYSTEM;
  BASE_CHECK(database->in_transaction, "storage-write-in-transaction");
  if (!database->readonly) return BASE_OK;
  base_report_hint(database->diags, MSG_DATABASE_READONLY, NULL, NULL, "leave out --readonly",
                   "%s was opened for reading only", database->label);
  return BASE_SYSTEM;
}

/* ---- statements ---- */

enum base_status st_prepare(struct st_database *database, const char *sql, bool persistent,
                            sqlite3_stmt **ret) {
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v3(database->sqlite, sql, -1, persistent ? SQLITE_PREPARE_PERSISTENT : 0,
                         &statement, NULL) != SQLITE_OK)
    return st_fail(database, "preparing a statement");
  *ret = statement;
  return BASE_OK;
}

enum base_status st_step_done(struct st_database *database, sqlite3_stmt *statement,
                              const char *doing) {
  enum base_status status = BASE_OK;
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) continue;
  if (code != SQLITE_DONE) status = st_fail(database, doing);
  sqlite3_reset(statement);
  return status;
}

enum base_status st_run(struct st_database *database, const char *sql, const char *doing) {
  if (sqlite3_exec(database->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK) return BASE_OK;
  return st_fail(database, doing);
}

enum base_status st_query_integer(struct st_database *database, const char *sql, int64_t missing,
                                  int64_t *ret) {
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_prepare(database, sql, false, &statement);
  if (status != BASE_OK) return status;
  int64_t value = missing;
  int code = sqlite3_step(statement);
  if (code == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
    value = sqlite3_column_int64(statement, 0);
  if (code != SQLITE_ROW && code != SQLITE_DONE) status = st_fail(database, "a query");
  sqlite3_finalize(statement);
  if (status == BASE_OK) *ret = value;
  return status;
}

char *st_column_text(struct base_arena *arena, sqlite3_stmt *statement, int column) {
  const char *text = (const char *)sqlite3_column_text(statement, column);
  return base_arena_strndup(arena, text ? text : "",
                            (size_t)sqlite3_column_bytes(statement, column));
}
