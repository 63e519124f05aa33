/* What an open database is; below all that the files of storage/ ask of each other (ground.h).
 *
 * A st_database is one SQLite connection with the catalogue in memory: a st_table for each relation,
 * sorted by name, with the statements that write its rows. Whatever was prepared is reset at once
 * after its use, so that no statement stands in the way of a commit or of DROP TABLE.
 *
 * Failures: every call of SQLite whose result matters ends in st_fail(), which turns SQLite's code
 * into a numbered diagnostic and rolls the running transaction back. From then on, until st_rollback
 * or the next st_begin, writing calls return BASE_SYSTEM without another report.                    */
#ifndef ST_STATE_H
#define ST_STATE_H

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

#endif
