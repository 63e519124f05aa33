/* Where results go: standard output in the chosen format, or someone who takes the text. */
#ifndef TQL_PROGRAM_OUTPUT_H
#define TQL_PROGRAM_OUTPUT_H

#include "tquel/session/session.h"

struct program_output {
  struct tql_output output;    /* for the session; its context is this struct */
  struct tql_session *session; /* for times and strings of rows; NULL: texts only */
  enum tql_format format;
  bool timing;
  unsigned width;     /* of the terminal; 0: standard output is asked */
  int error;          /* errno of the first write that failed; nothing is written after it */
  bool interruptible; /* a statement's output, which Ctrl-C cuts */
  bool cut;           /* it did: of this text nothing more is shown, but rows of displays */
  /* Takes what would go to standard output. NULL: it goes there. */
  void (*write)(void *context, const char *bytes, size_t length);

  /* Called before something comes while the user types (NULL: never). */
  void (*before_writing)(void *context);
  void *context;

  struct base_buffer pending;
  size_t results; /* written so far */
  int64_t flushed_at;
  char **headed; /* displays whose heading was written */
  size_t headed_count, headed_capacity;
};

void program_output_init(struct program_output *output, enum tql_format format, bool timing);
void program_output_done(struct program_output *output);
void program_output_set_timing(struct program_output *output, bool timing);
/* A text of statements is run between the two: Ctrl-C cuts what it has to show, also where nobody takes it. */
void program_output_begin(struct program_output *output);
void program_output_end(struct program_output *output);
/* Writes what is pending. A failure interrupts the session and stays in ERROR. */
void program_output_flush(struct program_output *output);
/* Text of the shell's own, or that somebody else has formatted. */
void program_output_text(struct program_output *output, const char *text);
void program_output_bytes(struct program_output *output, const char *bytes, size_t length);
/* For who has no program_output: writes TEXT to standard output at once. False after TQ-0651; a reader that has
 * gone is no error. */
bool program_output_once(const char *text, size_t length, struct base_diag_sink *diags);
/* How wide the terminal is that standard output is; 0: it is none. */
unsigned program_output_terminal_width(void);

#endif
