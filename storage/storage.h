/* The database file over SQLite: catalogue, relations, derived relations, checkpoints, feed positions.
 *
 * One connection writes (a second writer of the same file is refused), any number of sqlite3 readers
 * read (WAL). The caller frames work in st_begin / st_commit / st_rollback; nothing is written
 * outside. Implements engine/store.h; st_net(database) gives that face.
 *
 * Tables: for each relation R a STRICT table "R" with the columns of its CSV form (times INTEGER,
 * definite INTEGER 0/1, domains, a temporal domain d as d_n0 d_n1 d_d0 d_d1 REAL), an index that makes
 * it a set and gives time order, and a view "R_readable" with ISO 8601 times (abstract timeline: the
 * numbers, with the words forever and beginning); open rows have stop_lo NULL and the views fill it
 * with the relation's checkpoint. tq_relation, tq_domain, tq_query, tq_checkpoint, tq_feed, tq_pending,
 * tq_source, tq_pipe, tq_loss, tq_filtered, tq_description, tq_announced, tq_node_stats, tq_keep, tq_alike, tq_setting. PRAGMA application_id and user_version identify file and schema.       */
#ifndef ST_STORAGE_H
#define ST_STORAGE_H

#include "engine/base/arena.h"
#include "engine/base/diag.h"
#include "engine/base/status.h"
#include "engine/key.h"
#include "engine/store.h"

struct st_database;

struct st_options {
  const char *path; /* NULL: in memory */
  bool readonly;
  enum net_timeline timeline; /* of a new file */
  bool timeline_given;        /* an existing file must agree, else TQ-06xx */
  uint64_t log_limit;         /* bytes of the write-ahead log; 0: 256 MiB */
  /* Much waits in the log: may another process (st_bring_in) bring it into the file, while this one goes on? True: it
   * does. NULL: nobody else can. */
  bool (*bring_in)(void *context);
  /* Is PROCESS one that ends by itself before it is in the way (st_ahead_outgrown)? NULL: none is. */
  bool (*is_own)(void *context, long process);
  void *context;
  bool removes_later; /* st_destroy leaves the rows of large relations to st_remove_gone */
};

/* Opens or creates. Errors (each its own number, exit 3): no such directory or no permission, not a
 * database, a database of another application, a newer schema, locked by another writer (hint
 * --connect), read-only directory, other SQLite failure. Nothing is changed then.                   */
enum base_status st_open(const struct st_options *options, struct base_strings *strings,
                         struct base_diag_sink *diags, struct st_database **ret) BASE_MUST_USE;
void st_close(struct st_database *database); /* rolls back what is open */
enum net_timeline st_timeline(const struct st_database *database);
struct net_store *st_net(struct st_database *database);

/* Transactions. A full disk or any other failure: TQ-06xx, exit 3, and the transaction is rolled
 * back. Who is interrupted (BASE_CANCEL) while he reads takes nothing back: that is for who has begun.
 * st_savepoint/st_release/st_rollback_to nest within one.                                     */
enum base_status st_begin(struct st_database *database) BASE_MUST_USE;
enum base_status st_commit(struct st_database *database) BASE_MUST_USE;
void st_rollback(struct st_database *database);
/* May what failed last succeed later, as it is? There was no room on the disk, another program had the database
 * locked, or it was interrupted. */
bool st_failure_may_pass(const struct st_database *database);
/* Was the transaction taken back by a failure, and nobody has said st_rollback or st_begin since? */
bool st_has_failed(const struct st_database *database);
bool st_in_transaction(const struct st_database *database);
enum base_status st_savepoint(struct st_database *database) BASE_MUST_USE;
enum base_status st_release(struct st_database *database) BASE_MUST_USE;
void st_rollback_to(struct st_database *database);

/* --- ahead.c: the write-ahead log, which somebody who reads one state for long keeps from beginning anew. Beyond its
 * limit st_begin fails (TQ-0517), and what failed may pass. */

/* Bytes of it that are in use since the last commit; how many there may be: 0, in memory, where there is no log. */
uint64_t st_ahead_bytes(const struct st_database *database);
uint64_t st_ahead_limit(const struct st_database *database);
/* Transactions that have written, since the file was opened. */
uint64_t st_commits(const struct st_database *database);
/* Is it beyond its limit, and cannot begin anew? */
bool st_ahead_is_full(struct st_database *database);
/* Is there room in it for work that can wait? Half of its limit is left to who cannot, and not much of it is to be brought
 * into the file already. */
bool st_ahead_has_room(struct st_database *database);
/* The same, after trying to bring it into the file and to have it begin anew; outside of transactions. Where readers come
 * and go they are waited for, a quarter of a second at most. */
bool st_ahead_make_room(struct st_database *database);
/* Appends why it does not begin anew: who reads, or what failed. Returns a hint, static. */
const char *st_ahead_why(struct st_database *database, struct base_buffer *out);
/* Why it could not be brought into the file when that was last tried; NULL: it could, as far as nobody reads it. */
const char *st_ahead_failure(const struct st_database *database);
/* In a process of its own: brings what is in the log of the database PATH into its file. */
void st_bring_in(const char *path);
/* Appends who reads the oldest state, as in "process 4711 (sqlite3)"; FOREIGN: of those that are not is_own. False: nobody
 * else does. */
bool st_ahead_holder(struct st_database *database, bool foreign, struct base_buffer *out);
/* Of one who reads: does he see an old state, in the way of a log that is near its limit? May be asked in the midst of
 * anything. */
bool st_ahead_outgrown(struct st_database *database);

/* --- space.c: pages of the file that hold nothing */

struct st_space {
  uint64_t bytes;  /* of the file */
  uint64_t unused; /* of them: where nothing is */
  bool shrinks;    /* pages can be given back one by one; else only st_compact can */
  bool is_much;    /* a quarter, and more than 16 MiB */
};
enum base_status st_space(struct st_database *database, struct st_space *ret) BASE_MUST_USE;
/* Gives some back, in a transaction of its own, for TIME ns or until there are none; *RET_LEFT: there are more. Of a
 * database that shrinks. */
enum base_status st_give_back(struct st_database *database, int64_t time,
                              bool *ret_left) BASE_MUST_USE;
/* Brings all of the write-ahead log into the file, which takes its length then. False: somebody reads an older state, or does
 * so as well. */
bool st_shorten(struct st_database *database);
/* Writes all of the file anew, without unused pages, as one that shrinks; outside of transactions. Takes room for two
 * copies while it runs, and changes nothing if there is none. */
enum base_status st_compact(struct st_database *database) BASE_MUST_USE;

/* --- catalogue. Names compare case-insensitively (ASCII). */

enum st_kind {
  ST_SNAPSHOT,
  ST_EVENT,
  ST_PERIOD,
  ST_TRACED,
  ST_SAMPLED,
  ST_DERIVED_EVENT,
  ST_DERIVED_PERIOD
};

struct st_domain {
  const char *name;
  struct net_type type;
};
struct st_relation {
  const char *name;
  enum st_kind kind;
  const struct st_domain *domains;
  size_t domain_count;
  struct net_key by;      /* traced, sampled: of the domains, else none */
  net_chronon checkpoint; /* NET_BEGINNING: nothing promised yet */
  net_chronon
      passed; /* the latest finite one ever promised; NET_BEGINNING: none. Not of st_create */
  const char *definition;    /* derived: the self-contained text (tq_query), else NULL */
  const char *const *inputs; /* derived: names of the relations it reads */
  size_t input_count;
  bool origin_fixed; /* derived, real timeline: origin of its aggregates, once known */
  net_chronon origin;
  bool view;    /* derived, but not stored: there is no table */
  bool expires; /* save R until T; st_create does not look at it */
  net_chronon until;
  /* modify R to keep AGE (keep.c); st_create does not look at it. */
  bool ages; /* rows are kept for AGE chronons; else for ever */
  int64_t age;
  bool incomplete; /* tuples that ended before GONE are gone, or going */
  net_chronon gone;
  int64_t removed; /* how many */
  /* Why it can only be destroyed: somebody has changed the catalogue. What else is said of it may be
   * nonsense then, and NAME is no name where tq_relation has none. NULL: it is as it should be. */
  const char *unusable;
};

/* All relations in order of creation, in ARENA, also those that are unusable. What is computed from one of
 * these is unusable, too. */
enum base_status st_relations(struct st_database *database, struct base_arena *arena,
                              struct st_relation **ret, size_t *ret_count) BASE_MUST_USE;
/* Creates table, index, view and catalogue rows. */
enum base_status st_create(struct st_database *database,
                           const struct st_relation *relation) BASE_MUST_USE;
/* With st_options.removes_later the rows of a large relation stay in the file, where nobody finds them. */
enum base_status st_destroy(struct st_database *database, const char *name) BASE_MUST_USE;
/* Removes ROWS rows at most of a relation that was destroyed, by this program or an earlier one, in a transaction;
 * SIZE_MAX: all of it. It has gone when *RET_REMOVED is less. */
enum base_status st_remove_gone(struct st_database *database, size_t rows,
                                size_t *ret_removed) BASE_MUST_USE;
/* Is there anything to do for st_remove_gone? */
bool st_has_gone(const struct st_database *database);
enum base_status st_set_passed(struct st_database *database, const char *name,
                               net_chronon time) BASE_MUST_USE;
enum base_status st_set_origin(struct st_database *database, const char *name,
                               net_chronon origin) BASE_MUST_USE;
/* Until when the relation is kept; NET_FOREVER: no end. */
enum base_status st_set_until(struct st_database *database, const char *name,
                              net_chronon until) BASE_MUST_USE;

/* --- keep.c: rows that are old go */

/* Rows are kept for AGE chronons; -1: for ever. */
enum base_status st_set_keep(struct st_database *database, const char *name,
                             int64_t age) BASE_MUST_USE;
/* Removes rows that are over before LIMIT, open ones never: it looks at ROWS of them at most, in a transaction, and of
 * those that are logged at one piece. *RET_REMOVED: how many went; *RET_DONE: a walk
 * has ended, perhaps one that began with an earlier limit. From
 * the first call with it on the relation is said to be incomplete before LIMIT. */
enum base_status st_remove_old(struct st_database *database, const char *name, net_chronon limit,
                               size_t rows, size_t *ret_removed, bool *ret_done) BASE_MUST_USE;
/* Removes ROWS rows at most, whatever they are, and of those that are logged one piece: the relation is to be destroyed.
 * *RET_DONE: it is empty. */
enum base_status st_remove_any(struct st_database *database, const char *name, size_t rows,
                               size_t *ret_removed, bool *ret_done) BASE_MUST_USE;
/* How many rows there are that are over before LIMIT, MOST at most; *RET of those that are logged as well. */
enum base_status st_count_old(struct st_database *database, const char *name, net_chronon limit,
                              int64_t most, int64_t *ret) BASE_MUST_USE;
/* Of the rows that wait for the commit (net_store's append) those that are over before LIMIT are not written; as
 * st_remove_old otherwise. Nothing that is in the file is looked at. */
enum base_status st_drop_waiting(struct st_database *database, const char *name, net_chronon limit,
                                 size_t *ret_removed) BASE_MUST_USE;
/* Do rows of the relation wait for the commit? */
bool st_waits(struct st_database *database, const char *name);
/* A time at or before the start of each row that is not over before TIME; not far before it, once it is known how long
 * rows last. */
enum base_status st_earliest_alive(struct st_database *database, const char *name, net_chronon time,
                                   net_chronon *ret) BASE_MUST_USE;
/* The earliest start of those rows that start before TIME and are not over before it; NET_FOREVER: there is none. Unlike
 * st_earliest_alive it looks at all that started not long before TIME. */
enum base_status st_first_alive(struct st_database *database, const char *name, net_chronon time,
                                net_chronon *ret) BASE_MUST_USE;
/* Would st_earliest_alive, which was called since this was, know better if it were called again? */
bool st_goes_on_measuring(struct st_database *database);
/* All its rows are as computed now: nothing is missing. */
enum base_status st_is_complete(struct st_database *database, const char *name) BASE_MUST_USE;

/* Forgets all rows of the relation (before a recomputation). */
enum base_status st_clear(struct st_database *database, const char *name) BASE_MUST_USE;
/* ... only those that are open and may stop at SINCE or after (before a replay that says anew what is open). */
enum base_status st_clear_open(struct st_database *database, const char *name,
                               net_chronon since) BASE_MUST_USE;
enum base_status st_count(struct st_database *database, const char *name,
                          int64_t *ret) BASE_MUST_USE;
/* How many of NAME's rows begin at TIME or later, and 0 for a view; no more than MOST are counted. Those that are only
 * logged begin before their relation's checkpoint, and are not looked at. */
enum base_status st_count_from(struct st_database *database, const char *name, net_chronon time,
                               int64_t most, int64_t *ret) BASE_MUST_USE;
/* Adds whole or open rows, in whatever order they are, as put does (engine/store.h) one by one. They are
 * written in the order of time, which is fastest. */
enum base_status st_put_rows(struct st_database *database, const char *name,
                             const struct net_rows *rows) BASE_MUST_USE;
/* Of the rows of the last st_put_rows: how many added nothing, as they are equal to others of them or to tuples that
 * were there before. */
size_t st_rows_equal(const struct st_database *database);
/* Of the rows that were put and appended to NAME in the last transaction (net_store): how many are equal to others. */
uint64_t st_fed_equal(struct st_database *database, const char *name);
/* Rows that came live and many are written as they are at first, where only this library sees them
 * (net_store's append; append.c). This puts ROWS of them, of each relation in
 * proportion to what waits there and as many as a whole checkpoint needs, into their tables, in a transaction;
 * *RET_DONE: how many that were, *RET_LEFT: of how many that is still to be done. */
enum base_status st_fold(struct st_database *database, size_t rows, size_t *ret_done,
                         size_t *ret_left) BASE_MUST_USE;
/* How many rows have come so, since the file was opened. */
uint64_t st_appended(const struct st_database *database);
/* Is there anything to do for st_fold? Says nothing if that cannot be found out. */
bool st_fold_is_due(struct st_database *database);
/* How many of RELATION's rows are only there (a part of st_count). */
enum base_status st_logged(struct st_database *database, const char *name,
                           int64_t *ret) BASE_MUST_USE;
/* Takes the row out that equals ROW of LAYOUT in times and domains; nothing happens if there is none. */
enum base_status st_remove(struct st_database *database, const char *name,
                           const struct net_layout *layout,
                           const union net_slot *row) BASE_MUST_USE;
/* Is there a row that equals ROW of LAYOUT in times and domains? */
enum base_status st_has(struct st_database *database, const char *name,
                        const struct net_layout *layout, const union net_slot *row,
                        bool *ret) BASE_MUST_USE;
/* The smallest start (or at; of a start in [beginning, t], t) and the latest finite time seen in the
 * relation (starts and known stops; `beginning`: there is none). *RET_ANY false: it is empty.       */
enum base_status st_extent(struct st_database *database, const char *name, bool *ret_any,
                           net_chronon *ret_first, net_chronon *ret_last) BASE_MUST_USE;
/* The first of these alone, which is found without looking at every row. */
enum base_status st_first(struct st_database *database, const char *name, bool *ret_any,
                          net_chronon *ret) BASE_MUST_USE;
/* The earliest bound of an instant that is neither `beginning` nor `forever`; *RET_ANY false: there is
 * none. */
enum base_status st_first_finite(struct st_database *database, const char *name, bool *ret_any,
                                 net_chronon *ret) BASE_MUST_USE;

/* Traced relations: deletes and returns the tuples of ENTITY_COUNT entities that stop at FROM or later, as rows of
 * LAYOUT (period), for recomputation of those entities from then on. VALUES has for each entity those of the
 * domains BY (one-slot fields, at least one), one entity after the other.                            */
enum base_status st_take_entities(struct st_database *database, const char *name,
                                  const struct net_layout *layout, const struct net_key *by,
                                  const union net_slot *values, size_t entity_count,
                                  net_chronon from, struct net_rows *ret) BASE_MUST_USE;

/* --- check.c */

/* Gets what is wrong, in one line each: TEXT about SUBJECT, a relation, a table, "file" or "schema". */
struct st_check_sink {
  void (*found)(void *context, const char *subject, const char *text);
  void *context;
};
/* Looks for all that can be wrong with the file, but for relations that st_relations calls unusable. Reads all
 * of it, and changes nothing. Within a transaction it is one state that is looked at. A status that is not
 * BASE_OK: the catalogue could not be read, which was reported. */
enum base_status st_check(struct st_database *database,
                          const struct st_check_sink *sink) BASE_MUST_USE;

/* --- rules.c: indexes, structures, rules */

struct st_index {
  const char *name, *relation;
  const char *const *domains; /* names */
  size_t domain_count;
  bool structure; /* made by st_modify */
};
/* All indexes by name, in ARENA. */
enum base_status st_indexes(struct st_database *database, struct base_arena *arena,
                            struct st_index **ret, size_t *ret_count) BASE_MUST_USE;
/* MSG_NAME_EXISTS if a relation or an index has that name. */
enum base_status st_index_create(struct st_database *database,
                                 const struct st_index *index) BASE_MUST_USE;
enum base_status st_index_destroy(struct st_database *database, const char *name) BASE_MUST_USE;
/* heap: no further index; time: the order of time alone (the default); hash: an index on the domains. */
enum st_structure { ST_HEAP, ST_TIME, ST_HASH };
enum base_status st_modify(struct st_database *database, const char *relation,
                           enum st_structure structure, const char *const *domains,
                           size_t domain_count) BASE_MUST_USE;
enum base_status st_structure(struct st_database *database, const char *relation,
                              enum st_structure *ret) BASE_MUST_USE;

/* Texts that the catalogue keeps with a relation, numbered from 1 for each kind. */
enum st_rule_kind { ST_INTEGRITY, ST_PERMIT };
struct st_rule {
  enum st_rule_kind kind;
  const char *relation;
  int64_t number;
  const char *text;
};
/* All rules, by relation, kind and number, in ARENA. */
enum base_status st_rules(struct st_database *database, struct base_arena *arena,
                          struct st_rule **ret, size_t *ret_count) BASE_MUST_USE;
enum base_status st_rule_add(struct st_database *database, enum st_rule_kind kind,
                             const char *relation, const char *text,
                             int64_t *ret_number) BASE_MUST_USE;
enum base_status st_rule_remove(struct st_database *database, enum st_rule_kind kind,
                                const char *relation, int64_t number,
                                bool *ret_found) BASE_MUST_USE;
/* Does the database belong to the user of this process? One in memory does. */
bool st_is_owner(const struct st_database *database);

/* Rows that were written or read are kept in memory, of all relations together BYTES at most; 0: none.
 * It is 1 GiB at first. Beside them SQLite keeps pages of the file: as many bytes, but 2 MiB at least and
 * 64 MiB at most. */
enum base_status st_set_cache(struct st_database *database, size_t bytes) BASE_MUST_USE;
size_t st_cache_limit(const struct st_database *database);
/* Of what is stored: as long as it is the same nothing has been written, by this connection or another, and
 * nothing that was written has been taken back. */
struct st_version {
  int64_t others, own, taken_back;
};
enum base_status st_version(struct st_database *database, struct st_version *ret) BASE_MUST_USE;
/* Marks the strings of rows in memory, before a sweep (base_strings_mark). */
void st_mark_strings(struct st_database *database);

/* --- samples: the records of sampled relations, from which their tuples are made */

/* Adds records (rows of LAYOUT, events; their marks too), behind those that are there. */
enum base_status st_samples_add(struct st_database *database, const char *relation,
                                const struct net_rows *rows) BASE_MUST_USE;
/* The records in order of time, those of one time in the order in which they were added; *RET is good
 * while rows are added behind it. The last batch has the checkpoint CHECKPOINT.                     */
enum base_status st_samples_scan(struct st_database *database, const char *relation,
                                 const struct net_layout *layout, net_chronon checkpoint,
                                 uint32_t batch_rows, struct net_source **ret) BASE_MUST_USE;
/* The latest time of a record; *RET_ANY false: there is none. */
enum base_status st_samples_latest(struct st_database *database, const char *relation,
                                   bool *ret_any, net_chronon *ret) BASE_MUST_USE;
enum base_status st_samples_clear(struct st_database *database, const char *relation) BASE_MUST_USE;

/* --- feeds: resume positions and records beyond the checkpoint */
struct st_feed {
  const char *relation;
  const char *source; /* path, or "-" */
  int64_t position;   /* bytes consumed */
  int64_t sequence;   /* of the last record */
};
enum base_status st_feed_save(struct st_database *database,
                              const struct st_feed *feed) BASE_MUST_USE;
/* *RET_FOUND false: never seen. */
enum base_status st_feed_load(struct st_database *database, struct base_arena *arena,
                              const char *relation, const char *source, bool *ret_found,
                              struct st_feed *ret) BASE_MUST_USE;
/* Has RELATION ever had a feed whose position was kept? */
enum base_status st_feed_known(struct st_database *database, const char *relation,
                               bool *ret) BASE_MUST_USE;
/* Replaces the pending rows of RELATION (rows of LAYOUT with marks, in order). */
enum base_status st_pending_save(struct st_database *database, const char *relation,
                                 const struct net_layout *layout, const union net_slot *rows,
                                 const uint8_t *marks, size_t count) BASE_MUST_USE;
enum base_status st_pending_load(struct st_database *database, const char *relation,
                                 const struct net_layout *layout,
                                 struct net_rows *ret) BASE_MUST_USE;
/* What open rows of the derived RELATION stand for beside themselves: rows that are alike are one in its table, until
 * they stop at different times. Replaces what was there; adds what is there to RET, perhaps of rows that are open no
 * more. */
enum base_status st_alike_save(struct st_database *database, const char *relation,
                               const struct net_rows *rows) BASE_MUST_USE;
enum base_status st_alike_load(struct st_database *database, const char *relation,
                               const struct net_layout *layout, struct net_rows *ret) BASE_MUST_USE;
enum base_status st_pending_any(struct st_database *database, const char *relation,
                                bool *ret) BASE_MUST_USE;

/* --- source.c: those who hand records over, and what sensors announce */
struct st_source {
  const char *identity, *host;
  uint64_t number; /* of the last message that is durable */
  bool gone;       /* for good */
  int64_t seen;    /* ns since 1970: when he was last heard of */
};
/* All of them, in ARENA. */
enum base_status st_sources(struct st_database *database, struct base_arena *arena,
                            struct st_source **ret, size_t *ret_count) BASE_MUST_USE;
enum base_status st_source_save(struct st_database *database,
                                const struct st_source *source) BASE_MUST_USE;
/* Forgets sources, pipes and totals that were not heard of since BEFORE. */
enum base_status st_sources_forget(struct st_database *database, int64_t before) BASE_MUST_USE;

/* A sequence of records; POSITION is the number of the one that comes next. */
struct st_pipe {
  uint64_t pipe;
  const char *process;
  uint64_t position;
  net_chronon at; /* until when it is complete up to POSITION */
  int64_t seen;
};
enum base_status st_pipes_save(struct st_database *database, const struct st_pipe *pipes,
                               size_t count) BASE_MUST_USE;
/* *RET_FOUND false: never seen. */
enum base_status st_pipe_load(struct st_database *database, struct base_arena *arena, uint64_t pipe,
                              bool *ret_found, struct st_pipe *ret) BASE_MUST_USE;

/* Records of RELATION that SOURCE lost by CAUSE, in all. */
struct st_loss {
  const char *source, *relation, *cause;
  uint64_t total;
  int64_t seen;
};
/* The total that was last kept for the loss's source, relation and cause; 0: none. */
enum base_status st_loss_total(struct st_database *database, const struct st_loss *loss,
                               uint64_t *ret) BASE_MUST_USE;
enum base_status st_loss_save(struct st_database *database,
                              const struct st_loss *loss) BASE_MUST_USE;

/* Records of RELATION by SOURCE, a process, that nobody asked for, so that they were left out where they arose: COUNT of
 * them, at times from SINCE to UNTIL. */
struct st_filtered {
  const char *relation, *source;
  uint64_t count;
  net_chronon since, until;
};
/* COUNT more of them. st_destroy forgets them. */
enum base_status st_filtered_add(struct st_database *database,
                                 const struct st_filtered *filtered) BASE_MUST_USE;
/* Calls EACH for all of RELATION (NULL: of every one); what it is given is good for that call. */
enum base_status st_filtered(struct st_database *database, const char *relation, void *context,
                             void (*each)(void *context,
                                          const struct st_filtered *filtered)) BASE_MUST_USE;

/* The text of a description, by its digest. */
enum base_status st_description_save(struct st_database *database, uint64_t digest,
                                     const char *text, size_t length) BASE_MUST_USE;
/* *RET: in ARENA; NULL: it is not there. */
enum base_status st_description(struct st_database *database, struct base_arena *arena,
                                uint64_t digest, const char **ret) BASE_MUST_USE;
struct st_announced {
  const char *relation;
  uint64_t digest; /* of the description that it was made from; 0: nobody has announced it yet */
  int holder;      /* the domain whose receptacles switch its sensor, beside Process; -1: none */
  bool persistent; /* wanted as a whole, also if nobody asks */
  const char
      *taskforce; /* its event EVENT alone; NULL: of every task force that has one of its name */
  const char *event;
};
/* All of them, in ARENA. st_destroy forgets them. */
enum base_status st_announced(struct st_database *database, struct base_arena *arena,
                              struct st_announced **ret, size_t *ret_count) BASE_MUST_USE;
enum base_status st_announced_save(struct st_database *database,
                                   const struct st_announced *announced) BASE_MUST_USE;

/* --- figures of the nodes of standing queries */

struct st_node_stats {
  const char *relation; /* whose node it is */
  int64_t node;         /* its number there, as in explain */
  const char *kind;     /* net_node_info's name */
  const char *what;     /* what it does, as in explain; "" where that is all */
  const char *inputs;   /* "2 4": numbers; of another relation's nodes "R.3" */
  int64_t fires, rows_in, rows_out, time_ns;
  int64_t state_rows, state_rows_max, state_bytes, state_bytes_max;
};
/* Forgets what was said of RELATION's nodes: they are others now. */
enum base_status st_node_stats_clear(struct st_database *database,
                                     const char *relation) BASE_MUST_USE;
/* Writes the figures of COUNT nodes over those that are there. */
enum base_status st_node_stats_save(struct st_database *database, const struct st_node_stats *stats,
                                    size_t count) BASE_MUST_USE;
/* All of them, by relation and number, in ARENA. */
enum base_status st_node_stats_load(struct st_database *database, struct base_arena *arena,
                                    struct st_node_stats **ret, size_t *ret_count) BASE_MUST_USE;

#endif
