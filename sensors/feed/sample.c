#include "sensors/feed/sample.h"

#include <stdlib.h>
#include <string.h>

#include "sensors/feed/parsers.h"
#include "sensors/feed/records.h"
#include "sensors/feed/source.h"

struct sn_sample {
  struct sn_source source;
  struct sn_splitter splitter;
  const struct sn_form *form;
  struct sn_csv csv;
  struct sn_decoder decoder; /* which says what is wrong with fields */
  struct sn_records records;
  struct sn_record taken; /* the record in hand, in the source */
  bool has_taken, at_end;
  struct sn_member *members; /* of CSV */
  size_t capacity;
  struct base_arena *texts; /* of fields with doubled marks */
  struct base_buffer problem;
};

enum base_status sn_sample_open(const char *path, int descriptor, struct base_diag_sink *diags,
                                struct sn_sample **ret) {
  struct sn_sample *sample = base_xcalloc(1, sizeof *sample);
  const struct sn_reader_options options = {.path = path, .descriptor = descriptor};
  enum base_status status = sn_source_open(&sample->source, &options, diags);
  sample->texts = base_arena_new();
  sample->splitter = (struct sn_splitter){.limit = SN_LINE_LIMIT, .line = 1};
  if (status != BASE_OK) {
    sn_sample_close(sample);
    return status;
  }
  *ret = sample;
  return BASE_OK;
}

void sn_sample_close(struct sn_sample *sample) {
  sn_source_done(&sample->source);
  sn_csv_done(&sample->csv);
  sn_records_done(&sample->records);
  base_buffer_done(&sample->decoder.reason);
  base_buffer_done(&sample->problem);
  base_arena_free(sample->texts);
  free(sample->members);
  free(sample);
}

static const char *failure(struct sn_sample *sample) {
  const struct sn_source *source = &sample->source;
  base_buffer_clear(&sample->problem);
  base_buffer_puts(&sample->problem, source->error != 0 ? strerror(source->error) : source->reason);
  return base_buffer_text(&sample->problem);
}

bool sn_sample_head(struct sn_sample *sample, size_t wanted, const char **ret, size_t *ret_length,
                    const char **ret_problem) {
  struct sn_source *source = &sample->source;
  while (sn_source_unread(source) < wanted + 3 && !sample->at_end) switch (sn_source_fill(source)) {
      case SN_FILLED:
        break;
      case SN_AT_END:
        sample->at_end = true;
        break;
      case SN_FILL_FAILED:
        *ret_problem = failure(sample);
        return false;
      case SN_NOTHING_NOW:
      case SN_ROTATED:
        *ret_problem = "interrupted";
        return false;
    }
  if (sn_source_unread(source) >= 3 && memcmp(sn_source_text(source), "\xEF\xBB\xBF", 3) == 0)
    source->next += 3;
  *ret = source->data != NULL ? sn_source_text(source) : "";
  *ret_length = sn_source_unread(source) < wanted ? sn_source_unread(source) : wanted;
  return true;
}

void sn_sample_begin(struct sn_sample *sample, const struct sn_form *form) {
  bool separated = sn_is_separated(form->format);
  sample->form = form;
  if (!separated) sn_records_init(&sample->records, form->format, form);
  sn_records_cut(&sample->records, form, form->format, &sample->splitter, &sample->source);
  sample->csv = (struct sn_csv){.separator = sample->splitter.separator};
}

static bool read_fields(struct sn_sample *sample, struct sn_sample_record *ret) {
  const struct sn_record *record = &sample->taken;
  const char *next = record->text, *end = next + record->length;
  base_arena_reset(sample->texts);
  ret->count = 0;
  for (;; next++) {
    struct sn_field field;
    if (!sn_csv_field(&sample->csv, &sample->decoder, &next, end, record->has_quotes, &field)) {
      ret->problem = base_buffer_text(&sample->decoder.reason);
      return false;
    }
    if (field.text == sample->csv.unquoted.data && field.length > 0)
      field.text = base_arena_strndup(sample->texts, field.text, field.length);
    base_grow(&sample->members, &sample->capacity, ret->count + 1, sizeof *sample->members);
    sample->members[ret->count++] =
        (struct sn_member){.kind = SN_JSON_STRING, .text = field.text, .length = field.length};
    if (next == end) break;
  }
  ret->members = sample->members;
  return true;
}

static enum sn_sampled read_record(struct sn_sample *sample, struct sn_sample_record *ret) {
  const struct sn_record *record = &sample->taken;
  *ret = (struct sn_sample_record){
      .text = record->text, .length = record->length, .line = sample->splitter.line};
  if (sn_is_separated(sample->form->format))
    return read_fields(sample, ret) ? SN_SAMPLED : SN_SAMPLED_BAD;
  if (sn_records_read(&sample->records, record->text, record->length, &ret->members, &ret->count))
    return SN_SAMPLED;
  ret->problem = sample->records.problem;
  return SN_SAMPLED_BAD;
}

/* Lines before the header. What is wrong with them is found once more by who goes on. */
static void skip_lines(struct sn_sample *sample) {
  enum sn_cut cut = sample->splitter.cut;
  sample->splitter.cut = SN_CUT_LINES;
  while (sample->splitter.line <= sample->form->skipped) {
    struct sn_record record;
    enum sn_split split = sn_split_next(&sample->splitter, &sample->source, &record);
    if (split != SN_RECORD && split != SN_RECORD_TOO_LONG) break;
    sn_split_take(&sample->splitter, &sample->source, &record);
  }
  sample->splitter.cut = cut;
}

enum sn_sampled sn_sample_next(struct sn_sample *sample, struct sn_sample_record *ret) {
  if (sample->splitter.line <= sample->form->skipped) skip_lines(sample);
  for (;;) {
    if (sample->has_taken) sn_split_take(&sample->splitter, &sample->source, &sample->taken);
    sample->has_taken = false;
    enum sn_split split = sn_split_next(&sample->splitter, &sample->source, &sample->taken);
    *ret = (struct sn_sample_record){.line = sample->splitter.line};
    switch (split) {
      case SN_RECORD:
        sample->has_taken = true;
        if (sn_is_blank_record(sample->form->format, sample->taken.text, sample->taken.length))
          continue;
        return read_record(sample, ret);
      case SN_RECORD_TOO_LONG:
      case SN_RECORD_UNCLOSED:
        sample->has_taken = true;
        ret->problem = split == SN_RECORD_UNCLOSED ? "a quotation mark is never closed"
                                                   : "a line that is too long";
        return SN_SAMPLED_BAD;
      case SN_SPLIT_END:
        return SN_SAMPLED_END;
      case SN_SPLIT_FAILED:
        ret->problem = failure(sample);
        return SN_SAMPLED_FAILED;
      case SN_SPLIT_NOTHING:
      case SN_SPLIT_ROTATED:
        break;
    }
    ret->problem = "interrupted";
    return SN_SAMPLED_FAILED;
  }
}

size_t sn_pattern_names(struct base_arena *arena, const char *pattern, const char ***ret) {
  struct sn_lines *lines = sn_lines_new(pattern);
  const char *const *names;
  size_t count = sn_lines_names(lines, &names);
  *ret = BASE_NEW_ARRAY(arena, count, const char *);
  for (size_t i = 0; i < count; i++) (*ret)[i] = base_arena_strdup(arena, names[i]);
  sn_lines_free(lines);
  return count;
}
