/* Scans: a relation as a stream of batches for an access node.
 *
 * The rows come through the index "tq_R_set", so they are in the order of time without sorting;
 * INDEXED BY makes sure of it. Among rows of one start, open ones come first.
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
 * not be seen at all. Strings that wait in the heap must be marked before a sweep (st_mark_strings). */
#include <stdlib.h>
#include <string.h>

#include "storage/internal.h"

struct waiting_stop {
  struct net_instant at;
  uint64_t number; /* in the order of the starts: equal stops keep that order */
  uint8_t marks;
  union net_slot *row; /* an event row */
};

struct st_scan {
  struct net_source source;     /* first, so that it can be cast back */
  struct st_database *database; /* NULL: closed before the scan was */
  struct st_scan *next, *previous;
  sqlite3_stmt *statement;
  const struct net_layout *layout;
  enum net_scan_form form;
  net_chronon checkpoint;
  struct net_batch_builder builder;
  bool started, row_ready, ended;

  /* records only */
  struct net_layout *period; /* what the rows of the table are read as */
  struct base_arena *arena;  /* of PERIOD */
  union net_slot *period_row;
  struct waiting_stop *heap;
  size_t heap_count, heap_capacity;
  uint64_t starts;
};

/* ---- the heap of stops ---- */

static bool sooner(const struct waiting_stop *a, const struct waiting_stop *b) {
  if (a->at.lo != b->at.lo) return a->at.lo < b->at.lo;
  if (a->at.hi != b->at.hi) return a->at.hi < b->at.hi;
  return a->number < b->number;
}

static void heap_push(struct st_scan *scan, struct waiting_stop stop) {
  base_grow(&scan->heap, &scan->heap_capacity, scan->heap_count + 1, sizeof *scan->heap);
  size_t at = scan->heap_count++;
  while (at > 0 && sooner(&stop, &scan->heap[(at - 1) / 2])) {
    scan->heap[at] = scan->heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  scan->heap[at] = stop;
}

static struct waiting_stop heap_pop(struct st_scan *scan) {
  struct waiting_stop first = scan->heap[0], last = scan->heap[--scan->heap_count];
  size_t at = 0;
  for (size_t child; (child = 2 * at + 1) < scan->heap_count; at = child) {
    if (child + 1 < scan->heap_count && sooner(&scan->heap[child + 1], &scan->heap[child])) child++;
    if (!sooner(&scan->heap[child], &last)) break;
    scan->heap[at] = scan->heap[child];
  }
  if (scan->heap_count) scan->heap[at] = last;
  return first;
}

/* ---- rows ---- */

static enum base_status read_ahead(struct st_scan *scan) {
  int code = sqlite3_step(scan->statement);
  scan->row_ready = code == SQLITE_ROW;
  if (code == SQLITE_ROW || code == SQLITE_DONE) return BASE_OK;
  scan->ended = true;
  return st_fail(scan->database, "reading a relation");
}

static enum base_status next_tuple(struct st_scan *scan) {
  union net_slot *row = net_batch_builder_add(&scan->builder, 0);
  scan->builder.marks[scan->builder.count - 1] =
      st_column_row(scan->database, scan->statement, scan->layout, row);
  return read_ahead(scan);
}

/* The slots of ROW's domains as SCAN's events have them: the fields are the same, in order. */
static void copy_domains(const struct st_scan *scan, const union net_slot *row,
                         union net_slot *event) {
  uint32_t count = scan->layout->slot_count - scan->layout->first_domain_slot;
  if (count)
    memcpy(event + scan->layout->first_domain_slot, row + scan->period->first_domain_slot,
           count * sizeof *event);
}

static bool is_before_checkpoint(const struct st_scan *scan, net_chronon time) {
  return time < scan->checkpoint || scan->checkpoint == NET_FOREVER;
}

static void keep_stop(struct st_scan *scan, const union net_slot *row, uint8_t marks) {
  if (row[2].i == NET_OPEN || !is_before_checkpoint(scan, row[2].i)) return;
  union net_slot *event = base_xcalloc(scan->layout->slot_count, sizeof *event);
  event[0] = row[2];
  event[1] = row[3];
  copy_domains(scan, row, event);
  heap_push(scan, (struct waiting_stop){.at = {row[2].i, row[3].i},
                                        .number = scan->starts,
                                        .marks = (uint8_t)(marks | NET_CLOSES),
                                        .row = event});
}

static enum base_status next_start(struct st_scan *scan) {
  union net_slot *row = scan->period_row;
  uint8_t marks = st_column_row(scan->database, scan->statement, scan->period, row);
  union net_slot *event = net_batch_builder_add(&scan->builder, marks);
  event[0] = row[0];
  event[1] = row[1];
  copy_domains(scan, row, event);
  scan->starts++;
  keep_stop(scan, row, marks);
  return read_ahead(scan);
}

static bool a_stop_is_next(const struct st_scan *scan) {
  if (!scan->heap_count) return false;
  if (!scan->row_ready) return true;
  struct net_instant stop = scan->heap[0].at;
  net_chronon start_lo = sqlite3_column_int64(scan->statement, 0);
  if (stop.lo != start_lo) return stop.lo < start_lo;
  return stop.hi <= sqlite3_column_int64(scan->statement, 1);
}

static enum base_status next_record(struct st_scan *scan) {
  if (!a_stop_is_next(scan)) return next_start(scan);
  struct waiting_stop stop = heap_pop(scan);
  union net_slot *event = net_batch_builder_add(&scan->builder, stop.marks);
  memcpy(event, stop.row, scan->layout->slot_count * sizeof *event);
  free(stop.row);
  return BASE_OK;
}

/* ---- the source ---- */

static bool has_more(const struct st_scan *scan) {
  return scan->row_ready || scan->heap_count;
}

static enum base_status scan_next(struct net_source *source, struct net_batch *ret) {
  struct st_scan *scan = (struct st_scan *)source;
  if (scan->ended) return BASE_END;
  enum base_status status = BASE_OK;
  net_batch_builder_clear(&scan->builder);
  if (!scan->started) {
    scan->started = true;
    status = read_ahead(scan);
  }
  while (status == BASE_OK && has_more(scan) && !net_batch_builder_full(&scan->builder))
    status = scan->form == NET_SCAN_RECORDS ? next_record(scan) : next_tuple(scan);
  if (status != BASE_OK) return status;
  net_chronon checkpoint = scan->checkpoint;
  if (has_more(scan))
    checkpoint = scan->builder.rows[(size_t)(scan->builder.count - 1) * scan->layout->slot_count].i;
  else
    scan->ended = true;
  *ret = net_batch_builder_batch(&scan->builder, checkpoint);
  if (scan->ended) sqlite3_reset(scan->statement);
  return BASE_OK;
}

static void detach(struct st_scan *scan) {
  if (!scan->database) return;
  sqlite3_finalize(scan->statement);
  scan->statement = NULL;
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
  for (size_t i = 0; i < scan->heap_count; i++) free(scan->heap[i].row);
  free(scan->heap);
  free(scan->period_row);
  base_arena_free(scan->arena);
  free(scan);
}

void st_scans_detach(struct st_database *database) {
  while (database->scans) detach(database->scans);
}

void st_mark_strings(struct st_database *database) {
  for (const struct st_scan *scan = database->scans; scan; scan = scan->next)
    for (size_t i = 0; i < scan->heap_count; i++)
      net_row_mark_strings(scan->layout, database->strings, scan->heap[i].row);
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

static enum base_status prepare_scan(struct st_scan *scan, const struct st_table *table,
                                     const struct net_layout *row_layout) {
  struct base_buffer sql = BASE_BUFFER_EMPTY;
  st_sql_select(&sql, table, row_layout);
  base_buffer_puts(&sql, " INDEXED BY ");
  st_sql_index(&sql, table->name);
  if (scan->checkpoint != NET_FOREVER)
    base_buffer_puts(&sql,
                     st_kind_is_event(table->kind) ? " WHERE at_lo<?1" : " WHERE start_lo<?1");
  base_buffer_puts(&sql, " ORDER BY ");
  st_sql_key(&sql, table);
  enum base_status status = st_prepare(scan->database, sql.data, false, &scan->statement);
  base_buffer_done(&sql);
  if (status == BASE_OK && scan->checkpoint != NET_FOREVER)
    sqlite3_bind_int64(scan->statement, 1, scan->checkpoint);
  return status;
}

enum base_status st_relation_scan(struct net_store *store, const char *relation,
                                  const struct net_layout *layout, enum net_scan_form form,
                                  net_chronon checkpoint, uint32_t batch_rows,
                                  struct net_source **ret) {
  struct st_database *database = (struct st_database *)store;
  struct st_table *table = NULL;
  enum base_status status = st_catalogue_find(database, relation, &table);
  if (status != BASE_OK) return status;
  check_layout(table, layout, form);
  struct st_scan *scan = base_xcalloc(1, sizeof *scan);
  *scan = (struct st_scan){.source = {.next = scan_next, .free = scan_free},
                           .database = database,
                           .next = database->scans,
                           .layout = layout,
                           .form = form,
                           .checkpoint = checkpoint};
  if (scan->next) scan->next->previous = scan;
  database->scans = scan;
  net_batch_builder_init(&scan->builder, layout, batch_rows ? batch_rows : NET_BATCH_ROWS);
  if (form == NET_SCAN_RECORDS) {
    scan->arena = base_arena_new();
    scan->period = net_layout_new(scan->arena, NET_PERIOD, layout->fields, layout->field_count);
    scan->period_row = base_xcalloc(scan->period->slot_count, sizeof *scan->period_row);
  }
  status = prepare_scan(scan, table, scan->period ? scan->period : layout);
  if (status == BASE_OK)
    *ret = &scan->source;
  else
    scan_free(&scan->source);
  return status;
}
