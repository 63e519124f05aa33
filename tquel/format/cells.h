/* Columns and cells of results, for the writers of this folder. Internal to tquel/format. */
#ifndef TQL_FORMAT_CELLS_H
#define TQL_FORMAT_CELLS_H

#include "engine/base/printable.h"
#include "tquel/format/format.h"

enum tql_column_kind {
  TQL_BOUND,   /* one bound of an instant */
  TQL_INSTANT, /* a whole instant: one time, or lo..hi */
  TQL_DEFINITE,
  TQL_VALUE, /* a domain; a temporal one as (n0 n1 d0 d1) */
  TQL_PART,  /* a number of a temporal domain */
};

struct tql_column {
  const char *name;
  enum tql_column_kind kind;
  uint32_t slot;
  struct net_type type; /* of TQL_VALUE */
};

struct tql_columns {
  struct base_arena *arena;
  struct tql_column *items;
  size_t count;
};

/* Of the formats for programs: at_lo at_hi, or start_lo start_hi stop_lo stop_hi; definite;
 * domains. */
void tql_columns_for_programs(struct tql_columns *columns, const struct net_layout *layout);
/* Of those for people: at, or start stop; definite if WITH_DEFINITE; domains. */
void tql_columns_for_people(struct tql_columns *columns, const struct net_layout *layout,
                            bool with_definite);
void tql_columns_done(struct tql_columns *columns);

/* A row with its open stops filled. */
struct tql_row {
  const union net_slot *slots;
  bool definite;
};
/* In place: an open stop becomes [CHECKPOINT, hi], but at its start at the earliest. */
void tql_fill_open(const struct net_layout *layout, union net_slot *slots, net_chronon checkpoint);

/* Goes through the rows of a result, filling open stops in a copy. */
struct tql_cursor {
  const struct tql_rows *rows;
  union net_slot *copy;
  size_t next;
};
void tql_cursor_init(struct tql_cursor *cursor, const struct tql_rows *rows);
void tql_cursor_done(struct tql_cursor *cursor);
/* False: no more. *RET holds until the next call. */
bool tql_cursor_next(struct tql_cursor *cursor, struct tql_row *ret);

/* Is any row perhaps not in the relation? */
bool tql_any_indefinite(const struct tql_rows *rows);
/* Are the instants at SLOT of all rows determinate? */
bool tql_all_determinate(const struct tql_rows *rows, uint32_t slot);

/* Appends the cell for people, in printable characters on one line. */
void tql_cell_for_people(struct base_buffer *out, const struct tql_format_context *context,
                         const struct tql_column *column, const struct tql_row *row);
void tql_instant_for_people(struct base_buffer *out, const struct tql_format_context *context,
                            struct net_instant instant);
/* Right-aligned, as numbers are? */
bool tql_column_is_numeric(const struct tql_format_context *context,
                           const struct tql_column *column);

/* Terminal columns that the UTF-8 TEXT takes. */
size_t tql_text_width(const char *text, size_t length);
/* The name of what is shown, on a line of its own. */
void tql_append_title(struct base_buffer *out, const char *name);
void tql_append_repeated(struct base_buffer *out, const char *text, size_t count);

/* The writers, one file each. */
void tql_write_csv(struct base_buffer *out, const struct tql_format_context *context,
                   const struct tql_rows *rows);
void tql_csv_header(struct base_buffer *out, const struct tql_columns *columns);
void tql_csv_row(struct base_buffer *out, const struct tql_format_context *context,
                 const struct tql_columns *columns, const struct tql_row *row);
void tql_csv_text(struct base_buffer *out, const char *text, size_t length);
void tql_write_json(struct base_buffer *out, const struct tql_format_context *context,
                    const struct tql_rows *rows);
void tql_write_ndjson(struct base_buffer *out, const struct tql_format_context *context,
                      const struct tql_rows *rows);
void tql_json_text(struct base_buffer *out, const char *text, size_t length);
/* "key": value, ... without braces. */
void tql_json_members(struct base_buffer *out, const struct tql_format_context *context,
                      const struct tql_columns *columns, const struct tql_row *row);
void tql_write_table(struct base_buffer *out, const struct tql_format_context *context,
                     const struct tql_rows *rows);
void tql_write_line(struct base_buffer *out, const struct tql_format_context *context,
                    const struct tql_rows *rows);
void tql_line_row(struct base_buffer *out, const struct tql_format_context *context,
                  const struct tql_columns *columns, const struct tql_row *row);
void tql_write_markdown(struct base_buffer *out, const struct tql_format_context *context,
                        const struct tql_rows *rows);
void tql_markdown_heading(struct base_buffer *out, const struct tql_format_context *context,
                          const struct tql_columns *columns, const char *before,
                          const char *rule_before);
void tql_markdown_row(struct base_buffer *out, const struct tql_format_context *context,
                      const struct tql_columns *columns, const struct tql_row *row);
void tql_markdown_name(struct base_buffer *out, const char *name);
void tql_write_timeline(struct base_buffer *out, const struct tql_format_context *context,
                        const struct tql_rows *rows);

/* --- runs.c: rows in any order */
struct tql_order {
  void *context;
  /* Less where the row is before another; equal says nothing. */
  uint64_t (*prefix)(const void *context, const union net_slot *row);
  int (*compare)(const void *context, const union net_slot *left, const union net_slot *right);
  /* The next row in order may be added to MERGED. False: no more of them is wanted. */
  bool (*take)(void *context, struct net_rows *merged, const union net_slot *row, uint8_t marks);
};
struct tql_place {
  uint64_t prefix;
  size_t index;
};
static inline uint64_t tql_prefix_of_integer(int64_t value) {
  return (uint64_t)value ^ (UINT64_C(1) << 63);
}
/* The rows from FROM on, in an order that only the places say, which are the caller's (free). */
struct tql_place *tql_sort_places(const struct tql_order *order, const struct net_rows *rows,
                                  size_t from);
/* ROWS in order where they lie; nothing is taken. */
void tql_order_few(const struct tql_order *order, struct net_rows *rows);
/* What has been taken, in order, in place of ROWS. BASE_CANCEL: see tql_rows_finish; ROWS are in some order. */
enum base_status tql_order_many(const struct tql_order *order, struct net_rows *rows) BASE_MUST_USE;

static inline void tql_pour(const struct tql_format_context *context, struct base_buffer *out) {
  if (context->pour != NULL && out->length >= context->pour_at)
    context->pour(context->pour_context, out);
}

#endif
