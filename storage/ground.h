/* The ground floor of storage/: the file, SQLite, the texts of SQL, rows as bytes. Nothing here knows the copy of the catalogue
 * in memory, or what is in memory of rows. */
#ifndef ST_GROUND_H
#define ST_GROUND_H

#include "storage/state.h"

/* --- file.c: the file as seen from outside SQLite */

struct st_file {
  char *path;    /* absolute, symbolic links resolved */
  bool exists;   /* a file stands there, perhaps an empty one */
  bool is_new;   /* it is to be created, or is empty */
  bool writable; /* the file and its directory can be written */
  bool log_left; /* a write-ahead log with content stands beside it */
};

/* Looks at OPTIONS->path and refuses what cannot or must not be opened; changes nothing. */
enum base_status st_file_probe(const struct st_options *options, struct base_diag_sink *diags,
                               struct st_file *ret);
void st_file_done(struct st_file *file);
/* Takes the writer's lock; *RET_PATH and *RET_DESCRIPTOR are to be given to st_file_unlock. */
enum base_status st_file_lock(const struct st_file *file, const char *label,
                              struct base_diag_sink *diags, char **ret_path, int *ret_descriptor);
void st_file_unlock(char *lock_path, int descriptor);
/* Where there is no file, an empty one that is its owner's alone; what SQLite puts beside it has the same mode. Before the
 * process has it open. */
void st_file_make(const struct st_file *file);
/* After a creation that failed: no file, or the empty one that was there. */
void st_file_undo_creation(const struct st_file *file);

/* --- heap.c */
/* SQLite gets its memory from engine/base/heap.h; to be called before it is used. */
void st_heap_configure(void);

/* --- sqlite.c */

/* Reports CODE of SQLite, which says TEXT about it, as "DOING failed". */
void st_report_failure(struct st_database *database, int code, const char *doing, const char *text);
/* Reports SQLite's last error as "DOING failed", rolls back. BASE_SYSTEM, or BASE_CANCEL when the
 * user interrupted: then what was written stays, unless SQLite was writing. */
enum base_status st_fail(struct st_database *database, const char *doing);
/* Ends SQLite's transaction, if there is one; and says so to who keeps something of it. */
void st_run_rollback(struct st_database *database);
void st_roll_back(struct st_database *database);
/* Says BASE_OK when writing is in order now: a transaction runs and the database may be written. */
enum base_status st_writing(struct st_database *database);
/* Runs SQL without results, in one piece. */
enum base_status st_run(struct st_database *database, const char *sql, const char *doing);
enum base_status st_prepare(struct st_database *database, const char *sql, bool persistent,
                            sqlite3_stmt **ret);
/* Steps a statement that gives no rows, resets it. */
enum base_status st_step_done(struct st_database *database, sqlite3_stmt *statement,
                              const char *doing);
/* The first column of the first row as an integer; MISSING if there is no row or it is NULL. */
enum base_status st_query_integer(struct st_database *database, const char *sql, int64_t missing,
                                  int64_t *ret);
/* A copy of the text at COLUMN; "" of NULL. */
char *st_column_text(struct base_arena *arena, sqlite3_stmt *statement, int column);

/* --- ahead.c: the write-ahead log */
/* From now on its length is kept to its limit. The database has one. */
enum base_status st_ahead_open(struct st_database *database, const struct st_options *options);
/* Reports that nothing more is written, and why; BASE_SYSTEM. */
enum base_status st_ahead_refuse(struct st_database *database);

/* --- blank.c: databases without relations */
/* Makes the open connection's database, in which nothing is, one without relations, of DATABASE's timeline, in a
 * transaction of its own. */
enum base_status st_blank_restore(struct st_database *database);

/* --- schema.c: texts of SQL for relations; the tq_ tables of older files */

enum base_status st_schema_upgrade(struct st_database *database);
enum base_status st_schema_timeline(struct st_database *database, bool *ret_known);
void st_sql_name(struct base_buffer *sql, const char *name);      /* "name" */
void st_sql_text(struct base_buffer *sql, const char *text);      /* 'text' */
void st_sql_index(struct base_buffer *sql, const char *relation); /* "tq_R_set" */
/* Number of columns that a domain takes: 1, or 4 for a temporal one. */
unsigned st_domain_columns(const struct st_domain *domain);
/* The name of its column PART, quoted. */
void st_sql_column(struct base_buffer *sql, const struct st_domain *domain, unsigned part);
/* The columns of all domains, each with a comma in front. */
void st_sql_domains(struct base_buffer *sql, const struct st_domain *domains, size_t count);
bool st_kind_is_event(enum st_kind kind);
/* The columns of the time from which on a tuple of KIND may last, and of that until which it may. */
const char *st_sql_start(enum st_kind kind);
const char *st_sql_last(enum st_kind kind);
void st_sql_times(struct base_buffer *sql, enum st_kind kind); /* at_lo,at_hi or start_lo,... */
/* The key of a row in the order of output, as the index has it: times, then domains. */
void st_sql_key(struct base_buffer *sql, const struct st_table *table);
/* CREATE TABLE and CREATE UNIQUE INDEX of a relation. */
void st_sql_create(struct base_buffer *sql, const struct st_relation *relation);
const char *st_kind_text(enum st_kind kind);
bool st_kind_parse(const char *text, enum st_kind *ret);

/* The domain of TABLE that is called NAME, or NULL. */
const struct st_domain *st_domain_of(const struct st_table *table, const char *name);
/* A name of the row's number that no domain hides, or NULL. */
const char *st_rowid_name(const struct st_table *table);
/* Is there an index called NAME? */
enum base_status st_index_exists(struct st_database *database, const char *name, bool *ret);

/* --- long.c: rows that last long */
/* What is longer has an index of its own. */
int64_t st_long_span(enum net_timeline timeline);
/* ... its name, quoted: "tq_R_long". */
void st_sql_long_index(struct base_buffer *sql, const char *relation);
/* The condition that makes a row of KIND long. */
void st_sql_is_long(struct base_buffer *sql, enum st_kind kind, enum net_timeline timeline);
/* SQL that makes the index of long rows, behind the relation's table. */
void st_sql_create_long(struct base_buffer *sql, enum net_timeline timeline,
                        const struct st_relation *relation);

/* --- view.c */
void st_sql_create_view(struct base_buffer *sql, enum net_timeline timeline,
                        const struct st_relation *relation);

/* --- checkpoint.c */
/* Writes the checkpoints that wait (relation.c). */
enum base_status st_checkpoints_flush(struct st_database *database);

/* --- tuple.c */

/* Can the first TIMES slots of ROW be the times of a tuple? */
bool st_are_times(const union net_slot *row, uint32_t times);
/* Why they are not, in words, or NULL. */
const char *st_times_fault(const union net_slot *row, int times);

/* --- order.c: rows in memory in the order of the index */
int st_rows_compare(const struct net_layout *layout, const struct base_strings *strings,
                    const union net_slot *a, const union net_slot *b);
/* Sorts, and keeps one of rows that are equal. */
void st_rows_order(struct net_rows *rows, const struct base_strings *strings);
void st_rows_merge(const struct net_rows *a, const struct net_rows *b,
                   const struct base_strings *strings, struct net_rows *ret);

/* --- packed.c: rows as bytes, many at a time */
/* Appends COUNT of ROWS, from FIRST on: 1 to ST_PIECE_ROWS. */
void st_rows_pack(struct base_buffer *out, const struct base_strings *strings,
                  const struct net_rows *rows, size_t first, size_t count);
/* Adds what BYTES hold to RET, of whose layout they must be. False: they are damaged; RET has no more rows. */
bool st_rows_unpack(const void *bytes, size_t length, struct base_strings *strings,
                    struct net_rows *ret);

/* --- feed.c: rows as bytes, for what only this program reads */
void st_row_encode(struct base_buffer *out, const struct base_strings *strings,
                   const struct net_layout *layout, const union net_slot *row);
/* False: the bytes are not those of a row of LAYOUT. */
bool st_row_decode(const void *bytes, size_t length, struct base_strings *strings,
                   const struct net_layout *layout, union net_slot *row);
/* Reports that WHAT of RELATION cannot be read; BASE_SYSTEM. */
enum base_status st_row_damaged(struct st_database *database, const char *relation,
                                const char *what);

/* --- sample.c */
enum base_status st_samples_prepare(struct st_database *database);

/* --- consistent.c */
/* Says of each of RELATIONS, which are in the order in which they were made, why it is unusable. */
enum base_status st_catalogue_judge(struct st_database *database, struct base_arena *arena,
                                    struct st_relation *relations, size_t count);
/* Are the tables there that the catalogue is read from? Reports it if not; BASE_SYSTEM. */
enum base_status st_catalogue_is_whole(struct st_database *database);
/* Could somebody have given this name to a relation? */
bool st_is_relation_name(const char *text);
/* TEXT, which somebody has written who is not tquel, in quotes, for a message. */
char *st_shown_text(struct base_arena *arena, const char *text);
/* ... MOST bytes of it. */
char *st_shown_part(struct base_arena *arena, const char *text, size_t most);

/* --- gone.c: relations that were destroyed */
/* Gives TABLE and its indexes names that nobody asks for, so that it can go some rows at a time; *RET_DONE false: it is small,
 * or not as we have made it, and is to be dropped. */
enum base_status st_put_away(struct st_database *database, const struct st_table *table,
                             bool *ret_done);
/* Looks whether an earlier program has left some. */
enum base_status st_gone_open(struct st_database *database);

#endif
