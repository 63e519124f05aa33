/* CSV after RFC 4180: fields, quotation, header.
 *
 * A field that begins with a quotation mark ends with one, and inside a mark is written twice; a
 * mark anywhere else is a mistake. Fields are handed on where they stand in the reader's buffer;
 * only one that has doubled marks is copied, into a buffer that is reused. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "sensors/feed/parsers.h"
#include "sensors/feed/numbers.h"

static bool bad_quotation(struct sn_decoder *decoder, const char *what) {
  return sn_decoder_refuse(decoder, MSG_BAD_RECORD, "%s", what);
}

/* At the opening mark; *NEXT comes to stand behind the closing one. */
static bool read_quoted(struct sn_csv *csv, struct sn_decoder *decoder, const char **next,
                        const char *end, struct sn_field *ret) {
  const char *start = *next + 1;
  const char *mark = memchr(start, '"', (size_t)(end - start));
  *ret = (struct sn_field){start, mark ? (size_t)(mark - start) : 0};
  if (mark && mark + 1 < end && mark[1] == '"') {
    base_buffer_clear(&csv->unquoted);
    while (mark && mark + 1 < end && mark[1] == '"') {
      base_buffer_append(&csv->unquoted, start, (size_t)(mark + 1 - start));
      start = mark + 2;
      mark = memchr(start, '"', (size_t)(end - start));
    }
    if (mark) base_buffer_append(&csv->unquoted, start, (size_t)(mark - start));
    *ret = (struct sn_field){csv->unquoted.data, csv->unquoted.length};
  }
  if (!mark) return bad_quotation(decoder, "a quotation mark is never closed");
  *next = mark + 1;
  if (*next < end && **next != csv->separator)
    return bad_quotation(decoder, "something follows the closing quotation mark");
  return true;
}

static bool read_plain(const struct sn_csv *csv, struct sn_decoder *decoder, const char **next,
                       const char *end, bool may_have_quotes, struct sn_field *ret) {
  const char separator = csv->separator;
  const char *start = *next, *at = start;
  while (at < end && *at != separator) at++;
  *ret = (struct sn_field){start, (size_t)(at - start)};
  *next = at;
  if (!may_have_quotes) return true;
  const char *mark = memchr(start, '"', ret->length);
  if (!mark) return true;
  *next = mark;
  return bad_quotation(decoder, "a quotation mark inside a field that does not begin with one");
}

bool sn_csv_field(struct sn_csv *csv, struct sn_decoder *decoder, const char **next,
                  const char *end, bool may_have_quotes, struct sn_field *ret) {
  if (may_have_quotes && *next < end && **next == '"')
    return read_quoted(csv, decoder, next, end, ret);
  return read_plain(csv, decoder, next, end, may_have_quotes, ret);
}

/* ---- the header ---- */

static bool add_column(struct sn_csv *csv, struct sn_decoder *decoder, struct sn_field name,
                       uint64_t *seen) {
  sn_trim(&name.text, &name.length);
  int index = sn_columns_find(&decoder->columns, name.text, name.length, csv->count);
  bool mapped = decoder->columns.mapped;
  const struct sn_column *column = NULL;
  if (index < 0 && !mapped) return sn_decoder_unknown(decoder, name.text, name.length);
  if (index >= 0 && seen[index])
    return mapped ? sn_decoder_refuse(
                        decoder, MSG_COLUMN_TWICE,
                        "the file has two columns %s: say the number of the one that is meant",
                        decoder->columns.items[index].name)
                  : sn_decoder_lacks(decoder, SN_TWICE, decoder->columns.items[index].name);
  if (index >= 0) {
    column = &decoder->columns.items[index];
    seen[index] = 1;
  }
  base_grow(&csv->fields, &csv->capacity, csv->count + 1, sizeof *csv->fields);
  csv->fields[csv->count++] = column;
  return true;
}

/* Those that mappings know by their number. */
static void add_numbered(struct sn_csv *csv, struct sn_decoder *decoder, uint64_t *seen) {
  for (size_t i = 0; i < decoder->columns.count; i++) {
    struct sn_column *column = &decoder->columns.items[i];
    if (column->number == 0 || column->number > csv->count || column->follows) continue;
    const struct sn_column *named = csv->fields[column->number - 1];
    csv->fields[column->number - 1] = column;
    seen[i] = 1;
    while (column->next != NULL && column->next != named)
      column = &decoder->columns.items[column->next - decoder->columns.items];
    column->next = named;
  }
}

/* Of mappings: all that they name must be there. NAMES: of the file's columns. */
static bool check_mapped(struct sn_csv *csv, struct sn_decoder *decoder, const uint64_t *seen,
                         const char *const *names) {
  for (size_t i = 0; i < decoder->columns.count; i++) {
    const struct sn_column *column = &decoder->columns.items[i];
    if (seen[i] || column->follows) continue;
    if (column->number > 0)
      return sn_decoder_refuse(decoder, MSG_MISSING_COLUMN,
                               "there is no column %u: the file has %zu", column->number,
                               csv->count);
    const char *nearest = names != NULL ? base_nearest(column->name, names, csv->count) : NULL;
    return sn_decoder_refuse(decoder, MSG_MISSING_COLUMN, "the file has no column %s%s%s%s",
                             column->name, nearest != NULL ? "; did you mean " : "",
                             nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
  }
  return true;
}

static bool read_names(struct sn_csv *csv, struct sn_decoder *decoder,
                       const struct sn_record *record, uint64_t *seen, struct base_arena *arena,
                       const char ***ret_names, size_t *ret_offset) {
  const char *next = record->text, *end = next + record->length;
  size_t capacity = 0;
  for (;; next++) {
    const char *start = next;
    struct sn_field name;
    bool good = sn_csv_field(csv, decoder, &next, end, record->has_quotes, &name);
    *ret_offset = (size_t)((good ? start : next) - record->text);
    if (!good || !add_column(csv, decoder, name, seen)) return false;
    if (arena != NULL) {
      base_grow(ret_names, &capacity, csv->count, sizeof **ret_names);
      (*ret_names)[csv->count - 1] = base_arena_strndup(arena, name.text, name.length);
    }
    if (next == end) return true;
  }
}

static bool read_mapped_header(struct sn_csv *csv, struct sn_decoder *decoder,
                               const struct sn_record *record, uint64_t *seen, size_t *ret_offset) {
  struct base_arena *arena = base_arena_new();
  const char **names = NULL;
  bool good = read_names(csv, decoder, record, seen, arena, &names, ret_offset);
  if (good) {
    *ret_offset = 0;
    add_numbered(csv, decoder, seen);
    good = check_mapped(csv, decoder, seen, csv->headless ? NULL : names);
  }
  csv->has_times = sn_columns_any_mapped_time(&decoder->columns);
  free(names);
  base_arena_free(arena);
  return good;
}

static bool read_header(struct sn_csv *csv, struct sn_decoder *decoder,
                        const struct sn_record *record, uint64_t *seen, size_t *ret_offset) {
  const char *lacking = NULL;
  if (decoder->columns.mapped) return read_mapped_header(csv, decoder, record, seen, ret_offset);
  if (!read_names(csv, decoder, record, seen, NULL, NULL, ret_offset)) return false;
  *ret_offset = 0;
  csv->has_times = sn_columns_any_time(&decoder->columns, seen, 1);
  enum sn_lack lack =
      sn_columns_check(&decoder->columns, seen, 1, decoder->timeless, false, &lacking);
  return sn_decoder_lacks(decoder, lack, lacking);
}

bool sn_csv_header(struct sn_csv *csv, struct sn_decoder *decoder, const struct sn_record *record,
                   size_t *ret_offset) {
  uint64_t *seen = base_xcalloc(decoder->columns.count + 1, sizeof *seen);
  bool good = read_header(csv, decoder, record, seen, ret_offset);
  free(seen);
  return good;
}

void sn_csv_done(struct sn_csv *csv) {
  free(csv->fields);
  base_buffer_done(&csv->unquoted);
}

/* ---- records ---- */

static bool wrong_count(struct sn_decoder *decoder, const struct sn_csv *csv, bool more) {
  return sn_decoder_refuse(decoder, MSG_BAD_RECORD, "%s than the %zu fields of the header",
                           more ? "more fields" : "fewer fields", csv->count);
}

/* Fields from the Ith on, which the record does not have. OFFSET: of its end. */
static bool set_lacking(const struct sn_csv *csv, struct sn_decoder *decoder, size_t i,
                        size_t offset) {
  if (i < csv->count && !csv->ragged) return wrong_count(decoder, csv, false);
  for (; i < csv->count; i++)
    for (const struct sn_column *column = csv->fields[i]; column != NULL; column = column->next)
      if (!sn_decoder_set(decoder, column, "", 0, offset)) return false;
  return true;
}

/* On a mistake NEXT stands where it is. */
static bool parse_fields(struct sn_csv *csv, struct sn_decoder *decoder,
                         const struct sn_record *record, const char **next) {
  const char *end = *next + record->length;
  for (size_t i = 0;; i++, (*next)++) {
    const char *start = *next;
    struct sn_field field;
    if (i == csv->count) return wrong_count(decoder, csv, true);
    if (!sn_csv_field(csv, decoder, next, end, record->has_quotes, &field)) return false;
    for (const struct sn_column *column = csv->fields[i]; column != NULL; column = column->next)
      if (!sn_decoder_set(decoder, column, field.text, field.length,
                          (size_t)(start - record->text))) {
        *next = start;
        return false;
      }
    if (*next == end) return set_lacking(csv, decoder, i + 1, record->length);
  }
}

enum sn_parsed sn_csv_parse(struct sn_csv *csv, struct sn_decoder *decoder,
                            const struct sn_record *record, size_t *ret_offset) {
  const char *next = record->text;
  sn_decoder_begin(decoder);
  if (!parse_fields(csv, decoder, record, &next)) {
    *ret_offset = (size_t)(next - record->text);
    return SN_PARSED_BAD;
  }
  return sn_parsed_row(decoder, csv->has_times, ret_offset);
}
