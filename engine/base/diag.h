/* Diagnostics: what is wrong, where, why, and what to do about it.
 *
 * Every diagnostic has a permanent number TQ-nnnn, a row of messages.def (number, symbolic name,
 * severity, template, explanation, example, fix). Library code reports to a sink and never prints;
 * the sink's owner (shell, test, server) decides what becomes of it.
 *
 * Number ranges: 00xx usage, 01xx names, 02xx syntax, 03xx types and analysis, 04xx run time,
 * 05xx input data, 06xx database and files, 07xx feeds, 08xx sensor descriptions, 09xx not
 * executed yet.                    */
#ifndef BASE_DIAG_H
#define BASE_DIAG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/base/buffer.h"

enum base_severity { BASE_NOTE, BASE_WARNING, BASE_ERROR };

/* What the number says about the exit code of a script: 1 usage, 2 statement, 3 database, file or
 * network. */
enum base_message {
#define MESSAGE(NUMBER, NAME, SEVERITY, EXIT, TEMPLATE, EXPLANATION, EXAMPLE, FIX) \
  MSG_##NAME = NUMBER,
#include "engine/base/messages.def"
#undef MESSAGE
};

struct base_message_info {
  int number;
  const char *name; /* the symbolic name, lower case with dashes */
  enum base_severity severity;
  int exit_code;
  const char *template; /* printf form, for the documentation */
  const char *explanation;
  const char *example;
  const char *fix;
};

/* The registry's row of NUMBER, or NULL. base_message_at(0..) enumerates, NULL at the end. */
const struct base_message_info *base_message_find(int number);
const struct base_message_info *base_message_at(size_t index);

/* A text that positions refer to: a script file, what was typed, a data file. */
struct base_source {
  const char *name; /* shown before the position: a file's path, "<stdin>", "<command 1>" */
  const char *text; /* NULL when the text is not at hand (a data file) */
  size_t length;
  int first_line; /* the number of the text's first line; 0 means 1 */
};

/* Lines and columns count from 1, columns in bytes; 0 means unknown. The end is exclusive. */
struct base_range {
  int first_line, first_column, last_line, last_column;
};

struct base_diag {
  enum base_message number;
  enum base_severity severity;
  int exit_code;
  const struct base_source *source; /* NULL when there is none */
  struct base_range range;
  char *message; /* one line, no period at the end */
  char *hint;    /* NULL or one line */
};

/* Collects diagnostics. ON_REPORT, if not NULL, sees each one at once. */
struct base_diag_sink {
  struct base_diag *items;
  size_t count, capacity;
  size_t errors;
  int exit_code; /* that of the first error, 0 if none */
  void (*on_report)(void *context, const struct base_diag *diag);
  void *context;
  unsigned holds;   /* see base_diag_hold */
  size_t delivered; /* items that on_report has seen */
};

void base_diag_sink_init(struct base_diag_sink *sink);
void base_diag_sink_done(struct base_diag_sink *sink);
void base_diag_sink_clear(struct base_diag_sink *sink);
/* Between hold and release (they nest) on_report sees nothing, so that hints can be added to what
 * base_report returned; the last release delivers.                                                */
void base_diag_hold(struct base_diag_sink *sink);
void base_diag_release(struct base_diag_sink *sink);

/* Reports NUMBER with the message from FORMAT (which need not be the registry's template) and
 * returns the diagnostic so that a hint can be added. SOURCE may be NULL, RANGE may be NULL.
 * The pointer holds until the next report to this sink.                                            */
struct base_diag *base_report(struct base_diag_sink *sink, enum base_message number,
                              const struct base_source *source, const struct base_range *range,
                              const char *format, ...) __attribute__((format(printf, 5, 6)));
/* As base_report, with a hint (FORMAT_HINT has no arguments). */
struct base_diag *base_report_hint(struct base_diag_sink *sink, enum base_message number,
                                   const struct base_source *source, const struct base_range *range,
                                   const char *hint, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Forgets what was reported since there were COUNT of them, and nobody has heard of. */
void base_diag_drop(struct base_diag_sink *sink, size_t count);

/* "FILE:LINE:COL: error TQ-nnnn: message", the source line, a caret line, "hint: ..."; only those
 * parts that are known. Tabs in the source line are kept so that the caret stands right; of a line
 * of more than 200 characters the part around the place is shown, with "..." where it goes on.   */
void base_diag_format(struct base_buffer *out, const struct base_diag *diag);

/* Of COUNT candidates the one nearest to NAME (Damerau-Levenshtein, case-insensitive), or NULL when
 * none is near enough to be worth suggesting.                                                      */
const char *base_nearest(const char *name, const char *const *candidates, size_t count);

/* The same where candidates come one after the other: of those offered since base_near_to, `nearest` is the one
 * nearest to the word, or NULL. The word and the candidates are borrowed. NEAR is a struct base_near: functions
 * that visit names take base_near_offer as it is. */
struct base_near {
  const char *word, *nearest;
  size_t below; /* a candidate must be less far away */
};
struct base_near base_near_to(const char *word);
void base_near_offer(void *near, const char *candidate);

#endif
