/* What the files of this folder share. */
#ifndef TQL_INFER_IMPL_H
#define TQL_INFER_IMPL_H

#include "engine/base/arena.h"
#include "engine/base/buffer.h"
#include "sensors/feed/sample.h"
#include "tquel/infer/infer.h"

/* A form of times that is not ISO 8601, and none of numbers. */
extern const char *const infer_likes[];
enum { INFER_LIKES = 64 }; /* at most: a bit each */

enum infer_role {
  INFER_DOMAIN,
  INFER_AT,
  INFER_START,
  INFER_STOP,
  INFER_LENGTH, /* of the period */
  INFER_OWN,    /* a column as the relation's own files have it: start_lo, definite */
};

struct infer_column {
  const char *name; /* in the file; NULL: it has only its number */
  uint32_t number;
  bool twice; /* another column has the name */
  /* What its values are, so far. */
  size_t values, empties, lacking; /* lacking: of shorter records */
  size_t endless;     /* of times: those that say that there is no end, as 9999-12-31 */
  size_t last_record; /* that had it, from 1 */
  bool integers, decimals, truths,
      texts; /* all: whole numbers, numbers, true or false; any: a string of JSON */
  bool leading_zero, fractions, long_digits, not_utf8;
  int64_t least, most;
  double least_decimal, most_decimal;
  bool dates, zone_always, zone_never; /* ISO 8601: all of them */
  uint64_t likes;                      /* of the forms of times: those that all have */
  const char *example;
  /* What it is taken for. */
  enum infer_role role;
  bool is_time;
  enum sn_time_form form;
  const char *like;
  const char *target, *type; /* name and type of the domain */
  const char *otherwise;
};

struct infer {
  struct base_arena *arena;
  const struct tql_infer_options *options;
  struct base_diag_sink *diags;
  struct sn_form form;
  const char *format; /* as the statement says it */
  const struct sn_log *log;
  struct infer_column *columns;
  size_t count, capacity;
  /* Of files of fields: which column each field of the file in hand is; COUNT: none. */
  size_t *order;
  size_t order_count, order_capacity;
  size_t records, bad;
  size_t unsayable; /* values whose key no statement can say */
  size_t shorter;   /* records with fewer fields than the first line */
  int64_t first_shorter_line;
  size_t hashes; /* records that begin with # */
  int64_t first_hash_line;
  size_t longer; /* records of lines that go on */
  int64_t first_longer_line;
  bool all;
  const char *first_problem;
  int64_t first_problem_line;
  enum tql_infer_kind kind;
  bool backwards; /* the period's start is its stop less its length */
  size_t empty;   /* periods */
  const char *relation;
  const char **notes;
  size_t note_count, note_capacity;
};

void infer_note(struct infer *infer, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Reports why nothing can be inferred; returns BASE_SYSTEM. */
enum base_status infer_fail(struct infer *infer, const char *path, const char *hint,
                            const char *what);
/* Opens the Ith file. */
enum base_status infer_open(struct infer *infer, size_t i, struct sn_sample **ret) BASE_MUST_USE;

/* sniff.c: the form, from what the first file begins with. */
enum base_status infer_form(struct infer *infer) BASE_MUST_USE;
/* text_log.c: the Ith pattern that lines of a log may have, with those PARTS; NULL: there are no more. */
enum { INFER_LEVEL = 1, INFER_THREAD = 2 };
const char *infer_text_pattern(struct base_arena *arena, size_t i, unsigned parts);
/* gather.c: the columns, and what their values are. */
enum base_status infer_gather(struct infer *infer) BASE_MUST_USE;
/* Are there records, as the file is taken, in which the column has no value? */
bool infer_has_gaps(const struct infer *infer, const struct infer_column *column);
/* The first record of the Ith file: its header, or a record. */
bool infer_is_header(struct infer *infer, size_t file, const struct sn_sample_record *record);
/* roles.c: which are times, and of what kind the relation is. */
enum base_status infer_roles(struct infer *infer) BASE_MUST_USE;
/* types.c */
void infer_types(struct infer *infer);
/* words.c: names that are legal, and no two alike; what names say. */
void infer_names(struct infer *infer);
enum infer_hint {
  INFER_HINT_TIME = 1,
  INFER_HINT_START = 2,
  INFER_HINT_STOP = 4,
  INFER_HINT_LENGTH = 8,
  INFER_HINT_BEST = 16, /* a name that the time of an event has */
};
unsigned infer_hints(const char *name,
                     enum sn_time_form *ret_unit); /* of a length; SN_TIME_OWN: none is said */
/* print.c */
const char *infer_text(struct infer *infer);

#endif
