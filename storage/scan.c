/* Scans: a relation as a stream of batches for an access node.
 *
 * Of a relation of which rows are logged (log.c), those come behind the ones of the table, whatever happens
 * to the log meanwhile: the scan has the pieces, and leaves out what is folded into the table behind its
 * back. If somebody else has added rows to the table that belong among them, all are read into memory.
 *
 * Rows that are in memory (cache.c), or for which there is room, come from there: batches point into them
 * where the layout asked for is that of the relation, else their fields are picked out. Others are read
 * from SQLite through the index "tq_R_set", so they are in the order of time without sorting; INDEXED BY
 * makes sure of it. Where few rows are wanted, other indexes may find them (bounded.c). Every way gives the
 * same rows, those that are wanted and no others; among rows of one start open ones come first.
 *
 *   NET_SCAN_TUPLES    the rows as they stand.
 *   NET_SCAN_RECORDS   of a traced relation, what its sensor must have said: an event at each start
 *                      and one with NET_CLOSES at each stop that is known. The stops of the rows read
 *                      so far wait in a heap until the starts have reached them:
 *
 *                          index ──▶ starts ──┬──────────────▶ event at start
 *                                             └──▶ heap ──▶ event at stop, before a start of the
 *                                                           same time
 *
 *                      The heap holds as many stops as entities have a period at one time.
 *
 * A batch's checkpoint is the time of its last row (equal times may follow, earlier ones cannot), that
 * of the last batch the one that was asked for. One row is read ahead to know which batch is last.
 *
 * A scan lives in the transaction, or the moment, in which its first batch is read: a writer sees its
 * own changes, rows added behind the scan's position are not missed or seen twice but may or may
 * not be seen at all. A statement of its own (SNAPSHOT) holds on to that moment, and says whether the
 * rows in memory belong to it, so that all scans that run together see one state also where another
 * program writes. Strings that a scan holds must be marked before a sweep (st_mark_strings).           */
#include <stdlib.h>
#include <string.h>

#include "storage/relations.h"
#include "engine/base/binary_heap.h"

struct waiting_stop {
  struct net_instant at;
  uint64_t number; /* in the order of the starts: equal stops keep that order */
  uint8_t marks;
  const union net_slot *row; /* the period, as it stands in memory; else a copy of our own */
};

struct st_scan {
  struct net_source source;     /* first, so that it can be cast back */
  struct st_database *database; /* NULL: closed before the scan was */
  struct st_scan *next, *previous;
  sqlite3_stmt *snapshot, *statement;
  sqlite3_stmt *following; /* takes the place of STATEMENT when that is done; or NULL */
  struct base_arena *arena;
  const struct net_layout *layout;
  enum net_scan_form form;
  net_chronon checkpoint;
  struct net_wanted wanted; /* all: nothing is asked of a row */
  struct net_batch_builder builder;
  bool started, row_ready, ended;
  bool declared; /* st_is_declared of the table */

  /* The table, as long as the database's CATALOGUE_CHANGES are these. */
  struct st_table *table;
  uint64_t catalogue_changes;

  /* from memory */
  struct st_cached *cached;
  size_t at, end;    /* of its rows */
  uint32_t *sources; /* of each slot of ROW_LAYOUT behind the times, in the rows in memory */
  bool as_they_are;  /* they have ROW_LAYOUT already */
  bool tests;        /* not all of them are wanted */
  struct net_wanted_test test;
  uint32_t *selection; /* of a batch that points at them, if they are tested */

  /* from the log, behind those of the table */
  struct st_log *log; /* NULL: there are none */
  bool in_log;
  size_t piece;           /* that comes next */
  struct net_rows logged; /* of the piece before it; AT is the row that comes next */

  const struct net_layout *row_layout; /* what the rows of the table are read as */

  /* records only */
  const union net_slot *period; /* the row that comes next: in memory, or */
  union net_slot *period_row;   /* as it was read from SQLite */
  uint8_t period_marks;
  struct waiting_stop *heap;
  size_t heap_count, heap_capacity;
  uint64_t starts;
};

/* ---- the heap of stops ---- */

static bool is_sooner(const struct waiting_stop *a, const struct waiting_stop *b,
                      const void *context) {
  (void)context;
  if (a->at.lo != b->at.lo) return a->at.lo < b->at.lo;
  if (a->at.hi != b->at.hi) return a->at.hi < b->at.hi;
  return a->number < b->number;
}
BASE_BINARY_HEAP(stops, struct waiting_stop, is_sooner);

static void heap_push(struct st_scan *scan, struct waiting_stop stop) {
  base_grow(&scan->heap, &scan->heap_capacity, scan->heap_count + 1, sizeof *scan->heap);
  stops_up(scan->heap, scan->heap_count++, stop, NULL);
}

static struct waiting_stop heap_pop(struct st_scan *scan) {
  struct waiting_stop first = scan->heap[0];
  size_t count = --scan->heap_count;
  stops_down(scan->heap, count, 0, scan->heap[count], NULL);
  return first;
}

/* ---- rows ---- */

static bool table_is_there(const struct st_scan *scan) {
  return scan->database->catalogue_changes == scan->catalogue_changes;
}

/* The row at which the statement stands is no tuple. */
static enum base_status refuse_row(struct st_scan *scan) {
  scan->ended = true;
  if (table_is_there(scan)) return st_refuse_row(scan->database, scan->table);
  base_report(scan->database->diags, MSG_NO_TUPLE, NULL, NULL,
              "a row of a relation that is no more was no tuple");
  return BASE_SYSTEM;
}

/* The row that comes next, from the statement or from memory, into ROW, and its marks. */
static enum base_status take_row(struct st_scan *scan, union net_slot *row, uint8_t *ret_marks) {
  const struct net_field *field;
  if (!scan->cached && !scan->in_log)
    return st_column_row(scan->database, scan->statement, scan->declared, scan->row_layout, row,
                         ret_marks, &field)
               ? refuse_row(scan)
               : BASE_OK;
  const struct net_rows *rows = scan->in_log ? &scan->logged : &scan->cached->rows;
  const union net_slot *from = net_rows_row(rows, scan->at);
  uint32_t times = scan->row_layout->first_domain_slot;
  memcpy(row, from, times * sizeof *row);
  for (uint32_t i = times; i < scan->row_layout->slot_count; i++)
    row[i] = from[scan->sources[i - times]];
  *ret_marks = rows->marks[scan->at];
  return BASE_OK;
}

/* A period whose records are wanted stays where it is. */
static enum base_status take_period(struct st_scan *scan) {
  if (scan->cached) {
    scan->period = net_rows_row(&scan->cached->rows, scan->at);
    scan->period_marks = scan->cached->rows.marks[scan->at];
    return BASE_OK;
  }
  scan->period = scan->period_row;
  return take_row(scan, scan->period_row, &scan->period_marks);
}

/* To the first row in memory, from AT on, that is wanted. */
static void skip_unwanted(struct st_scan *scan) {
  while (scan->tests && scan->at < scan->end &&
         !net_wanted_row(&scan->test, net_rows_row(&scan->cached->rows, scan->at)))
    scan->at++;
  scan->row_ready = scan->at < scan->end;
}

/* To the first logged row, from AT on, that is wanted and lies before the checkpoint. */
static enum base_status skip_logged(struct st_scan *scan) {
  scan->row_ready = false;
  for (;;) {
    for (; scan->at < scan->logged.count; scan->at++) {
      const union net_slot *row = net_rows_row(&scan->logged, scan->at);
      if (row[0].i >= scan->checkpoint && scan->checkpoint != NET_FOREVER) return BASE_OK;
      scan->row_ready = !scan->tests || net_wanted_row(&scan->test, row);
      if (scan->row_ready) return BASE_OK;
    }
    if (scan->piece == scan->log->count) return BASE_OK;
    scan->at = scan->logged.count = 0;
    enum base_status status = st_log_rows(scan->database, scan->log, scan->piece++, &scan->logged);
    if (status != BASE_OK) return status;
  }
}

static int step(struct st_scan *scan) {
  int code = sqlite3_step(scan->statement);
  if (code != SQLITE_DONE || !scan->following) return code;
  sqlite3_finalize(scan->statement);
  scan->statement = scan->following;
  scan->following = NULL;
  return sqlite3_step(scan->statement);
}

/* Steps to the next row. */
static enum base_status read_ahead(struct st_scan *scan) {
  if (scan->cached) {
    skip_unwanted(scan);
  } else if (scan->in_log) {
    enum base_status status = skip_logged(scan);
    scan->ended |= status != BASE_OK;
    return status;
  } else {
    int code = step(scan);
    if (code == SQLITE_DONE && scan->log) {
      scan->in_log = true;
      scan->at = 0;
      return read_ahead(scan);
    }
    scan->row_ready = code == SQLITE_ROW;
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
      scan->ended = true;
      return st_fail(scan->database, "reading a relation");
    }
  }
  return scan->form == NET_SCAN_RECORDS && scan->row_ready ? take_period(scan) : BASE_OK;
}

static enum base_status next_tuple(struct st_scan *scan) {
  union net_slot *row = net_batch_builder_add(&scan->builder, 0);
  enum base_status status = take_row(scan, row, &scan->builder.marks[scan->builder.count - 1]);
  scan->at++;
  return status == BASE_OK ? read_ahead(scan) : status;
}

/* The domains of a period as SCAN's events have them: the fields are the same, in order. */
static void copy_domains(const struct st_scan *scan, const union net_slot *period,
                         union net_slot *event) {
  uint32_t to = scan->layout->first_domain_slot, count = scan->layout->slot_count - to;
  uint32_t from = scan->row_layout->first_domain_slot;
  for (uint32_t i = 0; i < count; i++)
    event[to + i] = period[scan->cached ? scan->sources[i] : from + i];
}

static bool is_before_checkpoint(const struct st_scan *scan, net_chronon time) {
  return time < scan->checkpoint || scan->checkpoint == NET_FOREVER;
}

static void keep_stop(struct st_scan *scan) {
  const union net_slot *row = scan->period;
  if (row[2].i == NET_OPEN || !is_before_checkpoint(scan, row[2].i)) return;
  if (!scan->cached) {
    size_t bytes = scan->row_layout->slot_count * sizeof *row;
    row = memcpy(base_xmalloc(bytes), row, bytes);
  }
  heap_push(scan, (struct waiting_stop){.at = {row[2].i, row[3].i},
                                        .number = scan->starts,
                                        .marks = (uint8_t)(scan->period_marks | NET_CLOSES),
                                        .row = row});
}

static void forget_stop(const struct st_scan *scan, const struct waiting_stop *stop) {
  if (!scan->cached) free((void *)stop->row);
}

static enum base_status next_start(struct st_scan *scan) {
  union net_slot *event = net_batch_builder_add(&scan->builder, scan->period_marks);
  event[0] = scan->period[0];
  event[1] = scan->period[1];
  copy_domains(scan, scan->period, event);
  scan->starts++;
  keep_stop(scan);
  scan->at++;
  return read_ahead(scan);
}

static bool a_stop_is_next(const struct st_scan *scan) {
  if (!scan->heap_count) return false;
  if (!scan->row_ready) return true;
  struct net_instant stop = scan->heap[0].at;
  if (stop.lo != scan->period[0].i) return stop.lo < scan->period[0].i;
  return stop.hi <= scan->period[1].i;
}

static enum base_status next_record(struct st_scan *scan) {
  if (!a_stop_is_next(scan)) return next_start(scan);
  struct waiting_stop stop = heap_pop(scan);
  union net_slot *event = net_batch_builder_add(&scan->builder, stop.marks);
  event[0].i = stop.at.lo;
  event[1].i = stop.at.hi;
  copy_domains(scan, stop.row, event);
  forget_stop(scan, &stop);
  return BASE_OK;
}

static bool has_more(const struct st_scan *scan) {
  return scan->row_ready || scan->heap_count;
}

/* ---- where the rows come from ---- */

/* How many of the rows in memory start before the checkpoint, and not too late. */
static size_t rows_before(const struct net_rows *rows, net_chronon checkpoint, net_chronon latest) {
  size_t low = 0, high = rows->count;
  if (checkpoint == NET_FOREVER && latest == NET_FOREVER) return high;
  if (checkpoint == NET_FOREVER || latest < checkpoint) checkpoint = latest + 1; /* is finite */
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (net_rows_row(rows, middle)[0].i < checkpoint)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Which slot of the rows in memory is which of the rows that are wanted. */
static void match_slots(struct st_scan *scan, const struct net_layout *from) {
  const struct net_layout *to = scan->row_layout;
  scan->sources = base_xcalloc(to->slot_count, sizeof *scan->sources);
  scan->as_they_are = to->slot_count == from->slot_count;
  for (uint32_t i = 0; i < to->field_count; i++) {
    int field = net_layout_find(from, to->fields[i].name);
    BASE_CHECK(field >= 0, "storage-layout-field-is-a-domain");
    for (uint32_t part = 0; part < net_type_slots(to->fields[i].type.base); part++) {
      uint32_t source = from->fields[field].slot + part, slot = to->fields[i].slot + part;
      scan->sources[slot - to->first_domain_slot] = source;
      scan->as_they_are &= source == slot;
    }
  }
}

/* Is it no waste to read the domains of TABLE that LAYOUT leaves out, too? Strings may be long. */
static bool is_worth_loading(const struct st_table *table, const struct net_layout *layout) {
  for (size_t i = 0; i < table->domain_count; i++) {
    enum net_base_type base = table->domains[i].type.base;
    if ((net_type_is_interned(base)) && net_layout_find(layout, table->domains[i].name) < 0)
      return false;
  }
  return true;
}

/* Do batches point into the rows in memory? */
static bool points(const struct st_scan *scan) {
  return scan->cached && scan->form == NET_SCAN_TUPLES && scan->as_they_are;
}

/* Finds out what to take of rows of the layout FROM, all in memory, and which. */
static void prepare_rows(struct st_scan *scan, const struct net_layout *from) {
  match_slots(scan, from);
  scan->tests = !net_wanted_is_all(&scan->wanted);
  if (scan->tests) net_wanted_test_init(&scan->test, scan->arena, &scan->wanted, from);
}

/* The rows in memory, of which the scan has found that they are there. */
static void start_in_memory(struct st_scan *scan) {
  const struct net_rows *rows = &scan->cached->rows;
  scan->end = rows_before(rows, scan->checkpoint, scan->wanted.start_lo_max);
  prepare_rows(scan, rows->layout);
  if (scan->tests) scan->selection = BASE_NEW_ARRAY(scan->arena, scan->builder.capacity, uint32_t);
  if (points(scan))
    scan->row_ready = scan->at < scan->end;
  else
    skip_unwanted(scan);
}

/* The statement that reads the rows before CHECKPOINT in the order of time. */
static enum base_status prepare_scan(struct st_scan *scan, const struct st_table *table,
                                     net_chronon checkpoint) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  st_sql_select(&sql, table, scan->row_layout);
  base_buffer_puts(&sql, " INDEXED BY ");
  st_sql_index(&sql, table->name);
  st_sql_wanted(&sql, table, &scan->wanted, checkpoint);
  base_buffer_puts(&sql, " ORDER BY ");
  st_sql_key(&sql, table);
  enum base_status status = st_prepare(scan->database, sql.data, false, &scan->statement);
  base_buffer_done(&sql);
  if (status == BASE_OK && !st_bind_wanted(scan->database, scan->statement, &scan->wanted))
    status = st_fail(scan->database, "reading a relation");
  return status;
}

/* Where the rows come from, if the table is there: memory, if they are in it; indexes that find the few
 * that are wanted; memory, if there is room for all; else the statement that was prepared. */
static enum base_status choose(struct st_scan *scan, int64_t version) {
  struct st_database *database = scan->database;
  sqlite3_stmt *bounded[2];
  bool overlaps = false;
  scan->cached = st_cache_find(database, scan->table, version);
  if (scan->cached) return BASE_OK;
  enum base_status status = st_log_read(database, scan->table, &scan->log);
  if (status == BASE_OK && scan->log)
    status = st_log_overlaps(database, scan->table, scan->log, &overlaps);
  if (status != BASE_OK) return status;
  if (overlaps) return st_cache_read(database, scan->table, scan->log, &scan->cached);
  net_chronon end = scan->checkpoint;
  if (scan->log && (end == NET_FOREVER || scan->log->first < end)) end = scan->log->first;
  status = st_open_bounded(database, scan->table, scan->row_layout, &scan->wanted, end, bounded);
  if (bounded[1]) {
    sqlite3_finalize(scan->statement);
    scan->statement = bounded[0] ? bounded[0] : bounded[1];
    scan->following = bounded[0] ? bounded[1] : NULL;
    return status;
  }
  if (status == BASE_OK && is_worth_loading(scan->table, scan->row_layout))
    status = st_cache_load(database, scan->table, scan->log, version, &scan->cached);
  if (status == BASE_OK && !scan->cached && scan->log) {
    sqlite3_finalize(scan->statement);
    scan->statement = NULL;
    status = prepare_scan(scan, scan->table, end);
  }
  return status;
}

/* When all rows of all that is read together are in memory, no state of the file has to be kept any more. */
static void let_go(struct st_database *database) {
  for (const struct st_scan *scan = database->scans; scan; scan = scan->next)
    if (!scan->ended && !scan->cached) return;
  for (const struct st_scan *scan = database->scans; scan; scan = scan->next)
    sqlite3_reset(scan->snapshot);
}

/* As the relation is at this moment. */
static enum base_status start(struct st_scan *scan) {
  enum base_status status = BASE_OK;
  scan->started = true;
  if (sqlite3_step(scan->snapshot) != SQLITE_ROW) {
    scan->ended = true;
    return st_fail(scan->database, "reading a relation");
  }
  if (table_is_there(scan)) status = choose(scan, sqlite3_column_int64(scan->snapshot, 0));
  if (status != BASE_OK) {
    scan->ended = true;
    return status;
  }
  if (scan->cached) {
    start_in_memory(scan);
    let_go(scan->database);
  } else if (scan->log)
    prepare_rows(scan, scan->logged.layout = scan->log->layout);
  return scan->cached && scan->form == NET_SCAN_TUPLES ? BASE_OK : read_ahead(scan);
}

/* ---- the source ---- */

static void end(struct st_scan *scan) {
  scan->ended = true;
  sqlite3_reset(scan->statement);
  sqlite3_reset(scan->snapshot);
}

static enum base_status build_batch(struct st_scan *scan, struct net_batch *ret) {
  enum base_status status = BASE_OK;
  net_batch_builder_clear(&scan->builder);
  while (status == BASE_OK && has_more(scan) && !net_batch_builder_full(&scan->builder))
    status = scan->form == NET_SCAN_RECORDS ? next_record(scan) : next_tuple(scan);
  if (status == BASE_OK) *ret = net_batch_builder_batch(&scan->builder, scan->checkpoint);
  return status;
}

/* Rows in memory, where they are: the next so many, or of the next that have any those that are wanted. */
static void point_at(struct st_scan *scan, struct net_batch *ret) {
  const struct net_rows *rows = &scan->cached->rows;
  uint32_t slots = scan->layout->slot_count, count, selected;
  size_t first;
  do {
    size_t left = scan->end - scan->at, most = scan->builder.capacity;
    first = scan->at;
    count = selected = (uint32_t)(left < most ? left : most);
    if (scan->tests)
      selected =
          net_wanted_select(&scan->test, rows->rows + first * slots, slots, count, scan->selection);
    scan->at += count;
  } while (selected == 0 && scan->at < scan->end);
  scan->row_ready = scan->at < scan->end;
  *ret = (struct net_batch){
      .layout = scan->layout,
      .rows = rows->rows + first * slots,
      .marks = rows->marks + first,
      .selection = selected < count ? scan->selection : NULL,
      .count = selected,
      .checkpoint = scan->checkpoint,
      .bound = NET_BEGINNING,
      .plain = net_plain_notes_say(&scan->cached->plain, rows, first, first + count)};
}

static enum base_status scan_next(struct net_source *source, struct net_batch *ret) {
  struct st_scan *scan = (struct st_scan *)source;
  enum base_status status = BASE_OK;
  if (scan->ended) return BASE_END;
  if (!scan->started) status = start(scan);
  if (status != BASE_OK) return status;
  source->at_hand = points(scan) && !scan->tests;
  if (points(scan))
    point_at(scan, ret);
  else
    status = build_batch(scan, ret);
  if (status != BASE_OK) return status;
  if (has_more(scan))
    ret->checkpoint = net_batch_followed(net_batch_row(ret, ret->count - 1)[0].i);
  else
    end(scan);
  return BASE_OK;
}

static void detach(struct st_scan *scan) {
  if (!scan->database) return;
  sqlite3_finalize(scan->statement);
  sqlite3_finalize(scan->following);
  sqlite3_finalize(scan->snapshot);
  scan->statement = scan->following = scan->snapshot = NULL;
  if (scan->previous)
    scan->previous->next = scan->next;
  else
    scan->database->scans = scan->next;
  if (scan->next) scan->next->previous = scan->previous;
  scan->database = NULL;
  scan->ended = true;
}

static void scan_free(struct net_source *source) {
  struct st_scan *scan = (struct st_scan *)source;
  if (!scan) return;
  detach(scan);
  net_batch_builder_done(&scan->builder);
  for (size_t i = 0; i < scan->heap_count; i++) forget_stop(scan, &scan->heap[i]);
  free(scan->heap);
  free(scan->period_row);
  st_cached_release(scan->cached);
  net_rows_done(&scan->logged);
  st_log_free(scan->log);
  free(scan->sources);
  base_arena_free(scan->arena);
  free(scan);
}

void st_scans_detach(struct st_database *database) {
  while (database->scans) detach(database->scans);
}

void st_mark_strings(struct st_database *database) {
  st_cache_mark_strings(database);
  for (const struct st_scan *scan = database->scans; scan; scan = scan->next) {
    net_wanted_mark_strings(&scan->wanted, database->strings);
    if (scan->cached) {
      st_rows_mark_strings(&scan->cached->rows, database->strings);
      continue;
    }
    if (scan->in_log) st_rows_mark_strings(&scan->logged, database->strings);
    for (size_t i = 0; i < scan->heap_count; i++)
      net_row_mark_strings(scan->row_layout, database->strings, scan->heap[i].row);
    if (scan->form == NET_SCAN_RECORDS && scan->row_ready)
      net_row_mark_strings(scan->row_layout, database->strings, scan->period_row);
  }
}

/* ---- starting ---- */

static void check_layout(const struct st_table *table, const struct net_layout *layout,
                         enum net_scan_form form) {
  if (form == NET_SCAN_RECORDS) {
    BASE_CHECK(table->kind == ST_TRACED, "storage-records-of-a-traced-relation");
    BASE_CHECK(layout->tuple_class == NET_EVENT, "storage-records-are-events");
  } else {
    BASE_CHECK((layout->tuple_class == NET_EVENT) == st_kind_is_event(table->kind),
               "storage-layout-class-agrees");
  }
}

enum base_status st_relation_scan(struct net_store *store, const struct net_scan *what,
                                  struct net_source **ret) {
  struct st_database *database = (struct st_database *)store;
  const struct net_layout *layout = what->layout;
  struct st_table *table = NULL;
  enum base_status status = st_catalogue_find(database, what->relation, &table);
  if (status != BASE_OK) return status;
  check_layout(table, layout, what->form);
  struct st_scan *scan = base_xcalloc(1, sizeof *scan);
  *scan = (struct st_scan){.source = {.next = scan_next, .free = scan_free},
                           .database = database,
                           .next = database->scans,
                           .arena = base_arena_new(),
                           .layout = layout,
                           .row_layout = layout,
                           .form = what->form,
                           .checkpoint = what->checkpoint,
                           .wanted = NET_WANTED_ALL,
                           .table = table,
                           .declared = st_is_declared(table),
                           .catalogue_changes = database->catalogue_changes};
  if (what->wanted) scan->wanted = net_wanted_copy(scan->arena, what->wanted);
  if (scan->next) scan->next->previous = scan;
  database->scans = scan;
  net_batch_builder_init(&scan->builder, layout,
                         what->batch_rows ? what->batch_rows : NET_BATCH_ROWS);
  if (scan->form == NET_SCAN_RECORDS) {
    scan->row_layout = net_layout_new(scan->arena, NET_PERIOD, layout->fields, layout->field_count);
    scan->period_row = base_xcalloc(scan->row_layout->slot_count, sizeof *scan->period_row);
  }
  status = prepare_scan(scan, table, scan->checkpoint);
  if (status == BASE_OK)
    status = st_prepare(scan->database, "PRAGMA data_version", false, &scan->snapshot);
  if (status == BASE_OK)
    *ret = &scan->source;
  else
    scan_free(&scan->source);
  return status;
}
