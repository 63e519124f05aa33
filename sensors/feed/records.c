/* One way to the members of records for who does not care what form they have. */
#include "sensors/feed/records.h"

#include <string.h>
#include <strings.h>

#include "engine/base/env.h"

void sn_records_init(struct sn_records *records, enum sn_format format,
                     const struct sn_form *form) {
  *records = (struct sn_records){.format = format, .json = {.nested = true}};
  if (format != SN_LINES) return;
  records->lines = sn_lines_new(form->pattern);
  records->continued = form->continued;
}

void sn_records_done(struct sn_records *records) {
  sn_json_done(&records->json);
  sn_logfmt_done(&records->logfmt);
  sn_lines_free(records->lines);
}

static bool of_json(struct sn_records *records, const char *text, size_t length,
                    const struct sn_member **ret, size_t *ret_count) {
  bool good = sn_json_read(&records->json, text, length);
  *ret = records->json.members;
  *ret_count = records->json.count;
  records->problem = records->json.problem;
  records->problem_offset = records->json.problem_offset;
  return good;
}

static bool of_keys(struct sn_records *records, const char *text, size_t length,
                    const struct sn_member **ret, size_t *ret_count) {
  struct sn_logfmt *logfmt = &records->logfmt;
  bool good = records->format == SN_LOGFMT ? sn_logfmt_read(logfmt, text, length)
                                           : sn_stanza_read(logfmt, text, length);
  *ret = logfmt->members;
  *ret_count = logfmt->count;
  records->problem = logfmt->problem;
  records->problem_offset = logfmt->problem_offset;
  return good;
}

bool sn_records_read(struct sn_records *records, const char *text, size_t length,
                     const struct sn_member **ret, size_t *ret_count) {
  switch (records->format) {
    case SN_LINES:
      records->problem_offset = 0;
      return records->continued
                 ? sn_lines_read_all(records->lines, text, length, ret, ret_count,
                                     &records->problem)
                 : sn_lines_read(records->lines, text, length, ret, ret_count, &records->problem);
    case SN_LOGFMT:
    case SN_STANZAS:
      return of_keys(records, text, length, ret, ret_count);
    default:
      return of_json(records, text, length, ret, ret_count);
  }
}

static enum sn_cut cut_of(enum sn_format format) {
  switch (format) {
    case SN_CSV:
      return SN_CUT_CSV;
    case SN_JSON:
      return SN_CUT_OBJECTS;
    case SN_STANZAS:
      return SN_CUT_STANZAS;
    default:
      return SN_CUT_LINES;
  }
}

static bool begins(void *context, const char *line, size_t length) {
  const struct sn_member *members;
  size_t count;
  const char *problem;
  return sn_lines_read(context, line, length, &members, &count, &problem);
}

void sn_records_cut(struct sn_records *records, const struct sn_form *form, enum sn_format format,
                    struct sn_splitter *splitter, struct sn_source *source) {
  splitter->cut = cut_of(format);
  splitter->separator = format == SN_TSV                       ? '\t'
                        : form != NULL && form->separator != 0 ? form->separator
                                                               : ',';
  if (format != SN_LINES || form == NULL || !form->continued) return;
  splitter->cut = SN_CUT_STARTS;
  splitter->begins = begins;
  splitter->begins_context = records->lines;
  splitter->grown = base_env_monotonic(); /* what is read already */
  source->keeps_last = true;
}

bool sn_is_blank_record(enum sn_format format, const char *text, size_t length) {
  if (sn_is_separated(format)) return length == 0;
  const char *blank = format == SN_JSON ? " \t\r\n,[]" : " \t\r\n";
  for (size_t i = 0; i < length; i++)
    if (text[i] == '\0' || strchr(blank, text[i]) == NULL) return false;
  return true;
}

enum sn_format sn_format_by_suffix(const char *path) {
  static const struct {
    const char *suffix;
    enum sn_format format;
  } known[] = {{".csv", SN_CSV},       {".tsv", SN_TSV},      {".tab", SN_TSV},
               {".ndjson", SN_NDJSON}, {".jsonl", SN_NDJSON}, {".json", SN_JSON},
               {".logfmt", SN_LOGFMT}};
  size_t length = path != NULL ? strlen(path) : 0;
  if (length > 3 && strcasecmp(path + length - 3, ".gz") == 0)
    length -= 3;
  else if (length > 4 && strcasecmp(path + length - 4, ".zst") == 0)
    length -= 4;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    size_t own = strlen(known[i].suffix);
    if (length >= own && strncasecmp(path + length - own, known[i].suffix, own) == 0)
      return known[i].format;
  }
  return SN_GUESS;
}
