/* The columns of a file, and what can be said of all their values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "engine/base/env.h"
#include "sensors/feed/numbers.h"
#include "sensors/feed/stamp.h"
#include "tquel/infer/infer_impl.h"

enum { COLUMNS_MAX = 1000 /* domains of a relation */, EXAMPLE_BYTES = 40 };

const char *const infer_likes[] = {"%Y-%m-%d %H:%M:%S",
                                   "%Y-%m-%d %H:%M:%S %z",
                                   "%Y-%m-%dT%H:%M:%S %z",
                                   "%Y-%m-%d %H:%M",
                                   "%Y/%m/%d %H:%M:%S",
                                   "%Y/%m/%d %H:%M:%S %z",
                                   "%Y/%m/%d %H:%M",
                                   "%Y/%m/%d",
                                   "%d/%b/%Y:%H:%M:%S %z",
                                   "%d/%b/%Y:%H:%M:%S",
                                   "%a %b %d %H:%M:%S %Y",
                                   "%a %b %d %H:%M:%S %Y %z",
                                   "%a %b %d %H:%M:%S %z %Y",
                                   "%a, %d %b %Y %H:%M:%S %z",
                                   "%d %b %Y %H:%M:%S",
                                   "%d %b %Y %H:%M:%S %z",
                                   "%d %b %Y",
                                   "%d-%b-%Y %H:%M:%S",
                                   "%d-%b-%Y %H:%M:%S %z",
                                   "%d-%b-%Y",
                                   "%b %d, %Y",
                                   "%b %d %H:%M:%S",
                                   "%b %d %H:%M:%S %z",
                                   "%m/%d/%Y %H:%M:%S",
                                   "%m/%d/%Y %H:%M:%S %z",
                                   "%d/%m/%Y %H:%M:%S",
                                   "%d/%m/%Y %H:%M:%S %z",
                                   "%m/%d/%Y %H:%M",
                                   "%d/%m/%Y %H:%M",
                                   "%m/%d/%Y",
                                   "%d/%m/%Y",
                                   "%m/%d/%Y %I:%M:%S %p",
                                   "%m/%d/%Y %I:%M %p",
                                   "%d/%m/%Y %I:%M:%S %p",
                                   "%d/%m/%Y %I:%M %p",
                                   "%d.%m.%Y %H:%M:%S",
                                   "%d.%m.%Y %H:%M:%S %z",
                                   "%d.%m.%Y %H:%M",
                                   "%d.%m.%Y",
                                   "%d.%m.%y",
                                   "%Y%m%dT%H%M%S%z",
                                   "%Y%m%dT%H%M%S",
                                   "%Y%m%d%H%M%S",
                                   "%Y%m%d",
                                   NULL};

/* --- a value */

static bool is_digits(const char *text, size_t length) {
  if (length > 0 && *text == '-') text++, length--;
  for (size_t i = 0; i < length; i++)
    if (text[i] < '0' || text[i] > '9') return false;
  return length > 0;
}

static bool has_leading_zero(const char *text, size_t length) {
  if (length > 0 && *text == '-') text++, length--;
  return length > 1 && *text == '0' && text[1] >= '0' && text[1] <= '9';
}

static void look_at_number(struct infer_column *column, const char *text, size_t length,
                           const char *number) {
  int64_t whole = 0;
  double decimal = 0;
  bool integer = is_digits(text, length) && sn_read_integer(text, length, &whole) == SN_NUMBER_OK;
  column->leading_zero |= has_leading_zero(text, length) && (integer || is_digits(text, length));
  if (*text == '+' || sn_read_double(number, length, &decimal) != SN_NUMBER_OK)
    column->decimals = false;
  column->integers = column->integers && integer;
  column->fractions |= column->decimals && !integer;
  size_t digits = 0; /* from the first on that is not zero */
  for (size_t i = 0; i < length && text[i] != 'e' && text[i] != 'E'; i++)
    digits += text[i] >= (digits > 0 ? '0' : '1') && text[i] <= '9';
  const int64_t exact = INT64_C(1) << 53; /* beyond it a double leaves some out */
  column->long_digits |= digits > 17 || (integer && (whole > exact || whole < -exact));
  if (integer && whole < column->least) column->least = whole;
  if (integer && whole > column->most) column->most = whole;
  if (decimal < column->least_decimal) column->least_decimal = decimal;
  if (decimal > column->most_decimal) column->most_decimal = decimal;
}

static bool has_zone(const char *text, size_t length) {
  if (length <= 11) return false;
  for (size_t i = 11; i < length; i++)
    if (strchr("Zz+-", text[i]) != NULL && text[i] != '\0') return true;
  return false;
}

static void look_at_date(const struct infer *infer, struct infer_column *column, const char *text,
                         size_t length) {
  struct net_instant ignored;
  bool digits = length >= 10 && text[4] == '-' && text[7] == '-';
  for (size_t i = 0; digits && i < 4; i++) digits = text[i] >= '0' && text[i] <= '9';
  struct sn_stamps stamps;
  sn_stamps_init(&stamps, &infer->options->time);
  if (sn_stamp_is_endless(&stamps, SN_TIME_OWN, NULL, text, length)) {
    column->endless++;
    return;
  }
  if (!digits ||
      net_time_parse_instant(text, length, &infer->options->time, &ignored) != NET_TIME_OK) {
    column->dates = false;
    return;
  }
  if (has_zone(text, length))
    column->zone_never = false;
  else
    column->zone_always = false;
}

static void look_at_likes(const struct infer *infer, struct infer_column *column, const char *text,
                          size_t length) {
  bool endless = false;
  for (unsigned i = 0; infer_likes[i] != NULL; i++) {
    if ((column->likes & UINT64_C(1) << i) == 0) continue;
    struct sn_stamps stamps;
    struct net_instant ignored;
    sn_stamps_init(&stamps, &infer->options->time);
    if (sn_stamp_read(&stamps, SN_TIME_LIKE, infer_likes[i], text, length, &ignored) == NULL)
      continue;
    if (sn_stamp_is_endless(&stamps, SN_TIME_LIKE, infer_likes[i], text, length))
      endless = true;
    else
      column->likes &= ~(UINT64_C(1) << i);
  }
  column->endless += endless && !column->dates;
}

static bool is_utf8(const char *text, size_t length) {
  for (size_t i = 0; i < length;) {
    unsigned char byte = (unsigned char)text[i];
    size_t more = byte < 0x80                   ? 0
                  : byte >= 0xC2 && byte < 0xE0 ? 1
                  : byte >= 0xE0 && byte < 0xF0 ? 2
                  : byte >= 0xF0 && byte < 0xF5 ? 3
                                                : 9;
    if (more == 9 || length - i <= more) return more == 0;
    for (size_t k = 1; k <= more; k++)
      if (((unsigned char)text[i + k] & 0xC0) != 0x80) return false;
    i += more + 1;
  }
  return true;
}

static void look_at(struct infer *infer, struct infer_column *column,
                    const struct sn_member *member, struct base_buffer *scratch) {
  bool json = infer->form.format == SN_NDJSON || infer->form.format == SN_JSON, truth;
  const char *text = member->text;
  size_t length = member->kind == SN_JSON_NULL ? 0 : member->length;
  if (member->kind == SN_JSON_TREE) column->texts = true;
  sn_trim(&text, &length);
  if (length == 0) {
    column->empties++;
    return;
  }
  if (column->values++ == 0) {
    size_t shown = length < EXAMPLE_BYTES ? length : EXAMPLE_BYTES;
    column->example = base_arena_strndup(infer->arena, text, shown);
  }
  base_buffer_clear(scratch);
  base_buffer_append(scratch, text, length);
  text = base_buffer_text(scratch);
  if (json && member->kind == SN_JSON_STRING) column->texts = true;
  if (!column->not_utf8 && !is_utf8(text, length)) column->not_utf8 = true;
  if (column->decimals || column->integers) look_at_number(column, text, length, text);
  if (column->truths && (!sn_read_bool(text, length, &truth) || length == 1))
    column->truths = false;
  if (column->dates) look_at_date(infer, column, text, length);
  if (column->likes != 0) look_at_likes(infer, column, text, length);
}

/* --- columns */

static struct infer_column *add_column(struct infer *infer, const char *name, size_t length) {
  base_grow(&infer->columns, &infer->capacity, infer->count + 1, sizeof *infer->columns);
  struct infer_column *column = &infer->columns[infer->count++];
  unsigned likes = 0;
  while (infer_likes[likes] != NULL) likes++;
  *column = (struct infer_column){.integers = true,
                                  .decimals = true,
                                  .truths = true,
                                  .dates = true,
                                  .zone_always = true,
                                  .zone_never = true,
                                  .likes = (UINT64_C(1) << likes) - 1,
                                  .least = INT64_MAX,
                                  .most = INT64_MIN,
                                  .least_decimal = INFINITY,
                                  .most_decimal = -INFINITY};
  if (name != NULL) column->name = base_arena_strndup(infer->arena, name, length);
  return column;
}

static struct infer_column *find_column(struct infer *infer, const char *name, size_t length,
                                        size_t likely) {
  for (size_t step = 0; step <= infer->count; step++) {
    size_t i = step == 0 ? likely : step - 1;
    if (i >= infer->count) continue;
    if (sn_equal(name, length, infer->columns[i].name)) return &infer->columns[i];
  }
  return NULL;
}

/* Names that are there twice, also but for case, are known by their numbers. */
static void mark_twice(struct infer *infer) {
  for (size_t i = 0; i < infer->count; i++)
    for (size_t k = i + 1; k < infer->count; k++)
      if (infer->columns[i].name != NULL && infer->columns[k].name != NULL &&
          strcasecmp(infer->columns[i].name, infer->columns[k].name) == 0)
        infer->columns[i].twice = infer->columns[k].twice = true;
}

static bool is_name(const struct sn_member *member) {
  const char *text = member->text;
  size_t length = member->length;
  double ignored;
  struct base_buffer copy = BASE_BUFFER_EMPTY;
  sn_trim(&text, &length);
  if (length == 0) return true;
  base_buffer_append(&copy, text, length);
  bool number = sn_read_double(base_buffer_text(&copy), length, &ignored) == SN_NUMBER_OK;
  bool date = length >= 10 && text[4] == '-' && text[7] == '-' && is_digits(text, 4);
  base_buffer_done(&copy);
  return !number && !date;
}

/* How many years there are, one after the other, beside others: as the columns of a table may be called that has a column for
 * each year. 0: no such. */
static size_t years_of(const struct sn_sample_record *record) {
  int64_t before = 0;
  size_t run = 0, others = 0;
  for (size_t i = 0; i < record->count; i++) {
    const char *text = record->members[i].text;
    size_t length = record->members[i].length;
    int64_t year;
    sn_trim(&text, &length);
    bool is_year = length == 4 && is_digits(text, 4) &&
                   sn_read_integer(text, length, &year) == SN_NUMBER_OK && year > 1500 &&
                   year < 2200;
    if (!is_year)
      others++;
    else if (run == 0 || year == before + 1)
      run++, before = year;
    else
      return 0;
  }
  return others > 0 ? run : 0;
}

/* Is the first record a header? One of names only, of which one at most is empty (as that of an index), or of years. */
static bool is_header(const struct sn_sample_record *record) {
  size_t empty = 0;
  bool years = years_of(record) >= 3;
  for (size_t i = 0; i < record->count; i++) {
    const char *text = record->members[i].text;
    size_t length = record->members[i].length;
    if ((!years && !is_name(&record->members[i])) || memchr(text, '\0', length) != NULL)
      return false;
    sn_trim(&text, &length);
    empty += length == 0;
  }
  return empty <= 1 && empty < record->count;
}

static void take_header(struct infer *infer, const struct sn_sample_record *record, bool named) {
  for (size_t i = 0; i < record->count && i < COLUMNS_MAX + 1; i++) {
    const char *text = record->members[i].text;
    size_t length = record->members[i].length;
    sn_trim(&text, &length);
    bool sayable =
        named && length > 0 && is_utf8(text, length); /* else it is known by its number */
    add_column(infer, sayable ? text : NULL, length)->number = (uint32_t)i + 1;
  }
  infer->form.headless = !named;
  mark_twice(infer);
}

/* Where the columns are in a further file, by their names. */
static void find_order(struct infer *infer, const struct sn_sample_record *record) {
  for (size_t i = 0; i < record->count; i++) {
    const char *text = record->members[i].text;
    size_t length = record->members[i].length;
    sn_trim(&text, &length);
    infer->order[i] = infer->count;
    for (size_t k = 0; k < infer->count; k++) {
      const char *own = infer->columns[k].name;
      if (own != NULL && !infer->columns[k].twice && sn_equal_ignoring_case(text, length, own))
        infer->order[i] = k;
    }
    bool numbered = i < infer->count && (infer->columns[i].name == NULL || infer->columns[i].twice);
    if (infer->order[i] == infer->count && numbered) infer->order[i] = i;
  }
}

bool infer_is_header(struct infer *infer, size_t file, const struct sn_sample_record *record) {
  bool named = !infer->form.headless;
  if (file == 0 && infer->count == 0) {
    if (named && infer->options->form == NULL) named = is_header(record);
    if (!named && years_of(record) == 2)
      infer_note(
          infer,
          "the first line is taken for a record, as two of its fields are numbers: if it is a "
          "header, leave without header out, and say columns by their names");
    take_header(infer, record, named);
  }
  base_grow(&infer->order, &infer->order_capacity, record->count, sizeof *infer->order);
  infer->order_count = record->count;
  for (size_t i = 0; i < record->count; i++) infer->order[i] = i;
  if (file > 0 && named) find_order(infer, record);
  return named;
}

/* --- records */

static bool take_fields(struct infer *infer, const struct sn_sample_record *record,
                        struct base_buffer *scratch) {
  const struct sn_member lacking = {.kind = SN_JSON_STRING, .text = ""};
  if (record->count > infer->order_count) return false;
  if (record->count < infer->order_count && infer->shorter++ == 0)
    infer->first_shorter_line = record->line;
  for (size_t i = 0; i < infer->order_count; i++) {
    if (infer->order[i] >= infer->count) continue;
    struct infer_column *column = &infer->columns[infer->order[i]];
    look_at(infer, column, i < record->count ? &record->members[i] : &lacking, scratch);
    column->lacking += i >= record->count;
  }
  return true;
}

bool infer_has_gaps(const struct infer *infer, const struct infer_column *column) {
  if (infer->form.ragged) return column->values < infer->records;
  return column->values + column->lacking < infer->records + infer->shorter;
}

/* Whoever leaves out what is empty at the end does so often; one record that is shorter is rather one that was cut. */
static void judge_shorter(struct infer *infer) {
  enum { SELDOM = 100 };
  bool often = infer->shorter > 1 && infer->shorter >= infer->records / SELDOM;
  if (infer->shorter == 0 || infer->form.ragged) return;
  if (infer->options->form == NULL && often) {
    infer->form.ragged = true;
    return;
  }
  if (infer->bad == 0 || infer->first_shorter_line < infer->first_problem_line) {
    infer->first_problem = "not as many fields as the first line";
    infer->first_problem_line = infer->first_shorter_line;
  }
  infer->bad += infer->shorter;
  infer->records -= infer->shorter;
}

static bool take_members(struct infer *infer, const struct sn_sample_record *record,
                         struct base_buffer *scratch) {
  for (size_t i = 0; i < record->count; i++) {
    const struct sn_member *member = &record->members[i];
    struct infer_column *column = find_column(infer, member->key, member->key_length, i);
    bool sayable = column != NULL || (memchr(member->key, '\0', member->key_length) == NULL &&
                                      is_utf8(member->key, member->key_length));
    infer->unsayable += !sayable;
    if (!sayable) continue;
    if (column == NULL && infer->count > COLUMNS_MAX) return false;
    if (column == NULL) column = add_column(infer, member->key, member->key_length);
    if (column->last_record == infer->records + 1) return false; /* twice */
    column->last_record = infer->records + 1;
    look_at(infer, column, member, scratch);
  }
  return true;
}

static void note_problem(struct infer *infer, const struct sn_sample_record *record,
                         const char *problem) {
  if (infer->bad++ > 0) return;
  infer->first_problem = base_arena_strdup(infer->arena, problem);
  infer->first_problem_line = record->line;
}

static enum base_status take_file(struct infer *infer, size_t file, size_t most,
                                  struct base_buffer *scratch) {
  struct sn_sample *sample;
  struct sn_sample_record record;
  bool separated = infer->form.format == SN_CSV || infer->form.format == SN_TSV, first = true;
  const char *head, *problem = NULL;
  size_t length, taken = 0;
  enum base_status status = infer_open(infer, file, &sample);
  if (status != BASE_OK) return status;
  if (!sn_sample_head(sample, 1, &head, &length, &problem))
    status = infer_fail(infer, infer->options->paths[file], NULL,
                        base_arena_strdup(infer->arena, problem));
  if (status == BASE_OK) sn_sample_begin(sample, &infer->form);
  while (status == BASE_OK) {
    if (taken == most) {
      infer->all = false;
      break;
    }
    if (base_env_interrupted()) status = BASE_CANCEL;
    enum sn_sampled sampled = sn_sample_next(sample, &record);
    if (sampled == SN_SAMPLED_END || status != BASE_OK) break;
    if (sampled == SN_SAMPLED_FAILED)
      status = infer_fail(infer, infer->options->paths[file], NULL,
                          base_arena_strdup(infer->arena, record.problem));
    if (sampled == SN_SAMPLED_BAD) note_problem(infer, &record, record.problem);
    if (sampled != SN_SAMPLED) continue;
    bool header = false;
    if (first && separated) header = infer_is_header(infer, file, &record);
    first = false;
    if (header) continue;
    bool good =
        separated ? take_fields(infer, &record, scratch) : take_members(infer, &record, scratch);
    if (!good)
      note_problem(
          infer, &record,
          separated ? "not as many fields as the first line" : "a key that is there twice");
    if (good && infer->form.continued && memchr(record.text, '\n', record.length) != NULL &&
        infer->longer++ == 0)
      infer->first_longer_line = record.line;
    if (good && separated && record.length > 0 && *record.text == '#' && infer->hashes++ == 0)
      infer->first_hash_line = record.line;
    infer->records += good;
    taken++;
  }
  sn_sample_close(sample);
  return status;
}

enum base_status infer_gather(struct infer *infer) {
  struct base_buffer scratch = BASE_BUFFER_EMPTY;
  const struct tql_infer_options *options = infer->options;
  size_t each = options->sample == 0
                    ? SIZE_MAX
                    : (options->sample + options->path_count - 1) / options->path_count;
  enum base_status status = BASE_OK;
  infer->all = true;
  if (infer->form.format == SN_LINES) {
    const char **names;
    size_t count = sn_pattern_names(infer->arena, infer->form.pattern, &names);
    for (size_t i = 0; i < count; i++) add_column(infer, names[i], strlen(names[i]));
  }
  for (size_t i = 0; i < options->path_count && status == BASE_OK; i++)
    status = take_file(infer, i, each, &scratch);
  base_buffer_done(&scratch);
  judge_shorter(infer);
  if (status == BASE_OK && infer->count > COLUMNS_MAX)
    return infer_fail(infer, options->paths[0],
                      "make a relation of those columns that matter: create, and copy with a list",
                      base_arena_printf(infer->arena, "it has more than %d columns", COLUMNS_MAX));
  if (status == BASE_OK && infer->count == 0)
    return infer_fail(infer, options->paths[0], NULL,
                      infer->bad > 0 ? base_arena_printf(infer->arena, "line %lld: %s",
                                                         (long long)infer->first_problem_line,
                                                         infer->first_problem)
                                     : "it has no columns");
  return status;
}
