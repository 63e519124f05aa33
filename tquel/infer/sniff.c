/* The form of a file, from what it begins with: JSON by its first characters, a log by its lines, fields by a separator that
 * is there equally often in each line. */
#include <ctype.h>
#include <string.h>

#include "sensors/feed/lines.h"
#include "tquel/infer/infer_impl.h"
#include "tquel/lang/print.h"

enum { HEAD_BYTES = 1 << 18, LOG_LINES = 50, SEPARATED_RECORDS = 200 };

struct head {
  const char *text;
  size_t length; /* whole lines, but for the last one of a file */
};

static const char *skip_blanks(const struct head *head, const char *at) {
  const char *end = head->text + head->length;
  while (at < end && isspace((unsigned char)*at)) at++;
  return at;
}

/* The next line of text from *AT on, without its end. */
static bool next_line(const struct head *head, const char **at, const char **ret,
                      size_t *ret_length) {
  const char *end = head->text + head->length;
  while (*at < end) {
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    *ret = *at;
    *ret_length = (size_t)((newline != NULL ? newline : end) - *at);
    *at = newline != NULL ? newline + 1 : end;
    while (*ret_length > 0 && (*ret)[*ret_length - 1] == '\r') --*ret_length;
    if (*ret_length > 0) return true;
  }
  return false;
}

/* --- JSON */

static bool is_whole_object(const char *line, size_t length) {
  struct sn_json json = {.nested = true};
  bool whole = sn_json_read(&json, line, length);
  sn_json_done(&json);
  return whole;
}

static enum sn_format json_form(const struct head *head) {
  const char *first = skip_blanks(head, head->text), *end = head->text + head->length;
  if (first == end) return SN_GUESS;
  if (*first == '[') {
    const char *next = skip_blanks(head, first + 1);
    return next < end && (*next == '{' || *next == ']') ? SN_JSON : SN_GUESS;
  }
  if (*first != '{') return SN_GUESS;
  const char *line;
  size_t length;
  return next_line(head, &first, &line, &length) && is_whole_object(line, length) ? SN_NDJSON
                                                                                  : SN_JSON;
}

/* --- lines */

/* How many of the first lines READ takes; *RET_COUNT: of how many. */
static size_t count_lines(const struct head *head,
                          bool (*read)(void *context, const char *line, size_t length),
                          void *context, size_t *ret_count) {
  const char *at = head->text, *line;
  size_t length, good = 0;
  for (*ret_count = 0; *ret_count < LOG_LINES && next_line(head, &at, &line, &length); ++*ret_count)
    good += read(context, line, length);
  return good;
}

static bool reads_by_pattern(void *context, const char *line, size_t length) {
  const struct sn_member *members;
  size_t count;
  const char *problem;
  return sn_lines_read(context, line, length, &members, &count, &problem);
}

/* A few lines may be of somebody else: nine in ten are enough. */
static bool are_enough(size_t good, size_t count) {
  return count > 0 && good * 10 >= count * 9;
}

static const struct sn_log *find_log(const struct head *head) {
  for (size_t i = 0; i < sn_log_count; i++) {
    struct sn_lines *lines = sn_lines_new(sn_logs[i].pattern);
    size_t count, good = count_lines(head, reads_by_pattern, lines, &count);
    sn_lines_free(lines);
    if (are_enough(good, count)) return &sn_logs[i];
  }
  return NULL;
}

struct text_log {
  struct sn_lines *lines;
  bool any_level;
};

static bool reads_text(void *context, const char *line, size_t length) {
  struct text_log *log = context;
  const struct sn_member *members;
  size_t count;
  const char *problem;
  if (!sn_lines_read(log->lines, line, length, &members, &count, &problem)) return false;
  for (size_t i = 0; i < count; i++)
    log->any_level |= members[i].length > 0 && members[i].key_length == strlen("level") &&
                      memcmp(members[i].key, "level", members[i].key_length) == 0;
  return true;
}

/* The pattern of a log that is nobody's in particular; NULL: it is none. */
static const char *find_text_pattern(struct infer *infer, const struct head *head) {
  const char *pattern;
  for (size_t i = 0; (pattern = infer_text_pattern(infer->arena, i, true)) != NULL; i++) {
    struct text_log log = {.lines = sn_lines_new(pattern)};
    size_t count, good = count_lines(head, reads_text, &log, &count);
    sn_lines_free(log.lines);
    if (are_enough(good, count)) return infer_text_pattern(infer->arena, i, log.any_level);
  }
  return NULL;
}

static bool take_text_log(struct infer *infer, const struct head *head) {
  const char *pattern = find_text_pattern(infer, head);
  struct base_buffer text = BASE_BUFFER_EMPTY;
  if (pattern == NULL) return false;
  infer->form.format = SN_LINES;
  infer->form.pattern = pattern;
  base_buffer_puts(&text, "lines ");
  tql_print_string(&text, pattern, strlen(pattern));
  infer->format = base_arena_strdup(infer->arena, base_buffer_text(&text));
  base_buffer_done(&text);
  return true;
}

static bool reads_as_logfmt(void *context, const char *line, size_t length) {
  struct sn_logfmt *logfmt = context;
  size_t pairs = 0;
  if (!sn_logfmt_read(logfmt, line, length)) return false;
  for (size_t i = 0; i < logfmt->count; i++) {
    const struct sn_member *member = &logfmt->members[i];
    for (size_t k = 0; k < member->key_length; k++)
      if (!isalnum((unsigned char)member->key[k]) && strchr("_.-/@", member->key[k]) == NULL)
        return false;
    pairs += member->text != NULL && member->offset != member->key_offset;
  }
  return pairs >= 2 && pairs * 2 > logfmt->count;
}

static bool is_logfmt(const struct head *head) {
  struct sn_logfmt logfmt = {0};
  size_t count, good = count_lines(head, reads_as_logfmt, &logfmt, &count);
  sn_logfmt_done(&logfmt);
  return count > 0 && good == count;
}

static bool is_key_line(void *context, const char *line, size_t length) {
  (void)context;
  if (*line == ' ' || *line == '\t') return true;
  const char *colon = memchr(line, ':', length);
  if (colon == NULL || colon == line || !isalpha((unsigned char)*line)) return false;
  for (const char *at = line; at < colon; at++)
    if (!isalnum((unsigned char)*at) && *at != '-' && *at != '_') return false;
  return colon + 1 == line + length || colon[1] == ' ' || colon[1] == '\t';
}

static bool is_stanzas(const struct head *head) {
  size_t count, good = count_lines(head, is_key_line, NULL, &count);
  return count >= 2 && good == count;
}

/* --- fields */

/* Fields with tabs between them: does any stand between quotation marks? */
static bool has_quoted(const struct head *head) {
  const char *end = head->text + head->length;
  for (const char *at = head->text; (at = memchr(at, '"', (size_t)(end - at))) != NULL; at++)
    if (at == head->text || at[-1] == '\t' || at[-1] == '\n') return true;
  return false;
}

/* How many fields the records have that SEPARATOR stands between, if all have equally many; else 0. */
static size_t fields_of(struct infer *infer, const struct sn_form *form, enum base_status *status) {
  struct sn_sample *sample;
  size_t fields = 0, records = 0;
  *status = infer_open(infer, 0, &sample);
  if (*status != BASE_OK) return 0;
  const char *head, *problem;
  size_t length;
  if (sn_sample_head(sample, 1, &head, &length, &problem)) {
    sn_sample_begin(sample, form);
    for (; records < SEPARATED_RECORDS; records++) {
      struct sn_sample_record record;
      enum sn_sampled sampled = sn_sample_next(sample, &record);
      if (sampled == SN_SAMPLED_END) break;
      if (sampled != SN_SAMPLED || (fields > 0 && record.count != fields)) {
        fields = 0;
        break;
      }
      fields = record.count;
    }
  }
  sn_sample_close(sample);
  return fields;
}

static const char *how_separated(struct infer *infer) {
  if (infer->form.format == SN_TSV) return "tsv";
  if (infer->form.separator == 0) return "csv";
  return infer->form.separator == '\t'
             ? "csv \"\\t\""
             : base_arena_printf(infer->arena, "csv \"%c\"", infer->form.separator);
}

static enum base_status find_separator(struct infer *infer, const struct head *head, bool needed) {
  static const char separators[] = ",\t;|";
  size_t most = 1;
  enum base_status status = BASE_OK;
  for (const char *at = separators; *at != '\0' && status == BASE_OK; at++) {
    struct sn_form form = {
        .format = SN_CSV, .separator = *at == ',' ? 0 : *at, .headless = infer->form.headless};
    size_t fields = *at == '\t' && !has_quoted(head) ? 0 : fields_of(infer, &form, &status);
    if (fields == 0 && *at == '\t' && status == BASE_OK) {
      form.format = SN_TSV;
      form.separator = 0;
      fields = fields_of(infer, &form, &status);
    }
    if (fields <= most) continue;
    most = fields;
    infer->form = form;
  }
  if (status == BASE_OK && most == 1 && needed && infer->form.format == SN_GUESS)
    return infer_fail(
        infer, infer->options->paths[0],
        "say what it is: as lines \"(?<time>\\\\S+) (?<message>.*)\", as csv, as logfmt",
        "nobody knows what it holds: no separator is there equally often in each line, and it is "
        "no log that is known");
  if (infer->form.format == SN_GUESS)
    infer->form.format = sn_format_by_suffix(infer->options->paths[0]) == SN_TSV ? SN_TSV : SN_CSV;
  return status;
}

/* --- all */

static bool is_binary(const struct head *head) {
  return memchr(head->text, '\0', head->length < 4096 ? head->length : 4096) != NULL;
}

static void cut_to_lines(struct head *head, size_t wanted) {
  if (head->length < wanted) return;
  const char *newline = memrchr(head->text, '\n', head->length);
  if (newline != NULL) head->length = (size_t)(newline - head->text) + 1;
}

static const char *name_of(enum sn_format format) {
  switch (format) {
    case SN_NDJSON:
      return "ndjson";
    case SN_JSON:
      return "json";
    case SN_LOGFMT:
      return "logfmt";
    case SN_STANZAS:
      return "stanzas";
    default:
      return "csv";
  }
}

static void take_log(struct infer *infer, const struct sn_log *log) {
  infer->log = log;
  infer->form.format = SN_LINES;
  infer->form.pattern = log->pattern;
  infer->format = log->name;
}

static enum base_status form_of(struct infer *infer, const struct head *head) {
  enum sn_format by_name = sn_format_by_suffix(infer->options->paths[0]), json = json_form(head);
  bool separated = by_name == SN_CSV || by_name == SN_TSV;
  if (is_binary(head))
    return infer_fail(infer, infer->options->paths[0],
                      "a database of SQLite is opened with tquel FILE", "it is no text");
  if (json != SN_GUESS) {
    infer->form.format = json;
  } else if (!separated) {
    const struct sn_log *log = find_log(head);
    if (log != NULL) {
      take_log(infer, log);
      return BASE_OK;
    }
    if (is_logfmt(head))
      infer->form.format = SN_LOGFMT;
    else if (is_stanzas(head))
      infer->form.format = SN_STANZAS;
    else if (take_text_log(infer, head))
      return BASE_OK;
  }
  if (infer->form.format == SN_GUESS) {
    enum base_status status = find_separator(infer, head, !separated);
    if (status != BASE_OK) return status;
  }
  bool fields = infer->form.format == SN_CSV || infer->form.format == SN_TSV;
  infer->format = fields ? how_separated(infer) : name_of(infer->form.format);
  return BASE_OK;
}

enum base_status infer_form(struct infer *infer) {
  const struct sn_form *said = infer->options->form;
  struct sn_sample *sample;
  struct head head;
  const char *problem;
  if (said != NULL) infer->form = *said;
  infer->form.mapping_count = 0;
  infer->format = infer->options->format;
  if (said != NULL && said->format != SN_GUESS) {
    for (size_t i = 0; i < sn_log_count; i++)
      if (said->pattern != NULL && strcmp(said->pattern, sn_logs[i].pattern) == 0)
        infer->log = &sn_logs[i];
    return BASE_OK;
  }
  enum base_status status = infer_open(infer, 0, &sample);
  if (status != BASE_OK) return status;
  if (!sn_sample_head(sample, HEAD_BYTES, &head.text, &head.length, &problem)) {
    status =
        infer_fail(infer, infer->options->paths[0], NULL, base_arena_strdup(infer->arena, problem));
  } else {
    cut_to_lines(&head, HEAD_BYTES);
    if (skip_blanks(&head, head.text) == head.text + head.length)
      status = infer_fail(infer, infer->options->paths[0], "a relation is made with create R (...)",
                          "it is empty");
    else
      status = form_of(infer, &head);
  }
  sn_sample_close(sample);
  return status;
}
