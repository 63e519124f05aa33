/* Output formats: table csv json ndjson line markdown timeline count (tquel(1), FORMATS).
 * Human formats (table line markdown timeline) print ISO 8601 times on the real timeline, the others
 * integers; "forever" and "beginning" as words.                                                     */
#ifndef TQL_FORMAT_H
#define TQL_FORMAT_H

#include <stdio.h>

#include "engine/base/buffer.h"
#include "engine/base/status.h"
#include "engine/batch.h"
#include "engine/rowmap.h"

enum tql_format {
  TQL_FORMAT_TABLE,
  TQL_FORMAT_CSV,
  TQL_FORMAT_JSON,
  TQL_FORMAT_NDJSON,
  TQL_FORMAT_LINE,
  TQL_FORMAT_MARKDOWN,
  TQL_FORMAT_TIMELINE,
  TQL_FORMAT_COUNT,
};
/* -1: no such format. */
int tql_format_find(const char *name);
const char *tql_format_name(enum tql_format format);

/* A result: rows in output order, or as tql_rows_sort has put them. */
struct tql_rows {
  const char *name; /* of the relation, or NULL */
  struct net_rows rows;
  net_chronon checkpoint; /* what open stops are filled with */
  net_chronon odd_from;   /* rows that start before are plain (batch.h) */
  struct net_rowmap open; /* the places of open rows by id, while batches are added */
  /* While batches are added: so many of the first rows are plain, and in the order of their starts; and which of
   * these start with the one before them. */
  size_t known;
  size_t *ties, tie_count, tie_capacity;
};
void tql_rows_init(struct tql_rows *rows, const char *name, const struct net_layout *layout);
void tql_rows_done(struct tql_rows *rows);
void tql_rows_clear(struct tql_rows *rows); /* as it was initialised; keeps the memory */
/* Adds a whole or open row; a closing row replaces its open one (the same id). */
void tql_rows_add_batch(struct tql_rows *rows, const struct net_batch *batch);
/* Sorts into output order and makes a set of it: of rows equal in all domains, implicit ones (after
 * filling open stops) included, one stays, definite if any is. BASE_OK; for rows that may spill also
 * BASE_CANCEL: interrupted, or there was no room on the disk, as the budget says.                     */
enum base_status tql_rows_finish(struct tql_rows *rows, const struct base_strings *strings);

/* Another order than that, of some rows. */
enum { TQL_SORT_BY_START = -1, TQL_SORT_BY_STOP = -2 };
struct tql_sort_column {
  int field; /* of the layout, or TQL_SORT_BY_...; the start of an event is its instant */
  bool descending;
};
struct tql_sort {
  const struct tql_sort_column *keys, *groups;
  size_t key_count, group_count;
  int64_t limit, group_limit,
      offset; /* rows of all, rows of each group, rows that are left out first; -1: not said */
};
/* Puts ROWS, which are finished, in the order of the keys; ties go by all domains in their order, then by the times.
 * The first of each group stay, and of these those that offset and limit leave. *RET_TIES: how many rows a limit has
 * left out whose keys are those of the last one before. BASE_CANCEL: interrupted. */
enum base_status tql_rows_sort(struct tql_rows *rows, const struct tql_sort *sort,
                               const struct base_strings *strings, size_t *ret_ties);

struct tql_format_context {
  enum tql_format format;
  enum net_timeline timeline;
  const struct base_strings *strings;
  size_t results_before; /* unnamed results already printed: CSV separates by a blank line */
  unsigned width;        /* of the terminal for table and timeline; 0: unlimited */
  /* Called between rows when the text has POUR_AT bytes, which it may take away; NULL: the text stays whole. */
  void (*pour)(void *context, struct base_buffer *out);
  void *pour_context;
  size_t pour_at;
};
/* Appends the whole result. */
void tql_format_rows(struct base_buffer *out, const struct tql_format_context *context,
                     const struct tql_rows *rows);
/* {"end": TIME, DOMAINS}, an end record as a feed of NDJSON has it, with those domains of ROW that are NAMED, by field. */
void tql_format_end(struct base_buffer *out, const struct tql_format_context *context,
                    const struct net_layout *layout, const union net_slot *row, const bool *named,
                    net_chronon time);
/* Live output: a heading once, then a line (or object) a row as it comes; opening rows are shown with
 * an open stop, closing rows again with the stop. For table: "NAME  +  [start, stop)  domains".      */
void tql_format_live_heading(struct base_buffer *out, const struct tql_format_context *context,
                             const char *name, const struct net_layout *layout);
void tql_format_live_row(struct base_buffer *out, const struct tql_format_context *context,
                         const char *name, const struct net_layout *layout,
                         const union net_slot *row, uint8_t marks, net_chronon checkpoint);

#endif
