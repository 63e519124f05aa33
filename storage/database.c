/* Opening and transactions.
 *
 * One thread at a time uses a database (the mutexes of SQLite are off). A writer commits with
 * synchronous=FULL: when st_commit returns, the transaction survives a power failure, and a source
 * of records may be acknowledged. A reader (--readonly) opens the file like a writer where it may,
 * with query_only on, because a read-only connection to a database in WAL mode leaves the log and
 * its index behind when it is the last to go; where it may not write, it opens it read-only, and
 * where not even the index of the log can be made, as immutable, provided there is no log to miss.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/base/budget.h"
#include "engine/base/env.h"
#include "storage/relations.h"

#define STEPS_BETWEEN_LOOKS 20000 /* of SQLite's machine, before we look for an interrupt */

static int look_for_interrupt(void *context) {
  (void)context;
  return base_env_interrupted();
}

/* What is kept of a transaction that is taken back. */
static void forget_transaction(struct st_database *database) {
  st_cache_rolled_back(database);
  st_log_rolled_back(database);
  st_keep_rolled_back(database);
}

/* ---- opening ---- */

static const struct net_store_class store_class = {
    .scan = st_relation_scan,
    .put = st_relation_put,
    .put_rows = st_relation_put_rows,
    .append = st_relation_append,
    .close = st_relation_close,
    .remove = st_relation_remove,
    .checkpoint = st_relation_checkpoint,
};

/* The URI of a file that nobody changes while it is read; any byte may stand in PATH. */
static char *immutable_uri(const char *path) {
  struct base_buffer uri = BASE_BUFFER_EMPTY;
  base_buffer_puts(&uri, "file:");
  for (; *path; path++)
    if (strchr("%?#", *path) || (unsigned char)*path < 0x21)
      base_buffer_printf(&uri, "%%%02x", (unsigned)(unsigned char)*path);
    else
      base_buffer_putc(&uri, *path);
  base_buffer_puts(&uri, "?immutable=1");
  return uri.data;
}

/* Touches the file as little as sqlite3_open_v2 does, that is, not at all. */
static enum base_status connect(struct st_database *database, const char *path, int flags) {
  sqlite3_close(database->sqlite);
  database->sqlite = NULL;
  int code = sqlite3_open_v2(path, &database->sqlite, flags | SQLITE_OPEN_NOMUTEX, NULL);
  if (!database->sqlite) { /* there is nothing to ask what was wrong */
    st_report_failure(database, SQLITE_NOMEM, "opening", "");
    return BASE_SYSTEM;
  }
  if (code != SQLITE_OK) return st_fail(database, "opening");
  sqlite3_extended_result_codes(database->sqlite, 1);
  sqlite3_busy_timeout(database->sqlite, ST_BUSY_TIMEOUT_MS);
  sqlite3_progress_handler(database->sqlite, STEPS_BETWEEN_LOOKS, look_for_interrupt, NULL);
  sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
  sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
  sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  /* None of ours reads a view; one in the place of a table may have no end. */
  sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
  return BASE_OK;
}

static void keep_log(struct st_database *database, bool keep) {
  sqlite3_db_config(database->sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep, NULL);
}

/* Can the database be read over this connection? Says nothing. */
static bool can_read(struct st_database *database) {
  return sqlite3_exec(database->sqlite, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL) ==
         SQLITE_OK;
}

static enum base_status connect_reader(struct st_database *database, const struct st_file *file) {
  enum base_status status =
      connect(database, file->path, file->writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
  if (status != BASE_OK) return status;
  keep_log(database, file->log_left);
  if (!file->writable && !can_read(database)) {
    int code = sqlite3_errcode(database->sqlite) & 0xff;
    if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY) return st_fail(database, "reading");
    if (file->log_left) {
      base_report_hint(database->diags, MSG_DATABASE_LOG_UNREADABLE, NULL, NULL,
                       "open it once where its directory can be written",
                       "the latest changes to %s cannot be read", database->label);
      return BASE_SYSTEM;
    }
    char *uri = immutable_uri(file->path);
    status = connect(database, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    free(uri);
    if (status != BASE_OK) return status;
  }
  return st_run(database, "PRAGMA query_only=ON", "opening");
}

/* The schema is committed before the log is switched on: see file.c. */
static enum base_status create(struct st_database *database) {
  database->version = ST_SCHEMA_VERSION;
  database->is_blank = true;
  return st_blank_restore(database);
}

static enum base_status check_version(struct st_database *database) {
  int64_t version;
  enum base_status status = st_query_integer(database, "PRAGMA user_version", 0, &version);
  if (status != BASE_OK) return status;
  database->version = (int)version;
  if (version < 1) {
    base_report(database->diags, MSG_DATABASE_DAMAGED, NULL, NULL,
                "%s is damaged: it does not say which schema it has", database->label);
    return BASE_SYSTEM;
  }
  if (version <= ST_SCHEMA_VERSION) return BASE_OK;
  base_report_hint(database->diags, MSG_DATABASE_NEWER, NULL, NULL,
                   "use the newer version of tquel for this database",
                   "%s was written by a newer tquel (schema %d, this one knows %d)",
                   database->label, (int)version, ST_SCHEMA_VERSION);
  return BASE_SYSTEM;
}

static enum base_status upgrade(struct st_database *database) {
  if (database->version == ST_SCHEMA_VERSION) return BASE_OK;
  enum base_status status = st_begin(database);
  if (status == BASE_OK) status = st_schema_upgrade(database);
  if (status == BASE_OK) status = st_commit(database);
  if (status == BASE_OK) database->version = ST_SCHEMA_VERSION;
  return status;
}

static enum base_status check_timeline(struct st_database *database,
                                       const struct st_options *options) {
  bool known;
  enum base_status status = st_schema_timeline(database, &known);
  if (status != BASE_OK) return status;
  if (!known) {
    base_report(database->diags, MSG_DATABASE_DAMAGED, NULL, NULL,
                "%s is damaged: it does not say which timeline it has", database->label);
    return BASE_SYSTEM;
  }
  if (!options->timeline_given || options->timeline == database->timeline) return BASE_OK;
  base_report_hint(database->diags, MSG_DATABASE_TIMELINE, NULL, NULL,
                   "leave out --timeline for an existing database", "%s has the %s timeline",
                   database->label, database->timeline == NET_TIMELINE_REAL ? "real" : "abstract");
  return BASE_SYSTEM;
}

static enum base_status open_writer(struct st_database *database, const struct st_options *options,
                                    const struct st_file *file) {
  if (!file->exists) st_file_make(file);
  enum base_status status =
      connect(database, file->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (status != BASE_OK) return status;
  keep_log(database, file->log_left);
  status = st_run(database, "PRAGMA synchronous=FULL", "opening");
  if (status == BASE_OK && file->is_new) status = create(database);
  if (status == BASE_OK) status = check_version(database);
  if (status == BASE_OK) status = check_timeline(database, options);
  if (status == BASE_OK)
    status = st_run(database, "PRAGMA journal_mode=WAL; PRAGMA journal_size_limit=67108864",
                    "switching on the write-ahead log");
  if (status == BASE_OK) status = st_ahead_open(database, options);
  if (status == BASE_OK) status = upgrade(database);
  if (status == BASE_OK) keep_log(database, false);
  return status;
}

/* What was not committed is taken back. With statements the connection would not be closed. */
static void disconnect(struct st_database *database) {
  sqlite3_stmt **const statements[] = {&database->begin,  &database->rollback,
                                       &database->commit, &database->checkpoint,
                                       &database->passed, &database->log_piece};
  if (!database->sqlite) return;
  sqlite3_progress_handler(database->sqlite, 0, NULL, NULL);
  st_run_rollback(database);
  for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
    sqlite3_finalize(*statements[i]);
    *statements[i] = NULL;
  }
  int code = sqlite3_close(database->sqlite);
  BASE_CHECK(code == SQLITE_OK, "storage-statements-finalized");
  database->sqlite = NULL;
}

/* Of one who reads. A database that nobody has written since it was made may have no log. */
static enum base_status watch_log(struct st_database *database, const struct st_options *options) {
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_prepare(database, "PRAGMA journal_mode", false, &statement);
  if (status != BASE_OK) return status;
  bool has_log = sqlite3_step(statement) == SQLITE_ROW &&
                 strcmp((const char *)sqlite3_column_text(statement, 0), "wal") == 0;
  sqlite3_finalize(statement);
  return has_log ? st_ahead_open(database, options) : BASE_OK;
}

static enum base_status open_file(struct st_database *database, const struct st_options *options) {
  struct st_file file = {0};
  enum base_status status = st_file_probe(options, database->diags, &file);
  if (status != BASE_OK) return status;
  if (options->readonly) {
    database->readonly = true;
    status = connect_reader(database, &file);
    if (status == BASE_OK) status = check_version(database);
    if (status == BASE_OK) status = check_timeline(database, options);
    if (status == BASE_OK && file.writable) status = watch_log(database, options);
    st_file_done(&file);
    return status;
  }
  status = st_file_lock(&file, database->label, database->diags, &database->lock_path,
                        &database->lock_descriptor);
  if (status != BASE_OK) {
    st_file_done(&file);
    return status;
  }
  /* What was seen before the lock was ours may have changed. */
  st_file_done(&file);
  status = st_file_probe(options, database->diags, &file);
  if (status != BASE_OK) return status;
  status = open_writer(database, options, &file);
  if (status != BASE_OK) {
    disconnect(database);
    st_file_undo_creation(&file);
  }
  st_file_done(&file);
  return status;
}

static enum base_status open_memory(struct st_database *database) {
  enum base_status status =
      connect(database, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
  if (status == BASE_OK) status = create(database);
  return status;
}

enum base_status st_open(const struct st_options *options, struct base_strings *strings,
                         struct base_diag_sink *diags, struct st_database **ret) {
  st_heap_configure();
  struct st_database *database = base_xcalloc(1, sizeof *database);
  database->store.class = &store_class;
  database->on_rolled_back = forget_transaction;
  database->strings = strings;
  database->diags = diags;
  database->timeline = options->timeline;
  database->log =
      (struct st_log_limits){.least = 4096, .most = 8388608, .flush = 6144, .piece = ST_PIECE_ROWS};
  database->gone_rows = options->removes_later ? ST_GONE_ROWS : INT64_MAX;
  database->label = base_xstrdup(options->path ? options->path : "the database in memory");
  enum base_status status = options->path ? open_file(database, options) : open_memory(database);
  database->readonly = options->readonly;
  if (status == BASE_OK) status = st_set_cache(database, ST_CACHE_BYTES);
  if (status == BASE_OK && !database->is_blank) status = st_catalogue_load(database);
  if (status == BASE_OK && !database->is_blank) status = st_gone_open(database);
  database->is_blank = false;
  if (status == BASE_OK)
    *ret = database;
  else
    st_close(database);
  return status;
}

void st_close(struct st_database *database) {
  if (!database) return;
  st_scans_detach(database);
  st_catalogue_forget(database);
  disconnect(database);
  st_file_unlock(database->lock_path, database->lock_descriptor);
  free(database->tables);
  free(database->label);
  free(database);
}

enum net_timeline st_timeline(const struct st_database *database) {
  return database->timeline;
}

struct net_store *st_net(struct st_database *database) {
  return &database->store;
}

/* ---- transactions ---- */

enum base_status st_begin(struct st_database *database) {
  BASE_CHECK(!database->in_transaction, "storage-begin-outside-transaction");
  database->failed = false;
  if (st_ahead_is_full(database)) return st_ahead_refuse(database);
  enum base_status status = BASE_OK;
  /* When it is needed there may be no memory for it. */
  if (!database->rollback) status = st_prepare(database, "ROLLBACK", true, &database->rollback);
  if (status == BASE_OK && !database->begin)
    status = st_prepare(database, database->readonly ? "BEGIN" : "BEGIN IMMEDIATE", true,
                        &database->begin);
  if (status == BASE_OK) status = st_step_done(database, database->begin, "beginning");
  if (status == BASE_OK) {
    database->in_transaction = true;
    database->begun++;
    database->changes_before = sqlite3_total_changes64(database->sqlite);
  }
  return status;
}

/* What waits in memory to be written. */
static enum base_status write_waiting(struct st_database *database) {
  enum base_status status = st_log_flush_all(database);
  return status == BASE_OK ? st_checkpoints_flush(database) : status;
}

enum base_status st_commit(struct st_database *database) {
  if (database->failed) return BASE_SYSTEM;
  BASE_CHECK(database->in_transaction, "storage-commit-in-transaction");
  BASE_CHECK(database->savepoints == 0, "storage-savepoints-released");
  enum base_status status = write_waiting(database);
  if (status == BASE_OK && !database->commit)
    status = st_prepare(database, "COMMIT", true, &database->commit);
  if (status == BASE_OK) status = st_step_done(database, database->commit, "committing");
  if (status == BASE_OK) {
    database->in_transaction = false;
    st_cache_committed(database);
  } else if (database->in_transaction) { /* what waited cannot be written */
    st_rollback(database);
    database->failed = true;
  }
  return status;
}

void st_rollback(struct st_database *database) {
  if (database->in_transaction) {
    st_roll_back(database);
  }
  database->in_transaction = false;
  database->savepoints = 0;
  database->failed = false;
}

bool st_in_transaction(const struct st_database *database) {
  return database->in_transaction;
}

bool st_has_failed(const struct st_database *database) {
  return database->failed;
}

static enum base_status run_savepoint(struct st_database *database, const char *verb,
                                      unsigned number) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  base_buffer_printf(&sql, "%s tq_savepoint_%u", verb, number);
  enum base_status status = st_run(database, sql.data, "a savepoint");
  base_buffer_done(&sql);
  return status;
}

enum base_status st_savepoint(struct st_database *database) {
  if (database->failed) return BASE_SYSTEM;
  BASE_CHECK(database->in_transaction, "storage-savepoint-in-transaction");
  enum base_status status = write_waiting(database);
  if (status == BASE_OK) status = run_savepoint(database, "SAVEPOINT", database->savepoints);
  if (status == BASE_OK) database->savepoints++;
  return status;
}

enum base_status st_release(struct st_database *database) {
  if (database->failed) return BASE_SYSTEM;
  BASE_CHECK(database->savepoints > 0, "storage-savepoint-open");
  enum base_status status = run_savepoint(database, "RELEASE", database->savepoints - 1);
  if (status == BASE_OK) database->savepoints--;
  return status;
}

/* Takes back what was done since the savepoint, and removes it. A failure fails the transaction. */
void st_rollback_to(struct st_database *database) {
  if (database->failed) return;
  BASE_CHECK(database->savepoints > 0, "storage-savepoint-open");
  database->catalogue_stale = true;
  st_cache_rolled_back(database);
  st_log_rolled_back(database);
  st_keep_rolled_back(database);
  if (run_savepoint(database, "ROLLBACK TO", database->savepoints - 1) == BASE_OK &&
      run_savepoint(database, "RELEASE", database->savepoints - 1) == BASE_OK)
    database->savepoints--;
}
