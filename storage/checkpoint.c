/* Checkpoints, and what was passed: they wait in memory for the end of the transaction (st_relation_checkpoint,
 * st_set_passed), and the last one is written. */
#include "storage/ground.h"

static enum base_status write_checkpoint(struct st_database *database, struct st_table *table) {
  enum base_status status = BASE_OK;
  table->checkpoint_waits = false;
  if (!database->checkpoint)
    status = st_prepare(database,
                        "INSERT INTO tq_checkpoint (relation, checkpoint) VALUES (?1, ?2)"
                        " ON CONFLICT (relation) DO UPDATE SET checkpoint = ?2",
                        true, &database->checkpoint);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(database->checkpoint, 1, table->name, -1, SQLITE_STATIC);
  sqlite3_bind_int64(database->checkpoint, 2, table->checkpoint);
  return st_step_done(database, database->checkpoint, "noting a checkpoint");
}

static enum base_status write_passed(struct st_database *database, struct st_table *table) {
  enum base_status status = BASE_OK;
  table->passed_waits = false;
  if (!database->passed)
    status = st_prepare(database, "UPDATE tq_checkpoint SET passed = ?2 WHERE relation = ?1", true,
                        &database->passed);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(database->passed, 1, table->name, -1, SQLITE_STATIC);
  sqlite3_bind_int64(database->passed, 2, table->passed);
  return st_step_done(database, database->passed, "noting what was passed");
}

enum base_status st_checkpoints_flush(struct st_database *database) {
  enum base_status status = BASE_OK;
  for (size_t i = 0; i < database->table_count && status == BASE_OK; i++) {
    struct st_table *table = database->tables[i];
    if (table->checkpoint_waits) status = write_checkpoint(database, table);
    if (status == BASE_OK && table->passed_waits) status = write_passed(database, table);
  }
  return status;
}
