/* What all steps use: opening a file, noting what was guessed, failing. */
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "tquel/infer/infer_impl.h"

void infer_note(struct infer *infer, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *note = base_arena_vprintf(infer->arena, format, args);
  va_end(args);
  base_grow(&infer->notes, &infer->note_capacity, infer->note_count + 1, sizeof *infer->notes);
  infer->notes[infer->note_count++] = note;
}

enum base_status infer_fail(struct infer *infer, const char *path, const char *hint,
                            const char *what) {
  base_report_hint(infer->diags, MSG_NOT_INFERRED, NULL, NULL, hint, "%s: %s",
                   strcmp(path, "-") == 0 ? "standard input" : path, what);
  return BASE_SYSTEM;
}

enum base_status infer_open(struct infer *infer, size_t i, struct sn_sample **ret) {
  const struct tql_infer_options *options = infer->options;
  if (strcmp(options->paths[i], "-") != 0)
    return sn_sample_open(options->paths[i], -1, infer->diags, ret);
  (void)lseek(options->descriptor, 0, SEEK_SET);
  return sn_sample_open(NULL, options->descriptor, infer->diags, ret);
}
