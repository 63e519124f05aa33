/* What the nodes of standing queries cost: tq_node_stats.
 *
 * A row is a node: the relation that it is of and its number there, what it does, and its figures since
 * its network was built. Whoever runs the network says when they are written; a file that was made before
 * there were such figures (version 4) has none.                                                    */
#include "storage/ground.h"

enum base_status st_node_stats_clear(struct st_database *database, const char *relation) {
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK)
    status =
        st_prepare(database, "DELETE FROM tq_node_stats WHERE relation = ?1", false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, relation, -1, SQLITE_STATIC);
  status = st_step_done(database, statement, "forgetting the figures of nodes");
  sqlite3_finalize(statement);
  return status;
}

enum base_status st_node_stats_save(struct st_database *database, const struct st_node_stats *stats,
                                    size_t count) {
  sqlite3_stmt *statement = NULL;
  if (count == 0) return BASE_OK;
  enum base_status status = st_writing(database);
  if (status == BASE_OK)
    status = st_prepare(database,
                        "INSERT INTO tq_node_stats VALUES"
                        " (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)"
                        " ON CONFLICT (relation, node) DO UPDATE SET fires = ?6, rows_in = ?7,"
                        " rows_out = ?8, time_ns = ?9, state_rows = ?10, state_rows_max = ?11,"
                        " state_bytes = ?12, state_bytes_max = ?13",
                        false, &statement);
  for (size_t i = 0; i < count && status == BASE_OK; i++) {
    const struct st_node_stats *node = &stats[i];
    const int64_t figures[] = {node->fires,       node->rows_in,        node->rows_out,
                               node->time_ns,     node->state_rows,     node->state_rows_max,
                               node->state_bytes, node->state_bytes_max};
    sqlite3_bind_text(statement, 1, node->relation, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, node->node);
    sqlite3_bind_text(statement, 3, node->kind, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 4, node->what, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 5, node->inputs, -1, SQLITE_STATIC);
    for (int f = 0; f < (int)(sizeof figures / sizeof figures[0]); f++)
      sqlite3_bind_int64(statement, 6 + f, figures[f]);
    status = st_step_done(database, statement, "writing the figures of nodes");
  }
  sqlite3_finalize(statement);
  return status;
}

enum base_status st_node_stats_load(struct st_database *database, struct base_arena *arena,
                                    struct st_node_stats **ret, size_t *ret_count) {
  *ret = NULL;
  *ret_count = 0;
  if (database->version < 4) return BASE_OK;
  int64_t count = 0;
  sqlite3_stmt *statement = NULL;
  enum base_status status =
      st_query_integer(database, "SELECT count(*) FROM tq_node_stats", 0, &count);
  if (status != BASE_OK || count == 0) return status;
  status =
      st_prepare(database,
                 "SELECT relation, node, kind, what, inputs, fires, rows_in, rows_out, time_ns,"
                 " state_rows, state_rows_max, state_bytes, state_bytes_max"
                 " FROM tq_node_stats ORDER BY relation, node LIMIT ?1",
                 false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_int64(statement, 1, count);
  struct st_node_stats *stats = BASE_NEW_ARRAY(arena, (size_t)count, struct st_node_stats);
  int code;
  size_t read = 0;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW)
    stats[read++] = (struct st_node_stats){.relation = st_column_text(arena, statement, 0),
                                           .node = sqlite3_column_int64(statement, 1),
                                           .kind = st_column_text(arena, statement, 2),
                                           .what = st_column_text(arena, statement, 3),
                                           .inputs = st_column_text(arena, statement, 4),
                                           .fires = sqlite3_column_int64(statement, 5),
                                           .rows_in = sqlite3_column_int64(statement, 6),
                                           .rows_out = sqlite3_column_int64(statement, 7),
                                           .time_ns = sqlite3_column_int64(statement, 8),
                                           .state_rows = sqlite3_column_int64(statement, 9),
                                           .state_rows_max = sqlite3_column_int64(statement, 10),
                                           .state_bytes = sqlite3_column_int64(statement, 11),
                                           .state_bytes_max = sqlite3_column_int64(statement, 12)};
  if (code != SQLITE_DONE) status = st_fail(database, "reading the figures of nodes");
  sqlite3_finalize(statement);
  if (status != BASE_OK) return status;
  *ret = stats;
  *ret_count = read;
  return BASE_OK;
}
