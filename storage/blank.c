/* A new database is the copy of one that was made while the product was built (blank_make.c): to have SQLite run forty
 * CREATE statements takes most of what a session takes to begin. Copied with SQLite's backup, so in a transaction, and
 * a database in memory is as any other in memory. */
#include "storage/blank.h"

#include "storage/ground.h"

/* A connection to the blank database, of which nobody writes a byte; SQLite's code. */
static int open_blank(const struct st_blank *blank, sqlite3 **ret) {
  int code = sqlite3_open_v2(":memory:", ret, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
  if (code != SQLITE_OK) return code;
  sqlite3_int64 size = (sqlite3_int64)blank->size;
  return sqlite3_deserialize(*ret, "main", (unsigned char *)blank->file, size, size,
                             SQLITE_DESERIALIZE_READONLY);
}

static enum base_status copy(struct st_database *database, sqlite3 *blank) {
  sqlite3_backup *backup = sqlite3_backup_init(database->sqlite, "main", blank, "main");
  if (!backup) return st_fail(database, "creating the database");
  (void)sqlite3_backup_step(backup, -1); /* what was wrong, finish says */
  return sqlite3_backup_finish(backup) == SQLITE_OK ? BASE_OK
                                                    : st_fail(database, "creating the database");
}

enum base_status st_blank_restore(struct st_database *database) {
  sqlite3 *blank = NULL;
  enum base_status status = BASE_SYSTEM;
  int code = open_blank(&st_blanks[database->timeline], &blank);
  if (code == SQLITE_OK)
    status = copy(database, blank);
  else
    st_report_failure(database, code, "creating the database", blank ? sqlite3_errmsg(blank) : "");
  sqlite3_close(blank);
  return status;
}
