/* Pages of the file that hold nothing: how many there are, and giving them back to the system.
 *
 * What is deleted leaves pages that SQLite uses again, for whatever comes. In a file that was made with
 * auto_vacuum=INCREMENTAL, as ours are, the last pages can be put into their places, some at a time, and the file becomes
 * shorter (with the checkpoint that follows). Older files keep what they have until st_compact, which writes all of it anew.
 *
 * It is given back only where it is much, since what is deleted now is often in the place of what comes next. */
#include <stdio.h>

#include "engine/base/env.h"
#include "storage/relations.h"

#define FREE_BYTES  ((uint64_t)16 << 20)
#define FREE_SHARE  4  /* one in so many */
#define PAGES       32 /* that are moved between two looks at the clock */
#define INCREMENTAL 2  /* PRAGMA auto_vacuum */

enum base_status st_space(struct st_database *database, struct st_space *ret) {
  int64_t page = 0, pages = 0, unused = 0, mode = 0;
  enum base_status status = st_query_integer(database, "PRAGMA page_size", 4096, &page);
  if (status == BASE_OK) status = st_query_integer(database, "PRAGMA page_count", 0, &pages);
  if (status == BASE_OK) status = st_query_integer(database, "PRAGMA freelist_count", 0, &unused);
  if (status == BASE_OK) status = st_query_integer(database, "PRAGMA auto_vacuum", 0, &mode);
  if (status != BASE_OK) return status;
  *ret = (struct st_space){.bytes = (uint64_t)pages * (uint64_t)page,
                           .unused = (uint64_t)unused * (uint64_t)page,
                           .shrinks = mode == INCREMENTAL};
  ret->is_much = ret->unused > FREE_BYTES && ret->unused > ret->bytes / FREE_SHARE;
  return BASE_OK;
}

static enum base_status move_pages(struct st_database *database, int64_t until, bool *ret_left) {
  int64_t unused = 0;
  enum base_status status = BASE_OK;
  do {
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA incremental_vacuum(%d)", PAGES);
    status = st_run(database, sql, "giving pages back");
    if (status == BASE_OK) status = st_query_integer(database, "PRAGMA freelist_count", 0, &unused);
  } while (status == BASE_OK && unused > 0 && base_env_monotonic() < until);
  *ret_left = status == BASE_OK && unused > 0;
  return status;
}

enum base_status st_give_back(struct st_database *database, int64_t time, bool *ret_left) {
  *ret_left = false;
  enum base_status status = st_begin(database);
  if (status != BASE_OK) return status;
  status = move_pages(database, base_env_monotonic() + time, ret_left);
  if (status == BASE_OK) status = st_commit(database);
  if (status != BASE_OK) st_rollback(database);
  return status;
}

/* What was destroyed and is there still would be written anew with the rest. */
static enum base_status remove_all_gone(struct st_database *database) {
  size_t removed;
  enum base_status status = st_begin(database);
  while (status == BASE_OK && st_has_gone(database))
    status = st_remove_gone(database, SIZE_MAX, &removed);
  if (status == BASE_OK) status = st_commit(database);
  if (status != BASE_OK) st_rollback(database);
  return status;
}

enum base_status st_compact(struct st_database *database) {
  enum base_status status = remove_all_gone(database);
  if (status == BASE_OK)
    status = st_run(database, "PRAGMA auto_vacuum=INCREMENTAL", "making the database smaller");
  if (status == BASE_OK) status = st_run(database, "VACUUM", "making the database smaller");
  return status;
}
