/* NDJSON: an object per line.
 *
 *   {"at": 5, "n": 1}        a row; the keys are the columns of CSV, in any order and case
 *   {"checkpoint": 7}        no earlier time will follow
 *   {"end": 7, "p": "a"}     ends the period of what the domains name
 *   {"round": 7}             a round of sampling is complete
 *
 * An object with a time is a row, so a domain may be called "end" or "round"; without one the three
 * words make it a control record. In a row a stop may be missing, empty or null: the period is
 * open. Numbers are numbers and strings strings: "5" is no i4. Times may be strings, in any form.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/base/arena.h"
#include "sensors/feed/numbers.h"
#include "sensors/feed/parsers.h"

void sn_ndjson_init(struct sn_ndjson *ndjson, const struct sn_decoder *decoder) {
  *ndjson = (struct sn_ndjson){0};
  ndjson->seen = base_xcalloc(decoder->columns.count, sizeof *ndjson->seen);
  ndjson->named = base_xcalloc(decoder->layout->field_count, sizeof *ndjson->named);
}

void sn_ndjson_done(struct sn_ndjson *ndjson) {
  sn_json_done(&ndjson->json);
  free(ndjson->columns);
  free(ndjson->seen);
  free(ndjson->named);
}

/* ---- values ---- */

static bool wrong_kind(struct sn_decoder *decoder, const struct sn_column *column,
                       const struct sn_member *member) {
  static const char *const kinds[] = {
      [SN_JSON_STRING] = "a string", [SN_JSON_NUMBER] = "a number",
      [SN_JSON_TRUE] = "true",       [SN_JSON_FALSE] = "false",
      [SN_JSON_NULL] = "null",       [SN_JSON_TREE] = "an object or array"};
  struct base_buffer type = BASE_BUFFER_EMPTY;
  if (column->field)
    net_type_print(&type, column->field->type);
  else
    base_buffer_puts(&type, column->role == SN_DEFINITE ? "bool" : "time");
  sn_decoder_refuse(decoder, MSG_BAD_VALUE, "%s: %s where a value of type %s is expected",
                    column->name, kinds[member->kind], base_buffer_text(&type));
  base_buffer_done(&type);
  return false;
}

static bool is_bool(const struct sn_column *column) {
  return column->role == SN_DEFINITE ||
         (column->role == SN_DOMAIN && column->field->type.base == NET_BOOL);
}

static bool is_text(const struct sn_column *column) {
  return column->role == SN_DOMAIN && net_type_is_interned(column->field->type.base);
}

/* Of instants and lengths of time both have a text and a number. */
static bool is_quantity(const struct sn_column *column) {
  return column->role == SN_DOMAIN && column->field->type.quantity != NET_NUMBER;
}

static bool is_stop(const struct sn_column *column) {
  return column->role == SN_STOP || column->role == SN_STOP_LO || column->role == SN_STOP_HI;
}

static bool is_time(const struct sn_column *column) {
  return column->role < SN_DEFINITE;
}

static bool fits(const struct sn_column *column, enum sn_json_kind kind) {
  switch (kind) {
    case SN_JSON_STRING:
      return is_text(column) || is_time(column) || is_quantity(column);
    case SN_JSON_NUMBER:
      return !is_text(column);
    case SN_JSON_TRUE:
    case SN_JSON_FALSE:
      return is_bool(column);
    case SN_JSON_NULL:
      return is_stop(column);
    case SN_JSON_TREE:
      break;
  }
  return false;
}

static bool set_member(struct sn_decoder *decoder, const struct sn_column *column,
                       const struct sn_member *member) {
  if (!fits(column, member->kind)) return wrong_kind(decoder, column, member);
  size_t length = member->kind == SN_JSON_NULL ? 0 : member->length;
  return sn_decoder_set(decoder, column, member->text, length, member->offset);
}

/* ---- keys ---- */

static bool is_control(const struct sn_member *member, enum sn_parsed *ret) {
  static const struct {
    const char *word;
    enum sn_parsed parsed;
  } words[] = {
      {"checkpoint", SN_PARSED_CHECKPOINT}, {"end", SN_PARSED_END}, {"round", SN_PARSED_ROUND}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (sn_equal_ignoring_case(member->key, member->key_length, words[i].word)) {
      *ret = words[i].parsed;
      return true;
    }
  return false;
}

/* Finds the members' columns; -1 where there is none. */
static void find_columns(struct sn_ndjson *ndjson, const struct sn_decoder *decoder,
                         bool *ret_any_time) {
  size_t count = ndjson->json.count, before = ndjson->capacity;
  base_grow(&ndjson->columns, &ndjson->capacity, count, sizeof *ndjson->columns);
  for (size_t i = before; i < ndjson->capacity; i++) ndjson->columns[i] = 0;
  *ret_any_time = false;
  for (size_t i = 0; i < count; i++) {
    const struct sn_member *member = &ndjson->json.members[i];
    size_t likely = ndjson->columns[i] >= 0 ? (size_t)ndjson->columns[i] : 0;
    int found = sn_columns_find(&decoder->columns, member->key, member->key_length, likely);
    ndjson->columns[i] = found;
    if (found >= 0 && is_time(&decoder->columns.items[found])) *ret_any_time = true;
  }
}

/* The member that makes the object a control record, or NULL. */
static const struct sn_member *find_control(const struct sn_ndjson *ndjson,
                                            const struct sn_decoder *decoder, enum sn_parsed *ret) {
  for (size_t i = 0; i < ndjson->json.count; i++)
    if (is_control(&ndjson->json.members[i], ret) && (ndjson->columns[i] < 0 || !decoder->timeless))
      return &ndjson->json.members[i];
  return NULL;
}

/* The column of member I, which is there for the first time in this record. */
static const struct sn_column *take_column(struct sn_ndjson *ndjson, struct sn_decoder *decoder,
                                           size_t i) {
  const struct sn_member *member = &ndjson->json.members[i];
  int found = ndjson->columns[i];
  if (found < 0) {
    sn_decoder_unknown(decoder, member->key, member->key_length);
    return NULL;
  }
  const struct sn_column *column = &decoder->columns.items[found];
  if (ndjson->seen[found] == ndjson->stamp) {
    sn_decoder_lacks(decoder, SN_TWICE, column->name);
    return NULL;
  }
  ndjson->seen[found] = ndjson->stamp;
  return column;
}

/* ---- records ---- */

static enum sn_parsed parse_row(struct sn_ndjson *ndjson, struct sn_decoder *decoder, bool any_time,
                                size_t *ret_offset) {
  const char *lacking = NULL;
  for (size_t i = 0; i < ndjson->json.count; i++) {
    const struct sn_member *member = &ndjson->json.members[i];
    const struct sn_column *column = take_column(ndjson, decoder, i);
    *ret_offset = column ? member->offset : member->key_offset;
    if (!column || !set_member(decoder, column, member)) return SN_PARSED_BAD;
  }
  *ret_offset = 0;
  enum sn_lack lack = sn_columns_check(&decoder->columns, ndjson->seen, ndjson->stamp,
                                       decoder->timeless, true, &lacking);
  if (!sn_decoder_lacks(decoder, lack, lacking)) return SN_PARSED_BAD;
  if (decoder->columns.instants == 2 && ndjson->seen[3] != ndjson->stamp &&
      ndjson->seen[4] != ndjson->stamp)
    decoder->stop_lo_empty = decoder->stop_hi_empty = true;
  return sn_parsed_row(decoder, any_time, ret_offset);
}

/* Of a temporal domain all four parts must be there, or none. */
static bool check_named(const struct sn_ndjson *ndjson, struct sn_decoder *decoder) {
  const struct sn_columns *columns = &decoder->columns;
  const struct net_field *fields = decoder->layout->fields;
  for (size_t i = 0; i < columns->count; i++) {
    const struct sn_column *column = &columns->items[i];
    if (column->role == SN_PART && ndjson->named[column->field - fields] &&
        ndjson->seen[i] != ndjson->stamp)
      return sn_decoder_lacks(decoder, SN_MISSING, column->name);
  }
  return sn_decoder_finish_temporals(decoder, ndjson->named);
}

static bool set_named(struct sn_ndjson *ndjson, struct sn_decoder *decoder, size_t i,
                      enum sn_parsed kind) {
  const struct sn_member *member = &ndjson->json.members[i];
  const struct sn_column *column = take_column(ndjson, decoder, i);
  if (!column) return false;
  if (kind != SN_PARSED_END || !column->field)
    return sn_decoder_refuse(decoder, MSG_BAD_RECORD, "%s cannot stand beside %s", column->name,
                             kind == SN_PARSED_CHECKPOINT ? "checkpoint"
                             : kind == SN_PARSED_ROUND    ? "round"
                                                          : "end");
  ndjson->named[column->field - decoder->layout->fields] = true;
  return set_member(decoder, column, member);
}

static enum sn_parsed parse_control(struct sn_ndjson *ndjson, struct sn_decoder *decoder,
                                    const struct sn_member *control, enum sn_parsed kind,
                                    size_t *ret_offset) {
  static const struct sn_column time_column = {.name = "the time", .role = SN_WHOLE};
  *ret_offset = control->offset;
  if (!fits(&time_column, control->kind)) {
    wrong_kind(decoder, &time_column, control);
    return SN_PARSED_BAD;
  }
  if (!sn_decoder_read_time(decoder, "the time", control->text, control->length, &ndjson->time))
    return SN_PARSED_BAD;
  memset(decoder->row, 0, decoder->layout->slot_count * sizeof *decoder->row);
  for (uint32_t i = 0; i < decoder->layout->field_count; i++) ndjson->named[i] = false;
  for (size_t i = 0; i < ndjson->json.count; i++) {
    if (&ndjson->json.members[i] == control) continue;
    *ret_offset = ndjson->json.members[i].key_offset;
    if (!set_named(ndjson, decoder, i, kind)) return SN_PARSED_BAD;
  }
  *ret_offset = 0;
  return check_named(ndjson, decoder) ? kind : SN_PARSED_BAD;
}

enum sn_parsed sn_ndjson_parse(struct sn_ndjson *ndjson, struct sn_decoder *decoder,
                               const struct sn_record *record, size_t *ret_offset) {
  bool any_time;
  enum sn_parsed kind = SN_PARSED_ROW;
  if (!sn_json_read(&ndjson->json, record->text, record->length)) {
    *ret_offset = ndjson->json.problem_offset;
    sn_decoder_refuse(decoder, MSG_BAD_RECORD, "%s", ndjson->json.problem);
    return SN_PARSED_BAD;
  }
  sn_decoder_begin(decoder);
  ndjson->stamp++;
  find_columns(ndjson, decoder, &any_time);
  const struct sn_member *control = any_time ? NULL : find_control(ndjson, decoder, &kind);
  if (control) return parse_control(ndjson, decoder, control, kind, ret_offset);
  return parse_row(ndjson, decoder, any_time, ret_offset);
}
