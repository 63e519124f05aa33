/* Records whose values have names (JSON, logfmt, lines by a pattern, stanzas), read by mappings.
 *
 * Who wrote them did not know the relation: a number may be a string, a text anything. What no mapping names is passed
 * over. A value that is missing, or null, is the one that the mapping says for that; else a text is empty, the stop of
 * a period that goes on is missing, and anything else is a mistake. */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "sensors/feed/parsers.h"

void sn_named_init(struct sn_named *named, const struct sn_decoder *decoder) {
  *named = (struct sn_named){.has_times = sn_columns_any_mapped_time(&decoder->columns)};
  named->seen = base_xcalloc(decoder->columns.count + 1, sizeof *named->seen);
}

void sn_named_done(struct sn_named *named) {
  free(named->columns);
  free(named->seen);
  base_buffer_done(&named->number);
}

static bool is_number(const struct sn_column *column) {
  if (column->role == SN_PART) return true;
  return column->role == SN_DOMAIN && column->field->type.base == NET_FLOAT;
}

static bool set(struct sn_named *named, struct sn_decoder *decoder, const struct sn_column *column,
                const struct sn_member *member) {
  const char *text = member->text;
  if (member->kind == SN_JSON_NULL) return sn_decoder_set(decoder, column, "", 0, member->offset);
  if (is_number(column)) { /* which is read up to where digits end */
    base_buffer_clear(&named->number);
    base_buffer_append(&named->number, text, member->length);
    text = base_buffer_text(&named->number);
  }
  return sn_decoder_set(decoder, column, text, member->length, member->offset);
}

/* What is missing. */
static bool complete(const struct sn_named *named, struct sn_decoder *decoder) {
  const struct sn_columns *columns = &decoder->columns;
  for (size_t i = 0; i < columns->count; i++) {
    if (named->seen[i] == named->stamp || columns->items[i].follows) continue;
    for (const struct sn_column *column = &columns->items[i]; column != NULL;
         column = column->next) {
      bool text = column->role == SN_DOMAIN && net_type_is_interned(column->field->type.base);
      bool stop = column->role >= SN_STOP && column->role <= SN_STOP_HI;
      if (!text && !stop && column->otherwise == NULL && column->role != SN_DEFINITE)
        return sn_decoder_refuse(decoder, MSG_MISSING_COLUMN, "the record has no %s", column->name);
      if (column->role == SN_DEFINITE && column->otherwise == NULL) continue;
      if (!sn_decoder_set(decoder, column, "", 0, 0)) return false;
    }
  }
  return true;
}

enum sn_parsed sn_named_parse(struct sn_named *named, struct sn_decoder *decoder,
                              const struct sn_member *members, size_t count, size_t *ret_offset) {
  size_t before = named->capacity;
  sn_decoder_begin(decoder);
  named->stamp++;
  base_grow(&named->columns, &named->capacity, count, sizeof *named->columns);
  for (size_t i = before; i < named->capacity; i++) named->columns[i] = 0;
  for (size_t i = 0; i < count; i++) {
    size_t likely = named->columns[i] >= 0 ? (size_t)named->columns[i] : 0;
    int found = sn_columns_find(&decoder->columns, members[i].key, members[i].key_length, likely);
    named->columns[i] = found;
    if (found < 0) continue;
    const struct sn_column *column = &decoder->columns.items[found];
    *ret_offset = members[i].offset;
    if (named->seen[found] == named->stamp) {
      sn_decoder_lacks(decoder, SN_TWICE, column->name);
      return SN_PARSED_BAD;
    }
    named->seen[found] = named->stamp;
    for (; column != NULL; column = column->next)
      if (!set(named, decoder, column, &members[i])) return SN_PARSED_BAD;
  }
  *ret_offset = 0;
  return complete(named, decoder) ? sn_parsed_row(decoder, named->has_times, ret_offset)
                                  : SN_PARSED_BAD;
}
