/* Where results go: standard output in the chosen format. */
#ifndef TQL_SHELL_OUTPUT_H
#define TQL_SHELL_OUTPUT_H

#include "tquel/session/session.h"

struct shell_output {
  struct tql_output output; /* for the session; its context is this struct */
  struct tql_session *session;
  enum tql_format format;
  bool timing;
  int error; /* errno of the first write that failed; nothing is written after it */

  /* Called before something comes while the user types (NULL: never). */
  void (*before_writing)(void *context);
  void *context;

  struct base_buffer pending;
  size_t results; /* written so far */
  int64_t flushed_at;
  char **headed; /* displays whose heading was written */
  size_t headed_count, headed_capacity;
};

void shell_output_init(struct shell_output *output, struct tql_session *session,
                       enum tql_format format, bool timing);
void shell_output_done(struct shell_output *output);
void shell_output_set_timing(struct shell_output *output, bool timing);
/* Writes what is pending. A failure interrupts the session and stays in ERROR. */
void shell_output_flush(struct shell_output *output);
/* Text of the shell's own. */
void shell_output_text(struct shell_output *output, const char *text);

#endif
