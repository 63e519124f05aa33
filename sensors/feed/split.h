/* Cuts the bytes of a source into records. Internal to sensors/feed. */
#ifndef SN_SPLIT_H
#define SN_SPLIT_H

#include "sensors/feed/source.h"

enum sn_split {
  SN_RECORD,          /* a record, perhaps an empty one */
  SN_RECORD_TOO_LONG, /* the record is the first bytes of a line longer than the limit */
  SN_RECORD_UNCLOSED, /* CSV: the record is the first line of one whose quotation never ends */
  SN_SPLIT_NOTHING,
  SN_SPLIT_END,
  SN_SPLIT_ROTATED, /* the source begins anew; so must the splitter */
  SN_SPLIT_FAILED,
};

struct sn_record {
  const char *text; /* in the source's buffer: until the next sn_split_next */
  size_t length;    /* without the line's end */
  size_t unread;    /* bytes to take from the source */
  bool has_quotes;  /* CSV: a quotation mark occurs; it may be of several lines */
};

enum sn_quoting { SN_FIELD_START, SN_IN_PLAIN, SN_IN_QUOTED, SN_AFTER_QUOTE };

/* What ends a record. */
enum sn_cut {
  SN_CUT_LINES,
  SN_CUT_CSV,     /* an end of a line that is not between quotation marks */
  SN_CUT_OBJECTS, /* the brace that closes a JSON object; what stands in front of it belongs to it */
  SN_CUT_STANZAS, /* an empty line */
  SN_CUT_STARTS,  /* the next line that begins one */
};

struct sn_splitter {
  enum sn_cut cut;
  char separator; /* of fields of CSV */
  /* SN_CUT_STARTS: does LINE begin a record? */
  bool (*begins)(void *context, const char *line, size_t length);
  void *begins_context;
  int64_t grown; /* SN_CUT_STARTS: when bytes came last, on the clock that only goes forward */
  size_t limit;
  int64_t consumed; /* bytes of all records taken so far */
  int64_t line;     /* of the next record, from 1 */
  /* How far the record that comes next has been looked at. */
  size_t seen;
  bool has_quotes;
  enum sn_quoting quoting; /* at SEEN, once HAS_QUOTES */
  int64_t depth;           /* SN_CUT_OBJECTS: of braces that are open; at SEEN */
  bool in_string, escaped, odd;
  int64_t dropped; /* bytes of an overlong line that are gone from the buffer */
  int64_t cut_at,
      cut_dropped; /* where such a line began that is held, and its bytes; 0: there is none */
};

/* The record that comes next; it stays so until it is taken. */
enum sn_split sn_split_next(struct sn_splitter *splitter, struct sn_source *source,
                            struct sn_record *ret);
void sn_split_take(struct sn_splitter *splitter, struct sn_source *source,
                   const struct sn_record *record);
/* The next record is the first one. */
void sn_split_restart(struct sn_splitter *splitter);
/* What was taken is not held any more. */
void sn_split_settle(struct sn_splitter *splitter, struct sn_source *source);
/* Goes back to where it was settled, with CONSUMED and LINE as they were then. */
void sn_split_rewind(struct sn_splitter *splitter, struct sn_source *source, int64_t consumed,
                     int64_t line);
/* Takes bytes up to POSITION (counted as .consumed is), which are the records of an earlier reader.
 * SN_RECORD: done; SN_SPLIT_END: the input is shorter. */
enum sn_split sn_split_skip(struct sn_splitter *splitter, struct sn_source *source,
                            int64_t position);

#endif
