/* The middle floor of storage/: rows of one table, bound and read, in memory, in the log; and which tables there are. What
 * waits is not written here. */
#ifndef ST_ROWS_H
#define ST_ROWS_H

#include "storage/ground.h"

/* --- row.c: rows and SQLite's columns */
/* Binds the value at SLOT of BASE to the parameters FIRST (and three more of a temporal value).
 * Strings are not copied: the statement must be stepped before the table of strings is swept. */
void st_bind_value(struct st_database *database, sqlite3_stmt *statement, int first,
                   enum net_base_type base, const union net_slot *slot);
/* Takes the row at which STATEMENT (times, definite, fields) stands, and its marks. DECLARED: values are of
 * their types' widths (st_is_declared). NULL; or why it is no tuple, with *RET_FIELD (NULL: its times, or
 * definite): somebody has edited the table, and ROW is of no use. */
const char *st_column_row(struct st_database *database, sqlite3_stmt *statement, bool declared,
                          const struct net_layout *layout, union net_slot *row, uint8_t *ret_marks,
                          const struct net_field **ret_field);
/* Have TABLE's domains the types that somebody has declared, which all values were checked against? */
bool st_is_declared(const struct st_table *table);
/* Calls ON_FAULT for the rows of TABLE that are no tuples, by number (-1: nobody can say), until it returns
 * false. */
enum base_status st_each_fault(struct st_database *database, const struct st_table *table,
                               bool (*on_fault)(void *context, int64_t row, const char *fault),
                               void *context);
/* Reports the first of them; BASE_SYSTEM, or BASE_CANCEL. */
enum base_status st_refuse_row(struct st_database *database, const struct st_table *table);
/* Which field of LAYOUT is which domain, for st_bind_row. */
void st_match_fields(struct st_table *table, const struct net_layout *layout);
/* Binds times, definite and domains of ROW to the parameters from 1 on. */
void st_bind_row(struct st_database *database, const struct st_table *table,
                 sqlite3_stmt *statement, const struct net_layout *layout,
                 const union net_slot *row, bool definite);
/* SELECT times, definite, fields FROM relation. */
void st_sql_select(struct base_buffer *sql, const struct st_table *table,
                   const struct net_layout *layout);
/* ROW of LAYOUT, whose fields were matched, as TABLE's own layout has it and as SQLite gives it back;
 * good until the next call. */
const union net_slot *st_row_of_table(struct st_table *table, const struct net_layout *layout,
                                      const union net_slot *row);

/* --- came.c: what is remembered of rows */
/* A row of TABLE came, or came to have this stop. */
void st_row_came(const struct st_database *database, struct st_table *table,
                 const union net_slot *row);
/* TABLE is new, and empty. */
void st_none_came(struct st_database *database, struct st_table *table);
/* Of rows put into TABLE, COUNT are equal to others. */
void st_note_equal(const struct st_database *database, struct st_table *table, size_t count);

/* --- log.c: rows that are not in their table yet */
/* Are rows of TABLE logged, if they are many? */
bool st_log_takes(const struct st_table *table);
/* Can rows of TABLE be in the log of this file? */
bool st_log_is_possible(const struct st_database *database, const struct st_table *table);
/* Sets what TABLE, of which rows are logged, remembers of its log. */
enum base_status st_log_know(struct st_database *database, struct st_table *table);
/* Are there any? Then TABLE remembers how many. */
enum base_status st_log_any(struct st_database *database, struct st_table *table, bool *ret);
/* The rows that wait of TABLE, in order and behind all others, are in the log now. */
enum base_status st_log_write(struct st_database *database, struct st_table *table);
enum base_status st_log_clear(struct st_database *database, struct st_table *table);
/* What is remembered of the log, and what waits, is no more. */
void st_log_forget(struct st_table *table);
void st_log_rolled_back(struct st_database *database);

/* The logged rows of a relation as they are now, still packed. */
struct st_piece {
  char *bytes;
  size_t length;
};
struct st_log {
  struct base_arena *arena;
  const char *relation;
  const struct net_layout *layout; /* that of the table */
  struct st_piece *pieces;
  size_t count, capacity;
  net_chronon first; /* the earliest start */
  int64_t rows;
};
/* *RET is NULL if there are none. */
enum base_status st_log_read(struct st_database *database, struct st_table *table,
                             struct st_log **ret);
void st_log_free(struct st_log *log);
/* Adds the rows of one piece, numbered from 0, to RET, which has LOG's layout. */
enum base_status st_log_rows(struct st_database *database, const struct st_log *log, size_t piece,
                             struct net_rows *ret);
/* Calls LOOK with the rows of each piece; there are perhaps none. Who looks at the table as well does so behind it: what a
 * writer folds meanwhile is then seen twice, and not missed. */
enum base_status st_log_each(struct st_database *database, struct st_table *table,
                             void (*look)(void *context, const struct net_rows *rows),
                             void *context);
/* Has the table rows that do not lie before those of LOG? Then others wrote them. */
enum base_status st_log_overlaps(struct st_database *database, const struct st_table *table,
                                 const struct st_log *log, bool *ret);

/* --- cache.c: rows kept in memory */
/* The rows of TABLE, held for the caller, if they are in memory and of VERSION; else NULL. */
struct st_cached *st_cache_find(struct st_database *database, struct st_table *table,
                                int64_t version);
void st_cached_release(struct st_cached *cached);
/* TABLE's rows are now none. GROWS: what st_cache_put says belongs to them, up to the commit. */
void st_cache_begin_empty(struct st_database *database, struct st_table *table, bool grows);
bool st_cache_is_empty(const struct st_table *table);
/* Reads the rows of TABLE, whose version is VERSION now, and those of LOG (may be NULL) into memory and holds
 * them for the caller; *RET is NULL if there is no room. */
enum base_status st_cache_load(struct st_database *database, struct st_table *table,
                               const struct st_log *log, int64_t version, struct st_cached **ret);
/* ... also if there is no room; they are held by the caller alone. */
enum base_status st_cache_read(struct st_database *database, const struct st_table *table,
                               const struct st_log *log, struct st_cached **ret);
/* A row was put, and CACHE_GROWS; rows, in order, were put (they may be taken over). */
void st_cache_put(struct st_database *database, struct st_table *table, const union net_slot *row,
                  uint8_t marks);
void st_cache_put_rows(struct st_database *database, struct st_table *table, struct net_rows *rows);
/* TABLE has changed otherwise, or goes. */
void st_cache_forget(struct st_table *table);
void st_cache_committed(struct st_database *database);
void st_cache_rolled_back(struct st_database *database);
void st_rows_mark_strings(const struct net_rows *rows, struct base_strings *strings);
void st_cache_mark_strings(const struct st_database *database);

/* --- bulk.c */
/* Puts ROWS, of TABLE's own layout, by one statement. */
enum base_status st_put_all(struct st_database *database, struct st_table *table,
                            const struct net_rows *rows);

/* --- catalogue.c */
enum base_status st_catalogue_load(struct st_database *database);
void st_catalogue_forget(struct st_database *database);
/* Reads the copy in memory again, if it is not that of the file any more. */
enum base_status st_catalogue_refresh(struct st_database *database);
bool st_catalogue_has(const struct st_database *database, const char *name);
/* The table of NAME, if it is unusable, or NULL. */
struct st_table *st_catalogue_unusable(const struct st_database *database, const char *name);
/* RELATION, of whose name there is none, is in the copy from now on; TABLE is not any more, and is freed. */
struct st_table *st_catalogue_add(struct st_database *database, const struct st_relation *relation);
void st_catalogue_remove(struct st_database *database, struct st_table *table);
/* The table of NAME, without writing what waits of it; reports MSG_UNKNOWN_RELATION when there is none. */
enum base_status st_catalogue_look(struct st_database *database, const char *name,
                                   struct st_table **ret);

#endif
