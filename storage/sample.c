/* The records of sampled relations.
 *
 *      tq_sample (position, relation, at, marks, row)       position: order in which they came
 *
 * The tuples of a sampled relation cannot be taken back to its records: a period does not tell at which
 * times between its first and its last sample the entity was looked at, and a sample that comes late, or
 * is deleted, divides it there. So the records are kept, rounds and ends among them; the relation's own
 * table is made from them. The rows are BLOBs as pending records are (feed.c).
 *
 * The table is made with the first sampled relation. A scan reads a batch at a time, each with a query
 * of its own that goes on behind the last row read, so that nothing stands in the way of writing.    */
#include <stdlib.h>

#include "storage/ground.h"

enum base_status st_samples_prepare(struct st_database *database) {
  return st_run(database,
                "CREATE TABLE IF NOT EXISTS tq_sample ("
                "  position INTEGER PRIMARY KEY NOT NULL, relation TEXT NOT NULL COLLATE NOCASE,"
                "  at INTEGER NOT NULL, marks INTEGER NOT NULL, row BLOB NOT NULL) STRICT;"
                "CREATE INDEX IF NOT EXISTS tq_sample_time ON tq_sample (relation, at, position);",
                "making room for samples");
}

enum base_status st_samples_add(struct st_database *database, const char *relation,
                                const struct net_rows *rows) {
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK && rows->count > 0)
    status = st_prepare(database,
                        "INSERT INTO tq_sample (relation, at, marks, row) VALUES (?1, ?2, ?3, ?4)",
                        false, &statement);
  struct base_buffer bytes = BASE_BUFFER_EMPTY;
  for (size_t i = 0; status == BASE_OK && i < rows->count; i++) {
    const union net_slot *row = net_rows_row(rows, i);
    base_buffer_clear(&bytes);
    st_row_encode(&bytes, database->strings, rows->layout, row);
    sqlite3_bind_text(statement, 1, relation, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, row[0].i);
    sqlite3_bind_int(statement, 3, rows->marks[i]);
    sqlite3_bind_blob64(statement, 4, bytes.data, bytes.length, SQLITE_STATIC);
    status = st_step_done(database, statement, "keeping samples");
  }
  sqlite3_finalize(statement);
  base_buffer_done(&bytes);
  return status;
}

enum base_status st_samples_clear(struct st_database *database, const char *relation) {
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK)
    status = st_prepare(database, "DELETE FROM tq_sample WHERE relation = ?1", false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, relation, -1, SQLITE_STATIC);
  status = st_step_done(database, statement, "forgetting samples");
  sqlite3_finalize(statement);
  return status;
}

enum base_status st_samples_latest(struct st_database *database, const char *relation,
                                   bool *ret_any, net_chronon *ret) {
  sqlite3_stmt *statement = NULL;
  enum base_status status =
      st_prepare(database, "SELECT max(at) FROM tq_sample WHERE relation = ?1", false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, relation, -1, SQLITE_STATIC);
  if (sqlite3_step(statement) != SQLITE_ROW) {
    status = st_fail(database, "looking for the latest sample");
  } else {
    *ret_any = sqlite3_column_type(statement, 0) != SQLITE_NULL;
    *ret = sqlite3_column_int64(statement, 0);
  }
  sqlite3_finalize(statement);
  return status;
}

/* ---- scanning ---- */

struct samples {
  struct net_source source;
  struct st_database *database;
  char *relation;
  net_chronon checkpoint;
  net_chronon at; /* of the last row read */
  int64_t position;
  uint32_t batch_rows;
  struct net_batch_builder builder;
  bool ended;
};

static enum base_status read_rows(struct samples *samples, sqlite3_stmt *statement) {
  struct st_database *database = samples->database;
  int code;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    union net_slot *row =
        net_batch_builder_add(&samples->builder, (uint8_t)sqlite3_column_int(statement, 2));
    const void *bytes = sqlite3_column_blob(statement, 3);
    size_t length = (size_t)sqlite3_column_bytes(statement, 3);
    if (!st_row_decode(bytes, length, database->strings, samples->builder.layout, row))
      return st_row_damaged(database, samples->relation, "samples");
    samples->at = sqlite3_column_int64(statement, 0);
    samples->position = sqlite3_column_int64(statement, 1);
  }
  return code == SQLITE_DONE ? BASE_OK : st_fail(database, "reading samples");
}

static enum base_status samples_next(struct net_source *source, struct net_batch *ret) {
  struct samples *samples = (struct samples *)source;
  if (samples->ended) return BASE_END;
  net_batch_builder_clear(&samples->builder);
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_prepare(samples->database,
                                       "SELECT at, position, marks, row FROM tq_sample"
                                       " WHERE relation = ?1 AND (at, position) > (?2, ?3)"
                                       " ORDER BY at, position LIMIT ?4",
                                       false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, samples->relation, -1, SQLITE_STATIC);
  sqlite3_bind_int64(statement, 2, samples->at);
  sqlite3_bind_int64(statement, 3, samples->position);
  sqlite3_bind_int64(statement, 4, samples->batch_rows);
  status = read_rows(samples, statement);
  sqlite3_finalize(statement);
  samples->ended = samples->builder.count < samples->batch_rows;
  *ret = net_batch_builder_batch(&samples->builder,
                                 samples->ended ? samples->checkpoint : samples->at);
  return status;
}

static void samples_free(struct net_source *source) {
  struct samples *samples = (struct samples *)source;
  net_batch_builder_done(&samples->builder);
  free(samples->relation);
  free(samples);
}

enum base_status st_samples_scan(struct st_database *database, const char *relation,
                                 const struct net_layout *layout, net_chronon checkpoint,
                                 uint32_t batch_rows, struct net_source **ret) {
  BASE_CHECK(layout->tuple_class == NET_EVENT, "storage-samples-are-events");
  struct samples *samples = base_xcalloc(1, sizeof *samples);
  *samples = (struct samples){.source = {.next = samples_next, .free = samples_free},
                              .database = database,
                              .relation = base_xstrdup(relation),
                              .checkpoint = checkpoint,
                              .at = NET_BEGINNING,
                              .position = -1,
                              .batch_rows = batch_rows ? batch_rows : NET_BATCH_ROWS};
  net_batch_builder_init(&samples->builder, layout, samples->batch_rows);
  *ret = &samples->source;
  return BASE_OK;
}
