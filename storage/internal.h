/* What the files of storage/ share. Nobody outside includes this.
 *
 * A st_database is one SQLite connection with the catalogue in memory: a st_table for each relation,
 * sorted by name, with the statements that write its rows. Whatever was prepared is reset at once
 * after its use, so that no statement stands in the way of a commit or of DROP TABLE.
 *
 * Failures: every call of SQLite whose result matters ends in st_fail(), which turns SQLite's code
 * into a numbered diagnostic and rolls the running transaction back. From then on, until st_rollback
 * or the next st_begin, writing calls return BASE_SYSTEM without another report.                    */
#ifndef ST_INTERNAL_H
#define ST_INTERNAL_H

#include <sqlite3.h>

#include "engine/plain.h"
#include "storage/schema_tables.h"
#include "storage/storage.h"

/* Stands for a stop that is not known in the index that makes a relation a set: NET_OPEN. */
#define ST_OPEN_VALUE "-9223372036854775807"
#define ST_OPEN_KEY   "ifnull(stop_lo," ST_OPEN_VALUE ")"

/* What all relations together may have in memory, as long as st_set_cache says nothing else. */
#define ST_CACHE_BYTES ((size_t)1 << 30)

/* What SQLite may have for pages of the file, within that. */
#define ST_PAGE_BYTES_LEAST ((size_t)2 << 20)
#define ST_PAGE_BYTES_MOST  ((size_t)64 << 20)

/* How long SQLite waits for another program's lock. */
#define ST_BUSY_TIMEOUT_MS 5000

/* How long the write-ahead log may become, if nobody says how long. */
#define ST_AHEAD_BYTES ((uint64_t)256 << 20)

/* Rows of a piece of the log, at most. */
#define ST_PIECE_ROWS 65536

/* Tables with fewer rows are dropped at once. */
#define ST_GONE_ROWS 8192

/* When rows are logged (append.c); tests have other numbers. */
struct st_log_limits {
  size_t least; /* rows at a time that are worth it */
  size_t most;  /* of one relation */
  size_t flush; /* that wait when a checkpoint comes */
  size_t piece;
};

/* Rows in memory, of a table and of the scans that read them (cache.c). */
struct st_cached {
  unsigned references;
  struct base_arena *arena; /* of the rows' layout */
  struct net_rows rows;     /* of the table's layout, in the order of its index, each once */
  struct net_plain_notes plain;
};

struct st_table {
  struct base_arena *arena; /* the table itself and all its texts */
  const char *name;         /* as created */
  enum st_kind kind;
  bool view;            /* there is no table */
  const char *unusable; /* why nobody may read or write it; NULL: it is as it should be */
  struct net_key by;
  const struct st_domain *domains;
  size_t domain_count;
  /* FIELD_OF[i]: the field of the layout last seen that is domain i; checked at each use. */
  uint32_t *field_of;
  sqlite3_stmt *put, *put_all, *find_open, *close_open, *take_open,
      *remove; /* prepared when needed */

  const struct net_layout *layout; /* all domains in their order */
  union net_slot *row;             /* of LAYOUT, to put one together in */
  uint64_t changes;                /* how often its rows were changed by this connection */
  struct st_cached *cached;        /* all its rows, with ADDED; NULL: they are not in memory */
  struct net_rows added;           /* what came since, as it came */
  int64_t cache_version;           /* PRAGMA data_version that CACHED belongs to */
  uint64_t cache_used;             /* when last, by the database's CACHE_CLOCK */
  bool cache_changed;              /* in the running transaction */
  bool cache_grows;                /* with single rows, too, until the transaction ends */

  struct net_rows
      waiting; /* rows of the running transaction that are not written yet; no layout: none */
  bool checkpoint_waits, passed_waits; /* noted in the running transaction, and not written yet: */
  net_chronon checkpoint, passed;
  bool log_known; /* what stands of the relation in the log: */
  int64_t log_rows;
  net_chronon log_last; /* the latest start among them */
  /* Rows put and appended in a transaction, not those of st_put_rows, that are equal to others. */
  uint64_t equal, equal_in; /* which transaction */

  /* Rows that are old go (keep.c): */
  bool keep_known;
  bool drops;      /* rows that waited were dropped when there was a commit */
  bool walking;    /* from WALK_FROM on, as far as WALK_LIMIT, in the order of time */
  bool incomplete; /* tuples that ended before GONE are gone */
  net_chronon gone;
  net_chronon
      came_old;     /* the least last time of rows that came since the walk began; or BEGINNING */
  net_chronon done; /* nothing that is over before it is there */
  int64_t
      widest; /* how long rows that are not long last at most, of those up to number WIDEST_TO and all that */
  int64_t widest_to;      /* came since; INT64_MAX: of all; 0: nothing is known */
  int64_t widest_version; /* PRAGMA data_version that it belongs to */
  net_chronon walk_limit, walk_from;

  /* Of the rows that are not long, those that are not over before ALIVE_AT start at ALIVE_FIRST or after (alive.c). */
  bool alive_known;
  int64_t alive_version; /* PRAGMA data_version that it belongs to */
  net_chronon alive_at, alive_first;

  bool long_done; /* of the walk */
};

struct st_scan;

/* Rows that are being put, of their table's layout (bulk.c). */
struct st_bulk {
  const struct net_rows *rows;
  const struct base_strings *strings;
  enum net_base_type *types; /* of each slot behind the times */
};

/* The write-ahead log (ahead.c). */
struct st_ahead {
  bool watched;         /* there is one, with an index */
  uint64_t limit;       /* bytes */
  uint64_t frame_bytes; /* of a page in it */
  uint64_t commits;
  uint64_t frames; /* pages that were in it after the last commit; readers: before what they read */
  uint64_t try_at; /* so many, and it is tried to have it begin anew */
  bool tried;      /* that was, in vain, */
  int moved;       /* when so many of them were in the file */
  bool (*bring_in)(void *context);
  bool (*is_own)(void *context, long process);
  void *context;
  int failure;     /* of the last checkpoint, to SQLite */
  uint32_t change; /* readers: the last transaction before the one that is open */
  bool in_the_way; /* ... and whether it keeps the log from beginning anew */
};

struct st_database {
  struct net_store store; /* the engine's view; first, so that it can be cast back */
  sqlite3 *sqlite;
  struct base_strings *strings;
  struct base_diag_sink *diags;
  char *label; /* what messages call the database: its path, or "the database in memory" */
  bool readonly;
  int version; /* of the file's schema; of a file opened for reading perhaps an older one */
  enum net_timeline timeline;
  char *lock_path; /* NULL: no lock held */
  int lock_descriptor;

  bool in_transaction;
  void (*on_rolled_back)(
      struct st_database *database); /* what is kept of a transaction is to be forgotten */
  bool failed; /* the transaction that was begun is rolled back, and the caller does not know yet */
  size_t rows_equal; /* st_rows_equal */
  bool may_pass;     /* what failed last may succeed later */
  unsigned savepoints;
  uint64_t begun;         /* transactions */
  int64_t changes_before; /* how many rows this connection had written when the transaction began */
  int64_t taken_back;     /* how often some of them were taken back */

  struct st_table **tables; /* sorted by name, ASCII case-insensitive */
  size_t table_count, table_capacity;
  bool catalogue_stale;
  bool
      is_blank; /* it has just been made: no relation is in it, and nobody has had time to edit it */
  int64_t data_version; /* readers: of the last look at the catalogue */

  sqlite3_stmt *begin, *rollback, *commit, *checkpoint, *passed,
      *log_piece;             /* prepared at first use */
  struct st_scan *scans;      /* those that are open */
  const struct st_bulk *bulk; /* while st_put_all runs */

  uint64_t catalogue_changes; /* how often tables went */
  uint64_t appended;          /* rows, written or waiting */
  struct st_log_limits log;
  bool measuring;     /* how long rows last is not found out yet (keep.c) */
  bool has_gone;      /* tables of destroyed relations, which are to be removed (gone.c): */
  int64_t gone_rows;  /* those of so many rows at least; tests have other numbers */
  size_t cache_limit; /* bytes */
  uint64_t cache_clock;
  struct st_ahead ahead;
};

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

/* --- tuple.c */

/* Can the first TIMES slots of ROW be the times of a tuple? */
bool st_are_times(const union net_slot *row, uint32_t times);
/* Why they are not, in words, or NULL. */
const char *st_times_fault(const union net_slot *row, int times);

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

/* --- relation.c: one relation's rows in and out */

enum base_status st_relation_put(struct net_store *store, const char *relation,
                                 const struct net_layout *layout, const union net_slot *row,
                                 uint8_t marks);
enum base_status st_relation_put_rows(struct net_store *store, const char *relation,
                                      const struct net_rows *rows);
enum base_status st_relation_remove(struct net_store *store, const char *relation,
                                    const struct net_layout *layout, const union net_slot *row);
enum base_status st_relation_close(struct net_store *store, const char *relation,
                                   const struct net_layout *layout, const union net_slot *open,
                                   const union net_slot *row, uint8_t marks);
enum base_status st_relation_checkpoint(struct net_store *store, const char *relation,
                                        net_chronon time);

/* --- came.c: what is remembered of rows */
/* A row of TABLE came, or came to have this stop. */
void st_row_came(const struct st_database *database, struct st_table *table,
                 const union net_slot *row);
/* TABLE is new, and empty. */
void st_none_came(struct st_database *database, struct st_table *table);
/* Of rows put into TABLE, COUNT are equal to others. */
void st_note_equal(const struct st_database *database, struct st_table *table, size_t count);

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

/* --- checkpoint.c */
/* Writes the checkpoints that wait (relation.c). */
enum base_status st_checkpoints_flush(struct st_database *database);

/* --- append.c: rows that are written as they come, and put into their table later */
enum base_status st_relation_append(struct net_store *store, const char *relation,
                                    const struct net_rows *rows);
/* Writes the rows of all tables that wait; those of TABLE if they are many. */
enum base_status st_log_flush_all(struct st_database *database);
enum base_status st_log_flush_many(struct st_database *database, struct st_table *table);
/* All logged rows of TABLE go into the table. */
enum base_status st_log_fold(struct st_database *database, struct st_table *table);
/* The table of NAME, of which nothing waits; reports MSG_UNKNOWN_RELATION when there is none. */
enum base_status st_catalogue_find(struct st_database *database, const char *name,
                                   struct st_table **ret);

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

/* --- keep.c */
/* What is remembered of what is old is no more. */
void st_keep_rolled_back(struct st_database *database);

/* --- alive.c */
/* Of TABLE's rows, without those in the log, that are not over before TIME and not long, none starts before *RET. */
enum base_status st_first_short(struct st_database *database, struct st_table *table,
                                net_chronon time, net_chronon *ret);

/* --- bulk.c */
/* Puts ROWS, of TABLE's own layout, by one statement. */
enum base_status st_put_all(struct st_database *database, struct st_table *table,
                            const struct net_rows *rows);

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

/* --- bounded.c: part of a relation */
/* " WHERE ..." of rows before CHECKPOINT that are WANTED, whose strings st_bind_wanted binds. */
void st_sql_wanted(struct base_buffer *sql, const struct st_table *table,
                   const struct net_wanted *wanted, net_chronon checkpoint);
/* False: there is no memory for it. */
bool st_bind_wanted(struct st_database *database, sqlite3_stmt *statement,
                    const struct net_wanted *wanted);
/* If few rows are wanted and indexes find them: statements (the first may be NULL) that one after the
 * other give them in the order of time, as st_sql_select does; else both are NULL. */
enum base_status st_open_bounded(struct st_database *database, struct st_table *table,
                                 const struct net_layout *layout, const struct net_wanted *wanted,
                                 net_chronon checkpoint, sqlite3_stmt *statements[2]);

/* --- scan.c */
enum base_status st_relation_scan(struct net_store *store, const struct net_scan *what,
                                  struct net_source **ret);
/* The database goes: open scans end. */
void st_scans_detach(struct st_database *database);

/* --- heap.c */
/* SQLite gets its memory from engine/base/heap.h; to be called before it is used. */
void st_heap_configure(void);

#endif
