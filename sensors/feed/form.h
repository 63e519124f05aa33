/* How a file is to be read that was not made for a relation: its form, and which of its columns is what.
 *
 * Without mappings a file has the columns of the relation (README). With them each names a column of the
 * relation and where its values come from; what no mapping names is passed over. Values are read less
 * strictly then, as who wrote the file knew nothing of types: see the README, "Mapped". */
#ifndef SN_FORM_H
#define SN_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/arena.h"
#include "engine/base/diag.h"
#include "engine/layout.h"

enum sn_format {
  SN_GUESS, /* by the path's suffix, without .gz or .zst; else '{' as the first byte is NDJSON, '[' JSON */
  SN_CSV,
  SN_TSV, /* fields between tabs, without quotation */
  SN_NDJSON,
  SN_JSON,    /* an array of objects, or objects one after the other */
  SN_LOGFMT,  /* key=value key="value" ... */
  SN_LINES,   /* lines with parts that a pattern names */
  SN_STANZAS, /* lines KEY: VALUE, an empty line between records */
};

/* What the text of a time says. */
enum sn_time_form {
  SN_TIME_OWN, /* as everywhere: ISO 8601, or a number of chronons */
  SN_TIME_S, /* a number of seconds since 1970, perhaps with a fraction; of a length: of seconds */
  SN_TIME_MS,
  SN_TIME_US,
  SN_TIME_NS,
  SN_TIME_LIKE, /* by a format, as of strptime(3) */
};

enum sn_relative {
  SN_ITSELF,
  SN_AFTER,  /* stop is start and this length */
  SN_BEFORE, /* start is stop less this length */
};

struct sn_mapping {
  const char *target; /* a column of the relation: at, start, stop_lo, definite, a domain */
  const char *column; /* of the file: a name, of JSON a path ("request.url"); NULL: NUMBER */
  uint32_t number;    /* of the file's column, from 1 */
  enum sn_relative relative;
  enum sn_time_form form;
  const char *like; /* of SN_TIME_LIKE */
  const char
      *otherwise; /* the text that stands for a value that is missing or empty; NULL: none does */
};

/* What becomes of a period that stops at the chronon at which it starts. */
enum sn_empty { SN_EMPTY_REFUSE, SN_EMPTY_DROP, SN_EMPTY_INSTANT /* it lasts one chronon */ };

struct sn_form {
  enum sn_format format;
  char separator; /* of CSV; 0: a comma */
  bool headless;  /* CSV, TSV: the first line is a record */
  bool ragged;    /* ... a record may lack fields at its end, which are empty then */
  bool
      continued; /* SN_LINES: lines that PATTERN does not match go on with the last part of the record before */
  int64_t skipped;     /* lines before the header or the first record */
  const char *pattern; /* of SN_LINES; see sn_logs */
  enum sn_empty empty;
  const struct sn_mapping *mappings;
  size_t mapping_count; /* 0: the file has the columns of the relation */
};

/* What is wrong with FORM for records of LAYOUT (TIMELESS as in the reader's options): *RET_INDEX is the mapping that it
 * is wrong with, or MAPPING_COUNT; *RET_HINT (may be NULL) what to do. In words that ARENA keeps. NULL: nothing is. */
const char *sn_form_fault(struct base_arena *arena, const struct sn_form *form,
                          const struct net_layout *layout, bool timeless, bool real,
                          size_t *ret_index, const char **ret_hint);

/* A form of text logs that needs no pattern of one's own. */
struct sn_log {
  const char *name, *pattern;
  const char *time; /* the part that is the time, in the format LIKE */
  const char *like;
  const char *what; /* which logs */
};
extern const struct sn_log sn_logs[];
extern const size_t sn_log_count;
const struct sn_log *sn_log_find(const char *name);

#endif
