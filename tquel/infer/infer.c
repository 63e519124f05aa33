/* The steps, one after the other: form, columns, times, types, names, statements. */
#include "tquel/infer/infer.h"

#include <stdlib.h>
#include <string.h>

#include "tquel/infer/infer_impl.h"

static void note_what_it_is(struct infer *infer) {
  const char *shown = infer->options->shown;
  bool by_pattern = infer->form.format == SN_LINES && infer->log == NULL;
  infer_note(infer, "%s: %s%s%s, %zu columns; %s %zu records were looked at",
             strcmp(shown, "-") == 0 ? "standard input" : shown,
             by_pattern ? "lines by a pattern" : infer->format,
             infer->form.headless ? " without header" : "", infer->form.ragged ? " ragged" : "",
             infer->count, infer->all ? "all" : "the first", infer->records + infer->bad);
  if (infer->form.skipped > 0 && infer->options->form == NULL)
    infer_note(infer, "%lld lines before the first record or the header are left out",
               (long long)infer->form.skipped);
  if (infer->unsayable > 0)
    infer_note(infer,
               "%zu values are left out, as their keys are not UTF-8 or have a zero byte in them",
               infer->unsayable);
  if (infer->form.ragged && infer->shorter > 0)
    infer_note(
        infer,
        "%zu of them have fewer fields than the first line, the first of these is line %lld: "
        "what lacks at the end is empty",
        infer->shorter, (long long)infer->first_shorter_line);
  if (infer->hashes > 0)
    infer_note(infer,
               "%zu of them begin with #, the first of these is line %lld: they are taken for "
               "records; if they are comments, take them out first (grep -v '^#')",
               infer->hashes, (long long)infer->first_hash_line);
  if (infer->longer > 0)
    infer_note(infer,
               "%zu of them have further lines, which the pattern does not match, the first of "
               "these is line %lld: those belong to the message",
               infer->longer, (long long)infer->first_longer_line);
  if (infer->bad > 0)
    infer_note(infer,
               "%zu of them are none, the first on line %lld: %s; copy fails there, and with "
               "skipping errors leaves such out and counts them",
               infer->bad, (long long)infer->first_problem_line, infer->first_problem);
}

/* What programs write about many things at once: records that are the elements of an array, within one object. */
static void note_array(struct infer *infer) {
  if (infer->records != 1) return;
  for (size_t i = 0; i < infer->count; i++) {
    const struct infer_column *column = &infer->columns[i];
    bool array = column->texts && column->example != NULL && strncmp(column->example, "[{", 2) == 0;
    if (array && column->name != NULL && strchr(column->name, '.') == NULL)
      infer_note(infer,
                 "\"%s\" is an array of objects in one record: jq -c '.%s[]' makes them records",
                 column->name, column->name);
  }
}

static void note_empty(struct infer *infer) {
  if (infer->kind != TQL_INFER_PERIOD || infer->empty == 0 || infer->options->empty != NULL) return;
  infer_note(infer,
             "some periods stop when they start: they are given a chronon; empty periods drop "
             "leaves them out");
}

static enum base_status run(struct infer *infer) {
  enum base_status status = infer_form(infer);
  if (status == BASE_OK) status = infer_gather(infer);
  if (status != BASE_OK) return status;
  if (infer->records == 0 && infer->bad > 0)
    return infer_fail(
        infer, infer->options->paths[0], NULL,
        base_arena_printf(infer->arena, "line %lld: %s", (long long)infer->first_problem_line,
                          infer->first_problem));
  note_what_it_is(infer);
  status = infer_roles(infer);
  if (status != BASE_OK) return status;
  note_empty(infer);
  note_array(infer);
  infer_types(infer);
  infer_names(infer);
  return BASE_OK;
}

enum base_status tql_infer(struct base_arena *arena, const struct tql_infer_options *options,
                           struct base_diag_sink *diags, struct tql_inferred *ret) {
  struct infer infer = {.arena = arena, .options = options, .diags = diags};
  enum base_status status = run(&infer);
  if (status == BASE_OK) {
    const char **notes = BASE_NEW_ARRAY(arena, infer.note_count, const char *);
    for (size_t i = 0; i < infer.note_count; i++) notes[i] = infer.notes[i];
    *ret = (struct tql_inferred){.relation = infer.relation,
                                 .text = infer_text(&infer),
                                 .notes = notes,
                                 .note_count = infer.note_count,
                                 .records = infer.records,
                                 .all = infer.all};
  }
  free(infer.columns);
  free(infer.order);
  free(infer.notes);
  return status;
}
