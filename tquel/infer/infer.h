/* What a file holds, found by looking at it: the create and copy statements that take it. */
#ifndef TQL_INFER_H
#define TQL_INFER_H

#include "engine/base/diag.h"
#include "engine/base/status.h"
#include "engine/time.h"
#include "sensors/feed/form.h"

#define TQL_INFER_SAMPLE ((size_t)10000)

struct tql_infer_options {
  /* The files, which are read as one. Of "-", DESCRIPTOR is read, from its beginning each time: a file. */
  const char *const *paths;
  size_t path_count;
  int descriptor;
  const char *shown; /* as the statements name them */
  const struct sn_form
      *form; /* what is known of the form: format, separator, pattern, no header; NULL: nothing */
  const char *format;   /* how the statement says it: "lines \"...\""; NULL with FORM NULL */
  const char *relation; /* its name; NULL: from the file's */
  /* Of which kind the relation is to be; if the file does not give that, it fails. */
  enum tql_infer_kind { TQL_INFER_ANY, TQL_INFER_EVENT, TQL_INFER_PERIOD, TQL_INFER_SNAPSHOT } kind;
  const char *
      empty; /* what becomes of empty periods: drop, instant, refuse; NULL: instant where there are any */
  bool skipping; /* records that are none are skipped */
  size_t sample; /* how many records are looked at; 0: all */
  struct net_time_context time;
  /* Is a relation called so already? May be NULL. */
  bool (*taken)(void *context, const char *name);
  void *context;
};

struct tql_inferred {
  const char *relation;
  const char *text;         /* create and copy, with line ends */
  const char *const *notes; /* what was guessed, a sentence each */
  size_t note_count;
  size_t records; /* that were looked at */
  bool all;       /* which was all */
};

/* In ARENA. BASE_USER, BASE_SYSTEM: the file cannot be read, or nobody knows what it holds; reported to DIAGS. */
enum base_status tql_infer(struct base_arena *arena, const struct tql_infer_options *options,
                           struct base_diag_sink *diags, struct tql_inferred *ret) BASE_MUST_USE;

/* Notes as comments, then the statements. */
void tql_inferred_print(struct base_buffer *out, const struct tql_inferred *inferred);

#endif
