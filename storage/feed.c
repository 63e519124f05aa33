/* What a feed needs to go on after a restart: how far its source was read, and the records that had
 * arrived but lay beyond the checkpoint; and of what is derived from it, what the rows that are open stand for.
 *
 * All are written in the transaction that commits what was derived from the records before them.
 *
 * A pending row is a BLOB, for it is read by this program only. Little-endian, 8 bytes a slot, the
 * times first and then the fields in order; a string is its length in 8 bytes and its bytes. Before
 * each field stands one byte with its base type, so that a layout that has changed is noticed. Where there
 * are many, they are packed (packed.c).                                                             */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "storage/ground.h"

/* ---- positions ---- */

enum base_status st_feed_save(struct st_database *database, const struct st_feed *feed) {
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK)
    status = st_prepare(database,
                        "INSERT INTO tq_feed (relation, source, position, sequence)"
                        " VALUES (?1, ?2, ?3, ?4) ON CONFLICT (relation, source)"
                        " DO UPDATE SET position = ?3, sequence = ?4",
                        false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, feed->relation, -1, SQLITE_STATIC);
  sqlite3_bind_text(statement, 2, feed->source, -1, SQLITE_STATIC);
  sqlite3_bind_int64(statement, 3, feed->position);
  sqlite3_bind_int64(statement, 4, feed->sequence);
  status = st_step_done(database, statement, "noting a feed's position");
  sqlite3_finalize(statement);
  return status;
}

enum base_status st_feed_load(struct st_database *database, struct base_arena *arena,
                              const char *relation, const char *source, bool *ret_found,
                              struct st_feed *ret) {
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_prepare(
      database, "SELECT position, sequence FROM tq_feed WHERE relation = ?1 AND source = ?2", false,
      &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, relation, -1, SQLITE_STATIC);
  sqlite3_bind_text(statement, 2, source, -1, SQLITE_STATIC);
  int code = sqlite3_step(statement);
  if (code == SQLITE_ROW)
    *ret = (struct st_feed){.relation = base_arena_strdup(arena, relation),
                            .source = base_arena_strdup(arena, source),
                            .position = sqlite3_column_int64(statement, 0),
                            .sequence = sqlite3_column_int64(statement, 1)};
  if (code == SQLITE_ROW || code == SQLITE_DONE)
    *ret_found = code == SQLITE_ROW;
  else
    status = st_fail(database, "reading a feed's position");
  sqlite3_finalize(statement);
  return status;
}

enum base_status st_feed_known(struct st_database *database, const char *relation, bool *ret) {
  sqlite3_stmt *statement = NULL;
  enum base_status status =
      st_prepare(database, "SELECT 1 FROM tq_feed WHERE relation = ?1", false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, relation, -1, SQLITE_STATIC);
  int code = sqlite3_step(statement);
  *ret = code == SQLITE_ROW;
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    status = st_fail(database, "reading a feed's position");
  sqlite3_finalize(statement);
  return status;
}

/* ---- rows as bytes ---- */

static bool is_text(enum net_base_type base) {
  return net_type_is_interned(base);
}

static void append_word(struct base_buffer *out, uint64_t word) {
  word = htole64(word);
  base_buffer_append(out, &word, sizeof word);
}

static void append_slot(struct base_buffer *out, const union net_slot *slot) {
  uint64_t word;
  memcpy(&word, slot, sizeof word);
  append_word(out, word);
}

void st_row_encode(struct base_buffer *out, const struct base_strings *strings,
                   const struct net_layout *layout, const union net_slot *row) {
  for (uint32_t i = 0; i < layout->first_domain_slot; i++) append_slot(out, row + i);
  for (uint32_t i = 0; i < layout->field_count; i++) {
    const struct net_field *field = &layout->fields[i];
    base_buffer_putc(out, (char)field->type.base);
    if (is_text(field->type.base)) {
      size_t length;
      const char *text = base_strings_text(strings, row[field->slot].s, &length);
      append_word(out, length);
      base_buffer_append(out, text, length);
      continue;
    }
    for (uint32_t part = 0; part < net_type_slots(field->type.base); part++)
      append_slot(out, row + field->slot + part);
  }
}

struct cursor {
  const unsigned char *next;
  size_t left;
};

static bool take(struct cursor *at, void *ret, size_t length) {
  if (at->left < length) return false;
  memcpy(ret, at->next, length);
  at->next += length;
  at->left -= length;
  return true;
}

static bool take_word(struct cursor *at, uint64_t *ret) {
  if (!take(at, ret, sizeof *ret)) return false;
  *ret = le64toh(*ret);
  return true;
}

static bool take_slot(struct cursor *at, union net_slot *slot) {
  uint64_t word;
  if (!take_word(at, &word)) return false;
  memcpy(slot, &word, sizeof word);
  return true;
}

static bool take_field(struct cursor *at, struct base_strings *strings,
                       const struct net_field *field, union net_slot *row) {
  unsigned char base;
  uint64_t length;
  if (!take(at, &base, 1) || base != field->type.base) return false;
  if (is_text(field->type.base)) {
    if (!take_word(at, &length) || length > at->left) return false;
    row[field->slot].s = base_strings_intern(strings, (const char *)at->next, (size_t)length);
    at->next += length;
    at->left -= (size_t)length;
    return true;
  }
  for (uint32_t part = 0; part < net_type_slots(field->type.base); part++)
    if (!take_slot(at, row + field->slot + part)) return false;
  return true;
}

/* False: the bytes are not those of a row of LAYOUT. */
bool st_row_decode(const void *bytes, size_t length, struct base_strings *strings,
                   const struct net_layout *layout, union net_slot *row) {
  struct cursor at = {bytes, length};
  for (uint32_t i = 0; i < layout->first_domain_slot; i++)
    if (!take_slot(&at, row + i)) return false;
  for (uint32_t i = 0; i < layout->field_count; i++)
    if (!take_field(&at, strings, &layout->fields[i], row)) return false;
  return at.left == 0 && st_are_times(row, layout->first_domain_slot);
}

/* ---- pending rows, and those that are alike ---- */

/* Two tables of one form. */
struct row_table {
  const char *forget, *save, *load; /* SQL */
  const char *what;
};

static const struct row_table pending = {
    "DELETE FROM tq_pending WHERE relation = ?1",
    "INSERT INTO tq_pending (relation, position, marks, row) VALUES (?1, ?2, ?3, ?4)",
    "SELECT marks, row FROM tq_pending WHERE relation = ?1 ORDER BY position", "pending records"};

static const struct row_table alike = {
    "DELETE FROM tq_alike WHERE relation = ?1",
    "INSERT INTO tq_alike (relation, position, marks, row) VALUES (?1, ?2, ?3, ?4)",
    "SELECT marks, row FROM tq_alike WHERE relation = ?1 ORDER BY position", "open rows"};

static enum base_status forget_rows(struct st_database *database, const struct row_table *table,
                                    const char *relation) {
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_prepare(database, table->forget, false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, relation, -1, SQLITE_STATIC);
  status = st_step_done(database, statement, "forgetting rows");
  sqlite3_finalize(statement);
  return status;
}

/* Instead of the marks of one row: those of many are packed, whose marks say no more than `definite`. */
enum { PACKED = -1, PACK_LEAST = 16 };

/* How many of ROWS, from FIRST on, can be packed together. */
static size_t count_packable(const struct net_rows *rows, size_t first) {
  size_t at = first;
  while (at < rows->count && at - first < ST_PIECE_ROWS && (rows->marks[at] & ~NET_DEFINITE) == 0)
    at++;
  return at - first < PACK_LEAST ? 0 : at - first;
}

static enum base_status save_rows(struct st_database *database, const struct row_table *table,
                                  const char *relation, const struct net_rows *rows) {
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_writing(database);
  if (status == BASE_OK) status = forget_rows(database, table, relation);
  if (status == BASE_OK && rows->count)
    status = st_prepare(database, table->save, false, &statement);
  struct base_buffer bytes = BASE_BUFFER_EMPTY;
  for (size_t i = 0; status == BASE_OK && i < rows->count;) {
    size_t packed = count_packable(rows, i);
    base_buffer_clear(&bytes);
    if (packed > 0)
      st_rows_pack(&bytes, database->strings, rows, i, packed);
    else
      st_row_encode(&bytes, database->strings, rows->layout, net_rows_row(rows, i));
    sqlite3_bind_text(statement, 1, relation, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, (int64_t)i);
    sqlite3_bind_int(statement, 3, packed > 0 ? PACKED : rows->marks[i]);
    sqlite3_bind_blob64(statement, 4, bytes.data, bytes.length, SQLITE_STATIC);
    status = st_step_done(database, statement, "saving rows");
    i += packed > 0 ? packed : 1;
  }
  sqlite3_finalize(statement);
  base_buffer_done(&bytes);
  return status;
}

enum base_status st_row_damaged(struct st_database *database, const char *relation,
                                const char *what) {
  database->may_pass = false;
  base_report(database->diags, MSG_DATABASE_DAMAGED, NULL, NULL,
              "%s is damaged: the %s of %s have not its form", database->label, what, relation);
  return BASE_SYSTEM;
}

static enum base_status load_rows(struct st_database *database, const struct row_table *table,
                                  const char *relation, const struct net_layout *layout,
                                  struct net_rows *ret) {
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_prepare(database, table->load, false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, relation, -1, SQLITE_STATIC);
  union net_slot *row = base_xcalloc(layout->slot_count, sizeof *row);
  int code;
  while (status == BASE_OK && (code = sqlite3_step(statement)) != SQLITE_DONE) {
    if (code != SQLITE_ROW) {
      status = st_fail(database, "reading rows");
      break;
    }
    const void *bytes = sqlite3_column_blob(statement, 1);
    size_t length = (size_t)sqlite3_column_bytes(statement, 1);
    int marks = sqlite3_column_int(statement, 0);
    bool good = marks == PACKED ? st_rows_unpack(bytes, length, database->strings, ret)
                                : st_row_decode(bytes, length, database->strings, layout, row);
    if (good && marks != PACKED) net_rows_add_copy(ret, row, (uint8_t)marks);
    if (!good) status = st_row_damaged(database, relation, table->what);
  }
  free(row);
  sqlite3_finalize(statement);
  return status;
}

enum base_status st_pending_save(struct st_database *database, const char *relation,
                                 const struct net_layout *layout, const union net_slot *rows,
                                 const uint8_t *marks, size_t count) {
  const struct net_rows all = {
      .layout = layout, .rows = (union net_slot *)rows, .marks = (uint8_t *)marks, .count = count};
  return save_rows(database, &pending, relation, &all);
}

enum base_status st_pending_load(struct st_database *database, const char *relation,
                                 const struct net_layout *layout, struct net_rows *ret) {
  return load_rows(database, &pending, relation, layout, ret);
}

enum base_status st_alike_save(struct st_database *database, const char *relation,
                               const struct net_rows *rows) {
  return save_rows(database, &alike, relation, rows);
}

enum base_status st_alike_load(struct st_database *database, const char *relation,
                               const struct net_layout *layout, struct net_rows *ret) {
  return database->version < 9 ? BASE_OK : load_rows(database, &alike, relation, layout, ret);
}

enum base_status st_pending_any(struct st_database *database, const char *relation, bool *ret) {
  sqlite3_stmt *statement = NULL;
  enum base_status status = st_prepare(
      database, "SELECT 1 FROM tq_pending WHERE relation = ?1 LIMIT 1", false, &statement);
  if (status != BASE_OK) return status;
  sqlite3_bind_text(statement, 1, relation, -1, SQLITE_STATIC);
  int code = sqlite3_step(statement);
  *ret = code == SQLITE_ROW;
  if (code != SQLITE_ROW && code != SQLITE_DONE)
    status = st_fail(database, "reading pending records");
  sqlite3_finalize(statement);
  return status;
}
