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

struct field {
  const char *text;
  size_t length;
};

static bool bad_quotation(struct sn_decoder *decoder, const char *what) {
  return sn_decoder_refuse(decoder, MSG_BAD_RECORD, "%s", what);
}

/* At the opening mark; *NEXT comes to stand behind the closing one. */
static bool read_quoted(struct sn_csv *csv, struct sn_decoder *decoder, const char **next,
                        const char *end, struct field *ret) {
  const char *start = *next + 1;
  const char *mark = memchr(start, '"', (size_t)(end - start));
  *ret = (struct field){start, mark ? (size_t)(mark - start) : 0};
  if (mark && mark + 1 < end && mark[1] == '"') {
    base_buffer_clear(&csv->unquoted);
    while (mark && mark + 1 < end && mark[1] == '"') {
      base_buffer_append(&csv->unquoted, start, (size_t)(mark + 1 - start));
      start = mark + 2;
      mark = memchr(start, '"', (size_t)(end - start));
    }
    if (mark) base_buffer_append(&csv->unquoted, start, (size_t)(mark - start));
    *ret = (struct field){csv->unquoted.data, csv->unquoted.length};
  }
  if (!mark) return bad_quotation(decoder, "a quotation mark is never closed");
  *next = mark + 1;
  if (*next < end && **next != ',')
    return bad_quotation(decoder, "something follows the closing quotation mark");
  return true;
}

static bool read_plain(struct sn_decoder *decoder, const char **next, const char *end,
                       bool may_have_quotes, struct field *ret) {
  const char *start = *next, *at = start;
  while (at < end && *at != ',') at++;
  *ret = (struct field){start, (size_t)(at - start)};
  *next = at;
  if (!may_have_quotes) return true;
  const char *mark = memchr(start, '"', ret->length);
  if (!mark) return true;
  *next = mark;
  return bad_quotation(decoder, "a quotation mark inside a field that does not begin with one");
}

static bool read_field(struct sn_csv *csv, struct sn_decoder *decoder, const char **next,
                       const char *end, bool may_have_quotes, struct field *ret) {
  if (may_have_quotes && *next < end && **next == '"')
    return read_quoted(csv, decoder, next, end, ret);
  return read_plain(decoder, next, end, may_have_quotes, ret);
}

/* ---- the header ---- */

static bool add_column(struct sn_csv *csv, struct sn_decoder *decoder, struct field name,
                       uint64_t *seen) {
  sn_trim(&name.text, &name.length);
  int index = sn_columns_find(&decoder->columns, name.text, name.length, csv->count);
  if (index < 0) return sn_decoder_unknown(decoder, name.text, name.length);
  const struct sn_column *column = &decoder->columns.items[index];
  if (seen[index]) return sn_decoder_lacks(decoder, SN_TWICE, column->name);
  seen[index] = 1;
  base_grow(&csv->fields, &csv->capacity, csv->count + 1, sizeof *csv->fields);
  csv->fields[csv->count++] = column;
  return true;
}

static bool read_header(struct sn_csv *csv, struct sn_decoder *decoder,
                        const struct sn_record *record, uint64_t *seen, size_t *ret_offset) {
  const char *next = record->text, *end = next + record->length;
  const char *lacking = NULL;
  for (;; next++) {
    const char *start = next;
    struct field name;
    bool good = read_field(csv, decoder, &next, end, record->has_quotes, &name);
    *ret_offset = (size_t)((good ? start : next) - record->text);
    if (!good || !add_column(csv, decoder, name, seen)) return false;
    if (next == end) break;
  }
  *ret_offset = 0;
  csv->has_times = sn_columns_any_time(&decoder->columns, seen, 1);
  enum sn_lack lack =
      sn_columns_check(&decoder->columns, seen, 1, decoder->timeless, false, &lacking);
  return sn_decoder_lacks(decoder, lack, lacking);
}

bool sn_csv_header(struct sn_csv *csv, struct sn_decoder *decoder, const struct sn_record *record,
                   size_t *ret_offset) {
  uint64_t *seen = base_xcalloc(decoder->columns.count, sizeof *seen);
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

/* On a mistake NEXT stands where it is. */
static bool parse_fields(struct sn_csv *csv, struct sn_decoder *decoder,
                         const struct sn_record *record, const char **next) {
  const char *end = *next + record->length;
  for (size_t i = 0;; i++, (*next)++) {
    const char *start = *next;
    struct field field;
    if (i == csv->count) return wrong_count(decoder, csv, true);
    if (!read_field(csv, decoder, next, end, record->has_quotes, &field)) return false;
    if (!sn_decoder_set(decoder, csv->fields[i], field.text, field.length,
                        (size_t)(start - record->text))) {
      *next = start;
      return false;
    }
    if (*next == end) return i + 1 == csv->count || wrong_count(decoder, csv, false);
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
  return sn_decoder_finish(decoder, csv->has_times, ret_offset) ? SN_PARSED_ROW : SN_PARSED_BAD;
}
