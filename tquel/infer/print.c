/* The statements, as text. */
#include <string.h>

#include "tquel/infer/infer_impl.h"
#include "tquel/lang/print.h"

static void print_domains(struct base_buffer *out, const struct infer *infer) {
  bool any = false;
  base_buffer_puts(out, " (");
  for (size_t i = 0; i < infer->count; i++) {
    const struct infer_column *column = &infer->columns[i];
    if (column->role != INFER_DOMAIN) continue;
    base_buffer_puts(out, any ? ", " : "");
    tql_print_name(out, column->target);
    base_buffer_printf(out, " = %s", column->type);
    any = true;
  }
  base_buffer_puts(out, ")\n");
}

static void print_origin(struct base_buffer *out, const struct infer_column *column) {
  if (column->name != NULL && !column->twice)
    tql_print_string(out, column->name, strlen(column->name));
  else
    base_buffer_printf(out, "%u", column->number);
}

static void print_form(struct base_buffer *out, const struct infer_column *column) {
  static const char *const units[] = {[SN_TIME_S] = " in s",
                                      [SN_TIME_MS] = " in ms",
                                      [SN_TIME_US] = " in us",
                                      [SN_TIME_NS] = " in ns"};
  if (column->form == SN_TIME_OWN) return;
  if (column->form != SN_TIME_LIKE) {
    base_buffer_puts(out, units[column->form]);
    return;
  }
  base_buffer_puts(out, " like ");
  tql_print_string(out, column->like, strlen(column->like));
}

static void print_mapping(struct base_buffer *out, const struct infer *infer,
                          const struct infer_column *column) {
  switch (column->role) {
    case INFER_AT:
      base_buffer_puts(out, "at = ");
      break;
    case INFER_START:
      base_buffer_puts(out, "start = ");
      break;
    case INFER_STOP:
      base_buffer_puts(out, "stop = ");
      break;
    case INFER_LENGTH:
      base_buffer_puts(out, infer->backwards ? "start = stop - " : "stop = start + ");
      break;
    case INFER_OWN:
      base_buffer_printf(out, "%s = ", column->name);
      break;
    case INFER_DOMAIN:
      tql_print_name(out, column->target);
      base_buffer_puts(out, " = ");
      break;
  }
  print_origin(out, column);
  if (column->role != INFER_DOMAIN && column->role != INFER_OWN) print_form(out, column);
  if (column->otherwise != NULL) base_buffer_printf(out, " else %s", column->otherwise);
}

static void print_copy(struct base_buffer *out, const struct infer *infer) {
  const struct tql_infer_options *options = infer->options;
  bool any = false;
  base_buffer_puts(out, "copy ");
  tql_print_name(out, infer->relation);
  base_buffer_puts(out, " from ");
  tql_print_string(out, options->shown, strlen(options->shown));
  base_buffer_printf(out, " as %s", infer->format);
  if (infer->form.skipped > 0)
    base_buffer_printf(out, " skipping %lld lines", (long long)infer->form.skipped);
  if (infer->form.headless) base_buffer_puts(out, " without header");
  if (infer->form.ragged) base_buffer_puts(out, " ragged");
  if (infer->form.continued) base_buffer_puts(out, " continued");
  base_buffer_puts(out, " (");
  for (size_t i = 0; i < infer->count; i++) {
    base_buffer_puts(out, any ? ",\n  " : "\n  ");
    print_mapping(out, infer, &infer->columns[i]);
    any = true;
  }
  base_buffer_putc(out, ')');
  if (infer->kind == TQL_INFER_PERIOD && (options->empty != NULL || infer->empty > 0))
    base_buffer_printf(out, " empty periods %s",
                       options->empty != NULL ? options->empty : "instant");
  if (options->skipping) base_buffer_puts(out, " skipping errors");
  base_buffer_putc(out, '\n');
}

const char *infer_text(struct infer *infer) {
  static const char *const kinds[] = {[TQL_INFER_ANY] = "",
                                      [TQL_INFER_EVENT] = "event ",
                                      [TQL_INFER_PERIOD] = "period ",
                                      [TQL_INFER_SNAPSHOT] = ""};
  struct base_buffer text = BASE_BUFFER_EMPTY;
  base_buffer_printf(&text, "create %s", kinds[infer->kind]);
  tql_print_name(&text, infer->relation);
  print_domains(&text, infer);
  print_copy(&text, infer);
  const char *made = base_arena_strdup(infer->arena, base_buffer_text(&text));
  base_buffer_done(&text);
  return made;
}

/* A sentence as a comment, on one line. */
static void print_note(struct base_buffer *out, const char *note) {
  base_buffer_puts(out, "-- ");
  for (; *note != '\0'; note++) base_buffer_putc(out, *note == '\n' || *note == '\r' ? ' ' : *note);
  base_buffer_putc(out, '\n');
}

void tql_inferred_print(struct base_buffer *out, const struct tql_inferred *inferred) {
  for (size_t i = 0; i < inferred->note_count; i++) print_note(out, inferred->notes[i]);
  base_buffer_puts(out, inferred->text);
}
