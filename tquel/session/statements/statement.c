/* What statements of all kinds have: the way they are analysed, and what they say. */
#include <stdarg.h>
#include <string.h>

#include "engine/base/printable.h"
#include "tquel/session/session_impl.h"
#include "tquel/session/statements/statements.h"

void session_has_shown(struct tql_session *session) {
  session->patient_until = INT64_MAX;
}

void session_say(struct tql_session *session, const char *format, ...) {
  if (session->output == NULL || session->output->text == NULL) return;
  session_has_shown(session);
  va_list args;
  va_start(args, format);
  char *text = base_arena_vprintf(session->statement_arena, format, args);
  va_end(args);
  /* Names and values of others are among it. */
  struct base_buffer shown = BASE_BUFFER_EMPTY;
  base_buffer_printable_lines(&shown, text, strlen(text));
  session->output->text(session->output->context, base_buffer_text(&shown));
  base_buffer_done(&shown);
}
